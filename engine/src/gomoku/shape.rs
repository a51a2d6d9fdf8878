//! Evaluation of an empty point for a side, from its patterns in the four directions.

use super::pattern::Pattern;
use crate::Language;

/// The strongest threat that a stone on the point makes, in ascending order. Search and forced wins depend on these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Threat {
    /// Neither three nor four.
    None,
    /// Open three (活三): threatens an open four.
    Three,
    /// An open three with support by a second line.
    ThreeAndMore,
    /// Double three (双三).
    DoubleThree,
    /// Four (冲四): one reply.
    Four,
    /// A four with support by a second line.
    FourAndMore,
    /// Four and three (四三).
    FourThree,
    /// Open four or two fours: two points make five.
    TwoFours,
    /// Five (连五).
    Five,
}

impl Threat {
    /// Number of threats.
    pub(super) const COUNT: usize = 9;
}

/// What a stone makes that no single reply stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Double {
    /// An open four (活四): both ends make five.
    OpenFour,
    /// Two fours (双四).
    TwoFours,
    /// A four and an open three (四三).
    FourThree,
    /// Two open threes (双三).
    TwoThrees,
}

impl Double {
    /// Of the lines through a point after the stone on it.
    pub(super) fn of(patterns: [Pattern; 4]) -> Option<Self> {
        match threat(patterns) {
            Threat::TwoFours if patterns.contains(&Pattern::StraightFour) => Some(Self::OpenFour),
            Threat::TwoFours => Some(Self::TwoFours),
            Threat::FourThree => Some(Self::FourThree),
            Threat::DoubleThree => Some(Self::TwoThrees),
            _ => None,
        }
    }

    /// Its name, to follow what makes it: `a four and a three`; 四三.
    pub(crate) fn name(self, language: Language) -> &'static str {
        match self {
            Self::OpenFour => language.pick("活四", "an open four"),
            Self::TwoFours => language.pick("双四", "two fours"),
            Self::FourThree => language.pick("四三", "a four and a three"),
            Self::TwoThrees => language.pick("双三", "two open threes"),
        }
    }
}

/// The evaluation of a point for a side.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Share of the static evaluation, in points.
    pub(super) value: i16,
    /// Rank as an attacking move.
    pub(super) attack: i16,
    /// Rank as a defending move against the other side.
    pub(super) defence: i16,
    /// The threat of a stone here.
    pub(super) threat: Threat,
}

/// Four pattern codes of four bits, one per direction, determine a shape. Their order does not matter: a table by pairs of
/// codes has 68 kB, while one by all four would have half a megabyte and exceed the processor's cache.
pub(super) struct ShapeTable {
    /// By two codes: the number of the unordered pair.
    pairs: [u8; 256],
    /// By the numbers of both pairs.
    shapes: Vec<Shape>,
}

/// Number of unordered pairs of patterns.
const PAIRS: usize = Pattern::COUNT * (Pattern::COUNT + 1) / 2;

impl ShapeTable {
    /// The table for rules without forbidden points.
    pub(super) fn new() -> Self {
        let mut pairs = [0; 256];
        let mut shapes = vec![shape(0); PAIRS * PAIRS];
        let mut codes = [0_u16; PAIRS];
        let mut count = 0;
        for high in 0..Pattern::COUNT {
            for low in 0..=high {
                pairs[high << 4 | low] = count as u8;
                pairs[low << 4 | high] = count as u8;
                codes[count] = (high << 4 | low) as u16;
                count += 1;
            }
        }
        for (n, shape_of) in shapes.iter_mut().enumerate() {
            *shape_of = shape(codes[n / PAIRS] | codes[n % PAIRS] << 8);
        }
        Self { pairs, shapes }
    }

    /// The shape of these four pattern codes.
    #[inline]
    pub(super) fn at(&self, codes: u16) -> Shape {
        let pair = |codes: u16| usize::from(self.pairs[usize::from(codes as u8)]);
        self.shapes[pair(codes) * PAIRS + pair(codes >> 8)]
    }
}

fn shape(codes: u16) -> Shape {
    let patterns = [0, 4, 8, 12].map(|shift| usize::from(codes >> shift & 15));
    let threat = threat(patterns.map(|code| Pattern::ALL[code]));
    let sum = |weights: &[i16; Pattern::COUNT]| patterns.iter().map(|&code| weights[code]).sum::<i16>();
    Shape {
        value: sum(&VALUE) + VALUE_OF_THREAT[threat as usize],
        attack: sum(&ATTACK) + ATTACK_BY_THREAT[threat as usize],
        defence: sum(&DEFENCE) + DEFENCE_BY_THREAT[threat as usize],
        threat,
    }
}

fn threat(patterns: [Pattern; 4]) -> Threat {
    let count = |from: Pattern, to: Pattern| patterns.iter().filter(|&&p| p >= from && p <= to).count();
    let fours = count(Pattern::Four, Pattern::Four);
    let threes = count(Pattern::TightThree, Pattern::OpenThree);
    let support = count(Pattern::OpenTwo, Pattern::ClosedThree);
    if count(Pattern::Five, Pattern::Five) > 0 {
        Threat::Five
    } else if count(Pattern::DoubleFour, Pattern::StraightFour) > 0 || fours >= 2 {
        Threat::TwoFours
    } else {
        match (fours, threes, support) {
            (1, 1.., _) => Threat::FourThree,
            (1, 0, 1..) => Threat::FourAndMore,
            (1, 0, 0) => Threat::Four,
            (_, 2.., _) => Threat::DoubleThree,
            (_, 1, 1..) => Threat::ThreeAndMore,
            (_, 1, _) => Threat::Three,
            _ => Threat::None,
        }
    }
}

// In the order Nothing, ClosedOne, OpenOne, ClosedTwo, OpenTwo, WideTwo, ClosedThree, TightThree, OpenThree, Four,
// DoubleFour, StraightFour, Five.
pub(super) const VALUE: [i16; Pattern::COUNT] = [0, 0, -2, 1, 5, 3, 12, 17, 26, 63, 98, 130, 0];
const ATTACK: [i16; Pattern::COUNT] = [0, 1, 3, 6, 16, 20, 22, 55, 70, 60, 400, 400, 2000];
const DEFENCE: [i16; Pattern::COUNT] = [0, 1, 2, 4, 11, 14, 14, 40, 50, 40, 250, 250, 1000];

// In the order None, Three, ThreeAndMore, DoubleThree, Four, FourAndMore, FourThree, TwoFours, Five.
pub(super) const VALUE_OF_THREAT: [i16; Threat::COUNT] = [0, -5, 35, 3, -28, 72, 91, 69, 0];
const ATTACK_BY_THREAT: [i16; Threat::COUNT] = [0, 0, 10, 150, 0, 20, 300, 400, 2000];
const DEFENCE_BY_THREAT: [i16; Threat::COUNT] = [0, 0, 5, 80, 0, 10, 150, 250, 1000];
