//! Clocks of two devices that share no time.

mod pair;

use std::time::Duration;

use engine::go::GoSetup;
use engine::{Action, Setup, Side};
use pair::{ANNA, BERT, Pair, place, small};
use proto::peer::Envelope;
use session::{
    Colours, Command, Error, Event, Input, MatchId, MatchResult, OfferKind, Pace, Refused, Terms, Violation,
};

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const MINUTE: Pace = Pace::SuddenDeath { main: s(60) };

fn playing(setup: Setup, pace: Pace) -> (Pair, MatchId) {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let terms = Terms { setup, pace: Some(pace), colours: Colours::Mine(Side::First), hints: false };
    let id = pair.begin_with(ANNA, terms);
    (pair, id)
}

/// Both clocks as shown on both devices: milliseconds, first and second side.
fn left(pair: &Pair, id: MatchId) -> [[u128; 2]; 2] {
    pair.devices.each_ref().map(|device| {
        Side::BOTH.map(|side| device.state(id).clock(side, pair.now).expect("a pace").left.as_millis())
    })
}

fn told_of_a_difference(pair: &mut Pair, device: usize) -> bool {
    pair.devices[device].told().iter().any(|event| matches!(event, Event::ClocksDiffer { .. }))
}

#[test]
fn thinking_costs_who_thinks_and_both_see_the_same() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(10));
    assert_eq!(left(&pair, id), [[50_000, 60_000]; 2]);
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.run();
    pair.wait(s(7));
    assert_eq!(left(&pair, id), [[50_000, 53_000]; 2]);
    pair.act(BERT, id, place(1, 0)).expect("his turn");
    pair.run();
    assert_eq!(pair.devices[ANNA].state(id).record().times, [10_000, 7_000]);
    assert!(!told_of_a_difference(&mut pair, ANNA) && !told_of_a_difference(&mut pair, BERT));
    pair.conclude();
}

#[test]
fn what_a_message_takes_on_its_way_costs_nobody_anything() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    // One second each way, and Bert answers at once.
    pair.wait_without_delivery(s(1));
    pair.deliver(BERT);
    assert_eq!(left(&pair, id)[BERT], [60_000, 60_000]);
    pair.act(BERT, id, place(1, 0)).expect("his turn");
    pair.wait_without_delivery(s(1));
    pair.run();
    assert_eq!(left(&pair, id), [[60_000, 60_000]; 2]);
    assert!(!told_of_a_difference(&mut pair, ANNA));
    pair.conclude();
}

#[test]
fn a_flag_falls_on_the_device_whose_time_is_over_and_ends_the_match_on_both() {
    for pace in [MINUTE, Pace::ByoYomi { main: s(20), period: s(10), periods: 4 }] {
        let (mut pair, id) = playing(small(), pace);
        pair.wait(s(59));
        assert!(pair.devices[ANNA].state(id).record().result.is_none());
        pair.wait(s(2));
        for device in [ANNA, BERT] {
            let state = pair.devices[device].state(id);
            assert_eq!(state.record().result, Some(MatchResult::TimedOut(Side::First)));
            assert_eq!(state.clock(Side::First, pair.now).map(|clock| clock.left), Some(s(0)));
        }
        assert_eq!(pair.act(ANNA, id, place(0, 0)), Err(Refused::WrongPhase));
        pair.conclude();
    }
}

#[test]
fn a_flag_that_falls_while_the_last_words_are_lost_is_told_on_the_next_link() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(58));
    pair.cut_at = Some((pair.messages, pair::Cut::ReceiverNotices));
    pair.wait(s(1));
    pair.input(ANNA, Input::Tick);
    pair.wait_without_delivery(s(2));
    pair.input(ANNA, Input::Tick);
    assert!(pair.cut_at.is_none(), "the link was cut");
    let result = |pair: &Pair, device: usize| pair.devices[device].state(id).record().result;
    let fallen = Some(MatchResult::TimedOut(Side::First));
    assert_eq!([ANNA, BERT].map(|device| result(&pair, device)), [fallen, None], "her flag, untold");
    pair.lose_links();
    pair.connect();
    pair.run();
    pair.check_level(id);
    assert_eq!([ANNA, BERT].map(|device| result(&pair, device)), [fallen; 2]);
    pair.conclude();
}

#[test]
fn clocks_stand_from_the_moment_in_which_a_drop_is_noticed() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(10));
    pair.lose_links();
    pair.wait(s(3_600));
    assert_eq!(left(&pair, id), [[50_000, 60_000]; 2]);
    pair.connect();
    pair.run();
    pair.wait(s(5));
    assert_eq!(left(&pair, id), [[45_000, 60_000]; 2]);
    // A move made while the peer is away is recorded with its time before the drop.
    pair.lose_links();
    pair.wait(s(100));
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.connect();
    pair.run();
    assert_eq!(left(&pair, id), [[45_000, 60_000]; 2]);
    assert!(!told_of_a_difference(&mut pair, BERT));
    pair.conclude();
}

#[test]
fn who_notices_a_drop_later_follows_the_word_of_whose_turn_it_is() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(2));
    pair.lose_link(ANNA);
    pair.devices[ANNA].told();
    pair.wait_without_delivery(s(8));
    assert_eq!(left(&pair, id), [[58_000, 60_000], [50_000, 60_000]]);
    pair.lose_link(BERT);
    pair.connect();
    pair.run();
    assert_eq!(left(&pair, id), [[58_000, 60_000]; 2]);
    assert!(!told_of_a_difference(&mut pair, BERT), "a late notice explains it");
    pair.conclude();
}

#[test]
fn a_restart_keeps_what_was_written_and_the_other_is_told_of_what_was_not() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(10));
    pair.lose_links();
    pair.restart(ANNA);
    pair.connect();
    pair.run();
    assert_eq!(left(&pair, id), [[50_000, 60_000]; 2]);
    // Killed while Anna is thinking: her device has nothing after the last stop.
    pair.wait(s(30));
    pair.restart(ANNA);
    pair.devices[BERT].told();
    pair.lose_links();
    pair.connect();
    pair.run();
    assert_eq!(left(&pair, id), [[50_000, 60_000]; 2]);
    assert!(told_of_a_difference(&mut pair, BERT), "he has seen her think for longer");
    pair.conclude();
}

/// Anna's move in flight to Bert, with another time.
fn her_move(pair: &Pair, thought_ms: u32) -> proto::peer::Play {
    let sent = pair.devices[ANNA].sent.iter().rev();
    let mut plays = sent.filter_map(|envelope| match envelope {
        Envelope::Play(play) => Some(play.clone()),
        _ => None,
    });
    proto::peer::Play { thought_ms, ..plays.next().expect("she has moved") }
}

#[test]
fn a_peer_that_says_it_thought_less_than_it_did_is_told_of_and_one_beyond_its_time_refused() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(20));
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    let lie = her_move(&pair, 1_000);
    pair.devices[BERT].inbox.clear();
    pair.devices[BERT].told();
    pair.input(BERT, Input::Received(lie.into()));
    assert!(told_of_a_difference(&mut pair, BERT));
    assert_eq!(left(&pair, id)[BERT], [59_000, 60_000], "her word counts");

    let (mut pair, id) = playing(small(), MINUTE);
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    let lie = her_move(&pair, 60_000);
    let bad = Err(Error::Violation(Violation::BadPlay { ply: 1 }));
    assert_eq!(pair.try_input(BERT, Input::Received(lie.into())), bad);
}

#[test]
fn a_peer_whose_flag_should_have_fallen_long_ago_is_told_of_once() {
    let (mut pair, id) = playing(small(), MINUTE);
    // Anna's device answers, but reports no clock.
    for _ in 0..40 {
        pair.wait_without_delivery(s(2));
        pair.input(BERT, Input::Tick);
        let ping = proto::peer::Ping { token: 1 };
        pair.input(BERT, Input::Received(ping.into()));
    }
    let told = pair.devices[BERT].told();
    let doubts = told.iter().filter(|event| matches!(event, Event::ClocksDiffer { .. })).count();
    assert_eq!(doubts, 1);
    assert!(pair.devices[BERT].state(id).record().result.is_none(), "she decides about her time");
}

#[test]
fn a_take_back_gives_back_the_time_of_what_was_taken_back() {
    let (mut pair, id) = playing(small(), MINUTE);
    pair.wait(s(10));
    pair.act(ANNA, id, place(0, 0)).expect("her turn");
    pair.run();
    pair.wait(s(10));
    pair.offer(ANNA, id, OfferKind::TakeBack).expect("she has moved");
    pair.run();
    pair.answer(BERT, id, true).expect("asked");
    pair.run();
    assert_eq!(left(&pair, id), [[60_000, 60_000]; 2]);
    pair.conclude();
}

#[test]
fn agreeing_on_dead_stones_costs_no_time() {
    let go = Setup::Go(GoSetup { size: 3, ..GoSetup::default() });
    let (mut pair, id) = playing(go, MINUTE);
    pair.act(ANNA, id, Action::Pass).expect("her turn");
    pair.run();
    pair.act(BERT, id, Action::Pass).expect("his turn");
    pair.run();
    pair.wait(s(600));
    assert_eq!(left(&pair, id), [[60_000, 60_000]; 2]);
    let turn = usize::from(!pair.devices[ANNA].state(id).can_act());
    pair.act(turn, id, Action::Resume).expect("back to the board");
    pair.run();
    pair.wait(s(5));
    let [[first, second], same] = left(&pair, id);
    assert_eq!(first + second, 115_000, "somebody thinks again");
    assert_eq!(same, [first, second]);
    pair.conclude();
}

#[test]
fn a_clock_that_comes_to_another_period_is_told() {
    let (mut pair, id) = playing(small(), Pace::ByoYomi { main: s(20), period: s(10), periods: 3 });
    for device in [ANNA, BERT] {
        pair.devices[device].told();
    }
    pair.wait(s(21));
    for device in [ANNA, BERT] {
        assert!(pair.devices[device].told().contains(&Event::MatchChanged(id)));
        let clock = pair.devices[device].state(id).clock(Side::First, pair.now).expect("a pace");
        assert_eq!((clock.left, clock.byo_yomi, clock.periods, clock.running), (s(9), true, 3, true));
    }
    pair.conclude();
}

#[test]
fn an_invitation_with_an_impossible_pace_is_declined() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let invite = proto::peer::Invite {
        invite_id: bytes::Bytes::from_static(&[3; 16]),
        setup: Some(session::wire::setup(&small())),
        pace: Some(proto::board::Pace { kind: 4, main_s: 1, step_s: 0, periods: 9 }),
        ..proto::peer::Invite::default()
    };
    pair.input(BERT, Input::Received(invite.into()));
    assert_eq!(pair.invited(BERT), None);
    assert!(matches!(pair.devices[BERT].sent.last(), Some(Envelope::InviteAnswer(_))));
    assert_eq!(pair.command(BERT, Command::Withdraw(MatchId([3; 16]))), Err(Refused::NoSuchInvitation));
}
