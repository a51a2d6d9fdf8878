//! Matches that begin from a position.

use engine::{AnyGame, Rng};

use super::*;

#[path = "../../../../../engine/tests/starts/mod.rs"]
mod starts;

#[test]
fn matches_from_random_starts_are_read_again_as_they_were_saved() {
    let (directory, mut store) = store();
    let seed = crate::seed::begin("starts in the saves", 23);
    let mut rng = Rng::new(seed);
    let mut saved: Vec<MatchRecord> = Vec::new();
    for game in starts::GAMES {
        for start in starts::legal(game, seed).take(75) {
            let setup = starts::rules(&start).begin_from(start).expect("a legal start");
            let mut id = [0; 16];
            id[0] = saved.len() as u8;
            id[1] = (saved.len() >> 8) as u8;
            let mut record = MatchRecord::new(MatchId(id), setup, Side::First);
            let legal = AnyGame::new(&record.setup).expect("legal").legal_actions();
            record.actions.push(legal[rng.below(legal.len() as u32) as usize]);
            store.begin(&record, SEATS, 5).expect("saved");
            saved.push(record);
        }
    }
    drop(store);
    let store = Store::open(directory.path()).expect("opens again");
    for record in saved {
        let read = store.load(record.id).expect("read").expect("there").record;
        assert_eq!(read, record);
        assert_eq!(read.digest(), record.digest());
    }
}
