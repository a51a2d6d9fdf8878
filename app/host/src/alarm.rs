//! Waiting for a moment and being woken once for it.
//!
//! tokio keeps timers in a wheel of ever coarser slots: one of five seconds wakes the process at the beginning of its slot on
//! each level, up to three times. On an idle link, where all that happens is a ping every five seconds, these were a
//! third of all wake-ups. A timer of the kernel wakes once.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Below this tokio's own timer wakes once too: a slot of its finest level.
const SHORT: Duration = Duration::from_millis(64);

/// The one moment that is waited for.
pub(crate) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: Option<linux::Timer>,
}

impl Alarm {
    /// By tokio's clock alone, which tests stop and wind on.
    pub(crate) fn of_tokio() -> Alarm {
        Alarm {
            #[cfg(target_os = "linux")]
            timer: None,
        }
    }

    /// By the kernel's, where there is one for programs. Within a tokio runtime only.
    pub(crate) fn of_kernel() -> Alarm {
        Alarm {
            #[cfg(target_os = "linux")]
            timer: linux::Timer::new().inspect_err(|error| tracing::debug!(%error, "no timer")).ok(),
        }
    }

    /// Waits for this moment. Cancel-safe; a later call forgets an earlier one's.
    pub(crate) async fn until(&self, moment: Instant) {
        #[cfg(target_os = "linux")]
        {
            let left = moment.saturating_duration_since(Instant::now());
            if let Some(timer) = self.timer.as_ref().filter(|_| left >= SHORT) {
                match timer.wait(left).await {
                    Ok(()) => return,
                    Err(error) => tracing::warn!(%error, "the kernel's timer"),
                }
            }
        }
        sleep_until(moment).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::net::unix::pipe::Receiver;

    /// A timer is read and polled as a pipe is.
    pub(super) struct Timer(Receiver);

    impl Timer {
        pub(super) fn new() -> io::Result<Timer> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            Ok(Timer(Receiver::from_owned_fd_unchecked(timer)?))
        }

        /// `time` must not be zero, which would be never.
        pub(super) async fn wait(&self, time: Duration) -> io::Result<()> {
            let it_value = Timespec {
                tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: time.subsec_nanos().into(),
            };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            // Also forgets that an earlier time has passed.
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value })?;
            loop {
                self.0.readable().await?;
                let mut times = [0; 8];
                match self.0.try_read(&mut times) {
                    // Told of before it was set anew: not yet.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => return read.map(drop),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_alarm_rings_at_its_moment_and_not_for_one_that_was_given_up() {
        let alarm = Alarm::of_kernel();
        let begun = Instant::now();
        // Rings, and nobody hears it.
        let _ = tokio::time::timeout(Duration::ZERO, alarm.until(begun + Duration::from_millis(70))).await;
        tokio::time::sleep(Duration::from_millis(90)).await;
        let moment = Instant::now() + Duration::from_millis(150);
        alarm.until(moment).await;
        assert!(Instant::now() >= moment);
        alarm.until(begun).await;
    }
}
