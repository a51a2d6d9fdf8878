//! What the kept matches say of how a person has done before, and what was done for them in each.

use engine::lights_out::{LightsOutSetup, Start};
use engine::{GameKind, Setup};
use proto::control::Help;
use rusqlite::{OptionalExtension as _, Row, params};
use session::MatchId;

use super::matches::{parse_setup, seat_text};
use super::{Store, StoreError};
use crate::room::Seat;

/// Wins one after another are counted up to so many.
const MOST_WINS: u32 = 200;

/// Boards of lights that are looked at, the latest first.
const MOST_BOARDS: u32 = 500;

/// How matches of one game against one opponent went, before one that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wins {
    /// One of them was won without help.
    pub(crate) any: bool,
    /// The last ones that were won without help, one after another.
    pub(crate) in_a_row: u32,
}

impl Store {
    /// What was done for the person here in this match.
    pub(crate) fn help(&self, id: MatchId) -> Result<Help, StoreError> {
        self.connection
            .prepare_cached("SELECT help FROM matches WHERE match_id = ?1")
            .and_then(|mut statement| statement.query_row([id.0], |row| row.get(0)).optional())
            .map(|help: Option<i32>| help.and_then(|help| Help::try_from(help).ok()).unwrap_or_default())
            .map_err(|error| self.explain(error))
    }

    /// This was done for the person here: the most that was done counts.
    pub(crate) fn add_help(&mut self, id: MatchId, help: Help) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE matches SET help = max(help, ?2) WHERE match_id = ?1",
                params![id.0, help as i32],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// How this person's matches of this game against this opponent went that were over when this one ended.
    pub(crate) fn wins_before(
        &self,
        id: MatchId,
        game: GameKind,
        [person, opponent]: [&Seat; 2],
    ) -> Result<Wins, StoreError> {
        const AGAINST: &str =
            "game = ?1 AND (first_seat = ?4 AND second_seat = ?2 OR second_seat = ?4 AND first_seat = ?2)
             AND ending IS NOT NULL AND match_id <> ?3
             AND changed_unix_ms <= (SELECT changed_unix_ms FROM matches WHERE match_id = ?3)";
        const WON: &str = "winner IN (1, 2) AND (winner = 1) = (first_seat = ?4) AND help = 0";
        let about = params![game as u8, seat_text(opponent.clone()), id.0, seat_text(person.clone())];
        let read = || -> rusqlite::Result<Wins> {
            let any = format!("SELECT EXISTS (SELECT 1 FROM matches WHERE {AGAINST} AND {WON})");
            let any = self.connection.prepare_cached(&any)?.query_row(about, |row| row.get(0))?;
            let last = format!(
                "SELECT {WON} FROM matches WHERE {AGAINST} ORDER BY changed_unix_ms DESC LIMIT {MOST_WINS}"
            );
            let mut statement = self.connection.prepare_cached(&last)?;
            let mut rows = statement.query(about)?;
            let mut in_a_row = 0;
            while let Some(row) = rows.next()?
                && row.get(0)?
            {
                in_a_row += 1;
            }
            Ok(Wins { any, in_a_row })
        };
        read().map_err(|error| self.explain(error))
    }

    /// The fewest presses by which the person in these seats had solved a board of this size without help when this match
    /// ended.
    pub(crate) fn fewest_before(
        &self,
        id: MatchId,
        seats: &[Seat; 2],
        setup: &LightsOutSetup,
    ) -> Result<Option<u32>, StoreError> {
        let read = || -> rusqlite::Result<Option<u32>> {
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT setup, (SELECT max(ply) FROM actions WHERE actions.match_id = matches.match_id) FROM matches
                 WHERE game = ?1 AND first_seat = ?3 AND second_seat = ?4 AND winner IN (1, 2) AND help = 0
                 AND match_id <> ?2 AND changed_unix_ms <= (SELECT changed_unix_ms FROM matches WHERE match_id = ?2)
                 ORDER BY changed_unix_ms DESC LIMIT {MOST_BOARDS}"
            ))?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let mut fewest: Option<u32> = None;
            let [first, second] = seats.clone().map(seat_text);
            for one in statement.query_map(params![GameKind::LightsOut as u8, id.0, first, second], row)? {
                let (bytes, presses): (Vec<u8>, Option<u32>) = one?;
                let same = matches!(parse_setup(&bytes), Some(Setup::LightsOut(other)) if kind(&other) == kind(setup));
                if let Some(presses) = presses.filter(|_| same) {
                    fewest = Some(fewest.map_or(presses, |fewest| fewest.min(presses)));
                }
            }
            Ok(fewest)
        };
        read().map_err(|error| self.explain(error))
    }
}

/// Boards of one kind are compared: as large, with the same neighbours.
fn kind(setup: &LightsOutSetup) -> (u16, u16, engine::lights_out::Neighbours) {
    let (columns, rows) = match &setup.start {
        Start::Random { columns, rows, .. } => (*columns, *rows),
        Start::Board(lights) => (lights.columns(), lights.rows()),
    };
    (columns, rows, setup.neighbours)
}
