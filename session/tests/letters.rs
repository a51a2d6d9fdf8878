//! Matches by letter: two devices that never share a link, and letters that are late, duplicated, lost or forged.

mod pair;
#[path = "../../tests/src/seed.rs"]
mod seed;

use engine::{Action, AnyGame, GameKind, Rng, Setup, Side};
use pair::{ANNA, BERT, Pair, any_small, place, small, small_race};
use proto::peer;
use session::{Command, Input, MatchId, MatchResult, asked_by_letter, wire};

const ID: MatchId = MatchId([9; 16]);

fn letter(pair: &Pair, from: usize) -> peer::Record {
    pair.devices[from].session.letter(ID).expect("a match without clocks")
}

fn read(pair: &mut Pair, to: usize, letter: &peer::Record) {
    pair.input(to, Input::Letter(Box::new(letter.clone())));
}

/// Anna has proposed a match by letter, with her first move, and Bert has accepted.
fn begun() -> Pair {
    begun_with(&small(), place(0, 0))
}

fn begun_with(setup: &Setup, first: Action) -> Pair {
    let mut pair = Pair::friends();
    let begin = Command::BeginByLetter { id: ID, setup: setup.clone(), my_side: Side::First };
    pair.command(ANNA, begin).expect("Bert is away");
    pair.act(ANNA, ID, first).expect("her turn");
    let asked = letter(&pair, ANNA);
    let (id, told, side) = asked_by_letter(&asked).expect("it asks for a match");
    assert_eq!((id, &told, side), (ID, setup, Side::Second));
    // A letter about an unknown match changes nothing by itself.
    read(&mut pair, BERT, &asked);
    assert!(pair.devices[BERT].session.match_state(ID).is_none());
    pair.command(BERT, Command::AcceptLetter(Box::new(asked.clone()))).expect("accepted");
    let again = pair.command(BERT, Command::AcceptLetter(Box::new(asked)));
    assert!(again.is_err(), "once");
    pair
}

#[test]
fn a_match_is_asked_for_accepted_and_played_by_letters_alone() {
    let mut pair = begun();
    assert_eq!(pair.devices[ANNA].state(ID).seen_ply(), None, "nothing was heard of Bert");
    let accepted = letter(&pair, BERT);
    read(&mut pair, ANNA, &accepted);
    assert_eq!(pair.devices[ANNA].state(ID).seen_ply(), Some(1), "Bert has the first move");
    for (turn, (column, row)) in [(1, 0), (2, 0), (3, 0), (4, 0)].into_iter().enumerate() {
        let mover = if turn % 2 == 0 { BERT } else { ANNA };
        pair.act(mover, ID, place(column, row)).expect("its turn");
        let letter = letter(&pair, mover);
        for _ in 0..2 {
            read(&mut pair, 1 - mover, &letter);
        }
        assert_eq!(pair.devices[1 - mover].state(ID).ply() as usize, turn + 2);
    }
    // Only letters were sent.
    assert!(pair.devices.iter().all(|device| device.sent.is_empty()));
    pair.command(BERT, Command::Resign(ID)).expect("he may");
    let last = letter(&pair, BERT);
    read(&mut pair, ANNA, &last);
    for device in [ANNA, BERT] {
        let result = pair.devices[device].state(ID).record().result;
        assert_eq!(result, Some(MatchResult::Resigned(Side::Second)));
    }
    assert!(pair.devices[ANNA].state(ID).is_settled());
    pair.heal();
    pair.check_equal();
}

#[test]
fn a_letter_that_was_not_answered_is_asked_again_by_the_next_link() {
    let mut pair = Pair::friends();
    let begin = Command::BeginByLetter { id: ID, setup: small(), my_side: Side::Second };
    pair.command(ANNA, begin).expect("Bert is away");
    pair.connect();
    pair.run();
    assert_eq!(pair.invited(BERT), Some(ID));
    pair.command(BERT, Command::AnswerInvite { id: ID, decline: None }).expect("it was asked");
    pair.run();
    pair.check_level(ID);
    let begin = Command::BeginByLetter { id: MatchId([8; 16]), setup: small(), my_side: Side::First };
    assert!(pair.command(ANNA, begin).is_err(), "who is there is asked on the link");
}

#[test]
fn letters_in_any_order_lead_to_equal_records() {
    let first = seed::begin("letters", 0);
    for seed in first..first + 300 {
        let mut rng = Rng::new(seed);
        let mut pair = begun();
        let mut post: [Vec<peer::Record>; 2] = [Vec::new(), vec![letter(&pair, BERT)]];
        for _ in 0..60 {
            if pair.devices.iter().any(|device| device.state(ID).is_settled()) {
                // The match is archived with the next restart.
                break;
            }
            let device = rng.below(2) as usize;
            match rng.below(10) {
                0..=3 => {
                    let state = pair.devices[device].state(ID);
                    let actions = state.position().legal_actions();
                    if state.can_act() && !actions.is_empty() {
                        let action = actions[rng.below(actions.len() as u32) as usize];
                        pair.act(device, ID, action).expect("legal");
                        post[device].push(letter(&pair, device));
                    }
                }
                // Any earlier letter, so most are late and repeated.
                4..=7 if !post[device].is_empty() => {
                    let letter = post[device][rng.below(post[device].len() as u32) as usize].clone();
                    read(&mut pair, 1 - device, &letter);
                }
                8 if rng.below(12) == 0 && pair.command(device, Command::Resign(ID)).is_ok() => {
                    post[device].push(letter(&pair, device));
                }
                9 if rng.below(6) == 0 => pair.restart(device),
                _ => {}
            }
            let [anna, bert] = [ANNA, BERT].map(|device| pair.devices[device].state(ID).record().clone());
            let common = anna.actions.len().min(bert.actions.len());
            assert_eq!(anna.actions[..common], bert.actions[..common], "seed {seed}");
        }
        pair.heal();
        pair.check_equal();
    }
}

/// Two legal actions of this position, neither of which is a pass.
fn two(game: &AnyGame) -> [Action; 2] {
    let mut legal = game.legal_actions().into_iter().filter(|action| *action != Action::Pass);
    [(); 2].map(|()| legal.next().expect("the match has just begun"))
}

#[test]
fn what_a_letter_may_not_do_it_does_not_do_in_any_game() {
    let setups = [small(), any_small(0), any_small(1), any_small(2)];
    // Lights are not played by letter.
    for kind in GameKind::ALL.iter().filter(|kind| **kind != GameKind::LightsOut) {
        assert!(setups.iter().any(|setup| setup.kind() == *kind), "{kind:?}");
    }
    for setup in &setups {
        check_forgeries(setup);
    }
}

fn check_forgeries(setup: &Setup) {
    let [first, _] = two(&AnyGame::new(setup).expect("a setup"));
    let mut pair = begun_with(setup, first);
    let [second, _] = two(pair.devices[BERT].state(ID).position());
    pair.act(BERT, ID, second).expect("his turn");
    // What Anna could play next, with Bert's answer; and what she will play.
    let mut forged_game = pair.devices[BERT].state(ID).position().clone();
    let [forged, third] = two(&forged_game);
    forged_game.act(forged).expect("legal");
    let [answer, _] = two(&forged_game);
    let honest = letter(&pair, BERT);
    let with_result = |result| peer::Record { result: Some(wire::result(result)), ..honest.clone() };
    let with_more = |more: &[Action]| {
        let mut actions = wire::unpack_actions(&honest.actions).expect("ours");
        actions.extend(more);
        peer::Record { actions: wire::pack_actions(&actions).into(), ..honest.clone() }
    };
    // Forgeries: one more revision, a pause and a result without agreement, another side, nonsense, Anna's giving up, her next
    // action with and without an answer, and her own letter as Bert's.
    let lies = [
        peer::Record { revision: 1, ..honest.clone() },
        peer::Record { paused: true, ..honest.clone() },
        peer::Record { sender_side: 0, ..honest.clone() },
        peer::Record { match_id: vec![1; 3].into(), ..honest.clone() },
        peer::Record { actions: vec![0xFF; 40].into(), ..honest.clone() },
        with_result(MatchResult::DrawAgreed),
        with_result(MatchResult::Resigned(Side::First)),
        with_result(MatchResult::TimedOut(Side::First)),
        with_more(&[forged]),
        with_more(&[forged, answer]),
        peer::Record { sender_side: honest.sender_side, ..letter(&pair, ANNA) },
    ];
    let check_refused = |pair: &mut Pair, when: &str| {
        let before = pair.devices[ANNA].state(ID).record().clone();
        for lie in &lies {
            let _ = pair.try_input(ANNA, Input::Letter(Box::new(lie.clone())));
            assert_eq!(*pair.devices[ANNA].state(ID).record(), before, "{when}: {lie:?}, {setup:?}");
        }
    };
    check_refused(&mut pair, "while Bert's action is news");
    read(&mut pair, ANNA, &honest);
    assert_eq!(pair.devices[ANNA].state(ID).ply(), 2, "the honest one is read even so");
    check_refused(&mut pair, "at the same ply");
    pair.act(ANNA, ID, third).expect("her turn");
    check_refused(&mut pair, "when it is stale");
    let clocked = peer::Record { pace: session::Pace::write(pair::any_pace(0)), ..honest };
    assert!(asked_by_letter(&clocked).is_none(), "nobody's clock runs by letter");
}

#[test]
fn nobody_asks_for_lights_by_letter() {
    let mut pair = begun();
    let begin = Command::BeginByLetter { id: MatchId([8; 16]), setup: small_race(), my_side: Side::First };
    assert!(pair.command(ANNA, begin).is_err(), "a race needs both at once");
    let gomoku = peer::Record { actions: Vec::new().into(), ..letter(&pair, ANNA) };
    assert!(asked_by_letter(&gomoku).is_some());
    let lights = peer::Record { setup: Some(wire::setup(&small_race())), ..gomoku };
    assert!(asked_by_letter(&lights).is_none());
}
