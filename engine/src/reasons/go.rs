//! Reasons of Go: chains that are captured, ladders, nets, groups that die or live, atari that was missed, points.

use super::{Found, Motif, Reason, point, told};
use crate::go::Go;
use crate::go::puzzle::{CaptureContest, LifeContest, MOST_SIZE};
use crate::prover::Prover;
use crate::threats::chain;
use crate::{Action, AnyGame, Game as _, Language, Point, Score, Side};

/// Fewer points, in hundredths, are nothing to speak of.
const LEAST_POINTS: i32 = 200;

impl Found<'_> {
    pub(super) fn go(&self, before: &Go, after: &Go) -> Option<Reason> {
        // After the better move the other side is to move, as after the one played.
        let could = self.better().and_then(|better| {
            let mut could = before.clone();
            could.play(could.legal_move(better).ok()?);
            Some(could)
        });
        let could = could.as_ref();
        self.captured(before, after, could)
            .or_else(|| self.put_in_atari(could))
            .or_else(|| self.net(could))
            .or_else(|| self.missed_atari(before))
            .or_else(|| self.life_and_death(could))
            .or_else(|| self.points())
    }

    /// Whether the better move keeps a stone: it is on the board then, and its chain is not caught at once or in a ladder. What was
    /// lost anyway is no reason.
    fn keeps(&self, could: Option<&Go>, at: Point) -> bool {
        let Some(could) = could else { return true };
        // The stone that was just played is not there.
        if Some(at) == point(self.mistake.played) {
            return true;
        }
        could.at(at) == Some(self.mover)
            && match chain(could, at).1.len() {
                0 | 1 => false,
                2 => !is_caught(could, at, &mut 0),
                _ => true,
            }
    }

    /// The reply captures.
    fn captured(&self, before: &Go, after: &Go, could: Option<&Go>) -> Option<Reason> {
        let (to, AnyGame::Go(replied)) = (point(self.reply)?, &self.replied) else { return None };
        let other = self.mover.other();
        let lost = replied.prisoners(other) - after.prisoners(other);
        let taken = after.prisoners(self.mover) - before.prisoners(self.mover);
        if lost == 0 {
            return None;
        }
        let own = point(self.mistake.played)?;
        let back = replied.at(own).is_none();
        if taken > 0 && back && lost > taken && chains_gone(before, after, other).contains(&to) {
            return Some(told(Motif::Snapback, vec![to], |language| match language {
                Language::Chinese => format!("吃了 {taken} 子，却被倒扑，反被吃掉 {lost} 子。"),
                Language::English => format!("This takes {taken}, and a snapback captures {lost}."),
            }));
        }
        let gone: Vec<Point> = chains_gone(after, replied, self.mover);
        if taken > 0 || !gone.iter().any(|&at| self.keeps(could, at)) {
            return None;
        }
        let name = self.mistake.before.kind().point_name(*gone.first()?);
        Some(told(Motif::Atari, gone, |language| match (language, back) {
            (Language::Chinese, true) => format!("这手棋只有一口气，立刻被提，共 {lost} 子。"),
            (Language::Chinese, false) => format!("{name}一带 {lost} 子只有一口气，被提掉。"),
            (Language::English, true) => {
                format!("What was played has one liberty left: {lost} captured at once.")
            }
            (Language::English, false) => {
                format!("The stones at {name} have one liberty left: {lost} captured.")
            }
        }))
    }

    /// The reply puts a chain in atari that cannot get out any more: in a ladder, or because what connects is captured with it.
    fn put_in_atari(&self, could: Option<&Go>) -> Option<Reason> {
        const LEAST: usize = 2;
        let (to, AnyGame::Go(replied)) = (point(self.reply)?, &self.replied) else { return None };
        let hunted = to.neighbours(u16::from(replied.setup().size)).find(|&at| {
            replied.at(at) == Some(self.mover)
                && {
                    let (stones, liberties) = chain(replied, at);
                    liberties.len() == 1 && stones.len() >= LEAST && !escapes(replied, at, &mut 0)
                }
                && self.keeps(could, at)
        })?;
        let (stones, liberties) = chain(replied, hunted);
        let name = self.mistake.before.kind().point_name(hunted);
        // Its last liberty filled: more stones, more liberties, or neither.
        let (joined, free) = placed(replied, liberties[0]).map_or((0, 0), |next| {
            let (stones, liberties) = chain(&next, hunted);
            (stones.len(), liberties.len())
        });
        let count = stones.len();
        if free > 1 {
            return Some(told(Motif::Ladder, stones, |language| match language {
                Language::Chinese => format!("{name}一带的棋被征吃，逃不掉了。"),
                Language::English => format!("The stones at {name} are caught in a ladder."),
            }));
        }
        if joined > count + 1 {
            return Some(told(Motif::ConnectAndDie, stones, |language| match language {
                Language::Chinese => format!("{name}一带 {count} 子接不归：接上也被一起吃掉。"),
                Language::English => {
                    format!(
                        "Connect and die: the {count} stones at {name} are captured even if they connect."
                    )
                }
            }));
        }
        Some(told(Motif::Atari, stones, |language| match language {
            Language::Chinese => format!("{name}一带 {count} 子被打吃，逃不掉。"),
            Language::English => format!("The {count} stones at {name} are in atari and cannot get out."),
        }))
    }

    /// The reply, at a distance, leaves a chain no way out although it is not in atari.
    fn net(&self, could: Option<&Go>) -> Option<Reason> {
        /// Stones of the chain; further moves of the other side; positions that are read.
        const LEAST: usize = 2;
        const MOVES: u32 = 3;
        const READ: u64 = 1_500;
        let (to, AnyGame::Go(replied), Some(could)) = (point(self.reply)?, &self.replied, could) else {
            return None;
        };
        let size = u16::from(replied.setup().size);
        if size > u16::from(MOST_SIZE) {
            return None;
        }
        let caught = |game: &Go, at: Point, moves: u32| {
            let mut contest = CaptureContest::new(game, self.mover.other(), at, None)?;
            Prover::new(READ).reaches(&mut contest, moves)
        };
        let mut seen: Vec<Point> = Vec::new();
        for at in crate::game::points(size, size) {
            let near = at.column.abs_diff(to.column).max(at.row.abs_diff(to.row)) <= 2;
            if !near || replied.at(at) != Some(self.mover) || seen.contains(&at) {
                continue;
            }
            let (stones, liberties) = chain(replied, at);
            seen.extend(&stones);
            let touches = to.neighbours(size).any(|beside| stones.contains(&beside));
            if touches || stones.len() < LEAST || !(2..=MOVES as usize).contains(&liberties.len()) {
                continue;
            }
            // The better move would have left a way out.
            let kept = || could.at(at) == Some(self.mover) && caught(could, at, MOVES + 1) == Some(false);
            if caught(replied, at, MOVES) == Some(true) && kept() {
                let name = self.mistake.before.kind().point_name(at);
                return Some(told(Motif::Net, stones, |language| match language {
                    Language::Chinese => format!("{name}一带的棋被枷住，逃不掉了。"),
                    Language::English => format!("The stones at {name} are caught in a net."),
                }));
            }
        }
        None
    }

    /// A group that dies by the reply and lives by the better move, or the other way round. Both are proved, where the wall around it
    /// is taken to live.
    fn life_and_death(&self, could: Option<&Go>) -> Option<Reason> {
        /// Stones of the chain; moves; positions that are read.
        const LEAST: usize = 4;
        const MOVES: u32 = 6;
        const READ: u64 = 1_500;
        let (to, AnyGame::Go(replied), AnyGame::Go(after)) = (point(self.reply)?, &self.replied, &self.after)
        else {
            return None;
        };
        let (could, size) = (could?, u16::from(replied.setup().size));
        if size > u16::from(MOST_SIZE) {
            return None;
        }
        let dies = |game: &Go, owner: Side, at: Point| {
            CaptureContest::new(game, owner.other(), at, Some(game))
                .and_then(|mut contest| Prover::new(READ).reaches(&mut contest, MOVES))
                == Some(true)
        };
        let lives = |game: &Go, owner: Side, at: Point| {
            LifeContest::new(game, owner, at, game)
                .and_then(|mut contest| Prover::new(READ).reaches(&mut contest, MOVES))
                == Some(true)
        };
        let mut seen: Vec<Point> = Vec::new();
        for at in crate::game::points(size, size) {
            let near = at.column.abs_diff(to.column).max(at.row.abs_diff(to.row)) <= 2;
            let Some(owner) = after.at(at).filter(|_| near && !seen.contains(&at)) else { continue };
            let (stones, _) = chain(after, at);
            seen.extend(&stones);
            if stones.len() < LEAST || replied.at(at) != Some(owner) || could.at(at) != Some(owner) {
                continue;
            }
            let own = owner == self.mover;
            let proved = if own {
                dies(replied, owner, at) && lives(could, owner, at)
            } else {
                lives(replied, owner, at) && dies(could, owner, at)
            };
            if proved {
                let (name, count) = (self.mistake.before.kind().point_name(at), stones.len());
                return Some(told(Motif::LifeAndDeath, stones, |language| match (language, own) {
                    (Language::Chinese, true) => format!("{name}一带 {count} 子死了，本来可以做活。"),
                    (Language::Chinese, false) => format!("{name}一带 {count} 子做活了，本来可以杀掉。"),
                    (Language::English, true) => {
                        format!("The {count} stones at {name} die, and could have lived.")
                    }
                    (Language::English, false) => {
                        format!("The {count} stones at {name} live, and could have been killed.")
                    }
                }));
            }
        }
        None
    }

    /// The better move captures.
    fn missed_atari(&self, before: &Go) -> Option<Reason> {
        let better = self.better()?;
        let mut taken = before.clone();
        taken.play(taken.legal_move(better).ok()?);
        let count = taken.prisoners(self.mover) - before.prisoners(self.mover);
        let gone = chains_gone(before, &taken, self.mover.other());
        if count == 0 {
            return None;
        }
        let at = self.mistake.before.kind().point_name(point(better)?);
        Some(told(Motif::MissedAtari, gone, |language| match language {
            Language::Chinese => format!("下在{at}可以提 {count} 子。"),
            Language::English if count == 1 => format!("{at} would have captured a stone."),
            Language::English => format!("{at} would have captured {count} stones."),
        }))
    }

    /// The better move was worth more points.
    fn points(&self) -> Option<Reason> {
        let (Score::Chance { points: could, .. }, Score::Chance { points: theirs, .. }) =
            (self.mistake.better.score, self.mistake.reply.score)
        else {
            return None;
        };
        let better = point(self.better()?)?;
        let lost = could + theirs;
        if lost < LEAST_POINTS {
            return None;
        }
        let (lost, at) = ((lost + 50) / 100, self.mistake.before.kind().point_name(better));
        Some(told(Motif::Points, vec![better], |language| match language {
            Language::Chinese => format!("这手棋大约损失 {lost} 目，{at}更大。"),
            Language::English => format!("This gives up about {lost} points: {at} was bigger."),
        }))
    }
}

/// Points of a side whose stones are on one board and not on the other.
fn chains_gone(before: &Go, after: &Go, side: Side) -> Vec<Point> {
    let size = u16::from(before.setup().size);
    crate::game::points(size, size)
        .filter(|&at| before.at(at) == Some(side) && after.at(at).is_none())
        .collect()
}

/// Positions that are read in one ladder; across a large board it takes some eighty.
const MOST_READ: u32 = 200;

/// Whether a chain with one liberty gets out if its side is to move. In doubt it does.
pub(crate) fn escapes(go: &Go, at: Point, read: &mut u32) -> bool {
    ways_out(go, at).into_iter().any(|to| gets_out(go, at, to, read))
}

/// The points where a stone of the side to move, whose chain with one liberty this is, gets it out.
pub(crate) fn saving(go: &Go, at: Point) -> Vec<Point> {
    ways_out(go, at).into_iter().filter(|&to| gets_out(go, at, to, &mut 0)).collect()
}

/// What can be tried for a chain with one liberty: extending, or capturing one of those around.
fn ways_out(go: &Go, at: Point) -> Vec<Point> {
    let (stones, liberties) = chain(go, at);
    let Some(side) = go.at(at) else { return Vec::new() };
    let size = u16::from(go.setup().size);
    let mut tries = liberties;
    for stone in &stones {
        for beside in stone.neighbours(size) {
            if go.at(beside) == Some(side.other()) {
                let (_, last) = chain(go, beside);
                if let [only] = last.as_slice()
                    && !tries.contains(only)
                {
                    tries.push(*only);
                }
            }
        }
    }
    tries
}

/// Whether a stone here gets a chain with one liberty out.
fn gets_out(go: &Go, at: Point, to: Point, read: &mut u32) -> bool {
    *read += 1;
    if *read > MOST_READ {
        return true;
    }
    let Some(next) = placed(go, to) else { return false };
    match chain(&next, at).1.len() {
        0 | 1 => false,
        2 => !is_caught(&next, at, read),
        _ => true,
    }
}

/// Whether a chain with two liberties is caught if the other side is to move.
fn is_caught(go: &Go, at: Point, read: &mut u32) -> bool {
    chain(go, at).1.into_iter().any(|to| {
        *read += 1;
        *read <= MOST_READ
            && placed(go, to).is_some_and(|next| chain(&next, at).1.len() == 1 && !escapes(&next, at, read))
    })
}

/// After a stone of the side to move; `None` if it is illegal there.
fn placed(go: &Go, at: Point) -> Option<Go> {
    let mut next = go.clone();
    next.play(next.legal_move(Action::Place(at)).ok()?);
    Some(next)
}
