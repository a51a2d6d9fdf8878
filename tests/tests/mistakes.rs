//! One's own mistakes: kept by the analysis of a match, tried again, back after days.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use proto::board::Game;
use proto::control::{self, MarkKind, OfferKind, PuzzleProgress, RefusalCode, event, reply, request};
use tests::house::{Client, Device, House, begin_match, friends};

/// A device whose calendar the test turns.
async fn dated(house: &mut House, name: &str) -> (Device, Arc<AtomicU64>) {
    let day = Arc::new(AtomicU64::new(20_000));
    let today = day.clone();
    let device = house
        .device_with(name, move |config| {
            let noon = Duration::from_hours(12);
            config.wall_clock = Arc::new(move || {
                SystemTime::UNIX_EPOCH + Duration::from_hours(24) * today.load(Ordering::SeqCst) as u32 + noon
            });
            config.local_minute = Arc::new(|_| 12 * 60);
        })
        .await;
    (device, day)
}

/// Anna, who plays Black, has four in a row and plays in the corner; Ben makes five.
async fn lose_by_a_mistake(anna: &mut Device, ben: &mut Device) -> String {
    friends(anna, ben).await;
    begin_match(anna, ben).await;
    let id = anna.client.seen.room().expect("one room").id.clone();
    for (ply, text) in (1..).zip(["e8", "a1", "f8", "b1", "g8", "c1", "h8", "d1", "o15", "e1"]) {
        let mover = if ply % 2 == 1 { &mut anna.client } else { &mut ben.client };
        mover.play(text).await.expect("legal");
        for client in [&mut anna.client, &mut ben.client] {
            client.until("the move", |seen| seen.room().is_some_and(|room| room.record.len() == ply)).await;
        }
    }
    id
}

async fn analyse(client: &mut Client, id: &str) -> control::Judgements {
    let on = control::AnalyseMatch { room_id: id.into(), on: true, ..Default::default() };
    client.done(request::Body::AnalyseMatch(on)).await;
    loop {
        if let Some(event::Body::Judgements(analysis)) = client.next().await.body
            && analysis.ended
        {
            return analysis;
        }
    }
}

async fn list(client: &mut Client, game: Game, yours: bool) -> control::Puzzles {
    let ask = request::Body::ListPuzzles(control::ListPuzzles { game: game.into(), yours });
    match client.ask(ask).await.expect("a list") {
        reply::Body::Puzzles(list) => list,
        other => panic!("a list, not {other:?}"),
    }
}

/// One's own mistakes of gomoku: how many there are, and how many are due.
async fn counted(client: &mut Client) -> (u32, u32) {
    let list = list(client, Game::Unspecified, false).await;
    let count = list.counts.iter().find(|count| count.game() == Game::Gomoku).expect("every game");
    (count.yours, count.due)
}

async fn open(client: &mut Client, open: control::OpenPuzzle) -> Result<String, control::Refusal> {
    match client.ask(request::Body::OpenPuzzle(open)).await? {
        reply::Body::RoomId(id) => Ok(id),
        other => panic!("a room, not {other:?}"),
    }
}

async fn act(client: &mut Client, room: &str, notation: &str) {
    let act = control::Act { room_id: room.into(), action: None, notation: notation.into() };
    client.done(request::Body::Act(act)).await;
}

async fn offer(client: &mut Client, room: &str, kind: OfferKind) {
    client.done(request::Body::Offer(control::Offer { room_id: room.into(), kind: kind.into() })).await;
}

async fn close(client: &mut Client, room: &str) {
    client.done(request::Body::CloseRoom(control::CloseRoom { room_id: room.into() })).await;
}

async fn narrowed(client: &mut Client, room: &str) -> control::HintFound {
    let ask = control::Hint { room_id: room.into(), narrow: true, ..Default::default() };
    match client.ask(request::Body::Hint(ask)).await.expect("there is one") {
        reply::Body::Hint(hint) => hint,
        other => panic!("a hint, not {other:?}"),
    }
}

fn shown(client: &Client, room: &str) -> (PuzzleProgress, String, control::Room) {
    let shown = client.seen.rooms.get(room).expect("the room").clone();
    let state = shown.puzzle.clone().expect("a puzzle's");
    (state.progress(), state.say.clone().expect("always something").en, shown)
}

fn card(client: &Client, room: &str) -> control::Mistake {
    let puzzle = client.seen.rooms[room].puzzle.clone().and_then(|state| state.puzzle);
    puzzle.and_then(|puzzle| puzzle.mistake).expect("a mistake's")
}

#[tokio::test]
async fn a_mistake_of_a_judged_match_is_tried_again_and_what_was_missed_comes_back_after_days() {
    let mut house = House::new(310);
    let (mut anna, day) = dated(&mut house, "Anna").await;
    let mut ben = house.device("Ben").await;
    let id = lose_by_a_mistake(&mut anna, &mut ben).await;
    assert_eq!(counted(&mut anna.client).await, (0, 0), "nothing is judged without being asked for");
    let judged = analyse(&mut anna.client, &id).await;
    let mistake = judged.positions[9].try_again.clone();
    assert!(!mistake.is_empty(), "the five that was passed by: {judged:?}");
    let theirs = (0..judged.positions.len()).filter(|ply| ply % 2 == 0);
    assert!(theirs.into_iter().all(|ply| judged.positions[ply].try_again.is_empty()), "Ben's are not Anna's");
    let (all, due) = counted(&mut anna.client).await;
    assert!(all >= 1 && due == all);

    let again = control::OpenPuzzle { puzzle: mistake.clone(), ..Default::default() };
    let room = open(&mut anna.client, again.clone()).await.expect("it is kept");
    let (progress, said, board) = shown(&anna.client, &room);
    assert_eq!((progress, card(&anna.client, &room).r#box), (PuzzleProgress::PuzzleOpen, 0));
    assert_eq!(said, "You played O15 here. Find a better move.");
    assert_eq!(board.board.expect("a board").pieces.len(), 8);
    act(&mut anna.client, &room, "o15").await;
    let (progress, said, _) = shown(&anna.client, &room);
    assert_eq!(progress, PuzzleProgress::PuzzleWrong);
    assert!(said.starts_with("That is what you played in the game."), "{said}");
    let missed = card(&anna.client, &room);
    assert_eq!((missed.r#box, missed.due_in_days, missed.learnt), (1, 1, false));
    offer(&mut anna.client, &room, OfferKind::OfferTakeBack).await;
    act(&mut anna.client, &room, "i8").await;
    let (progress, said, _) = shown(&anna.client, &room);
    assert_eq!(progress, PuzzleProgress::PuzzleSolved, "{said}");
    assert_eq!(card(&anna.client, &room), missed, "found at the second try it is not known yet");
    close(&mut anna.client, &room).await;
    assert_eq!(counted(&mut anna.client).await, (all, due - 1));

    day.fetch_add(1, Ordering::SeqCst);
    assert_eq!(counted(&mut anna.client).await, (all, all), "tomorrow it is back");
    let room = open(&mut anna.client, again.clone()).await.expect("it is kept");
    act(&mut anna.client, &room, "i8").await;
    let known = card(&anna.client, &room);
    assert_eq!((known.r#box, known.due_in_days), (2, 2), "known at once it comes back after longer");
    close(&mut anna.client, &room).await;
    anna.stop().await;
    anna.start().await;
    let kept = list(&mut anna.client, Game::Gomoku, true).await;
    let row = kept.puzzles.iter().find(|one| one.id == mistake).expect("kept over a restart");
    assert!(row.board.is_some() && row.mistake == Some(known));
}

#[tokio::test]
async fn hints_narrow_from_a_part_of_the_board_to_the_move_and_then_it_counts_as_missed() {
    let mut house = House::new(311);
    let (mut anna, _day) = dated(&mut house, "Anna").await;
    let mut ben = house.device("Ben").await;
    let id = lose_by_a_mistake(&mut anna, &mut ben).await;
    let mistake = analyse(&mut anna.client, &id).await.positions[9].try_again.clone();
    let again = control::OpenPuzzle { puzzle: mistake, ..Default::default() };
    let room = open(&mut anna.client, again).await.expect("it is kept");
    let near = |client: &Client| {
        let board = shown(client, &room).2.board.expect("a board");
        board.marks.iter().filter(|mark| mark.kind() == MarkKind::MarkNear).count()
    };
    let mut seen = Vec::new();
    let told = loop {
        let hint = narrowed(&mut anna.client, &room).await;
        seen.push(near(&anna.client));
        if let Some(say) = hint.say {
            assert!(hint.action.is_none() && shown(&anna.client, &room).1 == say.en);
        } else {
            break hint.notation;
        }
    };
    assert_eq!(seen, [64, 9, 0], "a quarter of the board, nine points, the move");
    act(&mut anna.client, &room, &told).await;
    let (progress, said, _) = shown(&anna.client, &room);
    assert_eq!((progress, said.as_str()), (PuzzleProgress::PuzzleSolved, "Found with a hint."));
    assert_eq!(card(&anna.client, &room).r#box, 1);
    offer(&mut anna.client, &room, OfferKind::OfferNewGame).await;
    act(&mut anna.client, &room, &told).await;
    assert_eq!(card(&anna.client, &room).r#box, 1, "begun again it is the same answer");
}

#[tokio::test]
async fn without_mistakes_there_is_nothing_to_open_and_a_file_of_others_leaves_none() {
    let mut house = House::new(312);
    let (mut anna, _day) = dated(&mut house, "Anna").await;
    let yours = control::OpenPuzzle { game: Game::Gomoku.into(), yours: true, ..Default::default() };
    let refusal = open(&mut anna.client, yours).await.expect_err("there are none");
    assert_eq!(refusal.code(), RefusalCode::RefusalBadRequest);
    let text = "(;GM[4]SZ[15];B[eh];W[aa];B[fh];W[ba];B[gh];W[ca];B[hh];W[da];B[oo];W[ea])";
    let import = control::Import { name: "a.sgf".into(), content: text.as_bytes().to_vec().into() };
    let reply::Body::RoomId(id) = anna.client.ask(request::Body::Import(import)).await.expect("gomoku")
    else {
        panic!("a room");
    };
    let judged = analyse(&mut anna.client, &id).await;
    assert!(judged.positions.iter().all(|one| one.try_again.is_empty()));
    assert_eq!(counted(&mut anna.client).await, (0, 0));
}
