//! Offering the service as a peripheral, with bluer.
//!
//! Writes come by callback, not by `AcquireWrite`: with that, the first write of a link can be lost or lose its first
//! byte, the reader gives no end of stream when the central leaves and is reused by the next link, and nobody knows who
//! wrote. Notifications go through `AcquireNotify`, whose socket closes when the central leaves.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bluer::gatt::CharacteristicWriter;
use bluer::gatt::local::{
    Application, ApplicationHandle, Characteristic, CharacteristicControl, CharacteristicControlEvent,
    CharacteristicNotify, CharacteristicNotifyMethod, CharacteristicWrite, CharacteristicWriteMethod,
    Service, characteristic_control,
};
use bluer::{Adapter, Address};
use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::advert::{SERVICE, TO_CENTRAL, TO_PERIPHERAL};
use crate::duplex::{BleStream, Outgoing, Pipe};
use crate::shared::{Shared, Want};
use crate::stream::{Opening, Stream, fragment_limit, read_opening, write_refusal};

/// Writes that wait for the stream to take them. Two windows; what does not fit is lost and sent again.
const WAITING_WRITES: usize = 32;

/// Disconnecting takes BlueZ 2 to 3 s.
const DISCONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// The service is offered until this is dropped. Links that are up go on.
pub(super) struct Served {
    _application: ApplicationHandle,
    notifying: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.notifying.abort();
    }
}

impl Served {
    pub(super) async fn start(adapter: &Adapter, shared: Arc<Shared>) -> bluer::Result<Served> {
        let desk = Arc::new(Desk { shared, adapter: adapter.clone(), state: Mutex::default() });
        let (control, control_handle) = characteristic_control();
        let at_desk = desk.clone();
        let write = move |value: Vec<u8>, request: bluer::gatt::local::CharacteristicWriteRequest| {
            at_desk.handle_write(request.device_address, request.mtu, value.into());
            async { Ok(()) }.boxed()
        };
        let application = Application {
            services: vec![Service {
                uuid: SERVICE,
                primary: true,
                characteristics: vec![
                    Characteristic {
                        uuid: TO_PERIPHERAL,
                        write: Some(CharacteristicWrite {
                            // bluer's docs of these two are exchanged; the field names are right.
                            write_without_response: true,
                            write: true,
                            method: CharacteristicWriteMethod::Fun(Box::new(write)),
                            ..CharacteristicWrite::default()
                        }),
                        ..Characteristic::default()
                    },
                    Characteristic {
                        uuid: TO_CENTRAL,
                        notify: Some(CharacteristicNotify {
                            notify: true,
                            method: CharacteristicNotifyMethod::Io,
                            ..CharacteristicNotify::default()
                        }),
                        control_handle,
                        ..Characteristic::default()
                    },
                ],
                ..Service::default()
            }],
            ..Application::default()
        };
        let application = adapter.serve_gatt_application(application).await?;
        let notifying = tokio::spawn(take_subscriptions(desk, control));
        Ok(Served { _application: application, notifying })
    }
}

async fn take_subscriptions(desk: Arc<Desk>, mut control: CharacteristicControl) {
    while let Some(event) = control.next().await {
        if let CharacteristicControlEvent::Notify(writer) = event {
            desk.handle_subscription(Arc::new(writer));
        }
    }
}

/// Where centrals come in: one at a time, others are refused.
///
/// BlueZ sends every notification to whoever subscribed, so a second central would hear the first one's traffic; it is
/// encrypted, and a second link beside it would only confuse both.
struct Desk {
    shared: Arc<Shared>,
    adapter: Adapter,
    state: Mutex<AtDesk>,
}

#[derive(Default)]
struct AtDesk {
    /// Who subscribed last, and the way to all who did.
    writer: Option<Arc<CharacteristicWriter>>,
    /// Came before the subscription was told to us.
    waiting: Option<(Address, u16, Opening)>,
    guest: Option<Guest>,
    /// Counts links, to tell an old one's end from a new one's.
    generation: u64,
}

/// The central whose link is up.
struct Guest {
    address: Address,
    nonce: u32,
    generation: u64,
    writes: mpsc::Sender<Bytes>,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, AtDesk> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle_write(self: &Arc<Self>, from: Address, mtu: u16, value: Bytes) {
        let mut state = self.state();
        let opening = read_opening(&value);
        let guest = state.guest.as_ref().filter(|guest| !guest.writes.is_closed());
        match (opening, guest) {
            (Some(opening), Some(guest)) if guest.nonce != opening.nonce && guest.address != from => {
                tracing::info!(%from, "refused: a link is up");
                if let Some(writer) = &state.writer {
                    // The guest hears it too, and knows that it is not meant.
                    let _ = writer.try_send(&write_refusal(opening.nonce));
                }
            }
            (Some(opening), guest) if guest.is_none_or(|guest| guest.nonce != opening.nonce) => {
                // A new link of the same central: it knows better than we that the old one is dead.
                state.guest = None;
                state.waiting = Some((from, mtu, opening));
                self.seat(&mut state);
            }
            (_, Some(guest)) if guest.address == from => {
                // What finds no place is lost, and sent again.
                let _ = guest.writes.try_send(value);
            }
            // Leftovers of a link that is over, or somebody who never opened.
            _ => {}
        }
    }

    fn handle_subscription(self: &Arc<Self>, writer: Arc<CharacteristicWriter>) {
        tracing::debug!(from = %writer.device_address(), mtu = writer.mtu(), "subscribed");
        let mut state = self.state();
        state.writer = Some(writer);
        self.seat(&mut state);
    }

    /// Begins the link that waits, once there is a way back to its central.
    fn seat(self: &Arc<Self>, state: &mut AtDesk) {
        let usable = |writer: &Arc<CharacteristicWriter>| matches!(writer.is_closed(), Ok(false));
        let Some(writer) = state.writer.clone().filter(usable) else { return };
        let Some((address, mtu, opening)) = state.waiting.take() else { return };
        let Ok(nonce) = getrandom::u32() else { return };
        // bluer takes five from its writer's MTU; the request's own is ATT's.
        let limit = fragment_limit(Some(mtu)).min(writer.mtu() as u16);
        state.generation += 1;
        let generation = state.generation;
        let (writes, writes_in) = mpsc::channel(WAITING_WRITES);
        state.guest = Some(Guest { address, nonce: opening.nonce, generation, writes });
        tracing::debug!(%address, mtu, limit, "opening");

        let up = self.shared.want_link();
        let gone = gone(self.adapter.clone(), address, writer.clone(), self.shared.ground_lost());
        let incoming = stream::unfold(writes_in, |mut writes| async move {
            writes.recv().await.map(|value| (value, writes))
        });
        let outgoing = Notifier { desk: self.clone(), address, generation, writer, _up: up };
        let pipe = Pipe { incoming: incoming.take_until(gone).boxed(), outgoing: Box::new(outgoing) };
        let stream = Stream::accept(Instant::now().into_std(), nonce, limit, opening);
        let stream = BleStream::start(stream, pipe);
        let shared = self.shared.clone();
        tokio::spawn(async move {
            match stream.greeted().await {
                Ok(()) => shared.arrive(stream),
                Err(error) => tracing::info!(%address, %error, "a greeting failed"),
            }
        });
    }

    /// Whether this link is still the one at the desk; if so, the seat is free from now on.
    fn leave(&self, generation: u64) -> bool {
        let mut state = self.state();
        let is_last = state.guest.as_ref().is_some_and(|guest| guest.generation == generation);
        if is_last {
            state.guest = None;
        }
        is_last
    }
}

/// Waits until the central is gone, by whichever sign comes first.
async fn gone(
    adapter: Adapter,
    address: Address,
    writer: Arc<CharacteristicWriter>,
    ground_lost: impl Future<Output = ()>,
) {
    let disconnected = async {
        let Ok(device) = adapter.device(address) else { return std::future::pending().await };
        let Ok(events) = device.events().await else { return std::future::pending().await };
        let mut events = std::pin::pin!(events);
        while let Some(bluer::DeviceEvent::PropertyChanged(property)) = events.next().await {
            if matches!(property, bluer::DeviceProperty::Connected(false)) {
                return;
            }
        }
        // The stream also ends when BlueZ removes the device, which it does only after it left.
    };
    tokio::select! {
        // Within 20 ms of the loss, where BlueZ notices it.
        _ = writer.closed() => tracing::debug!(%address, "unsubscribed"),
        () = disconnected => tracing::debug!(%address, "disconnected"),
        () = ground_lost => {}
    }
}

/// Notifies. Without the stream's window bursts would vanish, half of them, with Ok for each.
struct Notifier {
    desk: Arc<Desk>,
    address: Address,
    generation: u64,
    writer: Arc<CharacteristicWriter>,
    _up: Want,
}

#[async_trait]
impl Outgoing for Notifier {
    async fn send(&mut self, value: &[u8]) -> io::Result<()> {
        self.writer.send(value).await
    }

    async fn hang_up(&mut self) {
        // Not if the same central has opened a new link meanwhile, nor if nothing is left that could disconnect: a call
        // to a stopped bluetoothd would have D-Bus start it.
        if self.desk.leave(self.generation)
            && self.desk.shared.state() != Some(link::CarrierState::NoService)
            && let Ok(device) = self.desk.adapter.device(self.address)
        {
            let hang_up = async {
                if device.is_connected().await.unwrap_or(false) {
                    let _ = device.disconnect().await;
                }
            };
            let _ = timeout(DISCONNECTED_WITHIN, hang_up).await;
        }
    }
}
