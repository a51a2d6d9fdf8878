//! The system's sleep: a goodbye before it, and reconnecting after it.

use std::time::Duration;

use proto::peer::ByeReason;
use tokio::time::Instant;
use tracing::info;

use crate::actor::Actor;
use crate::desktop::{Inhibitor, SleepNews};
use crate::dialing::Heard;

/// Time limit for the goodbye. logind allows five seconds in total (InhibitDelayMaxSec); a link that cannot send within two
/// is dead.
const GOODBYE: Duration = Duration::from_secs(3);

/// From the news of sleep until waking up.
pub(crate) struct Rest {
    /// Delays sleep until dropped.
    held: Option<Inhibitor>,
    until: Instant,
}

impl Actor {
    pub(crate) fn sleep_said(&mut self, news: SleepNews) {
        match news {
            SleepNews::Soon(held) => {
                self.rest = Some(Rest { held, until: Instant::now() + GOODBYE });
                // Everything is already on disk, because actions are stored before they are sent.
                self.say_goodbye(ByeReason::ByeSuspend);
                self.dialing_hears(Heard::AllUnwanted);
            }
            SleepNews::Over => {
                if self.rest.take().is_some() {
                    self.look_for_everyone();
                }
            }
        }
    }

    /// Whether the system is about to sleep or asleep: no radio, no dialing.
    pub(crate) fn is_resting(&self) -> bool {
        self.rest.is_some()
    }

    pub(crate) fn rest_deadline(&self) -> Option<Instant> {
        self.rest.as_ref().filter(|rest| rest.held.is_some()).map(|rest| rest.until)
    }

    /// Lets the system sleep once the goodbyes are sent, or after [`GOODBYE`].
    pub(crate) fn rest_on_time(&mut self) {
        let told = self.links.is_empty();
        if let Some(rest) = &mut self.rest
            && rest.held.is_some()
            && (told || rest.until <= Instant::now())
        {
            info!(told, "the system may sleep");
            rest.held = None;
        }
    }
}
