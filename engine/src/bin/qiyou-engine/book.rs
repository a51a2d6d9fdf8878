//! Builds gomoku's opening books.
//!
//! Best-first expansion from the empty board: the next position to search is the one with the least total cost of its path,
//! where each move costs its difference to the best one, and a constant per move. So good variations are followed deeply,
//! and common mistakes are answered for a few moves. At the end values are backed up, and positions with enough searched
//! descendants enter the book.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::gomoku::Book;
use engine::{
    Action, AnyGame, Game, GameKind, Gomoku, GomokuRule, GomokuSetup, Limits, Point, Score, Tier, bot,
};

use crate::levels::rule;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rule of the book, freestyle, standard or renju.
    #[arg(long, default_value = "freestyle", value_parser = rule)]
    rule: GomokuRule,
    /// File to write the book to.
    #[arg(long)]
    out: PathBuf,
    /// Number of positions to search.
    #[arg(long, default_value_t = 600)]
    positions: usize,
    /// Maximum number of moves to search in each position.
    #[arg(long, default_value_t = 4)]
    lines: usize,
    /// Positions that the search visits per move.
    #[arg(long, default_value_t = 150_000)]
    nodes: u64,
}

/// Constant cost per move, in points.
const STEP: i32 = 25;
/// Moves that lose more than this are not expanded.
const GIVEN_UP: i32 = 300;
/// Moves that are worse by more than this do not enter the book.
const KEPT: i32 = 40;
/// Minimum number of searched descendants of a book position, so that the book knows more than a search during a game finds.
const FOLLOWED: usize = 10;
/// Value of a proven win.
const WON: i32 = 30_000;

/// A searched position.
struct Seen {
    game: Gomoku,
    /// Moves with their values, and the keys of the resulting positions.
    moves: Vec<(Point, i32, u64)>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut seen = look(arguments);
    back_up(&mut seen);
    let deep = |key: &u64| followed(&seen, *key) >= FOLLOWED;
    let kept = seen.iter().filter(|&(key, _)| deep(key));
    let book = Book::of(kept.map(|(_, seen)| (&seen.game, worth_playing(&seen.moves))));
    if let Err(why) = std::fs::write(&arguments.out, book.write()) {
        eprintln!("{}: {why}", arguments.out.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Searches positions in the order of their cost.
fn look(arguments: &Arguments) -> HashMap<u64, Seen> {
    let setup = GomokuSetup { rule: arguments.rule, ..GomokuSetup::default() };
    let mut player = bot(GameKind::Gomoku, Tier::MAX, 1);
    let mut seen: HashMap<u64, Seen> = HashMap::new();
    let mut games = vec![Gomoku::new(&setup).expect("the setup is valid")];
    let mut open = BinaryHeap::from([Reverse((0, 0))]);
    while seen.len() < arguments.positions
        && let Some(Reverse((cost, n))) = open.pop()
    {
        let game: Gomoku = games[n].clone();
        let key = game.book_key().expect("this board has a book");
        if seen.contains_key(&key) {
            continue;
        }
        let stop = AtomicBool::new(false);
        let nodes = Some(arguments.nodes.saturating_mul(arguments.lines as u64));
        let elapsed = || Duration::ZERO;
        let limits = Limits { time: None, nodes, depth: None, stop: &stop, elapsed: &elapsed };
        let found =
            player.choose_lines(&AnyGame::Gomoku(game.clone()), arguments.lines, &limits, &mut |_| {});
        let mut moves = Vec::new();
        for report in found {
            let (Action::Place(point), value) = (report.line[0], worth(report.score)) else { continue };
            let mut next = game.clone();
            next.play(next.legal_move(Action::Place(point)).expect("a bot's choice is legal"));
            moves.push((point, value, next.book_key().expect("this board has a book")));
            let lost = moves[0].1 - value;
            if value.abs() < WON / 2 && lost <= GIVEN_UP && next.outcome().is_none() {
                open.push(Reverse((cost + STEP + lost, games.len())));
                games.push(next);
            }
        }
        seen.insert(key, Seen { game, moves });
        if seen.len().is_multiple_of(50) {
            eprintln!("{} positions, {cost} points given up", seen.len());
        }
    }
    seen
}

fn worth(score: Score) -> i32 {
    match score {
        Score::Points(points) | Score::Chance { points, .. } => points,
        Score::WinIn(plies) => WON - plies as i32,
        Score::LossIn(plies) => plies as i32 - WON,
    }
}

/// Number of searched positions in the subtree of this one.
fn followed(seen: &HashMap<u64, Seen>, key: u64) -> usize {
    let mut found = HashSet::from([key]);
    let mut open = vec![key];
    while let Some(key) = open.pop() {
        for &(_, _, next) in &seen[&key].moves {
            if seen.contains_key(&next) && found.insert(next) {
                open.push(next);
            }
        }
    }
    found.len()
}

/// Backs up values: each move gets the value of its position, if that was searched.
fn back_up(seen: &mut HashMap<u64, Seen>) {
    let mut keys: Vec<u64> = seen.keys().copied().collect();
    keys.sort_by_key(|key| (Reverse(seen[key].game.ply()), *key));
    let mut worth: HashMap<u64, i32> = HashMap::new();
    for key in keys {
        let moves = &mut seen.get_mut(&key).expect("it is one of them").moves;
        for (_, value, next) in &mut *moves {
            if let Some(after) = worth.get(next) {
                *value = -after;
            }
        }
        moves.sort_by_key(|&(point, value, _)| (Reverse(value), point.row, point.column));
        if let Some(&(_, best, _)) = moves.first() {
            worth.insert(key, best);
        }
    }
}

/// The best move, and nearly equal ones.
fn worth_playing(moves: &[(Point, i32, u64)]) -> Vec<(Point, i16)> {
    let best = moves.first().map_or(0, |&(_, value, _)| value);
    let near = moves.iter().take_while(|&&(_, value, _)| best - value <= KEPT);
    near.map(|&(point, value, _)| (point, value.clamp(-WON, WON) as i16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_worth_what_the_best_answer_leaves() {
        let setup = GomokuSetup::default();
        let game = Gomoku::new(&setup).expect("the setup is valid");
        let mut next = game.clone();
        let [middle, corner] = [Point::new(7, 7), Point::new(0, 0)];
        next.play(next.legal_move(Action::Place(middle)).expect("it is empty"));
        let mut seen = HashMap::from([
            (1, Seen { game, moves: vec![(middle, 50, 2), (corner, 20, 3)] }),
            (2, Seen { game: next, moves: vec![(corner, -10, 4), (Point::new(8, 8), 30, 5)] }),
        ]);
        back_up(&mut seen);
        assert_eq!((followed(&seen, 1), followed(&seen, 2)), (2, 1));
        assert_eq!(seen[&2].moves[0].1, 30);
        assert_eq!(seen[&1].moves, [(corner, 20, 3), (middle, -30, 2)], "the answer is better than thought");
        assert_eq!(worth_playing(&seen[&1].moves), [(corner, 20)]);
        assert_eq!(worth_playing(&seen[&2].moves), [(Point::new(8, 8), 30), (corner, -10)]);
    }
}
