//! Wins by fours (VCF) of up to 11 plies: level 10 finds them all, and allows none where a defence exists.
//!
//! The reference is a slow search in this file, written from the rules of freestyle only; it shares no code
//! with the engine's solver.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{Action, AnyGame, GameKind, Limits, Point, Report, Score, Side, Tier, bot};

/// Longest win by fours that the file holds and the bot must see, in plies, the five included.
const PLIES: u32 = 11;
/// Node limit for one move: what an old handheld searches in half a second.
const NODES: u64 = 60_000;

/// A line of data/forced_fours.txt.
struct Case {
    line: usize,
    /// After these moves the side to move has a win by fours.
    moves: Vec<Point>,
    /// The shortest win, in plies.
    plies: u32,
    /// A move in place of the last one that leaves no win by fours.
    defence: Option<Point>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../data/forced_fours.txt");
    let point = |text: &str| text.parse().expect("the file holds points");
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
        .map(|(line, text)| {
            let fields: Vec<&str> = text.split('|').map(str::trim).collect();
            let [plies, defence, moves] = fields[..] else { panic!("line {line} has not three fields") };
            Case {
                line,
                moves: moves.split(' ').map(point).collect(),
                plies: plies.parse().expect("the file holds numbers"),
                defence: (defence != "-").then(|| point(defence)),
            }
        })
        .collect()
}

#[test]
fn every_position_of_the_file_is_won_by_fours_in_so_many_plies_and_no_fewer() {
    let cases = cases();
    assert!(cases.len() >= 50);
    let different: HashSet<u64> = cases.iter().map(|case| game(&case.moves).key()).collect();
    assert_eq!(different.len(), cases.len());
    for case in &cases {
        assert_eq!(Stones::after(&case.moves).shortest_win(PLIES), Some(case.plies), "line {}", case.line);
        if let Some(defence) = case.defence {
            let mut moves = case.moves.clone();
            *moves.last_mut().expect("there are moves") = defence;
            assert_eq!(
                Stones::after(&moves).shortest_win(PLIES),
                None,
                "line {}: {defence} holds",
                case.line
            );
        }
    }
    assert!(cases.iter().filter(|case| case.defence.is_some()).count() >= 30);
    for plies in [5, 7, 9, 11] {
        assert!(cases.iter().filter(|case| case.plies == plies).count() >= 5, "{plies} plies");
    }
}

#[test]
fn level_10_never_misses_a_win_by_fours() {
    for case in cases() {
        let found = best(&game(&case.moves));
        assert!(
            matches!(found.score, Score::WinIn(plies) if plies <= case.plies),
            "line {}: {found:?}",
            case.line
        );
        // The bot's score is not enough: after its move the win must still exist against every reply.
        let mut stones = Stones::after(&case.moves);
        let Action::Place(point) = found.line[0] else { panic!("gomoku only places stones") };
        assert!(stones.keeps_the_win(point, PLIES), "line {}: {point}", case.line);
    }
}

#[test]
fn level_10_does_not_walk_into_a_win_by_fours_that_can_be_averted() {
    for case in cases().into_iter().filter(|case| case.defence.is_some()) {
        let mut moves = case.moves.clone();
        moves.pop();
        let found = best(&game(&moves));
        let Action::Place(reply) = found.line[0] else { panic!("gomoku only places stones") };
        let mut next = game(&moves);
        next.act(found.line[0]).expect("the bot's move is legal");
        moves.push(reply);
        if next.outcome().is_none() {
            assert_eq!(Stones::after(&moves).shortest_win(PLIES), None, "line {}: {found:?}", case.line);
        }
    }
}

fn game(moves: &[Point]) -> AnyGame {
    let mut game = AnyGame::new(&GameKind::Gomoku.default_setup()).expect("the default setup is valid");
    for &point in moves {
        game.act(Action::Place(point)).expect("the file holds legal moves");
    }
    game
}

fn best(game: &AnyGame) -> Report {
    let stop = AtomicBool::new(false);
    let limits =
        Limits { time: None, nodes: Some(NODES), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    bot(GameKind::Gomoku, Tier::MAX, 1).choose(game, &limits, &mut |_| {}).expect("the game goes on")
}

/// The board of the slow search: freestyle, 15 x 15.
struct Stones {
    cells: [[Option<Side>; SIZE]; SIZE],
    turn: Side,
}

const SIZE: usize = 15;
type Cell = (usize, usize);

impl Stones {
    fn after(moves: &[Point]) -> Self {
        let mut stones = Self { cells: [[None; SIZE]; SIZE], turn: Side::First };
        for point in moves {
            stones.put((point.column.into(), point.row.into()));
        }
        stones
    }

    fn put(&mut self, (column, row): Cell) {
        self.cells[column][row] = Some(self.turn);
        self.turn = self.turn.other();
    }

    fn take(&mut self, (column, row): Cell) {
        self.cells[column][row] = None;
        self.turn = self.turn.other();
    }

    /// The minimum number of plies, up to `limit`, in which the side to move wins by fours only.
    fn shortest_win(&mut self, limit: u32) -> Option<u32> {
        (1..=limit).step_by(2).find(|&plies| self.wins(plies))
    }

    /// Whether the side to move wins within `plies`: it makes five, or it makes a four (or several) that the other side
    /// cannot answer with a five, and wins against every block.
    fn wins(&mut self, plies: u32) -> bool {
        let us = self.turn;
        if !self.completing(us, 4).is_empty() {
            return true;
        }
        if plies < 3 {
            return false;
        }
        // A four results from five cells in a line with exactly three own stones and two empty cells.
        self.completing(us, 3).into_iter().any(|four| self.four_wins(four, plies))
    }

    fn four_wins(&mut self, four: Cell, plies: u32) -> bool {
        let us = self.turn;
        self.put(four);
        let wins = self.completing(us.other(), 4).is_empty()
            && self.completing(us, 4).into_iter().all(|block| {
                self.put(block);
                let wins = self.wins(plies - 2);
                self.take(block);
                wins
            });
        self.take(four);
        wins
    }

    /// Whether this move makes five, or is a four that wins within `plies`.
    fn keeps_the_win(&mut self, point: Point, plies: u32) -> bool {
        let cell = (point.column.into(), point.row.into());
        let us = self.turn;
        if self.completing(us, 4).contains(&cell) {
            return true;
        }
        self.completing(us, 3).contains(&cell) && self.four_wins(cell, plies)
    }

    /// The empty cells of all five-cell lines that hold exactly this number of stones of one side and none of the other.
    fn completing(&self, side: Side, stones: usize) -> Vec<Cell> {
        let mut found = Vec::new();
        for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            for column in 0..SIZE as i32 {
                for row in 0..SIZE as i32 {
                    let (end_column, end_row) = (column + 4 * dc, row + 4 * dr);
                    if end_column >= SIZE as i32 || !(0..SIZE as i32).contains(&end_row) {
                        continue;
                    }
                    let line = (0..5).map(|n| ((column + n * dc) as usize, (row + n * dr) as usize));
                    let at = |(column, row): Cell| self.cells[column][row];
                    let own = line.clone().filter(|&cell| at(cell) == Some(side)).count();
                    let empty = line.clone().filter(|&cell| at(cell).is_none()).count();
                    if own == stones && own + empty == 5 {
                        found.extend(line.filter(|&cell| at(cell).is_none()));
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[test]
fn the_slow_search_knows_the_simplest_wins_and_their_absence() {
    let win = |moves: &str| {
        let moves: Vec<Point> = moves.split(' ').map(|text| text.parse().expect("a point")).collect();
        Stones::after(&moves).shortest_win(PLIES)
    };
    assert_eq!(win("h8 a1 i8 c1 j8 e1 k8 g1"), Some(1), "four in a row");
    assert_eq!(win("h8 a1 i8 c1 j8 e1"), Some(3), "an open three becomes a straight four");
    assert_eq!(win("h8 g8 i8 c1 j8 l8"), None, "a three between two stones with one point each side");
    assert_eq!(win("h8 g8 i8 a1 j8 a3 k9 a5 k10 c1 k11 k12"), Some(3), "two closed threes that meet");
    assert_eq!(win("h8 g8 i8 a1 j8 a3 k9 a5 k10 c1"), Some(5), "a four that makes an open three");
    assert_eq!(win("h8"), None);
}

/// Writes the file: `GAMES=file cargo test -p engine --release --test forced_fours -- --ignored --nocapture`, where the file
/// is the output of `qiyou-engine levels --print`.
#[test]
#[ignore = "writes data, and takes minutes"]
fn positions_for_the_file_are_found_in_games() {
    let path = std::env::var("GAMES").expect("GAMES names a file of games");
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let mut seen = HashSet::new();
    // Number of positions of each length, with a defence and without.
    let mut wanted: HashMap<(u32, bool), u32> = HashMap::new();
    for plies in [5, 7, 9, 11] {
        wanted.insert((plies, true), 12);
        wanted.insert((plies, false), 6);
    }
    for line in text.lines().filter(|line| !line.starts_with("level")) {
        let moves: Vec<Point> = line.split(' ').skip(2).map(|text| text.parse().expect("a point")).collect();
        // Games have few blunders into short wins: where the move played prevents one, a stone in the corner replaces it.
        let corner = Point::new(0, 0);
        let ends = (9..moves.len()).flat_map(|ply| [(ply, moves[ply - 1]), (ply, corner)]);
        for (ply, end) in ends.filter(|_| !moves.contains(&corner)) {
            let mut position = moves[..ply].to_vec();
            position[ply - 1] = end;
            let Some(plies) = Stones::after(&position).shortest_win(PLIES) else { continue };
            if wanted.get(&(plies, true)).is_none_or(|&left| left == 0) || !seen.insert(game(&position).key())
            {
                continue;
            }
            let mut before = Stones::after(&position[..ply - 1]);
            let everywhere =
                (0..SIZE as u16).flat_map(|row| (0..SIZE as u16).map(move |column| Point::new(column, row)));
            let defence = std::iter::once(moves[ply - 1]).chain(everywhere).find(|point| {
                let cell: Cell = (point.column.into(), point.row.into());
                if before.cells[cell.0][cell.1].is_some() {
                    return false;
                }
                before.put(cell);
                let holds = before.shortest_win(PLIES).is_none();
                before.take(cell);
                holds
            });
            let left = wanted.get_mut(&(plies, defence.is_some())).expect("all lengths are there");
            if *left > 0 {
                *left -= 1;
                let defence = defence.map_or_else(|| "-".to_owned(), |point| point.to_string());
                let words: Vec<String> = position.iter().map(Point::to_string).collect();
                println!("{plies} | {defence} | {}", words.join(" "));
            }
            // One position per game, so that the positions differ.
            break;
        }
    }
}
