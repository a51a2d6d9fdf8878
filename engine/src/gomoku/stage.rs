//! Opening rules: where the first stones go, who places them, and when the players choose colours.
//!
//! | opening | stones 1, 2, 3, … | decisions |
//! |---|---|---|
//! | Pro | centre, anywhere, outside the central 5 x 5 | none |
//! | Long Pro | centre, anywhere, outside the central 7 x 7 | none |
//! | Swap | three by the first player | the second chooses a colour |
//! | Swap2 | three by the first player | the second chooses a colour, or places two more, after which the first chooses |
//! | Taraguchi-10 | centre, 3 x 3, 5 x 5, 7 x 7, 9 x 9 | after each of these stones the other player chooses a colour; in place of the choice after the fourth stone Black may offer ten fifth moves |
//! | Soosõrv-8 | centre, 3 x 3, 5 x 5 by the first player, then anywhere | after three stones the second chooses a colour; White places the fourth stone and says how many fifth moves there will be, 1 to 8; then the other chooses a colour |
//! | Yamaguchi | centre, 3 x 3, 5 x 5 by the first player, then anywhere | the first player says how many fifth moves there will be; the second chooses a colour; White places the fourth stone |
//!
//! Where fifth moves are offered, Black puts as many on the board as were said, no two the same by symmetry; White chooses
//! one of them, which becomes Black's stone, and plays the sixth. A right to swap is a choice of colours here: who keeps
//! the colour chooses it.
//!
//! Sources: Pro, Long Pro, Swap and Swap2: gomokuworld.com, "Opening rules"; gomocup.org. Yamaguchi: Renju International
//! Federation, `renju.net/media/showrule.php?rule=5`. Soosõrv-N and Taraguchi-N as the federation has certified them:
//! en.wikipedia.org, "Soosõrv opening rule", "Taraguchi opening rule". That fifth moves may not be symmetrical in any respect
//! is said of all three. The text of Yamaguchi has no greatest number of fifth moves; here it is [`Choice::MOST_FIFTHS`].

use super::GomokuOpening;
use crate::{Choice, IllegalAction, Language, Side};

/// Stage of the opening. Stones alternate in colour throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stage {
    opening: GomokuOpening,
    step: Step,
    /// Whether the first player has White.
    swapped: bool,
    /// Number of fifth moves to offer; 0 while nobody has said it.
    fifths: u8,
}

/// The pending decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// The stone with this number, from 1.
    Stone(u8),
    /// A choice of colours after so many stones.
    Colours(u8),
    /// How many fifth moves Black will offer, after so many stones.
    Fifths(u8),
    /// Black offers fifth moves.
    Offer,
    /// White chooses one of the fifth moves.
    Pick,
    /// The colours are settled, and each stone goes anywhere.
    Settled,
}

/// The points that an opening allows for a stone, by the number of lines to the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    Anywhere,
    Within(u8),
    Beyond(u8),
}

impl Area {
    /// Whether a point this far from the centre is outside the area, and what players are told then.
    pub(super) const fn refuses(self, distance: u8) -> Option<IllegalAction> {
        match self {
            Self::Within(0) if distance > 0 => Some(IllegalAction::NotCentre),
            Self::Within(most) if distance > most => Some(IllegalAction::OutsideCentre(2 * most + 1)),
            Self::Beyond(least) if distance <= least => Some(IllegalAction::InsideCentre(2 * least + 1)),
            _ => None,
        }
    }

    fn words(self, language: Language) -> String {
        let side = |lines: u8| 2 * lines + 1;
        match (self, language) {
            (Self::Anywhere, _) => String::new(),
            (Self::Within(0), Language::Chinese) => "，须下在天元".into(),
            (Self::Within(0), Language::English) => ", on the centre point".into(),
            (Self::Within(n), Language::Chinese) => format!("，须在中央 {0} × {0} 之内", side(n)),
            (Self::Within(n), Language::English) => format!(", within the central {0} x {0}", side(n)),
            (Self::Beyond(n), Language::Chinese) => format!("，须在中央 {0} × {0} 之外", side(n)),
            (Self::Beyond(n), Language::English) => format!(", outside the central {0} x {0}", side(n)),
        }
    }
}

const COLOURS: &[Choice] = &[Choice::Black, Choice::White];
const COLOURS_OR_MORE: &[Choice] = &[Choice::Black, Choice::White, Choice::TwoMore];
const COLOURS_OR_TEN: &[Choice] = &[Choice::Black, Choice::White, Choice::Fifths(10)];
const FIFTHS: [Choice; Choice::MOST_FIFTHS as usize] = {
    let mut all = [Choice::Fifths(0); Choice::MOST_FIFTHS as usize];
    let mut n = 0;
    while n < all.len() {
        all[n] = Choice::Fifths(n as u8 + 1);
        n += 1;
    }
    all
};

impl Stage {
    pub(super) const fn new(opening: GomokuOpening) -> Self {
        let step = match opening {
            GomokuOpening::Free => Step::Settled,
            _ => Step::Stone(1),
        };
        Self { opening, step, swapped: false, fifths: 0 }
    }

    /// The stage after all decisions.
    pub(super) const fn settled(self) -> Self {
        Self { step: Step::Settled, fifths: 0, ..self }
    }

    pub(super) const fn is_settled(self) -> bool {
        matches!(self.step, Step::Settled)
    }

    pub(super) const fn is_swapped(self) -> bool {
        self.swapped
    }

    pub(super) const fn step(self) -> Step {
        self.step
    }

    /// How many fifth moves are to be offered; 0 while nobody has said it.
    pub(super) const fn fifths(self) -> u8 {
        self.fifths
    }

    /// The player to decide, if the next stone has this colour.
    pub(super) const fn player(self, color: Side) -> Side {
        match self.step {
            Step::Stone(n) if n <= self.laid_out() => Side::First,
            Step::Stone(4 | 5) | Step::Colours(3) if matches!(self.opening, GomokuOpening::Swap2) => {
                Side::Second
            }
            Step::Colours(3) if self.laid_out() > 0 => Side::Second,
            Step::Colours(5) if matches!(self.opening, GomokuOpening::Swap2) => Side::First,
            Step::Fifths(3) => Side::First,
            // White says how many fifth moves there are, and chooses one.
            Step::Fifths(_) | Step::Pick => self.with(color.other()),
            Step::Stone(_) | Step::Colours(_) | Step::Offer | Step::Settled => self.with(color),
        }
    }

    /// The player who has this colour.
    const fn with(self, color: Side) -> Side {
        if self.swapped { color.other() } else { color }
    }

    /// How many stones of both colours the first player places.
    const fn laid_out(self) -> u8 {
        match self.opening {
            GomokuOpening::Swap
            | GomokuOpening::Swap2
            | GomokuOpening::Soosorv8
            | GomokuOpening::Yamaguchi => 3,
            GomokuOpening::Free
            | GomokuOpening::Pro
            | GomokuOpening::LongPro
            | GomokuOpening::Taraguchi10 => 0,
        }
    }

    /// Where the next stone may go.
    pub(super) const fn area(self) -> Area {
        use GomokuOpening::{LongPro, Pro, Soosorv8, Taraguchi10, Yamaguchi};
        match (self.opening, self.step) {
            (Pro | LongPro | Taraguchi10 | Soosorv8 | Yamaguchi, Step::Stone(1)) => Area::Within(0),
            (Pro, Step::Stone(3)) => Area::Beyond(2),
            (LongPro, Step::Stone(3)) => Area::Beyond(3),
            (Taraguchi10 | Soosorv8 | Yamaguchi, Step::Stone(n @ (2 | 3))) => Area::Within(n - 1),
            (Taraguchi10, Step::Stone(n)) if self.fifths == 0 => Area::Within(n - 1),
            _ => Area::Anywhere,
        }
    }

    /// Whether the next stone is a plain move: the player's own, and followed by the other's.
    pub(super) const fn is_plain_move(self) -> bool {
        match self.step {
            Step::Settled => true,
            Step::Stone(n) => {
                n > self.laid_out()
                    && matches!(self.area(), Area::Anywhere)
                    && !matches!(self.opening, GomokuOpening::Swap2)
            }
            Step::Colours(_) | Step::Fifths(_) | Step::Offer | Step::Pick => false,
        }
    }

    /// The possible choices; empty while a point is next.
    pub(super) fn choices(self) -> &'static [Choice] {
        match (self.step, self.opening) {
            (Step::Colours(3), GomokuOpening::Swap2) => COLOURS_OR_MORE,
            (Step::Colours(4), GomokuOpening::Taraguchi10) => COLOURS_OR_TEN,
            (Step::Colours(_), _) => COLOURS,
            (Step::Fifths(_), GomokuOpening::Soosorv8) => &FIFTHS[..8],
            (Step::Fifths(_), _) => &FIFTHS,
            (Step::Stone(_) | Step::Offer | Step::Pick | Step::Settled, _) => &[],
        }
    }

    /// The stage after a stone.
    pub(super) const fn after_stone(self) -> Self {
        use GomokuOpening::{Free, LongPro, Pro, Soosorv8, Swap, Swap2, Taraguchi10, Yamaguchi};
        let step = match (self.step, self.opening) {
            (Step::Stone(3), Pro | LongPro) | (Step::Pick, _) => Step::Settled,
            // The only fifth move.
            (Step::Stone(5), _) if self.fifths > 0 => Step::Settled,
            (Step::Stone(3), Swap | Swap2 | Soosorv8) | (Step::Stone(5), Swap2) => {
                Step::Colours(self.number())
            }
            (Step::Stone(3), Yamaguchi) | (Step::Stone(4), Soosorv8) => Step::Fifths(self.number()),
            (Step::Stone(4), Yamaguchi) => return self.to_fifths(),
            (Step::Stone(n), Taraguchi10) => Step::Colours(n),
            (Step::Stone(n), Free | Pro | LongPro | Swap | Swap2 | Soosorv8 | Yamaguchi) => {
                Step::Stone(n + 1)
            }
            (step @ (Step::Colours(_) | Step::Fifths(_) | Step::Offer | Step::Settled), _) => step,
        };
        if matches!(step, Step::Settled) { self.settled() } else { Self { step, ..self } }
    }

    /// The stage after one of [`Self::choices`], if the next stone has this colour.
    pub(super) fn after_choice(self, choice: Choice, color: Side) -> Self {
        use GomokuOpening::{Soosorv8, Taraguchi10, Yamaguchi};
        // The chooser gets the chosen colour.
        let swapped = match choice {
            Choice::Black => self.player(color) == Side::Second,
            Choice::White => self.player(color) == Side::First,
            Choice::TwoMore => return Self { step: Step::Stone(4), ..self },
            Choice::Fifths(fifths) => {
                let said = Self { fifths, ..self };
                return match self.opening {
                    Taraguchi10 => said.to_fifths(),
                    _ => Self { step: Step::Colours(self.number()), ..said },
                };
            }
        };
        let chosen = Self { swapped, ..self };
        match (self.step, self.opening) {
            (Step::Colours(4), Soosorv8) => chosen.to_fifths(),
            (Step::Colours(n @ 1..=4), Taraguchi10) | (Step::Colours(n @ 3), Soosorv8 | Yamaguchi) => {
                Self { step: Step::Stone(n + 1), ..chosen }
            }
            _ => chosen.settled(),
        }
    }

    /// The stage after the last of the offered fifth moves.
    pub(super) const fn after_offers(self) -> Self {
        Self { step: Step::Pick, ..self }
    }

    /// Fifth moves are next. A single one is placed at once: there is nothing to choose.
    const fn to_fifths(self) -> Self {
        let step = if self.fifths == 1 { Step::Stone(5) } else { Step::Offer };
        Self { step, ..self }
    }

    /// Number of stones that the step is about.
    const fn number(self) -> u8 {
        match self.step {
            Step::Stone(n) | Step::Colours(n) | Step::Fifths(n) => n,
            Step::Offer | Step::Pick => 5,
            Step::Settled => 0,
        }
    }

    /// The pending decision and its consequences, as a sentence for both players; `None` once the colours are settled.
    /// `color`: of the next stone. `offered`: number of fifth moves offered so far.
    pub(super) fn told(self, color: Side, offered: usize, language: Language) -> Option<String> {
        let chinese = language == Language::Chinese;
        let name = self.opening.title(language);
        let next = match (color, language) {
            (Side::First, Language::Chinese) => "黑",
            (Side::Second, Language::Chinese) => "白",
            (Side::First, Language::English) => "Black",
            (Side::Second, Language::English) => "White",
        };
        let fifths = self.fifths;
        let said = match self.step {
            Step::Settled => return None,
            Step::Stone(n) => return Some(self.told_of_stone(n, color, language)),
            Step::Colours(3) if self.opening == GomokuOpening::Swap2 && chinese => {
                "选执黑或执白，下一手由白方走；或者再摆两子，由先摆的一方选。".into()
            }
            Step::Colours(3) if self.opening == GomokuOpening::Swap2 => {
                "choose a colour, White moves next; or put two more stones, and whoever began chooses.".into()
            }
            Step::Colours(4) if self.opening == GomokuOpening::Taraguchi10 && chinese => {
                "选执黑或执白，黑方在中央 9 × 9 之内下第五手，之后再选色；或者执黑摆出十个第五手，由白方选一个。".into()
            }
            Step::Colours(4) if self.opening == GomokuOpening::Taraguchi10 => {
                "choose a colour, Black moves next within the central 9 x 9, and colours are chosen again; or as Black \
                 offer ten fifth moves, of which White chooses one."
                    .into()
            }
            Step::Colours(_) if fifths > 0 && chinese => {
                format!("选执黑或执白，下一手由{next}方走。第五手黑方要摆出 {fifths} 个点。")
            }
            Step::Colours(_) if fifths > 0 => {
                format!("choose a colour. {next} moves next. Fifth moves to be offered by Black: {fifths}.")
            }
            Step::Colours(_) if chinese => format!("选执黑或执白，下一手由{next}方走。"),
            Step::Colours(_) => format!("choose a colour. {next} moves next."),
            Step::Fifths(_) if chinese => "定下黑方要摆出几个第五手。之后由另一方选颜色。".into(),
            Step::Fifths(_) => {
                "say how many fifth moves Black will offer; then the other player chooses a colour.".into()
            }
            Step::Offer if chinese => format!(
                "黑方摆出 {fifths} 个第五手，不能有对称的点，现在是第 {} 个。之后由白方选一个。",
                offered + 1
            ),
            Step::Offer => format!(
                "Black offers {fifths} fifth moves, no two the same by symmetry. Now number {}; then White chooses one.",
                offered + 1
            ),
            Step::Pick if chinese => format!("白方从 {fifths} 个第五手中选一个，再下第六手。"),
            Step::Pick => format!("White chooses one of the {fifths} fifth moves, and then plays the sixth."),
        };
        Some(if chinese { format!("{name}：{said}") } else { format!("{name}: {said}") })
    }

    fn told_of_stone(self, n: u8, color: Side, language: Language) -> String {
        let name = self.opening.title(language);
        let area = self.area().words(language);
        let [chinese, english] = match color {
            Side::First => ["黑", "black"],
            Side::Second => ["白", "white"],
        };
        let first = n <= self.laid_out();
        if first || (self.opening == GomokuOpening::Swap2 && n <= 5) {
            let (stone, of) = if first { (n, 3) } else { (n - 3, 2) };
            let choosing = match (first, language) {
                (true, Language::Chinese) => "另一方",
                (false, Language::Chinese) => "先摆的一方",
                (true, Language::English) => "the other player",
                (false, Language::English) => "whoever began",
            };
            return match language {
                Language::Chinese => format!(
                    "{name}：由同一方摆 {of} 子，现在是第 {stone} 子，{chinese}子{area}。之后由{choosing}选颜色。"
                ),
                Language::English => format!(
                    "{name}: one player puts all {of} stones. Now stone {stone} of {of}, a {english} one{area}; then \
                     {choosing} chooses a colour."
                ),
            };
        }
        let chosen = self.opening == GomokuOpening::Taraguchi10 && self.fifths == 0;
        match language {
            Language::Chinese => {
                let then = if chosen { "之后由另一方选颜色。" } else { "" };
                format!("{name}：第 {n} 手，{chinese}子{area}。{then}")
            }
            Language::English => {
                let then = if chosen { "; then the other player chooses a colour" } else { "" };
                format!("{name}: stone {n}, a {english} one{area}{then}.")
            }
        }
    }

    /// Part of the Zobrist key; 0 without an opening. The numbers of Swap2 are as in its first version.
    pub(super) const fn number_for_key(self) -> u64 {
        let swapped = self.swapped as u64;
        match (self.step, self.opening) {
            (Step::Settled, _) => swapped,
            (Step::Colours(3), GomokuOpening::Swap | GomokuOpening::Swap2) => 2,
            (Step::Colours(_), GomokuOpening::Swap2) => 3,
            (Step::Stone(n @ 1..=3), GomokuOpening::Swap | GomokuOpening::Swap2) => 8 - n as u64,
            (Step::Stone(n), GomokuOpening::Swap2) => 14 - n as u64,
            (step, _) => {
                let step = match step {
                    Step::Stone(n) => n as u64,
                    Step::Colours(n) => 8 | n as u64,
                    Step::Fifths(n) => 16 | n as u64,
                    Step::Offer => 24,
                    Step::Pick => 25,
                    Step::Settled => 26,
                };
                (1 << 16) | step << 8 | (self.fifths as u64) << 1 | swapped
            }
        }
    }
}
