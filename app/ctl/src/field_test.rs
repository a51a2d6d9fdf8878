//! `qiyouctl field-test`: two people with real devices measure how play goes over the air between them.
//!
//! One device leads: it finds the other, connects, invites, plays and tells both people what to do. The other one follows: it
//! accepts the match, answers each move, and notes when the link was lost and came back. Both write a report that names nobody.
//! Throughput is not measured: between devices no message is long enough.

use std::fmt::Write as _;
use std::io::BufRead as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use client::device::{checks, controllers, this_device};
use client::redact::Redactor;
use client::words;
use proto::control::{self, Carrier, ConnectState, Diagnosis, PeerLink, RadioState, Room, reply, request};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::arguments::FieldStep;
use crate::connection::Failure;
use crate::conversation::{Conversation, forever, unexpected, within};
use crate::meeting::comparison_text;

/// Own moves whose acknowledgements are measured.
const ECHOES: usize = 10;
/// Seconds to find the other device: longer than a carrier that takes turns needs.
const FIND_SECONDS: u64 = 90;
/// Seconds for two people to compare strings, to walk away, or to come back.
const PEOPLE_SECONDS: u64 = 300;
/// Seconds for a step that no person takes part in.
const HOST_SECONDS: u64 = 60;
/// A device whose wall clock has run on so much further than its own slept meanwhile.
const SLEPT: Duration = Duration::from_secs(5);

/// An interruption of the link.
#[derive(Debug, Default, PartialEq)]
struct Outage {
    /// What the people did; empty on the device that follows.
    what: &'static str,
    /// From the loss of the link until play went on.
    away: Duration,
    /// From the moment at which the radio worked again, the device woke up or the person said to be back.
    after_return: Option<Duration>,
}

/// What was measured. `None`: it did not happen.
#[derive(Debug, Default)]
struct Measures {
    carrier: Option<Carrier>,
    found: Option<Duration>,
    connected: Option<Duration>,
    invited: Option<Duration>,
    /// From each own move until its acknowledgement; the first one is the first of the match.
    echoes: Vec<Duration>,
    round_trip_ms: u32,
    rssi_dbm: i32,
    outages: Vec<Outage>,
    troubles: Vec<String>,
}

impl Measures {
    /// The echo that this percentage does not exceed; without the first, which opens the match.
    fn echo(&self, percent: usize) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.echoes.iter().skip(1).copied().collect();
        sorted.sort();
        let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        sorted.get(place).copied()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: Option<String>| {
            let _ = writeln!(text, "{name}: {}", value.unwrap_or_else(|| "not measured".into()));
        };
        line("carrier", self.carrier.map(|carrier| words::carrier(carrier.into())));
        line("found", self.found.map(seconds));
        line("connected", self.connected.map(seconds));
        line("invitation until the match", self.invited.map(seconds));
        line("first move", self.echoes.first().copied().map(milliseconds));
        line("echo p50", self.echo(50).map(milliseconds));
        line("echo p95", self.echo(95).map(milliseconds));
        line("moves", Some(self.echoes.len().to_string()));
        line(
            "round trip of the link",
            (self.round_trip_ms > 0).then(|| format!("{} ms", self.round_trip_ms)),
        );
        line("signal", (self.rssi_dbm != 0).then(|| format!("{} dBm", self.rssi_dbm)));
        for outage in &self.outages {
            let what = if outage.what.is_empty() { "interruption" } else { outage.what };
            let mut value = format!("play went on {} after the link was lost", seconds(outage.away));
            if let Some(after) = outage.after_return {
                let _ = write!(value, ", {} after the return", seconds(after));
            }
            line(what, Some(value));
        }
        for trouble in &self.troubles {
            line("trouble", Some(trouble.clone()));
        }
        text
    }

    /// The row of the table in hardware-notes.md.
    fn row(&self, device: &str, system: &str, date: &str) -> String {
        let short = |value: Option<Duration>, form: fn(Duration) -> String| value.map_or("–".into(), form);
        let went_on = self.outages.iter().map(|outage| {
            let time = seconds(outage.after_return.unwrap_or(outage.away));
            if outage.what.is_empty() { time } else { format!("{}: {time}", outage.what) }
        });
        let went_on: Vec<String> = went_on.collect();
        let cells = [
            date.to_owned(),
            device.to_owned(),
            "–".into(),
            system.to_owned(),
            format!(
                "{}, {}, {}",
                short(self.found, seconds),
                short(self.connected, seconds),
                short(self.echoes.first().copied(), milliseconds)
            ),
            format!("{}, –", short(self.echo(50), milliseconds)),
            if went_on.is_empty() { "–".into() } else { went_on.join(", ") },
            if self.troubles.is_empty() { "–".into() } else { self.troubles.join("; ") },
        ];
        format!("| {} |", cells.join(" | "))
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1_000.0)
}

/// A point of the board for the action of this number: two sides that alternate along each row never make five in a row.
fn quiet_point(number: usize) -> Option<String> {
    let row = [1, 4, 7, 10, 13].get(number / 15)?;
    let column = char::from(b'a' + (number % 15) as u8);
    Some(format!("{column}{row}"))
}

/// The day of this time in UTC, such as 2026-03-01 (proleptic Gregorian calendar).
fn day(time: SystemTime) -> String {
    let mut left = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1_970;
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

fn is_up(room: &Room) -> bool {
    let state = room.link.as_ref().map(control::LinkState::state);
    matches!(state, Some(PeerLink::Up | PeerLink::Weak))
}

/// A test in progress.
pub(crate) struct FieldTest {
    session: Conversation,
    /// Lines that the person types; closed when there is nobody.
    lines: mpsc::UnboundedReceiver<String>,
    measures: Measures,
    /// Id of the room, once there is a match.
    room: String,
    /// This device follows; below: since when the link has been lost there.
    follows: bool,
    lost: Option<Instant>,
}

impl FieldTest {
    pub(crate) fn new(session: Conversation) -> Self {
        let (typed, lines) = mpsc::unbounded_channel();
        // Reads until the end of the input or of the program.
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if typed.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            session,
            lines,
            measures: Measures::default(),
            room: String::new(),
            follows: false,
            lost: None,
        }
    }

    /// Leads with `who`, or follows whoever leads. Writes the report whether the test succeeds or not.
    pub(crate) async fn run(
        mut self,
        who: Option<&str>,
        steps: &[FieldStep],
        file: &Path,
    ) -> Result<(), Failure> {
        let reply::Body::Diagnosis(diagnosis) =
            self.session.host.ask(request::Body::Diagnose(control::Diagnose {})).await?
        else {
            return Err(unexpected());
        };
        let ended = match who {
            Some(who) => self.lead(who, steps).await,
            None => self.follow().await,
        };
        if let Err(failure) = &ended {
            self.measures.troubles.push(failure.to_string());
        }
        let text = self.report(who.is_some(), &diagnosis);
        std::fs::write(file, text).map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
        ended?;
        let said =
            format!("Done. The report is {}: names, keys and addresses are not in it.", file.display());
        self.session.print(|| said, || json!({"file": file}))
    }

    fn report(&self, leads: bool, diagnosis: &Diagnosis) -> String {
        let device = this_device();
        let of = |name: &str| {
            let value = device.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or("unknown").to_owned()
        };
        let found = |subject: &str| {
            let check = diagnosis.checks.iter().find(|check| check.subject == subject);
            check.map_or("–", |check| check.found.as_str())
        };
        let system = format!("{}, {}, {}", of("kernel"), found("bluez"), of("desktop"));
        let controllers = controllers();
        let row =
            self.measures.row(&format!("{}, {controllers}", of("machine")), &system, &day(SystemTime::now()));
        let role = if leads { "leads" } else { "follows" };
        let redactor = Redactor::new(Some(self.session.host.state()));
        // A player may be called like the device, whose model is no secret: only the rest is searched for names.
        format!(
            "# Field test of Qiyou\n\n{device}controllers: {controllers}\nthis device: {role}\n\n## Measured\n\n{}\n## Doctor\n\n{}\n\n## Row for hardware-notes.md\n\n{row}\n",
            redactor.redact(&self.measures.text()) + "\n",
            redactor.redact(&checks(diagnosis)),
        )
    }

    /// Tells the person what to do or what happens.
    fn say(&self, step: &str, text: &str) -> Result<(), Failure> {
        self.session.print(|| text.to_owned(), || json!({"step": step, "say": text}))
    }

    /// Waits for a line of the person; `None` if there is nobody.
    async fn line(&mut self) -> Result<Option<String>, Failure> {
        loop {
            tokio::select! {
                line = self.lines.recv() => return Ok(line),
                event = self.session.host.next_until(forever()) => drop(event?),
            }
        }
    }

    /// Reads events until `so`; returns whether it came true in time.
    async fn until(&mut self, time: u64, mut so: impl FnMut(&Self) -> bool) -> Result<bool, Failure> {
        let deadline = within(time);
        while !so(self) {
            if self.session.host.next_until(deadline).await?.is_none() {
                return Ok(false);
            }
            self.note_interruption()?;
        }
        Ok(true)
    }

    /// On the device that follows, an interruption may come at any time.
    fn note_interruption(&mut self) -> Result<(), Failure> {
        if !self.follows || self.room().is_none_or(|room| room.result.is_some()) {
            return Ok(());
        }
        match (self.link_is_up(), self.lost) {
            (false, None) => {
                self.lost = Some(Instant::now());
                self.say("lost", "The connection has dropped.")
            }
            (true, Some(since)) => {
                let away = since.elapsed();
                self.lost = None;
                self.measures.outages.push(Outage { away, ..Outage::default() });
                self.say("back", &format!("Play goes on after {}.", seconds(away)))
            }
            _ => Ok(()),
        }
    }

    fn room(&self) -> Option<&Room> {
        self.session.host.state().rooms.get(&self.room)
    }

    fn link_is_up(&self) -> bool {
        self.room().is_some_and(is_up)
    }

    /// The two people compare strings if they have not met.
    async fn compare(&mut self) -> Result<(), Failure> {
        let open = self.session.host.state().comparisons.iter().find(|one| !one.answered_here).cloned();
        let Some(comparison) = open else { return Ok(()) };
        self.say(
            "compare",
            &format!("{}\nHere: type y if both screens show the same, else n.", comparison_text(&comparison)),
        )?;
        let same = self.line().await?.is_some_and(|line| line.trim().eq_ignore_ascii_case("y"));
        let answer = control::Compare { peer: comparison.peer, same };
        self.session.host.ask(request::Body::Compare(answer)).await?;
        if same { Ok(()) } else { Err(Failure::NotToBe("the two strings were not the same".into())) }
    }

    async fn lead(&mut self, who: &str, steps: &[FieldStep]) -> Result<(), Failure> {
        self.say(
            "beside",
            "Lay both devices beside each other. On the other one, run `qiyouctl field-test`. Then press Enter here.",
        )?;
        self.line().await?;
        let begun = Instant::now();
        let peer = self.session.somebody(who, within(FIND_SECONDS)).await?;
        let near = |test: &Self| {
            let state = test.session.host.state();
            let seen = |one: &control::Nearby| one.id == peer || one.name == who;
            state.nearby.values().any(seen) || state.friends.get(&peer).is_some_and(|friend| friend.connected)
        };
        self.session.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        if !self.until(FIND_SECONDS, near).await? {
            return Err(Failure::NotToBe("the other device was not found".into()));
        }
        self.measures.found = Some(begun.elapsed());
        self.say("found", &format!("Found after {}.", seconds(begun.elapsed())))?;

        let begun = Instant::now();
        self.session.host.ask(request::Body::Meet(control::Meet { peer: peer.clone() })).await?;
        let friend = |test: &Self| test.friend(&peer, who).is_some();
        let progress = |test: &Self| {
            let state = test.session.host.state();
            state.connecting.get(&peer).map(control::Connecting::state)
        };
        let settled = |test: &Self| {
            let state = test.session.host.state();
            friend(test)
                || !state.comparisons.is_empty()
                || progress(test) == Some(ConnectState::ConnectFailed)
        };
        if !self.until(FIND_SECONDS, settled).await?
            || (!friend(self) && self.session.host.state().comparisons.is_empty())
        {
            return Err(Failure::NotToBe("the other device was found but could not be connected".into()));
        }
        self.measures.connected = Some(begun.elapsed());
        self.say("connected", &format!("Connected after {}.", seconds(begun.elapsed())))?;
        self.compare().await?;
        if !self.until(PEOPLE_SECONDS, friend).await? {
            return Err(Failure::NotToBe("the other person has not compared the strings".into()));
        }
        let peer = self.friend(&peer, who).ok_or_else(unexpected)?;

        let begun = Instant::now();
        let invite =
            control::Invite { peer, my_side: proto::board::Side::First.into(), ..Default::default() };
        let reply::Body::InviteId(id) = self.session.host.ask(request::Body::Invite(invite)).await? else {
            return Err(unexpected());
        };
        self.room.clone_from(&id);
        if !self.until(HOST_SECONDS, |test| test.room().is_some()).await? {
            return Err(Failure::NotToBe(
                "the other device has not accepted: does `qiyouctl field-test` run there?".into(),
            ));
        }
        self.measures.invited = Some(begun.elapsed());
        self.say("playing", "The devices play some moves by themselves.")?;
        for _ in 0..=ECHOES {
            self.play().await?;
        }
        self.note_link();
        let p50 = self.measures.echo(50).map_or_else(String::new, milliseconds);
        self.say("echo", &format!("A move is acknowledged after {p50} (p50)."))?;
        for step in steps {
            self.disturb(*step).await?;
        }
        let resign = control::Resign { room_id: self.room.clone(), ..Default::default() };
        self.session.host.ask(request::Body::Resign(resign)).await?;
        if !self.until(HOST_SECONDS, |test| test.room().is_none_or(|room| room.result.is_some())).await? {
            self.measures.troubles.push("the match did not end".into());
        }
        // The other device hears of the end before this program leaves.
        Ok(())
    }

    /// The id of the connected friend that was met.
    fn friend(&self, peer: &str, who: &str) -> Option<String> {
        let connected = self.session.host.state().friends.values().filter(|friend| friend.connected);
        connected
            .into_iter()
            .find(|friend| friend.id == peer || friend.name == who)
            .map(|friend| friend.id.clone())
    }

    /// Plays the next quiet point when it is this side's turn, and waits for its acknowledgement.
    async fn play(&mut self) -> Result<(), Failure> {
        if !self.until(HOST_SECONDS, |test| test.room().is_some_and(|room| room.can_act)).await? {
            return Err(Failure::NotToBe("the other device has not moved".into()));
        }
        let room = self.room().ok_or_else(unexpected)?;
        let Some(notation) = quiet_point(room.record.len()) else { return Ok(()) };
        let awaited = room.record.len() as u32 + 1;
        let act = control::Act { room_id: self.room.clone(), notation, ..Default::default() };
        self.session.host.ask(request::Body::Act(act)).await?;
        let interruptions = (self.measures.outages.len(), self.lost);
        let seen = move |test: &Self| {
            let link = test.room().and_then(|room| room.link.as_ref());
            link.is_some_and(|link| link.seen_action_ply >= awaited)
        };
        if self.until(PEOPLE_SECONDS, seen).await? {
            let link = self.room().and_then(|room| room.link).unwrap_or_default();
            // An interruption is measured by itself.
            if interruptions == (self.measures.outages.len(), self.lost) {
                self.measures.echoes.push(Duration::from_micros(link.seen_after_us.into()));
            }
        } else {
            self.measures.troubles.push("a move was not acknowledged in time".into());
        }
        Ok(())
    }

    fn note_link(&mut self) {
        if let Some(link) = self.room().and_then(|room| room.link).filter(|_| self.link_is_up()) {
            (self.measures.carrier, self.measures.round_trip_ms) = (Some(link.carrier()), link.round_trip_ms);
            self.measures.rssi_dbm = link.rssi_dbm;
        }
    }

    /// The people interrupt the link; play goes on.
    async fn disturb(&mut self, step: FieldStep) -> Result<(), Failure> {
        let (what, away, back) = match step {
            FieldStep::Range => (
                "out of range",
                "One of you: take a device and walk until the connection drops. Both screens say so.",
                "The connection has dropped. Come back, lay the devices beside each other, and press Enter here.",
            ),
            FieldStep::Bluetooth => (
                "Bluetooth off and on",
                "Here: switch Bluetooth off, with airplane mode or the desktop's switch.",
                "The connection has dropped. Switch Bluetooth on again.",
            ),
            FieldStep::Lid => (
                "lid closed",
                "Here: close the lid or suspend the device, wait half a minute, and open it again.",
                "The connection has dropped. Open the lid again, if it is closed.",
            ),
        };
        if !self.until(HOST_SECONDS, |test| test.room().is_some_and(|room| room.can_act)).await? {
            return Err(Failure::NotToBe("the other device has not moved".into()));
        }
        self.say(what, away)?;
        let clocks = (Instant::now(), SystemTime::now());
        if !self.until(PEOPLE_SECONDS, |test| !test.link_is_up()).await? {
            self.measures.troubles.push(format!("{what}: the connection did not drop"));
            return Ok(());
        }
        let lost = Instant::now();
        self.say("lost", back)?;
        let deadline = within(PEOPLE_SECONDS);
        // The adapter may have gone off before the link was lost, and its return be the next event.
        let (mut returned, mut went_off) = (None, !self.bluetooth_works());
        while !self.link_is_up() {
            tokio::select! {
                line = self.lines.recv(), if step == FieldStep::Range && returned.is_none() => {
                    // Without a person nobody says when they are back.
                    if line.is_some() {
                        returned = Some(Instant::now());
                    } else {
                        returned = Some(lost);
                    }
                }
                event = self.session.host.next_until(deadline) => {
                    if event?.is_none() {
                        self.measures.troubles.push(format!("{what}: the connection did not come back"));
                        return Ok(());
                    }
                }
            }
            let wall = clocks.1.elapsed().unwrap_or_default();
            let slept = step == FieldStep::Lid && wall > clocks.0.elapsed() + SLEPT;
            went_off |= !self.bluetooth_works();
            let works = step == FieldStep::Bluetooth && went_off && self.bluetooth_works();
            if returned.is_none() && (slept || works) {
                returned = Some(Instant::now());
            }
        }
        let up = Instant::now();
        let after_return = returned.filter(|at| *at > lost).map(|at| up - at);
        self.measures.outages.push(Outage { what, away: up - lost, after_return });
        self.say("back", &format!("Play goes on after {}.", seconds(up - lost)))?;
        self.play().await
    }

    fn bluetooth_works(&self) -> bool {
        let radios = &self.session.host.state().radios;
        let radio = radios.get(&Carrier::Bluetooth.into()).or_else(|| radios.values().next());
        radio.is_some_and(|radio| {
            let ready =
                [RadioState::RadioReady, RadioState::RadioTakingTurns, RadioState::RadioNoAdvertising];
            ready.contains(&radio.state())
        })
    }

    /// Accepts what the leading device asks for, answers its moves, and notes the interruptions.
    async fn follow(&mut self) -> Result<(), Failure> {
        self.say(
            "follow",
            "Waiting for the other device, where `qiyouctl field-test NAME` leads, with this device's name.",
        )?;
        let open = |test: &Self| {
            let state = test.session.host.state();
            state.comparisons.iter().any(|one| !one.answered_here)
                || state.invitations.iter().any(|one| !one.mine)
        };
        while self.room.is_empty() {
            if !self.until(PEOPLE_SECONDS, open).await? {
                return Err(Failure::NotToBe("the other device has not begun".into()));
            }
            self.compare().await?;
            let asked = self.session.host.state().invitations.iter().find(|one| !one.mine).cloned();
            if let Some(invitation) = asked {
                let invite_id = invitation.invite_id.clone();
                let accept = control::AnswerInvite {
                    invite_id: invite_id.clone(),
                    accept: true,
                    ..Default::default()
                };
                self.session.host.ask(request::Body::AnswerInvite(accept)).await?;
                self.room = invite_id;
            }
        }
        if !self.until(HOST_SECONDS, |test| test.room().is_some()).await? {
            return Err(Failure::NotToBe("the match has not begun".into()));
        }
        self.say("playing", "The match has begun. The other device says what to do.")?;
        self.follows = true;
        loop {
            let is_due = |test: &Self| {
                test.room().is_none_or(|room| room.result.is_some() || (room.can_act && is_up(room)))
            };
            if !self.until(2 * PEOPLE_SECONDS, is_due).await? {
                return Err(Failure::NotToBe("the other device has left the test".into()));
            }
            if self.room().is_none_or(|room| room.result.is_some()) {
                break;
            }
            self.play().await?;
            self.note_link();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_leave_out_the_first_move_and_name_a_value_that_was_measured() {
        let of = |echoes: &[u64]| {
            let echoes = echoes.iter().map(|one| Duration::from_millis(*one)).collect();
            let measures = Measures { echoes, ..Measures::default() };
            [50, 95].map(|percent| measures.echo(percent).map(|time| time.as_millis()))
        };
        assert_eq!(of(&[]), [None, None]);
        assert_eq!(of(&[900]), [None, None]);
        assert_eq!(of(&[900, 5]), [Some(5), Some(5)]);
        assert_eq!(of(&[900, 40, 10, 30, 20]), [Some(20), Some(40)]);
    }

    #[test]
    fn a_row_fits_the_table_of_hardware_notes() {
        let notes = include_str!("../../../hardware-notes.md");
        let (_, after) = notes.split_once("| date | device, controller").expect("the table");
        let columns = after.lines().next().expect("its first line").matches('|').count() + 2;
        let measures = Measures {
            found: Some(Duration::from_millis(512)),
            echoes: vec![Duration::from_millis(80), Duration::from_millis(52)],
            outages: vec![Outage {
                what: "lid closed",
                away: Duration::from_secs(40),
                after_return: Some(Duration::from_millis(3_200)),
            }],
            ..Measures::default()
        };
        let row = measures.row("Deck, hci0", "6.1, BlueZ 5.66, Phosh", "2026-03-01");
        assert_eq!(row.matches('|').count(), columns, "{row}");
        assert!(row.contains("| 0.5 s, –, 80 ms | 52 ms, – | lid closed: 3.2 s | – |"), "{row}");
    }

    #[test]
    fn quiet_points_make_no_five_and_end_with_the_rows() {
        let points: Vec<String> = (0..).map_while(quiet_point).collect();
        assert_eq!((points.len(), points[0].as_str(), points[16].as_str()), (75, "a1", "b4"));
        assert!(points.len() > 2 * (ECHOES + 1 + 3), "enough for the whole test");
    }

    #[test]
    fn days_follow_the_calendar() {
        let at = |seconds: u64| day(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01");
        assert_eq!(at(951_782_400), "2000-02-29");
        assert_eq!(at(951_868_800), "2000-03-01");
        assert_eq!(at(1_772_323_200), "2026-03-01");
        assert_eq!(at(1_798_675_200), "2026-12-31");
    }
}
