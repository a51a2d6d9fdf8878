//! A timer that wakes the process only once.
//!
//! tokio's timer wheel moves a long timer through slots of increasing resolution, which wakes the process up to three times
//! for a timer of five seconds. On an idle link with one ping every five seconds this caused a third of all wake-ups. A
//! kernel timer (timerfd) wakes once.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Below this time tokio's timer wakes only once too: it is in a slot of the finest resolution.
const SHORT: Duration = Duration::from_millis(64);

/// Waits for one moment at a time.
pub(crate) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: Option<linux::Timer>,
}

impl Alarm {
    /// Uses tokio's timer, which tests can pause and advance.
    pub(crate) fn of_tokio() -> Alarm {
        Alarm {
            #[cfg(target_os = "linux")]
            timer: None,
        }
    }

    /// Uses the kernel's timer where there is one. Call within a tokio runtime only.
    pub(crate) fn of_kernel() -> Alarm {
        Alarm {
            #[cfg(target_os = "linux")]
            timer: linux::Timer::new().inspect_err(|error| tracing::debug!(%error, "no timer")).ok(),
        }
    }

    /// Waits until `moment`. Cancel safe; a call replaces the moment of an earlier one.
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

    /// A timerfd, polled like a pipe.
    pub(super) struct Timer(Receiver);

    impl Timer {
        pub(super) fn new() -> io::Result<Timer> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            Ok(Timer(Receiver::from_owned_fd_unchecked(timer)?))
        }

        /// `time` must not be zero: timerfd would disarm the timer.
        pub(super) async fn wait(&self, time: Duration) -> io::Result<()> {
            let it_value = Timespec {
                tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: time.subsec_nanos().into(),
            };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            // Setting the timer also clears an expiration that was not read.
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value })?;
            loop {
                self.0.readable().await?;
                let mut times = [0; 8];
                match self.0.try_read(&mut times) {
                    // The readiness was that of an earlier setting: wait again.
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
        // The timer expires after its wait was dropped.
        let _ = tokio::time::timeout(Duration::ZERO, alarm.until(begun + Duration::from_millis(70))).await;
        tokio::time::sleep(Duration::from_millis(90)).await;
        let moment = Instant::now() + Duration::from_millis(150);
        alarm.until(moment).await;
        assert!(Instant::now() >= moment);
        alarm.until(begun).await;
    }
}
