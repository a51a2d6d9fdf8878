//! The numbers that the search goes by.

use super::playout::Odds;
use super::prior::Reasons;
use crate::numbers::{Place, Visit};

/// What the search goes by. The numbers were found by self-play; see `EXPERIMENTS.md`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) odds: Odds,
    pub(super) reasons: Reasons,
    /// Visits after which a node gets children.
    pub(super) expand: f32,
    /// Playouts at which a move's own results count as much as those in which it came later.
    pub(super) equivalence: f32,
    /// How much less a move counts that came at the end of a playout than one at its beginning, 0 to 1.
    pub(super) fading: f32,
    /// How much more a move counts on a point that decides the game: so many times its criticality.
    pub(super) critical: f32,
    /// Part of a result that is by how many points it is won or lost.
    pub(super) points_part: f32,
    /// Bonus for what was tried little, as in UCT.
    pub(super) curiosity: f32,
    /// Bonus for what is likely by its features and was tried little.
    pub(super) likely: f32,
    /// How much features decide what is likely: 0 makes all moves alike, 1 is as they were learned.
    pub(super) sharpness: f32,
    /// Playouts won that a move gets beforehand if it is the only likely one; others get the root of their part.
    pub(super) expected: f32,
    /// Moves considered at a node at first, the best by prior; more with the logarithm of its visits. On boards of more than 100
    /// points.
    pub(super) width: f32,
    /// Whether the network leads the search or gives it advice, by the size of the board: 0 or 1.
    pub(super) network: u32,
    /// How much the network's chance counts at a leaf beside the playout's result, 0 to 1.
    pub(super) trust: f32,
    /// How much a move that the network thinks likely is tried beside one that has done well.
    pub(super) explore: f32,
    /// How much worse than its parent a move is thought before it is tried, once all likely ones have been.
    pub(super) unseen: f32,
    /// Visits after which the network is asked about a node where playouts lead the search; 0: never.
    pub(super) advice: f32,
    /// Playouts won that a move gets then if it is the only likely one; others get the root of their part.
    pub(super) advised: f32,
    /// Points that White gets for each handicap stone at the beginning, none later.
    pub(super) evening: f32,
}

impl Options {
    /// Shows every number with its name; see EXPERIMENTS.md.
    pub(super) fn each(&mut self, visit: Visit<'_>) {
        use Place::{Part, Single};
        let odds = &mut self.odds;
        visit("atari", (0.0, 256.0), Part(&mut odds.atari));
        visit("two", (0.0, 256.0), Part(&mut odds.two));
        visit("nakade", (0.0, 256.0), Part(&mut odds.nakade));
        visit("pattern", (0.0, 256.0), Part(&mut odds.pattern));
        visit("self-atari", (0.0, 256.0), Part(&mut odds.self_atari));
        visit("away", (0.0, 100_000.0), Part(&mut odds.away));
        visit("take", (0.0, 256.0), Part(&mut odds.take));
        visit("reply", (0.0, 256.0), Part(&mut odds.reply));
        visit("killing", (0.0, 256.0), Part(&mut odds.killing));
        visit("race", (0.0, 256.0), Part(&mut odds.race));
        visit("fading", (0.0, 1.0), Single(&mut self.fading));
        visit("critical", (0.0, 20.0), Single(&mut self.critical));
        visit("expand", (1.0, 100.0), Single(&mut self.expand));
        visit("equivalence", (1.0, 100_000.0), Single(&mut self.equivalence));
        visit("points-part", (0.0, 1.0), Single(&mut self.points_part));
        visit("curiosity", (0.0, 2.0), Single(&mut self.curiosity));
        visit("likely", (0.0, 10.0), Single(&mut self.likely));
        visit("sharpness", (0.0, 4.0), Single(&mut self.sharpness));
        visit("expected", (0.0, 1000.0), Single(&mut self.expected));
        visit("width", (1.0, 400.0), Single(&mut self.width));
        visit("network", (0.0, 1.0), Part(&mut self.network));
        visit("trust", (0.0, 1.0), Single(&mut self.trust));
        visit("explore", (0.0, 10.0), Single(&mut self.explore));
        visit("unseen", (0.0, 1.0), Single(&mut self.unseen));
        visit("advice", (0.0, 10_000.0), Single(&mut self.advice));
        visit("advised", (0.0, 10_000.0), Single(&mut self.advised));
        visit("evening", (0.0, 20.0), Single(&mut self.evening));
        self.reasons.each(visit);
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            odds: Odds::default(),
            reasons: Reasons::default(),
            expand: 4.0,
            equivalence: 2500.0,
            fading: 0.0,
            critical: 0.0,
            points_part: 0.04,
            curiosity: 0.0,
            likely: 0.0,
            sharpness: 1.0,
            expected: 0.0,
            width: 24.0,
            network: 1,
            trust: 0.75,
            explore: 1.2,
            unseen: 0.2,
            advice: 40.0,
            advised: 100.0,
            evening: 7.0,
        }
    }
}
