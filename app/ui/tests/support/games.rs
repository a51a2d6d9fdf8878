//! Fake events and replies about every game (positions, rule sheets), made with the engine.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine::start::Start;
use engine::{Action, AnyGame, GameKind, Language, Level, Setup, Side};
use proto::{board, control};
use session::wire;

use super::{bot, here};

/// The moves of a room, in notation and in players' notation.
type Written = (Vec<String>, Vec<control::Words>);

thread_local! {
    /// How the positions of this module came about, since a game does not keep its moves.
    static PLAYED: RefCell<BTreeMap<String, Written>> = RefCell::default();
}

/// Plays actions, which `next` names until it is done, and notes them for [`room`].
fn play(mut game: AnyGame, mut next: impl FnMut(&AnyGame) -> Option<Action>) -> AnyGame {
    let mut written = Written::default();
    while let Some(action) = next(&game) {
        written.0.push(game.notation(action));
        written.1.extend(game.spoken(action).map(|[zh, en]| control::Words { zh, en }));
        game.act(action).unwrap_or_else(|why| panic!("{}: {why}", game.notation(action)));
    }
    PLAYED.with_borrow_mut(|played| played.insert(game.position(), written));
    game
}

/// A game after these actions, given in its notation.
pub(crate) fn played(setup: &Setup, actions: &str) -> AnyGame {
    let mut actions = actions.split_whitespace();
    play(AnyGame::new(setup).expect("a valid setup"), |game| {
        let action = actions.next()?;
        Some(game.parse(action).unwrap_or_else(|| panic!("{action} is not of this game")))
    })
}

/// A setup with these options.
pub(crate) fn chosen(kind: GameKind, options: &[(&str, &str)]) -> Setup {
    let mut setup = kind.default_setup();
    for (option, value) in options {
        setup.choose(option, value).expect("an option of this game");
    }
    setup
}

/// A game of renju with this opening after these actions.
pub(crate) fn renju(opening: &str, actions: &str) -> AnyGame {
    played(&chosen(GameKind::Gomoku, &[("rule", "renju"), ("opening", opening)]), actions)
}

/// A match of this side's player against a bot of level 7.
pub(crate) fn against_the_device(game: &AnyGame, side: Side) -> control::Room {
    let (first, second) = if side == Side::First { (here(), bot(7)) } else { (bot(7), here()) };
    room(game, first, second, &[side])
}

/// A match of two people at this device, or of one in games for one player.
pub(crate) fn alone(game: &AnyGame) -> control::Room {
    room(game, here(), here(), &Side::BOTH)
}

fn room(game: &AnyGame, first: control::Seat, second: control::Seat, mine: &[Side]) -> control::Room {
    let over = game.outcome();
    let (record, spoken) = written(game);
    control::Room {
        record,
        spoken,
        id: "room".into(),
        setup: Some(wire::setup(&game.setup())),
        first: Some(first),
        second: Some(second),
        board: Some(host::position(game)),
        mine: mine.iter().map(|side| wire::side(*side).into()).collect(),
        result: over.map(|outcome| board::Result {
            winner: outcome.winner.map_or(board::Side::Unspecified, wire::side).into(),
            ending: wire::ending(outcome.reason).into(),
        }),
        can_take_back: over.is_none() && game.ply() > 0,
        can_offer_draw: over.is_none(),
        can_resign: over.is_none(),
        can_new_game: true,
        can_act: over.is_none() && mine.contains(&game.turn()),
        moves: game.ply(),
        ..Default::default()
    }
}

/// The moves up to this position; none if it was not played here.
pub(crate) fn written(game: &AnyGame) -> Written {
    PLAYED.with_borrow(|played| played.get(&game.position()).cloned()).unwrap_or_default()
}

/// The reply to `Describe`.
pub(crate) fn sheet(asked: &control::Describe) -> control::GameSheet {
    let setup = match (&asked.choice, &asked.setup) {
        (Some(choice), _) => {
            let kind = wire::read_game(choice.game).expect("a game");
            let mut setup = if choice.preset.is_empty() {
                kind.default_setup()
            } else {
                kind.preset(&choice.preset).expect("a preset")
            };
            for one in &choice.options {
                setup.choose(&one.option, &one.value).expect("what the page offers");
            }
            match &choice.start[..] {
                [] => setup,
                start => {
                    let start = Start::read(kind, start).expect("a position");
                    setup.begin_from(start).expect("a legal position")
                }
            }
        }
        (None, setup) => wire::read_setup(setup.as_ref()).expect("a setup"),
    };
    let words = |both: &engine::options::Both| {
        Some(control::Words { zh: both.chinese.clone(), en: both.english.clone() })
    };
    control::GameSheet {
        setup: None,
        level_step_tenths: AnyGame::new(&setup).ok().as_ref().and_then(Level::step).map_or(0, u32::from),
        strength: engine::rating::Rating::new(&AnyGame::new(&setup).expect("a game")).map(|_| {
            control::Strength {
                level_tenths: 43,
                lowest_tenths: 36,
                highest_tenths: 49,
                matches: 12,
                history: vec![32, 41, 52, 47, 39, 44, 41, 45, 48, 44, 41, 43],
                below_levels: false,
                above_levels: false,
            }
        }),
        paces: paces().into_iter().chain(asked.pace.map(own_pace)).collect(),
        preset: setup.preset().unwrap_or_default().into(),
        presets: (setup.kind().presets().iter())
            .map(|preset| control::GamePreset {
                preset: preset.word.into(),
                name: words(&preset.name),
                decides: preset.decides.iter().map(|&option| option.into()).collect(),
            })
            .collect(),
        options: (setup.options().iter())
            .map(|option| control::GameOption {
                option: option.word.into(),
                name: words(&option.name),
                values: (option.values.iter())
                    .map(|value| control::OptionValue { value: value.word.clone(), name: words(&value.name) })
                    .collect(),
                chosen: option.chosen.clone(),
                numbers: option.numbers.is_some(),
                least: option.numbers.as_ref().map_or(0, |numbers| *numbers.start()),
                most: option.numbers.as_ref().map_or(0, |numbers| *numbers.end()),
                seldom: option.seldom,
            })
            .collect(),
        rule_sheet_en: setup.rule_sheet(Language::English),
        rule_sheet_zh: setup.rule_sheet(Language::Chinese),
        problem: AnyGame::new(&setup).err().map_or_else(String::new, |error| error.to_string()),
        misfit: setup.misfit(Language::English).map(|en| control::Words {
            zh: setup.misfit(Language::Chinese).unwrap_or_default().into(),
            en: en.into(),
        }),
        gives_odds: setup.gives_odds().map_or(0, |side| wire::side(side).into()),
    }
}

/// Some of the time controls that a host offers.
pub(crate) fn paces() -> Vec<control::PacePreset> {
    let pace = |word: &str, zh: &str, en: &str, main_s: u32, step_s: u32| control::PacePreset {
        word: word.into(),
        name: Some(control::Words { zh: zh.into(), en: en.into() }),
        pace: (main_s > 0).then(|| board::Pace {
            kind: board::PaceKind::PaceFischer.into(),
            main_s,
            step_s,
            periods: 0,
        }),
    };
    vec![
        pace("none", "不计时", "No clock", 0, 0),
        pace("blitz", "3分钟，每手加2秒", "3 min + 2 s per move", 180, 2),
        pace("rapid", "10分钟，每手加5秒", "10 min + 5 s per move", 600, 5),
    ]
}

/// A custom clock, with the host's name for it.
fn own_pace(pace: board::Pace) -> control::PacePreset {
    let (minutes, seconds, periods) = (pace.main_s / 60, pace.step_s, pace.periods);
    control::PacePreset {
        word: "own".into(),
        name: Some(control::Words {
            zh: format!("{minutes}分钟，读秒{seconds}秒{periods}次"),
            en: format!("{minutes} min, then {periods} periods of {seconds} s"),
        }),
        pace: Some(pace),
    }
}

/// The reply to `Teach`, if all actions are accepted.
pub(crate) fn lesson(asked: &control::Teach) -> control::Lesson {
    let kind = wire::read_game(asked.game).expect("a game");
    let actions: Vec<Action> =
        asked.actions.iter().map(|action| wire::read_action(Some(action)).expect("an action")).collect();
    let steps = engine::lessons::lesson(kind);
    let step = &steps[asked.step as usize];
    let taught = engine::lessons::teach(kind, asked.step as usize, &actions).expect("it is wanted");
    let words = |said: engine::lessons::Said| Some(control::Words { zh: said.zh.into(), en: said.en.into() });
    control::Lesson {
        step: asked.step,
        steps: steps.len() as u32,
        say: words(step.say),
        then: words(step.then),
        board: Some(host::position(&taught.game)),
        wanted: taught.wanted.into_iter().map(wire::action).collect(),
    }
}

/// Go on 9x9 after a short middle game.
pub(crate) fn go() -> AnyGame {
    played(
        &chosen(GameKind::Go, &[("size", "9")]),
        "E5 G5 F3 C4 C6 E3 D3 D4 E4 F4 F5 G4 G3 E2 D2 F2 G2 D5 H4 H5 F6 G6 F7",
    )
}

/// The same board at the end: both sides have passed, and two black stones are marked as dead.
pub(crate) fn go_counting() -> AnyGame {
    let mut game = go();
    for action in [Action::Pass, Action::Pass] {
        game.act(action).expect("passing is always possible");
    }
    let dead = game.parse("dead C6").expect("a mark of this game");
    game.act(dead).expect("a stone stands there");
    game
}

const XIANGQI_OPENING: &str =
    "炮二平五 马8进7 马二进三 车9平8 车一平二 马2进3 兵七进一 卒7进1 马八进七 士4进5 炮八进二 象3进5";

/// A xiangqi opening: the central cannon against two horses.
pub(crate) fn xiangqi() -> AnyGame {
    played(&GameKind::Xiangqi.default_setup(), XIANGQI_OPENING)
}

/// Liuzhou chess just after a square was made, with a capture due.
pub(crate) fn liuzhou_placing() -> AnyGame {
    played(&GameKind::Liuzhou.default_setup(), "c3 a6 d3 e5 c4 b5 d4")
}

/// A legal game of Liuzhou chess up to the moving phase.
pub(crate) fn liuzhou_moving() -> AnyGame {
    let start = AnyGame::new(&GameKind::Liuzhou.default_setup()).expect("the default is valid");
    // Deterministic choices among the legal actions, spread over the board.
    let mut turns = 0_usize..;
    play(start, |game| {
        let (turn, view) = (turns.next()?, game.view());
        let over = !view.steps.is_empty() && turn > 44 || view.outcome.is_some();
        let legal = game.legal_actions();
        (!over).then(|| legal[turn * 7 % legal.len()])
    })
}

/// A Lights Out board of this size with a few presses.
pub(crate) fn lights(columns: &str, rows: &str) -> AnyGame {
    let setup = chosen(GameKind::LightsOut, &[("columns", columns), ("rows", rows), ("seed", "7")]);
    played(&setup, "b2 c3")
}

/// The general is mated, and by whom.
pub(crate) fn mated() -> (AnyGame, Side) {
    let all = engine::puzzles::all(GameKind::Xiangqi);
    let puzzle = all.iter().find(|puzzle| puzzle.moves == 1).expect("a mate in one move");
    let mut game = puzzle.start.clone();
    let winner = game.turn();
    game.act(puzzle.solution).expect("it is legal");
    (game, winner)
}

/// Before and after the press that puts the last lights out.
pub(crate) fn last_lights() -> (AnyGame, AnyGame) {
    let setup = chosen(GameKind::LightsOut, &[("columns", "5"), ("rows", "5"), ("seed", "7")]);
    let mut game = played(&setup, "");
    let AnyGame::LightsOut(lights) = &game else { panic!("it is lights out") };
    let engine::lights_out::Solution::Presses { presses, .. } = lights.solution() else {
        panic!("a random board can be put out")
    };
    let mut before = game.clone();
    for at in presses.points().collect::<Vec<_>>() {
        before = game.clone();
        game.act(Action::Press(at)).expect("a light");
    }
    (before, game)
}

/// Go on nine lines, counted: each side has its half of the board.
pub(crate) fn counted() -> AnyGame {
    let walls: Vec<String> = (1..=9).map(|row| format!("D{row} E{row}")).collect();
    let mut game = played(&chosen(GameKind::Go, &[("size", "9")]), &walls.join(" "));
    for action in [Action::Pass, Action::Pass, Action::Agree, Action::Agree] {
        game.act(action).expect("both agree");
    }
    game
}
