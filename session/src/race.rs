//! A race of Lights Out: both press at the same time, each on a board of their own, and the shorter time wins.
//!
//! The record of a race is one list like any other: the first side's run, then the second's, and only the side to move appends.
//! Resume and offers therefore work unchanged. A side's presses before its turn stay in its own journal
//! ([`crate::MatchRecord::run`]); they enter the record as a whole, in one message, once the run is over and it is that side's
//! turn. Meanwhile the peer receives the number of presses and of lit lights ([`peer::Progress`]). A run that ends before its
//! turn is shown to the peer at once. Only a shown run sets the time to beat; a mere claim does not. A side that can no longer
//! beat that time has lost, and its device stops its run.
//!
//! Each device measures its own player's time, as with clocks: while both are connected and no pause is agreed. Nobody can
//! press while the clock is stopped. The other side compares the time with its own measurement, and tells its person of a
//! difference.

use std::time::Duration;

use bytes::Bytes;
use engine::lights_out::{LightsOut, LightsOutSetup, Run, Start};
use engine::{Action, AnyGame, Game as _, IllegalAction, Outcome, Setup, Side};
use proto::peer;
use sha2::{Digest, Sha256};

use crate::clock::{TOLERANCE, UNNOTICED};
use crate::cx::Cx;
use crate::{
    Colours, Entry, Event, Instant, MatchId, MatchResult, MatchState, Refused, Terms, Violation, wire,
};

/// Longest delay of a progress message: the eye follows a number no faster.
const TELL_AFTER: Duration = Duration::from_millis(250);

/// A race from its player's point of view.
#[derive(Clone)]
pub struct Race {
    /// This player's own board.
    pub board: AnyGame,
    /// Own presses.
    pub presses: u32,
    /// Time of the own run.
    pub elapsed: Duration,
    /// Whether the own clock runs now.
    pub running: bool,
    /// The own run, once finished.
    pub run: Option<Run>,
    /// The other side's presses, as last reported.
    pub their_presses: u32,
    /// Lit lights on the other side's board, as last reported.
    pub their_lit: u32,
    /// The other side's run, once finished and shown.
    pub their_run: Option<Run>,
}

impl Terms {
    /// The same terms for two devices: Lights Out becomes a race, on a board that both devices draw, without a time limit and
    /// without hints.
    #[must_use]
    pub fn for_two(mut self) -> Self {
        if let Setup::LightsOut(LightsOutSetup { start, race, .. }) = &mut self.setup {
            *race = true;
            if let Start::Random { seed, .. } = start {
                *seed = 0;
            }
            (self.colours, self.pace, self.hints) = (Colours::Random, None, false);
        }
        self
    }
}

/// The setup after the drawing of an invitation: unchanged except for the board of a race.
pub(crate) fn drawn_setup(setup: &Setup, id: MatchId, inviter: [u8; 32], invited: [u8; 32]) -> Setup {
    with_board(setup, &[b"qiyou lights 1", &id.0, &inviter, &invited])
}

/// The setup of the new game with this id that follows a match: another random board of lights. For a race the seed depends on
/// the previous match's digest, so that nobody can know the board earlier.
pub(crate) fn next_setup(setup: &Setup, id: MatchId, digest: u64) -> Setup {
    match setup {
        Setup::LightsOut(lights) if lights.race => {
            with_board(setup, &[b"qiyou lights 2", &id.0, &digest.to_be_bytes()])
        }
        _ => setup.next(),
    }
}

fn with_board(setup: &Setup, from: &[&[u8]]) -> Setup {
    let mut setup = setup.clone();
    if let Setup::LightsOut(LightsOutSetup { start: Start::Random { seed, .. }, race: true, .. }) = &mut setup
    {
        let hash = from.iter().fold(Sha256::new(), Digest::chain_update).finalize();
        // 0 stands for a board that is not drawn yet.
        *seed = u64::from(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]).max(1));
    }
    setup
}

/// The run of these actions on this board, if it is finished with every light out.
fn finished_run(board: &LightsOut, actions: &[Action]) -> Option<Run> {
    let (Action::Done(tenths), presses) = actions.split_last()? else { return None };
    let mut board = board.clone();
    for press in presses {
        let mv = board.legal_move(*press).ok()?;
        board.play(mv);
    }
    let presses = board.presses();
    let finished = board.outcome().is_some() && presses <= LightsOutSetup::RACE_PRESSES;
    finished.then_some(Run { presses, tenths: *tenths, finished })
}

fn tenths(time: Duration) -> u32 {
    u32::try_from(time.as_millis() / 100).unwrap_or(u32::MAX).min(LightsOutSetup::RACE_TENTHS)
}

fn time_of(tenths: u32) -> Duration {
    Duration::from_millis(u64::from(tenths) * 100)
}

/// What the user sees.
impl MatchState {
    /// The race from this side's point of view; `None` if the match is no race.
    pub fn race(&self, now: Instant) -> Option<Race> {
        let racing = self.racing.as_ref()?;
        let [run, their_run] = [self.my_side(), self.their_side()].map(|side| self.run_of(side));
        Some(Race {
            board: AnyGame::LightsOut(racing.board.clone()),
            presses: racing.board.presses(),
            elapsed: run.map_or_else(|| self.line.spent_at(now), |run| time_of(run.tenths)),
            running: self.line.clock_runs(),
            run,
            their_presses: their_run.map_or(racing.their_presses, |run| run.presses),
            their_lit: if their_run.is_some_and(|run| run.finished) { 0 } else { racing.their_lit },
            their_run,
        })
    }
}

impl MatchState {
    /// Whether this is a race of Lights Out: see [`Self::race`].
    pub fn is_race(&self) -> bool {
        self.racing.is_some()
    }

    /// A side's finished run, in the record or not yet.
    fn run_of(&self, side: Side) -> Option<Run> {
        let AnyGame::LightsOut(race) = self.position() else { return None };
        let outside = || {
            let racing = self.racing.as_ref()?;
            if side == self.their_side() {
                return racing.shown;
            }
            match self.record().run.last() {
                Some(Action::Done(tenths)) => Some(Run {
                    presses: racing.board.presses(),
                    tenths: *tenths,
                    finished: racing.board.outcome().is_some(),
                }),
                _ => None,
            }
        };
        race.runs()[side.index()].or_else(outside)
    }

    fn is_in_record(&self, side: Side) -> bool {
        matches!(self.position(), AnyGame::LightsOut(race) if race.runs()[side.index()].is_some())
    }

    /// A side's actions in the record; only for a side whose run is there.
    fn run_in_record(&self, side: Side) -> Vec<Action> {
        let mine = self.decided_by().zip(&self.record().actions).filter(|(by, _)| *by == side);
        mine.map(|(_, action)| *action).collect()
    }

    /// Whether the time of this side's run is counting now.
    pub(crate) fn race_goes_on(&self) -> bool {
        self.record().result.is_none()
            && !self.record().paused
            && self.is_level()
            && self.run_of(self.my_side()).is_none()
    }

    pub(crate) fn check_can_press(&self) -> Result<(), Refused> {
        if self.record().result.is_some() || self.differs() {
            Err(Refused::WrongPhase)
        } else if self.record().paused {
            Err(Refused::Paused)
        } else if self.run_of(self.my_side()).is_some() {
            Err(Refused::NotYourTurn)
        } else if !self.is_level() {
            Err(Refused::Away)
        } else if self.record().run.len() >= LightsOutSetup::RACE_PRESSES as usize {
            Err(Refused::RecordFull)
        } else {
            Ok(())
        }
    }

    /// Whether the other side's run is finished, in less time than this side can still reach.
    fn is_beaten(&self, now: Instant) -> bool {
        self.time_to_beat().is_some_and(|best| tenths(self.line.spent_at(now)) > best)
    }

    /// Tenths of a second of the other side's finished run, while this side's run continues.
    fn time_to_beat(&self) -> Option<u32> {
        let theirs = self.run_of(self.their_side()).filter(|run| run.finished)?;
        self.race_goes_on().then_some(theirs.tenths)
    }

    /// Rebuilds the own board from the record or from [`crate::MatchRecord::run`]. `None`: the latter is invalid.
    pub(crate) fn restore_race(&mut self) -> Option<()> {
        let (mine, run) = (self.my_side(), self.record().run.clone());
        if self.is_in_record(mine) {
            self.set_run(Vec::new());
            let all = self.run_in_record(mine);
            let racing = self.racing.as_mut()?;
            racing.watched = None;
            return racing.press_all(&all).then_some(());
        }
        let racing = self.racing.as_mut()?;
        racing.press_all(&run).then_some(())
    }

    /// The own run so far, in the record or not: it survives a replacement of the record.
    pub(crate) fn my_run(&self) -> Vec<Action> {
        let mine = self.my_side();
        if self.is_in_record(mine) { self.run_in_record(mine) } else { self.record().run.clone() }
    }

    /// Restores the measurement of the peer's run, which the journal lacks: both runs began together.
    pub(crate) fn rewatch(&mut self) {
        let over = self.run_of(self.my_side()).is_some();
        let spent = self.line.spent_at(Instant::default());
        if let Some(racing) = &mut self.racing {
            racing.watched = (!over).then_some(spent);
        }
    }

    pub(crate) fn unwatch(&mut self, now: Instant) {
        if let Some(racing) = &mut self.racing {
            racing.unwatch(now);
        }
    }
}

impl MatchState {
    pub(crate) fn press(&mut self, cx: &mut Cx<'_>, action: Action) -> Result<(), Refused> {
        let now = cx.now;
        self.check_can_press()?;
        let Some(racing) = &mut self.racing else { return Err(Refused::WrongPhase) };
        let Action::Press(_) = action else { return Err(IllegalAction::WrongKind.into()) };
        let mv = racing.board.legal_move(action)?;
        racing.board.play(mv);
        let finished = racing.board.outcome().is_some();
        racing.untold = true;
        if finished {
            self.end_run(cx, Some(action));
        } else {
            let (id, spent_ms) = (self.id(), self.line.spent_ms_at(now));
            self.add_to_run(&[action], spent_ms);
            self.keep(cx, Entry::Pressed { id, pressed: vec![action], spent_ms });
            self.tell_progress(cx);
            cx.tell(Event::MatchChanged(id));
        }
        Ok(())
    }

    /// Ends the own run, with a last press or without.
    fn end_run(&mut self, cx: &mut Cx<'_>, last: Option<Action>) {
        let spent_ms = self.line.halt_clock(cx.now);
        let done = Action::Done(tenths(Duration::from_millis(spent_ms.into())));
        let pressed: Vec<Action> = last.into_iter().chain([done]).collect();
        if self.position().turn() == self.my_side() {
            let run = [&self.record().run[..], &pressed].concat();
            self.enter_run(cx, run);
        } else {
            let id = self.id();
            self.add_to_run(&pressed, spent_ms);
            self.keep(cx, Entry::Pressed { id, pressed, spent_ms });
            cx.tell(Event::MatchChanged(id));
            self.race_check(cx);
        }
    }

    /// Moves this side's run into the record.
    fn enter_run(&mut self, cx: &mut Cx<'_>, run: Vec<Action>) {
        self.push_run(&run);
        self.set_run(Vec::new());
        let (id, ply, result) = (self.id(), self.ply(), self.result());
        self.keep(cx, Entry::Ran { id, ply, run, mine: true, result });
        self.decline_pointless(cx);
        if self.is_level() {
            self.send_run(cx);
        }
        cx.tell(Event::MatchChanged(id));
    }

    /// Records a legal run of the peer.
    pub(crate) fn take_run(&mut self, cx: &mut Cx<'_>, run: Vec<Action>) {
        self.push_run(&run);
        if let Some(racing) = &mut self.racing {
            racing.shown = None;
        }
        let (id, ply, result) = (self.id(), self.ply(), self.result());
        self.keep(cx, Entry::Ran { id, ply, run, mine: false, result });
        self.decline_pointless(cx);
        cx.tell(Event::MatchChanged(id));
    }

    /// Sends this side's finished run: as part of the record or, before its turn, to be shown.
    pub(crate) fn send_run(&mut self, cx: &mut Cx<'_>) {
        let mine = self.my_side();
        let ply = if self.is_in_record(mine) {
            (1..).zip(self.decided_by()).filter(|(_, by)| *by == mine).last().map_or(0, |(ply, _)| ply)
        } else {
            0
        };
        let run = peer::Run {
            match_id: wire::id_bytes(self.id()),
            ply,
            actions: Bytes::from(wire::pack_actions(&self.my_run())),
            digest: self.line.digest_at(ply).filter(|_| ply > 0).unwrap_or_default(),
            revision: self.revision(),
        };
        if ply > 0 { cx.send_awaited(run) } else { cx.send(run) }
    }

    pub(crate) fn received_run(&mut self, cx: &mut Cx<'_>, run: &peer::Run) -> Result<(), Violation> {
        let actions = wire::unpack_actions(&run.actions).map_err(|_| Violation::OutOfBounds("run"))?;
        let bad = Violation::BadPlay { ply: run.ply };
        if !self.is_level() {
            return Ok(());
        }
        if !self.is_race() || run.revision > self.revision() {
            return Err(bad);
        }
        if run.revision < self.revision() {
            // In flight when this side accepted an offer of the peer.
            return Ok(());
        }
        if run.ply == 0 {
            return self.shown_run(cx, &actions);
        }
        let ply = self.ply();
        if run.ply <= ply {
            if self.line.digest_at(run.ply) != Some(run.digest) {
                return Err(bad);
            }
            self.send_ack(cx, false);
            return Ok(());
        }
        if run.ply as usize > ply as usize + actions.len() {
            self.send_ack(cx, true);
            return Ok(());
        }
        if !self.counts(run.ply) || run.ply as usize != ply as usize + actions.len() {
            return Err(bad);
        }
        let mut game = self.position().clone();
        for action in &actions {
            if game.outcome().is_some() || game.turn() != self.their_side() || game.act(*action).is_err() {
                return Err(bad);
            }
        }
        let whole =
            matches!(&game, AnyGame::LightsOut(race) if race.runs()[self.their_side().index()].is_some());
        if !whole || self.line.digest_with_all(&actions) != run.digest {
            return Err(bad);
        }
        if self.run_of(self.their_side()).is_none() {
            self.check_run_time(cx, &actions);
        }
        let told = self.there.filter(|there| there.revision == self.revision());
        self.take_run(cx, actions);
        self.taken(cx, told);
        Ok(())
    }

    /// The peer shows a finished run before its turn in the record.
    fn shown_run(&mut self, cx: &mut Cx<'_>, actions: &[Action]) -> Result<(), Violation> {
        let bad = Violation::BadPlay { ply: 0 };
        let their_side = self.their_side();
        if their_side == Side::First {
            return Err(bad);
        }
        if self.is_in_record(their_side) || self.record().result.is_some() || self.record().paused {
            return Ok(());
        }
        let Some(racing) = &self.racing else { return Err(bad) };
        let start = LightsOut::new(racing.board.setup()).expect("it was made before");
        let run = finished_run(&start, actions).ok_or(bad)?;
        if racing.shown == Some(run) {
            return Ok(());
        }
        let id = self.id();
        self.check_run_time(cx, actions);
        if let Some(racing) = &mut self.racing {
            racing.shown = Some(run);
        }
        self.clock_check(cx);
        cx.tell(Event::MatchChanged(id));
        Ok(())
    }

    /// Compares the time that the peer reports for its run with this device's measurement.
    fn check_run_time(&mut self, cx: &mut Cx<'_>, actions: &[Action]) {
        let half_way = cx.half_round_trip;
        let now = cx.now;
        let (Some(racing), Some(Action::Done(tenths))) = (&mut self.racing, actions.last()) else { return };
        racing.unwatch(now);
        let Some(watched) = racing.watched else { return };
        let (said, seen) = (time_of(*tenths), watched.saturating_sub(half_way));
        let tolerance = if self.interrupted { TOLERANCE + UNNOTICED } else { TOLERANCE };
        if seen.abs_diff(said) > tolerance && !std::mem::replace(&mut self.doubted, true) {
            let id = self.id();
            cx.tell(Event::ClocksDiffer { id, said, seen });
        }
    }

    pub(crate) fn received_progress(&mut self, cx: &mut Cx<'_>, progress: &peer::Progress) {
        let id = self.id();
        let Some(racing) = &mut self.racing else { return };
        let heard = (progress.presses, progress.lit.min(racing.cells()));
        if (racing.their_presses, racing.their_lit) != heard {
            (racing.their_presses, racing.their_lit) = heard;
            cx.tell(Event::MatchChanged(id));
        }
    }

    /// Sends the progress of the own run, at most every [`TELL_AFTER`].
    fn tell_progress(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        let elapsed_ms = self.line.spent_ms_at(now);
        let (id, revision, level) = (self.id(), self.revision(), self.is_level());
        let Some(racing) = &mut self.racing else { return };
        let soon = racing.told_at.is_some_and(|told| now.since(told) < TELL_AFTER);
        if !level || soon || !std::mem::take(&mut racing.untold) {
            return;
        }
        racing.told_at = Some(now);
        let progress = peer::Progress {
            match_id: wire::id_bytes(id),
            presses: racing.board.presses(),
            lit: racing.board.lights().count(),
            elapsed_ms,
            revision,
        };
        cx.send(progress);
    }

    /// Performs the due step of a race: the own finished run enters the record or is shown, or a beaten run stops.
    pub(crate) fn race_check(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        if !self.is_race() || self.result().is_some() || self.record().paused || self.differs() {
            return self.unwatch(now);
        }
        let (mine, theirs) = (self.my_side(), self.their_side());
        if self.is_beaten(now) {
            return self.end_run(cx, None);
        }
        if self.run_of(mine).is_some() && !self.is_in_record(mine) && self.position().turn() == mine {
            let run = self.record().run.clone();
            self.enter_run(cx, run);
            return self.race_check(cx);
        }
        let (level, their_end) = (self.is_level(), self.run_of(theirs));
        let show = self.run_of(mine).is_some_and(|run| run.finished) && !self.is_in_record(mine);
        if let Some(racing) = &mut self.racing {
            match (level && their_end.is_none(), racing.watched_since) {
                (true, None) => racing.watched_since = Some(now),
                (false, Some(_)) => racing.unwatch(now),
                _ => {}
            }
            if show && level && !std::mem::replace(&mut racing.run_shown, true) {
                self.send_run(cx);
            }
        }
        self.tell_progress(cx);
    }

    /// When `race_check` is to be called again.
    pub(crate) fn next_race(&self, now: Instant) -> Option<Instant> {
        let goes_on = self.result().is_none() && !self.record().paused && self.is_level();
        let racing = self.racing.as_ref().filter(|_| goes_on)?;
        // No run takes longer than the maximum time.
        let best = self.time_to_beat().filter(|best| *best < LightsOutSetup::RACE_TENTHS);
        let beaten = best.map(|best| {
            let until = time_of(best) + Duration::from_millis(100);
            now + until.saturating_sub(self.line.spent_at(now))
        });
        let tell = racing.told_at.filter(|_| racing.untold).map(|told| (told + TELL_AFTER).max(now));
        [beaten, tell].into_iter().flatten().min()
    }
}

impl MatchState {
    /// Appends the actions of a legal run.
    fn push_run(&mut self, run: &[Action]) {
        for action in run {
            let mv = self.position().legal_move(*action).expect("the run was replayed");
            self.push(*action, mv, 0);
        }
        if let Some(MatchResult::Played(Outcome { .. })) = self.result() {
            self.line.forget_clock();
        }
    }
}
