//! Settings: some are the host's (name, visibility), the rest are the app's own preferences.

use std::rc::Rc;

use proto::control::{self, request};
use slint::ComponentHandle;

use super::when;
use crate::app::{Desk, Purpose};
use crate::preferences::{Confirm, Language, Paper, Preferences};
use crate::screens::{MainWindow, SettingsAdapter, Theme, ThemeChoice, Visibility};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<SettingsAdapter>();
    page.on_set_name(when!(desk, |desk, name| {
        let name = name.trim();
        if !name.is_empty() && name != desk.see().state.me.name {
            desk.ask(request::Body::SetName(control::SetName { name: name.into() }), Purpose::Nothing);
        }
    }));
    page.on_set_visibility(when!(desk, |desk, visibility| {
        let visibility = match visibility {
            Visibility::Nobody => control::Visibility::Nobody,
            Visibility::Friends => control::Visibility::Friends,
            Visibility::Everyone => control::Visibility::Everyone,
        };
        let set = control::SetVisibility { visibility: visibility.into() };
        desk.ask(request::Body::SetVisibility(set), Purpose::Nothing);
    }));
    page.on_set_language(when!(desk, |desk, index| {
        desk.prefer(|known| {
            known.language = match index {
                1 => Language::Chinese,
                2 => Language::English,
                _ => Language::System,
            };
        });
    }));
    page.on_set_theme(when!(desk, |desk, theme| {
        desk.prefer(|known| {
            known.paper = match theme {
                ThemeChoice::System => Paper::System,
                ThemeChoice::Light => Paper::Light,
                ThemeChoice::Dark => Paper::Dark,
            };
        });
    }));
    page.on_toggle_reduced_motion(when!(desk, |desk| {
        desk.prefer(|known| known.reduced_motion = !known.reduced_motion);
    }));
    page.on_set_text_size(when!(desk, |desk, index| {
        desk.prefer(|known| known.text_size = usize::try_from(index).unwrap_or(0));
    }));
    page.on_set_board_style(when!(desk, |desk, index| {
        desk.prefer(|known| known.board_style = index.clamp(0, 2) as u8);
    }));
    page.on_set_confirm_moves(when!(desk, |desk, index| {
        desk.prefer(|known| {
            known.confirm_moves = match index {
                1 => Confirm::Always,
                2 => Confirm::Never,
                _ => Confirm::Small,
            };
        });
    }));
    page.on_toggle_left_handed(when!(desk, |desk| {
        desk.prefer(|known| known.left_handed = !known.left_handed);
    }));
    page.on_toggle_coordinates(when!(desk, |desk| {
        desk.prefer(|known| known.coordinates = !known.coordinates);
    }));
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let known: &Preferences = &inner.preferences;
    let paper = match known.paper {
        Paper::System => ThemeChoice::System,
        Paper::Light => ThemeChoice::Light,
        Paper::Dark => ThemeChoice::Dark,
    };
    let theme = window.global::<Theme>();
    theme.set_choice(paper);
    theme.set_reduced_motion(known.reduced_motion);
    theme.set_left_handed(known.left_handed);
    theme.set_board_style(i32::from(known.board_style.min(2)));
    theme.set_text_scale(known.text_scale());
    // Fails only where no translation is in the program, and then there is nothing to choose.
    slint::select_bundled_translation(if inner.chinese() { "zh" } else { "en" }).ok();

    let page = window.global::<SettingsAdapter>();
    page.set_name(inner.state.me.name.as_str().into());
    page.set_visibility(match inner.state.me.visibility() {
        control::Visibility::Nobody => Visibility::Nobody,
        control::Visibility::Friends => Visibility::Friends,
        control::Visibility::Everyone => Visibility::Everyone,
    });
    page.set_language(match known.language {
        Language::System => 0,
        Language::Chinese => 1,
        Language::English => 2,
    });
    page.set_theme(paper);
    page.set_reduced_motion(known.reduced_motion);
    page.set_text_size(known.text_size as i32);
    page.set_coordinates(known.coordinates);
    page.set_board_style(i32::from(known.board_style.min(2)));
    page.set_confirm_moves(match known.confirm_moves {
        Confirm::Small => 0,
        Confirm::Always => 1,
        Confirm::Never => 2,
    });
    page.set_left_handed(known.left_handed);
    page.set_fingerprint(spaced(&inner.state.me.fingerprint).into());
    page.set_version(env!("CARGO_PKG_VERSION").into());
}

/// The first half of a key's fingerprint in groups of four: 64 bits are plenty to tell two devices on a table apart.
fn spaced(fingerprint: &str) -> String {
    let signs: Vec<char> = fingerprint.chars().take(16).collect();
    signs.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}
