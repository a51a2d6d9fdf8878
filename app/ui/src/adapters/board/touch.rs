//! The meaning of a touch on a point: the host tells which action it is in this phase (`control::Touch`); here it becomes an
//! action, a picked piece, or a confirmation. The host checks legality.

use proto::board::{self as wire, Action, action};
use proto::control::{self, Room, TouchKind};

use super::layout::Layout;
use super::{BoardPage, Losing, Picked, act};
use crate::adapters::new_game;
use crate::app::{AppState, Cx};
use crate::preferences::Confirm;
use crate::screens::{Dialog, Remark};

/// The effect of a touch.
pub(crate) enum Touch {
    Act(action::Kind),
    Pick(u32),
    PutDown,
    /// A step is due, but no piece was picked for it.
    PickFirst,
    /// The piece cannot move: the reason, and the points it is about.
    Stuck(control::Warning),
    /// The board takes no action at present.
    Nothing,
    /// An action that would lose at once, and the reason if it is not the repetition of a position.
    Warn(action::Kind, Option<control::Words>),
}

impl BoardPage {
    /// Handles a touch on points that may be smaller than a finger: a stone may need a confirmation.
    pub(super) fn aim(&mut self, index: i32, small: bool, cx: &mut Cx<'_>) {
        let asks = match cx.known.preferences.confirm_moves {
            Confirm::Small => small,
            Confirm::Always => true,
            Confirm::Never => false,
        };
        let Some(room) = &cx.known.room else { return };
        let Some(board) = &room.board else { return };
        let Some(at) = Layout::of(cx.known, self, room, board).point(index) else { return };
        let stone =
            matches!(meaning(board, self.picked(room, board), at), Touch::Act(action::Kind::Place(_)));
        let empty = board.pieces.iter().all(|piece| piece.at != at);
        let again = self.waiting(room, board) == Some(at);
        self.waiting = (asks && room.can_act && stone && empty && !again).then(|| Picked {
            room: room.id.clone(),
            ply: board.ply,
            revision: room.revision,
            at,
        });
        if self.waiting.is_none() {
            self.touch(index, cx);
        }
    }

    /// Confirms or cancels the waiting stone.
    pub(super) fn confirm_move(&mut self, yes: bool, cx: &mut Cx<'_>) {
        if let Some(waiting) = self.waiting.take().filter(|_| yes) {
            self.act_or_warn(waiting.at, cx);
        }
    }

    /// The point of the stone that awaits confirmation, if the position is still the same.
    pub(super) fn waiting(&self, room: &Room, board: &control::Board) -> Option<u32> {
        let waiting = self.waiting.as_ref()?;
        let same = (&waiting.room, waiting.ply, waiting.revision) == (&room.id, board.ply, room.revision);
        (same && room.can_act).then_some(waiting.at)
    }

    /// Places a stone on this point; if it would lose at once, after a confirmation.
    fn act_or_warn(&mut self, at: u32, cx: &mut Cx<'_>) {
        let Some(room) = &cx.known.room else { return };
        let Some(board) = &room.board else { return };
        if let Some(index) = Layout::of(cx.known, self, room, board).index(at) {
            self.touch(index as i32, cx);
        }
    }

    pub(super) fn touch(&mut self, index: i32, cx: &mut Cx<'_>) {
        let Some(room) = &cx.known.room else { return };
        let Some(board) = &room.board else { return };
        let Some(at) = Layout::of(cx.known, self, room, board).point(index) else { return };
        match meaning(board, self.picked(room, board), at) {
            Touch::Act(kind) => act(Action { kind: Some(kind) }, cx),
            Touch::Pick(at) => {
                self.picked =
                    Some(Picked { room: room.id.clone(), ply: board.ply, revision: room.revision, at });
            }
            Touch::PutDown => self.picked = None,
            Touch::PickFirst => cx.go.remark(Remark::PickFirst, ""),
            Touch::Nothing => {}
            Touch::Stuck(why) => {
                cx.go.flash(&why.points);
                cx.go.remark(Remark::Told, new_game::said(why.words.as_ref(), cx.known.chinese()));
            }
            Touch::Warn(kind, words) => {
                let (ply, revision) = (board.ply, room.revision);
                self.losing = Some(Losing { room: room.id.clone(), ply, revision, kind, words });
                cx.go.dialog(Dialog::Losing);
            }
        }
    }

    /// The picked piece, if the position is still the same.
    pub(super) fn picked(&self, room: &Room, board: &control::Board) -> Option<u32> {
        let picked = self.picked.as_ref()?;
        let same = (&picked.room, picked.ply, picked.revision) == (&room.id, board.ply, room.revision);
        (same && room.can_act).then_some(picked.at)
    }

    /// Drops a picked piece. False if none was picked.
    pub(crate) fn put_down(&mut self, known: &AppState) -> bool {
        let room = known.room.as_ref();
        let held = room.and_then(|room| self.picked(room, room.board.as_ref()?)).is_some();
        if held {
            self.picked = None;
        }
        held
    }
}

/// The meaning of a touch at this point, as told by the host with the position. Marks are only drawn and do not count.
pub(crate) fn meaning(board: &control::Board, picked: Option<u32>, at: u32) -> Touch {
    let Some(touch) = &board.touch else { return Touch::Nothing };
    let place = action::Kind::Place(at);
    match touch.kind() {
        TouchKind::TouchNothing => Touch::Nothing,
        // The host names the choices.
        TouchKind::TouchChoose => Touch::Act(place),
        TouchKind::TouchPlace => match touch.warnings.iter().find(|warning| warning.at == at) {
            Some(warning) => Touch::Warn(place, warning.words.clone()),
            None => Touch::Act(place),
        },
        TouchKind::TouchCapture => Touch::Act(action::Kind::Capture(at)),
        TouchKind::TouchToggle => Touch::Act(action::Kind::Toggle(at)),
        TouchKind::TouchPress => Touch::Act(action::Kind::Press(at)),
        TouchKind::TouchStep => match touch.stuck.iter().find(|stuck| stuck.at == at) {
            Some(stuck) => Touch::Stuck(stuck.clone()),
            None => step(board, picked, at),
        },
    }
}

/// A step: first the piece, then its destination.
fn step(board: &control::Board, picked: Option<u32>, at: u32) -> Touch {
    let own = board.pieces.iter().any(|piece| piece.at == at && piece.side == board.turn);
    match picked {
        Some(from) if from == at => Touch::PutDown,
        _ if own => Touch::Pick(at),
        Some(from) => {
            let step = wire::Step { from, to: at };
            if board.losing_steps.contains(&step) {
                Touch::Warn(action::Kind::Step(step), None)
            } else {
                Touch::Act(action::Kind::Step(step))
            }
        }
        None => Touch::PickFirst,
    }
}

#[cfg(test)]
mod tests {
    use engine::puzzles::{self, Attempt, Verdict};
    use engine::{Action as EngineAction, AnyGame, GameKind};
    use session::wire as codec;

    use super::*;

    /// The action that results from touching its points, and the number of touches.
    fn by_touch(board: &control::Board, action: EngineAction) -> (Option<EngineAction>, usize) {
        let points: Vec<u32> = match action {
            EngineAction::Step { from, to } => vec![codec::point(from), codec::point(to)],
            EngineAction::Place(at)
            | EngineAction::Capture(at)
            | EngineAction::Press(at)
            | EngineAction::Toggle(at) => vec![codec::point(at)],
            _ => panic!("{action:?} is made beside the points"),
        };
        let (mut picked, mut done, mut touches) = (None, None, 0);
        for at in points {
            touches += 1;
            match meaning(board, picked, at) {
                Touch::Pick(at) => picked = Some(at),
                Touch::Act(kind) | Touch::Warn(kind, _) => {
                    done = codec::read_action(Some(&Action { kind: Some(kind) })).ok();
                }
                Touch::PutDown | Touch::PickFirst | Touch::Nothing | Touch::Stuck(_) => {}
            }
        }
        (done, touches)
    }

    /// A legal move on the board's points other than the solution.
    fn wrong(game: &AnyGame, right: EngineAction) -> Option<EngineAction> {
        let beside = |action: &EngineAction| {
            !matches!(action, EngineAction::Pass | EngineAction::Agree | EngineAction::Resume)
        };
        game.legal_actions().into_iter().filter(beside).find(|action| *action != right)
    }

    #[test]
    fn every_kept_puzzle_of_every_game_is_solved_by_touches_and_takes_a_wrong_move_by_touches() {
        let mut solved = Vec::new();
        for &kind in GameKind::ALL {
            let all = puzzles::all(kind);
            for puzzle in all {
                let mut attempt = Attempt::new(puzzle.clone());
                let first = puzzle.solution;
                if let Some(other) = wrong(attempt.game(), first) {
                    let touched = by_touch(&host::tried(&attempt), other).0;
                    assert_eq!(touched, Some(other), "{}: a wrong move", puzzle.id);
                    attempt.act(other).unwrap_or_else(|why| panic!("{}: {why}", puzzle.id));
                    assert!(attempt.take_back());
                }
                let mut last = None;
                while attempt.end().is_none() {
                    let action = attempt.hint().unwrap_or_else(|| panic!("{}: no way on", puzzle.id));
                    let touched = by_touch(&host::tried(&attempt), action).0;
                    assert_eq!(touched, Some(action), "{}: a touch has another meaning", puzzle.id);
                    let judged = attempt.act(action);
                    last = Some(judged.unwrap_or_else(|why| panic!("{}: refused: {why}", puzzle.id)));
                }
                assert_eq!(last, Some(Verdict::Solved), "{}", puzzle.id);
                let at_the_end = by_touch(&host::tried(&attempt), first).0;
                assert_eq!(at_the_end, None, "{}: the board takes no more", puzzle.id);
            }
            solved.push((kind, all.len()));
        }
        assert!(solved.iter().all(|(_, count)| *count >= 100), "{solved:?}");
    }

    #[test]
    fn a_mark_says_nothing_of_what_a_touch_is() {
        let game = AnyGame::new(&GameKind::Go.default_setup()).expect("the default is valid");
        let mut board = host::position(&game);
        for kind in [control::MarkKind::MarkTarget, control::MarkKind::MarkForbidden] {
            board.marks.push(control::Mark { at: 5, kind: kind.into(), ..Default::default() });
        }
        assert!(matches!(meaning(&board, None, 5), Touch::Act(action::Kind::Place(5))));
    }
}
