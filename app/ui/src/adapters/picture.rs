//! A board as a picture: drawn off the screen, saved as a PNG file or copied to the clipboard.

use std::io;
use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, FactKind};
use slint::platform::WindowEvent;
use slint::{ComponentHandle, ModelRc, PhysicalSize, PlatformError, SharedString, VecModel};

use super::board::{Layout, Names, counts_area, ending, fact, names, plain_points};
use super::{game, game_of, records, replay, side};
use crate::app::{AppState, Controller};
use crate::art::Sprites;
use crate::clipboard::Picture;
use crate::screens::{Art, BoardPicture, Dialog, Ending, MainWindow, Remark, Side, Theme, ThemeChoice};

/// Width of a picture in device pixels, as messengers show pictures without making them smaller.
const WIDTH: u32 = 1_080;

/// Device pixels per logical pixel: a board as large as on a phone.
const SCALE: f32 = 2.0;

/// A position of a match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    pub(crate) summary: control::MatchSummary,
    pub(crate) board: control::Board,
    /// Moves up to the position, as players count; 0: not told.
    pub(crate) moves: u32,
    /// The position is the last one of a match that is over.
    pub(crate) over: bool,
    /// Seen from the second side.
    pub(crate) turned: bool,
}

/// Saves a picture as a new file, named as the match's own file would be.
pub(crate) fn save(app: &Controller, subject: &Subject, match_file: &str) {
    let stem = match_file.rsplit_once('.').map_or(match_file, |(stem, _)| stem);
    let written = draw(app, subject)
        .map_err(io::Error::other)
        .and_then(|picture| picture.png())
        .and_then(|png| records::write_picture(&format!("{stem}.png"), &png, &app.read()));
    match written {
        Ok(path) => {
            app.open(Dialog::None);
            app.remark(Remark::SavedFile, &path.display().to_string());
        }
        Err(error) => {
            tracing::warn!(%error, "a picture could not be written");
            app.remark(Remark::Disk, "");
        }
    }
}

/// Copies a picture to the clipboard. False where that is not possible.
pub(crate) fn copy(app: &Controller, subject: &Subject) -> bool {
    let Some(clipboard) = app.clipboard() else { return false };
    let copied = draw(app, subject).map_err(|error| error.to_string()).and_then(|it| clipboard.copy(&it));
    if let Err(error) = &copied {
        tracing::warn!(error, "a picture could not be copied");
    }
    copied.is_ok()
}

fn draw(app: &Controller, subject: &Subject) -> Result<Picture, PlatformError> {
    let picture = BoardPicture::new()?;
    // Sprites of this size are needed once.
    Rc::new(Sprites::default()).serve(&picture.global::<Art>());
    if let Some(window) = app.window.upgrade() {
        dress(&picture, &window);
        picture.set_players(replay::players(&window, &subject.summary));
    }
    fill(&picture, subject, &app.read());
    let window = picture.window();
    window.dispatch_event(WindowEvent::ScaleFactorChanged { scale_factor: SCALE });
    window.set_size(PhysicalSize::new(WIDTH, WIDTH));
    window.set_size(PhysicalSize::new(WIDTH, (picture.get_needed() * SCALE).ceil() as u32));
    let pixels = window.take_snapshot()?;
    Ok(Picture { width: pixels.width(), height: pixels.height(), rgba: pixels.as_bytes().to_vec() })
}

/// In the colours of the app, with letters of the usual size and nothing in motion.
fn dress(picture: &BoardPicture, window: &MainWindow) {
    let (theirs, ours) = (window.global::<Theme>(), picture.global::<Theme>());
    ours.set_choice(match theirs.get_tone() {
        2 => ThemeChoice::EInk,
        1 => ThemeChoice::Dark,
        _ => ThemeChoice::Light,
    });
    ours.set_piece_set(theirs.get_piece_set());
    ours.set_board_style(theirs.get_board_style());
    ours.set_reduced_motion(true);
}

fn fill(picture: &BoardPicture, subject: &Subject, known: &AppState) {
    let Subject { summary, board, moves, over, turned } = subject;
    let layout = Layout::still(board).turned(*turned);
    let Names { below, above, left } = names(board.game(), &layout, known.chinese());
    let list = |names: Vec<SharedString>| ModelRc::from(Rc::new(VecModel::from(names)));
    picture.set_column_names(list(below));
    picture.set_upper_names(list(above));
    picture.set_row_names(list(left));
    picture.set_coordinates(known.preferences.coordinates);
    picture.set_ground(game::ground(board.game()));
    let (columns, rows) = layout.seen();
    picture.set_columns(columns);
    picture.set_rows(rows);
    let points = plain_points(board, &layout, known.chinese());
    picture.set_points(ModelRc::from(Rc::new(VecModel::from(points))));
    picture.set_game(game_of(summary.setup.as_ref()));
    picture.set_moves(*moves as i32);
    let result = summary.result.as_ref().filter(|_| *over);
    picture.set_over(result.is_some());
    picture.set_winner(result.map_or(Side::None, |result| side(result.winner())));
    picture.set_ending(result.map_or(Ending::None, |result| ending(result.ending())));
    let points = |of| fact(board, FactKind::FactHalfPoints, of).unwrap_or(0);
    picture.set_lead(points(wire::Side::First).abs_diff(points(wire::Side::Second)) as i32);
    picture.set_area(counts_area(summary.setup.as_ref()));
}
