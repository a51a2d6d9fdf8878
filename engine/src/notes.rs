//! Comments and side lines of a match, beside its record.
//!
//! A note belongs to a position: one of the main line, named by its ply, or one of a side line. Side lines are one flat list
//! of moves with their parents before them, so that nothing here recurses. Notes are never part of a record: they are not in
//! its digest and are sent to nobody.
//!
//! What comes from outside is checked by [`Notes::fitted`] or by the readers of SGF and of records, all through `fit`: an
//! illegal side line is dropped and counted, and so is what exceeds the limits below.

use std::collections::{BTreeMap, HashMap};

use crate::{Action, AnyGame, Game};

mod text;

pub(crate) use text::written_moves;

/// Maximum number of moves in all side lines of a match: commented games of professionals have some hundreds.
pub const MOST_MOVES: usize = 4_096;

/// Maximum length of one comment, in characters.
pub const MOST_CHARS: usize = 4_000;

/// Maximum length of all comments of a match together, in bytes: half a file.
pub const MOST_BYTES: usize = 256 * 1_024;

/// Maximum nesting of side lines within side lines.
pub const MOST_NESTED: u16 = 64;

/// A position that a note can belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum At {
    /// After so many actions of the main line.
    Main(u32),
    /// After this move of a side line, an index of [`Notes::moves`].
    Side(u32),
}

/// A move of a side line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideMove {
    /// The position before it. Its first move there goes on with a side line; further ones are side lines of it.
    pub after: At,
    /// The move, legal there.
    pub action: Action,
    /// On the position after it; empty: none.
    pub comment: String,
}

/// Why notes cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotesError {
    /// There is no such position.
    #[error("there is no such position")]
    NoSuchPosition,
    /// [`MOST_CHARS`].
    #[error("the comment is too long")]
    TooLong,
    /// [`MOST_MOVES`], [`MOST_BYTES`] or [`MOST_NESTED`].
    #[error("the match has too many notes")]
    TooMany,
    /// The match does not go on there: a side line needs a move beside which it stands.
    #[error("a side line stands beside a move of the match, and there is none")]
    NothingBeside,
}

/// The comments and side lines of a match.
///
/// Two notes are equal if they show the same in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Of the main line by ply; none is empty.
    comments: BTreeMap<u32, String>,
    /// Lines by ply, each move before those after it; the order in which a person walks them.
    moves: Vec<SideMove>,
}

/// A move as a file or a client says it: what it is, is read where its position is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said<T> {
    /// As in [`SideMove::after`], by the index in the same list.
    pub(crate) after: At,
    pub(crate) what: T,
    pub(crate) comment: String,
}

/// A position that notes walk through.
pub(crate) trait Walked: Clone {
    /// Plays a legal action; false if it is illegal.
    fn step(&mut self, action: Action) -> bool;
}

impl<G: Game> Walked for G {
    fn step(&mut self, action: Action) -> bool {
        let mv = self.legal_move(action);
        mv.map(|mv| self.play(mv)).is_ok()
    }
}

impl Walked for AnyGame {
    fn step(&mut self, action: Action) -> bool {
        self.act(action).is_ok()
    }
}

/// A comment as it is kept: lines end with `\n`, other white space is a space, and there are no control characters.
pub fn tidy(comment: &str) -> String {
    let joined = comment.replace("\r\n", "\n").replace('\r', "\n");
    let signs = joined.chars().filter_map(|sign| match sign {
        '\n' => Some('\n'),
        sign if sign.is_whitespace() => Some(' '),
        sign => (!sign.is_control() && sign != '\u{feff}').then_some(sign),
    });
    signs.collect::<String>().trim().to_owned()
}

impl Notes {
    /// Whether there is neither a comment nor a side line.
    pub fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.moves.is_empty()
    }

    /// Comments of the main line by ply, in order; 0 is before the first move.
    pub fn comments(&self) -> impl Iterator<Item = (u32, &str)> {
        self.comments.iter().map(|(ply, comment)| (*ply, comment.as_str()))
    }

    /// The moves of all side lines.
    pub fn moves(&self) -> &[SideMove] {
        &self.moves
    }

    /// The comment on a position; empty: none.
    pub fn comment(&self, at: At) -> &str {
        match at {
            At::Main(ply) => self.comments.get(&ply).map_or("", String::as_str),
            At::Side(index) => self.moves.get(index as usize).map_or("", |side| &side.comment),
        }
    }

    /// The moves of side lines from a position, in order. In a side line, the first goes on with it.
    pub fn after(&self, at: At) -> impl Iterator<Item = u32> {
        let moves = self.moves.iter().enumerate();
        moves.filter(move |(_, side)| side.after == at).map(|(index, _)| index as u32)
    }

    /// The position after these moves of a side line that leaves the main line at `ply`.
    pub fn find(&self, ply: u32, line: &[Action]) -> Option<At> {
        line.iter().try_fold(At::Main(ply), |at, &action| {
            self.after(at).find(|&index| self.moves[index as usize].action == action).map(At::Side)
        })
    }

    /// The plies of the main line with a comment or a side line, in order.
    pub fn marked(&self) -> Vec<u32> {
        let sides = self.moves.iter().filter_map(|side| match side.after {
            At::Main(ply) => Some(ply),
            At::Side(_) => None,
        });
        let mut marked: Vec<u32> = self.comments.keys().copied().chain(sides).collect();
        marked.sort_unstable();
        marked.dedup();
        marked
    }

    /// Sets the comment on a position; an empty one deletes it.
    pub fn set_comment(&mut self, at: At, comment: &str) -> Result<(), NotesError> {
        let comment = tidy(comment);
        if comment.chars().count() > MOST_CHARS {
            return Err(NotesError::TooLong);
        }
        if self.bytes() - self.comment(at).len() + comment.len() > MOST_BYTES {
            return Err(NotesError::TooMany);
        }
        match at {
            At::Main(ply) if comment.is_empty() => drop(self.comments.remove(&ply)),
            At::Main(ply) => drop(self.comments.insert(ply, comment)),
            At::Side(index) => {
                let side = self.moves.get_mut(index as usize).ok_or(NotesError::NoSuchPosition)?;
                side.comment = comment;
            }
        }
        Ok(())
    }

    /// Adds a move, which the caller has checked, from a position of the `main` actions of the match. A move that is there
    /// already is returned.
    pub fn add(&mut self, after: At, action: Action, main: u32) -> Result<At, NotesError> {
        match after {
            At::Main(ply) if ply >= main => return Err(NotesError::NothingBeside),
            At::Side(index) if index as usize >= self.moves.len() => return Err(NotesError::NoSuchPosition),
            At::Main(_) | At::Side(_) => {}
        }
        let known = self.after(after).find(|&index| self.moves[index as usize].action == action);
        if let Some(index) = known {
            return Ok(At::Side(index));
        }
        self.moves.push(SideMove { after, action, comment: String::new() });
        let last = self.moves.len() as u32 - 1;
        if self.moves.len() > MOST_MOVES || self.nested(last) > MOST_NESTED {
            self.moves.pop();
            return Err(NotesError::TooMany);
        }
        let order = self.put_in_order();
        Ok(At::Side(order[last as usize]))
    }

    /// Removes a move of a side line with all that follows it.
    pub fn remove(&mut self, index: u32) -> Result<(), NotesError> {
        if index as usize >= self.moves.len() {
            return Err(NotesError::NoSuchPosition);
        }
        let mut gone = vec![false; self.moves.len()];
        let mut kept: Vec<u32> = vec![0; self.moves.len()];
        let mut count = 0;
        for number in 0..self.moves.len() {
            let parent_is_gone =
                matches!(self.moves[number].after, At::Side(parent) if gone[parent as usize]);
            gone[number] = number == index as usize || parent_is_gone;
            kept[number] = count;
            count += u32::from(!gone[number]);
        }
        let mut number = 0;
        self.moves.retain_mut(|side| {
            if let At::Side(parent) = &mut side.after {
                *parent = kept[*parent as usize];
            }
            number += 1;
            !gone[number - 1]
        });
        Ok(())
    }

    /// These notes as far as they belong to this match: within its length, legal and within the limits; and how many comments
    /// and moves were left out.
    pub fn fitted(self, start: &AnyGame, actions: &[Action]) -> (Self, u32) {
        let said = self.moves.into_iter();
        let said: Vec<Said<Action>> =
            said.map(|SideMove { after, action, comment }| Said { after, what: action, comment }).collect();
        fit(start, actions, self.comments, &said, |_, action| Some(vec![*action]))
    }

    /// Notes that were kept. Moves without a move before them are dropped; whether the others are legal shows where they are
    /// played.
    pub fn from_parts(comments: impl IntoIterator<Item = (u32, String)>, moves: Vec<SideMove>) -> Self {
        let mut notes = Self { comments: comments.into_iter().collect(), moves };
        notes.moves.truncate(MOST_MOVES);
        notes.put_in_order();
        notes
    }

    /// The notes on the first `ply` actions.
    pub fn until(&self, ply: u32) -> Self {
        let mut kept: Vec<Option<u32>> = Vec::with_capacity(self.moves.len());
        let mut moves: Vec<SideMove> = Vec::new();
        for side in &self.moves {
            let after = match side.after {
                At::Main(at) => (at < ply).then_some(At::Main(at)),
                At::Side(parent) => kept[parent as usize].map(At::Side),
            };
            kept.push(after.map(|_| moves.len() as u32));
            moves.extend(after.map(|after| SideMove { after, ..side.clone() }));
        }
        let comments = self.comments.range(..=ply).map(|(ply, comment)| (*ply, comment.clone())).collect();
        Self { comments, moves }
    }

    /// Calls `visit` at each move of the side lines, in order, with its index and the position before it.
    pub(crate) fn walk<G: Walked>(&self, start: &G, actions: &[Action], mut visit: impl FnMut(usize, &G)) {
        let places: Vec<At> = self.moves.iter().map(|side| side.after).collect();
        walk(start, actions, &places, |index, game| {
            visit(index, game);
            let mut game = game.clone();
            game.step(self.moves[index].action).then_some(game)
        });
    }

    fn bytes(&self) -> usize {
        let sides = self.moves.iter().map(|side| side.comment.len());
        self.comments.values().map(String::len).chain(sides).sum()
    }

    /// How many side lines a move stands in.
    fn nested(&self, index: u32) -> u16 {
        let (mut nested, mut at) = (1, index);
        while let At::Side(parent) = self.moves[at as usize].after {
            nested += u16::from(self.after(At::Side(parent)).next() != Some(at));
            at = parent;
        }
        nested
    }

    /// Brings the moves in order, and drops those that cannot be reached. Returns the new index of each other one.
    fn put_in_order(&mut self) -> Vec<u32> {
        let places: Vec<At> = self.moves.iter().map(|side| side.after).collect();
        let order = in_order(&places);
        // Those that are left out have no new index, and nothing in order stands after them.
        let mut new = vec![0; places.len()];
        for (index, &old) in order.iter().enumerate() {
            new[old] = index as u32;
        }
        let mut moves: Vec<Option<SideMove>> =
            std::mem::take(&mut self.moves).into_iter().map(Some).collect();
        self.moves = order.iter().filter_map(|&old| moves[old].take()).collect();
        for side in &mut self.moves {
            if let At::Side(parent) = &mut side.after {
                *parent = new[*parent as usize];
            }
        }
        new
    }
}

/// Indices of a tree's nodes, given by their parents: lines by ply, then each move before those after it, otherwise as they
/// came. Nodes whose parent does not come before them are left out, with all after them.
fn in_order(places: &[At]) -> Vec<usize> {
    let mut first: Vec<(u32, usize)> = Vec::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    for (index, place) in places.iter().enumerate() {
        match *place {
            At::Main(ply) => first.push((ply, index)),
            At::Side(parent) if (parent as usize) < index => children[parent as usize].push(index),
            At::Side(_) => {}
        }
    }
    first.sort_by_key(|(ply, _)| *ply);
    let mut open: Vec<usize> = first.into_iter().rev().map(|(_, index)| index).collect();
    let mut order = Vec::with_capacity(places.len());
    while let Some(index) = open.pop() {
        order.push(index);
        open.extend(children[index].iter().rev());
    }
    order
}

/// Goes through a tree of moves beside a main line. `visit` is given an index and the position before it, and returns the one
/// after it, or `None` to leave this move and all after it out.
fn walk<G: Walked>(
    start: &G,
    actions: &[Action],
    places: &[At],
    mut visit: impl FnMut(usize, &G) -> Option<G>,
) {
    let mut last_child: Vec<usize> = vec![0; places.len()];
    for (index, place) in places.iter().enumerate() {
        if let At::Side(parent) = *place
            && (parent as usize) < index
        {
            last_child[parent as usize] = index;
        }
    }
    let (mut main, mut ply) = (start.clone(), 0);
    // Positions after moves that are still needed, innermost last: a line without branches keeps one.
    let mut open: Vec<(usize, G)> = Vec::new();
    for index in in_order(places) {
        let next = match places[index] {
            At::Main(at) => {
                open.clear();
                while ply < at && actions.get(ply as usize).is_some_and(|&action| main.step(action)) {
                    ply += 1;
                }
                // A side line stands beside an action.
                if ply == at && (at as usize) < actions.len() { visit(index, &main) } else { None }
            }
            At::Side(parent) => {
                let parent = parent as usize;
                let found = open.iter().rposition(|(index, _)| *index == parent);
                found.and_then(|place| {
                    open.truncate(place + 1);
                    let next = visit(index, &open[place].1);
                    if last_child[parent] == index {
                        open.pop();
                    }
                    next
                })
            }
        };
        if let Some(game) = next
            && last_child[index] > 0
        {
            open.push((index, game));
        }
    }
}

/// Notes of what was said, as far as it is legal and within the limits; and how many comments and moves were left out.
/// `read` says which actions a move stands for in a position: none for a comment alone, `None` for what is no move there.
pub(crate) fn fit<G: Walked, T>(
    start: &G,
    actions: &[Action],
    comments: impl IntoIterator<Item = (u32, String)>,
    said: &[Said<T>],
    read: impl Fn(&G, &T) -> Option<Vec<Action>>,
) -> (Notes, u32) {
    let mut fitting = Fitting::default();
    for (ply, comment) in comments {
        if ply as usize <= actions.len() {
            fitting.comment(At::Main(ply), &comment);
        } else {
            fitting.left_out += 1;
        }
    }
    let places: Vec<At> = said.iter().map(|said| said.after).collect();
    let mut landed: Vec<Option<At>> = vec![None; said.len()];
    walk(start, actions, &places, |index, game| {
        let Said { after, what, comment } = &said[index];
        let mut at = match *after {
            At::Main(ply) => At::Main(ply),
            At::Side(parent) => landed[parent as usize]?,
        };
        let played = read(game, what)?;
        let mut game = game.clone();
        for action in played {
            if !game.step(action) {
                return None;
            }
            at = fitting.add(at, action)?;
        }
        fitting.comment(at, comment);
        landed[index] = Some(at);
        Some(game)
    });
    fitting.left_out += landed.iter().filter(|landed| landed.is_none()).count() as u32;
    let mut notes = fitting.notes;
    // Moves that came twice are one, so that those after them may be out of order.
    notes.put_in_order();
    (notes, fitting.left_out)
}

/// Notes that are being put together.
#[derive(Default)]
struct Fitting {
    notes: Notes,
    known: HashMap<(At, Action), u32>,
    /// How many moves stand after each position.
    children: HashMap<At, u32>,
    /// Of each move: how many side lines it stands in.
    nested: Vec<u16>,
    bytes: usize,
    left_out: u32,
}

impl Fitting {
    fn add(&mut self, after: At, action: Action) -> Option<At> {
        if let Some(&known) = self.known.get(&(after, action)) {
            return Some(At::Side(known));
        }
        let children = self.children.entry(after).or_default();
        let nested = match after {
            At::Main(_) => 1,
            At::Side(parent) => self.nested[parent as usize] + u16::from(*children > 0),
        };
        if self.notes.moves.len() >= MOST_MOVES || nested > MOST_NESTED {
            return None;
        }
        *children += 1;
        let index = self.notes.moves.len() as u32;
        self.nested.push(nested);
        self.known.insert((after, action), index);
        self.notes.moves.push(SideMove { after, action, comment: String::new() });
        Some(At::Side(index))
    }

    /// Adds to the comment on a position, as far as there is room.
    fn comment(&mut self, at: At, comment: &str) {
        let comment = tidy(comment);
        let there = self.notes.comment(at);
        if comment.is_empty() || comment == there {
            return;
        }
        let mut whole = if there.is_empty() { comment } else { format!("{there}\n{comment}") };
        if let Some((end, _)) = whole.char_indices().nth(MOST_CHARS) {
            whole.truncate(end);
            whole.truncate(whole.trim_end().len());
            self.left_out += 1;
        }
        let bytes = self.bytes - there.len() + whole.len();
        if bytes > MOST_BYTES {
            self.left_out += 1;
            return;
        }
        self.bytes = bytes;
        match at {
            At::Main(ply) => drop(self.notes.comments.insert(ply, whole)),
            At::Side(index) => self.notes.moves[index as usize].comment = whole,
        }
    }
}
