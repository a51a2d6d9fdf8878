//! The rules of gomoku.
//!
//! Sources: freestyle and standard as at Gomocup (gomocup.org/detail-information, rules 0 and 1); renju and the opening
//! rules as in their modules. A forbidden point of renju may be played, and loses: renju.net, rule 9.1. The edge option is this
//! project's own.

use super::fifths;
use super::renju::Trial;
use super::stage::{Stage, Step};
use super::{DIRECTIONS, Fault, GomokuOpening, GomokuRule, GomokuSetup, Opening};
use crate::game::points;
use crate::start::{Start, StartError};
use crate::{
    Action, BoardView, Choice, Fact, Game, GameKind, IllegalAction, Language, Mark, MarkKind, Names, Outcome,
    Piece, PieceView, Point, Reason, Rng, SetupError, Side, Touch,
};

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GomokuMove {
    /// Place a stone.
    Place(Placement),
    /// Choose a colour, or let the opponent choose; say how many fifth moves there are.
    Choose(Choice),
    /// Offer this point as a fifth move (renju). No stone is placed.
    Offer(Placement),
}

impl GomokuMove {
    /// The stone that this move places, if any.
    pub const fn placement(self) -> Option<Placement> {
        match self {
            Self::Place(placement) => Some(placement),
            Self::Choose(_) | Self::Offer(_) => None,
        }
    }
}

impl From<Placement> for GomokuMove {
    fn from(placement: Placement) -> Self {
        Self::Place(placement)
    }
}

/// A stone on an empty point of the position that the move was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    column: u8,
    row: u8,
}

impl Placement {
    /// The point of the stone.
    pub const fn point(self) -> Point {
        Point::new(self.column as u16, self.row as u16)
    }
}

/// A position of gomoku. Black moves first; Black is [`Side::First`], unless the players have swapped colours.
///
/// The key covers the setup, the stones, the pending decision, the fifth moves offered and the colours of the players. It
/// leaves out the order of moves and which stone was last.
#[derive(Clone)]
pub struct Gomoku {
    setup: GomokuSetup,
    /// Colours, row by row from the bottom.
    stones: Vec<Option<Side>>,
    /// Number of stones.
    stone_count: usize,
    /// Colour of the next stone.
    color: Side,
    stage: Stage,
    /// The fifth moves offered so far, in order; empty once one of them is chosen.
    offered: Vec<Placement>,
    ply: u32,
    last: Option<GomokuMove>,
    /// The first three stones, which determine the name of the opening.
    opening: [Option<Placement>; 3],
    /// The stones of all winning lines; empty while nobody has won.
    five: Vec<Point>,
    /// Why the last stone was forbidden, and the stones of the fault.
    fault: Option<(Fault, Vec<Point>)>,
    /// Zobrist key of setup, stones and next colour.
    stones_key: u64,
}

impl Gomoku {
    /// The number of stones on the board, those of a start position included.
    pub(crate) const fn stone_count(&self) -> usize {
        self.stone_count
    }

    /// The stone on a point, `None` where there is none or the point is off the board. Columns and rows may be any number.
    pub(crate) fn at(&self, column: i32, row: i32) -> Option<Side> {
        let size = i32::from(self.setup.size);
        if (0..size).contains(&column) && (0..size).contains(&row) {
            self.stones[(row * size + column) as usize]
        } else {
            None
        }
    }

    /// The forbidden points of Black, whose stone is next, with reasons. Empty for other rules, for White, and in the
    /// opening.
    pub fn forbidden(&self) -> Vec<(Point, Fault)> {
        let asked = self.setup.rule == GomokuRule::Renju
            && self.color == Side::First
            && self.stage.is_settled()
            && self.outcome().is_none();
        if asked { self.trial(&mut self.stones.clone()).forbidden() } else { Vec::new() }
    }

    /// Why this empty point is forbidden for Black, whoever is to move, and the stones of the fault, including the point.
    pub fn fault(&self, point: Point) -> Option<(Fault, Vec<Point>)> {
        if self.setup.rule != GomokuRule::Renju || self.at(point.column.into(), point.row.into()).is_some() {
            return None;
        }
        self.trial(&mut self.stones.clone()).fault((point.column.into(), point.row.into()))
    }

    /// The renju opening of the first three stones, if it has a name; only for renju's rules.
    pub fn opening(&self) -> Option<Opening> {
        let [Some(first), Some(second), Some(third)] = self.opening else { return None };
        if self.setup.rule != GomokuRule::Renju {
            return None;
        }
        Opening::of(self.setup.size, [first, second, third].map(|stone| (stone.column, stone.row)))
    }

    /// During the opening: the pending decision and its consequences, as a sentence for both players.
    pub fn told(&self, language: Language) -> Option<String> {
        self.stage.told(self.color, self.offered.len(), language)
    }

    /// The choices of the player to move; empty while a point is next.
    pub fn choices(&self) -> &'static [Choice] {
        self.stage.choices()
    }

    /// Whether decisions of the opening rule are still due: colours, fifth moves, stones that may not go anywhere.
    pub fn is_opening(&self) -> bool {
        !self.stage.is_settled()
    }

    /// Whether the next point is offered as a fifth move, and is no stone.
    pub fn is_offering(&self) -> bool {
        self.stage.step() == Step::Offer
    }

    /// The fifth moves offered so far, in order.
    pub fn offered(&self) -> impl Iterator<Item = Point> {
        self.offered.iter().map(|placement| placement.point())
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// Colour of the next stone.
    pub fn next_color(&self) -> Side {
        self.color
    }

    fn trial<'a>(&self, stones: &'a mut [Option<Side>]) -> Trial<'a> {
        Trial { size: self.setup.size.into(), edges: self.setup.edge_five_wins, stones }
    }

    /// The empty board.
    pub(super) fn empty(setup: &GomokuSetup) -> Self {
        Self {
            setup: setup.clone(),
            stones: vec![None; usize::from(setup.size) * usize::from(setup.size)],
            stone_count: 0,
            color: Side::First,
            stage: Stage::new(setup.opening),
            offered: Vec::new(),
            ply: 0,
            last: None,
            opening: [None; 3],
            five: Vec::new(),
            fault: None,
            stones_key: setup_key(setup),
        }
    }

    /// The game that begins from this start.
    pub(crate) fn from_start(setup: &GomokuSetup, start: &Start) -> Result<Self, StartError> {
        if start.game() != GameKind::Gomoku {
            return Err(StartError::OtherGame);
        }
        if start.rows() != setup.size {
            return Err(StartError::Size);
        }
        if setup.opening != GomokuOpening::Free {
            return Err(StartError::OwnBeginning);
        }
        let [black, white] = Side::BOTH.map(|side| start.count(side));
        if black != white + u16::from(start.turn() == Side::Second) {
            return Err(StartError::Counts { black, white });
        }
        if black + white == u16::from(setup.size) * u16::from(setup.size) {
            return Err(StartError::Full);
        }
        let stones: Vec<_> = start.pieces().map(|(at, piece)| (at, Some(piece.side))).collect();
        let game = Self::empty(setup).edited(&stones, start.turn());
        match game.winner_of_a_line() {
            Some(side) => Err(StartError::Won(side)),
            None => Ok(game),
        }
    }

    /// This game with edited points and this colour next: the opening is over, edits win nothing, and the count of decisions
    /// continues. Points off the board are ignored.
    pub(crate) fn edited(&self, changes: &[(Point, Option<Side>)], next: Side) -> Self {
        let size = u16::from(self.setup.size);
        let mut game = self.clone();
        for &(at, stone) in changes.iter().filter(|(at, _)| at.column < size && at.row < size) {
            game.stones[usize::from(at.row * size + at.column)] = stone;
        }
        game.stone_count = game.stones.iter().flatten().count();
        game.color = next;
        game.stage = self.stage.settled();
        game.offered.clear();
        game.opening = [None; 3];
        (game.five, game.fault) = (Vec::new(), None);
        game.stones_key = game.fresh_key() ^ stage_key(game.stage);
        game
    }

    /// The colour of a line that wins, if there is one.
    pub(super) fn winner_of_a_line(&self) -> Option<Side> {
        let size = self.setup.size;
        let mut all = (0..size).flat_map(|row| (0..size).map(move |column| Placement { column, row }));
        all.find_map(|placement| {
            let stone = self.stones[self.index(placement)];
            stone.filter(|&side| !self.fives_through(placement, side).is_empty())
        })
    }

    /// What a point that is touched means for the pending stone or fifth move, or why it may not be.
    fn placed(&self, placement: Placement) -> Result<GomokuMove, IllegalAction> {
        let point = placement.point();
        if self.stones[self.index(placement)].is_some() {
            return Err(IllegalAction::Occupied(point));
        }
        match self.stage.step() {
            Step::Offer => match fifths::same(self, point, self.offered()) {
                Some(at) if at == point => Err(IllegalAction::Offered(at)),
                Some(at) => Err(IllegalAction::Symmetric(at)),
                None => Ok(GomokuMove::Offer(placement)),
            },
            Step::Pick if !self.offered.contains(&placement) => Err(IllegalAction::NotOffered(point)),
            Step::Pick | Step::Settled => Ok(placement.into()),
            Step::Stone(_) => match self.stage.area().refuses(self.distance(placement)) {
                Some(refusal) => Err(refusal),
                None => Ok(placement.into()),
            },
            Step::Colours(_) => Err(IllegalAction::ChooseFirst),
            Step::Fifths(_) => Err(IllegalAction::SayFifthsFirst),
        }
    }

    /// The number of lines from a point to the centre of a board of odd size, along the axis where it is further.
    fn distance(&self, placement: Placement) -> u8 {
        let centre = self.setup.size / 2;
        placement.column.abs_diff(centre).max(placement.row.abs_diff(centre))
    }

    /// Part of the key: the fifth moves offered, in any order.
    fn offers_key(&self) -> u64 {
        self.offered.iter().fold(0, |key, at| {
            let cell = u64::from(at.row) << 16 | u64::from(at.column);
            key ^ Rng::new(0x6f66_6665_7200_0000 | cell).next_u64()
        })
    }

    fn index(&self, placement: Placement) -> usize {
        usize::from(placement.row) * usize::from(self.setup.size) + usize::from(placement.column)
    }

    /// The stones of the winning lines through a stone just placed; empty if there is none. One stone can complete several
    /// lines.
    fn fives_through(&self, placement: Placement, side: Side) -> Vec<Point> {
        let (column, row) = (i32::from(placement.column), i32::from(placement.row));
        let size = i32::from(self.setup.size);
        let edge = size - 1;
        let mut stones = Vec::new();
        for (dc, dr) in DIRECTIONS {
            let run = |sign: i32| {
                (1..size)
                    .take_while(|&n| self.at(column + dc * sign * n, row + dr * sign * n) == Some(side))
                    .count() as i32
            };
            let (back, forth) = (run(-1), run(1));
            let length = back + forth + 1;
            let long_enough = match self.setup.rule {
                GomokuRule::Freestyle => length >= 5,
                GomokuRule::Standard => length == 5,
                GomokuRule::Renju => length == 5 || (length > 5 && side == Side::Second),
            };
            let on_edge =
                (dr == 0 && (row == 0 || row == edge)) || (dc == 0 && (column == 0 || column == edge));
            if long_enough && (self.setup.edge_five_wins || !on_edge) {
                stones.extend(
                    (-back..=forth).map(|n| Point::new((column + dc * n) as u16, (row + dr * n) as u16)),
                );
            }
        }
        stones
    }
}

/// Zobrist key of a stone on a point, independent of machine and board size.
pub(super) const fn stone_key(column: u16, row: u16, side: Side) -> u64 {
    let cell = (row as u64) << 17 | (column as u64) << 1 | side as u64;
    Rng::new(0x676f_6d6f_6b75_0000_u64.wrapping_add(cell)).next_u64()
}

/// Zobrist key for White's stone being next.
pub(super) const TURN_KEY: u64 = Rng::new(0x7475_726e).next_u64();

/// Zobrist key of the empty board with this setup.
const fn setup_key(setup: &GomokuSetup) -> u64 {
    let rule = match setup.rule {
        GomokuRule::Freestyle => 0,
        GomokuRule::Standard => 1,
        GomokuRule::Renju => 2,
    };
    let opening = setup.opening as u64;
    let number = opening << 16 | (setup.size as u64) << 8 | rule << 1 | setup.edge_five_wins as u64;
    Rng::new(0x7365_7475_7000_0000 | number).next_u64()
}

/// Zobrist key of the stage of an opening; 0 without one, or if it ended without a swap.
fn stage_key(stage: Stage) -> u64 {
    match stage.number_for_key() {
        0 => 0,
        number => Rng::new(0x7377_6170_0000_0000 | number).next_u64(),
    }
}

impl Game for Gomoku {
    type Setup = GomokuSetup;
    type Move = GomokuMove;

    fn new(setup: &GomokuSetup) -> Result<Self, SetupError> {
        setup.check()?;
        match &setup.start {
            None => Ok(Self::empty(setup)),
            Some(start) => Ok(Self::from_start(setup, start)?),
        }
    }

    fn setup(&self) -> &GomokuSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        self.stage.player(self.color)
    }

    fn color(&self, player: Side) -> Side {
        if self.stage.is_swapped() { player.other() } else { player }
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.five.is_empty() {
            Some(Outcome { winner: Some(self.turn().other()), reason: Reason::FiveInARow })
        } else if let Some((fault, _)) = self.fault {
            Some(Outcome { winner: Some(self.turn()), reason: Reason::Forbidden(fault) })
        } else if self.stone_count == self.stones.len() {
            Some(Outcome { winner: None, reason: Reason::BoardFull })
        } else {
            None
        }
    }

    fn legal_moves(&self, into: &mut Vec<GomokuMove>) {
        into.clear();
        if self.outcome().is_some() {
            return;
        }
        if !self.stage.choices().is_empty() {
            into.extend(self.stage.choices().iter().map(|&choice| GomokuMove::Choose(choice)));
            return;
        }
        let size = self.setup.size;
        let placements = (0..size).flat_map(|row| (0..size).map(move |column| Placement { column, row }));
        if !self.stage.is_settled() {
            into.extend(placements.filter_map(|placement| self.placed(placement).ok()));
            return;
        }
        into.extend(
            placements
                .zip(&self.stones)
                .filter(|(_, stone)| stone.is_none())
                .map(|(placement, _)| GomokuMove::Place(placement)),
        );
    }

    fn legal_move(&self, action: Action) -> Result<GomokuMove, IllegalAction> {
        if self.outcome().is_some() {
            return Err(IllegalAction::Ended);
        }
        let point = match action {
            Action::Choose(choice) if self.stage.choices().contains(&choice) => {
                return Ok(GomokuMove::Choose(choice));
            }
            Action::Place(point) => point,
            _ => return Err(IllegalAction::WrongKind),
        };
        let size = u16::from(self.setup.size);
        match self.stage.step() {
            Step::Colours(_) => return Err(IllegalAction::ChooseFirst),
            Step::Fifths(_) => return Err(IllegalAction::SayFifthsFirst),
            Step::Stone(_) | Step::Offer | Step::Pick | Step::Settled => {}
        }
        if point.column >= size || point.row >= size {
            return Err(IllegalAction::OffBoard(point));
        }
        self.placed(Placement { column: point.column as u8, row: point.row as u8 })
    }

    fn action(mv: GomokuMove) -> Action {
        match mv {
            GomokuMove::Place(placement) | GomokuMove::Offer(placement) => Action::Place(placement.point()),
            GomokuMove::Choose(choice) => Action::Choose(choice),
        }
    }

    fn play(&mut self, mv: GomokuMove) {
        self.ply += 1;
        self.last = Some(mv);
        let placement = match mv {
            GomokuMove::Place(placement) => placement,
            GomokuMove::Choose(choice) => {
                debug_assert!(self.stage.choices().contains(&choice), "a move is for its position");
                self.stage = self.stage.after_choice(choice, self.color);
                return;
            }
            GomokuMove::Offer(placement) => {
                debug_assert!(self.placed(placement) == Ok(mv), "a move is for its position");
                self.offered.push(placement);
                if self.offered.len() == usize::from(self.stage.fifths()) {
                    self.stage = self.stage.after_offers();
                }
                return;
            }
        };
        let color = self.color;
        let index = self.index(placement);
        debug_assert!(
            self.stones[index].is_none() && self.five.is_empty() && self.fault.is_none(),
            "a move is for the position it was made from"
        );
        if self.setup.rule == GomokuRule::Renju && color == Side::First {
            self.fault = self.fault(placement.point());
        }
        self.stones[index] = Some(color);
        if self.stone_count < self.opening.len() {
            self.opening[self.stone_count] = Some(placement);
        }
        self.stone_count += 1;
        self.five = self.fives_through(placement, color);
        self.stones_key ^= stone_key(placement.column.into(), placement.row.into(), color) ^ TURN_KEY;
        self.color = color.other();
        self.stage = self.stage.after_stone();
        self.offered.clear();
    }

    fn key(&self) -> u64 {
        self.stones_key ^ stage_key(self.stage) ^ self.offers_key()
    }

    fn fresh_key(&self) -> u64 {
        let size = u16::from(self.setup.size);
        let next = if self.color == Side::Second { TURN_KEY } else { 0 };
        points(size, size)
            .zip(&self.stones)
            .filter_map(|(at, stone)| stone.map(|side| stone_key(at.column, at.row, side)))
            .fold(setup_key(&self.setup) ^ next ^ stage_key(self.stage) ^ self.offers_key(), |key, stone| {
                key ^ stone
            })
    }

    fn view(&self) -> BoardView {
        let size = u16::from(self.setup.size);
        let outcome = self.outcome();
        let mut marks: Vec<Mark> = self.five.iter().map(|&at| Mark { at, kind: MarkKind::Winning }).collect();
        if let Some((_, stones)) = &self.fault {
            marks.extend(stones.iter().map(|&at| Mark { at, kind: MarkKind::Fault }));
        }
        marks.extend(self.forbidden().into_iter().map(|(at, _)| Mark { at, kind: MarkKind::Forbidden }));
        marks.extend(self.offered().map(|at| Mark { at, kind: MarkKind::Offered }));
        let mut facts = Vec::new();
        if self.color(Side::First) != Side::First {
            facts.push(Fact::Swapped);
        }
        facts.extend(self.opening().map(Fact::Opening));
        BoardView {
            game: GameKind::Gomoku,
            columns: size,
            rows: size,
            pieces: points(size, size)
                .zip(&self.stones)
                .filter_map(|(at, side)| side.map(|side| PieceView { at, side, piece: Piece::Stone }))
                .collect(),
            last: self.last.map(Self::action),
            marks,
            facts,
            steps: Vec::new(),
            losing_steps: Vec::new(),
            choices: self.stage.choices().iter().map(|&choice| Action::Choose(choice)).collect(),
            touch: if outcome.is_some() {
                Touch::Nothing
            } else if self.stage.choices().is_empty() {
                Touch::Place(self.next_color())
            } else {
                Touch::Choose
            },
            turn: outcome.is_none().then_some(self.turn()),
            outcome,
            ply: self.ply,
        }
    }

    fn notation(&self, action: Action) -> String {
        action.to_string()
    }

    fn parse(&self, text: &str) -> Option<Action> {
        let text = text.trim();
        match Choice::from_word(text) {
            Some(choice) => Some(Action::Choose(choice)),
            None => text.parse().ok().map(Action::Place),
        }
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "五子棋", first: "黑方", second: "白方" },
            Language::English => Names { game: "Gomoku", first: "Black", second: "White" },
        }
    }

    fn rule_sheet(setup: &GomokuSetup, language: Language) -> String {
        setup.rule_sheet(language)
    }
}
