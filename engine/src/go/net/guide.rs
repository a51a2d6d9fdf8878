//! The search led by the network.
//!
//! A leaf grows when it is first reached: each move is as likely as the network says, and the network's chance stands beside
//! the playout's result. Which child is tried is decided as in D. Silver et al., "Mastering the game of Go without human
//! knowledge" (2017): by its results and by how likely it was thought, less and less the more it has been tried.

use super::super::Go;
use super::super::prior::Prior;
use super::super::search::{Player, Search, Terms, trail};
use super::super::stones::{At, BLACK, EMPTY, PASS, Stones, colour, other};
use super::super::tree::{Node, Tree};
use super::network::{Network, Scratch};
use super::planes::{GlobalInputs, InputPlanes, facts};
use crate::Game as _;

/// A network and how far it is followed.
#[derive(Clone, Copy)]
pub(in super::super) struct Guide {
    network: &'static Network,
    /// How much its chance counts beside a playout's result, 0 to 1.
    pub(in super::super) trust: f32,
    explore: f32,
    first_play_urgency: f32,
    /// Half points that White is given to even out a handicap.
    evened: i32,
}

impl Guide {
    /// Sizes of the board on which it leads: on larger ones what it has learnt so far is not worth the playouts that asking about
    /// every leaf costs, and it only gives advice (EXPERIMENTS.md).
    pub(in crate::go) const SIZES: std::ops::RangeInclusive<u8> = 7..=9;

    /// The child most worth trying.
    pub(in super::super) fn select(&self, tree: &Tree, node: u32) -> u32 {
        let range = tree.children_of(node);
        let children = tree.children(node);
        let here = tree.get(node);
        // The side to move wins where the one that moved here does not.
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
    /// What leads this search, if there is anything.
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

    /// Whose each point will be by the network, in the order of the geometry's points, from Black's 1 to White's -1. `None` if
    /// none leads this search.
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

    /// Gives the leaf that a player has asked the network about its children.
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

/// Asks the network about a position.
pub(super) fn ask<const N: usize, const W: usize>(
    network: &Network,
    (stones, turn, trail, passes): (&Stones<N, W>, u8, [At; 2], u8),
    (terms, evened): (Terms, i32),
    room: &mut Vec<InputPlanes>,
    scratch: &mut Scratch,
) {
    facts(stones, turn, trail, room);
    // Points that White gets.
    let komi = (terms.bonus + evened) as f32 / 2.0 + terms.shift(stones) as f32;
    let whole = GlobalInputs { komi: if turn == BLACK { -komi } else { komi }, passed: passes > 0 };
    network.think(stones.geometry.size, room, whole, scratch);
}

impl<const N: usize, const W: usize> Player<N, W> {
    /// Asks the network about the leaf: its chance, and its moves into `list`.
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
        // The playout goes on with these stones, so that what is needed of them afterwards is kept.
        self.boards.clear();
        self.leaf_turn = *turn;
        let prior = |at, logit| Prior { at, visits: 0.0, wins: 0.0, chance: logit };
        for (n, &at) in stones.geometry.points.iter().enumerate() {
            if stones.cell(at) == EMPTY && stones.is_legal(at, *turn) && !stones.is_eye(at, *turn) {
                list.push(prior(at, output.moves[n]));
                self.boards.push(stones.key_after(at, *turn));
            }
        }
        // With few moves left, or after a pass, passing may be the best.
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
