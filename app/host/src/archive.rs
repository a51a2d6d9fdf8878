//! Kept matches: lists, review, branches.

use engine::Side;
use proto::control::{self, RefusalCode};
use session::{MatchId, MatchRecord, MatchResult, Pace, wire};
use tracing::warn;

use crate::fair_play;
use crate::journal::Journal;
use crate::notes;
use crate::refusal::Refusal;
use crate::room::{PlayerId, Room, Seat, parse_match_name};
use crate::setup::{needs_one_device, replayed};
use crate::show;
use crate::store::{KeptNotes, MatchFilter, Opponent, SavedMatch, StoreError};

/// Default number of matches in a list.
const LISTED: u32 = 20;

/// Maximum size of a Lights Out board in a list, in bytes: a hundred of them fit into a frame, and thumbnails show no more
/// detail.
const MOST_LIGHTS: usize = 4_096;

/// A page of the list as it is read from the journal.
pub(crate) struct Page {
    /// Each with its seats as clients are shown them.
    matches: Vec<(SavedMatch, [control::Seat; 2])>,
    /// Number of matches on all pages.
    total: u32,
    with_boards: bool,
}

impl Page {
    pub(crate) fn read(
        asked: &control::ListMatches,
        filter: &MatchFilter,
        journal: &Journal,
        shown_seats: impl Fn(&SavedMatch) -> [control::Seat; 2],
    ) -> Result<Self, Refusal> {
        let limit = if asked.limit == 0 { LISTED } else { asked.limit };
        let (page, total) = journal.page(filter, asked.skip, limit)?;
        let mut matches = Vec::new();
        for id in page {
            match journal.load(id) {
                Ok(Some(saved)) => {
                    let seats = shown_seats(&saved);
                    matches.push((saved, seats));
                }
                Ok(None) => {}
                Err(error @ StoreError::Damaged { .. }) => warn!(%error, "a match is left out of the list"),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { matches, total, with_boards: asked.boards })
    }

    /// The page for clients. Every match is replayed, which takes long for long matches.
    pub(crate) fn shown(self) -> control::Matches {
        let Self { matches, total, with_boards } = self;
        let shown = |(saved, seats)| summary(saved, seats, with_boards);
        control::Matches { matches: matches.into_iter().filter_map(shown).collect(), total }
    }
}

/// The filter for a client's list request. `people`: the known players with their names.
pub(crate) fn filter<'a>(
    asked: &control::ListMatches,
    people: impl Iterator<Item = (PlayerId, &'a str)>,
) -> MatchFilter {
    let sought = asked.opponent.trim().to_lowercase();
    let opponent = match sought.as_str() {
        "" => Opponent::Anyone,
        "bot" => Opponent::Bot,
        "here" => Opponent::Here,
        part => {
            let called = |(_, name): &(PlayerId, &str)| name.to_lowercase().contains(part);
            let players = people.filter(called).map(|(key, _)| key).collect();
            Opponent::Called { players, part: part.to_owned() }
        }
    };
    MatchFilter { game: wire::read_game(asked.game), opponent, outcome: asked.outcome() }
}

/// A match in a list. `seats`: as clients are shown them. `None` if the match cannot be replayed: then it is not shown, but
/// stays in the file.
pub(crate) fn summary(
    saved: SavedMatch,
    seats: [control::Seat; 2],
    with_board: bool,
) -> Option<control::MatchSummary> {
    let (open, changed, origin) = (saved.open, saved.changed_unix_ms, saved.origin);
    let room = Room::new(saved.record, saved.seats).ok()?;
    let record = room.record();
    let result = show::result(record, origin.as_ref());
    let over = result.is_some();
    let [mut first, mut second] = seats;
    if let Some(origin) = &origin {
        first.name = proto::limits::fit_name(&origin.first);
        second.name = proto::limits::fit_name(&origin.second);
    }
    Some(control::MatchSummary {
        room_id: record.id.to_string(),
        setup: Some(wire::setup(&record.setup)),
        first: Some(first),
        second: Some(second),
        ply: room.ply(),
        moves: show::moves(&record.actions),
        result,
        changed_unix_ms: changed.try_into().unwrap_or(0),
        digest: record.digest(),
        record: room.notation().to_vec(),
        revision: record.revision,
        open,
        board: (!over || with_board)
            .then(|| show::board(room.game(), over))
            .filter(|board| board.lights.len() <= MOST_LIGHTS),
        pace: Pace::write(record.pace),
        paused: record.paused,
        origin,
    })
}

/// The kept match of this name.
pub(crate) fn saved(journal: &Journal, name: &str) -> Result<SavedMatch, Refusal> {
    let no_such = || Refusal::new(RefusalCode::RefusalNoSuchRoom, "no such match");
    let id = parse_match_name(name).ok_or_else(no_such)?;
    journal.load(id)?.ok_or_else(no_such)
}

/// The same, to be analysed or played on from.
pub(crate) fn to_study(journal: &Journal, name: &str) -> Result<SavedMatch, Refusal> {
    let saved = saved(journal, name)?;
    fair_play::may_study(&saved.record, &saved.seats)?;
    Ok(saved)
}

/// The room of a kept match.
pub(crate) fn room(saved: SavedMatch) -> Result<Room, Refusal> {
    Room::new(saved.record, saved.seats)
        .map_err(|error| Refusal::new(RefusalCode::RefusalNoSuchRoom, error.to_string()))
}

/// The position of a kept match that a client looks at, with what is noted there.
pub(crate) fn position(
    saved: SavedMatch,
    notes: Option<&KeptNotes>,
    look: &control::Look,
) -> Result<control::Position, Refusal> {
    let total = saved.record.actions.len() as u32;
    let (ply, line) = notes::along_record(&saved.record, notes, look.ply.min(total), &look.line);
    let mut game = replayed(&saved.record, ply)?;
    let notes = notes.map(|notes| notes::shown(notes, &mut game, ply, total, line)).transpose()?;
    let beside = notes.as_ref().is_some_and(|notes| !notes.line.is_empty());
    let over = ply == total && saved.record.result.is_some() && !beside;
    let mut position = control::Position {
        room_id: look.room_id.clone(),
        ply,
        board: Some(show::board(&game, over)),
        total,
        notes,
        moves: show::moves(&saved.record.actions[..ply as usize]),
        total_moves: show::moves(&saved.record.actions),
        ..Default::default()
    };
    if look.record {
        let whole = room(saved)?;
        position.record = whole.notation().to_vec();
        position.spoken = whole.spoken().to_vec();
    }
    Ok(position)
}

/// A new match with this id that goes on after `ply` actions of a kept one.
pub(crate) fn branch(record: MatchRecord, ply: u32, id: MatchId) -> Result<MatchRecord, Refusal> {
    needs_one_device(&record.setup)?;
    let game = replayed(&record, ply)?;
    let mut branch = MatchRecord::new(id, record.setup, Side::First);
    branch.actions = record.actions;
    branch.actions.truncate(ply as usize);
    branch.result = game.outcome().map(MatchResult::Played);
    Ok(branch)
}

/// Whether a kept match may be deleted: not one with a peer, because the other device may still send something about it.
pub(crate) fn may_discard(saved: &SavedMatch) -> Result<(), Refusal> {
    if saved.seats.iter().any(|seat| matches!(seat, Seat::Peer(_))) {
        return Err(Refusal::new(RefusalCode::RefusalIllegal, "a match with another device is kept"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Level, Point};

    use super::*;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    fn saved(actions: &[Point], seats: [Seat; 2]) -> SavedMatch {
        let mut record = MatchRecord::new(MatchId([9; 16]), GameKind::Gomoku.default_setup(), Side::First);
        record.actions = actions.iter().map(|at| Action::Place(*at)).collect();
        SavedMatch { record, seats, settled: true, open: false, changed_unix_ms: 7, origin: None }
    }

    fn points() -> Vec<Point> {
        (0..6).map(|column| Point::new(column, 2 * (column % 2))).collect()
    }

    fn shown_seats(saved: &SavedMatch) -> [control::Seat; 2] {
        saved
            .seats
            .each_ref()
            .map(|seat| control::Seat { name: format!("{seat:?}"), ..control::Seat::default() })
    }

    fn line(saved: SavedMatch, with_board: bool) -> Option<control::MatchSummary> {
        let seats = shown_seats(&saved);
        summary(saved, seats, with_board)
    }

    #[test]
    fn a_list_is_asked_for_bots_for_matches_here_or_for_part_of_a_name() {
        let asked = |opponent: &str| control::ListMatches { opponent: opponent.into(), ..Default::default() };
        let opponent = |text| filter(&asked(text), [(ANNA, "Anna"), (BEN, "Ben")].into_iter()).opponent;
        assert!(matches!(opponent("  "), Opponent::Anyone));
        assert!(matches!(opponent("Bot"), Opponent::Bot));
        assert!(matches!(opponent("here"), Opponent::Here));
        let Opponent::Called { players, part } = opponent(" ANN ") else { panic!("by name") };
        assert_eq!((players, part.as_str()), (vec![ANNA], "ann"));
        let Opponent::Called { players, part } = opponent("n") else { panic!("by name") };
        assert_eq!((players.len(), part.as_str()), (2, "n"));
    }

    #[test]
    fn a_list_has_as_many_matches_as_asked_for_and_all_that_can_be_shown() {
        let (mut journal, _folder) = Journal::for_test();
        for number in 1..=25 {
            let record =
                MatchRecord { id: MatchId([number; 16]), ..saved(&points(), Seat::BOTH_HERE).record };
            let kept = journal.keep(|store| store.put_away(&record, Seat::BOTH_HERE, number.into()));
            assert!(kept.is_ok());
        }
        let page = |limit, skip| {
            let asked = control::ListMatches { limit, skip, ..Default::default() };
            let all = filter(&asked, std::iter::empty());
            let page = Page::read(&asked, &all, &journal, shown_seats).map(Page::shown);
            page.map(|page| (page.matches.len(), page.total)).ok()
        };
        assert_eq!([page(0, 0), page(3, 0), page(20, 20)], [Some((20, 25)), Some((3, 25)), Some((5, 25))]);
    }

    #[test]
    fn a_finished_match_has_a_board_in_the_list_only_if_asked_for_and_names_of_an_imported_file() {
        let mut over = saved(&points(), [Seat::Here, Seat::Bot(Level::MIN)]);
        assert!(line(saved(&points(), Seat::BOTH_HERE), false).is_some_and(|one| one.board.is_some()));
        over.record.result = Some(MatchResult::DrawAgreed);
        let again = || SavedMatch { record: over.record.clone(), ..saved(&[], over.seats.clone()) };
        assert!(line(again(), false).is_some_and(|one| one.board.is_none()));
        assert!(line(again(), true).is_some_and(|one| one.board.is_some()));
        let origin = Some(control::Origin { first: "Go Seigen".into(), ..Default::default() });
        let named = line(SavedMatch { origin, ..again() }, false).expect("shown");
        assert_eq!(named.first.map(|seat| seat.name).as_deref(), Some("Go Seigen"));
        let mut broken = again();
        broken.record.actions = vec![Action::Place(Point::new(0, 0)); 2];
        assert!(line(broken, false).is_none(), "it cannot be replayed");
    }

    #[test]
    fn a_look_beyond_the_end_sees_the_end() {
        let look = |ply, record| {
            let look = control::Look { ply, record, ..control::Look::default() };
            position(saved(&points(), Seat::BOTH_HERE), None, &look).expect("a position")
        };
        assert_eq!((look(99, false).ply, look(99, false).total), (6, 6));
        assert_eq!((look(2, false).ply, look(2, false).moves, look(2, false).total_moves), (2, 2, 6));
        assert_eq!((look(2, false).record.len(), look(2, true).record.len()), (0, 6));
    }

    #[test]
    fn a_branch_goes_on_from_the_position_and_has_no_result_of_the_old_match() {
        let mut record = saved(&points(), Seat::BOTH_HERE).record;
        record.result = Some(MatchResult::Resigned(Side::First));
        let new = branch(record.clone(), 4, MatchId([3; 16])).expect("a match");
        assert_eq!((new.id, new.actions.len(), new.result), (MatchId([3; 16]), 4, None));
        assert_eq!(branch(record, 99, MatchId([3; 16])).ok().map(|new| new.actions.len()), Some(6));
    }

    #[test]
    fn a_match_with_another_device_is_not_deleted() {
        assert!(may_discard(&saved(&[], [Seat::Here, Seat::Peer(ANNA)])).is_err());
        assert!(may_discard(&saved(&[], Seat::BOTH_HERE)).is_ok());
        assert!(may_discard(&saved(&[], [Seat::Here, Seat::Guest(String::new())])).is_ok());
    }
}
