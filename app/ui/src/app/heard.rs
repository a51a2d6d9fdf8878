//! What the host says, taken in: events become state and remarks, replies find the purpose they were asked for.

use std::rc::Rc;
use std::time::Duration;

use client::FromHost;
use proto::control::{self, Event, InvitationEnd, NoticeKind, RefusalCode, Reply, Room, event, reply};
use slint::ComponentHandle;

use super::{Desk, Purpose};
use crate::adapters;
use crate::screens::{BoardAdapter, Dialog, Page, Remark};
use senses::{Cue, Feel};

/// How long what was said stays beside its player: a line is read in three seconds, and the eyes are on the board first.
const SAID_STAYS: Duration = Duration::from_secs(8);

impl Desk {
    pub(super) fn take(self: &Rc<Self>, said: FromHost) {
        self.taken.set(self.taken.get() + 1);
        match said {
            FromHost::Event(event) => self.event(*event),
            FromHost::Reply(reply) => self.reply(*reply),
            FromHost::Lost(why) => {
                tracing::error!(%why, "the host is gone");
                let begun = self.see().state.ready;
                self.remark(if begun { Remark::HostLost } else { Remark::HostFailed }, "");
            }
        }
        self.show();
    }

    fn event(self: &Rc<Self>, event: Event) {
        let gone_name = match &event.body {
            Some(event::Body::InvitationGone(gone)) => {
                let inner = self.see();
                let mut open = inner.state.invitations.iter();
                open.find(|one| one.invite_id == gone.invite_id).map(|one| one.name.clone())
            }
            _ => None,
        };
        if self.asks_anew(&event) {
            self.hear(Cue::YourTurn);
            self.feel(Feel::Strong);
        }
        let scanned_before = self.see().state.bluetooth().is_some_and(|radio| radio.scanning);
        self.inner.borrow_mut().state.apply(&event);
        if !scanned_before && self.see().state.bluetooth().is_some_and(|radio| radio.scanning) {
            self.look_afresh();
        }
        match event.body {
            Some(event::Body::Ready(_)) => {
                self.moved();
                self.tell_wish();
            }
            Some(event::Body::Radio(_)) => self.inner.borrow_mut().switching_on = false,
            Some(event::Body::Room(room)) => self.room_changed(&room),
            Some(event::Body::InvitationGone(gone)) => self.invitation_gone(&gone, gone_name),
            Some(event::Body::Invitation(invitation)) if !invitation.mine => {
                adapters::invitation::arrived(self, &invitation);
            }
            Some(event::Body::Invitation(_)) => {
                // The host's own account of it takes over.
                self.inner.borrow_mut().inviting = None;
            }
            Some(event::Body::Said(said)) => self.said(said),
            Some(event::Body::Judgements(judged)) => adapters::replay::judged(self, judged),
            Some(event::Body::Connecting(connecting)) => self.connecting(&connecting),
            Some(event::Body::Notice(notice)) => self.notice(&notice),
            Some(event::Body::Friend(friend)) => adapters::gifts::friend_changed(self, &friend),
            Some(event::Body::Activated(chosen)) => self.activated(&chosen),
            _ => {}
        }
    }

    /// Somebody asks this person for something that was not asked before.
    fn asks_anew(&self, event: &Event) -> bool {
        let state = &self.see().state;
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

    /// The person chose a notification of the desktop's: the window comes forward with what it was about. What asks for an
    /// answer is on every page by itself, once no question of our own is in its way.
    fn activated(&self, chosen: &control::Activated) {
        if let Some(window) = self.window.upgrade() {
            window.window().set_minimized(false);
            if let Err(error) = window.show() {
                tracing::warn!(%error, "the window cannot be shown");
            }
        }
        self.inner.borrow_mut().question = Dialog::None;
        if !chosen.room_id.is_empty() {
            let shown = {
                let inner = self.see();
                inner.page() == Page::Board
                    && inner.room.as_ref().is_some_and(|room| room.id == chosen.room_id)
            };
            if !shown {
                adapters::home::resume(self, &chosen.room_id);
            }
        } else if chosen.invite_id.is_empty() && chosen.peer.is_empty() {
            self.go(Page::Nearby);
        }
    }

    fn said(self: &Rc<Self>, said: control::Said) {
        let mine = usize::from(said.mine);
        if !said.mine {
            self.hear(Cue::Tick);
        }
        self.inner.borrow_mut().said[mine] = Some(said);
        let desk = Rc::downgrade(self);
        self.saying.start(slint::TimerMode::SingleShot, SAID_STAYS, move || {
            if let Some(desk) = desk.upgrade() {
                desk.change(|inner| inner.said = [None, None]);
            }
        });
    }

    fn room_changed(&self, room: &Room) {
        let (opened, followed, waited) = {
            let inner = self.see();
            let shown = inner.room.as_ref().map(|shown| shown.id.as_str());
            (
                shown == Some(room.id.as_str()),
                shown.is_some_and(|shown| shown == room.follows),
                inner.open_when_there.as_deref() == Some(room.id.as_str()),
            )
        };
        if opened {
            let before = self.see().room.clone();
            if let Some(before) = before {
                adapters::feel::changed(self, &before, room);
            }
        }
        if opened || followed {
            self.inner.borrow_mut().room = Some(adapters::board::seen(room));
            if let Some(window) = self.window.upgrade() {
                window.global::<BoardAdapter>().set_tick(0);
            }
            if followed {
                self.inner.borrow_mut().look = adapters::board::Look::default();
                self.ask_rules();
            }
        } else if waited {
            self.open_room(&room.id);
        }
    }

    fn connecting(&self, connecting: &control::Connecting) {
        let asked = self.see().inviting.as_ref().is_some_and(|inviting| inviting.peer == connecting.peer);
        let failed = matches!(connecting.state(), control::ConnectState::ConnectFailed);
        if failed {
            self.inner.borrow_mut().giving = None;
        }
        if asked && failed {
            self.inner.borrow_mut().inviting = None;
            self.remark(Remark::CannotReach, &connecting.name);
        }
    }

    /// `name`: the other person's, as far as the invitation said it.
    fn invitation_gone(&self, gone: &control::InvitationGone, name: Option<String>) {
        let name = {
            let inner = &mut *self.inner.borrow_mut();
            inner.invite_sheets.remove(&gone.invite_id);
            let answered = inner.answered.take_if(|id| *id == gone.invite_id).is_some();
            let countering = inner.countering.take_if(|theirs| theirs.invite_id == gone.invite_id).is_some();
            if answered && !countering && gone.end() == InvitationEnd::InvitationCountered {
                return;
            }
            let ours = inner.inviting.take_if(|inviting| inviting.invite.as_deref() == Some(&gone.invite_id));
            ours.map(|inviting| inviting.peer)
                .and_then(|peer| inner.state.nearby.get(&peer).map(|near| near.name.clone()))
                .or(name)
                .unwrap_or_default()
        };
        let remark = match gone.end() {
            InvitationEnd::InvitationAccepted => {
                self.open_room(&gone.room_id);
                return;
            }
            InvitationEnd::InvitationDeclined => match gone.reason() {
                proto::peer::DeclineReason::DeclineOtherGame => Remark::InvitationOtherGame,
                proto::peer::DeclineReason::DeclineOtherRules => Remark::InvitationOtherRules,
                proto::peer::DeclineReason::DeclineLater => Remark::InvitationLater,
                proto::peer::DeclineReason::DeclineBusy => Remark::InvitationBusy,
                _ => Remark::InvitationDeclined,
            },
            InvitationEnd::InvitationBusy => Remark::InvitationBusy,
            InvitationEnd::InvitationTimedOut => Remark::InvitationTimedOut,
            InvitationEnd::InvitationWithdrawn => Remark::InvitationWithdrawn,
            InvitationEnd::InvitationLinkLost => Remark::InvitationLost,
            InvitationEnd::InvitationUnknownGame => Remark::InvitationUnknownGame,
            // Their own invitation takes its place, and rings.
            InvitationEnd::InvitationCountered => Remark::InvitationCountered,
            InvitationEnd::Unspecified => return,
        };
        self.remark(remark, &name);
    }

    fn notice(&self, notice: &control::Notice) {
        let remark = match notice.kind() {
            NoticeKind::NoticeOfferDeclined => Remark::OfferDeclined,
            NoticeKind::NoticePeerLeft => Remark::PeerLeft,
            NoticeKind::NoticeUpdateNeeded => Remark::UpdateNeeded,
            NoticeKind::NoticeUpdateHere => Remark::UpdateHere,
            NoticeKind::NoticeStringsDiffer => Remark::StringsDiffer,
            NoticeKind::NoticeRecordsDiffer => Remark::RecordsDiffer,
            NoticeKind::NoticePeerMisbehaved => Remark::PeerMisbehaved,
            NoticeKind::NoticeDiskFull => Remark::DiskFull,
            NoticeKind::NoticeNewFriend => Remark::NewFriend,
            NoticeKind::NoticeRenamed => {
                return self.remark(Remark::Renamed, &format!("{} → {}", notice.name, notice.detail));
            }
            NoticeKind::NoticeCannotReach => {
                self.inner.borrow_mut().inviting = None;
                Remark::CannotReach
            }
            NoticeKind::NoticeRadioChanged => Remark::RadioChanged,
            NoticeKind::NoticeClocksDiffer => Remark::ClocksDiffer,
            NoticeKind::NoticeAdjourned => Remark::Adjourned,
            NoticeKind::NoticeSavesSetAside => {
                self.inner.borrow_mut().set_aside = Some(notice.detail.clone());
                self.open(Dialog::Saves);
                return;
            }
            NoticeKind::NoticeUnspecified => return,
        };
        self.remark(remark, &notice.name);
    }

    fn reply(self: &Rc<Self>, reply: Reply) {
        let Some(purpose) = self.inner.borrow_mut().asked.remove(&reply.id) else { return };
        match (reply.body, purpose) {
            (Some(reply::Body::Refusal(refusal)), purpose) => self.refused(&refusal, &purpose),
            (Some(reply::Body::RoomId(room)), Purpose::OpenRoom) => self.open_room(&room),
            (Some(reply::Body::InviteId(invite)), Purpose::Invite) => {
                let inner = &mut *self.inner.borrow_mut();
                // The invitation's own event may have come first, and with it taken over.
                if let Some(inviting) = &mut inner.inviting {
                    inviting.invite = Some(invite);
                }
            }
            (Some(reply::Body::Matches(list)), Purpose::ListMatches) => {
                self.inner.borrow_mut().matches = list.matches;
            }
            (Some(reply::Body::Matches(list)), Purpose::Records { search }) => {
                adapters::records::found(self, search, list);
            }
            (Some(reply::Body::Lesson(lesson)), Purpose::Teach(asked)) => {
                adapters::lesson::taught(self, &asked, lesson);
            }
            (Some(reply::Body::Position(position)), Purpose::Look) => adapters::replay::seen(self, position),
            (Some(reply::Body::File(file)), Purpose::Export) => adapters::records::save(self, &file),
            (Some(reply::Body::RoomId(room)), Purpose::LookAt) => adapters::records::kept(self, room),
            (Some(reply::Body::RoomId(_)), Purpose::Import) => {
                self.remark(Remark::Copied, "");
                adapters::records::search(self);
            }
            (Some(reply::Body::Done(_)), Purpose::Give { peer }) => adapters::gifts::given(self, &peer),
            (Some(reply::Body::Done(_)), Purpose::SaveEverything) => adapters::backup::saved(self),
            (Some(reply::Body::Taken(taken)), Purpose::TakeEverything) => {
                adapters::backup::taken(self, taken);
            }
            (Some(reply::Body::FriendCode(code)), Purpose::ShowCode) => {
                adapters::friends::code_told(self, code);
            }
            (Some(reply::Body::Puzzles(list)), Purpose::Puzzles { game }) => {
                adapters::puzzles::found(self, game, list);
            }
            (Some(reply::Body::Done(_)), Purpose::AddFriend) => adapters::friends::added(self),
            (Some(reply::Body::Done(_)), Purpose::Contact) => self.remark(Remark::ContactAsked, ""),
            (Some(reply::Body::Adapters(list)), Purpose::ListAdapters) => {
                self.inner.borrow_mut().adapters = list.adapters;
            }
            (Some(reply::Body::Done(_)), Purpose::Discard) => {
                self.leave(Page::Replay);
                adapters::records::search(self);
            }
            (Some(reply::Body::Hint(hint)), Purpose::Hint { room, ply, revision }) => {
                adapters::board::advised(self, (room, ply, revision), hint);
            }
            (Some(reply::Body::Sheet(sheet)), Purpose::DescribeChoice { game, choice }) => {
                adapters::new_game::described(self, game, &choice, sheet);
            }
            (Some(reply::Body::Sheet(sheet)), Purpose::DescribeInvitation { invite }) => {
                let inner = &mut *self.inner.borrow_mut();
                if inner.state.invitations.iter().any(|open| open.invite_id == invite) {
                    inner.invite_sheets.insert(invite, sheet);
                }
            }
            (Some(reply::Body::Sheet(sheet)), Purpose::DescribeRoom { setup }) => {
                self.inner.borrow_mut().room_sheet = Some((setup, sheet));
            }
            _ => {}
        }
    }

    fn refused(&self, refusal: &control::Refusal, purpose: &Purpose) {
        tracing::info!(code = ?refusal.code(), detail = refusal.detail, ?purpose, "refused");
        {
            let inner = &mut *self.inner.borrow_mut();
            match purpose {
                Purpose::Invite => (inner.inviting, inner.answered) = (None, None),
                Purpose::PowerOn => inner.switching_on = false,
                Purpose::Hint { room, .. } => {
                    inner.hint = None;
                    if refusal.code() == RefusalCode::RefusalUnsolvable {
                        inner.unsolvable = Some(room.clone());
                    }
                }
                Purpose::OpenRoom => inner.solve_when_there = false,
                _ => {}
            }
        }
        match purpose {
            Purpose::DescribeChoice { game, choice } => {
                adapters::new_game::not_described(self, *game, choice);
                return;
            }
            Purpose::SaveEverything | Purpose::TakeEverything => {
                adapters::backup::refused(self, refusal);
                return;
            }
            Purpose::Teach(asked) => adapters::lesson::not_taught(self, asked),
            // A newer host's match may be of a game that has no sheet here.
            Purpose::DescribeRoom { .. } | Purpose::DescribeInvitation { .. } => return,
            _ => {}
        }
        if *purpose == Purpose::Act {
            self.board.flash.light(self, &refusal.points);
        }
        if let Some(reason) = &refusal.reason {
            let said = if self.see().chinese() { &reason.zh } else { &reason.en };
            self.remark(Remark::Told, said);
            return;
        }
        let remark = match refusal.code() {
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
            RefusalCode::RefusalBadRequest | RefusalCode::RefusalUnspecified => match purpose {
                Purpose::Hint { .. } => Remark::NoHint,
                Purpose::AddFriend => Remark::NotAdded,
                Purpose::Account | Purpose::Contact => Remark::AccountTrouble,
                _ => Remark::BadRequest,
            },
            RefusalCode::RefusalUnsolvable => Remark::Unsolvable,
        };
        // Asking at the start what nobody has touched needs no remark.
        if !matches!(purpose, Purpose::Nothing | Purpose::ListMatches | Purpose::ListAdapters)
            || !matches!(remark, Remark::Radio)
        {
            self.remark(remark, "");
        }
    }
}
