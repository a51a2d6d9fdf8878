//! Storage of the account's password: in the desktop's keyring if there is one, otherwise in a file readable by its owner
//! only.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tracing::{debug, info};

use crate::desktop::Bus;

/// Name of the file in the data directory. First line: the account; second line: the password.
const FILE: &str = "account-password";

/// The password store.
#[derive(Clone)]
pub(crate) struct Secrets {
    directory: PathBuf,
    /// Bus of the keyring; `None`: the keyring is not used.
    bus: Option<Bus>,
}

impl Secrets {
    pub(crate) fn new(directory: PathBuf, bus: Option<Bus>) -> Self {
        Self { directory, bus }
    }

    /// Stores a password, in one place only. Another account's is replaced.
    pub(crate) async fn keep(&self, account: &str, password: &str) -> io::Result<()> {
        if password.contains(['\n', '\r']) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a password is one line"));
        }
        if self.keyring_keeps(account, password).await {
            info!(account, "the password is in the keyring");
            remove(&self.directory);
            return Ok(());
        }
        keep(&self.directory, account, password)
    }

    /// The stored password of this account.
    pub(crate) async fn load(&self, account: &str) -> Option<String> {
        if let Some(password) = self.keyring_has(account).await {
            return Some(password);
        }
        load(&self.directory, account)
    }

    /// Removes the password of this account from keyring and file.
    pub(crate) async fn forget(&self, account: &str) {
        if load(&self.directory, account).is_some() {
            remove(&self.directory);
        }
        self.keyring_forgets(account).await;
    }
}

#[cfg(target_os = "linux")]
impl Secrets {
    fn keyring(&self) -> Option<crate::desktop::secret_service::Keyring> {
        let bus = self.bus.as_ref()?;
        crate::desktop::secret_service::Keyring::open(bus)
            .inspect_err(|error| debug!(%error, "no keyring can be asked"))
            .ok()
    }

    async fn keyring_keeps(&self, account: &str, password: &str) -> bool {
        let Some(keyring) = self.keyring() else { return false };
        let kept = keyring.keep(account, password).await;
        kept.inspect_err(|error| info!(%error, "the keyring does not keep the password: a file does")).is_ok()
    }

    async fn keyring_has(&self, account: &str) -> Option<String> {
        let loaded = self.keyring()?.load(account).await;
        loaded.inspect_err(|error| debug!(%error, "the keyring does not give the password")).ok().flatten()
    }

    async fn keyring_forgets(&self, account: &str) {
        if let Some(keyring) = self.keyring()
            && let Err(error) = keyring.forget(account).await
        {
            debug!(%error, "the keyring does not forget the password");
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, clippy::unused_self, reason = "as where there is a desktop")]
impl Secrets {
    async fn keyring_keeps(&self, _: &str, _: &str) -> bool {
        debug!(bus = ?self.bus, "no keyring here");
        false
    }

    async fn keyring_has(&self, _: &str) -> Option<String> {
        None
    }

    async fn keyring_forgets(&self, _: &str) {}
}

/// Stores a password in the file, which has space for one.
fn keep(directory: &Path, account: &str, password: &str) -> io::Result<()> {
    let (path, new) = (path(directory), directory.join(format!("{FILE}.new")));
    // A leftover of a crash may have another mode.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(format!("{account}\n{password}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)
}

fn load(directory: &Path, account: &str) -> Option<String> {
    let text = fs::read_to_string(path(directory)).ok()?;
    let (name, password) = text.split_once('\n')?;
    (name == account).then(|| password.trim_end_matches('\n').to_owned())
}

fn remove(directory: &Path) {
    // A file that cannot be removed is missing, or cannot be read either.
    let _ = fs::remove_file(path(directory));
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn without_a_keyring_a_password_is_in_a_file_for_its_account_and_its_owner_only() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = home.path();
        // No keyring listens on that bus.
        let nowhere = Bus::At(format!("unix:path={}", directory.join("bus").display()));
        for bus in [None, Some(nowhere)] {
            let secrets = Secrets::new(directory.to_owned(), bus);
            assert_eq!(secrets.load("anna@here").await, None);
            secrets.keep("anna@here", "pass word ä ").await.expect("kept");
            let mode = fs::metadata(path(directory)).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert_eq!(secrets.load("anna@here").await.as_deref(), Some("pass word ä "));
            assert_eq!(secrets.load("ben@here").await, None);
            secrets.keep("ben@here", "other").await.expect("replaced");
            secrets.forget("anna@here").await;
            assert_eq!(secrets.load("ben@here").await.as_deref(), Some("other"));
            secrets.forget("ben@here").await;
            assert_eq!(secrets.load("ben@here").await, None);
            assert!(secrets.keep("ben@here", "two\nlines").await.is_err());
        }
    }
}
