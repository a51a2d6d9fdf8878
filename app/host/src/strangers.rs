//! Connected strangers: their display, and those that the user has sent away.

use std::collections::BTreeMap;
use std::time::Duration;

use proto::control::{self, event};
use tokio::time::Instant;

use crate::room::PlayerId;

/// Time for which a stranger that was sent away is refused. Its device retries automatically for 45 s. Permanent refusal is
/// blocking.
const STAYS_AWAY: Duration = Duration::from_mins(5);

/// Maximum number of strangers remembered as sent away; an attacker can create new keys anyway.
const MOST_SENT_AWAY: usize = 64;

/// After a stranger has given up the radio, only friends connect for this time. A friend who looks for this device hears it, dials and
/// completes the handshake within 4 s on a slow device; a stranger who dials again at once, under another key too, would be faster.
const AIR_FOR_FRIENDS: Duration = Duration::from_secs(15);

#[derive(Default)]
pub(crate) struct Strangers {
    /// The state that clients were last sent.
    told: BTreeMap<String, control::Stranger>,
    /// End of the refusal.
    sent_away: BTreeMap<PlayerId, Instant>,
    /// Until then the radio takes no stranger.
    air_for_friends: Option<Instant>,
}

impl Strangers {
    /// The events that turn what clients were last sent into `connected`.
    pub(crate) fn show(&mut self, connected: impl Iterator<Item = control::Stranger>) -> Vec<event::Body> {
        let now: BTreeMap<String, control::Stranger> = connected.map(|one| (one.id.clone(), one)).collect();
        let gone = self.told.keys().filter(|id| !now.contains_key(*id));
        let mut news: Vec<event::Body> =
            gone.map(|id| event::Body::StrangerGone(control::Gone { id: id.clone() })).collect();
        let changed = now.iter().filter(|(id, one)| self.told.get(*id) != Some(one));
        news.extend(changed.map(|(_, one)| event::Body::Stranger(one.clone())));
        self.told = now;
        news
    }

    /// The present state, for a client that attaches.
    pub(crate) fn events(&self) -> impl Iterator<Item = event::Body> + '_ {
        self.told.values().cloned().map(event::Body::Stranger)
    }

    /// Refuses this stranger for [`STAYS_AWAY`].
    pub(crate) fn send_away(&mut self, key: PlayerId, now: Instant) {
        self.sent_away.retain(|_, until| *until > now);
        if self.sent_away.len() >= MOST_SENT_AWAY
            && let Some(first) = self.sent_away.iter().min_by_key(|(_, until)| **until).map(|(key, _)| *key)
        {
            self.sent_away.remove(&first);
        }
        self.sent_away.insert(key, now + STAYS_AWAY);
    }

    /// Ends the refusal, because the user asks for this stranger.
    pub(crate) fn want(&mut self, key: PlayerId) {
        self.sent_away.remove(&key);
    }

    /// Keeps strangers off the radio for [`AIR_FOR_FRIENDS`].
    pub(crate) fn keep_air_for_friends(&mut self, now: Instant) {
        self.air_for_friends = Some(now + AIR_FOR_FRIENDS);
    }

    pub(crate) fn is_air_for_friends(&self, now: Instant) -> bool {
        self.air_for_friends.is_some_and(|until| until > now)
    }

    pub(crate) fn is_sent_away(&self, key: PlayerId, now: Instant) -> bool {
        self.sent_away.get(&key).is_some_and(|until| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(id: &str, comparing: bool) -> control::Stranger {
        control::Stranger { id: id.into(), comparing, ..control::Stranger::default() }
    }

    #[test]
    fn clients_are_told_what_has_changed_and_nothing_else() {
        let mut strangers = Strangers::default();
        let mut told =
            |now: &[(&str, bool)]| strangers.show(now.iter().map(|(id, comparing)| stranger(id, *comparing)));
        let gone = |id: &str| event::Body::StrangerGone(control::Gone { id: id.into() });
        let here = |id, comparing| event::Body::Stranger(stranger(id, comparing));
        assert_eq!(told(&[("a", false), ("b", false)]), [here("a", false), here("b", false)]);
        assert_eq!(told(&[("a", false), ("b", false)]), []);
        assert_eq!(told(&[("a", true), ("b", false)]), [here("a", true)]);
        assert_eq!(told(&[("b", false), ("c", false)]), [gone("a"), here("c", false)]);
        assert_eq!(strangers.events().collect::<Vec<_>>(), [here("b", false), here("c", false)]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_sent_away_stays_away_for_five_minutes_unless_a_person_asks_for_it() {
        let (mut strangers, now) = (Strangers::default(), Instant::now());
        let [anna, ben] = [1, 2].map(|number| PlayerId([number; 32]));
        strangers.send_away(anna, now);
        strangers.send_away(ben, now);
        assert!(strangers.is_sent_away(anna, now + STAYS_AWAY - Duration::from_millis(1)));
        assert!(!strangers.is_sent_away(anna, now + STAYS_AWAY));
        strangers.want(ben);
        assert!(!strangers.is_sent_away(ben, now));
        for number in 0..200 {
            strangers.send_away(PlayerId([number; 32]), now + Duration::from_secs(number.into()));
        }
        assert_eq!(strangers.sent_away.len(), MOST_SENT_AWAY);
        let last = PlayerId([199; 32]);
        assert!(strangers.is_sent_away(last, now + Duration::from_secs(199)));
    }
}
