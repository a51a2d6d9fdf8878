//! Puzzles in a host: listed, opened, tried wrongly and rightly, remembered.

use proto::board::{Game, Side};
use proto::control::{self, OfferKind, Puzzle, PuzzleProgress, RefusalCode, reply, request};
use tests::house::{Client, House};

async fn list(client: &mut Client, game: Game) -> control::Puzzles {
    let ask = request::Body::ListPuzzles(control::ListPuzzles { game: game.into(), yours: false });
    match client.ask(ask).await.expect("a list") {
        reply::Body::Puzzles(list) => list,
        other => panic!("a list, not {other:?}"),
    }
}

async fn open(client: &mut Client, puzzle: &str, game: Game) -> Result<String, control::Refusal> {
    let ask = control::OpenPuzzle { puzzle: puzzle.into(), game: game.into(), ..Default::default() };
    match client.ask(request::Body::OpenPuzzle(ask)).await? {
        reply::Body::RoomId(id) => Ok(id),
        other => panic!("a room, not {other:?}"),
    }
}

async fn hint(client: &mut Client, room: &str) -> Result<String, control::Refusal> {
    let ask = control::Hint { room_id: room.into(), ..Default::default() };
    match client.ask(request::Body::Hint(ask)).await? {
        reply::Body::Hint(hint) => Ok(hint.notation),
        other => panic!("a hint, not {other:?}"),
    }
}

async fn act(client: &mut Client, room: &str, notation: &str) -> Result<(), control::Refusal> {
    let act = control::Act { room_id: room.into(), action: None, notation: notation.into() };
    client.ask(request::Body::Act(act)).await.map(drop)
}

async fn offer(client: &mut Client, room: &str, kind: OfferKind) {
    let offer = control::Offer { room_id: room.into(), kind: kind.into() };
    client.done(request::Body::Offer(offer)).await;
}

fn state(client: &Client) -> (PuzzleProgress, control::PuzzleState) {
    let state = client.seen.room().expect("one room").puzzle.clone().expect("a puzzle's");
    (state.progress(), state)
}

fn counts(list: &control::Puzzles, game: Game) -> &control::PuzzleCount {
    list.counts.iter().find(|count| count.game() == game).expect("every game")
}

fn solved(list: &control::Puzzles, game: Game) -> u32 {
    counts(list, game).solved
}

#[tokio::test]
async fn a_wrong_move_is_answered_and_taken_back_and_what_is_solved_is_remembered() {
    let mut house = House::new(75);
    let mut anna = house.device("Anna").await;
    let before = list(&mut anna.client, Game::Xiangqi).await;
    assert!(before.puzzles.len() >= 100 && solved(&before, Game::Xiangqi) == 0);
    let puzzle: Puzzle = before.puzzles.iter().find(|one| one.moves == 2).expect("a mate in two").clone();
    assert!(puzzle.board.is_some() && puzzle.goal.as_ref().is_some_and(|goal| goal.en.contains("mate in 2")));
    let room = open(&mut anna.client, &puzzle.id, Game::Unspecified).await.expect("there is");
    assert_eq!(state(&anna.client).0, PuzzleProgress::PuzzleOpen);
    let right = hint(&mut anna.client, &room).await.expect("a move works");

    let shown = anna.client.seen.room().expect("one room").clone();
    let board = shown.board.expect("a board");
    let name = |point: u32| format!("{}{}", char::from(b'a' + (point % 1024) as u8), point / 1024);
    let steps = board.steps.iter().map(|step| name(step.from) + &name(step.to));
    let wrong = steps.into_iter().find(|step| *step != right).expect("there are other moves");
    act(&mut anna.client, &room, &wrong).await.expect("it is legal");
    let (progress, said) = state(&anna.client);
    assert_eq!(progress, PuzzleProgress::PuzzleWrong);
    assert!(said.say.is_some_and(|say| say.en.contains("Undo") && say.zh.contains("悔一步")));
    let over = act(&mut anna.client, &room, &right).await.expect_err("this try is over");
    assert_eq!(over.code(), RefusalCode::RefusalGameOver);
    hint(&mut anna.client, &room).await.expect_err("nothing works any more");

    offer(&mut anna.client, &room, OfferKind::OfferTakeBack).await;
    assert!(!anna.client.seen.room().expect("one room").can_take_back);
    for left in [1, 0] {
        let next = hint(&mut anna.client, &room).await.expect("a move works");
        act(&mut anna.client, &room, &next).await.expect("it is legal");
        assert_eq!(state(&anna.client).1.left, left);
    }
    let (progress, said) = state(&anna.client);
    assert_eq!(progress, PuzzleProgress::PuzzleSolved);
    assert!(!said.next.is_empty() && said.next != puzzle.id);
    assert_eq!(anna.client.seen.room().expect("one room").record.len(), 3);
    offer(&mut anna.client, &room, OfferKind::OfferNewGame).await;
    assert_eq!(state(&anna.client).0, PuzzleProgress::PuzzleOpen);
    anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id: room })).await;
    assert!(anna.client.seen.room().is_none());

    let after = list(&mut anna.client, Game::Xiangqi).await;
    assert_eq!(solved(&after, Game::Xiangqi), 1);
    let kept = after.puzzles.iter().find(|one| one.id == puzzle.id).expect("still there");
    assert!(kept.solved && kept.solved_unix_ms > 0);
    assert_eq!(kept.tries, 1);
    assert_eq!(anna.record().len(), 0, "a puzzle is no match");
}

#[tokio::test]
async fn without_an_id_the_easiest_unsolved_one_is_opened_and_each_day_has_its_lights() {
    let mut house = House::new(76);
    let mut anna = house.device("Anna").await;
    let all = list(&mut anna.client, Game::Unspecified).await;
    assert_eq!((all.counts.len(), all.puzzles.len()), (5, 1));
    assert!(all.puzzles[0].daily && all.puzzles[0].game() == Game::LightsOut);
    for game in [Game::Gomoku, Game::Liuzhou, Game::Go] {
        let first = list(&mut anna.client, game).await.puzzles.remove(0);
        let room = open(&mut anna.client, "", game).await.expect("one is left");
        let shown = state(&anna.client).1.puzzle.expect("which");
        assert_eq!((shown.id, shown.grade), (first.id, 1));
        let mine = anna.client.seen.room().expect("one room").mine.clone();
        assert!(mine == [i32::from(Side::First)] || mine == [i32::from(Side::Second)]);
        anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id: room })).await;
    }
    let daily = all.puzzles[0].id.clone();
    let room = open(&mut anna.client, &daily, Game::Unspecified).await.expect("today's");
    for _ in 0..all.puzzles[0].moves {
        let press = hint(&mut anna.client, &room).await.expect("a press works");
        act(&mut anna.client, &room, &press).await.expect("it is legal");
    }
    assert_eq!(state(&anna.client).0, PuzzleProgress::PuzzleSolved);
    assert!(list(&mut anna.client, Game::LightsOut).await.puzzles[0].solved);
    let refusal = open(&mut anna.client, "go-00000000", Game::Unspecified).await.expect_err("no such puzzle");
    assert_eq!(refusal.code(), RefusalCode::RefusalBadRequest);
}

#[tokio::test]
async fn a_move_whose_puzzle_is_closed_while_it_is_judged_is_answered_all_the_same() {
    let mut house = House::new(77);
    let mut anna = house.device("Anna").await;
    for _ in 0..4 {
        let room = open(&mut anna.client, "", Game::Xiangqi).await.expect("there is one");
        let step = anna.client.seen.room().and_then(|room| room.board.as_ref()?.steps.first().copied());
        let kind = proto::board::action::Kind::Step(step.expect("a step"));
        let action = proto::board::Action { kind: Some(kind) };
        let act = control::Act { room_id: room.clone(), action: Some(action), notation: String::new() };
        let hint = control::Hint { room_id: room.clone(), ..Default::default() };
        let answers = anna
            .client
            .ask_at_once(vec![
                request::Body::Hint(hint),
                request::Body::Act(act),
                request::Body::CloseRoom(control::CloseRoom { room_id: room }),
            ])
            .await;
        // It was judged before, or is refused because its puzzle is gone.
        match &answers[1] {
            Ok(reply::Body::Done(_)) => {}
            Err(refusal) => assert_eq!(refusal.code(), RefusalCode::RefusalBusy, "{refusal:?}"),
            Ok(other) => panic!("{other:?}"),
        }
        assert!(matches!(answers[2], Ok(reply::Body::Done(_))), "{answers:?}");
        assert!(anna.client.seen.room().is_none());
    }
}

#[tokio::test]
async fn hints_that_are_asked_for_at_once_are_each_found_or_refused_as_too_many() {
    let mut house = House::new(78);
    let mut anna = house.device("Anna").await;
    let room = open(&mut anna.client, "", Game::Gomoku).await.expect("there is one");
    let hints =
        (0..12).map(|_| request::Body::Hint(control::Hint { room_id: room.clone(), ..Default::default() }));
    let (found, refused): (Vec<_>, Vec<_>) =
        anna.client.ask_at_once(hints.collect()).await.into_iter().partition(Result::is_ok);
    assert!(!found.is_empty());
    for refusal in refused {
        assert_eq!(refusal.expect_err("it was refused").code(), RefusalCode::RefusalBusy);
    }
}

#[tokio::test]
async fn more_puzzles_are_made_when_a_person_asks_and_are_listed_opened_and_kept() {
    let mut house = House::new(430);
    let mut anna = house.device("Anna").await;
    let make = |game: Game| request::Body::MakePuzzles(control::MakePuzzles { game: game.into(), on: true });
    anna.client.ask(make(Game::Unspecified)).await.expect_err("of which game?");
    let before = list(&mut anna.client, Game::LightsOut).await;
    anna.client.done(make(Game::LightsOut)).await;
    let making = anna.client.seen.puzzle_making;
    assert_eq!((making.game(), making.wanted), (Game::LightsOut, 20));
    anna.client.until("they are made", |seen| seen.puzzle_making.wanted == 0).await;
    let after = list(&mut anna.client, Game::LightsOut).await;
    let new: Vec<&Puzzle> = after.puzzles.iter().filter(|one| !before.puzzles.contains(one)).collect();
    let more = counts(&after, Game::LightsOut).puzzles - counts(&before, Game::LightsOut).puzzles;
    assert!(more > 0 && more <= 20 && new.len() == more as usize, "{more} and {}", new.len());
    let id = new[0].id.clone();
    anna.kill().await;
    anna.start().await;
    let room = open(&mut anna.client, &id, Game::Unspecified).await.expect("it was kept");
    let press = hint(&mut anna.client, &room).await.expect("it can be solved");
    act(&mut anna.client, &room, &press).await.expect("legal");
    assert_eq!(state(&anna.client).1.puzzle.expect("which").tries, 1);
}
