//! Executes what the department of guests has decided: requests of clients about codes and the network, and the deeds of guests.

use std::sync::Arc;

use engine::{Language, Side};
use guest::{ConnectionId, News, Role, form};
use proto::control::{self, ClubResult, RefusalCode, Words, event};
use session::{MatchId, Saying, wire};
use tracing::{info, warn};

use crate::actor::{Actor, Message};
use crate::desktop::{AccessPointNews, make_access_point};
use crate::games;
use crate::guests::{
    Asked, Deed, GuestEffect, Not, decide, evening_place, place_meant, place_shown, result_words,
};
use crate::refusal::Refusal;
use crate::responder::{Answer, done};
use crate::room::{Seat, parse_match_name};
use crate::room_view::Viewer;
use crate::show;

/// What pages are told of this program.
const PROGRAM: &str = concat!("qiyou ", env!("CARGO_PKG_VERSION"));

// Requests of clients.
impl Actor {
    pub(crate) fn show_guest_code(&mut self, show: &control::ShowGuestCode) -> Result<Answer, Refusal> {
        let (place, room) = if show.club_id.is_empty() {
            let id = self.room_id(&show.room_id)?;
            let is_present = |side| self.guests.is_present(id, side);
            let place = place_shown(&self.rooms[&id], show.side, show.watch, is_present)?;
            self.guests.may_show(&self.rooms[&id])?;
            (place, Some(id))
        } else {
            self.guests.may_come()?;
            (evening_place(self.clubs.meant_unfinished(&show.club_id)?), None)
        };
        let inbox = self.inbox.clone();
        self.guests.listen(&mut self.tasks, move |news| {
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::Guest(news));
        })?;
        if let Some(id) = room.filter(|_| show.renew) {
            self.show_unseen(id);
        }
        let (code, effects) = self.guests.show_code(&place, show.renew, self.chance.bytes(), &self.rooms)?;
        self.do_guest_effects(effects);
        Ok(Answer::GuestCode(code))
    }

    pub(crate) fn close_guest_code(&mut self, close: &control::CloseGuestCode) -> Result<Answer, Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such code is shown");
        if !close.club_id.is_empty() {
            let number = self.clubs.meant(&close.club_id)?;
            return if self.close_evening(number) { Ok(done()) } else { Err(no_such()) };
        }
        let id = self.room_id(&close.room_id)?;
        let place = place_meant(&self.rooms[&id], close.side, close.watch)?;
        if !self.guests.shows(&place) {
            return Err(no_such());
        }
        self.show_unseen(id);
        let effects = self.guests.close(&place, &self.rooms);
        self.do_guest_effects(effects);
        self.room_changed(id);
        Ok(done())
    }

    /// Closes the code of an evening. Whether there was one.
    pub(crate) fn close_evening(&mut self, number: u32) -> bool {
        let place = evening_place(number);
        let shown = self.guests.shows(&place);
        if shown {
            let effects = self.guests.close(&place, &self.rooms);
            self.do_guest_effects(effects);
        }
        shown
    }

    pub(crate) fn answer_guest(&mut self, answer: &control::AnswerGuest) -> Result<Answer, Refusal> {
        let id = self.room_id(&answer.room_id)?;
        let place = place_meant(&self.rooms[&id], answer.side, false)?;
        let nobody = || Refusal::new(RefusalCode::RefusalNoOffer, "nobody asks for this seat");
        let effects = self.guests.answer(&place, answer.accept, &self.rooms).ok_or_else(nobody)?;
        self.do_guest_effects(effects);
        Ok(done())
    }

    /// Makes a network for guests, or ends it.
    pub(crate) fn set_hotspot(&mut self, on: bool) -> Result<Answer, Refusal> {
        if !on {
            let effect = self.guests.end_hotspot();
            self.do_guest_effects(effect);
        } else if let Some((bus, start)) = self.guests.start_hotspot(self.chance.bytes())? {
            let (inbox, ticket) = (self.inbox.clone(), start.ticket);
            let tell = move |news| {
                // Sending fails only after the actor has ended.
                let _ = inbox.send(Message::Hotspot(ticket, news));
            };
            self.tasks.spawn(make_access_point(bus, start.network, start.before, start.stop, tell));
            let effect = self.guests.told_hotspot();
            self.do_guest_effects([effect]);
        }
        Ok(done())
    }

    pub(crate) fn hotspot_said(&mut self, ticket: u64, news: AccessPointNews) {
        let effect = self.guests.on_hotspot_news(ticket, news);
        self.do_guest_effects(effect);
    }
}

// Events from other parts of the host.
impl Actor {
    pub(crate) fn do_guest_effects(&mut self, effects: impl IntoIterator<Item = GuestEffect>) {
        for effect in effects {
            match effect {
                GuestEffect::Tell(body) => {
                    let evening = room_told(&body).and_then(|id| self.clubs.evening_with(id));
                    self.tell(*body);
                    // A seat of it may be free now, or taken.
                    if let Some(number) = evening {
                        self.show_evening(number);
                    }
                }
                GuestEffect::RoomChanged(id) => self.room_changed(id),
                GuestEffect::Welcome(connection) => self.welcome_guest(connection),
                GuestEffect::ShowSpectators(id) => self.show_spectators(id),
            }
        }
    }

    /// Sends a chat message of this device's user to the guests of this room.
    pub(crate) fn say_to_guests(&mut self, id: MatchId, saying: &Saying) -> Result<(), Refusal> {
        self.guests.may_hear(id, saying)?;
        self.said_in(id, None, saying);
        Ok(())
    }

    /// Sends the room to those who play it now, and to spectators soon.
    pub(crate) fn show_guests(&mut self, id: MatchId) {
        for role in self.guests.roles_in(id) {
            match role {
                Role::Watcher => self.guests.show_spectators_soon(id),
                Role::Seat(_) => self.guests.show_room(id, role, &self.room_for(id, role).into()),
                // It is no room.
                Role::Evening => {}
            }
        }
    }

    /// Shows this room's spectators what they have not seen of it, before their pages are closed.
    pub(crate) fn show_unseen(&mut self, id: MatchId) {
        if self.guests.take_unseen(id) {
            self.show_spectators(id);
        }
    }

    /// As [`show_unseen`](Self::show_unseen), in all rooms.
    pub(crate) fn show_all_unseen(&mut self) {
        for id in self.guests.take_all_unseen() {
            self.show_spectators(id);
        }
    }

    fn show_spectators(&self, id: MatchId) {
        if self.rooms.contains_key(&id) {
            self.guests.show_room(id, Role::Watcher, &self.room_for(id, Role::Watcher).into());
        }
    }

    /// Sends a club evening to the pages of its matches, and to those that look at it.
    pub(crate) fn show_club_to_guests(&self, number: u32) {
        let Some(shown) = self.clubs.shown(number).filter(|_| self.guests.is_open()) else { return };
        let of_evening = self.rooms.keys().filter(|id| self.clubs.evening_with(**id) == Some(number));
        self.guests.send_to_rooms(of_evening.copied(), &Arc::from(form::club(&shown)));
        self.show_evening(number);
    }

    /// Sends a club evening to the pages that look at it.
    fn show_evening(&self, number: u32) {
        if self.guests.shows(&evening_place(number))
            && let Some(text) = self.evening_for_pages(number)
        {
            self.guests.show_evening(number, &text.into());
        }
    }

    /// A club evening as JSON, with the seats at which guests are awaited.
    fn evening_for_pages(&self, number: u32) -> Option<String> {
        let shown = self.clubs.shown(number)?;
        let mut seats = Vec::new();
        for round in &shown.rounds {
            for game in round.games.iter().filter(|game| game.result() == ClubResult::Unspecified) {
                let room = parse_match_name(&game.room_id).and_then(|id| self.rooms.get(&id));
                for (room, side) in room.into_iter().flat_map(|room| Side::BOTH.map(|side| (room, side))) {
                    if let Seat::Guest(name) = room.seat(side)
                        && let Some(token) = self.guests.free_seat(room.id(), side)
                    {
                        let (round, board, side) = (round.round, game.board, show::side(side));
                        seats.push(form::FreeSeat { round, board, name: name.clone(), side, token });
                    }
                }
            }
        }
        Some(form::evening(&shown, &seats))
    }
}

// Messages from pages.
impl Actor {
    pub(crate) fn guest_said(&mut self, news: News) {
        let effects = match news {
            News::Hello { connection, from, hello, outbox } => {
                self.guests.hello(connection, from, &hello, outbox, &self.rooms)
            }
            News::Asked { connection, message, permit: _permit } => {
                return self.guest_asked(connection, message);
            }
            News::Gone { connection } => self.guests.gone(connection, &self.rooms),
        };
        self.do_guest_effects(effects);
    }

    fn welcome_guest(&mut self, connection: ConnectionId) {
        if let Some(number) = self.guests.evening_of(connection) {
            info!(number, "somebody looks at a club evening");
            self.guests.send(connection, form::welcome(Role::Evening, "", self.profile.name(), PROGRAM));
            if let Some(text) = self.evening_for_pages(number) {
                self.guests.show_to(connection, text);
            }
            return;
        }
        let Some((role, id, side, asked)) = self.guests.place_of(connection) else { return };
        let name = match side {
            Some(side) => self.name_guest(id, side, asked),
            None => String::new(),
        };
        info!(room = %id, ?role, name, "a guest has come");
        self.guests.send(connection, form::welcome(role, &name, self.profile.name(), PROGRAM));
        self.guests.show_to(connection, self.room_for(id, role));
        if let Some(shown) = self.clubs.evening_with(id).and_then(|number| self.clubs.shown(number)) {
            self.guests.send(connection, form::club(&shown));
        }
        if let Some(side) = side {
            self.guests.say_again(connection, id, side, self.profile.name());
        }
    }

    /// Sets the name of the guest of this seat, if it is a guest seat; returns the resulting name.
    fn name_guest(&mut self, id: MatchId, side: Side, name: String) -> String {
        let Some(room) = self.rooms.get(&id) else { return name };
        let Seat::Guest(before) = room.seat(side).clone() else { return name };
        if name.is_empty() || name == before {
            return before;
        }
        let mut seats = room.seats.clone();
        seats[side.index()] = Seat::Guest(name.clone());
        if let Err(error) = self.journal.keep(|store| store.set_seats(id, seats.clone())) {
            warn!(%error, "a guest's name could not be saved");
            return before;
        }
        if let Some(room) = self.rooms.get_mut(&id) {
            room.seats = seats;
        }
        self.mark_for_display(id);
        let effect = self.guests.told_seat(id, side, &self.rooms);
        self.do_guest_effects(effect);
        name
    }

    fn guest_asked(&mut self, connection: ConnectionId, message: guest::Message) {
        let Some(asked) = self.guests.asked(connection, message, &self.rooms) else { return };
        let number = asked.number;
        let answer = self.guest_does(connection, asked);
        // Changes are shown before the next message is processed.
        self.show_changes();
        match answer {
            Ok(Some(text)) => self.guests.send(connection, text),
            // Whoever writes the file replies.
            Ok(None) => {}
            Err(not) => self.guests.send(connection, not.written(number)),
        }
    }

    /// Decides on a message of a page and does it; returns the reply, `None` if that comes later.
    fn guest_does(&mut self, connection: ConnectionId, asked: Asked) -> Result<Option<String>, Not> {
        let Asked { number, room: id, side, message } = asked;
        let ping = matches!(message, guest::Message::Ping(_));
        let room = &self.rooms[&id];
        let deed = decide(room, self.guests.keep_waiting(room), side, message)?;
        if !self.guests.admits(connection, number, &deed)? {
            return Ok(Some(form::done(number)));
        }
        match deed {
            Deed::Nothing if ping => return Ok(Some(form::pong(number))),
            Deed::Nothing => {}
            Deed::Look(ply) => {
                let record = room.record();
                let game = crate::setup::replayed(record, ply)?;
                let over = ply == room.ply() && record.result.is_some();
                let board = show::board(&game, over);
                return Ok(Some(form::position(number, &id.to_string(), ply, room.ply(), &board)));
            }
            Deed::Rules => {
                let setup = Some(wire::setup(&room.record().setup));
                let sheet = games::describe(&control::Describe { setup, ..Default::default() })?;
                let words = Words { zh: sheet.rule_sheet_zh, en: sheet.rule_sheet_en };
                return Ok(Some(form::rules(number, &words)));
            }
            Deed::File(format) => return self.guest_exports(connection, number, id, format).map(|()| None),
            Deed::Play(action) => self.play(id, action)?,
            Deed::Press(side, action) => self.press(id, side, action)?,
            Deed::Offer(side, kind) => drop(self.offer_by(id, side, kind)?),
            Deed::Command(command) => self.command_here(id, command)?,
            Deed::NextGame(kind) => drop(self.next_game(id, kind)?),
            Deed::Answer { side, number, accept } => self.answer_offer_of(id, side, Some(number), accept)?,
            Deed::Resign(side) => self.give_in(id, side)?,
            Deed::Say(side, saying) => {
                let name = self.said_in(id, Some(side), &saying);
                self.tell_said(id, false, saying, name);
            }
            Deed::Rename(side, name) => drop(self.name_guest(id, side, name)),
        }
        Ok(Some(form::done(number)))
    }

    /// Exports the match of a page, and replies when the file is written.
    fn guest_exports(
        &mut self,
        connection: ConnectionId,
        number: u64,
        id: MatchId,
        format: String,
    ) -> Result<(), Not> {
        let export = control::Export { room_id: id.to_string(), format, ply: None };
        let inbox = self.inbox.clone();
        let written = move |(), file: Result<control::File, Refusal>| {
            let text = match file {
                Ok(file) => form::file(number, &file.name, &String::from_utf8_lossy(&file.content)),
                Err(refusal) => Not::from(refusal).written(number),
            };
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::GuestFile(connection, text));
        };
        self.export_to(&export, (), written).map_err(|((), refusal)| refusal.into())
    }

    pub(crate) fn guest_file_written(&mut self, connection: ConnectionId, text: String) {
        self.guests.send(connection, text);
    }

    /// Distributes a chat message in a room. Returns the sender's name.
    fn said_in(&mut self, id: MatchId, by: Option<Side>, saying: &Saying) -> String {
        let name = match (by, self.rooms.get(&id)) {
            (Some(side), Some(room)) => self.shown_seat(room, side).name,
            _ => self.profile.name().to_owned(),
        };
        self.guests.say(id, by, name.clone(), saying, self.profile.name());
        name
    }

    /// The room as JSON for a page of this role.
    fn room_for(&self, id: MatchId, role: Role) -> String {
        let (viewer, you) = match role {
            Role::Watcher | Role::Evening => (Viewer::Watcher, proto::board::Side::Unspecified),
            Role::Seat(side) => match show::parse_side(side.into()) {
                Some(own) => (Viewer::Guest(own), side),
                None => (Viewer::Watcher, side),
            },
        };
        let room = &self.rooms[&id];
        let kind = room.game().kind();
        let name = |of: fn(&engine::Names) -> &'static str| Words {
            zh: of(&kind.names(Language::Chinese)).into(),
            en: of(&kind.names(Language::English)).into(),
        };
        let around = form::Around {
            you,
            host: self.profile.name().to_owned(),
            game: name(|names| names.game),
            sides: [name(|names| names.first), name(|names| names.second)],
            rule: games::preset_name(&room.record().setup),
            result: room.record().result.map(|result| result_words(result, room.game())),
        };
        form::room(&self.shown(room, viewer), &around)
    }
}

/// The room of the code of which clients are told.
fn room_told(body: &event::Body) -> Option<MatchId> {
    match body {
        event::Body::Guest(guest) => parse_match_name(&guest.room_id),
        event::Body::GuestGone(gone) => parse_match_name(&gone.room_id),
        _ => None,
    }
}
