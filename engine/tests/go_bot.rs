//! Properties of the Go bot at every level, and its evaluation of positions.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use engine::go::{Analysis, Fate, Go, GoBot, GoMove, GoSetup, Handicap, PassWhen, Scoring, Status};
use engine::{Action, Bot, Game, IllegalAction, Limits, Outcome, Point, Report, Side, Tier};

fn level(number: u8) -> Tier {
    Tier::new(number).expect("1 to 10")
}

fn limited<R>(nodes: u64, ask: impl FnOnce(&Limits<'_>) -> R) -> R {
    let stop = AtomicBool::new(false);
    ask(&Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &|| Duration::ZERO })
}

fn decide(bot: &mut GoBot, go: &Go, nodes: u64) -> Report {
    limited(nodes, |limits| bot.decide(go, limits, &mut |_| {})).expect("the game goes on")
}

/// The bot has a clock, so that it keeps its tree; the clock stands still, so that the playout limit ends the search.
fn analyse_and_keep(bot: &mut GoBot, go: &Go, nodes: u64) -> Analysis {
    let stop = AtomicBool::new(false);
    let elapsed = || Duration::ZERO;
    let limits = Limits {
        time: Some(Duration::from_hours(1)),
        nodes: Some(nodes),
        depth: None,
        stop: &stop,
        elapsed: &elapsed,
    };
    bot.analyse(go, &limits, &mut |_| {}).expect("a move")
}

fn status(go: &Go, nodes: u64) -> Status {
    limited(nodes, |limits| GoBot::new(Tier::MAX, 1).status(go, limits))
}

fn act(go: &mut Go, action: Action) {
    let mv = go.legal_move(action).unwrap_or_else(|refusal| panic!("{action}: {refusal}"));
    go.play(mv);
}

/// A board drawn from above, `X` black, `O` white, reached by legal moves; Black to move unless it has more stones.
fn board(setup: &GoSetup, picture: &[&str]) -> Go {
    let setup = GoSetup { size: picture.len() as u8, ..setup.clone() };
    let mut go = Go::new(&setup).expect("the setup is valid");
    let stones = |cell: u8| -> Vec<Action> {
        let rows = picture.iter().rev().enumerate();
        rows.flat_map(|(row, line)| line.bytes().enumerate().map(move |(column, at)| (row, column, at)))
            .filter(|&(_, _, at)| at == cell)
            .map(|(row, column, _)| Action::Place(Point::new(column as u16, row as u16)))
            .collect()
    };
    let (black, white) = (stones(b'X'), stones(b'O'));
    // Passes fill the turns without stones; never two in a row, which would end the game.
    for n in 0..black.len().max(white.len()) {
        act(&mut go, black.get(n).copied().unwrap_or(Action::Pass));
        act(&mut go, white.get(n).copied().unwrap_or(Action::Pass));
    }
    go
}

fn name(go: &Go, action: Action) -> String {
    go.notation(action)
}

#[test]
fn every_level_plays_whole_games_to_an_agreed_end() {
    for number in 1..=10 {
        let setup = GoSetup {
            size: [5, 7, 9][usize::from(number) % 3],
            scoring: if number % 2 == 0 { Scoring::Territory } else { Scoring::Area },
            komi_half_points: 13,
            ..GoSetup::default()
        };
        let mut go = Go::new(&setup).expect("the setup is valid");
        let mut bots = [GoBot::new(level(number), 1), GoBot::new(level(number), 2)];
        while go.outcome().is_none() {
            assert!(go.ply() < 600, "level {number} does not come to an end");
            let found = decide(&mut bots[go.turn().index()], &go, 60);
            act(&mut go, found.line[0]);
        }
    }
}

#[test]
fn the_same_seed_position_and_playouts_give_the_same_choice_whatever_was_asked_before() {
    let mut go = Go::new(&GoSetup { size: 9, ..GoSetup::default() }).expect("the setup is valid");
    let before = go.clone();
    for text in ["E5", "C4", "D3"] {
        let action = go.parse(text).expect("a move");
        act(&mut go, action);
    }
    for number in 1..=10 {
        let mut fresh = GoBot::new(level(number), 7);
        let mut used = GoBot::new(level(number), 7);
        decide(&mut used, &before, 300);
        assert_eq!(decide(&mut fresh, &go, 500), decide(&mut used, &go, 500), "level {number}");
    }
}

#[test]
fn a_bot_told_to_stop_ends_at_its_next_playout_and_still_answers() {
    let go = Go::new(&GoSetup::default()).expect("the setup is valid");
    for when in [0, 1, 20] {
        let stop = AtomicBool::new(when == 0);
        let looks = AtomicU32::new(0);
        let elapsed = || {
            if looks.fetch_add(1, Ordering::Relaxed) + 1 == when {
                stop.store(true, Ordering::Relaxed);
            }
            Duration::ZERO
        };
        let hour = Some(Duration::from_hours(1));
        let limits = Limits { time: hour, nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
        let found = GoBot::new(Tier::MAX, 1).decide(&go, &limits, &mut |_| {}).expect("a move");
        assert!(found.nodes <= u64::from(when) + 1, "{} playouts", found.nodes);
        assert!(go.legal_move(found.line[0]).is_ok());
    }
}

#[test]
fn from_level_4_on_seven_stones_in_atari_are_saved() {
    let go = board(
        &GoSetup::default(),
        &[
            ".........",
            ".........",
            "..O......",
            ".OXOO....",
            ".OXXXO...",
            ".OXXXOX..",
            "..OO.O...",
            "...XXX...",
            "..X...X..",
        ],
    );
    // Seven black stones have one liberty, E3; another black stone is beside it.
    for number in 4..=10 {
        let found = decide(&mut GoBot::new(level(number), 3), &go, 1_000);
        assert_eq!(name(&go, found.line[0]), "E3", "level {number}");
    }
}

/// Two living sides with a wall between them, and a dead white stone in Black's territory.
const FINISHED: [&str; 9] = [
    ".X.XO.O..",
    "XX.XO.OO.",
    ".XXXOOO.O",
    "X..XO.OO.",
    ".O.XOO.O.",
    "X..XXOOOO",
    ".XXXOO...",
    "XX.XO.O.O",
    ".X.XO.OO.",
];

#[test]
fn it_passes_when_nothing_is_left_and_its_side_is_ahead() {
    let setup = GoSetup { komi_half_points: 1, ..GoSetup::default() };
    let mut go = board(&setup, &FINISHED);
    if go.turn() == Side::Second {
        act(&mut go, Action::Pass);
    }
    let [black, white] = go.score().half_points;
    let mut bot = GoBot::new(Tier::MAX, 1);
    let found = decide(&mut bot, &go, 1_000);
    assert_eq!(found.line[0], Action::Pass, "{black} {white}");
}

#[test]
fn it_does_not_pass_while_a_pass_would_lose_the_count() {
    // The wall has a gap on each side: the side that moves first gets more territory.
    let mut picture = FINISHED;
    picture[5] = "X...XOOOO";
    picture[4] = ".O..OO.O.";
    let setup = GoSetup { komi_half_points: 1, ..GoSetup::default() };
    let mut go = board(&setup, &picture);
    if go.turn() == Side::Second {
        act(&mut go, Action::Pass);
    }
    let found = decide(&mut GoBot::new(Tier::MAX, 1), &go, 1_000);
    assert!(matches!(found.line[0], Action::Place(_)));
}

#[test]
fn it_does_not_pass_while_the_other_side_could_take_something_next() {
    // All points are settled if Black moves next; if White moves next, it captures a stone and the corner, and wins. From a
    // game against GNU Go.
    let picture = [
        "OO.......",
        "XOOO.....",
        ".XXXOO...",
        "...XO.O..",
        "...XOO.O.",
        ".X..XXOOO",
        "..X...XXO",
        "....X..XX",
        ".........",
    ];
    let go = board(&GoSetup::default(), &picture);
    for when in [PassWhen::Settled, PassWhen::CleanedUp] {
        let mut bot = GoBot::new(Tier::MAX, 1).passing(when);
        let found = decide(&mut bot, &go, 5_000);
        assert!(matches!(found.line[0], Action::Place(_)), "{when:?}");
    }
}

#[test]
fn it_marks_the_dead_stones_and_agrees() {
    let mut go = board(&GoSetup::default(), &FINISHED);
    while go.legal_move(Action::Pass).is_ok() {
        act(&mut go, Action::Pass);
    }
    let mut bots = [GoBot::new(level(5), 1), GoBot::new(level(5), 2)];
    let mut steps = Vec::new();
    while go.outcome().is_none() {
        let found = decide(&mut bots[go.turn().index()], &go, 400);
        steps.push(name(&go, found.line[0]));
        act(&mut go, found.line[0]);
        assert!(steps.len() < 10, "{steps:?}");
    }
    assert_eq!(steps, ["dead B5", "agree", "agree"]);
}

#[test]
fn it_plays_on_when_the_other_side_calls_its_living_stones_dead() {
    let mut go = board(&GoSetup::default(), &FINISHED);
    if go.turn() == Side::Second {
        act(&mut go, Action::Pass);
    }
    act(&mut go, Action::Pass);
    act(&mut go, Action::Pass);
    let mut bot = GoBot::new(level(5), 1);
    let side = go.turn();
    loop {
        let found = decide(&mut bot, &go, 400);
        act(&mut go, found.line[0]);
        if found.line[0] == Action::Agree {
            break;
        }
    }
    // The opponent marks as many of the bot's stones as possible, and agrees.
    let stones: Vec<Point> =
        (0..81).map(|n| Point::new(n % 9, n / 9)).filter(|&point| go.at(point) == Some(side)).collect();
    act(&mut go, Action::Toggle(stones[0]));
    act(&mut go, Action::Agree);
    assert_eq!(decide(&mut bot, &go, 400).line[0], Action::Resume);
}

#[test]
fn it_agrees_to_a_change_in_its_own_favour() {
    let mut go = board(&GoSetup::default(), &FINISHED);
    if go.turn() == Side::Second {
        act(&mut go, Action::Pass);
    }
    act(&mut go, Action::Pass);
    act(&mut go, Action::Pass);
    let mut bot = GoBot::new(level(5), 1);
    let side = go.turn();
    loop {
        let found = decide(&mut bot, &go, 400);
        act(&mut go, found.line[0]);
        if found.line[0] == Action::Agree {
            break;
        }
    }
    let theirs = (0..81)
        .map(|n| Point::new(n % 9, n / 9))
        .find(|&point| go.at(point) == Some(side.other()) && name(&go, Action::Place(point)) != "B5")
        .expect("they have stones");
    act(&mut go, Action::Toggle(theirs));
    act(&mut go, Action::Agree);
    assert_eq!(decide(&mut bot, &go, 400).line[0], Action::Agree);
    act(&mut go, Action::Agree);
    assert!(matches!(go.outcome(), Some(Outcome { winner: Some(winner), .. }) if winner == side));
}

#[test]
fn it_says_which_stones_are_dead_and_how_the_count_stands() {
    let go = board(&GoSetup { komi_half_points: 15, ..GoSetup::default() }, &FINISHED);
    let found = status(&go, 1_000);
    let dead: Vec<String> = found.dead().map(|point| name(&go, Action::Place(point))).collect();
    assert_eq!(dead, ["B5"]);
    assert!(found.chains.iter().any(|chain| chain.proven && chain.fate == Fate::Alive));
    let stones: usize = found.chains.iter().map(|chain| chain.stones.len()).sum();
    let on_board = (0..81).filter(|n| go.at(Point::new(n % 9, n / 9)).is_some()).count();
    assert_eq!(stones, on_board);
    // Black has the four columns on the left, White the five on the right.
    assert!((found.margin - (36.0 - 45.0 - 7.5)).abs() <= 2.0, "{}", found.margin);
}

#[test]
fn it_places_a_free_handicap_on_stars() {
    let setup = GoSetup { size: 9, handicap: Handicap::Free(4), ..GoSetup::default() };
    let mut go = Go::new(&setup).expect("the setup is valid");
    let mut bot = GoBot::new(level(5), 1);
    let mut placed = Vec::new();
    while go.turn() == Side::First {
        let found = decide(&mut bot, &go, 50);
        placed.push(name(&go, found.line[0]));
        act(&mut go, found.line[0]);
    }
    placed.sort();
    assert_eq!(placed, ["C3", "C7", "G3", "G7"]);
    let answer = decide(&mut bot, &go, 50);
    assert!(matches!(go.legal_move(answer.line[0]), Ok(GoMove::Place(_))));
}

#[test]
fn it_never_takes_a_ko_back_against_the_rules() {
    // On a tiny board kos and superko are frequent; the rules reject illegal moves.
    let mut forbidden = 0;
    for seed in 0..120 {
        let setup = GoSetup { size: 4, komi_half_points: 1, ..GoSetup::default() };
        let mut go = Go::new(&setup).expect("the setup is valid");
        let mut bots = [GoBot::new(level(4), seed), GoBot::new(level(3), seed + 10)];
        while go.outcome().is_none() && go.ply() < 200 {
            let found = decide(&mut bots[go.turn().index()], &go, 80);
            let mut ahead = go.clone();
            for &action in &found.line {
                // A line may end with two passes, after which nothing can be placed.
                let Ok(mv) = ahead.legal_move(action) else {
                    panic!("{action} in {found:?}");
                };
                ahead.play(mv);
            }
            act(&mut go, found.line[0]);
            let points = (0..4).flat_map(|row| (0..4).map(move |column| Point::new(column, row)));
            let is_ko = |point| {
                let refused = go.legal_move(Action::Place(point));
                matches!(refused, Err(IllegalAction::Ko(_) | IllegalAction::Superko))
            };
            forbidden += usize::from(points.into_iter().any(is_ko));
        }
    }
    assert!(forbidden >= 10, "a ko or superko stood in only {forbidden} positions");
}

#[test]
fn several_threads_keep_to_the_playouts_and_the_stop_flag() {
    let go = Go::new(&GoSetup { size: 9, ..GoSetup::default() }).expect("the setup is valid");
    let mut bot = GoBot::new(Tier::MAX, 1);
    bot.set_threads(4);
    for playouts in [1, 100, 2_000] {
        let found = limited(playouts, |limits| bot.analyse(&go, limits, &mut |_| {})).expect("a move");
        assert_eq!(found.playouts, playouts);
        // No virtual loss remains.
        assert!((0.3..0.7).contains(&found.chance) || playouts < 2_000, "{}", found.chance);
    }
    let stop = AtomicBool::new(true);
    let elapsed = || Duration::ZERO;
    let limits = Limits { time: None, nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
    assert!(bot.decide(&go, &limits, &mut |_| {}).is_some());
    // A weaker level has one thread, so that its result depends only on the seed.
    let weaker = || {
        let mut bot = GoBot::new(level(7), 1);
        bot.set_threads(4);
        decide(&mut bot, &go, 300)
    };
    assert_eq!(weaker(), weaker());
}

#[test]
fn with_little_memory_the_tree_is_pruned_and_the_search_goes_on() {
    let go = Go::new(&GoSetup { size: 9, ..GoSetup::default() }).expect("the setup is valid");
    for threads in [1, 3] {
        let mut bot = GoBot::new(Tier::MAX, 1).with_memory(64 << 10);
        bot.set_threads(threads);
        let found = limited(3_000, |limits| bot.analyse(&go, limits, &mut |_| {})).expect("a move");
        assert!(found.nodes * 32 <= 64 << 10, "{} nodes", found.nodes);
        assert!((0.3..0.7).contains(&found.chance), "{}", found.chance);
    }
}

/// White sends two stones (A1 to B1), Black captures them at C1; White's recapture at B1 would repeat the board (superko).
#[test]
fn what_it_found_below_a_move_knows_what_superko_forbids_there() {
    let picture = [".......", ".......", ".......", ".....O.", "XX.....", "XXO....", ".O.O..."];
    let mut go = board(&GoSetup { komi_half_points: 15, ..GoSetup::default() }, &picture);
    for text in ["F6", "A1"] {
        let action = go.parse(text).expect("a move");
        act(&mut go, action);
    }
    let mut bot = GoBot::new(Tier::MAX, 1);
    let takes = go.legal_move(go.parse("C1").expect("a move")).expect("it takes two stones");
    let found = analyse_and_keep(&mut bot, &go, 800);
    let looked_at = found.moves.iter().find(|one| one.line[0] == takes).expect("it was thought of");
    assert!(looked_at.visits > 2);
    go.play(takes);
    let found = analyse_and_keep(&mut bot, &go, 1);
    assert!(found.playouts > 2, "what was found before is kept");
    for one in &found.moves {
        let action = Go::action(one.line[0]);
        assert!(go.legal_move(action).is_ok(), "{}", name(&go, action));
    }
}

#[test]
fn what_it_found_serves_the_positions_that_follow() {
    let mut go = Go::new(&GoSetup { size: 9, ..GoSetup::default() }).expect("the setup is valid");
    let mut bot = GoBot::new(Tier::MAX, 1);
    let first = analyse_and_keep(&mut bot, &go, 2_000);
    // Two moves that the search expects, as in pondering.
    for &mv in &first.moves[0].line[..2] {
        go.play(mv);
    }
    let later = analyse_and_keep(&mut bot, &go, 1);
    assert!(later.playouts > 20, "{}", later.playouts);
    // For another position nothing of the tree is kept.
    let other = Go::new(&GoSetup { size: 9, komi_half_points: 1, ..GoSetup::default() }).expect("valid");
    assert_eq!(analyse_and_keep(&mut bot, &other, 1).playouts, 1);
}

#[test]
fn a_handicap_is_told_as_what_it_is_worth() {
    let setup = GoSetup { size: 9, handicap: Handicap::Stars(4), ..GoSetup::default() };
    let go = Go::new(&setup).expect("the setup is valid");
    let chance = |evening: f64| {
        let mut bot = GoBot::new(Tier::MAX, 1);
        bot.set_parameter("handicap-bonus", evening).expect("there is such a number");
        let found = limited(2_000, |limits| bot.analyse(&go, limits, &mut |_| {})).expect("a move");
        assert!(found.lead < -10.0, "{}", found.lead);
        found.chance
    };
    // The search evens out the score, so that White has something to play for; the reported analysis is unaffected.
    let (evened, plain) = (chance(7.0), chance(0.0));
    assert!(plain < 0.4 && (evened - plain).abs() < 0.1, "{evened} {plain}");
}

#[test]
fn the_points_that_decide_the_game_stand_out() {
    // Black has the larger part here, and the wall may have a gap.
    let exchanged = |picture: [&str; 9]| -> Vec<String> {
        let turned = |cell| {
            if cell == 'X' {
                'O'
            } else if cell == 'O' {
                'X'
            } else {
                cell
            }
        };
        picture.iter().map(|row| row.chars().map(turned).collect()).collect()
    };
    let mut picture = FINISHED;
    picture[5] = "X...XOOOO";
    picture[4] = ".O..OO.O.";
    let (open, settled) = (exchanged(picture), exchanged(FINISHED));
    let analysed = |picture: &[String], komi_half_points: u8| {
        let rows: Vec<&str> = picture.iter().map(String::as_str).collect();
        let go = board(&GoSetup { komi_half_points, ..GoSetup::default() }, &rows);
        // The network would close the gap so often that the gap decides little.
        let mut bot = GoBot::new(Tier::MAX, 1).by_playouts_alone();
        let found = limited(1_000, |limits| bot.analyse(&go, limits, &mut |_| {})).expect("a move");
        // Black's lead.
        let lead = if go.turn() == Side::First { found.lead } else { -found.lead };
        (found.criticality, lead)
    };
    // With the evened score the gap decides the game.
    let even = (2.0 * analysed(&open, 1).1 + 1.0).clamp(1.0, 255.0) as u8;
    let (points, _) = analysed(&open, even);
    assert_eq!(points.len(), 81);
    assert!(points.iter().all(|point| point.abs() <= 0.5));
    let most = points.iter().copied().fold(0.0, f32::max);
    assert!(most > 0.1, "{most} with {even} half points");
    let (points, _) = analysed(&settled, 1);
    assert!(points.iter().all(|point| point.abs() < 0.05), "{points:?}");
}

#[test]
fn a_beginner_fills_territory_but_no_eyes_until_the_other_side_passes() {
    let setup = GoSetup { komi_half_points: 1, ..GoSetup::default() };
    let mut go = board(&setup, &FINISHED);
    let is_eye = |go: &Go, point: Point| {
        let Point { column, row } = point;
        let around = [
            (column.wrapping_sub(1), row),
            (column + 1, row),
            (column, row.wrapping_sub(1)),
            (column, row + 1),
        ];
        let on_board = around.iter().filter(|&&(column, row)| column < 9 && row < 9);
        on_board.clone().all(|&(column, row)| go.at(Point::new(column, row)) == Some(go.turn()))
    };
    let mut bot = GoBot::new(level(1), 5);
    let mut filled = 0;
    while go.ply() < 300 {
        let found = decide(&mut bot, &go, 50);
        match found.line[0] {
            Action::Place(point) => {
                assert!(!is_eye(&go, point), "{point:?}");
                filled += 1;
            }
            _ => break,
        }
        act(&mut go, found.line[0]);
        // The other side places stones too, where possible, so that it does not pass.
        let free = (0..81)
            .map(|n| Point::new(n % 9, n / 9))
            .find(|&point| !is_eye(&go, point) && go.legal_move(Action::Place(point)).is_ok());
        let Some(free) = free else { break };
        act(&mut go, Action::Place(free));
    }
    assert!(filled >= 3, "{filled}");
    // After a pass in a settled position the bot agrees that the game is over.
    let mut go = board(&setup, &FINISHED);
    act(&mut go, Action::Pass);
    assert_eq!(decide(&mut GoBot::new(level(1), 5), &go, 50).line[0], Action::Pass);
}
