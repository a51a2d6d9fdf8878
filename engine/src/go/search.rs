//! Monte Carlo tree search.
//!
//! Each iteration descends the tree by the values of moves, runs a playout to the end, and updates the path with its result.
//! Moves that superko forbids are not searched, considering the game's history and the path.
//!
//! `helpers` are the threads; `guide` is the search where the network leads, `advice` what it says where playouts do.

mod advice;
mod guide;
mod helpers;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::features::{Room, features};
use super::net::{InputPlanes, Scratch};
use super::patterns::FeatureWeights;
use super::playout::{Odds, Playouts, Policy, owners};
use super::prior::{Prior, priors};
use super::stones::{BLACK, EMPTY, Geometry, PASS, Stones, Vertex, colour, margin, other, side};
use super::time_manager::{RootStats, StopRule, TimeManager};
use super::tree::{Node, ROOT, Tree};
use super::weights::Options;
use super::{Go, GoMove, Scoring, Superko};
use crate::search::threads::{EndOnDrop, beside};
use crate::{Game, Limits, Side};
use advice::Question;
pub(super) use guide::Guide;
use helpers::{help, lead_helpers};

/// How two successive passes inside the tree are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// All stones on the board are alive.
    AsItStands,
    /// By a playout, which removes dead stones.
    Agreed,
}

/// The statistics of a move after a search.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    /// Principal variation, starting with the move.
    pub(super) line: Vec<Vertex>,
    pub(super) visits: u32,
    /// Winning share of the side to move.
    pub(super) share: f32,
    /// Prior probability.
    pub(super) prior: f32,
}

/// Scoring parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// White's compensation in half points.
    pub(super) bonus: i32,
    scoring: Scoring,
    superko: Superko,
    ending: Ending,
}

impl Terms {
    /// Area score minus this is the score by these rules, for Black.
    pub(super) fn shift<const N: usize, const W: usize>(self, stones: &Stones<N, W>) -> i32 {
        match self.scoring {
            Scoring::Area => 0,
            // Area minus stones placed is territory plus prisoners.
            Scoring::Territory => i32::from(stones.placed[0]) - i32::from(stones.placed[1]),
        }
    }
}

/// A search on boards of at most `N` points, with the tree, which is kept between decisions.
pub(super) struct Search<const N: usize, const W: usize> {
    pub(super) options: Options,
    pub(super) tree: Tree,
    /// The board at the root.
    stones: Stones<N, W>,
    turn: u8,
    /// The last move, and the one before it.
    trail: [Vertex; 2],
    /// Successive passes before the root, at most one.
    passes: u8,
    pub(super) terms: Terms,
    /// Handicap bonus of White in half points, so that both sides have something to play for in a decided handicap game.
    pub(super) evened: i32,
    ends: Ends<N>,
    /// Weight of later moves on each point in RAVE, by criticality.
    critical: [f32; N],
    /// Number of playouts started in the present search.
    pub(super) begun: u64,
    /// State of each thread, the caller's first.
    pub(super) players: Vec<Player<N, W>>,
}

/// Number of playouts between updates of criticality.
const CRITICAL_EVERY: u32 = 64;

/// Moves with at least this policy probability are always searched.
const SHOWN: f32 = 0.01;

/// The state of one thread's iteration.
pub(super) struct Player<const N: usize, const W: usize> {
    playouts: Playouts<N>,
    pub(super) stones: Stones<N, W>,
    pub(super) turn: u8,
    pub(super) trail: [Vertex; 2],
    pub(super) passes: u8,
    pub(super) path: Vec<u32>,
    pub(super) keys: Vec<(u64, u8)>,
    pub(super) list: Vec<Prior>,
    /// Buffers of the network.
    pub(super) scratch: Scratch,
    pub(super) facts: Vec<InputPlanes>,
    /// The node of the path that the network is evaluated for, if any.
    pub(super) question: Option<Question<N, W>>,
    /// The side to move at the leaf; below: the key of the stones after each move of `list`.
    pub(super) leaf_turn: u8,
    pub(super) boards: Vec<u64>,
    /// The network's winning chance of Black at the leaf; then `list` contains the moves from there.
    pub(super) judged: Option<f32>,
    room: Room,
    candidates: Vec<Vertex>,
    chances: Vec<f32>,
    /// [`Tree::age`] of the path: pruning moves nodes.
    age: u32,
    /// Final owner of each point, 1 for Black.
    owners: [i8; N],
    /// Black's margin including the bonus, in half points.
    half_points: i32,
}

/// Statistics of the playouts from one root.
struct Ends<const N: usize> {
    /// Sum of the owners of each point, Black's minus White's.
    owned: [i32; N],
    /// Sum for each point of owner times winner: how often owner and winner agree.
    with: [i32; N],
    /// Number of playouts in these sums.
    counted: u32,
    /// Sum of Black's margins in points, including the bonus.
    margins: f64,
    /// Playouts won by Black minus those won by White.
    won: i32,
}

impl<const N: usize> Ends<N> {
    const NONE: Self = Self { owned: [0; N], with: [0; N], counted: 0, margins: 0.0, won: 0 };
}

impl<const N: usize, const W: usize> Player<N, W> {
    fn new(size: u8, seed: u64, odds: Odds) -> Self {
        Self {
            playouts: Playouts::new(seed, odds),
            stones: Stones::new(size),
            turn: BLACK,
            trail: [PASS; 2],
            passes: 0,
            path: Vec::new(),
            keys: Vec::new(),
            list: Vec::new(),
            scratch: Scratch::default(),
            facts: Vec::new(),
            question: None,
            leaf_turn: BLACK,
            boards: Vec::new(),
            judged: None,
            room: Room::new(size),
            candidates: Vec::new(),
            chances: Vec::new(),
            age: 0,
            owners: [0; N],
            half_points: 0,
        }
    }

    /// Evaluates the leaf by the network, if there is one, and runs a playout from there.
    pub(super) fn play_out(&mut self, terms: Terms, evened: i32, guide: Option<Guide>) {
        self.ask_advice(terms, evened);
        self.judged = None;
        if let Some(guide) = guide
            && self.passes < 2
        {
            self.think(terms, guide);
        }
        let stones = &mut self.stones;
        self.playouts.first = [EMPTY; N];
        // Stones placed by the playout itself do not count.
        let shift = terms.shift(stones);
        let kept = &mut self.owners;
        let black = if self.passes == 2 && terms.ending == Ending::AsItStands {
            let mut sum = 0;
            for (&at, owner) in stones.geometry.points.iter().zip(stones.area()) {
                kept[usize::from(at)] = margin(owner) as i8;
                sum += margin(owner);
            }
            sum
        } else {
            self.playouts.play(stones, self.turn, self.trail[0], Policy::Full);
            owners(stones, |at, points| kept[usize::from(at)] = points as i8)
        };
        self.half_points = 2 * (black - shift) - terms.bonus;
        let winner = match self.half_points.signum() {
            1 => BLACK,
            -1 => other(BLACK),
            _ => EMPTY,
        };
        self.playouts.learn(self.turn, self.trail[0], winner);
    }
}

impl<const N: usize, const W: usize> Search<N, W> {
    pub(super) fn new(size: u8, bytes: usize, seed: u64, options: Options) -> Self {
        Self {
            tree: Tree::new(bytes),
            stones: Stones::new(size),
            turn: BLACK,
            trail: [PASS; 2],
            passes: 0,
            terms: Terms {
                bonus: 0,
                scoring: Scoring::Area,
                superko: Superko::Positional,
                ending: Ending::Agreed,
            },
            evened: 0,
            ends: Ends::NONE,
            critical: [0.0; N],
            begun: 0,
            players: vec![Player::new(size, seed, options.odds.clone())],
            options,
        }
    }

    /// Sets the number of threads, at least 1.
    pub(super) fn set_threads(&mut self, threads: usize) {
        let size = self.stones.geometry.size;
        let mut seed = self.players.len() as u64;
        let odds = self.options.odds.clone();
        self.players.resize_with(threads.max(1), || {
            seed += 1;
            Player::new(size, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), odds.clone())
        });
    }

    /// Sets the root. With `keep`, the subtree of that position is kept if there is one.
    pub(super) fn set(&mut self, go: &Go, ending: Ending, keep: bool) {
        self.set_to_move(go, go.turn(), ending, keep);
    }

    /// Clears the tree.
    pub(super) fn forget(&mut self) {
        self.tree.clear();
    }

    /// As [`Self::set`], with this side to move.
    pub(super) fn set_to_move(&mut self, go: &Go, to_move: Side, ending: Ending, keep: bool) {
        let stones = Stones::<N, W>::of(go);
        let turn = colour(to_move);
        let trail = trail(go, stones.geometry);
        let setup = go.setup();
        let handicap = match setup.scoring {
            Scoring::Area => 2 * i32::from(setup.handicap.stones()),
            Scoring::Territory => 0,
        };
        let passes = u8::from(go.is_after_pass());
        let terms = Terms {
            bonus: i32::from(setup.komi_half_points) + handicap,
            scoring: setup.scoring,
            superko: setup.superko,
            ending,
        };
        let node =
            if keep && terms == self.terms { self.find(&stones, turn, trail[0], passes) } else { None };
        match node {
            Some(ROOT) => {}
            Some(node) => self.tree.reroot(node),
            None => self.tree.clear(),
        }
        if node != Some(ROOT) {
            self.ends = Ends::NONE;
            self.critical = [0.0; N];
        }
        self.stones = stones;
        (self.turn, self.trail, self.passes) = (turn, trail, passes);
        self.terms = terms;
        self.evened = self.handicap_bonus(go);
    }

    /// The handicap bonus: some points per stone, decreasing until half of the game is played (linear dynamic komi as in P.
    /// Baudiš, "Balancing MCTS by Dynamically Adjusting the Komi Value", 2011). Changes of a few points between moves do not
    /// invalidate the tree.
    fn handicap_bonus(&self, go: &Go) -> i32 {
        let stones = go.setup().handicap.stones();
        let over = self.stones.geometry.points.len() as f32 * 0.55;
        let left = (1.0 - go.ply() as f32 / over).max(0.0);
        (2.0 * self.options.handicap_bonus * f32::from(stones) * left).round() as i32
    }

    /// The node at most two moves below the root with this position.
    fn find(&self, stones: &Stones<N, W>, turn: u8, last: Vertex, passes: u8) -> Option<u32> {
        let same = |board: &Stones<N, W>, to_move: u8| {
            board.key == stones.key
                && board.ko == stones.ko
                && to_move == turn
                && board.placed == stones.placed
        };
        if same(&self.stones, self.turn) && self.trail[0] == last && self.passes == passes {
            return Some(ROOT);
        }
        for child in self.tree.children_of(ROOT) {
            let board = after(&self.stones, self.tree.get(child).at, self.turn);
            if same(&board, other(self.turn)) && self.tree.get(child).at == last {
                return Some(child);
            }
            let answer = self.tree.children_of(child).find(|&answer| self.tree.get(answer).at == last);
            if let Some(answer) = answer
                && (last == PASS || board.cell(last) == EMPTY)
                && same(&after(&board, last, other(self.turn)), self.turn)
            {
                return Some(answer);
            }
        }
        None
    }

    /// Seeds the random number generators.
    pub(super) fn seed(&mut self, seed: u64) {
        for (n, player) in self.players.iter_mut().enumerate() {
            player.playouts = Playouts::new(seed.wrapping_add(n as u64), self.options.odds.clone());
        }
    }

    /// Runs playouts until a limit is reached or the stop rule applies. `look` is called occasionally.
    pub(super) fn run(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        stop_rule: StopRule,
        look: &mut dyn FnMut(&Self),
    ) {
        let mut players = std::mem::take(&mut self.players);
        let (player, others) = players.split_first_mut().expect("there is one at least");
        if !self.tree.get(ROOT).has_children() {
            player.keys.clear();
            if let Some(guide) = self.guide() {
                player.path.clear();
                player.path.push(ROOT);
                player.stones = self.stones.clone();
                (player.turn, player.trail, player.passes) = (self.turn, self.trail, self.passes);
                player.think(self.terms, guide);
                self.grow(go, player);
            }
        }
        if !self.tree.get(ROOT).has_children() {
            self.expand(go, ROOT, &self.stones.clone(), (self.turn, self.trail, self.passes), player);
        }
        self.begun = 0;
        let time = TimeManager::new(limits, stop_rule);
        if others.is_empty() {
            self.lead(go, time, look, player);
        } else {
            let over = AtomicBool::new(false);
            let shared = Mutex::new(&mut *self);
            std::thread::scope(|scope| {
                let _end = EndOnDrop(&over);
                for helper in others {
                    let (shared, over) = (&shared, &over);
                    let _ = beside(scope, move || help(go, limits, shared, over, helper));
                }
                lead_helpers(go, time, look, &shared, player);
            });
        }
        self.players = players;
    }

    /// The search on a single thread.
    fn lead(
        &mut self,
        go: &Go,
        mut time: TimeManager<'_>,
        look: &mut dyn FnMut(&Self),
        player: &mut Player<N, W>,
    ) {
        while !time.is_over(self.begun) {
            self.descend(go, player, &mut |begun| time.is_over(begun));
            player.play_out(self.terms, self.evened, self.guide());
            self.update(go, player);
            if self.is_enough(&mut time, look) {
                break;
            }
        }
    }

    /// Runs playouts from the root without a tree.
    pub(super) fn only_play_out(&mut self, count: u32) {
        let mut players = std::mem::take(&mut self.players);
        let player = &mut players[0];
        player.path.clear();
        let terms = self.terms;
        for _ in 0..count {
            player.stones = self.stones.clone();
            (player.turn, player.trail, player.passes) = (self.turn, self.trail, self.passes);
            player.play_out(terms, 0, None);
            self.tally(player);
        }
        self.players = players;
    }

    /// Share of the playouts won by Black.
    pub(super) fn won_by_black(&self) -> f32 {
        f32::midpoint(1.0, self.ends.won as f32 / self.ends.counted.max(1) as f32)
    }

    /// Reports if it is time to; returns whether the stop rule applies.
    pub(super) fn is_enough(&self, time: &mut TimeManager<'_>, look: &mut dyn FnMut(&Self)) -> bool {
        if time.is_time_to_tell(self.begun) {
            look(self);
        }
        time.is_enough(self.begun, || self.root_stats())
    }

    fn root_stats(&self) -> RootStats {
        let children = self.tree.children(ROOT);
        let mut stats = RootStats { best: 0.0, second: 0.0, agrees: true };
        let mut leader = None;
        for node in children {
            if node.visits > stats.best {
                (stats.best, stats.second) = (node.visits, stats.best);
                leader = Some(node);
            } else {
                stats.second = stats.second.max(node.visits);
            }
        }
        if let Some(leader) = leader {
            stats.agrees = children
                .iter()
                .all(|node| node.visits * 10.0 < leader.visits || node.share() <= leader.share());
        }
        stats
    }

    /// Descends to a leaf. Its path gets a virtual loss until [`Self::update`], so that other threads search elsewhere.
    pub(super) fn descend(
        &mut self,
        go: &Go,
        player: &mut Player<N, W>,
        is_over: &mut dyn FnMut(u64) -> bool,
    ) {
        if self.tree.is_full(N) {
            let begun = self.begun;
            self.tree.prune(&mut || is_over(begun));
        }
        self.begun += 1;
        let mut stones = self.stones.clone();
        let (mut turn, mut trail, mut passes) = (self.turn, self.trail, self.passes);
        let mut node = ROOT;
        let guide = self.guide();
        let has_advice = guide.is_none() && self.has_advice();
        player.path.clear();
        player.path.push(ROOT);
        player.keys.clear();
        player.question = None;
        loop {
            if !self.tree.get(node).has_children() {
                let visits = self.tree.get(node).visits;
                // With a network the leaf is expanded after its evaluation, which runs outside the lock.
                if guide.is_some() || passes == 2 || visits < self.options.expand || self.tree.is_full(N) {
                    break;
                }
                self.expand(go, node, &stones, (turn, trail, passes), player);
            }
            if has_advice && player.question.is_none() {
                let depth = player.path.len() - 1;
                let here = self.tree.get_mut(node);
                if !here.asked && (here.visits >= self.options.advice || node == ROOT) {
                    here.asked = true;
                    player.question = Some(Question { depth, stones: stones.clone(), turn, trail, passes });
                }
            }
            node = match guide {
                Some(guide) => guide.select(&self.tree, node),
                None => self.select(node),
            };
            let at = self.tree.get(node).at;
            if at == PASS {
                stones.pass();
                passes += 1;
            } else {
                stones.put(at, turn);
                passes = 0;
            }
            turn = other(turn);
            player.keys.push((stones.key, turn));
            player.path.push(node);
            trail = [at, trail[0]];
        }
        for &node in &player.path {
            self.tree.get_mut(node).visits += 1.0;
        }
        player.age = self.tree.age();
        player.stones = stones;
        (player.turn, player.trail, player.passes) = (turn, trail, passes);
    }

    /// The child with the highest value.
    fn select(&self, node: u32) -> u32 {
        let range = self.tree.children_of(node);
        let children = self.tree.children(node);
        let parent = self.tree.get(node).visits;
        let shown = if self.stones.geometry.points.len() > 100 {
            let width = self.options.width + 8.0 * (1.0 + parent / 10.0).log2();
            (width as usize).min(children.len())
        } else {
            children.len()
        };
        let bonus = if self.options.uct_constant > 0.0 {
            self.options.uct_constant * (parent + 1.0).ln().sqrt()
        } else {
            0.0
        };
        let asked = self.tree.get(node).asked;
        let likely = self.options.likely * (parent + 1.0).sqrt();
        let mut best = 0;
        let mut most = f32::NEG_INFINITY;
        for (n, child) in children.iter().enumerate() {
            if n >= shown && !(asked && child.chance > SHOWN) {
                continue;
            }
            let mut worth = child.worth(self.options.rave_equivalence, self.critical[usize::from(child.at)]);
            if bonus > 0.0 {
                worth += bonus / (child.visits + child.prior_visits).sqrt();
            }
            worth += likely * child.chance / (1.0 + child.visits);
            if worth > most {
                most = worth;
                best = n;
            }
        }
        range.start + best as u32
    }

    /// Adds a playout to the statistics.
    fn tally(&mut self, player: &Player<N, W>) {
        let half_points = player.half_points;
        let ends = &mut self.ends;
        ends.counted += 1;
        ends.margins += f64::from(half_points) / 2.0;
        ends.won += half_points.signum();
        for &at in &self.stones.geometry.points {
            let owner = i32::from(player.owners[usize::from(at)]);
            ends.owned[usize::from(at)] += owner;
            ends.with[usize::from(at)] += owner * half_points.signum();
        }
    }

    /// Updates the nodes of the path with the playout's result.
    pub(super) fn update(&mut self, go: &Go, player: &mut Player<N, W>) {
        self.tally(player);
        let half_points = player.half_points;
        let question = player.question.take();
        // Pruned nodes are not updated.
        if player.age != self.tree.age() {
            return;
        }
        if let Some(question) = question {
            self.take_advice(player.path[question.depth], &player.scratch.output);
        }
        let half_points = half_points - self.evened;
        let points = self.stones.geometry.points.len() as f32;
        let won = match half_points.signum() {
            1 => 1.0,
            -1 => 0.0,
            _ => 0.5,
        };
        let by_points = (0.5 + half_points as f32 / (2.0 * points)).clamp(0.0, 1.0);
        let mut black = won + (by_points - won) * self.options.points_part;
        let guide = self.guide();
        if let (Some(guide), Some(judged)) = (guide, player.judged) {
            black += (judged - black) * guide.trust;
            self.grow(go, player);
        }
        // A playout has about a third more moves than there are points, at most three times as many.
        let fading = self.options.fading / (3.0 * points);
        if self.options.critical > 0.0 && self.ends.counted.is_multiple_of(CRITICAL_EVERY) {
            for (n, criticality) in self.criticality().into_iter().enumerate() {
                let at = usize::from(self.stones.geometry.points[n]);
                self.critical[at] = self.options.critical * criticality.max(0.0);
            }
        }
        for depth in (0..player.path.len()).rev() {
            let node = player.path[depth];
            let turn = if depth % 2 == 0 { self.turn } else { other(self.turn) };
            if let Some(&child) = player.path.get(depth + 1) {
                let at = self.tree.get(child).at;
                if at != PASS {
                    player.playouts.first[usize::from(at)] = turn;
                    player.playouts.when[usize::from(at)] = 0;
                }
            }
            let wins = if turn == BLACK { black } else { 1.0 - black };
            self.tree.get_mut(node).wins += 1.0 - wins;
            if guide.is_some() {
                continue;
            }
            let Playouts { first, when, .. } = &player.playouts;
            for child in self.tree.children_mut(node) {
                if first[usize::from(child.at)] == turn {
                    let counts = 1.0 - fading * f32::from(when[usize::from(child.at)]);
                    child.later_visits += counts;
                    child.later_wins += counts * wins;
                }
            }
        }
    }

    /// Expands a node. The player's keys are those of the positions on the path.
    fn expand(
        &mut self,
        go: &Go,
        node: u32,
        stones: &Stones<N, W>,
        (turn, trail, passes): (u8, [Vertex; 2], u8),
        player: &mut Player<N, W>,
    ) {
        /// Random tie-breaking, in virtual wins.
        const CHANCE: f32 = 0.1;
        /// Virtual losses of a pass, which is seldom the best move.
        const PASS_VISITS: f32 = 20.0;
        let Player { list, keys, playouts, room, candidates, chances, .. } = player;
        priors(stones, turn, trail[0], &self.options.reasons, list);
        let Options { likely, pattern_prior, sharpness, .. } = self.options;
        if likely > 0.0 || pattern_prior > 0.0 {
            tell_chances(stones, turn, trail, sharpness, (room, candidates, chances), list);
            for prior in &mut *list {
                prior.win(pattern_prior * prior.chance.sqrt());
            }
        }
        list.retain(|prior| !self.is_repetition(go, keys, stones.key_after(prior.at, turn), other(turn)));
        for prior in &mut *list {
            let unit = (playouts.rng().next_u64() >> 40) as f32 / (1 << 24) as f32;
            prior.wins += CHANCE * unit;
        }
        let share = |prior: &Prior| prior.wins / prior.visits;
        list.sort_by(|a, b| share(b).total_cmp(&share(a)));
        // With few legal moves, or after a pass, a pass is a candidate.
        if list.len() * 4 < self.stones.geometry.points.len() * 3 || passes > 0 {
            list.push(Prior { at: PASS, visits: PASS_VISITS, wins: PASS_VISITS / 10.0, chance: 0.0 });
        }
        if list.is_empty() {
            list.push(Prior { at: PASS, visits: 1.0, wins: 0.5, chance: 1.0 });
        }
        self.tree.add_children(
            node,
            list.iter().map(|prior| Node::new(prior.at, prior.visits, prior.wins, prior.chance)),
        );
    }

    pub(super) fn is_repetition(&self, go: &Go, keys: &[(u64, u8)], key: u64, to_move: u8) -> bool {
        let positional = self.terms.superko == Superko::Positional;
        let on_path = keys.iter().any(|&(past, turn)| past == key && (positional || turn == to_move));
        on_path || go.was_there(key, side(to_move))
    }

    /// Number of playouts through the root, including those of earlier decisions.
    pub(super) fn visits(&self) -> u32 {
        self.tree.get(ROOT).visits as u32
    }

    /// Number of nodes in the tree.
    pub(super) fn nodes(&self) -> usize {
        self.tree.len()
    }

    /// The root's moves by descending visits.
    pub(super) fn tried(&self, line: usize) -> Vec<Tried> {
        let mut nodes: Vec<u32> = self.tree.children_of(ROOT).collect();
        nodes.sort_by(|&a, &b| self.tree.get(b).visits.total_cmp(&self.tree.get(a).visits));
        let tried = |(rank, node): (usize, u32)| {
            let here = self.tree.get(node);
            let mut best = Tried {
                line: vec![here.at],
                visits: here.visits as u32,
                share: here.share(),
                prior: if here.prior_visits > 0.0 {
                    here.prior_wins / here.prior_visits
                } else {
                    here.chance
                },
            };
            let mut at = node;
            // Variations of rarely visited moves are meaningless.
            while best.line.len() < line && (rank == 0 || here.visits > 10.0) {
                match self.tree.best_child(at).filter(|&next| self.tree.get(next).visits > 4.0) {
                    Some(next) => {
                        best.line.push(self.tree.get(next).at);
                        at = next;
                    }
                    None => break,
                }
            }
            best
        };
        nodes.into_iter().enumerate().map(tried).collect()
    }

    /// Ownership in playouts, in the order of the geometry's points: from 1 (Black's) to -1 (White's).
    pub(super) fn ownership(&self) -> Vec<f32> {
        let count = self.ends.counted.max(1) as f32;
        self.of_points(|at| self.ends.owned[at] as f32 / count)
    }

    /// Criticality of each point, in the order of the geometry's points: how much more often the winner owns it than if
    /// ownership and winning were independent (R. Coulom, "Criticality: a Monte-Carlo Heuristic for Go Programs", 2009).
    /// From -0.5 to 0.5; near 0.5 for a decisive point, near 0 for a settled one.
    pub(super) fn criticality(&self) -> Vec<f32> {
        let count = self.ends.counted.max(1) as f32;
        let won = self.ends.won as f32 / count;
        self.of_points(|at| {
            (self.ends.with[at] as f32 / count - self.ends.owned[at] as f32 / count * won) / 2.0
        })
    }

    /// Factor between the odds of winning for the side to move and those in the tree, which include the handicap bonus.
    pub(super) fn better_odds(&self) -> f32 {
        if self.evened == 0 || self.ends.counted == 0 {
            return 1.0;
        }
        let odds = |share: f32| {
            let share = share.clamp(0.001, 0.999);
            share / (1.0 - share)
        };
        let black = f32::midpoint(1.0, self.ends.won as f32 / self.ends.counted as f32);
        let root = self.tree.get(ROOT);
        let in_tree = 1.0 - root.wins / root.visits.max(1.0);
        odds(if self.turn == BLACK { black } else { 1.0 - black }) / odds(in_tree)
    }

    fn of_points(&self, value: impl Fn(usize) -> f32) -> Vec<f32> {
        self.stones.geometry.points.iter().map(|&at| value(usize::from(at))).collect()
    }

    /// Mean lead of Black in the playouts in points, including the bonus.
    pub(super) fn margin(&self) -> f32 {
        (self.ends.margins / f64::from(self.ends.counted.max(1))) as f32
    }

    pub(super) const fn stones(&self) -> &Stones<N, W> {
        &self.stones
    }

    /// Lead of a side in half points if these are the owners of the points and play ends now.
    pub(super) fn count(&self, owners: &[u8], side: Side) -> i32 {
        let black: i32 = owners.iter().map(|&owner| margin(owner)).sum();
        let half_points = 2 * (black - self.terms.shift(&self.stones)) - self.terms.bonus;
        if side == Side::First { half_points } else { -half_points }
    }
}

/// Sets the probability of each move by its features; their sum is 1.
fn tell_chances<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    trail: [Vertex; 2],
    sharpness: f32,
    (room, candidates, chances): (&mut Room, &mut Vec<Vertex>, &mut Vec<f32>),
    list: &mut [Prior],
) {
    let weights = FeatureWeights::shared();
    chances.clear();
    chances.resize(stones.empty().len(), 0.0);
    features(stones, turn, trail, room, candidates, |n, feature| chances[n] += weights.get(feature));
    chances.truncate(candidates.len());
    let most = chances.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for chance in chances.iter_mut() {
        *chance = ((*chance - most) * sharpness).exp();
    }
    let sum: f32 = chances.iter().sum();
    for ((prior, &at), &chance) in list.iter_mut().zip(candidates.iter()).zip(chances.iter()) {
        debug_assert_eq!(prior.at, at);
        prior.chance = chance / sum;
    }
}

/// The last move of a game, and the one before it.
pub(super) fn trail(go: &Go, geometry: &Geometry) -> [Vertex; 2] {
    [go.last(), go.before()].map(|mv| match mv {
        Some(GoMove::Place(point)) => geometry.at(point),
        _ => PASS,
    })
}

/// The board after a move.
fn after<const N: usize, const W: usize>(stones: &Stones<N, W>, at: Vertex, turn: u8) -> Stones<N, W> {
    let mut board = stones.clone();
    if at == PASS {
        board.pass();
    } else {
        board.put(at, turn);
    }
    board
}
