//! SGF, the Smart Game Format `FF[4]` (red-bean.com/sgf): records of Go (`GM[1]`) and gomoku (`GM[4]`).
//!
//! This module contains the tree of nodes, independent of the game; `encoding` the character encodings; `go` and `gomoku`
//! the properties of these games. The tree keeps everything that it has read, including variations and unknown properties,
//! and writes it again, always as UTF-8.
//!
//! Why not a crate: `sgf-parse` 4.2.8, the best maintained one, requires decoded text, reports most errors without a
//! position, returns nothing of truncated files, and walks the tree recursively.
//!
//! Common errors of other programs are accepted: text before and after the games, property names with lower-case letters
//! (`FF[3]`), spaces between name and value, duplicate properties in a node.

mod encoding;
mod go;
mod gomoku;
pub(crate) mod notes;
mod points;
mod start;

use std::fmt::Write as _;
use std::time::Duration;

use crate::record::Interrupted;
use crate::{Side, TextError};

pub use go::GoRecord;
pub use gomoku::GomokuRecord;
pub(crate) use start::{read_start, write_start};

/// All games of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// In order. A file that was read without an error has at least one.
    pub games: Vec<Tree>,
}

/// A game with its variations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The root is first; children come after their parents. A flat list, so that depth is unlimited.
    nodes: Vec<Node>,
}

/// A node: the properties of one point in a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// In order; names are unique.
    pub properties: Vec<Property>,
    /// Indices of the child nodes; the first is the main line.
    children: Vec<usize>,
}

/// A property with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Upper-case letters.
    pub name: String,
    /// At least one.
    pub values: Vec<Value>,
}

/// A value, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// As in the file, with backslash escapes.
    raw: String,
    /// Line of the first character inside the bracket, from 1; 0 if not read from a file.
    pub line: u32,
    /// Column in characters, from 1; 0 if not read from a file.
    pub column: u32,
}

impl Value {
    /// A value with this text, which is escaped.
    pub fn new(text: &str) -> Self {
        let mut raw = String::with_capacity(text.len());
        for c in text.chars() {
            if matches!(c, ']' | '\\') {
                raw.push('\\');
            }
            raw.push(c);
        }
        Self { raw, line: 0, column: 0 }
    }

    /// A composed value: `aa:cc`.
    fn pair(first: &str, second: &str) -> Self {
        let part = |text| Self::new(text).raw.replace(':', "\\:");
        Self { raw: format!("{}:{}", part(first), part(second)), line: 0, column: 0 }
    }

    /// The text without escapes. Escaped line ends are removed; other white space becomes a space, except line ends.
    pub fn text(&self) -> String {
        unescaped(&self.raw)
    }

    /// Both parts of a composed value, such as `aa:cc`, or an application and its version.
    pub fn parts(&self) -> Option<(String, String)> {
        let mut escaped = false;
        let at = self.raw.char_indices().find(|&(_, c)| {
            let colon = c == ':' && !escaped;
            escaped = c == '\\' && !escaped;
            colon
        });
        at.map(|(at, _)| (unescaped(&self.raw[..at]), unescaped(&self.raw[at + 1..])))
    }

    fn error(&self, expected: &'static str) -> TextError {
        TextError { line: self.line.max(1), column: self.column.max(1), expected }
    }
}

fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        let (escaped, c) = match c {
            '\\' => match rest.next() {
                Some(c) => (true, c),
                None => break,
            },
            c => (false, c),
        };
        let ends_line = matches!(c, '\n' | '\r');
        // Two different characters can form one line end.
        if ends_line && rest.peek().is_some_and(|&next| matches!(next, '\n' | '\r') && next != c) {
            rest.next();
        }
        match (ends_line, escaped) {
            (true, true) => {}
            (true, false) => text.push('\n'),
            (false, false) if c.is_whitespace() => text.push(' '),
            (false, _) => text.push(c),
        }
    }
    text
}

/// Maximum number of properties in a node: twice as many as `FF[4]` defines. Lookup is linear, so that an unlimited node
/// would take quadratic time.
const MOST_PROPERTIES: usize = 160;

impl Node {
    /// The first value of a property.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values(name).first()
    }

    /// All values of a property; empty if the node does not have it.
    pub fn values(&self, name: &str) -> &[Value] {
        let found = self.properties.iter().find(|property| property.name == name);
        found.map_or(&[], |property| &property.values)
    }

    /// The trimmed text of a property's first value; `None` if missing or empty.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = self.value(name)?.text();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Sets the values of a property, replacing earlier ones.
    pub fn set(&mut self, name: &str, values: Vec<Value>) {
        match self.properties.iter_mut().find(|property| property.name == name) {
            Some(property) => property.values = values,
            None => self.properties.push(Property { name: name.to_owned(), values }),
        }
    }

    /// Sets a property to this text.
    pub fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, vec![Value::new(text)]);
    }

    /// Remaining time of a side after this node (`BL`, `WL`).
    pub fn time_left(&self, side: Side) -> Option<Duration> {
        let name = if side == Side::First { "BL" } else { "WL" };
        seconds(&self.text(name)?)
    }

    /// Moves left to make in the present overtime period of a side (`OB`, `OW`).
    pub fn overtime_moves_left(&self, side: Side) -> Option<u32> {
        let name = if side == Side::First { "OB" } else { "OW" };
        self.text(name)?.parse().ok()
    }

    /// Sets the remaining time of a side after this node.
    pub fn set_time_left(&mut self, side: Side, left: Duration) {
        let name = if side == Side::First { "BL" } else { "WL" };
        self.set_text(name, &decimal(left));
    }
}

/// A number of seconds, with or without a fraction.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

fn decimal(time: Duration) -> String {
    let text = format!("{:.3}", time.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Tree {
    /// The root, with the properties of the whole game.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// The root, mutable.
    pub fn root_mut(&mut self) -> &mut Node {
        &mut self.nodes[0]
    }

    /// Number of nodes in all variations.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Always false: there is a root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Indices of the children of a node, main line first. The root has index 0.
    ///
    /// # Panics
    /// If there is no node with this index.
    pub fn children(&self, node: usize) -> &[usize] {
        &self.nodes[node].children
    }

    /// The node with this index; the root has index 0.
    pub fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    /// The nodes of the main line, root first.
    pub fn main_line(&self) -> impl Iterator<Item = &Node> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let node = &self.nodes[next?];
            next = node.children.first().copied();
            Some(node)
        })
    }

    /// Number of leaves, which is the number of variations including the main line.
    pub fn variations(&self) -> usize {
        self.nodes.iter().filter(|node| node.children.is_empty()).count()
    }

    /// Appends a child to a node, and returns its index.
    ///
    /// # Panics
    /// If there is no node with this index.
    pub fn add(&mut self, parent: usize, node: Node) -> usize {
        let number = self.nodes.len();
        self.nodes.push(Node { children: Vec::new(), ..node });
        self.nodes[parent].children.push(number);
        number
    }

    /// The game number (`GM`); 1 (Go) by default. `None`: not a number.
    pub fn game_number(&self) -> Option<u32> {
        self.root().text("GM").map_or(Some(1), |text| text.parse().ok())
    }

    /// The result (`RE`) as text: from the root, or from a later node of the main line, where some programs write it.
    pub fn result(&self) -> Option<String> {
        self.main_line().find_map(|node| node.text("RE"))
    }

    /// Main time of each side (`TM`).
    pub fn main_time(&self) -> Option<Duration> {
        seconds(&self.root().text("TM")?)
    }

    fn write(&self, text: &mut String) {
        // Pending work: a node to write, or a variation to close.
        enum Open {
            Node(usize),
            Variation(usize),
            End,
        }
        let mut open = vec![Open::Variation(0)];
        let mut width = 0;
        while let Some(next) = open.pop() {
            match next {
                Open::End => {
                    text.push(')');
                    width += 1;
                }
                Open::Variation(node) => {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push('(');
                    width = 1;
                    open.extend([Open::End, Open::Node(node)]);
                }
                Open::Node(number) => {
                    let node = &self.nodes[number];
                    let mut written = String::from(";");
                    for Property { name, values } in &node.properties {
                        written += name;
                        for value in values {
                            write!(written, "[{}]", value.raw).expect("writing to a String cannot fail");
                        }
                    }
                    let length = written.chars().count();
                    if width > 1 && width + length > LINE {
                        text.push('\n');
                        width = 0;
                    }
                    *text += &written;
                    width += length;
                    match node.children[..] {
                        [] => {}
                        [next] => open.push(Open::Node(next)),
                        _ => open.extend(node.children.iter().rev().map(|&child| Open::Variation(child))),
                    }
                }
            }
        }
        text.push('\n');
    }
}

/// Maximum line length of moves, because the specification asks for short lines.
const LINE: usize = 78;

impl Collection {
    /// Parses a file. On an error, returns everything before it; a file whose only error is an unknown encoding is read as
    /// Latin-1 and returned whole.
    pub fn read(bytes: &[u8]) -> Result<Self, Box<Interrupted<Self>>> {
        let (text, unknown) = encoding::decode(bytes);
        let mut reader = Reader { rest: &text, line: 1, column: 1 };
        let mut collection = Self::default();
        let mut result = collection.fill(&mut reader);
        if unknown && result.is_ok() {
            let declared = collection.games.iter().find_map(|tree| tree.root().value("CA"));
            result = declared.map_or(Ok(()), |value| Err(value.error("the name of a character encoding")));
        }
        match result {
            Ok(()) => Ok(collection),
            Err(error) => Err(Box::new(Interrupted { error, refusal: None, read: collection })),
        }
    }

    /// Writes the games, in UTF-8 with a declaration.
    pub fn write(&self) -> String {
        let mut text = String::new();
        for game in &self.games {
            let mut game = game.clone();
            game.root_mut().set_text("CA", "UTF-8");
            game.write(&mut text);
        }
        text
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), TextError> {
        if !reader.find_game() {
            return Err(TextError { line: 1, column: 1, expected: "(; to begin a game" });
        }
        loop {
            let mut tree = Tree { nodes: Vec::new() };
            let read = reader.tree(&mut tree);
            if !tree.nodes.is_empty() {
                self.games.push(tree);
            }
            read?;
            if !reader.find_game() {
                return Ok(());
            }
        }
    }
}

/// A file being parsed, with the present place.
struct Reader<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl Reader<'_> {
    fn error(&self, expected: &'static str) -> TextError {
        TextError { line: self.line, column: self.column, expected }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        // A single carriage return ends a line too.
        if c == '\n' || (c == '\r' && !self.rest.starts_with('\n')) {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace() || c == '\u{feff}') {
            self.next();
        }
    }

    /// Advances to the next `(` that is followed by `;`. False if there is none.
    fn find_game(&mut self) -> bool {
        while let Some(c) = self.peek() {
            if c == '(' && self.rest[1..].trim_start().starts_with(';') {
                return true;
            }
            self.next();
        }
        false
    }

    fn tree(&mut self, tree: &mut Tree) -> Result<(), TextError> {
        // The branching node of each open variation.
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut last = None;
        loop {
            self.skip_space();
            let here = self.error("");
            match self.peek() {
                Some('(') => {
                    self.next();
                    self.skip_space();
                    if self.peek() != Some(';') {
                        return Err(self.error("; to begin a node"));
                    }
                    open.push(last);
                }
                Some(')') => {
                    self.next();
                    // The first ( comes before anything else, so one is open.
                    last = open.pop().unwrap_or(None);
                    if open.is_empty() {
                        return Ok(());
                    }
                    // After a variation comes a sibling, or the end of the surrounding one.
                    self.skip_space();
                    if !matches!(self.peek(), Some('(' | ')') | None) {
                        return Err(self.error("( or ) after a variation"));
                    }
                }
                Some(';') => {
                    self.next();
                    let number = tree.nodes.len();
                    tree.nodes.push(Node::default());
                    if let Some(parent) = last {
                        tree.nodes[parent].children.push(number);
                    }
                    last = Some(number);
                    let node = &mut tree.nodes[number];
                    self.properties(node)?;
                }
                None => return Err(self.error(") to end the game")),
                Some(_) => return Err(TextError { expected: "; ( ) or a property", ..here }),
            }
        }
    }

    fn properties(&mut self, node: &mut Node) -> Result<(), TextError> {
        loop {
            self.skip_space();
            if !self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                return Ok(());
            }
            let mut name = String::new();
            // Property names of FF[1] to FF[3], which some programs still write, can contain digits, but not at the start.
            while let Some(c) = self.peek().filter(char::is_ascii_alphanumeric) {
                self.next();
                if c.is_ascii_uppercase() || (c.is_ascii_digit() && !name.is_empty()) {
                    name.push(c);
                }
            }
            if name.is_empty() {
                return Err(self.error("a property's name in capital letters"));
            }
            self.skip_space();
            if self.peek() != Some('[') {
                return Err(self.error("[ before a property's value"));
            }
            let mut values = Vec::new();
            let mut read = Ok(());
            while read.is_ok() && self.peek() == Some('[') {
                read = self.value().map(|value| values.push(value));
                self.skip_space();
            }
            if !values.is_empty() {
                match node.properties.iter().position(|property| property.name == name) {
                    Some(known) => node.properties[known].values.extend(values),
                    None if node.properties.len() < MOST_PROPERTIES => {
                        node.properties.push(Property { name, values });
                    }
                    None => return Err(self.error("fewer properties in one node")),
                }
            }
            read?;
        }
    }

    fn value(&mut self) -> Result<Value, TextError> {
        let open = self.error("] to end the value that begins here");
        self.next();
        let (line, column) = (self.line, self.column);
        let mut raw = String::new();
        loop {
            match self.next().ok_or(open)? {
                ']' => return Ok(Value { raw, line, column }),
                '\\' => {
                    raw.push('\\');
                    raw.push(self.next().ok_or(open)?);
                }
                c => raw.push(c),
            }
        }
    }
}

/// The first properties of every root.
fn begin(root: &mut Node, game: u32, size: u16) {
    root.set_text("GM", &game.to_string());
    root.set_text("FF", "4");
    root.set_text("CA", "UTF-8");
    root.set("AP", vec![Value::pair("Qiyou", env!("CARGO_PKG_VERSION"))]);
    root.set_text("SZ", &size.to_string());
}

/// The size of a square board: `19` or `19:19`.
fn square(text: &str) -> Option<u8> {
    match text.split_once(':') {
        None => text.parse().ok(),
        Some((columns, rows)) => columns.trim().parse().ok().filter(|_| columns.trim() == rows.trim()),
    }
}
