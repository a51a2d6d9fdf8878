//! A convolutional policy and value network: its inputs (`planes`), inference (`network`), and self-play for training
//! (`games`; the rest of the training is in `engine/training/go`). It knows nothing of the search that asks it.

mod games;
mod network;
mod planes;

pub use games::{NetGames, NetGamesSetup};
pub(super) use network::{Network, Output, Scratch};
pub(super) use planes::{GlobalInputs, InputPlanes, facts};
