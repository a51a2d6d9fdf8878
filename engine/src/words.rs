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
            Self::TooFewStones => language.pick("棋子过少", "too few stones are left"),
            Self::NoMoves => language.pick("无子可走", "no legal move is left"),
            Self::Repetition => {
                language.pick("同一局面第三次出现", "the same position came up for the third time")
            }
            Self::TooLong => language.pick("着数已满", "the limit of moves is reached"),
            Self::Checkmate => language.pick("将死", "checkmate"),
            Self::PerpetualCheck => language.pick("对方长将", "perpetual check by the other side"),
            Self::PerpetualChase => language.pick("对方长捉", "perpetual chase by the other side"),
            Self::BareMaterial => {
                language.pick("双方都无力将死对方", "neither side has the material to give mate")
            }
            Self::Score => language.pick("数子（目）", "by count"),
            Self::AllOut => language.pick("灯已全灭", "every light is out"),
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
            (Language::Chinese, Self::Empty(point)) => format!("{point} 没有棋子"),
            (Language::Chinese, Self::NotYours(point)) => format!("{point} 不是你的棋子"),
            (Language::Chinese, Self::OwnPiece(point)) => format!("{point} 是你自己的棋子"),
            (Language::Chinese, Self::NotItsStep(point)) => format!("{point} 的棋子不能这样走"),
            (Language::Chinese, Self::CaptureFirst(due)) => format!("先吃子，还有 {due} 枚"),
            (Language::Chinese, Self::InFormation(point)) => format!("{point} 在城中，不能吃"),
            (Language::Chinese, Self::AlreadyCaptured(point)) => format!("{point} 已经被吃"),
            (Language::Chinese, Self::StraightBack(point)) => format!("{point} 不能马上退回刚离开的城"),
            (Language::Chinese, Self::InTheWay(point)) => format!("{point} 有子挡路"),
            (Language::Chinese, Self::HorseLeg(point)) => format!("蹩马腿：{point}"),
            (Language::Chinese, Self::ElephantEye(point)) => format!("塞象眼：{point}"),
            (Language::Chinese, Self::CannonScreen) => "炮吃子须恰好隔一子".into(),
            (Language::Chinese, Self::River) => "相（象）不能过河".into(),
            (Language::Chinese, Self::Palace) => "将帅和士不能出九宫".into(),
            (Language::Chinese, Self::GeneralAttacked(point)) => format!("{point} 的棋子会吃掉将（帅）"),
            (Language::Chinese, Self::GeneralsFace) => "将帅不能照面".into(),
            (Language::Chinese, Self::Ko(point)) => format!("{point} 是劫，须先在别处下一手"),
            (Language::Chinese, Self::Superko) => "全局不得同形".into(),
            (Language::Chinese, Self::Suicide(point)) => format!("{point} 是禁入点"),
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
