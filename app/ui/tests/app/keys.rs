//! Every control of every page can be reached with the keyboard, and shows its focus.

use std::collections::BTreeSet;

use i_slint_backend_testing::{AccessibleRole, ElementHandle, ElementQuery};
use qiyou::headless::Stage;
use slint::platform::Key;

use crate::support::{Told, stories, tell};

/// More key presses than any page has controls.
const PATIENCE: usize = 150;

/// A phone so tall that nothing is scrolled out of view, because invisible elements are not found.
const LONG: (u32, u32, f32) = (720, 6_000, 2.0);

/// Left, top, width and height in whole pixels.
type Place = (i32, i32, i32, i32);

fn place(element: &ElementHandle) -> Place {
    let (at, size) = (element.absolute_position(), element.size());
    [at.x, at.y, size.width, size.height].map(|one| one.round() as i32).into()
}

/// The controls of the page, or of the dialog that covers it, in drawing order. A board counts as one; its points are
/// reached by arrow keys.
fn controls(told: &Told) -> Vec<ElementHandle> {
    let window = told.app.window();
    let dialogs = ElementQuery::from_root(window).match_inherits("DialogFrame").find_all();
    let used = |one: &ElementHandle| {
        let role = one.accessible_role();
        let inputs = [
            AccessibleRole::Button,
            AccessibleRole::RadioButton,
            AccessibleRole::Switch,
            AccessibleRole::Slider,
            AccessibleRole::TextInput,
        ];
        role.is_some_and(|role| inputs.contains(&role))
            && one.accessible_enabled() != Some(false)
            && !one.type_name().is_some_and(|name| name.ends_with("Point"))
    };
    let query = match dialogs.last() {
        Some(dialog) => dialog.query_descendants(),
        None => ElementQuery::from_root(window),
    };
    query.match_predicate(used).find_all()
}

/// The place of the visible focus ring.
fn ring(told: &Told) -> Option<Place> {
    let rings = ElementQuery::from_root(told.app.window()).match_type_name("FocusRing").find_all();
    assert!(rings.len() < 2, "the focus is in {} places", rings.len());
    rings.first().map(place)
}

fn near(one: Place, other: Place) -> bool {
    let apart = |one: i32, other: i32| (one - other).abs() <= 1;
    apart(one.0, other.0) && apart(one.1, other.1) && apart(one.2, other.2) && apart(one.3, other.3)
}

/// The names of the controls that `key` does not reach.
fn left_out(stage: &Stage, told: &Told, key: Key) -> Vec<String> {
    let all = controls(told);
    let mut reached = BTreeSet::new();
    let mut unseen = 0;
    for _ in 0..PATIENCE {
        if reached.len() == all.len() {
            break;
        }
        told.scene.key(key);
        stage.settle(&told.scene);
        match ring(told) {
            // The ring of a text input is around its field.
            Some(ring) => reached.extend((0..all.len()).filter(|index| {
                let seen = place(&all[*index]);
                near(seen, ring)
                    || (all[*index].accessible_role() == Some(AccessibleRole::TextInput)
                        && seen.0 == ring.0 + 12
                        // Several lines are scrolled within their field.
                        && (seen.1 == ring.1 || ring.3 > 100 && seen.2 == ring.2 - 24))
            })),
            None => unseen += 1,
        }
    }
    // After the last control the focus may be nowhere once before it wraps around.
    assert!(unseen <= PATIENCE / 4, "the focus was not seen {unseen} times");
    (0..all.len())
        .filter(|index| !reached.contains(index))
        .map(|index| all[index].accessible_label().unwrap_or_default().to_string())
        .collect()
}

#[test]
fn every_control_of_every_page_is_reached_by_tab_and_seen() {
    let stage = Stage::new();
    let mut missed = Vec::new();
    let mut seen = 0;
    for (name, story) in stories() {
        let told = tell(&stage, LONG, (false, false, 0), story);
        seen += controls(&told).len();
        let left = left_out(&stage, &told, Key::Tab);
        if !left.is_empty() {
            missed.push(format!("{name}: {left:?}"));
        }
    }
    assert!(seen > 300, "only {seen} controls");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Dialogs that are tested besides the first story of each page.
const ALSO_BY_ARROWS: [&str; 12] = [
    "new-game-liuzhou",
    "board-more",
    "board-say",
    "board-leave",
    "new-game-pace",
    "new-game-own-pace",
    "settings-save-all",
    "home-gift",
    "replay-noted",
    "replay-variation",
    "replay-played",
    "replay-comment",
];

/// First words of stories of which every one is tested: most of them are dialogs.
const ALL_BY_ARROWS: [&str; 2] = ["club", "guest"];

#[test]
fn arrows_alone_reach_every_control_of_a_story_of_each_page_and_dialog() {
    let stage = Stage::new();
    let mut missed = Vec::new();
    // One story of each page and dialog, with arrow keys, because a gamepad has no Tab key.
    let mut seen = BTreeSet::new();
    let (mut walked, mut visited) = (BTreeSet::new(), 0);
    for (name, story) in stories() {
        let page = name.split('-').next().expect("a first word");
        let is_chosen = ALSO_BY_ARROWS.contains(&name) || ALL_BY_ARROWS.contains(&page);
        if !seen.insert(page) && !is_chosen {
            continue;
        }
        let told = tell(&stage, LONG, (false, false, 0), story);
        let all = controls(&told).len();
        let left = left_out(&stage, &told, Key::DownArrow);
        walked.insert(name);
        visited += all - left.len();
        if !left.is_empty() {
            missed.push(format!("{name}: {left:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(ALSO_BY_ARROWS.iter().all(|name| walked.contains(name)), "{walked:?}");
    for page in ALL_BY_ARROWS {
        assert!(walked.iter().filter(|name| name.starts_with(page)).count() > 5, "{page}: {walked:?}");
    }
    assert!(visited > 100, "only {visited} controls were visited");
}

#[test]
fn every_control_says_its_name_and_every_switch_its_state() {
    let stage = Stage::new();
    let (mut named, mut stated) = (0, 0);
    for (name, story) in stories() {
        let told = tell(&stage, LONG, (false, false, 0), story);
        for one in controls(&told) {
            let label = one.accessible_label().unwrap_or_default();
            assert!(!label.is_empty(), "{name}: a {:?} without a name", one.accessible_role());
            named += 1;
            match one.accessible_role() {
                Some(AccessibleRole::RadioButton | AccessibleRole::Switch) => {
                    assert!(one.accessible_checked().is_some(), "{name}: {label} is neither on nor off");
                    stated += 1;
                }
                Some(AccessibleRole::Slider) => {
                    assert!(one.accessible_value().is_some_and(|value| !value.is_empty()), "{name}: {label}");
                    stated += 1;
                }
                _ => {}
            }
        }
        for point in ElementQuery::from_root(told.app.window()).match_inherits("Point").find_all() {
            let label = point.accessible_label().unwrap_or_default();
            assert!(label.split(' ').count() >= 2, "{name}: a point says only {label:?}");
        }
    }
    assert!(named > 300 && stated > 40, "{named} and {stated}");
}
