//! Storage of comments and side lines, beside the records that they belong to. They are on this device alone.

use engine::notes::{At, Notes, SideMove};
use prost::Message as _;
use proto::board;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use session::{MatchId, wire};

use super::{Store, StoreError};

/// The notes of a match, as they are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeptNotes {
    pub(crate) notes: Notes,
    /// How many comments and moves of the file could not be taken in.
    pub(crate) left_out: u32,
    /// They are no longer what the file has.
    pub(crate) edited: bool,
}

/// The column `content`. Its fields are never renumbered: files with them exist.
#[derive(Clone, PartialEq, prost::Message)]
struct Content {
    #[prost(message, repeated, tag = "1")]
    comments: Vec<Comment>,
    #[prost(message, repeated, tag = "2")]
    moves: Vec<Move>,
    #[prost(uint32, tag = "3")]
    left_out: u32,
}

/// A comment on a position of the record.
#[derive(Clone, PartialEq, prost::Message)]
struct Comment {
    #[prost(uint32, tag = "1")]
    ply: u32,
    #[prost(string, tag = "2")]
    text: String,
}

/// A move of a side line.
#[derive(Clone, PartialEq, prost::Message)]
struct Move {
    /// Twice the ply at which the line leaves the record; or one more than twice the index of the move before it.
    #[prost(uint32, tag = "1")]
    after: u32,
    #[prost(message, optional, tag = "2")]
    action: Option<board::Action>,
    #[prost(string, tag = "3")]
    comment: String,
}

pub(super) fn content(notes: &Notes, left_out: u32) -> Vec<u8> {
    let comments = notes.comments().map(|(ply, text)| Comment { ply, text: text.to_owned() }).collect();
    let moves = notes.moves().iter().map(|side| Move {
        after: match side.after {
            At::Main(ply) => 2 * ply,
            At::Side(index) => 2 * index + 1,
        },
        action: Some(wire::action(side.action)),
        comment: side.comment.clone(),
    });
    Content { comments, moves: moves.collect(), left_out }.encode_to_vec()
}

fn read(bytes: &[u8]) -> Option<(Notes, u32)> {
    let Content { comments, moves, left_out } = Content::decode(bytes).ok()?;
    let side = |Move { after, action, comment }: Move| {
        let at = after / 2;
        Some(SideMove {
            after: if after % 2 == 0 { At::Main(at) } else { At::Side(at) },
            action: wire::read_action(action.as_ref()).ok()?,
            comment,
        })
    };
    let moves = moves.into_iter().map(side).collect::<Option<Vec<SideMove>>>()?;
    let comments = comments.into_iter().map(|Comment { ply, text }| (ply, text));
    Some((Notes::from_parts(comments, moves), left_out))
}

/// Writes the notes of a match; without any, nothing, unless that is an edit.
pub(super) fn write(transaction: &Transaction<'_>, id: MatchId, kept: &KeptNotes) -> rusqlite::Result<()> {
    if kept.notes.is_empty() && kept.left_out == 0 && !kept.edited {
        return Ok(());
    }
    transaction
        .execute(
            "INSERT OR REPLACE INTO notes (match_id, content, edited) VALUES (?1, ?2, ?3)",
            params![id.0, content(&kept.notes, kept.left_out), kept.edited],
        )
        .map(drop)
}

impl Store {
    /// The notes of a match, if there are any.
    pub(crate) fn notes_of(&self, id: MatchId) -> Result<Option<KeptNotes>, StoreError> {
        let row = |row: &Row<'_>| -> rusqlite::Result<(Vec<u8>, bool)> { Ok((row.get(0)?, row.get(1)?)) };
        let found = self
            .connection
            .prepare_cached("SELECT content, edited FROM notes WHERE match_id = ?1")
            .and_then(|mut statement| statement.query_row([id.0], row).optional())
            .map_err(|error| self.explain(error))?;
        let Some((bytes, edited)) = found else { return Ok(None) };
        let (notes, left_out) =
            read(&bytes).ok_or_else(|| self.damaged(format!("the notes of match {id} are unreadable")))?;
        Ok(Some(KeptNotes { notes, left_out, edited }))
    }

    /// Stores the notes of a match. Its record, and when it was last changed, stay.
    pub(crate) fn set_notes(&mut self, id: MatchId, kept: &KeptNotes) -> Result<(), StoreError> {
        self.in_transaction(|transaction| write(transaction, id, kept))
    }
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Point, Side};
    use session::MatchRecord;

    use super::*;
    use crate::room::Seat;

    fn noted() -> KeptNotes {
        let place = |column| Action::Place(Point::new(column, 3));
        let mut notes = Notes::default();
        notes.set_comment(At::Main(0), "棋谱\n«first»").expect("short");
        let first = notes.add(At::Main(1), place(7), 2).expect("there is room");
        let second = notes.add(first, place(8), 2).expect("there is room");
        notes.add(first, Action::Pass, 2).expect("there is room");
        notes.set_comment(second, "and here").expect("short");
        KeptNotes { notes, left_out: 3, edited: true }
    }

    #[test]
    fn notes_are_kept_with_their_match_and_go_with_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(directory.path()).expect("opened");
        let record = MatchRecord::new(MatchId([1; 16]), GameKind::Go.default_setup(), Side::First);
        store.begin(&record, Seat::BOTH_HERE, 1).expect("saved");
        assert_eq!(store.notes_of(record.id).expect("read"), None);
        store.set_notes(record.id, &noted()).expect("saved");
        drop(store);
        let mut store = Store::open(directory.path()).expect("opened");
        assert_eq!(store.notes_of(record.id).expect("read"), Some(noted()));
        assert_eq!(store.load(record.id).expect("read").expect("there").changed_unix_ms, 1);
        let none = KeptNotes { edited: true, ..KeptNotes::default() };
        store.set_notes(record.id, &none).expect("saved");
        assert_eq!(store.notes_of(record.id).expect("read"), Some(none), "that they are gone is kept too");
        store.set_notes(record.id, &noted()).expect("saved");
        store.delete(record.id).expect("deleted");
        assert_eq!(store.notes_of(record.id).expect("read"), None);
    }

    #[test]
    fn damaged_notes_are_said_to_be_damaged_and_cycles_among_them_are_dropped() {
        let bytes = content(&noted().notes, 0);
        for length in 0..bytes.len() {
            // Whatever is left of it, reading ends.
            let _ = read(&bytes[..length]);
        }
        let cycle = |after| Move { after, action: Some(wire::action(Action::Pass)), comment: String::new() };
        let content = Content { comments: vec![], moves: vec![cycle(3), cycle(1), cycle(0)], left_out: 0 };
        let (notes, _) = read(&content.encode_to_vec()).expect("it is content");
        assert_eq!(notes.moves().iter().map(|side| side.after).collect::<Vec<_>>(), [At::Main(0)]);
        assert_eq!(read(b"\x12\x02\x08\x00"), None, "a move without an action");
    }
}
