//! Reasons of Go: chains that are captured, ladders, atari that was missed, points.

use super::{Found, Motif, Reason, point, told};
use crate::go::Go;
use crate::threats::chain;
use crate::{Action, AnyGame, Game as _, Language, Point, Score, Side};

/// Fewer points, in hundredths, are nothing to speak of.
const LEAST_POINTS: i32 = 200;

impl Found<'_> {
    pub(super) fn go(&self, before: &Go, after: &Go) -> Option<Reason> {
        self.captured(before, after)
            .or_else(|| self.ladder(after))
            .or_else(|| self.missed_atari(before))
            .or_else(|| self.points())
    }

    /// The reply captures.
    fn captured(&self, before: &Go, after: &Go) -> Option<Reason> {
        let (to, AnyGame::Go(replied)) = (point(self.reply)?, &self.replied) else { return None };
        let other = self.mover.other();
        let lost = replied.prisoners(other) - after.prisoners(other);
        let taken = after.prisoners(self.mover) - before.prisoners(self.mover);
        if lost == 0 {
            return None;
        }
        let own = point(self.mistake.played)?;
        let back = replied.at(own).is_none();
        if taken > 0 && back && lost > taken {
            return Some(told(Motif::Snapback, vec![to], |language| match language {
                Language::Chinese => format!("吃了 {taken} 子，却被倒扑，反被吃掉 {lost} 子。"),
                Language::English => format!("This takes {taken}, and a snapback captures {lost}."),
            }));
        }
        if taken > 0 {
            return None;
        }
        let gone: Vec<Point> = chains_gone(after, replied, self.mover);
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

    /// The reply puts a chain in atari that cannot get out any more.
    fn ladder(&self, after: &Go) -> Option<Reason> {
        const LEAST: usize = 2;
        let (to, AnyGame::Go(replied)) = (point(self.reply)?, &self.replied) else { return None };
        let beside = to.neighbours(u16::from(after.setup().size));
        let hunted = {
            let mut beside = beside;
            beside.find(|&at| {
                replied.at(at) == Some(self.mover) && {
                    let (stones, liberties) = chain(replied, at);
                    liberties.len() == 1 && stones.len() >= LEAST && !escapes(replied, at, &mut 0)
                }
            })?
        };
        let (stones, _) = chain(replied, hunted);
        let name = self.mistake.before.kind().point_name(hunted);
        Some(told(Motif::Ladder, stones, |language| match language {
            Language::Chinese => format!("{name}一带的棋被征吃，逃不掉了。"),
            Language::English => format!("The stones at {name} are caught in a ladder."),
        }))
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
    let (stones, liberties) = chain(go, at);
    let Some(side) = go.at(at) else { return false };
    let size = u16::from(go.setup().size);
    // Extending, or capturing one of those around.
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
    tries.into_iter().any(|to| {
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
    })
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
