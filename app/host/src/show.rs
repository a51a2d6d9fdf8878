//! What clients are shown, made from what the host knows. The only place where both worlds' types meet.

use engine::{Action, AnyGame, BoardView, IllegalAction, Level, MarkKind, Piece, Point, Score, Side};
use link::{CarrierKind, CarrierState};
use proto::{board, control, peer};
use session::{InvitationEnd, OfferKind};

use crate::room::Seat;
use crate::store::StoreError;
use session::wire;

pub(crate) fn side(side: Side) -> board::Side {
    match side {
        Side::First => board::Side::First,
        Side::Second => board::Side::Second,
    }
}

pub(crate) fn parse_side(number: i32) -> Option<Side> {
    match board::Side::try_from(number).ok()? {
        board::Side::Unspecified => None,
        board::Side::First => Some(Side::First),
        board::Side::Second => Some(Side::Second),
    }
}

fn point(point: Point) -> u32 {
    u32::from(point.row) * 1024 + u32::from(point.column)
}

pub(crate) fn board(game: &AnyGame, over: bool) -> control::Board {
    let BoardView { game, columns, rows, pieces, last, marks, turn, outcome: _, facts: _, ply } = game.view();
    control::Board {
        game: i32::from(game as u8),
        columns: columns.into(),
        rows: rows.into(),
        pieces: pieces
            .into_iter()
            .map(|piece| control::Piece {
                at: point(piece.at),
                side: side(piece.side).into(),
                kind: match piece.piece {
                    Piece::Stone => control::PieceKind::PieceStone,
                    _ => control::PieceKind::PieceStone,
                }
                .into(),
            })
            .collect(),
        last: last.map(wire::action),
        marks: marks
            .into_iter()
            .map(|mark| control::Mark {
                at: point(mark.at),
                kind: match mark.kind {
                    MarkKind::Winning => control::MarkKind::MarkWinning,
                    _ => control::MarkKind::MarkWinning,
                }
                .into(),
            })
            .collect(),
        turn: turn.filter(|_| !over).map_or(board::Side::Unspecified, side).into(),
        ply,
    }
}

pub(crate) fn seat(seat: Seat, assist: Option<Level>, name: String) -> control::Seat {
    use control::seat::Who;
    let bot = |level: Level| Who::BotLevel(level.number().into());
    match (seat, assist) {
        (Seat::Here, None) => control::Seat { who: Some(Who::Here(true)), name, bot_assists: false },
        (Seat::Here, Some(level)) => control::Seat { who: Some(bot(level)), name, bot_assists: true },
        (Seat::Bot(level), _) => control::Seat { who: Some(bot(level)), name, bot_assists: false },
        (Seat::Peer(key), _) => {
            control::Seat { who: Some(Who::Peer(key.to_string())), name, bot_assists: false }
        }
    }
}

pub(crate) fn score(score: Score) -> control::Score {
    use control::score::Score as Shown;
    control::Score {
        score: Some(match score {
            Score::Points(points) => Shown::Points(points),
            Score::WinIn(plies) => Shown::WinIn(plies),
            Score::LossIn(plies) => Shown::LossIn(plies),
        }),
    }
}

pub(crate) fn carrier(kind: CarrierKind) -> control::Carrier {
    match kind {
        CarrierKind::Bluetooth => control::Carrier::Bluetooth,
        CarrierKind::Lan => control::Carrier::Lan,
        CarrierKind::Online => control::Carrier::Online,
        CarrierKind::Memory => control::Carrier::Memory,
    }
}

pub(crate) fn carrier_state(state: CarrierState) -> control::RadioState {
    match state {
        CarrierState::Ready => control::RadioState::RadioReady,
        CarrierState::TakingTurns => control::RadioState::RadioTakingTurns,
        CarrierState::NoAdvertising => control::RadioState::RadioNoAdvertising,
        CarrierState::Off => control::RadioState::RadioOff,
        CarrierState::Blocked => control::RadioState::RadioBlocked,
        CarrierState::NoAdapter => control::RadioState::RadioNoAdapter,
        CarrierState::NoService => control::RadioState::RadioNoService,
        CarrierState::NoPermission => control::RadioState::RadioNoPermission,
    }
}

pub(crate) fn offer_kind(kind: OfferKind) -> control::OfferKind {
    match kind {
        OfferKind::TakeBack => control::OfferKind::OfferTakeBack,
        OfferKind::Draw => control::OfferKind::OfferDraw,
        OfferKind::NewGame => control::OfferKind::OfferNewGame,
    }
}

pub(crate) fn parse_offer_kind(number: i32) -> Option<OfferKind> {
    match control::OfferKind::try_from(number).ok()? {
        control::OfferKind::OfferUnspecified => None,
        control::OfferKind::OfferTakeBack => Some(OfferKind::TakeBack),
        control::OfferKind::OfferDraw => Some(OfferKind::Draw),
        control::OfferKind::OfferNewGame => Some(OfferKind::NewGame),
    }
}

pub(crate) fn invitation_end(end: InvitationEnd) -> control::InvitationEnd {
    match end {
        InvitationEnd::Declined(peer::DeclineReason::DeclineBusy) => control::InvitationEnd::InvitationBusy,
        InvitationEnd::Declined(peer::DeclineReason::DeclineTimedOut) | InvitationEnd::TimedOut => {
            control::InvitationEnd::InvitationTimedOut
        }
        InvitationEnd::Declined(peer::DeclineReason::DeclineUnknownGame) => {
            control::InvitationEnd::InvitationUnknownGame
        }
        InvitationEnd::Declined(_) => control::InvitationEnd::InvitationDeclined,
        InvitationEnd::Withdrawn => control::InvitationEnd::InvitationWithdrawn,
        // Both invited: the other's stands, and is an event of its own.
        InvitationEnd::Crossed => control::InvitationEnd::InvitationWithdrawn,
        InvitationEnd::LinkLost => control::InvitationEnd::InvitationLinkLost,
    }
}

/// Why a request was not done.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: control::RefusalCode,
    pub(crate) detail: String,
    pub(crate) action: Option<Action>,
}

impl Refusal {
    pub(crate) fn new(code: control::RefusalCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), action: None }
    }

    /// An action that the rules refuse.
    pub(crate) fn illegal(why: IllegalAction, action: Action) -> Self {
        let code = match why {
            IllegalAction::Ended => control::RefusalCode::RefusalGameOver,
            IllegalAction::OffBoard(_) => control::RefusalCode::RefusalOffBoard,
            IllegalAction::Occupied(_) => control::RefusalCode::RefusalOccupied,
            _ => control::RefusalCode::RefusalIllegal,
        };
        Self { code, detail: why.to_string(), action: Some(action) }
    }

    pub(crate) fn into_wire(self) -> control::Refusal {
        control::Refusal {
            code: self.code.into(),
            detail: self.detail,
            action: self.action.map(wire::action),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::new(control::RefusalCode::RefusalDisk, error.to_string())
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
            Refused::Illegal(why) => return Self { action: None, ..Self::illegal(*why, Action::Pass) },
            Refused::WrongPhase | Refused::RecordFull => Code::RefusalGameOver,
            Refused::NothingToTakeBack => Code::RefusalNothingToTakeBack,
            Refused::Away => Code::RefusalLinkLost,
            Refused::NotCompared => Code::RefusalNotCompared,
            Refused::InvitationOpen | Refused::OfferOpen | Refused::TooManyMatches => Code::RefusalBusy,
            Refused::UnknownGame | Refused::Setup(_) | Refused::IdTaken => Code::RefusalBadRequest,
        };
        Self::new(code, refused.to_string())
    }
}
