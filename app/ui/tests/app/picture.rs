//! Pictures of a board: to a file and to the clipboard.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use proto::control::{self, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Remark, ReplayAdapter};
use qiyou::{Clipboard, Picture};
use slint::ComponentHandle;

use crate::support::{Told, body, games, look_through, open};
use crate::touches::{dialog, names, remark, says, started, tap};

/// Keeps what is copied.
#[derive(Default)]
struct Board {
    copied: RefCell<Vec<Picture>>,
    full: bool,
    /// Pictures that it had no space for.
    refused: Cell<usize>,
}

impl Clipboard for Board {
    fn is_there(&self) -> bool {
        true
    }

    fn copy(&self, picture: &Picture) -> Result<(), String> {
        if self.full {
            self.refused.set(self.refused.get() + 1);
            return Err("no space".into());
        }
        self.copied.borrow_mut().push(picture.clone());
        Ok(())
    }
}

/// Answers what the match's file is called.
fn name_the_file(stage: &Stage, told: &mut Told, name: &str) {
    let asked = told.asked();
    let export = asked.iter().find(|one| {
        matches!(body(one), request::Body::Export(export) if export.format.is_empty() && export.ply.is_none())
    });
    let file = control::File { name: name.into(), content: Vec::new().into() };
    told.reply(export.expect("a name is asked for").id, reply::Body::File(file));
    stage.settle(&told.scene);
}

fn read(path: &Path) -> Picture {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG file");
    let mut rgba = vec![0; reader.output_buffer_size().expect("it fits memory")];
    let frame = reader.next_frame(&mut rgba).expect("pixels");
    assert_eq!(frame.color_type, png::ColorType::Rgba);
    Picture { width: frame.width, height: frame.height, rgba }
}

/// Dark pixels, in permille.
fn dark(picture: &Picture) -> usize {
    let (pixels, _) = picture.rgba.as_chunks::<4>();
    let dark = pixels.iter().filter(|pixel| pixel[..3].iter().all(|part| *part < 60)).count();
    dark * 1_000 / pixels.len()
}

#[test]
fn a_picture_of_the_position_is_saved_under_the_name_of_its_match_and_nothing_is_overwritten() {
    let stage = Stage::new();
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut told = started(&stage);
    told.app.keep_files_in(&folder.path().join("Qiyou"));
    look_through(&stage, &mut told, false);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    for name in ["2026-11-24 Ann – Level 3.png", "2026-11-24 Ann – Level 3-2.png"] {
        tap(&stage, &told, "Share…");
        told.asked();
        tap(&stage, &told, "Save a picture of the board");
        name_the_file(&stage, &mut told, "2026-11-24 Ann – Level 3.pgn");
        let path = folder.path().join("Qiyou").join(name);
        let picture = read(&path);
        assert_eq!(picture.width, 1_080);
        assert!(picture.height > 1_080, "a xiangqi board is higher than wide");
        assert!(picture.rgba.iter().skip(3).step_by(4).all(|opacity| *opacity == 255));
        // Where it is is said, where nothing covers it.
        assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::SavedFile));
        let said = told.app.window().global::<qiyou::screens::Navigation<'_>>().get_remark_name();
        assert_eq!(said, path.display().to_string());
    }
}

#[test]
fn a_picture_is_copied_where_the_desktop_has_a_clipboard_for_it_and_it_shows_the_position_that_is_seen() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look_through(&stage, &mut told, false);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    tap(&stage, &told, "Share…");
    assert!(!names(&told).iter().any(|name| name == "Copy a picture of the board"), "there is no clipboard");
    tap(&stage, &told, "Close");
    let board = Rc::new(Board::default());
    told.app.give_clipboard(board.clone());
    let start = host::position(&games::played(&engine::GameKind::Xiangqi.default_setup(), ""));
    for shown in [None, Some(start)] {
        if let Some(start) = shown {
            told.asked();
            told.app.window().global::<ReplayAdapter<'_>>().invoke_go(0);
            let look = told.asked().into_iter().find(|one| matches!(body(one), request::Body::Look(_)));
            let position = control::Position {
                room_id: "x".into(),
                ply: 0,
                total: 12,
                board: Some(start),
                ..Default::default()
            };
            told.reply(look.expect("it is asked for").id, reply::Body::Position(position));
            stage.settle(&told.scene);
        }
        tap(&stage, &told, "Share…");
        tap(&stage, &told, "Copy a picture of the board");
        assert!(says(&told, "Copied"), "the button says so");
        tap(&stage, &told, "Close");
    }
    let copied = board.copied.borrow();
    assert_eq!(copied.len(), 2);
    assert!(copied[0] != copied[1], "another position");
}

#[test]
fn a_picture_that_could_not_be_copied_is_not_said_to_be() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let board = Rc::new(Board { full: true, ..Board::default() });
    told.app.give_clipboard(board.clone());
    look_through(&stage, &mut told, false);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    tap(&stage, &told, "Share…");
    tap(&stage, &told, "Copy a picture of the board");
    assert_eq!(board.refused.get(), 1);
    assert!(!says(&told, "Copied"));
}

#[test]
fn the_board_itself_is_copied_while_it_is_played_at_where_the_desktop_has_a_clipboard_for_it() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let game = games::played(&engine::GameKind::Gomoku.default_setup(), "h8 i8");
    open(&stage, &mut told, games::against_the_device(&game, engine::Side::First));
    told.answer(&stage);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    tap(&stage, &told, "More");
    assert!(!names(&told).iter().any(|name| name == "Copy a picture of the board"), "there is no clipboard");
    tap(&stage, &told, "Close");
    let board = Rc::new(Board::default());
    told.app.give_clipboard(board.clone());
    tap(&stage, &told, "More");
    tap(&stage, &told, "Copy a picture of the board");
    assert!(says(&told, "Copied"), "the button says so");
    assert_eq!(board.copied.borrow().len(), 1);
}

#[test]
fn the_board_itself_is_saved_as_a_picture_while_it_is_played_at() {
    let stage = Stage::new();
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut told = started(&stage);
    told.app.keep_files_in(folder.path());
    let setup = engine::GameKind::Gomoku.default_setup();
    let mut pictures = Vec::new();
    for (actions, name) in [("h8", "one.png"), ("h8 i8 h9 i9 h10 i10 h7 i7", "eight.png")] {
        let game = games::played(&setup, actions);
        open(&stage, &mut told, games::against_the_device(&game, engine::Side::First));
        told.answer(&stage);
        tap(&stage, &told, "More");
        told.asked();
        tap(&stage, &told, "Save a picture of the board");
        name_the_file(&stage, &mut told, &name.replace("png", "sgf"));
        pictures.push(read(&folder.path().join(name)));
    }
    assert!(dark(&pictures[1]) > dark(&pictures[0]) + 5, "four black stones are more than one");
}
