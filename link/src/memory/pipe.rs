//! The bytes of one link: two directions, each with delay, silence or failure.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Bytes in flight in one direction before a writer has to wait.
pub(super) const WINDOW: usize = 64 * 1024;

/// One end of a link. Dropping it closes the link: the other end reads the bytes in flight, then
/// the end.
pub struct MemoryLink {
    read: Shared,
    write: Shared,
    /// Runs until the next chunk is due.
    sleep: Option<Pin<Box<Sleep>>>,
}

pub(super) fn link_between(there: &Shared, back: &Shared) -> (MemoryLink, MemoryLink) {
    let end =
        |read: &Shared, write: &Shared| MemoryLink { read: read.clone(), write: write.clone(), sleep: None };
    (end(back, there), end(there, back))
}

impl fmt::Debug for MemoryLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLink").field("open", &self.write.is_open()).finish_non_exhaustive()
    }
}

impl AsyncRead for MemoryLink {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            let due = {
                let mut pipe = this.read.lock();
                match pipe.read(into) {
                    Read::Done => return Poll::Ready(Ok(())),
                    Read::Broken => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
                    Read::Nothing { due } => {
                        pipe.reader = Some(cx.waker().clone());
                        due
                    }
                }
            };
            let Some(due) = due else { return Poll::Pending };
            match &mut this.sleep {
                Some(sleep) => sleep.as_mut().reset(due),
                None => this.sleep = Some(Box::pin(tokio::time::sleep_until(due))),
            }
            let sleep = this.sleep.as_mut().expect("set just above");
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl AsyncWrite for MemoryLink {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.write.lock().write(bytes, cx.waker());
        if matches!(written, Poll::Ready(Ok(0))) && !bytes.is_empty() {
            // The byte budget of this link is used up.
            break_link(&[self.write.clone(), self.read.clone()]);
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write.lock().end();
        Poll::Ready(Ok(()))
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.write.lock().end();
        let mut read = self.read.lock();
        read.queue.clear();
        read.break_off();
    }
}

#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Pipe>>);

impl Shared {
    pub(super) fn new(pipe: Pipe) -> Self {
        Self(Arc::new(Mutex::new(pipe)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Pipe> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        self.lock().state == PipeState::Open
    }
}

/// One direction of a link.
pub(super) struct Pipe {
    /// Chunks in flight with their times of arrival, in order.
    queue: VecDeque<(Instant, Bytes)>,
    queued: usize,
    state: PipeState,
    pub(super) silent: bool,
    delay: Range<Duration>,
    random: Rng,
    /// Byte budget until the link breaks, shared by both directions.
    pub(super) life: Option<Arc<Mutex<u64>>>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PipeState {
    Open,
    /// Nothing more is written; bytes in flight still arrive.
    Ended,
    /// Nothing more arrives.
    Broken,
}

enum Read {
    Done,
    Broken,
    /// `due`: when to poll again; `None`: when woken.
    Nothing {
        due: Option<Instant>,
    },
}

impl Pipe {
    pub(super) fn new(delay: Range<Duration>, seed: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            queued: 0,
            state: PipeState::Open,
            silent: false,
            delay,
            random: Rng::new(seed),
            life: None,
            reader: None,
            writer: None,
        }
    }

    fn read(&mut self, into: &mut ReadBuf<'_>) -> Read {
        if self.state == PipeState::Broken {
            return Read::Broken;
        }
        if self.silent {
            return Read::Nothing { due: None };
        }
        let before = into.filled().len();
        while into.remaining() > 0
            && let Some((due, chunk)) = self.queue.front_mut()
        {
            if !self.delay.end.is_zero() && *due > Instant::now() {
                break;
            }
            let count = chunk.len().min(into.remaining());
            into.put_slice(&chunk[..count]);
            chunk.advance(count);
            self.queued -= count;
            if chunk.is_empty() {
                self.queue.pop_front();
            }
        }
        if into.filled().len() > before {
            if let Some(writer) = self.writer.take() {
                writer.wake();
            }
            return Read::Done;
        }
        match self.queue.front() {
            _ if into.remaining() == 0 => Read::Done,
            Some((due, _)) => Read::Nothing { due: Some(*due) },
            None if self.state == PipeState::Ended => Read::Done,
            None => Read::Nothing { due: None },
        }
    }

    /// Returns 0 for a non-empty slice when the link's byte budget is used up.
    fn write(&mut self, bytes: &[u8], waker: &Waker) -> Poll<io::Result<usize>> {
        if self.state != PipeState::Open {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut count = bytes.len().min(WINDOW - self.queued);
        if count == 0 {
            self.writer = Some(waker.clone());
            return Poll::Pending;
        }
        if let Some(life) = &self.life {
            let mut life = life.lock().unwrap_or_else(PoisonError::into_inner);
            count = count.min(usize::try_from(*life).unwrap_or(usize::MAX));
            *life -= count as u64;
            if count == 0 {
                return Poll::Ready(Ok(0));
            }
        }
        let arrives = Instant::now() + self.random.time_within(self.delay.clone());
        let arrives = self.queue.back().map_or(arrives, |(before, _)| arrives.max(*before));
        self.queue.push_back((arrives, Bytes::copy_from_slice(&bytes[..count])));
        self.queued += count;
        self.wake_reader();
        Poll::Ready(Ok(count))
    }

    fn end(&mut self) {
        if self.state == PipeState::Open {
            self.state = PipeState::Ended;
        }
        self.wake_reader();
    }

    fn break_off(&mut self) {
        self.state = PipeState::Broken;
        self.wake_reader();
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }

    pub(super) fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

pub(super) fn break_link(pipes: &[Shared; 2]) {
    for pipe in pipes {
        pipe.lock().break_off();
    }
}

/// SplitMix64: small, seeded, good enough to choose delays. Not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn within(&mut self, range: Range<u64>) -> u64 {
        let width = range.end.saturating_sub(range.start).max(1);
        range.start + self.next() % width
    }

    pub(super) fn time_within(&mut self, range: Range<Duration>) -> Duration {
        let micros = |time: Duration| time.as_micros() as u64;
        Duration::from_micros(self.within(micros(range.start)..micros(range.end)))
    }
}
