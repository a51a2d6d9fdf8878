//! A handheld in play: its host, a watching client (see `watch`), and `qiyouctl` in place of its person.

use crate::guest::{Guest, Heard};
use crate::orders::{Output, User};
use crate::watch::{Room, Told, What};
use anyhow::{Context, Result, bail, ensure};
use proto::control::RadioState;
use serde::Deserialize;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::{broadcast::error::RecvError, watch};
use tokio::time::timeout;

/// The host's database.
const DATABASE: &str = "/home/player/.local/share/qiyou/qiyou.db";
/// A command answers at once; this limit allows for a guest on a busy machine.
const HANDS: Duration = Duration::from_secs(30);
/// The levels that play here need none of this time.
const BOT_TIME_MS: &str = "100";
/// Longer than any single step, a search for a lost peer included.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Player<'a> {
    pub(crate) guest: &'a Guest,
    /// Whether its host also uses the local network.
    in_network: Cell<bool>,
    view: watch::Sender<View>,
}

/// The state seen so far; it outlives the host.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Whether the host runs and has sent its whole state.
    ready: bool,
    /// How often the host has sent its whole state: once per start.
    pub(crate) starts: u32,
    /// Devices heard, with their names.
    pub(crate) nearby: BTreeMap<String, String>,
    pub(crate) comparison: Option<Comparison>,
    /// An open invitation from the other side.
    pub(crate) invitation: Option<String>,
    /// How this side's own invitations ended (`InvitationEnd`).
    pub(crate) ends_of_own: Vec<i32>,
    /// This side's own open invitation.
    own_invitation: Option<String>,
    /// The present match, or the last one.
    pub(crate) room: Option<Room>,
    /// The longest record ever shown of the match.
    pub(crate) told: Vec<String>,
    /// How often its link came up.
    pub(crate) times_up: u32,
    /// This side has acted since the other one's goodbye: its host looks for the other again.
    pub(crate) acted_alone: bool,
    /// Milliseconds from giving an action to the host until the other side's acknowledgement.
    pub(crate) move_seen: Vec<f64>,
    /// States of the radio since the last query, each with its sentence.
    radio: Vec<(RadioState, String)>,
    /// The latest notices to the person, for error reports.
    notices: Vec<String>,
}

/// Equal if both people see the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) emoji: Vec<u32>,
    pub(crate) digits: String,
}

impl<'a> Player<'a> {
    /// Starts the host and the watching client.
    pub(crate) async fn start(guest: &'a Guest) -> Result<Player<'a>> {
        let mut heard = guest.hear();
        let (view, _) = watch::channel(View::default());
        let teller = view.clone();
        tokio::spawn(async move {
            loop {
                match heard.recv().await {
                    Ok(Heard::Line { name, text }) if name == "watch" => {
                        if let Ok(told) = serde_json::from_str(&text) {
                            teller.send_modify(|view| view.take(told));
                        }
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(lost)) => eprintln!("ble-lab: {lost} lines were missed"),
                    Err(RecvError::Closed) => return,
                }
            }
        });
        guest.start("watch", User::Player, &["ble-lab", "watch"], Output::Lines).await?;
        let player = Player { guest, in_network: Cell::new(false), view };
        player.start_host().await?;
        Ok(player)
    }

    pub(crate) async fn start_host(&self) -> Result<()> {
        let mut command = vec!["qiyoud", "--bot-time-ms", BOT_TIME_MS, "--guest-loopback", "--stand-ins"];
        if !self.in_network.get() {
            command.push("--no-lan");
        }
        self.guest.start("qiyoud", User::Player, &command, Output::Log).await?;
        self.until("the host is ready", |view| view.ready).await
    }

    /// Restarts the host, with the local network as a second carrier or without.
    pub(crate) async fn start_again(&self, in_network: bool) -> Result<()> {
        self.end_host().await?;
        self.in_network.set(in_network);
        self.start_host().await
    }

    /// Ends the host; the watching client stays.
    pub(crate) async fn end_host(&self) -> Result<()> {
        self.guest.signal("qiyoud", rustix::process::Signal::TERM).await?;
        self.until_gone().await
    }

    /// Waits until the host has ended.
    pub(crate) async fn until_gone(&self) -> Result<()> {
        self.until("the host has ended", |view| !view.ready).await
    }

    /// `kill -9`; returns when the watching client has detected it.
    pub(crate) async fn kill_host(&self) -> Result<()> {
        self.guest.kill("qiyoud").await?;
        self.until("the host is gone", |view| !view.ready).await
    }

    /// Stops the host as a person who closes everything.
    pub(crate) async fn stop(&self) -> Result<()> {
        self.guest.kill("watch").await?;
        self.guest.signal("qiyoud", rustix::process::Signal::TERM).await
    }

    /// The output of `qiyouctl` with these arguments.
    pub(crate) async fn ctl(&self, words: &[&str]) -> Result<String> {
        let arguments = [&["qiyouctl"], words].concat();
        Ok(self.guest.run(User::Player, &arguments, HANDS).await?.stdout)
    }

    /// Waits until a condition on the view holds.
    pub(crate) async fn until(&self, what: &str, so: impl FnMut(&View) -> bool) -> Result<()> {
        self.within(PATIENCE, what, so).await
    }

    pub(crate) async fn within(
        &self,
        limit: Duration,
        what: &str,
        so: impl FnMut(&View) -> bool,
    ) -> Result<()> {
        let mut view = self.view.subscribe();
        if let Ok(seen) = timeout(limit, view.wait_for(so)).await {
            return seen.map(drop).context("the guest is gone");
        }
        let (side, view) = (self.guest.side, self.view.borrow());
        bail!("side {side:?}: waited {limit:?} for: {what}; room {:?}, lately {:?}", view.room, view.notices)
    }

    pub(crate) fn see<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        read(&self.view.borrow())
    }

    /// Waits until the person was told one of these states of the radio, since the last reset; returns the sentence. After
    /// the end of the match nothing is searched for, and an adapter's limitation is not detected.
    pub(crate) async fn told_of(&self, states: &[RadioState]) -> Result<Option<String>> {
        let is_told = |view: &View| view.radio.iter().any(|(told, _)| states.contains(told));
        self.until(&format!("{states:?}"), |view| view.over() || is_told(view)).await?;
        let told = self.see(|view| view.radio.iter().find(|(told, _)| states.contains(told)).cloned());
        Ok(told.map(|(_, sentence)| sentence))
    }

    pub(crate) fn forget_comparison(&self) {
        self.view.send_modify(|view| view.comparison = None);
    }

    pub(crate) fn forget_radio(&self) {
        self.view.send_modify(|view| view.radio.clear());
    }

    /// Clears the room after the person has closed it.
    pub(crate) fn forget_room(&self) {
        self.view.send_modify(|view| (view.room, view.invitation) = (None, None));
    }

    /// The records on this device's disk: one row per match, without device-specific columns.
    pub(crate) async fn saved(&self) -> Result<Vec<Saved>> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("qiyou.db");
        std::fs::write(&file, self.guest.fetch(DATABASE).await?)?;
        // Recent writes are in the write-ahead log, if there is one.
        if let Ok(log) = self.guest.fetch(&format!("{DATABASE}-wal")).await {
            std::fs::write(directory.path().join("qiyou.db-wal"), log)?;
        }
        let database = rusqlite::Connection::open(&file)?;
        let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        ensure!(sound == "ok", "side {:?}: the record is damaged: {sound}", self.guest.side);
        let mut rows = database.prepare(
            "SELECT match_id, setup, first_player, second_player, actions, revision, ending, winner \
             FROM record ORDER BY match_id",
        )?;
        let saved = rows.query_map([], |row| {
            Ok(Saved {
                id: row.get(0)?,
                setup: row.get(1)?,
                players: [row.get(2)?, row.get(3)?],
                actions: row.get::<_, String>(4)?.split_whitespace().map(str::to_owned).collect(),
                revision: row.get(5)?,
                ending: row.get(6)?,
                winner: row.get(7)?,
            })
        })?;
        Ok(saved.collect::<Result<_, _>>()?)
    }
}

/// A match on disk. The stranger that plays tells its own in these words.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Saved {
    pub(crate) id: String,
    setup: String,
    players: [String; 2],
    pub(crate) actions: Vec<String>,
    revision: i64,
    pub(crate) ending: Option<i64>,
    winner: Option<i64>,
}

impl Saved {
    /// Whether it is the same game, kept under an id and names of this device's own.
    pub(crate) fn is_copy_of(&self, other: &Saved) -> bool {
        let game = |saved: &Saved| (saved.setup.clone(), saved.actions.clone(), saved.ending, saved.winner);
        game(self) == game(other)
    }
}

impl View {
    /// The latest notices, for error reports.
    pub(crate) fn lately(&self) -> Vec<String> {
        self.notices.clone()
    }

    /// Moves so far.
    pub(crate) fn ply(&self) -> usize {
        self.room.as_ref().map_or(0, |room| room.record.len())
    }

    pub(crate) fn over(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.over)
    }

    pub(crate) fn record(&self) -> Vec<String> {
        self.room.as_ref().map(|room| room.record.clone()).unwrap_or_default()
    }

    fn take(&mut self, told: Told) {
        match told.what {
            What::Attached => {}
            What::Ready => (self.ready, self.starts) = (true, self.starts + 1),
            What::Gone => {
                (self.ready, self.comparison, self.invitation) = (false, None, None);
                // Its end of the link is gone too.
                self.room.iter_mut().for_each(|room| room.link_up = false);
            }
            What::Nearby { id, name } => drop(self.nearby.insert(id, name)),
            What::Comparison { emoji, digits } => self.comparison = Some(Comparison { emoji, digits }),
            What::Connecting { peer, state } => self.note(format!("connecting {peer}: {state}")),
            What::Invitation { id, mine: false } => self.invitation = Some(id),
            What::Invitation { id, mine: true } => self.own_invitation = Some(id),
            What::InvitationGone { id, end } => {
                if self.own_invitation.take_if(|open| *open == id).is_some() {
                    self.ends_of_own.push(end);
                }
                self.invitation.take_if(|waiting| *waiting == id);
                self.note(format!("invitation {id} ended: {end}"));
            }
            What::Notice { kind, detail } => self.note(format!("notice {kind}: {detail}")),
            What::Radio { state, detail } => {
                self.note(format!("radio {state}: {detail}"));
                self.radio.push((RadioState::try_from(state).unwrap_or_default(), detail));
            }
            What::Room(room) => self.take_room(*room),
        }
    }

    fn take_room(&mut self, room: Room) {
        let before = self.room.take().filter(|before| before.id == room.id);
        if before.is_none() {
            self.told.clear();
        }
        if room.record.len() > self.told.len() {
            self.told.clone_from(&room.record);
        }
        let alone = before.as_ref().filter(|before| before.left && room.left);
        self.acted_alone =
            alone.is_some_and(|before| self.acted_alone || room.record.len() > before.record.len());
        self.times_up += u32::from(room.link_up && !before.as_ref().is_some_and(|before| before.link_up));
        if room.seen_ply > before.map_or(0, |before| before.seen_ply) && room.seen_after_us > 0 {
            self.move_seen.push(f64::from(room.seen_after_us) / 1e3);
        }
        self.room = Some(room);
    }

    fn note(&mut self, text: String) {
        self.notices.push(text);
        // The last few explain why something did not happen.
        if self.notices.len() > 8 {
            self.notices.remove(0);
        }
    }
}
