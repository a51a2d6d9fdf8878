//! Stub for builds without the feature `guest`: guest seats are shown, and wait.
#![expect(clippy::unused_self, reason = "the signatures are those of the feature")]

use std::collections::BTreeMap;

use engine::Side;
use proto::control::event;
use session::MatchId;
use tokio::time::Instant;

use crate::config::HostConfig;
use crate::room::{Room, Seat};

type Rooms = BTreeMap<MatchId, Room>;

pub(crate) struct Guests;

/// None.
pub(crate) enum GuestEffect {}

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

    pub(crate) fn port(&self) -> Option<(u16, bool)> {
        None
    }

    pub(crate) fn is_present(&self, _: MatchId, _: Side) -> bool {
        false
    }

    pub(crate) fn keep_waiting(&self, room: &Room) -> bool {
        room.seats.iter().any(|seat| matches!(seat, Seat::Guest(_)))
    }

    pub(crate) fn events(&self, _: &Rooms) -> Vec<event::Body> {
        Vec::new()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        None
    }

    pub(crate) fn on_time(&mut self, _: &Rooms) -> Vec<GuestEffect> {
        Vec::new()
    }

    pub(crate) fn stop(&mut self, _: &Rooms) -> Vec<GuestEffect> {
        Vec::new()
    }

    pub(crate) fn follow(&mut self, _: MatchId, _: MatchId, _: bool, _: &Rooms) -> Vec<GuestEffect> {
        Vec::new()
    }

    pub(crate) fn leave(&mut self, _: MatchId, _: &Rooms) -> Vec<GuestEffect> {
        Vec::new()
    }

    pub(crate) fn seats_changed(&mut self, _: MatchId, _: &Rooms) -> Vec<GuestEffect> {
        Vec::new()
    }
}
