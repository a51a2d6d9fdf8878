//! The beginnings of all kept matches of a game, for [`explore`](crate::explore).

use engine::{Action, GameKind, Setup, Side};
use rusqlite::Row;

use super::matches::{parse_action, parse_setup};
use super::schema::connect_to_read;
use super::{Store, StoreError, explain, readable};

/// Reads on another thread, through a connection of its own.
pub(crate) struct Beginnings {
    path: std::path::PathBuf,
}

/// How a kept match began, and how it ended.
pub(crate) struct Beginning {
    pub(crate) setup: Setup,
    /// Up to those asked for.
    pub(crate) actions: Vec<Action>,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Won(Side),
    Drawn,
    /// It goes on, or nobody knows.
    Open,
}

impl Store {
    pub(crate) fn beginnings(&self) -> Beginnings {
        Beginnings { path: self.path.clone() }
    }
}

impl Beginnings {
    /// The first `plies` actions of the `most` matches of this game that were played last; shorter ones and those that cannot be
    /// read are left out.
    pub(crate) fn read(&self, kind: GameKind, plies: u32, most: u32) -> Result<Vec<Beginning>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Beginning>> {
            let connection = connect_to_read(&self.path)?;
            let mut matches = connection.prepare(
                "SELECT match_id, setup, ending IS NULL AND said IS NULL, coalesce(winner, said_winner)
                 FROM matches WHERE game = ?1 ORDER BY changed_unix_ms DESC LIMIT ?2",
            )?;
            let mut actions = connection
                .prepare("SELECT action FROM actions WHERE match_id = ?1 AND ply <= ?2 ORDER BY ply")?;
            let row = |row: &Row<'_>| {
                let (id, setup): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
                let (goes_on, winner): (bool, Option<i64>) = (row.get(2)?, row.get(3)?);
                let end = match winner.filter(|_| !goes_on) {
                    Some(0) => End::Drawn,
                    Some(1) => End::Won(Side::First),
                    Some(2) => End::Won(Side::Second),
                    _ => End::Open,
                };
                Ok((id, setup, end))
            };
            let rows: Vec<_> = readable(matches.query_map([kind as u32, most], row)?)?;
            let mut beginnings = Vec::new();
            for (id, setup, end) in rows {
                let bytes: Vec<Vec<u8>> =
                    readable(actions.query_map((&id, plies), |row| row.get::<_, Vec<u8>>(0))?)?;
                let actions: Option<Vec<Action>> = bytes.iter().map(|bytes| parse_action(bytes)).collect();
                let whole = actions.filter(|actions| actions.len() == plies as usize);
                if let Some((setup, actions)) = parse_setup(&setup).zip(whole) {
                    beginnings.push(Beginning { setup, actions, end });
                }
            }
            Ok(beginnings)
        };
        read().map_err(|error| explain(&self.path, &error))
    }
}
