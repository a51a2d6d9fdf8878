//! Gomoku 五子棋: five in a row.
//!
//! `rules` is the game itself, `renju` its forbidden points, `swap2` the opening in which players choose colours, `openings`
//! the names of renju's, `setup` what players agree on before it, `line` a position as text, and `psq` the files of
//! Gomocup. The bot is apart: `greedy` is level 1, `book` what level 10 knows of openings.

mod board;
mod book;
mod bot;
pub mod fit;
mod forced;
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
mod swap2;

pub use book::Book;
pub use bot::GomokuBot;
pub use openings::Opening;
pub use psq::Psq;
pub use renju::Fault;
pub use rules::{Gomoku, GomokuMove, Placement};
pub use setup::{GomokuOpening, GomokuRule, GomokuSetup};

/// The four directions of a line, as steps of column and row: along a row, up a column, both diagonals.
const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];
