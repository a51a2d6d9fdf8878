use proto::control::{ComparisonGone, Friend, Invitation, LinkState, Nearby, Radio};

use super::*;

/// A machine, the state that its host tells, and a clock that is set by hand.
struct Desk {
    test: FieldTest,
    state: HostState,
    now: Instant,
    wall: SystemTime,
}

impl Desk {
    fn new(role: Role) -> Self {
        let (now, wall) = (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_hours(492_312));
        let mut desk = Self { test: FieldTest::new(role), state: HostState::default(), now, wall };
        desk.radio(RadioState::RadioReady);
        assert_eq!(desk.outputs(), [Output::Ask(request::Body::Diagnose(control::Diagnose {}))]);
        desk.test.reply(Ok(reply::Body::Diagnosis(Diagnosis::default())), now);
        desk
    }

    fn leads(steps: &[Interruption]) -> Self {
        let mut desk = Self::new(Role::Leads { who: "Ben".into(), steps: steps.to_vec() });
        assert_eq!(desk.outputs(), [Output::Say(Message::Beside)]);
        desk.test.confirm(desk.now);
        assert_eq!(desk.outputs(), [Output::Ask(request::Body::Scan(control::Scan { on: true }))]);
        desk
    }

    fn follows() -> Self {
        let mut desk = Self::new(Role::Follows);
        assert_eq!(desk.outputs(), [Output::Say(Message::Waiting)]);
        desk
    }

    fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.test.poll()).collect()
    }

    /// What the machine wants after this time has passed.
    fn after(&mut self, seconds: u64) -> Vec<Output> {
        self.now += Duration::from_secs(seconds);
        self.wall += Duration::from_secs(seconds);
        self.test.handle(None, &self.state, self.now, self.wall);
        self.outputs()
    }

    fn radio(&mut self, state: RadioState) {
        let carrier = Carrier::Bluetooth.into();
        self.state.radios.insert(carrier, Radio { carrier, state: state.into(), ..Radio::default() });
    }

    fn ben_is_near(&mut self) {
        let ben = Nearby { id: "tag".into(), name: "Ben".into(), ..Nearby::default() };
        self.state.nearby.insert("tag".into(), ben);
    }

    fn ben_is_a_friend(&mut self) {
        let ben =
            Friend { id: "key".into(), name: "Ben".into(), connected: true, near: true, ..Friend::default() };
        self.state.friends.insert("key".into(), ben);
    }

    fn room(&mut self) -> &mut Room {
        self.state.rooms.entry("match".into()).or_default()
    }

    fn link(&mut self, state: PeerLink) {
        let link = self.room().link.get_or_insert_with(LinkState::default);
        link.state = state.into();
    }

    /// The match has begun, and this side is to move.
    fn in_a_match(steps: &[Interruption]) -> Self {
        let mut desk = Self::leads(steps);
        desk.ben_is_a_friend();
        desk.after(1);
        desk.test.reply(Ok(reply::Body::InviteId("match".into())), desk.now);
        desk.link(PeerLink::Up);
        desk.room().can_act = true;
        let begun = desk.after(1);
        assert_eq!(begun[0], Output::Say(Message::Playing));
        assert!(matches!(begun[1], Output::Ask(request::Body::Act(_))), "{begun:?}");
        desk
    }

    /// The move was acknowledged after so many milliseconds, and the other side has answered it.
    fn acknowledged(&mut self, milliseconds: u32) -> Vec<Output> {
        let room = self.room();
        let ply = room.record.len() as u32 + 1;
        room.record.extend(["x".to_owned(), "y".to_owned()]);
        let link = room.link.as_mut().expect("a link");
        (link.seen_action_ply, link.seen_after_us) = (ply, milliseconds * 1_000);
        self.after(0)
    }

    /// Up to the first interruption.
    fn in_an_interruption(what: Interruption) -> Self {
        let mut desk = Self::in_a_match(&[what]);
        for _ in 0..ECHOES {
            desk.acknowledged(50);
        }
        let said = desk.acknowledged(50);
        assert_eq!(
            said,
            [
                Output::Say(Message::Echo(Some(Duration::from_millis(50)))),
                Output::Say(Message::Interrupt(what))
            ]
        );
        desk
    }
}

fn ends(outputs: &[Output]) -> Option<Result<(), Trouble>> {
    outputs.iter().find_map(|output| match output {
        Output::Ended(ended) => Some(ended.clone()),
        _ => None,
    })
}

#[test]
fn the_device_that_leads_finds_connects_compares_and_invites() {
    let mut desk = Desk::leads(&[]);
    assert_eq!(desk.after(2), []);
    desk.ben_is_near();
    let found = desk.after(1);
    assert_eq!(found[0], Output::Say(Message::Found(Duration::from_secs(3))));
    assert_eq!(found[1], Output::Ask(request::Body::Meet(control::Meet { peer: "tag".into() })));
    let comparison = Comparison { peer: "key".into(), name: "Ben".into(), ..Comparison::default() };
    desk.state.comparisons.push(comparison.clone());
    let connected = desk.after(4);
    assert_eq!(connected[0], Output::Ask(request::Body::Scan(control::Scan { on: false })));
    assert_eq!(connected[1], Output::Say(Message::Connected(Duration::from_secs(4))));
    assert_eq!(connected[2], Output::Say(Message::Compare(comparison)));
    assert_eq!(desk.after(1), [], "it is said once");
    desk.test.compare("key".into(), true);
    assert!(matches!(desk.outputs()[..], [Output::Ask(request::Body::Compare(_))]));
    desk.state.comparisons.clear();
    desk.ben_is_a_friend();
    let [Output::Ask(request::Body::Invite(invite))] = &desk.after(1)[..] else {
        panic!("the friend is invited")
    };
    assert_eq!(invite.peer, "key");
    let measures = desk.test.measures();
    assert_eq!(measures.found, Some(Duration::from_secs(3)));
    assert_eq!(measures.connected, Some(Duration::from_secs(4)));
}

#[test]
fn each_stage_that_lasts_too_long_ends_the_test_with_its_own_reason() {
    let mut nobody = Desk::leads(&[]);
    assert_eq!(ends(&nobody.after(89)), None);
    assert_eq!(ends(&nobody.after(1)), Some(Err(Trouble::NotFound)));
    assert_eq!(nobody.test.measures().troubles, ["the other device was not found"]);

    let mut deaf = Desk::leads(&[]);
    deaf.ben_is_near();
    deaf.after(1);
    assert_eq!(ends(&deaf.after(90)), Some(Err(Trouble::NotConnected)));

    let mut slow = Desk::leads(&[]);
    slow.ben_is_near();
    slow.after(1);
    slow.state.comparisons.push(Comparison { peer: "key".into(), ..Comparison::default() });
    slow.after(1);
    assert_eq!(ends(&slow.after(300)), Some(Err(Trouble::NotCompared)));

    let mut shy = Desk::leads(&[]);
    shy.ben_is_a_friend();
    shy.after(1);
    assert_eq!(ends(&shy.after(60)), Some(Err(Trouble::NotAccepted)));

    assert_eq!(ends(&Desk::follows().after(300)), Some(Err(Trouble::NotBegun)));
    let mut follower = Desk::follows();
    follower.state.invitations.push(Invitation { invite_id: "match".into(), ..Invitation::default() });
    assert!(matches!(follower.after(1)[..], [Output::Ask(request::Body::AnswerInvite(_))]));
    assert_eq!(ends(&follower.after(60)), Some(Err(Trouble::NoMatch)));
}

#[test]
fn strings_that_differ_end_the_test_on_both_sides() {
    let mut here = Desk::leads(&[]);
    here.ben_is_near();
    here.after(1);
    here.state.comparisons.push(Comparison { peer: "key".into(), ..Comparison::default() });
    here.after(1);
    here.test.compare("key".into(), false);
    assert_eq!(ends(&here.after(0)), Some(Err(Trouble::StringsDiffer)));

    let mut there = Desk::follows();
    let gone = ComparisonGone { id: "key".into(), end: ComparisonEnd::ComparisonDifferent.into() };
    there.test.handle(Some(&event::Body::ComparisonGone(gone)), &there.state, there.now, there.wall);
    assert_eq!(ends(&there.outputs()), Some(Err(Trouble::StringsDiffer)));
}

#[test]
fn two_devices_of_one_name_are_not_mistaken_for_each_other() {
    let mut desk = Desk::leads(&[]);
    desk.ben_is_near();
    let twin = Nearby { id: "other".into(), name: "Ben".into(), ..Nearby::default() };
    desk.state.nearby.insert("other".into(), twin);
    assert_eq!(ends(&desk.after(1)), Some(Err(Trouble::Ambiguous)));
}

#[test]
fn eleven_moves_are_measured_and_then_the_match_is_given_up() {
    let mut desk = Desk::in_a_match(&[]);
    for move_number in 0..ECHOES {
        let next = desk.acknowledged(if move_number == 0 { 900 } else { 40 });
        assert!(matches!(next[..], [Output::Ask(request::Body::Act(_))]), "{next:?}");
    }
    desk.room().can_act = false;
    let last = desk.acknowledged(40);
    assert_eq!(last, [Output::Say(Message::Echo(Some(Duration::from_millis(40))))]);
    // The other device has answered, so that nothing of its crosses the end.
    desk.room().can_act = true;
    assert!(matches!(desk.after(1)[..], [Output::Ask(request::Body::Resign(_))]));
    assert_eq!(desk.test.measures().echoes.len(), ECHOES + 1);
    desk.room().result = Some(proto::board::Result::default());
    assert_eq!(desk.after(1), [Output::Ended(Ok(()))]);
    let report = desk.test.report(&desk.state, desk.wall);
    assert!(report.contains("first move: 900 ms\necho p50: 40 ms\n"), "{report}");
    assert!(report.contains("| 2026-03-01 |"), "{report}");
}

#[test]
fn a_return_is_measured_from_the_moment_at_which_the_link_could_come_back() {
    // Who walks says when they are back.
    let mut range = Desk::in_an_interruption(Interruption::Range);
    range.link(PeerLink::Lost);
    assert_eq!(range.after(20), [Output::Say(Message::Lost(Some(Interruption::Range)))]);
    assert!(range.test.wants_confirmation());
    range.after(10);
    range.test.confirm(range.now);
    assert!(!range.test.wants_confirmation());
    range.link(PeerLink::Up);
    assert_eq!(range.after(2)[0], Output::Say(Message::Back(Duration::from_secs(12))));

    // The adapter says when it works.
    let mut switched = Desk::in_an_interruption(Interruption::Bluetooth);
    switched.link(PeerLink::Lost);
    switched.after(1);
    switched.radio(RadioState::RadioOff);
    switched.after(1);
    switched.radio(RadioState::RadioReady);
    switched.after(8);
    switched.link(PeerLink::Weak);
    switched.after(3);

    // The clocks say when the device woke up.
    let mut lid = Desk::in_an_interruption(Interruption::Lid);
    lid.link(PeerLink::Lost);
    lid.after(1);
    lid.wall += Duration::from_mins(1);
    lid.after(1);
    lid.link(PeerLink::Up);
    lid.after(2);

    let of = |desk: &Desk| {
        let outage = &desk.test.measures().outages[0];
        (outage.away.as_secs(), outage.after_return.map(|time| time.as_secs()))
    };
    assert_eq!(of(&range), (12, Some(2)));
    assert_eq!(of(&switched), (12, Some(3)));
    assert_eq!(of(&lid), (3, Some(2)));
}

#[test]
fn an_interruption_that_does_not_happen_is_noted_and_the_test_goes_on() {
    let mut desk = Desk::in_an_interruption(Interruption::Lid);
    let given_up = desk.after(300);
    assert!(matches!(given_up[..], [Output::Ask(request::Body::Resign(_))]), "{given_up:?}");
    assert_eq!(desk.test.measures().troubles, ["lid closed: the connection did not drop"]);
    desk.room().result = Some(proto::board::Result::default());
    assert_eq!(desk.after(1), [Output::Ended(Ok(()))]);
}

#[test]
fn the_device_that_follows_answers_and_notes_when_the_link_was_gone() {
    let mut desk = Desk::follows();
    desk.state.invitations.push(Invitation { invite_id: "match".into(), ..Invitation::default() });
    desk.after(1);
    desk.link(PeerLink::Up);
    assert_eq!(desk.after(1), [Output::Say(Message::Playing)]);
    desk.room().record.push("a1".into());
    desk.room().can_act = true;
    let [Output::Ask(request::Body::Act(act))] = &desk.after(1)[..] else { panic!("it answers") };
    assert_eq!(act.notation, "b1");
    desk.link(PeerLink::Lost);
    assert_eq!(desk.after(1), [Output::Say(Message::Lost(None))]);
    desk.link(PeerLink::Up);
    assert_eq!(desk.after(30), [Output::Say(Message::Back(Duration::from_secs(30)))]);
    desk.room().can_act = false;
    desk.acknowledged(31_000);
    assert_eq!(desk.test.measures().echoes, [], "an interruption is no echo");
    desk.room().result = Some(proto::board::Result::default());
    assert_eq!(desk.after(1), [Output::Ended(Ok(()))]);
}

#[test]
fn who_stops_gives_the_match_up_and_has_a_report() {
    let mut desk = Desk::in_a_match(&Interruption::ALL);
    desk.test.stop();
    let last = desk.outputs();
    assert!(matches!(last[0], Output::Ask(request::Body::Resign(_))), "{last:?}");
    assert_eq!(last[1], Output::Ended(Err(Trouble::Stopped)));
    assert_eq!(desk.after(1_000), [], "nothing follows");
    assert!(desk.test.report(&desk.state, desk.wall).contains("trouble: the test was stopped\n"));
    let mut early = Desk::leads(&[]);
    early.test.stop();
    assert_eq!(
        early.outputs(),
        [Output::Ask(request::Body::Scan(control::Scan { on: false })), Output::Ended(Err(Trouble::Stopped))]
    );
}

#[test]
fn a_refusal_of_the_host_ends_the_test_with_its_words() {
    let mut desk = Desk::leads(&[]);
    desk.test.reply(Err("no carrier works".into()), desk.now);
    assert_eq!(ends(&desk.outputs()), Some(Err(Trouble::Refused("no carrier works".into()))));
}

#[test]
fn quiet_points_make_no_five_and_end_with_the_rows() {
    let points: Vec<String> = (0..).map_while(quiet_point).collect();
    assert_eq!((points.len(), points[0].as_str(), points[16].as_str()), (75, "a1", "b4"));
    assert!(points.len() > 2 * (ECHOES + 1 + Interruption::ALL.len()), "enough for the whole test");
}
