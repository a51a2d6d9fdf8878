//! Why a friend cannot be reached now, as far as this device can know.

use proto::control::Unreached;

/// The facts about a friend.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Connected, nearby, or online with its account.
    pub(crate) is_there: bool,
    /// It has said goodbye, and has not been seen since.
    pub(crate) has_left: bool,
    /// Its account is known.
    pub(crate) has_account: bool,
}

/// The state of this device's carriers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Means {
    /// A carrier for nearby devices works.
    pub(crate) near: bool,
    /// The account is signed in.
    pub(crate) online: bool,
    /// Other devices can discover this one.
    pub(crate) is_found: bool,
}

pub(crate) fn why(friend: Seen, here: Means) -> Unreached {
    let listens = here.near || (here.online && friend.has_account);
    match friend {
        Seen { is_there: true, .. } => Unreached::Unspecified,
        _ if !listens => Unreached::NoCarrier,
        Seen { has_left: true, .. } => Unreached::Left,
        _ if here.near && !here.is_found => Unreached::NotFound,
        _ => Unreached::NotHeard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_that_a_person_can_do_something_about_is_the_one_that_is_told() {
        let away = Seen::default();
        let (left, there) =
            (Seen { has_left: true, ..away }, Seen { is_there: true, has_left: true, ..away });
        let account = Seen { has_account: true, ..away };
        let fine = Means { near: true, online: false, is_found: true };
        let silent = Means { is_found: false, ..fine };
        let (off, online) = (Means::default(), Means { near: false, online: true, is_found: false });
        for (friend, here, expected) in [
            (there, off, Unreached::Unspecified),
            (away, off, Unreached::NoCarrier),
            (left, off, Unreached::NoCarrier),
            (away, online, Unreached::NoCarrier),
            (account, online, Unreached::NotHeard),
            (left, fine, Unreached::Left),
            (left, silent, Unreached::Left),
            (away, silent, Unreached::NotFound),
            (away, fine, Unreached::NotHeard),
        ] {
            assert_eq!(why(friend, here), expected, "{friend:?} {here:?}");
        }
    }
}
