//! The search tree.

use super::stones::Vertex;

/// A node, which is a move with its statistics. Wins are from the point of view of the side that makes the move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Index of its first child.
    first: u32,
    children: u16,
    pub(super) at: Vertex,
    /// Whether the network has been evaluated for it.
    pub(super) asked: bool,
    /// Number of playouts through the node; below: wins among them.
    pub(super) visits: f32,
    pub(super) wins: f32,
    /// RAVE: number of playouts through the parent in which the side made this move later; below: wins among them.
    pub(super) later_visits: f32,
    pub(super) later_wins: f32,
    pub(super) prior_visits: f32,
    pub(super) prior_wins: f32,
    /// Prior probability among its siblings.
    pub(super) chance: f32,
}

impl Node {
    pub(super) const fn new(at: Vertex, prior_visits: f32, prior_wins: f32, chance: f32) -> Self {
        Self {
            first: 0,
            children: 0,
            at,
            asked: false,
            visits: 0.0,
            wins: 0.0,
            later_visits: 0.0,
            later_wins: 0.0,
            prior_visits,
            prior_wins,
            chance,
        }
    }

    pub(super) const fn has_children(&self) -> bool {
        self.children > 0
    }

    /// Winning share, including priors.
    pub(super) fn share(&self) -> f32 {
        (self.wins + self.prior_wins) / (self.visits + self.prior_visits).max(1.0)
    }

    /// Value for selection: the node's own playouts, combined with RAVE while there are few of them (weight as in D. Silver,
    /// "Reinforcement Learning and Simulation-Based Search in Computer Go", 2009, where `rave_equivalence` is the number of
    /// playouts at which both have equal weight).
    #[inline]
    pub(super) fn worth(&self, rave_equivalence: f32, critical: f32) -> f32 {
        let visits = self.visits + self.prior_visits;
        let own = (self.wins + self.prior_wins) / visits;
        if self.later_visits == 0.0 {
            return own;
        }
        let won = critical * self.later_visits;
        let later = (self.later_wins + won + self.prior_wins) / (self.later_visits + won + self.prior_visits);
        let weight =
            self.later_visits / (self.later_visits + visits + visits * self.later_visits / rave_equivalence);
        weight * later + (1.0 - weight) * own
    }
}

/// Nodes in one array, root first, siblings adjacent and after their parent.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Maximum number of nodes.
    most: usize,
    age: u32,
}

pub(super) const ROOT: u32 = 0;

impl Tree {
    /// A tree with only a root, limited to about this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        // While pruning, the kept nodes (at most half) are stored beside the old ones.
        let most = (bytes / size_of::<Node>() * 2 / 3).max(1024);
        Self { nodes: vec![Node::new(0, 0.0, 0.0, 0.0)], most, age: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.age += 1;
        self.nodes.clear();
        self.nodes.push(Node::new(0, 0.0, 0.0, 0.0));
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

    /// Whether this many more nodes exceed the limit.
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

    /// The most visited child, the first of equal ones.
    pub(super) fn best_child(&self, node: u32) -> Option<u32> {
        let mut best: Option<u32> = None;
        for child in self.children_of(node) {
            if best.is_none_or(|best| self.get(child).visits > self.get(best).visits) {
                best = Some(child);
            }
        }
        best
    }

    /// Incremented whenever nodes move: an index is valid for one age.
    pub(super) const fn age(&self) -> u32 {
        self.age
    }

    /// Makes this node the root, and drops all nodes outside its subtree, and the least visited ones if it is too large.
    pub(super) fn reroot(&mut self, node: u32) {
        self.keep(node, &mut || false);
    }

    /// Drops the subtrees of rarely visited nodes until half of the memory is free. Changes nothing if `stop` returns true.
    pub(super) fn prune(&mut self, stop: &mut dyn FnMut() -> bool) {
        self.keep(ROOT, stop);
    }

    /// Keeps the subtree of a node, limited to children of nodes with many visits, so that it takes at most half of the
    /// memory: the old nodes exist until the copy is complete.
    fn keep(&mut self, root: u32, stop: &mut dyn FnMut() -> bool) {
        let Some((least, length)) = self.least_kept(root, stop) else { return };
        let mut kept = Vec::with_capacity(length);
        kept.push(*self.get(root));
        let mut at = 0;
        while at < kept.len() {
            if at % LOOK_EVERY == 0 && stop() {
                return;
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
        self.age += 1;
    }

    /// The minimum number of visits (a power of two, or 0) of nodes whose children are kept, such that they take half of the
    /// memory; and the number of nodes kept. `None` if stopped.
    fn least_kept(&self, root: u32, stop: &mut dyn FnMut() -> bool) -> Option<(f32, usize)> {
        // Histogram of children by the power of two of their parent's visits. Visits never increase downwards, so a kept
        // node's parent is kept too.
        let mut by_visits = [0; 32];
        let mut open = vec![root];
        let mut looked = 0;
        while let Some(node) = open.pop() {
            looked += 1;
            if looked % LOOK_EVERY == 0 && stop() {
                return None;
            }
            let range = self.children_of(node);
            let rank = if node == root { 31 } else { (self.get(node).visits.max(0.0) as u32 + 1).ilog2() };
            by_visits[rank as usize] += range.len();
            open.extend(range.filter(|&child| self.get(child).has_children()));
        }
        let mut length = 1;
        for rank in (0..32).rev() {
            if rank < 31 && length + by_visits[rank] > self.most / 2 {
                // Upper bound of this bin, a power of two minus one.
                return Some(((1_u32 << (rank + 1)) as f32 - 1.0, length));
            }
            length += by_visits[rank];
        }
        Some((0.0, length))
    }
}

/// Number of nodes between two calls of `stop`.
const LOOK_EVERY: usize = 4096;

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
                (0..10_u16).map(|n| Node { visits: f32::from(n), ..Node::new(n, 1.0, 0.5, 0.1) }),
            );
            leaves.splice(0..0, tree.children_of(leaf).skip(rank % 5));
            rank += 1;
        }
        tree
    }

    /// A full tree with one child of the root; each node below was tried a tenth as often as its parent.
    fn even(bytes: usize) -> Tree {
        let mut tree = Tree::new(bytes);
        tree.add_children(ROOT, std::iter::once(Node { visits: 9e6, ..Node::new(1, 1.0, 0.5, 0.1) }));
        let mut open = vec![tree.children_of(ROOT).start];
        while let Some(node) = open.pop() {
            if tree.is_full(10) {
                break;
            }
            let visits = tree.get(node).visits / 10.0;
            let children = (0..10_u16).map(|n| Node { visits, ..Node::new(n, 1.0, 0.5, 0.1) });
            tree.add_children(node, children);
            open.splice(0..0, tree.children_of(node));
        }
        tree
    }

    /// The move and the visits of each child.
    fn children(tree: &Tree, node: u32) -> Vec<(Vertex, u32)> {
        tree.children(node).iter().map(|child| (child.at, child.visits as u32)).collect()
    }

    /// All nodes below a node, each before its own children: the move, the visits, and the number of children.
    fn below(tree: &Tree, node: u32) -> Vec<(Vertex, u32, u16)> {
        let mut all = Vec::new();
        for child in tree.children_of(node) {
            let Node { at, visits, children, .. } = *tree.get(child);
            all.push((at, visits as u32, children));
            all.extend(below(tree, child));
        }
        all
    }

    #[test]
    fn pruning_frees_half_and_keeps_what_was_tried_most() {
        let mut tree = grown(1 << 18);
        assert!(tree.is_full(10));
        let root = children(&tree, ROOT);
        let before: Vec<_> = tree.children_of(ROOT).map(|child| children(&tree, child)).collect();
        assert!(before.iter().all(|children| children.len() == 10));
        tree.prune(&mut || false);
        assert!(tree.len() <= tree.most / 2);
        assert_eq!(children(&tree, ROOT), root);
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for (child, before) in tree.children_of(ROOT).zip(before) {
            let visits = tree.get(child).visits as u32;
            if tree.get(child).has_children() {
                assert_eq!(children(&tree, child), before);
                kept.push(visits);
            } else {
                lost.push(visits);
            }
        }
        assert!(!lost.is_empty() && kept.iter().min() > lost.iter().max(), "{kept:?} kept, {lost:?} lost");
    }

    #[test]
    fn a_new_root_keeps_its_descendants() {
        let mut tree = grown(1 << 16);
        let child =
            tree.children_of(ROOT).find(|&child| tree.get(child).has_children()).expect("it has grown");
        let expected = below(&tree, child);
        assert!(expected.len() > 20, "children of children: {}", expected.len());
        tree.reroot(child);
        assert_eq!(below(&tree, ROOT), expected);
        assert_eq!(tree.len(), 1 + expected.len(), "nothing else is left");
    }

    #[test]
    fn a_new_root_with_much_below_it_forgets_what_was_tried_least() {
        let mut tree = even(1 << 16);
        let below = tree.children_of(ROOT).start;
        let (before, age) = (tree.len(), tree.age());
        let grandchildren = |tree: &Tree, node| -> Vec<u32> {
            tree.children_of(node).flat_map(|child| tree.children_of(child)).collect()
        };
        let with_children = |tree: &Tree, node| {
            grandchildren(tree, node).into_iter().filter(|&one| tree.get(one).has_children()).count()
        };
        assert!(with_children(&tree, below) > 50);
        tree.reroot(below);
        // The old and the new nodes together never exceed the limit.
        assert!((before + tree.nodes.capacity()) * size_of::<Node>() <= 1 << 16);
        assert_eq!(tree.children(ROOT).len(), 10);
        assert!(tree.len() > 10 && tree.age() > age);
        // What was tried more is kept with its children, what was tried less is kept without.
        assert_eq!((grandchildren(&tree, ROOT).len(), with_children(&tree, ROOT)), (100, 0));
    }

    #[test]
    fn stopped_pruning_changes_nothing() {
        let mut tree = even(1 << 22);
        let (before, age) = (below(&tree, ROOT), tree.age());
        // Stopped while the nodes are counted, before the first is copied, and between two copies.
        for looks in 0..3 {
            let mut left = looks;
            tree.prune(&mut || {
                left -= 1;
                left < 0
            });
            assert!(left < 0, "it was stopped");
            assert!(below(&tree, ROOT) == before && tree.age() == age, "after {looks} looks");
        }
        tree.prune(&mut || false);
        assert!(tree.len() < before.len(), "otherwise it is pruned");
    }
}
