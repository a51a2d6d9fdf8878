//! Each motif by the rules alone: what a reason claims is looked for on boards read from the text of positions, with legal
//! moves and nothing else of the engine. Slow and plain on purpose.

use std::collections::HashMap;

use engine::reasons::{MatePattern, Motif};
use engine::xiangqi::Xiangqi;
use engine::{Action, AnyGame, Point, Report, Score, Side};

use crate::Case;

/// Whether a motif is there, by the rules.
pub(crate) fn holds(motif: Motif, case: &Case) -> bool {
    let Case { before, played, better, reply, .. } = case;
    let mut after = before.clone();
    if after.act(*played).is_err() || after.outcome().is_some() || after.turn() == before.turn() {
        return false;
    }
    // Nothing is missed by what was played.
    let missed = better.line[0] != *played;
    let look = Look { before, after: &after, played: *played, better, reply };
    match motif {
        Motif::MissedWin => missed && wins_at_once(before, before.turn(), 4),
        Motif::LosesAtOnce => wins_at_once(&after, after.turn(), 4),
        Motif::MissedForcedWin => {
            missed && !wins_at_once(before, before.turn(), 4) && wins_by_force(before, better)
        }
        Motif::LosesByForce => !wins_at_once(&after, after.turn(), 4) && wins_by_force(&after, reply),
        Motif::OpenFour => first_double(&after, &reply.line) == Some(Double::Fours),
        Motif::DoubleThreat => first_double(&after, &reply.line) == Some(Double::WithThree),
        Motif::MissedDoubleThreat => missed && first_double(before, &better.line).is_some(),
        Motif::Initiative => attacks(&after, reply.line[0]) || look.attacks_more(after.turn()),
        Motif::MissedInitiative => {
            missed
                && (attacks(before, better.line[0]) && !attacks(before, *played)
                    || look.attacks_more(before.turn()))
        }
        Motif::Forbidden => look.forbidden(),
        Motif::VitalPoint => matches!(reply.line[0], Action::Place(_)) && reply.line[0] == better.line[0],
        Motif::Hanging => {
            gain(&after, reply.line[0]).is_some_and(|gain| gain >= SOLDIER) && !look.recaptures()
        }
        Motif::Exchange => {
            gain(&after, reply.line[0]).is_some_and(|gain| gain >= SOLDIER) && look.recaptures()
        }
        Motif::Fork => look.fork(),
        Motif::Skewer => look.skewer(),
        Motif::Pin => look.pin(),
        Motif::DiscoveredCheck => look.discovered() && !look.fork(),
        Motif::CheckWins => look.check_wins() && !look.discovered() && !look.fork() && !look.skewer(),
        Motif::MissedCapture => {
            missed
                && to(better.line[0]) != to(*played)
                && gain(before, better.line[0]).is_some_and(|could| {
                    could >= SOLDIER && gain(before, *played).is_none_or(|gain| gain < could)
                })
        }
        Motif::LosesMaterial => look.material().is_some_and(|(played, could)| {
            could - played >= look.least() && played < 0 && (played <= -look.least() || could < look.least())
        }),
        Motif::MissedMaterial => {
            missed
                && look.material().is_some_and(|(played, could)| {
                    played > -look.least() && could >= look.least() && could - played >= look.least()
                })
        }
        Motif::Formation => formations(&after, reply.line[0]) == 1,
        Motif::DoubleFormation => formations(&after, reply.line[0]) > 1,
        Motif::MissedFormation => formations(before, better.line[0]) > 0 && formations(before, *played) == 0,
        Motif::Atari => look.captured() || look.hunted() == Some(Hunt::Held),
        Motif::Ladder => look.hunted() == Some(Hunt::Ladder),
        Motif::ConnectAndDie => look.hunted() == Some(Hunt::Connected),
        Motif::Net => look.net(),
        Motif::MissedAtari => missed && taken(before, better.line[0]) > 0,
        Motif::Snapback => look.snapback(),
        Motif::LifeAndDeath => look.life_and_death(),
        Motif::Points => match (better.score, reply.score) {
            (Score::Chance { points: could, .. }, Score::Chance { points: theirs, .. }) => {
                could + theirs >= 200
            }
            _ => false,
        },
    }
}

struct Look<'a> {
    before: &'a AnyGame,
    after: &'a AnyGame,
    played: Action,
    better: &'a Report,
    reply: &'a Report,
}

/// A board by rows from the bottom; `.` is an empty point.
pub(crate) struct Board(pub(crate) Vec<Vec<char>>);

impl Board {
    pub(crate) fn of(game: &AnyGame) -> Self {
        let position = game.position();
        let rows = position.split(' ').next().expect("rows").split('/').map(|row| {
            let (mut cells, mut number) = (Vec::new(), 0);
            for letter in row.chars() {
                if let Some(digit) = letter.to_digit(10) {
                    number = number * 10 + digit as usize;
                    continue;
                }
                cells.extend(std::iter::repeat_n('.', std::mem::take(&mut number)));
                cells.push(letter);
            }
            cells.extend(std::iter::repeat_n('.', number));
            cells
        });
        Self(rows.rev().collect())
    }

    pub(crate) fn get(&self, column: i32, row: i32) -> Option<char> {
        let row = self.0.get(usize::try_from(row).ok()?)?;
        row.get(usize::try_from(column).ok()?).copied()
    }

    fn at(&self, at: Point) -> char {
        self.0[usize::from(at.row)][usize::from(at.column)]
    }

    fn put(&mut self, at: Point, letter: char) {
        self.0[usize::from(at.row)][usize::from(at.column)] = letter;
    }

    fn points(&self) -> impl Iterator<Item = Point> + use<> {
        let (rows, columns) = (self.0.len() as u16, self.0[0].len() as u16);
        (0..rows).flat_map(move |row| (0..columns).map(move |column| Point::new(column, row)))
    }
}

fn to(action: Action) -> Option<Point> {
    match action {
        Action::Place(at) => Some(at),
        Action::Step { to, .. } => Some(to),
        _ => None,
    }
}

fn acted(game: &AnyGame, action: Action) -> Option<AnyGame> {
    let mut game = game.clone();
    game.act(action).ok().map(|()| game)
}

/// Whether a side wins with its next move, with the captures that belong to it.
pub(crate) fn wins_at_once(game: &AnyGame, side: Side, most: u32) -> bool {
    most > 0
        && game.turn() == side
        && game.legal_actions().into_iter().filter_map(|action| acted(game, action)).any(|next| {
            match next.outcome() {
                Some(outcome) => outcome.winner == Some(side),
                None => next.turn() == side && wins_at_once(&next, side, most - 1),
            }
        })
}

/// Whether the side to move forces a win: in gomoku by fours, in xiangqi by this move and then by checks.
fn wins_by_force(game: &AnyGame, found: &Report) -> bool {
    match game {
        AnyGame::Gomoku(_) => by_fours(&mut Board::of(game), letter(game, game.turn()), 7),
        AnyGame::Xiangqi(_) => {
            let winner = game.turn();
            acted(game, found.line[0]).is_some_and(|next| {
                next.outcome().is_none()
                    && next.legal_actions().into_iter().all(|answer| {
                        acted(&next, answer).is_some_and(|next| mates_by_checks(&next, winner, 3))
                    })
            })
        }
        _ => false,
    }
}

fn mates_by_checks(game: &AnyGame, winner: Side, moves: u32) -> bool {
    if game.outcome().is_some() || moves == 0 {
        return false;
    }
    if wins_at_once(game, winner, 1) {
        return true;
    }
    game.legal_actions().into_iter().filter_map(|action| acted(game, action)).any(|next| {
        matches!(&next, AnyGame::Xiangqi(xiangqi) if xiangqi.check().is_some())
            && next.legal_actions().into_iter().all(|answer| {
                acted(&next, answer).is_some_and(|next| mates_by_checks(&next, winner, moves - 1))
            })
    })
}

// Gomoku.

const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

fn letter(game: &AnyGame, side: Side) -> char {
    if game.color(side) == Side::First { 'b' } else { 'w' }
}

fn other(letter: char) -> char {
    if letter == 'b' { 'w' } else { 'b' }
}

fn run(board: &Board, at: Point, (dx, dy): (i32, i32)) -> i32 {
    let own = board.at(at);
    let reach = |sign: i32| {
        let is_own = |n: &i32| {
            let (x, y) = (i32::from(at.column) + sign * n * dx, i32::from(at.row) + sign * n * dy);
            board.get(x, y) == Some(own)
        };
        (1..20).take_while(is_own).count() as i32
    };
    1 + reach(1) + reach(-1)
}

/// Empty points of the line through `at` in this direction, near enough for a five.
fn gaps(board: &Board, at: Point, (dx, dy): (i32, i32)) -> Vec<Point> {
    (-4..=4)
        .map(|n| (i32::from(at.column) + n * dx, i32::from(at.row) + n * dy))
        .filter(|&(x, y)| board.get(x, y) == Some('.'))
        .map(|(x, y)| Point::new(x as u16, y as u16))
        .collect()
}

/// Points that complete a five through a stone in a direction.
fn fives_through(board: &mut Board, at: Point, direction: (i32, i32)) -> usize {
    let own = board.at(at);
    gaps(board, at, direction)
        .into_iter()
        .filter(|&gap| {
            board.put(gap, own);
            let five = (i32::from(gap.column) - i32::from(at.column))
                .abs()
                .max((i32::from(gap.row) - i32::from(at.row)).abs())
                < run(board, at, direction)
                && run(board, at, direction) >= 5;
            board.put(gap, '.');
            five
        })
        .count()
}

/// All points at which a side completes five.
fn fives(board: &mut Board, own: char) -> Vec<Point> {
    board
        .points()
        .filter(|&at| {
            if board.at(at) != '.' {
                return false;
            }
            board.put(at, own);
            let five = DIRECTIONS.iter().any(|&direction| run(board, at, direction) >= 5);
            board.put(at, '.');
            five
        })
        .collect()
}

/// Directions in which a stone has a four, and in which it has an open three: one move more makes two points that complete
/// five.
fn fours_and_threes(board: &mut Board, at: Point) -> (usize, usize) {
    let own = board.at(at);
    let (mut fours, mut threes) = (0, 0);
    for direction in DIRECTIONS {
        if fives_through(board, at, direction) > 0 {
            fours += 1;
        } else if gaps(board, at, direction).into_iter().any(|gap| {
            board.put(gap, own);
            let open = fives_through(board, at, direction) == 2;
            board.put(gap, '.');
            open
        }) {
            threes += 1;
        }
    }
    (fours, threes)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Double {
    /// Two points complete five.
    Fours,
    /// A four and a three, or two threes.
    WithThree,
}

/// The double threat that a stone makes.
fn double(game: &AnyGame, action: Action) -> Option<Double> {
    let (Action::Place(at), AnyGame::Gomoku(_)) = (action, game) else { return None };
    let own = letter(game, game.turn());
    let mut board = Board::of(game);
    board.put(at, own);
    if DIRECTIONS.iter().any(|&direction| run(&board, at, direction) >= 5) {
        return None;
    }
    let through: usize = DIRECTIONS.iter().map(|&direction| fives_through(&mut board, at, direction)).sum();
    let (fours, threes) = fours_and_threes(&mut board, at);
    if through >= 2 { Some(Double::Fours) } else { (fours + threes >= 2).then_some(Double::WithThree) }
}

/// The first double threat of the side to move along a line.
fn first_double(game: &AnyGame, line: &[Action]) -> Option<Double> {
    let (side, mut game) = (game.turn(), game.clone());
    for &action in line.iter().take(12) {
        if game.turn() == side
            && let Some(found) = double(&game, action)
        {
            return Some(found);
        }
        game.act(action).ok()?;
    }
    None
}

/// Whether a stone makes a four or an open three, and no double threat.
fn attacks(game: &AnyGame, action: Action) -> bool {
    let (Action::Place(at), AnyGame::Gomoku(_)) = (action, game) else { return false };
    let mut board = Board::of(game);
    board.put(at, letter(game, game.turn()));
    double(game, action).is_none()
        && DIRECTIONS.iter().all(|&direction| run(&board, at, direction) < 5)
        && fours_and_threes(&mut board, at) != (0, 0)
}

/// Whether a side to move wins by fours, each of which the other side has to stop.
fn by_fours(board: &mut Board, own: char, moves: u32) -> bool {
    if !fives(board, own).is_empty() {
        return true;
    }
    let threatened = fives(board, other(own));
    if moves == 0 || threatened.len() > 1 {
        return false;
    }
    for at in board.points() {
        if board.at(at) != '.' || threatened.first().is_some_and(|&must| must != at) {
            continue;
        }
        board.put(at, own);
        let stops = if DIRECTIONS.iter().any(|&direction| fives_through(board, at, direction) > 0) {
            fives(board, own)
        } else {
            Vec::new()
        };
        let wins = match stops[..] {
            [] => false,
            [stop] => {
                board.put(stop, other(own));
                let wins = by_fours(board, own, moves - 1);
                board.put(stop, '.');
                wins
            }
            _ => true,
        };
        board.put(at, '.');
        if wins {
            return true;
        }
    }
    false
}

// Xiangqi.

/// A soldier.
const SOLDIER: i32 = 3;

/// Players' usual values, where a soldier is 3.
fn worth(letter: char) -> i32 {
    match letter.to_ascii_lowercase() {
        'p' => 3,
        'a' | 'b' => 4,
        'n' => 8,
        'c' => 9,
        'r' => 18,
        'k' => 200,
        _ => 0,
    }
}

/// What a capture gains when nobody goes on capturing on its point who would lose by it; `None` if it captures nothing.
fn gain(game: &AnyGame, capture: Action) -> Option<i32> {
    let (Action::Step { to: at, .. }, AnyGame::Xiangqi(_)) = (capture, game) else { return None };
    let taken = worth(Board::of(game).at(at));
    let next = acted(game, capture).filter(|_| taken > 0)?;
    let back = next.legal_actions().into_iter().filter(|action| to(*action) == Some(at));
    let best = back.filter_map(|action| gain(&next, action)).max().unwrap_or(0);
    Some(taken - best.max(0))
}

/// Points that the piece on a point attacks, whosever they are.
fn attacked(board: &Board, from: Point) -> Vec<Point> {
    let piece = board.at(from);
    let red = piece.is_ascii_uppercase();
    let (x, y) = (i32::from(from.column), i32::from(from.row));
    let mut found = Vec::new();
    let mut add = |column: i32, row: i32| {
        if board.get(column, row).is_some() {
            found.push(Point::new(column as u16, row as u16));
        }
    };
    match piece.to_ascii_lowercase() {
        'p' => {
            let forward = if red { 1 } else { -1 };
            add(x, y + forward);
            if if red { y > 4 } else { y < 5 } {
                add(x - 1, y);
                add(x + 1, y);
            }
        }
        'n' => {
            for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                if board.get(x + dx, y + dy) == Some('.') {
                    for side in [-1, 1] {
                        add(x + 2 * dx + side * dy, y + 2 * dy + side * dx);
                    }
                }
            }
        }
        'r' | 'c' => {
            for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                let mut screens = 0;
                for n in 1.. {
                    let (column, row) = (x + n * dx, y + n * dy);
                    let Some(cell) = board.get(column, row) else { break };
                    if cell != '.' {
                        screens += 1;
                        let wanted = if piece.eq_ignore_ascii_case(&'r') { 1 } else { 2 };
                        if screens == wanted {
                            add(column, row);
                        }
                        if screens == 2 {
                            break;
                        }
                    }
                }
            }
        }
        'a' | 'b' | 'k' => {
            let palace = |column: i32, row: i32| {
                (3..=5).contains(&column) && if red { (0..=2).contains(&row) } else { (7..=9).contains(&row) }
            };
            let steps: &[(i32, i32)] = match piece.to_ascii_lowercase() {
                'a' => &[(1, 1), (1, -1), (-1, 1), (-1, -1)],
                'b' => &[(2, 2), (2, -2), (-2, 2), (-2, -2)],
                _ => &[(1, 0), (-1, 0), (0, 1), (0, -1)],
            };
            for &(dx, dy) in steps {
                let (column, row) = (x + dx, y + dy);
                let may = if dx.abs() == 2 {
                    board.get(x + dx / 2, y + dy / 2) == Some('.') && if red { row < 5 } else { row > 4 }
                } else {
                    palace(column, row)
                };
                if may {
                    add(column, row);
                }
            }
        }
        _ => {}
    }
    found
}

/// Whether a piece could step somewhere if no general counted.
fn may_step(board: &Board, from: Point) -> bool {
    let slides = matches!(board.at(from).to_ascii_lowercase(), 'r' | 'c');
    let beside = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    let free =
        |(dx, dy): (i32, i32)| board.get(i32::from(from.column) + dx, i32::from(from.row) + dy) == Some('.');
    let red = board.at(from).is_ascii_uppercase();
    slides && beside.into_iter().any(free)
        || attacked(board, from)
            .into_iter()
            .any(|at| board.at(at) == '.' || board.at(at).is_ascii_uppercase() != red)
}

/// Whether neither side wins material with its next move.
fn is_settled(game: &AnyGame) -> bool {
    let quiet = |game: &AnyGame| {
        game.legal_actions().into_iter().all(|action| {
            !matches!(action, Action::Capture(_))
                && gain(game, action).is_none_or(|gain| gain < SOLDIER)
                && formations(game, action) == 0
        })
    };
    let text = game.position();
    let turned = if text.contains(" w ") { text.replace(" w ", " b ") } else { text.replace(" b ", " w ") };
    match game {
        AnyGame::Xiangqi(xiangqi) if xiangqi.check().is_some() => false,
        _ if !quiet(game) => false,
        _ => crate::position(game.kind().word(), &turned).is_none_or(|turned| quiet(&turned)),
    }
}

fn of_side(letter: char, side: Side) -> bool {
    letter.is_ascii_uppercase() == (side == Side::First) && letter != '.'
}

/// Pieces between two points of a rank or file; `None` if they share none.
fn between(board: &Board, one: Point, other: Point) -> Option<Vec<Point>> {
    let (dx, dy) = (
        (i32::from(other.column) - i32::from(one.column)).signum(),
        (i32::from(other.row) - i32::from(one.row)).signum(),
    );
    if one == other || (one.column != other.column && one.row != other.row) {
        return None;
    }
    let line = (1..)
        .map(|n| Point::new((i32::from(one.column) + n * dx) as u16, (i32::from(one.row) + n * dy) as u16));
    Some(line.take_while(|&at| at != other).filter(|&at| board.at(at) != '.').collect())
}

/// Whether a chariot can move to where two pieces of the other side stand one behind the other.
pub(crate) fn may_skewer(game: &AnyGame) -> bool {
    let board = Board::of(game);
    let theirs: Vec<Point> =
        board.points().filter(|&at| of_side(board.at(at), game.turn().other())).collect();
    game.legal_actions().into_iter().any(|action| {
        let Action::Step { from, to } = action else { return false };
        board.at(from).eq_ignore_ascii_case(&'r')
            && theirs.iter().any(|&rear| {
                worth(board.at(rear)) >= 8
                    && matches!(between(&board, to, rear).as_deref(),
                        Some([front]) if theirs.contains(front) && worth(board.at(*front)) >= 8)
            })
    })
}

impl Look<'_> {
    fn mover(&self) -> Side {
        self.before.turn()
    }

    fn replied(&self) -> AnyGame {
        acted(self.after, self.reply.line[0]).expect("a reply is legal")
    }

    /// Whether the piece that replied can be captured where it has gone.
    fn recaptures(&self) -> bool {
        let at = to(self.reply.line[0]);
        self.replied().legal_actions().into_iter().any(|action| to(action) == at)
    }

    /// Points from which the mover's general is attacked after the reply.
    fn checkers(&self) -> Vec<Point> {
        let board = Board::of(&self.replied());
        let general = board
            .points()
            .find(|&at| board.at(at).eq_ignore_ascii_case(&'k') && of_side(board.at(at), self.mover()))
            .expect("a general");
        board
            .points()
            .filter(|&at| {
                of_side(board.at(at), self.mover().other()) && attacked(&board, at).contains(&general)
            })
            .collect()
    }

    /// The reply's next move, two plies later, if it captures with gain a piece that stood there when the reply was made: from
    /// and to.
    fn falls(&self) -> Option<(Point, Point)> {
        let [reply, answer, next, ..] = self.reply.line[..] else { return None };
        let (Action::Step { .. }, Action::Step { from, to }) = (reply, next) else { return None };
        let replied = self.replied();
        let answered = acted(&replied, answer)?;
        let stood = Board::of(&replied).at(to) == Board::of(&answered).at(to);
        (stood && gain(&answered, next)? >= SOLDIER).then_some((from, to))
    }

    /// The piece that replied attacks two, and captures one.
    fn fork(&self) -> bool {
        let (Some((from, _)), Some(at)) = (self.falls(), to(self.reply.line[0])) else { return false };
        let board = Board::of(&self.replied());
        let own = board.at(at);
        let prey = attacked(&board, at).into_iter().filter(|&target| {
            let letter = board.at(target);
            let guarded = || {
                let mut without = Board::of(&self.replied());
                without.put(target, own);
                without.put(at, '.');
                board.points().any(|by| {
                    of_side(board.at(by), self.mover())
                        && by != target
                        && attacked(&without, by).contains(&target)
                })
            };
            of_side(letter, self.mover()) && (worth(letter) > worth(own) || !guarded())
        });
        from == at && prey.count() > 1
    }

    fn skewer(&self) -> bool {
        let (Some((from, falls)), Some(at)) = (self.falls(), to(self.reply.line[0])) else { return false };
        let board = Board::of(&self.replied());
        let Action::Step { from: fled, .. } = self.reply.line[1] else { return false };
        from == at
            && board.at(at).eq_ignore_ascii_case(&'r')
            && between(&board, at, falls).is_some_and(|front| front == [fled])
    }

    fn pin(&self) -> bool {
        let Some((_, falls)) = self.falls() else { return false };
        let replied = self.replied();
        let board = Board::of(&replied);
        let steps = |action: &Action| matches!(action, Action::Step { from, .. } if *from == falls);
        self.checkers().is_empty() && may_step(&board, falls) && !replied.legal_actions().iter().any(steps)
    }

    fn discovered(&self) -> bool {
        self.falls().is_some() && self.checkers().iter().any(|&by| Some(by) != to(self.reply.line[0]))
    }

    fn check_wins(&self) -> bool {
        self.falls().is_some() && !self.checkers().is_empty()
    }

    /// What is worth speaking of.
    fn least(&self) -> i32 {
        if matches!(self.before, AnyGame::Xiangqi(_)) { SOLDIER } else { 1 }
    }

    /// What the mover wins when the captures are over: along what was played, and along the better line.
    fn material(&self) -> Option<(i32, i32)> {
        let line: Vec<Action> = std::iter::once(self.played).chain(self.reply.line.iter().copied()).collect();
        Some((balance(self.before, &line)?, balance(self.before, &self.better.line).unwrap_or(0)))
    }
}

/// What the side to move has won by the last position after two turns without a capture, or in which nothing can be won.
fn balance(game: &AnyGame, line: &[Action]) -> Option<i32> {
    let side = game.turn();
    let count = |game: &AnyGame| -> i32 {
        let value = |letter: char| match (game, letter) {
            (AnyGame::Xiangqi(_), '.') => 0,
            (AnyGame::Xiangqi(_), letter) if of_side(letter, side) => worth(letter),
            (AnyGame::Xiangqi(_), letter) => -worth(letter),
            (AnyGame::Liuzhou(_), 'b') => {
                if side == Side::First {
                    1
                } else {
                    -1
                }
            }
            (AnyGame::Liuzhou(_), 'w') => {
                if side == Side::First {
                    -1
                } else {
                    1
                }
            }
            _ => 0,
        };
        Board::of(game).0.iter().flatten().map(|&letter| value(letter)).sum()
    };
    let stones = |game: &AnyGame| {
        Board::of(game).0.iter().flatten().filter(|letter| matches!(letter, 'b' | 'w')).count()
    };
    let pieces = |game: &AnyGame| Board::of(game).0.iter().flatten().filter(|letter| **letter != '.').count();
    let (mut now, mut quiet, mut found) = (game.clone(), 0, None);
    let placed = |action: Action| i32::from(matches!(action, Action::Place(_)));
    // A stone that is placed is none that was won.
    let (start, mut set) = (count(game), 0);
    let mut turns = 0;
    for &action in line {
        if turns == 12 {
            break;
        }
        let was = now.clone();
        now.act(action).ok()?;
        let takes = match game {
            AnyGame::Xiangqi(_) => pieces(&now) < pieces(&was),
            AnyGame::Liuzhou(_) => {
                stones(&now) < stones(&was) + usize::from(matches!(action, Action::Place(_)))
            }
            _ => return None,
        };
        set += if was.turn() == side { placed(action) } else { -placed(action) };
        turns += u32::from(now.turn() != was.turn() || now.outcome().is_some());
        if takes {
            quiet = 0;
        } else if now.turn() != was.turn() || now.outcome().is_some() {
            quiet += 1;
        }
        if quiet >= 2 || now.turn() != was.turn() && is_settled(&now) {
            found = Some(count(&now) - start - set);
        }
    }
    found
}

// Liuzhou chess.

/// Formations that a placement or step completes: squares, inner rows and columns, diagonals between edges.
fn formations(game: &AnyGame, action: Action) -> usize {
    const LAST: i32 = 5;
    let (Some(at), AnyGame::Liuzhou(_)) = (to(action), game) else { return 0 };
    let own = if game.turn() == Side::First { 'b' } else { 'w' };
    let mut board = Board::of(game);
    if let Action::Step { from, .. } = action {
        board.put(from, '.');
    }
    board.put(at, own);
    let (x, y) = (i32::from(at.column), i32::from(at.row));
    let is_own = |(column, row): (i32, i32)| board.get(column, row) == Some(own);
    let squares = [(0, 0), (-1, 0), (0, -1), (-1, -1)]
        .into_iter()
        .filter(|(dx, dy)| {
            [(0, 0), (1, 0), (0, 1), (1, 1)].iter().all(|(i, j)| is_own((x + dx + i, y + dy + j)))
        })
        .count();
    let inner = |n: i32| n > 0 && n < LAST;
    let row = usize::from(inner(y) && (0..=LAST).all(|n| is_own((n, y))));
    let column = usize::from(inner(x) && (0..=LAST).all(|n| is_own((x, n))));
    let diagonals = [1, -1]
        .into_iter()
        .filter(|slope| {
            let line: Vec<_> = (-LAST..=LAST)
                .map(|n| (x + n, y + slope * n))
                .filter(|&(column, row)| (0..=LAST).contains(&column) && (0..=LAST).contains(&row))
                .collect();
            line.len() >= 3 && line.into_iter().all(is_own)
        })
        .count();
    squares + row + column + diagonals
}

/// Most formations that one placement or step completes.
pub(crate) fn most_formations(game: &AnyGame) -> usize {
    game.legal_actions().into_iter().map(|action| formations(game, action)).max().unwrap_or(0)
}

// Go.

/// A chain and its liberties.
fn chain(board: &Board, from: Point) -> (Vec<Point>, Vec<Point>) {
    let own = board.at(from);
    let (mut stones, mut liberties, mut next) = (vec![from], Vec::new(), 0);
    while let Some(&at) = stones.get(next) {
        next += 1;
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (column, row) = (i32::from(at.column) + dx, i32::from(at.row) + dy);
            let Some(cell) = board.get(column, row) else { continue };
            let beside = Point::new(column as u16, row as u16);
            if cell == own && !stones.contains(&beside) {
                stones.push(beside);
            } else if cell == '.' && !liberties.contains(&beside) {
                liberties.push(beside);
            }
        }
    }
    (stones, liberties)
}

/// Liberties of the chain on a point; 0 if it was captured.
fn liberties(game: &AnyGame, at: Point) -> Vec<Point> {
    let board = Board::of(game);
    if board.at(at) == '.' { Vec::new() } else { chain(&board, at).1 }
}

/// Stones of the side that is not to move which an action captures.
fn taken(game: &AnyGame, action: Action) -> usize {
    let AnyGame::Go(_) = game else { return 0 };
    let theirs = letter(game, game.turn().other());
    let count = |game: &AnyGame| Board::of(game).0.iter().flatten().filter(|cell| **cell == theirs).count();
    acted(game, action).map_or(0, |next| count(game) - count(&next))
}

/// Whether the chain on a point, in atari with its side to move, is captured in a ladder whatever its side plays.
fn caught_in_atari(game: &AnyGame, at: Point, left: u32) -> bool {
    left > 0
        && game.legal_actions().into_iter().all(|action| {
            let next = acted(game, action).expect("legal");
            match liberties(&next, at)[..] {
                [last] => next.legal_move(Action::Place(last)).is_ok(),
                [_, _] => caught(&next, at, left - 1),
                _ => false,
            }
        })
}

/// Whether the chain on a point with two liberties is captured in a ladder by the other side to move.
fn caught(game: &AnyGame, at: Point, left: u32) -> bool {
    liberties(game, at).into_iter().any(|liberty| {
        acted(game, Action::Place(liberty))
            .is_some_and(|next| liberties(&next, at).len() == 1 && caught_in_atari(&next, at, left))
    })
}

/// Whether the chain on a point is captured, its side to move, by so many moves of the other side on its liberties or beside
/// them.
fn netted(game: &AnyGame, at: Point, moves: usize) -> bool {
    liberties(game, at).len() <= moves
        && game.legal_actions().into_iter().all(|action| {
            let next = acted(game, action).expect("legal");
            if next.turn() == game.turn() || next.outcome().is_some() {
                return false;
            }
            nets(&next, at, moves)
        })
}

fn nets(game: &AnyGame, at: Point, moves: usize) -> bool {
    let free = liberties(game, at);
    if free.len() > moves {
        return false;
    }
    let size = Board::of(game).0.len() as i32;
    let mut tries = free.clone();
    for liberty in free {
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (column, row) = (i32::from(liberty.column) + dx, i32::from(liberty.row) + dy);
            let beside = Point::new(column.max(0) as u16, row.max(0) as u16);
            if (0..size).contains(&column) && (0..size).contains(&row) && !tries.contains(&beside) {
                tries.push(beside);
            }
        }
    }
    tries.into_iter().filter_map(|point| acted(game, Action::Place(point))).any(|next| {
        let left = liberties(&next, at).len();
        left == 0 || left < moves && netted(&next, at, moves - 1)
    })
}

/// Whether a stone is placed beside another one.
pub(crate) fn touches(game: &AnyGame, action: Action) -> bool {
    let (board, Some(at)) = (Board::of(game), to(action)) else { return false };
    [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().any(|(dx, dy)| {
        board.get(i32::from(at.column) + dx, i32::from(at.row) + dy).is_some_and(|cell| cell != '.')
    })
}

/// A chain that is shut in, and the points inside: all that do not belong to the other side, and stones of that side without a
/// liberty outside.
struct Siege {
    at: Point,
    own: char,
    inside: Vec<Point>,
    /// Board, side to move and what it may play, plies left.
    memory: HashMap<(Vec<Vec<char>>, Side, Vec<Point>, u32), bool>,
}

impl Siege {
    /// Empty points inside, and plies that are looked at: few enough to look at all.
    const MOST_EMPTY: usize = 7;
    const PLIES: u32 = 13;

    fn of(game: &AnyGame, at: Point) -> Option<Self> {
        let board = Board::of(game);
        let own = board.at(at);
        let (mut inside, mut next) = (vec![at], 0);
        while let Some(&from) = inside.get(next) {
            next += 1;
            for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                let (column, row) = (i32::from(from.column) + dx, i32::from(from.row) + dy);
                let beside = Point::new(column.max(0) as u16, row.max(0) as u16);
                if board.get(column, row).is_some_and(|cell| cell == own || cell == '.')
                    && !inside.contains(&beside)
                {
                    inside.push(beside);
                }
            }
        }
        let empty = inside.iter().filter(|&&at| board.at(at) == '.').count();
        let shut_in = |&at: &Point| {
            let cell = board.at(at);
            cell != own && cell != '.' && chain(&board, at).1.iter().all(|free| inside.contains(free))
        };
        let shut_in: Vec<Point> = board.points().filter(shut_in).collect();
        inside.extend(shut_in);
        (empty <= Self::MOST_EMPTY).then(|| Self { at, own, inside, memory: HashMap::new() })
    }

    /// Whether the chain is captured by the other side, whatever its own plays inside.
    fn captured(&mut self, game: &AnyGame, left: u32) -> bool {
        let board = Board::of(game);
        if board.at(self.at) != self.own {
            return true;
        }
        if left == 0 || game.outcome().is_some() {
            return false;
        }
        let legal = |&&at: &&Point| board.at(at) == '.' && game.legal_move(Action::Place(at)).is_ok();
        let legal: Vec<Point> = self.inside.iter().filter(legal).copied().collect();
        let key = (board.0, game.turn(), legal.clone(), left);
        if let Some(&known) = self.memory.get(&key) {
            return known;
        }
        let own = letter(game, game.turn()) == self.own;
        let mut tries = legal.into_iter().map(Action::Place).chain([Action::Pass]);
        let mut captured = |action| acted(game, action).is_some_and(|next| self.captured(&next, left - 1));
        let found = if own { tries.all(&mut captured) } else { tries.any(&mut captured) };
        self.memory.insert(key, found);
        found
    }
}

/// How a chain in atari is caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hunt {
    /// It can extend, and is put in atari again and again.
    Ladder,
    /// Connecting to other stones does not help.
    Connected,
    /// It cannot even extend.
    Held,
}

impl Look<'_> {
    /// Stones of the mover that the reply captures, where the better move keeps one and what was played captured nothing.
    fn captured(&self) -> bool {
        let mover = letter(self.before, self.mover());
        let (was, now) = (Board::of(self.after), Board::of(&self.replied()));
        taken(self.before, self.played) == 0
            && was.points().filter(|&at| was.at(at) == mover && now.at(at) != mover).any(|at| self.keeps(at))
    }

    /// Whether the better move keeps the chain on a point out of atari and of ladders.
    fn keeps(&self, at: Point) -> bool {
        if Some(at) == to(self.played) {
            return true;
        }
        let Some(could) =
            acted(self.before, self.better.line[0]).filter(|_| self.better.line[0] != self.played)
        else {
            return true;
        };
        if Board::of(&could).at(at) != letter(self.before, self.mover()) {
            return false;
        }
        match liberties(&could, at).len() {
            0 | 1 => false,
            2 => !caught(&could, at, 40),
            _ => true,
        }
    }

    fn hunted(&self) -> Option<Hunt> {
        let AnyGame::Go(_) = self.before else { return None };
        let (at, replied) = (to(self.reply.line[0])?, self.replied());
        let board = Board::of(&replied);
        let mover = letter(self.before, self.mover());
        let beside = [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().filter_map(|(dx, dy)| {
            let (column, row) = (i32::from(at.column) + dx, i32::from(at.row) + dy);
            (board.get(column, row) == Some(mover)).then(|| Point::new(column as u16, row as u16))
        });
        let hunted: Vec<Point> = beside
            .filter(|&at| {
                let (stones, free) = chain(&board, at);
                stones.len() > 1 && free.len() == 1 && caught_in_atari(&replied, at, 40) && self.keeps(at)
            })
            .collect();
        let &at = hunted.first()?;
        let (stones, free) = chain(&board, at);
        let Some(extended) = acted(&replied, Action::Place(free[0])) else { return Some(Hunt::Held) };
        let (joined, free) = chain(&Board::of(&extended), at);
        Some(match (joined.len() > stones.len() + 1, free.len()) {
            (_, 2..) => Hunt::Ladder,
            (true, _) => Hunt::Connected,
            (false, _) => Hunt::Held,
        })
    }

    fn snapback(&self) -> bool {
        let (Some(own), Some(at)) = (to(self.played), to(self.reply.line[0])) else { return false };
        let (AnyGame::Go(_), theirs) = (self.before, letter(self.before, self.mover().other())) else {
            return false;
        };
        let (first, back) = (taken(self.before, self.played), taken(self.after, self.reply.line[0]));
        first > 0
            && back > first
            && Board::of(self.before).at(at) == theirs
            && Board::of(&self.replied()).at(own) == '.'
    }

    /// A chain at a distance from the reply, not in atari, is captured whatever its side plays.
    fn net(&self) -> bool {
        let (AnyGame::Go(_), Some(by)) = (self.before, to(self.reply.line[0])) else { return false };
        let replied = self.replied();
        let board = Board::of(&replied);
        let mover = letter(self.before, self.mover());
        board.points().any(|at| {
            let near = at.column.abs_diff(by.column).max(at.row.abs_diff(by.row)) <= 2;
            let (stones, free) = if board.at(at) == mover { chain(&board, at) } else { return false };
            let touches = |stone: &Point| stone.column.abs_diff(by.column) + stone.row.abs_diff(by.row) == 1;
            near && stones.len() > 1
                && (2..=3).contains(&free.len())
                && !stones.iter().any(touches)
                && netted(&replied, at, 3)
        })
    }

    /// A chain near the reply lives in one of the two lines and dies in the other.
    fn life_and_death(&self) -> bool {
        let (AnyGame::Go(_), Some(by)) = (self.before, to(self.reply.line[0])) else { return false };
        let (replied, Some(could)) = (self.replied(), acted(self.before, self.better.line[0])) else {
            return false;
        };
        let (board, after) = (Board::of(&replied), Board::of(self.after));
        let mover = letter(self.before, self.mover());
        board.points().any(|at| {
            let near = at.column.abs_diff(by.column).max(at.row.abs_diff(by.row)) <= 2;
            let own = after.at(at);
            if !near
                || own == '.'
                || chain(&after, at).0.len() < 4
                || [&board, &Board::of(&could)].into_iter().any(|board| board.at(at) != own)
            {
                return false;
            }
            let dies = |game: &AnyGame| {
                Siege::of(game, at).is_some_and(|mut siege| siege.captured(game, Siege::PLIES))
            };
            let lives = |game: &AnyGame| {
                Siege::of(game, at).is_some_and(|mut siege| !siege.captured(game, Siege::PLIES))
            };
            if own == mover { dies(&replied) && lives(&could) } else { lives(&replied) && dies(&could) }
        })
    }

    /// Whether a side makes three fours and open threes in the line in which it does well, and two more than in the other one.
    fn attacks_more(&self, side: Side) -> bool {
        let AnyGame::Gomoku(_) = self.before else { return false };
        let count = |line: &mut dyn Iterator<Item = Action>| {
            let (mut game, mut count) = (self.before.clone(), 0);
            for action in line.take(12) {
                if let (true, Action::Place(at)) = (game.turn() == side, action) {
                    let mut board = Board::of(&game);
                    board.put(at, letter(&game, side));
                    count += u32::from(fours_and_threes(&mut board, at) != (0, 0));
                }
                if game.act(action).is_err() {
                    break;
                }
            }
            count
        };
        let played = count(&mut std::iter::once(self.played).chain(self.reply.line.iter().copied()));
        let could = count(&mut self.better.line.iter().copied());
        let (well, ill) = if side == self.mover() { (could, played) } else { (played, could) };
        well >= 3 && well >= ill + 2
    }

    /// A four of White in the line, and the only point that stops it is forbidden for Black.
    fn forbidden(&self) -> bool {
        let mut game = self.after.clone();
        for &action in self.reply.line.iter().take(12) {
            let white = game.color(game.turn()) == Side::Second;
            if game.act(action).is_err() || game.outcome().is_some() {
                return false;
            }
            let (AnyGame::Gomoku(gomoku), true) = (&game, white) else { continue };
            let mut board = Board::of(&game);
            if let [stop] = fives(&mut board, 'w')[..]
                && gomoku.fault(stop).is_some()
                && !game.legal_actions().into_iter().any(|action| {
                    acted(&game, action)
                        .and_then(|next| next.outcome())
                        .is_some_and(|outcome| outcome.winner == Some(game.turn()))
                })
            {
                return true;
            }
        }
        false
    }
}

// Mates by name.

/// Whether a mate has this pattern: its pieces stand so, and without either of them it would be no mate.
pub(crate) fn mates(pattern: MatePattern, mated: &Xiangqi) -> bool {
    let game = AnyGame::Xiangqi(mated.clone());
    let board = Board::of(&game);
    let (loser, winner) = (game.turn(), game.turn().other());
    let of = |letter: char| -> Vec<Point> {
        let is = |at: &Point| board.at(*at).eq_ignore_ascii_case(&letter) && of_side(board.at(*at), winner);
        board.points().filter(is).collect()
    };
    let general = board
        .points()
        .find(|&at| board.at(at).eq_ignore_ascii_case(&'k') && of_side(board.at(at), loser))
        .expect("a general");
    let checks = |at: Point| attacked(&board, at).contains(&general);
    let back = if loser == Side::First { 0 } else { 9 };
    let second = if loser == Side::First { 1 } else { 8 };
    let steps = |one: Point, other: Point| one.column.abs_diff(other.column) + one.row.abs_diff(other.row);
    let needed = |at: Point| !is_mate_without(&board, at, loser);
    match pattern {
        MatePattern::CannonBehindHorse => of('c').into_iter().filter(|&cannon| checks(cannon)).any(|cannon| {
            between(&board, cannon, general).is_some_and(|screen| {
                matches!(screen[..], [horse] if of('n').contains(&horse) && steps(horse, general) == 2 && needed(horse))
            })
        }),
        MatePattern::IronBolt => {
            let king = of('k')[0];
            general == Point::new(4, back)
                && of('c').into_iter().any(|cannon| cannon.column == 4 && needed(cannon))
                && of('r').into_iter().chain(of('p')).any(|checker| {
                    checks(checker)
                        && checker.row == back
                        && steps(checker, general) == 1
                        && checker.column == king.column
                        && between(&board, king, checker).is_some_and(|pieces| pieces.is_empty())
                })
        }
        MatePattern::WocaoHorse => of('n').into_iter().any(|horse| {
            let others = of('n').into_iter().chain(of('c')).chain(of('p')).filter(|&at| at != horse);
            horse.row == second
                && matches!(horse.column, 2 | 6)
                && attacked(&board, horse).contains(&Point::new(4, back))
                && needed(horse)
                && others.into_iter().all(|at| !checks(at))
        }),
        MatePattern::AlternatingChariots => {
            let chariots = of('r');
            chariots.len() == 2
                && chariots.iter().filter(|&&at| checks(at)).count() == 1
                && chariots.iter().all(|&at| needed(at))
        }
    }
}

/// Whether the side to move is still mated, or without a move, when a piece is taken off the board.
fn is_mate_without(board: &Board, at: Point, loser: Side) -> bool {
    let mut without = Board(board.0.clone());
    without.put(at, '.');
    let rows: Vec<String> = without
        .0
        .iter()
        .rev()
        .map(|row| row.iter().map(|&cell| if cell == '.' { '1' } else { cell }).collect())
        .collect();
    let text = format!("{} {}", rows.join("/"), if loser == Side::First { "w" } else { "b" });
    // A position that is refused is one in which the side is without a move.
    crate::position("xiangqi", &text).is_none_or(|game| game.legal_actions().is_empty())
}
