//! The board of the search and of playouts.
//!
//! It has no history except the simple ko, no undo and no allocations: a copy is one block of memory, which is how the
//! search backtracks. Every chain keeps its liberties as a bitboard with their number, so that ataris, ladders and
//! self-ataris are cheap to detect; every point keeps its eight neighbours as a code of 16 bits, by which tables give eyes
//! and patterns. `tests` compares it with the rules' board.

use std::sync::OnceLock;

use super::Go;
use super::board::stone_key;
pub(super) use super::cells::{BLACK, BORDER, EMPTY, WHITE, colour, other, side};
use super::shape::Shapes;
use crate::{Game, Point, Side};

/// A point including the border: (row + 1) * width + column + 1, where width is the size plus one. Adjacent rows share a
/// border point.
pub(super) type Vertex = u16;

/// No point, or as a move a pass. Index 0 belongs to the border.
pub(super) const PASS: Vertex = 0;

/// A bitboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Points<const W: usize>([u64; W]);

impl<const W: usize> Points<W> {
    pub(super) const NONE: Self = Self([0; W]);

    #[inline]
    pub(super) const fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    #[inline]
    pub(super) const fn add(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(super) const fn take(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    #[inline]
    pub(super) fn join(&mut self, others: &Self) {
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            *word |= other;
        }
    }

    #[inline]
    pub(super) fn count(&self) -> u16 {
        self.0.iter().map(|word| word.count_ones() as u16).sum()
    }

    /// The lowest point; [`PASS`] if empty.
    #[inline]
    pub(super) fn first(&self) -> Vertex {
        self.iter().next().unwrap_or(PASS)
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = Vertex> + use<W> {
        let words = self.0;
        (0..W).flat_map(move |n| {
            let mut left = words[n];
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    (n * 64) as Vertex + bit as Vertex
                })
            })
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Chain<const W: usize> {
    liberties: Points<W>,
    /// Number of liberties.
    count: u16,
    stones: u16,
}

/// Tables that depend on the board size only.
pub(super) struct Geometry {
    pub(super) size: u8,
    width: u16,
    /// The points of the board, row by row from the bottom.
    pub(super) points: Vec<Vertex>,
    /// Zobrist keys by point and colour minus one: the same as on the rules' board.
    keys: Vec<[u64; 2]>,
    /// Distance to the nearest edge, 1 on the edge.
    lines: Vec<u8>,
}

impl Geometry {
    /// The geometry of this size, computed at first use.
    pub(super) fn of(size: u8) -> &'static Self {
        static ALL: [OnceLock<Geometry>; 26] = [const { OnceLock::new() }; 26];
        ALL[usize::from(size)].get_or_init(|| Self::new(size))
    }

    fn new(size: u8) -> Self {
        let width = u16::from(size) + 1;
        let length = usize::from(width) * (usize::from(size) + 2) + 1;
        let mut geometry =
            Self { size, width, points: Vec::new(), keys: vec![[0; 2]; length], lines: vec![0; length] };
        for row in 0..u16::from(size) {
            for column in 0..u16::from(size) {
                let point = Point::new(column, row);
                let at = geometry.at(point);
                geometry.points.push(at);
                geometry.keys[usize::from(at)] = Side::BOTH.map(|side| stone_key(point, side));
                let last = u16::from(size) - 1;
                let line = column.min(row).min(last - column).min(last - row) + 1;
                geometry.lines[usize::from(at)] = line as u8;
            }
        }
        geometry
    }

    /// The index of a point in `points`.
    pub(super) fn number(&self, at: Vertex) -> usize {
        let point = self.point(at);
        usize::from(point.row) * usize::from(self.size) + usize::from(point.column)
    }

    pub(super) fn at(&self, point: Point) -> Vertex {
        (point.row + 1) * self.width + point.column + 1
    }

    pub(super) fn point(&self, at: Vertex) -> Point {
        Point::new(at % self.width - 1, at / self.width - 1)
    }

    /// The line of a point: 1 on the edge, 2 on the second line, and so on.
    pub(super) fn line(&self, at: Vertex) -> u8 {
        self.lines[usize::from(at)]
    }
}

/// The stones on a board of at most `N` points, including the border; `N` is 64 times `W`.
#[derive(Clone)]
pub(super) struct Stones<const N: usize, const W: usize> {
    pub(super) geometry: &'static Geometry,
    shapes: &'static Shapes,
    width: usize,
    cells: [u8; N],
    /// Codes of the eight neighbours of each point, two bits each; see [`Shapes`] for their order.
    around: [u16; N],
    /// For a stone: the head of its chain.
    head: [Vertex; N],
    /// For a stone: the next stone of its chain, circularly.
    next: [Vertex; N],
    /// Chains, by head.
    chains: [Chain<W>; N],
    /// The empty points, unordered; below: the index of each point there.
    empty: [Vertex; N],
    slot: [u16; N],
    empties: u16,
    /// Heads of the chains in atari.
    atari: Points<W>,
    /// The ko point.
    pub(super) ko: Vertex,
    /// Zobrist key of all stones.
    pub(super) key: u64,
    /// Number of stones that each colour has placed.
    pub(super) placed: [u16; 2],
}

impl<const N: usize, const W: usize> Stones<N, W> {
    /// An empty board. The size must fit `N`.
    pub(super) fn new(size: u8) -> Self {
        let geometry = Geometry::of(size);
        assert!(geometry.keys.len() <= N && N == 64 * W, "a board of this size fits");
        let mut stones = Self {
            geometry,
            shapes: Shapes::shared(),
            width: usize::from(geometry.width),
            cells: [BORDER; N],
            around: [0; N],
            head: [0; N],
            next: [0; N],
            chains: [Chain { liberties: Points::NONE, count: 0, stones: 0 }; N],
            empty: [0; N],
            slot: [0; N],
            empties: 0,
            atari: Points::NONE,
            ko: PASS,
            key: 0,
            placed: [0; 2],
        };
        for &at in &geometry.points {
            stones.cells[usize::from(at)] = EMPTY;
            stones.add_empty(at);
        }
        for &at in &geometry.points {
            let mut code = 0;
            for (n, neighbour) in stones.eight(at).into_iter().enumerate() {
                code |= u16::from(stones.cells[neighbour]) << (2 * n);
            }
            stones.around[usize::from(at)] = code;
        }
        stones
    }

    /// The stones and the ko of a position.
    pub(super) fn of(go: &Go) -> Self {
        let mut stones = Self::new(go.setup().size);
        // In a legal position the stones can be placed in any order without captures.
        for &at in &stones.geometry.points {
            if let Some(owner) = go.at(stones.geometry.point(at)) {
                stones.put(at, colour(owner));
            }
        }
        stones.ko = go.ko().map_or(PASS, |point| stones.geometry.at(point));
        for owner in Side::BOTH {
            // Captured stones have been placed too.
            stones.placed[owner.index()] += go.prisoners(owner.other()) as u16;
        }
        stones
    }

    #[inline]
    pub(super) fn cell(&self, at: Vertex) -> u8 {
        self.cells[usize::from(at)]
    }

    #[inline]
    pub(super) fn four(&self, at: Vertex) -> [usize; 4] {
        let at = usize::from(at);
        [at - self.width, at - 1, at + 1, at + self.width]
    }

    /// The neighbours, in the order of the codes.
    #[inline]
    pub(super) fn eight(&self, at: Vertex) -> [usize; 8] {
        let at = usize::from(at);
        let (low, high) = (at - self.width, at + self.width);
        [low, at - 1, at + 1, high, low - 1, low + 1, high - 1, high + 1]
    }

    /// The empty points, unordered.
    pub(super) fn empty(&self) -> &[Vertex] {
        &self.empty[..usize::from(self.empties)]
    }

    /// Swaps two entries in the list of empty points.
    #[inline]
    pub(super) fn swap_empty(&mut self, n: usize, m: usize) {
        self.empty.swap(n, m);
        self.slot[usize::from(self.empty[n])] = n as u16;
        self.slot[usize::from(self.empty[m])] = m as u16;
    }

    /// The head of a stone's chain.
    #[inline]
    pub(super) fn head(&self, stone: Vertex) -> Vertex {
        self.head[usize::from(stone)]
    }

    /// Number of liberties of a stone's chain.
    #[inline]
    pub(super) fn count(&self, stone: Vertex) -> u16 {
        self.chains[usize::from(self.head(stone))].count
    }

    #[inline]
    pub(super) fn liberties(&self, stone: Vertex) -> &Points<W> {
        &self.chains[usize::from(self.head(stone))].liberties
    }

    /// Number of stones in a stone's chain.
    #[inline]
    pub(super) fn stones(&self, stone: Vertex) -> u16 {
        self.chains[usize::from(self.head(stone))].stones
    }

    /// The stones of a stone's chain.
    #[inline]
    pub(super) fn chain(&self, stone: Vertex) -> impl Iterator<Item = Vertex> {
        let mut at = Some(stone);
        std::iter::from_fn(move || {
            let here = at?;
            at = Some(self.next[usize::from(here)]).filter(|&next| next != stone);
            Some(here)
        })
    }

    /// Heads of the chains in atari, of both colours.
    #[inline]
    pub(super) const fn in_atari(&self) -> &Points<W> {
        &self.atari
    }

    /// Whether a point is an eye of this colour: all orthogonal neighbours are its stones, and too few diagonals are enemies
    /// to make it false.
    #[inline]
    pub(super) fn is_eye(&self, at: Vertex, colour: u8) -> bool {
        self.shapes.is_eye(self.around[usize::from(at)], colour)
    }

    /// The code of a point's eight neighbours.
    #[inline]
    pub(super) fn code(&self, at: Vertex) -> u16 {
        self.around[usize::from(at)]
    }

    /// Whether a 3x3 pattern matches around an empty point.
    #[inline]
    pub(super) fn is_pattern(&self, at: Vertex) -> bool {
        self.shapes.is_pattern(self.around[usize::from(at)])
    }

    /// Whether a stone on an empty point is legal, ignoring superko.
    #[inline]
    pub(super) fn is_legal(&self, at: Vertex, colour: u8) -> bool {
        at != self.ko
            && (self.shapes.empties(self.around[usize::from(at)]) > 0
                || self.four(at).into_iter().any(|neighbour| match self.cells[neighbour] {
                    BORDER => false,
                    owner => (owner == colour) != (self.count(neighbour as Vertex) == 1),
                }))
    }

    /// Number of liberties of the chain after a stone here. Of captured chains only adjacent points count.
    pub(super) fn liberties_after(&self, at: Vertex, colour: u8) -> u16 {
        let mut liberties = Points::<W>::NONE;
        let mut more = 0;
        for neighbour in self.four(at) {
            match self.cells[neighbour] {
                BORDER => {}
                EMPTY => liberties.add(neighbour),
                owner => {
                    let chain = &self.chains[usize::from(self.head[neighbour])];
                    if owner == colour {
                        liberties.join(&chain.liberties);
                    } else if chain.count == 1 {
                        liberties.add(neighbour);
                        more = u16::from(chain.stones > 1);
                    }
                }
            }
        }
        liberties.take(usize::from(at));
        liberties.count() + more
    }

    /// Whether a stone here has at most one liberty afterwards.
    #[inline]
    pub(super) fn is_self_atari(&self, at: Vertex, colour: u8) -> bool {
        self.shapes.empties(self.around[usize::from(at)]) < 2 && self.liberties_after(at, colour) < 2
    }

    /// Zobrist key of all stones after a legal move.
    pub(super) fn key_after(&self, at: Vertex, colour: u8) -> u64 {
        let mut key = self.key ^ self.geometry.keys[usize::from(at)][usize::from(colour) - 1];
        let four = self.four(at);
        for (n, &neighbour) in four.iter().enumerate() {
            if self.cells[neighbour] != other(colour) || self.count(neighbour as Vertex) != 1 {
                continue;
            }
            let head = self.head[neighbour];
            let again = |&earlier: &usize| self.cells[earlier] == other(colour) && self.head[earlier] == head;
            if !four[..n].iter().any(again) {
                for stone in self.chain(neighbour as Vertex) {
                    key ^= self.geometry.keys[usize::from(stone)][usize::from(other(colour)) - 1];
                }
            }
        }
        key
    }

    /// Places a stone on a legal point, and removes captured chains.
    pub(super) fn put(&mut self, at: Vertex, colour: u8) {
        let n = usize::from(at);
        self.ko = PASS;
        self.take_empty(at);
        self.change(n, EMPTY, colour);
        self.placed[usize::from(colour) - 1] += 1;
        let four = self.four(at);
        let mut own = Chain { liberties: Points::NONE, count: 0, stones: 1 };
        for neighbour in four {
            match self.cells[neighbour] {
                BORDER => {}
                EMPTY => {
                    own.liberties.add(neighbour);
                    own.count += 1;
                }
                _ => {
                    let head = usize::from(self.head[neighbour]);
                    let chain = &mut self.chains[head];
                    if chain.liberties.has(n) {
                        chain.liberties.take(n);
                        chain.count -= 1;
                        if chain.count == 1 {
                            self.atari.add(head);
                        }
                    }
                }
            }
        }
        self.head[n] = at;
        self.next[n] = at;
        self.chains[n] = own;
        for neighbour in four {
            if self.cells[neighbour] == colour && self.head[neighbour] != self.head[n] {
                self.merge(self.head[n], self.head[neighbour]);
            }
        }
        let (mut captured, mut where_captured) = (0, PASS);
        for neighbour in four {
            if self.cells[neighbour] == other(colour) && self.count(neighbour as Vertex) == 0 {
                captured += self.remove(neighbour as Vertex);
                where_captured = neighbour as Vertex;
            }
        }
        let head = usize::from(self.head[n]);
        let chain = &self.chains[head];
        if chain.count == 1 {
            self.atari.add(head);
        } else {
            self.atari.take(head);
        }
        if captured == 1 && chain.stones == 1 && chain.count == 1 {
            self.ko = where_captured;
        }
    }

    /// A pass ends the ko.
    pub(super) fn pass(&mut self) {
        self.ko = PASS;
    }

    fn merge(&mut self, a: Vertex, b: Vertex) {
        let (a, b) = (usize::from(a), usize::from(b));
        let (long, short) = if self.chains[a].stones >= self.chains[b].stones { (a, b) } else { (b, a) };
        self.atari.take(short);
        let mut stone = short;
        loop {
            self.head[stone] = long as Vertex;
            stone = usize::from(self.next[stone]);
            if stone == short {
                break;
            }
        }
        self.next.swap(long, short);
        let Chain { liberties, stones, .. } = self.chains[short];
        let chain = &mut self.chains[long];
        chain.liberties.join(&liberties);
        chain.count = chain.liberties.count();
        chain.stones += stones;
    }

    /// Removes a chain; returns its number of stones.
    pub(super) fn remove(&mut self, stone: Vertex) -> u16 {
        let colour = self.cell(stone);
        self.atari.take(usize::from(self.head(stone)));
        let mut at = stone;
        loop {
            self.change(usize::from(at), colour, EMPTY);
            self.add_empty(at);
            at = self.next[usize::from(at)];
            if at == stone {
                break;
            }
        }
        let stones = self.stones(stone);
        loop {
            let n = usize::from(at);
            for neighbour in self.four(at) {
                if matches!(self.cells[neighbour], BLACK | WHITE) {
                    let head = usize::from(self.head[neighbour]);
                    let chain = &mut self.chains[head];
                    if !chain.liberties.has(n) {
                        chain.liberties.add(n);
                        chain.count += 1;
                        if chain.count == 2 {
                            self.atari.take(head);
                        }
                    }
                }
            }
            at = self.next[n];
            if at == stone {
                return stones;
            }
        }
    }

    /// Changes the content of a point, with the codes of its neighbours and the key.
    #[inline]
    fn change(&mut self, at: usize, from: u8, to: u8) {
        self.cells[at] = to;
        let stone = from | to;
        self.key ^= self.geometry.keys[at][usize::from(stone) - 1];
        let bits = u16::from(stone);
        let (low, high) = (at - self.width, at + self.width);
        // A neighbour has this point in the opposite direction.
        self.around[low] ^= bits << 6;
        self.around[at - 1] ^= bits << 4;
        self.around[at + 1] ^= bits << 2;
        self.around[high] ^= bits;
        self.around[low - 1] ^= bits << 14;
        self.around[low + 1] ^= bits << 12;
        self.around[high - 1] ^= bits << 10;
        self.around[high + 1] ^= bits << 8;
    }

    #[inline]
    fn add_empty(&mut self, at: Vertex) {
        self.empty[usize::from(self.empties)] = at;
        self.slot[usize::from(at)] = self.empties;
        self.empties += 1;
    }

    #[inline]
    fn take_empty(&mut self, at: Vertex) {
        self.empties -= 1;
        let last = self.empty[usize::from(self.empties)];
        let slot = self.slot[usize::from(at)];
        self.empty[usize::from(slot)] = last;
        self.slot[usize::from(last)] = slot;
    }

    /// Owner of each point in the order of [`Geometry::points`], if all stones are alive: stones, and regions adjacent to
    /// one colour only.
    pub(super) fn area(&self) -> Vec<u8> {
        let mut owner = [EMPTY; N];
        let mut seen = Points::<W>::NONE;
        for &start in self.empty() {
            if seen.has(usize::from(start)) {
                continue;
            }
            seen.add(usize::from(start));
            let mut region = vec![start];
            let mut touches = 0;
            let mut looked = 0;
            while let Some(&at) = region.get(looked) {
                looked += 1;
                for neighbour in self.four(at) {
                    match self.cells[neighbour] {
                        EMPTY if !seen.has(neighbour) => {
                            seen.add(neighbour);
                            region.push(neighbour as Vertex);
                        }
                        EMPTY | BORDER => {}
                        stone => touches |= stone,
                    }
                }
            }
            if touches != BLACK | WHITE {
                for at in region {
                    owner[usize::from(at)] = touches;
                }
            }
        }
        let owner_of =
            |&at: &Vertex| if self.cell(at) == EMPTY { owner[usize::from(at)] } else { self.cell(at) };
        self.geometry.points.iter().map(owner_of).collect()
    }
}

/// 1 for Black, -1 for White, 0 for nobody.
pub(super) const fn margin(owner: u8) -> i32 {
    match owner {
        BLACK => 1,
        WHITE => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::{GoMove, GoSetup, Scoring};
    use crate::{Action, Rng, seed};

    /// Plays random legal moves on both boards, and compares them.
    fn check<const N: usize, const W: usize>(size: u8, seed: u64, moves: u32) {
        let mut rng = Rng::new(seed);
        let setup = GoSetup { size, komi_half_points: 0, ..GoSetup::default() };
        let mut go = Go::new(&setup).expect("the setup is valid");
        let mut stones = Stones::<N, W>::new(size);
        let mut legal = Vec::new();
        for _ in 0..moves {
            go.legal_moves(&mut legal);
            let side = go.turn();
            for (n, &at) in stones.geometry.points.iter().enumerate() {
                let point = stones.geometry.point(at);
                assert_eq!(stones.geometry.number(at), n, "{point}");
                assert_eq!(go.at(point).map_or(EMPTY, colour), stones.cell(at), "{point} seed {seed}");
                if stones.cell(at) == EMPTY {
                    // Only superko is left to the caller of this board.
                    let by_rules = legal.contains(&GoMove::Place(point));
                    let repeats = stones.is_legal(at, colour(side))
                        && go.was_there(stones.key_after(at, colour(side)), side.other());
                    assert_eq!(
                        by_rules,
                        stones.is_legal(at, colour(side)) && !repeats,
                        "{point} seed {seed}"
                    );
                } else {
                    check_chain(&stones, at);
                }
            }
            let in_atari =
                |&at: &Vertex| stones.cell(at) != EMPTY && stones.head(at) == at && stones.count(at) == 1;
            let expected: Vec<Vertex> = stones.geometry.points.iter().copied().filter(in_atari).collect();
            assert_eq!(stones.in_atari().iter().collect::<Vec<_>>(), expected);
            assert_eq!(
                go.score().half_points[0] as i32 - go.score().half_points[1] as i32,
                2 * stones.area().into_iter().map(margin).sum::<i32>()
            );
            let places: Vec<Point> = legal
                .iter()
                .filter_map(|&mv| match Go::action(mv) {
                    Action::Place(point) => Some(point),
                    _ => None,
                })
                .collect();
            if places.is_empty() {
                break;
            }
            let point = places[rng.below(places.len() as u32) as usize];
            let at = stones.geometry.at(point);
            let expected = stones.key_after(at, colour(side));
            go.play(GoMove::Place(point));
            stones.put(at, colour(side));
            assert_eq!(stones.key, expected);
            assert_eq!(go.ko().map_or(PASS, |point| stones.geometry.at(point)), stones.ko);
            let fresh = Stones::<N, W>::of(&go);
            assert_eq!((fresh.key, fresh.around, fresh.placed), (stones.key, stones.around, stones.placed));
        }
    }

    fn check_chain<const N: usize, const W: usize>(stones: &Stones<N, W>, stone: Vertex) {
        let mut liberties = Points::<W>::NONE;
        let mut length = 0;
        for at in stones.chain(stone) {
            length += 1;
            assert_eq!(stones.head(at), stones.head(stone));
            for neighbour in stones.four(at) {
                if stones.cells[neighbour] == EMPTY {
                    liberties.add(neighbour);
                }
            }
        }
        assert_eq!(*stones.liberties(stone), liberties);
        assert_eq!((stones.count(stone), stones.stones(stone)), (liberties.count(), length));
        assert_eq!(liberties.iter().count(), usize::from(liberties.count()));
    }

    #[test]
    fn random_games_go_as_the_rules_have_them() {
        for seed in 0..20 {
            check::<128, 2>(9, seed, 300);
            check::<128, 2>(5, seed, 200);
        }
        check::<128, 2>(2, 1, 50);
        check::<256, 4>(13, 1, 300);
        check::<448, 7>(19, 1, 500);
        check::<704, 11>(25, 1, 300);
    }

    #[test]
    fn liberties_after_a_move_are_what_it_then_has() {
        let mut rng = Rng::new(seed::begin("liberties", 3));
        for _ in 0..200 {
            let mut stones = Stones::<128, 2>::new(9);
            let mut colour = BLACK;
            for _ in 0..120 {
                let Some(&at) = stones.empty().get(rng.below(81) as usize) else { continue };
                if !stones.is_legal(at, colour) {
                    continue;
                }
                let said = stones.liberties_after(at, colour);
                let alone = !stones.four(at).iter().any(|&neighbour| {
                    stones.cells[neighbour] == other(colour) && stones.count(neighbour as Vertex) == 1
                });
                let self_atari = stones.is_self_atari(at, colour);
                stones.put(at, colour);
                if alone {
                    assert_eq!(said, stones.count(at));
                    assert_eq!(self_atari, stones.count(at) == 1);
                }
                colour = other(colour);
            }
        }
    }

    #[test]
    fn prisoners_count_among_the_stones_put() {
        let setup = GoSetup { size: 5, scoring: Scoring::Territory, ..GoSetup::default() };
        let mut go = Go::new(&setup).expect("the setup is valid");
        for text in ["b1", "a1", "a2"] {
            let mv = go.legal_move(go.parse(text).expect("a move")).expect("a legal move");
            go.play(mv);
        }
        assert_eq!(Stones::<128, 2>::of(&go).placed, [2, 1]);
    }
}
