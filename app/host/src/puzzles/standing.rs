//! How the player fares: ratings of the player and of the puzzles, today's five, and streaks. Given the day, and no disk.

use std::collections::BTreeMap;

use engine::GameKind;
use engine::glicko::Glicko;
use engine::puzzles::{self, Puzzle};

use crate::leitner::{Answered, Card};
use crate::store::{Five, Mark, Player, SavedPuzzle, Tried};

/// A player without results in a game.
const NEW: Player = Player { rating: Glicko::novice(), rated_day: 0, rated: 0, run: 0, best_run: 0 };

/// All that is kept of how the player fares in a game.
pub(super) struct Standing<'a> {
    pub(super) kind: GameKind,
    pub(super) player: Option<Player>,
    pub(super) tried: &'a BTreeMap<String, Tried>,
    pub(super) saved: &'a BTreeMap<String, SavedPuzzle>,
    /// Puzzles that were made on this device, near the player's rating.
    pub(super) made: &'a [Puzzle],
}

impl<'a> Standing<'a> {
    pub(super) fn rating(&self) -> f64 {
        self.player.unwrap_or(NEW).rating.rating
    }

    fn rated(&self, puzzle: &Puzzle) -> f64 {
        self.tried.get(&puzzle.id).map_or_else(|| puzzles::presumed(puzzle), |tried| tried.rating).rating
    }

    fn solved(&self, puzzle: &Puzzle) -> bool {
        self.saved.get(&puzzle.id).is_some_and(|one| one.solved_unix_ms > 0)
    }

    /// The unsolved puzzle that is nearest to the player's rating.
    pub(super) fn nearest(&self) -> Option<&'a Puzzle> {
        puzzles::nearest(self.kind, self.made, self.rating(), |one| self.solved(one), |one| self.rated(one))
    }

    /// The five of a day. `own`: own mistakes that are due, the longest first.
    pub(super) fn five(&self, day: u32, own: impl IntoIterator<Item = (String, Card)>) -> Five {
        let of_game = |id: &str| id.strip_prefix(self.kind.word()).is_some_and(|rest| rest.starts_with('-'));
        let missed = self.tried.iter().filter(|(id, _)| of_game(id));
        let missed = missed.filter_map(|(id, tried)| Some((id.clone(), tried.card?)));
        let mut due: Vec<(String, Card)> =
            own.into_iter().chain(missed).filter(|(_, card)| card.is_due(day)).collect();
        due.sort_by_key(|(_, card)| card.due_day);
        let due: Vec<String> = due.into_iter().map(|(id, _)| id).collect();
        let (solved, rated) = (|one: &Puzzle| self.solved(one), |one: &Puzzle| self.rated(one));
        let chosen = puzzles::five(self.kind, self.made, day, self.rating(), &due, solved, rated);
        Five(chosen.into_iter().map(|id| (id, Mark::Open)).collect())
    }
}

/// Player and puzzle after the first try of the day at it; `None`: it has counted today.
pub(super) fn rate(
    player: Option<Player>,
    tried: Option<Tried>,
    presumed: Glicko,
    won: bool,
    today: u32,
) -> Option<(Player, Tried)> {
    if tried.is_some_and(|tried| tried.rated_day == today) {
        return None;
    }
    let player = player.unwrap_or(NEW);
    let of_puzzle = tried.map_or(presumed, |tried| tried.rating);
    // A clock that goes back is no rest.
    let rest = if player.rated == 0 { 0 } else { today.saturating_sub(player.rated_day) };
    let rested = player.rating.rested(rest);
    let score = if won { 1.0 } else { 0.0 };
    let run = if won { player.run.saturating_add(1) } else { 0 };
    let card = match (tried.and_then(|tried| tried.card), won) {
        (card, false) => Some(card.unwrap_or(Card::new(today)).after(Answered::Missed, today)),
        (card, true) => card.map(|card| card.after(Answered::Known, today)),
    };
    let player = Player {
        rating: rested.after(of_puzzle, score),
        rated_day: today,
        rated: player.rated.saturating_add(1),
        run,
        best_run: player.best_run.max(run),
    };
    Some((player, Tried { rating: of_puzzle.after(rested, 1.0 - score), rated_day: today, card }))
}

/// The five after a try at one of them; `None`: nothing changes.
pub(super) fn marked(five: &Five, id: &str, won: bool) -> Option<Five> {
    let mut after = five.clone();
    let (_, mark) = after.0.iter_mut().find(|(one, _)| one == id)?;
    *mark = match (*mark, won) {
        (Mark::Open, true) => Mark::First,
        (Mark::Open, false) => Mark::Missed,
        (Mark::Missed, true) => Mark::Late,
        _ => return None,
    };
    Some(after)
}

/// Days in a row on which today's five were done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Streak {
    /// Up to today or yesterday.
    pub(super) now: u32,
    pub(super) best: u32,
    /// The last seven days: bit 0 today, bit 6 six days ago.
    pub(super) week: u32,
}

/// `days`: those that were done, earlier ones first, each once.
pub(super) fn streak(days: &[u32], today: u32) -> Streak {
    let mut streak = Streak::default();
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for &day in days {
        match rows.last_mut() {
            Some((last, long)) if *last + 1 == day => (*last, *long) = (day, *long + 1),
            _ => rows.push((day, 1)),
        }
        if let Some(ago) = today.checked_sub(day).filter(|ago| *ago < 7) {
            streak.week |= 1 << ago;
        }
    }
    streak.best = rows.iter().map(|(_, long)| *long).max().unwrap_or(0);
    // A row that ends later is of before the clock went back: it goes on to count.
    let runs_on = rows.iter().filter(|(last, _)| last.saturating_add(1) >= today);
    streak.now = runs_on.map(|(_, long)| *long).max().unwrap_or(0);
    streak
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUZZLE: Glicko = Glicko::new(1010.0, 150.0);

    #[test]
    fn a_first_try_that_is_right_is_a_win_over_the_puzzle_and_a_wrong_one_a_loss() {
        let (won, beaten) = rate(None, None, PUZZLE, true, 100).expect("it counts");
        let (lost, unbeaten) = rate(None, None, PUZZLE, false, 100).expect("it counts");
        assert!(lost.rating.rating < NEW.rating.rating && NEW.rating.rating < won.rating.rating);
        assert!(
            beaten.rating.rating < PUZZLE.rating && PUZZLE.rating < unbeaten.rating.rating,
            "both are rated"
        );
        assert_eq!((won.rated, won.run, won.best_run), (1, 1, 1));
        assert_eq!((lost.rated, lost.run, lost.best_run), (1, 0, 0));
    }

    #[test]
    fn a_puzzle_counts_once_a_day() {
        let (player, tried) = rate(None, None, PUZZLE, false, 100).expect("it counts");
        assert_eq!(rate(Some(player), Some(tried), PUZZLE, true, 100), None);
        let (again, _) = rate(Some(player), Some(tried), PUZZLE, true, 101).expect("tomorrow it counts");
        assert_eq!((again.rated, again.run), (2, 1));
        // A clock that went back takes nothing away, and lets the puzzle count.
        let (back, _) = rate(Some(again), Some(tried), PUZZLE, true, 50).expect("another day");
        assert_eq!((back.rated, back.run, back.best_run), (3, 2, 2));
    }

    #[test]
    fn a_miss_ends_the_run_and_the_best_one_stays() {
        let results = [true, true, true, false, true];
        let player = results
            .iter()
            .zip(100..)
            .fold(None, |player, (&won, day)| rate(player, None, PUZZLE, won, day).map(|(player, _)| player));
        assert_eq!(player.map(|player| (player.run, player.best_run)), Some((1, 3)));
    }

    #[test]
    fn what_was_missed_is_due_tomorrow_and_what_was_never_missed_is_not_due() {
        let (_, missed) = rate(None, None, PUZZLE, false, 100).expect("it counts");
        assert!(missed.card.is_some_and(|card| !card.is_due(100) && card.is_due(101)));
        let (_, known) = rate(None, Some(missed), PUZZLE, true, 101).expect("it counts");
        assert!(known.card.is_some_and(|card| !card.is_due(102) && card.is_due(103)));
        assert_eq!(rate(None, None, PUZZLE, true, 100).expect("it counts").1.card, None);
    }

    #[test]
    fn one_of_the_five_is_solved_at_once_later_or_not_yet() {
        let five = Five(vec![("a".into(), Mark::Open), ("b".into(), Mark::Open)]);
        let first = marked(&five, "a", true).expect("marked");
        let missed = marked(&first, "b", false).expect("marked");
        assert_eq!((first.0[0].1, missed.0[1].1, missed.is_done()), (Mark::First, Mark::Missed, false));
        let late = marked(&missed, "b", true).expect("marked");
        assert_eq!((late.0[1].1, late.is_done()), (Mark::Late, true));
        for (id, won) in [("a", false), ("a", true), ("b", false), ("b", true), ("c", true)] {
            assert_eq!(marked(&late, id, won), None, "what is solved stays solved");
        }
    }

    #[test]
    fn a_streak_lasts_until_a_day_is_missed_and_today_is_no_miss_yet() {
        assert_eq!(streak(&[], 10), Streak::default());
        let days = [3, 4, 5, 7, 8, 9];
        let at = |today| streak(&days, today).now;
        assert_eq!((at(9), at(10), at(11)), (3, 3, 0));
        assert_eq!(streak(&days, 11).best, 3);
        assert_eq!(streak(&days, 10).week, 0b0110_1110);
    }

    #[test]
    fn a_clock_that_goes_back_loses_no_day_and_one_that_was_far_ahead_holds_nothing_up() {
        let days = [7, 8, 9];
        for today in [9, 8, 5, 0] {
            assert_eq!(streak(&days, today).now, 3, "{today}");
        }
        // A day that was done before, and done again, counts once: the days are a set. One day of another age is no row.
        let mut days = vec![7, 8, 9, 40_000];
        assert_eq!(streak(&days, 10).now, 3);
        days.insert(3, 10);
        assert_eq!(streak(&days, 10).now, 4);
        assert_eq!(streak(&[u32::MAX - 1, u32::MAX], u32::MAX).now, 2);
    }

    #[test]
    fn the_five_of_a_day_have_what_was_missed_and_own_mistakes_that_are_due() {
        let all = puzzles::all(GameKind::Gomoku);
        let tried = |due_day| Tried { rating: PUZZLE, rated_day: 1, card: Some(Card { level: 1, due_day }) };
        let kept = BTreeMap::from([
            (all[7].id.clone(), tried(100)),
            (all[8].id.clone(), tried(101)),
            ("go-00000000".to_owned(), tried(90)),
        ]);
        let saved = BTreeMap::new();
        let standing =
            Standing { kind: GameKind::Gomoku, player: None, tried: &kept, saved: &saved, made: &[] };
        let own = || [("yours-1".to_owned(), Card { level: 2, due_day: 99 })];
        let five = standing.five(100, own());
        let ids: Vec<&str> = five.0.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!((ids[0], ids[1], ids.len()), ("yours-1", all[7].id.as_str(), 5));
        assert!(five.0.iter().all(|(_, mark)| *mark == Mark::Open));
        assert_eq!(five, standing.five(100, own()));
        assert_ne!(five, standing.five(101, own()));
    }

    #[test]
    fn who_solves_more_is_offered_harder_puzzles() {
        let (tried, saved) = (BTreeMap::new(), BTreeMap::new());
        let of =
            |player| Standing { kind: GameKind::Xiangqi, player, tried: &tried, saved: &saved, made: &[] };
        let mut player = None;
        let mut grades = vec![of(player).nearest().expect("some").grade()];
        for day in 0..30 {
            let offered = of(player).nearest().expect("some");
            player = rate(player, None, puzzles::presumed(offered), true, day).map(|(player, _)| player);
            grades.push(of(player).nearest().expect("some").grade());
        }
        assert!(grades.is_sorted() && grades[0] == 1 && *grades.last().expect("some") >= 4, "{grades:?}");
    }
}
