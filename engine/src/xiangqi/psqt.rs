//! Piece-square tables, in about hundredths of a soldier, used only for ordering quiet moves.
//!
//! Fitted by logistic regression to games of an earlier engine with a hand-crafted evaluation; see EXPERIMENTS.md. By rank
//! from the own side, then by file from the edge, because left and right are symmetric.

use super::board::{FILES, RANKS, SQUARES};
use crate::Side;

const HALF_FILES: usize = FILES / 2 + 1;

#[rustfmt::skip]
const BY_RANK_AND_FILE: [[[i16; HALF_FILES]; RANKS]; 7] = [
    // General.
    [
        [0, 0, 0, 0, 9],
        [-25, -25, -25, -27, -31],
        [-50, -50, -50, -51, -49],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ],
    // Adviser.
    [
        [170, 170, 170, 153, 170],
        [170, 170, 170, 170, 191],
        [170, 170, 170, 165, 170],
        [170, 170, 170, 170, 170],
        [170, 170, 170, 170, 170],
        [170, 170, 170, 170, 170],
        [170, 170, 170, 170, 170],
        [170, 170, 170, 170, 170],
        [170, 170, 170, 170, 170],
        [170, 170, 170, 170, 170],
    ],
    // Elephant.
    [
        [162, 170, 176, 170, 180],
        [162, 170, 170, 170, 180],
        [159, 170, 170, 170, 175],
        [162, 170, 170, 170, 180],
        [162, 170, 163, 170, 180],
        [162, 170, 170, 170, 180],
        [162, 170, 170, 170, 180],
        [162, 170, 170, 170, 180],
        [162, 170, 170, 170, 180],
        [162, 170, 170, 170, 180],
    ],
    // Horse.
    [
        [350, 366, 379, 380, 378],
        [367, 387, 402, 407, 384],
        [369, 399, 419, 415, 406],
        [385, 400, 413, 417, 417],
        [393, 411, 427, 430, 421],
        [397, 413, 428, 432, 426],
        [399, 422, 432, 442, 431],
        [406, 424, 435, 438, 433],
        [390, 408, 422, 423, 418],
        [366, 381, 396, 398, 393],
    ],
    // Chariot.
    [
        [856, 876, 863, 874, 869],
        [875, 879, 879, 892, 882],
        [877, 890, 886, 893, 889],
        [883, 888, 884, 892, 888],
        [882, 892, 890, 891, 894],
        [887, 892, 895, 905, 893],
        [889, 901, 900, 902, 896],
        [886, 891, 892, 899, 897],
        [886, 898, 896, 905, 899],
        [878, 887, 886, 892, 889],
    ],
    // Cannon.
    [
        [429, 432, 428, 432, 435],
        [433, 434, 430, 434, 439],
        [438, 426, 434, 445, 460],
        [432, 424, 432, 435, 440],
        [430, 430, 435, 435, 441],
        [430, 420, 430, 432, 441],
        [435, 435, 432, 432, 438],
        [431, 430, 430, 430, 436],
        [439, 434, 438, 439, 444],
        [446, 443, 440, 443, 448],
    ],
    // Soldier.
    [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [41, 60, 47, 70, 78],
        [68, 70, 71, 80, 82],
        [112, 118, 137, 154, 159],
        [137, 151, 169, 180, 187],
        [155, 167, 177, 198, 202],
        [130, 140, 155, 172, 177],
        [50, 60, 75, 90, 94],
    ],
];

/// The value of a square for a piece of a side.
pub(super) const fn value(side: Side, kind: usize, square: u8) -> i32 {
    PSQT[side as usize][kind][square as usize] as i32
}

static PSQT: [[[i16; SQUARES]; 7]; 2] = {
    let mut table = [[[0; SQUARES]; 7]; 2];
    let mut kind = 0;
    while kind < 7 {
        let mut square = 0;
        while square < SQUARES {
            let (file, rank) = (square % FILES, square / FILES);
            let file = if file < HALF_FILES { file } else { FILES - 1 - file };
            table[0][kind][square] = BY_RANK_AND_FILE[kind][rank][file];
            table[1][kind][square] = BY_RANK_AND_FILE[kind][RANKS - 1 - rank][file];
            square += 1;
        }
        kind += 1;
    }
    table
};
