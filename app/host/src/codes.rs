//! Friend codes and addresses on the local network: this device's own, and those that the user scans, pastes or types.

use std::net::{IpAddr, SocketAddr};

use link::friend_code::{FriendCode, PLACES};
use link::{Address, CarrierKind, Tag};
use proto::control::{self, RefusalCode, Visibility};
use proto::limits;
use tracing::info;

use crate::actor::Actor;
use crate::dialing::Target;
use crate::radios::Radio;
use crate::room::PlayerId;
use crate::show::Refusal;
use crate::store::SavedFriend;

impl Actor {
    /// The friend code of this device with its present addresses.
    pub(crate) fn friend_code(&self) -> control::FriendCode {
        let places = self.used_transports().flat_map(|transport| transport.places()).take(PLACES).collect();
        let tag = Tag::of(self.profile.advert_key(), self.epoch());
        let code = FriendCode {
            key: self.profile.identity().public_key(),
            name: self.profile.name().to_owned(),
            // An invisible device tells no tag that could be looked for.
            tag: (self.profile.visibility() != Visibility::Nobody).then_some(tag),
            places,
        };
        let qr = code.qr();
        control::FriendCode { text: code.to_string(), side: qr.side as u32, dark: qr.packed().into() }
    }

    /// Adds the key of a friend code as a friend, and starts to look for that person.
    pub(crate) fn add_friend(&mut self, text: &str) -> Result<(), Refusal> {
        let bad = |why: String| Refusal::new(RefusalCode::RefusalBadRequest, why);
        let code = FriendCode::read(text).map_err(|why| bad(why.to_string()))?;
        let key = PlayerId(code.key);
        if code.key == self.profile.identity().public_key() {
            return Err(bad("this is the code of this device".into()));
        }
        if self.blocked.contains_key(&key) {
            return Err(bad("this player is blocked here: unblock first".into()));
        }
        if self.people.get(&key).is_none_or(|peer| peer.friend.is_none()) {
            let friend = SavedFriend {
                key,
                name: code.name.clone(),
                // The next hello brings the real advertising key; until then this one matches no tag.
                advert_key: self.chance.bytes(),
                met_unix_ms: self.now_unix_ms(),
                muted: false,
                note: String::new(),
            };
            self.journal.keep(|store| store.put_friend(&friend))?;
            // A connected stranger must send its hello again, to a session that knows its key.
            self.drop_link(key, None);
            let peer = self.new_peer(key, Some(friend))?;
            self.people.insert(key, peer);
            self.names.put(key, &code.name, true);
            info!(name = code.name, "a friend was added by code");
        }
        #[cfg(feature = "online")]
        self.ask_accounts_of_code(&code);
        self.people.set_code(key, code);
        if !self.radios.is_empty() {
            self.seek(Target::Friend(key));
        }
        Ok(())
    }

    /// Where the person of a friend code may be: nearby with the tag of the code, otherwise at the addresses in the code.
    pub(crate) fn ways_of_code(&self, key: PlayerId) -> Vec<Address> {
        let mut ways = Vec::new();
        if let Some(code) = self.people.code(key) {
            let near = code.tag.and_then(|tag| self.nearby.with_tag(tag));
            ways.extend(near.into_iter().flat_map(|near| near.places(None)).cloned());
            let kinds: Vec<_> = self.radios.iter().map(Radio::kind).collect();
            ways.extend(code.places.iter().filter(|place| kinds.contains(&place.kind)).cloned());
        }
        // An address that was typed is not announced again after the link is lost.
        let typed = |at: &&Address| at.kind == CarrierKind::Lan && at.text.parse::<SocketAddr>().is_ok();
        if let Some(typed) = self.people.met_at(key).filter(typed)
            && !ways.contains(typed)
        {
            ways.push(typed.clone());
        }
        ways
    }

    /// Connects to the device at an address that the user has typed; returns its id.
    pub(crate) fn meet_address(&mut self, text: &str) -> Result<String, Refusal> {
        let at = typed_address(text)?;
        let lan = self.used_transports().find(|transport| transport.kind() == CarrierKind::Lan);
        let lan =
            lan.ok_or_else(|| Refusal::new(RefusalCode::RefusalRadio, "the local network is not in use"))?;
        let address = Address { kind: CarrierKind::Lan, text: at.to_string() };
        if lan.places().contains(&address) {
            return Err(bad_address("这是这台设备的地址", "This is the address of this device"));
        }
        let is_there = |key: &PlayerId| {
            let is_linked = self.people.get(key).is_some_and(|peer| peer.link.is_some());
            is_linked && self.people.met_at(*key) == Some(&address)
        };
        let linked = self.people.values().map(|peer| peer.key).find(is_there);
        match linked {
            Some(key) => self.meet(&key.to_string())?,
            None => self.seek(Target::Address(address.clone())),
        }
        Ok(Target::Address(address).id())
    }

    /// Addresses of this device that another person can type.
    pub(crate) fn places(&self) -> control::Places {
        let lan = self.used_transports().filter(|transport| transport.kind() == CarrierKind::Lan);
        let addresses = lan.flat_map(|transport| transport.places()).map(|place| place.text);
        control::Places { addresses: addresses.take(limits::PLACES).collect() }
    }
}

fn bad_address(zh: &str, en: &str) -> Refusal {
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalBadRequest, en) }
}

/// An address of a device in a network of this one. Names are not looked up: where multicast is missing, local names are too.
fn typed_address(text: &str) -> Result<SocketAddr, Refusal> {
    let text = text.trim();
    if text.parse::<IpAddr>().is_ok() {
        let en = "The port is missing: the address ends in a colon and a number, such as 192.168.1.20:47415";
        return Err(bad_address("还缺端口：地址末尾是冒号和数字，比如 192.168.1.20:47415", en));
    }
    let at: SocketAddr = text.parse().map_err(|_| {
        let en = "This is no address. It looks like 192.168.1.20:47415";
        bad_address("这不是地址。地址的样子是 192.168.1.20:47415", en)
    })?;
    if at.port() == 0 || !link::lan::is_local(at.ip()) {
        return Err(bad_address("这个地址不在局域网里", "This address is not on the local network"));
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_and_port_of_the_local_network_is_dialed() {
        for good in ["192.168.1.20:47415", " 10.0.0.7:1 ", "[fd00::7]:47415", "127.0.0.1:9"] {
            assert!(typed_address(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("192.168.1.20", "port is missing"),
            ("fd00::7", "port is missing"),
            ("8.8.8.8:47415", "not on the local network"),
            ("[2001:db8::1]:47415", "not on the local network"),
            ("192.168.1.20:0", "not on the local network"),
            ("ben.local:47415", "no address"),
            ("192.168.1.20:99999", "no address"),
            ("", "no address"),
        ] {
            let refusal = typed_address(bad).expect_err(bad);
            let words = refusal.reason.expect("a reason for the person");
            assert!(words.en.contains(why), "{bad}: {}", words.en);
            assert!(!words.zh.is_empty());
        }
    }
}
