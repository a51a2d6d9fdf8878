//! Xiangqi: what pieces attack, what falls, mates by name.

use engine::reasons::MatePattern;
use engine::xiangqi::Xiangqi;
use engine::{Action, AnyGame, Point, Side};

use super::{Board, Look, acted, to};

/// A soldier.
pub(super) const SOLDIER: i32 = 3;

/// Players' usual values, where a soldier is 3.
pub(super) fn worth(letter: char) -> i32 {
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
pub(super) fn gain(game: &AnyGame, capture: Action) -> Option<i32> {
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

pub(super) fn of_side(letter: char, side: Side) -> bool {
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
    /// Whether the piece that replied can be captured where it has gone.
    pub(super) fn recaptures(&self) -> bool {
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
    pub(super) fn fork(&self) -> bool {
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

    pub(super) fn skewer(&self) -> bool {
        let (Some((from, falls)), Some(at)) = (self.falls(), to(self.reply.line[0])) else { return false };
        let board = Board::of(&self.replied());
        let Action::Step { from: fled, .. } = self.reply.line[1] else { return false };
        from == at
            && board.at(at).eq_ignore_ascii_case(&'r')
            && between(&board, at, falls).is_some_and(|front| front == [fled])
    }

    pub(super) fn pin(&self) -> bool {
        let Some((_, falls)) = self.falls() else { return false };
        let replied = self.replied();
        let board = Board::of(&replied);
        let steps = |action: &Action| matches!(action, Action::Step { from, .. } if *from == falls);
        self.checkers().is_empty() && may_step(&board, falls) && !replied.legal_actions().iter().any(steps)
    }

    pub(super) fn discovered(&self) -> bool {
        self.falls().is_some() && self.checkers().iter().any(|&by| Some(by) != to(self.reply.line[0]))
    }

    pub(super) fn check_wins(&self) -> bool {
        self.falls().is_some() && !self.checkers().is_empty()
    }
}

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
