//! Go 围棋.
//!
//! `board` is the stones with their chains and liberties, `rules` the game with ko, passes and the agreement about dead
//! stones, `score` the counting, `setup` what players agree on before it.
//!
//! The player is apart from the rules: `stones` is its own quicker board, with `shape` (eyes and patterns) and `ladder`;
//! `playout` plays games to their end, `prior` and `tree` are what `search` grows (with `helpers` on several threads) by
//! the numbers of `weights`, `watch` says for how long, `net` is the network that leads the search on small boards and gives it
//! advice on middle ones, `life` says which stones live, and `bot` is the player with its levels.

mod board;
mod bot;
mod features;
mod helpers;
mod ladder;
mod learn;
mod life;
mod net;
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
mod tree;
mod watch;
mod weights;

pub use bot::{Analysis, Considered, GoBot, PassWhen, PlayedOut, play_out};
pub use learn::{PatternLearning, learn_patterns};
pub use life::{Chain, Fate, Status};
pub use net::{NetGames, NetGamesSetup};
pub use resign::Resigning;
pub use rules::{Go, GoMove};
pub use score::Score;
pub use setup::{GoSetup, Handicap, Scoring, Superko};
