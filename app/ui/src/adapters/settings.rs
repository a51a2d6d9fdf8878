//! Settings: some are stored by the host (name, visibility), others are the app's own preferences.

use std::rc::Rc;

use proto::control::{self, NoticeKind, event, reply, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{friends, libraries, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::{Confirm, Language, Paper, PieceSet, Preferences};
use crate::screens::{
    AdapterView, Dialog, EndingsState, MainWindow, Page, SettingsAdapter, Theme, ThemeChoice, Visibility,
};

/// The quiet hours at first: from 22:00 until 8:00.
const NIGHT: control::QuietHours = control::QuietHours { from_minute: 22 * 60, until_minute: 8 * 60 };

/// State of the page besides the host's state and the preferences.
#[derive(Default)]
pub(crate) struct Settings {
    /// Path of a damaged database that was set aside.
    set_aside: Option<String>,
    adapters: Rc<VecModel<AdapterView>>,
}

/// The list of Bluetooth adapters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question;

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Settings(question)
    }
}

impl Settings {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<SettingsAdapter>();
        page.set_adapters(ModelRc::from(self.adapters.clone()));
        page.on_toggle_found_when_closed(touched!(app, |_pages, cx| {
            let on = !cx.known.state.me.found_when_closed;
            cx.ask.done(request::Body::SetFoundWhenClosed(control::SetFoundWhenClosed { on }));
        }));
        page.on_toggle_makes_puzzles(touched!(app, |_pages, cx| {
            let on = !cx.known.state.me.makes_puzzles;
            cx.ask.done(request::Body::SetMakesPuzzles(control::SetMakesPuzzles { on }));
        }));
        page.on_toggle_quiet_hours(touched!(app, |_pages, cx| {
            let on = cx.known.state.me.quiet_hours.is_none();
            set_quiet_hours(on.then_some(NIGHT), cx);
        }));
        page.on_step_quiet_hours(touched!(app, |_pages, cx, from, until| {
            let hours = cx.known.state.me.quiet_hours.unwrap_or(NIGHT);
            set_quiet_hours(Some(stepped(hours, from, until)), cx);
        }));
        page.on_toggle_bluetooth(touched!(app, |_pages, cx| toggle_carrier(control::Carrier::Bluetooth, cx)));
        page.on_toggle_lan(touched!(app, |_pages, cx| toggle_carrier(control::Carrier::Lan, cx)));
        page.on_choose_adapter(touched!(app, |_pages, cx, name| {
            let set = control::SetAdapter { adapter: name.into() };
            cx.ask.done(request::Body::SetAdapter(set));
            list_adapters(cx);
        }));
        page.on_toggle_endings(touched!(app, |_pages, cx| {
            let on = !matches!(endings(&cx.known.state.endings), EndingsState::Working | EndingsState::There);
            cx.ask.done(request::Body::SetEndings(control::SetEndings { on }));
        }));
        page.on_open_friends(touched!(app, |_pages, cx| cx.go.page(Page::Friends)));
        page.on_set_name(touched!(app, |_pages, cx, name| {
            let name = name.trim();
            if !name.is_empty() && name != cx.known.state.me.name {
                cx.ask.tell(request::Body::SetName(control::SetName { name: name.into() }));
            }
        }));
        page.on_set_visibility(touched!(app, |_pages, cx, visibility| {
            let visibility = match visibility {
                Visibility::Nobody => control::Visibility::Nobody,
                Visibility::Friends => control::Visibility::Friends,
                Visibility::Everyone => control::Visibility::Everyone,
            };
            let set = control::SetVisibility { visibility: visibility.into() };
            cx.ask.tell(request::Body::SetVisibility(set));
        }));
        page.on_set_language(touched!(app, |_pages, cx, index| {
            cx.preferences.change(move |known| {
                known.language = match index {
                    1 => Language::Chinese,
                    2 => Language::English,
                    _ => Language::System,
                };
            });
        }));
        page.on_set_theme(touched!(app, |_pages, cx, theme| {
            cx.preferences.change(move |known| {
                known.paper = match theme {
                    ThemeChoice::System => Paper::System,
                    ThemeChoice::Light => Paper::Light,
                    ThemeChoice::Dark => Paper::Dark,
                    ThemeChoice::EInk => Paper::EInk,
                };
            });
        }));
        page.on_toggle_reduced_motion(touched!(app, |_pages, cx| {
            cx.preferences.change(move |known| known.reduced_motion = !known.reduced_motion);
        }));
        page.on_toggle_unhurried(touched!(app, |_pages, cx| cx
            .preferences
            .change(move |known| known.unhurried = !known.unhurried)));
        page.on_set_text_size(touched!(app, |_pages, cx, index| {
            cx.preferences.change(move |known| known.text_size = usize::try_from(index).unwrap_or(0));
        }));
        page.on_set_board_style(touched!(app, |_pages, cx, index| {
            cx.preferences.change(move |known| known.board_style = index.clamp(0, 2) as u8);
        }));
        page.on_set_piece_set(touched!(app, |_pages, cx, index| {
            let set = if index == 1 { PieceSet::Pictures } else { PieceSet::Characters };
            cx.preferences.change(move |known| known.piece_set = set);
        }));
        page.on_set_confirm_moves(touched!(app, |_pages, cx, index| {
            cx.preferences.change(move |known| {
                known.confirm_moves = match index {
                    1 => Confirm::Always,
                    2 => Confirm::Never,
                    _ => Confirm::Small,
                };
            });
        }));
        page.on_toggle_left_handed(touched!(app, |_pages, cx| {
            cx.preferences.change(move |known| known.left_handed = !known.left_handed);
        }));
        page.on_toggle_coordinates(touched!(app, |_pages, cx| {
            cx.preferences.change(move |known| known.coordinates = !known.coordinates);
        }));
    }

    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        if let event::Body::Notice(notice) = event
            && notice.kind() == NoticeKind::NoticeSavesSetAside
        {
            self.set_aside = Some(notice.detail.clone());
            cx.go.dialog(Dialog::Saves);
        }
    }

    pub(crate) fn reply(&self, answer: Answer, cx: &mut Cx<'_>) {
        match answer {
            Ok(reply::Body::Adapters(list)) => {
                let adapters: Vec<AdapterView> = (list.adapters.iter())
                    .map(|one| AdapterView {
                        name: one.name.as_str().into(),
                        address: one.address.as_str().into(),
                        powered: one.powered,
                        here: one.here,
                        in_use: one.in_use,
                    })
                    .collect();
                update(&self.adapters, &adapters);
            }
            Ok(_) => {}
            Err(refusal) => cx.go.refused_unasked(refusal),
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let chosen: &Preferences = &known.preferences;
        let paper = match chosen.paper {
            Paper::System => ThemeChoice::System,
            Paper::Light => ThemeChoice::Light,
            Paper::Dark => ThemeChoice::Dark,
            Paper::EInk => ThemeChoice::EInk,
        };
        let theme = window.global::<Theme>();
        theme.set_choice(paper);
        theme.set_reduced_motion(chosen.is_still());
        theme.set_piece_set(chosen.piece_set as i32);
        theme.set_left_handed(chosen.left_handed);
        theme.set_board_style(i32::from(chosen.board_style.min(2)));
        theme.set_text_scale(chosen.text_scale());
        // Fails only if the program contains no translations; then there is no choice.
        slint::select_bundled_translation(if known.chinese() { "zh" } else { "en" }).ok();

        let page = window.global::<SettingsAdapter>();
        page.set_name(known.state.me.name.as_str().into());
        page.set_visibility(friends::visibility(known));
        page.set_makes_puzzles(known.state.me.makes_puzzles);
        page.set_found_when_closed(known.state.me.found_when_closed);
        page.set_ends_with_app(known.state.me.ends_with_app);
        let quiet = known.state.me.quiet_hours;
        page.set_has_quiet_hours(quiet.is_some());
        let quiet = quiet.unwrap_or(NIGHT);
        page.set_quiet_from((quiet.from_minute / 60) as i32);
        page.set_quiet_until((quiet.until_minute / 60) as i32);
        let (bluetooth, lan) = (known.state.bluetooth(), known.state.radio(control::Carrier::Lan));
        page.set_has_bluetooth(bluetooth.is_some());
        page.set_uses_bluetooth(bluetooth.is_some_and(|radio| !radio.unused));
        page.set_has_lan(lan.is_some());
        page.set_uses_lan(lan.is_some_and(|radio| !radio.unused));
        let known_endings = &known.state.endings;
        page.set_endings(endings(known_endings));
        page.set_endings_plies(known_endings.plies as i32);
        page.set_endings_percent(known_endings.permille as i32 / 10);
        page.set_endings_megabytes((known_endings.bytes / 1_000_000) as i32);
        page.set_set_aside(self.set_aside.as_deref().unwrap_or_default().into());
        page.set_language(match chosen.language {
            Language::System => 0,
            Language::Chinese => 1,
            Language::English => 2,
        });
        page.set_theme(paper);
        page.set_reduced_motion(chosen.reduced_motion);
        page.set_unhurried(chosen.unhurried);
        page.set_text_size(chosen.text_size as i32);
        page.set_coordinates(chosen.coordinates);
        page.set_piece_set(chosen.piece_set as i32);
        page.set_board_style(i32::from(chosen.board_style.min(2)));
        page.set_confirm_moves(match chosen.confirm_moves {
            Confirm::Small => 0,
            Confirm::Always => 1,
            Confirm::Never => 2,
        });
        page.set_left_handed(chosen.left_handed);
        page.set_fingerprint(spaced(&known.state.me.fingerprint).into());
        page.set_libraries(libraries::count() as i32);
        page.set_mpl_libraries(libraries::under_mpl(known.chinese()).into());
        page.set_version(env!("CARGO_PKG_VERSION").into());
    }
}

/// Requests the list of adapters; called when the page is opened.
pub(crate) fn list_adapters(cx: &mut Cx<'_>) {
    cx.ask.send(request::Body::ListAdapters(control::ListAdapters {}), Question);
}

/// The quiet hours after a step of either end by an hour. A step that would leave nothing between them is made twice.
fn stepped(hours: control::QuietHours, from: i32, until: i32) -> control::QuietHours {
    let step = |minute: u32, hours: i32| (minute as i32 + hours * 60).rem_euclid(24 * 60) as u32;
    let once = control::QuietHours {
        from_minute: step(hours.from_minute, from),
        until_minute: step(hours.until_minute, until),
    };
    if once.from_minute == once.until_minute { stepped(once, from, until) } else { once }
}

fn set_quiet_hours(hours: Option<control::QuietHours>, cx: &mut Cx<'_>) {
    cx.ask.done(request::Body::SetQuietHours(control::SetQuietHours { hours }));
}

fn toggle_carrier(carrier: control::Carrier, cx: &mut Cx<'_>) {
    let Some(on) = cx.known.state.radio(carrier).map(|radio| radio.unused) else { return };
    let set = control::SetCarrier { carrier: carrier.into(), on };
    cx.ask.done(request::Body::SetCarrier(set));
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

/// The first half of a key's fingerprint in groups of four digits: 64 bits distinguish the devices on a table.
fn spaced(fingerprint: &str) -> String {
    let signs: Vec<char> = fingerprint.chars().filter(|sign| *sign != '-').take(16).collect();
    signs.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_of_the_quiet_hours_steps_over_midnight_and_over_the_other_end() {
        let hours =
            |from: u32, until: u32| control::QuietHours { from_minute: from * 60, until_minute: until * 60 };
        assert_eq!(stepped(hours(22, 8), 1, 0), hours(23, 8));
        assert_eq!(stepped(hours(23, 8), 1, 0), hours(0, 8));
        assert_eq!(stepped(hours(22, 0), 0, -1), hours(22, 23));
        assert_eq!(stepped(hours(7, 8), 1, 0), hours(9, 8));
        assert_eq!(stepped(hours(7, 8), 0, -1), hours(7, 6));
    }

    #[test]
    fn a_key_is_grouped_once_however_the_host_writes_it() {
        let groups = "ouly 7fpw 4sab cdef";
        assert_eq!(["ouly-7fpw-4sab-cdef-ghij", "ouly7fpw4sabcdefghij"].map(spaced), [groups; 2]);
    }
}
