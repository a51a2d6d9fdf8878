//! The Liuzhou chess bot and its levels.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fitted::FITTED;
use super::lookahead::Lookahead;
use super::tablebase::Tablebase;
use super::weights::BY_HAND;
use super::{Liuzhou, LiuzhouMove};
use crate::search::{Clock, Finding, Strength};
use crate::search_bot::{SearchBot, SearchedGame};
use crate::{AnyGame, Game, Limits, Tier};

/// The Liuzhou chess bot. It allocates its tables at the first search.
///
/// It makes one decision at a time: a step that captures, then each capture.
pub struct LiuzhouBot {
    bot: SearchBot<Lookahead>,
    /// Folder of endgame tables.
    folder: Option<PathBuf>,
    /// Name and result of the last attempt to open a table.
    tablebase: Option<(String, Option<Arc<Tablebase>>)>,
}

const MB: usize = 1 << 20;
const NO_LIMIT: u32 = u32::MAX;

/// Levels 1 to 10. Up to 3 a level may overlook a formation that is about to be made; from 4 on it uses quiescence search.
/// Calibrated by matches between adjacent levels; see EXPERIMENTS.md.
const STRENGTHS: [Strength; 10] = [
    Strength { depth: 1, nodes: 1_000, noise: 215, quiescence: false, table_bytes: MB / 4 },
    Strength { depth: 1, nodes: 1_000, noise: 100, quiescence: false, table_bytes: MB / 4 },
    Strength { depth: 2, nodes: 2_000, noise: 160, quiescence: false, table_bytes: MB / 4 },
    Strength { depth: 1, nodes: 2_000, noise: 40, quiescence: true, table_bytes: MB / 4 },
    Strength { depth: 2, nodes: 4_000, noise: 40, quiescence: true, table_bytes: MB / 2 },
    Strength { depth: 3, nodes: 8_000, noise: 20, quiescence: true, table_bytes: MB },
    Strength { depth: 5, nodes: 40_000, noise: 4, quiescence: true, table_bytes: 2 * MB },
    Strength { depth: 7, nodes: 55_000, noise: 25, quiescence: true, table_bytes: 4 * MB },
    Strength { depth: 10, nodes: 600_000, noise: 0, quiescence: true, table_bytes: 16 * MB },
    Strength { depth: NO_LIMIT, nodes: u64::MAX, noise: 0, quiescence: true, table_bytes: 32 * MB },
];

/// Levels with a smaller depth use the hand-crafted weights; see [`super::weights`].
const FITTED_DEPTH: u32 = 6;

/// A capture belongs to the step before it, which has been searched already: it gets this percentage of the time.
const CAPTURE_SHARE: u32 = 3;

impl LiuzhouBot {
    /// A player of this strength; the seed colours its errors.
    pub fn new(level: Tier, seed: u64) -> Self {
        Self::within(level, seed, usize::MAX)
    }

    /// A player whose table of positions takes at most this many bytes, whatever the level would choose.
    pub fn within(level: Tier, seed: u64, bytes: usize) -> Self {
        let strength = STRENGTHS[usize::from(level.number()) - 1];
        let bot = SearchBot::new(strength, strength.table_bytes.min(bytes), seed);
        Self { bot, folder: None, tablebase: None }
    }

    /// The endgame table that the game approaches. Only at the highest level.
    fn tablebase(&mut self, game: &Liuzhou) -> Option<Arc<Tablebase>> {
        /// Number of captures before the table's positions at which the table is opened.
        const NEAR: u32 = 4;
        let setup = game.setup();
        let live: u32 = game.state().live.iter().map(|stones| stones.count_ones()).sum();
        if game.is_placing() || live > 2 * (u32::from(setup.loses_at) + 1) + NEAR || !self.bot.is_unlimited()
        {
            return None;
        }
        let folder = self.folder.as_ref()?;
        let name = Tablebase::file_name(setup)?;
        // It may have been computed in the meantime.
        if self.tablebase.as_ref().is_none_or(|(last, found)| *last != name || found.is_none()) {
            let opened = File::open(folder.join(&name)).and_then(|file| Tablebase::open(setup, file));
            self.tablebase = Some((name, opened.ok().map(Arc::new)));
        }
        self.tablebase.as_ref().and_then(|(_, tablebase)| tablebase.clone())
    }
}

impl SearchedGame for LiuzhouBot {
    type Game = Liuzhou;
    type Position = Lookahead;

    fn game(game: &AnyGame) -> Option<&Liuzhou> {
        match game {
            AnyGame::Liuzhou(game) => Some(game),
            _ => None,
        }
    }

    fn search_bot(&mut self) -> &mut SearchBot<Lookahead> {
        &mut self.bot
    }

    fn think_among(
        &mut self,
        game: &Liuzhou,
        among: &dyn Fn(LiuzhouMove) -> bool,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Finding<LiuzhouMove>),
    ) -> Option<Finding<LiuzhouMove>> {
        if game.outcome().is_some() {
            return None;
        }
        self.bot.start_afresh(limits);
        let strength = self.bot.strength;
        let mut own = strength.limit(limits);
        if game.captures_due() > 0 {
            own.time = own.time.map(|time| time / CAPTURE_SHARE);
        }
        let weights = if strength.depth < FITTED_DEPTH { &BY_HAND } else { &FITTED };
        let mut ahead = Lookahead::new(game).with_weights(weights).with_tablebase(self.tablebase(game));
        self.bot.search.search_among(&mut ahead, among, &mut Clock::new(&own), report)
    }

    fn keep_folder(&mut self, folder: &Path) {
        self.folder = Some(folder.to_owned());
    }
}
