//! The motor on a private message bus, with a fake feedbackd that records its calls.
#![cfg(feature = "vibration")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use dbus::blocking::Connection;
use dbus::channel::{Channel, MatchingReceiver, Sender as _};
use dbus::message::MatchRule;
use senses::Feel;
use senses::motor::Feedbackd;

struct Bus {
    daemon: Child,
    address: String,
}

impl Bus {
    fn new() -> Self {
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-daemon is installed: scripts/need test");
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().expect("piped")).read_line(&mut address).expect("an address");
        Self { daemon, address: address.trim().into() }
    }

    fn connect(&self) -> Connection {
        let mut channel = Channel::open_private(&self.address).expect("the bus is there");
        channel.register().expect("a name on the bus");
        channel.into()
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.daemon.kill().ok();
        self.daemon.wait().ok();
    }
}

/// A feedbackd with or without a motor; reports when it owns its name, and then each pattern.
fn serve(bus: &Connection, motor: bool, patterns: &Sender<Vec<(f64, u32)>>) {
    let patterns_of = patterns.clone();
    bus.start_receive(
        MatchRule::new_method_call(),
        Box::new(move |call, bus| {
            let answer = match call.member().as_deref() {
                Some("Get") => call.method_return().append1(dbus::arg::Variant("full")),
                Some("Vibrate") => {
                    let (app, pattern): (String, Vec<(f64, u32)>) =
                        call.read2().expect("as the interface says");
                    assert_eq!(app, "org.qiyou.Qiyou");
                    patterns_of.send(pattern).expect("the test listens");
                    call.method_return().append1(motor)
                }
                other => panic!("{other:?} is not asked"),
            };
            bus.send(answer).expect("sent");
            true
        }),
    );
    bus.request_name("org.sigxcpu.Feedback", false, false, true).expect("nobody else has it");
    patterns.send(Vec::new()).expect("the test listens");
    while bus.process(Duration::from_millis(200)).is_ok() {}
}

fn asked(motor: bool, test: impl FnOnce(Option<Feedbackd>)) -> Vec<Vec<(f64, u32)>> {
    let bus = Bus::new();
    let service = bus.connect();
    let (patterns, seen) = channel();
    std::thread::spawn(move || serve(&service, motor, &patterns));
    assert_eq!(seen.recv(), Ok(Vec::new()), "it is there");
    test(Feedbackd::on(bus.connect()));
    seen.try_iter().collect()
}

#[test]
fn a_phone_shakes_as_hard_and_as_long_as_is_asked() {
    let seen = asked(true, |daemon| {
        let daemon = daemon.expect("it has a motor");
        assert!(daemon.shake(Feel::Light) && daemon.shake(Feel::Strong));
    });
    assert_eq!(seen, [vec![], vec![(0.45, 18)], vec![(1.0, 60)]]);
}

#[test]
fn a_daemon_without_a_motor_is_left_alone() {
    let seen = asked(false, |daemon| assert!(daemon.is_none()));
    assert_eq!(seen, [Vec::new()]);
}

#[test]
fn a_desktop_without_the_daemon_is_not_asked() {
    let bus = Bus::new();
    assert!(Feedbackd::on(bus.connect()).is_none());
}
