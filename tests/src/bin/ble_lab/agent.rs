//! The lab's agent inside a guest: connects the emulated controller to the kernel, starts and kills programs.
//!
//! Plain threads, one per program; the agent ends with the guest. The agent is the guest's first process (PID 1), so
//! it must not return.

use crate::h4::Splitter;
use crate::orders::{AGENT_PORT, Done, HCI_PORT, Message, Order, Output, Program, User, What};
use anyhow::{Context, Result, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Serves the lab until the guest is switched off.
pub(crate) fn run() -> Result<()> {
    let hci = open_port(HCI_PORT)?;
    let lab = open_port(AGENT_PORT)?;
    let cable = Cable::new(hci)?;
    cable.plug()?;
    let agent = Arc::new(Agent {
        cable,
        started: Instant::now(),
        lab: Mutex::new(lab.try_clone()?),
        running: Mutex::default(),
        ended: Condvar::new(),
    });
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned();
    agent.say(&Message::Ready { kernel });
    for line in BufReader::new(Port(lab)).lines() {
        let order: Order = serde_json::from_str(&line?)?;
        let agent = agent.clone();
        thread::spawn(move || {
            let result = agent.obey(order.what).map_err(|e| format!("{e:#}"));
            agent.say(&Message::Answer { number: order.number, result });
        });
    }
    bail!("the lab went away")
}

/// A virtio-serial port. Reads return 0 bytes until the other side has opened it, and again after the other side has
/// closed it.
struct Port(File);

impl Read for Port {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Ok(0) => thread::sleep(Duration::from_millis(10)),
                other => return other,
            }
        }
    }
}

fn open_port(name: &str) -> Result<File> {
    for entry in fs::read_dir("/sys/class/virtio-ports").context("no virtio-serial ports")? {
        let entry = entry?;
        if fs::read_to_string(entry.path().join("name")).is_ok_and(|n| n.trim() == name) {
            let device = std::path::Path::new("/dev").join(entry.file_name());
            return OpenOptions::new()
                .read(true)
                .write(true)
                .open(&device)
                .with_context(|| format!("{}", device.display()));
        }
    }
    bail!("no port named {name}")
}

/// The connection between the controller's port and the kernel: `hci0` exists while it is plugged in.
struct Cable {
    port: File,
    /// The kernel's end (/dev/vhci), while plugged in.
    kernel: Arc<Mutex<Option<File>>>,
    /// Forwards packets from the kernel; ends soon after the kernel's end is dropped.
    reader: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Cable {
    fn new(port: File) -> Result<Cable> {
        let kernel: Arc<Mutex<Option<File>>> = Arc::default();
        let (mut from_port, to_kernel) = (Port(port.try_clone()?), kernel.clone());
        thread::spawn(move || {
            let (mut splitter, mut buffer) = (Splitter::default(), [0; 4096]);
            while let Ok(length) = from_port.read(&mut buffer) {
                splitter.feed(&buffer[..length]);
                loop {
                    match splitter.next() {
                        Ok(Some(packet)) => {
                            // One packet per write. While the adapter is off the kernel refuses with ENXIO, and the
                            // packet is lost, as with a real adapter.
                            if let Some(kernel) = lock(&to_kernel).as_mut()
                                && let Err(error) = kernel.write_all(&packet)
                                && error.raw_os_error() != Some(rustix::io::Errno::NXIO.raw_os_error())
                            {
                                eprintln!("agent: /dev/vhci: {error}");
                            }
                        }
                        Ok(None) => break,
                        Err(error) => return eprintln!("agent: {error}"),
                    }
                }
            }
        });
        Ok(Cable { port, kernel, reader: Mutex::default() })
    }

    fn plug(&self) -> Result<()> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/vhci").context("/dev/vhci")?;
        // vhci's vendor packet that creates a controller, of the primary type.
        (&file).write_all(&[0xff, 0x00])?;
        let (mut from_kernel, mut to_port) = (file.try_clone()?, self.port.try_clone()?);
        *lock(&self.kernel) = Some(file);
        let plugged = self.kernel.clone();
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while lock(&plugged).is_some() {
                let mut wait = [PollFd::new(&from_kernel, PollFlags::IN)];
                let limit = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
                if poll(&mut wait, Some(&limit)) == Ok(0) {
                    continue;
                }
                match from_kernel.read(&mut buffer) {
                    // The answer to the creation packet.
                    Ok(length) if length == 0 || buffer[0] == 0xff => {}
                    Ok(length) => {
                        if let Err(error) = to_port.write_all(&buffer[..length]) {
                            return eprintln!("agent: controller: {error}");
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return eprintln!("agent: /dev/vhci: {error}"),
                }
            }
        });
        *lock(&self.reader) = Some(reader);
        Ok(())
    }

    fn unplug(&self) -> Result<()> {
        drop(lock(&self.kernel).take());
        if let Some(reader) = lock(&self.reader).take() {
            reader.join().map_err(|_| anyhow!("the cable broke"))?;
        }
        let begun = Instant::now();
        while fs::exists("/sys/class/bluetooth/hci0")? {
            if begun.elapsed() > Duration::from_secs(10) {
                bail!("the kernel keeps an adapter without a controller");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

struct Agent {
    cable: Cable,
    started: Instant,
    lab: Mutex<File>,
    /// Running programs by name.
    running: Mutex<HashMap<String, Pid>>,
    /// Notified when a program ends.
    ended: Condvar,
}

impl Agent {
    fn obey(self: &Arc<Self>, what: What) -> Result<Done> {
        match what {
            What::Run { program, limit_ms } => Self::run(&program, Duration::from_millis(limit_ms)),
            What::Start { name, program, output } => self.start(name, &program, output),
            What::Kill { name, signal } => self.kill(&name, signal),
            What::Unplug => self.cable.unplug().map(|()| Done::default()),
            What::Plug => self.cable.plug().map(|()| Done::default()),
            What::Fetch { path } => {
                let bytes = fs::read(&path).with_context(|| path.clone())?;
                let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("four bits");
                let file = bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect();
                Ok(Done { file, ..Done::default() })
            }
        }
    }

    fn run(program: &Program, limit: Duration) -> Result<Done> {
        let begun = Instant::now();
        let mut child =
            command(program)?.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let pid = Pid::from_child(&child);
        let collect = |stream: Option<Box<dyn Read + Send>>| {
            thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stream.map(|mut s| s.read_to_end(&mut text));
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let stdout = collect(child.stdout.take().map(|s| Box::new(s) as _));
        let stderr = collect(child.stderr.take().map(|s| Box::new(s) as _));
        let (done, waiting) = std::sync::mpsc::channel();
        let waiter = thread::spawn(move || {
            let status = child.wait();
            let _ = done.send(());
            status
        });
        let late = waiting.recv_timeout(limit).is_err();
        if late {
            let _ = kill_process(pid, Signal::KILL);
        }
        let status = waiter.join().map_err(|_| anyhow!("lost a program"))??;
        let text = |t: thread::JoinHandle<String>| t.join().unwrap_or_default();
        let (stdout, stderr) = (text(stdout), text(stderr));
        if late {
            bail!("{:?} took longer than {limit:?}; it said {stdout:?} {stderr:?}", program.arguments);
        }
        Ok(Done {
            code: status.code(),
            stdout,
            stderr,
            took: begun.elapsed().as_micros() as u64,
            file: String::new(),
        })
    }

    fn start(self: &Arc<Self>, name: String, program: &Program, output: Output) -> Result<Done> {
        let mut running = lock(&self.running);
        if running.contains_key(&name) {
            bail!("{name} runs already");
        }
        let log = || OpenOptions::new().create(true).append(true).open(format!("/var/log/{name}.log"));
        let mut command = command(program)?;
        command.stdin(Stdio::null()).stderr(log()?);
        command.stdout(if output == Output::Lines { Stdio::piped() } else { log()?.into() });
        let mut child: Child = command.spawn()?;
        running.insert(name.clone(), Pid::from_child(&child));
        drop(running);
        let agent = self.clone();
        thread::spawn(move || {
            if let Some(stdout) = child.stdout.take() {
                for text in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let at = agent.started.elapsed().as_micros() as u64;
                    agent.say(&Message::Line { name: name.clone(), at, text });
                }
            }
            let code = child.wait().ok().and_then(|status| status.code());
            lock(&agent.running).remove(&name);
            agent.ended.notify_all();
            agent.say(&Message::Ended { name, code });
        });
        Ok(Done::default())
    }

    fn kill(&self, name: &str, signal: i32) -> Result<Done> {
        let signal = Signal::from_named_raw(signal).context("no such signal")?;
        let running = lock(&self.running);
        let Some(&pid) = running.get(name) else { bail!("{name} does not run") };
        kill_process(pid, signal)?;
        // Longer than any of our programs takes to shut down.
        let (_running, late) = self
            .ended
            .wait_timeout_while(running, Duration::from_secs(15), |running| running.contains_key(name))
            .unwrap_or_else(PoisonError::into_inner);
        if late.timed_out() {
            bail!("{name} lives on after signal {signal:?}");
        }
        Ok(Done::default())
    }

    fn say(&self, message: &Message) {
        let mut line = serde_json::to_vec(message).expect("plain data");
        line.push(b'\n');
        if let Err(error) = lock(&self.lab).write_all(&line) {
            eprintln!("agent: {error}");
        }
    }
}

fn command(program: &Program) -> Result<Command> {
    let (name, arguments) = program.arguments.split_first().context("no program named")?;
    let mut command = Command::new(name);
    command.args(arguments).env_clear().env("PATH", "/bin:/app").env("RUST_BACKTRACE", "1");
    command.envs(program.environment.iter().map(|(k, v)| (k, v)));
    match program.user {
        User::Root => command.env("HOME", "/root"),
        User::Player => command
            .uid(1000)
            .gid(1000)
            .env("HOME", "/home/player")
            .env("XDG_RUNTIME_DIR", "/run/user/1000")
            .env("LANG", "C.UTF-8")
            .current_dir("/home/player"),
    };
    Ok(command)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked leaves at worst a stale name.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
