//! The field test: two people with real devices measure how play goes over the air between them.
//!
//! One device leads: it finds the other, connects, invites, plays and tells both people what to do. The other one follows: it
//! accepts the match, answers each move, and notes when the link was lost and came back. Both write a report that names nobody.
//! Goodput is not measured: a match sends some hundred bytes at a time, whose time is the echo's, and a filler would need a message of
//! its own in the protocol. What the stream carries is measured in the Bluetooth lab.
//!
//! [`FieldTest`] is a machine without input or output: its user gives it the host's state after each event, the time, replies
//! and what the person does, and carries out what it returns. `qiyouctl field-test` and the app are its users.

mod measures;

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

use proto::control::{
    self, Carrier, Comparison, ComparisonEnd, ConnectState, Diagnosis, PeerLink, RadioState, Room, event,
    reply, request,
};

use crate::HostState;
use measures::Clocks;
pub use measures::{Measures, Outage, milliseconds, seconds};

/// Own moves whose acknowledgements are measured.
const ECHOES: usize = 10;
/// For finding and connecting: longer than a carrier that takes turns needs.
const FIND: Duration = Duration::from_secs(90);
/// For two people to compare strings, to walk away, or to come back.
const PEOPLE: Duration = Duration::from_mins(5);
/// For a step that no person takes part in.
const HOST: Duration = Duration::from_mins(1);
/// A device whose wall clock has run on so much further than its own slept meanwhile.
const SLEPT: Duration = Duration::from_secs(5);

/// An interruption of the link by people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// A device is carried out of range and back.
    Range,
    /// Bluetooth is switched off and on.
    Bluetooth,
    /// The lid is closed and opened, or the device is suspended and woken up.
    Lid,
}

impl Interruption {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::Range, Self::Bluetooth, Self::Lid];

    /// The word for reports and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "out of range",
            Self::Bluetooth => "Bluetooth off and on",
            Self::Lid => "lid closed",
        }
    }
}

/// What this device does.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// It finds the device or friend of this name or id, and tries these interruptions.
    Leads {
        /// Name or id.
        who: String,
        /// Tried in this order.
        steps: Vec<Interruption>,
    },
    /// It does what the other one asks for.
    Follows,
}

/// What the person is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Lay both devices beside each other, begin on the other one, then [`confirm`](FieldTest::confirm).
    Beside,
    /// This device waits for the one that leads.
    Waiting,
    /// The other device was found after this time.
    Found(Duration),
    /// It was connected after this time.
    Connected(Duration),
    /// Compare these strings; unless the host is told otherwise, [`compare`](FieldTest::compare).
    Compare(Comparison),
    /// The match has begun; the devices play by themselves.
    Playing,
    /// Moves are acknowledged after this time, in the middle.
    Echo(Option<Duration>),
    /// Interrupt the link in this way.
    Interrupt(Interruption),
    /// The link was lost: undo what was done, and after [`Interruption::Range`] [`confirm`](FieldTest::confirm) to be back.
    /// `None`, on the device that follows: wait.
    Lost(Option<Interruption>),
    /// Play goes on after this time.
    Back(Duration),
}

/// Why a test came to nothing. The text is for reports, in English.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// The other device was not found.
    #[error("the other device was not found")]
    NotFound,
    /// Several devices have the name.
    #[error("several devices have this name: say the id")]
    Ambiguous,
    /// Found, but not connected.
    #[error("the other device was found but could not be connected")]
    NotConnected,
    /// The other person did nothing.
    #[error("the other person has not compared the strings")]
    NotCompared,
    /// The strings were not the same.
    #[error("the two strings were not the same")]
    StringsDiffer,
    /// The invitation was not accepted.
    #[error("the other device has not accepted: does its field test run?")]
    NotAccepted,
    /// The device that leads did not begin.
    #[error("the other device has not begun")]
    NotBegun,
    /// The match that was accepted did not begin.
    #[error("the match has not begun")]
    NoMatch,
    /// The other device does not move any more.
    #[error("the other device has not moved")]
    NotMoved,
    /// The other device is gone.
    #[error("the other device has left the test")]
    Left,
    /// The host refused a request.
    #[error("the host refused: {0}")]
    Refused(String),
    /// The person stopped the test.
    #[error("the test was stopped")]
    Stopped,
}

/// What the machine wants.
#[expect(clippy::large_enum_variant, reason = "a request is moved once, to the host")]
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A request to the host. Its reply goes to [`FieldTest::reply`].
    Ask(request::Body),
    /// Something to show.
    Say(Message),
    /// The test is over, and [`FieldTest::report`] complete.
    Ended(Result<(), Trouble>),
}

/// Where the test is.
#[derive(Clone, Debug)]
enum Stage {
    /// The host examines the device.
    Examining,
    /// The person lays the devices beside each other.
    Beside,
    Finding {
        since: Instant,
    },
    Connecting {
        peer: String,
        since: Instant,
    },
    Comparing {
        peer: String,
    },
    Inviting {
        since: Instant,
    },
    /// Follows: until it is invited.
    Waiting,
    /// Follows: it has accepted.
    Accepting,
    /// This side's next move is due.
    Turn,
    /// The move with this ply was played. The rest is compared with the later state: an interruption is measured by itself.
    Acting {
        ply: u32,
        outages: usize,
        lost: Option<Instant>,
    },
    /// The turn before an interruption.
    Before(Interruption),
    /// The people interrupt the link.
    Interrupting(Interruption, Clocks),
    /// They undo it.
    Returning {
        what: Interruption,
        begun: Clocks,
        lost: Instant,
        returned: Option<Instant>,
        went_off: bool,
    },
    /// The match is given up when it is this side's turn: the other device's answer would cross the end, and be refused there.
    LastTurn,
    Resigning,
    /// Follows: each move of the other side is answered.
    Answering,
    Ended,
}

/// What the device that leads does in the match.
#[derive(Clone, Copy, Debug)]
enum Task {
    Move,
    NoteEcho,
    Interrupt(Interruption),
    Resign,
}

/// A field test in progress.
#[derive(Debug)]
pub struct FieldTest {
    role: Role,
    stage: Stage,
    /// When the stage ends without a result.
    deadline: Option<Instant>,
    todo: VecDeque<Task>,
    outputs: VecDeque<Output>,
    diagnosis: Diagnosis,
    measures: Measures,
    /// Id of the room, once there is a match.
    room: String,
    /// Name of the device that was found.
    name: String,
    /// The peer whose comparison the person was told of.
    compared: String,
    strings_differ: bool,
    /// Follows: since when the link has been lost.
    lost: Option<Instant>,
}

impl FieldTest {
    /// A test that begins with an examination of this device by the host.
    pub fn new(role: Role) -> Self {
        let mut todo: VecDeque<Task> = std::iter::repeat_n(Task::Move, ECHOES + 1).collect();
        todo.push_back(Task::NoteEcho);
        if let Role::Leads { steps, .. } = &role {
            todo.extend(steps.iter().map(|step| Task::Interrupt(*step)));
        }
        todo.push_back(Task::Resign);
        Self {
            role,
            stage: Stage::Examining,
            deadline: None,
            todo,
            outputs: VecDeque::from([Output::Ask(request::Body::Diagnose(control::Diagnose {}))]),
            diagnosis: Diagnosis::default(),
            measures: Measures::default(),
            room: String::new(),
            name: String::new(),
            compared: String::new(),
            strings_differ: false,
            lost: None,
        }
    }

    /// What was measured so far.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Whether the machine waits for [`confirm`](Self::confirm).
    pub fn wants_confirmation(&self) -> bool {
        matches!(
            self.stage,
            Stage::Beside | Stage::Returning { what: Interruption::Range, returned: None, .. }
        )
    }

    /// The next thing to do, until `None`.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`handle`](Self::handle) is due without an event.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The person has done what was said.
    pub fn confirm(&mut self, now: Instant) {
        match &mut self.stage {
            Stage::Beside => {
                self.ask(request::Body::Scan(control::Scan { on: true }));
                self.enter(Stage::Finding { since: now }, now + FIND);
            }
            Stage::Returning { what: Interruption::Range, returned, .. } => {
                returned.get_or_insert(now);
            }
            _ => {}
        }
    }

    /// The person's verdict on the strings of this peer.
    pub fn compare(&mut self, peer: String, same: bool) {
        self.ask(request::Body::Compare(control::Compare { peer, same }));
        self.strings_differ |= !same;
    }

    /// The person stops the test.
    pub fn stop(&mut self) {
        if !self.room.is_empty() && !self.is_over() {
            self.resign();
        }
        self.end(Err(Trouble::Stopped));
    }

    /// The host's reply to a request of this machine.
    pub fn reply(&mut self, reply: Result<reply::Body, String>, now: Instant) {
        match reply {
            Ok(reply::Body::Diagnosis(diagnosis)) => {
                self.diagnosis = diagnosis;
                match self.role {
                    Role::Leads { .. } => {
                        (self.stage, self.deadline) = (Stage::Beside, None);
                        self.say(Message::Beside);
                    }
                    Role::Follows => {
                        self.enter(Stage::Waiting, now + PEOPLE);
                        self.say(Message::Waiting);
                    }
                }
            }
            Ok(reply::Body::InviteId(id)) => self.room = id,
            Ok(_) => {}
            Err(detail) => self.end(Err(Trouble::Refused(detail))),
        }
    }

    /// Looks at the host's state after an event, or at a time.
    pub fn handle(&mut self, event: Option<&event::Body>, state: &HostState, now: Instant, wall: SystemTime) {
        if let Some(event::Body::ComparisonGone(gone)) = event
            && gone.end() == ComparisonEnd::ComparisonDifferent
        {
            self.strings_differ = true;
        }
        self.note_outage(state, now);
        while self.advance(state, now, wall) {}
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.expire(now);
            while self.advance(state, now, wall) {}
        }
    }

    /// The report. Names, keys and addresses in `state` are removed.
    pub fn report(&self, state: &HostState, now: SystemTime) -> String {
        let role = if self.follows() { "follows" } else { "leads" };
        self.measures.report(role, &self.diagnosis, state, now)
    }

    fn follows(&self) -> bool {
        self.role == Role::Follows
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Ended)
    }

    fn ask(&mut self, body: request::Body) {
        self.outputs.push_back(Output::Ask(body));
    }

    fn say(&mut self, message: Message) {
        self.outputs.push_back(Output::Say(message));
    }

    fn enter(&mut self, stage: Stage, deadline: Instant) {
        (self.stage, self.deadline) = (stage, Some(deadline));
    }

    fn end(&mut self, ended: Result<(), Trouble>) {
        if self.is_over() {
            return;
        }
        if matches!(self.stage, Stage::Finding { .. } | Stage::Connecting { .. }) {
            self.ask(request::Body::Scan(control::Scan { on: false }));
        }
        if let Err(trouble) = &ended {
            self.measures.troubles.push(trouble.to_string());
        }
        (self.stage, self.deadline) = (Stage::Ended, None);
        self.outputs.push_back(Output::Ended(ended));
    }

    fn room<'a>(&self, state: &'a HostState) -> Option<&'a Room> {
        state.rooms.get(&self.room)
    }

    fn link_is_up(&self, state: &HostState) -> bool {
        self.room(state).is_some_and(is_up)
    }

    /// Whether the match is over, or gone.
    fn has_ended(&self, state: &HostState) -> bool {
        self.room(state).is_none_or(|room| room.result.is_some())
    }

    /// On the device that follows, an interruption may come at any time of the match.
    fn note_outage(&mut self, state: &HostState, now: Instant) {
        let plays = matches!(self.stage, Stage::Turn | Stage::Acting { .. } | Stage::Answering);
        if !self.follows() || !plays || self.has_ended(state) {
            return;
        }
        match (self.link_is_up(state), self.lost) {
            (false, None) => {
                self.lost = Some(now);
                self.say(Message::Lost(None));
            }
            (true, Some(since)) => {
                self.lost = None;
                let away = now - since;
                self.measures.outages.push(Outage { what: None, away, after_return: None });
                self.say(Message::Back(away));
            }
            _ => {}
        }
    }

    /// One step, if the state allows it. Returns whether it did.
    fn advance(&mut self, state: &HostState, now: Instant, wall: SystemTime) -> bool {
        match self.stage.clone() {
            Stage::Examining | Stage::Beside | Stage::Ended => false,
            Stage::Finding { since } => self.find(state, since, now),
            Stage::Connecting { peer, since } => self.connect(state, peer, since, now),
            Stage::Comparing { peer } => self.finish_comparison(state, &peer, now),
            Stage::Inviting { since } => {
                if self.room(state).is_none() {
                    return false;
                }
                self.measures.invited = Some(now - since);
                self.say(Message::Playing);
                self.next(now);
                true
            }
            Stage::Waiting => self.accept(state, now),
            Stage::Accepting => {
                if self.room(state).is_none() {
                    return false;
                }
                self.say(Message::Playing);
                self.enter(Stage::Answering, now + 2 * PEOPLE);
                true
            }
            Stage::Turn => self.act(state, now),
            Stage::Acting { ply, outages, lost } => {
                let link = self.room(state).and_then(|room| room.link).unwrap_or_default();
                if link.seen_action_ply < ply {
                    return false;
                }
                if (outages, lost) == (self.measures.outages.len(), self.lost) {
                    self.measures.echoes.push(Duration::from_micros(link.seen_after_us.into()));
                }
                self.next(now);
                true
            }
            Stage::Before(what) => {
                if !self.room(state).is_some_and(|room| room.can_act) {
                    return false;
                }
                self.say(Message::Interrupt(what));
                self.enter(Stage::Interrupting(what, Clocks(now, wall)), now + PEOPLE);
                true
            }
            Stage::LastTurn => {
                if !self.room(state).is_none_or(|room| room.can_act || room.result.is_some()) {
                    return false;
                }
                self.resign();
                self.enter(Stage::Resigning, now + HOST);
                true
            }
            Stage::Interrupting(what, begun) => {
                if self.link_is_up(state) {
                    return false;
                }
                self.say(Message::Lost(Some(what)));
                // The adapter may have gone off before the link was lost, and its return be the next event.
                let went_off = !bluetooth_works(state);
                let stage = Stage::Returning { what, begun, lost: now, returned: None, went_off };
                self.enter(stage, now + PEOPLE);
                true
            }
            Stage::Returning { .. } => self.come_back(state, now, wall),
            Stage::Resigning => {
                let over = self.has_ended(state);
                if over {
                    self.end(Ok(()));
                }
                over
            }
            Stage::Answering => {
                if self.has_ended(state) {
                    self.end(Ok(()));
                    return true;
                }
                let due = self.room(state).is_some_and(|room| room.can_act && is_up(room));
                due && {
                    self.note_link(state);
                    self.act(state, now)
                }
            }
        }
    }

    /// The stage has lasted too long.
    fn expire(&mut self, now: Instant) {
        let trouble = match &self.stage {
            Stage::Finding { .. } => Trouble::NotFound,
            Stage::Connecting { .. } => Trouble::NotConnected,
            Stage::Comparing { .. } => Trouble::NotCompared,
            Stage::Inviting { .. } => Trouble::NotAccepted,
            Stage::Waiting => Trouble::NotBegun,
            Stage::Accepting => Trouble::NoMatch,
            Stage::Turn | Stage::Before(_) | Stage::LastTurn => Trouble::NotMoved,
            Stage::Answering => Trouble::Left,
            Stage::Acting { .. } => return self.go_on("a move was not acknowledged in time".into(), now),
            Stage::Interrupting(what, _) => {
                return self.go_on(format!("{}: the connection did not drop", what.name()), now);
            }
            Stage::Returning { what, .. } => {
                return self.go_on(format!("{}: the connection did not come back", what.name()), now);
            }
            Stage::Resigning => {
                self.measures.troubles.push("the match did not end".into());
                return self.end(Ok(()));
            }
            Stage::Examining | Stage::Beside | Stage::Ended => return,
        };
        self.end(Err(trouble));
    }

    fn go_on(&mut self, trouble: String, now: Instant) {
        self.measures.troubles.push(trouble);
        self.next(now);
    }

    /// The next task; on the device that follows, the next move.
    fn next(&mut self, now: Instant) {
        if self.follows() {
            return self.enter(Stage::Answering, now + 2 * PEOPLE);
        }
        match self.todo.pop_front() {
            Some(Task::Move) => self.enter(Stage::Turn, now + HOST),
            Some(Task::NoteEcho) => {
                self.say(Message::Echo(self.measures.echo(50)));
                self.next(now);
            }
            Some(Task::Interrupt(what)) => self.enter(Stage::Before(what), now + HOST),
            Some(Task::Resign) => self.enter(Stage::LastTurn, now + HOST),
            None => self.end(Ok(())),
        }
    }

    fn resign(&mut self) {
        let resign = control::Resign { room_id: self.room.clone(), ..Default::default() };
        self.ask(request::Body::Resign(resign));
    }

    /// Finds the device by its name or id.
    fn find(&mut self, state: &HostState, since: Instant, now: Instant) -> bool {
        let Role::Leads { who, .. } = &self.role else { return false };
        let friends = state.friends.values().filter(|friend| friend.connected || friend.near);
        let friends = friends.map(|friend| (&friend.id, &friend.name));
        let nearby = state.nearby.values().map(|one| (&one.id, &one.name));
        let mut found: Vec<(&String, &String)> =
            friends.chain(nearby).filter(|(id, name)| *id == who || *name == who).collect();
        found.sort();
        found.dedup_by_key(|(id, _)| *id);
        if found.iter().any(|(id, _)| *id == who) {
            found.retain(|(id, _)| *id == who);
        }
        let (peer, name) = match found.as_slice() {
            [] => return false,
            [(id, name)] => ((*id).clone(), (*name).clone()),
            _ => {
                self.end(Err(Trouble::Ambiguous));
                return true;
            }
        };
        self.name = name;
        self.measures.found = Some(now - since);
        self.say(Message::Found(now - since));
        self.ask(request::Body::Meet(control::Meet { peer: peer.clone() }));
        self.enter(Stage::Connecting { peer, since: now }, now + FIND);
        true
    }

    /// Waits until the device is connected, as a friend or for the comparison of strings.
    fn connect(&mut self, state: &HostState, peer: String, since: Instant, now: Instant) -> bool {
        let progress = state.connecting.get(&peer).map(control::Connecting::state);
        let connected = self.friend(state, &peer).is_some() || !state.comparisons.is_empty();
        if !connected {
            if progress == Some(ConnectState::ConnectFailed) {
                self.end(Err(Trouble::NotConnected));
            }
            return progress == Some(ConnectState::ConnectFailed);
        }
        self.ask(request::Body::Scan(control::Scan { on: false }));
        self.measures.connected = Some(now - since);
        self.say(Message::Connected(now - since));
        self.enter(Stage::Comparing { peer }, now + PEOPLE);
        true
    }

    /// Waits until both people have said that the strings are the same; then invites.
    fn finish_comparison(&mut self, state: &HostState, peer: &str, now: Instant) -> bool {
        if self.strings_differ {
            self.end(Err(Trouble::StringsDiffer));
            return true;
        }
        self.show_comparison(state);
        let Some(peer) = self.friend(state, peer) else { return false };
        let invite =
            control::Invite { peer, my_side: proto::board::Side::First.into(), ..Default::default() };
        self.ask(request::Body::Invite(invite));
        self.enter(Stage::Inviting { since: now }, now + HOST);
        true
    }

    /// Tells the person of an open comparison, once.
    fn show_comparison(&mut self, state: &HostState) {
        let open = state.comparisons.iter().find(|one| !one.answered_here && one.peer != self.compared);
        if let Some(comparison) = open {
            self.compared.clone_from(&comparison.peer);
            self.say(Message::Compare(comparison.clone()));
        }
    }

    /// The id of the connected friend that was met.
    fn friend(&self, state: &HostState, peer: &str) -> Option<String> {
        let mut connected = state.friends.values().filter(|friend| friend.connected);
        // What is seen of a stranger nearby is not its key.
        let is_it = |friend: &&control::Friend| {
            let named = !self.name.is_empty() && friend.name == self.name;
            friend.id == peer || friend.id == self.compared || named
        };
        connected.find(is_it).map(|friend| friend.id.clone())
    }

    /// Follows: compares, and accepts the first invitation.
    fn accept(&mut self, state: &HostState, now: Instant) -> bool {
        if self.strings_differ {
            self.end(Err(Trouble::StringsDiffer));
            return true;
        }
        if !state.comparisons.is_empty() {
            self.deadline = Some(now + PEOPLE);
        }
        self.show_comparison(state);
        let Some(invitation) = state.invitations.iter().find(|one| !one.mine) else { return false };
        self.room.clone_from(&invitation.invite_id);
        let accept = control::AnswerInvite {
            invite_id: invitation.invite_id.clone(),
            accept: true,
            ..Default::default()
        };
        self.ask(request::Body::AnswerInvite(accept));
        self.enter(Stage::Accepting, now + HOST);
        true
    }

    /// Plays the next quiet point when it is this side's turn.
    fn act(&mut self, state: &HostState, now: Instant) -> bool {
        let Some(room) = self.room(state).filter(|room| room.can_act) else { return false };
        let Some(notation) = quiet_point(room.record.len()) else {
            self.next(now);
            return true;
        };
        let ply = room.record.len() as u32 + 1;
        self.note_link(state);
        let act = control::Act { room_id: self.room.clone(), notation, ..Default::default() };
        self.ask(request::Body::Act(act));
        let (outages, lost) = (self.measures.outages.len(), self.lost);
        self.enter(Stage::Acting { ply, outages, lost }, now + PEOPLE);
        true
    }

    /// The link's figures, while it is up.
    fn note_link(&mut self, state: &HostState) {
        if let Some(link) = self.room(state).filter(|room| is_up(room)).and_then(|room| room.link) {
            (self.measures.carrier, self.measures.round_trip_ms) = (Some(link.carrier()), link.round_trip_ms);
            self.measures.rssi_dbm = link.rssi_dbm;
        }
    }

    /// Waits for the link after an interruption, and measures from the moment at which it could come back.
    fn come_back(&mut self, state: &HostState, now: Instant, wall: SystemTime) -> bool {
        let up = self.link_is_up(state);
        let Stage::Returning { what, begun, lost, returned, went_off } = &mut self.stage else {
            return false;
        };
        let works = bluetooth_works(state);
        *went_off |= !works;
        let is_back = match what {
            Interruption::Range => false,
            // The link may be back before the host says that the adapter works.
            Interruption::Bluetooth => *went_off && (works || up),
            Interruption::Lid => begun.slept(now, wall),
        };
        if is_back {
            returned.get_or_insert(now);
        }
        if !up {
            return false;
        }
        let after_return = returned.filter(|at| *at > *lost).map(|at| now - at);
        let outage = Outage { what: Some(*what), away: now - *lost, after_return };
        self.say(Message::Back(outage.away));
        self.measures.outages.push(outage);
        self.enter(Stage::Turn, now + HOST);
        true
    }
}

fn is_up(room: &Room) -> bool {
    let state = room.link.as_ref().map(control::LinkState::state);
    matches!(state, Some(PeerLink::Up | PeerLink::Weak))
}

fn bluetooth_works(state: &HostState) -> bool {
    let radio = state.radios.get(&Carrier::Bluetooth.into()).or_else(|| state.radios.values().next());
    radio.is_some_and(|radio| {
        let ready = [RadioState::RadioReady, RadioState::RadioTakingTurns, RadioState::RadioNoAdvertising];
        ready.contains(&radio.state())
    })
}

/// A point of the board for the action of this number: two sides that alternate along each row never make five in a row.
fn quiet_point(number: usize) -> Option<String> {
    let row = [1, 4, 7, 10, 13].get(number / 15)?;
    let column = char::from(b'a' + (number % 15) as u8);
    Some(format!("{column}{row}"))
}

#[cfg(test)]
mod tests;
