//! Fits the weights of `eval` to games.
//!
//! `qiyou-engine fit --game xiangqi` runs this over games that `qiyou-engine levels --game xiangqi --print` has written, and
//! prints the file `weights.rs`.

use super::eval::{self, PHASE_MAX, SCALE_FULL, TERMS};
use super::position::Position;
use super::weights::WEIGHTS;
use super::{Xiangqi, XiangqiMove};
use crate::regression::{self, Sample};
use crate::search::{AlphaBetaGame, Urgency};
use crate::{Game, Side};

/// A finished game: the moves, how many of them were the opening, and who won.
pub struct Record {
    /// From the start.
    pub moves: Vec<XiangqiMove>,
    /// Moves at the start that nobody chose.
    pub opening: usize,
    /// `None`: a draw.
    pub winner: Option<Side>,
}

/// The file of weights fitted to games, and a line about how well they do.
pub fn fit(records: &[Record]) -> (String, String) {
    let mut samples = Vec::new();
    for record in records {
        samples_of(record, &mut samples);
    }
    let found = regression::fit(&samples, &WEIGHTS, pull);
    let file = format!("{HEAD}{}];\n", regression::rows(&found.weights));
    let line = format!(
        "{} games, {} samples, {:.0} points per e; loss {:.4}, on unknown games {:.4}; before {:.4} and {:.4}",
        records.len(),
        samples.len(),
        found.points_per_e,
        found.after.learnt,
        found.after.unknown,
        found.before.learnt,
        found.before.unknown
    );
    (file, line)
}

/// How strongly a term is held where it was; see [`regression::fit`]. A place is one of 350 and rarely seen: held as loosely
/// as the others (400 for all of them), places became noise, and the evaluation lost to the one before.
const fn pull(term: usize) -> f64 {
    if term < eval::CHARIOT_REACH { 10_000.0 } else { 1_000.0 }
}

const HEAD: &str = "\
//! The weights of the terms of `eval`: for a full board and for an empty one, in hundredths of a soldier or so.
//!
//! Written by `qiyou-engine fit --game xiangqi`; see EXPERIMENTS.md.

use super::eval::TERMS;

#[rustfmt::skip]
pub(super) const WEIGHTS: [[i16; 2]; TERMS] = [
";

/// The search judges where nothing is in check and nothing hangs: those positions, with the game's result, for Red.
fn samples_of(record: &Record, samples: &mut Vec<Sample>) {
    let start = Xiangqi::new(&super::XiangqiSetup::default()).expect("the default setup is valid");
    let mut position = Position::from_board(start.board());
    let result = match record.winner {
        None => 0.5,
        Some(Side::First) => 1.0,
        Some(Side::Second) => 0.0,
    };
    for (ply, &mv) in record.moves.iter().enumerate() {
        if ply >= record.opening && position.urgency() == Urgency::Free && !position.hangs() {
            samples.push(sample(&position, result));
        }
        position.make(mv);
    }
}

fn sample(position: &Position, result: f32) -> Sample {
    let board = position.board();
    let mut counts = [0_i8; TERMS];
    eval::each_term(board, |term, count| counts[term] += count as i8);
    let terms = (0_u16..).zip(counts).filter(|&(_, count)| count != 0).collect();
    let (places, phase) = eval::count_places(board);
    // The judgement's own sign says whose winning chances are scaled.
    let judged = eval::evaluate(board, places + eval::count_pair(board), phase);
    let red_ahead = (judged > 0) == (board.turn() == Side::First);
    let scale = eval::scale(board, if red_ahead { Side::First } else { Side::Second });
    Sample {
        terms,
        full: phase.min(PHASE_MAX) as f32 / PHASE_MAX as f32,
        scale: scale as f32 / SCALE_FULL as f32,
        result,
    }
}
