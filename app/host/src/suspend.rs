//! The system's sleep: a goodbye before it, and reconnecting after it. Engines rest meanwhile, and while the lid is closed.

use std::time::Duration;

use proto::peer::ByeReason;
use tokio::time::Instant;
use tracing::info;

use crate::actor::Actor;
use crate::desktop::{Inhibitor, SleepNews};
use crate::dialing::DialingEvent;
use crate::power::{Engines, PowerNews};

/// Time limit for the goodbye. logind allows five seconds in total (InhibitDelayMaxSec); a link that cannot send within two
/// is dead.
const GOODBYE: Duration = Duration::from_secs(3);

/// From the news of sleep until waking up.
pub(crate) struct Suspend {
    /// Delays sleep until dropped.
    held: Option<Inhibitor>,
    until: Instant,
}

impl Actor {
    pub(crate) fn on_sleep_news(&mut self, news: SleepNews) {
        match news {
            SleepNews::Soon(held) => {
                self.suspend = Some(Suspend { held, until: Instant::now() + GOODBYE });
                self.rest_or_wake(|engines| engines.set_asleep(true));
                // Everything is already on disk, because actions are stored before they are sent.
                self.say_goodbye(ByeReason::ByeSuspend);
                self.handle_dialing(DialingEvent::AllUnwanted);
            }
            SleepNews::Over => {
                if self.suspend.take().is_some() {
                    self.rest_or_wake(|engines| engines.set_asleep(false));
                    self.look_for_everyone();
                }
            }
        }
    }

    pub(crate) fn on_power_news(&mut self, news: PowerNews) {
        self.rest_or_wake(|engines| engines.on_news(news));
    }

    /// `change` returns whether engines begin or end to rest.
    fn rest_or_wake(&mut self, change: impl FnOnce(&Engines) -> bool) {
        if change(&self.power.engines) {
            info!(rest = self.power.engines.rest(), "engines");
            for id in self.rooms.keys().copied().collect::<Vec<_>>() {
                self.wake_bots(id);
            }
        }
    }

    /// Whether the system is about to sleep or asleep: no radio, no dialing.
    pub(crate) fn is_suspending(&self) -> bool {
        self.suspend.is_some()
    }

    pub(crate) fn suspend_deadline(&self) -> Option<Instant> {
        self.suspend.as_ref().filter(|suspend| suspend.held.is_some()).map(|suspend| suspend.until)
    }

    /// Lets the system sleep once the goodbyes are sent, or after [`GOODBYE`].
    pub(crate) fn suspend_on_time(&mut self) {
        let told = self.links.is_empty();
        if let Some(suspend) = &mut self.suspend
            && suspend.held.is_some()
            && (told || suspend.until <= Instant::now())
        {
            info!(told, "the system may sleep");
            suspend.held = None;
        }
    }
}
