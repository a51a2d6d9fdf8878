//! Notes in the text of a record: comments in braces and variations in parentheses after the move that they stand beside.

use std::collections::HashMap;

use super::{At, Notes, Walked};
use crate::record::numbered;
use crate::{Action, Game, Side};

/// The moves of a main line with its notes, as pieces that are separated by white space. `write` gives a move's notation.
pub(crate) fn written_moves<G: Game + Walked>(
    start: &G,
    actions: &[Action],
    notes: &Notes,
    write: impl Fn(&G, G::Move) -> String,
) -> Vec<String> {
    let mut pieces = Vec::new();
    let comment = |pieces: &mut Vec<String>, comment: &str| {
        if !comment.is_empty() {
            // The grammar has no escape for the closing brace.
            pieces.push(format!("{{{}}}", comment.replace('}', ")")));
        }
    };
    let mut numbers: Vec<u32> = Vec::with_capacity(actions.len() + 1);
    let mut moves: Vec<(String, Side)> = Vec::with_capacity(actions.len());
    let mut game = start.clone();
    for &action in actions {
        let mv = game.legal_move(action).expect("the caller gives the actions of a game");
        moves.push((write(&game, mv), game.turn()));
        game.play(mv);
    }
    let mut number = 0;
    for (n, (_, turn)) in moves.iter().enumerate() {
        number += u32::from(*turn == Side::First || n == 0);
        numbers.push(number);
    }
    // Text, number and side of each move of a side line.
    let mut sides: Vec<(String, u32, Side)> = Vec::with_capacity(notes.moves().len());
    notes.walk(start, actions, |index, game| {
        let side = &notes.moves()[index];
        let text = game.legal_move(side.action).map(|mv| write(game, mv)).unwrap_or_default();
        let before = match side.after {
            At::Main(ply) => ply.checked_sub(1).map_or(0, |last| numbers[last as usize]),
            At::Side(parent) => sides[parent as usize].1,
        };
        let begins = side.after == At::Main(0);
        sides.push((text, before + u32::from(game.turn() == Side::First || begins), game.turn()));
    });
    /// What is still to be written.
    enum Open {
        /// A move of a side line, the first of its parentheses or not, and its comment.
        Move(u32, bool),
        /// What follows a move: the next one, those beside it, and so on.
        Rest(u32),
        /// The end of its parentheses.
        Close,
    }
    let (beside, children) = children(notes);
    comment(&mut pieces, notes.comment(At::Main(0)));
    for (n, (text, turn)) in moves.iter().enumerate() {
        let ply = n as u32;
        pieces.push(numbered(text, numbers[n], *turn, n == 0));
        comment(&mut pieces, notes.comment(At::Main(ply + 1)));
        for &first in beside.get(&ply).into_iter().flatten() {
            let mut open = vec![Open::Close, Open::Rest(first), Open::Move(first, true)];
            while let Some(next) = open.pop() {
                match next {
                    Open::Close => pieces.last_mut().expect("a move is before it").push(')'),
                    Open::Move(index, begins) => {
                        let (text, number, turn) = &sides[index as usize];
                        let text = numbered(text, *number, *turn, begins);
                        pieces.push(if begins { format!("({text}") } else { text });
                        comment(&mut pieces, notes.comment(At::Side(index)));
                    }
                    Open::Rest(index) => {
                        let Some((&next, beside)) = children[index as usize].split_first() else { continue };
                        open.push(Open::Rest(next));
                        for &other in beside.iter().rev() {
                            open.extend([Open::Close, Open::Rest(other), Open::Move(other, true)]);
                        }
                        open.push(Open::Move(next, false));
                    }
                }
            }
        }
    }
    pieces
}

/// The first moves of the side lines by ply, and the moves after each move of them.
fn children(notes: &Notes) -> (HashMap<u32, Vec<u32>>, Vec<Vec<u32>>) {
    let mut beside: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut children = vec![Vec::new(); notes.moves().len()];
    for (index, side) in (0..).zip(notes.moves()) {
        match side.after {
            At::Main(ply) => beside.entry(ply).or_default().push(index),
            At::Side(parent) => children[parent as usize].push(index),
        }
    }
    (beside, children)
}
