//! A client of a host's control socket that only watches and prints the host's events for the lab.
//!
//! It reconnects by itself, since hosts are killed here.

use anyhow::{Context, Result, bail};
use client::{FromHost, Lost};
use proto::control::{self, PeerLink, Request, event, reply};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::sleep;

/// A printed line: an event, and its time by the host's clock, in microseconds; 0 for an event of this
/// program's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) at: u64,
    pub(crate) what: What,
}

/// As in [`control::Carrier`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Carrier {
    Bluetooth,
    Network,
    /// No link yet, or a carrier that this lab does not use.
    Other,
}

impl From<control::Carrier> for Carrier {
    fn from(carrier: control::Carrier) -> Carrier {
        match carrier {
            control::Carrier::Bluetooth => Carrier::Bluetooth,
            control::Carrier::Lan => Carrier::Network,
            _ => Carrier::Other,
        }
    }
}

/// The part of an event that the lab uses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum What {
    /// Attached; the events before `Ready` are the present state.
    Attached,
    Ready,
    /// The host is gone.
    Gone,
    Nearby {
        id: String,
        name: String,
    },
    Comparison {
        emoji: Vec<u32>,
        digits: String,
    },
    Connecting {
        peer: String,
        state: i32,
    },
    Invitation {
        id: String,
        mine: bool,
    },
    InvitationGone {
        id: String,
        end: i32,
    },
    Room(Box<Room>),
    Notice {
        kind: i32,
        detail: String,
    },
    Radio {
        state: i32,
        detail: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Room {
    pub(crate) id: String,
    pub(crate) record: Vec<String>,
    pub(crate) over: bool,
    pub(crate) link_up: bool,
    /// The link's carrier.
    pub(crate) carrier: Carrier,
    /// Whether it is this side's turn.
    pub(crate) can_act: bool,
    /// The other side has said goodbye.
    pub(crate) left: bool,
    /// The last action of this side that the other side acknowledged, and how long that took. 0 for none.
    pub(crate) seen_ply: u32,
    pub(crate) seen_after_us: u32,
}

pub(crate) async fn run() -> Result<()> {
    let directory = std::env::var("XDG_RUNTIME_DIR").context("XDG_RUNTIME_DIR")?;
    let socket = format!("{directory}/qiyou/control.sock");
    loop {
        if let Ok(stream) = UnixStream::connect(&socket).await {
            if let Err(error) = watch(stream).await {
                eprintln!("watch: {error:#}");
            }
            tell(0, What::Gone);
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn watch(stream: UnixStream) -> Result<()> {
    let (mut requests, mut messages) = client::open(stream);
    requests.send(Request { id: 1, body: Some(client::attach("ble-lab")) }).await?;
    tell(0, What::Attached);
    loop {
        match messages.next().await {
            FromHost::Event(event) => {
                if let Some(what) = event.body.and_then(narrow) {
                    tell(event.monotonic_us, what);
                }
            }
            FromHost::Reply(reply) => {
                if let Some(reply::Body::Refusal(refusal)) = reply.body {
                    bail!("request {} was refused: {refusal:?}", reply.id)
                }
            }
            FromHost::Lost(Lost::Closed) => return Ok(()),
            FromHost::Lost(lost) => return Err(lost.into()),
        }
    }
}

fn narrow(body: event::Body) -> Option<What> {
    Some(match body {
        event::Body::Ready(_) => What::Ready,
        event::Body::Nearby(near) => What::Nearby { id: near.id, name: near.name },
        event::Body::Comparison(c) => What::Comparison { emoji: c.emoji, digits: c.digits },
        event::Body::Connecting(c) => What::Connecting { peer: c.peer, state: c.state },
        event::Body::Invitation(i) => What::Invitation { id: i.invite_id, mine: i.mine },
        event::Body::InvitationGone(i) => What::InvitationGone { id: i.invite_id, end: i.end },
        event::Body::Notice(notice) => What::Notice { kind: notice.kind, detail: notice.detail },
        event::Body::Radio(radio) => What::Radio { state: radio.state, detail: radio.detail },
        event::Body::Room(room) => {
            let link = room.link.unwrap_or_default();
            What::Room(Box::new(Room {
                id: room.id,
                record: room.record,
                over: room.result.is_some(),
                link_up: matches!(link.state(), PeerLink::Up | PeerLink::Weak),
                carrier: link.carrier().into(),
                can_act: room.can_act,
                left: link.state() == PeerLink::Left,
                seen_ply: link.seen_action_ply,
                seen_after_us: link.seen_after_us,
            }))
        }
        _ => return None,
    })
}

fn tell(at: u64, what: What) {
    println!("{}", serde_json::to_string(&Told { at, what }).expect("plain data"));
}
