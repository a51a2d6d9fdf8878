//! Lights Out 关灯: turn off every light; a press toggles a light and its neighbours.
//!
//! `lights` is bit matrices, `solver` finds solutions, `rules` is the game, `bot` plays the solution.

mod bot;
mod lights;
mod options;
mod rules;
mod solver;

pub use bot::LightsOutBot;
pub use lights::{Lights, Neighbours};
pub use rules::{LightMove, LightsOut, LightsOutSetup, Run, Start};
pub use solver::{BenchSystem, MOST_DIMENSIONS_FOR_FEWEST, Solution, nullity, solve};
