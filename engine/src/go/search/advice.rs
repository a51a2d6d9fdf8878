//! Network advice for a search led by playouts: the network is evaluated for frequently visited nodes, and its policy is
//! added to the priors of their children as virtual wins.

use super::guide::ask;
use super::{Player, Search, Terms};
use crate::go::net::{Network, Output};
use crate::go::stones::{PASS, Stones, Vertex};

/// A node on the path that the network is evaluated for.
pub(in super::super) struct Question<const N: usize, const W: usize> {
    /// Its index in the path.
    pub(in super::super) depth: usize,
    pub(in super::super) stones: Stones<N, W>,
    pub(in super::super) turn: u8,
    pub(in super::super) trail: [Vertex; 2],
    pub(in super::super) passes: u8,
}

/// Board sizes with advice: the network has hardly been trained on 19 x 19, where its advice is harmful (EXPERIMENTS.md).
const SIZES: std::ops::RangeInclusive<u8> = 10..=13;

impl<const N: usize, const W: usize> Search<N, W> {
    /// Whether this search uses advice.
    pub(in super::super) fn has_advice(&self) -> bool {
        let size = self.stones().geometry.size;
        let wanted = self.options.network == 1 && self.options.advice > 0.0;
        wanted && SIZES.contains(&size) && Network::shared().is_some()
    }

    /// Adds the network's policy to the priors of a node's children.
    pub(in super::super) fn take_advice(&mut self, node: u32, output: &Output) {
        let geometry = self.stones().geometry;
        let logit =
            |at: Vertex| output.moves[if at == PASS { geometry.points.len() } else { geometry.number(at) }];
        let advised = self.options.advised;
        let children = self.tree.children_mut(node);
        let most = children.iter().map(|child| logit(child.at)).fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = children.iter().map(|child| (logit(child.at) - most).exp()).sum();
        for child in children {
            child.chance = (logit(child.at) - most).exp() / sum;
            let won = advised * child.chance.sqrt();
            child.prior_visits += won;
            child.prior_wins += won;
        }
    }
}

impl<const N: usize, const W: usize> Player<N, W> {
    /// Evaluates the network for pending nodes.
    pub(in super::super) fn ask_advice(&mut self, terms: Terms, evened: i32) {
        let Some(question) = &self.question else { return };
        let Some(network) = Network::shared() else { return };
        let Question { ref stones, turn, trail, passes, .. } = *question;
        ask(network, (stones, turn, trail, passes), (terms, evened), &mut self.facts, &mut self.scratch);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::go::search::Ending;
    use crate::go::time_manager::StopRule;
    use crate::go::tree::{Node, ROOT};
    use crate::go::weights::Options;
    use crate::go::{Go, GoSetup};
    use crate::{Game as _, Limits};

    /// A search of an empty board after 200 playouts.
    fn searched(size: u8, network: u32) -> Search<256, 4> {
        let go = Go::new(&GoSetup { size, ..GoSetup::default() }).expect("the setup is valid");
        let options = Options { network, advice: 20.0, ..Options::default() };
        let mut search = Search::new(size, 1 << 20, 1, options);
        search.set(&go, Ending::Agreed, false);
        let stop = AtomicBool::new(false);
        let elapsed = || Duration::ZERO;
        let limits = Limits { time: None, nodes: Some(200), depth: None, stop: &stop, elapsed: &elapsed };
        search.run(&go, &limits, StopRule::default(), &mut |_| {});
        search
    }

    #[test]
    fn the_root_and_what_is_visited_often_are_asked_about_once_and_nothing_else() {
        let search = searched(13, 1);
        assert!(search.tree.get(ROOT).asked);
        for child in search.tree.children(ROOT) {
            // A node that has just reached the threshold is evaluated the next time.
            assert!(!child.asked || child.visits >= 20.0);
            assert!(child.asked || child.visits <= 20.0 || !child.has_children());
        }
        let chances = search.tree.children(ROOT).iter().map(|child| child.chance);
        assert!((chances.sum::<f32>() - 1.0).abs() < 1e-4, "told twice, they would be more");
    }

    #[test]
    fn what_the_network_thinks_likelier_starts_with_more_wins() {
        let (with, without) = (searched(13, 1), searched(13, 0));
        let none = |node: &Node| !node.asked && node.chance == 0.0;
        assert!(without.tree.children(ROOT).iter().all(none));
        let mut seen = 0;
        for child in with.tree.children(ROOT) {
            let before = without.tree.children(ROOT).iter().find(|node| node.at == child.at);
            let before = before.expect("the moves are the same");
            let more = child.prior_wins - before.prior_wins;
            let expected = with.options.advised * child.chance.sqrt();
            // The noise that breaks ties differs.
            assert!((more - expected).abs() < 0.2, "{more} for {expected}");
            seen += usize::from(expected > 5.0);
        }
        assert!(seen > 3, "{seen}");
    }

    #[test]
    fn where_the_network_leads_it_gives_no_advice() {
        assert!(!searched(9, 1).has_advice());
        assert!(searched(10, 1).has_advice());
        assert!(!searched(13, 0).has_advice());
    }
}
