//! Limits on the number of connections, in total and per address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts open connections. Clones share the counts.
#[derive(Clone)]
pub(crate) struct Admission {
    counts: Arc<Mutex<Counts>>,
    most: usize,
    most_of_one: usize,
}

#[derive(Default)]
struct Counts {
    all: usize,
    /// Addresses with open connections: at most `all` entries.
    by_address: BTreeMap<IpAddr, usize>,
}

/// An admitted connection, counted until it is dropped.
pub(crate) struct Admitted {
    admission: Admission,
    from: IpAddr,
}

impl Admission {
    pub(crate) fn new(most: usize, most_of_one: usize) -> Self {
        Self { counts: Arc::default(), most, most_of_one }
    }

    /// Admits a connection from this address; `None` if a limit is reached.
    pub(crate) fn admit(&self, from: IpAddr) -> Option<Admitted> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = counts.by_address.get(&from).copied().unwrap_or(0);
        if counts.all >= self.most || of_one >= self.most_of_one {
            return None;
        }
        counts.all += 1;
        counts.by_address.insert(from, of_one + 1);
        Some(Admitted { admission: self.clone(), from })
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut counts = self.admission.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Some(of_one) = counts.by_address.get_mut(&self.from) {
            *of_one -= 1;
            if *of_one == 0 {
                counts.by_address.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_and_a_greedy_address_are_kept_out_until_somebody_leaves() {
        let admission = Admission::new(5, 2);
        let address = |number: u8| IpAddr::from([10, 0, 0, number]);
        let mut held: Vec<Admitted> =
            [1, 1, 2, 3].into_iter().filter_map(|n| admission.admit(address(n))).collect();
        assert_eq!(held.len(), 4);
        assert!(admission.admit(address(1)).is_none(), "two of one address are there");
        held.extend(admission.admit(address(2)));
        assert_eq!(held.len(), 5);
        assert!(admission.admit(address(4)).is_none(), "five are there");
        held.remove(0);
        assert!(admission.admit(address(4)).is_some());
        held.clear();
        let counts = admission.counts.lock().expect("nobody panicked");
        assert_eq!((counts.all, counts.by_address.len()), (0, 0), "nothing is kept of who has gone");
    }
}
