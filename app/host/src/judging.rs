//! Analysis of a finished match: the value of each position, and the mistakes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::reasons::{self, Mistake};
use engine::{AnyGame, GameKind, Limits, Report, Score, Side};
use proto::control::{self, RefusalCode};
use session::{MatchId, MatchRecord, wire};
use tracing::warn;

use crate::bots::BotOnce;
use crate::journal::Journal;
use crate::mistakes;
use crate::power::Engines;
use crate::refusal::Refusal;
use crate::setup::replayed;
use crate::show;
use crate::store::StoreError;
use crate::wall_clock::WallClock;

/// Search time per position of an analysis: a match of sixty moves takes 15 seconds.
const JUDGING_TIME: Duration = Duration::from_millis(250);

/// The analysis in progress, if there is one.
#[derive(Default)]
pub(crate) struct Judge {
    present: Option<Judging>,
    /// Ticket of the last analysis.
    last: u64,
}

/// An analysis in progress, on a thread of its own.
struct Judging {
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

/// With what an analysis searches.
pub(crate) struct Means {
    pub(crate) make: BotOnce,
    /// Maximum time per position.
    pub(crate) time: Duration,
    /// While they rest, the analysis waits.
    pub(crate) engines: Engines,
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The first position of a match that can be analysed.
pub(crate) fn start(record: &MatchRecord) -> Result<AnyGame, Refusal> {
    let start = replayed(record, 0)?;
    if start.kind() == GameKind::LightsOut {
        let why = "there is nobody to be better or worse than";
        return Err(Refusal::new(RefusalCode::RefusalIllegal, why));
    }
    Ok(start)
}

impl Judge {
    /// Starts an analysis from the position of [`start`]; the caller has ended the one before. `name` is the match's for
    /// clients. `tell` gets the analysis' ticket with the evaluation of each position, and with `None` at the end.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        record: MatchRecord,
        start: AnyGame,
        means: Means,
        tell: impl Fn(u64, Option<Box<PositionJudged>>) + Send + 'static,
    ) -> Result<(), Refusal> {
        let (judging, actions) = (self.next(record.id, name, record.actions.len()), record.actions);
        let (ticket, stop) = (judging.ticket, judging.stop.clone());
        let work = move || {
            let tell = |judged| tell(ticket, judged);
            let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let time = JUDGING_TIME.min(means.time);
                let options = JudgingOptions { time, engines: &means.engines, stop: &stop };
                judge_all(means.make, start, &actions, &options, &tell);
            }));
            drop(all);
            tell(None);
        };
        std::thread::Builder::new()
            .name("judging".into())
            .spawn(work)
            .map_err(|error| Refusal::new(RefusalCode::RefusalBusy, error.to_string()))?;
        self.present = Some(judging);
        Ok(())
    }

    fn next(&mut self, id: MatchId, name: &str, actions: usize) -> Judging {
        self.last += 1;
        let shown =
            control::Judgements { room_id: name.into(), total: actions as u32 + 1, ..Default::default() };
        Judging { id, ticket: self.last, stop: Arc::default(), shown, mistakes: Vec::new() }
    }

    /// Stops the analysis of this match, or any analysis. Returns what clients are told of its end, if there was one. The
    /// mistakes of the person here are kept, to be tried again.
    pub(crate) fn end(
        &mut self,
        of: Option<MatchId>,
        journal: &mut Journal,
        clock: &WallClock,
    ) -> Option<control::Judgements> {
        let mut ended = self.present.take_if(|analysis| of.is_none_or(|id| id == analysis.id))?;
        ended.shown.ended = true;
        if let Err(error) = ended.keep_mistakes(journal, clock) {
            warn!(%error, "the mistakes of an analysed match are not kept");
        }
        Some(std::mem::take(&mut ended.shown))
    }

    /// Stops the analysis, because the host ends.
    pub(crate) fn stop(&mut self) {
        self.present = None;
    }

    /// Handles the evaluation of the next position, or the end of the analysis. Returns what clients are told; nothing about an
    /// analysis that was ended before.
    pub(crate) fn judged(
        &mut self,
        ticket: u64,
        judged: Option<Box<PositionJudged>>,
        journal: &mut Journal,
        clock: &WallClock,
    ) -> Option<control::Judgements> {
        let analysis = self.present.as_mut().filter(|analysis| analysis.ticket == ticket)?;
        let Some(judged) = judged else { return self.end(None, journal, clock) };
        let PositionJudged { shown, mistake } = *judged;
        analysis.mistakes.extend(mistake);
        analysis.shown.positions.push(shown);
        Some(analysis.shown.clone())
    }
}

impl Judging {
    /// Keeps the mistakes of the person here, to be tried again, and names them to clients.
    fn keep_mistakes(&mut self, journal: &mut Journal, clock: &WallClock) -> Result<(), StoreError> {
        let Some(saved) = journal.load(self.id)? else { return Ok(()) };
        let keep = mistakes::to_keep(&saved.record, &saved.seats, &self.mistakes);
        if keep.is_empty() {
            return Ok(());
        }
        let (plies, new): (Vec<u32>, Vec<_>) = keep.into_iter().unzip();
        journal.keep(|store| store.add_mistakes(&new, clock.local_day(), clock.unix_ms()))?;
        for (ply, mistake) in plies.into_iter().zip(new) {
            if let Some(judged) = self.shown.positions.get_mut(ply as usize + 1) {
                judged.try_again = mistake.id;
            }
        }
        Ok(())
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
    make: BotOnce,
    mut game: AnyGame,
    actions: &[engine::Action],
    options: &JudgingOptions<'_>,
    tell: &impl Fn(Option<Box<PositionJudged>>),
) {
    let &JudgingOptions { time, engines, stop } = options;
    let mut bot = make();
    let mut next = actions.iter();
    let (mut moves, mut ply) = (0, 0);
    // The last position's value.
    let mut permille = 0;
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
            bot.set_record(&actions[..ply as usize]);
            let report = bot.judge(&game, &limits).filter(|report| is_searched(&game, report));
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let mut judged = match &report {
                Some(report) => control::Judgement { moves, ..judgement(&game, report) },
                // Without a side to move it is compared with no other position.
                None => control::Judgement { permille, moves, ..Default::default() },
            };
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
            if let Some(before) = before.as_ref().filter(|_| report.is_some()) {
                mistake = mistaken(before, judged.permille, judged.why.clone());
            }
            permille = judged.permille;
            found = report.map(|report| (report, judged.permille));
            judged
        };
        tell(Some(Box::new(PositionJudged { shown: judgement, mistake })));
        let Some(action) = next.next() else { return };
        before = found.map(|(report, permille)| (ply, game.clone(), *action, report, permille));
        ply += 1;
        moves = show::moves(&actions[..ply as usize]);
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

/// Whether a value comes from a search. Decisions of an opening rule, such as who plays which colour, are made at once, and their
/// value says nothing.
fn is_searched(game: &AnyGame, report: &Report) -> bool {
    let decides = matches!(game, AnyGame::Gomoku(gomoku) if gomoku.is_opening());
    !decides || report.nodes > 1 || !matches!(report.score, Score::Points(_))
}

fn judgement(game: &AnyGame, report: &Report) -> control::Judgement {
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

#[cfg(test)]
mod tests {
    use engine::{Action, Level, Point};
    use session::MatchResult;

    use super::*;
    use crate::room::Seat;

    const MATCH: MatchId = MatchId([1; 16]);
    const OTHER: MatchId = MatchId([2; 16]);

    fn clock() -> WallClock {
        WallClock::standing(Duration::from_hours(24 * 20_000))
    }

    /// An analysis of a match with this id, without its thread; and its ticket.
    fn begun(judge: &mut Judge, id: MatchId) -> u64 {
        let judging = judge.next(id, &id.to_string(), 2);
        let ticket = judging.ticket;
        judge.present = Some(judging);
        ticket
    }

    fn position(mistake: Option<mistakes::Found>) -> Box<PositionJudged> {
        Box::new(PositionJudged { shown: control::Judgement::default(), mistake })
    }

    #[test]
    fn positions_come_one_after_another_and_the_end_once() {
        let (mut journal, _folder) = Journal::for_test();
        let mut judge = Judge::default();
        let ticket = begun(&mut judge, MATCH);
        for count in 1..=3 {
            let told = judge.judged(ticket, Some(position(None)), &mut journal, &clock()).expect("told");
            assert_eq!((told.positions.len(), told.total, told.ended), (count, 3, false));
        }
        let told = judge.judged(ticket, None, &mut journal, &clock()).expect("told");
        assert_eq!((told.room_id, told.positions.len(), told.ended), (MATCH.to_string(), 3, true));
        assert!(judge.judged(ticket, None, &mut journal, &clock()).is_none());
    }

    #[test]
    fn an_ended_analysis_stops_its_thread_and_says_nothing_more() {
        let (mut journal, _folder) = Journal::for_test();
        let mut judge = Judge::default();
        let first = begun(&mut judge, MATCH);
        let stop = judge.present.as_ref().expect("begun").stop.clone();
        assert!(judge.end(Some(OTHER), &mut journal, &clock()).is_none(), "another match's");
        assert!(!stop.load(Ordering::Relaxed));
        assert!(judge.end(Some(MATCH), &mut journal, &clock()).is_some_and(|told| told.ended));
        assert!(stop.load(Ordering::Relaxed));
        let second = begun(&mut judge, OTHER);
        assert!(judge.judged(first, Some(position(None)), &mut journal, &clock()).is_none(), "an old ticket");
        assert!(judge.judged(first, None, &mut journal, &clock()).is_none());
        assert!(judge.judged(second, Some(position(None)), &mut journal, &clock()).is_some());
        assert!(judge.end(None, &mut journal, &clock()).is_some());
    }

    #[test]
    fn the_mistakes_of_the_person_here_are_kept_and_named_at_the_end() {
        let (mut journal, _folder) = Journal::for_test();
        let mut record = MatchRecord::new(MATCH, GameKind::Gomoku.default_setup(), Side::First);
        let [played, better] = [Point::new(0, 0), Point::new(7, 7)].map(Action::Place);
        record.actions = vec![played, Action::Place(Point::new(7, 8))];
        record.result = Some(MatchResult::Resigned(Side::First));
        let seats = [Seat::Here, Seat::Bot(Level::MIN)];
        journal.keep(|store| store.put_away(&record, seats, 1)).expect("kept");
        let found =
            mistakes::Found { ply: 0, side: Side::First, played, better, chance: 0, lost: 900, why: None };
        let mut judge = Judge::default();
        let ticket = begun(&mut judge, MATCH);
        for mistake in [None, Some(found), None] {
            judge.judged(ticket, Some(position(mistake)), &mut journal, &clock());
        }
        let told = judge.judged(ticket, None, &mut journal, &clock()).expect("the end");
        let named: Vec<bool> = told.positions.iter().map(|position| !position.try_again.is_empty()).collect();
        assert_eq!(named, [false, true, false], "after the move that was the mistake");
        let kept = journal.mistakes(GameKind::Gomoku).expect("readable");
        assert_eq!(kept.iter().map(|kept| &kept.id).collect::<Vec<_>>(), [&told.positions[1].try_again]);
    }

    #[test]
    fn nobody_is_better_or_worse_at_putting_out_lights() {
        let record = |kind: GameKind| MatchRecord::new(MATCH, kind.default_setup(), Side::First);
        let code = |kind| start(&record(kind)).err().map(|refusal| refusal.code);
        assert_eq!(code(GameKind::LightsOut), Some(RefusalCode::RefusalIllegal));
        let of_two = GameKind::ALL.iter().filter(|kind| **kind != GameKind::LightsOut);
        assert!(of_two.copied().all(|kind| code(kind).is_none()));
    }

    #[test]
    fn decisions_of_an_opening_rule_are_no_mistakes_whatever_they_are_worth() {
        let setup = engine::Setup::Gomoku(engine::gomoku::GomokuSetup {
            rule: engine::gomoku::GomokuRule::Renju,
            opening: engine::gomoku::GomokuOpening::Yamaguchi,
            ..Default::default()
        });
        let mut record = MatchRecord::new(MATCH, setup, Side::First);
        // Black has three in a row and White a stone in the corner; then White takes White and wastes the next one too.
        let mut game = start(&record).expect("a game");
        for text in "h8 h9 i9 offer2 black a1 g7 j10 g7 o15 k11".split_whitespace() {
            let action = game.parse(text).expect("an action");
            game.act(action).unwrap_or_else(|why| panic!("{text}: {why}"));
            record.actions.push(action);
        }
        let game = start(&record).expect("a game");
        let positions = std::sync::Mutex::new(Vec::new());
        let options = JudgingOptions {
            time: Duration::from_millis(30),
            engines: &Engines::new(crate::power::Sensors::default()),
            stop: &AtomicBool::new(false),
        };
        let make: BotOnce = Box::new(|| engine::bot(GameKind::Gomoku, engine::Tier::MAX, 1));
        judge_all(make, game, &record.actions, &options, &|judged| {
            positions.lock().expect("whole").extend(judged);
        });
        let positions = positions.into_inner().expect("whole");
        assert_eq!(positions.len(), record.actions.len() + 1);
        let decided = &positions[..9];
        assert!(decided.iter().all(|one| one.mistake.is_none()), "the opening");
        let compared: Vec<usize> = (0..decided.len())
            .filter(|&at| decided[at].shown.turn() != proto::board::Side::Unspecified)
            .collect();
        assert_eq!(compared, [5], "of the opening only the fourth stone is searched for");
    }

    #[test]
    fn an_analysis_without_a_bot_ends() {
        let (mut journal, _folder) = Journal::for_test();
        let (tell, told) = std::sync::mpsc::channel();
        let record = MatchRecord::new(MATCH, GameKind::Gomoku.default_setup(), Side::First);
        let (game, mut judge) = (start(&record).expect("a game"), Judge::default());
        let means = Means {
            make: Box::new(|| panic!("no bot")),
            time: Duration::ZERO,
            engines: Engines::new(crate::power::Sensors::default()),
        };
        let tell = move |ticket, judged: Option<_>| tell.send((ticket, judged.is_none())).expect("heard");
        judge.begin("name", record, game, means, tell).expect("a thread");
        let (ticket, is_end) = told.recv().expect("told");
        assert!(is_end);
        let end = judge.judged(ticket, None, &mut journal, &clock()).expect("the end");
        assert_eq!((end.room_id.as_str(), end.total, end.positions.len()), ("name", 1, 0));
    }
}
