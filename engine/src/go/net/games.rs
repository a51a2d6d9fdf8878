//! Self-play training games of the network, many in parallel.
//!
//! The training program (`engine/training/go`) evaluates positions in batches. The search of each move evaluates some thirty
//! positions as in I. Danihelka et al., "Policy improvement by planning with Gumbel" (2022): candidates are sampled without
//! replacement by the policy (Gumbel top-k), reduced by sequential halving, and the training target is the improved policy.

use super::super::stones::{BLACK, EMPTY, PASS, Stones, Vertex, margin, other};
use super::planes::{GlobalInputs, InputPlanes, facts};
use crate::Rng;

/// Parameters of the games.
#[derive(Clone, Copy, Debug)]
pub struct NetGamesSetup {
    /// Board size, in points on a side.
    pub size: u8,
    /// Number of parallel games.
    pub games: usize,
    /// Evaluations per move.
    pub looks: u32,
    /// Number of candidates at the root.
    pub candidates: usize,
    /// Seed of all random choices.
    pub seed: u64,
}

impl NetGamesSetup {
    /// Visits of each of `open` candidates before the next halving.
    fn each(&self, open: usize) -> u32 {
        let halvings = (self.candidates.max(2) as u32).ilog2();
        (self.looks / (halvings * open as u32)).max(1)
    }
}

/// The paper's c_visit.
const VISITS_BASE: f32 = 50.0;
/// The paper's c_scale: less than its 1, because early values are unreliable.
const SCALE: f32 = 0.6;

struct Edge {
    at: Vertex,
    logit: f32,
    chance: f32,
    visits: u32,
    /// Sum of winning chances for the side to move.
    wins: f32,
    child: u32,
}

struct Node {
    first: u32,
    count: u32,
    /// Winning chance of the side to move, by the network.
    value: f32,
}

/// A training position.
struct Sample {
    facts: Vec<InputPlanes>,
    whole: GlobalInputs,
    turn: u8,
    /// Policy target for each point and the pass.
    policy: Vec<u16>,
    /// Winning chance of the side to move, by the search.
    value: f32,
}

/// The position of a game or of a search.
#[derive(Clone)]
struct State<const N: usize, const W: usize> {
    stones: Stones<N, W>,
    turn: u8,
    trail: [Vertex; 2],
    /// Number of successive passes.
    passes: u8,
}

impl<const N: usize, const W: usize> State<N, W> {
    fn play(&mut self, at: Vertex) {
        if at == PASS {
            self.stones.pass();
            self.passes += 1;
        } else {
            self.stones.put(at, self.turn);
            self.passes = 0;
        }
        self.turn = other(self.turn);
        self.trail = [at, self.trail[0]];
    }

    /// `bonus` is White's compensation, in half points.
    fn whole(&self, bonus: i32) -> GlobalInputs {
        let komi = bonus as f32 / 2.0;
        GlobalInputs { komi: if self.turn == BLACK { -komi } else { komi }, passed: self.passes > 0 }
    }
}

struct Table<const N: usize, const W: usize> {
    rng: Rng,
    root: State<N, W>,
    ply: u32,
    /// Number of opening moves sampled from the policy without search.
    drawn: u32,
    /// White's compensation, in half points.
    bonus: i32,
    past: Vec<u64>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Gumbel noise of the root's edges.
    noise: Vec<f32>,
    /// The root's edges that are left after halving.
    open: Vec<usize>,
    /// Visits of each of them before the next halving.
    goal: u32,
    looks: u32,
    /// The path to the position under evaluation, as edges; below: that position.
    path: Vec<u32>,
    leaf: State<N, W>,
    root_facts: Vec<InputPlanes>,
    samples: Vec<Sample>,
}

/// The games on boards of one size.
pub struct NetGames<const N: usize, const W: usize> {
    setup: NetGamesSetup,
    tables: Vec<Table<N, W>>,
    finished: Vec<u8>,
    count: u32,
    room: Vec<InputPlanes>,
}

/// Format of training positions: for each position the input planes, two global inputs, the policy target for each point and
/// the pass (of 65,535), the final ownership (1 for the side to move, -1), the result, and the search's winning chance.
fn write(sample: &Sample, owners: &[u8], winner: u8, out: &mut Vec<u8>) {
    for fact in &sample.facts {
        out.extend(fact.to_le_bytes());
    }
    for aim in &sample.policy {
        out.extend(aim.to_le_bytes());
    }
    for number in sample.whole.values() {
        out.extend(number.to_le_bytes());
    }
    out.extend((if winner == sample.turn { 1.0_f32 } else { 0.0 }).to_le_bytes());
    out.extend(sample.value.to_le_bytes());
    out.extend(owners.iter().map(|&owner| {
        let black = margin(owner) as i8;
        (if sample.turn == BLACK { black } else { -black }) as u8
    }));
}

impl<const N: usize, const W: usize> NetGames<N, W> {
    /// Games at their start.
    pub fn new(setup: NetGamesSetup) -> Self {
        let mut rng = Rng::new(setup.seed);
        let tables = (0..setup.games).map(|_| Table::new(setup.size, rng.next_u64())).collect();
        Self { setup, tables, finished: Vec::new(), count: 0, room: Vec::new() }
    }

    /// Writes the positions to evaluate: input planes of one position per game, then two global inputs per game.
    pub fn ask(&mut self, out: &mut Vec<u8>) {
        let mut numbers = Vec::with_capacity(self.tables.len() * 8);
        for table in &mut self.tables {
            facts(&table.leaf.stones, table.leaf.turn, table.leaf.trail, &mut self.room);
            for fact in &self.room {
                out.extend(fact.to_le_bytes());
            }
            if table.path.is_empty() {
                table.root_facts.clone_from(&self.room);
            }
            for number in table.leaf.whole(table.bonus).values() {
                numbers.extend(number.to_le_bytes());
            }
        }
        out.extend(numbers);
    }

    /// Reads the evaluations: per game a logit for each point and the pass, then the winning chance of the side to move as a
    /// logit.
    pub fn answer(&mut self, numbers: &[f32]) {
        let each = numbers.len() / self.tables.len();
        for (table, numbers) in self.tables.iter_mut().zip(numbers.chunks_exact(each)) {
            let (logits, odds) = numbers.split_at(each - 1);
            table.take(logits, 1.0 / (1.0 + (-odds[0]).exp()), &self.setup);
            if table.is_over() {
                let owners = table.root.stones.area();
                let black: i32 = owners.iter().map(|&owner| margin(owner)).sum();
                let winner = if 2 * black > table.bonus { BLACK } else { other(BLACK) };
                for sample in &table.samples {
                    write(sample, &owners, winner, &mut self.finished);
                }
                self.count += table.samples.len() as u32;
                *table = Table::new(self.setup.size, table.rng.next_u64());
            }
        }
    }

    /// Takes the positions of finished games, with their number.
    pub fn take_finished(&mut self) -> (u32, Vec<u8>) {
        (std::mem::take(&mut self.count), std::mem::take(&mut self.finished))
    }
}

impl<const N: usize, const W: usize> Table<N, W> {
    fn new(size: u8, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let stones = Stones::new(size);
        let past = vec![stones.key];
        let root = State { stones, turn: BLACK, trail: [PASS; 2], passes: 0 };
        // Mostly standard komi, otherwise random komi, so that the network learns its effect.
        let bonus = if rng.below(10) < 7 { 15 } else { 2 * rng.below(25) as i32 - 9 };
        let drawn = if rng.below(2) == 0 { rng.below(10) } else { 0 };
        Self {
            rng,
            leaf: root.clone(),
            past,
            root,
            ply: 0,
            drawn,
            bonus,
            nodes: Vec::new(),
            edges: Vec::new(),
            noise: Vec::new(),
            open: Vec::new(),
            goal: 0,
            looks: 0,
            path: Vec::new(),
            root_facts: Vec::new(),
            samples: Vec::new(),
        }
    }

    fn area(&self) -> u32 {
        self.root.stones.geometry.points.len() as u32
    }

    fn is_over(&self) -> bool {
        self.root.passes == 2 || self.ply > 2 * self.area()
    }

    /// Handles the evaluation of the leaf. Continues until another leaf needs an evaluation, or the game is over.
    fn take(&mut self, logits: &[f32], value: f32, setup: &NetGamesSetup) {
        self.grow(logits, value);
        self.back_up(value);
        if self.path.is_empty() {
            self.begin(setup);
        }
        loop {
            if self.drawn > self.ply || self.looks >= setup.looks || self.nodes[0].count == 1 {
                self.decide();
                // The next root is evaluated first.
                self.nodes.clear();
                self.edges.clear();
                self.path.clear();
                self.leaf.clone_from(&self.root);
                return;
            }
            self.looks += 1;
            match self.descend(setup) {
                None => return,
                Some(value) => self.back_up(value),
            }
        }
    }

    /// Expands the leaf.
    fn grow(&mut self, logits: &[f32], value: f32) {
        let first = self.edges.len() as u32;
        let turn = self.leaf.turn;
        let path = &self.path;
        let leaf = &self.leaf.stones;
        let may_pass = self.ply + path.len() as u32 >= self.area() / 2;
        let mut most = f32::NEG_INFINITY;
        for (n, &at) in leaf.geometry.points.iter().enumerate() {
            if leaf.cell(at) == EMPTY && leaf.is_legal(at, turn) && !leaf.is_eye(at, turn) {
                // Only captures can repeat a position. Repetitions within the short path are ignored.
                let takes = leaf.four(at).into_iter().any(|neighbour| {
                    leaf.cell(neighbour as Vertex) == other(turn) && leaf.count(neighbour as Vertex) == 1
                });
                let repeats = takes && self.past.contains(&leaf.key_after(at, turn));
                if !repeats {
                    most = most.max(logits[n]);
                    self.edges.push(Edge {
                        at,
                        logit: logits[n],
                        chance: 0.0,
                        visits: 0,
                        wins: 0.0,
                        child: 0,
                    });
                }
            }
        }
        if may_pass || self.edges.len() as u32 == first {
            let logit = logits[logits.len() - 1];
            most = most.max(logit);
            self.edges.push(Edge { at: PASS, logit, chance: 0.0, visits: 0, wins: 0.0, child: 0 });
        }
        let edges = &mut self.edges[first as usize..];
        let mut sum = 0.0;
        for edge in &mut *edges {
            edge.logit -= most;
            edge.chance = edge.logit.exp();
            sum += edge.chance;
        }
        for edge in &mut *edges {
            edge.chance /= sum;
        }
        let count = edges.len() as u32;
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { first, count, value });
        if let Some(&edge) = self.path.last() {
            self.edges[edge as usize].child = node;
        }
    }

    /// Backpropagates the value of the leaf for its side to move.
    fn back_up(&mut self, value: f32) {
        let mut value = value;
        for &edge in self.path.iter().rev() {
            value = 1.0 - value;
            let edge = &mut self.edges[edge as usize];
            edge.visits += 1;
            edge.wins += value;
        }
    }

    /// Samples noise and candidates of a new root.
    fn begin(&mut self, setup: &NetGamesSetup) {
        self.looks = 0;
        let count = self.nodes[0].count as usize;
        self.noise.clear();
        for _ in 0..count {
            let unit = ((self.rng.next_u64() >> 40) as f32 + 0.5) / (1 << 24) as f32;
            self.noise.push(-(-unit.ln()).ln());
        }
        self.open = (0..count).collect();
        let (edges, noise) = (&self.edges, &self.noise);
        self.open.sort_by(|&a, &b| (edges[b].logit + noise[b]).total_cmp(&(edges[a].logit + noise[a])));
        self.open.truncate(setup.candidates);
        self.goal = setup.each(self.open.len());
    }

    /// The improved policy of a node as logits.
    fn improved(&self, node: usize, into: &mut Vec<f32>) {
        let Node { first, count, value, .. } = self.nodes[node];
        let edges = &self.edges[first as usize..(first + count) as usize];
        let (mut visits, mut most, mut chance, mut weighed) = (0, 0, 0.0, 0.0);
        for edge in edges.iter().filter(|edge| edge.visits > 0) {
            visits += edge.visits;
            most = most.max(edge.visits);
            chance += edge.chance;
            weighed += edge.chance * edge.wins / edge.visits as f32;
        }
        let mixed = if chance > 0.0 {
            (value + visits as f32 * weighed / chance) / (1 + visits) as f32
        } else {
            value
        };
        let scale = (VISITS_BASE + most as f32) * SCALE;
        into.clear();
        into.extend(edges.iter().map(|edge| {
            let worth = if edge.visits > 0 { edge.wins / edge.visits as f32 } else { mixed };
            edge.logit + scale * worth
        }));
    }

    /// Descends to the next leaf; returns the value for its side to move if the game is over there.
    fn descend(&mut self, setup: &NetGamesSetup) -> Option<f32> {
        let mut room = Vec::new();
        self.path.clear();
        self.leaf.clone_from(&self.root);
        let mut node = 0;
        loop {
            let first = self.nodes[node].first;
            let chosen = if node == 0 {
                self.candidate(setup)
            } else {
                self.improved(node, &mut room);
                softmax(&mut room);
                let edges = &self.edges[first as usize..][..room.len()];
                let visits: u32 = edges.iter().map(|edge| edge.visits).sum();
                let part = 1.0 / (1 + visits) as f32;
                let want = |n: usize| room[n] - edges[n].visits as f32 * part;
                (0..room.len()).max_by(|&a, &b| want(a).total_cmp(&want(b))).unwrap_or(0)
            };
            let edge = first + chosen as u32;
            self.path.push(edge);
            let Edge { at, child, .. } = self.edges[edge as usize];
            self.leaf.play(at);
            if self.leaf.passes == 2 {
                let black: i32 = self.leaf.stones.area().into_iter().map(margin).sum();
                let won = (2 * black > self.bonus) == (self.leaf.turn == BLACK);
                return Some(if won { 1.0 } else { 0.0 });
            }
            if child == 0 {
                return None;
            }
            node = child as usize;
        }
    }

    /// The root's edge to visit next: remaining candidates equally often, with sequential halving.
    fn candidate(&mut self, setup: &NetGamesSetup) -> usize {
        let least = self.open.iter().map(|&n| self.edges[n].visits).min().unwrap_or(0);
        if least >= self.goal && self.open.len() > 2 {
            let mut opinions = Vec::new();
            self.improved(0, &mut opinions);
            let noise = &self.noise;
            self.open.sort_by(|&a, &b| (opinions[b] + noise[b]).total_cmp(&(opinions[a] + noise[a])));
            self.open.truncate(self.open.len().div_ceil(2));
            self.goal += setup.each(self.open.len());
        }
        let open = self.open.iter().copied();
        open.min_by_key(|&n| self.edges[n].visits).expect("some are always in question")
    }

    /// Plays a move, and stores the training position.
    fn decide(&mut self) {
        let searched = self.drawn <= self.ply && self.nodes[0].count > 1;
        let mut opinions = Vec::new();
        self.improved(0, &mut opinions);
        let chosen = if searched {
            let want = |n: usize| opinions[n] + self.noise[n];
            let most = self.open.iter().map(|&n| self.edges[n].visits).max().unwrap_or(0);
            let open = self.open.iter().copied().filter(|&n| self.edges[n].visits == most);
            open.max_by(|&a, &b| want(a).total_cmp(&want(b))).unwrap_or(0)
        } else {
            // Sampled from the policy.
            let want = |n: usize| self.edges[n].logit + self.noise[n];
            (0..opinions.len()).max_by(|&a, &b| want(a).total_cmp(&want(b))).unwrap_or(0)
        };
        if searched {
            softmax(&mut opinions);
            let points = &self.root.stones.geometry.points;
            let mut policy = vec![0; points.len() + 1];
            let mut value = 0.0;
            for (edge, &chance) in self.edges.iter().zip(&opinions) {
                let n = points.binary_search(&edge.at).unwrap_or(points.len());
                policy[n] = (chance * 65_535.0) as u16;
                if edge.visits > 0 {
                    value += edge.wins;
                }
            }
            let visits: u32 = self.edges[..opinions.len()].iter().map(|edge| edge.visits).sum();
            self.samples.push(Sample {
                facts: std::mem::take(&mut self.root_facts),
                whole: self.root.whole(self.bonus),
                turn: self.root.turn,
                policy,
                value: value / visits.max(1) as f32,
            });
        }
        let at = self.edges[chosen].at;
        self.root.play(at);
        if at != PASS {
            self.past.push(self.root.stones.key);
        }
        self.ply += 1;
    }
}

fn softmax(numbers: &mut [f32]) {
    let most = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for number in &mut *numbers {
        *number = (*number - most).exp();
        sum += *number;
    }
    for number in numbers {
        *number /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a position on 5x5 as [`write`] writes it: planes, policy, global inputs, result, chance, ownership.
    const EACH: usize = 25 * 2 + 26 * 2 + 8 + 4 + 4 + 25;

    /// Plays with a fake network that prefers the middle of the list of points, until this many positions are finished.
    fn played(seed: u64, positions: u32) -> Vec<u8> {
        let setup = NetGamesSetup { size: 5, games: 3, looks: 8, candidates: 4, seed };
        let mut games = NetGames::<128, 2>::new(setup);
        let (mut asked, mut finished, mut count) = (Vec::new(), Vec::new(), 0);
        while count < positions {
            asked.clear();
            games.ask(&mut asked);
            assert_eq!(asked.len(), 3 * (25 * 2 + 8));
            let answers: Vec<f32> = (0..3 * 27).map(|n| ((n % 27) as f32 / 8.0).sin()).collect();
            games.answer(&answers);
            let (more, bytes) = games.take_finished();
            assert_eq!(bytes.len(), more as usize * EACH);
            count += more;
            finished.extend(bytes);
        }
        finished
    }

    #[test]
    fn what_is_to_be_learnt_is_a_share_of_one_for_the_moves_that_are_allowed() {
        let finished = played(1, 200);
        for position in finished.chunks_exact(EACH) {
            let word = |at: usize| u16::from_le_bytes([position[at], position[at + 1]]);
            let float = |at: usize| {
                f32::from_le_bytes([position[at], position[at + 1], position[at + 2], position[at + 3]])
            };
            let aims: Vec<u32> = (0..26).map(|n| u32::from(word(50 + 2 * n))).collect();
            assert!((65_500..=65_535).contains(&aims.iter().sum::<u32>()), "{aims:?}");
            for (n, &aim) in aims[..25].iter().enumerate() {
                // Occupied or forbidden points (bits 0, 1 and 5) have no policy target.
                assert!(aim == 0 || word(2 * n) & 0b10_0011 == 0, "{n} of {aims:?}");
            }
            let (result, chance) = (float(110), float(114));
            assert!(result.to_bits() == 0 || result.to_bits() == 1.0_f32.to_bits());
            assert!((0.0..=1.0).contains(&chance));
            assert!(position[118..].iter().all(|&owner| (-1..=1).contains(&(owner as i8))));
        }
        let winners = finished.chunks_exact(EACH).filter(|position| position[113] != 0).count();
        assert!(winners > 0 && winners < finished.len() / EACH, "both sides win and lose");
    }

    #[test]
    fn the_same_seed_plays_the_same_games() {
        assert!(played(7, 60) == played(7, 60));
        assert!(played(7, 60) != played(8, 60));
    }
}
