//! Commands about puzzles: the list, and a puzzle as a room.

use client::json;
use proto::control::{self, Puzzle, reply, request};

use crate::arguments::Game;
use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected};

fn number(game: Option<Game>) -> i32 {
    game.map_or(0, |game| game.number().into())
}

impl Conversation {
    pub(crate) async fn puzzles(&mut self, game: Option<Game>) -> Result<(), Failure> {
        let ask = request::Body::ListPuzzles(control::ListPuzzles { game: number(game) });
        let reply::Body::Puzzles(list) = self.host.ask(ask).await? else { return Err(unexpected()) };
        if game.is_none() {
            for count in &list.counts {
                let value = json::puzzle_count(count);
                let name = value["game"].as_str().unwrap_or_default().to_owned();
                self.print(
                    || format!("{name}: {} puzzles, {} solved", count.puzzles, count.solved),
                    || value,
                )?;
            }
        }
        list.puzzles.iter().try_for_each(|puzzle| self.print(|| line(puzzle), || json::puzzle(puzzle)))
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
