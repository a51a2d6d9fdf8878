//! Commands by which people find, compare and remember each other.

use std::net::SocketAddr;

use client::{HostState, json, words};
use proto::control::{self, AccountState, ComparisonEnd, ConnectState, event, reply, request};
use proto::short_string::PICTURES;
use serde_json::json;

use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected, within};
use crate::text;

impl Conversation {
    pub(crate) async fn scan(&mut self, seconds: u64) -> Result<(), Failure> {
        let deadline = within(seconds);
        self.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        while let Some(event) = self.host.next_until(deadline).await? {
            match &event.body {
                Some(event::Body::Nearby(one)) => self.print(
                    || {
                        let friend = if one.is_friend { ", a friend" } else { "" };
                        let name = if one.name.is_empty() { "(no name)" } else { &one.name };
                        let signal =
                            if one.rssi_dbm == 0 { String::new() } else { format!("  {} dBm", one.rssi_dbm) };
                        format!("{name}  {}{signal}{friend}  {}", text::carriers(&one.carriers), one.id)
                    },
                    || json::event(&event),
                )?,
                Some(event::Body::NearbyGone(gone)) => {
                    self.print(|| format!("gone: {}", gone.id), || json::event(&event))?;
                }
                Some(event::Body::Radio(radio)) => self.print(
                    || format!("{}: {}", words::carrier(radio.carrier), words::radio(radio.state)),
                    || json::event(&event),
                )?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) async fn meet(&mut self, who: &str, seconds: u64) -> Result<(), Failure> {
        let deadline = within(seconds);
        let peer = if who.parse::<SocketAddr>().is_ok() {
            let meet = control::MeetAddress { address: who.to_owned() };
            let reply::Body::Peer(peer) = self.host.ask(request::Body::MeetAddress(meet)).await? else {
                return Err(unexpected());
            };
            peer
        } else {
            let peer = self.somebody(who, deadline).await?;
            self.host.ask(request::Body::Meet(control::Meet { peer: peer.clone() })).await?;
            peer
        };
        loop {
            // The name behind a typed address is known once it is connected.
            let connecting = self.host.state().connecting.get(&peer);
            let name = connecting.map(|one| one.name.as_str()).filter(|name| !name.is_empty());
            let name = name.unwrap_or(who).to_owned();
            if let Some(comparison) =
                self.host.state().comparisons.iter().find(|one| one.peer == peer || one.name == name)
            {
                return self.print(|| comparison_text(comparison), || json::comparison(comparison));
            }
            if let Some(connecting) = connecting {
                match connecting.state() {
                    ConnectState::ConnectUp if self.is_friend(&peer, &name) => {
                        return self.print(|| "connected".into(), || json::connecting(connecting));
                    }
                    ConnectState::ConnectFailed => {
                        return Err(Failure::NotToBe(format!("{name} could not be reached")));
                    }
                    _ => {}
                }
            }
            let Some(event) = self.host.next_until(deadline).await? else {
                return Err(Failure::NotToBe(format!("{name} did not answer in time")));
            };
            // A host that dials gives up after it. A device behind a typed address may have no name yet.
            if let Some(event::Body::Notice(notice)) = &event.body
                && (notice.name.is_empty() || notice.name == name)
                && let Some(why) = words::outdated(notice.kind())
            {
                return Err(Failure::NotToBe(format!("{name}: {why}")));
            }
        }
    }

    fn is_friend(&self, peer: &str, who: &str) -> bool {
        let state = self.host.state();
        state.friends.contains_key(peer)
            || state.friends.values().any(|friend| friend.name == who && friend.connected)
            || state.nearby.get(peer).is_some_and(|one| one.is_friend)
    }

    /// Prints the addresses of this device that another person can type.
    pub(crate) async fn places(&mut self) -> Result<(), Failure> {
        let asked = request::Body::ShowPlaces(control::ShowPlaces {});
        let reply::Body::Places(places) = self.host.ask(asked).await? else { return Err(unexpected()) };
        if places.addresses.is_empty() {
            return Err(Failure::NotToBe("this device is not visible on the local network".into()));
        }
        places.addresses.iter().try_for_each(|one| self.print(|| one.clone(), || json!({"address": one})))
    }

    pub(crate) async fn compare(
        &mut self,
        who: Option<String>,
        same: bool,
        wait: u64,
    ) -> Result<(), Failure> {
        let deadline = within(wait);
        let found = loop {
            let comparisons = self.host.state().comparisons.iter();
            let found: Vec<_> = comparisons
                .filter(|one| who.as_deref().is_none_or(|who| one.name == who || one.peer == who))
                .cloned()
                .collect();
            if found.is_empty() && self.host.next_until(deadline).await?.is_some() {
                continue;
            }
            break found;
        };
        let comparison = match found.as_slice() {
            [one] => one.clone(),
            [] => return Err(Failure::NotToBe("there is nothing to compare".into())),
            _ => return Err(Failure::Usage("several strings are to be compared: say with whom".into())),
        };
        let peer = comparison.peer.clone();
        // A person who has already answered "the same", and calls again to wait, need not answer
        // again.
        if !(same && comparison.answered_here) {
            self.host.ask(request::Body::Compare(control::Compare { peer: peer.clone(), same })).await?;
        }
        if !same || wait == 0 {
            return self.print(|| "done".into(), || json!({"done": true, "peer": peer}));
        }
        // Only the end of the comparison gives its result, in whatever order other events come.
        while let Some(event) = self.host.next_until(deadline).await? {
            let Some(event::Body::ComparisonGone(gone)) = &event.body else { continue };
            if gone.id != peer {
                continue;
            }
            return match gone.end() {
                ComparisonEnd::ComparisonFriends => self.print(
                    || format!("{} is now a friend", comparison.name),
                    || json!({"done": true, "peer": peer, "name": comparison.name, "end": "friends"}),
                ),
                ComparisonEnd::ComparisonDifferent => {
                    Err(Failure::NotToBe("the other person did not say the same".into()))
                }
                ComparisonEnd::Unspecified => {
                    Err(Failure::NotToBe("the connection was lost before the other person answered".into()))
                }
            };
        }
        Err(Failure::NotToBe("the other person has not answered yet".into()))
    }

    pub(crate) async fn account(
        &mut self,
        name: Option<String>,
        make: bool,
        server: String,
        wait: u64,
    ) -> Result<(), Failure> {
        if let Some(account) = name {
            let mut password = String::new();
            std::io::stdin().read_line(&mut password).map_err(|error| Failure::Other(error.to_string()))?;
            let password = password.trim_end_matches(['\r', '\n']).to_owned();
            let sign_in = control::SignIn { account, password, make_it: make, server };
            self.host.ask(request::Body::SignIn(sign_in)).await?;
            let deadline = within(wait);
            let busy = |state: &HostState| {
                state.account.as_ref().is_some_and(|one| one.state() == AccountState::AccountConnecting)
            };
            while busy(self.host.state()) && self.host.next_until(deadline).await?.is_some() {}
        }
        let Some(account) = &self.host.state().account else {
            return Err(Failure::NotToBe("this daemon was built without online play".into()));
        };
        let text = || {
            let sentence = account.sentence.as_ref().map_or("", |words| words.en.as_str());
            let name = if account.account.is_empty() { "no account" } else { &account.account };
            format!("{name}: {}. {sentence}", words::account_state(account.state).replace('_', " "))
        };
        self.print(text, || json::account(account))
    }

    pub(crate) async fn code(&mut self, plain: bool) -> Result<(), Failure> {
        let asked = request::Body::ShowFriendCode(control::ShowFriendCode {});
        let reply::Body::FriendCode(code) = self.host.ask(asked).await? else { return Err(unexpected()) };
        let qr = text::qr(code.side, &code.dark);
        self.print(
            || if plain { code.text.clone() } else { format!("{qr}\n{}", code.text) },
            || json!({"code": code.text, "side": code.side, "qr": qr}),
        )
    }

    pub(crate) fn friends(&self) -> Result<(), Failure> {
        self.host.state().friends.values().try_for_each(|friend| {
            let text = || {
                let reach = match (friend.connected, friend.near) {
                    (true, _) => format!(", connected by {}", words::carrier(friend.carrier)),
                    (false, true) => format!(", near by {}", words::carrier(friend.carrier)),
                    (false, false) => {
                        let why = text::why_unreached(friend.unreached());
                        match friend.met_by() {
                            control::Carrier::Unspecified => why.to_owned(),
                            met_by => format!("{why}, first met by {}", words::carrier(met_by.into())),
                        }
                    }
                };
                let note =
                    if friend.note.is_empty() { String::new() } else { format!("  ({})", friend.note) };
                format!("{}{reach}  {}{note}", friend.name, friend.id)
            };
            self.print(text, || json::friend(friend))
        })
    }
}

pub(crate) fn comparison_text(comparison: &control::Comparison) -> String {
    let pictures: Vec<String> = comparison
        .emoji
        .iter()
        .filter_map(|number| PICTURES.get(*number as usize))
        .map(|picture| format!("{} {}", picture.emoji, picture.english))
        .collect();
    let warning =
        if comparison.known_name_new_key { "\nCareful: a friend has this name and another key." } else { "" };
    format!(
        "Does {} see the same?  {}   {}\nThen say `qiyouctl same`, else `qiyouctl different`.{warning}",
        comparison.name,
        pictures.join("  "),
        comparison.digits
    )
}
