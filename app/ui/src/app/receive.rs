//! Handles the host's messages: events update the state and cause remarks, replies are passed to their recipients.

use std::rc::Rc;
use std::time::Duration;

use client::FromHost;
use proto::control::{self, Event, NoticeKind, RefusalCode, Reply, Room, event, reply};
use slint::ComponentHandle;

use super::{Asked, Controller, Work};
use crate::adapters;
use crate::screens::{BoardAdapter, Dialog, Page, Remark};
use senses::{Cue, Feel};

/// Display time of a chat message: a line is read in three seconds, and the eyes are on the board first.
const SAID_STAYS: Duration = Duration::from_secs(8);

impl Controller {
    pub(super) fn receive(self: &Rc<Self>, said: FromHost) {
        self.work.update(|work| Work { taken: work.taken + 1, ..work });
        let _turn = self.begin_turn();
        match said {
            FromHost::Event(event) => self.event(*event),
            FromHost::Reply(reply) => self.reply(*reply),
            FromHost::Lost(why) => {
                tracing::error!(%why, "the host is gone");
                let begun = self.read().state.ready;
                self.remark(if begun { Remark::HostLost } else { Remark::HostFailed }, "");
            }
        }
        self.show();
    }

    fn event(self: &Rc<Self>, event: Event) {
        let gone_name = match &event.body {
            Some(event::Body::InvitationGone(gone)) => {
                let known = self.read();
                let mut open = known.state.invitations.iter();
                open.find(|one| one.invite_id == gone.invite_id).map(|one| one.name.clone())
            }
            _ => None,
        };
        if self.asks_anew(&event) && !event.quiet {
            self.hear(Cue::YourTurn);
            self.feel(Feel::Strong);
        }
        let scanned_before = self.read().state.bluetooth().is_some_and(|radio| radio.scanning);
        self.known_mut().state.apply(&event);
        if !scanned_before && self.read().state.bluetooth().is_some_and(|radio| radio.scanning) {
            self.look_afresh();
        }
        if let Some(body) = &event.body {
            self.turn(|pages, cx| {
                pages.address.hear(body, cx);
                pages.backup.hear(body);
                pages.field_test.hear(body, cx);
                pages.gifts.hear(body, cx);
                pages.guest.hear(body, cx);
                pages.invitation.hear(body, cx);
                pages.nearby.hear(body);
                pages.puzzles.hear(body, cx);
                pages.replay.hear(body);
                pages.settings.hear(body, cx);
            });
        }
        match event.body {
            Some(event::Body::Ready(_)) => {
                self.on_page_changed();
                self.tell_wish();
            }
            Some(event::Body::Room(room)) => self.room_changed(&room),
            Some(event::Body::InvitationGone(gone)) => {
                self.turn(|pages, cx| pages.invitation.gone(&gone, gone_name, cx));
            }
            Some(event::Body::Said(said)) => self.said(said, event.quiet),
            Some(event::Body::Notice(notice)) => self.notice(&notice),
            Some(event::Body::Activated(chosen)) => self.activated(&chosen),
            _ => {}
        }
    }

    /// Whether this event asks the user for something that was not open before.
    fn asks_anew(&self, event: &Event) -> bool {
        let state = &self.read().state;
        match &event.body {
            Some(event::Body::Invitation(new)) => {
                !new.mine && state.invitations.iter().all(|known| known.invite_id != new.invite_id)
            }
            Some(event::Body::Comparison(new)) => {
                state.comparisons.iter().all(|known| known.peer != new.peer)
            }
            Some(event::Body::Gift(_)) => true,
            _ => false,
        }
    }

    /// Handles a click on a desktop notification: raises the window and opens the subject. Requests for an answer appear on
    /// every page, once no dialog of the app covers them.
    fn activated(&self, chosen: &control::Activated) {
        if let Some(window) = self.window.upgrade() {
            window.window().set_minimized(false);
            if let Err(error) = window.show() {
                tracing::warn!(%error, "the window cannot be shown");
            }
        }
        self.known_mut().question = Dialog::None;
        if !chosen.room_id.is_empty() {
            let shown = {
                let known = self.read();
                known.page() == Page::Board
                    && known.room.as_ref().is_some_and(|room| room.id == chosen.room_id)
            };
            if !shown {
                self.turn(|_pages, cx| adapters::home::resume(&chosen.room_id, cx));
            }
        } else if chosen.invite_id.is_empty() && chosen.peer.is_empty() {
            self.go(Page::Nearby);
        }
    }

    fn said(self: &Rc<Self>, said: control::Said, quiet: bool) {
        if !said.mine && !quiet {
            self.hear(Cue::Tick);
        }
        self.turn(|pages, _cx| pages.board.display_said(said));
        let controller = Rc::downgrade(self);
        self.saying.start(slint::TimerMode::SingleShot, SAID_STAYS, move || {
            if let Some(controller) = controller.upgrade() {
                controller.turn(|pages, _cx| pages.board.clear_said());
            }
        });
    }

    fn room_changed(&self, room: &Room) {
        let (opened, followed, waited) = {
            let known = self.read();
            let shown = known.room.as_ref().map(|shown| shown.id.as_str());
            (
                shown == Some(room.id.as_str()),
                shown.is_some_and(|shown| shown == room.follows),
                known.open_when_there.as_deref() == Some(room.id.as_str()),
            )
        };
        if opened {
            let before = self.read().room.clone();
            if let Some(before) = before {
                adapters::feel::changed(self, &before, room);
            }
        }
        if opened || followed {
            self.known_mut().room = Some(adapters::board::seen(room));
            self.turn(|pages, _cx| pages.board.on_room_changed(room, followed));
            if let Some(window) = self.window.upgrade() {
                window.global::<BoardAdapter>().set_tick(0);
            }
            if followed {
                self.ask_rules();
            }
        } else if waited {
            self.open_room(&room.id);
        }
    }

    fn notice(&self, notice: &control::Notice) {
        let remark = match notice.kind() {
            NoticeKind::NoticeOfferDeclined => Remark::OfferDeclined,
            // Nobody knows who.
            NoticeKind::NoticePeerLeft if notice.name.is_empty() => return,
            NoticeKind::NoticePeerLeft => Remark::PeerLeft,
            NoticeKind::NoticeUpdateNeeded => Remark::UpdateNeeded,
            NoticeKind::NoticeUpdateHere => Remark::UpdateHere,
            NoticeKind::NoticeStringsDiffer => Remark::StringsDiffer,
            NoticeKind::NoticeHintTaken => Remark::HintTaken,
            NoticeKind::NoticeRecordsDiffer => Remark::RecordsDiffer,
            NoticeKind::NoticePeerMisbehaved => Remark::PeerMisbehaved,
            NoticeKind::NoticeDiskFull => Remark::DiskFull,
            NoticeKind::NoticeNewFriend => Remark::NewFriend,
            NoticeKind::NoticeRenamed => {
                return self.remark(Remark::Renamed, &format!("{} → {}", notice.name, notice.detail));
            }
            NoticeKind::NoticeCannotReach => Remark::CannotReach,
            NoticeKind::NoticeRadioChanged => Remark::RadioChanged,
            NoticeKind::NoticeClocksDiffer => Remark::ClocksDiffer,
            NoticeKind::NoticeAdjourned => Remark::Adjourned,
            NoticeKind::NoticeEngineFailed => {
                let Some(words) = &notice.words else { return };
                let said = if self.read().chinese() { &words.zh } else { &words.en };
                return self.remark(Remark::Told, said);
            }
            // The settings page shows it.
            NoticeKind::NoticeSavesSetAside | NoticeKind::NoticeUnspecified => return,
        };
        self.remark(remark, &notice.name);
    }

    fn reply(self: &Rc<Self>, reply: Reply) {
        let Some(asked) = self.state.borrow_mut().questions.take(reply.id) else { return };
        let answer = match reply.body {
            Some(reply::Body::Refusal(refusal)) => {
                tracing::info!(code = ?refusal.code(), detail = refusal.detail, ?asked, "refused");
                Err(refusal)
            }
            Some(body) => Ok(body),
            // From a newer host.
            None => return,
        };
        self.turn(|pages, cx| match asked {
            Asked::Nothing => {
                if let Err(refusal) = answer {
                    cx.go.refused_unasked(refusal);
                }
            }
            Asked::Done => {
                if let Err(refusal) = answer {
                    cx.go.refused(refusal, Remark::BadRequest);
                }
            }
            Asked::Room => match answer {
                Ok(reply::Body::RoomId(room)) => cx.go.room(&room),
                Ok(_) => {}
                Err(refusal) => cx.go.refused(refusal, Remark::BadRequest),
            },
            Asked::Backup(question) => pages.backup.reply(&question, answer, cx),
            Asked::Board(question) => pages.board.reply(question, answer, cx),
            Asked::Club(question) => pages.club.reply(&question, answer, cx),
            Asked::Doctor(adapters::doctor::Question) => pages.doctor.reply(answer, cx),
            Asked::Editor(adapters::editor::Question) => adapters::editor::reply(answer, cx),
            Asked::Engines(question) => pages.engines.reply(question, answer, cx),
            Asked::FieldTest(adapters::field_test::Question) => pages.field_test.reply(answer, cx),
            Asked::Friends(question) => pages.friends.reply(&question, answer, cx),
            Asked::Gifts(question) => adapters::gifts::reply(question, answer, cx),
            Asked::Guest(question) => pages.guest.reply(question, answer, cx),
            Asked::Home(question) => pages.home.reply(&question, answer, cx),
            Asked::Invitation(question) => pages.invitation.reply(question, answer, cx),
            Asked::Position(question) => pages.position.reply(&question, answer, cx),
            Asked::Lesson(question) => pages.lesson.reply(&question, answer, cx),
            Asked::Address(question) => pages.address.reply(question, answer, cx),
            Asked::Nearby(adapters::nearby::Question) => pages.nearby.reply(answer, cx),
            Asked::NewGame(question) => adapters::new_game::reply(question, answer, cx),
            Asked::Puzzles(question) => pages.puzzles.reply(&question, answer, cx),
            Asked::Records(question) => pages.records.reply(&question, answer, cx),
            Asked::Replay(question) => pages.replay.reply(&question, answer, cx),
            Asked::Settings(adapters::settings::Question) => pages.settings.reply(answer, cx),
        });
    }

    /// Shows the reason of a refusal. `otherwise`: the remark for a request that the host did not understand.
    pub(crate) fn tell_refusal(&self, refusal: &control::Refusal, otherwise: Remark) {
        if let Some(reason) = &refusal.reason {
            let said = if self.read().chinese() { &reason.zh } else { &reason.en };
            self.remark(Remark::Told, said);
            return;
        }
        self.remark(
            match refusal.code() {
                RefusalCode::RefusalNoSuchPeer => Remark::NoSuchPeer,
                RefusalCode::RefusalNoSuchRoom => Remark::NoSuchRoom,
                RefusalCode::RefusalNotYourTurn => Remark::NotYourTurn,
                RefusalCode::RefusalOccupied => Remark::Occupied,
                RefusalCode::RefusalOffBoard => Remark::OffBoard,
                RefusalCode::RefusalGameOver => Remark::GameOver,
                RefusalCode::RefusalIllegal => Remark::Illegal,
                RefusalCode::RefusalNothingToTakeBack => Remark::NothingToTakeBack,
                RefusalCode::RefusalNoOffer => Remark::NoOffer,
                RefusalCode::RefusalRadio => Remark::Radio,
                RefusalCode::RefusalCannotReach => Remark::CannotReach,
                RefusalCode::RefusalNotCompared => Remark::NotCompared,
                RefusalCode::RefusalBusy => Remark::Busy,
                RefusalCode::RefusalDisk => Remark::Disk,
                RefusalCode::RefusalVersion => Remark::Version,
                RefusalCode::RefusalLinkLost => Remark::LinkLost,
                RefusalCode::RefusalPaused => Remark::Paused,
                RefusalCode::RefusalTime => Remark::OutOfTime,
                // The person knows: it was they who stopped it.
                RefusalCode::RefusalStopped => return,
                RefusalCode::RefusalBadRequest | RefusalCode::RefusalUnspecified => otherwise,
                RefusalCode::RefusalUnsolvable => Remark::Unsolvable,
            },
            "",
        );
    }
}
