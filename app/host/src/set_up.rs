//! Positions that a person sets up, one change at a time; nothing of them is kept.

use engine::start::{Start, StartPhase, StartPiece};
use engine::{AnyGame, GameKind, Language, Mark, MarkKind, PieceView, Point, Setup};
use proto::control::{self, RefusalCode, set_up::Change};
use session::{MatchRecord, wire};

use crate::archive;
use crate::games::{self, start_problem, unread};
use crate::journal::Journal;
use crate::lessons;
use crate::puzzles::Puzzles;
use crate::refusal::Refusal;
use crate::setup::replayed;
use crate::show;

/// Reads what a request names. The result computes the position after the change that is asked for, on any thread: a kept match
/// is replayed.
pub(crate) fn read(
    asked: control::SetUp,
    journal: &Journal,
    puzzles: &Puzzles,
) -> Result<impl FnOnce() -> Result<control::SetUpPosition, Refusal> + Send + use<>, Refusal> {
    let from = match &asked.change {
        Some(Change::From(from)) => Some(named(from, journal, puzzles)?),
        _ => None,
    };
    Ok(move || changed(&asked, from.map(Source::position).transpose()?))
}

/// As for a client, without a host: for callers that have lessons, but no kept matches or puzzles. `None` if it would be refused.
pub fn set_up(asked: &control::SetUp) -> Option<control::SetUpPosition> {
    let from = match &asked.change {
        Some(Change::From(control::SetUpFrom { lesson: Some(lesson), .. })) => Some(taught(lesson).ok()?),
        _ => None,
    };
    changed(asked, from).ok()
}

/// What a change names.
enum Source {
    Lesson(control::Teach),
    Puzzle(Box<AnyGame>),
    Kept(Box<MatchRecord>, u32),
}

impl Source {
    /// Its rules and its position.
    fn position(self) -> Result<(Setup, AnyGame), Refusal> {
        match self {
            Self::Lesson(lesson) => taught(&lesson),
            Self::Puzzle(game) => Ok((game.setup(), *game)),
            Self::Kept(record, ply) => Ok((record.setup.clone(), replayed(&record, ply)?)),
        }
    }
}

fn named(from: &control::SetUpFrom, journal: &Journal, puzzles: &Puzzles) -> Result<Source, Refusal> {
    if let Some(lesson) = &from.lesson {
        return Ok(Source::Lesson(lesson.clone()));
    }
    if let Some(game) = puzzles.position(&from.room_id, from.ply) {
        return game.map(|game| Source::Puzzle(Box::new(game)));
    }
    let saved = archive::to_study(journal, &from.room_id)?;
    Ok(Source::Kept(Box::new(saved.record), from.ply))
}

fn taught(lesson: &control::Teach) -> Result<(Setup, AnyGame), Refusal> {
    lessons::position_of(lesson).map(|game| (game.setup(), game))
}

/// `from`: rules and position that the change names.
fn changed(
    asked: &control::SetUp,
    from: Option<(Setup, AnyGame)>,
) -> Result<control::SetUpPosition, Refusal> {
    let choice = asked.choice.clone().unwrap_or_default();
    let (rules, start) = if let Some((rules, game)) = from {
        let start = Start::of(&game).ok_or_else(|| no_start_here(game.kind()))?;
        (rules.without_start(), start)
    } else {
        let usual = control::GameChoice { start: Vec::new().into(), ..choice.clone() };
        let rules = games::read(None, Some(&usual), || 0)?;
        let start = if choice.start.is_empty() {
            beginning(&rules)?
        } else {
            Start::read(rules.kind(), &choice.start).map_err(unread)?
        };
        (rules, start)
    };
    let start = match &asked.change {
        None | Some(Change::From(_)) => start,
        Some(change) => apply(start, change)?,
    };
    Ok(shown(&rules, &start))
}

fn bad(what: &str) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, what)
}

/// Why a position of this game is no start.
fn no_start_here(kind: GameKind) -> Refusal {
    let (zh, en) = match kind {
        GameKind::LightsOut => (
            "关灯没有局面可以接着下；可以自己摆一题。",
            "There is no playing on in Lights Out; set up a board of your own.",
        ),
        _ => (
            "从这里没法开局：还有一步没走完。",
            "No game can begin here: something of the last move is still to be done.",
        ),
    };
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..bad("no match can begin from this position") }
}

/// The usual beginning of these rules, without what is theirs alone.
fn beginning(rules: &Setup) -> Result<Start, Refusal> {
    let game = AnyGame::new(rules).map_err(|error| bad(error.0))?;
    Start::of(&game)
        .or_else(|| Start::empty_for(rules))
        .ok_or_else(|| bad("this game has no positions to set up"))
}

fn apply(start: Start, change: &Change) -> Result<Start, Refusal> {
    let off_board = || Refusal::new(RefusalCode::RefusalOffBoard, "off the board");
    let point = |number: u32| wire::read_point(number).map_err(|_| off_board());
    match change {
        Change::Clear(_) => {
            let empty = Start::empty(start.game(), start.rows()).expect("the board is of its size");
            Ok(empty.with_turn(start.turn()).with_phase(start.phase()))
        }
        Change::Put(put) => {
            let piece = match put.piece {
                0 => None,
                code => {
                    let piece =
                        u8::try_from(code).ok().and_then(|code| StartPiece::from_code(start.game(), code));
                    Some(piece.ok_or_else(|| bad("no such piece"))?)
                }
            };
            start.with(point(put.at)?, piece).ok_or_else(off_board)
        }
        Change::Move(step) => {
            let (from, to) = (point(step.from)?, point(step.to)?);
            let piece = start.at(from).ok_or_else(|| bad("nothing stands there"))?;
            start.with(from, None).and_then(|start| start.with(to, Some(piece))).ok_or_else(off_board)
        }
        Change::Turn(side) => Ok(start.with_turn(wire::read_side(*side).map_err(|_| bad("a side"))?)),
        Change::Moving(moving) => {
            Ok(start.with_phase(if *moving { StartPhase::Moving } else { StartPhase::Opening }))
        }
        Change::From(_) => Ok(start),
    }
}

fn shown(rules: &Setup, start: &Start) -> control::SetUpPosition {
    let kind = rules.kind();
    let begun = rules.clone().begin_from(start.clone());
    // The options that stand for themselves: size, opening, handicap and odds follow from the start.
    let of_options = begun.as_ref().unwrap_or(rules).clone().without_start();
    let options = of_options
        .options()
        .into_iter()
        .map(|option| control::ChosenOption { option: option.word.into(), value: option.chosen });
    let line = start.line().into_bytes();
    control::SetUpPosition {
        start: line.clone().into(),
        board: Some(board_of(start)),
        tray: StartPiece::all(kind).into_iter().map(tray).collect(),
        moving: start.phase() == StartPhase::Moving,
        problem: begun.as_ref().err().map(|&error| start_problem(error, kind)),
        choice: Some(control::GameChoice {
            game: i32::from(kind as u8),
            preset: of_options.preset().unwrap_or_default().into(),
            options: options.collect(),
            start: line.into(),
        }),
    }
}

fn board_of(start: &Start) -> control::Board {
    let view = |(at, piece): (Point, StartPiece)| PieceView { at, side: piece.side, piece: piece.piece };
    let captured = start.pieces().filter(|(_, piece)| piece.marked);
    control::Board {
        game: i32::from(start.game() as u8),
        columns: start.columns().into(),
        rows: start.rows().into(),
        pieces: start.pieces().filter_map(|piece| show::piece(view(piece))).collect(),
        marks: captured.map(|(at, _)| show::mark(Mark { at, kind: MarkKind::Captured })).collect(),
        turn: wire::side(start.turn()).into(),
        ..control::Board::default()
    }
}

fn tray(piece: StartPiece) -> control::TrayPiece {
    let [zh, en] = [Language::Chinese, Language::English].map(|language| piece.name(language));
    let view = PieceView { at: Point::new(0, 0), side: piece.side, piece: piece.piece };
    control::TrayPiece {
        piece: piece.code().into(),
        shape: show::piece(view),
        captured: piece.marked,
        name: Some(control::Words { zh, en }),
    }
}

#[cfg(test)]
mod tests {
    use proto::board;

    use super::*;

    fn choice(game: GameKind, start: &str) -> control::GameChoice {
        control::GameChoice {
            game: i32::from(game as u8),
            start: start.as_bytes().to_vec().into(),
            ..control::GameChoice::default()
        }
    }

    fn ask(choice: control::GameChoice, change: Option<Change>) -> Result<control::SetUpPosition, Refusal> {
        changed(&control::SetUp { choice: Some(choice), change }, None)
    }

    fn line(position: &control::SetUpPosition) -> &str {
        std::str::from_utf8(&position.start).expect("a line")
    }

    #[test]
    fn an_empty_start_is_the_usual_beginning_and_each_change_is_one_step() {
        let first = ask(choice(GameKind::Xiangqi, ""), None).expect("xiangqi has starts");
        assert_eq!(line(&first), "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1");
        assert_eq!((first.problem, first.tray.len()), (None, 14));
        let at = |column, row| wire::point(Point::new(column, row));
        let mut now = first.choice.expect("it goes on");
        for (change, expected) in [
            (Change::Put(control::SetUpPut { at: at(1, 0), piece: 0 }), "P1P1P1P1P/1C5C1/9/R1BAKABNR w"),
            (Change::Move(board::Step { from: at(7, 0), to: at(6, 2) }), "P1P1P1P1P/1C4NC1/9/R1BAKAB1R w"),
            (Change::Turn(board::Side::Second.into()), "P1P1P1P1P/1C4NC1/9/R1BAKAB1R b"),
            (Change::Put(control::SetUpPut { at: at(0, 0), piece: 12 }), "P1P1P1P1P/1C4NC1/9/r1BAKAB1R b"),
        ] {
            let next = ask(now, Some(change)).expect("a change");
            assert!(line(&next).contains(expected), "{}", line(&next));
            now = next.choice.expect("it goes on");
        }
        let cleared = ask(now, Some(Change::Clear(true))).expect("a change");
        assert_eq!(line(&cleared), "9/9/9/9/9/9/9/9/9/9 b - - 0 1");
        assert_eq!(cleared.problem.map(|words| words.en), Some("Red has no general.".into()));
    }

    #[test]
    fn what_is_legal_begins_a_match_and_what_is_not_is_refused_with_its_reason() {
        let legal = ask(choice(GameKind::Go, "bb3/w4/5/5/5 w"), None).expect("a position");
        assert!(legal.problem.is_none());
        let setup = games::read(None, legal.choice.as_ref(), || 0).expect("a match begins");
        assert_eq!(setup.start().map(Start::line).as_deref(), Some("bb3/w4/5/5/5 w"));
        let illegal = ask(choice(GameKind::Go, "bw3/w4/5/5/5 w"), None).expect("a position");
        let problem = illegal.problem.expect("Black has no liberty");
        assert_eq!(problem.en, "The stones at A5 have no liberty.");
        let refused = games::read(None, illegal.choice.as_ref(), || 0).expect_err("it is illegal");
        assert_eq!(refused.reason, Some(problem));
        let nonsense = ask(choice(GameKind::Go, "nonsense"), None).expect_err("it is no position");
        assert!(nonsense.reason.is_some());
        assert!(ask(choice(GameKind::LightsOut, ""), None).is_err());
    }

    #[test]
    fn a_position_of_a_match_keeps_its_rules() {
        let mut setup = GameKind::Go.default_setup();
        for (option, value) in [("size", "9"), ("komi-half-points", "1")] {
            setup.choose(option, value).expect("it is offered");
        }
        let mut game = AnyGame::new(&setup).expect("a game");
        game.act(engine::Action::Place(Point::new(2, 2))).expect("the board is empty");
        let asked = control::SetUp::default();
        let told = changed(&asked, Some((setup, game))).expect("a position");
        assert_eq!(line(&told), "9/9/9/9/9/9/2b6/9/9 w");
        let again = games::read(None, told.choice.as_ref(), || 0).expect("a match begins");
        let Setup::Go(go) = again else { panic!("it is Go") };
        assert_eq!((go.size, go.komi_half_points), (9, 1));
    }

    fn from_lesson(
        game: GameKind,
        step: u32,
        actions: Vec<board::Action>,
    ) -> Result<control::SetUpPosition, Refusal> {
        let from = taught(&control::Teach { game: i32::from(game as u8), step, actions })?;
        changed(&control::SetUp::default(), Some(from))
    }

    #[test]
    fn every_step_of_every_lesson_but_of_lights_and_of_dead_stones_is_a_position_to_play_on_from() {
        let mut without = Vec::new();
        for kind in [GameKind::Gomoku, GameKind::Go, GameKind::Xiangqi, GameKind::Liuzhou] {
            let steps = engine::lessons::lesson(kind).len() as u32;
            assert!(steps > 0, "{kind:?}");
            for step in 0..steps {
                let (mut actions, mut playable) = (Vec::new(), 0);
                loop {
                    let asked =
                        control::Teach { game: i32::from(kind as u8), step, actions: actions.clone() };
                    let told = lessons::teach(&asked).expect("it is taught");
                    match from_lesson(kind, step, actions.clone()) {
                        Ok(position) => {
                            let choice = position.choice.expect("rules");
                            let begun = games::read(None, Some(&choice), || 0);
                            assert_eq!(begun.is_ok(), position.problem.is_none(), "{kind:?} {step}");
                            playable += usize::from(begun.is_ok());
                        }
                        // A capture or a choice is due, or the agreement about dead stones.
                        Err(refusal) => assert!(refusal.reason.is_some(), "{kind:?} {step}"),
                    }
                    let Some(wanted) = told.wanted.first() else { break };
                    actions.push(*wanted);
                }
                if playable == 0 {
                    without.push((kind, step));
                }
            }
        }
        assert_eq!(without, [(GameKind::Go, 5)], "dead stones are agreed on there");
        let lights = from_lesson(GameKind::LightsOut, 0, Vec::new()).expect_err("there are no positions");
        assert!(lights.reason.is_some_and(|words| words.en.contains("Lights Out")));
    }
}
