//! What the host says as lines for people.

use client::words::{carrier, letter, level_text, score, seat, setup, side};
use proto::board::{Ending, Result as MatchResult, Side};
use proto::control::{
    Achieved, Adapter, Board, Clock, FactKind, GameSheet, Guest, Help, HintFound, LetterState, Race, Room,
    Stranger, Unreached,
};

/// The best first.
pub(crate) fn carriers(numbers: &[i32]) -> String {
    numbers.iter().map(|number| carrier(*number)).collect::<Vec<_>>().join("+")
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

/// `4:59`, in the periods of byo-yomi `0:29 (3)`.
pub(crate) fn clock(clock: &Clock) -> String {
    let seconds = clock.left_ms / 1000;
    let periods = if clock.byo_yomi { format!(" ({})", clock.periods) } else { String::new() };
    format!("{}:{:02}{periods}", seconds / 60, seconds % 60)
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
    if let Some(strength) = sheet.strength.as_ref().filter(|strength| strength.matches > 0) {
        let level = |tenths: u32| level_text(tenths / 10, tenths % 10);
        lines.push(format!(
            "Your level: {} (probably {} to {}), from {} matches",
            level(strength.level_tenths),
            level(strength.lowest_tenths),
            level(strength.highest_tenths),
            strength.matches
        ));
    }
    if !sheet.problem.is_empty() {
        lines.push(format!("This makes no game: {}", sheet.problem));
    }
    lines.join("\n")
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

/// Quiet hours, from their JSON form.
pub(crate) fn quiet_hours(hours: &serde_json::Value) -> String {
    format!("{} to {}", hours["from"].as_str().unwrap_or("?"), hours["until"].as_str().unwrap_or("?"))
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
        Some(over) => match room.achieved.as_ref().map(achieved).filter(|words| !words.is_empty()) {
            Some(achieved) => format!("{}: {achieved}", result_in(*over, &board)),
            None => result_in(*over, &board),
        },
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
            format!(
                ", {} {}, letter {}",
                carrier(link.carrier),
                client::words::link(link),
                letter(link.letter)
            )
        }
        Some(link) => format!(", {} {}", carrier(link.carrier), client::words::link(link)),
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

/// What the end of a match was to the person here; empty where there is nothing to tell. What was won with help is not the
/// person's own doing.
pub(crate) fn achieved(achieved: &Achieved) -> String {
    let mut told: Vec<String> = match achieved.help() {
        Help::Hints => vec!["with hints".into()],
        Help::Solved => vec!["the solution was shown".into()],
        Help::None => [
            (achieved.first_win, "first win".to_owned()),
            (achieved.streak > 1, format!("{} wins in a row", achieved.streak)),
            (achieved.fewest, "no solution has fewer presses".into()),
            (achieved.best_before > 0, format!("fewest presses so far, {} before", achieved.best_before)),
        ]
        .into_iter()
        .filter_map(|(so, words)| so.then_some(words))
        .collect(),
    };
    if achieved.next_level > 0 {
        told.push(format!("next is level {}", achieved.next_level));
    }
    told.join(", ")
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
pub(crate) fn qr(side: u32, dark: &[u8]) -> String {
    const MARGIN: usize = 4;
    let side = side as usize;
    let light = |row: usize, column: usize| {
        let inside = |at: usize| at.checked_sub(MARGIN).filter(|at| *at < side);
        match (inside(row), inside(column)) {
            (Some(row), Some(column)) => {
                let byte = dark.get(row * side.div_ceil(8) + column / 8);
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
        let score = line.score.as_ref().map_or_else(String::new, |found| format!(", {}", score(*found)));
        format!("{:>5.1} %{lead}{score}: {}", f64::from(line.permille) / 10.0, line.line.join(" "))
    });
    let threats =
        hint.threats.iter().filter_map(|threat| threat.words.as_ref()).map(|words| words.en.clone());
    lines.chain(threats).collect::<Vec<_>>().join("\n")
}

/// A guest's code in one line.
pub(crate) fn guest(guest: &Guest) -> String {
    if !guest.club_id.is_empty() {
        return format!("evening {}: {} looking", guest.club_id, guest.watchers);
    }
    let id = guest.room_id.get(..8).unwrap_or(&guest.room_id);
    if guest.side() == Side::Unspecified {
        return format!("{id}  to watch: {} watching", guest.watchers);
    }
    let state = match (guest.came, guest.present) {
        (false, _) => "nobody has come yet",
        (true, false) => "away",
        (true, true) => "here",
    };
    let asks = if guest.asks { ", somebody else asks for the seat" } else { "" };
    let name = if guest.name.is_empty() { "a guest" } else { &guest.name };
    format!("{id}  {}: {name}, {state}{asks}", side(guest.side))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_that_is_over_tells_what_its_end_was_to_the_player() {
        let over = MatchResult { winner: Side::First.into(), ending: Ending::FiveInARow.into() };
        let line = |achieved| room(&Room { result: Some(over), achieved, ..Room::default() });
        let plain = line(None);
        assert!(plain.ends_with("X (first) wins: five in a row"), "{plain}");
        let of = Achieved::default;
        for (achieved, words) in [
            (of(), ""),
            (Achieved { first_win: true, next_level: 4, ..of() }, ": first win, next is level 4"),
            (Achieved { streak: 3, ..of() }, ": 3 wins in a row"),
            (Achieved { fewest: true, ..of() }, ": no solution has fewer presses"),
            (Achieved { best_before: 9, ..of() }, ": fewest presses so far, 9 before"),
            (Achieved { help: Help::Hints.into(), next_level: 4, ..of() }, ": with hints, next is level 4"),
            (Achieved { help: Help::Solved.into(), ..of() }, ": the solution was shown"),
        ] {
            assert_eq!(line(Some(achieved)), format!("{plain}{words}"));
        }
    }
}
