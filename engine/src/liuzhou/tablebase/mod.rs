//! Endgame tables for positions in which both sides have so few stones that the next capture ends the game.
//!
//! With the default rules these are four against four, with the option that loses at two or fewer three against three. A
//! table has for each position whether the side to move wins or loses and in how many plies, or that it is a draw. It is
//! computed by retrograde analysis ([`Tablebase::make`]), kept in a file, and read from there ([`Tablebase::open`]) without
//! loading it into memory.
//!
//! A table does not know the history: [`Tablebase::probe`] takes plies without a capture into account, but a position that
//! has occurred twice may be a draw where the table has a result.

mod index;
mod make;
mod table;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use self::index::Index;
use self::make::Ground;
use self::table::Table;
use super::formations::ALL;
use super::rules::{Liuzhou, Phase, bits};
use super::{Blocked, LiuzhouSetup, Safety, StepBack};
use crate::Game;

/// An endgame table.
pub struct Tablebase {
    kind: Kind,
    index: Index,
    table: Table,
}

/// The result of a position with best play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablebaseResult {
    /// The side to move wins in this many plies.
    Won(u32),
    /// The side to move loses in this many plies.
    Lost(u32),
    /// Neither side can force a win.
    Drawn,
}

/// The kind of table for a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    stones: u8,
    diagonals: bool,
    blocked: Blocked,
}

impl Kind {
    /// `None` if the results depend on more than stones and turn, or if too few stones remain to make a formation.
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

    fn bytes(self) -> table::Kind {
        [b'L', self.stones, self.diagonals.into(), self.blocked as u8, 0, 0, 0, 0]
    }
}

impl Tablebase {
    /// File name of the table for this setup; `None` if there is no table for it.
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

    /// Computes the table of a setup. With four stones per side it has 270 million positions: five minutes on a desktop's
    /// core with 210 MB of memory, and 145 MB on disk; with three stones it takes a second and 3 MB. `tell` gets the number
    /// of finished plies, and the progress of the next one in thousandths; the total is not known in advance (29 with three
    /// stones, 66 with four, where the first dozen take most of the time).
    ///
    /// `None` if there is no table for the setup, or if stopped.
    pub fn make(setup: &LiuzhouSetup, stop: &AtomicBool, tell: &mut dyn FnMut(u8, u16)) -> Option<Self> {
        let kind = Kind::of(setup)?;
        let index = Index::new(kind.stones.into());
        let found = make::make(&kind.ground(), &index, stop, tell)?;
        let table = Table::new(kind.bytes(), index.len(), found);
        Some(Self { kind, index, table })
    }

    /// Writes a table that was just computed, in the format of [`Self::open`].
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.table.write(to)
    }

    /// Computes the table as [`Self::make`] does, and writes it to a folder as [`Self::file_name`], atomically. Returns
    /// whether the file exists afterwards: false without a table for the setup, or if stopped.
    pub fn put_into(
        setup: &LiuzhouSetup,
        folder: &Path,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(u8, u16),
    ) -> io::Result<bool> {
        let Some(name) = Self::file_name(setup) else { return Ok(false) };
        let Some(made) = Self::make(setup, stop, tell) else { return Ok(false) };
        let path = folder.join(name);
        let draft = path.with_extension("part");
        let mut file = File::create(&draft)?;
        let written = made.write(&mut file).and_then(|()| file.sync_all());
        if let Err(error) = written.and_then(|()| std::fs::rename(&draft, &path)) {
            // A partial file on a full disk is deleted.
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        Ok(true)
    }

    /// Opens a table. Fails if it is not for this setup, or incomplete.
    pub fn open(setup: &LiuzhouSetup, file: File) -> io::Result<Self> {
        let kind =
            Kind::of(setup).ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "no such table"))?;
        let index = Index::new(kind.stones.into());
        let table = Table::open(kind.bytes(), index.len(), file)?;
        Ok(Self { kind, index, table })
    }

    /// The result of the game from here, if the position is in the table, a step is due, and the setup is the table's.
    pub fn probe(&self, game: &Liuzhou) -> Option<TablebaseResult> {
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
        let plies = self.table.plies(self.index.number(own, enemy)).ok()?;
        // A capture on the last ply before a limit is in time.
        let left = |limit: Option<u16>, gone: u16| limit.map_or(u16::MAX, |limit| limit.saturating_sub(gone));
        let left = left(setup.quiet_limit, state.quiet).min(left(setup.total_limit, state.total));
        Some(match plies {
            0 => TablebaseResult::Drawn,
            plies if u16::from(plies) > left => TablebaseResult::Drawn,
            plies if plies % 2 == 1 => TablebaseResult::Won(plies.into()),
            plies => TablebaseResult::Lost(plies.into()),
        })
    }
}
