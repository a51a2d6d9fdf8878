//! A network that sees the whole board: what it is shown (`planes`), what it computes (`network`), how the search follows it
//! (`guide` where it leads, `advice` where playouts do), and the games by which it was taught (`games`; the rest of that is in
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
