//! The bot's decisions in openings: colours, numbers of fifth moves, and stones after which the other player chooses.
//!
//! Each is judged by short searches that depend only on the position and the seed: a stone before a choice of colours should
//! leave both sides equal, and so should the number of fifth moves; a colour is chosen by the score.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::board::{Board, Square, Tables};
use super::position::Position;
use super::stage::Step;
use super::vcf::Solver;
use super::{Gomoku, fifths};
use crate::search::{AlphaBeta, Clock, Options, Value};
use crate::{Action, Choice, Game, Limits, Point, Rng, Side};

/// Candidates for a stone that should leave both sides equal, and nodes for each: 60 ms on an old handheld. Levels with fewer
/// nodes place a random stone.
pub(super) const BALANCING_TRIED: usize = 12;
pub(super) const BALANCING_NODES: u64 = 4_000;
/// The same in renju's openings, where up to five stones are each followed by a choice.
const EQUAL_NODES: u64 = 2_000;
/// Candidates for fifth moves and for stones in an area, and nodes for each: 40 ms on an old handheld.
const RANKED: usize = 24;
const RANKING_NODES: u64 = 1_000;
/// A fifth of the score that multiplies the odds of winning by e: below it two sides are equal.
pub(super) const EVEN: i32 = 80;

/// What a level looks at.
pub(super) struct Balance {
    /// Nodes of the level.
    pub(super) nodes: u64,
    /// Percentage of the network's output that is used.
    pub(super) net: i32,
    pub(super) seed: u64,
    /// Whether the level searches at all.
    pub(super) searches: bool,
}

impl Balance {
    /// A decision that is no plain move. `None`: it is one, or nothing is legal.
    pub(super) fn decide(&self, game: &Gomoku) -> Option<Action> {
        if game.stage().is_plain_move() || game.outcome().is_some() {
            return None;
        }
        let mut rng = Rng::new(self.seed ^ game.key());
        if !game.choices().is_empty() {
            let choice = if self.searches { self.choice(game) } else { None };
            return choice.or_else(|| pick(game.choices(), &mut rng)).map(Action::Choose);
        }
        let ranked = |points: Vec<(i32, Point)>| points.first().map(|&(_, point)| point);
        let point = match game.stage().step() {
            Step::Offer | Step::Pick if self.searches => ranked(self.ranked(game)),
            // Outside the central square there is no choice of colours afterwards.
            Step::Stone(_) if self.searches && !leads_to_choice(game) && !lays_out(game) => {
                ranked(self.ranked(game))
            }
            Step::Stone(_) if leads_to_choice(game) && self.nodes >= BALANCING_NODES => {
                self.equal(game, &mut rng)
            }
            _ => None,
        };
        point.or_else(|| pick(&near_centre(game), &mut rng)).map(Action::Place)
    }

    fn choice(&self, game: &Gomoku) -> Option<Choice> {
        let choices = game.choices();
        let next = game.next_color();
        let fifths = usize::from(game.stage().fifths());
        let ten = choices.iter().find(|choice| matches!(choice, Choice::Fifths(_)));
        // For Black, whose fifth moves count down.
        let values =
            |after: &Gomoku| -> Vec<i32> { self.ranked(after).into_iter().map(|(value, _)| value).collect() };
        match game.stage().step() {
            Step::Fifths(_) => {
                let values = values(&self.before_fifth(game)?);
                // White chooses the worst of the best so many.
                let even = values.iter().take(choices.len()).enumerate().min_by_key(|(_, value)| value.abs());
                even.map(|(n, _)| choices[n])
            }
            Step::Colours(_) if fifths > 0 => {
                let values = values(&self.before_fifth(game)?);
                let worst = values.get(fifths - 1).or(values.last())?;
                Some(if *worst > 0 { Choice::Black } else { Choice::White })
            }
            Step::Colours(_) if let Some(&ten @ Choice::Fifths(count)) = ten => {
                let values = values(&self.before_fifth(game)?);
                let worst = values.get(usize::from(count) - 1);
                // Else Black places one stone and White chooses after it, so that White is the better side.
                Some(if worst.is_some_and(|&worst| worst > EVEN) { ten } else { Choice::White })
            }
            _ => {
                let value = self.value(game, BALANCING_NODES);
                let better = if value >= 0 { next } else { next.other() };
                Some(if better == Side::First { Choice::Black } else { Choice::White })
            }
        }
    }

    /// The position of Black's fifth move: this one, or after the best fourth stone of White.
    fn before_fifth(&self, game: &Gomoku) -> Option<Gomoku> {
        let mut after = game.edited(&[], game.next_color());
        if after.next_color() == Side::Second {
            let best = self.search(&after, BALANCING_NODES).map(|(_, square)| square)?;
            after.play(after.legal_move(Action::Place(best.point())).ok()?);
        }
        Some(after)
    }

    /// The stone after which the sides are most equal, among some by chance.
    fn equal(&self, game: &Gomoku, rng: &mut Rng) -> Option<Point> {
        let mut points = near_centre(game);
        let mut tried = Vec::new();
        while tried.len() < BALANCING_TRIED && !points.is_empty() {
            tried.push(points.swap_remove(rng.below(points.len() as u32) as usize));
        }
        tried.into_iter().min_by_key(|&point| {
            let after = after(game, point);
            after.map_or(Value::INFINITE, |after| self.value(&after, EQUAL_NODES).abs())
        })
    }

    /// Points for the next stone with their values for its player, best first; in White's choice of a fifth move those of
    /// White. No two are the same by symmetry where that matters.
    fn ranked(&self, game: &Gomoku) -> Vec<(i32, Point)> {
        let offers = game.stage().step() != Step::Pick;
        let mut points = Vec::new();
        if offers {
            let candidates = candidates(game);
            let fifth = game.stage().is_settled() || game.is_offering();
            for point in candidates {
                // Of equal fifth moves only one can be offered.
                if points.len() < RANKED
                    && !(fifth && fifths::same(game, point, points.iter().copied()).is_some())
                {
                    points.push(point);
                }
            }
        } else {
            points.extend(game.offered());
        }
        let nodes = RANKING_NODES.min(self.nodes);
        let mut ranked: Vec<(i32, Point)> = (points.into_iter())
            .filter_map(|point| {
                let after = after(game, point)?;
                // The other side is next, except where White chooses Black's stone and is next itself.
                let value = self.value(&after, nodes);
                Some((if offers { -value } else { value }, point))
            })
            .collect();
        // Stable, so that equal values keep the order of the candidates.
        ranked.sort_by_key(|&(value, _)| std::cmp::Reverse(value));
        ranked
    }

    /// Absolute score by a short search; the worst if there is none.
    pub(super) fn lead(&self, game: &Gomoku) -> i32 {
        self.search(game, BALANCING_NODES).map_or(Value::INFINITE, |(value, _)| value.abs())
    }

    /// The score of a short search for the colour of the next stone.
    fn value(&self, game: &Gomoku, nodes: u64) -> i32 {
        self.search(game, nodes).map_or(0, |(value, _)| value)
    }

    fn search(&self, game: &Gomoku, nodes: u64) -> Option<(i32, Square)> {
        let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
        let nodes = Some(nodes.min(self.nodes));
        let limits = Limits { time: None, nodes, depth: None, stop: &stop, elapsed: &elapsed };
        let board = Board::new(game, Tables::shared(game.setup().rule));
        let mut position = Position::new(board, Solver::new()).with_net(self.net);
        let mut search = AlphaBeta::new((1 << 20) / 8, Options::default());
        let found = search.search(&mut position, &mut Clock::new(&limits), &mut |_| {})?;
        Some((found.value, *found.line.first()?))
    }
}

/// The legal points, those that a static look prefers first.
fn candidates(game: &Gomoku) -> Vec<Point> {
    let board = Board::new(game, Tables::shared(game.setup().rule));
    let (us, them) = (game.next_color(), game.next_color().other());
    let mut legal: Vec<(i32, i32, Point)> = (board.all_empty())
        .filter(|square| game.legal_move(Action::Place(square.point())).is_ok())
        .map(|square| {
            let worth =
                i32::from(board.shape(square, us).attack) + i32::from(board.shape(square, them).defence);
            (-worth, distance(game, square.point()), square.point())
        })
        .collect();
    legal.sort_unstable();
    legal.into_iter().map(|(.., point)| point).collect()
}

/// The position after Black's or White's stone on a legal point, with all decisions left out.
fn after(game: &Gomoku, point: Point) -> Option<Gomoku> {
    game.legal_move(Action::Place(point)).ok()?;
    let mut after = game.edited(&[], game.next_color());
    after.play(after.legal_move(Action::Place(point)).ok()?);
    Some(after)
}

/// Whether a choice follows the next stone.
fn leads_to_choice(game: &Gomoku) -> bool {
    !game.stage().after_stone().choices().is_empty()
}

/// Whether the next stone is one of both colours by the same player.
fn lays_out(game: &Gomoku) -> bool {
    let then = game.stage().after_stone();
    then.choices().is_empty() && then.player(game.next_color().other()) == game.turn()
}

/// Legal points in the middle of the board, or nearest to it.
fn near_centre(game: &Gomoku) -> Vec<Point> {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let mut points: Vec<Point> = moves
        .into_iter()
        .filter_map(|mv| match Gomoku::action(mv) {
            Action::Place(point) => Some(point),
            _ => None,
        })
        .collect();
    let nearest = points.iter().map(|&point| distance(game, point)).min().unwrap_or(0);
    points.retain(|&point| distance(game, point) <= nearest.max(4));
    points
}

fn distance(game: &Gomoku, point: Point) -> i32 {
    let middle = i32::from(game.setup().size / 2);
    (i32::from(point.column) - middle).abs().max((i32::from(point.row) - middle).abs())
}

fn pick<T: Copy>(among: &[T], rng: &mut Rng) -> Option<T> {
    (!among.is_empty()).then(|| among[rng.below(among.len() as u32) as usize])
}
