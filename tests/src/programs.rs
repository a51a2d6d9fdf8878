//! The programs as people start them, and `qiyouctl` as a person uses it.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::OnceLock;

use bytes::BytesMut;
use proto::control::{Message, event};
use proto::frame::{Arrival, FrameCodec, FrameLimit};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::codec::Decoder;

use crate::house::Device;

/// The folder of qiyoud, qiyouctl and qiyou-engine. Builds them if necessary: for a test, cargo builds only the programs of the test's own
/// package.
///
/// `cargo test --workspace` has built them for the tests of their own packages, so nothing is rebuilt here. Building the programs
/// alone would select other features of their dependencies, and rebuild most of the workspace.
///
/// # Panics
/// When the build fails.
pub fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let exe = std::env::current_exe().expect("a test is a program");
        let folder = exe.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned();
        let mut build = std::process::Command::new(env!("CARGO"));
        build.args(["test", "--no-run", "--quiet", "--locked", "--offline", "--workspace"]);
        build.args(["--test", "qiyoud", "--test", "qiyouctl", "--test", "gtp"]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        if let Ok(features) = std::env::var("TESTED") {
            build.args(["--features", &features]);
        }
        // Cargo tells a test which package it is of. Build scripts that ask for the same variables (`ring`'s) would run again, and
        // all that depends on them would be compiled twice more: here, and by the next cargo that is started by a person.
        for (name, _) in std::env::vars_os() {
            let told = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_EXE_", "CARGO_CRATE_", "OUT_DIR"];
            if told.iter().any(|start| name.to_string_lossy().starts_with(start)) {
                build.env_remove(name);
            }
        }
        build.arg("--manifest-path").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"));
        build.arg("--target-dir").arg(folder.parent().expect("target"));
        assert!(build.status().expect("cargo runs").success(), "the programs cannot be built");
        folder
    })
}

/// The exit code and output of a command.
#[derive(Debug)]
pub struct Said {
    /// Its exit code.
    pub code: i32,
    /// Its output lines, each a JSON object.
    pub lines: Vec<Value>,
}

impl Said {
    /// Parses the output of a command with `--json`.
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

    /// A text field of the last line; empty if it is no text.
    pub fn text(&self, key: &str) -> &str {
        self.last()[key].as_str().unwrap_or_default()
    }

    /// The exit code, and the host's refusal.
    pub fn refusal(&self) -> (i32, &str) {
        (self.code, self.text("refusal"))
    }
}

/// A person with `qiyouctl`: makes the host of this process reachable through a socket, like a daemon's. Ends with its host.
pub struct Hands {
    socket: PathBuf,
}

impl Hands {
    /// Opens a socket for this device's running host. Not under a paused clock: programs take real time.
    ///
    /// # Panics
    /// When the socket cannot be bound.
    pub fn at(device: &Device) -> Self {
        let socket = device.directory().join("hands.sock");
        // A leftover of the host before a restart.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).expect("a socket in its own directory");
        tokio::spawn(device.host().connector().serve(listener));
        Self { socket }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Starts a command, with `--json` and this person's socket.
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

    /// The same, once the host has told the command its whole state: whatever happens from now on, the command hears of it.
    ///
    /// # Panics
    /// When the command ends before that.
    pub async fn begin_attached(&self, words: &[&str]) -> tokio::process::Child {
        let socket = self.socket.with_extension("between");
        // A leftover of the command before.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).expect("a socket in its own directory");
        let child = Self { socket }.begin(words);
        let (program, _) = listener.accept().await.expect("the command connects");
        let host = UnixStream::connect(&self.socket).await.expect("the host is there");
        let (mut from_program, mut to_program) = program.into_split();
        let (mut from_host, mut to_host) = host.into_split();
        // Either end closes the other one: what is dropped is shut down.
        tokio::spawn(async move { tokio::io::copy(&mut from_program, &mut to_host).await });
        let (mut codec, mut read) = (FrameCodec::new(FrameLimit::Local), BytesMut::new());
        let mut is_told = false;
        while !is_told {
            let from = read.len();
            let count = from_host.read_buf(&mut read).await.expect("the host is there");
            assert!(count > 0, "the host has closed the connection of {words:?}");
            to_program.write_all(&read[from..]).await.expect("the command is there");
            while let Some(arrival) = codec.decode(&mut read).expect("frames") {
                let Arrival::Next(frame) = arrival else { continue };
                if let Ok(Message::Event(event)) = Message::decode(frame.msgid, &frame.payload) {
                    is_told |= matches!(event.body, Some(event::Body::Ready(_)));
                }
            }
        }
        tokio::spawn(async move { tokio::io::copy(&mut from_host, &mut to_program).await });
        child
    }

    /// Runs a command to its end; returns its output.
    ///
    /// # Panics
    /// When a line of the output is no JSON.
    pub async fn ctl(&self, words: &[&str]) -> Said {
        Said::of(&self.begin(words).wait_with_output().await.expect("it ends"))
    }

    /// Runs a command that must succeed; returns its output.
    ///
    /// # Panics
    /// When its exit code is not 0.
    pub async fn does(&self, words: &[&str]) -> Said {
        let said = self.ctl(words).await;
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        said
    }
}
