//! Fuzz test with backups whose bytes, or whose content under the right passphrase, are modified: no panic, nothing half staged, and
//! what is staged can be read. Runs for `FUZZ_SECONDS`, or a fixed number of modifications.

use super::*;
use crate::store::fuzz::{SEEDS, below, for_a_while, modify, seed_file};

/// As cheap as Argon2id allows: this is not about passphrases.
const CHEAP: KdfParams = KdfParams { memory_kib: 8, passes: 1 };
const PASSPHRASE: &str = "correct horse";

#[test]
fn no_bytes_in_a_backup_break_the_host_and_what_is_taken_over_is_whole() {
    let home = tempfile::tempdir().expect("a folder");
    let identity_at = home.path().join(IDENTITY);
    Identity::load_or_create(&identity_at).expect("an identity");
    let identity = fs::read(&identity_at).expect("read");
    let saves = SEEDS.map(|(_, script)| seed_file(script));
    let backup = home.path().join("backup");
    let mut taken = 0;
    for_a_while("backup", |random| {
        let (mut identity, mut saves) = (identity.clone(), saves[below(random, saves.len())].clone());
        // Somebody who knows the passphrase has made it, or a card has damaged it, or it is as it was.
        match below(random, 4) {
            0 => modify(&mut saves, random),
            1 => modify(&mut identity, random),
            _ => {}
        }
        let mut file = seal(PASSPHRASE, &pack(&identity, &saves), CHEAP, [1; SALT], [2; NONCE]);
        if below(random, 3) == 0 {
            modify(&mut file, random);
        }
        fs::write(&backup, &file).expect("written");
        let device = tempfile::tempdir().expect("a folder");
        match stage(&backup, PASSPHRASE, device.path(), &JobContext::default()) {
            Ok(_) => {
                taken += 1;
                take_incoming(device.path()).expect("a disk that works");
                assert!(matches!(Identity::load(&device.path().join(IDENTITY)), Ok(Some(_))));
                store::Store::open(device.path()).expect("it was looked into before");
            }
            Err(refusal) => {
                let left = fs::read_dir(device.path()).expect("read").count();
                assert_eq!(left, 0, "after {}", refusal.detail);
            }
        }
        assert_eq!(fs::read(&backup).expect("read"), file, "the backup stays as it is");
    });
    assert!(taken > 0, "an unmodified one is taken over");
}
