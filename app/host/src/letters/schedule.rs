//! When letters are written, as a machine without I/O: once for each state of a match that the friend is not known to have, and
//! again after days in which that has not changed. A receipt does not change it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use link::online::LetterStage;
use proto::control::LetterState;
use session::{MatchId, MatchState};

use crate::room::PlayerId;

/// Delay after the loss of a link or a change of a match before a letter is written: the link may return, or a bot may move.
const PATIENCE: Duration = Duration::from_secs(3);

/// A state that the friend is still not known to have is written again after this time: servers keep letters for weeks, but not all
/// do. A receipt is a server's word, and delays nothing.
const AGAIN: Duration = Duration::from_hours(72);

/// Delay after a letter that could not be sent, or was returned.
const AFTER_FAILURE: Duration = Duration::from_mins(2);

/// The present time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) now: Instant,
    /// Wall clock, which may be set. It measures the time since letters of earlier runs.
    pub(crate) unix_ms: i64,
}

/// What the schedule reads about a player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressee {
    pub(crate) key: PlayerId,
    pub(crate) is_friend: bool,
    /// A link is up, which carries what a letter would.
    pub(crate) is_linked: bool,
    /// After a failed write the session waits to be rebuilt from the journal.
    pub(crate) is_broken: bool,
    pub(crate) has_account: bool,
}

impl Addressee {
    fn is_written_to(&self) -> bool {
        self.is_friend && !self.is_linked && !self.is_broken && self.has_account
    }
}

/// A letter to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) to: PlayerId,
    pub(crate) id: MatchId,
    /// Identifies the state of the match in the letter.
    pub(crate) standing: String,
}

/// When [`LetterSchedule::check`] is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Time has passed: a due check is made, and no longer planned.
    Time,
    /// The host stops: a planned check is made before its time, because the device may be suspended right after a move.
    Stop,
}

/// The last letter about a match.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    standing: String,
    /// 0: no letter of this run.
    number: u64,
    stage: LetterState,
    /// Earliest time of the next letter with the same state.
    again: Instant,
}

impl Written {
    /// Reads [`kept`] of an earlier run.
    fn read(text: &str, clocks: Clocks) -> Option<Self> {
        let (at, standing) = text.split_once(' ')?;
        let ago = clocks.unix_ms.checked_sub(at.parse::<i64>().ok()?)?;
        let ago = Duration::from_millis(u64::try_from(ago).ok()?);
        let again = clocks.now + AGAIN.saturating_sub(ago);
        Some(Self { standing: standing.to_owned(), number: 0, stage: LetterState::AtServer, again })
    }
}

/// What is kept of a letter that has reached the server.
fn kept(unix_ms: i64, standing: &str) -> String {
    format!("{unix_ms} {standing}")
}

/// Identifies the state of a match in a letter: two states with equal values make the same letter.
pub(crate) fn standing(state: &MatchState) -> String {
    let record = state.record();
    format!("{} {} {:016x}", record.revision, u8::from(record.result.is_some()), record.digest())
}

/// The state to be told to a friend who is away: the friend may lack an action or the end. `is_open`: the match has a room. One
/// without a room is told only if it is over.
pub(crate) fn state_to_tell(state: &MatchState, is_open: bool) -> Option<(MatchId, String)> {
    let holds_all = state.seen_ply() == Some(state.ply());
    let is_over = state.record().result.is_some();
    let is_told = is_over || (is_open && !holds_all);
    is_told.then(|| (state.id(), standing(state)))
}

/// The letters of this run, and the time of the next ones.
#[derive(Default)]
pub(crate) struct LetterSchedule {
    /// Number of the last letter.
    last: u64,
    written: BTreeMap<MatchId, Written>,
    /// Next check for letters to write.
    check_at: Option<Instant>,
}

impl LetterSchedule {
    /// A link was lost, a match has changed, the account is signed in, or a friend can be written to again.
    pub(crate) fn on_change(&mut self, now: Instant) {
        self.check_by(now + PATIENCE);
    }

    fn check_by(&mut self, at: Instant) {
        self.check_at = Some(self.check_at.map_or(at, |planned| planned.min(at)));
    }

    /// When [`Self::check`] is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.check_at
    }

    /// The letters to be written now. `people`: all players with their [`state_to_tell`]s. `kept`: what [`Self::on_stage`] of an
    /// earlier run has given to be kept for a match.
    pub(crate) fn check<M: IntoIterator<Item = (MatchId, String)>>(
        &mut self,
        occasion: Occasion,
        clocks: Clocks,
        is_signed_in: bool,
        people: impl IntoIterator<Item = (Addressee, M)>,
        kept: impl Fn(MatchId) -> Option<String>,
    ) -> Vec<Draft> {
        let is_due = match occasion {
            Occasion::Time => self.check_at.take_if(|at| *at <= clocks.now).is_some(),
            Occasion::Stop => self.check_at.is_some(),
        };
        // While the account is signed out, nothing is written: signing in is a change.
        if !is_due || !is_signed_in {
            return Vec::new();
        }
        let mut drafts = Vec::new();
        for (addressee, matches) in people.into_iter().filter(|(addressee, _)| addressee.is_written_to()) {
            for (id, standing) in matches {
                if self.is_wanted(id, &standing, || kept(id), clocks) {
                    drafts.push(Draft { to: addressee.key, id, standing });
                }
            }
        }
        drafts
    }

    /// Whether a letter with this state of a match is to be written now; otherwise the check for it is planned.
    fn is_wanted(
        &mut self,
        id: MatchId,
        standing: &str,
        kept: impl FnOnce() -> Option<String>,
        clocks: Clocks,
    ) -> bool {
        let before = self.written.get(&id).cloned().or_else(|| Written::read(&kept()?, clocks));
        match before.filter(|before| before.standing == standing) {
            Some(before) if before.again > clocks.now => {
                self.check_by(before.again);
                false
            }
            _ => true,
        }
    }

    /// The number of a new letter.
    pub(crate) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A letter was handed over: a check is planned for when it is written again. `number`: `None` if it was too long for a letter;
    /// the record waits for a link.
    pub(crate) fn wrote(&mut self, draft: Draft, number: Option<u64>, now: Instant) {
        let Draft { id, standing, .. } = draft;
        let stage = number.map_or(LetterState::Unspecified, |_| LetterState::Waiting);
        let again = now + AGAIN;
        let written = Written { standing, number: number.unwrap_or(0), stage, again };
        self.written.insert(id, written);
        self.check_by(again);
    }

    /// Handles what has become of a letter. Returns its match, and what is to be kept for it; `None` if it is not the last letter
    /// about a match.
    pub(crate) fn on_stage(
        &mut self,
        number: u64,
        stage: LetterStage,
        clocks: Clocks,
    ) -> Option<(MatchId, Option<String>)> {
        let (id, written) = self.written.iter_mut().find(|(_, written)| written.number == number)?;
        match stage {
            LetterStage::AtServer if written.stage == LetterState::Delivered => {}
            LetterStage::AtServer => written.stage = LetterState::AtServer,
            LetterStage::Delivered => written.stage = LetterState::Delivered,
            LetterStage::Refused | LetterStage::Lost => {
                (written.stage, written.again) = (LetterState::Waiting, clocks.now + AFTER_FAILURE);
            }
        }
        let (id, again) = (*id, written.again);
        let keep = (stage == LetterStage::AtServer).then(|| kept(clocks.unix_ms, &written.standing));
        if matches!(stage, LetterStage::Refused | LetterStage::Lost) {
            self.check_by(again);
        }
        Some((id, keep))
    }

    /// What clients are shown of the last letter about a match. `standing`: the present state, if the match is known.
    pub(crate) fn shown(&self, id: MatchId, standing: Option<&str>) -> LetterState {
        match self.written.get(&id) {
            Some(written) if standing.is_none_or(|standing| standing == written.standing) => written.stage,
            // The last letter is older than the last move.
            Some(_) => LetterState::Waiting,
            None => LetterState::Unspecified,
        }
    }
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use engine::Side;
    use session::{MatchRecord, MatchResult};

    use super::super::fixture;
    use super::*;

    const MATCH: MatchId = MatchId([1; 16]);
    const OTHER: MatchId = MatchId([2; 16]);

    const BEN: Addressee = Addressee {
        key: PlayerId([2; 32]),
        is_friend: true,
        is_linked: false,
        is_broken: false,
        has_account: true,
    };

    fn at(now: Instant) -> Clocks {
        Clocks { now, unix_ms: 0 }
    }

    fn draft(standing: &str) -> Draft {
        Draft { to: BEN.key, id: MATCH, standing: standing.into() }
    }

    /// Whether a letter with this state is wanted.
    fn wants(letters: &mut LetterSchedule, standing: &str, now: Instant) -> bool {
        letters.is_wanted(MATCH, standing, || None, at(now))
    }

    /// Writes a letter with this state, if one is wanted; its number.
    fn write(letters: &mut LetterSchedule, standing: &str, now: Instant) -> Option<u64> {
        if !wants(letters, standing, now) {
            return None;
        }
        let number = letters.number();
        letters.wrote(draft(standing), Some(number), now);
        Some(number)
    }

    /// The letters to this player about one match, if a check is made on this occasion.
    fn check(letters: &mut LetterSchedule, occasion: Occasion, now: Instant, to: Addressee) -> Vec<Draft> {
        let people = [(to, [(MATCH, "a".to_owned())])];
        letters.check(occasion, at(now), true, people, |_| None)
    }

    #[test]
    fn a_change_is_written_after_a_while_and_several_at_the_first_ones_time() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert!(letters.due().is_none() && check(&mut letters, Occasion::Time, now, BEN).is_empty());
        letters.on_change(now);
        letters.on_change(now + PATIENCE / 2);
        assert_eq!(letters.due(), Some(now + PATIENCE));
        assert_eq!(check(&mut letters, Occasion::Time, now, BEN), []);
        assert_eq!(check(&mut letters, Occasion::Time, now + PATIENCE, BEN), [draft("a")]);
        assert_eq!(letters.due(), None);
        assert_eq!(check(&mut letters, Occasion::Time, now + PATIENCE, BEN), [], "once");
    }

    #[test]
    fn a_host_that_stops_writes_at_once_what_is_planned_and_only_that() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert_eq!(check(&mut letters, Occasion::Stop, now, BEN), []);
        letters.on_change(now);
        assert_eq!(check(&mut letters, Occasion::Stop, now, BEN), [draft("a")]);
    }

    #[test]
    fn a_letter_is_for_a_friend_with_an_account_who_is_away() {
        for other in [
            Addressee { is_friend: false, ..BEN },
            Addressee { is_linked: true, ..BEN },
            Addressee { is_broken: true, ..BEN },
            Addressee { has_account: false, ..BEN },
        ] {
            let (mut letters, now) = (LetterSchedule::default(), Instant::now());
            letters.on_change(now);
            assert_eq!(check(&mut letters, Occasion::Stop, now, other), [], "{other:?}");
            assert_eq!(check(&mut letters, Occasion::Stop, now, BEN), [draft("a")]);
        }
    }

    #[test]
    fn an_account_that_is_signed_out_writes_nothing_and_plans_nothing() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        letters.on_change(now);
        let people = [(BEN, [(MATCH, "a".to_owned())])];
        assert_eq!(letters.check(Occasion::Time, at(now + PATIENCE), false, people, |_| None), []);
        assert_eq!(letters.due(), None);
    }

    #[test]
    fn a_state_is_written_once_and_again_only_after_days() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert_eq!(write(&mut letters, "a", now), Some(1));
        assert_eq!(letters.due(), Some(now + AGAIN), "also if nothing changes");
        assert_eq!(write(&mut letters, "a", now + PATIENCE), None);
        assert_eq!(letters.due(), Some(now + AGAIN));
        assert_eq!(write(&mut letters, "b", now + PATIENCE), Some(2), "another state");
        assert_eq!(write(&mut letters, "b", now + AGAIN), None);
        assert_eq!(write(&mut letters, "b", now + PATIENCE + AGAIN), Some(3));
    }

    #[test]
    fn a_state_that_the_friend_is_not_known_to_have_is_written_again_and_again_also_after_receipts() {
        let (mut letters, mut now) = (LetterSchedule::default(), Instant::now());
        letters.on_change(now);
        now += PATIENCE;
        for number in 1..=3 {
            assert_eq!(letters.due(), Some(now));
            assert_eq!(check(&mut letters, Occasion::Time, now, BEN), [draft("a")]);
            assert_eq!(letters.number(), number);
            letters.wrote(draft("a"), Some(number), now);
            for stage in [LetterStage::AtServer, LetterStage::Delivered] {
                assert!(letters.on_stage(number, stage, at(now)).is_some());
            }
            now += AGAIN;
        }
    }

    #[test]
    fn a_letter_that_failed_is_written_again_soon() {
        for stage in [LetterStage::Refused, LetterStage::Lost] {
            let (mut letters, now) = (LetterSchedule::default(), Instant::now());
            let number = write(&mut letters, "a", now).expect("wanted");
            assert_eq!(letters.on_stage(number, stage, at(now)), Some((MATCH, None)));
            assert_eq!(letters.shown(MATCH, Some("a")), LetterState::Waiting);
            assert_eq!(letters.due(), Some(now + AFTER_FAILURE));
            assert_eq!(write(&mut letters, "a", now), None);
            assert!(write(&mut letters, "a", now + AFTER_FAILURE).is_some());
        }
    }

    #[test]
    fn what_has_reached_the_server_is_kept_and_holds_in_the_next_run() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        let number = write(&mut letters, "3 0 abc", now).expect("wanted");
        let (_, text) =
            letters.on_stage(number, LetterStage::AtServer, Clocks { now, unix_ms: 5_000 }).expect("ours");
        let text = text.expect("kept");
        let wants = |standing: &str, unix_ms: i64| {
            let mut next = LetterSchedule::default();
            next.is_wanted(MATCH, standing, || Some(text.clone()), Clocks { now, unix_ms })
        };
        let days = AGAIN.as_millis() as i64;
        assert!(!wants("3 0 abc", 5_000) && !wants("3 0 abc", 4_999 + days));
        assert!(wants("3 0 abc", 5_000 + days) && wants("4 0 abd", 5_000));
        assert!(wants("3 0 abc", 4_999), "the clock was set back: nobody knows when");
        for broken in ["", "x", "x y", "-9223372036854775808 3 0 abc"] {
            let mut next = LetterSchedule::default();
            let clocks = Clocks { now, unix_ms: 5_000 };
            assert!(next.is_wanted(MATCH, "3 0 abc", || Some(broken.into()), clocks), "{broken}");
        }
    }

    #[test]
    fn a_letter_that_was_delivered_stays_so_and_one_before_a_move_waits() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert_eq!(letters.shown(MATCH, None), LetterState::Unspecified);
        let number = write(&mut letters, "a", now).expect("wanted");
        assert_eq!(letters.shown(MATCH, Some("a")), LetterState::Waiting);
        for (stage, shown) in [
            (LetterStage::AtServer, LetterState::AtServer),
            (LetterStage::Delivered, LetterState::Delivered),
            (LetterStage::AtServer, LetterState::Delivered),
        ] {
            assert!(letters.on_stage(number, stage, at(now)).is_some());
            assert_eq!(letters.shown(MATCH, Some("a")), shown);
            assert_eq!(letters.shown(MATCH, None), shown, "of a match that is over");
            assert_eq!(letters.shown(MATCH, Some("b")), LetterState::Waiting, "since the last move");
        }
    }

    #[test]
    fn news_of_an_older_letter_say_nothing() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        let first = write(&mut letters, "a", now).expect("wanted");
        let second = write(&mut letters, "b", now).expect("wanted");
        assert_eq!(letters.on_stage(first, LetterStage::Lost, at(now)), None);
        assert_eq!(letters.on_stage(second + 1, LetterStage::Lost, at(now)), None);
        assert_eq!(letters.shown(OTHER, None), LetterState::Unspecified);
        assert!(letters.on_stage(second, LetterStage::Delivered, at(now)).is_some());
    }

    #[test]
    fn a_record_that_is_too_long_for_a_letter_waits_for_a_link() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert!(wants(&mut letters, "long", now));
        letters.wrote(draft("long"), None, now);
        assert_eq!(letters.shown(MATCH, Some("long")), LetterState::Unspecified);
        assert!(!wants(&mut letters, "long", now), "it is not tried at each check");
    }

    /// Asks about a match after so many actions.
    fn of_match<T>(actions: u16, change: impl Fn(&mut MatchRecord), ask: impl Fn(&MatchState) -> T) -> T {
        let session = fixture::session(MATCH, actions, change);
        ask(session.match_state(MATCH).expect("the match"))
    }

    #[test]
    fn a_letter_tells_states_apart_and_after_a_restart_nobody_is_known_to_have_one() {
        let unchanged = |_: &mut MatchRecord| {};
        let tells = |is_open| of_match(1, unchanged, |state| state_to_tell(state, is_open).is_some());
        assert!(tells(true) && !tells(false), "a match without a room waits");
        let over = |record: &mut MatchRecord| record.result = Some(MatchResult::Resigned(Side::First));
        assert!(of_match(1, over, |state| state_to_tell(state, false).is_some()), "its end does not");
        let states = [of_match(1, unchanged, standing), of_match(2, unchanged, standing)];
        assert_ne!(states[0], states[1]);
        assert_eq!(of_match(1, |record| record.spent_ms = 5, standing), states[0], "the clock is not told");
        assert_ne!(of_match(1, |record| record.revision = 1, standing), states[0]);
    }
}
