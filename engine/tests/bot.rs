//! Properties that every bot keeps at every level, and that the levels promise.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use engine::{
    Action, AnyGame, Bot, GameKind, GomokuRule, GomokuSetup, Limits, Point, Report, Rng, Score, Setup, Side,
    Tier, bot,
};

fn levels() -> impl Iterator<Item = Tier> {
    (1..=10).filter_map(Tier::new)
}

fn choose(bot: &mut dyn Bot, game: &AnyGame, nodes: u64) -> Report {
    let stop = AtomicBool::new(false);
    let limits =
        Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    bot.choose(game, &limits, &mut |_| {}).expect("the game goes on")
}

fn gomoku(moves: &str) -> AnyGame {
    let mut game = AnyGame::new(&GameKind::Gomoku.default_setup()).expect("the default setup is valid");
    for text in moves.split_whitespace() {
        let action = game.parse(text).expect("a move");
        game.act(action).expect("a legal move");
    }
    game
}

#[test]
fn every_level_plays_whole_games_of_gomoku_by_the_rules_on_small_and_large_boards() {
    for (n, level) in levels().enumerate() {
        let rule = GomokuRule::ALL[n % 3];
        let size = [5, 9, 15, 20][n % 4];
        let setup =
            Setup::Gomoku(GomokuSetup { size, rule, edge_five_wins: n % 3 > 0, ..GomokuSetup::default() });
        let mut game = AnyGame::new(&setup).expect("the setup is valid");
        let mut bots = [bot(setup.kind(), level, 1), bot(setup.kind(), level, 2)];
        while game.outcome().is_none() {
            let found = choose(bots[game.turn().index()].as_mut(), &game, 300);
            let mut ahead = game.clone();
            for &action in &found.line {
                ahead.act(action).unwrap_or_else(|refusal| panic!("{level:?}: {refusal} in {found:?}"));
            }
            game.act(found.line[0]).expect("the line was legal");
        }
    }
}

#[test]
fn an_ended_game_asks_for_no_move() {
    let game = gomoku("h8 h9 i8 i9 j8 j9 k8 k9 l8");
    for level in levels() {
        let stop = AtomicBool::new(false);
        let limits =
            Limits { time: None, nodes: None, depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
        assert!(bot(GameKind::Gomoku, level, 1).choose(&game, &limits, &mut |_| {}).is_none());
    }
}

#[test]
fn the_same_seed_position_and_number_of_positions_give_the_same_choice_whatever_was_asked_before() {
    let game = gomoku("h8 i9 g7 j8 h6");
    for level in levels() {
        let mut fresh = bot(GameKind::Gomoku, level, 7);
        let mut used = bot(GameKind::Gomoku, level, 7);
        choose(used.as_mut(), &gomoku("h8 h9 j9"), 2_000);
        assert_eq!(choose(fresh.as_mut(), &game, 5_000), choose(used.as_mut(), &game, 5_000), "{level:?}");
    }
}

#[test]
fn a_weak_bot_varies_its_play_with_its_seed() {
    let game = gomoku("h8 i9 g7");
    for level in [2, 3].into_iter().filter_map(Tier::new) {
        let choices: HashSet<Action> = (0..20)
            .map(|seed| choose(bot(GameKind::Gomoku, level, seed).as_mut(), &game, 1_000).line[0])
            .collect();
        assert!(choices.len() > 1, "{level:?}");
    }
}

#[test]
fn a_bot_told_to_stop_ends_at_its_next_look() {
    // `elapsed` is called at every check of the clock; at the 30th the user stops the search.
    let game = gomoku("h8 i9 g7 j8 h6 i7");
    let stop = AtomicBool::new(false);
    let looks = AtomicLooks::default();
    let elapsed = || {
        if looks.next() == 30 {
            stop.store(true, Ordering::Relaxed);
        }
        Duration::ZERO
    };
    let limits = Limits {
        time: Some(Duration::from_hours(1)),
        nodes: None,
        depth: None,
        stop: &stop,
        elapsed: &elapsed,
    };
    let found = bot(GameKind::Gomoku, Tier::MAX, 1).choose(&game, &limits, &mut |_| {}).expect("a move");
    assert!(found.nodes <= 32 * 128, "{} positions", found.nodes);
    assert!(game.legal_move(found.line[0]).is_ok());
}

#[derive(Default)]
struct AtomicLooks(std::sync::atomic::AtomicU32);

impl AtomicLooks {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[test]
fn a_bot_stopped_before_it_began_still_answers() {
    let game = gomoku("h8 i9 g7 j8 h6");
    for level in levels() {
        let stop = AtomicBool::new(true);
        let limits =
            Limits { time: None, nodes: None, depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
        let found = bot(GameKind::Gomoku, level, 1).choose(&game, &limits, &mut |_| {}).expect("a move");
        assert!(game.legal_move(found.line[0]).is_ok());
    }
}

#[test]
fn while_it_thinks_a_bot_reports_ever_deeper_findings() {
    let game = gomoku("i6 k5 g8 h7 k7");
    let stop = AtomicBool::new(false);
    let limits =
        Limits { time: None, nodes: Some(50_000), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    let seen = Cell::new((0, 0));
    let mut reports = 0;
    let found = bot(GameKind::Gomoku, Tier::MAX, 1)
        .choose(&game, &limits, &mut |report| {
            assert!(game.legal_move(report.line[0]).is_ok());
            assert!(report.depth >= seen.get().0 && report.nodes >= seen.get().1, "{report:?}");
            seen.set((report.depth, report.nodes));
            reports += 1;
        })
        .expect("a move");
    assert!(reports >= 4 && found.depth >= 4, "{reports} reports, {found:?}");
    assert!(found.nodes <= 50_000);
}

#[test]
fn from_level_4_on_nobody_misses_a_five_or_lets_one_through() {
    for level in levels().filter(|level| level.number() >= 4) {
        let mut rng = Rng::new(level.number().into());
        let (mut fives, mut stops) = (0, 0);
        while fives < 20 || stops < 20 {
            let game = scattered(&mut rng);
            let own = winning(&game, game.turn());
            let theirs = winning(&game, game.turn().other());
            if own.is_empty() && theirs.len() != 1 {
                continue;
            }
            let choice = choose(bot(GameKind::Gomoku, level, 3).as_mut(), &game, 2_000);
            if own.is_empty() {
                assert_eq!(choice.line[0], theirs[0], "{level:?} {:?}", game.view());
                stops += 1;
            } else {
                assert!(own.contains(&choice.line[0]), "{level:?} {:?}", game.view());
                assert_eq!(choice.score, Score::WinIn(1));
                fives += 1;
            }
        }
    }
}

/// A position with stones crowded in the middle and no winner yet.
fn scattered(rng: &mut Rng) -> AnyGame {
    'again: loop {
        let mut game = gomoku("");
        let stones = 8 + rng.below(12);
        while game.ply() < stones {
            let point = Point::new(5 + rng.below(6) as u16, 5 + rng.below(6) as u16);
            let _ = game.act(Action::Place(point));
            if game.outcome().is_some() {
                continue 'again;
            }
        }
        return game;
    }
}

/// Moves that would win at once if this side were to move.
fn winning(game: &AnyGame, side: Side) -> Vec<Action> {
    // A stone in the corner passes the turn to the other side.
    let mut game = game.clone();
    if game.turn() != side {
        game.act(Action::Place(Point::new(0, 0))).expect("the corner is empty");
    }
    game.legal_actions()
        .into_iter()
        .filter(|&action| {
            let mut next = game.clone();
            next.act(action).expect("a legal action");
            next.outcome().is_some_and(|outcome| outcome.winner == Some(side))
        })
        .collect()
}

#[test]
fn level_1_plays_the_best_point_of_the_five_cell_table() {
    let level = Tier::MIN;
    // The same table, derived from its description: each window of five cells with the point in it, by its stones.
    let worth = |stones: &[[Option<Side>; 15]; 15], column: i32, row: i32, side: Side| {
        let mut sum = 0_u32;
        for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            for start in -4..=0 {
                let cells: Vec<(i32, i32)> =
                    (start..start + 5).map(|n| (column + n * dc, row + n * dr)).collect();
                if cells.iter().any(|&(c, r)| !(0..15).contains(&c) || !(0..15).contains(&r)) {
                    continue;
                }
                let count = |side| {
                    cells.iter().filter(|&&(c, r)| stones[c as usize][r as usize] == Some(side)).count()
                };
                sum += match (count(side), count(side.other())) {
                    (0, 0) => 7,
                    (own, 0) => [0, 35, 800, 15_000, 800_000][own],
                    (0, enemy) => [0, 15, 400, 1_800, 100_000][enemy],
                    _ => 0,
                };
            }
        }
        sum
    };
    let mut rng = Rng::new(4);
    for round in 0..30 {
        let game = scattered(&mut rng);
        let mut stones = [[None; 15]; 15];
        for piece in game.view().pieces {
            stones[usize::from(piece.at.column)][usize::from(piece.at.row)] = Some(piece.side);
        }
        let worth_of = |action: Action| match action {
            Action::Place(at) => worth(&stones, at.column.into(), at.row.into(), game.turn()),
            _ => 0,
        };
        let best = game.legal_actions().into_iter().map(worth_of).max();
        let chosen = choose(bot(GameKind::Gomoku, level, round).as_mut(), &game, 1).line[0];
        assert_eq!(Some(worth_of(chosen)), best);
    }
}

#[test]
fn bots_that_search_in_three_threads_play_on_and_are_stopped_at_once() {
    for kind in [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou] {
        let mut bot = bot(kind, Tier::MAX, 1);
        bot.set_threads(3);
        let mut game = AnyGame::new(&kind.default_setup()).expect("the default setup is valid");
        let stop = AtomicBool::new(false);
        let depth =
            Limits { time: None, nodes: None, depth: Some(5), stop: &stop, elapsed: &|| Duration::ZERO };
        for _ in 0..6 {
            let found = bot.choose(&game, &depth, &mut |_| {}).expect("the game goes on");
            assert!(found.nodes > 0 && found.depth <= 5, "{kind:?}: {found:?}");
            game.act(found.line[0]).expect("a legal choice");
        }
        // Without another limit the search ends only by the stop flag, and only after its helper threads have ended.
        let endless = Limits { depth: None, ..depth };
        let reports = AtomicU32::new(0);
        let mut told = None;
        let found = bot.choose(&game, &endless, &mut |report| {
            told = Some(report.line[0]);
            if reports.fetch_add(1, Ordering::Relaxed) == 3 {
                stop.store(true, Ordering::Relaxed);
            }
        });
        // Whichever thread finds the move, the move was reported.
        assert!(found.is_some(), "{kind:?}");
        assert_eq!(found.map(|found| found.line[0]), told, "{kind:?}");
    }
}
