//! Passwords in the desktop's keyring, through the Secret Service API (freedesktop.org, draft 0.2).

use std::collections::HashMap;
use std::time::Duration;

use dbus::Path;
use dbus::arg::{PropMap, RefArg, Variant};
use dbus::channel::BusType;
use dbus::nonblock::stdintf::org_freedesktop_dbus::Properties;
use dbus::nonblock::{Proxy, SyncConnection};

use super::Bus;
use super::bus::{CALL_WITHIN, Connected};

const SERVICE: &str = "org.freedesktop.secrets";
const PATH: &str = "/org/freedesktop/secrets";
const INTERFACE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROMPT: &str = "org.freedesktop.Secret.Prompt";

/// Time limit for the user to unlock the keyring, and (below) the polling interval.
const PERSON_UNLOCKS: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The API's value for "no object".
const NONE: &str = "/";

/// Session, encryption parameters, secret, content type.
type Secret = (Path<'static>, Vec<u8>, Vec<u8>, String);

/// A connection to the keyring.
pub(crate) struct Keyring {
    connected: Connected,
}

/// Error of the keyring.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyringError {
    #[error("{0}")]
    Bus(#[from] dbus::Error),
    #[error("the keyring stays locked")]
    Locked,
    #[error("there is no keyring to keep it in")]
    NoCollection,
}

impl Keyring {
    pub(crate) fn open(bus: &Bus) -> Result<Self, KeyringError> {
        Ok(Self { connected: Connected::open(bus, BusType::Session)? })
    }

    /// Stores the password of an account, replacing a previous one.
    pub(crate) async fn keep(&self, account: &str, password: &str) -> Result<(), KeyringError> {
        let (collection,): (Path<'static>,) =
            self.at(PATH).method_call(INTERFACE, "ReadAlias", ("default",)).await?;
        if &*collection == NONE {
            return Err(KeyringError::NoCollection);
        }
        self.unlock(&collection, COLLECTION).await?;
        let secret: Secret =
            (self.session().await?, Vec::new(), password.as_bytes().to_vec(), "text/plain".into());
        let text = |text: String| Variant(Box::new(text) as Box<dyn RefArg>);
        let properties = PropMap::from([
            (format!("{ITEM}.Label"), text(format!("Qiyou {account}"))),
            (format!("{ITEM}.Attributes"), Variant(Box::new(attributes(account)) as Box<dyn RefArg>)),
        ]);
        let (_, prompt): (Path<'static>, Path<'static>) =
            self.at(&collection).method_call(COLLECTION, "CreateItem", (properties, secret, true)).await?;
        if &*prompt == NONE { Ok(()) } else { Err(KeyringError::Locked) }
    }

    /// The stored password of an account; `None` if there is none. May ask the user to unlock the keyring.
    pub(crate) async fn load(&self, account: &str) -> Result<Option<String>, KeyringError> {
        let Some(item) = self.find(account).await? else { return Ok(None) };
        self.unlock(&item, ITEM).await?;
        let session = self.session().await?;
        let (secret,): (Secret,) = self.at(&item).method_call(ITEM, "GetSecret", (session,)).await?;
        Ok(String::from_utf8(secret.2).ok())
    }

    pub(crate) async fn forget(&self, account: &str) -> Result<(), KeyringError> {
        if let Some(item) = self.find(account).await? {
            let (_prompt,): (Path<'static>,) = self.at(&item).method_call(ITEM, "Delete", ()).await?;
        }
        Ok(())
    }

    async fn find(&self, account: &str) -> Result<Option<Path<'static>>, KeyringError> {
        let (open, locked): (Vec<Path<'static>>, Vec<Path<'static>>) =
            self.at(PATH).method_call(INTERFACE, "SearchItems", (attributes(account),)).await?;
        Ok(open.into_iter().chain(locked).next())
    }

    /// Opens a session without encryption: the bus belongs to this user.
    async fn session(&self) -> Result<Path<'static>, KeyringError> {
        let arguments = ("plain", Variant(String::new()));
        let (_, session): (Variant<Box<dyn RefArg>>, Path<'static>) =
            self.at(PATH).method_call(INTERFACE, "OpenSession", arguments).await?;
        Ok(session)
    }

    /// Asks the user to unlock, if necessary, and waits.
    async fn unlock(&self, path: &Path<'static>, interface: &str) -> Result<(), KeyringError> {
        if !self.is_locked(path, interface).await? {
            return Ok(());
        }
        let (_, prompt): (Vec<Path<'static>>, Path<'static>) =
            self.at(PATH).method_call(INTERFACE, "Unlock", (vec![path.clone()],)).await?;
        if &*prompt != NONE {
            // The prompt has no parent window.
            let () = self.at(&prompt).method_call(PROMPT, "Prompt", ("",)).await?;
        }
        let asked = async {
            while self.is_locked(path, interface).await? {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Ok(())
        };
        tokio::time::timeout(PERSON_UNLOCKS, asked).await.unwrap_or(Err(KeyringError::Locked))
    }

    async fn is_locked(&self, path: &Path<'static>, interface: &str) -> Result<bool, KeyringError> {
        Ok(self.at(path).get(interface, "Locked").await?)
    }

    fn at<'a>(&'a self, path: &'a str) -> Proxy<'a, &'a SyncConnection> {
        Proxy::new(SERVICE, path, CALL_WITHIN, &*self.connected.connection)
    }
}

/// The attributes by which the item is found.
fn attributes(account: &str) -> HashMap<String, String> {
    [("application", "qiyou"), ("account", account)].map(|(key, value)| (key.into(), value.into())).into()
}
