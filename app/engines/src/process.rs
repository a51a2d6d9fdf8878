//! A process of an engine: lines in, lines out, with limits of memory and files, and an end.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal};
use tracing::debug;

use crate::fault::Fault;
use crate::sandbox::Sandbox;

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Longest line that is read, in bytes. Variations of a hundred moves take less than one.
const LINE_BYTES: usize = 16 << 10;

/// Lines that are read ahead; then the engine waits.
const LINES_AHEAD: usize = 64;

/// Memory of a process: half of what the device has, and between these.
const MEMORY_LEAST: u64 = 1 << 30;
const MEMORY_MOST: u64 = 8 << 30;

/// Largest file that it may write: logs, in folders that exist only for it.
const FILE_BYTES: u64 = 64 << 20;

/// Open files.
const FILES: u64 = 256;

/// Processor time of a whole process, in seconds: a long match on all cores. For a process that somehow outlives its host.
const CPU_SECONDS: u64 = 24 * 60 * 60;

/// Below the programs that people look at.
const NICE: i32 = 5;

/// A running engine. Dropping it kills the process, with all that it has started.
pub(crate) struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<Result<String, Fault>>,
}

impl Process {
    /// Starts the program. Called on the thread that also ends it: the sandbox ends with the thread that started it.
    pub(crate) fn start(program: &Program, sandbox: &Sandbox) -> Result<Self, Fault> {
        let not_started = |error: std::io::Error| Fault::NotStarted(error.to_string());
        if !program.path.is_file() {
            return Err(Fault::NotStarted(format!("{} is not there", program.path.display())));
        }
        // A shell waits for a line until the limits are set, and becomes the program: so there is no time without limits.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read -r _ && exec \"$@\"", "sh"]);
        command.args(sandbox.prefix(program)).arg(&program.path).args(&program.arguments);
        command.env_clear().envs(ENVIRONMENT);
        if let Some(folder) = program.path.parent() {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().map_err(not_started)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (input, to_write) = mpsc::channel();
        let (to_read, output) = mpsc::sync_channel(LINES_AHEAD);
        // From here on it is killed if anything fails.
        let process = Self { child, input, output };
        process.limit().map_err(|error| not_started(error.into()))?;
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(Fault::NotStarted("no pipes".into()));
        };
        let thread = || std::thread::Builder::new().name("engine".into());
        thread().spawn(move || write(stdin, &to_write)).map_err(not_started)?;
        thread().spawn(move || read(stdout, &to_read)).map_err(not_started)?;
        process.say("go".into());
        Ok(process)
    }

    /// Sets the limits of the process, which all that it starts inherits.
    fn limit(&self) -> rustix::io::Result<()> {
        let pid = Pid::from_child(&self.child);
        let info = rustix::system::sysinfo();
        let total = (info.totalram as u64).saturating_mul(info.mem_unit.into());
        let limits = [
            (Resource::Data, (total / 2).clamp(MEMORY_LEAST, MEMORY_MOST)),
            (Resource::Fsize, FILE_BYTES),
            (Resource::Nofile, FILES),
            (Resource::Core, 0),
            (Resource::Cpu, CPU_SECONDS),
        ];
        for (resource, most) in limits {
            // A limit that this process has itself cannot be raised.
            let own = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let most = Some(most.min(own));
            rustix::process::prlimit(Some(pid), resource, Rlimit { current: most, maximum: most })?;
        }
        // Nothing is wrong if it is not allowed.
        let _ = rustix::process::setpriority_process(Some(pid), NICE);
        Ok(())
    }

    /// Sends a line. What an ended process does not read is lost.
    pub(crate) fn say(&self, line: String) {
        debug!(line, "to the engine");
        let _ = self.input.send(line);
    }

    /// The next line; `None` if none comes in this time.
    pub(crate) fn line(&self, within: Duration) -> Result<Option<String>, Fault> {
        match self.output.recv_timeout(within) {
            Ok(line) => {
                debug!(?line, "from the engine");
                line.map(Some)
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Ended),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        // An error means that it has ended. It is not waited for before, so the number is still its own.
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What an engine sees of the environment.
pub(crate) const ENVIRONMENT: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/games"), ("LANG", "C.UTF-8"), ("HOME", "/tmp")];

fn write(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        // An error means that it reads no more; the reader notices its end.
        if stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(stdout: ChildStdout, lines: &SyncSender<Result<String, Fault>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let line = match read_line(&mut stdout) {
            Ok(None) | Err(_) => return,
            Ok(Some(line)) => line,
        };
        let is_endless = line.is_err();
        if lines.send(line).is_err() || is_endless {
            return;
        }
    }
}

/// The next line; `None` at the end.
fn read_line(input: &mut impl BufRead) -> std::io::Result<Option<Result<String, Fault>>> {
    let mut line = Vec::new();
    loop {
        let some = match input.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            some => some?,
        };
        if some.is_empty() {
            let text = String::from_utf8_lossy(&line).into_owned();
            return Ok((!line.is_empty()).then_some(Ok(text)));
        }
        let end = some.iter().position(|byte| *byte == b'\n');
        let length = end.unwrap_or(some.len());
        if line.len() + length > LINE_BYTES {
            return Ok(Some(Err(Fault::Endless)));
        }
        line.extend_from_slice(&some[..length]);
        input.consume(length + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some(Ok(String::from_utf8_lossy(&line).into_owned())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_and_one_without_end_is_a_fault() {
        let mut some: &[u8] = b"one\n\ntwo\r\n\xff\nrest";
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut some).expect("bytes") {
            lines.push(line.expect("short"));
        }
        assert_eq!(lines, ["one", "", "two\r", "\u{fffd}", "rest"]);
        let long = vec![b'x'; LINE_BYTES + 1];
        assert_eq!(read_line(&mut &long[..]).expect("bytes"), Some(Err(Fault::Endless)));
        let most = [vec![b'x'; LINE_BYTES], vec![b'\n']].concat();
        assert!(matches!(read_line(&mut &most[..]), Ok(Some(Ok(line))) if line.len() == LINE_BYTES));
    }
}
