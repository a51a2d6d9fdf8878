//! What was played in a position: the next moves of all kept matches that reached it, how these ended, and the moves of the
//! opening book.

use engine::explore::PositionMatcher;
use engine::gomoku::Book;
use engine::{Action, AnyGame, Game as _, GameKind, Side};
use proto::control::{self, RefusalCode};
use proto::limits;

use crate::notes;
use crate::refusal::Refusal;
use crate::setup::replayed;
use crate::store::{Beginning, Beginnings, End, KeptNotes, SavedMatch};

/// Maximum number of matches that are read, the last ones: 0.13 s on a core of a desktop, with 60 moves each.
const MOST_MATCHES: u32 = 2_000;

/// What was played in a position of a kept match. Reads all kept matches of the game.
pub(crate) fn explored(
    saved: &SavedMatch,
    kept: Option<&KeptNotes>,
    explore: &control::Explore,
    beginnings: &Beginnings,
) -> Result<control::Explored, Refusal> {
    let kind = saved.record.setup.kind();
    if kind == GameKind::LightsOut {
        return Err(Refusal::new(RefusalCode::RefusalBadRequest, "every board of lights is another one"));
    }
    let total = saved.record.actions.len() as u32;
    let (ply, line) = notes::along_record(&saved.record, kept, explore.ply.min(total), &explore.line);
    let mut game = replayed(&saved.record, ply)?;
    let line = notes::read_line(line)?;
    let plies = ply + line.len() as u32;
    for action in line {
        if game.act(action).is_err() {
            return Err(Refusal::new(RefusalCode::RefusalIllegal, "no such line"));
        }
    }
    Ok(moves(&game, beginnings.read(kind, plies + 1, MOST_MATCHES)?))
}

/// `beginnings`: with one action more than `game` has.
fn moves(game: &AnyGame, beginnings: Vec<Beginning>) -> control::Explored {
    // A fifth move that is offered is no move yet.
    if matches!(game, AnyGame::Gomoku(gomoku) if gomoku.is_offering()) {
        return control::Explored::default();
    }
    let matcher = PositionMatcher::new(game);
    let mut found: Vec<(Action, control::ExploredMove)> = Vec::new();
    let mut at = |action: Action, count: &mut dyn FnMut(&mut control::ExploredMove)| {
        let place = found.iter().position(|(known, _)| *known == action).unwrap_or_else(|| {
            let side = notes::side_move(game, action);
            found.push((action, control::ExploredMove { r#move: Some(side), ..Default::default() }));
            found.len() - 1
        });
        count(&mut found[place].1);
    };
    let mut games = 0;
    for Beginning { setup, actions, end } in beginnings {
        let Some(action) = next(&matcher, &setup, &actions).filter(|&next| game.legal_move(next).is_ok())
        else {
            continue;
        };
        games += 1;
        at(action, &mut |one| {
            one.games += 1;
            match end {
                End::Won(Side::First) => one.first_won += 1,
                End::Won(Side::Second) => one.second_won += 1,
                End::Drawn => one.drawn += 1,
                End::Open => {}
            }
        });
    }
    if let AnyGame::Gomoku(gomoku) = game
        && let Some(book) = Book::shared(gomoku.setup())
    {
        for (point, _) in book.moves(gomoku) {
            // A symmetric position has the book's moves in each of its symmetries.
            let action = matcher.matching(game, Action::Place(point)).unwrap_or(Action::Place(point));
            at(action, &mut |one| one.in_book = true);
        }
    }
    found.sort_by_key(|(_, one)| std::cmp::Reverse((one.games, one.in_book)));
    found.truncate(limits::EXPLORED_MOVES);
    control::Explored { games, moves: found.into_iter().map(|(_, one)| one).collect() }
}

/// The last of these actions, if the others lead to the position.
fn next(matcher: &PositionMatcher, setup: &engine::Setup, actions: &[Action]) -> Option<Action> {
    let (last, before) = actions.split_last()?;
    let mut game = AnyGame::new(setup).ok()?;
    before.iter().try_for_each(|&action| game.act(action).map(drop)).ok()?;
    matcher.matching(&game, *last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(actions: &[&str]) -> AnyGame {
        let mut game = AnyGame::new(&GameKind::Gomoku.default_setup()).expect("a setup");
        for action in actions {
            let action = game.parse(action).expect("notation");
            game.act(action).expect("legal");
        }
        game
    }

    fn began(actions: &[&str], end: End) -> Beginning {
        let game = game(&[]);
        let actions = actions.iter().map(|action| game.parse(action).expect("notation")).collect();
        Beginning { setup: GameKind::Gomoku.default_setup(), actions, end }
    }

    fn counts(explored: &control::Explored) -> Vec<(String, [u32; 4])> {
        let played = explored.moves.iter().filter(|one| one.games > 0);
        played
            .map(|one| {
                let written = one.r#move.as_ref().expect("a move").written.clone();
                (written, [one.games, one.first_won, one.second_won, one.drawn])
            })
            .collect()
    }

    #[test]
    fn what_was_played_is_counted_by_move_with_its_results_also_reflected() {
        let here = game(&["h8", "i9"]);
        let (first, second) = (End::Won(Side::First), End::Won(Side::Second));
        let explored = moves(
            &here,
            vec![
                began(&["h8", "i9", "i8"], first),
                began(&["h8", "g9", "g8"], second),
                began(&["h8", "i9", "h9"], End::Drawn),
                began(&["h8", "i9", "j10"], End::Open),
                // Another position, and a move that is not legal here.
                began(&["h8", "i8", "i9"], first),
                began(&["h8", "i9", "h8"], first),
            ],
        );
        // The diagonal reflects i8 to h9.
        assert_eq!(explored.games, 4);
        assert_eq!(counts(&explored), [("i8".to_owned(), [3, 1, 1, 1]), ("j10".to_owned(), [1, 0, 0, 0])]);
    }

    #[test]
    fn the_book_is_shown_where_nothing_was_played() {
        let explored = moves(&game(&["h8", "i9"]), Vec::new());
        assert_eq!(explored.games, 0);
        assert!(!explored.moves.is_empty() && explored.moves.iter().all(|one| one.in_book));
        assert!(explored.moves.len() <= limits::EXPLORED_MOVES);
    }
}
