//! The schema's enums as words for scripts.

use proto::board::{Ending, Game, GomokuOpening, GomokuRule, Setup, Side, setup};
use proto::control::{
    AccountState, Carrier, CheckState, ColourChoice, ComparisonEnd, ConnectState, ContactState, EndingsState,
    FactKind, InvitationEnd, LetterState, LinkState, MarkKind, NoticeKind, OfferKind, PeerLink, PieceKind,
    Presence, PuzzleProgress, PuzzleState, RadioState, Score, Seat, ThreatKind, Unreached, Visibility, score,
    seat,
};
use proto::peer::{DeclineReason, Phrase};

/// The schema's name of an enum value without its prefix, in lower case: `RADIO_NO_ADAPTER` is `no_adapter`.
macro_rules! word {
    ($enum:ident, $number:expr, $prefix:literal) => {
        $enum::try_from($number).map_or_else(
            |_| format!("unknown_{}", $number),
            |known| {
                let name = known.as_str_name();
                name.strip_prefix($prefix).unwrap_or(name).to_lowercase()
            },
        )
    };
}

pub fn side(number: i32) -> String {
    word!(Side, number, "SIDE_")
}

pub fn game(number: i32) -> String {
    word!(Game, number, "GAME_")
}

pub fn ending(number: i32) -> String {
    word!(Ending, number, "ENDING_")
}

pub fn threat(number: i32) -> String {
    word!(ThreatKind, number, "THREAT_")
}

pub fn carrier(number: i32) -> String {
    word!(Carrier, number, "CARRIER_")
}

pub fn endings(number: i32) -> String {
    word!(EndingsState, number, "ENDINGS_")
}

pub fn radio(number: i32) -> String {
    word!(RadioState, number, "RADIO_")
}

pub fn account_state(number: i32) -> String {
    word!(AccountState, number, "ACCOUNT_")
}

pub fn contact_state(number: i32) -> String {
    word!(ContactState, number, "CONTACT_")
}

pub fn presence(number: i32) -> String {
    word!(Presence, number, "PRESENCE_")
}

pub fn unreached(number: i32) -> String {
    word!(Unreached, number, "UNREACHED_")
}

pub fn connect(number: i32) -> String {
    word!(ConnectState, number, "CONNECT_")
}

pub fn invitation_end(number: i32) -> String {
    word!(InvitationEnd, number, "INVITATION_")
}

pub fn comparison_end(number: i32) -> String {
    word!(ComparisonEnd, number, "COMPARISON_")
}

pub fn decline_reason(number: i32) -> String {
    word!(DeclineReason, number, "DECLINE_")
}

pub fn colours(number: i32) -> String {
    word!(ColourChoice, number, "COLOUR_")
}

pub fn offer(number: i32) -> String {
    word!(OfferKind, number, "OFFER_")
}

pub fn notice(number: i32) -> String {
    word!(NoticeKind, number, "NOTICE_")
}

pub fn visibility(number: i32) -> String {
    word!(Visibility, number, "VISIBILITY_")
}

pub fn check(number: i32) -> String {
    word!(CheckState, number, "CHECK_")
}

/// The schema's name of a phrase without its prefix, with hyphens: `good-move`.
pub fn phrase(number: i32) -> String {
    word!(Phrase, number, "PHRASE_").replace('_', "-")
}

pub fn read_phrase(word: &str) -> Result<Phrase, String> {
    let name = format!("PHRASE_{}", word.replace('-', "_").to_uppercase());
    Phrase::from_str_name(&name).filter(|phrase| *phrase != Phrase::Unspecified).ok_or_else(|| {
        // Numbers are below 64; those without a phrase are gaps.
        let known: Vec<String> = (1..64).filter(|n| Phrase::try_from(*n).is_ok()).map(phrase).collect();
        format!("there is no phrase `{word}`; there are: {}", known.join(", "))
    })
}

pub fn piece(number: i32) -> String {
    word!(PieceKind, number, "PIECE_")
}

pub fn mark(number: i32) -> String {
    word!(MarkKind, number, "MARK_")
}

pub fn fact(number: i32) -> String {
    word!(FactKind, number, "FACT_")
}

pub fn link(link: &LinkState) -> String {
    word!(PeerLink, link.state, "PEER_LINK_")
}

/// The stage of the last letter about a match: `at server`.
pub fn letter(number: i32) -> String {
    word!(LetterState, number, "LETTER_STATE_").replace('_', " ")
}

pub fn setup(setup: Option<&Setup>) -> String {
    match setup.and_then(|setup| setup.game.as_ref()) {
        Some(setup::Game::Gomoku(gomoku)) => {
            let rule = word!(GomokuRule, gomoku.rule, "GOMOKU_RULE_");
            let edge = if gomoku.edge_five_wins { "" } else { ", edge five does not win" };
            let opening = if gomoku.opening() == GomokuOpening::Swap2 { ", swap2" } else { "" };
            format!("gomoku {0}x{0}, {rule}{edge}{opening}", gomoku.size)
        }
        Some(setup::Game::Liuzhou(_)) => "liuzhou".into(),
        Some(setup::Game::Go(go)) => format!("go {0}x{0}", go.size),
        Some(setup::Game::Xiangqi(_)) => "xiangqi".into(),
        Some(setup::Game::LightsOut(lights)) => {
            let race = if lights.race { ", race" } else { "" };
            format!("lights-out {}x{}{race}", lights.columns, lights.rows)
        }
        None => "a game that this program does not know".into(),
    }
}

/// `here`, `bot:5`, `assist:5`, the guest's or the peer's name; `guest` for one without a name.
pub fn seat(seat: Option<&Seat>) -> String {
    match seat.map(|seat| (&seat.who, seat)) {
        Some((Some(seat::Who::BotLevel(level)), seat)) if seat.bot_assists => format!("assist:{level}"),
        Some((Some(seat::Who::BotLevel(level)), _)) => format!("bot:{level}"),
        Some((Some(seat::Who::Peer(id)), seat)) => {
            if seat.name.is_empty() {
                id.clone()
            } else {
                seat.name.clone()
            }
        }
        Some((Some(seat::Who::Guest(_)), seat)) if seat.name.is_empty() => "guest".into(),
        Some((Some(seat::Who::Guest(_)), seat)) => seat.name.clone(),
        Some((Some(seat::Who::Here(_)) | None, _)) | None => "here".into(),
    }
}

pub fn score(score: Score) -> String {
    match score.score {
        Some(score::Score::Points(points)) => format!("{:+.2}", f64::from(points) / 100.0),
        Some(score::Score::WinIn(plies)) => format!("wins in {plies}"),
        Some(score::Score::LossIn(plies)) => format!("loses in {plies}"),
        None => "?".into(),
    }
}

/// How far a puzzle's room is, as one word.
pub fn puzzle_progress(state: &PuzzleState) -> &'static str {
    match state.progress() {
        PuzzleProgress::PuzzleUnspecified => "unknown",
        PuzzleProgress::PuzzleOpen => "open",
        PuzzleProgress::PuzzleJudging => "judging",
        PuzzleProgress::PuzzleWrong => "wrong",
        PuzzleProgress::PuzzleSolved => "solved",
    }
}
