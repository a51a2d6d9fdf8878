//! Go 围棋.
//!
//! `board` is the rules' board, `rules` the game with ko, passes and the agreement on dead stones, `score` the scoring,
//! `setup` the options, `openings` the names of beginnings.
//!
//! The bot is separate from the rules: `stones` is its own faster board of `cells`, with `shape` (eyes and patterns), `tactics` and
//! `ladder`; `playout` is the playout policy, `prior` and `tree` the nodes that `search` grows by the parameters of `weights`,
//! `patterns` the trained weights of move features, `time_manager` is time management, `net` the network that leads the search
//! on small boards and advises it on medium ones, `life` life and death, and `bot` the levels.

mod blunder;
mod board;
mod bot;
mod cells;
mod features;
mod ladder;
mod learn;
mod life;
mod net;
mod openings;
mod options;
mod patterns;
mod playout;
mod position;
mod prior;
pub(crate) mod puzzle;
mod resign;
mod rules;
mod score;
mod search;
pub(crate) mod setup;
mod shape;
mod stones;
mod tactics;
mod time_manager;
mod tree;
mod weights;

pub use bot::{Analysis, Considered, GoBot, PassWhen, PlayedOut, play_out};
pub use learn::{PatternTrainingConfig, train_patterns};
pub use life::{Chain, Fate, Status};
pub use net::{NetGames, NetGamesSetup};
pub use openings::Opening;
pub use resign::Resigning;
pub use rules::{Go, GoMove};
pub use score::Score;
pub use setup::{GoSetup, Handicap, Scoring, Superko};
