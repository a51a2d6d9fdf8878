//! The commands: what each one asks, waits for and prints.

use client::field_test::Role;
use client::{json, words};
use proto::board::Side;
use proto::control::{
    self, CheckState, Event, NoticeKind, OfferKind, Room, Visibility, event, reply, request,
};
use proto::peer::DeclineReason;
use serde_json::json;

use crate::arguments::{Arguments, Command, ContactDeed, Reason, SideChoice, VisibilityChoice};
use crate::connection::{Connection, Failure};
use crate::conversation::{Conversation, forever, unexpected, within};
use crate::inviting::{self, asked_for};
use crate::meeting::comparison_text;
use crate::{board as board_text, field_test, report, text};

pub(crate) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let path = arguments
        .socket
        .or_else(link::control_socket)
        .ok_or_else(|| Failure::Usage("XDG_RUNTIME_DIR is not set: say --socket".into()))?;
    if let Command::Report { file, log, lines } = &arguments.command {
        return report::report(&path, arguments.json, file, log.as_deref(), *lines).await;
    }
    let host = Connection::open(&path).await?;
    let mut session = Conversation { host, json: arguments.json };
    if let Command::FieldTest { who, steps, file } = arguments.command {
        let steps = steps.into_iter().map(Into::into).collect();
        let role = who.map_or(Role::Follows, |who| Role::Leads { who, steps });
        return field_test::run(session, role, &file).await;
    }
    session.run(arguments.command).await
}

/// Whether somebody else could read what is said in this room.
fn has_somebody(room: &Room) -> bool {
    let guest = |seat: &control::Seat| matches!(seat.who, Some(control::seat::Who::Guest(_)));
    room.link.is_some() || [&room.first, &room.second].into_iter().flatten().any(guest)
}

impl Conversation {
    async fn run(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Doctor => self.doctor().await,
            Command::Report { .. } | Command::FieldTest { .. } => unreachable!("`run` has done it"),
            Command::PowerOn => self.ask_done(request::Body::PowerOn(control::PowerOn {})).await,
            Command::Scan { seconds } => self.scan(seconds).await,
            Command::Meet { who, patience } => self.meet(&who, patience.seconds).await,
            Command::Address => self.places().await,
            Command::Same { who, wait } => self.compare(who, true, wait).await,
            Command::Different { who } => self.compare(who, false, 0).await,
            Command::Code { plain } => self.code(plain).await,
            Command::Add { code } => {
                self.ask_done(request::Body::AddFriend(control::AddFriend { code })).await
            }
            Command::Account { name, make, server, wait } => self.account(name, make, server, wait).await,
            Command::SignOut { forget } => {
                self.ask_done(request::Body::SignOut(control::SignOut { forget })).await
            }
            Command::TakeOver => self.ask_done(request::Body::TakeOver(control::TakeOver {})).await,
            Command::Away { off } => {
                self.ask_done(request::Body::SetAway(control::SetAway { away: !off })).await
            }
            Command::Contacts => self.host.state().contacts.values().try_for_each(|one| {
                let (state, presence) = (words::contact_state(one.state), words::presence(one.presence));
                self.print(|| format!("{}  {presence}  {state}", one.account), || json::contact(one))
            }),
            Command::Contact { account, deed } => {
                let answer = |answer: control::ContactAnswer, account| {
                    request::Body::AnswerContact(control::AnswerContact { account, answer: answer.into() })
                };
                let asked = match deed {
                    ContactDeed::Ask => request::Body::AskContact(control::AskContact { account }),
                    ContactDeed::Accept => answer(control::ContactAnswer::ContactAccept, account),
                    ContactDeed::Remove => answer(control::ContactAnswer::ContactRemove, account),
                    ContactDeed::Block => answer(control::ContactAnswer::ContactBlock, account),
                };
                self.ask_done(asked).await
            }
            Command::Friends => self.friends(),
            Command::Forget { who } => {
                let peer = self.friend(&who)?;
                self.ask_done(request::Body::Forget(control::Forget { peer })).await
            }
            Command::Invite { who, game, terms, by_letter: true, .. } => {
                let peer = self.friend(&who)?;
                let invite = control::Invite { peer, by_letter: true, ..asked_for(&game, &terms)? };
                let reply::Body::InviteId(id) = self.host.ask(request::Body::Invite(invite)).await? else {
                    return Err(unexpected());
                };
                self.print(|| format!("written: room {id}"), || json!({"invite_id": id, "room_id": id}))
            }
            Command::Invite { who, game, terms, no_wait, by_letter: false, patience } => {
                let deadline = within(patience.seconds);
                let invite = asked_for(&game, &terms)?;
                let peer = self.somebody(&who, deadline).await?;
                let invite = control::Invite { peer, ..invite };
                self.invite(&who, invite, no_wait, deadline).await
            }
            Command::Counter { which, game, terms, no_wait } => {
                let invite = asked_for(&game, &terms)?;
                let theirs = self.invitation(which.as_deref(), false)?;
                let invite = control::Invite { counters: theirs.invite_id, ..invite };
                self.invite(&theirs.name, invite, no_wait, within(inviting::ANSWER_SECONDS)).await
            }
            Command::Withdraw { which } => {
                let invite_id = self.invitation(which.as_deref(), true)?.invite_id;
                self.ask_done(request::Body::Withdraw(control::Withdraw { invite_id })).await
            }
            Command::Invitations => self.invitations(),
            Command::Accept { which, wait } => self.accept(which.as_deref(), wait).await,
            Command::Decline { which, reason } => {
                let invite_id = self.invitation(which.as_deref(), false)?.invite_id;
                let reason = match reason {
                    Reason::NotNow => DeclineReason::DeclineNotNow,
                    Reason::Busy => DeclineReason::DeclineBusy,
                    Reason::OtherGame => DeclineReason::DeclineOtherGame,
                    Reason::OtherRules => DeclineReason::DeclineOtherRules,
                    Reason::Later => DeclineReason::DeclineLater,
                };
                let answer = control::AnswerInvite { invite_id, accept: false, reason: reason.into() };
                self.ask_done(request::Body::AnswerInvite(answer)).await
            }
            Command::Rules { game, friend } => self.rules(&game, friend).await,
            Command::New { game, opponent, player, colour, pace, engine_seconds } => {
                self.new_match(&game, [player, opponent], colour, &pace, engine_seconds).await
            }
            Command::Engine(command) => self.engine(command).await,
            Command::Guest(command) => self.guest(command).await,
            Command::Club(command) => self.club(command).await,
            Command::Play { action, room } => {
                let room = self.room(room.room.as_deref(), |room| room.can_act)?;
                let act = control::Act { room_id: room.id.clone(), action: None, notation: action };
                self.host.ask(request::Body::Act(act)).await?;
                self.print_room(&room.id)
            }
            Command::Hint { lines, engine, room } => self.hint(lines, engine, room.room.as_deref()).await,
            Command::Board { room } => {
                let room = self.room(room.room.as_deref(), |_| true)?;
                self.print(
                    || {
                        format!(
                            "{}{}",
                            board_text::text(&room.board.clone().unwrap_or_default()),
                            text::room(&room)
                        )
                    },
                    || json::board(&room),
                )
            }
            Command::Watch { scan } => self.watch(scan).await,
            Command::Bot { level, wait, room } => self.bot(level, wait, room.room.as_deref()).await,
            Command::TakeBack { room } => self.offer(OfferKind::OfferTakeBack, room.room.as_deref()).await,
            Command::Draw { room } => self.offer(OfferKind::OfferDraw, room.room.as_deref()).await,
            Command::NewGame { same_colours: true, room } => {
                self.offer(OfferKind::OfferNewGameSame, room.room.as_deref()).await
            }
            Command::NewGame { same_colours: false, room } => {
                self.offer(OfferKind::OfferNewGame, room.room.as_deref()).await
            }
            Command::Pause { room } => self.offer(OfferKind::OfferPause, room.room.as_deref()).await,
            Command::Continue { room } => self.offer(OfferKind::OfferContinue, room.room.as_deref()).await,
            Command::Adjourn { room } => self.offer(OfferKind::OfferAdjourn, room.room.as_deref()).await,
            Command::Analyse { step, room } => self.analyse(step, room.room.as_deref()).await,
            Command::Resign { side, room } => {
                let room = self.room(room.room.as_deref(), |room| room.can_resign)?;
                let side = match side {
                    None => Side::Unspecified,
                    Some(SideChoice::First) => Side::First,
                    Some(SideChoice::Second) => Side::Second,
                };
                let resign = control::Resign { room_id: room.id.clone(), side: side.into() };
                self.host.ask(request::Body::Resign(resign)).await?;
                self.print_room(&room.id)
            }
            Command::Yes { room } => self.answer_offer(true, room.room.as_deref()).await,
            Command::No { room } => self.answer_offer(false, room.room.as_deref()).await,
            Command::Say { text, phrase, room } => {
                let room_id = self.room(room.room.as_deref(), has_somebody)?.id;
                if !phrase && text.chars().count() > proto::limits::SAID_CHARS {
                    let most = proto::limits::SAID_CHARS;
                    return Err(Failure::Usage(format!("at most {most} characters can be said at once")));
                }
                let say = if phrase {
                    let phrase = words::read_phrase(&text).map_err(Failure::Usage)?.into();
                    control::Say { room_id, phrase, text: String::new() }
                } else {
                    control::Say { room_id, phrase: 0, text }
                };
                self.ask_done(request::Body::Say(say)).await
            }
            Command::Mute { who, off } => {
                let peer = self.friend(&who)?;
                self.ask_done(request::Body::SetMuted(control::SetMuted { peer, muted: !off })).await
            }
            Command::TakeTheirs { room } => {
                let room_id = self.room(room.room.as_deref(), |room| room.differs)?.id;
                self.ask_done(request::Body::TakeTheirs(control::TakeTheirs { room_id })).await
            }
            Command::Puzzles { game, yours, make } => self.puzzles(game, yours, make).await,
            Command::Puzzle { which, game, yours, today } => self.puzzle(which, game, (yours, today)).await,
            Command::Rooms => {
                let rooms: Vec<Room> = self.host.state().rooms.values().cloned().collect();
                rooms.iter().try_for_each(|room| self.print(|| text::room(room), || json::room(room)))
            }
            Command::Matches { limit } => self.matches(limit).await,
            Command::Explore { id, ply } => self.explore(&id, ply).await,
            Command::Resume { id } => self.resume(&id).await,
            Command::Close { room } => {
                let room_id = self.room(room.room.as_deref(), |_| true)?.id;
                self.ask_done(request::Body::CloseRoom(control::CloseRoom { room_id })).await
            }
            Command::Name { name } => {
                if let Some(name) = name {
                    self.host.ask(request::Body::SetName(control::SetName { name })).await?;
                }
                self.print_me()
            }
            Command::Visibility { to } => {
                if let Some(to) = to {
                    let visibility = match to {
                        VisibilityChoice::Nobody => Visibility::Nobody,
                        VisibilityChoice::Friends => Visibility::Friends,
                        VisibilityChoice::Everyone => Visibility::Everyone,
                    };
                    let set = control::SetVisibility { visibility: visibility.into() };
                    self.host.ask(request::Body::SetVisibility(set)).await?;
                }
                self.print_me()
            }
            Command::Device(command) => self.device(command).await,
            Command::Stop => self.ask_done(request::Body::Stop(control::Stop {})).await,
        }
    }

    async fn doctor(&mut self) -> Result<(), Failure> {
        let reply::Body::Diagnosis(diagnosis) =
            self.host.ask(request::Body::Diagnose(control::Diagnose {})).await?
        else {
            return Err(unexpected());
        };
        for check in &diagnosis.checks {
            let text = || {
                let mark = match check.state() {
                    CheckState::CheckOk => "ok     ",
                    CheckState::CheckWarning => "warning",
                    CheckState::CheckFailed => "FAILED ",
                };
                let remedy = if check.remedy.is_empty() {
                    String::new()
                } else {
                    format!("\n         -> {}", check.remedy)
                };
                format!("{mark}  {}: {}{remedy}", check.subject, check.found)
            };
            self.print(text, || json::check(check))?;
        }
        if diagnosis.checks.iter().any(|check| check.state() == CheckState::CheckFailed) {
            return Err(Failure::Unwell);
        }
        Ok(())
    }

    async fn watch(&mut self, scan: bool) -> Result<(), Failure> {
        if scan {
            self.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        }
        // The present state is printed first, as the events that lead to it.
        for event in self.host.state().replicate() {
            self.print_event(&event)?;
        }
        while let Some(event) = self.host.next_until(forever()).await? {
            self.print_event(&event)?;
        }
        Ok(())
    }

    fn print_event(&self, event: &Event) -> Result<(), Failure> {
        let text = || match &event.body {
            Some(event::Body::Room(room)) => text::room(room),
            Some(event::Body::Comparison(comparison)) => comparison_text(comparison),
            Some(event::Body::Notice(notice)) if notice.kind() == NoticeKind::NoticeDiskFull => {
                format!("cannot save, play stops: {}", notice.detail)
            }
            _ => {
                let mut value = json::event(event);
                let kind = value["event"].as_str().unwrap_or("?").to_owned();
                if let Some(fields) = value.as_object_mut() {
                    fields.remove("event");
                    fields.remove("t_us");
                }
                format!("{kind} {value}")
            }
        };
        self.print(text, || json::event(event))
    }
}
