//! Many accounts on one server: two hundred players in a hundred concurrent matches, each player's device as a task,
//! all in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use engine::{Rng, Side};
use futures::{SinkExt, StreamExt};
use link::identity::Identity;
use link::online::{Account, AccountState, ContactDeed, ContactState, OnlineConfig, OnlineTransport, View};
use link::secure::{self, AcceptedPeers, ExpectedPeer};
use link::{Address, CarrierKind, Listener, Transport};
use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
use proto::peer::Envelope;
use session::{Colours, Command, Config, Event, Input, MatchId, MatchState, Output, Role, Session, Terms};
use tokio_util::codec::Framed;

use crate::real::{Frames, listen};
use crate::servers::{DOMAIN, Server};

/// Number of actions of each match.
const PLIES: u32 = 40;

/// Limit for hangs, not a bound on speed.
const PATIENCE: Duration = Duration::from_mins(5);

/// The measurements.
pub(crate) struct Figures {
    pub(crate) matches: usize,
    pub(crate) moves: usize,
    pub(crate) took: Duration,
    /// Time from a player's action to its acknowledgement by the other device. Sorted.
    pub(crate) seen: Vec<Duration>,
}

/// Signs in this many pairs, and lets all of them play at once. Every match ends with equal records.
pub(crate) async fn play(server: &Server, config: &OnlineConfig, pairs: usize) -> Figures {
    let mut ready = Vec::new();
    for number in 0..pairs {
        ready.push(pair(server, config, number).await);
    }
    let began = Instant::now();
    let matches = ready.into_iter().enumerate().map(|(number, (dials, accepts))| {
        tokio::spawn(async move {
            let (one, other) = (dials.identity.public_key(), accepts.identity.public_key());
            let done = AtomicU32::new(0);
            let first = play_side(dials.frames, Role::Dialer, number as u64, &done);
            let second = play_side(accepts.frames, Role::Listener, number as u64, &done);
            let (first, second) = tokio::join!(first, second);
            assert_ne!(one, other);
            assert_eq!(first.1, second.1, "equal records");
            // Signed-in players stay signed in until all have played.
            (first.0.into_iter().chain(second.0).collect::<Vec<_>>(), (dials.stays, accepts.stays))
        })
    });
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for played in futures::future::join_all(matches).await {
        let (times, transports) = played.expect("a match is played");
        seen.extend(times);
        kept.push(transports);
    }
    let took = began.elapsed();
    seen.sort();
    Figures { matches: pairs, moves: seen.len(), took, seen }
}

/// A signed-in player with a link.
struct Player {
    /// Without a listener the account is shown as away, and its links are closed.
    stays: (Arc<OnlineTransport>, Box<dyn Listener>),
    identity: Identity,
    frames: Frames,
}

/// Two accounts that are contacts, and a link between them.
async fn pair(server: &Server, config: &OnlineConfig, number: usize) -> (Player, Player) {
    let names = [format!("one{number}@{DOMAIN}"), format!("two{number}@{DOMAIN}")];
    let [one, mut two] = contacts(server, config, &names).await;
    let identities = [(); 2].map(|()| Identity::generate().expect("a key"));
    let address = Address { kind: CarrierKind::Online, text: names[1].clone() };
    let dial = async {
        let duplex = one.0.connect(&address).await.expect("the other is there");
        secure::dial(duplex, &identities[0], CarrierKind::Online, ExpectedPeer::Anybody)
            .await
            .expect("a handshake")
    };
    let accept = async {
        let duplex = two.1.accept().await.expect("somebody comes").duplex;
        secure::accept(duplex, &identities[1], CarrierKind::Online, &AcceptedPeers::all())
            .await
            .expect("a handshake")
    };
    let (dialed, accepted) =
        tokio::time::timeout(PATIENCE, async { tokio::join!(dial, accept) }).await.expect("both stand");
    let frames = |link| Framed::new(link, FrameCodec::new(FrameLimit::Peer));
    let [dials, accepts] = identities;
    (
        Player { stays: one, identity: dials, frames: frames(dialed) },
        Player { stays: two, identity: accepts, frames: frames(accepted) },
    )
}

/// Two new accounts that see each other, each with a listener.
pub(crate) async fn contacts(
    server: &Server,
    config: &OnlineConfig,
    names: &[String; 2],
) -> [(Arc<OnlineTransport>, Box<dyn Listener>); 2] {
    let mut both = Vec::new();
    for (tag, name) in (1..).zip(names) {
        let transport = Arc::new(OnlineTransport::new(config.clone()));
        let account = Account::new(name, "secret", Some(&server.address())).expect("an account");
        transport.sign_in(account, true);
        until(&transport, "signed in", |view| view.state == AccountState::Online).await;
        let listener = listen(transport.as_ref(), tag).await;
        both.push((transport, listener));
    }
    let state = |view: &View, name: &str| view.contacts.get(name).map(|contact| contact.state);
    assert!(both[0].0.contact(&names[1], ContactDeed::Ask));
    until(&both[1].0, "asked", |view| state(view, &names[0]) == Some(ContactState::Asks)).await;
    assert!(both[1].0.contact(&names[0], ContactDeed::Accept));
    for (here, there) in [(0, 1), (1, 0)] {
        let sees = |view: &View| view.contacts.get(&names[there]).is_some_and(|one| one.card.is_some());
        until(&both[here].0, "seen", |view| {
            state(view, &names[there]) == Some(ContactState::Mutual) && sees(view)
        })
        .await;
    }
    both.try_into().ok().expect("two")
}

async fn until(transport: &OnlineTransport, what: &str, so: impl Fn(&View) -> bool) {
    let mut view = transport.view();
    let seen = tokio::time::timeout(PATIENCE, view.wait_for(so)).await;
    assert!(matches!(seen, Ok(Ok(_))), "waited in vain for: {what}; {:?}", transport.view().borrow());
}

/// Plays one side up to the agreed length, and stays until the other side is done: `done` counts them. Returns the acknowledgement times and the record's digest.
/// Keeps no journal: each match is played once.
struct Nowhere;

impl session::Journal for Nowhere {
    type Error = std::convert::Infallible;

    fn keep(&mut self, _: &session::Entry) -> Result<(), Self::Error> {
        Ok(())
    }
}

async fn play_side(mut frames: Frames, role: Role, number: u64, done: &AtomicU32) -> (Vec<Duration>, u64) {
    /// Waiting until the other side has everything.
    const LOOK: Duration = Duration::from_millis(50);
    let began = Instant::now();
    let dials = role == Role::Dialer;
    let mut session = Session::new(Config {
        versions: session::VERSIONS,
        name: format!("{role:?}"),
        advert_key: [number as u8; 32],
        known: true,
        known_name_new_key: false,
        matches: Vec::new(),
        promised: Vec::new(),
        seed: [u8::from(dials); 32],
    });
    let mut random = Rng::new(number * 2 + u64::from(dials));
    let (mut times, mut acted, mut invited) = (Vec::new(), None::<(u32, Instant)>, false);
    let mut finished = None;
    let mut input = Some(Input::LinkUp { role, handshake_hash: [7; 32] });
    loop {
        if let Some(digest) = finished
            && done.load(Ordering::SeqCst) == 2
        {
            return (times, digest);
        }
        let now = session::Instant(began.elapsed());
        if let Some(input) = input.take() {
            session.handle(now, input).expect("both are honest, and ask for what may be");
        }
        let until = loop {
            match session.poll(&mut Nowhere).unwrap_or_else(|never| match never {}) {
                Output::Send(envelope) => frames.feed(Outgoing::from(&envelope)).await.expect("sent"),
                Output::Event(Event::Invited { id, .. }) => {
                    input = Some(Input::Command(Command::AnswerInvite { id, decline: None }));
                }
                Output::Close(reason) => panic!("the link ends: {reason:?}"),
                Output::Event(_) => {}
                Output::Idle { until } => break until,
            }
        };
        frames.flush().await.expect("sent");
        if input.is_some() {
            continue;
        }
        if dials && !invited && matches!(session.link(), session::LinkState::Up { .. }) {
            invited = true;
            let setup = engine::GameKind::Gomoku.default_setup();
            let terms = Terms { setup, pace: None, colours: Colours::Mine(Side::First), hints: false };
            let id = MatchId([number as u8; 16]);
            input = Some(Input::Command(Command::Invite { id, terms, counters: None }));
            continue;
        }
        if let Some(state) = session.matches().next() {
            let held = state.seen_ply().unwrap_or(0);
            if let Some((_, at)) = acted.take_if(|(ply, _)| held >= *ply) {
                times.push(at.elapsed());
            }
            let over = state.ply() >= PLIES || state.record().result.is_some();
            if over && held == state.ply() && finished.is_none() {
                finished = Some(state.digest());
                done.fetch_add(1, Ordering::SeqCst);
                continue;
            }
            if !over && state.can_act() && acted.is_none() {
                let (id, action) = (state.id(), any(state, &mut random));
                acted = Some((state.ply() + 1, Instant::now()));
                input = Some(Input::Command(Command::Act { id, action }));
                continue;
            }
        }
        let wait = until.map_or(PATIENCE, |until| until.since(session::Instant(began.elapsed())));
        let wait = if finished.is_some() { wait.min(LOOK) } else { wait };
        input = Some(match tokio::time::timeout(wait, frames.next()).await {
            Err(_) => Input::Tick,
            Ok(Some(Ok(Arrival::Next(frame)))) => {
                Input::Received(Envelope::decode(frame.msgid, &frame.payload).expect("an envelope"))
            }
            Ok(None) if finished.is_some() && done.load(Ordering::SeqCst) == 2 => continue,
            Ok(other) => panic!("match {number}, {role:?}: {other:?}"),
        });
    }
}

fn any(state: &MatchState, random: &mut Rng) -> engine::Action {
    let actions = state.position().legal_actions();
    actions[random.below(actions.len() as u32) as usize]
}
