//! Puzzles: the sets, progress, and puzzle rooms.
//!
//! A puzzle room is shown like any other, with the puzzle's state in `Room.puzzle`. It is not a match: only the number of
//! tries and the time of the first solution are stored; of one's own mistakes, when they are due again.

mod task;

use std::collections::BTreeMap;

use engine::puzzles::{self, Attempt, Narrowed, Puzzle};
use engine::{Action, AnyGame, GameKind, Language, Side};
use proto::control::{self, PuzzleProgress, RefusalCode, event, request};
use session::{MatchId, OfferKind, wire};

use crate::actor::{Actor, Message};
use crate::mistakes::{self, Again, Search, YOURS};
use crate::quiet;
use crate::responder::{Answer, Responder, done, in_room};
use crate::room::parse_match_name;
use crate::show::{self, Refusal};
use crate::store::SavedPuzzle;
use crate::work::Job;
use task::Task;

/// Maximum number of open puzzle rooms: each client needs one.
const MAX_ROOMS: usize = 8;

/// A puzzle room.
pub(crate) struct PuzzleRoom {
    task: Task,
    /// Whether this try has been counted.
    counted: bool,
    /// Whether a hint was given.
    helped: bool,
    /// Number of hints in the present position, and where the last one says that the move is.
    hints: u32,
    near: Option<Narrowed>,
    /// While the last move is judged: who asked in which request.
    judging: Option<Responder>,
    /// Grows with each room opened.
    opened: u64,
}

/// The attempt after verification of the move, or `None` if the verification failed.
pub(crate) type Judged = Option<Box<Task>>;

/// The move of a hint, and where it is, if the hint is to tell no more than that.
pub(crate) struct HintFound {
    action: Action,
    near: Option<Narrowed>,
}

impl PuzzleRoom {
    /// The hints about the last position say nothing of this one.
    fn forget_hints(&mut self) {
        (self.hints, self.near) = (0, None);
    }
}

impl Actor {
    /// The puzzle room that a request is about, if any.
    pub(crate) fn puzzle_meant(&self, body: &request::Body) -> Option<MatchId> {
        use request::Body;
        let name = match body {
            Body::Act(act) => &act.room_id,
            Body::Offer(offer) => &offer.room_id,
            Body::Hint(hint) => &hint.room_id,
            Body::CloseRoom(close) => &close.room_id,
            _ => return None,
        };
        parse_match_name(name).filter(|id| self.puzzles.contains_key(id))
    }

    /// Executes a request about a puzzle room.
    pub(crate) fn puzzle_request(&mut self, responder: Responder, id: MatchId, body: &request::Body) {
        use request::Body;
        let answer = match body {
            Body::Act(act) => return self.try_move(responder, id, act),
            Body::Hint(hint) => return self.puzzle_hint(responder, id, hint.narrow),
            Body::Offer(offer) => self.try_again(id, show::parse_offer_kind(offer.kind)),
            _ => {
                // Dropping the responder of a move in verification refuses its request.
                self.puzzles.remove(&id);
                self.tell(event::Body::RoomGone(control::Gone { id: id.to_string() }));
                Ok(done())
            }
        };
        self.show_changes();
        responder.answer(answer);
    }

    pub(crate) fn list_puzzles(&mut self, list: control::ListPuzzles) -> Result<Answer, Refusal> {
        let saved = self.journal.puzzles()?;
        let (kind, today) = (wire::read_game(list.game), self.local_day());
        let own = self.journal.mistake_counts(today)?;
        let mut shown: Vec<Puzzle> = Vec::new();
        if kind.is_none_or(|kind| kind == GameKind::LightsOut) {
            shown.push(puzzles::daily(self.today()));
        }
        shown.extend(kind.into_iter().flat_map(puzzles::all).cloned());
        let counts = GameKind::ALL.iter().map(|&kind| {
            let all = puzzles::all(kind);
            let solved = |puzzle: &&Puzzle| saved.get(&puzzle.id).is_some_and(|one| one.solved_unix_ms > 0);
            let game = i32::from(kind as u8);
            let own = own.get(&game).copied().unwrap_or_default();
            control::PuzzleCount {
                yours: own.all,
                due: own.due,
                game,
                puzzles: all.len() as u32,
                solved: all.iter().filter(solved).count() as u32,
            }
        });
        let puzzles = match kind.filter(|_| list.yours) {
            Some(kind) => {
                let own = self.journal.mistakes(kind)?;
                own.iter().map(|one| mistakes::shown(one, today, true)).collect()
            }
            None => shown.iter().map(|puzzle| shown_puzzle(puzzle, &saved, true)).collect(),
        };
        Ok(Answer::Puzzles(control::Puzzles { counts: counts.collect(), puzzles }))
    }

    pub(crate) fn open_puzzle(&mut self, open: &control::OpenPuzzle) -> Result<Answer, Refusal> {
        let no_such = |what| Refusal::new(RefusalCode::RefusalBadRequest, what);
        let task = if open.puzzle.starts_with(YOURS) {
            let saved =
                self.journal.mistake(&open.puzzle)?.ok_or_else(|| no_such("there is no such mistake"))?;
            Task::Again(Box::new(Again::new(saved)))
        } else if !open.puzzle.is_empty() {
            let puzzle = puzzles::find(&open.puzzle).ok_or_else(|| no_such("there is no such puzzle"))?;
            Task::Proven(Box::new(Attempt::new(puzzle)))
        } else {
            let kind =
                wire::read_game(open.game).ok_or_else(|| no_such("say which puzzle, or of which game"))?;
            if open.yours {
                let first = self.journal.mistakes(kind)?.into_iter().next();
                let first = first.ok_or_else(|| no_such("no mistakes of this game are kept"))?;
                Task::Again(Box::new(Again::new(first)))
            } else {
                let saved = self.journal.puzzles()?;
                let next = next_unsolved(kind, &saved).or(puzzles::all(kind).first());
                let next = next.cloned().ok_or_else(|| no_such("this game has no puzzles"))?;
                Task::Proven(Box::new(Attempt::new(next)))
            }
        };
        if self.puzzles.len() >= MAX_ROOMS
            && let Some((&oldest, _)) = self.puzzles.iter().min_by_key(|(_, room)| room.opened)
        {
            self.puzzles.remove(&oldest);
            self.tell(event::Body::RoomGone(control::Gone { id: oldest.to_string() }));
        }
        let id = MatchId(self.chance.bytes());
        let opened = self.puzzles.values().map(|room| room.opened + 1).max().unwrap_or(0);
        let room =
            PuzzleRoom { task, counted: false, helped: false, hints: 0, near: None, judging: None, opened };
        self.puzzles.insert(id, room);
        self.mark_for_display(id);
        Ok(in_room(id))
    }

    /// The present UTC day, counted from 1 January 1970.
    fn today(&self) -> u32 {
        (self.now_unix_ms() / 86_400_000).clamp(0, 3_649_999) as u32
    }

    /// The present day where the user is.
    pub(crate) fn local_day(&self) -> u32 {
        let now = (self.wall_clock)();
        quiet::local_day(now, (self.local_minute)(now))
    }

    /// Handles the user's move: it is verified on a thread of its own, and answered afterwards.
    fn try_move(&mut self, responder: Responder, id: MatchId, act: &control::Act) {
        let action = match self.move_to_try(id, act) {
            Ok(action) => action,
            Err(refusal) => return responder.refuse(refusal),
        };
        let search =
            Search { maker: self.bot_maker.clone(), seed: self.chance.seed(), bot_time: self.bot_time };
        let room = self.puzzles.get_mut(&id).expect("the caller has found it");
        let (mut task, inbox) = (room.task.clone(), self.inbox.clone());
        let work = move || {
            let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                task.act(action, &search).map(|()| Box::new(task))
            }));
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::PuzzleJudged(id, judged.unwrap_or(None)));
        };
        // If no thread can be started, the responder is dropped, which refuses the request.
        if std::thread::Builder::new().name("puzzle".into()).spawn(work).is_ok() {
            room.judging = Some(responder);
            self.mark_for_display(id);
        }
    }

    /// The move as an action that the rules allow; a first move is counted as a try.
    fn move_to_try(&mut self, id: MatchId, act: &control::Act) -> Result<Action, Refusal> {
        let room = &self.puzzles[&id];
        if room.judging.is_some() {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "the last move is still being judged"));
        }
        let game = room.task.game();
        let action = match &act.action {
            Some(action) => wire::read_action(Some(action)).ok(),
            None => game.parse(&act.notation),
        };
        let Some(action) = action else {
            return Err(Refusal::new(RefusalCode::RefusalBadRequest, "that is no action of this game"));
        };
        if room.task.end().is_some() {
            let refusal =
                Refusal::new(RefusalCode::RefusalGameOver, "this try is over: take back, or begin again");
            return Err(Refusal { action: Some(action), ..refusal });
        }
        game.legal_move(action).map_err(|why| Refusal::illegal(why, action, game))?;
        if !room.counted
            && let Task::Proven(attempt) = &room.task
        {
            let puzzle = attempt.puzzle().id.clone();
            self.journal.keep(|store| store.count_puzzle(&puzzle))?;
            self.puzzles.get_mut(&id).expect("it was there above").counted = true;
        }
        Ok(action)
    }

    pub(crate) fn puzzle_judged(&mut self, id: MatchId, judged: Judged) {
        let Some(room) = self.puzzles.get_mut(&id) else { return };
        let Some(responder) = room.judging.take() else { return };
        let answer = if let Some(task) = judged {
            room.task = *task;
            room.forget_hints();
            self.keep_answer(id);
            Ok(done())
        } else {
            Err(Refusal::new(RefusalCode::RefusalIllegal, "the move could not be judged"))
        };
        self.mark_for_display(id);
        self.show_changes();
        responder.answer(answer);
    }

    /// Keeps how far the user has come. A full disk has been reported; the puzzle is solved anyway.
    fn keep_answer(&mut self, id: MatchId) {
        let (today, now) = (self.local_day(), self.now_unix_ms());
        let room = self.puzzles.get_mut(&id).expect("the caller has found it");
        match &mut room.task {
            Task::Proven(attempt) if attempt.end() == Some(true) => {
                let puzzle = attempt.puzzle().id.clone();
                let _ = self.journal.keep(|store| store.solve_puzzle(&puzzle, now));
            }
            Task::Again(again) if !again.answered => {
                let Some(answered) = again.answer(room.helped) else { return };
                again.answered = true;
                again.saved.card = again.saved.card.after(answered, today);
                let (mistake, card) = (again.saved.id.clone(), again.saved.card);
                let _ = self.journal.keep(|store| store.set_card(&mistake, card));
            }
            _ => {}
        }
    }

    fn try_again(&mut self, id: MatchId, kind: Option<OfferKind>) -> Result<Answer, Refusal> {
        let room = self.puzzles.get_mut(&id).expect("the caller has found it");
        if room.judging.is_some() {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "the last move is still being judged"));
        }
        match kind {
            Some(OfferKind::TakeBack) => {
                if !room.task.take_back() {
                    let nothing = "no action here to take back";
                    return Err(Refusal::new(RefusalCode::RefusalNothingToTakeBack, nothing));
                }
            }
            Some(OfferKind::NewGame | OfferKind::NewGameSame) => {
                room.task.restart();
                // One's own mistake is answered once, whatever is begun again.
                room.helped &= matches!(room.task, Task::Again(_));
                room.counted = false;
            }
            _ => {
                return Err(Refusal::new(
                    RefusalCode::RefusalIllegal,
                    "nobody plays at the other side of a puzzle",
                ));
            }
        }
        room.forget_hints();
        self.mark_for_display(id);
        Ok(done())
    }

    /// `narrow`: the first hints in a position tell only where the move is.
    fn puzzle_hint(&mut self, responder: Responder, id: MatchId, narrow: bool) {
        if !self.work.has_room(Job::Hint) {
            let busy = Refusal::new(RefusalCode::RefusalBusy, "a hint is being looked for already");
            return responder.refuse(busy);
        }
        let room = &self.puzzles[&id];
        let (task, given, inbox) = (room.task.clone(), room.hints, self.inbox.clone());
        let work = move || {
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.hint()));
            let nowhere = "no move reaches the goal from here: take back, or begin again";
            let found = found
                .ok()
                .flatten()
                .map(|action| HintFound { near: task.narrowed(action, given).filter(|_| narrow), action });
            let found = found.ok_or_else(|| Refusal::new(RefusalCode::RefusalIllegal, nowhere));
            let _ = inbox.send(Message::PuzzleHint(responder, id, found));
        };
        self.work.begin(Job::Hint, work);
    }

    pub(crate) fn puzzle_hint_found(
        &mut self,
        responder: Responder,
        id: MatchId,
        found: Result<HintFound, Refusal>,
    ) {
        self.work.ended(Job::Hint);
        let Some(room) = self.puzzles.get_mut(&id) else {
            return responder.refuse(Refusal::new(RefusalCode::RefusalNoSuchRoom, "the room is closed"));
        };
        let answer = found.map(|HintFound { action, near }| {
            room.helped = true;
            let told = match &near {
                Some(Narrowed { words: [zh, en], .. }) => control::HintFound {
                    say: Some(control::Words { zh: zh.clone(), en: en.clone() }),
                    ..control::HintFound::default()
                },
                None => control::HintFound {
                    action: Some(wire::action(action)),
                    notation: room.task.game().notation(action),
                    ..control::HintFound::default()
                },
            };
            room.hints += 1;
            room.near = near;
            Answer::Hint(told)
        });
        self.mark_for_display(id);
        self.show_changes();
        responder.answer(answer);
    }

    /// The room for clients; `None` if it is no puzzle room.
    pub(crate) fn shown_puzzle_room(&self, id: MatchId) -> Option<control::Room> {
        let room = self.puzzles.get(&id)?;
        let (task, judging) = (&room.task, room.judging.is_some());
        let today = self.local_day();
        // An unreadable disk has been reported; the puzzles are shown as unsolved.
        let saved = self.journal.puzzles().unwrap_or_default();
        let solver = task.solver();
        let progress = match (judging, task.end()) {
            (true, _) => PuzzleProgress::PuzzleJudging,
            (false, None) => PuzzleProgress::PuzzleOpen,
            (false, Some(false)) => PuzzleProgress::PuzzleWrong,
            (false, Some(true)) => PuzzleProgress::PuzzleSolved,
        };
        let kind = task.start().kind();
        let (mut board, puzzle, say, next) = match task {
            Task::Proven(attempt) => {
                let next = next_unsolved(kind, &saved).map_or_else(String::new, |next| next.id.clone());
                let shown = shown_puzzle(attempt.puzzle(), &saved, false);
                (tried(attempt), shown, said(attempt, progress, room.helped), next)
            }
            Task::Again(again) => {
                let others = self.journal.mistakes(kind).unwrap_or_default();
                let next = others.into_iter().find(|one| one.card.is_due(today) && one.id != again.saved.id);
                let next = next.map_or_else(String::new, |next| next.id);
                let shown = mistakes::shown(&again.saved, today, false);
                (with_refutation(task), shown, again.said(judging, room.helped), next)
            }
        };
        let say = match &room.near {
            Some(near) if !judging => {
                board.marks.extend(mistakes::near(&near.points));
                let [zh, en] = near.words.clone();
                control::Words { zh, en }
            }
            _ => say,
        };
        let here = control::Seat { who: Some(control::seat::Who::Here(true)), ..control::Seat::default() };
        let device =
            control::Seat { who: Some(control::seat::Who::BotLevel(10)), ..control::Seat::default() };
        let [first, second] = match (kind, solver) {
            (GameKind::LightsOut, _) => [here.clone(), here],
            (_, Side::First) => [here, device],
            (_, Side::Second) => [device, here],
        };
        let mut game = task.start().clone();
        let (mut record, mut spoken) = (Vec::new(), Vec::new());
        for &action in task.line() {
            record.push(game.notation(action));
            spoken.extend(show::spoken(&game, action));
            game.act(action).expect("the try has played it");
        }
        let turn = task.game().turn() == solver;
        Some(control::Room {
            id: id.to_string(),
            setup: Some(wire::setup(&task.start().setup())),
            first: Some(first),
            second: Some(second),
            board: Some(board),
            mine: vec![show::side(solver).into()],
            can_take_back: !judging && !task.line().is_empty(),
            can_new_game: !judging && !task.line().is_empty(),
            can_act: progress == PuzzleProgress::PuzzleOpen && turn,
            record,
            spoken,
            puzzle: Some(control::PuzzleState {
                puzzle: Some(puzzle),
                progress: progress.into(),
                left: task.left(),
                say: Some(say),
                helped: room.helped,
                next: if progress == PuzzleProgress::PuzzleSolved { next } else { String::new() },
            }),
            ..control::Room::default()
        })
    }
}

/// The board of a mistake that is tried again, with the reply that shows why a move is not good enough.
fn with_refutation(task: &Task) -> control::Board {
    let mut board = show::board(task.game(), task.end().is_some());
    if let (Some(false), [_, reply]) = (task.end(), task.line()) {
        mark_refutation(&mut board, *reply);
    }
    board
}

fn mark_refutation(board: &mut control::Board, reply: Action) {
    let refutes =
        |at| control::Mark { at, kind: control::MarkKind::MarkRefutes.into(), ..control::Mark::default() };
    match reply {
        Action::Place(at) => board.marks.push(refutes(wire::point(at))),
        Action::Step { from, to } => {
            let (from, to) = (wire::point(from), wire::point(to));
            board.marks.push(refutes(to));
            board.lines = vec![proto::board::Step { from, to }];
        }
        _ => {}
    }
}

/// The board of a puzzle, with the targets of its goal (to capture, kill or save) marked.
pub fn tried(attempt: &Attempt) -> control::Board {
    let mut board = show::board(attempt.game(), attempt.end().is_some());
    if let Some(target) = attempt.puzzle().goal.target() {
        board.marks.push(control::Mark {
            at: wire::point(target),
            kind: control::MarkKind::MarkTarget.into(),
            ..control::Mark::default()
        });
    }
    if let Some(reply) = refutation(attempt) {
        mark_refutation(&mut board, reply);
    }
    board
}

/// The reply by which a wrong try fails, where there was one.
fn refutation(attempt: &Attempt) -> Option<Action> {
    let answered = attempt.game().turn() == attempt.solver() && attempt.line().len() > 1;
    let wrong = attempt.end() == Some(false) && attempt.puzzle().kind() != GameKind::LightsOut;
    attempt.line().last().copied().filter(|_| answered && wrong)
}

fn next_unsolved(kind: GameKind, saved: &BTreeMap<String, SavedPuzzle>) -> Option<&'static Puzzle> {
    puzzles::all(kind).iter().find(|puzzle| saved.get(&puzzle.id).is_none_or(|one| one.solved_unix_ms == 0))
}

fn shown_puzzle(puzzle: &Puzzle, saved: &BTreeMap<String, SavedPuzzle>, with_board: bool) -> control::Puzzle {
    let known = saved.get(&puzzle.id).copied().unwrap_or_default();
    control::Puzzle {
        id: puzzle.id.clone(),
        game: i32::from(puzzle.kind() as u8),
        grade: puzzle.grade(),
        moves: puzzle.moves,
        goal: Some(control::Words {
            zh: puzzle.words(Language::Chinese),
            en: puzzle.words(Language::English),
        }),
        solved: known.solved_unix_ms > 0,
        solved_unix_ms: known.solved_unix_ms,
        tries: known.tries,
        daily: puzzle.is_daily(),
        board: with_board.then(|| show::board(&puzzle.start, true)),
        mistake: None,
    }
}

/// What is so, as a sentence.
fn said(attempt: &Attempt, progress: PuzzleProgress, helped: bool) -> control::Words {
    let puzzle = attempt.puzzle();
    let words = |zh: &str, en: &str| control::Words { zh: zh.into(), en: en.into() };
    match progress {
        PuzzleProgress::PuzzleSolved => {
            let why = |language| puzzle.why(attempt.game(), language);
            // With a move of the solution shown it is said, and not praised.
            let (zh, en) = if helped {
                ("有提示，解开了。", "Solved with a hint.")
            } else {
                ("解开了！", "Solved!")
            };
            words(&format!("{zh}{}", why(Language::Chinese)), &format!("{en} {}", why(Language::English)))
        }
        PuzzleProgress::PuzzleJudging => words("正在看这步棋……", "Checking this move…"),
        PuzzleProgress::PuzzleWrong if puzzle.kind() == GameKind::LightsOut => words(
            "次数用完了，还有灯亮着。悔一步，或从头再来。",
            "No presses are left, but some lights are still on. Undo or restart.",
        ),
        PuzzleProgress::PuzzleWrong => match refutation(attempt).map(|answer| replied(attempt, answer)) {
            Some([zh, en]) => words(
                &format!("这样不行：对方应 {zh}，就来不及了。悔一步再试。"),
                &format!("Not quite: {en} stops it. Undo and try again."),
            ),
            None => words("这样不行：步数不够。悔一步再试。", "Too slow. Undo and try again."),
        },
        _ if attempt.line().is_empty() => {
            control::Words { zh: puzzle.words(Language::Chinese), en: puzzle.words(Language::English) }
        }
        _ => {
            let left = attempt.left();
            control::Words {
                zh: format!("对！还有 {left} 步。"),
                en: format!("Right. {left} more {}.", if left == 1 { "move" } else { "moves" }),
            }
        }
    }
}

/// The last action as players write it, Chinese and English.
fn replied(attempt: &Attempt, answer: Action) -> [String; 2] {
    let mut before: AnyGame = attempt.puzzle().start.clone();
    for &action in &attempt.line()[..attempt.line().len() - 1] {
        before.act(action).expect("the try has played it");
    }
    before.spoken(answer).unwrap_or_else(|| {
        let plain = before.notation(answer);
        [plain.clone(), plain]
    })
}

#[cfg(test)]
mod tests {
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
}
