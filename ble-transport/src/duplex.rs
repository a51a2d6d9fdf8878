//! A byte stream that tokio can read and write, over a [`Stream`] and whatever carries its fragments.

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
use tokio::time::{Instant, sleep_until};

use crate::stream::{Closing, Counts, Output, Stream};

/// How long a dropped link goes on to deliver what was written, so that a goodbye arrives.
const PARTING: Duration = Duration::from_secs(1);

/// The two directions of GATT traffic with one peer.
pub(crate) struct Pipe {
    /// Values that arrived, each as it came. It ends with the connection.
    pub(crate) incoming: BoxStream<'static, Bytes>,
    /// Where values go.
    pub(crate) outgoing: Box<dyn Outgoing>,
}

/// Puts values on the air.
#[async_trait]
pub(crate) trait Outgoing: Send {
    /// Hands one value over; waits while the system takes no more. Ok means nothing: it may be lost nevertheless.
    async fn send(&mut self, value: &[u8]) -> io::Result<()>;

    /// Ends the connection.
    async fn hang_up(&mut self);
}

/// One link as a socket: reads, writes, and ends like one. Dropping it says goodbye and hangs up.
pub struct BleStream {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Something was written, read, finished or dropped.
    used: Notify,
    /// The greeting is over, well or not.
    greeted: Notify,
}

struct State {
    stream: Stream,
    reader: Option<Waker>,
    writer: Option<Waker>,
    finisher: Option<Waker>,
    /// The connection below is gone, and why.
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

    /// The largest value that this link puts on the air, in bytes: ATT's payload less a margin.
    pub fn fragment_limit(&self) -> usize {
        self.shared.state().stream.fragment_limit()
    }

    /// The smoothed round trip of a fragment, and how many may be on their way.
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
        // A panic while it was held leaves a state machine that is still one: going on is safe.
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

    /// Wakes whoever can go on now.
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
            // There may be room to tell of.
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

    /// What was written leaves at once; like a socket's, this does not wait until it arrived.
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

    /// Says that nothing follows and waits until everything arrived.
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

/// Carries fragments between the machine and the air until one of them ends.
async fn drive(shared: Arc<Shared>, pipe: Pipe) {
    let Pipe { incoming, mut outgoing } = pipe;
    let (to_air, mut from_machine) = mpsc::channel::<Bytes>(1);
    // Sending may take as long as a connection interval; what arrives meanwhile is handled.
    let sending = async {
        while let Some(value) = from_machine.recv().await {
            outgoing.send(&value).await?;
        }
        io::Result::Ok(())
    };
    let machine = run(&shared, incoming, to_air);
    let ended = {
        let (mut sending, mut machine) = (pin!(sending), pin!(machine));
        tokio::select! {
            // The machine drops its end of the channel: what it said last is still sent, but not waited for long.
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

/// The machine between what arrives and `to_air`, until the link is over. Then the channel closes.
async fn run(shared: &Shared, mut incoming: BoxStream<'static, Bytes>, to_air: mpsc::Sender<Bytes>) {
    let mut parting: Option<Instant> = None;
    loop {
        let pause = {
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
            pause
        };
        let until = match pause {
            Pause::Closed => return,
            Pause::AirBusy => None,
            Pause::Until(until) => until,
        };
        let until = until.into_iter().chain(parting).min();
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
            _ = to_air.reserve(), if matches!(pause, Pause::AirBusy) => {}
        }
    }
}

/// Why the machine pauses.
enum Pause {
    /// It has nothing to send before this time.
    Until(Option<Instant>),
    /// The air takes nothing now.
    AirBusy,
    /// It is over.
    Closed,
}

fn pass_on(stream: &mut Stream, to_air: &mpsc::Sender<Bytes>) -> Pause {
    loop {
        let Ok(permit) = to_air.try_reserve() else { return Pause::AirBusy };
        match stream.poll(Instant::now().into_std()) {
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
    use crate::stream::{fragment_limit, read_opening};
    use futures::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Sends into a channel, and loses every `lose`-th value.
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
        // Neither hangs up while the other still waits for its last acknowledgement.
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
        // Writing to nobody fails sooner or later, like a socket.
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
