//! Comments and variations in the review of a match: what the page shows of them, and the way along a variation.

use proto::board as wire;
use proto::control;

use super::Shown;
use crate::adapters::board::{Layout, Touch, meaning};
use crate::adapters::{game, new_game, update};
use crate::screens::NotesAdapter;

/// A position of the match or of one of its variations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) ply: u32,
    /// The moves of the variation, from where it leaves the game.
    pub(super) line: Vec<wire::Action>,
}

impl Place {
    pub(super) fn main(ply: u32) -> Self {
        Self { ply, line: Vec::new() }
    }
}

/// What a touch on a point of the board is here.
pub(super) enum Tried {
    /// The move is there already: this position.
    Known(Place),
    /// A move to be noted.
    New(wire::Action),
    /// No move yet: something to say.
    Said(Touch),
}

/// A move of a variation in players' notation.
pub(super) fn written(side: &control::SideMove, chinese: bool) -> String {
    match &side.spoken {
        Some(words) => new_game::said(Some(words), chinese).to_owned(),
        None => game::written(&side.written),
    }
}

fn actions(line: &[control::SideMove]) -> impl Iterator<Item = wire::Action> {
    line.iter().filter_map(|side| side.action)
}

impl Shown {
    fn notes(&self) -> Option<&control::PositionNotes> {
        self.seen.as_ref()?.notes.as_ref()
    }

    /// The position that is seen.
    pub(super) fn here(&self) -> Place {
        let line = self.notes().map_or_else(Vec::new, |notes| actions(&notes.line).collect());
        Place { ply: self.ply(), line }
    }

    pub(super) fn is_beside(&self) -> bool {
        self.notes().is_some_and(|notes| !notes.line.is_empty())
    }

    /// One move on or back from the position that is wanted, along a variation if one is shown. `None` at its end.
    pub(super) fn step(&self, forward: bool) -> Option<Place> {
        let Place { ply, mut line } = self.wanted.clone();
        let total = self.seen.as_ref().map_or(self.summary.ply, |seen| seen.total);
        if line.is_empty() {
            let ply = if forward { ply + 1 } else { ply.checked_sub(1)? };
            return (ply <= total).then_some(Place::main(ply));
        }
        if !forward {
            line.pop();
            return Some(Place { ply, line });
        }
        // Where a variation goes on is known of the position that is seen.
        let next = self.notes().filter(|_| self.here() == self.wanted)?.next.as_ref()?.action;
        line.extend(next);
        Some(Place { ply, line })
    }

    /// The position after the first move of a variation that begins here.
    pub(super) fn enter(&self, index: usize) -> Option<Place> {
        let action = self.notes()?.beside.get(index)?.action?;
        let Place { ply, mut line } = self.here();
        line.push(action);
        Some(Place { ply, line })
    }

    /// Whether a touch of the board can be a move: beside a move of the game, or in a variation.
    pub(super) fn can_try(&self) -> bool {
        let Some(seen) = &self.seen else { return false };
        let takes = seen.board.as_ref().and_then(|board| board.touch.as_ref());
        takes.is_some_and(|touch| touch.kind() != control::TouchKind::TouchNothing)
            && (self.is_beside() || seen.ply < seen.total)
    }

    /// The piece that is picked for a move, if the position is still the same.
    pub(super) fn picked(&self) -> Option<u32> {
        let (place, at) = self.picked.as_ref()?;
        (*place == self.here()).then_some(*at)
    }

    /// A touch on a point of the board. Picks up and puts down pieces by itself.
    pub(super) fn touch(&mut self, index: i32) -> Option<Tried> {
        // Another position is on its way.
        if !self.can_try() || self.here() != self.wanted {
            return None;
        }
        let board = self.seen.as_ref()?.board.as_ref()?;
        let at = Layout::still(board).point(index)?;
        let action = match meaning(board, self.picked(), at) {
            Touch::Act(kind) | Touch::Warn(kind, _) => wire::Action { kind: Some(kind) },
            Touch::Pick(at) => {
                self.picked = Some((self.here(), at));
                return None;
            }
            Touch::PutDown => {
                self.picked = None;
                return None;
            }
            Touch::Nothing => return None,
            said @ (Touch::PickFirst | Touch::Stuck(_)) => return Some(Tried::Said(said)),
        };
        self.picked = None;
        Some(self.tried(action))
    }

    /// A move from the position that is seen.
    pub(super) fn tried(&self, action: wire::Action) -> Tried {
        let Place { ply, mut line } = self.here();
        let known = self.notes().is_some_and(|notes| {
            notes.next.iter().chain(&notes.beside).any(|side| side.action.as_ref() == Some(&action))
        });
        if !known {
            return Tried::New(action);
        }
        line.push(action);
        Tried::Known(Place { ply, line })
    }

    /// The next marked position in this direction.
    pub(super) fn marked(&self, forward: bool) -> Option<u32> {
        let (marked, ply) = (&self.notes()?.marked, self.ply());
        if forward {
            marked.iter().copied().find(|&at| at > ply)
        } else {
            marked.iter().copied().rfind(|&at| at < ply)
        }
    }

    /// A change of what is noted on the position that is seen.
    pub(super) fn edit(&self, change: control::edit_notes::Change) -> control::EditNotes {
        let Place { ply, line } = self.here();
        control::EditNotes { room_id: self.summary.room_id.clone(), ply, line, change: Some(change) }
    }

    pub(super) fn show_notes(
        &self,
        page: &NotesAdapter<'_>,
        models: &super::NoteModels,
        rows: usize,
        chinese: bool,
    ) {
        let none = control::PositionNotes::default();
        let notes = self.notes().unwrap_or(&none);
        page.set_comment(notes.comment.as_str().into());
        let line: Vec<String> = notes.line.iter().map(|side| written(side, chinese)).collect();
        page.set_line(line.join(" ").into());
        let beside = notes.beside.iter().map(|side| written(side, chinese).into());
        update(&models.beside, &beside.collect::<Vec<_>>());
        update(&models.marked, &notes.marked.iter().map(|&ply| ply as i32).collect::<Vec<_>>());
        let mut marked = vec![false; if notes.marked.is_empty() { 0 } else { rows }];
        for ply in &notes.marked {
            // Two moves stand in a row; what is before the first move is marked with it.
            if let Some(row) = marked.get_mut(ply.saturating_sub(1) as usize / 2) {
                *row = true;
            }
        }
        update(&models.rows, &marked);
        page.set_marked_before(self.marked(false).is_some());
        page.set_marked_after(self.marked(true).is_some());
        page.set_left_out(notes.left_out as i32);
        page.set_can_try(self.can_try());
        let touch = self.seen.as_ref().and_then(|seen| seen.board.as_ref()?.touch.as_ref());
        page.set_next_stone(touch.filter(|_| self.can_try()).map_or(0, |touch| touch.stone));
        page.set_can_step_back(self.step(false).is_some());
        page.set_can_step(self.step(true).is_some());
    }
}
