//! All known players, with all facts about each, which are removed together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;

use link::Address;
use link::friend_code::FriendCode;
use proto::control::{self, event};
use session::Capabilities;

use crate::peer::Peer;
use crate::room::PlayerId;

/// Players by key. `P` is the state of friends and of connected strangers; about others only some facts may be known.
pub(crate) struct People<P = Peer> {
    all: BTreeMap<PlayerId, Person<P>>,
    /// Removed players that clients have not been told about yet.
    gone: BTreeSet<PlayerId>,
}

/// The facts about one player.
struct Person<P> {
    peer: Option<P>,
    /// The account that the player has proven, or that the user has read in a friend code.
    account: Option<String>,
    /// The account that a tag claims, until one is proven. Kept in memory only.
    claimed_account: Option<String>,
    /// Carrier of a friend's pairing.
    met_by: Option<control::Carrier>,
    /// Those of its version by its last hello, for letters to it; `None` before the first.
    capabilities: Option<Capabilities>,
    /// The address at which the player was dialed, for clients that asked for the address.
    met_at: Option<Address>,
    /// The friend code read since the start of the host, with addresses of this player.
    code: Option<FriendCode>,
    /// Clients have been shown its short string.
    string_is_shown: bool,
    /// The state that clients were last sent.
    told: Option<control::Friend>,
}

impl<P> Person<P> {
    fn account(&self) -> Option<&String> {
        self.account.as_ref().or(self.claimed_account.as_ref())
    }
}

impl<P> Default for Person<P> {
    fn default() -> Self {
        Self {
            peer: None,
            account: None,
            claimed_account: None,
            met_by: None,
            capabilities: None,
            met_at: None,
            code: None,
            string_is_shown: false,
            told: None,
        }
    }
}

impl<P> Default for People<P> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), gone: BTreeSet::new() }
    }
}

// Friends, and connected strangers.
impl<P> People<P> {
    pub(crate) fn get(&self, key: &PlayerId) -> Option<&P> {
        self.all.get(key)?.peer.as_ref()
    }

    pub(crate) fn get_mut(&mut self, key: &PlayerId) -> Option<&mut P> {
        self.all.get_mut(key)?.peer.as_mut()
    }

    pub(crate) fn contains_key(&self, key: &PlayerId) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &PlayerId> {
        self.all.iter().filter(|(_, person)| person.peer.is_some()).map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &P> + Clone {
        self.all.values().filter_map(|person| person.peer.as_ref())
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.all.values_mut().filter_map(|person| person.peer.as_mut())
    }

    /// Sets the player's state; other facts are kept.
    pub(crate) fn insert(&mut self, key: PlayerId, peer: P) {
        self.of(key).peer = Some(peer);
    }

    /// Removes the state of a stranger that has disconnected. Its address and friend code are kept.
    pub(crate) fn part(&mut self, key: PlayerId) {
        if let Some(person) = self.all.get_mut(&key) {
            person.peer = None;
        }
    }

    /// Removes the player with all facts.
    pub(crate) fn forget(&mut self, key: PlayerId) {
        if self.all.remove(&key).is_some_and(|person| person.told.is_some()) {
            self.gone.insert(key);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}

// Facts.
impl<P> People<P> {
    /// The player's account: the proven one, or the one that is claimed.
    pub(crate) fn account(&self, key: PlayerId) -> Option<&String> {
        self.all.get(&key)?.account()
    }

    /// The account that is kept on disk.
    pub(crate) fn proven_account(&self, key: PlayerId) -> Option<&String> {
        self.all.get(&key)?.account.as_ref()
    }

    /// Sets the proven account. A claimed one is forgotten.
    pub(crate) fn set_account(&mut self, key: PlayerId, account: String) {
        let person = self.of(key);
        (person.account, person.claimed_account) = (Some(account), None);
    }

    /// Takes an account that a tag claims, and that nothing has proven. Anyone can repeat a tag that was heard: a known account
    /// stays, and this one is not for the disk. Whether the account was taken.
    pub(crate) fn take_claimed_account(&mut self, key: PlayerId, account: &str) -> bool {
        let person = self.of(key);
        let is_taken = person.account().is_none();
        if is_taken {
            person.claimed_account = Some(account.to_owned());
        }
        is_taken
    }

    /// The friend with this account.
    #[cfg(feature = "online")]
    pub(crate) fn of_account(&self, account: &str) -> Option<PlayerId> {
        let has_it = |person: &Person<P>| person.account().is_some_and(|known| known == account);
        self.all.iter().find(|(_, person)| has_it(person)).map(|(key, _)| *key)
    }

    pub(crate) fn met_by(&self, key: PlayerId) -> Option<control::Carrier> {
        self.all.get(&key)?.met_by
    }

    pub(crate) fn set_met_by(&mut self, key: PlayerId, carrier: control::Carrier) {
        self.of(key).met_by = Some(carrier);
    }

    pub(crate) fn capabilities(&self, key: PlayerId) -> Option<Capabilities> {
        self.all.get(&key)?.capabilities
    }

    /// Returns whether that is new.
    pub(crate) fn set_capabilities(&mut self, key: PlayerId, capabilities: Capabilities) -> bool {
        self.of(key).capabilities.replace(capabilities) != Some(capabilities)
    }

    pub(crate) fn met_at(&self, key: PlayerId) -> Option<&Address> {
        self.all.get(&key)?.met_at.as_ref()
    }

    pub(crate) fn set_met_at(&mut self, key: PlayerId, address: Address) {
        self.of(key).met_at = Some(address);
    }

    pub(crate) fn code(&self, key: PlayerId) -> Option<&FriendCode> {
        self.all.get(&key)?.code.as_ref()
    }

    pub(crate) fn set_code(&mut self, key: PlayerId, code: FriendCode) {
        self.of(key).code = Some(code);
    }

    /// Records that clients are shown this player's short string.
    pub(crate) fn show_string(&mut self, key: PlayerId) {
        self.of(key).string_is_shown = true;
    }

    /// Records that the short string is no longer shown. Returns whether it was.
    pub(crate) fn hide_string(&mut self, key: PlayerId) -> bool {
        self.all.get_mut(&key).is_some_and(|person| std::mem::take(&mut person.string_is_shown))
    }

    /// The events that turn what clients were last sent into `shown`.
    pub(crate) fn news(&mut self, shown: BTreeMap<PlayerId, control::Friend>) -> Vec<event::Body> {
        let mut gone = std::mem::take(&mut self.gone);
        for (key, person) in &mut self.all {
            if !shown.contains_key(key) && person.told.take().is_some() {
                gone.insert(*key);
            }
        }
        gone.retain(|key| !shown.contains_key(key));
        let mut news: Vec<event::Body> =
            gone.iter().map(|key| event::Body::FriendGone(control::Gone { id: key.to_string() })).collect();
        for (key, friend) in shown {
            let person = self.of(key);
            if person.told.as_ref() != Some(&friend) {
                person.told = Some(friend.clone());
                news.push(event::Body::Friend(friend));
            }
        }
        news
    }

    fn of(&mut self, key: PlayerId) -> &mut Person<P> {
        self.all.entry(key).or_default()
    }
}

impl<P> Index<&PlayerId> for People<P> {
    type Output = P;

    /// # Panics
    /// If there is no such friend or connected stranger.
    fn index(&self, key: &PlayerId) -> &P {
        self.get(key).expect("somebody who is there")
    }
}

#[cfg(test)]
mod tests {
    use link::CarrierKind;

    use super::*;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    fn place() -> Address {
        Address { kind: CarrierKind::Memory, text: "place".into() }
    }

    fn code(key: PlayerId) -> FriendCode {
        FriendCode { key: key.0, name: "Ben".into(), tag: None, places: Vec::new() }
    }

    fn friend(name: &str) -> control::Friend {
        control::Friend { name: name.into(), ..control::Friend::default() }
    }

    /// Two players, Anna and Ben, with all facts.
    fn two() -> People<&'static str> {
        let mut people = People::default();
        for (key, name) in [(ANNA, "Anna"), (BEN, "Ben")] {
            people.insert(key, name);
            people.set_account(key, format!("{name}@example.org"));
            people.set_met_by(key, control::Carrier::Lan);
            let all = Capabilities::ALL;
            assert!(people.set_capabilities(key, all) && !people.set_capabilities(key, all));
            people.set_met_at(key, place());
            people.set_code(key, code(key));
            people.show_string(key);
        }
        let shown = BTreeMap::from([(ANNA, friend("Anna")), (BEN, friend("Ben"))]);
        assert_eq!(people.news(shown).len(), 2);
        people
    }

    #[test]
    fn whatever_is_known_of_a_person_ends_together_and_with_nobody_elses() {
        let mut people = two();
        people.forget(BEN);
        assert!(people.get(&BEN).is_none() && !people.keys().any(|key| *key == BEN));
        assert_eq!(people.account(BEN), None);
        assert_eq!(people.met_by(BEN), None);
        assert!(people.capabilities(BEN).is_none() && people.capabilities(ANNA) == Some(Capabilities::ALL));
        assert_eq!(people.met_at(BEN), None);
        assert!(people.code(BEN).is_none());
        assert!(!people.hide_string(BEN));
        let gone = event::Body::FriendGone(control::Gone { id: BEN.to_string() });
        assert_eq!(people.news(BTreeMap::from([(ANNA, friend("Anna"))])), [gone]);
        assert_eq!(people.values().copied().collect::<Vec<_>>(), ["Anna"]);
        assert_eq!(people.account(ANNA).map(String::as_str), Some("Anna@example.org"));
        assert!(
            people.met_by(ANNA).is_some() && people.met_at(ANNA).is_some() && people.code(ANNA).is_some()
        );
        assert!(people.hide_string(ANNA));
    }

    #[test]
    fn a_stranger_who_goes_is_nobody_but_where_it_was_met_is_known() {
        let mut people = two();
        people.part(BEN);
        assert!(!people.contains_key(&BEN));
        assert_eq!(people.keys().count(), 1);
        assert_eq!(people.met_at(BEN), Some(&place()));
        people.insert(BEN, "Ben again");
        assert_eq!(people[&BEN], "Ben again");
        assert_eq!(people.met_by(BEN), Some(control::Carrier::Lan));
    }

    #[test]
    fn facts_make_nobody_a_person_who_is_there() {
        let mut people: People<&str> = People::default();
        people.set_met_at(ANNA, place());
        people.set_account(ANNA, "anna@example.org".into());
        assert!(!people.contains_key(&ANNA) && people.values().count() == 0 && people.keys().count() == 0);
        people.insert(ANNA, "Anna");
        assert_eq!(people.account(ANNA).map(String::as_str), Some("anna@example.org"));
    }

    #[test]
    fn an_account_that_is_only_claimed_does_not_take_the_place_of_a_known_one() {
        let mut people = two();
        assert!(!people.take_claimed_account(ANNA, "mallory@example.org"));
        assert_eq!(people.account(ANNA).map(String::as_str), Some("Anna@example.org"));
        people.forget(ANNA);
        assert!(people.take_claimed_account(ANNA, "anna@example.net"));
        assert_eq!(people.account(ANNA).map(String::as_str), Some("anna@example.net"));
        assert_eq!(people.proven_account(ANNA), None);
        assert!(!people.take_claimed_account(ANNA, "mallory@example.org"), "one claim for each player");
        // A proven one does.
        people.set_account(ANNA, "anna@example.com".into());
        assert_eq!(people.account(ANNA).map(String::as_str), Some("anna@example.com"));
        assert_eq!(people.proven_account(ANNA), people.account(ANNA));
    }

    #[test]
    fn clients_are_told_of_a_friend_what_has_changed_and_once_that_it_is_gone() {
        let mut people = two();
        let both = |ben: &str| BTreeMap::from([(ANNA, friend("Anna")), (BEN, friend(ben))]);
        assert_eq!(people.news(both("Ben")), []);
        assert_eq!(people.news(both("Benjamin")), [event::Body::Friend(friend("Benjamin"))]);
        // No longer a friend, but still connected.
        let gone = event::Body::FriendGone(control::Gone { id: BEN.to_string() });
        assert_eq!(people.news(BTreeMap::from([(ANNA, friend("Anna"))])), [gone]);
        assert_eq!(people.news(BTreeMap::from([(ANNA, friend("Anna"))])), []);
        // Removed and added again before clients were told: a change, not an end.
        people.forget(ANNA);
        people.insert(ANNA, "Anna");
        assert_eq!(
            people.news(BTreeMap::from([(ANNA, friend("Ann"))])),
            [event::Body::Friend(friend("Ann"))]
        );
    }

    #[test]
    fn a_string_is_taken_from_the_screen_once() {
        let mut people = two();
        assert!(people.hide_string(BEN));
        assert!(!people.hide_string(BEN));
    }
}
