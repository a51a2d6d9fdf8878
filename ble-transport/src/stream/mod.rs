//! A reliable ordered byte stream over writes and notifications that may be lost, duplicated, reordered, truncated or
//! corrupted.
//!
//! In practice GATT rules out none of these: BlueZ's EATT reorders, bursts of notifications vanish although each returned Ok,
//! values that are too long vanish too. [`Stream`] is a state machine without I/O and without a clock: fragments and written
//! bytes go in, [`Stream::poll`] says what to send and when to poll again. It numbers fragments, acknowledges cumulatively and
//! selectively (SACK), keeps a window in both directions, and retransmits lost fragments.
//!
//! What it deliberately does not do: it sends no keep-alive. The session's pings test a silent peer; here a link is dead only
//! when a sent fragment got no acknowledgement for [`DEAD_AFTER`].
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
use sending::{InFlight, PROBE_EVERY, RttEstimator};

pub use fragment::{
    Accepting, Kind, LARGEST, LinkId, MAX_WINDOW, OVERHEAD, Opening, Refusal, RefusalReason, Role, SACK,
    SMALLEST, Segment, VERSIONS, Versions, WINDOW_UNIT, read_accepting, read_opening, read_refusal,
    write_accepting, write_opening, write_refusal,
};
pub use greeting::GREETING_DEADLINE;

/// A link without progress for this long is dead. Below the session's 9 s of silence, so that a link which loses everything is
/// replaced before the session gives up.
pub const DEAD_AFTER: Duration = Duration::from_secs(8);

/// How long a finished link stays, like TCP's TIME-WAIT: if its last acknowledgement was lost, the peer retransmits, and would
/// otherwise never learn that everything arrived. After this time the peer has given up as well.
const TIME_WAIT: Duration = DEAD_AFTER;

/// Bytes written but not flushed wait this long for more (like TCP_CORK).
const LINGER: Duration = Duration::from_millis(5);

/// Initial congestion window: twice the fragments of an interval of 30 ms with two full fragments and an RTT of two intervals.
/// Bursts of hundreds of notifications vanish; this is far below.
const FIRST_WINDOW: f64 = 8.0;

/// Bytes of the receive buffer, and of the send buffer: a full window.
const BUFFER: usize = 32 * 1024;

/// Largest payload of one fragment.
const LARGEST_PAYLOAD: usize = LARGEST - OVERHEAD;

/// The largest fragment for a bearer with this ATT MTU.
///
/// The MTU less three bytes of ATT header; at most [`LARGEST`], since longer writes vanish silently; at least [`SMALLEST`],
/// which every link carries. An unknown MTU means [`SMALLEST`]: BlueZ reports none before 5.62.
pub fn fragment_limit(mtu: Option<u16>) -> u16 {
    let largest = mtu.unwrap_or(0).saturating_sub(3);
    largest.clamp(SMALLEST as u16, LARGEST as u16)
}

/// What the caller of [`Stream::poll`] has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this, then poll again.
    Send(Bytes),
    /// Nothing to send until the next call of `handle`, `write` or `read`, or until this time.
    Idle {
        /// When to poll again at the latest.
        until: Option<Instant>,
    },
}

/// How a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closing {
    /// Both sides have sent their end, and everything arrived.
    #[error("finished by both sides")]
    Finished,
    /// The peer or this side reset the link.
    #[error("reset")]
    Reset,
    /// The peer has another link.
    #[error("refused by the peer")]
    Refused,
    /// No version in common; the peer speaks these.
    #[error("the peer speaks versions {} to {} of the stream", .0.lowest, .0.highest)]
    WrongVersion(Versions),
    /// The greeting got no answer.
    #[error("no answer to the greeting")]
    NoAnswer,
    /// Nothing that was sent got an acknowledgement for [`DEAD_AFTER`].
    #[error("no progress")]
    Stalled,
}

impl Closing {
    /// Which device has to be updated, if the link ended for lack of a common version.
    pub fn outdated(self) -> Option<link::Outdated> {
        match self {
            Closing::WrongVersion(theirs) => Some(link::Outdated::of(theirs.highest, VERSIONS.lowest)),
            _ => None,
        }
    }
}

/// Statistics of a link, counted in fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sent, of any kind.
    pub sent: u64,
    /// Of these, retransmissions.
    pub retransmitted: u64,
    /// Received, valid or not.
    pub received: u64,
    /// Damaged, truncated or left over from an older link.
    pub damaged: u64,
    /// Received more than once.
    pub duplicates: u64,
    /// Received out of order.
    pub reordered: u64,
}

/// One end of one link. See the [module](self).
#[derive(Debug)]
pub struct Stream {
    role: Role,
    phase: Phase,
    /// Largest fragment to send, in bytes.
    limit: u16,
    counts: Counts,
    /// The last fragment for the peer once the link is over.
    last_word: Option<Bytes>,
    versions: Versions,

    // Sending.
    outgoing: VecDeque<u8>,
    /// How many bytes of `outgoing` were flushed.
    flushed: usize,
    /// When unflushed bytes leave anyway.
    linger_until: Option<Instant>,
    /// `finish` was called.
    finishing: bool,
    /// When the link ends, after both sides have finished.
    finished_at: Option<Instant>,
    end_sent: bool,
    /// Fragments in flight, not yet acknowledged in order; the first has the number `base`.
    flight: VecDeque<InFlight>,
    base: u16,
    /// First number beyond the peer's receive window.
    peer_limit: u16,
    /// Congestion window: how many fragments may be in flight.
    congestion_window: f64,
    ssthresh: f64,
    /// Recovery point: losses before this number belong to a burst that has already narrowed the window.
    recovery_point: Option<u16>,
    rtt: RttEstimator,
    backoff: u32,
    /// One retransmission may exceed the window, as a probe after a timeout.
    probing: bool,
    transmissions: u64,
    /// The latest-sent fragment known to have arrived, and its round trip.
    newest_arrived: Option<(u64, Duration)>,
    progress_at: Instant,
    probe_at: Option<Instant>,

    // Receiving.
    next_expected: u16,
    /// Received out of order: index i holds number `expected + 1 + i`.
    reorder_buffer: VecDeque<Option<(Kind, Bytes)>>,
    incoming: VecDeque<u8>,
    /// The peer's end of stream is in `incoming` or was read.
    ended: bool,
    ack_due: Option<Instant>,
    ack_now: bool,
    unacknowledged: u32,
    /// Since when there is a gap before the fragments in `ahead`.
    gap_at: Option<Instant>,
    /// Fragments still to be acknowledged quickly.
    quick: u32,
    data_at: Instant,
    /// End of the receive window as last advertised.
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
    /// Opens a link as central. `nonce` is drawn afresh for each link; `limit` comes from [`fragment_limit`].
    pub fn open(now: Instant, nonce: u32, limit: u16) -> Stream {
        Stream::open_with(now, nonce, limit, VERSIONS)
    }

    fn open_with(now: Instant, nonce: u32, limit: u16, versions: Versions) -> Stream {
        let opening = Opening { versions, nonce, limit };
        let phase = Phase::Opening { opening, greeting: Greeting::new(now) };
        Stream::new(now, Role::Opener, phase, limit, versions)
    }

    /// Accepts a link as peripheral, given the peer's opening. Without a common version the stream sends a refusal and is
    /// closed.
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
            peer_limit: u16::from(MAX_WINDOW),
            congestion_window: FIRST_WINDOW,
            ssthresh: f64::from(MAX_WINDOW),
            recovery_point: None,
            rtt: RttEstimator::default(),
            backoff: 0,
            probing: false,
            transmissions: 0,
            newest_arrived: None,
            progress_at: now,
            probe_at: None,
            next_expected: 0,
            reorder_buffer: VecDeque::new(),
            incoming: VecDeque::new(),
            ended: false,
            ack_due: None,
            ack_now: false,
            unacknowledged: 0,
            gap_at: None,
            quick: QUICK_FRAGMENTS,
            data_at: now,
            advertised_limit: u16::from(MAX_WINDOW),
        }
    }

    /// Handles a received value. Damaged, foreign or impossible values are dropped.
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
                // Other fragments are leftovers of the previous link.
                match read_accepting(bytes).filter(|accepting| accepting.link.opener == nonce) {
                    None => self.counts.damaged += 1,
                    Some(Accepting { version, .. }) if !self.versions.hold(version) => {
                        let theirs = Versions { lowest: version, highest: version };
                        self.phase = Phase::Closed(Closing::WrongVersion(theirs));
                    }
                    Some(accepting) => {
                        if greeting.sent == 1 {
                            self.rtt.measure(now - greeting.first_sent);
                        }
                        self.open_link(now, accepting.link, accepting.limit);
                        // The accepter considers the link open after the first fragment.
                        self.ack_now = true;
                    }
                }
            }
            Phase::Accepting { accepting, greeting } => {
                let link = accepting.link;
                match Segment::read(bytes, link, from) {
                    Some(segment) => {
                        if greeting.sent == 1 {
                            self.rtt.measure(now - greeting.first_sent);
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
                    // The opener's confirmation was lost, or crossed a repeated greeting.
                    None if read_accepting(bytes).is_some_and(|accepting| accepting.link == link) => {
                        self.ack_now = true;
                    }
                    None if read_opening(bytes).is_some_and(|opening| opening.nonce == link.opener) => {
                        self.counts.duplicates += 1;
                    }
                    None => self.counts.damaged += 1,
                }
            }
            Phase::Closed(_) => {}
        }
    }

    /// Accepts as many bytes as fit the buffer and returns their number. Accepted bytes leave when flushed, when a fragment is
    /// full, or after `LINGER`.
    pub fn write(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.writable());
        self.outgoing.extend(&bytes[..taken]);
        if taken > 0 {
            self.linger_until.get_or_insert(now + LINGER);
        }
        taken
    }

    /// Sends the bytes written so far as soon as the window allows.
    pub fn flush(&mut self) {
        self.flushed = self.outgoing.len();
    }

    /// Whether the peer has acknowledged everything written.
    pub fn all_arrived(&self) -> bool {
        self.outgoing.is_empty() && self.flight.is_empty() && (!self.finishing || self.end_sent)
    }

    /// Copies received bytes in order; returns their number. 0 means nothing now; see [`at_end`](Self::at_end).
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let taken = into.len().min(self.incoming.len());
        for (to, from) in into.iter_mut().zip(self.incoming.drain(..taken)) {
            *to = from;
        }
        // A peer with hardly any advertised room must learn of freed room, or it waits for its probe.
        let told = self.advertised_limit.wrapping_sub(self.next_expected);
        if taken > 0 && told <= u16::from(MAX_WINDOW / 4) && self.receive_window() >= MAX_WINDOW / 2 {
            self.ack_now = true;
        }
        taken
    }

    /// Bytes ready to be read.
    pub fn readable(&self) -> usize {
        self.incoming.len()
    }

    /// Whether the peer has finished and everything was read.
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

    /// Closes the sending side: the peer reads the end after the last byte. Returns whether this is the first call.
    pub fn finish(&mut self) -> bool {
        !std::mem::replace(&mut self.finishing, true)
    }

    /// Ends the link at once and sends the peer one reset.
    pub fn reset(&mut self) {
        self.close(Closing::Reset);
    }

    /// Whether the handshake is complete.
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

    /// The largest fragment to send, in bytes: the smaller of both sides' limits in the handshake.
    pub fn fragment_limit(&self) -> usize {
        usize::from(self.limit)
    }

    /// Smoothed round trip time (SRTT) of a fragment and its acknowledgement, including the peer's delay of acknowledgements.
    pub fn round_trip(&self) -> Option<Duration> {
        self.rtt.smooth
    }

    /// Congestion window, in fragments.
    pub fn window(&self) -> u32 {
        self.congestion_window as u32
    }

    /// The statistics so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Closes the link if its handshake or its progress has timed out by now. Returns when that will be.
    ///
    /// [`poll`](Self::poll) does the same; this method serves while the channel accepts nothing that `poll` could send.
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

    /// When the link times out without a sign of the peer.
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

    /// The next fragment to send, or when to poll again.
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
        // After the match, because the match may close the link.
        let output = self.last_word.take().map_or(output, Output::Send);
        if matches!(output, Output::Send(_)) {
            self.counts.sent += 1;
        }
        output
    }

    fn poll_open(&mut self, now: Instant, link: LinkId) -> Output {
        let retry_at = self.find_losses(now);
        let on_the_way = self.flight.iter().filter(|flight| !flight.acknowledged && !flight.lost).count();
        let window_open = (on_the_way as f64) < self.congestion_window.floor();
        if (window_open || self.probing)
            && let Some(index) = self.flight.iter().position(|flight| flight.lost)
        {
            self.probing = false;
            return self.retransmit(now, link, index);
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
            let at = *self.finished_at.get_or_insert(now + TIME_WAIT);
            if now >= at {
                self.phase = Phase::Closed(Closing::Finished);
                return Output::Idle { until: None };
            }
            finished_at = Some(at);
        }
        let dead_at = self.dead_at();
        // The linger timer matters only if nothing else holds the bytes back.
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

/// Whether `a` comes before `b` in serial number arithmetic (RFC 1982): numbers wrap around and are at most half their range
/// apart.
fn is_before(a: u16, b: u16) -> bool {
    (a.wrapping_sub(b) as i16) < 0
}
