//! The network's weights and their file.

use std::sync::{Arc, OnceLock};

use super::{CHANNELS, HIDDEN, INPUTS, RADIUS, Row, SURROUNDINGS};
use crate::GomokuRule;
#[cfg(test)]
use crate::Rng;

/// A network.
pub(in crate::gomoku) struct Weights {
    /// For each neighbourhood its row in Black's and in White's perspective.
    places: Arc<Vec<[u16; 2]>>,
    rows: Vec<Row>,
    pub(super) layer: [[f32; HIDDEN]; INPUTS],
    pub(super) bias: [f32; HIDDEN],
    pub(super) out: [f32; HIDDEN],
    pub(super) out_bias: f32,
}

/// Magic bytes of the file.
const MAGIC: &[u8; 8] = b"QYGMNET1";

impl Weights {
    /// The network of a rule, if there is one.
    pub(in crate::gomoku) fn shared(rule: GomokuRule) -> Option<Arc<Self>> {
        static FREESTYLE: OnceLock<Option<Arc<Weights>>> = OnceLock::new();
        let (once, bytes): (_, &[u8]) = match rule {
            GomokuRule::Freestyle => (&FREESTYLE, include_bytes!("freestyle.bin")),
            GomokuRule::Standard | GomokuRule::Renju => return None,
        };
        once.get_or_init(|| Self::read(bytes).map(Arc::new)).clone()
    }

    /// The rows of a neighbourhood in both perspectives.
    #[inline]
    pub(super) fn rows(&self, surrounding: usize) -> [&Row; 2] {
        self.places[surrounding].map(|place| &self.rows[usize::from(place)])
    }

    /// A random network, for tests.
    #[cfg(test)]
    pub(super) fn drawn(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (places, count) = places();
        let mut small = |scale: i32| rng.below(2 * scale as u32 + 1) as i32 - scale;
        let rows = (0..count).map(|_| std::array::from_fn(|_| small(60) as i16)).collect();
        let mut float = || small(1000) as f32 / 1000.0;
        Self {
            places,
            rows,
            layer: std::array::from_fn(|_| std::array::from_fn(|_| float())),
            bias: std::array::from_fn(|_| float()),
            out: std::array::from_fn(|_| float()),
            out_bias: float(),
        }
    }

    pub(super) fn from_parts(
        rows: Vec<Row>,
        layer: &[[f32; HIDDEN]; INPUTS],
        bias: [f32; HIDDEN],
        out: [f32; HIDDEN],
        out_bias: f32,
    ) -> Self {
        Self { places: places().0, rows, layer: *layer, bias, out, out_bias }
    }

    /// Parses a file; `None` if it is invalid or has another shape.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (places, count) = places();
        let rest = bytes.strip_prefix(MAGIC)?;
        let floats = INPUTS * HIDDEN + 2 * HIDDEN + 1;
        if rest.len() != count * CHANNELS * 2 + floats * 4 {
            return None;
        }
        let (rows, floats) = rest.split_at(count * CHANNELS * 2);
        let mut halves = rows.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
        let rows = (0..count).map(|_| std::array::from_fn(|_| halves.next().unwrap_or_default())).collect();
        let mut floats =
            floats.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let mut float = || floats.next().unwrap_or_default();
        Some(Self {
            places,
            rows,
            layer: std::array::from_fn(|_| std::array::from_fn(|_| float())),
            bias: std::array::from_fn(|_| float()),
            out: std::array::from_fn(|_| float()),
            out_bias: float(),
        })
    }

    /// The content of the file.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.rows.iter().flatten().flat_map(|number| number.to_le_bytes()));
        let floats = self.layer.iter().flatten().chain(&self.bias).chain(&self.out).chain([&self.out_bias]);
        bytes.extend(floats.flat_map(|number| number.to_le_bytes()));
        bytes
    }
}

/// The row of each neighbourhood, in both perspectives, and the number of rows. Mirror images share a row.
pub(super) fn places() -> (Arc<Vec<[u16; 2]>>, usize) {
    static PLACES: OnceLock<(Arc<Vec<[u16; 2]>>, usize)> = OnceLock::new();
    PLACES.get_or_init(work_out).clone()
}

fn work_out() -> (Arc<Vec<[u16; 2]>>, usize) {
    let cells = 2 * RADIUS;
    let map = |surrounding: usize, cell: fn(usize) -> usize, mirror: bool| -> usize {
        (0..cells)
            .map(|n| {
                let to = if mirror { cells - 1 - n } else { n };
                cell(surrounding >> (2 * n) & 3) << (2 * to)
            })
            .fold(0, |all, cell| all | cell)
    };
    let same = |cell| cell;
    let swapped = |cell| match cell {
        1 => 2,
        2 => 1,
        cell => cell,
    };
    // Cells beyond a wall are walls, whatever their bits are.
    let plain = |surrounding: usize| -> usize {
        let mut cells: Vec<usize> = (0..cells).map(|n| surrounding >> (2 * n) & 3).collect();
        let half = RADIUS as usize;
        if let Some(wall) = (0..half).rev().find(|&n| cells[n] == 3) {
            cells[..wall].fill(3);
        }
        if let Some(wall) = (half..2 * half).find(|&n| cells[n] == 3) {
            cells[wall..].fill(3);
        }
        cells.iter().enumerate().fold(0, |all, (n, cell)| all | cell << (2 * n))
    };
    let mut numbers = vec![u16::MAX; SURROUNDINGS];
    let mut count = 0;
    let mut number = |surrounding: usize| {
        let plain = plain(surrounding);
        let key = plain.min(map(plain, same, true));
        if numbers[key] == u16::MAX {
            numbers[key] = count;
            count += 1;
        }
        numbers[key]
    };
    let places = (0..SURROUNDINGS)
        .map(|surrounding| [number(surrounding), number(map(surrounding, swapped, false))])
        .collect();
    (Arc::new(places), usize::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again_and_nothing_else_is() {
        let weights = Weights::drawn(3);
        let bytes = weights.write();
        let again = Weights::read(&bytes).expect("it was written");
        assert_eq!(again.write(), bytes);
        assert!(Weights::read(&bytes[1..]).is_none());
        assert!(Weights::read(&bytes[..bytes.len() - 1]).is_none());
        assert!(Weights::read(&[]).is_none());
    }

    #[test]
    fn freestyle_has_a_network() {
        let weights = Weights::shared(GomokuRule::Freestyle).expect("the file is one of this shape");
        assert!(weights.rows.iter().flatten().any(|&number| number != 0));
    }

    #[test]
    fn mirrored_surroundings_share_rows_and_colours_exchange_views() {
        let (places, count) = places();
        assert_eq!(count, 121 * 122 / 2);
        let [black, white] = places[0b01_00_10_00_00_00_01_00];
        assert_eq!([white, black], places[0b10_00_01_00_00_00_10_00]);
        assert_eq!([black, white], places[0b00_01_00_00_00_10_00_01]);
    }
}
