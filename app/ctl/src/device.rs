//! Commands about other people and about this device.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use client::json;
use proto::control::{self, reply, request};
use serde_json::json;

use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected};
use crate::text;

#[derive(Subcommand)]
pub(crate) enum DeviceCommand {
    /// Block someone, and remove them if they are a friend
    Block {
        /// Name or id of a friend, a device nearby, or a device compared with
        who: String,
    },
    /// Unblock someone; to become friends again, the short strings must be compared again
    Unblock {
        /// Name or id of the blocked person
        who: String,
    },
    /// List connected devices that are not friends
    Strangers,
    /// Disconnect a device that is not a friend, and reject its connections for five minutes
    SendAway {
        /// Name or id of the device
        who: String,
    },
    /// List who is blocked
    Blocked,
    /// Set a private note about a friend; without a text, print it
    Note {
        /// Name or id of the friend
        who: String,
        /// The new note; empty removes it
        text: Option<String>,
    },
    /// Merge two friends who are one person with a new key: move unfinished matches to the new key, and forget the old one
    SamePerson {
        /// Id of the friend with the old key
        old: String,
        /// Id of the friend with the new key
        new: String,
    },
    /// Set whether friends can find this device while no app is open; without an argument, print it
    FoundWhenClosed {
        /// The new setting; `on` uses some battery
        #[arg(value_enum)]
        to: Option<Switch>,
    },
    /// Set whether new puzzles are made unasked, on mains power while nobody uses the device; without an argument, print it
    MakesPuzzles {
        /// The new setting
        #[arg(value_enum)]
        to: Option<Switch>,
    },
    /// Set the hours without notifications and sounds, in local time; without an argument, print them
    QuietHours {
        /// Time of day such as 22:00 at which they begin; `off` for none
        from: Option<String>,
        /// Time of day such as 8:00 at which they end
        until: Option<String>,
    },
    /// List Bluetooth adapters and which one is used; with an argument, select one permanently
    Adapter {
        /// Adapter such as hci1, or `first` for the first one present
        to: Option<String>,
    },
    /// Back up this device's identity, friends and matches to a new file (reads the passphrase from standard input);
    /// Ctrl-C stops it, and no file remains
    SaveEverything {
        /// Path of the backup, such as ~/qiyou.qiyou-backup; must not exist
        file: PathBuf,
    },
    /// Restore a backup at the next start of the daemon; present data is set aside, not deleted (reads the passphrase from
    /// standard input); Ctrl-C stops it, and nothing is restored
    TakeEverything {
        /// Path of the backup
        file: PathBuf,
    },
    /// Keep the match of a file: SGF, PGN and other notations of xiangqi, PSQ, or Qiyou's own; prints its id
    Import {
        /// Path of the file; its ending selects the format
        file: PathBuf,
    },
    /// Write a kept match to a file, or to standard output
    Export {
        /// Id of the match
        id: String,
        /// Format, such as sgf or pgn [default: the ending of the file, or the usual format of the game]
        #[arg(long)]
        format: Option<String>,
        /// Path of the file; must not exist
        file: Option<PathBuf>,
    },
    /// Offer a kept match to a connected friend, who can keep a copy
    Give {
        /// Id of the match, as `matches` prints it
        id: String,
        /// Name or id of the friend
        who: String,
    },
    /// List matches that friends offer
    Gifts,
    /// Keep a match that a friend offers
    Keep {
        /// Number of the offer, as `gifts` prints it
        gift: String,
    },
    /// Decline a match that a friend offers
    Refuse {
        /// Number of the offer, as `gifts` prints it
        gift: String,
    },
    /// Turn use of Bluetooth or the local network on or off; when off, this device neither finds others nor is found there
    Carrier {
        /// Carrier to turn on or off
        #[arg(value_enum)]
        which: Switched,
        /// The new setting, which is kept
        #[arg(value_enum)]
        to: Switch,
    },
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Switched {
    Bluetooth,
    Lan,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// An absolute path: the daemon's working directory differs.
fn whole_path(file: &Path) -> Result<String, Failure> {
    let whole = std::path::absolute(file).map_err(|error| Failure::Usage(error.to_string()))?;
    whole.into_os_string().into_string().map_err(|_| Failure::Usage("the path is no text".into()))
}

fn passphrase() -> Result<String, Failure> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

impl Conversation {
    pub(crate) async fn device(&mut self, command: DeviceCommand) -> Result<(), Failure> {
        match command {
            DeviceCommand::Block { who } => {
                let peer = self.anybody(&who)?;
                self.ask_done(request::Body::Block(control::Block { peer })).await
            }
            DeviceCommand::SaveEverything { file } => {
                let (path, passphrase) = (whole_path(&file)?, passphrase()?);
                let asked = control::SaveBackup { path, passphrase };
                self.ask_done(request::Body::SaveBackup(asked)).await
            }
            DeviceCommand::TakeEverything { file } => {
                let (path, passphrase) = (whole_path(&file)?, passphrase()?);
                let asked = control::RestoreBackup { path, passphrase };
                let reply::Body::Taken(taken) = self.host.ask(request::Body::RestoreBackup(asked)).await?
                else {
                    return Err(unexpected());
                };
                let control::Taken { matches, friends, name } = &taken;
                self.print(
                    || format!("with the next start: {name}, {friends} friends, {matches} matches"),
                    || json::taken(&taken),
                )
            }
            DeviceCommand::Import { file } => {
                let name =
                    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let unreadable =
                    |why: &dyn std::fmt::Display| Failure::Other(format!("{}: {why}", file.display()));
                let content = client::files::read_game(&file).map_err(|error| unreadable(&error))?;
                let import = control::Import { name, content: content.into() };
                let reply::Body::RoomId(id) = self.host.ask(request::Body::Import(import)).await? else {
                    return Err(unexpected());
                };
                self.print(|| id.clone(), || json!({"room_id": id}))
            }
            DeviceCommand::Export { id, format, file } => {
                let ending = file.as_ref().and_then(|file| file.extension()).map(|one| one.to_string_lossy());
                let format = format.or(ending.map(Into::into)).unwrap_or_default();
                let export = control::Export { room_id: id, format, ply: None };
                let reply::Body::File(exported) = self.host.ask(request::Body::Export(export)).await? else {
                    return Err(unexpected());
                };
                let Some(file) = file else {
                    let text = String::from_utf8_lossy(&exported.content);
                    return self.print(
                        || text.trim_end().into(),
                        || json!({"name": exported.name, "content": text}),
                    );
                };
                let write = || File::create_new(&file)?.write_all(&exported.content);
                write().map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
                self.print(|| file.display().to_string(), || json!({"file": file}))
            }
            DeviceCommand::Give { id, who } => {
                let give = control::Give { room_id: id, peer: self.friend(&who)? };
                self.ask_done(request::Body::Give(give)).await
            }
            DeviceCommand::Gifts => self.host.state().gifts.iter().try_for_each(|one| {
                let plies = one.r#match.as_ref().map_or(0, |one| one.ply);
                self.print(|| format!("{}  {}  {plies} moves", one.gift_id, one.name), || json::gift(one))
            }),
            DeviceCommand::Keep { gift } => {
                let answer = control::AnswerGift { gift_id: gift, keep: true };
                let reply::Body::RoomId(id) = self.host.ask(request::Body::AnswerGift(answer)).await? else {
                    return Err(unexpected());
                };
                self.print(|| format!("kept as {id}"), || json!({"room_id": id}))
            }
            DeviceCommand::Refuse { gift } => {
                let answer = control::AnswerGift { gift_id: gift, keep: false };
                self.ask_done(request::Body::AnswerGift(answer)).await
            }
            DeviceCommand::Unblock { who } => {
                let blocked: Vec<_> = self.host.state().blocked.values().cloned().collect();
                let peer = one_of(&who, blocked.iter().map(|one| (&*one.id, &*one.name)))?
                    .ok_or_else(|| Failure::NotToBe(format!("nobody called {who} is blocked")))?;
                self.ask_done(request::Body::Unblock(control::Unblock { peer })).await
            }
            DeviceCommand::Strangers => self
                .host
                .state()
                .strangers
                .values()
                .try_for_each(|one| self.print(|| text::stranger(one), || json::stranger(one))),
            DeviceCommand::SendAway { who } => {
                let strangers = self.host.state().strangers.values();
                let peer = one_of(&who, strangers.map(|one| (&*one.id, &*one.name)))?
                    .ok_or_else(|| Failure::NotToBe(format!("no stranger called {who} is connected")))?;
                self.ask_done(request::Body::SendAway(control::SendAway { peer })).await
            }
            DeviceCommand::Blocked => self.host.state().blocked.values().try_for_each(|one| {
                self.print(|| format!("{}  {}", one.name, one.id), || json::blocked(one))
            }),
            DeviceCommand::Note { who, text } => {
                let peer = self.friend(&who)?;
                if let Some(note) = text {
                    let set = control::SetNote { peer: peer.clone(), note };
                    return self.ask_done(request::Body::SetNote(set)).await;
                }
                let friend = &self.host.state().friends[&peer];
                self.print(|| friend.note.clone(), || json::friend(friend))
            }
            DeviceCommand::SamePerson { old, new } => {
                let (old, new) = (self.friend(&old)?, self.friend(&new)?);
                self.ask_done(request::Body::SamePerson(control::SamePerson { old, new })).await
            }
            DeviceCommand::FoundWhenClosed { to } => {
                if let Some(to) = to {
                    let set = control::SetFoundWhenClosed { on: to == Switch::On };
                    self.host.ask(request::Body::SetFoundWhenClosed(set)).await?;
                }
                let on = self.host.state().me.found_when_closed;
                self.print(
                    || if on { "on: friends find this device" } else { "off: nobody finds it" }.into(),
                    || json!({"found_when_closed": on}),
                )
            }
            DeviceCommand::MakesPuzzles { to } => {
                if let Some(to) = to {
                    let set = control::SetMakesPuzzles { on: to == Switch::On };
                    self.host.ask(request::Body::SetMakesPuzzles(set)).await?;
                }
                let on = self.host.state().me.makes_puzzles;
                self.print(|| if on { "on" } else { "off" }.into(), || json!({"makes_puzzles": on}))
            }
            DeviceCommand::QuietHours { from, until } => {
                if let Some(hours) = asked_hours(from.as_deref(), until.as_deref())? {
                    self.host.ask(request::Body::SetQuietHours(hours)).await?;
                }
                let hours = self.host.state().me.quiet_hours.as_ref().map(json::quiet_hours);
                self.print(
                    || hours.as_ref().map_or_else(|| "none".into(), text::quiet_hours),
                    || json!({"quiet_hours": hours}),
                )
            }
            DeviceCommand::Adapter { to } => self.adapter(to).await,
            DeviceCommand::Carrier { which, to } => {
                let carrier = match which {
                    Switched::Bluetooth => control::Carrier::Bluetooth,
                    Switched::Lan => control::Carrier::Lan,
                };
                let set = control::SetCarrier { carrier: carrier.into(), on: to == Switch::On };
                self.ask_done(request::Body::SetCarrier(set)).await
            }
        }
    }

    async fn adapter(&mut self, to: Option<String>) -> Result<(), Failure> {
        if let Some(adapter) = to {
            let adapter = if adapter == "first" { String::new() } else { adapter };
            self.host.ask(request::Body::SetAdapter(control::SetAdapter { adapter })).await?;
        }
        let list = self.host.ask(request::Body::ListAdapters(control::ListAdapters {})).await?;
        let reply::Body::Adapters(list) = list else { return Err(unexpected()) };
        list.adapters.iter().try_for_each(|one| self.print(|| text::adapter(one), || json::adapter(one)))
    }

    /// The id of the friend, nearby device or comparison partner with this name or id.
    fn anybody(&self, who: &str) -> Result<String, Failure> {
        let state = self.host.state();
        let friends = state.friends.values().map(|one| (&*one.id, &*one.name));
        let compared = state.comparisons.iter().map(|one| (&*one.peer, &*one.name));
        let nearby = state.nearby.values().map(|one| (&*one.id, &*one.name));
        one_of(who, friends.chain(compared))?
            .map_or_else(|| one_of(who, nearby), |id| Ok(Some(id)))?
            .ok_or_else(|| Failure::NotToBe(format!("nobody is called {who}")))
    }
}

/// What is asked of the host; `None`: only to print what there is.
fn asked_hours(from: Option<&str>, until: Option<&str>) -> Result<Option<control::SetQuietHours>, Failure> {
    let minute = |text: &str| {
        let (hour, minute) = text.split_once(':')?;
        let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    };
    let hours = match (from, until) {
        (None, _) => return Ok(None),
        (Some("off"), None) => None,
        (Some(from), until) => {
            let (from, until) = (minute(from), until.and_then(minute));
            let Some((from_minute, until_minute)) = from.zip(until) else {
                return Err(Failure::Usage("two times of day are needed, such as 22:00 8:00, or off".into()));
            };
            Some(control::QuietHours { from_minute, until_minute })
        }
    };
    Ok(Some(control::SetQuietHours { hours }))
}

/// The only id that matches this id or name; `None` if there is none. An exact id wins over equal names.
fn one_of<'a>(who: &str, all: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Option<String>, Failure> {
    let mut ids: Vec<&str> = Vec::new();
    for (id, name) in all {
        if id == who {
            return Ok(Some(id.to_owned()));
        }
        if name == who && !ids.contains(&id) {
            ids.push(id);
        }
    }
    match ids.as_slice() {
        [] => Ok(None),
        [id] => Ok(Some((*id).to_owned())),
        _ => Err(Failure::Usage(format!("several are called {who}: say the id"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_are_two_times_of_day_or_off() {
        let asked = |from, until| asked_hours(from, until).map(|asked| asked.map(|set| set.hours));
        let night = control::QuietHours { from_minute: 1_350, until_minute: 480 };
        assert_eq!(asked(Some("22:30"), Some("8:00")).ok(), Some(Some(Some(night))));
        assert_eq!(asked(Some("off"), None).ok(), Some(Some(None)));
        assert_eq!(asked(None, None).ok(), Some(None));
        for (from, until) in
            [("22:30", None), ("24:00", Some("8:00")), ("22", Some("8")), ("off", Some("8:00"))]
        {
            assert!(asked(Some(from), until).is_err(), "{from} {until:?}");
        }
    }

    #[test]
    fn one_is_found_by_name_and_several_only_by_id() {
        let all = [("1", "Ben"), ("2", "Ben"), ("3", "Anna")];
        assert!(matches!(one_of("Anna", all.into_iter()), Ok(Some(id)) if id == "3"));
        assert!(matches!(one_of("2", all.into_iter()), Ok(Some(id)) if id == "2"));
        assert!(matches!(one_of("Carl", all.into_iter()), Ok(None)));
        assert!(matches!(one_of("Ben", all.into_iter()), Err(Failure::Usage(_))));
    }
}
