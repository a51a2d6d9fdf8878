//! Helper threads of a search. They are scoped: none outlives its search.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Stack of a helper thread, in bytes: the deepest search uses a tenth.
const STACK_BYTES: usize = 4 << 20;

/// Runs `help` on a thread of the scope. `None` if the system cannot start a thread; then the caller continues alone.
pub(crate) fn beside<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    help: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, help).ok()
}

/// Sets the helpers' stop flag when dropped, also during a panic, because the scope waits for them.
pub(crate) struct EndOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
