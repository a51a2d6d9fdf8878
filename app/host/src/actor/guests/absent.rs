//! Stub for builds without the feature `guest`: guest seats are shown, and wait.
#![expect(clippy::unused_self, reason = "the signatures are those of the feature")]

use engine::Side;
use proto::control::{self, RefusalCode, event};
use session::{MatchId, Saying};
use tokio::time::Instant;

use crate::actor::Actor;
use crate::config::HostConfig;
use crate::refusal::Refusal;
use crate::responder::Answer;
use crate::room::{Room, Seat};

pub(crate) struct Guests;

impl Guests {
    pub(crate) fn new(_: &HostConfig) -> Self {
        Self
    }

    pub(crate) fn after_crash(_: &HostConfig) -> Option<std::future::Ready<()>> {
        None
    }

    pub(crate) fn are_possible(&self) -> bool {
        false
    }
}

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

    pub(crate) fn waits_for_guest(&self, room: &Room) -> bool {
        room.seats.iter().any(|seat| matches!(seat, Seat::Guest(_)))
    }

    pub(crate) fn guest_is_present(&self, _: MatchId, _: Side) -> bool {
        false
    }

    pub(crate) fn say_to_guests(&mut self, _: MatchId, _: &Saying) -> Result<(), Refusal> {
        Err(without())
    }

    pub(crate) fn show_guests(&mut self, _: MatchId) {}

    pub(crate) fn show_club_to_guests(&self, _: u32) {}

    pub(crate) fn guests_follow(&mut self, _: MatchId, _: MatchId, _: bool) {}

    pub(crate) fn guests_leave(&mut self, _: MatchId) {}

    pub(crate) fn guest_seats_changed(&mut self, _: MatchId) {}

    pub(crate) fn guest_events(&self) -> Vec<event::Body> {
        Vec::new()
    }

    pub(crate) fn guests_deadline(&self) -> Option<Instant> {
        None
    }

    pub(crate) fn guests_on_time(&mut self) {}

    pub(crate) fn send_guests_home(&mut self) {}
}
