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
use std::time::Duration;

use tokio::net::UnixDatagram;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use zbus::message::Header;
use zbus::zvariant::{ObjectPath, OwnedFd, OwnedObjectPath, OwnedValue, Value};
use zbus::{Connection, fdo, interface};

/// How often an advertisement is heard.
const ADVERT_EVERY: Duration = Duration::from_millis(50);
/// How long a connect waits for an advertisement.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
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
    /// Advertising beside a connection is refused.
    pub(crate) no_advert_beside_links: bool,
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
            no_advert_beside_links: false,
            one_role: false,
            forgets: false,
            mtu: Some(517),
            resolved_after: Duration::ZERO,
            crossed: VecDeque::new(),
            remembers: false,
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
}

#[derive(Default)]
struct Air {
    faults: Faults,
    asked: Asked,
    adapters: BTreeMap<u8, Adapter>,
    devices: BTreeMap<Pair, Device>,
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

#[derive(Clone)]
struct Advert {
    owner: String,
    path: OwnedObjectPath,
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
        server.at("/org/bluez", Agents).await.expect("free");
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
                        let others =
                            air.adapters.iter().filter(move |(there, one)| **there != here && one.powered);
                        others.filter_map(move |(&there, one)| Some(((here, there), one.advert.clone()?)))
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
                let can =
                    self.air().adapters.get(&there).is_some_and(|one| one.powered && one.advert.is_some());
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
        while let Ok(length @ 1..) = socket.recv(&mut buffer).await {
            let (arrive, subscribers) = {
                let mut air = self.air();
                let arrive = air.carry(buffer[..length].to_vec(), &mut held);
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

struct Agents;

#[interface(name = "org.bluez.AgentManager1")]
impl Agents {
    fn register_agent(&self, _agent: OwnedObjectPath, _capability: String) {}
    fn request_default_agent(&self, _agent: OwnedObjectPath) {}
    fn unregister_agent(&self, _agent: OwnedObjectPath) {}
}

struct AdapterObject {
    core: Core,
    number: u8,
}

impl AdapterObject {
    fn with<T>(&self, read: impl FnOnce(&mut Adapter) -> T) -> T {
        read(self.core.air().adapters.entry(self.number).or_default())
    }
}

#[interface(name = "org.bluez.Adapter1")]
impl AdapterObject {
    fn set_discovery_filter(&self, _filter: HashMap<String, OwnedValue>) {}

    fn start_discovery(&self, #[zbus(header)] header: Header<'_>) -> Result<(), Error> {
        let sender = header.sender().expect("on a bus").to_string();
        let one_role = self.core.air().faults.one_role;
        self.with(|adapter| {
            if !adapter.powered {
                return Err(Error::Failed("Not Ready".into()));
            }
            if (one_role && adapter.advert.is_some()) || !adapter.discovering.insert(sender) {
                return Err(Error::InProgress("Operation already in progress".into()));
            }
            Ok(())
        })
    }

    async fn stop_discovery(&self, #[zbus(header)] header: Header<'_>) -> Result<(), Error> {
        let sender = header.sender().expect("on a bus").to_string();
        let ran = self.with(|adapter| adapter.discovering.remove(&sender));
        if !ran {
            return Err(Error::Failed("No discovery started".into()));
        }
        let forgotten: Vec<Pair> = {
            let air = self.core.air();
            let over = air.faults.forgets && air.adapters[&self.number].discovering.is_empty();
            let own =
                air.devices.iter().filter(|((here, _), device)| *here == self.number && !device.connected);
            own.map(|(pair, _)| *pair).filter(|_| over).collect()
        };
        for pair in forgotten {
            self.core.remove_device(pair).await;
        }
        Ok(())
    }

    async fn remove_device(&self, device: OwnedObjectPath) {
        {
            let mut air = self.core.air();
            air.asked.removed += 1;
            air.faults.stuck = false;
        }
        let pairs: Vec<Pair> = self.core.air().devices.keys().copied().collect();
        for pair in pairs.into_iter().filter(|pair| device_path(*pair) == device.as_str()) {
            self.core.disconnect(pair).await;
            self.core.remove_device(pair).await;
        }
    }

    #[zbus(property)]
    fn address(&self) -> String {
        address(self.number)
    }
    #[zbus(property)]
    fn address_type(&self) -> String {
        "public".into()
    }
    #[zbus(property)]
    fn name(&self) -> String {
        "mock".into()
    }
    #[zbus(property)]
    fn alias(&self) -> String {
        "mock".into()
    }
    #[zbus(property)]
    fn modalias(&self) -> String {
        "usb:v1D6Bp0246d0542".into()
    }
    #[zbus(property)]
    fn powered(&self) -> bool {
        self.with(|adapter| adapter.powered)
    }
    #[zbus(property)]
    async fn set_powered(&self, on: bool) {
        self.core.air().asked.powered += 1;
        self.core.power(self.number, on).await;
    }
    #[zbus(property)]
    fn discovering(&self) -> bool {
        self.with(|adapter| !adapter.discovering.is_empty())
    }
    #[zbus(property)]
    fn roles(&self) -> Vec<String> {
        ["central", "peripheral", "central-peripheral"].map(String::from).into()
    }
    #[zbus(property, name = "UUIDs")]
    fn uuids(&self) -> Vec<String> {
        Vec::new()
    }
}

struct Adverts {
    core: Core,
    number: u8,
}

#[interface(name = "org.bluez.LEAdvertisingManager1")]
impl Adverts {
    async fn register_advertisement(
        &self,
        path: OwnedObjectPath,
        _options: HashMap<String, OwnedValue>,
        #[zbus(header)] header: Header<'_>,
    ) -> Result<(), Error> {
        let owner = header.sender().expect("on a bus").to_string();
        {
            let mut air = self.core.air();
            air.asked.adverts += 1;
            let discovers = !air.adapters[&self.number].discovering.is_empty();
            let linked = !air.peers(self.number).is_empty();
            if (air.faults.one_role && discovers) || (air.faults.no_advert_beside_links && linked) {
                return Err(Error::Failed("Failed to register advertisement".into()));
            }
        }
        let (core, number) = (self.core.clone(), self.number);
        let all = core
            .bus
            .call_method(
                Some(owner.as_str()),
                &path,
                Some(PROPERTIES),
                "GetAll",
                &("org.bluez.LEAdvertisement1",),
            )
            .await?;
        let body = all.body();
        let fields: HashMap<String, OwnedValue> = body.deserialize()?;
        let field = |name: &str| fields.get(name).and_then(|value| value.try_clone().ok());
        let data: HashMap<u16, OwnedValue> =
            field("ManufacturerData").and_then(|value| value.try_into().ok()).unwrap_or_default();
        let data =
            data.into_iter().filter_map(|(company, bytes)| Some((company, Vec::<u8>::try_from(bytes).ok()?)));
        let advert = Advert {
            owner,
            path,
            services: field("ServiceUUIDs").and_then(|value| value.try_into().ok()).unwrap_or_default(),
            data: data.collect(),
            name: field("LocalName").and_then(|value| value.try_into().ok()),
        };
        if let Some(adapter) = core.air().adapters.get_mut(&number) {
            adapter.advert = Some(advert);
        }
        Ok(())
    }

    fn unregister_advertisement(
        &self,
        path: OwnedObjectPath,
        #[zbus(header)] header: Header<'_>,
    ) -> Result<(), Error> {
        let owner = header.sender().expect("on a bus").to_string();
        let mut air = self.core.air();
        let Some(adapter) = air.adapters.get_mut(&self.number) else { return Ok(()) };
        match &adapter.advert {
            Some(advert) if advert.owner == owner && advert.path == path => {
                adapter.advert = None;
                Ok(())
            }
            _ => Err(Error::DoesNotExist("Does Not Exist".into())),
        }
    }

    #[zbus(property)]
    fn active_instances(&self) -> u8 {
        u8::from(self.core.air().adapters.get(&self.number).is_some_and(|adapter| adapter.advert.is_some()))
    }
    #[zbus(property)]
    fn supported_instances(&self) -> u8 {
        5 - self.active_instances()
    }
    #[zbus(property)]
    fn supported_includes(&self) -> Vec<String> {
        Vec::new()
    }
}

struct Applications {
    core: Core,
    number: u8,
}

#[interface(name = "org.bluez.GattManager1")]
impl Applications {
    async fn register_application(
        &self,
        path: OwnedObjectPath,
        _options: HashMap<String, OwnedValue>,
        #[zbus(header)] header: Header<'_>,
    ) -> Result<(), Error> {
        let owner = header.sender().expect("on a bus").to_string();
        let bus = &self.core.bus;
        let interface = "org.freedesktop.DBus.ObjectManager";
        let reply =
            bus.call_method(Some(owner.as_str()), &path, Some(interface), "GetManagedObjects", &()).await?;
        let body = reply.body();
        let objects: HashMap<OwnedObjectPath, HashMap<String, HashMap<String, OwnedValue>>> =
            body.deserialize()?;
        let text = |fields: &HashMap<String, OwnedValue>, name: &str| {
            fields
                .get(name)
                .and_then(|value| String::try_from(value.try_clone().ok()?).ok())
                .unwrap_or_default()
        };
        let (mut service, mut characteristics) = (String::new(), Vec::new());
        for (at, interfaces) in &objects {
            if let Some(fields) = interfaces.get("org.bluez.GattService1") {
                service = text(fields, "UUID");
            }
            if let Some(fields) = interfaces.get(CHARACTERISTIC) {
                let flags = fields
                    .get("Flags")
                    .and_then(|value| Vec::<String>::try_from(value.try_clone().ok()?).ok());
                characteristics.push((text(fields, "UUID"), flags.unwrap_or_default(), at.clone()));
            }
        }
        characteristics.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let crossed = {
            let mut air = self.core.air();
            air.asked.applications += 1;
            air.faults.crossed.pop_front().unwrap_or(false)
        };
        // Sorted, the one for writes is first: its UUID is the lower one.
        if crossed {
            characteristics.reverse();
        }
        for (index, (_, _, at)) in characteristics.iter().enumerate() {
            let handle = Value::from(0x1001 + 2 * index as u16);
            let (bus, owner, at) = (bus.clone(), owner.clone(), at.clone());
            // As BlueZ does: at about the time of the answer.
            tokio::spawn(async move {
                let set = (CHARACTERISTIC, "Handle", handle);
                let _ = bus.call_method(Some(owner.as_str()), &at, Some(PROPERTIES), "Set", &set).await;
            });
        }
        let (written, to_write) = mpsc::unbounded_channel();
        let writing = tokio::spawn(self.core.clone().write(self.number, to_write));
        let (subscribers, notifying) = (BTreeSet::new(), None);
        let application =
            Application { owner, path, service, characteristics, written, writing, subscribers, notifying };
        if let Some(adapter) = self.core.air().adapters.get_mut(&self.number) {
            adapter.application = Some(application);
        }
        Ok(())
    }

    fn unregister_application(&self, path: OwnedObjectPath) {
        let mut air = self.core.air();
        let adapter = air.adapters.get_mut(&self.number);
        if let Some(adapter) =
            adapter.filter(|one| one.application.as_ref().is_some_and(|known| known.path == path))
        {
            adapter.application = None;
        }
    }
}

struct DeviceObject {
    core: Core,
    pair: Pair,
}

impl DeviceObject {
    fn state(&self) -> Device {
        self.core.air().devices.get(&self.pair).cloned().unwrap_or_default()
    }
}

/// A property that may be absent, with BlueZ's error.
fn absent<T>(value: Option<T>) -> fdo::Result<T> {
    value.ok_or_else(|| fdo::Error::InvalidArgs("No such property".into()))
}

#[interface(name = "org.bluez.Device1")]
impl DeviceObject {
    async fn connect(&self) -> Result<(), Error> {
        self.core.connect(self.pair).await
    }

    async fn disconnect(&self) -> Result<(), Error> {
        self.core.air().asked.disconnects += 1;
        self.core.disconnect(self.pair).await;
        Ok(())
    }

    #[zbus(property)]
    fn address(&self) -> String {
        address(self.pair.1)
    }
    #[zbus(property)]
    fn address_type(&self) -> String {
        "random".into()
    }
    #[zbus(property)]
    fn adapter(&self) -> OwnedObjectPath {
        path(&adapter_path(self.pair.0))
    }
    #[zbus(property)]
    fn alias(&self) -> String {
        self.state().name.unwrap_or_else(|| address(self.pair.1).replace(':', "-"))
    }
    #[zbus(property)]
    fn name(&self) -> fdo::Result<String> {
        absent(self.state().name)
    }
    #[zbus(property)]
    fn paired(&self) -> bool {
        false
    }
    #[zbus(property)]
    fn bonded(&self) -> bool {
        false
    }
    #[zbus(property)]
    fn trusted(&self) -> bool {
        false
    }
    #[zbus(property)]
    fn blocked(&self) -> bool {
        false
    }
    #[zbus(property)]
    fn legacy_pairing(&self) -> bool {
        false
    }
    #[zbus(property)]
    fn connected(&self) -> bool {
        self.state().connected
    }
    #[zbus(property)]
    fn services_resolved(&self) -> bool {
        self.state().resolved
    }
    #[zbus(property, name = "UUIDs")]
    fn uuids(&self) -> Vec<String> {
        self.state().services
    }
    #[zbus(property, name = "RSSI")]
    fn rssi(&self) -> fdo::Result<i16> {
        absent(self.state().heard.then_some(-60))
    }
    #[zbus(property)]
    fn manufacturer_data(&self) -> fdo::Result<HashMap<u16, Value<'static>>> {
        let data = self.state().data;
        let shown = || data.into_iter().map(|(company, bytes)| (company, Value::from(bytes))).collect();
        absent((!self.state().data.is_empty()).then(shown))
    }
    // Known of no device here; bluer asks for them.
    #[zbus(property)]
    fn icon(&self) -> fdo::Result<String> {
        absent(None)
    }
    #[zbus(property)]
    fn class(&self) -> fdo::Result<u32> {
        absent(None)
    }
    #[zbus(property)]
    fn appearance(&self) -> fdo::Result<u16> {
        absent(None)
    }
    #[zbus(property)]
    fn wake_allowed(&self) -> fdo::Result<bool> {
        absent(None)
    }
    #[zbus(property)]
    fn modalias(&self) -> fdo::Result<String> {
        absent(None)
    }
    #[zbus(property)]
    fn tx_power(&self) -> fdo::Result<i16> {
        absent(None)
    }
    #[zbus(property)]
    fn service_data(&self) -> fdo::Result<HashMap<String, Value<'static>>> {
        absent(None)
    }
    #[zbus(property)]
    fn advertising_flags(&self) -> fdo::Result<Vec<u8>> {
        absent(None)
    }
    #[zbus(property)]
    fn advertising_data(&self) -> fdo::Result<HashMap<u8, Value<'static>>> {
        absent(None)
    }
}

/// bluer asks for it too.
struct BatteryObject;

#[interface(name = "org.bluez.Battery1")]
impl BatteryObject {
    #[zbus(property)]
    fn percentage(&self) -> fdo::Result<u8> {
        absent(None)
    }
}

struct ServiceObject {
    uuid: String,
    device: OwnedObjectPath,
}

#[interface(name = "org.bluez.GattService1")]
impl ServiceObject {
    #[zbus(property, name = "UUID")]
    fn uuid(&self) -> String {
        self.uuid.clone()
    }
    #[zbus(property)]
    fn primary(&self) -> bool {
        true
    }
    #[zbus(property)]
    fn device(&self) -> OwnedObjectPath {
        self.device.clone()
    }
}

struct CharacteristicObject {
    core: Core,
    pair: Pair,
    uuid: String,
    flags: Vec<String>,
    service: OwnedObjectPath,
}

#[interface(name = "org.bluez.GattCharacteristic1")]
impl CharacteristicObject {
    fn write_value(&self, value: Vec<u8>, _options: HashMap<String, OwnedValue>) -> Result<(), Error> {
        let (central, peripheral) = self.pair;
        let air = self.core.air();
        if !air.devices.get(&self.pair).is_some_and(|device| device.connected) {
            return Err(Error::Failed("Not connected".into()));
        }
        let application = air.adapters.get(&peripheral).and_then(|one| one.application.as_ref());
        if let Some(application) = application {
            let _ = application.written.send((central, value));
        }
        Ok(())
    }

    async fn start_notify(&self) -> Result<(), Error> {
        let (central, peripheral) = self.pair;
        let first = {
            let mut air = self.core.air();
            let application = air.adapters.get_mut(&peripheral).and_then(|one| one.application.as_mut());
            let Some(application) = application else { return Err(Error::Failed("no application".into())) };
            application.subscribers.insert(central);
            application.notifying.is_none()
        };
        if first && let Some(socket) = self.core.acquire("AcquireNotify", peripheral, central).await {
            let notifying = tokio::spawn(self.core.clone().notify(peripheral, socket));
            let mut air = self.core.air();
            match air.adapters.get_mut(&peripheral).and_then(|one| one.application.as_mut()) {
                Some(application) => application.notifying = Some(notifying),
                None => notifying.abort(),
            }
        }
        Ok(())
    }

    fn stop_notify(&self) {}

    #[zbus(property, name = "UUID")]
    fn uuid(&self) -> String {
        self.uuid.clone()
    }
    #[zbus(property)]
    fn service(&self) -> OwnedObjectPath {
        self.service.clone()
    }
    #[zbus(property)]
    fn flags(&self) -> Vec<String> {
        self.flags.clone()
    }
    #[zbus(property)]
    fn notifying(&self) -> bool {
        false
    }
    #[zbus(property, name = "MTU")]
    fn mtu(&self) -> fdo::Result<u16> {
        absent(self.core.air().faults.mtu)
    }
}
