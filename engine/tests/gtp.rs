//! `qiyou-engine gtp` answers by the Go Text Protocol, version 2.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The program's responses to these commands, without the empty lines between them.
fn ask(arguments: &[&str], lines: &str) -> Vec<String> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
        .arg("gtp")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine runs");
    program.stdin.take().expect("it is piped").write_all(lines.as_bytes()).expect("it reads");
    let output = program.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("it writes text");
    text.split("\n\n").map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty()).collect()
}

#[test]
fn every_command_that_it_lists_it_knows() {
    let listed = ask(&[], "list_commands\nquit\n");
    let commands: Vec<&str> = listed[0].trim_start_matches('=').split_whitespace().collect();
    // Section 6 of the specification: the commands required of every engine.
    for required in [
        "protocol_version",
        "name",
        "version",
        "known_command",
        "list_commands",
        "quit",
        "boardsize",
        "clear_board",
        "komi",
        "play",
        "genmove",
    ] {
        assert!(commands.contains(&required), "{required}");
    }
    for command in commands {
        let answer = &ask(&["--playouts", "10"], &format!("known_command {command}\n{command}\nquit\n"));
        assert_eq!(answer[0], "= true");
        assert!(!answer[1].contains("unknown command"), "{command}: {}", answer[1]);
    }
    assert_eq!(ask(&[], "frobnicate\n7 known_command frobnicate\n")[..2], ["? unknown command", "=7 false"]);
}

#[test]
fn it_plays_takes_back_and_refuses_what_is_wrong() {
    let lines = "1 boardsize 9\n2 komi 5.5\n3 get_komi\n4 play b E5\n5 play w E5\n6 play w pass # comment\n7 play B j9\n\
                 8 play b A1\n9 undo\n10 undo\n11 undo\n12 undo\n13 undo\n14 boardsize 99\n15 komi x\n16 play x a1\nquit\n";
    let answers = ask(&[], lines);
    let expected = [
        "=1",
        "=2",
        "=3 5.5",
        "=4",
        "?5 illegal move",
        "=6",
        "=7",
        "=8",
        "=9",
        "=10",
        "=11",
        "=12",
        "?13 cannot undo",
        "?14 unacceptable size",
        "?15 syntax error",
        "?16 syntax error",
        "=",
    ];
    assert_eq!(answers.len(), expected.len(), "{answers:?}");
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.starts_with(expected), "{answer} for {expected}");
    }
}

/// White sends two stones, Black captures them, and White recaptures one: the board repeats.
#[test]
fn what_only_superko_forbids_is_taken_from_others_and_can_be_taken_back() {
    let lines = "1 boardsize 5\n2 play b A3\n3 play b B3\n4 play b A2\n5 play b B2\n6 play w C2\n7 play w B1\n8 play w D1\n\
                 9 play w A1\n10 play b C1\n11 play w B1\n12 play b C1\n13 undo\n14 play w B1\n15 genmove b\nquit\n";
    let answers = ask(&["--playouts", "50"], lines);
    for (n, answer) in (1..=15).zip(&answers) {
        let expected = if n == 12 { "?12 illegal move: c1 would be suicide".into() } else { format!("={n}") };
        assert!(answer.starts_with(&expected), "{answer} for {expected}");
    }
    assert_eq!(answers.len(), 16);
}

#[test]
fn the_same_playouts_give_the_same_moves() {
    let lines = "boardsize 9\nclear_board\ngenmove b\ngenmove w\ngenmove b\nquit\n";
    let first = ask(&["--playouts", "200"], lines);
    assert_eq!(first, ask(&["--playouts", "200"], lines));
    assert!(first[2].len() >= 4, "{first:?}");
}

#[test]
fn handicaps_are_placed_as_the_specification_has_them() {
    let answers = ask(
        &["--playouts", "10"],
        "boardsize 9\nfixed_handicap 2\nshowboard\nclear_board\nset_free_handicap C3 E5 G7\nplay w D4\nclear_board\nplace_free_handicap 3\nfixed_handicap 2\nboardsize 9\nfixed_handicap 99\nquit\n",
    );
    assert_eq!(answers[1], "= C3 G7");
    assert!(answers[2].contains("white to move"));
    assert_eq!(answers[4], "=");
    assert_eq!(answers[5], "=");
    assert_eq!(answers[7].split(' ').count(), 4, "{}", answers[7]);
    assert_eq!(answers[8], "? board not empty");
    assert_eq!(answers[10], "? invalid number of stones");
}

#[test]
fn after_two_passes_play_may_go_on_and_the_count_is_told() {
    let walls: Vec<String> = (1..=5).map(|row| format!("play b C{row}\nplay w D{row}\n")).collect();
    let mut lines = format!("boardsize 5\nkomi 0.5\n{}", walls.concat());
    lines += "play b pass\nplay w pass\nfinal_score\nfinal_status_list dead\nfinal_status_list alive\nplay b A1\nplay b A3\nshowboard\nquit\n";
    let answers = ask(&[], &lines);
    assert_eq!(answers[14], "= B+4.5");
    assert_eq!(answers[15], "=");
    assert_eq!(answers[16].lines().count(), 2);
    assert_eq!(answers[17..19], ["=", "="]);
    assert!(answers[19].contains(" 3 X . X O . 3"), "{}", answers[19]);
}

#[test]
fn analysis_ends_with_the_next_line() {
    for (command, word) in [("lz-analyze b 1", "winrate"), ("kata-analyze 1 ownership true", "scoreLead")] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
            .arg("gtp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine runs");
        let mut input = program.stdin.take().expect("it is piped");
        let mut output = std::io::BufReader::new(program.stdout.take().expect("it is piped"));
        write!(input, "boardsize 5\n{command}\n").expect("it reads");
        let mut line = String::new();
        while !line.contains("info move") {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut output, &mut line).expect("it writes") > 0);
        }
        assert!(line.contains(word) && line.contains(" pv "), "{line}");
        write!(input, "name\nquit\n").expect("it reads");
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut output, &mut rest).expect("it ends");
        assert!(format!("{line}{rest}").contains("\n\n= Qiyou\n"), "{rest}");
        assert!(program.wait().expect("it ends").success());
    }
}

#[test]
fn a_file_is_loaded_up_to_a_move_and_its_moves_taken_back() {
    let file = tempfile::NamedTempFile::new().expect("there is room");
    std::fs::write(
        file.path(),
        "(;GM[1]FF[4]SZ[9]KM[6.5]AB[ee]AW[gg]PL[W];W[cc];B[cg];W[];B[gc](;W[dd])(;W[ii]))",
    )
    .expect("there is room");
    let path = file.path().to_str().expect("a plain path");
    let lines = format!(
        "loadsgf {path}\nshowboard\nget_komi\nloadsgf {path} 3\nshowboard\nundo\nundo\nundo\nshowboard\nkomi 5\nquit\n"
    );
    let answers = ask(&[], &lines);
    assert!(
        answers[1].contains(" 6 . . . O . . . . . 6") && answers[1].contains("black to move"),
        "{}",
        answers[1]
    );
    assert_eq!(answers[2], "= 6.5");
    assert!(
        !answers[4].contains(" 6 . . . O") && answers[4].contains(" 3 . . X . . . O . . 3"),
        "{}",
        answers[4]
    );
    assert_eq!(answers[5..8], ["=", "=", "? cannot undo"]);
    assert!(
        answers[8].contains("white to move") && answers[8].contains(" 5 . . . . X . . . . 5"),
        "{}",
        answers[8]
    );
    assert!(answers[9].starts_with("? "));
}

#[test]
fn what_is_refused_leaves_the_position_as_it_was() {
    let file = tempfile::NamedTempFile::new().expect("there is room");
    std::fs::write(file.path(), "(;GM[1]FF[4]SZ[9];B[ee];W[ee])").expect("there is room");
    let path = file.path().to_str().expect("a plain path");
    let refused = [
        "loadsgf /nowhere".to_owned(),
        format!("loadsgf {path}"),
        "boardsize 99".into(),
        "fixed_handicap 2".into(),
        "set_free_handicap C3".into(),
        "play w E5".into(),
        "play w K5".into(),
        "genmove".into(),
    ];
    let mut lines = "boardsize 9\nplay b E5\nshowboard\n".to_owned();
    for command in &refused {
        lines += command;
        lines += "\nshowboard\n";
    }
    lines += "quit\n";
    let answers = ask(&["--playouts", "10"], &lines);
    for (command, answer) in refused.iter().zip(answers[3..].chunks(2)) {
        assert!(answer[0].starts_with('?'), "{command}: {}", answer[0]);
        assert_eq!(answer[1], answers[2], "{command}");
    }
}

#[test]
fn no_line_however_wrong_ends_it() {
    let mut lines = String::new();
    for command in [
        "boardsize",
        "boardsize -1",
        "komi",
        "komi nan",
        "komi 1e30",
        "play",
        "play b",
        "play b Z99",
        "play b ääää",
        "genmove",
        "genmove x",
        "time_settings",
        "time_settings -1 0 0",
        "time_settings nan 0 0",
        "time_settings 1e300 1e300 99999999999",
        "time_left b x 1",
        "kgs-time_settings byoyomi",
        "fixed_handicap",
        "fixed_handicap 1",
        "set_free_handicap",
        "set_free_handicap A1 A1",
        "set_free_handicap pass pass",
        "final_status_list",
        "final_status_list x",
        "loadsgf",
        "loadsgf /nowhere",
        "undo",
        "\u{7f}\u{1}",
        "99999999999999999999",
        "lz-analyze x y",
        "kata-analyze interval",
        "play w resign",
        "# only a comment",
        "play b pass",
        "play b pass",
    ] {
        lines += command;
        lines += "\n";
    }
    lines += "name\nquit\n";
    let answers = ask(&["--playouts", "10"], &lines);
    assert_eq!(answers[answers.len() - 2], "= Qiyou");
}

/// Every command in a game, as a front end would send them, with the expected response: a prefix, or `*` for any
/// success.
const SESSION: [(&str, &str); 47] = [
    ("protocol_version", "= 2"),
    ("name", "= Qiyou"),
    ("version", "= "),
    ("known_command genmove", "= true"),
    ("list_commands", "= boardsize"),
    ("boardsize 9", "="),
    ("query_boardsize", "= 9"),
    ("clear_board", "="),
    ("komi 6.5", "="),
    ("get_komi", "= 6.5"),
    ("kgs-time_settings byoyomi 300 10 5", "="),
    ("kgs-time_settings canadian 300 60 20", "="),
    ("kgs-time_settings absolute 300", "="),
    ("kgs-time_settings none", "="),
    ("time_settings 300 10 1", "="),
    ("time_left b 250 0", "="),
    ("time_left w 4 1", "="),
    ("fixed_handicap 2", "= C3 G7"),
    ("genmove w", "*"),
    ("undo", "="),
    ("clear_board", "="),
    ("place_free_handicap 3", "*"),
    ("clear_board", "="),
    ("set_free_handicap C3 G7", "="),
    ("play w E5", "="),
    ("play b C5", "="),
    ("reg_genmove w", "*"),
    ("genmove w", "*"),
    ("genmove b", "*"),
    ("undo", "="),
    ("undo", "="),
    ("showboard", "="),
    ("winrate", "= "),
    ("final_score", "*"),
    ("final_status_list alive", "*"),
    ("final_status_list dead", "*"),
    ("final_status_list seki", "*"),
    ("lz-genmove_analyze w 10", "*"),
    ("kata-genmove_analyze b interval 10 ownership true rootInfo true maxmoves 2", "*"),
    ("lz-analyze interval 10", "*"),
    ("kata-analyze w 10 rootInfo true minmoves 1", "*"),
    ("stop", "="),
    ("play w pass", "="),
    ("play b pass", "="),
    ("kgs-genmove_cleanup w", "*"),
    ("boardsize 19", "="),
    ("quit", "="),
];

#[test]
fn a_whole_session_of_every_command_is_answered() {
    let lines: String = SESSION.map(|(line, _)| format!("{line}\n")).concat();
    for options in [
        &["--playouts", "30"][..],
        &["--time-ms", "30", "--threads", "2", "--memory-mb", "16"],
        &["--time-ms", "30", "--ponder", "--leave-dead", "--level", "3", "--seed", "5", "--resign", "0"],
    ] {
        let answers = ask(options, &lines);
        assert_eq!(answers.len(), SESSION.len(), "{answers:#?}");
        for (answer, (line, expected)) in answers.iter().zip(SESSION) {
            let expected = if expected == "*" { "=" } else { expected };
            assert!(answer.starts_with(expected), "{line}: {answer}");
        }
        let listed: Vec<&str> = answers[4].trim_start_matches('=').split_whitespace().collect();
        let used = |command: &str| SESSION.iter().any(|(line, _)| line.split(' ').next() == Some(command));
        for command in listed {
            // Files are tested separately.
            assert!(used(command) || command == "loadsgf", "{command} is not in the session");
        }
    }
}

#[test]
fn an_analysis_of_a_move_tells_what_front_ends_read() {
    let lines =
        "boardsize 9\nkata-genmove_analyze b interval 1 ownership true rootInfo true maxmoves 3\nquit\n";
    // By playouts only: the network could decide before all playouts are made.
    let answers = ask(&["--playouts", "400", "--tune", "network=0"], lines);
    let told = answers[1].lines().rfind(|line| line.starts_with("info ")).expect("it tells what it found");
    assert_eq!(told.matches("info move").count(), 3);
    let words: Vec<&str> = told.split(' ').collect();
    let at = words.iter().position(|&word| word == "ownership").expect("it was asked for");
    let owners = words[at + 1..].iter().map(|word| word.parse::<f32>().expect("a number"));
    assert!(owners.clone().all(|owner| owner.abs() <= 1.0));
    assert_eq!(owners.count(), 81);
    assert!(told.contains(" rootInfo visits 4"), "{told}");
    let played = answers[1].lines().last().and_then(|line| line.strip_prefix("play "));
    assert!(played.is_some_and(|vertex| told.starts_with(&format!("info move {vertex} "))), "{answers:#?}");
    // Excluded moves are not reported.
    let first = played.expect("it was there");
    let lines = format!(
        "boardsize 9\nkata-genmove_analyze b interval 1 avoid b {first} 1\nboardsize 9\n\
         kata-genmove_analyze b interval 1 allow b E5,C3 1\nquit\n"
    );
    let answers = ask(&["--playouts", "400"], &lines);
    let told = |answer: usize| -> Vec<&str> {
        let moves = answers[answer].split("info move ").skip(1);
        moves.map(|rest| rest.split(' ').next().expect("a move")).collect()
    };
    assert!(!told(1).is_empty() && !told(1).contains(&first), "{answers:#?}");
    assert!(
        !told(3).is_empty() && told(3).iter().all(|vertex| ["E5", "C3"].contains(vertex)),
        "{answers:#?}"
    );
}

#[test]
fn it_thinks_on_while_the_other_side_does_and_hears_the_next_line() {
    use std::io::BufRead as _;
    /// Playouts: far more than moves of a millisecond make, which are fewer than ten.
    const MANY: u32 = 100;
    let mut program = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
        .args(["gtp", "--time-ms", "1", "--ponder", "--threads", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine runs");
    let mut input = program.stdin.take().expect("it is piped");
    let mut output = std::io::BufReader::new(program.stdout.take().expect("it is piped"));
    let mut answer = |line: &str| {
        writeln!(input, "{line}").expect("it reads");
        let mut text = String::new();
        loop {
            let mut next = String::new();
            assert!(output.read_line(&mut next).expect("it writes") > 0, "{line}");
            if next == "\n" && !text.is_empty() {
                return text;
            }
            text += &next;
        }
    };
    // The other side takes longer and longer.
    let mut thinks = Duration::from_millis(50);
    loop {
        answer("boardsize 9");
        answer("genmove b");
        std::thread::sleep(thinks);
        let said = answer("kata-genmove_analyze w interval 1 rootInfo true");
        let visits = said.split("rootInfo visits ").nth(1).and_then(|rest| rest.split(' ').next());
        if visits.expect("it was asked for").parse::<u32>().expect("a number") > MANY {
            break;
        }
        thinks *= 2;
        assert!(thinks < Duration::from_mins(1), "it has not thought on: {said}");
    }
    answer("boardsize 9");
    for ply in 0..4 {
        let mover = ["b", "w"][ply % 2];
        let said = answer(&format!("genmove {mover}"));
        assert!(said.starts_with("= ") && said.len() > 3, "{said}");
    }
    assert!(answer("showboard").contains("black to move"));
    assert_eq!(answer("quit").trim(), "=");
    assert!(program.wait().expect("it ends").success());
}
