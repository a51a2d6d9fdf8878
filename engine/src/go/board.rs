//! The rules' board: stones, chains and liberties.
//!
//! The board has a border, so that every point has four neighbours. A chain is a circular list of points, identified by one
//! of them (its head). Pseudo-liberties are counted, once per adjacent stone, which is cheap and suffices to detect capture.

use crate::{Point, Rng, Side};

/// A point including the border: row * width + column, both from 1 on the board, where width is two more than the size.
pub(super) type Vertex = u16;

/// The content of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Empty,
    Stone(Side),
    Border,
}

/// The effect of a stone on an empty point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Suicide: no liberty and no capture.
    Suicide,
    /// The Zobrist key of the stones afterwards.
    Key(u64),
}

/// The stones on a board.
#[derive(Clone, Debug)]
pub(super) struct Board {
    size: u8,
    cells: Vec<Cell>,
    /// For a stone: the head of its chain.
    head: Vec<Vertex>,
    /// For a stone: the next stone of its chain, circularly.
    next: Vec<Vertex>,
    /// For a head: number of stones in the chain.
    length: Vec<u16>,
    /// For a head: number of pseudo-liberties.
    liberties: Vec<u16>,
    /// For a head: Zobrist key of the chain's stones.
    chain_key: Vec<u64>,
    /// Zobrist key of all stones.
    key: u64,
}

impl Board {
    pub(super) fn new(size: u8) -> Self {
        let width = usize::from(size) + 2;
        let cells = (0..width * width)
            .map(|n| {
                let inside = |at: usize| (1..=usize::from(size)).contains(&at);
                if inside(n % width) && inside(n / width) { Cell::Empty } else { Cell::Border }
            })
            .collect();
        Self {
            size,
            cells,
            head: vec![0; width * width],
            next: vec![0; width * width],
            length: vec![0; width * width],
            liberties: vec![0; width * width],
            chain_key: vec![0; width * width],
            key: 0,
        }
    }

    pub(super) fn place(&self, point: Point) -> Option<Vertex> {
        let size = u16::from(self.size);
        let on_board = point.column < size && point.row < size;
        on_board.then(|| (point.row + 1) * (size + 2) + point.column + 1)
    }

    pub(super) fn point(&self, place: Vertex) -> Point {
        let width = u16::from(self.size) + 2;
        Point::new(place % width - 1, place / width - 1)
    }

    /// All points of the board, row by row from the bottom.
    pub(super) fn places(&self) -> impl Iterator<Item = Vertex> {
        let width = u16::from(self.size) + 2;
        let size = u16::from(self.size);
        (1..=size).flat_map(move |row| (1..=size).map(move |column| row * width + column))
    }

    pub(super) fn at(&self, place: Vertex) -> Cell {
        self.cells[usize::from(place)]
    }

    pub(super) fn neighbours(&self, place: Vertex) -> [Vertex; 4] {
        let width = u16::from(self.size) + 2;
        [place - width, place - 1, place + 1, place + width]
    }

    /// Zobrist key of the stones, without the side to move.
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// [`Self::key`] computed from scratch.
    pub(super) fn fresh_key(&self) -> u64 {
        self.places().fold(0, |key, place| match self.at(place) {
            Cell::Stone(side) => key ^ stone_key(self.point(place), side),
            _ => key,
        })
    }

    /// The head of a stone's chain.
    pub(super) fn head(&self, place: Vertex) -> Vertex {
        self.head[usize::from(place)]
    }

    /// The stones of a chain.
    pub(super) fn chain(&self, place: Vertex) -> impl Iterator<Item = Vertex> {
        let mut at = Some(place);
        std::iter::from_fn(move || {
            let here = at?;
            at = Some(self.next[usize::from(here)]).filter(|&next| next != place);
            Some(here)
        })
    }

    /// The effect of a stone of this side on this empty point.
    pub(super) fn effect(&self, place: Vertex, side: Side) -> Effect {
        let mut breathes = false;
        let mut key = self.key ^ stone_key(self.point(place), side);
        let neighbours = self.neighbours(place);
        for (n, &neighbour) in neighbours.iter().enumerate() {
            match self.at(neighbour) {
                Cell::Empty => breathes = true,
                Cell::Border => {}
                Cell::Stone(owner) => {
                    let head = self.head(neighbour);
                    let same = |&&other: &&Vertex| {
                        matches!(self.at(other), Cell::Stone(_)) && self.head(other) == head
                    };
                    let touches = neighbours.iter().filter(same).count();
                    let keeps_some = usize::from(self.liberties[usize::from(head)]) > touches;
                    if owner == side {
                        breathes |= keeps_some;
                    } else if !keeps_some {
                        breathes = true;
                        // Each captured chain counts once, however many of its stones are adjacent.
                        if !neighbours[..n].iter().any(|other| same(&other)) {
                            key ^= self.chain_key[usize::from(head)];
                        }
                    }
                }
            }
        }
        if breathes { Effect::Key(key) } else { Effect::Suicide }
    }

    /// Places a stone on an empty point where it is not suicide, and returns the captured points.
    pub(super) fn put(&mut self, place: Vertex, side: Side) -> Vec<Vertex> {
        self.stand(place, side);
        let mut captured = Vec::new();
        for neighbour in self.neighbours(place) {
            match self.at(neighbour) {
                Cell::Stone(owner) if owner == side => self.join(place, neighbour),
                Cell::Stone(_) if self.liberties[usize::from(self.head(neighbour))] == 0 => {
                    captured.extend(self.chain(neighbour));
                    self.remove(neighbour);
                }
                _ => {}
            }
        }
        captured
    }

    /// Creates a chain of one stone, and removes a pseudo-liberty from its neighbours.
    fn stand(&mut self, place: Vertex, side: Side) {
        let n = usize::from(place);
        let key = stone_key(self.point(place), side);
        self.cells[n] = Cell::Stone(side);
        self.head[n] = place;
        self.next[n] = place;
        self.length[n] = 1;
        self.liberties[n] = 0;
        self.chain_key[n] = key;
        self.key ^= key;
        for neighbour in self.neighbours(place) {
            match self.at(neighbour) {
                Cell::Empty => self.liberties[n] += 1,
                Cell::Stone(_) => {
                    let head = self.head(neighbour);
                    self.liberties[usize::from(head)] -= 1;
                }
                Cell::Border => {}
            }
        }
    }

    /// Places a stone on an empty point without captures, to set up a position.
    pub(super) fn set(&mut self, place: Vertex, side: Side) {
        self.stand(place, side);
        for neighbour in self.neighbours(place) {
            if self.at(neighbour) == Cell::Stone(side) {
                self.join(place, neighbour);
            }
        }
    }

    /// A stone whose chain has no liberty, if there is one.
    pub(super) fn without_liberty(&self) -> Option<Vertex> {
        self.places().find(|&place| match self.at(place) {
            Cell::Stone(_) => self.liberties[usize::from(self.head(place))] == 0,
            _ => false,
        })
    }

    /// Whether the stone is a single-stone chain in atari.
    pub(super) fn is_lone_in_atari(&self, place: Vertex) -> bool {
        let n = usize::from(place);
        self.head[n] == place && self.length[n] == 1 && self.liberties[n] == 1
    }

    /// Merges two chains.
    fn join(&mut self, a: Vertex, b: Vertex) {
        let (a, b) = (self.head(a), self.head(b));
        if a == b {
            return;
        }
        let (long, short) =
            if self.length[usize::from(a)] >= self.length[usize::from(b)] { (a, b) } else { (b, a) };
        let renamed: Vec<Vertex> = self.chain(short).collect();
        for stone in renamed {
            self.head[usize::from(stone)] = long;
        }
        let (l, s) = (usize::from(long), usize::from(short));
        self.next.swap(l, s);
        self.length[l] += self.length[s];
        self.liberties[l] += self.liberties[s];
        self.chain_key[l] ^= self.chain_key[s];
    }

    /// Removes a chain.
    pub(super) fn remove(&mut self, place: Vertex) {
        self.key ^= self.chain_key[usize::from(self.head(place))];
        let stones: Vec<Vertex> = self.chain(place).collect();
        for &stone in &stones {
            self.cells[usize::from(stone)] = Cell::Empty;
        }
        for stone in stones {
            for neighbour in self.neighbours(stone) {
                if let Cell::Stone(_) = self.at(neighbour) {
                    let head = self.head(neighbour);
                    self.liberties[usize::from(head)] += 1;
                }
            }
        }
    }
}

/// Zobrist key of a stone on a point, independent of machine and board size.
pub(super) const fn stone_key(at: Point, side: Side) -> u64 {
    let cell = (at.row as u64) << 9 | (at.column as u64) << 1 | side as u64;
    Rng::new(0x676f_0000_0000_0000_u64.wrapping_add(cell)).next_u64()
}
