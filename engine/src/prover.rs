//! An exact AND-OR search: whether a goal is reached by force within a number of moves.
//!
//! The attacker needs one move that works (OR node); every reply of the defender must fail (AND node). A game lists the
//! moves of both ([`Contest`]): leaving out attacker's moves restricts the puzzle ("by checks only"); a defender's move may
//! be left out only if it is no better than a listed one, otherwise the proof is invalid.

#![allow(clippy::option_option, reason = "the outer one says whether the positions sufficed")]

use std::collections::HashMap;
use std::fmt::Debug;

use crate::Action;

/// State of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// The attacker has reached the goal.
    Reached,
    /// The attacker can no longer reach the goal.
    Failed,
    /// The attacker is to move.
    Attack,
    /// The defender is to move.
    Defence,
}

/// A position of a puzzle, with moves made and unmade in place.
pub(crate) trait Contest {
    /// A decision.
    type Move: Copy + PartialEq + Debug;

    /// The state of the position.
    fn stand(&self) -> Stand;
    /// Hash of everything that determines the possible continuations.
    fn key(&self) -> u64;
    /// Appends the attacker's moves that may reach the goal within `left` own moves, most promising first.
    fn attacks(&self, left: u32, into: &mut Vec<Self::Move>);
    /// Appends the defender's moves, most promising first. Never empty at [`Stand::Defence`].
    fn answers(&self, into: &mut Vec<Self::Move>);
    /// Number of moves that an attacker's move counts as: 1, or 0 for a choice that belongs to the move before it.
    fn cost(&self, _mv: Self::Move) -> u32 {
        1
    }
    /// Makes a move from [`Self::attacks`] or [`Self::answers`].
    fn make(&mut self, mv: Self::Move);
    /// Unmakes the last move.
    fn unmake(&mut self);
    /// The action of a move.
    fn action(&self, mv: Self::Move) -> Action;
}

/// The defender's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Number of moves that the attacker still needs; `None`: the defence holds.
    pub(crate) needs: Option<u32>,
    /// The defence that holds out longest, or the first that holds.
    pub(crate) action: Action,
}

/// The search with its memory. When its node budget is exhausted, every query returns `None`.
pub(crate) struct Prover {
    /// By position: the smallest number of moves known to suffice (or `u8::MAX`), and 1 plus the largest known not to
    /// suffice (or 0).
    notes: HashMap<u64, (u8, u8)>,
    left: u64,
}

/// Maximum number of positions remembered, about 16 MB; further ones are searched again.
const NOTES: usize = 500_000;

impl Prover {
    /// A prover with this total node budget.
    pub(crate) fn new(nodes: u64) -> Self {
        Self { notes: HashMap::new(), left: nodes }
    }

    /// Whether the attacker reaches the goal within `left` own moves.
    pub(crate) fn reaches<C: Contest>(&mut self, contest: &mut C, left: u32) -> Option<bool> {
        let stand = contest.stand();
        match stand {
            Stand::Reached => return Some(true),
            Stand::Failed => return Some(false),
            Stand::Attack | Stand::Defence => {}
        }
        let key = contest.key();
        let (enough, short) = self.notes.get(&key).copied().unwrap_or((u8::MAX, 0));
        if left >= u32::from(enough) {
            return Some(true);
        }
        if left < u32::from(short) {
            return Some(false);
        }
        self.left = self.left.checked_sub(1)?;
        let mut moves = Vec::new();
        let attack = stand == Stand::Attack;
        if attack {
            contest.attacks(left, &mut moves);
        } else {
            contest.answers(&mut moves);
        }
        let mut reached = !attack;
        for mv in moves {
            let cost = if attack { contest.cost(mv) } else { 0 };
            if cost > left {
                continue;
            }
            contest.make(mv);
            let found = self.reaches(contest, left - cost);
            contest.unmake();
            if found? == attack {
                reached = attack;
                break;
            }
        }
        if self.notes.len() < NOTES || self.notes.contains_key(&key) {
            let note = if reached { (left as u8, short) } else { (enough, left as u8 + 1) };
            self.notes.insert(key, note);
        }
        Some(reached)
    }

    /// The minimum number of moves with which the attacker reaches the goal, up to `most`; inner `None` if it does not.
    pub(crate) fn fewest<C: Contest>(&mut self, contest: &mut C, most: u32) -> Option<Option<u32>> {
        for moves in 0..=most {
            if self.reaches(contest, moves)? {
                return Some(Some(moves));
            }
        }
        Some(None)
    }

    /// All attacker's moves that reach the goal within `left` own moves, counting the move.
    pub(crate) fn firsts<C: Contest>(&mut self, contest: &mut C, left: u32) -> Option<Vec<Action>> {
        let mut moves = Vec::new();
        contest.attacks(left, &mut moves);
        let mut found = Vec::new();
        for mv in moves {
            let cost = contest.cost(mv);
            if cost > left {
                continue;
            }
            contest.make(mv);
            let reaches = self.reaches(contest, left - cost);
            contest.unmake();
            if reaches? {
                found.push(contest.action(mv));
            }
        }
        Some(found)
    }

    /// The attacker's move that reaches the goal soonest, within `most` own moves.
    pub(crate) fn best<C: Contest>(&mut self, contest: &mut C, most: u32) -> Option<Option<Action>> {
        let Some(fewest) = self.fewest(contest, most)? else { return Some(None) };
        Some(self.firsts(contest, fewest)?.first().copied())
    }

    /// The defender's reply if the attacker has `left` own moves left.
    pub(crate) fn reply<C: Contest>(&mut self, contest: &mut C, left: u32) -> Option<Reply> {
        let mut moves = Vec::new();
        contest.answers(&mut moves);
        let mut longest: Option<Reply> = None;
        for mv in moves {
            let action = contest.action(mv);
            contest.make(mv);
            let needs = self.fewest(contest, left);
            contest.unmake();
            let needs = needs?;
            if needs.is_none() {
                return Some(Reply { needs, action });
            }
            if longest.is_none_or(|reply| reply.needs < needs) {
                longest = Some(Reply { needs, action });
            }
        }
        longest
    }
}
