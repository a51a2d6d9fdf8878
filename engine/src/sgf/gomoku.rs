//! SGF properties of gomoku and renju.
//!
//! | property | here |
//! |---|---|
//! | `SZ` | size, 15 where nothing is said; only square boards |
//! | `RU` | what says `renju`: renju; `standard` or `exact`: exactly five; else freestyle; `no-edge` as in [`GomokuSetup`] |
//! | `AB AW AE PL` | stones set up and the colour of the next, at the root or later |
//! | `B W` | a stone: two letters as in Go, or letter and number as `h8`. A colour that comes twice is taken at its word |
//! | `QC` | of this program: a choice of an opening, `black`, `white`, `more` or `offer5`. A tree that has one and no `QO` begins with swap2 |
//! | `QF` | of this program: a fifth move that Black offers; the one that White chooses is a `B` |
//! | `QO` | of this program, at the root: the opening rule in a word of [`GomokuOpening::word`]; free and swap2 are not said |
//! | `TM OT BL WL OB OW` | clocks, see [`Tree::main_time`] and [`Node::time_left`] |
//!
//! `B` and `W` are colours: after a swap of colours `PB` is the name of the second player.

use super::go::{color, first_mover, side_to_move};
use super::{Node, Tree, Value, points};
use crate::record::Interrupted;
use crate::{
    Action, Choice, Game, Gomoku, GomokuOpening, GomokuRule, GomokuSetup, IllegalAction, Outcome, Point,
    Side, TextError,
};

/// The main line of a game of gomoku.
#[derive(Clone)]
pub struct GomokuRecord {
    /// The position before the first action: the initial one, or the one after the last setup node.
    pub start: Gomoku,
    /// The actions from there on.
    pub actions: Vec<Action>,
    /// How many actions there are after each node of the main line; 0 before the start.
    pub plies: Vec<u32>,
    /// The final position.
    pub game: Gomoku,
    /// The result (`RE`): `B+`, `W+R`, `0`.
    pub result: Option<String>,
}

const CHOICE: &str = "QC";
const FIFTH: &str = "QF";
const OPENING: &str = "QO";

impl GomokuRecord {
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
    pub fn write(start: &Gomoku, actions: &[Action]) -> Tree {
        Self::write_nodes(start, actions).0
    }

    /// As [`Self::write`], and the node of the position after each number of actions.
    pub(super) fn write_nodes(start: &Gomoku, actions: &[Action]) -> (Tree, Vec<usize>) {
        let setup = start.setup();
        let size = u16::from(setup.size);
        let mut tree = Tree::default();
        let root = tree.root_mut();
        super::begin(root, 4, size);
        let edge = if setup.edge_five_wins { "" } else { " no-edge" };
        root.set_text("RU", &format!("{}{edge}", setup.rule.word()));
        if !matches!(setup.opening, GomokuOpening::Free | GomokuOpening::Swap2) {
            root.set_text(OPENING, setup.opening.word());
        }
        let at = |point| Value::new(&points::write(point, size));
        let pieces = start.view().pieces;
        for (name, side) in [("AB", Side::First), ("AW", Side::Second)] {
            let list: Vec<Value> =
                pieces.iter().filter(|piece| piece.side == side).map(|piece| at(piece.at)).collect();
            if !list.is_empty() {
                root.set(name, list);
            }
        }
        if !pieces.is_empty() || start.next_color() == Side::Second {
            root.set_text("PL", color(start.next_color()));
        }
        let mut game = start.clone();
        let (mut last, mut nodes) = (0, vec![0]);
        for &action in actions {
            let mv = game.legal_move(action).expect("the caller gives the actions of a game");
            if let Some(node) = move_node(&game, action) {
                last = tree.add(last, node);
            }
            game.play(mv);
            nodes.push(last);
        }
        if let Some(Outcome { winner, .. }) = game.outcome() {
            let result = winner.map_or("0".into(), |player| format!("{}+", color(game.color(player))));
            tree.root_mut().set_text("RE", &result);
        }
        (tree, nodes)
    }

    fn follow(&mut self, node: &Node, is_root: bool) -> Result<(), (TextError, Option<IllegalAction>)> {
        if !is_root {
            let changes = changes(node, self.game.setup()).map_err(|error| (error, None))?;
            let next = side_to_move(node).map_err(|error| (error, None))?;
            if !changes.is_empty() || next.is_some() {
                let next = next.unwrap_or(self.game.next_color());
                self.begin_again(self.game.edited(&changes, next));
            }
        }
        for property in &node.properties {
            for value in &property.values {
                let text = value.text();
                let text = text.trim();
                let (action, side) = match property.name.as_str() {
                    "B" => (place(text, self.game.setup()), Some(Side::First)),
                    "W" => (place(text, self.game.setup()), Some(Side::Second)),
                    CHOICE => (Choice::from_word(text).map(Action::Choose), None),
                    FIFTH => (place(text, self.game.setup()), None),
                    _ => continue,
                };
                // A move without a point is a pass.
                if text.is_empty() {
                    continue;
                }
                let action = action.ok_or_else(|| (value.error("a point of the board"), None))?;
                if side.is_some_and(|side| side != self.game.next_color())
                    && self.game.choices().is_empty()
                    && self.game.outcome().is_none()
                {
                    self.begin_again(self.game.edited(&[], self.game.next_color().other()));
                }
                let is_fifth = property.name == FIFTH;
                let mv = match action {
                    Action::Place(_) if is_fifth != self.game.is_offering() => Err(IllegalAction::WrongKind),
                    _ => self.game.legal_move(action),
                };
                let mv = mv.map_err(|refusal| (value.error("a legal move"), Some(refusal)))?;
                self.game.play(mv);
                self.actions.push(action);
            }
        }
        Ok(())
    }

    fn begin_again(&mut self, game: Gomoku) {
        self.start = game.clone();
        self.game = game;
        self.actions.clear();
        self.plies.fill(0);
    }
}

/// A node with this action in a position. `None`: SGF does not say it.
pub(super) fn move_node(game: &Gomoku, action: Action) -> Option<Node> {
    let mut node = Node::default();
    let size = u16::from(game.setup().size);
    match action {
        Action::Choose(choice) => node.set_text(CHOICE, choice.word()),
        Action::Place(point) => {
            let name = if game.is_offering() { FIFTH } else { color(game.next_color()) };
            node.set(name, vec![Value::new(&points::write(point, size))]);
        }
        _ => return None,
    }
    Some(node)
}

/// The action of a node in a variation: none if it has no move, `None` if it is no move here or sets up stones.
pub(super) fn side_actions(game: &Gomoku, node: &Node) -> Option<Vec<Action>> {
    let mut actions = Vec::new();
    for property in &node.properties {
        let side = match property.name.as_str() {
            "B" => Some(Side::First),
            "W" => Some(Side::Second),
            CHOICE | FIFTH => None,
            "AB" | "AW" | "AE" | "PL" => return None,
            _ => continue,
        };
        for value in &property.values {
            let text = value.text();
            let text = text.trim();
            // A move without a point is a pass.
            if text.is_empty() {
                continue;
            }
            // One move in a node: a second one is of no known colour.
            let is_fifth = property.name == FIFTH;
            if !actions.is_empty()
                || side.is_some_and(|side| side != game.next_color() || game.is_offering())
                || (is_fifth && !game.is_offering())
            {
                return None;
            }
            actions.push(match side {
                None if !is_fifth => Action::Choose(Choice::from_word(text)?),
                _ => place(text, game.setup())?,
            });
        }
    }
    Some(actions)
}

/// A stone on a point, in either notation.
fn place(text: &str, setup: &GomokuSetup) -> Option<Action> {
    let size = u16::from(setup.size);
    let point = points::read(text, size).or_else(|| {
        let point: Point = text.parse().ok()?;
        (point.column < size && point.row < size).then_some(point)
    });
    point.map(Action::Place)
}

fn changes(node: &Node, setup: &GomokuSetup) -> Result<Vec<(Point, Option<Side>)>, TextError> {
    let mut changes = Vec::new();
    for (name, stone) in [("AE", None), ("AB", Some(Side::First)), ("AW", Some(Side::Second))] {
        let read = |text: &str| match place(text, setup) {
            Some(Action::Place(point)) => Some(point),
            _ => None,
        };
        changes.extend(points::list(node.values(name), read)?.into_iter().map(|point| (point, stone)));
    }
    Ok(changes)
}

/// The setup, and the stones of the root.
fn start(tree: &Tree) -> Result<Gomoku, TextError> {
    let root = tree.root();
    let at = |name: &str, expected| {
        let value = root.value(name);
        value.map_or(TextError { line: 1, column: 1, expected }, |value| value.error(expected))
    };
    // A file without a game number is read as the game that it is opened as.
    if root.value("GM").is_some() && tree.game_number() != Some(4) {
        return Err(at("GM", "4, the number of gomoku"));
    }
    let mut setup = GomokuSetup::default();
    if let Some(text) = root.text("SZ") {
        setup.size = super::square(&text).ok_or_else(|| at("SZ", "the size of a square board"))?;
        if !GomokuSetup::SIZES.contains(&setup.size) {
            return Err(at("SZ", "a size of 5 to 20"));
        }
    }
    let rules = root.text("RU").unwrap_or_default().to_ascii_lowercase();
    if rules.contains("renju") {
        setup.rule = GomokuRule::Renju;
    } else if rules.contains("standard") || rules.contains("exact") {
        setup.rule = GomokuRule::Standard;
    }
    setup.edge_five_wins = !rules.contains("no-edge");
    if let Some(word) = root.text(OPENING) {
        setup.opening =
            GomokuOpening::from_word(word.trim()).ok_or_else(|| at(OPENING, "an opening rule"))?;
    } else if tree.main_line().any(|node| node.value(CHOICE).is_some()) {
        setup.opening = GomokuOpening::Swap2;
    }
    let said = if root.value(OPENING).is_some() { OPENING } else { "SZ" };
    let game = Gomoku::new(&setup).map_err(|error| at(said, error.0))?;
    let changes = changes(root, &setup)?;
    let next = side_to_move(root)?.or(first_mover(tree)).unwrap_or(Side::First);
    if changes.is_empty() && next == Side::First { Ok(game) } else { Ok(game.edited(&changes, next)) }
}
