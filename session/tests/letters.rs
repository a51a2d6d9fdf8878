//! Matches by letter: two devices that never share a link, and letters that are late, duplicated, lost or forged.

mod pair;
#[path = "../../tests/src/seed.rs"]
mod seed;

use engine::{Action, Rng, Side};
use pair::{ANNA, BERT, Pair, place, small};
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
    let mut pair = Pair::friends();
    let begin = Command::BeginByLetter { id: ID, setup: small(), my_side: Side::First };
    pair.command(ANNA, begin).expect("Bert is away");
    pair.act(ANNA, ID, place(0, 0)).expect("her turn");
    let asked = letter(&pair, ANNA);
    let (id, setup, side) = asked_by_letter(&asked).expect("it asks for a match");
    assert_eq!((id, setup, side), (ID, small(), Side::Second));
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

#[test]
fn what_a_letter_may_not_do_it_does_not_do() {
    let mut pair = begun();
    pair.act(BERT, ID, place(1, 1)).expect("his turn");
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
        with_more(&[place(3, 3)]),
        with_more(&[place(3, 3), place(4, 4)]),
        peer::Record { sender_side: honest.sender_side, ..letter(&pair, ANNA) },
    ];
    let check_refused = |pair: &mut Pair, when: &str| {
        let before = pair.devices[ANNA].state(ID).record().clone();
        for lie in &lies {
            let _ = pair.try_input(ANNA, Input::Letter(Box::new(lie.clone())));
            assert_eq!(*pair.devices[ANNA].state(ID).record(), before, "{when}: {lie:?}");
        }
    };
    check_refused(&mut pair, "while Bert's action is news");
    read(&mut pair, ANNA, &honest);
    assert_eq!(pair.devices[ANNA].state(ID).ply(), 2, "the honest one is read even so");
    check_refused(&mut pair, "at the same ply");
    pair.act(ANNA, ID, place(2, 2)).expect("her turn");
    check_refused(&mut pair, "when it is stale");
    let clocked = peer::Record { pace: session::Pace::write(pair::any_pace(0)), ..honest };
    assert!(asked_by_letter(&clocked).is_none(), "nobody's clock runs by letter");
}
