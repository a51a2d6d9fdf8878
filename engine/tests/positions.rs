//! `qiyou-engine perft`, `legal` and `solve-lights`, as a person calls them.

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
        (&["legal", "--game", "go", "--position", "19"], "--position: "),
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
        // 5 x 5 with one light in the corner: outside of what presses make.
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
            "FILE: line 2, column 1: expected a legal move (a7 is in the way); 1 actions before it are legal\n",
        ),
    ] {
        let file = tempfile::NamedTempFile::new().expect("a file of the test's own");
        std::fs::write(file.path(), record).expect("it can be written");
        let path = file.path().to_str().expect("the path is text");
        assert_eq!(run(&["replay", "--game", game, path], ""), (Some(code), said.to_owned()), "{record}");
    }
}
