//! A client that attaches late ends with the same state as one that was attached from the beginning.

use std::collections::BTreeSet;
use std::time::Duration;

use client::{HostState, json};
use proto::board::{Pace, PaceKind};
use proto::control::{self, Event, OfferKind, event, reply, request};
use tests::house::{Client, Device, House, friends};

/// A client's state without progress reports, and without values measured when they were sent. Lists in order of arrival
/// are sorted by id.
fn present(state: &HostState) -> Vec<event::Body> {
    use event::Body;
    let mut state = state.clone();
    state.connecting.clear();
    state.thinking.clear();
    state.comparisons.sort_by(|one, other| one.peer.cmp(&other.peer));
    state.invitations.sort_by(|one, other| one.invite_id.cmp(&other.invite_id));
    let mut told: Vec<Body> = state.replicate().into_iter().filter_map(|event| event.body).collect();
    for body in &mut told {
        match body {
            Body::Nearby(near) => (near.age_ms, near.rssi_dbm) = (0, 0),
            Body::Invitation(invitation) => invitation.expires_ms = 0,
            Body::Room(room) => {
                room.clocks.iter_mut().for_each(|clock| clock.left_ms = 0);
                if let Some(link) = &mut room.link {
                    (link.away_ms, link.round_trip_ms, link.rssi_dbm) = (0, 0, 0);
                    (link.bytes_sent, link.bytes_received) = (0, 0);
                    (link.messages_sent, link.messages_received) = (0, 0);
                }
                if let Some(race) = &mut room.race {
                    race.my_elapsed_ms = 0;
                }
            }
            _ => {}
        }
    }
    told
}

/// Reads all events that the host has sent this client so far.
async fn catch_up(client: &mut Client) {
    // The reply to the second request follows all events sent before the first was handled.
    for _ in 0..2 {
        let list = control::ListMatches { limit: 1, ..control::ListMatches::default() };
        client.ask(request::Body::ListMatches(list)).await.expect("a list");
    }
}

/// The kinds of events in the state that a late client has received.
#[derive(Default)]
struct Compared(BTreeSet<String>);

impl Compared {
    /// The device's own client is attached from the beginning.
    async fn same(&mut self, when: &str, device: &mut Device) {
        // Something may be in flight between two devices: wait until it has arrived.
        tokio::time::sleep(Duration::from_millis(300)).await;
        catch_up(&mut device.client).await;
        let late = Client::attach(device.host().client()).await;
        let early = &device.client.seen.state;
        assert_eq!(present(&late.seen.state), present(early), "{when}, for {}", device.name);

        let mut copy = HostState::default();
        early.replicate().iter().for_each(|event| copy.apply(event));
        assert_eq!(copy, *early, "{when}, the copy for {}", device.name);

        for body in present(early) {
            let event = json::event(&Event { body: Some(body), ..Event::default() });
            self.0.insert(event["event"].as_str().expect("its kind").to_owned());
        }
    }
}

async fn room_id(client: &mut Client, body: request::Body) -> String {
    match client.ask(body).await.expect("a room") {
        reply::Body::RoomId(id) => id,
        other => panic!("a room, not {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn who_attaches_late_sees_what_an_early_client_has_come_to() {
    let mut house = House::new(140);
    let mut compared = Compared::default();
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    compared.same("at the start", &mut anna).await;

    // People: nearby, compared, friends, blocked.
    let mut carl = house.device("Carl").await;
    let annas = carl.client.find("Anna").await;
    anna.client.scan(true).await;
    carl.client.done(request::Body::Meet(control::Meet { peer: annas })).await;
    anna.client.until("Carl's string", |seen| !seen.comparisons.is_empty()).await;
    compared.same("a string is to be compared", &mut anna).await;
    compared.same("a string is to be compared", &mut carl).await;
    let carls = anna.client.seen.comparisons[0].peer.clone();
    anna.client.done(request::Body::Block(control::Block { peer: carls })).await;
    compared.same("Carl is blocked", &mut anna).await;
    carl.stop().await;
    friends(&mut anna, &mut ben).await;
    for device in [&mut anna, &mut ben] {
        compared.same("two are friends", device).await;
    }

    // An invitation with a time control, its match, an offer and its result.
    let bens = anna.client.seen.friends.keys().next().expect("a friend").clone();
    let pace = Pace { kind: PaceKind::PaceFischer.into(), main_s: 300, step_s: 5, periods: 0 };
    let first = proto::board::Side::First.into();
    let invite =
        control::Invite { peer: bens.clone(), my_side: first, pace: Some(pace), ..Default::default() };
    anna.client.ask(request::Body::Invite(invite)).await.expect("invited");
    ben.client.until("an invitation", |seen| !seen.invitations.is_empty()).await;
    for device in [&mut anna, &mut ben] {
        compared.same("one invites", device).await;
    }
    let invite_id = ben.client.seen.invitations[0].invite_id.clone();
    let accept = control::AnswerInvite { invite_id, accept: true, reason: 0 };
    ben.client.done(request::Body::AnswerInvite(accept)).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("a room", |seen| seen.room().is_some()).await;
    }
    for ply in 0..4 {
        let mover = if ply % 2 == 0 { &mut anna } else { &mut ben };
        mover.client.until("its turn", |seen| seen.room().is_some_and(|room| room.can_act)).await;
        mover.client.play(["h8", "h9", "i8", "i9"][ply]).await.expect("legal");
        for device in [&mut anna, &mut ben] {
            compared.same(&format!("after {} moves", ply + 1), device).await;
        }
    }
    let room = anna.client.seen.room().expect("one room").id.clone();
    let say = control::Say { room_id: room.clone(), text: "hello".into(), ..Default::default() };
    anna.client.done(request::Body::Say(say)).await;
    let offer =
        |kind: OfferKind| request::Body::Offer(control::Offer { room_id: room.clone(), kind: kind.into() });
    anna.client.ask(offer(OfferKind::OfferDraw)).await.expect("offered");
    ben.client.until("an offer", |seen| seen.room().is_some_and(|room| room.offer.is_some())).await;
    for device in [&mut anna, &mut ben] {
        compared.same("a draw is offered", device).await;
    }
    let agree = control::AnswerOffer { room_id: room.clone(), accept: true };
    ben.client.done(request::Body::AnswerOffer(agree)).await;
    for device in [&mut anna, &mut ben] {
        device.client.until_over().await;
        compared.same("a draw is agreed", device).await;
    }
    anna.client.ask(offer(OfferKind::OfferNewGame)).await.expect("offered");
    ben.client.until("an offer", |seen| seen.room().is_some_and(|room| room.offer.is_some())).await;
    let agree = control::AnswerOffer { room_id: room.clone(), accept: true };
    ben.client.done(request::Body::AnswerOffer(agree)).await;
    for device in [&mut anna, &mut ben] {
        let new = |seen: &tests::house::Seen| seen.room().is_some_and(|new| new.follows == room);
        device.client.until("the new room alone", new).await;
        compared.same("a new game follows", device).await;
    }

    // The friend is away; a gift waits; rooms without a peer.
    let kept = request::Body::Give(control::Give { room_id: room.clone(), peer: bens.clone() });
    anna.client.done(kept).await;
    ben.client.until("a gift", |seen| seen.gifts.len() == 1).await;
    compared.same("a gift waits", &mut ben).await;
    let bots = anna.client.open_room(None, Some(1)).await;
    let puzzle = request::Body::OpenPuzzle(control::OpenPuzzle {
        game: proto::board::Game::LightsOut.into(),
        ..Default::default()
    });
    let puzzle = room_id(&mut anna.client, puzzle).await;
    compared.same("three rooms", &mut anna).await;
    for id in [puzzle, bots] {
        anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id })).await;
    }
    compared.same("one room", &mut anna).await;
    let note = control::SetNote { peer: bens.clone(), note: "from the club".into() };
    anna.client.done(request::Body::SetNote(note)).await;
    anna.client.done(request::Body::SetName(control::SetName { name: "Anna B.".into() })).await;
    compared.same("names and notes", &mut anna).await;
    compared.same("a friend has another name", &mut ben).await;
    ben.kill().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|one| !one.connected)).await;
    compared.same("the friend is away", &mut anna).await;
    anna.client.done(request::Body::Forget(control::Forget { peer: bens })).await;
    compared.same("the friend is forgotten", &mut anna).await;
    assert!(anna.client.seen.friends.is_empty());

    let told = [
        "blocked",
        "comparison",
        "endings",
        "friend",
        "gift",
        "invitation",
        "me",
        "nearby",
        "puzzle_making",
        "radio",
        "ready",
        "room",
        "stranger",
    ];
    assert_eq!(compared.0.iter().map(String::as_str).collect::<Vec<_>>(), told);
}
