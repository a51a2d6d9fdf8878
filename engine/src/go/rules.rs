//! The rules of Go.
//!
//! Sources: the rules page of this project; tromp.github.io/go.html for area scoring and positional superko. An immediate
//! recapture of a ko is rejected as ko, any other repetition as superko; a pass repeats nothing.
//!
//! After two successive passes the sides agree on dead stones in turn: a side marks any number of chains and then agrees,
//! which gives the turn to the other side. When that one agrees to the same marks, the game is over; a mark made after an
//! agreement withdraws it. Either side may resume play instead, and then the other side moves.

use std::collections::HashSet;

use super::board::{Board, Cell, Effect, Vertex};
use super::openings::{Beginning, Opening};
use super::score::{self, Score};
use super::setup::points_text;
use super::{GoSetup, Handicap, Superko};
use crate::game::points;
use crate::start::{Start, StartError};
use crate::{
    Action, BoardView, Fact, Game, GameKind, IllegalAction, Language, Mark, MarkKind, Names, Outcome, Piece,
    PieceView, Point, Reason, Rng, SetupError, Side, Touch,
};

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoMove {
    /// Place a stone.
    Place(Point),
    /// Pass.
    Pass,
    /// Mark the chain through this point as dead, or as alive again.
    Toggle(Point),
    /// Agree to the dead stones as marked.
    Agree,
    /// Resume play; the other side moves.
    Resume,
}

/// The state of a position besides stones and side to move.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Circumstances {
    pub(super) ko: Option<Point>,
    /// Successive passes: 2 while the dead stones are agreed on.
    pub(super) passes: u8,
    pub(super) prisoners: [u32; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Number of successive passes.
    Playing { passes: u8 },
    /// Agreeing on dead stones; which sides have agreed to the present marks.
    Agreeing { agreed: [bool; 2] },
    /// Both sides have agreed.
    Over,
}

/// A position of Go. Black is [`Side::First`]; with handicap stones on star points White moves first.
///
/// The key covers the setup, the stones, the pending decision, the ko and the dead stones as marked. It leaves out earlier
/// positions (which superko depends on) and prisoners.
#[derive(Clone, Debug)]
pub struct Go {
    setup: GoSetup,
    board: Board,
    turn: Side,
    phase: Phase,
    /// The ko point.
    ko: Option<Vertex>,
    /// Stones marked as dead.
    dead: HashSet<Vertex>,
    /// The marks that a side has agreed to last, and the marks that the other side changed before its own agreement.
    agreed_to: Option<(Side, HashSet<Vertex>)>,
    disputed: Vec<Vertex>,
    /// Keys of earlier positions; including the side to move if superko is situational.
    past: HashSet<u64>,
    /// Number of stones that each side has captured.
    prisoners: [u32; 2],
    /// Number of free handicap stones that Black still has to place.
    handicap_left: u8,
    ply: u32,
    last: Option<GoMove>,
    /// The decision before the last one.
    before: Option<GoMove>,
    /// The first stones, for the name of the opening; `None` later, and when the game began elsewhere.
    beginning: Option<Beginning>,
}

/// Why stones cannot be put on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// A point is off the board.
    OffBoard,
    /// The chain of this stone has no liberty.
    NoLiberty(Point),
}

impl Go {
    /// The score after removing the stones marked as dead. Meaningful after both sides have passed.
    pub fn score(&self) -> Score {
        let mut board = self.board.clone();
        let mut prisoners = self.prisoners;
        for &place in &self.dead {
            if let Cell::Stone(owner) = board.at(place) {
                prisoners[owner.other().index()] += board.chain(place).count() as u32;
                board.remove(place);
            }
        }
        score::count(&board, &self.setup, prisoners)
    }

    /// [`Game::legal_move`] and [`Game::play`] without superko, for opponents that play without that rule. On an error
    /// nothing is played.
    pub fn play_without_superko(&mut self, action: Action) -> Result<(), IllegalAction> {
        let mv = match (self.legal_move(action), action) {
            (Err(IllegalAction::Superko), Action::Place(point)) => GoMove::Place(point),
            (answer, _) => answer?,
        };
        self.advance(mv);
        Ok(())
    }

    /// While the dead stones are agreed on: the score with komi, and the chains that the sides disagree about.
    pub fn told(&self, language: Language) -> Option<String> {
        if !self.is_agreeing() {
            return None;
        }
        let [black, white] = self.score().half_points;
        let komi = points_text(self.setup.komi_half_points.into());
        let (leads, by) = (black > white, points_text(black.abs_diff(white)));
        let names = <Self as Game>::names(language);
        let leader = if leads { names.first } else { names.second };
        let [black, white] = [black, white].map(points_text);
        let mut told = match language {
            Language::Chinese if by == "0" => format!("黑 {black}，白 {white}（含贴目 {komi}）：一样多。"),
            Language::Chinese => format!("黑 {black}，白 {white}（含贴目 {komi}）：{leader}多 {by}。"),
            Language::English if by == "0" => format!("Black {black}, White {white} with {komi} komi: even."),
            Language::English => {
                format!("Black {black}, White {white} with {komi} komi: {leader} is {by} ahead.")
            }
        };
        let mut chains: Vec<Point> = Vec::new();
        for &place in &self.disputed {
            let head = self.board.point(self.board.head(place));
            if !chains.contains(&head) {
                chains.push(head);
            }
        }
        if !chains.is_empty() {
            // Maximum number of chains named; there are seldom more than two.
            chains.sort_unstable_by_key(|at| (at.row, at.column));
            chains.truncate(4);
            let chains: Vec<String> = chains.into_iter().map(Self::point_name).collect();
            let disputed = match language {
                Language::Chinese => {
                    format!("双方对 {} 的死活看法不同：点棋子可改，也可以接着下。", chains.join("、"))
                }
                Language::English => format!(
                    " You do not agree about the stones at {}: tap them to change it, or play on.",
                    chains.join(", ")
                ),
            };
            told.push_str(&disputed);
        }
        Some(told)
    }

    /// The opening by its name, as long as the game knows its first stones.
    pub fn opening(&self) -> Option<Opening> {
        self.beginning.as_ref()?.opening()
    }

    /// The stone on a point, if there is one.
    pub fn at(&self, point: Point) -> Option<Side> {
        match self.board.at(self.board.place(point)?) {
            Cell::Stone(side) => Some(side),
            _ => None,
        }
    }

    /// Whether the stone on a point is marked as dead.
    pub fn is_dead(&self, point: Point) -> bool {
        self.board.place(point).is_some_and(|place| self.dead.contains(&place))
    }

    /// Number of stones that this side has captured, not counting marked ones.
    pub fn prisoners(&self, side: Side) -> u32 {
        self.prisoners[side.index()]
    }

    /// The ko point for the side to move.
    pub(super) fn ko(&self) -> Option<Point> {
        self.ko.map(|place| self.board.point(place))
    }

    /// Whether superko forbids a position with these stones and this side to move.
    pub(super) fn was_there(&self, stones: u64, to_move: Side) -> bool {
        self.past.contains(&self.past_key(stones, to_move))
    }

    /// Whether the other side has just passed and a pass now would end the play.
    pub(crate) fn is_after_pass(&self) -> bool {
        matches!(self.phase, Phase::Playing { passes: 1 })
    }

    /// The last decision.
    pub(super) fn last(&self) -> Option<GoMove> {
        self.last
    }

    /// The decision before the last one.
    pub(super) fn before(&self) -> Option<GoMove> {
        self.before
    }

    /// Whether Black is placing free handicap stones.
    pub(crate) fn is_placing_handicap(&self) -> bool {
        self.handicap_left > 0
    }

    /// Whether both sides have passed and the dead stones are agreed on.
    pub(crate) fn is_agreeing(&self) -> bool {
        matches!(self.phase, Phase::Agreeing { .. })
    }

    /// The ko point, successive passes and prisoners: the state besides stones and side to move.
    pub(super) fn circumstances(&self) -> Circumstances {
        Circumstances {
            ko: self.ko.map(|place| self.board.point(place)),
            passes: match self.phase {
                Phase::Playing { passes } => passes,
                Phase::Agreeing { .. } | Phase::Over => 2,
            },
            prisoners: self.prisoners,
        }
    }

    /// The usual beginning of this setup, which was checked.
    fn begun(setup: &GoSetup) -> Self {
        let mut go = Self {
            setup: setup.clone(),
            board: Board::new(setup.size),
            turn: Side::First,
            phase: Phase::Playing { passes: 0 },
            ko: None,
            dead: HashSet::new(),
            agreed_to: None,
            disputed: Vec::new(),
            past: HashSet::new(),
            prisoners: [0; 2],
            handicap_left: match setup.handicap {
                Handicap::Free(stones) => stones,
                Handicap::None | Handicap::Stars(_) => 0,
            },
            ply: 0,
            last: None,
            before: None,
            beginning: Some(Beginning::new(setup.size, setup.handicap == Handicap::None)),
        };
        if let Handicap::Stars(stones) = setup.handicap {
            for (column, row) in setup.stars(stones).expect("the setup is checked") {
                let star = Point::new(column.into(), row.into());
                go.board.put(go.board.place(star).expect("stars are on the board"), Side::First);
                if let Some(beginning) = &mut go.beginning {
                    beginning.give(star);
                }
            }
            go.turn = Side::Second;
        }
        go.remember();
        go
    }

    /// The game that begins from this start.
    pub(crate) fn from_start(setup: &GoSetup, start: &Start) -> Result<Self, StartError> {
        if start.game() != GameKind::Go {
            return Err(StartError::OtherGame);
        }
        if start.rows() != setup.size {
            return Err(StartError::Size);
        }
        if setup.handicap != Handicap::None {
            return Err(StartError::OwnBeginning);
        }
        let stones: Vec<_> = start.pieces().map(|(at, piece)| (at, Some(piece.side))).collect();
        Self::begun(setup).edited(&stones, start.turn()).map_err(|error| match error {
            EditError::OffBoard => StartError::Size,
            EditError::NoLiberty(at) => StartError::NoLiberty(at),
        })
    }

    /// Whether nothing but stones and side says what is due: no pass, no ko, no marks, no free handicap stones.
    pub(crate) fn is_plain(&self) -> bool {
        self.phase == Phase::Playing { passes: 0 } && self.ko.is_none() && self.handicap_left == 0
    }

    /// This game with edited points and this side to move: earlier positions are forgotten, and the count of decisions
    /// continues.
    pub(crate) fn edited(&self, changes: &[(Point, Option<Side>)], turn: Side) -> Result<Self, EditError> {
        let size = u16::from(self.setup.size);
        let mut stones: Vec<Option<Side>> = points(size, size).map(|at| self.at(at)).collect();
        for &(at, stone) in changes {
            self.board.place(at).ok_or(EditError::OffBoard)?;
            stones[usize::from(at.row * size + at.column)] = stone;
        }
        let mut board = Board::new(self.setup.size);
        for (at, side) in points(size, size).zip(&stones).filter_map(|(at, stone)| Some((at, (*stone)?))) {
            board.set(board.place(at).ok_or(EditError::OffBoard)?, side);
        }
        if let Some(place) = board.without_liberty() {
            return Err(EditError::NoLiberty(board.point(place)));
        }
        let mut go = Self {
            board,
            turn,
            phase: Phase::Playing { passes: 0 },
            ko: None,
            dead: HashSet::new(),
            agreed_to: None,
            disputed: Vec::new(),
            past: HashSet::new(),
            handicap_left: 0,
            beginning: None,
            ..self.clone()
        };
        go.remember();
        Ok(go)
    }

    /// Scores by this setup from now on; its size must be the same.
    pub(super) fn restore_setup(&mut self, setup: &GoSetup) {
        self.setup = setup.clone();
    }

    /// Sets the state of a position's line besides stones and side. Returns false if the ko is impossible.
    pub(super) fn set_circumstances(&mut self, to: Circumstances) -> bool {
        self.prisoners = to.prisoners;
        self.phase = match to.passes {
            2.. => Phase::Agreeing { agreed: [false; 2] },
            passes => Phase::Playing { passes },
        };
        let Some(ko) = to.ko else { return true };
        let Some(place) = self.board.place(ko) else { return false };
        // The capturing stone is adjacent to the ko point, with this single liberty.
        let taker = self.board.neighbours(place).into_iter().find(|&near| {
            self.board.at(near) == Cell::Stone(self.turn.other()) && self.board.is_lone_in_atari(near)
        });
        if self.board.at(place) != Cell::Empty || taker.is_none() || to.passes > 0 {
            return false;
        }
        self.ko = Some(place);
        true
    }

    /// The key of a position for superko.
    fn past_key(&self, stones: u64, to_move: Side) -> u64 {
        match self.setup.superko {
            Superko::Positional => stones,
            Superko::Situational => stones ^ turn_key(to_move),
        }
    }

    fn check_place(&self, place: Vertex) -> Result<(), IllegalAction> {
        let point = || self.board.point(place);
        if self.board.at(place) != Cell::Empty {
            return Err(IllegalAction::Occupied(point()));
        }
        match self.board.effect(place, self.turn) {
            Effect::Suicide => Err(IllegalAction::Suicide(point())),
            Effect::Key(_) if self.ko == Some(place) => Err(IllegalAction::Ko(point())),
            Effect::Key(key) if self.past.contains(&self.past_key(key, self.turn.other())) => {
                Err(IllegalAction::Superko)
            }
            Effect::Key(_) => Ok(()),
        }
    }

    /// Plays a legal move.
    fn advance(&mut self, mv: GoMove) {
        let side = self.turn;
        match mv {
            GoMove::Place(point) => self.put(point),
            GoMove::Pass => {
                self.ko = None;
                self.phase = match self.phase {
                    Phase::Playing { passes: 0 } => Phase::Playing { passes: 1 },
                    _ => Phase::Agreeing { agreed: [false; 2] },
                };
            }
            GoMove::Toggle(point) => self.toggle(point),
            GoMove::Agree => {
                let Phase::Agreeing { mut agreed } = self.phase else { return };
                agreed[side.index()] = true;
                let other = self.agreed_to.take().filter(|(by, _)| *by != side);
                let changed =
                    other.map(|(_, marks)| marks.symmetric_difference(&self.dead).copied().collect());
                self.disputed = changed.unwrap_or_default();
                self.agreed_to = Some((side, self.dead.clone()));
                self.phase = if agreed == [true; 2] { Phase::Over } else { Phase::Agreeing { agreed } };
            }
            GoMove::Resume => {
                self.dead.clear();
                self.agreed_to = None;
                self.disputed.clear();
                self.phase = Phase::Playing { passes: 0 };
            }
        }
        self.ply += 1;
        (self.last, self.before) = (Some(mv), self.last);
        self.handicap_left = self.handicap_left.saturating_sub(1);
        // A mark does not change the turn, nor does a free handicap stone except the last.
        if !matches!(mv, GoMove::Toggle(_)) && !self.is_placing_handicap() {
            self.turn = side.other();
        }
        if matches!(mv, GoMove::Place(_) | GoMove::Pass) {
            self.remember();
        }
    }

    fn remember(&mut self) {
        let key = self.past_key(self.board.key(), self.turn);
        self.past.insert(key);
    }

    fn put(&mut self, point: Point) {
        let place = self.board.place(point).expect("the move is for this board");
        if let Some(beginning) = &mut self.beginning
            && !beginning.add(point, self.turn)
        {
            self.beginning = None;
        }
        let captured = self.board.put(place, self.turn);
        self.prisoners[self.turn.index()] += captured.len() as u32;
        self.ko = match captured[..] {
            [alone] if self.board.is_lone_in_atari(place) => Some(alone),
            _ => None,
        };
        self.phase = Phase::Playing { passes: 0 };
    }

    fn toggle(&mut self, point: Point) {
        let place = self.board.place(point).expect("the move is for this board");
        let revive = self.dead.contains(&place);
        for stone in self.board.chain(place) {
            if revive {
                self.dead.remove(&stone);
            } else {
                self.dead.insert(stone);
            }
        }
        self.phase = Phase::Agreeing { agreed: [false; 2] };
    }

    fn rest_key(&self) -> u64 {
        let phase = match self.phase {
            Phase::Playing { passes } => u64::from(passes),
            Phase::Agreeing { agreed } => 4 | u64::from(agreed[0]) | u64::from(agreed[1]) << 1,
            Phase::Over => 8,
        };
        let ko = self.ko.map_or(0, u64::from);
        let state = phase << 32 | u64::from(self.handicap_left) << 24 | ko;
        let dead = self.dead.iter().fold(0, |key, &place| key ^ mix(0x6465_6164, u64::from(place)));
        mix(setup_key(&self.setup), state) ^ turn_key(self.turn) ^ dead
    }
}

const fn mix(key: u64, number: u64) -> u64 {
    Rng::new(key ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

const fn turn_key(side: Side) -> u64 {
    mix(0x7475_726e, side as u64)
}

fn setup_key(setup: &GoSetup) -> u64 {
    let handicap = match setup.handicap {
        Handicap::None => 0,
        Handicap::Stars(stones) => u64::from(stones) << 1,
        Handicap::Free(stones) => u64::from(stones) << 1 | 1,
    };
    [setup.size.into(), setup.scoring as u64, setup.komi_half_points.into(), setup.superko as u64, handicap]
        .into_iter()
        .fold(0x676f_7365_7475_7000, mix)
}

impl Game for Go {
    type Setup = GoSetup;
    type Move = GoMove;

    fn new(setup: &GoSetup) -> Result<Self, SetupError> {
        setup.check()?;
        match &setup.start {
            None => Ok(Self::begun(setup)),
            Some(start) => Ok(Self::from_start(setup, start)?),
        }
    }

    fn setup(&self) -> &GoSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        self.turn
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.phase != Phase::Over {
            return None;
        }
        let [black, white] = self.score().half_points;
        let winner = match black.cmp(&white) {
            std::cmp::Ordering::Greater => Some(Side::First),
            std::cmp::Ordering::Less => Some(Side::Second),
            std::cmp::Ordering::Equal => None,
        };
        Some(Outcome { winner, reason: Reason::Score })
    }

    fn legal_moves(&self, into: &mut Vec<GoMove>) {
        into.clear();
        match self.phase {
            Phase::Playing { .. } => {
                let places = self.board.places().filter(|&place| self.check_place(place).is_ok());
                into.extend(places.map(|place| GoMove::Place(self.board.point(place))));
                if !self.is_placing_handicap() {
                    into.push(GoMove::Pass);
                }
            }
            Phase::Agreeing { .. } => {
                let stones =
                    self.board.places().filter(|&place| matches!(self.board.at(place), Cell::Stone(_)));
                into.extend(stones.map(|place| GoMove::Toggle(self.board.point(place))));
                into.extend([GoMove::Agree, GoMove::Resume]);
            }
            Phase::Over => {}
        }
    }

    fn legal_move(&self, action: Action) -> Result<GoMove, IllegalAction> {
        let place = |point| self.board.place(point).ok_or(IllegalAction::OffBoard(point));
        match (self.phase, action) {
            (Phase::Over, _) => Err(IllegalAction::Ended),
            (Phase::Playing { .. }, Action::Place(point)) => {
                self.check_place(place(point)?)?;
                Ok(GoMove::Place(point))
            }
            (Phase::Playing { .. }, Action::Pass) if !self.is_placing_handicap() => Ok(GoMove::Pass),
            (Phase::Agreeing { .. }, Action::Toggle(point)) => match self.board.at(place(point)?) {
                Cell::Stone(_) => Ok(GoMove::Toggle(point)),
                _ => Err(IllegalAction::Empty(point)),
            },
            (Phase::Agreeing { .. }, Action::Agree) => Ok(GoMove::Agree),
            (Phase::Agreeing { .. }, Action::Resume) => Ok(GoMove::Resume),
            _ => Err(IllegalAction::WrongKind),
        }
    }

    fn action(mv: GoMove) -> Action {
        match mv {
            GoMove::Place(point) => Action::Place(point),
            GoMove::Pass => Action::Pass,
            GoMove::Toggle(point) => Action::Toggle(point),
            GoMove::Agree => Action::Agree,
            GoMove::Resume => Action::Resume,
        }
    }

    fn play(&mut self, mv: GoMove) {
        debug_assert!(
            self.legal_move(Self::action(mv)) == Ok(mv),
            "a move is for the position it was made from"
        );
        self.advance(mv);
    }

    fn key(&self) -> u64 {
        self.board.key() ^ self.rest_key()
    }

    fn fresh_key(&self) -> u64 {
        self.board.fresh_key() ^ self.rest_key()
    }

    fn view(&self) -> BoardView {
        let size = u16::from(self.setup.size);
        let outcome = self.outcome();
        let mut marks: Vec<Mark> = Vec::new();
        let mut facts: Vec<Fact> =
            Side::BOTH.map(|side| Fact::Taken(side, self.prisoners[side.index()] as u16)).into();
        if let Some(place) = self.ko {
            marks.push(Mark { at: self.board.point(place), kind: MarkKind::Ko });
        }
        if !matches!(self.phase, Phase::Playing { .. }) {
            let score = self.score();
            let dead = self.board.places().filter(|place| self.dead.contains(place));
            marks.extend(dead.map(|place| Mark { at: self.board.point(place), kind: MarkKind::Dead }));
            let surrounded = score.surrounded.iter();
            marks.extend(surrounded.map(|&(at, side)| Mark { at, kind: MarkKind::Territory(side) }));
            facts.extend(Side::BOTH.map(|side| Fact::Points(side, score.half_points[side.index()])));
        }
        if let Phase::Agreeing { agreed } = self.phase {
            let sides = Side::BOTH.into_iter().filter(|side| agreed[side.index()]);
            facts.extend(sides.map(Fact::Agreed));
        }
        BoardView {
            game: GameKind::Go,
            columns: size,
            rows: size,
            pieces: points(size, size)
                .filter_map(|at| self.at(at).map(|side| PieceView { at, side, piece: Piece::Stone }))
                .collect(),
            last: self.last.map(Self::action),
            marks,
            facts,
            steps: Vec::new(),
            losing_steps: Vec::new(),
            choices: [Action::Pass, Action::Agree, Action::Resume]
                .into_iter()
                .filter(|action| self.legal_move(*action).is_ok())
                .collect(),
            touch: match self.phase {
                Phase::Playing { .. } => Touch::Place(self.turn),
                Phase::Agreeing { .. } => Touch::Toggle,
                Phase::Over => Touch::Nothing,
            },
            turn: outcome.is_none().then_some(self.turn),
            outcome,
            ply: self.ply,
        }
    }

    /// Columns are letters without `I`, as on every Go board: `D4`, `pass`, `dead D4`, `agree`, `resume`. The space is
    /// optional.
    fn notation(&self, action: Action) -> String {
        match action {
            Action::Place(point) => Self::point_name(point),
            Action::Toggle(point) => format!("dead {}", Self::point_name(point)),
            _ => action.to_string(),
        }
    }

    fn parse(&self, text: &str) -> Option<Action> {
        let text = text.trim().to_ascii_uppercase();
        let point = |text: &str| {
            let letter = *text.as_bytes().first()?;
            let column = COLUMNS.iter().position(|&column| column == letter)? as u16;
            let row = text.get(1..)?;
            let row: u16 = row.bytes().all(|byte| byte.is_ascii_digit()).then(|| row.parse().ok())??;
            Some(Point::new(column, row.checked_sub(1)?))
        };
        match text.as_str() {
            "PASS" => Some(Action::Pass),
            "AGREE" => Some(Action::Agree),
            "RESUME" => Some(Action::Resume),
            _ => match text.strip_prefix("DEAD") {
                Some(rest) => point(rest.trim()).map(Action::Toggle),
                None => point(&text).map(Action::Place),
            },
        }
    }

    fn point_name(point: Point) -> String {
        match COLUMNS.get(usize::from(point.column)) {
            Some(letter) => format!("{}{}", *letter as char, u32::from(point.row) + 1),
            None => point.to_string(),
        }
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "围棋", first: "黑方", second: "白方" },
            Language::English => Names { game: "Go", first: "Black", second: "White" },
        }
    }

    fn rule_sheet(setup: &GoSetup, language: Language) -> String {
        setup.rule_sheet(language)
    }
}

/// Column letters, without `I`.
const COLUMNS: &[u8] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";
