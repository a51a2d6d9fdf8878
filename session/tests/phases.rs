//! Games with phases of their own between two devices, cut at every message: dead stones of Go, choices of swap2, captures of
//! Liuzhou chess.

mod pair;

use engine::go::GoSetup;
use engine::liuzhou::LiuzhouSetup;
use engine::{
    Action, AnyGame, Choice, GameKind, GomokuOpening, GomokuRule, GomokuSetup, Point, Rng, Setup, Side,
};
use pair::{ANNA, BERT, CUTS, Pair, invite, place};
use session::{Command, MatchId};

const MATCH: MatchId = MatchId([1; 16]);

/// The side to move plays these actions; a device without a link dials again.
fn play(pair: &mut Pair, setup: &Setup, actions: &[Action]) {
    let mut next = 0;
    for _ in 0..10 * (actions.len() + 3) {
        pair.run();
        if pair.devices.iter().any(|device| !device.linked) {
            pair.connect();
            pair.run();
        }
        if pair.devices[ANNA].session.match_state(MATCH).is_none() {
            if pair.invited(BERT).is_none() {
                let _ = pair.command(ANNA, invite(MATCH, setup.clone(), Side::First));
                pair.run();
            }
            let _ = pair.command(BERT, Command::AnswerInvite { id: MATCH, decline: None });
            continue;
        }
        let turn = [ANNA, BERT].into_iter().find(|device| {
            let state = pair.devices[*device].session.match_state(MATCH);
            state.is_some_and(|state| state.can_act() && state.ply() as usize == next)
        });
        if let (Some(device), Some(action)) = (turn, actions.get(next)) {
            pair.act(device, MATCH, *action).expect("it is legal");
            next += 1;
        }
    }
    assert_eq!(next, actions.len(), "all of it was played");
}

fn check(setup: &Setup, actions: &[Action], see: impl Fn(&Pair)) {
    check_from(0, setup, actions, see);
}

/// `calm`: this many actions at the beginning are not cut.
fn check_from(calm: usize, setup: &Setup, actions: &[Action], see: impl Fn(&Pair)) {
    let friends = || {
        let mut pair = Pair::friends();
        pair.connect();
        pair.run();
        pair
    };
    let mut whole = friends();
    play(&mut whole, setup, &actions[..calm]);
    let from = if calm == 0 { friends().messages } else { whole.messages };
    whole = friends();
    play(&mut whole, setup, actions);
    whole.check_level(MATCH);
    see(&whole);
    for cut in CUTS {
        for at in from..whole.messages {
            let mut pair = friends();
            pair.cut_at = Some((at, cut));
            play(&mut pair, setup, actions);
            pair.lose_links();
            pair.connect();
            pair.run();
            pair.check_level(MATCH);
            see(&pair);
            pair.conclude();
        }
    }
}

#[test]
fn both_must_agree_to_the_same_dead_stones() {
    let go = Setup::Go(GoSetup { size: 3, ..GoSetup::default() });
    let stone = Point::new(1, 1);
    let mut actions = vec![place(1, 1), Action::Pass, Action::Pass];
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    play(&mut pair, &go, &actions);
    // One side agrees; the other toggles a stone, which revokes the agreement; then both agree to the marked stones.
    actions.extend([Action::Agree, Action::Toggle(stone), Action::Agree, Action::Agree]);
    check(&go, &actions, |pair| {
        let record = pair.devices[BERT].state(MATCH).record();
        assert!(record.result.is_some(), "both have agreed: {record:?}");
    });
    // An agreement to another set does not count.
    check(&go, &actions[..6], |pair| {
        assert!(pair.devices[ANNA].state(MATCH).record().result.is_none());
    });
}

#[test]
fn who_does_not_agree_goes_back_to_the_board() {
    let go = Setup::Go(GoSetup { size: 3, ..GoSetup::default() });
    let actions =
        [place(1, 1), Action::Pass, Action::Pass, Action::Agree, Action::Resume, place(0, 0), Action::Pass];
    check(&go, &actions, |pair| {
        let state = pair.devices[ANNA].state(MATCH);
        assert!(state.record().result.is_none());
    });
}

#[test]
fn colours_chosen_in_swap2_are_the_same_on_both_devices() {
    let opening = GomokuOpening::Swap2;
    let setup = Setup::Gomoku(GomokuSetup { size: 7, opening, ..GomokuSetup::default() });
    let stones = [place(1, 1), place(2, 5), place(5, 2)];
    for choice in [Choice::Black, Choice::White] {
        let actions: Vec<Action> = stones.into_iter().chain([Action::Choose(choice)]).collect();
        check(&setup, &actions, |_| {});
        let more = [Action::Choose(Choice::TwoMore), place(4, 4), place(3, 1), Action::Choose(choice)];
        let actions: Vec<Action> = stones.into_iter().chain(more).collect();
        check(&setup, &actions, |pair| {
            let colors =
                [ANNA, BERT].map(|device| pair.devices[device].state(MATCH).position().color(Side::First));
            assert_eq!(colors[0], colors[1]);
        });
    }
}

#[test]
fn decisions_and_fifth_moves_of_renju_are_the_same_on_both_devices() {
    let text = |setup: &Setup, texts: &str| -> Vec<Action> {
        let mut game = AnyGame::new(setup).expect("the setup is valid");
        let action = |text: &str| {
            let action = game.parse(text).expect("an action");
            game.act(action).expect("a legal one");
            action
        };
        texts.split(' ').map(action).collect()
    };
    for (opening, texts) in [
        (GomokuOpening::Pro, "h8 i9 k11 h9"),
        (GomokuOpening::LongPro, "h8 i9 l8 h9"),
        (GomokuOpening::Swap, "h8 i9 j7 black h9"),
        (GomokuOpening::Taraguchi10, "h8 black i9 white j8 black h9 white g7 black a1"),
        (
            GomokuOpening::Taraguchi10,
            "h8 black i9 white j8 black h9 offer10 a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 a5 c1",
        ),
        (GomokuOpening::Soosorv8, "h8 i9 j8 black a1 offer2 white b2 c4 c4 d5"),
        (GomokuOpening::Soosorv8, "h8 i9 j8 white a1 offer1 black b2 d5"),
        (GomokuOpening::Yamaguchi, "h8 i9 j8 offer3 black a1 b2 c4 d6 c4 d5"),
    ] {
        let rule = if opening.is_of_renju() { GomokuRule::Renju } else { GomokuRule::Standard };
        let setup = Setup::Gomoku(GomokuSetup { rule, opening, ..GomokuSetup::default() });
        check(&setup, &text(&setup, texts), |pair| {
            let [anna, bert] = [ANNA, BERT].map(|device| pair.devices[device].state(MATCH).position());
            assert_eq!(anna.key(), bert.key(), "{texts}");
            assert_eq!(anna.color(Side::First), bert.color(Side::First), "{texts}");
        });
    }
}

#[test]
fn a_capture_of_liuzhou_chess_is_owed_on_both_devices_until_it_is_made() {
    let setup = GameKind::Liuzhou.default_setup();
    // The first side makes a square, then captures.
    let actions = [
        place(1, 1),
        place(4, 4),
        place(1, 2),
        place(4, 1),
        place(2, 1),
        place(0, 5),
        place(2, 2),
        Action::Capture(Point::new(4, 4)),
        place(5, 5),
    ];
    check(&setup, &actions[..7], |pair| {
        assert!(pair.devices[ANNA].state(MATCH).can_act() && !pair.devices[BERT].state(MATCH).can_act());
    });
    check(&setup, &actions, |_| {});
}

/// Captures that the side to move still has to make.
fn due(game: &AnyGame) -> u8 {
    let AnyGame::Liuzhou(liuzhou) = game else { panic!("it is Liuzhou chess") };
    liuzhou.captures_due()
}

fn played(setup: &Setup, actions: &[Action]) -> AnyGame {
    let mut game = AnyGame::new(setup).expect("a setup");
    for action in actions {
        game.play(game.legal_move(*action).expect("it is legal"));
    }
    game
}

/// A chessboard without a formation, since this setup has no diagonals: the board is full and nothing was captured.
fn full_board() -> (Setup, Vec<Action>) {
    let setup = Setup::Liuzhou(LiuzhouSetup { diagonals: false, ..LiuzhouSetup::default() });
    let of = |side: u16| {
        let points = (0..36).map(|number| (number % 6, number / 6));
        points.filter(move |(column, row)| (column + row) % 2 == side).map(|(column, row)| place(column, row))
    };
    (setup, of(0).zip(of(1)).flat_map(|(first, second)| [first, second]).collect())
}

#[test]
fn the_removals_of_a_full_board_in_liuzhou_chess_are_made_by_each_on_its_device() {
    let (setup, mut actions) = full_board();
    let full = actions.len();
    let owed = played(&setup, &actions);
    assert_eq!((owed.turn(), due(&owed)), (Side::First, 1));
    actions.push(Action::Capture(Point::new(5, 4)));
    let owed = played(&setup, &actions);
    assert_eq!((owed.turn(), due(&owed)), (Side::Second, 1));
    check_from(full - 1, &setup, &actions, |pair| {
        assert!(pair.devices[BERT].state(MATCH).can_act() && !pair.devices[ANNA].state(MATCH).can_act());
    });
    actions.push(Action::Capture(Point::new(4, 4)));
    let free = played(&setup, &actions);
    actions.extend(free.legal_actions().first());
    check_from(full + 1, &setup, &actions, |_| {});
}

#[test]
fn the_removals_for_a_blocked_player_in_liuzhou_chess_are_made_by_each_on_its_device() {
    let (setup, full) = full_board();
    // Random steps until one side has none, which happens soon on a nearly full board.
    let hemmed_in = |seed| {
        let mut rng = Rng::new(seed);
        let mut actions = full.clone();
        actions.extend([Action::Capture(Point::new(5, 4)), Action::Capture(Point::new(4, 4))]);
        loop {
            let game = played(&setup, &actions);
            if game.outcome().is_some() {
                return None;
            }
            let legal = game.legal_actions();
            actions.push(legal[rng.below(legal.len() as u32) as usize]);
            let next = played(&setup, &actions);
            // A formation requires a capture before the turn passes.
            if next.turn() != game.turn() && due(&next) == 1 {
                return Some((actions, next));
            }
        }
    };
    let (mut actions, blocked) =
        (0..50).find_map(hemmed_in).expect("somebody is blocked in one of 50 matches");
    let (calm, side) = (actions.len() - 1, blocked.turn());
    actions.push(blocked.legal_actions()[0]);
    let owed = played(&setup, &actions);
    assert_eq!((owed.turn(), due(&owed)), (side.other(), 1), "the other removes one as well");
    actions.push(owed.legal_actions()[0]);
    check_from(calm, &setup, &actions, |pair| {
        let turns = [ANNA, BERT].map(|device| pair.devices[device].state(MATCH).position().turn());
        assert_eq!(turns, [side; 2], "then who was blocked goes on");
    });
}
