//! The mapping between the points of a board and the screen, the visible part of a large board, and the coordinates at its edges.

use proto::board as wire;
use proto::control::{self, Room};
use slint::SharedString;

use super::{BoardPage, near_side};
use crate::adapters::game;
use crate::app::AppState;

/// A point on the wire is `row * 1024 + column`, the row from the bottom.
pub(super) const ROW_STEP: u32 = 1_024;

/// The visible part of a Lights Out board: its left and top edges in lights from the board's, and its zoom level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) zoom: usize,
}

impl Look {
    /// Zooms out or in.
    pub(super) fn step_zoom(&mut self, step: i32) {
        self.zoom = self.zoom.saturating_add_signed(step as isize).min(ZOOMS.len() - 1);
    }
}

/// Numbers of columns to choose from. Twenty can still be hit by sliding on the narrowest phone (16 logical px each); forty
/// are for an overview of a board of a thousand, not for play.
pub(super) const ZOOMS: [usize; 5] = [8, 12, 20, 28, 40];
pub(super) const FIRST_ZOOM: usize = 2;

impl Default for Look {
    fn default() -> Self {
        Self { left: 0, top: 0, zoom: FIRST_ZOOM }
    }
}

/// The mapping of points to indices on the screen: index 0 is at the top left.
pub(crate) struct Layout {
    /// Size of the whole board.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Seen from the second side.
    pub(super) turned: bool,
    /// The visible part.
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) wide: usize,
    pub(super) high: usize,
}

impl Layout {
    /// A board for display only: as much as is ever shown at once, from the first side.
    pub(crate) fn still(board: &control::Board) -> Self {
        let most = *ZOOMS.last().expect("there are some");
        let (columns, rows) = (board.columns.max(1) as usize, board.rows.max(1) as usize);
        Self { columns, rows, turned: false, left: 0, top: 0, wide: columns.min(most), high: rows.min(most) }
    }

    /// The same, seen from the second side if `turned`.
    pub(crate) fn turned(self, turned: bool) -> Self {
        Self { turned, ..self }
    }

    /// Number of visible columns and rows.
    pub(crate) fn seen(&self) -> (i32, i32) {
        (self.wide as i32, self.high as i32)
    }

    pub(super) fn of(known: &AppState, page: &BoardPage, room: &Room, board: &control::Board) -> Self {
        let (columns, rows) = (board.columns.max(1) as usize, board.rows.max(1) as usize);
        // Each side of a xiangqi board belongs to a player; other boards look the same from both sides, and turn only for two
        // people who pass the device.
        let turns = board.game() == wire::Game::Xiangqi || room.mine.len() == 2;
        let across = turns && near_side(known, room) == wire::Side::Second;
        let turned = across != page.turned;
        let most = if board.game() == wire::Game::LightsOut { ZOOMS[page.look.zoom] } else { usize::MAX };
        let (wide, high) = (columns.min(most), rows.min(most));
        let (left, top) = (page.look.left.min(columns - wide), page.look.top.min(rows - high));
        Self { columns, rows, turned, left, top, wide, high }
    }

    pub(super) fn is_part(&self) -> bool {
        (self.wide, self.high) != (self.columns, self.rows)
    }

    /// The coordinate of a visible index: the whole name, with 0; for xiangqi, whose edge names files only, the near
    /// side's file, with the rank from that side.
    pub(super) fn point_name(&self, kind: wire::Game, index: usize, chinese: bool) -> (SharedString, i32) {
        if kind == wire::Game::Xiangqi {
            let files = game::file_names(self.turned, chinese);
            let file = files.get(self.left + index % self.wide).copied().unwrap_or_default();
            return (file.into(), (self.rows - self.top - index / self.wide) as i32);
        }
        let (column, row) = self.place(index);
        (format!("{}{}", game::column_name(kind, column), game::row_name(row)).into(), 0)
    }

    /// Column and row from the bottom left, of a visible index.
    pub(super) fn place(&self, index: usize) -> (usize, usize) {
        let (x, y) = (self.left + index % self.wide, self.top + index / self.wide);
        if self.turned { (self.columns - 1 - x, y) } else { (x, self.rows - 1 - y) }
    }

    /// The point on the wire of a visible index.
    pub(crate) fn point(&self, index: i32) -> Option<u32> {
        let index = usize::try_from(index).ok().filter(|index| *index < self.wide * self.high)?;
        let (column, row) = self.place(index);
        Some(row as u32 * ROW_STEP + column as u32)
    }

    /// Column and row from the top left of the whole board as displayed.
    pub(super) fn spot(&self, at: u32) -> Option<(usize, usize)> {
        let (row, column) = ((at / ROW_STEP) as usize, (at % ROW_STEP) as usize);
        if row >= self.rows || column >= self.columns {
            return None;
        }
        Some(if self.turned { (self.columns - 1 - column, row) } else { (column, self.rows - 1 - row) })
    }

    /// The index of a point, if it is visible.
    pub(crate) fn index(&self, at: u32) -> Option<usize> {
        let (x, y) = self.spot(at)?;
        let (x, y) = (x.checked_sub(self.left)?, y.checked_sub(self.top)?);
        (x < self.wide && y < self.high).then_some(y * self.wide + x)
    }
}

/// Letters and numbers at the edges of a board: below, above, and to the left.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) below: Vec<SharedString>,
    pub(crate) above: Vec<SharedString>,
    pub(crate) left: Vec<SharedString>,
}

pub(crate) fn names(kind: wire::Game, layout: &Layout, chinese: bool) -> Names {
    match kind {
        // Lights Out has no coordinates, because its points are touched and not named.
        wire::Game::LightsOut => Names::default(),
        wire::Game::Xiangqi => Names {
            below: game::file_names(layout.turned, chinese).into_iter().map(Into::into).collect(),
            above: game::file_names(!layout.turned, chinese).into_iter().rev().map(Into::into).collect(),
            left: Vec::new(),
        },
        _ => {
            let mut below: Vec<SharedString> =
                (0..layout.columns).map(|column| game::column_name(kind, column).into()).collect();
            let mut left: Vec<SharedString> =
                (0..layout.rows).rev().map(|row| game::row_name(row).into()).collect();
            if layout.turned {
                below.reverse();
                left.reverse();
            }
            Names { below, above: Vec::new(), left }
        }
    }
}
