//! Playouts.
//!
//! A light playout is uniformly random, except that own eyes are not filled. A full one first considers local replies to the
//! last move: captures, saves, and patterns; `EXPERIMENTS.md` has the value of each rule.

use super::patterns::FeatureWeights;
use super::stones::{BLACK, BORDER, EMPTY, PASS, Stones, Vertex, WHITE, margin, other};
use super::tactics::{nakade, saving_moves};
use crate::Rng;

/// Playout policies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// Uniform among legal moves that fill no own eye.
    Light,
    /// With local replies.
    Full,
}

/// Probability of each rule, of 256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Odds {
    /// Captures a chain adjacent to the last move, or saves one in atari.
    pub(super) atari: u32,
    /// Considers chains with two liberties adjacent to the last move.
    pub(super) two: u32,
    /// Plays a 3x3 pattern adjacent to the last move.
    pub(super) pattern: u32,
    /// Rejects a self-atari.
    pub(super) self_atari: u32,
    /// Plays the vital point of a small enemy eye space adjacent to the last move (nakade).
    pub(super) nakade: u32,
    /// Total weight of moves away from the last one, against the trained weights of its eight neighbours; 0 uses
    /// hand-crafted patterns instead.
    pub(super) away: u32,
    /// Captures a chain in atari anywhere.
    pub(super) take: u32,
    /// Plays a reply that was successful before (B. Drake, "The Last-Good-Reply Policy for Monte-Carlo Go", 2009; forgotten
    /// after a loss, H. Baier and B. Drake 2010).
    pub(super) reply: u32,
    /// Plays a self-atari that makes a killing shape, instead of rejecting it.
    pub(super) killing: u32,
    /// Takes a liberty of an enemy chain in a capturing race with an own chain adjacent to the last move.
    pub(super) race: u32,
}

impl Default for Odds {
    fn default() -> Self {
        Self {
            atari: 256,
            two: 100,
            pattern: 240,
            self_atari: 230,
            nakade: 220,
            away: 0,
            take: 128,
            reply: 0,
            killing: 128,
            race: 40,
        }
    }
}

/// Shared state of playouts, and data of the last one.
pub(super) struct Playouts<const N: usize> {
    rng: Rng,
    odds: Odds,
    numbers: &'static FeatureWeights,
    /// First player on each point, from the leaf on.
    pub(super) first: [u8; N],
    /// Move number of each first move, from the leaf on.
    pub(super) when: [u16; N],
    /// The moves of the last playout.
    played: Vec<Vertex>,
    /// Last good replies to each move, by colour of the reply.
    replies: Box<[[Vertex; N]; 2]>,
}

/// Candidates for one choice.
struct Choice {
    moves: [Vertex; Self::MOST],
    length: usize,
}

impl Choice {
    const MOST: usize = 24;

    const fn new() -> Self {
        Self { moves: [PASS; Self::MOST], length: 0 }
    }

    #[inline]
    fn add(&mut self, at: Vertex) {
        if self.length < Self::MOST {
            self.moves[self.length] = at;
            self.length += 1;
        }
    }

    fn pick(&self, rng: &mut Rng) -> Vertex {
        match self.length {
            0 => PASS,
            1 => self.moves[0],
            length => self.moves[rng.below(length as u32) as usize],
        }
    }
}

impl<const N: usize> Playouts<N> {
    pub(super) fn new(seed: u64, odds: Odds) -> Self {
        Self {
            rng: Rng::new(seed),
            odds,
            numbers: FeatureWeights::shared(),
            first: [EMPTY; N],
            when: [0; N],
            played: Vec::new(),
            replies: Box::new([[PASS; N]; 2]),
        }
    }

    /// Updates the last good replies after a playout. `turn` and `last` are those at its start.
    pub(super) fn learn(&mut self, mut turn: u8, mut last: Vertex, winner: u8) {
        if self.odds.reply == 0 || winner == EMPTY {
            return;
        }
        for &at in &self.played {
            if last != PASS && at != PASS {
                let reply = &mut self.replies[usize::from(turn) - 1][usize::from(last)];
                if turn == winner {
                    *reply = at;
                } else if *reply == at {
                    *reply = PASS;
                }
            }
            last = at;
            turn = other(turn);
        }
    }

    pub(super) const fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    #[inline]
    fn happens(&mut self, odds: u32) -> bool {
        odds > 0 && (self.rng.next_u64() >> 56) < u64::from(odds)
    }

    /// Plays until neither side has a move except in its own eyes; returns the number of moves. `last` is the move before.
    pub(super) fn play<const W: usize>(
        &mut self,
        stones: &mut Stones<N, W>,
        mut turn: u8,
        mut last: Vertex,
        policy: Policy,
    ) -> u32 {
        // Playouts end by themselves except for long ko cycles; three times the board is beyond all that do.
        let most = 3 * stones.geometry.points.len() as u32;
        let mut passes = 0;
        let mut moves = 0;
        self.played.clear();
        while passes < 2 && moves < most {
            let at = match policy {
                Policy::Full if last != PASS => match self.local(stones, turn, last) {
                    PASS => self.anywhere(stones, turn, policy),
                    at => at,
                },
                _ => self.anywhere(stones, turn, policy),
            };
            if self.odds.reply > 0 {
                self.played.push(at);
            }
            if at == PASS {
                stones.pass();
                passes += 1;
            } else {
                stones.put(at, turn);
                passes = 0;
                let first = &mut self.first[usize::from(at)];
                if *first == EMPTY {
                    *first = turn;
                    self.when[usize::from(at)] = moves as u16;
                }
            }
            last = at;
            turn = other(turn);
            moves += 1;
        }
        moves
    }

    /// A local reply to the last move; [`PASS`] if there is none.
    #[inline]
    fn local<const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8, last: Vertex) -> Vertex {
        if self.happens(self.odds.reply) {
            let at = self.replies[usize::from(turn) - 1][usize::from(last)];
            if at != PASS
                && stones.cell(at) == EMPTY
                && stones.is_legal(at, turn)
                && !stones.is_eye(at, turn)
                && !stones.is_self_atari(at, turn)
            {
                return at;
            }
        }
        if self.happens(self.odds.atari) {
            let at = self.atari(stones, turn, last);
            if at != PASS {
                return at;
            }
        }
        if self.happens(self.odds.nakade) {
            let at = nakade(stones, turn, last);
            if at != PASS {
                return at;
            }
        }
        if self.happens(self.odds.two) {
            let at = self.two(stones, turn, last);
            if at != PASS {
                return at;
            }
        }
        if self.happens(self.odds.race) {
            let at = self.race(stones, turn, last);
            if at != PASS {
                return at;
            }
        }
        if self.odds.away > 0 {
            let numbers = self.numbers;
            let mut weights = [0_u32; 8];
            let mut sum = self.odds.away;
            let eight = stones.eight(last);
            for (weight, neighbour) in weights.iter_mut().zip(eight) {
                let at = neighbour as Vertex;
                if stones.cell(at) == EMPTY
                    && !stones.is_eye(at, turn)
                    && stones.is_legal(at, turn)
                    && !stones.is_self_atari(at, turn)
                {
                    *weight = numbers.around(stones.code(at), turn);
                    sum += *weight;
                }
            }
            let mut left = self.rng.below(sum);
            for (weight, neighbour) in weights.into_iter().zip(eight) {
                if left < weight {
                    return neighbour as Vertex;
                }
                left -= weight;
            }
            return PASS;
        }
        if self.happens(self.odds.pattern) {
            let at = self.pattern(stones, turn, last);
            if at != PASS {
                return at;
            }
        }
        if self.happens(self.odds.take) {
            return self.take(stones, turn);
        }
        PASS
    }

    /// A move next to `made` that fits a pattern.
    fn pattern<const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8, made: Vertex) -> Vertex {
        let mut choice = Choice::new();
        for neighbour in stones.eight(made) {
            let at = neighbour as Vertex;
            if stones.cell(at) == EMPTY
                && stones.is_pattern(at)
                && stones.is_legal(at, turn)
                && !stones.is_self_atari(at, turn)
            {
                choice.add(at);
            }
        }
        choice.pick(&mut self.rng)
    }

    /// Captures a chain in atari anywhere.
    fn take<const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8) -> Vertex {
        let mut choice = Choice::new();
        for head in stones.in_atari().iter() {
            if stones.cell(head) == other(turn) {
                let at = stones.liberties(head).first();
                if stones.is_legal(at, turn) {
                    choice.add(at);
                }
            }
        }
        choice.pick(&mut self.rng)
    }

    /// Captures a chain that the last move left in atari, or saves one that it put in atari.
    fn atari<const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8, last: Vertex) -> Vertex {
        let mut choice = Choice::new();
        if stones.cell(last) == other(turn) && stones.count(last) == 1 {
            let at = stones.liberties(last).first();
            if stones.is_legal(at, turn) {
                choice.add(at);
            }
        }
        for neighbour in stones.four(last) {
            let stone = neighbour as Vertex;
            if stones.cell(stone) == turn && stones.count(stone) == 1 {
                saving_moves(stones, stone, |at| choice.add(at));
            }
        }
        choice.pick(&mut self.rng)
    }

    /// Extends a chain that the last move left with two liberties, or puts the last move's chain in atari.
    fn two<const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8, last: Vertex) -> Vertex {
        let mut choice = Choice::new();
        if stones.cell(last) == other(turn) && stones.count(last) == 2 {
            for at in stones.liberties(last).iter() {
                // The atari is useful if the reply leaves at most two liberties.
                let rest = stones.liberties(last).iter().find(|&rest| rest != at).unwrap_or(PASS);
                if stones.is_legal(at, turn)
                    && !stones.is_self_atari(at, turn)
                    && stones.liberties_after(rest, other(turn)) <= 2
                {
                    choice.add(at);
                }
            }
        }
        for neighbour in stones.four(last) {
            let stone = neighbour as Vertex;
            if stones.cell(stone) == turn && stones.count(stone) == 2 {
                let mut liberties = [PASS; 2];
                for (place, at) in liberties.iter_mut().zip(stones.liberties(stone).iter()) {
                    *place = at;
                }
                let after = liberties
                    .map(|at| if stones.is_legal(at, turn) { stones.liberties_after(at, turn) } else { 0 });
                // In danger if an extension after an atari leaves it in atari, or nearly.
                if after[0].min(after[1]) > 2 {
                    continue;
                }
                for (at, after) in liberties.into_iter().zip(after) {
                    if after > 2 {
                        choice.add(at);
                    }
                }
            }
        }
        choice.pick(&mut self.rng)
    }

    /// Takes a liberty of an enemy chain, without more liberties, adjacent to an own chain that the last move left with
    /// three or four.
    fn race<const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8, last: Vertex) -> Vertex {
        let mut choice = Choice::new();
        for neighbour in stones.four(last) {
            let own = neighbour as Vertex;
            if stones.cell(own) != turn || !(2..=4).contains(&stones.count(own)) {
                continue;
            }
            let (mut weakest, mut least) = (PASS, stones.count(own) + 1);
            for stone in stones.chain(own) {
                for next in stones.four(stone) {
                    let next = next as Vertex;
                    if stones.cell(next) == other(turn) && stones.count(next) < least {
                        (weakest, least) = (next, stones.count(next));
                    }
                }
            }
            if weakest == PASS {
                continue;
            }
            for at in stones.liberties(weakest).iter() {
                if stones.is_legal(at, turn) && !stones.is_eye(at, turn) && !stones.is_self_atari(at, turn) {
                    choice.add(at);
                }
            }
        }
        choice.pick(&mut self.rng)
    }

    /// A random legal move that fills no own eye and, usually, is no self-atari. [`PASS`] if there is none.
    fn anywhere<const W: usize>(&mut self, stones: &mut Stones<N, W>, turn: u8, policy: Policy) -> Vertex {
        let mut left = stones.empty().len();
        while left > 0 {
            let n = self.rng.below(left as u32) as usize;
            let at = stones.empty()[n];
            if stones.is_legal(at, turn)
                && !stones.is_eye(at, turn)
                && (policy == Policy::Light
                    || !stones.is_self_atari(at, turn)
                    || self.throws(stones, at, turn))
            {
                return at;
            }
            left -= 1;
            stones.swap_empty(n, left);
        }
        PASS
    }
}

impl<const N: usize> Playouts<N> {
    /// Whether to play a self-atari.
    fn throws<const W: usize>(&mut self, stones: &Stones<N, W>, at: Vertex, turn: u8) -> bool {
        if self.odds.killing > 0 && leaves_killing_shape(stones, at, turn) && self.happens(self.odds.killing)
        {
            return true;
        }
        !self.happens(self.odds.self_atari)
    }
}

/// Whether the enemy gets at most one eye by capturing the self-atari, if we then play the vital point.
fn leaves_killing_shape<const N: usize, const W: usize>(stones: &Stones<N, W>, at: Vertex, turn: u8) -> bool {
    let mut shape = [PASS; 7];
    shape[0] = at;
    let mut length = 1;
    let mut touches = false;
    for neighbour in stones.four(at) {
        let cell = stones.cell(neighbour as Vertex);
        if cell == other(turn) {
            touches = true;
        }
        if cell != turn || shape[..length].contains(&(neighbour as Vertex)) {
            continue;
        }
        for stone in stones.chain(neighbour as Vertex) {
            if length == shape.len() {
                return false;
            }
            shape[length] = stone;
            length += 1;
        }
    }
    let shape = &shape[..length];
    let inside =
        |at: Vertex| stones.four(at).iter().filter(|&&next| shape.contains(&(next as Vertex))).count();
    let (mut most, mut twos) = (0, 0);
    for &stone in shape {
        let degree = inside(stone);
        most = most.max(degree);
        twos += usize::from(degree >= 2);
    }
    match length {
        // A single stone can make an eye false, if it touches something.
        1 => touches,
        2 => false,
        3 => true,
        4 => most == 3 || twos == 4,
        // A cross, or a square and one more (bulky five).
        5 => most == 4 || (most == 3 && twos == 4),
        6 => most == 4 && twos >= 4,
        _ => false,
    }
}

/// Ownership at the end of a playout, when all empty points except seki and dame are eyes, in the order of the geometry's
/// points.
pub(super) fn owners<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    mut each: impl FnMut(Vertex, i32),
) -> i32 {
    let mut sum = 0;
    for &at in &stones.geometry.points {
        let owner = match stones.cell(at) {
            EMPTY => {
                let seen = stones.four(at).into_iter().fold(0, |seen, neighbour| {
                    let cell = stones.cell(neighbour as Vertex);
                    // The border has both bits and is ignored.
                    if cell == BORDER { seen } else { seen | cell }
                });
                if seen == BLACK || seen == WHITE { seen } else { EMPTY }
            }
            stone => stone,
        };
        let points = margin(owner);
        each(at, points);
        sum += points;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;
    use crate::go::stones::WHITE;

    #[test]
    fn stones_thrown_in_kill_where_what_they_leave_makes_one_eye() {
        // Own stones, and the point of the self-atari; nothing else matters for the shape.
        for (stones, at, kills) in [
            (&[(3, 3), (4, 3)][..], (5, 3), true),
            (&[(3, 3)][..], (4, 3), false),
            (&[(3, 3), (4, 3), (5, 3)][..], (6, 3), false),
            (&[(3, 3), (4, 3), (5, 3)][..], (4, 4), true),
            (&[(3, 3), (4, 3), (3, 4)][..], (4, 4), true),
            (&[(3, 3), (4, 3), (3, 4), (4, 4)][..], (5, 4), true),
            (&[(3, 3), (4, 3), (5, 3), (6, 3)][..], (7, 3), false),
        ] {
            let mut board = Stones::<128, 2>::new(9);
            for &(column, row) in stones {
                board.put(board.geometry.at(Point::new(column, row)), BLACK);
            }
            let at = board.geometry.at(Point::new(at.0, at.1));
            assert_eq!(leaves_killing_shape(&board, at, BLACK), kills, "{stones:?} and {at}");
        }
    }

    #[test]
    fn a_playout_ends_with_a_board_that_its_owners_fill() {
        let mut playouts = Playouts::<128>::new(1, Odds::default());
        for (n, policy) in [Policy::Light, Policy::Full].into_iter().cycle().take(200).enumerate() {
            let mut stones = Stones::<128, 2>::new(9);
            let moves = playouts.play(&mut stones, BLACK, PASS, policy);
            assert!(moves > 60, "playout {n}");
            // Only eyes are left.
            for &at in stones.empty() {
                for colour in [BLACK, WHITE] {
                    if stones.is_legal(at, colour) && !stones.is_eye(at, colour) {
                        assert!(moves == 243 || stones.is_self_atari(at, colour), "playout {n} at {at}");
                    }
                }
            }
            let exact = stones.area().into_iter().map(margin).sum::<i32>();
            let quick = owners(&stones, |_, _| {});
            // They differ only in dame and seki, in regions of several points.
            assert!((exact - quick).abs() <= 8, "{exact} {quick}");
        }
    }
}
