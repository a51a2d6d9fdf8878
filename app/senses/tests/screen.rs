//! The screen on a private message bus, with services of the test in the place of portal, screen saver and logind.
#![cfg(feature = "screen")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use dbus::Message;
use dbus::arg::PropMap;
use dbus::blocking::Connection;
use dbus::channel::{Channel, MatchingReceiver, Sender as _};
use dbus::message::MatchRule;
use senses::screen::{Inhibition, Keeper};

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

    /// A service under this name until the bus ends: `answer` makes the reply to each call.
    fn serve(&self, name: &'static str, answer: impl Fn(&Message) -> Message + Send + 'static) {
        let bus = self.connect();
        let (ready, waiting) = channel();
        std::thread::spawn(move || {
            bus.request_name(name, false, false, true).expect("nobody else has it");
            bus.start_receive(
                MatchRule::new_method_call(),
                Box::new(move |call, bus| {
                    bus.send(answer(&call)).expect("sent");
                    true
                }),
            );
            ready.send(()).expect("the test waits");
            while bus.process(Duration::from_millis(200)).is_ok() {}
        });
        waiting.recv().expect("the service comes up");
    }

    fn take(&self) -> Option<Inhibition> {
        Inhibition::take(None, || Some(self.connect()), || Some(self.connect()))
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.daemon.kill().ok();
        self.daemon.wait().ok();
    }
}

const REQUEST: &str = "/org/freedesktop/portal/desktop/request/1_1/qiyou";

/// The portal; `works`: whether its desktop implements Inhibit. Each call of the test's side is written down.
fn portal(bus: &Bus, works: bool) -> Receiver<String> {
    let (note, noted) = channel();
    bus.serve("org.freedesktop.portal.Desktop", move |call| {
        let member = call.member().expect("a method").to_string();
        match (&*member, works) {
            ("Inhibit", true) => {
                let mut arguments = call.iter_init();
                let window: String = arguments.read().expect("a window");
                let flags: u32 = arguments.read().expect("flags");
                let options: PropMap = arguments.read().expect("options");
                assert!(options.contains_key("reason"));
                note.send(format!("Inhibit {window:?} {flags}")).expect("the test listens");
                call.method_return().append1(dbus::Path::from(REQUEST))
            }
            ("Close", true) => {
                note.send(format!("Close {}", call.path().expect("an object"))).expect("the test listens");
                call.method_return()
            }
            _ => call.error(
                &dbus::strings::ErrorName::from("org.freedesktop.DBus.Error.UnknownMethod"),
                c"no such interface",
            ),
        }
    });
    noted
}

fn screen_saver(bus: &Bus) -> Receiver<String> {
    let (note, noted) = channel();
    bus.serve("org.freedesktop.ScreenSaver", move |call| match call.member().as_deref() {
        Some("Inhibit") => {
            let (app, reason): (String, String) = call.read2().expect("two words");
            assert!(!reason.is_empty());
            note.send(format!("Inhibit {app}")).expect("the test listens");
            call.method_return().append1(77_u32)
        }
        Some("UnInhibit") => {
            let cookie: u32 = call.read1().expect("a cookie");
            note.send(format!("UnInhibit {cookie}")).expect("the test listens");
            call.method_return()
        }
        other => panic!("{other:?} is not asked"),
    });
    noted
}

fn logind(bus: &Bus) -> Receiver<UnixStream> {
    let (lend, lent) = channel();
    bus.serve("org.freedesktop.login1", move |call| {
        assert_eq!(call.member().as_deref(), Some("Inhibit"));
        let (what, who, _why, mode): (String, String, String, String) = call.read4().expect("four words");
        assert_eq!((&*what, &*who, &*mode), ("idle", "Qiyou", "block"));
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        lend.send(ours).expect("the test listens");
        call.method_return().append1(File::from(OwnedFd::from(theirs)))
    });
    lent
}

#[test]
fn the_portal_is_asked_first_and_its_request_is_closed_when_the_screen_may_go_off() {
    let bus = Bus::new();
    let (portal, saver) = (portal(&bus, true), screen_saver(&bus));
    let held = bus.take().expect("the portal keeps the screen on");
    assert_eq!(held.keeper(), Some(&Keeper::Portal(REQUEST.into())));
    assert_eq!(portal.try_iter().collect::<Vec<_>>(), ["Inhibit \"\" 8"]);
    drop(held);
    assert_eq!(portal.try_iter().collect::<Vec<_>>(), [format!("Close {REQUEST}")]);
    assert!(saver.try_recv().is_err(), "one keeper is enough");
}

#[test]
fn a_desktop_whose_portal_cannot_is_asked_for_its_screen_saver() {
    let bus = Bus::new();
    let (portal, saver) = (portal(&bus, false), screen_saver(&bus));
    let held = bus.take().expect("the screen saver is there");
    assert_eq!(held.keeper(), Some(&Keeper::ScreenSaver(77)));
    drop(held);
    assert_eq!(saver.try_iter().collect::<Vec<_>>(), ["Inhibit Qiyou", "UnInhibit 77"]);
    assert!(portal.try_recv().is_err());
}

#[test]
fn without_a_desktop_logind_holds_off_idling_until_its_descriptor_is_closed() {
    let bus = Bus::new();
    let lent = logind(&bus);
    let held = bus.take().expect("logind is there");
    assert_eq!(held.keeper(), Some(&Keeper::Logind));
    let mut ours = lent.try_recv().expect("an inhibitor was lent");
    ours.set_nonblocking(true).expect("set");
    assert_eq!(ours.read(&mut [0]).expect_err("it is held").kind(), std::io::ErrorKind::WouldBlock);
    drop(held);
    ours.set_nonblocking(false).expect("set");
    assert_eq!(ours.read(&mut [0]).expect("its end"), 0);
}

#[test]
fn where_nobody_can_keep_the_screen_on_nothing_is_held() {
    let bus = Bus::new();
    assert!(bus.take().is_none());
    assert!(Inhibition::take(None, || None, || None).is_none());
}
