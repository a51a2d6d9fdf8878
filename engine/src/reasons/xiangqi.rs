//! Reasons of xiangqi: pieces that fall, and captures that were missed.

use super::mates::between;
use super::{Found, Motif, Reason, point, told};
use crate::explain::piece_of_side;
use crate::xiangqi::{Kind, Xiangqi};
use crate::{Action, AnyGame, Game as _, Language, Point};

/// What counts as material in xiangqi's exchanges: a soldier, in hundredths.
pub(super) const SOLDIER: i32 = 150;

impl Found<'_> {
    pub(super) fn xiangqi(&self, before: &Xiangqi, after: &Xiangqi) -> Option<Reason> {
        self.falls(after).or_else(|| self.falls_next(after)).or_else(|| self.missed_capture(before))
    }

    /// Whose piece, which and on which file, as its side counts files: Red's horse on file 3.
    fn piece(game: &Xiangqi, at: Point, language: Language) -> String {
        piece_of_side(game, at, language).unwrap_or_default()
    }

    /// The reply captures with gain.
    fn falls(&self, after: &Xiangqi) -> Option<Reason> {
        let Action::Step { to, .. } = self.reply else { return None };
        if gains(after, self.reply) < SOLDIER {
            return None;
        }
        let recaptured = self.replied.legal_actions().iter().any(|action| point(*action) == Some(to));
        let motif = if recaptured { Motif::Exchange } else { Motif::Hanging };
        Some(told(motif, vec![to], |language| {
            let piece = Self::piece(after, to, language);
            match (language, recaptured) {
                (Language::Chinese, false) => format!("{piece}没有根，会白白被吃掉。"),
                (Language::Chinese, true) => format!("{piece}会被吃掉，换不回来。"),
                (Language::English, false) => format!("{piece} is not guarded and falls."),
                (Language::English, true) => {
                    format!("{piece} falls, and what recaptures does not make up for it.")
                }
            }
        }))
    }

    /// The reply gives check or attacks, and the next move of that side captures with gain what could not be saved.
    fn falls_next(&self, after: &Xiangqi) -> Option<Reason> {
        let (Action::Step { to, .. }, AnyGame::Xiangqi(replied)) = (self.reply, &self.replied) else {
            return None;
        };
        let [_, answer, next, ..] = *self.mistake.reply.line.as_slice() else { return None };
        let mut answered = replied.clone();
        answered.play(answered.legal_move(answer).ok()?);
        let Action::Step { from, to: falls } = next else { return None };
        if gains(&answered, next) < SOLDIER || replied.piece_at(falls) != answered.piece_at(falls) {
            // Nothing falls, or what was played in between.
            return None;
        }
        let checkers = replied.checkers();
        // What stood between the chariot and the piece that falls has moved away.
        let skewers = || {
            matches!(replied.piece_at(to), Some((_, Kind::Chariot)))
                && from == to
                && matches!((between(replied, to, falls).as_deref(), answer), (Some([front]), Action::Step { from, .. })
                    if from == *front && replied.piece_at(*front).is_some_and(|(side, _)| side == self.mover))
        };
        let forks = from == to
            && replied.attacks_with_gain(to, SOLDIER).len() + usize::from(checkers.contains(&to)) > 1;
        let motif = if forks {
            Motif::Fork
        } else if skewers() {
            Motif::Skewer
        } else if checkers.is_empty() && replied.is_pinned(falls) {
            Motif::Pin
        } else if checkers.iter().any(|by| *by != to) {
            Motif::DiscoveredCheck
        } else if !checkers.is_empty() {
            Motif::CheckWins
        } else {
            return None;
        };
        Some(told(motif, vec![to, falls], |language| {
            let side = self.side(self.mover.other(), language);
            let (by, piece) =
                (Self::spoken(&self.after, self.reply, language), Self::piece(replied, falls, language));
            match (language, motif) {
                (Language::Chinese, Motif::Fork) => format!("{side}走{by}一子捉双，{piece}保不住。"),
                (Language::Chinese, Motif::Skewer) => format!("{side}走{by}串打，后面的{piece}保不住。"),
                (Language::Chinese, Motif::Pin) => format!("{side}走{by}，{piece}被牵制，走不开，保不住。"),
                (Language::Chinese, Motif::DiscoveredCheck) => format!("{side}走{by}抽将，{piece}保不住。"),
                (Language::Chinese, _) => format!("{side}走{by}将军，接着吃掉{piece}。"),
                (Language::English, Motif::Fork) => format!("{side} forks with {by}: {piece} falls."),
                (Language::English, Motif::Skewer) => {
                    format!("{side} plays {by}, a skewer: behind what is attacked {piece} falls.")
                }
                (Language::English, Motif::Pin) => {
                    format!("{side} plays {by}: {piece} is pinned to its general and falls.")
                }
                (Language::English, Motif::DiscoveredCheck) => {
                    format!("{side} plays {by} with a discovered check: {piece} falls.")
                }
                (Language::English, _) => format!("{side} checks with {by}, then {piece} falls."),
            }
        }))
        .filter(|_| gains(after, self.reply) >= 0)
    }

    /// The better move captures with gain.
    fn missed_capture(&self, before: &Xiangqi) -> Option<Reason> {
        let better = self.better()?;
        let to = point(better)?;
        let could = gains(before, better);
        // What was played may capture the same, or as much.
        let played = self.mistake.played;
        if could < SOLDIER || point(played) == Some(to) || gains(before, played) >= could {
            return None;
        }
        Some(told(Motif::MissedCapture, vec![to], |language| {
            let piece = Self::piece(before, to, language);
            let by = Self::spoken(self.mistake.before, better, language);
            match language {
                Language::Chinese => format!("可以走{by}，吃掉{piece}。"),
                Language::English => format!("{by} would have taken {piece}."),
            }
        }))
    }
}

/// What a step gains by the captures on its destination, where nobody goes on who would lose by it; by legal moves, so that a
/// pinned piece does not capture. 0 or less for a step that captures nothing.
fn gains(game: &Xiangqi, step: Action) -> i32 {
    let (Some(to), Ok(mv)) = (point(step), game.legal_move(step)) else { return 0 };
    let taken = game.worth_at(to);
    let mut next = game.clone();
    next.play(mv);
    let mut answers = Vec::new();
    next.legal_moves(&mut answers);
    let answers = answers.into_iter().map(Xiangqi::action).filter(|answer| point(*answer) == Some(to));
    taken - answers.map(|answer| gains(&next, answer)).max().unwrap_or(0).max(0)
}
