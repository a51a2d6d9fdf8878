//! Kept matches: found, reviewed, continued, analysed, and exchanged with other programs.

use proto::board::{self, Ending, Game, Side};
use proto::control::{self, Outcome, RefusalCode, edit_notes, event, reply, request};
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
    let look = control::Look { room_id: id.into(), ply, record: true, line: Vec::new() };
    match client.ask(request::Body::Look(look)).await.expect("a position") {
        reply::Body::Position(position) => position,
        other => panic!("a position, not {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn looking_through_a_long_match_listing_it_and_going_on_with_it_hold_up_nothing_else() {
    let mut house = House::new(78);
    let mut anna = house.device("Anna").await;
    let points = (0..18u8).flat_map(|row| (0..19u8).map(move |column| (column, row)));
    let letter = |at: u8| char::from(b'a' + at);
    let mut file = "(;GM[1]FF[4]SZ[19]".to_owned();
    for (number, (column, row)) in points.enumerate() {
        let colour = if number % 2 == 0 { 'B' } else { 'W' };
        file.extend([';', colour, '[', letter(column), letter(row), ']']);
    }
    file.push(')');
    let id = import(&mut anna.client, "long.sgf", &file).await.expect("a game");
    let every = control::ListMatches { boards: true, ..control::ListMatches::default() };
    let list = anna.client.send(request::Body::ListMatches(every)).await;
    let scan = anna.client.send(request::Body::Scan(control::Scan { on: false })).await;
    assert_eq!([anna.client.answer().await.0, anna.client.answer().await.0], [scan, list]);
    let look = control::Look { room_id: id.clone(), ply: 300, record: true, line: Vec::new() };
    let asked = anna.client.send(request::Body::Look(look.clone())).await;
    let scan = anna.client.send(request::Body::Scan(control::Scan { on: false })).await;
    let (first, done) = anna.client.answer().await;
    assert_eq!(first, scan, "it is not behind the look");
    assert!(matches!(done, Ok(reply::Body::Done(_))));
    let (second, answer) = anna.client.answer().await;
    assert_eq!(second, asked);
    let Ok(reply::Body::Position(position)) = answer else { panic!("a position, not {answer:?}") };
    assert_eq!((position.ply, position.record.len()), (300, position.total as usize));
    // Playing on from a position, and the match itself, are computed behind what was asked later too.
    let branch = request::Body::Branch(control::Branch {
        room_id: id.clone(),
        ply: 300,
        first: Some(here()),
        second: Some(here()),
    });
    let asked = anna.client.send(branch).await;
    let scan = anna.client.send(request::Body::Scan(control::Scan { on: false })).await;
    assert_eq!(anna.client.answer().await.0, scan);
    let (number, new) = anna.client.answer().await;
    assert!(number == asked && matches!(&new, Ok(reply::Body::RoomId(new)) if *new != id), "{new:?}");
    // Who asks twice before the match is there is in one room.
    let resume = request::Body::ResumeRoom(control::ResumeRoom { room_id: id.clone() });
    let twice = [anna.client.send(resume.clone()).await, anna.client.send(resume).await];
    let scan = anna.client.send(request::Body::Scan(control::Scan { on: false })).await;
    assert_eq!(anna.client.answer().await.0, scan);
    let opened = [anna.client.answer().await, anna.client.answer().await];
    for number in twice {
        let answer = opened.iter().find(|(answered, _)| *answered == number);
        assert!(matches!(answer, Some((_, Ok(reply::Body::RoomId(room)))) if *room == id), "{answer:?}");
    }
    // Each of many is answered.
    let many = vec![request::Body::Look(look); 30];
    let answers = anna.client.ask_at_once(many).await;
    assert!(answers.iter().all(|one| matches!(one, Ok(reply::Body::Position(one)) if one.ply == 300)));
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
    let export = control::Export { room_id: id.clone(), format: String::new(), ply: None };
    let reply::Body::File(file) = anna.client.ask(request::Body::Export(export)).await.expect("written")
    else {
        panic!("a file")
    };
    assert!(file.name.ends_with("xiangqi.pgn"), "{}", file.name);
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
async fn the_same_file_twice_is_one_game_until_it_is_deleted() {
    let mut house = House::new(79);
    let mut anna = house.device("Anna").await;
    let text = "[Game \"xiangqi\"]\n\n1. 炮二平五 马8进7 *\n";
    let first = import(&mut anna.client, "a.pgn", text).await.expect("it is a game");
    assert_eq!(import(&mut anna.client, "b.PGN", text).await.expect("it is known"), first);
    let other = import(&mut anna.client, "a.pgn", &text.replace("马8进7", "马2进3")).await.expect("a game");
    assert_ne!(other, first);
    assert_eq!(list(&mut anna.client, control::ListMatches::default()).await.total, 2);
    let discard = control::Discard { room_id: first.clone() };
    anna.client.done(request::Body::Discard(discard)).await;
    assert_ne!(import(&mut anna.client, "a.pgn", text).await.expect("it is a game"), first);
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

async fn export(client: &mut Client, id: &str, format: &str) -> String {
    let export = control::Export { room_id: id.into(), format: format.into(), ply: None };
    match client.ask(request::Body::Export(export)).await.expect("written") {
        reply::Body::File(file) => String::from_utf8(file.content.to_vec()).expect("text"),
        other => panic!("a file, not {other:?}"),
    }
}

/// Written by CGoban, with comments and a variation.
const CGOBAN: &str = "(;GM[1]FF[4]CA[UTF-8]AP[CGoban:3]ST[2]\nRU[Japanese]SZ[9]KM[6.50]TM[600]OT[5x30 byo-yomi]\n\
    PW[White Cat]PB[Ann]WR[5k]BR[6k]DT[2026-11-20]EV[Evening cup]PC[The KGS Go Server]RE[B+Resign]\n\
    ;B[ee]BL[598.1]C[Ann: in the middle\\]!](;W[gc]WL[595];B[cg])(;W[cc]C[or here]))\n";

/// Written by Sabaki: the result is a win by points, without a count in the file.
const SABAKI: &str = "(;GM[1]FF[4]CA[UTF-8]AP[Sabaki:0.52.2]KM[7.5]SZ[9]DT[2026-11-21]PB[Li Lei]PW[Han Meimei]RE[W+3.5];B[ee];W[gc])";

/// Written by xiangqi programs: a result without a reason.
const XIANGQI: &str = "[Game \"Chinese Chess\"]\r\n[Event \"全国象棋个人赛\"]\r\n[Date \"1999.05.01\"]\r\n[Red \"许银川\"]\r\n\
    [Black \"吕钦\"]\r\n[Result \"1-0\"]\r\n\r\n1. 炮二平五 {central cannon} 马8进7 2. 马二进三 (2. 兵七进一) 车9平8\r\n1-0\r\n";

const PISKVORK: &str =
    "Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,8,120\r\n7,7,80\r\nAnn\r\nEmbryo\r\n-1\r\n0,Freestyle15_1\r\n";

#[tokio::test(start_paused = true)]
async fn a_file_of_another_program_keeps_who_when_and_how_is_found_by_it_and_comes_out_as_it_came_in() {
    let mut house = House::new(74);
    let mut anna = house.device("Anna").await;
    let any = control::ListMatches::default;
    for (name, text, said, found_by) in [
        ("a.sgf", CGOBAN, ["Ann", "White Cat", "Evening cup", "2026-11-20", ""], "white c"),
        ("b.sgf", SABAKI, ["Li Lei", "Han Meimei", "", "2026-11-21", "0-1"], "HAN"),
        ("c.pgn", XIANGQI, ["许银川", "吕钦", "全国象棋个人赛", "1999-05-01", "1-0"], "吕钦"),
        ("d.psq", PISKVORK, ["Ann", "Embryo", "", "", ""], "embryo"),
    ] {
        let id = import(&mut anna.client, name, text).await.expect(name);
        assert_eq!(export(&mut anna.client, &id, "").await, text, "{name}");
        let found = list(&mut anna.client, control::ListMatches { opponent: found_by.into(), ..any() }).await;
        let [one] = &found.matches[..] else { panic!("{name}: {found:?}") };
        assert_eq!(one.room_id, id);
        let origin = one.origin.clone().expect("it is of a file");
        let control::Origin { first, second, event, date, score } = origin;
        assert_eq!([&first, &second, &event, &date, &score].map(String::as_str), said, "{name}");
        let names = [&one.first, &one.second].map(|seat| seat.as_ref().expect("a seat").name.clone());
        assert_eq!(names, [first, second]);
    }
    // The end is shown as the file states it: a resignation as such, otherwise only the winner.
    let list_of = |opponent: &str| control::ListMatches { opponent: opponent.into(), ..any() };
    let mut results = Vec::new();
    for name in ["White Cat", "Han", "吕钦", "Embryo"] {
        let found = list(&mut anna.client, list_of(name)).await;
        results.push(found.matches[0].result.map(|result| (result.winner(), result.ending())));
    }
    let [resigned, points, unexplained, open] = results[..] else { panic!("four") };
    assert_eq!(resigned, Some((Side::First, Ending::Resigned)));
    assert_eq!(points, Some((Side::Second, Ending::Unspecified)));
    assert_eq!(unexplained, Some((Side::First, Ending::Unspecified)));
    assert_eq!(open, None);
    let by_score = list(&mut anna.client, list_of("1-0")).await;
    assert_eq!(by_score.matches.len(), 1, "found by its score");
    let unfinished = control::ListMatches { outcome: Outcome::Unfinished.into(), ..any() };
    assert_eq!(list(&mut anna.client, unfinished).await.total, 1, "who has won has finished");
    assert_eq!(list(&mut anna.client, list_of("here")).await.total, 0, "nobody here has played them");
}

#[tokio::test(start_paused = true)]
async fn a_file_goes_into_another_format_with_its_names_date_and_result() {
    let mut house = House::new(75);
    let mut anna = house.device("Anna").await;
    let id = import(&mut anna.client, "c.pgn", XIANGQI).await.expect("a game");
    let record = export(&mut anna.client, &id, "qiyou").await;
    assert_eq!(record, XIANGQI, "both are the same grammar");
    let id = import(&mut anna.client, "d.psq", PISKVORK).await.expect("a game");
    let sgf = export(&mut anna.client, &id, "sgf").await;
    assert!(sgf.contains("PB[Ann]") && sgf.contains("PW[Embryo]"), "{sgf}");
    let id = import(&mut anna.client, "b.sgf", SABAKI).await.expect("a game");
    let record = export(&mut anna.client, &id, "qiyou").await;
    for tag in ["[Black \"Li Lei\"]", "[White \"Han Meimei\"]", "[Date \"2026.11.21\"]", "[Result \"0-1\"]"] {
        assert!(record.contains(tag), "{tag} in {record}");
    }
    let again = import(&mut anna.client, "again.qiyou", &record).await.expect("what we write we read");
    let all =
        list(&mut anna.client, control::ListMatches { opponent: "han".into(), ..Default::default() }).await;
    let origins: Vec<_> = all.matches.iter().map(|one| one.origin.clone()).collect();
    assert!(origins.len() == 2 && origins[0] == origins[1], "{origins:?}");
    assert!(all.matches.iter().any(|one| one.room_id == again));
}

#[tokio::test(start_paused = true)]
async fn a_position_on_the_way_is_written_alone_and_a_part_of_the_record_as_far_as_it() {
    let mut house = House::new(77);
    let mut anna = house.device("Anna").await;
    let id = import(&mut anna.client, "b.sgf", SABAKI).await.expect("a game");
    let mut at = async |format: &str, ply| {
        let export = control::Export { room_id: id.clone(), format: format.into(), ply };
        match anna.client.ask(request::Body::Export(export)).await.expect("written") {
            reply::Body::File(file) => String::from_utf8(file.content.to_vec()).expect("text"),
            other => panic!("a file, not {other:?}"),
        }
    };
    let positions = [at("fen", Some(0)).await, at("fen", Some(1)).await, at("fen", None).await];
    assert!(positions.iter().all(|text| text.trim_end().lines().count() == 1), "{positions:?}");
    assert!(positions[0] != positions[1] && positions[1] != positions[2], "{positions:?}");
    let (part, whole) = (at("sgf", Some(1)).await, at("sgf", None).await);
    let moves = |text: &str| text.matches(";B[").count() + text.matches(";W[").count();
    assert!(moves(&part) == 1 && moves(&whole) > 1, "{part} {whole}");
}

#[tokio::test(start_paused = true)]
async fn a_match_of_ones_own_is_written_with_who_won_who_played_and_when() {
    let mut house = House::new(76);
    let mut anna = house.device("Anna").await;
    for (game, first, second) in [
        (Game::Xiangqi, "[Red \"Anna\"]", "[Black \"Qiyou, level 1\"]"),
        (Game::Gomoku, "PB[Anna]", "PW[Qiyou, level 1]"),
    ] {
        let open = control::OpenRoom {
            choice: Some(control::GameChoice { game: game.into(), ..Default::default() }),
            first: Some(here()),
            second: Some(control::Seat { who: Some(control::seat::Who::BotLevel(1)), ..Default::default() }),
            ..Default::default()
        };
        let reply::Body::RoomId(id) = anna.client.ask(request::Body::OpenRoom(open)).await.expect("a room")
        else {
            panic!("a room")
        };
        let resign = control::Resign { room_id: id.clone(), side: Side::First.into() };
        anna.client.done(request::Body::Resign(resign)).await;
        let text = export(&mut anna.client, &id, "").await;
        assert!(text.contains(first) && text.contains(second), "{text}");
        if game == Game::Xiangqi {
            assert!(text.contains("[Result \"0-1\"]") && text.trim_end().ends_with("\n0-1"), "{text}");
            assert!(text.contains("[Termination \"resignation\"]") && text.contains("[Date \""), "{text}");
        } else {
            assert!(text.contains("RE[W+R]") && text.contains("DT[20"), "{text}");
        }
        let name = if game == Game::Xiangqi { "a.pgn" } else { "a.sgf" };
        let again = import(&mut anna.client, name, &text).await.expect("what we write we read");
        let all = list(&mut anna.client, control::ListMatches::default()).await;
        let one = all.matches.iter().find(|one| one.room_id == again).expect("kept");
        assert_eq!(one.result.map(|result| result.ending()), Some(Ending::Resigned));
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_without_end_is_cut_in_lists_and_whole_in_its_file() {
    let mut house = House::new(78);
    let mut anna = house.device("Anna").await;
    let text = format!("(;GM[1]SZ[9]PB[{}]PW[two\nlines];B[ee])", "许".repeat(50_000));
    let id = import(&mut anna.client, "a.sgf", &text).await.expect("it is a game");
    let origin = list(&mut anna.client, control::ListMatches::default()).await.matches[0].origin.clone();
    let origin = origin.expect("it is of a file");
    assert_eq!((origin.first.chars().count(), origin.second.as_str()), (64, "two lines"));
    assert_eq!(export(&mut anna.client, &id, "").await, text);
}

#[tokio::test(start_paused = true)]
async fn a_record_in_the_encoding_of_windows_in_china_is_read() {
    let mut house = House::new(77);
    let mut anna = house.device("Anna").await;
    // [Red "许"] 1. 炮二平五 马8进7 in GBK.
    let mut bytes = b"[Game \"Chinese Chess\"]\n[Red \"\xd0\xed\"]\n\n1. ".to_vec();
    bytes.extend(b"\xc5\xda\xb6\xfe\xc6\xbd\xce\xe5 \xc2\xed8\xbd\xf87 *\n");
    let file = control::Import { name: "a.pgn".into(), content: bytes.into() };
    anna.client.ask(request::Body::Import(file)).await.expect("it is a game");
    let all = list(&mut anna.client, control::ListMatches::default()).await;
    assert_eq!(all.matches[0].record, ["h2e2", "h9g7"]);
    assert_eq!(all.matches[0].origin.as_ref().map(|origin| origin.first.as_str()), Some("许"));
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
    anna.client
        .done(request::Body::AnalyseMatch(control::AnalyseMatch {
            room_id: id.clone(),
            on: true,
            ..Default::default()
        }))
        .await;
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
    anna.client
        .done(request::Body::AnalyseMatch(control::AnalyseMatch {
            room_id: id.clone(),
            on: true,
            ..Default::default()
        }))
        .await;
    anna.client
        .done(request::Body::AnalyseMatch(control::AnalyseMatch {
            room_id: id,
            on: false,
            ..Default::default()
        }))
        .await;
    let ended = loop {
        if let Some(event::Body::Judgements(analysis)) = anna.client.next().await.body
            && analysis.ended
        {
            break analysis;
        }
    };
    assert!(ended.positions.len() < 10);
}

#[tokio::test(start_paused = true)]
async fn a_match_that_nobody_has_touched_is_not_kept_whether_it_is_left_or_the_app_closed_on_it() {
    let mut house = House::new(83);
    let mut anna = house.device("Anna").await;
    let all = control::ListMatches::default;
    let close = |room_id| request::Body::CloseRoom(control::CloseRoom { room_id });
    let untouched = anna.client.open_room(None, None).await;
    anna.client.done(close(untouched)).await;
    assert_eq!(list(&mut anna.client, all()).await.total, 0);
    let played = anna.client.open_room(None, None).await;
    anna.client.play("h8").await.expect("legal");
    anna.client.done(close(played.clone())).await;
    anna.client.open_room(None, None).await;
    anna.stop().await;
    anna.start().await;
    let kept = list(&mut anna.client, all()).await;
    let ids: Vec<&str> = kept.matches.iter().map(|one| one.room_id.as_str()).collect();
    assert_eq!((ids, anna.client.seen.rooms.len()), (vec![played.as_str()], 0));
}

#[tokio::test(start_paused = true)]
async fn marks_and_agreements_of_a_count_are_no_moves() {
    let mut house = House::new(84);
    let mut anna = house.device("Anna").await;
    let choice = control::GameChoice {
        game: Game::Go.into(),
        options: vec![control::ChosenOption { option: "size".into(), value: "9".into() }],
        ..Default::default()
    };
    let open = control::OpenRoom {
        choice: Some(choice),
        first: Some(here()),
        second: Some(here()),
        ..Default::default()
    };
    let reply::Body::RoomId(id) = anna.client.ask(request::Body::OpenRoom(open)).await.expect("a room")
    else {
        panic!("a room")
    };
    for notation in ["E5", "D5", "pass", "pass"] {
        anna.client.play(notation).await.expect("legal");
    }
    let toggled = control::Act {
        room_id: id.clone(),
        action: Some(proto::board::Action { kind: Some(proto::board::action::Kind::Toggle(4 * 1_024 + 3)) }),
        ..Default::default()
    };
    anna.client.done(request::Body::Act(toggled)).await;
    let room = anna.client.seen.room().expect("it is open").clone();
    assert!(room.record.len() > 4, "the mark is in the record: {:?}", room.record);
    assert_eq!(room.moves, 4);
    let kept = list(&mut anna.client, control::ListMatches::default()).await;
    assert_eq!(kept.matches[0].moves, 4);
    let end = look(&mut anna.client, &id, 99).await;
    assert_eq!((end.moves, end.total_moves, end.total as usize), (4, 4, room.record.len()));
}

async fn look_along(client: &mut Client, id: &str, ply: u32, line: &[board::Action]) -> control::Position {
    let look = control::Look { room_id: id.into(), ply, record: false, line: line.to_vec() };
    match client.ask(request::Body::Look(look)).await.expect("a position") {
        reply::Body::Position(position) => position,
        other => panic!("a position, not {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn comments_and_variations_of_a_file_are_shown_changed_and_written_again() {
    let mut house = House::new(81);
    let mut anna = house.device("Anna").await;
    let id = import(&mut anna.client, "a.sgf", CGOBAN).await.expect("a game");
    let first = look(&mut anna.client, &id, 1).await;
    let notes = first.notes.expect("it has notes");
    assert_eq!((notes.comment.as_str(), notes.marked), ("Ann: in the middle]!", vec![1]));
    let [beside] = &notes.beside[..] else { panic!("one variation: {:?}", notes.beside) };
    assert_eq!(beside.written, "C7");
    let line = [beside.action.expect("a move")];
    let along = look_along(&mut anna.client, &id, 1, &line).await;
    let there = along.notes.expect("it has notes");
    assert_eq!((there.comment.as_str(), there.line.len(), there.next), ("or here", 1, None));
    assert_eq!(
        (along.ply, along.board.expect("a board").ply),
        (1, 2),
        "the board is the one of the variation"
    );
    // An unchanged file comes out as it came in; a changed one is written anew, with all that is noted.
    assert_eq!(export(&mut anna.client, &id, "").await, CGOBAN);
    let edit = |line: &[board::Action], change| {
        request::Body::EditNotes(control::EditNotes {
            room_id: id.clone(),
            ply: 1,
            line: line.to_vec(),
            change: Some(change),
        })
    };
    let digest = list(&mut anna.client, control::ListMatches::default()).await.matches[0].digest;
    anna.client.done(edit(&line, edit_notes::Change::Comment("not \\ here".into()))).await;
    let pass = board::Action { kind: Some(board::action::Kind::Pass(true)) };
    anna.client.done(edit(&line, edit_notes::Change::Add(pass))).await;
    let text = export(&mut anna.client, &id, "").await;
    assert!(
        text.contains("C[Ann: in the middle\\]!]") && text.contains("W[cc]C[not \\\\ here];B[]"),
        "{text}"
    );
    let record = export(&mut anna.client, &id, "qiyou").await;
    assert!(
        record.contains("{Ann: in the middle]!}") && record.contains("(1... C7 {not \\ here}"),
        "{record}"
    );
    let again = import(&mut anna.client, "again.sgf", &text).await.expect("what we write we read");
    assert_eq!(
        look_along(&mut anna.client, &again, 1, &line).await.notes.map(|notes| notes.comment),
        Some("not \\ here".into())
    );
    // The record is what it was.
    let lists = list(&mut anna.client, control::ListMatches::default()).await;
    assert!(lists.matches.iter().all(|one| one.digest == digest || one.room_id == again));
    // They outlive the host, and go with what they stand on.
    anna.stop().await;
    anna.start().await;
    let there = look_along(&mut anna.client, &id, 1, &[line[0], pass]).await.notes.expect("notes");
    assert_eq!(there.line.len(), 2);
    anna.client.done(edit(&line, edit_notes::Change::Remove(true))).await;
    assert_eq!(
        look_along(&mut anna.client, &id, 1, &line).await.notes.map(|notes| notes.beside),
        Some(vec![])
    );
    let gone =
        anna.client.ask(edit(&line, edit_notes::Change::Comment("?".into()))).await.expect_err("it is gone");
    assert!(gone.reason.is_some_and(|words| words.en == "This variation is no longer there."));
}

async fn explore(
    client: &mut Client,
    id: &str,
    ply: u32,
    line: &[board::Action],
) -> Result<control::Explored, control::Refusal> {
    let explore = control::Explore { room_id: id.into(), ply, line: line.to_vec() };
    match client.ask(request::Body::Explore(explore)).await? {
        reply::Body::Explored(explored) => Ok(explored),
        other => panic!("what was played, not {other:?}"),
    }
}

/// Each move with its games, and how many of these the first side won, nobody won, the second side won.
fn played(explored: &control::Explored) -> Vec<(String, [u32; 4])> {
    let row = |one: &control::ExploredMove| [one.games, one.first_won, one.drawn, one.second_won];
    let written = |one: &'_ control::ExploredMove| one.r#move.clone().expect("a move").written;
    explored.moves.iter().filter(|one| one.games > 0).map(|one| (written(one), row(one))).collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_played_in_a_position_is_counted_over_all_kept_matches_that_reached_it() {
    let mut house = House::new(99);
    let mut anna = house.device("Anna").await;
    let games = [
        ("a.pgn", "[Game \"xiangqi\"]\n[Result \"1-0\"]\n\n1. 炮二平五 马8进7 2. 马二进三 1-0\n"),
        // The same position mirrored.
        ("b.pgn", "[Game \"xiangqi\"]\n[Result \"0-1\"]\n\n1. 炮八平五 马2进3 2. 马八进七 0-1\n"),
        ("c.pgn", "[Game \"xiangqi\"]\n[Result \"1/2-1/2\"]\n\n1. 炮二平五 马8进7 2. 兵七进一 1/2-1/2\n"),
        ("d.pgn", "[Game \"xiangqi\"]\n\n1. 炮二平五 炮8平5 *\n"),
        ("e.sgf", "(;GM[4]SZ[15];B[hh];W[ii])"),
    ];
    let mut ids = Vec::new();
    for (name, text) in games {
        ids.push(import(&mut anna.client, name, text).await.expect("a game"));
    }
    let first = explore(&mut anna.client, &ids[0], 0, &[]).await.expect("explored");
    assert_eq!(
        (first.games, played(&first)),
        (4, vec![("b2e2".to_owned(), [4, 1, 1, 1])]),
        "mirrored ones are one"
    );
    let third = explore(&mut anna.client, &ids[0], 2, &[]).await.expect("explored");
    assert_eq!(third.games, 3);
    assert_eq!(played(&third), [("h0g2".to_owned(), [2, 1, 0, 1]), ("c3c4".to_owned(), [1, 0, 1, 0])]);
    assert!(third.moves[0].r#move.as_ref().is_some_and(|side| side.spoken.is_some()));
    // Along a line that leaves the match.
    let line = |text: &str| match text {
        "h7e7" => board::Action {
            kind: Some(board::action::Kind::Step(board::Step { from: 7 * 1024 + 7, to: 7 * 1024 + 4 })),
        },
        other => panic!("{other}"),
    };
    let aside = explore(&mut anna.client, &ids[0], 1, &[line("h7e7")]).await.expect("explored");
    assert_eq!((aside.games, aside.moves.len()), (0, 0));
    // At the end nobody has gone on, and a match that does not exist has no positions.
    assert_eq!(explore(&mut anna.client, &ids[0], 99, &[]).await.expect("explored").games, 0);
    let unknown = explore(&mut anna.client, "0123456789abcdef0123456789abcdef", 0, &[]).await;
    assert_eq!(unknown.expect_err("no match").code(), RefusalCode::RefusalNoSuchRoom);
    let illegal = explore(&mut anna.client, &ids[0], 0, &[line("h7e7")]).await;
    assert_eq!(illegal.expect_err("Black's piece").code(), RefusalCode::RefusalIllegal);
    // Gomoku's book.
    let gomoku = explore(&mut anna.client, &ids[4], 2, &[]).await.expect("explored");
    assert!(gomoku.games == 0 && !gomoku.moves.is_empty() && gomoku.moves.iter().all(|one| one.in_book));
}
