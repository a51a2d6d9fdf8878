//! The gomoku bot and its levels.

use super::balance::{BALANCING_NODES, BALANCING_TRIED, Balance, EVEN};
use super::board::{Board, Square, Tables};
use super::book::Book;
use super::greedy::greedy;
use super::position::Position;
use super::vcf::Solver;
use super::{Gomoku, GomokuOpening, GomokuRule};
use crate::bot::lines_apart;
use crate::parameters::{self, Parameter, ParameterError, ParameterRef, Visit};
use crate::search::{AlphaBeta, AlphaBetaGame, Clock, Finding, Options, Value};
use crate::{Action, AnyGame, Bot, Choice, Game, Limits, Point, Report, Rng, Score, Tier};

/// The gomoku bot. It allocates its tables at the first search.
pub struct GomokuBot {
    strength: Strength,
    table_bytes: usize,
    seed: u64,
    search: AlphaBeta<Position>,
    /// Moved into the position during a search.
    solver: Solver,
    /// Percentage of the network's output that is used.
    net: i32,
}

/// Limits of a level, in addition to the caller's.
#[derive(Clone, Copy)]
struct Strength {
    /// Full plies.
    depth: u32,
    /// Nodes.
    nodes: u64,
    /// Maximum noise of a static evaluation.
    noise: i32,
    /// Maximum own moves of a win by fours (VCF) that the level finds.
    vcf_moves: u32,
    /// Nodes for the search of a win by threes (VCT).
    vct_nodes: u32,
    /// Percentage of the network's output that is used.
    net: i32,
    table_bytes: usize,
}

const MB: usize = 1 << 20;
const NO_LIMIT: u32 = u32::MAX;
/// Bytes of table per node of a limited search, with some reserve.
const BYTES_PER_NODE: usize = 32;

/// Levels 2 to 10. Level 1 is the greedy table. Calibrated by matches between adjacent levels; see EXPERIMENTS.md.
const STRENGTHS: [Strength; 9] = [
    Strength { depth: 1, nodes: 500, noise: 120, vcf_moves: 1, vct_nodes: 0, net: 0, table_bytes: MB / 4 },
    Strength { depth: 2, nodes: 1_000, noise: 50, vcf_moves: 2, vct_nodes: 0, net: 0, table_bytes: MB / 4 },
    Strength { depth: 3, nodes: 2_000, noise: 44, vcf_moves: 2, vct_nodes: 0, net: 15, table_bytes: MB / 4 },
    Strength { depth: 4, nodes: 4_000, noise: 25, vcf_moves: 3, vct_nodes: 0, net: 30, table_bytes: MB / 2 },
    Strength { depth: 6, nodes: 10_000, noise: 15, vcf_moves: 5, vct_nodes: 200, net: 45, table_bytes: MB },
    Strength {
        depth: 8,
        nodes: 30_000,
        noise: 5,
        vcf_moves: 8,
        vct_nodes: 1_000,
        net: 60,
        table_bytes: 2 * MB,
    },
    Strength {
        depth: 11,
        nodes: 125_000,
        noise: 0,
        vcf_moves: 13,
        vct_nodes: 6_000,
        net: 83,
        table_bytes: 4 * MB,
    },
    Strength {
        depth: 14,
        nodes: 400_000,
        noise: 0,
        vcf_moves: 20,
        vct_nodes: 20_000,
        net: 100,
        table_bytes: 16 * MB,
    },
    Strength {
        depth: NO_LIMIT,
        nodes: u64::MAX,
        noise: 0,
        vcf_moves: 30,
        vct_nodes: 100_000,
        net: 100,
        table_bytes: 32 * MB,
    },
];

impl GomokuBot {
    fn strength(level: Tier) -> Strength {
        match level.number() {
            1 => Strength { depth: 0, ..STRENGTHS[0] },
            number => STRENGTHS[usize::from(number) - 2],
        }
    }

    /// A player of this strength; the seed breaks ties and colours its errors.
    pub fn new(level: Tier, seed: u64) -> Self {
        Self::with_table(level, seed, None)
    }

    /// A player whose table of positions takes this many bytes instead of what the level would choose (32 MB at most).
    pub fn with_table(level: Tier, seed: u64, table_bytes: Option<usize>) -> Self {
        let strength = Self::strength(level);
        let options = Options { noise: strength.noise, seed, ..Options::default() };
        let table_bytes = table_bytes.unwrap_or(strength.table_bytes);
        Self {
            strength,
            table_bytes,
            seed,
            search: AlphaBeta::new(table_bytes, options),
            solver: Solver::new(),
            net: strength.net,
        }
    }

    /// Computes the tables of this rule now, instead of at the first decision.
    pub fn prepare(&mut self, rule: GomokuRule) {
        if self.strength.depth > 0 {
            Tables::shared(rule);
            self.search.prepare();
        }
    }

    /// A decision during the opening, except plain moves and what a search of the level decides: colours of Swap and Swap2.
    fn opening(&self, game: &Gomoku) -> Option<Action> {
        let balance = Balance {
            nodes: self.strength.nodes,
            net: self.net,
            seed: self.seed,
            searches: self.strength.depth > 0,
        };
        let opening = game.setup().opening;
        if !matches!(opening, GomokuOpening::Swap | GomokuOpening::Swap2) {
            return balance.decide(game);
        }
        let mut rng = Rng::new(self.seed ^ game.key());
        if !game.choices().is_empty() && self.strength.depth == 0 {
            return Some(Action::Choose(game.choices()[rng.below(game.choices().len() as u32) as usize]));
        }
        if !game.is_opening() {
            return None;
        }
        // On a ring around the centre, so that neither side gets an immediate win from adjacent stones.
        let middle = i32::from(game.setup().size / 2);
        let reach = middle.min(4) as u32;
        let mut coordinate = || (middle + rng.below(2 * reach + 1) as i32 - reach as i32) as u16;
        let mut ring = (0..100)
            .map(|_| Action::Place(Point::new(coordinate(), coordinate())))
            .filter(|&action| game.legal_move(action).is_ok());
        let first = ring.next()?;
        if self.strength.nodes < BALANCING_NODES {
            return Some(first);
        }
        // The opponent chooses colours after the last of these stones, so that the position should be balanced.
        let lead = |action: Action| {
            let mut after = game.clone();
            after.play(after.legal_move(action).ok()?);
            (!after.choices().is_empty()).then(|| balance.lead(&after))
        };
        let stones = std::iter::once(first).chain(ring).take(BALANCING_TRIED);
        stones.min_by_key(|&action| lead(action)).or(Some(first))
    }

    /// A decision without the book.
    fn find(
        &mut self,
        game: &Gomoku,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        if game.outcome().is_some() {
            return None;
        }
        let at_once = match self.opening(game) {
            None if self.strength.depth == 0 => Some(Action::Place(greedy(game, self.seed)?.point())),
            action => action,
        };
        if let Some(action) = at_once {
            let found = Report { line: vec![action], score: Score::Points(0), depth: 1, nodes: 1 };
            report(&found);
            return Some(found);
        }
        self.look_ahead(game, limits, report)
    }

    /// The result of a search within the limits of caller and level.
    fn look_ahead(
        &mut self,
        game: &Gomoku,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        if limits.time.is_none() {
            // Without a time limit the tables are cleared, so that the result depends only on the arguments.
            let enough =
                limits.nodes.map_or(usize::MAX, |nodes| (nodes as usize).saturating_mul(BYTES_PER_NODE));
            self.search.forget(self.table_bytes.min(enough).max(MB / 16));
            self.solver.forget();
        }
        let own = Limits {
            time: limits.time,
            nodes: Some(limits.nodes.map_or(self.strength.nodes, |nodes| nodes.min(self.strength.nodes))),
            depth: Some(limits.depth.map_or(self.strength.depth, |depth| depth.min(self.strength.depth))),
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        let board = Board::new(game, Tables::shared(game.setup().rule));
        let solver = std::mem::replace(&mut self.solver, Solver::new());
        let mut position = Position::new(board, solver).with_net(self.net);
        let mut clock = Clock::new(&own);
        let choices: Vec<Choice> = game.choices().to_vec();
        let found = if choices.is_empty() {
            self.think(&mut position, &mut clock, report)
        } else {
            // Without reports, because only the choice is reported.
            let judged = self.think(&mut position, &mut clock, &mut |_| {});
            judged.map(|judged| {
                let choice = preferred(&choices, judged.score);
                let chosen = Report { line: vec![Action::Choose(choice)], ..judged };
                report(&chosen);
                chosen
            })
        };
        self.solver = position.solver;
        found
    }

    /// A book move, at the highest level: the best one or an equally good one, chosen by the seed.
    fn recall(&self, game: &Gomoku) -> Option<Report> {
        /// Maximum loss in points of an equally good book move: less than the error of the book's searches.
        const AS_GOOD: i16 = 10;
        if self.strength.nodes < u64::MAX || game.outcome().is_some() {
            return None;
        }
        let moves = Book::shared(game.setup())?.moves(game);
        let &(_, best) = moves.first()?;
        let good = moves.partition_point(|&(_, value)| value >= best - AS_GOOD);
        let (point, value) = moves[Rng::new(self.seed ^ game.key()).below(good as u32) as usize];
        Some(Report {
            line: vec![Action::Place(point)],
            score: Score::Points(value.into()),
            depth: 1,
            nodes: 1,
        })
    }

    fn think(
        &mut self,
        position: &mut Position,
        clock: &mut Clock<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let strength = self.strength;
        let board = &mut position.board;
        // Limit of a VCF search: a sixth of a second on an old handheld; a proven win is worth it even in time trouble.
        const VCF_NODES: u32 = 50_000;
        /// Percentage of the limits for the VCT search: a result is a proven win, but usually there is none.
        const VCT_SHARE: u32 = 3;
        let solver = &mut position.solver;
        let mut win = solver.shortest_vcf(board, strength.vcf_moves, VCF_NODES, clock);
        if win.is_none() && strength.vct_nodes > 0 && position.verdict().is_none() {
            win = position.solver.vct(&mut position.board, 14, strength.vct_nodes, VCT_SHARE, clock);
        }
        if let Some(win) = win {
            let line = winning_line(position, win.first, clock);
            let found = Report {
                line: actions(&line),
                score: Score::WinIn(win.plies),
                depth: win.plies,
                nodes: clock.nodes(),
            };
            report(&found);
            return Some(found);
        }
        let to_report = |finding: &Finding<Square>| Report {
            line: actions(&finding.line),
            score: Value::score(finding.value),
            depth: finding.depth,
            nodes: finding.nodes,
        };
        let searched = self.search.search(position, clock, &mut |finding| report(&to_report(finding)));
        let Some(mut finding) = searched else {
            let found = Report {
                line: actions(&[last_resort(&position.board)?]),
                score: Score::LossIn(2),
                depth: 1,
                nodes: clock.nodes(),
            };
            report(&found);
            return Some(found);
        };
        if finding.value <= -Value::PROVEN
            && strength.vcf_moves >= LOST_VCF_MOVES
            && let Some(better) = hardest_to_win(position, finding.line[0], clock)
        {
            finding.line = vec![better];
            report(&to_report(&finding));
        }
        Some(to_report(&finding))
    }
}

/// The colour to choose by a score for White, whose stone is next; two more stones if the score is balanced.
fn preferred(choices: &[Choice], score: Score) -> Choice {
    match score {
        Score::Points(points) | Score::Chance { points, .. }
            if points.abs() <= EVEN && choices.contains(&Choice::TwoMore) =>
        {
            Choice::TwoMore
        }
        Score::Points(points) | Score::Chance { points, .. } if points < 0 => Choice::Black,
        Score::LossIn(_) => Choice::Black,
        Score::Points(_) | Score::Chance { .. } | Score::WinIn(_) => Choice::White,
    }
}

/// A legal stone for a side whose defences are all forbidden points, if there is one.
fn last_resort(board: &Board) -> Option<Square> {
    let (us, them) = (board.turn(), board.turn().other());
    let rank = |&square: &Square| {
        i32::from(board.shape(square, us).attack) + i32::from(board.shape(square, them).defence)
    };
    let allowed = board.all_empty().filter(|&square| !board.is_forbidden(square));
    allowed.max_by_key(rank).or_else(|| board.all_empty().next())
}

/// Number of own moves, the five included, of the VCFs that a lost side avoids: 11 plies.
const LOST_VCF_MOVES: u32 = 6;

/// In a lost position, a move that does not lose to a VCF is harder for the opponent than the one that lasts longest. `None`
/// if the choice is such a move, or there is none.
fn hardest_to_win(position: &mut Position, choice: Square, clock: &mut Clock<'_>) -> Option<Square> {
    const NODES: u32 = 5_000;
    let Position { board, solver, .. } = position;
    let mut others: Vec<Square> =
        board.near().filter(|&square| square != choice && !board.is_forbidden(square)).collect();
    let (us, them) = (board.turn(), board.turn().other());
    others.sort_by_key(|&square| -(board.shape(square, us).attack + board.shape(square, them).defence));
    let mut loses_to_fours = |square: Square| {
        board.make(square);
        let loses = solver.shortest_vcf(board, LOST_VCF_MOVES, NODES, clock).is_some();
        board.unmake();
        // Out of time: the choice is kept.
        loses || clock.is_over()
    };
    if !loses_to_fours(choice) {
        return None;
    }
    others.into_iter().find(|&square| !loses_to_fours(square))
}

fn actions(line: &[Square]) -> Vec<Action> {
    line.iter().map(|square| Action::Place(square.point())).collect()
}

/// The forced part of a winning variation: the first move, and continuations as long as the replies are unique.
fn winning_line(position: &mut Position, first: Square, clock: &mut Clock<'_>) -> Vec<Square> {
    const NODES: u32 = 2_000;
    let Position { board, solver, .. } = position;
    let mut line = vec![first];
    board.make(first);
    while !board.five_made() && board.empty() > 0 && line.len() < 60 {
        let winner = board.turn().other();
        if board.count(winner, super::shape::Threat::Five) == 0 {
            break;
        }
        let answer = board.five(winner);
        if board.is_forbidden(answer) {
            break;
        }
        board.make(answer);
        line.push(answer);
        let Some(win) = solver.shortest_vcf(board, 30, NODES, clock) else { break };
        board.make(win.first);
        line.push(win.first);
    }
    for _ in &line {
        board.unmake();
    }
    line
}

/// The parameters that do not belong to the search.
fn each_own(net: &mut i32, visit: Visit<'_>) {
    visit("net", (0.0, 200.0), ParameterRef::Whole(net));
}

impl Bot for GomokuBot {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let AnyGame::Gomoku(gomoku) = game else { return None };
        if let Some(found) = self.recall(gomoku) {
            report(&found);
            return Some(found);
        }
        self.find(gomoku, limits, report)
    }

    fn judge(&mut self, game: &AnyGame, limits: &Limits<'_>) -> Option<Report> {
        let AnyGame::Gomoku(game) = game else { return None };
        self.find(game, limits, &mut |_| {})
    }

    fn choose_lines(
        &mut self,
        game: &AnyGame,
        count: usize,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Vec<Report> {
        let AnyGame::Gomoku(gomoku) = game else { return Vec::new() };
        if gomoku.is_opening() || !gomoku.choices().is_empty() || self.strength.depth == 0 {
            return self.choose(game, limits, report).into_iter().collect();
        }
        lines_apart(count, limits, &mut |taken, limits| {
            if taken.is_empty() {
                return self.look_ahead(gomoku, limits, report);
            }
            let board = Board::new(gomoku, Tables::shared(gomoku.setup().rule));
            let mut position = Position::new(board, Solver::new()).with_net(self.net);
            let among = |square: Square| !taken.contains(&Action::Place(square.point()));
            let mut clock = Clock::new(limits);
            let finding = self.search.search_among(&mut position, &among, &mut clock, &mut |_| {})?;
            Some(Report {
                line: actions(&finding.line),
                score: Value::score(finding.value),
                depth: finding.depth,
                nodes: finding.nodes,
            })
        })
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        let mut numbers = self.search.parameters();
        numbers.extend(parameters::list(|visit| each_own(&mut self.net, visit)));
        numbers
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        match parameters::set(name, value, |visit| each_own(&mut self.net, visit)) {
            Err(ParameterError::Unknown(_)) => self.search.set_parameter(name, value),
            result => result,
        }
    }

    fn set_threads(&mut self, threads: usize) {
        // More threads would make a node-limited level stronger.
        if self.strength.nodes == u64::MAX {
            self.search.set_threads(threads);
        }
    }
}
