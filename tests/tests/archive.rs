//! Kept matches: found, looked into, played on from, judged, and exchanged with other programs.

use proto::board::{Game, Side};
use proto::control::{self, Outcome, RefusalCode, event, reply, request};
use tests::house::{Client, House};

fn here() -> control::Seat {
    control::Seat { who: Some(control::seat::Who::Here(true)), ..control::Seat::default() }
}

async fn import(client: &mut Client, name: &str, text: &str) -> Result<String, control::Refusal> {
    let file = control::Import { name: name.into(), content: text.as_bytes().to_vec().into() };
    match client.ask(request::Body::Import(file)).await? {
        reply::Body::RoomId(id) => Ok(id),
        other => panic!("a match, not {other:?}"),
    }
}

async fn list(client: &mut Client, asked: control::ListMatches) -> control::Matches {
    match client.ask(request::Body::ListMatches(asked)).await.expect("a list") {
        reply::Body::Matches(list) => list,
        other => panic!("a list, not {other:?}"),
    }
}

async fn look(client: &mut Client, id: &str, ply: u32) -> control::Position {
    let look = control::Look { room_id: id.into(), ply, record: true };
    match client.ask(request::Body::Look(look)).await.expect("a position") {
        reply::Body::Position(position) => position,
        other => panic!("a position, not {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_becomes_a_match_that_is_looked_into_and_written_again() {
    let mut house = House::new(70);
    let mut anna = house.device("Anna").await;
    let text = "[Game \"xiangqi\"]\n\n1. 炮二平五 马8进7 2. 马二进三 车9平8 *\n";
    let id = import(&mut anna.client, "a.pgn", text).await.expect("it is a game");
    assert!(anna.client.seen.room().is_none(), "it is kept, not opened");
    let middle = look(&mut anna.client, &id, 2).await;
    assert_eq!((middle.ply, middle.total), (2, 4));
    assert_eq!(middle.record, ["h2e2", "h9g7", "h0g2", "i9h9"]);
    let spoken: Vec<&str> = middle.spoken.iter().map(|words| words.zh.as_str()).collect();
    assert_eq!(spoken, ["炮二平五", "马8进7", "马二进三", "车9平8"]);
    let board = middle.board.expect("a board");
    assert_eq!((board.ply, board.turn()), (2, Side::First));
    let export = control::Export { room_id: id.clone(), format: String::new() };
    let reply::Body::File(file) = anna.client.ask(request::Body::Export(export)).await.expect("written")
    else {
        panic!("a file")
    };
    assert!(file.name.starts_with("xiangqi-") && file.name.contains(".pgn"), "{}", file.name);
    let text = String::from_utf8(file.content.to_vec()).expect("text");
    let again = import(&mut anna.client, &file.name, &text).await.expect("what we write we read");
    assert_eq!(look(&mut anna.client, &again, 9).await.record, middle.record);
    for (name, text) in [("a.doc", "1. h8"), ("a.sgf", "(;GM[1]SZ[9];B[ee];W[ee])"), ("a.pgn", "1. 炮九平一")]
    {
        let refusal = import(&mut anna.client, name, text).await.expect_err(name);
        assert_eq!(refusal.code(), RefusalCode::RefusalBadRequest);
        assert!(refusal.reason.is_some_and(|words| words.zh.contains("读不了")), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn matches_are_found_by_game_opponent_and_outcome() {
    let mut house = House::new(71);
    let mut anna = house.device("Anna").await;
    import(&mut anna.client, "a.sgf", "(;GM[4]SZ[15];B[hh];W[hg])").await.expect("gomoku");
    import(&mut anna.client, "b.sgf", "(;GM[1]SZ[9]RE[B+R];B[ee];W[gc])").await.expect("go");
    let room = anna.client.open_room(None, Some(1)).await;
    let resign = control::Resign { room_id: room.clone(), side: Side::First.into() };
    anna.client.done(request::Body::Resign(resign)).await;
    let any = control::ListMatches::default;
    assert_eq!(list(&mut anna.client, any()).await.total, 3);
    let go =
        list(&mut anna.client, control::ListMatches { game: Game::Go.into(), boards: true, ..any() }).await;
    assert_eq!(go.total, 1);
    assert!(go.matches[0].board.is_some() && go.matches[0].result.is_some());
    let of = |outcome: Outcome| control::ListMatches { outcome: outcome.into(), ..any() };
    assert_eq!(list(&mut anna.client, of(Outcome::Lost)).await.matches[0].room_id, room);
    assert_eq!(list(&mut anna.client, of(Outcome::Unfinished)).await.total, 1);
    assert_eq!(list(&mut anna.client, of(Outcome::Won)).await.total, 0);
    let bots = list(&mut anna.client, control::ListMatches { opponent: "bot".into(), ..any() }).await;
    assert_eq!(bots.matches.len(), 1);
    let page = list(&mut anna.client, control::ListMatches { limit: 1, skip: 1, ..any() }).await;
    assert_eq!((page.total, page.matches.len()), (3, 1));
    anna.client.done(request::Body::Discard(control::Discard { room_id: room })).await;
    assert_eq!(list(&mut anna.client, any()).await.total, 2);
    assert_eq!(anna.record().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_match_is_played_on_from_any_of_its_positions() {
    let mut house = House::new(72);
    let mut anna = house.device("Anna").await;
    let id =
        import(&mut anna.client, "a.sgf", "(;GM[4]SZ[15];B[hh];W[hg];B[ih];W[ig])").await.expect("gomoku");
    let branch = control::Branch { room_id: id.clone(), ply: 3, first: Some(here()), second: Some(here()) };
    let new = anna.client.ask(request::Body::Branch(branch)).await.expect("a new match");
    let reply::Body::RoomId(new) = new else { panic!("a room, not {new:?}") };
    anna.client.until("the new match", |seen| seen.room().is_some_and(|room| room.id == new)).await;
    assert_eq!(anna.client.seen.room().expect("one room").record.len(), 3);
    anna.client.play("a1").await.expect("it goes on");
    assert_eq!(look(&mut anna.client, &id, 99).await.total, 4, "the old one is as it was");
}

#[tokio::test]
async fn every_position_of_a_match_is_judged_and_it_can_be_ended() {
    let mut house = House::new(73);
    let mut anna = house.device("Anna").await;
    let text = "(;GM[4]SZ[15];B[hh];W[aa];B[ih];W[ba];B[jh];W[ca];B[kh];W[oo];B[lh])";
    let id = import(&mut anna.client, "a.sgf", text).await.expect("gomoku");
    anna.client.done(request::Body::Judge(control::Judge { room_id: id.clone(), on: true })).await;
    let all = loop {
        if let Some(event::Body::Judgements(analysis)) = anna.client.next().await.body
            && analysis.ended
        {
            break analysis;
        }
    };
    assert_eq!((all.total, all.positions.len()), (10, 10));
    let permille: Vec<i32> = all.positions.iter().map(|one| one.permille).collect();
    assert_eq!(permille[9], 1_000, "Black has won");
    assert!(permille[7] > 900, "four in a row with both ends open: {permille:?}");
    assert!(!all.positions[0].best.is_empty() && all.positions[9].best.is_empty());
    anna.client.done(request::Body::Judge(control::Judge { room_id: id.clone(), on: true })).await;
    anna.client.done(request::Body::Judge(control::Judge { room_id: id, on: false })).await;
    let ended = loop {
        if let Some(event::Body::Judgements(analysis)) = anna.client.next().await.body
            && analysis.ended
        {
            break analysis;
        }
    };
    assert!(ended.positions.len() < 10);
}
