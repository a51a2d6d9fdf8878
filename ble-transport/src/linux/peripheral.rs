//! The peripheral role: the GATT service, with bluer.
//!
//! Both directions use sockets that BlueZ acquires. Taking writes by callback instead was tried: a D-Bus call for each write
//! carried a third of the bytes (10 kB/s against 30 in the lab). The sockets have a price: the write that makes BlueZ acquire the
//! socket can be lost or lose its first byte, so the greeting is a single write, repeated until answered. The write socket
//! outlives a disconnect of the central, serves the next central too and does not name the sender, so only the
//! [`LinkId`](crate::stream::LinkId) tells the fragments of two links apart. The notification socket does close when the central
//! disconnects.

use std::io;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bluer::gatt::local::{
    Application, ApplicationHandle, Characteristic, CharacteristicControl, CharacteristicControlEvent,
    CharacteristicNotify, CharacteristicNotifyMethod, CharacteristicWrite, CharacteristicWriteMethod,
    Service, characteristic_control,
};
use bluer::gatt::{CharacteristicReader, CharacteristicWriter};
use bluer::{Adapter, Address};
use bytes::Bytes;
use futures::{StreamExt, stream};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep, timeout};

use crate::advert::{SERVICE, TO_CENTRAL, TO_PERIPHERAL};
use crate::duplex::{BleStream, Outgoing, Pipe};
use crate::shared::{Shared, Want};
use crate::stream::{
    Opening, Refusal, RefusalReason, Stream, VERSIONS, fragment_limit, read_opening, write_refusal,
};

/// Queued writes for the stream: more than a window. A write that does not fit is lost and retransmitted.
const WAITING_WRITES: usize = 64;

/// Time between the end of a subscription and BlueZ's report that the connection has ended, if it has.
const TOLD_WITHIN: Duration = Duration::from_millis(300);
/// Time between a subscription and the greeting, which follows at once, and on a bad link within 2 s. A central that subscribes
/// and does not greet occupies one of a controller's few connections.
const GREETS_WITHIN: Duration = Duration::from_secs(6);
/// Handle of the service in this device's attribute table. A peer's bluetoothd caches handles and writes to a stale handle until
/// it is made to forget the device: after the peripheral's bluetoothd was killed, a match came back after 10 to 22 s (4 of 9).
/// The handles therefore never change: this handle is far above those of bluetoothd itself and of a few programs. bluer reports
/// the two characteristics in any order, so the service is registered again until they are in order.
const PLACE: NonZeroU16 = NonZeroU16::new(0x1000).expect("it is not zero");
/// Most registrations: each has the characteristics in order with probability 1/2. After `PLACE_TRIES` refusals any handle
/// will do.
const TRIES: u32 = 10;
const PLACE_TRIES: u32 = 3;
const TAKEN_BACK: Duration = Duration::from_millis(100);
/// Pause before asking again for the handles, which BlueZ reports at about the time it answers.
const ASK_AGAIN: Duration = Duration::from_millis(5);
/// Limit for a disconnect, which takes BlueZ 2 to 3 s.
const DISCONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// The service is offered until this is dropped. Links that are up continue.
pub(super) struct Served {
    _application: ApplicationHandle,
    serving: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Served {
    pub(super) async fn start(adapter: &Adapter, shared: Arc<Shared>) -> bluer::Result<Served> {
        let acceptor = Arc::new(Acceptor { shared, adapter: adapter.clone(), state: Mutex::default() });
        let mut refused = 0;
        for last in (0..TRIES).map(|one| one + 1 == TRIES) {
            let place = (refused < PLACE_TRIES).then_some(PLACE);
            let (application, written, notified) = application(place);
            match adapter.serve_gatt_application(application).await {
                Ok(application) => {
                    if last || is_in_order(&written, &notified).await {
                        let serving = tokio::spawn(serve(acceptor, written, notified));
                        return Ok(Served { _application: application, serving });
                    }
                }
                Err(error) if last || place.is_none() => return Err(error),
                Err(error) => {
                    tracing::info!(%error, "another program's service may be in this one's place");
                    refused += 1;
                }
            }
            // BlueZ takes some time to remove the dropped registration.
            sleep(TAKEN_BACK).await;
        }
        unreachable!("the last try returns")
    }
}

/// Whether BlueZ has put the two characteristics at their fixed handles. BlueZ registers characteristics in bluer's order, which
/// is random.
async fn is_in_order(written: &CharacteristicControl, notified: &CharacteristicControl) -> bool {
    let begun = Instant::now();
    loop {
        if let (Ok(written), Ok(notified)) = (written.handle(), notified.handle()) {
            return written < notified;
        }
        if begun.elapsed() > TOLD_WITHIN {
            // This BlueZ does not report handles.
            return true;
        }
        sleep(ASK_AGAIN).await;
    }
}

/// The service at this handle, or at any if `None`, and the controls of its characteristics: writes to this device, and
/// notifications from it.
fn application(place: Option<NonZeroU16>) -> (Application, CharacteristicControl, CharacteristicControl) {
    let (written, written_handle) = characteristic_control();
    let (notified, notified_handle) = characteristic_control();
    let application = Application {
        services: vec![Service {
            uuid: SERVICE,
            handle: place,
            primary: true,
            characteristics: vec![
                Characteristic {
                    uuid: TO_PERIPHERAL,
                    write: Some(CharacteristicWrite {
                        // bluer's docs of these two are exchanged; the field names are right.
                        write_without_response: true,
                        write: true,
                        method: CharacteristicWriteMethod::Io,
                        ..CharacteristicWrite::default()
                    }),
                    control_handle: written_handle,
                    ..Characteristic::default()
                },
                Characteristic {
                    uuid: TO_CENTRAL,
                    notify: Some(CharacteristicNotify {
                        notify: true,
                        method: CharacteristicNotifyMethod::Io,
                        ..CharacteristicNotify::default()
                    }),
                    control_handle: notified_handle,
                    ..Characteristic::default()
                },
            ],
            ..Service::default()
        }],
        ..Application::default()
    };
    (application, written, notified)
}

/// Accepts BlueZ's events: write sockets, single writes, notification sockets.
async fn serve(
    acceptor: Arc<Acceptor>,
    mut written: CharacteristicControl,
    mut notified: CharacteristicControl,
) {
    let mut reader: Option<CharacteristicReader> = None;
    loop {
        let value = async {
            match &reader {
                Some(reader) => reader.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = written.next() => match event {
                Some(CharacteristicControlEvent::Write(request)) => match request.accept() {
                    Ok(accepted) => reader = Some(accepted),
                    Err(error) => tracing::warn!(%error, "writes"),
                },
                Some(CharacteristicControlEvent::Notify(_)) => {}
                None => return,
            },
            event = notified.next() => match event {
                Some(CharacteristicControlEvent::Notify(writer)) => acceptor.handle_subscription(Arc::new(writer)),
                Some(CharacteristicControlEvent::Write(_)) => {}
                None => return,
            },
            value = value => match value {
                Ok(value) if !value.is_empty() => acceptor.handle_write(value.into()),
                // bluetoothd is gone, or gives another socket with the next write.
                Ok(_) | Err(_) => reader = None,
            },
        }
    }
}

/// Accepts centrals: one at a time, others are refused and reported. The application decides whether the link in use ends for
/// them: only it knows who is at the other end.
///
/// BlueZ sends every notification to every subscriber, so a second central would receive the first central's traffic; it is
/// encrypted, but a second link would confuse both.
struct Acceptor {
    shared: Arc<Shared>,
    adapter: Adapter,
    state: Mutex<AcceptorState>,
}

#[derive(Default)]
struct AcceptorState {
    /// The notification socket, shared by all subscribers.
    writer: Option<Arc<CharacteristicWriter>>,
    /// An opening that arrived before its subscription was reported.
    pending: Option<Opening>,
    active: Option<ActiveLink>,
}

/// The central whose link is up, or being opened.
struct ActiveLink {
    nonce: u32,
    writes: mpsc::Sender<Bytes>,
    writer: Arc<CharacteristicWriter>,
    greeted: Arc<AtomicBool>,
}

impl ActiveLink {
    /// Whether a new link may replace this one. A central that greets again has given up its old link; another central is
    /// turned away while the link is up.
    fn may_be_replaced(&self) -> bool {
        self.writes.is_closed() || !self.greeted.load(Relaxed) || !is_usable(&self.writer)
    }
}

fn is_usable(writer: &CharacteristicWriter) -> bool {
    matches!(writer.is_closed(), Ok(false))
}

impl Acceptor {
    fn state(&self) -> MutexGuard<'_, AcceptorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle_write(self: &Arc<Self>, value: Bytes) {
        let mut state = self.state();
        let state = &mut *state;
        match (read_opening(&value), &state.active) {
            (Some(opening), Some(active)) if active.nonce != opening.nonce && !active.may_be_replaced() => {
                tracing::info!("refused: a link is up");
                // The present central receives the refusal too, and ignores it by its nonce.
                let reason = RefusalReason::Busy;
                let refusal = Refusal { nonce: opening.nonce, reason, versions: VERSIONS };
                let _ = active.writer.try_send(&write_refusal(refusal));
                self.shared.turn_away();
            }
            (Some(opening), active) if active.as_ref().is_none_or(|active| active.nonce != opening.nonce) => {
                state.active = None;
                state.pending = Some(opening);
                self.start_link(state);
            }
            // A write that does not fit is lost and retransmitted; a write of another central fails the CRC.
            (_, Some(active)) => {
                let _ = active.writes.try_send(value);
            }
            // Leftovers of a closed link, or a central that never sent an opening.
            (_, None) => {}
        }
    }

    fn handle_subscription(self: &Arc<Self>, writer: Arc<CharacteristicWriter>) {
        tracing::debug!(from = %writer.device_address(), mtu = writer.mtu(), "subscribed");
        tokio::spawn(self.clone().await_departure(writer.clone()));
        let mut state = self.state();
        state.writer = Some(writer);
        self.start_link(&mut state);
    }

    /// Waits until a subscriber disconnects, and reports it. Disconnects a subscriber that does not greet.
    async fn await_departure(self: Arc<Self>, writer: Arc<CharacteristicWriter>) {
        tokio::select! {
            _ = writer.closed() => {}
            () = sleep(GREETS_WITHIN) => {
                self.disconnect_if_silent(&writer).await;
                // Any end of this wait, error included, means that the central is gone.
                let _ = writer.closed().await;
            }
        }
        self.shared.somebody_leaves();
    }

    /// Disconnects the subscriber unless a link shares its connection.
    async fn disconnect_if_silent(&self, writer: &Arc<CharacteristicWriter>) {
        let has_greeted =
            self.state().active.as_ref().is_some_and(|active| Arc::ptr_eq(&active.writer, writer));
        if has_greeted || !is_usable(writer) || self.shared.wants().links > 0 {
            return;
        }
        let address = writer.device_address();
        tracing::info!(%address, "hung up: subscribed, and no greeting came");
        if let Ok(device) = self.adapter.device(address) {
            let _ = timeout(DISCONNECTED_WITHIN, device.disconnect()).await;
        }
    }

    /// Starts the waiting link once the notification socket to its central exists.
    fn start_link(self: &Arc<Self>, state: &mut AcceptorState) {
        let Some(writer) = state.writer.clone().filter(|writer| is_usable(writer)) else { return };
        let Some(opening) = state.pending.take() else { return };
        let Ok(nonce) = getrandom::u32() else { return };
        // The subscriber's address: the only identification of the central.
        let address = writer.device_address();
        // bluer has already subtracted five from the ATT MTU.
        let limit = fragment_limit(Some((writer.mtu() + 3) as u16));
        tracing::debug!(%address, limit, "opening");
        let (writes, writes_in) = mpsc::channel(WAITING_WRITES);
        let greeted = Arc::new(AtomicBool::new(false));
        state.active = Some(ActiveLink {
            nonce: opening.nonce,
            writes,
            writer: writer.clone(),
            greeted: greeted.clone(),
        });

        let up = self.shared.want_link();
        let (left, has_left) = watch::channel(false);
        let watching = tokio::spawn(disconnected(self.adapter.clone(), address, left)).abort_handle();
        let gone = gone(address, has_left.clone(), writer.clone(), self.shared.ground_lost());
        let incoming = stream::unfold(writes_in, |mut writes| async move {
            writes.recv().await.map(|value| (value, writes))
        });
        let outgoing =
            Notifier { acceptor: self.clone(), nonce: opening.nonce, writer, has_left, watching, _up: up };
        let pipe = Pipe { incoming: incoming.take_until(gone).boxed(), outgoing: Box::new(outgoing) };
        let stream = Stream::accept(Instant::now().into_std(), nonce, limit, opening);
        let stream = BleStream::start(stream, pipe);
        let shared = self.shared.clone();
        tokio::spawn(async move {
            match stream.greeted().await {
                Ok(()) => {
                    greeted.store(true, Relaxed);
                    shared.meets(address.to_string());
                    shared.arrive(stream);
                }
                Err(error) => tracing::info!(%address, %error, "a greeting failed"),
            }
        });
    }

    /// Whether this link is still the current one; if so, the place becomes free.
    fn release(&self, nonce: u32) -> bool {
        let mut state = self.state();
        let is_last = state.active.as_ref().is_some_and(|active| active.nonce == nonce);
        if is_last {
            state.active = None;
        }
        is_last
    }
}

/// Watches for the end of a connection and reports it once.
async fn disconnected(adapter: Adapter, address: Address, left: watch::Sender<bool>) {
    let Ok(device) = adapter.device(address) else { return };
    let Ok(events) = device.events().await else { return };
    let mut events = std::pin::pin!(events);
    while let Some(bluer::DeviceEvent::PropertyChanged(property)) = events.next().await {
        if matches!(property, bluer::DeviceProperty::Connected(false)) {
            break;
        }
    }
    // The stream also ends when BlueZ removes the device, which happens only after a disconnect.
    left.send_replace(true);
}

/// Waits until the central is gone, by the first sign.
async fn gone(
    address: Address,
    mut has_left: watch::Receiver<bool>,
    writer: Arc<CharacteristicWriter>,
    ground_lost: impl Future<Output = ()>,
) {
    let disconnected = async {
        if has_left.wait_for(|left| *left).await.is_err() {
            // Nobody watches the connection: only the other signs count.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        // Within 20 ms of the loss, if BlueZ detects it.
        _ = writer.closed() => tracing::debug!(%address, "unsubscribed"),
        () = disconnected => tracing::debug!(%address, "disconnected"),
        () = ground_lost => {}
    }
}

/// Sends notifications. Without the stream's congestion window half of a burst is lost, with Ok for each.
struct Notifier {
    acceptor: Arc<Acceptor>,
    nonce: u32,
    writer: Arc<CharacteristicWriter>,
    /// The connection below has ended.
    has_left: watch::Receiver<bool>,
    watching: AbortHandle,
    _up: Want,
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

#[async_trait]
impl Outgoing for Notifier {
    async fn send(&mut self, value: &[u8]) -> io::Result<()> {
        self.writer.send(value).await
    }

    async fn hang_up(&mut self) {
        // Four cases need no disconnect: the same central has opened a new link; a link of this device's own shares the
        // connection; the connection is gone already; bluetoothd is stopped, and a call would make D-Bus start it.
        if self.acceptor.release(self.nonce)
            && self.acceptor.shared.wants().links <= 1
            && self.acceptor.shared.state() != Some(link::CarrierState::NoService)
            && let Ok(device) = self.acceptor.adapter.device(self.writer.device_address())
        {
            // A connection that has ended needs no disconnect, and a new connection of the same central must not be closed on
            // behalf of the old link.
            let left = timeout(TOLD_WITHIN, self.has_left.wait_for(|left| *left)).await;
            if left.is_ok_and(|left| left.is_ok()) {
                return;
            }
            let hang_up = async {
                if device.is_connected().await.unwrap_or(false) {
                    let _ = device.disconnect().await;
                }
            };
            let _ = timeout(DISCONNECTED_WITHIN, hang_up).await;
        }
    }
}
