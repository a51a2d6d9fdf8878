//! Starting, reaching and stopping a host.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ble_transport::{BleConfig, BleTransport};
use link::Transport;
use link::lan::{LanConfig, LanTransport};
use tokio::io::DuplexStream;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::{info, warn};

use crate::actor::{Actor, Message};
use crate::bots::BotMaker;
use crate::chance::Entropy;
use crate::desktop::Bus;
use crate::store::StoreError;

/// What a host is made of. Only the directory has no default.
#[derive(Clone)]
pub struct HostConfig {
    /// Where identity, friends and matches are kept. Made with mode 0700 when missing. One host at a time.
    pub data_dir: PathBuf,
    /// Shown to others. `None`: as it was set last, or the device's name the first time.
    pub name: Option<String>,
    /// Kinds of links. None at all is fine: then one plays alone.
    pub transports: Vec<Arc<dyn Transport>>,
    /// The time of day: decides the rotating tag and stands in the saves. Everything else goes by tokio's clock.
    pub wall_clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// Where chance comes from.
    pub entropy: Entropy,
    /// Makes the bots.
    pub bots: BotMaker,
    /// Most time for a bot's decision; its level may ask for less.
    pub bot_time: Duration,
    /// Notifies through the desktop on this bus while nobody looks at a client. `None`: never.
    pub notifications: Option<Bus>,
    /// The program that is started when a notification is chosen and no client with a window is attached. `None`: none.
    pub app: Option<OsString>,
    /// Hears of the system's sleep on this bus, and says goodbye before it. `None`: sleep comes unannounced.
    pub sleep: Option<Bus>,
    /// Waits with the kernel's timer, which wakes the process once where tokio's wakes it up to three times. Not where
    /// tokio's clock is stopped.
    pub kernel_timer: bool,
    /// The Bluetooth adapter, whatever was chosen last. `None`: as chosen last, or the first.
    pub adapter: Option<String>,
    /// How guests with a browser may come. `None`: not at all.
    #[cfg(feature = "guest")]
    pub guests: Option<crate::guests::GuestConfig>,
    /// The bus of the desktop whose keyring keeps the account's password. `None`: a file in the directory does.
    #[cfg(feature = "online")]
    pub secrets: Option<Bus>,
    /// Play over the internet. `None`: not at all.
    #[cfg(feature = "online")]
    pub online: Option<link::online::OnlineConfig>,
}

impl HostConfig {
    /// A host of this directory with the engine's bots, the system's clock and chance, and no links.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let data_dir: PathBuf = data_dir.into();
        let tables = data_dir.clone();
        let bots = move |kind, level, seed| {
            let mut bot = engine::bot_within(kind, level, seed, BOT_BYTES);
            bot.set_folder(&tables);
            bot
        };
        Self {
            data_dir,
            name: None,
            transports: Vec::new(),
            wall_clock: Arc::new(SystemTime::now),
            entropy: Entropy::System,
            bots: Arc::new(bots),
            bot_time: Duration::MAX,
            notifications: None,
            app: None,
            sleep: None,
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

    /// Plays over Bluetooth as well, with this adapter (`hci1`), or the one chosen last, or the first. Must be called within a tokio runtime. Whether
    /// there is an adapter may change at any time: the host tells its clients.
    #[must_use]
    pub fn with_bluetooth(mut self, adapter: Option<String>) -> Self {
        self.transports.push(Arc::new(BleTransport::new(BleConfig { adapter: adapter.clone() })));
        self.adapter = adapter;
        self
    }

    /// Lets guests with a browser come, once a person shows a code.
    #[cfg(feature = "guest")]
    #[must_use]
    pub fn with_guests(mut self, config: crate::guests::GuestConfig) -> Self {
        self.guests = Some(config);
        self
    }

    /// Plays over the internet as well, with an account that a person signs in to.
    #[cfg(feature = "online")]
    #[must_use]
    pub fn with_online(mut self, config: link::online::OnlineConfig) -> Self {
        self.online = Some(config);
        self
    }

    /// Plays in the local network as well, whichever the device is in at a time. The more carriers, the surer a match goes on:
    /// it moves to another when one drops.
    #[must_use]
    pub fn with_lan(mut self, config: LanConfig) -> Self {
        self.transports.push(Arc::new(LanTransport::new(config)));
        self
    }
}

/// What a bot may remember of a game's positions. In the three seconds of level 10 a handheld's core visits a million at most,
/// which fill this; beside the app it leaves the whole under half of what the leanest of other board games takes.
const BOT_BYTES: usize = 12 << 20;

/// Why a host did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The saved games cannot be opened. Nothing in them was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The device's key cannot be read or made.
    #[error("the device's identity cannot be used: {0}")]
    Identity(String),
    /// The operating system gives no randomness.
    #[error("no randomness: {0}")]
    Entropy(String),
    /// The host has ended.
    #[error("the host has ended")]
    Ended,
}

/// A running host. Dropping it is like pulling the plug: what was saved stays, nobody is told. [`Host::stop`] says goodbye.
pub struct Host {
    inbox: mpsc::UnboundedSender<Message>,
    actor: Option<JoinHandle<()>>,
}

impl Host {
    /// Opens the saves and starts. Must be called within a tokio runtime.
    pub fn start(config: HostConfig) -> Result<Self, HostError> {
        let (inbox, messages) = mpsc::unbounded_channel();
        let actor = Actor::new(config, inbox.clone(), messages)?;
        Ok(Self { inbox, actor: Some(tokio::spawn(actor.run())) })
    }

    /// A client's connection within this process. It speaks frames like one over the socket.
    pub fn client(&self) -> DuplexStream {
        // Large enough for a whole state, so that a client on the same thread may write before it reads.
        const BUFFER_BYTES: usize = 64 << 10;
        let (ours, theirs) = tokio::io::duplex(BUFFER_BYTES);
        // When the host has ended, the other half is dropped with the message and the client reads the end.
        let _ = self.inbox.send(Message::NewClient(Box::new(ours)));
        theirs
    }

    /// A way to connect clients that outlives this borrow.
    pub fn connector(&self) -> Connector {
        Connector { inbox: self.inbox.clone() }
    }

    /// Waits until the host has ended, because a client asked it to or because [`Host::stop`] did.
    pub async fn ended(&mut self) {
        if let Some(actor) = &mut self.actor {
            if let Err(error) = actor.await {
                warn!(%error, "the host ended badly");
            }
            self.actor = None;
        }
    }

    /// Says goodbye to peers and clients, and ends. Everything is saved already.
    pub async fn stop(mut self) {
        let (done, stopped) = oneshot::channel();
        if self.inbox.send(Message::Stop(done)).is_ok() {
            let _ = stopped.await;
        }
        self.ended().await;
    }

    /// Ends as a power cut would, and returns when the directory is free again.
    pub async fn kill(mut self) {
        if let Some(actor) = self.actor.take() {
            actor.abort();
            let _ = actor.await;
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(actor) = &self.actor {
            actor.abort();
        }
    }
}

/// Connects clients to a host from elsewhere in the process.
#[derive(Clone)]
pub struct Connector {
    inbox: mpsc::UnboundedSender<Message>,
}

impl Connector {
    /// Serves clients on this socket until the host ends. Only processes of the same user are let in: the socket's mode
    /// says so too, but a directory may be looser than it should be.
    pub async fn serve(self, listener: UnixListener) -> std::io::Result<()> {
        let me = rustix::process::geteuid().as_raw();
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // Out of file descriptors, most likely: it may pass, and accepting again at once would spin.
                    Err(error) => {
                        warn!(%error, "a client could not be accepted");
                        tokio::time::sleep(Duration::from_millis(200)).await;
                        continue;
                    }
                },
                () = self.inbox.closed() => return Ok(()),
            };
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == me => self.take(stream),
                Ok(peer) => warn!(uid = peer.uid(), "a process of another user was refused"),
                Err(error) => info!(%error, "a client was gone before it was looked at"),
            }
        }
    }

    fn take(&self, stream: UnixStream) {
        let _ = self.inbox.send(Message::NewClient(Box::new(stream)));
    }
}
