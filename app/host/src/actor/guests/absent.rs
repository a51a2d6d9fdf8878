//! Stub for builds without the feature `guest`: no code can be shown.
#![expect(clippy::unused_self, reason = "the signatures are those of the feature")]

use proto::control::{self, RefusalCode};
use session::{MatchId, Saying};

use crate::actor::Actor;
use crate::guests::GuestEffect;
use crate::refusal::Refusal;
use crate::responder::Answer;

fn without() -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, "this host was built without guests")
}

impl Actor {
    pub(crate) fn show_guest_code(&mut self, _: &control::ShowGuestCode) -> Result<Answer, Refusal> {
        Err(without())
    }

    pub(crate) fn close_guest_code(&mut self, _: &control::CloseGuestCode) -> Result<Answer, Refusal> {
        Err(without())
    }

    pub(crate) fn answer_guest(&mut self, _: &control::AnswerGuest) -> Result<Answer, Refusal> {
        Err(without())
    }

    pub(crate) fn set_hotspot(&mut self, _: bool) -> Result<Answer, Refusal> {
        Err(without())
    }

    pub(crate) fn do_guest_effects(&mut self, effects: impl IntoIterator<Item = GuestEffect>) {
        if let Some(none) = effects.into_iter().next() {
            match none {}
        }
    }

    pub(crate) fn say_to_guests(&mut self, _: MatchId, _: &Saying) -> Result<(), Refusal> {
        Err(without())
    }

    pub(crate) fn show_guests(&mut self, _: MatchId) {}

    pub(crate) fn show_unseen(&mut self, _: MatchId) {}

    pub(crate) fn show_all_unseen(&mut self) {}

    pub(crate) fn show_club_to_guests(&self, _: u32) {}

    pub(crate) fn close_evening(&mut self, _: u32) -> bool {
        false
    }
}
