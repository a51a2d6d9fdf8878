//! The rules of Liuzhou chess.
//!
//! Source: the Fengyang rules as the project's rule page states them. Where the page leaves a case open this module decides:
//! - A marked stone keeps its point, so a formation through that point cannot be completed by anyone before the lifting.
//! - The forced removal picks its targets as a capture does. Without options this is no restriction: where nothing was
//!   captured, no formation stands.
//! - A removal that finds no target (formation stones always safe) lapses. A blocked player for whom both removals lapse
//!   passes.
//! - A ply of the two limits is a step or a pass; captures belong to the step that earned them.
//! - A player who is blocked and loses by it has lost even if the same step reached a limit or a repetition; a repetition or
//!   a limit comes before a removal.

use super::formations::{self, complete_through};
use super::{
    BOARD, Blocked, ForcedRemoval, Formation, LiuzhouSetup, POINTS, SIZE, STONES, Safety, SeveralFormations,
    StepBack,
};
use crate::game::points;
use crate::start::{Start, StartError, StartPhase};
use crate::view::steps;
use crate::{
    Action, BoardView, Fact, Game, GameKind, IllegalAction, Language, Mark, MarkKind, Names, Outcome, Piece,
    PieceView, Point, Reason, Rng, SetupError, Side, Touch,
};

/// A decision. Points are numbered row * 6 + column from the bottom left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiuzhouMove {
    /// Place a stone.
    Place(u8),
    /// Move the stone on the first point to the second.
    Step(u8, u8),
    /// Capture or remove the enemy stone.
    Capture(u8),
    /// Pass, if no step is possible and the options allow that.
    Pass,
}

/// The phase of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Stones are placed.
    Placing,
    /// The board is full without captures, and a stone is removed.
    Forced {
        /// Whether this is the last removal.
        last: bool,
    },
    /// Stones are moved.
    Moving,
    /// A side is blocked, and stones are removed: first by that side, then (`last`) by the other.
    Blocked {
        /// Whether the blocked side has had its removal.
        last: bool,
    },
}

/// The state of a position without its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Bitboards of both sides' live stones; see [`BOARD`] for the numbering.
    pub(super) live: [u64; 2],
    /// Bitboards of captured stones that will be lifted; empty outside the placing phase.
    pub(super) marked: [u64; 2],
    pub(super) turn: Side,
    pub(super) phase: Phase,
    /// Captures or removals that `turn` has to choose. If not 0, there is a target.
    pub(super) due: u8,
    /// Steps and passes since the last capture.
    pub(super) quiet: u16,
    /// Steps and passes in the moving phase.
    pub(super) total: u16,
    /// The last step of each side.
    pub(super) last_step: [Option<(u8, u8)>; 2],
}

/// A position of Liuzhou chess. Black ([`Side::First`]) moves first.
///
/// The key covers the setup, the stones, the pending decision with due captures, and, if stepping straight back is
/// restricted, the last steps. It leaves out earlier occurrences, and the counts of plies towards a draw.
#[derive(Clone, Debug)]
pub struct Liuzhou {
    setup: LiuzhouSetup,
    state: State,
    outcome: Option<Outcome>,
    ply: u32,
    last: Option<LiuzhouMove>,
    /// Points of the formations that the last placement or step made.
    made: u64,
    /// Points from which the last placement or step captured.
    taken: u64,
    /// Earlier positions with a step due.
    past: Vec<([u64; 2], Side)>,
    /// Index in `past` of the first position after the last capture.
    past_from: usize,
    /// Zobrist key of the stones.
    stones_key: u64,
}

/// Undo information of a move.
#[derive(Clone, Copy)]
pub(super) struct Undo {
    state: State,
    outcome: Option<Outcome>,
    last: Option<LiuzhouMove>,
    made: u64,
    taken: u64,
    /// Index of the first position since the last capture, and number of positions.
    past: (usize, usize),
    stones_key: u64,
}

impl Liuzhou {
    /// The position with this state, which must be consistent; without history.
    pub(super) fn from_state(setup: &LiuzhouSetup, state: State) -> Self {
        let mut game = Self {
            setup: setup.clone(),
            state,
            outcome: None,
            ply: 0,
            last: None,
            made: 0,
            taken: 0,
            past: Vec::new(),
            past_from: 0,
            stones_key: stones_key(&state),
        };
        if state.phase == Phase::Moving {
            game.check_counts();
            if game.outcome.is_none() && state.due == 0 {
                game.start_turn();
            }
        }
        game
    }

    /// The game that begins from this start.
    pub(crate) fn from_start(setup: &LiuzhouSetup, start: &Start) -> Result<Self, StartError> {
        if start.game() != GameKind::Liuzhou {
            return Err(StartError::OtherGame);
        }
        let (mut live, mut marked) = ([0_u64; 2], [0_u64; 2]);
        for (at, piece) in start.pieces() {
            let sets = if piece.marked { &mut marked } else { &mut live };
            sets[piece.side.index()] |= 1 << (at.row * u16::from(SIZE) + at.column);
        }
        let placed = Side::BOTH.map(|side| (live[side.index()] | marked[side.index()]).count_ones());
        if let Some(side) = Side::BOTH.into_iter().find(|side| placed[side.index()] > STONES) {
            return Err(StartError::TooMany(side, Piece::Stone));
        }
        let turn = start.turn();
        let phase = match start.phase() {
            StartPhase::Opening if placed == [STONES; 2] => return Err(StartError::AllPlaced),
            StartPhase::Opening if placed[0] != placed[1] + u32::from(turn == Side::Second) => {
                return Err(StartError::NotInTurn);
            }
            StartPhase::Opening => Phase::Placing,
            StartPhase::Moving if marked != [0; 2] => return Err(StartError::NotLifted),
            StartPhase::Moving => Phase::Moving,
        };
        let few = |side: Side| live[side.index()].count_ones() <= u32::from(setup.loses_at);
        if phase == Phase::Moving
            && let Some(side) = Side::BOTH.into_iter().find(|&side| few(side))
        {
            return Err(StartError::TooFew(side));
        }
        let state = State { live, marked, turn, phase, due: 0, quiet: 0, total: 0, last_step: [None; 2] };
        let game = Self::from_state(setup, state);
        let moves = phase == Phase::Placing || game.steps().next().is_some();
        if moves { Ok(game) } else { Err(StartError::NoMove(turn)) }
    }

    /// The phase of a start with these stones; `None` if a capture or removal is due.
    pub(crate) fn start_phase(&self) -> Option<StartPhase> {
        match (self.state.phase, self.state.due) {
            (Phase::Placing, 0) => Some(StartPhase::Opening),
            (Phase::Moving, 0) => Some(StartPhase::Moving),
            _ => None,
        }
    }

    /// Captured stones that keep their points until they are lifted.
    pub(crate) fn marked_stones(&self) -> Vec<(Point, Side)> {
        let of = |side: Side| bits(self.state.marked[side.index()]).map(move |at| (to_point(at), side));
        Side::BOTH.into_iter().flat_map(of).collect()
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Zobrist key of the stones.
    pub(super) fn stones_key(&self) -> u64 {
        self.stones_key
    }

    /// Whether the position, with a step due, has occurred since the last capture.
    pub(super) fn is_repeated(&self) -> bool {
        let now = (self.state.live, self.state.turn);
        self.past[self.past_from..].iter().filter(|&&position| position == now).count() > 1
    }

    /// Makes a legal move; returns the information for [`Self::take_back`].
    pub(super) fn try_out(&mut self, mv: LiuzhouMove) -> Undo {
        let undo = self.undo();
        self.play(mv);
        undo
    }

    /// Makes a null move, when a placement or a step is due.
    pub(super) fn skip(&mut self) -> Undo {
        let undo = self.undo();
        self.ply += 1;
        self.state.turn = self.state.turn.other();
        undo
    }

    fn undo(&self) -> Undo {
        Undo {
            state: self.state,
            outcome: self.outcome,
            last: self.last,
            made: self.made,
            taken: self.taken,
            past: (self.past_from, self.past.len()),
            stones_key: self.stones_key,
        }
    }

    /// Unmakes the last move made by [`Self::try_out`].
    pub(super) fn take_back(&mut self, undo: Undo) {
        self.state = undo.state;
        self.outcome = undo.outcome;
        self.last = undo.last;
        (self.made, self.taken) = (undo.made, undo.taken);
        self.past_from = undo.past.0;
        self.past.truncate(undo.past.1);
        self.stones_key = undo.stones_key;
        self.ply -= 1;
    }

    /// Number of captures that `side` would earn with these stones, one of which has just moved to this point.
    pub(super) fn claim_of(&self, point: u8, stones: u64) -> u8 {
        self.claim(point, stones).1
    }

    /// Captures that the side to move has to choose; 0 if it places or moves.
    pub fn captures_due(&self) -> u8 {
        self.state.due
    }

    /// Bitboard of a side's stones, without those that wait to be lifted.
    pub(crate) fn live(&self, side: Side) -> u64 {
        self.state.live[side.index()]
    }

    /// Whether the side to move is to make a step.
    pub(crate) fn is_stepping(&self) -> bool {
        self.state.phase == Phase::Moving && self.state.due == 0
    }

    /// Whether the placing phase is in progress.
    pub(super) fn is_placing(&self) -> bool {
        self.state.phase == Phase::Placing
    }

    /// The formations that the last placement or step made, until the other side has moved.
    pub fn made(&self) -> impl Iterator<Item = &'static Formation> {
        // All of them contain the destination, and together they are the stored points.
        let through = move |point| {
            complete_through(point, self.made).filter(|formation| self.setup.captures(formation) > 0)
        };
        let all = |point: &u8| through(*point).fold(0, |set, formation| set | formation.points) == self.made;
        bits(self.made).find(all).into_iter().flat_map(through)
    }

    /// Whose formation was just made and what it captures, as a sentence; `None` without one.
    pub fn told(&self, language: Language) -> Option<String> {
        let mut kinds: Vec<(&str, u32)> = Vec::new();
        for name in self.made().map(|formation| formation.kind.name(language)) {
            match kinds.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => kinds.push((name, 1)),
            }
        }
        let several = |(name, count): (&str, u32)| {
            if count == 1 { name.to_owned() } else { format!("{name} ×{count}") }
        };
        let names: Vec<String> = kinds.into_iter().map(several).collect();
        let maker = Side::BOTH.into_iter().find(|side| self.made & self.state.live[side.index()] != 0)?;
        if names.is_empty() {
            return None;
        }
        let names = names.join(language.pick("、", " and "));
        let side = <Self as Game>::names(language).side(maker);
        let (due, taken) = (self.state.due, self.taken.count_ones());
        Some(match (language, due, taken) {
            (Language::Chinese, 0, 0) => format!("{side}{names}。"),
            (Language::Chinese, 0, taken) => format!("{side}{names}，提了 {taken} 子。"),
            (Language::Chinese, due, _) => format!("{side}{names}，还要提 {due} 子。"),
            (Language::English, 0, 0) => format!("{side} made {names}."),
            (Language::English, 0, 1) => format!("{side} made {names} and took a stone."),
            (Language::English, 0, taken) => format!("{side} made {names} and took {taken} stones."),
            (Language::English, 1, _) => format!("{side} made {names} and takes a stone."),
            (Language::English, due, _) => format!("{side} made {names} and takes {due} stones."),
        })
    }

    /// The phase in words: placing, removing, or moving.
    pub fn phase_words(&self, language: Language) -> &'static str {
        match self.state.phase {
            Phase::Placing => language.pick("布子", "placing"),
            Phase::Moving => language.pick("行棋", "moving"),
            _ => language.pick("去子", "lifting"),
        }
    }

    /// The complete formations of a side.
    pub fn formations(&self, side: Side) -> impl Iterator<Item = &'static Formation> {
        let stones = self.state.live[side.index()];
        formations::ALL
            .iter()
            .filter(move |formation| formation.points & !stones == 0 && self.setup.captures(formation) > 0)
    }

    /// Calls `found` with every legal move, in a fixed order.
    pub(super) fn each_legal(&self, mut found: impl FnMut(LiuzhouMove)) {
        if self.outcome.is_some() {
        } else if self.state.due > 0 {
            bits(self.targets(self.state.turn)).map(LiuzhouMove::Capture).for_each(found);
        } else if self.state.phase == Phase::Placing {
            bits(BOARD & !self.occupied()).map(LiuzhouMove::Place).for_each(found);
        } else {
            let mut steps = self.steps().map(|(from, to)| LiuzhouMove::Step(from, to)).peekable();
            if steps.peek().is_none() {
                found(LiuzhouMove::Pass);
            }
            steps.for_each(found);
        }
    }

    /// Stones of the other side that `side` may capture.
    pub(super) fn targets(&self, side: Side) -> u64 {
        let enemy = side.other();
        let live = self.state.live[enemy.index()];
        let free = || live & !self.formations(enemy).fold(0, |union, formation| union | formation.points);
        match self.setup.safety {
            Safety::Never => live,
            Safety::Always => free(),
            Safety::UnlessNoOther => match free() {
                0 => live,
                free => free,
            },
        }
    }

    /// Points of the formations that `side` has completed through this point, and the captures they earn.
    fn claim(&self, point: u8, stones: u64) -> (u64, u8) {
        let (mut points, mut sum, mut highest) = (0, 0, 0);
        for formation in complete_through(point, stones) {
            let captures = self.setup.captures(formation);
            if captures > 0 {
                points |= formation.points;
                sum += captures;
                highest = highest.max(captures);
            }
        }
        match self.setup.several {
            SeveralFormations::Sum => (points, sum),
            SeveralFormations::Highest => (points, highest),
        }
    }

    fn occupied(&self) -> u64 {
        let State { live, marked, .. } = &self.state;
        live[0] | live[1] | marked[0] | marked[1]
    }

    /// Whether a step back is forbidden by the option.
    fn is_straight_back(&self, from: u8, to: u8) -> bool {
        let side = self.state.turn.index();
        self.setup.step_back == StepBack::NotAtOnce
            && self.state.last_step[side] == Some((to, from))
            // Every formation that it would complete existed before the stone left, because its other stones have not moved
            // since.
            && self.claim(to, self.state.live[side] & !(1 << from) | 1 << to).1 > 0
    }

    /// All legal steps of the side to move.
    fn steps(&self) -> impl Iterator<Item = (u8, u8)> {
        let (own, empty) = (self.state.live[self.state.turn.index()], BOARD & !self.occupied());
        bits(own)
            .flat_map(move |from| bits(neighbours(from) & empty).map(move |to| (from, to)))
            .filter(|&(from, to)| !self.is_straight_back(from, to))
    }

    /// Sets due removals for `side`; none if it has no target.
    fn ask(&mut self, side: Side, phase: Phase, due: u8) {
        self.state.turn = side;
        self.state.phase = phase;
        self.state.due = if self.targets(side) == 0 { 0 } else { due };
    }

    /// Determines the next decision after the side to move has finished its turn.
    fn next(&mut self) {
        let other = self.state.turn.other();
        match self.state.phase {
            Phase::Placing => {
                self.state.turn = other;
                if self.occupied() == BOARD {
                    self.lift();
                }
            }
            Phase::Forced { last: false } => {
                self.ask(other, Phase::Forced { last: true }, 1);
                if self.state.due == 0 {
                    self.next();
                }
            }
            Phase::Forced { last: true } => self.start_moving(),
            Phase::Blocked { last: false } => {
                self.ask(other, Phase::Blocked { last: true }, 1);
                if self.state.due == 0 {
                    self.next();
                }
            }
            Phase::Moving | Phase::Blocked { last: true } => {
                self.state.turn = other;
                self.state.phase = Phase::Moving;
                self.start_turn();
            }
        }
    }

    /// Ends the placing phase: lifts marked stones.
    fn lift(&mut self) {
        if self.state.marked == [0, 0] {
            let (side, last) = match self.setup.forced_removal {
                ForcedRemoval::FirstThenSecond => (Side::First, false),
                ForcedRemoval::SecondThenFirst => (Side::Second, false),
                ForcedRemoval::OnlySecond => (Side::Second, true),
            };
            self.ask(side, Phase::Forced { last }, 1);
            if self.state.due == 0 {
                self.next();
            }
        } else {
            for side in Side::BOTH {
                for point in bits(std::mem::take(&mut self.state.marked[side.index()])) {
                    self.stones_key ^= stone_key(point, side, true);
                }
            }
            self.start_moving();
        }
    }

    /// The side that placed second moves first.
    fn start_moving(&mut self) {
        self.state.phase = Phase::Moving;
        self.state.turn = Side::Second;
        self.check_counts();
        if self.outcome.is_none() {
            self.start_turn();
        }
    }

    /// A side with too few stones loses; if both have too few, it is a draw.
    fn check_counts(&mut self) {
        let few = self.state.live.map(|stones| stones.count_ones() <= u32::from(self.setup.loses_at));
        let winner = match few {
            [false, false] => return,
            [true, true] => None,
            [true, false] => Some(Side::Second),
            [false, true] => Some(Side::First),
        };
        self.outcome = Some(Outcome { winner, reason: Reason::TooFewStones });
    }

    /// Starts a turn of steps: checks whether the side has one, and what follows if not.
    fn start_turn(&mut self) {
        let State { live, turn, quiet, total, .. } = self.state;
        let blocked = self.steps().next().is_none();
        if blocked && self.setup.blocked == Blocked::Loses {
            self.outcome = Some(Outcome { winner: Some(turn.other()), reason: Reason::NoMoves });
            return;
        }
        let seen = self.past[self.past_from..].iter().filter(|&&position| position == (live, turn)).count();
        self.past.push((live, turn));
        let reached = |limit: Option<u16>, count: u16| limit.is_some_and(|limit| count >= limit);
        if seen >= 2 {
            self.outcome = Some(Outcome { winner: None, reason: Reason::Repetition });
        } else if reached(self.setup.quiet_limit, quiet) || reached(self.setup.total_limit, total) {
            self.outcome = Some(Outcome { winner: None, reason: Reason::TooLong });
        } else if blocked && self.setup.blocked == Blocked::Removal {
            let possible = [turn, turn.other()].map(|side| self.targets(side) != 0);
            match possible {
                [true, _] => self.ask(turn, Phase::Blocked { last: false }, 1),
                [false, true] => self.ask(turn.other(), Phase::Blocked { last: true }, 1),
                // No removal is possible: the blocked side passes.
                [false, false] => {}
            }
        }
    }

    fn is_blocked(&self) -> bool {
        self.steps().next().is_none()
    }

    fn point_on_board(point: Point) -> Result<u8, IllegalAction> {
        if point.column < u16::from(SIZE) && point.row < u16::from(SIZE) {
            Ok((point.row * u16::from(SIZE) + point.column) as u8)
        } else {
            Err(IllegalAction::OffBoard(point))
        }
    }

    fn legal_capture(&self, point: Point) -> Result<LiuzhouMove, IllegalAction> {
        let State { live, marked, turn, due, .. } = &self.state;
        if *due == 0 {
            return Err(IllegalAction::WrongKind);
        }
        let number = Self::point_on_board(point)?;
        let on = |set: u64| set & (1 << number) != 0;
        let (own, enemy) = (turn.index(), turn.other().index());
        if on(self.targets(*turn)) {
            Ok(LiuzhouMove::Capture(number))
        } else if on(live[own] | marked[own]) {
            Err(IllegalAction::OwnPiece(point))
        } else if on(marked[enemy]) {
            Err(IllegalAction::AlreadyCaptured(point))
        } else if on(live[enemy]) {
            Err(IllegalAction::InFormation(point))
        } else {
            Err(IllegalAction::Empty(point))
        }
    }

    fn legal_step(&self, from: Point, to: Point) -> Result<LiuzhouMove, IllegalAction> {
        let (start, end) = (Self::point_on_board(from)?, Self::point_on_board(to)?);
        let own = self.state.live[self.state.turn.index()];
        if self.occupied() & (1 << start) == 0 {
            Err(IllegalAction::Empty(from))
        } else if own & (1 << start) == 0 {
            Err(IllegalAction::NotYours(from))
        } else if neighbours(start) & (1 << end) == 0 {
            Err(IllegalAction::NotItsStep(from))
        } else if self.occupied() & (1 << end) != 0 {
            Err(IllegalAction::Occupied(to))
        } else if self.is_straight_back(start, end) {
            Err(IllegalAction::StraightBack(from))
        } else {
            Ok(LiuzhouMove::Step(start, end))
        }
    }

    /// Evaluates the formations of a stone that has just arrived; without any the turn ends.
    fn arrive(&mut self, point: u8) {
        let side = self.state.turn;
        let (made, due) = self.claim(point, self.state.live[side.index()]);
        (self.made, self.taken) = (made, 0);
        if due > 0 {
            self.ask(side, self.state.phase, due);
        }
        if self.state.due == 0 {
            self.next();
        }
    }

    fn capture(&mut self, point: u8) {
        let side = self.state.turn;
        let enemy = side.other();
        self.taken |= 1 << point;
        self.state.live[enemy.index()] &= !(1 << point);
        self.stones_key ^= stone_key(point, enemy, false);
        if self.state.phase == Phase::Placing {
            self.state.marked[enemy.index()] |= 1 << point;
            self.stones_key ^= stone_key(point, enemy, true);
        } else {
            self.state.quiet = 0;
            self.past_from = self.past.len();
        }
        let due = self.state.due - 1;
        self.ask(side, self.state.phase, due);
        if matches!(self.state.phase, Phase::Moving | Phase::Blocked { .. }) {
            self.check_counts();
        }
        if self.outcome.is_some() {
            self.state.due = 0;
        } else if self.state.due == 0 {
            self.next();
        }
    }
}

/// The points of a set, lowest first.
pub(super) fn bits(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let point = set.trailing_zeros() as u8;
            set &= set - 1;
            point
        })
    })
}

/// Points one step away along a line.
pub(super) const fn neighbours(point: u8) -> u64 {
    let (bit, column) = (1_u64 << point, point % SIZE);
    let sideways = if column == 0 { 0 } else { bit >> 1 } | if column == SIZE - 1 { 0 } else { bit << 1 };
    (sideways | bit << SIZE | bit >> SIZE) & BOARD
}

pub(super) fn to_point(number: u8) -> Point {
    Point::new(u16::from(number % SIZE), u16::from(number / SIZE))
}

/// Zobrist key of a stone, live or marked, the same on every machine.
const fn stone_key(point: u8, side: Side, marked: bool) -> u64 {
    let cell = (point as u64) << 2 | (marked as u64) << 1 | side as u64;
    Rng::new(0x6c69_757a_686f_0000_u64.wrapping_add(cell)).next_u64()
}

fn stones_key(state: &State) -> u64 {
    let of = |set: u64, side, marked| bits(set).fold(0, |key, point| key ^ stone_key(point, side, marked));
    Side::BOTH.into_iter().fold(0, |key, side| {
        key ^ of(state.live[side.index()], side, false) ^ of(state.marked[side.index()], side, true)
    })
}

/// Mixes a number into a hash.
const fn mix(key: u64, number: u64) -> u64 {
    Rng::new(key ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

fn setup_key(setup: &LiuzhouSetup) -> u64 {
    let limit = |limit: Option<u16>| u64::from(limit.unwrap_or(0));
    [
        setup.several as u64,
        setup.edge_six.into(),
        setup.inner_six.into(),
        setup.diagonals.into(),
        setup.safety as u64,
        setup.blocked as u64,
        setup.loses_at.into(),
        limit(setup.quiet_limit),
        limit(setup.total_limit),
        setup.step_back as u64,
        setup.forced_removal as u64,
    ]
    .into_iter()
    .fold(0x6c69_757a_686f_7573, mix)
}

/// Hash of everything but the stones.
fn rest_key(setup: &LiuzhouSetup, state: &State) -> u64 {
    let phase = match state.phase {
        Phase::Placing => 0,
        Phase::Forced { last } => 2 + u64::from(last),
        Phase::Moving => 4,
        Phase::Blocked { last } => 6 + u64::from(last),
    };
    let key = mix(setup_key(setup), phase << 16 | u64::from(state.due) << 8 | state.turn as u64);
    if setup.step_back == StepBack::Allowed {
        return key;
    }
    state.last_step.iter().fold(key, |key, step| {
        mix(key, step.map_or(u64::MAX, |(from, to)| u64::from(from) << 8 | u64::from(to)))
    })
}

impl Game for Liuzhou {
    type Setup = LiuzhouSetup;
    type Move = LiuzhouMove;

    fn new(setup: &LiuzhouSetup) -> Result<Self, SetupError> {
        setup.check()?;
        if let Some(start) = &setup.start {
            return Ok(Self::from_start(setup, start)?);
        }
        let state = State {
            live: [0; 2],
            marked: [0; 2],
            turn: Side::First,
            phase: Phase::Placing,
            due: 0,
            quiet: 0,
            total: 0,
            last_step: [None; 2],
        };
        Ok(Self::from_state(setup, state))
    }

    fn setup(&self) -> &LiuzhouSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        self.state.turn
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn legal_moves(&self, into: &mut Vec<LiuzhouMove>) {
        into.clear();
        self.each_legal(|mv| into.push(mv));
    }

    fn legal_move(&self, action: Action) -> Result<LiuzhouMove, IllegalAction> {
        if self.outcome.is_some() {
            return Err(IllegalAction::Ended);
        }
        match action {
            Action::Capture(point) => self.legal_capture(point),
            Action::Place(_) | Action::Step { .. } if self.state.due > 0 => {
                Err(IllegalAction::CaptureFirst(self.state.due))
            }
            Action::Place(point) if self.state.phase == Phase::Placing => {
                let number = Self::point_on_board(point)?;
                if self.occupied() & (1 << number) == 0 {
                    Ok(LiuzhouMove::Place(number))
                } else {
                    Err(IllegalAction::Occupied(point))
                }
            }
            Action::Step { from, to } if self.state.phase == Phase::Moving => self.legal_step(from, to),
            Action::Pass if self.state.phase == Phase::Moving && self.state.due == 0 && self.is_blocked() => {
                Ok(LiuzhouMove::Pass)
            }
            _ => Err(IllegalAction::WrongKind),
        }
    }

    fn action(mv: LiuzhouMove) -> Action {
        match mv {
            LiuzhouMove::Place(point) => Action::Place(to_point(point)),
            LiuzhouMove::Step(from, to) => Action::Step { from: to_point(from), to: to_point(to) },
            LiuzhouMove::Capture(point) => Action::Capture(to_point(point)),
            LiuzhouMove::Pass => Action::Pass,
        }
    }

    fn play(&mut self, mv: LiuzhouMove) {
        debug_assert!(
            self.legal_move(Self::action(mv)) == Ok(mv),
            "a move is for the position it was made from"
        );
        let side = self.state.turn;
        self.ply += 1;
        self.last = Some(mv);
        if matches!(mv, LiuzhouMove::Step(..) | LiuzhouMove::Pass) {
            // The counts matter only up to the limits, which fit.
            self.state.quiet = self.state.quiet.saturating_add(1);
            self.state.total = self.state.total.saturating_add(1);
        }
        match mv {
            LiuzhouMove::Place(point) => {
                self.state.live[side.index()] |= 1 << point;
                self.stones_key ^= stone_key(point, side, false);
                self.arrive(point);
            }
            LiuzhouMove::Step(from, to) => {
                self.state.live[side.index()] ^= 1 << from | 1 << to;
                self.stones_key ^= stone_key(from, side, false) ^ stone_key(to, side, false);
                self.state.last_step[side.index()] = Some((from, to));
                self.arrive(to);
            }
            LiuzhouMove::Capture(point) => self.capture(point),
            LiuzhouMove::Pass => {
                (self.made, self.taken) = (0, 0);
                self.state.last_step[side.index()] = None;
                self.next();
            }
        }
    }

    fn key(&self) -> u64 {
        self.stones_key ^ rest_key(&self.setup, &self.state)
    }

    fn fresh_key(&self) -> u64 {
        stones_key(&self.state) ^ rest_key(&self.setup, &self.state)
    }

    fn view(&self) -> BoardView {
        let State { live, marked, turn, phase, due, .. } = self.state;
        let side = u16::from(SIZE);
        let in_set = |set: u64, at: Point| set & (1 << (at.row * side + at.column)) != 0;
        let owner = |at| Side::BOTH.into_iter().find(|s| in_set(live[s.index()] | marked[s.index()], at));
        let targets = if due > 0 { self.targets(turn) } else { 0 };
        let marks = [
            (self.made, MarkKind::Formation),
            (self.taken, MarkKind::Taken),
            (marked[0] | marked[1], MarkKind::Captured),
            (targets, MarkKind::Target),
        ];
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        let mut facts = Vec::new();
        if due > 0 {
            facts.push(Fact::CapturesDue(due));
        }
        for side in Side::BOTH {
            let (enemy, count) = (side.other().index(), |set: u64| set.count_ones());
            let hand = match phase {
                Phase::Placing => STONES - count(live[side.index()] | marked[side.index()]),
                _ => 0,
            };
            let placed = match phase {
                Phase::Placing => count(live[enemy] | marked[enemy]),
                _ => STONES,
            };
            if hand > 0 {
                facts.push(Fact::InHand(side, hand as u16));
            }
            facts.push(Fact::Taken(side, (placed - count(live[enemy])) as u16));
        }
        BoardView {
            game: GameKind::Liuzhou,
            columns: side,
            rows: side,
            pieces: points(side, side)
                .filter_map(|at| owner(at).map(|side| PieceView { at, side, piece: Piece::Stone }))
                .collect(),
            last: self.last.map(Self::action),
            marks: marks
                .into_iter()
                .flat_map(|(set, kind)| bits(set).map(move |point| Mark { at: to_point(point), kind }))
                .collect(),
            facts,
            steps: steps::<Self>(&moves),
            losing_steps: Vec::new(),
            choices: if moves.contains(&LiuzhouMove::Pass) { vec![Action::Pass] } else { Vec::new() },
            touch: match phase {
                _ if self.outcome.is_some() => Touch::Nothing,
                _ if due > 0 => Touch::Capture,
                Phase::Placing => Touch::Place(turn),
                Phase::Moving => Touch::Step,
                Phase::Forced { .. } | Phase::Blocked { .. } => Touch::Capture,
            },
            turn: self.outcome.is_none().then_some(turn),
            outcome: self.outcome,
            ply: self.ply,
        }
    }

    /// `c3` places, `c3c4` steps, `xd4` captures or removes, `pass` passes.
    fn notation(&self, action: Action) -> String {
        action.to_string()
    }

    fn parse(&self, text: &str) -> Option<Action> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("pass") {
            return Some(Action::Pass);
        }
        if let Some(Ok(point)) = text.strip_prefix(['x', 'X', '×']).map(str::parse) {
            return Some(Action::Capture(point));
        }
        if let Ok(point) = text.parse() {
            return Some(Action::Place(point));
        }
        // Two points, with or without a hyphen: the second starts at the first letter after a digit.
        let digit = text.find(|c: char| c.is_ascii_digit())?;
        let letter = digit + text[digit..].find(|c: char| !c.is_ascii_digit())?;
        let (from, to) = text.split_at(letter);
        Some(Action::Step { from: from.parse().ok()?, to: to.strip_prefix('-').unwrap_or(to).parse().ok()? })
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "六洲棋", first: "黑方", second: "白方" },
            Language::English => Names { game: "Liuzhou chess", first: "Black", second: "White" },
        }
    }

    fn rule_sheet(setup: &LiuzhouSetup, language: Language) -> String {
        setup.rule_sheet(language)
    }
}

const _: () = assert!(POINTS as u32 == 2 * STONES, "when all stones are placed the board is full");
