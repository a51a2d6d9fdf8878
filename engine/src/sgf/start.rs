//! Positions that were set up: the stones and the side to move of a root.

use super::go::{color, side_to_move};
use super::{Collection, Tree, Value, points};
use crate::start::{Start, StartPiece};
use crate::{GameKind, Point, Side, TextError};

/// Reads the start of the first tree of a file. `None` if the tree goes on with moves.
pub(crate) fn read_start(game: GameKind, bytes: &[u8]) -> Result<Option<Start>, TextError> {
    let collection = Collection::read(bytes).map_err(|stopped| stopped.error)?;
    let begin = TextError { line: 1, column: 1, expected: "(; to begin a game" };
    let tree = collection.games.first().ok_or(begin)?;
    if tree.len() > 1 || ["B", "W"].iter().any(|name| tree.root().value(name).is_some()) {
        return Ok(None);
    }
    let root = tree.root();
    let number = number(game);
    if let Some(value) = root.value("GM").filter(|_| tree.game_number() != Some(number)) {
        return Err(value.error("the number of this game"));
    }
    let usual = if game == GameKind::Go { 19 } else { 15 };
    let size = root.text("SZ").map_or(Some(usual), |text| super::square(&text));
    let start = size.and_then(|size| Start::empty(game, size));
    let mut start = start.ok_or_else(|| {
        let expected = "a size that is played";
        root.value("SZ").map_or(TextError { expected, ..begin }, |value| value.error(expected))
    })?;
    let size = u16::from(start.rows());
    let read = |text: &str| {
        points::read(text, size).or_else(|| text.parse().ok().filter(|_| game == GameKind::Gomoku))
    };
    for (name, side) in [("AB", Some(Side::First)), ("AW", Some(Side::Second)), ("AE", None)] {
        for at in points::list(root.values(name), read)? {
            let outside = || root.values(name)[0].error("a point of the board");
            start = start.with(at, side.map(StartPiece::stone)).ok_or_else(outside)?;
        }
    }
    Ok(Some(start.with_turn(side_to_move(root)?.unwrap_or(Side::First))))
}

/// A file with the start as its only node.
pub(crate) fn write_start(start: &Start) -> String {
    let size = u16::from(start.rows());
    let mut tree = Tree::default();
    let root = tree.root_mut();
    super::begin(root, number(start.game()), size);
    for (name, side) in [("AB", Side::First), ("AW", Side::Second)] {
        let stones = start.pieces().filter(|(_, piece)| piece.side == side);
        let list: Vec<Value> =
            stones.map(|(at, _): (Point, _)| Value::new(&points::write(at, size))).collect();
        if !list.is_empty() {
            root.set(name, list);
        }
    }
    root.set_text("PL", color(start.turn()));
    Collection { games: vec![tree] }.write()
}

fn number(game: GameKind) -> u32 {
    if game == GameKind::Go { 1 } else { 4 }
}
