//! Kept matches: lists, review, branches.

use engine::Side;
use proto::control::{self, RefusalCode};
use session::{MatchId, MatchRecord, MatchResult, Pace, wire};
use tracing::warn;

use crate::actor::Actor;
use crate::peer::Peer;
use crate::responder::{Answer, done, in_room};
use crate::room::{Room, Seat, parse_match_name};
use crate::setup::{local_seat, needs_one_device, replayed};
use crate::show::{self, Refusal};
use crate::store::{MatchFilter, Opponent, SavedMatch, StoreError};

/// Default number of matches in a list.
const LISTED: u32 = 20;

/// Maximum size of a Lights Out board in a list, in bytes: a hundred of them fit into a frame, and thumbnails show no more
/// detail.
const MOST_LIGHTS: usize = 4_096;

impl Actor {
    pub(crate) fn list_matches(&mut self, asked: &control::ListMatches) -> Result<Answer, Refusal> {
        let limit = if asked.limit == 0 { LISTED } else { asked.limit };
        let (page, total) = self.journal.page(&self.match_filter(asked), asked.skip, limit)?;
        let mut matches = Vec::new();
        for id in page {
            match self.journal.load(id) {
                Ok(Some(saved)) => matches.extend(self.summary(saved, asked.boards)),
                Ok(None) => {}
                Err(error @ StoreError::Damaged { .. }) => warn!(%error, "a match is left out of the list"),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Answer::Matches(control::Matches { matches, total }))
    }

    /// The filter for a client's list request.
    fn match_filter(&self, asked: &control::ListMatches) -> MatchFilter {
        let sought = asked.opponent.trim().to_lowercase();
        let opponent = match sought.as_str() {
            "" => Opponent::Anyone,
            "bot" => Opponent::Bot,
            "here" => Opponent::Here,
            part => {
                let called = |peer: &&Peer| peer.name.to_lowercase().contains(part);
                let players = self.people.values().filter(called).map(|peer| peer.key).collect();
                Opponent::Called { players, part: part.to_owned() }
            }
        };
        MatchFilter { game: wire::read_game(asked.game), opponent, outcome: asked.outcome() }
    }

    /// `None` if the match cannot be replayed: then it is not shown, but stays in the file.
    pub(crate) fn summary(&self, saved: SavedMatch, with_board: bool) -> Option<control::MatchSummary> {
        let (open, changed, origin) = (saved.open, saved.changed_unix_ms, saved.origin);
        let room = Room::new(saved.record, saved.seats).ok()?;
        let record = room.record();
        let result = show::result(record, origin.as_ref());
        let over = result.is_some();
        let seat = |side: Side| {
            let named = origin.as_ref().map(|origin| match side {
                Side::First => origin.first.clone(),
                Side::Second => origin.second.clone(),
            });
            let seat = self.shown_seat(&room, side);
            match named {
                Some(name) => control::Seat { name: proto::limits::fit_name(&name), ..seat },
                None => seat,
            }
        };
        let seats = Side::BOTH.map(seat);
        let [first, second] = seats;
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

    pub(crate) fn saved_match(&self, name: &str) -> Result<SavedMatch, Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoSuchRoom, "no such match");
        let id = parse_match_name(name).ok_or_else(no_such)?;
        self.journal.load(id)?.ok_or_else(no_such)
    }

    pub(crate) fn look(&mut self, look: &control::Look) -> Result<Answer, Refusal> {
        let saved = self.saved_match(&look.room_id)?;
        let ply = look.ply.min(saved.record.actions.len() as u32);
        let over = ply as usize == saved.record.actions.len() && saved.record.result.is_some();
        let game = replayed(&saved.record, ply)?;
        let mut position = control::Position {
            room_id: look.room_id.clone(),
            ply,
            board: Some(show::board(&game, over)),
            total: saved.record.actions.len() as u32,
            moves: show::moves(&saved.record.actions[..ply as usize]),
            total_moves: show::moves(&saved.record.actions),
            ..Default::default()
        };
        if look.record {
            let whole = Room::new(saved.record, saved.seats)
                .map_err(|error| Refusal::new(RefusalCode::RefusalNoSuchRoom, error.to_string()))?;
            position.record = whole.notation().to_vec();
            position.spoken = whole.spoken().to_vec();
        }
        Ok(Answer::Position(position))
    }

    pub(crate) fn branch(&mut self, branch: &control::Branch) -> Result<Answer, Refusal> {
        let saved = self.saved_match(&branch.room_id)?;
        needs_one_device(&saved.record.setup)?;
        let seats = [local_seat(branch.first.as_ref())?, local_seat(branch.second.as_ref())?];
        let game = replayed(&saved.record, branch.ply)?;
        let mut record =
            MatchRecord::new(MatchId(self.chance.bytes()), saved.record.setup.clone(), Side::First);
        record.actions = saved.record.actions;
        record.actions.truncate(branch.ply as usize);
        record.result = game.outcome().map(MatchResult::Played);
        self.begin(record, seats, None, false).map(in_room)
    }

    pub(crate) fn discard(&mut self, name: &str) -> Result<Answer, Refusal> {
        let saved = self.saved_match(name)?;
        if saved.seats.iter().any(|seat| matches!(seat, Seat::Peer(_))) {
            // The other device may still send something about this match.
            return Err(Refusal::new(RefusalCode::RefusalIllegal, "a match with another device is kept"));
        }
        let id = saved.record.id;
        if self.rooms.contains_key(&id) {
            self.close_room(id)?;
        }
        self.end_judging(Some(id));
        self.journal.keep(|store| store.delete(id))?;
        Ok(done())
    }
}
