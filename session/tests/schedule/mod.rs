//! Random operations of people, links and power supplies: lists derived from a seed, and how each operation is carried out.

use std::time::Duration;

use engine::Rng;
use proto::peer::{ByeReason, DeclineReason, Envelope};
use session::{Command, MatchId, MatchState, OfferKind, Terms};

use crate::pair::{ANNA, CUTS, Cut, Pair, any_colours, any_pace, any_small, choices};

/// One operation. A list of operations contains no randomness and determines a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Plays the action of this number in the match of this number.
    Act(usize, u8, u8),
    /// Begins a match at once.
    Begin(u8, u8, u8),
    /// Invites with the setup, pace and colours of these numbers; or counters an open invitation.
    Invite(usize, u8, u8, u8),
    AnswerInvite(usize, bool),
    /// Analyses a position of the record with so many tried moves; or returns to its end.
    Analyse(usize, u8, u8, u8),
    Withdraw(usize),
    Offer(usize, u8, OfferKind),
    AnswerOffer(usize, u8, bool),
    Resign(usize, u8),
    Leave(usize),
    /// Delivers so many messages to this device.
    Deliver(usize, u8),
    /// Delivers the next message to this device a second time, later.
    Duplicate(usize),
    /// Delivers everything.
    Run,
    Wait(Duration),
    /// Lets time pass without delivery.
    Delay(Duration),
    /// A new link, dialed by this device.
    Connect(usize),
    /// Cuts the link at the message this many from now, which is lost.
    CutAt(u8, Cut),
    /// This device's carrier reports the link as lost.
    Lose(usize),
    Restart(usize),
    /// Kills the device this many effects from now.
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

/// `calm`: how often all messages arrive before the next operation, 0 to 2.
fn random_op(rng: &mut Rng, calm: u32) -> Op {
    let device = rng.below(2) as usize;
    let which = rng.below(64) as u8;
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

/// Carries out one operation. A refused operation is skipped.
pub(crate) fn perform(pair: &mut Pair, op: Op) {
    fn chosen(pair: &Pair, device: usize, which: u8) -> Option<MatchId> {
        let ids: Vec<_> = pair.devices[device].session.matches().map(MatchState::id).collect();
        // The latest match as often as all others together, because most happens there.
        let which = if which.is_multiple_of(2) { ids.len() } else { 1 + usize::from(which / 2) };
        ids.get(which.checked_sub(1)? % ids.len().max(1)).copied()
    }
    match op {
        Op::Act(device, which, number) => {
            // Mostly the side to move: a refused action tests little.
            let can_act = |device: usize| pair.devices[device].session.matches().any(MatchState::can_act);
            let device = if can_act(device) { device } else { 1 - device };
            let Some(id) = chosen(pair, device, which) else { return };
            let actions = choices(pair.devices[device].state(id), pair.now);
            // Few points, so that fives are completed; sometimes the last actions, which in Go are passing and agreeing.
            let few = actions.len().min(6);
            let skipped = if number >= 200 { actions.len() - actions.len().min(3) } else { 0 };
            if few > 0 {
                let action = actions[(skipped + usize::from(number) % few).min(actions.len() - 1)];
                let _ = pair.act(device, id, action);
            }
        }
        Op::Begin(setup, pace, colours) => {
            let terms = Terms {
                setup: any_small(setup),
                pace: any_pace(pace),
                colours: any_colours(colours),
                hints: false,
            };
            if pair.devices.iter().all(|device| device.linked) {
                pair.begin_with(ANNA, terms);
            }
        }
        Op::Invite(device, setup, pace, colours) => {
            let (id, counters) = (pair.fresh_id(), pair.invited(device));
            let terms = Terms {
                setup: any_small(setup),
                pace: any_pace(pace),
                colours: any_colours(colours),
                hints: false,
            };
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
        Op::Duplicate(_) if pair.carrier.is_some() => {}
        Op::Duplicate(device) => {
            let inbox = &mut pair.devices[device].inbox;
            // The frame codec drops duplicates on one link; a carrier without it might not. The first messages of a link are
            // left alone.
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
            // Replacing a link that is up is rare.
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

/// The list of a seed.
pub(crate) fn list(seed: u64, length: usize) -> Vec<Op> {
    let mut rng = Rng::new(seed);
    let calm = rng.below(3);
    let begin = Op::Begin(rng.below(10) as u8, rng.below(6) as u8, rng.below(6) as u8);
    std::iter::once(begin).chain((1..length).map(|_| random_op(&mut rng, calm))).collect()
}
