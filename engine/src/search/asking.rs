//! Tests when the search queries forced wins, with an artificial game that counts the queries.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::alphabeta::minimax;
use super::{
    AlphaBeta, AlphaBetaGame, Candidate, Clock, Effort, NodeVerdict, Options, Reductions, SearchParams,
    Urgency,
};
use crate::{Limits, Rng, Side};

/// A tree with three moves at each node and pseudorandom values, reproducible by seed. Counts how often each position is
/// queried for a forced win; there is none.
#[derive(Clone)]
struct Tree {
    path: Vec<u16>,
    seed: u64,
    asked: HashMap<u64, u32>,
}

impl AlphaBetaGame for Tree {
    type Move = u16;
    const MOVE_NUMBERS: usize = 3;
    const PARAMS: SearchParams = SearchParams {
        aspiration: 1_000,
        reverse_futility: 0,
        reverse_futility_plies: 0,
        razor: 0,
        razor_plies: 0,
        null_move_plies: 1,
        late_move_count: [(1, 1, 1); 2],
        killer: 0,
        countermove: 0,
        late_move_reduction: (0.0, 1.0),
        cut_node_reduction: 0,
        pv_reduction: 0,
        history_reduction: 0,
        internal_reduction_plies: 1,
        null_move: (1, 1),
        rank_scale: 1,
        bonus: (1, 1),
        continuation_percent: 0,
        futility: (0, 0),
        futility_plies: 0,
        history_pruning: 0,
        singular_plies: 1,
        singular_margin: 0,
        forced_plies: 0,
        reductions: Reductions::PLAIN,
        tactics: None,
    };
    const FORCES: bool = true;

    fn number(mv: u16) -> u16 {
        mv
    }
    fn turn(&self) -> Side {
        Side::BOTH[self.path.len() % 2]
    }
    fn key(&self) -> u64 {
        let path = self.path.iter().fold(1, |key, &mv| 4 * key + u64::from(mv));
        Rng::new(self.seed << 32 ^ path).next_u64()
    }
    fn make(&mut self, mv: u16) {
        self.path.push(mv);
    }
    fn unmake(&mut self) {
        self.path.pop();
    }
    fn verdict(&self) -> Option<NodeVerdict> {
        None
    }
    fn urgency(&self) -> Urgency {
        Urgency::Free
    }
    fn candidates(&self, into: &mut Vec<Candidate<u16>>) {
        into.clear();
        into.extend((0..3).map(|mv| Candidate { mv, rank: 0, takes: 0, forcing: false }));
    }
    fn evaluate(&mut self) -> i32 {
        Rng::new(self.key()).below(200) as i32 - 100
    }
    fn forced_win(&mut self, _effort: Effort, _clock: &mut Clock<'_>) -> Option<u32> {
        *self.asked.entry(self.key()).or_default() += 1;
        None
    }
}

#[test]
fn what_is_judged_enough_is_not_asked_for_a_win_by_force_and_nothing_below_the_first_moves_is_asked_twice() {
    let plain = Options { reductions: false, pruning: false, extensions: false, ..Options::default() };
    let stop = AtomicBool::new(false);
    for seed in 0..40 {
        let mut tree = Tree { path: Vec::new(), seed, asked: HashMap::new() };
        let limits =
            Limits { time: None, nodes: None, depth: Some(5), stop: &stop, elapsed: &|| Duration::ZERO };
        let found = AlphaBeta::new(1 << 20, plain.clone())
            .search(&mut tree, &mut Clock::new(&limits), &mut |_| {})
            .expect("there are moves");
        let asked = std::mem::take(&mut tree.asked);
        assert_eq!(found.value, minimax(&mut tree, 5, 0), "seed {seed}");
        // The positions after the root's moves are queried in every iteration, with the effort that the iteration allows.
        let again = asked.values().filter(|&&times| times > 1).count();
        assert!(again <= 3, "seed {seed}: {again} positions were asked again");
        let all = (1..=5).map(|ply| 3_usize.pow(ply)).sum::<usize>();
        assert!(asked.len() < all / 2, "seed {seed}: {} of {all} were asked", asked.len());
    }
}
