//! One-line notation of positions, similar to FEN in chess.
//!
//! ```text
//! position = rows " " side " " phase " " due " " quiet " " total [" " step " " step]
//! rows     = six rows from the top, "/" between them; digits are empty points, "b" and "w" live stones of Black and White,
//!            "x" and "o" captured ones (black, white) that wait to be lifted
//! side     = "b" | "w"            whose decision is next
//! phase    = "p"                  placing
//!          | "f" | "F"            forced removal; F: nobody removes after this
//!          | "m"                  moving
//!          | "k" | "K"            removal because a side is blocked: by that side; K: by the other
//! due      = number               captures or removals that the side has still to choose
//! quiet    = number               steps and passes since the last capture
//! total    = number               steps and passes of the moving phase
//! step     = point point | "-"    last step of Black, of White, where stepping straight back is restricted
//! ```
//! The initial position is `6/6/6/6/6/6 b p 0 0 0`. Earlier occurrences of the position are not part of the line.

use std::fmt::Write as _;

use super::rules::{Phase, State, bits};
use super::{BOARD, Liuzhou, LiuzhouSetup, SIZE, STONES, StepBack};
use crate::text::{TextError, words};
use crate::{Point, Side};

impl Liuzhou {
    /// Parses a position of this setup. Fails if the line is malformed, or the position is impossible, such as a side with
    /// 19 stones or due captures without a target.
    pub fn from_position(setup: &LiuzhouSetup, line: &str) -> Result<Self, TextError> {
        setup.check().map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?;
        let mut fields = words(line);
        let mut field = |expected| fields.next().ok_or(TextError::at(line, line.len(), expected));
        let (at, rows) = field("six rows of stones")?;
        let (live, marked) = read_rows(line, at, rows)?;
        let (at, side) = field("b or w, the side to move")?;
        let turn = match side {
            "b" => Side::First,
            "w" => Side::Second,
            _ => return Err(TextError::at(line, at, "b or w, the side to move")),
        };
        let (phase_at, phase) = field("a phase: p, f, F, m, k or K")?;
        let phase = match phase {
            "p" => Phase::Placing,
            "f" => Phase::Forced { last: false },
            "F" => Phase::Forced { last: true },
            "m" => Phase::Moving,
            "k" => Phase::Blocked { last: false },
            "K" => Phase::Blocked { last: true },
            _ => return Err(TextError::at(line, phase_at, "a phase: p, f, F, m, k or K")),
        };
        let mut number = |expected| -> Result<(usize, u16), TextError> {
            let (at, word) = field(expected)?;
            Ok((at, word.parse().map_err(|_| TextError::at(line, at, expected))?))
        };
        let (due_at, due) = number("the number of captures due")?;
        let (_, quiet) = number("the number of plies without a capture")?;
        let (_, total) = number("the number of plies of moving")?;
        let due = u8::try_from(due).map_err(|_| TextError::at(line, due_at, "the number of captures due"))?;
        let mut last_step = [None; 2];
        if setup.step_back == StepBack::NotAtOnce {
            for step in &mut last_step {
                let Some((at, word)) = fields.next() else { break };
                if word != "-" {
                    let read = read_step(word);
                    *step = Some(read.ok_or(TextError::at(line, at, "a step such as c3c4, or -"))?);
                }
            }
        }
        if let Some((at, _)) = fields.next() {
            return Err(TextError::at(line, at, "the end of the line"));
        }
        let state = State { live, marked, turn, phase, due, quiet, total, last_step };
        if let Err(expected) = check(&state) {
            return Err(TextError::at(line, phase_at, expected));
        }
        let game = Self::from_state(&LiuzhouSetup { start: None, ..setup.clone() }, state);
        if due > 0 && game.targets(turn) == 0 {
            return Err(TextError::at(line, due_at, "0, since there is nothing to capture"));
        }
        Ok(game)
    }

    /// The position as a line; see [`Self::from_position`]. Earlier occurrences are lost.
    pub fn position(&self) -> String {
        let State { live, marked, turn, phase, due, quiet, total, last_step } = self.state();
        let mut line = String::new();
        for row in (0..SIZE).rev() {
            let mut empty = 0;
            for column in 0..SIZE {
                let on = |set: u64| set & (1 << (row * SIZE + column)) != 0;
                let sets = [live[0], live[1], marked[0], marked[1]];
                match sets.into_iter().zip(STONE_LETTERS).find(|&(set, _)| on(set)) {
                    Some((_, letter)) => {
                        if empty > 0 {
                            line += &empty.to_string();
                        }
                        empty = 0;
                        line.push(letter);
                    }
                    None => empty += 1,
                }
            }
            if empty > 0 {
                line += &empty.to_string();
            }
            if row > 0 {
                line.push('/');
            }
        }
        let side = if *turn == Side::First { 'b' } else { 'w' };
        let phase = match phase {
            Phase::Placing => 'p',
            Phase::Forced { last: false } => 'f',
            Phase::Forced { last: true } => 'F',
            Phase::Moving => 'm',
            Phase::Blocked { last: false } => 'k',
            Phase::Blocked { last: true } => 'K',
        };
        write!(line, " {side} {phase} {due} {quiet} {total}").expect("writing to a String cannot fail");
        if crate::Game::setup(self).step_back == StepBack::NotAtOnce {
            for step in last_step {
                let point = |n: u8| Point::new(u16::from(n % SIZE), u16::from(n / SIZE));
                line += &step.map_or(" -".into(), |(from, to)| format!(" {}{}", point(from), point(to)));
            }
        }
        line
    }
}

/// Live black, live white, captured black, captured white.
const STONE_LETTERS: [char; 4] = ['b', 'w', 'x', 'o'];

/// Parses live and marked stones. `at` is the offset of the rows in the line.
fn read_rows(line: &str, at: usize, rows: &str) -> Result<([u64; 2], [u64; 2]), TextError> {
    let mut sets = [0_u64; 4];
    let (mut row, mut column) = (SIZE - 1, 0);
    for (offset, c) in rows.char_indices() {
        let wrong = |expected| Err(TextError::at(line, at + offset, expected));
        match c {
            '/' if column != SIZE => return wrong("six points in a row"),
            '/' if row == 0 => return wrong("six rows"),
            '/' => {
                row -= 1;
                column = 0;
            }
            '1'..='6' if column + (c as u8 - b'0') <= SIZE => column += c as u8 - b'0',
            '1'..='6' => return wrong("six points in a row"),
            _ => match STONE_LETTERS.iter().position(|&letter| letter == c) {
                Some(set) if column < SIZE => {
                    sets[set] |= 1 << (row * SIZE + column);
                    column += 1;
                }
                Some(_) => return wrong("six points in a row"),
                None => return wrong("b, w, x, o, a digit or /"),
            },
        }
    }
    if row != 0 || column != SIZE {
        return Err(TextError::at(line, at + rows.len(), "six rows of six points"));
    }
    Ok(([sets[0], sets[1]], [sets[2], sets[3]]))
}

fn read_step(word: &str) -> Option<(u8, u8)> {
    let point = |text: &str| -> Option<u8> {
        let point: Point = text.parse().ok()?;
        let size = u16::from(SIZE);
        (point.column < size && point.row < size).then(|| (point.row * size + point.column) as u8)
    };
    (word.len() == 4 && word.is_ascii()).then_some(())?;
    Some((point(&word[..2])?, point(&word[2..])?))
}

/// Whether a game can be in this state, as far as that can be checked without its history; if not, the reason.
fn check(state: &State) -> Result<(), &'static str> {
    let State { live, marked, turn, phase, due, .. } = state;
    let placed = [0, 1].map(|side: usize| (live[side] | marked[side]).count_ones());
    let stones = bits(live[0] | live[1] | marked[0] | marked[1]).count() as u32;
    if placed.iter().any(|&count| count > STONES) {
        return Err("at most 18 stones of a side");
    }
    match phase {
        Phase::Placing => {
            // A side with due captures has just placed a stone; otherwise the other side is to place one.
            let black_ahead = u32::from((*turn == Side::First) == (*due > 0));
            if placed[0] != placed[1] + black_ahead {
                return Err("stones placed in turn, Black first");
            }
            if *due == 0 && stones == 2 * STONES {
                return Err("another phase, since all stones are placed");
            }
        }
        _ if *marked != [0, 0] => return Err("placing, the only phase with captured stones on the board"),
        Phase::Forced { .. } | Phase::Blocked { .. } if *due != 1 => {
            return Err("one removal due in this phase");
        }
        Phase::Forced { last: false } if live[0] | live[1] != BOARD => {
            return Err("a full board before a forced removal");
        }
        Phase::Forced { last: true } if stones < 2 * STONES - 1 => {
            return Err("a full board before a forced removal");
        }
        Phase::Forced { .. } | Phase::Moving | Phase::Blocked { .. } => {}
    }
    Ok(())
}
