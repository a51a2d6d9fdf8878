//! `qiyou-engine gomocup` as a Gomocup manager uses it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Engine {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn started(size: &str) -> Self {
        let mut engine = Self::new();
        assert_eq!(engine.ask(&format!("START {size}")), "OK");
        engine
    }

    fn new() -> Self {
        Self::with(&["gomocup", "--nodes", "2000"])
    }

    /// A process that plays by the clock.
    fn timed() -> Self {
        Self::with(&["gomocup"])
    }

    fn with(arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let input = process.stdin.take().expect("its input is a pipe");
        let output = BufReader::new(process.stdout.take().expect("its output is a pipe"));
        Self { process, input, output }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the engine listens");
    }

    /// The next line that is not a `MESSAGE` or `DEBUG`.
    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("the engine writes text");
            assert!(length > 0, "the engine has gone");
            if !line.starts_with("MESSAGE") && !line.starts_with("DEBUG") {
                return line.trim().to_owned();
            }
        }
    }

    fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.answer()
    }

    fn ends(mut self) {
        self.tell("END");
        assert!(self.process.wait().expect("it can be waited for").success());
    }
}

fn point(text: &str) -> (u32, u32) {
    let (column, row) = text.split_once(',').unwrap_or_else(|| panic!("{text} is no point"));
    (column.parse().expect("a number"), row.parse().expect("a number"))
}

#[test]
fn it_begins_answers_and_takes_back() {
    let mut engine = Engine::started("15");
    assert_eq!(engine.ask("BEGIN"), "7,7");
    let (column, row) = point(&engine.ask("TURN 7,8"));
    assert!(column < 15 && row < 15 && (column, row) != (7, 7) && (column, row) != (7, 8));
    assert_eq!(engine.ask("TAKEBACK 0,0").split(' ').next(), Some("ERROR"));
    assert_eq!(engine.ask(&format!("TAKEBACK {column},{row}")), "OK");
    assert_eq!(engine.ask("TAKEBACK 7,8"), "OK");
    point(&engine.ask("TURN 6,6"));
    engine.ends();
}

#[test]
fn it_goes_on_from_a_board_and_stops_a_four() {
    let mut engine = Engine::started("15");
    for line in ["BOARD", "7,7,2", "8,8,1", "7,8,2", "0,0,1", "7,9,2", "7,6,1", "7,10,2"] {
        engine.tell(line);
    }
    assert_eq!(engine.ask("DONE"), "7,11");
    // The same as the four of the own side.
    for line in ["BOARD", "7,7,1", "8,8,2", "7,8,1", "0,0,2", "7,9,1", "7,6,2", "7,10,1", "14,14,2"] {
        engine.tell(line);
    }
    assert_eq!(engine.ask("DONE"), "7,11");
    engine.ends();
}

#[test]
fn it_plays_the_rule_that_info_names() {
    // X.XXX with a fifth stone beyond: filling the gap makes an overline, which wins in freestyle only.
    let board =
        ["BOARD", "2,7,1", "2,0,2", "4,7,1", "4,0,2", "5,7,1", "6,2,2", "6,7,1", "8,4,2", "7,7,1", "8,7,2"];
    for (rule, wins) in [("0", true), ("1", false)] {
        let mut engine = Engine::started("15");
        engine.tell(&format!("INFO rule {rule}"));
        for line in board {
            engine.tell(line);
        }
        assert_eq!(engine.ask("DONE") == "3,7", wins, "rule {rule}");
        engine.ends();
    }
    let mut engine = Engine::started("15");
    engine.tell("INFO rule 8");
    assert!(engine.ask("BEGIN").starts_with("ERROR"), "caro is not played");
    engine.ends();
}

#[test]
fn in_renju_it_leaves_the_best_point_of_freestyle_alone_where_it_is_forbidden() {
    // Black has two open twos that cross at h8: a three-three there is the strongest move of freestyle.
    let black = ["BOARD", "7,8,1", "7,9,1", "8,7,1", "9,7,1", "0,0,2", "14,0,2", "0,14,2", "14,14,2", "DONE"];
    for rule in ["0", "4"] {
        let mut engine = Engine::started("15");
        engine.tell(&format!("INFO rule {rule}"));
        for line in &black[..black.len() - 1] {
            engine.tell(line);
        }
        let answer = engine.ask("DONE");
        assert_eq!(answer == "7,7", rule == "0", "rule {rule}: {answer}");
        engine.ends();
    }
}

#[test]
fn it_keeps_the_time_that_info_names_and_says_nothing_of_what_needs_no_answer() {
    let mut engine = Engine::timed();
    for info in ["timeout_turn 40", "timeout_match 60000", "time_left 60000", "max_memory 83886080", "rule 1"]
    {
        engine.tell(&format!("INFO {info}"));
    }
    assert_eq!(engine.ask("START 20"), "OK");
    assert_eq!(engine.ask("BEGIN"), "10,10");
    point(&engine.ask("TURN 10,11"));
    // No time left: the program answers nevertheless.
    engine.tell("INFO time_left 0");
    let answer = point(&engine.ask("TURN 3,3"));
    assert_ne!(answer, (3, 3));
    // The shortest time.
    engine.tell("INFO time_left 2147483647");
    engine.tell("INFO timeout_turn 0");
    point(&engine.ask("TURN 0,19"));
    engine.ends();
}

#[test]
fn it_refuses_what_it_does_not_know_and_goes_on() {
    let mut engine = Engine::new();
    assert!(engine.ask("TURN 7,7").starts_with("ERROR"), "before START");
    for size in ["START 4", "START 200", "START x", "START", "RECTSTART 15,20", "RECTSTART 15"] {
        assert!(engine.ask(size).starts_with("ERROR"), "{size}");
    }
    assert_eq!(engine.ask("RECTSTART 20,20"), "OK");
    for wrong in ["TURN 20,0", "TURN", "TURN 1", "TURN a,b", "TURN -1,3", "TURN 99999999999,1", "TAKEBACK"] {
        assert!(engine.ask(wrong).starts_with("ERROR"), "{wrong}");
    }
    assert!(engine.ask("SUGGEST").starts_with("UNKNOWN"));
    for info in [
        "INFO",
        "INFO x",
        "INFO timeout_turn",
        "INFO timeout_turn -5",
        "INFO max_memory 1",
        "INFO folder /tmp",
    ] {
        engine.tell(info);
    }
    engine.tell("BOARD");
    engine.tell("1,1,3");
    assert!(engine.ask("DONE").starts_with("ERROR"));
    assert!(engine.ask("ABOUT").contains("name=\"Qiyou\""));
    assert_eq!(engine.ask("RESTART"), "OK");
    point(&engine.ask("BEGIN"));
    engine.ends();
}

#[test]
fn after_a_board_that_cannot_be_no_move_of_the_board_before_is_given() {
    let mut engine = Engine::started("15");
    for refused in [
        // No such field; two stones on one point; two stones more of one side; beside the board; a line that is no stone.
        &["1,1,3"][..],
        &["1,1,1", "1,1,2"],
        &["1,1,1", "2,2,1"],
        &["15,1,2"],
        &["nonsense"],
    ] {
        assert_eq!(engine.ask("RESTART"), "OK");
        let (column, row) = point(&engine.ask("BEGIN"));
        engine.tell("BOARD");
        for line in refused {
            engine.tell(line);
        }
        assert!(engine.ask("DONE").starts_with("ERROR"), "{refused:?}");
        // The rule is kept for the next board, and makes none.
        engine.tell("INFO rule 1");
        for line in ["BEGIN", "TURN 3,3", &format!("TAKEBACK {column},{row}")] {
            assert!(engine.ask(line).starts_with("ERROR"), "{line} after {refused:?}");
        }
    }
    engine.tell("BOARD");
    engine.tell("7,7,2");
    let (column, row) = point(&engine.ask("DONE"));
    assert!(column < 15 && row < 15 && (column, row) != (7, 7));
    engine.ends();
}

#[test]
fn it_opens_by_swap2_chooses_and_lets_choose() {
    let mut engine = Engine::started("15");
    let mut ask = |stones: &str| {
        engine.tell("SWAP2BOARD");
        for stone in stones.split_whitespace() {
            engine.tell(stone);
        }
        engine.ask("DONE")
    };
    let first = ask("");
    assert_eq!(first.split(' ').map(point).collect::<std::collections::HashSet<_>>().len(), 3, "{first}");
    // Three stones after which Black wins, and three after which Black has nothing.
    assert_eq!(ask("7,7 0,0 8,7"), "SWAP");
    let stays = ask("0,14 7,7 14,0");
    assert!(stays != "SWAP" && stays.split(' ').all(|stone| point(stone).0 < 15), "{stays}");
    // The opponent chooses among the program's opening stones: any of the three answers, then the answer to five stones.
    let second = ask(&first);
    assert!(second == "SWAP" || matches!(second.split(' ').count(), 1 | 2), "{second}");
    assert_eq!(ask("7,7 0,0 8,7 14,14 7,8"), "SWAP");
    let sixth = ask("0,14 7,7 14,0 7,8 0,0");
    assert!(sixth != "SWAP" && sixth.split(' ').count() == 1, "{sixth}");
    assert!(ask("7,7 8,8").starts_with("ERROR"));
    assert!(ask("7,7 7,7 8,8").starts_with("ERROR"));
    engine.ends();
}
