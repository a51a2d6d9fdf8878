//! What clients can do to a host, and what its bots can.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use engine::{Action, AnyGame, Bot, GameKind, Level, Limits, Point, Report, Score};
use host::{Host, HostConfig, HostError, StoreError};
use proto::board::{Ending, Side};
use proto::control::{self, Attach, Message, RefusalCode, Request, reply, request};
use proto::frame::{FrameCodec, FrameLimit, Outgoing};
use tests::house::{Client, House, begin_match_of, pair, settle};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::codec::Encoder;

fn frame(message: &Message) -> Vec<u8> {
    let mut bytes = bytes::BytesMut::new();
    FrameCodec::new(FrameLimit::Local).encode(Outgoing::from(message), &mut bytes).expect("it fits");
    bytes.to_vec()
}

fn attach() -> Vec<u8> {
    let body = Some(request::Body::Attach(Attach { client: "test".into(), version: 1 }));
    frame(&Message::Request(Request { id: 1, body }))
}

#[tokio::test(start_paused = true)]
async fn whatever_a_client_sends_closes_that_client_only() {
    let mut house = House::new(20);
    let mut anna = house.device("Anna").await;
    let golden = attach();
    let mut wrong_length = golden.clone();
    wrong_length[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let mut wrong_version = golden.clone();
    wrong_version[19] = 9;
    let mut unknown_message = golden.clone();
    unknown_message[11] = 99;
    let event = Message::Event(control::Event::default());
    let hostile: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 4096],
        vec![0xFF; 100_000],
        wrong_length,
        wrong_version,
        unknown_message,
        frame(&event),
        [golden.clone(), golden.clone()].concat(),
        [golden, b"and then rubbish".to_vec()].concat(),
    ];
    for (number, bytes) in hostile.into_iter().enumerate() {
        let mut stream = anna.host().client();
        // The host may close the connection before everything is written.
        let _ = stream.write_all(&bytes).await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        assert!(read.is_ok(), "hostile client {number} is still connected");
        anna.client.scan(false).await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_not_attached_is_told_nothing_and_may_do_nothing() {
    let mut house = House::new(21);
    let anna = house.device("Anna").await;
    let mut stream = anna.host().client();
    let open = control::OpenRoom::default();
    let body = Some(request::Body::OpenRoom(open));
    stream.write_all(&frame(&Message::Request(Request { id: 5, body }))).await.expect("written");
    let mut header = [0; 20];
    stream.read_exact(&mut header).await.expect("an answer");
    let length = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize - 20;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.expect("an answer");
    let Ok(Message::Reply(reply)) = Message::decode(2, &payload) else { panic!("a reply") };
    let Some(reply::Body::Refusal(refusal)) = reply.body else { panic!("a refusal") };
    assert_eq!((reply.id, refusal.code()), (5, RefusalCode::RefusalBadRequest));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_dropped_and_others_are_served() {
    let mut house = House::new(22);
    let mut anna = house.device("Anna").await;
    let mut deaf = anna.host().client();
    deaf.write_all(&attach()).await.expect("written");
    for _ in 0..2_000 {
        anna.client.scan(true).await;
        anna.client.scan(false).await;
    }
    let mut heard = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(5), deaf.read_to_end(&mut heard)).await;
    assert!(end.is_ok(), "it is still connected");
    assert!(heard.len() < 1 << 20, "what waited for it was bounded: {}", heard.len());
}

#[tokio::test(start_paused = true)]
async fn nonsense_in_a_well_formed_request_is_refused() {
    let mut house = House::new(23);
    let mut anna = house.device("Anna").await;
    let room_id = anna.client.open_room(None, None).await;
    let gomoku = |size, rule| {
        let setup = proto::board::GomokuSetup { size, rule, edge_five_wins: true, opening: 0 };
        Some(proto::board::Setup { game: Some(proto::board::setup::Game::Gomoku(setup)) })
    };
    let seat = |level| {
        let who = Some(control::seat::Who::BotLevel(level));
        Some(control::Seat { who, ..control::Seat::default() })
    };
    let open = |setup, first| {
        request::Body::OpenRoom(control::OpenRoom { setup, first, ..control::OpenRoom::default() })
    };
    let act = |notation: &str| {
        let (room_id, notation) = (room_id.clone(), notation.to_owned());
        request::Body::Act(control::Act { room_id, action: None, notation })
    };
    let cases = [
        (open(gomoku(4, 0), None), RefusalCode::RefusalBadRequest),
        (open(gomoku(u32::MAX, 0), None), RefusalCode::RefusalBadRequest),
        (open(gomoku(15, 77), None), RefusalCode::RefusalBadRequest),
        (open(None, seat(0)), RefusalCode::RefusalBadRequest),
        (open(None, seat(11)), RefusalCode::RefusalBadRequest),
        (act("z99"), RefusalCode::RefusalOffBoard),
        (act("not a move"), RefusalCode::RefusalBadRequest),
        (act(""), RefusalCode::RefusalBadRequest),
        (
            request::Body::Act(control::Act { room_id: "zz".into(), ..control::Act::default() }),
            RefusalCode::RefusalNoSuchRoom,
        ),
        (request::Body::Meet(control::Meet { peer: "nobody".into() }), RefusalCode::RefusalNoSuchPeer),
        (request::Body::Compare(control::Compare::default()), RefusalCode::RefusalNoSuchPeer),
        (request::Body::Forget(control::Forget::default()), RefusalCode::RefusalNoSuchPeer),
        (request::Body::Invite(control::Invite::default()), RefusalCode::RefusalNoSuchPeer),
        (request::Body::Withdraw(control::Withdraw::default()), RefusalCode::RefusalNoOffer),
        (request::Body::AnswerInvite(control::AnswerInvite::default()), RefusalCode::RefusalNoOffer),
        (
            request::Body::Offer(control::Offer { room_id: room_id.clone(), kind: 99 }),
            RefusalCode::RefusalBadRequest,
        ),
        (
            request::Body::AnswerOffer(control::AnswerOffer { room_id: room_id.clone(), accept: true }),
            RefusalCode::RefusalNoOffer,
        ),
        (request::Body::ResumeRoom(control::ResumeRoom::default()), RefusalCode::RefusalNoSuchRoom),
        (request::Body::SetName(control::SetName { name: " \n ".into() }), RefusalCode::RefusalBadRequest),
        (
            request::Body::SetVisibility(control::SetVisibility { visibility: 9 }),
            RefusalCode::RefusalBadRequest,
        ),
    ];
    for (body, code) in cases {
        let what = format!("{body:?}");
        let refusal = anna.client.ask(body).await.expect_err(&what);
        assert_eq!(refusal.code(), code, "{what}: {}", refusal.detail);
    }
    let room = anna.client.seen.room().expect("one room");
    assert!(room.record.is_empty());
}

#[tokio::test(start_paused = true)]
async fn two_people_at_one_device_play_take_back_and_start_anew() {
    let mut house = House::new(24);
    let mut anna = house.device("Anna").await;
    let id = anna.client.open_room(None, None).await;
    for (number, action) in ["h8", "h9", "i8", "i9", "j8", "j9", "k8"].into_iter().enumerate() {
        anna.client.play(action).await.unwrap_or_else(|refusal| panic!("{number}: {refusal:?}"));
    }
    let refusal = anna.client.play("h8").await.expect_err("occupied");
    assert_eq!(refusal.code(), RefusalCode::RefusalOccupied);
    let offer = |kind: control::OfferKind, room_id: &str| {
        request::Body::Offer(control::Offer { room_id: room_id.into(), kind: kind.into() })
    };
    anna.client.done(offer(control::OfferKind::OfferTakeBack, &id)).await;
    assert_eq!(anna.client.seen.room().expect("one room").record.len(), 6);
    for action in ["k8", "k9", "l8"] {
        anna.client.play(action).await.expect("legal");
    }
    let room = anna.client.seen.room().expect("one room").clone();
    let result = room.result.expect("five in a row");
    assert_eq!((result.winner(), result.ending()), (Side::First, Ending::FiveInARow));
    assert_eq!(room.board.expect("a board").marks.len(), 5, "the winning five are shown");
    assert_eq!(anna.client.play("a1").await.expect_err("over").code(), RefusalCode::RefusalGameOver);
    let new = anna.client.ask(offer(control::OfferKind::OfferNewGame, &id)).await.expect("a new game");
    let reply::Body::RoomId(new) = new else { panic!("a room, not {new:?}") };
    anna.client.until("the new room alone", |seen| seen.room().is_some_and(|room| room.id == new)).await;
    assert_eq!(anna.client.seen.room().expect("one room").follows, id);
    // Both stay on disk.
    assert_eq!(anna.record().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_game_against_the_device_survives_a_power_cut() {
    let mut house = House::new(25);
    let mut anna = house.device("Anna").await;
    anna.client.open_room(None, Some(1)).await;
    anna.client.play("h8").await.expect("legal");
    anna.client.until("an answer", |seen| seen.room().is_some_and(|room| room.record.len() == 2)).await;
    let before = anna.client.seen.room().expect("one room").clone();
    anna.kill().await;
    anna.start().await;
    let after = anna.client.seen.room().expect("one room").clone();
    assert_eq!((&before.record, before.digest), (&after.record, after.digest));
    anna.client.hand_over(1).await;
    anna.client.until_over().await;
}

#[tokio::test(start_paused = true)]
async fn one_directory_has_one_host() {
    let mut house = House::new(26);
    let mut anna = house.device("Anna").await;
    let again = Host::start(HostConfig::new(anna.directory()));
    assert!(matches!(again, Err(HostError::Store(StoreError::InUse(_)))), "{:?}", again.err());
    anna.kill().await;
    anna.start().await;
}

#[tokio::test(start_paused = true)]
async fn clients_are_told_whether_the_host_ends_with_the_app() {
    let mut house = House::new(27);
    assert!(!house.device("Anna").await.client.seen.me.ends_with_app, "as qiyoud runs it");
    let mut ben = house.device_with("Ben", |config| config.ends_with_app = true).await;
    assert!(ben.client.seen.me.ends_with_app, "as the app runs it");
    ben.client.done(request::Body::SetName(control::SetName { name: "Benno".into() })).await;
    assert_eq!(
        (&*ben.client.seen.me.name, ben.client.seen.me.ends_with_app),
        ("Benno", true),
        "in later events too"
    );
}

/// The behaviour of a fake bot.
type Choice = dyn Fn(&AnyGame, &Limits<'_>) -> Option<Action> + Send + Sync;

struct Trick(Arc<Choice>);

impl Bot for Trick {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        _report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let action = (self.0)(game, limits)?;
        Some(Report { line: vec![action], score: Score::Points(0), depth: 1, nodes: 1 })
    }
}

/// A host whose first `times` bots are fake bots with this behaviour, and later ones the engine's.
fn tricky(
    config: &mut HostConfig,
    times: u32,
    trick: impl Fn(&AnyGame, &Limits<'_>) -> Option<Action> + Send + Sync + 'static,
) {
    let (made, trick) = (AtomicU32::new(0), Arc::new(trick));
    config.bots = Arc::new(move |kind: GameKind, level: Level, seed: u64| {
        if made.fetch_add(1, Ordering::Relaxed) < times {
            Box::new(Trick(trick.clone())) as Box<dyn Bot>
        } else {
            engine::partner(kind, level, seed, 1 << 20)
        }
    });
}

async fn first_answer(client: &mut Client) {
    client.open_room(None, Some(5)).await;
    client.play("h8").await.expect("legal");
    client
        .until("an answer or an end", |seen| {
            seen.room().is_some_and(|room| room.record.len() == 2 || room.result.is_some())
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_fails_once_is_replaced() {
    let occupied = |_: &AnyGame, _: &Limits<'_>| Some(Action::Place(Point::new(7, 7)));
    let nothing = |_: &AnyGame, _: &Limits<'_>| None;
    let panics = |_: &AnyGame, _: &Limits<'_>| panic!("a bug, on purpose");
    for number in 0..3 {
        let mut house = House::new(27 + number);
        let mut anna = house
            .device_with("Anna", |config| match number {
                0 => tricky(config, 1, occupied),
                1 => tricky(config, 1, nothing),
                _ => tricky(config, 1, panics),
            })
            .await;
        first_answer(&mut anna.client).await;
        let room = anna.client.seen.room().expect("one room");
        assert!(room.result.is_none() && room.record.len() == 2, "trick {number}: {room:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_always_panics_resigns_and_the_host_lives_on() {
    let mut house = House::new(31);
    let panics = |_: &AnyGame, _: &Limits<'_>| panic!("a bug, on purpose");
    let mut anna = house.device_with("Anna", |config| tricky(config, u32::MAX, panics)).await;
    first_answer(&mut anna.client).await;
    let result = anna.client.seen.room().expect("one room").result.expect("it has resigned");
    assert_eq!((result.winner(), result.ending()), (Side::First, Ending::Resigned));
    anna.client.open_room(None, None).await;
}

/// Finds one move first, and another at the end.
struct SecondThoughts;

impl Bot for SecondThoughts {
    fn choose(&mut self, _: &AnyGame, _: &Limits<'_>, report: &mut dyn FnMut(&Report)) -> Option<Report> {
        let line = |points: &[(u16, u16)]| {
            points.iter().map(|&(column, row)| Action::Place(Point::new(column, row))).collect()
        };
        report(&Report { line: line(&[(0, 0)]), score: Score::Points(0), depth: 1, nodes: 7 });
        let line = line(&[(8, 8), (6, 6), (9, 9)]);
        Some(Report { line, score: Score::Points(400), depth: 9, nodes: 1_000 })
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_has_found_in_the_end_is_told_and_begins_with_what_it_plays() {
    let mut house = House::new(33);
    let second_thoughts =
        |config: &mut HostConfig| config.bots = Arc::new(|_, _, _| Box::new(SecondThoughts) as Box<dyn Bot>);
    let mut anna = house.device_with("Anna", second_thoughts).await;
    first_answer(&mut anna.client).await;
    let played = anna.client.seen.room().and_then(|room| room.record.last().cloned());
    let told = anna.client.seen.thoughts.last().expect("it has thought");
    assert_eq!((told.on, told.depth, told.ply, told.judged), (false, 9, 1, true));
    assert_eq!(told.line, ["i9", "g7", "j10"].map(String::from));
    assert_eq!(told.line.first(), played.as_ref());
    assert_eq!(told.actions.len(), 3);
    assert_eq!(told.stones, [Side::Second, Side::First, Side::Second].map(i32::from));
    assert!(told.permille > 600, "it is glad: {}", told.permille);
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_has_weighed_nothing_tells_no_opinion() {
    let mut house = House::new(34);
    let by_heart = |_: &AnyGame, _: &Limits<'_>| Some(Action::Place(Point::new(8, 8)));
    let mut anna = house.device_with("Anna", |config| tricky(config, 1, by_heart)).await;
    first_answer(&mut anna.client).await;
    let told = anna.client.seen.thoughts.last().expect("it has moved");
    assert_eq!((told.on, told.judged), (false, false));
    assert_eq!(told.line, ["i9".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn a_thinking_bot_is_stopped_when_its_room_closes() {
    let mut house = House::new(32);
    let thinking = Arc::new(AtomicBool::new(false));
    let stopped = Arc::new(AtomicBool::new(false));
    let (begins, ends) = (thinking.clone(), stopped.clone());
    let endless = move |_: &AnyGame, limits: &Limits<'_>| {
        begins.store(true, Ordering::Relaxed);
        while !limits.stop.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        ends.store(true, Ordering::Relaxed);
        None
    };
    let mut anna = house.device_with("Anna", |config| tricky(config, 1, endless)).await;
    let room_id = anna.client.open_room(None, Some(5)).await;
    anna.client.play("h8").await.expect("legal");
    settle("the bot begins to think", || thinking.load(Ordering::Relaxed)).await;
    anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id })).await;
    assert!(anna.client.seen.rooms.is_empty());
    settle("the bot stops thinking", || stopped.load(Ordering::Relaxed)).await;
}

#[tokio::test(start_paused = true)]
async fn the_endings_of_liuzhou_chess_are_worked_out_and_deleted_as_a_person_wants() {
    use control::EndingsState as State;
    let mut house = House::new(48);
    let mut anna = house.device("Anna").await;
    let set = |on| request::Body::SetEndings(control::SetEndings { on });
    assert_eq!(anna.client.seen.endings.state(), State::EndingsNone);
    anna.client.done(set(true)).await;
    assert_eq!(anna.client.seen.endings.state(), State::EndingsWorking);
    // A later client is told too, and stopping leaves nothing behind.
    let later = Client::attach(anna.host().client()).await;
    assert_eq!(later.seen.endings.state(), State::EndingsWorking);
    anna.client.done(set(false)).await;
    assert_eq!(anna.client.seen.endings.state(), State::EndingsNone);
    // A table that is there is told with its size.
    let setup = engine::liuzhou::LiuzhouSetup::default();
    let name = engine::liuzhou::tablebase::Tablebase::file_name(&setup).expect("there is a table");
    let table = anna.directory().join(name);
    std::fs::write(&table, [0; 100]).expect("a file");
    anna.kill().await;
    anna.start().await;
    let told = &anna.client.seen.endings;
    assert_eq!((told.state(), told.bytes), (State::EndingsThere, 100));
    anna.client.done(set(false)).await;
    assert!(!table.exists() && anna.client.seen.endings.state() == State::EndingsNone);
}

/// The stones that are marked as dead.
fn dead(room: &control::Room) -> Vec<u32> {
    let marks = room.board.iter().flat_map(|board| &board.marks);
    marks.filter(|mark| mark.kind() == control::MarkKind::MarkDead).map(|mark| mark.at).collect()
}

/// What is told of the position: the count, and what is not agreed on.
fn told(room: &control::Room) -> String {
    let facts = room.board.iter().flat_map(|board| &board.facts);
    let mut told = facts.filter(|fact| fact.kind() == control::FactKind::FactTold);
    told.next().and_then(|fact| fact.words.clone()).expect("the count is told").en
}

#[tokio::test(start_paused = true)]
async fn after_two_passes_between_two_devices_the_dead_stones_are_marked_once_for_both_and_disagreement_is_told()
 {
    let mut house = House::new(36);
    let (mut anna, mut ben) = pair(&mut house).await;
    let choice = control::GameChoice {
        game: proto::board::Game::Go.into(),
        options: vec![control::ChosenOption { option: "size".into(), value: "9".into() }],
        ..Default::default()
    };
    begin_match_of(&mut anna, &mut ben, Some(choice)).await;
    let mut plies = 0;
    // As on one device: two walls, and a white stone that is lost behind Black's.
    let walls = (1..=9).flat_map(|row| [format!("D{row}"), format!("F{row}")]);
    let moves: Vec<String> = walls.chain(["pass", "B5", "pass", "pass"].map(String::from)).collect();
    for (number, text) in moves.iter().enumerate() {
        let mover = if number % 2 == 0 { &mut anna } else { &mut ben };
        mover.client.play(text).await.expect("legal");
        plies += 1;
        for device in [&mut anna, &mut ben] {
            device
                .client
                .until("the move", |seen| seen.room().is_some_and(|room| room.record.len() >= plies))
                .await;
        }
    }
    for device in [&mut anna, &mut ben] {
        let marked = |room: &control::Room| dead(room) == [4 * 1_024 + 1];
        device.client.until("the proposal", |seen| seen.room().is_some_and(marked)).await;
        let room = device.client.seen.room().expect("one room");
        assert_eq!(room.record[plies..], ["dead B5"], "proposed once, by the device that has the turn");
        assert_eq!(told(room), "Black 36, White 43.5 with 7.5 komi: White is 7.5 ahead.");
        let territory = room.board.iter().flat_map(|board| &board.marks);
        let counted = territory.filter(|mark| mark.kind() == control::MarkKind::MarkTerritory).count();
        assert!(counted > 0, "what each surrounds is shown");
    }
    anna.client.play("agree").await.expect("agreed");
    ben.client
        .until("her agreement", |seen| seen.room().is_some_and(|room| room.record.len() == plies + 2))
        .await;
    // Ben sees it otherwise.
    ben.client.play("dead B5").await.expect("it is alive");
    ben.client.play("agree").await.expect("agreed");
    let all = |room: &control::Room| room.record.len() == plies + 4;
    anna.client.until("the other's marks", |seen| seen.room().is_some_and(all)).await;
    let room = anna.client.seen.room().expect("one room");
    assert!(
        told(room).ends_with(" You do not agree about the stones at B5: tap them to change it, or play on.")
    );
    let resume = proto::board::action::Kind::Resume(true);
    let choices = &room.board.as_ref().expect("a board").choices;
    assert!(choices.iter().any(|choice| choice.kind == Some(resume)), "play on is offered");
    anna.client.play("resume").await.expect("they play on");
    let resumed = |room: &control::Room| room.record.len() == plies + 5 && dead(room).is_empty();
    ben.client.until("it goes on", |seen| seen.room().is_some_and(resumed)).await;
}

#[tokio::test(start_paused = true)]
async fn after_two_passes_the_dead_stones_are_marked_at_once_with_the_count_and_can_be_changed() {
    let mut house = House::new(35);
    let mut anna = house.device("Anna").await;
    let choice = control::GameChoice {
        game: proto::board::Game::Go.into(),
        options: vec![control::ChosenOption { option: "size".into(), value: "9".into() }],
        ..Default::default()
    };
    let here = || Some(control::Seat { who: Some(control::seat::Who::Here(true)), ..Default::default() });
    let open =
        control::OpenRoom { choice: Some(choice), first: here(), second: here(), ..Default::default() };
    let opened = anna.client.ask(request::Body::OpenRoom(open)).await;
    assert!(matches!(opened, Ok(reply::Body::RoomId(_))), "{opened:?}");
    // Two walls, and a white stone that is lost behind Black's.
    for row in 1..=9 {
        anna.client.play(&format!("D{row}")).await.expect("legal");
        anna.client.play(&format!("F{row}")).await.expect("legal");
    }
    for text in ["pass", "B5", "pass", "pass"] {
        anna.client.play(text).await.expect("legal");
    }
    anna.client.until("the proposal", |seen| seen.room().is_some_and(|room| !dead(room).is_empty())).await;
    let room = anna.client.seen.room().expect("one room").clone();
    assert_eq!(dead(&room), [4 * 1_024 + 1]);
    assert_eq!(told(&room), "Black 36, White 43.5 with 7.5 komi: White is 7.5 ahead.");
    // Whose turn it is may see it otherwise, and then nothing is proposed again.
    let mine = room.board.as_ref().map(control::Board::turn);
    anna.client.play("dead B5").await.expect("it is alive again");
    anna.client.play("agree").await.expect("agreed");
    anna.client.play("dead B5").await.expect("the other side thinks it dead");
    anna.client.play("agree").await.expect("agreed");
    anna.client
        .until("the other's marks", |seen| seen.room().is_some_and(|room| !dead(room).is_empty()))
        .await;
    let room = anna.client.seen.room().expect("one room").clone();
    assert_eq!(room.board.as_ref().map(control::Board::turn), mine);
    assert!(
        told(&room).ends_with(" You do not agree about the stones at B5: tap them to change it, or play on."),
        "{}",
        told(&room)
    );
    let resume = proto::board::action::Kind::Resume(true);
    assert!(room.board.expect("a board").choices.iter().any(|choice| choice.kind == Some(resume)), "play on");
}
