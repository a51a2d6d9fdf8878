//! Rules, notation, records and AI of Qiyou's games.
//!
//! Each game is one implementation of [`Game`]: a position that knows its legal moves. [`AnyGame`] is the closed set of
//! them for callers that learn the game at run time; [`bot()`] plays any of them at a [`Tier`], and [`partner`] at a [`Level`] for people.
//!
//! [`record`] reads and writes games as text; [`puzzles`] are positions with a unique solution.
//!
//! What this crate deliberately does not do: no clock, no randomness, no threads of its own, no async, no protobuf. Time,
//! seeds and the stop flag are arguments, so the same inputs give the same outputs and every failure can be replayed.
//!
//! ```
//! use engine::{Action, AnyGame, GomokuSetup, Point, Setup, Side};
//!
//! let mut game = AnyGame::new(&Setup::Gomoku(GomokuSetup::default())).expect("the default setup is valid");
//! let mv = game.legal_move(Action::Place(Point::new(7, 7))).expect("the board is empty");
//! game.play(mv);
//! assert_eq!(game.turn(), Side::Second);
//! ```

// `tests/tests/architecture.rs` counts the exceptions; each has its reason beside it.
#![deny(unsafe_code)]

mod action;
mod adam;
mod any;
pub mod blunders;
mod bot;
pub mod explain;
pub mod explore;
pub mod files;
mod game;
pub mod glicko;
pub mod go;
pub mod gomoku;
pub mod heading;
mod kernel;
pub mod lessons;
mod level;
pub mod lights_out;
pub mod liuzhou;
pub mod notes;
pub mod novice;
pub mod options;
pub mod parameters;
mod point;
mod prover;
pub mod puzzles;
pub mod rating;
pub mod reasons;
pub mod record;
mod regression;
mod rng;
pub mod search;
mod search_bot;
#[cfg(test)]
#[path = "../../tests/src/seed.rs"]
mod seed;
pub mod sgf;
pub mod start;
mod text;
pub mod threats;
mod training;
mod view;
mod words;
pub mod xiangqi;

pub use action::{Action, Choice, IllegalAction};
pub use any::{AnyGame, AnyMove, GameKind, Setup};
pub use bot::{Bot, Limits, Report, Score, Tier, bot, bot_within};
pub use game::{Game, Outcome, Reason, SetupError, Side};
pub use gomoku::{Gomoku, GomokuOpening, GomokuRule, GomokuSetup};
pub use level::{Level, ParseLevelError, partner};
pub use point::{ParsePointError, Point};
pub use rng::Rng;
pub use text::TextError;
pub use view::{BoardView, Fact, Mark, MarkKind, Piece, PieceView, Touch};
pub use words::{Language, Names};
