//! Gomoku 五子棋: five in a row.
//!
//! `rules` is the game, `renju` its forbidden points, `stage` the opening rules, `fifths` which fifth moves are the same,
//! `openings` the names of renju's openings, `setup` the options, `line` one-line positions, and `psq` Gomocup's files. The
//! bot: `greedy` is level 1, `balance` decides in openings, `book` is the opening book of level 10.

mod balance;
mod blunder;
mod board;
mod book;
mod bot;
mod fifths;
pub mod fit;
mod greedy;
mod line;
pub mod net;
mod openings;
mod options;
mod pattern;
mod position;
mod psq;
pub(crate) mod puzzle;
mod renju;
mod rules;
mod setup;
mod shape;
mod stage;
mod vcf;

pub use book::Book;
pub use bot::GomokuBot;
pub use openings::Opening;
pub use psq::Psq;
pub use renju::Fault;
pub use rules::{Gomoku, GomokuMove, Placement};
pub use setup::{GomokuOpening, GomokuRule, GomokuSetup};
pub(crate) use shape::Double;

/// The directions of lines, as steps of column and row: horizontal, vertical, both diagonals.
const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];
