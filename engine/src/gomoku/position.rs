//! The gomoku position for the search: candidate moves, certain results, static evaluation.

use std::sync::Arc;

use super::board::{Board, SQUARES, Square};
use super::net;
use super::shape::Threat;
use super::vcf::Solver;
use crate::Side;
use crate::search::{
    AlphaBetaGame, Candidate, Clock, Effort, NodeVerdict, Reductions, SearchParams, Urgency,
};

/// A board with its solver of forced wins.
#[derive(Clone)]
pub(super) struct Position {
    pub(super) board: Board,
    pub(super) solver: Solver,
    /// For each move made, whether it was forbidden; known one move later.
    faults: Vec<bool>,
    /// The network with its accumulator, if there is one for the rule.
    net: Option<(Arc<net::Weights>, net::Accumulator)>,
    /// Percentage of the network's output that is used.
    net_part: i32,
}

/// Maximum own moves and nodes of a search for forced wins, by effort.
const LEAF: (u32, u32) = (8, 60);
const INNER: (u32, u32) = (12, 250);
/// First all wins of up to 11 plies, then longer ones.
const THOROUGH: [(u32, u32); 2] = [(6, 5_000), (20, 5_000)];

impl Position {
    pub(super) fn new(board: Board, solver: Solver) -> Self {
        let net = net::Weights::shared(board.rule()).map(|weights| {
            let accumulator = net::Accumulator::new(&board, &weights);
            (weights, accumulator)
        });
        Self { board, solver, faults: Vec::new(), net, net_part: 100 }
    }

    /// Uses this percentage of the network's output.
    pub(super) fn with_net(mut self, part: i32) -> Self {
        self.net_part = part;
        if part == 0 {
            self.net = None;
        }
        self
    }

    /// Static evaluation by shapes alone, for the side to move.
    pub(super) fn by_shapes(&self) -> i32 {
        let (board, us, them) = (&self.board, self.board.turn(), self.them());
        let mut value = board.value(us) - board.value(them) + TEMPO;
        for (threat, own, theirs) in THREATS {
            // A forbidden double three is no threat.
            let counts = |side| threat != Threat::DoubleThree || !board.has_forbidden_points(side);
            if board.count(us, threat) > 0 && counts(us) {
                value += own;
            }
            if board.count(them, threat) > 0 && counts(them) {
                value -= theirs;
            }
        }
        value
    }

    fn them(&self) -> Side {
        self.board.turn().other()
    }

    fn collect(&self, into: &mut Vec<Candidate<Square>>, wanted: impl Fn(Square) -> bool) {
        let us = self.board.turn();
        let them = us.other();
        let forbids = self.board.has_forbidden_points(us);
        for square in self.board.near().filter(|&square| wanted(square)) {
            let (own, theirs) = (self.board.shape(square, us), self.board.shape(square, them));
            let suspect = matches!(own.threat, Threat::DoubleThree | Threat::FourThree | Threat::TwoFours);
            if forbids && suspect && self.board.is_forbidden(square) {
                continue;
            }
            into.push(Candidate {
                mv: square,
                rank: i32::from(own.attack) + i32::from(theirs.defence),
                takes: 0,
                forcing: own.threat >= Threat::Three,
            });
        }
    }
}

impl AlphaBetaGame for Position {
    type Move = Square;
    const MOVE_NUMBERS: usize = SQUARES;
    const CONTINUATIONS: usize = 2 * PLACES;
    const FORCES: bool = true;
    /// All points that would stop a five are forbidden.
    const STUCK: NodeVerdict = NodeVerdict::LossIn(2);
    /// Tuned by self-play; see EXPERIMENTS.md.
    const PARAMS: SearchParams = SearchParams {
        aspiration: 25,
        reverse_futility: 40,
        reverse_futility_plies: 6,
        razor: 110,
        razor_plies: 3,
        null_move_plies: 3,
        late_move_count: [(4, 2, 3), (6, 1, 1)],
        killer: 2500,
        countermove: 2000,
        late_move_reduction: (0.4, 1.5),
        cut_node_reduction: 2,
        pv_reduction: 2,
        history_reduction: 4,
        internal_reduction_plies: 4,
        null_move: (3, 4),
        rank_scale: 32,
        bonus: (16, 16),
        continuation_percent: 0,
        futility: (60, 50),
        futility_plies: 4,
        history_pruning: 10_000,
        singular_plies: 100,
        singular_margin: 2,
        forced_plies: 2,
        reductions: Reductions::PLAIN,
        tactics: None,
    };

    fn number(mv: Square) -> u16 {
        mv.0
    }

    fn continuation_index(&self, mv: Square) -> usize {
        let point = mv.point();
        self.board.turn().index() * PLACES + usize::from(point.row) * SIZE_MAX + usize::from(point.column)
    }

    fn turn(&self) -> Side {
        self.board.turn()
    }

    fn key(&self) -> u64 {
        self.board.key()
    }

    fn key_after(&self, mv: Square) -> Option<u64> {
        Some(self.board.key_after(mv))
    }

    fn make(&mut self, mv: Square) {
        self.faults.push(self.board.is_forbidden(mv));
        self.board.make(mv);
    }

    fn unmake(&mut self) {
        self.faults.pop();
        self.board.unmake();
    }

    fn pass(&mut self) -> bool {
        self.board.pass();
        true
    }

    fn unpass(&mut self) {
        self.board.pass();
    }

    fn verdict(&self) -> Option<NodeVerdict> {
        let (board, us, them) = (&self.board, self.board.turn(), self.them());
        if board.five_made() {
            Some(NodeVerdict::LossIn(0))
        } else if self.faults.last() == Some(&true) {
            // Reported as a win in 1, as if the five were still to be made.
            Some(NodeVerdict::WinIn(1))
        } else if board.empty() == 0 {
            Some(NodeVerdict::Draw)
        } else if board.count(us, Threat::Five) > 0 {
            Some(NodeVerdict::WinIn(1))
        } else if board.count(them, Threat::Five) > 1 {
            Some(NodeVerdict::LossIn(2))
        } else if board.count(them, Threat::Five) == 0 && board.has_two_fours(us) {
            Some(NodeVerdict::WinIn(3))
        } else {
            None
        }
    }

    fn urgency(&self) -> Urgency {
        let (board, us, them) = (&self.board, self.board.turn(), self.them());
        if board.count(us, Threat::Five) > 0 || board.count(them, Threat::Five) > 0 {
            Urgency::Forced
        } else if board.has_two_fours(them) {
            Urgency::Threatened
        } else {
            Urgency::Free
        }
    }

    fn candidates(&self, into: &mut Vec<Candidate<Square>>) {
        into.clear();
        let (board, us, them) = (&self.board, self.board.turn(), self.them());
        if board.count(us, Threat::Five) > 0 {
            self.collect(into, |square| board.threat(square, us) == Threat::Five);
        } else if board.count(them, Threat::Five) > 0 {
            self.collect(into, |square| board.threat(square, them) == Threat::Five);
        } else if board.has_two_fours(us) {
            self.collect(into, |square| board.makes_two_fours(square, us));
        } else if board.has_two_fours(them) {
            // The replies are own fours, and stones on the line of the four; every defence is a point where the four would
            // have been completed.
            self.collect(into, |square| {
                board.threat(square, us) >= Threat::Four || board.threat(square, them) >= Threat::Four
            });
        } else {
            self.collect(into, |_| true);
            if into.is_empty() {
                // No neighbours: the board is empty, or the remaining points are far from all stones.
                let centre = board.centre();
                let rest = board.all_empty().filter(|&square| !board.is_empty(centre) || square == centre);
                into.extend(rest.map(|mv| Candidate { mv, rank: 0, takes: 0, forcing: false }));
            }
        }
    }

    fn evaluate(&mut self) -> i32 {
        let mut value = self.by_shapes();
        if let Some((weights, accumulator)) = &mut self.net {
            value += accumulator.judge(&self.board, weights) * self.net_part / 100;
        }
        value.clamp(-JUDGEMENT_MAX, JUDGEMENT_MAX)
    }

    fn forced_win(&mut self, effort: Effort, clock: &mut Clock<'_>) -> Option<u32> {
        let stages: &[(u32, u32)] = match effort {
            Effort::Leaf => &[LEAF],
            Effort::Inner => &[INNER],
            Effort::Thorough => &THOROUGH,
        };
        stages
            .iter()
            .find_map(|&(moves, nodes)| self.solver.vcf(&mut self.board, moves, nodes, clock))
            .map(|win| win.plies)
    }
}

/// Points on a side of the largest board, and its number of points.
const SIZE_MAX: usize = 20;
const PLACES: usize = SIZE_MAX * SIZE_MAX;
/// Bonus of the side to move.
pub(super) const TEMPO: i32 = 127;
/// Maximum static evaluation, below proven values.
const JUDGEMENT_MAX: i32 = 5_000;
/// Bonus for having a square with this threat, for the side to move and for the other.
pub(super) const THREATS: [(Threat, i32, i32); 4] = [
    (Threat::FourThree, 393, 150),
    (Threat::DoubleThree, 170, 95),
    (Threat::ThreeAndMore, 130, 12),
    (Threat::FourAndMore, 33, 10),
];

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::gomoku::board::Tables;
    use crate::search::{AlphaBeta, Options, Value, minimax};
    use crate::{Game, Gomoku, GomokuRule, GomokuSetup, Limits, Rng};

    /// Rules for which plain minimax is a valid reference: its static evaluation ignores forbidden points.
    const WITHOUT_FORBIDDEN_POINTS: [GomokuRule; 2] = [GomokuRule::Freestyle, GomokuRule::Standard];

    /// A position with this many random stones near the centre and no winner.
    fn scattered(setup: &GomokuSetup, stones: u32, rng: &mut Rng) -> Gomoku {
        'again: loop {
            let mut game = Gomoku::new(setup).expect("the setup is valid");
            let low = setup.size / 2 - 2;
            while game.ply() < stones {
                let mut coordinate = || u16::from(low) + rng.below(5) as u16;
                let action = crate::Action::Place(crate::Point::new(coordinate(), coordinate()));
                if game.outcome().is_some() {
                    continue 'again;
                }
                if let Ok(mv) = game.legal_move(action) {
                    game.play(mv);
                }
            }
            if game.outcome().is_none() {
                return game;
            }
        }
    }

    fn position(game: &Gomoku, tables: &Arc<Tables>) -> Position {
        Position::new(Board::new(game, Arc::clone(tables)), Solver::new())
    }

    fn with_limits<T>(depth: Option<u32>, nodes: Option<u64>, ask: impl FnOnce(&Limits<'_>) -> T) -> T {
        let stop = AtomicBool::new(false);
        ask(&Limits { time: None, nodes, depth, stop: &stop, elapsed: &|| Duration::ZERO })
    }

    #[test]
    fn without_its_shortcuts_the_search_finds_what_plain_minimax_finds() {
        let plain = Options {
            reductions: false,
            pruning: false,
            extensions: false,
            forced_wins: false,
            ..Options::default()
        };
        // How many of so few positions are decided depends on the seed: it stays, here and below.
        let mut rng = Rng::new(5);
        let mut decided = 0;
        for rule in WITHOUT_FORBIDDEN_POINTS {
            let tables = Tables::shared(rule);
            let setup = GomokuSetup { size: 9, rule, ..GomokuSetup::default() };
            for round in 0..40 {
                let mut position = position(&scattered(&setup, 4 + round % 12, &mut rng), &tables);
                let depth = 1 + round % 3;
                let expected = minimax(&mut position, depth, 0);
                let found = with_limits(Some(depth), None, |limits| {
                    AlphaBeta::new(1 << 20, plain.clone()).search(
                        &mut position,
                        &mut Clock::new(limits),
                        &mut |_| {},
                    )
                })
                .expect("there are moves");
                // After a proven win, deepening stops, because deeper searches cannot change the value.
                assert_eq!(found.value, expected, "round {round}, depth {depth}");
                decided += u32::from(Value::is_proven(expected));
            }
        }
        assert!((5..75).contains(&decided), "{decided} of 80 decided: both kinds are wanted");
    }

    #[test]
    fn what_the_position_calls_certain_is_so() {
        // Brute force: wins in one or three, losses in two, by trying all moves instead of candidates.
        fn wins(game: &Gomoku, plies: u32) -> bool {
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            moves.iter().any(|&mv| {
                let mut next = game.clone();
                next.play(mv);
                match next.outcome() {
                    Some(outcome) => outcome.winner == Some(game.turn()),
                    None => plies > 2 && loses(&next, plies - 1),
                }
            })
        }
        fn loses(game: &Gomoku, plies: u32) -> bool {
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            !moves.is_empty()
                && moves.iter().all(|&mv| {
                    let mut next = game.clone();
                    next.play(mv);
                    match next.outcome() {
                        Some(outcome) => outcome.winner == Some(game.turn().other()),
                        None => wins(&next, plies - 1),
                    }
                })
        }
        let mut rng = Rng::new(9);
        let mut seen = [0; 3];
        for rule in GomokuRule::ALL {
            let tables = Tables::shared(rule);
            let setup = GomokuSetup { size: 7, rule, ..GomokuSetup::default() };
            for round in 0..400 {
                let game = scattered(&setup, 6 + round % 8, &mut rng);
                match position(&game, &tables).verdict() {
                    Some(NodeVerdict::WinIn(1)) => {
                        assert!(wins(&game, 1));
                        seen[0] += 1;
                    }
                    Some(NodeVerdict::WinIn(plies)) => {
                        assert!(plies == 3 && wins(&game, 3) && !wins(&game, 1));
                        seen[1] += 1;
                    }
                    Some(NodeVerdict::LossIn(plies)) => {
                        assert!(plies == 2 && loses(&game, 2));
                        seen[2] += 1;
                    }
                    Some(NodeVerdict::Draw | NodeVerdict::WonByRule | NodeVerdict::LostByRule) => {
                        panic!("the board is not full")
                    }
                    None => assert!(!wins(&game, 1)),
                }
            }
        }
        assert!(seen.iter().all(|&count| count >= 5), "{seen:?}");
    }

    #[test]
    fn under_a_threat_no_answer_that_holds_is_left_out() {
        // A move that is not a candidate must lose to a win in at most three plies.
        let mut rng = Rng::new(3);
        let mut threatened = 0;
        for rule in GomokuRule::ALL {
            let tables = Tables::shared(rule);
            let setup = GomokuSetup { size: 11, rule, ..GomokuSetup::default() };
            for round in 0..300 {
                let game = scattered(&setup, 6 + round % 8, &mut rng);
                let mut position = position(&game, &tables);
                if position.verdict().is_some() || position.urgency() == Urgency::Free {
                    continue;
                }
                threatened += 1;
                let mut candidates = Vec::new();
                position.candidates(&mut candidates);
                let left_out: Vec<Square> = position
                    .board
                    .all_empty()
                    .filter(|&square| candidates.iter().all(|candidate| candidate.mv != square))
                    .collect();
                for square in left_out {
                    position.make(square);
                    assert!(
                        matches!(position.verdict(), Some(NodeVerdict::WinIn(1 | 3))),
                        "{:?}",
                        square.point()
                    );
                    position.unmake();
                }
            }
        }
        assert!(threatened > 50, "{threatened}");
    }

    #[test]
    fn the_same_seed_and_number_of_positions_give_the_same_finding() {
        let tables = Tables::shared(GomokuRule::Freestyle);
        let game = scattered(&GomokuSetup::default(), 6, &mut Rng::new(2));
        let find = || {
            let mut position = position(&game, &tables);
            with_limits(None, Some(20_000), |limits| {
                AlphaBeta::new(1 << 20, Options::default()).search(
                    &mut position,
                    &mut Clock::new(limits),
                    &mut |_| {},
                )
            })
        };
        assert_eq!(find(), find());
    }
}
