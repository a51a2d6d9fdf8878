//! The user's decisions about other people: remove, block, mute, note, merge with a new key.

use proto::control::{self, RefusalCode, event};
use proto::limits;
use proto::peer::ByeReason;
use session::Role;
use tokio::time::Instant;
use tracing::{info, warn};

use crate::actor::Actor;
use crate::codes;
use crate::dialing::Target;
use crate::journal::{ACCOUNT_OF, CAPABILITIES, MET_BY};
use crate::questions::QUESTIONS;
use crate::refusal::Refusal;
use crate::room::{PlayerId, Seat};
use crate::show;
use crate::store::{SavedBlocked, SavedFriend};

impl Actor {
    pub(crate) fn forget(&mut self, key: PlayerId) -> Result<(), Refusal> {
        self.friend(key)?;
        // A new advertising key, so that the removed friend no longer recognises this device; the others receive it with the
        // next hello.
        let advert_key = self.chance.bytes();
        self.journal.keep(|store| store.forget(key, &advert_key))?;
        self.set_advert_key(advert_key);
        #[cfg(feature = "online")]
        let account = self.people.account(key).cloned();
        self.part_from(key, ByeReason::ByeLeaving);
        #[cfg(feature = "online")]
        if let Some(account) = account {
            self.part_from_account(key, &account);
        }
        Ok(())
    }

    /// Adds the key of a friend code as a friend, and starts to look for that person.
    pub(crate) fn add_friend(&mut self, text: &str) -> Result<(), Refusal> {
        let own = self.profile.identity().public_key();
        let code = codes::read(text, own, |key| self.blocked.contains(key))?;
        let key = PlayerId(code.key);
        if self.people.get(&key).is_none_or(|peer| peer.friend.is_none()) {
            let friend = SavedFriend {
                key,
                name: code.name.clone(),
                // The next hello brings the real advertising key; until then this one matches no tag.
                advert_key: self.chance.bytes(),
                met_unix_ms: self.wall_clock.unix_ms(),
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

    /// Blocks a player: a friend, a connected device, or one that asks for a comparison.
    pub(crate) fn block(&mut self, who: &str) -> Result<(), Refusal> {
        let key = self.anybody(who)?;
        let address = self
            .people
            .met_at(key)
            .map(ToString::to_string)
            .or_else(|| self.nearby.of_player(key)?.places(None).next().map(ToString::to_string));
        let friend = self.people.get(&key).and_then(|peer| peer.friend.as_ref());
        let blocked = SavedBlocked {
            key,
            name: self.name_of(key),
            since_unix_ms: self.wall_clock.unix_ms(),
            advert_key: friend.map(|friend| friend.advert_key),
            address,
        };
        let new_advert_key = friend.is_some().then(|| self.chance.bytes());
        self.journal.keep(|store| store.block(&blocked, new_advert_key.as_ref()))?;
        if let Some(advert_key) = new_advert_key {
            self.set_advert_key(advert_key);
        }
        #[cfg(feature = "online")]
        let account = self.people.account(key).cloned();
        // An ordinary goodbye, which does not reveal the block.
        self.part_from(key, ByeReason::ByeLeaving);
        for id in self.nearby.forget(key, blocked.address.as_deref()) {
            self.tell(event::Body::NearbyGone(control::Gone { id }));
        }
        let told = self.blocked.insert(blocked);
        #[cfg(feature = "online")]
        if let Some(account) = account {
            self.part_from_account(key, &account);
        }
        self.tell(event::Body::Blocked(told));
        Ok(())
    }

    /// Closes the link of a stranger with an ordinary goodbye.
    pub(crate) fn send_away(&mut self, who: &str) -> Result<(), Refusal> {
        let key = self.player(who)?;
        if self.people.get(&key).is_none_or(|peer| peer.friend.is_some()) {
            let detail = "only who is no friend is sent away: forget or block a friend";
            return Err(Refusal::new(RefusalCode::RefusalBadRequest, detail));
        }
        self.strangers.send_away(key, Instant::now());
        self.part_from(key, ByeReason::ByeLeaving);
        self.show_strangers();
        Ok(())
    }

    /// Sends clients the changes of connected strangers.
    pub(crate) fn show_strangers(&mut self) {
        let strangers = self.people.values().filter(|peer| peer.friend.is_none());
        let names = &self.names;
        let news = self.strangers.show(strangers.filter_map(|peer| {
            let link = peer.link.as_ref()?;
            Some(control::Stranger {
                id: peer.key.to_string(),
                name: names.shown(peer.key),
                carrier: show::carrier(link.kind).into(),
                comparing: peer.is_comparing(),
                mine: link.role == Role::Dialer,
            })
        }));
        for body in news {
            self.tell(body);
        }
    }

    pub(crate) fn unblock(&mut self, who: &str) -> Result<(), Refusal> {
        let key = self
            .blocked
            .named(who)
            .ok_or_else(|| Refusal::new(RefusalCode::RefusalNoSuchPeer, "nobody of that id is blocked"))?;
        self.journal.keep(|store| store.unblock(key))?;
        self.blocked.remove(key);
        self.tell(event::Body::BlockedGone(control::Gone { id: key.to_string() }));
        Ok(())
    }

    pub(crate) fn set_muted(&mut self, key: PlayerId, muted: bool) -> Result<(), Refusal> {
        self.friend(key)?;
        self.journal.keep(|store| store.set_muted(key, muted))?;
        if let Some(friend) = self.people.get_mut(&key).and_then(|peer| peer.friend.as_mut()) {
            friend.muted = muted;
        }
        Ok(())
    }

    pub(crate) fn set_note(&mut self, key: PlayerId, note: &str) -> Result<(), Refusal> {
        self.friend(key)?;
        let note = note.trim();
        if !limits::is_note(note) {
            return Err(Refusal::new(
                RefusalCode::RefusalBadRequest,
                format!("a note is one line of at most {} characters", limits::NOTE_CHARS),
            ));
        }
        self.journal.keep(|store| store.set_note(key, note))?;
        if let Some(friend) = self.people.get_mut(&key).and_then(|peer| peer.friend.as_mut()) {
            note.clone_into(&mut friend.note);
        }
        Ok(())
    }

    /// Merges a friend with the friend's new key: unfinished matches continue with the new key. The new device does not know
    /// them, so its user is asked, as by an invitation.
    pub(crate) fn same_person(&mut self, old: PlayerId, new: PlayerId) -> Result<(), Refusal> {
        self.friend(old)?;
        self.friend(new)?;
        if old == new {
            return Err(Refusal::new(RefusalCode::RefusalBadRequest, "that is one and the same already"));
        }
        let unfinished = [old, new].map(|key| self.people[&key].unsettled().count()).iter().sum::<usize>();
        if unfinished > session::MAX_MATCHES {
            return Err(Refusal::new(
                RefusalCode::RefusalBusy,
                format!("{unfinished} unfinished matches are too many: finish some"),
            ));
        }
        let advert_key = self.chance.bytes();
        // The account belongs to the same person; the carrier of the pairing is set anew.
        let account = self.people.proven_account(old).cloned();
        let account = account.filter(|_| self.people.proven_account(new).is_none());
        let settings = [old, new].map(|key| format!("{ACCOUNT_OF}{key}"));
        self.journal.keep(|store| store.same_person(old, new, &advert_key, &settings))?;
        self.set_advert_key(advert_key);
        if let Some(account) = account {
            self.people.set_account(new, account);
        }
        for id in self.rooms_with(old) {
            let Some(room) = self.rooms.get_mut(&id) else { continue };
            for seat in &mut room.seats {
                if *seat == Seat::Peer(old) {
                    *seat = Seat::Peer(new);
                }
            }
        }
        let before = self.people.get(&old).and_then(|peer| peer.friend.clone());
        self.part_from(old, ByeReason::ByeLeaving);
        if let Some(friend) = self.people.get_mut(&new).and_then(|peer| peer.friend.as_mut())
            && let Some(before) = before
        {
            friend.muted |= before.muted;
            if friend.note.is_empty() {
                friend.note = before.note;
            }
        }
        // The session of the new key is rebuilt with the matches, which requires a new link.
        self.drop_link(new, Some(ByeReason::ByeReplaced));
        match self.new_session(new, true) {
            Ok(session) => {
                let peer = self.people.get_mut(&new).expect("a friend, as was asked above");
                peer.session = session;
            }
            Err(error) => warn!(%error, "the matches are taken over after the next start"),
        }
        self.link_is_gone(new);
        Ok(())
    }

    /// Ends the link, rooms, invitations and stored facts of this player; records stay.
    fn part_from(&mut self, key: PlayerId, last_word: ByeReason) {
        self.drop_link(key, Some(last_word));
        for id in self.rooms_with(key) {
            self.rooms.remove(&id);
            self.drop_bots(id);
            self.tell(event::Body::RoomGone(control::Gone { id: id.to_string() }));
        }
        for id in self.invitations.with(key) {
            self.invitation_over(id, control::InvitationEnd::InvitationWithdrawn);
        }
        self.give_up(&Target::Friend(key));
        self.comparison_over(key, control::ComparisonEnd::Unspecified);
        let gone = self.clubs.part_from(key);
        self.clubs_gone(&gone);
        self.people.forget(key);
        self.names.forget(key);
        for begins in
            [MET_BY, ACCOUNT_OF, QUESTIONS].into_iter().chain(CAPABILITIES.map(|(begins, _)| begins))
        {
            // If the removal fails, the setting tells where the person was met or how often it asked, and nothing else.
            let _ = self.journal.keep(|store| store.remove_setting(&format!("{begins}{key}")));
        }
    }

    fn friend(&self, key: PlayerId) -> Result<&SavedFriend, Refusal> {
        self.people
            .get(&key)
            .and_then(|peer| peer.friend.as_ref())
            .ok_or_else(|| Refusal::new(RefusalCode::RefusalNoSuchPeer, "no such friend"))
    }

    /// The player that a client means, whose key is known; near or not.
    fn anybody(&self, who: &str) -> Result<PlayerId, Refusal> {
        let met = |key: &PlayerId| {
            self.people.contains_key(key)
                || self.people.met_at(*key).is_some()
                || self.nearby.of_player(*key).is_some()
        };
        PlayerId::parse(who)
            .filter(met)
            .or_else(|| self.nearby.get(who).and_then(|near| near.player))
            .ok_or_else(|| {
                let detail = "nobody of that id has been connected to: block whoever it is when it asks";
                Refusal::new(RefusalCode::RefusalNoSuchPeer, detail)
            })
    }
}
