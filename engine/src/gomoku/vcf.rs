//! Forced wins: each move of the attacker is a four (VCF, victory by continuous fours), or a four or an open three (VCT), so
//! that the defender has one reply or few.
//!
//! Every win found is proven, because all replies that could help were tried. "Not found" proves nothing unless the search
//! was exhaustive ([`Solver::vcf`] with enough moves and nodes).

use super::board::{Board, Square};
use super::shape::Threat;
use crate::search::Clock;

/// A forced win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Win {
    /// Number of plies of both sides up to the five.
    pub(super) plies: u32,
    /// The first move.
    pub(super) first: Square,
}

/// The search for forced wins, with a transposition table.
#[derive(Clone)]
pub(super) struct Solver {
    table: Vec<Entry>,
    /// Node budget left.
    left: u32,
    /// Percentage of the clock after which the search gives up.
    share: u32,
}

/// The entry of a position and a kind of attack.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    first: Square,
    /// Plies to the win; 0 if none was found.
    plies: u8,
    /// Number of attacker's moves within which there is no win.
    searched: u8,
}

/// 2^15 entries of 16 bytes: half a megabyte stays in the L2 cache of a handheld's processor.
const ENTRIES: usize = 1 << 15;
/// XORed to the key of VCT entries, which share the table with VCF entries.
const VCT_KEY: u64 = 0x7468_7265_6573_0000;
/// Maximum number of attacking moves per position in a VCT search, best first. With more, the search explodes.
const VCT_WIDTH: usize = 16;

impl Solver {
    /// A solver that allocates its table at the first search.
    pub(super) const fn new() -> Self {
        Self { table: Vec::new(), left: 0, share: 100 }
    }

    /// Frees the table.
    pub(super) fn forget(&mut self) {
        self.table = Vec::new();
    }

    /// A VCF for the side to move in at most `moves` moves, the five included. Visits at most `nodes` positions; if fewer
    /// were needed, `None` is a proof.
    pub(super) fn vcf(
        &mut self,
        board: &mut Board,
        moves: u32,
        nodes: u32,
        clock: &mut Clock<'_>,
    ) -> Option<Win> {
        if board.fours(board.turn()) == 0 {
            return None;
        }
        self.begin(nodes, 100);
        self.attack_vcf(board, moves, clock)
    }

    /// As [`Self::vcf`], with the minimum number of moves.
    pub(super) fn shortest_vcf(
        &mut self,
        board: &mut Board,
        moves: u32,
        nodes: u32,
        clock: &mut Clock<'_>,
    ) -> Option<Win> {
        (1..=moves).find_map(|moves| self.vcf(board, moves, nodes, clock))
    }

    /// A VCT for the side to move in at most `moves` moves, by iterative deepening. Gives up when `share` percent of the
    /// clock are used.
    pub(super) fn vct(
        &mut self,
        board: &mut Board,
        moves: u32,
        nodes: u32,
        share: u32,
        clock: &mut Clock<'_>,
    ) -> Option<Win> {
        self.begin(nodes, share);
        (2..=moves).find_map(|moves| self.attack_vct(board, moves, clock))
    }

    fn begin(&mut self, nodes: u32, share: u32) {
        if self.table.is_empty() {
            self.table = vec![Entry { key: 0, first: Square(0), plies: 0, searched: 0 }; ENTRIES];
        }
        self.left = nodes;
        self.share = share;
    }

    fn is_over(&mut self, clock: &mut Clock<'_>) -> bool {
        let look = self.share < 100 && self.left.is_multiple_of(128);
        if self.left == 0 || clock.tick() || (look && clock.has_used(self.share)) {
            self.left = 0;
            return true;
        }
        self.left -= 1;
        false
    }

    fn probe(&self, key: u64) -> Option<Entry> {
        let entry = self.table[key as usize % ENTRIES];
        (entry.key == key).then_some(entry)
    }

    /// Stores a result. `None` proves "no win within `moves`" only if the search was not cut short.
    fn store(&mut self, key: u64, win: Option<Win>, moves: u32) {
        let entry = match win {
            Some(win) => Entry { key, first: win.first, plies: win.plies as u8, searched: 0 },
            None if self.left > 0 => Entry { key, first: Square(0), plies: 0, searched: moves as u8 },
            None => return,
        };
        self.table[key as usize % ENTRIES] = entry;
    }

    fn attack_vcf(&mut self, board: &mut Board, moves: u32, clock: &mut Clock<'_>) -> Option<Win> {
        if self.is_over(clock) {
            return None;
        }
        let us = board.turn();
        let them = us.other();
        if board.count(us, Threat::Five) > 0 {
            return Some(Win { plies: 1, first: board.five(us) });
        }
        if moves < 2 {
            return None;
        }
        let must = match board.count(them, Threat::Five) {
            0 => None,
            1 => Some(board.five(them)),
            _ => return None,
        };
        let fails = |must| board.threat(must, us) < Threat::Four || board.is_forbidden(must);
        if must.is_some_and(fails) || board.fours(us) == 0 {
            return None;
        }
        if must.is_none()
            && let Some(first) = board.two_fours(us)
        {
            return Some(Win { plies: 3, first });
        }
        if moves < 3 && must.is_none() {
            return None;
        }
        let key = board.key();
        if let Some(entry) = self.probe(key) {
            if entry.plies > 0 && u32::from(entry.plies) < 2 * moves {
                return Some(Win { plies: entry.plies.into(), first: entry.first });
            }
            if entry.plies == 0 && u32::from(entry.searched) >= moves {
                return None;
            }
        }
        let mut attacks = List::new();
        if let Some(must) = must {
            attacks.push(must, 0);
        } else {
            for square in board.near() {
                let shape = board.shape(square, us);
                if shape.threat >= Threat::Four && !board.is_forbidden(square) {
                    attacks.push(square, shape.attack);
                }
            }
            attacks.sort();
        }
        let mut win = None;
        for first in attacks.squares() {
            board.make(first);
            // The defence must have removed the attacker's five, otherwise the attack succeeds.
            let found = if board.count(them, Threat::Five) > 0 {
                None
            } else {
                let answer = board.five(us);
                if board.is_forbidden(answer) {
                    // The five cannot be stopped.
                    Some(Win { plies: 1, first: answer })
                } else {
                    board.make(answer);
                    let found = self.attack_vcf(board, moves - 1, clock);
                    board.unmake();
                    found
                }
            };
            board.unmake();
            if let Some(found) = found {
                win = Some(Win { plies: found.plies + 2, first });
                break;
            }
            if self.left == 0 {
                break;
            }
        }
        self.store(key, win, moves);
        win
    }

    fn attack_vct(&mut self, board: &mut Board, moves: u32, clock: &mut Clock<'_>) -> Option<Win> {
        if self.is_over(clock) {
            return None;
        }
        let us = board.turn();
        let them = us.other();
        if board.count(us, Threat::Five) > 0 {
            return Some(Win { plies: 1, first: board.five(us) });
        }
        let must = match board.count(them, Threat::Five) {
            0 => None,
            1 => Some(board.five(them)),
            _ => return None,
        };
        let key = board.key() ^ VCT_KEY;
        if let Some(entry) = self.probe(key) {
            if entry.plies > 0 {
                return Some(Win { plies: entry.plies.into(), first: entry.first });
            }
            if u32::from(entry.searched) >= moves {
                return None;
            }
        }
        if let Some(win) = self.attack_vcf(board, moves.max(6), clock) {
            return Some(win);
        }
        if moves < 2 || self.left == 0 {
            return None;
        }
        let mut attacks = List::new();
        let pressed = board.count(them, Threat::TwoFours) > 0;
        let consider = |attacks: &mut List, square: Square| {
            let shape = board.shape(square, us);
            let answers = !pressed || board.threat(square, them) >= Threat::Four;
            let attacks_by = shape.threat >= Threat::Four || (shape.threat >= Threat::Three && answers);
            if attacks_by && !board.is_forbidden(square) {
                attacks.push(square, shape.attack + board.shape(square, them).defence / 4);
            }
        };
        match must {
            Some(must) => consider(&mut attacks, must),
            None => board.near().for_each(|square| consider(&mut attacks, square)),
        }
        attacks.sort();
        let mut win = None;
        for first in attacks.squares().take(VCT_WIDTH) {
            board.make(first);
            let found = self.defend(board, moves - 1, clock);
            board.unmake();
            if let Some(plies) = found {
                win = Some(Win { plies: plies + 1, first });
                break;
            }
            if self.left == 0 {
                break;
            }
        }
        self.store(key, win, moves);
        win
    }

    /// Number of plies in which the side to move loses by force against every reply.
    fn defend(&mut self, board: &mut Board, moves: u32, clock: &mut Clock<'_>) -> Option<u32> {
        if self.is_over(clock) {
            return None;
        }
        let us = board.turn();
        let them = us.other();
        if board.count(us, Threat::Five) > 0 {
            return None;
        }
        let fives = board.count(them, Threat::Five);
        if fives >= 2 {
            return Some(2);
        }
        let mut answers = List::new();
        let mut longest;
        if fives == 1 {
            let answer = board.five(them);
            if !board.is_forbidden(answer) {
                answers.push(answer, 0);
            }
            longest = 2;
        } else {
            // Without a threat of an open four, or with an own one that is faster, no reply is forced.
            if !board.has_two_fours(them) || board.count(us, Threat::TwoFours) > 0 {
                return None;
            }
            for square in board.near() {
                let (own, theirs) = (board.shape(square, us), board.shape(square, them));
                let helps = own.threat >= Threat::Four || theirs.threat >= Threat::Four;
                if helps && !board.is_forbidden(square) {
                    answers.push(square, own.attack + theirs.defence);
                }
            }
            answers.sort();
            // If all replies are forbidden points, the open four follows.
            longest = 4;
        }
        for answer in answers.squares() {
            board.make(answer);
            let found = self.attack_vct(board, moves, clock);
            board.unmake();
            longest = longest.max(found?.plies + 1);
        }
        Some(longest)
    }
}

/// A list of squares with ranks, on the stack because one is needed per node.
struct List {
    items: [(i16, Square); List::CAPACITY],
    length: usize,
}

impl List {
    /// At least the number of empty squares of any board, so that no reply is left out of a proof.
    const CAPACITY: usize = 400;

    const fn new() -> Self {
        Self { items: [(0, Square(0)); Self::CAPACITY], length: 0 }
    }

    fn push(&mut self, square: Square, rank: i16) {
        if self.length < Self::CAPACITY {
            self.items[self.length] = (rank, square);
            self.length += 1;
        }
    }

    /// Sorts by descending rank; stable.
    fn sort(&mut self) {
        self.items[..self.length].sort_by_key(|&(rank, _)| std::cmp::Reverse(rank));
    }

    fn squares(&self) -> impl Iterator<Item = Square> + use<> {
        let items = self.items;
        (0..self.length).map(move |n| items[n].1)
    }
}
