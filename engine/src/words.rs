//! Words for players, in both languages. Only words that depend on rules; those of screens belong to the app.

use std::fmt::Write as _;

use crate::gomoku::Fault;
use crate::{AnyGame, Game, GameKind, IllegalAction, Outcome, Point, Reason, Side};

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

    /// The text in this language.
    pub(crate) const fn pick(self, chinese: &'static str, english: &'static str) -> &'static str {
        match self {
            Self::Chinese => chinese,
            Self::English => english,
        }
    }
}

/// The names of a game and its sides in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The game: 五子棋, Gomoku.
    pub game: &'static str,
    /// The side that moves first: 黑方, Black.
    pub first: &'static str,
    /// The side that moves second: 白方, White.
    pub second: &'static str,
}

impl Names {
    /// The name of a side.
    pub const fn side(&self, side: Side) -> &'static str {
        match side {
            Side::First => self.first,
            Side::Second => self.second,
        }
    }
}

impl Outcome {
    /// The result as a sentence: `Black wins: five in a row.` For a game in which the players have swapped colours use
    /// [`Self::words_in`].
    pub fn words<G: Game>(&self, language: Language) -> String {
        self.said(G::names(language), self.winner, language)
    }

    /// The result of this game as a sentence, with the colours that the players have in it.
    pub fn words_in(&self, game: &AnyGame, language: Language) -> String {
        let color = self.winner.map(|player| game.color(player));
        self.said(game.kind().names(language), color, language)
    }

    fn said(self, names: Names, winner: Option<Side>, language: Language) -> String {
        let reason = self.reason.words(language);
        match (language, winner) {
            (Language::Chinese, Some(side)) => format!("{}胜：{reason}。", names.side(side)),
            (Language::English, Some(side)) => format!("{} wins: {reason}.", names.side(side)),
            (Language::Chinese, None) => format!("和棋：{reason}。"),
            (Language::English, None) => format!("A draw: {reason}."),
        }
    }
}

impl Reason {
    /// The reason alone: `five in a row`.
    pub const fn words(self, language: Language) -> &'static str {
        match self {
            Self::FiveInARow => language.pick("五子连珠", "five in a row"),
            Self::BoardFull => language.pick("棋盘已满", "the board is full"),
            Self::TooFewStones => language.pick("棋子过少", "too few stones are left"),
            Self::NoMoves => language.pick("无子可走", "no legal move is left"),
            Self::Repetition => {
                language.pick("同一局面第三次出现", "the same position came up for the third time")
            }
            Self::TooLong => language.pick("步数已满", "the limit of moves is reached"),
            Self::Checkmate => language.pick("将死", "checkmate"),
            Self::PerpetualCheck => language.pick("对方长将", "perpetual check by the other side"),
            Self::PerpetualChase => language.pick("对方长捉", "perpetual chase by the other side"),
            Self::PerpetualAttack => {
                language.pick("对方长打（将军、叫杀或捉子）", "perpetual attack by the other side")
            }
            Self::BareMaterial => language.pick("双方都无力将死对方", "neither side can checkmate any more"),
            Self::Score => language.pick("数子（目）", "by count"),
            Self::AllOut => language.pick("灯已全灭", "all the lights are off"),
            Self::Faster => language.pick("先全部熄灭", "all the lights were off sooner"),
            Self::FewerPresses => language.pick("用时相同，按得较少", "equally fast, with fewer presses"),
            Self::Forbidden(fault) => match fault {
                Fault::Overline => language.pick("对方长连禁手", "a forbidden overline by the other side"),
                Fault::DoubleFour => {
                    language.pick("对方四四禁手", "a forbidden double four by the other side")
                }
                Fault::DoubleThree => {
                    language.pick("对方三三禁手", "a forbidden double three by the other side")
                }
            },
        }
    }
}

impl IllegalAction {
    /// The refusal in words for players, with points in plain coordinates. The English text is also that of `Display`.
    pub fn words(&self, language: Language) -> String {
        self.said(language, |point| point.to_string())
    }

    /// The refusal in words for players of this game, with points named as on its board.
    pub fn words_in(&self, game: GameKind, language: Language) -> String {
        self.said(language, |point| game.point_name(point))
    }

    fn said(self, language: Language, name: impl Fn(Point) -> String) -> String {
        let at = name;
        let (chinese, english) = match self {
            Self::Ended => ("对局已经结束".into(), "the game is over".into()),
            Self::OffBoard(p) => (format!("{} 不在棋盘上", at(p)), format!("{} is not on the board", at(p))),
            Self::Occupied(p) => (format!("{} 已有棋子", at(p)), format!("{} is occupied", at(p))),
            Self::ChooseFirst => ("先选择执黑或执白".into(), "choose a colour first".into()),
            Self::WrongKind => ("此时不能这样走".into(), "that is not possible here".into()),
            Self::Empty(p) => (format!("{} 没有棋子", at(p)), format!("there is no piece on {}", at(p))),
            Self::NotYours(p) => {
                (format!("{} 不是你的棋子", at(p)), format!("the piece on {} is not yours", at(p)))
            }
            Self::OwnPiece(p) => {
                (format!("{} 是你自己的棋子", at(p)), format!("the piece on {} is your own", at(p)))
            }
            Self::NotItsStep(p) => (
                format!("{} 的棋子不能这样走", at(p)),
                format!("the piece on {} does not move that way", at(p)),
            ),
            Self::CaptureFirst(due) => (format!("先吃子，还有 {due} 枚"), format!("{due} to capture first")),
            Self::InFormation(p) => {
                (format!("{} 在城中，不能吃", at(p)), format!("{} is safe: it stands in a formation", at(p)))
            }
            Self::AlreadyCaptured(p) => {
                (format!("{} 已经被吃", at(p)), format!("{} is captured already", at(p)))
            }
            Self::StraightBack(p) => (
                format!("{} 不能马上退回刚离开的城", at(p)),
                format!("{} may not go straight back into the formation it has just left", at(p)),
            ),
            Self::InTheWay(p) => (format!("{} 有子挡路", at(p)), format!("{} is in the way", at(p))),
            Self::HorseLeg(p) => (format!("蹩马腿：{}", at(p)), format!("the horse is blocked by {}", at(p))),
            Self::ElephantEye(p) => {
                (format!("塞象眼：{}", at(p)), format!("the elephant is blocked by {}", at(p)))
            }
            Self::CannonScreen => {
                ("炮吃子须恰好隔一子".into(), "a cannon captures only over exactly one piece".into())
            }
            Self::River => ("相（象）不能过河".into(), "an elephant does not cross the river".into()),
            Self::Palace => ("将帅和士不能出九宫".into(), "general and advisers stay in the palace".into()),
            Self::GeneralAttacked(p) => (
                format!("{} 的棋子会吃掉将（帅）", at(p)),
                format!("the piece on {} would capture the general", at(p)),
            ),
            Self::GeneralsFace => ("将帅不能照面".into(), "the generals would face each other".into()),
            Self::Ko(p) => (
                format!("{} 是劫，须先在别处下一手", at(p)),
                format!("{} is a ko: play elsewhere first", at(p)),
            ),
            Self::Superko => ("全局不得同形".into(), "the board would repeat itself".into()),
            Self::Suicide(p) => (format!("{} 是禁入点", at(p)), format!("{} would be suicide", at(p))),
            Self::SayFifthsFirst => ("先定下第五手的个数".into(), "say how many fifth moves first".into()),
            Self::NotCentre => ("这一子须下在天元".into(), "this stone goes on the centre point".into()),
            Self::OutsideCentre(side) => (
                format!("这一子须下在中央 {side} × {side} 之内"),
                format!("this stone goes within the central {side} x {side}"),
            ),
            Self::InsideCentre(side) => (
                format!("这一子须下在中央 {side} × {side} 之外"),
                format!("this stone goes outside the central {side} x {side}"),
            ),
            Self::Offered(p) => (format!("{} 已经摆过", at(p)), format!("{} is offered already", at(p))),
            Self::Symmetric(p) => (
                format!("与已摆的 {} 对称，是同一个点", at(p)),
                format!("by symmetry that is the same as {}, which is offered", at(p)),
            ),
            Self::NotOffered(p) => (
                format!("{} 不在摆出的第五手之中", at(p)),
                format!("{} is not one of the fifth moves offered", at(p)),
            ),
        };
        match language {
            Language::Chinese => chinese,
            Language::English => english,
        }
    }
}

/// A rule sheet from its sentences, one per line and numbered.
pub(crate) fn numbered(sentences: &[String]) -> String {
    let mut sheet = String::new();
    for (n, sentence) in (1..).zip(sentences) {
        writeln!(sheet, "{n}. {sentence}").expect("writing to a String cannot fail");
    }
    sheet
}
