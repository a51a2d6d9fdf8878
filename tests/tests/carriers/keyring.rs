//! A private message bus with GNOME's keyring.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The bus, and the keyring if it was started.
pub(crate) struct Desktop {
    pub(crate) address: String,
    home: tempfile::TempDir,
    children: Vec<Child>,
}

impl Desktop {
    /// A bus without service activation.
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let address = format!("unix:path={}", home.path().join("bus").display());
        let config = home.path().join("bus.conf");
        std::fs::write(
            &config,
            format!(
                r#"<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth>
                <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
                <allow own="*"/></policy></busconfig>"#
            ),
        )
        .expect("a file");
        let mut bus = Command::new("dbus-daemon")
            .args(["--nofork", "--nopidfile", "--print-address=1", "--config-file"])
            .arg(&config)
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-daemon runs: scripts/need test");
        let mut ready = String::new();
        BufReader::new(bus.stdout.take().expect("piped")).read_line(&mut ready).expect("it says where it is");
        Self { address, home, children: vec![bus] }
    }

    /// Starts the keyring, unlocked as after a login.
    pub(crate) fn start_keyring(&mut self) {
        let mut keyring = self
            .command("gnome-keyring-daemon")
            .args(["--foreground", "--unlock", "--components=secrets"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("gnome-keyring-daemon runs: scripts/need carriers");
        keyring.stdin.take().expect("piped").write_all(b"login").expect("written");
        self.children.push(keyring);
        for _ in 0..600 {
            if self.lookup("nobody").is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the keyring is not on the bus");
    }

    /// The secret as an independent program reads it: `None` if it cannot connect, empty if there is none.
    pub(crate) fn lookup(&self, account: &str) -> Option<String> {
        let output = self
            .command("secret-tool")
            .args(["lookup", "application", "qiyou", "account", account])
            .output()
            .expect("secret-tool runs: scripts/need carriers");
        let asked = output.stderr.is_empty();
        asked.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let home = self.home.path();
        let mut command = Command::new(program.as_ref());
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).env("HOME", home);
        command
            .env("XDG_RUNTIME_DIR", home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CONFIG_HOME", home);
        command
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            // The process may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
