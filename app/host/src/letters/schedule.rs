//! When letters are written, as a machine without I/O: once for each state of a match that the friend is not known to have, and
//! again after days without a sign of it.

use std::collections::BTreeMap;
use std::time::Duration;

use link::online::LetterStage;
use proto::control::LetterState;
use session::{MatchId, MatchState};
use tokio::time::Instant;

/// Delay after the loss of a link or a change of a match before a letter is written: the link may return, or a bot may move.
const PATIENCE: Duration = Duration::from_secs(3);

/// A letter without any response is written again after this time: servers keep letters for weeks, but not all do.
const AGAIN: Duration = Duration::from_hours(72);

/// Delay after a letter that could not be sent, or was returned.
const AFTER_FAILURE: Duration = Duration::from_mins(2);

/// The last letter about a match.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    /// Identifies the state of the match in the letter.
    standing: String,
    /// 0: no letter of this run.
    number: u64,
    stage: LetterState,
    /// Earliest time of the next letter with the same state.
    again: Instant,
}

impl Written {
    /// Reads [`kept`] of an earlier run.
    fn read(text: &str, now: Instant, unix_ms: i64) -> Option<Self> {
        let (at, standing) = text.split_once(' ')?;
        let ago = unix_ms.checked_sub(at.parse::<i64>().ok()?)?;
        let ago = Duration::from_millis(u64::try_from(ago).ok()?);
        let again = now + AGAIN.saturating_sub(ago);
        Some(Self { standing: standing.to_owned(), number: 0, stage: LetterState::AtServer, again })
    }
}

/// Identifies the state of a match in a letter: two states with equal values make the same letter.
pub(crate) fn standing(state: &MatchState) -> String {
    let record = state.record();
    format!("{} {} {:016x}", record.revision, u8::from(record.result.is_some()), record.digest())
}

/// Whether a friend who is away may lack something of a match: an action, or the end.
pub(crate) fn may_lack(state: &MatchState) -> bool {
    let holds_all = state.seen_ply() == Some(state.ply());
    !holds_all || state.record().result.is_some()
}

/// Whether nothing of a match came from the friend: once it is declined, it is deleted.
pub(crate) fn is_begun_here_only(state: &MatchState) -> bool {
    let mine = state.record().my_side;
    let nothing_heard = state.seen_ply().is_none() && state.record().revision == 0;
    nothing_heard && state.decided_by().all(|by| by == mine)
}

/// What is kept of a letter that has reached the server.
pub(crate) fn kept(unix_ms: i64, standing: &str) -> String {
    format!("{unix_ms} {standing}")
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
    /// A link was lost, or a match has changed.
    pub(crate) fn on_change(&mut self, now: Instant) {
        self.check_by(now + PATIENCE);
    }

    fn check_by(&mut self, at: Instant) {
        self.check_at = Some(self.check_at.map_or(at, |planned| planned.min(at)));
    }

    /// When to check for letters to write.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.check_at
    }

    /// Whether a check is due; it is then no longer planned.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        self.check_at.take_if(|at| *at <= now).is_some()
    }

    /// Whether a letter with this state of a match is to be written now; otherwise the check for it is planned. `kept` reads what
    /// an earlier run has [`kept`].
    pub(crate) fn is_wanted(
        &mut self,
        id: MatchId,
        standing: &str,
        kept: impl FnOnce() -> Option<String>,
        (now, unix_ms): (Instant, i64),
    ) -> bool {
        let before = self.written.get(&id).cloned().or_else(|| Written::read(&kept()?, now, unix_ms));
        match before.filter(|before| before.standing == standing) {
            Some(before) if before.again > now => {
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

    /// A letter with this state was handed over. `number`: `None` if it was too long for a letter; the record waits for a link.
    pub(crate) fn wrote(&mut self, id: MatchId, standing: String, number: Option<u64>, now: Instant) {
        let stage = number.map_or(LetterState::Unspecified, |_| LetterState::Waiting);
        let written = Written { standing, number: number.unwrap_or(0), stage, again: now + AGAIN };
        self.written.insert(id, written);
    }

    /// Handles what has become of a letter. Returns its match, and the state that is to be kept as written; `None` if it is not
    /// the last letter about a match.
    pub(crate) fn on_stage(
        &mut self,
        number: u64,
        stage: LetterStage,
        now: Instant,
    ) -> Option<(MatchId, Option<String>)> {
        let (id, written) = self.written.iter_mut().find(|(_, written)| written.number == number)?;
        match stage {
            LetterStage::AtServer if written.stage == LetterState::Delivered => {}
            LetterStage::AtServer => written.stage = LetterState::AtServer,
            LetterStage::Delivered => written.stage = LetterState::Delivered,
            LetterStage::Refused | LetterStage::Lost => {
                (written.stage, written.again) = (LetterState::Waiting, now + AFTER_FAILURE);
            }
        }
        let (id, again) = (*id, written.again);
        let keep = (stage == LetterStage::AtServer).then(|| written.standing.clone());
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
mod tests {
    use engine::{Action, GameKind, Point, Side};
    use session::{Config, MatchRecord, Session};

    use super::*;

    const MATCH: MatchId = MatchId([1; 16]);
    const OTHER: MatchId = MatchId([2; 16]);

    fn never() -> Option<String> {
        None
    }

    /// Writes a letter with this state, if one is wanted; its number.
    fn write(letters: &mut LetterSchedule, standing: &str, now: Instant) -> Option<u64> {
        if !letters.is_wanted(MATCH, standing, never, (now, 0)) {
            return None;
        }
        let number = letters.number();
        letters.wrote(MATCH, standing.into(), Some(number), now);
        Some(number)
    }

    #[test]
    fn a_change_is_written_after_a_while_and_several_at_the_first_ones_time() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert!(letters.due().is_none() && !letters.take_due(now));
        letters.on_change(now);
        letters.on_change(now + PATIENCE / 2);
        assert_eq!(letters.due(), Some(now + PATIENCE));
        assert!(!letters.take_due(now) && letters.take_due(now + PATIENCE));
        assert!(letters.due().is_none() && !letters.take_due(now + PATIENCE), "once");
    }

    #[test]
    fn a_state_is_written_once_and_again_only_after_days() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert_eq!(write(&mut letters, "a", now), Some(1));
        assert_eq!(write(&mut letters, "a", now + PATIENCE), None);
        assert_eq!(letters.due(), Some(now + AGAIN), "the check is planned");
        assert_eq!(write(&mut letters, "b", now + PATIENCE), Some(2), "another state");
        assert_eq!(write(&mut letters, "b", now + AGAIN), None);
        assert_eq!(write(&mut letters, "b", now + PATIENCE + AGAIN), Some(3));
    }

    #[test]
    fn a_letter_that_failed_is_written_again_soon() {
        for stage in [LetterStage::Refused, LetterStage::Lost] {
            let (mut letters, now) = (LetterSchedule::default(), Instant::now());
            let number = write(&mut letters, "a", now).expect("wanted");
            assert_eq!(letters.on_stage(number, stage, now), Some((MATCH, None)));
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
        let (_, standing) = letters.on_stage(number, LetterStage::AtServer, now).expect("ours");
        let text = kept(5_000, &standing.expect("kept"));
        let wants = |standing: &str, unix_ms: i64| {
            let mut next = LetterSchedule::default();
            next.is_wanted(MATCH, standing, || Some(text.clone()), (now, unix_ms))
        };
        let days = AGAIN.as_millis() as i64;
        assert!(!wants("3 0 abc", 5_000) && !wants("3 0 abc", 4_999 + days));
        assert!(wants("3 0 abc", 5_000 + days) && wants("4 0 abd", 5_000));
        assert!(wants("3 0 abc", 4_999), "the clock was set back: nobody knows when");
        for broken in ["", "x", "x y", "-9223372036854775808 3 0 abc"] {
            let mut next = LetterSchedule::default();
            assert!(next.is_wanted(MATCH, "3 0 abc", || Some(broken.into()), (now, 5_000)), "{broken}");
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
            assert!(letters.on_stage(number, stage, now).is_some());
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
        assert_eq!(letters.on_stage(first, LetterStage::Lost, now), None);
        assert_eq!(letters.on_stage(second + 1, LetterStage::Lost, now), None);
        assert_eq!(letters.shown(OTHER, None), LetterState::Unspecified);
        assert!(letters.on_stage(second, LetterStage::Delivered, now).is_some());
    }

    #[test]
    fn a_record_that_is_too_long_for_a_letter_waits_for_a_link() {
        let (mut letters, now) = (LetterSchedule::default(), Instant::now());
        assert!(letters.is_wanted(MATCH, "long", never, (now, 0)));
        letters.wrote(MATCH, "long".into(), None, now);
        assert_eq!(letters.shown(MATCH, Some("long")), LetterState::Unspecified);
        assert!(!letters.is_wanted(MATCH, "long", never, (now, 0)), "it is not tried at each check");
    }

    /// Asks about a match of gomoku after so many actions, as a session has it after a restart.
    fn of_match<T>(actions: u16, change: impl Fn(&mut MatchRecord), ask: impl Fn(&MatchState) -> T) -> T {
        let mut record = MatchRecord::new(MATCH, GameKind::Gomoku.default_setup(), Side::First);
        record.actions = (0..actions).map(|at| Action::Place(Point::new(at, 2 * (at % 2)))).collect();
        change(&mut record);
        let session = Session::new(Config {
            name: "Anna".into(),
            advert_key: [1; 32],
            known: true,
            known_name_new_key: false,
            matches: vec![(record, false)],
            promised: Vec::new(),
            seed: [2; 32],
        });
        ask(session.match_state(MATCH).expect("the match"))
    }

    #[test]
    fn only_a_match_of_which_nothing_was_heard_is_deleted_when_it_is_declined() {
        let unchanged = |_: &mut MatchRecord| {};
        assert!(of_match(0, unchanged, is_begun_here_only));
        assert!(of_match(1, unchanged, is_begun_here_only), "the own first move");
        assert!(!of_match(2, unchanged, is_begun_here_only), "the friend has moved");
        assert!(
            !of_match(1, |record| record.revision = 1, is_begun_here_only),
            "they have agreed on something"
        );
        assert!(!of_match(1, |record| record.my_side = Side::Second, is_begun_here_only));
    }

    #[test]
    fn a_letter_tells_states_apart_and_after_a_restart_nobody_is_known_to_have_one() {
        let unchanged = |_: &mut MatchRecord| {};
        assert!(of_match(1, unchanged, may_lack));
        let states = [of_match(1, unchanged, standing), of_match(2, unchanged, standing)];
        assert_ne!(states[0], states[1]);
        assert_eq!(of_match(1, |record| record.spent_ms = 5, standing), states[0], "the clock is not told");
        assert_ne!(of_match(1, |record| record.revision = 1, standing), states[0]);
    }
}
