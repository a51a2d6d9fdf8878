//! Proposal of dead stones in Go. After two passes, the chains that the engine considers dead are marked for the user whose
//! turn it is, who corrects the marks or agrees. Between two devices the device of the side to move proposes; its marks are
//! sent as if its user had made them. There is no proposal once the user or a bot has marked a stone.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::go::{Fate, Go, GoBot};
use engine::{Action, AnyGame, Limits, Point, Side, Tier};
use session::MatchId;
use tracing::{debug, warn};

use crate::actor::{Actor, Message};
use crate::room::{Room, Seat};

/// Time limit of the proposal, and its number of playouts: the same as for a bot's own marks.
const TIME: Duration = Duration::from_secs(1);
const PLAYOUTS: u64 = 1_000;

/// The position of a proposal: match, ply and revision.
pub(crate) type About = (MatchId, u32, u32);

impl Actor {
    /// Asks the engine for dead stones after two passes, when it is the turn of a user of this device. At most once per
    /// position.
    pub(crate) fn propose_dead(&mut self, id: MatchId) {
        let Some(room) = self.rooms.get(&id) else { return };
        let at = self.waits_for_marks(room).map(|()| (room.ply(), room.record().revision));
        let (Some((ply, revision)), true) = (at, room.counted != at) else {
            self.rooms.get_mut(&id).expect("just seen").counted = at;
            return;
        };
        let AnyGame::Go(go) = room.game().clone() else { return };
        let (seed, inbox, time) = (self.chance.seed(), self.inbox.clone(), TIME.min(self.bot_time));
        let work = move || {
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dead(&go, seed, time)));
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::DeadProposed((id, ply, revision), found.unwrap_or_default()));
        };
        match std::thread::Builder::new().name("counting".into()).spawn(work) {
            Ok(_) => self.rooms.get_mut(&id).expect("just seen").counted = at,
            Err(error) => warn!(%error, "no thread for a proposal of dead stones"),
        }
    }

    /// Marks the proposed chains for the user whose turn it is, unless the position has changed.
    pub(crate) fn dead_proposed(&mut self, (id, ply, revision): About, stones: &[Point]) {
        let Some(room) = self.rooms.get(&id) else { return };
        if (room.ply(), room.record().revision) != (ply, revision) {
            return;
        }
        if self.waits_for_marks(room).is_none() {
            // Paused in the meantime: asked again after the pause.
            self.rooms.get_mut(&id).expect("just seen").counted = None;
            return;
        }
        for &stone in stones {
            if let Err(refusal) = self.play(id, Action::Toggle(stone)) {
                debug!(%id, detail = refusal.detail, "the dead stones could not be marked");
                return;
            }
        }
    }

    /// Whether the last two actions are passes, and a user of this device may mark dead stones now.
    fn waits_for_marks(&self, room: &Room) -> Option<()> {
        let passed = room.record().actions.last_chunk::<2>() == Some(&[Action::Pass; 2]);
        let person =
            |side: Side| matches!(room.seat(side), Seat::Here | Seat::Guest(_)) && room.bot(side).is_none();
        let go = matches!(room.game(), AnyGame::Go(_));
        (go && passed && !room.record().paused && person(self.turn(room)?)).then_some(())
    }
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
