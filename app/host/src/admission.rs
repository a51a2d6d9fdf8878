//! Decides after the handshake, when the peer's key is known, whether a link is kept.
//!
//! Pure functions: inputs are parameters, the effect is the return value.

use std::time::Duration;

use link::CarrierKind;
use proto::peer::{self, Envelope};
use session::{MatchId, Role};

use crate::room::PlayerId;

/// If two links to one peer come up within this time, both sides have dialed simultaneously (glare). Later, a new link means
/// that the old one is dead at the other side. Longer than a slow Bluetooth connect, shorter than any restart of a host.
const GLARE: Duration = Duration::from_secs(3);

/// Maximum number of connected strangers: a user cannot compare strings with more, and each takes one of a controller's few
/// connections.
const MAX_STRANGERS: usize = 3;

/// A stranger whose string has been shown for this time can be displaced by another: two people who want to meet are beside
/// each other and compare within it.
const COMPARING_GRACE: Duration = Duration::from_secs(30);

/// A stranger whose string is not shown yet keeps a carrier's last place for this time: half of the time limit for the string, and
/// longer than a hello takes on a bad Bluetooth link.
const HELLO_GRACE: Duration = Duration::from_secs(5);

/// A link whose peer is authenticated.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) role: Role,
    pub(crate) carrier: CarrierKind,
    pub(crate) standing: Standing,
    /// The link was dialed for a certain friend, but the peer has another key.
    pub(crate) is_another: bool,
    /// The current link with the same player, if any: this device's role in it, and its age.
    pub(crate) in_use: Option<(Role, Duration)>,
    /// The caller's rate limit of links is exceeded.
    pub(crate) connects_too_often: bool,
}

/// Relation of this device to the player at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Blocked by the user.
    Blocked,
    /// A friend whose matches cannot be written to the journal at present.
    Unwritable,
    Friend,
    Stranger,
    /// A stranger whom the user has sent away recently.
    SentAway,
}

/// Present state of the host that admission depends on.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The user has chosen to be visible to everyone.
    pub(crate) open_to_strangers: bool,
    /// The rate limit of strangers allows one more.
    pub(crate) may_ring: bool,
    /// The connected strangers.
    pub(crate) strangers: Vec<Waiting>,
    /// This device's key is lower than the caller's.
    pub(crate) has_lower_key: bool,
}

/// A connected stranger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) key: PlayerId,
    /// Since its link came up.
    pub(crate) age: Duration,
    /// The user has dialed this stranger, or has answered its comparison.
    pub(crate) is_wanted: bool,
    /// Its short string is shown.
    pub(crate) is_shown: bool,
}

/// The decision about the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The link is used. An older link to the same player is replaced.
    Take,
    /// The link is used, and the link of this stranger is closed to make room.
    InPlaceOf(PlayerId),
    /// The link is closed.
    Refuse(Why),
}

/// Why a link is closed. The peer is not told: it receives only BYE_LEAVING or BYE_REPLACED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Blocked,
    Unwritable,
    SentAway,
    /// Somebody else answered: the address is from an outdated friend code, or another device repeats a friend's tag.
    Another,
    /// Visible to friends only.
    FriendsOnly,
    /// The maximum number of strangers is connected, and none can be displaced yet.
    Crowded,
    /// The rate limit of strangers is exceeded.
    RangLately,
    /// Both sides have dialed: the other link is kept.
    Glare,
    /// The rate limit of a friend's links is exceeded.
    TooOften,
}

/// Decides what happens to this link.
pub(crate) fn admit(caller: &Caller, rules: &Rules) -> Verdict {
    match caller.standing {
        Standing::Blocked => return Verdict::Refuse(Why::Blocked),
        Standing::Unwritable => return Verdict::Refuse(Why::Unwritable),
        _ if caller.is_another => return Verdict::Refuse(Why::Another),
        _ if caller.connects_too_often => return Verdict::Refuse(Why::TooOften),
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
        // Accepting a contact of the account includes the permission to connect.
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
    let oldest = oldest_that_gives_way(&rules.strangers, Duration::ZERO);
    oldest.map_or(Verdict::Refuse(Why::Crowded), Verdict::InPlaceOf)
}

/// The stranger whose link ends because a peer was turned away by the carrier, before a handshake could tell who it is. The peer
/// may be a friend. Two strangers who try in turn cannot displace each other for ever: each keeps its place long enough for its
/// string to be shown and compared.
pub(crate) fn gives_way(strangers: &[Waiting]) -> Option<PlayerId> {
    oldest_that_gives_way(strangers, HELLO_GRACE)
}

/// The stranger who has to give up a carrier that a link has to itself, and in what time: while the link is up, nobody hears this
/// device, so a friend who wants to connect is not even turned away. None while one of the strangers is wanted.
fn gives_up_the_air(strangers: &[Waiting]) -> Option<(PlayerId, Duration)> {
    if strangers.iter().any(|one| one.is_wanted) {
        return None;
    }
    let left = |one: &Waiting| (one.key, grace(one, HELLO_GRACE).saturating_sub(one.age));
    strangers.iter().map(left).min_by_key(|(_, left)| *left)
}

/// As [`gives_up_the_air`], for a carrier with so many links to known peers: nobody gives it up while a friend is linked there, or
/// while there is no friend who may come.
pub(crate) fn gives_up_held_air(
    strangers: &[Waiting],
    links: usize,
    friend_may_come: impl FnOnce() -> bool,
) -> Option<(PlayerId, Duration)> {
    let is_held = links == strangers.len() && friend_may_come();
    gives_up_the_air(strangers).filter(|_| is_held)
}

/// The id that a message gives to a match or an invitation of its sender; `None` if it gives none. An id outside the sender's own
/// session is not heard: one with somebody else, or one that is closed. Ids are 16 random bytes, so that an honest device never
/// uses such an id by chance; accepting it would let a peer overwrite matches of others.
pub(crate) fn claimed(envelope: &Envelope) -> Option<MatchId> {
    let (Envelope::Invite(peer::Invite { invite_id: claimed, .. })
    | Envelope::Record(peer::Record { match_id: claimed, .. })) = envelope
    else {
        return None;
    };
    <[u8; 16]>::try_from(&claimed[..]).ok().map(MatchId)
}

/// How long a stranger keeps its place at least.
fn grace(one: &Waiting, hello_grace: Duration) -> Duration {
    if one.is_shown { COMPARING_GRACE } else { hello_grace }
}

fn oldest_that_gives_way(strangers: &[Waiting], hello_grace: Duration) -> Option<PlayerId> {
    let gives_way = |one: &&Waiting| !one.is_wanted && one.age >= grace(one, hello_grace);
    // Strangers without a string are displaced first: they show nothing to the user.
    strangers.iter().filter(gives_way).max_by_key(|one| (!one.is_shown, one.age)).map(|one| one.key)
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
            connects_too_often: false,
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
    fn the_last_place_of_a_carrier_is_given_up_once_a_string_could_be_shown_and_compared() {
        let gone = |one: Waiting| gives_way(&[one]).is_some();
        assert_eq!(gives_way(&[]), None);
        assert!(!gone(waiting(1, 4, false)) && gone(waiting(1, 5, false)));
        assert!(!gone(waiting(1, 29, true)) && gone(waiting(1, 30, true)));
        assert!(!gone(Waiting { is_wanted: true, ..waiting(1, 90, true) }));
    }

    #[test]
    fn the_air_is_given_up_after_a_fair_time_but_not_by_whom_the_person_wants() {
        let seconds = Duration::from_secs;
        let key = |number: u8| PlayerId([number; 32]);
        assert_eq!(gives_up_the_air(&[]), None);
        assert_eq!(gives_up_the_air(&[waiting(1, 10, true)]), Some((key(1), seconds(20))));
        assert_eq!(
            gives_up_the_air(&[waiting(1, 10, true), waiting(2, 1, false)]),
            Some((key(2), seconds(4)))
        );
        assert_eq!(gives_up_the_air(&[waiting(1, 90, true)]), Some((key(1), seconds(0))));
        let wanted = Waiting { is_wanted: true, ..waiting(2, 90, true) };
        assert_eq!(gives_up_the_air(&[waiting(1, 90, true), wanted]), None);
    }

    #[test]
    fn of_two_links_that_were_dialed_at_once_both_sides_keep_the_same() {
        let second = Duration::from_secs(1);
        for has_lower_key in [true, false] {
            let rules = Rules { has_lower_key, ..open() };
            let mut links_kept = 0;
            for (role, other) in [(Role::Dialer, Role::Listener), (Role::Listener, Role::Dialer)] {
                let new = Caller { role, in_use: Some((other, second)), ..caller(Standing::Friend) };
                let kept = admit(&new, &rules) == Verdict::Take;
                // From the other end the same link has the other role, and the comparison of keys is inverted.
                let there = Caller { role: other, in_use: Some((role, second)), ..new.clone() };
                let kept_there =
                    admit(&there, &Rules { has_lower_key: !has_lower_key, ..open() }) == Verdict::Take;
                assert_eq!(kept, kept_there, "{role:?}, lower: {has_lower_key}");
                links_kept += usize::from(kept);
            }
            assert_eq!(links_kept, 1, "lower: {has_lower_key}");
            let later = Caller { in_use: Some((Role::Dialer, GLARE)), ..caller(Standing::Friend) };
            assert_eq!(admit(&later, &rules), Verdict::Take, "the old one is dead on the other side");
        }
    }

    #[test]
    fn a_radio_that_a_friend_uses_or_to_which_no_friend_may_come_is_not_given_up() {
        let strangers = [waiting(1, 10, true)];
        assert!(gives_up_held_air(&strangers, 1, || true).is_some());
        assert_eq!(gives_up_held_air(&strangers, 2, || true), None, "a friend is linked there");
        assert_eq!(gives_up_held_air(&strangers, 1, || false), None, "no friend may come");
        assert_eq!(gives_up_held_air(&[], 0, || true), None, "nobody holds it");
    }

    #[test]
    fn an_invitation_and_a_record_claim_an_id_and_nothing_else_does() {
        let id = || vec![7; 16].into();
        let invite = peer::Invite { invite_id: id(), ..peer::Invite::default() };
        assert_eq!(claimed(&invite.into()), Some(MatchId([7; 16])));
        let record = peer::Record { match_id: id(), ..peer::Record::default() };
        assert_eq!(claimed(&record.into()), Some(MatchId([7; 16])));
        let broken = peer::Record { match_id: vec![7; 15].into(), ..peer::Record::default() };
        assert_eq!(claimed(&broken.into()), None, "no id: the session refuses it");
        assert_eq!(claimed(&peer::Ping { token: 7 }.into()), None);
    }
}
