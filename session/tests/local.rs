//! Matches without a peer: the shown state equals the journal, and a command that cannot be kept has no effect.

mod pair;
#[path = "../../tests/src/seed.rs"]
mod seed;

use std::time::Duration;

use engine::{Action, GameKind, Rng, Side};
use pair::{Journal, any_pace, any_small, place, small};
use session::{
    Entry, Instant, LocalCommand, LocalMatch, MatchId, MatchRecord, MatchResult, Pace, Refused, Undone,
};

const ID: MatchId = MatchId([7; 16]);

/// A disk that can be full.
struct Disk {
    journal: Journal,
    full: bool,
    kept: usize,
}

impl session::Journal for Disk {
    type Error = &'static str;

    fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error> {
        if self.full {
            return Err("full");
        }
        self.kept += 1;
        self.journal.write(entry.clone());
        Ok(())
    }
}

fn begun(record: MatchRecord) -> (LocalMatch, Disk) {
    let mut journal = Journal::default();
    journal.write(Entry::Began(record.clone()));
    (LocalMatch::new(record).expect("it has no actions"), Disk { journal, full: false, kept: 0 })
}

fn at(ms: u64) -> Instant {
    Instant(Duration::from_millis(ms))
}

fn paced(pace: Pace) -> MatchRecord {
    MatchRecord::new(ID, small(), Side::First).with_pace(Some(pace))
}

/// Any command, mostly a legal one.
fn any_command(local: &LocalMatch, rng: &mut Rng) -> LocalCommand {
    let legal = local.position().legal_actions();
    let record = local.record();
    match rng.below(12) {
        0 => LocalCommand::TakeBack { ply: rng.below(record.actions.len() as u32 + 2) },
        1 => LocalCommand::Pause(!record.paused),
        2 => LocalCommand::Hold(rng.below(3) == 0),
        3 => LocalCommand::Tick,
        4 => LocalCommand::Analyse(Some((rng.below(record.actions.len() as u32 + 2), Vec::new()))),
        5 if rng.below(4) == 0 => LocalCommand::Resign(Side::BOTH[rng.below(2) as usize]),
        6 if rng.below(4) == 0 => LocalCommand::Draw,
        7 => LocalCommand::Leave,
        8 => LocalCommand::Act(Action::Pass),
        _ if legal.is_empty() => LocalCommand::Tick,
        _ => LocalCommand::Act(legal[rng.below(legal.len() as u32) as usize]),
    }
}

#[test]
fn after_any_commands_the_journal_holds_what_is_shown_and_a_full_disk_changes_nothing() {
    let mut entries = 0;
    let first = seed::begin("local matches", 0);
    // With another seed more of them may end early.
    for seed in first..first + 1_200 {
        if seed >= first + 120 && entries > 1_500 {
            break;
        }
        let mut rng = Rng::new(seed);
        let setup = match any_small(rng.below(36) as u8) {
            race if race.is_race() => GameKind::LightsOut.default_setup(),
            setup => setup,
        };
        let record = MatchRecord::new(ID, setup, Side::First).with_pace(any_pace(rng.below(8) as u8));
        let (mut local, mut disk) = begun(record);
        let mut now = at(0);
        let mut may_lack_time = false;
        for step in 0..80 {
            now = now + Duration::from_millis(u64::from(rng.below(4_000)));
            disk.full = rng.below(5) == 0;
            let command = any_command(&local, &mut rng);
            let before = (local.record().clone(), local.analysis().cloned(), disk.kept);
            let done = local.handle(now, command.clone(), &mut disk);
            let context = format!("seed {seed}, step {step}: {command:?} {done:?}");
            if let Err(undone) = &done {
                assert_eq!(before.0, *local.record(), "{context}");
                assert_eq!(before.1.as_ref(), local.analysis(), "{context}");
                assert_eq!(before.2, disk.kept, "{context}");
                assert!(disk.full || *undone != Undone::Journal("full"), "{context}");
            }
            let kept = disk.journal.record(ID).expect("it was begun").clone();
            let shown = local.record().clone();
            // The time of the present action may be missing after a full disk, and that of an action that was not made when
            // the match ended is not written; the rest is exact.
            may_lack_time = disk.full || (may_lack_time && before.0.actions.len() == shown.actions.len());
            let lacks_time = may_lack_time || shown.result.is_some();
            let spent_ms = if lacks_time { shown.spent_ms } else { kept.spent_ms };
            assert_eq!(MatchRecord { spent_ms, ..kept }, shown, "{context}");
            let again = LocalMatch::new(shown).expect("a record of ours can be played");
            assert_eq!(again.record().digest(), local.record().digest(), "{context}");
            assert_eq!(again.position().outcome(), local.position().outcome(), "{context}");
        }
        entries += disk.kept;
    }
    assert!(entries > 1_500, "the commands did something: {entries}");
}

#[test]
fn thinking_costs_whoever_has_the_turn_and_the_flag_falls_by_itself() {
    let pace = Pace::Fischer { main: Duration::from_secs(10), bonus: Duration::from_secs(2) };
    let (mut local, mut disk) = begun(paced(pace));
    let mut act = |local: &mut LocalMatch, ms, action| local.handle(at(ms), action, &mut disk);
    act(&mut local, 0, LocalCommand::Hold(false)).expect("the clock starts");
    act(&mut local, 3_000, LocalCommand::Act(place(0, 0))).expect("three seconds of ten");
    assert_eq!(local.record().times, [3_000]);
    let left = |local: &LocalMatch, side, ms| local.clock(side, at(ms)).expect("a pace").left.as_millis();
    assert_eq!((left(&local, Side::First, 4_000), left(&local, Side::Second, 4_000)), (9_000, 9_000));
    assert_eq!(local.due(at(4_000)), Some(at(13_000)));
    let late = act(&mut local, 13_001, LocalCommand::Act(place(1, 0)));
    assert_eq!(late, Err(Undone::Refused(Refused::TimeOver)));
    assert_eq!(act(&mut local, 13_001, LocalCommand::Tick), Ok(true));
    assert_eq!(local.record().result, Some(MatchResult::TimedOut(Side::Second)));
    assert_eq!(local.due(at(14_000)), None);
}

#[test]
fn a_bot_that_cannot_be_asked_and_a_room_that_is_left_cost_nobody_time() {
    let (mut local, mut disk) = begun(paced(Pace::PerMove { each: Duration::from_secs(30) }));
    for (ms, command) in [
        (0, LocalCommand::Tick),
        (2_000, LocalCommand::Hold(true)),
        (60_000, LocalCommand::Hold(false)),
        (63_000, LocalCommand::Leave),
    ] {
        local.handle(at(ms), command, &mut disk).expect("always possible");
    }
    assert_eq!(disk.journal.record(ID).map(|record| record.spent_ms), Some(5_000));
    let mut again = LocalMatch::new(local.record().clone()).expect("it is empty");
    again.handle(at(0), LocalCommand::Tick, &mut disk).expect("the clock goes on");
    assert_eq!(again.due(at(0)), Some(at(25_000)));
}

#[test]
fn a_full_disk_loses_no_turn_and_no_match() {
    let (mut local, mut disk) = begun(MatchRecord::new(ID, small(), Side::First));
    disk.full = true;
    for command in [
        LocalCommand::Act(place(2, 2)),
        LocalCommand::Pause(true),
        LocalCommand::Draw,
        LocalCommand::Resign(Side::Second),
    ] {
        assert_eq!(local.handle(at(0), command, &mut disk), Err(Undone::Journal("full")));
        assert!(local.record().actions.is_empty() && local.record().result.is_none());
    }
    disk.full = false;
    local.handle(at(0), LocalCommand::Act(place(2, 2)), &mut disk).expect("the disk has room again");
    assert_eq!(local.turn(), Some(Side::Second));
    assert_eq!(local.before_last_of(|side| side == Side::First), Some(0));
    assert_eq!(local.before_last_of(|side| side == Side::Second), None);
}

#[test]
fn what_another_program_wrote_is_believed_as_far_as_the_rules_allow() {
    let mut record = paced(Pace::SuddenDeath { main: Duration::from_secs(1) });
    record.actions = vec![place(0, 0), place(1, 1)];
    record.times = vec![9_999];
    record.result = Some(MatchResult::Resigned(Side::First));
    let local = LocalMatch::new(record.clone()).expect("every action is legal");
    assert_eq!(local.record().result, record.result);
    record.actions.push(place(0, 0));
    assert!(LocalMatch::new(record).is_err(), "a stone on a stone");
}
