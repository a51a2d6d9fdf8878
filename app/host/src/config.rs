//! What a host is started with, and why it may not start.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ble_transport::{BleConfig, BleTransport};
use link::Transport;
use link::lan::{LanConfig, LanTransport};

use crate::bots::BotMaker;
use crate::chance::Entropy;
use crate::desktop::Bus;
use crate::power::Sensors;
use crate::store::StoreError;

/// Name of the file with the device's key pair in the data directory.
pub(crate) const IDENTITY: &str = "identity";

/// Configuration of a host. Only the directory has no default.
#[derive(Clone)]
pub struct HostConfig {
    /// Directory of identity, friends and matches. Created with mode 0700 if missing. Used by one host at a time.
    pub data_dir: PathBuf,
    /// The host runs in the process of its only client and ends with it. Clients are told, so that they offer nothing that
    /// needs a host after they are closed.
    pub ends_with_app: bool,
    /// Name shown to others. `None`: the stored name, or at first the device's name.
    pub name: Option<String>,
    /// Carriers. May be empty: then there is only local play.
    pub transports: Vec<Arc<dyn Transport>>,
    /// The wall clock, used for rotating tags and stored times. Everything else uses tokio's clock.
    pub wall_clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// Minutes since local midnight at this time, for quiet hours.
    pub local_minute: Arc<dyn Fn(SystemTime) -> u16 + Send + Sync>,
    /// Source of randomness.
    pub entropy: Entropy,
    /// Constructor of bots.
    pub bots: BotMaker,
    /// Maximum time per decision of a bot; a lower level may use less.
    pub bot_time: Duration,
    /// Bots may play for people here against others, who are not told. For tests in which nobody sits at either device.
    pub stand_ins: bool,
    /// Bus for desktop notifications while nobody looks at a client. `None`: no notifications.
    pub notifications: Option<Bus>,
    /// Program to start when a notification is clicked and no client with a window is attached. `None`: none.
    pub app: Option<OsString>,
    /// Bus for news of the system's sleep, before which peers receive a goodbye. `None`: sleep is not noticed.
    pub sleep: Option<Bus>,
    /// Bus for news of battery and lid, by which engines save power. `None`: neither is noticed.
    pub power: Option<Bus>,
    /// Files of the kernel that tell of heat and memory.
    pub sensors: Sensors,
    /// Use a kernel timer, which wakes the process once where tokio's timer wakes it up to three times. Not for tests that
    /// pause tokio's clock.
    pub kernel_timer: bool,
    /// The Bluetooth adapter, which overrides the stored choice. `None`: the stored choice, or the first.
    pub adapter: Option<String>,
    /// Access for guests with a browser. `None`: no access.
    #[cfg(feature = "guest")]
    pub guests: Option<GuestConfig>,
    /// Bus of the keyring that stores the account's password. `None`: stored in a file in the directory.
    #[cfg(feature = "online")]
    pub secrets: Option<Bus>,
    /// Online play. `None`: disabled.
    #[cfg(feature = "online")]
    pub online: Option<link::online::OnlineConfig>,
}

impl HostConfig {
    /// A host with this directory, the engine's bots, the system's clock and randomness, and no carriers.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let data_dir: PathBuf = data_dir.into();
        let tables = data_dir.clone();
        let bots = move |kind, level, seed| {
            let mut bot = engine::partner(kind, level, seed, Sensors::default().table_bytes());
            bot.set_folder(&tables);
            bot
        };
        Self {
            data_dir,
            ends_with_app: false,
            name: None,
            transports: Vec::new(),
            wall_clock: Arc::new(SystemTime::now),
            local_minute: Arc::new(crate::quiet::local_minute),
            entropy: Entropy::System,
            bots: Arc::new(bots),
            bot_time: Duration::MAX,
            stand_ins: false,
            notifications: None,
            app: None,
            sleep: None,
            power: None,
            sensors: Sensors::default(),
            kernel_timer: false,
            adapter: None,
            #[cfg(feature = "guest")]
            guests: None,
            #[cfg(feature = "online")]
            secrets: None,
            #[cfg(feature = "online")]
            online: None,
        }
    }

    /// Adds Bluetooth, with this adapter (`hci1`), or the stored choice, or the first one. Call within a tokio runtime. An
    /// adapter may appear or disappear at any time; clients are told.
    #[must_use]
    pub fn with_bluetooth(mut self, adapter: Option<String>) -> Self {
        self.transports.push(Arc::new(BleTransport::new(BleConfig { adapter: adapter.clone() })));
        self.adapter = adapter;
        self
    }

    /// Allows guests with a browser, once the user shows a code.
    #[cfg(feature = "guest")]
    #[must_use]
    pub fn with_guests(mut self, config: GuestConfig) -> Self {
        self.guests = Some(config);
        self
    }

    /// Adds online play, with an account that the user signs in to.
    #[cfg(feature = "online")]
    #[must_use]
    pub fn with_online(mut self, config: link::online::OnlineConfig) -> Self {
        self.online = Some(config);
        self
    }

    /// Adds the local network, on every network that the device joins. With several carriers a match moves to another one
    /// when its link is lost.
    #[must_use]
    pub fn with_lan(mut self, config: LanConfig) -> Self {
        self.transports.push(Arc::new(LanTransport::new(config)));
        self
    }
}

/// Why a host could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The saves cannot be opened. They are unchanged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The identity cannot be read or created.
    #[error("the device's identity cannot be used: {0}")]
    Identity(String),
    /// The operating system provides no randomness.
    #[error("no randomness: {0}")]
    Entropy(String),
    /// The host ended during the start.
    #[error("the host has ended")]
    Ended,
}

/// Configuration of access for guests.
#[cfg(feature = "guest")]
#[derive(Clone, Debug, Default)]
pub struct GuestConfig {
    /// TCP port to listen on while a code is active; 0: any free port.
    pub port: u16,
    /// Whether to accept browsers on this device, for tests.
    pub loopback: bool,
    /// Bus of NetworkManager, which makes a Wi-Fi where there is none. `None`: none can be made.
    pub network_manager: Option<Bus>,
    /// How long connections may take and be silent.
    pub times: guest::Times,
}
