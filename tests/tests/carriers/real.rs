//! Real links with random schedules: the lists of the sessions' in-memory model, over sockets and servers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use link::identity::Identity;
use link::secure::{self, AcceptedPeers, ExpectedPeer, SecureLink};
use link::{Address, Card, Duplex, Listener, Tag, Transport, WatchEvent};
use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
use proto::peer::Envelope;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_util::codec::Framed;

use crate::pair::{ANNA, BERT, Carrier, Pair};
use crate::schedule;

/// Frames over Noise over a carrier. Not the host's reader, whose limit of frames per second
/// a program exceeds.
pub(crate) type Frames = Framed<SecureLink<Box<dyn Duplex>>, FrameCodec>;

/// Limit for the silence of a server or socket.
const PATIENCE: Duration = Duration::from_mins(1);

/// Two devices on a carrier, and the link between them.
pub(crate) struct Real {
    runtime: Arc<Runtime>,
    transports: [Arc<dyn Transport>; 2],
    listeners: [Box<dyn Listener>; 2],
    addresses: [Address; 2],
    identities: [Identity; 2],
    ends: [Option<Frames>; 2],
    links: usize,
    messages: usize,
}

impl Real {
    /// Two transports that find each other, and listen with the tags 1 and 2.
    pub(crate) fn new(runtime: Arc<Runtime>, both: [(Arc<dyn Transport>, Box<dyn Listener>); 2]) -> Self {
        let [(anna, annas), (bert, berts)] = both;
        let addresses =
            runtime.block_on(async { [find(bert.as_ref(), 1).await, find(anna.as_ref(), 2).await] });
        let (transports, listeners) = ([anna, bert], [annas, berts]);
        let identities = [(); 2].map(|()| Identity::generate().expect("a key"));
        let (ends, links, messages) = ([None, None], 0, 0);
        Self { runtime, transports, listeners, addresses, identities, ends, links, messages }
    }

    /// Plays the lists of these seeds to equal records. Returns the number of links, and of messages over them.
    pub(crate) fn play(self, seeds: std::ops::Range<u64>, length: usize) -> (usize, usize) {
        let real = Arc::new(Mutex::new(self));
        for seed in seeds {
            let carrier = Shared(real.clone());
            let played = catch_unwind(AssertUnwindSafe(move || {
                let mut pair = Pair::friends();
                pair.carrier = Some(Box::new(carrier));
                pair.connect();
                pair.run();
                for op in schedule::list(seed, length) {
                    schedule::perform(&mut pair, op);
                }
                pair.conclude();
                pair.lose_links();
                pair.restart(ANNA);
                pair.restart(BERT);
                pair.heal();
                pair.check_equal();
            }));
            assert!(played.is_ok(), "the list of seed {seed} fails over this carrier");
        }
        let real = real.lock().expect("nobody panicked");
        (real.links, real.messages)
    }
}

/// The carrier, lent to one pair after another.
struct Shared(Arc<Mutex<Real>>);

impl Carrier for Shared {
    fn connect(&mut self, dialer: usize) {
        let real = &mut *self.0.lock().expect("one at a time");
        real.ends = [None, None];
        let listener = 1 - dialer;
        let kind = real.addresses[listener].kind;
        let [anna, bert] = &mut real.listeners;
        let listening = if dialer == ANNA { bert } else { anna };
        let (transport, address) = (&real.transports[dialer], &real.addresses[listener]);
        let (dials, accepts) = (&real.identities[dialer], &real.identities[listener]);
        let (dialed, accepted) = real.runtime.block_on(patiently(async {
            let dial = async {
                let duplex = transport.connect(address).await.expect("it answers");
                secure::dial(duplex, dials, kind, ExpectedPeer::Anybody).await.expect("a handshake")
            };
            let accept = async {
                loop {
                    let duplex = listening.accept().await.expect("it listens").duplex;
                    // Messages of an earlier link may still arrive.
                    if let Ok(link) = secure::accept(duplex, accepts, kind, &AcceptedPeers::all()).await {
                        return link;
                    }
                }
            };
            tokio::join!(dial, accept)
        }));
        assert_eq!(dialed.peer_key(), accepts.public_key());
        let framed = |link| Some(Framed::new(link, FrameCodec::new(FrameLimit::Peer)));
        real.ends[dialer] = framed(dialed);
        real.ends[listener] = framed(accepted);
        real.links += 1;
    }

    fn send(&mut self, from: usize, envelope: &Envelope) {
        let real = &mut *self.0.lock().expect("one at a time");
        let frames = real.ends[from].as_mut().expect("a link");
        real.runtime.block_on(patiently(frames.send(Outgoing::from(envelope)))).expect("sent");
        real.messages += 1;
    }

    fn receive(&mut self, to: usize) -> Envelope {
        let real = &mut *self.0.lock().expect("one at a time");
        let frames = real.ends[to].as_mut().expect("a link");
        let next = real.runtime.block_on(patiently(frames.next()));
        match next.expect("no end before what was said").expect("a frame") {
            Arrival::Next(frame) => Envelope::decode(frame.msgid, &frame.payload).expect("an envelope"),
            other => panic!("{other:?}"),
        }
    }
}

async fn patiently<T>(work: impl Future<Output = T>) -> T {
    timeout(PATIENCE, work).await.expect("the carrier answers")
}

/// Listens as a device with this tag.
pub(crate) async fn listen(transport: &dyn Transport, tag: u8) -> Box<dyn Listener> {
    let card =
        Card { tag: Tag([tag; 5]), open_to_all: true, busy: false, wish: 0, name: None, seldom: false };
    transport.listen(card).await.expect("it listens")
}

/// The address of the device with this tag.
pub(crate) async fn find(transport: &dyn Transport, tag: u8) -> Address {
    let mut watch = transport.watch(true);
    let look = async {
        loop {
            if let WatchEvent::Seen(sighting) = watch.next().await.expect("a watch does not end")
                && sighting.tag == Tag([tag; 5])
            {
                return sighting.address;
            }
        }
    };
    patiently(look).await
}
