//! Go's counting: once both have passed, the stones that the engine holds dead are marked at once for the person whose turn it is,
//! who changes what is wrong or agrees. Between two devices the one whose player has the turn proposes, and its marks go to the
//! other as that player's own would. Whoever marks a stone before the proposal is there marks alone, and so does a bot.

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
    /// Asks the engine which stones are dead where both have just passed and a person here has the turn; once for each position,
    /// however often its room changes.
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
            // When the actor has ended, so has the match.
            let _ = inbox.send(Message::DeadProposed((id, ply, revision), found.unwrap_or_default()));
        };
        match std::thread::Builder::new().name("counting".into()).spawn(work) {
            Ok(_) => self.rooms.get_mut(&id).expect("just seen").counted = at,
            Err(error) => warn!(%error, "no thread for a proposal of dead stones"),
        }
    }

    /// Marks a stone of each chain as the person whose turn it is would; nothing where something was done meanwhile.
    pub(crate) fn dead_proposed(&mut self, (id, ply, revision): About, stones: &[Point]) {
        let Some(room) = self.rooms.get(&id) else { return };
        if (room.ply(), room.record().revision) != (ply, revision) {
            return;
        }
        if self.waits_for_marks(room).is_none() {
            // Paused meanwhile: once that is over, it is asked again.
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

    /// Whether the last two actions are passes and a person here may mark the dead stones now.
    fn waits_for_marks(&self, room: &Room) -> Option<()> {
        let passed = room.record().actions.last_chunk::<2>() == Some(&[Action::Pass; 2]);
        let person =
            |side: Side| matches!(room.seat(side), Seat::Here | Seat::Guest(_)) && room.bot(side).is_none();
        let go = matches!(room.game(), AnyGame::Go(_));
        (go && passed && !room.record().paused && person(self.turn(room)?)).then_some(())
    }
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
