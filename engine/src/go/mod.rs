//! Go 围棋.
//!
//! `board` is the stones with their chains and liberties, `rules` the game with ko, passes and the agreement about dead
//! stones, `score` the counting, `setup` what players agree on before it.

mod board;
mod options;
mod position;
mod rules;
mod score;
pub(crate) mod setup;

pub use rules::{Go, GoMove};
pub use score::Score;
pub use setup::{GoSetup, Handicap, Scoring, Superko};
