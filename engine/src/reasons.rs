//! Why a move was a mistake, in words.
//!
//! A reason is found on the board: a detector of one motif replays the line that the search found and checks every fact that it tells by
//! the rules. Where no detector is sure there is no reason; the better line speaks for itself.

pub(crate) mod go;
mod mates;
mod xiangqi;

pub use mates::MatePattern;

use xiangqi::SOLDIER;

use crate::explain::piece_name;
use crate::gomoku::Double;
use crate::threats::{ThreatKind, threats};
use crate::{Action, AnyGame, Game as _, Language, Point, Report, Score, Side};

/// What a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Motif {
    /// A win with the next move was passed by: five, mate.
    MissedWin,
    /// A forced win was passed by: fours one after another, mate in several moves.
    MissedForcedWin,
    /// The other side wins with its next move.
    LosesAtOnce,
    /// The other side wins by force: fours one after another, mate in several moves.
    LosesByForce,
    /// Gomoku: the other side gets an open four or two fours.
    OpenFour,
    /// Gomoku: the other side gets a four and a three, or two threes.
    DoubleThreat,
    /// Gomoku: two threats at once could have been made.
    MissedDoubleThreat,
    /// Renju: a four of White can be stopped only on a point that is forbidden for Black.
    Forbidden,
    /// Gomoku: the other side makes open threes and fours, and attacks.
    Initiative,
    /// Gomoku: open threes and fours could have been made, and the attack kept.
    MissedInitiative,
    /// Gomoku, Liuzhou chess: both sides want the same point.
    VitalPoint,
    /// Xiangqi: a piece can be captured, and nothing recaptures.
    Hanging,
    /// Xiangqi: a piece can be captured, and recapturing does not make up for it.
    Exchange,
    /// Xiangqi: one piece attacks two, one of which falls.
    Fork,
    /// Xiangqi: a chariot attacks a piece, and captures the one behind it.
    Skewer,
    /// Xiangqi: a piece that cannot leave without exposing its general falls.
    Pin,
    /// Xiangqi: a piece moves out of the line of another one, which gives check, and something falls.
    DiscoveredCheck,
    /// Xiangqi: a check wins a piece.
    CheckWins,
    /// Xiangqi: a piece could have been captured for nothing or for less.
    MissedCapture,
    /// Xiangqi, Liuzhou chess: more falls than is captured, a few moves later.
    LosesMaterial,
    /// Xiangqi, Liuzhou chess: more could have been captured than lost, a few moves later.
    MissedMaterial,
    /// Go: stones with one liberty are captured.
    Atari,
    /// Go: stones that could have been captured were not.
    MissedAtari,
    /// Go: what captured is itself captured, with more.
    Snapback,
    /// Go: a chain cannot get out of a ladder.
    Ladder,
    /// Go: a chain in atari connects, and what is connected has no more liberties than before.
    ConnectAndDie,
    /// Go: a chain that is not in atari cannot get out of a net.
    Net,
    /// Go: a group dies that could have lived, or lives that could have been killed.
    LifeAndDeath,
    /// Go: another point was worth more.
    Points,
    /// Liuzhou chess: the other side makes a formation.
    Formation,
    /// Liuzhou chess: the other side makes two formations or more at once.
    DoubleFormation,
    /// Liuzhou chess: a formation could have been made.
    MissedFormation,
}

/// Why a move was a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What it is about.
    pub motif: Motif,
    /// The points that it is about, to be marked.
    pub at: Vec<Point>,
    /// A sentence, Chinese and English.
    pub words: [String; 2],
}

/// A move that was worse than another one.
#[derive(Clone, Copy)]
pub struct Mistake<'a> {
    /// The position before it.
    pub before: &'a AnyGame,
    /// What was played.
    pub played: Action,
    /// What the search found in the position before.
    pub better: &'a Report,
    /// What it found in the position after, from the point of view of the side to move there.
    pub reply: &'a Report,
}

/// Continues a report's line by what `judge` finds at its end, until it is as long as detectors look, the game is over, or
/// `judge` finds nothing. A search's line may end after a move: where the last that its limits allowed was a fail high.
/// In Go nothing is done: its detectors read on by themselves.
pub fn complete(from: &AnyGame, report: &mut Report, mut judge: impl FnMut(&AnyGame) -> Option<Report>) {
    if matches!(from, AnyGame::Go(_)) {
        return;
    }
    let (mut game, mut turns) = (from.clone(), 0);
    for &action in &report.line {
        let turn = game.turn();
        if game.act(action).is_err() {
            return;
        }
        turns += usize::from(game.turn() != turn);
    }
    while turns < LONGEST && game.outcome().is_none() {
        let Some(further) = judge(&game).filter(|further| !further.line.is_empty()) else { return };
        for action in further.line {
            let turn = game.turn();
            if game.act(action).is_err() {
                return;
            }
            turns += usize::from(game.turn() != turn);
            report.line.push(action);
        }
    }
}

/// The reason that weighs most; `None` if no detector is sure. The game is expected to go on after the move.
pub fn reason(mistake: &Mistake<'_>) -> Option<Reason> {
    let found = Found::new(mistake)?;
    found
        .missed_win(CLOSE)
        .or_else(|| found.forbidden())
        .or_else(|| found.open_four())
        .or_else(|| found.loses(CLOSE))
        .or_else(|| found.executed())
        .or_else(|| found.missed())
        .or_else(|| match (mistake.before, &found.after) {
            (AnyGame::Xiangqi(before), AnyGame::Xiangqi(after)) => found.xiangqi(before, after),
            (AnyGame::Go(before), AnyGame::Go(after)) => found.go(before, after),
            _ => None,
        })
        .or_else(|| found.executed_later())
        .or_else(|| found.missed_later())
        .or_else(|| found.material())
        .or_else(|| found.vital_point())
        .or_else(|| found.initiative())
        .or_else(|| found.attack())
        .or_else(|| found.missed_win(u32::MAX))
        .or_else(|| found.loses(u32::MAX))
}

/// A win in more moves, but by fours, tells less than what is lost on the way.
const CLOSE: u32 = 3;

fn told(motif: Motif, at: Vec<Point>, say: impl Fn(Language) -> String) -> Reason {
    Reason { motif, at, words: Language::ALL.map(say) }
}

/// A mistake with the positions around it.
struct Found<'a> {
    mistake: &'a Mistake<'a>,
    mover: Side,
    /// After the move; the other side is to move.
    after: AnyGame,
    /// The reply that the search found.
    reply: Action,
    /// After the reply.
    replied: AnyGame,
}

impl<'a> Found<'a> {
    fn new(mistake: &'a Mistake<'a>) -> Option<Self> {
        let mover = mistake.before.turn();
        let mut after = mistake.before.clone();
        after.act(mistake.played).ok()?;
        // A turn that goes on, as for captures that are due, is judged when it is over.
        if after.outcome().is_some() || after.turn() == mover {
            return None;
        }
        let reply = *mistake.reply.line.first()?;
        let mut replied = after.clone();
        replied.act(reply).ok()?;
        Some(Self { mistake, mover, after, reply, replied })
    }

    fn better(&self) -> Option<Action> {
        self.mistake.better.line.first().copied().filter(|better| *better != self.mistake.played)
    }

    fn side(&self, side: Side, language: Language) -> &'static str {
        let game = self.mistake.before;
        game.kind().names(language).side(game.color(side))
    }

    /// A move as players of the game say it, in a position where it is legal.
    fn spoken(game: &AnyGame, action: Action, language: Language) -> String {
        let index = usize::from(language == Language::English);
        game.spoken(action).map_or_else(|| game.notation(action), |words| words[index].clone())
    }

    /// A win at hand, or by force, that was passed by.
    fn missed_win(&self, most: u32) -> Option<Reason> {
        let (better, before) = (self.better()?, self.mistake.before);
        let Score::WinIn(_) = self.mistake.better.score else { return None };
        let win =
            forced_win(before, &self.mistake.better.line).filter(|win| win.by_fours || win.moves <= most)?;
        let at = point(better).into_iter().collect();
        Some(told(if win.moves == 1 { Motif::MissedWin } else { Motif::MissedForcedWin }, at, |language| {
            let mate = win.named(language);
            let (side, by) = (self.side(self.mover, language), Self::spoken(before, better, language));
            match (language, win.moves) {
                (Language::Chinese, 1) => format!("{side}走{by}就赢了{mate}。"),
                (Language::Chinese, moves) if win.by_fours => {
                    format!("{side}从{by}起连续冲四，{moves} 步可胜。")
                }
                (Language::Chinese, moves) => format!("{side}从{by}起，{moves} 步必胜{mate}。"),
                (Language::English, 1) => format!("{side} could win at once with {by}{mate}."),
                (Language::English, moves) if win.by_fours => {
                    format!("{side} could win by fours in {moves} moves, beginning with {by}.")
                }
                (Language::English, moves) => {
                    format!("{side} could win in {moves} moves, beginning with {by}{mate}.")
                }
            }
        }))
    }

    /// The other side wins at once, or by force.
    fn loses(&self, most: u32) -> Option<Reason> {
        let Score::WinIn(_) = self.mistake.reply.score else { return None };
        let win = forced_win(&self.after, &self.mistake.reply.line)
            .filter(|win| win.by_fours || win.moves <= most)?;
        let at = point(self.reply).into_iter().collect();
        Some(told(if win.moves == 1 { Motif::LosesAtOnce } else { Motif::LosesByForce }, at, |language| {
            let (side, mate) = (self.side(self.mover.other(), language), win.named(language));
            let by = Self::spoken(&self.after, self.reply, language);
            match (language, win.moves) {
                (Language::Chinese, 1) => format!("{side}走{by}就赢了{mate}，这里必须先防。"),
                (Language::Chinese, moves) if win.by_fours => {
                    format!("{side}从{by}起连续冲四，{moves} 步取胜。")
                }
                (Language::Chinese, moves) => format!("{side}从{by}起，{moves} 步取胜{mate}。"),
                (Language::English, 1) => {
                    format!("{side} wins at once with {by}{mate}: that had to be stopped.")
                }
                (Language::English, moves) if win.by_fours => {
                    format!("{side} wins by fours in {moves} moves, beginning with {by}.")
                }
                (Language::English, moves) => {
                    format!("{side} wins in {moves} moves, beginning with {by}{mate}.")
                }
            }
        }))
    }

    /// Renju: White wins by a four that Black may not stop.
    fn forbidden(&self) -> Option<Reason> {
        let Score::WinIn(_) = self.mistake.reply.score else { return None };
        let other = self.mover.other();
        let mut game = self.after.clone();
        let mut moves = 0;
        for &action in self.mistake.reply.line.iter().take(LONGEST) {
            let own = game.turn() == other;
            moves += u32::from(own);
            game.act(action).ok()?;
            let AnyGame::Gomoku(now) = &game else { return None };
            if !own || game.outcome().is_some() {
                continue;
            }
            let fives =
                |side| threats(&game).into_iter().find(|it| it.kind == ThreatKind::Five && it.side == side);
            let (Some(five), None) = (fives(other), fives(self.mover)) else { continue };
            let [at] = five.at[..] else { continue };
            if game.color(self.mover) != Side::First || now.fault(at).is_none() {
                continue;
            }
            let four = point(action)?;
            return Some(told(Motif::Forbidden, vec![four, at], |language| {
                let [four, at] = [four, at].map(|at| self.mistake.before.kind().point_name(at));
                let (black, white) = (self.side(self.mover, language), self.side(other, language));
                match (language, moves) {
                    (Language::Chinese, 1) => format!("{white}在{four}冲四，{at}是{black}的禁手点，挡不住。"),
                    (Language::Chinese, _) => {
                        format!("{white}第 {moves} 步在{four}冲四，{at}是{black}的禁手点，挡不住。")
                    }
                    (Language::English, 1) => {
                        format!("{white} makes a four at {four}, and {at} is forbidden for {black}.")
                    }
                    (Language::English, _) => {
                        format!(
                            "Move {moves} of {white} is a four at {four}, and {at} is forbidden for {black}."
                        )
                    }
                }
            }));
        }
        None
    }

    /// The reply makes an open four or two fours, which wins with the next move: the shape tells more than the count.
    fn open_four(&self) -> Option<Reason> {
        let to = point(self.reply)?;
        let wins = matches!(self.mistake.reply.score, Score::WinIn(_)) && {
            let win = forced_win(&self.after, &self.mistake.reply.line)?;
            win.by_fours && win.moves == 2
        };
        let open = || kind_at(&self.after, self.mover.other(), to) == Some(ThreatKind::OpenFour);
        (wins && open()).then(|| self.executed())?
    }

    /// The threat that the reply executes.
    fn executed(&self) -> Option<Reason> {
        let to = point(self.reply)?;
        let other = self.mover.other();
        let kind = kind_at(&self.after, other, to)?;
        let motif = match kind {
            ThreatKind::OpenFour => Motif::OpenFour,
            ThreatKind::Fork => Motif::DoubleThreat,
            ThreatKind::CaptureDue if self.formations() > 1 => Motif::DoubleFormation,
            ThreatKind::CaptureDue if self.formations() == 1 => Motif::Formation,
            _ => return None,
        };
        let double = double_at(&self.after, other, to);
        // What was there before could have been prevented.
        let stood = kind_at(self.mistake.before, other, to) == Some(kind);
        Some(told(motif, vec![to], |language| {
            let (side, at) = (self.side(other, language), self.mistake.before.kind().point_name(to));
            let made = match (language, motif, double) {
                (Language::Chinese, _, Some(double)) => format!("成{}", double.name(language)),
                (Language::English, _, Some(double)) => double.name(language).into(),
                (Language::Chinese, Motif::DoubleFormation, _) => "一次成两座城".into(),
                (Language::Chinese, ..) => "成城吃子".into(),
                (Language::English, Motif::DoubleFormation, _) => "two formations at once".into(),
                (Language::English, ..) => "a formation".into(),
            };
            match (language, stood) {
                (Language::Chinese, true) => format!("没有防住：{side}在{at}{made}。"),
                (Language::Chinese, false) => format!("这步以后，{side}在{at}{made}。"),
                (Language::English, true) => format!("It was not stopped: {side} makes {made} at {at}."),
                (Language::English, false) => format!("After this {side} makes {made} at {at}."),
            }
        }))
    }

    /// Formations of Liuzhou chess that the reply made.
    fn formations(&self) -> usize {
        if let AnyGame::Liuzhou(game) = &self.replied { game.made().count() } else { 0 }
    }

    /// A threat of one's own that was passed by.
    fn missed(&self) -> Option<Reason> {
        let to = point(self.better()?)?;
        let motif = match kind_at(self.mistake.before, self.mover, to)? {
            ThreatKind::OpenFour | ThreatKind::Fork => Motif::MissedDoubleThreat,
            ThreatKind::CaptureDue => Motif::MissedFormation,
            _ => return None,
        };
        // What was played may do the same elsewhere.
        if point(self.mistake.played).and_then(|at| kind_at(self.mistake.before, self.mover, at)).is_some() {
            return None;
        }
        let double = double_at(self.mistake.before, self.mover, to);
        Some(told(motif, vec![to], |language| {
            let (side, at) = (self.side(self.mover, language), self.mistake.before.kind().point_name(to));
            match (language, double) {
                (Language::Chinese, None) => format!("{side}在{at}可以成城吃子。"),
                (Language::Chinese, Some(double)) => {
                    format!("{side}在{at}可以成{}。", double.name(language))
                }
                (Language::English, None) => format!("{side} could make a formation at {at}."),
                (Language::English, Some(double)) => {
                    format!("{side} could make {} at {at}.", double.name(language))
                }
            }
        }))
    }
}

/// A threat that a line executes.
struct Later {
    motif: Motif,
    double: Double,
    at: Point,
    /// Moves of its side up to it, the first included.
    moves: u32,
}

impl Later {
    /// The first double threat that the side to move makes along a line, after its first move.
    fn along(game: &AnyGame, line: &[Action]) -> Option<Self> {
        let (side, mut game) = (game.turn(), game.clone());
        let mut moves = 0;
        for &action in line.iter().take(LONGEST) {
            if game.turn() == side {
                moves += 1;
                let at = point(action)?;
                let motif = match kind_at(&game, side, at) {
                    Some(ThreatKind::OpenFour) => Some(Motif::OpenFour),
                    Some(ThreatKind::Fork) => Some(Motif::DoubleThreat),
                    _ => None,
                };
                if let Some(motif) = motif.filter(|_| moves > 1) {
                    return Some(Self { motif, double: double_at(&game, side, at)?, at, moves });
                }
            }
            game.act(action).ok()?;
        }
        None
    }
}

/// Turns of a line that are looked at. A reason far away is none that a person could have seen.
const LONGEST: usize = 12;

/// Gomoku: the threats that both sides make along a line.
struct Attack {
    /// Of each side: fours, open threes and more than that.
    threats: [usize; 2],
    /// Of each side: its moves up to its last threat.
    moves: [usize; 2],
}

impl Attack {
    fn along(game: &AnyGame, line: &[Action]) -> Self {
        let (mut game, mut own) = (game.clone(), [0, 0]);
        let mut found = Self { threats: [0; 2], moves: [0; 2] };
        for &action in line.iter().take(LONGEST) {
            let side = game.turn().index();
            own[side] += 1;
            if point(action).and_then(|at| kind_at(&game, game.turn(), at)).is_some() {
                found.threats[side] += 1;
                found.moves[side] = own[side];
            }
            if game.act(action).is_err() {
                break;
            }
        }
        found
    }
}

impl Found<'_> {
    /// A double threat of the other side, prepared by its reply.
    fn executed_later(&self) -> Option<Reason> {
        let Later { motif, double, at, moves } = Later::along(&self.after, &self.mistake.reply.line)?;
        Some(told(motif, vec![at], |language| {
            let side = self.side(self.mover.other(), language);
            let (by, at) =
                (Self::spoken(&self.after, self.reply, language), self.mistake.before.kind().point_name(at));
            let made = double.name(language);
            match language {
                Language::Chinese => format!("{side}从{by}起，第 {moves} 步在{at}成{made}。"),
                Language::English => {
                    format!("{side} begins with {by}, and move {moves} at {at} makes {made}.")
                }
            }
        }))
    }

    /// A double threat of one's own that the better move prepares.
    fn missed_later(&self) -> Option<Reason> {
        let (better, before) = (self.better()?, self.mistake.before);
        let Later { double, at, moves, .. } = Later::along(before, &self.mistake.better.line)?;
        Some(told(Motif::MissedDoubleThreat, vec![point(better)?, at], |language| {
            let side = self.side(self.mover, language);
            let (by, at) = (Self::spoken(before, better, language), before.kind().point_name(at));
            let made = double.name(language);
            match language {
                Language::Chinese => format!("{side}可以从{by}起，第 {moves} 步在{at}成{made}。"),
                Language::English => {
                    format!("{side} could begin with {by}: move {moves} at {at} makes {made}.")
                }
            }
        }))
    }

    /// The other side places where the better move would have.
    fn vital_point(&self) -> Option<Reason> {
        let (Action::Place(at), Action::Place(wanted)) = (self.reply, self.better()?) else { return None };
        if at != wanted || matches!(self.mistake.before, AnyGame::Go(_)) {
            return None;
        }
        Some(told(Motif::VitalPoint, vec![at], |language| {
            let side = self.side(self.mover.other(), language);
            let at = self.mistake.before.kind().point_name(at);
            match language {
                Language::Chinese => format!("{at}是双方必争之点，这步以后归{side}。"),
                Language::English => format!("Both sides want {at}, and after this {side} takes it."),
            }
        }))
    }

    /// Gomoku: who makes threats that must be answered.
    fn initiative(&self) -> Option<Reason> {
        let AnyGame::Gomoku(_) = self.mistake.before else { return None };
        let attacks = |game: &AnyGame, side: Side, action: Action| {
            let at = point(action)?;
            let kind = kind_at(game, side, at)?;
            matches!(kind, ThreatKind::Three | ThreatKind::Four).then_some((at, kind))
        };
        let of = |at: Point, kind: ThreatKind, language: Language| {
            let at = self.mistake.before.kind().point_name(at);
            match (language, kind) {
                (Language::Chinese, ThreatKind::Four) => format!("在{at}冲四"),
                (Language::Chinese, _) => format!("在{at}成活三"),
                (Language::English, ThreatKind::Four) => format!("a four at {at}"),
                (Language::English, _) => format!("an open three at {at}"),
            }
        };
        let other = self.mover.other();
        if let Some((at, kind)) = attacks(&self.after, other, self.reply) {
            return Some(told(Motif::Initiative, vec![at], |language| {
                let (side, made) = (self.side(other, language), of(at, kind, language));
                match language {
                    Language::Chinese => format!("这步以后，{side}{made}，转入进攻。"),
                    Language::English => format!("After this {side} attacks with {made}."),
                }
            }));
        }
        let (at, kind) = attacks(self.mistake.before, self.mover, self.better()?)?;
        // What was played may attack too.
        if attacks(self.mistake.before, self.mover, self.mistake.played).is_some() {
            return None;
        }
        Some(told(Motif::MissedInitiative, vec![at], |language| {
            let (side, made) = (self.side(self.mover, language), of(at, kind, language));
            match language {
                Language::Chinese => format!("{side}{made}，可以保持先手。"),
                Language::English => format!("{side} could keep the attack with {made}."),
            }
        }))
    }

    /// Gomoku: who makes most of the threats in the next moves.
    fn attack(&self) -> Option<Reason> {
        /// So many threats are an attack, and so many more than otherwise.
        const ATTACK: usize = 3;
        const MORE: usize = 2;
        let (better, before) = (self.better()?, self.mistake.before);
        let (AnyGame::Gomoku(_), other) = (before, self.mover.other()) else { return None };
        let could = Attack::along(before, &self.mistake.better.line);
        let line: Vec<Action> =
            std::iter::once(self.mistake.played).chain(self.mistake.reply.line.iter().copied()).collect();
        let played = Attack::along(before, &line);
        let more = |side: Side, is: &Attack, than: &Attack| {
            let [is, than] = [is, than].map(|attack| attack.threats[side.index()]);
            is >= ATTACK && is >= than + MORE
        };
        if more(other, &played, &could) {
            let at = point(self.reply)?;
            let (count, moves) = (played.threats[other.index()], played.moves[other.index()]);
            return Some(told(Motif::Initiative, vec![at], |language| {
                let (side, at) = (self.side(other, language), before.kind().point_name(at));
                match language {
                    Language::Chinese => {
                        format!("{side}从{at}起转入进攻，{moves} 步之内 {count} 次冲四或活三。")
                    }
                    Language::English => format!(
                        "From {at} on {side} attacks: {count} fours and open threes within {moves} moves."
                    ),
                }
            }));
        }
        if !more(self.mover, &could, &played) {
            return None;
        }
        let at = point(better)?;
        let (count, moves) = (could.threats[self.mover.index()], could.moves[self.mover.index()]);
        Some(told(Motif::MissedInitiative, vec![at], |language| {
            let (side, at) = (self.side(self.mover, language), before.kind().point_name(at));
            match language {
                Language::Chinese => {
                    format!("{side}从{at}起可以进攻，{moves} 步之内 {count} 次冲四或活三。")
                }
                Language::English => format!(
                    "From {at} on {side} could attack: {count} fours and open threes within {moves} moves."
                ),
            }
        }))
    }

    /// What is lost, or could have been won, within a few moves.
    fn material(&self) -> Option<Reason> {
        let (before, mistake) = (self.mistake.before, self.mistake);
        let line: Vec<Action> =
            std::iter::once(mistake.played).chain(mistake.reply.line.iter().copied()).collect();
        let played = Course::along(before, &line)?;
        let could = Course::along(before, &mistake.better.line).unwrap_or_default();
        let mover = self.mover;
        let (lost, won, least) = (-played.balance(mover), could.balance(mover), Taken::least(before));
        if won + lost < least {
            return None;
        }
        // A horse for a cannon is little to lose, but counts where nothing is to be won.
        if lost >= least || lost > 0 && won < least {
            let at = played.taken_from(mover).filter_map(|taken| taken.stood).collect();
            return Some(told(Motif::LosesMaterial, at, |language| {
                let side = self.side(mover, language);
                let by = Self::spoken(&self.after, self.reply, language);
                let [lost, won] = played.named(mover, language);
                // The first turn of the line is the mistake.
                let soon = soon(played.turns.saturating_sub(1), language);
                match (language, won.is_empty()) {
                    (Language::Chinese, true) => format!("对方走{by}，{side}{soon}丢{lost}。"),
                    (Language::Chinese, false) => format!("对方走{by}，{side}{soon}丢{lost}，只换回{won}。"),
                    (Language::English, true) => format!("After {by} {side} loses {lost} {soon}."),
                    (Language::English, false) => format!("After {by} {side} loses {lost} for {won} {soon}."),
                }
            }));
        }
        let better = self.better()?;
        Some(told(Motif::MissedMaterial, point(better).into_iter().collect(), |language| {
            let (side, by) = (self.side(mover, language), Self::spoken(before, better, language));
            let [won, lost] = could.named(mover.other(), language);
            let soon = soon(could.turns, language);
            match (language, lost.is_empty()) {
                (Language::Chinese, true) => format!("{side}走{by}，{soon}可得{won}。"),
                (Language::Chinese, false) => format!("{side}走{by}，{soon}可用{lost}换{won}。"),
                (Language::English, true) => format!("With {by} {side} wins {won} {soon}."),
                (Language::English, false) => format!("With {by} {side} wins {won} for {lost} {soon}."),
            }
        }))
    }
}

/// Whether neither side can win material with its next turn.
fn is_settled(game: &AnyGame) -> bool {
    match game {
        AnyGame::Xiangqi(game) => {
            game.checkers().is_empty()
                && crate::game::points(9, 10).all(|at| game.attacks_with_gain(at, SOLDIER).is_empty())
        }
        AnyGame::Liuzhou(_) => threats(game).is_empty(),
        _ => false,
    }
}

/// Within so many turns, both sides counted.
fn soon(turns: u32, language: Language) -> String {
    match (language, turns.div_ceil(2)) {
        (Language::Chinese, 0 | 1) => "马上".into(),
        (Language::Chinese, moves) => format!("{moves} 步之内"),
        (Language::English, 0 | 1) => "at once".into(),
        (Language::English, moves) => format!("within {moves} moves"),
    }
}

/// A piece or stone that was captured.
struct Taken {
    side: Side,
    worth: i32,
    /// Chinese and English; empty for a stone.
    name: [&'static str; 2],
    /// Where it stood after the first move of the line; `None` if that is not known.
    stood: Option<Point>,
}

impl Taken {
    /// What both sides lose by an action of a line.
    fn by(game: &AnyGame, line: &[Action], index: usize, after: &AnyGame) -> Vec<Self> {
        match (game, after) {
            (AnyGame::Xiangqi(game), _) => {
                let Some(to) = point(line[index]) else { return Vec::new() };
                let Some((side, _)) = game.piece_at(to) else { return Vec::new() };
                let name = Language::ALL.map(|language| piece_name(game, to, language).unwrap_or_default());
                // Its own steps are followed back, as far as the position after the first move.
                let stood = line[1..index.max(1)].iter().rev().fold(to, |at, action| match *action {
                    Action::Step { from, to } if to == at => from,
                    _ => at,
                });
                vec![Self { side, worth: game.worth_at(to), name, stood: Some(stood) }]
            }
            (AnyGame::Liuzhou(game), AnyGame::Liuzhou(after)) => Side::BOTH
                .into_iter()
                .flat_map(|side| {
                    let gone = game.live(side) & !after.live(side);
                    let moved = matches!(line[index], Action::Step { .. }) && side == game.turn();
                    let count = gone.count_ones() - u32::from(moved);
                    (0..count).map(move |_| Self { side, worth: 1, name: ["", ""], stood: None })
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What is worth speaking of.
    fn least(game: &AnyGame) -> i32 {
        if matches!(game, AnyGame::Xiangqi(_)) { SOLDIER } else { 1 }
    }
}

/// What is captured along a line, up to the last position in which the captures are over.
#[derive(Default)]
struct Course {
    taken: Vec<Taken>,
    /// Turns up to the last capture, both sides counted.
    turns: u32,
}

impl Course {
    /// `None` if the captures are not over within the line.
    fn along(game: &AnyGame, line: &[Action]) -> Option<Self> {
        if !matches!(game, AnyGame::Xiangqi(_) | AnyGame::Liuzhou(_)) {
            return None;
        }
        let mut game = game.clone();
        let (mut course, mut turns, mut quiet) = (Self::default(), 0, 0);
        // Number of captures and of turns when the captures were last over: two turns in a row took nothing, or nothing can be taken.
        let mut over = None;
        for (index, &action) in line.iter().enumerate() {
            if turns as usize >= LONGEST {
                break;
            }
            let before = game.clone();
            game.act(action).ok()?;
            let taken = Taken::by(&before, line, index, &game);
            let turn_over = game.turn() != before.turn() || game.outcome().is_some();
            if !taken.is_empty() {
                quiet = 0;
                course.turns = turns + 1;
            } else if turn_over {
                quiet += 1;
            }
            course.taken.extend(taken);
            turns += u32::from(turn_over);
            if quiet >= 2 || turn_over && is_settled(&game) {
                over = Some((course.taken.len(), course.turns));
            }
        }
        let (captures, turns) = over?;
        course.taken.truncate(captures);
        Some(Self { turns, ..course })
    }

    fn taken_from(&self, side: Side) -> impl Iterator<Item = &Taken> {
        self.taken.iter().filter(move |taken| taken.side == side)
    }

    /// What this side captures more than it loses.
    fn balance(&self, side: Side) -> i32 {
        self.taken.iter().map(|taken| if taken.side == side { -taken.worth } else { taken.worth }).sum()
    }

    /// What this side loses and what it captures; equal pieces cancel.
    fn named(&self, side: Side, language: Language) -> [String; 2] {
        let index = usize::from(language == Language::English);
        let mut names = [side, side.other()]
            .map(|side| -> Vec<&str> { self.taken_from(side).map(|taken| taken.name[index]).collect() });
        let [lost, won] = &mut names;
        lost.retain(|name| match won.iter().position(|other| other == name) {
            Some(at) => {
                won.swap_remove(at);
                false
            }
            None => true,
        });
        names.map(|names| Self::list(&names, language))
    }

    fn list(names: &[&str], language: Language) -> String {
        if names.iter().any(|name| name.is_empty()) {
            return match (language, names.len()) {
                (Language::Chinese, count) => format!(" {count} 子"),
                (Language::English, 1) => "a stone".into(),
                (Language::English, count) => format!("{count} stones"),
            };
        }
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for name in names {
            match kinds.iter_mut().find(|(kind, _)| kind == name) {
                Some((_, count)) => *count += 1,
                None => kinds.push((name, 1)),
            }
        }
        let mut said: Vec<String> = Vec::new();
        for (kind, count) in kinds {
            said.push(match (language, count) {
                (Language::Chinese, 1) => kind.to_owned(),
                (Language::Chinese, 2) => format!("双{kind}"),
                (Language::Chinese, _) => format!(" {count} 个{kind}"),
                (Language::English, 1) if kind.starts_with(['a', 'e']) => format!("an {kind}"),
                (Language::English, 1) => format!("a {kind}"),
                (Language::English, _) => format!("{count} {kind}s"),
            });
        }
        match (language, said.as_slice()) {
            (Language::Chinese, _) => said.join("、"),
            (Language::English, [first @ .., last]) if !first.is_empty() => {
                format!("{} and {last}", first.join(", "))
            }
            (Language::English, _) => said.concat(),
        }
    }
}

/// A win that a line plays out.
struct ForcedWin {
    /// Moves of the winner.
    moves: u32,
    /// Gomoku: each of them but the last makes a four.
    by_fours: bool,
    /// Xiangqi: the pattern of the mate.
    pattern: Option<MatePattern>,
}

impl ForcedWin {
    /// The name of the mate in brackets; nothing if it has none.
    fn named(&self, language: Language) -> String {
        let Some(pattern) = self.pattern else { return String::new() };
        let name = pattern.name(language);
        match language {
            Language::Chinese => format!("（{name}）"),
            Language::English => format!(" ({name})"),
        }
    }
}

/// `None` if the line does not end with a win of the side to move.
fn forced_win(game: &AnyGame, line: &[Action]) -> Option<ForcedWin> {
    let winner = game.turn();
    let mut game = game.clone();
    let (mut moves, mut by_fours) = (0, matches!(game, AnyGame::Gomoku(_)));
    let mut own_before = false;
    for action in line {
        let own = game.turn() == winner;
        // Captures that are due are part of a move.
        moves += u32::from(own && !own_before);
        own_before = own;
        game.act(*action).ok()?;
        if let Some(outcome) = game.outcome() {
            let pattern = if let AnyGame::Xiangqi(mated) = &game { MatePattern::of(mated) } else { None };
            return (outcome.winner == Some(winner)).then_some(ForcedWin { moves, by_fours, pattern });
        }
        let makes_a_four =
            || threats(&game).iter().any(|threat| threat.kind == ThreatKind::Five && threat.side == winner);
        by_fours = by_fours && (!own || makes_a_four());
    }
    None
}

/// The gravest threat of a side at this point.
fn kind_at(game: &AnyGame, side: Side, at: Point) -> Option<ThreatKind> {
    threats(game)
        .into_iter()
        .find(|threat| threat.side == side && threat.at.contains(&at))
        .map(|threat| threat.kind)
}

/// Gomoku: what a stone of a side at this point makes that no single reply stops.
fn double_at(game: &AnyGame, side: Side, at: Point) -> Option<Double> {
    if let AnyGame::Gomoku(game) = game { game.double_threat(at, side) } else { None }
}

/// Where an action goes.
fn point(action: Action) -> Option<Point> {
    match action {
        Action::Place(at) | Action::Capture(at) => Some(at),
        Action::Step { to, .. } => Some(to),
        _ => None,
    }
}
