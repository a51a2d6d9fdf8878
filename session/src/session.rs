//! The router: an input goes to its subject (the link, the comparison, an invitation, a match), and all effects go into one
//! queue.

use std::ops::RangeInclusive;
use std::time::Duration;

use engine::GameKind;
use proto::{limits, peer};

use crate::buckets::Buckets;
use crate::club::Telling;
use crate::comparison::Comparison;
use crate::effects::Effects;
use crate::invitation::{Invitations, Nonces};
use crate::liveness::{Due, Liveness};
use crate::resume::Told;
use crate::saying::Pace;
use crate::{
    Capabilities, Command, Config, Error, Event, Input, Instant, Journal, MatchId, MatchState, Output,
    Refused, Role, Violation,
};

/// The protocol versions that this session speaks.
pub const LOWEST_VERSION: u32 = 1;
/// See [`LOWEST_VERSION`].
pub const HIGHEST_VERSION: u32 = 1;
/// All of them, for [`Config::versions`].
pub const VERSIONS: RangeInclusive<u32> = LOWEST_VERSION..=HIGHEST_VERSION;

/// Settled matches that stay in memory, so that a new game may follow them. Nobody returns to more than the last few.
pub(crate) const KEPT_SETTLED: usize = 4;

/// Everything between this device and one peer. See the crate's documentation for the drive loop.
pub struct Session {
    pub(crate) versions: RangeInclusive<u32>,
    pub(crate) name: String,
    pub(crate) advert_key: [u8; 32],
    pub(crate) known: bool,
    pub(crate) known_name_new_key: bool,
    pub(crate) nonces: Nonces,
    /// The oldest first.
    pub(crate) matches: Vec<MatchState>,
    pub(crate) invitations: Invitations,
    pub(crate) link: Link,
    pub(crate) liveness: Liveness,
    /// The peer's name in its last hello.
    pub(crate) peer_name: Option<String>,
    pub(crate) peer_games: Vec<GameKind>,
    /// By the peer's last hello.
    pub(crate) peer_capabilities: Capabilities,
    /// The game that this device's person would like to play.
    pub(crate) wish: Option<GameKind>,
    /// The last friend entry about the peer in the journal.
    pub(crate) friend: Option<(String, [u8; 32])>,
    pub(crate) now: Instant,
    pub(crate) said_here: Pace,
    pub(crate) said_there: Pace,
    pub(crate) telling: Telling,
    pub(crate) buckets: Buckets,
    pub(crate) effects: Effects,
}

/// State of the link.
pub(crate) enum Link {
    Down,
    /// The own hello is sent; the peer's is outstanding.
    Greeting {
        role: Role,
        handshake_hash: [u8; 32],
        /// A stranger's string must be shown by then.
        string_by: Instant,
    },
    /// Both people look at the short string. The matches of the peer's hello wait for the result.
    Comparing {
        comparison: Comparison,
        told: Vec<Told>,
    },
    Up,
    /// Goodbye was said, or the peer violated the protocol: no message is handled or sent until the next link.
    Closed(peer::ByeReason),
}

/// State of the link, for the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// No link.
    Down,
    /// The link is up, and the hellos are in flight.
    Greeting,
    /// The short string is being compared.
    Comparing,
    /// Matches can be played.
    Up {
        /// An acknowledgement is outstanding for 2 s.
        weak: bool,
    },
    /// One side said goodbye.
    Closed(peer::ByeReason),
}

impl Session {
    /// A session without a link yet.
    pub fn new(config: Config) -> Self {
        let mut session = Self {
            versions: config.versions,
            name: limits::fit_name(&config.name),
            advert_key: config.advert_key,
            known: config.known,
            known_name_new_key: config.known_name_new_key,
            nonces: Nonces::new(config.seed),
            matches: Vec::new(),
            invitations: Invitations::promising(config.promised),
            link: Link::Down,
            liveness: Liveness::default(),
            peer_name: None,
            peer_games: Vec::new(),
            peer_capabilities: Capabilities::default(),
            wish: None,
            friend: None,
            now: Instant::default(),
            said_here: Pace::default(),
            said_there: Pace::default(),
            telling: Telling::default(),
            buckets: Buckets::default(),
            effects: Effects::default(),
        };
        for (record, settled) in config.matches {
            session.restore(record, settled);
        }
        session
    }

    /// Sets the advert key for the next hello, in place of [`Config::advert_key`].
    pub fn set_advert_key(&mut self, advert_key: [u8; 32]) {
        self.advert_key = advert_key;
    }

    /// Sets the game that this device's person would like to play, for the next hello.
    pub fn set_wish(&mut self, wish: Option<GameKind>) {
        self.wish = wish;
    }

    /// Handles an input. After an error no match and nothing in the journal has changed.
    ///
    /// `now` never goes back. Poll until [`Output::Idle`] before the next call.
    pub fn handle(&mut self, now: Instant, input: Input) -> Result<(), Error> {
        self.now = now.max(self.now);
        self.each(MatchState::clock_due);
        match input {
            Input::LinkUp { role, handshake_hash } => {
                self.link_lost();
                let unsettled = self.matches.iter().filter(|state| !state.is_settled()).count();
                self.buckets.link_begins(unsettled);
                self.greet(role, handshake_hash);
                Ok(())
            }
            Input::LinkDown => {
                self.link_lost();
                Ok(())
            }
            Input::Received(envelope) => self.received(envelope).map_err(|violation| {
                self.goodbye(peer::ByeReason::ByeViolation);
                Error::Violation(violation)
            }),
            Input::Underway => {
                if !matches!(self.link, Link::Down | Link::Closed(_)) {
                    self.liveness.heard(self.now, false);
                }
                Ok(())
            }
            Input::Letter(record) => self.received_letter(&record).map_err(Error::Violation),
            Input::Command(command) => self.command(command).map_err(Error::Refused),
            Input::Tick => {
                self.tick();
                Ok(())
            }
        }
    }

    /// The next output, after everything that must precede it is in the journal. Returns `Idle` once the queue is empty. After an
    /// error drop the session, and make a new one from the journal.
    pub fn poll<J: Journal>(&mut self, journal: &mut J) -> Result<Output, J::Error> {
        let next = self.effects.next(journal)?;
        Ok(next.unwrap_or_else(|| Output::Idle { until: self.next_tick() }))
    }

    /// All unsettled matches and the last few settled ones, the oldest first.
    pub fn matches(&self) -> impl ExactSizeIterator<Item = &MatchState> {
        self.matches.iter()
    }

    /// One match.
    pub fn match_state(&self, id: MatchId) -> Option<&MatchState> {
        self.matches.iter().find(|state| state.id() == id)
    }

    /// The name in the peer's last hello; `None` before its first.
    pub fn peer_name(&self) -> Option<&str> {
        self.peer_name.as_deref()
    }

    /// The games in the peer's last hello.
    pub fn peer_games(&self) -> &[GameKind] {
        &self.peer_games
    }

    /// What the peer's version knows by its last hello; nothing before its first.
    pub fn peer_capabilities(&self) -> Capabilities {
        self.peer_capabilities
    }

    /// Whether a person has compared strings with this peer.
    pub fn is_friend(&self) -> bool {
        self.known
    }

    /// State of the link.
    pub fn link(&self) -> LinkState {
        match &self.link {
            Link::Down => LinkState::Down,
            Link::Greeting { .. } => LinkState::Greeting,
            Link::Comparing { .. } => LinkState::Comparing,
            Link::Up => LinkState::Up { weak: self.liveness.is_weak() },
            Link::Closed(reason) => LinkState::Closed(*reason),
        }
    }

    /// RTT of the last ping on this link.
    pub fn round_trip(&self) -> Option<Duration> {
        self.liveness.round_trip()
    }
}

impl Session {
    fn received(&mut self, envelope: peer::Envelope) -> Result<(), Violation> {
        use peer::Envelope;
        if matches!(self.link, Link::Down | Link::Closed(_)) {
            return Ok(());
        }
        // A step of the comparison answers the one before it.
        let acknowledges =
            matches!(envelope, Envelope::Ack(_) | Envelope::Pong(_) | Envelope::Hello(_) | Envelope::Pair(_));
        if self.liveness.heard(self.now, acknowledges) {
            self.tell(Event::Weak(false));
        }
        match (&self.link, &envelope) {
            (_, Envelope::Bye(_) | Envelope::Unsupported(_)) => {}
            (Link::Greeting { .. }, Envelope::Hello(_)) => {}
            (Link::Greeting { .. }, _) => return Err(Violation::BeforeHello),
            (_, Envelope::Hello(_)) => return Err(Violation::OutOfOrder("hello")),
            (Link::Comparing { .. }, Envelope::Pair(_) | Envelope::Ping(_) | Envelope::Pong(_)) => {}
            (Link::Comparing { .. }, _) => return Err(Violation::NotCompared(subject(&envelope))),
            (_, Envelope::Pair(_)) => return Err(Violation::OutOfOrder("comparison")),
            _ => {}
        }
        self.received_envelope(envelope)?;
        self.each(MatchState::waiting_analysis);
        Ok(())
    }

    fn received_envelope(&mut self, envelope: peer::Envelope) -> Result<(), Violation> {
        use peer::Envelope;
        match envelope {
            Envelope::Hello(hello) => self.received_hello(hello),
            Envelope::Pair(pair) => self.received_pair(pair),
            Envelope::Invite(invite) => {
                let begin = self.invitations(|invitations, cx| invitations.received_invite(cx, &invite))?;
                self.begin_agreed(begin);
                Ok(())
            }
            Envelope::InviteAnswer(answer) => {
                let begin =
                    self.invitations(|invitations, cx| invitations.received_invite_answer(cx, &answer))?;
                self.begin_agreed(begin);
                Ok(())
            }
            Envelope::Withdraw(withdraw) => {
                self.invitations(|invitations, cx| invitations.received_withdraw(cx, &withdraw))
            }
            Envelope::Play(play) => self.about(&play.match_id, |state, cx| state.received_play(cx, &play)),
            Envelope::Ack(ack) => self.about(&ack.match_id, |state, cx| state.received_ack(cx, &ack)),
            Envelope::Offer(offer) => self.received_offer(&offer),
            Envelope::OfferAnswer(answer) => self.received_offer_answer(&answer),
            Envelope::Resign(resign) => {
                self.about(&resign.match_id, |state, cx| state.received_resign(cx, &resign))
            }
            Envelope::Record(record) => self.received_record(&record),
            Envelope::HintTaken(taken) => self.about(&taken.match_id, |state, cx| {
                state.hear_hints(cx, taken.hints);
                Ok(())
            }),
            Envelope::Flag(flag) => self.about(&flag.match_id, |state, cx| state.received_flag(cx, &flag)),
            Envelope::Reveal(reveal) => {
                let begin = self.invitations(|invitations, cx| invitations.received_reveal(cx, &reveal))?;
                self.begin_agreed(begin);
                Ok(())
            }
            Envelope::Analysis(analysis) => {
                let id = analysis.match_id.clone();
                self.about(&id, |state, cx| state.received_analysis(cx, analysis))
            }
            Envelope::Progress(progress) => self.about(&progress.match_id, |state, cx| {
                state.received_progress(cx, &progress);
                Ok(())
            }),
            Envelope::Run(run) => self.about(&run.match_id, |state, cx| state.received_run(cx, &run)),
            Envelope::Say(say) => {
                self.received_say(say);
                Ok(())
            }
            Envelope::Gift(gift) => {
                self.received_gift(&gift);
                Ok(())
            }
            Envelope::Club(club) => {
                self.received_club(&club);
                Ok(())
            }
            Envelope::Ping(ping) => {
                self.send(peer::Pong { token: ping.token });
                Ok(())
            }
            Envelope::Pong(pong) => {
                if let Some(round_trip) = self.liveness.pong(self.now, pong.token) {
                    self.tell(Event::RoundTrip(round_trip));
                }
                Ok(())
            }
            Envelope::Bye(bye) => {
                let reason = bye.reason();
                if reason != peer::ByeReason::ByeNotCompared {
                    self.abandon_comparison();
                }
                self.close(reason);
                self.tell(Event::Left(reason));
                self.effects.close(reason);
                Ok(())
            }
            // An older peer does not know the message; only that peer misses it.
            Envelope::Unsupported(_) => Ok(()),
        }
    }

    fn command(&mut self, command: Command) -> Result<(), Refused> {
        match command {
            Command::Compare { same } => self.compare(same),
            Command::Invite { id, terms, counters } => {
                match self.link {
                    Link::Up => {}
                    Link::Comparing { .. } => return Err(Refused::NotCompared),
                    _ => return Err(Refused::Away),
                }
                self.invitations(|invitations, cx| invitations.invite(cx, id, terms, counters))
            }
            Command::Withdraw(id) => self.invitations(|invitations, cx| invitations.withdraw(cx, id)),
            Command::BeginByLetter { id, setup, my_side } => self.begin_by_letter(id, setup, my_side),
            Command::AcceptLetter(record) => self.accept_letter(&record),
            Command::AnswerInvite { id, decline } => {
                let begin = self.invitations(|invitations, cx| invitations.answer_invite(cx, id, decline))?;
                self.begin_agreed(begin);
                Ok(())
            }
            Command::Act { id, action } => self.with(id, |state, cx| state.act(cx, action)),
            Command::Analyse { id, at } => self.with(id, |state, cx| state.analyse(cx, at)),
            Command::Offer { id, kind } => self.offer(id, kind),
            Command::AnswerOffer { id, accept } => self.answer_offer(id, accept),
            Command::TakeHint(id) => self.with(id, MatchState::take_hint),
            Command::Resign(id) => self.with(id, MatchState::resign),
            Command::TakeTheirs(id) => self.with(id, MatchState::take_theirs),
            Command::Say { id, saying } => self.say(id, saying),
            Command::Give(record) => self.give(&record),
            Command::TellClub(message) => self.tell_of_club(*message),
            Command::Leave(reason) => {
                if !matches!(self.link, Link::Down | Link::Closed(_)) {
                    self.goodbye(reason);
                }
                Ok(())
            }
        }
    }

    fn tick(&mut self) {
        self.invitations(Invitations::due);
        self.clubs_due();
        self.each(MatchState::waiting_analysis);
        if matches!(self.link, Link::Down | Link::Closed(_)) {
            return;
        }
        if self.meeting_ends().is_some_and(|at| at <= self.now) {
            return self.not_compared_in_time();
        }
        let may_ping = !matches!(self.link, Link::Greeting { .. });
        loop {
            match self.liveness.due(self.now, may_ping) {
                Due::Nothing => return,
                Due::Ping(token) => self.send(peer::Ping { token }),
                Due::Weak => self.tell(Event::Weak(true)),
                Due::Dead => {
                    self.abandon_comparison();
                    self.close(peer::ByeReason::ByeSilent);
                    self.effects.close(peer::ByeReason::ByeSilent);
                    return;
                }
            }
        }
    }

    fn next_tick(&self) -> Option<Instant> {
        let link = match self.link {
            Link::Down | Link::Closed(_) => None,
            Link::Greeting { .. } => Some(self.liveness.next(false)),
            Link::Comparing { .. } | Link::Up => Some(self.liveness.next(true)),
        };
        let analysis = self.matches.iter().any(MatchState::analysis_is_due);
        let all = [
            link,
            self.meeting_ends(),
            self.invitations.next(),
            self.next_clock(),
            self.telling.due_at(),
            analysis.then(|| self.buckets.analyses.next()),
        ];
        all.into_iter().flatten().min()
    }

    /// Sends the reason, and ignores further messages on this link.
    pub(crate) fn goodbye(&mut self, reason: peer::ByeReason) {
        self.abandon_comparison();
        self.send(peer::Bye { reason: reason.into() });
        self.effects.close(reason);
        self.close(reason);
    }

    /// Treats the link as lost, although the carrier may still hold it.
    pub(crate) fn close(&mut self, reason: peer::ByeReason) {
        self.forget_link();
        self.link = Link::Closed(reason);
    }

    fn link_lost(&mut self) {
        self.abandon_comparison();
        self.forget_link();
        self.link = Link::Down;
        self.effects.link_lost();
    }

    fn forget_link(&mut self) {
        self.each(MatchState::offer_lost);
        self.each(MatchState::link_lost);
        self.liveness = Liveness::default();
        self.telling = Telling::default();
    }

    pub(crate) fn send(&mut self, message: impl Into<peer::Envelope>) {
        self.effects.send(message);
    }

    /// Sends a message that the peer will acknowledge.
    pub(crate) fn send_awaited(&mut self, message: impl Into<peer::Envelope>) {
        self.liveness.awaits(self.now);
        self.send(message);
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.effects.tell(event);
    }
}

/// The subject of a message, for error texts.
fn subject(envelope: &peer::Envelope) -> &'static str {
    use peer::Envelope;
    match envelope {
        Envelope::Hello(_) => "hello",
        Envelope::Pair(_) => "comparison",
        Envelope::Invite(_) | Envelope::InviteAnswer(_) | Envelope::Withdraw(_) => "invitation",
        Envelope::Play(_) => "play",
        Envelope::Ack(_) => "acknowledgement",
        Envelope::Offer(_) | Envelope::OfferAnswer(_) => "offer",
        Envelope::Resign(_) => "resignation",
        Envelope::Record(_) => "record",
        Envelope::Ping(_) | Envelope::Pong(_) => "ping",
        Envelope::Bye(_) => "goodbye",
        Envelope::Unsupported(_) => "refusal",
        Envelope::Say(_) => "words",
        Envelope::Gift(_) => "gift",
        Envelope::Club(_) => "club",
        Envelope::Flag(_) => "flag",
        Envelope::HintTaken(_) => "hint",
        Envelope::Reveal(_) => "reveal",
        Envelope::Analysis(_) => "analysis",
        Envelope::Progress(_) => "progress",
        Envelope::Run(_) => "run",
    }
}
