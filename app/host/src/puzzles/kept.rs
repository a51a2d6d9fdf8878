//! What is kept of how the player fares: read for what is offered and shown, written after a try.

use engine::GameKind;
use engine::puzzles::Puzzle;
use proto::control::{self, TodayMark};

use super::standing::{Standing, marked, rate, streak};
use crate::journal::Journal;
use crate::mistakes::YOURS;
use crate::store::{Five, Mark, StoreError, Verdict};

/// So many puzzles that were made on this device are considered: those nearest to the player's rating.
const MADE: usize = 20;

/// The unsolved puzzle that is nearest to the player's rating.
pub(super) fn nearest(kind: GameKind, journal: &Journal) -> Result<Option<Puzzle>, StoreError> {
    with_standing(kind, journal, |standing| standing.nearest().cloned())
}

/// Reads how the player fares in a game.
fn with_standing<T>(
    kind: GameKind,
    journal: &Journal,
    then: impl FnOnce(Standing<'_>) -> T,
) -> Result<T, StoreError> {
    let (tried, saved, player) = (journal.tried_puzzles()?, journal.puzzles()?, journal.puzzle_player(kind)?);
    let mut standing = Standing { kind, player, tried: &tried, saved: &saved, made: &[] };
    let made = journal.made_near(kind, standing.rating(), MADE)?;
    standing.made = &made;
    Ok(then(standing))
}

/// The five of a day that were chosen, without own mistakes that have been deleted since.
fn chosen(kind: GameKind, day: u32, journal: &Journal) -> Result<Option<Five>, StoreError> {
    let Some(five) = journal.five(day, kind)? else { return Ok(None) };
    let mut there = Vec::new();
    for (id, mark) in five.0 {
        if !id.starts_with(YOURS) || journal.mistake(&id)?.is_some() {
            there.push((id, mark));
        }
    }
    Ok(Some(Five(there)))
}

/// The five of a day. Chosen when they are first asked for, and kept from then on, since ratings change over the day.
pub(super) fn five(kind: GameKind, day: u32, journal: &mut Journal) -> Result<Five, StoreError> {
    if let Some(five) = chosen(kind, day, journal)? {
        if journal.five(day, kind)?.as_ref() != Some(&five) {
            keep_five(kind, day, &five, journal);
        }
        return Ok(five);
    }
    let own = journal.mistakes(kind)?.into_iter().map(|one| (one.id, one.card));
    let five = with_standing(kind, journal, |standing| standing.five(day, own))?;
    keep_five(kind, day, &five, journal);
    Ok(five)
}

/// A full disk has been reported: the same five are chosen again until something is solved.
fn keep_five(kind: GameKind, day: u32, five: &Five, journal: &mut Journal) {
    let verdict = Verdict { five: Some((day, kind, five.clone())), ..Verdict::default() };
    let _ = journal.keep(|store| store.keep_verdict(&verdict));
}

/// The first of a day's five that is not solved; what was not tried comes before what was missed.
pub(super) fn next_of_five(five: &Five) -> Option<&str> {
    let first = |wanted| five.0.iter().find(move |(_, mark)| *mark == wanted);
    first(Mark::Open).or_else(|| first(Mark::Missed)).map(|(id, _)| id.as_str())
}

/// The next one of a day's five after this one; `None`: it is not among them, or they are done.
pub(super) fn after_in_five(kind: GameKind, day: u32, id: &str, journal: &Journal) -> Option<String> {
    let five = chosen(kind, day, journal).ok().flatten()?;
    let is_among = five.0.iter().any(|(one, _)| one == id);
    next_of_five(&five).filter(|_| is_among).map(str::to_owned)
}

/// Keeps a try. `puzzle`: to be rated, if this is the room's first verdict on it. `day`: of the five that it may be one of. A full disk has
/// been reported; the try goes on anyway.
pub(super) fn keep_try(
    kind: GameKind,
    id: &str,
    puzzle: Option<&Puzzle>,
    won: bool,
    (day, today): (u32, u32),
    journal: &mut Journal,
) {
    let read = || -> Result<Verdict, StoreError> {
        let five = chosen(kind, day, journal)?.and_then(|five| marked(&five, id, won));
        let mut verdict = Verdict { five: five.map(|five| (day, kind, five)), ..Verdict::default() };
        if let Some(puzzle) = puzzle {
            let tried = journal.tried_puzzles()?.get(id).copied();
            let presumed = engine::puzzles::presumed(puzzle);
            if let Some((player, tried)) = rate(journal.puzzle_player(kind)?, tried, presumed, won, today) {
                verdict.player = Some((kind, player));
                verdict.tried = Some((id.to_owned(), tried));
            }
        }
        Ok(verdict)
    };
    if let Ok(verdict) = read() {
        let _ = journal.keep(|store| store.keep_verdict(&verdict));
    }
}

/// How the player fares in a game, with today's five.
pub(super) fn shown(
    kind: GameKind,
    today: u32,
    journal: &mut Journal,
) -> Result<control::PuzzleStanding, StoreError> {
    let five = five(kind, today, journal)?;
    let player = journal.puzzle_player(kind)?;
    let mark = |mark| match mark {
        Mark::Open => TodayMark::TodayOpen,
        Mark::Missed => TodayMark::TodayMissed,
        Mark::Late => TodayMark::TodayLate,
        Mark::First => TodayMark::TodayFirst,
    };
    let today = five.0.iter().map(|(id, of)| control::TodayPuzzle { id: id.clone(), mark: mark(*of).into() });
    let whole = |number: f64| number.round().max(0.0) as u32;
    Ok(control::PuzzleStanding {
        game: i32::from(kind as u8),
        rating: player.map_or(0, |player| whole(player.rating.rating)),
        deviation: player.map_or(0, |player| whole(player.rating.deviation)),
        rated: player.map_or(0, |player| player.rated),
        run: player.map_or(0, |player| player.run),
        best_run: player.map_or(0, |player| player.best_run),
        today: today.collect(),
    })
}

/// Days in a row on which the five of some game were done.
pub(super) fn days(today: u32, journal: &Journal) -> Result<control::PuzzleDays, StoreError> {
    let streak = streak(&journal.done_days()?, today);
    Ok(control::PuzzleDays { streak: streak.now, best: streak.best, week: streak.week })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u32 = 20_000;

    /// The puzzles of a day with a mistake that is gone, all solved but this many.
    fn day_with_a_mistake_that_is_gone(open: usize, journal: &mut Journal) -> Vec<String> {
        let five = five(GameKind::Go, DAY, journal).expect("readable");
        let ids: Vec<String> = five.0.into_iter().map(|(id, _)| id).take(4).collect();
        let mark = |at: usize| if at < 4 - open { Mark::First } else { Mark::Open };
        let mut kept: Vec<_> = ids.iter().enumerate().map(|(at, id)| (id.clone(), mark(at))).collect();
        kept.push((format!("{YOURS}0123456789abcdef"), Mark::Open));
        keep_five(GameKind::Go, DAY, &Five(kept), journal);
        assert_eq!(days(DAY, journal).expect("readable").streak, 0);
        ids
    }

    #[test]
    fn a_day_is_done_without_a_mistake_that_has_been_deleted() {
        let (mut journal, _folder) = Journal::for_test();
        let ids = day_with_a_mistake_that_is_gone(1, &mut journal);
        keep_try(GameKind::Go, &ids[3], None, true, (DAY, DAY), &mut journal);
        assert_eq!(days(DAY, &journal).expect("readable").streak, 1);
    }

    #[test]
    fn a_day_is_done_when_the_last_open_one_is_a_mistake_that_has_been_deleted() {
        let (mut journal, _folder) = Journal::for_test();
        day_with_a_mistake_that_is_gone(0, &mut journal);
        assert_eq!(five(GameKind::Go, DAY, &mut journal).expect("readable").0.len(), 4);
        assert_eq!(days(DAY, &journal).expect("readable").streak, 1);
    }
}
