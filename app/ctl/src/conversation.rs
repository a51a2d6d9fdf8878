//! One command's talk with the host: asking, printing, and finding what a name or the beginning of an id means.

use std::io::Write as _;
use std::time::Duration;

use client::{json, words};
use proto::control::{self, Invitation, RadioState, Room, request};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::connection::{Connection, Failure};
use crate::text;

/// No deadline: until interrupted or the daemon ends.
pub(crate) fn forever() -> Instant {
    Instant::now() + Duration::from_hours(365 * 24)
}

pub(crate) fn within(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

pub(crate) struct Conversation {
    pub(crate) host: Connection,
    pub(crate) json: bool,
}

impl Conversation {
    // Printing.

    pub(crate) fn print(
        &self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        let line = if self.json { json().to_string() } else { text() };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", line.trim_end_matches('\n'))
            .and_then(|()| out.flush())
            .map_err(|_| Failure::NobodyReads)
    }

    pub(crate) async fn ask_done(&mut self, body: request::Body) -> Result<(), Failure> {
        self.host.ask(body).await?;
        self.print(|| "done".into(), || json!({"done": true}))
    }

    pub(crate) fn print_me(&self) -> Result<(), Failure> {
        let me = &self.host.state().me;
        let visibility = words::visibility(me.visibility);
        self.print(|| format!("{}, seen by {visibility}, {}", me.name, me.fingerprint), || json::me(me))
    }

    pub(crate) fn print_room(&self, id: &str) -> Result<(), Failure> {
        match self.host.state().rooms.get(id) {
            Some(room) => self.print(|| text::room(room), || json::room(room)),
            None => Ok(()),
        }
    }

    // Resolving names and ids.

    /// The room of this id, or the only one for which `fits` holds.
    pub(crate) fn room(&self, id: Option<&str>, fits: impl Fn(&Room) -> bool) -> Result<Room, Failure> {
        let rooms = &self.host.state().rooms;
        let mut found: Vec<&Room> = match id {
            Some(id) => rooms.values().filter(|room| room.id.starts_with(id)).collect(),
            None => rooms.values().filter(|room| fits(room)).collect(),
        };
        if id.is_none() && found.is_empty() && rooms.len() == 1 {
            // The host gives a better error than this program could.
            found = rooms.values().collect();
        }
        match found.as_slice() {
            [room] => Ok((*room).clone()),
            [] => Err(Failure::NotToBe("there is no such room".into())),
            _ => Err(Failure::Usage("several rooms are open: say which with --room".into())),
        }
    }

    pub(crate) fn friend(&self, who: &str) -> Result<String, Failure> {
        let friends = &self.host.state().friends;
        if friends.contains_key(who) {
            return Ok(who.into());
        }
        let named: Vec<_> = friends.values().filter(|friend| friend.name == who).collect();
        match named.as_slice() {
            [friend] => Ok(friend.id.clone()),
            [] => Err(Failure::NotToBe(format!("no friend is called {who}"))),
            _ => Err(Failure::Usage(format!("several friends are called {who}: say the id"))),
        }
    }

    /// The id of a friend or of a device nearby; scans for it until the deadline.
    pub(crate) async fn somebody(&mut self, who: &str, deadline: Instant) -> Result<String, Failure> {
        if let Ok(friend) = self.friend(who) {
            return Ok(friend);
        }
        self.host.ask(request::Body::Scan(control::Scan { on: true })).await?;
        loop {
            let nearby = &self.host.state().nearby;
            if nearby.contains_key(who) {
                return Ok(who.into());
            }
            let named: Vec<_> = nearby.values().filter(|one| one.name == who).collect();
            match named.as_slice() {
                [one] => return Ok(one.id.clone()),
                [] => {}
                _ => return Err(Failure::Usage(format!("several devices are called {who}: say the id"))),
            }
            if self.host.next_until(deadline).await?.is_none() {
                return Err(Failure::NotToBe(format!("{who} is not in reach{}", self.radio_trouble())));
            }
        }
    }

    /// Why no radio works; empty if one does.
    pub(crate) fn radio_trouble(&self) -> String {
        let radios = &self.host.state().radios;
        let works = |state: RadioState| {
            matches!(
                state,
                RadioState::RadioReady | RadioState::RadioTakingTurns | RadioState::RadioNoAdvertising
            )
        };
        match radios.values().next() {
            None => ": the daemon was started without any carrier".into(),
            Some(radio) if !radios.values().any(|radio| works(radio.state())) => {
                format!(": {}, see `qiyouctl doctor`", words::radio(radio.state).replace('_', " "))
            }
            Some(_) => String::new(),
        }
    }

    pub(crate) fn invitation(&self, which: Option<&str>, mine: bool) -> Result<Invitation, Failure> {
        let fits = |one: &&Invitation| {
            one.mine == mine
                && which.is_none_or(|which| {
                    one.invite_id.starts_with(which) || one.name == which || one.peer == which
                })
        };
        let found: Vec<_> = self.host.state().invitations.iter().filter(fits).collect();
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(Failure::NotToBe("there is no such invitation".into())),
            _ => Err(Failure::Usage("several invitations are open: say which".into())),
        }
    }

    // Commands.
}

pub(crate) fn unexpected() -> Failure {
    Failure::Other("the daemon's answer is not what was asked for".into())
}
