//! The programs as people start them: qiyoud behind its socket, qiyouctl before it.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tests::programs::programs;

/// A daemon with its own directories.
struct Daemon {
    child: Child,
    home: tempfile::TempDir,
}

impl Daemon {
    fn start() -> Self {
        Self::start_in(tempfile::tempdir().expect("a directory"), "")
    }

    /// Runs after `before` in the same shell, which can set limits.
    fn start_in(home: tempfile::TempDir, before: &str) -> Self {
        let line = format!(
            "{before} exec {} --no-bluetooth --no-lan --no-notifications --bot-time-ms 20 --data-dir {}",
            programs().join("qiyoud").display(),
            home.path().join("data").display()
        );
        let mut child = Command::new("bash")
            .args(["-c", &line])
            .env("XDG_RUNTIME_DIR", home.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash runs");
        let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
        let ready = log.by_ref().map_while(Result::ok).any(|line| line.contains("clients are welcome"));
        assert!(ready, "the daemon did not come up");
        // A process blocks when it fills a pipe that nobody reads.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, home }
    }

    fn socket(&self) -> PathBuf {
        self.home.path().join("qiyou/control.sock")
    }

    fn ctl(&self, words: &[&str]) -> Output {
        ctl_in(self.home.path(), words)
    }

    /// The output of a command that must succeed, a JSON object per line.
    fn json(&self, words: &[&str]) -> Vec<Value> {
        let output = self.ctl(&[words, &["--json"]].concat());
        assert!(output.status.success(), "{words:?}: {output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The exit code and refusal of a command that fails.
    fn refused(&self, words: &[&str]) -> (i32, String) {
        let output = self.ctl(&[words, &["--json"]].concat());
        let text = String::from_utf8(output.stdout).expect("text");
        let value: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
        (output.status.code().expect("an exit code"), value["refusal"].as_str().expect("a word").to_owned())
    }

    fn signal(&mut self, signal: &str) -> std::process::ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
        self.child.wait().expect("it ends")
    }

    /// Takes the directories out, for another daemon.
    fn leave(mut self, signal: &str) -> tempfile::TempDir {
        self.signal(signal);
        std::mem::replace(&mut self.home, tempfile::tempdir().expect("a directory"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ctl_in(runtime: &Path, words: &[&str]) -> Output {
    Command::new(programs().join("qiyouctl"))
        .args(words)
        .env("XDG_RUNTIME_DIR", runtime)
        .output()
        .expect("qiyouctl runs")
}

#[test]
fn a_whole_game_against_the_device_by_command_line() {
    let daemon = Daemon::start();
    let room = daemon.json(&["new", "--opponent", "bot:1"]);
    let id = room[0]["room_id"].as_str().expect("an id").to_owned();
    daemon.json(&["play", "h8"]);
    assert_eq!(daemon.refused(&["play", "h8"]).0, 1);
    let board = daemon.ctl(&["board"]);
    assert!(String::from_utf8_lossy(&board.stdout).contains('X'), "{board:?}");
    let lines = daemon.json(&["bot", "--level", "2"]);
    let end = lines.last().expect("an end");
    assert_eq!(end["room_id"].as_str(), Some(id.as_str()));
    assert!(end["result"]["ending"].is_string(), "{end}");
    assert_eq!(daemon.refused(&["play", "a1"]), (1, "game_over".into()));
    let matches = daemon.json(&["matches"]);
    assert_eq!(matches.len(), 1);
    assert_eq!(matches[0]["digest"], end["digest"]);
    assert_eq!(matches[0]["record"], end["record"]);
    daemon.json(&["close"]);
    assert!(daemon.json(&["rooms"]).is_empty());
    daemon.json(&["resume", &id[..8]]);
    assert_eq!(daemon.json(&["rooms"])[0]["id"].as_str(), Some(id.as_str()));
}

#[test]
fn name_and_visibility_are_kept_over_a_restart() {
    let daemon = Daemon::start();
    let before = daemon.json(&["name", "小明"])[0].clone();
    assert_eq!(before["name"].as_str(), Some("小明"));
    assert_eq!(before["fingerprint"].as_str().map(str::len), Some(29));
    daemon.json(&["visibility", "friends"]);
    let daemon = Daemon::start_in(daemon.leave("-TERM"), "");
    let after = daemon.json(&["name"])[0].clone();
    assert_eq!(after["visibility"].as_str(), Some("friends"));
    assert_eq!((&before["name"], &before["fingerprint"]), (&after["name"], &after["fingerprint"]));
}

#[test]
fn nobody_else_may_open_the_socket() {
    let daemon = Daemon::start();
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&daemon.socket()), 0o600);
    assert_eq!(mode(daemon.socket().parent().expect("a directory")), 0o700);
    assert_eq!(mode(&daemon.home.path().join("data")), 0o700);
    assert_eq!(mode(&daemon.home.path().join("data/qiyou.db")), 0o600);
    assert_eq!(mode(&daemon.home.path().join("data/identity")), 0o600);
}

#[test]
fn without_a_daemon_the_remedy_is_told() {
    let home = tempfile::tempdir().expect("a directory");
    let output = ctl_in(home.path(), &["rooms"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Start one with"), "{output:?}");
    let output = ctl_in(home.path(), &["play"]);
    assert_eq!(output.status.code(), Some(2), "wrong usage");
}

#[test]
fn a_second_daemon_steps_aside() {
    let daemon = Daemon::start();
    let second = Command::new(programs().join("qiyoud"))
        .args(["--no-bluetooth", "--no-lan", "--data-dir"])
        .arg(daemon.home.path().join("data"))
        .env("XDG_RUNTIME_DIR", daemon.home.path())
        .output()
        .expect("it runs");
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("runs already"), "{second:?}");
    assert!(daemon.ctl(&["rooms"]).status.success(), "the first is still there");
}

#[test]
fn a_killed_daemon_leaves_nothing_in_the_way() {
    let daemon = Daemon::start();
    daemon.json(&["new", "--opponent", "bot:1"]);
    daemon.json(&["play", "h8"]);
    let home = daemon.leave("-KILL");
    let socket = home.path().join("qiyou/control.sock");
    assert!(socket.exists(), "a killed daemon leaves its socket");
    assert!(UnixStream::connect(&socket).is_err());
    let daemon = Daemon::start_in(home, "");
    let rooms = daemon.json(&["rooms"]);
    assert_eq!(rooms[0]["record"][0].as_str(), Some("h8"));
}

#[test]
fn asked_politely_it_ends_well_and_takes_its_socket_away() {
    for signal in ["-TERM", "-INT"] {
        let mut daemon = Daemon::start();
        assert!(daemon.signal(signal).success());
        assert!(!daemon.socket().exists());
    }
    let mut daemon = Daemon::start();
    daemon.json(&["stop"]);
    assert!(daemon.child.wait().expect("it ends").success());
}

#[test]
fn a_full_disk_stops_play_with_a_message_and_loses_nothing() {
    // Files cannot grow beyond 400 KiB, as on a full disk; the signal that comes with it is ignored.
    let daemon = Daemon::start_in(tempfile::tempdir().expect("a directory"), "trap '' XFSZ; ulimit -f 400;");
    daemon.json(&["new", "--opponent", "here"]);
    let mut played = Vec::new();
    let refused = loop {
        let number = played.len();
        assert!(number < 200, "the disk is never full");
        let action = format!("{}{}", char::from(b'a' + (number % 15) as u8), number / 15 * 2 % 15 + 1);
        let output = daemon.ctl(&["play", &action, "--json"]);
        if output.status.success() {
            played.push(action);
        } else {
            break output;
        }
    };
    let text = String::from_utf8_lossy(&refused.stdout).into_owned();
    let value: Value = serde_json::from_str(text.trim()).expect("JSON");
    assert_eq!(value["refusal"].as_str(), Some("disk"), "{value}");
    assert!(!played.is_empty());
    let checks = daemon.ctl(&["doctor"]);
    assert_eq!(checks.status.code(), Some(6), "{checks:?}");
    let record = |daemon: &Daemon| {
        let rooms = daemon.json(&["rooms"]);
        let record = rooms[0]["record"].as_array().expect("a list").clone();
        record.iter().map(|action| action.as_str().expect("a move").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(record(&daemon), played, "what was refused is not shown");
    let daemon = Daemon::start_in(daemon.leave("-KILL"), "");
    assert_eq!(record(&daemon), played, "and nothing that was played is lost");
    assert!(daemon.ctl(&["doctor"]).status.success());
}

#[test]
fn a_socket_that_systemd_listens_on_is_taken_over_and_left_to_it() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("given.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("bound");
    // Socket activation as by systemd: the socket is file descriptor 3, and the environment names the process.
    let line = format!(
        "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec {} --no-bluetooth --data-dir {}",
        programs().join("qiyoud").display(),
        home.path().join("data").display()
    );
    let mut child = Command::new("bash")
        .args(["-c", &line])
        .env_remove("XDG_RUNTIME_DIR")
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(listener)))
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash runs");
    // The client starts before the daemon, and waits.
    let output = ctl_in(home.path(), &["name", "Anna", "--json", "--socket", &path.display().to_string()]);
    assert!(output.status.success(), "{output:?}");
    let stop = ctl_in(home.path(), &["stop", "--socket", &path.display().to_string()]);
    assert!(stop.status.success(), "{stop:?}");
    assert!(child.wait().expect("it ends").success());
    assert!(path.exists(), "the next client's systemd still listens there");
}

#[test]
fn the_unit_files_name_the_socket_that_clients_look_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/systemd");
    let socket = std::fs::read_to_string(folder.join("qiyoud.socket")).expect("read");
    // %t is XDG_RUNTIME_DIR.
    assert!(socket.contains("\nListenStream=%t/qiyou/control.sock\n"), "{socket}");
    assert_eq!(link::control_socket_in(Path::new("%t")), Path::new("%t/qiyou/control.sock"), "clients'");
    assert!(folder.join("qiyoud.service").exists(), "the service that the socket starts has its name");
}

#[test]
fn people_and_the_device_are_looked_after_by_command_line() {
    let daemon = Daemon::start();
    let shown = |daemon: &Daemon, words: &[&str]| daemon.json(words)[0]["found_when_closed"].as_bool();
    assert_eq!(shown(&daemon, &["found-when-closed"]), Some(false), "off by default");
    assert_eq!(shown(&daemon, &["found-when-closed", "on"]), Some(true));
    let quiet = |daemon: &Daemon, words: &[&str]| daemon.json(words)[0]["quiet_hours"].clone();
    assert!(quiet(&daemon, &["quiet-hours"]).is_null(), "none by default");
    let night = quiet(&daemon, &["quiet-hours", "22:30", "8:00"]);
    assert_eq!((&night["from"], &night["until"]), (&"22:30".into(), &"08:00".into()));
    assert!(daemon.json(&["blocked"]).is_empty());
    for words in
        [&["block", "Ben"][..], &["unblock", "Ben"], &["note", "Ben", "x"], &["same-person", "a", "b"]]
    {
        assert_eq!(daemon.refused(words), (5, String::new()), "{words:?}");
    }
    assert!(daemon.json(&["adapter"]).is_empty(), "started without Bluetooth");
    let daemon = Daemon::start_in(daemon.leave("-TERM"), "");
    assert_eq!(shown(&daemon, &["found-when-closed"]), Some(true), "kept");
    assert_eq!(quiet(&daemon, &["quiet-hours"]), night, "kept");
    assert!(quiet(&daemon, &["quiet-hours", "off"]).is_null());
}
