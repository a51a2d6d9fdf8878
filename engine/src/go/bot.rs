//! The Go player, what its levels mean, and what it says about a position.

use std::time::Duration;

use super::life::{self, Status};
use super::net::Guide;
use super::playout::{Odds, Playouts, Policy};
use super::search::{Ending, Search};
use super::stones::{At, BLACK, EMPTY, PASS, Stones};
use super::watch::Patience;
use super::weights::Options;
use super::{Go, GoMove};
use crate::numbers::{self, Number, NumberError};
use crate::{Action, Bot, Game, Level, Limits, Point, Report, Rng, Score, Side};

/// A player of Go. It holds hardly any memory before its first search.
pub struct GoBot {
    level: Level,
    seed: u64,
    memory: usize,
    options: Options,
    ending: Ending,
    threads: usize,
    /// Time for a decision that is in no doubt.
    usual: Option<Duration>,
    /// Whether a decision ends once no more thinking could change it.
    ends_early: bool,
    /// The search of the last decision, for boards of that size.
    thinker: Option<(u8, Box<dyn Thinker>)>,
    /// The dead stones that it agreed to last, and the ply.
    agreed: Option<(u32, Vec<Point>)>,
    /// After the other side did not agree: play until nothing is left to agree about.
    play_out: bool,
}

/// What a level may use, beside the caller's limits.
#[derive(Clone, Copy)]
struct Strength {
    /// Playouts for a move; positions that the network is asked about where it leads.
    playouts: u64,
    /// How often, of 100 moves, it plays something that it has hardly looked at.
    slips: u32,
    /// Whether it goes on in its own territory rather than pass, eyes apart, until the other side passes.
    fills: bool,
    /// Whether the network leads it or gives it advice, on sizes where it does.
    network: bool,
}

impl Strength {
    const fn of(playouts: u64, slips: u32) -> Self {
        Self { playouts, slips, fills: false, network: false }
    }

    const fn filling(self) -> Self {
        Self { fills: true, ..self }
    }

    const fn with_network(playouts: u64) -> Self {
        Self { network: true, ..Self::of(playouts, 0) }
    }

    /// What this level is on a board of this size.
    fn at(level: Level, size: u8) -> Self {
        /// In place of questions, where no network knows boards so small; not measured.
        const PLAYOUTS: u64 = 5_000;
        let strengths = match size {
            ..=9 => &SMALL,
            10..=13 => &MIDDLE,
            _ => &LARGE,
        };
        let strength = strengths[usize::from(level.number()) - 1];
        if size < *Guide::SIZES.start() && strength.network {
            return Self { network: false, playouts: strength.playouts.max(PLAYOUTS), ..strength };
        }
        strength
    }
}

/// Levels 1 to 10 on boards up to 9x9; the steps are measured in `EXPERIMENTS.md`.
const SMALL: [Strength; 10] = [
    Strength::of(8, 35).filling(),
    Strength::of(18, 12),
    Strength::of(40, 3),
    Strength::of(85, 0),
    Strength::of(165, 0),
    Strength::of(330, 0),
    Strength::of(620, 0),
    Strength::of(1_350, 0),
    Strength::with_network(130),
    Strength::with_network(u64::MAX),
];

/// The same up to 13x13.
const MIDDLE: [Strength; 10] = [
    Strength::of(8, 35).filling(),
    Strength::of(16, 14),
    Strength::of(38, 2),
    Strength::of(90, 0),
    Strength::of(175, 0),
    Strength::of(340, 0),
    Strength::of(750, 0),
    Strength::with_network(1_300),
    Strength::with_network(5_000),
    Strength::with_network(u64::MAX),
];

/// The same on larger boards.
const LARGE: [Strength; 10] = [
    Strength::of(8, 35).filling(),
    Strength::of(14, 17),
    Strength::of(34, 6),
    Strength::of(72, 1),
    Strength::of(130, 0),
    Strength::of(235, 0),
    Strength::of(425, 0),
    Strength::of(780, 0),
    Strength::of(1_700, 0),
    Strength::with_network(u64::MAX),
];

/// What the tree may take unless told otherwise.
const MEMORY: usize = 128 << 20;

/// When two passes end the game, what a pass must be sure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassWhen {
    /// The count is decided, dead stones left to agreement.
    Settled,
    /// Also every dead stone is off the board, so that counting what is there gives the same.
    CleanedUp,
}

/// What the bot thinks of a position.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Moves, the best first. Never empty.
    pub moves: Vec<Considered>,
    /// Chance that the side to move wins, 0 to 1.
    pub chance: f32,
    /// Points by which the side to move is ahead at the end, on average.
    pub lead: f32,
    /// Every point from 1.0, First's for certain, to -1.0, Second's; row by row from the bottom.
    pub owners: Vec<f32>,
    /// How much each point decides the game, from -0.5 to 0.5, settled ones near 0: how much more often its owner wins than if
    /// the two had nothing to do with each other. In the order of `owners`.
    pub criticality: Vec<f32>,
    /// Playouts that this rests on, of earlier decisions too.
    pub playouts: u64,
    /// Nodes of the tree.
    pub nodes: usize,
}

/// A move that was considered.
#[derive(Clone, Debug)]
pub struct Considered {
    /// Expected play from this move on, itself first.
    pub line: Vec<GoMove>,
    /// Playouts through it.
    pub visits: u32,
    /// Chance that the side to move wins with it, 0 to 1.
    pub chance: f32,
    /// What was thought of it before looking, 0 to 1.
    pub prior: f32,
}

impl GoBot {
    /// A player of this strength; the seed colours its playouts and its errors.
    pub fn new(level: Level, seed: u64) -> Self {
        Self {
            level,
            seed,
            memory: MEMORY,
            options: Options::default(),
            ending: Ending::Agreed,
            threads: 1,
            usual: None,
            ends_early: true,
            thinker: None,
            agreed: None,
            play_out: false,
        }
    }

    /// With a tree of at most about this many bytes.
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Without the network, which leads the strongest levels or gives them advice on boards up to 13x13. What it then does is
    /// the same on every processor.
    pub fn by_playouts_alone(mut self) -> Self {
        self.options.network = 0;
        self
    }

    /// Passing only when this is so; [`PassWhen::Settled`] unless told otherwise.
    pub fn passing(mut self, when: PassWhen) -> Self {
        self.ending = match when {
            PassWhen::Settled => Ending::Agreed,
            PassWhen::CleanedUp => Ending::AsItStands,
        };
        self
    }

    /// Ends a decision after this time, counted as the limits' own, unless the choice is still in doubt; then it may take all
    /// that the limits give. `None`: it always may.
    pub fn set_usual_time(&mut self, usual: Option<Duration>) {
        self.usual = usual;
    }

    /// Whether a decision ends once no more thinking could change it; it does unless told otherwise. Where time that is not
    /// used is lost, more of it makes the tree that the next decision begins with.
    pub const fn set_ends_early(&mut self, ends_early: bool) {
        self.ends_early = ends_early;
    }

    /// Thinks about a position in play. With a limit of time what it finds is kept, and serves the positions that follow: so
    /// it may think while the other side does. `report` is called now and then while thinking. `None` when the game is over or the
    /// sides are agreeing on the dead stones.
    pub fn analyse(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Option<Analysis> {
        self.think(go, limits, Patience::default(), report)
    }

    fn think(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        patience: Patience,
        report: &mut dyn FnMut(&Analysis),
    ) -> Option<Analysis> {
        if go.outcome().is_some() || go.is_agreeing() {
            return None;
        }
        let ending = if self.play_out { Ending::AsItStands } else { self.ending };
        // Without a clock the answer depends on the arguments only, not on what was asked before.
        let keep = limits.time.is_some();
        let seed = self.seed;
        let thinker = self.thinker(go.setup().size);
        if !keep {
            thinker.seed(seed);
        }
        Some(thinker.think(go, ending, keep, patience, limits, report))
    }

    fn thinker(&mut self, size: u8) -> &mut Box<dyn Thinker> {
        if self.thinker.as_ref().is_none_or(|&(old, _)| old != size) {
            let mut options = self.options.clone();
            if !Strength::at(self.level, size).network {
                options.network = 0;
            }
            let mut thinker = thinker(size, self.memory, self.seed, options);
            thinker.set_threads(self.threads);
            self.thinker = Some((size, thinker));
        }
        let (_, thinker) = self.thinker.as_mut().expect("it was just put there");
        thinker
    }

    /// What becomes of every chain and point: a proposal for the counting. Half of the limits are spent with each side to
    /// move.
    pub fn status(&mut self, go: &Go, limits: &Limits<'_>) -> Status {
        let seed = self.seed;
        let thinker = self.thinker(go.setup().size);
        thinker.seed(seed);
        thinker.status(go, limits)
    }

    /// Plays on to the end so many times without looking ahead: for measuring how well playouts foretell.
    pub fn play_outs(&self, go: &Go, playouts: u32, seed: u64) -> PlayedOut {
        match go.setup().size {
            ..=9 => play_outs::<128, 2>(go, playouts, seed, &self.options),
            10..=13 => play_outs::<256, 4>(go, playouts, seed, &self.options),
            14..=19 => play_outs::<448, 7>(go, playouts, seed, &self.options),
            _ => play_outs::<704, 11>(go, playouts, seed, &self.options),
        }
    }

    /// What to do in this position. `None` only when the game is over.
    pub fn decide(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let chosen = self.decide_with(go, limits, &mut |analysis| report(&to_report(analysis)))?;
        report(&chosen);
        Some(chosen)
    }

    /// [`Self::decide`], telling all that it thinks meanwhile.
    pub fn decide_with(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Option<Report> {
        if go.outcome().is_some() {
            return None;
        }
        if go.is_agreeing() {
            return Some(self.agree(go, limits));
        }
        if go.ply() < 2 {
            self.play_out = false;
        }
        let strength = Strength::at(self.level, go.setup().size);
        let most = strength.playouts;
        let own = Limits {
            time: limits.time,
            nodes: match (limits.nodes, most) {
                (None, u64::MAX) => None,
                (nodes, most) => Some(nodes.map_or(most, |nodes| nodes.min(most))),
            },
            depth: None,
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        if go.is_placing_handicap()
            && let Some(mv) = free_star(go)
        {
            return Some(Report { line: vec![Go::action(mv)], score: Score::Points(0), depth: 0, nodes: 0 });
        }
        let patience = Patience { early: self.ends_early, usual: self.usual };
        let found = self.think(go, &own, patience, report)?;
        report(&found);
        let mut chosen = to_report(&found);
        let mut rng = Rng::new(self.seed ^ go.key());
        let ending = if self.play_out { Ending::AsItStands } else { self.ending };
        let thinker = self.thinker(go.setup().size);
        let moves: Vec<&Considered> = found.moves.iter().filter(|mv| mv.line[0] != GoMove::Pass).collect();
        let can_pass = !go.is_placing_handicap();
        let Some(&best) = moves.first() else { return Some(chosen) };
        let passes = can_pass && thinker.may_pass(go, ending, &found);
        if passes && (go.is_after_pass() || self.keeps_by_passing(go, limits, &found)) {
            let fills = strength.fills && !go.is_after_pass();
            chosen.line = vec![if fills { Go::action(best.line[0]) } else { Action::Pass }];
        } else if rng.below(100) < strength.slips {
            // Any move that it has thought of at all, the better thought of the likelier.
            let among = &moves[..moves.len().min(30)];
            let slip = among[rng.below(among.len() as u32).min(rng.below(among.len() as u32)) as usize];
            chosen.line = slip.line.iter().map(|&mv| Go::action(mv)).collect();
        } else {
            chosen.line = best.line.iter().map(|&mv| Go::action(mv)).collect();
        }
        Some(chosen)
    }

    /// Whether a side that passes keeps what it was thought to have: who owned the points was found out with this side to move,
    /// and the other one moves next.
    fn keeps_by_passing(&mut self, go: &Go, limits: &Limits<'_>, found: &Analysis) -> bool {
        const PLAYOUTS: u64 = 600;
        /// A point is still this side's while two playouts of three say so.
        const KEPT: f32 = 1.0 / 3.0;
        let mut next = go.clone();
        next.play(GoMove::Pass);
        let sign = if go.turn() == Side::First { 1.0 } else { -1.0 };
        let keeps = |after: &[f32]| {
            let mut points = found.owners.iter().zip(after);
            points.all(|(before, after)| before * sign <= 0.0 || after * sign > KEPT)
        };
        if let Some(owners) = self.thinker(go.setup().size).foresee(&next) {
            return keeps(&owners);
        }
        let own = Limits {
            // With a clock the tree is kept for the move that follows; the time itself may be over.
            time: limits.time.map(|_| Duration::MAX),
            nodes: Some(PLAYOUTS),
            depth: None,
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        let Some(after) = self.think(&next, &own, Patience::default(), &mut |_| {}) else { return true };
        keeps(&after.owners)
    }

    /// The next step in agreeing on the dead stones: marks what it thinks is dead, then agrees. If the other side changes what
    /// it has agreed to, it takes what is no worse for it, and else asks to play on.
    fn agree(&mut self, go: &Go, limits: &Limits<'_>) -> Report {
        const PLAYOUTS: u64 = 1_000;
        let own = Limits {
            time: limits.time,
            nodes: Some(limits.nodes.map_or(PLAYOUTS, |nodes| nodes.min(PLAYOUTS))),
            depth: None,
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        let status = self.status(go, &own);
        let mut wanted: Vec<Point> = status.dead().collect();
        wanted.sort_unstable();
        let marked: Vec<Point> = status
            .owners
            .iter()
            .map(|&(point, _)| point)
            .filter(|&point| go.at(point).is_some() && go.is_dead(point))
            .collect();
        let sign = if go.turn() == Side::First { 1.0 } else { -1.0 };
        let score = Score::Points((100.0 * sign * status.margin) as i32);
        let report = |action| Report { line: vec![action], score, depth: 1, nodes: PLAYOUTS };
        let mut sorted = marked.clone();
        sorted.sort_unstable();
        if sorted == wanted {
            self.agreed = Some((go.ply(), wanted));
            return report(Action::Agree);
        }
        // The other side has seen what we agreed to and wants something else.
        let refused =
            self.agreed.as_ref().is_some_and(|&(ply, ref agreed)| ply < go.ply() && *agreed == wanted);
        if refused {
            let margin = |dead: &[Point]| {
                let stones = Stones::<704, 11>::of(go);
                let owners = life::owners_without(&stones, dead);
                owners.into_iter().map(super::stones::margin).sum::<i32>() as f32 * sign
            };
            self.agreed = None;
            if margin(&sorted) >= margin(&wanted) {
                return report(Action::Agree);
            }
            self.play_out = true;
            return report(Action::Resume);
        }
        // One mark a decision; a mark goes for the whole chain.
        let first = status.chains.iter().find(|chain| {
            chain.stones.first().is_some_and(|point| wanted.contains(point) != marked.contains(point))
        });
        match first {
            Some(chain) => report(Action::Toggle(chain.stones[0])),
            None => report(Action::Agree),
        }
    }
}

impl Bot for GoBot {
    fn choose(
        &mut self,
        game: &crate::AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let crate::AnyGame::Go(go) = game else { return None };
        self.decide(go, limits, report)
    }

    fn choose_lines(&mut self, game: &crate::AnyGame, count: usize, limits: &Limits<'_>) -> Vec<Report> {
        let crate::AnyGame::Go(go) = game else { return Vec::new() };
        let Some(analysis) = self.analyse(go, limits, &mut |_| {}) else {
            return self.decide(go, limits, &mut |_| {}).into_iter().collect();
        };
        // One search compares all of them: those looked at most come first.
        (analysis.moves.iter().take(count))
            .map(|one| Report {
                line: one.line.iter().map(|&mv| Go::action(mv)).collect(),
                score: Score::Chance {
                    permille: (one.chance * 1000.0).clamp(0.0, 1000.0) as u16,
                    points: (analysis.lead * 100.0) as i32,
                },
                depth: one.line.len() as u32,
                nodes: one.visits.into(),
            })
            .collect()
    }

    fn set_threads(&mut self, threads: usize) {
        // More threads would make a level stronger than it says.
        if self.level == Level::MAX {
            self.threads = threads.max(1);
            if let Some((_, thinker)) = &mut self.thinker {
                thinker.set_threads(self.threads);
            }
        }
    }

    fn numbers(&mut self) -> Vec<Number> {
        numbers::list(|visit| self.options.each(visit))
    }

    fn set_number(&mut self, name: &str, value: f64) -> Result<(), NumberError> {
        numbers::set(name, value, |visit| self.options.each(visit))?;
        // What was learnt by other numbers does not count.
        self.thinker = None;
        Ok(())
    }
}

/// How playouts from a position have ended.
#[derive(Clone, Debug)]
pub struct PlayedOut {
    /// Share of them that Black has won.
    pub black: f32,
    /// Every point from 1.0, always Black's, to -1.0; row by row from the bottom.
    pub owners: Vec<f32>,
}

fn play_outs<const N: usize, const W: usize>(go: &Go, count: u32, seed: u64, options: &Options) -> PlayedOut {
    let mut search = Search::<N, W>::new(go.setup().size, 0, seed, options.clone());
    search.set(go, Ending::Agreed, false);
    search.only_play_out(count);
    PlayedOut { black: search.won_by_black(), owners: search.ownership() }
}

/// The next star point for a free handicap.
fn free_star(go: &Go) -> Option<GoMove> {
    let stars = (2..=9).rev().find_map(|stones| go.setup().stars(stones))?;
    stars
        .into_iter()
        .map(|(column, row)| GoMove::Place(Point::new(column.into(), row.into())))
        .find(|&mv| go.legal_move(Go::action(mv)).is_ok())
}

fn to_report(analysis: &Analysis) -> Report {
    let best = &analysis.moves[0];
    Report {
        line: best.line.iter().map(|&mv| Go::action(mv)).collect(),
        score: Score::Chance {
            permille: (best.chance * 1000.0).clamp(0.0, 1000.0) as u16,
            points: (analysis.lead * 100.0) as i32,
        },
        depth: best.line.len() as u32,
        nodes: analysis.playouts,
    }
}

/// A search whatever the size of the board.
trait Thinker: Send {
    fn seed(&mut self, seed: u64);
    fn set_threads(&mut self, threads: usize);
    fn think(
        &mut self,
        go: &Go,
        ending: Ending,
        keep: bool,
        patience: Patience,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Analysis;
    fn status(&mut self, go: &Go, limits: &Limits<'_>) -> Status;
    /// Whose each point will be by the network, from Black's 1 to White's -1; `None` if no network leads this search.
    fn foresee(&mut self, go: &Go) -> Option<Vec<f32>>;
    /// Whether to pass after the search that has just ended.
    fn may_pass(&self, go: &Go, ending: Ending, found: &Analysis) -> bool;
}

fn thinker(size: u8, bytes: usize, seed: u64, options: Options) -> Box<dyn Thinker> {
    match size {
        ..=9 => Box::new(Search::<128, 2>::new(size, bytes, seed, options)),
        10..=13 => Box::new(Search::<256, 4>::new(size, bytes, seed, options)),
        14..=19 => Box::new(Search::<448, 7>::new(size, bytes, seed, options)),
        _ => Box::new(Search::<704, 11>::new(size, bytes, seed, options)),
    }
}

/// Moves of a line that are shown.
const LINE: usize = 12;

impl<const N: usize, const W: usize> Thinker for Search<N, W> {
    fn seed(&mut self, seed: u64) {
        Search::seed(self, seed);
    }

    fn set_threads(&mut self, threads: usize) {
        Search::set_threads(self, threads);
    }

    fn think(
        &mut self,
        go: &Go,
        ending: Ending,
        keep: bool,
        patience: Patience,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Analysis {
        self.set(go, ending, keep);
        self.run(go, limits, patience, &mut |search| report(&analysis(search, go.turn())));
        analysis(self, go.turn())
    }

    fn status(&mut self, go: &Go, limits: &Limits<'_>) -> Status {
        let mut owned = vec![0.0; self.stones().geometry.points.len()];
        // The second half begins where the first has left the clock.
        let half = |part: u32| Limits {
            time: limits.time.map(|time| time * part / 2),
            nodes: limits.nodes.map(|nodes| nodes.div_ceil(2)),
            depth: None,
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        // Playouts alone tell what is dead; that is what was measured.
        let network = std::mem::take(&mut self.options.network);
        for (part, side) in [(1, go.turn()), (2, go.turn().other())] {
            self.set_to_move(go, side, Ending::Agreed, false);
            self.run(go, &half(part), Patience::default(), &mut |_| {});
            for (sum, owned) in owned.iter_mut().zip(self.ownership()) {
                *sum += owned / 2.0;
            }
        }
        self.options.network = network;
        if self.guide().is_some() {
            // A tree without its opinions is of no use to it.
            self.forget();
        }
        let mut status = life::status(self.stones(), &owned);
        let dead: Vec<Point> = status.dead().collect();
        let owners = life::owners_without(self.stones(), &dead);
        status.margin = self.count(&owners, Side::First) as f32 / 2.0;
        status
    }

    fn foresee(&mut self, go: &Go) -> Option<Vec<f32>> {
        Search::foresee(self, go)
    }

    fn may_pass(&self, go: &Go, ending: Ending, found: &Analysis) -> bool {
        /// Owners are decided when no more than one playout in so many says otherwise.
        const DECIDED: f32 = 0.7;
        let stones = self.stones();
        let side = go.turn();
        let status = life::status(stones, &found.owners);
        let dead: Vec<Point> = status.dead().collect();
        let as_it_stands = self.count(&stones.area(), side);
        let owners = life::owners_without(stones, &dead);
        let agreed = self.count(&owners, side);
        let is_decided = status.chains.iter().all(|chain| {
            let points = chain.stones.iter().map(|&point| {
                let at = stones.geometry.points.binary_search(&stones.geometry.at(point));
                at.map_or(0.0, |n| found.owners[n].abs())
            });
            chain.proven || points.sum::<f32>() / chain.stones.len() as f32 > DECIDED
        });
        let counts_alike = ending == Ending::Agreed || dead.is_empty();
        let wins = match ending {
            Ending::Agreed => agreed > 0 && is_decided,
            Ending::AsItStands => agreed > 0 && as_it_stands > 0,
        };
        if go.is_after_pass() && wins {
            return true;
        }
        // No point is left that is worth a move: each has an owner, and the playouts agree with it.
        let is_filled = owners.iter().zip(&found.owners).all(|(&owner, &owned)| {
            owner != EMPTY && (owned > 0.0) == (owner == BLACK) && owned.abs() > DECIDED
        });
        if is_decided && counts_alike && is_filled {
            return true;
        }
        // What is left to play, such as dame in a seki, is worse than a pass, and the pass costs nothing.
        let prefers = found.moves[0].line[0] == GoMove::Pass;
        prefers && (wins || found.moves.len() == 1 || (go.is_after_pass() && is_decided && agreed > 0))
    }
}

fn analysis<const N: usize, const W: usize>(search: &Search<N, W>, turn: Side) -> Analysis {
    let geometry = search.stones().geometry;
    let to_move = |&at: &At| if at == PASS { GoMove::Pass } else { GoMove::Place(geometry.point(at)) };
    // The tree counts with what evens out a handicap, people do not.
    let better = search.better_odds();
    let real = |share: f32| share * better / (1.0 - share + share * better);
    let moves: Vec<Considered> = search
        .tried(LINE)
        .into_iter()
        .map(|tried| Considered {
            line: tried.line.iter().map(to_move).collect(),
            visits: tried.visits,
            chance: real(tried.share.clamp(0.0, 1.0)),
            prior: tried.prior,
        })
        .collect();
    let lead = if turn == Side::First { search.margin() } else { -search.margin() };
    Analysis {
        chance: moves.first().map_or(0.5, |best| best.chance),
        moves,
        lead,
        owners: search.ownership(),
        criticality: search.criticality(),
        playouts: u64::from(search.visits()),
        nodes: search.nodes(),
    }
}

/// Plays this many games from the empty board without looking ahead, and says how many moves they took: for measuring. Light
/// playouts play anything that fills no own eye, full ones as the search does.
pub fn play_out(size: u8, light: bool, games: u32, seed: u64) -> u64 {
    fn run<const N: usize, const W: usize>(size: u8, policy: Policy, games: u32, seed: u64) -> u64 {
        let mut playouts = Playouts::<N>::new(seed, Odds::default());
        let empty = Stones::<N, W>::new(size);
        let play = |_| {
            let mut stones = empty.clone();
            u64::from(playouts.play(&mut stones, BLACK, PASS, policy))
        };
        (0..games).map(play).sum()
    }
    let policy = if light { Policy::Light } else { Policy::Full };
    match size {
        ..=9 => run::<128, 2>(size, policy, games, seed),
        10..=13 => run::<256, 4>(size, policy, games, seed),
        14..=19 => run::<448, 7>(size, policy, games, seed),
        _ => run::<704, 11>(size, policy, games, seed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_level_thinks_less_than_the_one_below_it_by_the_same_means() {
        let level = |number| Level::new(number).expect("1 to 10");
        for size in 2..=25 {
            for number in 2..=10 {
                let (below, here) =
                    (Strength::at(level(number - 1), size), Strength::at(level(number), size));
                assert!(here.slips <= below.slips, "level {number} on {size}x{size}");
                if here.network == below.network || !here.network {
                    assert!(here.playouts > below.playouts, "level {number} on {size}x{size}");
                }
                if here.network && number < 10 {
                    assert!((7..=13).contains(&size), "level {number} asks no network on {size}x{size}");
                }
            }
        }
    }
}
