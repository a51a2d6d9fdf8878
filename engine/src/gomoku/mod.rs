//! Gomoku 五子棋: five in a row.
//!
//! `rules` is the game itself, `setup` what players agree on before it. The bot is apart: `greedy` is level 1.

mod board;
mod bot;
pub mod fit;
mod forced;
mod greedy;
mod options;
mod pattern;
mod position;
mod rules;
mod setup;
mod shape;

pub use bot::GomokuBot;
pub use rules::{Gomoku, Placement};
pub use setup::{GomokuRule, GomokuSetup};

/// The four directions of a line, as steps of column and row: along a row, up a column, both diagonals.
const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];
