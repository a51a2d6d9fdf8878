//! Levels: one scale of strength for people, from somebody who has just read the rules to everything the engine has.
//!
//! A level is a point on a scale between players of known distance: two kinds of [`Novice`] and the [`Tier`]s of the engines. Between
//! two of them each decision is left to the one or the other, drawn by the seed, so that every tenth of a level is a strength of its
//! own. The distances are measured; see EXPERIMENTS.md.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::blunders::{Blunder, overlooked};
use crate::novice::{Novice, Sight, is_no_move};
use crate::parameters::{Parameter, ParameterError};
use crate::{Action, AnyGame, Bot, GameKind, Limits, Report, Rng, Score, Tier, bot_within};

/// How strong a partner plays, in tenths: 1.0 (for who has just read the rules) to 10.0 (full strength).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// The weakest.
    pub const MIN: Self = Self(10);
    /// Full strength.
    pub const MAX: Self = Self(100);

    /// A whole level; `None` unless 1 to 10.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 10 { Some(Self(number * 10)) } else { None }
    }

    /// `None` unless 10 to 100.
    pub const fn from_tenths(tenths: u8) -> Option<Self> {
        if tenths >= Self::MIN.0 && tenths <= Self::MAX.0 { Some(Self(tenths)) } else { None }
    }

    /// 10 to 100.
    pub const fn tenths(self) -> u8 {
        self.0
    }

    /// 1 to 10, rounded down.
    pub const fn number(self) -> u8 {
        self.0 / 10
    }
}

/// `3`, or `3.5`.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{}", self.0 / 10),
            tenths => write!(f, "{}.{tenths}", self.0 / 10),
        }
    }
}

/// Not a level from 1 to 10, in tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a level is 1 to 10, with at most one digit after the point")]
pub struct ParseLevelError;

/// The inverse of `Display`.
impl FromStr for Level {
    type Err = ParseLevelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| {
            let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u8>().ok()).flatten()
        };
        let (Some(whole), Some(tenths @ 0..=9)) = (digits(whole), digits(tenths)) else {
            return Err(ParseLevelError);
        };
        Self::from_tenths(whole.checked_mul(10).and_then(|level| level.checked_add(tenths)).unwrap_or(0))
            .ok_or(ParseLevelError)
    }
}

/// A player of known strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// See [`Novice::opponent`].
    Novice(Sight, u32),
    /// An engine with so much search.
    Tier(u8),
}

/// A player, and its strength in Elo above the first of its list, by matches of neighbours.
type Rung = (Base, i16);

/// Who has just read the rules: overlooks what it could win or capture in so many of a thousand moves, as many as let the proxy that
/// sees it win half of the games; see EXPERIMENTS.md.
const fn first(overlooks: u32) -> Base {
    Base::Novice(Sight::Gains, overlooks)
}

/// Who also sees what the other threatens: the same for the proxy that sees this.
const fn second(overlooks: u32) -> Base {
    Base::Novice(Sight::Threats, overlooks)
}

const GOMOKU: &[Rung] = &[
    (first(960), 0),
    (second(520), 380),
    (Base::Tier(1), 1880),
    (Base::Tier(2), 2143),
    (Base::Tier(3), 2412),
    (Base::Tier(4), 2675),
    (Base::Tier(5), 2976),
    (Base::Tier(6), 3234),
    (Base::Tier(7), 3457),
    (Base::Tier(8), 3770),
    (Base::Tier(9), 3904),
];

const XIANGQI: &[Rung] = &[
    (first(100), 0),
    (second(90), 545),
    (Base::Tier(3), 945),
    (Base::Tier(4), 1245),
    (Base::Tier(5), 1591),
    (Base::Tier(6), 1959),
    (Base::Tier(7), 2264),
    (Base::Tier(8), 2602),
    (Base::Tier(9), 3019),
];

const LIUZHOU: &[Rung] = &[
    (first(100), 0),
    (second(100), 436),
    (Base::Tier(1), 559),
    (Base::Tier(2), 690),
    (Base::Tier(3), 840),
    (Base::Tier(4), 967),
    (Base::Tier(5), 1182),
    (Base::Tier(6), 1305),
    (Base::Tier(7), 1494),
    (Base::Tier(8), 1735),
    (Base::Tier(9), 1899),
];

const GO_SMALL: &[Rung] = &[
    (first(950), 0),
    (second(650), 130),
    (Base::Tier(1), 580),
    (Base::Tier(2), 881),
    (Base::Tier(3), 1150),
    (Base::Tier(4), 1341),
    (Base::Tier(5), 1610),
    (Base::Tier(6), 1879),
    (Base::Tier(7), 2120),
    (Base::Tier(8), 2288),
    (Base::Tier(9), 2670),
];

const GO_MIDDLE: &[Rung] = &[
    (first(900), 0),
    (second(450), 300),
    (Base::Tier(1), 600),
    (Base::Tier(2), 815),
    (Base::Tier(3), 1251),
    (Base::Tier(4), 1589),
    (Base::Tier(5), 1890),
    (Base::Tier(6), 2272),
    (Base::Tier(7), 2730),
    (Base::Tier(8), 3242),
    (Base::Tier(9), 3659),
];

const GO_LARGE: &[Rung] = &[
    (first(800), 0),
    (second(600), 300),
    (Base::Tier(1), 600),
    (Base::Tier(2), 768),
    (Base::Tier(3), 1106),
    (Base::Tier(4), 1488),
    (Base::Tier(5), 1924),
    (Base::Tier(6), 2306),
    (Base::Tier(7), 2818),
    (Base::Tier(8), 3111),
    (Base::Tier(9), 3493),
];

/// The players of a game, the weakest first, up to level 9.
fn rungs(game: &AnyGame) -> &'static [Rung] {
    match game {
        AnyGame::Gomoku(_) => GOMOKU,
        AnyGame::Xiangqi(_) => XIANGQI,
        AnyGame::Liuzhou(_) => LIUZHOU,
        AnyGame::Go(_) => match game.view().columns {
            ..=9 => GO_SMALL,
            10..=13 => GO_MIDDLE,
            _ => GO_LARGE,
        },
        AnyGame::LightsOut(_) => &[],
    }
}

/// Tenths of a level from 1 to 2, and from 2 to 9.
const STEPS: [i32; 2] = [10, 70];

/// Elo of level 10 above level 9: matches of both gave 240 to 420, at three seconds a move; see EXPERIMENTS.md.
const FULL: i32 = 350;

/// Elo of a level above level 1. The scale has at least three players.
fn elo(rungs: &[Rung], level: Level) -> i32 {
    let [_, (_, second), .., (_, high)] = *rungs else { return 0 };
    let (second, high) = (i32::from(second), i32::from(high));
    let tenths = i32::from(level.0 - Level::MIN.0);
    let [to_two, to_nine] = STEPS;
    if tenths < to_two {
        second * tenths / to_two
    } else if tenths < to_two + to_nine {
        second + (high - second) * (tenths - to_two) / to_nine
    } else {
        high + FULL * (tenths - to_two - to_nine) / (100 - 10 - to_two - to_nine)
    }
}

/// The most by which two neighbours among the levels that a person can choose may differ, in Elo.
const NOTICED: i32 = 150;

impl Level {
    /// Tenths between the levels that a person can choose in this game, counted from the first: as many as the table of strengths
    /// allows without a step of more than 150 Elo. `None` for a game without opponent.
    pub fn step(game: &AnyGame) -> Option<u8> {
        let rungs = rungs(game);
        let fits = |step: &u8| {
            let mut levels = (Self::MIN.0..Self::MAX.0).step_by(usize::from(*step)).map(Self);
            levels.all(|level| elo(rungs, Self(level.0 + step)) - elo(rungs, level) <= NOTICED)
        };
        (!rungs.is_empty()).then(|| [10, 5, 2].into_iter().find(fits).unwrap_or(1))
    }

    /// Strength above level 1 in Elo, as far as levels are measured in this game, and on this size of a Go board. `None` for a
    /// game without opponent.
    pub fn elo(self, game: &AnyGame) -> Option<f64> {
        let rungs = rungs(game);
        (!rungs.is_empty()).then(|| f64::from(elo(rungs, self)))
    }

    /// The level whose strength is nearest, in Elo above level 1.
    pub fn nearest(strength: f64, game: &AnyGame) -> Self {
        let rungs = rungs(game);
        let away = |level: &Self| (f64::from(elo(rungs, *level)) - strength).abs();
        let levels = (Self::MIN.0..=Self::MAX.0).map(Self);
        levels.min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(Self::MIN)
    }
}

/// The two players that a level lies between, and of how many of a thousand decisions the stronger one makes.
fn mix(rungs: &[Rung], level: Level) -> (Base, Base, u32) {
    let [.., (last, _)] = *rungs else { return (Base::Tier(10), Base::Tier(10), 0) };
    let tenths = i32::from(level.0 - Level::MIN.0);
    let [to_two, to_nine] = STEPS;
    if tenths >= to_two + to_nine {
        return (last, Base::Tier(10), (tenths - to_two - to_nine) as u32 * 100);
    }
    let wanted = elo(rungs, level);
    let above = rungs.iter().position(|&(_, elo)| i32::from(elo) > wanted).unwrap_or(rungs.len() - 1);
    let Some(below) = above.checked_sub(1) else { return (last, last, 0) };
    let ((weaker, from), (stronger, to)) = (rungs[below], rungs[above]);
    (weaker, stronger, ((wanted - i32::from(from)) * 1000 / i32::from(to - from)) as u32)
}

/// The partner for this game at this level. The same seed, position and node limit give the same choice. Remembers positions in at
/// most about this many bytes.
pub fn partner(kind: GameKind, level: Level, seed: u64, bytes: usize) -> Box<dyn Bot> {
    Box::new(Partner { kind, level, seed, bytes, strongest: None, players: Vec::new() })
}

struct Partner {
    kind: GameKind,
    level: Level,
    seed: u64,
    bytes: usize,
    /// At full strength: what also judges positions, and knows of threads, folders and numbers.
    strongest: Option<Box<dyn Bot>>,
    /// Those that have decided something.
    players: Vec<(Base, Box<dyn Bot>)>,
}

impl Partner {
    fn strongest(&mut self) -> &mut dyn Bot {
        let (kind, seed, bytes) = (self.kind, self.seed, self.bytes);
        self.strongest.get_or_insert_with(|| bot_within(kind, Tier::MAX, seed, bytes)).as_mut()
    }

    /// The player whose decision this is.
    fn player(&mut self, game: &AnyGame) -> (Base, &mut dyn Bot) {
        let (weaker, stronger, share) = mix(rungs(game), self.level);
        let drawn = Rng::new(self.seed ^ game.key() ^ DRAW).below(1000);
        let base = if drawn < share { stronger } else { weaker };
        if base == Base::Tier(Tier::MAX.number()) {
            return (base, self.strongest());
        }
        let known = self.players.iter().position(|&(player, _)| player == base);
        let at = known.unwrap_or_else(|| {
            let (kind, seed) = (self.kind, self.seed);
            let player: Box<dyn Bot> = match base {
                Base::Novice(sight, overlooks) => Box::new(Novice::opponent(kind, sight, overlooks, seed)),
                Base::Tier(number) => {
                    bot_within(kind, Tier::new(number).unwrap_or(Tier::MAX), seed, self.bytes)
                }
            };
            self.players.push((base, player));
            self.players.len() - 1
        });
        (base, self.players[at].1.as_mut())
    }
}

/// Keeps the draw of who decides apart from other draws of the same seed and position.
const DRAW: u64 = 0x6a09_e667_f3bc_c908;

impl Bot for Partner {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let (seed, kind, level) = (self.seed, self.kind, self.level);
        let (base, player) = self.player(game);
        let found = match base {
            Base::Tier(_) if game.ply() < OPENING && !is_no_move(game) => {
                vary(player, game, seed, limits, report)
            }
            _ => player.choose(game, limits, report),
        }?;
        Some(attentive(player, &watched(kind, level, base), game, found, limits, report))
    }

    fn judge(&mut self, game: &AnyGame, limits: &Limits<'_>) -> Option<Report> {
        self.strongest().judge(game, limits)
    }

    fn choose_lines(
        &mut self,
        game: &AnyGame,
        count: usize,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Vec<Report> {
        self.strongest().choose_lines(game, count, limits, report)
    }

    fn set_threads(&mut self, threads: usize) {
        // More threads would make a level stronger than it says.
        if self.level == Level::MAX {
            self.strongest().set_threads(threads);
        }
    }

    fn set_folder(&mut self, folder: &Path) {
        if self.level == Level::MAX {
            self.strongest().set_folder(folder);
        }
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        self.strongest().parameters()
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.strongest().set_parameter(name, value)
    }
}

/// Whether a player looks so little ahead that what it leaves hanging is no sacrifice.
fn is_hasty(kind: GameKind, base: Base) -> bool {
    let Base::Tier(number) = base else { return true };
    number
        <= match kind {
            // Up to where they look three plies ahead, or are made to misjudge by much.
            GameKind::Xiangqi => 6,
            GameKind::Liuzhou => 5,
            // Up to where they slip.
            GameKind::Go => 4,
            GameKind::Gomoku | GameKind::LightsOut => 0,
        }
}

/// What a level does not overlook when this player decides. A player without limits is not watched.
fn watched(kind: GameKind, level: Level, base: Base) -> Vec<Blunder> {
    if base == Base::Tier(Tier::MAX.number()) {
        return Vec::new();
    }
    let is_watched = |blunder: &Blunder| match blunder {
        Blunder::OwnEye => true,
        Blunder::MissedWin => level.0 >= 20,
        Blunder::OpenWin => level.0 >= 40,
        Blunder::Hanging => level.0 >= 30 && is_hasty(kind, base),
        Blunder::MissedCapture | Blunder::LeftCapture | Blunder::LeftInAtari => {
            level.0 >= 40 && is_hasty(kind, base)
        }
    };
    Blunder::of(kind).iter().copied().filter(is_watched).collect()
}

/// What the player has found, or the best of its other moves where that overlooks what is watched.
fn attentive(
    player: &mut dyn Bot,
    watched: &[Blunder],
    game: &AnyGame,
    found: Report,
    limits: &Limits<'_>,
    report: &mut dyn FnMut(&Report),
) -> Report {
    let Some(seen) = overlooked(game, found.line[0], watched) else { return found };
    let is_certain = seen.blunder.is_certain();
    if !is_certain && matches!(found.score, Score::WinIn(_)) {
        return found;
    }
    let at_once = || {
        let score = if seen.blunder == Blunder::MissedWin { Score::WinIn(1) } else { found.score };
        Report { line: vec![seen.sound[0]], score, ..found }
    };
    let chosen = if seen.blunder == Blunder::MissedWin || seen.sound.len() == 1 {
        at_once()
    } else {
        let among = |action: Action| seen.sound.contains(&action);
        player.choose_among(game, &among, limits).unwrap_or_else(at_once)
    };
    if !is_certain && matches!(chosen.score, Score::LossIn(_)) && !matches!(found.score, Score::LossIn(_)) {
        return found;
    }
    report(&chosen);
    chosen
}

/// Plies from the start in which one of several good moves is played, so that no two games are alike.
const OPENING: u32 = 8;
/// Moves that are compared there.
const COMPARED: usize = 8;

/// One of the moves that are as good as the best, drawn by the seed.
fn vary(
    player: &mut dyn Bot,
    game: &AnyGame,
    seed: u64,
    limits: &Limits<'_>,
    report: &mut dyn FnMut(&Report),
) -> Option<Report> {
    let lines = player.choose_lines(game, COMPARED, limits, report);
    let best = lines.first()?.score;
    let good: Vec<&Report> = lines.iter().filter(|line| is_as_good(game.kind(), line.score, best)).collect();
    let drawn = Rng::new(seed ^ game.key()).below(good.len() as u32) as usize;
    let chosen = good[drawn].clone();
    report(&chosen);
    Some(chosen)
}

/// Whether a move may stand for the best one: what is lost by it is less than what searches of a position differ by.
fn is_as_good(kind: GameKind, score: Score, best: Score) -> bool {
    // Hundredths of the game's unit. In gomoku a win becomes e times as likely by 400.
    let points = if kind == GameKind::Gomoku { 70 } else { 20 };
    const PERMILLE: u16 = 25;
    match (score, best) {
        (Score::Points(score), Score::Points(best)) => score >= best - points,
        (Score::Chance { permille: score, .. }, Score::Chance { permille: best, .. }) => {
            score + PERMILLE >= best
        }
        (score, best) => score == best,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_can_be_chosen_are_at_most_150_elo_apart_and_the_last_is_among_them() {
        for kind in [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou, GameKind::Go] {
            let game = AnyGame::new(&kind.default_setup()).expect("the default setup is valid");
            let step = Level::step(&game).expect("a game with levels");
            let mut level = Level::MIN;
            while let Some(next) = Level::from_tenths(level.tenths() + step) {
                let [weaker, stronger] =
                    [level, next].map(|level| level.elo(&game).expect("a game with levels"));
                assert!(stronger - weaker <= f64::from(NOTICED), "{kind:?}, {level} to {next}");
                level = next;
            }
            assert_eq!(level, Level::MAX, "{kind:?}");
        }
        let lights = AnyGame::new(&GameKind::LightsOut.default_setup()).expect("the default setup is valid");
        assert_eq!(Level::step(&lights), None);
    }

    #[test]
    fn every_tenth_of_a_level_is_a_mixture_of_neighbours_and_stronger_than_the_one_before() {
        for kind in [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou, GameKind::Go] {
            let game = AnyGame::new(&kind.default_setup()).expect("the default setup is valid");
            let rungs = rungs(&game);
            assert!(rungs.is_sorted_by(|a, b| a.1 < b.1), "{kind:?}");
            let place = |base| rungs.iter().position(|&(one, _)| one == base).unwrap_or(rungs.len());
            let mut before = -1;
            for tenths in Level::MIN.tenths()..=Level::MAX.tenths() {
                let (weaker, stronger, share) = mix(rungs, Level::from_tenths(tenths).expect("a level"));
                assert!(place(stronger) <= place(weaker) + 1 && share <= 1000, "{kind:?}, {tenths}");
                let strength = (place(weaker) * 1000) as i32 + share as i32;
                assert!(strength > before, "{kind:?}, {tenths}");
                before = strength;
            }
        }
    }
}
