//! What is known for certain of the smallest endings: both sides have so few stones that the next capture ends the game.
//!
//! By the default rules that is four against four, under the option that loses at two or fewer it is three against three. A
//! table says for each of these positions whether the side to move wins or loses, and in how many plies, or that neither can
//! force anything. It is worked out backwards from the ends of games ([`Endings::make`]), kept in a file, and looked up there
//! ([`Endings::open`]): nothing of it is held in memory.
//!
//! What a table does not know is the past: plies without a capture are counted by [`Endings::look_up`], but a position that
//! has been on the board twice already may be a draw where the table says more.

mod index;
mod make;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::AtomicBool;

use self::index::Index;
use self::make::Ground;
use super::formations::ALL;
use super::rules::{Liuzhou, Phase, bits};
use super::{Blocked, LiuzhouSetup, Safety, StepBack};
use crate::Game;

/// A table of endings.
pub struct Endings {
    kind: Kind,
    index: Index,
    store: Store,
}

/// How a position ends when both sides play as well as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move wins in this many plies.
    Won(u32),
    /// The side to move loses in this many plies.
    Lost(u32),
    /// Nobody can force a win.
    Drawn,
}

/// Which table a setup needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    stones: u8,
    diagonals: bool,
    blocked: Blocked,
}

enum Store {
    Memory(Values),
    /// A file as [`Endings::write`] makes it, and how many late values it has.
    File(File, u64),
}

/// What a file begins with; then stones, diagonals, what happens to the blocked, a zero, and how many late values there are.
const MAGIC: &[u8; 8] = b"QYLZEND1";
const HEADER: usize = 16;
/// A late value in a file: the number of the position and the plies.
const LATE: usize = 5;

impl Kind {
    /// `None` where the rules make endings depend on more than stones and turn, or too few stones are left to make anything.
    fn of(setup: &LiuzhouSetup) -> Option<Self> {
        let fits = matches!(setup.loses_at, 2 | 3)
            && setup.safety != Safety::Always
            && setup.step_back == StepBack::Allowed;
        fits.then_some(Self {
            stones: setup.loses_at + 1,
            diagonals: setup.diagonals,
            blocked: setup.blocked,
        })
    }

    fn ground(self) -> Ground {
        let formations = ALL
            .iter()
            .filter(|formation| formation.points.count_ones() <= self.stones.into())
            .filter(|formation| self.diagonals || !formation.diagonal)
            .map(|formation| formation.points)
            .collect();
        Ground { blocked: self.blocked, formations }
    }

    fn header(self, late: u32) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..11].copy_from_slice(&[self.stones, self.diagonals.into(), self.blocked as u8]);
        header[12..].copy_from_slice(&late.to_le_bytes());
        header
    }
}

impl Endings {
    /// The name of the file for this setup's endings; `None` where there is no table for them.
    pub fn file_name(setup: &LiuzhouSetup) -> Option<String> {
        let Kind { stones, diagonals, blocked } = Kind::of(setup)?;
        let blocked = match blocked {
            Blocked::Removal => "removal",
            Blocked::Loses => "loses",
            Blocked::Passes => "passes",
        };
        let diagonals = if diagonals { "" } else { "-straight" };
        Some(format!("liuzhou-{stones}-{blocked}{diagonals}.endings"))
    }

    /// Works the table of a setup out. With four stones a side that are 270 million positions: 135 MB of memory and two
    /// minutes of a desktop's core; with three it is a second. `tell` hears now and then how many plies are done, and the
    /// thousandths of the next one; how many there will be nobody knows (29 with three stones, 61 with four).
    ///
    /// `None` where a setup has no table, or when stopped.
    pub fn make(setup: &LiuzhouSetup, stop: &AtomicBool, tell: &mut dyn FnMut(u8, u16)) -> Option<Self> {
        let kind = Kind::of(setup)?;
        let index = Index::new(kind.stones.into());
        let values = make::make(&kind.ground(), &index, stop, tell)?;
        Some(Self { kind, index, store: Store::Memory(values) })
    }

    /// Writes the table as [`Self::open`] reads it.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let Store::Memory(values) = &self.store else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the table is in a file already"));
        };
        let mut to = BufWriter::new(to);
        to.write_all(&self.kind.header(values.late.len() as u32))?;
        to.write_all(&values.halves)?;
        for &(number, plies) in &values.late {
            to.write_all(&number.to_le_bytes())?;
            to.write_all(&[plies])?;
        }
        to.flush()
    }

    /// The table in a file. Fails where it is not that of this setup, or is not whole.
    pub fn open(setup: &LiuzhouSetup, file: File) -> io::Result<Self> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "no table of these endings");
        let kind = Kind::of(setup).ok_or_else(wrong)?;
        let index = Index::new(kind.stones.into());
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)?;
        let late = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
        let size = HEADER + index.len().div_ceil(2) + LATE * late as usize;
        if header != kind.header(late) || file.metadata()?.len() != size as u64 {
            return Err(wrong());
        }
        Ok(Self { kind, index, store: Store::File(file, late.into()) })
    }

    /// How a game ends from here, if it is one of these endings, a step is due, and its setup is the table's.
    pub fn look_up(&self, game: &Liuzhou) -> Option<Ending> {
        let (setup, state) = (game.setup(), game.state());
        let [black, white] = state.live.map(u64::count_ones);
        let fits = state.phase == Phase::Moving
            && state.due == 0
            && black == self.kind.stones.into()
            && white == self.kind.stones.into()
            && Kind::of(setup) == Some(self.kind)
            && game.outcome().is_none();
        if !fits {
            return None;
        }
        let (own, enemy) = (state.live[state.turn.index()], state.live[state.turn.other().index()]);
        let plies = self.plies(self.index.number(own, enemy)).ok()?;
        // A capture on the last ply of a limit comes in time.
        let left = |limit: Option<u16>, gone: u16| limit.map_or(u16::MAX, |limit| limit.saturating_sub(gone));
        let left = left(setup.quiet_limit, state.quiet).min(left(setup.total_limit, state.total));
        Some(match plies {
            0 => Ending::Drawn,
            plies if u16::from(plies) > left => Ending::Drawn,
            plies if plies % 2 == 1 => Ending::Won(plies.into()),
            plies => Ending::Lost(plies.into()),
        })
    }

    /// 0 for a draw; odd: won, even: lost.
    fn plies(&self, number: usize) -> io::Result<u8> {
        match &self.store {
            Store::Memory(values) => Ok(values.plies(number)),
            Store::File(file, late) => {
                let mut byte = [0];
                file.read_exact_at(&mut byte, (HEADER + number / 2) as u64)?;
                let code = byte[0] >> (4 * (number % 2)) & 15;
                if code <= Values::EXACT {
                    return Ok(code);
                }
                let from = (HEADER + self.index.len().div_ceil(2)) as u64;
                let (mut low, mut high) = (0, *late);
                while low < high {
                    let middle = u64::midpoint(low, high);
                    let mut value = [0; LATE];
                    file.read_exact_at(&mut value, from + middle * LATE as u64)?;
                    let at = u32::from_le_bytes([value[0], value[1], value[2], value[3]]) as usize;
                    match at.cmp(&number) {
                        std::cmp::Ordering::Equal => return Ok(value[4]),
                        std::cmp::Ordering::Less => low = middle + 1,
                        std::cmp::Ordering::Greater => high = middle,
                    }
                }
                Err(io::Error::new(io::ErrorKind::InvalidData, "a late value is missing"))
            }
        }
    }
}

/// Plies to the end for every number: four bits each, and what these do not hold beside them.
struct Values {
    halves: Vec<u8>,
    /// Numbers whose plies are more than [`Self::EXACT`]: in rising order of plies while they are found, then of numbers.
    late: Vec<(u32, u8)>,
}

impl Values {
    /// More plies than this are late: four bits say only whether they are even (14) or odd (15).
    const EXACT: u8 = 13;
    /// No table goes further.
    const MOST: u8 = 250;

    fn new(count: usize) -> Self {
        Self { halves: vec![0; count.div_ceil(2)], late: Vec::new() }
    }

    /// The plies, or 14 or 15 for late ones.
    #[inline]
    fn code(&self, number: usize) -> u8 {
        self.halves[number / 2] >> (4 * (number % 2)) & 15
    }

    fn set(&mut self, number: usize, plies: u8) {
        let code = if plies <= Self::EXACT {
            plies
        } else {
            self.late.push((number as u32, plies));
            14 + plies % 2
        };
        self.halves[number / 2] |= code << (4 * (number % 2));
    }

    /// Once late values are in the order of their numbers.
    fn plies(&self, number: usize) -> u8 {
        match self.code(number) {
            code @ 0..=Self::EXACT => code,
            _ => {
                let at = self.late.binary_search_by_key(&(number as u32), |&(number, _)| number);
                self.late[at.expect("every late value is written down")].1
            }
        }
    }
}
