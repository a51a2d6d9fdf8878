//! Commands about guests: people with a browser.

use client::{json, words};
use proto::board::Side;
use proto::control::{self, HotspotState, Room, event, reply, request, seat};
use serde_json::json;

use crate::arguments::{GuestCommand, GuestPlace, SideChoice};
use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected, within};
use crate::text;

impl Conversation {
    pub(crate) async fn guest(&mut self, command: GuestCommand) -> Result<(), Failure> {
        match command {
            GuestCommand::Code { plain, renew, place } => {
                let show = if place.evening {
                    control::ShowGuestCode { club_id: self.open_evening()?, renew, ..Default::default() }
                } else {
                    let (room_id, side) = self.place(&place)?;
                    let watch = place.watch;
                    control::ShowGuestCode { room_id, side, watch, renew, ..Default::default() }
                };
                let asked = request::Body::ShowGuestCode(show);
                let reply::Body::GuestCode(code) = self.host.ask(asked).await? else {
                    return Err(unexpected());
                };
                let qr = text::qr(code.side, &code.dark);
                let all =
                    || [&code.url].into_iter().chain(&code.others).cloned().collect::<Vec<_>>().join("\n");
                self.print(
                    || if plain { code.url.clone() } else { format!("{qr}\n{}", all()) },
                    || json!({"url": code.url, "others": code.others, "side": code.side, "qr": qr, "seat": words::side(code.seat)}),
                )
            }
            GuestCommand::Close { place } => {
                let close = if place.evening {
                    control::CloseGuestCode { club_id: self.open_evening()?, ..Default::default() }
                } else {
                    let (room_id, side) = self.place(&place)?;
                    control::CloseGuestCode { room_id, side, watch: place.watch, ..Default::default() }
                };
                self.ask_done(request::Body::CloseGuestCode(close)).await
            }
            GuestCommand::LetIn { place } => self.answer_guest(&place, true).await,
            GuestCommand::TurnAway { place } => self.answer_guest(&place, false).await,
            GuestCommand::List => self
                .host
                .state()
                .guests
                .values()
                .try_for_each(|guest| self.print(|| text::guest(guest), || json::guest(guest))),
            GuestCommand::Hotspot { off: true } => {
                self.ask_done(request::Body::SetHotspot(control::SetHotspot { on: false })).await
            }
            GuestCommand::Hotspot { off: false } => self.make_hotspot().await,
        }
    }

    async fn make_hotspot(&mut self) -> Result<(), Failure> {
        /// The host gives up sooner.
        const UP_SECONDS: u64 = 90;
        self.host.ask(request::Body::SetHotspot(control::SetHotspot { on: true })).await?;
        let deadline = within(UP_SECONDS);
        while self.host.state().hotspot.state() != HotspotState::HotspotOn {
            let Some(event) = self.host.next_until(deadline).await? else {
                return Err(Failure::NotToBe("the network did not come up".into()));
            };
            if let Some(event::Body::Hotspot(one)) = &event.body
                && one.state() == HotspotState::HotspotOff
            {
                let why = one.trouble.as_ref().map_or("it was ended", |words| &words.en);
                return Err(Failure::NotToBe(why.into()));
            }
        }
        let hotspot = self.host.state().hotspot.clone();
        let qr = text::qr(hotspot.side, &hotspot.dark);
        let text = || format!("{qr}\n{}\npassphrase {}", hotspot.ssid, hotspot.passphrase);
        self.print(text, || json::hotspot(&hotspot))
    }

    async fn answer_guest(&mut self, place: &GuestPlace, accept: bool) -> Result<(), Failure> {
        if place.evening {
            return Err(Failure::Usage("whoever looks at an evening takes no seat by its code".into()));
        }
        let (room_id, side) = self.place(place)?;
        let answer = control::AnswerGuest { room_id, side, accept };
        self.ask_done(request::Body::AnswerGuest(answer)).await
    }

    /// The id of the evening of this device that is not finished.
    fn open_evening(&self) -> Result<String, Failure> {
        let is_open = |club: &&control::Club| {
            club.keeper.is_empty() && club.state() != control::ClubState::ClubFinished
        };
        let club = self.host.state().clubs.values().find(is_open);
        let none = || Failure::NotToBe("no evening of this device is unfinished".into());
        club.map(|club| club.id.clone()).ok_or_else(none)
    }

    /// The room and the side's number that are meant.
    fn place(&self, place: &GuestPlace) -> Result<(String, i32), Failure> {
        let guest = |seat: &control::Seat| matches!(seat.who, Some(seat::Who::Guest(_)));
        let fits = |room: &Room| place.watch || [&room.first, &room.second].into_iter().flatten().any(guest);
        let side = match place.side {
            None => Side::Unspecified,
            Some(SideChoice::First) => Side::First,
            Some(SideChoice::Second) => Side::Second,
        };
        Ok((self.room(place.room.room.as_deref(), fits)?.id, side.into()))
    }
}
