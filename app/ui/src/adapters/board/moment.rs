//! The animated end of a match on the board, before the result is announced. The steps follow from
//! the final position and the result; with reduced motion all of them are shown at once.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use proto::board::{self as wire, Ending};
use proto::control::{self, Board, Help, MarkKind, Room};
use senses::{Cue, Feel};
use slint::{Timer, TimerMode};

use super::layout::{Layout, ROW_STEP};
use super::{other, point_of};
use crate::app::Controller;
use crate::screens::PointView;

/// A step of the animation; its result stays visible.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A stone of the winning row.
    Wins(u32),
    /// The position's lines: through the winning row, or from the pieces that give mate to the general.
    Lines,
    /// This stone or piece has lost: it fades.
    Falls(u32),
    /// These points are counted as territory.
    Counts(Vec<u32>),
    /// This light goes out.
    GoesOut(u32),
    /// A pause before the result is announced.
    Rest,
}

/// Longest and shortest interval between steps, and the total duration. Placing a stone takes
/// 90 ms.
const SLOWEST: Duration = Duration::from_millis(160);
const QUICKEST: Duration = Duration::from_millis(50);
const WHOLE: Duration = Duration::from_millis(1_600);

/// The steps for the end of this match. `before`: the position before its last move, if known.
fn steps(room: &Room, before: Option<&Board>) -> Vec<Step> {
    let (Some(result), Some(board)) = (&room.result, &room.board) else { return Vec::new() };
    let loser = other(result.winner());
    let marked = |kind: MarkKind| board.marks.iter().filter(move |mark| mark.kind() == kind);
    let standing = |kind: control::PieceKind| {
        let of = move |piece: &&control::Piece| piece.side() == loser && piece.kind() == kind;
        board.pieces.iter().filter(of).map(|piece| Step::Falls(piece.at))
    };
    let lines = (!board.lines.is_empty()).then_some(Step::Lines);
    match (board.game(), result.ending()) {
        (wire::Game::Gomoku, Ending::FiveInARow) => {
            marked(MarkKind::MarkWinning).map(|mark| Step::Wins(mark.at)).chain(lines).collect()
        }
        (wire::Game::Xiangqi, Ending::Checkmate | Ending::NoMoves) => {
            lines.into_iter().chain(standing(control::PieceKind::PieceGeneral)).collect()
        }
        (wire::Game::Liuzhou, Ending::TooFewStones | Ending::NoMoves) => {
            standing(control::PieceKind::PieceStone).collect()
        }
        (wire::Game::Go, Ending::Score) => counted(board),
        (wire::Game::LightsOut, Ending::AllOut) if help(room) != Help::Solved => {
            before.map(|before| gone_out(before, board)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn help(room: &Room) -> Help {
    room.achieved.as_ref().map_or(Help::None, control::Achieved::help)
}

/// Counted points, from the middle of the board outwards.
fn counted(board: &Board) -> Vec<Step> {
    let from_middle = |at: u32| {
        let off = |index: u32, size: u32| (2 * index + 1).abs_diff(size) / 2;
        off(at % ROW_STEP, board.columns).max(off(at / ROW_STEP, board.rows))
    };
    let mut rings: Vec<Vec<u32>> = Vec::new();
    for mark in board.marks.iter().filter(|mark| mark.kind() == MarkKind::MarkTerritory) {
        let ring = from_middle(mark.at) as usize;
        if rings.len() <= ring {
            rings.resize(ring + 1, Vec::new());
        }
        rings[ring].push(mark.at);
    }
    rings.into_iter().filter(|ring| !ring.is_empty()).map(Step::Counts).collect()
}

/// Lights that the last press turned off, the pressed one first.
fn gone_out(before: &Board, board: &Board) -> Vec<Step> {
    let pressed = board.last.as_ref().and_then(point_of).unwrap_or_default();
    let line = (board.columns as usize).div_ceil(8).max(1);
    let lit = |board: &Board, column: u32, row: u32| {
        let byte = board.lights.get(row as usize * line + column as usize / 8);
        byte.is_some_and(|byte| byte >> (column % 8) & 1 == 1)
    };
    let all = (0..board.rows).flat_map(|row| (0..board.columns).map(move |column| (column, row)));
    let mut out: Vec<u32> = all
        .filter(|&(column, row)| lit(before, column, row) && !lit(board, column, row))
        .map(|(column, row)| row * ROW_STEP + column)
        .collect();
    out.sort_by_key(|at| *at != pressed);
    out.into_iter().map(Step::GoesOut).collect()
}

/// A step that was just shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    /// Its sound.
    note: Option<Cue>,
}

/// The animation of a match's end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moment {
    room: String,
    revision: u32,
    steps: Vec<Step>,
    done: usize,
    /// Whether its notes rise, as they do for a win.
    rises: bool,
    /// The sound with the result.
    last: Cue,
}

impl Moment {
    fn new(before: &Room, after: &Room, last: Cue) -> Self {
        let mut steps = steps(after, before.board.as_ref());
        steps.push(Step::Rest);
        Self {
            room: after.id.clone(),
            revision: after.revision,
            steps,
            done: 0,
            rises: last != Cue::Loss,
            last,
        }
    }

    fn is_of(&self, room: &Room) -> bool {
        (&self.room, self.revision, true) == (&room.id, room.revision, room.result.is_some())
    }

    /// The interval between steps.
    fn beat(&self) -> Duration {
        let each = WHOLE / u32::try_from(self.steps.len()).unwrap_or(u32::MAX).max(1);
        each.clamp(QUICKEST, SLOWEST)
    }

    /// Shows the next step. `None` once all are shown.
    fn step(&mut self) -> Option<Shown> {
        let step = self.steps.get(self.done)?;
        // With many steps only some have a note, so that the notes are distinct.
        let number = self.done * usize::from(Cue::NOTES) / self.steps.len().max(usize::from(Cue::NOTES));
        let number = (number as u8).min(Cue::NOTES - 1);
        let note = Cue::Note(if self.rises { number } else { Cue::NOTES - 1 - number });
        self.done += 1;
        Some(Shown { note: (*step != Step::Rest).then_some(note) })
    }
}

/// Draws the steps shown so far, and hides the others. Returns whether lines are drawn.
fn draw(steps: &[Step], done: usize, points: &mut [PointView], layout: &Layout) -> bool {
    let mut lines = true;
    for (number, step) in steps.iter().enumerate() {
        let seen = number < done;
        let mut set = |at: u32, change: &dyn Fn(&mut PointView)| {
            if let Some(index) = layout.index(at) {
                change(&mut points[index]);
            }
        };
        match step {
            Step::Wins(at) => set(*at, &|point| point.winning = seen),
            Step::Falls(at) => set(*at, &|point| point.fallen = seen),
            Step::Counts(ring) if !seen => {
                for at in ring {
                    set(*at, &|point| point.territory = 0);
                }
            }
            Step::GoesOut(at) if !seen => set(*at, &|point| point.lamp = 2),
            Step::Lines => lines = seen,
            Step::Counts(_) | Step::GoesOut(_) | Step::Rest => {}
        }
    }
    lines
}

/// The animation on the board page, if one runs.
#[derive(Default)]
pub(crate) struct Moments {
    now: RefCell<Option<Moment>>,
    next: Timer,
    app: RefCell<Weak<Controller>>,
}

impl Moments {
    pub(super) fn attach(&self, app: &Rc<Controller>) {
        *self.app.borrow_mut() = Rc::downgrade(app);
    }

    /// Starts the animation for a match on the page that has ended; `last`: the sound with the result.
    pub(crate) fn begin(&self, before: &Room, after: &Room, last: Cue) {
        let moment = Moment::new(before, after, last);
        let beat = moment.beat();
        self.now.replace(Some(moment));
        let app = self.app.borrow().clone();
        self.next.start(TimerMode::Repeated, beat, move || {
            if let Some(app) = app.upgrade() {
                app.board.moment.step(&app);
            }
        });
    }

    fn step(&self, app: &Controller) {
        let here = app.read().room.as_ref().is_some_and(|room| self.runs(room));
        let heard = self.now.borrow_mut().as_mut().filter(|_| here).and_then(Moment::step);
        match heard {
            Some(Shown { note }) => {
                if let Some(note) = note {
                    app.hear(note);
                }
                app.show();
            }
            None => self.end(app, here),
        }
    }

    /// Shows all remaining steps.
    pub(super) fn skip(&self, app: &Controller) {
        self.end(app, true);
    }

    fn end(&self, app: &Controller, told: bool) {
        self.next.stop();
        let Some(moment) = self.now.take() else { return };
        if told {
            app.hear(moment.last);
            app.feel(Feel::Strong);
        }
        app.show();
    }

    /// Whether the animation of this match runs: its result is not announced yet.
    pub(super) fn runs(&self, room: &Room) -> bool {
        self.now.borrow().as_ref().is_some_and(|moment| moment.is_of(room))
    }

    /// Draws the animation of this match as far as it has run. Returns whether lines are drawn.
    pub(super) fn draw(&self, room: &Room, points: &mut [PointView], layout: &Layout) -> bool {
        if room.analysis.is_some() {
            return true;
        }
        match self.now.borrow().as_ref().filter(|moment| moment.is_of(room)) {
            Some(moment) => draw(&moment.steps, moment.done, points, layout),
            None => draw(&steps(room, None), usize::MAX, points, layout),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::{AnyGame, GameKind, Reason};

    use super::*;

    fn room(game: &AnyGame, ending: Ending, winner: wire::Side) -> Room {
        Room {
            id: "room".into(),
            board: Some(host::position(game)),
            result: Some(wire::Result { winner: winner.into(), ending: ending.into() }),
            ..Room::default()
        }
    }

    fn played(kind: GameKind, options: &[(&str, &str)], actions: &str) -> AnyGame {
        let mut setup = kind.default_setup();
        for (option, value) in options {
            setup.choose(option, value).expect("an option of the game");
        }
        let mut game = AnyGame::new(&setup).expect("a valid setup");
        for text in actions.split_whitespace() {
            let action = game.parse(text).unwrap_or_else(|| panic!("{text} is not of this game"));
            game.act(action).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
        game
    }

    fn at(column: u32, row: u32) -> u32 {
        row * ROW_STEP + column
    }

    /// The points after this number of steps, and whether lines are drawn.
    fn drawn(room: &Room, all: &[Step], done: usize) -> (Vec<PointView>, bool) {
        let board = room.board.as_ref().expect("a board");
        let layout = Layout::still(board);
        let mut points = super::super::plain_points(board, &layout, false);
        let lines = draw(all, done, &mut points, &layout);
        (points, lines)
    }

    fn many(points: &[PointView], of: impl Fn(&PointView) -> bool) -> usize {
        points.iter().filter(|point| of(point)).count()
    }

    #[test]
    fn the_row_that_wins_lights_up_stone_by_stone_and_then_the_line_through_it() {
        let game = played(GameKind::Gomoku, &[], "d4 a1 e4 a2 f4 a3 h4 b1 g4");
        let room = room(&game, Ending::FiveInARow, wire::Side::First);
        let all = steps(&room, None);
        let stones = (3..8).map(|column| Step::Wins(at(column, 3)));
        assert_eq!(all, stones.chain([Step::Lines]).collect::<Vec<_>>());
        for done in 0..=5 {
            let (points, lines) = drawn(&room, &all, done);
            assert_eq!((many(&points, |point| point.winning), lines), (done, false));
        }
        assert!(drawn(&room, &all, 6).1);
    }

    #[test]
    fn what_gives_mate_is_drawn_to_the_general_who_falls_then() {
        let all = engine::puzzles::all(GameKind::Xiangqi);
        let puzzle = all.iter().find(|puzzle| puzzle.moves == 1).expect("a mate in one move");
        let mut attempt = engine::puzzles::Attempt::new(puzzle.clone());
        attempt.act(puzzle.solution).expect("it is legal");
        let game = attempt.game();
        assert!(game.outcome().is_some(), "it is over");
        let winner =
            if attempt.solver() == engine::Side::First { wire::Side::First } else { wire::Side::Second };
        let room = room(game, Ending::Checkmate, winner);
        let all = steps(&room, None);
        let &[Step::Lines, Step::Falls(general)] = &all[..] else { panic!("{all:?}") };
        let lines = &room.board.as_ref().expect("set").lines;
        assert!(!lines.is_empty() && lines.iter().all(|line| line.to == general), "{lines:?}");
        let (points, lines) = drawn(&room, &all, 1);
        assert_eq!((many(&points, |point| point.fallen), lines), (0, true));
        let fallen: Vec<PointView> =
            drawn(&room, &all, 2).0.into_iter().filter(|point| point.fallen).collect();
        let loser = i32::from(other(winner));
        assert_eq!(fallen.iter().map(|point| (point.stone, point.piece)).collect::<Vec<_>>(), [(loser, 1)]);
    }

    /// Liuzhou chess played by a simple heuristic until one side has too few stones.
    fn outnumbered() -> AnyGame {
        let play = |stride: usize| {
            let mut game = AnyGame::new(&GameKind::Liuzhou.default_setup()).expect("the default is valid");
            for turn in 0..2_000 {
                if game.outcome().is_some() {
                    break;
                }
                let legal = game.legal_actions();
                game.act(legal[turn * stride % legal.len()]).expect("it is legal");
            }
            game
        };
        let few = |game: &AnyGame| game.outcome().is_some_and(|end| end.reason == Reason::TooFewStones);
        (1..1_000).map(play).find(few).expect("one of a thousand games ends so")
    }

    #[test]
    fn who_has_too_few_stones_at_liuzhou_chess_loses_them_one_by_one_and_the_winner_keeps_all() {
        let game = outnumbered();
        let winner = match game.outcome().and_then(|end| end.winner) {
            Some(engine::Side::First) => wire::Side::First,
            Some(engine::Side::Second) => wire::Side::Second,
            None => panic!("it has a winner"),
        };
        let ended = room(&game, Ending::TooFewStones, winner);
        let all = steps(&ended, None);
        let pieces = &ended.board.as_ref().expect("set").pieces;
        let of = |side: wire::Side| pieces.iter().filter(move |piece| piece.side() == side);
        let lost: Vec<Step> = of(other(winner)).map(|piece| Step::Falls(piece.at)).collect();
        assert!(!lost.is_empty() && of(winner).count() > lost.len(), "{pieces:?}");
        assert_eq!(all, lost);
        for done in 0..=all.len() {
            let (points, _) = drawn(&ended, &all, done);
            let fallen: Vec<i32> =
                points.iter().filter(|point| point.fallen).map(|point| point.stone).collect();
            assert_eq!(fallen, vec![i32::from(other(winner)); done]);
        }
        // A draw has no loser.
        let even = room(&game, Ending::DrawAgreed, wire::Side::Unspecified);
        assert_eq!(steps(&even, None), []);
    }

    #[test]
    fn territory_is_filled_from_the_middle_and_every_point_of_it_in_the_end() {
        let wall = (1..=9).map(|row| format!("D{row} F{row}")).collect::<Vec<_>>().join(" ");
        let game = played(GameKind::Go, &[("size", "9")], &format!("{wall} pass pass"));
        let room = room(&game, Ending::Score, wire::Side::First);
        let all = steps(&room, None);
        let counts = |done| many(&drawn(&room, &all, done).0, |point| point.territory != 0);
        let whole = counts(usize::MAX);
        assert!(whole >= 54 && all.len() >= 3, "{whole} {all:?}");
        let growing: Vec<usize> = (0..=all.len()).map(counts).collect();
        assert_eq!((growing[0], growing[all.len()]), (0, whole));
        assert!(growing.is_sorted_by(|less, more| less < more), "{growing:?}");
    }

    #[test]
    fn the_last_lights_go_out_one_by_one_and_of_a_solution_that_was_shown_none_does() {
        let mut game = played(GameKind::LightsOut, &[("columns", "4"), ("rows", "3"), ("seed", "1")], "");
        let AnyGame::LightsOut(lights) = &game else { panic!("it is lights out") };
        let engine::lights_out::Solution::Presses { presses, .. } = lights.solution() else {
            panic!("a random board can be put out")
        };
        let mut before = host::position(&game);
        for press in presses.points().collect::<Vec<_>>() {
            before = host::position(&game);
            game.act(engine::Action::Press(press)).expect("a light");
        }
        let mut room = room(&game, Ending::AllOut, wire::Side::First);
        let all = steps(&room, Some(&before));
        let lit = |done| many(&drawn(&room, &all, done).0, |point| point.lamp == 2);
        assert_eq!((0..=all.len()).map(lit).collect::<Vec<_>>(), (0..=all.len()).rev().collect::<Vec<_>>());
        assert!(all.len() >= 3 && steps(&room, None).is_empty(), "a match that is opened again has ended");
        room.achieved = Some(control::Achieved { help: Help::Solved.into(), ..Default::default() });
        assert_eq!(steps(&room, Some(&before)), []);
    }

    #[test]
    fn a_moment_ends_with_a_breath_is_short_and_its_notes_rise_with_a_win_and_fall_with_a_loss() {
        let game = played(GameKind::Gomoku, &[], "d4 a1 e4 a2 f4 a3 h4 b1 g4");
        let after = room(&game, Ending::FiveInARow, wire::Side::First);
        let before = Room { result: None, ..after.clone() };
        for (last, rises) in [(Cue::Win, true), (Cue::End, true), (Cue::Loss, false)] {
            let mut moment = Moment::new(&before, &after, last);
            assert!(moment.is_of(&after) && !moment.is_of(&before));
            assert!(!moment.is_of(&Room { revision: 1, ..after.clone() }), "undone");
            let heard: Vec<Option<Cue>> =
                std::iter::from_fn(|| moment.step()).map(|shown| shown.note).collect();
            assert_eq!((heard.len(), heard[6]), (7, None));
            let notes: Vec<u8> = heard[..6]
                .iter()
                .map(|cue| if let Some(Cue::Note(number)) = cue { *number } else { panic!("{heard:?}") })
                .collect();
            assert!(notes.is_sorted_by(|one, next| if rises { one < next } else { one > next }), "{notes:?}");
            assert_eq!(moment.step(), None);
        }
        let mut long = Moment::new(&before, &after, Cue::Win);
        long.steps = vec![Step::Falls(0); 25];
        assert!(long.beat() * 25 <= WHOLE && long.beat() >= QUICKEST);
        assert_eq!(Moment::new(&before, &before, Cue::End).beat(), SLOWEST);
    }

    #[test]
    fn resignations_time_and_agreements_leave_the_board_as_it_is() {
        let game = played(GameKind::Gomoku, &[], "d4 a1 e4 a2 f4 a3 h4 b1 g4");
        for ending in
            [Ending::Resigned, Ending::Time, Ending::DrawAgreed, Ending::BoardFull, Ending::Repetition]
        {
            assert_eq!(steps(&room(&game, ending, wire::Side::First), None), [], "{ending:?}");
        }
    }
}
