//! A race of two at one record: what is kept is enough to go on, and what cannot be kept has no effect.

use std::time::Duration;

use engine::lights_out::{LightsOutSetup, Solution, Start};
use engine::{Action, AnyGame, Outcome, Reason, Rng, Setup, Side};
use session::{Entry, Instant, LocalCommand, LocalMatch, MatchId, MatchRecord, MatchResult, Refused, Undone};

const ID: MatchId = MatchId([7; 16]);

/// A disk that can be full, and what is written on it.
struct Disk {
    record: MatchRecord,
    full: bool,
}

impl session::Journal for Disk {
    type Error = &'static str;

    fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error> {
        if self.full {
            return Err("full");
        }
        let record = &mut self.record;
        match entry.clone() {
            Entry::Pressed { pressed, spent_ms, .. } => {
                record.run.extend(pressed);
                record.spent_ms = spent_ms;
            }
            Entry::Ran { ply, run, mine, result, .. } => {
                record.actions.extend(run);
                assert_eq!(record.actions.len() as u32, ply);
                if mine {
                    record.run.clear();
                    record.spent_ms = 0;
                }
                record.result = result;
            }
            Entry::Spent { spent_ms, .. } => record.spent_ms = spent_ms,
            Entry::Paused { revision, paused, .. } => (record.revision, record.paused) = (revision, paused),
            Entry::Ended { result, .. } => record.result = Some(result),
            other => panic!("a race makes no {other:?}"),
        }
        Ok(())
    }
}

fn begun(seed: u64) -> (LocalMatch, Disk) {
    let start = Start::Random { columns: 3, rows: 3, seed };
    let setup = Setup::LightsOut(LightsOutSetup { start, race: true, ..LightsOutSetup::default() });
    let record = MatchRecord::new(ID, setup, Side::First);
    (LocalMatch::new(record.clone()).expect("it has no actions"), Disk { record, full: false })
}

fn at(ms: u64) -> Instant {
    Instant(Duration::from_millis(ms))
}

/// The next press of the shortest way to put this side's lights out.
fn best(local: &LocalMatch, side: Side) -> LocalCommand {
    let race = local.race(side, at(0)).expect("a race");
    let AnyGame::LightsOut(lights) = &race.board else { panic!("a race is of lights") };
    let Solution::Presses { presses, .. } = lights.solution() else { panic!("a race can be finished") };
    LocalCommand::Press(side, presses.points().next().expect("a light is on"))
}

/// What both see, without the time.
fn seen(local: &LocalMatch) -> Vec<(u64, u32, bool, Option<bool>, usize)> {
    let view = |side| {
        let race = local.race(side, at(0)).expect("a race");
        let done = race.run.map(|run| run.finished);
        (race.board.key(), race.presses, local.can_press(side), done, local.record().actions.len())
    };
    Side::BOTH.map(view).to_vec()
}

#[test]
fn the_first_to_put_the_lights_out_wins_whichever_side_that_is() {
    for winner in Side::BOTH {
        let (mut local, mut disk) = begun(5);
        let mut now = 0;
        local.handle(at(now), LocalCommand::Hold(false), &mut disk).expect("both begin");
        while local.race(winner, at(now)).is_some_and(|race| race.run.is_none()) {
            now += 1_000;
            let press = best(&local, winner);
            local.handle(at(now), press, &mut disk).expect("legal");
        }
        assert_eq!(local.record().result, None, "the other may still be as fast");
        let run = local.race(winner, at(now)).and_then(|race| race.run).expect("done");
        assert_eq!((u64::from(run.tenths), run.finished), (now / 100, true));
        assert_eq!(local.due(at(now)), Some(at(now + 100)), "one tenth later it is beaten");
        local.handle(at(now + 100), LocalCommand::Tick, &mut disk).expect("it ends by itself");
        let faster = Outcome { winner: Some(winner), reason: Reason::Faster };
        assert_eq!(local.record().result, Some(MatchResult::Played(faster)), "{winner:?}");
        assert_eq!(
            (&disk.record.run, disk.record.actions.len()),
            (&Vec::new(), local.record().actions.len())
        );
        let late = local.handle(
            at(now + 200),
            LocalCommand::Press(winner.other(), engine::Point::new(0, 0)),
            &mut disk,
        );
        assert!(matches!(late, Err(Undone::Refused(Refused::Illegal(_)))), "{late:?}");
    }
}

#[test]
fn nobody_presses_while_the_match_is_held_or_paused_and_no_time_passes() {
    let (mut local, mut disk) = begun(6);
    let press = best(&local, Side::Second);
    let mut on = |local: &mut LocalMatch, ms, command| local.handle(at(ms), command, &mut disk);
    on(&mut local, 0, LocalCommand::Hold(true)).expect("the guest is away");
    assert_eq!(on(&mut local, 5_000, press.clone()), Err(Undone::Refused(Refused::Away)));
    on(&mut local, 10_000, LocalCommand::Hold(false)).expect("the guest is here");
    on(&mut local, 12_000, LocalCommand::Pause(true)).expect("agreed");
    assert_eq!(on(&mut local, 13_000, press.clone()), Err(Undone::Refused(Refused::Paused)));
    on(&mut local, 60_000, LocalCommand::Pause(false)).expect("agreed");
    on(&mut local, 61_000, press).expect("legal");
    let elapsed = local.race(Side::Second, at(62_000)).map(|race| race.elapsed);
    assert_eq!(elapsed, Some(Duration::from_secs(4)));
    let act = local.handle(at(62_000), LocalCommand::Act(Action::Press(engine::Point::new(0, 0))), &mut disk);
    assert_eq!(act, Err(Undone::Refused(Refused::WrongPhase)), "a press says whose");
    let back = local.handle(at(62_000), LocalCommand::TakeBack { ply: 0 }, &mut disk);
    assert_eq!(back, Err(Undone::Refused(Refused::WrongPhase)));
}

#[test]
fn what_is_kept_is_enough_to_go_on_at_any_moment_and_what_is_not_kept_has_not_happened() {
    // How many of so few races end depends on the seed: it stays.
    let mut rng = Rng::new(9);
    let (mut ended, mut full) = (0, 0);
    for seed in 0..60 {
        let (mut local, mut disk) = begun(seed);
        let mut now = 0;
        local.handle(at(now), LocalCommand::Hold(false), &mut disk).expect("both begin");
        for _ in 0..60 {
            now += u64::from(rng.below(300));
            let side = Side::BOTH[rng.below(2) as usize];
            let command = match rng.below(8) {
                0 => LocalCommand::Tick,
                1 => LocalCommand::Press(side, engine::Point::new(rng.below(4) as u16, rng.below(4) as u16)),
                _ if local.can_press(side) => best(&local, side),
                _ => LocalCommand::Tick,
            };
            disk.full = rng.below(6) == 0;
            let (before, kept) = (seen(&local), disk.record.clone());
            if let Err(Undone::Journal(_)) = local.handle(at(now), command, &mut disk) {
                full += 1;
                assert_eq!((seen(&local), &disk.record), (before, &kept), "nothing has happened");
            }
            disk.full = false;
            // As after a power cut.
            let mut again = LocalMatch::new(disk.record.clone()).expect("what was kept can be played");
            again.handle(at(now), LocalCommand::Hold(false), &mut disk).expect("it goes on");
            assert_eq!(seen(&again), seen(&local), "seed {seed}");
            if rng.below(4) == 0 {
                local = again;
            }
        }
        now += 10_000;
        local.handle(at(now), LocalCommand::Tick, &mut disk).expect("the disk has room");
        ended += u32::from(local.record().result.is_some());
    }
    assert!(ended > 50 && full > 50, "{ended} races ended, {full} times the disk was full");
}
