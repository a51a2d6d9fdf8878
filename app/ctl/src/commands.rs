//! What each command asks, waits for and prints.

use std::io::Write as _;
use std::time::Duration;

use proto::board::Side;
use proto::control::{
    self, AccountState, CheckState, ColourChoice, ComparisonEnd, ConnectState, Event, Invitation,
    InvitationEnd, NoticeKind, OfferKind, RadioState, Room, Seat, Visibility, event, reply, request, seat,
};
use proto::peer::DeclineReason;
use proto::short_string::PICTURES;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::arguments::{
    AnalysisStep, Arguments, Colour, Command, ContactDeed, GameChoice, LocalSeat, Reason, SideChoice,
    TermsChoice, VisibilityChoice,
};
use crate::connection::{Connection, Failure, State};
use crate::{board as board_text, json, pace, words};

/// An invitation is open for a minute; the answer may take its own time on the air.
const ANSWER_SECONDS: u64 = 75;

/// Time for the two people at both screens to compare their strings before an invitation can be sent.
const COMPARE_SECONDS: u64 = 180;

/// No deadline: until interrupted or the daemon goes.
fn forever() -> Instant {
    Instant::now() + Duration::from_hours(365 * 24)
}

fn within(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

pub(crate) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let path = arguments
        .socket
        .or_else(link::control_socket)
        .ok_or_else(|| Failure::Usage("XDG_RUNTIME_DIR is not set: say --socket".into()))?;
    let host = Connection::open(&path).await?;
    let mut session = Conversation { host, json: arguments.json };
    session.run(arguments.command).await
}

pub(crate) struct Conversation {
    pub(crate) host: Connection,
    json: bool,
}

impl Conversation {
    async fn run(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Doctor => self.doctor().await,
            Command::PowerOn => self.ask_done(request::Body::PowerOn(control::PowerOn {})).await,
            Command::Scan { seconds } => self.scan(seconds).await,
            Command::Meet { who, patience } => self.meet(&who, patience.seconds).await,
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
            Command::Contacts => self.host.state.contacts.values().try_for_each(|one| {
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
                self.invite(&theirs.name, invite, no_wait, within(ANSWER_SECONDS)).await
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
            Command::New { game, opponent, player, colour, pace } => {
                self.new_match(&game, opponent, player, colour, &pace).await
            }
            Command::Play { action, room } => {
                let room = self.room(room.room.as_deref(), |room| room.can_act)?;
                let act = control::Act { room_id: room.id.clone(), action: None, notation: action };
                self.host.ask(request::Body::Act(act)).await?;
                self.print_room(&room.id)
            }
            Command::Hint { lines, room } => self.hint(lines, room.room.as_deref()).await,
            Command::Board { room } => {
                let room = self.room(room.room.as_deref(), |_| true)?;
                self.print(
                    || {
                        format!(
                            "{}{}",
                            board_text::text(&room.board.clone().unwrap_or_default()),
                            words::room(&room)
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
                let room_id = self.room(room.room.as_deref(), |room| room.link.is_some())?.id;
                if !phrase && text.chars().count() > proto::limits::SAID_CHARS {
                    let most = proto::limits::SAID_CHARS;
                    return Err(Failure::Usage(format!("at most {most} characters can be said at once")));
                }
                let say = if phrase {
                    let phrase = words::read_phrase(&text)?.into();
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
            Command::Puzzles { game } => self.puzzles(game).await,
            Command::Puzzle { which, game } => self.puzzle(which, game).await,
            Command::Rooms => {
                let rooms: Vec<Room> = self.host.state.rooms.values().cloned().collect();
                rooms.iter().try_for_each(|room| self.print(|| words::room(room), || json::room(room)))
            }
            Command::Matches { limit } => self.matches(limit).await,
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

    // Printing.

    pub(crate) fn print(
        &self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        let line = if self.json { json().to_string() } else { text() };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", line.trim_end_matches('\n'))
            .and_then(|()| out.flush())
            .map_err(|_| Failure::NobodyReads)
    }

    pub(crate) async fn ask_done(&mut self, body: request::Body) -> Result<(), Failure> {
        self.host.ask(body).await?;
        self.print(|| "done".into(), || json!({"done": true}))
    }

    fn print_me(&self) -> Result<(), Failure> {
        let me = &self.host.state.me;
        let visibility = words::visibility(me.visibility);
        self.print(
            || format!("{}, seen by {visibility}, {}", me.name, me.fingerprint),
            || json!({"name": me.name, "visibility": visibility, "fingerprint": me.fingerprint}),
        )
    }

    pub(crate) fn print_room(&self, id: &str) -> Result<(), Failure> {
        match self.host.state.rooms.get(id) {
            Some(room) => self.print(|| words::room(room), || json::room(room)),
            None => Ok(()),
        }
    }

    // Finding what a person means.

    /// The room of this id, or the only one that fits.
    fn room(&self, id: Option<&str>, fits: impl Fn(&Room) -> bool) -> Result<Room, Failure> {
        let rooms = &self.host.state.rooms;
        let mut found: Vec<&Room> = match id {
            Some(id) => rooms.values().filter(|room| room.id.starts_with(id)).collect(),
            None => rooms.values().filter(|room| fits(room)).collect(),
        };
        if id.is_none() && found.is_empty() && rooms.len() == 1 {
            // The host says better than we could why it does not fit.
            found = rooms.values().collect();
        }
        match found.as_slice() {
            [room] => Ok((*room).clone()),
            [] => Err(Failure::NotToBe("there is no such room".into())),
            _ => Err(Failure::Usage("several rooms are open: say which with --room".into())),
        }
    }

    pub(crate) fn friend(&self, who: &str) -> Result<String, Failure> {
        let friends = &self.host.state.friends;
        if friends.contains_key(who) {
            return Ok(who.into());
        }
        let named: Vec<_> = friends.values().filter(|friend| friend.name == who).collect();
        match named.as_slice() {
            [friend] => Ok(friend.id.clone()),
            [] => Err(Failure::NotToBe(format!("no friend is called {who}"))),
            _ => Err(Failure::Usage(format!("several friends are called {who}: say the id"))),
        }
    }

    /// The id of a friend or of a device nearby; looks around for it until the deadline.
    async fn somebody(&mut self, who: &str, deadline: Instant) -> Result<String, Failure> {
        if let Ok(friend) = self.friend(who) {
            return Ok(friend);
        }
        self.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        loop {
            let nearby = &self.host.state.nearby;
            if nearby.contains_key(who) {
                return Ok(who.into());
            }
            let named: Vec<_> = nearby.values().filter(|one| one.name == who).collect();
            match named.as_slice() {
                [one] => return Ok(one.id.clone()),
                [] => {}
                _ => return Err(Failure::Usage(format!("several devices are called {who}: say the id"))),
            }
            if self.host.next_until(deadline).await?.is_none() {
                return Err(Failure::NotToBe(format!("{who} is not in reach{}", self.radio_trouble())));
            }
        }
    }

    /// What keeps every radio from working, if it is so; empty otherwise.
    fn radio_trouble(&self) -> String {
        let radios = &self.host.state.radios;
        let works = |state: RadioState| {
            matches!(
                state,
                RadioState::RadioReady | RadioState::RadioTakingTurns | RadioState::RadioNoAdvertising
            )
        };
        match radios.values().next() {
            None => ": the daemon was started without any carrier".into(),
            Some(radio) if !radios.values().any(|radio| works(radio.state())) => {
                format!(": {}, see `qiyouctl doctor`", words::radio(radio.state).replace('_', " "))
            }
            Some(_) => String::new(),
        }
    }

    fn invitation(&self, which: Option<&str>, mine: bool) -> Result<Invitation, Failure> {
        let fits = |one: &&Invitation| {
            one.mine == mine
                && which.is_none_or(|which| {
                    one.invite_id.starts_with(which) || one.name == which || one.peer == which
                })
        };
        let found: Vec<_> = self.host.state.invitations.values().filter(fits).collect();
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(Failure::NotToBe("there is no such invitation".into())),
            _ => Err(Failure::Usage("several invitations are open: say which".into())),
        }
    }

    // Commands.

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

    async fn scan(&mut self, seconds: u64) -> Result<(), Failure> {
        let deadline = within(seconds);
        self.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        while let Some(event) = self.host.next_until(deadline).await? {
            match &event.body {
                Some(event::Body::Nearby(one)) => self.print(
                    || {
                        let friend = if one.is_friend { ", a friend" } else { "" };
                        let name = if one.name.is_empty() { "(no name)" } else { &one.name };
                        let signal =
                            if one.rssi_dbm == 0 { String::new() } else { format!("  {} dBm", one.rssi_dbm) };
                        format!("{name}  {}{signal}{friend}  {}", words::carriers(&one.carriers), one.id)
                    },
                    || json::event(&event),
                )?,
                Some(event::Body::NearbyGone(gone)) => {
                    self.print(|| format!("gone: {}", gone.id), || json::event(&event))?;
                }
                Some(event::Body::Radio(radio)) => self.print(
                    || format!("{}: {}", words::carrier(radio.carrier), words::radio(radio.state)),
                    || json::event(&event),
                )?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn meet(&mut self, who: &str, seconds: u64) -> Result<(), Failure> {
        let deadline = within(seconds);
        let peer = self.somebody(who, deadline).await?;
        self.host.ask(request::Body::Meet(control::Meet { peer: peer.clone() })).await?;
        loop {
            if let Some(comparison) =
                self.host.state.comparisons.values().find(|one| one.peer == peer || one.name == who)
            {
                return self.print(|| comparison_text(comparison), || json::comparison(comparison));
            }
            if let Some(connecting) = self.host.state.connecting.get(&peer) {
                match connecting.state() {
                    ConnectState::ConnectUp if self.is_friend(&peer, who) => {
                        return self.print(|| "connected".into(), || json::connecting(connecting));
                    }
                    ConnectState::ConnectFailed => {
                        return Err(Failure::NotToBe(format!("{who} could not be reached")));
                    }
                    _ => {}
                }
            }
            if self.host.next_until(deadline).await?.is_none() {
                return Err(Failure::NotToBe(format!("{who} did not answer in time")));
            }
        }
    }

    fn is_friend(&self, peer: &str, who: &str) -> bool {
        let state = &self.host.state;
        state.friends.contains_key(peer)
            || state.friends.values().any(|friend| friend.name == who && friend.connected)
            || state.nearby.get(peer).is_some_and(|one| one.is_friend)
    }

    async fn compare(&mut self, who: Option<String>, same: bool, wait: u64) -> Result<(), Failure> {
        let deadline = within(wait);
        let found = loop {
            let comparisons = self.host.state.comparisons.values();
            let found: Vec<_> = comparisons
                .filter(|one| who.as_deref().is_none_or(|who| one.name == who || one.peer == who))
                .cloned()
                .collect();
            if found.is_empty() && self.host.next_until(deadline).await?.is_some() {
                continue;
            }
            break found;
        };
        let comparison = match found.as_slice() {
            [one] => one.clone(),
            [] => return Err(Failure::NotToBe("there is nothing to compare".into())),
            _ => return Err(Failure::Usage("several strings are to be compared: say with whom".into())),
        };
        let peer = comparison.peer.clone();
        // Who has said "the same" before, and comes back to wait, need not say it again.
        if !(same && comparison.answered_here) {
            self.host.ask(request::Body::Compare(control::Compare { peer: peer.clone(), same })).await?;
        }
        if !same || wait == 0 {
            return self.print(|| "done".into(), || json!({"done": true, "peer": peer}));
        }
        // How it ended is said by its end alone, in whatever order other events come.
        while let Some(event) = self.host.next_until(deadline).await? {
            let Some(event::Body::ComparisonGone(gone)) = &event.body else { continue };
            if gone.id != peer {
                continue;
            }
            return match gone.end() {
                ComparisonEnd::ComparisonFriends => self.print(
                    || format!("{} is a friend now", comparison.name),
                    || json!({"done": true, "peer": peer, "name": comparison.name, "end": "friends"}),
                ),
                ComparisonEnd::ComparisonDifferent => {
                    Err(Failure::NotToBe("the other person did not say the same".into()))
                }
                ComparisonEnd::Unspecified => {
                    Err(Failure::NotToBe("the connection was lost before the other person answered".into()))
                }
            };
        }
        Err(Failure::NotToBe("the other person has not answered yet".into()))
    }

    async fn account(
        &mut self,
        name: Option<String>,
        make: bool,
        server: String,
        wait: u64,
    ) -> Result<(), Failure> {
        if let Some(account) = name {
            let mut password = String::new();
            std::io::stdin().read_line(&mut password).map_err(|error| Failure::Other(error.to_string()))?;
            let password = password.trim_end_matches(['\r', '\n']).to_owned();
            let sign_in = control::SignIn { account, password, make_it: make, server };
            self.host.ask(request::Body::SignIn(sign_in)).await?;
            let deadline = within(wait);
            let busy = |state: &State| {
                state.account.as_ref().is_some_and(|one| one.state() == AccountState::AccountConnecting)
            };
            while busy(&self.host.state) && self.host.next_until(deadline).await?.is_some() {}
        }
        let Some(account) = &self.host.state.account else {
            return Err(Failure::NotToBe("this daemon was built without online play".into()));
        };
        let text = || {
            let sentence = account.sentence.as_ref().map_or("", |words| words.en.as_str());
            let name = if account.account.is_empty() { "no account" } else { &account.account };
            format!("{name}: {}. {sentence}", words::account_state(account.state).replace('_', " "))
        };
        self.print(text, || json::account(account))
    }

    async fn code(&mut self, plain: bool) -> Result<(), Failure> {
        let asked = request::Body::ShowFriendCode(control::ShowFriendCode {});
        let reply::Body::FriendCode(code) = self.host.ask(asked).await? else { return Err(unexpected()) };
        let qr = words::qr(&code);
        self.print(
            || if plain { code.text.clone() } else { format!("{qr}\n{}", code.text) },
            || json!({"code": code.text, "side": code.side, "qr": qr}),
        )
    }

    fn friends(&self) -> Result<(), Failure> {
        self.host.state.friends.values().try_for_each(|friend| {
            let text = || {
                let reach = match (friend.connected, friend.near) {
                    (true, _) => format!(", connected by {}", words::carrier(friend.carrier)),
                    (false, true) => format!(", near by {}", words::carrier(friend.carrier)),
                    (false, false) => match friend.met_by() {
                        control::Carrier::Unspecified => String::new(),
                        met_by => format!(", first met by {}", words::carrier(met_by.into())),
                    },
                };
                let note =
                    if friend.note.is_empty() { String::new() } else { format!("  ({})", friend.note) };
                format!("{}{reach}  {}{note}", friend.name, friend.id)
            };
            self.print(text, || json::friend(friend))
        })
    }

    async fn invite(
        &mut self,
        who: &str,
        invite: control::Invite,
        no_wait: bool,
        mut deadline: Instant,
    ) -> Result<(), Failure> {
        let reply::Body::InviteId(mut id) = self.host.ask(request::Body::Invite(invite)).await? else {
            return Err(unexpected());
        };
        if no_wait {
            return self.print(|| format!("invited: {id}"), || json!({"invite_id": id}));
        }
        let mut sent = false;
        while let Some(event) = self.host.next_until(deadline).await? {
            match &event.body {
                // Both have invited, and the other's stands: for the same it is accepted with that, for something else it asks.
                Some(event::Body::InvitationGone(gone))
                    if gone.invite_id == id
                        && gone.end() == InvitationEnd::InvitationWithdrawn
                        && !gone.countered_by.is_empty() =>
                {
                    id.clone_from(&gone.countered_by);
                }
                Some(event::Body::Invitation(theirs)) if theirs.invite_id == id && !theirs.mine => {
                    let by = theirs.invite_id.get(..8).unwrap_or_default();
                    return Err(Failure::NotToBe(format!(
                        "{who} asked at the same time, see `qiyouctl invitations` for theirs, {by}"
                    )));
                }
                Some(event::Body::Room(room)) if room.id == id => {
                    let end = InvitationEnd::InvitationAccepted.into();
                    let room_id = room.id.clone();
                    let gone = control::InvitationGone { invite_id: id, end, room_id, ..Default::default() };
                    return self.invitation_over(&gone);
                }
                Some(event::Body::InvitationGone(gone)) if gone.invite_id == id => {
                    return self.invitation_over(gone);
                }
                Some(event::Body::Comparison(comparison)) if !comparison.answered_here => {
                    deadline = deadline.max(within(COMPARE_SECONDS));
                    self.print(|| comparison_text(comparison), || json::event(&event))?;
                }
                Some(event::Body::Connecting(connecting))
                    if connecting.state() == ConnectState::ConnectUp && !sent =>
                {
                    sent = true;
                    deadline = deadline.max(within(ANSWER_SECONDS));
                }
                Some(event::Body::Friend(friend)) if friend.connected => {
                    deadline = deadline.max(within(ANSWER_SECONDS));
                }
                _ => {}
            }
        }
        Err(Failure::NotToBe(format!("{who} has not answered")))
    }

    fn invitation_over(&self, gone: &control::InvitationGone) -> Result<(), Failure> {
        if gone.end() == InvitationEnd::InvitationAccepted {
            return self.print(
                || format!("accepted: room {}", gone.room_id),
                || json!({"end": "accepted", "room_id": gone.room_id, "invite_id": gone.invite_id}),
            );
        }
        let reason = match gone.reason() {
            DeclineReason::DeclineUnspecified => String::new(),
            _ => format!(" ({})", words::decline_reason(gone.reason)),
        };
        let by = match gone.countered_by.get(..8) {
            Some(by) => format!(", see `qiyouctl invitations` for theirs, {by}"),
            None => String::new(),
        };
        let end = words::invitation_end(gone.end);
        Err(Failure::NotToBe(format!("the invitation ended: {end}{reason}{by}")))
    }

    fn invitations(&self) -> Result<(), Failure> {
        self.host.state.invitations.values().try_for_each(|one| {
            let text = || {
                let to = if one.mine { "to" } else { "from" };
                let side = match one.my_side() {
                    Side::Unspecified => "colours are drawn".into(),
                    side => format!("you play {}", words::side(side.into())),
                };
                let id = one.invite_id.get(..8).unwrap_or(&one.invite_id);
                let pace = pace::text(one.pace.as_ref());
                format!("{id}  {to} {}: {}, clock {pace}, {side}", one.name, words::setup(one.setup.as_ref()))
            };
            self.print(text, || json::invitation(one))
        })
    }

    async fn accept(&mut self, which: Option<&str>, wait: u64) -> Result<(), Failure> {
        let deadline = within(wait);
        let invitation = loop {
            match self.invitation(which, false) {
                Err(Failure::NotToBe(why)) => {
                    if self.host.next_until(deadline).await?.is_none() {
                        return Err(Failure::NotToBe(why));
                    }
                }
                found => break found?,
            }
        };
        let invite_id = invitation.invite_id;
        let answer = control::AnswerInvite { invite_id: invite_id.clone(), accept: true, reason: 0 };
        self.host.ask(request::Body::AnswerInvite(answer)).await?;
        let deadline = within(ANSWER_SECONDS);
        while let Some(event) = self.host.next_until(deadline).await? {
            if let Some(event::Body::InvitationGone(gone)) = &event.body
                && gone.invite_id == invite_id
            {
                return self.invitation_over(gone);
            }
        }
        Err(Failure::NotToBe("the match did not begin".into()))
    }

    async fn new_match(
        &mut self,
        game: &GameChoice,
        opponent: LocalSeat,
        player: LocalSeat,
        colour: Colour,
        pace: &str,
    ) -> Result<(), Failure> {
        let pace = pace::parse(pace).map_err(Failure::Usage)?;
        let second = match colour {
            Colour::Alternate => {
                return Err(Failure::Usage("colours alternate in matches with another device".into()));
            }
            Colour::First => false,
            Colour::Second => true,
            // A coin need not be fair to the last bit where nobody is cheated.
            Colour::Random => std::process::id().is_multiple_of(2),
        };
        let (player, opponent) = (local_seat(player), local_seat(opponent));
        let (first, second) = if second { (opponent, player) } else { (player, opponent) };
        let open = control::OpenRoom {
            first: Some(first),
            second: Some(second),
            choice: Some(choice(game)),
            pace,
            ..control::OpenRoom::default()
        };
        let reply::Body::RoomId(id) = self.host.ask(request::Body::OpenRoom(open)).await? else {
            return Err(unexpected());
        };
        self.print(|| format!("room {id}"), || json!({"room_id": id}))
    }

    async fn rules(&mut self, game: &GameChoice, with_peer: bool) -> Result<(), Failure> {
        let describe = control::Describe { choice: Some(choice(game)), with_peer, ..Default::default() };
        let reply::Body::Sheet(sheet) = self.host.ask(request::Body::Describe(describe)).await? else {
            return Err(unexpected());
        };
        self.print(|| words::sheet(&sheet), || json::sheet(&sheet))
    }

    async fn hint(&mut self, lines: u32, room: Option<&str>) -> Result<(), Failure> {
        let room_id = self.room(room, |room| room.can_act)?.id;
        let ask = request::Body::Hint(control::Hint { room_id, lines });
        let reply::Body::Hint(hint) = self.host.ask(ask).await? else { return Err(unexpected()) };
        self.print(|| words::hint(&hint), || json::hint(&hint))
    }

    async fn watch(&mut self, scan: bool) -> Result<(), Failure> {
        if scan {
            self.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        }
        // The state came before: it is told as the events that would lead to it.
        for body in self.present() {
            self.print_event(&Event { body: Some(body), monotonic_us: 0 })?;
        }
        while let Some(event) = self.host.next_until(forever()).await? {
            self.print_event(&event)?;
        }
        Ok(())
    }

    fn present(&self) -> Vec<event::Body> {
        let state = &self.host.state;
        let mut all = vec![event::Body::Me(state.me.clone())];
        all.extend(state.radios.values().cloned().map(event::Body::Radio));
        all.extend(state.friends.values().cloned().map(event::Body::Friend));
        all.extend(state.blocked.values().cloned().map(event::Body::Blocked));
        all.extend(state.nearby.values().cloned().map(event::Body::Nearby));
        all.extend(state.comparisons.values().cloned().map(event::Body::Comparison));
        all.extend(state.invitations.values().cloned().map(event::Body::Invitation));
        all.extend(state.rooms.values().cloned().map(event::Body::Room));
        all.extend(state.account.clone().map(event::Body::Account));
        all.extend(state.contacts.values().cloned().map(event::Body::Contact));
        all.push(event::Body::Ready(control::Ready {}));
        all
    }

    fn print_event(&self, event: &Event) -> Result<(), Failure> {
        let text = || match &event.body {
            Some(event::Body::Room(room)) => words::room(room),
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

    async fn bot(&mut self, level: u32, wait: u64, room: Option<&str>) -> Result<(), Failure> {
        let deadline = within(wait);
        let plays_here = |room: &Room| room.result.is_none() && side_here(room).is_some();
        let room = loop {
            let found = self.room(room, plays_here).and_then(|room| {
                if plays_here(&room) {
                    Ok(room)
                } else {
                    Err(Failure::NotToBe("no match goes on there".into()))
                }
            });
            match found {
                Err(Failure::NotToBe(why)) => {
                    if self.host.next_until(deadline).await?.is_none() {
                        return Err(Failure::NotToBe(why));
                    }
                }
                found => break found?,
            }
        };
        let id = room.id.clone();
        let side = side_here(&room).ok_or_else(unexpected)?;
        let seat = Seat { who: Some(seat::Who::BotLevel(level)), name: String::new(), bot_assists: true };
        let set = control::SetSeat { room_id: id.clone(), side: side.into(), seat: Some(seat) };
        self.host.ask(request::Body::SetSeat(set)).await?;
        let mut told = room.record.len();
        loop {
            let Some(room) = self.host.state.rooms.get(&id).cloned() else {
                return Err(Failure::NotToBe("the room was closed".into()));
            };
            told = told.min(room.record.len());
            for (ply, action) in (1..).zip(&room.record).skip(told) {
                self.print(|| format!("{ply}. {action}"), || json!({"ply": ply, "action": action}))?;
            }
            told = room.record.len();
            if let Some(over) = &room.result {
                let value = json!({"room_id": id, "ply": told, "result": json::result(*over),
                    "digest": json::digest(room.digest), "revision": room.revision, "record": room.record});
                return self.print(|| words::result(*over), || value);
            }
            self.host.next_until(forever()).await?;
        }
    }

    async fn offer(&mut self, kind: OfferKind, room: Option<&str>) -> Result<(), Failure> {
        let room_id = self
            .room(room, |room| match kind {
                OfferKind::OfferTakeBack => room.can_take_back,
                OfferKind::OfferDraw => room.can_offer_draw,
                OfferKind::OfferNewGame | OfferKind::OfferNewGameSame => room.can_new_game,
                OfferKind::OfferPause => room.can_pause,
                OfferKind::OfferContinue => room.can_continue,
                OfferKind::OfferAdjourn => room.can_adjourn,
                OfferKind::OfferUnspecified => false,
            })?
            .id;
        let offer = control::Offer { room_id: room_id.clone(), kind: kind.into() };
        match self.host.ask(request::Body::Offer(offer)).await? {
            reply::Body::RoomId(new) => self.print(|| format!("room {new}"), || json!({"room_id": new})),
            _ => self.print(|| "done".into(), || json!({"done": true, "room_id": room_id})),
        }
    }

    async fn analyse(&mut self, step: AnalysisStep, room: Option<&str>) -> Result<(), Failure> {
        use control::analyse::Step;
        let room_id = self.room(room, |room| room.can_analyse)?.id;
        let step = match step {
            AnalysisStep { to: Some(ply), .. } => Step::ToPly(ply),
            AnalysisStep { try_: Some(action), .. } => Step::TryNotation(action),
            AnalysisStep { back: true, .. } => Step::Back(true),
            AnalysisStep { .. } => Step::Close(true),
        };
        let analyse = control::Analyse { room_id: room_id.clone(), step: Some(step) };
        self.host.ask(request::Body::Analyse(analyse)).await?;
        let room = self.host.state.rooms.get(&room_id).cloned().unwrap_or_default();
        let shown = room.analysis.as_ref();
        let board = shown.and_then(|shown| shown.board.clone()).or_else(|| room.board.clone());
        self.print(
            || {
                let at = match shown {
                    None => "the end of the record".into(),
                    Some(shown) => format!("ply {} {}", shown.ply, shown.tried.join(" ")),
                };
                format!("{}{}", board_text::text(&board.unwrap_or_default()), at.trim_end())
            },
            || json!({"room_id": room_id, "analysis": json::analysis(shown)}),
        )
    }

    async fn answer_offer(&mut self, accept: bool, room: Option<&str>) -> Result<(), Failure> {
        let room_id = self.room(room, |room| room.offer.as_ref().is_some_and(|offer| !offer.mine))?.id;
        self.ask_done(request::Body::AnswerOffer(control::AnswerOffer { room_id, accept })).await
    }

    async fn list(&mut self, limit: u32) -> Result<Vec<control::MatchSummary>, Failure> {
        match self
            .host
            .ask(request::Body::ListMatches(control::ListMatches { limit, ..Default::default() }))
            .await?
        {
            reply::Body::Matches(list) => Ok(list.matches),
            _ => Err(unexpected()),
        }
    }

    async fn matches(&mut self, limit: u32) -> Result<(), Failure> {
        for one in self.list(limit).await? {
            let text = || {
                let state =
                    one.result.as_ref().map_or_else(|| "unfinished".into(), |over| words::result(*over));
                let id = one.room_id.get(..8).unwrap_or(&one.room_id);
                let (first, second) = (words::seat(one.first.as_ref()), words::seat(one.second.as_ref()));
                let setup = words::setup(one.setup.as_ref());
                format!("{id}  {first} - {second}: {setup}: {} plies, {state}", one.ply)
            };
            self.print(text, || json::summary(&one))?;
        }
        Ok(())
    }

    async fn resume(&mut self, id: &str) -> Result<(), Failure> {
        const LOOKED_AT: u32 = 100;
        let all = self.list(LOOKED_AT).await?;
        let found: Vec<_> = all.iter().filter(|one| one.room_id.starts_with(id)).collect();
        let room_id = match found.as_slice() {
            [one] => one.room_id.clone(),
            [] => return Err(Failure::NotToBe("there is no such match".into())),
            _ => return Err(Failure::Usage("several matches begin so: say more of the id".into())),
        };
        let resume = control::ResumeRoom { room_id: room_id.clone() };
        self.host.ask(request::Body::ResumeRoom(resume)).await?;
        self.print_room(&room_id)
    }
}

pub(crate) fn unexpected() -> Failure {
    Failure::Other("the daemon's answer is not what was asked for".into())
}

fn comparison_text(comparison: &control::Comparison) -> String {
    let pictures: Vec<String> = comparison
        .emoji
        .iter()
        .filter_map(|number| PICTURES.get(*number as usize))
        .map(|picture| format!("{} {}", picture.emoji, picture.english))
        .collect();
    let warning =
        if comparison.known_name_new_key { "\nCareful: a friend has this name and another key." } else { "" };
    format!(
        "Does {} see the same?  {}   {}\nThen say `qiyouctl same`, else `qiyouctl different`.{warning}",
        comparison.name,
        pictures.join("  "),
        comparison.digits
    )
}

/// The side that this device's person has, whether a bot assists or not.
fn side_here(room: &Room) -> Option<Side> {
    let here = |seat: Option<&Seat>| match seat {
        None => true,
        Some(seat) => matches!(seat.who, None | Some(seat::Who::Here(_))) || seat.bot_assists,
    };
    if here(room.first.as_ref()) {
        Some(Side::First)
    } else if here(room.second.as_ref()) {
        Some(Side::Second)
    } else {
        None
    }
}

fn local_seat(seat: LocalSeat) -> Seat {
    let who = match seat {
        LocalSeat::Here => seat::Who::Here(true),
        LocalSeat::Bot(level) => seat::Who::BotLevel(level),
    };
    Seat { who: Some(who), name: String::new(), bot_assists: false }
}

/// An invitation to nobody yet.
fn asked_for(game: &GameChoice, terms: &TermsChoice) -> Result<control::Invite, Failure> {
    let colours = match terms.colour {
        Colour::First => ColourChoice::ColourFirst,
        Colour::Second => ColourChoice::ColourSecond,
        Colour::Random => ColourChoice::ColourRandom,
        Colour::Alternate => ColourChoice::ColourAlternate,
    };
    Ok(control::Invite {
        choice: Some(choice(game)),
        colours: colours.into(),
        pace: pace::parse(&terms.pace).map_err(Failure::Usage)?,
        ..control::Invite::default()
    })
}

fn choice(game: &GameChoice) -> control::GameChoice {
    control::GameChoice {
        game: game.game.number().into(),
        preset: game.preset.clone(),
        options: (game.options.iter().cloned())
            .map(|(option, value)| control::ChosenOption { option, value })
            .collect(),
    }
}
