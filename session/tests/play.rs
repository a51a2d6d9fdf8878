//! A match between two devices: who may do what when, offers, and diverged records.

mod pair;

use std::time::Duration;

use bytes::Bytes;
use engine::{IllegalAction, Point, Side};
use pair::{ANNA, BERT, Pair, invite, place, small};
use proto::peer::{self, ByeReason, Envelope, Phrase};
use session::club::{self, Club, PlayerKind};
use session::{
    Command, Error, Event, Input, MatchId, MatchRecord, MatchResult, MatchState, OfferKind, Refused, Saying,
    Violation, wire,
};

#[test]
fn only_the_side_to_move_may_play_and_only_legally() {
    let (mut pair, id) = Pair::playing();
    assert_eq!(pair.act(BERT, id, place(0, 0)), Err(Refused::NotYourTurn));
    assert_eq!(pair.act(ANNA, MatchId([77; 16]), place(0, 0)), Err(Refused::NoSuchMatch));
    let off = Refused::Illegal(IllegalAction::OffBoard(Point::new(9, 9)));
    assert_eq!(pair.act(ANNA, id, place(9, 9)), Err(off));
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    assert_eq!(pair.act(ANNA, id, place(1, 0)), Err(Refused::NotYourTurn));
    assert_eq!(pair.devices[ANNA].state(id).seen_ply(), Some(0), "not acknowledged yet");
    pair.run();
    assert_eq!(pair.devices[ANNA].state(id).seen_ply(), Some(1));
    let occupied = Refused::Illegal(IllegalAction::Occupied(Point::new(0, 0)));
    assert_eq!(pair.act(BERT, id, place(0, 0)), Err(occupied));
    pair.conclude();
}

#[test]
fn a_move_made_while_the_peer_is_away_arrives_when_it_is_back() {
    let (mut pair, id) = Pair::playing();
    pair.lose_links();
    pair.act(ANNA, id, place(3, 3)).expect("her turn");
    for kind in [OfferKind::TakeBack, OfferKind::Draw] {
        assert_eq!(pair.offer(ANNA, id, kind), Err(Refused::Away));
    }
    assert!(!pair.devices[ANNA].state(id).can_take_back());
    pair.connect();
    pair.run();
    pair.check_level(id);
    assert_eq!(pair.devices[BERT].state(id).record().actions, [place(3, 3)]);
}

#[test]
fn what_may_be_done_is_told_as_facts() {
    let (mut pair, id) = Pair::playing();
    let facts = |pair: &Pair, device: usize| {
        let state = pair.devices[device].state(id);
        [
            state.can_act(),
            state.can_take_back(),
            state.can_offer_draw(),
            state.can_resign(),
            state.can_new_game(),
        ]
    };
    assert_eq!(facts(&pair, ANNA), [true, false, true, true, false]);
    assert_eq!(facts(&pair, BERT), [false, false, true, true, false]);
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.run();
    assert_eq!(facts(&pair, ANNA), [false, true, true, true, false]);
    assert_eq!(facts(&pair, BERT), [true, false, true, true, false]);
    pair.offer(ANNA, id, OfferKind::Draw).expect("it goes on");
    pair.run();
    assert_eq!(facts(&pair, ANNA), [false, false, false, true, false], "one offer at a time");
    assert_eq!(pair.devices[ANNA].state(id).my_offer(), Some(OfferKind::Draw));
    assert_eq!(pair.devices[BERT].state(id).their_offer(), Some(OfferKind::Draw));
    pair.command(BERT, Command::Resign(id)).expect("it goes on");
    pair.run();
    for device in [ANNA, BERT] {
        assert_eq!(facts(&pair, device), [false, false, false, false, true]);
    }
    pair.conclude();
}

#[test]
fn playing_on_answers_the_peers_offer_with_no() {
    let (mut pair, id) = Pair::playing();
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.run();
    pair.offer(ANNA, id, OfferKind::Draw).expect("it goes on");
    pair.run();
    pair.act(BERT, id, place(1, 1)).expect("his turn");
    pair.run();
    let no = Event::OfferEnded { id, kind: OfferKind::Draw, mine: true, accepted: false };
    assert!(pair.devices[ANNA].told().contains(&no));
    assert_eq!(pair.answer(BERT, id, true), Err(Refused::NoSuchOffer));
    pair.conclude();
}

/// Five finished matches, the oldest first: one more than a session keeps once another begins.
fn five_over() -> (Pair, Vec<MatchId>) {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let ids = (0..5).map(|_| {
        let id = pair.begin(ANNA, small(), Side::First);
        pair.command(BERT, Command::Resign(id)).expect("it goes on");
        pair.run();
        id
    });
    let ids = ids.collect();
    (pair, ids)
}

#[test]
fn accepting_a_new_game_of_any_kept_match_is_heard_by_who_asked() {
    for number in 0..5 {
        for kind in [OfferKind::NewGame, OfferKind::NewGameSame] {
            let (mut pair, ids) = five_over();
            let before = ids[number];
            pair.offer(BERT, before, kind).expect("it is over");
            pair.run();
            pair.devices[BERT].told();
            pair.answer(ANNA, before, true).expect("she is asked");
            pair.run();
            let yes = Event::OfferEnded { id: before, kind, mine: true, accepted: true };
            assert!(pair.devices[BERT].told().contains(&yes), "{kind:?} after match {number}");
            let records = [ANNA, BERT].map(|device| &pair.devices[device].journal.matches);
            let new = records[ANNA].last().expect("it began").0.id;
            assert_eq!(records.map(Vec::len), [6, 6], "one match has begun, once");
            pair.check_level(new);
            pair.conclude();
        }
    }
}

#[test]
fn a_match_with_an_open_offer_is_kept_until_it_is_answered() {
    let (mut pair, ids) = five_over();
    pair.offer(BERT, ids[0], OfferKind::NewGame).expect("it is over");
    pair.run();
    let others = [pair.begin(ANNA, small(), Side::First), pair.begin(BERT, small(), Side::First)];
    for id in others {
        pair.command(ANNA, Command::Resign(id)).expect("it goes on");
        pair.run();
    }
    pair.begin(BERT, small(), Side::First);
    let kept: Vec<_> = pair.devices[ANNA].session.matches().map(MatchState::id).collect();
    assert!(kept.contains(&ids[0]) && !kept.contains(&ids[1]), "the oldest that nobody asks about went");
    pair.answer(ANNA, ids[0], true).expect("she is still asked");
    pair.run();
    assert_eq!(pair.devices[BERT].journal.matches.len(), 9, "the new game began there too");
    pair.conclude();
}

#[test]
fn an_open_offer_survives_a_drop_and_a_restart() {
    for restart in [false, true] {
        let (mut pair, id) = Pair::playing();
        pair.act(ANNA, id, place(0, 0)).expect("her turn");
        pair.run();
        pair.offer(ANNA, id, OfferKind::TakeBack).expect("she has played");
        pair.run();
        if restart {
            pair.restart(ANNA);
            pair.run();
        } else {
            pair.lose_links();
        }
        assert_eq!(pair.devices[BERT].state(id).their_offer(), None, "nobody can be answered now");
        pair.connect();
        pair.run();
        pair.answer(BERT, id, true).expect("it is asked again");
        pair.run();
        pair.check_level(id);
        assert_eq!(pair.devices[ANNA].state(id).ply(), 0);
        pair.conclude();
    }
}

#[test]
fn a_win_can_be_taken_back_by_consent_and_lost_again() {
    let (mut pair, id) = Pair::playing();
    for number in 0..4 {
        pair.act(ANNA, id, place(number, 0)).expect("her turn");
        pair.run();
        pair.act(BERT, id, place(number, 1)).expect("his turn");
        pair.run();
    }
    pair.act(ANNA, id, place(4, 0)).expect("her turn");
    pair.run();
    assert!(matches!(pair.devices[BERT].state(id).record().result, Some(MatchResult::Played(_))));
    assert!(pair.devices.iter().all(|device| device.journal.matches[0].1), "settled");
    pair.offer(BERT, id, OfferKind::TakeBack).expect("he wants his last move back");
    pair.run();
    pair.answer(ANNA, id, true).expect("it is asked");
    pair.run();
    pair.check_level(id);
    let state = pair.devices[BERT].state(id);
    assert_eq!((state.ply(), state.record().result, state.record().revision), (7, None, 1));
    assert!(pair.devices.iter().all(|device| !device.journal.matches[0].1), "no longer settled");
    pair.conclude();
}

#[test]
fn a_new_game_follows_once_with_colours_swapped() {
    let (mut pair, id) = Pair::playing();
    pair.command(BERT, Command::Resign(id)).expect("it goes on");
    pair.run();
    // Both offer it at the same time.
    pair.offer(ANNA, id, OfferKind::NewGame).expect("it is over");
    pair.offer(BERT, id, OfferKind::NewGame).expect("it is over");
    pair.run();
    let sides = |device: usize| -> Vec<Side> {
        pair.devices[device].session.matches().map(|state| state.record().my_side).collect()
    };
    assert_eq!(sides(ANNA), [Side::First, Side::Second]);
    assert_eq!(sides(BERT), [Side::Second, Side::First]);
    assert_eq!(pair.offer(ANNA, id, OfferKind::NewGame), Err(Refused::WrongPhase), "it has followed");
    pair.conclude();
}

#[test]
fn who_accepts_a_new_game_and_asks_for_a_move_back_is_answered_though_the_acceptance_was_lost() {
    for asker in [ANNA, BERT] {
        let (mut pair, id) = Pair::playing();
        for number in 0..4 {
            pair.act(ANNA, id, place(number, 0)).expect("her turn");
            pair.run();
            pair.act(BERT, id, place(number, 1)).expect("his turn");
            pair.run();
        }
        pair.act(ANNA, id, place(4, 0)).expect("her turn");
        pair.run();
        pair.offer(asker, id, OfferKind::NewGame).expect("it is over");
        pair.run();
        pair.answer(1 - asker, id, true).expect("it is asked");
        pair.offer(1 - asker, id, OfferKind::TakeBack).expect("the win was played");
        pair.lose_links();
        pair.connect();
        pair.run();
        let asked = pair.devices[asker].state(id).their_offer();
        let waits = pair.devices[1 - asker].state(id).my_offer();
        // Of offers that cross, the first side's stands: Anna's device answers Bert's with no, and Bert's shows hers.
        let open = (asker == BERT).then_some(OfferKind::TakeBack);
        assert_eq!([asked, waits], [open; 2], "who waits for an answer is shown as asking");
        let kind = OfferKind::TakeBack;
        let no = Event::OfferEnded { id, kind, mine: true, accepted: false };
        assert_eq!(pair.devices[1 - asker].told().contains(&no), asker == ANNA, "or is told of it");
        pair.conclude();
        assert_eq!(pair.devices[asker].journal.matches.len(), 2, "the new game began");
    }
}

fn play(id: MatchId, ply: u32, action: engine::Action, digest: u64, revision: u32) -> Envelope {
    let match_id = Bytes::copy_from_slice(&id.0);
    let action = Some(wire::action(action));
    peer::Play { match_id, ply, action, thought_ms: 0, digest, revision, spent_ms: 0 }.into()
}

fn digest(pair: &Pair, id: MatchId, action: engine::Action) -> u64 {
    let mut record = pair.devices[BERT].state(id).record().clone();
    record.actions.push(action);
    record.digest()
}

#[test]
fn an_impossible_action_ends_the_link_and_changes_nothing() {
    let right = place(2, 2);
    type Wrong = fn(MatchId, engine::Action, u64) -> Envelope;
    let cases: [(&str, Wrong); 5] = [
        ("digest", |id, action, digest| play(id, 1, action, digest ^ 1, 0)),
        ("off the board", |id, _, digest| play(id, 1, place(5, 0), digest, 0)),
        ("not in this game", |id, _, digest| play(id, 1, engine::Action::Pass, digest, 0)),
        ("revision", |id, action, digest| play(id, 1, action, digest, 1)),
        ("number", |id, action, digest| play(id, 0, action, digest, 0)),
    ];
    for (what, wrong) in cases {
        let (mut pair, id) = Pair::playing();
        let before = pair.devices[BERT].state(id).record().clone();
        let word = wrong(id, right, digest(&pair, id, right));
        let done = pair.try_input(BERT, Input::Received(word));
        assert!(matches!(done, Err(Error::Violation(Violation::BadPlay { .. }))), "{what}: {done:?}");
        assert_eq!(pair.closed(BERT), Some(ByeReason::ByeViolation));
        assert_eq!(*pair.devices[BERT].state(id).record(), before, "{what}");
        pair.conclude();
    }
    // Out of turn: Anna has played, and plays again.
    let (mut pair, id) = Pair::playing();
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.run();
    let word = play(id, 2, right, digest(&pair, id, right), 0);
    let done = pair.try_input(BERT, Input::Received(word));
    assert_eq!(done, Err(Error::Violation(Violation::BadPlay { ply: 2 })));
    pair.conclude();
}

#[test]
fn a_gap_asks_for_what_is_missing_and_a_repetition_is_acknowledged() {
    let (mut pair, id) = Pair::playing();
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    let first = pair.devices[BERT].inbox.pop_back().expect("it is on its way");
    pair.input(BERT, Input::Received(play(id, 2, place(1, 1), 5, 0)));
    let Some(Envelope::Ack(ack)) = pair.devices[BERT].sent.last() else { panic!("an answer") };
    assert!(ack.wants_rest && ack.ply == 0);
    pair.run();
    pair.check_level(id);
    pair.input(BERT, Input::Received(first));
    let Some(Envelope::Ack(ack)) = pair.devices[BERT].sent.last() else { panic!("an answer") };
    assert!(!ack.wants_rest && ack.ply == 1);
    pair.run();
    pair.check_level(id);
}

#[test]
fn a_journal_that_was_set_back_gets_the_whole_record_once_its_person_agrees() {
    // Both play in turns; then Bert's disk is restored to the beginning.
    let (mut pair, id) = Pair::playing();
    let old = pair.devices[BERT].journal.clone();
    for number in 0..10 {
        let (column, row) = (number % 5, number / 5 * 2);
        pair.act(ANNA, id, place(column, row)).expect("her turn");
        pair.run();
        if pair.devices[BERT].state(id).record().result.is_some() {
            break;
        }
        pair.act(BERT, id, place((column + 2) % 5, row + 1)).expect("his turn");
        pair.run();
    }
    assert!(pair.devices[ANNA].state(id).ply() > 6);
    pair.devices[BERT].journal = old;
    pair.restart(BERT);
    pair.run();
    pair.connect();
    pair.run();
    // Bert's own moves must not be played for him: he is asked, and gives way.
    assert!(pair.devices[BERT].state(id).differs() && pair.devices[ANNA].state(id).differs());
    for device in [ANNA, BERT] {
        assert!(pair.devices[device].told().contains(&Event::RecordsDiffer { id, common: 0 }));
    }
    assert!(!pair.devices[ANNA].state(id).can_act() && !pair.devices[BERT].state(id).can_act());
    pair.command(BERT, Command::TakeTheirs(id)).expect("there is one to take");
    pair.run();
    pair.check_level(id);
    pair.conclude();
}

#[test]
fn records_that_went_different_ways_stop_at_the_last_common_ply_until_one_person_gives_way() {
    for gives_way in [ANNA, BERT] {
        let (mut pair, id) = Pair::playing();
        pair.act(ANNA, id, place(0, 0)).expect("her turn");
        pair.run();
        // A restored backup in which Bert had answered differently.
        let mut other = pair.devices[BERT].journal.clone();
        other.matches[0].0.actions.push(place(4, 4));
        pair.act(BERT, id, place(1, 1)).expect("his turn");
        pair.run();
        pair.devices[BERT].journal = other;
        pair.restart(BERT);
        pair.run();
        pair.devices[ANNA].told();
        pair.connect();
        pair.run();
        for device in [ANNA, BERT] {
            assert!(pair.devices[device].told().contains(&Event::RecordsDiffer { id, common: 1 }));
            assert!(pair.devices[device].state(id).differs());
        }
        let records = [ANNA, BERT].map(|device| pair.devices[device].state(id).record().actions.clone());
        assert_eq!(
            records,
            [vec![place(0, 0), place(1, 1)], vec![place(0, 0), place(4, 4)]],
            "both are kept"
        );
        // Reported again on every link, without further effect.
        pair.lose_links();
        pair.connect();
        pair.run();
        assert!(pair.devices[BERT].told().contains(&Event::RecordsDiffer { id, common: 1 }));
        pair.command(gives_way, Command::TakeTheirs(id)).expect("there is one to take");
        pair.run();
        pair.check_level(id);
        assert_eq!(pair.devices[ANNA].state(id).record().actions, records[1 - gives_way]);
    }
}

#[test]
fn a_match_that_one_journal_has_lost_comes_back_when_its_person_agrees() {
    let (mut pair, id) = Pair::playing();
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.run();
    pair.act(BERT, id, place(1, 1)).expect("his turn");
    pair.run();
    pair.devices[BERT].journal.matches.clear();
    pair.restart(BERT);
    pair.run();
    pair.connect();
    pair.run();
    assert!(!pair.devices[ANNA].state(id).is_level());
    let told = pair.devices[BERT].told();
    assert!(
        told.iter().any(|event| matches!(event, Event::Invited { id: asked, ply: 2, .. } if *asked == id)),
        "{told:?}"
    );
    pair.act(ANNA, id, place(2, 2)).expect("her turn, and kept until Bert has answered");
    pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("he is asked");
    pair.run();
    pair.check_level(id);
    assert_eq!(pair.devices[BERT].state(id).ply(), 3);
    pair.conclude();
}

#[test]
fn nobody_is_given_a_match_unasked() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let record = |id: u8, result: Option<MatchResult>| {
        peer::Record {
            match_id: Bytes::copy_from_slice(&[id; 16]),
            setup: Some(wire::setup(&small())),
            sender_side: wire::side(Side::First).into(),
            revision: 0,
            actions: wire::pack_actions(&[place(0, 0)]).into(),
            result: result.map(wire::result),
            ..peer::Record::default()
        }
        .into()
    };
    pair.input(BERT, Input::Received(record(1, None)));
    for id in 2..40 {
        pair.input(BERT, Input::Received(record(id, None)));
    }
    // Nor may the peer claim that Bert lost a match he never played.
    pair.input(BERT, Input::Received(record(50, Some(MatchResult::Resigned(Side::Second)))));
    assert_eq!(pair.devices[BERT].session.matches().len(), 0);
    assert!(pair.devices[BERT].journal.matches.is_empty());
    let asked = pair.devices[BERT].told().into_iter().filter(|event| matches!(event, Event::Invited { .. }));
    assert_eq!(asked.count(), 1, "one at a time");
}

#[test]
fn a_record_that_cannot_be_replayed_is_told_and_left_out() {
    let (mut pair, id) = Pair::playing();
    let (record, _) = &mut pair.devices[ANNA].journal.matches[0];
    record.actions = vec![place(0, 0), place(0, 0)];
    let broken: MatchRecord = record.clone();
    pair.devices[ANNA].journal.matches.clear();
    let mut session = session::Session::new(session::Config {
        versions: session::VERSIONS,
        name: "Anna".into(),
        advert_key: [1; 32],
        known: true,
        known_name_new_key: false,
        matches: vec![(broken, false)],
        promised: Vec::new(),
        seed: [0; 32],
    });
    assert_eq!(session.matches().len(), 0);
    assert_eq!(session.poll(&mut Vec::new()), Ok(session::Output::Event(Event::RecordUnreadable(id))));
}

#[test]
fn a_result_that_was_not_written_with_the_last_action_is_found_again() {
    let (mut pair, id) = Pair::playing();
    for number in 0..4 {
        pair.act(ANNA, id, place(number, 0)).expect("her turn");
        pair.run();
        pair.act(BERT, id, place(number, 1)).expect("his turn");
        pair.run();
    }
    pair.act(ANNA, id, place(4, 0)).expect("her turn");
    pair.run();
    pair.devices[ANNA].journal.matches[0].0.result = None;
    pair.devices[ANNA].journal.matches[0].1 = false;
    pair.restart(ANNA);
    assert!(matches!(pair.devices[ANNA].state(id).record().result, Some(MatchResult::Played(_))));
    pair.run();
    pair.conclude();
}

#[test]
fn the_digest_is_the_same_on_every_machine() {
    // Golden value: a change here makes old and new versions disagree about equal records.
    let mut record = MatchRecord::new(MatchId([1; 16]), small(), Side::First);
    assert_eq!(record.digest(), 4165350217324993147);
    record.actions.push(place(4, 0));
    assert_eq!(record.digest(), 14887975033613123284);
    record.revision = 3;
    record.my_side = Side::Second;
    assert_eq!(record.digest(), 14887975033613123284, "revision and sides are left out");
}

#[test]
fn a_refused_command_sends_and_writes_nothing() {
    let (mut pair, id) = Pair::playing();
    let commands = [
        Command::Act { id, action: place(8, 8) },
        Command::Offer { id, kind: OfferKind::TakeBack },
        Command::Offer { id, kind: OfferKind::NewGame },
        Command::AnswerOffer { id, accept: true },
        Command::TakeTheirs(id),
        Command::Compare { same: true },
        Command::Withdraw(id),
        Command::AnswerInvite { id, decline: None },
        invite(id, small(), Side::First),
        Command::Resign(MatchId([8; 16])),
    ];
    for command in commands {
        let (sent, told) = (pair.devices[ANNA].sent.len(), pair.devices[ANNA].events.len());
        let record = pair.devices[ANNA].journal.record(id).cloned();
        assert!(pair.command(ANNA, command.clone()).is_err(), "{command:?}");
        assert_eq!((pair.devices[ANNA].sent.len(), pair.devices[ANNA].events.len()), (sent, told));
        assert_eq!(pair.devices[ANNA].journal.record(id).cloned(), record);
    }
}

#[test]
fn what_is_said_is_told_once_and_lost_with_the_link() {
    let (mut pair, id) = Pair::playing();
    let say = |saying| Command::Say { id, saying };
    pair.command(ANNA, say(Saying::Phrase(Phrase::GoodMove))).expect("the link is up");
    pair.command(BERT, say(Saying::Text("谢谢！".into()))).expect("the link is up");
    pair.run();
    let heard = |pair: &Pair, device: usize| -> Vec<Saying> {
        let events = pair.devices[device].events.iter();
        let said = |event: &Event| match event {
            Event::Said { id: of, saying } if *of == id => Some(saying.clone()),
            _ => None,
        };
        events.filter_map(said).collect()
    };
    assert_eq!(heard(&pair, BERT), [Saying::Phrase(Phrase::GoodMove)]);
    assert_eq!(heard(&pair, ANNA), [Saying::Text("谢谢！".into())]);

    pair.devices.iter_mut().for_each(|device| device.events.clear());
    pair.lose_links();
    assert_eq!(pair.command(ANNA, say(Saying::Text("?".into()))), Err(Refused::Away));
    pair.heal();
    assert_eq!((heard(&pair, ANNA), heard(&pair, BERT)), (Vec::new(), Vec::new()), "not again");
}

#[test]
fn nothing_unsayable_is_said_and_nobody_talks_without_end() {
    let (mut pair, id) = Pair::playing();
    for saying in [
        Saying::Phrase(Phrase::Unspecified),
        Saying::Text(String::new()),
        Saying::Text("two\nlines".into()),
        Saying::Text("x".repeat(201)),
    ] {
        assert_eq!(pair.command(ANNA, Command::Say { id, saying }), Err(Refused::Unsayable));
    }
    let other = Command::Say { id: MatchId([99; 16]), saying: Saying::Phrase(Phrase::Hello) };
    assert_eq!(pair.command(ANNA, other), Err(Refused::NoSuchMatch));
    let hello = || Command::Say { id, saying: Saying::Phrase(Phrase::Hello) };
    let said = (0..20).take_while(|_| pair.command(ANNA, hello()).is_ok()).count();
    assert_eq!((said, pair.command(ANNA, hello())), (8, Err(Refused::TooFast)));
    pair.run();
    // Messages beyond the rate limit are dropped.
    for _ in 0..20 {
        let what = Some(peer::say::What::Phrase(Phrase::Hello.into()));
        pair.input(BERT, Input::Received(peer::Say { match_id: id.0.to_vec().into(), what }.into()));
    }
    let heard = pair.devices[BERT].events.iter().filter(|event| matches!(event, Event::Said { .. })).count();
    assert_eq!(heard, 8);
}

#[test]
fn a_kept_match_is_shown_to_the_peer_whole_and_what_is_no_match_is_not_heard() {
    let (mut pair, _) = Pair::playing();
    let mut kept = MatchRecord::new(MatchId([77; 16]), small(), Side::Second);
    kept.actions = vec![place(2, 2), place(0, 0)];
    kept.result = Some(MatchResult::Resigned(Side::First));
    let given = |pair: &Pair, device: usize| -> Vec<MatchRecord> {
        let events = pair.devices[device].events.iter();
        events
            .filter_map(|event| if let Event::Gift(record) = event { Some((**record).clone()) } else { None })
            .collect()
    };
    pair.command(ANNA, Command::Give(Box::new(kept.clone()))).expect("the link is up");
    pair.run();
    let seen = given(&pair, BERT);
    assert_eq!(seen.len(), 1);
    assert!(seen[0].agrees_with(&kept), "the same, seen from the other side");
    assert!(pair.devices[BERT].journal.record(kept.id).is_none(), "nothing is saved");
    assert!(given(&pair, ANNA).is_empty());

    // An illegal record, an empty one, and too many.
    let illegal = MatchRecord { actions: vec![place(0, 0), place(0, 0)], ..kept.clone() };
    pair.command(ANNA, Command::Give(Box::new(illegal))).expect("the sender does not look into it");
    pair.run();
    pair.input(BERT, Input::Received(peer::Gift { record: None }.into()));
    assert_eq!(given(&pair, BERT).len(), 1);
    let long =
        MatchRecord { actions: vec![engine::Action::Pass; proto::limits::RECORD_BYTES + 1], ..kept.clone() };
    assert_eq!(pair.command(ANNA, Command::Give(Box::new(long))), Err(Refused::RecordFull));
    let give = || Command::Give(Box::new(kept.clone()));
    let more = (0..20).take_while(|_| pair.command(ANNA, give()).is_ok()).count();
    assert_eq!((more, pair.command(ANNA, give())), (6, Err(Refused::TooFast)), "eight with those above");
    pair.lose_links();
    assert_eq!(pair.command(ANNA, Command::Give(Box::new(kept))), Err(Refused::Away));
}

#[test]
fn of_a_club_evening_that_changes_fast_a_friend_is_told_the_last_state_at_a_bounded_rate() {
    let (mut pair, _) = Pair::playing();
    let mut club = Club::empty("club".into(), small(), None, false);
    club.add("Bert", PlayerKind::Friend([7; 32])).expect("there is room");
    let heard = |pair: &Pair| -> Vec<(u32, Option<usize>)> {
        let events = pair.devices[BERT].events.iter();
        let one = |event: &Event| match event {
            Event::Club { number, told } => {
                Some((*number, told.as_ref().map(|told| told.club.players().len())))
            }
            _ => None,
        };
        events.filter_map(one).collect()
    };
    let tell = |pair: &mut Pair, message| pair.command(ANNA, Command::TellClub(Box::new(message)));
    for name in 'a'..='j' {
        club.add(&name.to_string(), PlayerKind::Nobody).expect("there is room");
        let message = club::message(4, &club, &[7; 32]).expect("Bert is on the list");
        tell(&mut pair, message).expect("the link is up");
    }
    tell(&mut pair, club::gone(3)).expect("the link is up");
    pair.run();
    assert_eq!(heard(&pair), [(4, Some(2))], "the first state at once");
    pair.wait(Duration::from_secs(6));
    assert_eq!(heard(&pair), [(4, Some(2)), (4, Some(11)), (3, None)]);
    pair.wait(Duration::from_secs(20));
    assert_eq!(heard(&pair).len(), 3, "once");
    // A peer that keeps no rate is not heard beyond it, and nothing of a lost link is sent on the next one.
    for number in 0..50 {
        pair.input(BERT, Input::Received(club::gone(number).into()));
    }
    assert_eq!(heard(&pair).len(), 3 + 8);
    let before = heard(&pair).len();
    for number in 50..53 {
        tell(&mut pair, club::gone(number)).expect("the link is up");
    }
    pair.lose_links();
    assert_eq!(tell(&mut pair, club::gone(60)), Err(Refused::Away));
    pair.connect();
    pair.wait(Duration::from_secs(20));
    assert_eq!(heard(&pair).len(), before, "{:?}", heard(&pair));
}

#[test]
fn a_long_message_on_its_way_is_no_silence() {
    let (mut pair, _) = Pair::playing();
    // Bert's device receives the beginning of a long message, and nothing else.
    for _ in 0..15 {
        pair.wait_without_delivery(Duration::from_secs(2));
        pair.input(BERT, Input::Underway);
        pair.input(BERT, Input::Tick);
    }
    assert_eq!(pair.closed(BERT), None);
    pair.wait_without_delivery(Duration::from_secs(9));
    pair.input(BERT, Input::Tick);
    assert_eq!(pair.closed(BERT), Some(ByeReason::ByeSilent), "then it is one");
}
