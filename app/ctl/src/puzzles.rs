//! Commands about puzzles: the list, and a puzzle as a room.

use proto::control::{self, Puzzle, PuzzleProgress, PuzzleState, Room, reply, request};
use serde_json::{Value, json};

use crate::arguments::Game;
use crate::commands::{Conversation, unexpected};
use crate::connection::Failure;

fn number(game: Option<Game>) -> i32 {
    game.map_or(0, |game| game.number().into())
}

impl Conversation {
    pub(crate) async fn puzzles(&mut self, game: Option<Game>) -> Result<(), Failure> {
        let ask = request::Body::ListPuzzles(control::ListPuzzles { game: number(game) });
        let reply::Body::Puzzles(list) = self.host.ask(ask).await? else { return Err(unexpected()) };
        if game.is_none() {
            for count in &list.counts {
                let name = proto::board::Game::try_from(count.game).unwrap_or_default();
                let name = name.as_str_name().trim_start_matches("GAME_").to_lowercase().replace('_', "-");
                self.print(
                    || format!("{name}: {} puzzles, {} solved", count.puzzles, count.solved),
                    || json!({"game": name, "puzzles": count.puzzles, "solved": count.solved}),
                )?;
            }
        }
        list.puzzles.iter().try_for_each(|puzzle| self.print(|| line(puzzle), || as_json(puzzle)))
    }

    pub(crate) async fn puzzle(&mut self, which: Option<String>, game: Game) -> Result<(), Failure> {
        let open = control::OpenPuzzle { puzzle: which.unwrap_or_default(), game: game.number().into() };
        let reply::Body::RoomId(id) = self.host.ask(request::Body::OpenPuzzle(open)).await? else {
            return Err(unexpected());
        };
        self.print_room(&id)
    }
}

fn line(puzzle: &Puzzle) -> String {
    let Puzzle { id, grade, tries, solved, goal, .. } = puzzle;
    let goal = goal.as_ref().map_or("", |goal| goal.en.as_str());
    let state = match (solved, tries) {
        (true, _) => "solved".into(),
        (false, 0) => "new".into(),
        (false, tries) => format!("tried {tries} times"),
    };
    format!("{id}  grade {grade}, {state}: {goal}")
}

fn as_json(puzzle: &Puzzle) -> Value {
    json!({"id": puzzle.id, "grade": puzzle.grade, "moves": puzzle.moves, "solved": puzzle.solved,
        "solved_unix_ms": puzzle.solved_unix_ms, "tries": puzzle.tries, "daily": puzzle.daily,
        "goal_en": puzzle.goal.as_ref().map(|goal| &goal.en), "goal_zh": puzzle.goal.as_ref().map(|goal| &goal.zh)})
}

/// The state of a puzzle's room; `null` for any other.
pub(crate) fn state(room: &Room) -> Value {
    room.puzzle.as_ref().map_or(Value::Null, |state| {
        json!({"puzzle": state.puzzle.as_ref().map(as_json), "progress": progress(state), "left": state.left,
            "say_en": state.say.as_ref().map(|say| &say.en), "next": state.next})
    })
}

fn progress(state: &PuzzleState) -> &'static str {
    match state.progress() {
        PuzzleProgress::PuzzleUnspecified => "unknown",
        PuzzleProgress::PuzzleOpen => "open",
        PuzzleProgress::PuzzleJudging => "judging",
        PuzzleProgress::PuzzleWrong => "wrong",
        PuzzleProgress::PuzzleSolved => "solved",
    }
}
