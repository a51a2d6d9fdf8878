//! Repetition by the Chinese rules, clause by clause, each beside a near miss and beside what the Asian rules say. The numbers are
//! those of `docs/decisions/0040-repetition-by-chinese-rules.md`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::xiangqi::{RepetitionRule, Xiangqi, XiangqiBot, XiangqiMove, XiangqiSetup};
use engine::{Game, Limits, Outcome, Reason, Side, Tier};

/// Who loses and why; `None` for a draw.
type Verdict = Option<(Side, Reason)>;

const RED_CHECKS: Verdict = Some((Side::First, Reason::PerpetualCheck));
const BLACK_CHECKS: Verdict = Some((Side::Second, Reason::PerpetualCheck));
const RED_CHASES: Verdict = Some((Side::First, Reason::PerpetualChase));
const RED_ATTACKS: Verdict = Some((Side::First, Reason::PerpetualAttack));
const BLACK_CHASES: Verdict = Some((Side::Second, Reason::PerpetualChase));

/// A round of four moves, made twice from a position.
struct Round {
    claim: &'static str,
    fen: &'static str,
    moves: &'static str,
    chinese: Verdict,
    asian: Verdict,
}

const fn round(
    claim: &'static str,
    fen: &'static str,
    moves: &'static str,
    chinese: Verdict,
    asian: Verdict,
) -> Round {
    Round { claim, fen, moves, chinese, asian }
}

const ROUNDS: &[Round] = &[
    round(
        "25.1: perpetual check loses",
        "3k5/R8/9/9/9/9/9/9/9/4K4 w",
        "a8a9 d9d8 a9a8 d8d9",
        RED_CHECKS,
        RED_CHECKS,
    ),
    round(
        "25.2: a check and an idle move in turn are allowed",
        "3k5/9/9/9/9/9/9/9/9/R4K3 w",
        "a0a9 d9d8 a9a0 d8d9",
        None,
        None,
    ),
    round(
        "24.10, 24.13: perpetual kill loses",
        "3k5/7R1/9/9/1n7/9/9/9/9/1R2K4 w",
        "b0a0 b5a3 a0b0 a3b5",
        RED_ATTACKS,
        None,
    ),
    round(
        "the same, where the general would escape from the check",
        "3k5/9/7R1/9/1n7/9/9/9/9/1R2K4 w",
        "b0a0 b5a3 a0b0 a3b5",
        None,
        None,
    ),
    round(
        "24.11, 24.13: perpetual chase of one piece loses",
        "3k5/9/9/2c6/R8/9/9/9/9/5K3 w",
        "a5a6 c6c5 a6a5 c5c6",
        RED_CHASES,
        RED_CHASES,
    ),
    round(
        "24.11: perpetual chase of several pieces loses too",
        "3k5/9/9/1c7/n8/9/9/9/9/R4K3 w",
        "a0b0 d9d8 b0a0 d8d9",
        RED_CHASES,
        None,
    ),
    round(
        "the same, where one of them is a soldier at home",
        "3k5/9/9/2p6/n8/9/9/9/9/R4K3 w",
        "a0c0 d9d8 c0a0 d8d9",
        None,
        None,
    ),
    round(
        "24.13: a check and a kill in turn lose",
        "3k5/9/9/2n6/R8/9/9/9/9/4K4 w",
        "a5a9 d9d8 a9a5 d8d9",
        RED_ATTACKS,
        None,
    ),
    round(
        "the same, where the general would escape to the middle",
        "3k5/9/9/2n6/R8/9/9/9/9/5K3 w",
        "a5a9 d9d8 a9a5 d8d9",
        None,
        None,
    ),
    round(
        "24.13: a check and a chase in turn lose",
        "3k5/9/9/9/R1c6/9/9/9/9/4K4 w",
        "a5a9 d9d8 a9a5 d8d9",
        RED_ATTACKS,
        None,
    ),
    round(
        "the same, where the cannon has a root",
        "3k5/9/9/2p6/R1c6/9/9/9/9/4K4 w",
        "a5a9 d9d8 a9a5 d8d9",
        None,
        None,
    ),
    round(
        "24.13: a kill and a chase in turn lose",
        "3k5/9/9/2n6/R8/9/9/9/9/4K4 w",
        "a5a6 d9d8 a6a5 d8d9",
        RED_ATTACKS,
        None,
    ),
    round(
        "the same, where the horse would take what gives mate",
        "3k5/9/9/2n6/9/R8/9/9/9/4K4 w",
        "a4a6 d9d8 a6a4 d8d9",
        None,
        None,
    ),
    round(
        "26.1: a soldier may chase for ever",
        "3k5/9/1c7/P8/9/9/9/9/9/4K4 w",
        "a6b6 b7c7 b6a6 c7b7",
        None,
        None,
    ),
    round(
        "26.1: the pieces behind a general that moves may not",
        "3k5/4a4/9/9/9/9/9/9/R3K2c1/R6n1 w",
        "e1e0 d9d8 e0e1 d8d9",
        RED_CHASES,
        None,
    ),
    round(
        "25.1: perpetual check loses against perpetual chase",
        "9/2rk5/1C7/1r7/9/3C5/9/9/9/3K5 w",
        "b7d7 b6d6 d7b7 d6b6",
        RED_CHECKS,
        RED_CHECKS,
    ),
    round(
        "25.1: and against perpetual kill",
        "3rk4/7R1/9/9/9/2c6/8R/9/3K5/9 w",
        "i3d3 c4d4 d3i3 d4c4",
        BLACK_CHECKS,
        BLACK_CHECKS,
    ),
    round(
        "26.9: a check and a chase in turn, against perpetual chase, are a draw",
        "9/3k5/3r5/9/9/3N5/9/4c4/9/4K4 w",
        "d4c6 d7c7 c6d4 c7d7",
        None,
        BLACK_CHASES,
    ),
    round(
        "26.9: perpetual kill against perpetual chase is a draw",
        "5k3/9/4n4/6R2/9/9/8C/9/4K4/9 w",
        "i3e3 e7f5 e3i3 f5e7",
        None,
        None,
    ),
    round(
        "25.3: the same, where one of the chased pieces has a root",
        "5k3/9/4n4/6R2/9/9/8C/9/3NK4/9 w",
        "i3e3 e7f5 e3i3 f5e7",
        RED_ATTACKS,
        None,
    ),
    round(
        "26.9: a check and a kill in turn, against perpetual kill, are a draw",
        "4k4/8R/9/9/7c1/1R7/9/8r/9/3K5 w",
        "b4e4 h5e5 e4b4 e5h5",
        None,
        None,
    ),
    round(
        "26.9: chase against chase is a draw",
        "9/4k4/9/9/9/9/8R/2c6/7n1/3K5 w",
        "i3i2 h1g3 i2i3 g3h1",
        None,
        BLACK_CHASES,
    ),
    round("25.2: both sides are idle", "3k5/9/9/9/9/9/9/9/9/R4K3 w", "a0a1 d9d8 a1a0 d8d9", None, None),
];

fn start(fen: &str, repetition: RepetitionRule) -> Xiangqi {
    let setup = XiangqiSetup { repetition, ..XiangqiSetup::default() };
    Xiangqi::from_position(&setup, fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn mv(game: &Xiangqi, text: &str) -> XiangqiMove {
    let action = game.parse(text).unwrap_or_else(|| panic!("{text}"));
    game.legal_move(action).unwrap_or_else(|error| panic!("{text}: {error}"))
}

impl Round {
    /// The game before the last move of the second round, and that move. `later`: the game begins after the first move, so that the
    /// other side makes the last one.
    fn game(&self, rule: RepetitionRule, later: bool) -> (Xiangqi, XiangqiMove) {
        let mut game = start(self.fen, rule);
        let mut moves: Vec<&str> = self.moves.split(' ').collect();
        if later {
            game.play(mv(&game, moves[0]));
            game = start(&game.position(), rule);
            moves.rotate_left(1);
        }
        for text in moves.iter().chain(&moves[..3]) {
            let mv = mv(&game, text);
            assert!(!game.loses_by_repetition(mv), "{}: {text} is too early", self.claim);
            game.play(mv);
            assert_eq!(game.outcome(), None, "{}: {text} is too early", self.claim);
        }
        let last = mv(&game, moves[3]);
        (game, last)
    }

    fn verdict(&self, rule: RepetitionRule) -> Verdict {
        match rule {
            RepetitionRule::Asian => self.asian,
            RepetitionRule::Chinese => self.chinese,
        }
    }
}

#[test]
fn each_clause_and_its_near_miss_are_judged_by_both_rules_whoever_moves_last_and_the_loser_is_warned() {
    for round in ROUNDS {
        for rule in RepetitionRule::ALL {
            for later in [false, true] {
                let (mut game, last) = round.game(rule, later);
                let loser = round.verdict(rule).map(|(loser, _)| loser);
                assert_eq!(
                    game.loses_by_repetition(last),
                    loser == Some(game.turn()),
                    "{} ({rule:?})",
                    round.claim
                );
                game.play(last);
                let expected = match round.verdict(rule) {
                    Some((loser, reason)) => Outcome { winner: Some(loser.other()), reason },
                    None => Outcome { winner: None, reason: Reason::Repetition },
                };
                assert_eq!(game.outcome(), Some(expected), "{} ({rule:?})", round.claim);
            }
        }
    }
}

#[test]
fn the_bot_does_not_complete_a_round_that_loses_by_the_rule_of_the_setup() {
    let stop = AtomicBool::new(false);
    let limits =
        Limits { time: None, nodes: Some(2_000), depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    let mut avoided = 0;
    for round in ROUNDS {
        let (game, last) = round.game(RepetitionRule::Chinese, true);
        if game.loses_by_repetition(last) {
            let mut bot = XiangqiBot::new(Tier::MAX, 1);
            let found = bot.think(&game, &|_| true, &limits, &mut |_| {}).expect("there are moves");
            assert_ne!(found.line[0], last, "{}", round.claim);
            avoided += 1;
        }
    }
    assert!(avoided > 5, "{avoided}");
}

#[test]
fn the_rule_is_part_of_the_key_and_the_key_of_the_usual_game_is_what_it_was() {
    let key = |repetition| {
        Xiangqi::new(&XiangqiSetup { repetition, ..XiangqiSetup::default() })
            .expect("the setup is valid")
            .key()
    };
    assert_eq!(key(RepetitionRule::Asian), 0x339a_14a6_89d8_02ca);
    assert_ne!(key(RepetitionRule::Chinese), key(RepetitionRule::Asian));
}
