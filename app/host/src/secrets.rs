//! Where an account's password is kept: a file that only its owner reads.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Name of the file in the data directory. Its first line is the account, its second the password.
const FILE: &str = "account-password";

/// Keeps a password until [`forget`]; another account's is replaced.
pub(crate) fn keep(directory: &Path, account: &str, password: &str) -> io::Result<()> {
    if password.contains(['\n', '\r']) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a password is one line"));
    }
    let (path, new) = (path(directory), directory.join(format!("{FILE}.new")));
    // What a crash left behind may have another mode.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(format!("{account}\n{password}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// The password of this account, if it was kept.
pub(crate) fn load(directory: &Path, account: &str) -> Option<String> {
    let text = fs::read_to_string(path(directory)).ok()?;
    let (name, password) = text.split_once('\n')?;
    (name == account).then(|| password.trim_end_matches('\n').to_owned())
}

/// Removes this account's password.
pub(crate) fn forget(directory: &Path, account: &str) {
    if load(directory, account).is_some() {
        // One that cannot be removed cannot be read either.
        let _ = fs::remove_file(path(directory));
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_password_is_kept_for_its_account_and_its_owner_only() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = home.path();
        assert_eq!(load(directory, "anna@here"), None);
        keep(directory, "anna@here", "pass word ä ").expect("kept");
        let mode = fs::metadata(path(directory)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(load(directory, "anna@here").as_deref(), Some("pass word ä "));
        assert_eq!(load(directory, "ben@here"), None);
        keep(directory, "ben@here", "other").expect("replaced");
        forget(directory, "anna@here");
        assert_eq!(load(directory, "ben@here").as_deref(), Some("other"));
        forget(directory, "ben@here");
        assert_eq!(load(directory, "ben@here"), None);
        assert!(keep(directory, "ben@here", "two\nlines").is_err());
    }
}
