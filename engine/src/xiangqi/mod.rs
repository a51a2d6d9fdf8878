//! Xiangqi 象棋.
//!
//! `board` is the pieces and how moves are made and taken back, `attacks` the tables of what a piece reaches, `moves` the
//! legal moves and their number, `rules` the game with its endings, `repetition` who is to blame for one, `fen` a position
//! as a line, `notation` moves as players write them (ICCS, WXF, Chinese).
//!
//! The player: `position` is a board as the search sees it, `exchange` what a capture is worth when all is taken back, `eval`
//! what it judges by with its numbers in `weights`, `fit` where those come from, `net` what a network
//! adds to it, `bot` the levels.

mod attacks;
mod board;
mod bot;
mod eval;
mod exchange;
mod fen;
pub mod fit;
mod moves;
pub mod net;
mod notation;
mod options;
mod position;
pub(crate) mod puzzle;
mod repetition;
mod rules;
mod weights;

pub use board::{Board, Kind, XiangqiMove};
pub use bot::XiangqiBot;
pub use moves::perft;
pub use notation::Notation;
pub use rules::{Xiangqi, XiangqiSetup};
