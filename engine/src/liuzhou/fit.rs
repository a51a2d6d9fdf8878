//! Fits the weights of `eval` to games.
//!
//! `qiyou-engine fit --game liuzhou` runs this on games that `qiyou-engine levels --game liuzhou --print` has written, and
//! prints the file `fitted.rs`.

use super::eval::{self, HAND_MAX, TERMS};
use super::lookahead::Lookahead;
use super::weights::BY_HAND;
use super::{Liuzhou, LiuzhouMove, LiuzhouSetup};
use crate::regression::{self, Sample};
use crate::search::{AlphaBetaGame, Urgency};
use crate::{Game, Side};

/// A finished game with its opening length and result.
pub struct Record {
    /// From the initial position.
    pub moves: Vec<LiuzhouMove>,
    /// Number of opening decisions that no bot has chosen.
    pub opening: usize,
    /// `None` for a draw.
    pub winner: Option<Side>,
}

/// The fitted weights as a source file, and a line about their loss.
pub fn fit(records: &[Record]) -> (String, String) {
    let mut samples = Vec::new();
    for record in records {
        samples_of(record, &mut samples);
    }
    let found = regression::fit(&samples, &BY_HAND, |_| PULL);
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

/// Strength of the prior towards the present weights; see [`regression::fit`].
const PULL: f64 = 1_000.0;

const HEAD: &str = "\
//! The weights of the terms of `eval`: for an empty board and for the moving phase, in hundredths of a stone or so.
//!
//! Written by `qiyou-engine fit --game liuzhou`; see EXPERIMENTS.md.

use super::weights::Weights;

#[rustfmt::skip]
pub(super) static FITTED: Weights = [
";

/// The positions that the search would evaluate, without due or immediate captures, with the game's result for Black.
fn samples_of(record: &Record, samples: &mut Vec<Sample>) {
    let setup = LiuzhouSetup::default();
    let mut ahead = Lookahead::new(&Liuzhou::new(&setup).expect("the default setup is valid"));
    let shapes = eval::shapes(&setup);
    let result = match record.winner {
        None => 0.5,
        Some(Side::First) => 1.0,
        Some(Side::Second) => 0.0,
    };
    let mut loud = Vec::new();
    for (ply, &mv) in record.moves.iter().enumerate() {
        if ply >= record.opening && ahead.urgency() == Urgency::Free {
            ahead.noisy(&mut loud, false);
            if loud.is_empty() {
                let mut counts = [0_i8; TERMS];
                eval::each_term(ahead.game(), &shapes, |term, count| counts[term] += count as i8);
                let terms = (0_u16..).zip(counts).filter(|&(_, count)| count != 0).collect();
                let full = eval::in_hand(ahead.game()) as f32 / HAND_MAX as f32;
                samples.push(Sample { terms, full, scale: 1.0, result });
            }
        }
        ahead.make(mv);
    }
}
