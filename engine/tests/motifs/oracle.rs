//! Each motif by the rules alone: what a reason claims is looked for on boards read from the text of positions, with legal
//! moves and nothing else of the engine. Slow and plain on purpose.

mod go;
mod gomoku;
mod liuzhou;
mod xiangqi;

use engine::reasons::Motif;
use engine::{Action, AnyGame, Point, Report, Score, Side};

pub(crate) use self::go::touches;
use self::go::{Hunt, taken};
use self::gomoku::{Double, attacks, by_fours, first_double};
use self::liuzhou::formations;
pub(crate) use self::liuzhou::most_formations;
use self::xiangqi::{SOLDIER, gain, of_side, worth};
pub(crate) use self::xiangqi::{mates, may_skewer};

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

fn letter(game: &AnyGame, side: Side) -> char {
    if game.color(side) == Side::First { 'b' } else { 'w' }
}

fn other(letter: char) -> char {
    if letter == 'b' { 'w' } else { 'b' }
}

impl Look<'_> {
    fn mover(&self) -> Side {
        self.before.turn()
    }

    fn replied(&self) -> AnyGame {
        acted(self.after, self.reply.line[0]).expect("a reply is legal")
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
