//! Generation of puzzles: searches self-play games for positions with a unique solution.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::goal::{fewest, firsts, others_die};
use super::{Goal, MOST_KILLING, Puzzle, id};
use crate::go::{Go, GoSetup};
use crate::lights_out::{Lights, LightsOutSetup, Neighbours, Solution};
use crate::{Action, AnyGame, Game, GameKind, Limits, Point, Rng, Setup, Side, Tier, bot};

/// Progress of the generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Games or boards examined.
    pub tried: u64,
    /// Puzzles found.
    pub found: usize,
}

/// Generates `count` puzzles of a game, deterministically for a seed. `watch` is called for each position that is examined, and stops
/// the generation by returning `false`: those that were found are returned.
pub fn make(kind: GameKind, count: usize, seed: u64, watch: &mut dyn FnMut(Progress) -> bool) -> Vec<Puzzle> {
    let mut rng = Rng::new(seed);
    let mut basket = Basket { puzzles: Vec::new(), seen: HashSet::new(), heaps: HashMap::new(), count };
    let mut tried = 0;
    while basket.puzzles.len() < count && watch(Progress { tried, found: basket.puzzles.len() }) {
        tried += 1;
        let found = basket.puzzles.len();
        match kind {
            GameKind::LightsOut => {
                let side = 4 + rng.below(4) as u16;
                if let Some(puzzle) = lights(side, &mut rng).filter(|puzzle| puzzle.moves >= 4) {
                    basket.take(puzzle);
                }
            }
            GameKind::Go if rng.below(8) > 0 => {
                if let Some(start) = enclosure(&mut rng) {
                    basket.look(&start);
                }
            }
            _ => from_a_game(kind, &mut rng, &mut basket, &mut || watch(Progress { tried, found })),
        }
    }
    basket.puzzles.sort_by_key(|puzzle| (puzzle.grade(), puzzle.moves, puzzle.id.clone()));
    basket.puzzles
}

/// The puzzles found, without duplicates and with limited similarity.
struct Basket {
    puzzles: Vec<Puzzle>,
    seen: HashSet<u64>,
    heaps: HashMap<(u8, u32), usize>,
    count: usize,
}

impl Basket {
    fn has_room(&self, goal: Goal, moves: u32) -> bool {
        // At most a quarter of the puzzles of one kind and length.
        self.heaps.get(&(family(goal), moves)).is_none_or(|&heap| heap < self.count.div_ceil(4))
    }

    /// The most moves of a puzzle with this goal that there is room for.
    fn longest(&self, goal: Goal) -> Option<u32> {
        let (least, most, _) = bounds(goal);
        (least..=most).rev().find(|&moves| self.has_room(goal, moves))
    }

    fn take(&mut self, puzzle: Puzzle) -> bool {
        if !self.has_room(puzzle.goal, puzzle.moves) || !self.seen.insert(puzzle.shape()) {
            return false;
        }
        *self.heaps.entry((family(puzzle.goal), puzzle.moves)).or_default() += 1;
        self.puzzles.push(puzzle);
        true
    }

    /// Adds the puzzle of this position, if there is one.
    fn look(&mut self, game: &AnyGame) -> bool {
        for goal in goals(game) {
            let (least, _, nodes) = bounds(goal);
            let Some(most) = self.longest(goal) else { continue };
            let Some(Some(moves)) = fewest(game, goal, most, nodes) else { continue };
            if moves < least || !self.has_room(goal, moves) {
                continue;
            }
            // The first move must be unique even with some more moves.
            let Some(all) = firsts(game, goal, moves + slack(goal), nodes) else { continue };
            let [solution] = all[..] else { continue };
            // A move that makes no two eyes may still live in seki: then it is no mistake.
            if let Goal::Live(target) = goal
                && others_die(game, target, solution, MOST_KILLING, nodes) != Some(true)
            {
                continue;
            }
            let Some(start) = afresh(game) else { continue };
            let puzzle = Puzzle { id: id(&start, goal), goal, moves, solution, start };
            if self.take(puzzle) {
                return true;
            }
        }
        false
    }
}

const fn family(goal: Goal) -> u8 {
    match goal {
        Goal::Vcf => 0,
        Goal::Vct => 1,
        Goal::Mate => 2,
        Goal::Formation => 3,
        Goal::Win => 4,
        Goal::Capture(_) => 5,
        Goal::Kill(_) => 6,
        Goal::Lights => 7,
        Goal::Live(_) => 8,
    }
}

/// Minimum and maximum length of a puzzle, and maximum number of positions to search for it. Shorter ones are obvious,
/// longer ones are too rare to be worth the time.
const fn bounds(goal: Goal) -> (u32, u32, u64) {
    match goal {
        Goal::Vcf => (3, 12, 100_000),
        Goal::Vct => (4, 7, 60_000),
        Goal::Mate => (1, 7, 100_000),
        Goal::Formation => (2, 3, 150_000),
        Goal::Win => (2, 3, 300_000),
        Goal::Capture(_) => (2, 6, 30_000),
        Goal::Kill(_) => (2, 7, 60_000),
        Goal::Live(_) => (2, 6, 60_000),
        Goal::Lights => (4, 40, 0),
    }
}

/// Liuzhou chess: a win over more stones than this is not looked for. It is rare within three moves, and a search that finds none takes
/// most of the time: of 60 such puzzles that were made without this limit the loser had 13 stones at the most.
const MOST_TO_WIN: u32 = 14;

const fn slack(goal: Goal) -> u32 {
    match goal {
        Goal::Vcf | Goal::Vct | Goal::Kill(_) | Goal::Live(_) => 1,
        _ => 0,
    }
}

/// Goals that may be reachable in this position.
fn goals(game: &AnyGame) -> Vec<Goal> {
    match game {
        AnyGame::Gomoku(_) => vec![Goal::Vcf, Goal::Vct],
        AnyGame::Xiangqi(_) => vec![Goal::Mate],
        AnyGame::Liuzhou(liuzhou) => {
            let other = liuzhou.live(liuzhou.turn().other()).count_ones();
            if other > MOST_TO_WIN { vec![Goal::Formation] } else { vec![Goal::Win, Goal::Formation] }
        }
        AnyGame::Go(go) => {
            let size = u16::from(go.setup().size);
            let is_enclosed = go.setup().size == ENCLOSED_SIZE;
            // White is the enclosed side.
            let lives = is_enclosed && go.turn() == Side::Second;
            let owner = if lives { go.turn() } else { go.turn().other() };
            let mut rest: Vec<Point> =
                crate::game::points(size, size).filter(|&point| go.at(point) == Some(owner)).collect();
            let mut goals = Vec::new();
            while let Some(point) = rest.first().copied() {
                let chain = chain(go, point);
                rest.retain(|stone| !chain.contains(stone));
                if chain.len() >= 2 {
                    goals.push(match (is_enclosed, lives) {
                        (false, _) => Goal::Capture(point),
                        (true, false) => Goal::Kill(point),
                        (true, true) => Goal::Live(point),
                    });
                }
            }
            goals
        }
        AnyGame::LightsOut(_) => Vec::new(),
    }
}

fn chain(go: &Go, from: Point) -> Vec<Point> {
    let mut chain = vec![from];
    let mut next = 0;
    while let Some(&at) = chain.get(next) {
        next += 1;
        for beside in beside(at, u16::from(go.setup().size)) {
            if go.at(beside) == go.at(from) && !chain.contains(&beside) {
                chain.push(beside);
            }
        }
    }
    chain
}

fn beside(Point { column, row }: Point, size: u16) -> impl Iterator<Item = Point> {
    let beside =
        [(column.wrapping_sub(1), row), (column + 1, row), (column, row.wrapping_sub(1)), (column, row + 1)];
    beside
        .into_iter()
        .filter(move |&(column, row)| column < size && row < size)
        .map(|(c, r)| Point::new(c, r))
}

/// The position as text and back, without its history; `None` if that changes it.
fn afresh(game: &AnyGame) -> Option<AnyGame> {
    let mut line = game.position();
    if matches!(game, AnyGame::Liuzhou(_) | AnyGame::Xiangqi(_)) {
        // Plies without a capture are irrelevant in a puzzle.
        let mut words: Vec<&str> = line.split(' ').collect();
        if matches!(game, AnyGame::Xiangqi(_)) {
            words.truncate(2);
        } else {
            (words[4], words[5]) = ("0", "0");
        }
        line = words.join(" ");
    }
    let fresh = AnyGame::from_position(&game.kind().default_setup_for(&line), &line).ok()?;
    (fresh.turn() == game.turn() && fresh.outcome().is_none()).then_some(fresh)
}

/// At most one puzzle per game, because successive ones are similar. Ends early when `go_on` says so.
fn from_a_game(kind: GameKind, rng: &mut Rng, basket: &mut Basket, go_on: &mut dyn FnMut() -> bool) {
    let setup = match kind {
        GameKind::Go => Setup::Go(GoSetup { size: 9, ..GoSetup::default() }),
        _ => kind.default_setup(),
    };
    // Weak enough to make mistakes, strong enough for shapes that people know.
    let (level, nodes, opening, from) = match kind {
        GameKind::Gomoku => (4, 400, 3, 8),
        GameKind::Xiangqi => (3, 400, 8, 12),
        GameKind::Liuzhou => (3, 200, 6, 36),
        GameKind::Go => (3, 60, 6, 10),
        GameKind::LightsOut => return,
    };
    let mut game = AnyGame::new(&setup).expect("the setup is valid");
    let mut bots = Side::BOTH.map(|_| bot(kind, Tier::new(level).expect("1 to 10"), rng.next_u64()));
    let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
    while game.outcome().is_none() && game.ply() < LONGEST && go_on() {
        if game.ply() >= from && is_quiet(&game) && basket.look(&game) {
            return;
        }
        let action = if game.ply() < opening || kind == GameKind::Liuzhou && rng.below(5) == 0 {
            let mut legal = game.legal_actions();
            if kind == GameKind::Gomoku {
                let middle = game.view().columns / 2;
                let near = |action: &Action| {
                    matches!(action, Action::Place(point)
                        if point.column.abs_diff(middle) <= 3 && point.row.abs_diff(middle) <= 3)
                };
                legal.retain(near);
            }
            legal[rng.below(legal.len() as u32) as usize]
        } else {
            let limits =
                Limits { time: None, nodes: Some(nodes), depth: Some(6), stop: &stop, elapsed: &elapsed };
            let chosen = bots[game.turn().index()].choose(&game, &limits, &mut |_| {});
            let Some(action) = chosen.and_then(|report| report.line.first().copied()) else { return };
            action
        };
        if game.act(action).is_err() {
            return;
        }
    }
}

/// Games longer than this number of decisions offer no more puzzles.
const LONGEST: u32 = 260;

/// Whether a whole turn begins in this position.
fn is_quiet(game: &AnyGame) -> bool {
    match game {
        AnyGame::Liuzhou(game) => game.is_stepping(),
        AnyGame::Go(game) => !game.is_agreeing(),
        _ => true,
    }
}

/// Board size of life-and-death puzzles; whole-game boards are larger.
const ENCLOSED_SIZE: u8 = 7;

/// A random life-and-death position: a group in a corner or at an edge, enclosed by a wall that lives outside. White is
/// enclosed; Black is to kill, or White to live.
fn enclosure(rng: &mut Rng) -> Option<AnyGame> {
    let size = u16::from(ENCLOSED_SIZE);
    // The eye space: connected points, from the corner or the edge on.
    let start = if rng.below(2) == 0 { Point::new(0, 0) } else { Point::new(2 + rng.below(2) as u16, 0) };
    let mut space = vec![start];
    let wanted = 4 + rng.below(5) as usize;
    for _ in 0..60 {
        let from = space[rng.below(space.len() as u32) as usize];
        let around: Vec<Point> = beside(from, size).collect();
        let next = around[rng.below(around.len() as u32) as usize];
        if !space.contains(&next) && next.column < 5 && next.row < 3 {
            space.push(next);
        }
        if space.len() == wanted {
            break;
        }
    }
    let near8 = |set: &[Point]| -> Vec<Point> {
        crate::game::points(size, size)
            .filter(|at| !set.contains(at))
            .filter(|at| {
                set.iter().any(|one| one.column.abs_diff(at.column) <= 1 && one.row.abs_diff(at.row) <= 1)
            })
            .collect()
    };
    // White's stones around it, with occasional gaps; some points of the eye space are occupied.
    let ring = near8(&space);
    let mut whites: Vec<Point> = Vec::new();
    let mut blacks: Vec<Point> = Vec::new();
    for &at in &ring {
        if rng.below(7) > 0 {
            whites.push(at);
        }
    }
    for &at in &space {
        match rng.below(9) {
            0 => whites.push(at),
            1 => blacks.push(at),
            _ => {}
        }
    }
    let inside: Vec<Point> = space.iter().chain(&ring).copied().collect();
    let wall = near8(&inside);
    blacks.extend(&wall);
    let rows: Vec<String> = (0..size)
        .rev()
        .map(|row| {
            let mut text = String::new();
            let mut empty = 0;
            for column in 0..size {
                let at = Point::new(column, row);
                let stone = if whites.contains(&at) {
                    'w'
                } else if blacks.contains(&at) {
                    'b'
                } else {
                    empty += 1;
                    continue;
                };
                if empty > 0 {
                    text += &empty.to_string();
                    empty = 0;
                }
                text.push(stone);
            }
            if empty > 0 {
                text += &empty.to_string();
            }
            text
        })
        .collect();
    let turn = if rng.below(2) == 0 { 'b' } else { 'w' };
    let line = format!("{} {turn} - 0 0 0", rows.join("/"));
    let game = AnyGame::from_position(&GameKind::Go.default_setup_for(&line), &line).ok()?;
    let AnyGame::Go(go) = &game else { return None };
    // The wall is one chain with outside liberties, and White is one or two chains.
    let wall_chain = chain(go, *wall.first()?);
    let outside = |at: &Point| go.at(*at).is_none() && !inside.contains(at);
    let breath = crate::game::points(size, size)
        .filter(outside)
        .filter(|&at| beside(at, size).any(|next| wall_chain.contains(&next)))
        .count();
    let whole = wall.iter().all(|at| wall_chain.contains(at));
    let white_chains = {
        let mut rest = whites.clone();
        let mut count = 0;
        while let Some(&at) = rest.first() {
            let chain = chain(go, at);
            rest.retain(|stone| !chain.contains(stone));
            count += 1;
        }
        count
    };
    (whole && breath >= 3 && white_chains <= 3 && whites.len() >= 4).then_some(game)
}

/// A random Lights Out board of this size; `None` if it is already solved, or the minimal number of presses is unknown.
pub(super) fn lights(side: u16, rng: &mut Rng) -> Option<Puzzle> {
    let neighbours = Neighbours::default();
    let mut presses = Lights::new(side, side)?;
    let wanted = 4 + rng.below(u32::from(side) * u32::from(side) / 2);
    for _ in 0..wanted {
        let (column, row) = (rng.below(side.into()) as u16, rng.below(side.into()) as u16);
        presses.toggle(Point::new(column, row));
    }
    let board = Lights::toggled_by(&presses, neighbours);
    if board.count() == 0 {
        return None;
    }
    let setup = LightsOutSetup { neighbours, start: crate::lights_out::Start::Board(board), race: false };
    let start = AnyGame::new(&Setup::LightsOut(setup)).ok()?;
    let AnyGame::LightsOut(game) = &start else { return None };
    let Solution::Presses { presses, fewest: true } = game.solution() else { return None };
    let solution = Action::Press(presses.points().next()?);
    let (goal, moves) = (Goal::Lights, presses.count());
    Some(Puzzle { id: id(&start, goal), goal, moves, solution, start })
}
