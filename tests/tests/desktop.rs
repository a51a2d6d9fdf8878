//! A host and its desktop: a real message bus, on which the test acts as the desktop and as logind.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dbus::Message;
use dbus::arg::{PropMap, Variant};
use host::Bus;
use link::memory::MemoryNetwork;
use proto::control::{self, PeerLink, request};
use tests::bus::{PrivateBus, Service};
use tests::house::{Device, House, Seen, begin_match, friends};

/// Limit for hangs, not a bound on speed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits for a condition that another thread or process makes true, while the hosts keep running.
async fn until(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

// Notifications.

/// The desktop's notifications.
#[derive(Default)]
struct Notified {
    /// Id, summary, body. Closed ones are removed.
    standing: Vec<(u32, String, String)>,
    /// Number of calls of Notify so far, replacements included.
    calls: usize,
}

type Wall = Arc<Mutex<Notified>>;

fn desktop(bus: &PrivateBus) -> (Service, Wall) {
    let wall = Wall::default();
    let (shown, last) = (wall.clone(), Mutex::new(0));
    let service = Service::start(bus, "org.freedesktop.Notifications", move |message| {
        let mut shown = shown.lock().expect("no panic");
        match message.member().as_deref() {
            Some("Notify") => {
                let mut arguments = message.iter_init();
                let app: String = arguments.read().expect("the app's name");
                assert_eq!(app, "Qiyou");
                let replaces: u32 = arguments.read().expect("which it replaces");
                let _icon: String = arguments.read().expect("an icon");
                let (summary, body) = (arguments.read().expect("text"), arguments.read().expect("text"));
                let actions: Vec<String> = arguments.read().expect("actions");
                assert_eq!(actions[0], "default", "it can be chosen as a whole");
                let hints: PropMap = arguments.read().expect("hints");
                assert!(hints.contains_key("urgency") && hints.contains_key("desktop-entry"));
                let _stays: i32 = arguments.read().expect("how long");
                let mut last = last.lock().expect("no panic");
                let number = if replaces == 0 { *last + 1 } else { replaces };
                *last = number.max(*last);
                shown.standing.retain(|(other, ..)| *other != number);
                shown.standing.push((number, summary, body));
                shown.calls += 1;
                message.method_return().append1(number)
            }
            Some("CloseNotification") => {
                let number: u32 = message.read1().expect("a number");
                shown.standing.retain(|(other, ..)| *other != number);
                message.method_return()
            }
            other => panic!("nobody asks a desktop for {other:?}"),
        }
    });
    (service, wall)
}

fn texts(wall: &Wall) -> Vec<(String, String)> {
    let wall = wall.lock().expect("no panic");
    wall.standing.iter().map(|(_, summary, body)| (summary.clone(), body.clone())).collect()
}

fn calls(wall: &Wall) -> usize {
    wall.lock().expect("no panic").calls
}

fn stands(wall: &Wall, summary: &str, body: &str) -> bool {
    texts(wall).iter().any(|(a, b)| a.contains(summary) && b.contains(body))
}

/// Emits the signal of a notification being clicked.
fn chosen(number: u32, action: &str) -> Message {
    let (path, interface) = ("/org/freedesktop/Notifications", "org.freedesktop.Notifications");
    Message::new_signal(path, interface, "ActionInvoked").expect("a signal").append2(number, action)
}

#[tokio::test]
async fn a_notification_that_is_chosen_brings_what_it_is_about_to_the_front_or_starts_the_app() {
    let bus = PrivateBus::start();
    let (desktop, wall) = desktop(&bus);
    let mut house = House::new(90);
    let started = tempfile::tempdir().expect("a directory");
    let (app, mark) = (started.path().join("app"), started.path().join("started"));
    std::fs::write(&app, format!("#!/bin/sh\necho once >> {}\n", mark.display())).expect("written");
    std::fs::set_permissions(&app, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let mut anna = house
        .device_with("Anna", |config| {
            (config.notifications, config.app) = (Some(bus.bus()), Some(app.clone().into()));
        })
        .await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
    invite(&mut ben).await;
    until("the invitation is announced", || stands(&wall, "Ben invites you", "Gomoku")).await;
    let number = wall.lock().expect("no panic").standing[0].0;
    // Another program's notification, and another action of ours.
    desktop.say(chosen(number + 1, "default"));
    desktop.say(chosen(number, "other"));
    desktop.say(chosen(number, "default"));
    anna.client.until("it is chosen", |seen| !seen.activated.is_empty()).await;
    let invite_id = anna.client.seen.invitations.first().expect("one").invite_id.clone();
    let about = control::Activated { invite_id, ..control::Activated::default() };
    assert_eq!(anna.client.seen.activated, std::slice::from_ref(&about));
    // This client has never reported a window.
    let times = || std::fs::read_to_string(&mark).unwrap_or_default().lines().count();
    until("the app is started", || times() == 1).await;
    look(&mut anna, false).await;
    desktop.say(chosen(number, "default"));
    anna.client.until("it is chosen again", |seen| seen.activated.len() == 2).await;
    assert_eq!(anna.client.seen.activated, [about.clone(), about]);
    // Begun later than the host would have.
    assert!(std::process::Command::new(&app).status().expect("it runs").success());
    assert_eq!(times(), 2, "the window that is there comes to the front");
}

async fn look(device: &mut Device, on: bool) {
    let front = control::Front { on, language: control::Language::English.into(), unhurried: false };
    device.client.done(request::Body::Front(front)).await;
}

async fn invite(from: &mut Device) {
    let peer = from.client.seen.friends.values().next().expect("a friend").id.clone();
    let invite = control::Invite { peer, my_side: 1, ..control::Invite::default() };
    from.client.ask(request::Body::Invite(invite)).await.expect("invited");
}

#[tokio::test]
async fn what_happens_while_nobody_looks_is_shown_by_the_desktop_and_taken_away_when_somebody_does() {
    let bus = PrivateBus::start();
    let (_desktop, wall) = desktop(&bus);
    let mut house = House::new(80);
    let mut anna = house.device_with("Anna", |config| config.notifications = Some(bus.bus())).await;
    let mut ben = house.device("Ben").await;
    look(&mut anna, false).await;
    // A stranger's request.
    let id = ben.client.find("Anna").await;
    ben.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    until("Ben is announced", || stands(&wall, "Ben wants to add you as a friend", "pictures")).await;
    for device in [&mut ben, &mut anna] {
        device.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
        let peer = device.client.seen.comparisons.first().expect("one").peer.clone();
        device.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    }
    until("it is over", || texts(&wall).is_empty()).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("a friend", |seen| seen.friends.values().any(|one| one.connected)).await;
    }

    // While somebody looks at a client, no notification is shown.
    look(&mut anna, true).await;
    let before = calls(&wall);
    invite(&mut ben).await;
    anna.client.until("an invitation", |seen| !seen.invitations.is_empty()).await;
    let invite_id = anna.client.seen.invitations.first().expect("one").invite_id.clone();
    anna.client
        .done(request::Body::AnswerInvite(control::AnswerInvite {
            invite_id,
            accept: false,
            ..control::AnswerInvite::default()
        }))
        .await;
    ben.client.until("declined", |seen| seen.invitations.is_empty()).await;
    assert!(texts(&wall).is_empty(), "{:?}", texts(&wall));

    look(&mut anna, false).await;
    invite(&mut ben).await;
    until("the invitation is announced", || stands(&wall, "Ben invites you", "Gomoku")).await;
    // The desktop is called in order: a call for the first one would have arrived.
    assert_eq!(calls(&wall), before + 1, "the first one was announced");
    look(&mut anna, true).await;
    until("it is taken away", || texts(&wall).is_empty()).await;
    let invite_id = anna.client.seen.invitations.first().expect("one").invite_id.clone();
    anna.client
        .done(request::Body::AnswerInvite(control::AnswerInvite {
            invite_id,
            accept: true,
            ..control::AnswerInvite::default()
        }))
        .await;
    for device in [&mut anna, &mut ben] {
        device.client.until("a room", |seen| seen.room().is_some()).await;
    }

    look(&mut anna, false).await;
    ben.client.play("h8").await.expect("played");
    until("the move is announced", || stands(&wall, "Ben", "played h8: your turn")).await;
    anna.client.until("h8", |seen| seen.room().is_some_and(|room| room.record.len() == 1)).await;
    anna.client.play("i9").await.expect("played");
    until("it is not Anna's turn any more", || texts(&wall).is_empty()).await;

    // Ben's text is shown literally, not as markup of the desktop.
    let room_id = ben.client.seen.room().expect("one room").id.clone();
    let say = control::Say { room_id, text: "<b>mine</b> & yours".into(), ..control::Say::default() };
    ben.client.done(request::Body::Say(say)).await;
    until("words", || stands(&wall, "Ben", "&lt;b&gt;mine&lt;/b&gt; &amp; yours")).await;
    anna.stop().await;
    until("a host that has ended leaves nothing behind", || texts(&wall).is_empty()).await;
}

#[tokio::test]
async fn a_desktop_that_comes_later_is_used_and_one_that_never_comes_hurts_nobody() {
    let bus = PrivateBus::start();
    let mut house = House::new(82);
    let mut anna = house.device_with("Anna", |config| config.notifications = Some(bus.bus())).await;
    let nowhere = Bus::At("unix:path=/nowhere".into());
    let mut ben = house.device_with("Ben", |config| config.notifications = Some(nowhere)).await;
    friends(&mut anna, &mut ben).await;
    begin_match(&mut anna, &mut ben).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record.len() == 1)).await;
    let (_desktop, wall) = desktop(&bus);
    ben.client.play("i9").await.expect("played");
    until("the move is announced", || stands(&wall, "Ben", "i9")).await;
}

// Sleep.

/// logind, with its ends of the inhibitors' pipes: an end reads EOF when the host has released the inhibitor.
fn logind(bus: &PrivateBus) -> (Service, Arc<Mutex<Vec<UnixStream>>>) {
    let lent = Arc::new(Mutex::new(Vec::new()));
    let kept = lent.clone();
    let service = Service::start(bus, "org.freedesktop.login1", move |message| {
        assert_eq!(message.member().as_deref(), Some("Inhibit"));
        let (what, who, _why, mode): (String, String, String, String) = message.read4().expect("four words");
        assert_eq!((&*what, &*who, &*mode), ("sleep", "Qiyou", "delay"));
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        ours.set_nonblocking(true).expect("set");
        kept.lock().expect("no panic").push(ours);
        message.method_return().append1(File::from(OwnedFd::from(theirs)))
    });
    (service, lent)
}

fn sleep_signal(on: bool) -> Message {
    Message::new_signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep")
        .expect("a signal")
        .append1(on)
}

fn is_let_go(lent: &Mutex<Vec<UnixStream>>, number: usize) -> bool {
    matches!(lent.lock().expect("no panic")[number].read(&mut [0]), Ok(0))
}

fn is_found(air: &MemoryNetwork, name: &str) -> bool {
    air.card(name).is_some()
}

fn shown_link(seen: &Seen) -> Option<PeerLink> {
    Some(seen.room()?.link?.state())
}

#[tokio::test]
async fn before_sleep_the_peer_is_told_and_after_it_the_match_goes_on() {
    let bus = PrivateBus::start();
    let (logind, lent) = logind(&bus);
    let mut house = House::new(84);
    let mut anna = house.device_with("Anna", |config| config.sleep = Some(bus.bus())).await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
    begin_match(&mut anna, &mut ben).await;
    until("sleep waits for the host", || lent.lock().expect("no panic").len() == 1).await;
    for round in 0..2 {
        assert!(!is_let_go(&lent, round));
        logind.say(sleep_signal(true));
        ben.client.until("Anna has left", |seen| shown_link(seen) == Some(PeerLink::Left)).await;
        until("the system may sleep", || is_let_go(&lent, round)).await;
        assert!(!is_found(&house.air, "Anna"), "a sleeping device is silent");
        // The goal is kept, but not dialed: a sleeping device would not answer.
        for device in [&mut anna, &mut ben] {
            device.client.scan(false).await;
            assert!(device.client.seen.radio().is_some_and(|radio| !radio.scanning), "{}", device.name);
        }
        logind.say(sleep_signal(false));
        until("sleep waits for the host again", || lent.lock().expect("no panic").len() == round + 2).await;
        ben.client.until("Anna is back", |seen| shown_link(seen) == Some(PeerLink::Up)).await;
        anna.client.until("Ben is back", |seen| shown_link(seen) == Some(PeerLink::Up)).await;
        let (mover, other, action) =
            if round == 0 { (&mut anna, &mut ben, "h8") } else { (&mut ben, &mut anna, "i9") };
        mover.client.play(action).await.expect("played");
        other
            .client
            .until(action, |seen| seen.room().is_some_and(|room| room.record.len() == round + 1))
            .await;
    }
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test]
async fn sleep_does_not_wait_long_for_a_link_that_takes_no_goodbye() {
    let bus = PrivateBus::start();
    let (logind, lent) = logind(&bus);
    let mut house = House::new(86);
    let mut anna = house.device_with("Anna", |config| config.sleep = Some(bus.bus())).await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
    begin_match(&mut anna, &mut ben).await;
    until("sleep waits for the host", || lent.lock().expect("no panic").len() == 1).await;
    house.air.mute("Anna", "Ben", true);
    logind.say(sleep_signal(true));
    until("the system may sleep", || is_let_go(&lent, 0)).await;
    house.air.mute("Anna", "Ben", false);
    logind.say(sleep_signal(false));
    anna.client.until("Ben is back", |seen| shown_link(seen) == Some(PeerLink::Up)).await;
}

#[tokio::test]
async fn another_logind_holds_the_inhibitor_from_then_on() {
    let bus = PrivateBus::start();
    let (first, lent) = logind(&bus);
    let mut house = House::new(88);
    let anna = house.device_with("Anna", |config| config.sleep = Some(bus.bus())).await;
    until("sleep waits for the host", || lent.lock().expect("no panic").len() == 1).await;
    drop(first);
    let (_second, lent) = logind(&bus);
    until("sleep waits for the host again", || lent.lock().expect("no panic").len() == 1).await;
    drop(anna);
    until("a host that is gone lets go", || is_let_go(&lent, 0)).await;
}

#[tokio::test]
async fn in_quiet_hours_nothing_is_announced_and_no_client_rings() {
    let bus = PrivateBus::start();
    let (_desktop, wall) = desktop(&bus);
    let mut house = House::new(86);
    let minute = Arc::new(AtomicU16::new(23 * 60));
    let clock = minute.clone();
    let mut anna = house
        .device_with("Anna", |config| {
            config.notifications = Some(bus.bus());
            config.local_minute = Arc::new(move |_| clock.load(Ordering::Relaxed));
        })
        .await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
    let night = control::QuietHours { from_minute: 22 * 60, until_minute: 8 * 60 };
    anna.client.done(request::Body::SetQuietHours(control::SetQuietHours { hours: Some(night) })).await;
    assert_eq!(anna.client.seen.me.quiet_hours, Some(night));
    let same = control::QuietHours { until_minute: night.from_minute, ..night };
    let refused = anna.client.ask(request::Body::SetQuietHours(control::SetQuietHours { hours: Some(same) }));
    assert!(refused.await.is_err());
    look(&mut anna, false).await;
    // The comparison's announcement is withdrawn over the bus.
    until("the wall is empty", || texts(&wall).is_empty()).await;
    let before = calls(&wall);
    for is_quiet in [true, false] {
        invite(&mut ben).await;
        let arrived = loop {
            let event = anna.client.next().await;
            if let Some(control::event::Body::Invitation(_)) = event.body {
                break event;
            }
        };
        assert_eq!(arrived.quiet, is_quiet);
        if is_quiet {
            // During quiet hours an invitation is shown and can be answered, without a notification; a later event is notified.
            assert!(texts(&wall).is_empty(), "{:?}", texts(&wall));
            let invite_id = anna.client.seen.invitations.first().expect("one").invite_id.clone();
            let no = control::AnswerInvite { invite_id, ..control::AnswerInvite::default() };
            anna.client.done(request::Body::AnswerInvite(no)).await;
            ben.client.until("declined", |seen| seen.invitations.is_empty()).await;
            minute.store(8 * 60, Ordering::Relaxed);
        } else {
            until("the invitation is announced", || stands(&wall, "Ben invites you", "Gomoku")).await;
            assert_eq!(texts(&wall).len(), 1, "{:?}", texts(&wall));
            // The desktop is called in order: a call for the first one would have arrived.
            assert_eq!(calls(&wall), before + 1, "the first one was announced");
        }
    }
}

// Power.

/// What UPower and logind say of the device.
#[derive(Default)]
struct Powered {
    on_battery: AtomicBool,
    lid_closed: AtomicBool,
    docked: AtomicBool,
}

/// UPower and logind with these properties; `upower`'s signal must be sent by the test.
fn powered(bus: &PrivateBus) -> (Service, Service, Arc<Powered>) {
    let powered = Arc::new(Powered::default());
    let property = |powered: &Arc<Powered>| {
        let powered = powered.clone();
        move |message: &Message| {
            assert_eq!(message.member().as_deref(), Some("Get"));
            let (_interface, name): (String, String) = message.read2().expect("two words");
            let value = match &*name {
                "OnBattery" => &powered.on_battery,
                "LidIsClosed" => &powered.lid_closed,
                "Docked" => &powered.docked,
                other => panic!("nobody asks for {other}"),
            };
            message.method_return().append1(Variant(value.load(Ordering::Relaxed)))
        }
    };
    let upower = Service::start(bus, "org.freedesktop.UPower", property(&powered));
    let logind = Service::start(bus, "org.freedesktop.login1", property(&powered));
    (upower, logind, powered)
}

fn power_changed() -> Message {
    let (path, interface) = ("/org/freedesktop/UPower", "org.freedesktop.DBus.Properties");
    let changed = (PropMap::new(), Vec::<String>::new());
    Message::new_signal(path, interface, "PropertiesChanged").expect("a signal").append3(
        "org.freedesktop.UPower",
        changed.0,
        changed.1,
    )
}

/// What the doctor says of power.
async fn power_check(device: &mut Device) -> String {
    let diagnosis = device.client.ask(request::Body::Diagnose(control::Diagnose {})).await;
    let Ok(control::reply::Body::Diagnosis(diagnosis)) = diagnosis else { panic!("{diagnosis:?}") };
    let check = diagnosis.checks.into_iter().find(|check| check.subject == "power");
    check.expect("power is looked at").found
}

async fn until_power(device: &mut Device, says: &str) {
    let begun = Instant::now();
    loop {
        let found = power_check(device).await;
        if found.contains(says) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {says:?}: {found}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn battery_and_mains_are_noticed_and_the_doctor_says_so() {
    let bus = PrivateBus::start();
    let (upower, _logind, powered) = powered(&bus);
    powered.on_battery.store(true, Ordering::Relaxed);
    let mut house = House::new(94);
    let mut anna = house.device_with("Anna", |config| config.power = Some(bus.bus())).await;
    until_power(&mut anna, "on battery").await;
    powered.on_battery.store(false, Ordering::Relaxed);
    upower.say(power_changed());
    until_power(&mut anna, "on mains power").await;
    let mut ben =
        house.device_with("Ben", |config| config.power = Some(Bus::At("unix:path=/nowhere".into()))).await;
    assert!(power_check(&mut ben).await.contains("on mains power"), "a device without UPower is plugged in");
}

#[tokio::test]
async fn engines_rest_behind_a_closed_lid_and_go_on_when_it_is_opened_but_a_docked_device_plays_on() {
    let bus = PrivateBus::start();
    let (upower, _logind, powered) = powered(&bus);
    let mut house = House::new(96);
    let mut anna = house.device_with("Anna", |config| config.power = Some(bus.bus())).await;
    powered.lid_closed.store(true, Ordering::Relaxed);
    upower.say(power_changed());
    until_power(&mut anna, "engines rest").await;
    anna.client.open_room(None, Some(1)).await;
    anna.client.play("h8").await.expect("played");
    // The bot would have begun to think before the host answers what was asked later.
    power_check(&mut anna).await;
    assert!(anna.client.seen.thoughts.iter().all(|thought| !thought.on), "{:?}", anna.client.seen.thoughts);
    powered.lid_closed.store(false, Ordering::Relaxed);
    upower.say(power_changed());
    anna.client.until("the bot answers", |seen| seen.room().is_some_and(|room| room.record.len() == 2)).await;

    powered.docked.store(true, Ordering::Relaxed);
    powered.lid_closed.store(true, Ordering::Relaxed);
    powered.on_battery.store(true, Ordering::Relaxed);
    upower.say(power_changed());
    until_power(&mut anna, "on battery").await;
    anna.client.play("a1").await.expect("played");
    anna.client.until("the bot answers", |seen| seen.room().is_some_and(|room| room.record.len() == 4)).await;
}
