//! A bluetoothd of the tests' own on a private bus: as many adapters as wanted, which hear each other, with BlueZ's D-Bus interfaces
//! as far as this crate uses them, and with the faults that were seen of the real one.
//!
//! It stands beside the lab (`make ble-lab`), which has the real BlueZ and is slow: here a fault comes when a test wants it.
#![allow(
    clippy::unused_self,
    clippy::used_underscore_binding,
    reason = "methods and arguments are those of BlueZ's interfaces"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::os::fd::OwnedFd as StdFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::UnixDatagram;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use zbus::zvariant::{ObjectPath, OwnedFd, OwnedObjectPath, Value};
use zbus::{Connection, fdo};

mod objects;

use objects::{
    AdapterObject, Adverts, Agents, Applications, BatteryObject, CharacteristicObject, DeviceObject,
    ServiceObject,
};

/// How often an advertisement is heard.
const ADVERT_EVERY: Duration = Duration::from_millis(50);
/// How long a connect waits for an advertisement.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// In this time a controller carries [as many notifications](Faults::at_once) as it has room for.
const BURST: Duration = Duration::from_millis(20);
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const CHARACTERISTIC: &str = "org.bluez.GattCharacteristic1";
const DEVICE: &str = "org.bluez.Device1";

#[derive(Debug, zbus::DBusError)]
#[zbus(prefix = "org.bluez.Error")]
enum Error {
    #[zbus(error)]
    Bus(zbus::Error),
    Failed(String),
    InProgress(String),
    DoesNotExist(String),
}

/// What happens to the write that makes BlueZ acquire the socket for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FirstWrite {
    #[default]
    Arrives,
    Lost,
    LosesItsFirstByte,
}

/// What goes wrong, from now on.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    /// Of a hundred values in each direction, how many are lost, come twice, or are overtaken by the next one.
    pub(crate) lost: u64,
    pub(crate) twice: u64,
    pub(crate) overtaken: u64,
    /// Longer values vanish.
    pub(crate) longest: usize,
    pub(crate) first_write: FirstWrite,
    /// Nothing arrives, and nobody is told.
    pub(crate) silence: bool,
    /// The next connects fail with these texts.
    pub(crate) connects: VecDeque<&'static str>,
    /// Every connect is refused until the device is removed: an attempt of a crashed client is still under way.
    pub(crate) stuck: bool,
    /// Devices are heard and connected to without an advertisement.
    pub(crate) answers_always: bool,
    /// Advertising and discovery exclude each other.
    pub(crate) one_role: bool,
    /// A device that is not connected is forgotten when discovery stops.
    pub(crate) forgets: bool,
    /// The ATT MTU; `None`: not known to the central.
    pub(crate) mtu: Option<u16>,
    /// Services are resolved this long after the connect.
    pub(crate) resolved_after: Duration,
    /// In which of the registrations of a GATT application the characteristics get their handles in the opposite order.
    pub(crate) crossed: VecDeque<bool>,
    /// Another name than the advertised one is known of every device, and devices that nobody hears are listed.
    pub(crate) remembers: bool,
    /// The registration of an advertisement takes this long.
    pub(crate) registers_for: Duration,
    /// The next registrations of an advertisement fail, this many.
    pub(crate) refused: u32,
    /// The next registrations of an advertisement are accepted and counted as active, and nothing is sent, this many.
    pub(crate) silenced: u32,
    /// When discovery stops, the adapter's advertisement stays active and is not sent any more.
    pub(crate) scan_silences: bool,
    /// The first notifications after a subscription are lost, this many.
    pub(crate) first_notifications: u32,
    /// Of the notifications within [`BURST`] this many are carried; the others vanish.
    pub(crate) at_once: u32,
    /// Of every adapter.
    pub(crate) alias: String,
    pub(crate) pairable: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Faults {
            lost: 0,
            twice: 0,
            overtaken: 0,
            longest: 510,
            first_write: FirstWrite::default(),
            silence: false,
            connects: VecDeque::new(),
            stuck: false,
            answers_always: false,
            one_role: false,
            forgets: false,
            mtu: Some(517),
            resolved_after: Duration::ZERO,
            crossed: VecDeque::new(),
            remembers: false,
            registers_for: Duration::ZERO,
            refused: 0,
            silenced: 0,
            scan_silences: false,
            first_notifications: 0,
            at_once: u32::MAX,
            alias: "mock".into(),
            pairable: false,
        }
    }
}

/// What was asked of this bluetoothd.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) powered: u32,
    pub(crate) connects: u32,
    pub(crate) disconnects: u32,
    pub(crate) removed: u32,
    pub(crate) applications: u32,
    pub(crate) adverts: u32,
    /// Registrations that have been answered.
    pub(crate) answered: u32,
    /// How often an advertisement was not sent and counted as active.
    pub(crate) silent: u32,
    /// Notifications that were sent before any central had written.
    pub(crate) unasked: u32,
    /// Bytes of the longest value that was to be carried.
    pub(crate) longest: usize,
}

#[derive(Default)]
struct Air {
    faults: Faults,
    asked: Asked,
    adapters: BTreeMap<u8, Adapter>,
    devices: BTreeMap<Pair, Device>,
    /// Connections to the bus that have an agent, and its path.
    agents: Vec<(String, OwnedObjectPath)>,
    /// Some central has written.
    spoken: bool,
    random: u64,
}

/// The adapter that has a device, and the adapter that is this device.
type Pair = (u8, u8);

#[derive(Default)]
struct Adapter {
    powered: bool,
    /// Connections to the bus whose discovery runs.
    discovering: BTreeSet<String>,
    advert: Option<Advert>,
    application: Option<Application>,
}

impl Adapter {
    /// The advertisement that others can hear.
    fn on_the_air(&self) -> Option<&Advert> {
        self.advert.as_ref().filter(|advert| self.powered && !advert.silent)
    }
}

#[derive(Clone)]
struct Advert {
    owner: String,
    path: OwnedObjectPath,
    /// It counts as active and is not sent.
    silent: bool,
    services: Vec<String>,
    data: HashMap<u16, Vec<u8>>,
    name: Option<String>,
}

/// A GATT application: two characteristics, one for writes and one for notifications.
struct Application {
    owner: String,
    path: OwnedObjectPath,
    service: String,
    /// UUID, flags and path of each.
    characteristics: Vec<(String, Vec<String>, OwnedObjectPath)>,
    written: mpsc::UnboundedSender<(u8, Vec<u8>)>,
    writing: JoinHandle<()>,
    /// Centrals that have subscribed, and the task that reads the notifications while there are any.
    subscribers: BTreeSet<u8>,
    notifying: Option<JoinHandle<()>>,
}

impl Drop for Application {
    fn drop(&mut self) {
        self.writing.abort();
        if let Some(notifying) = &self.notifying {
            notifying.abort();
        }
    }
}

#[derive(Clone, Default)]
struct Device {
    connected: bool,
    resolved: bool,
    /// This side is the central.
    central: bool,
    heard: bool,
    services: Vec<String>,
    data: HashMap<u16, Vec<u8>>,
    name: Option<String>,
}

#[derive(Clone)]
struct Core {
    air: Arc<Mutex<Air>>,
    bus: Connection,
}

/// The mock. Dropped or [killed](Bluez::kill), it leaves the bus.
pub(crate) struct Bluez {
    core: Core,
    heard: JoinHandle<()>,
}

fn adapter_path(adapter: u8) -> String {
    format!("/org/bluez/hci{adapter}")
}

pub(crate) fn address(adapter: u8) -> String {
    format!("00:AA:01:{adapter:02X}:00:42")
}

fn device_path((here, there): Pair) -> String {
    format!("{}/dev_{}", adapter_path(here), address(there).replace(':', "_"))
}

fn characteristic_path(pair: Pair, index: usize) -> String {
    format!("{}/service0010/char{:04x}", device_path(pair), 0x11 + index)
}

fn path(text: &str) -> OwnedObjectPath {
    ObjectPath::try_from(text.to_owned()).expect("a path").into()
}

impl Bluez {
    /// Starts with this many adapters, switched on.
    pub(crate) async fn start(adapters: u8) -> Bluez {
        let address = std::env::var("DBUS_SYSTEM_BUS_ADDRESS").expect("a private bus");
        let bus = zbus::connection::Builder::address(address.as_str())
            .expect("an address")
            .build()
            .await
            .expect("the bus is there");
        let core = Core { air: Arc::default(), bus: bus.clone() };
        core.air().random = 7;
        let server = bus.object_server();
        server.at("/", fdo::ObjectManager).await.expect("free");
        server.at("/org/bluez", Agents { core: core.clone() }).await.expect("free");
        for number in 0..adapters {
            core.air().adapters.insert(number, Adapter { powered: true, ..Adapter::default() });
            let at = adapter_path(number);
            server.at(at.as_str(), AdapterObject { core: core.clone(), number }).await.expect("free");
            server.at(at.as_str(), Adverts { core: core.clone(), number }).await.expect("free");
            server.at(at.as_str(), Applications { core: core.clone(), number }).await.expect("free");
        }
        bus.request_name("org.bluez").await.expect("nobody else has it");
        let heard = tokio::spawn(core.clone().hear());
        Bluez { core, heard }
    }

    pub(crate) fn faults(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.core.air().faults);
    }

    pub(crate) fn asked(&self) -> Asked {
        self.core.air().asked.clone()
    }

    pub(crate) fn advertises(&self, adapter: u8) -> bool {
        self.core.air().adapters[&adapter].advert.is_some()
    }

    /// Whether others can hear the advertisement.
    pub(crate) fn is_on_the_air(&self, adapter: u8) -> bool {
        self.core.air().adapters[&adapter].on_the_air().is_some()
    }

    /// How many programs have an agent: bluetoothd asks the latest instead of the desktop's.
    pub(crate) fn agents(&self) -> usize {
        self.core.air().agents.len()
    }

    /// A device asks one of the adapters to be paired. Returns what each agent answers.
    pub(crate) async fn asks_to_pair(&self, device: u8, adapter: u8) -> Vec<Result<(), String>> {
        let agents = self.core.air().agents.clone();
        let request = (path(&device_path((adapter, device))), 123_456_u32);
        let mut answers = Vec::new();
        for (owner, at) in agents {
            let interface = Some("org.bluez.Agent1");
            let bus = &self.core.bus;
            let asked =
                bus.call_method(Some(owner.as_str()), &at, interface, "RequestConfirmation", &request).await;
            answers.push(asked.map(drop).map_err(|error| error.to_string()));
        }
        answers
    }

    /// The bus reads its settings again.
    pub(crate) async fn settings_of_the_bus_change(&self) {
        let bus = fdo::DBusProxy::new(&self.core.bus).await.expect("on the bus");
        bus.reload_config().await.expect("it can read them");
    }

    pub(crate) fn discovers(&self, adapter: u8) -> bool {
        !self.core.air().adapters[&adapter].discovering.is_empty()
    }

    /// The radio link between the two is lost: both ends are told.
    pub(crate) async fn lose(&self, one: u8, other: u8) {
        self.core.disconnect((one, other)).await;
    }

    /// The person switches an adapter on or off.
    pub(crate) async fn power(&self, adapter: u8, on: bool) {
        self.core.power(adapter, on).await;
    }

    /// The system goes to sleep, or wakes up.
    pub(crate) async fn sleep(&self, asleep: bool) {
        let (at, interface) = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager");
        let bus = &self.core.bus;
        bus.emit_signal(None::<&str>, at, interface, "PrepareForSleep", &asleep).await.expect("on the bus");
    }

    /// What `kill -9` does: the name is gone, and all that was registered.
    pub(crate) async fn kill(self) {
        self.heard.abort();
        self.core.bus.release_name("org.bluez").await.expect("it was ours");
        let mut air = self.core.air();
        air.adapters.clear();
        air.devices.clear();
    }
}

impl Air {
    fn draw(&mut self) -> u64 {
        // Knuth's MMIX generator.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % 100
    }

    /// What arrives when this value is sent after `held`.
    fn carry(&mut self, value: Vec<u8>, held: &mut Option<Vec<u8>>) -> Vec<Vec<u8>> {
        let Faults { lost, twice, overtaken, longest, silence, .. } = self.faults;
        self.asked.longest = self.asked.longest.max(value.len());
        if silence || value.len() > longest || self.draw() < lost {
            return Vec::new();
        }
        let mut all = vec![value.clone()];
        if self.draw() < twice {
            all.push(value.clone());
        }
        if held.is_none() && self.draw() < overtaken {
            *held = Some(value);
            return Vec::new();
        }
        all.extend(held.take());
        all
    }

    fn peers(&self, one: u8) -> Vec<Pair> {
        let pairs = self.devices.iter().filter(|((here, _), device)| *here == one && device.connected);
        pairs.map(|(pair, _)| *pair).collect()
    }
}

impl Core {
    fn air(&self) -> MutexGuard<'_, Air> {
        self.air.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn tell(&self, at: &str, interface: &str, changed: Vec<(&str, Value<'_>)>) {
        let changed: HashMap<&str, Value<'_>> = changed.into_iter().collect();
        let body = (interface, changed, Vec::<&str>::new());
        // Fails only after the end of the bus.
        let _ = self.bus.emit_signal(None::<&str>, at, PROPERTIES, "PropertiesChanged", &body).await;
    }

    /// Lets every adapter that discovers hear those that advertise.
    async fn hear(self) {
        loop {
            tokio::time::sleep(ADVERT_EVERY).await;
            let heard: Vec<(Pair, Advert)> = {
                let air = self.air();
                let listening =
                    air.adapters.iter().filter(|(_, one)| one.powered && !one.discovering.is_empty());
                listening
                    .flat_map(|(&here, _)| {
                        let others = air.adapters.iter().filter(move |(there, _)| **there != here);
                        others
                            .filter_map(move |(&there, one)| Some(((here, there), one.on_the_air()?.clone())))
                    })
                    .collect()
            };
            for (pair, advert) in heard {
                let (new, fields) = {
                    let mut air = self.air();
                    let remembers = air.faults.remembers;
                    let new = !air.devices.contains_key(&pair);
                    let device = air.devices.entry(pair).or_default();
                    device.heard = true;
                    device.data.clone_from(&advert.data);
                    if !device.resolved {
                        device.services.clone_from(&advert.services);
                    }
                    device.name = if remembers { Some("host name".into()) } else { advert.name.clone() };
                    (new, device.data.clone())
                };
                if new {
                    self.add_device(pair).await;
                } else {
                    let data: HashMap<u16, Value<'_>> =
                        fields.into_iter().map(|(company, bytes)| (company, Value::from(bytes))).collect();
                    let changed =
                        vec![("RSSI", Value::from(-60_i16)), ("ManufacturerData", Value::from(data))];
                    self.tell(&device_path(pair), DEVICE, changed).await;
                }
            }
        }
    }

    async fn add_device(&self, pair: Pair) {
        let object = DeviceObject { core: self.clone(), pair };
        let _ = self.bus.object_server().at(device_path(pair), object).await;
        let _ = self.bus.object_server().at(device_path(pair), BatteryObject).await;
    }

    async fn remove_device(&self, pair: Pair) {
        self.remove_services(pair).await;
        self.air().devices.remove(&pair);
        let _ = self.bus.object_server().remove::<BatteryObject, _>(device_path(pair)).await;
        let _ = self.bus.object_server().remove::<DeviceObject, _>(device_path(pair)).await;
    }

    async fn remove_services(&self, pair: Pair) {
        let server = self.bus.object_server();
        for index in 0..2 {
            let _ = server.remove::<CharacteristicObject, _>(characteristic_path(pair, index)).await;
        }
        let _ = server.remove::<ServiceObject, _>(format!("{}/service0010", device_path(pair))).await;
    }

    async fn connect(&self, pair: Pair) -> Result<(), Error> {
        let (here, there) = pair;
        {
            let mut air = self.air();
            air.asked.connects += 1;
            if air.faults.stuck {
                return Err(Error::InProgress("Operation already in progress".into()));
            }
            if let Some(failure) = air.faults.connects.pop_front() {
                return Err(Error::Failed(failure.to_owned()));
            }
            if air.devices.get(&pair).is_some_and(|device| device.connected) {
                return Ok(());
            }
        }
        let answered = async {
            loop {
                let can = {
                    let air = self.air();
                    let always = air.faults.answers_always;
                    air.adapters
                        .get(&there)
                        .is_some_and(|one| (always && one.powered) || one.on_the_air().is_some())
                };
                if can {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(ANSWERED_WITHIN, answered).await.is_err() {
            return Err(Error::Failed("le-connection-abort-by-local".into()));
        }
        if !self.air().devices.contains_key(&pair) {
            return Err(Error::DoesNotExist("Does Not Exist".into()));
        }
        let back = (there, here);
        let unknown = !self.air().devices.contains_key(&back);
        for (pair, central) in [(pair, true), (back, false)] {
            let mut air = self.air();
            let device = air.devices.entry(pair).or_default();
            device.connected = true;
            device.central = central;
        }
        if unknown {
            self.add_device(back).await;
        }
        for pair in [back, pair] {
            self.tell(&device_path(pair), DEVICE, vec![("Connected", true.into())]).await;
        }
        tokio::spawn(self.clone().resolve(pair));
        Ok(())
    }

    /// Service discovery of the central.
    async fn resolve(self, pair: Pair) {
        let after = self.air().faults.resolved_after;
        tokio::time::sleep(after).await;
        let (service, characteristics) = {
            let mut air = self.air();
            let Some(application) = air.adapters.get(&pair.1).and_then(|one| one.application.as_ref()) else {
                return;
            };
            let found = (application.service.clone(), application.characteristics.clone());
            let Some(device) = air.devices.get_mut(&pair).filter(|device| device.connected) else { return };
            device.services =
                ["1800", "1801"].map(|short| format!("0000{short}-0000-1000-8000-00805f9b34fb")).into();
            device.services.push(found.0.clone());
            found
        };
        let server = self.bus.object_server();
        let at = format!("{}/service0010", device_path(pair));
        let _ =
            server.at(at.as_str(), ServiceObject { uuid: service, device: path(&device_path(pair)) }).await;
        for (index, (uuid, flags, _)) in characteristics.into_iter().enumerate() {
            let object = CharacteristicObject { core: self.clone(), pair, uuid, flags, service: path(&at) };
            let _ = server.at(characteristic_path(pair, index), object).await;
        }
        if let Some(device) = self.air().devices.get_mut(&pair) {
            device.resolved = true;
        }
        self.tell(&device_path(pair), DEVICE, vec![("ServicesResolved", true.into())]).await;
    }

    async fn disconnect(&self, (one, other): Pair) {
        for pair in [(one, other), (other, one)] {
            let was = {
                let mut air = self.air();
                let device = air.devices.get_mut(&pair);
                let was = device.as_ref().is_some_and(|device| device.connected);
                if let Some(device) = device {
                    device.connected = false;
                    device.resolved = false;
                }
                if let Some(application) =
                    air.adapters.get_mut(&pair.0).and_then(|one| one.application.as_mut())
                    && application.subscribers.remove(&pair.1)
                    && application.subscribers.is_empty()
                    && let Some(notifying) = application.notifying.take()
                {
                    // Its socket closes with it.
                    notifying.abort();
                }
                was
            };
            if was {
                self.remove_services(pair).await;
                let changed = vec![("ServicesResolved", false.into()), ("Connected", false.into())];
                self.tell(&device_path(pair), DEVICE, changed).await;
            }
        }
    }

    async fn power(&self, number: u8, on: bool) {
        let peers = self.air().peers(number);
        if !on {
            for pair in peers {
                self.disconnect(pair).await;
            }
            if let Some(adapter) = self.air().adapters.get_mut(&number) {
                adapter.discovering.clear();
            }
        }
        if let Some(adapter) = self.air().adapters.get_mut(&number) {
            adapter.powered = on;
        }
        self.tell(&adapter_path(number), "org.bluez.Adapter1", vec![("Powered", on.into())]).await;
    }

    /// Carries the writes of all centrals of an adapter into its application's socket, which one of them makes BlueZ acquire and
    /// all share.
    async fn write(self, adapter: u8, mut written: mpsc::UnboundedReceiver<(u8, Vec<u8>)>) {
        let (mut socket, mut held) = (None, None);
        while let Some((central, mut value)) = written.recv().await {
            self.air().spoken = true;
            if socket.is_none() {
                let Some(acquired) = self.acquire("AcquireWrite", adapter, central).await else { continue };
                socket = Some(acquired);
                match self.air().faults.first_write {
                    FirstWrite::Arrives => {}
                    FirstWrite::Lost => continue,
                    FirstWrite::LosesItsFirstByte => drop(value.remove(0)),
                }
            }
            let arrive = self.air().carry(value, &mut held);
            for value in arrive {
                if let Some(open) = &socket
                    && open.send(&value).await.is_err()
                {
                    socket = None;
                }
            }
        }
    }

    /// Carries the notifications of an application to all its subscribers.
    async fn notify(self, adapter: u8, socket: UnixDatagram) {
        let (mut buffer, mut held) = (vec![0; 1024], None);
        let (mut all, mut since, mut at_once) = (0, Instant::now(), 0);
        while let Ok(length @ 1..) = socket.recv(&mut buffer).await {
            if since.elapsed() >= BURST {
                (since, at_once) = (Instant::now(), 0);
            }
            (all, at_once) = (all + 1, at_once + 1);
            let (arrive, subscribers) = {
                let mut air = self.air();
                let spoken = air.spoken;
                air.asked.unasked += u32::from(!spoken);
                let vanishes = all <= air.faults.first_notifications || at_once > air.faults.at_once;
                let arrive =
                    if vanishes { Vec::new() } else { air.carry(buffer[..length].to_vec(), &mut held) };
                let application = air.adapters.get(&adapter).and_then(|one| one.application.as_ref());
                let subscribers = application.map(|one| one.subscribers.clone()).unwrap_or_default();
                (arrive, subscribers)
            };
            for value in arrive {
                for &central in &subscribers {
                    let at =
                        characteristic_path((central, adapter), self.index_of((central, adapter), "notify"));
                    self.tell(&at, CHARACTERISTIC, vec![("Value", Value::from(value.clone()))]).await;
                }
            }
        }
    }

    fn index_of(&self, (_, adapter): Pair, flag: &str) -> usize {
        let air = self.air();
        let application = air.adapters.get(&adapter).and_then(|one| one.application.as_ref());
        let has = |flags: &[String]| flags.iter().any(|one| one == flag);
        application
            .and_then(|one| one.characteristics.iter().position(|(_, flags, _)| has(flags)))
            .unwrap_or(0)
    }

    async fn acquire(&self, method: &str, adapter: u8, central: u8) -> Option<UnixDatagram> {
        let flag = if method == "AcquireWrite" { "write-without-response" } else { "notify" };
        let index = self.index_of((central, adapter), flag);
        let (owner, at, mtu) = {
            let air = self.air();
            let application = air.adapters.get(&adapter)?.application.as_ref()?;
            (
                application.owner.clone(),
                application.characteristics[index].2.clone(),
                air.faults.mtu.unwrap_or(517),
            )
        };
        let device = path(&device_path((adapter, central)));
        let options: HashMap<&str, Value<'_>> =
            HashMap::from([("device", Value::from(device)), ("mtu", mtu.into()), ("link", "LE".into())]);
        let reply =
            self.bus.call_method(Some(owner), &at, Some(CHARACTERISTIC), method, &(options,)).await.ok()?;
        let (fd, _mtu): (OwnedFd, u16) = reply.body().deserialize().ok()?;
        let socket = std::os::unix::net::UnixDatagram::from(StdFd::from(fd));
        socket.set_nonblocking(true).ok()?;
        UnixDatagram::from_std(socket).ok()
    }
}
