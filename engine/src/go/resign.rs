//! Resignation.

use super::Go;
use crate::{Game, Report, Score, Side};

/// Decides whether a side's game is lost beyond doubt; it must be shown each of the side's decisions in order.
///
/// A winning chance alone is unreliable: early on large boards playouts exaggerate small leads, White is behind for long in
/// handicap games, and low levels search little. So it requires three such decisions in a row, a large lead of the other
/// side, and an advanced game.
#[derive(Clone, Debug)]
pub struct Resigning {
    /// Winning chance below which a decision is hopeless, 0 to 1.
    below: f32,
    /// Number of successive hopeless decisions.
    hopeless: u32,
}

/// Required number of successive hopeless decisions.
const IN_A_ROW: u32 = 3;
/// Minimum number of playouts for a reliable chance.
const PLAYOUTS: u64 = 64;

impl Resigning {
    /// With this threshold of the winning chance, 0 to 1; 0 never resigns.
    pub const fn new(below: f32) -> Self {
        Self { below, hopeless: 0 }
    }

    /// Resets it for another game.
    pub const fn forget(&mut self) {
        self.hopeless = 0;
    }

    /// Records a decision of the side to move, before it is played; returns whether to resign instead.
    pub fn sees(&mut self, go: &Go, decision: &Report) -> bool {
        let Score::Chance { permille, points } = decision.score else { return false };
        let board = f32::from(go.setup().size).powi(2);
        // A third of the points must be played, or half for the side that gives a handicap.
        let gave = go.turn() == Side::Second && go.setup().handicap.stones() > 0;
        let early = (go.ply() as f32) < board / if gave { 2.0 } else { 3.0 };
        // 8 points on 9 x 9, 19 on 19 x 19: more than endgame mistakes can recover.
        let behind = -(points as f32) / 100.0 >= 5.0 + board / 25.0;
        let lost = f32::from(permille) / 1000.0 < self.below && behind;
        if early || !lost {
            self.hopeless = 0;
        } else if decision.nodes >= PLAYOUTS {
            self.hopeless += 1;
        }
        self.hopeless >= IN_A_ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::{GoSetup, Handicap};
    use crate::{Action, Point};

    fn decision(permille: u16, lead: i32, playouts: u64) -> Report {
        let score = Score::Chance { permille, points: lead * 100 };
        Report { line: vec![Action::Pass], score, depth: 1, nodes: playouts }
    }

    /// A position after this many plies without a capture: a chequered board, where stones of one colour are never adjacent.
    fn after(setup: &GoSetup, plies: u32) -> Go {
        let mut go = Go::new(setup).expect("the setup is valid");
        let size = u16::from(setup.size);
        let mut points =
            (0..size).flat_map(|row| (0..size).map(move |column| Point::new(column, row))).skip(1).step_by(2);
        while go.ply() < plies {
            let action = points.next().map_or(Action::Pass, Action::Place);
            let mv = go.legal_move(action).expect("nothing is in its way");
            go.play(mv);
        }
        go
    }

    #[test]
    fn three_hopeless_decisions_in_a_row_are_enough_late_and_never_early() {
        let setup = GoSetup::default();
        let (early, late) = (after(&setup, 100), after(&setup, 130));
        let lost = decision(10, -40, 5_000);
        let mut resigning = Resigning::new(0.04);
        assert!((0..10).all(|_| !resigning.sees(&early, &lost)));
        assert_eq!([(); 3].map(|()| resigning.sees(&late, &lost)), [false, false, true]);
    }

    #[test]
    fn a_close_count_a_chance_or_a_short_look_is_played_on() {
        let late = after(&GoSetup::default(), 130);
        for (what, decision) in [
            ("close", decision(10, -6, 5_000)),
            ("a chance", decision(60, -40, 5_000)),
            ("hardly looked", decision(0, -40, 32)),
        ] {
            let mut resigning = Resigning::new(0.04);
            assert!((0..10).all(|_| !resigning.sees(&late, &decision)), "{what}");
        }
        let mut never = Resigning::new(0.0);
        assert!((0..10).all(|_| !never.sees(&late, &decision(0, -100, 5_000))));
    }

    #[test]
    fn who_gave_a_handicap_waits_longer() {
        let setup = GoSetup { handicap: Handicap::Stars(9), ..GoSetup::default() };
        let go = after(&setup, 140);
        let white = go.turn() == Side::Second;
        let mut resigning = Resigning::new(0.04);
        let resigns = (0..3).any(|_| resigning.sees(&go, &decision(10, -40, 5_000)));
        assert_eq!(resigns, !white);
        assert!(white);
    }
}
