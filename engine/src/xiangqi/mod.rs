//! Xiangqi 象棋.
//!
//! `board` is the pieces and how moves are made and taken back, `attacks` the tables of what a piece reaches, `moves` the
//! legal moves and their number, `rules` the game with its endings, `repetition` who is to blame for one, `fen` a position
//! as a line, `notation` moves as players write them (ICCS, WXF, Chinese).

mod attacks;
mod board;
mod fen;
mod moves;
mod notation;
mod repetition;
mod rules;

pub use board::{Board, Kind, XiangqiMove};
pub use moves::perft;
pub use notation::Notation;
pub use rules::{Xiangqi, XiangqiSetup};
