//! The xiangqi position for the search: move ordering, certain results, static evaluation.

use super::Xiangqi;
use super::attacks::{self, HORSE_TO, SOLDIER_TO, Set, bit};
use super::board::{Board, Cell, Kind, SQUARES, XiangqiMove};
use super::eval;
use super::exchange::WORTH;
use super::net::{Accumulator, Weights};
use super::psqt;
use super::repetition::{self, RepetitionRule};
use crate::search::{AlphaBetaGame, Candidate, NodeVerdict, Reductions, SearchParams, Tactics, Urgency};
use crate::{Game, Side};

/// A board with incremental data for the search.
#[derive(Clone)]
pub(crate) struct Position {
    board: Board,
    /// The moves made, including those of the game since its last capture.
    past: Vec<Step>,
    /// Plies without a capture or a soldier's move that make a draw.
    quiet_limit: u16,
    repetition: RepetitionRule,
    now: Now,
    /// The network's accumulator, allocated at the first evaluation.
    accumulator: Option<Box<Accumulator>>,
}

/// State besides the board that a move changes.
#[derive(Clone, Copy)]
struct Now {
    /// Plies since the last capture or soldier's move.
    quiet: u16,
    /// Number of reversible moves at the end of `past`: without captures, forward moves of soldiers, or null moves.
    linked: u16,
    /// Whether the side to move is in check.
    in_check: bool,
    /// [`eval::phase`].
    phase: i32,
}

/// A move made, with the state before it.
#[derive(Clone)]
struct Step {
    key: u64,
    mv: XiangqiMove,
    taken: Cell,
    before: Now,
}

/// Maximum length in plies of a repetition that the search detects. Soldiers that move sideways across the river make
/// endless games without repetition, in which unlimited detection took most of the time.
const LONGEST_ROUND: usize = 100;
/// The static evaluation decreases with the number of reversible plies, to half at this number, so that the winning side
/// makes progress.
const STALE: i32 = 128;
/// Minimum gain of a capture for [`Position::hangs`]: more than a soldier on its own side.
const HANGING: i32 = 100;
/// Maximum static evaluation, below proven values.
const JUDGEMENT_MAX: i32 = 20_000;

impl Position {
    pub(super) fn new(game: &Xiangqi) -> Self {
        let end = *game.board();
        let past = game.past();
        let mut board = end;
        for &(_, mv) in past.iter().rev() {
            board.unmake(mv, Cell::EMPTY);
        }
        let mut position = Self::from_board(&board);
        position.quiet_limit = game.setup().quiet_limit.unwrap_or(u16::MAX);
        position.repetition = game.setup().repetition;
        for &(_, mv) in past {
            position.make(mv);
        }
        debug_assert_eq!(position.board, end, "the past leads to the present");
        position.now.quiet = game.quiet();
        position
    }

    /// A board without history, by the usual rule of repetition and without a limit of reversible plies.
    pub(super) fn from_board(board: &Board) -> Self {
        let now = Now { quiet: 0, linked: 0, in_check: board.in_check(), phase: eval::phase(board) };
        Self {
            board: *board,
            past: Vec::with_capacity(256),
            quiet_limit: u16::MAX,
            repetition: RepetitionRule::default(),
            now,
            accumulator: None,
        }
    }

    /// Whether a capture gains material (SEE): then the position is searched further instead of evaluated.
    pub(super) fn hangs(&self) -> bool {
        let mut loud = Vec::new();
        self.noisy(&mut loud, false);
        loud.iter().any(|candidate| self.see_at_least(candidate.mv, HANGING))
    }

    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    /// The result if the position has occurred since the last capture. The rules require a third occurrence; the search
    /// assumes that a cycle of moves repeats.
    fn repeated(&self) -> Option<NodeVerdict> {
        let linked = usize::from(self.now.linked).min(LONGEST_ROUND);
        if linked < 4 {
            return None;
        }
        let (key, length) = (self.board.key(), self.past.len());
        let first = (4..=linked).step_by(2).map(|back| length - back).find(|&n| self.past[n].key == key)?;
        let round = &self.past[first..];
        // Whether every move of the side to move (the first of the cycle), or of the other, gave check. The flag of a
        // position is about the move before it.
        let checks = |from: usize| {
            (from..round.len())
                .step_by(2)
                .all(|n| round.get(n + 1).map_or(self.now.in_check, |step| step.before.in_check))
        };
        match (checks(0), checks(1)) {
            (true, false) => return Some(NodeVerdict::LostByRule),
            (false, true) => return Some(NodeVerdict::WonByRule),
            (true, true) => return Some(NodeVerdict::Draw),
            (false, false) => {}
        }
        let moves: Vec<XiangqiMove> = round.iter().map(|step| step.mv).collect();
        let outcome = repetition::judge(self.repetition, &self.board, &moves);
        Some(match outcome.winner {
            None => NodeVerdict::Draw,
            Some(side) if side == self.board.turn() => NodeVerdict::WonByRule,
            Some(_) => NodeVerdict::LostByRule,
        })
    }

    /// The squares from which each kind of piece of the side to move gives check.
    fn check_squares(&self) -> CheckSquares {
        let (board, side) = (&self.board, self.board.turn());
        let general = board.general(side.other());
        let n = usize::from(general);
        let (ranks, files) = board.lines();
        let (along_rank, along_file) = attacks::rides(general, ranks, files);
        CheckSquares {
            horse: HORSE_TO[n][board.eyes(general)],
            chariot: along_rank | along_file,
            cannon: attacks::behind(general, ranks, files),
            soldier: SOLDIER_TO[side.index()][n],
        }
    }

    /// Gain of a move in the piece-square tables, for ordering quiet moves.
    fn step_gain(&self, kind: Kind, mv: XiangqiMove) -> i32 {
        let side = self.board.turn();
        psqt::value(side, kind as usize, mv.to) - psqt::value(side, kind as usize, mv.from)
    }

    /// A move with its data for the search.
    fn look_at(&self, mv: XiangqiMove, checks: &CheckSquares) -> Candidate<XiangqiMove> {
        let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
        let check = checks.has(kind, mv.to);
        if let Some((_, taken)) = self.board.at(mv.to) {
            self.capture(mv, kind, taken, check)
        } else {
            let rank = self.step_gain(kind, mv) + if check { CHECK } else { 0 };
            Candidate { mv, rank, takes: 0, forcing: check }
        }
    }

    fn capture(&self, mv: XiangqiMove, kind: Kind, taken: Kind, check: bool) -> Candidate<XiangqiMove> {
        let (takes, risks) = (WORTH[taken as usize], WORTH[kind as usize]);
        let good = takes >= risks || self.board.exchange_holds(mv, 0);
        let rank = if good { GOOD_CAPTURE } else { BAD_CAPTURE } + 2 * takes - risks / 8;
        Candidate { mv, rank, takes, forcing: good || check }
    }
}

/// Rank of good captures, above all quiet moves; below: rank of bad captures, to which the captured value is added.
const GOOD_CAPTURE: i32 = 3_000;
const BAD_CAPTURE: i32 = -4_000;
/// Bonus to the rank of a quiet move that gives check.
const CHECK: i32 = 60;

struct CheckSquares {
    horse: Set,
    chariot: Set,
    cannon: Set,
    soldier: Set,
}

impl CheckSquares {
    /// Whether a piece of this kind gives check from here. Ignores discovered checks, and that a cannon moving away may
    /// itself have been the screen.
    const fn has(&self, kind: Kind, to: u8) -> bool {
        let set = match kind {
            Kind::Horse => self.horse,
            Kind::Chariot => self.chariot,
            Kind::Cannon => self.cannon,
            Kind::Soldier => self.soldier,
            Kind::General | Kind::Adviser | Kind::Elephant => 0,
        };
        set & bit(to) != 0
    }
}

impl AlphaBetaGame for Position {
    type Move = XiangqiMove;
    const MOVE_NUMBERS: usize = SQUARES * SQUARES;
    const CONTINUATIONS: usize = 14 * SQUARES;
    const STUCK: NodeVerdict = NodeVerdict::LossIn(0);
    /// Tuned by self-play; see EXPERIMENTS.md.
    const PARAMS: SearchParams = SearchParams {
        aspiration: 20,
        reverse_futility: 70,
        reverse_futility_plies: 8,
        razor: 220,
        razor_plies: 3,
        null_move_plies: 2,
        late_move_count: [(3, 1, 2), (4, 1, 1)],
        killer: 9_000,
        countermove: 5_000,
        late_move_reduction: (0.3, 1.9),
        cut_node_reduction: 2,
        pv_reduction: 2,
        history_reduction: 4,
        internal_reduction_plies: 4,
        null_move: (3, 4),
        rank_scale: 32,
        bonus: (16, 16),
        continuation_percent: 100,
        futility: (120, 90),
        futility_plies: 7,
        history_pruning: 700,
        singular_plies: 7,
        singular_margin: 3,
        forced_plies: 0,
        reductions: Reductions::PLAIN,
        tactics: Some(Tactics {
            delta_margin: 150,
            see_quiet_margin: 20,
            see_noisy_margin: 90,
            check_extension: 4,
            correction: 0,
            null_move_step: 200,
        }),
    };

    fn number(mv: XiangqiMove) -> u16 {
        u16::from(mv.from) * SQUARES as u16 + u16::from(mv.to)
    }

    fn continuation_index(&self, mv: XiangqiMove) -> usize {
        let (side, kind) = self.board.at(mv.from).expect("a move has a piece");
        (side.index() * 7 + kind as usize) * SQUARES + usize::from(mv.to)
    }

    /// Soldiers, advisers and elephants of both sides.
    fn structure_key(&self) -> u64 {
        let mut frame = 0_u64;
        for side in Side::BOTH {
            for kind in [Kind::Soldier, Kind::Adviser, Kind::Elephant] {
                let set = self.board.pieces(side, kind);
                frame = (frame ^ set as u64 ^ (set >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                frame ^= frame >> 29;
            }
        }
        frame
    }

    fn turn(&self) -> Side {
        self.board.turn()
    }

    fn key(&self) -> u64 {
        self.board.key()
    }

    fn key_after(&self, mv: XiangqiMove) -> Option<u64> {
        Some(self.board.key_after(mv))
    }

    fn make(&mut self, mv: XiangqiMove) {
        let before = self.now;
        let key = self.board.key();
        let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
        let taken = self.board.make(mv);
        let now = &mut self.now;
        now.quiet = if kind == Kind::Soldier { 0 } else { now.quiet.saturating_add(1) };
        let forward = kind == Kind::Soldier && mv.from.abs_diff(mv.to) > 1;
        now.linked = if forward { 0 } else { now.linked.saturating_add(1) };
        if let Some((_, kind)) = taken.piece() {
            now.phase -= eval::phase_of(kind);
            now.quiet = 0;
            now.linked = 0;
        }
        now.in_check = self.board.in_check();
        self.past.push(Step { key, mv, taken, before });
    }

    fn unmake(&mut self) {
        let step = self.past.pop().expect("a move was made");
        self.board.unmake(step.mv, step.taken);
        self.now = step.before;
    }

    fn pass(&mut self) -> bool {
        // Zugzwang is likely with few pieces.
        let side = self.board.turn();
        let pieces =
            [Kind::Horse, Kind::Chariot, Kind::Cannon].map(|kind| self.board.pieces(side, kind)).into_iter();
        if pieces.fold(0, |all, set| all | set) == 0 {
            return false;
        }
        self.past.push(Step {
            key: self.board.key(),
            mv: XiangqiMove { from: 0, to: 0 },
            taken: Cell::EMPTY,
            before: self.now,
        });
        self.now.linked = 0;
        self.board.pass();
        true
    }

    fn unpass(&mut self) {
        let step = self.past.pop().expect("a pass was made");
        self.now = step.before;
        self.board.pass();
    }

    fn verdict(&self) -> Option<NodeVerdict> {
        if let Some(known) = self.repeated() {
            return Some(known);
        }
        if self.now.quiet >= self.quiet_limit {
            let mated = self.now.in_check && !self.board.has_legal_move();
            return Some(if mated { NodeVerdict::LossIn(0) } else { NodeVerdict::Draw });
        }
        if self.now.phase == 0
            && Side::BOTH.into_iter().all(|side| self.board.pieces(side, Kind::Soldier) == 0)
            && self.board.has_legal_move()
        {
            return Some(NodeVerdict::Draw);
        }
        None
    }

    fn urgency(&self) -> Urgency {
        if self.now.in_check { Urgency::Threatened } else { Urgency::Free }
    }

    fn candidates(&self, into: &mut Vec<Candidate<XiangqiMove>>) {
        into.clear();
        let checks = self.check_squares();
        self.board.each_legal(Set::MAX, |mv| into.push(self.look_at(mv, &checks)));
    }

    fn candidate(&self, number: u16) -> Option<Candidate<XiangqiMove>> {
        const COUNT: u16 = SQUARES as u16;
        if number >= COUNT * COUNT {
            return None;
        }
        let mv = XiangqiMove { from: (number / COUNT) as u8, to: (number % COUNT) as u8 };
        self.board.is_legal(mv).then(|| self.look_at(mv, &self.check_squares()))
    }

    fn noisy(&self, into: &mut Vec<Candidate<XiangqiMove>>, checks: bool) {
        into.clear();
        let side = self.board.turn();
        let enemies = self.board.side(side.other());
        self.board.each_legal(enemies, |mv| {
            let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
            let (_, taken) = self.board.at(mv.to).expect("only captures were asked for");
            let candidate = self.capture(mv, kind, taken, false);
            if candidate.forcing {
                into.push(candidate);
            }
        });
        if checks {
            let squares = self.check_squares();
            let all = (squares.horse | squares.chariot | squares.cannon | squares.soldier) & !enemies;
            self.board.each_legal(all, |mv| {
                let (_, kind) = self.board.at(mv.from).expect("a move has a piece");
                if squares.has(kind, mv.to) && self.board.exchange_holds(mv, 0) {
                    into.push(Candidate { mv, rank: 0, takes: 0, forcing: true });
                }
            });
        }
    }

    fn see_at_least(&self, mv: XiangqiMove, points: i32) -> bool {
        self.board.exchange_holds(mv, points)
    }

    fn evaluate(&mut self) -> i32 {
        let weights = Weights::shared();
        let accumulator = self.accumulator.get_or_insert_with(|| Box::new(Accumulator::new(weights)));
        let judged = accumulator.judge(&self.board, self.now.phase, weights);
        let turn = self.board.turn();
        let strong = if judged > 0 { turn } else { turn.other() };
        let value = judged * eval::scale(&self.board, strong) / eval::SCALE_FULL;
        let value = value * (2 * STALE - i32::from(self.now.linked).min(STALE)) / (2 * STALE);
        value.clamp(-JUDGEMENT_MAX, JUDGEMENT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::search::Clock;
    use crate::search::{AlphaBeta, Options, Value, minimax};
    use crate::xiangqi::XiangqiSetup;
    use crate::{Limits, Rng, seed};

    /// A position after this many random moves with a preference for captures, without an end.
    fn scattered(plies: u32, rng: &mut Rng) -> Xiangqi {
        'again: loop {
            let mut game = Xiangqi::new(&XiangqiSetup::default()).expect("the setup is valid");
            let mut moves = Vec::new();
            while game.ply() < plies {
                game.legal_moves(&mut moves);
                let captures: Vec<XiangqiMove> =
                    moves.iter().copied().filter(|mv| game.board().at(mv.to).is_some()).collect();
                let list = if captures.is_empty() || rng.below(2) == 0 { &moves } else { &captures };
                game.play(list[rng.below(list.len() as u32) as usize]);
                if game.outcome().is_some() {
                    continue 'again;
                }
            }
            return game;
        }
    }

    fn to_depth<T>(depth: u32, ask: impl FnOnce(&mut Clock<'_>) -> T) -> T {
        let stop = AtomicBool::new(false);
        let limits =
            Limits { time: None, nodes: None, depth: Some(depth), stop: &stop, elapsed: &|| Duration::ZERO };
        ask(&mut Clock::new(&limits))
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
        // How many of so few positions are decided depends on the seed: it stays.
        let mut rng = Rng::new(5);
        let mut decided = 0;
        for round in 0..60 {
            let mut position = Position::new(&scattered(20 + 2 * round, &mut rng));
            let depth = 1 + round % 3;
            let expected = minimax(&mut position, depth, 0);
            let found = to_depth(depth, |clock| {
                AlphaBeta::new(1 << 20, plain.clone()).search(&mut position, clock, &mut |_| {})
            })
            .expect("there are moves");
            assert_eq!(found.value, expected, "round {round}, depth {depth}");
            decided += u32::from(Value::is_proven(expected));
        }
        assert!(decided > 0, "some are to end in mate");
    }

    #[test]
    fn what_is_kept_move_by_move_equals_what_is_counted_afresh() {
        let mut rng = Rng::new(seed::begin("move by move", 7));
        let mut moves = Vec::new();
        for round in 0..40 {
            let game = scattered(10 + 4 * round, &mut rng);
            let mut position = Position::new(&game);
            let before = (position.now.phase, position.key(), position.evaluate());
            let mut made = 0;
            for _ in 0..20 {
                position.board.legal_moves(&mut moves);
                if moves.is_empty() {
                    break;
                }
                position.make(moves[rng.below(moves.len() as u32) as usize]);
                made += 1;
                let fresh = Position::from_board(&position.board);
                assert_eq!(
                    (position.now.phase, position.now.in_check),
                    (fresh.now.phase, fresh.now.in_check)
                );
                assert_eq!(position.key(), position.board.fresh_key());
            }
            for _ in 0..made {
                position.unmake();
            }
            let after = (position.now.phase, position.key(), position.evaluate());
            assert_eq!(before, after);
        }
    }

    #[test]
    fn a_remembered_move_is_looked_at_as_in_the_list_and_its_key_foretold() {
        let mut rng = Rng::new(seed::begin("remembered moves", 3));
        let mut all = Vec::new();
        let mut none = 0;
        for round in 0..60 {
            let mut position = Position::new(&scattered(5 + round, &mut rng));
            position.candidates(&mut all);
            for candidate in &all {
                assert_eq!(position.candidate(Position::number(candidate.mv)), Some(*candidate));
                let key = position.key_after(candidate.mv);
                position.make(candidate.mv);
                assert_eq!(key, Some(position.key()));
                position.unmake();
            }
            for _ in 0..300 {
                let number = rng.below(1 << 16) as u16;
                if all.iter().all(|candidate| Position::number(candidate.mv) != number) {
                    assert_eq!(position.candidate(number), None);
                    none += 1;
                }
            }
        }
        assert!(none > 10_000);
    }

    #[test]
    fn the_quiet_look_sees_every_capture_that_does_not_lose_and_direct_checks() {
        // How many of them give check depends on the seed: it stays.
        let mut rng = Rng::new(11);
        let (mut loud, mut all) = (Vec::new(), Vec::new());
        let mut checks = 0;
        for round in 0..200 {
            let mut position = Position::new(&scattered(10 + round % 80, &mut rng));
            if position.urgency() != Urgency::Free {
                continue;
            }
            position.noisy(&mut loud, true);
            position.candidates(&mut all);
            for candidate in all.clone() {
                let mv = candidate.mv;
                let listed = loud.iter().filter(|other| other.mv == mv).count();
                let holds = position.see_at_least(mv, 0);
                position.make(mv);
                let check = position.now.in_check;
                position.unmake();
                if candidate.takes > 0 {
                    assert_eq!(listed, usize::from(holds), "{mv:?}");
                    assert!(candidate.forcing >= holds);
                } else {
                    assert!(listed == 0 || holds, "{mv:?}");
                    let (_, kind) = position.board.at(mv.from).expect("a move has a piece");
                    assert!(check || kind == Kind::Cannon || !candidate.forcing, "{mv:?}");
                    assert!(check || kind == Kind::Cannon || listed == 0, "{mv:?}");
                    checks += usize::from(check) * listed;
                }
            }
        }
        assert!(checks > 50, "{checks}");
    }

    #[test]
    fn a_round_of_moves_is_judged_in_the_search_as_the_rules_judge_its_end() {
        // Few pieces, so that positions repeat; whenever the rules end a game by repetition, the search must have given that
        // result at the second occurrence, if both cycles were the same.
        for repetition in RepetitionRule::ALL {
            let setup = XiangqiSetup { repetition, ..XiangqiSetup::default() };
            let seen = rounds_judged_alike(&setup);
            assert!(seen[1] > 5 && seen[2] > 20, "{repetition:?}: {seen:?}");
        }
    }

    /// Number of rounds that won, lost and drew for the side to move.
    fn rounds_judged_alike(setup: &XiangqiSetup) -> [u32; 3] {
        // How many rounds end which way depends on the seed: it stays.
        let mut rng = Rng::new(2);
        let mut seen = [0; 3];
        let fens = [
            "3k5/9/9/9/9/9/9/9/4R4/5K3 w",
            "3k5/9/9/9/9/9/9/9/4R4/4K4 w",
            "4k4/9/9/9/9/4r4/9/9/3R5/4K4 w",
            "3k5/4a4/9/9/2N6/9/6n2/9/4A4/4K4 w",
            "3k1a3/9/9/9/9/9/7r1/9/1C7/4KA3 w",
        ];
        let mut moves = Vec::new();
        for round in 0..4_000 {
            let mut game = Xiangqi::from_position(setup, fens[round % fens.len()]).expect("a position");
            // A cycle of four moves, three times.
            let mut circle: Vec<XiangqiMove> = Vec::new();
            let mut ok = true;
            for n in 0..12 {
                game.legal_moves(&mut moves);
                let mv = match n {
                    0 | 1 => moves.get(rng.below(moves.len().max(1) as u32) as usize).copied(),
                    2 | 3 => {
                        let XiangqiMove { from, to } = circle[n - 2];
                        moves.iter().copied().find(|mv| (mv.from, mv.to) == (to, from))
                    }
                    _ => moves.iter().copied().find(|&mv| mv == circle[n - 4]),
                };
                let Some(mv) = mv.filter(|mv| game.board().at(mv.to).is_none()) else {
                    ok = false;
                    break;
                };
                circle.push(mv);
                if n == 4 {
                    // The cycle is closed for the first time: the verdict of the search.
                    let known = Position::new(&game).verdict();
                    assert!(known.is_some(), "the position has been there before");
                }
                game.play(mv);
                if game.outcome().is_some() {
                    break;
                }
            }
            let Some(outcome) = game.outcome().filter(|_| ok && circle.len() == 8) else { continue };
            let once = Xiangqi::from_position(setup, fens[round % fens.len()]).expect("a position");
            let mut position = Position::new(&once);
            for &mv in &circle[..4] {
                position.make(mv);
            }
            let expected = match outcome.winner {
                None => NodeVerdict::Draw,
                Some(side) if side == position.turn() => NodeVerdict::WonByRule,
                Some(_) => NodeVerdict::LostByRule,
            };
            assert_eq!(position.verdict(), Some(expected), "{circle:?} {outcome:?}");
            seen[match expected {
                NodeVerdict::WonByRule => 0,
                NodeVerdict::LostByRule => 1,
                _ => 2,
            }] += 1;
        }
        seen
    }
}
