//! The 26 named openings of renju.
//!
//! Source: renju.net, "Openings"; the names are traditional, in Chinese and in romanised Japanese. The first stone is in the
//! centre, the second adjacent to it, the third within two of the centre. Openings that are equal by symmetry are the same.

use crate::{Language, Point};

/// One of the 26 openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opening(u8);

/// Name in Chinese and in romanised Japanese, and the third stone relative to the first: columns to the right, rows upwards.
type Line = (&'static str, &'static str, i32, i32);

/// Direct openings: the second stone is above the first.
const DIRECT: [Line; 13] = [
    ("寒星", "Kansei", 0, 2),
    ("溪月", "Keigetsu", 1, 2),
    ("疏星", "Sosei", 2, 2),
    ("花月", "Kagetsu", 1, 1),
    ("残月", "Zangetsu", 2, 1),
    ("雨月", "Ugetsu", 1, 0),
    ("金星", "Kinsei", 2, 0),
    ("松月", "Shogetsu", 0, -1),
    ("丘月", "Kyugetsu", 1, -1),
    ("新月", "Shingetsu", 2, -1),
    ("瑞星", "Zuisei", 0, -2),
    ("山月", "Sangetsu", 1, -2),
    ("游星", "Yusei", 2, -2),
];

/// Indirect openings: the second stone is diagonally above and to the right of the first.
const INDIRECT: [Line; 13] = [
    ("长星", "Chosei", 2, 2),
    ("峡月", "Kyogetsu", 2, 1),
    ("恒星", "Kosei", 2, 0),
    ("水月", "Suigetsu", 2, -1),
    ("流星", "Ryusei", 2, -2),
    ("云月", "Ungetsu", 1, 0),
    ("浦月", "Hogetsu", 1, -1),
    ("岚月", "Rangetsu", 1, -2),
    ("银月", "Gingetsu", 0, -1),
    ("明星", "Myojo", 0, -2),
    ("斜月", "Shagetsu", -1, -1),
    ("名月", "Meigetsu", -1, -2),
    ("彗星", "Suisei", -2, -2),
];

impl Opening {
    /// All openings: the direct ones from 1 to 13, then the indirect ones.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..26).map(Self)
    }

    /// The opening of three stones on a board of this size, columns and rows from 0; `None` if it has no name.
    pub(super) fn of(size: u8, stones: [(u8, u8); 3]) -> Option<Self> {
        if size.is_multiple_of(2) || stones[0] != (size / 2, size / 2) {
            return None;
        }
        for way in 0..8 {
            // Columns and rows relative to the centre.
            let [_, second, third] = stones.map(|(column, row)| {
                let at = Point::new(column.into(), row.into()).turned(way, [size.into(); 2]);
                let middle = i32::from(size / 2);
                (i32::from(at.column) - middle, i32::from(at.row) - middle)
            });
            let table = match second {
                (0, 1) => 0,
                (1, 1) => 1,
                _ => continue,
            };
            let found = [&DIRECT, &INDIRECT][table].iter().position(|&(_, _, x, y)| (x, y) == third);
            if let Some(n) = found {
                return Some(Self(n as u8 + 13 * table as u8));
            }
        }
        None
    }

    fn line(self) -> Line {
        let n = usize::from(self.0);
        if n < 13 { DIRECT[n] } else { INDIRECT[n - 13] }
    }

    /// The traditional name: 花月, Kagetsu.
    pub fn name(self, language: Language) -> &'static str {
        let (chinese, english, ..) = self.line();
        language.pick(chinese, english)
    }

    /// The opening with this number, from [`Self::number`].
    pub const fn from_number(number: u8) -> Option<Self> {
        if number < 26 { Some(Self(number)) } else { None }
    }

    /// 0 to 25, in the order of [`Self::all`].
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The second and third stone relative to the first, columns to the right and rows upwards, in the canonical
    /// orientation.
    pub fn stones(self) -> [(i32, i32); 2] {
        let (.., x, y) = self.line();
        [if self.0 < 13 { (0, 1) } else { (1, 1) }, (x, y)]
    }
}
