//! A field test, as a host and two people go through it.

use std::time::Duration;

use proto::control::{self, PeerLink, Request, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::FieldTestAdapter;
use slint::ComponentHandle;

use super::people::friend;
use super::{Tell, Told, body, here, link, near, radio, room};

/// The first request for which `of` has an answer; others are left out.
fn asked<T>(stage: &Stage, told: &mut Told, of: impl Fn(&request::Body) -> Option<T>) -> (Request, T) {
    let all = told.answer(stage);
    let found = all.iter().find_map(|request| Some((request.clone(), of(body(request))?)));
    found.unwrap_or_else(|| panic!("it is not among what was asked for: {all:?}"))
}

fn dialog(told: &Told) -> FieldTestAdapter<'_> {
    told.app.window().global::<FieldTestAdapter<'_>>()
}

/// The host has examined the device.
pub(crate) fn examined(stage: &Stage, told: &mut Told) {
    let is = |body: &request::Body| matches!(body, request::Body::Diagnose(_)).then_some(());
    let (request, ()) = asked(stage, told, is);
    told.reply(request.id, reply::Body::Diagnosis(control::Diagnosis::default()));
    stage.pass(Duration::ZERO);
}

/// The match of the test: whose turn it is, how many moves it has, and its link.
pub(crate) fn field_match(told: &Told, moves: usize, can_act: bool, state: PeerLink) {
    let mut played = room(here(), super::peer("Librem 5"), &[]);
    played.id = "field".into();
    played.record = vec!["a1".into(); moves];
    played.can_act = can_act;
    let seen = control::LinkState { seen_action_ply: moves as u32, seen_after_us: 52_000, ..link(state, 0) };
    played.link = Some(seen);
    told.say(event::Body::Room(played));
}

/// This device leads, with a friend nearby, up to the first move.
pub(crate) fn leads(stage: &Stage, told: &mut Told) {
    told.say(radio(control::RadioState::RadioReady));
    told.say(near("a", "Librem 5", true, -50));
    stage.pass(Duration::ZERO);
    dialog(told).invoke_open();
    dialog(told).invoke_lead("a".into());
    examined(stage, told);
    dialog(told).invoke_confirm();
    stage.pass(Duration::ZERO);
    told.say(event::Body::Friend(control::Friend { connected: true, near: true, ..friend("a", "Librem 5") }));
    let is = |body: &request::Body| match body {
        request::Body::Invite(invite) => Some(invite.peer.clone()),
        _ => None,
    };
    let (request, peer) = asked(stage, told, is);
    assert_eq!(peer, "a");
    told.reply(request.id, reply::Body::InviteId("field".into()));
    field_match(told, 0, true, PeerLink::Up);
    told.answer(stage);
}

/// All moves are played, and the people are asked to walk.
pub(crate) fn walks(stage: &Stage, told: &mut Told) {
    for moves in (2..=22).step_by(2) {
        field_match(told, moves, true, PeerLink::Up);
        told.answer(stage);
    }
}

/// The story: the choice. Later steps show times that were measured, which no picture can be compared with.
pub(super) const FIELD_TESTS: [(&str, Tell); 1] = [("field-test", |stage, told| {
    told.say(radio(control::RadioState::RadioReady));
    told.say(near("a", "Librem 5", true, -50));
    told.say(near("b", "", false, -70));
    stage.pass(Duration::ZERO);
    dialog(told).invoke_open();
})];
