//! SGF properties of Go.
//!
//! | property | here |
//! |---|---|
//! | `SZ` | size, 19 where nothing is said; only square boards |
//! | `RU` | `Japanese`, `Korean`: territory; `AGA`, `NZ`, `Ing` and what says `situational`: situational superko; else area |
//! | `KM` | komi in points; as Chinese programs write it also 3.75 stones (`3.75`) or hundredths of them (`375`) |
//! | `HA` with `AB` | stones on star points or free ones; more than nine, or stones elsewhere, are a position set up |
//! | `AB AW AE PL` | stones set up and the side to move, at the root or later; earlier boards are then forgotten |
//! | `B W` | a move; empty, or `tt` on boards up to 19, is a pass. A side that moves twice in a row is taken at its word |
//! | `TB TW RE` | after two passes: stones inside of the other's territory are dead, and both sides agree; without territory if the count gives the result |
//! | `TM OT BL WL OB OW` | clocks: [`Tree::main_time`], [`Node::time_left`], [`Node::overtime_moves_left`] |
//!
//! Marked dead stones are written as `TB` and `TW`; `Resume` is not written, because it follows from a move after two
//! passes.

use super::{Node, Tree, Value, points};
use crate::go::setup::{points_text, read_points};
use crate::go::{Go, GoSetup, Handicap, Scoring, Superko};
use crate::record::Interrupted;
use crate::{Action, Game, Piece, Point, Side, TextError};

/// The main line of a game of Go.
#[derive(Clone, Debug)]
pub struct GoRecord {
    /// The position before the first action: the initial one, or the one after the last setup node.
    pub start: Go,
    /// The actions from there on.
    pub actions: Vec<Action>,
    /// How many actions there are after each node of the main line; 0 before the start.
    pub plies: Vec<u32>,
    /// The final position.
    pub game: Go,
    /// The result (`RE`): `B+3.5`, `W+R`, `0`.
    pub result: Option<String>,
}

impl GoRecord {
    /// Replays the main line of a tree. On an error, returns the moves before it; none if the root is invalid.
    pub fn read(tree: &Tree) -> Result<Self, Box<Interrupted<Option<Self>>>> {
        let start = start(tree).map_err(|error| Interrupted { error, refusal: None, read: None })?;
        let result = tree.result();
        let mut record = Self { game: start.clone(), start, actions: Vec::new(), plies: Vec::new(), result };
        for (n, node) in tree.main_line().enumerate() {
            if let Err((error, refusal)) = record.follow(node, n == 0) {
                return Err(Box::new(Interrupted { error, refusal, read: Some(record) }));
            }
            record.plies.push(record.actions.len() as u32);
        }
        Ok(record)
    }

    /// A tree of these actions from this position. Names, dates and clocks can be added to its nodes.
    ///
    /// # Panics
    /// If an action is illegal, which is a bug of the caller.
    pub fn write(start: &Go, actions: &[Action]) -> Tree {
        Self::write_nodes(start, actions).0
    }

    /// As [`Self::write`], and the node of the position after each number of actions.
    pub(super) fn write_nodes(start: &Go, actions: &[Action]) -> (Tree, Vec<usize>) {
        let setup = start.setup();
        let size = u16::from(setup.size);
        let mut tree = Tree::default();
        let root = tree.root_mut();
        super::begin(root, 1, size);
        root.set_text("RU", rules_name(setup));
        root.set_text("KM", &points_text(setup.komi_half_points.into()));
        let at = |point| Value::new(&points::write(point, size));
        let mut actions = actions;
        let mut nodes = vec![0];
        if setup.handicap.stones() > 0 {
            root.set_text("HA", &setup.handicap.stones().to_string());
        }
        let mut game = start.clone();
        let mut black: Vec<Point> = stones(start, Side::First);
        // In SGF the stones of a free handicap are setup stones, not moves.
        while let Some((&first, rest)) = actions.split_first().filter(|_| game.is_placing_handicap()) {
            act(&mut game, first);
            if let Action::Place(point) = first {
                black.push(point);
            }
            nodes.push(0);
            actions = rest;
        }
        let white = stones(start, Side::Second);
        for (name, list) in [("AB", &black), ("AW", &white)] {
            if !list.is_empty() {
                root.set(name, list.iter().map(|&point| at(point)).collect());
            }
        }
        if !black.is_empty() || !white.is_empty() || game.turn() == Side::Second {
            root.set_text("PL", color(game.turn()));
        }
        let mut last = 0;
        for &action in actions {
            let side = game.turn();
            act(&mut game, action);
            if let Some(node) = move_node(action, side, size) {
                last = tree.add(last, node);
            }
            nodes.push(last);
        }
        if game.is_agreeing() || game.outcome().is_some() {
            let score = game.score();
            let node = &mut tree.nodes[last];
            for (name, side) in [("TB", Side::First), ("TW", Side::Second)] {
                let list: Vec<Value> = score
                    .surrounded
                    .iter()
                    .filter(|(_, of)| *of == side)
                    .map(|&(point, _)| at(point))
                    .collect();
                if !list.is_empty() && game.outcome().is_some() {
                    node.set(name, list);
                }
            }
        }
        if game.outcome().is_some() {
            tree.root_mut().set_text("RE", &result(&game));
        }
        (tree, nodes)
    }

    fn follow(
        &mut self,
        node: &Node,
        is_root: bool,
    ) -> Result<(), (TextError, Option<crate::IllegalAction>)> {
        let size = u16::from(self.game.setup().size);
        if !is_root {
            let changes = changes(node, size).map_err(|error| (error, None))?;
            let turn = side_to_move(node).map_err(|error| (error, None))?;
            if !changes.is_empty() || turn.is_some() {
                let turn = turn.unwrap_or(self.game.turn());
                let game = self.game.edited(&changes, turn).map_err(|_| {
                    let value = ["AB", "AW", "AE"].iter().find_map(|name| node.value(name));
                    let expected = "stones of which each chain has a liberty";
                    (value.map_or(TextError { line: 1, column: 1, expected }, |v| v.error(expected)), None)
                })?;
                self.begin_again(game);
            }
        }
        for property in &node.properties {
            let side = match property.name.as_str() {
                "B" => Side::First,
                "W" => Side::Second,
                _ => continue,
            };
            for value in &property.values {
                let text = value.text();
                let action = match text.trim() {
                    "" => Action::Pass,
                    "tt" if size <= 19 => Action::Pass,
                    text => {
                        let point = points::read(text, size);
                        Action::Place(point.ok_or_else(|| (value.error("a point of the board"), None))?)
                    }
                };
                if self.game.is_agreeing() {
                    self.play(Action::Resume)
                        .map_err(|refusal| (value.error("a legal move"), Some(refusal)))?;
                }
                if self.game.turn() != side
                    && !self.game.is_placing_handicap()
                    && let Ok(game) = self.game.edited(&[], side)
                {
                    self.begin_again(game);
                }
                self.play(action).map_err(|refusal| (value.error("a legal move"), Some(refusal)))?;
            }
        }
        if self.game.is_agreeing() {
            self.agree(node, size);
        }
        Ok(())
    }

    fn begin_again(&mut self, game: Go) {
        self.start = game.clone();
        self.game = game;
        self.actions.clear();
        self.plies.fill(0);
    }

    fn play(&mut self, action: Action) -> Result<(), crate::IllegalAction> {
        let mv = self.game.legal_move(action)?;
        self.game.play(mv);
        self.actions.push(action);
        Ok(())
    }

    /// Marks the stones inside the other side's territory as dead, if the node contains territory; then both sides agree.
    fn agree(&mut self, node: &Node, size: u16) {
        let read =
            |name| points::list(node.values(name), |text| points::read(text, size)).unwrap_or_default();
        let territory = [read("TB"), read("TW")];
        // Without territory, the result of the score decides whether there are dead stones; at the end of the line only.
        if territory.iter().all(Vec::is_empty)
            && (!node.children.is_empty() || self.result != Some(result(&self.game)))
        {
            return;
        }
        for side in Side::BOTH {
            for &point in &territory[side.index()] {
                let dead = self.game.at(point) == Some(side.other()) && !self.game.is_dead(point);
                if dead {
                    self.play(Action::Toggle(point)).expect("the stone's chain can be marked");
                }
            }
        }
        for _ in Side::BOTH {
            self.play(Action::Agree).expect("both may agree");
        }
    }
}

/// A node with this action of a side. `None`: SGF does not say it.
pub(super) fn move_node(action: Action, side: Side, size: u16) -> Option<Node> {
    let value = match action {
        Action::Place(point) => Value::new(&points::write(point, size)),
        Action::Pass => Value::new(""),
        _ => return None,
    };
    let mut node = Node::default();
    node.set(color(side), vec![value]);
    Some(node)
}

/// The actions of a node in a variation: none if it has no move, `None` if it is not legal here or sets up stones.
pub(super) fn side_actions(game: &Go, node: &Node) -> Option<Vec<Action>> {
    let size = u16::from(game.setup().size);
    let mut actions = Vec::new();
    let mut turn = game.turn();
    for property in &node.properties {
        let side = match property.name.as_str() {
            "B" => Side::First,
            "W" => Side::Second,
            "AB" | "AW" | "AE" | "PL" => return None,
            _ => continue,
        };
        for value in &property.values {
            let text = value.text();
            let action = match text.trim() {
                "" => Action::Pass,
                "tt" if size <= 19 => Action::Pass,
                text => Action::Place(points::read(text, size)?),
            };
            if game.is_agreeing() && actions.is_empty() {
                actions.push(Action::Resume);
                turn = resumed(game)?;
            }
            if side != turn {
                return None;
            }
            turn = turn.other();
            actions.push(action);
        }
    }
    Some(actions)
}

fn resumed(game: &Go) -> Option<Side> {
    let mut game = game.clone();
    let mv = game.legal_move(Action::Resume).ok()?;
    game.play(mv);
    Some(game.turn())
}

/// The score after removing the marked stones: `B+3.5`.
fn result(game: &Go) -> String {
    let [black, white] = game.score().half_points;
    let by = points_text(black.abs_diff(white));
    match black.cmp(&white) {
        std::cmp::Ordering::Greater => format!("B+{by}"),
        std::cmp::Ordering::Less => format!("W+{by}"),
        std::cmp::Ordering::Equal => "0".into(),
    }
}

fn act(game: &mut Go, action: Action) {
    let mv = game.legal_move(action).expect("the caller gives the actions of a game");
    game.play(mv);
}

fn stones(game: &Go, side: Side) -> Vec<Point> {
    let pieces = game.view().pieces.into_iter();
    pieces.filter(|piece| piece.side == side && piece.piece == Piece::Stone).map(|piece| piece.at).collect()
}

pub(super) fn color(side: Side) -> &'static str {
    match side {
        Side::First => "B",
        Side::Second => "W",
    }
}

pub(super) fn side_to_move(node: &Node) -> Result<Option<Side>, TextError> {
    let Some(value) = node.value("PL") else { return Ok(None) };
    match value.text().trim().to_ascii_lowercase().as_str() {
        "b" | "black" | "1" => Ok(Some(Side::First)),
        "w" | "white" | "2" => Ok(Some(Side::Second)),
        _ => Err(value.error("B or W, the side to move")),
    }
}

/// Stones added and removed by a node.
fn changes(node: &Node, size: u16) -> Result<Vec<(Point, Option<Side>)>, TextError> {
    let mut changes = Vec::new();
    for (name, stone) in [("AE", None), ("AB", Some(Side::First)), ("AW", Some(Side::Second))] {
        let list = points::list(node.values(name), |text| points::read(text, size))?;
        changes.extend(list.into_iter().map(|point| (point, stone)));
    }
    Ok(changes)
}

/// The setup, and the stones of the root.
fn start(tree: &Tree) -> Result<Go, TextError> {
    let root = tree.root();
    let at = |name: &str, expected| {
        let value = root.value(name);
        value.map_or(TextError { line: 1, column: 1, expected }, |value| value.error(expected))
    };
    if tree.game_number() != Some(1) {
        return Err(at("GM", "1, the number of Go"));
    }
    let mut setup = GoSetup { handicap: Handicap::None, ..GoSetup::default() };
    if let Some(text) = root.text("SZ") {
        let size = super::square(&text).ok_or_else(|| at("SZ", "the size of a square board"))?;
        setup.size = size;
        if !GoSetup::SIZES.contains(&size) {
            return Err(at("SZ", "a size of 2 to 25"));
        }
    }
    let rules = root.text("RU").unwrap_or_default().to_ascii_lowercase();
    let says =
        |wanted: &[&str]| rules.split(|c: char| !c.is_alphanumeric()).any(|word| wanted.contains(&word));
    if says(&["japanese", "japan", "jp", "korean", "korea", "kr", "territory", "日本"]) {
        setup.scoring = Scoring::Territory;
    }
    if says(&["situational", "aga", "nz", "zealand", "ing", "goe"]) {
        setup.superko = Superko::Situational;
    }
    setup.komi_half_points = match root.text("KM") {
        None => 0,
        Some(text) => komi(&text).ok_or_else(|| at("KM", "a komi of 0 to 127.5 points"))?,
    };
    let size = u16::from(setup.size);
    let changes = changes(root, size)?;
    let black: Vec<(u8, u8)> =
        changes.iter().map(|(point, _)| (point.column as u8, point.row as u8)).collect();
    let first = first_mover(tree);
    let handicap = match root.text("HA") {
        None => 0,
        Some(text) => text.parse::<u8>().map_err(|_| at("HA", "a number of handicap stones"))?,
    };
    // A handicap: exactly the stated number of black stones, and White to move.
    let only_black = changes.iter().all(|(_, stone)| *stone == Some(Side::First));
    let whites_move = side_to_move(root)?.or(first) != Some(Side::First);
    let is_handicap =
        only_black && black.len() == usize::from(handicap) && (2..=9).contains(&handicap) && whites_move;
    if is_handicap {
        let mut stars = setup.stars(handicap).unwrap_or_default();
        let mut placed = black;
        stars.sort_unstable();
        placed.sort_unstable();
        if stars == placed {
            let setup = GoSetup { handicap: Handicap::Stars(handicap), ..setup };
            return Ok(Go::new(&setup).expect("the board has these stars"));
        }
        let free = GoSetup { handicap: Handicap::Free(handicap), ..setup.clone() };
        if let Ok(mut game) = Go::new(&free) {
            for &(point, _) in &changes {
                // A duplicate point: setup stones, not a handicap.
                let Ok(mv) = game.legal_move(Action::Place(point)) else { break };
                game.play(mv);
            }
            if !game.is_placing_handicap() {
                return Ok(game);
            }
        }
    }
    let blacks_first = tree.main_line().skip(1).take(handicap.into()).all(|node| node.value("B").is_some());
    if changes.is_empty() && (2..=9).contains(&handicap) && blacks_first && tree.len() > usize::from(handicap)
    {
        let free = GoSetup { handicap: Handicap::Free(handicap), ..setup.clone() };
        if let Ok(game) = Go::new(&free) {
            return Ok(game);
        }
    }
    let game = Go::new(&setup).map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?;
    let turn = side_to_move(root)?.or(first).unwrap_or(Side::First);
    if changes.is_empty() && turn == Side::First {
        return Ok(game);
    }
    game.edited(&changes, turn).map_err(|_| {
        let name = if root.value("AB").is_some() { "AB" } else { "AW" };
        at(name, "stones of which each chain has a liberty")
    })
}

/// The side of the first move in the main line.
pub(super) fn first_mover(tree: &Tree) -> Option<Side> {
    tree.main_line().find_map(|node| {
        node.properties.iter().find_map(|property| match property.name.as_str() {
            "B" => Some(Side::First),
            "W" => Some(Side::Second),
            _ => None,
        })
    })
}

/// Komi in half points, from any of the forms that programs write.
fn komi(text: &str) -> Option<u8> {
    // Fox writes hundredths of stones, where one stone is two points: 375 is 7.5 points.
    if let Ok(hundredths) = text.parse::<u32>()
        && hundredths >= 200
    {
        let half_points = hundredths * 4 / 100;
        return u8::try_from(half_points).ok();
    }
    if let Some(points) = read_points(text) {
        return Some(points);
    }
    // Quarters are of stones: 3.75 stones are 7.5 points.
    let stones: f64 = text.parse().ok()?;
    let half_points = stones * 4.0;
    let whole = half_points.fract() == 0.0 && (0.0..=255.0).contains(&half_points);
    whole.then_some(half_points as u8)
}

fn rules_name(setup: &GoSetup) -> &'static str {
    match (setup.scoring, setup.superko) {
        (Scoring::Area, Superko::Positional) => "Chinese",
        (Scoring::Area, Superko::Situational) => "AGA",
        (Scoring::Territory, Superko::Positional) => "Japanese",
        (Scoring::Territory, Superko::Situational) => "Japanese, situational superko",
    }
}
