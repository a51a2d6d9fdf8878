//! When spectators see what has changed in a room.

use std::collections::BTreeMap;
use std::time::Duration;

use guest::ConnectionId;
use session::MatchId;
use tokio::time::Instant;

/// How much later than the players spectators see a move. Writing the room down and sending it to 32 pages takes a slow device tens of
/// milliseconds: by then the move has gone to the other player and come back acknowledged (two Bluetooth connection intervals of
/// 30 ms), and a move that follows soon is shown with it.
const DELAY: Duration = Duration::from_millis(300);

/// Rooms that have changed since their spectators saw them.
#[derive(Default)]
pub(super) struct Spectators {
    due: BTreeMap<MatchId, Instant>,
}

impl Spectators {
    pub(super) fn room_changed(&mut self, id: MatchId, now: Instant) {
        self.due.entry(id).or_insert(now + DELAY);
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.due.values().min().copied()
    }

    /// The rooms to be shown now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<MatchId> {
        self.due.extract_if(.., |_, at| *at <= now).map(|(id, _)| id).collect()
    }

    /// All rooms that have changed, because no page is left afterwards.
    pub(super) fn take_all(&mut self) -> Vec<MatchId> {
        std::mem::take(&mut self.due).into_keys().collect()
    }

    /// Whether this room has changed; it counts as seen from now on.
    pub(super) fn take(&mut self, id: MatchId) -> bool {
        self.due.remove(&id).is_some()
    }
}

/// Pages take turns, so that the players' own messages never wait for all of them.
pub(super) fn turn(connection: ConnectionId) -> Duration {
    Duration::from_millis(20 * (connection % 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_follow_each_other_are_seen_together_and_not_later_for_it() {
        let [first, other] = [MatchId([1; 16]), MatchId([2; 16])];
        let begun = Instant::now();
        let mut spectators = Spectators::default();
        assert_eq!(spectators.deadline(), None);
        spectators.room_changed(first, begun);
        spectators.room_changed(first, begun + DELAY / 2);
        spectators.room_changed(other, begun + DELAY / 2);
        assert_eq!(spectators.deadline(), Some(begun + DELAY));
        assert!(spectators.take_due(begun + DELAY / 2).is_empty());
        assert_eq!(spectators.take_due(begun + DELAY), [first]);
        assert_eq!(spectators.deadline(), Some(begun + DELAY / 2 + DELAY));
        spectators.room_changed(first, begun + DELAY);
        assert!(spectators.take(first));
        assert!(!spectators.take(first), "nobody sees it twice");
        assert_eq!(spectators.take_all(), [other]);
        assert_eq!(spectators.deadline(), None);
    }
}
