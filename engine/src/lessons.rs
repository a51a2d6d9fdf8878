//! Lessons: positions with instructions, the touches that they ask for, and explanations. Replayed by the game's rules, so
//! that a lesson cannot show an illegal action.

use crate::lights_out::Solution;
use crate::{Action, AnyGame, GameKind, IllegalAction, Point, Setup};

/// A text in both languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Simplified Chinese.
    pub zh: &'static str,
    /// English.
    pub en: &'static str,
}

const fn said(zh: &'static str, en: &'static str) -> Said {
    Said { zh, en }
}

/// The action that the learner is asked for.
#[derive(Clone, Copy, Debug)]
enum Touch {
    /// One of these, in the game's notation.
    One(&'static [&'static str]),
    /// Lights Out: a press of the solution, until all lights are off.
    Solution,
}

/// A step of a lesson.
#[derive(Debug)]
pub struct Step {
    options: &'static [(&'static str, &'static str)],
    /// Actions before the step, in the game's notation.
    before: &'static str,
    touches: &'static [Touch],
    /// Reply of the other side at the end of the step.
    answer: &'static str,
    /// The instruction.
    pub say: Said,
    /// The explanation after the step.
    pub then: Said,
}

/// The state of a learner in a step.
#[derive(Clone)]
pub struct Taught {
    /// The position.
    pub game: AnyGame,
    /// Actions that are accepted now; empty once the step is done.
    pub wanted: Vec<Action>,
}

/// Why an action is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaught {
    /// The lesson has no such step.
    #[error("there is no such step")]
    NoStep,
    /// It is illegal, for this reason.
    #[error("{0}")]
    Illegal(IllegalAction),
    /// It is legal, but not what the step asks for.
    #[error("touch what is marked")]
    Elsewhere,
    /// The step is done already.
    #[error("the step is done")]
    Done,
}

/// The steps of this game's lesson, in order.
pub fn lesson(kind: GameKind) -> &'static [Step] {
    match kind {
        GameKind::Gomoku => GOMOKU,
        GameKind::Liuzhou => LIUZHOU,
        GameKind::Go => GO,
        GameKind::Xiangqi => XIANGQI,
        GameKind::LightsOut => LIGHTS_OUT,
    }
}

/// The state of a step after these actions, oldest first. Fails at the first action that is not accepted.
pub fn teach(kind: GameKind, step: usize, actions: &[Action]) -> Result<Taught, NotTaught> {
    let step = lesson(kind).get(step).ok_or(NotTaught::NoStep)?;
    let mut game = step.start(kind);
    let mut touches = step.touches.iter();
    let mut touch = touches.next();
    for action in actions {
        let wanted = wanted(&game, touch.ok_or(NotTaught::Done)?);
        if !wanted.contains(action) {
            game.legal_move(*action).map_err(NotTaught::Illegal)?;
            return Err(NotTaught::Elsewhere);
        }
        game.act(*action).map_err(NotTaught::Illegal)?;
        if !matches!(touch, Some(Touch::Solution)) || game.outcome().is_some() {
            touch = touches.next();
        }
    }
    let wanted = touch.map(|touch| wanted(&game, touch)).unwrap_or_default();
    if touch.is_none() {
        play(&mut game, step.answer);
    }
    Ok(Taught { game, wanted })
}

impl Step {
    fn start(&self, kind: GameKind) -> AnyGame {
        let mut setup: Setup = kind.default_setup();
        for (option, value) in self.options {
            setup.choose(option, value).expect("lessons name options of their game");
        }
        let mut game = AnyGame::new(&setup).expect("lessons have valid setups");
        play(&mut game, self.before);
        game
    }
}

/// Plays the actions of a step's definition; a test below replays all of them.
fn play(game: &mut AnyGame, actions: &str) {
    for text in actions.split_whitespace() {
        let action = game.parse(text).expect("lessons are written in the game's notation");
        game.act(action).expect("lessons are played by the rules");
    }
}

fn wanted(game: &AnyGame, touch: &Touch) -> Vec<Action> {
    match (touch, game) {
        (Touch::One(texts), _) => texts.iter().filter_map(|text| game.parse(text)).collect(),
        (Touch::Solution, AnyGame::LightsOut(lights)) => match lights.solution() {
            Solution::Presses { presses, .. } => {
                presses.points().collect::<Vec<Point>>().into_iter().map(Action::Press).collect()
            }
            Solution::Unsolvable => Vec::new(),
        },
        (Touch::Solution, _) => Vec::new(),
    }
}

const GOMOKU: &[Step] = &[
    Step {
        options: &[],
        before: "",
        touches: &[Touch::One(&["h8"])],
        answer: "i9",
        say: said("黑先下。点棋盘正中。", "Black goes first. Tap the middle of the board."),
        then: said(
            "棋子落下就不再动，双方轮流下。",
            "A stone stays where it is placed. The two sides take turns.",
        ),
    },
    Step {
        options: &[],
        before: "h8 h10 i8 k10",
        touches: &[Touch::One(&["j8", "g8"])],
        answer: "k8",
        say: said("你有两子相连。再接一子，成三。", "You have two in a row. Make it three."),
        then: said(
            "两头都空的三叫活三，对方必须挡。",
            "Three with both ends free is an open three: White has to block, and has.",
        ),
    },
    Step {
        options: &[],
        before: "g9 h9 h8 i9 i8 j9 a1 k9",
        touches: &[Touch::One(&["l9"])],
        answer: "",
        say: said("白棋已有四子，一头空着。挡住它！", "White has four with one end free. Block it!"),
        then: said(
            "挡住了。先看对方的威胁，再想自己的。",
            "Blocked. Look at the other side's threats before your own plans.",
        ),
    },
    Step {
        options: &[],
        before: "h8 h9 i8 i9 j8 j9 k8 g8",
        touches: &[Touch::One(&["l8"])],
        answer: "",
        say: said("你有四子相连。下第五子。", "You have four in a row. Place the fifth stone."),
        then: said("横、竖、斜五子连成一线就赢。", "Five in a row wins: across, down or diagonally."),
    },
];

const GO_SIZE: &[(&str, &str)] = &[("size", "9")];

const GO: &[Step] = &[
    Step {
        options: GO_SIZE,
        before: "D5 E5 F5 J9 E4 J8",
        touches: &[Touch::One(&["E6"])],
        answer: "",
        say: said(
            "棋子旁边的空点叫气。白子只剩一口气，占住它。",
            "The free points beside a stone are its liberties. White has one left: play there.",
        ),
        then: said("没有气的棋子被提走。", "A stone without liberties is captured and leaves the board."),
    },
    Step {
        options: GO_SIZE,
        before: "E5 D5 J9 F5 J8 E6",
        touches: &[Touch::One(&["E4"])],
        answer: "",
        say: said(
            "你的黑子只剩一口气了。从空的一面逃出。",
            "Your stone has one liberty left. Run out on the free side.",
        ),
        then: said(
            "连在一起的棋子共用气，同生共死。",
            "Stones that are joined share their liberties: they live and die together.",
        ),
    },
    Step {
        options: GO_SIZE,
        before: "D5 F6 E6 F4 E4 G5 J1 E5",
        touches: &[Touch::One(&["F5"])],
        answer: "A9",
        say: said("白子在你的虎口里。提掉它。", "A white stone is in your tiger's mouth. Capture it."),
        then: said(
            "这是劫：白棋不能马上提回，只好先下别处。",
            "This is a ko: White may not recapture at once and plays elsewhere.",
        ),
    },
    Step {
        options: GO_SIZE,
        before: "D5 F6 E6 F4 E4 G5 J1 E5 F5 A9",
        touches: &[Touch::One(&["E5"])],
        answer: "",
        say: said("趁白棋下了别处，粘上这个劫。", "White has played elsewhere. Fill the ko."),
        then: said("劫粘上了，黑子都连在一起。", "The ko is filled, and your stones are joined."),
    },
    Step {
        options: GO_SIZE,
        before: "A2 A3 B2 B3 C2 C3 D2 D3 D1 E2 J9 E1",
        touches: &[Touch::One(&["B1"])],
        answer: "",
        say: said(
            "黑棋被围住了。下在中间，做出两只眼。",
            "Your group is surrounded. Play in the middle to give it two eyes.",
        ),
        then: said(
            "白棋不能同时占住两只眼，提不掉它：有两只真眼的棋是活棋。",
            "White can never fill both eyes at once. A group with two eyes is alive: it can't be captured.",
        ),
    },
    Step {
        options: GO_SIZE,
        // Two walls, and a white stone behind the black one.
        before: "E1 F1 E2 F2 E3 F3 E4 F4 E5 F5 E6 F6 E7 F7 E8 F8 E9 F9 C3 C6 pass pass",
        touches: &[Touch::One(&["dead C6"])],
        answer: "",
        say: said(
            "双方都停一手，棋就下完了。黑空里的白子做不活：点出这个死子。",
            "Both have passed, so play is over. The white stone inside can't live: tap it to mark it dead.",
        ),
        then: said(
            "双方同意死子后数棋：围得多的胜。黑先下，所以白棋另得贴目。",
            "When both agree, whoever surrounds more wins. Black went first, so White gets komi: extra points.",
        ),
    },
];

const XIANGQI: &[Step] = &[
    Step {
        options: &[],
        before: "",
        touches: &[Touch::One(&["h2e2"])],
        answer: "h9g7",
        say: said("红先走。点炮，再点它要去的地方。", "Red goes first. Tap the cannon, then where it goes."),
        then: said(
            "炮走直线，多远都行，中间不能有子。",
            "The cannon moves in a straight line, any distance, with nothing in its way.",
        ),
    },
    Step {
        options: &[],
        before: "h2e2 h9g7",
        touches: &[Touch::One(&["h0g2"])],
        answer: "i9h9",
        say: said("现在跳马。", "Now move the horse."),
        then: said(
            "马走日字：先直走一步，再斜走一步。直走那点有子，就蹩马腿走不了。",
            "One point straight, then one diagonally. A piece on the first point blocks it.",
        ),
    },
    Step {
        options: &[],
        before: "h2e2 h9g7 h0g2 i9h9",
        touches: &[Touch::One(&["i0h0"])],
        answer: "g6g5",
        say: said(
            "车走直线，威力最大。把它开出来。",
            "The chariot moves in a straight line and is the strongest piece. Bring it out.",
        ),
        then: said("车、马、炮要早出动。", "Bring out chariots, horses and cannons early."),
    },
    Step {
        options: &[],
        before: "h2e2 h9g7 h0g2 i9h9 i0h0 g6g5",
        touches: &[Touch::One(&["e2e6"])],
        answer: "g7e6",
        say: said(
            "炮隔一子才能吃。吃掉中间的卒。",
            "A cannon captures by jumping over exactly one piece. Capture the soldier in the middle.",
        ),
        then: said(
            "吃到了，却被马吃回：吃之前先看有没有保护。",
            "Captured, but the horse recaptures: look first what guards it.",
        ),
    },
    Step {
        options: &[],
        before: "g3g4 g6g5 g4g5 b9c7",
        touches: &[Touch::One(&["g5f5", "g5h5"])],
        answer: "",
        say: said(
            "兵向前走一步，不能后退。它过了河，可以横走：走一步。",
            "A soldier moves one point forward, never back. Yours has crossed the river: move it sideways.",
        ),
        then: said(
            "过了河的兵（卒），向前、向左、向右都能走一步。",
            "Across the river a soldier moves one point forward, left or right.",
        ),
    },
    Step {
        options: &[],
        before: "",
        touches: &[Touch::One(&["c0e2", "g0e2"])],
        answer: "h9g7",
        say: said(
            "相走田字，就是斜走两步。把一只相走到中间。",
            "An elephant moves exactly two points diagonally. Move one to the middle.",
        ),
        then: said(
            "相（象）不能过河。田字中心有子，就塞象眼走不了。",
            "Elephants never cross the river. A piece on the point between blocks them.",
        ),
    },
    Step {
        options: &[],
        before: "",
        touches: &[Touch::One(&["d0e1", "f0e1"])],
        answer: "h9g7",
        say: said(
            "画着斜线的九个点是九宫。仕在里面斜走一步：走到中心。",
            "The nine points with crossed lines are the palace. An adviser moves one point diagonally in it.",
        ),
        then: said(
            "仕（士）不能离开九宫，它保护帅（将）。",
            "Advisers never leave the palace: they guard the general.",
        ),
    },
    Step {
        options: &[],
        before: "",
        touches: &[Touch::One(&["e0e1"])],
        answer: "h9g7",
        say: said(
            "帅沿线走一步，也不能离开九宫。向前走一步。",
            "The general moves one point along a line and stays in the palace. Move it forward.",
        ),
        then: said(
            "两将不能在同一条竖线上照面，中间必须隔着子。",
            "The two generals may never face each other on a file with nothing between them.",
        ),
    },
    Step {
        options: &[],
        before: "h2e2 a6a5 e2e6 i6i5 b2b4 a5a4",
        touches: &[Touch::One(&["b4e4"])],
        answer: "",
        say: said(
            "两炮重叠，正对将。走成杀棋。",
            "Two cannons in line with the general. Checkmate in one move: find it.",
        ),
        then: said(
            "将死：怎么应都会被吃。将死对方就赢。",
            "Checkmate: whatever Black does, the general would be captured. That wins.",
        ),
    },
];

const LIUZHOU: &[Step] = &[
    Step {
        options: &[],
        before: "c3 a6 d3 f6 c4 a1",
        touches: &[Touch::One(&["d4"])],
        answer: "",
        say: said(
            "双方轮流放子。四子围成小方叫成方。",
            "The two sides take turns placing stones. Four in a small square make a square.",
        ),
        then: said("成方，可以吃一子。", "A square captures one stone."),
    },
    Step {
        options: &[],
        before: "c3 a6 d3 f6 c4 a1 d4",
        touches: &[Touch::One(&["xa6", "xf6", "xa1"])],
        answer: "",
        say: said("选一枚白子吃掉。", "Choose a white stone to capture."),
        then: said(
            "放子时被吃的子先做记号，放完一起拿走。",
            "While stones are being placed, captured ones are only marked; they are lifted when all are placed.",
        ),
    },
    Step {
        options: &[],
        before: "a3 f6 b2 d5",
        touches: &[Touch::One(&["c1"])],
        answer: "",
        say: said(
            "斜三：斜线三子，两头到边。",
            "Diagonal three: a diagonal line of three, from edge to edge.",
        ),
        then: said("斜三吃一子。", "A diagonal three captures one stone."),
    },
    Step {
        options: &[],
        before: "c1 a6 d2 b4 e3 f6",
        touches: &[Touch::One(&["f4"])],
        answer: "",
        say: said("斜四：斜线四子，两头到边。", "Diagonal four: a diagonal line of four, from edge to edge."),
        then: said("斜四也吃一子。", "A diagonal four captures one stone too."),
    },
    Step {
        options: &[],
        before: "b1 a6 c2 a4 d3 f1 e4 d6",
        touches: &[Touch::One(&["f5"])],
        answer: "",
        say: said("斜五：斜线五子，两头到边。", "Diagonal five: a diagonal line of five, from edge to edge."),
        then: said("斜五吃两子。", "A diagonal five captures two stones."),
    },
    Step {
        options: &[],
        before: "a3 a6 b3 c6 c3 e6 d3 b5 e3 f1",
        touches: &[Touch::One(&["f3"])],
        answer: "",
        say: said(
            "成六：一整行或一整列，四条边不算。",
            "Six: a whole row or column, but not one of the four edges.",
        ),
        then: said("成六吃三子！", "A six captures three stones!"),
    },
    Step {
        options: &[],
        before: "a1 a6 b2 c6 c3 e1 d4 f2 e5 a4",
        touches: &[Touch::One(&["f6"])],
        answer: "",
        say: said(
            "从一角到另一角的长斜线也是成六。",
            "The long diagonal from corner to corner is a six too.",
        ),
        then: said(
            "放完后，先拿走做了记号的子，再轮流走子。",
            "When all are placed, the marked ones are lifted and the stones start to move.",
        ),
    },
    Step {
        options: &[],
        // Eighteen stones each without a formation, one of each side removed because nobody could move, and White's first
        // step.
        before: "b3 a6 d1 b5 a2 c2 f5 c1 e1 d3 f4 c3 a5 b1 a4 a3 a1 e6 e3 e2 b2 f6 e5 c5 b4 c6 d2 f1 b6 d6 d4 f2 d5 e4 c4 f3 xe4 xf4 f3f4",
        touches: &[Touch::One(&["e3e4"])],
        answer: "",
        say: said(
            "沿线走一步到空点。点有记号的子，再走到空点。",
            "A stone moves one step along a line. Tap the marked one, then the empty point.",
        ),
        then: said("走成了方，又可以吃一子。", "It has moved into a square and captures again."),
    },
    Step {
        options: &[],
        before: "b3 a6 d1 b5 a2 c2 f5 c1 e1 d3 f4 c3 a5 b1 a4 a3 a1 e6 e3 e2 b2 f6 e5 c5 b4 c6 d2 f1 b6 d6 d4 f2 d5 e4 c4 f3 xe4 xf4 f3f4 e3e4",
        touches: &[Touch::One(&[
            "xb1", "xc1", "xf1", "xc2", "xe2", "xf2", "xa3", "xc3", "xd3", "xf4", "xb5", "xc5", "xa6", "xc6",
            "xd6", "xe6", "xf6",
        ])],
        answer: "",
        say: said("吃一枚白子，这回当场拿走。", "Capture a white stone. Now it leaves the board at once."),
        then: said("谁只剩三子或更少，谁就输。", "A side with three stones or fewer left loses."),
    },
];

const LIGHTS_OUT: &[Step] = &[
    Step {
        options: &[("columns", "3"), ("rows", "3"), ("seed", "7")],
        before: "",
        touches: &[Touch::One(&["b2"])],
        answer: "",
        say: said("按中间的灯，看看会怎样。", "Press the light in the middle and see what happens."),
        then: said(
            "它和上下左右的灯都变了：亮的灭，灭的亮。",
            "It and its four neighbours have changed: those that were on are off, those that were off are on.",
        ),
    },
    Step {
        options: &[("columns", "3"), ("rows", "3"), ("seed", "7")],
        before: "",
        touches: &[Touch::Solution],
        answer: "",
        say: said("把灯全部关掉：按下有标记的灯。", "Turn all the lights off: press the marked ones."),
        then: said(
            "全灭了！同一盏灯按两次等于没按，先后也无妨。",
            "All off! Pressing one twice changes nothing, and the order does not matter.",
        ),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liuzhou::FormationKind;
    use crate::{MarkKind, Reason};

    const KINDS: [GameKind; 5] =
        [GameKind::Gomoku, GameKind::Liuzhou, GameKind::Go, GameKind::Xiangqi, GameKind::LightsOut];

    /// Plays a step with the first accepted action each time.
    fn done(kind: GameKind, step: usize) -> (Vec<Action>, Taught) {
        let mut actions = Vec::new();
        for _ in 0..30 {
            let taught = teach(kind, step, &actions).expect("what is wanted is taken");
            let Some(first) = taught.wanted.first() else { return (actions, taught) };
            actions.push(*first);
        }
        panic!("{kind:?} {step} never ends");
    }

    #[test]
    fn every_lesson_is_played_to_its_end_by_the_rules() {
        for kind in KINDS {
            for (index, step) in lesson(kind).iter().enumerate() {
                let begun = teach(kind, index, &[]).expect("there is such a step");
                assert!(!begun.wanted.is_empty(), "{kind:?} {index} shows nothing to touch");
                for one in &begun.wanted {
                    assert!(begun.game.legal_move(*one).is_ok(), "{kind:?} {index}: {one:?} is illegal");
                    assert!(teach(kind, index, &[*one]).is_ok());
                }
                let (actions, end) = done(kind, index);
                assert!(end.game.ply() > begun.game.ply(), "{kind:?} {index}");
                assert!(matches!(
                    teach(kind, index, &[&actions[..], &actions[..1]].concat()),
                    Err(NotTaught::Done)
                ));
                for words in [step.say, step.then] {
                    assert!(!words.zh.is_empty() && words.en.is_ascii(), "{words:?}");
                    assert!(words.zh.chars().count() < 40 && words.en.len() < 120, "{words:?} is long");
                }
            }
            assert!(matches!(teach(kind, lesson(kind).len(), &[]), Err(NotTaught::NoStep)));
        }
    }

    #[test]
    fn what_is_said_of_the_outcome_is_so() {
        let reason = |kind, step| done(kind, step).1.game.outcome().map(|outcome| outcome.reason);
        assert_eq!(reason(GameKind::Gomoku, 3), Some(Reason::FiveInARow));
        assert_eq!(reason(GameKind::Xiangqi, 8), Some(Reason::Checkmate));
        assert_eq!(reason(GameKind::LightsOut, 1), Some(Reason::AllOut));
        let stones = |step: usize| {
            let (_, end) = done(GameKind::Go, step);
            (
                teach(GameKind::Go, step, &[]).expect("begun").game.view().pieces.len(),
                end.game.view().pieces.len(),
            )
        };
        let (before, after) = stones(0);
        assert_eq!(after, before, "one stone more and one less");
        let (before, after) = stones(2);
        assert_eq!(after, before + 1, "the stone in the ko, and White's answer elsewhere");
    }

    #[test]
    fn two_eyes_cannot_be_filled_and_a_dead_stone_is_marked() {
        let mut eyes = done(GameKind::Go, 4).1.game;
        for eye in ["A1", "C1"] {
            let fill = eyes.parse(eye).expect("a point");
            assert!(matches!(eyes.legal_move(fill), Err(IllegalAction::Suicide(_))), "{eye}");
        }
        eyes.act(Action::Pass).expect("White can do nothing here");
        let marked = done(GameKind::Go, 5).1.game.view();
        let dead: Vec<Point> =
            marked.marks.iter().filter(|mark| mark.kind == MarkKind::Dead).map(|mark| mark.at).collect();
        assert_eq!(dead, [Point::new(2, 5)], "C6 and nothing else");
    }

    #[test]
    fn every_piece_of_xiangqi_is_moved_once_at_least() {
        let mut moved = Vec::new();
        for step in 0..XIANGQI.len() {
            let begun = teach(GameKind::Xiangqi, step, &[]).expect("begun");
            let view = begun.game.view();
            for wanted in begun.wanted {
                let Action::Step { from, .. } = wanted else { panic!("{wanted:?} is no step") };
                let piece = view.pieces.iter().find(|piece| piece.at == from).expect("a piece steps").piece;
                if !moved.contains(&piece) {
                    moved.push(piece);
                }
            }
        }
        assert_eq!(moved.len(), 7, "{moved:?}");
    }

    #[test]
    fn each_formation_of_liuzhou_chess_that_captures_is_made_and_captures_what_is_said() {
        let due = |step: usize| {
            let view = done(GameKind::Liuzhou, step).1.game.view();
            view.facts
                .iter()
                .find_map(|fact| match fact {
                    crate::Fact::CapturesDue(count) => Some(u32::from(*count)),
                    _ => None,
                })
                .unwrap_or(0)
        };
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(due), [1, 0, 1, 1, 2, 3, 3, 1, 0]);
        assert_eq!(LIUZHOU.len(), 9);
        let made = |step: usize| -> Vec<FormationKind> {
            let (actions, end) = done(GameKind::Liuzhou, step);
            let AnyGame::Liuzhou(game) = end.game else { panic!("its own lesson") };
            assert!(!matches!(actions[..], [Action::Capture(_)]), "step {step} makes nothing");
            game.made().map(|formation| formation.kind).collect()
        };
        assert_eq!(
            // Steps 1 and 8 capture.
            [0, 2, 3, 4, 5, 6, 7].map(made),
            [
                [FormationKind::Square],
                [FormationKind::DiagonalThree],
                [FormationKind::DiagonalFour],
                [FormationKind::DiagonalFive],
                [FormationKind::Six],
                [FormationKind::Six],
                [FormationKind::Square],
            ]
        );
    }

    #[test]
    fn a_touch_elsewhere_is_told_from_one_that_the_rules_refuse() {
        let at =
            |text: &str| teach(GameKind::Gomoku, 3, &[]).expect("begun").game.parse(text).expect("a point");
        assert!(matches!(teach(GameKind::Gomoku, 3, &[at("a1")]), Err(NotTaught::Elsewhere)));
        assert!(matches!(teach(GameKind::Gomoku, 3, &[at("h8")]), Err(NotTaught::Illegal(_))));
    }
}
