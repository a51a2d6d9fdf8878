//! The work that one message of a peer costs this device, counted as bytes of memory asked for while the message is decoded and
//! handled: unlike time it is the same on every machine. Boards are generated, copied and replayed in memory, so a large board
//! that is looked at before its size is checked shows here.

mod pair;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::Bytes;
use engine::lights_out::{LightsOutSetup, Start};
use engine::{AnyGame, GameKind, Setup};
use pair::{BERT, Pair};
use proto::peer::{self, Envelope};
use proto::{board, limits};
use session::{Input, wire};

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
                GameKind::Go => setup.choose("size", "19"),
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

/// Bytes asked for by one message to a device that is connected with a friend and knows of no match.
fn cost(message: impl Into<Envelope>) -> usize {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let (number, payload) = message.into().encode();
    let before = ASKED.get();
    let now = pair.now;
    if let Ok(envelope) = Envelope::decode(number, &payload) {
        // An answer or a violation is as good as no answer here.
        let _ = pair.devices[BERT].session.handle(now, Input::Received(envelope));
    }
    let asked = ASKED.get() - before;
    pair.drain(BERT);
    asked
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
    for (what, asked) in [
        ("invitation", cost(invite(lights.clone()))),
        ("record", cost(record(lights.clone(), &[]))),
        ("gift", cost(gift(record(lights.clone(), &[])))),
    ] {
        println!("a million lights in an {what}: {asked} bytes");
        assert!(asked < REFUSED, "{what}: {asked} bytes");
    }
}

#[test]
fn a_message_about_the_largest_board_of_a_game_costs_a_board_and_a_bounded_amount_for_each_action() {
    for setup in largest() {
        let kind = setup.kind();
        let played = actions(&setup, 60);
        let wired = wire::setup(&setup);
        for (what, asked, most) in [
            ("invitation", cost(invite(wired.clone())), BOARD),
            ("record", cost(record(wired.clone(), &played)), BOARD + played.len() * ACTION),
            ("gift", cost(gift(record(wired.clone(), &played))), BOARD + played.len() * ACTION),
        ] {
            println!("{kind:?}, {what} of {} actions: {asked} bytes", played.len());
            assert!(asked < most, "{kind:?}, {what}: {asked} bytes");
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
    let one = cost(gift(record(wire::setup(&setup), &played)));
    let before = ASKED.get();
    let now = pair.now;
    for _ in 0..100 {
        let message = gift(record(wire::setup(&setup), &played));
        let _ = pair.devices[BERT].session.handle(now, Input::Received(message.into()));
    }
    let asked = ASKED.get() - before;
    println!("one gift: {one} bytes, a hundred at once: {asked} bytes");
    assert!(asked < 20 * one, "{asked} bytes");
}
