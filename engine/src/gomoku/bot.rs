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
use crate::search::{AlphaBetaGame, Clock, Finding, Strength, Value};
use crate::search_bot::{SearchBot, in_words};
use crate::{Action, AnyGame, Bot, Choice, Game, Limits, Point, Report, Rng, Score, Tier};

/// The gomoku bot. It allocates its tables at the first search.
pub struct GomokuBot {
    bot: SearchBot<Position>,
    sight: Sight,
    seed: u64,
    /// Moved into the position during a search.
    solver: Solver,
    /// Percentage of the network's output that is used.
    net: i32,
}

/// What a level sees beyond its search.
#[derive(Clone, Copy)]
struct Sight {
    /// Maximum own moves of a win by fours (VCF) that the level finds.
    vcf_moves: u32,
    /// Nodes for the search of a win by threes (VCT).
    vct_nodes: u32,
    /// Percentage of the network's output that is used.
    net: i32,
}

const MB: usize = 1 << 20;
const NO_LIMIT: u32 = u32::MAX;

/// Levels 2 to 10. Level 1 is the greedy table. Calibrated by matches between adjacent levels; see EXPERIMENTS.md.
const LEVELS: [(Strength, Sight); 9] = [
    (searched(1, 500, 120, MB / 4), Sight { vcf_moves: 1, vct_nodes: 0, net: 0 }),
    (searched(2, 1_000, 50, MB / 4), Sight { vcf_moves: 2, vct_nodes: 0, net: 0 }),
    (searched(3, 2_000, 44, MB / 4), Sight { vcf_moves: 2, vct_nodes: 0, net: 15 }),
    (searched(4, 4_000, 25, MB / 2), Sight { vcf_moves: 3, vct_nodes: 0, net: 30 }),
    (searched(6, 10_000, 15, MB), Sight { vcf_moves: 5, vct_nodes: 200, net: 45 }),
    (searched(8, 30_000, 5, 2 * MB), Sight { vcf_moves: 8, vct_nodes: 1_000, net: 60 }),
    (searched(11, 125_000, 0, 4 * MB), Sight { vcf_moves: 13, vct_nodes: 6_000, net: 83 }),
    (searched(14, 400_000, 0, 16 * MB), Sight { vcf_moves: 20, vct_nodes: 20_000, net: 100 }),
    (searched(NO_LIMIT, u64::MAX, 0, 32 * MB), Sight { vcf_moves: 30, vct_nodes: 100_000, net: 100 }),
];

const fn searched(depth: u32, nodes: u64, noise: i32, table_bytes: usize) -> Strength {
    Strength { depth, nodes, noise, quiescence: true, table_bytes }
}

impl GomokuBot {
    fn level(level: Tier) -> (Strength, Sight) {
        match level.number() {
            1 => (Strength { depth: 0, ..LEVELS[0].0 }, LEVELS[0].1),
            number => LEVELS[usize::from(number) - 2],
        }
    }

    /// A player of this strength; the seed breaks ties and colours its errors.
    pub fn new(level: Tier, seed: u64) -> Self {
        Self::with_table(level, seed, None)
    }

    /// A player whose table of positions takes this many bytes instead of what the level would choose (32 MB at most).
    pub fn with_table(level: Tier, seed: u64, table_bytes: Option<usize>) -> Self {
        let (strength, sight) = Self::level(level);
        let bot = SearchBot::new(strength, table_bytes.unwrap_or(strength.table_bytes), seed);
        Self { bot, sight, seed, solver: Solver::new(), net: sight.net }
    }

    /// Computes the tables of this rule now, instead of at the first decision.
    pub fn prepare(&mut self, rule: GomokuRule) {
        if self.bot.strength.depth > 0 {
            Tables::shared(rule);
            self.bot.search.prepare();
        }
    }

    /// A decision during the opening, except plain moves and what a search of the level decides: colours of Swap and Swap2.
    fn opening(&self, game: &Gomoku) -> Option<Action> {
        let balance = Balance {
            nodes: self.bot.strength.nodes,
            net: self.net,
            seed: self.seed,
            searches: self.bot.strength.depth > 0,
        };
        let opening = game.setup().opening;
        if !matches!(opening, GomokuOpening::Swap | GomokuOpening::Swap2) {
            return balance.decide(game);
        }
        let mut rng = Rng::new(self.seed ^ game.key());
        if !game.choices().is_empty() && self.bot.strength.depth == 0 {
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
        if self.bot.strength.nodes < BALANCING_NODES {
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
            None if self.bot.strength.depth == 0 => Some(Action::Place(greedy(game, self.seed)?.point())),
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
        self.bot.start_afresh(limits);
        if limits.time.is_none() {
            self.solver.forget();
        }
        let own = self.bot.strength.limit(limits);
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
        if !self.bot.is_unlimited() || game.outcome().is_some() {
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
        let sight = self.sight;
        let board = &mut position.board;
        // Limit of a VCF search: a sixth of a second on an old handheld; a proven win is worth it even in time trouble.
        const VCF_NODES: u32 = 50_000;
        /// Percentage of the limits for the VCT search: a result is a proven win, but usually there is none.
        const VCT_SHARE: u32 = 3;
        let solver = &mut position.solver;
        let mut win = solver.shortest_vcf(board, sight.vcf_moves, VCF_NODES, clock);
        if win.is_none() && sight.vct_nodes > 0 && position.verdict().is_none() {
            win = position.solver.vct(&mut position.board, 14, sight.vct_nodes, VCT_SHARE, clock);
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
        let to_report = |finding: &Finding<Square>| in_words(finding, stone);
        let searched = self.bot.search.search(position, clock, &mut |finding| report(&to_report(finding)));
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
            && sight.vcf_moves >= LOST_VCF_MOVES
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
    line.iter().copied().map(stone).collect()
}

fn stone(square: Square) -> Action {
    Action::Place(square.point())
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
        if gomoku.is_opening() || !gomoku.choices().is_empty() || self.bot.strength.depth == 0 {
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
            let finding = self.bot.search.search_among(&mut position, &among, &mut clock, &mut |_| {})?;
            Some(in_words(&finding, stone))
        })
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        let mut numbers = self.bot.search.parameters();
        numbers.extend(parameters::list(|visit| each_own(&mut self.net, visit)));
        numbers
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        match parameters::set(name, value, |visit| each_own(&mut self.net, visit)) {
            Err(ParameterError::Unknown(_)) => self.bot.search.set_parameter(name, value),
            result => result,
        }
    }

    fn set_threads(&mut self, threads: usize) {
        self.bot.set_threads(threads);
    }
}
