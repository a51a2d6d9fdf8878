//! Puzzles: the sets and those made on this device, progress, and puzzle rooms.
//!
//! A puzzle room is shown like any other, with the puzzle's state in `Room.puzzle`. It is not a match: only the number of
//! tries and the time of the first solution are stored, and how the player fares: ratings of both, today's five, streaks; of one's
//! own mistakes, when they are due again.

mod kept;
mod maker;
mod standing;
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

pub(crate) use maker::{Maker, MakerNews, wanted};

/// Maximum number of open puzzle rooms: each client needs one.
const MAX_ROOMS: usize = 8;

/// Of the puzzles made on this device, a list shows so many unsolved ones of each grade, and of those that were solved last.
const LISTED_OPEN: usize = 20;
const LISTED_SOLVED: usize = 10;

/// A puzzle room.
struct PuzzleRoom<R> {
    task: Task,
    /// Whether this try has been counted.
    counted: bool,
    /// Whether a hint was given.
    helped: bool,
    /// There was a verdict on the first try in this room: what follows is not rated.
    tried: bool,
    /// Day on which the room was opened: of the five that this may be one of.
    day: u32,
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
    fn new(task: Task, opened: u64, day: u32) -> Self {
        Self {
            task,
            counted: false,
            helped: false,
            tried: false,
            day,
            hints: 0,
            near: None,
            judging: None,
            opened,
        }
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
        journal: &mut Journal,
        today: u32,
    ) -> Result<Option<MatchId>, Refusal> {
        let task = task(open, journal, today)?;
        let is_full = self.rooms.len() >= MAX_ROOMS;
        let oldest = self.rooms.iter().min_by_key(|(_, room)| room.opened).map(|(id, _)| *id);
        let closed = oldest.filter(|_| is_full);
        if let Some(closed) = closed {
            self.close(closed);
        }
        let opened = self.rooms.values().map(|room| room.opened + 1).max().unwrap_or(0);
        self.rooms.insert(id, PuzzleRoom::new(task, opened, today));
        Ok(closed)
    }

    /// The position after so many actions of the try, from which a match can begin; where the game is over, that of the puzzle. `None`
    /// if this is no puzzle's room.
    ///
    /// Refused until the try is over: the computer's moves and its hints in such a match would solve the puzzle. After a miss they do
    /// no harm: the miss is counted.
    pub(crate) fn position(&self, name: &str, ply: u32) -> Option<Result<AnyGame, Refusal>> {
        let room = self.rooms.get(&parse_match_name(name)?)?;
        if room.judging.is_some() || room.task.end().is_none() {
            return Some(Err(not_over()));
        }
        let mut game = room.task.start().clone();
        for &action in room.task.line().iter().take(ply as usize) {
            game.act(action).expect("the try has played it");
        }
        let from = if game.outcome().is_some() { room.task.start().clone() } else { game };
        Some(Ok(from))
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
        journal: &mut Journal,
        clock: &WallClock,
    ) -> Result<Answer, Refusal> {
        let room = self.room(id)?;
        let HintFound { action, near } = found?;
        room.helped = true;
        room.keep_try(false, journal, clock);
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
        let (mut board, puzzle, say) = match task {
            Task::Proven(attempt) => {
                let shown = shown_puzzle(attempt.puzzle(), &saved, false);
                (tried(attempt), shown, said(attempt, progress, room.helped))
            }
            Task::Again(again) => {
                let shown = mistakes::shown(&again.saved, today, false);
                (with_refutation(task), shown, again.said(judging, room.helped))
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
                next: if progress == PuzzleProgress::PuzzleSolved {
                    room.next(journal, today)
                } else {
                    String::new()
                },
            }),
            ..control::Room::default()
        })
    }
}

impl<R> PuzzleRoom<R> {
    /// Keeps how far the user has come. A full disk has been reported; the puzzle is solved anyway.
    fn keep_answer(&mut self, journal: &mut Journal, clock: &WallClock) {
        if let Some(won) = self.task.end() {
            self.keep_try(won, journal, clock);
        }
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

impl<R> PuzzleRoom<R> {
    /// Keeps a verdict. The first in this room is rated; a hint is a verdict too.
    fn keep_try(&mut self, won: bool, journal: &mut Journal, clock: &WallClock) {
        let kind = self.task.start().kind();
        let days = (self.day, clock.local_day());
        match &self.task {
            Task::Proven(attempt) => {
                let puzzle = attempt.puzzle();
                kept::keep_try(kind, &puzzle.id, Some(puzzle).filter(|_| !self.tried), won, days, journal);
            }
            Task::Again(again) => kept::keep_try(kind, &again.saved.id, None, won, days, journal),
        }
        self.tried = true;
    }

    /// What is offered after this one: the next of today's five, another own mistake, or what is near the player's rating. An unreadable
    /// disk has been reported: nothing is.
    fn next(&self, journal: &Journal, today: u32) -> String {
        let kind = self.task.start().kind();
        let id = match &self.task {
            Task::Proven(attempt) => &attempt.puzzle().id,
            Task::Again(again) => &again.saved.id,
        };
        let of_five = kept::after_in_five(kind, self.day, id, journal);
        let next = of_five.or_else(|| match &self.task {
            Task::Proven(_) => kept::nearest(kind, journal).ok().flatten().map(|next| next.id),
            Task::Again(again) => {
                let others = journal.mistakes(kind).unwrap_or_default().into_iter();
                let mut due = others.filter(|one| one.card.is_due(today) && one.id != again.saved.id);
                due.next().map(|next| next.id)
            }
        });
        next.unwrap_or_default()
    }
}

fn not_over() -> Refusal {
    let (zh, en) =
        ("先把这道题做完，再从这里接着下。", "Finish the puzzle first; then you can play on from here.");
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalIllegal, "this puzzle is not over") }
}

fn closed() -> Refusal {
    Refusal::new(RefusalCode::RefusalNoSuchRoom, "the room is closed")
}

fn being_judged() -> Refusal {
    Refusal::new(RefusalCode::RefusalBusy, "the last move is still being judged")
}

/// What a client wants to solve.
fn task(open: &control::OpenPuzzle, journal: &mut Journal, today: u32) -> Result<Task, Refusal> {
    let no_such = |what| Refusal::new(RefusalCode::RefusalBadRequest, what);
    if !open.puzzle.is_empty() {
        return named(&open.puzzle, journal);
    }
    let kind = wire::read_game(open.game).ok_or_else(|| no_such("say which puzzle, or of which game"))?;
    Ok(if open.yours {
        let first = journal.mistakes(kind)?.into_iter().next();
        let first = first.ok_or_else(|| no_such("no mistakes of this game are kept"))?;
        Task::Again(Box::new(Again::new(first)))
    } else if open.today {
        let five = kept::five(kind, today, journal)?;
        let next = kept::next_of_five(&five).or(five.0.first().map(|(id, _)| id.as_str()));
        named(next.ok_or_else(|| no_such("this game has no puzzles"))?, journal)?
    } else {
        let next = kept::nearest(kind, journal)?.or_else(|| puzzles::all(kind).first().cloned());
        let next = next.ok_or_else(|| no_such("this game has no puzzles"))?;
        Task::Proven(Box::new(Attempt::new(next)))
    })
}

/// The puzzle, or own mistake, with this id.
fn named(id: &str, journal: &Journal) -> Result<Task, Refusal> {
    let no_such = |what| Refusal::new(RefusalCode::RefusalBadRequest, what);
    Ok(if id.starts_with(YOURS) {
        let saved = journal.mistake(id)?.ok_or_else(|| no_such("there is no such mistake"))?;
        Task::Again(Box::new(Again::new(saved)))
    } else {
        let puzzle = match puzzles::find(id) {
            Some(puzzle) => Some(puzzle),
            None => journal.made_puzzle(id)?,
        };
        let puzzle = puzzle.ok_or_else(|| no_such("there is no such puzzle"))?;
        Task::Proven(Box::new(Attempt::new(puzzle)))
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
    journal: &mut Journal,
    clock: &WallClock,
) -> Result<control::Puzzles, Refusal> {
    let saved = journal.puzzles()?;
    let (kind, today) = (wire::read_game(list.game), clock.local_day());
    let own = journal.mistake_counts(today)?;
    let mut shown: Vec<Puzzle> = Vec::new();
    if kind.is_none_or(|kind| kind == GameKind::LightsOut) {
        shown.push(puzzles::daily(clock.utc_day()));
    }
    if let Some(kind) = kind {
        let mut all = puzzles::all(kind).to_vec();
        all.extend(journal.made_listed(kind, LISTED_OPEN, LISTED_SOLVED)?);
        all.sort_by_key(Puzzle::grade);
        shown.extend(all);
    }
    let made = journal.made_counts()?;
    let counts = GameKind::ALL.iter().map(|&kind| {
        let all = puzzles::all(kind);
        let solved = |puzzle: &&Puzzle| saved.get(&puzzle.id).is_some_and(|one| one.solved_unix_ms > 0);
        let game = i32::from(kind as u8);
        let own = own.get(&game).copied().unwrap_or_default();
        let made = made.get(&game).copied().unwrap_or_default();
        control::PuzzleCount {
            yours: own.all,
            due: own.due,
            game,
            puzzles: all.len() as u32 + made.all,
            solved: all.iter().filter(solved).count() as u32 + made.solved,
        }
    });
    let puzzles = match kind.filter(|_| list.yours) {
        Some(kind) => {
            let own = journal.mistakes(kind)?;
            own.iter().map(|one| mistakes::shown(one, today, true)).collect()
        }
        None => shown.iter().map(|puzzle| shown_puzzle(puzzle, &saved, true)).collect(),
    };
    let counts = counts.collect();
    let games = kind.map_or_else(|| GameKind::ALL.to_vec(), |kind| vec![kind]);
    let standings =
        games.into_iter().map(|kind| kept::shown(kind, today, journal)).collect::<Result<_, _>>()?;
    let days = Some(kept::days(today, journal)?);
    Ok(control::Puzzles { counts, puzzles, standings, days })
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
mod tests;
