//! Claims about the xiangqi bot and its program.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::xiangqi::{Xiangqi, XiangqiBot, XiangqiMove, XiangqiSetup};
use engine::{Action, AnyGame, Bot, Game, Limits, Outcome, Reason, Report, Rng, Score, Tier};

fn choose(level: u8, fen: &str, nodes: u64) -> (Xiangqi, Report) {
    let game = Xiangqi::from_position(&XiangqiSetup::default(), fen).expect("a position");
    let stop = AtomicBool::new(false);
    let limits =
        Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    let level = Tier::new(level).expect("a level");
    let found = XiangqiBot::new(level, 1).choose(&AnyGame::Xiangqi(game.clone()), &limits, &mut |_| {});
    (game, found.expect("the game goes on"))
}

#[test]
fn mates_are_found_with_their_length() {
    // Two chariots; a chariot and a cannon behind it; a horse and a chariot.
    for (fen, plies) in [
        ("4k4/R8/9/9/9/9/9/9/1R7/3K5 w", 1),
        ("3k5/R8/9/9/9/9/9/9/1R7/5K3 w", 1),
        ("3k5/9/9/9/9/9/9/R8/1R7/5K3 w", 3),
    ] {
        let (_, found) = choose(10, fen, 100_000);
        assert_eq!(found.score, Score::WinIn(plies), "{fen} {found:?}");
        assert_eq!(found.line.len() as u32, plies, "{fen} {found:?}");
    }
}

#[test]
fn a_side_without_a_move_has_lost_and_the_search_knows_it() {
    // Black's general has no square left once the soldier captures the last one.
    let (mut game, found) = choose(10, "3k5/9/4P4/9/9/9/9/9/9/4K4 w", 50_000);
    assert!(matches!(found.score, Score::WinIn(_)), "{found:?}");
    for action in found.line {
        let mv = game.legal_move(action).expect("the line is legal");
        game.play(mv);
    }
    assert!(game.outcome().is_some_and(|outcome| outcome.winner.is_some()));
}

#[test]
fn from_level_4_on_a_chariot_in_two_positions_is_not_left_to_be_taken() {
    // The chariot on e5 is attacked by the one on e9 and gains nothing by staying.
    for level in 4..=10 {
        for fen in [
            "3akab2/4r4/2n1b4/p1p1p3p/4R1p2/9/P1P1P1P1P/2N1C1N2/9/2BAKAB1R w",
            "2bakab2/9/2n1c1n2/p1p3p1p/9/2P1R1P2/P7P/N3C1N2/9/2BAKAB2 w",
        ] {
            let (game, found) = choose(level, fen, 20_000);
            let before = engine_material(&game);
            let mut after = game.clone();
            // The other side captures at full strength.
            let mv = after.legal_move(found.line[0]).expect("legal");
            after.play(mv);
            let (_, answer) = choose(10, &after.position(), 30_000);
            let mv = after.legal_move(answer.line[0]).expect("legal");
            after.play(mv);
            assert!(engine_material(&after) - before > -600, "level {level}: {found:?} {answer:?}");
        }
    }
}

/// Red's material minus Black's, by the usual piece values.
fn engine_material(game: &Xiangqi) -> i32 {
    (0..90)
        .filter_map(|square| game.board().at(square))
        .map(|(side, kind)| {
            let worth = [0, 200, 200, 400, 900, 450, 100][kind as usize];
            if side == engine::Side::First { worth } else { -worth }
        })
        .sum()
}

#[test]
fn no_level_gives_the_check_that_loses_by_repetition() {
    let position = Xiangqi::from_position(&XiangqiSetup::default(), "3k5/9/9/9/9/9/9/9/R3A4/4K3c w");
    let mut game = AnyGame::Xiangqi(position.expect("a position"));
    // The chariot checks the general on two squares by turns, until its next check would lose.
    let mut checks = ["a9", "d8", "a8", "d9"].into_iter().cycle();
    let forbidden = loop {
        let (to, turn) = (checks.next().expect("a cycle"), game.turn());
        let reaches = |action: &Action| game.notation(*action).ends_with(to);
        let action = game.legal_actions().into_iter().find(reaches).expect("the check and its answer");
        let before = game.clone();
        game.act(action).expect("legal");
        assert!(game.ply() < 60, "nothing ends it");
        if let Some(outcome) = game.outcome() {
            assert_eq!((outcome.winner, outcome.reason), (Some(turn.other()), Reason::PerpetualCheck));
            game = before;
            break action;
        }
    };
    let stop = AtomicBool::new(false);
    for level in 1..=10 {
        let mut bot = XiangqiBot::new(Tier::new(level).expect("a level"), 1);
        let limits =
            Limits { time: None, nodes: Some(2_000), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
        let found = bot.choose(&game, &limits, &mut |_| {}).expect("a move");
        assert_ne!(found.line[0], forbidden, "level {level}");
    }
}

#[test]
fn every_level_plays_by_the_rules_and_the_same_question_gets_the_same_answer() {
    let mut rng = Rng::new(8);
    for level in 1..=10 {
        let mut game = Xiangqi::new(&XiangqiSetup::default()).expect("the setup is valid");
        let mut moves = Vec::new();
        for _ in 0..12 {
            game.legal_moves(&mut moves);
            game.play(moves[rng.below(moves.len() as u32) as usize]);
            if game.outcome().is_some() {
                break;
            }
            let (_, first) = choose(level, &game.position(), 600);
            let (_, second) = choose(level, &game.position(), 600);
            assert_eq!(first, second, "level {level}");
            let mut ahead = AnyGame::Xiangqi(game.clone());
            for &action in &first.line {
                ahead.act(action).unwrap_or_else(|refusal| panic!("level {level}: {refusal} {first:?}"));
            }
        }
    }
}

struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(language: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
            .arg(language)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine runs");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the engine listens");
    }

    /// Reads lines up to the first with this prefix; returns all of them.
    fn until(&mut self, word: &str) -> Vec<String> {
        self.until_any(&[word])
    }

    fn until_any(&mut self, words: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "the engine has gone: {lines:?}");
            let line = line.trim_end().to_owned();
            let found = words.iter().any(|word| line.starts_with(word));
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    fn ask(&mut self, line: &str, word: &str) -> Vec<String> {
        self.say(line);
        self.until(word)
    }

    /// Reads lines up to the answer to `go`.
    fn answer(&mut self) -> Vec<String> {
        self.until_any(&["bestmove", "nobestmove"])
    }

    fn last(&mut self, line: &str, word: &str) -> String {
        self.ask(line, word).pop().expect("the line that was waited for")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = writeln!(self.input, "quit");
        let _ = self.child.wait();
    }
}

#[test]
fn a_uci_dialogue_gets_its_answers() {
    let mut engine = Program::start("uci");
    let hello = engine.ask("uci", "uciok");
    assert!(hello.iter().any(|line| line.starts_with("option name UCI_Variant")), "{hello:?}");
    assert_eq!(engine.last("isready", "readyok"), "readyok");
    engine.say("setoption name Hash value 4");
    // Squares count ranks from 1 to 10.
    engine.say("position startpos moves b1c3 b10c8");
    let lines = engine.ask("go depth 5", "bestmove");
    assert!(lines.iter().any(|line| line.starts_with("info depth 5 multipv 1 score cp ")), "{lines:?}");
    // A mate in one, and the best move when the search is restricted to other moves.
    engine.say("position fen 4k4/R8/9/9/9/9/9/9/1R7/3K5 w - - 0 1");
    let lines = engine.ask("go depth 4", "bestmove");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove b2b10"));
    assert!(lines.iter().any(|line| line.contains("score mate 1")), "{lines:?}");
    let best = engine.last("go depth 4 searchmoves d1d2 b2b3", "bestmove");
    assert!(best.starts_with("bestmove d1d2") || best.starts_with("bestmove b2b3"), "{best}");
    engine.say("setoption name MultiPV value 3");
    engine.say("position startpos");
    let lines = engine.ask("go depth 3", "bestmove");
    for n in 1..=3 {
        assert!(lines.iter().any(|line| line.contains(&format!("info depth 3 multipv {n} "))), "{lines:?}");
    }
    engine.say("setoption name MultiPV value 1");
    engine.say("position fen 4k4/R8/9/9/9/9/9/9/1R7/3K5 w - - 0 1 moves b2b10");
    assert_eq!(engine.last("go depth 3", "bestmove"), "bestmove (none)");
}

#[test]
fn an_endless_search_answers_when_it_is_stopped_and_is_ready_meanwhile() {
    let mut engine = Program::start("uci");
    engine.say("position startpos");
    engine.say("go infinite");
    assert_eq!(engine.last("isready", "readyok"), "readyok");
    assert!(engine.last("stop", "bestmove").starts_with("bestmove "));
    // Pondering: the clock starts with the hit.
    engine.say("go ponder movetime 20");
    engine.until("info depth 3 ");
    assert!(engine.last("ponderhit", "bestmove").starts_with("bestmove "));
    // Node limits, clocks, and invalid input.
    engine.say("position startpos");
    assert!(engine.last("go nodes 2000", "bestmove").starts_with("bestmove "));
    assert!(engine.last("go wtime 500 btime 500 winc 0 binc 0", "bestmove").starts_with("bestmove "));
    assert!(engine.last("go wtime -20 btime 500", "bestmove").starts_with("bestmove "));
}

#[test]
fn after_a_position_that_cannot_be_read_no_move_of_another_position_is_given() {
    for (language, refused, none) in [
        (
            "uci",
            ["fen no such position", "startpos moves b1c3 a1a9", "startpos moves nonsense"],
            "bestmove (none)",
        ),
        (
            "ucci",
            ["fen no such position", "startpos moves b0c2 a0a8", "startpos moves nonsense"],
            "nobestmove",
        ),
    ] {
        let mut engine = Program::start(language);
        for refused in refused {
            engine.say("position startpos");
            engine.ask(&format!("position {refused}"), "info string");
            engine.say("go nodes 500");
            assert_eq!(engine.answer().last().map(String::as_str), Some(none), "{language} {refused}");
        }
        engine.say("position startpos");
        engine.say("go nodes 500");
        assert_ne!(engine.answer().last().map(String::as_str), Some(none), "{language}");
    }
}

/// A game as another program plays it: on beyond the draws of our rules.
struct Beyond {
    game: Xiangqi,
    /// The moves in the words of UCI, and in those of UCCI.
    words: [Vec<String>; 2],
}

impl Beyond {
    fn from(fen: &str) -> Self {
        let mut game = Xiangqi::from_position(&XiangqiSetup::default(), fen).expect("a position");
        game.play_on();
        Self { game, words: [Vec::new(), Vec::new()] }
    }

    /// Plays a move; the result by our rules, if there is one.
    fn play(&mut self, mv: XiangqiMove) -> Option<Outcome> {
        let action = Xiangqi::action(mv);
        self.words[0].push(action.to_string());
        self.words[1].push(self.game.notation(action));
        self.game.play(mv);
        let outcome = self.game.outcome();
        self.game.play_on();
        outcome
    }

    /// Plays moves in the words of UCCI; the results by our rules.
    fn play_words(&mut self, words: &str) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for word in words.split(' ') {
            let action = self.game.parse(word).expect("a move of a piece");
            let mv = self.game.legal_move(action).expect("a legal move");
            outcomes.extend(self.play(mv));
        }
        outcomes
    }

    /// Plays this many moves at random, no captures and none of soldiers; the results by our rules. `None` where there is no
    /// such move.
    fn play_quietly(&mut self, plies: u32, rng: &mut Rng) -> Option<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        let mut moves = Vec::new();
        for _ in 0..plies {
            self.game.legal_moves(&mut moves);
            moves.retain(|&mv| {
                let mut after = self.game.clone();
                after.play(mv);
                // The halfmove clock of the FEN.
                after.position().split(' ').nth(4) != Some("0")
            });
            if moves.is_empty() {
                return None;
            }
            outcomes.extend(self.play(moves[rng.below(moves.len() as u32) as usize]));
        }
        Some(outcomes)
    }
}

#[test]
fn play_goes_on_beyond_draws_that_only_our_rules_know() {
    const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
    // No piece can cross the river, from the first position on.
    const BARE: &str = "3k5/9/9/9/9/9/9/9/4A4/5K3 w - - 0 1";
    let bare = Beyond::from(BARE);
    let mut still_bare = Beyond::from(BARE);
    let bare_draws = still_bare.play_words("e1d0 d9d8 d0e1");
    // The third occurrence of a position, and the fourth.
    let mut again = Beyond::from(START);
    let repetitions = again.play_words(&["b0c2 b9c7 c2b0 c7b9"; 4].join(" "));
    // 120 plies without a capture or a soldier's move end the game; here six more follow.
    let mut rng = Rng::new(120);
    let (quiet, quiet_draws) = loop {
        let mut quiet = Beyond::from(START);
        // Otherwise there was no quiet move, or a position has repeated.
        if let Some(outcomes) = quiet.play_quietly(126, &mut rng)
            && outcomes.iter().all(|outcome| outcome.reason == Reason::TooLong)
        {
            break (quiet, outcomes);
        }
    };
    for (outcomes, reason, count) in [
        (bare_draws, Reason::BareMaterial, 3),
        (repetitions, Reason::Repetition, 9),
        (quiet_draws, Reason::TooLong, 7),
    ] {
        let draw = Outcome { winner: None, reason };
        assert_eq!(outcomes, vec![draw; count], "by our own rules it is over");
    }

    for (n, language) in ["uci", "ucci"].into_iter().enumerate() {
        let mut engine = Program::start(language);
        for (fen, Beyond { game, words }) in
            [(BARE, &bare), (BARE, &still_bare), (START, &again), (START, &quiet)]
        {
            let moves = words[n].join(" ");
            engine
                .say(&format!("position fen {fen}{}{moves}", if moves.is_empty() { "" } else { " moves " }));
            engine.say("go nodes 2000");
            let lines = engine.answer();
            assert!(
                !lines.iter().any(|line| line.starts_with("info string")),
                "{language} {moves}: {lines:?}"
            );
            let best = lines.last().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            let mut legal = legal.into_iter().map(Xiangqi::action).map(|action| match language {
                "uci" => action.to_string(),
                _ => game.notation(action),
            });
            assert!(legal.any(|word| word == best), "{language} {moves}: {lines:?}");
        }
    }
}

#[test]
fn a_ucci_dialogue_gets_its_answers() {
    let mut engine = Program::start("ucci");
    engine.ask("ucci", "ucciok");
    engine.say("setoption usemillisec true");
    engine.say("position fen 4k4/R8/9/9/9/9/9/9/1R7/3K5 w - - 0 1");
    assert_eq!(engine.last("go depth 4", "bestmove"), "bestmove b1b9");
    engine.say("position fen 4k4/R8/9/9/9/9/9/9/1R7/3K5 w - - 0 1");
    engine.say("banmoves b1b9");
    assert_ne!(engine.last("go time 300", "bestmove"), "bestmove b1b9");
    engine.say("position fen 4k4/R8/9/9/9/9/9/9/1R7/3K5 w - - 0 1 moves b1b9");
    assert_eq!(engine.last("go depth 3", "nobestmove"), "nobestmove");
    assert_eq!(engine.last("quit", "bye"), "bye");
}
