//! Hellos, the short string, invitations, and whether the peer is still there.

mod pair;

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use engine::{GomokuSetup, Setup, Side};
use pair::{ANNA, BERT, Pair, invite, small};
use proto::peer::{self, ByeReason, DeclineReason, Envelope, pair::Step};
use session::{
    Colours, Command, Entry, Error, Event, Input, InvitationEnd, LinkState, MatchId, Output, Refused, Role,
    ShortString, Terms, Violation,
};

/// The short string that a device shows.
fn shown(events: &[Event]) -> Option<ShortString> {
    events.iter().find_map(|event| match event {
        Event::Comparing { string, .. } => Some(string.clone()),
        _ => None,
    })
}

fn met() -> Pair {
    let mut pair = Pair::strangers();
    pair.connect();
    pair.run();
    pair
}

#[test]
fn strangers_see_the_same_string_and_become_friends_when_both_say_so() {
    let mut pair = met();
    let [anna, bert] = [ANNA, BERT].map(|device| shown(&pair.devices[device].told()).expect("a string"));
    assert_eq!(anna, bert);
    assert!(anna.emoji.iter().all(|emoji| *emoji < 64));
    assert!(anna.digits.len() == 6 && anna.digits.bytes().all(|digit| digit.is_ascii_digit()));
    pair.command(BERT, Command::Compare { same: true }).expect("it is shown");
    pair.run();
    assert_eq!(pair.devices[ANNA].told(), [Event::ComparedThere]);
    assert_eq!(pair.command(BERT, Command::Compare { same: true }), Err(Refused::NothingToCompare));
    pair.command(ANNA, Command::Compare { same: true }).expect("it is shown");
    pair.run();
    for (device, name, key) in [(ANNA, "Bert", [2; 32]), (BERT, "Anna", [1; 32])] {
        assert!(pair.devices[device].told().contains(&Event::Friends));
        assert_eq!(pair.devices[device].journal.friend, Some((name.into(), key)));
        assert_eq!(pair.devices[device].session.link(), LinkState::Up { weak: false });
        assert_eq!(pair.devices[device].session.peer_name(), Some(name));
    }
    pair.begin(ANNA, small(), Side::First);
}

#[test]
fn another_link_makes_another_string_and_the_same_inputs_the_same() {
    let strings: Vec<_> = (0..20)
        .map(|_| {
            let mut pair = met();
            pair.lose_links();
            pair.devices[ANNA].told();
            pair.connect();
            pair.run();
            shown(&pair.devices[ANNA].told()).expect("a string")
        })
        .collect();
    assert!(strings.windows(2).all(|two| two[0] == two[1]), "the same inputs give the same string");
    let first = shown(&met().devices[ANNA].events).expect("a string");
    assert_ne!(first, strings[0], "the second link's string is not the first's");
}

#[test]
fn a_man_in_the_middle_makes_the_strings_differ() {
    // A man in the middle: two links with different handshake hashes, between which it forwards
    // messages.
    let mut anna = Pair::strangers();
    let mut bert = Pair::strangers();
    for (pair, hash) in [(&mut anna, 7), (&mut bert, 8)] {
        for device in &mut pair.devices {
            device.linked = true;
        }
        for (device, role) in [(ANNA, Role::Dialer), (BERT, Role::Listener)] {
            pair.input(device, Input::LinkUp { role, handshake_hash: [hash; 32] });
        }
    }
    // Anna's messages go to Bert's session and vice versa.
    for _ in 0..10 {
        if let Some(word) = anna.devices[BERT].inbox.pop_front() {
            bert.input(BERT, Input::Received(word));
        }
        if let Some(word) = bert.devices[ANNA].inbox.pop_front() {
            anna.input(ANNA, Input::Received(word));
        }
    }
    let here = shown(&anna.devices[ANNA].events).expect("Anna sees a string");
    let there = shown(&bert.devices[BERT].events).expect("Bert sees a string");
    assert_ne!(here, there);
}

#[test]
fn one_no_ends_the_link_without_a_friend_on_either_side() {
    for (yes, no) in [(ANNA, BERT), (BERT, ANNA)] {
        for yes_first in [false, true] {
            let mut pair = met();
            if yes_first {
                pair.command(yes, Command::Compare { same: true }).expect("it is shown");
                pair.run();
            }
            pair.command(no, Command::Compare { same: false }).expect("it is shown");
            assert_eq!(pair.closed(no), Some(ByeReason::ByeStringsDiffer));
            pair.run();
            for device in [ANNA, BERT] {
                let told = pair.devices[device].told();
                assert_eq!(told.iter().filter(|event| **event == Event::NotCompared).count(), 1);
                assert!(!told.contains(&Event::Friends));
                assert_eq!(pair.devices[device].journal.friend, None);
                assert!(!pair.devices[device].linked, "the carrier was told to close");
            }
        }
    }
}

#[test]
fn a_comparison_cut_at_any_message_can_be_made_again() {
    for at in 0..8 {
        for cut in pair::CUTS {
            let mut pair = Pair::strangers();
            pair.cut_at = Some((at, cut));
            pair.connect();
            pair.run();
            for device in [ANNA, BERT] {
                let _ = pair.command(device, Command::Compare { same: true });
                pair.run();
            }
            pair.heal();
            for device in [ANNA, BERT] {
                assert!(pair.devices[device].journal.friend.is_some(), "cut {cut:?} at {at}");
                assert_eq!(pair.devices[device].session.link(), LinkState::Up { weak: false });
            }
            pair.begin(BERT, small(), Side::First);
        }
    }
}

#[test]
fn friends_are_not_asked_again_unless_one_has_forgotten() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    assert!(pair.devices.iter().all(|device| device.session.link() == LinkState::Up { weak: false }));
    pair.devices[BERT].journal.friend = None;
    pair.restart(BERT);
    pair.run();
    pair.connect();
    pair.run();
    assert!(pair.devices.iter().all(|device| device.session.link() == LinkState::Comparing));
    assert_eq!(pair.command(ANNA, invite(MatchId([1; 16]), small(), Side::First)), Err(Refused::NotCompared));
    pair.heal();
    assert!(pair.devices.iter().all(|device| device.journal.friend.is_some()));
}

#[test]
fn a_stranger_is_told_no_advert_key_and_no_match() {
    let (mut pair, _) = Pair::playing();
    pair.devices[ANNA].journal.friend = None;
    pair.restart(ANNA);
    pair.run();
    pair.devices[ANNA].sent.clear();
    pair.connect();
    let Some(Envelope::Hello(hello)) = pair.devices[ANNA].sent.first() else { panic!("a hello comes first") };
    assert!(hello.advert_key.is_empty() && hello.matches.is_empty() && hello.wants_comparison);
}

#[test]
fn no_common_version_is_said_to_both_people_and_who_needs_the_update() {
    let tomorrow = session::HIGHEST_VERSION + 1;
    let yesterday = session::LOWEST_VERSION - 1;
    let bye = Envelope::from(peer::Bye { reason: ByeReason::ByeVersion.into() });
    for (versions, is_later) in [(tomorrow..=tomorrow + 3, true), (0..=yesterday, false)] {
        for other in [ANNA, BERT] {
            let mut pair = Pair::friends();
            pair.speaks(other, versions.clone());
            pair.connect();
            for device in [ANNA, BERT] {
                pair.deliver(device);
                let peer_is_older = is_later == (device == other);
                let told = pair.devices[device].told();
                assert!(told.contains(&Event::NoCommonVersion { peer_is_older }), "{versions:?} at {other}");
                assert_eq!(pair.closed(device), Some(ByeReason::ByeVersion));
                assert_eq!(pair.devices[device].sent.last(), Some(&bye));
            }
        }
    }
}

/// The seeds of `proto` are the bytes that today's program writes.
#[test]
fn what_todays_program_says_is_heard_alike_by_one_that_speaks_one_version_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/tests/seeds/peer");
    let golden = |name: &str| {
        let bytes = fs::read(folder.join(name)).expect("a seed");
        Envelope::decode(bytes[0].into(), &bytes[1..]).expect("a message")
    };
    let heard = |versions: RangeInclusive<u32>, name: &str| {
        let mut pair = Pair::friends();
        pair.speaks(BERT, versions);
        pair.devices[BERT].linked = true;
        pair.input(BERT, Input::LinkUp { role: Role::Listener, handshake_hash: [1; 32] });
        let message = golden(name);
        if !matches!(message, Envelope::Hello(_)) {
            pair.input(BERT, Input::Received(golden("01-hello-wish")));
            assert_eq!(pair.devices[BERT].session.link(), LinkState::Up { weak: false });
        }
        pair.devices[BERT].sent.clear();
        let done = pair.try_input(BERT, Input::Received(message));
        let sent = std::mem::take(&mut pair.devices[BERT].sent);
        (done, pair.devices[BERT].told(), sent)
    };
    let seeds: Vec<String> = fs::read_dir(&folder)
        .expect("the seeds")
        .map(|entry| entry.expect("a seed").file_name().into_string().expect("a plain name"))
        .collect();
    assert!(seeds.len() > 40, "{seeds:?}");
    for name in &seeds {
        let wider = session::LOWEST_VERSION..=session::HIGHEST_VERSION + 1;
        assert_eq!(heard(wider, name), heard(session::VERSIONS, name), "{name}");
    }
    let (done, told, _) = heard(session::VERSIONS, "03-invite");
    assert_eq!(done, Ok(()));
    assert!(told.iter().any(|event| matches!(event, Event::Invited { .. })), "{told:?}");
}

/// A later version has more protocol versions and games, and sends unknown fields.
#[test]
fn a_hello_of_tomorrow_is_understood_as_far_as_it_goes() {
    let mut pair = Pair::friends();
    pair.connect();
    let Some(Envelope::Hello(hello)) = pair.devices[ANNA].inbox.front_mut() else { panic!("a hello") };
    hello.highest_version += 3;
    hello.games.push(99);
    hello.wish = 99;
    let mut bytes = prost::Message::encode_to_vec(hello);
    // Field 1,000, a number.
    bytes.extend([0xC0, 0x3E, 7]);
    let hello: peer::Hello = prost::Message::decode(&bytes[..]).expect("a hello");
    pair.devices[ANNA].inbox[0] = hello.into();
    pair.run();
    assert_eq!(pair.devices[ANNA].session.peer_games(), engine::GameKind::ALL);
    pair.begin(ANNA, small(), Side::First);
}

#[test]
fn what_comes_out_of_order_ends_the_link_and_nothing_else() {
    let hello =
        || Envelope::from(peer::Hello { lowest_version: 1, highest_version: 1, ..peer::Hello::default() });
    let step = |step| Envelope::from(peer::Pair { step: Some(step) });
    let key = || Bytes::from_static(&[7; 32]);
    let verdict = || Step::Verdict(peer::Verdict { same: true, advert_key: key() });
    let listener: Vec<(Vec<Envelope>, Violation)> = vec![
        (vec![peer::Ping { token: 1 }.into()], Violation::BeforeHello),
        (vec![hello(), hello()], Violation::OutOfOrder("hello")),
        (vec![hello(), peer::Withdraw { invite_id: key() }.into()], Violation::NotCompared("invitation")),
        (vec![hello(), step(Step::Nonce(key()))], Violation::OutOfOrder("comparison")),
        (vec![hello(), step(Step::Reveal(key()))], Violation::OutOfOrder("comparison")),
        (vec![hello(), step(verdict())], Violation::OutOfOrder("comparison")),
        (vec![hello(), peer::Pair { step: None }.into()], Violation::OutOfBounds("comparison")),
        (
            vec![hello(), step(Step::Commitment(Bytes::from_static(b"short")))],
            Violation::OutOfBounds("comparison"),
        ),
        (vec![hello(), step(Step::Commitment(key())), step(Step::Reveal(key()))], Violation::BadReveal),
        (
            vec![hello(), step(Step::Commitment(key())), step(Step::Commitment(key()))],
            Violation::OutOfOrder("comparison"),
        ),
    ];
    for (words, violation) in listener {
        let mut pair = Pair::strangers();
        pair.devices[BERT].linked = true;
        pair.input(BERT, Input::LinkUp { role: Role::Listener, handshake_hash: [1; 32] });
        let (last, before) = words.split_last().expect("there is a last word");
        for word in before {
            pair.input(BERT, Input::Received(word.clone()));
        }
        let done = pair.try_input(BERT, Input::Received(last.clone()));
        assert_eq!(done, Err(Error::Violation(violation)), "after {words:?}");
        assert_eq!(pair.closed(BERT), Some(ByeReason::ByeViolation));
        assert!(matches!(pair.devices[BERT].sent.last(), Some(Envelope::Bye(_))));
        assert_eq!(pair.try_input(BERT, Input::Received(last.clone())), Ok(()), "a closed link is not heard");
        assert!(pair.devices[BERT].journal.friend.is_none());
    }
}

#[test]
fn an_invitation_is_declined_with_its_reason_withdrawn_or_times_out() {
    type Act = fn(&mut Pair, MatchId);
    let cases: [(Act, InvitationEnd, Option<InvitationEnd>); 3] = [
        (
            |pair, id| {
                let decline = Some(DeclineReason::DeclineBusy);
                pair.command(BERT, Command::AnswerInvite { id, decline }).expect("it is open");
            },
            InvitationEnd::Declined(DeclineReason::DeclineBusy),
            None,
        ),
        (
            |pair, id| pair.command(ANNA, Command::Withdraw(id)).expect("it is open"),
            InvitationEnd::Withdrawn,
            Some(InvitationEnd::Withdrawn),
        ),
        (
            |pair, _| pair.wait(Duration::from_secs(61)),
            InvitationEnd::TimedOut,
            Some(InvitationEnd::TimedOut),
        ),
    ];
    for (act, mine, theirs) in cases {
        let mut pair = Pair::friends();
        pair.connect();
        pair.run();
        let id = pair.fresh_id();
        pair.command(ANNA, invite(id, small(), Side::Second)).expect("both here");
        let again = invite(MatchId([9; 16]), small(), Side::First);
        assert_eq!(pair.command(ANNA, again), Err(Refused::InvitationOpen));
        pair.run();
        let told = pair.devices[BERT].told();
        assert!(
            told.iter().any(|event| matches!(
                event,
                Event::Invited { terms: Terms { colours: Colours::Mine(Side::First), .. }, ply: 0, .. }
            )),
            "Bert is asked, with his own side"
        );
        act(&mut pair, id);
        pair.run();
        let end = |pair: &mut Pair, device: usize| {
            pair.devices[device].told().into_iter().find_map(|event| match event {
                Event::InvitationEnded { end, .. } => Some(end),
                _ => None,
            })
        };
        assert_eq!(end(&mut pair, ANNA), Some(mine));
        assert_eq!(end(&mut pair, BERT), theirs);
        let late = pair.command(BERT, Command::AnswerInvite { id, decline: None });
        assert_eq!(late, Err(Refused::NoSuchInvitation));
        pair.heal();
        pair.check_equal();
        assert_eq!(pair.devices[ANNA].session.matches().len(), 0);
        pair.begin(ANNA, small(), Side::First);
    }
}

#[test]
fn a_yes_that_crosses_a_withdrawal_wins() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let id = pair.fresh_id();
    pair.command(ANNA, invite(id, small(), Side::First)).expect("both here");
    pair.run();
    pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("it is open");
    pair.command(ANNA, Command::Withdraw(id)).expect("it is still open here");
    pair.run();
    pair.check_level(id);
    pair.finish();
}

#[test]
fn crossing_invitations_resolve_to_one_match() {
    for (anna, bert) in [(1, 2), (2, 1)] {
        for same in [true, false] {
            let mut pair = Pair::friends();
            pair.connect();
            pair.run();
            let other = if same { small() } else { Setup::Gomoku(GomokuSetup::default()) };
            for (device, id, setup) in [(ANNA, anna, small()), (BERT, bert, other)] {
                let invite = invite(MatchId([id; 16]), setup, Side::First);
                pair.command(device, invite).expect("the other's has not arrived");
            }
            pair.run();
            let stands = MatchId([1; 16]);
            let asked = if anna == 1 { BERT } else { ANNA };
            if !same {
                // The setups differ: a person has to accept the invitation that stands.
                assert_eq!(pair.invited(asked), Some(stands));
                assert_eq!(pair.invited(1 - asked), None);
                pair.command(asked, Command::AnswerInvite { id: stands, decline: None }).expect("it stands");
                pair.run();
            }
            pair.check_level(stands);
            assert_eq!(pair.devices[ANNA].session.matches().len(), 1);
            let end = InvitationEnd::Crossed(stands);
            let ended = Event::InvitationEnded { id: MatchId([2; 16]), mine: true, end };
            assert!(pair.devices[asked].told().contains(&ended));
            pair.conclude();
        }
    }
}

#[test]
fn a_second_invitation_and_one_too_many_are_told_busy() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let invite = |id: u8| {
        Input::Received(
            peer::Invite {
                invite_id: Bytes::copy_from_slice(&[id; 16]),
                setup: Some(session::wire::setup(&small())),
                ..peer::Invite::default()
            }
            .into(),
        )
    };
    pair.input(BERT, invite(1));
    pair.devices[BERT].sent.clear();
    for id in 2..50 {
        pair.input(BERT, invite(id));
    }
    assert_eq!(pair.devices[BERT].sent.len(), 48);
    let busy = peer::invite_answer::Answer::Decline(DeclineReason::DeclineBusy.into());
    for sent in &pair.devices[BERT].sent {
        assert!(matches!(sent, Envelope::InviteAnswer(answer) if answer.answer == Some(busy)));
    }
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    for _ in 0..session::MAX_MATCHES {
        pair.begin(ANNA, small(), Side::First);
    }
    let invite = pair::invite(MatchId([99; 16]), small(), Side::First);
    assert_eq!(pair.command(ANNA, invite), Err(Refused::TooManyMatches));
    pair.conclude();
}

#[test]
fn a_game_that_the_peer_does_not_have_is_not_asked_for_nor_accepted() {
    let mut pair = Pair::friends();
    pair.connect();
    let Some(Envelope::Hello(hello)) = pair.devices[ANNA].inbox.front_mut() else { panic!("a hello") };
    hello.games = vec![99];
    pair.run();
    let invite = invite(MatchId([1; 16]), small(), Side::First);
    assert_eq!(pair.command(ANNA, invite), Err(Refused::UnknownGame));
    let odd = Setup::Gomoku(GomokuSetup { size: 3, ..GomokuSetup::default() });
    for setup in [None, Some(proto::board::Setup { game: None }), Some(session::wire::setup(&odd))] {
        let invite =
            peer::Invite { invite_id: Bytes::from_static(&[5; 16]), setup, ..peer::Invite::default() };
        pair.input(ANNA, Input::Received(invite.into()));
        let unknown = peer::invite_answer::Answer::Decline(DeclineReason::DeclineUnknownGame.into());
        let Some(Envelope::InviteAnswer(answer)) = pair.devices[ANNA].sent.last() else {
            panic!("an answer")
        };
        assert_eq!(answer.answer, Some(unknown));
    }
}

#[test]
fn an_idle_link_is_pinged_by_one_side_and_measured() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    for device in &mut pair.devices {
        device.sent.clear();
        device.told();
    }
    pair.wait(Duration::from_mins(1));
    let pings: Vec<_> = pair
        .devices
        .iter()
        .map(|device| device.sent.iter().filter(|word| matches!(word, Envelope::Ping(_))).count())
        .collect();
    assert_eq!(pings, [12, 0], "one every 5 s, from the dialer");
    assert!(pair.devices.iter().any(|device| device.session.round_trip() == Some(Duration::ZERO)));
    assert!(pair.devices.iter().all(|device| device.session.link() == LinkState::Up { weak: false }));
}

#[test]
fn a_silent_peer_makes_the_link_weak_after_two_seconds_and_dead_after_nine() {
    let (mut pair, id) = Pair::playing();
    pair.act(ANNA, id, pair::place(0, 0)).expect("her turn");
    pair.devices[BERT].inbox.clear();
    let start = pair.now;
    let mut seen = Vec::new();
    while let Some(tick) = pair.devices[ANNA].tick {
        pair.now = tick;
        pair.input(ANNA, Input::Tick);
        pair.devices[BERT].inbox.clear();
        for event in pair.devices[ANNA].told() {
            if event == Event::Weak(true) {
                seen.push(("weak", tick.since(start).as_secs()));
            }
        }
        if pair.closed(ANNA) == Some(ByeReason::ByeSilent) {
            seen.push(("dead", tick.since(start).as_secs()));
        }
    }
    assert_eq!(seen, [("weak", 2), ("dead", 9)]);
    pair.conclude();
}

#[test]
fn a_link_on_which_two_people_take_their_time_to_compare_is_not_weak() {
    let mut pair = met();
    // The first pings answer everything that was sent before.
    for _ in 0..8 {
        pair.wait(Duration::from_millis(500));
        for device in &mut pair.devices {
            assert!(!device.told().contains(&Event::Weak(true)), "every message was answered at once");
        }
    }
}

#[test]
fn an_acknowledgement_ends_a_weak_spell() {
    let (mut pair, id) = Pair::playing();
    pair.act(ANNA, id, pair::place(0, 0)).expect("her turn");
    let late = std::mem::take(&mut pair.devices[BERT].inbox);
    pair.now = pair.devices[ANNA].tick.expect("a tick is due");
    pair.input(ANNA, Input::Tick);
    assert_eq!(pair.devices[ANNA].session.link(), LinkState::Up { weak: true });
    pair.devices[BERT].inbox = late;
    pair.run();
    assert_eq!(pair.devices[ANNA].session.link(), LinkState::Up { weak: false });
    assert!(pair.devices[ANNA].told().contains(&Event::Weak(false)));
}

#[test]
fn goodbye_closes_both_ends_and_keeps_the_match() {
    let (mut pair, id) = Pair::playing();
    pair.command(ANNA, Command::Leave(ByeReason::ByeSuspend)).expect("always possible");
    pair.run();
    assert!(pair.devices[BERT].told().contains(&Event::Left(ByeReason::ByeSuspend)));
    pair.act(ANNA, id, pair::place(0, 0)).expect("play goes on without the peer");
    pair.conclude();
    assert_eq!(pair.devices[BERT].state(id).record().actions.first(), Some(&pair::place(0, 0)));
}

/// A disk that is always full.
struct Full;

impl session::Journal for Full {
    type Error = ();

    fn keep(&mut self, _: &Entry) -> Result<(), ()> {
        Err(())
    }
}

#[test]
fn nothing_is_sent_of_an_action_that_the_journal_does_not_hold() {
    let (mut pair, id) = Pair::playing();
    let now = pair.now;
    let session = &mut pair.devices[ANNA].session;
    let act = Command::Act { id, action: pair::place(2, 2) };
    session.handle(now, Input::Command(act)).expect("her turn");
    for _ in 0..2 {
        assert!(session.poll(&mut Full).is_err(), "the disk takes nothing: nothing comes out");
    }
    let mut journal = Vec::new();
    assert!(matches!(session.poll(&mut journal), Ok(Output::Send(Envelope::Play(_)))));
    assert!(matches!(journal[..], [Entry::Acted { ply: 1, .. }]));
}

#[test]
fn a_stranger_who_greets_and_shows_no_string_is_let_go_after_ten_seconds() {
    let mut pair = Pair::strangers();
    pair.connect();
    let hello = peer::Hello {
        lowest_version: session::LOWEST_VERSION,
        highest_version: session::HIGHEST_VERSION,
        name: "Mallory".into(),
        wants_comparison: true,
        ..peer::Hello::default()
    };
    pair.input(ANNA, Input::Received(hello.into()));
    for second in 1..=10 {
        assert_eq!(pair.closed(ANNA), None, "after {second} s");
        pair.delay(Duration::from_secs(1));
        if pair.closed(ANNA).is_none() {
            pair.input(ANNA, Input::Received(peer::Ping { token: second }.into()));
        }
    }
    assert_eq!(pair.closed(ANNA), Some(ByeReason::ByeNotCompared));
    let told = pair.devices[ANNA].told();
    assert!(!told.contains(&Event::NotCompared), "nobody has said that anything differs: {told:?}");
}

#[test]
fn strings_that_nobody_compares_are_taken_away_after_two_minutes_on_both_devices() {
    let mut pair = met();
    pair.command(BERT, Command::Compare { same: true }).expect("it is shown");
    pair.run();
    pair.wait(Duration::from_secs(119));
    assert_eq!(pair.closed(ANNA), None);
    pair.wait(Duration::from_secs(2));
    for device in [ANNA, BERT] {
        assert!(!matches!(pair.devices[device].session.link(), LinkState::Comparing | LinkState::Up { .. }));
        assert!(!pair.devices[device].told().contains(&Event::NotCompared));
        assert_eq!(pair.devices[device].journal.friend, None);
    }
}
