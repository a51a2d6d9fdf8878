//! Comments and variations of files: read, written again and bounded.

use engine::files::{Format, GameFile};
use engine::notes::{At, MOST_CHARS, MOST_MOVES, MOST_NESTED, Notes, NotesError};
use engine::xiangqi::Notation;
use engine::{Action, AnyGame, GameKind, Rng};

const RECORD: Format = Format::Record(Notation::Iccs);

fn read(game: GameKind, format: Format, text: &str) -> GameFile {
    match GameFile::read(game, format, text.as_bytes()) {
        Ok(file) => file,
        Err(stopped) => panic!("{:?} in {text}", stopped.error),
    }
}

/// An action by chance; none that SGF does not say.
fn any_action(game: &AnyGame, rng: &mut Rng) -> Option<Action> {
    let said = |action: &Action| {
        matches!(action, Action::Place(_) | Action::Step { .. } | Action::Press(_) | Action::Capture(_))
    };
    let actions: Vec<Action> = game.legal_actions().into_iter().filter(said).collect();
    (!actions.is_empty()).then(|| actions[rng.below(actions.len() as u32) as usize])
}

fn any_comment(rng: &mut Rng) -> String {
    const WORDS: [&str; 10] = [
        "好棋",
        "a\\b]c",
        "(x",
        "1-0",
        "*",
        "\n",
        "[Result \"0-1\"]",
        ";",
        "{",
        "a long sentence about it, and more of it",
    ];
    (0..=rng.below(12)).map(|_| WORDS[rng.below(10) as usize]).collect::<Vec<_>>().join(" ")
}

/// A game by chance with notes by chance.
fn noted(kind: GameKind, rng: &mut Rng) -> GameFile {
    let setup = match kind {
        GameKind::Go => kind.read_setup("size=9").unwrap_or_else(|_| kind.default_setup()),
        _ => kind.default_setup(),
    };
    let start = AnyGame::new(&setup).expect("a valid setup");
    let (mut game, mut actions) = (start.clone(), Vec::new());
    let mut positions = vec![start.clone()];
    while actions.len() < 30 && game.outcome().is_none() {
        let Some(action) = any_action(&game, rng) else { break };
        game.act(action).expect("legal");
        actions.push(action);
        positions.push(game.clone());
    }
    let mut notes = Notes::default();
    for _ in 0..rng.below(6) {
        let ply = rng.below(positions.len() as u32);
        notes.set_comment(At::Main(ply), &any_comment(rng)).expect("short");
    }
    for _ in 0..rng.below(6) {
        let ply = rng.below(positions.len() as u32);
        let (mut position, mut at) = (positions[ply as usize].clone(), At::Main(ply));
        for _ in 0..=rng.below(6) {
            let Some(action) = any_action(&position, rng) else { break };
            match notes.add(at, action, actions.len() as u32) {
                Ok(next) => at = next,
                Err(error) => {
                    assert_eq!((error, ply as usize), (NotesError::NothingBeside, actions.len()));
                    break;
                }
            }
            position.act(action).expect("legal");
            if rng.below(3) == 0 {
                notes.set_comment(at, &any_comment(rng)).expect("short");
            }
            // Sometimes another move from here stands beside the next one.
            if rng.below(3) == 0
                && let Some(other) = any_action(&position, rng)
            {
                notes.add(at, other, actions.len() as u32).expect("there is room");
            }
        }
    }
    let empty = read(kind, RECORD, &format!("[Game \"{}\"]\n[Rules \"{setup}\"]\n\n*\n", kind.word()));
    GameFile { start, actions, game, notes, ..empty }
}

#[test]
fn notes_of_every_game_are_read_back_from_the_files_that_hold_them() {
    let mut rng = Rng::new(17);
    let (mut moves, mut nested) = (0, 0);
    for round in 0..300 {
        let kind = GameKind::ALL[round % GameKind::ALL.len()];
        let file = noted(kind, &mut rng);
        moves += file.notes.moves().len();
        nested += file.notes.moves().iter().filter(|side| matches!(side.after, At::Side(_))).count();
        for format in [Format::Sgf, RECORD, Format::Record(Notation::Wxf), Format::Record(Notation::Chinese)]
        {
            let Ok(text) = file.write(format) else { continue };
            let again = read(kind, format, &text);
            assert_eq!(again.actions, file.actions, "{text}");
            assert_eq!((again.notes, again.left_out), (file.notes.clone(), 0), "{text}");
        }
        let (fitted, left_out) = file.notes.clone().fitted(&file.start, &file.actions);
        assert_eq!((fitted, left_out), (file.notes, 0));
    }
    assert!(moves > 1_000 && nested > 500, "{moves} moves, {nested} of them nested");
}

#[test]
fn a_brace_in_a_comment_is_a_parenthesis_in_a_record_and_a_game_without_notes_is_as_it_was() {
    let mut file = read(GameKind::Gomoku, RECORD, "[Game \"gomoku\"]\n\n1. h8 h9 2. g9 *\n");
    let plain = file.write(RECORD).expect("a record");
    assert!(plain.ends_with("\n\n1. h8 h9 2. g9\n*\n"), "{plain}");
    file.notes.set_comment(At::Main(1), "{a}").expect("short");
    assert!(file.write(RECORD).expect("a record").ends_with("1. h8 {{a)} h9 2. g9\n*\n"));
    file.notes.set_comment(At::Main(1), " \n ").expect("short");
    assert!(file.notes.is_empty(), "an empty comment is none");
    assert_eq!(file.write(RECORD).expect("a record"), plain);
}

#[test]
fn comments_and_variations_of_another_program_are_read_and_written_again() {
    let text = "[Game \"Chinese Chess\"]\n\n{Before} 1.炮二平五 {central cannon} 马８进７ $1\n2. 马二进三 \
        (2. 兵七进一 {or} (2. 车一进一) 卒7进1 {!}) 2... 车9平8 ; the chariot\n1/2-1/2\n";
    let file = read(GameKind::Xiangqi, RECORD, text);
    assert_eq!(file.left_out, 0);
    let comments: Vec<(u32, &str)> = file.notes.comments().collect();
    assert_eq!(comments, [(0, "Before"), (1, "central cannon"), (4, "the chariot")]);
    let written = file.write(RECORD).expect("a record");
    let moves = written.split_once("\n\n").expect("a header").1.replace('\n', " ");
    let expected =
        "{Before} 1. h2e2 {central cannon} h9g7 2. h0g2 (2. c3c4 {or} g6g5 {!}) (2. i0i1) i9h9 {the chariot}";
    assert_eq!(moves, format!("{expected} 1/2-1/2 "));
    let text = "(;GM[1]SZ[9]C[Before];B[ee]N[centre]C[a \\]](;W[gc](;B[cg])(;B[cf]C[or]))(;W[cc];B[gg]C[x]))";
    let file = read(GameKind::Go, Format::Sgf, text);
    let sgf = GameFile { collection: None, ..file }.write(Format::Sgf).expect("SGF");
    let (_, moves) = sgf.split_once("KM[0]").expect("a root");
    assert_eq!(
        moves,
        "C[Before]\n;B[ee]C[centre\na \\]]\n(;W[gc]\n(;B[cg])\n(;B[cf]C[or]))\n(;W[cc];B[gg]C[x]))\n"
    );
}

#[test]
fn illegal_variations_are_left_out_and_counted() {
    let sgf = "(;GM[4]SZ[15];B[hh](;W[hg];B[ii])(;W[hh];B[aa]C[lost])(;W[aa];W[bb])(;AB[cc];W[dd])(;W[ab]))";
    let file = read(GameKind::Gomoku, Format::Sgf, sgf);
    assert_eq!(file.actions.len(), 3);
    assert_eq!(file.notes.moves().len(), 2, "{:?}", file.notes);
    assert_eq!(file.left_out, 5, "an occupied point with what follows, a wrong colour, stones set up");
    let record = "[Game \"gomoku\"]\n\n(1. a1) 1. h8 (1. h9 (1. i9 i9) nonsense g1) h9 *\n";
    let file = read(GameKind::Gomoku, RECORD, record);
    assert_eq!((file.notes.moves().len(), file.left_out), (2, 4), "{:?}", file.notes);
}

#[test]
fn notes_have_limits_and_deep_or_broad_files_end() {
    let deep = |open: &str, close: &str| open.repeat(60_000) + &close.repeat(60_000);
    let sgf = format!("(;GM[4]SZ[15];B[hh];W[aa]{})", deep("(;B[ab](;B[ac])", ")"));
    let file = GameFile::read(GameKind::Gomoku, Format::Sgf, sgf.as_bytes());
    let notes = match file {
        Ok(file) => file.notes,
        Err(stopped) => stopped.read.expect("the moves before").notes,
    };
    assert!(notes.moves().len() <= MOST_MOVES);
    let record = format!("[Game \"gomoku\"]\n\n1. h8 {} *\n", deep("( 1. a1 ", ") "));
    let file = read(GameKind::Gomoku, RECORD, &record);
    assert_eq!(file.notes.moves().len(), 1, "each stands beside the one before, with the same move");
    let broad = "(;W[ab];B[ac])".repeat(30_000);
    let file = read(GameKind::Gomoku, Format::Sgf, &format!("(;GM[4]SZ[15];B[hh](;W[aa]){broad})"));
    assert_eq!((file.notes.moves().len(), file.left_out), (2, 0), "variations that are equal are one");
    let long = "字".repeat(MOST_CHARS + 1);
    let file = read(GameKind::Gomoku, Format::Sgf, &format!("(;GM[4]SZ[15];B[hh]C[{long}])"));
    assert_eq!((file.notes.comment(At::Main(1)).chars().count(), file.left_out), (MOST_CHARS, 1));
    let mut notes = Notes::default();
    assert_eq!(notes.set_comment(At::Main(0), &long), Err(NotesError::TooLong));
    let full = (0..200).find_map(|ply| notes.set_comment(At::Main(ply), &long[..long.len() - 3]).err());
    assert_eq!(full, Some(NotesError::TooMany), "all comments together have a limit");
}

#[test]
fn a_side_line_is_added_found_and_removed_with_what_follows_it() {
    let file = read(GameKind::Gomoku, RECORD, "[Game \"gomoku\"]\n\n1. h8 h9 2. g9 *\n");
    let act = |text: &str| file.start.parse(text).expect("a point");
    let mut notes = Notes::default();
    let later = notes.add(At::Main(2), act("a1"), 3).expect("beside g9");
    let first = notes.add(At::Main(1), act("b1"), 3).expect("beside h9");
    let after = notes.add(first, act("c1"), 3).expect("it goes on");
    let other = notes.add(first, act("d1"), 3).expect("beside c1");
    assert_eq!(later, At::Side(0), "it was the first then");
    assert_eq!(notes.find(2, &[act("a1")]), Some(At::Side(3)), "and stands behind earlier ones now");
    assert_eq!(notes.find(1, &[act("b1"), act("c1")]), Some(after));
    assert_eq!(notes.find(1, &[act("b1"), act("d1")]), Some(other));
    assert_eq!(notes.find(1, &[act("c1")]), None);
    assert_eq!(notes.add(first, act("c1"), 3), Ok(after), "it is there");
    assert_eq!(notes.add(At::Main(3), act("e1"), 3), Err(NotesError::NothingBeside));
    assert_eq!(notes.marked(), [1, 2]);
    assert_eq!(notes.until(2).marked(), [1]);
    let At::Side(index) = first else { panic!("a move of a side line") };
    notes.remove(index).expect("it is there");
    assert_eq!((notes.moves().len(), notes.find(2, &[act("a1")])), (1, Some(At::Side(0))));
    assert_eq!(notes.remove(1), Err(NotesError::NoSuchPosition));
    // Each second move at a position stands one deeper than the first.
    let (mut at, mut refused, mut depth) = (At::Main(0), None, 0);
    while refused.is_none() && depth <= MOST_NESTED {
        notes.add(at, act("a2"), 3).expect("it goes on");
        match notes.add(at, act("b2"), 3) {
            Ok(next) => at = next,
            Err(error) => refused = Some(error),
        }
        depth += 1;
    }
    assert_eq!(refused, Some(NotesError::TooMany), "side lines nest to a limit");
}
