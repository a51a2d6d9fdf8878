//! Multithreaded search of one tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Player, Search};
use crate::Limits;
use crate::go::Go;
use crate::go::time_manager::TimeManager;

/// [`Search::lead`] with helper threads. The tree is protected by a lock: descending and updating takes a quarter of a
/// playout's time, the rest runs in parallel.
pub(super) fn lead_helpers<const N: usize, const W: usize>(
    go: &Go,
    mut time: TimeManager<'_>,
    look: &mut dyn FnMut(&Search<N, W>),
    shared: &Mutex<&mut Search<N, W>>,
    player: &mut Player<N, W>,
) {
    let mut search = lock(shared);
    while !time.is_over(search.begun) {
        search.descend(go, player, &mut |begun| time.is_over(begun));
        let (terms, evened, guide) = (search.terms, search.evened, search.guide());
        drop(search);
        player.play_out(terms, evened, guide);
        search = lock(shared);
        search.update(go, player);
        if search.is_enough(&mut time, look) {
            break;
        }
    }
}

/// Runs playouts until the search is over.
pub(super) fn help<const N: usize, const W: usize>(
    go: &Go,
    limits: &Limits<'_>,
    shared: &Mutex<&mut Search<N, W>>,
    over: &AtomicBool,
    player: &mut Player<N, W>,
) {
    let is_over = |begun: u64| {
        over.load(Ordering::Relaxed)
            || limits.stop.load(Ordering::Relaxed)
            || limits.nodes.is_some_and(|nodes| begun >= nodes)
    };
    let mut search = lock(shared);
    while !is_over(search.begun) {
        search.descend(go, player, &mut |begun| is_over(begun));
        let (terms, evened, guide) = (search.terms, search.evened, search.guide());
        drop(search);
        player.play_out(terms, evened, guide);
        search = lock(shared);
        search.update(go, player);
    }
}

/// A poisoned lock is used anyway: a panic ends the search through [`std::thread::scope`].
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
