//! Mates of xiangqi that have a name. A piece belongs to a pattern only if it would be no mate without it.

use crate::words::Language;
use crate::xiangqi::{Kind, Xiangqi};
use crate::{Game as _, Point, Side};

/// A named pattern of mate, told by the pieces around the mated general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatePattern {
    /// 马后炮: a cannon mates over its own horse, which stands two points from the general on the same line and covers both
    /// points beside the general.
    CannonBehindHorse,
    /// 铁门栓: a cannon holds the middle file, and a chariot or soldier mates beside the general on the back rank, guarded by
    /// its own general on the same open file.
    IronBolt,
    /// 卧槽马: a horse on the second rank, at the foot of the elephants, gives mate, or covers the middle of the back rank
    /// while a chariot mates.
    WocaoHorse,
    /// 双车错: one chariot mates along a line, and the other one covers the line next to it.
    AlternatingChariots,
}

impl MatePattern {
    /// The name in words for players.
    pub const fn name(self, language: Language) -> &'static str {
        match self {
            Self::CannonBehindHorse => language.pick("马后炮", "cannon behind horse"),
            Self::IronBolt => language.pick("铁门栓", "iron bolt"),
            Self::WocaoHorse => language.pick("卧槽马", "wocao horse"),
            Self::AlternatingChariots => language.pick("双车错", "alternating chariots"),
        }
    }

    /// The pattern of a position in which the side to move is mated; `None` if it has no name.
    pub fn of(game: &Xiangqi) -> Option<Self> {
        Mate::new(game)?.pattern()
    }
}

struct Mate<'a> {
    game: &'a Xiangqi,
    general: Point,
    winner: Side,
    /// Where the pieces that give check stand.
    checkers: Vec<Point>,
}

impl<'a> Mate<'a> {
    fn new(game: &'a Xiangqi) -> Option<Self> {
        let checkers = game.checkers();
        let winner = game.turn().other();
        let mate = game.outcome().is_some_and(|outcome| outcome.winner == Some(winner));
        (mate && !checkers.is_empty()).then(|| Self { game, general: game.general(), winner, checkers })
    }

    fn pattern(&self) -> Option<MatePattern> {
        [
            (self.is_cannon_behind_horse(), MatePattern::CannonBehindHorse),
            (self.is_iron_bolt(), MatePattern::IronBolt),
            (self.is_wocao_horse(), MatePattern::WocaoHorse),
            (self.is_alternating_chariots(), MatePattern::AlternatingChariots),
        ]
        .into_iter()
        .find_map(|(found, pattern)| found.then_some(pattern))
    }

    /// The winner's piece on a point.
    fn piece(&self, at: Point) -> Option<Kind> {
        self.game.piece_at(at).filter(|(side, _)| *side == self.winner).map(|(_, kind)| kind)
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = Point> {
        crate::game::points(9, 10).filter(move |&at| self.piece(at) == Some(kind))
    }

    /// Whether it would be no mate without the piece on a point.
    fn needs(&self, at: Point) -> bool {
        !self.game.is_mate_without(at)
    }

    /// The rank of the mated side at this distance from its back rank.
    fn rank(&self, distance: u16) -> u16 {
        if self.winner == Side::First { 9 - distance } else { distance }
    }

    fn is_cannon_behind_horse(&self) -> bool {
        self.checkers.iter().filter(|&&at| self.piece(at) == Some(Kind::Cannon)).any(|&cannon| {
            let screens = between(self.game, cannon, self.general).unwrap_or_default();
            matches!(screens.as_slice(), [horse] if self.piece(*horse) == Some(Kind::Horse)
                && distance(*horse, self.general) == 2 && self.needs(*horse))
        })
    }

    fn is_iron_bolt(&self) -> bool {
        let [checker] = self.checkers[..] else { return false };
        let own = self.of_kind(Kind::General).next();
        matches!(self.piece(checker), Some(Kind::Chariot | Kind::Soldier))
            && self.general == Point::new(4, self.rank(0))
            && checker.row == self.general.row
            && distance(checker, self.general) == 1
            && own.is_some_and(|own| {
                own.column == checker.column && between(self.game, own, checker) == Some(Vec::new())
            })
            && self.of_kind(Kind::Cannon).any(|cannon| cannon.column == 4 && self.needs(cannon))
    }

    fn is_wocao_horse(&self) -> bool {
        let [checker] = self.checkers[..] else { return false };
        let middle = Point::new(4, self.rank(0));
        [2, 6].into_iter().any(|column| {
            let horse = Point::new(column, self.rank(1));
            // The leg towards the middle.
            let leg = Point::new(if column == 2 { 3 } else { 5 }, horse.row);
            let covers = self.piece(horse) == Some(Kind::Horse) && self.game.piece_at(leg).is_none();
            let by_chariot = || {
                self.piece(checker) == Some(Kind::Chariot)
                    && distance(self.general, middle) == 1
                    && self.game.piece_at(middle).is_none()
            };
            covers && (horse == checker || by_chariot()) && self.needs(horse)
        })
    }

    fn is_alternating_chariots(&self) -> bool {
        let [checker] = self.checkers[..] else { return false };
        self.piece(checker) == Some(Kind::Chariot)
            && self.of_kind(Kind::Chariot).filter(|&other| other != checker).any(|other| {
                // Where the general would step to the other chariot's line.
                let flight = if checker.row == self.general.row {
                    Point::new(self.general.column, other.row)
                } else {
                    Point::new(other.column, self.general.row)
                };
                distance(flight, self.general) == 1
                    && in_palace(flight, self.winner.other())
                    && self.game.piece_at(flight).is_none()
                    && between(self.game, other, flight) == Some(Vec::new())
                    && self.needs(other)
            })
    }
}

/// The points with pieces strictly between two points of one rank or file; `None` if they are on none or the same.
pub(super) fn between(game: &Xiangqi, one: Point, other: Point) -> Option<Vec<Point>> {
    let range = |one: u16, other: u16| one.min(other) + 1..one.max(other);
    let points: Vec<Point> = match (one.column == other.column, one.row == other.row) {
        (true, false) => range(one.row, other.row).map(|row| Point::new(one.column, row)).collect(),
        (false, true) => range(one.column, other.column).map(|column| Point::new(column, one.row)).collect(),
        _ => return None,
    };
    Some(points.into_iter().filter(|&at| game.piece_at(at).is_some()).collect())
}

/// Steps along ranks and files.
fn distance(one: Point, other: Point) -> u16 {
    one.column.abs_diff(other.column) + one.row.abs_diff(other.row)
}

fn in_palace(at: Point, side: Side) -> bool {
    let rows = if side == Side::First { 0..=2 } else { 7..=9 };
    (3..=5).contains(&at.column) && rows.contains(&at.row)
}
