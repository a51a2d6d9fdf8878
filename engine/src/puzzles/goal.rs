//! Goals of puzzles, and the search problems that prove them.

#![allow(clippy::option_option, reason = "the outer one says whether the positions sufficed")]

use crate::go::puzzle::{CaptureContest, CaptureContestMove, LifeContest};
use crate::gomoku::puzzle::ThreatContest;
use crate::liuzhou::puzzle::FormationContest;
use crate::prover::{Contest, Prover, Reply, Stand};
use crate::xiangqi::puzzle::MateContest;
use crate::{Action, AnyGame, Language, Point, Side};

/// The goal of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Gomoku: five in a row by continuous fours (VCF).
    Vcf,
    /// Gomoku: five in a row by continuous fours and open threes (VCT).
    Vct,
    /// Xiangqi: mate by continuous checks.
    Mate,
    /// Liuzhou chess: a capturing formation, before the other side makes one.
    Formation,
    /// Liuzhou chess: win the game.
    Win,
    /// Go: capture the chain on this point.
    Capture(Point),
    /// Go: capture the chain on this point, with both sides playing inside the surrounding wall (life and death: kill).
    Kill(Point),
    /// Go: make the own chain on this point live, with both sides playing inside the surrounding wall (life and death:
    /// live).
    Live(Point),
    /// Lights Out: turn off every light.
    Lights,
}

/// Calls `$then` with the contest of a goal for a puzzle that began at `$start`, or evaluates to `$none` if the goal is not
/// of this game.
macro_rules! with_contest {
    ($game:expr, $start:expr, $goal:expr, $attacker:expr, $none:expr, $contest:ident => $then:expr) => {
        match ($game, $goal) {
            (AnyGame::Gomoku(game), Goal::Vcf | Goal::Vct) => {
                let $contest = &mut ThreatContest::new(game, $attacker, $goal == Goal::Vct);
                $then
            }
            (AnyGame::Xiangqi(game), Goal::Mate) => {
                let $contest = &mut MateContest::new(game, $attacker);
                $then
            }
            (AnyGame::Liuzhou(game), Goal::Formation | Goal::Win) => {
                let $contest = &mut FormationContest::new(game, $attacker, $goal == Goal::Win);
                $then
            }
            (AnyGame::Go(game), Goal::Capture(target) | Goal::Kill(target)) => {
                let wall = match $start {
                    AnyGame::Go(start) if matches!($goal, Goal::Kill(_)) => Some(start),
                    _ => None,
                };
                match CaptureContest::new(game, $attacker, target, wall) {
                    Some(mut siege) => {
                        let $contest = &mut siege;
                        $then
                    }
                    None => $none,
                }
            }
            (AnyGame::Go(game), Goal::Live(target)) => {
                let AnyGame::Go(start) = $start else { unreachable!("a puzzle has one game") };
                match LifeContest::new(game, $attacker, target, start) {
                    Some(mut refuge) => {
                        let $contest = &mut refuge;
                        $then
                    }
                    None => $none,
                }
            }
            _ => $none,
        }
    };
}

/// The minimum number of own moves in which the side to move reaches the goal, up to `most`. Outer `None`: unknown within
/// `nodes`.
pub(super) fn fewest(game: &AnyGame, goal: Goal, most: u32, nodes: u64) -> Option<Option<u32>> {
    with_contest!(game, game, goal, game.turn(), None, contest => Prover::new(nodes).fewest(contest, most))
}

/// All first moves with which the side to move reaches the goal within `left` own moves.
pub(super) fn firsts(game: &AnyGame, goal: Goal, left: u32, nodes: u64) -> Option<Vec<Action>> {
    with_contest!(game, game, goal, game.turn(), None, contest => Prover::new(nodes).firsts(contest, left))
}

/// Whether the chain on this point dies after every first move of its owner except `only`, and after a pass; within `most`
/// moves of the other side each. `None`: unknown within `nodes`.
pub(super) fn others_die(
    start: &AnyGame,
    target: Point,
    only: Action,
    most: u32,
    nodes: u64,
) -> Option<bool> {
    let AnyGame::Go(go) = start else { return Some(false) };
    let mut owner = Vec::new();
    LifeContest::new(go, start.turn(), target, go)?.attacks(1, &mut owner);
    let mut siege = CaptureContest::new(go, start.turn().other(), target, Some(go))?;
    for mv in owner.into_iter().chain([CaptureContestMove::Pass]) {
        if siege.action(mv) == only {
            continue;
        }
        siege.make(mv);
        let dies = Prover::new(nodes).fewest(&mut siege, most);
        siege.unmake();
        if dies?.is_none() {
            return Some(false);
        }
    }
    Some(true)
}

/// A state of a puzzle: goal and position.
pub(super) struct Way<'a> {
    pub(super) start: &'a AnyGame,
    pub(super) goal: Goal,
    pub(super) game: &'a AnyGame,
}

impl Way<'_> {
    fn attacker(&self) -> Side {
        self.start.turn()
    }

    /// The state from the solver's point of view.
    pub(super) fn stand(&self) -> Stand {
        let Self { start, goal, game } = *self;
        with_contest!(game, start, goal, self.attacker(), Stand::Failed, contest => contest.stand())
    }

    /// The move that reaches the goal soonest, within `most` own moves. Here and below outer `None`: unknown within `nodes`.
    pub(super) fn best(&self, most: u32, nodes: u64) -> Option<Option<Action>> {
        let Self { start, goal, game } = *self;
        with_contest!(game, start, goal, self.attacker(), None, contest => Prover::new(nodes).best(contest, most))
    }

    /// Whether the solver reaches the goal within `left` own moves, whoever is to move.
    pub(super) fn reaches(&self, left: u32, nodes: u64) -> Option<bool> {
        let Self { start, goal, game } = *self;
        with_contest!(game, start, goal, self.attacker(), None, contest => Prover::new(nodes).reaches(contest, left))
    }

    /// The defender's reply if the solver has `left` own moves left.
    pub(super) fn reply(&self, left: u32, nodes: u64) -> Option<Reply> {
        let Self { start, goal, game } = *self;
        with_contest!(game, start, goal, self.attacker(), None, contest => Prover::new(nodes).reply(contest, left))
    }
}

impl Goal {
    /// Parses the output of [`Self::write`], if it is a goal of this position's game.
    pub fn read(start: &AnyGame, text: &str) -> Option<Self> {
        let goal = match text.split_once(':') {
            None => match text {
                "fours" => Self::Vcf,
                "threes" => Self::Vct,
                "mate" => Self::Mate,
                "formation" => Self::Formation,
                "win" => Self::Win,
                "lights" => Self::Lights,
                _ => return None,
            },
            Some((word, target)) => {
                let Some(Action::Place(target)) = start.parse(target) else { return None };
                let AnyGame::Go(go) = start else { return None };
                let owner = go.at(target)?;
                match word {
                    "capture" if owner != start.turn() => Self::Capture(target),
                    "kill" if owner != start.turn() => Self::Kill(target),
                    "live" if owner == start.turn() => Self::Live(target),
                    _ => return None,
                }
            }
        };
        let fits = match goal {
            Self::Lights => matches!(start, AnyGame::LightsOut(_)),
            goal => {
                with_contest!(start, start, goal, start.turn(), false, contest => contest.stand() == Stand::Attack)
            }
        };
        fits.then_some(goal)
    }

    /// The goal as one word: `fours`, `capture:E5`.
    pub fn write(self, start: &AnyGame) -> String {
        let at = |word: &str, target: Point| format!("{word}:{}", start.notation(Action::Place(target)));
        match self {
            Self::Vcf => "fours".into(),
            Self::Vct => "threes".into(),
            Self::Mate => "mate".into(),
            Self::Formation => "formation".into(),
            Self::Win => "win".into(),
            Self::Capture(target) => at("capture", target),
            Self::Kill(target) => at("kill", target),
            Self::Live(target) => at("live", target),
            Self::Lights => "lights".into(),
        }
    }

    /// The point that the goal is about, if any.
    pub fn target(self) -> Option<Point> {
        match self {
            Self::Capture(target) | Self::Kill(target) | Self::Live(target) => Some(target),
            _ => None,
        }
    }

    /// Why the goal is reached in the final position `end`.
    pub(super) fn why(self, start: &AnyGame, end: &AnyGame, language: Language) -> String {
        let names = start.kind().names(language);
        let them = match start.turn() {
            Side::First => names.second,
            Side::Second => names.first,
        };
        let at = |target| start.notation(Action::Place(target));
        match (self, language) {
            (Self::Vcf, Language::Chinese) => format!("每个冲四{them}都得应，一直没有还手的机会。"),
            (Self::Vcf, Language::English) => {
                format!("Every four had to be answered, so {them} never had a move of their own.")
            }
            (Self::Vct, Language::Chinese) => {
                format!("每一步都成冲四或活三，{them}挡住一处，就在另一处成五。")
            }
            (Self::Vct, Language::English) => {
                format!("Each move made a four or an open three. {them} stopped one, and another made five.")
            }
            (Self::Mate, Language::Chinese) => format!("{them}被将军，无论走哪里都解不了。"),
            (Self::Mate, Language::English) => format!("{them} is in check and no move ends it."),
            (Self::Formation, _) if end.told(language).is_some() => end.told(language).unwrap_or_default(),
            (Self::Formation, Language::Chinese) => format!("{them}还没成城，这里先成了。"),
            (Self::Formation, Language::English) => {
                format!("This formation was made before {them} made one.")
            }
            (Self::Win, Language::Chinese) => format!("{them}的棋子不够再下了。"),
            (Self::Win, Language::English) => format!("{them} has too few stones left to play on."),
            (Self::Capture(target), Language::Chinese) => format!("{} 的棋没有气了，被提掉。", at(target)),
            (Self::Capture(target), Language::English) => {
                format!("The chain at {} has no liberty left and is taken.", at(target))
            }
            (Self::Kill(target), Language::Chinese) => format!("{} 的棋做不出两只眼。", at(target)),
            (Self::Kill(target), Language::English) => {
                format!("The group at {} can no longer make two eyes.", at(target))
            }
            (Self::Live(target), Language::Chinese) => {
                format!("{} 的棋有了两只眼，{them}无论走哪里都杀不掉。", at(target))
            }
            (Self::Live(target), Language::English) => {
                format!("The group at {} gets two eyes whatever {them} plays.", at(target))
            }
            (Self::Lights, Language::Chinese) => "亮着的灯都被改变了奇数次，暗着的偶数次。".into(),
            (Self::Lights, Language::English) => {
                "Lights that were on changed an odd number of times, the others an even number.".into()
            }
        }
    }

    pub(super) fn words(self, start: &AnyGame, moves: u32, language: Language) -> String {
        let names = start.kind().names(language);
        let (us, them) = match start.turn() {
            Side::First => (names.first, names.second),
            Side::Second => (names.second, names.first),
        };
        let at = |target| start.notation(Action::Place(target));
        let plural = if moves == 1 { "" } else { "s" };
        match language {
            Language::Chinese => match self {
                Self::Vcf => format!("{us}先走，步步冲四，{moves} 手之内成五。"),
                Self::Vct => format!("{us}先走，连用冲四和活三，{moves} 手之内成五。"),
                Self::Mate if moves == 1 => format!("{us}先走，一步杀。"),
                Self::Mate => format!("{us}先走，步步将军，{moves} 步杀。"),
                Self::Formation => format!("{us}先走，{moves} 步之内成城吃子，不让{them}先成。"),
                Self::Win => format!("{us}先走，{moves} 步之内取胜。"),
                Self::Capture(target) => format!("{us}先走，{moves} 手之内提掉 {} 的棋。", at(target)),
                Self::Kill(target) => format!("{us}先走，{moves} 手之内杀死 {} 的棋，外围不动。", at(target)),
                Self::Live(target) => format!("{us}先走，{moves} 手之内做活 {} 的棋，外围不动。", at(target)),
                Self::Lights => format!("按 {moves} 下，把灯全关掉。"),
            },
            Language::English => match self {
                Self::Vcf => format!("{us} to play: five in a row in {moves} moves, all of them fours."),
                Self::Vct => {
                    format!("{us} to play: five in a row in {moves} moves by fours and open threes.")
                }
                Self::Mate if moves == 1 => format!("{us} to play: mate in 1 move."),
                Self::Mate => format!("{us} to play: mate in {moves} moves, all of them checks."),
                Self::Formation => {
                    format!("{us} to play: a formation in {moves} move{plural}, before {them} makes one.")
                }
                Self::Win => format!("{us} to play: win the game in {moves} move{plural}."),
                Self::Capture(target) => {
                    format!("{us} to play: capture the chain at {} in {moves} move{plural}.", at(target))
                }
                Self::Kill(target) => format!(
                    "{us} to play: kill the group at {} in {moves} move{plural}, playing inside.",
                    at(target)
                ),
                Self::Live(target) => format!(
                    "{us} to play: make the group at {} live in {moves} move{plural}, playing inside.",
                    at(target)
                ),
                Self::Lights => {
                    format!(
                        "Turn off all the lights with {moves} press{}.",
                        if moves == 1 { "" } else { "es" }
                    )
                }
            },
        }
    }
}
