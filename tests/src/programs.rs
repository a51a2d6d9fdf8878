//! The programs as people start them, and `qiyouctl` as somebody's hands.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tokio::net::UnixListener;

use crate::house::Device;

/// The folder of qiyoud and qiyouctl, built now if they are not: cargo builds only this package's own programs for a test.
///
/// `cargo test --workspace` has built them for their packages' own tests, and here finds them done. Asked for as programs alone they
/// would be built with other features of their dependencies, which is most of the workspace once more.
///
/// # Panics
/// When they cannot be built.
pub fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let exe = std::env::current_exe().expect("a test is a program");
        let folder = exe.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned();
        let mut build = std::process::Command::new(env!("CARGO"));
        build.args(["test", "--no-run", "--quiet", "--locked", "--offline", "--workspace"]);
        build.args(["--test", "qiyoud", "--test", "qiyouctl"]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        build.arg("--manifest-path").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"));
        build.arg("--target-dir").arg(folder.parent().expect("target"));
        assert!(build.status().expect("cargo runs").success(), "qiyoud and qiyouctl cannot be built");
        folder
    })
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub struct Said {
    /// Its exit code.
    pub code: i32,
    /// Its lines, each a JSON object.
    pub lines: Vec<Value>,
}

impl Said {
    /// Reads what a command with `--json` has left.
    ///
    /// # Panics
    /// When a line is no JSON.
    pub fn of(output: &Output) -> Self {
        let text = std::str::from_utf8(&output.stdout).expect("text");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        Self { code: output.status.code().expect("an exit code"), lines }
    }

    /// The last line.
    ///
    /// # Panics
    /// When nothing was printed.
    pub fn last(&self) -> &Value {
        self.lines.last().expect("it has said something")
    }

    /// A text of the last line; empty if it is none.
    pub fn text(&self, key: &str) -> &str {
        self.last()[key].as_str().unwrap_or_default()
    }

    /// The exit code, and the refusal of a command that the host refused.
    pub fn refusal(&self) -> (i32, &str) {
        (self.code, self.text("refusal"))
    }
}

/// A person with `qiyouctl` at a device: it finds the host of this process behind a socket, as a daemon's. Ends with its host.
pub struct Hands {
    socket: PathBuf,
}

impl Hands {
    /// Opens a socket for the host that runs on this device now. Not under a paused clock: programs take real time.
    ///
    /// # Panics
    /// When the socket cannot be bound.
    pub fn at(device: &Device) -> Self {
        let socket = device.directory().join("hands.sock");
        // Of the host before a restart.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).expect("a socket in its own directory");
        tokio::spawn(device.host().connector().serve(listener));
        Self { socket }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// A command that runs; with `--json` and this person's socket.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn begin(&self, words: &[&str]) -> tokio::process::Child {
        tokio::process::Command::new(programs().join("qiyouctl"))
            .args(words)
            .arg("--json")
            .arg("--socket")
            .arg(&self.socket)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("qiyouctl runs")
    }

    /// What a command says until it ends.
    ///
    /// # Panics
    /// When it prints what is no JSON.
    pub async fn ctl(&self, words: &[&str]) -> Said {
        Said::of(&self.begin(words).wait_with_output().await.expect("it ends"))
    }

    /// What a command says that does what it is asked to.
    ///
    /// # Panics
    /// When its exit code is another than 0.
    pub async fn does(&self, words: &[&str]) -> Said {
        let said = self.ctl(words).await;
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        said
    }
}
