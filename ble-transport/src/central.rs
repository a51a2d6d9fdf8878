//! The central role: connecting, with btleplug.

use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use btleplug::api::{
    Central as _, CentralEvent, Characteristic, Manager as _, Peripheral as _, ValueNotification, WriteType,
};
use btleplug::platform::{Adapter, Manager, Peripheral};
use bytes::Bytes;
use futures::StreamExt;
use futures::future::ready;
use futures::stream::BoxStream;
use link::{Address, CarrierKind, CarrierState, LinkError, Outdated};
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::advert::{SERVICE, TO_CENTRAL, TO_PERIPHERAL};
use crate::duplex::{BleStream, Outgoing, Pipe};
use crate::retry::{ATTEMPTS, Remedy, pause, remedy};
use crate::shared::{Shared, Want};
use crate::stream::{Stream, fragment_limit};

/// Limit for all attempts together.
const DEADLINE: Duration = Duration::from_secs(40);
/// A peer in range is heard again within this time: BlueZ restarts its discovery every 15 s at most.
const HEARD_WITHIN: Duration = Duration::from_secs(18);
/// Limit for one attempt to connect. BlueZ's own limit is longer; a peer in range answers in half a second.
const CONNECTED_WITHIN: Duration = Duration::from_secs(8);
/// Within this time BlueZ has accepted a request to connect, and keeps the device when discovery stops.
const ASKED_WITHIN: Duration = Duration::from_millis(100);
/// Limit for GATT service discovery, which hung on some first connections (btleplug#164); the next attempt follows.
const DISCOVERED_WITHIN: Duration = Duration::from_secs(15);
/// Limit for any other single call.
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// How often to poll BlueZ's list of devices while waiting for one.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The only `Manager` of this process. Every dropped `Manager` keeps its D-Bus subscription: after n of them each notification
/// would come n + 1 times.
static MANAGER: OnceCell<Manager> = OnceCell::const_new();

/// The adapter with this name, such as `hci0`, or the first by name, as the supervisor picks it; the system lists adapters in
/// no order.
pub(crate) async fn adapter(name: Option<&str>) -> Result<Adapter, btleplug::Error> {
    let manager = MANAGER.get_or_try_init(Manager::new).await?;
    let mut named = Vec::new();
    for adapter in manager.adapters().await? {
        // BlueZ's format: "hci0 (usb:v1D6Bp0246d0542)".
        let info = adapter.adapter_info().await?;
        named.push((info.split(' ').next().unwrap_or_default().to_owned(), adapter));
    }
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    let found = named.into_iter().find(|(own, _)| name.is_none_or(|name| name == own));
    found.map(|(_, adapter)| adapter).ok_or(btleplug::Error::DeviceNotFound)
}

/// The identifier that this system has for a peer: with BlueZ the address, elsewhere an opaque id.
pub(crate) fn address_of(peripheral: &Peripheral) -> Address {
    let text = if cfg!(target_os = "linux") {
        peripheral.address().to_string()
    } else {
        peripheral.id().to_string()
    };
    Address { kind: CarrierKind::Bluetooth, text }
}

/// Finds the peer, connects, and exchanges greetings, in several attempts. Dropping the future disconnects.
///
/// `adapter_name` is the adapter that the supervisor uses; `forget` removes a device from the system's memory.
pub(crate) async fn connect<F>(
    shared: &Arc<Shared>,
    adapter_name: Option<&str>,
    address: &Address,
    forget: impl Fn() -> F,
) -> Result<BleStream, LinkError>
where
    F: Future<Output = ()>,
{
    // Discovery runs until the link is up.
    let connecting = shared.want_connecting();
    let unreachable = || LinkError::Unreachable(address.clone());
    let deadline = Instant::now() + DEADLINE;
    let mut failed = 0;
    loop {
        if !matches!(
            shared.known_state().await,
            CarrierState::Ready | CarrierState::TakingTurns | CarrierState::NoAdvertising
        ) {
            return Err(LinkError::Carrier(shared.known_state().await));
        }
        let mut link = Link { shared: shared.clone(), peripheral: None, up: None };
        let attempt = attempt(shared, adapter_name, address, &mut link);
        let failure = match timeout_at(deadline, attempt).await {
            Ok(Ok(stream)) => {
                drop(connecting);
                return Ok(stream);
            }
            Ok(Err(failure)) => failure,
            Err(_) => return Err(unreachable()),
        };
        // Awaited, not spawned: BlueZ takes 2 s to disconnect, and the next attempt must not find the old connection.
        if let Some(peripheral) = link.given_up() {
            let _ = timeout(CALL_WITHIN, peripheral.disconnect()).await;
        }
        drop(link);
        let error = match failure {
            Failure::Said(error) => error,
            Failure::Outdated(outdated) => return Err(outdated.into()),
        };
        failed += 1;
        // With another link up, the peer or somebody else was faster.
        let remedy = if shared.wants().links > 0 { Remedy::GiveUp } else { remedy(&error, failed) };
        tracing::info!(%address, %error, failed, ATTEMPTS, ?remedy, "connecting failed");
        match remedy {
            Remedy::Again => {}
            Remedy::Forget => forget().await,
            Remedy::GiveUp => return Err(unreachable()),
        }
        sleep(pause(getrandom::u64().unwrap_or_default())).await;
    }
}

/// Why an attempt failed.
enum Failure {
    /// An error text of BlueZ or of this crate, for [`remedy`] and for the log.
    Said(String),
    /// No version in common: trying again cannot help.
    Outdated(Outdated),
}

impl From<String> for Failure {
    fn from(said: String) -> Self {
        Self::Said(said)
    }
}

/// One attempt.
async fn attempt(
    shared: &Arc<Shared>,
    adapter_name: Option<&str>,
    address: &Address,
    link: &mut Link,
) -> Result<BleStream, Failure> {
    let adapter = call("adapter", CALL_WITHIN, adapter(adapter_name)).await?;
    let peripheral = find(shared, &adapter, address).await?;
    // Subscribed before connecting, so that no event is missed.
    let events = call("events", CALL_WITHIN, adapter.events()).await?;
    link.peripheral = Some(peripheral.clone());
    let started = Instant::now();
    tokio::select! {
        connected = call("connect", CONNECTED_WITHIN, peripheral.connect()) => connected?,
        never = make_way(shared) => match never {},
    }
    link.up = Some(shared.want_link());
    tracing::debug!(%address, took = ?started.elapsed(), "connected");
    let ways = by_calls(&peripheral).await?;
    let limit = fragment_limit(ways.mtu);
    tracing::debug!(%address, mtu = ways.mtu, limit, took = ?started.elapsed(), "subscribed");

    let id = peripheral.id();
    let has_left = Arc::new(AtomicBool::new(false));
    let gone = {
        let (ground_lost, left) = (shared.ground_lost(), has_left.clone());
        async move {
            let disconnected = events.filter(|event| {
                ready(matches!(event, CentralEvent::DeviceDisconnected(gone) if *gone == id))
            });
            let mut disconnected = std::pin::pin!(disconnected);
            // A central gets no event when bluetoothd dies; the supervisor detects that.
            tokio::select! {
                _ = disconnected.next() => left.store(true, Relaxed),
                () = ground_lost => {}
            }
        }
    };
    let nonce = getrandom::u32().map_err(|error| error.to_string())?;
    let stream = Stream::open(Instant::now().into_std(), nonce, limit);
    let up = Arc::new(Mutex::new(None));
    let outgoing =
        Writer { shared: shared.clone(), peripheral, values: ways.outgoing, has_left, _up: up.clone() };
    let incoming = ways.incoming.take_until(gone).boxed();
    let stream = BleStream::start(stream, Pipe { incoming, outgoing: Box::new(outgoing) });
    if let Err(error) = stream.greeted().await {
        return Err(stream.outdated().map_or_else(|| Failure::Said(error.to_string()), Failure::Outdated));
    }
    shared.meets(address.text.clone());
    // From here on the stream disconnects and holds the `Want` of the link. Held earlier, a failed greeting would count as
    // another link until its connection ended.
    *up.lock().unwrap_or_else(PoisonError::into_inner) = link.up.take();
    link.peripheral = None;
    tracing::debug!(%address, took = ?started.elapsed(), "greeted");
    Ok(stream)
}

/// The GATT channel of a connection: one characteristic each way.
pub(crate) struct GattChannel {
    /// Values of the notifications, unchanged.
    pub(crate) incoming: BoxStream<'static, Bytes>,
    pub(crate) outgoing: Box<dyn ValueWriter>,
    /// The ATT MTU, if known.
    pub(crate) mtu: Option<u16>,
}

/// Writes values without response: at Linux's default connection interval, writes with response pass 10 to 17 times a second.
#[async_trait]
pub(crate) trait ValueWriter: Send {
    /// Sends one value; waits while the system applies back-pressure. Ok is no proof of delivery: the value may still be lost.
    async fn write(&mut self, value: &[u8]) -> io::Result<()>;
}

/// The GATT channel by btleplug's calls, which work on every system. BlueZ's sockets (`AcquireNotify`) are faster, and were
/// tried: an `AcquireNotify` that did not return in time leaves BlueZ 5.66 with "Notify acquired" until it forgets the device.
async fn by_calls(peripheral: &Peripheral) -> Result<GattChannel, String> {
    let found = async {
        peripheral.discover_services().await.map_err(|error| format!("{error} ({error:?})"))?;
        let characteristics = peripheral.characteristics();
        let find = |uuid| {
            let found =
                characteristics.iter().find(|known| known.service_uuid == SERVICE && known.uuid == uuid);
            found.cloned().ok_or_else(|| format!("no characteristic {uuid}"))
        };
        Ok::<_, String>((find(TO_PERIPHERAL)?, find(TO_CENTRAL)?))
    };
    let (to_peripheral, to_central) =
        timeout(DISCOVERED_WITHIN, found).await.map_err(|_| "service discovery timed out".to_owned())??;
    // The event stream before the subscription: in the other order the first notifications are lost.
    let notifications = call("notifications", CALL_WITHIN, peripheral.notifications()).await?;
    call("subscribe", CALL_WITHIN, peripheral.subscribe(&to_central)).await?;
    let incoming = notifications.filter_map(|ValueNotification { uuid, value, .. }| {
        ready((uuid == TO_CENTRAL).then(|| Bytes::from(value)))
    });
    let outgoing = Box::new(BtleplugWriter { peripheral: peripheral.clone(), to_peripheral });
    Ok(GattChannel { incoming: incoming.boxed(), outgoing, mtu: Some(peripheral.mtu()) })
}

struct BtleplugWriter {
    peripheral: Peripheral,
    to_peripheral: Characteristic,
}

#[async_trait]
impl ValueWriter for BtleplugWriter {
    async fn write(&mut self, value: &[u8]) -> io::Result<()> {
        self.peripheral
            .write(&self.to_peripheral, value, WriteType::WithoutResponse)
            .await
            .map_err(io::Error::other)
    }
}

/// Gives BlueZ time to accept the request to connect, then stops discovery for as long as this future is polled.
async fn make_way(shared: &Shared) -> Infallible {
    sleep(ASKED_WITHIN).await;
    let _dialing = shared.want_dialing();
    std::future::pending().await
}

/// Waits until BlueZ knows the device *and* has heard the device in this discovery: BlueZ replays remembered devices as
/// discovered, without an RSSI.
async fn find(shared: &Shared, adapter: &Adapter, address: &Address) -> Result<Peripheral, String> {
    let deadline = Instant::now() + HEARD_WITHIN;
    let mut sightings = shared.sightings();
    loop {
        for peripheral in call("peripherals", CALL_WITHIN, adapter.peripherals()).await? {
            if address_of(&peripheral) != *address {
                continue;
            }
            let properties = call("properties", CALL_WITHIN, peripheral.properties()).await?;
            if properties.is_some_and(|properties| properties.rssi.is_some()) {
                return Ok(peripheral);
            }
        }
        if shared.wants().links > 0 {
            return Err("another link is up".into());
        }
        if Instant::now() >= deadline {
            return Err("not heard".into());
        }
        shared.unheard.notify_one();
        // A sighting or the timeout: either way the list is polled again.
        let _ = timeout(LOOK_EVERY, sightings.recv()).await;
    }
}

async fn call<T>(
    what: &str,
    within: Duration,
    future: impl Future<Output = Result<T, btleplug::Error>>,
) -> Result<T, String> {
    match timeout(within, future).await {
        Ok(result) => result.map_err(|error| format!("{what}: {error} ({error:?})")),
        Err(_) => Err(format!("{what}: timed out")),
    }
}

/// An attempt's connection. Dropped before a stream takes over, it disconnects.
struct Link {
    shared: Arc<Shared>,
    peripheral: Option<Peripheral>,
    up: Option<Want>,
}

impl Link {
    /// The peripheral to disconnect when the attempt ends. None while another link is up: two devices that dial each other
    /// share one connection, and a disconnect would end the other link too.
    fn given_up(&mut self) -> Option<Peripheral> {
        let own = u32::from(self.up.is_some());
        self.peripheral.take().filter(|_| self.shared.wants().links <= own)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(peripheral) = self.given_up() {
            let up = self.up.take();
            tokio::spawn(async move {
                let _ = timeout(CALL_WITHIN, peripheral.disconnect()).await;
                drop(up);
            });
        }
    }
}

/// The sending side of a central's link.
struct Writer {
    shared: Arc<Shared>,
    peripheral: Peripheral,
    values: Box<dyn ValueWriter>,
    /// The connection has ended.
    has_left: Arc<AtomicBool>,
    /// Filled when both greetings have passed.
    _up: Arc<Mutex<Option<Want>>>,
}

#[async_trait]
impl Outgoing for Writer {
    async fn send(&mut self, value: &[u8]) -> io::Result<()> {
        self.values.write(value).await
    }

    async fn hang_up(&mut self) {
        // Three cases need no disconnect: the connection has ended (the peer may have a new one by now); two links that dialed
        // each other share the connection; bluetoothd is stopped, and a call would make D-Bus start it against the user's will.
        if !self.has_left.load(Relaxed)
            && self.shared.wants().links <= 1
            && self.shared.state() != Some(CarrierState::NoService)
        {
            let _ = timeout(CALL_WITHIN, self.peripheral.disconnect()).await;
        }
    }
}
