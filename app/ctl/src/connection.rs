//! The connection to the host: requests, replies, and the state built from events.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use proto::control::{
    Account, Attach, Blocked, Comparison, Connecting, Contact, Event, Friend, Gift, Guest, Invitation, Me, Message,
    Nearby, Radio, Refusal, RefusalCode, Reply, Request, Room, Stranger, event, reply, request,
};
use proto::frame::{Arrival, FrameCodec, FrameError, FrameLimit, Outgoing};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};
use tokio_util::codec::Framed;

/// Version of the client protocol.
const VERSION: u32 = 1;

/// A host answers at once; without an answer in this time it hangs.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the host refused: {}", refusal_words(.0))]
    Refused(Refusal),
    #[error("{0}")]
    Usage(String),
    #[error("no daemon listens at {}: {error}", path.display())]
    NoDaemon { path: PathBuf, error: io::Error },
    #[error("the daemon went away")]
    DaemonLost,
    #[error("{0}")]
    NotToBe(String),
    #[error("something stops play on this device")]
    Unwell,
    #[error("{0}")]
    Other(String),
    #[error("nobody reads the output")]
    NobodyReads,
}

impl Failure {
    /// The exit code; documented in `--help`.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::NobodyReads => 0,
            Self::Refused(_) | Self::Other(_) => 1,
            Self::Usage(_) => 2,
            Self::NoDaemon { .. } => 3,
            Self::DaemonLost => 4,
            Self::NotToBe(_) => 5,
            Self::Unwell => 6,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let code = match self {
            Self::Refused(refusal) => {
                refusal.code().as_str_name().trim_start_matches("REFUSAL_").to_lowercase()
            }
            _ => String::new(),
        };
        json!({"error": self.to_string(), "exit": self.code(), "refusal": code, "remedy": self.remedy()})
    }

    /// What the person can do.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NoDaemon { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                Some("The socket belongs to another user: run qiyouctl as the user whose qiyoud it is.")
            }
            Self::NoDaemon { .. } => Some(
                "Start one with `qiyoud`, or `qiyoud --no-bluetooth` to play alone; --socket names another.",
            ),
            Self::DaemonLost => Some("Start it again with `qiyoud`: everything was saved."),
            Self::Refused(refusal) => match refusal.code() {
                RefusalCode::RefusalRadio => Some("`qiyouctl doctor` tells what is wrong."),
                RefusalCode::RefusalNotCompared => {
                    Some("Compare the strings on both screens, then `qiyouctl same`.")
                }
                RefusalCode::RefusalDisk => Some("Free some space: nothing is lost."),
                RefusalCode::RefusalVersion => {
                    Some("qiyouctl and qiyoud are of different versions: update both.")
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn refusal_words(refusal: &Refusal) -> String {
    if refusal.detail.is_empty() { refusal.code().as_str_name().into() } else { refusal.detail.clone() }
}

/// The state built from the host's events so far.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) me: Me,
    pub(crate) radios: BTreeMap<i32, Radio>,
    pub(crate) nearby: BTreeMap<String, Nearby>,
    pub(crate) friends: BTreeMap<String, Friend>,
    pub(crate) comparisons: BTreeMap<String, Comparison>,
    pub(crate) invitations: BTreeMap<String, Invitation>,
    pub(crate) rooms: BTreeMap<String, Room>,
    pub(crate) connecting: BTreeMap<String, Connecting>,
    pub(crate) blocked: BTreeMap<String, Blocked>,
    /// Connected peers that are no friends.
    pub(crate) strangers: BTreeMap<String, Stranger>,
    /// `None`: the host is built without online play.
    pub(crate) account: Option<Account>,
    pub(crate) contacts: BTreeMap<String, Contact>,
    /// Matches that friends show, by number.
    pub(crate) gifts: BTreeMap<String, Gift>,
    /// Codes that are shown to guests, by room and side.
    pub(crate) guests: BTreeMap<(String, i32), Guest>,
}

impl State {
    fn apply(&mut self, event: &Event) {
        use event::Body;
        match event.body.clone() {
            None
            | Some(
                Body::Ready(_)
                | Body::Thinking(_)
                | Body::Notice(_)
                | Body::Said(_)
                | Body::Judgements(_)
                | Body::Endings(_)
                | Body::Activated(_),
            ) => {}
            Some(Body::Stranger(one)) => drop(self.strangers.insert(one.id.clone(), one)),
            Some(Body::StrangerGone(gone)) => drop(self.strangers.remove(&gone.id)),
            Some(Body::Blocked(blocked)) => drop(self.blocked.insert(blocked.id.clone(), blocked)),
            Some(Body::BlockedGone(gone)) => drop(self.blocked.remove(&gone.id)),
            Some(Body::Me(me)) => self.me = me,
            Some(Body::Radio(radio)) => drop(self.radios.insert(radio.carrier, radio)),
            Some(Body::Nearby(nearby)) => drop(self.nearby.insert(nearby.id.clone(), nearby)),
            Some(Body::NearbyGone(gone)) => drop(self.nearby.remove(&gone.id)),
            Some(Body::Friend(friend)) => drop(self.friends.insert(friend.id.clone(), friend)),
            Some(Body::FriendGone(gone)) => drop(self.friends.remove(&gone.id)),
            Some(Body::Comparison(comparison)) => {
                drop(self.comparisons.insert(comparison.peer.clone(), comparison));
            }
            Some(Body::ComparisonGone(gone)) => drop(self.comparisons.remove(&gone.id)),
            Some(Body::Invitation(invitation)) => {
                drop(self.invitations.insert(invitation.invite_id.clone(), invitation));
            }
            Some(Body::InvitationGone(gone)) => drop(self.invitations.remove(&gone.invite_id)),
            Some(Body::Room(room)) => drop(self.rooms.insert(room.id.clone(), room)),
            Some(Body::RoomGone(gone)) => drop(self.rooms.remove(&gone.id)),
            Some(Body::Account(account)) => self.account = Some(account),
            Some(Body::Contact(contact)) => drop(self.contacts.insert(contact.account.clone(), contact)),
            Some(Body::ContactGone(gone)) => drop(self.contacts.remove(&gone.id)),
            Some(Body::Gift(gift)) => drop(self.gifts.insert(gift.gift_id.clone(), gift)),
            Some(Body::GiftGone(gone)) => drop(self.gifts.remove(&gone.id)),
            Some(Body::Guest(guest)) => {
                drop(self.guests.insert((guest.room_id.clone(), guest.side), guest));
            }
            Some(Body::GuestGone(gone)) => drop(self.guests.remove(&(gone.room_id, gone.side))),
            Some(Body::Connecting(connecting)) => {
                drop(self.connecting.insert(connecting.peer.clone(), connecting));
            }
        }
    }
}

/// An attached connection. `state` reflects every event read; `next` returns each event once.
pub(crate) struct Connection {
    frames: Framed<UnixStream, FrameCodec>,
    last_request: u64,
    /// Events read while waiting for a reply.
    unseen: std::collections::VecDeque<Event>,
    pub(crate) state: State,
}

impl Connection {
    /// Connects, attaches and reads the present state.
    pub(crate) async fn open(path: &Path) -> Result<Self, Failure> {
        let stream = UnixStream::connect(path)
            .await
            .map_err(|error| Failure::NoDaemon { path: path.to_owned(), error })?;
        let mut connection = Self {
            frames: Framed::new(stream, FrameCodec::new(FrameLimit::Local)),
            last_request: 0,
            unseen: std::collections::VecDeque::new(),
            state: State::default(),
        };
        let client = format!("qiyouctl {}", env!("CARGO_PKG_VERSION"));
        connection.ask(request::Body::Attach(Attach { client, version: VERSION })).await?;
        let deadline = Instant::now() + REPLY_TIMEOUT;
        while let Some(event) = connection.next_until(deadline).await? {
            if let Some(event::Body::Ready(_)) = event.body {
                return Ok(connection);
            }
        }
        Err(Failure::Other("the daemon does not answer".into()))
    }

    /// Sends a request and waits for its reply. A refusal is an error.
    pub(crate) async fn ask(&mut self, body: request::Body) -> Result<reply::Body, Failure> {
        self.last_request += 1;
        let id = self.last_request;
        let request = Message::Request(Request { id, body: Some(body) });
        self.frames.send(Outgoing::from(&request)).await.map_err(lost)?;
        let deadline = Instant::now() + REPLY_TIMEOUT;
        loop {
            match timeout_at(deadline, self.read()).await {
                Err(_) => return Err(Failure::Other("the daemon does not answer".into())),
                Ok(message) => match message? {
                    Message::Event(event) => self.unseen.push_back(event),
                    Message::Reply(Reply { id: answered, body: Some(body) }) if answered == id => {
                        return match body {
                            reply::Body::Refusal(refusal) => Err(Failure::Refused(refusal)),
                            body => Ok(body),
                        };
                    }
                    Message::Reply(_) | Message::Request(_) => {}
                },
            }
        }
    }

    /// The next event; `None` if the deadline passes first.
    pub(crate) async fn next_until(&mut self, deadline: Instant) -> Result<Option<Event>, Failure> {
        if let Some(event) = self.unseen.pop_front() {
            return Ok(Some(event));
        }
        loop {
            match timeout_at(deadline, self.read()).await {
                Err(_) => return Ok(None),
                Ok(message) => {
                    if let Message::Event(event) = message? {
                        return Ok(Some(event));
                    }
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Message, Failure> {
        match self.frames.next().await {
            None => Err(Failure::DaemonLost),
            Some(Err(error)) => Err(lost(error)),
            Some(Ok(Arrival::Next(frame))) => {
                let message = Message::decode(frame.msgid, &frame.payload).map_err(|error| {
                    Failure::Other(format!("the daemon says what we do not know: {error}"))
                })?;
                if let Message::Event(event) = &message {
                    self.state.apply(event);
                }
                Ok(message)
            }
            Some(Ok(Arrival::Old(_) | Arrival::Gap { .. })) => {
                Err(Failure::Other("the daemon counts its frames wrongly".into()))
            }
        }
    }
}

fn lost(error: FrameError) -> Failure {
    match error {
        FrameError::Io(_) | FrameError::Truncated { .. } => Failure::DaemonLost,
        other => Failure::Other(format!("the daemon speaks another language: {other}")),
    }
}
