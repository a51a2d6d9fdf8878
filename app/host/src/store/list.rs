//! A page of the list of matches: by indexes, whatever the filter.
//!
//! A list is in the order of the last change, and a filter leaves many combinations of game, opponent and result. The index holds each
//! combination in that order, so a page is a merge of sorted streams, and nothing else is read. A match with an open room changes with
//! each move: it is in none of these indexes.

use std::collections::{BinaryHeap, VecDeque};

use engine::GameKind;
use proto::control::Outcome;
use rusqlite::{Connection, params};
use session::MatchId;

use super::matches::seat_text;
use super::{Store, StoreError};
use crate::room::{PlayerId, Seat};

/// Filter of a list of matches. Parts with `None` or `Anyone` do not filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchFilter {
    pub(crate) game: Option<GameKind>,
    pub(crate) opponent: Opponent,
    /// Result from the point of view of this device; `Any` does not filter.
    pub(crate) outcome: Outcome,
}

/// Opponent in the matches of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opponent {
    Anyone,
    /// A bot.
    Bot,
    /// Both sides are users of this device.
    Here,
    /// A partial name: of one of these players, or in the header of an imported file (players, event, date).
    Called {
        players: Vec<PlayerId>,
        /// In lower case.
        part: String,
    },
}

/// Counting stops at this number: a list says "10,000 or more" at once instead of an exact number after a second.
pub(crate) const MOST_COUNTED: u32 = 10_000;

/// Values of the column `game`: 0 for a setup that this program does not know.
const GAMES: std::ops::RangeInclusive<i64> = 0..=5;
/// Values of the column `went`: those of [`Outcome`], and 5 for a decided match that nobody here has won or lost.
const WENT: std::ops::RangeInclusive<i64> = 1..=5;
/// Values of the column `against`.
const AGAINST_BOT: i64 = 1;
const AGAINST_HERE: i64 = 2;
const AGAINST: std::ops::RangeInclusive<i64> = 0..=2;

/// Rows of a stream that are read at first. Each further part is twice as long, so that a long page costs few queries and a stream of
/// which nothing is needed one row.
const FIRST_PART: u32 = 1;

impl Store {
    /// A page of the matches that pass the filter, latest change first, and the number of all that pass, up to [`MOST_COUNTED`].
    pub(crate) fn page(
        &self,
        filter: &MatchFilter,
        skip: u32,
        limit: u32,
    ) -> Result<(Vec<MatchId>, u32), StoreError> {
        let read = || {
            if filter.game.is_none() && filter.opponent == Opponent::Anyone && filter.outcome == Outcome::Any
            {
                return self.page_of_all(skip, limit);
            }
            let mut merge = Merge::new(&self.connection, filter)?;
            let (mut page, mut total) = (Vec::new(), 0);
            let end = skip.saturating_add(limit);
            while total < end.max(MOST_COUNTED)
                && let Some(id) = merge.next()?
            {
                if (skip..end).contains(&total) {
                    page.push(id);
                }
                total += 1;
            }
            Ok((page, total.min(MOST_COUNTED)))
        };
        read().map_err(|error| self.explain(error))
    }

    fn page_of_all(&self, skip: u32, limit: u32) -> rusqlite::Result<(Vec<MatchId>, u32)> {
        let page = self
            .connection
            .prepare_cached(
                "SELECT match_id FROM matches ORDER BY changed_unix_ms DESC, match_id DESC LIMIT ?1 OFFSET ?2",
            )?
            .query_map([limit, skip], |row| row.get(0).map(MatchId))?
            .collect::<rusqlite::Result<_>>()?;
        let total = self
            .connection
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM matches LIMIT ?1)")?
            .query_row([MOST_COUNTED], |row| row.get(0))?;
        Ok((page, total))
    }
}

/// Where a match is in the list: the time of its last change, and its id. The greatest comes first.
type Place = (i64, [u8; 16]);

/// Before all matches.
const BEGIN: Place = (i64::MAX, [0xFF; 16]);

/// Streams of matches, merged.
pub(super) struct Merge<'a> {
    connection: &'a Connection,
    streams: Vec<Stream>,
    /// The next place of each stream, and the stream.
    next: BinaryHeap<(Place, usize)>,
    last: Option<Place>,
    /// Rows read so far.
    pub(super) rows: usize,
}

/// Closed matches that are equal in what the filter looks at.
struct Stream {
    source: Source,
    game: i64,
    went: i64,
    /// Read, and not yet given.
    ready: VecDeque<Place>,
    /// The place from which on nothing is read yet; `None`: all is read.
    from: Option<Place>,
    part: u32,
}

/// The index of a stream, with the value of its first column.
#[derive(Clone, Debug)]
enum Source {
    Against(i64),
    FirstSeat(String),
    SecondSeat(String),
    /// Matches from files of which the header contains this.
    Said(String),
}

/// The index and the query of a part of a stream, for each [`Source`]. A query names its index, so that it fails rather than reads all.
pub(super) const QUERIES: [(&str, &str); 4] = [
    (
        "matches_against",
        "SELECT changed_unix_ms, match_id FROM matches INDEXED BY matches_against
         WHERE open = 0 AND against = ?1 AND game = ?2 AND went = ?3 AND (changed_unix_ms, match_id) < (?4, ?5)
         ORDER BY changed_unix_ms DESC, match_id DESC LIMIT ?6",
    ),
    (
        "matches_of_first",
        "SELECT changed_unix_ms, match_id FROM matches INDEXED BY matches_of_first
         WHERE open = 0 AND first_seat <> 'here'
         AND first_seat = ?1 AND game = ?2 AND went = ?3 AND (changed_unix_ms, match_id) < (?4, ?5)
         ORDER BY changed_unix_ms DESC, match_id DESC LIMIT ?6",
    ),
    (
        "matches_of_second",
        "SELECT changed_unix_ms, match_id FROM matches INDEXED BY matches_of_second
         WHERE open = 0 AND second_seat <> 'here'
         AND second_seat = ?1 AND game = ?2 AND went = ?3 AND (changed_unix_ms, match_id) < (?4, ?5)
         ORDER BY changed_unix_ms DESC, match_id DESC LIMIT ?6",
    ),
    (
        "matches_said",
        "SELECT changed_unix_ms, match_id FROM matches INDEXED BY matches_said
         WHERE open = 0 AND said IS NOT NULL
         AND game = ?2 AND went = ?3 AND (changed_unix_ms, match_id) < (?4, ?5) AND instr(said, ?1) > 0
         ORDER BY changed_unix_ms DESC, match_id DESC LIMIT ?6",
    ),
];

impl Source {
    fn query(&self) -> &'static str {
        let which = match self {
            Self::Against(_) => 0,
            Self::FirstSeat(_) => 1,
            Self::SecondSeat(_) => 2,
            Self::Said(_) => 3,
        };
        QUERIES[which].1
    }
}

impl<'a> Merge<'a> {
    pub(super) fn new(connection: &'a Connection, filter: &MatchFilter) -> rusqlite::Result<Self> {
        let mut merge =
            Self { connection, streams: Vec::new(), next: BinaryHeap::new(), last: None, rows: 0 };
        let wanted = Wanted::new(connection, filter)?;
        merge.take_open(&wanted)?;
        for source in &wanted.sources {
            for game in wanted.games.clone() {
                for went in wanted.went.clone() {
                    let (source, ready, from) = (source.clone(), VecDeque::new(), Some(BEGIN));
                    merge.add(Stream { source, game, went, ready, from, part: FIRST_PART })?;
                }
            }
        }
        Ok(merge)
    }

    /// The matches with an open room. They are few, so they are read and sorted.
    fn take_open(&mut self, wanted: &Wanted) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT changed_unix_ms, match_id, game, went, against, first_seat, second_seat, said FROM matches WHERE open = 1",
        )?;
        let mut rows = statement.query([])?;
        let mut open: Vec<Place> = Vec::new();
        while let Some(row) = rows.next()? {
            self.rows += 1;
            let (game, went, against): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
            let seats: [String; 2] = [row.get(5)?, row.get(6)?];
            let said: Option<String> = row.get(7)?;
            let passes = |source: &Source| match source {
                Source::Against(wanted) => *wanted == against,
                Source::FirstSeat(seat) => *seat == seats[0],
                Source::SecondSeat(seat) => *seat == seats[1],
                Source::Said(part) => said.as_ref().is_some_and(|said| said.contains(part)),
            };
            if wanted.games.contains(&game)
                && wanted.went.contains(&went)
                && wanted.sources.iter().any(passes)
            {
                open.push((row.get(0)?, row.get(1)?));
            }
        }
        open.sort_unstable_by(|one, other| other.cmp(one));
        let (source, ready) = (Source::Against(0), open.into());
        self.add(Stream { source, game: 0, went: 0, ready, from: None, part: FIRST_PART })
    }

    fn add(&mut self, stream: Stream) -> rusqlite::Result<()> {
        self.streams.push(stream);
        self.advance(self.streams.len() - 1)
    }

    /// Puts the next place of this stream among those of the others.
    fn advance(&mut self, index: usize) -> rusqlite::Result<()> {
        let stream = &mut self.streams[index];
        if stream.ready.is_empty()
            && let Some((changed, id)) = stream.from
        {
            let mut statement = self.connection.prepare_cached(stream.source.query())?;
            let (game, went, part) = (stream.game, stream.went, stream.part);
            let place = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let rows = match &stream.source {
                Source::Against(against) => {
                    statement.query_map(params![against, game, went, changed, id, part], place)?
                }
                Source::FirstSeat(text) | Source::SecondSeat(text) | Source::Said(text) => {
                    statement.query_map(params![text, game, went, changed, id, part], place)?
                }
            };
            stream.ready = rows.collect::<rusqlite::Result<_>>()?;
            self.rows += stream.ready.len();
            let is_whole = stream.ready.len() < part as usize;
            stream.from = if is_whole { None } else { stream.ready.back().copied() };
            stream.part = part.saturating_mul(2);
        }
        if let Some(place) = stream.ready.pop_front() {
            self.next.push((place, index));
        }
        Ok(())
    }

    /// The next match of the list.
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<MatchId>> {
        while let Some((place, index)) = self.next.pop() {
            self.advance(index)?;
            // A match of two players who are both sought is in two streams.
            if self.last.replace(place) != Some(place) {
                return Ok(Some(MatchId(place.1)));
            }
        }
        Ok(None)
    }
}

/// What a filter lets pass, as values of columns.
struct Wanted {
    games: std::ops::RangeInclusive<i64>,
    went: std::ops::RangeInclusive<i64>,
    sources: Vec<Source>,
}

impl Wanted {
    fn new(connection: &Connection, filter: &MatchFilter) -> rusqlite::Result<Self> {
        let one = |value: i64| value..=value;
        let games = filter.game.map_or(GAMES, |game| one(i64::from(game as u8)));
        let went = if filter.outcome == Outcome::Any { WENT } else { one(filter.outcome as i64) };
        let sources = match &filter.opponent {
            Opponent::Anyone => AGAINST.map(Source::Against).collect(),
            Opponent::Bot => vec![Source::Against(AGAINST_BOT)],
            Opponent::Here => vec![Source::Against(AGAINST_HERE)],
            Opponent::Called { players, part } => {
                let mut sources = vec![Source::Said(part.clone())];
                let seats = players.iter().map(|key| seat_text(Seat::Peer(*key)));
                let seats: Vec<String> = seats.chain(guests(connection, part)?).collect();
                sources.extend(seats.iter().cloned().map(Source::FirstSeat));
                sources.extend(seats.into_iter().map(Source::SecondSeat));
                sources
            }
        };
        Ok(Self { games, went, sources })
    }
}

/// Seats of guests whose name contains this. Each name is sought in the index after the one before: as many steps as names.
fn guests(connection: &Connection, part: &str) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    for query in [
        "SELECT min(first_seat) FROM matches WHERE first_seat > ?1 AND first_seat < 'guest;'",
        "SELECT min(second_seat) FROM matches WHERE second_seat > ?1 AND second_seat < 'guest;'",
    ] {
        let mut statement = connection.prepare_cached(query)?;
        let mut seat = "guest:".to_owned();
        while let Some(next) = statement.query_row([&seat], |row| row.get::<_, Option<String>>(0))? {
            if next["guest:".len()..].to_lowercase().contains(part) && !found.contains(&next) {
                found.push(next.clone());
            }
            seat = next;
        }
    }
    Ok(found)
}
