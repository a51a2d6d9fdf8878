//! The Wi-Fi network for guests, with a NetworkManager of the test's own on a real message bus. No test has the real one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dbus::arg::{PropMap, RefArg, Variant, prop_cast};
use dbus::{Message, Path};
use host::GuestConfig;
use proto::control::{self, HotspotState, request};
use tests::bus::{PrivateBus, Service};
use tests::house::{Client, Device, House, settle};

const NAME: &str = "org.freedesktop.NetworkManager";
const DEVICE: &str = "/org/freedesktop/NetworkManager/Devices/2";
const HOME: &str = "/org/freedesktop/NetworkManager/Settings/1";
const HOME_ACTIVE: &str = "/org/freedesktop/NetworkManager/ActiveConnection/1";
const HOME_UUID: &str = "home";
const OURS: &str = "/org/freedesktop/NetworkManager/ActiveConnection/2";

/// NM_DEVICE_STATE_ACTIVATED, _UNAVAILABLE; NM_ACTIVE_CONNECTION_STATE_ACTIVATING and so on.
const CONNECTED: u32 = 100;
const UNAVAILABLE: u32 = 20;
const ACTIVATING: u32 = 1;
const ACTIVATED: u32 = 2;
const DEACTIVATED: u32 = 4;

/// Capabilities of an adapter that can be a WPA2 access point, and of one that cannot be any.
const ABLE: u32 = 0x8 | 0x20 | 0x40;
const UNABLE: u32 = 0x8 | 0x20;

#[derive(Default)]
struct Network {
    device_state: u32,
    capabilities: u32,
    refuses: bool,
    /// Does not connect the adapter to the network of before.
    keeps_away: bool,
    /// A network that is ended stays active.
    lingers: bool,
    /// What another access point of the host keeps while one begins or ends.
    next: Option<&'static str>,
    /// Where the host keeps what was connected before, and whether something was there when it asked for its network.
    file: PathBuf,
    was_kept: bool,
    /// State of the connection that the host has made.
    active: u32,
    /// Profile and options of the host's request.
    made: Option<(HashMap<String, PropMap>, PropMap)>,
    /// How often the host has asked for a network.
    asked: u32,
    /// Other methods called.
    calls: Vec<String>,
}

impl Network {
    fn another_begins(&self) {
        if let Some(kept) = self.next {
            std::fs::write(&self.file, kept).expect("written");
        }
    }
}

struct Manager {
    network: Arc<Mutex<Network>>,
    service: Service,
}

fn value(value: impl RefArg + 'static) -> Variant<Box<dyn RefArg>> {
    Variant(Box::new(value))
}

fn answer(network: &mut Network, message: &Message) -> Message {
    let path = message.path().map(|path| path.to_string()).unwrap_or_default();
    match message.member().as_deref() {
        Some("GetDevices") => message
            .method_return()
            .append1(vec![Path::from("/org/freedesktop/NetworkManager/Devices/1"), Path::from(DEVICE)]),
        Some("Get") => {
            let (_, property): (String, String) = message.read2().expect("which");
            let found = match (path.as_str(), property.as_str()) {
                (DEVICE, "DeviceType") => value(2_u32),
                // A cable.
                (_, "DeviceType") => value(1_u32),
                (DEVICE, "WirelessCapabilities") => value(network.capabilities),
                (DEVICE, "State") => value(network.device_state),
                (DEVICE, "ActiveConnection") => {
                    let is_away = network.keeps_away && network.active != 0;
                    let other = if is_away { "/" } else { HOME_ACTIVE };
                    value(Path::from(if network.active == ACTIVATED { OURS } else { other }))
                }
                (HOME_ACTIVE, "Uuid" | "Id") => value(HOME_UUID.to_owned()),
                (OURS, "Uuid") => value("ours".to_owned()),
                (OURS, "Id") => {
                    let (profile, _) = network.made.as_ref().expect("made");
                    value(prop_cast::<String>(&profile["connection"], "id").expect("a name").clone())
                }
                (DEVICE, "Interface") => value("wlan0".to_owned()),
                (OURS, "State") => value(network.active),
                (OURS, "Ip4Config") => value(Path::from("/org/freedesktop/NetworkManager/IP4Config/2")),
                (_, "AddressData") => {
                    let one: PropMap = HashMap::from([("address".to_owned(), value("127.0.0.1".to_owned()))]);
                    return message.method_return().append1(Variant(vec![one]));
                }
                (_, "WirelessEnabled") => value(network.device_state != UNAVAILABLE),
                other => panic!("nobody asks for {other:?}"),
            };
            message.method_return().append1(found)
        }
        Some("AddAndActivateConnection2") => {
            network.was_kept = network.file.exists();
            network.asked += 1;
            network.another_begins();
            if network.refuses {
                let name = "org.freedesktop.NetworkManager.PermissionDenied".into();
                return message.error(&name, c"not allowed");
            }
            let mut arguments = message.iter_init();
            let profile = arguments.read().expect("a profile");
            let device: Path<'_> = arguments.read().expect("a device");
            assert_eq!(&*device, DEVICE);
            let _object: Path<'_> = arguments.read().expect("an object");
            network.made = Some((profile, arguments.read().expect("options")));
            network.active = ACTIVATING;
            let made = Path::from("/org/freedesktop/NetworkManager/Settings/2");
            message.method_return().append3(made, Path::from(OURS), PropMap::new())
        }
        Some("GetDeviceByIpIface") => {
            assert_eq!(message.read1::<String>().expect("a name"), "wlan0");
            message.method_return().append1(Path::from(DEVICE))
        }
        Some("GetConnectionByUuid") => {
            assert_eq!(message.read1::<String>().expect("a UUID"), HOME_UUID);
            message.method_return().append1(Path::from(HOME))
        }
        Some(method @ "DeactivateConnection") => {
            network.calls.push(method.to_owned());
            network.another_begins();
            if !network.lingers {
                network.active = DEACTIVATED;
            }
            message.method_return()
        }
        Some(method @ "ActivateConnection") => {
            let profile: Path<'_> = message.read1().expect("a profile");
            network.calls.push(format!("{method} {profile}"));
            if network.keeps_away {
                return message.error(&"org.freedesktop.NetworkManager.UnknownDevice".into(), c"not now");
            }
            message.method_return().append1(Path::from(HOME_ACTIVE))
        }
        other => panic!("nobody calls {other:?}"),
    }
}

impl Manager {
    fn start(bus: &PrivateBus, network: Network) -> Self {
        let network = Arc::new(Mutex::new(network));
        let shared = network.clone();
        let service =
            Service::start(bus, NAME, move |message| answer(&mut shared.lock().expect("no panic"), message));
        Self { network, service }
    }

    fn becomes(&self, state: u32) {
        self.network.lock().expect("no panic").active = state;
        let signal =
            Message::new_signal(OURS, "org.freedesktop.NetworkManager.Connection.Active", "StateChanged");
        self.service.say(signal.expect("a signal").append2(state, 0_u32));
    }

    fn is_asked(&self) -> bool {
        self.network.lock().expect("no panic").made.is_some()
    }

    fn calls(&self) -> Vec<String> {
        self.network.lock().expect("no panic").calls.clone()
    }
}

fn able() -> Network {
    Network { device_state: CONNECTED, capabilities: ABLE, ..Network::default() }
}

async fn device(house: &mut House, bus: &PrivateBus) -> Device {
    let guests = GuestConfig { loopback: true, network_manager: Some(bus.bus()), ..GuestConfig::default() };
    house.device_with("Anna", |config| config.guests = Some(guests)).await
}

async fn set(client: &mut Client, on: bool) {
    client.done(request::Body::SetHotspot(control::SetHotspot { on })).await;
}

/// A device with its network up.
async fn up(house: &mut House, bus: &PrivateBus, manager: &Manager) -> Device {
    let mut anna = device(house, bus).await;
    set(&mut anna.client, true).await;
    settle("NetworkManager is asked", || manager.is_asked()).await;
    manager.becomes(ACTIVATED);
    anna.client.until("it is up", |seen| seen.hotspot.state() == HotspotState::HotspotOn).await;
    anna
}

async fn trouble(network: Network) -> String {
    let bus = PrivateBus::start();
    let _manager = Manager::start(&bus, network);
    trouble_on(&bus).await
}

async fn trouble_on(bus: &PrivateBus) -> String {
    let mut house = House::new(170);
    let mut anna = device(&mut house, bus).await;
    set(&mut anna.client, true).await;
    anna.client.until("it is said why", |seen| seen.hotspot.trouble.is_some()).await;
    assert_eq!(anna.client.seen.hotspot.state(), HotspotState::HotspotOff);
    anna.client.seen.hotspot.trouble.clone().expect("said").en
}

#[tokio::test]
async fn the_network_has_the_name_and_passphrase_that_the_host_shows_and_ends_with_the_hosts_connection() {
    let (bus, mut house) = (PrivateBus::start(), House::new(171));
    let manager = Manager::start(&bus, able());
    let anna = up(&mut house, &bus, &manager).await;
    let shown = &anna.client.seen.hotspot;
    assert!(shown.side >= 21 && !shown.dark.is_empty(), "with its QR code");
    let network = manager.network.lock().expect("no panic");
    let (profile, options) = network.made.as_ref().expect("made");
    let text = |section: &str, key: &str| prop_cast::<String>(&profile[section], key).cloned();
    let ssid: &Vec<u8> = prop_cast(&profile["802-11-wireless"], "ssid").expect("a name");
    assert_eq!(*ssid, shown.ssid.as_bytes());
    assert_eq!(text("802-11-wireless", "mode").as_deref(), Some("ap"));
    let channel: &u32 = prop_cast(&profile["802-11-wireless"], "channel").expect("a channel");
    assert!([1, 6, 11].contains(channel), "one that is allowed everywhere, not {channel}");
    assert_eq!(text("802-11-wireless-security", "psk").as_ref(), Some(&shown.passphrase));
    assert_eq!(text("802-11-wireless-security", "key-mgmt").as_deref(), Some("wpa-psk"));
    assert_eq!(text("ipv4", "method").as_deref(), Some("shared"));
    assert_eq!(prop_cast::<String>(options, "bind-activation").map(String::as_str), Some("dbus-client"));
    assert_eq!(prop_cast::<String>(options, "persist").map(String::as_str), Some("volatile"));
}

#[tokio::test]
async fn a_code_is_for_the_address_in_the_network_and_the_network_ends_with_the_last_code() {
    let (bus, mut house) = (PrivateBus::start(), House::new(172));
    let manager = Manager::start(&bus, able());
    let mut anna = up(&mut house, &bus, &manager).await;
    let room = super::open(&mut anna.client, super::Game::Gomoku, &[], super::Side::Second).await;
    let show = control::ShowGuestCode { room_id: room.clone(), ..Default::default() };
    let Ok(control::reply::Body::GuestCode(code)) = anna.client.ask(request::Body::ShowGuestCode(show)).await
    else {
        panic!("no code");
    };
    assert!(code.url.starts_with("http://127.0.0.1:"), "{}", code.url);
    let close = control::CloseGuestCode { room_id: room, ..Default::default() };
    anna.client.done(request::Body::CloseGuestCode(close)).await;
    anna.client.until("it ends", |seen| seen.hotspot.state() == HotspotState::HotspotOff).await;
    settle("NetworkManager ends it, and returns to the network of before", || {
        manager.calls() == ["DeactivateConnection", &format!("ActivateConnection {HOME}")]
    })
    .await;
}

#[tokio::test]
async fn a_network_that_a_person_ends_is_off_at_once_and_can_be_made_again() {
    let (bus, mut house) = (PrivateBus::start(), House::new(173));
    let manager = Manager::start(&bus, able());
    let mut anna = up(&mut house, &bus, &manager).await;
    let first = anna.client.seen.hotspot.passphrase.clone();
    set(&mut anna.client, false).await;
    anna.client.until("it is off", |seen| seen.hotspot.state() == HotspotState::HotspotOff).await;
    assert!(anna.client.seen.hotspot.trouble.is_none(), "that is no trouble");
    settle("it is taken down", || manager.calls().len() == 2).await;
    manager.network.lock().expect("no panic").made = None;
    set(&mut anna.client, true).await;
    settle("NetworkManager is asked again", || manager.is_asked()).await;
    manager.becomes(ACTIVATED);
    anna.client.until("it is up", |seen| seen.hotspot.state() == HotspotState::HotspotOn).await;
    assert_ne!(anna.client.seen.hotspot.passphrase, first);
}

#[tokio::test]
async fn after_a_crash_the_next_start_returns_to_what_was_connected_before_once() {
    let (bus, mut house) = (PrivateBus::start(), House::new(175));
    let manager = Manager::start(&bus, able());
    let mut anna = up(&mut house, &bus, &manager).await;
    anna.kill().await;
    assert!(manager.calls().is_empty(), "nobody is left to call");
    anna.start().await;
    let back = format!("ActivateConnection {HOME}");
    settle("the network of before comes back", || manager.calls() == [back.as_str()]).await;
    let kept = anna.directory().join("before-hotspot");
    settle("it is forgotten", || !kept.exists()).await;
    // Where something else is connected by now, that stays.
    manager.becomes(DEACTIVATED);
    anna.kill().await;
    std::fs::write(&kept, "wlan0\nhome\nours\n").expect("written");
    anna.start().await;
    settle("it is forgotten again", || !kept.exists()).await;
    assert_eq!(manager.calls(), [back]);
}

#[tokio::test]
async fn what_was_connected_is_kept_before_the_adapter_leaves_it_and_forgotten_if_it_never_does() {
    let (bus, mut house) = (PrivateBus::start(), House::new(176));
    let manager = Manager::start(&bus, Network { refuses: true, ..able() });
    let mut anna = device(&mut house, &bus).await;
    let file = anna.directory().join("before-hotspot");
    manager.network.lock().expect("no panic").file.clone_from(&file);
    set(&mut anna.client, true).await;
    anna.client.until("it is refused", |seen| seen.hotspot.trouble.is_some()).await;
    assert!(manager.network.lock().expect("no panic").was_kept, "a program that ends now has kept it");
    assert!(!file.exists(), "nothing has changed");
}

#[tokio::test]
async fn a_network_of_before_that_does_not_come_back_is_tried_again_at_the_next_start() {
    let (bus, mut house) = (PrivateBus::start(), House::new(177));
    let manager = Manager::start(&bus, Network { keeps_away: true, ..able() });
    let mut anna = up(&mut house, &bus, &manager).await;
    let file = anna.directory().join("before-hotspot");
    set(&mut anna.client, false).await;
    let back = format!("ActivateConnection {HOME}");
    settle("it is tried", || manager.calls() == ["DeactivateConnection", back.as_str()]).await;
    anna.kill().await;
    assert!(file.exists());
    anna.start().await;
    settle("it is tried again", || manager.calls().len() == 3).await;
    assert_eq!(manager.calls()[2], back);
    settle("and then left to people", || !file.exists()).await;
}

/// What another access point of the host has kept.
const NEXT: &str = "wlan0\nelsewhere\nQiyou-next\n";

#[tokio::test]
async fn a_network_that_is_refused_leaves_what_the_next_one_has_kept() {
    let (bus, mut house) = (PrivateBus::start(), House::new(178));
    let manager = Manager::start(&bus, Network { refuses: true, next: Some(NEXT), ..able() });
    let mut anna = device(&mut house, &bus).await;
    let file = anna.directory().join("before-hotspot");
    manager.network.lock().expect("no panic").file.clone_from(&file);
    set(&mut anna.client, true).await;
    anna.client.until("it is refused", |seen| seen.hotspot.trouble.is_some()).await;
    assert_eq!(std::fs::read_to_string(&file).expect("kept"), NEXT);
}

#[tokio::test]
async fn a_network_that_ends_leaves_what_the_next_one_has_kept() {
    let (bus, mut house) = (PrivateBus::start(), House::new(179));
    let manager = Manager::start(&bus, able());
    let mut anna = up(&mut house, &bus, &manager).await;
    let file = anna.directory().join("before-hotspot");
    {
        let mut network = manager.network.lock().expect("no panic");
        network.file.clone_from(&file);
        network.next = Some(NEXT);
    }
    manager.becomes(DEACTIVATED);
    // That is said when all is done.
    anna.client.until("it is said", |seen| seen.hotspot.trouble.is_some()).await;
    assert_eq!(manager.calls(), ["DeactivateConnection", &format!("ActivateConnection {HOME}")]);
    assert_eq!(std::fs::read_to_string(&file).expect("kept"), NEXT);
}

#[tokio::test]
async fn a_network_that_begins_while_the_one_before_ends_returns_to_what_was_connected_before_both() {
    let (bus, mut house) = (PrivateBus::start(), House::new(180));
    let manager = Manager::start(&bus, Network { keeps_away: true, lingers: true, ..able() });
    let mut anna = up(&mut house, &bus, &manager).await;
    let file = anna.directory().join("before-hotspot");
    let first = anna.client.seen.hotspot.ssid.clone();
    set(&mut anna.client, false).await;
    anna.client.until("it is off", |seen| seen.hotspot.state() == HotspotState::HotspotOff).await;
    settle("it is to end", || manager.calls().len() == 2).await;
    set(&mut anna.client, true).await;
    settle("NetworkManager is asked again", || manager.network.lock().expect("no panic").asked == 2).await;
    manager.becomes(ACTIVATED);
    anna.client.until("it is up", |seen| seen.hotspot.state() == HotspotState::HotspotOn).await;
    let second = anna.client.seen.hotspot.ssid.clone();
    assert_ne!(second, first);
    let kept = std::fs::read_to_string(&file).expect("kept");
    assert_eq!(kept, format!("wlan0\n{HOME_UUID}\n{second}\n"), "not the network that was ending");
    set(&mut anna.client, false).await;
    settle("it is to end, too", || manager.calls().len() == 4).await;
    let both = ["DeactivateConnection".to_owned(), format!("ActivateConnection {HOME}")];
    assert_eq!(manager.calls(), [both.clone(), both].concat());
}

#[tokio::test]
async fn a_network_that_ends_by_itself_is_said_to_have_ended() {
    let (bus, mut house) = (PrivateBus::start(), House::new(174));
    let manager = Manager::start(&bus, able());
    let mut anna = up(&mut house, &bus, &manager).await;
    manager.becomes(DEACTIVATED);
    anna.client.until("it is said", |seen| seen.hotspot.trouble.is_some()).await;
    assert_eq!(anna.client.seen.hotspot.state(), HotspotState::HotspotOff);
}

#[tokio::test]
async fn whoever_cannot_make_a_network_is_told_what_is_missing() {
    let said = [
        trouble(Network { capabilities: UNABLE, ..able() }).await,
        trouble(Network { device_state: UNAVAILABLE, ..able() }).await,
        trouble(Network { refuses: true, ..able() }).await,
        trouble_on(&PrivateBus::start()).await,
    ];
    for (said, word) in
        said.iter().zip(["no Wi-Fi adapter", "Wi-Fi is off", "does not allow", "NetworkManager"])
    {
        assert!(said.contains(word), "{said}");
    }
}
