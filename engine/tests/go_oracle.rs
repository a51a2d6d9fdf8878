//! Go once more, slowly, from the rule page alone: what the engine's rules are compared with.
//!
//! The board is a text, a chain is found by walking over it, and repetition by comparing with every text that was there.

use std::collections::HashSet;

use engine::go::{Go, GoMove, GoSetup, Scoring, Superko};
use engine::{Game, Point, Rng, Side};

#[derive(Clone)]
struct Slow {
    size: i32,
    superko: Superko,
    /// `X`, `O` and `.`, row by row from the bottom.
    board: Vec<char>,
    mover: char,
    seen: Vec<(Vec<char>, char)>,
    taken: [u32; 2],
}

fn foe(side: char) -> char {
    if side == 'X' { 'O' } else { 'X' }
}

impl Slow {
    fn new(size: u8, superko: Superko) -> Self {
        let board = vec!['.'; usize::from(size) * usize::from(size)];
        Self {
            size: size.into(),
            superko,
            seen: vec![(board.clone(), 'X')],
            board,
            mover: 'X',
            taken: [0; 2],
        }
    }

    fn beside(&self, at: usize) -> Vec<usize> {
        let (column, row) = (at as i32 % self.size, at as i32 / self.size);
        [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
            .into_iter()
            .filter(|&(c, r)| c >= 0 && r >= 0 && c < self.size && r < self.size)
            .map(|(c, r)| (r * self.size + c) as usize)
            .collect()
    }

    /// Everything of one sign that hangs together with this point, and every other sign that it touches.
    fn walk(&self, from: usize) -> (HashSet<usize>, HashSet<char>) {
        let (mut area, mut signs, mut open) = (HashSet::from([from]), HashSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            for next in self.beside(at) {
                if self.board[next] != self.board[from] {
                    signs.insert(self.board[next]);
                } else if area.insert(next) {
                    open.push(next);
                }
            }
        }
        (area, signs)
    }

    /// What follows from a stone here; `None` if it is not allowed.
    fn put(&self, at: usize) -> Option<Self> {
        if self.board[at] != '.' {
            return None;
        }
        let mut after = self.clone();
        after.board[at] = self.mover;
        for next in self.beside(at) {
            if after.board[next] == foe(self.mover) {
                let (chain, touches) = after.walk(next);
                if !touches.contains(&'.') {
                    after.taken[usize::from(self.mover == 'O')] += chain.len() as u32;
                    for stone in chain {
                        after.board[stone] = '.';
                    }
                }
            }
        }
        if !after.walk(at).1.contains(&'.') {
            return None;
        }
        let same = |(board, mover): &(Vec<char>, char)| {
            *board == after.board && (self.superko == Superko::Positional || *mover == foe(self.mover))
        };
        (!self.seen.iter().any(same)).then(|| after.turned())
    }

    fn turned(mut self) -> Self {
        self.mover = foe(self.mover);
        self.seen.push((self.board.clone(), self.mover));
        self
    }

    fn area(&self) -> [u32; 2] {
        let mut points = [0; 2];
        for at in 0..self.board.len() {
            let owners = match self.board[at] {
                '.' => self.walk(at).1,
                stone => HashSet::from([stone]),
            };
            for (n, stone) in ['X', 'O'].into_iter().enumerate() {
                points[n] += u32::from(owners == HashSet::from([stone]));
            }
        }
        points
    }
}

fn text(game: &Go, size: u8) -> Vec<char> {
    let at = |n: u16| match game.at(Point::new(n % u16::from(size), n / u16::from(size))) {
        Some(Side::First) => 'X',
        Some(Side::Second) => 'O',
        None => '.',
    };
    (0..u16::from(size) * u16::from(size)).map(at).collect()
}

fn compare(size: u8, superko: Superko, seed: u64) -> u32 {
    let setup = GoSetup { size, scoring: Scoring::Area, komi_half_points: 0, superko, ..GoSetup::default() };
    let mut game = Go::new(&setup).expect("the setup is valid");
    let mut slow = Slow::new(size, superko);
    let mut rng = Rng::new(seed);
    let mut moves = Vec::new();
    let limit = 3 * u32::from(size) * u32::from(size);
    loop {
        game.legal_moves(&mut moves);
        let places: Vec<usize> = moves
            .iter()
            .filter_map(|mv| match mv {
                GoMove::Place(point) => {
                    Some(usize::from(point.row) * usize::from(size) + usize::from(point.column))
                }
                _ => None,
            })
            .collect();
        let after: Vec<Option<Slow>> = (0..slow.board.len()).map(|at| slow.put(at)).collect();
        let allowed: Vec<usize> = (0..after.len()).filter(|&at| after[at].is_some()).collect();
        assert_eq!(places, allowed, "size {size}, seed {seed}, ply {}", game.ply());
        if game.ply() >= limit || places.is_empty() {
            break;
        }
        // A pass now and then, never two in a row.
        let pass = rng.below(16) == 0 && game.view().last != Some(engine::Action::Pass);
        let (mv, next) = if pass {
            (GoMove::Pass, slow.clone().turned())
        } else {
            let chosen = rng.below(places.len() as u32) as usize;
            (moves[chosen], after[places[chosen]].clone().expect("it is allowed"))
        };
        game.play(mv);
        slow = next;
        assert_eq!(text(&game, size), slow.board, "size {size}, seed {seed}, ply {}", game.ply());
        assert_eq!(Side::BOTH.map(|side| game.prisoners(side)), slow.taken);
    }
    assert_eq!(game.score().half_points, slow.area().map(|points| 2 * points));
    game.ply()
}

/// A few dozen games; with `QIYOU_LONG_TESTS=1` 2,000 on 9 x 9, which take minutes.
#[test]
fn random_games_go_the_same_way_by_both() {
    let long = std::env::var_os("QIYOU_LONG_TESTS").is_some();
    for superko in [Superko::Positional, Superko::Situational] {
        // Small boards repeat often.
        for (size, games) in [(2, 20), (3, 20), (4, 10), (5, 6), (9, if long { 1000 } else { 1 })] {
            let plies: u32 = (0..games).map(|seed| compare(size, superko, seed)).sum();
            assert!(plies > 0);
        }
    }
}
