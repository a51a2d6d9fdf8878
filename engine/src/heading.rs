//! Header data of a game's file (players, event, date, result), in one form for all formats, each of which has its own
//! names.
//!
//! | here | SGF | PGN and `.qiyou` |
//! |---|---|---|
//! | `first`, `second` | `PB`, `PW` | `Red`, `Black`; in other games than xiangqi `Black`, `White` |
//! | `event`, `date` | `EV` (else `GN`), `DT` | `Event`, `Date` |
//! | `ended` | `RE`: `B+R`, `W+T`, `B+3.5`, `B+`, `0`, also 黑中盘胜 | `Result` with `Termination`: `1-0`, `0-1`, `1/2-1/2`, also 红胜, 和棋 |
//!
//! Colours are literal: after a swap in gomoku's opening, `PB` names the second player.

use crate::files::GameFile;
use crate::{AnyGame, GameKind, Side};

/// The header of a file. Empty fields: not in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The player who moves first.
    pub first: String,
    /// The player who moves second.
    pub second: String,
    /// The tournament, or the title of the game.
    pub event: String,
    /// As in the file, usually `2026-11-24`.
    pub date: String,
    /// The result, if the file has one.
    pub ended: Option<Ended>,
}

/// A result in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// `None` for a draw.
    pub winner: Option<Side>,
    /// The reason, as far as it is known.
    pub cause: Cause,
}

/// Why a game ended, if the rules do not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Unknown.
    Unsaid,
    /// Resignation.
    Resigned,
    /// Time forfeit.
    Time,
    /// Draw by agreement.
    Agreed,
}

impl Ended {
    /// In PGN form: `1-0`, `0-1`, `1/2-1/2`.
    pub const fn score(self) -> &'static str {
        match self.winner {
            Some(Side::First) => "1-0",
            Some(Side::Second) => "0-1",
            None => "1/2-1/2",
        }
    }
}

/// PGN tag names of the sides.
const fn sides(kind: GameKind) -> [&'static str; 2] {
    match kind {
        GameKind::Xiangqi => ["Red", "Black"],
        _ => ["Black", "White"],
    }
}

impl GameFile {
    /// The header from the tags and the result of this file.
    pub(crate) fn read_heading(&self) -> Heading {
        let kind = self.start.kind();
        let tag = |names: &[&str]| {
            let found = names.iter().find_map(|name| {
                let same = |(tag, value): &&(String, String)| {
                    tag.eq_ignore_ascii_case(name) && !value.trim().is_empty()
                };
                self.tags.iter().find(same).map(|(_, value)| value.trim().to_owned())
            });
            // PGN writes question marks for unknown values.
            found.filter(|value| !value.trim_matches(['?', '.', '-']).is_empty()).unwrap_or_default()
        };
        let [first, second] = sides(kind);
        let (mut first, mut second) = (tag(&["PB", first]), tag(&["PW", second]));
        let swapped = self.game.color(Side::First) != Side::First;
        if swapped {
            std::mem::swap(&mut first, &mut second);
        }
        let said = self.result.clone().unwrap_or_else(|| tag(&["RE", "Result"]));
        let ended = ended(kind, &said, &tag(&["Termination"])).map(|ended| Ended {
            winner: ended.winner.map(|colour| if swapped { colour.other() } else { colour }),
            ..ended
        });
        let date = tag(&["DT", "Date"]).replace(".??", "");
        let is_pgn = date.len() >= 7 && date.as_bytes()[4] == b'.';
        let date = if is_pgn { date.replace('.', "-") } else { date };
        Heading { first, second, event: tag(&["EV", "Event", "GN"]), date, ended }
    }

    /// The non-empty fields under SGF's names; the result only if the rules do not show it.
    pub(crate) fn sgf_heading(&self) -> Vec<(&'static str, String)> {
        let Heading { first, second, event, date, ended } = &self.heading;
        let [black, white] = self.by_colour(first, second);
        let mut named =
            vec![("PB", black.clone()), ("PW", white.clone()), ("EV", event.clone()), ("DT", date.clone())];
        if let (Some(ended), None) = (ended, self.game.outcome()) {
            named.push(("RE", sgf_result(&self.game, *ended)));
        }
        named.retain(|(_, value)| !value.is_empty());
        named
    }

    /// The fields under PGN's names, without the result.
    pub(crate) fn record_heading(&self) -> Vec<(&'static str, String)> {
        let Heading { first, second, event, date, ended } = &self.heading;
        let [first, second] = self.by_colour(first, second);
        let [first_name, second_name] = sides(self.start.kind());
        let mut named = vec![
            ("Event", event.clone()),
            ("Date", pgn_date(date)),
            (first_name, first.clone()),
            (second_name, second.clone()),
        ];
        if let (Some(ended), None) = (ended, self.game.outcome()) {
            let cause = match ended.cause {
                Cause::Unsaid => "",
                Cause::Resigned => "resignation",
                Cause::Time => "time forfeit",
                Cause::Agreed => "agreement",
            };
            named.push(("Termination", cause.to_owned()));
        }
        named.retain(|(_, value)| !value.is_empty());
        named
    }

    /// The result token at the end of a PGN record.
    pub(crate) fn score(&self) -> &'static str {
        let ruled = self.game.outcome().map(|outcome| Ended { winner: outcome.winner, cause: Cause::Unsaid });
        // The meaning of 1-0 depends on who has which colour.
        let coloured =
            |ended: Ended| Ended { winner: ended.winner.map(|player| self.game.color(player)), ..ended };
        ruled.or(self.heading.ended).map(coloured).map_or("*", Ended::score)
    }

    fn by_colour<'a>(&self, first: &'a String, second: &'a String) -> [&'a String; 2] {
        if self.game.color(Side::First) == Side::First { [first, second] } else { [second, first] }
    }
}

/// PGN dates are separated by dots.
fn pgn_date(date: &str) -> String {
    let plain = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if plain { date.replace('-', ".") } else { date.to_owned() }
}

fn sgf_result(game: &AnyGame, ended: Ended) -> String {
    let Some(winner) = ended.winner else { return "Draw".into() };
    let colour = if game.color(winner) == Side::First { "B" } else { "W" };
    let cause = match ended.cause {
        Cause::Resigned => "R",
        Cause::Time => "T",
        Cause::Unsaid | Cause::Agreed => "",
    };
    format!("{colour}+{cause}")
}

/// Parses a result by colour. `None` if there is none, or it is not understood: `*`, `?`, `Void`.
fn ended(kind: GameKind, said: &str, termination: &str) -> Option<Ended> {
    let lower = said.trim().to_lowercase();
    let draw = Ended { winner: None, cause: Cause::Unsaid };
    let won = |winner, cause| Ended { winner: Some(winner), cause };
    let by_sign = |side, rest: &str| {
        won(
            side,
            match rest.chars().next() {
                Some('r') => Cause::Resigned,
                Some('t') => Cause::Time,
                _ => Cause::Unsaid,
            },
        )
    };
    let ended = match lower.as_str() {
        "1-0" => won(Side::First, Cause::Unsaid),
        "0-1" => won(Side::Second, Cause::Unsaid),
        "1/2-1/2" | "1/2" | "0" | "draw" | "jigo" => draw,
        text => match (text.strip_prefix("b+"), text.strip_prefix("w+")) {
            (Some(rest), _) => by_sign(Side::First, rest),
            (_, Some(rest)) => by_sign(Side::Second, rest),
            _ => chinese(kind, text)?,
        },
    };
    if ended.cause != Cause::Unsaid {
        return Some(ended);
    }
    let why = termination.to_lowercase();
    let cause = match ended.winner {
        Some(_) if why.contains("resign") || why.contains("认输") => Cause::Resigned,
        Some(_) if why.contains("time") || why.contains("超时") => Cause::Time,
        None if why.contains("agree") || why.contains("议和") => Cause::Agreed,
        _ => Cause::Unsaid,
    };
    Some(Ended { cause, ..ended })
}

/// Parses Chinese results: 红胜, 黑方胜, 黑中盘胜, 和棋.
fn chinese(kind: GameKind, text: &str) -> Option<Ended> {
    if text.starts_with('和') || text.contains("和棋") || text.contains("平局") {
        return Some(Ended { winner: None, cause: Cause::Unsaid });
    }
    if !text.contains('胜') {
        return None;
    }
    let winner = match (text.chars().next()?, kind) {
        ('红' | '先', _) => Side::First,
        ('黑', GameKind::Xiangqi) | ('白' | '后', _) => Side::Second,
        ('黑', _) => Side::First,
        _ => return None,
    };
    let cause = if text.contains("中盘") || text.contains("认输") {
        Cause::Resigned
    } else if text.contains("超时") {
        Cause::Time
    } else {
        Cause::Unsaid
    };
    Some(Ended { winner: Some(winner), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_understood_as_programs_say_it_and_a_cause_is_not_made_up() {
        let of = |kind, said: &str, termination: &str| {
            ended(kind, said, termination).map(|ended| (ended.score(), ended.cause))
        };
        let go = |said| of(GameKind::Go, said, "");
        assert_eq!(go("B+R"), Some(("1-0", Cause::Resigned)));
        assert_eq!(go("W+Time"), Some(("0-1", Cause::Time)));
        assert_eq!(go("W+12.5"), Some(("0-1", Cause::Unsaid)));
        assert_eq!(go("B+F"), Some(("1-0", Cause::Unsaid)), "forfeited is none of ours");
        assert_eq!(go("黑中盘胜"), Some(("1-0", Cause::Resigned)));
        assert_eq!(go("0"), Some(("1/2-1/2", Cause::Unsaid)));
        for nothing in ["", "?", "*", "Void", "unknown"] {
            assert_eq!(go(nothing), None, "{nothing}");
        }
        let xiangqi = |said, why| of(GameKind::Xiangqi, said, why);
        assert_eq!(xiangqi("1-0", ""), Some(("1-0", Cause::Unsaid)));
        assert_eq!(xiangqi("0-1", "resignation"), Some(("0-1", Cause::Resigned)));
        assert_eq!(xiangqi("1/2-1/2", "agreement"), Some(("1/2-1/2", Cause::Agreed)));
        assert_eq!(xiangqi("黑胜", ""), Some(("0-1", Cause::Unsaid)));
        assert_eq!(xiangqi("红方胜", ""), Some(("1-0", Cause::Unsaid)));
        assert_eq!(xiangqi("和棋", ""), Some(("1/2-1/2", Cause::Unsaid)));
    }
}
