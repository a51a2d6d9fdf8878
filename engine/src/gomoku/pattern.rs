//! Pattern lookup: what a line becomes when a stone is placed on one of its empty points, precomputed for every
//! neighbourhood.
//!
//! A neighbourhood is the [`LineTable::radius`] cells on either side of the point along one direction, two bits per cell.
//! For each of the 4^8 (or 4^10) neighbourhoods the table has the [`Pattern`] for Black and for White in one byte, so that a
//! stone costs one lookup for every empty point near it on its four lines.

/// Classes of lines after a stone on the point, in ascending order of strength; a line has the strongest class that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Pattern {
    /// Cannot become five.
    Nothing,
    /// One stone that cannot become an open two.
    ClosedOne,
    /// One stone, open on both sides.
    OpenOne,
    /// Closed two: can become a closed three.
    ClosedTwo,
    /// Open two: one stone makes an open three.
    OpenTwo,
    /// Open two, for which three or more points make an open three.
    WideTwo,
    /// Closed three (眠三): one stone makes a four.
    ClosedThree,
    /// Open three (活三) for which only one point makes an open four.
    TightThree,
    /// Open three (活三) for which two or more points make an open four.
    OpenThree,
    /// Four (冲四): one point makes five.
    Four,
    /// Two fours in one line, such as `X.XXX.X`: two points make five. Forbidden for Black in renju, otherwise equivalent to
    /// an open four.
    DoubleFour,
    /// Open four (活四): both ends make five.
    StraightFour,
    /// Five (连五).
    Five,
}

impl Pattern {
    /// Number of patterns.
    pub(super) const COUNT: usize = 13;

    /// All patterns in ascending order; the index is the pattern's code.
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Nothing,
        Self::ClosedOne,
        Self::OpenOne,
        Self::ClosedTwo,
        Self::OpenTwo,
        Self::WideTwo,
        Self::ClosedThree,
        Self::TightThree,
        Self::OpenThree,
        Self::Four,
        Self::DoubleFour,
        Self::StraightFour,
        Self::Five,
    ];
}

/// Which runs of stones win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Five or more.
    FiveOrMore,
    /// Exactly five.
    ExactlyFive,
}

/// Codes of cells in a line, two bits each.
pub(super) const EMPTY: u64 = 0;
/// A cell beyond the edge of the board.
pub(super) const WALL: u64 = 3;

/// The patterns of both sides for every neighbourhood of a point.
pub(super) struct LineTable {
    /// Cells on either side. Four suffice if longer runs win too; to detect that a five would be a six needs five.
    pub(super) radius: u32,
    /// Black's pattern in the low four bits, White's in the high four.
    patterns: Vec<u8>,
}

impl LineTable {
    /// The table for these winning runs of Black and of White.
    pub(super) fn new(runs: [Run; 2]) -> Self {
        let radius = if runs.contains(&Run::ExactlyFive) { 5 } else { 4 };
        let surroundings = 1_u32 << (4 * radius);
        let mut classifiers =
            runs.map(|run| Classifier { run, radius, known: vec![None; surroundings as usize] });
        let patterns = (0..surroundings)
            .map(|surrounding| {
                // For Black, 1 is own, 2 and 3 are obstacles. For White, 2 is own, 1 and 3 are obstacles.
                let high = surrounding >> 1 & 0x5555_5555;
                let low = surrounding & 0x5555_5555;
                let black = classifiers[0].pattern(high << 1 | (low & !high));
                let white = classifiers[1].pattern(low << 1 | (high & !low));
                black as u8 | (white as u8) << 4
            })
            .collect();
        Self { radius, patterns }
    }

    /// The patterns of both sides for the cell at this place of a line.
    #[inline]
    pub(super) fn at(&self, line: u64, place: u32) -> u8 {
        let side_bits = 2 * self.radius;
        let window = line >> (2 * (place - self.radius));
        let before = window & ((1 << side_bits) - 1);
        let after = window >> (side_bits + 2) & ((1 << side_bits) - 1);
        self.patterns[(before | after << side_bits) as usize]
    }
}

/// Classifies neighbourhoods for one side. Cells are empty (0), own (1) or obstacles (2).
struct Classifier {
    run: Run,
    radius: u32,
    known: Vec<Option<Pattern>>,
}

impl Classifier {
    /// The pattern after an own stone in the centre of this neighbourhood.
    fn pattern(&mut self, surrounding: u32) -> Pattern {
        if let Some(pattern) = self.known[surrounding as usize] {
            return pattern;
        }
        let pattern = self.work_out(surrounding);
        self.known[surrounding as usize] = Some(pattern);
        pattern
    }

    fn work_out(&mut self, surrounding: u32) -> Pattern {
        if self.is_five(surrounding) {
            return Pattern::Five;
        }
        let empty: Vec<u32> =
            (0..2 * self.radius).filter(|&n| surrounding >> (2 * n) & 3 == EMPTY as u32).collect();
        let fives: Vec<u32> = empty
            .iter()
            .copied()
            .filter(|&n| self.is_five(surrounding | 1 << (2 * n)))
            .map(|n| self.cell(n))
            .collect();
        match fives[..] {
            [] => {}
            [_] => return Pattern::Four,
            _ => {
                let straight = fives.windows(2).any(|pair| {
                    pair[1] - pair[0] == 5
                        && (pair[0] + 1..pair[1]).all(|cell| self.is_own(surrounding, cell))
                });
                return if straight { Pattern::StraightFour } else { Pattern::DoubleFour };
            }
        }
        let next: Vec<Pattern> = empty.iter().map(|&n| self.pattern(surrounding | 1 << (2 * n))).collect();
        let best = next.iter().copied().max().unwrap_or(Pattern::Nothing);
        let ways = |from: Pattern, to: Pattern| next.iter().filter(|&&p| p >= from && p <= to).count();
        match best {
            Pattern::StraightFour | Pattern::DoubleFour => {
                if ways(Pattern::DoubleFour, Pattern::StraightFour) >= 2 {
                    Pattern::OpenThree
                } else {
                    Pattern::TightThree
                }
            }
            Pattern::Four => Pattern::ClosedThree,
            Pattern::OpenThree | Pattern::TightThree => {
                if ways(Pattern::TightThree, Pattern::OpenThree) >= 3 {
                    Pattern::WideTwo
                } else {
                    Pattern::OpenTwo
                }
            }
            Pattern::ClosedThree => Pattern::ClosedTwo,
            Pattern::WideTwo | Pattern::OpenTwo => Pattern::OpenOne,
            Pattern::ClosedTwo => Pattern::ClosedOne,
            Pattern::OpenOne | Pattern::ClosedOne | Pattern::Nothing | Pattern::Five => Pattern::Nothing,
        }
    }

    /// Index in the whole window of the n-th cell of a neighbourhood, which leaves out the centre.
    fn cell(&self, n: u32) -> u32 {
        if n < self.radius { n } else { n + 1 }
    }

    /// Whether this cell of the window is own.
    fn is_own(&self, surrounding: u32, cell: u32) -> bool {
        match cell.cmp(&self.radius) {
            std::cmp::Ordering::Less => surrounding >> (2 * cell) & 3 == 1,
            std::cmp::Ordering::Equal => true,
            std::cmp::Ordering::Greater => surrounding >> (2 * (cell - 1)) & 3 == 1,
        }
    }

    /// Whether the run through the centre wins.
    fn is_five(&self, surrounding: u32) -> bool {
        let before = (0..self.radius).rev().take_while(|&cell| self.is_own(surrounding, cell)).count();
        let after =
            (self.radius + 1..=2 * self.radius).take_while(|&cell| self.is_own(surrounding, cell)).count();
        let run = before + 1 + after;
        match self.run {
            Run::FiveOrMore => run >= 5,
            Run::ExactlyFive => run == 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The patterns for X at `*` in a line such as `.XX*..`; cells that are not written are walls.
    fn pattern(runs: [Run; 2], text: &str) -> (u8, u8) {
        let table = LineTable::new(runs);
        let mut line = u64::MAX;
        let mut middle = 0;
        for (place, c) in (6..).zip(text.chars()) {
            let cell = match c {
                '.' => EMPTY,
                'X' => 1,
                'O' => 2,
                '#' => WALL,
                _ => {
                    middle = place;
                    EMPTY
                }
            };
            line = line & !(3 << (2 * place)) | cell << (2 * place);
        }
        let both = table.at(line, middle);
        (both & 15, both >> 4)
    }

    fn check(runs: [Run; 2], cases: &[(&str, Pattern)]) {
        for &(text, expected) in cases {
            assert_eq!(Pattern::ALL[usize::from(pattern(runs, text).0)], expected, "{text}");
            let swapped: String = text
                .chars()
                .map(|c| match c {
                    'X' => 'O',
                    'O' => 'X',
                    c => c,
                })
                .collect();
            assert_eq!(Pattern::ALL[usize::from(pattern(runs, &swapped).1)], expected, "White: {swapped}");
            let mirrored: String = text.chars().rev().collect();
            assert_eq!(
                Pattern::ALL[usize::from(pattern(runs, &mirrored).0)],
                expected,
                "mirrored: {mirrored}"
            );
        }
    }

    #[test]
    fn lines_have_the_names_that_players_give_them() {
        check(
            [Run::FiveOrMore; 2],
            &[
                ("XX*XX", Pattern::Five),
                ("XXX*XX", Pattern::Five),
                (".XX*X.", Pattern::StraightFour),
                ("OXX*X.", Pattern::Four),
                ("OXX*XO", Pattern::Nothing),
                ("X.X*X.X", Pattern::DoubleFour),
                (".XX*..", Pattern::TightThree),
                ("..XX*..", Pattern::OpenThree),
                (".X.X*.", Pattern::TightThree),
                ("O.XX*.O", Pattern::ClosedThree),
                ("OXX*..", Pattern::ClosedThree),
                ("X..X*", Pattern::ClosedThree),
                ("...X*...", Pattern::WideTwo),
                ("OX*...", Pattern::ClosedTwo),
                ("....*....", Pattern::OpenOne),
                ("O*....", Pattern::ClosedOne),
                ("O.*..O", Pattern::Nothing),
            ],
        );
    }

    #[test]
    fn six_in_a_row_are_nothing_where_exactly_five_win() {
        check(
            [Run::ExactlyFive; 2],
            &[
                ("XX*XX", Pattern::Five),
                ("XXX*XX", Pattern::Nothing),
                (".XX*X.", Pattern::StraightFour),
                ("X.XX*X.", Pattern::Four),
                ("X.XX*X.X", Pattern::Nothing),
                ("O.XX*.X", Pattern::Four),
            ],
        );
    }
}
