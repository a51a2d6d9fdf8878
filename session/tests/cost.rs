//! The work that one message of a peer costs this device, counted as bytes of memory asked for while the message is decoded and
//! handled: unlike time it is the same on every machine. Boards are generated, copied and replayed in memory, so a large board
//! that is looked at before its size is checked shows here.

mod pair;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use bytes::Bytes;
use engine::lights_out::{LightsOutSetup, Start};
use engine::{AnyGame, GameKind, Setup, Side};
use pair::{ANNA, BERT, Pair};
use proto::peer::{self, Envelope};
use proto::{board, limits};
use session::club::{self, Club, PlayerKind};
use session::{Colours, Command, Event, Input, MatchId, Terms, wire};

/// Counts the bytes that this thread asks for.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.set(ASKED.get() + size);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes for a message about a board that is refused: its own fields, and an answer.
const REFUSED: usize = 16 << 10;

/// Most bytes for the first position of a game.
const BOARD: usize = 256 << 10;

/// Most bytes for each action of a record, which is checked against the position and changes it.
const ACTION: usize = 24 << 10;

/// The largest board of each game that two devices may play on.
fn largest() -> Vec<Setup> {
    GameKind::ALL
        .iter()
        .map(|kind| {
            let mut setup = kind.default_setup();
            match kind {
                GameKind::Gomoku => setup.choose("size", "20"),
                GameKind::Go => setup.choose("size", "25"),
                GameKind::LightsOut => {
                    setup.choose("columns", "64").and_then(|()| setup.choose("rows", "64"))
                }
                GameKind::Liuzhou | GameKind::Xiangqi => Ok(()),
            }
            .expect("an option");
            setup
        })
        .collect()
}

/// Lights that a device may have alone and no peer may ask for, as 60 bytes of a message.
fn million_lights() -> board::Setup {
    wire::setup(&Setup::LightsOut(LightsOutSetup {
        start: Start::Random { columns: 1_000, rows: 1_000, seed: 1 },
        ..LightsOutSetup::default()
    }))
}

/// Actions of a legal game of this length at most.
fn actions(setup: &Setup, most: usize) -> Vec<engine::Action> {
    let mut game = AnyGame::new(setup).expect("a setup");
    let mut played = Vec::new();
    while played.len() < most && game.outcome().is_none() {
        let legal = game.legal_actions();
        // Spread over the board, so that few games end early.
        let next = legal[(played.len() * 37) % legal.len()];
        game.act(next).expect("it is legal");
        played.push(next);
    }
    played
}

fn record(setup: board::Setup, actions: &[engine::Action]) -> peer::Record {
    peer::Record {
        match_id: Bytes::from_static(&[0xAB; limits::ID_BYTES]),
        setup: Some(setup),
        sender_side: board::Side::Second.into(),
        actions: wire::pack_actions(actions).into(),
        ..peer::Record::default()
    }
}

/// Bytes asked for by one message to a device that is connected with a friend and knows of no match, and what its person is told.
fn cost(message: impl Into<Envelope>) -> (usize, Vec<Event>) {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair.devices[BERT].told();
    let (number, payload) = message.into().encode();
    let before = ASKED.get();
    let now = pair.now;
    let envelope = Envelope::decode(number, &payload).expect("it is not refused unread");
    // An answer or a violation is as good as no answer here.
    let _ = pair.devices[BERT].session.handle(now, Input::Received(envelope));
    let asked = ASKED.get() - before;
    pair.drain(BERT);
    (asked, pair.devices[BERT].told())
}

fn invite(setup: board::Setup) -> peer::Invite {
    let invite_id = Bytes::from_static(&[0xCD; limits::ID_BYTES]);
    peer::Invite { invite_id, setup: Some(setup), ..peer::Invite::default() }
}

fn gift(record: peer::Record) -> peer::Gift {
    peer::Gift { record: Some(record) }
}

#[test]
fn a_board_that_no_peer_may_ask_for_costs_nothing_in_whichever_message_it_comes() {
    let lights = million_lights();
    for (what, (asked, told)) in [
        ("invitation", cost(invite(lights.clone()))),
        ("record", cost(record(lights.clone(), &[]))),
        ("gift", cost(gift(record(lights.clone(), &[])))),
    ] {
        println!("a million lights in an {what}: {asked} bytes");
        assert!(asked < REFUSED, "{what}: {asked} bytes");
        assert!(told.is_empty(), "{what}: {told:?}");
    }
}

#[test]
fn a_message_about_the_largest_board_of_a_game_costs_a_board_and_a_bounded_amount_for_each_action() {
    for setup in largest() {
        let kind = setup.kind();
        let played = actions(&setup, 60);
        let wired = wire::setup(&setup);
        for (what, (asked, told), most) in [
            ("invitation", cost(invite(wired.clone())), BOARD),
            ("record", cost(record(wired.clone(), &played)), BOARD + played.len() * ACTION),
            ("gift", cost(gift(record(wired.clone(), &played))), BOARD + played.len() * ACTION),
        ] {
            println!("{kind:?}, {what} of {} actions: {asked} bytes", played.len());
            assert!(asked < most, "{kind:?}, {what}: {asked} bytes");
            let shown = match told[..] {
                [Event::Invited { .. }] => "invitation",
                [Event::Gift(_)] => "gift",
                _ => "nothing",
            };
            let expected = match (what, kind) {
                ("gift", _) => "gift",
                // Two do not play on one board of lights.
                (_, GameKind::LightsOut) => "nothing",
                _ => "invitation",
            };
            assert_eq!(shown, expected, "{kind:?}, {what}: {told:?}");
        }
    }
}

/// Most bytes for a message that neither brings a board nor a list of actions.
const SMALL: usize = 64 << 10;

/// The largest board of each game in a match between two devices: Lights Out is a race there.
fn largest_of_matches() -> Vec<Setup> {
    let race = |setup: &mut Setup| {
        setup.choose("columns", "15").and_then(|()| setup.choose("rows", "15")).expect("an option");
    };
    let mut all = largest();
    all.iter_mut().filter(|setup| setup.kind() == GameKind::LightsOut).for_each(race);
    all
}

/// A match on this board, of which some actions are played, Anna's turn; or a race that has not begun.
fn in_a_match(setup: &Setup) -> (Pair, MatchId) {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let terms = Terms { setup: setup.clone(), pace: None, colours: Colours::Mine(Side::First), hints: false };
    let id = pair.begin_with(ANNA, terms);
    if setup.kind() != GameKind::LightsOut {
        let mut game = AnyGame::new(setup).expect("a setup");
        for action in actions(setup, 60) {
            let device = if game.turn() == Side::First { ANNA } else { BERT };
            pair.act(device, id, action).expect("it is legal");
            pair.run();
            game.act(action).expect("it is legal");
            if game.turn() == Side::First && pair.devices[ANNA].state(id).ply() >= 40 {
                break;
            }
        }
    }
    (pair, id)
}

/// The largest club evening: sixteen players who meet twice.
fn evening(setup: &Setup) -> peer::Club {
    let name = |number: usize| format!("{}{number:02}", "棋".repeat(30));
    let mut club = Club::empty(name(0), setup.clone(), None, true);
    club.add(&name(1), PlayerKind::Friend([9; 32])).expect("there is room");
    for number in 2..=limits::CLUB_PLAYERS {
        club.add(&name(number), PlayerKind::Nobody).expect("there is room");
    }
    club.start(None).expect("there are enough");
    club::message(1, &club, &[9; 32]).expect("it fits a message")
}

/// One message of each kind about this match, as Anna's device would send it or as its largest form that is not refused unread.
fn one_of_each(pair: &Pair, id: MatchId) -> Vec<Envelope> {
    let state = pair.devices[ANNA].state(id);
    let (match_id, ply, digest) = (Bytes::copy_from_slice(&id.0), state.ply(), state.digest());
    let setup = state.record().setup.clone();
    let fresh = || Bytes::from_static(&[0xCD; limits::ID_BYTES]);
    let key = || Bytes::from_static(&[7; limits::KEY_BYTES]);
    let mut next = state.record().clone();
    let game = next.actions.iter().fold(AnyGame::new(&setup).expect("a setup"), |mut game, action| {
        game.act(*action).expect("it is legal");
        game
    });
    let legal = game.legal_actions();
    next.actions.push(legal[0]);
    let tried = wire::pack_actions(&vec![legal[0]; limits::TRIED_ACTIONS]);
    let point = peer::ResumePoint { match_id: match_id.clone(), ply, digest, ..peer::ResumePoint::default() };
    let whole = record(wire::setup(&setup), &state.record().actions);
    vec![
        peer::Hello {
            lowest_version: session::LOWEST_VERSION,
            highest_version: session::HIGHEST_VERSION,
            name: "Anna".into(),
            games: vec![board::Game::Go.into()],
            advert_key: key(),
            matches: vec![point; limits::RESUME_POINTS],
            ..peer::Hello::default()
        }
        .into(),
        peer::Pair { step: Some(peer::pair::Step::Commitment(key())) }.into(),
        invite(wire::setup(&setup)).into(),
        peer::InviteAnswer {
            invite_id: fresh(),
            answer: Some(peer::invite_answer::Answer::Accept(true)),
            nonce: key(),
            ..peer::InviteAnswer::default()
        }
        .into(),
        peer::Withdraw { invite_id: fresh() }.into(),
        peer::Play {
            match_id: match_id.clone(),
            ply: ply + 1,
            action: Some(wire::action(legal[0])),
            digest: next.digest(),
            ..peer::Play::default()
        }
        .into(),
        peer::Ack { match_id: match_id.clone(), ply, digest, wants_rest: true, ..peer::Ack::default() }
            .into(),
        peer::Offer {
            match_id: match_id.clone(),
            offer_id: 1,
            kind: peer::OfferKind::OfferTakeBack.into(),
            ply,
            ..peer::Offer::default()
        }
        .into(),
        peer::OfferAnswer {
            match_id: match_id.clone(),
            offer_id: 1,
            accept: true,
            ..peer::OfferAnswer::default()
        }
        .into(),
        peer::Resign { match_id: match_id.clone(), ply, revision: 0 }.into(),
        peer::Record { match_id: match_id.clone(), ..whole.clone() }.into(),
        peer::Ping { token: 7 }.into(),
        peer::Pong { token: 7 }.into(),
        peer::Bye { reason: peer::ByeReason::ByeLeaving.into() }.into(),
        peer::Unsupported { msgid: 3 }.into(),
        peer::Say {
            match_id: match_id.clone(),
            what: Some(peer::say::What::Text("棋".repeat(limits::SAID_CHARS))),
        }
        .into(),
        peer::Flag { match_id: match_id.clone(), ply, revision: 0 }.into(),
        peer::Reveal { invite_id: fresh(), nonce: key() }.into(),
        peer::Analysis {
            match_id: match_id.clone(),
            version: 1,
            open: true,
            ply,
            actions: tried.clone().into(),
            ..peer::Analysis::default()
        }
        .into(),
        peer::Progress { match_id: match_id.clone(), presses: 1, lit: 1, elapsed_ms: 1, revision: 0 }.into(),
        peer::Run { match_id: match_id.clone(), ply, actions: tried.into(), digest, revision: 0 }.into(),
        gift(whole).into(),
        peer::HintTaken { match_id, hints: 1 }.into(),
        evening(&setup).into(),
    ]
}

#[test]
fn every_message_in_the_middle_of_a_match_on_the_largest_board_has_a_bounded_cost() {
    for setup in largest_of_matches() {
        let (pair, id) = in_a_match(&setup);
        let played = pair.devices[ANNA].state(id).ply() as usize;
        let messages = one_of_each(&pair, id);
        let mut numbers: Vec<u32> = messages.iter().map(|message| message.encode().0).collect();
        numbers.sort_unstable();
        // The last number of `peer.proto`; one more decodes to nothing.
        assert!(numbers.into_iter().eq(1..=24), "each kind of message is measured");
        assert!(Envelope::decode(25, &[]).is_err(), "a new message is measured, too");
        drop(pair);
        for message in messages {
            let (number, payload) = message.encode();
            let most = match &message {
                Envelope::Invite(_) => BOARD,
                Envelope::Record(_) | Envelope::Gift(_) => BOARD + played * ACTION,
                Envelope::Analysis(_) | Envelope::Run(_) => BOARD + limits::TRIED_ACTIONS * ACTION,
                // What follows is checked against the rules, and the position is kept before each action.
                Envelope::Play(_) | Envelope::Resign(_) | Envelope::Offer(_) => BOARD,
                _ => SMALL,
            };
            let (mut pair, _) = in_a_match(&setup);
            if matches!(message, Envelope::Hello(_)) {
                // A hello is read at the beginning of a link.
                pair.lose_links();
                pair.connect();
                pair.devices[BERT].inbox.clear();
            }
            let now = pair.now;
            let before = ASKED.get();
            let envelope = Envelope::decode(number, &payload).expect("it is not refused unread");
            // An answer or a violation is as good as no answer here.
            let _ = pair.devices[BERT].session.handle(now, Input::Received(envelope));
            let asked = ASKED.get() - before;
            if setup.kind() != GameKind::LightsOut && matches!(message, Envelope::Play(_)) {
                assert_eq!(pair.devices[BERT].state(id).ply() as usize, played + 1, "it was played");
            }
            println!("{:?}, message {number} after {played} actions: {asked} bytes", setup.kind());
            assert!(asked < most, "{:?}, message {number}: {asked} bytes", setup.kind());
        }
    }
}

#[test]
fn of_a_flood_of_gifts_few_are_unpacked() {
    let setup = GameKind::Go.default_setup();
    let played = actions(&setup, 60);
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let (one, _) = cost(gift(record(wire::setup(&setup), &played)));
    pair.devices[BERT].told();
    let before = ASKED.get();
    let now = pair.now;
    for _ in 0..100 {
        let message = gift(record(wire::setup(&setup), &played));
        let _ = pair.devices[BERT].session.handle(now, Input::Received(message.into()));
    }
    let asked = ASKED.get() - before;
    println!("one gift: {one} bytes, a hundred at once: {asked} bytes");
    assert!(asked < 20 * one, "{asked} bytes");
    pair.drain(BERT);
    let told = pair.devices[BERT].told();
    assert_eq!(told.iter().filter(|event| matches!(event, Event::Gift(_))).count(), 8);
}

#[test]
fn a_record_of_the_greatest_length_costs_no_more_for_each_action_than_a_short_one() {
    let mut setup = GameKind::Go.default_setup();
    setup.choose("size", "25").expect("an option");
    let mut game = AnyGame::new(&setup).expect("a setup");
    let mut played = Vec::new();
    while played.len() < limits::RECORD_ACTIONS {
        let mut legal = game.legal_actions();
        // Nobody passes, so that the game goes on.
        legal.retain(|action| matches!(action, engine::Action::Place(_)));
        let next = legal[(played.len() * 37) % legal.len()];
        game.act(next).expect("it is legal");
        played.push(next);
    }
    let wired = wire::setup(&setup);
    for (what, (asked, told)) in [
        ("record", cost(record(wired.clone(), &played))),
        ("gift", cost(gift(record(wired.clone(), &played)))),
    ] {
        println!("{what} of {} actions: {asked} bytes", played.len());
        assert!(asked < BOARD + played.len() * ACTION, "{what}: {asked} bytes");
        assert_eq!(told.len(), 1, "{what}: it was replayed");
    }
}

#[test]
fn of_a_flood_of_records_few_are_replayed_and_nobody_is_guilty() {
    let setup = GameKind::Go.default_setup();
    let message = record(wire::setup(&setup), &actions(&setup, 60));
    let (one, _) = cost(message.clone());
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair.devices[BERT].told();
    let before = ASKED.get();
    let now = pair.now;
    for _ in 0..200 {
        let done = pair.devices[BERT].session.handle(now, Input::Received(message.clone().into()));
        assert!(done.is_ok(), "it may come from an honest peer");
    }
    let asked = ASKED.get() - before;
    println!("one record: {one} bytes, two hundred at once: {asked} bytes");
    assert!(asked < 50 * one, "{asked} bytes");
    pair.drain(BERT);
    assert!(matches!(pair.devices[BERT].told()[..], [Event::Invited { .. }]));
}

/// As many links as the host lets a friend begin at once.
const LINKS: usize = 60;

/// Of each kind, what is read at once, and what each further link adds.
const READ: usize = 32 + 2 * (LINKS - 1);

#[test]
fn a_flood_of_records_over_sixty_links_is_replayed_twice_more_for_each_link_and_then_once_a_second() {
    let setup = GameKind::Go.default_setup();
    let message = record(wire::setup(&setup), &actions(&setup, 60));
    let (one, _) = cost(message.clone());
    let mut pair = Pair::friends();
    // What is not replayed costs next to nothing.
    let replayed = |pair: &mut Pair| {
        let now = pair.now;
        let costs = (0..40).map(|_| {
            let before = ASKED.get();
            let done = pair.devices[BERT].session.handle(now, Input::Received(message.clone().into()));
            assert!(done.is_ok(), "it may come from an honest peer");
            ASKED.get() - before
        });
        costs.filter(|asked| *asked > one / 2).count()
    };
    let mut all = 0;
    for _ in 0..LINKS {
        pair.connect();
        pair.run();
        all += replayed(&mut pair);
        pair.drain(BERT);
        pair.lose_links();
    }
    assert_eq!(all, READ);
    pair.connect();
    pair.run();
    assert_eq!(replayed(&mut pair), 2, "the record of an honest resume is heard");
    pair.wait(Duration::from_secs(3));
    assert_eq!(replayed(&mut pair), 3);
}

#[test]
fn a_flood_of_invitations_over_sixty_links_shows_two_more_boards_for_each_link() {
    use peer::{DeclineReason, invite_answer::Answer};
    let mut pair = Pair::friends();
    for link in 0..LINKS {
        pair.connect();
        pair.run();
        for number in 0..40 {
            let setup = wire::setup(&GameKind::LightsOut.default_setup());
            let invite_id = Bytes::from([vec![link as u8], vec![number; 15]].concat());
            pair.input(BERT, Input::Received(peer::Invite { invite_id, ..invite(setup) }.into()));
        }
        pair.lose_links();
    }
    let looked_at = |sent: &&Envelope| {
        let unknown = Answer::Decline(DeclineReason::DeclineUnknownGame.into());
        matches!(sent, Envelope::InviteAnswer(answer) if answer.answer == Some(unknown))
    };
    assert_eq!(pair.devices[BERT].sent.iter().filter(looked_at).count(), READ);
}

#[test]
fn of_a_flood_of_analyses_few_are_replayed_and_the_last_one_is_shown_in_the_end() {
    let (mut pair, id) = in_a_match(&GameKind::Go.default_setup());
    pair.command(ANNA, Command::Resign(id)).expect("it goes on");
    pair.run();
    pair.devices[BERT].told();
    let revision = pair.devices[BERT].state(id).record().revision;
    let ply = |version: u32| version % 40;
    for version in 1..=200 {
        let analysis = peer::Analysis {
            match_id: Bytes::copy_from_slice(&id.0),
            revision,
            version,
            open: true,
            ply: ply(version),
            ..peer::Analysis::default()
        };
        pair.input(BERT, Input::Received(analysis.into()));
    }
    let shown = |events: Vec<Event>| {
        events.into_iter().filter(|event| matches!(event, Event::AnalysisChanged(_))).count()
    };
    assert_eq!(shown(pair.devices[BERT].told()), 32);
    assert_eq!(pair.devices[BERT].state(id).analysis().map(|at| at.ply), Some(32));
    pair.wait(Duration::from_secs(1));
    assert_eq!(shown(pair.devices[BERT].told()), 1);
    assert_eq!(pair.devices[BERT].state(id).analysis().map(|at| at.ply), Some(ply(200)));
}

#[test]
fn of_a_flood_of_invitations_few_boards_are_looked_at_and_each_has_its_answer() {
    use peer::{DeclineReason, invite_answer::Answer};
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair.devices[BERT].sent.clear();
    for number in 0..100 {
        // A board of lights for one person, which is generated before it is declined.
        let setup = wire::setup(&GameKind::LightsOut.default_setup());
        let message = peer::Invite { invite_id: Bytes::from(vec![number; 16]), ..invite(setup) };
        pair.input(BERT, Input::Received(message.into()));
    }
    let answered = |reason: DeclineReason| {
        let with = |sent: &&Envelope| {
            matches!(sent, Envelope::InviteAnswer(answer)
                if answer.answer == Some(Answer::Decline(reason.into())))
        };
        pair.devices[BERT].sent.iter().filter(with).count()
    };
    assert_eq!(answered(DeclineReason::DeclineUnknownGame), 32);
    assert_eq!(answered(DeclineReason::DeclineBusy), 68);
}
