//! A race of Lights Out between two: both draw the same board, each presses alone, and neither can win by a claim.

mod pair;

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use engine::lights_out::{Lights, LightsOutSetup, Neighbours, Start};
use engine::{Action, GameKind, Outcome, Point, Reason, Setup, Side};
use pair::{ANNA, BERT, Pair, choices, place, small_race, solution};
use proto::peer::{self, Envelope};
use session::{
    Colours, Command, Error, Event, Input, MatchId, MatchResult, OfferKind, Race, Refused, Terms, Violation,
    asked_by_letter, wire,
};

const SECOND: Duration = Duration::from_secs(1);

fn terms(setup: Setup) -> Terms {
    Terms { setup, pace: None, colours: Colours::Random, hints: false }
}

/// A race on a board of 3 x 3 that takes three presses, and its first and second device.
fn racing() -> (Pair, MatchId, [usize; 2]) {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let mut presses = Lights::new(3, 3).expect("3 x 3");
    for (column, row) in [(0, 0), (1, 1), (2, 2)] {
        presses.toggle(Point::new(column, row));
    }
    let start = Start::Board(Lights::toggled_by(&presses, Neighbours::default()));
    let setup = Setup::LightsOut(LightsOutSetup { start, ..LightsOutSetup::default() });
    let id = pair.begin_with(ANNA, terms(setup));
    let first = usize::from(pair.devices[ANNA].state(id).record().my_side == Side::Second);
    (pair, id, [first, 1 - first])
}

fn race(pair: &Pair, device: usize, id: MatchId) -> Race {
    pair.devices[device].state(id).race(pair.now).expect("it is a race")
}

fn finish(pair: &mut Pair, device: usize, id: MatchId) {
    while pair.devices[device].state(id).can_act() {
        let press = choices(pair.devices[device].state(id), pair.now)[0];
        pair.act(device, id, press).expect("it goes on");
    }
}

fn result(pair: &Pair, device: usize, id: MatchId) -> Option<MatchResult> {
    pair.devices[device].state(id).record().result
}

fn won(side: Side, reason: Reason) -> MatchResult {
    MatchResult::Played(Outcome { winner: Some(side), reason })
}

fn doubts(pair: &mut Pair, device: usize) -> usize {
    pair.devices[device].told().iter().filter(|event| matches!(event, Event::ClocksDiffer { .. })).count()
}

#[test]
fn both_draw_the_board_and_whoever_invites_cannot_choose_it() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let mut seeds = BTreeSet::new();
    for (device, seed) in [(ANNA, 1), (BERT, 1), (ANNA, 99)] {
        let start = Start::Random { columns: 5, rows: 4, seed };
        let id = pair.begin_with(
            device,
            Terms {
                setup: Setup::LightsOut(LightsOutSetup { start, ..LightsOutSetup::default() }),
                pace: None,
                colours: Colours::Mine(Side::First),
                hints: true,
            },
        );
        let Setup::LightsOut(setup) = &pair.devices[BERT].state(id).record().setup else { panic!() };
        let Start::Random { columns: 5, rows: 4, seed: drawn } = setup.start else {
            panic!("the size is as agreed")
        };
        assert!(setup.race && drawn > 99);
        seeds.insert(drawn);
        assert_eq!(
            race(&pair, ANNA, id).board.position(),
            race(&pair, BERT, id).board.position(),
            "both have the same lights"
        );
    }
    assert_eq!(seeds.len(), 3, "each race has a board of its own");
    pair.conclude();
}

#[test]
fn an_invitation_that_chooses_the_board_or_the_side_is_declined() {
    let right = terms(small_race()).for_two();
    let mut seeded = right.setup.clone();
    let Setup::LightsOut(LightsOutSetup { start: Start::Random { seed, .. }, .. }) = &mut seeded else {
        panic!()
    };
    *seed = 5;
    let Setup::LightsOut(race) = &right.setup else { panic!() };
    let pace = proto::board::Pace { kind: 2, main_s: 60, step_s: 0, periods: 0 };
    for (setup, colours, pace) in [
        (seeded, peer::Colours::Random, None),
        (right.setup.clone(), peer::Colours::InviterFirst, None),
        (right.setup.clone(), peer::Colours::Random, Some(pace)),
        (Setup::LightsOut(race.alone()), peer::Colours::Random, None),
    ] {
        let mut pair = Pair::friends();
        pair.connect();
        pair.run();
        let invite = peer::Invite {
            invite_id: Bytes::from(vec![9; 16]),
            setup: Some(wire::setup(&setup)),
            colours: colours.into(),
            pace,
            commitment: Bytes::from(vec![9; 32]),
            ..peer::Invite::default()
        };
        pair.input(BERT, Input::Received(invite.into()));
        assert!(!pair.devices[BERT].told().iter().any(|event| matches!(event, Event::Invited { .. })));
        let declined = peer::invite_answer::Answer::Decline(peer::DeclineReason::DeclineUnknownGame.into());
        assert!(matches!(
            pair.devices[BERT].sent.last(),
            Some(Envelope::InviteAnswer(answer)) if answer.answer == Some(declined)
        ));
    }
}

#[test]
fn a_board_for_one_is_no_match_for_two_in_a_record_or_a_letter_either() {
    let Setup::LightsOut(race) = small_race() else { panic!() };
    let record = peer::Record {
        match_id: Bytes::from(vec![9; 16]),
        setup: Some(wire::setup(&Setup::LightsOut(race.alone()))),
        sender_side: wire::side(Side::First).into(),
        ..peer::Record::default()
    };
    let mut pair = Pair::friends();
    assert_eq!(asked_by_letter(&record), None);
    let accepted = pair.command(BERT, Command::AcceptLetter(Box::new(record.clone())));
    assert_eq!(accepted, Err(Refused::NoSuchInvitation));
    pair.connect();
    pair.run();
    pair.input(BERT, Input::Received(record.into()));
    assert_eq!(pair.invited(BERT), None);
    let declined = peer::invite_answer::Answer::Decline(peer::DeclineReason::DeclineUnknownGame.into());
    assert!(matches!(
        pair.devices[BERT].sent.last(),
        Some(Envelope::InviteAnswer(answer)) if answer.answer == Some(declined)
    ));
    assert!(pair.devices[BERT].journal.matches.is_empty());
}

#[test]
fn the_faster_wins_and_both_runs_are_in_the_record() {
    for quicker in [Side::First, Side::Second] {
        let (mut pair, id, devices) = racing();
        let (quick, slow) = (devices[quicker.index()], devices[quicker.other().index()]);
        pair.wait(2 * SECOND);
        let press = choices(pair.devices[slow].state(id), pair.now)[0];
        pair.act(slow, id, press).expect("its own board");
        pair.wait(SECOND);
        let seen = race(&pair, quick, id);
        assert_eq!((seen.presses, seen.their_presses, seen.run, seen.their_run), (0, 1, None, None));
        assert_eq!(seen.elapsed, 3 * SECOND);
        assert!(
            pair.devices[quick].state(id).record().actions.is_empty(),
            "what it pressed is its own affair"
        );
        finish(&mut pair, quick, id);
        pair.run();
        let run = race(&pair, slow, id).their_run.expect("it is shown");
        assert_eq!((run.tenths, run.finished), (30, true));
        assert_eq!(result(&pair, slow, id), None, "there may be time yet");
        assert!(pair.devices[slow].state(id).can_act() && !pair.devices[quick].state(id).can_act());
        // The slower side finishes too, within the same tenth of a second; or it is stopped and does not finish.
        pair.wait(SECOND);
        for device in devices {
            assert_eq!(result(&pair, device, id), Some(won(quicker, Reason::Faster)));
            let seen = race(&pair, device, id);
            assert!(!seen.running && seen.run.is_some() && seen.their_run.is_some());
        }
        let stopped = race(&pair, slow, id).run.expect("it is over");
        assert_eq!((stopped.finished, stopped.presses, stopped.tenths), (false, 1, 31));
        pair.check_level(id);
        pair.conclude();
    }
}

#[test]
fn in_the_same_tenth_of_a_second_fewer_presses_win() {
    let (mut pair, id, [first, second]) = racing();
    pair.wait(SECOND);
    let detour = choices(pair.devices[first].state(id), pair.now)[0];
    for press in [detour, detour] {
        pair.act(first, id, press).expect("its own board");
    }
    finish(&mut pair, first, id);
    finish(&mut pair, second, id);
    pair.run();
    assert_eq!(result(&pair, first, id), Some(won(Side::Second, Reason::FewerPresses)));
    pair.conclude();
}

#[test]
fn to_say_that_one_is_done_is_not_to_be_done() {
    let (mut pair, id, [first, second]) = racing();
    let match_id = Bytes::copy_from_slice(&id.0);
    pair.wait(SECOND);
    let progress = peer::Progress { match_id, presses: 3, lit: 0, elapsed_ms: 10, revision: 0 };
    pair.input(first, Input::Received(progress.into()));
    pair.wait(20 * SECOND);
    assert!(pair.devices[first].state(id).can_act(), "only a run that puts out the lights can be beaten by");
    finish(&mut pair, second, id);
    pair.run();
    pair.wait(SECOND);
    assert_eq!(result(&pair, first, id), Some(won(Side::Second, Reason::Faster)));
}

#[test]
fn runs_that_the_rules_do_not_allow_are_violations_and_change_nothing() {
    // Forged runs of the second side to the first, and of the first to the second.
    for (victim, spoil) in (0..2).flat_map(|victim| (0..7).map(move |spoil| (victim, spoil))) {
        let (mut pair, id, devices) = racing();
        pair.wait(SECOND);
        let record = pair.devices[devices[victim]].state(id).record().clone();
        let mut actions = solution(pair.devices[ANNA].state(id));
        actions.push(Action::Done(9));
        let mut ply = actions.len() as u32;
        let twice = actions.clone();
        match spoil {
            0 => drop(actions.remove(0)),
            1 => drop(actions.pop()),
            2 => actions.extend(twice),
            3 => actions.insert(0, place(0, 0)),
            4 => actions.insert(0, Action::Press(Point::new(3, 0))),
            5 => ply += 1,
            _ => {}
        }
        let mut longer = record.clone();
        longer.actions.extend(&actions);
        let (match_id, actions) = (Bytes::copy_from_slice(&id.0), wire::pack_actions(&actions).into());
        let digest = if spoil == 6 { 5 } else { longer.digest() };
        // The first side has no early run to show: it has the turn from the beginning.
        let ply = if victim == 0 && spoil < 5 { 0 } else { ply };
        let run = peer::Run { match_id, ply, actions, digest, revision: 0 };
        // These forgeries look like a gap: the receiver asks for the missing part.
        let honest_gap = spoil == 5 || spoil < 2 && victim == 1;
        let done = pair.try_input(devices[victim], Input::Received(run.into()));
        if honest_gap {
            assert_eq!(done, Ok(()), "{victim} {spoil}");
            let asks = pair.devices[devices[victim]].sent.last();
            assert!(matches!(asks, Some(Envelope::Ack(ack)) if ack.wants_rest), "{victim} {spoil} {asks:?}");
        } else {
            assert!(
                matches!(done, Err(Error::Violation(Violation::BadPlay { .. }))),
                "{victim} {spoil} {done:?}"
            );
        }
        assert_eq!(pair.devices[devices[victim]].state(id).record().actions, record.actions);
        assert_eq!(pair.devices[devices[victim]].state(id).record().result, None);
    }
}

#[test]
fn single_actions_and_half_runs_do_not_enter_a_race() {
    let (mut pair, id, [first, second]) = racing();
    let actions = solution(pair.devices[ANNA].state(id));
    let mut record = pair.devices[first].state(id).record().clone();
    record.actions = actions[..1].to_vec();
    let match_id = Bytes::copy_from_slice(&id.0);
    let play = peer::Play {
        match_id: match_id.clone(),
        ply: 1,
        action: Some(wire::action(actions[0])),
        digest: record.digest(),
        ..peer::Play::default()
    };
    let half = peer::Record {
        match_id,
        setup: Some(wire::setup(&record.setup)),
        sender_side: 1,
        actions: wire::pack_actions(&record.actions).into(),
        ..peer::Record::default()
    };
    for word in [Envelope::from(play), half.into()] {
        let done = pair.try_input(second, Input::Received(word));
        assert!(matches!(done, Err(Error::Violation(_))), "{done:?}");
        assert!(pair.devices[second].state(id).record().actions.is_empty());
        pair.heal();
    }
}

#[test]
fn while_the_other_is_away_or_a_pause_is_agreed_time_stands_and_nothing_is_pressed() {
    let (mut pair, id, [first, second]) = racing();
    pair.wait(2 * SECOND);
    let press = choices(pair.devices[first].state(id), pair.now)[0];
    pair.lose_links();
    assert_eq!(pair.command(first, Command::Act { id, action: press }), Err(Refused::Away));
    pair.wait(60 * SECOND);
    assert_eq!((race(&pair, first, id).elapsed, race(&pair, first, id).running), (2 * SECOND, false));
    pair.connect();
    pair.run();
    pair.wait(SECOND);
    pair.offer(second, id, OfferKind::Pause).expect("it goes on");
    pair.run();
    pair.answer(first, id, true).expect("asked");
    pair.run();
    assert_eq!(pair.command(first, Command::Act { id, action: press }), Err(Refused::Paused));
    pair.wait(60 * SECOND);
    for device in [first, second] {
        assert_eq!(race(&pair, device, id).elapsed, 3 * SECOND);
        assert!(!pair.devices[device].state(id).can_offer(OfferKind::TakeBack), "a press undoes itself");
    }
    pair.conclude();
}

#[test]
fn presses_outlive_a_kill_and_the_clock_begins_where_it_was_written() {
    let (mut pair, id, [first, second]) = racing();
    for device in [first, second] {
        pair.wait(SECOND);
        let press = choices(pair.devices[device].state(id), pair.now)[0];
        pair.act(device, id, press).expect("its own board");
    }
    let before = [first, second].map(|device| race(&pair, device, id).board.position());
    pair.restart(first);
    pair.restart(second);
    pair.wait(30 * SECOND);
    pair.connect();
    pair.run();
    assert_eq!([first, second].map(|device| race(&pair, device, id).board.position()), before);
    assert_eq!(race(&pair, first, id).elapsed, SECOND, "since the press that was written");
    assert_eq!(race(&pair, second, id).elapsed, 2 * SECOND);
    assert_eq!(race(&pair, second, id).their_presses, 1, "told again on the new link");
    pair.conclude();
}

#[test]
fn a_time_that_cannot_be_is_told_to_its_victim_once() {
    let (mut pair, id, [first, second]) = racing();
    pair.wait(20 * SECOND);
    let mut actions = solution(pair.devices[ANNA].state(id));
    actions.push(Action::Done(10));
    let mut longer = pair.devices[first].state(id).record().clone();
    longer.actions.extend(&actions);
    let run = |ply| {
        let (match_id, actions) = (Bytes::copy_from_slice(&id.0), wire::pack_actions(&actions).into());
        peer::Run { match_id, ply, actions, digest: longer.digest(), revision: 0 }
    };
    pair.input(second, Input::Received(run(longer.actions.len() as u32).into()));
    assert_eq!(doubts(&mut pair, second), 1, "20 s were seen");
    let (mut pair, id_again, [first, _]) = racing();
    assert_eq!(id, id_again);
    pair.wait(20 * SECOND);
    pair.input(first, Input::Received(run(0).into()));
    pair.input(first, Input::Received(run(0).into()));
    assert_eq!(doubts(&mut pair, first), 1);
    // An honest run raises no doubt.
    let (mut pair, id, devices) = racing();
    pair.wait(20 * SECOND);
    finish(&mut pair, devices[1], id);
    pair.wait(SECOND);
    assert_eq!((doubts(&mut pair, ANNA), doubts(&mut pair, BERT)), (0, 0));
}

#[test]
fn a_rematch_is_another_race_on_another_board() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let id = pair.begin_with(ANNA, terms(GameKind::LightsOut.default_setup()));
    let (first, second) = match pair.devices[ANNA].state(id).record().my_side {
        Side::First => (ANNA, BERT),
        Side::Second => (BERT, ANNA),
    };
    finish(&mut pair, second, id);
    pair.run();
    pair.wait(SECOND);
    pair.offer(first, id, OfferKind::NewGame).expect("it is over");
    pair.run();
    pair.answer(second, id, true).expect("asked");
    pair.run();
    let ids: Vec<_> = pair.devices[ANNA].session.matches().map(session::MatchState::id).collect();
    let [_, next] = ids[..] else { panic!("one match more") };
    let record = pair.devices[first].state(next).record();
    assert_eq!(record.my_side, Side::Second);
    let before = &pair.devices[first].state(id).record().setup;
    assert!(record.setup != *before && record.setup.is_alike(before), "the same size, another board");
    pair.check_level(next);
    pair.conclude();
}

#[test]
fn after_the_end_both_runs_can_be_looked_at_together() {
    let (mut pair, id, [first, second]) = racing();
    finish(&mut pair, first, id);
    pair.run();
    pair.wait(SECOND);
    assert!(result(&pair, second, id).is_some());
    let try_press = vec![Action::Press(Point::new(0, 0))];
    pair.command(second, Command::Analyse { id, at: Some((1, try_press)) }).expect("it is over");
    pair.run();
    assert_eq!(pair.devices[first].state(id).analysis(), pair.devices[second].state(id).analysis());
    assert!(pair.devices[first].state(id).analysis().is_some());
}
