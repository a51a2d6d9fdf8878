//! What players read, in both languages. Only words that follow from rules live here; the words of screens are the app's.

use std::fmt::Write as _;

use crate::{Game, IllegalAction, Outcome, Reason, Side};

/// A language that a player reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// Simplified Chinese.
    Chinese,
    /// English.
    #[default]
    English,
}

impl Language {
    /// Every language, for tests and menus.
    pub const ALL: [Self; 2] = [Self::Chinese, Self::English];

    /// Chooses between two texts.
    pub(crate) const fn pick(self, chinese: &'static str, english: &'static str) -> &'static str {
        match self {
            Self::Chinese => chinese,
            Self::English => english,
        }
    }
}

/// What a game and its sides are called in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The game: 五子棋, Gomoku.
    pub game: &'static str,
    /// Who begins: 黑方, Black.
    pub first: &'static str,
    /// Who answers: 白方, White.
    pub second: &'static str,
}

impl Names {
    /// What this side is called.
    pub const fn side(&self, side: Side) -> &'static str {
        match side {
            Side::First => self.first,
            Side::Second => self.second,
        }
    }
}

impl Outcome {
    /// Who won and why, as one sentence: `Black wins: five in a row.`
    pub fn words<G: Game>(&self, language: Language) -> String {
        let names = G::names(language);
        let reason = self.reason.words(language);
        match (language, self.winner) {
            (Language::Chinese, Some(side)) => format!("{}胜：{reason}。", names.side(side)),
            (Language::English, Some(side)) => format!("{} wins: {reason}.", names.side(side)),
            (Language::Chinese, None) => format!("和棋：{reason}。"),
            (Language::English, None) => format!("A draw: {reason}."),
        }
    }
}

impl Reason {
    /// The reason without who won: `five in a row`.
    pub const fn words(self, language: Language) -> &'static str {
        match self {
            Self::FiveInARow => language.pick("五子连珠", "five in a row"),
            Self::BoardFull => language.pick("棋盘已满", "the board is full"),
        }
    }
}

impl IllegalAction {
    /// The refusal as the player reads it. English is also what `Display` says.
    pub fn words(&self, language: Language) -> String {
        match (language, self) {
            (Language::English, _) => self.to_string(),
            (Language::Chinese, Self::Ended) => "对局已经结束".into(),
            (Language::Chinese, Self::OffBoard(point)) => format!("{point} 不在棋盘上"),
            (Language::Chinese, Self::Occupied(point)) => format!("{point} 已有棋子"),
            (Language::Chinese, Self::WrongKind) => "此时不能这样走".into(),
        }
    }
}

/// A rule sheet from its sentences: one a line, numbered, so that two people can point at one.
pub(crate) fn numbered(sentences: &[String]) -> String {
    let mut sheet = String::new();
    for (n, sentence) in (1..).zip(sentences) {
        writeln!(sheet, "{n}. {sentence}").expect("writing to a String cannot fail");
    }
    sheet
}
