//! The app's own knowledge of each game: its number, its word in preferences, and how its board is drawn and touched. Rules,
//! options and their names come from the host.

use proto::board as wire;
use proto::control::{Seat, seat};

use crate::screens::{Game, Ground};

/// The name of a game in preferences and on command lines.
pub(crate) const fn word(game: wire::Game) -> &'static str {
    match game {
        wire::Game::Unspecified | wire::Game::Gomoku => "gomoku",
        wire::Game::Liuzhou => "liuzhou",
        wire::Game::Go => "go",
        wire::Game::Xiangqi => "xiangqi",
        wire::Game::LightsOut => "lights-out",
    }
}

/// The inverse of [`word`]; gomoku for an unknown word.
pub(crate) fn of_word(said: &str) -> wire::Game {
    [wire::Game::Liuzhou, wire::Game::Go, wire::Game::Xiangqi, wire::Game::LightsOut]
        .into_iter()
        .find(|game| word(*game) == said)
        .unwrap_or(wire::Game::Gomoku)
}

pub(crate) const fn shown(game: wire::Game) -> Game {
    match game {
        wire::Game::Unspecified => Game::Unknown,
        wire::Game::Gomoku => Game::Gomoku,
        wire::Game::Liuzhou => Game::Liuzhou,
        wire::Game::Go => Game::Go,
        wire::Game::Xiangqi => Game::Xiangqi,
        wire::Game::LightsOut => Game::LightsOut,
    }
}

/// The game of a tile.
pub(crate) fn of(shown: Game) -> wire::Game {
    match shown {
        Game::Unknown => wire::Game::Unspecified,
        Game::Gomoku => wire::Game::Gomoku,
        Game::Liuzhou => wire::Game::Liuzhou,
        Game::Go => wire::Game::Go,
        Game::Xiangqi => wire::Game::Xiangqi,
        Game::LightsOut => wire::Game::LightsOut,
    }
}

/// Whether the game is for one player.
pub(crate) const fn is_solo(game: wire::Game) -> bool {
    matches!(game, wire::Game::LightsOut)
}

pub(crate) const fn ground(game: wire::Game) -> Ground {
    match game {
        wire::Game::LightsOut => Ground::Lamps,
        wire::Game::Xiangqi => Ground::River,
        _ => Ground::Lines,
    }
}

/// Name of a column, from 0 at the left, in players' notation: A, B, … Z, AA; Go leaves out I.
pub(crate) fn column_name(game: wire::Game, column: usize) -> String {
    let column = if game == wire::Game::Go && (8..25).contains(&column) { column + 1 } else { column };
    let mut name = String::new();
    let mut rest = column + 1;
    while rest > 0 {
        name.insert(0, char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    name
}

/// Name of a row, from 0 at the bottom.
pub(crate) fn row_name(row: usize) -> String {
    (row + 1).to_string()
}

/// A move in notation, with its points written as at the board's edge: h8 as H8, xa6 as xA6.
pub(crate) fn written(notation: &str) -> String {
    let next = notation.chars().skip(1).map(Some).chain([None]);
    let named = |(sign, next): (char, Option<char>)| {
        if next.is_some_and(|next| next.is_ascii_digit()) { sign.to_ascii_uppercase() } else { sign }
    };
    notation.chars().zip(next).map(named).collect()
}

/// The files of xiangqi, which each side counts from its own right: Chinese uses Chinese numerals for Red and Arabic ones
/// for Black. The host's words use the same names.
pub(crate) fn file_names(second_side: bool, chinese: bool) -> Vec<&'static str> {
    if second_side || !chinese {
        vec!["9", "8", "7", "6", "5", "4", "3", "2", "1"]
    } else {
        vec!["九", "八", "七", "六", "五", "四", "三", "二", "一"]
    }
}

/// The level of a bot's seat, in tenths after the point; 0 without a bot.
pub(super) fn level_of(seat: &Seat) -> f32 {
    match seat.who {
        Some(seat::Who::BotLevel(level)) => level as f32 + seat.bot_tenths as f32 / 10.0,
        _ => 0.0,
    }
}

/// A bot of this level, 1 to 10 with tenths after the point.
pub(super) fn bot_of(level: f32) -> Seat {
    let tenths = (level * 10.0).round() as u32;
    Seat { who: Some(seat::Who::BotLevel(tenths / 10)), bot_tenths: tenths % 10, ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_as_on_printed_boards() {
        let gomoku = |column| column_name(wire::Game::Gomoku, column);
        assert_eq!([0, 8, 14, 25, 26].map(gomoku), ["A", "I", "O", "Z", "AA"]);
        let go = |column| column_name(wire::Game::Go, column);
        assert_eq!([0, 7, 8, 18, 24].map(go), ["A", "H", "J", "T", "Z"]);
    }

    #[test]
    fn points_are_written_as_at_the_edge_and_words_are_left_as_they_are() {
        let said = ["h8", "c3-c4xd5", "xa6", "pass", "dead D4"].map(written);
        assert_eq!(said, ["H8", "C3-C4xD5", "xA6", "pass", "dead D4"]);
    }

    #[test]
    fn every_game_is_found_by_its_word() {
        for number in 1..=5 {
            let game = wire::Game::try_from(number).expect("five games");
            assert_eq!(of_word(word(game)), game);
        }
        assert_eq!(of_word("chess"), wire::Game::Gomoku);
    }
}
