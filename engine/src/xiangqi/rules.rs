//! The rules of xiangqi: legality with reasons, and results.
//!
//! Source: the World Xiangqi rules as the project's rule page states them. A side without a legal move loses, in check or
//! not. `repetition` decides about threefold repetition, by the rule of the setup. The game is drawn when the setup's limit of
//! plies without a capture or a soldier's move is reached, and when neither side has a piece that can cross the river.

use super::attacks::{FILE, PALACES, RANK, SOLDIER, bit, squares};
use super::board::{Board, Cell, Kind, RANKS, XiangqiMove, to_point, to_square};
use super::fen::{Fen, may_stand};
use super::notation::{self, Notation};
use super::openings::{Beginning, Opening};
use super::options::rounds;
use super::repetition;
use super::setup::XiangqiSetup;
use crate::game::points;
use crate::start::{Start, StartError, StartPiece};
use crate::text::TextError;
use crate::view::steps;
use crate::words::numbered;
use crate::{
    Action, BoardView, Fact, Game, GameKind, IllegalAction, Language, Mark, MarkKind, Names, Outcome,
    PieceView, Point, Reason, SetupError, Side, Touch,
};

/// A position of xiangqi. Red is [`Side::First`], and moves first unless the setup says otherwise.
///
/// The key covers the setup, the pieces and the side to move. It leaves out the number of occurrences of the position, and
/// the halfmove clock.
#[derive(Clone, Debug)]
pub struct Xiangqi {
    setup: XiangqiSetup,
    board: Board,
    /// Halfmove clock: plies since the last capture or soldier's move.
    quiet: u16,
    /// Move number of the initial position.
    first_number: u32,
    first_turn: Side,
    ply: u32,
    last: Option<XiangqiMove>,
    outcome: Option<Outcome>,
    /// Moves since the last capture, with the board's key before each.
    past: Vec<(u64, XiangqiMove)>,
    /// Number of pieces that each side has captured.
    taken: [u16; 2],
    /// `None` for a game that did not begin at the standard position, or with Black.
    beginning: Option<Beginning>,
}

impl Xiangqi {
    /// Parses a FEN; see the module `fen`. Earlier occurrences of the position are unknown.
    pub fn from_position(setup: &XiangqiSetup, fen: &str) -> Result<Self, TextError> {
        setup.check().map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?;
        let Fen { board, quiet, number } = Fen::read(fen)?;
        let beginning = fen.starts_with(Fen::STANDARD).then(Beginning::new);
        let setup = XiangqiSetup { start: None, ..setup.clone() };
        Ok(Self { quiet, first_number: number, beginning, ..Self::on(&board, setup) }.judged())
    }

    /// The game that begins from this start.
    pub(crate) fn from_start(setup: &XiangqiSetup, start: &Start) -> Result<Self, StartError> {
        if start.game() != GameKind::Xiangqi {
            return Err(StartError::OtherGame);
        }
        if setup.black_first {
            return Err(StartError::OwnBeginning);
        }
        let turn = start.turn();
        let mut board = Board::empty(turn);
        for (at, StartPiece { side, piece, .. }) in start.pieces() {
            let kind = Kind::of(piece);
            let (Some(square), Some(kind)) = (to_square(at), kind) else { return Err(StartError::OtherGame) };
            if !may_stand(square, side, kind) {
                return Err(StartError::Misplaced(piece, at));
            }
            if board.pieces(side, kind).count_ones() == kind.count() {
                return Err(StartError::TooMany(side, piece));
            }
            board.toggle(square, side, kind);
        }
        for side in Side::BOTH {
            if board.pieces(side, Kind::General) == 0 {
                return Err(StartError::NoGeneral(side));
            }
        }
        let attackers = board.checkers(turn.other());
        if attackers & board.pieces(turn, Kind::General) != 0 {
            return Err(StartError::GeneralsFace);
        }
        if attackers != 0 {
            return Err(StartError::InCheck(turn.other()));
        }
        // Odds of the first move are the usual position.
        let beginning = start.line().starts_with(Fen::STANDARD).then(Beginning::new);
        let game = Self { beginning, ..Self::on(&board, setup.clone()) }.judged();
        match game.outcome.map(|outcome| outcome.reason) {
            None => Ok(game),
            Some(Reason::Checkmate | Reason::NoMoves) => Err(StartError::NoMove(turn)),
            Some(_) => Err(StartError::Bare),
        }
    }

    /// This board without a past.
    fn on(board: &Board, setup: XiangqiSetup) -> Self {
        Self {
            setup,
            board: *board,
            quiet: 0,
            first_number: 1,
            first_turn: board.turn(),
            ply: 0,
            last: None,
            outcome: None,
            past: Vec::new(),
            taken: [0; 2],
            beginning: None,
        }
    }

    fn judged(mut self) -> Self {
        self.outcome = self.judge();
        self
    }

    /// The FEN of this position.
    pub fn position(&self) -> String {
        let plies = self.ply + u32::from(self.first_turn == Side::Second);
        let number = self.first_number.saturating_add(plies / 2);
        Fen { board: self.board, quiet: self.quiet, number }.write()
    }

    /// The opening by its name, as long as the game knows its first moves.
    pub fn opening(&self) -> Option<Opening> {
        self.beginning.as_ref()?.opening()
    }

    /// The board, for a search.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The piece on a point.
    pub(crate) fn piece_at(&self, at: Point) -> Option<(Side, Kind)> {
        self.board.at(to_square(at)?)
    }

    /// Value of the piece on a point for exchanges, where a chariot is worth 900 (see `exchange.rs`); 0 if empty.
    pub(crate) fn worth_at(&self, at: Point) -> i32 {
        to_square(at).map_or(0, |square| self.board.worth_at(square))
    }

    /// The pieces, but for the general, that the piece on a point would capture with at least this gain if its side were to move.
    pub(crate) fn attacks_with_gain(&self, from: Point, least: i32) -> Vec<Point> {
        let Some(from) = to_square(from) else { return Vec::new() };
        let Some((side, kind)) = self.board().at(from) else { return Vec::new() };
        let targets = self.board().reach(from, side, kind) & self.board().side(side.other());
        squares(targets)
            .filter(|&to| !matches!(self.board().at(to), Some((_, Kind::General))))
            .filter(|&to| self.board().exchange_holds(XiangqiMove { from, to }, least))
            .map(to_point)
            .collect()
    }

    /// Whether the piece on a point, of the side to move, could move but for its general. Meaningful if that side is not in check.
    pub(crate) fn is_pinned(&self, at: Point) -> bool {
        let Some(from) = to_square(at) else { return false };
        let Some((side, kind)) = self.board.at(from) else { return false };
        let mut legal = Vec::new();
        self.board.legal_moves(&mut legal);
        self.board.reach(from, side, kind) & !self.board.side(side) != 0
            && legal.iter().all(|mv| mv.from != from)
    }

    /// Whether the side to move has no move either when the piece on a point, not a general, is taken off the board.
    pub(crate) fn is_mate_without(&self, at: Point) -> bool {
        let Some((square, (side, kind))) =
            to_square(at).and_then(|square| Some((square, self.board.at(square)?)))
        else {
            return false;
        };
        let mut board = self.board;
        board.toggle(square, side, kind);
        !board.has_legal_move()
    }

    /// Pieces that give check to the side to move.
    pub(crate) fn checkers(&self) -> Vec<Point> {
        squares(self.board.checkers(self.board.turn())).map(to_point).collect()
    }

    /// The general of the side to move.
    pub(crate) fn general(&self) -> Point {
        to_point(self.board.general(self.board.turn()))
    }

    /// Moves since the last capture, with the board's key before each.
    pub(super) fn past(&self) -> &[(u64, XiangqiMove)] {
        &self.past
    }

    /// Halfmove clock: plies since the last capture or soldier's move.
    pub(super) fn quiet(&self) -> u16 {
        self.quiet
    }

    /// Continues the game if the side to move has a legal move, although it has ended by these rules (bare material,
    /// halfmove clock, repetition). For positions reached under another program's rules. The next move checks for an end
    /// again.
    pub fn play_on(&mut self) {
        if self.board.has_legal_move() {
            self.outcome = None;
        }
    }

    /// Whether this legal move loses at once by the rule of repetition, for warnings.
    pub fn loses_by_repetition(&self, mv: XiangqiMove) -> bool {
        let mut after = self.clone();
        after.play(mv);
        after.outcome.is_some_and(|outcome| {
            outcome.winner == Some(self.board.turn().other())
                && matches!(
                    outcome.reason,
                    Reason::PerpetualCheck | Reason::PerpetualChase | Reason::PerpetualAttack
                )
        })
    }

    /// The move in this notation; it must be pseudo-legal.
    pub fn write(&self, mv: XiangqiMove, notation: Notation) -> String {
        notation::write(&self.board, mv, notation)
    }

    /// Marks of a check: the general, the checking pieces, and the pieces that can end it.
    fn check_marks(&self) -> Vec<Mark> {
        let helpers = self.check().map(|check| check.helpers).unwrap_or_default();
        let mark = |kind| move |at| Mark { at, kind };
        let checkers = self.checkers();
        let general = (!checkers.is_empty()).then(|| self.general());
        (general.into_iter().map(mark(MarkKind::Check)))
            .chain(checkers.into_iter().map(mark(MarkKind::Checker)))
            .chain(helpers.into_iter().map(mark(MarkKind::Helper)))
            .collect()
    }

    fn judge(&self) -> Option<Outcome> {
        let turn = self.board.turn();
        if !self.board.has_legal_move() {
            let reason = if self.board.in_check() { Reason::Checkmate } else { Reason::NoMoves };
            return Some(Outcome { winner: Some(turn.other()), reason });
        }
        let key = self.board.key();
        let mut earlier = (0..self.past.len()).rev().filter(|&n| self.past[n].0 == key);
        if let (Some(_), Some(first)) = (earlier.next(), earlier.next()) {
            let moves: Vec<XiangqiMove> = self.past[first..].iter().map(|&(_, mv)| mv).collect();
            return Some(repetition::judge(self.setup.repetition, &self.board, &moves));
        }
        if self.setup.quiet_limit.is_some_and(|limit| self.quiet >= limit) {
            return Some(Outcome { winner: None, reason: Reason::TooLong });
        }
        let can_cross = |side| {
            [Kind::Horse, Kind::Chariot, Kind::Cannon, Kind::Soldier]
                .iter()
                .any(|&kind| self.board.pieces(side, kind) != 0)
        };
        (!Side::BOTH.into_iter().any(can_cross))
            .then_some(Outcome { winner: None, reason: Reason::BareMaterial })
    }

    /// Why a move is not pseudo-legal. Written square by square, independently of the attack tables, so that the two
    /// implementations check each other.
    fn check_shape(&self, from: u8, to: u8) -> Result<(), IllegalAction> {
        let at = |square: u8| self.board.at(square);
        let (side, kind) = at(from).expect("the caller has looked");
        let coordinates =
            |square: u8| (i16::from(FILE[usize::from(square)]), i16::from(RANK[usize::from(square)]));
        let ((file, rank), (to_file, to_rank)) = (coordinates(from), coordinates(to));
        let (right, up) = (to_file - file, to_rank - rank);
        let square = |file: i16, rank: i16| (rank * 9 + file) as u8;
        let not_its_step = Err(IllegalAction::NotItsStep(to_point(from)));
        match kind {
            Kind::General | Kind::Adviser => {
                let fits = if kind == Kind::General {
                    right.abs() + up.abs() == 1
                } else {
                    right.abs() == 1 && up.abs() == 1
                };
                if !fits {
                    not_its_step
                } else if bit(to) & PALACES == 0 {
                    Err(IllegalAction::Palace)
                } else {
                    Ok(())
                }
            }
            Kind::Elephant => {
                let eye = square(file + right / 2, rank + up / 2);
                let half = RANKS as i16 / 2;
                if right.abs() != 2 || up.abs() != 2 {
                    not_its_step
                } else if (rank < half) != (to_rank < half) {
                    Err(IllegalAction::River)
                } else if at(eye).is_some() {
                    Err(IllegalAction::ElephantEye(to_point(eye)))
                } else {
                    Ok(())
                }
            }
            Kind::Horse => {
                let leg = square(file + right / 2, rank + up / 2);
                if right.abs().min(up.abs()) != 1 || right.abs().max(up.abs()) != 2 {
                    not_its_step
                } else if at(leg).is_some() {
                    Err(IllegalAction::HorseLeg(to_point(leg)))
                } else {
                    Ok(())
                }
            }
            Kind::Chariot | Kind::Cannon => {
                if (right == 0) == (up == 0) {
                    return not_its_step;
                }
                let (step, length) = ((right.signum(), up.signum()), right.abs().max(up.abs()));
                let mut between = (1..length)
                    .map(|n| square(file + n * step.0, rank + n * step.1))
                    .filter(|&square| at(square).is_some());
                let (first, second) = (between.next(), between.next());
                match (first, second, kind == Kind::Cannon && at(to).is_some()) {
                    (None, _, false) | (Some(_), None, true) => Ok(()),
                    (Some(first), _, false) => Err(IllegalAction::InTheWay(to_point(first))),
                    (_, _, true) => Err(IllegalAction::CannonScreen),
                }
            }
            Kind::Soldier if SOLDIER[side.index()][usize::from(from)] & bit(to) == 0 => not_its_step,
            Kind::Soldier => Ok(()),
        }
    }
}

impl Game for Xiangqi {
    type Setup = XiangqiSetup;
    type Move = XiangqiMove;

    fn new(setup: &XiangqiSetup) -> Result<Self, SetupError> {
        setup.check()?;
        if let Some(start) = &setup.start {
            return Ok(Self::from_start(setup, start)?);
        }
        let start = if setup.black_first { Fen::START_BLACK } else { Fen::START };
        Ok(Self::from_position(setup, start).expect("the start is a position"))
    }

    fn setup(&self) -> &XiangqiSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        self.board.turn()
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn legal_moves(&self, into: &mut Vec<XiangqiMove>) {
        into.clear();
        if self.outcome.is_none() {
            self.board.legal_moves(into);
        }
    }

    fn legal_move(&self, action: Action) -> Result<XiangqiMove, IllegalAction> {
        if self.outcome.is_some() {
            return Err(IllegalAction::Ended);
        }
        let Action::Step { from: start, to: end } = action else { return Err(IllegalAction::WrongKind) };
        let from = to_square(start).ok_or(IllegalAction::OffBoard(start))?;
        let to = to_square(end).ok_or(IllegalAction::OffBoard(end))?;
        let side = self.board.turn();
        match self.board.at(from) {
            None => return Err(IllegalAction::Empty(start)),
            Some((owner, _)) if owner != side => return Err(IllegalAction::NotYours(start)),
            Some(_) => {}
        }
        if from == to {
            return Err(IllegalAction::NotItsStep(start));
        }
        if self.board.at(to).is_some_and(|(owner, _)| owner == side) {
            return Err(IllegalAction::Occupied(end));
        }
        self.check_shape(from, to)?;
        let mv = XiangqiMove { from, to };
        let mut after = self.board;
        after.make(mv);
        let Some(attacker) = squares(after.checkers(side)).next() else { return Ok(mv) };
        match after.at(attacker) {
            Some((_, Kind::General)) => Err(IllegalAction::GeneralsFace),
            _ => Err(IllegalAction::GeneralAttacked(to_point(attacker))),
        }
    }

    fn action(mv: XiangqiMove) -> Action {
        Action::Step { from: to_point(mv.from), to: to_point(mv.to) }
    }

    fn play(&mut self, mv: XiangqiMove) {
        debug_assert!(
            self.legal_move(Self::action(mv)) == Ok(mv),
            "a move is for the position it was made from"
        );
        let side = self.board.turn();
        let key = self.board.key();
        let soldier = self.board.at(mv.from).is_some_and(|(_, kind)| kind == Kind::Soldier);
        if self.board.make(mv) == Cell::EMPTY {
            self.past.push((key, mv));
            self.quiet = if soldier { 0 } else { self.quiet.saturating_add(1) };
        } else {
            self.taken[side.index()] += 1;
            self.past.clear();
            self.quiet = 0;
        }
        self.ply += 1;
        self.last = Some(mv);
        if let Some(beginning) = &mut self.beginning {
            beginning.add(mv);
        }
        self.outcome = self.judge();
    }

    fn key(&self) -> u64 {
        self.board.key() ^ self.setup.key()
    }

    fn fresh_key(&self) -> u64 {
        self.board.fresh_key() ^ self.setup.key()
    }

    fn view(&self) -> BoardView {
        let side = self.board.turn();
        let (columns, rows) = (9, RANKS as u16);
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        let losing: Vec<XiangqiMove> =
            moves.iter().copied().filter(|mv| self.loses_by_repetition(*mv)).collect();
        BoardView {
            game: GameKind::Xiangqi,
            columns,
            rows,
            pieces: points(columns, rows)
                .filter_map(|at| {
                    let (side, kind) = self.board.at(to_square(at)?)?;
                    Some(PieceView { at, side, piece: kind.piece() })
                })
                .collect(),
            last: self.last.map(Self::action),
            marks: self.check_marks(),
            facts: Side::BOTH.into_iter().map(|side| Fact::Taken(side, self.taken[side.index()])).collect(),
            losing_steps: steps::<Self>(&losing),
            steps: steps::<Self>(&moves),
            choices: Vec::new(),
            touch: if self.outcome.is_none() { Touch::Step } else { Touch::Nothing },
            turn: self.outcome.is_none().then_some(side),
            outcome: self.outcome,
            ply: self.ply,
        }
    }

    /// ICCS: file letter and rank from 0, `h2e2`. See [`Xiangqi::write`] for other notations.
    fn notation(&self, action: Action) -> String {
        match action {
            Action::Step { from, to } => match (to_square(from), to_square(to)) {
                (Some(from), Some(to)) => notation::iccs(XiangqiMove { from, to }),
                _ => action.to_string(),
            },
            _ => action.to_string(),
        }
    }

    /// Parses ICCS (`h2e2`, `H2-E2`), WXF (`C2=5`) and Chinese (`炮二平五`).
    fn parse(&self, text: &str) -> Option<Action> {
        notation::read(&self.board, text).map(Self::action)
    }

    /// ICCS: file letter and rank from 0, `e4`.
    fn point_name(point: Point) -> String {
        to_square(point).map_or_else(
            || point.to_string(),
            |_| format!("{}{}", char::from(b'a' + point.column as u8), point.row),
        )
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "象棋", first: "红方", second: "黑方" },
            Language::English => Names { game: "Xiangqi", first: "Red", second: "Black" },
        }
    }

    fn rule_sheet(setup: &XiangqiSetup, language: Language) -> String {
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let mut sentences = vec![
            pick("目标：将死对方的将（帅）。", "The aim: checkmate the other side's general."),
            if setup.black_first {
                pick("黑先红后，双方轮流走一步。", "Black goes first; the sides take turns.")
            } else {
                pick("红先黑后，双方轮流走一步。", "Red goes first; the sides take turns.")
            },
            pick(
                "走到对方的子上，就吃掉它。走棋后自己的将（帅）不能被将军。",
                "A piece captures by moving onto an enemy piece. No move may leave your own general in check.",
            ),
            pick(
                "将（帅）在九宫内沿线走一步；两将不能在同一条竖线上照面（中间没有别的子）。",
                "The general moves one point along a line and stays in the palace, the nine points with crossed lines. The two generals may not face each other on a file with nothing between them.",
            ),
            pick(
                "士（仕）在九宫内斜走一步。",
                "An adviser moves one point diagonally and stays in the palace.",
            ),
            pick(
                "象（相）走田字，即斜走两步，不能过河；田字中心有子（塞象眼）不能走。",
                "An elephant moves exactly two points diagonally and does not cross the river; a piece on the point between blocks it.",
            ),
            pick(
                "马走日字，即先直走一步，再斜走一步；直走的那点有子（蹩马腿）不能走。",
                "A horse moves one point straight, then one diagonally outwards; a piece on the first point blocks it.",
            ),
            pick(
                "车沿直线走，远近不限，不能越过别的子。",
                "A chariot moves any distance along a line, but not over other pieces.",
            ),
            pick(
                "炮走法和车一样，但吃子时中间必须恰好隔一个子。",
                "A cannon moves like a chariot, but captures only by jumping over exactly one piece.",
            ),
            pick(
                "兵（卒）向前走一步；过河以后也可以横走一步；不能后退。",
                "A soldier moves one point forward; across the river it may also move one point sideways. It never moves back.",
            ),
            pick(
                "将死对方，或使对方无子可走（困毙），即胜。",
                "A side that is checkmated, or has no legal move, loses.",
            ),
            setup.repetition.rule(language).to_owned(),
            pick(
                "双方都没有能过河的子为和。",
                "If neither side has a piece that can cross the river, it is a draw.",
            ),
        ];
        if let Some(limit) = setup.quiet_limit {
            let limit = rounds(limit.into());
            sentences.push(match language {
                Language::Chinese => {
                    format!("自然限着：连续 {} 没有吃子也没有动兵卒为和。", limit.chinese)
                }
                Language::English => {
                    format!("{} without a capture or a soldier's move are a draw.", limit.english)
                }
            });
        }
        numbered(&sentences)
    }
}
