//! Who can discover this device now: the user's choice, restricted while nobody uses the device.

use std::time::Duration;

use proto::control::Visibility;
use tokio::time::Instant;

/// The device counts as used for this time after its last client has detached: as long as an interrupted match is looked
/// for, and long enough for a user who types one command after another.
const STILL_OPEN: Duration = Duration::from_mins(5);

/// The discoverability of this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exposure {
    pub(crate) to: Visibility,
    /// Advertise at a slow interval, to save battery.
    pub(crate) seldom: bool,
}

/// The user's choice, and whether the device is in use.
pub(crate) struct Discoverability {
    visibility: Visibility,
    /// Friends can discover this device while no client is attached.
    found_when_closed: bool,
    /// When a client was last attached; at first, when the host started.
    last_used: Instant,
}

impl Discoverability {
    pub(crate) fn new(visibility: Visibility, found_when_closed: bool, now: Instant) -> Self {
        Self { visibility, found_when_closed, last_used: now }
    }

    pub(crate) fn visibility(&self) -> Visibility {
        self.visibility
    }

    pub(crate) fn found_when_closed(&self) -> bool {
        self.found_when_closed
    }

    pub(crate) fn set_visibility(&mut self, visibility: Visibility) {
        self.visibility = visibility;
    }

    pub(crate) fn set_found_when_closed(&mut self, on: bool) {
        self.found_when_closed = on;
    }

    /// Handles that a client is attached now.
    pub(crate) fn note_use(&mut self, now: Instant) {
        self.last_used = now;
    }

    pub(crate) fn exposure(&self, now: Instant) -> Exposure {
        let exposed = |to, seldom| Exposure { to, seldom };
        match (self.visibility, self.used_until() > now, self.found_when_closed) {
            (visibility, true, _) => exposed(visibility, false),
            (Visibility::Nobody, false, _) | (_, false, false) => exposed(Visibility::Nobody, false),
            (Visibility::Friends | Visibility::Everyone, false, true) => exposed(Visibility::Friends, true),
        }
    }

    /// When the exposure changes if no client attaches.
    pub(crate) fn changes_at(&self, now: Instant) -> Option<Instant> {
        Some(self.used_until()).filter(|until| *until > now)
    }

    fn used_until(&self) -> Instant {
        self.last_used + STILL_OPEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_device_that_nobody_uses_is_found_by_friends_at_most_and_only_if_its_person_wants_it() {
        let start = Instant::now();
        let (used, unused) = (start + STILL_OPEN - Duration::from_millis(1), start + STILL_OPEN);
        let (nobody, friends, everyone) = (Visibility::Nobody, Visibility::Friends, Visibility::Everyone);
        for (chosen, when_closed, at, to, seldom) in [
            (everyone, false, used, everyone, false),
            (friends, false, used, friends, false),
            (nobody, true, used, nobody, false),
            (everyone, false, unused, nobody, false),
            (everyone, true, unused, friends, true),
            (friends, true, unused, friends, true),
            (nobody, true, unused, nobody, false),
        ] {
            let discoverability = Discoverability::new(chosen, when_closed, start);
            let case = format!("{chosen:?}, when closed: {when_closed}, used: {}", at == used);
            assert_eq!(discoverability.exposure(at), Exposure { to, seldom }, "{case}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_use_puts_the_end_of_it_off() {
        let start = Instant::now();
        let mut discoverability = Discoverability::new(Visibility::Everyone, false, start);
        assert_eq!(discoverability.changes_at(start), Some(start + STILL_OPEN));
        let later = start + Duration::from_hours(1);
        assert_eq!(discoverability.changes_at(later), None, "it has changed already");
        discoverability.note_use(later);
        assert_eq!(discoverability.changes_at(later), Some(later + STILL_OPEN));
        assert_eq!(discoverability.exposure(later).to, Visibility::Everyone);
    }
}
