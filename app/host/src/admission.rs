//! Whether a link stays: decided once the handshake is over and it is known who is at the other end.
//!
//! Pure: what it decides by is handed in, and what is to be done comes out.

use std::time::Duration;

use link::CarrierKind;
use session::Role;

use crate::room::PlayerId;

/// Two links to the same peer that came up within this time are both sides' dialing at once; later, a new link means that
/// the old one is dead on the other side. Longer than a slow Bluetooth connect, shorter than any restart of a host.
const GLARE: Duration = Duration::from_secs(3);

/// Unknown devices that may be connected at a time: two people cannot compare strings with more, and each costs one of a
/// controller's few connections.
const MAX_STRANGERS: usize = 3;

/// A stranger whose string has been shown for so long gives way to another one: two people who want to meet are beside each
/// other and have compared by then.
const COMPARING_GRACE: Duration = Duration::from_secs(30);

/// A link of which the other end is known.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) role: Role,
    pub(crate) carrier: CarrierKind,
    pub(crate) standing: Standing,
    /// It was dialed for a certain friend, and somebody else answers.
    pub(crate) is_another: bool,
    /// The link in use with the same player: its role, and for how long it has been up.
    pub(crate) in_use: Option<(Role, Duration)>,
}

/// What the player at the other end is to this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The person here wants nothing to do with this player.
    Blocked,
    /// A friend whose journal cannot be written just now.
    Unwritable,
    Friend,
    Stranger,
    /// A stranger whom a person here has sent away a moment ago.
    SentAway,
}

/// What the host would do just now.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// A person here wants to be found by everyone.
    pub(crate) open_to_strangers: bool,
    /// One more stranger may ring.
    pub(crate) may_ring: bool,
    /// The strangers that are connected.
    pub(crate) strangers: Vec<Waiting>,
    /// This device's key is the lower one of the two.
    pub(crate) has_lower_key: bool,
}

/// A stranger that is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) key: PlayerId,
    /// Since its link came up.
    pub(crate) age: Duration,
    /// The person here has dialed it, or has answered its string.
    pub(crate) is_wanted: bool,
    /// Its string is on the screen.
    pub(crate) is_shown: bool,
}

/// What becomes of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is used. An older link to the same player is replaced.
    Take,
    /// It is used, and this stranger's link is closed for it.
    InPlaceOf(PlayerId),
    /// It is closed.
    Refuse(Why),
}

/// Why a link is closed at once. The peer is not told which: only that this device leaves, or that another link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Blocked,
    Unwritable,
    SentAway,
    /// An address from an old friend code, or somebody who repeats a friend's tag.
    Another,
    /// Only friends may connect.
    FriendsOnly,
    /// Others wait for the person here, and none of them for long.
    Crowded,
    /// Strangers have rung often enough lately.
    RangLately,
    /// Both sides have dialed: the other link is kept.
    Glare,
}

/// What becomes of this caller's link.
pub(crate) fn admit(caller: &Caller, rules: &Rules) -> Verdict {
    match caller.standing {
        Standing::Blocked => return Verdict::Refuse(Why::Blocked),
        Standing::Unwritable => return Verdict::Refuse(Why::Unwritable),
        _ if caller.is_another => return Verdict::Refuse(Why::Another),
        Standing::SentAway if caller.role == Role::Listener => return Verdict::Refuse(Why::SentAway),
        Standing::Friend | Standing::Stranger | Standing::SentAway => {}
    }
    if let Some((role, age)) = caller.in_use {
        let both_dialed = role != caller.role && age < GLARE;
        let keep_new = !both_dialed || (caller.role == Role::Dialer) == rules.has_lower_key;
        return if keep_new { Verdict::Take } else { Verdict::Refuse(Why::Glare) };
    }
    if caller.standing == Standing::Friend {
        return Verdict::Take;
    }
    if caller.role == Role::Listener {
        // Who has been accepted as a contact of the account was given leave with that.
        if !rules.open_to_strangers && caller.carrier != CarrierKind::Online {
            return Verdict::Refuse(Why::FriendsOnly);
        }
        if !rules.may_ring {
            return Verdict::Refuse(Why::RangLately);
        }
    }
    if rules.strangers.len() < MAX_STRANGERS {
        return Verdict::Take;
    }
    // Those without a string first: they show nothing to anybody.
    let gives_way = |one: &&Waiting| !one.is_wanted && (!one.is_shown || one.age >= COMPARING_GRACE);
    let oldest = rules.strangers.iter().filter(gives_way).max_by_key(|one| (!one.is_shown, one.age));
    oldest.map_or(Verdict::Refuse(Why::Crowded), |oldest| Verdict::InPlaceOf(oldest.key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(standing: Standing) -> Caller {
        Caller {
            role: Role::Listener,
            carrier: CarrierKind::Bluetooth,
            standing,
            is_another: false,
            in_use: None,
        }
    }

    fn open() -> Rules {
        Rules { open_to_strangers: true, may_ring: true, strangers: Vec::new(), has_lower_key: true }
    }

    fn waiting(number: u8, seconds: u64, is_shown: bool) -> Waiting {
        let (key, age) = (PlayerId([number; 32]), Duration::from_secs(seconds));
        Waiting { key, age, is_wanted: false, is_shown }
    }

    fn crowd(strangers: [Waiting; 3]) -> Rules {
        Rules { strangers: strangers.to_vec(), ..open() }
    }

    #[test]
    fn a_friend_always_finds_a_place() {
        let full = crowd([1, 2, 3].map(|number| waiting(number, 0, true)));
        let closed = Rules { open_to_strangers: false, may_ring: false, ..full };
        for role in [Role::Dialer, Role::Listener] {
            assert_eq!(admit(&Caller { role, ..caller(Standing::Friend) }, &closed), Verdict::Take);
        }
    }

    #[test]
    fn nobody_blocked_and_nobody_whose_moves_cannot_be_kept_is_let_in() {
        assert_eq!(admit(&caller(Standing::Blocked), &open()), Verdict::Refuse(Why::Blocked));
        assert_eq!(admit(&caller(Standing::Unwritable), &open()), Verdict::Refuse(Why::Unwritable));
    }

    #[test]
    fn a_stranger_who_was_sent_away_comes_back_only_when_a_person_here_asks_for_it() {
        let sent_away = caller(Standing::SentAway);
        assert_eq!(admit(&sent_away, &open()), Verdict::Refuse(Why::SentAway));
        assert_eq!(admit(&Caller { role: Role::Dialer, ..sent_away }, &open()), Verdict::Take);
    }

    #[test]
    fn who_answers_in_another_ones_place_is_let_go() {
        for standing in [Standing::Friend, Standing::Stranger] {
            let dialed = Caller { role: Role::Dialer, is_another: true, ..caller(standing) };
            assert_eq!(admit(&dialed, &open()), Verdict::Refuse(Why::Another));
        }
    }

    #[test]
    fn a_stranger_calls_only_where_everyone_may_and_not_too_often() {
        let stranger = caller(Standing::Stranger);
        assert_eq!(admit(&stranger, &open()), Verdict::Take);
        let friends_only = Rules { open_to_strangers: false, ..open() };
        assert_eq!(admit(&stranger, &friends_only), Verdict::Refuse(Why::FriendsOnly));
        let contact = Caller { carrier: CarrierKind::Online, ..stranger.clone() };
        assert_eq!(admit(&contact, &friends_only), Verdict::Take);
        let rang = Rules { may_ring: false, ..open() };
        assert_eq!(admit(&stranger, &rang), Verdict::Refuse(Why::RangLately));
        let dialed = Caller { role: Role::Dialer, ..stranger };
        assert_eq!(admit(&dialed, &Rules { open_to_strangers: false, ..rang }), Verdict::Take);
    }

    #[test]
    fn of_three_strangers_the_one_that_shows_nothing_gives_way_first_and_then_the_oldest() {
        let stranger = caller(Standing::Stranger);
        let gone = |rules: &Rules| admit(&stranger, rules);
        let silent = crowd([waiting(1, 90, true), waiting(2, 1, false), waiting(3, 2, false)]);
        assert_eq!(gone(&silent), Verdict::InPlaceOf(PlayerId([3; 32])));
        let compared = crowd([waiting(1, 31, true), waiting(2, 90, true), waiting(3, 2, true)]);
        assert_eq!(gone(&compared), Verdict::InPlaceOf(PlayerId([2; 32])));
        let fresh = crowd([waiting(1, 29, true), waiting(2, 3, true), waiting(3, 2, true)]);
        assert_eq!(gone(&fresh), Verdict::Refuse(Why::Crowded));
        let mut wanted = compared;
        wanted.strangers[1].is_wanted = true;
        assert_eq!(gone(&wanted), Verdict::InPlaceOf(PlayerId([1; 32])));
    }

    #[test]
    fn of_two_links_that_were_dialed_at_once_both_sides_keep_the_same() {
        let second = Duration::from_secs(1);
        for has_lower_key in [true, false] {
            let rules = Rules { has_lower_key, ..open() };
            for (role, other) in [(Role::Dialer, Role::Listener), (Role::Listener, Role::Dialer)] {
                let new = Caller { role, in_use: Some((other, second)), ..caller(Standing::Friend) };
                let kept = admit(&new, &rules) == Verdict::Take;
                // At the other end the same link has the other role, and the other key is the lower one.
                let there = Caller { role: other, in_use: Some((role, second)), ..new.clone() };
                let kept_there =
                    admit(&there, &Rules { has_lower_key: !has_lower_key, ..open() }) == Verdict::Take;
                assert_eq!(kept, kept_there, "{role:?}, lower: {has_lower_key}");
            }
            let later = Caller { in_use: Some((Role::Dialer, GLARE)), ..caller(Standing::Friend) };
            assert_eq!(admit(&later, &rules), Verdict::Take, "the old one is dead on the other side");
        }
    }
}
