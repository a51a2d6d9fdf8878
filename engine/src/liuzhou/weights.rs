//! Weights of the terms of [`super::eval`], for the empty board and for the moving phase, in about hundredths of a stone.
//!
//! These are hand-crafted. The [`super::fitted`] weights are 183 Elo stronger, but at depths of two or three they prefer
//! blocking to an available capture; so levels of small depth use these. See EXPERIMENTS.md.

use super::eval::TERMS;

/// Weights of all terms.
pub(super) type Weights = [[i16; 2]; TERMS];

/// In the order of the terms.
#[rustfmt::skip]
pub(super) static BY_HAND: Weights = [
    [-392, -392], [-188, -188], [0, 0], [172, 172], [328, 328], [468, 468], [592, 592], [700, 700], [800, 800], [900, 900],
    [1000, 1000], [1100, 1100], [1200, 1200], [1300, 1300], [1400, 1400], [1500, 1500], [1600, 1600], [1700, 1700], [1800, 1800], [0, 0],
    [5, 0], [8, 2], [15, 5], [20, 8], [20, 8], [60, 60], [45, 45], [40, 40], [45, 45], [40, 40],
    [0, 0], [37, 22], [37, 22], [25, 15], [25, 15], [25, 15], [25, 15], [12, 7], [12, 7], [8, 4],
    [8, 4], [8, 4], [8, 4], [3, 1], [3, 1], [2, 1], [2, 1], [2, 1], [2, 1], [5, 90],
    [5, 70], [5, 40], [5, 40], [5, 40], [5, 40], [0, 80], [0, 60], [0, 50], [0, 50], [0, 50],
    [0, 50], [5, 50], [5, 40], [5, 30], [5, 30], [5, 30], [5, 30], [-3, -3], [8, 8], [1, 4],
    [0, -80], [0, -50], [0, -30], [90, 90], [15, 10],
];
