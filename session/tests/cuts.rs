//! Every script is run once whole, then with the link cut at each of its messages in each way, then with either device
//! killed before each thing it does. At the end both records are equal, nothing is lost or doubled, and play can go on.

mod pair;

use std::time::Duration;

use engine::{Outcome, Reason, Side};
use pair::{ANNA, BERT, CUTS, Pair, choices, invite, place, small, small_race};
use session::{Colours, Command, Event, MatchId, OfferKind, Terms};

/// What two people do, one after the other. What is refused because a cut came between is simply not done.
#[derive(Clone, Copy, Debug)]
enum Step {
    Invite(usize),
    /// Says yes to an invitation.
    Accept(usize),
    Act(usize, u16, u16),
    Offer(usize, OfferKind),
    Answer(usize, bool),
    Resign(usize),
    InviteRace(usize),
    /// One press nearer to the end of the own board.
    Press(usize),
    /// Seconds pass, and what is on its way arrives.
    Wait(u64),
    /// Everything on its way arrives.
    Run,
}
use Step::{Accept, Act, Answer, Invite, InviteRace, Offer, Press, Resign, Run, Wait};

const MATCH: MatchId = MatchId([1; 16]);

const SCRIPTS: &[(&str, &[Step])] = &[
    ("an invitation and its answer", &[Invite(ANNA), Run, Accept(BERT), Run, Act(ANNA, 0, 0), Run]),
    (
        "a race that the faster ends first",
        &[
            InviteRace(ANNA),
            Run,
            Accept(BERT),
            Run,
            Press(ANNA),
            Run,
            Press(BERT),
            Wait(1),
            Press(ANNA),
            Press(ANNA),
            Press(ANNA),
            Run,
            Press(BERT),
            Run,
            Press(BERT),
            Press(BERT),
            Run,
        ],
    ),
    (
        "a race in which the slower is stopped",
        &[
            InviteRace(BERT),
            Run,
            Accept(ANNA),
            Run,
            Wait(1),
            Press(ANNA),
            Press(ANNA),
            Press(ANNA),
            Press(ANNA),
            Wait(3),
        ],
    ),
    (
        "a race in which the slower is stopped, the other way round",
        &[
            InviteRace(BERT),
            Run,
            Accept(ANNA),
            Run,
            Wait(1),
            Press(BERT),
            Press(BERT),
            Press(BERT),
            Press(BERT),
            Wait(3),
        ],
    ),
    (
        "a race paused while both finish, and its rematch",
        &[
            InviteRace(ANNA),
            Run,
            Accept(BERT),
            Run,
            Wait(1),
            Offer(ANNA, OfferKind::Pause),
            Run,
            Press(ANNA),
            Press(ANNA),
            Press(ANNA),
            Press(ANNA),
            Press(BERT),
            Press(BERT),
            Press(BERT),
            Press(BERT),
            Answer(BERT, true),
            Run,
            Offer(BERT, OfferKind::Continue),
            Run,
            Answer(ANNA, true),
            Run,
            Offer(BERT, OfferKind::NewGameSame),
            Run,
            Answer(ANNA, true),
            Run,
        ],
    ),
    (
        "a race given up while the other finishes",
        &[
            InviteRace(ANNA),
            Run,
            Accept(BERT),
            Run,
            Press(BERT),
            Press(BERT),
            Press(BERT),
            Press(BERT),
            Resign(ANNA),
            Run,
        ],
    ),
    (
        "a few moves",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Act(BERT, 1, 0),
            Run,
            Act(ANNA, 2, 2),
            Run,
            Act(BERT, 3, 3),
        ],
    ),
    (
        "a game to its end",
        &[
            Invite(BERT),
            Run,
            Accept(ANNA),
            Run,
            Act(BERT, 0, 0),
            Run,
            Act(ANNA, 0, 1),
            Run,
            Act(BERT, 1, 0),
            Run,
            Act(ANNA, 1, 1),
            Run,
            Act(BERT, 2, 0),
            Run,
            Act(ANNA, 2, 1),
            Run,
            Act(BERT, 3, 0),
            Run,
            Act(ANNA, 3, 1),
            Run,
            Act(BERT, 4, 0),
            Run,
        ],
    ),
    (
        "a take back of the last move",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Offer(ANNA, OfferKind::TakeBack),
            Run,
            Answer(BERT, true),
            Run,
            Act(ANNA, 4, 4),
            Run,
        ],
    ),
    (
        "a take back after the answering move",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Act(BERT, 1, 1),
            Run,
            Offer(ANNA, OfferKind::TakeBack),
            Run,
            Answer(BERT, true),
            Run,
            Act(ANNA, 4, 4),
            Run,
        ],
    ),
    (
        "a take back that crosses the offerer's playing on",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Act(BERT, 1, 1),
            Run,
            Offer(ANNA, OfferKind::TakeBack),
            Run,
            Answer(BERT, true),
            Act(ANNA, 2, 2),
            Run,
            Act(ANNA, 3, 3),
            Run,
        ],
    ),
    (
        "a take back that crosses the offerer's giving up",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Offer(ANNA, OfferKind::TakeBack),
            Run,
            Answer(BERT, true),
            Resign(ANNA),
            Run,
        ],
    ),
    (
        "a draw that crosses the offerer's move",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Act(BERT, 1, 0),
            Run,
            Offer(ANNA, OfferKind::Draw),
            Run,
            Answer(BERT, true),
            Act(ANNA, 2, 2),
            Run,
        ],
    ),
    (
        "a draw that crosses the offerer's giving up",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Offer(ANNA, OfferKind::Draw),
            Run,
            Answer(BERT, true),
            Resign(ANNA),
            Run,
        ],
    ),
    (
        "a draw refused and then agreed",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Offer(BERT, OfferKind::Draw),
            Run,
            Answer(ANNA, false),
            Run,
            Offer(ANNA, OfferKind::Draw),
            Run,
            Answer(BERT, true),
            Run,
        ],
    ),
    (
        "giving up, and a new game with colours swapped",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Resign(BERT),
            Run,
            Offer(BERT, OfferKind::NewGame),
            Run,
            Answer(ANNA, true),
            Run,
        ],
    ),
    (
        "both give up at the same time",
        &[Invite(ANNA), Run, Accept(BERT), Run, Act(ANNA, 0, 0), Run, Resign(BERT), Resign(ANNA), Run],
    ),
    (
        "a move and giving up that cross",
        &[Invite(ANNA), Run, Accept(BERT), Run, Act(ANNA, 0, 0), Run, Act(BERT, 1, 1), Resign(ANNA), Run],
    ),
    (
        "a winning move and giving up that cross",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Act(BERT, 0, 1),
            Run,
            Act(ANNA, 1, 0),
            Run,
            Act(BERT, 1, 1),
            Run,
            Act(ANNA, 2, 0),
            Run,
            Act(BERT, 2, 1),
            Run,
            Act(ANNA, 3, 0),
            Run,
            Act(BERT, 3, 1),
            Run,
            Act(ANNA, 4, 0),
            Resign(BERT),
            Run,
        ],
    ),
    (
        "offers that cross",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Act(BERT, 1, 1),
            Run,
            Offer(ANNA, OfferKind::TakeBack),
            Offer(BERT, OfferKind::TakeBack),
            Run,
            Answer(BERT, true),
            Run,
            Answer(ANNA, true),
            Run,
        ],
    ),
    (
        "draw offers that cross",
        &[
            Invite(ANNA),
            Run,
            Accept(BERT),
            Run,
            Act(ANNA, 0, 0),
            Run,
            Offer(ANNA, OfferKind::Draw),
            Offer(BERT, OfferKind::Draw),
            Run,
        ],
    ),
    (
        "invitations that cross",
        &[Invite(ANNA), Invite(BERT), Run, Act(ANNA, 0, 0), Run, Act(BERT, 0, 0), Run],
    ),
];

fn perform(pair: &mut Pair, steps: &[Step]) {
    let mut invited = 0;
    for step in steps {
        match *step {
            Invite(device) => {
                invited += 1;
                let invite = invite(MatchId([invited; 16]), small(), Side::First);
                let _ = pair.command(device, invite);
            }
            Accept(device) => {
                let _ = pair.command(device, Command::AnswerInvite { id: MATCH, decline: None });
            }
            Act(device, column, row) => {
                let _ = pair.act(device, MATCH, place(column, row));
            }
            Offer(device, kind) => {
                let _ = pair.offer(device, MATCH, kind);
            }
            Answer(device, accept) => {
                let _ = pair.answer(device, MATCH, accept);
            }
            Resign(device) => {
                let _ = pair.command(device, Command::Resign(MATCH));
            }
            InviteRace(device) => {
                let terms = Terms { setup: small_race(), pace: None, colours: Colours::Random };
                let _ = pair.command(device, Command::Invite { id: MATCH, terms, counters: None });
            }
            Press(device) => {
                let Some(state) = pair.devices[device].session.match_state(MATCH) else { continue };
                if let Some(press) = choices(state, pair.now).first().copied() {
                    let _ = pair.act(device, MATCH, press);
                }
            }
            Wait(seconds) => pair.wait(Duration::from_secs(seconds)),
            Run => {
                pair.run();
                // Whoever lost the link looks for the other again.
                if pair.devices.iter().any(|device| !device.linked) {
                    pair.connect();
                    pair.run();
                }
            }
        }
    }
}

fn friends() -> Pair {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair
}

/// The journals and what they hold, for messages.
fn check(name: &str, what: &str, mut pair: Pair) {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pair.conclude()));
    if let Err(panic) = done {
        eprintln!("in \"{name}\", {what}");
        std::panic::resume_unwind(panic);
    }
}

fn run_script(name: &str, what: &str, steps: &[Step], mut pair: Pair) -> Pair {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| perform(&mut pair, steps)));
    if let Err(panic) = done {
        eprintln!("in \"{name}\", {what}");
        std::panic::resume_unwind(panic);
    }
    pair
}

#[test]
fn every_script_ends_with_equal_records() {
    for (name, steps) in SCRIPTS {
        let pair = run_script(name, "without a cut", steps, friends());
        check(name, "without a cut", pair);
    }
}

#[test]
fn a_link_cut_at_any_message_in_any_way_loses_and_doubles_nothing() {
    for (name, steps) in SCRIPTS {
        let whole = run_script(name, "without a cut", steps, friends());
        for cut in CUTS {
            for at in 0..whole.messages {
                let mut pair = Pair::friends();
                pair.cut_at = Some((at, cut));
                pair.connect();
                pair.run();
                let what = format!("cut {cut:?} at message {at}");
                check(name, &what, run_script(name, &what, steps, pair));
            }
        }
    }
}

#[test]
fn two_cuts_close_together_lose_and_double_nothing() {
    for (name, steps) in SCRIPTS {
        let whole = run_script(name, "without a cut", steps, friends());
        for at in 0..whole.messages {
            for second in 0..4 {
                let mut pair = Pair::friends();
                let cut = CUTS[(at + second) % CUTS.len()];
                pair.cut_at = Some((at, cut));
                pair.connect();
                pair.run();
                let what = format!("cut {cut:?} at message {at}, and {second} messages later");
                let mut pair = run_script(name, &what, steps, pair);
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
    for (name, steps) in SCRIPTS {
        for device in [ANNA, BERT] {
            for at in 0.. {
                let mut pair = friends();
                pair.devices[device].dies_at = Some(at);
                let what = format!("device {device} killed before its output {at}");
                let pair = run_script(name, &what, steps, pair);
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
    for (name, steps) in SCRIPTS {
        for at in (0..60).step_by(2) {
            for other in [0, 7, 12, 21] {
                let mut pair = friends();
                pair.devices[ANNA].dies_at = Some(at);
                pair.devices[BERT].dies_at = Some(other);
                let what = format!("killed before outputs {at} and {other}");
                check(name, &what, run_script(name, &what, steps, pair));
            }
        }
    }
}

#[test]
fn a_script_leaves_what_it_says() {
    // The scripts must do what their names promise, or the tests above prove little.
    let result = |name: &str| {
        let (_, steps) = SCRIPTS.iter().find(|(other, _)| *other == name).expect("the script is there");
        let pair = run_script(name, "", steps, friends());
        let record = pair.devices[ANNA].state(MATCH).record().clone();
        (record.actions.len(), record.revision, record.result, pair)
    };
    use session::MatchResult::{DrawAgreed, Played, Resigned};
    assert!(matches!(result("a game to its end"), (9, 0, Some(Played(_)), _)));
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
    // Anna, who is first, declines for her person; Bert then says yes to hers.
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
}
