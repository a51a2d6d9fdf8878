//! Parsers of files and positions under random mutations of seed files: no input causes a panic, everything parsed can be
//! written, and the output parses again. A fixed number of mutations, or `FUZZ_SECONDS` seconds for each target.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::files::{Format, GameFile};
use engine::sgf::Collection;
use engine::xiangqi::Notation;
use engine::{Action, AnyGame, GameKind, Rng};

/// Number of mutations without `FUZZ_SECONDS`: about a second per target without optimisation.
const CHANGES: u32 = 3_000;

/// Runs all targets in parallel even if the test harness has few threads, so that a long run takes as long as one target.
#[test]
fn no_bytes_break_what_reads_files_setups_or_notation() {
    let targets = [
        no_bytes_break_sgf,
        no_bytes_break_psq,
        no_bytes_break_records,
        no_bytes_break_positions,
        no_bytes_break_setups,
        no_text_breaks_the_notation_of_a_move,
    ];
    std::thread::scope(|scope| {
        for target in targets {
            scope.spawn(target);
        }
    });
}

fn no_bytes_break_sgf() {
    fuzz("sgf", |bytes| {
        let collection = match Collection::read(bytes) {
            Ok(collection) => collection,
            Err(stopped) => stopped.read,
        };
        if !collection.games.is_empty() {
            let text = collection.write();
            let again = Collection::read(text.as_bytes()).expect("what was written is read");
            assert_eq!(again.write(), text, "writing twice gives the same");
        }
        file(GameKind::Go, Format::Sgf, bytes);
        file(GameKind::Gomoku, Format::Sgf, bytes);
    });
}

fn no_bytes_break_psq() {
    fuzz("psq", |bytes| file(GameKind::Gomoku, Format::Psq, bytes));
}

fn no_bytes_break_records() {
    fuzz("record", |bytes| {
        for &game in GameKind::ALL {
            file(game, Format::Record(Notation::Iccs), bytes);
        }
    });
}

fn no_bytes_break_positions() {
    fuzz("position", |bytes| {
        for &game in GameKind::ALL {
            file(game, Format::Position, bytes);
        }
        file(GameKind::LightsOut, Format::Lights, bytes);
    });
}

fn no_bytes_break_setups() {
    fuzz("setup", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for &game in GameKind::ALL {
            match game.read_setup(&text) {
                Ok(setup) => {
                    let again = game.read_setup(&setup.to_string()).expect("what was written is read");
                    assert_eq!(again, setup);
                    assert!(AnyGame::new(&setup).is_ok(), "a setup that was read makes a game");
                }
                Err(error) => assert!(error.line == 1 && error.column >= 1),
            }
        }
    });
}

fn no_text_breaks_the_notation_of_a_move() {
    let games: Vec<AnyGame> = GameKind::ALL
        .iter()
        .map(|kind| AnyGame::new(&kind.default_setup()).expect("the default setup is valid"))
        .collect();
    fuzz("notation", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for game in &games {
            for word in text.split_whitespace() {
                let Some(action) = game.parse(word) else { continue };
                if game.legal_move(action).is_ok() {
                    assert_eq!(game.parse(&game.notation(action)), Some(action), "{word}");
                }
            }
        }
    });
}

/// Parses a file; a parsed game is written in every format that can hold it, and parsed again as the same game.
fn file(game: GameKind, format: Format, bytes: &[u8]) {
    let file = match GameFile::read(game, format, bytes) {
        Ok(file) => file,
        Err(stopped) => {
            assert!(stopped.error.line >= 1 && stopped.error.column >= 1, "{:?}", stopped.error);
            let Some(file) = stopped.read else { return };
            file
        }
    };
    assert_eq!(file.game.key(), file.game.fresh_key());
    let file = GameFile { collection: None, ..file };
    for format in [Format::Sgf, Format::Record(Notation::Chinese), Format::Position] {
        let Ok(text) = file.write(format) else { continue };
        let Ok(again) = GameFile::read(game, format, text.as_bytes()) else {
            // A position may be of an opening, which has no notation, or may be over because of stones that no move placed.
            assert!(format == Format::Position || file.start.ply() > 0 || is_set_up(&file), "{text}");
            continue;
        };
        if format == Format::Record(Notation::Chinese) && !is_set_up(&file) {
            assert_eq!(again.actions, file.actions, "{text}");
            assert_eq!(again.game.key(), file.game.key(), "{text}");
        }
    }
}

/// Whether the file starts from another position than the setup's.
fn is_set_up(file: &GameFile) -> bool {
    AnyGame::new(&file.start.setup()).map_or(true, |fresh| fresh.key() != file.start.key())
        || file.actions.iter().any(|action| matches!(action, Action::Choose(_)))
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds").join(target)
}

fn fuzz(target: &str, check: impl Fn(&[u8])) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(target))
        .expect("has seeds")
        .map(|entry| entry.expect("readable").path())
        .collect();
    // In an order independent of the file system.
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("readable")).collect();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        run(&check, seed);
    }
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut rng = Rng::new(seed::begin(target, 1));
    let mut done = 0;
    while end.map_or(done < CHANGES, |end| Instant::now() < end) {
        run(&check, &changed(&seeds, &mut rng));
        done += 1;
    }
    println!("{target}: {} seeds, {done} changes", seeds.len());
}

fn run(check: impl Fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(input))) {
        eprintln!("failing input: {:?}", String::from_utf8_lossy(input));
        resume_unwind(panic);
    }
}

/// A seed with one to four typical kinds of damage.
fn changed(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut below = |bound: usize| rng.below(bound.max(1) as u32) as usize;
    let mut bytes = seeds[below(seeds.len())].clone();
    for _ in 0..=below(4) {
        let at = below(bytes.len() + 1);
        let end = at + below((bytes.len() - at + 1).min(40));
        match below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let other = &seeds[below(seeds.len())];
                let from = below(other.len());
                let piece = other[from..].to_vec();
                bytes.splice(at.., piece);
            }
            4 => drop(bytes.splice(at..end, *b"99999999999999999999")),
            5 => {
                let signs = b"[]();:\\\"/ .,-+=\n\r\x0019azAZbw{}#x";
                bytes.insert(at, signs[below(signs.len())]);
            }
            6 => bytes.insert(at, below(256) as u8),
            _ if at < bytes.len() => bytes[at] ^= 1 << below(8),
            _ => {}
        }
    }
    bytes
}
