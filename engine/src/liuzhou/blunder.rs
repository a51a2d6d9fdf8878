//! What a move overlooks in Liuzhou chess: see [`crate::blunders`].

use super::rules::{Phase, State, bits, neighbours};
use super::{BOARD, Liuzhou, LiuzhouMove};
use crate::blunders::{Blunder, Overlooked};
use crate::{Action, Game};

/// Captures that a move leads to at once.
#[derive(Clone, Copy)]
struct Captures {
    own: i32,
    /// The most that the other side then makes with a placement or a step, after the captures that leave it least.
    left: i32,
}

impl Captures {
    const fn net(self) -> i32 {
        self.own - self.left
    }
}

impl Liuzhou {
    /// See [`crate::blunders::overlooked`].
    pub(crate) fn overlooked(&self, played: Action, watched: &[Blunder]) -> Option<Overlooked> {
        let played = self.legal_move(played).ok()?;
        let mut game = self.clone();
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        let wins: Vec<LiuzhouMove> = moves.iter().copied().filter(|&mv| game.wins_by(mv)).collect();
        if !wins.is_empty() {
            let missed = !wins.contains(&played) && watched.contains(&Blunder::MissedWin);
            return if missed { Overlooked::by::<Self>(Blunder::MissedWin, &wins) } else { None };
        }
        if watched.contains(&Blunder::OpenWin) && game.lets_win(played) {
            let sound: Vec<LiuzhouMove> = moves.iter().copied().filter(|&mv| !game.lets_win(mv)).collect();
            if !sound.is_empty() {
                return Overlooked::by::<Self>(Blunder::OpenWin, &sound);
            }
        }
        let captures = [Blunder::MissedCapture, Blunder::LeftCapture];
        if self.captures_due() > 0 || !captures.iter().any(|blunder| watched.contains(blunder)) {
            return None;
        }
        let here = game.captures_by(played);
        if here.own > 0 {
            return None;
        }
        let all: Vec<(LiuzhouMove, Captures)> = moves.iter().map(|&mv| (mv, game.captures_by(mv))).collect();
        let best = all.iter().map(|(_, captures)| captures.net()).max()?;
        if best <= here.net() {
            return None;
        }
        let takes = all.iter().any(|(_, captures)| captures.net() == best && captures.own > 0);
        let blunder = if takes { Blunder::MissedCapture } else { Blunder::LeftCapture };
        let mut sound: Vec<LiuzhouMove> =
            all.iter().filter(|(_, captures)| captures.net() == best).map(|&(mv, _)| mv).collect();
        sound.retain(|&mv| !game.lets_win(mv));
        if watched.contains(&blunder) { Overlooked::by::<Self>(blunder, &sound) } else { None }
    }

    /// Whether the side to move wins by this move, with the captures that it earns.
    fn wins_by(&mut self, mv: LiuzhouMove) -> bool {
        let mover = self.turn();
        let undo = self.try_out(mv);
        let State { live, phase, due, .. } = *self.state();
        let wins = if let Some(outcome) = self.outcome() {
            outcome.winner == Some(mover)
        } else {
            // Enough captures are left to choose.
            let due = u32::from(due).min(self.targets(mover).count_ones());
            let left = live[mover.other().index()].count_ones().saturating_sub(due);
            let counts = matches!(phase, Phase::Moving | Phase::Blocked { .. });
            self.turn() == mover && due > 0 && counts && left <= u32::from(self.setup().loses_at)
        };
        self.take_back(undo);
        wins
    }

    /// Whether the other side wins by its next move, if this one ends the turn.
    fn lets_win(&mut self, mv: LiuzhouMove) -> bool {
        let mover = self.turn();
        let undo = self.try_out(mv);
        let mut replies = Vec::new();
        if self.turn() != mover {
            self.legal_moves(&mut replies);
        }
        let lets = replies.into_iter().any(|reply| self.wins_by(reply));
        self.take_back(undo);
        lets
    }

    fn captures_by(&mut self, mv: LiuzhouMove) -> Captures {
        let mover = self.turn();
        let enemy = mover.other();
        let undo = self.try_out(mv);
        let State { live, marked, due, .. } = *self.state();
        let (theirs, occupied) = (live[enemy.index()], live[0] | live[1] | marked[0] | marked[1]);
        let captures = match (self.outcome(), self.turn() == mover) {
            (None, true) if due > 0 => {
                let targets = self.targets(mover);
                // A stone that is captured while stones are placed keeps its point.
                let freed = |taken: u8| if self.is_placing() { occupied } else { occupied & !(1 << taken) };
                let after = |taken: u8| self.claims(theirs & !(1 << taken), freed(taken));
                let left = bits(targets).map(after).min().unwrap_or(0);
                Captures { own: u32::from(due).min(targets.count_ones()) as i32, left }
            }
            (None, false) if due == 0 => Captures { own: 0, left: self.claims(theirs, occupied) },
            _ => Captures { own: 0, left: 0 },
        };
        self.take_back(undo);
        captures
    }

    /// The most captures that a side with these stones earns by one placement or step.
    fn claims(&self, live: u64, occupied: u64) -> i32 {
        let empty = BOARD & !occupied;
        let most = if self.is_placing() {
            bits(empty).map(|to| self.claim_of(to, live | 1 << to)).max()
        } else {
            bits(live)
                .flat_map(|from| bits(neighbours(from) & empty).map(move |to| (from, to)))
                .map(|(from, to)| self.claim_of(to, live & !(1 << from) | 1 << to))
                .max()
        };
        i32::from(most.unwrap_or(0))
    }
}
