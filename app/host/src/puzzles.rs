//! Puzzles: the sets, progress, and puzzle rooms.
//!
//! A puzzle room is shown like any other, with the puzzle's state in `Room.puzzle`. It is not a match: only the number of
//! tries and the time of the first solution are stored; of one's own mistakes, when they are due again.

mod task;

use std::collections::BTreeMap;

use engine::puzzles::{self, Attempt, Narrowed, Puzzle};
use engine::{Action, AnyGame, GameKind, Language, Side};
use proto::control::{self, PuzzleProgress, RefusalCode, request};
use session::{MatchId, OfferKind, wire};

use crate::journal::Journal;
use crate::mistakes::{self, Again, Search, YOURS};
use crate::refusal::Refusal;
use crate::responder::{Answer, Responder, done};
use crate::room::parse_match_name;
use crate::show;
use crate::store::SavedPuzzle;
use crate::wall_clock::WallClock;
use task::Task;

/// Maximum number of open puzzle rooms: each client needs one.
const MAX_ROOMS: usize = 8;

/// A puzzle room.
struct PuzzleRoom<R> {
    task: Task,
    /// Whether this try has been counted.
    counted: bool,
    /// Whether a hint was given.
    helped: bool,
    /// Number of hints in the present position, and where the last one says that the move is.
    hints: u32,
    near: Option<Narrowed>,
    /// While the last move is judged: who asked in which request.
    judging: Option<R>,
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

impl<R> PuzzleRoom<R> {
    fn new(task: Task, opened: u64) -> Self {
        Self { task, counted: false, helped: false, hints: 0, near: None, judging: None, opened }
    }

    /// The hints about the last position say nothing of this one.
    fn forget_hints(&mut self) {
        (self.hints, self.near) = (0, None);
    }
}

/// The puzzle rooms. Their ids are not used by any match. `R` answers the request of a move that is judged.
pub(crate) struct Puzzles<R = Responder> {
    rooms: BTreeMap<MatchId, PuzzleRoom<R>>,
}

impl<R> Default for Puzzles<R> {
    fn default() -> Self {
        Self { rooms: BTreeMap::new() }
    }
}

impl<R> Puzzles<R> {
    pub(crate) fn ids(&self) -> impl Iterator<Item = MatchId> {
        self.rooms.keys().copied()
    }

    /// The puzzle room that a request is about, if any.
    pub(crate) fn meant(&self, body: &request::Body) -> Option<MatchId> {
        use request::Body;
        let name = match body {
            Body::Act(act) => &act.room_id,
            Body::Offer(offer) => &offer.room_id,
            Body::Hint(hint) => &hint.room_id,
            Body::CloseRoom(close) => &close.room_id,
            _ => return None,
        };
        parse_match_name(name).filter(|id| self.rooms.contains_key(id))
    }

    /// Opens a room with this id. Returns the oldest room, if it is closed for the new one.
    pub(crate) fn open(
        &mut self,
        id: MatchId,
        open: &control::OpenPuzzle,
        journal: &Journal,
    ) -> Result<Option<MatchId>, Refusal> {
        let task = task(open, journal)?;
        let is_full = self.rooms.len() >= MAX_ROOMS;
        let oldest = self.rooms.iter().min_by_key(|(_, room)| room.opened).map(|(id, _)| *id);
        let closed = oldest.filter(|_| is_full);
        if let Some(closed) = closed {
            self.close(closed);
        }
        let opened = self.rooms.values().map(|room| room.opened + 1).max().unwrap_or(0);
        self.rooms.insert(id, PuzzleRoom::new(task, opened));
        Ok(closed)
    }

    /// Closes a room. The responder of a move in verification is dropped, which refuses its request.
    pub(crate) fn close(&mut self, id: MatchId) {
        self.rooms.remove(&id);
    }

    fn room(&mut self, id: MatchId) -> Result<&mut PuzzleRoom<R>, Refusal> {
        self.rooms.get_mut(&id).ok_or_else(closed)
    }

    /// The user's move as an action that the rules allow, with the task to be searched; a first move is counted as a try.
    pub(crate) fn move_to_try(
        &mut self,
        id: MatchId,
        act: &control::Act,
        journal: &mut Journal,
    ) -> Result<(Task, Action), Refusal> {
        let room = self.room(id)?;
        if room.judging.is_some() {
            return Err(being_judged());
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
            journal.keep(|store| store.count_puzzle(&attempt.puzzle().id))?;
            room.counted = true;
        }
        Ok((room.task.clone(), action))
    }

    /// The move is being judged; `asked` answers its request.
    pub(crate) fn await_verdict(&mut self, id: MatchId, asked: R) {
        if let Some(room) = self.rooms.get_mut(&id) {
            room.judging = Some(asked);
        }
    }

    /// Handles the verdict. Returns the answer to the request; `None` if the room is closed, or no move is judged.
    pub(crate) fn judged(
        &mut self,
        id: MatchId,
        judged: Judged,
        journal: &mut Journal,
        clock: &WallClock,
    ) -> Option<(R, Result<Answer, Refusal>)> {
        let room = self.rooms.get_mut(&id)?;
        let asked = room.judging.take()?;
        let Some(task) = judged else {
            let why = "the move could not be judged";
            return Some((asked, Err(Refusal::new(RefusalCode::RefusalIllegal, why))));
        };
        room.task = *task;
        room.forget_hints();
        room.keep_answer(journal, clock);
        Some((asked, Ok(done())))
    }

    /// Takes back, or begins again.
    pub(crate) fn try_again(&mut self, id: MatchId, kind: Option<OfferKind>) -> Result<Answer, Refusal> {
        let room = self.room(id)?;
        if room.judging.is_some() {
            return Err(being_judged());
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
        Ok(done())
    }

    /// What a hint is searched for: the task, and the number of hints given in this position.
    pub(crate) fn to_hint(&self, id: MatchId) -> Option<(Task, u32)> {
        self.rooms.get(&id).map(|room| (room.task.clone(), room.hints))
    }

    pub(crate) fn hint_found(
        &mut self,
        id: MatchId,
        found: Result<HintFound, Refusal>,
    ) -> Result<Answer, Refusal> {
        let room = self.room(id)?;
        let HintFound { action, near } = found?;
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
        Ok(Answer::Hint(told))
    }

    /// The room for clients; `None` if it is no puzzle room.
    pub(crate) fn shown(&self, id: MatchId, journal: &Journal, today: u32) -> Option<control::Room> {
        let room = self.rooms.get(&id)?;
        let (task, judging) = (&room.task, room.judging.is_some());
        // An unreadable disk has been reported; the puzzles are shown as unsolved.
        let saved = journal.puzzles().unwrap_or_default();
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
                let others = journal.mistakes(kind).unwrap_or_default();
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

impl<R> PuzzleRoom<R> {
    /// Keeps how far the user has come. A full disk has been reported; the puzzle is solved anyway.
    fn keep_answer(&mut self, journal: &mut Journal, clock: &WallClock) {
        match &mut self.task {
            Task::Proven(attempt) if attempt.end() == Some(true) => {
                let now = clock.unix_ms();
                let _ = journal.keep(|store| store.solve_puzzle(&attempt.puzzle().id, now));
            }
            Task::Again(again) if !again.answered => {
                let Some(answered) = again.answer(self.helped) else { return };
                again.answered = true;
                again.saved.card = again.saved.card.after(answered, clock.local_day());
                let _ = journal.keep(|store| store.set_card(&again.saved.id, again.saved.card));
            }
            _ => {}
        }
    }
}

fn closed() -> Refusal {
    Refusal::new(RefusalCode::RefusalNoSuchRoom, "the room is closed")
}

fn being_judged() -> Refusal {
    Refusal::new(RefusalCode::RefusalBusy, "the last move is still being judged")
}

/// What a client wants to solve.
fn task(open: &control::OpenPuzzle, journal: &Journal) -> Result<Task, Refusal> {
    let no_such = |what| Refusal::new(RefusalCode::RefusalBadRequest, what);
    Ok(if open.puzzle.starts_with(YOURS) {
        let saved = journal.mistake(&open.puzzle)?.ok_or_else(|| no_such("there is no such mistake"))?;
        Task::Again(Box::new(Again::new(saved)))
    } else if !open.puzzle.is_empty() {
        let puzzle = puzzles::find(&open.puzzle).ok_or_else(|| no_such("there is no such puzzle"))?;
        Task::Proven(Box::new(Attempt::new(puzzle)))
    } else {
        let kind = wire::read_game(open.game).ok_or_else(|| no_such("say which puzzle, or of which game"))?;
        if open.yours {
            let first = journal.mistakes(kind)?.into_iter().next();
            let first = first.ok_or_else(|| no_such("no mistakes of this game are kept"))?;
            Task::Again(Box::new(Again::new(first)))
        } else {
            let saved = journal.puzzles()?;
            let next = next_unsolved(kind, &saved).or(puzzles::all(kind).first());
            let next = next.cloned().ok_or_else(|| no_such("this game has no puzzles"))?;
            Task::Proven(Box::new(Attempt::new(next)))
        }
    })
}

/// Verifies a move on a thread of its own.
pub(crate) fn judge(
    mut task: Task,
    action: Action,
    search: Search,
    tell: impl FnOnce(Judged) + Send + 'static,
) -> std::io::Result<()> {
    let work = move || {
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            task.act(action, &search).map(|()| Box::new(task))
        }));
        tell(judged.unwrap_or(None));
    };
    std::thread::Builder::new().name("puzzle".into()).spawn(work).map(drop)
}

/// Searches a hint after `given` ones in this position: not for the actor. `narrow`: the first ones tell only where the move is.
pub(crate) fn find_hint(task: &Task, given: u32, narrow: bool) -> Result<HintFound, Refusal> {
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.hint()));
    let nowhere = "no move reaches the goal from here: take back, or begin again";
    let found = found
        .ok()
        .flatten()
        .map(|action| HintFound { near: task.narrowed(action, given).filter(|_| narrow), action });
    found.ok_or_else(|| Refusal::new(RefusalCode::RefusalIllegal, nowhere))
}

/// The sets with the user's progress.
pub(crate) fn list(
    list: control::ListPuzzles,
    journal: &Journal,
    clock: &WallClock,
) -> Result<control::Puzzles, Refusal> {
    let saved = journal.puzzles()?;
    let (kind, today) = (wire::read_game(list.game), clock.local_day());
    let own = journal.mistake_counts(today)?;
    let mut shown: Vec<Puzzle> = Vec::new();
    if kind.is_none_or(|kind| kind == GameKind::LightsOut) {
        shown.push(puzzles::daily(clock.utc_day()));
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
            let own = journal.mistakes(kind)?;
            own.iter().map(|one| mistakes::shown(one, today, true)).collect()
        }
        None => shown.iter().map(|puzzle| shown_puzzle(puzzle, &saved, true)).collect(),
    };
    Ok(control::Puzzles { counts: counts.collect(), puzzles })
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

    /// Two requests, to tell them apart.
    type Asked = &'static str;

    const ROOM: MatchId = MatchId([1; 16]);

    fn clock() -> WallClock {
        WallClock::standing(std::time::Duration::from_hours(24 * 20_000))
    }

    /// A puzzle that one move solves, open in a room.
    fn one_move() -> (Puzzles<Asked>, &'static Puzzle, Journal, tempfile::TempDir) {
        let (journal, folder) = Journal::for_test();
        let puzzle =
            puzzles::all(GameKind::Xiangqi).iter().find(|puzzle| puzzle.moves == 1).expect("an easy one");
        let mut rooms = Puzzles::default();
        let open = control::OpenPuzzle { puzzle: puzzle.id.clone(), ..control::OpenPuzzle::default() };
        assert_eq!(rooms.open(ROOM, &open, &journal).ok(), Some(None));
        (rooms, puzzle, journal, folder)
    }

    fn act(action: Action) -> control::Act {
        control::Act { action: Some(wire::action(action)), ..control::Act::default() }
    }

    /// Tries a move, with its verdict.
    fn play(rooms: &mut Puzzles<Asked>, action: Action, journal: &mut Journal) -> Option<Asked> {
        let (mut task, action) = rooms.move_to_try(ROOM, &act(action), journal).ok()?;
        rooms.await_verdict(ROOM, "asked");
        let search =
            Search { maker: std::sync::Arc::new(|_, _, _| unreachable!()), seed: 1, bot_time: MOMENT };
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
        let over =
            rooms.move_to_try(ROOM, &act(puzzle.solution), &mut journal).err().map(|refusal| refusal.code);
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
            let closed = rooms.open(next(number), &open, &journal).ok().flatten();
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
        let Ok(Answer::Hint(told)) = rooms.hint_found(ROOM, found) else { panic!("a hint") };
        assert_eq!(told.action, Some(wire::action(puzzle.solution)));
        assert!(play(&mut rooms, puzzle.solution, &mut journal).is_some());
        let shown = rooms.shown(ROOM, &journal, 0).and_then(|room| room.puzzle).expect("shown");
        assert!(shown.helped && shown.say.is_some_and(|say| say.en.starts_with("Solved with a hint.")));
        assert!(rooms.to_hint(MatchId([9; 16])).is_none());
        assert!(rooms.hint_found(MatchId([9; 16]), Err(being_judged())).is_err(), "the room is closed");
    }
}
