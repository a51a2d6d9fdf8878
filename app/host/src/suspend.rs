//! The system's sleep, as a machine without I/O: until when the system waits for the goodbye to peers.

use std::time::Duration;

use tokio::time::Instant;

use crate::desktop::Inhibitor;

/// Time limit for the goodbye. logind allows five seconds in total (InhibitDelayMaxSec); a link that cannot send within two
/// is dead.
const GOODBYE: Duration = Duration::from_secs(3);

/// Whether the system is about to sleep or asleep. `H` delays sleep until dropped.
pub(crate) struct Suspend<H = Inhibitor> {
    /// From the news of sleep until waking up.
    present: Option<Present<H>>,
}

struct Present<H> {
    held: Option<H>,
    until: Instant,
}

impl<H> Default for Suspend<H> {
    fn default() -> Self {
        Self { present: None }
    }
}

impl<H> Suspend<H> {
    /// The system is about to sleep. `held`: what delays it, if it waits.
    pub(crate) fn begin(&mut self, held: Option<H>, now: Instant) {
        self.present = Some(Present { held, until: now + GOODBYE });
    }

    /// The system has woken up. Returns whether its sleep was announced.
    pub(crate) fn end(&mut self) -> bool {
        self.present.take().is_some()
    }

    /// Whether the system is about to sleep or asleep: no radio, no dialing.
    pub(crate) fn is_present(&self) -> bool {
        self.present.is_some()
    }

    /// When the system stops waiting for goodbyes.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.present.as_ref().filter(|present| present.held.is_some()).map(|present| present.until)
    }

    /// Lets the system sleep once the goodbyes are `sent`, or at the time limit. Returns whether it does so now.
    pub(crate) fn on_time(&mut self, now: Instant, sent: bool) -> bool {
        let is_due = self.due().is_some_and(|until| sent || until <= now);
        if let Some(present) = self.present.as_mut().filter(|_| is_due) {
            present.held = None;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn sleep_waits_for_the_goodbyes_and_no_longer_than_its_limit() {
        for (sent, waited, sleeps) in [
            (false, Duration::ZERO, false),
            (false, GOODBYE / 2, false),
            (false, GOODBYE, true),
            (true, Duration::ZERO, true),
        ] {
            let (now, held) = (Instant::now(), Rc::new(()));
            let mut suspend = Suspend::default();
            suspend.begin(Some(held.clone()), now);
            assert_eq!(suspend.due(), Some(now + GOODBYE));
            assert_eq!(suspend.on_time(now + waited, sent), sleeps);
            assert_eq!(Rc::strong_count(&held) == 1, sleeps, "the inhibitor is dropped");
            assert_eq!(suspend.due().is_none(), sleeps);
            assert!(suspend.is_present(), "until it wakes up");
            assert!(!(sleeps && suspend.on_time(now + GOODBYE, true)), "once");
        }
    }

    #[test]
    fn a_system_that_does_not_wait_sets_no_deadline_but_is_asleep() {
        let mut suspend: Suspend<()> = Suspend::default();
        suspend.begin(None, Instant::now());
        assert!(suspend.is_present() && suspend.due().is_none());
        assert!(suspend.end() && !suspend.is_present());
    }

    #[test]
    fn waking_up_without_an_announced_sleep_is_nothing() {
        let mut suspend: Suspend<()> = Suspend::default();
        assert!(!suspend.end());
        assert!(!suspend.on_time(Instant::now(), true));
    }
}
