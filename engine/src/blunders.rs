//! Moves that overlook what is seen at a glance: a win at hand, the other side's, a piece that hangs.
//!
//! Each kind is a rule of its game, without a search: `qiyou-engine blunders` counts what levels overlook, and [`crate::partner`]
//! keeps them from it.

use crate::novice::is_no_move;
use crate::{Action, AnyGame, Game, GameKind};

/// What a move overlooks, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blunder {
    /// It could have won at once: by five, mate, the last capture.
    MissedWin,
    /// The other side wins at once, which another move prevents.
    OpenWin,
    /// Xiangqi: the other side captures a horse, a cannon or a chariot for nothing or for much less, which another move
    /// prevents.
    Hanging,
    /// Liuzhou chess: it captures nothing where another one captures, and is no better off for it.
    MissedCapture,
    /// Liuzhou chess: the other side captures, or captures more than after another move.
    LeftCapture,
    /// Go: it fills an own eye.
    OwnEye,
    /// Go: it leaves several stones in atari that another move saves.
    LeftInAtari,
}

impl Blunder {
    /// The kinds of a game, gravest first.
    pub const fn of(kind: GameKind) -> &'static [Self] {
        match kind {
            GameKind::Gomoku => &[Self::MissedWin, Self::OpenWin],
            GameKind::Xiangqi => &[Self::MissedWin, Self::OpenWin, Self::Hanging],
            GameKind::Liuzhou => &[Self::MissedWin, Self::OpenWin, Self::MissedCapture, Self::LeftCapture],
            GameKind::Go => &[Self::OwnEye, Self::LeftInAtari],
            GameKind::LightsOut => &[],
        }
    }

    /// Whether the rules alone decide that it is one. Of the others some are sacrifices.
    pub const fn is_certain(self) -> bool {
        matches!(self, Self::MissedWin | Self::OpenWin | Self::OwnEye)
    }
}

/// What a move overlooks, and the moves that do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlooked {
    /// The gravest of it.
    pub blunder: Blunder,
    /// Legal moves; never empty.
    pub sound: Vec<Action>,
}

impl Overlooked {
    /// `None` if there is no sound move: then nothing could be done about it.
    pub(crate) fn by<G: Game>(blunder: Blunder, sound: &[G::Move]) -> Option<Self> {
        (!sound.is_empty()).then(|| Self { blunder, sound: sound.iter().map(|&mv| G::action(mv)).collect() })
    }
}

/// What this move overlooks, of the kinds that are watched; `None` if nothing, or if the action is not legal.
pub fn overlooked(game: &AnyGame, played: Action, watched: &[Blunder]) -> Option<Overlooked> {
    if game.outcome().is_some() || is_no_move(game) {
        return None;
    }
    match game {
        AnyGame::Gomoku(game) => game.overlooked(played, watched),
        AnyGame::Xiangqi(game) => game.overlooked(played, watched),
        AnyGame::Liuzhou(game) => game.overlooked(played, watched),
        AnyGame::Go(game) => game.overlooked(played, watched),
        AnyGame::LightsOut(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    fn at(kind: GameKind, line: &str) -> AnyGame {
        AnyGame::from_position(&kind.default_setup_for(line), line).expect("a position")
    }

    /// What a move overlooks of all kinds, and the moves that do not, in the game's notation.
    fn told(game: &AnyGame, played: &str) -> Option<(Blunder, Vec<String>)> {
        let played = game.parse(played).expect("a move");
        let found = overlooked(game, played, Blunder::of(game.kind()))?;
        Some((found.blunder, found.sound.iter().map(|&action| game.notation(action)).collect()))
    }

    fn blunder(game: &AnyGame, played: &str) -> Option<Blunder> {
        told(game, played).map(|(blunder, _)| blunder)
    }

    #[test]
    fn in_gomoku_a_five_is_made_or_else_stopped_where_that_can_be_done() {
        let stop = at(GameKind::Gomoku, "15/15/15/15/15/15/15/4bwwww6/15/15/15/15/15/15/b5b7b b");
        assert_eq!(told(&stop, "a15"), Some((Blunder::OpenWin, vec!["j8".into()])));
        assert_eq!(told(&stop, "j8"), None);
        let make = at(GameKind::Gomoku, "15/15/15/15/15/15/15/4bwwww6/15/15/15/15/4wbbbb6/15/15 b");
        assert_eq!(told(&make, "j8"), Some((Blunder::MissedWin, vec!["j3".into()])), "its own comes first");
        assert_eq!(told(&make, "j3"), None);
        let lost = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5wwww6/15/15/15/15/15/15/b5b7b b");
        assert_eq!(told(&lost, "a15"), None, "nothing stops two");
        let quiet = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5www7/15/15/15/15/15/15/b5b7b b");
        assert_eq!(told(&quiet, "a15"), None);
        let played = Action::Place(Point::new(0, 14));
        assert_eq!(overlooked(&stop, played, &[Blunder::MissedWin]), None, "nobody watches");
    }

    #[test]
    fn in_xiangqi_mates_are_seen_and_pieces_are_not_given_away() {
        let mate = at(GameKind::Xiangqi, "4k4/R8/9/9/8p/9/9/9/9/1R1K5 w");
        assert_eq!(told(&mate, "d0d1"), Some((Blunder::MissedWin, vec!["b0b9".into()])));
        assert_eq!(told(&mate, "b0b9"), None);
        let open = at(GameKind::Xiangqi, "4k4/R8/9/9/9/r8/9/9/4A4/1R3K3 b");
        let (found, sound) = told(&open, "a4i4").expect("a mate is let in");
        assert_eq!(found, Blunder::OpenWin);
        assert!(sound.contains(&"a4a8".into()) && sound.contains(&"a4c4".into()), "{sound:?}");
        assert!(!sound.contains(&"a4b4".into()), "it would be taken there: {sound:?}");
        assert_eq!(told(&open, "a4a8"), None);
        let horse = at(GameKind::Xiangqi, "3k5/9/9/9/9/9/9/r8/9/3AKA1N1 w");
        let (found, sound) = told(&horse, "h0g2").expect("the horse hangs");
        assert_eq!(found, Blunder::Hanging);
        assert!(!sound.contains(&"h0i2".into()) && sound.contains(&"e0e1".into()), "{sound:?}");
        assert_eq!(told(&horse, "e0e1"), None);
    }

    #[test]
    fn in_xiangqi_what_is_guarded_or_taken_in_turn_does_not_hang() {
        // The elephant guards one of the points to which the horse can go.
        let guarded = at(GameKind::Xiangqi, "3k5/9/9/9/9/9/9/r8/9/3AKABN1 w");
        assert_eq!(blunder(&guarded, "h0i2"), None);
        assert_eq!(blunder(&guarded, "h0g2"), Some(Blunder::Hanging));
        // A chariot takes a chariot that is guarded.
        let taken = at(GameKind::Xiangqi, "4k4/4a4/9/9/9/r2r5/9/9/3R5/4K4 w");
        assert_ne!(blunder(&taken, "d1d4"), Some(Blunder::Hanging));
    }

    #[test]
    fn in_liuzhou_chess_the_last_capture_is_made_or_prevented_and_others_too() {
        let rows = "6/6/2b3/1b1w2/1bb3/w3ww";
        let win = at(GameKind::Liuzhou, &format!("{rows} b m 0 0 0"));
        assert_eq!(told(&win, "b3a3"), Some((Blunder::MissedWin, vec!["c4c3".into()])));
        assert_eq!(told(&win, "c4c3"), None);
        let open = at(GameKind::Liuzhou, &format!("{rows} w m 0 0 0"));
        assert_eq!(told(&open, "a1b1"), Some((Blunder::OpenWin, vec!["d3c3".into()])));
        assert_eq!(told(&open, "d3c3"), None);
        // With more stones no capture is the last one.
        let rows = "w4w/6/2b3/1b1w2/1bb3/w3ww";
        let capture = at(GameKind::Liuzhou, &format!("{rows} b m 0 0 0"));
        assert_eq!(told(&capture, "b3a3"), Some((Blunder::MissedCapture, vec!["c4c3".into()])));
        let left = at(GameKind::Liuzhou, &format!("{rows} w m 0 0 0"));
        assert_eq!(told(&left, "a1b1"), Some((Blunder::LeftCapture, vec!["d3c3".into()])));
        assert_eq!(told(&left, "d3c3"), None);
    }

    #[test]
    fn in_go_an_eye_is_not_filled_and_stones_in_atari_are_saved() {
        let eye = at(GameKind::Go, "9/9/9/9/9/9/9/bb7/1b7 b - 0 0 0");
        let (found, sound) = told(&eye, "a1").expect("an eye");
        assert_eq!(found, Blunder::OwnEye);
        assert!(!sound.contains(&"A1".into()) && sound.len() > 70, "{sound:?}");
        assert_eq!(told(&eye, "e5"), None);
        let atari = at(GameKind::Go, "9/9/9/2wwww3/1wbbbb3/2wwww3/9/9/9 b - 0 0 0");
        assert_eq!(blunder(&atari, "a1"), Some(Blunder::LeftInAtari));
        assert_eq!(blunder(&atari, "g5"), None);
        // Three stones are not several.
        let few = at(GameKind::Go, "9/9/9/2www4/1wbbb4/2www4/9/9/9 b - 0 0 0");
        assert_eq!(blunder(&few, "a1"), None);
        // Of two chains the larger one counts.
        let rows = "9/9/9/2wwww3/1wbbbb3/2wwww3/1wwwwww2/wbbbbbb2/1wwwwww2";
        let two = at(GameKind::Go, &format!("{rows} b - 0 0 0"));
        assert_eq!(blunder(&two, "h2"), None);
        for left in ["g5", "j9"] {
            assert_eq!(told(&two, left), Some((Blunder::LeftInAtari, vec!["H2".into()])), "{left}");
        }
    }
}
