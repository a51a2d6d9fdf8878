//! Hints in a match between two people: only where both have agreed to them, and each is shown to the other.

mod pair;

use engine::Side;
use pair::{ANNA, BERT, Pair, invite, place, small};
use proto::peer::{self, Envelope};
use session::{Colours, Command, Event, Input, MatchId, OfferKind, Refused, Terms};

fn terms(colours: Colours, hints: bool) -> Terms {
    Terms { setup: small(), pace: None, colours, hints }
}

fn friends() -> Pair {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair
}

/// A match in which Anna is first.
fn playing(hints: bool) -> (Pair, MatchId) {
    let mut pair = friends();
    let id = pair.begin_with(ANNA, terms(Colours::Mine(Side::First), hints));
    (pair, id)
}

fn hints(pair: &Pair, id: MatchId) -> [Option<[u32; 2]>; 2] {
    [ANNA, BERT].map(|device| pair.devices[device].state(id).record().hints)
}

fn told_of_hints(pair: &mut Pair, device: usize) -> usize {
    let told = pair.devices[device].told();
    told.iter().filter(|event| matches!(event, Event::HintTaken { .. })).count()
}

#[test]
fn a_hint_is_refused_unless_both_have_agreed_to_hints_in_the_terms() {
    let (mut pair, id) = playing(false);
    assert_eq!(pair.command(ANNA, Command::TakeHint(id)), Err(Refused::NoHints));
    assert_eq!(hints(&pair, id), [None; 2]);
    for colours in [Colours::Mine(Side::Second), Colours::Alternate(Side::First), Colours::Random] {
        let mut pair = friends();
        let id = pair.fresh_id();
        let (terms, counters) = (terms(colours, true), None);
        pair.command(ANNA, Command::Invite { id, terms, counters }).expect("both are here");
        pair.run();
        let asked = pair.devices[BERT].told().into_iter().find_map(|event| match event {
            Event::Invited { terms, .. } => Some(terms.hints),
            _ => None,
        });
        assert_eq!(asked, Some(true), "the person reads it before the answer");
        pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("it is asked");
        pair.run();
        assert_eq!(hints(&pair, id), [Some([0; 2]); 2], "{colours:?}");
    }
}

#[test]
fn each_hint_is_told_to_the_other_and_counted_once_for_a_position() {
    let (mut pair, id) = playing(true);
    assert_eq!(pair.command(BERT, Command::TakeHint(id)), Err(Refused::NotYourTurn));
    for _ in 0..3 {
        pair.command(ANNA, Command::TakeHint(id)).expect("it is her turn");
    }
    pair.run();
    assert_eq!(hints(&pair, id), [Some([1, 0]); 2]);
    assert_eq!((told_of_hints(&mut pair, BERT), told_of_hints(&mut pair, ANNA)), (1, 0));
    pair.command(ANNA, Command::Act { id, action: place(0, 0) }).expect("legal");
    pair.run();
    pair.command(BERT, Command::TakeHint(id)).expect("it is his turn");
    pair.run();
    assert_eq!(hints(&pair, id), [Some([1, 1]); 2]);
    assert_eq!((told_of_hints(&mut pair, BERT), told_of_hints(&mut pair, ANNA)), (0, 1));
    pair.check_level(id);
    pair.command(ANNA, Command::Resign(id)).expect("it goes on");
    pair.run();
    assert_eq!(pair.command(BERT, Command::TakeHint(id)), Err(Refused::WrongPhase));
    assert_eq!(hints(&pair, id), [Some([1, 1]); 2], "kept in the record");
}

#[test]
fn a_hint_of_which_the_message_is_lost_is_known_on_the_next_link() {
    for dies in [None, Some(ANNA), Some(BERT)] {
        let (mut pair, id) = playing(true);
        pair.lose_links();
        pair.command(ANNA, Command::TakeHint(id)).expect("it is her turn");
        if let Some(device) = dies {
            pair.restart(device);
            pair.run();
        }
        pair.connect();
        pair.run();
        assert_eq!(hints(&pair, id), [Some([1, 0]); 2], "{dies:?}");
        assert_eq!(told_of_hints(&mut pair, BERT), 1);
        pair.check_level(id);
    }
    // A device that has lost the match gets the numbers with the record.
    let (mut pair, id) = playing(true);
    pair.command(ANNA, Command::TakeHint(id)).expect("it is her turn");
    pair.run();
    pair.devices[BERT].journal.matches.clear();
    pair.restart(BERT);
    pair.run();
    pair.connect();
    pair.run();
    pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("it is asked");
    pair.run();
    assert_eq!(hints(&pair, id), [Some([1, 0]); 2]);
}

#[test]
fn a_version_that_does_not_know_hints_is_not_invited_to_them() {
    let mut pair = Pair::friends();
    pair.connect();
    for envelope in &mut pair.devices[ANNA].inbox {
        if let Envelope::Hello(hello) = envelope {
            hello.knows_hints = false;
        }
    }
    pair.run();
    let id = pair.fresh_id();
    let asked = Command::Invite { id, terms: terms(Colours::Random, true), counters: None };
    assert_eq!(pair.command(ANNA, asked), Err(Refused::HintsUnknown));
    pair.command(ANNA, invite(id, small(), Side::First)).expect("without hints");
}

#[test]
fn what_a_peer_says_of_its_hints_is_bounded_and_changes_no_match_without_them() {
    for agreed in [false, true] {
        let (mut pair, id) = playing(agreed);
        for taken in [7, 3, 7, proto::limits::HINTS + 1, u32::MAX] {
            let said = peer::HintTaken { match_id: id.0.to_vec().into(), hints: taken };
            pair.input(BERT, Input::Received(said.into()));
        }
        let expected = agreed.then_some([7, 0]);
        assert_eq!(pair.devices[BERT].state(id).record().hints, expected);
        assert_eq!(told_of_hints(&mut pair, BERT), usize::from(agreed));
    }
}

#[test]
fn a_new_game_has_the_agreement_of_the_one_before_and_no_hints_taken() {
    for agreed in [false, true] {
        let (mut pair, id) = playing(agreed);
        if agreed {
            pair.command(ANNA, Command::TakeHint(id)).expect("it is her turn");
        }
        pair.command(ANNA, Command::Resign(id)).expect("it goes on");
        pair.run();
        pair.command(ANNA, Command::Offer { id, kind: OfferKind::NewGame }).expect("it is over");
        pair.run();
        pair.command(BERT, Command::AnswerOffer { id, accept: true }).expect("it is offered");
        pair.run();
        for device in &pair.devices {
            let new = device.session.matches().last().expect("begun");
            assert!(new.id() != id);
            assert_eq!(new.record().hints, agreed.then_some([0; 2]));
        }
    }
}
