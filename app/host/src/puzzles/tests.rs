use super::*;

#[test]
fn the_reply_that_a_wrong_try_fails_by_is_shown_on_the_board() {
    for (kind, by_step) in [(GameKind::Gomoku, false), (GameKind::Xiangqi, true), (GameKind::Go, false)] {
        let mut shown = 0;
        for puzzle in puzzles::all(kind).iter().filter(|puzzle| puzzle.moves > 1).take(8) {
            let on_board = |action: &Action| matches!(action, Action::Place(_) | Action::Step { .. });
            let legal = puzzle.start.legal_actions().into_iter().filter(on_board);
            // Of a wrong move that threatens nothing no reply is needed.
            let tries = legal.filter(|action| *action != puzzle.solution).map(|wrong| {
                let mut attempt = Attempt::new(puzzle.clone());
                attempt.act(wrong).expect("it is legal");
                attempt
            });
            let Some(attempt) = tries.into_iter().find(|attempt| refutation(attempt).is_some()) else {
                continue;
            };
            let board = tried(&attempt);
            let refutes = |mark: &&control::Mark| mark.kind() == control::MarkKind::MarkRefutes;
            let marks: Vec<u32> = board.marks.iter().filter(refutes).map(|mark| mark.at).collect();
            let reply = refutation(&attempt).expect("just seen");
            shown += 1;
            let said = said(&attempt, PuzzleProgress::PuzzleWrong, false);
            assert!(said.en.contains(&replied(&attempt, reply)[1]), "{}: {said:?}", puzzle.id);
            match reply {
                Action::Place(at) => assert_eq!(marks, [wire::point(at)]),
                Action::Step { from, to } => {
                    assert_eq!(marks, [wire::point(to)]);
                    let line = proto::board::Step { from: wire::point(from), to: wire::point(to) };
                    assert_eq!((board.lines, by_step), (vec![line], true));
                }
                _ => assert!(marks.is_empty()),
            }
        }
        assert!(shown > 0, "{kind:?}: no wrong try is answered");
    }
}

/// Two requests, to tell them apart.
type Asked = &'static str;

const ROOM: MatchId = MatchId([1; 16]);

const DAY: u32 = 20_000;

fn clock() -> WallClock {
    clock_of(DAY)
}

fn clock_of(day: u32) -> WallClock {
    WallClock::standing(std::time::Duration::from_hours(24 * u64::from(day)))
}

/// A puzzle that one move solves, open in a room.
fn one_move() -> (Puzzles<Asked>, &'static Puzzle, Journal, tempfile::TempDir) {
    let (mut journal, folder) = Journal::for_test();
    let puzzle =
        puzzles::all(GameKind::Xiangqi).iter().find(|puzzle| puzzle.moves == 1).expect("an easy one");
    let mut rooms = Puzzles::default();
    let open = control::OpenPuzzle { puzzle: puzzle.id.clone(), ..control::OpenPuzzle::default() };
    assert_eq!(rooms.open(ROOM, &open, &mut journal, DAY).ok(), Some(None));
    (rooms, puzzle, journal, folder)
}

fn act(action: Action) -> control::Act {
    control::Act { action: Some(wire::action(action)), ..control::Act::default() }
}

/// Tries a move, with its verdict.
fn play(rooms: &mut Puzzles<Asked>, action: Action, journal: &mut Journal) -> Option<Asked> {
    let (mut task, action) = rooms.move_to_try(ROOM, &act(action), journal).ok()?;
    rooms.await_verdict(ROOM, "asked");
    let search = Search { maker: std::sync::Arc::new(|_, _, _| unreachable!()), seed: 1, bot_time: MOMENT };
    let judged = task.act(action, &search).map(|()| Box::new(task));
    let (asked, answer) = rooms.judged(ROOM, judged, journal, &clock())?;
    answer.is_ok().then_some(asked)
}

const MOMENT: std::time::Duration = std::time::Duration::from_millis(1);

#[test]
fn a_puzzle_is_counted_once_for_a_try_and_solved_with_the_time() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    let saved = |journal: &Journal| journal.puzzles().expect("readable").get(&puzzle.id).copied();
    assert!(saved(&journal).is_none());
    assert_eq!(play(&mut rooms, puzzle.solution, &mut journal), Some("asked"));
    let solved = saved(&journal).expect("counted");
    assert_eq!((solved.tries, solved.solved_unix_ms), (1, clock().unix_ms() as u64));
    let over = rooms.move_to_try(ROOM, &act(puzzle.solution), &mut journal).err().map(|refusal| refusal.code);
    assert_eq!(over, Some(RefusalCode::RefusalGameOver));
    // Taking back goes on with the try; beginning again is another one.
    assert!(rooms.try_again(ROOM, Some(OfferKind::TakeBack)).is_ok());
    assert!(play(&mut rooms, puzzle.solution, &mut journal).is_some());
    assert_eq!(saved(&journal).map(|saved| saved.tries), Some(1));
    assert!(rooms.try_again(ROOM, Some(OfferKind::NewGame)).is_ok());
    assert!(play(&mut rooms, puzzle.solution, &mut journal).is_some());
    assert_eq!(saved(&journal).map(|saved| saved.tries), Some(2));
    let shown = rooms.shown(ROOM, &journal, 0).and_then(|room| room.puzzle).expect("shown");
    assert_eq!(shown.progress(), PuzzleProgress::PuzzleSolved);
    assert_ne!(shown.next, puzzle.id, "another one is next");
}

#[test]
fn one_plays_on_from_a_puzzle_once_the_try_is_over_and_not_before() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    let name = ROOM.to_string();
    assert!(rooms.position("0123", 0).is_none(), "no puzzle's room");
    let asked = rooms.position(&name, 0).expect("a puzzle's room");
    assert!(asked.is_err_and(|refusal| refusal.reason.is_some()), "the try is not over");
    let wrong = puzzle.start.legal_actions().into_iter().find(|action| *action != puzzle.solution);
    let wrong = wrong.expect("there are others");
    play(&mut rooms, wrong, &mut journal).expect("judged");
    let mut after = puzzle.start.clone();
    after.act(wrong).expect("legal");
    let position = |rooms: &Puzzles<Asked>, ply| {
        rooms.position(&name, ply).expect("a puzzle's room").map(|game| game.position()).ok()
    };
    assert_eq!(position(&rooms, 1), Some(after.position()), "what is on the board");
    assert_eq!(position(&rooms, 0), Some(puzzle.start.position()));
    assert!(rooms.try_again(ROOM, Some(OfferKind::NewGame)).is_ok());
    assert_eq!(position(&rooms, 0), None, "another try");
    play(&mut rooms, puzzle.solution, &mut journal).expect("judged");
    // The solution mates: nothing is left to play there.
    assert_eq!(position(&rooms, 1), Some(puzzle.start.position()));
}

#[test]
fn while_a_move_is_judged_nothing_else_is_done_and_a_verdict_comes_once() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    let (task, _) = rooms.move_to_try(ROOM, &act(puzzle.solution), &mut journal).expect("legal");
    rooms.await_verdict(ROOM, "first");
    let busy = Some(RefusalCode::RefusalBusy);
    let code = |refusal: Refusal| refusal.code;
    assert_eq!(rooms.move_to_try(ROOM, &act(puzzle.solution), &mut journal).err().map(code), busy);
    assert_eq!(rooms.try_again(ROOM, Some(OfferKind::TakeBack)).err().map(code), busy);
    let shown = rooms.shown(ROOM, &journal, 0).expect("shown");
    assert_eq!(shown.puzzle.map(|shown| shown.progress()), Some(PuzzleProgress::PuzzleJudging));
    assert!(!shown.can_act && !shown.can_take_back);
    // The verification has failed: the position is as before.
    let (asked, answer) = rooms.judged(ROOM, None, &mut journal, &clock()).expect("judged");
    assert_eq!((asked, answer.err().map(code)), ("first", Some(RefusalCode::RefusalIllegal)));
    assert!(rooms.judged(ROOM, Some(Box::new(task)), &mut journal, &clock()).is_none(), "nobody asks");
    assert!(rooms.shown(ROOM, &journal, 0).is_some_and(|room| room.can_act));
}

#[test]
fn one_room_too_many_closes_the_oldest_and_its_requests_are_answered_by_nobody() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    assert!(rooms.move_to_try(ROOM, &act(puzzle.solution), &mut journal).is_ok());
    rooms.await_verdict(ROOM, "asked");
    let next = |number: usize| MatchId([number as u8 + 2; 16]);
    let open = control::OpenPuzzle { puzzle: puzzle.id.clone(), ..control::OpenPuzzle::default() };
    for number in 0..MAX_ROOMS {
        let closed = rooms.open(next(number), &open, &mut journal, DAY).ok().flatten();
        assert_eq!(closed, (number + 1 == MAX_ROOMS).then_some(ROOM));
    }
    assert_eq!(rooms.ids().count(), MAX_ROOMS);
    assert!(rooms.judged(ROOM, None, &mut journal, &clock()).is_none());
    let body = |id: MatchId| {
        request::Body::Hint(control::Hint { room_id: id.to_string(), ..control::Hint::default() })
    };
    assert_eq!((rooms.meant(&body(ROOM)), rooms.meant(&body(next(0)))), (None, Some(next(0))));
}

#[test]
fn an_illegal_move_is_no_try() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    let resign = rooms.move_to_try(ROOM, &act(Action::Pass), &mut journal).err();
    assert!(resign.is_some_and(|refusal| refusal.action == Some(Action::Pass)));
    let nonsense = control::Act { notation: "?".into(), ..control::Act::default() };
    assert!(rooms.move_to_try(ROOM, &nonsense, &mut journal).is_err());
    assert!(!journal.puzzles().expect("readable").contains_key(&puzzle.id));
    assert!(rooms.try_again(ROOM, Some(OfferKind::TakeBack)).is_err(), "there is nothing to take back");
    assert!(rooms.try_again(ROOM, Some(OfferKind::Draw)).is_err(), "nobody plays there");
}

#[test]
fn a_puzzle_solved_with_a_hint_is_said_to_be() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    let (task, given) = rooms.to_hint(ROOM).expect("open");
    let found = find_hint(&task, given, false);
    let Ok(Answer::Hint(told)) = rooms.hint_found(ROOM, found, &mut journal, &clock()) else {
        panic!("a hint")
    };
    assert_eq!(told.action, Some(wire::action(puzzle.solution)));
    assert!(play(&mut rooms, puzzle.solution, &mut journal).is_some());
    let shown = rooms.shown(ROOM, &journal, 0).and_then(|room| room.puzzle).expect("shown");
    assert!(shown.helped && shown.say.is_some_and(|say| say.en.starts_with("Solved with a hint.")));
    assert!(rooms.to_hint(MatchId([9; 16])).is_none());
    assert!(
        rooms.hint_found(MatchId([9; 16]), Err(being_judged()), &mut journal, &clock()).is_err(),
        "the room is closed"
    );
}

/// Another room with this puzzle, opened on this day.
fn open_on(rooms: &mut Puzzles<Asked>, puzzle: &str, day: u32, journal: &mut Journal) {
    rooms.close(ROOM);
    let open = control::OpenPuzzle { puzzle: puzzle.into(), ..control::OpenPuzzle::default() };
    assert!(rooms.open(ROOM, &open, journal, day).is_ok());
}

/// As [`play`], on a day.
fn play_on(rooms: &mut Puzzles<Asked>, action: Action, day: u32, journal: &mut Journal) {
    let (mut task, action) = rooms.move_to_try(ROOM, &act(action), journal).expect("legal");
    rooms.await_verdict(ROOM, "asked");
    let search = Search { maker: std::sync::Arc::new(|_, _, _| unreachable!()), seed: 1, bot_time: MOMENT };
    let judged = task.act(action, &search).map(|()| Box::new(task));
    assert!(rooms.judged(ROOM, judged, journal, &clock_of(day)).is_some());
}

/// A legal move that is not the solution, and at once wrong.
fn wrong_move(puzzle: &Puzzle) -> Action {
    let is_wrong = |action: &Action| {
        let mut attempt = Attempt::new(puzzle.clone());
        attempt.act(*action).is_ok() && attempt.end() == Some(false)
    };
    puzzle.start.legal_actions().into_iter().find(is_wrong).expect("most moves are wrong")
}

fn standing(journal: &mut Journal, day: u32) -> control::PuzzleStanding {
    kept::shown(GameKind::Xiangqi, day, journal).expect("readable")
}

#[test]
fn a_first_try_is_rated_once_a_day_and_whatever_is_begun_again_changes_nothing() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    assert_eq!(standing(&mut journal, DAY).rating, 0);
    play_on(&mut rooms, wrong_move(puzzle), DAY, &mut journal);
    let missed = standing(&mut journal, DAY);
    assert!(missed.rated == 1 && missed.run == 0 && missed.rating < 1000, "{missed:?}");
    // Solved after all, in this room and in another one of the same day.
    assert!(rooms.try_again(ROOM, Some(OfferKind::NewGame)).is_ok());
    play_on(&mut rooms, puzzle.solution, DAY, &mut journal);
    open_on(&mut rooms, &puzzle.id, DAY, &mut journal);
    play_on(&mut rooms, puzzle.solution, DAY, &mut journal);
    let now = standing(&mut journal, DAY);
    assert_eq!((now.rated, now.rating, now.run), (1, missed.rating, 0));
    open_on(&mut rooms, &puzzle.id, DAY + 1, &mut journal);
    play_on(&mut rooms, puzzle.solution, DAY + 1, &mut journal);
    let next = standing(&mut journal, DAY + 1);
    assert!(next.rated == 2 && next.run == 1 && next.rating > missed.rating, "{next:?}");
}

#[test]
fn a_hint_is_a_loss_as_soon_as_it_is_given() {
    let (mut rooms, puzzle, mut journal, _folder) = one_move();
    let (task, given) = rooms.to_hint(ROOM).expect("open");
    let found = find_hint(&task, given, true);
    assert!(rooms.hint_found(ROOM, found, &mut journal, &clock()).is_ok());
    let lost = standing(&mut journal, DAY);
    assert!(lost.rated == 1 && lost.rating < 1000, "{lost:?}");
    play_on(&mut rooms, puzzle.solution, DAY, &mut journal);
    assert_eq!(standing(&mut journal, DAY).rating, lost.rating, "and solving it no win");
}

#[test]
fn todays_five_stay_the_same_while_they_are_solved_and_done_they_make_a_day() {
    let (mut rooms, _, mut journal, _folder) = one_move();
    let today = standing(&mut journal, DAY).today;
    assert_eq!(today.len(), puzzles::FIVE);
    for (at, one) in today.iter().enumerate() {
        assert_eq!(kept::days(DAY, &journal).expect("readable").streak, 0);
        let open = control::OpenPuzzle { game: 4, today: true, ..control::OpenPuzzle::default() };
        rooms.close(ROOM);
        assert!(rooms.open(ROOM, &open, &mut journal, DAY).is_ok());
        let shown = rooms.shown(ROOM, &journal, DAY).and_then(|room| room.puzzle).expect("shown");
        assert_eq!(shown.puzzle.map(|puzzle| puzzle.id), Some(one.id.clone()), "in their order");
        let puzzle = puzzles::find(&one.id).expect("of the set");
        if at == 1 {
            play_on(&mut rooms, wrong_move(&puzzle), DAY, &mut journal);
            assert!(rooms.try_again(ROOM, Some(OfferKind::TakeBack)).is_ok());
        }
        // After midnight it is still of the day on which it was opened.
        while rooms.shown(ROOM, &journal, DAY).is_some_and(|room| room.can_act) {
            let (task, given) = rooms.to_hint(ROOM).expect("open");
            let HintFound { action, .. } =
                find_hint(&task, given, false).unwrap_or_else(|_| panic!("a hint"));
            play_on(&mut rooms, action, DAY + 1, &mut journal);
        }
        let shown = rooms.shown(ROOM, &journal, DAY).and_then(|room| room.puzzle).expect("shown");
        let after = today.get(at + 1).map(|one| &one.id);
        assert!(after.is_none_or(|after| *after == shown.next), "{after:?}, {}", shown.next);
    }
    let done = standing(&mut journal, DAY).today;
    let marks: Vec<_> = done.iter().map(control::TodayPuzzle::mark).collect();
    let (first, late) = (control::TodayMark::TodayFirst, control::TodayMark::TodayLate);
    assert_eq!(marks, [first, late, first, first, first]);
    assert!(done.iter().zip(&today).all(|(after, before)| after.id == before.id));
    assert_eq!(kept::days(DAY + 1, &journal).map(|days| (days.streak, days.week)).ok(), Some((1, 0b10)));
    let ids = |five: &[control::TodayPuzzle]| five.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
    let tomorrow = standing(&mut journal, DAY + 1).today;
    assert!(ids(&tomorrow) != ids(&done) && tomorrow.len() == puzzles::FIVE, "others tomorrow");
}
