//! Files made to be expensive: each has the maximum size that a host reads, and is read or rejected in little time. The time is
//! printed, not asserted; the assertions check that a limit bounds the growth.

use std::time::Instant;

use engine::GameKind;
use engine::files::{Format, GameFile};
use engine::sgf::Collection;
use engine::xiangqi::Notation;

const BYTES: usize = 512 * 1024;

fn filled(begin: &str, piece: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = begin.to_owned();
    for number in 0.. {
        let next = piece(number);
        if text.len() + next.len() + end.len() > BYTES {
            break;
        }
        text += &next;
    }
    text + end
}

/// A number in base 26, as letters only.
fn letters(mut number: usize) -> String {
    let mut name = String::new();
    loop {
        name.push(char::from(b'A' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            return name;
        }
    }
}

fn point(number: usize, size: usize) -> String {
    let letter = |n: usize| char::from(b'a' + n as u8);
    [letter(number % size), letter(number / size % size)].iter().collect()
}

#[test]
fn the_most_expensive_files_are_read_or_refused() {
    let cases: Vec<(&str, GameKind, Format, String)> = vec![
        ("names", GameKind::Go, Format::Sgf, filled("(;", |n| format!("{}[]", letters(n)), ")")),
        ("one name", GameKind::Go, Format::Sgf, filled("(;", |_| "A[]".into(), ")")),
        ("variations", GameKind::Go, Format::Sgf, filled("(;", |_| "(;)".into(), ")")),
        ("depth", GameKind::Go, Format::Sgf, "(;".repeat(BYTES / 2)),
        ("games", GameKind::Go, Format::Sgf, filled("", |_| "(;)".into(), "")),
        ("nodes", GameKind::Go, Format::Sgf, filled("(", |_| ";".into(), ")")),
        (
            "moves",
            GameKind::Go,
            Format::Sgf,
            filled("(;SZ[19]", |n| format!(";{}[{}]", ["B", "W"][n % 2], point(n, 19)), ")"),
        ),
        (
            "passes",
            GameKind::Go,
            Format::Sgf,
            filled("(;SZ[19]", |n| format!(";{}[]", ["B", "W"][n % 2]), ")"),
        ),
        ("stones", GameKind::Go, Format::Sgf, filled("(;SZ[19]AB", |n| format!("[{}]", point(n, 19)), ")")),
        ("rectangles", GameKind::Go, Format::Sgf, filled("(;SZ[19]AB", |_| "[aa:ss]".into(), ")")),
        ("markup", GameKind::Go, Format::Sgf, filled("(;SZ[19]", |n| format!(";C[{n}]LB[aa:b]"), ")")),
        (
            "gomoku moves",
            GameKind::Gomoku,
            Format::Sgf,
            filled("(;GM[4]SZ[15]", |n| format!(";{}[{}]", ["B", "W"][n % 2], point(n, 15)), ")"),
        ),
        (
            "psq",
            GameKind::Gomoku,
            Format::Psq,
            filled(
                "Piskvorky 15x15, 11:11, 0\r\n",
                |n| format!("{},{},1\r\n", n % 15 + 1, n / 15 % 15 + 1),
                "",
            ),
        ),
        (
            "pgn tags",
            GameKind::Xiangqi,
            Format::Record(Notation::Iccs),
            filled("", |n| format!("[{} \"\"]\n", letters(n)), "*"),
        ),
        (
            "pgn moves",
            GameKind::Xiangqi,
            Format::Record(Notation::Iccs),
            filled(
                "[Game \"Chinese Chess\"]\n\n",
                |n| ["h2e2 ", "h9g7 ", "e2h2 ", "g7h9 "][n % 4].into(),
                "*",
            ),
        ),
        ("pgn variations", GameKind::Xiangqi, Format::Record(Notation::Iccs), "(".repeat(BYTES)),
        (
            "pgn comments",
            GameKind::Xiangqi,
            Format::Record(Notation::Iccs),
            filled("[Game \"Chinese Chess\"]\n\n", |_| "{} ".into(), "*"),
        ),
        (
            "lights",
            GameKind::LightsOut,
            Format::Lights,
            filled("", |_| format!("{}\n", "#.".repeat(350)), ""),
        ),
        (
            "lights position",
            GameKind::LightsOut,
            Format::Position,
            filled("", |_| format!("{}/", "#.".repeat(350)), ""),
        ),
        ("go position", GameKind::Go, Format::Position, "1".repeat(BYTES)),
        ("fen", GameKind::Xiangqi, Format::Position, "/".repeat(BYTES)),
        (
            "liuzhou",
            GameKind::Liuzhou,
            Format::Record(Notation::Iccs),
            filled("[Game \"liuzhou\"]\n\n", |n| format!("{} ", point(n, 6)), "*"),
        ),
    ];
    let readable = [
        "one name",
        "variations",
        "games",
        "nodes",
        "passes",
        "markup",
        "pgn comments",
        "lights",
        "lights position",
    ];
    for (what, game, format, text) in cases {
        let started = Instant::now();
        let read = GameFile::read(game, format, text.as_bytes());
        println!("{what}: {} ms for {} KB", started.elapsed().as_millis(), text.len() / 1024);
        assert_eq!(
            read.is_ok(),
            readable.contains(&what),
            "{what}: {:?}",
            read.err().map(|stopped| stopped.error)
        );
    }
}

#[test]
fn a_node_with_more_properties_than_any_program_writes_is_refused_where_they_begin() {
    let text = |count: usize| {
        let properties: Vec<String> = (0..count).map(|n| letters(n) + "[]").collect();
        format!("(;{})", properties.concat())
    };
    assert!(Collection::read(text(160).as_bytes()).is_ok());
    let stopped = Collection::read(text(161).as_bytes()).expect_err("too many");
    assert_eq!(stopped.error.expected, "fewer properties in one node");
    // The rest of half a megabyte is not read.
    let long = Collection::read(text(100_000).as_bytes()).expect_err("too many");
    assert_eq!(long.error, stopped.error);
}
