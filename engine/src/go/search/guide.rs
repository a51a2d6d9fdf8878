//! Search led by the network (PUCT).
//!
//! A leaf is expanded at its first visit with the network's policy as priors; its value combines the network's winning
//! chance with the result of a playout. Children are selected by PUCT as in D. Silver et al., "Mastering the game of Go
//! without human knowledge" (2017).

use super::{Player, Search, Terms, trail};
use crate::Game as _;
use crate::go::Go;
use crate::go::net::{GlobalInputs, InputPlanes, Network, Scratch, facts};
use crate::go::prior::Prior;
use crate::go::stones::{BLACK, EMPTY, PASS, Stones, Vertex, colour, other};
use crate::go::tree::{Node, Tree};

/// The network with its weight in the search.
#[derive(Clone, Copy)]
pub(in super::super) struct Guide {
    network: &'static Network,
    /// Weight of the network's value against a playout's result, 0 to 1.
    pub(in super::super) trust: f32,
    explore: f32,
    first_play_urgency: f32,
    /// Handicap bonus of White, in half points.
    evened: i32,
}

impl Guide {
    /// Board sizes where the network leads: on larger ones its quality does not justify the cost of evaluating every leaf,
    /// and it only gives advice (EXPERIMENTS.md).
    pub(in crate::go) const SIZES: std::ops::RangeInclusive<u8> = 7..=9;

    /// The child with the highest PUCT value.
    pub(in super::super) fn select(&self, tree: &Tree, node: u32) -> u32 {
        let range = tree.children_of(node);
        let children = tree.children(node);
        let here = tree.get(node);
        // The winning share of the side to move is the complement of the mover's.
        let share = if here.visits > 0.0 { 1.0 - here.wins / here.visits } else { 0.5 };
        let tried: f32 = children.iter().filter(|child| child.visits > 0.0).map(|child| child.chance).sum();
        let unseen = share - self.first_play_urgency * tried.sqrt();
        let curious = self.explore * here.visits.max(1.0).sqrt();
        let (mut best, mut most) = (0, f32::NEG_INFINITY);
        for (n, child) in children.iter().enumerate() {
            let own = if child.visits > 0.0 { child.wins / child.visits } else { unseen };
            let worth = own + curious * child.chance / (1.0 + child.visits);
            if worth > most {
                (best, most) = (n, worth);
            }
        }
        range.start + best as u32
    }
}

impl<const N: usize, const W: usize> Search<N, W> {
    /// The guide of this search, if there is one.
    pub(in super::super) fn guide(&self) -> Option<Guide> {
        let options = &self.options;
        if options.network == 0 || !Guide::SIZES.contains(&self.stones().geometry.size) {
            return None;
        }
        Network::shared().map(|network| Guide {
            network,
            trust: options.trust,
            explore: options.explore,
            first_play_urgency: options.first_play_urgency,
            evened: self.evened,
        })
    }

    /// Ownership by the network, in the order of the geometry's points, from Black's 1 to White's -1. `None` if no network
    /// leads this search.
    pub(in super::super) fn foresee(&mut self, go: &Go) -> Option<Vec<f32>> {
        let guide = self.guide()?;
        let terms = self.terms;
        let player = &mut self.players[0];
        player.stones = Stones::of(go);
        player.turn = colour(go.turn());
        player.trail = trail(go, player.stones.geometry);
        player.passes = u8::from(go.is_after_pass());
        player.think(terms, guide);
        let sign = if player.turn == BLACK { 1.0 } else { -1.0 };
        Some(player.scratch.output.owners.iter().map(|owner| sign * owner).collect())
    }

    /// Expands the leaf that a player has evaluated.
    pub(in super::super) fn grow(&mut self, go: &Go, player: &mut Player<N, W>) {
        let Some(&leaf) = player.path.last() else { return };
        if self.tree.get(leaf).has_children() || self.tree.is_full(N) {
            return;
        }
        let Player { list, keys, boards, leaf_turn, .. } = player;
        let mut boards = boards.iter();
        list.retain(|prior| {
            let board = *boards.next().expect("each move has its board");
            prior.at == PASS || !self.is_repetition(go, keys, board, other(*leaf_turn))
        });
        if list.is_empty() {
            list.push(Prior { at: PASS, visits: 0.0, wins: 0.0, chance: 1.0 });
        }
        list.sort_by(|a, b| b.chance.total_cmp(&a.chance));
        self.tree.add_children(leaf, list.iter().map(|prior| Node::new(prior.at, 0.0, 0.0, prior.chance)));
    }
}

/// Evaluates a position.
pub(super) fn ask<const N: usize, const W: usize>(
    network: &Network,
    (stones, turn, trail, passes): (&Stones<N, W>, u8, [Vertex; 2], u8),
    (terms, evened): (Terms, i32),
    room: &mut Vec<InputPlanes>,
    scratch: &mut Scratch,
) {
    facts(stones, turn, trail, room);
    // White's compensation in points.
    let komi = (terms.bonus + evened) as f32 / 2.0 + terms.shift(stones) as f32;
    let whole = GlobalInputs { komi: if turn == BLACK { -komi } else { komi }, passed: passes > 0 };
    network.think(stones.geometry.size, room, whole, scratch);
}

impl<const N: usize, const W: usize> Player<N, W> {
    /// Evaluates the leaf: stores its value, and its moves in `list`.
    pub(in super::super) fn think(&mut self, terms: Terms, guide: Guide) {
        let Self { stones, turn, trail, scratch, list, .. } = self;
        let black = *turn == BLACK;
        ask(
            guide.network,
            (stones, *turn, *trail, self.passes),
            (terms, guide.evened),
            &mut self.facts,
            scratch,
        );
        let output = &scratch.output;
        list.clear();
        // The playout continues with these stones, so the needed keys are stored before.
        self.boards.clear();
        self.leaf_turn = *turn;
        let prior = |at, logit| Prior { at, visits: 0.0, wins: 0.0, chance: logit };
        for (n, &at) in stones.geometry.points.iter().enumerate() {
            if stones.cell(at) == EMPTY && stones.is_legal(at, *turn) && !stones.is_eye(at, *turn) {
                list.push(prior(at, output.moves[n]));
                self.boards.push(stones.key_after(at, *turn));
            }
        }
        // With few legal moves, or after a pass, a pass is a candidate.
        if list.len() * 4 < stones.geometry.points.len() * 3 || self.passes > 0 || list.is_empty() {
            list.push(prior(PASS, output.moves[stones.geometry.points.len()]));
            self.boards.push(stones.key);
        }
        let most = list.iter().map(|prior| prior.chance).fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for prior in &mut *list {
            prior.chance = (prior.chance - most).exp();
            sum += prior.chance;
        }
        for prior in list {
            prior.chance /= sum;
        }
        self.judged = Some(if black { output.chance } else { 1.0 - output.chance });
    }
}
