//! The tree of what has been tried.

use super::stones::At;

/// A move that has been thought of at some node, and what came of it. All counts of wins are those of the side that makes
/// the move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Where its children begin in the tree.
    first: u32,
    children: u16,
    pub(super) at: At,
    /// Playouts through here, and wins among them.
    pub(super) visits: f32,
    pub(super) wins: f32,
    /// Playouts through the parent in which the side made this move at any later time, and wins among them.
    pub(super) later_visits: f32,
    pub(super) later_wins: f32,
    pub(super) prior_visits: f32,
    pub(super) prior_wins: f32,
}

impl Node {
    pub(super) const fn new(at: At, prior_visits: f32, prior_wins: f32) -> Self {
        Self {
            first: 0,
            children: 0,
            at,
            visits: 0.0,
            wins: 0.0,
            later_visits: 0.0,
            later_wins: 0.0,
            prior_visits,
            prior_wins,
        }
    }

    pub(super) const fn has_children(&self) -> bool {
        self.children > 0
    }

    /// Share of wins, priors included.
    pub(super) fn share(&self) -> f32 {
        (self.wins + self.prior_wins) / (self.visits + self.prior_visits).max(1.0)
    }

    /// What the move is worth trying: its own playouts, and before there are many of them those in which it came later
    /// (RAVE; the weight as in D. Silver, "Reinforcement Learning and Simulation-Based Search in Computer Go", 2009, with
    /// `equivalence` for the number of playouts at which both count alike).
    #[inline]
    pub(super) fn worth(&self, equivalence: f32) -> f32 {
        let visits = self.visits + self.prior_visits;
        let own = (self.wins + self.prior_wins) / visits;
        if self.later_visits == 0.0 {
            return own;
        }
        let later = (self.later_wins + self.prior_wins) / (self.later_visits + self.prior_visits);
        let weight =
            self.later_visits / (self.later_visits + visits + visits * self.later_visits / equivalence);
        weight * later + (1.0 - weight) * own
    }
}

/// Nodes in one block of memory, the root first, children side by side and after their parents.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Nodes that there may be.
    most: usize,
}

pub(super) const ROOT: u32 = 0;

impl Tree {
    /// A tree that is a root, and never takes more than about this much memory.
    pub(super) fn new(bytes: usize) -> Self {
        // While old nodes are left behind the kept ones, at most half, stand beside them.
        let most = (bytes / size_of::<Node>() * 2 / 3).max(1024);
        Self { nodes: vec![Node::new(0, 0.0, 0.0)], most }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::new(0, 0.0, 0.0));
    }

    pub(super) fn get(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(super) fn get_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether this many nodes more would be too many.
    pub(super) const fn is_full(&self, more: usize) -> bool {
        self.nodes.len() + more > self.most
    }

    pub(super) fn add_children(&mut self, node: u32, children: impl Iterator<Item = Node>) {
        let first = self.nodes.len();
        self.nodes.extend(children);
        let count = self.nodes.len() - first;
        let node = self.get_mut(node);
        node.first = first as u32;
        node.children = count as u16;
    }

    pub(super) fn children_of(&self, node: u32) -> std::ops::Range<u32> {
        let Node { first, children, .. } = *self.get(node);
        first..first + u32::from(children)
    }

    pub(super) fn children(&self, node: u32) -> &[Node] {
        let range = self.children_of(node);
        &self.nodes[range.start as usize..range.end as usize]
    }

    pub(super) fn children_mut(&mut self, node: u32) -> &mut [Node] {
        let range = self.children_of(node);
        &mut self.nodes[range.start as usize..range.end as usize]
    }

    /// The child that was tried most, the first of those with as many.
    pub(super) fn best_child(&self, node: u32) -> Option<u32> {
        let mut best: Option<u32> = None;
        for child in self.children_of(node) {
            if best.is_none_or(|best| self.get(child).visits > self.get(best).visits) {
                best = Some(child);
            }
        }
        best
    }

    /// Makes this node the root and forgets all that is not below it.
    pub(super) fn reroot(&mut self, node: u32) {
        self.keep(node, 0.0, &mut || false);
    }

    /// Forgets what is below seldom tried nodes until half of the memory is free again. Leaves all as it is once `stop` says
    /// so.
    pub(super) fn prune(&mut self, stop: &mut dyn FnMut() -> bool) {
        let mut least = 8.0;
        while self.nodes.len() > self.most / 2 && least < 1e9 {
            if !self.keep(ROOT, least, stop) {
                return;
            }
            least *= 2.0;
        }
    }

    /// Keeps the children of nodes with so many visits. `false` if it was stopped.
    fn keep(&mut self, root: u32, least: f32, stop: &mut dyn FnMut() -> bool) -> bool {
        let mut kept = Vec::with_capacity(self.kept_length(root, least));
        kept.push(*self.get(root));
        let mut at = 0;
        while at < kept.len() {
            if at % 4096 == 0 && stop() {
                return false;
            }
            let Node { first, children, visits, .. } = kept[at];
            if children > 0 {
                if visits >= least || at == 0 {
                    let (begin, new_first) = (first as usize, kept.len());
                    kept.extend_from_slice(&self.nodes[begin..begin + usize::from(children)]);
                    kept[at].first = new_first as u32;
                } else {
                    kept[at].children = 0;
                }
            }
            at += 1;
        }
        self.nodes = kept;
        true
    }

    fn kept_length(&self, root: u32, least: f32) -> usize {
        let mut length = 1;
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if self.get(node).visits >= least || node == root {
                let range = self.children_of(node);
                length += range.len();
                open.extend(range.filter(|&child| self.get(child).has_children()));
            }
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(bytes: usize) -> Tree {
        let mut tree = Tree::new(bytes);
        let mut leaves = vec![ROOT];
        let mut rank = 0;
        while let Some(leaf) = leaves.pop() {
            if tree.is_full(10) {
                break;
            }
            tree.add_children(
                leaf,
                (0..10_u16).map(|n| Node { visits: f32::from(n), ..Node::new(n, 1.0, 0.5) }),
            );
            leaves.splice(0..0, tree.children_of(leaf).skip(rank % 5));
            rank += 1;
        }
        tree
    }

    #[test]
    fn pruning_frees_half_and_keeps_what_was_tried_most() {
        let mut tree = grown(1 << 18);
        assert!(tree.is_full(10));
        let root = |tree: &Tree| {
            tree.children(ROOT).iter().map(|node| (node.at, node.visits as u32)).collect::<Vec<_>>()
        };
        let before = root(&tree);
        tree.prune(&mut || false);
        assert!(tree.len() <= tree.most / 2);
        assert_eq!(root(&tree), before);
    }

    #[test]
    fn a_new_root_keeps_its_descendants() {
        let mut tree = grown(1 << 16);
        let child =
            tree.children_of(ROOT).find(|&child| tree.get(child).has_children()).expect("it has grown");
        let expected: Vec<At> = tree.children(child).iter().map(|node| node.at).collect();
        tree.reroot(child);
        assert_eq!(tree.children(ROOT).iter().map(|node| node.at).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn stopped_pruning_changes_nothing() {
        let mut tree = grown(1 << 16);
        let before = tree.len();
        tree.prune(&mut || true);
        assert_eq!(tree.len(), before);
    }
}
