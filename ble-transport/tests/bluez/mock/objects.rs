//! The objects of the mock on its bus, one type for each of BlueZ's interfaces.
#![allow(
    clippy::unused_self,
    clippy::used_underscore_binding,
    reason = "methods and arguments are those of BlueZ's interfaces"
)]

use std::collections::{BTreeSet, HashMap};

use tokio::sync::mpsc;
use zbus::message::Header;
use zbus::zvariant::{OwnedObjectPath, OwnedValue, Value};
use zbus::{fdo, interface};

use super::{
    Adapter, Advert, Application, CHARACTERISTIC, Core, Device, Error, PROPERTIES, Pair, adapter_path,
    address, device_path, path,
};
pub(super) struct Agents {
    pub(super) core: Core,
}

#[interface(name = "org.bluez.AgentManager1")]
impl Agents {
    fn register_agent(
        &self,
        agent: OwnedObjectPath,
        _capability: String,
        #[zbus(header)] header: Header<'_>,
    ) {
        let owner = header.sender().expect("on a bus").to_string();
        self.core.air().agents.push((owner, agent));
    }
    fn request_default_agent(&self, _agent: OwnedObjectPath) {}
    fn unregister_agent(&self, agent: OwnedObjectPath) {
        self.core.air().agents.retain(|(_, known)| *known != agent);
    }
}

pub(super) struct AdapterObject {
    pub(super) core: Core,
    pub(super) number: u8,
}

impl AdapterObject {
    fn with<T>(&self, read: impl FnOnce(&mut Adapter) -> T) -> T {
        read(self.core.air().adapters.entry(self.number).or_default())
    }

    fn silence_after_a_scan(&self) {
        let mut air = self.core.air();
        let air = &mut *air;
        let advert = air.adapters.get_mut(&self.number).and_then(|adapter| adapter.advert.as_mut());
        if let Some(advert) = advert.filter(|_| air.faults.scan_silences) {
            advert.silent = true;
            air.asked.silent += 1;
        }
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
        self.silence_after_a_scan();
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
        self.core.air().faults.alias.clone()
    }
    #[zbus(property)]
    fn pairable(&self) -> bool {
        self.core.air().faults.pairable
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

pub(super) struct Adverts {
    pub(super) core: Core,
    pub(super) number: u8,
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
            if air.faults.one_role && discovers {
                return Err(Error::Failed("Failed to register advertisement".into()));
            }
            if air.faults.refused > 0 {
                air.faults.refused -= 1;
                return Err(Error::Failed("Failed to register advertisement".into()));
            }
        }
        let (core, number) = (self.core.clone(), self.number);
        let takes = core.air().faults.registers_for;
        tokio::time::sleep(takes).await;
        // Fails if the program or its advertisement is gone.
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
            silent: false,
            services: field("ServiceUUIDs").and_then(|value| value.try_into().ok()).unwrap_or_default(),
            data: data.collect(),
            name: field("LocalName").and_then(|value| value.try_into().ok()),
        };
        let mut air = core.air();
        let air = &mut *air;
        let silent = air.faults.silenced > 0;
        if silent {
            air.faults.silenced -= 1;
            air.asked.silent += 1;
        }
        if let Some(adapter) = air.adapters.get_mut(&number) {
            adapter.advert = Some(Advert { silent, ..advert });
        }
        air.asked.answered += 1;
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

pub(super) struct Applications {
    pub(super) core: Core,
    pub(super) number: u8,
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

pub(super) struct DeviceObject {
    pub(super) core: Core,
    pub(super) pair: Pair,
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
pub(super) struct BatteryObject;

#[interface(name = "org.bluez.Battery1")]
impl BatteryObject {
    #[zbus(property)]
    fn percentage(&self) -> fdo::Result<u8> {
        absent(None)
    }
}

pub(super) struct ServiceObject {
    pub(super) uuid: String,
    pub(super) device: OwnedObjectPath,
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

pub(super) struct CharacteristicObject {
    pub(super) core: Core,
    pub(super) pair: Pair,
    pub(super) uuid: String,
    pub(super) flags: Vec<String>,
    pub(super) service: OwnedObjectPath,
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
