//! Go's counting: once both have passed, the stones that the engine holds dead are marked at once for the person whose turn it is,
//! who changes what is wrong or agrees. A bot marks for itself, and so do two people on two devices: each sees what the other
//! touches, which a proposal in between would undo.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::go::{Fate, Go, GoBot};
use engine::{Action, AnyGame, Level, Limits, Point, Side};
use session::MatchId;
use tracing::{debug, warn};

use crate::actor::{Actor, Message};
use crate::room::{Room, Seat};

/// Time for the proposal, and playouts: as many as a bot takes for its own marks.
const TIME: Duration = Duration::from_secs(1);
const PLAYOUTS: u64 = 1_000;

/// For which position a proposal is.
pub(crate) type About = (MatchId, u32, u32);

impl Actor {
    /// Asks the engine which stones are dead where both have just passed and a person here has the turn.
    pub(crate) fn propose_dead(&mut self, id: MatchId) {
        let Some(go) = self.rooms.get(&id).and_then(waits_for_marks) else { return };
        let room = &self.rooms[&id];
        let about = (id, room.ply(), room.record().revision);
        let (go, seed, inbox) = (go.clone(), self.chance.seed(), self.inbox.clone());
        let time = TIME.min(self.bot_time);
        let work = move || {
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dead(&go, seed, time)));
            // When the actor has ended, so has the match.
            let _ = inbox.send(Message::DeadProposed(about, found.unwrap_or_default()));
        };
        if let Err(error) = std::thread::Builder::new().name("counting".into()).spawn(work) {
            warn!(%error, "no thread for a proposal of dead stones");
        }
    }

    /// Marks a stone of each chain as the person whose turn it is would; nothing where something was done meanwhile.
    pub(crate) fn dead_proposed(&mut self, (id, ply, revision): About, stones: &[Point]) {
        let Some(room) = self.rooms.get(&id) else { return };
        if (room.ply(), room.record().revision) != (ply, revision) || waits_for_marks(room).is_none() {
            return;
        }
        for &stone in stones {
            if let Err(refusal) = self.play(id, Action::Toggle(stone)) {
                debug!(%id, detail = refusal.detail, "the dead stones could not be marked");
                return;
            }
        }
    }
}

/// The position, where the last two actions are passes and a person here is to mark the dead stones.
fn waits_for_marks(room: &Room) -> Option<&Go> {
    let AnyGame::Go(go) = room.game() else { return None };
    let passed = room.record().actions.last_chunk::<2>() == Some(&[Action::Pass; 2]);
    let person = |side: Side| room.seat(side) == Seat::Here && room.bot(side).is_none();
    let turn = room.turn()?;
    (passed && !room.record().paused && room.peer().is_none() && person(turn)).then_some(go)
}

/// One stone of each chain that the engine holds dead.
fn dead(go: &Go, seed: u64, time: Duration) -> Vec<Point> {
    let began = Instant::now();
    let (stop, elapsed) = (AtomicBool::new(false), || began.elapsed());
    let limits =
        Limits { time: Some(time), nodes: Some(PLAYOUTS), depth: None, stop: &stop, elapsed: &elapsed };
    let status = GoBot::new(Level::MAX, seed).status(go, &limits);
    let dead = status.chains.iter().filter(|chain| chain.fate == Fate::Dead);
    dead.filter_map(|chain| chain.stones.first().copied()).collect()
}
