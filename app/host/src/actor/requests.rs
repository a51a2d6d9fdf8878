//! Requests of clients.

use std::time::Duration;

use engine::{AnyGame, Level, Setup, Side};
use link::CarrierKind;
use proto::control::{self, Help, NoticeKind, RefusalCode, event, request};
use proto::peer::DeclineReason;
use session::{Analysis, Command, LocalCommand, MatchId, MatchRecord, OfferKind, Pace, wire};

use crate::actor::{ADAPTER, Actor, Message, Replayed, notice};
use crate::archive;
use crate::backup;
use crate::codes;
use crate::consent::{Busy, NoOffer, Outcome};
#[cfg(feature = "online")]
use crate::dialing::Target;
use crate::exchange;
use crate::fair_play;
use crate::games;
use crate::gifts;
use crate::lessons;
use crate::profile;
use crate::puzzles;
use crate::radios;
use crate::refusal::Refusal;
use crate::responder::{Answer, Responder, done, in_room};
use crate::room::{PlayerId, Room, Seat, parse_match_name};
use crate::room_requests::{self, NewSeat, Offered};
use crate::setup::{self, local_seat};
use crate::show;
use crate::store;
use crate::work::Job;

/// Maximum number of open rooms. A user keeps a few; each adds its board to every client's initial state.
const MAX_ROOMS: usize = 32;

/// Search time of a hint: its user is waiting.
const HINT_TIME: Duration = Duration::from_secs(1);

impl Actor {
    /// Executes a request. Slow requests take the responder along and answer later.
    pub(crate) fn request(&mut self, responder: Responder, body: request::Body) {
        use request::Body;
        if let Some(id) = self.puzzles.meant(&body) {
            return self.puzzle_request(responder, id, &body);
        }
        match body {
            Body::Hint(hint) => self.hint(responder, &hint),
            Body::ListAdapters(_) => self.list_adapters(responder),
            Body::Diagnose(_) => self.diagnose(responder),
            Body::PowerOn(_) => self.power_on(responder),
            Body::Import(import) => {
                let (inbox, id) = (self.inbox.clone(), MatchId(self.chance.bytes()));
                // Sending fails only after the actor has ended, and the client with it.
                let tell = move |responder, read| drop(inbox.send(Message::Imported(responder, read)));
                exchange::import(&mut self.work, responder, id, import, tell);
            }
            Body::Look(look) => self.look(responder, look),
            Body::Explore(explore) => self.explore(responder, explore),
            Body::SetUp(asked) => self.set_up(responder, asked),
            Body::OpenRoom(open) => self.open_room(responder, open),
            Body::EditNotes(edit) => self.edit_notes(responder, edit),
            Body::Branch(branch) => self.branch(responder, branch),
            Body::ResumeRoom(resume) => self.resume_kept(responder, &resume.room_id),
            Body::ListMatches(list) => self.list_matches(responder, &list),
            Body::Export(export) => {
                let told = |to: Responder, file: Result<_, _>| to.answer(file.map(Answer::File));
                if let Err((responder, refusal)) = self.export_to(&export, responder, told) {
                    responder.refuse(refusal);
                }
            }
            body @ (Body::AddEngine(_) | Body::RemoveEngine(_) | Body::FindEngines(_)) => {
                self.engines_asked(responder, body);
            }
            Body::SaveBackup(asked) => {
                let task = backup::save(asked, &self.data_dir, &self.journal, &mut self.chance);
                self.run_backup(responder, task);
            }
            Body::RestoreBackup(asked) => {
                let task = backup::restore(asked, &self.data_dir);
                self.run_backup(responder, task);
            }
            body => {
                let answer = self.answer(body);
                // Events are sent before the reply, so that a client knows the effects of its request when the reply
                // arrives.
                self.show_changes();
                responder.answer(answer);
            }
        }
    }

    /// Executes the requests that are answered at once.
    fn answer(&mut self, body: request::Body) -> Result<Answer, Refusal> {
        use request::Body;
        match body {
            Body::Attach(_) | Body::Scan(_) | Body::Front(_) | Body::StopWork(_) => {
                unreachable!("the actor has answered it")
            }
            Body::Hint(_)
            | Body::ListAdapters(_)
            | Body::AddEngine(_)
            | Body::RemoveEngine(_)
            | Body::FindEngines(_)
            | Body::Diagnose(_)
            | Body::PowerOn(_)
            | Body::Import(_)
            | Body::Export(_)
            | Body::Look(_)
            | Body::Explore(_)
            | Body::SetUp(_)
            | Body::OpenRoom(_)
            | Body::EditNotes(_)
            | Body::Branch(_)
            | Body::ResumeRoom(_)
            | Body::ListMatches(_)
            | Body::SaveBackup(_)
            | Body::RestoreBackup(_) => unreachable!("`request` lets it be answered later"),
            Body::SetName(set) => {
                let name = profile::asked_name(&set.name)?;
                self.profile.set_name(&mut self.journal, name)?;
                Ok(self.tell_me())
            }
            Body::SetVisibility(set) => {
                let visibility = profile::asked_visibility(set.visibility)?;
                self.profile.set_visibility(&mut self.journal, visibility)?;
                Ok(self.tell_me())
            }
            Body::Act(act) => self.act(&act).map(|()| done()),
            Body::Offer(offer) => self.offer(offer),
            Body::Resign(resign) => self.resign(&resign).map(|()| done()),
            Body::CloseRoom(close) => self.close_room(self.room_id(&close.room_id)?),
            Body::SetSeat(set) => self.set_seat(set),
            Body::ListPuzzles(list) => {
                puzzles::list(list, &mut self.journal, &self.wall_clock).map(Answer::Puzzles)
            }
            Body::OpenPuzzle(open) => self.open_puzzle(&open),
            Body::MakePuzzles(make) => self.make_puzzles(make),
            Body::Say(say) => self.say(say).map(|()| done()),
            Body::SetMuted(set) => {
                let key = self.player(&set.peer)?;
                self.set_muted(key, set.muted).map(|()| done())
            }
            Body::TakeTheirs(take) => {
                let id = self.room_id(&take.room_id)?;
                let key = self.rooms[&id].peer().ok_or_else(|| {
                    Refusal::new(RefusalCode::RefusalBadRequest, "nobody else is in this room")
                })?;
                self.command(key, Command::TakeTheirs(id)).map(|()| done())
            }
            Body::Analyse(analyse) => self.analyse(&analyse).map(|()| done()),
            Body::SendAway(away) => self.send_away(&away.peer).map(|()| done()),
            Body::Block(block) => self.block(&block.peer).map(|()| done()),
            Body::Unblock(unblock) => self.unblock(&unblock.peer).map(|()| done()),
            Body::SetNote(set) => {
                let key = self.player(&set.peer)?;
                self.set_note(key, &set.note).map(|()| done())
            }
            Body::SamePerson(same) => {
                let (old, new) = (self.player(&same.old)?, self.player(&same.new)?);
                self.same_person(old, new).map(|()| done())
            }
            Body::SetMakesPuzzles(set) => {
                self.profile.set_makes_puzzles(&mut self.journal, set.on)?;
                Ok(self.tell_me())
            }
            Body::SetFoundWhenClosed(set) => {
                self.profile.set_found_when_closed(&mut self.journal, set.on)?;
                Ok(self.tell_me())
            }
            Body::SetQuietHours(set) => {
                let hours = profile::asked_quiet_hours(set.hours)?;
                self.profile.set_quiet_hours(&mut self.journal, hours)?;
                Ok(self.tell_me())
            }
            Body::SetAdapter(set) => self.set_adapter(&set.adapter),
            Body::SetCarrier(set) => self.set_carrier(set.carrier(), set.on),
            Body::SetEndings(set) => self.set_tablebase(set.on),
            // The card has it at once, hellos from the next link on.
            Body::SetWish(set) => {
                self.profile.set_wish(&mut self.journal, wire::read_game(set.game))?;
                Ok(done())
            }
            Body::MeetAddress(meet) => self.meet_address(&meet.address).map(Answer::Peer),
            Body::ShowPlaces(_) => Ok(Answer::Places(codes::places(self.own_places(Some(CarrierKind::Lan))))),
            Body::ShowFriendCode(_) => {
                let code = codes::own(&self.profile, self.wall_clock.epoch(), self.own_places(None));
                Ok(Answer::FriendCode(codes::shown(&code)))
            }
            Body::AddFriend(add) => self.add_friend(&add.code).map(|()| done()),
            #[cfg(feature = "online")]
            body @ (Body::SignIn(_)
            | Body::SignOut(_)
            | Body::TakeOver(_)
            | Body::AskContact(_)
            | Body::AnswerContact(_)
            | Body::SetAway(_)) => self.online_asked(body),
            #[cfg(not(feature = "online"))]
            Body::SignIn(_)
            | Body::SignOut(_)
            | Body::TakeOver(_)
            | Body::AskContact(_)
            | Body::AnswerContact(_)
            | Body::SetAway(_) => {
                Err(Refusal::new(RefusalCode::RefusalBadRequest, "this host was built without online play"))
            }
            Body::ShowGuestCode(show) => self.show_guest_code(&show),
            Body::CloseGuestCode(close) => self.close_guest_code(&close),
            Body::AnswerGuest(answer) => self.answer_guest(&answer),
            Body::SetHotspot(set) => self.set_hotspot(set.on),
            Body::Club(asked) => self.club_asked(asked),
            Body::Describe(describe) => self.describe(&describe).map(Answer::Sheet),
            Body::ForgetStrength(forget) => self.forget_strength(&forget).map(|()| done()),
            Body::Teach(teach) => lessons::teach(&teach).map(Answer::Lesson),
            Body::Stop(_) => {
                let (stopped, _) = tokio::sync::oneshot::channel();
                let _ = self.inbox.send(Message::Stop(stopped));
                Ok(done())
            }
            Body::Meet(meet) => self.meet(&meet.peer).map(|()| done()),
            Body::Compare(compare) => self.compare(&compare.peer, compare.same).map(|()| done()),
            Body::Invite(invite) => self.ask_for_match(&invite).map(|id| Answer::InviteId(id.to_string())),
            Body::Withdraw(withdraw) => self.withdraw(invitation_id(&withdraw.invite_id)?).map(|()| done()),
            Body::AnswerInvite(answer) => {
                let reason = match answer.reason() {
                    DeclineReason::DeclineUnspecified => DeclineReason::DeclineNotNow,
                    reason => reason,
                };
                let id = invitation_id(&answer.invite_id)?;
                self.answer_invite(id, (!answer.accept).then_some(reason)).map(|()| done())
            }
            Body::Forget(forget) => {
                let key = self.player(&forget.peer)?;
                self.forget(key).map(|()| done())
            }
            Body::AnalyseMatch(asked) => self.analyse_match(&asked),
            Body::Discard(discard) => self.discard(&discard.room_id),
            Body::Give(give) => self.give(&give),
            Body::AnswerGift(answer) => self.answer_gift(&answer),
            Body::AnswerOffer(answer) => {
                let id = self.room_id(&answer.room_id)?;
                let room = &self.rooms[&id];
                let Some(key) = room.peer() else {
                    let none = || Refusal::new(RefusalCode::RefusalNoOffer, "nobody offers anything here");
                    let side = room.side_here().filter(|_| room.needs_consent()).ok_or_else(none)?;
                    return self.answer_offer_of(id, side, None, answer.accept).map(|()| done());
                };
                let command = Command::AnswerOffer { id, accept: answer.accept };
                self.command(key, command).map(|()| done())
            }
        }
    }

    /// Exports a match. `told` gets `to` and the file on the export's thread; `to` comes back with a refusal.
    pub(crate) fn export_to<T: Send + 'static>(
        &mut self,
        export: &control::Export,
        to: T,
        told: impl FnOnce(T, Result<control::File, Refusal>) + Send + 'static,
    ) -> Result<(), (T, Refusal)> {
        let (journal, people, own) = (&self.journal, &self.people, self.profile.name());
        let name_of = |key: &PlayerId| people.get(key).map_or_else(String::new, |peer| peer.name.clone());
        let file = || {
            let saved = archive::saved(journal, &export.room_id)?;
            exchange::to_export(saved, export, journal, own, name_of)
        };
        let inbox = self.inbox.clone();
        // Sending fails only after the actor has ended.
        let ended = move || drop(inbox.send(Message::WorkEnded(Job::Export)));
        exchange::export(&mut self.work, to, file, ended, told)
    }

    fn give(&mut self, give: &control::Give) -> Result<Answer, Refusal> {
        let key = self.player(&give.peer)?;
        let saved = archive::saved(&self.journal, &give.room_id)?;
        gifts::may_give(&saved)?;
        self.command(key, Command::Give(Box::new(saved.record)))?;
        Ok(done())
    }

    fn answer_gift(&mut self, answer: &control::AnswerGift) -> Result<Answer, Refusal> {
        let (id, now) = (MatchId(self.chance.bytes()), self.wall_clock.unix_ms());
        let (number, kept) = self.gifts.answer(answer, id, &mut self.journal, now)?;
        self.tell(event::Body::GiftGone(control::Gone { id: number.to_string() }));
        Ok(if kept { in_room(id) } else { done() })
    }

    fn run_backup(&mut self, responder: Responder, task: Result<backup::Task, Refusal>) {
        let inbox = self.inbox.clone();
        // Sending fails only after the actor has ended.
        let ended = move || drop(inbox.send(Message::WorkEnded(Job::Backup)));
        backup::run(&mut self.work, responder, task, ended);
    }

    /// Diagnoses all carriers, asynchronously.
    fn diagnose(&mut self, responder: Responder) {
        let mut checks = vec![self.journal.check()];
        let (transports, engines) = (self.transports(), self.power.engines.clone());
        let guest_port = self.guests.port();
        self.tasks.spawn(async move {
            // A sensor may take milliseconds. An error is a panic there.
            checks.extend(tokio::task::spawn_blocking(move || engines.check()).await);
            checks.extend(radios::diagnose(&transports, guest_port).await);
            responder.done(Answer::Diagnosis(control::Diagnosis { checks }));
        });
    }

    fn power_on(&mut self, responder: Responder) {
        let transports = self.transports();
        self.tasks.spawn(async move {
            let on = radios::power_on(&transports).await;
            let refused = |detail| Refusal::new(RefusalCode::RefusalRadio, detail);
            responder.answer(on.map(|()| done()).map_err(refused));
        });
    }

    fn list_adapters(&mut self, responder: Responder) {
        let transports = self.transports();
        self.tasks.spawn(async move {
            let adapters = radios::adapters(&transports).await;
            responder.done(Answer::Adapters(control::Adapters { adapters }));
        });
    }

    fn set_adapter(&mut self, name: &str) -> Result<Answer, Refusal> {
        self.journal.keep(|store| store.set_setting(ADAPTER, name))?;
        let chosen = (!name.is_empty()).then(|| name.to_owned());
        for transport in self.transports() {
            transport.use_adapter(chosen.clone());
        }
        Ok(done())
    }

    /// Sends all clients the profile.
    fn tell_me(&mut self) -> Answer {
        let me = self.me();
        self.tell(event::Body::Me(me));
        done()
    }

    fn set_tablebase(&mut self, on: bool) -> Result<Answer, Refusal> {
        let (inbox, guard) = (self.inbox.clone(), self.work.in_directory.token());
        // Sending fails only after the actor has ended.
        let tell = move |ticket, news| drop(inbox.send(Message::Tablebase(ticket, news)));
        self.tablebase.set(on, guard, tell)?;
        self.tell_tablebase();
        Ok(done())
    }

    pub(crate) fn tell_tablebase(&mut self) {
        let shown = self.tablebase.shown();
        self.tell(event::Body::Endings(shown));
    }

    fn describe(&mut self, describe: &control::Describe) -> Result<control::GameSheet, Refusal> {
        let mut sheet = games::describe(describe)?;
        let setup = self.chosen_setup(sheet.setup.as_ref(), None)?;
        sheet.strength = store::strength(&self.journal, &setup)?;
        Ok(sheet)
    }

    fn forget_strength(&mut self, forget: &control::ForgetStrength) -> Result<(), Refusal> {
        let setup = self.chosen_setup(None, forget.choice.as_ref())?;
        Ok(self.journal.keep(|store| store.forget_strength(&setup))?)
    }

    /// The level at which the person here is expected to score half.
    fn fitting_level(&self, setup: &Setup) -> Result<Level, Refusal> {
        let strength = store::strength(&self.journal, setup)?.unwrap_or_default();
        Ok(u8::try_from(strength.level_tenths).ok().and_then(Level::from_tenths).unwrap_or(Level::MIN))
    }

    /// Begins the match that a client asks for, once its room is made on another thread: a board of a million lights takes many
    /// milliseconds.
    fn open_room(&mut self, responder: Responder, open: control::OpenRoom) {
        let (id, seeds) = (MatchId(self.chance.bytes()), [self.chance.seed(), self.chance.seed()]);
        self.replay(responder, move || {
            let room = room_asked_for(&open, id, seeds)?;
            Ok(Replayed::New(Box::new(room), Box::new(open)))
        });
    }

    /// Begins the match of the room that [`open_room`](Self::open_room) has had made.
    pub(crate) fn begin_asked(
        &mut self,
        mut room: Room,
        open: &control::OpenRoom,
    ) -> Result<Answer, Refusal> {
        let adaptive =
            [&open.first, &open.second].map(|seat| seat.as_ref().is_some_and(|seat| seat.bot_adapts));
        let mut seats = room.seats.clone();
        for (seat, adaptive) in seats.iter_mut().zip(adaptive) {
            if let (Seat::Bot(level), true) = (seat, adaptive) {
                *level = self.fitting_level(&room.record().setup)?;
            }
        }
        room.seats = seats;
        let id = self.begin_in(room, adaptive.contains(&true))?;
        if !open.replaces.is_empty() {
            self.discard(&open.replaces)?;
        }
        Ok(in_room(id))
    }

    /// With a new random board for a race.
    pub(crate) fn drawn(&mut self, setup: Setup) -> Setup {
        setup::drawn(setup, || self.chance.seed())
    }

    /// Begins a match without a peer. `adaptive`: the bot's level follows the strength of the person here.
    pub(crate) fn begin(
        &mut self,
        record: MatchRecord,
        seats: [Seat; 2],
        follows: Option<MatchId>,
        adaptive: bool,
    ) -> Result<MatchId, Refusal> {
        let mut room = new_room(record, seats)?;
        room.follows = follows;
        self.begin_in(room, adaptive)
    }

    /// Begins the match of this new room, as [`begin`](Self::begin).
    pub(crate) fn begin_in(&mut self, room: Room, adaptive: bool) -> Result<MatchId, Refusal> {
        if self.rooms.len() >= MAX_ROOMS {
            return Err(Refusal::new(
                RefusalCode::RefusalBusy,
                format!("{MAX_ROOMS} rooms are open: close one"),
            ));
        }
        let id = room.id();
        room.seats.iter().try_for_each(|seat| self.check_engine(&room.record().setup, seat))?;
        let now = self.wall_clock.unix_ms();
        self.journal.keep(|store| {
            store.begin(room.record(), room.seats.clone(), now)?;
            if adaptive { store.set_adaptive(id, true) } else { Ok(()) }
        })?;
        self.rooms.insert(id, room);
        self.room_changed(id);
        Ok(id)
    }

    fn act(&mut self, act: &control::Act) -> Result<(), Refusal> {
        let id = self.room_id(&act.room_id)?;
        let room = &self.rooms[&id];
        let action = room_requests::action(room, act, self.guests.keep_waiting(room))?;
        self.play(id, action)
    }

    fn offer(&mut self, offer: control::Offer) -> Result<Answer, Refusal> {
        let id = self.room_id(&offer.room_id)?;
        let Some(kind) = show::parse_offer_kind(offer.kind) else {
            return Err(Refusal::new(RefusalCode::RefusalBadRequest, "no such offer"));
        };
        let room = &self.rooms[&id];
        if let Some(key) = room.peer() {
            return self.command(key, Command::Offer { id, kind }).map(|()| done());
        }
        if room.needs_consent() && kind != OfferKind::Adjourn {
            let nobody = || Refusal::new(RefusalCode::RefusalBadRequest, "nobody here plays in this room");
            let side = room.side_here().ok_or_else(nobody)?;
            return self.offer_by(id, side, kind).map(|new| new.map_or_else(done, in_room));
        }
        match room_requests::offered(room, kind)? {
            Offered::Command(command) => self.command_here(id, command).map(|()| done()),
            Offered::Nothing => Ok(done()),
            Offered::NextGame => self.next_game(id, kind).map(in_room),
            Offered::Adjourn => {
                if !room.record().paused {
                    self.command_here(id, LocalCommand::Pause(true))?;
                }
                self.close_room(id)
            }
        }
    }

    /// Begins the next match of a room without a peer, and closes the room. Guests move to the new room.
    pub(crate) fn next_game(&mut self, id: MatchId, kind: OfferKind) -> Result<MatchId, Refusal> {
        let room = &self.rooms[&id];
        let [first, second] = room.seats.clone();
        let swaps = kind == OfferKind::NewGame;
        let mut seats = if swaps { [second, first] } else { [first, second] };
        let adaptive = self.journal.is_adaptive(id)?;
        for seat in &mut seats {
            if let (Seat::Bot(level), true) = (seat, adaptive) {
                *level = self.fitting_level(&self.rooms[&id].record().setup)?;
            }
        }
        let room = &self.rooms[&id];
        let (setup, pace) = (room.record().setup.next(), room.record().pace);
        let setup = self.drawn(setup);
        let record = MatchRecord::new(MatchId(self.chance.bytes()), setup, Side::First).with_pace(pace);
        let new = self.begin(record, seats, Some(id), adaptive)?;
        let effects = self.guests.follow(id, new, swaps, &self.rooms);
        self.do_guest_effects(effects);
        self.close_room(id)?;
        self.room_changed(new);
        Ok(new)
    }

    /// Handles an offer in a match with a guest, by the guest or the user. Returns the next match, if one begins.
    pub(crate) fn offer_by(
        &mut self,
        id: MatchId,
        side: Side,
        kind: OfferKind,
    ) -> Result<Option<MatchId>, Refusal> {
        room_requests::may_offer(&self.rooms[&id], side, kind)?;
        let room = self.rooms.get_mut(&id).expect("the caller has looked at it");
        let outcome = room.offers.offer(side, kind).map_err(|Busy| {
            Refusal::new(RefusalCode::RefusalBusy, "another offer is open: answer that first")
        })?;
        self.offer_came_to(id, outcome)
    }

    /// Handles the answer to an offer in a match with a guest.
    pub(crate) fn answer_offer_of(
        &mut self,
        id: MatchId,
        side: Side,
        number: Option<u32>,
        accept: bool,
    ) -> Result<(), Refusal> {
        let room = self.rooms.get_mut(&id).expect("the caller has looked at it");
        if let (true, Some(open)) = (accept, room.offers.open()) {
            // If it has become impossible, accepting is refused; the offer stays open and can be declined.
            room_requests::may_offer(room, open.by, open.kind)?;
        }
        let room = self.rooms.get_mut(&id).expect("it was there above");
        let outcome = room
            .offers
            .answer(side, number, accept)
            .map_err(|NoOffer| Refusal::new(RefusalCode::RefusalNoOffer, "nobody offers anything here"))?;
        self.offer_came_to(id, outcome).map(drop)
    }

    /// Carries out an accepted offer.
    fn offer_came_to(&mut self, id: MatchId, outcome: Outcome) -> Result<Option<MatchId>, Refusal> {
        self.mark_for_display(id);
        match outcome {
            Outcome::Known | Outcome::Asked => {}
            Outcome::Declined(_, by) => {
                if *self.rooms[&id].seat(by) == Seat::Here {
                    let name = self.shown_seat(&self.rooms[&id], by.other()).name;
                    let declined = notice(NoticeKind::NoticeOfferDeclined);
                    self.notice(control::Notice { name, room_id: id.to_string(), ..declined });
                }
            }
            Outcome::Agreed(kind, by) => match room_requests::agreed(&self.rooms[&id], by, kind) {
                Some(command) => self.command_here(id, command)?,
                None => return self.next_game(id, kind).map(Some),
            },
        }
        Ok(None)
    }

    /// Handles a step of the analysis after the end, alone or together with the peer.
    fn analyse(&mut self, analyse: &control::Analyse) -> Result<(), Refusal> {
        let id = self.room_id(&analyse.room_id)?;
        let room = &self.rooms[&id];
        let shown = match room.peer() {
            None => room.analysis(),
            Some(key) => {
                self.people.get(&key).and_then(|peer| peer.match_state(id)).and_then(|state| state.analysis())
            }
        };
        let at = room_requests::analysed(room, shown.cloned(), analyse.step.as_ref())?;
        let at = at.map(|Analysis { ply, tried }| (ply, tried));
        match room.peer() {
            Some(key) => self.command(key, Command::Analyse { id, at }),
            None => self.command_here(id, LocalCommand::Analyse(at)),
        }
    }

    fn resign(&mut self, resign: &control::Resign) -> Result<(), Refusal> {
        let id = self.room_id(&resign.room_id)?;
        let side = room_requests::resigning(&self.rooms[&id], resign)?;
        self.give_in(id, side)
    }

    /// Closes a room. The match is kept, unless no action was made in it.
    pub(crate) fn close_room(&mut self, id: MatchId) -> Result<Answer, Refusal> {
        let untouched = self.rooms.get(&id).is_some_and(Room::is_untouched);
        self.journal.keep(|store| if untouched { store.delete(id) } else { store.set_open(id, false) })?;
        self.show_unseen(id);
        self.stop_clock(id);
        self.rooms.remove(&id);
        self.drop_bots(id);
        let effects = self.guests.leave(id, &self.rooms);
        self.do_guest_effects(effects);
        self.tell(event::Body::RoomGone(control::Gone { id: id.to_string() }));
        Ok(done())
    }

    pub(crate) fn resume_room(&mut self, name: &str) -> Result<Answer, Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoSuchRoom, "no such match");
        let id = parse_match_name(name).ok_or_else(no_such)?;
        if self.rooms.contains_key(&id) {
            return Ok(in_room(id));
        }
        let saved = self.journal.load(id)?.ok_or_else(no_such)?;
        self.reopen(archive::room(saved)?)
    }

    /// Opens the room of a kept match that was replayed a moment ago: since then it may have been opened, played on or deleted.
    pub(crate) fn reopen_replayed(&mut self, room: Room) -> Result<Answer, Refusal> {
        let id = room.id();
        if self.rooms.contains_key(&id) {
            return Ok(in_room(id));
        }
        let saved = archive::saved(&self.journal, &id.to_string())?;
        self.reopen(if saved.record == *room.record() { room } else { archive::room(saved)? })
    }

    /// Opens the room of a kept match.
    fn reopen(&mut self, room: Room) -> Result<Answer, Refusal> {
        let id = room.id();
        self.journal.keep(|store| store.set_open(id, true))?;
        let peer = room.peer();
        self.rooms.insert(id, room);
        self.room_changed(id);
        if let Some(key) = peer {
            self.look_again(key);
        }
        Ok(in_room(id))
    }

    fn set_seat(&mut self, set: control::SetSeat) -> Result<Answer, Refusal> {
        let id = self.room_id(&set.room_id)?;
        let Some(side) = show::parse_side(set.side) else {
            return Err(Refusal::new(RefusalCode::RefusalBadRequest, "say which side"));
        };
        let wanted = local_seat(set.seat.as_ref())?;
        let assists = set.seat.as_ref().is_some_and(|seat| seat.bot_assists);
        self.check_engine(&self.rooms[&id].record().setup, &wanted)?;
        let room = self.rooms.get_mut(&id).expect("room_id has found it");
        match room_requests::new_seat(room, side, wanted, assists)? {
            NewSeat::Assist(level) => {
                if !self.stand_ins {
                    fair_play::may_stand_in(&room.seats)?;
                }
                room.assists[side.index()] = Some(level);
                self.journal.keep(|store| store.add_help(id, Help::Solved))?;
            }
            NewSeat::Seats(seats) => {
                self.journal.keep(|store| {
                    store.set_seats(id, seats.clone())?;
                    store.set_adaptive(id, false)
                })?;
                room.seats = seats;
                room.offers.lapse();
                room.assists[side.index()] = None;
            }
        }
        let effects = self.guests.seats_changed(id, &self.rooms);
        self.do_guest_effects(effects);
        self.room_changed(id);
        Ok(done())
    }

    fn hint(&mut self, responder: Responder, hint: &control::Hint) {
        let (id, game) = match self.to_advise(hint) {
            Ok(position) => position,
            Err(refusal) => return responder.refuse(refusal),
        };
        // The other side is told before the hint is given.
        if let Some(key) = self.rooms[&id].peer()
            && let Err(refusal) = self.command(key, Command::TakeHint(id))
        {
            return responder.refuse(refusal);
        }
        let help = if hint.solve { Help::Solved } else { Help::Hints };
        if let Err(error) = self.journal.keep(|store| store.add_help(id, help)) {
            return responder.refuse(error.into());
        }
        let lines = hint.lines as usize;
        let (record, setup) =
            (self.rooms[&id].record().actions.clone(), self.rooms[&id].record().setup.clone());
        let make = match self.adviser(id, &setup, &hint.engine) {
            Ok(make) => make,
            Err(refusal) => return responder.refuse(refusal),
        };
        let (inbox, time) = (self.inbox.clone(), HINT_TIME.min(self.bot_time));
        self.work.begin(Job::Hint, move || {
            let found = games::find_hint(make, &game, &record, lines, time);
            let _ = inbox.send(Message::Hint(responder, id, found));
        });
    }

    /// The position for a hint, if a hint is allowed now.
    fn to_advise(&self, hint: &control::Hint) -> Result<(MatchId, AnyGame), Refusal> {
        let id = self.room_id(&hint.room_id)?;
        let game = room_requests::to_advise(&self.rooms[&id])?;
        if !self.work.has_room(Job::Hint) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "a hint is being looked for already"));
        }
        Ok((id, game))
    }

    pub(crate) fn hint_found(
        &mut self,
        responder: Responder,
        room: MatchId,
        found: Result<control::HintFound, Refusal>,
    ) {
        self.work.ended(Job::Hint);
        let closed = || Refusal::new(RefusalCode::RefusalNoSuchRoom, "the room is closed");
        let found = if self.rooms.contains_key(&room) { found } else { Err(closed()) };
        responder.answer(found.map(Answer::Hint));
    }

    fn ask_for_match(&mut self, invite: &control::Invite) -> Result<MatchId, Refusal> {
        let bad = |what: String| Refusal::new(RefusalCode::RefusalBadRequest, what);
        let counters = match invite.counters.as_str() {
            "" => None,
            name => Some(invitation_id(name)?),
        };
        let theirs = counters.map(|id| self.invitations.theirs(id));
        let target = match (theirs, invite.peer.as_str()) {
            (Some(None), _) => {
                return Err(Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation"));
            }
            (Some(Some(theirs)), _) => theirs.target.clone(),
            (None, peer) => self.target(peer)?,
        };
        let setup = self.chosen_setup(invite.setup.as_ref(), invite.choice.as_ref())?;
        let wish = self.wish(&target, invite, setup, counters)?;
        if self.radios.is_empty() {
            return Err(Refusal::new(RefusalCode::RefusalRadio, "this host has no links"));
        }
        #[cfg(feature = "online")]
        if invite.by_letter
            && let Target::Friend(key) = target
            && self.people.get(&key).is_some_and(|peer| peer.friend.is_some() && !peer.session_up())
        {
            if wish.hints {
                return Err(bad("a match by letter has no hints".into()));
            }
            return self.invite_by_letter(key, &wish);
        }
        #[cfg(not(feature = "online"))]
        if invite.by_letter {
            return Err(bad("this host was built without online play".into()));
        }
        self.invite(target, wish)
    }

    /// The setup that a client means.
    pub(crate) fn chosen_setup(
        &mut self,
        setup: Option<&proto::board::Setup>,
        choice: Option<&control::GameChoice>,
    ) -> Result<Setup, Refusal> {
        let setup = games::read(setup, choice, || self.chance.seed() as u32)?;
        AnyGame::new(&setup).map_err(|error| games::no_game(&setup, &error))?;
        Ok(setup)
    }

    pub(crate) fn room_id(&self, name: &str) -> Result<MatchId, Refusal> {
        parse_match_name(name)
            .filter(|id| self.rooms.contains_key(id))
            .ok_or_else(|| Refusal::new(RefusalCode::RefusalNoSuchRoom, "no such room"))
    }
}

/// The room that a client asks for. `seeds`: of a random board, and of a race's.
fn room_asked_for(open: &control::OpenRoom, id: MatchId, [board, race]: [u64; 2]) -> Result<Room, Refusal> {
    let setup = games::read(open.setup.as_ref(), open.choice.as_ref(), || board as u32)?;
    AnyGame::new(&setup).map_err(|error| games::no_game(&setup, &error))?;
    let seats = [local_seat(open.first.as_ref())?, local_seat(open.second.as_ref())?];
    let pace = Pace::read(open.pace.as_ref())
        .map_err(|error| Refusal::new(RefusalCode::RefusalBadRequest, error.to_string()))?;
    let (setup, pace) = setup::terms_here(setup, pace, &seats)?;
    let record = MatchRecord::new(id, setup::drawn(setup, || race), Side::First).with_pace(pace);
    new_room(record, seats)
}

pub(crate) fn new_room(record: MatchRecord, seats: [Seat; 2]) -> Result<Room, Refusal> {
    Room::new(record, seats).map_err(|error| Refusal::new(RefusalCode::RefusalBadRequest, error.to_string()))
}

fn invitation_id(name: &str) -> Result<MatchId, Refusal> {
    parse_match_name(name).ok_or_else(|| Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation"))
}
