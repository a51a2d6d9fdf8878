//! A reliable ordered byte stream over writes and notifications that may be lost, doubled, reordered, cut short or bent.
//!
//! GATT promises none of that away in practice: BlueZ's EATT reorders, bursts of notifications vanish although each was
//! answered Ok, too long writes vanish too. [`Stream`] is a machine without I/O and without a clock: fragments and
//! writes go in, [`Stream::poll`] says what to send and when to come back. It numbers fragments, acknowledges
//! cumulatively and selectively, keeps a window in both directions, and sends again what is missing.
//!
//! What it deliberately does not do: it sends nothing while there is nothing to say. Whether a silent peer is still there
//! is asked by the session's pings; here a link is dead only when something sent got no acknowledgement for
//! [`DEAD_AFTER`].
//!
//! ```
//! use std::time::Instant;
//! use ble_transport::stream::{Opening, Output, Stream, read_opening};
//!
//! let now = Instant::now();
//! let mut central = Stream::open(now, 1, 490);
//! let Output::Send(first) = central.poll(now) else { panic!("an opener opens") };
//! let mut peripheral = Stream::accept(now, 2, 490, read_opening(&first).expect("an opening"));
//! let Output::Send(answer) = peripheral.poll(now) else { panic!("an accepter answers") };
//! central.handle(now, &answer);
//! central.write(now, b"h8");
//! central.flush();
//! let Output::Send(fragment) = central.poll(now) else { panic!("flushed: it leaves at once") };
//! peripheral.handle(now, &fragment);
//! let mut got = [0; 2];
//! assert_eq!(peripheral.read(&mut got), 2);
//! assert_eq!(&got, b"h8");
//! ```

mod fragment;
mod greeting;
#[cfg(test)]
mod model;
mod receiving;
mod sending;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;

use greeting::{Greet, Greeting};
use receiving::QUICK_FRAGMENTS;
use sending::{Flight, PROBE_EVERY, Timing};

pub use fragment::{
    Accepting, Kind, LARGEST, LinkId, MOST_ROOM, OVERHEAD, Opening, ROOM_UNIT, Refusal, RefusalReason, Role,
    SACK, SMALLEST, Segment, VERSIONS, Versions, read_accepting, read_opening, read_refusal, write_accepting,
    write_opening, write_refusal,
};
pub use greeting::GREETING_DEADLINE;

/// A link without progress for this long is dead. Below the session's 9 s of silence, so that a link which only swallows
/// is replaced before the session gives up on it.
pub const DEAD_AFTER: Duration = Duration::from_secs(8);

/// A link on which both sides have said everything stays for so long: if its last acknowledgement was lost, the other side asks
/// again, and would else never know that all arrived. After this time the other side has given up as well.
const FINISHED_STAYS: Duration = DEAD_AFTER;

/// Written but not flushed bytes wait this long for more.
const LINGER: Duration = Duration::from_millis(5);

/// Fragments on their way at the start: twice what an interval of 30 ms with two full fragments and a round trip of two
/// intervals hold. Bursts of hundreds of notifications vanish; this is far from it.
const FIRST_WINDOW: f64 = 8.0;

/// Bytes kept for the reader, and for the air: a full window.
const BUFFER: usize = 32 * 1024;

/// Largest payload that any fragment carries.
const LARGEST_PAYLOAD: usize = LARGEST - OVERHEAD;

/// The largest fragment to send through a bearer whose ATT MTU is `mtu`, if it is known.
///
/// Three bytes of ATT header; never above [`LARGEST`], since longer writes vanish silently; never below [`SMALLEST`],
/// which every link carries. An unknown MTU means [`SMALLEST`]: BlueZ tells none before 5.62.
pub fn fragment_limit(mtu: Option<u16>) -> u16 {
    let largest = mtu.unwrap_or(0).saturating_sub(3);
    largest.clamp(SMALLEST as u16, LARGEST as u16)
}

/// What [`Stream::poll`] wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Put this on the air, then poll again.
    Send(Bytes),
    /// Nothing more until something is handled, written or read, or until this time.
    Idle {
        /// When to poll again at the latest.
        until: Option<Instant>,
    },
}

/// How a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closing {
    /// Both sides had said that nothing follows, and everything arrived.
    #[error("finished by both sides")]
    Finished,
    /// The peer gave up, or this side did.
    #[error("reset")]
    Reset,
    /// The peer is occupied by another link.
    #[error("refused by the peer")]
    Refused,
    /// The peer speaks no version of this layer that this side does, but these.
    #[error("the peer speaks versions {} to {} of the stream", .0.lowest, .0.highest)]
    WrongVersion(Versions),
    /// The greeting got no answer.
    #[error("no answer to the greeting")]
    NoAnswer,
    /// Nothing that was sent arrived for [`DEAD_AFTER`].
    #[error("no progress")]
    Stalled,
}

impl Closing {
    /// Which device has to be updated, if that is why.
    pub fn outdated(self) -> Option<link::Outdated> {
        match self {
            Closing::WrongVersion(theirs) => Some(link::Outdated::of(theirs.highest, VERSIONS.lowest)),
            _ => None,
        }
    }
}

/// What happened on a link so far, counted in fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handed out to be sent, of any kind.
    pub sent: u64,
    /// Of these, sent again because they were missing.
    pub sent_again: u64,
    /// Taken in, good or bad.
    pub received: u64,
    /// Damaged, cut short or left over from an older link.
    pub damaged: u64,
    /// Received before.
    pub doubled: u64,
    /// Received ahead of one that was sent earlier.
    pub overtook: u64,
}

/// One end of one link. See the [module](self).
#[derive(Debug)]
pub struct Stream {
    role: Role,
    phase: Phase,
    /// Largest fragment to send.
    limit: u16,
    counts: Counts,
    /// What the peer is to be told once the link is over.
    last_word: Option<Bytes>,
    versions: Versions,

    // Sending.
    outgoing: VecDeque<u8>,
    /// How many of `outgoing` were flushed.
    flushed: usize,
    /// When unflushed bytes leave nevertheless.
    linger_until: Option<Instant>,
    /// No more will be written.
    finishing: bool,
    /// When the link, on which nothing more is to be said by either side, is over.
    finished_at: Option<Instant>,
    end_sent: bool,
    /// Sent and not yet acknowledged in order; the first has the number `base`.
    flight: VecDeque<Flight>,
    base: u16,
    /// First number that the peer has no room for.
    peer_limit: u16,
    /// How many may be on their way; follows what the link bears.
    window: f64,
    threshold: f64,
    /// Losses before this number belong to a burst that has narrowed the window already.
    recovering: Option<u16>,
    timing: Timing,
    backoff: u32,
    /// One repeated fragment may leave beyond the window, to ask what is going on.
    probing: bool,
    transmissions: u64,
    /// The latest-sent fragment known to have arrived, and its round trip.
    newest_arrived: Option<(u64, Duration)>,
    progress_at: Instant,
    probe_at: Option<Instant>,

    // Receiving.
    expected: u16,
    /// Arrived early: index i holds number `expected + 1 + i`.
    ahead: VecDeque<Option<(Kind, Bytes)>>,
    incoming: VecDeque<u8>,
    /// The peer's last byte is in `incoming` or was read.
    ended: bool,
    ack_due: Option<Instant>,
    ack_now: bool,
    unacknowledged: u32,
    /// Since when a fragment is missing of which later ones are here.
    gap_at: Option<Instant>,
    /// Fragments still to be acknowledged quickly.
    quick: u32,
    data_at: Instant,
    /// The room last told, counted from the `expected` of then.
    advertised_limit: u16,
}

#[derive(Debug)]
enum Phase {
    Opening { opening: Opening, greeting: Greeting },
    Accepting { accepting: Accepting, greeting: Greeting },
    Open { link: LinkId },
    Closed(Closing),
}

impl Stream {
    /// The central's end. `nonce` is drawn afresh for each link; `limit` comes from [`fragment_limit`].
    pub fn open(now: Instant, nonce: u32, limit: u16) -> Stream {
        Stream::open_with(now, nonce, limit, VERSIONS)
    }

    fn open_with(now: Instant, nonce: u32, limit: u16, versions: Versions) -> Stream {
        let opening = Opening { versions, nonce, limit };
        let phase = Phase::Opening { opening, greeting: Greeting::new(now) };
        Stream::new(now, Role::Opener, phase, limit, versions)
    }

    /// The peripheral's end, once an opening was read. Without a version in common it refuses, and is closed.
    pub fn accept(now: Instant, nonce: u32, limit: u16, opening: Opening) -> Stream {
        Stream::accept_with(now, nonce, limit, opening, VERSIONS)
    }

    fn accept_with(now: Instant, nonce: u32, limit: u16, opening: Opening, versions: Versions) -> Stream {
        let link = LinkId { opener: opening.nonce, accepter: nonce };
        let (phase, last_word) = if let Some(version) = versions.common(opening.versions) {
            let accepting = Accepting { version, link, limit };
            (Phase::Accepting { accepting, greeting: Greeting::new(now) }, None)
        } else {
            let reason = RefusalReason::Version;
            let refusal = Refusal { nonce: opening.nonce, reason, versions };
            (Phase::Closed(Closing::WrongVersion(opening.versions)), Some(write_refusal(refusal)))
        };
        let limit = limit.min(opening.limit);
        Stream { last_word, ..Stream::new(now, Role::Accepter, phase, limit, versions) }
    }

    fn new(now: Instant, role: Role, phase: Phase, limit: u16, versions: Versions) -> Stream {
        Stream {
            role,
            phase,
            limit: limit.clamp(SMALLEST as u16, LARGEST as u16),
            counts: Counts::default(),
            last_word: None,
            versions,
            outgoing: VecDeque::new(),
            flushed: 0,
            linger_until: None,
            finishing: false,
            finished_at: None,
            end_sent: false,
            flight: VecDeque::new(),
            base: 0,
            peer_limit: u16::from(MOST_ROOM),
            window: FIRST_WINDOW,
            threshold: f64::from(MOST_ROOM),
            recovering: None,
            timing: Timing::default(),
            backoff: 0,
            probing: false,
            transmissions: 0,
            newest_arrived: None,
            progress_at: now,
            probe_at: None,
            expected: 0,
            ahead: VecDeque::new(),
            incoming: VecDeque::new(),
            ended: false,
            ack_due: None,
            ack_now: false,
            unacknowledged: 0,
            gap_at: None,
            quick: QUICK_FRAGMENTS,
            data_at: now,
            advertised_limit: u16::from(MOST_ROOM),
        }
    }

    /// Takes in what arrived. Anything damaged, foreign or impossible is dropped.
    pub fn handle(&mut self, now: Instant, bytes: &[u8]) {
        self.counts.received += 1;
        let from = self.role.other();
        match &self.phase {
            Phase::Opening { opening, greeting } => {
                let nonce = opening.nonce;
                if let Some(refusal) = read_refusal(bytes).filter(|refusal| refusal.nonce == nonce) {
                    self.phase = Phase::Closed(match refusal.reason {
                        RefusalReason::Busy => Closing::Refused,
                        RefusalReason::Version => Closing::WrongVersion(refusal.versions),
                    });
                    return;
                }
                // Anything else is a leftover of the link before.
                match read_accepting(bytes).filter(|accepting| accepting.link.opener == nonce) {
                    None => self.counts.damaged += 1,
                    Some(Accepting { version, .. }) if !self.versions.hold(version) => {
                        let theirs = Versions { lowest: version, highest: version };
                        self.phase = Phase::Closed(Closing::WrongVersion(theirs));
                    }
                    Some(accepting) => {
                        if greeting.sent == 1 {
                            self.timing.measure(now - greeting.first_sent);
                        }
                        self.open_link(now, accepting.link, accepting.limit);
                        // The accepter waits for a word before it believes in the link.
                        self.ack_now = true;
                    }
                }
            }
            Phase::Accepting { accepting, greeting } => {
                let link = accepting.link;
                match Segment::read(bytes, link, from) {
                    Some(segment) => {
                        if greeting.sent == 1 {
                            self.timing.measure(now - greeting.first_sent);
                        }
                        let limit = self.limit;
                        self.open_link(now, link, limit);
                        self.handle_segment(now, segment);
                    }
                    None if read_opening(bytes).is_some_and(|opening| opening.nonce == link.opener) => {
                        self.greet_again(now);
                    }
                    None => self.counts.damaged += 1,
                }
            }
            Phase::Open { link } => {
                let link = *link;
                match Segment::read(bytes, link, from) {
                    Some(segment) => self.handle_segment(now, segment),
                    // Our confirmation was lost, or the accepter's greetings crossed it.
                    None if read_accepting(bytes).is_some_and(|accepting| accepting.link == link) => {
                        self.ack_now = true;
                    }
                    None if read_opening(bytes).is_some_and(|opening| opening.nonce == link.opener) => {
                        self.counts.doubled += 1;
                    }
                    None => self.counts.damaged += 1,
                }
            }
            Phase::Closed(_) => {}
        }
    }

    /// Takes as many bytes as there is room for and says how many. They leave when flushed, when a fragment is full, or
    /// shortly after.
    pub fn write(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.writable());
        self.outgoing.extend(&bytes[..taken]);
        if taken > 0 {
            self.linger_until.get_or_insert(now + LINGER);
        }
        taken
    }

    /// What was written so far leaves as soon as the window allows.
    pub fn flush(&mut self) {
        self.flushed = self.outgoing.len();
    }

    /// Whether everything written was acknowledged by the peer.
    pub fn all_arrived(&self) -> bool {
        self.outgoing.is_empty() && self.flight.is_empty() && (!self.finishing || self.end_sent)
    }

    /// Gives out what arrived in order: how many bytes. 0 means nothing now; see [`at_end`](Self::at_end).
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let taken = into.len().min(self.incoming.len());
        for (to, from) in into.iter_mut().zip(self.incoming.drain(..taken)) {
            *to = from;
        }
        // A peer that was told of hardly any room must learn of new room, or it waits for its probe.
        let told = self.advertised_limit.wrapping_sub(self.expected);
        if taken > 0 && told <= u16::from(MOST_ROOM / 4) && self.room() >= MOST_ROOM / 2 {
            self.ack_now = true;
        }
        taken
    }

    /// Bytes that wait to be read.
    pub fn readable(&self) -> usize {
        self.incoming.len()
    }

    /// Whether the peer finished and all of it was read.
    pub fn at_end(&self) -> bool {
        self.ended && self.incoming.is_empty()
    }

    /// How many bytes [`write`](Self::write) would take.
    pub fn writable(&self) -> usize {
        if self.finishing || self.closing().is_some() {
            0
        } else {
            BUFFER.saturating_sub(self.outgoing.len())
        }
    }

    /// Nothing more will be written; the peer reads the end after the last byte. Says whether that is news.
    pub fn finish(&mut self) -> bool {
        !std::mem::replace(&mut self.finishing, true)
    }

    /// Ends the link at once and tells the peer once.
    pub fn reset(&mut self) {
        self.close(Closing::Reset);
    }

    /// Whether the greeting is over and bytes may travel.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    /// How the link ended, if it did.
    pub fn closing(&self) -> Option<Closing> {
        match self.phase {
            Phase::Closed(closing) => Some(closing),
            Phase::Opening { .. } | Phase::Accepting { .. } | Phase::Open { .. } => None,
        }
    }

    /// The largest fragment sent, in bytes. Agreed while greeting: the smaller of both sides' limits.
    pub fn fragment_limit(&self) -> usize {
        usize::from(self.limit)
    }

    /// The round trip of a fragment and its acknowledgement, smoothed; with what the peer waits before it answers.
    pub fn round_trip(&self) -> Option<Duration> {
        self.timing.smooth
    }

    /// How many fragments may be on their way now.
    pub fn window(&self) -> u32 {
        self.window as u32
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Ends the link if it is over by now: its greeting got no answer, or nothing arrives any more. Says when that will be.
    ///
    /// [`poll`](Self::poll) does the same; this is for while the air takes nothing that it could send.
    pub fn expire(&mut self, now: Instant) -> Option<Instant> {
        let at = self.dead_at()?;
        if now < at {
            return Some(at);
        }
        if self.is_open() {
            self.close(Closing::Stalled);
        } else {
            self.phase = Phase::Closed(Closing::NoAnswer);
        }
        None
    }

    /// When the link is over without a sign of the peer.
    fn dead_at(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Opening { greeting, .. } | Phase::Accepting { greeting, .. } => Some(greeting.deadline),
            Phase::Open { .. } => {
                let waiting = !self.flight.is_empty() || self.probe_at.is_some();
                waiting.then_some(self.progress_at + DEAD_AFTER)
            }
            Phase::Closed(_) => None,
        }
    }

    /// What to send now, else when to come back.
    pub fn poll(&mut self, now: Instant) -> Output {
        self.expire(now);
        let output = match &mut self.phase {
            Phase::Opening { opening, greeting } => match greeting.poll(now) {
                Greet::Now => Output::Send(write_opening(*opening)),
                Greet::Later(until) => Output::Idle { until: Some(until) },
            },
            Phase::Accepting { accepting, greeting } => match greeting.poll(now) {
                Greet::Now => Output::Send(write_accepting(*accepting)),
                Greet::Later(until) => Output::Idle { until: Some(until) },
            },
            Phase::Open { link } => {
                let link = *link;
                self.poll_open(now, link)
            }
            Phase::Closed(_) => Output::Idle { until: None },
        };
        // After the match: a link may have closed in it.
        let output = self.last_word.take().map_or(output, Output::Send);
        if matches!(output, Output::Send(_)) {
            self.counts.sent += 1;
        }
        output
    }

    fn poll_open(&mut self, now: Instant, link: LinkId) -> Output {
        let retry_at = self.find_losses(now);
        let on_the_way = self.flight.iter().filter(|flight| !flight.arrived && !flight.lost).count();
        let window_open = (on_the_way as f64) < self.window.floor();
        if (window_open || self.probing)
            && let Some(index) = self.flight.iter().position(|flight| flight.lost)
        {
            self.probing = false;
            return self.send_again(now, link, index);
        }
        if window_open && let Some(output) = self.send_new(now, link) {
            return output;
        }
        self.plan_probe(now);
        if self.probe_at.is_some_and(|at| now >= at) {
            self.probe_at = Some(now + PROBE_EVERY);
            let number = self.next_number();
            return self.send_segment(link, Kind::Probe, number, Bytes::new());
        }
        if self.ack_now || self.ack_due.is_some_and(|at| now >= at) {
            let number = self.next_number();
            return self.send_segment(link, Kind::Ack, number, Bytes::new());
        }
        let mut finished_at = None;
        if self.ended && self.finishing && self.all_arrived() {
            let at = *self.finished_at.get_or_insert(now + FINISHED_STAYS);
            if now >= at {
                self.phase = Phase::Closed(Closing::Finished);
                return Output::Idle { until: None };
            }
            finished_at = Some(at);
        }
        let dead_at = self.dead_at();
        // Bytes that linger only wait for time if nothing else holds them back.
        let linger =
            self.linger_until.filter(|_| window_open && self.has_room() && !self.outgoing.is_empty());
        let until =
            [retry_at, dead_at, self.probe_at, self.ack_due, linger, finished_at].into_iter().flatten().min();
        Output::Idle { until }
    }

    fn open_link(&mut self, now: Instant, link: LinkId, limit: u16) {
        self.phase = Phase::Open { link };
        self.limit = self.limit.min(limit).clamp(SMALLEST as u16, LARGEST as u16);
        self.progress_at = now;
    }

    fn greet_again(&mut self, now: Instant) {
        if let Phase::Accepting { greeting, .. } = &mut self.phase {
            greeting.next = now;
        }
    }

    fn close(&mut self, closing: Closing) {
        let link = match &self.phase {
            Phase::Open { link } => Some(*link),
            Phase::Accepting { accepting, .. } => Some(accepting.link),
            Phase::Opening { .. } => None,
            Phase::Closed(_) => return,
        };
        let reset = self.segment(Kind::Reset, self.next_number(), Bytes::new());
        self.last_word = link.map(|link| reset.write(link, self.role));
        self.phase = Phase::Closed(closing);
    }

    fn handle_segment(&mut self, now: Instant, segment: Segment) {
        self.handle_ack(now, &segment);
        match segment.kind {
            Kind::Data | Kind::End => self.handle_payload(now, segment),
            Kind::Probe => self.ack_now = true,
            Kind::Ack => {}
            Kind::Reset => self.phase = Phase::Closed(Closing::Reset),
        }
    }
}

/// Whether `a` comes before `b` among numbers that wrap around and are never further apart than half their range.
fn is_before(a: u16, b: u16) -> bool {
    (a.wrapping_sub(b) as i16) < 0
}
