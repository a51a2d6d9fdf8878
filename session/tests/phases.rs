//! Games with phases of their own between two devices, cut at every message: dead stones of Go, choices of swap2, captures of
//! Liuzhou chess.

mod pair;

use engine::go::GoSetup;
use engine::{Action, Choice, GameKind, GomokuOpening, GomokuSetup, Point, Setup, Side};
use pair::{ANNA, BERT, CUTS, Pair, invite, place};
use session::{Command, MatchId};

const MATCH: MatchId = MatchId([1; 16]);

/// Whoever has the turn plays these; whoever lost the link looks for the other again.
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
    let friends = || {
        let mut pair = Pair::friends();
        pair.connect();
        pair.run();
        pair
    };
    let mut whole = friends();
    play(&mut whole, setup, actions);
    whole.check_level(MATCH);
    see(&whole);
    for cut in CUTS {
        for at in friends().messages..whole.messages {
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
    // Whoever has the turn agrees; the other touches a stone, which withdraws that; both agree to what is marked then.
    actions.extend([Action::Agree, Action::Toggle(stone), Action::Agree, Action::Agree]);
    check(&go, &actions, |pair| {
        let record = pair.devices[BERT].state(MATCH).record();
        assert!(record.result.is_some(), "both have agreed: {record:?}");
    });
    // An agreement to another set is not enough.
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
fn a_capture_of_liuzhou_chess_is_owed_on_both_devices_until_it_is_made() {
    let setup = GameKind::Liuzhou.default_setup();
    // A square of the first side's, which then takes.
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
