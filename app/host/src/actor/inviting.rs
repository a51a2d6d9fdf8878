//! Sends, shows and answers invitations; the open ones are in `invitations`. Changes club evenings, whose games begin with
//! invitations or in rooms; the evenings are in `clubs`.

use engine::{Setup, Side};
use proto::control::{self, ColourChoice, NoticeKind, RefusalCode, club_player, club_request, event};
use proto::limits;
use proto::peer::{self, DeclineReason};
use session::club::{Club, PlayerKind, ToldClub};
use session::{Command, InvitationEnd, MatchId, MatchRecord, Pace, Refused, Terms, wire};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, notice};
use crate::clubs::{self, Pairing, Way};
use crate::dialing::Target;
use crate::invitations::{self, Invitation, Offered, Wish};
use crate::peer::Peer;
use crate::questions;
use crate::refusal::Refusal;
use crate::responder::{Answer, done, in_room};
use crate::room::{PlayerId, Room};
use crate::setup;
use crate::show;

impl Actor {
    pub(crate) fn invite(&mut self, target: Target, wish: Wish) -> Result<MatchId, Refusal> {
        if self.invitations.is_inviting(&target) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "one invitation is open already"));
        }
        let id = MatchId(self.chance.bytes());
        let key = match &target {
            Target::Friend(key) => {
                Some(*key).filter(|key| self.people.get(key).is_some_and(Peer::session_up))
            }
            Target::Address(_) => None,
        };
        let mut invitation = Invitation::of(target.clone(), wish, Instant::now());
        if let Some(key) = key {
            let terms = self.terms(key, &invitation)?;
            let (my_side, colours) = (terms.colours.my_side(), show::colours(terms.colours));
            self.command(key, Command::Invite { id, terms, counters: invitation.counters })?;
            invitation.mark_sent(my_side, colours, Instant::now());
            self.invitations.insert(id, invitation);
        } else {
            self.invitations.insert(id, invitation);
            self.seek(target);
        }
        self.tell_invitation(id);
        Ok(id)
    }

    /// What a client asks for. A letter is not written to a friend whose version by its last hello could not read it: an answer
    /// could take days. Of a friend who has said no hello nothing is known; that device declines what it cannot
    /// read. To a friend who may be reached now the invitation goes, and the next hello decides.
    pub(crate) fn wish(
        &self,
        target: &Target,
        invite: &control::Invite,
        setup: Setup,
        counters: Option<MatchId>,
    ) -> Result<Wish, Refusal> {
        let wish = Wish::read(invite, setup, counters)?;
        if invite.by_letter
            && let Target::Friend(key) = target
            && !self.people.get(key).is_some_and(Peer::session_up)
            && let Some(capabilities) = self.people.capabilities(*key)
        {
            if wish.hints && !capabilities.hints {
                return Err(Refused::HintsUnknown.into());
            }
            capabilities.check_setup(&wish.setup)?;
        }
        Ok(wish)
    }

    /// The terms of an invitation to this player.
    fn terms(&self, key: PlayerId, invitation: &Invitation) -> Result<Terms, Refusal> {
        Ok(invitation.terms(|| self.journal.last_side(key, invitation.setup.kind()))?)
    }

    /// Handles an invitation of the peer.
    pub(crate) fn invited(&mut self, key: PlayerId, id: MatchId, offered: Offered) {
        let Offered { terms, counters, continued, until } = offered;
        // A counter-offer does not ring, because its user is waiting for the answer. Others are subject to the rate limits.
        let may_ring = counters.is_some()
            || (self.peer_rings(key)
                && (!continued || questions::ask(&mut self.journal, key, self.wall_clock.utc_day())));
        if !may_ring {
            debug!("an invitation does not ring: it is declined");
            let decline = Some(DeclineReason::DeclineNotNow);
            let _ = self.command(key, Command::AnswerInvite { id, decline });
            return;
        }
        let kind = terms.setup.kind();
        let last = || self.journal.last_side(key, kind).ok().flatten();
        let invitation = Invitation::received(key, terms, counters, until, last);
        self.invitations.insert(id, invitation);
        self.tell_invitation(id);
    }

    /// Sends the invitations that waited for the link or for the comparison.
    pub(crate) fn send_invitations(&mut self, key: PlayerId) {
        if !self.people.get(&key).is_some_and(Peer::session_up) {
            return;
        }
        for id in self.invitations.waiting_for(&Target::Friend(key)) {
            let Some(one) = self.invitations.get(id) else { continue };
            let counters = one.counters;
            let done = self.terms(key, one).and_then(|terms| {
                let (my_side, colours) = (terms.colours.my_side(), show::colours(terms.colours));
                self.command(key, Command::Invite { id, terms, counters }).map(|()| (my_side, colours))
            });
            match done {
                Ok((my_side, colours)) => {
                    self.invitations.mark_sent(id, my_side, colours, Instant::now());
                    self.tell_invitation(id);
                }
                Err(refusal) => {
                    debug!(detail = refusal.detail, "an invitation could not be sent");
                    if refusal.code == RefusalCode::RefusalVersion {
                        let name = self.name_of(key);
                        self.notice(control::Notice { name, ..notice(NoticeKind::NoticeUpdateNeeded) });
                    }
                    let end = invitations::unsent(refusal.code);
                    self.invitation_over(id, end);
                }
            }
        }
    }

    /// Handles that the session of this player was rebuilt, without invitations: this device's are sent again, and so are
    /// the peer's.
    pub(crate) fn session_forgotten(&mut self, key: PlayerId) {
        for id in self.invitations.on_session_rebuilt(key, Instant::now()) {
            self.invitation_over(id, control::InvitationEnd::InvitationLinkLost);
        }
    }

    pub(crate) fn end_invitations(&mut self, key: PlayerId) {
        self.invitations_over(&Target::Friend(key), control::InvitationEnd::InvitationDeclined);
    }

    /// Ends the invitations to this target that were never sent.
    pub(crate) fn invitations_over(&mut self, target: &Target, end: control::InvitationEnd) {
        for id in self.invitations.waiting_for(target) {
            self.invitation_over(id, end);
        }
    }

    pub(crate) fn withdraw(&mut self, id: MatchId) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.mine(id).ok_or_else(no_such)?;
        match (one.sent, one.target.clone()) {
            (true, Target::Friend(key)) => self.command(key, Command::Withdraw(id))?,
            (_, target) => self.give_up(&target),
        }
        self.invitation_over(id, control::InvitationEnd::InvitationWithdrawn);
        Ok(())
    }

    /// Answers a received invitation. `decline`: the reason; `None` accepts.
    pub(crate) fn answer_invite(
        &mut self,
        id: MatchId,
        decline: Option<DeclineReason>,
    ) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.theirs(id).ok_or_else(no_such)?;
        let Target::Friend(key) = one.target else { return Err(no_such()) };
        #[cfg(feature = "online")]
        if let Some(record) = one.letter.clone() {
            return self.answer_letter(key, record, decline);
        }
        self.command(key, Command::AnswerInvite { id, decline })?;
        match decline {
            Some(reason) => {
                self.invitation_gone(id, show::invitation_end(InvitationEnd::Declined(reason)));
            }
            // A counter-offer took no token; one too many given back does no harm, because the user has to accept for it.
            None => self.rings.friend_was_welcome(key),
        }
        Ok(())
    }

    pub(crate) fn shown_invitation(&self, id: MatchId) -> Option<control::Invitation> {
        let one = self.invitations.get(id)?;
        Some(one.shown(id, self.target_name(&one.target), Instant::now()))
    }

    pub(crate) fn tell_invitation(&mut self, id: MatchId) {
        if let Some(shown) = self.shown_invitation(id) {
            self.tell(event::Body::Invitation(shown));
        }
    }

    /// Removes an invitation that has ended, and tells clients.
    pub(crate) fn invitation_over(&mut self, id: MatchId, end: control::InvitationEnd) {
        self.invitation_gone(id, control::InvitationGone { end: end.into(), ..Default::default() });
    }

    pub(crate) fn invitation_gone(&mut self, id: MatchId, gone: control::InvitationGone) {
        let Some(gone_one) = self.invitations.remove(id) else { return };
        if gone.end() != control::InvitationEnd::InvitationAccepted {
            let undone = self.clubs.on_invitation_declined(id, &mut self.journal);
            self.club_is_told(undone);
        }
        #[cfg(feature = "online")]
        if gone_one.letter.is_some() {
            self.letter_answered(id);
        }
        #[cfg(not(feature = "online"))]
        drop(gone_one);
        self.show_changes();
        let invite_id = id.to_string();
        self.tell(event::Body::InvitationGone(control::InvitationGone { invite_id, ..gone }));
    }
}

// Club evenings.
impl Actor {
    pub(crate) fn club_asked(&mut self, asked: control::ClubRequest) -> Result<Answer, Refusal> {
        use club_request::Deed;
        let bad = |why: &str| Refusal::new(RefusalCode::RefusalBadRequest, why);
        let deed = asked.deed.ok_or_else(|| bad("this host does not know that change"))?;
        if let Deed::Open(open) = deed {
            let mut setup = self.chosen_setup(open.setup.as_ref(), open.choice.as_ref())?;
            // Odds that were chosen before are between two people.
            if open.choice.as_ref().is_some_and(|choice| choice.start.is_empty()) {
                setup = setup.without_start();
            }
            // The evening is told to friends whose version may not know starts.
            if setup.start().is_some() {
                return Err(bad("the games of an evening have the usual beginning"));
            }
            let (number, gone) = self.clubs.open(&open, setup, &mut self.journal)?;
            self.clubs_gone(&gone);
            self.tell_club(number);
            return Ok(Answer::ClubId(number.to_string()));
        }
        if let Some(number) = self.clubs.meant_told(&asked.club_id) {
            return self.told_club_asked(number, deed);
        }
        let number = self.clubs.meant(&asked.club_id)?;
        let journal = &mut self.journal;
        match deed {
            Deed::Open(_) => unreachable!("it is open"),
            Deed::Add(player) => {
                let (name, kind) = self.club_player(player)?;
                self.clubs.edit(number, &mut self.journal, |club| club.add(&name, kind))?;
            }
            Deed::Remove(player) => {
                let player = u8::try_from(player).unwrap_or(0);
                self.clubs.edit(number, journal, |club| club.remove(player))?;
            }
            Deed::Start(start) => {
                let lots = start.lots.then(|| self.chance.seed());
                self.clubs.edit(number, journal, |club| club.start(lots))?;
            }
            Deed::Begin(at) => {
                let answer = self.begin_pairing(number, at)?;
                self.tell_club(number);
                return Ok(answer);
            }
            Deed::Result(verdict) => self.clubs.decide(number, verdict, journal)?,
            Deed::Finish(_) => self.clubs.edit(number, journal, Club::finish)?,
            Deed::Discard(_) => {
                self.clubs.discard(number, journal)?;
                self.clubs_gone(&[number]);
                self.tell_friends_of_club(number);
                return Ok(done());
            }
        }
        self.tell_club(number);
        Ok(done())
    }

    /// Handles a request about an evening that a friend's device keeps.
    fn told_club_asked(&mut self, number: u32, deed: club_request::Deed) -> Result<Answer, Refusal> {
        use club_request::Deed;
        match deed {
            Deed::Begin(at) => {
                let Pairing { setup, pace, way, .. } = self.clubs.told_pairing(number, at)?;
                self.play_pairing(setup, pace, way).map(|(_, answer)| answer)
            }
            Deed::Discard(_) => {
                self.clubs.hide(number);
                self.clubs_gone(&[number]);
                Ok(done())
            }
            _ => Err(clubs::kept_elsewhere()),
        }
    }

    /// A friend tells an evening on the own list.
    pub(crate) fn club_came(&mut self, from: PlayerId, number: u32, told: Option<ToldClub>) {
        let muted = self.people.get(&from).and_then(|peer| peer.friend.as_ref()).is_none_or(|one| one.muted);
        if muted && told.is_some() {
            return info!("a club evening of a muted friend is not shown");
        }
        let (shown, gone) = self.clubs.on_told(from, number, told);
        self.clubs_gone(&gone);
        if let Some(shown) = shown.and_then(|number| self.clubs.shown(number)) {
            self.tell(event::Body::Club(shown));
        }
    }

    /// A friend has connected, who may have missed changes.
    pub(crate) fn tell_club_to(&mut self, friend: PlayerId) {
        for news in self.clubs.news_for(friend) {
            self.send_club(friend, news);
        }
    }

    fn tell_friends_of_club(&mut self, number: u32) {
        for (friend, news) in self.clubs.news(number) {
            self.send_club(friend, news);
        }
    }

    /// Who is away is told on the next link.
    fn send_club(&mut self, friend: PlayerId, news: peer::Club) {
        if !self.people.get(&friend).is_some_and(Peer::session_up) {
            return;
        }
        // The friend's program could not read it; the evening is told on the next link after an update.
        let setup = wire::read_setup(news.setup.as_ref()).ok();
        let can_read = |setup| {
            self.people
                .get(&friend)
                .is_some_and(|peer| peer.session.peer_capabilities().check_setup(setup).is_ok())
        };
        if setup.as_ref().is_some_and(|setup| !can_read(setup)) {
            let name = self.name_of(friend);
            return self
                .notice_about(friend, control::Notice { name, ..notice(NoticeKind::NoticeUpdateNeeded) });
        }
        match self.command(friend, Command::TellClub(Box::new(news.clone()))) {
            Ok(()) => self.clubs.was_told(friend, &news),
            Err(refusal) => debug!(detail = refusal.detail, "a club evening could not be told"),
        }
    }

    pub(crate) fn clubs_gone(&mut self, numbers: &[u32]) {
        for number in numbers {
            self.close_evening(*number);
            self.tell(event::Body::ClubGone(control::Gone { id: number.to_string() }));
        }
    }

    /// The name and kind of a player that a client adds.
    fn club_player(&self, player: control::ClubPlayer) -> Result<(String, PlayerKind), Refusal> {
        use club_player::Who;
        let (usual, kind) = match player.who {
            Some(Who::Here(_)) => (self.profile.name().to_owned(), PlayerKind::Here),
            Some(Who::Friend(friend)) => {
                let key = self.player(&friend)?;
                (self.name_of(key), PlayerKind::Friend(key.0))
            }
            Some(Who::Guest(_)) => (String::new(), PlayerKind::Guest),
            Some(Who::Nobody(_)) | None => (String::new(), PlayerKind::Nobody),
        };
        let asked = limits::fit_name(&player.name);
        Ok((if asked.is_empty() { usual } else { asked }, kind))
    }

    /// Lets a pairing be played: in a room, or by an invitation whose id becomes that of the match.
    fn begin_pairing(&mut self, number: u32, at: control::ClubBoard) -> Result<Answer, Refusal> {
        let Pairing { setup, pace, room, way } = self.clubs.pairing(number, at)?;
        if let Some(id) = room {
            if self.invitations.contains(id) {
                return Ok(Answer::InviteId(id.to_string()));
            }
            match self.resume_room(&id.to_string()) {
                // The match is deleted, or has never begun.
                Err(refusal) if refusal.code == RefusalCode::RefusalNoSuchRoom => {}
                answer => return answer,
            }
        }
        let (room, answer) = self.play_pairing(setup, pace, way)?;
        self.clubs.begun(number, at, room, &mut self.journal)?;
        Ok(answer)
    }

    /// Opens the room or sends the invitation. Returns its id, if there is one.
    fn play_pairing(
        &mut self,
        setup: Setup,
        pace: Option<Pace>,
        way: Way,
    ) -> Result<(Option<MatchId>, Answer), Refusal> {
        Ok(match way {
            Way::Elsewhere => (None, done()),
            Way::Here(seats) => {
                let (setup, pace) = setup::terms_here(setup, pace, &seats)?;
                let setup = self.drawn(setup);
                let record = MatchRecord::new(MatchId(self.chance.bytes()), setup, Side::First);
                let id = self.begin(record.with_pace(pace), seats, None, false)?;
                (Some(id), in_room(id))
            }
            Way::Invite(key, side) => {
                let colours = match side {
                    _ if setup.is_race() => ColourChoice::ColourRandom,
                    Side::First => ColourChoice::ColourFirst,
                    Side::Second => ColourChoice::ColourSecond,
                };
                let wish = Wish { setup, pace, colours, hints: false, counters: None };
                let id = self.invite(Target::Friend(key), wish)?;
                (Some(id), Answer::InviteId(id.to_string()))
            }
        })
    }

    /// A room has changed: it may be that of a pairing.
    pub(crate) fn tell_club_of_room(&mut self, id: MatchId) {
        if let Some(room) = self.rooms.get(&id) {
            let changed = self.clubs.on_room(room, &mut self.journal);
            self.club_is_told(changed);
        }
    }

    /// Takes the results of pairings whose matches have ended in closed rooms, before anything was written of it.
    pub(crate) fn catch_up_clubs(&mut self) {
        for id in self.clubs.open_matches() {
            let saved = match self.journal.load(id) {
                Ok(saved) => saved.filter(|saved| saved.record.result.is_some()),
                Err(error) => return warn!(%error, "a match of a club evening cannot be read"),
            };
            if let Some(room) = saved.and_then(|saved| Room::new(saved.record, saved.seats).ok())
                && let Err(refusal) = self.clubs.on_room(&room, &mut self.journal)
            {
                warn!(detail = refusal.detail, "a result of a club evening could not be kept");
            }
        }
    }

    fn club_is_told(&mut self, changed: Result<Option<u32>, Refusal>) {
        match changed {
            Ok(Some(number)) => {
                info!(number, "a pairing of a club evening has changed");
                self.tell_club(number);
            }
            Ok(None) => {}
            // The room stays as it is, and tells it again when it changes or at the next start.
            Err(refusal) => warn!(detail = refusal.detail, "a club evening could not be kept"),
        }
    }

    fn tell_club(&mut self, number: u32) {
        if let Some(shown) = self.clubs.shown(number) {
            let is_over = shown.state() == control::ClubState::ClubFinished;
            self.tell(event::Body::Club(shown));
            self.show_club_to_guests(number);
            if is_over {
                self.close_evening(number);
            }
        }
        self.tell_friends_of_club(number);
    }
}
