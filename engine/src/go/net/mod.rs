//! A network that sees the whole board: what it is shown (`planes`), what it computes (`network`), how the search follows it
//! (`guide`), and the games by which it was taught (`games`; the rest of that is in `engine/training/go`).

mod games;
mod guide;
mod network;
mod planes;

pub use games::{NetGames, NetGamesSetup};
pub(super) use guide::Guide;
pub(super) use network::Desk;
pub(super) use planes::Facts;
