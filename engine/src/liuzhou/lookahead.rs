//! The Liuzhou chess position for the search: move ordering, certain results, static evaluation.
//!
//! A placement or step and the captures that follow are successive decisions of one side. The search makes them one by one
//! without counting captures as depth, so that a move with its captures is one ply.

use std::sync::Arc;

use super::eval::{self, Shape};
use super::fitted::FITTED;
use super::formations::through_point;
use super::rules::{Liuzhou, Phase, Undo, bits, neighbours};
use super::tablebase::{Tablebase, TablebaseResult};
use super::weights::Weights;
use super::{BOARD, LiuzhouMove, LiuzhouSetup, POINTS, StepBack};
use crate::search::{AlphaBetaGame, Candidate, NodeVerdict, Reductions, SearchParams, Tactics, Urgency};
use crate::{Game, Rng, Side};

/// The game with incremental data for the search.
#[derive(Clone)]
pub(crate) struct Lookahead {
    game: Liuzhou,
    undo: Vec<Undo>,
    shapes: Vec<Shape>,
    weights: &'static Weights,
    /// Zobrist keys of turn and phase, by [`Self::rest`].
    rest: Vec<u64>,
    /// For each point the formations through it that count.
    through: Vec<Vec<u64>>,
    /// The endgame table, if there is one.
    tablebase: Option<Arc<Tablebase>>,
    /// Whether draws in the table are used.
    draws: bool,
}

/// Value of a stone in [`Candidate::takes`].
const STONE: i32 = 100;
/// Maximum number of captures searched in quiescence: among the others the static evaluation decides.
const LOUD_CAPTURES: usize = 4;
/// Maximum static evaluation, below proven values.
const JUDGEMENT_MAX: i32 = 20_000;
/// The static evaluation decreases with the plies since the last capture, to half at this number.
const STALE: i32 = 60;
/// Numbers of due captures with keys of their own: no stone makes more at once.
const DUE_MAX: usize = 24;

impl Lookahead {
    pub(super) fn new(game: &Liuzhou) -> Self {
        let setup = game.setup();
        let mut rng = Rng::new(0x6c69_757a_686f_7572);
        Self {
            shapes: eval::shapes(setup),
            weights: &FITTED,
            rest: (0..2 * 8 * DUE_MAX).map(|_| rng.next_u64()).collect(),
            through: (0..POINTS).map(|point| counting_through(setup, point)).collect(),
            undo: Vec::with_capacity(128),
            game: game.clone(),
            tablebase: None,
            draws: false,
        }
    }

    /// Uses these weights.
    pub(super) fn with_weights(self, weights: &'static Weights) -> Self {
        Self { weights, ..self }
    }

    /// Uses an endgame table. If the root is a draw by the table, the search continues by evaluation among the drawing
    /// moves, because the opponent may make a mistake.
    pub(super) fn with_tablebase(mut self, tablebase: Option<Arc<Tablebase>>) -> Self {
        self.draws = tablebase
            .as_ref()
            .is_some_and(|tablebase| !matches!(tablebase.probe(&self.game), Some(TablebaseResult::Drawn)));
        self.tablebase = tablebase;
        self
    }

    fn ending(&self) -> Option<NodeVerdict> {
        match self.tablebase.as_ref()?.probe(&self.game)? {
            TablebaseResult::Won(plies) => Some(NodeVerdict::WinIn(plies)),
            TablebaseResult::Lost(plies) => Some(NodeVerdict::LossIn(plies)),
            TablebaseResult::Drawn => self.draws.then_some(NodeVerdict::Draw),
        }
    }

    pub(super) fn game(&self) -> &Liuzhou {
        &self.game
    }

    fn rest(&self) -> usize {
        let state = self.game.state();
        let phase = match state.phase {
            Phase::Placing => 0,
            Phase::Forced { last } => 2 + usize::from(last),
            Phase::Moving => 4,
            Phase::Blocked { last } => 6 + usize::from(last),
        };
        (usize::from(state.due).min(DUE_MAX - 1) * 8 + phase) * 2 + state.turn.index()
    }

    /// Potential of the formations through a point for a side that places a stone there: it grows with the number of its
    /// stones in formations without enemy stones. `own` does not include the point.
    fn promise(&self, point: u8, own: u64, others: u64) -> i32 {
        const BY_STONES: [i32; 6] = [1, 4, 12, 30, 40, 50];
        self.through[usize::from(point)]
            .iter()
            .filter(|&&points| points & others == 0)
            .map(|points| BY_STONES[((points & own).count_ones() as usize).min(5)])
            .sum()
    }

    fn rank(&self, mv: LiuzhouMove) -> Candidate<LiuzhouMove> {
        let state = self.game.state();
        let (side, enemy) = (state.turn.index(), state.turn.other().index());
        let (own, theirs) = (state.live[side], state.live[enemy]);
        let marked = state.marked[0] | state.marked[1];
        match mv {
            LiuzhouMove::Place(point) => {
                let claim = self.game.claim_of(point, own | 1 << point);
                let promise = self.promise(point, own, theirs | marked);
                let block = self.promise(point, theirs, own | marked);
                candidate(mv, claim, promise + block)
            }
            LiuzhouMove::Step(from, to) => {
                let rest = own & !(1 << from);
                let claim = self.game.claim_of(to, rest | 1 << to);
                let promise = self.promise(to, rest, theirs) - self.promise(from, rest, theirs) / 2;
                let block = self.promise(to, theirs, rest) - self.promise(from, theirs, rest);
                candidate(mv, claim, promise + block)
            }
            // The value of a capture is the stone's potential for both sides.
            LiuzhouMove::Capture(point) => {
                let rest = theirs & !(1 << point);
                let rank = self.promise(point, rest, own | marked) + self.promise(point, own, rest | marked);
                Candidate { mv, rank, takes: STONE, forcing: true }
            }
            LiuzhouMove::Pass => Candidate { mv, rank: 0, takes: 0, forcing: false },
        }
    }
}

fn candidate(mv: LiuzhouMove, claim: u8, rank: i32) -> Candidate<LiuzhouMove> {
    let takes = STONE * i32::from(claim);
    let rank = if claim > 0 { 3_000 + takes + rank } else { rank };
    Candidate { mv, rank, takes, forcing: claim > 0 }
}

fn counting_through(setup: &LiuzhouSetup, point: u8) -> Vec<u64> {
    let counting = through_point(point).filter(|formation| setup.captures(formation) > 0);
    counting.map(|formation| formation.points & !(1 << point)).collect()
}

impl AlphaBetaGame for Lookahead {
    type Move = LiuzhouMove;
    const MOVE_NUMBERS: usize = PASS as usize + 1;
    const CONTINUATIONS: usize = 4 * POINTS as usize + 1;
    const ALTERNATES: bool = false;
    /// Tuned from xiangqi's parameters, with a stone worth about a third of a horse; see EXPERIMENTS.md.
    const PARAMS: SearchParams = SearchParams {
        aspiration: 25,
        reverse_futility: 60,
        reverse_futility_plies: 6,
        razor: 200,
        razor_plies: 2,
        null_move_plies: 3,
        late_move_count: [(5, 1, 1), (8, 3, 2)],
        killer: 9_000,
        countermove: 5_000,
        late_move_reduction: (0.3, 2.0),
        cut_node_reduction: 2,
        pv_reduction: 2,
        history_reduction: 4,
        internal_reduction_plies: 4,
        null_move: (3, 4),
        rank_scale: 32,
        bonus: (16, 16),
        continuation_percent: 100,
        futility: (120, 90),
        futility_plies: 5,
        history_pruning: 900,
        singular_plies: 7,
        singular_margin: 3,
        forced_plies: 0,
        reductions: Reductions::PLAIN,
        tactics: Some(Tactics {
            delta_margin: 150,
            see_quiet_margin: 0,
            see_noisy_margin: 0,
            check_extension: 0,
            correction: 0,
            null_move_step: 200,
        }),
    };

    fn number(mv: LiuzhouMove) -> u16 {
        let points = u16::from(POINTS);
        match mv {
            LiuzhouMove::Place(point) => u16::from(point),
            LiuzhouMove::Capture(point) => points + u16::from(point),
            LiuzhouMove::Step(from, to) => 2 * points + u16::from(from) * points + u16::from(to),
            LiuzhouMove::Pass => PASS,
        }
    }

    fn continuation_index(&self, mv: LiuzhouMove) -> usize {
        let side = 2 * self.game.turn().index();
        let at = |what: usize, point: u8| what * usize::from(POINTS) + usize::from(point);
        match mv {
            LiuzhouMove::Place(point) | LiuzhouMove::Step(_, point) => at(side, point),
            LiuzhouMove::Capture(point) => at(side + 1, point),
            LiuzhouMove::Pass => 4 * usize::from(POINTS),
        }
    }

    fn turn(&self) -> Side {
        self.game.turn()
    }

    fn key(&self) -> u64 {
        let key = self.game.stones_key() ^ self.rest[self.rest()];
        if self.game.setup().step_back == StepBack::Allowed {
            return key;
        }
        self.game.state().last_step.iter().fold(key, |key, step| {
            let step = step.map_or(u64::MAX, |(from, to)| u64::from(from) << 8 | u64::from(to));
            Rng::new(key ^ step).next_u64()
        })
    }

    fn make(&mut self, mv: LiuzhouMove) {
        let undo = self.game.try_out(mv);
        self.undo.push(undo);
    }

    fn unmake(&mut self) {
        let undo = self.undo.pop().expect("a move was made");
        self.game.take_back(undo);
    }

    fn pass(&mut self) -> bool {
        // No null move with few steps (zugzwang), or within a choice of captures.
        let state = self.game.state();
        let fits = match state.phase {
            Phase::Placing => true,
            Phase::Moving => {
                let empty = BOARD & !(state.live[0] | state.live[1]);
                let own = state.live[state.turn.index()];
                bits(own).map(|point| (neighbours(point) & empty).count_ones()).sum::<u32>() >= 6
            }
            Phase::Forced { .. } | Phase::Blocked { .. } => false,
        };
        if !fits || state.due > 0 {
            return false;
        }
        let undo = self.game.skip();
        self.undo.push(undo);
        true
    }

    fn unpass(&mut self) {
        self.unmake();
    }

    fn verdict(&self) -> Option<NodeVerdict> {
        if let Some(outcome) = self.game.outcome() {
            return Some(match outcome.winner {
                None => NodeVerdict::Draw,
                Some(side) if side == self.game.turn() => NodeVerdict::WinIn(0),
                Some(_) => NodeVerdict::LossIn(0),
            });
        }
        let state = self.game.state();
        if state.phase != Phase::Moving || state.due > 0 {
            return None;
        }
        if self.game.is_repeated() { Some(NodeVerdict::Draw) } else { self.ending() }
    }

    fn urgency(&self) -> Urgency {
        if self.game.captures_due() > 0 { Urgency::Forced } else { Urgency::Free }
    }

    fn candidates(&self, into: &mut Vec<Candidate<LiuzhouMove>>) {
        into.clear();
        self.game.each_legal(|mv| into.push(self.rank(mv)));
    }

    fn noisy(&self, into: &mut Vec<Candidate<LiuzhouMove>>, _checks: bool) {
        self.candidates(into);
        if self.game.captures_due() > 0 {
            into.sort_by_key(|candidate| -candidate.rank);
            into.truncate(LOUD_CAPTURES);
        } else {
            into.retain(|candidate| candidate.takes > 0);
        }
    }

    fn evaluate(&mut self) -> i32 {
        let value = eval::evaluate(&self.game, &self.shapes, self.weights);
        let value = value * (2 * STALE - i32::from(self.game.state().quiet).min(STALE)) / (2 * STALE);
        value.clamp(-JUDGEMENT_MAX, JUDGEMENT_MAX)
    }
}

/// Number of the pass: after 36 placements, 36 captures, and a step for each pair of points.
const PASS: u16 = (2 + POINTS as u16) * POINTS as u16;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::Limits;
    use crate::liuzhou::Preset;
    use crate::search::Clock;
    use crate::search::{AlphaBeta, Options, Value, minimax};

    /// A position after this many random decisions, without an end.
    fn scattered(setup: &LiuzhouSetup, decisions: u32, rng: &mut Rng) -> Liuzhou {
        'again: loop {
            let mut game = Liuzhou::new(setup).expect("the setup is valid");
            let mut moves = Vec::new();
            while game.ply() < decisions {
                game.legal_moves(&mut moves);
                game.play(moves[rng.below(moves.len() as u32) as usize]);
                if game.outcome().is_some() {
                    continue 'again;
                }
            }
            return game;
        }
    }

    #[test]
    fn without_its_shortcuts_the_search_finds_what_plain_minimax_finds() {
        let plain = Options {
            reductions: false,
            pruning: false,
            extensions: false,
            quiescence: false,
            ..Options::default()
        };
        let compare = |game: &Liuzhou, depth: u32| {
            let mut ahead = Lookahead::new(game);
            let expected = minimax(&mut ahead, depth, 0);
            let stop = AtomicBool::new(false);
            let limits = Limits {
                time: None,
                nodes: None,
                depth: Some(depth),
                stop: &stop,
                elapsed: &|| Duration::ZERO,
            };
            let found = AlphaBeta::new(1 << 20, plain.clone())
                .search(&mut ahead, &mut Clock::new(&limits), &mut |_| {})
                .expect("there are moves");
            assert_eq!(found.value, expected, "{}, depth {depth}", game.position());
            expected
        };
        let mut rng = Rng::new(5);
        let mut own_turns = 0;
        for preset in Preset::ALL {
            let setup = preset.setup();
            for round in 0..24 {
                let game = scattered(&setup, 20 + 3 * round, &mut rng);
                compare(&game, 1 + round % 2);
                own_turns += u32::from(game.captures_due() > 0);
            }
        }
        assert!(own_turns > 3, "some are to begin with a capture that is due");
        // A square away from the end: Black makes it, and White has three stones left.
        for depth in 1..=2 {
            let line = "6/6/6/6/bb2ww/b1b1ww b m 0 0 0";
            let game = Liuzhou::from_position(&LiuzhouSetup::default(), line).expect("a position");
            assert!(Value::is_proven(compare(&game, depth)), "depth {depth}");
        }
    }

    #[test]
    fn every_decision_is_taken_back_whole() {
        let mut rng = Rng::new(9);
        for preset in Preset::ALL {
            for round in 0..40 {
                let game = scattered(&preset.setup(), 5 + 3 * round, &mut rng);
                let mut ahead = Lookahead::new(&game);
                let before = (ahead.game.position(), ahead.key(), ahead.evaluate(), ahead.game.ply());
                let mut candidates = Vec::new();
                let mut made = 0;
                while made < 25 && ahead.game.outcome().is_none() {
                    ahead.candidates(&mut candidates);
                    ahead.make(candidates[rng.below(candidates.len() as u32) as usize].mv);
                    assert_eq!(ahead.game.key(), ahead.game.fresh_key());
                    made += 1;
                }
                for _ in 0..made {
                    ahead.unmake();
                }
                let after = (ahead.game.position(), ahead.key(), ahead.evaluate(), ahead.game.ply());
                assert_eq!(before, after);
            }
        }
    }
}
