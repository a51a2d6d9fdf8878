//! Backup of identity and saves in one file, encrypted with a passphrase, and its restoration.
//!
//! The file begins with a magic line and the parameters of the key derivation: Argon2id (RFC 9106) over passphrase and salt
//! yields the key, and a check value that tells a wrong passphrase from a damaged file. The rest is encrypted with
//! XChaCha20-Poly1305, with this header as associated data.
//!
//! A restored backup is first staged beside the present files. At the next start it replaces them before anything reads
//! them, and the present files are moved into a folder of their own. A power cut at any moment leaves each file in one of
//! the two places.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use link::identity::Identity;
use proto::control::{self, RefusalCode, event};
use tracing::{info, warn};
use zeroize::Zeroizing;

use crate::chance::Chance;
use crate::config::IDENTITY;
use crate::journal::Journal;
use crate::refusal::Refusal;
use crate::responder::{Answer, Responder, done};
use crate::store::{self, DATABASE, StoreError};
use crate::work::{Job, JobContext, Work};

/// Minimum length of a passphrase, in characters: at the cost of a guess here, eight random characters resist for years.
const LEAST_CHARS: usize = 8;

/// Maximum size of a backup, in bytes: a thousand times what a year of play takes.
const MOST_BYTES: u64 = 256 << 20;

/// Progress at the beginning and the end of the key derivation, at the beginning of the check of a restored database, and at the
/// end, in thousandths. The key derivation takes half a second; the rest, which is told more finely, grows with the database.
const SEALING: u32 = 300;
const SEALED: u32 = 500;
const CHECKING: u32 = 900;
const WHOLE: u32 = 1000;

const FIRST_LINE: &[u8] = b"qiyou backup 1\n";
const FAMILY: &[u8] = b"qiyou backup ";
const SALT: usize = 16;
const CHECK: usize = 16;
const NONCE: usize = 24;
const HEAD: usize = FIRST_LINE.len() + 8 + SALT + CHECK + NONCE;

/// Name of the staging folder, and its name while incomplete.
const INCOMING: &str = "incoming";
const UNFINISHED: &str = "incoming.unfinished";

/// SQLite's files beside a database. They are moved before it, because a new database must not be opened with the log of the
/// old one.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Parameters of Argon2id: the second recommended option of RFC 9106, section 4; half a second on a handheld.
#[derive(Clone, Copy)]
pub(crate) struct KdfParams {
    memory_kib: u32,
    passes: u32,
}

impl Default for KdfParams {
    fn default() -> Self {
        Self { memory_kib: 64 << 10, passes: 3 }
    }
}

impl KdfParams {
    /// Whether the KDF parameters in a file's header are acceptable: at most four times our memory and eight times our work, some
    /// seconds on a handheld. A damaged or hostile file must not exhaust memory or time.
    fn is_acceptable(self) -> bool {
        let ours = Self::default();
        let work = u64::from(self.memory_kib) * u64::from(self.passes);
        self.memory_kib <= 4 * ours.memory_kib
            && work <= 8 * u64::from(ours.memory_kib) * u64::from(ours.passes)
    }
}

/// Why a backup was not restored. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unreadable {
    NotABackup,
    Newer,
    WrongPassphrase,
    Damaged,
}

impl From<Unreadable> for Refusal {
    fn from(why: Unreadable) -> Self {
        let (zh, en) = match why {
            Unreadable::NotABackup => ("这不是「棋友」的备份文件。", "This is not a Qiyou backup."),
            Unreadable::Newer => (
                "这个备份来自新版本，请先升级应用。",
                "This backup is from a newer version of Qiyou. Update the app first.",
            ),
            Unreadable::WrongPassphrase => {
                ("口令不对。什么都没有改动。", "Wrong passphrase. Nothing was changed.")
            }
            Unreadable::Damaged => {
                ("备份文件已损坏。什么都没有改动。", "The backup is damaged. Nothing was changed.")
            }
        };
        said(RefusalCode::RefusalBadRequest, zh, en)
    }
}

fn said(code: RefusalCode, zh: &str, en: &str) -> Refusal {
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(code, en) }
}

/// Reads, encrypts and writes, or reads and stages: on a thread of its own.
pub(crate) type Task = Box<dyn FnOnce(&JobContext) -> Result<Answer, Refusal> + Send>;

/// Checks the request for a backup of this directory; reading, encrypting and writing are done by the returned task.
pub(crate) fn save(
    asked: control::SaveBackup,
    directory: &Path,
    journal: &Journal,
    chance: &mut Chance,
) -> Result<Task, Refusal> {
    let passphrase = Zeroizing::new(asked.passphrase);
    if passphrase.chars().count() < LEAST_CHARS {
        let (zh, en) = ("口令至少要八个字符。", "The passphrase needs at least 8 characters.");
        return Err(said(RefusalCode::RefusalBadRequest, zh, en));
    }
    let path = absolute(&asked.path)?;
    let identity = Zeroizing::new(fs::read(directory.join(IDENTITY)).map_err(|error| disk(&error))?);
    let saves = journal.copier();
    let (salt, nonce) = (chance.bytes(), chance.bytes());
    Ok(Box::new(move |context: &JobContext| {
        context.check()?;
        let saves = saves.whole(context, 0..SEALING);
        context.check()?;
        context.report(0, SEALING, 1, 1);
        let sealed = seal(&passphrase, &pack(&identity, &saves?), KdfParams::default(), salt, nonce);
        context.check()?;
        context.report(0, SEALED, 1, 1);
        // The app's default folder is created; any other missing folder is an error.
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            fs::create_dir(folder).map_err(|error| disk(&error))?;
        }
        write_new(&path, &sealed, context, SEALED..WHOLE)?;
        info!(path = %path.display(), bytes = sealed.len(), "everything was saved to a file");
        Ok(done())
    }))
}

/// Checks the request for a restoration into this directory; the returned task stages it for the next start.
pub(crate) fn restore(asked: control::RestoreBackup, directory: &Path) -> Result<Task, Refusal> {
    let passphrase = Zeroizing::new(asked.passphrase);
    let directory = directory.to_owned();
    let path = absolute(&asked.path)?;
    Ok(Box::new(move |context: &JobContext| {
        let taken = stage(&path, &passphrase, &directory, context)?;
        info!(path = %path.display(), matches = taken.matches, "taken over with the next start");
        Ok(Answer::Taken(taken))
    }))
}

/// Runs a task on a thread of its own: reading a long file takes time, and key derivation is slow by design. `ended` is called
/// on that thread before the request is answered.
pub(crate) fn run(
    work: &mut Work,
    responder: Responder,
    task: Result<Task, Refusal>,
    ended: impl FnOnce() + Send + 'static,
) {
    let task = match task {
        Ok(task) if work.has_room(Job::Backup) => task,
        Ok(_) => {
            let (zh, en) = ("正在备份或恢复，请稍等。", "Another backup or restoration is in progress.");
            return responder.refuse(said(RefusalCode::RefusalBusy, zh, en));
        }
        Err(refusal) => return responder.refuse(refusal),
    };
    let tell = responder.teller();
    let context = JobContext::reporting_to(move |permille| {
        tell(event::Body::WorkProgress(control::WorkProgress { permille }));
    });
    work.begin_stoppable(Job::Backup, responder.client, context, move |context| {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task(context)));
        ended();
        let failed = || Err(Refusal::new(RefusalCode::RefusalDisk, "the backup has failed"));
        responder.answer(done.unwrap_or_else(|_| failed()));
    });
}

fn absolute(path: &str) -> Result<PathBuf, Refusal> {
    let path = PathBuf::from(path);
    if path.is_absolute() && path.file_name().is_some() {
        Ok(path)
    } else {
        Err(Refusal::new(RefusalCode::RefusalBadRequest, "the path of a file, from / on"))
    }
}

fn disk(error: &io::Error) -> Refusal {
    Refusal::new(RefusalCode::RefusalDisk, error.to_string())
}

/// Concatenates the length of the identity, the identity and the saves.
fn pack(identity: &[u8], saves: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut packed = Zeroizing::new(Vec::with_capacity(4 + identity.len() + saves.len()));
    packed.extend((identity.len() as u32).to_be_bytes());
    packed.extend(identity);
    packed.extend(saves);
    packed
}

fn unpack(packed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = packed.split_first_chunk()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

fn seal(passphrase: &str, plain: &[u8], params: KdfParams, salt: [u8; SALT], nonce: [u8; NONCE]) -> Vec<u8> {
    let (key, check) = keys(passphrase, &salt, params).expect("Argon2 accepts our own parameters");
    let mut sealed = Vec::with_capacity(HEAD + plain.len() + 16);
    sealed.extend(FIRST_LINE);
    sealed.extend(params.memory_kib.to_be_bytes());
    sealed.extend(params.passes.to_be_bytes());
    sealed.extend(salt);
    sealed.extend(check);
    sealed.extend(nonce);
    let payload = Payload { msg: plain, aad: &sealed };
    let hidden = XChaCha20Poly1305::new(Key::from_slice(&*key))
        .encrypt(XNonce::from_slice(&nonce), payload)
        .expect("a file of saves is not as long as the cipher's bound");
    sealed.extend(hidden);
    sealed
}

fn unseal(passphrase: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, Unreadable> {
    if !sealed.starts_with(FIRST_LINE) {
        return Err(if sealed.starts_with(FAMILY) { Unreadable::Newer } else { Unreadable::NotABackup });
    }
    let (head, hidden) = sealed.split_at_checked(HEAD).ok_or(Unreadable::Damaged)?;
    let mut rest = &head[FIRST_LINE.len()..];
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at(length);
        rest = left;
        taken
    };
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    let params = KdfParams { memory_kib: number(take(4)), passes: number(take(4)) };
    let (salt, check, nonce) = (take(SALT), take(CHECK), take(NONCE));
    if !params.is_acceptable() {
        return Err(Unreadable::Damaged);
    }
    let (key, wanted) = keys(passphrase, salt, params).ok_or(Unreadable::Damaged)?;
    if check != wanted {
        return Err(Unreadable::WrongPassphrase);
    }
    XChaCha20Poly1305::new(Key::from_slice(&*key))
        .decrypt(XNonce::from_slice(nonce), Payload { msg: hidden, aad: head })
        .map(Zeroizing::new)
        .map_err(|_| Unreadable::Damaged)
}

/// The key and the check value for a passphrase; `None` if Argon2 rejects the parameters.
fn keys(passphrase: &str, salt: &[u8], params: KdfParams) -> Option<(Zeroizing<[u8; 32]>, [u8; CHECK])> {
    let mut made = Zeroizing::new([0; 32 + CHECK]);
    let params = Params::new(params.memory_kib, params.passes, 1, Some(made.len())).ok()?;
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut *made)
        .ok()?;
    let mut key = Zeroizing::new([0; 32]);
    key.copy_from_slice(&made[..32]);
    Some((key, made[32..].try_into().expect("what is left")))
}

/// Writes a new file; an incomplete one is deleted. `part`: of the whole computation, in thousandths.
fn write_new(path: &Path, bytes: &[u8], context: &JobContext, part: Range<u32>) -> Result<(), Refusal> {
    /// Bytes between two looks at `context`: some ten milliseconds on a slow card.
    const PIECE: usize = 256 << 10;
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                let (zh, en) = ("已经有同名的文件了。", "A file with that name already exists.");
                said(RefusalCode::RefusalDisk, zh, en)
            } else {
                disk(&error)
            }
        })?;
    let mut write = || {
        let mut written = 0;
        for piece in bytes.chunks(PIECE) {
            context.check()?;
            file.write_all(piece).map_err(|error| disk(&error))?;
            written += piece.len() as u64;
            context.report(part.start, part.end, written, bytes.len() as u64);
        }
        context.check()?;
        file.sync_all().map_err(|error| disk(&error))
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Decrypts and verifies a backup, and stages it for the next start.
fn stage(
    path: &Path,
    passphrase: &str,
    directory: &Path,
    context: &JobContext,
) -> Result<control::Taken, Refusal> {
    context.check()?;
    let mut sealed = Vec::new();
    // A pipe would be waited for, and only the end of this process would end that.
    if !fs::metadata(path).map_err(|error| disk(&error))?.is_file() {
        return Err(Unreadable::NotABackup.into());
    }
    let file = fs::File::open(path).map_err(|error| disk(&error))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut sealed).map_err(|error| disk(&error))?;
    if sealed.len() as u64 > MOST_BYTES {
        return Err(Unreadable::NotABackup.into());
    }
    context.check()?;
    context.report(0, SEALING, 1, 1);
    let plain = unseal(passphrase, &sealed)?;
    context.report(0, SEALED, 1, 1);
    let (identity, saves) = unpack(&plain).ok_or(Unreadable::Damaged)?;
    let unfinished = directory.join(UNFINISHED);
    remove(&unfinished).map_err(|error| disk(&error))?;
    let taken = || -> Result<control::Taken, Refusal> {
        DirBuilder::new().mode(0o700).create(&unfinished).map_err(|error| disk(&error))?;
        write_new(&unfinished.join(IDENTITY), identity, context, SEALED..SEALED)?;
        write_new(&unfinished.join(DATABASE), saves, context, SEALED..CHECKING)?;
        if !matches!(Identity::load(&unfinished.join(IDENTITY)), Ok(Some(_))) {
            return Err(Unreadable::Damaged.into());
        }
        let held =
            store::look_into(&unfinished.join(DATABASE), crate::profile::NAME).map_err(
                |error| match error {
                    StoreError::Newer { .. } => Unreadable::Newer.into(),
                    StoreError::Damaged { .. } => Unreadable::Damaged.into(),
                    other => Refusal::from(other),
                },
            )?;
        context.check()?;
        let incoming = directory.join(INCOMING);
        remove(&incoming).map_err(|error| disk(&error))?;
        fs::rename(&unfinished, &incoming).map_err(|error| disk(&error))?;
        Ok(control::Taken { matches: held.matches, friends: held.friends, name: held.name })
    }();
    if taken.is_err() {
        let _ = remove(&unfinished);
    }
    taken
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces the present files by a staged backup. The caller holds the lock of the directory and has read nothing yet. Every
/// step may be the last before a power cut: the next call continues.
///
/// If the present saves are of a newer program, that one continues: nothing is touched, and the error says so. A backup that a newer
/// program has staged waits for it, and the present saves are used until then.
pub(crate) fn take_incoming(directory: &Path) -> Result<(), StoreError> {
    let (incoming, present) = (directory.join(INCOMING), directory.join(DATABASE));
    if !incoming.is_dir() {
        return Ok(());
    }
    store::refuse_newer(&present)?;
    match store::refuse_newer(&incoming.join(DATABASE)) {
        Err(error) if present.exists() => {
            warn!(%error, "a restored backup waits for a newer program");
            Ok(())
        }
        // Without present saves, empty ones would be made and shown. A power cut may have left it so.
        Err(error) => Err(error),
        Ok(()) => {
            put_in_place(directory, &incoming).map_err(|error| StoreError::of_folder(directory, &error))
        }
    }
}

fn put_in_place(directory: &Path, incoming: &Path) -> io::Result<()> {
    let aside = (1..u32::MAX)
        .map(|number| directory.join(format!("before-import-{number}")))
        .find(|name| !name.exists())
        .expect("nobody keeps four billion old saves");
    for name in [DATABASE, IDENTITY] {
        let new = incoming.join(name);
        if !new.exists() {
            continue;
        }
        let names = BESIDE.iter().map(|ending| format!("{DATABASE}{ending}")).filter(|_| name == DATABASE);
        for old in names.chain([name.to_owned()]) {
            let from = directory.join(&old);
            if from.exists() {
                DirBuilder::new().recursive(true).mode(0o700).create(&aside)?;
                fs::rename(from, aside.join(old))?;
            }
        }
        fs::rename(new, directory.join(name))?;
    }
    remove(incoming)?;
    warn!(aside = %aside.display(), "the saves of a file were taken over; those before lie there");
    Ok(())
}

#[cfg(test)]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: KdfParams = KdfParams { memory_kib: 64, passes: 1 };

    fn sealed(plain: &[u8]) -> Vec<u8> {
        seal("correct horse", plain, QUICK, [3; SALT], [5; NONCE])
    }

    #[test]
    fn what_was_sealed_opens_with_its_passphrase_alone() {
        let file = sealed(b"a board and a key");
        assert_eq!(
            unseal("correct horse", &file).as_deref().map(Vec::as_slice),
            Ok(&b"a board and a key"[..])
        );
        assert_eq!(unseal("battery staple", &file).err(), Some(Unreadable::WrongPassphrase));
        assert_eq!(unseal("", &file).err(), Some(Unreadable::WrongPassphrase));
    }

    #[test]
    fn no_change_and_no_truncation_of_a_file_opens() {
        let file = sealed(b"a board and a key");
        for length in 0..file.len() {
            assert!(unseal("correct horse", &file[..length]).is_err(), "cut at {length}");
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x40;
            assert!(unseal("correct horse", &changed).is_err(), "changed at {at}");
        }
        let after_the_head = HEAD + 1;
        let mut changed = file;
        changed[after_the_head] ^= 1;
        assert_eq!(unseal("correct horse", &changed).err(), Some(Unreadable::Damaged));
        assert_eq!(unseal("x", b"PK\x03\x04").err(), Some(Unreadable::NotABackup));
        assert_eq!(unseal("x", b"qiyou backup 2\n").err(), Some(Unreadable::Newer));
    }

    #[test]
    fn a_file_cannot_ask_for_more_than_a_handheld_has() {
        let params = |mebibytes: u32, passes| KdfParams { memory_kib: mebibytes << 10, passes };
        assert!(KdfParams::default().is_acceptable() && params(256, 6).is_acceptable());
        for much in [params(1_024, 1), params(257, 1), params(256, 7), params(64, 25), params(1_024, 16)] {
            assert!(!much.is_acceptable());
            let mut asking = sealed(b"all");
            let at = FIRST_LINE.len();
            asking[at..at + 4].copy_from_slice(&much.memory_kib.to_be_bytes());
            asking[at + 4..at + 8].copy_from_slice(&much.passes.to_be_bytes());
            assert!(matches!(unseal("secret", &asking), Err(Unreadable::Damaged)));
        }
    }

    #[test]
    fn what_is_packed_comes_apart_again_and_a_wrong_length_does_not() {
        assert_eq!(unpack(&pack(b"key", b"saves")), Some((&b"key"[..], &b"saves"[..])));
        assert_eq!(unpack(&[0, 0, 0, 9, 1]), None);
        assert_eq!(unpack(&[0]), None);
    }

    /// Creates a folder with these files, each containing its name and `word`.
    fn fill(folder: &Path, names: &[&str], word: &str) {
        fs::create_dir_all(folder).expect("a folder");
        for name in names {
            fs::write(folder.join(name), format!("{word} {name}")).expect("written");
        }
    }

    #[test]
    fn a_power_cut_anywhere_while_the_saves_change_places_loses_no_file() {
        let (wal, shm) = (format!("{DATABASE}-wal"), format!("{DATABASE}-shm"));
        let old = [DATABASE, wal.as_str(), shm.as_str(), IDENTITY];
        // Each cut leaves the first steps done by hand; the start continues from there.
        for cut in 0..=6 {
            let home = tempfile::tempdir().expect("a folder for the test");
            let (here, incoming) = (home.path(), home.path().join(INCOMING));
            fill(here, &old, "old");
            fill(&incoming, &[DATABASE, IDENTITY], "new");
            let aside = here.join("before-import-1");
            let moves = [
                (here.join(&wal), aside.join(&wal)),
                (here.join(&shm), aside.join(&shm)),
                (here.join(DATABASE), aside.join(DATABASE)),
                (incoming.join(DATABASE), here.join(DATABASE)),
                (here.join(IDENTITY), aside.join(IDENTITY)),
                (incoming.join(IDENTITY), here.join(IDENTITY)),
            ];
            for (from, to) in &moves[..cut] {
                fs::create_dir_all(&aside).expect("a folder");
                fs::rename(from, to).expect("moved");
            }
            take_incoming(here).expect("a disk that works");
            for name in [DATABASE, IDENTITY] {
                assert_eq!(
                    fs::read_to_string(here.join(name)).ok(),
                    Some(format!("new {name}")),
                    "cut {cut}"
                );
            }
            assert!(!here.join(&wal).exists() && !incoming.exists());
            for name in old {
                let kept = ["before-import-1", "before-import-2"].iter().any(|aside| {
                    fs::read_to_string(here.join(aside).join(name))
                        .is_ok_and(|text| text == format!("old {name}"))
                });
                assert!(kept, "{name} after a cut at {cut}");
            }
            take_incoming(here).expect("nothing more to do");
        }
    }

    /// Saves with this name in a folder, and an identity beside them.
    fn saves(folder: &Path, name: &str, are_newer: bool) {
        fs::create_dir_all(folder).expect("a folder");
        let mut store = store::Store::open(folder).expect("a disk that works");
        store.set_setting(crate::profile::NAME, name).expect("saved");
        drop(store);
        if are_newer {
            let file = rusqlite::Connection::open(folder.join(DATABASE)).expect("opens");
            file.pragma_update(None, "user_version", 99).expect("set");
        }
        fs::write(folder.join(IDENTITY), name).expect("written");
    }

    /// The files of both, by content, present ones first; `None` for those that are missing.
    fn contents(here: &Path) -> Vec<Option<Vec<u8>>> {
        let files = |folder: &Path| [DATABASE, IDENTITY].map(|name| fs::read(folder.join(name)).ok());
        [files(here), files(&here.join(INCOMING))].concat()
    }

    #[test]
    fn newer_saves_are_not_replaced_and_a_newer_backup_waits_while_the_present_saves_are_used() {
        for (present_is_newer, incoming_is_newer, used) in
            [(false, false, Some("new")), (false, true, Some("old")), (true, false, None), (true, true, None)]
        {
            let home = tempfile::tempdir().expect("a folder for the test");
            let (here, incoming) = (home.path(), home.path().join(INCOMING));
            saves(here, "old", present_is_newer);
            saves(&incoming, "new", incoming_is_newer);
            let before = contents(here);
            for _ in 0..2 {
                match store::Store::open_after(here, take_incoming) {
                    Ok(store) => {
                        let name = store.setting(crate::profile::NAME).expect("read");
                        assert_eq!(name.as_deref(), used);
                        assert_eq!(fs::read_to_string(here.join(IDENTITY)).ok().as_deref(), used);
                    }
                    Err(error) => {
                        let newer = here.join(DATABASE);
                        assert!(
                            matches!(&error, StoreError::Newer { path, found: 99, .. } if *path == newer),
                            "{error}"
                        );
                        assert_eq!(used, None);
                        assert!(contents(here) == before, "nothing is touched");
                    }
                }
                if used != Some("new") {
                    assert!(contents(here)[2..] == before[2..], "the backup waits");
                    assert!(!here.join("before-import-1").exists());
                }
            }
        }
    }

    #[test]
    fn a_newer_backup_without_saves_beside_it_is_not_hidden_by_empty_ones() {
        let home = tempfile::tempdir().expect("a folder for the test");
        saves(&home.path().join(INCOMING), "new", true);
        let before = contents(home.path());
        let opened = store::Store::open_after(home.path(), take_incoming);
        assert!(matches!(opened, Err(StoreError::Newer { found: 99, .. })), "{:?}", opened.err());
        assert!(contents(home.path()) == before, "nothing is touched");
    }

    #[test]
    fn a_short_passphrase_and_a_path_without_a_root_are_refused_before_anything_is_read() {
        let (journal, folder) = Journal::for_test();
        let mut chance = Chance::new(crate::chance::Entropy::Seeded(1)).expect("seeded");
        let mut code = |passphrase: &str, path: &str| {
            let asked = control::SaveBackup { passphrase: passphrase.into(), path: path.into() };
            save(asked, folder.path(), &journal, &mut chance).err().map(|refusal| refusal.code)
        };
        assert_eq!(code("1234567", "/tmp/backup"), Some(RefusalCode::RefusalBadRequest));
        assert_eq!(code("correct horse", "backup"), Some(RefusalCode::RefusalBadRequest));
        assert_eq!(code("correct horse", "/"), Some(RefusalCode::RefusalBadRequest));
        assert_eq!(
            code("correct horse", "/tmp/backup"),
            Some(RefusalCode::RefusalDisk),
            "no identity is there"
        );
        let asked = control::RestoreBackup { passphrase: "correct horse".into(), path: "backup".into() };
        assert!(restore(asked, folder.path()).is_err());
    }
}
