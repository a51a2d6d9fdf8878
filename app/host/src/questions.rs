//! The daily limit of questions whether to continue a match that only a friend's journal has.
//!
//! Rings limit how fast a friend asks; this limits how often. The count outlasts a restart.

use session::MAX_MATCHES;

use crate::journal::Journal;
use crate::room::PlayerId;

/// Questions per friend and day: as many as the matches that two devices can have unfinished, so that a device whose journal was
/// lost gets all of them back in a day.
pub(crate) const A_DAY: u32 = MAX_MATCHES as u32;

/// Prefix of settings keys, followed by a friend's key: the last UTC day with questions, and their number.
pub(crate) const QUESTIONS: &str = "questions/";

/// Whether this friend may ask today; counts the question if so. A count that cannot be kept is a question too many.
pub(crate) fn ask(journal: &mut Journal, key: PlayerId, utc_day: u32) -> bool {
    let name = format!("{QUESTIONS}{key}");
    let Ok(kept) = journal.setting(&name) else { return false };
    let asked =
        kept.and_then(|kept| read(&kept)).filter(|(day, _)| *day == utc_day).map_or(0, |(_, asked)| asked);
    asked < A_DAY
        && journal.keep(|store| store.set_setting(&name, &format!("{utc_day} {}", asked + 1))).is_ok()
}

fn read(kept: &str) -> Option<(u32, u32)> {
    let (day, asked) = kept.split_once(' ')?;
    Some((day.parse().ok()?, asked.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    #[test]
    fn a_friend_asks_as_often_a_day_as_matches_can_be_unfinished_also_across_a_restart() {
        let (mut journal, folder) = Journal::for_test();
        assert_eq!((0..5).filter(|_| ask(&mut journal, ANNA, 100)).count(), 5);
        drop(journal);
        let mut journal = Journal::new(Store::open(folder.path()).expect("opens again"));
        assert_eq!((0..100).filter(|_| ask(&mut journal, ANNA, 100)).count() as u32, A_DAY - 5);
        assert!(ask(&mut journal, BEN, 100), "another friend is not its fault");
        assert_eq!((0..100).filter(|_| ask(&mut journal, ANNA, 101)).count() as u32, A_DAY, "the next day");
        let kept = journal.settings_of(QUESTIONS).expect("read");
        assert_eq!(kept.len(), 2, "one row for each friend: {kept:?}");
    }
}
