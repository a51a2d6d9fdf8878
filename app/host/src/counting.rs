//! Proposal of dead stones in Go. After two passes, the chains that the engine considers dead are marked for the user whose
//! turn it is, who corrects the marks or agrees. Between two devices the device of the side to move proposes; its marks are
//! sent as if its user had made them. There is no proposal once the user or a bot has marked a stone.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::go::{Fate, Go, GoBot};
use engine::{Limits, Point, Tier};
use session::MatchId;

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
    /// Whether the engine is to be asked now: at most once per position. `at`: the position, if it waits for marks of a person
    /// here.
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
    use engine::{AnyGame, GameKind};

    use super::*;

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
    fn an_engine_that_is_asked_answers_once() {
        let Ok(AnyGame::Go(go)) = AnyGame::new(&GameKind::Go.default_setup()) else {
            panic!("a game of Go");
        };
        let (tell, told) = std::sync::mpsc::channel();
        ask(go, 1, Duration::from_millis(10), move |dead| tell.send(dead).expect("heard")).expect("a thread");
        assert_eq!(told.iter().collect::<Vec<_>>(), [Vec::new()], "no stone is on the board");
    }
}
