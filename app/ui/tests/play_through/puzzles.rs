//! Every kept puzzle, on the board as it is shown: a wrong move first, then the solution, and from each to the next.

use engine::puzzles::{self, Attempt, Puzzle, Verdict};
use engine::{Action, GameKind, Point};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Page, PuzzleProgress};

use crate::debts::DEBTS;
use crate::notes::Fault;
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};

impl Player<'_> {
    /// Boards are seen from Red's side, or from Black's where Black solves.
    fn index(&self, at: Point, turned: bool) -> usize {
        let (columns, rows) = (self.board().get_columns(), self.board().get_rows());
        let (column, row) = (i32::from(at.column), i32::from(at.row));
        (if turned { row * columns + columns - 1 - column } else { (rows - 1 - row) * columns + column })
            as usize
    }

    /// Touches what has to be touched for this action.
    fn touch_action(&mut self, action: Action, turned: bool) {
        let points = match action {
            Action::Step { from, to } => vec![from, to],
            Action::Place(at) | Action::Capture(at) | Action::Press(at) | Action::Toggle(at) => vec![at],
            Action::Pass => {
                self.touch("Pass");
                self.touch("Yes, pass");
                return;
            }
            other => panic!("{other:?} is no move of a puzzle"),
        };
        for at in points {
            self.touch_point(self.index(at, turned));
        }
    }

    /// Whether what stands on the screen is this puzzle's beginning.
    fn shows(&self, puzzle: &Puzzle) -> bool {
        let position = host::position(&puzzle.start);
        if (position.columns as i32, position.rows as i32)
            != (self.board().get_columns(), self.board().get_rows())
        {
            return false;
        }
        let turned = is_turned(puzzle);
        let points = self.seen_points();
        if puzzle.kind() == GameKind::LightsOut {
            // Row by row from the bottom, each in whole bytes.
            let bytes = position.columns.div_ceil(8) as usize;
            return (0..position.rows).all(|row| {
                (0..position.columns).all(|column| {
                    let byte = position.lights[row as usize * bytes + column as usize / 8];
                    let at = self.index(Point::new(column as u16, row as u16), turned);
                    (points[at].lamp == 2) == (byte >> (column % 8) & 1 == 1)
                })
            });
        }
        points.iter().filter(|point| point.stone != 0).count() == position.pieces.len()
            && position.pieces.iter().all(|piece| {
                let at = Point::new((piece.at % 1_024) as u16, (piece.at / 1_024) as u16);
                let point = &points[self.index(at, turned)];
                point.stone == piece.side && point.piece == piece.kind
            })
    }

    fn judged(&mut self, ply: i32) {
        self.until("the move is judged", || {
            self.board().get_ply() >= ply && self.board().get_puzzle_progress() != PuzzleProgress::Judging
        });
    }
}

fn is_turned(puzzle: &Puzzle) -> bool {
    puzzle.kind() == GameKind::Xiangqi && Attempt::new(puzzle.clone()).solver() == engine::Side::Second
}

/// All puzzles of a game, each by a wrong move and by its solution, from the first to the last by what the screen offers.
fn every_puzzle(kind: GameKind, held: Held) {
    let _chair = take_the_chair();
    let began = std::time::Instant::now();
    let stage = Stage::new();
    let mut player = Player::new(&stage, held, 24);
    let mut left: Vec<Puzzle> = puzzles::all(kind).iter().map(|puzzle| (*puzzle).clone()).collect();
    let count = left.len();
    player.touch("Puzzles");
    player.rest();
    let names = ["Gomoku", "Go,", "Xiangqi", "Liuzhou", "Lights Out"];
    let name = names.into_iter().find(|name| match kind {
        GameKind::Gomoku => *name == "Gomoku",
        GameKind::Go => *name == "Go,",
        GameKind::Xiangqi => *name == "Xiangqi",
        GameKind::Liuzhou => *name == "Liuzhou",
        GameKind::LightsOut => *name == "Lights Out",
    });
    let name = name.expect("each has a name");
    let (card, sight) = player.bring(|one| one.name.starts_with(name)).expect("the game's card");
    player.tap(&card, &sight);
    player.rest();
    player.check();
    player.touch("Next unsolved puzzle");
    let mut wrong_ones = 0;
    let mut others = 0;
    loop {
        player.until("a puzzle", || {
            player.look().page == Page::Board && player.board().get_puzzle_progress() == PuzzleProgress::Open
        });
        player.check();
        let Some(at) = left.iter().position(|puzzle| player.shows(puzzle)) else {
            // The board of the day is made new each day: it is solved by hints.
            assert_eq!(kind, GameKind::LightsOut, "unknown: {}", player.look().told());
            others += 1;
            assert!(others < 2, "a board that is none of the puzzles: {}", player.look().told());
            while player.board().get_puzzle_progress() == PuzzleProgress::Open {
                assert!(player.follow_a_hint(), "{}", player.look().told());
                player.judged(0);
            }
            player.touch("Next puzzle");
            continue;
        };
        let puzzle = left.remove(at);
        let mut attempt = Attempt::new(puzzle.clone());
        let turned = is_turned(&puzzle);
        let start = puzzle.start.ply() as i32;
        let is_wrong = |action: &Action| *action != puzzle.solution && !matches!(action, Action::Pass);
        if kind != GameKind::LightsOut
            && let Some(wrong) = attempt.game().legal_actions().into_iter().find(is_wrong)
        {
            player.touch_action(wrong, turned);
            player.judged(start + 1);
            if player.board().get_puzzle_progress() == PuzzleProgress::Wrong {
                wrong_ones += 1;
            } else {
                // Where it is not wrong yet, the turn goes on.
                let verdict = attempt.clone().act(wrong).expect("it is legal");
                assert!(!matches!(verdict, Verdict::Wrong(_)), "{}: {wrong:?}", puzzle.id);
            }
            player.check();
            player.touch("Undo");
            player.until("it is taken back", || player.board().get_ply() == start);
        }
        while let Some(action) = attempt.hint() {
            let before = player.board().get_ply();
            player.touch_action(action, turned);
            attempt.act(action).expect("the hint is legal");
            let ply = attempt.game().ply() as i32;
            if player.board().get_ply() == before && player.app.waits_for() == 0 {
                let told = player.look().told();
                player.note(Fault::Refused, format!("{}: {action:?}: {told}", puzzle.id));
                break;
            }
            player.judged(ply);
        }
        if player.board().get_puzzle_progress() != PuzzleProgress::Solved {
            let told = player.look().told();
            player.note(Fault::Refused, format!("{} is not solved by its solution: {told}", puzzle.id));
        }
        player.check();
        if !player.try_touch("Next puzzle") {
            break;
        }
    }
    let solved = count - left.len();
    println!(
        "{kind:?}: {solved} of {count} puzzles, {wrong_ones} wrong moves, {} s",
        began.elapsed().as_secs()
    );
    assert_eq!(player.look().dialog, Dialog::None);
    player.go_home();
    player.leave().settle(&format!("{kind:?}"), DEBTS);
    assert!(left.is_empty(), "never offered: {:?}", left.iter().map(|puzzle| &puzzle.id).collect::<Vec<_>>());
    assert!(wrong_ones > 0 || kind == GameKind::LightsOut, "no move was wrong");
}

#[test]
#[ignore = "make play-through"]
fn every_puzzle_of_gomoku_is_solved_after_a_wrong_move() {
    every_puzzle(GameKind::Gomoku, Held { size: UPRIGHT, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_puzzle_of_go_is_solved_after_a_wrong_move() {
    every_puzzle(GameKind::Go, Held { size: UPRIGHT, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_puzzle_of_xiangqi_is_solved_after_a_wrong_move() {
    every_puzzle(GameKind::Xiangqi, Held { size: LYING, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_puzzle_of_liuzhou_chess_is_solved_after_a_wrong_move() {
    every_puzzle(GameKind::Liuzhou, Held { size: UPRIGHT, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_puzzle_of_lights_out_is_solved() {
    every_puzzle(GameKind::LightsOut, Held { size: UPRIGHT, chinese: false });
}
