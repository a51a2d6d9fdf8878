//! The account's contact list and presence; and that a friend is one person on every carrier.

use std::sync::Arc;

use link::CarrierKind;
use link::memory::MemoryNetwork;
use proto::control::{self, AccountState, Carrier, ContactAnswer, ContactState, Presence, reply, request};
use tests::house::{Seen, begin, meet};

use crate::servers::{Authority, DOMAIN, Kind, Server};
use crate::{Device, become_contacts, contact, contacts_at, play_on};

async fn until_presence(device: &mut Device, account: &str, presence: Presence) {
    let is = |seen: &Seen| seen.contacts.get(account).is_some_and(|one| one.presence() == presence);
    device.client.until(&format!("{account} is {presence:?}"), is).await;
}

fn accounts() -> [String; 2] {
    ["anna", "ben"].map(|name| format!("{name}@{DOMAIN}"))
}

/// Requested, accepted, seen online, removed, requested again and blocked.
async fn a_list(kind: Kind) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let place = || (DOMAIN, server.address());
    let (mut anna, mut ben) = contacts_at([place(), place()], &authority).await;
    let [annas, bens] = accounts();
    meet(&mut anna.client, &mut ben.client, "Ben").await;

    ben.client.done(request::Body::SetAway(control::SetAway { away: true })).await;
    until_presence(&mut anna, &bens, Presence::Away).await;
    ben.client.done(request::Body::SetAway(control::SetAway { away: false })).await;
    until_presence(&mut anna, &bens, Presence::Playing).await;
    let hide = control::SetVisibility { visibility: control::Visibility::Nobody.into() };
    ben.client.done(request::Body::SetVisibility(hide)).await;
    until_presence(&mut anna, &bens, Presence::Offline).await;
    let show = control::SetVisibility { visibility: control::Visibility::Friends.into() };
    ben.client.done(request::Body::SetVisibility(show)).await;
    until_presence(&mut anna, &bens, Presence::Online).await;
    ben.switch_off().await;
    until_presence(&mut anna, &bens, Presence::Offline).await;
    ben.switch_on().await;
    until_presence(&mut anna, &bens, Presence::Online).await;

    // Removed by one, the contact is off both lists.
    anna.answer_contact(&bens, ContactAnswer::ContactRemove).await;
    for (device, other) in [(&mut anna, &bens), (&mut ben, &annas)] {
        device.client.until("off the list", |seen| contact(seen, other).is_none()).await;
    }

    // Requested and declined, contacts again, then blocked: a blocked contact's request is not shown.
    anna.ask_contact(&bens).await;
    let asks = |seen: &Seen| contact(seen, &annas) == Some(ContactState::ContactAsks);
    let asked = |seen: &Seen| contact(seen, &bens) == Some(ContactState::ContactAsked);
    anna.client.until("she has asked", asked).await;
    ben.client.until("Anna asks", asks).await;
    ben.answer_contact(&annas, ContactAnswer::ContactRemove).await;
    for (device, other) in [(&mut anna, &bens), (&mut ben, &annas)] {
        device.client.until("off the list", |seen| contact(seen, other).is_none()).await;
    }
    become_contacts(&mut anna, &mut ben, &accounts()).await;
    anna.answer_contact(&bens, ContactAnswer::ContactBlock).await;
    for (device, other) in [(&mut anna, &bens), (&mut ben, &annas)] {
        device.client.until("off the list", |seen| contact(seen, other).is_none()).await;
    }
    ben.ask_contact(&annas).await;
    ben.client.until("Ben has asked", |seen| contact(seen, &annas) == Some(ContactState::ContactAsked)).await;
    // A later request of another account is shown, so Ben's would have been shown too.
    let mut carl = Device::new("Carl", &authority).await;
    carl.sign_in("carl", "secret", &server.address(), true).await;
    carl.until_account(AccountState::AccountOnline).await;
    carl.ask_contact(&annas).await;
    let carls = format!("carl@{DOMAIN}");
    anna.client.until("Carl asks", |seen| contact(seen, &carls) == Some(ContactState::ContactAsks)).await;
    assert_eq!(contact(&anna.client.seen, &bens), None, "who is blocked is not heard");
    println!("{kind:?}: asked, accepted, away, playing, hidden, offline, removed, asked again, blocked");
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn contacts_are_kept_and_seen_as_they_are_through_prosody() {
    a_list(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn contacts_are_kept_and_seen_as_they_are_through_ejabberd() {
    a_list(Kind::Ejabberd).await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_friend_made_by_bluetooth_is_the_same_friend_online() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let air = MemoryNetwork::posing_as(CarrierKind::Bluetooth, 3);
    let mut anna = Device::with("Anna", &authority, vec![Arc::new(air.transport("Anna"))]).await;
    let mut ben = Device::with("Ben", &authority, vec![Arc::new(air.transport("Ben"))]).await;
    meet(&mut anna.client, &mut ben.client, "Ben").await;
    begin(&mut anna.client, &mut ben.client, None).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    // They go out of Bluetooth range, and both are at home.
    air.set_reach("Ben", false);
    for (device, name) in [(&mut anna, "anna"), (&mut ben, "ben")] {
        device.sign_in(name, "secret", &server.address(), true).await;
        device.until_account(AccountState::AccountOnline).await;
    }
    become_contacts(&mut anna, &mut ben, &accounts()).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("it goes on over the internet", crate::link_up).await;
    }
    play_on(&mut anna, &mut ben).await;
    for (device, account) in [(&mut anna, "ben"), (&mut ben, "anna")] {
        assert!(device.client.seen.comparisons.is_empty(), "nothing is compared again");
        assert_eq!(device.client.seen.friends.len(), 1);
        let friend = device.client.seen.friends.values().next().expect("a friend").clone();
        assert_eq!(friend.met_by(), Carrier::Bluetooth, "as they met first");
        let account = format!("{account}@{DOMAIN}");
        let known = |seen: &Seen| seen.contacts.get(&account).is_some_and(|one| one.friend == friend.id);
        device.client.until("the account is the friend's", known).await;
    }
    println!("a friend by Bluetooth: the match goes on over the internet, nothing compared again");
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn two_who_exchange_codes_are_friends_through_their_accounts() {
    let authority = Authority::new();
    let mut server = Server::start(Kind::Prosody, &authority);
    let mut both = [Device::new("Anna", &authority).await, Device::new("Ben", &authority).await];
    let mut codes = Vec::new();
    for (device, name) in both.iter_mut().zip(["anna", "ben"]) {
        device.sign_in(name, "secret", &server.address(), true).await;
        device.until_account(AccountState::AccountOnline).await;
        match device.client.ask(request::Body::ShowFriendCode(control::ShowFriendCode {})).await {
            Ok(reply::Body::FriendCode(code)) => {
                assert!(
                    code.text.starts_with("qiyou:friend/1/")
                        && code.text.contains(&format!("{name}@{DOMAIN}"))
                );
                assert_eq!(code.dark.len(), (code.side * code.side.div_ceil(8)) as usize, "a square to scan");
                codes.push(code.text);
            }
            other => panic!("no code: {other:?}"),
        }
    }
    let [mut anna, mut ben] = both;
    // Offline: each one's request waits for the server, and then the two requests cross.
    server.kill();
    for device in [&mut anna, &mut ben] {
        device.until_account(AccountState::AccountServerGone).await;
    }
    for (device, code) in [(&mut anna, &codes[1]), (&mut ben, &codes[0])] {
        device.client.done(request::Body::AddFriend(control::AddFriend { code: code.clone() })).await;
    }
    server.again();
    for device in [&mut anna, &mut ben] {
        device.client.until("connected", |seen| seen.friends.values().any(|friend| friend.connected)).await;
        assert!(device.client.seen.comparisons.is_empty(), "the keys are in the codes");
    }
    begin(&mut anna.client, &mut ben.client, None).await;
    let plies = play_on(&mut anna, &mut ben).await;
    println!("friends by codes through a server: {plies} plies");
}

/// Friends and contacts of whom the first has parted from the other.
struct Parted {
    anna: Device,
    ben: Device,
    /// Ben's key.
    peer: String,
    _server: Server,
}

/// Anna removes or blocks Ben: each account is off the other's list.
async fn parted(authority: &Authority, blocks: bool, signed_out: bool) -> Parted {
    let mut server = Server::start(Kind::Prosody, authority);
    let place = (DOMAIN, server.address());
    let (mut anna, mut ben) = contacts_at([place.clone(), place], authority).await;
    let [annas, bens] = accounts();
    meet(&mut anna.client, &mut ben.client, "Ben").await;
    let is_known = |seen: &Seen| seen.friends.values().any(|friend| friend.account == bens);
    anna.client.until("his account is known", is_known).await;
    let peer = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    let part = if blocks {
        request::Body::Block(control::Block { peer: peer.clone() })
    } else {
        request::Body::Forget(control::Forget { peer: peer.clone() })
    };
    if signed_out {
        server.kill();
        for device in [&mut anna, &mut ben] {
            device.until_account(AccountState::AccountServerGone).await;
        }
    }
    anna.client.done(part).await;
    if signed_out {
        anna.switch_off().await;
        server.again();
        anna.switch_on().await;
        for device in [&mut anna, &mut ben] {
            device.until_account(AccountState::AccountOnline).await;
        }
    }
    for (device, other) in [(&mut anna, &bens), (&mut ben, &annas)] {
        device.client.until("off the list", |seen| contact(seen, other).is_none()).await;
    }
    Parted { anna, ben, peer, _server: server }
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_friend_who_is_removed_is_no_contact_any_more_and_may_ask_again() {
    let (authority, [annas, bens]) = (Authority::new(), accounts());
    for signed_out in [false, true] {
        let Parted { mut anna, mut ben, _server, .. } = parted(&authority, false, signed_out).await;
        ben.ask_contact(&annas).await;
        let asks = |seen: &Seen| contact(seen, &bens) == Some(ContactState::ContactAsks);
        anna.client.until("Ben asks", asks).await;
        anna.answer_contact(&bens, ContactAnswer::ContactAccept).await;
        for (device, other) in [(&mut anna, &bens), (&mut ben, &annas)] {
            let is_mutual = |seen: &Seen| contact(seen, other) == Some(ContactState::ContactMutual);
            device.client.until("contacts again", is_mutual).await;
        }
        println!("removed{}: no contact, and one again", if signed_out { " while signed out" } else { "" });
    }
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_friend_who_is_blocked_is_no_contact_until_unblocked_and_asked() {
    let (authority, [annas, bens]) = (Authority::new(), accounts());
    for signed_out in [false, true] {
        let Parted { mut anna, mut ben, peer, _server } = parted(&authority, true, signed_out).await;
        ben.ask_contact(&annas).await;
        let asked = |seen: &Seen| contact(seen, &annas) == Some(ContactState::ContactAsked);
        ben.client.until("Ben has asked", asked).await;
        ben.answer_contact(&annas, ContactAnswer::ContactRemove).await;
        ben.client.until("off the list", |seen| contact(seen, &annas).is_none()).await;
        assert_eq!(contact(&anna.client.seen, &bens), None, "who is blocked is not heard");
        anna.client.done(request::Body::Unblock(control::Unblock { peer })).await;
        become_contacts(&mut anna, &mut ben, &accounts()).await;
        println!("blocked{}: no contact, and one again", if signed_out { " while signed out" } else { "" });
    }
}
