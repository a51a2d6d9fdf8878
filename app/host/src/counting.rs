//! Proposal of dead stones in Go. After two passes, the chains that the engine considers dead are marked for the user whose
//! turn it is, who corrects the marks or agrees. Between two devices the device of the side to move proposes; its marks are
//! sent as if its user had made them. There is no proposal once the user or a bot has marked a stone.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::go::{Fate, Go, GoBot};
use engine::{Action, AnyGame, Limits, Point, Side, Tier};
use session::MatchId;

use crate::room::{Room, Seat};

/// Time limit of the proposal, and its number of playouts: the same as for a bot's own marks.
const TIME: Duration = Duration::from_secs(1);
const PLAYOUTS: u64 = 1_000;

/// The position of a proposal: match, ply and revision.
pub(crate) type About = (MatchId, u32, u32);

/// For which position of a room the engine was last asked, as ply and revision.
#[derive(Default)]
pub(crate) struct Proposal {
    asked: Option<(u32, u32)>,
}

impl Proposal {
    /// Whether the engine is to be asked now: at most once per position. `at`: the position, if it waits for marks.
    pub(crate) fn is_due(&mut self, at: Option<(u32, u32)>) -> bool {
        let is_due = at.is_some() && self.asked != at;
        if !is_due {
            self.asked = at;
        }
        is_due
    }

    /// The engine is being asked about this position.
    pub(crate) fn begun(&mut self, at: (u32, u32)) {
        self.asked = Some(at);
    }

    /// The proposal came while the match was paused: asked again after the pause.
    pub(crate) fn missed(&mut self) {
        self.asked = None;
    }
}

/// The position as ply and revision, if the last two actions are passes and a user of this device may mark dead stones now.
/// `turn`: the side that may act now.
pub(crate) fn waits_for_marks(room: &Room, turn: Option<Side>) -> Option<(u32, u32)> {
    let passed = room.record().actions.last_chunk::<2>() == Some(&[Action::Pass; 2]);
    let is_person =
        |side: Side| matches!(room.seat(side), Seat::Here | Seat::Guest(_)) && room.bot(side).is_none();
    let is_go = matches!(room.game(), AnyGame::Go(_));
    let waits = is_go && passed && !room.record().paused && is_person(turn?);
    waits.then(|| (room.ply(), room.record().revision))
}

/// Asks the engine on a thread of its own; `tell` gets one stone of each chain that it considers dead.
pub(crate) fn ask(
    go: Go,
    seed: u64,
    most: Duration,
    tell: impl FnOnce(Vec<Point>) + Send + 'static,
) -> std::io::Result<()> {
    let work = move || {
        let (go, time) = (std::panic::AssertUnwindSafe(&go), TIME.min(most));
        let found = std::panic::catch_unwind(|| dead(*go, seed, time));
        tell(found.unwrap_or_default());
    };
    std::thread::Builder::new().name("counting".into()).spawn(work).map(drop)
}

/// One stone of each chain that the engine considers dead.
fn dead(go: &Go, seed: u64, time: Duration) -> Vec<Point> {
    let began = Instant::now();
    let (stop, elapsed) = (AtomicBool::new(false), || began.elapsed());
    let limits =
        Limits { time: Some(time), nodes: Some(PLAYOUTS), depth: None, stop: &stop, elapsed: &elapsed };
    let status = GoBot::new(Tier::MAX, seed).status(go, &limits);
    let dead = status.chains.iter().filter(|chain| chain.fate == Fate::Dead);
    dead.filter_map(|chain| chain.stones.first().copied()).collect()
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Level};
    use session::MatchRecord;

    use super::*;

    fn room(kind: GameKind, actions: &[Action], seats: [Seat; 2]) -> Room {
        let mut record = MatchRecord::new(MatchId([1; 16]), kind.default_setup(), Side::First);
        record.actions = actions.to_vec();
        Room::new(record, seats).expect("a room")
    }

    const PASSES: [Action; 2] = [Action::Pass; 2];

    #[test]
    fn the_engine_is_asked_once_per_position() {
        let mut proposal = Proposal::default();
        assert!(!proposal.is_due(None), "nobody marks stones");
        assert!(proposal.is_due(Some((2, 0))));
        assert!(proposal.is_due(Some((2, 0))), "no thread could be started");
        proposal.begun((2, 0));
        assert!(!proposal.is_due(Some((2, 0))));
        assert!(proposal.is_due(Some((2, 1))), "after a take-back and two passes more");
        proposal.begun((2, 1));
        proposal.missed();
        assert!(proposal.is_due(Some((2, 1))), "after the pause");
        proposal.begun((2, 1));
        assert!(!proposal.is_due(None));
        assert!(proposal.is_due(Some((2, 1))), "the position waits for marks anew");
    }

    #[test]
    fn stones_are_proposed_after_two_passes_to_the_person_whose_turn_it_is() {
        let turn = Some(Side::First);
        let here = room(GameKind::Go, &PASSES, Seat::BOTH_HERE);
        assert_eq!(waits_for_marks(&here, turn), Some((2, 0)));
        assert_eq!(waits_for_marks(&here, None), None, "nobody may act");
        assert_eq!(waits_for_marks(&room(GameKind::Go, &PASSES[..1], Seat::BOTH_HERE), turn), None);
        assert_eq!(waits_for_marks(&room(GameKind::Gomoku, &[], Seat::BOTH_HERE), turn), None);
        let bot = [Seat::Bot(Level::MIN), Seat::Here];
        assert_eq!(waits_for_marks(&room(GameKind::Go, &PASSES, bot.clone()), turn), None);
        assert_eq!(waits_for_marks(&room(GameKind::Go, &PASSES, bot), Some(Side::Second)), Some((2, 0)));
        let guest = [Seat::Guest("Ann".into()), Seat::Here];
        assert_eq!(waits_for_marks(&room(GameKind::Go, &PASSES, guest), turn), Some((2, 0)));
        let mut helped = room(GameKind::Go, &PASSES, Seat::BOTH_HERE);
        helped.assists[0] = Some(Level::MIN);
        assert_eq!(waits_for_marks(&helped, turn), None, "a bot plays for the person");
    }

    #[test]
    fn no_mark_is_proposed_while_the_match_is_paused() {
        let mut record = MatchRecord::new(MatchId([1; 16]), GameKind::Go.default_setup(), Side::First);
        (record.actions, record.paused) = (PASSES.to_vec(), true);
        let paused = Room::new(record, Seat::BOTH_HERE).expect("a room");
        assert_eq!(waits_for_marks(&paused, Some(Side::First)), None);
    }

    #[test]
    fn an_engine_that_is_asked_answers_once() {
        let AnyGame::Go(go) = room(GameKind::Go, &PASSES, Seat::BOTH_HERE).game().clone() else {
            panic!("a game of Go");
        };
        let (tell, told) = std::sync::mpsc::channel();
        ask(go, 1, Duration::from_millis(10), move |dead| tell.send(dead).expect("heard")).expect("a thread");
        assert_eq!(told.iter().collect::<Vec<_>>(), [Vec::new()], "no stone is on the board");
    }
}
