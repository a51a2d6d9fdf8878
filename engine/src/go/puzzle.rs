//! Contests of Go puzzles on small boards: capture, and life and death, proved move by move.
//!
//! A chain with n liberties needs at least n moves to capture, because each takes at most one; so moves are searched only
//! while the chain has at most as many liberties as the attacker has moves. A chain in atari is saved only on its liberty or
//! by capturing an adjacent chain. Apart from these two rules all moves are searched, including the defender's pass.
//!
//! Life is unconditional life by Benson: two vital regions, so that not even two moves in a row kill. The side that makes
//! life never passes; the other side may.

use super::Go;
use crate::prover::{Contest, Stand};
use crate::{Action, Game, Point, Rng, Side};

/// The largest board that fits 128 bits with a separator column.
pub(crate) const MOST_SIZE: u8 = 9;

/// The attacker tries to capture the chain on a point.
pub(crate) struct CaptureContest {
    size: u32,
    board: u128,
    /// Points where both sides may play.
    area: u128,
    /// Whether the attacker may pass: on the whole board a tenuki is equivalent.
    passes: bool,
    target: u128,
    attacker: Side,
    now: Now,
    before: Vec<Now>,
}

#[derive(Clone, Copy)]
struct Now {
    stones: [u128; 2],
    turn: Side,
    /// The ko point, or 0.
    ko: u128,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureContestMove {
    /// A stone on the point of this bit.
    Stone(u128),
    /// A pass.
    Pass,
}

impl CaptureContest {
    /// The chain at `target`, which must be the defender's, on a board of at most 9 x 9. `enclosed_in`: the position whose
    /// attacker's wall around the chain is assumed to live, with both sides playing inside; see [`Self::inside`].
    pub(crate) fn new(game: &Go, attacker: Side, target: Point, enclosed_in: Option<&Go>) -> Option<Self> {
        let size = u32::from(game.setup().size);
        if size > u32::from(MOST_SIZE) {
            return None;
        }
        let mut siege = Self {
            size,
            board: 0,
            area: 0,
            passes: enclosed_in.is_some(),
            target: 0,
            attacker,
            now: Now { stones: [0; 2], turn: game.turn(), ko: 0 },
            before: Vec::new(),
        };
        for point in crate::game::points(size as u16, size as u16) {
            siege.board |= siege.bit(point);
        }
        siege.target = siege.bit(target);
        siege.now.ko = game.ko().map_or(0, |point| siege.bit(point));
        siege.area = match enclosed_in {
            Some(start) if start.setup().size != game.setup().size => return None,
            Some(start) => siege.inside(siege.stones(start)),
            None => siege.board,
        };
        siege.now.stones = siege.stones(game);
        Some(siege)
    }

    fn stones(&self, game: &Go) -> [u128; 2] {
        let size = self.size as u16;
        Side::BOTH.map(|side| {
            let points = crate::game::points(size, size).filter(|point| game.at(*point) == Some(side));
            points.fold(0, |set, point| set | self.bit(point))
        })
    }

    fn bit(&self, point: Point) -> u128 {
        1 << (u32::from(point.row) * (self.size + 1) + u32::from(point.column))
    }

    fn point(&self, bit: u128) -> Point {
        let n = bit.trailing_zeros();
        Point::new((n % (self.size + 1)) as u16, (n / (self.size + 1)) as u16)
    }

    fn around(&self, set: u128) -> u128 {
        let up = self.size + 1;
        ((set << 1) | (set >> 1) | (set << up) | (set >> up)) & self.board
    }

    /// The points of `within` that are connected to `from`.
    fn flood(&self, from: u128, within: u128) -> u128 {
        let mut set = from & within;
        loop {
            let more = (set | self.around(set)) & within;
            if more == set {
                return set;
            }
            set = more;
        }
    }

    /// The region connected to the target by empty points and the defender's stones, with the attacker's chains that have no
    /// liberty outside it.
    fn inside(&self, stones: [u128; 2]) -> u128 {
        let ours = stones[self.attacker.index()];
        let open = self.flood(self.target, self.board & !ours);
        let mut inside = open;
        let mut rest = ours;
        while rest != 0 {
            let chain = self.flood(rest & rest.wrapping_neg(), ours);
            rest &= !chain;
            if self.around(chain) & !ours & !open == 0 {
                inside |= chain;
            }
        }
        inside
    }

    fn liberties(&self, chain: u128) -> u128 {
        self.around(chain) & !self.now.stones[0] & !self.now.stones[1]
    }

    fn chain(&self) -> u128 {
        self.flood(self.target, self.now.stones[self.attacker.other().index()])
    }

    /// The position after the move, if it is legal; of the repetition rules only the simple ko is applied.
    fn after(&self, mv: CaptureContestMove) -> Option<Now> {
        let Now { mut stones, turn, ko } = self.now;
        let CaptureContestMove::Stone(at) = mv else {
            return Some(Now { stones, turn: turn.other(), ko: 0 });
        };
        if at == ko {
            return None;
        }
        let (us, them) = (turn.index(), turn.other().index());
        stones[us] |= at;
        let mut taken = 0;
        let mut beside = self.around(at) & stones[them];
        while beside != 0 {
            let chain = self.flood(beside & beside.wrapping_neg(), stones[them]);
            beside &= !chain;
            if self.around(chain) & !stones[us] & !stones[them] == 0 {
                taken |= chain;
            }
        }
        stones[them] &= !taken;
        let own = self.flood(at, stones[us]);
        let free = self.around(own) & !stones[us] & !stones[them];
        if free == 0 {
            return None;
        }
        let ko = if own == at && taken.is_power_of_two() && free == taken { taken } else { 0 };
        Some(Now { stones, turn: turn.other(), ko })
    }

    fn empty(&self) -> u128 {
        self.area & !self.now.stones[0] & !self.now.stones[1]
    }

    /// The points of a set, neighbours of `near` first.
    fn by_nearness(&self, set: u128, near: u128) -> impl Iterator<Item = CaptureContestMove> + use<> {
        let close = self.around(near);
        let next = self.around(close);
        [set & close, set & next & !close, set & !close & !next].into_iter().flat_map(|mut part| {
            std::iter::from_fn(move || {
                let bit = part & part.wrapping_neg();
                part &= !bit;
                (bit != 0).then_some(CaptureContestMove::Stone(bit))
            })
        })
    }
}

impl Contest for CaptureContest {
    type Move = CaptureContestMove;

    fn stand(&self) -> Stand {
        if self.now.stones[self.attacker.other().index()] & self.target == 0 {
            Stand::Reached
        } else if self.now.turn == self.attacker {
            Stand::Attack
        } else {
            Stand::Defence
        }
    }

    fn key(&self) -> u64 {
        let Now { stones: [black, white], turn, ko } = self.now;
        // Mixed, because the plain side would equal a stone in the corner.
        let turn = Rng::new(turn as u64).next_u64();
        [black, white, ko].iter().fold(turn, |key, set| {
            let key = Rng::new(key ^ *set as u64).next_u64();
            Rng::new(key ^ (*set >> 64) as u64).next_u64()
        })
    }

    fn attacks(&self, left: u32, into: &mut Vec<CaptureContestMove>) {
        let chain = self.chain();
        let liberties = self.liberties(chain);
        if left == 0 || liberties.count_ones() > left {
            return;
        }
        let them = self.attacker.other().index();
        let fits = |mv: &CaptureContestMove| {
            self.after(*mv).is_some_and(|now| {
                let chain = self.flood(self.target, now.stones[them]);
                let free = self.around(chain) & !now.stones[0] & !now.stones[1];
                chain == 0 || free.count_ones() < left
            })
        };
        into.extend(self.by_nearness(self.empty(), chain).filter(fits));
        if self.passes && liberties.count_ones() < left {
            into.push(CaptureContestMove::Pass);
        }
    }

    fn answers(&self, into: &mut Vec<CaptureContestMove>) {
        into.push(CaptureContestMove::Pass);
        let chain = self.chain();
        let liberties = self.liberties(chain);
        let legal = |mv: &CaptureContestMove| self.after(*mv).is_some();
        if liberties.count_ones() > 1 {
            into.extend(self.by_nearness(self.empty(), chain).filter(legal));
            return;
        }
        let ours = self.now.stones[self.attacker.index()];
        let mut saving = liberties;
        let mut beside = self.around(chain) & ours;
        while beside != 0 {
            let enemy = self.flood(beside & beside.wrapping_neg(), ours);
            beside &= !enemy;
            let free = self.liberties(enemy);
            if free.is_power_of_two() {
                saving |= free;
            }
        }
        into.extend(self.by_nearness(saving & self.area, chain).filter(legal));
    }

    fn make(&mut self, mv: CaptureContestMove) {
        self.before.push(self.now);
        self.now = self.after(mv).expect("only legal moves are made");
    }

    fn unmake(&mut self) {
        self.now = self.before.pop().expect("a move was made");
    }

    fn action(&self, mv: CaptureContestMove) -> Action {
        match mv {
            CaptureContestMove::Stone(bit) => Action::Place(self.point(bit)),
            CaptureContestMove::Pass => Action::Pass,
        }
    }
}

/// The owner of the chain on a point tries to make it live inside the other side's wall. The owner is the attacker of this
/// contest, but the defender of the capture contest inside it.
pub(crate) struct LifeContest(CaptureContest);

impl LifeContest {
    /// The chain at `target`, which must be `owner`'s, enclosed as in `start`; see [`CaptureContest::new`].
    pub(crate) fn new(game: &Go, owner: Side, target: Point, start: &Go) -> Option<Self> {
        CaptureContest::new(game, owner.other(), target, Some(start)).map(Self)
    }

    /// Whether the chain is unconditionally alive, by Benson's algorithm: chains and regions that do not satisfy the
    /// conditions are removed until all do.
    fn lives(&self) -> bool {
        let siege = &self.0;
        let ours = siege.now.stones[siege.attacker.other().index()];
        let empty = siege.board & !ours & !siege.now.stones[siege.attacker.index()];
        let parts = |mut rest: u128, within: u128| {
            std::iter::from_fn(move || {
                let part = siege.flood(rest & rest.wrapping_neg(), within);
                rest &= !part;
                (part != 0).then_some(part)
            })
        };
        let mut chains: Vec<u128> = parts(ours, ours).collect();
        let others = siege.board & !ours;
        let mut regions: Vec<u128> = parts(others, others).collect();
        loop {
            // A region is vital to a chain if all its empty points are the chain's liberties.
            let vital = |chain: u128| {
                let liberties = siege.around(chain);
                regions.iter().filter(|&&region| region & empty & !liberties == 0).count()
            };
            let before = (chains.len(), regions.len());
            chains.retain(|&chain| vital(chain) >= 2);
            let alive = chains.iter().fold(0, |all, chain| all | chain);
            // All chains around a region must be alive.
            regions.retain(|&region| siege.around(region) & ours & !alive == 0);
            if before == (chains.len(), regions.len()) {
                return alive & siege.target != 0;
            }
        }
    }

    fn legal(&self) -> impl Iterator<Item = CaptureContestMove> {
        let siege = &self.0;
        siege.by_nearness(siege.empty(), siege.chain()).filter(|mv| siege.after(*mv).is_some())
    }
}

impl Contest for LifeContest {
    type Move = CaptureContestMove;

    fn stand(&self) -> Stand {
        match self.0.stand() {
            Stand::Reached => Stand::Failed,
            _ if self.lives() => Stand::Reached,
            Stand::Attack => Stand::Defence,
            Stand::Defence | Stand::Failed => Stand::Attack,
        }
    }

    fn key(&self) -> u64 {
        self.0.key()
    }

    fn attacks(&self, left: u32, into: &mut Vec<CaptureContestMove>) {
        if left > 0 {
            into.extend(self.legal());
        }
    }

    fn answers(&self, into: &mut Vec<CaptureContestMove>) {
        into.extend(self.legal());
        into.push(CaptureContestMove::Pass);
    }

    fn make(&mut self, mv: CaptureContestMove) {
        self.0.make(mv);
    }

    fn unmake(&mut self) {
        self.0.unmake();
    }

    fn action(&self, mv: CaptureContestMove) -> Action {
        self.0.action(mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyGame, GameKind};

    /// Whether White's chain on a point lives in this position.
    fn lives(rows: &str, target: &str) -> bool {
        let line = format!("{rows} w - 0 0 0");
        let any = AnyGame::from_position(&GameKind::Go.default_setup_for(&line), &line).expect("a position");
        let Some(Action::Place(target)) = any.parse(target) else { panic!("{target} is a point") };
        let AnyGame::Go(go) = &any else { panic!("it is Go") };
        LifeContest::new(go, Side::Second, target, go).expect("a small board").lives()
    }

    #[test]
    fn two_eyes_live_and_one_or_a_false_one_do_not() {
        assert!(lives("7/7/7/7/bbbbb2/wwwwb2/1w1wb2", "A2"));
        assert!(!lives("7/7/7/7/bbbbb2/wwwwb2/3wb2", "A2"), "one eye of three points");
        assert!(
            lives("7/7/7/7/bbbbbbb/wwwwwwb/1w1b1wb", "A2"),
            "an enemy in an eye of three points cannot stay"
        );
        assert!(!lives("7/7/7/7/bbbbbbb/wwwbwwb/1w1w2b", "A2"), "C1 is false: D1 can be taken");
    }
}
