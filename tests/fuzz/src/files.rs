//! Parsers of files, positions, setups and moves: everything that is read can be written, and what is written is read again.

use engine::files::{Format, GameFile};
use engine::sgf::Collection;
use engine::xiangqi::Notation;
use engine::{Action, AnyGame, GameKind};

pub(crate) fn sgf(bytes: &[u8]) {
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
}

pub(crate) fn psq(bytes: &[u8]) {
    file(GameKind::Gomoku, Format::Psq, bytes);
}

pub(crate) fn record(bytes: &[u8]) {
    for &game in GameKind::ALL {
        file(game, Format::Record(Notation::Iccs), bytes);
    }
}

pub(crate) fn position(bytes: &[u8]) {
    for &game in GameKind::ALL {
        file(game, Format::Position, bytes);
    }
    file(GameKind::LightsOut, Format::Lights, bytes);
}

pub(crate) fn setup(bytes: &[u8]) {
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
}

pub(crate) fn notation(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for kind in GameKind::ALL {
        let game = AnyGame::new(&kind.default_setup()).expect("the default setup is valid");
        for word in text.split_whitespace() {
            let Some(action) = game.parse(word) else { continue };
            if game.legal_move(action).is_ok() {
                assert_eq!(game.parse(&game.notation(action)), Some(action), "{word}");
            }
        }
    }
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
            if !has_brace(&file) {
                assert_eq!((&again.notes, again.left_out), (&file.notes, 0), "{text}");
            }
        }
        // Marking dead stones and agreement, which SGF does not say, are in Go alone.
        if format == Format::Sgf && game == GameKind::Gomoku && !is_set_up(&file) {
            assert_eq!((&again.notes, again.left_out), (&file.notes, 0), "{text}");
        }
    }
}

/// Whether a comment has what a record cannot hold.
fn has_brace(file: &GameFile) -> bool {
    let sides = file.notes.moves().iter().map(|side| side.comment.as_str());
    file.notes.comments().map(|(_, comment)| comment).chain(sides).any(|comment| comment.contains('}'))
}

/// Whether the file starts from another position than the setup's.
fn is_set_up(file: &GameFile) -> bool {
    AnyGame::new(&file.start.setup()).map_or(true, |fresh| fresh.key() != file.start.key())
        || file.actions.iter().any(|action| matches!(action, Action::Choose(_)))
}
