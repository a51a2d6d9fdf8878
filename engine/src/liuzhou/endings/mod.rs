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

/// A table of endings.
pub struct Endings {
    kind: Kind,
    index: Index,
    table: Table,
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

    fn bytes(self) -> table::Kind {
        [b'L', self.stones, self.diagonals.into(), self.blocked as u8, 0, 0, 0, 0]
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

    /// Works the table of a setup out. With four stones a side that are 270 million positions: five minutes of a desktop's
    /// core and 210 MB of memory while it is made, 145 MB of disk; with three it is a second and 3 MB. `tell` hears now and then
    /// how many plies are done, and the thousandths of the next one; nobody knows how many there will be (29 with three stones,
    /// 66 with four, of which the first dozen take the time).
    ///
    /// `None` where a setup has no table, or when stopped.
    pub fn make(setup: &LiuzhouSetup, stop: &AtomicBool, tell: &mut dyn FnMut(u8, u16)) -> Option<Self> {
        let kind = Kind::of(setup)?;
        let index = Index::new(kind.stones.into());
        let found = make::make(&kind.ground(), &index, stop, tell)?;
        let table = Table::new(kind.bytes(), index.len(), found);
        Some(Self { kind, index, table })
    }

    /// Writes a table that was just made as [`Self::open`] reads it.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.table.write(to)
    }

    /// Works the table of a setup out as [`Self::make`] does and puts it into a folder under its [`Self::file_name`]: whole or
    /// not at all, however it is cut short. Whether it is there then: not where there is no such table, nor when stopped.
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
            // Of a disk that is full it would take the rest.
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        Ok(true)
    }

    /// The table in a file. Fails where it is not that of this setup, or is not whole.
    pub fn open(setup: &LiuzhouSetup, file: File) -> io::Result<Self> {
        let kind =
            Kind::of(setup).ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "no such table"))?;
        let index = Index::new(kind.stones.into());
        let table = Table::open(kind.bytes(), index.len(), file)?;
        Ok(Self { kind, index, table })
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
        let plies = self.table.plies(self.index.number(own, enemy)).ok()?;
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
}
