//! This device's identity: a static key that authenticates it to peers, and an advert key by which friends recognise its
//! rotating tag.
//!
//! Kept in a small text file that only its owner may read. A file that cannot be read is never overwritten: with a lost key
//! this device would be a stranger to all its friends.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use zeroize::Zeroizing;

use crate::owners;

/// This device's keys. `Debug` shows the fingerprint only.
pub struct Identity {
    secret: Zeroizing<[u8; 32]>,
    advert: Zeroizing<[u8; 32]>,
    /// The public key of `secret`.
    public: [u8; 32],
}

/// Why there is no identity. Nothing was changed on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// An error of the system: a full or missing disk, a missing permission.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is damaged. Restore a copy, or move the file away to become a new device to all friends.
    #[error("{path} is damaged ({why}); it was left as it is")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is damaged.
        why: &'static str,
    },
    /// Other users may read the file, and its permissions could not be changed.
    #[error("{path} can be read by others (mode {mode:o}) and `chmod 600` failed: {source}")]
    TooOpen {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// Why they could not be changed.
        source: io::Error,
    },
    /// The system provides no randomness.
    #[error("no randomness: {0}")]
    NoRandomness(getrandom::Error),
}

impl Identity {
    /// Makes a new identity from the system's randomness.
    pub fn generate() -> Result<Self, IdentityError> {
        let mut secret = Zeroizing::new([0; 32]);
        let mut advert = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).map_err(IdentityError::NoRandomness)?;
        getrandom::fill(&mut *advert).map_err(IdentityError::NoRandomness)?;
        Ok(Self::new(secret, advert))
    }

    /// Reads the file, or creates a new identity and writes the file if it is missing. Several processes that create it at
    /// once all get the same identity. If other users may read the file, its permissions are tightened and a warning is
    /// logged.
    pub fn load_or_create(path: &Path) -> Result<Self, IdentityError> {
        if let Some(identity) = Self::load(path)? {
            return Ok(identity);
        }
        let identity = Self::generate()?;
        let text = identity.to_text();
        match write_new(path, |file| file.write_all(text.as_bytes())) {
            Ok(()) => Ok(identity),
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => match Self::load(path)? {
                Some(identity) => Ok(identity),
                None => Err(IdentityError::Io { path: path.to_owned(), source }),
            },
            Err(source) => Err(IdentityError::Io { path: path.to_owned(), source }),
        }
    }

    /// Reads the file; `None` if it is missing.
    pub fn load(path: &Path) -> Result<Option<Self>, IdentityError> {
        let failed = |source| IdentityError::Io { path: path.to_owned(), source };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if let Some(mode) = owners::open_to_others(&file).map_err(failed)? {
            owners::close_to_others(&file).map_err(|source| IdentityError::TooOpen {
                path: path.to_owned(),
                mode,
                source,
            })?;
            tracing::warn!(path = %path.display(), mode = format!("{mode:o}"), "the identity could be read by others; closed now");
        }
        let mut text = Zeroizing::new(Vec::with_capacity(LONGEST_FILE));
        file.take(LONGEST_FILE as u64).read_to_end(&mut text).map_err(failed)?;
        match Self::from_text(&text) {
            Ok(identity) => Ok(Some(identity)),
            Err(why) => Err(IdentityError::Corrupt { path: path.to_owned(), why }),
        }
    }

    /// The static public key by which peers know this device.
    pub fn public_key(&self) -> [u8; 32] {
        self.public
    }

    /// Shared with friends only; derives this device's [`Tag`](crate::Tag)s.
    pub fn advert_key(&self) -> &[u8; 32] {
        &self.advert
    }

    /// This device's own [`fingerprint`].
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.public)
    }

    pub(crate) fn secret_key(&self) -> &[u8; 32] {
        &self.secret
    }

    fn new(secret: Zeroizing<[u8; 32]>, advert: Zeroizing<[u8; 32]>) -> Self {
        let mut dh =
            DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("snow is built with Curve25519");
        dh.set(&*secret);
        let mut public = [0; 32];
        public.copy_from_slice(dh.pubkey());
        Self { secret, advert, public }
    }

    fn to_text(&self) -> Zeroizing<String> {
        // Allocated with its final capacity: a growing string would leave copies of the secret behind.
        let mut text = Zeroizing::new(String::with_capacity(LONGEST_FILE));
        text.push_str(FIRST_LINE);
        for (word, key) in [(SECRET, &self.secret), (ADVERT, &self.advert)] {
            text.push_str(word);
            push_hex(&mut text, &**key);
            text.push('\n');
        }
        let check = check_of(text.as_bytes());
        text.push_str(CHECK);
        text.push_str(&check);
        text.push('\n');
        text
    }

    fn from_text(text: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(text).map_err(|_| "not text")?;
        let rest = text.strip_prefix(FIRST_LINE).ok_or("not an identity of this version")?;
        let (body, check) = text.split_once(CHECK).ok_or("cut off")?;
        if check.strip_suffix('\n') != Some(check_of(body.as_bytes()).as_str()) {
            return Err("its check does not fit");
        }
        let mut lines = rest.split_inclusive('\n');
        let secret = key_line(lines.next(), SECRET)?;
        let advert = key_line(lines.next(), ADVERT)?;
        Ok(Self::new(secret, advert))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("fingerprint", &self.fingerprint()).finish_non_exhaustive()
    }
}

/// A public key for people and logs: 120 bits of its SHA-256, as six groups of four letters and digits. Nobody can make a
/// key with a given fingerprint (2^120 tries).
pub fn fingerprint(public_key: &[u8; 32]) -> String {
    // RFC 4648, section 6, in lower case.
    const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digest = Sha256::digest(public_key);
    let mut text = String::with_capacity(29);
    for (group, bytes) in digest[..15].chunks(5).enumerate() {
        let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        for letter in 0..8 {
            if letter % 4 == 0 && (group, letter) != (0, 0) {
                text.push('-');
            }
            text.push(BASE32[(bits >> (35 - 5 * letter)) as usize & 31] as char);
        }
    }
    text
}

const FIRST_LINE: &str = "qiyou identity 1\n";
const SECRET: &str = "secret ";
const ADVERT: &str = "advert ";
const CHECK: &str = "check ";
const HEX: &[u8; 16] = b"0123456789abcdef";

/// The file has 199 bytes; a longer file is not ours.
const LONGEST_FILE: usize = 256;

/// Half of a SHA-256, as a checksum against damage; it is no authentication.
fn check_of(text: &[u8]) -> String {
    let mut check = String::new();
    push_hex(&mut check, &Sha256::digest(text)[..16]);
    check
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push(HEX[usize::from(byte >> 4)] as char);
        text.push(HEX[usize::from(byte & 15)] as char);
    }
}

fn key_line(line: Option<&str>, word: &str) -> Result<Zeroizing<[u8; 32]>, &'static str> {
    const WRONG: &str = "a key is missing";
    let digits = line.and_then(|line| line.strip_prefix(word)?.strip_suffix('\n')).ok_or(WRONG)?.as_bytes();
    let mut key = Zeroizing::new([0; 32]);
    if digits.len() != 2 * key.len() {
        return Err(WRONG);
    }
    for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
        for digit in pair {
            let value = HEX.iter().position(|hex| hex == digit).ok_or(WRONG)?;
            *byte = *byte << 4 | value as u8;
        }
    }
    Ok(key)
}

/// Writes a new file that only its owner may read: atomically, also on power failure. `AlreadyExists` if the file exists.
fn write_new(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    owners::create_folder(directory)?;
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let unfinished = directory.join(format!(".identity-{:016x}", u64::from_ne_bytes(random)));
    let written = owners::create_file(&unfinished).and_then(|mut file| {
        fill(&mut file)?;
        file.sync_all()
    });
    // `hard_link` fails on an existing file, while a rename would silently replace another process's fresh key.
    let placed = written.and_then(|()| match fs::hard_link(&unfinished, path) {
        // FAT has no hard links; there a rename accepts the race.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !path.exists() => {
            fs::rename(&unfinished, path)
        }
        other => other,
    });
    // Absent after a rename.
    let _ = fs::remove_file(&unfinished);
    placed?;
    owners::sync_folder(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("exists").mode() & 0o777
    }

    #[test]
    fn an_identity_is_the_same_after_a_restart() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("deep/er/identity");
        let first = Identity::load_or_create(&path).expect("is made");
        let second = Identity::load_or_create(&path).expect("is read");
        assert_eq!(first.public_key(), second.public_key());
        assert_eq!(first.secret_key(), second.secret_key());
        assert_eq!(first.advert_key(), second.advert_key());
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().expect("a parent")), 0o700);
        assert_eq!(
            fs::read_dir(path.parent().expect("a parent")).expect("readable").count(),
            1,
            "nothing is left over"
        );
    }

    #[test]
    fn two_identities_differ() {
        let (one, other) = (Identity::generate().expect("random"), Identity::generate().expect("random"));
        assert_ne!(one.public_key(), other.public_key());
        assert_ne!(one.advert_key(), other.advert_key());
        assert_ne!(one.secret_key(), one.advert_key());
    }

    #[test]
    fn the_public_key_is_x25519_of_the_secret() {
        // Computed with the ladder of RFC 7748, section 5, written in Python.
        let secret = std::array::from_fn(|at| at as u8);
        let identity = Identity::new(Zeroizing::new(secret), Zeroizing::new([0; 32]));
        let mut hex = String::new();
        push_hex(&mut hex, &identity.public_key());
        assert_eq!(hex, "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f");
    }

    #[test]
    fn debug_shows_no_secret() {
        let identity = Identity::new(Zeroizing::new([0xAB; 32]), Zeroizing::new([0xCD; 32]));
        let text = format!("{identity:?}");
        assert!(text.contains(&identity.fingerprint()));
        for secret in ["ab, ab", "171, 171", "abab", "cdcd", "205, 205"] {
            assert!(!text.to_lowercase().contains(secret), "{text}");
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_closed_to_them() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("identity");
        let first = Identity::load_or_create(&path).expect("is made");
        for open in [0o644, 0o640, 0o660, 0o606] {
            fs::set_permissions(&path, fs::Permissions::from_mode(open)).expect("own file");
            let again = Identity::load_or_create(&path).expect("is read");
            assert_eq!((again.public_key(), mode(&path)), (first.public_key(), 0o600));
        }
    }

    #[test]
    fn a_damaged_file_is_refused_and_left_as_it_is() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("identity");
        Identity::load_or_create(&path).expect("is made");
        let whole = fs::read(&path).expect("readable");
        let check = |damaged: &[u8]| {
            fs::write(&path, damaged).expect("writable");
            let result = Identity::load_or_create(&path);
            assert!(matches!(result, Err(IdentityError::Corrupt { .. })), "{result:?}");
            assert_eq!(fs::read(&path).expect("readable"), damaged);
        };
        for end in 0..whole.len() {
            check(&whole[..end]);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            check(&damaged);
        }
        let mut longer = whole.clone();
        longer.extend_from_slice(b"more\n");
        check(&longer);
        check(&[0xFF; 4_000]);
        fs::write(&path, &whole).expect("writable");
        Identity::load_or_create(&path).expect("whole again");
    }

    #[test]
    fn a_disk_that_fills_up_leaves_nothing_behind_and_replaces_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("identity");
        let full = |file: &mut File| {
            file.write_all(b"half of")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let error = write_new(&path, full).expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(home.path()).expect("readable").count(), 0);

        let first = Identity::load_or_create(&path).expect("there is room now");
        let error = write_new(&path, |file| file.write_all(b"another")).expect_err("one exists");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(Identity::load_or_create(&path).expect("is read").public_key(), first.public_key());
        assert_eq!(fs::read_dir(home.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_told_by_name() {
        let home = tempfile::tempdir().expect("a directory");
        fs::write(home.path().join("file"), b"").expect("writable");
        let path = home.path().join("file/identity");
        let error = Identity::load_or_create(&path).expect_err("not a directory");
        assert!(error.to_string().contains("file/identity"), "{error}");
    }

    #[test]
    fn of_many_processes_that_begin_at_once_all_get_the_same_identity() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("identity");
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| {
                    scope
                        .spawn(|| Identity::load_or_create(&path).expect("one of them makes it").public_key())
                })
                .collect();
            all.into_iter().map(|one| one.join().expect("no panic")).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn a_fingerprint_is_six_groups_of_base32() {
        assert_eq!(fingerprint(&[0; 32]), FINGERPRINT_OF_ZEROS);
        assert_ne!(fingerprint(&[1; 32]), fingerprint(&[0; 32]));
    }

    /// Computed with Python: base64.b32encode(hashlib.sha256(bytes(32)).digest()[:15]).lower()
    const FINGERPRINT_OF_ZEROS: &str = "mzuh-vlpy-mk6x-o3ep-ygfy-5h4o";
}
