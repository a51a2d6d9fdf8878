//! Editor of Lights Out boards. Computes no rule: a touch toggles one cell; the host plays and solves.

use std::rc::Rc;

use proto::board::{self as wire, LightsOutSetup, lights_out_setup, setup};
use proto::control::{self, Seat, reply, request, seat};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{new_game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{EditorAdapter, MainWindow, Page, PointView, Remark};

/// Maximum columns and rows, so that the whole board is visible: with forty, a cell has 8 logical px on the narrowest phone,
/// which a sliding finger can still hit. Larger boards are random or imported.
const MOST: u32 = 40;

/// State of the editor.
pub(crate) struct Editor {
    columns: u32,
    rows: u32,
    /// Whether each cell is lit, row by row from the top left.
    lit: Vec<bool>,
    torus: bool,
    diagonals: bool,
    /// Room of the match whose board is edited, which the new match replaces.
    replaces: String,
    points: Rc<VecModel<PointView>>,
}

impl Default for Editor {
    fn default() -> Self {
        Self {
            columns: 5,
            rows: 5,
            lit: vec![false; 25],
            torus: false,
            diagonals: false,
            replaces: String::new(),
            points: Rc::default(),
        }
    }
}

/// The reply opens the room of the edited board.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question;

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Editor(question)
    }
}

impl Editor {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<EditorAdapter>();
        page.set_points(ModelRc::from(self.points.clone()));
        page.on_touch(touched!(app, |pages, _cx, index| pages.editor.touch(index)));
        page.on_resize(touched!(app, |pages, _cx, columns, rows| pages.editor.step_size(columns, rows)));
        page.on_fill(touched!(app, |pages, _cx, lit| pages.editor.lit.fill(lit)));
        page.on_start(touched!(app, |pages, cx, solve| pages.editor.start(solve, cx)));
    }

    fn touch(&mut self, index: i32) {
        if let Some(lamp) = usize::try_from(index).ok().and_then(|index| self.lit.get_mut(index)) {
            *lamp = !*lamp;
        }
    }

    fn step_size(&mut self, columns: i32, rows: i32) {
        self.resize(stepped(self.columns, columns), stepped(self.rows, rows));
    }

    /// Opens an empty board of the size and rules that were chosen last.
    pub(crate) fn open(&mut self, cx: &mut Cx<'_>) {
        let sheet = cx.known.sheets.get(&(wire::Game::LightsOut as i32));
        let chosen = lights_of(sheet.and_then(|sheet| sheet.setup.as_ref()));
        self.rules_of(&chosen, String::new());
        (self.columns, self.rows) = (chosen.columns.clamp(1, MOST), chosen.rows.clamp(1, MOST));
        self.lit = vec![false; (self.columns * self.rows) as usize];
        cx.go.page(Page::Editor);
    }

    /// Opens the board of the match that is being played.
    pub(crate) fn change(&mut self, cx: &mut Cx<'_>) {
        if let Some(room) = &cx.known.room {
            self.rules_of(&lights_of(room.setup.as_ref()), room.id.clone());
            self.unpack(&room.board.clone().unwrap_or_default());
        }
        cx.go.page(Page::Editor);
    }

    fn rules_of(&mut self, chosen: &LightsOutSetup, replaces: String) {
        (self.torus, self.diagonals, self.replaces) = (chosen.torus, chosen.diagonals, replaces);
    }

    fn start(&self, solve: bool, cx: &mut Cx<'_>) {
        let lights = LightsOutSetup {
            torus: self.torus,
            diagonals: self.diagonals,
            columns: self.columns,
            rows: self.rows,
            start: Some(lights_out_setup::Start::Lights(self.packed().into())),
            ..Default::default()
        };
        let here = || Some(Seat { who: Some(seat::Who::Here(true)), ..Default::default() });
        let open = control::OpenRoom {
            setup: Some(wire::Setup { game: Some(setup::Game::LightsOut(lights)) }),
            first: here(),
            second: here(),
            replaces: self.replaces.clone(),
            ..Default::default()
        };
        cx.go.solve_when_there(solve);
        cx.ask.send(request::Body::OpenRoom(open), Question);
    }

    /// The board encoded as `Board.lights`: rows from the bottom, each padded to whole bytes, least significant bit first.
    fn packed(&self) -> Vec<u8> {
        let line = self.columns.div_ceil(8) as usize;
        let mut bytes = vec![0; line * self.rows as usize];
        for (index, _) in self.lit.iter().enumerate().filter(|(_, lit)| **lit) {
            let (column, down) = (index % self.columns as usize, index / self.columns as usize);
            let row = self.rows as usize - 1 - down;
            bytes[row * line + column / 8] |= 1 << (column % 8);
        }
        bytes
    }

    /// Loads a board from its encoding in an event.
    fn unpack(&mut self, board: &control::Board) {
        (self.columns, self.rows) = (board.columns.clamp(1, MOST), board.rows.clamp(1, MOST));
        let line = board.columns.div_ceil(8) as usize;
        let bit = |column: u32, row: u32| {
            let byte = board.lights.get(row as usize * line + column as usize / 8);
            byte.is_some_and(|byte| byte >> (column % 8) & 1 == 1)
        };
        self.lit = (0..self.rows)
            .rev()
            .flat_map(|row| (0..self.columns).map(move |column| (column, row)))
            .map(|(column, row)| bit(column, row))
            .collect();
    }

    /// Changes the size; cells keep their distance from the top left corner.
    fn resize(&mut self, columns: u32, rows: u32) {
        let old = (self.columns, self.lit.clone());
        self.lit = (0..rows)
            .flat_map(|down| (0..columns).map(move |across| (across, down)))
            .map(|(across, down)| {
                across < old.0 && old.1.get((down * old.0 + across) as usize) == Some(&true)
            })
            .collect();
        (self.columns, self.rows) = (columns, rows);
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        if known.page() != Page::Editor {
            return;
        }
        let page = window.global::<EditorAdapter>();
        let points: Vec<PointView> = self
            .lit
            .iter()
            .enumerate()
            .map(|(index, lit)| {
                let (column, down) = (index as u32 % self.columns, index as u32 / self.columns);
                let column = super::game::column_name(wire::Game::LightsOut, column as usize);
                PointView {
                    lamp: 1 + i32::from(*lit),
                    name: format!("{column}{}", self.rows - down).into(),
                    ..Default::default()
                }
            })
            .collect();
        update(&self.points, &points);
        page.set_columns(self.columns as i32);
        page.set_rows(self.rows as i32);
        page.set_lit(self.lit.iter().filter(|lit| **lit).count() as i32);
        page.set_can_wider(self.columns < MOST);
        page.set_can_narrower(self.columns > 1);
        page.set_can_higher(self.rows < MOST);
        page.set_can_lower(self.rows > 1);
    }
}

pub(crate) fn reply(answer: Answer, cx: &mut Cx<'_>) {
    match answer {
        Ok(reply::Body::RoomId(room)) => cx.go.room(&room),
        Ok(_) => {}
        Err(refusal) => {
            cx.go.solve_when_there(false);
            cx.go.refused(refusal, Remark::BadRequest);
        }
    }
}

fn stepped(number: u32, step: i32) -> u32 {
    match step {
        1.. => new_game::up_from(number).min(MOST),
        0 => number,
        _ => new_game::down_from(number).max(1),
    }
}

/// Whether the present board can be edited: it is small enough to be seen as a whole.
pub(super) fn can_change(known: &AppState) -> bool {
    let board = known.room.as_ref().and_then(|room| room.board.as_ref());
    board.is_some_and(|board| {
        board.game() == wire::Game::LightsOut && board.columns <= MOST && board.rows <= MOST
    })
}

fn lights_of(setup: Option<&wire::Setup>) -> LightsOutSetup {
    match setup.and_then(|setup| setup.game.as_ref()) {
        Some(setup::Game::LightsOut(chosen)) => chosen.clone(),
        _ => LightsOutSetup { columns: 5, rows: 5, ..Default::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lamps_are_packed_as_boards_are_told_and_back() {
        let mut editor = Editor { columns: 9, rows: 2, lit: vec![false; 18], ..Editor::default() };
        // The top left cell, and the right end of the lower row.
        (editor.lit[0], editor.lit[17]) = (true, true);
        assert_eq!(editor.packed(), [0, 1, 1, 0]);
        let board =
            control::Board { columns: 9, rows: 2, lights: editor.packed().into(), ..Default::default() };
        let mut again = Editor::default();
        again.unpack(&board);
        assert_eq!((again.columns, again.rows, &again.lit), (9, 2, &editor.lit));
        again.resize(10, 3);
        assert_eq!(again.lit.iter().filter(|lit| **lit).count(), 2);
        again.resize(3, 1);
        assert_eq!(again.lit, [true, false, false]);
    }
}
