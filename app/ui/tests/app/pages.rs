//! Every page in every size and language: no text is cut off, and no control is smaller than a finger.

use std::collections::BTreeSet;
use std::time::Duration;

use i_slint_backend_testing::{AccessibleRole, ElementHandle, ElementQuery};
use proto::control::Room;
use qiyou::headless::Stage;
use qiyou::screens::{Game, Words};
use slint::ComponentHandle;

use crate::support::{SIZES, Told, stories, tell};

slint::slint! {
    // Measures a text in the style of the pages.
    export component Ruler inherits Window {
        in property <string> words;
        in property <string> family;
        in property <length> size;
        in property <length> limit;
        out property <length> wide: one-line.preferred-width;
        out property <length> high: wrapped.preferred-height;
        one-line := Text { text: root.words; font-family: root.family; font-size: root.size; }
        wrapped := Text { width: root.limit; wrap: word-wrap; text: root.words; font-family: root.family; font-size: root.size; }
    }
}

/// Rounding of half a pixel at scale 1 is accepted.
const SLACK: f32 = 1.0;

/// The styles of ui/widgets/text.slint: name, family, size at 100 %.
const STYLES: [(&str, &str, f32); 6] = [
    ("DisplayText", "Qiyou Kai", 34.0),
    ("HeadingText", "Qiyou Kai", 24.0),
    ("TitleText", "Qiyou Kai", 20.0),
    ("SectionText", "Qiyou Sans", 20.0),
    ("BodyText", "Qiyou Sans", 16.0),
    ("SmallText", "Qiyou Sans", 13.0),
];

fn fits(ruler: &Ruler, words: &str, family: &str, size: f32, width: f32, height: f32) -> bool {
    ruler.set_words(words.into());
    ruler.set_family(family.into());
    ruler.set_size(size);
    ruler.set_limit(width);
    ruler.get_wide() <= width + SLACK || (ruler.get_high() <= height + SLACK && ruler.get_wide() > width)
}

/// The number of texts on the page, and those that have less space than they need or exceed the window.
fn cut_off(told: &Told, ruler: &Ruler, width: f32, text_scale: f32) -> (usize, Vec<String>) {
    let window = told.app.window();
    let (mut measured, mut cut) = (0, Vec::new());
    for (style, family, size) in STYLES {
        for element in ElementQuery::from_root(window).match_type_name(style).find_all() {
            let words = element.accessible_label().unwrap_or_default();
            let (room, left) = (element.size(), element.absolute_position().x);
            if words.is_empty() || element.computed_opacity() == 0.0 {
                continue;
            }
            measured += 1;
            if !fits(ruler, &words, family, size * text_scale, room.width, room.height)
                || left < -SLACK
                || left + room.width > width + SLACK
            {
                cut.push(format!("{words:?} in {room:?} at {left}"));
            }
        }
    }
    (measured, cut)
}

/// Asserts that at most `known` texts are cut off at this size, language and text size. Known ones are a debt: the number
/// may only decrease. (Each style is measured at its full size, so that texts which a widget shrinks count too.)
fn no_text_is_cut_off(
    (width, height, scale): (u32, u32, f32),
    chinese: bool,
    text_size: usize,
    known: usize,
) {
    let text_scale = qiyou::Preferences::TEXT_SCALES[text_size];
    let stage = Stage::new();
    let mut cut = Vec::new();
    let mut measured = 0;
    for (name, story) in stories() {
        let told = tell(&stage, (width, height, scale), (chinese, false, text_size), story);
        let ruler = Ruler::new().expect("a window in memory");
        let (texts, cut_here) = cut_off(&told, &ruler, width as f32 / scale, text_scale);
        measured += texts;
        for one in cut_here {
            cut.push(format!("{name}: {one}"));
        }
    }
    assert!(measured > 700, "only {measured} texts were measured");
    assert!(cut.len() <= known, "{} texts are cut off, {known} were:\n{}", cut.len(), cut.join("\n"));
    println!("{} of {known} known texts are cut off", cut.len());
}

// One test per size and language, so that they run in parallel: together they take minutes.
macro_rules! no_text_is_cut_off {
    ($($name:ident: $size:literal, $chinese:literal, $text_size:literal, $known:literal;)*) => {
        mod no_text_is_cut_off {
            $(#[test]
            fn $name() {
                super::no_text_is_cut_off(crate::support::SIZES[$size], $chinese, $text_size, $known);
            })*
        }
    };
}
no_text_is_cut_off! {
    in_english_upright: 0, false, 0, 0;
    in_chinese_upright: 0, true, 0, 0;
    in_english_on_the_lowest: 1, false, 0, 0;
    in_chinese_on_the_lowest: 1, true, 0, 0;
    in_english_lying: 2, false, 0, 0;
    in_chinese_lying: 2, true, 0, 0;
    in_english_on_the_widest: 3, false, 0, 0;
    in_chinese_on_the_widest: 3, true, 0, 0;
    but_the_known_in_english_upright_at_twice_the_size: 0, false, 3, 16;
    but_the_known_in_chinese_upright_at_twice_the_size: 0, true, 3, 10;
    but_the_known_in_english_on_the_lowest_at_twice_the_size: 1, false, 3, 7;
    but_the_known_in_chinese_on_the_lowest_at_twice_the_size: 1, true, 3, 0;
}

#[test]
fn the_measure_notices_a_text_that_is_cut() {
    let stage = Stage::new();
    let told = Told::new(&stage, SIZES[0]);
    let ruler = Ruler::new().expect("a window in memory");
    assert!(fits(&ruler, "棋友", "Qiyou Kai", 34.0, 70.0, 50.0));
    assert!(!fits(&ruler, "棋友", "Qiyou Kai", 34.0, 60.0, 50.0));
    assert!(!fits(&ruler, "Letters and numbers round the board", "Qiyou Sans", 16.0, 120.0, 30.0));
    assert!(fits(&ruler, "Letters and numbers round the board", "Qiyou Sans", 16.0, 120.0, 100.0));
    drop(told);
}

#[test]
fn every_level_has_a_sentence_of_its_own_and_in_go_a_rank_where_one_is_known() {
    let stage = Stage::new();
    let told = Told::new(&stage, SIZES[0]);
    let words = told.app.window().global::<Words<'_>>();
    let said: BTreeSet<String> =
        (1..=10).map(|level| words.invoke_level(Game::Xiangqi, level, 0).to_string()).collect();
    assert_eq!(said.len(), 10, "{said:?}");
    for size in [9, 13, 19] {
        let ranked = (1..=10).filter(|&level| words.invoke_level(Game::Go, level, size).contains(" kyu "));
        assert!(ranked.count() >= 7, "{size}");
        assert!(!words.invoke_level(Game::Go, 1, size).contains("kyu"), "{size}");
    }
}

#[test]
fn every_control_is_as_large_as_a_finger() {
    const FINGER: f32 = 44.0;
    let stage = Stage::new();
    let mut seen = 0;
    // The narrowest portrait and the lowest landscape page.
    for size in [SIZES[0], SIZES[1]] {
        for (name, story) in stories() {
            let told = tell(&stage, size, (false, false, 0), story);
            for role in [
                AccessibleRole::Button,
                AccessibleRole::RadioButton,
                AccessibleRole::Switch,
                AccessibleRole::Spinbox,
                AccessibleRole::TextInput,
            ] {
                for control in
                    ElementQuery::from_root(told.app.window()).match_accessible_role(role).find_all()
                {
                    // The size of points depends on the board; a finger can slide to the point.
                    if control.type_name().is_some_and(|name| name.ends_with("Point")) {
                        continue;
                    }
                    let room = control.size();
                    let label = control.accessible_label().unwrap_or_default();
                    assert!(!label.is_empty(), "{name}: a control without a name");
                    assert!(
                        room.width >= FINGER - SLACK && room.height >= FINGER - SLACK,
                        "{name}: {label} is {room:?}"
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 300, "only {seen} controls were found");
}

/// The accessible texts of the page, line by line.
fn said(told: &Told) -> Vec<String> {
    let all = ElementQuery::from_root(told.app.window()).find_all();
    let one = |element: &ElementHandle| {
        let label = element.accessible_label()?;
        let (value, checked) = (element.accessible_value(), element.accessible_checked());
        Some(format!("{label} {value:?} {checked:?}"))
    };
    let mut said: Vec<String> = all.iter().filter_map(one).collect();
    said.sort();
    said
}

#[test]
fn a_device_that_is_turned_and_turned_back_shows_what_it_showed() {
    let stage = Stage::new();
    let (width, height, scale) = SIZES[0];
    let mut compared = 0;
    for (name, story) in stories() {
        // Contains seconds, which change in the meantime.
        if ["board-said", "board-link-lost", "race"].contains(&name) {
            continue;
        }
        let told = tell(&stage, SIZES[0], (false, false, 0), story);
        let before = said(&told);
        compared += before.len();
        for (width, height) in [(height, width), (width, height)] {
            told.scene.resize(width, height, scale);
            stage.settle(&told.scene);
        }
        assert_eq!(said(&told), before, "{name}");
    }
    assert!(compared > 1_000, "only {compared} texts");
}

#[test]
fn a_field_that_is_typed_into_stays_in_view_when_the_keyboard_on_the_screen_takes_half_of_it() {
    let stage = Stage::new();
    let (width, height, scale) = SIZES[0];
    let left = 380.0;
    let (mut checked, mut covered) = (0, 0);
    for (name, story) in stories() {
        let told = tell(&stage, SIZES[0], (false, false, 0), story);
        let fields = || {
            ElementQuery::from_root(told.app.window())
                .match_accessible_role(AccessibleRole::TextInput)
                .find_all()
        };
        for index in 0..fields().len() {
            let middle = |field: &ElementHandle| {
                let (at, size) = (field.absolute_position(), field.size());
                (at.x + size.width / 2.0, at.y + size.height / 2.0)
            };
            let (x, y) = middle(&fields()[index]);
            // Out of sight, or below a dialog.
            if y > height as f32 / scale || !takes_the_focus(&told, &stage, (x, y), index) {
                continue;
            }
            told.scene.resize(width, (left * scale) as u32, scale);
            stage.settle(&told.scene);
            let field = &fields()[index];
            let (top, bottom) =
                (field.absolute_position().y, field.absolute_position().y + field.size().height);
            assert!(top >= 0.0 && bottom <= left, "{name}: from {top} to {bottom} of {left}");
            (checked, covered) = (checked + 1, covered + u32::from(y > left));
            told.scene.resize(width, height, scale);
            stage.settle(&told.scene);
        }
    }
    assert!(checked > 10 && covered > 2, "{checked} fields, {covered} in the lower half");
}

/// Whether a tap here makes the text of this field grow by what is typed; the letter is taken out again.
fn takes_the_focus(told: &Told, stage: &Stage, (x, y): (f32, f32), index: usize) -> bool {
    let text = || {
        let all = ElementQuery::from_root(told.app.window()).match_accessible_role(AccessibleRole::TextInput);
        all.find_all().get(index).and_then(ElementHandle::accessible_value).map_or(0, |text| text.len())
    };
    let before = text();
    told.scene.tap(x, y);
    told.scene.key("1");
    stage.settle(&told.scene);
    let grown = text() == before + 1;
    if grown {
        told.scene.key(slint::platform::Key::Backspace);
        stage.settle(&told.scene);
    }
    grown
}

#[test]
fn a_name_that_is_half_typed_stays_when_the_device_is_turned() {
    let stage = Stage::new();
    let told = Told::new(&stage, SIZES[0]);
    told.prefer(false, false, 0);
    told.app.go(qiyou::screens::Page::Settings);
    stage.settle(&told.scene);
    let field = || {
        ElementQuery::from_root(told.app.window())
            .match_accessible_role(AccessibleRole::TextInput)
            .find_first()
            .expect("the field for the name")
    };
    let (at, size) = (field().absolute_position(), field().size());
    told.scene.tap(at.x + size.width / 2.0, at.y + size.height / 2.0);
    told.scene.key(slint::platform::Key::End);
    for letter in [" ", "O", "L"] {
        told.scene.key(letter);
    }
    stage.settle(&told.scene);
    assert_eq!(field().accessible_value().as_deref(), Some("Steam Deck OL"));
    told.scene.resize(SIZES[0].1, SIZES[0].0, SIZES[0].2);
    stage.settle(&told.scene);
    assert_eq!(field().accessible_value().as_deref(), Some("Steam Deck OL"));
}

#[test]
fn at_twice_the_text_size_every_page_has_the_same_controls_with_the_same_names() {
    // So tall that nothing is scrolled out of view, because invisible elements are not found.
    const LONG: (u32, u32, f32) = (720, 10_000, 2.0);
    // Chapters of the manual and the settings, with what they unfold, are longer than any other page.
    const LONGEST: (u32, u32, f32) = (360, 30_000, 1.0);
    let stage = Stage::new();
    let (mut named, mut changed) = (0, Vec::new());
    for (name, story) in stories() {
        let names = |text_size| {
            let long =
                ["manual", "settings", "licences", "privacy"].iter().any(|page| name.starts_with(page));
            let size = if long { LONGEST } else { LONG };
            let names = crate::touches::names(&tell(&stage, size, (false, false, text_size), story));
            // The caption of a card that is a button, which has a name of its own, is left out or shorter if the names need the space.
            let captions = ["", "Invite", "Next · 2"];
            names.into_iter().filter(|name| !captions.contains(&name.as_str())).collect::<BTreeSet<_>>()
        };
        let (usual, large) = (names(0), names(3));
        named += usual.len();
        let lost: Vec<_> = usual.difference(&large).collect();
        let gained: Vec<_> = large.difference(&usual).collect();
        if usual != large {
            changed.push(format!("{name}: lost {lost:?}, gained {gained:?}"));
        }
    }
    assert!(named > 1_000, "only {named} names");
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn the_language_changes_while_the_app_runs() {
    let stage = Stage::new();
    let told = Told::new(&stage, SIZES[0]);
    let says =
        |words: &str| ElementHandle::find_by_accessible_label(told.app.window(), words).next().is_some();
    told.prefer(false, false, 0);
    stage.settle(&told.scene);
    assert!(says("Settings") && !says("设置"));
    let english = told.scene.picture();
    told.prefer(true, false, 0);
    stage.settle(&told.scene);
    assert!(says("设置") && !says("Settings"));
    assert!(told.scene.picture() != english);
    told.app.window().hide().expect("hidden in memory");
}

#[test]
fn the_theme_changes_the_paper() {
    let stage = Stage::new();
    let told = Told::new(&stage, SIZES[1]);
    told.prefer(true, false, 0);
    stage.settle(&told.scene);
    let corner = |told: &Told| {
        let pixel = told.scene.picture().pixels[0];
        (pixel.r, pixel.g, pixel.b)
    };
    assert_eq!(corner(&told), (0xF3, 0xED, 0xE0));
    told.prefer(true, true, 0);
    stage.settle(&told.scene);
    assert_eq!(corner(&told), (0x17, 0x15, 0x12));
}

#[test]
fn electronic_paper_and_pictograms_are_chosen_in_the_settings_and_nothing_moves_on_the_paper() {
    let stage = Stage::new();
    let told = Told::new(&stage, (720, 20_000, 2.0));
    told.app.go(qiyou::screens::Page::Settings);
    stage.settle(&told.scene);
    let theme = told.app.window().global::<qiyou::screens::Theme<'_>>();
    let chosen = || (theme.get_tone(), theme.get_reduced_motion(), theme.get_piece_set());
    let first = chosen();
    assert_ne!(first.0, 2);
    assert_eq!((first.1, first.2), (false, 0));
    for name in ["E-ink", "Pictures"] {
        crate::touches::tap(&stage, &told, name);
    }
    assert_eq!(chosen(), (2, true, 1));
    for name in ["Light", "Characters"] {
        crate::touches::tap(&stage, &told, name);
    }
    assert_eq!(chosen(), (0, false, 0));
}

/// A gomoku match of two people at this device, drawn and at rest, with its room.
fn at_the_board(stage: &Stage) -> (Told, Room) {
    let told = tell(stage, SIZES[0], (true, false, 0), |_, _| {});
    let room = crate::support::room(
        crate::support::here(),
        crate::support::here(),
        &[proto::board::Side::First, proto::board::Side::Second],
    );
    told.say(proto::control::event::Body::Room(room.clone()));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    stage.settle(&told.scene);
    told.scene.take_repainted();
    (told, room)
}

/// The same room with one more white stone.
fn with_a_stone(mut room: Room, column: u32, row: u32) -> Room {
    let board = room.board.as_mut().expect("a board");
    board.pieces.push(proto::control::Piece { at: row * 1_024 + column, side: 2, kind: 0 });
    board.last = Some(crate::support::place(column, row));
    room
}

/// Device pixels of a point of gomoku's board on the smallest phone.
const CELL: u32 = 42 * 42;

#[test]
fn one_move_repaints_little_more_than_its_own_cells() {
    let stage = Stage::new();
    let (mut told, room) = at_the_board(&stage);
    // The same side is to move again, so that only the board differs: one more stone, and the mark of the last move.
    told.say(proto::control::event::Body::Room(with_a_stone(room, 0, 0)));
    stage.settle(&told.scene);
    let repainted = told.scene.take_repainted();
    assert!(repainted > 0 && repainted <= 6 * CELL, "{repainted} pixels, a cell has {CELL}");
    drop(told.asked());
}

#[test]
fn a_move_repaints_its_cells_at_once_and_the_turn_that_it_brings_a_frame_later() {
    let stage = Stage::new();
    let (told, room) = at_the_board(&stage);
    let mut room = with_a_stone(room, 8, 8);
    let board = room.board.as_mut().expect("a board");
    board.turn = 1;
    board.ply += 1;
    told.say(proto::control::event::Body::Room(room));
    stage.pass(Duration::ZERO);
    told.scene.draw();
    let cells = told.scene.take_repainted();
    assert!(cells > 0 && cells <= 6 * CELL, "{cells} pixels at once, a cell has {CELL}");
    stage.settle(&told.scene);
    // The two seats and the title; the board between them is not repainted.
    let (beside, all) = (told.scene.take_repainted(), SIZES[0].0 * SIZES[0].1);
    assert!(beside > 0 && beside <= all / 4, "{beside} of {all} pixels a frame later");
}
