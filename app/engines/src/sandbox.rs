//! What an engine may see of the device.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Program;

/// How engines are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// By bubblewrap: no network, no home directory, no other process; the system's programs and libraries, and the folder
    /// of the engine, to be read only.
    Bubblewrap {
        /// The program bwrap.
        bwrap: PathBuf,
        /// Folders that contain what no engine may see: the home directory, the data of the host. A folder of an engine
        /// that contains one of them stays hidden.
        hidden: Vec<PathBuf>,
    },
    /// As a process of the user, which ends with the host.
    Setpriv(PathBuf),
    /// As a process of the user.
    None,
}

/// What programs need of the system; what is not there is left out.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/alternatives",
];

impl Sandbox {
    /// The strictest that works here. `hidden`: see [`Sandbox::Bubblewrap`]. Starts programs to try it, so it takes some
    /// milliseconds.
    pub fn find(hidden: Vec<PathBuf>) -> Self {
        let there = |name: &str| {
            ["/usr/bin", "/bin", "/usr/local/bin"]
                .into_iter()
                .map(|folder| Path::new(folder).join(name))
                .find(|path| path.is_file())
        };
        let nothing = Program { path: "/bin/true".into(), arguments: Vec::new() };
        let candidates = [
            there("bwrap").map(|bwrap| Self::Bubblewrap { bwrap, hidden }),
            there("setpriv").map(Self::Setpriv),
        ];
        candidates.into_iter().flatten().find(|sandbox| sandbox.works(&nothing)).unwrap_or(Self::None)
    }

    /// Whether engines see neither network nor home directory.
    pub fn confines(&self) -> bool {
        matches!(self, Self::Bubblewrap { .. })
    }

    fn works(&self, program: &Program) -> bool {
        /// It takes milliseconds; a machine under load gets more.
        const PATIENCE: Duration = Duration::from_secs(20);
        let prefix = self.prefix(program);
        let Some((first, rest)) = prefix.split_first() else { return true };
        let mut command = Command::new(first);
        command.args(rest).arg(&program.path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return false };
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            match child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(_) => break,
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        false
    }

    /// The words before the program on the command line.
    pub(crate) fn prefix(&self, program: &Program) -> Vec<OsString> {
        match self {
            Self::None => Vec::new(),
            Self::Setpriv(setpriv) => {
                let options = ["--pdeathsig", "KILL", "--no-new-privs", "--"];
                std::iter::once(setpriv.into()).chain(options.map(OsString::from)).collect()
            }
            Self::Bubblewrap { bwrap, hidden } => {
                let mut words = vec![OsString::from(bwrap)];
                let mut say = |some: &[&Path]| words.extend(some.iter().map(|word| word.as_os_str().into()));
                for word in ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"] {
                    say(&[Path::new(word)]);
                }
                let option = Path::new;
                for (name, value) in crate::process::ENVIRONMENT {
                    say(&[option("--setenv"), option(name), option(value)]);
                }
                for path in SYSTEM.map(Path::new) {
                    say(&[option("--ro-bind-try"), path, path]);
                }
                say(&[option("--proc"), option("/proc"), option("--dev"), option("/dev")]);
                say(&[option("--tmpfs"), option("/tmp")]);
                for path in seen(program, hidden) {
                    say(&[option("--ro-bind-try"), &path, &path]);
                }
                if let Some(folder) = program.path.parent() {
                    // It exists even where the folder stays hidden.
                    say(&[option("--dir"), folder, option("--chdir"), folder]);
                }
                say(&[option("--")]);
                words
            }
        }
    }
}

/// The engine's own files: its folder, unless that contains something hidden, and files and folders that its arguments name.
fn seen(program: &Program, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let shows = |path: &Path| !hidden.iter().any(|hidden| hidden.starts_with(path));
    let mut seen = Vec::new();
    match program.path.parent() {
        Some(folder) if shows(folder) => seen.push(folder.to_owned()),
        _ => seen.push(program.path.clone()),
    }
    let named = program.arguments.iter().map(|argument| {
        // As a word of its own, or after the sign of an option.
        Path::new(argument.split_once('=').map_or(argument.as_str(), |(_, value)| value))
    });
    seen.extend(named.filter(|path| path.is_absolute() && shows(path)).map(Path::to_owned));
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bubblewrap() -> Sandbox {
        Sandbox::Bubblewrap { bwrap: "/usr/bin/bwrap".into(), hidden: vec!["/home/ann".into()] }
    }

    fn line(path: &str, arguments: &[&str]) -> String {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        let words = bubblewrap().prefix(&Program { path: path.into(), arguments });
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_engine_has_no_network_and_sees_its_own_folder_alone() {
        let all = line("/home/ann/engines/rapfi/rapfi", &[]);
        assert!(all.contains("--unshare-all") && all.contains("--die-with-parent"), "{all}");
        assert!(all.contains("--ro-bind-try /home/ann/engines/rapfi /home/ann/engines/rapfi"), "{all}");
        assert!(!all.contains("--ro-bind-try / "), "{all}");
        assert!(!all.contains("--ro-bind-try /home/ann /home/ann "), "{all}");
    }

    #[test]
    fn an_engine_that_lies_in_the_home_directory_itself_shows_only_its_file() {
        let all = line("/home/ann/rapfi", &[]);
        assert!(all.contains("--ro-bind-try /home/ann/rapfi /home/ann/rapfi"), "{all}");
        assert!(!all.contains("--ro-bind-try /home/ann /home/ann "), "{all}");
        let argument = line("/usr/games/gnugo", &["--file", "/home", "/home/ann", "/"]);
        assert!(!argument.contains("--ro-bind-try /home"), "{argument}");
    }

    #[test]
    fn files_that_arguments_name_are_seen() {
        let all = line("/usr/bin/katago", &["gtp", "-model", "/home/ann/net.bin.gz", "--config=/srv/a.cfg"]);
        for file in ["/home/ann/net.bin.gz", "/srv/a.cfg"] {
            assert!(all.contains(&format!("--ro-bind-try {file} {file}")), "{all}");
        }
    }
}
