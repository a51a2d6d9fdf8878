//! A convolutional policy and value network: its inputs (`planes`), inference (`network`), its use in the search (`guide`
//! where it leads, `advice` where playouts do), and self-play for training (`games`; the rest of the training is in
//! `engine/training/go`).

mod advice;
mod games;
mod guide;
mod network;
mod planes;

pub(super) use advice::Question;
pub use games::{NetGames, NetGamesSetup};
pub(super) use guide::Guide;
pub(super) use network::Scratch;
pub(super) use planes::InputPlanes;
