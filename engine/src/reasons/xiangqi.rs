//! Reasons of xiangqi: pieces that fall, and captures that were missed.

use super::{Found, Motif, Reason, point, told};
use crate::explain::piece_of_side;
use crate::xiangqi::Xiangqi;
use crate::{Action, AnyGame, Game as _, Language, Point};

/// What counts as material in xiangqi's exchanges: a soldier, in hundredths.
pub(super) const SOLDIER: i32 = 150;

impl Found<'_> {
    pub(super) fn xiangqi(&self, before: &Xiangqi, after: &Xiangqi) -> Option<Reason> {
        self.falls(after).or_else(|| self.falls_after_check(after)).or_else(|| self.missed_capture(before))
    }

    /// Whose piece, which and on which file, as its side counts files: Red's horse on file 3.
    fn piece(game: &Xiangqi, at: Point, language: Language) -> String {
        piece_of_side(game, at, language).unwrap_or_default()
    }

    /// The reply captures with gain.
    fn falls(&self, after: &Xiangqi) -> Option<Reason> {
        let Action::Step { to, .. } = self.reply else { return None };
        if after.exchange_gains(self.reply) < SOLDIER {
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

    /// The reply gives check or attacks, and the next move of that side captures with gain.
    fn falls_after_check(&self, after: &Xiangqi) -> Option<Reason> {
        let (Action::Step { to, .. }, AnyGame::Xiangqi(replied)) = (self.reply, &self.replied) else {
            return None;
        };
        let [_, answer, next, ..] = *self.mistake.reply.line.as_slice() else { return None };
        let mut answered = replied.clone();
        answered.play(answered.legal_move(answer).ok()?);
        let Action::Step { from, to: falls } = next else { return None };
        if answered.exchange_gains(next) < SOLDIER || replied.piece_at(falls) != answered.piece_at(falls) {
            // Nothing falls, or what was played in between.
            return None;
        }
        let checkers = replied.checkers();
        let forks = from == to
            && replied.attacks_with_gain(to, SOLDIER).len() + usize::from(checkers.contains(&to)) > 1;
        let motif = if forks {
            Motif::Fork
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
                (Language::Chinese, Motif::DiscoveredCheck) => format!("{side}走{by}抽将，{piece}保不住。"),
                (Language::Chinese, _) => format!("{side}走{by}将军，接着吃掉{piece}。"),
                (Language::English, Motif::Fork) => format!("{side} forks with {by}: {piece} falls."),
                (Language::English, Motif::DiscoveredCheck) => {
                    format!("{side} plays {by} with a discovered check: {piece} falls.")
                }
                (Language::English, _) => format!("{side} checks with {by}, then {piece} falls."),
            }
        }))
        .filter(|_| after.exchange_gains(self.reply) >= 0)
    }

    /// The better move captures with gain.
    fn missed_capture(&self, before: &Xiangqi) -> Option<Reason> {
        let better = self.better()?;
        let to = point(better)?;
        if before.exchange_gains(better) < SOLDIER {
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
