//! The retry policy of a connection attempt, as pure functions.

use std::time::Duration;

/// Attempts to connect before giving up. Since BlueZ 5.62 a first attempt often ends in le-connection-abort-by-local and the
/// second works; other projects settled on three to five.
pub(crate) const ATTEMPTS: u32 = 4;

/// Shortest and longest pause between two attempts. Random, so that two devices that dial each other fall out of step.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(1);

/// The pause before the next attempt, from a random number.
pub(crate) fn pause(random: u64) -> Duration {
    let span = LONGEST.saturating_sub(SHORTEST).as_millis() as u64 + 1;
    SHORTEST + Duration::from_millis(random % span)
}

/// What to do about a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Wait and try again.
    Again,
    /// BlueZ's state of the device is stale: a pending attempt, perhaps of a process that crashed, or cached handles from before
    /// the peer's adapter was reset. Disconnect, and make BlueZ forget the device.
    Forget,
    /// Trying again cannot help.
    GiveUp,
}

/// Reads BlueZ's error text. `failed` counts the attempts so far.
pub(crate) fn remedy(error: &str, failed: u32) -> Remedy {
    let has = |text: &str| error.contains(text);
    if failed >= ATTEMPTS || has("AccessDenied") || has("NotAuthorized") || has("ServiceUnknown") {
        Remedy::GiveUp
    } else if has("InProgress") || has("In Progress") || has("already in progress") || is_stale_table(error) {
        Remedy::Forget
    } else {
        Remedy::Again
    }
}

/// Whether the peer rejected or ignored a write to a stale handle.
fn is_stale_table(error: &str) -> bool {
    (error.starts_with("subscribe: ") && !error.ends_with("timed out"))
        || error.contains("no characteristic")
        || error.contains("no answer to the greeting")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Closing;

    #[test]
    fn pauses_are_within_bounds_and_differ() {
        let pauses: std::collections::BTreeSet<_> = (0..5000).map(pause).collect();
        assert_eq!(pauses.first(), Some(&SHORTEST));
        assert_eq!(pauses.last(), Some(&LONGEST));
        assert!(pauses.len() > 500);
    }

    #[test]
    fn errors_of_bluez_that_were_met_have_their_remedies() {
        let abort = "org.bluez.Error.Failed: le-connection-abort-by-local";
        assert_eq!(remedy(abort, 1), Remedy::Again);
        assert_eq!(remedy(abort, ATTEMPTS), Remedy::GiveUp);
        assert_eq!(remedy("org.bluez.Error.InProgress: Operation already in progress", 1), Remedy::Forget);
        assert_eq!(remedy("org.freedesktop.DBus.Error.ServiceUnknown: …", 1), Remedy::GiveUp);
        assert_eq!(remedy("org.freedesktop.DBus.Error.AccessDenied: …", 1), Remedy::GiveUp);
        assert_eq!(remedy("timed out", 2), Remedy::Again);
        let moved = "subscribe: Write not permitted (Other(… org.bluez.Error.NotPermitted …))";
        assert_eq!(remedy(moved, 1), Remedy::Forget);
        assert_eq!(remedy(&Closing::NoAnswer.to_string(), 1), Remedy::Forget);
        assert_eq!(remedy("subscribe: timed out", 1), Remedy::Again);
        assert_eq!(remedy("no characteristic 1aea3cdb-90c7-4f92-a929-83e7e62f688e", 1), Remedy::Forget);
    }
}
