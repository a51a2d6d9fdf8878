//! Lights Out 关灯: put every light out; a press toggles a light and its neighbours.
//!
//! `lights` is a board of lights in packed words, `solver` finds the presses that put one out, `rules` is the game, `bot` presses by the
//! solution.

mod bot;
mod lights;
mod options;
mod rules;
mod solver;

pub use bot::LightsOutBot;
pub use lights::{Lights, Neighbours};
pub use rules::{LightMove, LightsOut, LightsOutSetup, Run, Start};
pub use solver::{BenchSystem, MOST_DIMENSIONS_FOR_FEWEST, Solution, nullity, solve};
