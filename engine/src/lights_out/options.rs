//! The options of Lights Out.

use super::{Lights, LightsOutSetup, Start};
use crate::options::{Both, Listed, Options, Row};

/// Sizes offered in menus; all of [`Lights::SIZES`] are valid.
const SIDES: [u32; 8] = [3, 4, 5, 6, 7, 8, 10, 15];

impl Options for LightsOutSetup {
    /// A board that was set up by hand has its own size and needs no seed; the board of a race is drawn by both devices.
    fn rows(&self) -> Vec<Row<Self>> {
        let longest = if self.race { Self::RACE_SIDE } else { *Lights::SIZES.end() };
        let sides = u32::from(*Lights::SIZES.start())..=u32::from(longest);
        let mut rows = Vec::new();
        if matches!(self.start, Start::Random { .. }) {
            rows.push(Row::number(
                "columns",
                Both::new("列数", "Columns"),
                &SIDES,
                sides.clone(),
                |side| Both::same(side.to_string()),
                |setup: &Self| random(setup).map_or(0, |(columns, _, _)| columns.into()),
                |setup, side| {
                    if let Start::Random { columns, .. } = &mut setup.start {
                        *columns = side as u16;
                    }
                },
            ));
            rows.push(Row::number(
                "rows",
                Both::new("行数", "Rows"),
                &SIDES,
                sides,
                |side| Both::same(side.to_string()),
                |setup: &Self| random(setup).map_or(0, |(_, rows, _)| rows.into()),
                |setup, side| {
                    if let Start::Random { rows, .. } = &mut setup.start {
                        *rows = side as u16;
                    }
                },
            ));
        }
        if matches!(self.start, Start::Random { .. }) && !self.race {
            rows.push(Row::number(
                Self::SEED,
                Both::new("题号", "Board number"),
                &[],
                0..=u32::MAX,
                |seed| Both::same(seed.to_string()),
                |setup: &Self| random(setup).map_or(0, |(_, _, seed)| seed as u32),
                |setup, number| {
                    if let Start::Random { seed, .. } = &mut setup.start {
                        *seed = number.into();
                    }
                },
            ));
        }
        let neighbour =
            |word, chinese, english, is, set| Listed { word, name: Both::new(chinese, english), is, set };
        rows.push(Row::listed(
            "neighbours",
            Both::new("一按改变", "A press changes"),
            vec![
                neighbour(
                    "four",
                    "自己和上下左右",
                    "Itself and four around",
                    |setup: &Self| !setup.neighbours.diagonals,
                    |setup: &mut Self| setup.neighbours.diagonals = false,
                ),
                neighbour(
                    "eight",
                    "自己和周围八盏",
                    "Itself and eight around",
                    |setup: &Self| setup.neighbours.diagonals,
                    |setup: &mut Self| setup.neighbours.diagonals = true,
                ),
            ],
        ));
        rows.push(Row::listed(
            "torus",
            Both::new("边缘相连", "Joined edges"),
            vec![
                neighbour(
                    "yes",
                    "是",
                    "Yes",
                    |setup: &Self| setup.neighbours.torus,
                    |setup: &mut Self| {
                        setup.neighbours.torus = true;
                    },
                ),
                neighbour(
                    "no",
                    "否",
                    "No",
                    |setup: &Self| !setup.neighbours.torus,
                    |setup: &mut Self| setup.neighbours.torus = false,
                ),
            ],
        ));
        rows
    }
}

impl LightsOutSetup {
    /// The option that selects a random board. A match without it gets a new random board.
    pub const SEED: &'static str = "seed";
}

fn random(setup: &LightsOutSetup) -> Option<(u16, u16, u64)> {
    match setup.start {
        Start::Random { columns, rows, seed } => Some((columns, rows, seed)),
        Start::Board(_) => None,
    }
}
