//! The schema's enums as words: short ones for scripts, sentences for people.

use proto::board::{Ending, Game, GomokuOpening, GomokuRule, Result as MatchResult, Setup, Side, setup};
use proto::control::{
    AccountState, Adapter, Board, Carrier, CheckState, Clock, ColourChoice, ComparisonEnd, ConnectState,
    ContactState, EndingsState, FactKind, FriendCode, GameSheet, HintFound, InvitationEnd, LetterState,
    LinkState, MarkKind, NoticeKind, OfferKind, PeerLink, PieceKind, Presence, PuzzleProgress, PuzzleState,
    Race, RadioState, Room, Score, Seat, Stranger, ThreatKind, Unreached, Visibility, score, seat,
};
use proto::peer::{DeclineReason, Phrase};

use crate::connection::Failure;

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

pub(crate) fn side(number: i32) -> String {
    word!(Side, number, "SIDE_")
}

pub(crate) fn game(number: i32) -> String {
    word!(Game, number, "GAME_")
}

pub(crate) fn ending(number: i32) -> String {
    word!(Ending, number, "ENDING_")
}

pub(crate) fn threat(number: i32) -> String {
    word!(ThreatKind, number, "THREAT_")
}

pub(crate) fn carrier(number: i32) -> String {
    word!(Carrier, number, "CARRIER_")
}

/// The best first.
pub(crate) fn carriers(numbers: &[i32]) -> String {
    numbers.iter().map(|number| carrier(*number)).collect::<Vec<_>>().join("+")
}

pub(crate) fn endings(number: i32) -> String {
    word!(EndingsState, number, "ENDINGS_")
}

pub(crate) fn radio(number: i32) -> String {
    word!(RadioState, number, "RADIO_")
}

pub(crate) fn account_state(number: i32) -> String {
    word!(AccountState, number, "ACCOUNT_")
}

pub(crate) fn contact_state(number: i32) -> String {
    word!(ContactState, number, "CONTACT_")
}

pub(crate) fn presence(number: i32) -> String {
    word!(Presence, number, "PRESENCE_")
}

pub(crate) fn unreached(number: i32) -> String {
    word!(Unreached, number, "UNREACHED_")
}

/// A stranger in one line: name and state.
pub(crate) fn stranger(one: &Stranger) -> String {
    let name = if one.name.is_empty() { "(no name yet)" } else { &one.name };
    let does = match (one.comparing, one.mine) {
        (true, _) => "waits for the strings to be compared",
        (false, true) => "was asked for here",
        (false, false) => "has connected, and shows nothing yet",
    };
    format!("{name} by {}: {does}  {}", carrier(one.carrier), one.id)
}

/// Why a peer is unreached, for a person, with a comma before the text; empty for a reachable peer.
pub(crate) fn why_unreached(why: Unreached) -> &'static str {
    match why {
        Unreached::Unspecified => "",
        Unreached::NotHeard => ", not heard",
        Unreached::Left => ", said goodbye",
        Unreached::NoCarrier => ", out of reach: no radio works here, see `qiyouctl doctor`",
        Unreached::NotFound => ", not heard, and cannot find this device: its adapter does not advertise",
    }
}

pub(crate) fn connect(number: i32) -> String {
    word!(ConnectState, number, "CONNECT_")
}

pub(crate) fn invitation_end(number: i32) -> String {
    word!(InvitationEnd, number, "INVITATION_")
}

pub(crate) fn comparison_end(number: i32) -> String {
    word!(ComparisonEnd, number, "COMPARISON_")
}

pub(crate) fn decline_reason(number: i32) -> String {
    word!(DeclineReason, number, "DECLINE_")
}

pub(crate) fn colours(number: i32) -> String {
    word!(ColourChoice, number, "COLOUR_")
}

/// `4:59`, in the periods of byo-yomi `0:29 (3)`.
pub(crate) fn clock(clock: &Clock) -> String {
    let seconds = clock.left_ms / 1000;
    let periods = if clock.byo_yomi { format!(" ({})", clock.periods) } else { String::new() };
    format!("{}:{:02}{periods}", seconds / 60, seconds % 60)
}

pub(crate) fn offer(number: i32) -> String {
    word!(OfferKind, number, "OFFER_")
}

pub(crate) fn notice(number: i32) -> String {
    word!(NoticeKind, number, "NOTICE_")
}

pub(crate) fn visibility(number: i32) -> String {
    word!(Visibility, number, "VISIBILITY_")
}

pub(crate) fn check(number: i32) -> String {
    word!(CheckState, number, "CHECK_")
}

/// The schema's name of a phrase without its prefix, with hyphens: `good-move`.
pub(crate) fn phrase(number: i32) -> String {
    word!(Phrase, number, "PHRASE_").replace('_', "-")
}

pub(crate) fn read_phrase(word: &str) -> Result<Phrase, Failure> {
    let name = format!("PHRASE_{}", word.replace('-', "_").to_uppercase());
    Phrase::from_str_name(&name).filter(|phrase| *phrase != Phrase::Unspecified).ok_or_else(|| {
        // Numbers are below 64; those without a phrase are gaps.
        let known: Vec<String> = (1..64).filter(|n| Phrase::try_from(*n).is_ok()).map(phrase).collect();
        Failure::Usage(format!("there is no phrase `{word}`; there are: {}", known.join(", ")))
    })
}

pub(crate) fn piece(number: i32) -> String {
    word!(PieceKind, number, "PIECE_")
}

pub(crate) fn mark(number: i32) -> String {
    word!(MarkKind, number, "MARK_")
}

pub(crate) fn fact(number: i32) -> String {
    word!(FactKind, number, "FACT_")
}

pub(crate) fn link(link: &LinkState) -> String {
    word!(PeerLink, link.state, "PEER_LINK_")
}

/// The stage of the last letter about a match: `at server`.
pub(crate) fn letter(number: i32) -> String {
    word!(LetterState, number, "LETTER_STATE_").replace('_', " ")
}

pub(crate) fn setup(setup: Option<&Setup>) -> String {
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

/// Rules, presets and options with their values; the chosen value is in brackets.
pub(crate) fn sheet(sheet: &GameSheet) -> String {
    let mark = |word: &str, chosen: &str| if word == chosen { format!("[{word}]") } else { word.to_owned() };
    let mut lines = vec![sheet.rule_sheet_en.clone()];
    if !sheet.presets.is_empty() {
        let presets: Vec<String> =
            sheet.presets.iter().map(|preset| mark(&preset.preset, &sheet.preset)).collect();
        lines.push(format!("--preset {}", presets.join("|")));
    }
    for option in &sheet.options {
        let values: Vec<String> =
            option.values.iter().map(|value| mark(&value.value, &option.chosen)).collect();
        let range =
            if option.numbers { format!(" ({} to {})", option.least, option.most) } else { String::new() };
        let name = option.name.as_ref().map_or("", |name| name.en.as_str());
        lines.push(format!("--option {}={}{range}: {name}", option.option, values.join("|")));
    }
    if !sheet.problem.is_empty() {
        lines.push(format!("This makes no game: {}", sheet.problem));
    }
    lines.join("\n")
}

/// `here`, `bot:5`, `assist:5`, or the peer's name.
pub(crate) fn seat(seat: Option<&Seat>) -> String {
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
        Some((Some(seat::Who::Here(_)) | None, _)) | None => "here".into(),
    }
}

pub(crate) fn score(score: Score) -> String {
    match score.score {
        Some(score::Score::Points(points)) => format!("{:+.2}", f64::from(points) / 100.0),
        Some(score::Score::WinIn(plies)) => format!("wins in {plies}"),
        Some(score::Score::LossIn(plies)) => format!("loses in {plies}"),
        None => "?".into(),
    }
}

/// A match's result as a sentence. `board`: the room's board, which says whether the players have exchanged
/// colours.
pub(crate) fn result_in(result: MatchResult, board: &Board) -> String {
    let swapped = board.facts.iter().any(|fact| fact.kind() == FactKind::FactSwapped);
    let words = self::result(result);
    match (swapped, result.winner()) {
        (true, Side::First) => words.replacen("X (first)", "O (first)", 1),
        (true, Side::Second) => words.replacen("O (second)", "X (second)", 1),
        _ => words,
    }
}

/// A match's result as a sentence, if the players have not exchanged colours.
pub(crate) fn result(result: MatchResult) -> String {
    let why = match result.ending() {
        Ending::Unspecified => "over".into(),
        ending => ending.as_str_name().trim_start_matches("ENDING_").to_lowercase().replace('_', " "),
    };
    match result.winner() {
        Side::First => format!("X (first) wins: {why}"),
        Side::Second => format!("O (second) wins: {why}"),
        Side::Unspecified => format!("a draw: {why}"),
    }
}

/// An adapter in one line.
pub(crate) fn adapter(adapter: &Adapter) -> String {
    let state = match (adapter.here, adapter.powered) {
        (false, _) => "not there",
        (true, false) => "off",
        (true, true) => "on",
    };
    let used = if adapter.in_use { ", used" } else { "" };
    let chosen = if adapter.chosen { ", chosen" } else { "" };
    format!("{}  {}  {state}{used}{chosen}", adapter.name, adapter.address)
}

/// A room in one line.
pub(crate) fn room(room: &Room) -> String {
    let board = room.board.clone().unwrap_or_default();
    let state = match &room.result {
        Some(over) => result_in(*over, &board),
        None => format!("ply {}, {} to move", board.ply, side(board.turn)),
    };
    let last = room.record.last().map_or_else(String::new, |last| format!(", last {last}"));
    let last = match room.clocks.as_slice() {
        [first, second] => format!("{last}, clocks {} and {}", clock(first), clock(second)),
        _ => last,
    };
    let last = match &room.race {
        Some(race) => format!("{last}, {}", self::race(race)),
        None => last,
    };
    let last = if room.paused { format!("{last}, paused") } else { last };
    let away = match &room.link {
        Some(link) if link.letter() != LetterState::Unspecified => {
            format!(", {} {}, letter {}", carrier(link.carrier), self::link(link), letter(link.letter))
        }
        Some(link) => format!(", {} {}", carrier(link.carrier), self::link(link)),
        None => String::new(),
    };
    let id = room.id.get(..8).unwrap_or(&room.id);
    if let Some(puzzle) = &room.puzzle {
        let said = puzzle.say.as_ref().map_or("", |say| say.en.as_str());
        let name = puzzle.puzzle.as_ref().map_or("", |puzzle| puzzle.id.as_str());
        return format!("{id}  puzzle {name}{last}: {said}");
    }
    format!(
        "{id}  {} - {}: {}: {state}{last}{away}",
        seat(room.first.as_ref()),
        seat(room.second.as_ref()),
        setup(room.setup.as_ref())
    )
}

/// Presses and times of both; tenths of a second only for a finished run, because they decide the race.
fn race(race: &Race) -> String {
    let seconds = |ms: u32| format!("{}.{} s", ms / 1000, ms / 100 % 10);
    let mine = match (race.i_finished, race.i_stopped) {
        (true, _) => format!("done in {}", seconds(race.my_elapsed_ms)),
        (_, true) => "stopped".into(),
        _ => format!("{} s", race.my_elapsed_ms / 1000),
    };
    let theirs = match (race.they_finished, race.they_stopped) {
        (true, _) => format!("done in {}", seconds(race.their_elapsed_ms)),
        (_, true) => "stopped".into(),
        _ => format!("{} lights on", race.their_lit),
    };
    format!("you: {} presses, {mine}; the other: {} presses, {theirs}", race.my_presses, race.their_presses)
}

/// For a terminal with a dark background: two rows of modules a line, with the quiet zone that readers need.
pub(crate) fn qr(code: &FriendCode) -> String {
    const MARGIN: usize = 4;
    let side = code.side as usize;
    let light = |row: usize, column: usize| {
        let inside = |at: usize| at.checked_sub(MARGIN).filter(|at| *at < side);
        match (inside(row), inside(column)) {
            (Some(row), Some(column)) => {
                let byte = code.dark.get(row * side.div_ceil(8) + column / 8);
                byte.is_none_or(|byte| byte >> (column % 8) & 1 == 0)
            }
            _ => true,
        }
    };
    let whole = side + 2 * MARGIN;
    let mut text = String::new();
    for row in (0..whole).step_by(2) {
        for column in 0..whole {
            text.push(match (light(row, column), row + 1 < whole && light(row + 1, column)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        text.push('\n');
    }
    text
}

/// The action alone, or the lines with their chances and the threats.
pub(crate) fn hint(hint: &HintFound) -> String {
    if hint.lines.is_empty() {
        return hint.notation.clone();
    }
    let lines = hint.lines.iter().map(|line| {
        let lead = f64::from(line.lead_tenths) / 10.0;
        let lead = if line.lead_tenths == 0 { String::new() } else { format!(", {lead:+.1} points") };
        let score =
            line.score.as_ref().map_or_else(String::new, |found| format!(", {}", self::score(*found)));
        format!("{:>5.1} %{lead}{score}: {}", f64::from(line.permille) / 10.0, line.line.join(" "))
    });
    let threats =
        hint.threats.iter().filter_map(|threat| threat.words.as_ref()).map(|words| words.en.clone());
    lines.chain(threats).collect::<Vec<_>>().join("\n")
}

/// How far a puzzle's room is, as one word.
pub(crate) fn puzzle_progress(state: &PuzzleState) -> &'static str {
    match state.progress() {
        PuzzleProgress::PuzzleUnspecified => "unknown",
        PuzzleProgress::PuzzleOpen => "open",
        PuzzleProgress::PuzzleJudging => "judging",
        PuzzleProgress::PuzzleWrong => "wrong",
        PuzzleProgress::PuzzleSolved => "solved",
    }
}
