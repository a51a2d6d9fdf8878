//! Whole matches over the radio: two people who have never met, their hosts, and an AI in each seat.

use crate::air::{Air, Fault, Quirk, Side, Struck};
use crate::board;
use crate::faults;
use crate::lab::Lab;
use crate::orders::{Output, User};
use crate::player::{Player, Saved, View};
use crate::report::{Idle, Report};
use crate::watch::Carrier;
use crate::watchers;
use anyhow::{Context, Result, ensure};
use proto::control::RadioState;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long an idle match is observed, after the work of its beginning has settled.
const IDLE: Duration = Duration::from_mins(1);
const SETTLED: Duration = Duration::from_secs(10);

/// Limit for a whole match of AIs that play at once.
const MATCH_LIMIT: Duration = Duration::from_mins(2);

/// A game and its players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fixture {
    /// Name in the report.
    pub(crate) name: &'static str,
    /// Arguments of `qiyouctl invite` about the game.
    rules: &'static [&'static str],
    /// Levels at A and at B: they hardly think, so that the radio dominates the time, and differ, so that matches end.
    levels: [&'static str; 2],
    /// Whether a piece never moves: then a repeated point is a move that was played twice.
    pieces_stay: bool,
    /// Whether it is a race: both press at the same time, and whole runs enter the record.
    race: bool,
}

/// The game of most matches.
pub(crate) const GOMOKU: Fixture = Fixture {
    name: "gomoku",
    rules: &["--game", "gomoku"],
    levels: ["1", "2"],
    pieces_stay: true,
    race: false,
};

/// The other games: with captures, moving pieces, decisions of several steps, an agreement about dead stones, and a race.
pub(crate) const OTHERS: [Fixture; 4] = [
    Fixture {
        name: "liuzhou",
        rules: &["--game", "liuzhou"],
        levels: ["1", "5"],
        pieces_stay: false,
        race: false,
    },
    Fixture {
        name: "go",
        rules: &["--game", "go", "--option", "size=7"],
        levels: ["1", "2"],
        pieces_stay: false,
        race: false,
    },
    Fixture {
        name: "xiangqi",
        rules: &["--game", "xiangqi"],
        levels: ["6", "1"],
        pieces_stay: false,
        race: false,
    },
    Fixture {
        name: "lights-out",
        rules: &["--game", "lights-out"],
        levels: ["1", "10"],
        pieces_stay: false,
        race: true,
    },
];

/// Faults during a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Strike {
    /// The link is lost; the two do not hear each other for this long.
    Cut(Duration),
    /// The link ends as if the other side had disconnected.
    Kick,
    /// `kill -9` and restart of a host.
    Kill(Who),
    /// The adapter is switched off for this long.
    Power(Who, Duration),
    /// rfkill blocks the adapter for this long.
    Blocked(Who, Duration),
    /// The adapter is unplugged for this long.
    Unplugged(Who, Duration),
    /// From now on the adapter cannot advertise while it scans; the link is lost. Ends with [`Strike::Unplugged`].
    OneAtATime(Who),
    /// From now on the adapter cannot advertise; the link is lost. Ends with [`Strike::Unplugged`].
    NoAdverts(Who),
    /// The person chooses another adapter, in whose range nobody is, for this long; then it is unplugged, and the first adapter
    /// is chosen.
    AnotherAdapter(Who, Duration),
    /// bluetoothd is killed, and restarted after this long.
    Bluetoothd(Who, Duration),
    /// The whole machine stops for this long, which looks like suspend to the other side.
    Freeze(Who, Duration),
    /// The system announces sleep, stops for this long, and announces its wake-up.
    Suspended(Who, Duration),
    /// No data arrives for this long, and nobody is told.
    Silence(Duration),
}

impl Strike {
    /// Name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Strike::Cut(Duration::ZERO) => "cut",
            Strike::Cut(_) => "out_of_range",
            Strike::Kick => "hung_up",
            Strike::Kill(_) => "host_killed",
            Strike::Power(..) => "adapter_off",
            Strike::Blocked(..) => "adapter_blocked",
            Strike::Unplugged(..) => "adapter_unplugged",
            Strike::OneAtATime(_) => "taking_turns",
            Strike::NoAdverts(_) => "no_advertising",
            Strike::AnotherAdapter(..) => "another_adapter",
            Strike::Bluetoothd(..) => "bluetoothd_killed",
            Strike::Freeze(..) => "frozen",
            Strike::Suspended(..) => "suspended",
            Strike::Silence(_) => "silence",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Who {
    A,
    B,
}

impl Who {
    fn other(self) -> Who {
        match self {
            Who::A => Who::B,
            Who::B => Who::A,
        }
    }

    fn side(self) -> Side {
        match self {
            Who::A => Side::A,
            Who::B => Side::B,
        }
    }
}

fn went_over(name: &'static str, begun: Instant, report: &mut Report) {
    let took = begun.elapsed().as_secs_f64() * 1e3;
    println!("ble-lab: {name}: together again after {took:.0} ms");
    report.resumed(name, took);
}

/// As many as a host lets watch one room.
const WATCHERS: u32 = 32;

/// As good as for ever: until the next cut.
pub(crate) const FOR_GOOD: Duration = Duration::from_hours(1);

/// Out of range for this long, an adapter's limitation is detected: three attempts a second apart fail.
const FOUND_OUT: Duration = Duration::from_secs(5);

/// Pseudo-random numbers from a seed (SplitMix64), so that a run can be repeated.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// One of `0..sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % sides.max(1)
    }
}

/// Two hosts that have met, and their matches.
pub(crate) struct Table<'a> {
    a: Player<'a>,
    b: Player<'a>,
    air: &'a Air,
    fixture: Fixture,
    /// Finished matches.
    matches: Vec<String>,
    /// Matches of others that are kept at one side.
    gifts: Vec<String>,
    /// Number of AIs started, for distinct names.
    bots: Cell<u32>,
}

impl<'a> Table<'a> {
    /// The two find each other by scanning, compare the short strings and begin a match.
    pub(crate) async fn meet(lab: &'a Lab, report: &mut Report) -> Result<Table<'a>> {
        let (a, b) = tokio::try_join!(Player::start(&lab.a), Player::start(&lab.b))?;
        for (player, name) in [(&a, "Ann"), (&b, "Ben")] {
            player.ctl(&["doctor"]).await.context("the host finds something wrong with this lab")?;
            player.ctl(&["name", name]).await?;
            player.ctl(&["visibility", "everyone"]).await?;
        }

        let begun = Instant::now();
        let scan = ["qiyouctl", "scan", "--json", "--seconds", "30"];
        b.guest.start("scan", User::Player, &scan, Output::Log).await?;
        b.until("somebody is near", |view| !view.nearby.is_empty()).await?;
        report.found = Some(begun.elapsed().as_secs_f64() * 1e3);
        b.until("Ann is near", |view| view.nearby.values().any(|name| name == "Ann")).await?;

        let table = Table {
            a,
            b,
            air: &lab.air,
            fixture: GOMOKU,
            matches: Vec::new(),
            gifts: Vec::new(),
            bots: Cell::new(0),
        };
        let connecting = Instant::now();
        table.invite().await?;
        let Table { a, b, .. } = &table;
        for player in [b, a] {
            player.until("strings to compare", |view| view.comparison.is_some()).await?;
        }
        report.connected = Some(connecting.elapsed().as_secs_f64() * 1e3);
        let shown = |player: &Player| player.see(|view| view.comparison.clone());
        let (at_a, at_b) = (shown(a).context("no comparison")?, shown(b).context("no comparison")?);
        let whole = at_a.emoji.len() == 4 && at_a.digits.len() == 6;
        report.check(whole && at_a == at_b, || format!("the strings differ: {at_a:?} {at_b:?}"))?;
        tokio::try_join!(a.ctl(&["same"]), b.ctl(&["same"]))?;

        table.accept().await?;
        table.seat_bots().await?;
        table
            .b
            .until("the first move", |view| view.room.as_ref().is_some_and(|r| !r.record.is_empty()))
            .await?;
        report.first_move = Some(begun.elapsed().as_secs_f64() * 1e3);
        Ok(table)
    }

    /// The two begin another match.
    pub(crate) async fn again(&mut self, fixture: Fixture) -> Result<()> {
        self.fixture = fixture;
        self.invite().await?;
        self.accept().await?;
        self.seat_bots().await
    }

    /// The two begin another match, which many people watch in browsers at A. Every watcher sees each position to the end.
    pub(crate) async fn watched(&mut self, dice: &mut Dice, report: &mut Report) -> Result<usize> {
        self.fixture = GOMOKU;
        self.invite().await?;
        self.accept().await?;
        let room = self.a.see(|view| view.room.as_ref().map(|room| room.id.clone())).context("no room")?;
        let url = self.a.ctl(&["guest", "code", "--watch", "--plain", "--room", &room]).await?;
        watchers::check(url.trim())?;
        let mut heard = self.a.guest.hear();
        let pages = WATCHERS.to_string();
        let watch = ["ble-lab", "watchers", url.trim(), &pages];
        self.a.guest.start("watchers", User::Player, &watch, Output::Lines).await?;
        faults::expect(&mut heard, "watchers", "watching").await?;
        self.seat_bots().await?;
        let moves = self.play(&mut Vec::new(), dice, report).await?;
        let last = format!("all {moves}.");
        faults::expect(&mut heard, "watchers", &last).await.context("the watchers see the last move")?;
        // One claim: how many matches there are depends on their lengths.
        report.checks += 1;
        faults::ended(&mut heard, "watchers").await?;
        Ok(moves)
    }

    /// The two begin another match, and before anybody moves A gives B the record of a whole board, which B keeps.
    pub(crate) async fn gives_a_board(&mut self, report: &mut Report) -> Result<()> {
        self.fixture = GOMOKU;
        self.invite().await?;
        self.accept().await?;
        let import = ["ble-lab", "import-board"];
        let imported = self.a.guest.run(User::Player, &import, Duration::from_secs(30)).await?;
        let begun = Instant::now();
        self.a.ctl(&["give", imported.stdout.trim(), "Ben"]).await?;
        let number = loop {
            let gifts = self.b.ctl(&["gifts"]).await?;
            let words: Vec<&str> = gifts.split_whitespace().collect();
            if let [number, from, moves, _] = words[..] {
                let right = from == "Ann" && moves == board::MOVES.to_string();
                report.check(right, || format!("a gift of {} moves is shown as {gifts}", board::MOVES))?;
                break number.to_owned();
            }
            ensure!(begun.elapsed() < MATCH_LIMIT, "no gift: {gifts:?}");
            sleep(Duration::from_millis(500)).await;
        };
        println!("ble-lab: a whole board's record was there after {:.1} s", begun.elapsed().as_secs_f64());
        self.b.ctl(&["keep", &number]).await?;
        let (at_a, at_b) = tokio::try_join!(self.a.saved(), self.b.saved())?;
        let boards = |all: &[Saved]| -> Vec<Saved> {
            all.iter().filter(|saved| saved.actions.len() == board::MOVES).cloned().collect()
        };
        let (at_a, at_b) = (boards(&at_a), boards(&at_b));
        let same = at_a.len() == 1 && at_b.len() == 1 && at_a[0].is_copy_of(&at_b[0]);
        report.check(same, || format!("given away {at_a:?}, kept {at_b:?}"))?;
        self.gifts.extend([at_a[0].id.clone(), at_b[0].id.clone()]);
        self.seat_bots().await
    }

    async fn invite(&self) -> Result<()> {
        let name = format!("invite-{}", self.matches.len() + 1);
        let arguments = [&["qiyouctl", "invite", "Ann"], self.fixture.rules].concat();
        self.b.guest.start(&name, User::Player, &arguments, Output::Log).await
    }

    async fn accept(&self) -> Result<()> {
        let shown = self.a.until("an invitation", |view| view.invitation.is_some()).await;
        shown.with_context(|| format!("B, who invites, lately: {:?}", self.b.see(View::lately)))?;
        self.a.ctl(&["accept"]).await?;
        for player in [&self.a, &self.b] {
            player.until("a room", |view| view.room.as_ref().is_some_and(|room| !room.over)).await?;
        }
        Ok(())
    }

    async fn seat_bots(&self) -> Result<()> {
        tokio::try_join!(self.seat_bot(Who::A), self.seat_bot(Who::B))?;
        Ok(())
    }

    /// `qiyouctl bot` runs until the match is over or its host dies.
    async fn seat_bot(&self, who: Who) -> Result<()> {
        let bot = ["qiyouctl", "bot", "--wait", "30", "--level", self.fixture.levels[who as usize]];
        self.bots.set(self.bots.get() + 1);
        self.player(who)
            .guest
            .start(&format!("bot-{}", self.bots.get()), User::Player, &bot, Output::Log)
            .await
    }

    fn player(&self, who: Who) -> &Player<'a> {
        match who {
            Who::A => &self.a,
            Who::B => &self.b,
        }
    }

    fn ply(&self) -> usize {
        [&self.a, &self.b].map(|p| p.see(View::ply)).into_iter().max().unwrap_or(0)
    }

    fn over(&self) -> bool {
        [&self.a, &self.b].iter().all(|p| p.see(View::over))
    }

    /// A match in which nobody acts for some time; then the AIs play.
    pub(crate) async fn idle(&mut self, report: &mut Report) -> Result<()> {
        self.fixture = GOMOKU;
        self.invite().await?;
        self.accept().await?;
        // The work of a match's beginning: acknowledgements, links of ended programs.
        sleep(SETTLED).await;
        let wakes = || async { tokio::try_join!(self.a.guest.wakes_of_host(), self.b.guest.wakes_of_host()) };
        let (before, read, begun) = (wakes().await?, self.air.reading().await?, Instant::now());
        report.check(!read.scans.contains(&true) && !read.advertises.contains(&true), || {
            format!("beside a link somebody scans {:?} or advertises {:?}", read.scans, read.advertises)
        })?;
        sleep(IDLE).await;
        let (after, traffic) = (wakes().await?, self.air.reading().await?.traffic - read.traffic);
        let seconds = begun.elapsed().as_secs_f64();
        let new = |before: &[(String, u64)], after: &[(String, u64)]| -> u64 {
            let known: BTreeMap<&String, u64> = before.iter().map(|(name, count)| (name, *count)).collect();
            let each = after.iter().map(|(name, count)| (name, count - known.get(name).unwrap_or(&0)));
            let each: Vec<_> = each.filter(|(_, count)| *count > 0).collect();
            println!("ble-lab: woken in {seconds:.0} s: {each:?}");
            each.iter().map(|(_, count)| count).sum()
        };
        let woken = [new(&before.0, &after.0), new(&before.1, &after.1)];
        // The goal is one wake-up a second; the assertion leaves room for a retransmission.
        report.check(woken.iter().all(|&count| count as f64 <= seconds * 1.5), || {
            format!("idle hosts were woken {woken:?} times in {seconds:.0} s")
        })?;
        let a_minute = |count: u64| count as f64 * 60.0 / seconds;
        report.idle = Some(Idle {
            seconds,
            wakes_per_second: woken.map(|count| count as f64 / seconds),
            values_per_minute: a_minute(traffic.values),
            packets_per_minute: a_minute(traffic.packets),
            bytes_per_minute: a_minute(traffic.bytes),
        });
        self.seat_bots().await
    }

    /// A match moves to the local network while the radio is cut, stays there when the radio is back, and returns when the
    /// network cable is pulled. The people only play.
    pub(crate) async fn changes_carriers(&mut self, report: &mut Report) -> Result<()> {
        self.fixture = GOMOKU;
        let both = [&self.a, &self.b];
        for player in both {
            player.start_again(true).await?;
        }
        self.invite().await?;
        self.accept().await?;
        self.is_carried_by(Carrier::Bluetooth).await?;
        self.move_by_hand(&["a1", "c1"]).await?;
        for player in both {
            player.guest.cable(true).await?;
        }
        // Checks the lab itself: the network works.
        let ping = ["ping", "-c", "1", "-W", "20", Side::A.address()];
        self.b.guest.run(User::Root, &ping, Duration::from_secs(30)).await?;

        let begun = Instant::now();
        self.air.fault(Fault::Cut { away: FOR_GOOD }).await?;
        self.is_carried_by(Carrier::Network).await?;
        went_over("to_the_network", begun, report);
        self.move_by_hand(&["e1", "g1", "i1"]).await?;
        // The radio is back, for as long as a search would need.
        self.air.fault(Fault::Cut { away: Duration::ZERO }).await?;
        sleep(FOUND_OUT).await;
        let links = self.air.reading().await?.links;
        report.check(links == 0, || format!("{links} links by radio under a match in the network"))?;
        self.is_carried_by(Carrier::Network).await?;
        self.move_by_hand(&["a3", "c3"]).await?;

        let begun = Instant::now();
        self.b.guest.cable(false).await?;
        self.is_carried_by(Carrier::Bluetooth).await?;
        went_over("back_to_bluetooth", begun, report);
        self.move_by_hand(&["e3", "g3"]).await?;
        self.a.guest.cable(false).await?;
        self.seat_bots().await?;
        self.play(&mut Vec::new(), &mut Dice(0), report).await?;
        for player in [&self.a, &self.b] {
            player.start_again(false).await?;
        }
        Ok(())
    }

    async fn is_carried_by(&self, carrier: Carrier) -> Result<()> {
        let so = |view: &View| view.room.as_ref().is_some_and(|room| room.link_up && room.carrier == carrier);
        for player in [&self.a, &self.b] {
            player.until(&format!("a link by {carrier:?}"), so).await?;
        }
        Ok(())
    }

    /// The side to move plays each point, and both sides then see it.
    async fn move_by_hand(&self, points: &[&str]) -> Result<()> {
        let may = |view: &View| view.room.as_ref().is_some_and(|room| room.can_act);
        let before = self.ply();
        for (point, ply) in points.iter().zip(before + 1..) {
            let mover = [&self.a, &self.b].into_iter().find(|player| player.see(may));
            mover.context("nobody may move")?.ctl(&["play", point]).await?;
            for player in [&self.a, &self.b] {
                player.until("a move made by hand", |view| view.ply() == ply).await?;
            }
        }
        Ok(())
    }

    /// Plays the match to its end. Faults are taken from the end of the list, at random moments, as many as the match has time
    /// for. Returns the length of the match.
    pub(crate) async fn play(
        &mut self,
        strikes: &mut Vec<Strike>,
        dice: &mut Dice,
        report: &mut Report,
    ) -> Result<usize> {
        while let Some(&strike) = strikes.last() {
            // Some moves without a fault, so that each fault hits another position, then a random moment within a move's time.
            // A race of AIs is short: the fault hits its beginning.
            if !self.fixture.race {
                let wanted = self.ply() + 1 + dice.roll(4) as usize;
                self.until_either(MATCH_LIMIT, "moves", |view| view.ply() >= wanted).await?;
            }
            sleep(Duration::from_millis(dice.roll(120))).await;
            if self.over() {
                break;
            }
            let ply = self.ply();
            let struck =
                self.strike(strike, report).await.with_context(|| format!("{strike:?} at ply {ply}"))?;
            if struck {
                strikes.pop();
                self.until_either(MATCH_LIMIT, "another move", |view| view.ply() > ply)
                    .await
                    .with_context(|| format!("after {strike:?} at ply {ply}"))?;
            }
            if self.fixture.race {
                break;
            }
        }
        for player in [&self.a, &self.b] {
            player.within(MATCH_LIMIT, "the end of the match", View::over).await?;
        }
        self.judge(report).await
    }

    /// Waits for a condition at either side, or for the end of the match.
    async fn until_either(
        &self,
        limit: Duration,
        what: &str,
        so: impl Fn(&View) -> bool + Copy,
    ) -> Result<()> {
        tokio::select! {
            at_a = self.a.within(limit, what, |view| so(view) || view.over()) => at_a,
            at_b = self.b.within(limit, what, |view| so(view) || view.over()) => at_b,
        }
    }

    /// Injects a fault and waits until the two are connected again. Returns whether it hit a link.
    async fn strike(&self, strike: Strike, report: &mut Report) -> Result<bool> {
        // When nothing obstructs the link any more.
        let mut free = Instant::now();
        // The state that the person at one side must have been told by the end.
        let mut told: Option<(Who, &[RadioState])> = None;
        for player in [&self.a, &self.b] {
            player.forget_radio();
        }
        let ups = [&self.a, &self.b].map(|p| p.see(|view| view.times_up));
        match strike {
            Strike::Cut(away) => {
                if self.air.fault(Fault::Cut { away }).await? == Struck::Nothing {
                    return Ok(false);
                }
                free += away;
                report.cuts += 1;
            }
            Strike::Kick => {
                if self.air.fault(Fault::Kick).await? == Struck::Nothing {
                    return Ok(false);
                }
            }
            Strike::Kill(who) => {
                self.player(who).kill_host().await?;
                free = Instant::now();
                self.player(who).start_host().await?;
                report.kills += 1;
                if !self.player(who).see(View::over) {
                    self.seat_bot(who).await?;
                }
            }
            Strike::Power(who, time) => {
                self.player(who).guest.power(false).await?;
                sleep(time).await;
                self.player(who).guest.power(true).await?;
                free = Instant::now();
                told = Some((who, &[RadioState::RadioOff]));
            }
            Strike::Blocked(who, time) => {
                self.without_a_link().await?;
                self.player(who).guest.block(true).await?;
                // The emulated controller would go on advertising, and a dialer would be linked to nobody.
                self.air.fault(Fault::Unplug(who.side())).await?;
                told = Some((who, &[RadioState::RadioBlocked]));
                // The poll interval of the switch, with a margin.
                sleep(time + Duration::from_secs(4)).await;
                self.air.fault(Fault::Plug(who.side())).await?;
                self.player(who).guest.block(false).await?;
                free = Instant::now();
            }
            Strike::Unplugged(who, time) => {
                self.without_a_link().await?;
                self.air.fault(Fault::Unplug(who.side())).await?;
                self.player(who).guest.unplug().await?;
                sleep(time).await;
                self.air.fault(Fault::Plug(who.side())).await?;
                self.player(who).guest.plug().await?;
                free = Instant::now();
                told = Some((who, &[RadioState::RadioNoAdapter]));
            }
            Strike::OneAtATime(who) | Strike::NoAdverts(who) => {
                // A controller that cannot advertise at all is first taken for one that cannot advertise beside a scan; if the
                // two reconnect soon, detection ends there.
                let (quirk, states): (_, &[_]) = if strike == Strike::OneAtATime(who) {
                    (Quirk::OneAtATime, &[RadioState::RadioTakingTurns])
                } else {
                    (Quirk::NoAdverts, &[RadioState::RadioNoAdvertising, RadioState::RadioTakingTurns])
                };
                self.air.limit(who.side(), quirk)?;
                if self.air.fault(Fault::Cut { away: FOUND_OUT }).await? == Struck::Nothing {
                    return Ok(false);
                }
                free += FOUND_OUT;
                told = Some((who, states));
            }
            Strike::AnotherAdapter(who, time) => {
                self.another_adapter(who, time, report).await?;
                free = Instant::now();
                told = Some((who, &[RadioState::RadioNoAdapter]));
            }
            Strike::Bluetoothd(who, time) => {
                self.player(who).guest.kill_bluetoothd().await?;
                sleep(time).await;
                self.player(who).guest.start_bluetoothd().await?;
                free = Instant::now();
                told = Some((who, &[RadioState::RadioNoService]));
            }
            Strike::Freeze(who, time) => {
                // Shorter than the timeout after which the other side looks for a new link; only the match must continue.
                self.player(who).guest.freeze(time).await?;
                return Ok(true);
            }
            Strike::Suspended(who, time) => {
                let other = who.other();
                self.player(who).guest.say_sleep(true).await?;
                let told = |view: &View| view.over() || view.room.as_ref().is_some_and(|room| room.left);
                self.player(other).until("the goodbye of a device that goes to sleep", told).await?;
                no_link(self.air).await?;
                // The machine is stopped without logind's wait, which may be before the adapter has heard that its scan is over.
                no_scan(self.air, who.side()).await?;
                self.player(who).guest.freeze(time).await?;
                if !self.over() {
                    // The waking device searches for the other: until then neither scans, unless a move made since the goodbye
                    // asks for the link.
                    let scans = self.air.reading().await?.scans;
                    let mut may_scan = [false; 2];
                    may_scan[other.side() as usize] = self.player(other).see(|view| view.acted_alone);
                    let at_rest = scans.iter().zip(may_scan).all(|(scans, may)| may || !scans);
                    report.check(at_rest, || {
                        format!("somebody looks for a device that sleeps: {scans:?}, and might: {may_scan:?}")
                    })?;
                }
                self.player(who).guest.say_sleep(false).await?;
                free = Instant::now();
            }
            Strike::Silence(time) => {
                self.air.fault(Fault::Mute).await?;
                sleep(time).await;
                self.air.fault(Fault::Unmute).await?;
                return Ok(true);
            }
        }
        for (player, before) in [&self.a, &self.b].into_iter().zip(ups) {
            player.until("the link is back", |view| view.times_up > before || view.over()).await?;
        }
        if let Some((who, states)) = told
            && let Some(sentence) = self.player(who).told_of(states).await?
        {
            report.check(sentence.contains(' '), || format!("{states:?} is told as {sentence:?}"))?;
        }
        if !self.over() {
            let took = free.elapsed().as_secs_f64() * 1e3;
            println!("ble-lab: {strike:?}: together again after {took:.0} ms");
            report.resumed(strike.name(), took);
        }
        Ok(true)
    }

    /// A second adapter is plugged in, chosen, kept over a restart of the host, and unplugged; then the first one present is
    /// wanted.
    async fn another_adapter(&self, who: Who, time: Duration, report: &mut Report) -> Result<()> {
        let (player, other) = (self.player(who), self.player(who.other()));
        let mut expect = async |adapters: &[(&str, &str)]| {
            let list = player.ctl(&["adapter"]).await?;
            let shown: Vec<&str> = list.lines().collect();
            let right = shown.len() == adapters.len()
                && shown.iter().zip(adapters).all(|(line, (name, state))| {
                    line.starts_with(&format!("{name}  ")) && line.ends_with(&format!("  {state}"))
                });
            report.check(right, || format!("the adapters are {adapters:?}, and qiyouctl says {list:?}"))
        };
        player.guest.plug_another().await?;
        expect(&[("hci0", "on, used"), ("hci1", "on")]).await?;
        player.ctl(&["adapter", "hci1"]).await?;
        let is_gone = |view: &View| view.over() || view.room.as_ref().is_some_and(|room| !room.link_up);
        other.until("the link goes with its adapter", is_gone).await?;
        sleep(time).await;
        player.kill_host().await?;
        player.start_host().await?;
        expect(&[("hci0", "on"), ("hci1", "on, used, chosen")]).await?;
        player.forget_radio();
        player.guest.unplug_another().await?;
        player.told_of(&[RadioState::RadioNoAdapter]).await?;
        expect(&[("hci0", "on"), ("hci1", "not there, chosen")]).await?;
        player.ctl(&["adapter", "first"]).await?;
        expect(&[("hci0", "on, used")]).await?;
        if !player.see(View::over) {
            self.seat_bot(who).await?;
        }
        Ok(())
    }

    /// Ends the link and lets bluetoothd detect that, while nobody is heard and so nobody dials: this kernel hits a BUG
    /// (`hci_chan_del`) when an adapter goes away while bluetoothd has or opens a channel, and takes bluetoothd down.
    async fn without_a_link(&self) -> Result<()> {
        self.air.fault(Fault::Cut { away: Duration::from_millis(1500) }).await?;
        no_link(self.air).await?;
        sleep(Duration::from_millis(800)).await;
        Ok(())
    }

    /// Compares the two records on disk with each other and with everything that was shown of the match.
    async fn judge(&mut self, report: &mut Report) -> Result<usize> {
        let (mut at_a, mut at_b) = tokio::try_join!(self.a.saved(), self.b.saved())?;
        for saved in [&mut at_a, &mut at_b] {
            saved.retain(|saved| !self.gifts.contains(&saved.id));
        }
        let equal = at_a == at_b;
        report.records_equal = Some(report.records_equal.unwrap_or(true) && equal);
        report.check(equal, || format!("the records differ: A {at_a:?}, B {at_b:?}"))?;
        let new: Vec<&Saved> = at_a.iter().filter(|saved| !self.matches.contains(&saved.id)).collect();
        report.check(new.len() == 1, || format!("{} new matches on disk instead of one", new.len()))?;
        let saved = new[0];
        report.check(saved.ending.is_some(), || "the match is not over on disk".into())?;

        if self.fixture.pieces_stay {
            let mut points = saved.actions.clone();
            points.sort();
            points.dedup();
            report.moves_doubled += (saved.actions.len() - points.len()) as u32;
        }
        for player in [&self.a, &self.b] {
            let (last, told) = player.see(|view| (view.record(), view.told.clone()));
            // Every move ever shown to a person must be unchanged at the end.
            let kept = told.iter().zip(&last).filter(|(then, now)| then == now).count();
            report.moves_lost += (told.len() - kept) as u32;
            report.moves_lost += saved.actions.len().abs_diff(last.len()) as u32;
        }
        let (lost, doubled) = (report.moves_lost, report.moves_doubled);
        report.check(lost == 0 && doubled == 0, || format!("{lost} moves lost, {doubled} doubled"))?;
        report.played(self.fixture.name, saved.actions.len());
        println!(
            "ble-lab: match {}: {}, {} moves, both records equal",
            report.matches,
            self.fixture.name,
            saved.actions.len()
        );
        self.matches.push(saved.id.clone());
        for player in [&self.a, &self.b] {
            player.ctl(&["close"]).await?;
            player.forget_room();
        }
        Ok(saved.actions.len())
    }

    /// Number of moves that each side has measured so far.
    pub(crate) fn measured(&self) -> [usize; 2] {
        [&self.a, &self.b].map(|player| player.see(|view| view.move_seen.len()))
    }

    /// Milliseconds from giving each move to the host until the other side's acknowledgement, after so many of each side.
    pub(crate) fn move_seen(&self, [a, b]: [usize; 2]) -> Vec<f64> {
        [(&self.a, a), (&self.b, b)]
            .into_iter()
            .flat_map(|(player, before)| player.see(|view| view.move_seen[before..].to_vec()))
            .collect()
    }

    /// Both close everything.
    pub(crate) async fn leave(self) -> Result<()> {
        for player in [&self.a, &self.b] {
            player.stop().await?;
        }
        // BlueZ takes 2 to 3 s to end a link. A remaining link is reported, not failed: BlueZ owns it by then.
        sleep(Duration::from_secs(4)).await;
        if self.air.reading().await?.links > 0 {
            println!("ble-lab: both hosts have ended and their link is still up");
        }
        Ok(())
    }
}

/// Waits until the link has ended by itself, which takes BlueZ 2 to 3 s.
pub(crate) async fn no_link(air: &Air) -> Result<()> {
    let begun = Instant::now();
    while air.reading().await?.links > 0 {
        ensure!(begun.elapsed() < Duration::from_secs(20), "a link will not end");
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Waits until the device at this side, which goes to sleep, does not scan.
pub(crate) async fn no_scan(air: &Air, side: Side) -> Result<()> {
    let begun = Instant::now();
    while air.reading().await?.scans[side as usize] {
        ensure!(begun.elapsed() < Duration::from_secs(20), "a device that goes to sleep goes on scanning");
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_moments() {
        let rolls = |seed| {
            let mut dice = Dice(seed);
            (0..20).map(|_| dice.roll(6)).collect::<Vec<_>>()
        };
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(rolls(1), rolls(2));
        assert!(rolls(1).iter().all(|&roll| roll < 6));
    }
}
