//! Starting, connecting to, and stopping a host.

use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use crate::actor::{Actor, Message};
use crate::config::{HostConfig, HostError};

/// A running host. Dropping it acts like a power cut: saved data stays, and peers get no goodbye, unlike with
/// [`Host::stop`].
pub struct Host {
    inbox: mpsc::UnboundedSender<Message>,
    actor: Option<JoinHandle<()>>,
    in_directory: TaskTracker,
}

impl Host {
    /// Opens the saves and starts. Call within a tokio runtime.
    pub fn start(config: HostConfig) -> Result<Self, HostError> {
        let (inbox, messages) = mpsc::unbounded_channel();
        let actor = Actor::new(config, inbox.clone(), messages)?;
        let in_directory = actor.in_directory();
        Ok(Self { inbox, actor: Some(tokio::spawn(actor.run())), in_directory })
    }

    /// Connects a client within this process. The stream carries frames, like the socket.
    pub fn client(&self) -> DuplexStream {
        // Larger than an initial state, so that a client on the same thread can write before it reads.
        const BUFFER_BYTES: usize = 64 << 10;
        let (ours, theirs) = tokio::io::duplex(BUFFER_BYTES);
        // If the host has ended, our half is dropped with the message, and the client reads the end of the stream.
        let _ = self.inbox.send(Message::NewClient(Box::new(ours)));
        theirs
    }

    /// A handle that connects clients and outlives this borrow.
    pub fn connector(&self) -> Connector {
        Connector { inbox: self.inbox.clone() }
    }

    /// Waits until the host has ended, by a client's request or [`Host::stop`], and the directory is free again.
    pub async fn ended(&mut self) {
        if let Some(actor) = &mut self.actor {
            if let Err(error) = actor.await {
                warn!(%error, "the host ended badly");
            }
            self.actor = None;
        }
        self.directory_is_free().await;
    }

    /// Waits for the threads that read or write the directory, such as a backup's. The actor has ended.
    async fn directory_is_free(&self) {
        self.in_directory.close();
        self.in_directory.wait().await;
    }

    /// Says goodbye to peers and clients, and ends. All data is already saved.
    pub async fn stop(mut self) {
        let (done, stopped) = oneshot::channel();
        if self.inbox.send(Message::Stop(done)).is_ok() {
            let _ = stopped.await;
        }
        self.ended().await;
    }

    /// Ends like a power cut, and returns when the directory is free again.
    pub async fn kill(mut self) {
        if let Some(actor) = self.actor.take() {
            actor.abort();
            let _ = actor.await;
        }
        self.directory_is_free().await;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(actor) = &self.actor {
            actor.abort();
        }
    }
}

/// Connects clients to a host from another place in the process.
#[derive(Clone)]
pub struct Connector {
    inbox: mpsc::UnboundedSender<Message>,
}

impl Connector {
    /// Serves clients on this socket until the host ends. Accepts processes of the same user only: the socket's mode
    /// enforces this too, but its directory may be more permissive than intended.
    pub async fn serve(self, listener: UnixListener) -> std::io::Result<()> {
        let me = rustix::process::geteuid().as_raw();
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // Probably out of file descriptors, which may pass; accepting again at once would be a busy loop.
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
