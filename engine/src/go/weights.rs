//! Parameters of the tree search of Go.

use super::playout::Odds;
use super::prior::Reasons;
use crate::parameters::{ParameterRef, Visit};

/// Parameters of the tree search (UCT with RAVE, or PUCT where the network leads). Found by self-play; see `EXPERIMENTS.md`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) odds: Odds,
    pub(super) reasons: Reasons,
    /// Visits after which a node is expanded.
    pub(super) expand: f32,
    /// RAVE: playouts at which a move's own results weigh as much as its all-moves-as-first results.
    pub(super) rave_equivalence: f32,
    /// How much less a move counts that came at the end of a playout than one at its beginning, 0 to 1.
    pub(super) fading: f32,
    /// How much more a move counts on a point that decides the game: so many times its criticality.
    pub(super) critical: f32,
    /// Part of a result that is by how many points it is won or lost.
    pub(super) points_part: f32,
    /// Exploration constant of UCT.
    pub(super) uct_constant: f32,
    /// Exploration constant of progressive bias, by the patterns' policy.
    pub(super) likely: f32,
    /// Inverse temperature of the patterns' policy: 0 is uniform, 1 as learnt.
    pub(super) sharpness: f32,
    /// Virtual wins of a move whose probability by the patterns' policy is 1; others get them times the root of theirs.
    pub(super) pattern_prior: f32,
    /// Progressive widening: moves considered at a node at first, the best by prior; more with the logarithm of its visits. On boards
    /// of more than 100 points.
    pub(super) width: f32,
    /// Whether the network leads the search or gives it advice, by the size of the board: 0 or 1.
    pub(super) network: u32,
    /// Weight of the value head at a leaf beside the playout's result, 0 to 1.
    pub(super) trust: f32,
    /// Exploration constant of PUCT.
    pub(super) explore: f32,
    /// First play urgency: reduction of an unvisited move's value below its parent's, times the root of the policy tried so far.
    pub(super) first_play_urgency: f32,
    /// Visits after which the network is asked about a node where playouts lead the search; 0: never.
    pub(super) advice: f32,
    /// Virtual wins that the network's policy then gives, as `pattern_prior`.
    pub(super) advised: f32,
    /// Points that White gets for each handicap stone at the beginning, none later.
    pub(super) handicap_bonus: f32,
}

impl Options {
    /// Shows every number with its name; see EXPERIMENTS.md.
    pub(super) fn each(&mut self, visit: Visit<'_>) {
        use ParameterRef::{Part, Single};
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
        visit("rave-equivalence", (1.0, 100_000.0), Single(&mut self.rave_equivalence));
        visit("points-part", (0.0, 1.0), Single(&mut self.points_part));
        visit("uct-constant", (0.0, 2.0), Single(&mut self.uct_constant));
        visit("likely", (0.0, 10.0), Single(&mut self.likely));
        visit("sharpness", (0.0, 4.0), Single(&mut self.sharpness));
        visit("pattern-prior", (0.0, 1000.0), Single(&mut self.pattern_prior));
        visit("width", (1.0, 400.0), Single(&mut self.width));
        visit("network", (0.0, 1.0), Part(&mut self.network));
        visit("trust", (0.0, 1.0), Single(&mut self.trust));
        visit("explore", (0.0, 10.0), Single(&mut self.explore));
        visit("first-play-urgency", (0.0, 1.0), Single(&mut self.first_play_urgency));
        visit("advice", (0.0, 10_000.0), Single(&mut self.advice));
        visit("advised", (0.0, 10_000.0), Single(&mut self.advised));
        visit("handicap-bonus", (0.0, 20.0), Single(&mut self.handicap_bonus));
        self.reasons.each(visit);
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            odds: Odds::default(),
            reasons: Reasons::default(),
            expand: 4.0,
            rave_equivalence: 2500.0,
            fading: 0.0,
            critical: 0.0,
            points_part: 0.04,
            uct_constant: 0.0,
            likely: 0.0,
            sharpness: 1.0,
            pattern_prior: 0.0,
            width: 24.0,
            network: 1,
            trust: 0.75,
            explore: 1.2,
            first_play_urgency: 0.2,
            advice: 40.0,
            advised: 100.0,
            handicap_bonus: 7.0,
        }
    }
}
