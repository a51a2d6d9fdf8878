//! Liuzhou chess 六洲棋 (also 泥棋, 插方, 来马, 五福棋): stones are placed, then moved, and formations capture.
//!
//! `rules` is the game, `formations` the table of formations, `setup` the options, `position` one-line positions.
//!
//! The bot: `lookahead` is the position for the search, `eval` the static evaluation with `weights`, `fit` their tuning,
//! `tablebase` the endgame tables, `bot` the levels.

mod blunder;
mod bot;
mod eval;
pub mod fit;
mod fitted;
mod formations;
mod lookahead;
mod options;
mod position;
pub(crate) mod puzzle;
mod rules;
mod setup;
pub mod tablebase;
mod weights;

pub use bot::LiuzhouBot;
pub use formations::{Formation, FormationKind};
pub use rules::{Liuzhou, LiuzhouMove};
pub use setup::{Blocked, ForcedRemoval, LiuzhouSetup, Preset, Safety, SeveralFormations, StepBack};

/// Points on a side.
const SIZE: u8 = 6;
/// Number of points. Points are numbered row * 6 + column, both from zero, from the bottom left; a set of points is a `u64`
/// bitboard.
const POINTS: u8 = SIZE * SIZE;
/// All points.
const BOARD: u64 = (1 << POINTS) - 1;
/// Stones that each side places.
const STONES: u32 = 18;
