//! What the player notices, and the debts: what is known, cannot be mended now, and may only become less.

use std::collections::BTreeMap;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A touch on what is enabled changes nothing that is seen or heard.
    NoEffect,
    /// A control without a name.
    Nameless,
    /// A control under 44 logical pixels.
    Small,
    /// A sentence that stands twice on a page.
    Twice,
    /// A text that is cut off, at 100 %.
    Cut,
    /// The same at 200 %.
    CutLarge,
    /// A page from which back does not lead home.
    NoWayBack,
    /// Nothing can be done, and nothing thinks.
    Stuck,
    /// A line of the log at level error or warn, or a panic.
    Logged,
    /// A refusal where what was played is right.
    Refused,
    /// A card that names another move than the one that was played.
    OtherMove,
}

/// A known fault.
pub(crate) struct Debt {
    pub(crate) fault: Fault,
    /// A part of what is noted.
    pub(crate) what: &'static str,
    /// In how many places it is seen. The number may only fall.
    pub(crate) places: usize,
    /// Why it stands.
    pub(crate) why: &'static str,
}

/// What was noticed, each once.
#[derive(Default)]
pub(crate) struct Notes(BTreeMap<(Fault, String), usize>);

impl Notes {
    /// Its number, where it is new.
    pub(crate) fn take(&mut self, fault: Fault, what: String) -> Option<usize> {
        let times = self.0.entry((fault, what)).or_default();
        *times += 1;
        (*times == 1).then_some(self.0.len())
    }

    pub(crate) fn join(&mut self, other: Self) {
        for (note, times) in other.0 {
            *self.0.entry(note).or_default() += times;
        }
    }

    /// Nothing was noticed but the debts, and no more of these than is known.
    pub(crate) fn settle(self, what: &str, debts: &[Debt]) {
        let mut new = Vec::new();
        let mut known = vec![0; debts.len()];
        for ((fault, note), times) in self.0 {
            match debts.iter().position(|debt| debt.fault == fault && note.contains(debt.what)) {
                Some(at) => {
                    known[at] += 1;
                    println!("{what}: debt: {fault:?}: {note}");
                }
                None => new.push(format!("{fault:?}: {note} ({times} times)")),
            }
        }
        for (debt, seen) in debts.iter().zip(known) {
            if seen > debt.places {
                new.push(format!(
                    "{:?}: {:?} in {seen} places, {} were known",
                    debt.fault, debt.what, debt.places
                ));
            } else if seen < debt.places {
                println!(
                    "{what}: of {:?} {:?} ({}) only {seen} of {}",
                    debt.fault, debt.what, debt.why, debt.places
                );
            }
        }
        assert!(new.is_empty(), "{what}: {} faults\n{}", new.len(), new.join("\n"));
    }
}

#[test]
fn a_debt_is_borne_where_it_is_known_and_a_fault_in_one_place_more_is_not() {
    let debts = [Debt { fault: Fault::Cut, what: "a tile", places: 1, why: "it is narrow" }];
    let settles = |faults: &[(Fault, &str)]| {
        let mut notes = Notes::default();
        for (fault, what) in faults {
            notes.take(*fault, (*what).to_owned());
        }
        std::panic::catch_unwind(|| notes.settle("a test", &debts)).is_ok()
    };
    assert!(settles(&[]));
    assert!(settles(&[(Fault::Cut, "a tile at home"), (Fault::Cut, "a tile at home")]), "once in one place");
    assert!(!settles(&[(Fault::Cut, "a tile at home"), (Fault::Cut, "a tile beside it")]));
    assert!(!settles(&[(Fault::Small, "a tile at home")]), "another fault");
    assert!(!settles(&[(Fault::Cut, "a seat")]));
}
