//! Random lists of what people, links and power supplies do. Each list is made from a seed, and ends with equal records in
//! which nothing is lost or doubled, and with every match finished.
//!
//! `QIYOU_MODEL_OPS=1000000 cargo test -p session --test model` runs that many operations; `QIYOU_MODEL_SEED=17` runs the
//! list of one seed, or with the former begins there. A list that fails is made as short as it gets while it still fails, and printed.

mod pair;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use engine::{Action, Rng};
use pair::{ANNA, BERT, CUTS, Cut, Pair, any_colours, any_pace, any_small, choices};
use proto::peer::{ByeReason, DeclineReason, Envelope};
use session::{Command, MatchId, MatchResult, MatchState, OfferKind, Terms};

/// One thing that happens. A list of them, without anything random left, makes a run.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Plays the action of this number, in the match of this number.
    Act(usize, u8, u8),
    /// A match begins without ado.
    Begin(u8, u8, u8),
    /// By the setup, the pace and the colours of these numbers; instead of an answer, if it is asked itself.
    Invite(usize, u8, u8, u8),
    AnswerInvite(usize, bool),
    /// Looks at a position of the record, and tries so many moves; or back to its end.
    Analyse(usize, u8, u8, u8),
    Withdraw(usize),
    Offer(usize, u8, OfferKind),
    AnswerOffer(usize, u8, bool),
    Resign(usize, u8),
    Leave(usize),
    /// So many messages to this device arrive.
    Deliver(usize, u8),
    /// The next message to this device arrives a second time, later.
    Duplicate(usize),
    /// Everything arrives.
    Run,
    Wait(Duration),
    /// Time passes, and nothing arrives.
    Delay(Duration),
    /// A new link, dialed by this device.
    Connect(usize),
    /// The message that is so many from now is lost, and the link with it.
    CutAt(u8, Cut),
    /// This device's carrier says that the link is gone.
    Lose(usize),
    Restart(usize),
    /// Dies before the thing it does that is so many from now.
    DieAt(usize, u8),
}

const KINDS: [OfferKind; 12] = [
    OfferKind::TakeBack,
    OfferKind::TakeBack,
    OfferKind::TakeBack,
    OfferKind::Draw,
    OfferKind::NewGame,
    OfferKind::NewGame,
    OfferKind::NewGameSame,
    OfferKind::Pause,
    OfferKind::Adjourn,
    OfferKind::Continue,
    OfferKind::Continue,
    OfferKind::Continue,
];

/// `calm`: how often everything on its way arrives before the next thing happens, 0 to 2.
fn random_op(rng: &mut Rng, calm: u32) -> Op {
    let device = rng.below(2) as usize;
    let which = rng.below(4) as u8;
    match rng.below(100) {
        58..=72 if calm == 2 => Op::Run,
        76..=84 if calm == 0 => Op::Deliver(device, 1),
        0..=2 => Op::Delay(Duration::from_millis(rng.below(4_000).into())),
        3 => Op::Wait(Duration::from_millis(rng.below(20_000).into())),
        4..=29 => Op::Act(device, which, rng.below(256) as u8),
        30..=33 => Op::Invite(device, rng.below(10) as u8, rng.below(8) as u8, rng.below(6) as u8),
        34..=38 => Op::AnswerInvite(device, rng.below(5) > 0),
        39 => Op::Withdraw(device),
        40..=47 => Op::Offer(device, which, KINDS[rng.below(KINDS.len() as u32) as usize]),
        48..=56 => Op::AnswerOffer(device, which, rng.below(4) > 0),
        57 if rng.below(3) > 0 => Op::Analyse(device, which, rng.below(256) as u8, rng.below(256) as u8),
        57 => Op::Resign(device, which),
        58..=72 => Op::Deliver(device, 1 + rng.below(3) as u8),
        73..=75 => Op::Duplicate(device),
        76..=84 => Op::Run,
        85..=92 => Op::Connect(device),
        93..=95 => Op::CutAt(rng.below(12) as u8, CUTS[rng.below(4) as usize]),
        96 => Op::Lose(device),
        97 => Op::Restart(device),
        98 => Op::DieAt(device, rng.below(24) as u8),
        _ if rng.below(2) == 0 => Op::Wait(Duration::from_millis(rng.below(70_000).into())),
        _ => Op::Leave(device),
    }
}

/// Does one thing. What is refused is not done.
fn perform(pair: &mut Pair, op: Op) {
    fn chosen(pair: &Pair, device: usize, which: u8) -> Option<MatchId> {
        let ids: Vec<_> = pair.devices[device].session.matches().map(MatchState::id).collect();
        // Mostly the latest.
        ids.get(ids.len().saturating_sub(1 + usize::from(which / 2))).copied()
    }
    match op {
        Op::Act(device, which, number) => {
            // Whoever is to move, mostly: what is refused says little.
            let can_act = |device: usize| pair.devices[device].session.matches().any(MatchState::can_act);
            let device = if can_act(device) { device } else { 1 - device };
            let Some(id) = chosen(pair, device, which) else { return };
            let actions = choices(pair.devices[device].state(id), pair.now);
            // Few points, so that fives come about; and now and then the last, which in Go are passing and agreeing.
            let few = actions.len().min(6);
            let skipped = if number >= 200 { actions.len() - actions.len().min(3) } else { 0 };
            if few > 0 {
                let action = actions[(skipped + usize::from(number) % few).min(actions.len() - 1)];
                let _ = pair.act(device, id, action);
            }
        }
        Op::Begin(setup, pace, colours) => {
            let terms =
                Terms { setup: any_small(setup), pace: any_pace(pace), colours: any_colours(colours) };
            if pair.devices.iter().all(|device| device.linked) {
                pair.begin_with(ANNA, terms);
            }
        }
        Op::Invite(device, setup, pace, colours) => {
            let (id, counters) = (pair.fresh_id(), pair.invited(device));
            let terms =
                Terms { setup: any_small(setup), pace: any_pace(pace), colours: any_colours(colours) };
            let _ = pair.command(device, Command::Invite { id, terms, counters });
        }
        Op::Analyse(device, which, number, tries) => {
            let Some(id) = chosen(pair, device, which) else { return };
            let state = pair.devices[device].state(id);
            let ply = u32::from(number) % (state.ply() + 1);
            let mut tried = Vec::new();
            for _ in 0..tries % 4 {
                let Some(position) = state.position_with(ply, &tried) else { return };
                let actions = position.legal_actions();
                tried.extend(actions.get(usize::from(number) % actions.len().max(1)).copied());
            }
            let at = (number < 240).then_some((ply, tried));
            let _ = pair.command(device, Command::Analyse { id, at });
        }
        Op::AnswerInvite(device, accept) => {
            if let Some(id) = pair.invited(device) {
                let decline = (!accept).then_some(DeclineReason::DeclineNotNow);
                let _ = pair.command(device, Command::AnswerInvite { id, decline });
            }
        }
        Op::Withdraw(device) => {
            if let Some(id) = pair.inviting(device) {
                let _ = pair.command(device, Command::Withdraw(id));
            }
        }
        Op::Offer(device, which, kind) => {
            if let Some(id) = chosen(pair, device, which) {
                let _ = pair.offer(device, id, kind);
            }
        }
        Op::AnswerOffer(device, which, accept) => {
            if let Some(id) = chosen(pair, device, which) {
                let _ = pair.answer(device, id, accept);
            }
        }
        Op::Resign(device, which) => {
            if let Some(id) = chosen(pair, device, which) {
                let _ = pair.command(device, Command::Resign(id));
            }
        }
        Op::Leave(device) => {
            let _ = pair.command(device, Command::Leave(ByeReason::ByeLeaving));
        }
        Op::Deliver(device, count) => {
            for _ in 0..count {
                pair.deliver(device);
            }
        }
        Op::Duplicate(device) => {
            let inbox = &mut pair.devices[device].inbox;
            // The frames below let no message come twice on one link; a carrier above which they are not in order might. The
            // first words of a link are left alone.
            if let Some(first) =
                inbox.front().filter(|e| !matches!(e, Envelope::Hello(_) | Envelope::Pair(_)))
            {
                let again = first.clone();
                inbox.push_back(again);
            }
        }
        Op::Run => pair.run(),
        Op::Wait(duration) => pair.wait(duration),
        Op::Delay(duration) => pair.delay(duration),
        Op::Connect(device) => {
            // A new link in place of one that still stands is rare.
            if pair.devices.iter().any(|device| !device.linked)
                || device == ANNA && pair.messages.is_multiple_of(8)
            {
                pair.connect_from(device);
                pair.run();
            }
        }
        Op::CutAt(messages, cut) => pair.cut_at = Some((pair.messages + usize::from(messages), cut)),
        Op::Lose(device) => pair.lose_link(device),
        Op::Restart(device) => pair.restart(device),
        Op::DieAt(device, outputs) => pair.devices[device].dies_at = Some(usize::from(outputs)),
    }
}

/// Two friends with a link.
fn start() -> Pair {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair
}

fn run(ops: &[Op]) {
    let mut pair = start();
    for op in ops {
        perform(&mut pair, *op);
    }
    pair.conclude();
    // A second life of both finds nothing left to say.
    pair.lose_links();
    pair.restart(ANNA);
    pair.restart(BERT);
    pair.heal();
    pair.check_equal();
}

fn fails(ops: &[Op]) -> bool {
    catch_unwind(AssertUnwindSafe(|| run(ops))).is_err()
}

/// Panics are expected while a list is being made shorter, and say nothing new.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = work();
    std::panic::set_hook(loud);
    done
}

/// Leaves out whatever is not needed for the failure: halves first, single operations last.
fn shrink(mut ops: Vec<Op>) -> Vec<Op> {
    let mut size = ops.len() / 2;
    while size > 0 {
        let mut start = 0;
        let mut shorter = false;
        while start < ops.len() {
            let without: Vec<_> =
                ops[..start].iter().chain(&ops[(start + size).min(ops.len())..]).copied().collect();
            if fails(&without) {
                ops = without;
                shorter = true;
            } else {
                start += size;
            }
        }
        if !shorter || size > 1 {
            size /= 2;
        }
    }
    ops
}

fn list(seed: u64, length: usize) -> Vec<Op> {
    let mut rng = Rng::new(seed);
    let calm = rng.below(3);
    let begin = Op::Begin(rng.below(10) as u8, rng.below(6) as u8, rng.below(6) as u8);
    std::iter::once(begin).chain((1..length).map(|_| random_op(&mut rng, calm))).collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// Operations in one list: long enough for several matches, short enough to shrink.
const LENGTH: usize = 120;

/// As many as a run in CI has: a minute or so of one core.
const MODEL_OPS: u64 = 1_000_000;

#[test]
fn whatever_happens_both_records_are_equal_in_the_end() {
    let seeds = match (number("QIYOU_MODEL_SEED"), number("QIYOU_MODEL_OPS")) {
        (Some(seed), None) => seed..seed + 1,
        (seed, ops) => {
            let first = seed.unwrap_or(0);
            first..first + ops.unwrap_or(MODEL_OPS) / LENGTH as u64
        }
    };
    for seed in seeds {
        let ops = list(seed, LENGTH);
        if quietly(|| fails(&ops)) {
            let shortest = quietly(|| shrink(ops));
            eprintln!("seed {seed} fails; the shortest list that does:");
            for op in &shortest {
                eprintln!("    {op:?}");
            }
            run(&shortest);
            unreachable!("the shortest list fails");
        }
    }
}

#[test]
fn lists_of_operations_do_what_they_are_for() {
    // A model that never gets anywhere proves nothing.
    let (mut matches, mut over, mut revised, mut deaths, mut actions) = (0, 0, 0, 0, 0);
    let (mut timed, mut flags, mut paused, mut drawn) = (0, 0, 0, 0);
    let (mut games, mut raced) = (BTreeSet::new(), 0);
    for seed in 0..100 {
        let mut pair = start();
        for op in list(seed, LENGTH) {
            perform(&mut pair, op);
        }
        deaths += pair.devices[ANNA].deaths + pair.devices[BERT].deaths;
        for (record, _) in &pair.devices[ANNA].journal.matches {
            matches += 1;
            over += usize::from(record.result.is_some());
            revised += usize::from(record.revision > 0);
            actions += record.actions.len();
            timed += usize::from(record.times.iter().any(|time| *time > 0));
            flags += usize::from(matches!(record.result, Some(MatchResult::TimedOut(_))));
            paused += usize::from(record.paused);
            drawn += usize::from(record.reveal.is_some());
            games.insert(record.setup.kind());
            let runs = record.actions.iter().filter(|action| matches!(action, Action::Done(_))).count();
            raced += usize::from(runs == 2);
        }
    }
    println!("{matches} matches, {over} over, {revised} revised, {actions} actions, {deaths} deaths");
    println!(
        "{timed} with time used, {flags} flags, {paused} paused, {drawn} drawn, {raced} raced to the end, {games:?}"
    );
    assert!(raced > 3);
    assert!(timed > 20 && flags > 5 && paused > 0 && drawn > 20 && games.len() == 5);
    assert!(matches > 100 && over > 30 && revised > 10 && deaths > 100 && actions > 500);
}
