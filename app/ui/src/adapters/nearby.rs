//! People nearby, and problems that prevent discovery.

use std::rc::Rc;

use proto::control::{self, ConnectState, RadioState, event, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game, new_game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastOpponent;
use crate::screens::{
    Dialog, MainWindow, NearbyAdapter, NearbyState, Neighbour, Page, Progress, Remark, StrangerView,
};

/// State of the page.
#[derive(Default)]
pub(crate) struct Nearby {
    /// The adapter is being turned on.
    switching_on: bool,
    /// Id of the nearby device whose dialog is open.
    neighbour: String,
    rows: Rc<VecModel<Neighbour>>,
    strangers: Rc<VecModel<StrangerView>>,
}

/// The reply to the request to turn the adapter on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question;

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Nearby(question)
    }
}

impl Nearby {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<NearbyAdapter>();
        page.set_neighbours(ModelRc::from(self.rows.clone()));
        page.set_strangers(ModelRc::from(self.strangers.clone()));
        page.on_send_away(touched!(app, |_pages, cx, peer| {
            cx.ask.done(request::Body::SendAway(control::SendAway { peer: peer.into() }));
        }));
        page.on_invite(touched!(app, |pages, cx, peer| {
            pages.invitation.propose(&peer, cx.known.nearby_game(), "", cx);
        }));
        page.on_power_on(touched!(app, |pages, cx| {
            cx.ask.send(request::Body::PowerOn(control::PowerOn {}), Question);
            pages.nearby.switching_on = true;
        }));
        page.on_change_game(touched!(app, |_pages, cx| choose_game(LastOpponent::Peer, cx)));
        page.on_open(touched!(app, |pages, cx, id| {
            if cx.known.state.friends.contains_key(id.as_str()) {
                pages.friends.open_friend(&id, cx);
            } else {
                pages.nearby.neighbour = id.into();
                cx.go.dialog(Dialog::Neighbour);
            }
        }));
        page.on_meet(touched!(app, |pages, cx| {
            let peer = pages.nearby.neighbour.clone();
            cx.ask.done(request::Body::Meet(control::Meet { peer }));
        }));
        page.on_block(touched!(app, |pages, cx| {
            let peer = pages.nearby.neighbour.clone();
            cx.ask.done(request::Body::Block(control::Block { peer }));
        }));
        page.on_use_bluetooth(touched!(app, |_pages, cx| {
            let set = control::SetCarrier { carrier: control::Carrier::Bluetooth.into(), on: true };
            cx.ask.done(request::Body::SetCarrier(set));
        }));
        page.on_open_friends(touched!(app, |_pages, cx| cx.go.page(Page::Friends)));
        page.on_play_here(touched!(app, |_pages, cx| choose_game(LastOpponent::Here, cx)));
    }

    pub(crate) fn hear(&mut self, event: &event::Body) {
        if matches!(event, event::Body::Radio(_)) {
            self.switching_on = false;
        }
    }

    pub(crate) fn reply(&mut self, answer: Answer, cx: &mut Cx<'_>) {
        if let Err(refusal) = answer {
            self.switching_on = false;
            cx.go.refused(refusal, Remark::BadRequest);
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let page = window.global::<NearbyAdapter>();
        page.set_state(state(known));
        let radio = known.state.bluetooth().map(control::Radio::state);
        page.set_cannot_be_found(radio == Some(RadioState::RadioNoAdvertising));
        page.set_takes_turns(radio == Some(RadioState::RadioTakingTurns));
        page.set_trouble(trouble(known));
        page.set_pace_name(new_game::pace_name(known, known.nearby_game()).into());
        page.set_my_name(known.state.me.name.as_str().into());
        page.set_switching_on(self.switching_on);
        let offered = known.nearby_game();
        page.set_game(game::shown(offered));
        let rules = new_game::rule_name(known.sheets.get(&i32::from(offered)), known.chinese());
        page.set_rule_name(rules.into());
        let mut rows: Vec<Neighbour> = known.state.nearby.values().map(|near| view(known, near)).collect();
        if let Some(near) = known.state.nearby.get(&self.neighbour) {
            page.set_shown(view(known, near));
        }
        // Friends first; the order within a group does not depend on the signal, so that no row moves under a finger.
        rows.sort_by_key(|row| (!row.friend, row.name.clone(), row.id.clone()));
        update(&self.rows, &rows);
        // Strangers that this device has dialed are rows already.
        let strangers = known.state.strangers.values().filter(|one| !one.mine);
        let strangers: Vec<StrangerView> = strangers
            .map(|one| StrangerView { id: one.id.as_str().into(), name: one.name.as_str().into() })
            .collect();
        update(&self.strangers, &strangers);
    }
}

/// Opens the page for a new match of the game chosen for invitations.
pub(super) fn choose_game(opponent: LastOpponent, cx: &mut Cx<'_>) {
    let game = cx.known.nearby_game();
    cx.preferences
        .change(move |known| known.games.entry(game::word(game).into()).or_default().opponent = opponent);
    cx.go.new_game(game);
}

fn view(known: &AppState, near: &control::Nearby) -> Neighbour {
    let by =
        |carrier: control::Carrier| near.carrier() == carrier || near.carriers.contains(&i32::from(carrier));
    Neighbour {
        id: near.id.as_str().into(),
        name: near.name.as_str().into(),
        friend: near.is_friend,
        signal: signal(near.rssi_dbm),
        progress: progress(known, &near.id, near.connected),
        // A connected device may be busy with this device only.
        busy: near.busy && !near.connected,
        wish: game::shown(near.wish()),
        by_bluetooth: by(control::Carrier::Bluetooth),
        by_lan: by(control::Carrier::Lan),
        by_internet: by(control::Carrier::Online),
    }
}

/// The message in place of an empty list. A carrier that is ready takes precedence over one that is not.
pub(super) fn state(known: &AppState) -> NearbyState {
    if !known.state.nearby.is_empty() {
        return NearbyState::Some;
    }
    if known.state.radios.values().any(works) {
        return if known.looked_long { NearbyState::Nobody } else { NearbyState::Looking };
    }
    bluetooth(known)
}

/// The problem of Bluetooth, if it is not shown in place of the list.
fn trouble(known: &AppState) -> NearbyState {
    let elsewhere = known.state.radios.values().any(works) || !known.state.nearby.is_empty();
    let fine = known.state.bluetooth().is_none_or(works);
    match bluetooth(known) {
        trouble if elsewhere && !fine && trouble != NearbyState::Looking => trouble,
        _ => NearbyState::Some,
    }
}

fn works(radio: &control::Radio) -> bool {
    let ready = matches!(
        radio.state(),
        RadioState::RadioReady | RadioState::RadioTakingTurns | RadioState::RadioNoAdvertising
    );
    ready && !radio.unused
}

fn bluetooth(known: &AppState) -> NearbyState {
    match known.state.bluetooth().map(control::Radio::state) {
        _ if known.state.bluetooth().is_some_and(|radio| radio.unused) => NearbyState::Unused,
        Some(RadioState::RadioOff) => NearbyState::Off,
        Some(RadioState::RadioBlocked) => NearbyState::Blocked,
        Some(RadioState::RadioNoAdapter) => NearbyState::NoAdapter,
        Some(RadioState::RadioNoService) => NearbyState::NoService,
        Some(RadioState::RadioNoPermission) => NearbyState::NoPermission,
        // If the initial state is complete and contains no radio, the host has none.
        None if known.state.ready => NearbyState::NoAdapter,
        _ => NearbyState::Looking,
    }
}

/// Signal strength as 0 to 3 bars. A phone on the same table has about -50 dBm, across a room -70, through a wall below -85.
fn signal(rssi_dbm: i32) -> i32 {
    match rssi_dbm {
        0 => 0,
        -59.. => 3,
        -74.. => 2,
        _ => 1,
    }
}

pub(super) fn progress(known: &AppState, peer: &str, connected: bool) -> Progress {
    match known.state.connecting.get(peer).map(control::Connecting::state) {
        Some(ConnectState::ConnectLooking) => Progress::Looking,
        Some(ConnectState::ConnectDialing) => Progress::Dialing,
        Some(ConnectState::ConnectGreeting) => Progress::Greeting,
        Some(ConnectState::ConnectUp) => Progress::Up,
        Some(ConnectState::ConnectFailed) => Progress::Failed,
        Some(ConnectState::ConnectLost) => Progress::Lost,
        _ if connected => Progress::Up,
        _ => Progress::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bars_mean_a_stronger_signal_and_an_unknown_one_has_none() {
        assert_eq!([0, -90, -75, -74, -60, -59, -30].map(signal), [0, 1, 1, 2, 2, 3, 3]);
    }
}
