//! Levels: the promises made to players about them.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::go::GoSetup;
use engine::novice::{Novice, Sight};
use engine::{Action, AnyGame, Bot, GameKind, Level, Limits, Point, Rng, Setup, Side, partner};

const GAMES: [GameKind; 4] = [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou, GameKind::Go];
/// Size of the tables in bytes, less than in the app.
const BYTES: usize = 4 << 20;

fn start(kind: GameKind) -> AnyGame {
    let setup = match kind.default_setup() {
        Setup::Go(setup) => Setup::Go(GoSetup { size: 9, ..setup }),
        setup => setup,
    };
    AnyGame::new(&setup).expect("the setup is valid")
}

fn ask(bot: &mut dyn Bot, game: &AnyGame, nodes: u64) -> Action {
    let stop = AtomicBool::new(false);
    let limits =
        Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    bot.choose(game, &limits, &mut |_| {}).expect("the game goes on").line[0]
}

/// Half points of a simulated player against a level, over a number of games with alternating colours.
fn half_points(kind: GameKind, sight: Sight, level: u8, games: u64) -> u32 {
    /// Xiangqi's soldiers can repeat for ever: the game is then a draw.
    const LONGEST: u32 = 500;
    let level = Level::new(level).expect("a level");
    let mut rng = Rng::new(7);
    let mut half_points = 0;
    for number in 0..games {
        let person = if number % 2 == 0 { Side::First } else { Side::Second };
        let seed = rng.next_u64();
        let mut proxy = Novice::proxy(kind, sight, seed);
        let mut opponent = partner(kind, level, seed ^ 1, BYTES);
        let mut game = start(kind);
        while game.outcome().is_none() && game.ply() < LONGEST {
            let player: &mut dyn Bot = if game.turn() == person { &mut proxy } else { opponent.as_mut() };
            let action = ask(player, &game, 1_000_000);
            game.act(action).expect("a bot's choice is legal");
        }
        half_points += match game.outcome().and_then(|outcome| outcome.winner) {
            Some(winner) if winner == person => 2,
            None => 1,
            Some(_) => 0,
        };
    }
    half_points
}

/// The matches of EXPERIMENTS.md are longer; this number of games distinguishes a level that the player can beat from one it cannot.
const MATCH: u64 = 30;

#[test]
fn whoever_has_just_read_the_rules_and_takes_what_is_to_be_had_holds_level_1() {
    for kind in GAMES {
        let half_points = half_points(kind, Sight::Gains, 1, MATCH);
        assert!(half_points >= 2 * MATCH as u32 * 2 / 5, "{kind:?}: {half_points} of {}", 2 * MATCH);
    }
}

#[test]
fn whoever_also_sees_what_is_threatened_holds_level_2() {
    for kind in GAMES {
        let half_points = half_points(kind, Sight::Threats, 2, MATCH);
        assert!(half_points >= 2 * MATCH as u32 * 2 / 5, "{kind:?}: {half_points} of {}", 2 * MATCH);
    }
}

#[test]
fn level_4_is_more_than_such_a_person_can_hold() {
    for kind in GAMES {
        let half_points = half_points(kind, Sight::Gains, 4, 10);
        assert!(half_points <= 5, "{kind:?}: {half_points} of 20");
    }
}

#[test]
fn from_level_2_a_five_at_hand_is_never_missed() {
    let mut game = start(GameKind::Gomoku);
    for (column, row) in [(3, 7), (3, 9), (4, 7), (5, 9), (5, 7), (7, 9), (6, 7), (9, 9)] {
        game.act(Action::Place(Point::new(column, row))).expect("the point is free");
    }
    for tenths in (20..=100).step_by(5) {
        let level = Level::from_tenths(tenths).expect("a level");
        for seed in 0..20 {
            let action = ask(partner(GameKind::Gomoku, level, seed, BYTES).as_mut(), &game, 500);
            let five = [Action::Place(Point::new(2, 7)), Action::Place(Point::new(7, 7))];
            assert!(five.contains(&action), "level {level}, seed {seed}: {action:?}");
        }
    }
}

/// Whether the side to move wins by this action, with the captures that it earns.
fn wins(game: &AnyGame, action: Action) -> bool {
    let mover = game.turn();
    let mut after = game.clone();
    after.act(action).expect("a legal action");
    match after.outcome() {
        Some(outcome) => outcome.winner == Some(mover),
        None => after.turn() == mover && after.legal_actions().into_iter().any(|next| wins(&after, next)),
    }
}

/// Asks fifty players of each of some levels from this one on; `is_sound` is told what they play.
fn fifty_play(kind: GameKind, line: &str, from: u8, is_sound: &dyn Fn(&AnyGame, Action) -> bool) {
    let game = AnyGame::from_position(&kind.default_setup_for(line), line).expect("a position");
    for tenths in [from, from + 5, from + 10] {
        let level = Level::from_tenths(tenths).expect("a level");
        for seed in 0..50 {
            let action = ask(partner(kind, level, seed, BYTES).as_mut(), &game, 500);
            let said = game.notation(action);
            assert!(is_sound(&game, action), "{kind:?}, level {level}, seed {seed}: {said}");
        }
    }
}

#[test]
fn from_level_2_a_win_at_hand_is_never_missed() {
    for (kind, line) in [
        (GameKind::Gomoku, "15/15/15/15/15/15/15/4bwwww6/15/15/15/15/4wbbbb6/15/15 b"),
        (GameKind::Xiangqi, "4k4/R8/9/9/8p/9/9/9/9/1R1K5 w"),
        (GameKind::Liuzhou, "6/6/2b3/1b1w2/1bb3/w3ww b m 0 0 0"),
    ] {
        fifty_play(kind, line, 20, &wins);
    }
}

#[test]
fn from_level_4_a_win_of_the_other_side_is_prevented_where_it_can_be() {
    for (kind, line) in [
        (GameKind::Gomoku, "15/15/15/15/15/15/15/4bwwww6/15/15/15/15/15/15/b5b7b b"),
        (GameKind::Xiangqi, "4k4/R8/9/9/9/r8/9/9/4A4/1R3K3 b"),
        (GameKind::Liuzhou, "6/6/2b3/1b1w2/1bb3/w3ww w m 0 0 0"),
    ] {
        fifty_play(kind, line, 40, &|game, action| {
            let mut after = game.clone();
            after.act(action).expect("a legal action");
            after.turn() == game.turn() || !after.legal_actions().into_iter().any(|next| wins(&after, next))
        });
    }
}

#[test]
fn from_level_3_no_piece_is_given_away_and_from_level_4_no_stones_are() {
    // A horse goes where a chariot captures it, or stays.
    fifty_play(GameKind::Xiangqi, "3k5/9/9/9/9/9/9/r8/9/3AKA1N1 w", 30, &|game, action| {
        !["h0g2", "h0i2"].contains(&game.notation(action).as_str())
    });
    fifty_play(GameKind::Liuzhou, "w4w/6/2b3/1b1w2/1bb3/w3ww w m 0 0 0", 40, &|game, action| {
        game.notation(action) == "d3c3"
    });
    fifty_play(GameKind::Go, "9/9/9/2wwww3/1wbbbb3/2wwww3/9/9/9 b - 0 0 0", 40, &|game, action| {
        game.notation(action) == "G5"
    });
}

#[test]
fn of_twenty_five_games_at_any_level_twenty_begin_differently() {
    let mut few = 0;
    for kind in GAMES {
        for number in [1, 4, 8, 9, 10] {
            let level = Level::new(number).expect("a level");
            let mut rng = Rng::new(3);
            let mut begun = BTreeSet::new();
            for _ in 0..25 {
                let mut players =
                    [rng.next_u64(), rng.next_u64()].map(|seed| partner(kind, level, seed, BYTES));
                let mut game = start(kind);
                let mut record = Vec::new();
                while game.ply() < 8 && game.outcome().is_none() {
                    let action = ask(players[game.turn().index()].as_mut(), &game, 250);
                    record.push(game.notation(action));
                    game.act(action).expect("a bot's choice is legal");
                }
                begun.insert(record.join(" "));
            }
            println!("{kind:?} at level {number}: {} beginnings", begun.len());
            few += u32::from(begun.len() < 20);
        }
    }
    assert_eq!(few, 0, "see above");
}

#[test]
fn the_same_seed_and_position_give_the_same_move_at_every_tenth() {
    for kind in GAMES {
        let mut game = start(kind);
        for tenths in (10..=100).step_by(7) {
            let level = Level::from_tenths(tenths).expect("a level");
            let mut used = partner(kind, level, 9, BYTES);
            let first = ask(used.as_mut(), &game, 300);
            assert_eq!(ask(partner(kind, level, 9, BYTES).as_mut(), &game, 300), first, "{kind:?}, {level}");
            assert_eq!(ask(used.as_mut(), &game, 300), first, "{kind:?}, {level}, asked again");
            game.act(first).expect("legal");
        }
    }
}

#[test]
fn a_level_is_written_and_read_in_tenths_and_nothing_else_is_one() {
    for tenths in 10..=100 {
        let level = Level::from_tenths(tenths).expect("a level");
        assert_eq!(level.to_string().parse(), Ok(level));
    }
    assert_eq!(Level::new(5).map(|level| level.to_string()), Some("5".into()));
    assert_eq!("5.5".parse().ok(), Level::from_tenths(55));
    for wrong in ["", "0", "0.9", "10.1", "11", "5.55", "5.", ".5", "5,5", "-1", "+5", "25.5", "999", " 5"] {
        assert!(wrong.parse::<Level>().is_err(), "{wrong:?}");
    }
}
