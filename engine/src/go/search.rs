//! Looking ahead: a tree grown by playouts.
//!
//! Each playout goes down the tree by what moves are worth, on to the end without looking ahead, and back up with the result.
//! No move is tried that superko forbids, seen from the game's own past and from the way down the tree.

use super::playout::{Odds, Playouts, Policy, owners};
use super::prior::{Prior, Reasons, priors};
use super::stones::{At, BLACK, EMPTY, PASS, Stones, colour, margin, other, side};
use super::tree::{Node, ROOT, Tree};
use super::{Go, GoMove, Scoring, Superko};
use crate::numbers::{Place, Visit};
use crate::{Game, Limits, Side};

/// What the search goes by. The numbers were found by self-play; see `EXPERIMENTS.md`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) odds: Odds,
    pub(super) reasons: Reasons,
    /// Visits after which a node gets children.
    pub(super) expand: f32,
    /// Playouts at which a move's own results count as much as those in which it came later.
    pub(super) equivalence: f32,
    /// Part of a result that is by how many points it is won or lost.
    pub(super) points_part: f32,
    /// Bonus for what was tried little, as in UCT.
    pub(super) curiosity: f32,
    /// Moves considered at a node at first, the best by prior; more with the logarithm of its visits. On boards of more than 100
    /// points.
    pub(super) width: f32,
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
        visit("expand", (1.0, 100.0), Single(&mut self.expand));
        visit("equivalence", (1.0, 100_000.0), Single(&mut self.equivalence));
        visit("points-part", (0.0, 1.0), Single(&mut self.points_part));
        visit("curiosity", (0.0, 2.0), Single(&mut self.curiosity));
        visit("width", (1.0, 400.0), Single(&mut self.width));
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
            points_part: 0.04,
            curiosity: 0.0,
            width: 24.0,
        }
    }
}

/// How two passes in a row are counted inside the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Every stone that is on the board lives.
    AsItStands,
    /// By a playout: what it takes was dead.
    Agreed,
}

/// What is known of a move after a search.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    /// First move first.
    pub(super) line: Vec<At>,
    pub(super) visits: u32,
    /// Share of wins for the side to move.
    pub(super) share: f32,
    /// What was thought of it before.
    pub(super) prior: f32,
}

/// A search on boards of at most `N` points, with what it keeps from one decision to the next.
pub(super) struct Search<const N: usize, const W: usize> {
    pub(super) options: Options,
    tree: Tree,
    /// Where the tree's root is.
    stones: Stones<N, W>,
    turn: u8,
    last: At,
    /// Passes in a row before the root, at most one.
    passes: u8,
    /// What White gets beside the stones, in half points.
    bonus: i32,
    scoring: Scoring,
    superko: Superko,
    ending: Ending,
    playouts: Playouts<N>,
    /// A point's owners over the playouts from this root, Black's less White's.
    owned: [i32; N],
    /// Playouts that `owned` is the sum of, and Black's margins in points, bonus included.
    counted: u32,
    margins: f64,
    path: Vec<u32>,
    keys: Vec<(u64, u8)>,
    list: Vec<Prior>,
    policy: Policy,
}

impl<const N: usize, const W: usize> Search<N, W> {
    pub(super) fn new(size: u8, bytes: usize, seed: u64, options: Options) -> Self {
        Self {
            tree: Tree::new(bytes),
            stones: Stones::new(size),
            turn: BLACK,
            last: PASS,
            passes: 0,
            bonus: 0,
            scoring: Scoring::Area,
            superko: Superko::Positional,
            ending: Ending::Agreed,
            playouts: Playouts::new(seed, options.odds.clone()),
            owned: [0; N],
            counted: 0,
            margins: 0.0,
            path: Vec::new(),
            keys: Vec::new(),
            list: Vec::new(),
            policy: Policy::Full,
            options,
        }
    }

    /// Goes to a position. With `keep` the part of the tree that is about it stays, if there is one.
    pub(super) fn set(&mut self, go: &Go, ending: Ending, keep: bool) {
        self.set_to_move(go, go.turn(), ending, keep);
    }

    /// [`Self::set`], but with this side to move, whoever is.
    pub(super) fn set_to_move(&mut self, go: &Go, to_move: Side, ending: Ending, keep: bool) {
        let stones = Stones::<N, W>::of(go);
        let turn = colour(to_move);
        let last = match go.last() {
            Some(GoMove::Place(point)) => stones.geometry.at(point),
            _ => PASS,
        };
        let setup = go.setup();
        let handicap = match setup.scoring {
            Scoring::Area => 2 * i32::from(setup.handicap.stones()),
            Scoring::Territory => 0,
        };
        let bonus = i32::from(setup.komi_half_points) + handicap;
        let passes = u8::from(go.is_after_pass());
        let same_rules = (bonus, setup.scoring, setup.superko, ending)
            == (self.bonus, self.scoring, self.superko, self.ending);
        let node = if keep && same_rules { self.find(&stones, turn, last, passes) } else { None };
        match node {
            Some(ROOT) => {}
            Some(node) => self.tree.reroot(node),
            None => self.tree.clear(),
        }
        if node != Some(ROOT) {
            self.owned = [0; N];
            self.counted = 0;
            self.margins = 0.0;
        }
        self.stones = stones;
        (self.turn, self.last, self.passes) = (turn, last, passes);
        (self.bonus, self.scoring, self.superko, self.ending) = (bonus, setup.scoring, setup.superko, ending);
    }

    /// The node at most two moves below the root at which these stones lie.
    fn find(&self, stones: &Stones<N, W>, turn: u8, last: At, passes: u8) -> Option<u32> {
        let same = |board: &Stones<N, W>, to_move: u8| {
            board.key == stones.key
                && board.ko == stones.ko
                && to_move == turn
                && board.placed == stones.placed
        };
        if same(&self.stones, self.turn) && self.last == last && self.passes == passes {
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

    /// Starts the generator of random numbers afresh.
    pub(super) fn seed(&mut self, seed: u64) {
        self.playouts = Playouts::new(seed, self.options.odds.clone());
    }

    /// Playouts until the limits, or until no more of them could change the choice. `look` is called now and then.
    pub(super) fn run(&mut self, go: &Go, limits: &Limits<'_>, early: bool, look: &mut dyn FnMut(&Self)) {
        use std::sync::atomic::Ordering;
        if !self.tree.get(ROOT).has_children() {
            self.keys.clear();
            self.expand(go, ROOT, &self.stones.clone(), self.turn, self.last, self.passes);
        }
        let is_over = |done: u64| {
            limits.stop.load(Ordering::Relaxed)
                || limits.nodes.is_some_and(|nodes| done >= nodes)
                || limits.time.is_some_and(|time| (limits.elapsed)() >= time)
        };
        let begin = (limits.elapsed)();
        let mut done = 0;
        let mut next_look = 64;
        while !is_over(done) {
            if self.tree.is_full(N) {
                self.tree.prune(&mut || is_over(done));
            }
            self.playout(go);
            done += 1;
            if done == next_look {
                next_look += (next_look / 2).min(512);
                look(self);
            }
            if early && done % 16 == 0 {
                let left = match (limits.nodes, limits.time) {
                    (Some(nodes), _) => (nodes - done) as f64,
                    (None, Some(time)) => {
                        let now = (limits.elapsed)();
                        let spent = now.saturating_sub(begin).as_secs_f64();
                        // At first the rate is a guess.
                        if spent * 10.0 < time.as_secs_f64() {
                            continue;
                        }
                        done as f64 / spent * time.saturating_sub(now).as_secs_f64()
                    }
                    (None, None) => continue,
                };
                if self.is_decided(left) {
                    break;
                }
            }
        }
    }

    /// Whether the best move stays the best if all that is left goes to the second.
    fn is_decided(&self, left: f64) -> bool {
        let (mut best, mut second) = (0.0_f32, 0.0_f32);
        for node in self.tree.children(ROOT) {
            if node.visits > best {
                (best, second) = (node.visits, best);
            } else {
                second = second.max(node.visits);
            }
        }
        f64::from(best - second) > left
    }

    /// One playout: down the tree, on to the end, and back up.
    fn playout(&mut self, go: &Go) {
        let mut stones = self.stones.clone();
        let (mut turn, mut last, mut passes) = (self.turn, self.last, self.passes);
        let mut node = ROOT;
        self.path.clear();
        self.path.push(ROOT);
        self.keys.clear();
        loop {
            if !self.tree.get(node).has_children() {
                let visits = self.tree.get(node).visits;
                if passes == 2 || visits < self.options.expand || self.tree.is_full(N) {
                    break;
                }
                self.expand(go, node, &stones, turn, last, passes);
            }
            node = self.select(node);
            let at = self.tree.get(node).at;
            if at == PASS {
                stones.pass();
                passes += 1;
            } else {
                stones.put(at, turn);
                passes = 0;
            }
            turn = other(turn);
            self.keys.push((stones.key, turn));
            self.path.push(node);
            last = at;
        }
        self.playouts.first = [EMPTY; N];
        let shift = match self.scoring {
            Scoring::Area => 0,
            // Area less stones put is territory and prisoners; what the playout itself fills counts for nothing.
            Scoring::Territory => i32::from(stones.placed[0]) - i32::from(stones.placed[1]),
        };
        let black = if passes == 2 && self.ending == Ending::AsItStands {
            let mut sum = 0;
            for (&at, owner) in stones.geometry.points.iter().zip(stones.area()) {
                self.owned[usize::from(at)] += margin(owner);
                sum += margin(owner);
            }
            sum
        } else {
            self.playouts.play(&mut stones, turn, last, self.policy);
            let owned = &mut self.owned;
            owners(&stones, |at, points| owned[usize::from(at)] += points)
        };
        let half_points = 2 * (black - shift) - self.bonus;
        self.counted += 1;
        self.margins += f64::from(half_points) / 2.0;
        self.update(half_points);
    }

    /// The child most worth trying.
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
        let bonus = if self.options.curiosity > 0.0 {
            self.options.curiosity * (parent + 1.0).ln().sqrt()
        } else {
            0.0
        };
        let mut best = 0;
        let mut most = f32::NEG_INFINITY;
        for (n, child) in children[..shown].iter().enumerate() {
            let mut worth = child.worth(self.options.equivalence);
            if bonus > 0.0 {
                worth += bonus / (child.visits + child.prior_visits).sqrt();
            }
            if worth > most {
                most = worth;
                best = n;
            }
        }
        range.start + best as u32
    }

    /// Tells the nodes of the path how the playout ended.
    fn update(&mut self, half_points: i32) {
        let points = self.stones.geometry.points.len() as f32;
        let won = match half_points.signum() {
            1 => 1.0,
            -1 => 0.0,
            _ => 0.5,
        };
        let by_points = (0.5 + half_points as f32 / (2.0 * points)).clamp(0.0, 1.0);
        let black = won + (by_points - won) * self.options.points_part;
        for depth in (0..self.path.len()).rev() {
            let node = self.path[depth];
            let turn = if depth % 2 == 0 { self.turn } else { other(self.turn) };
            if let Some(&child) = self.path.get(depth + 1) {
                let at = self.tree.get(child).at;
                if at != PASS {
                    self.playouts.first[usize::from(at)] = turn;
                }
            }
            let wins = if turn == BLACK { black } else { 1.0 - black };
            let here = self.tree.get_mut(node);
            here.visits += 1.0;
            here.wins += 1.0 - wins;
            let first = &self.playouts.first;
            for child in self.tree.children_mut(node) {
                if first[usize::from(child.at)] == turn {
                    child.later_visits += 1.0;
                    child.later_wins += wins;
                }
            }
        }
    }

    /// Gives a node its children. `self.keys` are the boards on the way to it.
    fn expand(&mut self, go: &Go, node: u32, stones: &Stones<N, W>, turn: u8, last: At, passes: u8) {
        /// What breaks ties, in playouts won.
        const CHANCE: f32 = 0.1;
        /// A pass is thought to lose: seldom is there nothing to gain.
        const PASS_VISITS: f32 = 20.0;
        let mut list = std::mem::take(&mut self.list);
        priors(stones, turn, last, &self.options.reasons, &mut list);
        list.retain(|prior| !self.is_repetition(go, stones.key_after(prior.at, turn), other(turn)));
        for prior in &mut list {
            let unit = (self.playouts.rng().next_u64() >> 40) as f32 / (1 << 24) as f32;
            prior.wins += CHANCE * unit;
        }
        let share = |prior: &Prior| prior.wins / prior.visits;
        list.sort_by(|a, b| share(b).total_cmp(&share(a)));
        // With few moves left, or after a pass, passing may be the best.
        if list.len() * 4 < self.stones.geometry.points.len() * 3 || passes > 0 {
            list.push(Prior { at: PASS, visits: PASS_VISITS, wins: PASS_VISITS / 10.0 });
        }
        if list.is_empty() {
            list.push(Prior { at: PASS, visits: 1.0, wins: 0.5 });
        }
        self.tree.add_children(node, list.iter().map(|prior| Node::new(prior.at, prior.visits, prior.wins)));
        self.list = list;
    }

    fn is_repetition(&self, go: &Go, key: u64, to_move: u8) -> bool {
        let on_path = self
            .keys
            .iter()
            .any(|&(past, turn)| past == key && (self.superko == Superko::Positional || turn == to_move));
        on_path || go.was_there(key, side(to_move))
    }

    /// Playouts through the root since its tree began, those of earlier decisions included.
    pub(super) fn visits(&self) -> u32 {
        self.tree.get(ROOT).visits as u32
    }

    /// Nodes of the tree.
    pub(super) fn nodes(&self) -> usize {
        self.tree.len()
    }

    /// The moves that were tried, the most tried first.
    pub(super) fn tried(&self, line: usize) -> Vec<Tried> {
        let mut nodes: Vec<u32> = self.tree.children_of(ROOT).collect();
        nodes.sort_by(|&a, &b| self.tree.get(b).visits.total_cmp(&self.tree.get(a).visits));
        let tried = |(rank, node): (usize, u32)| {
            let here = self.tree.get(node);
            let mut best = Tried {
                line: vec![here.at],
                visits: here.visits as u32,
                share: here.share(),
                prior: here.prior_wins / here.prior_visits,
            };
            let mut at = node;
            // Lines of moves that were hardly tried mean nothing.
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

    /// Whose each point is at the end of playouts, in the order of the geometry's points: from 1, Black's, to -1, White's.
    pub(super) fn ownership(&self) -> Vec<f32> {
        let count = self.counted.max(1) as f32;
        self.stones.geometry.points.iter().map(|&at| self.owned[usize::from(at)] as f32 / count).collect()
    }

    /// Points by which Black is ahead on the average of the playouts, bonus included.
    pub(super) fn margin(&self) -> f32 {
        (self.margins / f64::from(self.counted.max(1))) as f32
    }

    pub(super) const fn stones(&self) -> &Stones<N, W> {
        &self.stones
    }

    /// Half points by which a side is ahead when these are the owners of the points and play ends now.
    pub(super) fn count(&self, owners: &[u8], side: Side) -> i32 {
        let black: i32 = owners.iter().map(|&owner| margin(owner)).sum();
        let shift = match self.scoring {
            Scoring::Area => 0,
            Scoring::Territory => i32::from(self.stones.placed[0]) - i32::from(self.stones.placed[1]),
        };
        let half_points = 2 * (black - shift) - self.bonus;
        if side == Side::First { half_points } else { -half_points }
    }
}

/// The board after a move.
fn after<const N: usize, const W: usize>(stones: &Stones<N, W>, at: At, turn: u8) -> Stones<N, W> {
    let mut board = stones.clone();
    if at == PASS {
        board.pass();
    } else {
        board.put(at, turn);
    }
    board
}
