//! Conversations said line by line, without any process.

use std::time::Duration;

use engine::go::Handicap;
use engine::{Action, Choice, GameKind, GomokuOpening, GomokuRule, Point, Score, Setup};
use engines::{Conversation, Fault, Heard, Protocol, Question, plays};

const SECOND: Duration = Duration::from_secs(1);

/// A conversation, with what it says.
struct Talk(Conversation);

impl Talk {
    /// After the greeting, of which these are the lines of the engine.
    fn greeted(protocol: Protocol, lines: &[&str]) -> Self {
        let mut talk = Self(Conversation::new(protocol));
        for line in lines {
            talk.hear(line).expect("a greeting");
        }
        assert!(talk.0.is_ready(), "greeted");
        talk.said();
        talk
    }

    fn uci() -> Self {
        let variant = "option name UCI_Variant type combo default chess var chess var xiangqi";
        Self::greeted(Protocol::Uci, &["id name Fairy", variant, "uciok", "readyok"])
    }

    fn gtp() -> Self {
        Self::greeted(Protocol::Gtp, &["=1 GNU Go", ""])
    }

    fn gomocup() -> Self {
        Self::greeted(Protocol::Gomocup, &[r#"name="Pela", version="1.0""#])
    }

    fn said(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.0.poll()).collect()
    }

    fn hear(&mut self, line: &str) -> Result<Heard, Fault> {
        self.0.handle(line)
    }

    fn ask(&mut self, question: &Question) -> Vec<String> {
        self.0.ask(question).expect("it can be said");
        self.said()
    }
}

fn question(setup: &Setup, actions: &[&str]) -> Question {
    let mut game = engine::AnyGame::new(setup).expect("a setup");
    let mut played = Vec::new();
    for text in actions {
        let action = game.parse(text).expect("notation");
        game.act(action).expect("legal");
        played.push(action);
    }
    Question::new(setup, &played, SECOND).expect("a position")
}

fn of(kind: GameKind, actions: &[&str]) -> Question {
    question(&kind.default_setup(), actions)
}

fn go(size: u8) -> Setup {
    match GameKind::Go.default_setup() {
        Setup::Go(setup) => Setup::Go(engine::go::GoSetup { size, ..setup }),
        _ => unreachable!("go is Go"),
    }
}

/// The first action of an answer.
fn answer(heard: Result<Heard, Fault>) -> Action {
    match heard {
        Ok(Heard::Answer(report)) => report.line[0],
        other => panic!("no answer: {other:?}"),
    }
}

#[test]
fn uci_is_told_the_variant_the_position_and_the_time() {
    let mut talk = Talk(Conversation::new(Protocol::Uci));
    assert_eq!(talk.said(), ["uci"]);
    for line in [
        "Fairy-Stockfish by someone",
        "id name Fairy-Stockfish 14",
        "option name Hash type spin default 16 min 1 max 33554432",
        "option name UCI_Variant type combo default chess var ai-wok var xiangqi var zh",
    ] {
        assert_eq!(talk.hear(line), Ok(Heard::Nothing));
    }
    assert_eq!(talk.hear("uciok"), Ok(Heard::Nothing));
    assert_eq!(
        talk.said(),
        ["setoption name UCI_Variant value xiangqi", "setoption name Hash value 64", "isready"]
    );
    assert_eq!(talk.hear("readyok"), Ok(Heard::Ready));
    assert_eq!(talk.0.name(), "Fairy-Stockfish 14");
    let said = talk.ask(&of(GameKind::Xiangqi, &["h2e2", "h9g7"]));
    let position = "position fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
    assert!(said[0].starts_with(position) && said[0].ends_with(" moves h3e3 h10g8"), "{said:?}");
    assert_eq!(said[1], "go movetime 1000");
}

#[test]
fn the_result_of_a_uci_search_comes_with_its_judgement() {
    let mut talk = Talk::uci();
    talk.ask(&of(GameKind::Xiangqi, &[]));
    let progress =
        talk.hear("info depth 9 seldepth 12 multipv 1 score cp 37 nodes 4711 pv h3e3 h10g8 e9e9 a1a2");
    let Ok(Heard::Progress(report)) = progress else { panic!("{progress:?}") };
    assert_eq!((report.score, report.depth, report.nodes), (Score::Points(37), 9, 4711));
    assert_eq!(report.line.len(), 2, "what is illegal ends the line");
    assert_eq!(talk.hear("info depth 10 multipv 2 score cp 99 pv a1a2"), Ok(Heard::Nothing));
    assert_eq!(talk.hear("bestmove h3e3 ponder h10g8"), Ok(Heard::Answer(report)));
    assert_eq!(talk.hear("bestmove h3e3"), Ok(Heard::Nothing), "nobody asked");
    talk.ask(&of(GameKind::Xiangqi, &[]));
    for (said, score) in [("mate 2", Score::WinIn(3)), ("mate -1", Score::LossIn(2))] {
        let heard = talk.hear(&format!("info depth 3 score {said} pv h3e3"));
        assert!(matches!(&heard, Ok(Heard::Progress(report)) if report.score == score), "{heard:?}");
    }
}

#[test]
fn an_answer_that_nobody_waits_for_is_no_answer_to_the_next_question() {
    let mut talk = Talk::uci();
    talk.ask(&of(GameKind::Xiangqi, &[]));
    talk.0.hurry();
    assert_eq!(talk.said(), ["stop"]);
    talk.ask(&of(GameKind::Xiangqi, &["h2e2"]));
    assert_eq!(talk.hear("info depth 2 score cp 1 pv h3e3"), Ok(Heard::Nothing));
    assert_eq!(talk.hear("bestmove h3e3"), Ok(Heard::Nothing));
    assert_eq!(answer(talk.hear("bestmove h10g8")).to_string(), "h10g8");

    let mut talk = Talk::gtp();
    talk.ask(&question(&go(9), &[]));
    let said = talk.ask(&question(&go(9), &["E5"]));
    assert!(said.iter().any(|line| line.ends_with("clear_board")), "its board has a move more: {said:?}");
    let id = |said: &[String]| said.last().and_then(|line| line.split(' ').next()).map(str::to_owned);
    let id = id(&said).expect("an id");
    // The first question's genmove was the sixth command after the name.
    assert_eq!(talk.hear("=7 C3"), Ok(Heard::Nothing));
    assert_eq!(
        talk.0.handle(&format!("={id} G7")).map(|heard| answer(Ok(heard)).to_string()),
        Ok("g7".into())
    );

    let mut talk = Talk::gomocup();
    talk.ask(&of(GameKind::Gomoku, &[]));
    talk.hear("OK").expect("started");
    talk.said();
    talk.ask(&of(GameKind::Gomoku, &["h8"]));
    assert_eq!(talk.hear("7,7"), Ok(Heard::Nothing));
    assert_eq!(talk.hear("OK"), Ok(Heard::Nothing));
    talk.said();
    assert_eq!(answer(talk.hear("8,8")), Action::Place(Point::new(8, 8)));
}

#[test]
fn ucci_counts_ranks_from_zero_and_may_resign() {
    let mut talk = Talk(Conversation::new(Protocol::Ucci));
    assert_eq!(talk.said(), ["ucci"]);
    talk.hear("id name ElephantEye").expect("a name");
    talk.hear("option usemillisec type check default false").expect("an option");
    talk.hear("ucciok").expect("greeted");
    assert_eq!(talk.said(), ["setoption usemillisec true", "isready"]);
    talk.hear("readyok").expect("ready");
    let said = talk.ask(&of(GameKind::Xiangqi, &["h2e2"]));
    assert!(said[0].ends_with(" moves h2e2"), "{said:?}");
    assert_eq!(said[1], "go time 1000 movestogo 1");
    assert_eq!(talk.hear("bestmove h9g7 resign"), Ok(Heard::Resigns));
    talk.ask(&of(GameKind::Xiangqi, &["h2e2"]));
    assert_eq!(answer(talk.hear("bestmove h9g7")).to_string(), "h10g8");
    talk.ask(&of(GameKind::Xiangqi, &["h2e2"]));
    assert_eq!(talk.hear("nobestmove"), Err(Fault::Illegal("none".into())));
}

#[test]
fn a_program_for_chess_alone_is_refused_at_its_greeting() {
    let mut talk = Talk(Conversation::new(Protocol::Uci));
    talk.hear("option name UCI_Variant type combo default chess var chess var atomic").expect("an option");
    assert_eq!(talk.hear("uciok"), Err(Fault::Unsupported));
}

#[test]
fn gtp_is_told_the_board_once_and_then_each_move() {
    let mut talk = Talk::gtp();
    let setup = go(9);
    let said = talk.ask(&question(&setup, &["E5"]));
    let commands: Vec<&str> =
        said.iter().filter_map(|line| line.split_once(' ')).map(|(_, said)| said).collect();
    assert_eq!(
        commands,
        [
            "boardsize 9",
            "clear_board",
            "komi 7.5",
            "kata-set-rules chinese",
            "time_settings 0 1 1",
            "play B E5",
            "genmove W"
        ]
    );
    assert_eq!(talk.hear("?5 unknown command"), Ok(Heard::Nothing), "some settings are only wanted");
    assert_eq!(answer(talk.hear("=8 c3")), Action::Place(Point::new(2, 2)));
    let said = talk.ask(&question(&setup, &["E5", "C3", "pass"]));
    assert_eq!(said, ["9 play B pass", "10 genmove W"]);
    assert_eq!(answer(talk.hear("=10 PASS")), Action::Pass);
    // A move was taken back.
    let said = talk.ask(&question(&setup, &["E5", "C3"]));
    assert!(said.iter().any(|line| line.ends_with("clear_board")), "{said:?}");
    let id = said.last().and_then(|line| line.split(' ').next()).expect("an id").to_owned();
    assert_eq!(talk.hear(&format!("={id} resign")), Ok(Heard::Resigns));
}

#[test]
fn gtp_is_told_the_stones_of_a_handicap() {
    let Setup::Go(setup) = go(9) else { unreachable!("go is Go") };
    let setup = Setup::Go(engine::go::GoSetup { handicap: Handicap::Stars(2), ..setup });
    let said = Talk::gtp().ask(&question(&setup, &[]));
    let stones: Vec<&String> = said.iter().filter(|line| line.contains(" play ")).collect();
    assert_eq!(stones.len(), 2, "{said:?}");
    assert!(
        stones.iter().all(|line| line.contains("play B")) && said.last().expect("genmove").ends_with('W')
    );
}

#[test]
fn an_error_of_gtp_is_a_fault_where_the_command_is_needed() {
    let mut talk = Talk::gtp();
    talk.ask(&question(&go(25), &[]));
    assert_eq!(talk.hear("?2 unacceptable size"), Err(Fault::Refused("unacceptable size".into())));
    for illegal in ["E5", "Z99", "", "nonsense"] {
        let mut talk = Talk::gtp();
        talk.ask(&question(&go(9), &["E5"]));
        assert!(matches!(talk.hear(&format!("=8 {illegal}")), Err(Fault::Illegal(_))), "{illegal}");
    }
}

#[test]
fn gomocup_is_told_the_rule_and_whose_stones_they_are() {
    let mut talk = Talk(Conversation::new(Protocol::Gomocup));
    assert_eq!(talk.said(), ["ABOUT"]);
    assert_eq!(talk.hear("MESSAGE hello"), Ok(Heard::Nothing));
    assert_eq!(talk.hear(r#"name="Rapfi", version="0.43", author="a""#), Ok(Heard::Ready));
    assert_eq!(talk.0.name(), "Rapfi");
    let setup = match GameKind::Gomoku.default_setup() {
        Setup::Gomoku(setup) => Setup::Gomoku(engine::GomokuSetup { rule: GomokuRule::Renju, ..setup }),
        _ => unreachable!("gomoku is gomoku"),
    };
    assert_eq!(talk.ask(&question(&setup, &["h8", "h9", "g7"])), ["START 15"]);
    assert_eq!(talk.hear("OK"), Ok(Heard::Nothing));
    let said = talk.said();
    assert!(
        said.contains(&"INFO timeout_turn 1000".into()) && said.contains(&"INFO rule 4".into()),
        "{said:?}"
    );
    let at = said.iter().position(|line| line == "BOARD").expect("a board");
    assert_eq!(said[at..], ["BOARD", "7,7,2", "7,8,1", "6,6,2", "DONE"]);
    assert_eq!(talk.hear("UNKNOWN info"), Ok(Heard::Nothing));
    assert_eq!(talk.hear("DEBUG depth 3"), Ok(Heard::Nothing));
    assert_eq!(talk.hear("7,7"), Err(Fault::Illegal("7,7".into())));
    assert_eq!(talk.ask(&question(&setup, &[])), ["START 15"]);
    assert_eq!(talk.hear("ERROR too large"), Err(Fault::Refused("ERROR too large".into())));
}

#[test]
fn each_protocol_says_the_position_that_a_match_begins_from() {
    let begun = |game: GameKind, line: &str| {
        let start = engine::start::Start::read(game, line.as_bytes()).expect("a line");
        game.default_setup().begin_from(start).expect("a legal start")
    };
    let mut talk = Talk::gomocup();
    talk.ask(&question(&begun(GameKind::Gomoku, "5/1w3/2b2/3b1/1w3 b"), &["c2"]));
    talk.hear("OK").expect("it is ready");
    let said = talk.said();
    let at = said.iter().position(|line| line == "BOARD").expect("a board");
    assert_eq!(said[at..], ["BOARD", "3,1,2", "1,0,1", "2,2,2", "1,3,1", "2,1,2", "DONE"]);
    let mut talk = Talk::gtp();
    let said = talk.ask(&question(&begun(GameKind::Go, "bb3/w4/5/5/5 w"), &[]));
    assert_eq!(said.iter().filter(|line| line.contains(" play ")).count(), 3, "{said:?}");
    assert!(said.last().expect("genmove").ends_with('W'));
}

#[test]
fn after_a_swap_the_stones_belong_to_the_colour() {
    let setup = match GameKind::Gomoku.default_setup() {
        Setup::Gomoku(setup) => Setup::Gomoku(engine::GomokuSetup { opening: GomokuOpening::Swap2, ..setup }),
        _ => unreachable!("gomoku is gomoku"),
    };
    let place = |column, row| Action::Place(Point::new(column, row));
    let opening = [place(7, 7), place(8, 8), place(0, 0), Action::Choose(Choice::Black)];
    let question = Question::new(&setup, &opening, SECOND).expect("the opening");
    let mut talk = Talk::gomocup();
    talk.ask(&question);
    talk.hear("OK").expect("started");
    let said = talk.said();
    // White is to move: the stone in the middle is its own.
    assert!(said.contains(&"8,8,1".into()) && said.contains(&"7,7,2".into()), "{said:?}");
    let during = Question::new(&setup, &opening[..3], SECOND).expect("the opening");
    assert_eq!(talk.0.ask(&during), Err(Fault::Unsupported), "choices are not for engines");
}

#[test]
fn each_protocol_plays_its_game_by_rules_that_it_can_express() {
    for protocol in Protocol::ALL {
        for kind in GameKind::ALL {
            assert_eq!(
                plays(protocol, &kind.default_setup()),
                protocol.game() == *kind,
                "{protocol} {kind:?}"
            );
        }
        assert_eq!(protocol.word().parse(), Ok(protocol));
    }
    let house = match GameKind::Gomoku.default_setup() {
        Setup::Gomoku(setup) => Setup::Gomoku(engine::GomokuSetup { edge_five_wins: false, ..setup }),
        _ => unreachable!("gomoku is gomoku"),
    };
    assert!(!plays(Protocol::Gomocup, &house), "no program knows the rule");
}

#[test]
fn no_line_of_any_engine_panics() {
    let pieces = [
        "bestmove",
        "info",
        "depth",
        "score",
        "cp",
        "mate",
        "pv",
        "nodes",
        "multipv",
        "99999999999999999999",
        "-1",
        "h3e3",
        "=",
        "?",
        "=8",
        "=8 =8",
        "?8",
        "OK",
        "ERROR",
        "UNKNOWN",
        "7,7",
        "999999,1",
        "-1,2",
        ",",
        "name=",
        "name=\"",
        "NAME=ı",
        "é=name",
        "option name",
        "option",
        "id",
        "id name",
        "uciok",
        "readyok",
        "\u{0}",
        "(none)",
        "resign",
        "pass",
        "a0",
        "i10i11",
        "z",
        "string",
        "lowerbound",
        "nobestmove",
        "ucciok",
    ];
    let mut rng = engine::Rng::new(7);
    for round in 0..4_000_u32 {
        let protocol = Protocol::ALL[round as usize % 4];
        let mut talk = match protocol {
            Protocol::Uci => Talk::uci(),
            Protocol::Gtp => Talk::gtp(),
            Protocol::Gomocup => Talk::gomocup(),
            Protocol::Ucci => Talk::greeted(Protocol::Ucci, &["ucciok", "readyok"]),
        };
        talk.ask(&of(protocol.game(), &[]));
        for _ in 0..8 {
            let words = (0..=rng.below(5)).map(|_| pieces[rng.below(pieces.len() as u32) as usize]);
            let line = words.collect::<Vec<_>>().join(" ");
            if let Ok(Heard::Answer(report)) = talk.hear(&line) {
                let mut game = engine::AnyGame::new(&protocol.game().default_setup()).expect("a setup");
                game.act(report.line[0]).expect("an answer is legal");
            }
        }
    }
}
