//! Storage of club evenings.

use engine::Setup;
use prost::Message as _;
use rusqlite::{Row, Transaction, params};
use session::club::{Club, ClubRecord, Game, GameResult, Phase, Player, PlayerKind};
use session::{MatchId, Pace};
use tracing::warn;

use super::matches::{parse_pace, parse_setup, setup_bytes};
use super::{Store, StoreError, readable};
use crate::room::PlayerId;

impl Store {
    /// The kept evenings, by number. One that cannot be read is left out, and stays in the file.
    pub(crate) fn clubs(&self) -> Result<Vec<(u32, Club)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(u32, Club)>> {
            let sql = "SELECT club, name, setup, pace, twice, phase FROM clubs ORDER BY club";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows: Vec<_> = readable(statement.query_map([], head)?)?;
            let mut clubs = Vec::new();
            for (number, head) in rows {
                let Some(head) = head else {
                    warn!(number, "a club evening cannot be read");
                    continue;
                };
                let players = self.rows("club_players", "player", number, player)?;
                let games = self.rows("club_games", "round, board", number, game)?;
                match Club::new(ClubRecord { players, games, ..head }) {
                    Ok(club) => clubs.push((number, club)),
                    Err(error) => warn!(number, %error, "a club evening cannot be read"),
                }
            }
            Ok(clubs)
        };
        read().map_err(|error| self.explain(error))
    }

    fn rows<T>(
        &self,
        table: &str,
        order: &str,
        club: u32,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let sql = format!("SELECT * FROM {table} WHERE club = ?1 ORDER BY {order}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        readable(statement.query_map([club], read)?)
    }

    /// Keeps an evening as it is now, and deletes the evenings with these numbers. Only rows that differ are written.
    pub(crate) fn put_club(
        &mut self,
        number: u32,
        club: &ClubRecord,
        delete: &[u32],
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            for old in delete {
                transaction.execute("DELETE FROM clubs WHERE club = ?1", [old])?;
            }
            transaction.execute(
                "INSERT INTO clubs (club, name, setup, pace, twice, phase) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (club) DO UPDATE SET phase = excluded.phase WHERE phase <> excluded.phase",
                params![
                    number,
                    club.name,
                    setup_bytes(&club.setup),
                    Pace::write(club.pace).map(|pace| pace.encode_to_vec()),
                    club.twice,
                    club.phase as u8,
                ],
            )?;
            put_players(transaction, number, &club.players)?;
            put_games(transaction, number, &club.games)
        })
    }

    /// Deletes an evening.
    pub(crate) fn delete_club(&mut self, number: u32) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM clubs WHERE club = ?1", [number])
            .map(drop)
            .map_err(|error| self.explain(error))
    }
}

fn put_players(transaction: &Transaction<'_>, club: u32, players: &[Player]) -> rusqlite::Result<()> {
    let mut known = transaction.prepare_cached("SELECT player FROM club_players WHERE club = ?1")?;
    let known: Vec<u8> = known.query_map([club], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for gone in known.into_iter().filter(|id| players.iter().all(|player| player.id != *id)) {
        transaction
            .execute("DELETE FROM club_players WHERE club = ?1 AND player = ?2", params![club, gone])?;
    }
    let mut put = transaction.prepare_cached(
        "INSERT INTO club_players (club, player, name, kind, number, gone) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (club, player) DO UPDATE SET number = excluded.number, gone = excluded.gone
         WHERE (number, gone) IS NOT (excluded.number, excluded.gone)",
    )?;
    for player in players {
        let kind = kind_text(&player.kind);
        put.execute(params![club, player.id, player.name, kind, player.number, player.left])?;
    }
    Ok(())
}

fn put_games(transaction: &Transaction<'_>, club: u32, games: &[Game]) -> rusqlite::Result<()> {
    let mut known = transaction.prepare_cached("SELECT round, board FROM club_games WHERE club = ?1")?;
    let known: Vec<(u8, u8)> =
        known.query_map([club], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    let is_there = |at: &(u8, u8)| games.iter().any(|game| (game.round, game.board) == *at);
    for (round, board) in known.into_iter().filter(|at| !is_there(at)) {
        transaction.execute(
            "DELETE FROM club_games WHERE club = ?1 AND round = ?2 AND board = ?3",
            params![club, round, board],
        )?;
    }
    let mut put = transaction.prepare_cached(
        "INSERT INTO club_games (club, round, board, first, second, begun, room, result)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (club, round, board) DO UPDATE SET first = excluded.first, second = excluded.second,
            begun = excluded.begun, room = excluded.room, result = excluded.result
         WHERE (first, second, begun, room, result)
            IS NOT (excluded.first, excluded.second, excluded.begun, excluded.room, excluded.result)",
    )?;
    for game in games {
        put.execute(params![
            club,
            game.round,
            game.board,
            game.first,
            game.second,
            begun_number(game),
            game.room.map(|room| room.0),
            game.result.map(result_number),
        ])?;
    }
    Ok(())
}

/// `None` if setup, pace or phase are those of another program, or of damage.
fn head(row: &Row<'_>) -> rusqlite::Result<(u32, Option<ClubRecord>)> {
    let (setup, pace): (Vec<u8>, Option<Vec<u8>>) = (row.get(2)?, row.get(3)?);
    let (name, twice, phase): (String, bool, u8) = (row.get(1)?, row.get(4)?, row.get(5)?);
    let read = || -> Option<ClubRecord> {
        let setup: Setup = parse_setup(&setup)?;
        let pace = match pace {
            Some(bytes) => Some(parse_pace(&bytes)?),
            None => None,
        };
        let phase = [Phase::Gathering, Phase::Running, Phase::Finished]
            .into_iter()
            .find(|one| *one as u8 == phase)?;
        Some(ClubRecord { name, setup, pace, twice, phase, players: Vec::new(), games: Vec::new() })
    };
    Ok((row.get(0)?, read()))
}

fn player(row: &Row<'_>) -> rusqlite::Result<Player> {
    let kind: String = row.get("kind")?;
    Ok(Player {
        id: row.get("player")?,
        name: row.get("name")?,
        kind: parse_kind(&kind),
        number: row.get("number")?,
        left: row.get("gone")?,
    })
}

fn game(row: &Row<'_>) -> rusqlite::Result<Game> {
    let (begun, result): (u8, Option<u8>) = (row.get("begun")?, row.get("result")?);
    Ok(Game {
        round: row.get("round")?,
        board: row.get("board")?,
        first: row.get("first")?,
        second: row.get("second")?,
        begun: begun != 0,
        room: row.get::<_, Option<[u8; 16]>>("room")?.map(MatchId),
        result: result.and_then(|number| RESULTS.into_iter().find(|one| result_number(*one) == number)),
        by_match: begun == ENDED,
    })
}

/// In the column `begun`: the result is the end of the match. Earlier programs read it as begun.
const ENDED: u8 = 2;

fn begun_number(game: &Game) -> u8 {
    if game.by_match { ENDED } else { game.begun.into() }
}

fn kind_text(kind: &PlayerKind) -> String {
    match kind {
        PlayerKind::Here => "here".into(),
        PlayerKind::Friend(key) => format!("friend:{}", PlayerId(*key)),
        PlayerKind::Guest => "guest".into(),
        PlayerKind::Nobody => "nobody".into(),
    }
}

/// A kind that this program does not know is played for by hand.
fn parse_kind(text: &str) -> PlayerKind {
    match text {
        "here" => PlayerKind::Here,
        "guest" => PlayerKind::Guest,
        text => text
            .strip_prefix("friend:")
            .and_then(PlayerId::parse)
            .map_or(PlayerKind::Nobody, |key| PlayerKind::Friend(key.0)),
    }
}

const RESULTS: [GameResult; 6] = [
    GameResult::FirstWins,
    GameResult::SecondWins,
    GameResult::Draw,
    GameResult::FirstForfeits,
    GameResult::SecondForfeits,
    GameResult::NotPlayed,
];

/// As in `qiyou.control.ClubResult`.
const fn result_number(result: GameResult) -> u8 {
    match result {
        GameResult::FirstWins => 1,
        GameResult::SecondWins => 2,
        GameResult::Draw => 3,
        GameResult::FirstForfeits => 4,
        GameResult::SecondForfeits => 5,
        GameResult::NotPlayed => 6,
    }
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Rng};
    use proto::board;

    use super::*;

    fn evening() -> Club {
        let setup = GameKind::Go.default_setup();
        let pace =
            Pace::read(Some(&board::Pace { kind: 2, main_s: 600, ..Default::default() })).expect("a pace");
        let mut club = Club::empty("星期五 Friday".into(), setup, pace, true);
        for (name, kind) in [
            ("Anna", PlayerKind::Here),
            ("Ben", PlayerKind::Friend([7; 32])),
            ("Guo", PlayerKind::Guest),
            ("Dora", PlayerKind::Nobody),
        ] {
            club.add(name, kind).expect("added");
        }
        club
    }

    fn reopened(folder: &tempfile::TempDir, store: Store) -> (Store, Vec<(u32, Club)>) {
        drop(store);
        let store = Store::open(folder.path()).expect("opens again");
        let clubs = store.clubs().expect("read");
        (store, clubs)
    }

    #[test]
    fn an_evening_reads_back_after_each_of_its_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("opens");
        let mut club = evening();
        let mut rng = Rng::new(3);
        for step in 0..40 {
            match step {
                1 => club.start(Some(5)).expect("started"),
                20 => drop(club.add("late", PlayerKind::Nobody).expect("in time")),
                30 => club.remove(3).expect("there"),
                39 => club.finish().expect("running"),
                step if step > 1 => {
                    let game = &club.games()[rng.below(6) as usize];
                    let (round, board) = (game.round, game.board);
                    let _ = club.begin(round, board, Some(MatchId([step; 16])));
                    let result = Some(RESULTS[rng.below(6) as usize]).filter(|_| rng.below(4) > 0);
                    club.set_result(round, board, result).expect("a game");
                    if result.is_none() && rng.below(2) == 0 {
                        club.on_match_end(MatchId([step; 16]), GameResult::Draw);
                    }
                }
                _ => {}
            }
            store.put_club(4, club.record(), &[]).expect("kept");
            let clubs;
            (store, clubs) = reopened(&folder, store);
            assert_eq!(clubs, [(4, club.clone())], "step {step}");
        }
    }

    #[test]
    fn an_evening_is_kept_whole_or_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("opens");
        let club = evening();
        store.put_club(1, club.record(), &[]).expect("kept");
        store.limit_pages(1);
        let mut large = club.clone();
        for number in 5..=16 {
            large.add(&format!("player {number} {}", "x".repeat(300)), PlayerKind::Nobody).expect("added");
        }
        large.start(None).expect("started");
        assert!(matches!(store.put_club(1, large.record(), &[]), Err(StoreError::DiskFull)));
        let (_, clubs) = reopened(&folder, store);
        assert_eq!(clubs, [(1, club)]);
    }

    #[test]
    fn an_evening_goes_with_its_players_and_games() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("opens");
        let mut club = evening();
        club.start(None).expect("started");
        for number in 1..=3 {
            store.put_club(number, club.record(), &[]).expect("kept");
        }
        store.delete_club(2).expect("deleted");
        store.put_club(4, club.record(), &[1]).expect("kept");
        let numbers: Vec<u32> = store.clubs().expect("read").into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [3, 4]);
        for (table, each) in [("club_players", 4), ("club_games", 12)] {
            let count: u32 = store
                .connection
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
                .expect("counted");
            assert_eq!(count, 2 * each, "{table}");
        }
    }

    #[test]
    fn an_evening_that_is_none_is_left_out_and_stays_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("opens");
        let mut club = evening();
        club.start(None).expect("started");
        for number in 1..=4 {
            store.put_club(number, club.record(), &[]).expect("kept");
        }
        for change in [
            "UPDATE clubs SET setup = x'FF' WHERE club = 1",
            "UPDATE club_games SET second = 9 WHERE club = 2",
            "UPDATE clubs SET phase = 7 WHERE club = 3",
        ] {
            store.connection.execute(change, []).expect("damaged");
        }
        let (store, clubs) = reopened(&folder, store);
        assert_eq!(clubs, [(4, club)]);
        let count: u32 =
            store.connection.query_row("SELECT count(*) FROM clubs", [], |row| row.get(0)).expect("counted");
        assert_eq!(count, 4);
    }
}
