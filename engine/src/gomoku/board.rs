//! The bot's board: pattern codes of every empty point for both sides, updated incrementally.

use std::sync::{Arc, OnceLock};

use super::pattern::{EMPTY, LineTable, Pattern, Run, WALL};
use super::renju::Trial;
use super::rules::stone_key;
use super::shape::{Shape, ShapeTable, Threat};
use super::{Gomoku, GomokuRule, GomokuSetup, Placement};
use crate::{Game, Point, Reason, Side};

/// A point in the bot's numbering: `32 * (row + MARGIN) + column + MARGIN`. The margin keeps steps along lines inside the
/// arrays; the stride of 32 makes row arithmetic a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Square(pub(super) u16);

/// Cells beyond the edge that a neighbourhood can cover: the larger radius of [`LineTable`].
const MARGIN: u16 = 5;
/// Index of the board's first row in arrays that include margins.
pub(super) const FIRST_ROW: usize = MARGIN as usize;
const STRIDE: u16 = 32;
/// Upper bound (exclusive) of the numbers of [`Square`]s.
pub(super) const SQUARES: usize = 1024;
/// Index steps of the four directions; along each, the place in the line grows by one.
pub(super) const STEPS: [i16; 4] = [1, STRIDE as i16, STRIDE as i16 + 1, 1 - STRIDE as i16];

impl Square {
    /// The point of this square.
    pub(super) const fn point(self) -> Point {
        Point::new(self.0 % STRIDE - MARGIN, self.0 / STRIDE - MARGIN)
    }

    /// The square of a point.
    pub(super) const fn of(point: Point) -> Self {
        Self((point.row + MARGIN) * STRIDE + point.column + MARGIN)
    }

    /// The square at this column and row, including margins.
    pub(super) const fn at(x: u32, y: u32) -> Self {
        Self(y as u16 * STRIDE + x as u16)
    }

    pub(super) const fn x(self) -> u32 {
        (self.0 % STRIDE) as u32
    }

    pub(super) const fn y(self) -> u32 {
        (self.0 / STRIDE) as u32
    }

    /// Index of the line through this square in this direction, and the place in it.
    pub(super) const fn line(self, direction: usize) -> (usize, u32) {
        let (x, y) = (self.x(), self.y());
        match direction {
            0 => (y as usize, x),
            1 => (x as usize, y),
            2 => ((x + STRIDE as u32 - y) as usize, x),
            _ => ((x + y) as usize, x),
        }
    }
}

/// Lookup tables, shared by all boards of one rule.
pub(super) struct Tables {
    lines: LineTable,
    shapes: ShapeTable,
}

impl Tables {
    /// The tables of this rule, computed once per process: a few milliseconds on a desktop; 0.6 MB for freestyle, 1.6 MB for
    /// the other rules.
    pub(super) fn shared(rule: GomokuRule) -> Arc<Self> {
        static FREESTYLE: OnceLock<Arc<Tables>> = OnceLock::new();
        static STANDARD: OnceLock<Arc<Tables>> = OnceLock::new();
        static RENJU: OnceLock<Arc<Tables>> = OnceLock::new();
        let tables = match rule {
            GomokuRule::Freestyle => &FREESTYLE,
            GomokuRule::Standard => &STANDARD,
            GomokuRule::Renju => &RENJU,
        };
        Arc::clone(tables.get_or_init(|| Arc::new(Self::new(rule))))
    }

    /// The patterns of Black and of White at the centre of a neighbourhood of `radius` cells on either side, with walls
    /// beyond.
    pub(super) fn patterns_of(&self, surrounding: u64, radius: u32) -> [Pattern; 2] {
        let middle = 16;
        let side = (1 << (2 * radius)) - 1;
        let window = surrounding & side | (surrounding >> (2 * radius) & side) << (2 * radius + 2);
        let mask = (1 << (4 * radius + 2)) - 1;
        let at = 2 * (middle - radius);
        let both = self.lines.at(!(mask << at) | window << at, middle);
        [both & 15, both >> 4].map(|code| Pattern::ALL[usize::from(code)])
    }

    fn new(rule: GomokuRule) -> Self {
        let runs = match rule {
            GomokuRule::Freestyle => [Run::FiveOrMore; 2],
            GomokuRule::Standard => [Run::ExactlyFive; 2],
            GomokuRule::Renju => [Run::ExactlyFive, Run::FiveOrMore],
        };
        Self { lines: LineTable::new(runs), shapes: ShapeTable::new() }
    }
}

/// Undo information of a stone, besides the codes in `Board::saved` from `saved_from` on.
#[derive(Clone, Copy)]
struct Frame {
    square: Square,
    saved_from: usize,
    value: [i32; 2],
    count: [[u8; Threat::COUNT]; 2],
    last_five: [Square; 2],
    five_made: bool,
    key: u64,
}

/// A position on which stones are made and unmade in stack order.
#[derive(Clone)]
pub(super) struct Board {
    tables: Arc<Tables>,
    size: u16,
    /// The lines of each direction, two bits per cell. A line that cannot win by the rules consists of walls.
    lines: [[u64; 64]; 4],
    /// Pattern codes of each empty square: Black's four directions in the low half, White's in the high half. Those of an
    /// occupied square are from the time before its stone.
    codes: Vec<u32>,
    /// Bitboard of occupied squares, by row.
    occupied: [u32; STRIDE as usize],
    /// Bitboards of each side's stones, by row.
    stones: [[u32; STRIDE as usize]; 2],
    /// Sum of [`Shape::value`] over the empty squares, by side.
    value: [i32; 2],
    /// Number of empty squares by threat and side. The count of [`Threat::None`] is invalid.
    count: [[u8; Threat::COUNT]; 2],
    /// For each side the square that became a five last; may be occupied.
    last_five: [Square; 2],
    /// Whether the last stone made five.
    five_made: bool,
    turn: Side,
    rule: GomokuRule,
    /// Whether lines on the edge of the board count.
    edges: bool,
    key: u64,
    empty: u32,
    frames: Vec<Frame>,
    saved: Vec<(Square, u32)>,
}

impl Board {
    /// The board of a position. The tables must be of the game's rule.
    pub(super) fn new(game: &Gomoku, tables: Arc<Tables>) -> Self {
        let setup = game.setup();
        let size = u16::from(setup.size);
        let mut board = Self {
            tables,
            size,
            lines: empty_lines(setup),
            codes: vec![0; SQUARES],
            occupied: [0; STRIDE as usize],
            stones: [[0; STRIDE as usize]; 2],
            value: [0; 2],
            count: [[0; Threat::COUNT]; 2],
            last_five: [Square(0); 2],
            five_made: false,
            turn: Side::First,
            rule: setup.rule,
            edges: setup.edge_five_wins,
            key: 0,
            empty: u32::from(size) * u32::from(size),
            frames: Vec::new(),
            saved: Vec::new(),
        };
        for point in crate::game::points(size, size) {
            board.begin(Square::of(point));
        }
        let stones = game.view().pieces;
        for piece in &stones {
            board.turn = piece.side;
            board.make(Square::of(piece.at));
        }
        board.turn = game.next_color();
        board.key = game.key();
        board.five_made = game.outcome().is_some_and(|outcome| outcome.reason == Reason::FiveInARow);
        board.frames.clear();
        board.saved.clear();
        board
    }

    /// Computes the codes of a square from its lines.
    fn begin(&mut self, square: Square) {
        let mut codes = 0_u32;
        for direction in 0..4 {
            let (line, place) = square.line(direction);
            let both = u32::from(self.tables.lines.at(self.lines[direction][line], place));
            codes |= (both & 15 | (both >> 4) << 16) << (4 * direction);
        }
        self.codes[usize::from(square.0)] = codes;
        for side in Side::BOTH {
            let shape = self.shape(square, side);
            self.value[side.index()] += i32::from(shape.value);
            self.add_to_count(side, shape.threat, 1);
        }
    }

    /// Places a stone of the side to move on an empty square.
    pub(super) fn make(&mut self, square: Square) {
        debug_assert!(self.is_empty(square));
        let side = self.turn;
        self.frames.push(Frame {
            square,
            saved_from: self.saved.len(),
            value: self.value,
            count: self.count,
            last_five: self.last_five,
            five_made: self.five_made,
            key: self.key,
        });
        self.five_made = self.shape(square, side).threat == Threat::Five;
        for side in Side::BOTH {
            let shape = self.shape(square, side);
            self.value[side.index()] -= i32::from(shape.value);
            self.add_to_count(side, shape.threat, -1);
        }
        self.occupied[square.y() as usize] |= 1 << square.x();
        self.stones[side.index()][square.y() as usize] |= 1 << square.x();
        self.empty -= 1;
        let stone = 1 + side as u64;
        for (direction, step) in STEPS.into_iter().enumerate() {
            let (line, place) = square.line(direction);
            if self.lines[direction][line] == u64::MAX {
                continue;
            }
            self.lines[direction][line] |= stone << (2 * place);
            let line = self.lines[direction][line];
            self.look_along(line, place, direction, square, step, 1);
            self.look_along(line, place, direction, square, step, -1);
        }
        self.key = self.key_after(square);
        self.turn = side.other();
    }

    /// [`Self::key`] after a stone of the side to move on this square.
    pub(super) fn key_after(&self, square: Square) -> u64 {
        let point = square.point();
        self.key ^ stone_key(point.column, point.row, self.turn) ^ super::rules::TURN_KEY
    }

    /// Updates the codes of the empty squares on one side of a new stone.
    #[inline]
    fn look_along(&mut self, line: u64, place: u32, direction: usize, square: Square, step: i16, sign: i16) {
        let mut seen = 0;
        for distance in 1..=self.tables.lines.radius as i16 {
            let place = place.wrapping_add_signed(i32::from(sign * distance));
            let cell = line >> (2 * place) & 3;
            if cell == EMPTY {
                let both = self.tables.lines.at(line, place);
                self.update(Square(square.0.wrapping_add_signed(step * sign * distance)), direction, both);
            } else {
                // Beyond a stone of each side, or the edge, the new stone has no effect.
                seen |= cell;
                if seen == WALL {
                    break;
                }
            }
        }
    }

    #[inline]
    fn update(&mut self, square: Square, direction: usize, both: u8) {
        let old = self.codes[usize::from(square.0)];
        let shift = 4 * direction;
        let both = u32::from(both);
        let new = old & !(0x000f_000f << shift) | (both & 15 | (both >> 4) << 16) << shift;
        if new == old {
            return;
        }
        self.saved.push((square, old));
        self.codes[usize::from(square.0)] = new;
        for side in 0..2 {
            let (before, after) = ((old >> (16 * side)) as u16, (new >> (16 * side)) as u16);
            if before == after {
                continue;
            }
            let (before, after) = (self.tables.shapes.at(before), self.tables.shapes.at(after));
            self.value[side] += i32::from(after.value) - i32::from(before.value);
            self.add_to_count(Side::BOTH[side], before.threat, -1);
            self.add_to_count(Side::BOTH[side], after.threat, 1);
            if after.threat == Threat::Five {
                self.last_five[side] = square;
            }
        }
    }

    /// The count of squares without a threat (up to 400) overflows, and is never read.
    #[inline]
    fn add_to_count(&mut self, side: Side, threat: Threat, change: i8) {
        let count = &mut self.count[side.index()][threat as usize];
        *count = count.wrapping_add_signed(change);
    }

    /// Removes the last stone.
    pub(super) fn unmake(&mut self) {
        let frame = self.frames.pop().expect("unmake follows make");
        self.turn = self.turn.other();
        let stone = 1 + self.turn as u64;
        for direction in 0..4 {
            let (line, place) = frame.square.line(direction);
            if self.lines[direction][line] != u64::MAX {
                self.lines[direction][line] &= !(stone << (2 * place));
            }
        }
        self.occupied[frame.square.y() as usize] &= !(1 << frame.square.x());
        self.stones[self.turn.index()][frame.square.y() as usize] &= !(1 << frame.square.x());
        self.empty += 1;
        for (square, codes) in self.saved.drain(frame.saved_from..) {
            self.codes[usize::from(square.0)] = codes;
        }
        self.value = frame.value;
        self.count = frame.count;
        self.last_five = frame.last_five;
        self.five_made = frame.five_made;
        self.key = frame.key;
    }

    /// Makes a null move, which no rule allows, to find threats; a second call undoes it.
    pub(super) fn pass(&mut self) {
        self.turn = self.turn.other();
        self.key ^= super::rules::TURN_KEY;
    }

    /// The side to move.
    pub(super) const fn turn(&self) -> Side {
        self.turn
    }

    /// Zobrist key of the position, as in [`Gomoku`].
    pub(super) const fn key(&self) -> u64 {
        self.key
    }

    /// Whether the last stone made five.
    pub(super) const fn five_made(&self) -> bool {
        self.five_made
    }

    /// Number of empty squares.
    pub(super) const fn empty(&self) -> u32 {
        self.empty
    }

    /// Whether a square, which must be on the board, is empty.
    pub(super) const fn is_empty(&self, square: Square) -> bool {
        self.occupied[square.y() as usize] >> square.x() & 1 == 0
    }

    /// The evaluation of an empty square for a side.
    #[inline]
    pub(super) fn shape(&self, square: Square, side: Side) -> Shape {
        self.tables.shapes.at((self.codes[usize::from(square.0)] >> (16 * side.index())) as u16)
    }

    /// The threat that a stone of a side on this empty square makes.
    #[inline]
    pub(super) fn threat(&self, square: Square, side: Side) -> Threat {
        self.shape(square, side).threat
    }

    /// The patterns of the four lines through an empty square after a stone of a side on it.
    pub(super) fn patterns(&self, square: Square, side: Side) -> [Pattern; 4] {
        let codes = self.codes[usize::from(square.0)] >> (16 * side.index());
        [0, 4, 8, 12].map(|shift| Pattern::ALL[(codes >> shift & 15) as usize])
    }

    /// Number of squares with exactly this threat for a side. Not for [`Threat::None`].
    #[inline]
    pub(super) fn count(&self, side: Side, threat: Threat) -> u32 {
        u32::from(self.count[side.index()][threat as usize])
    }

    /// A square where a stone of the side, which must be allowed, makes two fours or an open four.
    pub(super) fn two_fours(&self, side: Side) -> Option<Square> {
        if self.count(side, Threat::TwoFours) == 0 {
            return None;
        }
        self.near().find(|&square| self.makes_two_fours(square, side))
    }

    /// Whether a stone of the side on this empty square makes two fours or an open four, and is allowed.
    #[inline]
    pub(super) fn makes_two_fours(&self, square: Square, side: Side) -> bool {
        self.threat(square, side) == Threat::TwoFours && !self.forbids(side, square)
    }

    /// Whether [`Self::two_fours`] finds a square for this side.
    #[inline]
    pub(super) fn has_two_fours(&self, side: Side) -> bool {
        self.count(side, Threat::TwoFours) > 0
            && (!self.has_forbidden_points(side) || self.two_fours(side).is_some())
    }

    /// Number of squares where a stone of the side makes a four or more.
    pub(super) fn fours(&self, side: Side) -> u32 {
        [Threat::Four, Threat::FourAndMore, Threat::FourThree, Threat::TwoFours, Threat::Five]
            .into_iter()
            .map(|threat| self.count(side, threat))
            .sum()
    }

    /// A square that makes five for a side; there must be one.
    pub(super) fn five(&self, side: Side) -> Square {
        let last = self.last_five[side.index()];
        if last.0 != 0 && self.is_empty(last) && self.threat(last, side) == Threat::Five {
            return last;
        }
        self.near()
            .find(|&square| self.threat(square, side) == Threat::Five)
            .expect("the caller has counted a five")
    }

    /// Sum of the evaluations of all empty squares for the side.
    pub(super) const fn value(&self, side: Side) -> i32 {
        self.value[side.index()]
    }

    /// The empty squares within two columns and two rows of a stone, row by row. They include all squares that make a four,
    /// an open four or a five for either side.
    pub(super) fn near(&self) -> impl Iterator<Item = Square> + use<'_> {
        let board = ((1_u32 << self.size) - 1) << MARGIN;
        let rows = usize::from(MARGIN)..usize::from(MARGIN + self.size);
        rows.flat_map(move |y| {
            let column = self.occupied[y - 2..=y + 2].iter().fold(0, |all, row| all | row);
            let wide = column | column << 1 | column << 2 | column >> 1 | column >> 2;
            let mut bits = wide & board & !self.occupied[y];
            std::iter::from_fn(move || {
                let x = bits.trailing_zeros();
                if x == 32 {
                    return None;
                }
                bits &= bits - 1;
                Some(Square(y as u16 * STRIDE + x as u16))
            })
        })
    }

    /// The rule.
    pub(super) const fn rule(&self) -> GomokuRule {
        self.rule
    }

    /// Whether this side can have forbidden points.
    pub(super) fn has_forbidden_points(&self, side: Side) -> bool {
        matches!(self.rule, GomokuRule::Renju) && matches!(side, Side::First)
    }

    /// Whether a stone of the side to move on this empty square loses by renju's rules. A quick look at the patterns
    /// excludes most squares.
    pub(super) fn is_forbidden(&self, square: Square) -> bool {
        self.forbids(self.turn, square)
    }

    /// As [`Self::is_forbidden`], for either side.
    fn forbids(&self, side: Side, square: Square) -> bool {
        if !self.has_forbidden_points(side) {
            return false;
        }
        let patterns = self.patterns(square, Side::First);
        let count = |wanted: fn(Pattern) -> bool| patterns.iter().filter(|&&p| wanted(p)).count();
        let fours = count(|p| p >= Pattern::Four) + count(|p| p == Pattern::DoubleFour);
        let threes = count(|p| p == Pattern::TightThree || p == Pattern::OpenThree);
        if fours < 2 && threes < 2 && !self.may_overline(square) {
            return false;
        }
        let size = usize::from(self.size);
        let mut stones = vec![None; size * size];
        for point in crate::game::points(self.size, self.size) {
            let at = Square::of(point);
            if !self.is_empty(at) {
                stones[usize::from(point.row) * size + usize::from(point.column)] = self.stone(at);
            }
        }
        let point = square.point();
        let mut trial = Trial { size: self.size.into(), edges: self.edges, stones: &mut stones };
        trial.fault((point.column.into(), point.row.into())).is_some()
    }

    /// The stone on an occupied square. Lines that consist of walls are of no use here.
    fn stone(&self, square: Square) -> Option<Side> {
        (0..4).find_map(|direction| {
            let (line, place) = square.line(direction);
            match self.lines[direction][line] >> (2 * place) & WALL {
                1 => Some(Side::First),
                2 => Some(Side::Second),
                _ => None,
            }
        })
    }

    /// Whether five or more black stones adjoin this square along a line, so that a black stone here could make an overline.
    fn may_overline(&self, square: Square) -> bool {
        (0..4).any(|direction| {
            let (line, place) = square.line(direction);
            let line = self.lines[direction][line];
            let black = |at: u32| line >> (2 * at) & WALL == 1;
            let back = (1..=MARGIN.into()).take_while(|n| black(place - n)).count();
            let forth = (1..=MARGIN.into()).take_while(|n| black(place + n)).count();
            back + forth >= 5
        })
    }

    /// Bitboards of each side's stones, by row, including margins.
    pub(super) const fn stones(&self) -> &[[u32; STRIDE as usize]; 2] {
        &self.stones
    }

    /// Whether the square is on the board.
    pub(super) const fn has(&self, square: Square) -> bool {
        let (x, y, end) = (square.x() as u16, square.y() as u16, MARGIN + self.size);
        x >= MARGIN && x < end && y >= MARGIN && y < end
    }

    /// All squares of the board, row by row.
    pub(super) fn every_square(&self) -> impl Iterator<Item = Square> + use<> {
        crate::game::points(self.size, self.size).map(Square::of)
    }

    /// The lines of this board without stones.
    pub(super) fn empty_lines(&self) -> [[u64; 64]; 4] {
        let mut lines = self.lines;
        for square in self.every_square().filter(|&square| !self.is_empty(square)) {
            for (direction, lines) in lines.iter_mut().enumerate() {
                let (line, place) = square.line(direction);
                if lines[line] != u64::MAX {
                    lines[line] &= !(WALL << (2 * place));
                }
            }
        }
        lines
    }

    /// All empty squares, row by row.
    pub(super) fn all_empty(&self) -> impl Iterator<Item = Square> + use<'_> {
        crate::game::points(self.size, self.size).map(Square::of).filter(|&square| self.is_empty(square))
    }

    /// The centre of the board.
    pub(super) const fn centre(&self) -> Square {
        Square::of(Point::new(self.size / 2, self.size / 2))
    }
}

impl From<Placement> for Square {
    fn from(placement: Placement) -> Self {
        Self::of(placement.point())
    }
}

fn empty_lines(setup: &GomokuSetup) -> [[u64; 64]; 4] {
    let size = u16::from(setup.size);
    let mut lines = [[u64::MAX; 64]; 4];
    for point in crate::game::points(size, size) {
        for (direction, lines) in lines.iter_mut().enumerate() {
            let edge = match direction {
                0 => point.row == 0 || point.row + 1 == size,
                1 => point.column == 0 || point.column + 1 == size,
                _ => false,
            };
            if setup.edge_five_wins || !edge {
                let (line, place) = Square::of(point).line(direction);
                lines[line] &= !(WALL << (2 * place));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Rng};

    fn setups() -> Vec<GomokuSetup> {
        let mut setups = Vec::new();
        for size in [5, 9, 15, 20] {
            for rule in GomokuRule::ALL {
                for edge_five_wins in [true, false] {
                    setups.push(GomokuSetup { size, rule, edge_five_wins, ..GomokuSetup::default() });
                }
            }
        }
        setups
    }

    /// The state of the board that does not depend on the order of moves.
    fn knowledge(board: &Board) -> impl PartialEq + std::fmt::Debug + use<> {
        let codes: Vec<_> =
            board.all_empty().map(|square| (square, board.codes[usize::from(square.0)])).collect();
        let counts = board.count.map(|count| count[1..].to_vec());
        (codes, counts, board.value, board.key, board.turn, board.five_made, board.empty)
    }

    #[test]
    fn what_is_kept_stone_by_stone_is_what_a_fresh_look_finds_and_unmaking_restores_it() {
        for setup in setups() {
            let tables = Tables::shared(setup.rule);
            for seed in 0..3 {
                let mut rng = Rng::new(seed);
                let mut game = Gomoku::new(&setup).expect("the setup is valid");
                let mut board = Board::new(&game, Arc::clone(&tables));
                let mut before = Vec::new();
                let mut moves = Vec::new();
                loop {
                    game.legal_moves(&mut moves);
                    let Some(&mv) = moves.get(rng.below(moves.len().max(1) as u32) as usize) else { break };
                    before.push(knowledge(&board));
                    let square = Square::from(mv.placement().expect("a stone"));
                    let forbidden = board.is_forbidden(square);
                    game.play(mv);
                    board.make(square);
                    let lost = matches!(game.outcome(), Some(Outcome { reason: Reason::Forbidden(_), .. }));
                    assert_eq!(forbidden, lost, "{setup:?} seed {seed} ply {}", game.ply());
                    let fresh = Board::new(&game, Arc::clone(&tables));
                    assert_eq!(
                        knowledge(&board),
                        knowledge(&fresh),
                        "{setup:?} seed {seed} ply {}",
                        game.ply()
                    );
                }
                let by_five = game.outcome().is_some_and(|outcome| outcome.reason == Reason::FiveInARow);
                assert_eq!(board.five_made(), by_five);
                for before in before.into_iter().rev() {
                    board.unmake();
                    assert_eq!(knowledge(&board), before);
                }
            }
        }
    }

    #[test]
    fn the_squares_said_to_make_five_are_those_that_win_by_the_rules() {
        for setup in setups() {
            let tables = Tables::shared(setup.rule);
            for seed in 0..5 {
                let mut rng = Rng::new(seed);
                let mut game = Gomoku::new(&setup).expect("the setup is valid");
                let mut moves = Vec::new();
                loop {
                    game.legal_moves(&mut moves);
                    let board = Board::new(&game, Arc::clone(&tables));
                    for &mv in &moves {
                        let mut next = game.clone();
                        next.play(mv);
                        let wins = next.outcome().is_some_and(|outcome| outcome.reason == Reason::FiveInARow);
                        let square = Square::from(mv.placement().expect("a stone"));
                        assert_eq!(board.threat(square, game.turn()) == Threat::Five, wins);
                    }
                    let Some(&mv) = moves.get(rng.below(moves.len().max(1) as u32) as usize) else { break };
                    game.play(mv);
                }
            }
        }
    }
}
