//! Both roles of the transport against a mock of bluetoothd that has the faults of the real one, row by row of what was seen of
//! BlueZ and controllers. The real BlueZ is in the lab (`make ble-lab`).
//!
//! The libraries below find bluetoothd by an environment variable of the process, so each test runs in a process of its own.
//!
//! | seen of BlueZ, controllers or the libraries | test |
//! |---|---|
//! | values overtake each other (EATT) | `values_that_overtake_each_other_are_put_in_order` |
//! | the write that acquires the socket is lost or loses a byte | `the_write_that_acquires_the_socket_may_be_lost`, `the_write_that_acquires_the_socket_may_lose_its_first_byte` |
//! | longer values than 510 bytes vanish | `no_value_is_longer_than_bluez_carries`, `the_smallest_mtu_is_enough` |
//! | bursts of notifications vanish in spite of Ok | `notifications_that_vanish_because_too_many_came_at_once_are_sent_again`, `what_vanishes_or_comes_twice_in_spite_of_ok_is_sent_again_and_read_once` |
//! | notifications come twice | `what_vanishes_or_comes_twice_in_spite_of_ok_is_sent_again_and_read_once` |
//! | the socket for writes tells of no disconnect, and the next central shares it | `a_lost_link_ends_at_both_ends_and_the_next_one_shares_no_bytes_with_it` |
//! | radio silence, and "connected" | `who_sends_into_silence_finds_the_link_dead_though_bluez_calls_it_connected` |
//! | a link is lost | `a_lost_link_ends_at_both_ends_and_the_next_one_shares_no_bytes_with_it`; how soon it is back: only the lab measures that |
//! | bluetoothd is killed | `after_bluetoothd_is_killed_everything_is_made_again` |
//! | the adapter is off | `an_adapter_that_is_switched_off_is_never_switched_on_unasked` |
//! | a remembered name, remembered devices | `a_name_that_bluez_remembers_is_not_taken_for_the_advertised_one` |
//! | scanning and advertising exclude each other | `adapters_that_cannot_do_both_take_turns_and_meet` |
//! | two that dial each other | not here: one link is left by the session's rule (session/src), and the lab dials both ways |
//! | adverts stay off after a scan or a disconnect, and count as active | `an_advertisement_that_a_scan_has_silenced_is_registered_again`, `an_advertisement_that_is_not_sent_after_a_link_is_registered_again` |
//! | a device is forgotten when discovery stops | `a_device_that_is_forgotten_when_discovery_stops_is_connected_while_it_runs` |
//! | le-connection-abort-by-local | `a_connect_that_is_aborted_is_tried_again` |
//! | InProgress for minutes | `an_attempt_that_a_crashed_client_left_is_cleared` |
//! | a link dies after 4.7 s of BR/EDR | not here: the mock has no BR/EDR. The flags are held in linux/mod.rs, an adapter that spoils them is reported (`doctor.rs`), and the lab has adapters of both kinds |
//! | services are resolved late | `services_may_be_resolved_late` |
//! | a pairing dialog | `who_asks_to_be_paired_during_a_link_is_refused_and_no_dialog_opens`, `an_adapter_that_can_be_paired_is_told_of` |
//! | a stale GATT table | `the_characteristics_have_the_same_handles_in_every_registration` |
//! | the MTU is unknown | `an_unknown_mtu_is_taken_for_the_smallest` |
//! | streams stay open, notifications reach all | `a_second_central_is_turned_away_and_told_of_and_the_first_link_is_not_disturbed`, `a_lost_link_ends_at_both_ends_and_the_next_one_shares_no_bytes_with_it` |
//! | the first notifications are lost | `the_first_notifications_may_be_lost_and_none_is_sent_before_the_central_has_spoken` |
//! | a link is lost after 0.42 s of bad radio | a lost link as above; the kernel's timeout is read and reported by `doctor.rs` |
//! | slow discovery | not here: the mock has no intervals, and does not look at the filter. Both are set in linux/mod.rs and bus.rs, and the lab measures discovery |
//! | an advert has 31 bytes | not here: the mock counts no bytes; linux/mod.rs does |
//! | an advertisement is refused, also after a client left | `an_advertisement_that_is_refused_is_registered_again_before_and_after_a_link`, `who_is_refused_every_advertisement_says_so_and_still_finds_others` |
//! | suspend | `who_sleeps_is_silent_and_everything_is_made_again_on_waking` |
//! | permission denied | `who_may_not_use_bluetoothd_is_told_so_and_goes_on_once_it_may` |
//! | rfkill | not here: a switch is a file of the kernel's below /sys, not BlueZ's. It is read in rfkill.rs, what follows is in plan.rs, and the lab blocks an adapter |
//! | `write` and `write_without_response` exchanged in bluer's docs | no test of its own: with the wrong one no bytes would arrive in any |
#![cfg(target_os = "linux")]

mod mock;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use ble_transport::{BleConfig, BleTransport};
use futures::StreamExt;
use link::{
    Address, Card, CarrierState, Duplex, LinkError, Listener, Sighting, Tag, Transport, Verdict, WatchEvent,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::mock::{Bluez, FirstWrite, address};

/// Limit for hangs, not a bound on speed.
const PATIENCE: Duration = Duration::from_mins(1);
/// Set in a test's own process: a file that is there once the bus was asked to start bluetoothd.
const ALONE: &str = "QIYOU_ON_A_PRIVATE_BUS";

/// Runs a test in a process of its own, on a system bus of its own.
fn alone<F: Future<Output = ()>>(name: &str, story: impl FnOnce() -> F) {
    alone_where(name, None, story);
}

/// Rules of a bus that lets everybody call everything, as a session's does.
const EVERYTHING: &str =
    r#"<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>"#;

/// The settings of a bus with these rules.
fn settings_of_a_bus(rules: &str) -> String {
    format!(
        "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>\
         <standard_session_servicedirs/><policy context=\"default\">{rules}</policy></busconfig>"
    )
}

/// The file with the settings of this process's bus, where it has rules of its own.
fn bus_settings() -> std::path::PathBuf {
    std::path::PathBuf::from(std::env::var_os(ALONE).expect("a private bus")).with_file_name("bus.conf")
}

/// As [`alone`], on a bus with these rules; `None`: those of a session.
fn alone_where<F: Future<Output = ()>>(name: &str, rules: Option<&str>, story: impl FnOnce() -> F) {
    if std::env::var_os(ALONE).is_some() {
        if std::env::var_os("QIYOU_LOG").is_some() {
            let filter = tracing_subscriber::EnvFilter::from_env("QIYOU_LOG");
            tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(async { timeout(2 * PATIENCE, story()).await.expect("it comes to an end") });
        return runtime.shutdown_background();
    }
    let directory = tempfile::tempdir().expect("a directory");
    let bus = format!("unix:path={}", directory.path().join("bus").display());
    // What the bus starts for a call to bluetoothd: here it only says that it was asked. The story is what answers.
    let services = directory.path().join("dbus-1/services");
    std::fs::create_dir_all(&services).expect("a directory");
    let asked = directory.path().join("asked");
    let service = format!(
        "[D-BUS Service]\nName=org.bluez\nExec=/bin/sh -c 'touch {0}; [ ! -e {0}-in-vain ] || exit 1; sleep 60'\n",
        asked.display()
    );
    std::fs::write(services.join("org.bluez.service"), service).expect("it is written");
    let settings = match rules {
        Some(rules) => {
            let file = directory.path().join("bus.conf");
            std::fs::write(&file, settings_of_a_bus(rules)).expect("it is written");
            format!("--config-file={}", file.display())
        }
        None => "--session".to_owned(),
    };
    let mut daemon = Command::new("dbus-daemon")
        .args(["--nofork", "--print-address=1", &settings])
        .arg(format!("--address={bus}"))
        .env("XDG_DATA_HOME", directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("dbus-daemon is installed: scripts/need test");
    let mut ready = String::new();
    BufReader::new(daemon.stdout.take().expect("piped"))
        .read_line(&mut ready)
        .expect("it says where it listens");
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args([name, "--exact", "--nocapture"])
        .env(ALONE, &asked)
        .env("DBUS_SYSTEM_BUS_ADDRESS", &bus)
        .output()
        .expect("it runs");
    let _ = daemon.kill();
    let _ = daemon.wait();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether the bus was asked to start bluetoothd.
fn is_asked_for_bluetoothd() -> bool {
    std::path::Path::new(&std::env::var_os(ALONE).expect("a private bus")).exists()
}

fn transport(adapter: u8) -> BleTransport {
    BleTransport::new(BleConfig { adapter: Some(format!("hci{adapter}")) })
}

fn card() -> Card {
    Card {
        tag: Tag([1, 2, 3, 4, 5]),
        open_to_all: true,
        busy: false,
        wish: 0,
        name: Some("Ann".into()),
        seldom: false,
    }
}

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("{what}: not within a minute"))
}

/// The next sighting of hci0 by this transport.
async fn see(ble: &BleTransport) -> Sighting {
    let mut watch = ble.watch(true);
    within("a sighting", async {
        loop {
            match watch.next().await {
                Some(WatchEvent::Seen(seen)) if seen.address.text == address(0) => return seen,
                Some(_) => {}
                None => panic!("the watch ends"),
            }
        }
    })
    .await
}

async fn reaches(ble: &BleTransport, wanted: CarrierState) {
    let mut watch = ble.watch(false);
    let reached = async {
        while let Some(event) = watch.next().await {
            if event == WatchEvent::State(wanted) {
                return;
            }
        }
        panic!("the watch ends");
    };
    within(&format!("{wanted:?}"), reached).await;
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let comes = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(what, comes).await;
}

type Ends = (Box<dyn Duplex>, Box<dyn Duplex>);

/// Dials from one to the other.
async fn meet(central: &BleTransport, listener: &mut dyn Listener) -> Result<Ends, LinkError> {
    let seen = see(central).await;
    let (dialed, accepted) = within("a link", async {
        tokio::join!(central.connect(&seen.address), timeout(PATIENCE, listener.accept()))
    })
    .await;
    Ok((dialed?, accepted.expect("accepts")?.duplex))
}

/// Sends as many bytes each way at once; both arrive as they were.
async fn exchange((here, there): &mut Ends, length: usize) {
    let bytes = |factor: usize| (0..length).map(|at| (at * factor % 251) as u8).collect::<Vec<_>>();
    let (up, down) = (bytes(7), bytes(11));
    let (mut up_read, mut down_read) = (vec![0; length], vec![0; length]);
    let (mut here_in, mut here_out) = tokio::io::split(&mut *here);
    let (mut there_in, mut there_out) = tokio::io::split(&mut *there);
    let all = async {
        tokio::try_join!(
            async {
                here_out.write_all(&up).await?;
                here_out.flush().await
            },
            async {
                there_out.write_all(&down).await?;
                there_out.flush().await
            },
            async { there_in.read_exact(&mut up_read).await.map(drop) },
            async { here_in.read_exact(&mut down_read).await.map(drop) },
        )
    };
    within("the bytes", all).await.expect("both directions work");
    assert!(up_read == up && down_read == down, "bytes were changed");
}

/// Waits until this end has seen the end of the link.
async fn ends(mut end: Box<dyn Duplex>) {
    let mut buffer = [0; 16];
    let over = async { while matches!(end.read(&mut buffer).await, Ok(1..)) {} };
    within("the end of the link", over).await;
}

/// A link under the faults that `spoil` sets before it is made.
async fn carries_in_spite_of(length: usize, spoil: impl FnOnce(&mut mock::Faults)) {
    let bluez = Bluez::start(2).await;
    bluez.faults(spoil);
    let (ann, ben) = (transport(0), transport(1));
    let mut listener = ann.listen(card()).await.expect("listens");
    let mut link = meet(&ben, &mut *listener).await.expect("a link");
    exchange(&mut link, length).await;
}

#[test]
fn bytes_arrive_through_a_bluetoothd_without_faults() {
    alone("bytes_arrive_through_a_bluetoothd_without_faults", || carries_in_spite_of(100_000, |_| {}));
}

#[test]
fn values_that_overtake_each_other_are_put_in_order() {
    alone("values_that_overtake_each_other_are_put_in_order", || {
        carries_in_spite_of(50_000, |faults| faults.overtaken = 50)
    });
}

#[test]
fn what_vanishes_or_comes_twice_in_spite_of_ok_is_sent_again_and_read_once() {
    alone("what_vanishes_or_comes_twice_in_spite_of_ok_is_sent_again_and_read_once", || {
        carries_in_spite_of(20_000, |faults| (faults.lost, faults.twice, faults.overtaken) = (10, 10, 10))
    });
}

#[test]
fn no_value_is_longer_than_bluez_carries() {
    /// Longer ones vanish: from 511 bytes on all, with EATT some of 500 and more.
    const CARRIED: usize = 499;
    alone("no_value_is_longer_than_bluez_carries", || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.longest = CARRIED);
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 30_000).await;
        // One that vanishes is sent again, so the bytes arrive even so.
        let longest = bluez.asked().longest;
        assert!((400..=CARRIED).contains(&longest), "{longest} bytes");
    });
}

#[test]
fn the_smallest_mtu_is_enough() {
    alone("the_smallest_mtu_is_enough", || {
        carries_in_spite_of(2_000, |faults| (faults.mtu, faults.longest) = (Some(23), 20))
    });
}

#[test]
fn an_unknown_mtu_is_taken_for_the_smallest() {
    alone("an_unknown_mtu_is_taken_for_the_smallest", || {
        carries_in_spite_of(2_000, |faults| faults.mtu = None)
    });
}

#[test]
fn the_write_that_acquires_the_socket_may_be_lost() {
    alone("the_write_that_acquires_the_socket_may_be_lost", || {
        carries_in_spite_of(1_000, |faults| faults.first_write = FirstWrite::Lost)
    });
}

#[test]
fn the_write_that_acquires_the_socket_may_lose_its_first_byte() {
    alone("the_write_that_acquires_the_socket_may_lose_its_first_byte", || {
        carries_in_spite_of(1_000, |faults| faults.first_write = FirstWrite::LosesItsFirstByte)
    });
}

#[test]
fn notifications_that_vanish_because_too_many_came_at_once_are_sent_again() {
    /// Fewer than the stream sends at first, so that it must become slower.
    const AT_ONCE: u32 = 4;
    alone("notifications_that_vanish_because_too_many_came_at_once_are_sent_again", || {
        carries_in_spite_of(20_000, |faults| faults.at_once = AT_ONCE)
    });
}

#[test]
fn the_first_notifications_may_be_lost_and_none_is_sent_before_the_central_has_spoken() {
    let name = "the_first_notifications_may_be_lost_and_none_is_sent_before_the_central_has_spoken";
    alone(name, || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.first_notifications = 2);
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 1_000).await;
        assert_eq!(bluez.asked().unasked, 0);
    });
}

#[test]
fn services_may_be_resolved_late() {
    alone("services_may_be_resolved_late", || {
        carries_in_spite_of(1_000, |faults| faults.resolved_after = Duration::from_secs(2))
    });
}

#[test]
fn a_connect_that_is_aborted_is_tried_again() {
    alone("a_connect_that_is_aborted_is_tried_again", || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.connects = ["le-connection-abort-by-local"; 2].into());
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
        assert_eq!(bluez.asked().connects, 3);
    });
}

#[test]
fn an_attempt_that_a_crashed_client_left_is_cleared() {
    alone("an_attempt_that_a_crashed_client_left_is_cleared", || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.stuck = true);
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
        assert_eq!(bluez.asked().removed, 1, "BlueZ was made to forget the device");
    });
}

#[test]
fn a_device_that_is_forgotten_when_discovery_stops_is_connected_while_it_runs() {
    alone("a_device_that_is_forgotten_when_discovery_stops_is_connected_while_it_runs", || {
        carries_in_spite_of(1_000, |faults| faults.forgets = true)
    });
}

#[test]
fn the_characteristics_have_the_same_handles_in_every_registration() {
    alone("the_characteristics_have_the_same_handles_in_every_registration", || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.crossed = [true, true, false].into());
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
        assert_eq!(bluez.asked().applications, 3, "registered again until they are in order");
    });
}

#[test]
fn adapters_that_cannot_do_both_take_turns_and_meet() {
    alone("adapters_that_cannot_do_both_take_turns_and_meet", || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.one_role = true);
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let _looks_too = ann.watch(true);
        reaches(&ann, CarrierState::TakingTurns).await;
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn an_advertisement_that_a_scan_has_silenced_is_registered_again() {
    alone("an_advertisement_that_a_scan_has_silenced_is_registered_again", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let looks = ann.watch(true);
        until("both", || bluez.is_on_the_air(0) && bluez.discovers(0)).await;
        bluez.faults(|faults| faults.scan_silences = true);
        drop(looks);
        until("the end of the scan", || bluez.asked().silent > 0 && !bluez.discovers(0)).await;
        until("an advertisement that is sent", || bluez.is_on_the_air(0)).await;
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn an_advertisement_that_is_not_sent_after_a_link_is_registered_again() {
    alone("an_advertisement_that_is_not_sent_after_a_link_is_registered_again", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let (here, there) = meet(&ben, &mut *listener).await.expect("a link");
        until("a link has the radio to itself", || !bluez.advertises(0)).await;
        bluez.faults(|faults| faults.silenced = 1);
        bluez.lose(1, 0).await;
        tokio::join!(ends(here), ends(there));
        // Without a limit of its own: on a machine that stands still for seconds only the renewal of each minute finds it.
        while bluez.asked().silent == 0 || !bluez.is_on_the_air(0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn an_advertisement_that_is_refused_is_registered_again_before_and_after_a_link() {
    let name = "an_advertisement_that_is_refused_is_registered_again_before_and_after_a_link";
    alone(name, || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.refused = 2);
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let (here, there) = meet(&ben, &mut *listener).await.expect("a link");
        until("a link has the radio to itself", || !bluez.advertises(0)).await;
        let before = bluez.asked().adverts;
        bluez.faults(|faults| faults.refused = 2);
        bluez.lose(1, 0).await;
        tokio::join!(ends(here), ends(there));
        let mut link = meet(&ben, &mut *listener).await.expect("another link");
        exchange(&mut link, 100).await;
        assert!(before >= 3 && bluez.asked().adverts >= before + 3, "two in vain each time");
    });
}

#[test]
fn who_is_refused_every_advertisement_says_so_and_still_finds_others() {
    alone("who_is_refused_every_advertisement_says_so_and_still_finds_others", || async {
        let bluez = Bluez::start(2).await;
        bluez.faults(|faults| faults.refused = 3);
        let (ann, ben) = (transport(0), transport(1));
        let _in_vain = ben.listen(Card { tag: Tag([5; 5]), ..card() }).await.expect("listens");
        reaches(&ben, CarrierState::NoAdvertising).await;
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn who_asks_to_be_paired_during_a_link_is_refused_and_no_dialog_opens() {
    alone("who_asks_to_be_paired_during_a_link_is_refused_and_no_dialog_opens", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        assert_eq!(bluez.agents(), 0, "without a link the desktop answers, for headphones too");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        until("an agent of each", || bluez.agents() == 2).await;
        let answers = within("an answer", bluez.asks_to_pair(1, 0)).await;
        assert_eq!(answers.len(), 2);
        let is_refused = |answer: &Result<(), String>| {
            answer.as_ref().is_err_and(|error| error.contains("org.bluez.Error.Rejected"))
        };
        assert!(answers.iter().all(is_refused), "{answers:?}");
        exchange(&mut link, 100).await;
        bluez.lose(1, 0).await;
        tokio::join!(ends(link.0), ends(link.1));
        until("the desktop answers again", || bluez.agents() == 0).await;
    });
}

#[test]
fn a_lost_link_ends_at_both_ends_and_the_next_one_shares_no_bytes_with_it() {
    alone("a_lost_link_ends_at_both_ends_and_the_next_one_shares_no_bytes_with_it", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        for _ in 0..3 {
            let (mut here, there) = meet(&ben, &mut *listener).await.expect("a link");
            // On its way when the link is lost: the socket for writes, which BlueZ keeps, may still hold it.
            here.write_all(&[0xEE; 3000]).await.expect("written");
            here.flush().await.expect("flushed");
            bluez.lose(1, 0).await;
            tokio::join!(ends(here), ends(there));
        }
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 5_000).await;
        assert_eq!(bluez.asked().applications, 1, "the GATT table stays");
    });
}

#[test]
fn who_sends_into_silence_finds_the_link_dead_though_bluez_calls_it_connected() {
    alone("who_sends_into_silence_finds_the_link_dead_though_bluez_calls_it_connected", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let (mut here, mut there) = meet(&ben, &mut *listener).await.expect("a link");
        bluez.faults(|faults| faults.silence = true);
        for end in [&mut here, &mut there] {
            end.write_all(b"ping").await.expect("accepted");
            end.flush().await.expect("accepted");
        }
        tokio::join!(ends(here), ends(there));
        bluez.faults(|faults| faults.silence = false);
        let mut link = meet(&ben, &mut *listener).await.expect("another link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn after_bluetoothd_is_killed_everything_is_made_again() {
    alone("after_bluetoothd_is_killed_everything_is_made_again", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let (here, there) = meet(&ben, &mut *listener).await.expect("a link");
        bluez.kill().await;
        tokio::join!(ends(here), ends(there));
        reaches(&ann, CarrierState::NoService).await;
        reaches(&ben, CarrierState::NoService).await;
        let dialed = ben.connect(&Address { kind: link::CarrierKind::Bluetooth, text: address(0) }).await;
        assert!(matches!(dialed, Err(LinkError::Carrier(CarrierState::NoService))));

        let bluez = Bluez::start(2).await;
        reaches(&ann, CarrierState::Ready).await;
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 5_000).await;
        assert!(bluez.asked().applications == 1 && bluez.asked().adverts >= 1);
    });
}

#[test]
fn an_adapter_that_is_switched_off_is_never_switched_on_unasked() {
    alone("an_adapter_that_is_switched_off_is_never_switched_on_unasked", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let (here, there) = meet(&ben, &mut *listener).await.expect("a link");
        bluez.power(1, false).await;
        tokio::join!(ends(here), ends(there));
        let _looks = ben.watch(true);
        reaches(&ben, CarrierState::Off).await;
        let dialed = ben.connect(&Address { kind: link::CarrierKind::Bluetooth, text: address(0) }).await;
        assert!(matches!(dialed, Err(LinkError::Carrier(CarrierState::Off))));
        assert_eq!(bluez.asked().powered, 0);
        ben.power_on().await.expect("asked for");
        assert_eq!(bluez.asked().powered, 1);
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn who_leaves_waits_until_bluetoothd_has_answered_its_last_advertisement() {
    alone("who_leaves_waits_until_bluetoothd_has_answered_its_last_advertisement", || async {
        let bluez = Bluez::start(1).await;
        for slow in [Duration::ZERO, Duration::from_millis(700)] {
            bluez.faults(|faults| faults.registers_for = slow);
            let before = bluez.asked();
            let ann = transport(0);
            let listener = ann.listen(card()).await.expect("listens");
            until("a registration", || bluez.asked().adverts > before.adverts).await;
            drop(listener);
            within("it parts", ann.part()).await;
            let asked = bluez.asked();
            assert_eq!(asked.answered - before.answered, asked.adverts - before.adverts, "{slow:?}");
            until("no advertisement", || !bluez.advertises(0)).await;
        }
    });
}

#[test]
fn who_leaves_says_the_last_words_of_a_link_first() {
    alone("who_leaves_says_the_last_words_of_a_link_first", || async {
        let _bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        drop(listener);
        let mut parts = std::pin::pin!(within("it parts", ann.part()));
        tokio::select! {
            biased;
            () = &mut parts => panic!("a link is up"),
            () = exchange(&mut link, 50_000) => {}
        }
        let (mut at_ben, mut at_ann) = link;
        let goodbye = async {
            at_ann.write_all(b"goodbye").await.expect("sent");
            at_ann.shutdown().await.expect("ended");
            drop(at_ann);
        };
        let mut said = Vec::new();
        let ((), (), read) = tokio::join!(parts, goodbye, at_ben.read_to_end(&mut said));
        read.expect("a whole goodbye");
        assert_eq!(said, b"goodbye");
    });
}

#[test]
fn a_bluetoothd_that_does_not_run_is_started_when_a_person_asks_for_bluetooth_and_never_unasked() {
    let name = "a_bluetoothd_that_does_not_run_is_started_when_a_person_asks_for_bluetooth_and_never_unasked";
    alone(name, || async {
        let ann = transport(0);
        let mut listener = ann.listen(card()).await.expect("listens");
        let _looks = ann.watch(true);
        reaches(&ann, CarrierState::NoService).await;
        let dialed = ann.connect(&Address { kind: link::CarrierKind::Bluetooth, text: address(1) }).await;
        assert!(matches!(dialed, Err(LinkError::Carrier(CarrierState::NoService))));
        assert_eq!(ann.adapters().await.iter().filter(|adapter| adapter.here).count(), 0);
        assert!(!is_asked_for_bluetoothd(), "nobody has asked for Bluetooth");

        let asked = std::env::var(ALONE).expect("a private bus");
        let in_vain = format!("{asked}-in-vain");
        std::fs::write(&in_vain, "").expect("it is written");
        let on = within("it cannot be started", ann.power_on()).await;
        assert!(matches!(on, Err(LinkError::Carrier(CarrierState::NoService))), "{on:?}");
        assert!(is_asked_for_bluetoothd());
        for file in [asked, in_vain] {
            std::fs::remove_file(file).expect("it is there");
        }

        let starts = async {
            until("the bus starts bluetoothd", is_asked_for_bluetoothd).await;
            Bluez::start(2).await
        };
        let (on, bluez) = tokio::join!(within("Bluetooth is on", ann.power_on()), starts);
        on.expect("asked for");
        reaches(&ann, CarrierState::Ready).await;
        assert!(bluez.asked().powered >= 1);
        let ben = transport(1);
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn a_name_that_bluez_remembers_is_not_taken_for_the_advertised_one() {
    let name = "a_name_that_bluez_remembers_is_not_taken_for_the_advertised_one";
    alone(name, || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener =
            ann.listen(Card { name: None, open_to_all: false, ..card() }).await.expect("listens");
        bluez.faults(|faults| faults.remembers = true);
        let seen = see(&ben).await;
        assert_eq!((seen.name, seen.tag), (None, card().tag), "the card has no name");
        listener.update(Card { busy: true, ..card() }).await.expect("updated");
        until("the new card", || bluez.asked().adverts >= 2).await;
        drop(listener);
        until("no advertisement", || !bluez.advertises(0)).await;
    });
}

#[test]
fn an_adapter_that_tells_the_host_name_is_told_of() {
    alone("an_adapter_that_tells_the_host_name_is_told_of", || async {
        let bluez = Bluez::start(1).await;
        let ann = transport(0);
        let host_name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a machine has a name");
        for (alias, expected) in
            [("what nobody is called", Verdict::Good), (host_name.trim(), Verdict::Limited)]
        {
            bluez.faults(|faults| faults.alias = alias.to_owned());
            let findings = within("a diagnosis", ann.diagnose()).await;
            let finding = findings.iter().find(|finding| finding.subject == "device_name");
            assert_eq!(finding.map(|finding| finding.verdict), Some(expected), "{alias}: {findings:?}");
        }
    });
}

#[test]
fn an_adapter_that_can_be_paired_is_told_of() {
    alone("an_adapter_that_can_be_paired_is_told_of", || async {
        let bluez = Bluez::start(1).await;
        let ann = transport(0);
        for pairable in [false, true] {
            bluez.faults(|faults| faults.pairable = pairable);
            let findings = within("a diagnosis", ann.diagnose()).await;
            let finding = findings.iter().find(|finding| finding.subject == "pairing");
            let expected = pairable.then_some(Verdict::Limited);
            assert_eq!(finding.map(|finding| finding.verdict), expected, "{findings:?}");
        }
    });
}

#[test]
fn who_may_not_use_bluetoothd_is_told_so_and_goes_on_once_it_may() {
    let forbidden = format!("{EVERYTHING}<deny send_destination=\"org.bluez\"/>");
    alone_where(
        "who_may_not_use_bluetoothd_is_told_so_and_goes_on_once_it_may",
        Some(&forbidden),
        || async {
            let bluez = Bluez::start(2).await;
            let (ann, ben) = (transport(0), transport(1));
            let mut listener = ann.listen(card()).await.expect("listens");
            reaches(&ann, CarrierState::NoPermission).await;
            reaches(&ben, CarrierState::NoPermission).await;
            let dialed = ben.connect(&Address { kind: link::CarrierKind::Bluetooth, text: address(0) }).await;
            assert!(matches!(dialed, Err(LinkError::Carrier(CarrierState::NoPermission))));
            let findings = within("a diagnosis", ann.diagnose()).await;
            let finding =
                findings.iter().find(|finding| finding.subject == "permission").expect("it is told of");
            assert!(finding.verdict == Verdict::Broken && finding.remedy.contains("group"), "{finding:?}");

            std::fs::write(bus_settings(), settings_of_a_bus(EVERYTHING)).expect("it is written");
            bluez.settings_of_the_bus_change().await;
            reaches(&ann, CarrierState::Ready).await;
            let mut link = meet(&ben, &mut *listener).await.expect("a link");
            exchange(&mut link, 100).await;
        },
    );
}

#[test]
fn who_sleeps_is_silent_and_everything_is_made_again_on_waking() {
    alone("who_sleeps_is_silent_and_everything_is_made_again_on_waking", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        let mut listener = ann.listen(card()).await.expect("listens");
        let _looks = ann.watch(true);
        until("both", || bluez.advertises(0) && bluez.discovers(0)).await;
        let adverts = bluez.asked().adverts;
        bluez.sleep(true).await;
        until("silence", || !bluez.advertises(0) && !bluez.discovers(0)).await;
        bluez.sleep(false).await;
        until("both again", || bluez.advertises(0) && bluez.discovers(0)).await;
        assert!(bluez.asked().adverts > adverts);
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        exchange(&mut link, 100).await;
    });
}

#[test]
fn nothing_runs_on_the_radio_that_nobody_wants() {
    alone("nothing_runs_on_the_radio_that_nobody_wants", || async {
        let bluez = Bluez::start(2).await;
        let (ann, ben) = (transport(0), transport(1));
        reaches(&ann, CarrierState::Ready).await;
        assert!(!bluez.advertises(0) && !bluez.discovers(0));
        let mut listener = ann.listen(card()).await.expect("listens");
        until("an advertisement", || bluez.advertises(0)).await;
        let (here, there) = meet(&ben, &mut *listener).await.expect("a link");
        until("a link has the radio to itself", || !bluez.advertises(0) && !bluez.discovers(1)).await;
        drop(here);
        ends(there).await;
        until("found again", || bluez.advertises(0)).await;
        drop(listener);
        until("not found", || !bluez.advertises(0)).await;
    });
}

#[test]
fn a_second_central_is_turned_away_and_told_of_and_the_first_link_is_not_disturbed() {
    alone("a_second_central_is_turned_away_and_told_of_and_the_first_link_is_not_disturbed", || async {
        let bluez = Bluez::start(3).await;
        let (ann, ben, carl) = (transport(0), transport(1), transport(2));
        let mut listener = ann.listen(card()).await.expect("listens");
        let seen = see(&carl).await;
        let mut link = meet(&ben, &mut *listener).await.expect("a link");
        // Adverts of before the link are still on the air for him: he connects beside it.
        bluez.faults(|faults| faults.answers_always = true);
        let mut turned_away = ann.watch(false);
        let dials = tokio::spawn(async move { carl.connect(&seen.address).await.map(drop) });
        let told = async { while turned_away.next().await.expect("it goes on") != WatchEvent::TurnedAway {} };
        within("he is turned away", told).await;
        exchange(&mut link, 5_000).await;
        dials.abort();
        exchange(&mut link, 5_000).await;
    });
}

#[test]
fn the_table_above_names_tests_that_are_here() {
    let source = include_str!("main.rs");
    let rows: Vec<&str> = source.lines().filter(|line| line.starts_with("//! | ")).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let words = rows.iter().flat_map(|row| row.split('`').skip(1).step_by(2));
    let named = words.filter(|word| word.matches('_').count() > 3);
    let missing: Vec<&str> = named.filter(|name| !source.contains(&format!("fn {name}()"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
