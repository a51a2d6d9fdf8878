//! The delay of a bot's answer, so that users see their own move arrive first, and an answer that needs thought takes time.
//! On request of clients with a window; never in time trouble.

use std::time::Duration;

use engine::{Action, AnyGame};

/// The longest animation of a move is 0.18 s; the rest is for the eye to find it.
const OWN_MOVE: Duration = Duration::from_millis(200);

/// Additional delay of a plain answer.
const ANSWER: Duration = Duration::from_millis(400);

/// Additional delay of an answer that a person would think about.
const THOUGHT: Duration = Duration::from_millis(500);

/// The delay is at most this part of the bot's remaining time: a game of ten minutes is delayed until its last half minute.
const PARTS_OF_THE_CLOCK: u32 = 30;

/// The inputs from the match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerDelay {
    /// A client with a viewer wants delays.
    pub(crate) wanted: bool,
    /// In a race each press counts.
    pub(crate) race: bool,
    /// The bot's remaining time for this action.
    pub(crate) left: Option<Duration>,
}

impl AnswerDelay {
    /// Minimum time from the position's appearance until its answer is shown. Zero in races, in time trouble, and where several
    /// actions make one answer: for marking dead stones, and for all offered fifth moves after the first.
    pub(crate) fn minimum(&self, game: &AnyGame, answer: Action) -> Duration {
        let offers_more = matches!(game, AnyGame::Gomoku(gomoku) if gomoku.is_offering() && gomoku.offered().next().is_some());
        if !self.wanted || self.race || offers_more || matches!(answer, Action::Toggle(_)) {
            return Duration::ZERO;
        }
        let wait = OWN_MOVE + ANSWER + if is_plain(game, answer) { Duration::ZERO } else { THOUGHT };
        match self.left {
            Some(left) if left / PARTS_OF_THE_CLOCK < wait => Duration::ZERO,
            _ => wait,
        }
    }
}

/// Whether a person would answer without thinking: in the first moves, for a recapture, beside the last stone, or for an
/// only move.
fn is_plain(game: &AnyGame, answer: Action) -> bool {
    /// Number of opening actions that are played by habit.
    const HABIT: u32 = 4;
    let last = game.view().last.and_then(target);
    let answers_there = last.zip(target(answer)).is_some_and(|(last, here)| {
        last.column.abs_diff(here.column) <= 1 && last.row.abs_diff(here.row) <= 1
    });
    game.ply() < HABIT || answers_there || target(answer).is_none() || game.legal_actions().len() == 1
}

/// The destination of an action, if it has one.
fn target(action: Action) -> Option<engine::Point> {
    match action {
        Action::Place(at) | Action::Capture(at) | Action::Press(at) | Action::Toggle(at) => Some(at),
        Action::Step { to, .. } => Some(to),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Point};

    use super::*;

    const UNHURRIED: AnswerDelay = AnswerDelay { wanted: true, race: false, left: None };

    fn played(kind: GameKind, actions: &str) -> AnyGame {
        let mut game = AnyGame::new(&kind.default_setup()).expect("the default is valid");
        for text in actions.split_whitespace() {
            game.act(game.parse(text).expect("a move of this game")).expect("legal");
        }
        game
    }

    fn ms(delay: AnswerDelay, game: &AnyGame, answer: &str) -> u128 {
        delay.minimum(game, game.parse(answer).expect("a move of this game")).as_millis()
    }

    #[test]
    fn an_answer_waits_for_the_own_move_and_longer_where_a_person_would_think() {
        let game = played(GameKind::Gomoku, "h8 i9 g7 f6 i7");
        assert_eq!(ms(UNHURRIED, &game, "j7"), 600, "beside the last stone");
        assert_eq!(ms(UNHURRIED, &game, "d12"), 1_100, "elsewhere on the board");
        assert_eq!(ms(UNHURRIED, &played(GameKind::Gomoku, "h8"), "d12"), 600, "the game begins");
        let taken = played(GameKind::Xiangqi, "h2e2 h9g7 h0g2 b9c7 e2e6");
        assert_eq!(ms(UNHURRIED, &taken, "c7e6"), 600, "it captures what has just captured");
    }

    #[test]
    fn nothing_waits_in_a_race_when_time_is_short_or_where_nobody_wants_it() {
        let game = played(GameKind::Gomoku, "h8 i9 g7 f6 i7");
        let with = |left: u64| AnswerDelay { left: Some(Duration::from_secs(left)), ..UNHURRIED };
        assert_eq!([600, 40, 20, 3].map(|left| ms(with(left), &game, "d12")), [1_100, 1_100, 0, 0]);
        assert_eq!(ms(AnswerDelay { race: true, ..UNHURRIED }, &game, "d12"), 0);
        assert_eq!(ms(AnswerDelay { wanted: false, ..UNHURRIED }, &game, "d12"), 0);
        let counting = played(GameKind::Go, "Q16 D4 pass pass");
        assert_eq!(UNHURRIED.minimum(&counting, Action::Toggle(Point::new(3, 3))), Duration::ZERO);
        let renju = engine::Setup::Gomoku(engine::gomoku::GomokuSetup {
            rule: engine::gomoku::GomokuRule::Renju,
            opening: engine::gomoku::GomokuOpening::Yamaguchi,
            ..Default::default()
        });
        let mut offering = AnyGame::new(&renju).expect("they fit together");
        for (offer, waits) in [("k11", 1_100), ("l12", 0), ("c3", 0)] {
            if waits > 0 {
                for text in "h8 i9 j8 offer3 black g7".split_whitespace() {
                    offering.act(offering.parse(text).expect("an action")).expect("legal");
                }
            }
            assert_eq!(ms(UNHURRIED, &offering, offer), waits, "{offer}");
            offering.act(offering.parse(offer).expect("an action")).expect("legal");
        }
    }
}
