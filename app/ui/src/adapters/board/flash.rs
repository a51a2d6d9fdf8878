//! Points highlighted for a moment, so that the subject of a refusal is seen before its text is read.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use proto::control::{self, Room};
use slint::{Timer, TimerMode};

use crate::app::Controller;

/// Long enough to be noticed on a 19x19 board, short enough to be gone before the next move.
const LASTS: Duration = Duration::from_millis(1_500);

/// The highlighted points of one position.
#[derive(Default)]
pub(crate) struct Flash {
    lit: RefCell<Option<Lit>>,
    out: Timer,
}

struct Lit {
    room: String,
    ply: u32,
    points: Vec<u32>,
}

impl Flash {
    pub(super) fn attach(&self, app: &Rc<Controller>) {
        let app = Rc::downgrade(app);
        self.out.start(TimerMode::SingleShot, LASTS, move || {
            if let Some(app) = app.upgrade() {
                app.board.flash.lit.replace(None);
                app.show();
            }
        });
        self.out.stop();
    }

    /// Highlights these points of the match on the board page.
    pub(crate) fn light(&self, app: &Controller, points: &[u32]) {
        let lit = {
            let inner = app.read();
            let Some(room) = inner.room.as_ref().filter(|_| !points.is_empty()) else { return };
            let ply = room.board.as_ref().map_or(0, |board| board.ply);
            Lit { room: room.id.clone(), ply, points: points.to_vec() }
        };
        self.lit.replace(Some(lit));
        self.out.restart();
        app.show();
    }

    /// The highlighted points of this board; none after a move.
    pub(super) fn lit(&self, room: &Room, board: &control::Board) -> Vec<u32> {
        let lit = self.lit.borrow();
        let here = lit.as_ref().filter(|lit| (&lit.room, lit.ply) == (&room.id, board.ply));
        here.map(|lit| lit.points.clone()).unwrap_or_default()
    }
}
