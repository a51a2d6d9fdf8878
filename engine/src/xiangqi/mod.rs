//! Xiangqi 象棋.
//!
//! `board` is the pieces and how moves are made and taken back, `attacks` the tables of what a piece reaches, `moves` the
//! legal moves and their number, `rules` the game with its endings, `repetition` who is to blame for one, `fen` a position
//! as a line, `notation` moves as players write them (ICCS, WXF, Chinese).
//!
//! The player: `position` is a board as the search sees it, `exchange` what a capture is worth when all is taken back, `net` the
//! network that judges, `eval` what is counted beside it, `places` which quiet moves are tried first, `bot` the levels.

mod attacks;
mod board;
mod bot;
mod eval;
mod exchange;
mod fen;
mod moves;
pub mod net;
mod notation;
mod options;
mod places;
mod position;
pub(crate) mod puzzle;
mod repetition;
mod rules;

pub use board::{Board, Kind, XiangqiMove};
pub use bot::XiangqiBot;
pub use moves::perft;
pub use notation::Notation;
pub use rules::{Xiangqi, XiangqiSetup};
