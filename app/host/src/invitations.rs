//! The open invitations, sent and received. The session has its own state for each; here an invitation can also wait for a link.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{AnyGame, Language, Setup, Side};
use link::Address;
use proto::control::{self, ColourChoice, InvitationEnd, RefusalCode};
use session::{Colours, MatchId, Pace, Terms, wire};
use tokio::time::Instant;

use crate::dialing::Target;
use crate::games;
use crate::refusal::Refusal;
use crate::room::PlayerId;
use crate::show;

/// Time limit for an invitation that waits for its link; longer than any goal of `dialing` lasts.
const UNSENT: Duration = Duration::from_mins(5);

/// Time limit of the session for an invitation that was sent.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// An invitation, sent or received.
#[derive(Clone, Debug)]
pub(crate) struct Invitation {
    pub(crate) target: Target,
    pub(crate) mine: bool,
    pub(crate) setup: Setup,
    pub(crate) pace: Option<Pace>,
    pub(crate) colours: ColourChoice,
    /// Whether both may take hints.
    pub(crate) hints: bool,
    /// This device's side, once determined.
    pub(crate) my_side: Option<Side>,
    /// Id of the invitation that this one answers as a counter-offer.
    pub(crate) counters: Option<MatchId>,
    pub(crate) until: Instant,
    /// Sent invitations only: the session has it.
    pub(crate) sent: bool,
    /// For an invitation by letter: the record at the sender. The session does not know it.
    pub(crate) letter: Option<Box<proto::peer::Record>>,
}

/// The terms that a client asks for.
pub(crate) struct Wish {
    pub(crate) setup: Setup,
    pub(crate) pace: Option<Pace>,
    /// Never unspecified.
    pub(crate) colours: ColourChoice,
    pub(crate) hints: bool,
    pub(crate) counters: Option<MatchId>,
}

impl Wish {
    /// What a client asks for, with the rules for two devices: in a race nobody begins.
    pub(crate) fn read(
        invite: &control::Invite,
        setup: Setup,
        counters: Option<MatchId>,
    ) -> Result<Self, Refusal> {
        let bad = |what: String| Refusal::new(RefusalCode::RefusalBadRequest, what);
        let pace = Pace::read(invite.pace.as_ref()).map_err(|error| bad(error.to_string()))?;
        let colours = match (invite.colours(), show::parse_side(invite.my_side)) {
            (ColourChoice::ColourUnspecified, Some(Side::First)) => ColourChoice::ColourFirst,
            (ColourChoice::ColourUnspecified, Some(Side::Second)) => ColourChoice::ColourSecond,
            (ColourChoice::ColourUnspecified, None) => ColourChoice::ColourRandom,
            (colours, _) => colours,
        };
        let Terms { setup, pace, hints, .. } =
            Terms { setup, pace, colours: Colours::Random, hints: invite.hints }.for_two();
        let colours = if setup.is_race() { ColourChoice::ColourRandom } else { colours };
        AnyGame::new(&setup).map_err(|error| games::no_game(&setup, &error))?;
        Ok(Self { setup, pace, colours, hints, counters })
    }
}

/// What a peer invites to.
pub(crate) struct Offered {
    pub(crate) terms: Terms,
    /// The invitation of this device that it counters.
    pub(crate) counters: Option<MatchId>,
    /// A match that only the peer's journal has.
    pub(crate) continued: bool,
    pub(crate) until: Instant,
}

impl Invitation {
    /// An invitation of this device that waits for its link.
    pub(crate) fn of(target: Target, wish: Wish, now: Instant) -> Self {
        let Wish { setup, pace, colours, hints, counters } = wish;
        Self {
            target,
            mine: true,
            setup,
            pace,
            colours,
            hints,
            my_side: None,
            counters,
            until: now + UNSENT,
            sent: false,
            letter: None,
        }
    }

    /// Marks that the session has it, with these colours.
    pub(crate) fn mark_sent(&mut self, my_side: Option<Side>, colours: ColourChoice, now: Instant) {
        (self.sent, self.until) = (true, now + OPEN_FOR);
        (self.my_side, self.colours) = (my_side, colours);
    }

    fn waits(&self) -> bool {
        self.mine && !self.sent
    }

    /// An invitation of a peer. `last`: this device's side in the last match with it.
    pub(crate) fn received(
        key: PlayerId,
        terms: Terms,
        counters: Option<MatchId>,
        until: Instant,
        last: impl FnOnce() -> Option<Side>,
    ) -> Self {
        let colours = match terms.colours {
            // The colours alternate according to the peer; this device's own record may differ.
            Colours::Alternate(mine) if last() != Some(mine.other()) => Colours::Mine(mine),
            colours => colours,
        };
        Self {
            target: Target::Friend(key),
            mine: false,
            my_side: terms.colours.my_side(),
            setup: terms.setup,
            pace: terms.pace,
            colours: show::colours(colours),
            hints: terms.hints,
            counters,
            until,
            sent: true,
            letter: None,
        }
    }

    /// The terms for the session. `last`: this device's side in the last match of this game with the player.
    pub(crate) fn terms<E>(&self, last: impl FnOnce() -> Result<Option<Side>, E>) -> Result<Terms, E> {
        let colours = match self.colours {
            ColourChoice::ColourFirst => Colours::Mine(Side::First),
            ColourChoice::ColourSecond => Colours::Mine(Side::Second),
            ColourChoice::ColourRandom | ColourChoice::ColourUnspecified => Colours::Random,
            ColourChoice::ColourAlternate => {
                last()?.map_or(Colours::Random, |last| Colours::Alternate(last.other()))
            }
        };
        Ok(Terms { setup: self.setup.clone(), pace: self.pace, colours, hints: self.hints })
    }

    /// The invitation for clients. `name`: whom it is to, or from.
    pub(crate) fn shown(&self, id: MatchId, name: String, now: Instant) -> control::Invitation {
        control::Invitation {
            invite_id: id.to_string(),
            peer: self.target.id(),
            name,
            mine: self.mine,
            setup: Some(wire::setup(&self.setup)),
            my_side: self.my_side.map_or(proto::board::Side::Unspecified, show::side).into(),
            expires_ms: self.until.saturating_duration_since(now).as_millis() as u32,
            rule_sheet_en: self.setup.rule_sheet(Language::English),
            rule_sheet_zh: self.setup.rule_sheet(Language::Chinese),
            pace: Pace::write(self.pace),
            pace_name: self.pace.map(games::pace_name),
            colours: self.colours.into(),
            counters: self.counters.map_or_else(String::new, |id| id.to_string()),
            by_letter: self.letter.is_some(),
            hints: self.hints,
        }
    }
}

/// How an invitation ends that could not be sent for this reason.
pub(crate) fn unsent(why: RefusalCode) -> InvitationEnd {
    match why {
        RefusalCode::RefusalBusy => InvitationEnd::InvitationBusy,
        RefusalCode::RefusalBadRequest | RefusalCode::RefusalVersion => InvitationEnd::InvitationUnknownGame,
        _ => InvitationEnd::InvitationLinkLost,
    }
}

/// All open invitations by the id of their match.
#[derive(Default)]
pub(crate) struct Invitations {
    open: BTreeMap<MatchId, Invitation>,
}

impl Invitations {
    pub(crate) fn insert(&mut self, id: MatchId, invitation: Invitation) {
        self.open.insert(id, invitation);
    }

    pub(crate) fn remove(&mut self, id: MatchId) -> Option<Invitation> {
        self.open.remove(&id)
    }

    pub(crate) fn get(&self, id: MatchId) -> Option<&Invitation> {
        self.open.get(&id)
    }

    /// An invitation of this device.
    pub(crate) fn mine(&self, id: MatchId) -> Option<&Invitation> {
        self.get(id).filter(|one| one.mine)
    }

    /// An invitation of a peer.
    pub(crate) fn theirs(&self, id: MatchId) -> Option<&Invitation> {
        self.get(id).filter(|one| !one.mine)
    }

    pub(crate) fn contains(&self, id: MatchId) -> bool {
        self.open.contains_key(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = MatchId> {
        self.open.keys().copied()
    }

    /// Whether this device has an open invitation to the target: one at a time.
    pub(crate) fn is_inviting(&self, target: &Target) -> bool {
        self.open.values().any(|one| one.mine && one.target == *target)
    }

    /// Whether the sessions of both sides have an open invitation: either side resends its own.
    pub(crate) fn is_open_with(&self, key: PlayerId) -> bool {
        self.open.values().any(|one| one.sent && one.target == Target::Friend(key))
    }

    /// Number of invitations by letter from this player.
    #[cfg_attr(not(feature = "online"), allow(dead_code, reason = "letters need an account"))]
    pub(crate) fn by_letter_of(&self, key: PlayerId) -> usize {
        self.open.values().filter(|one| one.letter.is_some() && one.target == Target::Friend(key)).count()
    }

    /// Invitations of and to this player.
    pub(crate) fn with(&self, key: PlayerId) -> Vec<MatchId> {
        self.ids_where(|one| one.target == Target::Friend(key))
    }

    /// Invitations of this device to this target that wait for a link.
    pub(crate) fn waiting_for(&self, target: &Target) -> Vec<MatchId> {
        self.ids_where(|one| one.waits() && one.target == *target)
    }

    /// Marks that the session has an invitation of this device, with these colours.
    pub(crate) fn mark_sent(
        &mut self,
        id: MatchId,
        my_side: Option<Side>,
        colours: ColourChoice,
        now: Instant,
    ) {
        if let Some(one) = self.open.get_mut(&id) {
            one.mark_sent(my_side, colours, now);
        }
    }

    /// Handles that the session of this player was rebuilt, without invitations: this device's wait to be sent again. Returns
    /// the peer's, which are lost; the peer sends them again.
    pub(crate) fn on_session_rebuilt(&mut self, key: PlayerId, now: Instant) -> Vec<MatchId> {
        let mut lost = Vec::new();
        for (id, one) in &mut self.open {
            if one.target == Target::Friend(key) && one.sent && one.letter.is_none() {
                if one.mine {
                    (one.sent, one.until, one.counters) = (false, now + UNSENT, None);
                } else {
                    lost.push(*id);
                }
            }
        }
        lost
    }

    /// Assigns invitations to the device at this address to this player, whose key is known.
    pub(crate) fn identify(&mut self, address: &Address, key: PlayerId) {
        for one in self.open.values_mut() {
            if one.target == Target::Address(address.clone()) {
                one.target = Target::Friend(key);
            }
        }
    }

    /// When the first waiting invitation is given up.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.open.values().filter(|one| one.waits()).map(|one| one.until).min()
    }

    /// Invitations that have waited too long for a link.
    pub(crate) fn expired(&self, now: Instant) -> Vec<MatchId> {
        self.ids_where(|one| one.waits() && one.until <= now)
    }

    fn ids_where(&self, fits: impl Fn(&Invitation) -> bool) -> Vec<MatchId> {
        self.open.iter().filter(|(_, one)| fits(one)).map(|(id, _)| *id).collect()
    }
}

#[cfg(test)]
mod tests {
    use engine::GameKind;
    use link::CarrierKind;

    use super::*;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    fn id(number: u8) -> MatchId {
        MatchId([number; 16])
    }

    fn wish(counters: Option<MatchId>) -> Wish {
        let setup = GameKind::Gomoku.default_setup();
        Wish { setup, pace: None, colours: ColourChoice::ColourRandom, hints: false, counters }
    }

    fn mine(target: Target, now: Instant) -> Invitation {
        Invitation::of(target, wish(None), now)
    }

    fn theirs(key: PlayerId, now: Instant) -> Invitation {
        Invitation { mine: false, sent: true, ..mine(Target::Friend(key), now) }
    }

    #[test]
    fn one_invitation_to_a_person_is_open_at_a_time_and_theirs_do_not_count() {
        let now = Instant::now();
        let mut all = Invitations::default();
        all.insert(id(1), theirs(ANNA, now));
        assert!(!all.is_inviting(&Target::Friend(ANNA)));
        all.insert(id(2), mine(Target::Friend(ANNA), now));
        assert!(all.is_inviting(&Target::Friend(ANNA)) && !all.is_inviting(&Target::Friend(BEN)));
        assert!(all.mine(id(2)).is_some() && all.theirs(id(2)).is_none());
        assert!(all.mine(id(1)).is_none() && all.theirs(id(1)).is_some());
    }

    #[test]
    fn an_invitation_waits_for_its_link_until_it_is_sent_or_its_time_is_over() {
        let now = Instant::now();
        let mut all = Invitations::default();
        all.insert(id(1), mine(Target::Friend(ANNA), now));
        all.insert(id(2), theirs(ANNA, now));
        assert_eq!(all.waiting_for(&Target::Friend(ANNA)), [id(1)]);
        assert_eq!(all.due(), Some(now + UNSENT));
        assert_eq!(all.expired(now + UNSENT / 2), []);
        assert_eq!(all.expired(now + UNSENT), [id(1)], "what the peer has sent is its session's to end");
        all.mark_sent(id(1), Some(Side::First), ColourChoice::ColourFirst, now);
        let sent = all.get(id(1)).expect("it is open");
        assert_eq!(
            (sent.my_side, sent.colours, sent.until),
            (Some(Side::First), ColourChoice::ColourFirst, now + OPEN_FOR)
        );
        assert_eq!((all.due(), all.waiting_for(&Target::Friend(ANNA))), (None, Vec::new()));
        assert_eq!(all.expired(now + 2 * UNSENT), []);
    }

    #[test]
    fn a_rebuilt_session_loses_the_peers_invitations_and_ours_wait_to_be_sent_again() {
        let now = Instant::now();
        let later = now + Duration::from_secs(30);
        let mut all = Invitations::default();
        let mut counter = Invitation::of(Target::Friend(ANNA), wish(Some(id(9))), now);
        counter.mark_sent(None, ColourChoice::ColourRandom, now);
        all.insert(id(1), counter);
        all.insert(id(2), theirs(ANNA, now));
        all.insert(id(3), theirs(BEN, now));
        let letter = Some(Box::default());
        all.insert(id(4), Invitation { letter, ..theirs(ANNA, now) });
        assert!(all.is_open_with(ANNA));
        assert_eq!(all.on_session_rebuilt(ANNA, later), [id(2)], "neither another's nor a letter");
        let ours = all.get(id(1)).expect("it is open");
        assert_eq!((ours.sent, ours.until, ours.counters), (false, later + UNSENT, None));
        assert_eq!(all.by_letter_of(ANNA), 1);
    }

    #[test]
    fn an_invitation_to_a_device_becomes_one_to_the_person_who_is_found_there() {
        let now = Instant::now();
        let at = |text: &str| Address { kind: CarrierKind::Bluetooth, text: text.into() };
        let mut all = Invitations::default();
        all.insert(id(1), mine(Target::Address(at("here")), now));
        all.insert(id(2), mine(Target::Address(at("there")), now));
        all.identify(&at("here"), ANNA);
        assert_eq!(all.with(ANNA), [id(1)]);
        assert_eq!(all.waiting_for(&Target::Address(at("there"))), [id(2)]);
    }

    #[test]
    fn who_says_no_colours_begins_by_side_or_by_lot_and_in_a_race_nobody_begins() {
        use ColourChoice::{ColourAlternate, ColourFirst, ColourRandom, ColourSecond, ColourUnspecified};
        let colours = |kind: engine::GameKind, colours: ColourChoice, side: Option<Side>| {
            let invite = control::Invite {
                colours: colours.into(),
                my_side: side.map_or(0, |side| show::side(side).into()),
                ..control::Invite::default()
            };
            Wish::read(&invite, kind.default_setup(), None).ok().map(|wish| wish.colours)
        };
        let go = engine::GameKind::Go;
        assert_eq!(colours(go, ColourUnspecified, None), Some(ColourRandom));
        assert_eq!(colours(go, ColourUnspecified, Some(Side::First)), Some(ColourFirst));
        assert_eq!(colours(go, ColourUnspecified, Some(Side::Second)), Some(ColourSecond));
        assert_eq!(colours(go, ColourAlternate, Some(Side::First)), Some(ColourAlternate));
        assert_eq!(colours(engine::GameKind::LightsOut, ColourFirst, None), Some(ColourRandom));
    }

    /// An invitation of this device to Go with these colours.
    fn asking(colours: ColourChoice) -> Invitation {
        let wish = Wish {
            setup: engine::GameKind::Go.default_setup(),
            pace: None,
            colours,
            hints: true,
            counters: None,
        };
        Invitation::of(Target::Friend(PlayerId([1; 32])), wish, Instant::now())
    }

    #[test]
    fn colours_alternate_with_the_last_match_and_are_drawn_before_the_first() {
        use ColourChoice::{ColourAlternate, ColourFirst, ColourRandom, ColourSecond};
        let colours = |choice, last| {
            let terms = asking(choice).terms(|| Ok::<_, ()>(last)).expect("the saves can be read");
            assert!(terms.hints && terms.setup == engine::GameKind::Go.default_setup());
            terms.colours
        };
        assert_eq!(colours(ColourAlternate, Some(Side::First)), Colours::Alternate(Side::Second));
        assert_eq!(colours(ColourAlternate, None), Colours::Random);
        assert_eq!(colours(ColourFirst, Some(Side::First)), Colours::Mine(Side::First));
        assert_eq!(colours(ColourSecond, None), Colours::Mine(Side::Second));
        assert_eq!(colours(ColourRandom, Some(Side::First)), Colours::Random);
        assert!(asking(ColourAlternate).terms(|| Err("a broken disk")).is_err());
        assert!(asking(ColourRandom).terms(|| Err("a broken disk")).is_ok(), "nobody needs to know");
    }

    #[test]
    fn colours_that_alternate_only_by_the_peers_record_are_shown_as_this_side() {
        let invited = |last| {
            let setup = engine::GameKind::Go.default_setup();
            let colours = Colours::Alternate(Side::Second);
            let terms = Terms { setup, pace: None, colours, hints: false };
            Invitation::received(PlayerId([1; 32]), terms, None, Instant::now(), || last)
        };
        assert_eq!(invited(Some(Side::First)).colours, ColourChoice::ColourAlternate);
        for last in [None, Some(Side::Second)] {
            let one = invited(last);
            assert_eq!((one.colours, one.my_side), (ColourChoice::ColourSecond, Some(Side::Second)));
        }
    }

    #[test]
    fn an_invitation_is_shown_with_the_time_that_is_left_and_its_rules_in_both_languages() {
        let (one, id) = (asking(ColourChoice::ColourRandom), MatchId([5; 16]));
        let shown = one.shown(id, "Ben".into(), one.until);
        assert_eq!((shown.invite_id, shown.name.as_str(), shown.expires_ms), (id.to_string(), "Ben", 0));
        assert!(shown.mine && !shown.by_letter && shown.hints);
        assert!(!shown.rule_sheet_en.is_empty() && shown.rule_sheet_en != shown.rule_sheet_zh);
        let begun = one.until.checked_sub(OPEN_FOR).expect("it waits longer");
        assert_eq!(one.shown(id, String::new(), begun).expires_ms, OPEN_FOR.as_millis() as u32);
    }

    #[test]
    fn an_invitation_that_cannot_be_sent_says_whether_asking_again_helps() {
        use control::InvitationEnd::{InvitationBusy, InvitationLinkLost, InvitationUnknownGame};
        assert_eq!(unsent(RefusalCode::RefusalBusy), InvitationBusy);
        assert_eq!(unsent(RefusalCode::RefusalVersion), InvitationUnknownGame);
        assert_eq!(unsent(RefusalCode::RefusalBadRequest), InvitationUnknownGame);
        assert_eq!(unsent(RefusalCode::RefusalLinkLost), InvitationLinkLost);
    }
}
