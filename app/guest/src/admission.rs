//! Limits on the number of connections, in total and per address. Those that have said nothing yet give way to new ones, so that
//! nobody keeps others out by coming first and staying silent.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Counts open connections. Clones share the counts.
#[derive(Clone)]
pub(crate) struct Admission {
    places: Arc<Mutex<Places>>,
    most: usize,
    most_of_one: usize,
}

#[derive(Default)]
struct Places {
    last: u64,
    /// By numbers that ascend: the oldest connection first.
    open: BTreeMap<u64, Open>,
}

struct Open {
    from: IpAddr,
    stays: bool,
    leave: Arc<Notify>,
}

/// An admitted connection, counted until it is dropped or gives way.
pub(crate) struct Admitted {
    admission: Admission,
    number: u64,
    leave: Arc<Notify>,
}

impl Admission {
    pub(crate) fn new(most: usize, most_of_one: usize) -> Self {
        Self { places: Arc::default(), most, most_of_one }
    }

    /// Admits a connection from this address, if need be in place of one that does not stay: at the address's own limit one of
    /// its own. `None` if a limit is reached and all stay.
    pub(crate) fn admit(&self, from: IpAddr) -> Option<Admitted> {
        let mut places = self.lock();
        let of_one = places.open.values().filter(|one| one.from == from).count();
        let is_greedy = of_one >= self.most_of_one;
        if is_greedy || places.open.len() >= self.most {
            let gone = places.next_to_go(is_greedy.then_some(from))?;
            if let Some(gone) = places.open.remove(&gone) {
                gone.leave.notify_one();
            }
        }
        places.last += 1;
        let (number, leave) = (places.last, Arc::<Notify>::default());
        places.open.insert(number, Open { from, stays: false, leave: leave.clone() });
        Some(Admitted { admission: self.clone(), number, leave })
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    /// Of the address with the most connections that do not stay the oldest of these; only of this address, if one is given.
    fn next_to_go(&self, of: Option<IpAddr>) -> Option<u64> {
        let leaving = || self.open.iter().filter(|(_, one)| !one.stays);
        let mut by_address = BTreeMap::<IpAddr, usize>::new();
        for (_, one) in leaving() {
            *by_address.entry(one.from).or_default() += 1;
        }
        leaving()
            .filter(|(_, one)| of.is_none_or(|of| one.from == of))
            .max_by_key(|(number, one)| (by_address.get(&one.from), Reverse(**number)))
            .map(|(number, _)| *number)
    }
}

impl Admitted {
    /// Whether this connection keeps its place from now on. Returns false if it has given way already.
    pub(crate) fn stay(&self, stays: bool) -> bool {
        let mut places = self.admission.lock();
        let Some(open) = places.open.get_mut(&self.number) else { return false };
        open.stays = stays;
        true
    }

    /// Waits until this connection has given way.
    pub(crate) async fn gives_way(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.admission.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn address(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    fn has_gone(one: &Admitted) -> bool {
        let gone = !one.stay(false);
        assert_eq!(one.gives_way().now_or_never().is_some(), gone, "it is told");
        gone
    }

    #[test]
    fn a_crowd_and_a_greedy_address_are_kept_out_until_somebody_leaves() {
        let admission = Admission::new(5, 2);
        let admit = |number| {
            let admitted = admission.admit(address(number));
            assert!(admitted.as_ref().is_none_or(|one| one.stay(true)));
            admitted
        };
        let mut held: Vec<Admitted> = [1, 1, 2, 3].into_iter().filter_map(admit).collect();
        assert_eq!(held.len(), 4);
        assert!(admit(1).is_none(), "two of one address are there");
        held.extend(admit(2));
        assert_eq!(held.len(), 5);
        assert!(admit(4).is_none(), "five are there");
        held.remove(0);
        assert!(admit(4).is_some());
        held.clear();
        assert!(admission.lock().open.is_empty(), "nothing is kept of who has gone");
    }

    #[test]
    fn the_oldest_that_has_said_nothing_gives_way_first_of_the_address_with_the_most() {
        let admission = Admission::new(5, 3);
        let admit = |number| admission.admit(address(number)).expect("one gives way");
        // Two who say nothing, one who stays, and two more of the first address.
        let held = [2, 1, 3, 1, 1].map(admit);
        assert!(held[2].stay(true));
        let gone = |of: &[Admitted]| -> Vec<usize> {
            (0..of.len()).filter(|n| *n != 2 && has_gone(&of[*n])).collect()
        };
        assert!(gone(&held).is_empty());
        let greedy = admission.admit(address(1)).expect("in place of its own oldest");
        assert_eq!(gone(&held), [1]);
        let other = admission.admit(address(4)).expect("in place of the next of the address with three");
        assert!(!held[3].stay(true), "it has given way");
        assert!(held[4].stay(true) && held[0].stay(true) && greedy.stay(true) && other.stay(true));
        assert!(admission.admit(address(5)).is_none(), "all stay");
        assert!(held[0].stay(false), "its connection is being closed");
        assert!(admission.admit(address(5)).is_some());
        assert!(!held[0].stay(true));
        drop((held, greedy, other));
        assert!(admission.lock().open.is_empty());
    }
}
