//! Explanations of illegal actions and of marks on the board, in words that name points as the edge of the board does, with
//! the points that they refer to.
//!
//! Points of xiangqi's board have no names: players name the piece and its file, counted from their own right, in Chinese
//! numerals for Red. The explanations do the same.

use crate::words::Language;
use crate::xiangqi::{Kind, Xiangqi};
use crate::{Action, AnyGame, Game, IllegalAction, Piece, PieceView, Point, Side};

/// An explanation about a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The point.
    pub at: Point,
    /// The sentence, Chinese and English.
    pub words: [String; 2],
    /// The points that the sentence refers to, to be highlighted.
    pub points: Vec<Point>,
}

/// A check, from the point of view of the side in check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The attacked general.
    pub general: Point,
    /// The pieces that give check.
    pub by: Vec<Point>,
    /// Pieces of the side in check that can end it.
    pub helpers: Vec<Point>,
    /// A sentence with all of this, Chinese and English.
    pub words: [String; 2],
}

impl IllegalAction {
    /// The refusal in words for players, and the points that it refers to.
    pub fn explained(self, game: &AnyGame, action: Action) -> Explained {
        let points: Vec<Point> = self.point().into_iter().collect();
        let words = Language::ALL.map(|language| match game {
            AnyGame::Xiangqi(game) => {
                self.in_xiangqi(game, action, language).unwrap_or_else(|| self.words(language))
            }
            _ => self.words_in(game.kind(), language),
        });
        let at = match action {
            Action::Place(at) | Action::Capture(at) | Action::Press(at) | Action::Toggle(at) => Some(at),
            Action::Step { to, .. } => Some(to),
            _ => None,
        };
        Explained { at: at.or(points.first().copied()).unwrap_or(Point::new(0, 0)), words, points }
    }

    /// The point that the refusal refers to, if any.
    pub const fn point(self) -> Option<Point> {
        match self {
            Self::OffBoard(at)
            | Self::Occupied(at)
            | Self::Empty(at)
            | Self::NotYours(at)
            | Self::OwnPiece(at)
            | Self::NotItsStep(at)
            | Self::InFormation(at)
            | Self::AlreadyCaptured(at)
            | Self::StraightBack(at)
            | Self::InTheWay(at)
            | Self::HorseLeg(at)
            | Self::ElephantEye(at)
            | Self::GeneralAttacked(at)
            | Self::Ko(at)
            | Self::Suicide(at)
            | Self::Offered(at)
            | Self::Symmetric(at)
            | Self::NotOffered(at) => Some(at),
            Self::Ended
            | Self::ChooseFirst
            | Self::WrongKind
            | Self::CaptureFirst(_)
            | Self::CannonScreen
            | Self::River
            | Self::Palace
            | Self::GeneralsFace
            | Self::Superko
            | Self::SayFifthsFirst
            | Self::NotCentre
            | Self::OutsideCentre(_)
            | Self::InsideCentre(_) => None,
        }
    }

    /// The words for xiangqi, if they differ because points have no names.
    fn in_xiangqi(self, game: &Xiangqi, action: Action, language: Language) -> Option<String> {
        let chinese = language == Language::Chinese;
        let piece = |at: Point| piece_name(game, at, language);
        let placed = |at: Point| placed_name(game, at, language);
        let moved = match action {
            Action::Step { from, .. } => piece(from),
            _ => None,
        };
        Some(match self {
            Self::OffBoard(_) => language.pick("那里不在棋盘上", "that is off the board").into(),
            Self::Empty(_) => language.pick("那里没有棋子", "there is no piece there").into(),
            Self::Occupied(at) if chinese => format!("那里有自己的{}", piece(at)?),
            Self::Occupied(at) => format!("your own {} stands there", piece(at)?),
            Self::NotYours(at) if chinese => format!("那是对方的{}", piece(at)?),
            Self::NotYours(at) => format!("that {} is the other side's", piece(at)?),
            Self::NotItsStep(at) if chinese => format!("{}不能这样走", piece(at)?),
            Self::NotItsStep(at) => format!("the {} does not move that way", piece(at)?),
            Self::InTheWay(at) if chinese => format!("{}挡住了{}的路", placed(at)?, moved?),
            Self::InTheWay(at) => format!("{} is in the {}'s way", placed(at)?, moved?),
            Self::HorseLeg(at) if chinese => format!("蹩马腿：{}挡着", placed(at)?),
            Self::HorseLeg(at) => format!("{} blocks the horse's leg", placed(at)?),
            Self::ElephantEye(at) if chinese => format!("塞{}眼：{}挡着", moved?, placed(at)?),
            Self::ElephantEye(at) => format!("{} blocks the elephant's eye", placed(at)?),
            Self::GeneralAttacked(at) if chinese => {
                format!("这样{}会吃掉你的{}", placed(at)?, own_general(game))
            }
            Self::GeneralAttacked(at) => format!("then {} would take your general", placed(at)?),
            _ => return None,
        })
    }
}

/// The character of the general of the side to move, 帅 or 将.
fn own_general(game: &Xiangqi) -> &'static str {
    if game.turn() == Side::First { "帅" } else { "将" }
}

/// The name of the piece on a point: 马, the horse.
pub(crate) fn piece_name(game: &Xiangqi, at: Point, language: Language) -> Option<&'static str> {
    let (side, kind) = game.piece_at(at)?;
    Some(kind.piece().name(side, language))
}

/// A file as the side to move counts it.
fn file_name(game: &Xiangqi, at: Point, language: Language) -> String {
    file_of(game.turn(), at, language)
}

/// A file as this side counts it.
fn file_of(side: Side, at: Point, language: Language) -> String {
    const FIGURES: [&str; 9] = ["一", "二", "三", "四", "五", "六", "七", "八", "九"];
    let red = side == Side::First;
    let number = if red { 8 - usize::from(at.column.min(8)) } else { usize::from(at.column.min(8)) };
    match language {
        Language::Chinese if red => FIGURES[number].to_owned(),
        _ => (number + 1).to_string(),
    }
}

/// A piece with its file: 对方四路的车, the enemy chariot on file 4.
fn placed_name(game: &Xiangqi, at: Point, language: Language) -> Option<String> {
    let (side, _) = game.piece_at(at)?;
    let (piece, file) = (piece_name(game, at, language)?, file_name(game, at, language));
    let own = side == game.turn();
    Some(match language {
        Language::Chinese => format!("{}{file}路的{piece}", if own { "自己" } else { "对方" }),
        Language::English => format!("{} {piece} on file {file}", if own { "your" } else { "the enemy" }),
    })
}

/// A piece with its side, and its file as its own side counts: 红方七路的马, Red's horse on file 7.
pub(crate) fn piece_of_side(game: &Xiangqi, at: Point, language: Language) -> Option<String> {
    let (side, _) = game.piece_at(at)?;
    let (piece, file) = (piece_name(game, at, language)?, file_of(side, at, language));
    let owner = <Xiangqi as Game>::names(language).side(side);
    Some(match language {
        Language::Chinese => format!("{owner}{file}路的{piece}"),
        Language::English => format!("{owner}'s {piece} on file {file}"),
    })
}

fn both(say: impl Fn(Language) -> String) -> [String; 2] {
    Language::ALL.map(say)
}

impl Xiangqi {
    /// The check that the side to move is in; `None` if it is not in check, or the game is over.
    pub fn check(&self) -> Option<Check> {
        let by = self.checkers();
        if by.is_empty() || self.outcome().is_some() {
            return None;
        }
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        let mut helpers: Vec<Point> = Vec::new();
        for action in moves.into_iter().map(Self::action) {
            if let Action::Step { from, .. } = action
                && !helpers.contains(&from)
            {
                helpers.push(from);
            }
        }
        helpers.sort_by_key(|at| (at.row, at.column));
        let words = both(|language| {
            /// Maximum number of pieces named in a sentence; the board marks all.
            const NAMED: usize = 4;
            let more = if helpers.len() > NAMED { language.pick("等", " and others") } else { "" };
            let named = |points: &[Point]| -> Vec<String> {
                points.iter().filter_map(|at| placed_name(self, *at, language)).collect()
            };
            let own = |points: &[Point]| -> Vec<String> {
                let name = |at: &Point| {
                    let (piece, file) = (piece_name(self, *at, language)?, file_name(self, *at, language));
                    Some(match language {
                        Language::Chinese => format!("{file}路{piece}"),
                        Language::English => format!("{piece} on file {file}"),
                    })
                };
                points.iter().take(NAMED).filter_map(name).collect()
            };
            match language {
                Language::Chinese => {
                    let (by, own) = (named(&by).join("、"), own(&helpers).join("、"));
                    format!("将军！{by}在将军。能解将的：{own}{more}。")
                }
                Language::English => {
                    let gives = if by.len() == 1 { "gives" } else { "give" };
                    let mut by = named(&by).join(" and ");
                    if let Some(first) = by.get_mut(..1) {
                        first.make_ascii_uppercase();
                    }
                    format!("Check! {by} {gives} check. What can help: {}{more}.", own(&helpers).join(", "))
                }
            }
        });
        Some(Check { general: self.general(), by, helpers, words })
    }
}

impl AnyGame {
    /// Pieces of the side to move without a legal move, and the reasons. Empty for games without moving pieces.
    pub fn stuck(&self) -> Vec<Explained> {
        let view = self.view();
        let (Some(turn), false) = (view.turn, view.steps.is_empty()) else { return Vec::new() };
        let still =
            |piece: &&PieceView| piece.side == turn && !view.steps.iter().any(|(from, _)| *from == piece.at);
        let pieces = view.pieces.iter().filter(still);
        pieces
            .map(|piece| {
                if let Self::Xiangqi(game) = self {
                    return stuck_in_xiangqi(game, piece.at);
                }
                let near = |other: &&PieceView| {
                    let across = other.at.column.abs_diff(piece.at.column);
                    across + other.at.row.abs_diff(piece.at.row) == 1 && other.piece == Piece::Stone
                };
                let why = |language: Language| {
                    language.pick("这枚子旁边没有空位，走不了", "no free point is beside this stone").into()
                };
                let points = view.pieces.iter().filter(near).map(|other| other.at).collect();
                Explained { at: piece.at, words: both(why), points }
            })
            .collect()
    }
}

fn stuck_in_xiangqi(game: &Xiangqi, at: Point) -> Explained {
    // The reason for each pseudo-legal step.
    let mut in_the_way: Vec<Point> = Vec::new();
    let mut attackers: Vec<Point> = Vec::new();
    let mut faces = false;
    for to in crate::game::points(9, 10) {
        match game.legal_move(Action::Step { from: at, to }) {
            Err(IllegalAction::GeneralAttacked(by)) if !attackers.contains(&by) => attackers.push(by),
            Err(IllegalAction::GeneralsFace) => faces = true,
            Err(
                IllegalAction::HorseLeg(by) | IllegalAction::ElephantEye(by) | IllegalAction::InTheWay(by),
            ) if !in_the_way.contains(&by) => in_the_way.push(by),
            _ => {}
        }
    }
    let could_move = faces || !attackers.is_empty();
    let checkers = game.checkers();
    let name = |language| piece_name(game, at, language).unwrap_or("");
    let words = both(|language| {
        let (name, chinese) = (name(language), language == Language::Chinese);
        let is_general = matches!(game.piece_at(at), Some((_, Kind::General)));
        match (could_move, checkers.is_empty()) {
            (true, _) if is_general && chinese => format!("{name}走到哪里都会被吃掉"),
            (true, _) if is_general => "wherever the general goes, it would be taken".into(),
            (true, false) if chinese => format!("这个{name}解不了将军"),
            (true, false) => format!("this {name} cannot end the check"),
            (true, true) if faces && chinese => format!("这个{name}走开，将帅就照面了"),
            (true, true) if faces => format!("without this {name} the generals would face each other"),
            (true, true) => {
                let by =
                    attackers.first().and_then(|by| placed_name(game, *by, language)).unwrap_or_default();
                if chinese {
                    format!("这个{name}走开，{by}就会吃掉你的{}", own_general(game))
                } else {
                    format!("this {name} guards your general from {by}")
                }
            }
            (false, _) if chinese => format!("这个{name}被挡住了，现在走不了"),
            (false, _) => format!("this {name} is blocked and cannot move now"),
        }
    });
    let points = match (could_move, checkers.is_empty()) {
        (true, false) => checkers,
        (true, true) => attackers,
        (false, _) => in_the_way,
    };
    Explained { at, words, points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameKind;

    fn xiangqi(fen: &str) -> AnyGame {
        AnyGame::from_position(&GameKind::Xiangqi.default_setup(), fen).expect("a position")
    }

    fn at(text: &str) -> Point {
        let bytes = text.as_bytes();
        Point::new(u16::from(bytes[0] - b'a'), u16::from(bytes[1] - b'0'))
    }

    fn refused(game: &AnyGame, from: &str, to: &str) -> ([String; 2], Vec<Point>) {
        let action = Action::Step { from: at(from), to: at(to) };
        let why = game.legal_move(action).expect_err("it is refused");
        let Explained { words, points, .. } = why.explained(game, action);
        (words, points)
    }

    #[test]
    fn a_refusal_in_xiangqi_names_the_piece_and_its_file_as_the_edge_does_and_shows_it() {
        let start = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("the default");
        let said = |from, to, words: [&str; 2], points: &[&str]| {
            let points: Vec<Point> = points.iter().map(|point| at(point)).collect();
            assert_eq!(refused(&start, from, to), (words.map(String::from), points));
        };
        said(
            "a0",
            "a5",
            ["自己九路的兵挡住了车的路", "your soldier on file 9 is in the chariot's way"],
            &["a3"],
        );
        said(
            "b0",
            "d1",
            ["蹩马腿：自己七路的相挡着", "your elephant on file 7 blocks the horse's leg"],
            &["c0"],
        );
        said("a0", "b1", ["车不能这样走", "the chariot does not move that way"], &["a0"]);
        said("a0", "b0", ["那里有自己的马", "your own horse stands there"], &["b0"]);
        said("a9", "a8", ["那是对方的车", "that chariot is the other side's"], &["a9"]);
        said("e5", "e6", ["那里没有棋子", "there is no piece there"], &["e5"]);
        // Black counts from its own right, in Arabic numerals.
        let mut black = start.clone();
        black.act(Action::Step { from: at("h2"), to: at("e2") }).expect("legal");
        let (words, _) = refused(&black, "a9", "a5");
        assert_eq!(words, ["自己1路的卒挡住了车的路", "your soldier on file 1 is in the chariot's way"]);
    }

    #[test]
    fn games_of_stones_name_points_in_capitals_as_the_edge_does() {
        for (kind, name) in [(GameKind::Gomoku, "D5"), (GameKind::Liuzhou, "D5"), (GameKind::Go, "D5")] {
            let mut game = AnyGame::new(&kind.default_setup()).expect("the default");
            let action = Action::Place(Point::new(3, 4));
            game.act(action).expect("legal");
            let why = game.legal_move(action).expect_err("a stone is there");
            let explained = why.explained(&game, action);
            assert_eq!(explained.words, [format!("{name} 已有棋子"), format!("{name} is occupied")]);
            assert_eq!(explained.points, [Point::new(3, 4)]);
        }
    }

    #[test]
    fn a_check_says_what_gives_it_and_what_can_help_and_a_piece_that_cannot_says_so() {
        // The chariot on e5 gives check; the adviser can interpose, the horse cannot.
        let game = xiangqi("3k5/9/9/9/4r4/9/9/N8/9/3AK4 w");
        let AnyGame::Xiangqi(board) = &game else { panic!("xiangqi") };
        let check = board.check().expect("a check");
        assert_eq!((check.general, check.by), (at("e0"), vec![at("e5")]));
        assert_eq!(check.helpers, [at("d0"), at("e0")]);
        assert_eq!(
            check.words,
            [
                "将军！对方五路的车在将军。能解将的：六路仕、五路帅。",
                "Check! The enemy chariot on file 5 gives check. What can help: adviser on file 6, general on file 5.",
            ]
        );
        let stuck = game.stuck();
        assert_eq!(stuck.len(), 1);
        assert_eq!((stuck[0].at, &stuck[0].points), (at("a2"), &vec![at("e5")]));
        assert_eq!(stuck[0].words, ["这个马解不了将军", "this horse cannot end the check"]);
        assert!(board.clone().check().is_some());
        assert!(
            matches!(&xiangqi("3k5/9/9/9/9/9/9/9/9/4K4 w"), AnyGame::Xiangqi(calm) if calm.check().is_none())
        );
    }

    #[test]
    fn a_piece_that_is_pinned_or_blocked_says_by_what() {
        let said = |fen: &str, of: &str| {
            let game = xiangqi(fen);
            let stuck = game
                .stuck()
                .into_iter()
                .find(|one| one.at == at(of))
                .unwrap_or_else(|| panic!("{fen}: {:?}", game.stuck()));
            (stuck.words[1].clone(), stuck.points)
        };
        let pinned = said("3k5/9/9/9/4r4/9/P8/9/4N4/3AKA3 w", "e1");
        assert_eq!(
            pinned,
            ("this horse guards your general from the enemy chariot on file 5".into(), vec![at("e5")])
        );
        let faced = said("4k4/9/9/9/9/9/9/9/4N4/4K4 w", "e1");
        assert_eq!(faced.0, "without this horse the generals would face each other");
        let blocked = said("3k5/9/9/9/9/9/9/9/R8/NR3K3 w", "a0");
        assert_eq!(
            blocked,
            ("this horse is blocked and cannot move now".into(), vec![at("b0"), at("a1")]),
            "both legs"
        );
        let start = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("the default");
        assert!(start.stuck().is_empty(), "each piece can move: {:?}", start.stuck());
    }

    #[test]
    fn whatever_is_explained_is_short_enough_to_be_told() {
        // proto::limits::CLIENT_ID_BYTES limits each sentence; a longer one would make the whole board undecodable.
        const MOST: usize = 256;
        let mut checks = 0;
        for seed in 0..60 {
            let mut game = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("the default");
            let mut rng = crate::Rng::new(seed);
            while game.outcome().is_none() && game.ply() < 200 {
                let AnyGame::Xiangqi(board) = &game else { panic!("xiangqi") };
                let check = board.check();
                checks += usize::from(check.is_some());
                let said = check.map(|check| check.words).into_iter();
                for words in said.chain(game.stuck().into_iter().map(|stuck| stuck.words)) {
                    assert!(words.iter().all(|text| !text.is_empty() && text.len() <= MOST), "{words:?}");
                }
                let actions = game.legal_actions();
                let action = actions[rng.below(actions.len() as u32) as usize];
                game.act(action).expect("it is in the list");
            }
        }
        assert!(checks > 100, "{checks}");
    }
}
