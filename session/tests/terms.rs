//! Terms: drawn colours, counter-invitations, and invitations that outlive their link.

mod pair;

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use engine::Side;
use pair::{ANNA, BERT, CUTS, Pair, invite, small};
use proto::peer::{self, DeclineReason, Envelope};
use session::{
    Colours, Command, Error, Event, Input, InvitationEnd, MatchId, Pace, Refused, Terms, Violation,
};

const FISCHER: Pace = Pace::Fischer { main: Duration::from_mins(1), bonus: Duration::from_secs(2) };

fn friends() -> Pair {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair
}

fn random() -> Terms {
    Terms { setup: small(), pace: Some(FISCHER), colours: Colours::Random, hints: false }
}

fn ask(pair: &mut Pair, device: usize, terms: Terms, counters: Option<MatchId>) -> MatchId {
    let id = pair.fresh_id();
    pair.command(device, Command::Invite { id, terms, counters }).expect("both are here");
    pair.run();
    id
}

fn accept(pair: &mut Pair, device: usize, id: MatchId) {
    pair.command(device, Command::AnswerInvite { id, decline: None }).expect("it is asked");
    pair.run();
}

fn ends(pair: &mut Pair, device: usize) -> Vec<InvitationEnd> {
    let told = pair.devices[device].told().into_iter();
    told.filter_map(|event| match event {
        Event::InvitationEnded { end, .. } => Some(end),
        _ => None,
    })
    .collect()
}

#[test]
fn drawn_colours_are_the_same_on_both_devices_and_come_out_both_ways() {
    let mut seen = BTreeSet::new();
    let mut pair = friends();
    // Fewer than the invitations that are looked at in one go.
    for _ in 0..24 {
        let id = ask(&mut pair, ANNA, random(), None);
        accept(&mut pair, BERT, id);
        pair.check_level(id);
        seen.insert(pair.devices[ANNA].state(id).record().my_side.index());
        pair.command(BERT, Command::Resign(id)).expect("it goes on");
        pair.run();
    }
    assert_eq!(seen.len(), 2, "neither side is always drawn");
    pair.conclude();
}

#[test]
fn a_reveal_that_does_not_fit_its_commitment_ends_the_link_and_begins_nothing() {
    for by_record in [false, true] {
        let mut pair = friends();
        let id = ask(&mut pair, ANNA, random(), None);
        pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("asked");
        pair.deliver(ANNA);
        let Some(Envelope::Reveal(mut reveal)) = pair.devices[BERT].inbox.pop_front() else {
            panic!("Anna reveals")
        };
        // A forged drawing that gives her the other side.
        let wrong = if by_record {
            let side = pair.devices[ANNA].state(id).record().my_side.other();
            peer::Record {
                match_id: reveal.invite_id,
                setup: Some(session::wire::setup(&small())),
                sender_side: session::wire::side(side).into(),
                pace: Pace::write(Some(FISCHER)),
                reveal: reveal.nonce,
                ..peer::Record::default()
            }
            .into()
        } else {
            reveal.nonce = Bytes::from_static(&[7; 32]);
            reveal.into()
        };
        let done = pair.try_input(BERT, Input::Received(wrong));
        assert_eq!(done, Err(Error::Violation(Violation::BadReveal)));
        assert_eq!(ends(&mut pair, BERT), [InvitationEnd::Cheated]);
        assert!(pair.devices[BERT].journal.matches.is_empty());
    }
}

#[test]
fn colours_are_drawn_once_wherever_the_link_is_cut() {
    let play = |pair: &mut Pair| {
        let id = MatchId([9; 16]);
        let _ = pair.command(ANNA, Command::Invite { id, terms: random(), counters: None });
        for _ in 0..3 {
            pair.run();
            if pair.devices.iter().any(|device| !device.linked) {
                pair.connect();
                pair.run();
            }
            let _ = pair.command(BERT, Command::AnswerInvite { id, decline: None });
        }
        id
    };
    let mut whole = friends();
    play(&mut whole);
    let (begun, messages) = (friends().messages, whole.messages);
    for cut in CUTS {
        for at in begun..messages {
            let mut pair = friends();
            pair.cut_at = Some((at, cut));
            let id = play(&mut pair);
            pair.lose_links();
            pair.connect();
            pair.run();
            pair.check_level(id);
            pair.conclude();
        }
    }
}

#[test]
fn a_device_that_dies_while_colours_are_drawn_leaves_one_match_or_none() {
    let matches = |pair: &Pair| pair.devices.each_ref().map(|device| device.journal.matches.len());
    for device in [ANNA, BERT] {
        let mut died = 0;
        for outputs in 0..14 {
            let mut pair = friends();
            pair.devices[device].dies_at = Some(outputs);
            let id = MatchId([9; 16]);
            let _ = pair.command(ANNA, Command::Invite { id, terms: random(), counters: None });
            pair.run();
            let _ = pair.command(BERT, Command::AnswerInvite { id, decline: None });
            pair.run();
            assert!(matches(&pair).into_iter().all(|count| count <= 1), "{outputs}: {:?}", matches(&pair));
            died += pair.devices[device].deaths;
            pair.conclude();
            assert!([[0; 2], [1; 2]].contains(&matches(&pair)), "{outputs}: {:?}", matches(&pair));
        }
        assert!(died >= 5, "device {device} died {died} times");
    }
}

#[test]
fn an_invitation_that_loses_its_link_is_sent_again_and_answered_once() {
    let mut pair = friends();
    let id = pair.fresh_id();
    pair.command(ANNA, invite(id, small(), Side::First)).expect("here");
    pair.lose_links();
    pair.connect();
    pair.run();
    assert_eq!(pair.invited(BERT), Some(id));
    pair.lose_links();
    // Answered while the peer is away: the match begins, and Anna learns of it later.
    pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("still open");
    pair.connect();
    pair.run();
    pair.check_level(id);
    assert!(ends(&mut pair, ANNA).is_empty());
    pair.conclude();
}

#[test]
fn a_no_and_a_withdrawal_said_into_the_void_arrive_with_the_next_link() {
    let mut pair = friends();
    let id = ask(&mut pair, ANNA, random(), None);
    pair.lose_links();
    let decline = Some(DeclineReason::DeclineOtherGame);
    pair.command(BERT, Command::AnswerInvite { id, decline }).expect("still open");
    pair.devices[BERT].told();
    pair.connect();
    pair.run();
    assert_eq!(ends(&mut pair, ANNA), [InvitationEnd::Declined(DeclineReason::DeclineOtherGame)]);
    assert_eq!(pair.invited(BERT), None, "it does not ring again");
    let id = ask(&mut pair, ANNA, random(), None);
    assert_eq!(pair.invited(BERT), Some(id));
    pair.lose_links();
    pair.command(ANNA, Command::Withdraw(id)).expect("still open");
    pair.connect();
    pair.run();
    assert_eq!(pair.invited(BERT), None);
    pair.conclude();
}

#[test]
fn other_terms_take_the_place_of_an_invitation() {
    let mut pair = friends();
    let first = ask(&mut pair, ANNA, random(), None);
    let other = Terms { pace: None, colours: Colours::Mine(Side::First), ..random() };
    let counter = ask(&mut pair, BERT, other.clone(), Some(first));
    assert_eq!(ends(&mut pair, ANNA), [InvitationEnd::Countered(counter)]);
    assert_eq!(ends(&mut pair, BERT), [InvitationEnd::Countered(counter)]);
    let again = Terms { colours: Colours::Mine(Side::First), ..random() };
    let last = ask(&mut pair, ANNA, again, Some(counter));
    let asked = pair.devices[BERT].events.iter().find_map(|event| match event {
        Event::Invited { terms, counters, .. } => Some((terms.clone(), *counters)),
        _ => None,
    });
    let terms = Terms { colours: Colours::Mine(Side::Second), ..random() };
    assert_eq!(asked, Some((terms, Some(counter))));
    accept(&mut pair, BERT, last);
    pair.check_level(last);
    assert_eq!(pair.devices[ANNA].state(last).record().pace, Some(FISCHER));
    assert_eq!(pair.devices[ANNA].session.matches().len(), 1);
    let nothing = Command::Invite { id: MatchId([77; 16]), terms: other, counters: Some(first) };
    assert_eq!(pair.command(BERT, nothing), Err(Refused::NoSuchInvitation));
    pair.conclude();
}

#[test]
fn other_terms_survive_a_cut_at_every_message() {
    let play = |pair: &mut Pair| {
        let (first, counter) = (MatchId([8; 16]), MatchId([7; 16]));
        let _ = pair.command(ANNA, Command::Invite { id: first, terms: random(), counters: None });
        let mut countered = false;
        for _ in 0..4 {
            pair.run();
            if pair.devices.iter().any(|device| !device.linked) {
                pair.connect();
                pair.run();
            }
            let terms = Terms { pace: None, ..random() };
            let other = Command::Invite { id: counter, terms, counters: Some(first) };
            countered |= pair.command(BERT, other).is_ok();
            pair.run();
            if countered {
                let _ = pair.command(ANNA, Command::AnswerInvite { id: counter, decline: None });
            }
        }
        counter
    };
    let mut whole = friends();
    play(&mut whole);
    for cut in CUTS {
        for at in friends().messages..whole.messages {
            let mut pair = friends();
            pair.cut_at = Some((at, cut));
            let id = play(&mut pair);
            pair.lose_links();
            pair.connect();
            pair.run();
            pair.check_level(id);
            assert_eq!(pair.devices[ANNA].session.matches().len(), 1);
            pair.conclude();
        }
    }
}

#[test]
fn invitations_with_drawn_colours_that_cross_resolve_to_one_match() {
    for [anna, bert] in [[1, 2], [2, 1]] {
        let mut pair = friends();
        for (device, id) in [(ANNA, anna), (BERT, bert)] {
            let invite = Command::Invite { id: MatchId([id; 16]), terms: random(), counters: None };
            pair.command(device, invite).expect("both are here");
        }
        pair.run();
        pair.check_level(MatchId([1; 16]));
        assert_eq!(pair.devices[ANNA].session.matches().len(), 1);
        pair.conclude();
    }
}

#[test]
fn alternating_colours_are_told_as_such() {
    let mut pair = friends();
    let terms = Terms { colours: Colours::Alternate(Side::Second), ..random() };
    let id = ask(&mut pair, ANNA, terms, None);
    let alternates = pair.devices[BERT].events.iter().any(|event| {
        matches!(event, Event::Invited { terms, .. } if terms.colours == Colours::Alternate(Side::First))
    });
    assert!(alternates);
    accept(&mut pair, BERT, id);
    assert_eq!(pair.devices[BERT].state(id).record().my_side, Side::First);
    pair.conclude();
}
