//! Threats on a board, by kind: for hints, and for screens that mark them.

use crate::go::Go;
use crate::{AnyGame, Game, Gomoku, Language, Point, Side};

/// Kinds of threats, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreatKind {
    /// Gomoku: makes five with one move.
    Five,
    /// Xiangqi: check.
    Check,
    /// Xiangqi: mate with one move.
    Mate,
    /// Gomoku: makes an open four or two fours with one move.
    OpenFour,
    /// Gomoku: makes a four and a three, or two threes, with one move.
    Fork,
    /// Gomoku: makes a four with one defence.
    Four,
    /// Liuzhou chess: captures have to be chosen, or a formation can be made with one move.
    CaptureDue,
    /// Go: atari on a chain of the other side.
    Atari,
    /// Gomoku: makes an open three with one move.
    Three,
}

/// What a side could do if it were its turn, or has already done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threat {
    /// The kind.
    pub kind: ThreatKind,
    /// The side that threatens.
    pub side: Side,
    /// Where it would be executed; for a check the general, for an atari the chain.
    pub at: Vec<Point>,
}

impl Threat {
    /// A sentence, with the game's names of sides and points.
    pub fn words(&self, game: &AnyGame, language: Language) -> String {
        /// Maximum number of points named in the sentence.
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
            // Points of xiangqi's board have no names; the board marks them.
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

/// The threats of both sides, most severe first; equally severe ones of the side that is not to move come first. Empty when
/// the game is over.
pub fn threats(game: &AnyGame) -> Vec<Threat> {
    found(game, Gomoku::threats)
}

/// As [`threats`], for a player who looks for a move: without those of the side to move that a stone could execute only to
/// lose at once. In gomoku, while the other side has a five at hand, that leaves points that make five or stop it; while it
/// has an open four at hand, those that make a four or stop it.
pub fn sound_threats(game: &AnyGame) -> Vec<Threat> {
    found(game, Gomoku::sound_threats)
}

fn found(game: &AnyGame, of_gomoku: fn(&Gomoku) -> Vec<Threat>) -> Vec<Threat> {
    if game.outcome().is_some() {
        return Vec::new();
    }
    let mut found = match game {
        AnyGame::Gomoku(game) => of_gomoku(game),
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

/// The chain of stones through an occupied point, and its liberties.
pub(crate) fn chain(go: &Go, from: Point) -> (Vec<Point>, Vec<Point>) {
    let size = u16::from(go.setup().size);
    let owner = go.at(from);
    let (mut stones, mut liberties, mut next) = (vec![from], Vec::new(), 0);
    while let Some(&stone) = stones.get(next) {
        next += 1;
        for at in stone.neighbours(size) {
            match go.at(at) {
                None if !liberties.contains(&at) => liberties.push(at),
                side if side.is_some() && side == owner && !stones.contains(&at) => stones.push(at),
                _ => {}
            }
        }
    }
    (stones, liberties)
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
        let (stones, liberties) = chain(go, from);
        seen.extend(&stones);
        if liberties.len() == 1 {
            found.push(Threat { kind: ThreatKind::Atari, side: owner.other(), at: stones });
        }
    }
    found
}
