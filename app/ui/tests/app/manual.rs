//! The manual in the app: where it opens, how it is read by keys, its pictures.

use std::fs;
use std::path::Path;
use std::time::Duration;

use proto::control;
use proto::control::event;
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Game, ManualAdapter, Page};
use slint::platform::Key;
use slint::{ComponentHandle, Model};

use crate::support::{Told, games};
use crate::touches::{dialog, page, playing, says, started, tap};

fn title(told: &Told) -> String {
    told.app.window().global::<ManualAdapter<'_>>().get_title().into()
}

#[test]
fn where_nobody_is_found_the_manual_says_what_to_do() {
    let stage = Stage::new();
    let told = started(&stage);
    told.say(event::Body::Radio(control::Radio {
        carrier: control::Carrier::Bluetooth.into(),
        state: control::RadioState::RadioBlocked.into(),
        ..Default::default()
    }));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    tap(&stage, &told, "What else you can try");
    assert_eq!((page(&told), title(&told)), (Page::Chapter, "When something doesn't work".into()));
}

#[test]
fn the_rules_of_a_board_lead_to_the_chapter_about_its_game() {
    let stage = Stage::new();
    let mut told = playing(&stage, games::alone(&games::xiangqi()));
    // So tall that the end of the rules is in view.
    told.scene.resize(720, 6_000, 2.0);
    told.app.ask(Dialog::Rules);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Read about it in the manual");
    assert_eq!((page(&told), dialog(&told), title(&told)), (Page::Chapter, Dialog::None, "Xiangqi".into()));
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Board);
}

#[test]
fn a_chapter_is_read_to_its_end_and_the_next_one_opened_by_keys_alone() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.prefer(false, false, 0);
    told.app.window().global::<ManualAdapter<'_>>().invoke_open_game(Game::Go);
    stage.settle(&told.scene);
    assert!(!says(&told, "All chapters"), "its end is out of view");
    let before = told.scene.picture();
    told.scene.key(Key::DownArrow);
    stage.settle(&told.scene);
    assert!(told.scene.picture() != before, "the text moves");
    for _ in 0..20 {
        told.scene.key(Key::PageDown);
        stage.settle(&told.scene);
    }
    assert!(says(&told, "All chapters"), "the end of the chapter is in sight");
    // The focus is at the last button: all chapters. The one before opens the next chapter.
    told.scene.key(Key::LeftArrow);
    stage.settle(&told.scene);
    told.scene.key(Key::Return);
    stage.settle(&told.scene);
    assert_eq!(title(&told), "Xiangqi");
    told.answer(&stage);
    let top = told.scene.picture();
    told.scene.key(Key::PageUp);
    stage.settle(&told.scene);
    told.app.go(Page::Home);
    told.app.window().global::<ManualAdapter<'_>>().invoke_open_game(Game::Xiangqi);
    stage.settle(&told.scene);
    assert!(told.scene.picture() == top, "a chapter begins at its top");
}

#[test]
fn the_licences_lead_to_the_list_of_all_libraries_which_is_read_to_its_end_by_keys() {
    let stage = Stage::new();
    let told = started(&stage);
    told.app.go(Page::Settings);
    // So tall that the end of the dialog is in view.
    told.scene.resize(720, 6_000, 2.0);
    told.app.ask(Dialog::Licences);
    stage.settle(&told.scene);
    tap(&stage, &told, "Libraries and their licences");
    assert_eq!((page(&told), dialog(&told)), (Page::Chapter, Dialog::None));
    assert!(says(&told, "Libraries and their licences") && says(&told, "Apache-2.0 OR MIT"));

    let blocks = told.app.window().global::<ManualAdapter<'_>>().get_blocks();
    let shown: Vec<String> = (0..blocks.row_count())
        .filter_map(|row| blocks.row_data(row))
        .flat_map(|block| block.text.split(", ").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let list = include_str!("../../../../THIRD-PARTY.md");
    let mut rows = 0;
    for row in list.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let library = format!("{} {}", cells[1], cells[2]);
        assert!(shown.contains(&library), "{library}");
        let words = cells[3].split(|sign: char| " /()".contains(sign));
        for licence in words.filter(|word| !["", "OR", "AND", "WITH"].contains(word)) {
            assert!(shown.iter().any(|text| text.contains(licence)), "{licence}");
        }
        rows += 1;
    }
    assert!(rows > 300, "{rows}");

    told.scene.resize(720, 1_440, 2.0);
    stage.settle(&told.scene);
    assert!(!says(&told, "Close"), "its end is out of view");
    let before = told.scene.picture();
    told.scene.key(Key::DownArrow);
    stage.settle(&told.scene);
    assert!(told.scene.picture() != before, "the list moves");
    for _ in 0..40 {
        told.scene.key(Key::PageDown);
        stage.settle(&told.scene);
    }
    assert!(says(&told, "Close"), "the end of the list is in sight");
    told.scene.key(Key::Return);
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Settings);
}

#[test]
fn a_language_chosen_while_a_chapter_is_open_is_that_of_the_chapter() {
    let stage = Stage::new();
    let told = started(&stage);
    told.app.window().global::<ManualAdapter<'_>>().invoke_open_game(Game::LightsOut);
    stage.settle(&told.scene);
    assert_eq!(title(&told), "Lights Out");
    told.app.go(Page::Settings);
    told.prefer(true, false, 0);
    stage.settle(&told.scene);
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    assert_eq!((page(&told), title(&told)), (Page::Chapter, "关灯".into()));
}

#[test]
fn pictures_are_shown_where_they_are_installed_and_are_let_go_of_with_the_chapter() {
    let stage = Stage::new();
    let told = started(&stage);
    let manual = told.app.window().global::<ManualAdapter<'_>>();
    let shown = || {
        let blocks = manual.get_blocks();
        (0..blocks.row_count())
            .filter_map(|row| blocks.row_data(row))
            .filter(|row| row.picture.size().width > 0)
            .count()
    };
    manual.invoke_open_game(Game::Go);
    stage.settle(&told.scene);
    assert_eq!(shown(), 0);
    assert!(says(&told, "Picture: A game of Go"), "the caption stands for the picture");

    let folder = tempfile::tempdir().expect("a folder for the test");
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/pictures/en");
    fs::create_dir(folder.path().join("en")).expect("created");
    for name in ["go.png", "go-counting.png"] {
        fs::copy(installed.join(name), folder.path().join("en").join(name)).expect("copied");
    }
    told.app.show_manual_pictures(folder.path().to_owned());
    stage.settle(&told.scene);
    assert_eq!(shown(), 2);
    assert!(says(&told, "A game of Go") && !says(&told, "Picture: A game of Go"));
    told.app.go(Page::Home);
    stage.pass(Duration::ZERO);
    assert_eq!(shown(), 0);
}
