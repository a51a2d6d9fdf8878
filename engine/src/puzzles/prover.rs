//! Whether a goal is reached by force within so many moves: an and-or search that is exact.
//!
//! The attacker needs one move that works, the defender's every answer must fail. A game says what both may do
//! ([`Contest`]); what it leaves out of the attacker's moves narrows the puzzle ("by checks only"), what it leaves out of the
//! defender's must be no better than something that is in, or the proof is none.

#![allow(clippy::option_option, reason = "the outer one says whether the positions sufficed")]

use std::collections::HashMap;
use std::fmt::Debug;

use crate::Action;

/// How a contest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// The attacker has what the puzzle asks for.
    Reached,
    /// The attacker cannot have it any more.
    Failed,
    /// The attacker decides.
    Attack,
    /// The defender decides.
    Defence,
}

/// A position of a puzzle, with moves made and taken back in place.
pub(crate) trait Contest {
    /// One decision.
    type Move: Copy + PartialEq + Debug;

    /// How it stands.
    fn stand(&self) -> Stand;
    /// Hash of everything that decides what may follow.
    fn key(&self) -> u64;
    /// Appends the attacker's moves that may reach the goal within `left` own moves, the likeliest first.
    fn attacks(&self, left: u32, into: &mut Vec<Self::Move>);
    /// Appends the defender's moves, the likeliest to save it first. Never empty where [`Stand::Defence`].
    fn answers(&self, into: &mut Vec<Self::Move>);
    /// What an attacker's move counts: 1, or 0 for a choice that belongs to the move before it.
    fn cost(&self, _mv: Self::Move) -> u32 {
        1
    }
    /// Makes a move that [`Self::attacks`] or [`Self::answers`] gave here.
    fn make(&mut self, mv: Self::Move);
    /// Takes the last move back.
    fn unmake(&mut self);
    /// The move as the game's action.
    fn action(&self, mv: Self::Move) -> Action;
}

/// What the defender does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Moves that the attacker still needs; `None`: it does not get there.
    pub(crate) needs: Option<u32>,
    /// The defence that lasts longest, or the first that holds.
    pub(crate) action: Action,
}

/// Searches and remembers. Out of positions it knows nothing more: every question is answered `None`.
pub(crate) struct Prover {
    /// By position: fewest moves known to be enough (or `u8::MAX`), and moves known not to be enough, plus 1 (or 0).
    notes: HashMap<u64, (u8, u8)>,
    left: u64,
}

/// Positions remembered; more are searched again. 16 million bytes or so.
const NOTES: usize = 500_000;

impl Prover {
    /// May visit so many positions in all.
    pub(crate) fn new(nodes: u64) -> Self {
        Self { notes: HashMap::new(), left: nodes }
    }

    /// Whether the attacker gets there with at most `left` own moves.
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

    /// The fewest moves with which the attacker gets there, up to `most`; the inner `None` if it does not.
    pub(crate) fn fewest<C: Contest>(&mut self, contest: &mut C, most: u32) -> Option<Option<u32>> {
        for moves in 0..=most {
            if self.reaches(contest, moves)? {
                return Some(Some(moves));
            }
        }
        Some(None)
    }

    /// The attacker's moves that get there with at most `left` own moves, this one among them.
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

    /// The attacker's move that gets there soonest, within `most` own moves.
    pub(crate) fn best<C: Contest>(&mut self, contest: &mut C, most: u32) -> Option<Option<Action>> {
        let Some(fewest) = self.fewest(contest, most)? else { return Some(None) };
        Some(self.firsts(contest, fewest)?.first().copied())
    }

    /// The defender's decision against an attacker that has `left` own moves more.
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
