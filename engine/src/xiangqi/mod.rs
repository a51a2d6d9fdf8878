//! Xiangqi 象棋.
//!
//! `board` is the bitboards with make and unmake, `attacks` the attack tables, `moves` legal move generation, `rules` the
//! game with its results, `setup` what a match may choose, `repetition` the rules of perpetual check, kill and chase, `fen`
//! positions as lines, `notation` moves as text (ICCS, WXF, Chinese), `openings` the names of openings, `odds` the positions
//! of odds.
//!
//! The bot: `position` is the position for the search, `exchange` static exchange evaluation, `net` the NNUE, `eval` further
//! evaluation terms, `psqt` piece-square tables for move ordering, `bot` the levels.

mod attacks;
mod blunder;
mod board;
mod bot;
mod eval;
mod exchange;
mod fen;
mod moves;
pub mod net;
mod notation;
mod odds;
mod openings;
mod options;
mod position;
mod psqt;
pub(crate) mod puzzle;
mod repetition;
mod rules;
mod setup;

pub use board::{Board, Kind, XiangqiMove};
pub use bot::XiangqiBot;
pub(crate) use fen::{letter, of_letter};
pub use moves::perft;
pub use notation::Notation;
pub use odds::Odds;
pub use openings::Opening;
pub use repetition::RepetitionRule;
pub use rules::Xiangqi;
pub use setup::XiangqiSetup;
