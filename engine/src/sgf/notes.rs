//! Comments (`C`, and a node's name `N` before it) and variations of a tree as [`Notes`], and the way back.
//!
//! Marks on the board, evaluations and clocks of variations are not notes. What SGF does not say of Go, the marking of dead
//! stones and agreement, cannot be said in variations either: a side line ends there.

use super::{GoRecord, GomokuRecord, Node, Tree, go, gomoku};
use crate::go::Go;
use crate::notes::{At, Notes, Said, Walked, fit};
use crate::{Action, AnyGame, Game};

impl GoRecord {
    /// Comments and variations beside this main line of the tree, and how many were left out.
    pub fn notes(&self, tree: &Tree) -> (Notes, u32) {
        read(tree, &self.plies, &self.start, &self.actions, go::side_actions)
    }
}

impl GomokuRecord {
    /// Comments and variations beside this main line of the tree, and how many were left out.
    pub fn notes(&self, tree: &Tree) -> (Notes, u32) {
        read(tree, &self.plies, &self.start, &self.actions, gomoku::side_actions)
    }
}

/// The tree of a match with its notes. `None`: SGF has no such game.
pub(crate) fn write(start: &AnyGame, actions: &[Action], notes: &Notes) -> Option<Tree> {
    Some(match start {
        AnyGame::Go(start) => {
            let (mut tree, nodes) = GoRecord::write_nodes(start, actions);
            let size = u16::from(start.setup().size);
            add(&mut tree, &nodes, start, actions, notes, |game: &Go, action| {
                go::move_node(action, game.turn(), size)
            });
            tree
        }
        AnyGame::Gomoku(start) => {
            let (mut tree, nodes) = GomokuRecord::write_nodes(start, actions);
            add(&mut tree, &nodes, start, actions, notes, gomoku::move_node);
            tree
        }
        _ => return None,
    })
}

fn comment(node: &Node) -> String {
    let said = ["N", "C"].into_iter().filter_map(|name| node.text(name));
    said.collect::<Vec<String>>().join("\n")
}

fn read<G: Walked>(
    tree: &Tree,
    plies: &[u32],
    start: &G,
    actions: &[Action],
    side_actions: impl Fn(&G, &Node) -> Option<Vec<Action>>,
) -> (Notes, u32) {
    let mut comments = Vec::new();
    let mut said: Vec<Said<usize>> = Vec::new();
    // Nodes of variations that are still to be read, with what is before them.
    let mut open: Vec<(usize, At)> = Vec::new();
    let mut node = 0;
    for &ply in plies {
        comments.push((ply, comment(&tree.nodes[node])));
        let Some((&next, beside)) = tree.nodes[node].children.split_first() else { break };
        open.extend(beside.iter().map(|&child| (child, At::Main(ply))));
        node = next;
    }
    open.reverse();
    while let Some((node, after)) = open.pop() {
        let here = At::Side(said.len() as u32);
        said.push(Said { after, what: node, comment: comment(&tree.nodes[node]) });
        open.extend(tree.nodes[node].children.iter().rev().map(|&child| (child, here)));
    }
    fit(start, actions, comments, &said, |game, &node| side_actions(game, &tree.nodes[node]))
}

fn add<G: Walked>(
    tree: &mut Tree,
    nodes: &[usize],
    start: &G,
    actions: &[Action],
    notes: &Notes,
    move_node: impl Fn(&G, Action) -> Option<Node>,
) {
    let mut said: Vec<(usize, &str)> = Vec::new();
    for (ply, comment) in notes.comments() {
        said.extend(nodes.get(ply as usize).map(|&node| (node, comment)));
    }
    let mut side: Vec<usize> = Vec::with_capacity(notes.moves().len());
    notes.walk(start, actions, |index, game| {
        let moved = &notes.moves()[index];
        let parent = match moved.after {
            At::Main(ply) => nodes[ply as usize],
            At::Side(parent) => side[parent as usize],
        };
        let node = move_node(game, moved.action).map_or(parent, |node| tree.add(parent, node));
        side.push(node);
        if !moved.comment.is_empty() {
            said.push((node, &moved.comment));
        }
    });
    for (node, comment) in said {
        let node = &mut tree.nodes[node];
        // Actions that SGF does not say share a node.
        let whole = match node.text("C") {
            Some(there) => format!("{there}\n{comment}"),
            None => comment.to_owned(),
        };
        node.set_text("C", &whole);
    }
}
