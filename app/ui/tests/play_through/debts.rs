//! What is known to be wrong and is not mended yet. Each number may only fall.

use crate::notes::{Debt, Fault};

pub(crate) const DEBTS: &[Debt] = &[Debt {
    fault: Fault::CutLarge,
    what: ", Comparison)",
    // Four pictures and their names, on two pages; short names fit.
    places: 16,
    why: "the pictures to be compared stand in one row, and grow less than the letters",
}];
