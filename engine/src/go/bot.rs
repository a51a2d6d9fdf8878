//! The Go bot with its levels, and its analysis of positions.

use std::time::Duration;

use super::life::{self, Status};
use super::playout::{Odds, Playouts, Policy};
use super::search::{Ending, Guide, Search};
use super::stones::{BLACK, EMPTY, PASS, Stones, Vertex};
use super::time_manager::StopRule;
use super::weights::Options;
use super::{Go, GoMove};
use crate::parameters::{self, Parameter, ParameterError};
use crate::{Action, Bot, Game, Limits, Point, Report, Rng, Score, Side, Tier};

/// The Go bot. It allocates its tree at the first search.
pub struct GoBot {
    level: Tier,
    seed: u64,
    memory: usize,
    options: Options,
    ending: Ending,
    threads: usize,
    /// Time for a decision without doubt.
    usual: Option<Duration>,
    /// Whether a decision ends as soon as more playouts cannot change it.
    ends_early: bool,
    /// The search of the last decision, with its board size.
    thinker: Option<(u8, Box<dyn Thinker>)>,
    /// The dead stones of the last agreement, with the ply.
    agreed: Option<(u32, Vec<Point>)>,
    /// Set after the other side did not agree: play until there is nothing to disagree about.
    play_out: bool,
}

/// Limits of a level, in addition to the caller's.
#[derive(Clone, Copy)]
struct Strength {
    /// Playouts per move; or network evaluations where the network leads the search.
    playouts: u64,
    /// Percentage of moves that are chosen almost at random.
    slips: u32,
    /// Whether it fills its own territory, except eyes, instead of passing first.
    fills: bool,
    /// Whether it uses the network, on board sizes where there is one.
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

    /// The caller's limits and this strength's own, whichever is less.
    fn limit<'a>(&self, limits: &Limits<'a>) -> Limits<'a> {
        let nodes = match (limits.nodes, self.playouts) {
            (None, u64::MAX) => None,
            (nodes, most) => Some(nodes.map_or(most, |nodes| nodes.min(most))),
        };
        Limits { nodes, depth: None, ..*limits }
    }

    /// What this level is on a board of this size.
    fn at(level: Tier, size: u8) -> Self {
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

/// Levels 1 to 10 on boards up to 9x9; calibrated by matches, see `EXPERIMENTS.md`.
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

/// Levels 1 to 10 on boards up to 13x13.
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

/// Levels 1 to 10 on larger boards.
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

/// Default size of the tree in bytes.
const MEMORY: usize = 128 << 20;

/// Condition for a pass that ends the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassWhen {
    /// The score is decided; dead stones are left to agreement.
    Settled,
    /// In addition, all dead stones have been captured, so that area scoring of the board as it is gives the same result.
    CleanedUp,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Moves, best first. Never empty.
    pub moves: Vec<Considered>,
    /// Winning chance of the side to move, 0 to 1.
    pub chance: f32,
    /// Expected lead of the side to move in points.
    pub lead: f32,
    /// Ownership of every point, from 1.0 (certainly First's) to -1.0 (Second's); row by row from the bottom.
    pub owners: Vec<f32>,
    /// Criticality of each point, from -0.5 to 0.5, near 0 for settled ones: how much more often its owner wins than if
    /// ownership and winning were independent. In the order of `owners`.
    pub criticality: Vec<f32>,
    /// Number of playouts, including those of earlier decisions.
    pub playouts: u64,
    /// Number of nodes in the tree.
    pub nodes: usize,
}

/// A candidate move.
#[derive(Clone, Debug)]
pub struct Considered {
    /// Principal variation, starting with the move.
    pub line: Vec<GoMove>,
    /// Number of playouts through it.
    pub visits: u32,
    /// Winning chance of the side to move after it, 0 to 1.
    pub chance: f32,
    /// Prior probability, 0 to 1.
    pub prior: f32,
}

impl GoBot {
    /// A player of this strength; the seed colours its playouts and its errors.
    pub fn new(level: Tier, seed: u64) -> Self {
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

    /// Without the network, which leads the search of the highest levels, or advises it, on boards up to 13x13. Results are
    /// then the same on every processor.
    pub fn by_playouts_alone(mut self) -> Self {
        self.options.network = 0;
        self
    }

    /// With this condition for passing; the default is [`PassWhen::Settled`].
    pub fn passing(mut self, when: PassWhen) -> Self {
        self.ending = match when {
            PassWhen::Settled => Ending::Agreed,
            PassWhen::CleanedUp => Ending::AsItStands,
        };
        self
    }

    /// Ends a decision after this time (measured as the limits' time), unless the choice is in doubt; then it may use the
    /// full limits. `None`: always the full limits.
    pub fn set_usual_time(&mut self, usual: Option<Duration>) {
        self.usual = usual;
    }

    /// Whether a decision ends as soon as more playouts cannot change it; the default is true. If unused time is lost
    /// anyway, more playouts improve the tree for the next decision.
    pub const fn set_ends_early(&mut self, ends_early: bool) {
        self.ends_early = ends_early;
    }

    /// Searches a position in play. With a time limit the tree is kept for following positions, so it can be used to ponder.
    /// `report` is called occasionally. `None` when the game is over or the sides are agreeing on dead stones.
    pub fn analyse(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Option<Analysis> {
        self.think(go, limits, StopRule::default(), report)
    }

    fn think(
        &mut self,
        go: &Go,
        limits: &Limits<'_>,
        stop_rule: StopRule,
        report: &mut dyn FnMut(&Analysis),
    ) -> Option<Analysis> {
        if go.outcome().is_some() || go.is_agreeing() {
            return None;
        }
        let ending = if self.play_out { Ending::AsItStands } else { self.ending };
        // Without a time limit the tree is cleared, so that the result depends only on the arguments.
        let keep = limits.time.is_some();
        let seed = self.seed;
        let thinker = self.thinker(go.setup().size);
        if !keep {
            thinker.seed(seed);
        }
        Some(thinker.think(go, ending, keep, stop_rule, limits, report))
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

    /// The life-and-death status of every chain and point, as a proposal for scoring. Half of the limits are used for each
    /// side to move.
    pub fn status(&mut self, go: &Go, limits: &Limits<'_>) -> Status {
        let seed = self.seed;
        let thinker = self.thinker(go.setup().size);
        thinker.seed(seed);
        thinker.status(go, limits)
    }

    /// Plays this many playouts without a tree, to measure how well they predict results.
    pub fn play_outs(&self, go: &Go, playouts: u32, seed: u64) -> PlayedOut {
        match go.setup().size {
            ..=9 => play_outs::<128, 2>(go, playouts, seed, &self.options),
            10..=13 => play_outs::<256, 4>(go, playouts, seed, &self.options),
            14..=19 => play_outs::<448, 7>(go, playouts, seed, &self.options),
            _ => play_outs::<704, 11>(go, playouts, seed, &self.options),
        }
    }

    /// Chooses a decision. `None` only when the game is over.
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

    /// As [`Self::decide`], with reports of every search.
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
        let own = strength.limit(limits);
        if go.is_placing_handicap()
            && let Some(mv) = free_star(go)
        {
            return Some(Report { line: vec![Go::action(mv)], score: Score::Points(0), depth: 0, nodes: 0 });
        }
        let stop_rule = StopRule { early: self.ends_early, usual: self.usual };
        let found = self.think(go, &own, stop_rule, report)?;
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
            // A random move among the candidates, weighted by their priors.
            let among = &moves[..moves.len().min(30)];
            let slip = among[rng.below(among.len() as u32).min(rng.below(among.len() as u32)) as usize];
            chosen.line = slip.line.iter().map(|&mv| Go::action(mv)).collect();
        } else {
            chosen.line = best.line.iter().map(|&mv| Go::action(mv)).collect();
        }
        Some(chosen)
    }

    /// Whether a side that passes keeps its territory: ownership was determined with this side to move, but the other one
    /// moves next.
    fn keeps_by_passing(&mut self, go: &Go, limits: &Limits<'_>, found: &Analysis) -> bool {
        const PLAYOUTS: u64 = 600;
        /// A point counts as kept while at least two of three playouts agree.
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
            // With a time limit the tree is kept for the following move, although the time may be used up.
            time: limits.time.map(|_| Duration::MAX),
            nodes: Some(PLAYOUTS),
            depth: None,
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        let Some(after) = self.think(&next, &own, StopRule::default(), &mut |_| {}) else { return true };
        keeps(&after.owners)
    }

    /// The next step of agreeing on dead stones: marks the chains considered dead, then agrees. If the other side has
    /// changed the marks, accepts them if they are not worse, otherwise resumes play.
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
        // The other side has seen our agreement and has changed the marks.
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
        // One mark per decision; a mark applies to the whole chain.
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

    fn choose_among(
        &mut self,
        game: &crate::AnyGame,
        among: &dyn Fn(Action) -> bool,
        limits: &Limits<'_>,
    ) -> Option<Report> {
        // The most visited come first.
        let lines = self.choose_lines(game, usize::MAX, limits, &mut |_| {});
        lines.into_iter().find(|line| among(line.line[0]))
    }

    fn choose_lines(
        &mut self,
        game: &crate::AnyGame,
        count: usize,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Vec<Report> {
        let crate::AnyGame::Go(go) = game else { return Vec::new() };
        let own = Strength::at(self.level, go.setup().size).limit(limits);
        let Some(analysis) = self.analyse(go, &own, &mut |analysis| report(&to_report(analysis))) else {
            return self.decide(go, limits, report).into_iter().collect();
        };
        // One search compares all of them: the most visited come first.
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
        if self.level == Tier::MAX {
            self.threads = threads.max(1);
            if let Some((_, thinker)) = &mut self.thinker {
                thinker.set_threads(self.threads);
            }
        }
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        parameters::list(|visit| self.options.each(visit))
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        parameters::set(name, value, |visit| self.options.each(visit))?;
        // Results with other parameters are discarded.
        self.thinker = None;
        Ok(())
    }
}

/// Results of playouts from a position.
#[derive(Clone, Debug)]
pub struct PlayedOut {
    /// Share of Black's wins.
    pub black: f32,
    /// Ownership of every point, from 1.0 (always Black's) to -1.0; row by row from the bottom.
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

/// A search on boards of any size.
trait Thinker: Send {
    fn seed(&mut self, seed: u64);
    fn set_threads(&mut self, threads: usize);
    fn think(
        &mut self,
        go: &Go,
        ending: Ending,
        keep: bool,
        stop_rule: StopRule,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Analysis;
    fn status(&mut self, go: &Go, limits: &Limits<'_>) -> Status;
    /// Ownership by the network, from Black's 1 to White's -1; `None` if no network leads this search.
    fn foresee(&mut self, go: &Go) -> Option<Vec<f32>>;
    /// Whether to pass after the last search.
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

/// Maximum length of a variation, in moves.
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
        stop_rule: StopRule,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Analysis),
    ) -> Analysis {
        self.set(go, ending, keep);
        self.run(go, limits, stop_rule, &mut |search| report(&analysis(search, go.turn())));
        analysis(self, go.turn())
    }

    fn status(&mut self, go: &Go, limits: &Limits<'_>) -> Status {
        let mut owned = vec![0.0; self.stones().geometry.points.len()];
        // The second half starts at the clock time where the first has ended.
        let half = |part: u32| Limits {
            time: limits.time.map(|time| time * part / 2),
            nodes: limits.nodes.map(|nodes| nodes.div_ceil(2)),
            depth: None,
            stop: limits.stop,
            elapsed: limits.elapsed,
        };
        // Dead stones are determined by playouts alone, which is what was measured.
        let network = std::mem::take(&mut self.options.network);
        for (part, side) in [(1, go.turn()), (2, go.turn().other())] {
            self.set_to_move(go, side, Ending::Agreed, false);
            self.run(go, &half(part), StopRule::default(), &mut |_| {});
            for (sum, owned) in owned.iter_mut().zip(self.ownership()) {
                *sum += owned / 2.0;
            }
        }
        self.options.network = network;
        if self.guide().is_some() {
            // A tree without network evaluations is useless with the network.
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
        /// Ownership counts as decided at this absolute value.
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
        // Every point is decided, and the playouts agree with the stones on the board.
        let is_filled = owners.iter().zip(&found.owners).all(|(&owner, &owned)| {
            owner != EMPTY && (owned > 0.0) == (owner == BLACK) && owned.abs() > DECIDED
        });
        if is_decided && counts_alike && is_filled {
            return true;
        }
        // Remaining moves, such as dame in a seki, are worse than a pass, and the pass costs nothing.
        let prefers = found.moves[0].line[0] == GoMove::Pass;
        prefers && (wins || found.moves.len() == 1 || (go.is_after_pass() && is_decided && agreed > 0))
    }
}

fn analysis<const N: usize, const W: usize>(search: &Search<N, W>, turn: Side) -> Analysis {
    let geometry = search.stones().geometry;
    let to_move = |&at: &Vertex| if at == PASS { GoMove::Pass } else { GoMove::Place(geometry.point(at)) };
    // The tree includes the handicap bonus, which is not part of the result.
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

/// Plays this many playouts from the empty board, and returns the total number of moves, for benchmarks. Light playouts are
/// uniformly random without filling own eyes, full ones are those of the search.
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
        let level = |number| Tier::new(number).expect("1 to 10");
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
