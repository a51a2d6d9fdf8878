//! Threads that search beside the caller's. They are scoped: none outlives the search that it helps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Stack of a helping thread: the deepest search takes a tenth of it.
const STACK_BYTES: usize = 4 << 20;

/// Runs `help` beside the caller until the scope ends. `None`: the system has no thread to spare, and the caller goes without.
pub(crate) fn beside<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    help: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, help).ok()
}

/// Tells the helpers to end, also when the thread that has it panics: the scope waits for them.
pub(crate) struct EndOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
