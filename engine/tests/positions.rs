//! `qiyou-engine perft`, `legal` and `solve-lights` on the command line.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Exit code and standard output.
fn run(arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let said =
        if output.status.success() || !output.stdout.is_empty() { output.stdout } else { output.stderr };
    (output.status.code(), String::from_utf8(said).expect("it writes text"))
}

#[test]
fn perft_prints_the_count_alone() {
    for (arguments, count) in [
        (&["--game", "xiangqi", "--depth", "3"][..], "79666\n"),
        (&["--game", "xiangqi", "--depth", "0"], "1\n"),
        (&["--game", "xiangqi", "--position", "3k5/9/9/9/9/9/9/9/9/R3K4 w", "--depth", "1"], "14\n"),
        (&["--game", "liuzhou", "--depth", "3"], "42840\n"),
        (
            &["--game", "liuzhou", "--rules", "fengyang loses-at=0", "--depth", "2", "--position", HEMMED_IN],
            "24\n",
        ),
        (&["--game", "gomoku", "--depth", "2"], "50400\n"),
        (&["--game", "go", "--depth", "1"], "362\n"),
        (&["--game", "go", "--position", "5/1bw2/b1bw1/1bw2/5 w", "--depth", "1"], "19\n"),
        (&["--game", "gomoku", "--rules", "5 standard", "--depth", "2"], "600\n"),
        (&["--game", "gomoku", "--rules", "9 swap2", "--depth", "4"], "1535760\n"),
        (&["--game", "gomoku", "--position", "5/5/5/1bbbb/5 b", "--depth", "2"], "400\n"),
        (&["--game", "lights-out", "--rules", "3x3 seed=1", "--depth", "2"], "81\n"),
        (&["--game", "lights-out", "--position", "#./##", "--depth", "1"], "4\n"),
    ] {
        let arguments = [&["perft"], arguments].concat();
        assert_eq!(run(&arguments, ""), (Some(0), count.to_owned()), "{arguments:?}");
    }
}

const HEMMED_IN: &str = "wwb3/wwb3/bb4/5b/6/4b1 w m 0 0 0";

#[test]
fn legal_prints_one_action_a_line() {
    let (code, text) = run(&["legal", "--game", "xiangqi", "--position", "3k5/9/9/9/9/9/4P4/9/9/4K4 b"], "");
    let mut actions: Vec<&str> = text.lines().collect();
    actions.sort_unstable();
    assert_eq!((code, actions), (Some(0), vec!["d9d8", "d9e9"]));
    let (code, text) = run(&["legal", "--game", "liuzhou", "--position", HEMMED_IN], "");
    assert_eq!((code, text.lines().count()), (Some(0), 6));
    assert!(text.lines().all(|action| action.starts_with('x')));
}

#[test]
fn what_cannot_be_read_ends_with_two_and_the_column() {
    for (arguments, said) in [
        (&["legal", "--game", "xiangqi", "--position", "3k5/9 w"][..], "--position: line 1, column 6: "),
        (&["legal", "--game", "liuzhou", "--rules", "fengyang loses-at=x"], "--rules: line 1, column 19: "),
        (&["legal", "--game", "go", "--position", "19"], "--position: line 1, column 3: "),
        (&["legal", "--game", "gomoku", "--position", "5/5/5/5/4q b"], "--position: line 1, column 10: "),
        (&["legal", "--game", "lights-out", "--position", "#./#x"], "--position: line 1, column 5: "),
        (&["legal", "--game", "go", "--rules", "9 komi=x"], "--rules: line 1, column 8: "),
    ] {
        let (code, text) = run(arguments, "");
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(text.starts_with(said), "{text}");
    }
}

#[test]
fn solve_lights_says_whether_and_with_which_presses() {
    for (arguments, board, code, answer) in [
        (&[][..], ".#.\n###\n.#.\n", 0, "solvable 1 fewest\n...\n.#.\n...\n"),
        (&[], "#", 0, "solvable 1 fewest\n#\n"),
        (&[], "...\n...\n", 0, "solvable 0 fewest\n...\n...\n"),
        // 5 x 5 with one light in the corner: not solvable.
        (&[], "#....\n.....\n.....\n.....\n.....\n", 3, "unsolvable\n"),
        (&["--diagonals"], "##.\n##.\n...\n", 0, "solvable 1 fewest\n#..\n...\n...\n"),
        (&["--torus"], "##.#\n#...\n....\n#...\n", 0, "solvable 1 fewest\n#...\n....\n....\n....\n"),
        (&[], "#.\n#x\n", 2, "line 2, column 2: expected . or #\n"),
        (&[], "", 2, "line 1, column 1: expected a row of . and #\n"),
        (
            &["--torus"],
            "#.\n#.\n",
            2,
            "line 1, column 1: expected at least 3 columns and rows, since the edges are joined\n",
        ),
    ] {
        let arguments = [&["solve-lights"], arguments].concat();
        assert_eq!(run(&arguments, board), (Some(code), answer.to_owned()), "{board}");
    }
}

#[test]
fn replay_says_how_a_game_ended_and_why() {
    for (game, record, code, said) in [
        ("xiangqi", "[FEN \"3k5/9/3P5/9/9/9/9/9/9/R3K4 w\"]\n1. a0a9 1-0", 0, "Red wins: checkmate.\n"),
        ("xiangqi", "1. h2e2 h9g7 *", 0, "The game is not over.\n"),
        ("xiangqi", "1. 炮二平五 1-0", 0, "The game is not over by its rules; the record says 1-0.\n"),
        (
            "liuzhou",
            "[Position \"w5/2w3/6/w4w/b1b3/bb1b2 b m 0 0 0\"]\nc2b2 xa6",
            0,
            "Black wins: too few stones are left.\n",
        ),
        (
            "xiangqi",
            "1. h2e2\na9a5",
            2,
            "FILE: line 2, column 1: expected a legal move (a6 is in the way); 1 actions before it are legal\n",
        ),
        (
            "gomoku",
            "(;GM[4]SZ[15];B[hh]",
            2,
            "FILE: line 1, column 20: expected ) to end the game; 1 actions before it are legal\n",
        ),
        (
            "gomoku",
            "Piskvorky 15x15, 0:0, 0\n8,8,0\n8,8,0",
            2,
            "FILE: line 3, column 1: expected a legal move (H8 is occupied); 1 actions before it are legal\n",
        ),
        ("go", "(;SZ[9];B[ee];W[];B[])", 0, "The game is not over.\n"),
        ("go", "(;SZ[9];B[ee];W[ef]RE[B+R])", 0, "The game is not over by its rules; the record says B+R.\n"),
        ("go", "(;SZ[9]KM[0.5]RE[B+80.5];B[ee];W[];B[])", 0, "Black wins: by count.\n"),
        ("lights-out", "[Rules \"3x3\"]\n[Position \"#../#../...\"]\na3 a2", 0, "The game is not over.\n"),
        ("lights-out", "[Position \".#./###/.#.\"]\n1. b2", 0, "The player wins: all the lights are off.\n"),
    ] {
        let file = tempfile::NamedTempFile::new().expect("a file of the test's own");
        std::fs::write(file.path(), record).expect("it can be written");
        let path = file.path().to_str().expect("the path is text");
        assert_eq!(
            run(&["replay", "--game", game, path], ""),
            (Some(code), said.replace("FILE", path)),
            "{record}"
        );
    }
}

#[test]
fn a_file_is_shown_and_converted_between_formats() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let path = |name: &str| folder.path().join(name).to_str().expect("the path is text").to_owned();
    let write = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).expect("it can be written");
    let read = |name: &str| std::fs::read_to_string(path(name)).expect("it was written");
    // GBK: \u{68cb} is C6 E5.
    write("game.sgf", b"(;GM[4]SZ[15]CA[GBK]PB[\xc6\xe5]RU[renju];B[hh];W[hg];B[ig](;W[gi])(;W[aa]))");
    // A title that sets a terminal's, a colour, a bell.
    std::fs::write(
        path("hostile.sgf"),
        "(;GM[4]SZ[15]PB[\u{1b}\\]0;gone\u{7}\u{9b}31mBen\u{202e}\u{2028}]RE[\u{1b}c];B[hh])",
    )
    .expect("written");
    let (code, text) = run(&["show", "--game", "gomoku", &path("hostile.sgf")], "");
    assert_eq!(code, Some(0), "{text}");
    let is_plain =
        |text: &str| text.chars().all(|c| c == '\n' || !(c.is_control() || "\u{202e}\u{2028}".contains(c)));
    assert!(text.contains("Ben") && is_plain(&text), "{text:?}");
    write("\u{1b}[31m.sgf", b"(;GM[4]SZ[15];B[zz])");
    let (code, text) = run(&["show", "--game", "gomoku", &path("\u{1b}[31m.sgf")], "");
    assert!(code == Some(2) && is_plain(&text), "a file's name: {text:?}");
    let (code, text) = run(&["show", "--game", "gomoku", &path("game.sgf")], "");
    assert_eq!(code, Some(0), "{text}");
    for part in
        ["gomoku: 15 renju", "PB: 棋", "variations of the first: 2", "h8 h9 i9 g7", "The game is not over."]
    {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert_eq!(run(&["convert", &path("game.sgf"), &path("game.psq")], ""), (Some(0), "4 actions\n".into()));
    assert!(read("game.psq").starts_with("Piskvorky 15x15, 0:0, 0\r\n8,8,0\r\n8,7,0\r\n9,7,0\r\n7,9,0\r\n"));
    assert_eq!(run(&["convert", &path("game.psq"), &path("back.sgf")], "").0, Some(0));
    assert!(read("back.sgf").contains(";B[hh];W[hg];B[ig];W[gi]"), "{}", read("back.sgf"));
    assert_eq!(run(&["convert", &path("game.sgf"), &path("utf8.sgf")], "").0, Some(0));
    assert!(
        read("utf8.sgf").contains("CA[UTF-8]") && read("utf8.sgf").contains("(;W[aa])"),
        "{}",
        read("utf8.sgf")
    );
    assert_eq!(run(&["convert", &path("game.sgf"), &path("game.qiyou")], "").0, Some(0));
    assert_eq!(run(&["convert", &path("game.qiyou"), &path("game.pos")], "").0, Some(0));
    assert!(read("game.pos").ends_with(" b\n"));
    write("x.pgn", "1. 炮二平五 马8进7".as_bytes());
    assert_eq!(run(&["convert", "--notation", "wxf", &path("x.pgn"), &path("y.pgn")], "").0, Some(0));
    assert!(read("y.pgn").contains("1. C2=5 H8+7"), "{}", read("y.pgn"));
    assert_eq!(run(&["convert", &path("y.pgn"), &path("y.fen")], "").0, Some(0));
    assert!(read("y.fen").starts_with("rnbakab1r/9/1c4nc1/"));
    // A damaged file: written only on request, and then the part that could be read.
    write("broken.sgf", b"(;GM[1]SZ[9];B[ee];W[ee])");
    let (code, said) = run(&["convert", &path("broken.sgf"), &path("no.qiyou")], "");
    assert_eq!(code, Some(2));
    assert!(said.starts_with(&format!("{}: line 1, column 22: ", path("broken.sgf"))), "{said}");
    assert!(std::fs::metadata(path("no.qiyou")).is_err());
    assert_eq!(run(&["convert", "--partial", &path("broken.sgf"), &path("some.qiyou")], "").0, Some(2));
    assert!(read("some.qiyou").contains("1. E5"), "{}", read("some.qiyou"));
    let (code, _) = run(&["convert", &path("x.pgn"), &path("x.psq")], "");
    assert_eq!(code, Some(2), "a .psq holds no xiangqi");
    write("board.lights", b".#.\n###\n.#.\n");
    let (code, text) = run(&["show", "--game", "lights-out", &path("board.lights")], "");
    assert_eq!(code, Some(0));
    assert!(text.contains(". # .\n# # #\n. # .\n"), "{text}");
}
