//! The network's weights and their file.

use std::sync::LazyLock;

use super::{BUCKETS, CHANNELS, ROWS, Row};
#[cfg(test)]
use crate::Rng;

/// A network.
pub(in crate::xiangqi) struct Weights {
    pub(super) rows: Vec<Row>,
    pub(super) bias: Row,
    /// Output weights for the perspective of the side to move, and for the other.
    pub(super) out: [[Row; 2]; BUCKETS],
    pub(super) out_bias: [i32; BUCKETS],
}

/// Magic bytes of the file.
const MAGIC: &[u8; 8] = b"QYXQNET2";

impl Weights {
    /// The built-in network.
    pub(in crate::xiangqi) fn shared() -> &'static Self {
        static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
            Weights::read(include_bytes!("xiangqi.bin")).expect("the file has this shape; see the tests")
        });
        &WEIGHTS
    }

    /// A random network, for tests.
    #[cfg(test)]
    pub(super) fn drawn(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut small = || rng.below(121) as i16 - 60;
        let mut row = || -> Row { std::array::from_fn(|_| small()) };
        Self {
            rows: (0..ROWS).map(|_| row()).collect(),
            bias: row(),
            out: std::array::from_fn(|_| [row(), row()]),
            out_bias: [7; BUCKETS],
        }
    }

    /// Parses a file; `None` if it is invalid or has another shape.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        if rest.len() != 2 * CHANNELS * (ROWS + 1 + 2 * BUCKETS) + 4 * BUCKETS {
            return None;
        }
        let (halves, wholes) = rest.split_at(rest.len() - 4 * BUCKETS);
        let mut halves = halves.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
        let mut row = || -> Row { std::array::from_fn(|_| halves.next().unwrap_or_default()) };
        let mut wholes =
            wholes.chunks_exact(4).map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        Some(Self {
            rows: (0..ROWS).map(|_| row()).collect(),
            bias: row(),
            out: std::array::from_fn(|_| [row(), row()]),
            out_bias: std::array::from_fn(|_| wholes.next().unwrap_or_default()),
        })
    }

    /// The content of the file.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let rows = self.rows.iter().chain([&self.bias]).chain(self.out.iter().flatten());
        bytes.extend(rows.flatten().flat_map(|number| number.to_le_bytes()));
        bytes.extend(self.out_bias.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again_and_nothing_else_is() {
        let bytes = Weights::drawn(3).write();
        let again = Weights::read(&bytes).expect("it was written");
        assert_eq!(again.write(), bytes);
        assert!(Weights::read(&bytes[1..]).is_none());
        assert!(Weights::read(&bytes[..bytes.len() - 1]).is_none());
        assert!(Weights::read(&[]).is_none());
    }

    #[test]
    fn the_game_comes_with_a_network() {
        let bytes = include_bytes!("xiangqi.bin");
        assert_eq!(Weights::shared().write(), bytes);
    }
}
