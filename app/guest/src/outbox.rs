//! Send queue of one page: the latest room, and a bounded queue of all other messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::Why;

/// Maximum number of queued messages, not counting the room.
const MESSAGES: usize = 64;

/// Maximum size of the queued messages, in bytes: two of the longest files.
const BYTES: usize = 1 << 20;

/// Sender's end of the queue. A slow page misses intermediate states of the room and gets the latest.
pub struct Outbox {
    queue: mpsc::Sender<Arc<str>>,
    /// Size of the queued messages, in bytes.
    bytes: Arc<AtomicUsize>,
    room: watch::Sender<Option<Shown>>,
    close: watch::Sender<Option<(Why, Duration)>>,
}

/// A state of the room, and how long it may wait for a later one.
#[derive(Clone)]
struct Shown {
    room: Arc<str>,
    delay: Duration,
}

/// Receiver's end of the queue.
pub(crate) struct Waiting {
    queue: mpsc::Receiver<Arc<str>>,
    bytes: Arc<AtomicUsize>,
    room: watch::Receiver<Option<Shown>>,
    /// When the waiting state of the room is due.
    due: Option<Instant>,
    close: watch::Receiver<Option<(Why, Duration)>>,
}

/// What is sent to the page next.
pub(crate) enum Next {
    Text(Arc<str>),
    /// Close the connection; nothing follows.
    Close(Why, Duration),
}

pub(crate) fn pair() -> (Outbox, Waiting) {
    let (queue, queued) = mpsc::channel(MESSAGES);
    let (room, rooms) = watch::channel(None);
    let (close, closes) = watch::channel(None);
    let bytes = Arc::<AtomicUsize>::default();
    let outbox = Outbox { queue, bytes: bytes.clone(), room, close };
    (outbox, Waiting { queue: queued, bytes, room: rooms, due: None, close: closes })
}

impl Outbox {
    /// Sends the present state of the room; it replaces a queued state.
    pub fn show(&self, room: Arc<str>) {
        self.show_later(room, Duration::ZERO);
    }

    /// As [`show`](Self::show), after `delay`, from the first change that was not sent yet: later ones replace it meanwhile.
    pub fn show_later(&self, room: Arc<str>, delay: Duration) {
        self.room.send_replace(Some(Shown { room, delay }));
    }

    /// Queues a message. Returns false, and drops the message, if the queue is full because the page reads too slowly.
    #[must_use = "a guest who misses something is closed"]
    pub fn send(&self, message: impl Into<Arc<str>>) -> bool {
        let message = message.into();
        let bytes = message.len();
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > BYTES
            || self.queue.try_send(message).is_err()
        {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// Closes the connection after the queued messages and the latest room. Only the first reason counts.
    pub fn close(&self, why: Why, wait: Duration) {
        self.close.send_if_modified(|close| {
            let first = close.is_none();
            if first {
                *close = Some((why, wait));
            }
            first
        });
    }
}

impl Waiting {
    /// The next message: queued messages in order, then the room, and the close after it. Cancel safe: dropping the future
    /// loses nothing.
    pub(crate) async fn next(&mut self) -> Next {
        loop {
            tokio::select! {
                biased;
                Some(message) = self.queue.recv() => {
                    self.bytes.fetch_sub(message.len(), Ordering::Relaxed);
                    return Next::Text(message);
                }
                changed = self.close.changed() => {
                    // The page gets the last position before it is closed; the close is looked at again after it.
                    if let Some(room) = self.unsent_room() {
                        self.close.mark_changed();
                        return Next::Text(room);
                    }
                    let closed = *self.close.borrow_and_update();
                    match (changed, closed) {
                        (_, Some((why, wait))) => return Next::Close(why, wait),
                        // The sender was dropped without a reason.
                        (Err(_), None) => return Next::Close(Why::HostStopping, Duration::ZERO),
                        (Ok(()), None) => {}
                    }
                }
                () = sleep_until(self.due.unwrap_or_else(Instant::now)), if self.due.is_some() => {
                    self.due = None;
                    if let Some(shown) = self.room.borrow_and_update().clone() {
                        return Next::Text(shown.room);
                    }
                }
                Ok(()) = self.room.changed() => {
                    let Some(shown) = self.room.borrow_and_update().clone() else { continue };
                    if shown.delay.is_zero() {
                        self.due = None;
                        return Next::Text(shown.room);
                    }
                    self.due.get_or_insert(Instant::now() + shown.delay);
                }
            }
        }
    }

    /// The latest state of the room if it was not sent yet; it counts as sent from now on.
    fn unsent_room(&mut self) -> Option<Arc<str>> {
        let is_waiting = self.due.take().is_some();
        let room = self.room.borrow_and_update();
        room.as_ref().filter(|_| is_waiting || room.has_changed()).map(|shown| shown.room.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(waiting: &mut Waiting) -> String {
        match waiting.next().await {
            Next::Text(text) => text.to_string(),
            Next::Close(why, _) => format!("closed: {why:?}"),
        }
    }

    #[tokio::test]
    async fn a_slow_page_gets_each_message_and_only_the_latest_room() {
        let (outbox, mut waiting) = pair();
        outbox.show("room 1".into());
        assert!(outbox.send("welcome"));
        outbox.show("room 2".into());
        assert!(outbox.send("reply"));
        assert_eq!(text(&mut waiting).await, "welcome");
        assert_eq!(text(&mut waiting).await, "reply");
        assert_eq!(text(&mut waiting).await, "room 2");
        outbox.show("room 3".into());
        outbox.show("room 4".into());
        assert_eq!(text(&mut waiting).await, "room 4");
    }

    #[tokio::test(start_paused = true)]
    async fn a_room_that_may_wait_is_replaced_by_later_ones_and_keeps_its_time() {
        let (outbox, mut waiting) = pair();
        let delay = Duration::from_millis(200);
        let begun = Instant::now();
        for move_made in 1..=3 {
            outbox.show_later(format!("room {move_made}").into(), delay);
            let soon = tokio::time::timeout(Duration::from_millis(50), waiting.next()).await;
            assert!(soon.is_err(), "it waits");
        }
        assert!(outbox.send("words"));
        assert_eq!(text(&mut waiting).await, "words", "they do not wait");
        assert_eq!(text(&mut waiting).await, "room 3");
        assert_eq!(begun.elapsed(), delay, "from the first one");
        outbox.show_later("room 4".into(), delay);
        outbox.show("room 5".into());
        assert_eq!(text(&mut waiting).await, "room 5");
        let more = tokio::time::timeout(2 * delay, waiting.next()).await;
        assert!(more.is_err(), "nothing comes twice");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_move_is_seen_before_the_end_although_it_may_wait() {
        let delay = Duration::from_millis(200);
        let (outbox, mut waiting) = pair();
        outbox.show_later("room 1".into(), delay);
        let soon = tokio::time::timeout(Duration::from_millis(50), waiting.next()).await;
        assert!(soon.is_err(), "it waits");
        outbox.close(Why::CodeClosed, Duration::ZERO);
        assert_eq!(text(&mut waiting).await, "room 1");
        assert_eq!(text(&mut waiting).await, "closed: CodeClosed");
        // A host that stops drops all at once.
        let (outbox, mut waiting) = pair();
        outbox.show_later("room 2".into(), delay);
        drop(outbox);
        assert_eq!(text(&mut waiting).await, "room 2");
        assert_eq!(text(&mut waiting).await, "closed: HostStopping");
    }

    #[tokio::test]
    async fn what_waits_is_bounded_in_number_and_in_bytes() {
        let (outbox, mut waiting) = pair();
        let sent = (0..1_000).filter(|n| outbox.send(n.to_string())).count();
        assert_eq!(sent, MESSAGES);
        for n in 0..MESSAGES {
            assert_eq!(text(&mut waiting).await, n.to_string());
        }
        let large = "x".repeat(BYTES / 3);
        let sent = (0..10).filter(|_| outbox.send(large.as_str())).count();
        assert_eq!(sent, 3);
        text(&mut waiting).await;
        assert!(outbox.send(large.as_str()), "there is room again");
    }

    #[tokio::test]
    async fn the_end_comes_after_what_was_said_and_the_first_reason_stands() {
        let (outbox, mut waiting) = pair();
        assert!(outbox.send("reply"));
        outbox.show("room".into());
        outbox.close(Why::Given, Duration::ZERO);
        outbox.close(Why::TooSlow, Duration::ZERO);
        assert_eq!(text(&mut waiting).await, "reply");
        assert_eq!(text(&mut waiting).await, "room");
        assert_eq!(text(&mut waiting).await, "closed: Given");
        let (outbox, mut waiting) = pair();
        drop(outbox);
        assert_eq!(text(&mut waiting).await, "closed: HostStopping");
    }
}
