//! Parameters and output formats of analysis commands.
//!
//! Sources: the documentation of KataGo's GTP extensions, and of Leela Zero's `lz-analyze`.

use std::fmt::Write as _;
use std::time::Duration;

use engine::go::{Analysis, Considered, Go, GoMove};
use engine::{Action, Game, Side};

use super::{parse, parse_side};

/// The parameters of an analysis: contents, interval and format.
pub(super) struct Wishes {
    kata: bool,
    pub(super) side: Option<Side>,
    pub(super) every: Duration,
    ownership: bool,
    root: bool,
    most: usize,
    /// Minimum number of moves to report, searched or not.
    least: usize,
    /// Moves of a side to leave out.
    avoided: Vec<(Side, Action)>,
    /// If not empty for a side, only these moves are reported.
    allowed: Vec<(Side, Action)>,
}

impl Wishes {
    pub(super) fn of(command: &str, words: &[&str], game: &Go) -> Result<Self, String> {
        let mut wishes = Self {
            kata: command.starts_with("kata"),
            side: None,
            every: Duration::from_millis(500),
            ownership: false,
            root: false,
            most: usize::MAX,
            least: 0,
            avoided: Vec::new(),
            allowed: Vec::new(),
        };
        let mut words = words.iter();
        let centiseconds =
            |word: &str| parse::<u64>(word).map(|time| Duration::from_millis(time.max(1) * 10));
        while let Some(&word) = words.next() {
            let mut next = || words.next().copied().ok_or("syntax error");
            match word {
                "interval" => wishes.every = centiseconds(next()?)?,
                "ownership" => wishes.ownership = next()? == "true",
                "rootInfo" => wishes.root = next()? == "true",
                "maxmoves" => wishes.most = parse(next()?)?,
                "minmoves" => wishes.least = parse(next()?)?,
                "pvVisits"
                | "pvEdgeVisits"
                | "movesOwnership"
                | "ownershipStdev"
                | "movesOwnershipStdev"
                | "noResultValue" => {
                    next()?;
                }
                // Side, moves, and number of plies; here always for the next move.
                "avoid" | "allow" => {
                    let (side, points) = (parse_side(next()?)?, next()?);
                    parse::<u32>(next()?)?;
                    for point in points.split(',') {
                        let action = game.parse(point).ok_or("syntax error")?;
                        let list = if word == "avoid" { &mut wishes.avoided } else { &mut wishes.allowed };
                        list.push((side, action));
                    }
                }
                _ => match parse_side(word) {
                    Ok(side) => wishes.side = Some(side),
                    Err(_) => wishes.every = centiseconds(word)?,
                },
            }
        }
        Ok(wishes)
    }

    /// One line, with chances from the point of view of the side to move.
    pub(super) fn words(&self, game: &Go, analysis: &Analysis) -> String {
        let mut text = String::new();
        let told = analysis
            .moves
            .iter()
            .filter(|mv| self.is_wanted(game, mv.line[0]))
            .enumerate()
            .take_while(|&(order, mv)| mv.visits > 0 || order < self.least)
            .take(self.most);
        for (order, mv) in told {
            if order > 0 {
                text.push(' ');
            }
            self.one(&mut text, game, (order, mv), analysis.lead);
        }
        if self.kata && self.root {
            let Analysis { chance, lead, playouts, .. } = *analysis;
            let utility = 2.0 * chance - 1.0;
            let _ = write!(
                text,
                " rootInfo visits {playouts} utility {utility:.4} winrate {chance:.4} scoreMean {lead:.2} scoreLead {lead:.2} scoreStdev 0 scoreSelfplay {lead:.2}"
            );
        }
        if self.kata && self.ownership {
            // Rows from the top, from the point of view of the side to move.
            let size = usize::from(game.setup().size);
            let sign = if game.turn() == Side::First { 1.0 } else { -1.0 };
            text.push_str(" ownership");
            for row in analysis.owners.chunks(size).rev() {
                for owner in row {
                    let _ = write!(text, " {:.3}", sign * owner);
                }
            }
        }
        text
    }

    fn is_wanted(&self, game: &Go, mv: GoMove) -> bool {
        let action = Go::action(mv);
        let has = |list: &[(Side, Action)]| list.contains(&(game.turn(), action));
        let restricted = self.allowed.iter().any(|&(side, _)| side == game.turn());
        !has(&self.avoided) && (!restricted || has(&self.allowed))
    }

    fn one(&self, text: &mut String, game: &Go, (order, mv): (usize, &Considered), lead: f32) {
        let name = |mv: GoMove| game.notation(Go::action(mv));
        let first = name(mv.line[0]);
        let line: Vec<String> = mv.line.iter().map(|&mv| name(mv)).collect();
        let line = line.join(" ");
        // Lower confidence bound: two standard errors below the winning chance.
        let error = 2.0 * (mv.chance * (1.0 - mv.chance) / mv.visits.max(1) as f32).max(0.0).sqrt();
        let low = (mv.chance - error).clamp(0.0, 1.0);
        let _ = if self.kata {
            let utility = 2.0 * mv.chance - 1.0;
            write!(
                text,
                "info move {first} visits {} utility {utility:.4} winrate {:.4} scoreMean {lead:.2} scoreLead {lead:.2} scoreStdev 0 scoreSelfplay {lead:.2} prior {:.4} lcb {low:.4} utilityLcb {:.4} order {order} pv {line}",
                mv.visits,
                mv.chance,
                mv.prior,
                2.0 * low - 1.0
            )
        } else {
            write!(
                text,
                "info move {first} visits {} winrate {:.0} prior {:.0} lcb {:.0} order {order} pv {line}",
                mv.visits,
                mv.chance * 10_000.0,
                mv.prior * 10_000.0,
                low * 10_000.0
            )
        };
    }
}
