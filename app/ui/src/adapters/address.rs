//! Connecting by a typed address on the local network.

use std::rc::Rc;

use proto::control::{self, ConnectState, event, reply, request};
use slint::ComponentHandle;

use super::touched;
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{AddressAdapter, AddressState, Dialog, MainWindow, Page, Remark};

/// State of the dialog.
#[derive(Default)]
pub(crate) struct ByAddress {
    own: Vec<String>,
    /// Id of the device that is being connected to; empty: none.
    peer: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Question {
    /// Addresses of this device.
    Own,
    Connect,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Address(question)
    }
}

impl ByAddress {
    pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<AddressAdapter>();
        page.on_open(touched!(app, |pages, cx| {
            pages.address.peer.clear();
            cx.ask.send(request::Body::ShowPlaces(control::ShowPlaces {}), Question::Own);
            cx.go.dialog(Dialog::Address);
        }));
        page.on_connect(touched!(app, |pages, cx, address| {
            pages.address.peer.clear();
            let meet = control::MeetAddress { address: address.trim().into() };
            cx.ask.send(request::Body::MeetAddress(meet), Question::Connect);
        }));
    }

    pub(crate) fn reply(&mut self, question: Question, answer: Answer, cx: &mut Cx<'_>) {
        match (question, answer) {
            (Question::Own, Ok(reply::Body::Places(places))) => self.own = places.addresses,
            (Question::Connect, Ok(reply::Body::Peer(peer))) => {
                self.peer = peer;
                self.leave_if_connected(cx);
            }
            (_, Ok(_)) => {}
            (_, Err(refusal)) => cx.go.refused(refusal, Remark::BadRequest),
        }
    }

    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        if matches!(event, event::Body::Connecting(_)) {
            self.leave_if_connected(cx);
        }
    }

    /// Once connected, a friend is seen on the page of friends; a stranger's pictures are compared on any page.
    fn leave_if_connected(&mut self, cx: &mut Cx<'_>) {
        if cx.known.question() == Dialog::Address && self.progress(cx.known) == Some(ConnectState::ConnectUp)
        {
            self.peer.clear();
            cx.go.dialog(Dialog::None);
            cx.go.page(Page::Friends);
        }
    }

    fn progress(&self, known: &AppState) -> Option<ConnectState> {
        known.state.connecting.get(&self.peer).map(control::Connecting::state)
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let page = window.global::<AddressAdapter>();
        page.set_offered(known.state.radio(control::Carrier::Lan).is_some_and(|radio| !radio.unused));
        page.set_own(self.own.join("\n").into());
        page.set_state(match self.progress(known) {
            Some(ConnectState::ConnectFailed | ConnectState::ConnectLost) => AddressState::Failed,
            Some(ConnectState::ConnectUp) => AddressState::None,
            None if self.peer.is_empty() => AddressState::None,
            _ => AddressState::Connecting,
        });
    }
}
