//! What an empty point is worth to a side, from its patterns in the four directions.

use super::pattern::Pattern;

/// The best that a stone on the point does, in rising order. Threats decide gomoku: search and forced wins go by these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Threat {
    /// No three and no four.
    None,
    /// 活三: threatens a straight four.
    Three,
    /// A three and a second line that supports it.
    ThreeAndMore,
    /// 双三.
    DoubleThree,
    /// 冲四: one answer only.
    Four,
    /// A four and a second line that supports it.
    FourAndMore,
    /// 四三: a four and a three at once.
    FourThree,
    /// Two points make five next: a straight four, or two fours.
    TwoFours,
    /// 连五.
    Five,
}

impl Threat {
    /// How many kinds of threat there are.
    pub(super) const COUNT: usize = 9;
}

/// Everything the bot asks of a point and a side.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Share in the evaluation, in the bot's points.
    pub(super) value: i16,
    /// Rank of the move for the side that would play it.
    pub(super) attack: i16,
    /// Rank of the move for the side that would keep the other from it.
    pub(super) defence: i16,
    /// What a stone threatens here.
    pub(super) threat: Threat,
}

/// Four pattern codes of four bits, one a direction, name a shape. Which direction has which does not matter: a table by pairs
/// of codes has 68 kB, where one by all four would have half a megabyte and not stay in the processor's cache.
pub(super) struct ShapeTable {
    /// By two codes, a number of the pair that is the same in either order.
    pairs: [u8; 256],
    /// By the numbers of both pairs.
    shapes: Vec<Shape>,
}

/// Pairs of patterns in either order.
const PAIRS: usize = Pattern::COUNT * (Pattern::COUNT + 1) / 2;

impl ShapeTable {
    /// The table for the rules in which double fours and overlines are no faults.
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

// Order of the numbers: Nothing, ClosedOne, OpenOne, ClosedTwo, OpenTwo, WideTwo, ClosedThree, TightThree, OpenThree, Four,
// DoubleFour, StraightFour, Five.
pub(super) const VALUE: [i16; Pattern::COUNT] = [0, 0, -2, 1, 5, 3, 12, 17, 26, 63, 98, 130, 0];
const ATTACK: [i16; Pattern::COUNT] = [0, 1, 3, 6, 16, 20, 22, 55, 70, 60, 400, 400, 2000];
const DEFENCE: [i16; Pattern::COUNT] = [0, 1, 2, 4, 11, 14, 14, 40, 50, 40, 250, 250, 1000];

// Order: None, Three, ThreeAndMore, DoubleThree, Four, FourAndMore, FourThree, TwoFours, Five.
pub(super) const VALUE_OF_THREAT: [i16; Threat::COUNT] = [0, -5, 35, 3, -28, 72, 91, 69, 0];
const ATTACK_BY_THREAT: [i16; Threat::COUNT] = [0, 0, 10, 150, 0, 20, 300, 400, 2000];
const DEFENCE_BY_THREAT: [i16; Threat::COUNT] = [0, 0, 5, 80, 0, 10, 150, 250, 1000];
