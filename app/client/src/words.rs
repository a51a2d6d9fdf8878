//! The schema's enums as words for scripts.

use proto::board::{Ending, Game, GomokuOpening, GomokuRule, Setup, Side, setup};
use proto::control::{
    AccountState, Carrier, CheckState, ClubResult, ClubState, ClubWay, ColourChoice, ComparisonEnd,
    ConnectState, ContactState, EndingsState, EngineProtocol, FactKind, Help, HotspotState, InvitationEnd,
    LetterState, LinkState, MarkKind, NoticeKind, OfferKind, PeerLink, PieceKind, Presence, PuzzleProgress,
    PuzzleState, RadioState, RefusalCode, Score, Seat, ThreatKind, TodayMark, TodayPuzzle, Unreached,
    Visibility, score, seat,
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

/// A function for each enum.
macro_rules! words {
    ($($name:ident: $enum:ident without $prefix:literal;)*) => {$(
        #[doc = concat!("A number of [`", stringify!($enum), "`] as a word; `unknown_` and the number where it is none.")]
        pub fn $name(number: i32) -> String {
            word!($enum, number, $prefix)
        }
    )*};
}

words! {
    help: Help without "HELP_";
    side: Side without "SIDE_";
    game: Game without "GAME_";
    ending: Ending without "ENDING_";
    threat: ThreatKind without "THREAT_";
    carrier: Carrier without "CARRIER_";
    endings: EndingsState without "ENDINGS_";
    radio: RadioState without "RADIO_";
    account_state: AccountState without "ACCOUNT_";
    contact_state: ContactState without "CONTACT_";
    presence: Presence without "PRESENCE_";
    unreached: Unreached without "UNREACHED_";
    connect: ConnectState without "CONNECT_";
    invitation_end: InvitationEnd without "INVITATION_";
    comparison_end: ComparisonEnd without "COMPARISON_";
    decline_reason: DeclineReason without "DECLINE_";
    colours: ColourChoice without "COLOUR_";
    offer: OfferKind without "OFFER_";
    notice: NoticeKind without "NOTICE_";
    visibility: Visibility without "VISIBILITY_";
    check: CheckState without "CHECK_";
    piece: PieceKind without "PIECE_";
    mark: MarkKind without "MARK_";
    fact: FactKind without "FACT_";
    refusal: RefusalCode without "REFUSAL_";
    hotspot: HotspotState without "HOTSPOT_";
    club_state: ClubState without "CLUB_";
    club_result: ClubResult without "CLUB_";
    club_way: ClubWay without "CLUB_WAY_";
    protocol: EngineProtocol without "ENGINE_PROTOCOL_";
}

/// The schema's name of a phrase without its prefix, with hyphens: `good-move`.
pub fn phrase(number: i32) -> String {
    word!(Phrase, number, "PHRASE_").replace('_', "-")
}

/// The inverse of [`phrase`]. The error lists all known phrases.
pub fn read_phrase(word: &str) -> Result<Phrase, String> {
    let name = format!("PHRASE_{}", word.replace('-', "_").to_uppercase());
    Phrase::from_str_name(&name).filter(|phrase| *phrase != Phrase::Unspecified).ok_or_else(|| {
        // Phrase numbers are below 64, with gaps.
        let known: Vec<String> = (1..64).filter(|n| Phrase::try_from(*n).is_ok()).map(phrase).collect();
        format!("there is no phrase `{word}`; there are: {}", known.join(", "))
    })
}

/// Which of the two devices a notice says has to be updated; `None` for any other notice.
pub fn outdated(notice: NoticeKind) -> Option<&'static str> {
    match notice {
        NoticeKind::NoticeUpdateNeeded => Some("their Qiyou is too old for yours: ask them to update it"),
        NoticeKind::NoticeUpdateHere => Some("this Qiyou is too old for theirs: update it"),
        _ => None,
    }
}

/// State of the link to the peer, such as `up`.
pub fn link(link: &LinkState) -> String {
    word!(PeerLink, link.state, "PEER_LINK_")
}

/// State of the last letter about a match, such as `at server`.
pub fn letter(number: i32) -> String {
    word!(LetterState, number, "LETTER_STATE_").replace('_', " ")
}

/// The game, with the options that differ from its default rules: `gomoku 15x15, renju`.
pub fn setup(setup: Option<&Setup>) -> String {
    let start = if setup.is_some_and(Setup::is_started) { ", from a position" } else { "" };
    let rules = setup.and_then(Setup::rules);
    let game = match &rules {
        Some(setup::Game::Gomoku(gomoku)) => {
            let rule = word!(GomokuRule, gomoku.rule, "GOMOKU_RULE_");
            let edge = if gomoku.edge_five_wins { "" } else { ", edge five does not win" };
            let opening = match gomoku.opening() {
                GomokuOpening::Free => String::new(),
                _ => {
                    format!(", {}", word!(GomokuOpening, gomoku.opening, "GOMOKU_OPENING_").replace('_', "-"))
                }
            };
            format!("gomoku {0}x{0}, {rule}{edge}{opening}", gomoku.size)
        }
        Some(setup::Game::Liuzhou(_)) => "liuzhou".into(),
        Some(setup::Game::Go(go)) => format!("go {0}x{0}", go.size),
        Some(setup::Game::Xiangqi(_)) => "xiangqi".into(),
        Some(setup::Game::XiangqiChinese(_)) => "xiangqi, repetition by the Chinese rules".into(),
        Some(setup::Game::LightsOut(lights)) => {
            let race = if lights.race { ", race" } else { "" };
            format!("lights-out {}x{}{race}", lights.columns, lights.rows)
        }
        Some(setup::Game::Started(_)) | None => "a game that this program does not know".into(),
    };
    game + start
}

/// A bot's level as players read it: `5`, or `5.5`.
pub fn level_text(level: u32, tenths: u32) -> String {
    if tenths == 0 { level.to_string() } else { format!("{level}.{tenths}") }
}

/// `here`, `bot:5`, `assist:5`, `engine:NAME`, the name of the peer or guest, or `guest` for a guest without a name.
pub fn seat(seat: Option<&Seat>) -> String {
    match seat.map(|seat| (&seat.who, seat)) {
        Some((Some(seat::Who::BotLevel(level)), seat)) if seat.bot_assists => {
            format!("assist:{}", level_text(*level, seat.bot_tenths))
        }
        Some((Some(seat::Who::BotLevel(_)), seat)) if !seat.engine.is_empty() => {
            format!("engine:{}", seat.engine)
        }
        Some((Some(seat::Who::BotLevel(level)), seat)) => {
            format!("bot:{}", level_text(*level, seat.bot_tenths))
        }
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

/// A score for the side to move, in the game's own unit (pawns or points), or as plies to the end: `+1.20`, `wins in 5`.
pub fn score(score: Score) -> String {
    match score.score {
        Some(score::Score::Points(points)) => format!("{:+.2}", f64::from(points) / 100.0),
        Some(score::Score::WinIn(plies)) => format!("wins in {plies}"),
        Some(score::Score::LossIn(plies)) => format!("loses in {plies}"),
        None => "?".into(),
    }
}

/// How one of today's five went, as one word.
pub fn today_mark(one: &TodayPuzzle) -> &'static str {
    match one.mark() {
        TodayMark::TodayUnspecified | TodayMark::TodayOpen => "open",
        TodayMark::TodayMissed => "missed",
        TodayMark::TodayLate => "late",
        TodayMark::TodayFirst => "first",
    }
}

/// Progress in a puzzle's room, as one word.
pub fn puzzle_progress(state: &PuzzleState) -> &'static str {
    match state.progress() {
        PuzzleProgress::PuzzleUnspecified => "unknown",
        PuzzleProgress::PuzzleOpen => "open",
        PuzzleProgress::PuzzleJudging => "judging",
        PuzzleProgress::PuzzleWrong => "wrong",
        PuzzleProgress::PuzzleSolved => "solved",
    }
}
