//! [`BleTransport`]: implements `link`'s trait over the parts of this crate.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use link::{
    Accepted, Adapter, Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener,
    Transport, Watch,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::duplex::BleStream;
use crate::shared::Shared;
use crate::{central, system};

/// Configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BleConfig {
    /// The adapter at first, such as `hci1`; `None` for the first by name. If a chosen adapter is absent, none is
    /// used.
    pub adapter: Option<String>,
}

/// The Bluetooth LE transport. Dropping it stops advertising and discovery; links that are up continue.
pub struct BleTransport {
    shared: Arc<Shared>,
    /// `None` once somebody waits for its end.
    supervisor: Mutex<Option<JoinHandle<()>>>,
}

impl BleTransport {
    /// Starts the supervisor. Must be called within a tokio runtime with time and I/O.
    pub fn new(config: BleConfig) -> BleTransport {
        let shared = Shared::new(config);
        let supervisor = tokio::spawn(system::supervise(shared.clone()));
        BleTransport { shared, supervisor: Mutex::new(Some(supervisor)) }
    }

    /// [`connect`](Transport::connect), returning the stream's own type with its statistics.
    pub async fn dial(&self, address: &Address) -> Result<BleStream, LinkError> {
        if address.kind != CarrierKind::Bluetooth {
            return Err(LinkError::WrongAddress(address.clone()));
        }
        let adapter = self.shared.adapter();
        let forget = || system::forget(adapter.as_deref(), &address.text);
        central::connect(&self.shared, adapter.as_deref(), address, forget).await
    }
}

impl Drop for BleTransport {
    fn drop(&mut self) {
        self.shared.part();
    }
}

#[async_trait]
impl Transport for BleTransport {
    fn kind(&self) -> CarrierKind {
        CarrierKind::Bluetooth
    }

    /// One listener at a time; a second is refused with [`io::ErrorKind::AddrInUse`].
    async fn listen(&self, card: Card) -> Result<Box<dyn Listener>, LinkError> {
        let arrivals = self.shared.start_listening(card).ok_or(io::Error::from(io::ErrorKind::AddrInUse))?;
        Ok(Box::new(BleListener { shared: self.shared.clone(), arrivals }))
    }

    fn watch(&self, scan: bool) -> Watch {
        self.shared.watch(scan)
    }

    async fn connect(&self, address: &Address) -> Result<Box<dyn Duplex>, LinkError> {
        Ok(Box::new(self.dial(address).await?))
    }

    async fn part(&self) {
        self.shared.part();
        let supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(supervisor) = supervisor {
            // An error is a panic there, which has been reported.
            let _ = supervisor.await;
        }
    }

    async fn power_on(&self) -> Result<(), LinkError> {
        system::power_on(&self.shared).await
    }

    async fn adapters(&self) -> Vec<Adapter> {
        system::adapters(&self.shared).await
    }

    fn use_adapter(&self, name: Option<String>) {
        self.shared.use_adapter(name);
    }

    async fn diagnose(&self) -> Vec<Finding> {
        system::diagnose(&self.shared).await
    }
}

struct BleListener {
    shared: Arc<Shared>,
    arrivals: mpsc::Receiver<BleStream>,
}

impl Drop for BleListener {
    fn drop(&mut self) {
        self.shared.stop_listening();
    }
}

#[async_trait]
impl Listener for BleListener {
    async fn accept(&mut self) -> Result<Accepted, LinkError> {
        match self.arrivals.recv().await {
            Some(stream) => Ok(Accepted::from_anywhere(stream)),
            // Unreachable while this listener is the registered one; an error ends the listener in any case.
            None => Err(LinkError::Carrier(self.shared.state().unwrap_or(CarrierState::NoService))),
        }
    }

    async fn update(&mut self, card: Card) -> Result<(), LinkError> {
        self.shared.update_card(card);
        Ok(())
    }
}
