//! Xiangqi as the search sees it: which moves come first, what is certain, what is better.

use super::Xiangqi;
use super::attacks::{self, HORSE_TO, SOLDIER_TO, Set, bit};
use super::board::{Board, Cell, Kind, SQUARES, XiangqiMove};
use super::eval::{self, Pair};
use super::exchange::WORTH;
use super::repetition;
use crate::search::{AlphaBetaGame, Candidate, Clock, Effort, Habits, Known, Tactics, Urgency};
use crate::{Game, Reason, Side};

/// A board with what the search wants to know of it at once.
pub(super) struct Position {
    board: Board,
    /// Moves made, those of the game since its last capture included.
    past: Vec<Step>,
    /// Plies without a capture or a soldier's move that make a draw.
    quiet_limit: u16,
    now: Now,
}

/// What a move changes beside the board.
#[derive(Clone, Copy)]
struct Now {
    /// Plies since the last capture or soldier's move.
    quiet: u16,
    /// Moves at the end of `past` that lead from one position to the next without a capture or a pass.
    linked: u16,
    /// Whether the side to move is in check.
    in_check: bool,
    places: Pair,
    phase: i32,
}

/// A move made, and what there was before it.
struct Step {
    key: u64,
    mv: XiangqiMove,
    taken: Cell,
    before: Now,
}

/// Judgement never looks like proof.
const JUDGEMENT_MAX: i32 = 20_000;

impl Position {
    pub(super) fn new(game: &Xiangqi) -> Self {
        let end = *game.board();
        let past = game.past();
        let mut board = end;
        for &(_, mv) in past.iter().rev() {
            board.unmake(mv, Cell::EMPTY);
        }
        let mut position = Self::from_board(board);
        position.quiet_limit = game.setup().quiet_limit.unwrap_or(u16::MAX);
        for &(_, mv) in past {
            position.make(mv);
        }
        debug_assert_eq!(position.board, end, "the past leads to the present");
        position.now.quiet = game.quiet();
        position
    }

    /// A board without a past, and without a limit of quiet plies.
    pub(super) fn from_board(board: Board) -> Self {
        let (places, phase) = eval::count_places(&board);
        let now = Now { quiet: 0, linked: 0, in_check: board.in_check(), places, phase };
        Self { board, past: Vec::with_capacity(256), quiet_limit: u16::MAX, now }
    }

    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    /// How the game stands if this position has been there before since the last capture. The rules ask for a third time;
    /// what two rounds of the same moves would bring, the first shows.
    fn repeated(&self) -> Option<Known> {
        let linked = usize::from(self.now.linked);
        if linked < 4 {
            return None;
        }
        let (key, length) = (self.board.key(), self.past.len());
        let first = (4..=linked).step_by(2).map(|back| length - back).find(|&n| self.past[n].key == key)?;
        let round = &self.past[first..];
        // Whether every move of the side to move (the first of the round), of the other, gave check. A position's flag
        // tells of the move before it.
        let checks = |from: usize| {
            (from..round.len()).step_by(2).all(|n| {
                let after = round.get(n + 1).map_or(self.now.in_check, |step| step.before.in_check);
                after
            })
        };
        match (checks(0), checks(1)) {
            (true, false) => return Some(Known::LostByRule),
            (false, true) => return Some(Known::WonByRule),
            (true, true) => return Some(Known::Draw),
            (false, false) => {}
        }
        let moves: Vec<XiangqiMove> = round.iter().map(|step| step.mv).collect();
        let outcome = repetition::judge(&self.board, &moves);
        Some(match outcome.winner {
            None => Known::Draw,
            Some(side) if side == self.board.turn() => Known::WonByRule,
            Some(_) => Known::LostByRule,
        })
    }

    /// From where a piece of each kind of the side to move would give check.
    fn check_squares(&self) -> CheckSquares {
        let (board, side) = (&self.board, self.board.turn());
        let general = board.general(side.other());
        let n = usize::from(general);
        let (ranks, files) = board.lines();
        let (along_rank, along_file) = attacks::rides(general, ranks, files);
        CheckSquares {
            horse: HORSE_TO[n][board.eyes(general)],
            chariot: along_rank | along_file,
            cannon: attacks::behind(general, ranks, files),
            soldier: SOLDIER_TO[side.index()][n],
        }
    }

    /// Material and places, for the order of quiet moves.
    fn step_gain(&self, kind: Kind, mv: XiangqiMove) -> i32 {
        let side = self.board.turn();
        let gain = eval::place_pair(side, kind, mv.to) - eval::place_pair(side, kind, mv.from);
        let gain = (gain + 0x8000) >> 16;
        if side == Side::First { gain } else { -gain }
    }

    fn capture(&self, mv: XiangqiMove, kind: Kind, taken: Kind, check: bool) -> Candidate<XiangqiMove> {
        let (takes, risks) = (WORTH[taken as usize], WORTH[kind as usize]);
        let good = takes >= risks || self.board.exchange_holds(mv, 0);
        let rank = if good { GOOD_CAPTURE } else { BAD_CAPTURE } + 2 * takes - risks / 8;
        Candidate { mv, rank, takes, forcing: good || check }
    }
}

/// Above every quiet move; below every one, with the worth of what is taken added.
const GOOD_CAPTURE: i32 = 3_000;
const BAD_CAPTURE: i32 = -4_000;
/// What it adds to a quiet move's rank that it gives check.
const CHECK: i32 = 60;

struct CheckSquares {
    horse: Set,
    chariot: Set,
    cannon: Set,
    soldier: Set,
}

impl CheckSquares {
    /// Whether a piece of this kind gives check from here; what a move uncovers is not seen.
    const fn has(&self, kind: Kind, to: u8) -> bool {
        let set = match kind {
            Kind::Horse => self.horse,
            Kind::Chariot => self.chariot,
            Kind::Cannon => self.cannon,
            Kind::Soldier => self.soldier,
            Kind::General | Kind::Adviser | Kind::Elephant => 0,
        };
        set & bit(to) != 0
    }
}

impl AlphaBetaGame for Position {
    type Move = XiangqiMove;
    const MOVE_NUMBERS: usize = SQUARES * SQUARES;
    const TRAILS: usize = 14 * SQUARES;
    const STUCK: Known = Known::LossIn(0);
    /// Found by self-play; see EXPERIMENTS.md.
    const HABITS: Habits = Habits {
        aspiration: 20,
        reverse_futility: 70,
        reverse_futility_plies: 8,
        razor: 220,
        razor_plies: 3,
        null_move_plies: 2,
        late: [(3, 1, 2), (4, 1, 1)],
        killer: 9_000,
        answer: 5_000,
        reduction: (0.3, 1.9),
        tactics: Some(Tactics {
            delta: 150,
            futility: (120, 90),
            futility_plies: 7,
            quiet_loss: 20,
            loud_loss: 90,
            history: 700,
            singular_plies: 7,
            singular: 3,
            check_extension: 4,
            null_move_step: 200,
        }),
    };

    fn number(mv: XiangqiMove) -> u16 {
        u16::from(mv.from) * SQUARES as u16 + u16::from(mv.to)
    }

    fn trail(&self, mv: XiangqiMove) -> usize {
        let (side, kind) = self.board.at(mv.from).expect("a move has a piece");
        (side.index() * 7 + kind as usize) * SQUARES + usize::from(mv.to)
    }

    fn turn(&self) -> Side {
        self.board.turn()
    }

    fn key(&self) -> u64 {
        self.board.key()
    }

    fn make(&mut self, mv: XiangqiMove) {
        let before = self.now;
        let key = self.board.key();
        let (side, kind) = self.board.at(mv.from).expect("a move has a piece");
        let taken = self.board.make(mv);
        let now = &mut self.now;
        now.places += eval::place_pair(side, kind, mv.to) - eval::place_pair(side, kind, mv.from);
        now.quiet = if kind == Kind::Soldier { 0 } else { now.quiet.saturating_add(1) };
        now.linked += 1;
        if let Some((enemy, kind)) = taken.piece() {
            now.places -= eval::place_pair(enemy, kind, mv.to);
            now.phase -= eval::phase_of(kind);
            now.quiet = 0;
            now.linked = 0;
        }
        now.in_check = self.board.in_check();
        self.past.push(Step { key, mv, taken, before });
    }

    fn unmake(&mut self) {
        let step = self.past.pop().expect("a move was made");
        self.board.unmake(step.mv, step.taken);
        self.now = step.before;
    }

    fn pass(&mut self) -> bool {
        // With hardly a piece left a side may well be hurt by having to move.
        let side = self.board.turn();
        let pieces =
            [Kind::Horse, Kind::Chariot, Kind::Cannon].map(|kind| self.board.pieces(side, kind)).into_iter();
        if pieces.fold(0, |all, set| all | set) == 0 {
            return false;
        }
        self.past.push(Step {
            key: self.board.key(),
            mv: XiangqiMove { from: 0, to: 0 },
            taken: Cell::EMPTY,
            before: self.now,
        });
        self.now.linked = 0;
        self.board.pass();
        true
    }

    fn unpass(&mut self) {
        let step = self.past.pop().expect("a pass was made");
        self.now = step.before;
        self.board.pass();
    }

    fn known(&self) -> Option<Known> {
        if let Some(known) = self.repeated() {
            return Some(known);
        }
        if self.now.quiet >= self.quiet_limit {
            let mated = self.now.in_check && !self.board.has_legal_move();
            return Some(if mated { Known::LossIn(0) } else { Known::Draw });
        }
        if self.now.phase == 0
            && Side::BOTH.into_iter().all(|side| self.board.pieces(side, Kind::Soldier) == 0)
            && self.board.has_legal_move()
        {
            return Some(Known::Draw);
        }
        None
    }

    fn urgency(&self) -> Urgency {
        if self.now.in_check { Urgency::Threatened } else { Urgency::Free }
    }

    fn candidates(&self, into: &mut Vec<Candidate<XiangqiMove>>) {
        into.clear();
        let checks = self.check_squares();
        self.board.each_legal(Set::MAX, |mv| {
            let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
            let check = checks.has(kind, mv.to);
            into.push(match self.board.at(mv.to) {
                Some((_, taken)) => self.capture(mv, kind, taken, check),
                None => {
                    let rank = self.step_gain(kind, mv) + if check { CHECK } else { 0 };
                    Candidate { mv, rank, takes: 0, forcing: check }
                }
            });
        });
    }

    fn loud(&self, into: &mut Vec<Candidate<XiangqiMove>>, checks: bool) {
        into.clear();
        let side = self.board.turn();
        let enemies = self.board.side(side.other());
        self.board.each_legal(enemies, |mv| {
            let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
            let (_, taken) = self.board.at(mv.to).expect("only captures were asked for");
            let candidate = self.capture(mv, kind, taken, false);
            if candidate.forcing {
                into.push(candidate);
            }
        });
        if checks {
            let squares = self.check_squares();
            let all = (squares.horse | squares.chariot | squares.cannon | squares.soldier) & !enemies;
            self.board.each_legal(all, |mv| {
                let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
                if squares.has(kind, mv.to) && self.board.exchange_holds(mv, 0) {
                    into.push(Candidate { mv, rank: 0, takes: 0, forcing: true });
                }
            });
        }
    }

    fn holds(&self, mv: XiangqiMove, points: i32) -> bool {
        self.board.exchange_holds(mv, points)
    }

    fn evaluate(&self) -> i32 {
        eval::evaluate(&self.board, self.now.places, self.now.phase).clamp(-JUDGEMENT_MAX, JUDGEMENT_MAX)
    }

    fn forced_win(&mut self, _effort: Effort, _clock: &mut Clock<'_>) -> Option<u32> {
        None
    }
}

/// Whether a legal move would end the game against the one who makes it, or bring a position there a second time that a
/// third would lose: what the root leaves out if it can.
pub(super) fn loses_by_rule(game: &Xiangqi, mv: XiangqiMove) -> bool {
    let mut after = game.clone();
    after.play(mv);
    after.outcome().is_some_and(|outcome| {
        outcome.winner == Some(after.turn())
            && matches!(outcome.reason, Reason::PerpetualCheck | Reason::PerpetualChase)
    })
}
