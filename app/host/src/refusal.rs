//! Why a request of a client was refused.

use engine::explain::Explained;
use engine::{Action, AnyGame, IllegalAction, Language, Point};
use proto::control;
use session::wire;

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: control::RefusalCode,
    pub(crate) detail: String,
    pub(crate) action: Option<Action>,
    /// The reason by the rules, if they refuse it.
    pub(crate) reason: Option<control::Words>,
    /// Points that the reason refers to.
    pub(crate) points: Vec<Point>,
}

impl Refusal {
    pub(crate) fn new(code: control::RefusalCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), action: None, reason: None, points: Vec::new() }
    }

    /// An illegal action in this position; points are named as on its board.
    pub(crate) fn illegal(why: IllegalAction, action: Action, game: &AnyGame) -> Self {
        let Explained { words: [zh, en], points, .. } = why.explained(game, action);
        Self {
            code: illegal_code(why),
            detail: en.clone(),
            action: Some(action),
            reason: Some(control::Words { zh, en }),
            points,
        }
    }

    pub(crate) fn into_wire(self) -> control::Refusal {
        control::Refusal {
            code: self.code.into(),
            detail: self.detail,
            action: self.action.map(wire::action),
            reason: self.reason,
            points: self.points.into_iter().map(wire::point).collect(),
        }
    }
}

fn illegal_code(why: IllegalAction) -> control::RefusalCode {
    match why {
        IllegalAction::Ended => control::RefusalCode::RefusalGameOver,
        IllegalAction::OffBoard(_) => control::RefusalCode::RefusalOffBoard,
        IllegalAction::Occupied(_) => control::RefusalCode::RefusalOccupied,
        _ => control::RefusalCode::RefusalIllegal,
    }
}

impl From<session::Refused> for Refusal {
    fn from(refused: session::Refused) -> Self {
        use control::RefusalCode as Code;
        use session::Refused;
        let code = match &refused {
            Refused::NoSuchMatch => Code::RefusalNoSuchRoom,
            Refused::NoSuchInvitation | Refused::NoSuchOffer | Refused::NothingToCompare => {
                Code::RefusalNoOffer
            }
            Refused::NotYourTurn => Code::RefusalNotYourTurn,
            Refused::Illegal(why) => {
                let [zh, en] = [Language::Chinese, Language::English].map(|language| why.words(language));
                let reason = Some(control::Words { zh, en });
                return Self { reason, ..Self::new(illegal_code(*why), refused.to_string()) };
            }
            Refused::WrongPhase | Refused::RecordFull => Code::RefusalGameOver,
            Refused::Paused => Code::RefusalPaused,
            Refused::TimeOver => Code::RefusalTime,
            Refused::NothingToTakeBack => Code::RefusalNothingToTakeBack,
            Refused::Away => Code::RefusalLinkLost,
            Refused::NotCompared => Code::RefusalNotCompared,
            Refused::InvitationOpen | Refused::OfferOpen | Refused::TooManyMatches => Code::RefusalBusy,
            Refused::UnknownGame | Refused::Setup(_) | Refused::IdTaken | Refused::Unsayable => {
                Code::RefusalBadRequest
            }
            Refused::TooFast => Code::RefusalBusy,
            Refused::NoHints => return no_hints(),
            Refused::HintsUnknown
            | Refused::StartsUnknown
            | Refused::OpeningUnknown
            | Refused::RepetitionUnknown => {
                let (zh, en) = (
                    "对方的「棋友」版本太旧，请对方升级。",
                    "Their Qiyou is too old for yours: ask them to update it.",
                );
                let reason = Some(control::Words { zh: zh.into(), en: en.into() });
                return Self { reason, ..Self::new(Code::RefusalVersion, refused.to_string()) };
            }
        };
        Self::new(code, refused.to_string())
    }
}

/// A seat of a race for somebody who does not run.
pub(crate) fn no_runner() -> Refusal {
    let (zh, en) = (
        "这是两个人的比赛，座位不能交给电脑，也不能都归一个人。",
        "A race is between two people: neither seat can be the computer's, nor both one person's.",
    );
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(control::RefusalCode::RefusalIllegal, "a race is run by two people") }
}

/// Analysis, the opening book, or a match from a position of one that goes on against another person.
pub(crate) fn goes_on() -> Refusal {
    let (zh, en) = (
        "这一局还在和别人下，下完以后才能分析，才能从这里接着下。",
        "This game against another person is not over: it can be analysed and played on from afterwards.",
    );
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    let detail = "the match against another person goes on";
    Refusal { reason, ..Refusal::new(control::RefusalCode::RefusalIllegal, detail) }
}

/// A bot that would play for a person against another.
pub(crate) fn no_stand_in() -> Refusal {
    let (zh, en) = (
        "和别人下的棋要自己下，电脑不能替你走。",
        "Against another person you play yourself: the computer does not move for you.",
    );
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    let detail = "no bot plays for you against another person";
    Refusal { reason, ..Refusal::new(control::RefusalCode::RefusalIllegal, detail) }
}

/// A hint in a match with another person that was not agreed with hints.
pub(crate) fn no_hints() -> Refusal {
    let (zh, en) = ("这一局没有约定可以用提示。", "This game was agreed without hints.");
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal {
        reason,
        ..Refusal::new(control::RefusalCode::RefusalIllegal, "this match was agreed without hints")
    }
}
