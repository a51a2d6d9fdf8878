//! Friend codes: this device's own, and those that the user scans or pastes.

use link::friend_code::{FriendCode, PLACES};
use link::{Address, Tag};
use proto::control::{self, RefusalCode, Visibility};
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
        let Some(code) = self.people.code(key) else { return Vec::new() };
        let near = code.tag.and_then(|tag| self.nearby.with_tag(tag));
        let mut ways: Vec<Address> = near.map_or_else(Vec::new, |near| near.places(None).cloned().collect());
        let kinds: Vec<_> = self.radios.iter().map(Radio::kind).collect();
        ways.extend(code.places.iter().filter(|place| kinds.contains(&place.kind)).cloned());
        ways
    }
}
