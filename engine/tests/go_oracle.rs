//! A second, slow implementation of Go's rules, written from the rule page: the reference for the engine's rules.
//!
//! The board is a string, a chain is found by flood fill, and repetition by comparison with all earlier strings.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::collections::HashSet;

use engine::go::{Go, GoMove, GoSetup, Scoring, Superko};
use engine::{Game, Point, Rng, Side};

struct Slow {
    size: i32,
    superko: Superko,
    /// `X`, `O` and `.`, row by row from the bottom.
    board: Vec<char>,
    mover: char,
    /// All earlier boards, with the side to move.
    seen: HashSet<(Vec<char>, char)>,
    taken: [u32; 2],
}

fn foe(side: char) -> char {
    if side == 'X' { 'O' } else { 'X' }
}

/// The connected points of one character around a point, and the other characters adjacent to them.
fn walk(board: &[char], size: i32, from: usize) -> (Vec<usize>, Vec<char>) {
    let (mut area, mut signs, mut n) = (vec![from], Vec::new(), 0);
    while n < area.len() {
        for next in beside(size, area[n]) {
            if board[next] != board[from] {
                signs.push(board[next]);
            } else if !area.contains(&next) {
                area.push(next);
            }
        }
        n += 1;
    }
    signs.sort_unstable();
    signs.dedup();
    (area, signs)
}

fn beside(size: i32, at: usize) -> impl Iterator<Item = usize> {
    let (column, row) = (at as i32 % size, at as i32 / size);
    [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
        .into_iter()
        .filter(move |&(c, r)| c >= 0 && r >= 0 && c < size && r < size)
        .map(move |(c, r)| (r * size + c) as usize)
}

impl Slow {
    fn new(size: u8, superko: Superko) -> Self {
        let board = vec!['.'; usize::from(size) * usize::from(size)];
        let seen = HashSet::from([(board.clone(), 'X')]);
        Self { size: size.into(), superko, seen, board, mover: 'X', taken: [0; 2] }
    }

    /// The board after a stone here, and the number of captured stones; `None` if illegal.
    fn put(&self, at: usize) -> Option<(Vec<char>, u32)> {
        if self.board[at] != '.' {
            return None;
        }
        let mut after = self.board.clone();
        after[at] = self.mover;
        let mut taken = 0;
        for next in beside(self.size, at) {
            if after[next] == foe(self.mover) {
                let (chain, touches) = walk(&after, self.size, next);
                if !touches.contains(&'.') {
                    taken += chain.len() as u32;
                    for stone in chain {
                        after[stone] = '.';
                    }
                }
            }
        }
        if !walk(&after, self.size, at).1.contains(&'.') {
            return None;
        }
        let movers = match self.superko {
            Superko::Positional => &['X', 'O'][..],
            Superko::Situational => &[foe(self.mover)],
        };
        let mut seen = (after, ' ');
        for &mover in movers {
            seen.1 = mover;
            if self.seen.contains(&seen) {
                return None;
            }
        }
        Some((seen.0, taken))
    }

    fn turn(&mut self, board: Vec<char>, taken: u32) {
        self.board = board;
        self.taken[usize::from(self.mover == 'O')] += taken;
        self.mover = foe(self.mover);
        self.seen.insert((self.board.clone(), self.mover));
    }

    fn area(&self) -> [u32; 2] {
        let mut points = [0; 2];
        for at in 0..self.board.len() {
            let owners = match self.board[at] {
                '.' => walk(&self.board, self.size, at).1,
                stone => vec![stone],
            };
            for (n, stone) in ['X', 'O'].into_iter().enumerate() {
                points[n] += u32::from(owners == [stone]);
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
        let after: Vec<Option<(Vec<char>, u32)>> = (0..slow.board.len()).map(|at| slow.put(at)).collect();
        let allowed: Vec<usize> = (0..after.len()).filter(|&at| after[at].is_some()).collect();
        assert_eq!(places, allowed, "size {size}, seed {seed}, ply {}", game.ply());
        if game.ply() >= limit || places.is_empty() {
            break;
        }
        // An occasional pass, never two in a row.
        let pass = rng.below(16) == 0 && game.view().last != Some(engine::Action::Pass);
        let (mv, next) = if pass {
            (GoMove::Pass, (slow.board.clone(), 0))
        } else {
            let chosen = rng.below(places.len() as u32) as usize;
            (moves[chosen], after[places[chosen]].clone().expect("it is allowed"))
        };
        game.play(mv);
        slow.turn(next.0, next.1);
        assert_eq!(text(&game, size), slow.board, "size {size}, seed {seed}, ply {}", game.ply());
        assert_eq!(Side::BOTH.map(|side| game.prisoners(side)), slow.taken);
    }
    assert_eq!(game.score().half_points, slow.area().map(|points| 2 * points));
    game.ply()
}

/// A few dozen games; `QIYOU_GO_GAMES=100000` plays this number on 9 x 9 instead, on every core.
#[test]
fn random_games_go_the_same_way_by_both() {
    let games = std::env::var("QIYOU_GO_GAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let first = seed::begin("random games", 0);
    for superko in [Superko::Positional, Superko::Situational] {
        // On small boards positions repeat often.
        for (size, games) in [(2, 20), (3, 20), (4, 10), (5, 6)] {
            let plies: u32 = (first..first + games).map(|seed| compare(size, superko, seed)).sum();
            assert!(plies > 0);
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let plies: u64 = std::thread::scope(|scope| {
        let share = |thread| {
            let mine = (thread..games).step_by(threads as usize);
            mine.map(|seed| {
                let superko = [Superko::Positional, Superko::Situational][seed as usize % 2];
                u64::from(compare(9, superko, first + seed))
            })
            .sum::<u64>()
        };
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("both rule books agree")).sum()
    });
    println!("{games} games on 9 x 9, {plies} moves");
}
