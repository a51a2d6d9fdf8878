//! Contests of Liuzhou chess puzzles: formations and forced wins in the moving phase, proved step by step.

use super::rules::{Phase, Undo};
use super::{Liuzhou, LiuzhouMove};
use crate::prover::{Contest, Stand};
use crate::{Action, Game, Side};

/// The attacker tries to make a capturing formation before the other side does, or, if `wins`, to win the game.
pub(crate) struct FormationContest {
    game: Liuzhou,
    attacker: Side,
    wins: bool,
    made: Vec<Undo>,
}

impl FormationContest {
    /// The history of the game counts for the repetition rule.
    pub(crate) fn new(game: &Liuzhou, attacker: Side, wins: bool) -> Self {
        Self { game: game.clone(), attacker, wins, made: Vec::new() }
    }
}

impl Contest for FormationContest {
    type Move = LiuzhouMove;

    fn stand(&self) -> Stand {
        if let Some(outcome) = self.game.outcome() {
            return if outcome.winner == Some(self.attacker) { Stand::Reached } else { Stand::Failed };
        }
        let state = self.game.state();
        let ours = state.turn == self.attacker;
        if !self.wins {
            if state.phase != Phase::Moving {
                return Stand::Failed;
            }
            if state.due > 0 {
                return if ours { Stand::Reached } else { Stand::Failed };
            }
        }
        if ours { Stand::Attack } else { Stand::Defence }
    }

    fn key(&self) -> u64 {
        self.game.key()
    }

    fn attacks(&self, left: u32, into: &mut Vec<LiuzhouMove>) {
        let mut moves = Vec::new();
        self.game.each_legal(|mv| moves.push(mv));
        let live = self.game.state().live[self.attacker.index()];
        let claim = |mv: &LiuzhouMove| match *mv {
            LiuzhouMove::Step(from, to) => self.game.claim_of(to, live & !(1 << from) | 1 << to),
            _ => 0,
        };
        if left <= 1 && !self.wins {
            moves.retain(|mv| claim(mv) > 0);
        } else {
            moves.sort_by_key(|mv| std::cmp::Reverse(claim(mv)));
        }
        into.extend(moves);
    }

    fn answers(&self, into: &mut Vec<LiuzhouMove>) {
        let live = self.game.state().live[self.attacker.other().index()];
        let start = into.len();
        self.game.each_legal(|mv| into.push(mv));
        into[start..].sort_by_key(|mv| {
            std::cmp::Reverse(match *mv {
                LiuzhouMove::Step(from, to) => self.game.claim_of(to, live & !(1 << from) | 1 << to),
                _ => 0,
            })
        });
    }

    fn cost(&self, mv: LiuzhouMove) -> u32 {
        u32::from(!matches!(mv, LiuzhouMove::Capture(_)))
    }

    fn make(&mut self, mv: LiuzhouMove) {
        let undo = self.game.try_out(mv);
        self.made.push(undo);
    }

    fn unmake(&mut self) {
        let undo = self.made.pop().expect("a move was made");
        self.game.take_back(undo);
    }

    fn action(&self, mv: LiuzhouMove) -> Action {
        Liuzhou::action(mv)
    }
}

impl Liuzhou {
    /// Due captures, and formations that either side could make with its next placement or step.
    pub(crate) fn threats(&self) -> Vec<crate::threats::Threat> {
        use crate::threats::{Threat, ThreatKind};
        let mut found = Vec::new();
        let state = self.state();
        if state.due > 0 {
            let at = super::rules::bits(self.targets(state.turn)).map(super::rules::to_point).collect();
            return vec![Threat { kind: ThreatKind::CaptureDue, side: state.turn, at }];
        }
        if !matches!(state.phase, Phase::Placing | Phase::Moving) {
            return found;
        }
        for side in Side::BOTH {
            let mut game = self.clone();
            if side != state.turn {
                game.skip();
            }
            let live = state.live[side.index()];
            let mut at = Vec::new();
            game.each_legal(|mv| {
                let (to, stones) = match mv {
                    LiuzhouMove::Place(point) => (point, live | 1 << point),
                    LiuzhouMove::Step(from, to) => (to, live & !(1 << from) | 1 << to),
                    LiuzhouMove::Capture(_) | LiuzhouMove::Pass => return,
                };
                let point = super::rules::to_point(to);
                if game.claim_of(to, stones) > 0 && !at.contains(&point) {
                    at.push(point);
                }
            });
            found.push(Threat { kind: ThreatKind::CaptureDue, side, at });
        }
        found
    }
}
