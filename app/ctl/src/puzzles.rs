//! Commands about puzzles: the list, and a puzzle as a room.

use client::{json, words};
use proto::control::{
    self, Mistake, Puzzle, PuzzleCount, PuzzleDays, PuzzleStanding, TodayMark, TodayPuzzle, reply, request,
};

use serde_json::json;

use crate::arguments::Game;
use crate::connection::Failure;
use crate::conversation::{Conversation, forever, unexpected};

fn number(game: Option<Game>) -> i32 {
    game.map_or(0, |game| game.number().into())
}

impl Conversation {
    pub(crate) async fn puzzles(
        &mut self,
        game: Option<Game>,
        yours: bool,
        make: bool,
    ) -> Result<(), Failure> {
        if make {
            self.make_puzzles(number(game)).await?;
        }
        let ask = request::Body::ListPuzzles(control::ListPuzzles { game: number(game), yours });
        let reply::Body::Puzzles(list) = self.host.ask(ask).await? else { return Err(unexpected()) };
        if game.is_none() {
            for count in &list.counts {
                let value = json::puzzle_count(count);
                let name = value["game"].as_str().unwrap_or_default().to_owned();
                self.print(|| counted(&name, count), || value)?;
            }
        }
        for standing in &list.standings {
            self.print(|| fares(standing), || json::puzzle_standing(standing))?;
        }
        let days = list.days.unwrap_or_default();
        self.print(|| in_a_row(days), || json::puzzle_days(days))?;
        list.puzzles.iter().try_for_each(|puzzle| self.print(|| line(puzzle), || json::puzzle(puzzle)))
    }

    /// Has puzzles made, and waits until that has ended.
    async fn make_puzzles(&mut self, game: i32) -> Result<(), Failure> {
        self.ask_done(request::Body::MakePuzzles(control::MakePuzzles { game, on: true })).await?;
        let mut told = None;
        loop {
            let making = self.host.state().puzzle_making;
            if making.wanted == 0 {
                return Ok(());
            }
            if told != Some(making.found) {
                told = Some(making.found);
                self.print(
                    || format!("{} of {} puzzles made", making.found, making.wanted),
                    || json!({"found": making.found, "wanted": making.wanted}),
                )?;
            }
            self.host.next_until(forever()).await?;
        }
    }

    pub(crate) async fn puzzle(
        &mut self,
        which: Option<String>,
        game: Game,
        (yours, today): (bool, bool),
    ) -> Result<(), Failure> {
        let puzzle = which.unwrap_or_default();
        let open = control::OpenPuzzle { puzzle, game: game.number().into(), yours, today };
        let reply::Body::RoomId(id) = self.host.ask(request::Body::OpenPuzzle(open)).await? else {
            return Err(unexpected());
        };
        self.print_room(&id)
    }
}

fn counted(game: &str, count: &PuzzleCount) -> String {
    let PuzzleCount { puzzles, solved, yours, due, .. } = count;
    let own = if *yours == 0 { String::new() } else { format!("; {yours} of your own, {due} due today") };
    format!("{game}: {puzzles} puzzles, {solved} solved{own}")
}

/// `gomoku: rating 1210 ± 90 after 14; run 3, best 8; today ++-~. (…)`.
fn fares(standing: &PuzzleStanding) -> String {
    let PuzzleStanding { rating, deviation, rated, run, best_run, .. } = standing;
    let game = words::game(standing.game).replace('_', "-");
    let rated = match rated {
        0 => "not rated yet".into(),
        results => format!("rating {rating} ± {deviation} after {results}; run {run}, best {best_run}"),
    };
    let mark = |one: &TodayPuzzle| match one.mark() {
        TodayMark::TodayUnspecified | TodayMark::TodayOpen => '.',
        TodayMark::TodayMissed => '-',
        TodayMark::TodayLate => '~',
        TodayMark::TodayFirst => '+',
    };
    let marks: String = standing.today.iter().map(mark).collect();
    let ids: Vec<&str> = standing.today.iter().map(|one| one.id.as_str()).collect();
    format!("{game}: {rated}; today {marks} ({})", ids.join(" "))
}

fn in_a_row(days: PuzzleDays) -> String {
    format!("today's five: {} in a row, best {}", counted_days(days.streak), counted_days(days.best))
}

fn counted_days(days: u32) -> String {
    if days == 1 { "1 day".into() } else { format!("{days} days") }
}

fn line(puzzle: &Puzzle) -> String {
    let Puzzle { id, grade, tries, solved, goal, .. } = puzzle;
    let goal = goal.as_ref().map_or("", |goal| goal.en.as_str());
    if let Some(Mistake { r#box: level, boxes, learnt, due_in_days }) = &puzzle.mistake {
        let when = match (learnt, due_in_days) {
            (true, _) => "learnt".into(),
            (false, 0) => "due today".into(),
            (false, 1) => "due tomorrow".into(),
            (false, days) => format!("due in {days} days"),
        };
        return format!("{id}  box {level} of {boxes}, {when}: {goal}");
    }
    let state = match (solved, tries) {
        (true, _) => "solved".into(),
        (false, 0) => "new".into(),
        (false, tries) => format!("tried {tries} times"),
    };
    format!("{id}  grade {grade}, {state}: {goal}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ones_own_mistake_says_when_it_comes_back() {
        let goal = control::Words { zh: String::new(), en: "Find a better move.".into() };
        let told = |r#box, learnt, due_in_days| {
            let mistake = Some(Mistake { r#box, boxes: 5, learnt, due_in_days });
            line(&Puzzle { id: "yours-1".into(), goal: Some(goal.clone()), mistake, ..Default::default() })
        };
        assert_eq!(told(0, false, 0), "yours-1  box 0 of 5, due today: Find a better move.");
        assert_eq!(told(1, false, 1), "yours-1  box 1 of 5, due tomorrow: Find a better move.");
        assert_eq!(told(3, false, 4), "yours-1  box 3 of 5, due in 4 days: Find a better move.");
        assert_eq!(told(5, true, 0), "yours-1  box 5 of 5, learnt: Find a better move.");
    }

    #[test]
    fn ones_own_mistakes_are_counted_where_there_are_some() {
        let count = PuzzleCount { puzzles: 104, solved: 3, ..Default::default() };
        assert_eq!(counted("gomoku", &count), "gomoku: 104 puzzles, 3 solved");
        let count = PuzzleCount { yours: 7, due: 2, ..count };
        assert_eq!(counted("gomoku", &count), "gomoku: 104 puzzles, 3 solved; 7 of your own, 2 due today");
    }

    #[test]
    fn how_the_player_fares_is_a_line_with_a_sign_for_each_of_todays_five() {
        let today = |id: &str, mark: TodayMark| TodayPuzzle { id: id.into(), mark: mark.into() };
        let new = PuzzleStanding {
            game: 3,
            today: vec![today("go-1", TodayMark::TodayOpen)],
            ..Default::default()
        };
        assert_eq!(fares(&new), "go: not rated yet; today . (go-1)");
        let rated = PuzzleStanding {
            rating: 1210,
            deviation: 90,
            rated: 14,
            run: 3,
            best_run: 8,
            today: vec![today("a", TodayMark::TodayFirst), today("b", TodayMark::TodayMissed)],
            ..new
        };
        assert_eq!(fares(&rated), "go: rating 1210 ± 90 after 14; run 3, best 8; today +- (a b)");
        let days = PuzzleDays { streak: 1, best: 12, week: 1 };
        assert_eq!(in_a_row(days), "today's five: 1 day in a row, best 12 days");
    }
}
