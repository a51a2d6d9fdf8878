//! What a match of gomoku is played by.

use crate::words::numbered;
use crate::{Language, SetupError};

/// Which lines win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GomokuRule {
    /// Five or more.
    #[default]
    Freestyle,
    /// Exactly five; six or more in a line win nothing.
    Standard,
}

impl GomokuRule {
    /// Every rule, in the order in which a menu shows them.
    pub const ALL: [Self; 2] = [Self::Freestyle, Self::Standard];

    /// What players call the rule.
    pub const fn name(self, language: Language) -> &'static str {
        match self {
            Self::Freestyle => language.pick("自由规则", "Freestyle"),
            Self::Standard => language.pick("标准规则", "Standard"),
        }
    }
}

/// What a match of gomoku is played by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GomokuSetup {
    /// Points on a side, [`Self::SIZES`]. 15 is the board of the international rules; Gomocup plays 15 and 20, and a set for
    /// Go has 13 or 19.
    pub size: u8,
    /// Which lines win.
    pub rule: GomokuRule,
    /// Whether a line that lies wholly on an edge of the board wins. Off is the house rule of the design that this project
    /// continues.
    pub edge_five_wins: bool,
}

impl Default for GomokuSetup {
    fn default() -> Self {
        Self { size: 15, rule: GomokuRule::Freestyle, edge_five_wins: true }
    }
}

impl GomokuSetup {
    /// Sizes that make a game. Below 5 no five fits; above 20 (the largest at Gomocup) a line of the board with its margins
    /// no longer fits the 64 bits that the bot keeps it in.
    pub const SIZES: std::ops::RangeInclusive<u8> = 5..=20;

    pub(super) fn check(&self) -> Result<(), SetupError> {
        if Self::SIZES.contains(&self.size) {
            Ok(())
        } else {
            Err(SetupError("gomoku is played on 5 x 5 to 20 x 20"))
        }
    }

    pub(super) fn rule_sheet(&self, language: Language) -> String {
        let size = self.size;
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let mut sentences = vec![
            match language {
                Language::Chinese => format!("棋盘 {size} × {size}，黑先白后，轮流在空点下一子。"),
                Language::English => {
                    format!(
                        "The board is {size} x {size}. Black begins; each turn puts one stone on an empty point."
                    )
                }
            },
            match self.rule {
                GomokuRule::Freestyle => pick(
                    "横、竖或斜先连成五子或更多者胜（自由规则）。",
                    "The first line of five or more stones wins, along a row, a column or a diagonal (freestyle).",
                ),
                GomokuRule::Standard => pick(
                    "横、竖或斜先恰好连成五子者胜，六子或更多不算（标准规则）。",
                    "The first line of exactly five stones wins, along a row, a column or a diagonal; six or more do not count (standard).",
                ),
            },
        ];
        if !self.edge_five_wins {
            sentences.push(pick(
                "整条连线都在棋盘最外边上的不算。",
                "A line that lies wholly on an edge of the board does not count.",
            ));
        }
        sentences.push(pick("棋盘下满而无人获胜为和棋。", "A full board without a winner is a draw."));
        numbered(&sentences)
    }
}
