//! The 26 openings of renju by name.
//!
//! Source: renju.net, "Openings"; the names are the stars and moons of the Japanese tradition, in Chinese and in romanised
//! Japanese. The first stone stands in the middle, the second beside it, the third within two of the middle. What is the same
//! when the board is turned or mirrored is the same opening.

use crate::{Language, Point};

/// One of the 26 openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opening(u8);

/// Name in Chinese, in romanised Japanese, and where the third stone stands: columns to the right and rows up from the first.
type Line = (&'static str, &'static str, i32, i32);

/// The second stone stands above the first.
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

/// The second stone stands to the right above the first.
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
    /// Every opening: the direct ones from 1 to 13, then the indirect ones.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..26).map(Self)
    }

    /// The opening of three stones on a board of this size, columns and rows from 0; `None`: it has no name.
    pub(super) fn of(size: u8, stones: [(u8, u8); 3]) -> Option<Self> {
        if size.is_multiple_of(2) || stones[0] != (size / 2, size / 2) {
            return None;
        }
        for way in 0..8 {
            // Columns and rows from the middle.
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

    /// What players call it: 花月, Kagetsu.
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

    /// Columns to the right and rows up from the middle of the second and of the third stone, in the pattern's own turn.
    pub fn stones(self) -> [(i32, i32); 2] {
        let (.., x, y) = self.line();
        [if self.0 < 13 { (0, 1) } else { (1, 1) }, (x, y)]
    }
}
