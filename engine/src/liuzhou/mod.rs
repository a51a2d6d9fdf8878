//! Liuzhou chess 六洲棋 (also 泥棋, 插方, 来马, 五福棋): stones are placed, then stepped, and formations capture.
//!
//! `rules` is the game itself, `formations` the table of what captures, `setup` what players agree on before it, and
//! `position` a position as a line of text.
//!
//! The player: `lookahead` is the game as the search sees it, `eval` what it judges by with its numbers in `weights`, `fit`
//! where those come from, `endings` what is certain when few stones are left, `bot` the levels.

mod bot;
pub mod endings;
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
mod weights;

pub use bot::LiuzhouBot;
pub use formations::{Formation, FormationKind};
pub use rules::{Liuzhou, LiuzhouMove};
pub use setup::{Blocked, ForcedRemoval, LiuzhouSetup, Preset, Safety, SeveralFormations, StepBack};

/// Points on a side of the board.
const SIZE: u8 = 6;
/// Points of the board. Point number = row * 6 + column, both from zero, from the bottom left; a set of points is a `u64`
/// with the bit of each.
const POINTS: u8 = SIZE * SIZE;
/// Every point.
const BOARD: u64 = (1 << POINTS) - 1;
/// Stones that each side places.
const STONES: u32 = 18;
