//! A byte stream that tokio can read and write, over a [`Stream`] and the GATT channel below it.

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until, timeout};

use crate::stream::{Closing, Counts, DEAD_AFTER, Output, Stream};

/// How long a dropped link still delivers written bytes, so that a goodbye arrives; also how long the last fragment of a closed
/// link waits for a channel that accepts nothing.
const PARTING: Duration = Duration::from_secs(1);

/// A value that the channel has not accepted within this time ends the link: bluetoothd hangs. A link that sends only
/// acknowledgements has no timer of its own for this case.
const SEND_WITHIN: Duration = DEAD_AFTER;

/// The two directions of GATT traffic with one peer.
pub(crate) struct Pipe {
    /// Received values, unchanged. Ends with the connection.
    pub(crate) incoming: BoxStream<'static, Bytes>,
    /// The sink for values to send.
    pub(crate) outgoing: Box<dyn Outgoing>,
}

/// Sends values over GATT.
#[async_trait]
pub(crate) trait Outgoing: Send {
    /// Sends one value; waits while the system applies back-pressure. Ok is no proof of delivery: the value may still be lost.
    async fn send(&mut self, value: &[u8]) -> io::Result<()>;

    /// Ends the connection.
    async fn hang_up(&mut self);
}

/// One link with the behaviour of a socket. Dropping it closes the stream and disconnects.
pub struct BleStream {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified after a write, a read, a finish or a drop.
    used: Notify,
    /// Notified when the greeting has ended, with or without success.
    greeted: Notify,
}

struct State {
    stream: Stream,
    reader: Option<Waker>,
    writer: Option<Waker>,
    finisher: Option<Waker>,
    /// Why the connection below ended, if it did.
    lost: Option<String>,
    /// The task has ended.
    over: bool,
    dropped: bool,
}

impl BleStream {
    /// Runs `stream` over `pipe` in a task of its own.
    pub(crate) fn start(stream: Stream, pipe: Pipe) -> BleStream {
        let state = State {
            stream,
            reader: None,
            writer: None,
            finisher: None,
            lost: None,
            over: false,
            dropped: false,
        };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), used: Notify::new(), greeted: Notify::new() });
        tokio::spawn(drive(shared.clone(), pipe));
        BleStream { shared }
    }

    /// Which device has to be updated, if the stream ended because of that.
    pub(crate) fn outdated(&self) -> Option<link::Outdated> {
        self.shared.state().stream.closing()?.outdated()
    }

    /// Waits until both sides have greeted each other.
    pub(crate) async fn greeted(&self) -> io::Result<()> {
        loop {
            let mut greeted = pin!(self.shared.greeted.notified());
            greeted.as_mut().enable();
            {
                let state = self.shared.state();
                if state.stream.is_open() {
                    return Ok(());
                }
                if state.over {
                    return Err(state.error());
                }
            }
            greeted.await;
        }
    }

    /// The largest value that this link sends, in bytes: ATT's payload less a margin.
    pub fn fragment_limit(&self) -> usize {
        self.shared.state().stream.fragment_limit()
    }

    /// The smoothed round trip time (SRTT) of a fragment, and the congestion window in fragments.
    pub fn flow(&self) -> (Option<Duration>, u32) {
        let state = self.shared.state();
        (state.stream.round_trip(), state.stream.window())
    }

    /// What happened on this link so far.
    pub fn counts(&self) -> Counts {
        self.shared.state().stream.counts()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of the lock's holder leaves the state machine valid: continuing is safe.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn error(&self) -> io::Error {
        match (&self.lost, self.stream.closing()) {
            (Some(lost), _) => io::Error::new(io::ErrorKind::ConnectionAborted, lost.clone()),
            (None, Some(closing)) => {
                let kind = match closing {
                    Closing::Finished | Closing::Reset => io::ErrorKind::ConnectionReset,
                    Closing::Refused | Closing::WrongVersion(_) => io::ErrorKind::ConnectionRefused,
                    Closing::NoAnswer | Closing::Stalled => io::ErrorKind::TimedOut,
                };
                io::Error::new(kind, closing)
            }
            (None, None) => io::Error::new(io::ErrorKind::ConnectionAborted, "the link was given up"),
        }
    }

    /// Wakes the tasks that can make progress now.
    fn wake(&mut self) {
        let closed = self.over || self.stream.closing().is_some();
        let reads = closed || self.stream.readable() > 0 || self.stream.at_end();
        let writes = closed || self.stream.writable() > 0;
        let finishes = closed || self.stream.all_arrived();
        let reader = if reads { self.reader.take() } else { None };
        let writer = if writes { self.writer.take() } else { None };
        let finisher = if finishes { self.finisher.take() } else { None };
        for waker in [reader, writer, finisher].into_iter().flatten() {
            waker.wake();
        }
    }
}

impl AsyncRead for BleStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        let taken = state.stream.read(buf.initialize_unfilled());
        if taken > 0 {
            buf.advance(taken);
            drop(state);
            // The read may have freed room to advertise.
            self.shared.used.notify_one();
            return Poll::Ready(Ok(()));
        }
        if state.stream.at_end() || buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        if state.over {
            return Poll::Ready(Err(state.error()));
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for BleStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.shared.state();
        if state.over || state.stream.closing().is_some() {
            return Poll::Ready(Err(state.error()));
        }
        let taken = state.stream.write(Instant::now().into_std(), buf);
        if taken == 0 && !buf.is_empty() {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        self.shared.used.notify_one();
        Poll::Ready(Ok(taken))
    }

    /// Written bytes leave at once; as with a socket, this does not wait until they arrive.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        if state.over {
            return Poll::Ready(Err(state.error()));
        }
        state.stream.flush();
        drop(state);
        self.shared.used.notify_one();
        Poll::Ready(Ok(()))
    }

    /// Sends the end of the stream and waits until everything is acknowledged.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        if state.stream.finish() {
            self.shared.used.notify_one();
        }
        if state.stream.all_arrived() {
            return Poll::Ready(Ok(()));
        }
        if state.over {
            return Poll::Ready(Err(state.error()));
        }
        state.finisher = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for BleStream {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.dropped = true;
        state.stream.finish();
        drop(state);
        self.shared.used.notify_one();
    }
}

/// Moves fragments between the state machine and GATT until one of the two ends.
async fn drive(shared: Arc<Shared>, pipe: Pipe) {
    let Pipe { incoming, mut outgoing } = pipe;
    let (to_air, mut from_machine) = mpsc::channel::<Bytes>(1);
    // Sending may take a connection interval; received values are handled meanwhile.
    let sending = async {
        while let Some(value) = from_machine.recv().await {
            let took = timeout(SEND_WITHIN, outgoing.send(&value)).await;
            took.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the radio takes nothing any more"))??;
        }
        io::Result::Ok(())
    };
    let machine = run(&shared, incoming, to_air);
    let ended = {
        let (mut sending, mut machine) = (pin!(sending), pin!(machine));
        tokio::select! {
            // The state machine drops its end of the channel: queued values are still sent, for at most `PARTING`.
            () = &mut machine => {
                let _ = tokio::time::timeout(PARTING, sending).await;
                None
            }
            result = &mut sending => {
                Some(result.err().map_or_else(|| "the connection ended".to_owned(), |error| error.to_string()))
            }
        }
    };
    {
        let mut state = shared.state();
        if let Some(why) = ended
            && state.stream.closing().is_none()
        {
            state.lost.get_or_insert(why);
        }
        state.over = true;
        state.wake();
        tracing::debug!(counts = ?state.stream.counts(), closing = ?state.stream.closing(), lost = ?state.lost, "link over");
    }
    shared.greeted.notify_waiters();
    outgoing.hang_up().await;
}

/// Runs the state machine between `incoming` and `to_air` until the link is over. Then the channel closes.
async fn run(shared: &Shared, mut incoming: BoxStream<'static, Bytes>, to_air: mpsc::Sender<Bytes>) {
    let mut parting: Option<Instant> = None;
    let mut last_word: Option<Instant> = None;
    loop {
        let (pause, closed) = {
            let mut state = shared.state();
            let state = &mut *state;
            if state.dropped {
                let until = *parting.get_or_insert_with(|| Instant::now() + PARTING);
                let greeting = !state.stream.is_open();
                if greeting || state.stream.all_arrived() || Instant::now() >= until {
                    state.stream.reset();
                }
            }
            let pause = pass_on(&mut state.stream, &to_air);
            if state.stream.is_open() {
                shared.greeted.notify_waiters();
            }
            state.wake();
            (pause, state.stream.closing().is_some())
        };
        let until = match pause {
            Pause::Closed => return,
            Pause::AirBusy(_) if closed => {
                // The peer gets the last word once the channel accepts a value.
                let until = *last_word.get_or_insert_with(|| Instant::now() + PARTING);
                if Instant::now() >= until {
                    return;
                }
                Some(until)
            }
            Pause::AirBusy(until) | Pause::Until(until) => until.into_iter().chain(parting).min(),
        };
        tokio::select! {
            value = incoming.next() => {
                let mut state = shared.state();
                let Some(value) = value else {
                    state.lost = Some("the connection ended".into());
                    return;
                };
                state.stream.handle(Instant::now().into_std(), &value);
            }
            () = shared.used.notified() => {}
            () = wait_until(until) => {}
            _ = to_air.reserve(), if matches!(pause, Pause::AirBusy(_)) => {}
        }
    }
}

/// Why the state machine pauses.
enum Pause {
    /// Nothing to send before this time.
    Until(Option<Instant>),
    /// The channel accepts nothing now. Without progress until this time the link is over.
    AirBusy(Option<Instant>),
    /// The link is over.
    Closed,
}

fn pass_on(stream: &mut Stream, to_air: &mpsc::Sender<Bytes>) -> Pause {
    loop {
        let now = Instant::now().into_std();
        let Ok(permit) = to_air.try_reserve() else {
            return Pause::AirBusy(stream.expire(now).map(Instant::from_std));
        };
        match stream.poll(now) {
            Output::Send(value) => permit.send(value),
            Output::Idle { .. } if stream.closing().is_some() => return Pause::Closed,
            Output::Idle { until } => return Pause::Until(until.map(Instant::from_std)),
        }
    }
}

async fn wait_until(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{
        Kind, LinkId, MAX_WINDOW, Opening, Refusal, RefusalReason, Role, Segment, VERSIONS, Versions,
        fragment_limit, read_opening, write_refusal,
    };
    use futures::stream;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    /// Sends into a channel and drops every `lose`-th value.
    struct Wire {
        to: mpsc::UnboundedSender<Bytes>,
        lose: usize,
        sent: usize,
    }

    #[async_trait]
    impl Outgoing for Wire {
        async fn send(&mut self, value: &[u8]) -> io::Result<()> {
            self.sent += 1;
            if self.lose > 0 && self.sent.is_multiple_of(self.lose) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
            self.to.send(Bytes::copy_from_slice(value)).map_err(|_| io::ErrorKind::BrokenPipe.into())
        }

        async fn hang_up(&mut self) {}
    }

    fn values(from: mpsc::UnboundedReceiver<Bytes>) -> BoxStream<'static, Bytes> {
        stream::unfold(from, |mut from| async move { from.recv().await.map(|value| (value, from)) }).boxed()
    }

    async fn pair(lose: usize) -> (BleStream, BleStream) {
        let limit = fragment_limit(Some(517));
        let (to_peripheral, mut at_peripheral) = mpsc::unbounded_channel();
        let (to_central, at_central) = mpsc::unbounded_channel();
        let now = Instant::now().into_std();
        let wire = Box::new(Wire { to: to_peripheral, lose, sent: 0 });
        let central = BleStream::start(
            Stream::open(now, 1, limit),
            Pipe { incoming: values(at_central), outgoing: wire },
        );
        let opening = read_opening(&at_peripheral.recv().await.expect("an opening")).expect("an opening");
        let wire = Box::new(Wire { to: to_central, lose, sent: 0 });
        let now = Instant::now().into_std();
        let peripheral = BleStream::start(
            Stream::accept(now, 2, limit, opening),
            Pipe { incoming: values(at_peripheral), outgoing: wire },
        );
        central.greeted().await.expect("greeted");
        peripheral.greeted().await.expect("greeted");
        (central, peripheral)
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_pass_both_ways_at_once_over_a_lossy_wire() {
        let (central, peripheral) = pair(7).await;
        let check = |stream: BleStream, mine: u8, theirs: u8| async move {
            let (mut reader, mut writer) = tokio::io::split(stream);
            let write = async {
                writer.write_all(&vec![mine; 50_000]).await.expect("written");
                writer.shutdown().await.expect("all arrived");
            };
            let read = async {
                let mut all = Vec::new();
                reader.read_to_end(&mut all).await.expect("read to the end");
                assert!(all == vec![theirs; 50_000]);
            };
            tokio::join!(write, read);
            reader.unsplit(writer)
        };
        // Neither side disconnects while the other still waits for its last acknowledgement.
        let _both = tokio::join!(check(central, 1, 2), check(peripheral, 2, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_waits_for_its_reader() {
        let (mut central, mut peripheral) = pair(0).await;
        let bytes = vec![3; 120_000];
        let write = async { central.write_all(&bytes).await };
        let early = tokio::time::timeout(Duration::from_secs(30), write).await;
        assert!(early.is_err(), "nobody reads: 120 kB find no place");
        let mut some = vec![0; 16_000];
        peripheral.read_exact(&mut some).await.expect("what was written");
        assert_eq!(some, vec![3; 16_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_goodbye_written_before_the_drop_arrives() {
        let (mut central, mut peripheral) = pair(5).await;
        central.write_all(b"bye").await.expect("written");
        drop(central);
        let mut all = Vec::new();
        peripheral.read_to_end(&mut all).await.expect("read to the end");
        assert_eq!(all, b"bye");
        // A write without a peer fails after some time, as with a socket.
        let mut result = Ok(());
        for _ in 0..100 {
            result = peripheral.write_all(&[1; 1000]).await;
            if result.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(result.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn reader_and_writer_learn_that_the_connection_ended() {
        let limit = fragment_limit(None);
        let (to, mut from) = mpsc::unbounded_channel();
        let pipe =
            Pipe { incoming: stream::empty().boxed(), outgoing: Box::new(Wire { to, lose: 0, sent: 0 }) };
        let mut central = BleStream::start(Stream::open(Instant::now().into_std(), 1, limit), pipe);
        assert!(central.greeted().await.is_err());
        assert!(central.read(&mut [0; 4]).await.is_err());
        assert!(central.write(b"h8").await.is_err());
        while from.recv().await.is_some() {}
    }

    /// Accepts some values, then none, like a hanging bluetoothd. Reports the disconnect.
    struct Hanging {
        takes: Wire,
        most: usize,
        hung_up: Option<oneshot::Sender<()>>,
    }

    #[async_trait]
    impl Outgoing for Hanging {
        async fn send(&mut self, value: &[u8]) -> io::Result<()> {
            if self.takes.sent == self.most {
                std::future::pending::<()>().await;
            }
            self.takes.send(value).await
        }

        async fn hang_up(&mut self) {
            let _ = self.hung_up.take().expect("once").send(());
        }
    }

    /// How often the state machine may poll for values in a test in which hardly any arrive.
    const LOOKS: usize = 100;

    /// Never yields a value and counts the polls: a state machine that spins gets an end of stream, because paused time never
    /// reaches a timeout.
    fn counted(first: mpsc::UnboundedReceiver<Bytes>, looks: Arc<AtomicUsize>) -> BoxStream<'static, Bytes> {
        let mut first = values(first);
        stream::poll_fn(move |cx| {
            if looks.fetch_add(1, Relaxed) > 10 * LOOKS {
                Poll::Ready(None)
            } else {
                first.poll_next_unpin(cx)
            }
        })
        .boxed()
    }

    /// The central of a link whose channel accepts the greeting and `more` values; also the signal of the disconnect, and the
    /// count of polls.
    async fn hanging(more: usize) -> (BleStream, oneshot::Receiver<()>, Arc<AtomicUsize>) {
        let limit = fragment_limit(Some(517));
        let (to_peripheral, mut at_peripheral) = mpsc::unbounded_channel();
        let (to_central, at_central) = mpsc::unbounded_channel();
        let (hung_up, is_hung_up) = oneshot::channel();
        let looks = Arc::new(AtomicUsize::new(0));
        let takes = Wire { to: to_peripheral, lose: 0, sent: 0 };
        // The opening, and the fragment that confirms the answer.
        let outgoing = Box::new(Hanging { takes, most: 2 + more, hung_up: Some(hung_up) });
        let central = BleStream::start(
            Stream::open(Instant::now().into_std(), 1, limit),
            Pipe { incoming: counted(at_central, looks.clone()), outgoing },
        );
        let opening = read_opening(&at_peripheral.recv().await.expect("an opening")).expect("an opening");
        let mut peripheral = Stream::accept(Instant::now().into_std(), 2, limit, opening);
        let Output::Send(answer) = peripheral.poll(Instant::now().into_std()) else { panic!("an answer") };
        to_central.send(answer).expect("it listens");
        central.greeted().await.expect("greeted");
        at_peripheral.recv().await.expect("the word that confirms");
        tokio::spawn(async move {
            // The connection stays up; nobody answers.
            while at_peripheral.recv().await.is_some() {}
            drop(to_central);
        });
        (central, is_hung_up, looks)
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_link_whose_air_takes_nothing_rests_and_ends() {
        for more in [0, 1, 3] {
            let (mut central, hung_up, looks) = hanging(more).await;
            central.write_all(&vec![7; 20_000]).await.expect("there is room");
            central.flush().await.expect("flushed");
            drop(central);
            hung_up.await.expect("it ends, and hangs up");
            assert!(looks.load(Relaxed) < LOOKS, "{} looks", looks.load(Relaxed));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_whose_air_takes_nothing_is_as_dead_as_one_that_swallows() {
        for more in [0, 1, 3] {
            let (mut central, hung_up, looks) = hanging(more).await;
            let begun = Instant::now();
            central.write_all(&vec![7; 20_000]).await.expect("there is room");
            central.flush().await.expect("flushed");
            central.read(&mut [0; 8]).await.expect_err("no link any more");
            let as_soon = DEAD_AFTER..=DEAD_AFTER + Duration::from_millis(100);
            assert!(as_soon.contains(&begun.elapsed()), "{:?}", begun.elapsed());
            hung_up.await.expect("it hangs up");
            assert!(looks.load(Relaxed) < LOOKS, "{} looks", looks.load(Relaxed));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_that_only_answers_ends_too_when_its_air_takes_nothing() {
        let limit = fragment_limit(Some(517));
        let (to_central, at_central) = mpsc::unbounded_channel();
        let (hung_up, is_hung_up) = oneshot::channel();
        let (to, _from) = mpsc::unbounded_channel();
        let looks = Arc::new(AtomicUsize::new(0));
        let takes = Wire { to, lose: 0, sent: 0 };
        let opening = Opening { versions: VERSIONS, nonce: 1, limit };
        let outgoing = Box::new(Hanging { takes, most: 1, hung_up: Some(hung_up) });
        let peripheral = BleStream::start(
            Stream::accept(Instant::now().into_std(), 2, limit, opening),
            Pipe { incoming: counted(at_central, looks.clone()), outgoing },
        );
        let link = LinkId { opener: 1, accepter: 2 };
        for number in 0..2 {
            let payload = Bytes::from_static(b"h8");
            let segment = Segment { kind: Kind::Data, room: MAX_WINDOW, number, ack: 0, sack: 0, payload };
            to_central.send(segment.write(link, Role::Opener)).expect("it listens");
        }
        peripheral.greeted().await.expect("greeted");
        is_hung_up.await.expect("it ends, and hangs up");
        assert!(looks.load(Relaxed) < LOOKS, "{} looks", looks.load(Relaxed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_to_a_device_of_another_age_says_which_one_is_too_old() {
        for (versions, outdated) in [
            (Versions { lowest: 1, highest: 1 }, link::Outdated::There),
            (Versions { lowest: 9, highest: 11 }, link::Outdated::Here),
        ] {
            let limit = fragment_limit(None);
            let (to, mut from) = mpsc::unbounded_channel();
            let (to_central, at_central) = mpsc::unbounded_channel();
            let pipe =
                Pipe { incoming: values(at_central), outgoing: Box::new(Wire { to, lose: 0, sent: 0 }) };
            let central = BleStream::start(Stream::open(Instant::now().into_std(), 1, limit), pipe);
            from.recv().await.expect("an opening");
            let refusal = Refusal { nonce: 1, reason: RefusalReason::Version, versions };
            to_central.send(write_refusal(refusal)).expect("it listens");
            central.greeted().await.expect_err("refused");
            assert_eq!(central.outdated(), Some(outdated));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_flushed_write_is_one_value_on_the_air() {
        let (mut central, mut peripheral) = pair(0).await;
        let before = central.counts().sent;
        central.write_all(&[0, 60]).await.expect("written");
        central.write_all(&[9; 60]).await.expect("written");
        central.flush().await.expect("flushed");
        let mut got = [0; 62];
        peripheral.read_exact(&mut got).await.expect("read");
        assert_eq!(central.counts().sent - before, 1);
    }
}
