//! Each script runs once without a cut, then with the link cut at each message in each way, then with each device killed before
//! each of its effects. At the end both records are equal, nothing is lost or duplicated, and play can continue.

mod pair;

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{Outcome, Reason, Side};
use pair::{ANNA, BERT, CUTS, Pair, choices, invite, place, small, small_race};
use session::{Colours, Command, Event, MatchId, OfferKind, Terms};

const MATCH: MatchId = MatchId([1; 16]);

/// The steps of Anna and Bert. At `|` all messages in flight arrive, at `;` none does; `1 s`: seconds pass; `presses`: one press
/// nearer to the end of the own board. A step that a cut has made impossible is skipped.
const SCRIPTS: &[(&str, &str)] = &[
    ("an invitation and its answer", "A invites | B accepts | A 0,0 |"),
    (
        "a race that the faster ends first",
        "A invites to a race | B accepts | A presses | B presses; 1 s; A presses; A presses; A presses | \
         B presses | B presses; B presses |",
    ),
    (
        "a race in which the slower is stopped",
        "B invites to a race | A accepts | 1 s; A presses; A presses; A presses; A presses; 3 s",
    ),
    (
        "a race in which the slower is stopped, the other way round",
        "B invites to a race | A accepts | 1 s; B presses; B presses; B presses; B presses; 3 s",
    ),
    (
        "a race paused while both finish, and its rematch",
        "A invites to a race | B accepts | 1 s; A offers a pause | A presses; A presses; A presses; A \
         presses; B presses; B presses; B presses; B presses; B says yes | B offers to go on | A says yes \
         | B offers the same again | A says yes |",
    ),
    (
        "a race given up while the other finishes",
        "A invites to a race | B accepts | B presses; B presses; B presses; B presses; A gives up |",
    ),
    ("a few moves", "A invites | B accepts | A 0,0 | B 1,0 | A 2,2 | B 3,3"),
    (
        "a game to its end",
        "B invites | A accepts | B 0,0 | A 0,1 | B 1,0 | A 1,1 | B 2,0 | A 2,1 | B 3,0 | A 3,1 | B 4,0 |",
    ),
    (
        "a take back of the last move",
        "A invites | B accepts | A 0,0 | A offers a take-back | B says yes | A 4,4 |",
    ),
    (
        "a take back after the answering move",
        "A invites | B accepts | A 0,0 | B 1,1 | A offers a take-back | B says yes | A 4,4 |",
    ),
    (
        "a take back that crosses the offerer's playing on",
        "A invites | B accepts | A 0,0 | B 1,1 | A offers a take-back | B says yes; A 2,2 | A 3,3 |",
    ),
    (
        "a take back that crosses the offerer's giving up",
        "A invites | B accepts | A 0,0 | A offers a take-back | B says yes; A gives up |",
    ),
    (
        "a draw that crosses the offerer's move",
        "A invites | B accepts | A 0,0 | B 1,0 | A offers a draw | B says yes; A 2,2 |",
    ),
    (
        "a draw that crosses the offerer's giving up",
        "A invites | B accepts | A offers a draw | B says yes; A gives up |",
    ),
    (
        "a draw refused and then agreed",
        "A invites | B accepts | A 0,0 | B offers a draw | A says no | A offers a draw | B says yes |",
    ),
    (
        "giving up, and a new game with colours swapped",
        "A invites | B accepts | A 0,0 | B gives up | B offers a new game | A says yes |",
    ),
    ("both give up at the same time", "A invites | B accepts | A 0,0 | B gives up; A gives up |"),
    ("a move and giving up that cross", "A invites | B accepts | A 0,0 | B 1,1; A gives up |"),
    (
        "a winning move and giving up that cross",
        "A invites | B accepts | A 0,0 | B 0,1 | A 1,0 | B 1,1 | A 2,0 | B 2,1 | A 3,0 | B 3,1 | A 4,0; B \
         gives up |",
    ),
    (
        "offers that cross",
        "A invites | B accepts | A 0,0 | B 1,1 | A offers a take-back; B offers a take-back | B says yes \
         | A says yes |",
    ),
    ("draw offers that cross", "A invites | B accepts | A 0,0 | A offers a draw; B offers a draw |"),
    ("invitations that cross", "A invites; B invites | A 0,0 | B 0,0 |"),
];

fn perform(pair: &mut Pair, script: &str) {
    let mut invited = 0;
    for (turn, steps) in script.split('|').enumerate() {
        if turn > 0 {
            arrive(pair);
        }
        for step in steps.split(';').map(str::trim).filter(|step| !step.is_empty()) {
            let (who, what) = step.split_once(' ').expect("who does what");
            let device = match who {
                "A" => ANNA,
                "B" => BERT,
                seconds => {
                    assert_eq!(what, "s");
                    pair.wait(Duration::from_secs(seconds.parse().expect("seconds")));
                    continue;
                }
            };
            if what == "invites" {
                invited += 1;
            }
            act(pair, device, what, MatchId([invited; 16]));
        }
    }
}

/// `next`: the id of an invitation to gomoku.
fn act(pair: &mut Pair, device: usize, what: &str, next: MatchId) {
    // A step that a cut has made impossible is skipped.
    let _ = match what {
        "invites" => pair.command(device, invite(next, small(), Side::First)),
        "invites to a race" => {
            let terms = Terms { setup: small_race(), pace: None, colours: Colours::Random, hints: false };
            pair.command(device, Command::Invite { id: MATCH, terms, counters: None })
        }
        "accepts" => pair.command(device, Command::AnswerInvite { id: MATCH, decline: None }),
        "offers a take-back" => pair.offer(device, MATCH, OfferKind::TakeBack),
        "offers a draw" => pair.offer(device, MATCH, OfferKind::Draw),
        "offers a pause" => pair.offer(device, MATCH, OfferKind::Pause),
        "offers to go on" => pair.offer(device, MATCH, OfferKind::Continue),
        "offers a new game" => pair.offer(device, MATCH, OfferKind::NewGame),
        "offers the same again" => pair.offer(device, MATCH, OfferKind::NewGameSame),
        "says yes" => pair.answer(device, MATCH, true),
        "says no" => pair.answer(device, MATCH, false),
        "gives up" => pair.command(device, Command::Resign(MATCH)),
        "presses" => {
            let state = pair.devices[device].session.match_state(MATCH);
            let Some(press) = state.and_then(|state| choices(state, pair.now).first().copied()) else {
                return;
            };
            pair.act(device, MATCH, press)
        }
        point => {
            let (column, row) = point.split_once(',').expect("a point, or something else to do");
            pair.act(device, MATCH, place(column.parse().expect("a column"), row.parse().expect("a row")))
        }
    };
}

/// All messages in flight arrive, and a device without a link dials again.
fn arrive(pair: &mut Pair) {
    pair.run();
    if pair.devices.iter().any(|device| !device.linked) {
        pair.connect();
        pair.run();
    }
}

fn friends() -> Pair {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair
}

/// Checks the pair; on failure the message contains the journals.
fn check(name: &str, what: &str, mut pair: Pair) {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pair.conclude()));
    if let Err(panic) = done {
        eprintln!("in \"{name}\", {what}");
        std::panic::resume_unwind(panic);
    }
}

fn run_script(name: &str, what: &str, script: &str, mut pair: Pair) -> Pair {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| perform(&mut pair, script)));
    if let Err(panic) = done {
        eprintln!("in \"{name}\", {what}");
        std::panic::resume_unwind(panic);
    }
    pair
}

#[test]
fn every_script_ends_with_equal_records() {
    for (name, script) in SCRIPTS {
        let pair = run_script(name, "without a cut", script, friends());
        check(name, "without a cut", pair);
    }
}

#[test]
fn a_link_cut_at_any_message_in_any_way_loses_and_doubles_nothing() {
    for (name, script) in SCRIPTS {
        let whole = run_script(name, "without a cut", script, friends());
        for cut in CUTS {
            for at in 0..whole.messages {
                let mut pair = Pair::friends();
                pair.cut_at = Some((at, cut));
                pair.connect();
                pair.run();
                let what = format!("cut {cut:?} at message {at}");
                check(name, &what, run_script(name, &what, script, pair));
            }
        }
    }
}

#[test]
fn two_cuts_close_together_lose_and_double_nothing() {
    for (name, script) in SCRIPTS {
        let whole = run_script(name, "without a cut", script, friends());
        for at in 0..whole.messages {
            for second in 0..4 {
                let mut pair = Pair::friends();
                let cut = CUTS[(at + second) % CUTS.len()];
                pair.cut_at = Some((at, cut));
                pair.connect();
                pair.run();
                let what = format!("cut {cut:?} at message {at}, and {second} messages later");
                let mut pair = run_script(name, &what, script, pair);
                pair.lose_links();
                pair.cut_at = Some((pair.messages + second, CUTS[second % CUTS.len()]));
                pair.connect();
                pair.run();
                check(name, &what, pair);
            }
        }
    }
}

#[test]
fn a_device_killed_before_anything_it_does_comes_back_to_the_same_match() {
    for (name, script) in SCRIPTS {
        for device in [ANNA, BERT] {
            for at in 0.. {
                let mut pair = friends();
                pair.devices[device].dies_at = Some(at);
                let what = format!("device {device} killed before its output {at}");
                let pair = run_script(name, &what, script, pair);
                let lived = pair.devices[device].deaths == 0;
                check(name, &what, pair);
                if lived {
                    break;
                }
            }
        }
    }
}

#[test]
fn both_devices_killed_come_back_to_the_same_match() {
    for (name, script) in SCRIPTS {
        let mut both_died = 0;
        for at in (0..60).step_by(2) {
            for other in [0, 7, 12, 21] {
                let mut pair = friends();
                pair.devices[ANNA].dies_at = Some(at);
                pair.devices[BERT].dies_at = Some(other);
                let what = format!("killed before outputs {at} and {other}");
                let pair = run_script(name, &what, script, pair);
                both_died += usize::from(pair.devices.iter().all(|device| device.deaths > 0));
                check(name, &what, pair);
            }
        }
        assert!(both_died >= 20, "{name}: both died in {both_died} runs only");
    }
}

#[test]
fn a_script_leaves_what_it_says() {
    // The scripts must do what their names say, or the tests above prove little.
    let mut unchecked: BTreeSet<&str> = SCRIPTS.iter().map(|(name, _)| *name).collect();
    let mut result = |name: &str| {
        unchecked.remove(name);
        let (_, script) = SCRIPTS.iter().find(|(other, _)| *other == name).expect("the script is there");
        let pair = run_script(name, "", script, friends());
        let record = pair.devices[ANNA].state(MATCH).record().clone();
        (record.actions.len(), record.revision, record.result, pair)
    };
    use session::MatchResult::{DrawAgreed, Played, Resigned};
    assert!(matches!(result("an invitation and its answer"), (1, 0, None, _)));
    let (actions, revision, over, pair) = result("a few moves");
    let there = pair.devices[BERT].state(MATCH).record().actions.len();
    assert_eq!((actions, there, revision, over), (3, 4, 0, None), "the last one is on its way");
    assert!(matches!(result("a game to its end"), (9, 0, Some(Played(_)), _)));
    let (_, revision, over, pair) = result("a race given up while the other finishes");
    let anna = pair.devices[ANNA].state(MATCH).record().my_side;
    assert_eq!((revision, over), (0, Some(Resigned(anna))));
    let faster = |winner| Some(Played(Outcome { winner: Some(winner), reason: Reason::Faster }));
    let (_, revision, first, pair) = result("a race in which the slower is stopped");
    let anna = pair.devices[ANNA].state(MATCH).record().my_side;
    assert_eq!((revision, first), (0, faster(anna)));
    let (_, _, second, _) = result("a race in which the slower is stopped, the other way round");
    assert_eq!(second, faster(anna.other()), "the same sides are drawn");
    let (_, revision, over, pair) = result("a race paused while both finish, and its rematch");
    assert_eq!((revision, over.is_some(), pair.devices[ANNA].session.matches().len()), (2, true, 2));
    assert!(matches!(result("a race that the faster ends first"), (_, 0, Some(Played(_)), _)));
    assert!(matches!(result("a take back of the last move"), (1, 1, None, _)));
    assert!(matches!(result("a take back after the answering move"), (1, 1, None, _)));
    assert!(matches!(result("a take back that crosses the offerer's playing on"), (1, 1, None, _)));
    assert!(matches!(
        result("a take back that crosses the offerer's giving up"),
        (0, 1, Some(Resigned(Side::First)), _)
    ));
    assert!(matches!(result("a draw that crosses the offerer's move"), (2, 1, Some(DrawAgreed), _)));
    assert!(matches!(result("a draw that crosses the offerer's giving up"), (0, 1, Some(DrawAgreed), _)));
    assert!(matches!(result("a draw refused and then agreed"), (1, 1, Some(DrawAgreed), _)));
    assert!(matches!(result("both give up at the same time"), (1, 0, Some(Resigned(Side::First)), _)));
    assert!(matches!(result("a move and giving up that cross"), (2, 0, Some(Resigned(Side::First)), _)));
    assert!(matches!(result("a winning move and giving up that cross"), (9, 0, Some(Played(_)), _)));
    // Anna, who is first, declines automatically; Bert then accepts her offer.
    assert!(matches!(result("offers that cross"), (0, 1, None, _)));
    assert!(matches!(result("draw offers that cross"), (1, 1, Some(DrawAgreed), _)));
    let (_, _, _, pair) = result("giving up, and a new game with colours swapped");
    let sides: Vec<_> = pair.devices[ANNA].session.matches().map(|state| state.record().my_side).collect();
    assert_eq!(sides, [Side::First, Side::Second]);
    let (_, _, _, pair) = result("invitations that cross");
    for device in &pair.devices {
        assert_eq!(device.session.matches().len(), 1, "one match, the one with the smaller id");
        assert!(
            !device.events.iter().any(|event| matches!(event, Event::Invited { .. })),
            "nobody was asked"
        );
    }
    assert!(unchecked.is_empty(), "{unchecked:?}");
}
