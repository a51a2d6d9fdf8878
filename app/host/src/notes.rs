//! Comments and side lines of kept matches: shown, and changed. No peer is sent them.

use engine::notes::{At, Notes, NotesError};
use engine::{Action, AnyGame};
use proto::board;
use proto::control::{self, RefusalCode, edit_notes};
use session::{MatchId, MatchRecord, wire};
use tracing::warn;

use crate::archive;
use crate::journal::Journal;
use crate::refusal::Refusal;
use crate::setup::replayed;
use crate::show;
use crate::store::KeptNotes;

/// What is noted on the position after `ply` of the `total` actions and then along `line`, as far as there is such a line.
/// `game` is the position after `ply` actions, and is taken along.
pub(crate) fn shown(
    kept: &KeptNotes,
    game: &mut AnyGame,
    ply: u32,
    total: u32,
    line: &[board::Action],
) -> Result<control::PositionNotes, Refusal> {
    let notes = &kept.notes;
    let mut at = At::Main(ply);
    let mut along = Vec::new();
    for action in read_line(line)? {
        let next = notes.after(at).find(|&index| notes.moves()[index as usize].action == action);
        let Some(index) = next.filter(|_| stands(at, total) && game.legal_move(action).is_ok()) else {
            break;
        };
        along.push(side_move(game, action));
        game.act(action).expect("it was just found to be legal");
        at = At::Side(index);
    }
    let mut after: Vec<Action> = if stands(at, total) {
        notes.after(at).map(|index| notes.moves()[index as usize].action).collect()
    } else {
        Vec::new()
    };
    // The record may have changed since they were noted.
    after.retain(|&action| game.legal_move(action).is_ok());
    let goes_on = matches!(at, At::Side(_)) && !after.is_empty();
    let mut after = after.into_iter().map(|action| side_move(game, action));
    Ok(control::PositionNotes {
        comment: notes.comment(at).to_owned(),
        line: along,
        next: if goes_on { after.next() } else { None },
        beside: after.collect(),
        marked: notes.marked().into_iter().filter(|&marked| marked <= total).collect(),
        left_out: kept.left_out,
    })
}

/// Whether the record itself goes on with this move, and no side line does.
fn is_of_record(record: &MatchRecord, notes: Option<&Notes>, ply: u32, action: Action) -> bool {
    record.actions.get(ply as usize) == Some(&action)
        && notes.is_none_or(|notes| notes.find(ply, &[action]).is_none())
}

/// Goes along the record as far as it has the moves of `line`: the position where it is left, and the moves that remain.
pub(crate) fn along_record<'a>(
    record: &MatchRecord,
    kept: Option<&KeptNotes>,
    mut ply: u32,
    mut line: &'a [board::Action],
) -> (u32, &'a [board::Action]) {
    let notes = kept.map(|kept| &kept.notes);
    while let Some((first, rest)) = line.split_first() {
        let own = wire::read_action(Some(first)).is_ok_and(|action| is_of_record(record, notes, ply, action));
        if !own {
            break;
        }
        (ply, line) = (ply + 1, rest);
    }
    (ply, line)
}

/// The notes of a match, to be shown. A match whose notes are damaged is shown without them; it cannot be noted on.
pub(crate) fn legible(id: MatchId, journal: &Journal) -> Option<KeptNotes> {
    journal.notes_of(id).unwrap_or_else(|error| {
        warn!(%error, %id, "the match is shown without its notes");
        None
    })
}

/// Changed notes of a kept match, which are not kept yet.
pub(crate) struct Edited {
    asked: control::EditNotes,
    /// What the change was made from.
    record: MatchRecord,
    before: KeptNotes,
    after: KeptNotes,
}

/// Reads what a client's change is about. The result computes the changed notes, on any thread: the match is replayed.
pub(crate) fn to_edit(
    asked: control::EditNotes,
    journal: &Journal,
) -> Result<impl FnOnce() -> Result<Edited, Refusal> + Send + use<>, Refusal> {
    let record = archive::saved(journal, &asked.room_id)?.record;
    let before = journal.notes_of(record.id)?.unwrap_or_default();
    Ok(move || {
        let after = edited(&record, before.clone(), &asked)?;
        Ok(Edited { asked, record, before, after })
    })
}

/// Keeps changed notes. If match or notes have changed meanwhile, the change is made once more, from what they are now.
pub(crate) fn keep(edited: Edited, journal: &mut Journal) -> Result<(), Refusal> {
    let Edited { asked, record, before, after } = edited;
    let now = archive::saved(journal, &asked.room_id)?.record;
    let kept = journal.notes_of(now.id)?.unwrap_or_default();
    let is_same = now == record && kept == before;
    let after = if is_same { after } else { self::edited(&now, kept.clone(), &asked)? };
    if after == kept {
        return Ok(());
    }
    Ok(journal.keep(|store| store.set_notes(now.id, &after))?)
}

/// The notes of a match after a client's change. The result counts as edited.
fn edited(
    record: &MatchRecord,
    mut kept: KeptNotes,
    edit: &control::EditNotes,
) -> Result<KeptNotes, Refusal> {
    use edit_notes::Change;
    let total = record.actions.len() as u32;
    let nowhere = || refused(NotesError::NoSuchPosition);
    let line = read_line(&edit.line)?;
    let at = kept.notes.find(edit.ply, &line).filter(|_| edit.ply <= total).ok_or_else(nowhere)?;
    let notes = &mut kept.notes;
    match (&edit.change, at) {
        (Some(Change::Comment(text)), at) => notes.set_comment(at, text).map_err(refused)?,
        (Some(Change::Remove(true)), At::Side(index)) => notes.remove(index).map_err(refused)?,
        (Some(Change::Add(action)), at) => {
            let action = wire::read_action(Some(action)).map_err(unreadable)?;
            let mut game = replayed(record, edit.ply)?;
            for action in line.into_iter().chain([action]) {
                game.act(action).map_err(|why| Refusal::illegal(why, action, &game))?;
            }
            if matches!(at, At::Main(ply) if is_of_record(record, Some(notes), ply, action)) {
                return Ok(kept);
            }
            notes.add(at, action, total).map_err(refused)?;
        }
        (Some(Change::Remove(_)) | None, _) => return Err(nowhere()),
    }
    kept.edited = true;
    Ok(kept)
}

/// Whether side lines can begin there: beside a move of the record, or anywhere in another one.
fn stands(at: At, total: u32) -> bool {
    matches!(at, At::Main(ply) if ply < total) || matches!(at, At::Side(_))
}

pub(crate) fn read_line(line: &[board::Action]) -> Result<Vec<Action>, Refusal> {
    let read = line.iter().map(|action| wire::read_action(Some(action)));
    read.collect::<Result<_, _>>().map_err(unreadable)
}

fn unreadable(error: wire::Unreadable) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, error.to_string())
}

pub(crate) fn side_move(game: &AnyGame, action: Action) -> control::SideMove {
    control::SideMove {
        action: Some(wire::action(action)),
        written: game.notation(action),
        spoken: show::spoken(game, action),
    }
}

fn refused(error: NotesError) -> Refusal {
    let (zh, en) = match error {
        NotesError::NoSuchPosition => ("这个变化已经不在了。", "This variation is no longer there."),
        NotesError::TooLong => ("注解太长。", "The comment is too long."),
        NotesError::TooMany => {
            ("这盘棋的注解和变化太多了。", "This game has too many comments and variations.")
        }
        NotesError::NothingBeside => (
            "变化要从一步棋旁边开始，终局之后没有棋了。",
            "A variation stands beside a move, and there is none after the end of the game.",
        ),
    };
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalIllegal, error.to_string()) }
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Point, Side};

    use super::*;
    use crate::room::Seat;
    use crate::store::DATABASE;

    fn place(column: u16) -> Action {
        Action::Place(Point::new(column, 3))
    }

    fn record() -> MatchRecord {
        let setup = GameKind::Gomoku.default_setup();
        let mut record = MatchRecord::new(MatchId([1; 16]), setup, Side::First);
        record.actions = (0..3).map(place).collect();
        record
    }

    fn edit(
        kept: KeptNotes,
        ply: u32,
        line: &[Action],
        change: edit_notes::Change,
    ) -> Result<KeptNotes, Refusal> {
        let line = line.iter().map(|&action| wire::action(action)).collect();
        let edit = control::EditNotes { room_id: String::new(), ply, line, change: Some(change) };
        edited(&record(), kept, &edit)
    }

    fn show(kept: &KeptNotes, ply: u32, line: &[Action]) -> control::PositionNotes {
        let record = record();
        let mut game = replayed(&record, ply).expect("legal");
        let line: Vec<board::Action> = line.iter().map(|&action| wire::action(action)).collect();
        shown(kept, &mut game, ply, record.actions.len() as u32, &line).expect("actions")
    }

    fn written(moves: &[control::SideMove]) -> Vec<&str> {
        moves.iter().map(|one| one.written.as_str()).collect()
    }

    fn add(action: Action) -> edit_notes::Change {
        edit_notes::Change::Add(wire::action(action))
    }

    fn comment(text: &str) -> edit_notes::Change {
        edit_notes::Change::Comment(text.into())
    }

    #[test]
    fn a_side_line_is_entered_walked_and_left_again_by_what_is_removed() {
        let kept = edit(KeptNotes::default(), 1, &[], add(place(7))).expect("legal");
        let kept = edit(kept, 1, &[place(7)], add(place(8))).expect("legal");
        let kept = edit(kept, 1, &[place(7)], add(place(9))).expect("legal");
        let kept = edit(kept, 1, &[place(7), place(8)], comment("strong")).expect("short");
        let kept = edit(kept, 0, &[], comment("a game")).expect("short");
        assert!(kept.edited);
        let main = show(&kept, 1, &[]);
        assert_eq!((written(&main.beside), main.next, main.marked), (vec!["h4"], None, vec![0, 1]));
        let inside = show(&kept, 1, &[place(7)]);
        assert_eq!(written(&inside.line), ["h4"]);
        assert_eq!(inside.next.as_ref().map(|next| next.written.as_str()), Some("i4"));
        assert_eq!(written(&inside.beside), ["j4"]);
        assert_eq!(show(&kept, 1, &[place(7), place(8)]).comment, "strong");
        assert_eq!(
            written(&show(&kept, 1, &[place(7), place(11)]).line),
            ["h4"],
            "as far as there is a line"
        );
        assert_eq!(show(&kept, 0, &[]).comment, "a game");
        let kept = edit(kept, 1, &[place(7)], edit_notes::Change::Remove(true)).expect("it is there");
        assert_eq!((show(&kept, 1, &[]).beside, show(&kept, 1, &[]).marked), (vec![], vec![0]));
    }

    #[test]
    fn what_is_illegal_or_nowhere_is_refused_with_a_sentence() {
        let refusal = |ply, line: &[Action], change| {
            edit(KeptNotes::default(), ply, line, change).expect_err("refused").code
        };
        let illegal = RefusalCode::RefusalIllegal;
        assert_eq!(refusal(3, &[], add(place(7))), illegal, "nothing is beside it");
        assert_eq!(refusal(4, &[], comment("beyond the end")), illegal);
        assert_eq!(refusal(1, &[place(7)], comment("no such line")), illegal);
        assert_eq!(refusal(1, &[], edit_notes::Change::Remove(true)), illegal, "the record is not removed");
        assert_eq!(refusal(0, &[], comment(&"好".repeat(4_001))), illegal);
        assert!(edit(KeptNotes::default(), 1, &[], add(place(0))).is_err(), "a stone is there");
    }

    #[test]
    fn a_move_of_the_record_begins_no_side_line_and_is_walked_along_the_record() {
        let kept = edit(KeptNotes::default(), 1, &[], add(place(1))).expect("it is the record's");
        assert_eq!(kept, KeptNotes::default(), "nothing is noted");
        let line = [place(1), place(2), place(9)].map(wire::action);
        let (ply, rest) = along_record(&record(), Some(&kept), 1, &line);
        assert_eq!((ply, rest), (3, &line[2..]));
        // A file may have a side line that begins like the record; it stays within reach.
        let mut kept = kept;
        kept.notes.add(At::Main(1), place(1), 3).expect("there is room");
        assert_eq!(along_record(&record(), Some(&kept), 1, &line), (1, &line[..]));
        let kept = edit(kept, 1, &[place(1)], add(place(9))).expect("legal");
        assert_eq!(written(&show(&kept, 1, &[place(1)]).next.into_iter().collect::<Vec<_>>()), ["j4"]);
    }

    /// What the host does for a request, at once.
    fn ask(asked: control::EditNotes, journal: &mut Journal) -> Result<(), Refusal> {
        let edited = to_edit(asked, journal)?;
        keep(edited()?, journal)
    }

    #[test]
    fn what_is_noted_while_a_change_is_computed_stays_and_a_match_that_is_deleted_meanwhile_gets_no_notes() {
        let (mut journal, _folder) = Journal::for_test();
        let record = record();
        journal.keep(|store| store.begin(&record, Seat::BOTH_HERE, 1)).expect("saved");
        let asked = |ply, change| control::EditNotes {
            room_id: record.id.to_string(),
            ply,
            line: Vec::new(),
            change: Some(change),
        };
        let slow = to_edit(asked(1, add(place(7))), &journal).expect("a match")().expect("legal");
        ask(asked(0, comment("a game")), &mut journal).expect("saved");
        keep(slow, &mut journal).expect("saved");
        let kept = legible(record.id, &journal).expect("notes");
        assert_eq!(written(&show(&kept, 1, &[]).beside), ["h4"]);
        assert_eq!(show(&kept, 0, &[]).comment, "a game");

        let slow = to_edit(asked(1, add(place(8))), &journal).expect("a match")().expect("legal");
        journal.keep(|store| store.delete(record.id)).expect("deleted");
        let refused = keep(slow, &mut journal).expect_err("there is no match");
        assert_eq!(refused.code, RefusalCode::RefusalNoSuchRoom);
        assert_eq!(legible(record.id, &journal), None);
    }

    #[test]
    fn what_a_full_disk_does_not_keep_is_refused_and_the_notes_stay_as_they_were() {
        let (mut journal, _folder) = Journal::for_test();
        let record = record();
        journal.keep(|store| store.begin(&record, Seat::BOTH_HERE, 1)).expect("saved");
        let comment = |text: &str| control::EditNotes {
            room_id: record.id.to_string(),
            change: Some(comment(text)),
            ..control::EditNotes::default()
        };
        ask(comment("first"), &mut journal).expect("saved");
        let before = legible(record.id, &journal);
        journal
            .keep(|store| {
                store.limit_pages(1);
                Ok(())
            })
            .expect("a limit can be set");
        let refused = ask(comment(&"好".repeat(4_000)), &mut journal).expect_err("there is no room");
        assert_eq!(refused.code, RefusalCode::RefusalDisk, "{refused:?}");
        assert_eq!(legible(record.id, &journal), before);
    }

    #[test]
    fn a_match_whose_notes_are_damaged_is_shown_without_them_and_they_are_not_overwritten() {
        let (mut journal, folder) = Journal::for_test();
        let record = MatchRecord::new(MatchId([1; 16]), GameKind::Go.default_setup(), Side::First);
        journal.keep(|store| store.begin(&record, Seat::BOTH_HERE, 1)).expect("saved");
        let comment = || control::EditNotes {
            room_id: record.id.to_string(),
            change: Some(edit_notes::Change::Comment("a game".into())),
            ..control::EditNotes::default()
        };
        ask(comment(), &mut journal).expect("saved");
        assert!(legible(record.id, &journal).is_some());
        let file = rusqlite::Connection::open(folder.path().join(DATABASE)).expect("a database");
        assert_eq!(file.execute("UPDATE notes SET content = x'ff'", []).expect("written"), 1);
        assert_eq!(legible(record.id, &journal), None);
        assert!(ask(comment(), &mut journal).is_err());
        let kept = file.query_row("SELECT content FROM notes", [], |row| row.get::<_, Vec<u8>>(0));
        assert_eq!(kept.expect("read"), [0xff]);
    }
}
