//! Makes a Wi-Fi access point through NetworkManager (`org.freedesktop.NetworkManager`).
//!
//! WPA2 with CCMP: phones of the last fifteen years can join, and NetworkManager does not say whether an adapter can be a WPA3
//! access point. The connection profile is volatile and bound to this D-Bus connection: NetworkManager removes it when the
//! process ends in any way, and then connects the adapter as usual. A connection that NetworkManager does not make by itself
//! comes back through [`BeforeFile`].

mod before;

use std::net::IpAddr;

use tokio::sync::oneshot;

use super::Bus;
pub(crate) use before::BeforeFile;

/// The network to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    /// Its name, at most 32 bytes.
    pub(crate) ssid: String,
    /// 8 to 63 printable ASCII characters.
    pub(crate) passphrase: String,
}

impl Network {
    /// What the names of our networks, and of their profiles, begin with.
    pub(crate) const PREFIX: &str = "Qiyou-";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccessPointNews {
    /// The network is up; this device has this address in it.
    On(IpAddr),
    /// It could not be made, or has ended. The task has ended, too.
    Off(Option<AccessPointTrouble>),
}

/// Why there is no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccessPointTrouble {
    /// NetworkManager is not running.
    NoService,
    /// No adapter that NetworkManager manages can be an access point.
    NoAdapter,
    /// Wi-Fi is switched off.
    WirelessOff,
    /// The system's policy does not allow it.
    Denied,
    /// NetworkManager tried, and failed.
    Failed(String),
    /// The network was up, and was ended by somebody else.
    Ended,
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn run(
    _: Bus,
    _: Network,
    _: BeforeFile,
    _: oneshot::Receiver<()>,
    tell: impl Fn(AccessPointNews) + Send + Sync + 'static,
) {
    tell(AccessPointNews::Off(Some(AccessPointTrouble::NoService)));
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn return_after_crash(_: Bus, _: BeforeFile) {}

/// Returns an adapter to what it was connected to before an access point that ended with its process.
#[cfg(target_os = "linux")]
pub(crate) async fn return_after_crash(bus: Bus, file: BeforeFile) {
    let kept = file.read();
    if let Some(before) = &kept
        && let Err(trouble) = linux::return_to(&bus, before).await
    {
        tracing::info!(?trouble, "the network of before does not come back");
        if trouble == AccessPointTrouble::NoService {
            return;
        }
    }
    file.forget_if(kept.as_ref());
}

/// Makes the network and keeps it until `stop` is used or dropped; then the adapter returns to what it was connected to.
#[cfg(target_os = "linux")]
pub(crate) async fn run(
    bus: Bus,
    network: Network,
    file: BeforeFile,
    stop: oneshot::Receiver<()>,
    tell: impl Fn(AccessPointNews) + Send + Sync + 'static,
) {
    let trouble = linux::keep(&bus, (&network, &file), stop, &tell).await.err();
    if let Some(trouble) = &trouble {
        tracing::info!(?trouble, "no access point");
    }
    tell(AccessPointNews::Off(trouble));
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::net::IpAddr;
    use std::time::Duration;

    use dbus::Path;
    use dbus::arg::{PropMap, RefArg, Variant, prop_cast};
    use dbus::channel::{BusType, MatchingReceiver};
    use dbus::message::MatchRule;
    use dbus::nonblock::stdintf::org_freedesktop_dbus::Properties;
    use dbus::nonblock::{Proxy, SyncConnection};
    use tokio::sync::{mpsc, oneshot};
    use tracing::{debug, info};

    use super::super::bus::{CALL_WITHIN, Connected};
    use super::before::Before;
    use super::{AccessPointNews, AccessPointTrouble, BeforeFile, Bus, Network};

    const NAME: &str = "org.freedesktop.NetworkManager";
    const MANAGER_PATH: &str = "/org/freedesktop/NetworkManager";
    const MANAGER: &str = "org.freedesktop.NetworkManager";
    const DEVICE: &str = "org.freedesktop.NetworkManager.Device";
    const WIRELESS: &str = "org.freedesktop.NetworkManager.Device.Wireless";
    const ACTIVE: &str = "org.freedesktop.NetworkManager.Connection.Active";
    const IP4: &str = "org.freedesktop.NetworkManager.IP4Config";
    const SETTINGS_PATH: &str = "/org/freedesktop/NetworkManager/Settings";
    const SETTINGS: &str = "org.freedesktop.NetworkManager.Settings";
    /// "No object", where a path is asked for.
    const NONE: &str = "/";

    /// NM_DEVICE_TYPE_WIFI.
    const WIFI: u32 = 2;
    /// NM_DEVICE_STATE_UNAVAILABLE and NM_DEVICE_STATE_ACTIVATED.
    const UNAVAILABLE: u32 = 20;
    const CONNECTED: u32 = 100;
    /// NM_WIFI_DEVICE_CAP_CIPHER_CCMP, _RSN and _AP.
    const CAPABILITIES: u32 = 0x8 | 0x20 | 0x40;
    /// NM_ACTIVE_CONNECTION_STATE_ACTIVATED and _DEACTIVATED.
    const ACTIVATED: u32 = 2;
    const DEACTIVATED: u32 = 4;

    /// Limit for NetworkManager to bring the network up. It takes a few seconds, of which most are wpa_supplicant's.
    const UP_WITHIN: Duration = Duration::from_secs(45);
    /// The channels of 2.4 GHz that do not overlap. Left to itself, NetworkManager takes any that the adapter has by a hash of the
    /// name, also 12 and 13, which the kernel refuses in many countries and where it knows of none.
    const CHANNELS: [u32; 3] = [1, 6, 11];

    fn failed(error: impl ToString) -> AccessPointTrouble {
        AccessPointTrouble::Failed(error.to_string())
    }

    fn of_call(error: dbus::Error) -> AccessPointTrouble {
        match error.name().unwrap_or_default() {
            "org.freedesktop.DBus.Error.ServiceUnknown" | "org.freedesktop.DBus.Error.NameHasNoOwner" => {
                AccessPointTrouble::NoService
            }
            "org.freedesktop.NetworkManager.PermissionDenied" | "org.freedesktop.DBus.Error.AccessDenied" => {
                AccessPointTrouble::Denied
            }
            _ => failed(error),
        }
    }

    /// A connection profile.
    #[derive(PartialEq, Eq)]
    struct Profile {
        uuid: String,
        name: String,
    }

    impl Profile {
        /// Whether it is that of an access point of ours.
        fn is_ours(&self) -> bool {
            self.name.starts_with(Network::PREFIX)
        }
    }

    struct Manager<'bus> {
        connection: &'bus SyncConnection,
    }

    impl<'bus> Manager<'bus> {
        fn at<'path>(&self, path: impl Into<Path<'path>>) -> Proxy<'path, &'bus SyncConnection> {
            Proxy::new(NAME, path, CALL_WITHIN, self.connection)
        }

        fn itself(&self) -> Proxy<'static, &'bus SyncConnection> {
            self.at(MANAGER_PATH)
        }

        /// An adapter that can be an access point; one that is connected to nothing if there is one.
        async fn adapter(&self) -> Result<Path<'static>, AccessPointTrouble> {
            let (devices,): (Vec<Path<'static>>,) =
                self.itself().method_call(MANAGER, "GetDevices", ()).await.map_err(of_call)?;
            let mut best: Option<(bool, Path<'static>)> = None;
            let mut off = false;
            for path in devices {
                let device = self.at(&path);
                let kind: u32 = device.get(DEVICE, "DeviceType").await.unwrap_or(0);
                if kind != WIFI {
                    continue;
                }
                let can: u32 = device.get(WIRELESS, "WirelessCapabilities").await.unwrap_or(0);
                if can & CAPABILITIES != CAPABILITIES {
                    debug!(%path, can, "this adapter cannot be an access point");
                    continue;
                }
                let state: u32 = device.get(DEVICE, "State").await.unwrap_or(0);
                if state <= UNAVAILABLE {
                    off |= state == UNAVAILABLE;
                    continue;
                }
                let is_free = state != CONNECTED;
                if best.as_ref().is_none_or(|(free, _)| is_free && !free) {
                    best = Some((is_free, path));
                }
            }
            match best {
                Some((_, path)) => Ok(path),
                None if off || self.is_off().await => Err(AccessPointTrouble::WirelessOff),
                None => Err(AccessPointTrouble::NoAdapter),
            }
        }

        async fn is_off(&self) -> bool {
            !self.itself().get::<bool>(MANAGER, "WirelessEnabled").await.unwrap_or(true)
        }

        /// The profile that this device has active.
        async fn active(&self, device: &Path<'static>) -> Option<Profile> {
            let path: Path<'static> = self.at(device).get(DEVICE, "ActiveConnection").await.ok()?;
            if &*path == NONE {
                return None;
            }
            let active = self.at(&path);
            let uuid: String = active.get(ACTIVE, "Uuid").await.ok()?;
            Some(Profile { uuid, name: active.get(ACTIVE, "Id").await.unwrap_or_default() })
        }

        /// Connects the device by the profile with this UUID.
        async fn connect(&self, device: Path<'static>, uuid: &str) -> Result<(), dbus::Error> {
            let (profile,): (Path<'static>,) =
                self.at(SETTINGS_PATH).method_call(SETTINGS, "GetConnectionByUuid", (uuid,)).await?;
            let (_,): (Path<'static>,) = self
                .itself()
                .method_call(MANAGER, "ActivateConnection", (profile, device, Path::from(NONE)))
                .await?;
            Ok(())
        }

        async fn address(&self, active: &Path<'static>) -> Option<IpAddr> {
            let config: Path<'static> = self.at(active).get(ACTIVE, "Ip4Config").await.ok()?;
            let addresses: Vec<PropMap> = self.at(&config).get(IP4, "AddressData").await.ok()?;
            addresses.iter().find_map(|one| prop_cast::<String>(one, "address")?.parse().ok())
        }

        async fn state(&self, active: &Path<'static>) -> u32 {
            // The object disappears with the connection.
            self.at(active).get(ACTIVE, "State").await.unwrap_or(DEACTIVATED)
        }
    }

    /// Networks of two devices in one place have different names, and most of them different channels.
    fn channel(ssid: &str) -> u32 {
        CHANNELS[ssid.bytes().map(usize::from).sum::<usize>() % CHANNELS.len()]
    }

    fn profile(network: &Network) -> HashMap<&'static str, PropMap> {
        fn value(value: impl RefArg + 'static) -> Variant<Box<dyn RefArg>> {
            Variant(Box::new(value))
        }
        let text = |text: &str| value(text.to_owned());
        let map = |entries: Vec<(&str, Variant<Box<dyn RefArg>>)>| -> PropMap {
            entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
        };
        let only = |one: &str| value(vec![one.to_owned()]);
        HashMap::from([
            (
                "connection",
                map(vec![
                    ("id", text(&network.ssid)),
                    ("type", text("802-11-wireless")),
                    ("autoconnect", value(false)),
                ]),
            ),
            (
                "802-11-wireless",
                // 2.4 GHz: every phone has it, and no radar can end it.
                map(vec![
                    ("ssid", value(network.ssid.as_bytes().to_vec())),
                    ("mode", text("ap")),
                    ("band", text("bg")),
                    ("channel", value(channel(&network.ssid))),
                ]),
            ),
            (
                "802-11-wireless-security",
                map(vec![
                    ("key-mgmt", text("wpa-psk")),
                    ("psk", text(&network.passphrase)),
                    ("proto", only("rsn")),
                    ("pairwise", only("ccmp")),
                    ("group", only("ccmp")),
                ]),
            ),
            ("ipv4", map(vec![("method", text("shared"))])),
            ("ipv6", map(vec![("method", text("ignore"))])),
        ])
    }

    /// A unit for each change of state of this active connection.
    async fn changes(
        connection: &SyncConnection,
        active: &Path<'static>,
    ) -> Result<mpsc::UnboundedReceiver<()>, dbus::Error> {
        let (tell, changes) = mpsc::unbounded_channel();
        let rule = MatchRule::new_signal(ACTIVE, "StateChanged").with_path(active.clone());
        connection.add_match_no_cb(&rule.match_str()).await?;
        connection.start_receive(rule, Box::new(move |_, _| tell.send(()).is_ok()));
        Ok(changes)
    }

    pub(super) async fn return_to(bus: &Bus, before: &Before) -> Result<(), AccessPointTrouble> {
        let connected = Connected::open(bus, BusType::System).map_err(|_| AccessPointTrouble::NoService)?;
        let manager = Manager { connection: &connected.connection };
        let (device,): (Path<'static>,) = manager
            .itself()
            .method_call(MANAGER, "GetDeviceByIpIface", (before.interface.as_str(),))
            .await
            .map_err(of_call)?;
        // Somebody, or NetworkManager, may have connected it meanwhile; the access point may still be ending.
        if manager.active(&device).await.is_some_and(|active| active.name != before.ours) {
            return Ok(());
        }
        info!(uuid = before.uuid, "the network of before comes back");
        manager.connect(device, &before.uuid).await.map_err(of_call)
    }

    pub(super) async fn keep(
        bus: &Bus,
        (network, file): (&Network, &BeforeFile),
        mut stop: oneshot::Receiver<()>,
        tell: &impl Fn(AccessPointNews),
    ) -> Result<(), AccessPointTrouble> {
        let mut connected =
            Connected::open(bus, BusType::System).map_err(|_| AccessPointTrouble::NoService)?;
        let connection = connected.connection.clone();
        let manager = Manager { connection: &connection };
        let device = manager.adapter().await?;
        let interface: String = manager.at(&device).get(DEVICE, "Interface").await.unwrap_or_default();
        let active_before = manager.active(&device).await;
        let uuid = match &active_before {
            // One that is still ending: it has kept what was connected before it.
            Some(profile) if profile.is_ours() => {
                file.read().filter(|kept| kept.interface == interface).map(|kept| kept.uuid)
            }
            Some(profile) => Some(profile.uuid.clone()),
            None => None,
        };
        let before = uuid.map(|uuid| Before { interface, uuid, ours: network.ssid.clone() });
        if let Some(before) = &before {
            // Before the adapter leaves it: from then on this program may end at any moment.
            file.keep(before);
        }
        let mut options = PropMap::new();
        options.insert("persist".into(), Variant(Box::new("volatile".to_owned())));
        options.insert("bind-activation".into(), Variant(Box::new("dbus-client".to_owned())));
        let made: Result<(Path<'static>, Path<'static>, PropMap), _> = manager
            .itself()
            .method_call(
                MANAGER,
                "AddAndActivateConnection2",
                (profile(network), device.clone(), Path::from(NONE), options),
            )
            .await;
        let active = match made {
            Ok((_, active, _)) => active,
            Err(error) => {
                let trouble = of_call(error);
                // Where the adapter is still connected, nothing has happened.
                if before.is_some()
                    && active_before.as_ref().is_some_and(|profile| !profile.is_ours())
                    && manager.active(&device).await == active_before
                {
                    file.forget_if(before.as_ref());
                }
                return Err(trouble);
            }
        };
        info!(%active, "an access point begins");
        let mut changes = changes(&connection, &active).await.map_err(failed)?;
        let deadline = tokio::time::Instant::now() + UP_WITHIN;
        let mut is_up = false;
        let ended = loop {
            match manager.state(&active).await {
                ACTIVATED if !is_up => {
                    let Some(address) = manager.address(&active).await else {
                        break Err(AccessPointTrouble::Failed("it has no address".into()));
                    };
                    is_up = true;
                    tell(AccessPointNews::On(address));
                }
                DEACTIVATED if is_up => break Err(AccessPointTrouble::Ended),
                DEACTIVATED => break Err(AccessPointTrouble::Failed("NetworkManager gave up".into())),
                _ => {}
            }
            tokio::select! {
                _ = &mut stop => break Ok(()),
                change = changes.recv() => if change.is_none() { break Err(AccessPointTrouble::Ended) },
                () = connected.gone() => return Err(AccessPointTrouble::Ended),
                () = tokio::time::sleep_until(deadline), if !is_up => {
                    break Err(AccessPointTrouble::Failed("it took too long".into()));
                }
            }
        };
        let off: Result<(), _> =
            manager.itself().method_call(MANAGER, "DeactivateConnection", (active.clone(),)).await;
        if let Err(error) = off {
            debug!(%error, "the access point had ended");
        }
        // NetworkManager connects to networks it may join by itself; this also returns to one that a person chose.
        if let Some(before) = before {
            // Our next one, which has begun meanwhile, stays; it returns to the same.
            let is_next = |profile: Profile| profile.is_ours() && profile.name != network.ssid;
            if manager.active(&device).await.is_some_and(is_next) {
                return ended;
            }
            match manager.connect(device, &before.uuid).await {
                Ok(()) => file.forget_if(Some(&before)),
                Err(error) => info!(%error, "the network of before is not there; the next start tries again"),
            }
        }
        ended
    }
}
