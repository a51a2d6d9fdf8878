//! Sessions for the tests about letters.

use engine::{Action, GameKind, Point, Side};
use session::{Config, MatchId, MatchRecord, Session};

/// A session with a match of gomoku after so many actions, as it is after a restart.
pub(super) fn session(id: MatchId, actions: u16, change: impl Fn(&mut MatchRecord)) -> Session {
    let mut record = MatchRecord::new(id, GameKind::Gomoku.default_setup(), Side::First);
    record.actions = (0..actions).map(|at| Action::Place(Point::new(at, 2 * (at % 2)))).collect();
    change(&mut record);
    Session::new(Config {
        versions: session::VERSIONS,
        name: "Anna".into(),
        advert_key: [1; 32],
        known: true,
        known_name_new_key: false,
        matches: vec![(record, false)],
        promised: Vec::new(),
        seed: [2; 32],
    })
}
