//! New matches by letter: what is asked, and how it is answered.

use std::time::Duration;

use bytes::Bytes;
use engine::Side;
use proto::control::{ColourChoice, RefusalCode};
use proto::peer::{DeclineReason, Envelope, InviteAnswer, Record, invite_answer};
use session::MatchId;
use tokio::time::Instant;

use crate::dialing::Target;
use crate::invitations::{Invitation, Wish};
use crate::refusal::Refusal;
use crate::room::PlayerId;
use crate::show;

/// Lifetime of an unanswered invitation by letter.
const ASKED_FOR: Duration = Duration::from_hours(24 * 30);

/// Checks whether a friend can be asked for this by letter.
pub(crate) fn check(wish: &Wish, has_account: bool, is_online: bool) -> Result<(), Refusal> {
    let bad = |what: &str| Err(Refusal::new(RefusalCode::RefusalBadRequest, what));
    if !has_account {
        return Err(Refusal::new(
            RefusalCode::RefusalCannotReach,
            "no account of this friend is known: meet once online, or read a code that holds it",
        ));
    }
    if !is_online {
        return bad("this host was started without online play");
    }
    if wish.pace.is_some() {
        return bad("a match by letter has no clocks");
    }
    Ok(())
}

/// This device's side. The friend sees the sides before answering, so that a joint draw is impossible. `last`: this device's side
/// in the last match of this game with the friend. `fraction`: random, from 0 to 1.
pub(crate) fn my_side<E>(
    colours: ColourChoice,
    last: impl FnOnce() -> Result<Option<Side>, E>,
    fraction: impl FnOnce() -> f64,
) -> Result<Side, E> {
    Ok(match colours {
        ColourChoice::ColourFirst => Side::First,
        ColourChoice::ColourSecond => Side::Second,
        ColourChoice::ColourAlternate | ColourChoice::ColourRandom | ColourChoice::ColourUnspecified => {
            match last()?.filter(|_| colours == ColourChoice::ColourAlternate) {
                Some(last) => last.other(),
                None if fraction() < 0.5 => Side::First,
                None => Side::Second,
            }
        }
    })
}

/// The invitation in a friend's letter, if it is one.
pub(crate) fn invitation(from: PlayerId, record: Record, now: Instant) -> Option<(MatchId, Invitation)> {
    let (id, setup, my_side) = session::asked_by_letter(&record)?;
    let invitation = Invitation {
        target: Target::Friend(from),
        mine: false,
        setup,
        pace: None,
        colours: show::colours(session::Colours::Mine(my_side)),
        hints: false,
        my_side: Some(my_side),
        counters: None,
        until: now + ASKED_FOR,
        sent: true,
        letter: Some(Box::new(record)),
    };
    Some((id, invitation))
}

/// The letter that declines an invitation.
pub(crate) fn decline(id: MatchId, reason: DeclineReason) -> Envelope {
    let answer = Some(invite_answer::Answer::Decline(reason.into()));
    let invite_id = Bytes::copy_from_slice(&id.0);
    Envelope::InviteAnswer(InviteAnswer { invite_id, answer, ..InviteAnswer::default() })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use engine::GameKind;
    use session::Pace;

    use super::*;

    #[test]
    fn a_friend_is_asked_by_letter_only_with_an_account_and_without_clocks() {
        let setup = GameKind::Gomoku.default_setup();
        let wish = |pace| Wish {
            setup: setup.clone(),
            pace,
            colours: ColourChoice::ColourRandom,
            hints: false,
            counters: None,
        };
        assert!(check(&wish(None), true, true).is_ok());
        let pace = Some(Pace::PerMove { each: Duration::from_mins(1) });
        for (pace, has_account, is_online, code) in [
            (None, false, true, RefusalCode::RefusalCannotReach),
            (None, true, false, RefusalCode::RefusalBadRequest),
            (pace, true, true, RefusalCode::RefusalBadRequest),
        ] {
            let refusal = check(&wish(pace), has_account, is_online).expect_err("it cannot be");
            assert_eq!(refusal.code, code, "{}", refusal.detail);
        }
    }

    #[test]
    fn the_side_is_chosen_drawn_or_the_other_one_than_last() {
        use ColourChoice::{ColourAlternate, ColourFirst, ColourRandom, ColourSecond, ColourUnspecified};
        let side = |colours, last, fraction| match my_side(colours, || Ok::<_, Infallible>(last), || fraction)
        {
            Ok(side) => side,
            Err(never) => match never {},
        };
        for last in [None, Some(Side::First), Some(Side::Second)] {
            for fraction in [0.2, 0.7] {
                let drawn = if fraction < 0.5 { Side::First } else { Side::Second };
                assert_eq!(side(ColourFirst, last, fraction), Side::First);
                assert_eq!(side(ColourSecond, last, fraction), Side::Second);
                assert_eq!(side(ColourRandom, last, fraction), drawn);
                assert_eq!(side(ColourUnspecified, last, fraction), drawn);
                assert_eq!(side(ColourAlternate, last, fraction), last.map_or(drawn, Side::other));
            }
        }
    }
}
