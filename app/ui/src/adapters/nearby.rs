//! Who is near, and what keeps others from being found.

use std::rc::Rc;

use proto::control::{self, ConnectState, RadioState, request};
use slint::{ComponentHandle, Model, ModelRc, VecModel};

use super::{friends, game, new_game, update, when};
use crate::app::{Desk, Inner, Inviting, Purpose};
use crate::preferences::{LastColour, LastOpponent};
use crate::screens::{Dialog, MainWindow, NearbyAdapter, NearbyState, Neighbour, Page, Progress};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<NearbyAdapter>();
    page.set_neighbours(ModelRc::new(VecModel::<Neighbour>::default()));
    page.on_invite(when!(desk, |desk, peer| invite(&desk, &peer)));
    page.on_power_on(when!(desk, |desk| {
        desk.ask(request::Body::PowerOn(control::PowerOn {}), Purpose::PowerOn);
        desk.change(|inner| inner.switching_on = true);
    }));
    page.on_change_game(when!(desk, |desk| choose_game(&desk, LastOpponent::Peer)));
    page.on_open(when!(desk, |desk, id| {
        if desk.see().state.friends.contains_key(id.as_str()) {
            friends::open_friend(&desk, &id);
        } else {
            desk.change(|inner| inner.neighbour = id.into());
            desk.open(Dialog::Neighbour);
        }
    }));
    page.on_meet(when!(desk, |desk| {
        let peer = desk.see().neighbour.clone();
        desk.ask(request::Body::Meet(control::Meet { peer }), Purpose::Person);
    }));
    page.on_block(when!(desk, |desk| {
        let peer = desk.see().neighbour.clone();
        desk.ask(request::Body::Block(control::Block { peer }), Purpose::Person);
    }));
    page.on_use_bluetooth(when!(desk, |desk| {
        let set = control::SetCarrier { carrier: control::Carrier::Bluetooth.into(), on: true };
        desk.ask(request::Body::SetCarrier(set), Purpose::Person);
    }));
    page.on_open_friends(when!(desk, |desk| desk.go(Page::Friends)));
    page.on_play_here(when!(desk, |desk| choose_game(&desk, LastOpponent::Here)));
}

/// The page for a new match of the game that people are invited to.
fn choose_game(desk: &Desk, opponent: LastOpponent) {
    let game = desk.see().nearby_game();
    desk.prefer(|known| known.games.entry(game::word(game).into()).or_default().opponent = opponent);
    new_game::open(desk, game);
}

/// Asks somebody for a match of the game that people are invited to.
pub(super) fn invite(desk: &Desk, peer: &str) {
    let game = desk.see().nearby_game();
    propose(desk, peer, game, "");
}

/// Asks somebody for a match as this game was last chosen; `counters`: instead of what they have asked for.
pub(super) fn propose(desk: &Desk, peer: &str, game: proto::board::Game, counters: &str) {
    let (choice, pace, colour) = {
        let inner = desk.see();
        (new_game::choice(&inner, game), new_game::pace(&inner, game), inner.last(game).colour)
    };
    let side = new_game::my_side(colour);
    let colours = match colour {
        LastColour::Turns => control::ColourChoice::ColourAlternate,
        LastColour::First | LastColour::Second | LastColour::Random => {
            control::ColourChoice::ColourUnspecified
        }
    };
    let invite = control::Invite {
        peer: peer.to_owned(),
        my_side: side.into(),
        choice: Some(choice),
        pace,
        colours: colours.into(),
        counters: counters.to_owned(),
        ..control::Invite::default()
    };
    desk.ask(request::Body::Invite(invite), Purpose::Invite);
    desk.change(|inner| {
        // What an earlier try came to is of no more interest.
        inner.state.connecting.remove(peer);
        inner.inviting = Some(Inviting { peer: peer.to_owned(), invite: None, game, my_side: side.into() });
    });
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let page = window.global::<NearbyAdapter>();
    page.set_state(state(&inner));
    let radio = inner.state.bluetooth().map(control::Radio::state);
    page.set_cannot_be_found(radio == Some(RadioState::RadioNoAdvertising));
    page.set_takes_turns(radio == Some(RadioState::RadioTakingTurns));
    page.set_trouble(trouble(&inner));
    page.set_pace_name(new_game::pace_name(&inner, inner.nearby_game()).into());
    page.set_my_name(inner.state.me.name.as_str().into());
    page.set_switching_on(inner.switching_on);
    let offered = inner.nearby_game();
    page.set_game(game::shown(offered));
    let rules = new_game::rule_name(inner.sheets.get(&i32::from(offered)), inner.chinese());
    page.set_rule_name(rules.into());
    let mut rows: Vec<Neighbour> = inner.state.nearby.values().map(|near| view(&inner, near)).collect();
    if let Some(near) = inner.state.nearby.get(&inner.neighbour) {
        page.set_shown(view(&inner, near));
    }
    // Friends first; the order within does not follow the signal, so that no row moves from under a finger.
    rows.sort_by_key(|row| (!row.friend, row.name.clone(), row.id.clone()));
    let model = page.get_neighbours();
    if let Some(model) = model.as_any().downcast_ref::<VecModel<Neighbour>>() {
        update(model, &rows);
    }
}

fn view(inner: &Inner, near: &control::Nearby) -> Neighbour {
    let by =
        |carrier: control::Carrier| near.carrier() == carrier || near.carriers.contains(&i32::from(carrier));
    Neighbour {
        id: near.id.as_str().into(),
        name: near.name.as_str().into(),
        friend: near.is_friend,
        signal: signal(near.rssi_dbm),
        progress: progress(inner, &near.id, near.connected),
        // Whom this device is connected with may be busy with nobody else than it.
        busy: near.busy && !near.connected,
        wish: game::shown(near.wish()),
        by_bluetooth: by(control::Carrier::Bluetooth),
        by_lan: by(control::Carrier::Lan),
        by_internet: by(control::Carrier::Online),
    }
}

/// What the page says where nobody can be shown. A carrier that is ready counts before one that is not.
pub(super) fn state(inner: &Inner) -> NearbyState {
    if !inner.state.nearby.is_empty() {
        return NearbyState::Some;
    }
    if inner.state.radios.values().any(works) {
        return if inner.looked_long { NearbyState::Nobody } else { NearbyState::Looking };
    }
    bluetooth(inner)
}

/// What keeps Bluetooth from working, where that is not said in the place of the list.
fn trouble(inner: &Inner) -> NearbyState {
    let elsewhere = inner.state.radios.values().any(works) || !inner.state.nearby.is_empty();
    let fine = inner.state.bluetooth().is_none_or(works);
    match bluetooth(inner) {
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

fn bluetooth(inner: &Inner) -> NearbyState {
    match inner.state.bluetooth().map(control::Radio::state) {
        _ if inner.state.bluetooth().is_some_and(|radio| radio.unused) => NearbyState::Unused,
        Some(RadioState::RadioOff) => NearbyState::Off,
        Some(RadioState::RadioBlocked) => NearbyState::Blocked,
        Some(RadioState::RadioNoAdapter) => NearbyState::NoAdapter,
        Some(RadioState::RadioNoService) => NearbyState::NoService,
        Some(RadioState::RadioNoPermission) => NearbyState::NoPermission,
        // A host that has told everything and no radio has none.
        None if inner.state.ready => NearbyState::NoAdapter,
        _ => NearbyState::Looking,
    }
}

/// 0 to 3 bars. A phone on the same table is heard at about -50 dBm, across a room at -70, through a wall below -85.
fn signal(rssi_dbm: i32) -> i32 {
    match rssi_dbm {
        0 => 0,
        -59.. => 3,
        -74.. => 2,
        _ => 1,
    }
}

pub(super) fn progress(inner: &Inner, peer: &str, connected: bool) -> Progress {
    match inner.state.connecting.get(peer).map(control::Connecting::state) {
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
