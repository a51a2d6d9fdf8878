//! What is known to be wrong and is not mended yet. Each number may only fall.

use crate::notes::{Debt, Fault};

/// Letters of twice the size, in buttons, tiles and seats whose width is given.
const LARGE: &str = "at 200 % the narrow parts of a page are not laid out anew";

pub(crate) const DEBTS: &[Debt] = &[
    Debt {
        fault: Fault::NoEffect,
        what: "on Friends MyCode",
        places: 1,
        why: "a code that was copied is copied again, and the button says so already",
    },
    Debt { fault: Fault::CutLarge, what: " on ", places: 16, why: LARGE },
];
