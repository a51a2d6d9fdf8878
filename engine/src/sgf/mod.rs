//! SGF, the Smart Game Format `FF[4]` (red-bean.com/sgf): records of Go (`GM[1]`) and gomoku (`GM[4]`).
//!
//! `mod.rs` is the tree of nodes as it stands in a file, whatever the game; `encoding` the characters of the file; `go` and
//! `gomoku` what the properties mean there. The tree keeps everything that it read, variations and unknown properties too,
//! and writes it again, always as UTF-8.
//!
//! Why not a crate: `sgf-parse` 4.2.8, the best kept one, takes text that is decoded already, says no place with most of its
//! errors, offers nothing of a file that ends too early, and walks the tree by recursion.
//!
//! What files of other programs get wrong is read all the same: text before and after the games, property names with small
//! letters (`FF[3]`), spaces between name and value, a property twice in one node.

mod encoding;
mod go;
mod gomoku;
mod points;

use std::fmt::Write as _;
use std::time::Duration;

use crate::record::Interrupted;
use crate::{Side, TextError};

pub use go::GoRecord;
pub use gomoku::GomokuRecord;

/// All games of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// In their order. A file that was read without an error has at least one.
    pub games: Vec<Tree>,
}

/// A game with its variations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The root is first; children come after their parents. In a list of their own so that no depth is too deep.
    nodes: Vec<Node>,
}

/// A node: what was done or noted at one point of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// In their order; no name twice.
    pub properties: Vec<Property>,
    /// Numbers of the nodes that may follow; the first is the main line.
    children: Vec<usize>,
}

/// A property with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Capital letters.
    pub name: String,
    /// At least one.
    pub values: Vec<Value>,
}

/// One value, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// As in the file: backslashes still stand before what they protect.
    raw: String,
    /// Line of the first character inside of the bracket, from 1; 0 where it was not read from a file.
    pub line: u32,
    /// Its column in characters, from 1; 0 where it was not read from a file.
    pub column: u32,
}

impl Value {
    /// A value that says this text.
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

    /// A value of two parts: `aa:cc`.
    fn pair(first: &str, second: &str) -> Self {
        let part = |text| Self::new(text).raw.replace(':', "\\:");
        Self { raw: format!("{}:{}", part(first), part(second)), line: 0, column: 0 }
    }

    /// The text without its escapes. An escaped end of line is none; other white space is a space, but line ends stay.
    pub fn text(&self) -> String {
        unescaped(&self.raw)
    }

    /// Both parts of a value such as `aa:cc`, or of an application and its version.
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
        // Two different characters may end one line.
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

/// Different properties in one node: twice what `FF[4]` knows. Properties are looked up one by one, so that a node without a
/// bound would be read in the square of its length.
const MOST_PROPERTIES: usize = 160;

impl Node {
    /// The first value of a property.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values(name).first()
    }

    /// All values of a property; none if the node has it not.
    pub fn values(&self, name: &str) -> &[Value] {
        let found = self.properties.iter().find(|property| property.name == name);
        found.map_or(&[], |property| &property.values)
    }

    /// The text of a property's first value, without space around it; `None` also where it is empty.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = self.value(name)?.text();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Gives a property these values, in place of what it had.
    pub fn set(&mut self, name: &str, values: Vec<Value>) {
        match self.properties.iter_mut().find(|property| property.name == name) {
            Some(property) => property.values = values,
            None => self.properties.push(Property { name: name.to_owned(), values }),
        }
    }

    /// Gives a property this text.
    pub fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, vec![Value::new(text)]);
    }

    /// Time that a side has left after this node (`BL`, `WL`).
    pub fn time_left(&self, side: Side) -> Option<Duration> {
        let name = if side == Side::First { "BL" } else { "WL" };
        seconds(&self.text(name)?)
    }

    /// Moves that a side has still to make in its period of overtime (`OB`, `OW`).
    pub fn overtime_moves_left(&self, side: Side) -> Option<u32> {
        let name = if side == Side::First { "OB" } else { "OW" };
        self.text(name)?.parse().ok()
    }

    /// Notes the time that a side has left after this node.
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
    /// The node with which the game begins: what is said of the whole game.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// The root, to be changed.
    pub fn root_mut(&mut self) -> &mut Node {
        &mut self.nodes[0]
    }

    /// How many nodes there are in all variations.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: there is always a root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Numbers of the nodes that may follow this one, the main line first. The root is number 0.
    ///
    /// # Panics
    /// When there is no node of this number.
    pub fn children(&self, node: usize) -> &[usize] {
        &self.nodes[node].children
    }

    /// A node by its number; the root is number 0.
    pub fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    /// The nodes of the main line, the root first.
    pub fn main_line(&self) -> impl Iterator<Item = &Node> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let node = &self.nodes[next?];
            next = node.children.first().copied();
            Some(node)
        })
    }

    /// How many ways through the tree there are, the main line included.
    pub fn variations(&self) -> usize {
        self.nodes.iter().filter(|node| node.children.is_empty()).count()
    }

    /// Adds a node that may follow this one, after those that are there, and gives its number.
    ///
    /// # Panics
    /// When there is no node of this number.
    pub fn add(&mut self, parent: usize, node: Node) -> usize {
        let number = self.nodes.len();
        self.nodes.push(Node { children: Vec::new(), ..node });
        self.nodes[parent].children.push(number);
        number
    }

    /// Which game, by `GM`; 1 (Go) where nothing is said. `None`: not a number.
    pub fn game_number(&self) -> Option<u32> {
        self.root().text("GM").map_or(Some(1), |text| text.parse().ok())
    }

    /// How the game ended (`RE`), as the file says it: at the root, or at a later node of the main line, where some programs
    /// write it.
    pub fn result(&self) -> Option<String> {
        self.main_line().find_map(|node| node.text("RE"))
    }

    /// Main time of each side (`TM`).
    pub fn main_time(&self) -> Option<Duration> {
        seconds(&self.root().text("TM")?)
    }

    fn write(&self, text: &mut String) {
        // What is open: a node to write, or a variation to end.
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

/// Characters after which a line of moves ends, as the specification asks for short lines.
const LINE: usize = 78;

impl Collection {
    /// Reads a file. On an error everything before it is offered; a file whose only fault is an unknown encoding is read as
    /// Latin-1 and offered whole.
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

    /// Writes the games one after another, in UTF-8 and declared so.
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

/// A file being read, and where.
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
        // A carriage return alone ends a line too.
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

    /// Goes to the next `(` that a `;` follows. False, and nothing is left: there is none.
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
        // For each variation that is open: the node that it branches off from.
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
                    // What follows a variation is another of the same node, or the end of the one around it.
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
            // Digits are in names of FF[1] to FF[3] that some programs still write, but none begins with one.
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

/// The properties that every game's root begins with.
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
