//! Priors of moves.
//!
//! Each reason for or against a move counts as a number of virtual playouts won or lost.

use super::features::{distance, is_open};
use super::ladder;
use super::stones::{EMPTY, PASS, Stones, Vertex};
use super::tactics::{distinct_saving_moves, nakade};
use crate::parameters::Visit;

/// Weights of the reasons, in playouts. Tuned by self-play; see `EXPERIMENTS.md`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reasons {
    /// For every move, half of them wins: inertia of the value.
    pub(super) even: f32,
    /// Captures one stone; additional weight for each further one.
    pub(super) take: [f32; 2],
    /// Saves one stone in atari; additional weight for each further one.
    pub(super) save: [f32; 2],
    /// Extends a chain that is captured nevertheless: losses.
    pub(super) run_in_vain: f32,
    /// Catches one stone in a ladder; additional weight for each further one.
    pub(super) catch: [f32; 2],
    /// Prevents a ladder.
    pub(super) secure: f32,
    /// Self-atari: losses.
    pub(super) self_atari: f32,
    /// Fits a local pattern.
    pub(super) pattern: f32,
    /// Close to the last move, by distance; see [`distance`].
    pub(super) near: [f32; 4],
    /// On the first line, on the second, far from any stone: losses.
    pub(super) low: [f32; 2],
    /// On the third or fourth line, far from any stone.
    pub(super) open: f32,
    /// Nakade.
    pub(super) nakade: f32,
    /// Factor of all weights except the first.
    pub(super) all: f32,
}

impl Reasons {
    /// Visits every parameter with its name; see EXPERIMENTS.md.
    pub(super) fn each(&mut self, visit: Visit<'_>) {
        let mut show = |name, number: &mut f32| {
            visit(name, (0.0, 200.0), crate::parameters::ParameterRef::Single(number));
        };
        show("prior-even", &mut self.even);
        show("prior-pattern", &mut self.pattern);
        show("prior-self-atari", &mut self.self_atari);
        show("prior-secure", &mut self.secure);
        show("prior-open", &mut self.open);
        show("prior-run", &mut self.run_in_vain);
        show("prior-nakade", &mut self.nakade);
        show("prior-all", &mut self.all);
        let kinds = [
            (["prior-take", "prior-take-each"], &mut self.take),
            (["prior-save", "prior-save-each"], &mut self.save),
            (["prior-catch", "prior-catch-each"], &mut self.catch),
            (["prior-low", "prior-second"], &mut self.low),
        ];
        for (names, numbers) in kinds {
            for (name, number) in names.into_iter().zip(numbers) {
                show(name, number);
            }
        }
        let names = ["prior-near", "prior-near-2", "prior-near-3", "prior-near-4"];
        for (name, number) in names.into_iter().zip(&mut self.near) {
            show(name, number);
        }
    }
}

impl Default for Reasons {
    fn default() -> Self {
        Self {
            even: 10.0,
            take: [15.0, 8.0],
            save: [12.0, 8.0],
            run_in_vain: 10.0,
            catch: [10.0, 6.0],
            secure: 10.0,
            self_atari: 12.0,
            pattern: 9.0,
            near: [10.0, 8.0, 5.0, 3.0],
            low: [10.0, 6.0],
            open: 8.0,
            nakade: 25.0,
            all: 1.0,
        }
    }
}

/// Maximum number of further stones that count.
const MANY: u16 = 8;

/// A move with its prior: virtual playouts, and wins among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    pub(super) at: Vertex,
    pub(super) visits: f32,
    pub(super) wins: f32,
    /// Probability of the move by its features.
    pub(super) chance: f32,
}

impl Prior {
    pub(super) fn win(&mut self, playouts: f32) {
        self.visits += playouts;
        self.wins += playouts;
    }

    fn lose(&mut self, playouts: f32) {
        self.visits += playouts;
    }
}

/// Writes a prior for every move that is legal (except superko) and fills no own eye into `into`.
pub(super) fn priors<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    last: Vertex,
    reasons: &Reasons,
    into: &mut Vec<Prior>,
) {
    into.clear();
    let mut place = [u16::MAX; N];
    for &at in &stones.geometry.points {
        if stones.cell(at) == EMPTY && stones.is_legal(at, turn) && !stones.is_eye(at, turn) {
            place[usize::from(at)] = into.len() as u16;
            into.push(Prior { at, visits: reasons.even, wins: reasons.even / 2.0, chance: 0.0 });
        }
    }
    let mut tell = |at: Vertex, playouts: f32, wins: bool| {
        if let Some(prior) = into.get_mut(usize::from(place[usize::from(at)])) {
            if wins {
                prior.win(playouts);
            } else {
                prior.lose(playouts);
            }
        }
    };
    for &stone in &stones.geometry.points {
        if stones.cell(stone) == EMPTY || stones.head(stone) != stone {
            continue;
        }
        let more = f32::from((stones.stones(stone) - 1).min(MANY));
        let weight = |[one, each]: [f32; 2]| one + more * each;
        let own = stones.cell(stone) == turn;
        match (own, stones.count(stone)) {
            (true, 1) => {
                for at in distinct_saving_moves(stones, stone) {
                    let mut next = stones.clone();
                    next.put(at, turn);
                    if ladder::is_safe(&next, stone) {
                        tell(at, weight(reasons.save), true);
                    } else {
                        tell(at, reasons.run_in_vain, false);
                    }
                }
            }
            (false, 1) => {
                // Chains that cannot escape can be captured later.
                let urgent = ladder::escapes(stones, stone);
                let part = if urgent { 1.0 } else { 0.5 };
                tell(stones.liberties(stone).first(), part * weight(reasons.take), true);
            }
            (false, 2) => {
                let at = ladder::catch(stones, stone);
                if at != PASS {
                    tell(at, weight(reasons.catch), true);
                }
            }
            (true, 2) if ladder::catch(stones, stone) != PASS => {
                for at in stones.liberties(stone).iter() {
                    if stones.is_legal(at, turn) && stones.liberties_after(at, turn) >= 2 {
                        let mut next = stones.clone();
                        next.put(at, turn);
                        if ladder::is_safe(&next, stone) {
                            tell(at, reasons.secure, true);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    if last != PASS {
        let at = nakade(stones, turn, last);
        if at != PASS {
            tell(at, reasons.nakade, true);
        }
    }
    for prior in into.iter_mut() {
        of_place(stones, turn, last, reasons, prior);
        let [visits, wins] = [reasons.even, reasons.even / 2.0];
        prior.visits = visits + (prior.visits - visits) * reasons.all;
        prior.wins = wins + (prior.wins - wins) * reasons.all;
    }
}

/// Priors by location.
fn of_place<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    last: Vertex,
    reasons: &Reasons,
    prior: &mut Prior,
) {
    let at = prior.at;
    if stones.is_self_atari(at, turn) {
        prior.lose(reasons.self_atari);
    } else if stones.is_pattern(at) {
        prior.win(reasons.pattern);
    }
    if last != PASS
        && let Some(&weight) = reasons.near.get(usize::from(distance(stones, at, last)).saturating_sub(2))
    {
        prior.win(weight);
    }
    let line = stones.geometry.line(at);
    if line <= 4 && is_open(stones, at) {
        match line {
            1 | 2 => prior.lose(reasons.low[usize::from(line) - 1]),
            _ => prior.win(reasons.open),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;
    use crate::go::stones::{BLACK, WHITE};

    fn share(list: &[Prior], stones: &Stones<128, 2>, column: u16, row: u16) -> f32 {
        let at = stones.geometry.at(Point::new(column, row));
        list.iter().find(|prior| prior.at == at).map_or(-1.0, |prior| prior.wins / prior.visits)
    }

    #[test]
    fn saving_stones_is_thought_better_than_a_move_elsewhere_and_throwing_them_away_worse() {
        let mut stones = Stones::<128, 2>::new(9);
        for (column, row, colour) in [
            (4, 4, BLACK),
            (4, 5, BLACK),
            (3, 4, WHITE),
            (5, 4, WHITE),
            (3, 5, WHITE),
            (5, 5, WHITE),
            (4, 6, WHITE),
            (0, 1, WHITE),
            (1, 1, WHITE),
            (2, 0, WHITE),
        ] {
            stones.put(stones.geometry.at(Point::new(column, row)), colour);
        }
        let mut list = Vec::new();
        priors(&stones, BLACK, PASS, &Reasons::default(), &mut list);
        let elsewhere = share(&list, &stones, 7, 2);
        assert!(share(&list, &stones, 4, 3) > elsewhere);
        assert!(share(&list, &stones, 0, 0) < elsewhere, "a self-atari in the corner");
        assert_eq!(list.len(), 81 - 10);
    }
}
