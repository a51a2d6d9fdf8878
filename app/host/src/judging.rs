//! Analysis of a finished match: the value of each position, and the mistakes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::reasons::{self, Mistake};
use engine::{AnyGame, GameKind, Level, Limits, Report, Side};
use proto::control::{self, RefusalCode, event};
use session::{MatchId, wire};
use tracing::warn;

use crate::actor::{Actor, Message};
use crate::bots::BotMaker;
use crate::mistakes;
use crate::power::Engines;
use crate::responder::{Answer, done};
use crate::room::parse_match_name;
use crate::setup::replayed;
use crate::show::{self, Refusal};
use crate::store::StoreError;

/// Search time per position of an analysis: a match of sixty moves takes 15 seconds.
const JUDGING_TIME: Duration = Duration::from_millis(250);

/// An analysis in progress, on a thread of its own.
pub(crate) struct Judging {
    id: MatchId,
    ticket: u64,
    stop: Arc<AtomicBool>,
    shown: control::Judgements,
    mistakes: Vec<mistakes::Found>,
}

/// What an analysis found in the next position.
pub(crate) struct PositionJudged {
    shown: control::Judgement,
    /// The move before it, if it was a mistake.
    mistake: Option<mistakes::Found>,
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Actor {
    /// Starts an analysis; it replaces one in progress.
    pub(crate) fn analyse_match(&mut self, asked: &control::AnalyseMatch) -> Result<Answer, Refusal> {
        if !asked.on {
            self.end_judging(parse_match_name(&asked.room_id));
            return Ok(done());
        }
        let saved = self.saved_match(&asked.room_id)?;
        let (id, actions) = (saved.record.id, saved.record.actions.clone());
        let start = replayed(&saved.record, 0)?;
        if start.kind() == GameKind::LightsOut {
            return Err(Refusal::new(
                RefusalCode::RefusalIllegal,
                "there is nobody to be better or worse than",
            ));
        }
        self.end_judging(None);
        self.last_judging += 1;
        let ticket = self.last_judging;
        let total = actions.len() as u32 + 1;
        let stop = Arc::new(AtomicBool::new(false));
        let shown = control::Judgements { room_id: asked.room_id.clone(), total, ..Default::default() };
        let (maker, seed, inbox) = (self.bot_maker.clone(), self.chance.seed(), self.inbox.clone());
        let (time, stopped) = (JUDGING_TIME.min(self.bot_time), stop.clone());
        let engines = self.power.engines.clone();
        let tell = move |judged| {
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::Judged(ticket, judged));
        };
        let work = move || {
            let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let options = JudgingOptions { time, engines: &engines, stop: &stopped };
                judge_all(&maker, seed, start, &actions, &options, &tell);
            }));
            drop(all);
            tell(None);
        };
        std::thread::Builder::new()
            .name("judging".into())
            .spawn(work)
            .map_err(|error| Refusal::new(RefusalCode::RefusalBusy, error.to_string()))?;
        self.judging = Some(Judging { id, ticket, stop, shown, mistakes: Vec::new() });
        Ok(done())
    }

    /// Stops the analysis of this match, or any analysis, and reports its end to clients.
    pub(crate) fn end_judging(&mut self, of: Option<MatchId>) {
        if let Some(mut ended) = self.judging.take_if(|analysis| of.is_none_or(|id| id == analysis.id)) {
            ended.shown.ended = true;
            if let Err(error) = self.keep_mistakes(&mut ended) {
                warn!(%error, "the mistakes of an analysed match are not kept");
            }
            self.tell(event::Body::Judgements(std::mem::take(&mut ended.shown)));
        }
    }

    /// Keeps the mistakes of the person here, to be tried again, and names them to clients.
    fn keep_mistakes(&mut self, ended: &mut Judging) -> Result<(), StoreError> {
        let Some(saved) = self.journal.load(ended.id)? else { return Ok(()) };
        let keep = mistakes::to_keep(&saved.record, &saved.seats, &ended.mistakes);
        if keep.is_empty() {
            return Ok(());
        }
        let (plies, new): (Vec<u32>, Vec<_>) = keep.into_iter().unzip();
        let (today, now) = (self.local_day(), self.now_unix_ms());
        self.journal.keep(|store| store.add_mistakes(&new, today, now))?;
        for (ply, mistake) in plies.into_iter().zip(new) {
            if let Some(judged) = ended.shown.positions.get_mut(ply as usize + 1) {
                judged.try_again = mistake.id;
            }
        }
        Ok(())
    }

    /// Handles the evaluation of the next position, or the end of the analysis.
    pub(crate) fn judged(&mut self, ticket: u64, judged: Option<Box<PositionJudged>>) {
        let Some(analysis) = self.judging.as_mut().filter(|analysis| analysis.ticket == ticket) else {
            return;
        };
        match judged {
            Some(judged) => {
                let PositionJudged { shown, mistake } = *judged;
                analysis.mistakes.extend(mistake);
                analysis.shown.positions.push(shown);
                let shown = analysis.shown.clone();
                self.tell(event::Body::Judgements(shown));
            }
            None => self.end_judging(None),
        }
    }
}

/// How an analysis proceeds.
struct JudgingOptions<'a> {
    /// Time for each position.
    time: Duration,
    /// While they rest, the analysis waits.
    engines: &'a Engines,
    stop: &'a AtomicBool,
}

fn judge_all(
    maker: &BotMaker,
    seed: u64,
    mut game: AnyGame,
    actions: &[engine::Action],
    options: &JudgingOptions<'_>,
    tell: &impl Fn(Option<Box<PositionJudged>>),
) {
    let &JudgingOptions { time, engines, stop } = options;
    let mut bot = maker(game.kind(), Level::MAX, seed);
    let mut next = actions.iter();
    let (mut moves, mut ply) = (0, 0);
    // The position before the last action, with what was found there.
    let mut before: Option<Before> = None;
    loop {
        engines.wait_while_resting(stop);
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (mut found, mut mistake) = (None, None);
        let judgement = if let Some(outcome) = game.outcome() {
            let permille = match outcome.winner {
                Some(Side::First) => 1_000,
                Some(Side::Second) => -1_000,
                None => 0,
            };
            mistake = before.as_ref().and_then(|before| mistaken(before, permille, None));
            control::Judgement { permille, moves, ..Default::default() }
        } else {
            let began = Instant::now();
            let elapsed = || began.elapsed();
            let limits = Limits { time: Some(time), nodes: None, depth: None, stop, elapsed: &elapsed };
            let report = bot.judge(&game, &limits);
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let mut judged = control::Judgement { moves, ..judgement(&game, report.as_ref()) };
            judged.why = before
                .as_ref()
                .zip(report.as_ref())
                .filter(|((_, was, _, _, permille), _)| fell(was.turn(), *permille, judged.permille))
                .and_then(|((_, was, played, better, _), reply)| {
                    let [mut better, mut reply] = [better.clone(), reply.clone()];
                    let mut further = |game: &AnyGame| {
                        let began = Instant::now();
                        let elapsed = || began.elapsed();
                        let time = Some(time / FURTHER);
                        bot.judge(game, &Limits { time, nodes: None, depth: None, stop, elapsed: &elapsed })
                    };
                    reasons::complete(was, &mut better, &mut further);
                    reasons::complete(&game, &mut reply, &mut further);
                    reasons::reason(&Mistake { before: was, played: *played, better: &better, reply: &reply })
                })
                .map(|reason| {
                    let [zh, en] = reason.words;
                    control::Words { zh, en }
                });
            if let Some(before) = &before {
                mistake = mistaken(before, judged.permille, judged.why.clone());
            }
            found = report.map(|report| (report, judged.permille));
            judged
        };
        tell(Some(Box::new(PositionJudged { shown: judgement, mistake })));
        let Some(action) = next.next() else { return };
        before = found.map(|(report, permille)| (ply, game.clone(), *action, report, permille));
        moves += u32::from(action.is_move());
        ply += 1;
        if game.act(*action).is_err() {
            return;
        }
    }
}

/// A position after so many actions, with the action played there, what a search found, and its value for the first side.
type Before = (u32, AnyGame, engine::Action, Report, i32);

/// The action after `before`, if it was a mistake. `after`: the value of the position after it, for the first side.
fn mistaken(before: &Before, after: i32, why: Option<control::Words>) -> Option<mistakes::Found> {
    let (ply, was, played, report, permille) = before;
    if !fell(was.turn(), *permille, after) {
        return None;
    }
    let values = [*permille, after].map(|value| if was.turn() == Side::First { value } else { -value });
    mistakes::found(was, *ply, *played, report, values, why)
}

/// The lines around a mistake are completed by searches of this part of the time for a position.
const FURTHER: u32 = 8;

/// Loss by a move that is a mistake: a tenth of the winning chance, of 2,000 between a sure win and a sure loss.
const MISTAKE: i32 = 200;

/// Whether a move cost its side much. Both values are the first side's.
const fn fell(mover: Side, before: i32, after: i32) -> bool {
    let lost = match mover {
        Side::First => before - after,
        Side::Second => after - before,
    };
    lost >= MISTAKE
}

fn judgement(game: &AnyGame, report: Option<&Report>) -> control::Judgement {
    let Some(report) = report else { return control::Judgement::default() };
    let permille = show::chances(game.kind(), report.score);
    let best = report.line.first().copied();
    control::Judgement {
        permille: if game.turn() == Side::First { permille } else { -permille },
        best: best.map_or_else(String::new, |best| game.notation(best)),
        best_spoken: best.and_then(|best| show::spoken(game, best)),
        best_action: best.map(wire::action),
        turn: show::side(game.turn()).into(),
        ..Default::default()
    }
}
