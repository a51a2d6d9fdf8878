//! `.psq`, the file format of Piskvork, the manager of Gomocup.
//!
//! ```text
//! file   = head { move } [ name name ] [ code ] { anything }
//! head   = "Piskvorky " columns "x" rows "," number ":" number "," number
//! move   = column "," row "," milliseconds       from 1, the row from the top
//! code   = number                                how it ended, -1 and 0 among them; of Piskvork's own
//! ```
//! The numbers of the head (levels, who began) are ignored: the first stone is black. The rule is not part of the format,
//! but the tournament appends a line such as `0,Freestyle15_1`, which is read; without it the rule is freestyle.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Gomoku, GomokuRule, GomokuSetup};
use crate::record::Interrupted;
use crate::{Action, Game, IllegalAction, Point, TextError};

/// The content of a `.psq` file: a game from the empty board with alternating colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Psq {
    /// Size and rule.
    pub setup: GomokuSetup,
    /// The stones with the time of each.
    pub moves: Vec<(Point, Duration)>,
    /// Names of Black and White, if present.
    pub names: Option<[String; 2]>,
}

impl Psq {
    /// Parses a file. On an error, returns the moves before it, which are all legal.
    pub fn read(text: &str) -> Result<Self, Box<Interrupted<Self>>> {
        let mut psq = Self::default();
        match psq.fill(text) {
            Ok(()) => Ok(psq),
            Err((error, refusal)) => Err(Box::new(Interrupted { error, refusal, read: psq })),
        }
    }

    /// The final position.
    pub fn game(&self) -> Gomoku {
        let mut game = Gomoku::new(&self.setup).expect("a setup that was read is valid");
        for &(point, _) in &self.moves {
            let mv = game.legal_move(Action::Place(point)).expect("moves that were read are legal");
            game.play(mv);
        }
        game
    }

    /// The moves as actions.
    pub fn actions(&self) -> Vec<Action> {
        self.moves.iter().map(|&(point, _)| Action::Place(point)).collect()
    }

    /// The content of the file, with line ends of Windows, because Piskvork runs there.
    pub fn write(&self) -> String {
        let size = u16::from(self.setup.size);
        let mut text = format!("Piskvorky {size}x{size}, 0:0, 0\r\n");
        for (point, time) in &self.moves {
            let (column, row) = (point.column + 1, size - point.row);
            write!(text, "{column},{row},{}\r\n", time.as_millis()).expect("writing to a String cannot fail");
        }
        if let Some([black, white]) = &self.names {
            for name in [black, white] {
                text += &name.replace(['\r', '\n'], " ");
                text += "\r\n";
            }
        }
        write!(text, "-1\r\n0,{}\r\n", self.setup.rule.word()).expect("writing to a String cannot fail");
        text
    }

    fn fill(&mut self, text: &str) -> Result<(), (TextError, Option<IllegalAction>)> {
        let mut lines = text.lines().enumerate();
        let head = lines.next().map_or("", |(_, line)| line);
        let size = read_head(head).map_err(|(at, expected)| (TextError::at(head, at, expected), None))?;
        self.setup.size = size;
        let rest: Vec<(usize, &str)> = lines.collect();
        let moves = rest.iter().take_while(|(_, line)| is_move(line)).count();
        let (moves, after) = rest.split_at(moves);
        let after: Vec<&str> =
            after.iter().map(|(_, line)| line.trim()).filter(|line| !line.is_empty()).collect();
        self.setup.rule = after.iter().rev().find_map(|line| rule(line)).unwrap_or_default();
        if let [black, white, ..] = after[..]
            && [black, white].iter().all(|name| name.parse::<i64>().is_err() && rule(name).is_none())
        {
            self.names = Some([black.to_owned(), white.to_owned()]);
        }
        let mut game = Gomoku::new(&self.setup).expect("the size is one of those allowed");
        for &(number, line) in moves {
            let error = |at: usize, expected| TextError {
                line: number as u32 + 1,
                ..TextError::at(line, at, expected)
            };
            let (point, time) =
                read_move(line, size).map_err(|(at, expected)| (error(at, expected), None))?;
            let mv = game.legal_move(Action::Place(point));
            let mv = mv.map_err(|refusal| (error(0, "a legal move"), Some(refusal)))?;
            game.play(mv);
            self.moves.push((point, time));
        }
        Ok(())
    }
}

fn is_move(line: &str) -> bool {
    line.trim_start().starts_with(|c: char| c.is_ascii_digit())
        && line.matches(',').count() >= 1
        && rule(line).is_none()
}

/// The rule in the tournament's line.
fn rule(line: &str) -> Option<GomokuRule> {
    let lower = line.to_ascii_lowercase();
    let after_number = lower.split_once(',').filter(|(number, _)| number.trim().parse::<u32>().is_ok())?.1;
    GomokuRule::ALL.into_iter().find(|rule| after_number.trim_start().starts_with(rule.word()))
}

/// The size, or the byte offset and what was expected there.
fn read_head(head: &str) -> Result<u8, (usize, &'static str)> {
    let after = head.trim_start_matches('\u{feff}');
    let begin = head.len() - after.len();
    let rest = after.strip_prefix("Piskvorky ").ok_or((begin, "Piskvorky, the head of a .psq"))?;
    let at = head.len() - rest.len();
    let end = rest.find(',').unwrap_or(rest.len());
    let (columns, rows) = rest[..end].split_once('x').ok_or((at, "a size such as 15x15"))?;
    let size: Option<u8> = columns.trim().parse().ok().filter(|_| columns.trim() == rows.trim());
    size.filter(|size| GomokuSetup::SIZES.contains(size)).ok_or((at, "a square size of 5 to 20"))
}

fn read_move(line: &str, size: u8) -> Result<(Point, Duration), (usize, &'static str)> {
    let mut at = 0;
    let mut numbers = line.split(',').map(|field| {
        let here = at;
        at += field.len() + 1;
        (here, field.trim())
    });
    let size = u16::from(size);
    let mut coordinate = || {
        let (at, field) = numbers.next().unwrap_or((line.len(), ""));
        let number: Option<u16> = field.parse().ok().filter(|n| (1..=size).contains(n));
        number.ok_or((at, "a number of 1 to the size of the board"))
    };
    let (column, row) = (coordinate()?, coordinate()?);
    // Some programs omit the time.
    let time = match numbers.next() {
        None => 0,
        Some((at, field)) => {
            let time: f64 = field.parse().map_err(|_| (at, "a time in milliseconds"))?;
            if time.is_finite() { time.max(0.0) as u64 } else { 0 }
        }
    };
    Ok((Point::new(column - 1, size - row), Duration::from_millis(time)))
}
