//! A private D-Bus, and services of the test's own on it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender as Tell, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dbus::Message;
use dbus::blocking::Connection;
use dbus::channel::{MatchingReceiver, Sender};
use dbus::message::MatchRule;
use host::Bus;

/// A private message bus.
pub struct PrivateBus {
    daemon: Child,
    address: String,
    _directory: tempfile::TempDir,
}

impl PrivateBus {
    /// Starts a bus.
    ///
    /// # Panics
    /// When dbus-daemon is not installed.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let address = format!("unix:path={}", directory.path().join("bus").display());
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .arg(format!("--address={address}"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-daemon is installed: scripts/need test");
        let mut ready = String::new();
        let stdout = daemon.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut ready).expect("it says where it listens");
        Self { daemon, address, _directory: directory }
    }

    /// The bus for a host.
    pub fn bus(&self) -> Bus {
        Bus::At(self.address.clone())
    }
}

impl Drop for PrivateBus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// A service on the bus, on its own thread: answers calls until dropped, and emits signals on request.
pub struct Service {
    say: Option<Tell<Message>>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Takes this name and answers every call by `answer`.
    ///
    /// # Panics
    /// When the bus is not there or somebody else has the name.
    pub fn start(
        bus: &PrivateBus,
        name: &'static str,
        answer: impl Fn(&Message) -> Message + Send + 'static,
    ) -> Self {
        let (say, to_say) = channel();
        let (tell_ready, ready) = channel();
        let address = bus.address.clone();
        let thread = std::thread::spawn(move || {
            let connection = Connection::new_address(&address).expect("the bus is there");
            connection.request_name(name, false, false, false).expect("nobody else has it");
            connection.start_receive(
                MatchRule::new_method_call(),
                Box::new(move |message, connection: &Connection| {
                    connection.send(answer(&message)).expect("the bus is there");
                    true
                }),
            );
            tell_ready.send(()).expect("the test waits");
            serve(&connection, &to_say);
        });
        ready.recv().expect("the service comes up");
        Self { say: Some(say), thread: Some(thread) }
    }

    /// Emits a signal.
    ///
    /// # Panics
    /// When the service has ended.
    pub fn say(&self, message: Message) {
        self.say.as_ref().expect("until it is dropped").send(message).expect("the thread runs");
    }
}

fn serve(connection: &Connection, to_say: &Receiver<Message>) {
    loop {
        match to_say.try_recv() {
            Ok(message) => drop(connection.send(message)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        connection.process(Duration::from_millis(10)).expect("the bus is there");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.say = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
