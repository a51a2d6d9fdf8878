//! The tasks that run links, from dialing or accepting to their end.

use link::{Address, CarrierKind};
use session::Role;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::dialing::{Attempt, Target};
use crate::room::PlayerId;

/// The attempt that a dialed link belongs to.
#[derive(Clone)]
pub(crate) struct Dialed {
    pub(crate) attempt: Attempt,
    pub(crate) address: Address,
    pub(crate) target: Target,
}

/// A task that runs a link from dialing or accepting to its end.
pub(crate) struct LinkTask {
    pub(crate) task: AbortHandle,
    pub(crate) role: Role,
    pub(crate) kind: CarrierKind,
    pub(crate) since: Instant,
    pub(crate) dialed: Option<Dialed>,
    /// Set after the handshake.
    pub(crate) peer: Option<PlayerId>,
}

impl LinkTask {
    pub(crate) fn new(task: AbortHandle, role: Role, kind: CarrierKind, dialed: Option<Dialed>) -> Self {
        Self { task, role, kind, since: Instant::now(), dialed, peer: None }
    }
}
