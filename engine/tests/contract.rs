//! The contract that every game keeps, tested by random play with many combinations of its options.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::collections::HashSet;

use engine::go::{Go, GoSetup, Handicap, Scoring, Superko};
use engine::lights_out::{LightsOut, LightsOutSetup, Neighbours, Start};
use engine::liuzhou::{
    Blocked, ForcedRemoval, Liuzhou, LiuzhouSetup, Preset, Safety, SeveralFormations, StepBack,
};
use engine::xiangqi::{RepetitionRule, Xiangqi, XiangqiSetup};
use engine::{
    Action, AnyGame, Choice, Game, GameKind, Gomoku, GomokuOpening, GomokuRule, GomokuSetup, IllegalAction,
    Language, MarkKind, Point, Rng, Setup, Side, Touch,
};

/// Number of games for each setup. All setups of all games together take about four seconds.
const GAMES_PER_SETUP: u64 = 6;
/// Enough actions to end any game by random play, or to have covered enough of it.
const PLY_LIMIT: u32 = 600;

#[test]
fn every_game_keeps_the_contract() {
    for &kind in GameKind::ALL {
        // Without a catch-all arm, so that a new game does not compile until its setups are listed here.
        match kind {
            GameKind::Gomoku => gomoku_setups().iter().for_each(keeps_the_contract::<Gomoku>),
            GameKind::Liuzhou => liuzhou_setups().iter().for_each(keeps_the_contract::<Liuzhou>),
            GameKind::Xiangqi => xiangqi_setups().iter().for_each(keeps_the_contract::<Xiangqi>),
            GameKind::Go => go_setups().iter().for_each(keeps_the_contract::<Go>),
            GameKind::LightsOut => lights_out_setups().iter().for_each(keeps_the_contract::<LightsOut>),
        }
    }
}

fn lights_out_setups() -> Vec<LightsOutSetup> {
    let mut setups = Vec::new();
    for neighbours in [(false, false), (false, true), (true, false), (true, true)]
        .map(|(torus, diagonals)| Neighbours { torus, diagonals })
    {
        for (columns, rows) in [(3, 3), (5, 5), (4, 7), (6, 3)] {
            for race in [false, true] {
                let start = Start::Random { columns, rows, seed: 7 };
                setups.push(LightsOutSetup { neighbours, start, race });
            }
        }
    }
    let board = "#..\n.##\n";
    let start = Start::Board(board.parse().expect("two rows of three"));
    setups.push(LightsOutSetup { neighbours: Neighbours::default(), start, race: false });
    setups
}

fn go_setups() -> Vec<GoSetup> {
    let mut setups = Vec::new();
    for (size, handicap) in [
        (2, Handicap::None),
        (3, Handicap::Free(2)),
        (5, Handicap::None),
        (7, Handicap::Stars(4)),
        (13, Handicap::Stars(9)),
    ] {
        for scoring in [Scoring::Area, Scoring::Territory] {
            for superko in [Superko::Positional, Superko::Situational] {
                setups.push(GoSetup { size, scoring, komi_half_points: 15, superko, handicap, start: None });
            }
        }
    }
    setups
}

fn xiangqi_setups() -> Vec<XiangqiSetup> {
    let mut setups = Vec::new();
    for repetition in RepetitionRule::ALL {
        for (quiet_limit, black_first) in [(Some(120), false), (Some(40), true), (None, false)] {
            setups.push(XiangqiSetup { quiet_limit, black_first, repetition, start: None });
        }
    }
    setups
}

/// The presets, and every value of every option, combined so that each pair of options occurs in several ways.
fn liuzhou_setups() -> Vec<LiuzhouSetup> {
    let mut setups: Vec<LiuzhouSetup> = Preset::ALL.into_iter().map(Preset::setup).collect();
    let mut rng = Rng::new(6);
    let mut choose = |n: u32| rng.below(n) as usize;
    while setups.len() < 30 {
        let setup = LiuzhouSetup {
            several: [SeveralFormations::Sum, SeveralFormations::Highest][choose(2)],
            edge_six: choose(4) as u8,
            inner_six: [2, 3][choose(2)],
            diagonals: choose(2) == 0,
            safety: [Safety::UnlessNoOther, Safety::Always, Safety::Never][choose(3)],
            blocked: [Blocked::Removal, Blocked::Loses, Blocked::Passes][choose(3)],
            loses_at: [0, 2, 3][choose(3)],
            quiet_limit: [None, Some(36), Some(60), Some(100)][choose(4)],
            total_limit: [None, Some(144)][choose(2)],
            step_back: [StepBack::Allowed, StepBack::NotAtOnce][choose(2)],
            forced_removal: [
                ForcedRemoval::FirstThenSecond,
                ForcedRemoval::SecondThenFirst,
                ForcedRemoval::OnlySecond,
            ][choose(3)],
            start: None,
        };
        if !setups.contains(&setup) {
            setups.push(setup);
        }
    }
    setups
}

fn gomoku_setups() -> Vec<GomokuSetup> {
    let mut setups = Vec::new();
    for size in [5, 6, 13, 15, 20] {
        for rule in GomokuRule::ALL {
            for edge_five_wins in [true, false] {
                let opening =
                    if size % 2 == 1 && edge_five_wins { GomokuOpening::Swap2 } else { GomokuOpening::Free };
                setups.push(GomokuSetup { size, rule, edge_five_wins, opening, start: None });
                if size == 6 {
                    setups.push(GomokuSetup {
                        size,
                        rule,
                        edge_five_wins,
                        opening: GomokuOpening::Swap2,
                        start: None,
                    });
                }
            }
        }
    }
    for opening in GomokuOpening::ALL {
        let usual = [GomokuOpening::Free, GomokuOpening::Swap2].contains(&opening);
        for rule in GomokuRule::ALL {
            if !usual && (!opening.is_of_renju() || rule == GomokuRule::Renju) {
                setups.push(GomokuSetup { size: 15, rule, edge_five_wins: true, opening, start: None });
            }
        }
    }
    setups
}

fn keeps_the_contract<G: Game>(setup: &G::Setup) {
    let fresh = G::new(setup).expect("the setups of this test are valid");
    assert_eq!(fresh.setup(), setup);
    assert_eq!((fresh.ply(), fresh.view().last), (0, None));
    // Only handicap stones on the board and an option of xiangqi give the first move to the second side.
    assert!(
        fresh.turn() == Side::First
            || fresh.view().pieces.iter().all(|piece| piece.side == Side::First)
            || fresh.view().game == GameKind::Xiangqi
    );
    let first = seed::begin("contract", 0);
    for seed in first..first + GAMES_PER_SETUP {
        let mut rng = Rng::new(seed);
        let mut game = fresh.clone();
        let mut actions = Vec::new();
        loop {
            check_position(&game, &mut rng);
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            if moves.is_empty() || game.ply() >= PLY_LIMIT {
                break;
            }
            let mv = moves[rng.below(moves.len() as u32) as usize];
            let before = game.clone();
            game.play(mv);
            actions.push(G::action(mv));
            assert_eq!(game.ply(), before.ply() + 1);
            assert_eq!(game.view().last, Some(G::action(mv)));
            let is_offered =
                |at| game.view().marks.iter().any(|mark| mark.at == at && mark.kind == MarkKind::Offered);
            if let Action::Place(at) = G::action(mv)
                && !is_offered(at)
            {
                let stone = game.view().pieces.into_iter().find(|piece| piece.at == at);
                let stone = stone.map(|piece| Touch::Place(piece.side));
                assert_eq!(stone, Some(before.view().touch), "the stone comes that a touch has promised");
            }
            assert_eq!(before.key(), before.fresh_key(), "playing on a clone leaves the original as it was");
        }
        assert_eq!(
            replayed::<G>(setup, &actions).view(),
            game.view(),
            "the same actions give the same position"
        );
        assert_eq!(replayed::<G>(setup, &actions).key(), game.key());
    }
}

fn replayed<G: Game>(setup: &G::Setup, actions: &[Action]) -> G {
    let mut game = G::new(setup).expect("the setups of this test are valid");
    for &action in actions {
        game.play(game.legal_move(action).expect("it was legal the first time"));
    }
    game
}

fn check_position<G: Game>(game: &G, rng: &mut Rng) {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    assert_eq!(
        moves.is_empty(),
        game.outcome().is_some(),
        "an ended game has no moves, and only an ended one"
    );
    let legal: HashSet<Action> = moves.iter().map(|&mv| G::action(mv)).collect();
    assert_eq!(legal.len(), moves.len(), "two moves never show as the same action");
    for &mv in &moves {
        let action = G::action(mv);
        assert_eq!(game.legal_move(action), Ok(mv));
        assert_eq!(game.parse(&game.notation(action)), Some(action), "a move's notation reads back");
    }
    assert_eq!(game.key(), game.fresh_key(), "the key kept step by step is the key computed afresh");
    check_view(game);
    for _ in 0..20 {
        let action = hostile_action(rng);
        let gate = game.legal_move(action);
        // The list has only one of the possible ends of a run.
        let listed = if let Action::Done(_) = action { Action::Done(0) } else { action };
        assert_eq!(gate.is_ok(), legal.contains(&listed), "{action:?}");
        if game.outcome().is_some() {
            assert_eq!(gate, Err(IllegalAction::Ended));
        }
        // Any action can be written as text, and reading the text never panics.
        let _ = game.parse(&game.notation(action));
    }
    for text in ["", " ", "pass", "h", "8", "zzz99999", "🀄", "h8h8h8", "\0", "-1", "a0", "H8 "] {
        let _ = game.parse(text);
    }
}

/// The touch on the board from which this action results; `None` for actions beside the points.
fn touched(action: Action) -> Option<fn(Touch) -> bool> {
    Some(match action {
        Action::Place(_) => |touch| matches!(touch, Touch::Place(_)),
        Action::Step { .. } => |touch| touch == Touch::Step,
        Action::Capture(_) => |touch| touch == Touch::Capture,
        Action::Toggle(_) => |touch| touch == Touch::Toggle,
        Action::Press(_) => |touch| touch == Touch::Press,
        Action::Pass | Action::Agree | Action::Resume | Action::Choose(_) | Action::Done(_) => return None,
    })
}

fn check_view<G: Game>(game: &G) {
    let view = game.view();
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    for action in moves.into_iter().map(G::action) {
        match touched(action) {
            Some(is_it) => assert!(is_it(view.touch), "{action:?} cannot be touched: {:?}", view.touch),
            None => assert!(
                view.choices.contains(&action) || matches!(action, Action::Done(_)),
                "{action:?} cannot be chosen"
            ),
        }
    }
    assert_eq!(view.touch == Touch::Nothing, game.outcome().is_some());
    assert_eq!(view.outcome, game.outcome());
    assert_eq!(view.ply, game.ply());
    assert_eq!(view.turn, game.outcome().is_none().then_some(game.turn()));
    let points: HashSet<Point> = view.pieces.iter().map(|piece| piece.at).collect();
    assert_eq!(points.len(), view.pieces.len(), "at most one piece stands on a point");
    let marked = view.marks.iter().map(|mark| mark.at);
    for point in points.into_iter().chain(marked) {
        assert!(point.column < view.columns && point.row < view.rows, "{point} is drawn off the board");
    }
}

/// Any action: on the board, at its edge, far outside, and of every variant.
fn hostile_action(rng: &mut Rng) -> Action {
    fn coordinate(rng: &mut Rng) -> u16 {
        match rng.below(4) {
            0 => u16::MAX - rng.below(3) as u16,
            1 => 255 + rng.below(3) as u16,
            _ => rng.below(24) as u16,
        }
    }
    let mut point = || Point::new(coordinate(rng), coordinate(rng));
    let (from, to) = (point(), point());
    match rng.below(12) {
        7..=8 => Action::Choose(Choice::ALL[rng.below(Choice::ALL.len() as u32) as usize]),
        0 => Action::Pass,
        1 => Action::Step { from, to },
        2 => Action::Capture(from),
        3 => Action::Press(from),
        4 => Action::Toggle(from),
        5 => Action::Agree,
        6 => Action::Resume,
        9 => Action::Done(rng.below(40)),
        _ => Action::Place(from),
    }
}

#[test]
fn the_enum_over_all_games_says_what_the_typed_game_says() {
    let first = seed::begin("typed games", 0);
    for &kind in GameKind::ALL {
        let setup = kind.default_setup();
        let mut game = AnyGame::new(&setup).expect("the default setup is valid");
        assert_eq!((game.kind(), game.setup()), (kind, setup));
        assert_eq!(GameKind::from_number(kind as u8), Some(kind));
        assert_eq!(GameKind::from_word(kind.word()), Some(kind));
        let mut rng = Rng::new(first + kind as u64);
        while game.outcome().is_none() && game.ply() < PLY_LIMIT {
            let actions = game.legal_actions();
            let action = actions[rng.below(actions.len() as u32) as usize];
            game.act(action).expect("it was in the list of legal actions");
            assert_eq!(game.key(), game.fresh_key());
        }
        assert_eq!(game.legal_actions().is_empty(), game.outcome().is_some());
    }
}

#[test]
fn every_setup_has_a_rule_sheet_in_both_languages_and_no_two_setups_the_same() {
    let setups: Vec<Setup> = (gomoku_setups().into_iter().map(Setup::Gomoku))
        .chain(liuzhou_setups().into_iter().map(Setup::Liuzhou))
        .chain(go_setups().into_iter().map(Setup::Go))
        .chain(xiangqi_setups().into_iter().map(Setup::Xiangqi))
        .chain(lights_out_setups().into_iter().map(Setup::LightsOut))
        .collect();
    for language in Language::ALL {
        let sheets: HashSet<String> = setups.iter().map(|setup| setup.rule_sheet(language)).collect();
        assert_eq!(
            sheets.len(),
            setups.len(),
            "people who read the same sheet have agreed on the same rules"
        );
        for sheet in sheets {
            let chinese = sheet.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert_eq!(chinese, language == Language::Chinese, "{sheet}");
            assert!(sheet.starts_with("1. ") && sheet.ends_with('\n'), "{sheet}");
        }
    }
}
