//! Settings: some are the host's (name, visibility), the rest are the app's own preferences.

use std::rc::Rc;

use proto::control::{self, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{friends, update, when};
use crate::app::{Desk, Purpose};
use crate::preferences::{Confirm, Language, Paper, Preferences};
use crate::screens::{
    AdapterView, EndingsState, MainWindow, Page, SettingsAdapter, Theme, ThemeChoice, Visibility,
};

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    adapters: Rc<VecModel<AdapterView>>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<SettingsAdapter>();
    page.set_adapters(ModelRc::from(desk.settings.adapters.clone()));
    page.on_toggle_found_when_closed(when!(desk, |desk| {
        let on = !desk.see().state.me.found_when_closed;
        let set = control::SetFoundWhenClosed { on };
        desk.ask(request::Body::SetFoundWhenClosed(set), Purpose::Person);
    }));
    page.on_toggle_bluetooth(when!(desk, |desk| toggle_carrier(&desk, control::Carrier::Bluetooth)));
    page.on_toggle_lan(when!(desk, |desk| toggle_carrier(&desk, control::Carrier::Lan)));
    page.on_choose_adapter(when!(desk, |desk, name| {
        let set = control::SetAdapter { adapter: name.into() };
        desk.ask(request::Body::SetAdapter(set), Purpose::Person);
        desk.ask(request::Body::ListAdapters(control::ListAdapters {}), Purpose::ListAdapters);
    }));
    page.on_toggle_endings(when!(desk, |desk| {
        let on = !matches!(endings(&desk.see().state.endings), EndingsState::Working | EndingsState::There);
        desk.ask(request::Body::SetEndings(control::SetEndings { on }), Purpose::Person);
    }));
    page.on_open_friends(when!(desk, |desk| desk.go(Page::Friends)));
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
    page.on_toggle_unhurried(when!(desk, |desk| desk.prefer(|known| known.unhurried = !known.unhurried)));
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

fn toggle_carrier(desk: &Desk, carrier: control::Carrier) {
    let Some(on) = desk.see().state.radio(carrier).map(|radio| radio.unused) else { return };
    let set = control::SetCarrier { carrier: carrier.into(), on };
    desk.ask(request::Body::SetCarrier(set), Purpose::Person);
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
    page.set_visibility(friends::visibility(&inner));
    page.set_found_when_closed(inner.state.me.found_when_closed);
    let (bluetooth, lan) = (inner.state.bluetooth(), inner.state.radio(control::Carrier::Lan));
    page.set_has_bluetooth(bluetooth.is_some());
    page.set_uses_bluetooth(bluetooth.is_some_and(|radio| !radio.unused));
    page.set_has_lan(lan.is_some());
    page.set_uses_lan(lan.is_some_and(|radio| !radio.unused));
    let known_endings = &inner.state.endings;
    page.set_endings(endings(known_endings));
    page.set_endings_plies(known_endings.plies as i32);
    page.set_endings_percent(known_endings.permille as i32 / 10);
    page.set_endings_megabytes((known_endings.bytes / 1_000_000) as i32);
    page.set_set_aside(inner.set_aside.as_deref().unwrap_or_default().into());
    let adapters: Vec<AdapterView> = (inner.adapters.iter())
        .map(|one| AdapterView {
            name: one.name.as_str().into(),
            address: one.address.as_str().into(),
            powered: one.powered,
            here: one.here,
            in_use: one.in_use,
        })
        .collect();
    update(&desk.settings.adapters, &adapters);
    page.set_language(match known.language {
        Language::System => 0,
        Language::Chinese => 1,
        Language::English => 2,
    });
    page.set_theme(paper);
    page.set_reduced_motion(known.reduced_motion);
    page.set_unhurried(known.unhurried);
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

fn endings(told: &control::Endings) -> EndingsState {
    use control::EndingsState as Told;
    match told.state() {
        Told::EndingsWorking => EndingsState::Working,
        Told::EndingsThere => EndingsState::There,
        Told::EndingsFailed => EndingsState::Failed,
        Told::EndingsUnspecified | Told::EndingsNone => EndingsState::None,
    }
}

/// The first half of a key's fingerprint in groups of four: 64 bits are plenty to tell two devices on a table apart.
fn spaced(fingerprint: &str) -> String {
    let signs: Vec<char> = fingerprint.chars().filter(|sign| *sign != '-').take(16).collect();
    signs.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_grouped_once_however_the_host_writes_it() {
        let groups = "ouly 7fpw 4sab cdef";
        assert_eq!(["ouly-7fpw-4sab-cdef-ghij", "ouly7fpw4sabcdefghij"].map(spaced), [groups; 2]);
    }
}
