//! What is threatened on a board, by kind: for people who ask for a hint, and for screens that mark it.

use crate::go::Go;
use crate::{AnyGame, Game, Language, Point, Side};

/// The kinds of threat, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreatKind {
    /// Gomoku: makes five next.
    Five,
    /// Xiangqi: the general is attacked.
    Check,
    /// Xiangqi: mate next, were it that side's turn.
    Mate,
    /// Gomoku: a straight four, or two fours at once, next.
    OpenFour,
    /// Gomoku: a four and a three at once, or two threes, next.
    Fork,
    /// Gomoku: a four next, with one answer.
    Four,
    /// Liuzhou chess: captures are to be chosen, or a formation is made next.
    CaptureDue,
    /// Go: a chain of the other side has one liberty.
    Atari,
    /// Gomoku: an open three next.
    Three,
}

/// What one side could do if it were its turn, or has done already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threat {
    /// What.
    pub kind: ThreatKind,
    /// Whose.
    pub side: Side,
    /// Where it would be carried out; of a check the general, of an atari the chain.
    pub at: Vec<Point>,
}

impl Threat {
    /// One sentence, with the game's names of sides and points.
    pub fn words(&self, game: &AnyGame, language: Language) -> String {
        /// Points that a sentence names.
        const NAMED: usize = 6;
        let names = game.kind().names(language);
        let color = game.color(self.side);
        let side = if color == Side::First { names.first } else { names.second };
        let mut at: Vec<String> = self.at.iter().take(NAMED).map(|&at| game.kind().point_name(at)).collect();
        if self.at.len() > NAMED {
            at.push("…".into());
        }
        let at = at.join(language.pick("、", ", "));
        use ThreatKind as Kind;
        match (language, self.kind) {
            (Language::Chinese, Kind::Five) => format!("{side}下一手成五：{at}。"),
            (Language::Chinese, Kind::Check) => format!("{side}正在将军。"),
            // The board shows where: a point of xiangqi's board has no name.
            (Language::Chinese, Kind::Mate) => format!("{side}下一步要杀。"),
            (Language::Chinese, Kind::OpenFour) => format!("{side}可成活四或双四：{at}。"),
            (Language::Chinese, Kind::Fork) => format!("{side}可成四三或双三：{at}。"),
            (Language::Chinese, Kind::Four) => format!("{side}可冲四：{at}。"),
            (Language::Chinese, Kind::CaptureDue) => format!("{side}要成城或吃子：{at}。"),
            (Language::Chinese, Kind::Atari) => format!("{side}打吃：{at}。"),
            (Language::Chinese, Kind::Three) => format!("{side}可成活三：{at}。"),
            (Language::English, Kind::Five) => format!("{side} makes five next: {at}."),
            (Language::English, Kind::Check) => format!("{side} gives check."),
            (Language::English, Kind::Mate) => format!("{side} threatens mate."),
            (Language::English, Kind::OpenFour) => {
                format!("{side} can make an open four or two fours: {at}.")
            }
            (Language::English, Kind::Fork) => format!("{side} can make two threats at once: {at}."),
            (Language::English, Kind::Four) => format!("{side} can make a four: {at}."),
            (Language::English, Kind::CaptureDue) => {
                format!("{side} captures, or makes a formation next: {at}.")
            }
            (Language::English, Kind::Atari) => format!("{side} has put a chain in atari: {at}."),
            (Language::English, Kind::Three) => format!("{side} can make an open three: {at}."),
        }
    }
}

/// What is threatened here by either side, the gravest first; those of the side that is not to move before those of the
/// other. Nothing when the game is over.
pub fn threats(game: &AnyGame) -> Vec<Threat> {
    if game.outcome().is_some() {
        return Vec::new();
    }
    let mut found = match game {
        AnyGame::Gomoku(game) => game.threats(),
        AnyGame::Xiangqi(game) => game.threats(),
        AnyGame::Liuzhou(game) => game.threats(),
        AnyGame::Go(game) => ataris(game),
        AnyGame::LightsOut(_) => Vec::new(),
    };
    let turn = game.turn();
    found.retain(|threat| !threat.at.is_empty());
    found.sort_by_key(|threat| (threat.kind, threat.side == turn));
    found
}

fn ataris(go: &Go) -> Vec<Threat> {
    if go.is_agreeing() {
        return Vec::new();
    }
    let size = u16::from(go.setup().size);
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for from in crate::game::points(size, size) {
        let Some(owner) = go.at(from).filter(|_| !seen.contains(&from)) else { continue };
        let (mut chain, mut liberties, mut next) = (vec![from], Vec::new(), 0);
        while let Some(&Point { column, row }) = chain.get(next) {
            next += 1;
            let beside = [
                (column.wrapping_sub(1), row),
                (column + 1, row),
                (column, row.wrapping_sub(1)),
                (column, row + 1),
            ];
            for (column, row) in beside.into_iter().filter(|&(column, row)| column < size && row < size) {
                let at = Point::new(column, row);
                match go.at(at) {
                    None if !liberties.contains(&at) => liberties.push(at),
                    Some(side) if side == owner && !chain.contains(&at) => chain.push(at),
                    _ => {}
                }
            }
        }
        seen.extend(&chain);
        if liberties.len() == 1 {
            found.push(Threat { kind: ThreatKind::Atari, side: owner.other(), at: chain });
        }
    }
    found
}
