//! Matches in progress: actions of users and bots, and clocks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Action, GameKind, Level, Setup, Side};
use engines::{EngineBot, EngineNews, Fault, Program, Protocol, plays};
use proto::control::{self, NoticeKind, RefusalCode, Words, event, request};
use proto::limits;
use session::{Command, LocalCommand, MatchId, Refused, Undone, wire};
use tokio::time::Instant;
use tracing::{debug, error, warn};

use crate::actor::{Actor, BotSeat, Message, notice};
use crate::answer_delay::AnswerDelay;
use crate::bots::{self, BotNews, BotOnce, BotThread};
use crate::installed::{self, News};
use crate::journal::OfRoom;
use crate::mistakes::Search;
use crate::puzzles;
use crate::refusal::Refusal;
use crate::responder::{Answer, Responder, done, in_room};
use crate::room::{EngineSeat, PlayedBy, Room, Seat};
use crate::show;
use crate::work::{Job, JobContext};

/// Maximum length of a bot's displayed variation, in actions.
const SHOWN_LINE: usize = limits::LINE_ACTIONS;

/// Number of further decisions that a bot's remaining time must suffice for: half of a long game's.
const DECISIONS: u32 = 30;

impl Actor {
    /// Makes an action for the side to move. Saved before anyone sees it.
    pub(crate) fn play(&mut self, id: MatchId, action: Action) -> Result<(), Refusal> {
        let room = &self.rooms[&id];
        if let Some(key) = room.peer() {
            return self.act_with_peer(key, id, action);
        }
        if room.record().setup.is_race() {
            let nobody = || Refusal::new(RefusalCode::RefusalNotYourTurn, "nobody here runs in this race");
            let side = room.side_here().ok_or_else(nobody)?;
            return self.press(id, side, action);
        }
        self.command_here(id, LocalCommand::Act(action))
    }

    /// Makes a press for this side, in a race without a peer.
    pub(crate) fn press(&mut self, id: MatchId, side: Side, action: Action) -> Result<(), Refusal> {
        let Action::Press(at) = action else {
            return Err(Refusal::new(RefusalCode::RefusalIllegal, "in a race lights are pressed"));
        };
        self.command_here(id, LocalCommand::Press(side, at))
    }

    /// Executes a command in a match without a peer. Saved before anyone sees it.
    pub(crate) fn command_here(&mut self, id: MatchId, command: LocalCommand) -> Result<(), Refusal> {
        let action = if let LocalCommand::Act(action) = &command { Some(*action) } else { None };
        let (now, unix_ms) = (self.session_now(), self.wall_clock.unix_ms());
        let room = self.rooms.get_mut(&id).expect("the caller has looked at it");
        match room.command(now, command, &mut OfRoom { journal: &mut self.journal, now: unix_ms }) {
            Ok(changed) => {
                if changed {
                    self.room_changed(id);
                }
                Ok(())
            }
            Err(Undone::Refused(Refused::Illegal(why))) => {
                let action = action.unwrap_or(Action::Pass);
                Err(Refusal::illegal(why, action, room.game()))
            }
            Err(Undone::Refused(refused)) => Err(refused.into()),
            Err(Undone::Journal(error)) => Err(error.into()),
        }
    }

    // Clocks of matches without a peer.

    /// Starts or stops the clock, as the state requires. It stands while a stalled bot or an absent guest is waited for.
    pub(crate) fn check_clock(&mut self, id: MatchId) {
        let held = self.stalled.contains_key(&id);
        if let Some(room) = self.rooms.get(&id) {
            let held = held || self.guests.keep_waiting(room);
            // Stopping a clock cannot be refused and stores only its state; a full disk has been reported.
            let _ = self.command_here(id, LocalCommand::Hold(held));
        }
    }

    /// Stops the clock, because the room is closed or the host ends.
    pub(crate) fn stop_clock(&mut self, id: MatchId) {
        if self.rooms.contains_key(&id) {
            let _ = self.command_here(id, LocalCommand::Leave);
        }
    }

    /// The next time at which a running clock reaches a limit.
    pub(crate) fn clock_deadline(&self) -> Option<Instant> {
        let now = self.session_now();
        let due = self.rooms.values().filter_map(|room| room.clock_due(now)).min();
        due.and_then(|due| self.started.checked_add(due.0))
    }

    /// Ends matches whose time is up, and updates clocks that enter another period.
    pub(crate) fn clocks_on_time(&mut self) {
        let now = self.session_now();
        let running: Vec<MatchId> =
            self.rooms.values().filter(|room| room.clock_due(now).is_some()).map(Room::id).collect();
        for id in running {
            if let Err(refusal) = self.command_here(id, LocalCommand::Tick) {
                warn!(%id, detail = refusal.detail, "a match whose time is over could not be ended");
                self.stall(id);
                self.check_clock(id);
            }
        }
    }

    /// Remaining time of a bot for this decision; `None` without a clock.
    fn left_for_bot(&self, id: MatchId) -> Option<Duration> {
        let room = &self.rooms[&id];
        match room.peer() {
            None => room.left_for_action(),
            Some(key) => self
                .people
                .get(&key)
                .and_then(|peer| peer.match_state(id))
                .and_then(|state| state.clock(room.game().turn(), self.session_now()))
                .map(|clock| clock.left),
        }
    }

    /// Starts the bot whose turn it is, and stops the others.
    pub(crate) fn wake_bots(&mut self, id: MatchId) {
        let Some(room) = self.rooms.get(&id) else { return };
        let paused = room.record().paused;
        let (turn, over) = (self.turn(room).filter(|_| !paused), room.turn().is_none());
        // A running clock does not wait for a lid to be opened.
        let rests = self.power.engines.rest() && self.left_for_bot(id).is_none();
        for side in Side::BOTH {
            let key = (id, side.index());
            let level = self.rooms[&id].bot(side);
            let is_due = turn == Some(side) && !rests && !self.stalled.contains_key(&id);
            let (Some(level), true) = (level, is_due) else {
                self.idle_bot(key, side, level.is_none() || over);
                continue;
            };
            let room = &self.rooms[&id];
            // In a race the bot plays on the board of the player that it assists.
            let (ply, game) = match self.race(room) {
                Some(race) => (race.presses, race.board),
                None => (room.ply(), room.game().clone()),
            };
            let (about, kind) = ((ply, room.record().revision), game.kind());
            // After a panic the simplest bot takes over: a weak move is better than none.
            let (level, engine) = if self.panics.contains_key(&key) {
                (engine::Level::MIN, None)
            } else {
                (level, room.engine(side).cloned())
            };
            let record = room.record().actions.clone();
            if self.bots.get(&key).is_some_and(|bot| (bot.level, &bot.engine) != (level, &engine)) {
                self.bots.remove(&key);
            }
            if !self.bots.contains_key(&key) {
                let make = self.seat_bot((id, side), kind, level, engine.as_ref());
                let inbox = self.inbox.clone();
                let tell = move |ticket, news| {
                    // Sending fails only after the actor has ended.
                    let _ = inbox.send(Message::Bot((id, side), ticket, news));
                };
                let engines = self.power.engines.clone();
                match BotThread::start(level, engine.clone(), engines, make, tell) {
                    Ok(bot) => {
                        self.bots.insert(key, bot);
                    }
                    Err(error) => {
                        warn!(%error, "no thread for a bot");
                        self.stall(id);
                        return;
                    }
                }
            }
            let left = self.left_for_bot(id);
            let usual =
                engine.map_or(bots::time_for(level), |engine| Duration::from_secs(engine.seconds.into()));
            let usual = usual.min(self.bot_time);
            // The level's usual time, limited to a part of the remaining time.
            let time = left.map_or(usual, |left| usual.min(left / DECISIONS));
            let delay = AnswerDelay {
                wanted: self.clients.anyone_unhurried(),
                race: self.rooms[&id].record().setup.is_race(),
                left,
            };
            let bot = self.bots.get_mut(&key).expect("it was made above");
            if bot.about != Some(about) {
                bot.think((game, record), about.1, time, delay);
                self.tell_thinking(id, side, true, None);
            }
        }
    }

    /// Stops the bot of this seat; `leaves`: for good.
    fn idle_bot(&mut self, key: (MatchId, usize), side: Side, leaves: bool) {
        let thinking = self.bots.get_mut(&key).is_some_and(|bot| {
            let thinking = bot.about.is_some();
            bot.stop();
            thinking
        });
        if leaves {
            self.bots.remove(&key);
        }
        if thinking {
            self.tell_thinking(key.0, side, false, None);
        }
    }

    pub(crate) fn drop_bots(&mut self, id: MatchId) {
        for side in Side::BOTH {
            self.idle_bot((id, side.index()), side, true);
            self.panics.remove(&(id, side.index()));
        }
        self.stalled.remove(&id);
    }

    /// Handles that the bot could not play, for lack of disk space or threads: it is asked again later.
    fn stall(&mut self, id: MatchId) {
        self.stalled.insert(id, Instant::now() + crate::actor::DISK_RETRY);
    }

    pub(crate) fn bot_said(&mut self, (id, side): (MatchId, Side), ticket: u64, news: BotNews) {
        let key = (id, side.index());
        let Some(bot) = self.bots.get_mut(&key) else { return };
        if !bot.is_current(ticket) {
            return;
        }
        match news {
            BotNews::Report(report, elapsed) => self.tell_thinking(id, side, true, Some((report, elapsed))),
            BotNews::Chosen(chosen, elapsed) => {
                bot.about = None;
                let action = chosen.as_ref().and_then(|report| report.line.first().copied());
                // The final result stays on display.
                self.tell_thinking(id, side, false, chosen.map(|report| (report, elapsed)));
                let Some(action) = action else {
                    error!(%id, "a bot has no move in a match that goes on");
                    return self.bot_failed(id, side);
                };
                match self.play(id, action) {
                    Ok(()) => {}
                    Err(refusal) if refusal.action.is_some() => {
                        error!(%id, ?action, detail = refusal.detail, "a bot's move is illegal");
                        self.bot_failed(id, side);
                    }
                    Err(refusal) => {
                        debug!(%id, detail = refusal.detail, "a bot's move could not be done now");
                        self.stall(id);
                    }
                }
            }
            BotNews::Panicked => {
                error!(%id, "a bot panicked");
                self.tell_thinking(id, side, false, None);
                self.bot_failed(id, side);
            }
        }
    }

    /// Handles a panic of a bot: the simplest bot continues; if it panics too, the seat resigns.
    fn bot_failed(&mut self, id: MatchId, side: Side) {
        let key = (id, side.index());
        self.bots.remove(&key);
        let failures = self.panics.entry(key).or_default();
        *failures += 1;
        if *failures == 1 {
            self.wake_bots(id);
        } else if let Err(refusal) = self.give_in(id, side) {
            warn!(%id, detail = refusal.detail, "a failing bot could not resign");
            self.stall(id);
        }
    }

    /// Resigns for this side, with or without a peer.
    pub(crate) fn give_in(&mut self, id: MatchId, side: Side) -> Result<(), Refusal> {
        match self.rooms[&id].peer() {
            Some(key) => self.command(key, Command::Resign(id)),
            None => self.command_here(id, LocalCommand::Resign(side)),
        }
    }

    fn tell_thinking(
        &mut self,
        id: MatchId,
        side: Side,
        on: bool,
        found: Option<(engine::Report, Duration)>,
    ) {
        let mut thinking = control::Thinking {
            room_id: id.to_string(),
            side: show::side(side).into(),
            on,
            ..control::Thinking::default()
        };
        if let (Some((report, elapsed)), Some(room)) = (found, self.rooms.get(&id)) {
            // Notation can depend on the position, so the variation is played while it is written.
            let mut game = room.game().clone();
            thinking.ply = room.ply();
            for action in report.line.iter().take(SHOWN_LINE) {
                let (notation, spoken) = (game.notation(*action), show::spoken(&game, *action));
                let stone = show::stone(&game, *action);
                if game.act(*action).is_err() {
                    break;
                }
                thinking.line.push(notation);
                thinking.spoken.extend(spoken);
                thinking.actions.push(session::wire::action(*action));
                thinking.stones.push(stone.into());
            }
            thinking.depth = report.depth;
            thinking.nodes = report.nodes;
            thinking.score = Some(show::score(report.score));
            let judgement = show::judgement(&game, &report);
            (thinking.judged, thinking.permille, thinking.lead_tenths) =
                judgement.map_or((false, 0, 0), |(permille, lead)| (true, permille, lead));
            thinking.elapsed_ms = elapsed.as_millis() as u32;
        }
        self.tell(event::Body::Thinking(thinking));
    }

    /// Executes a request about a puzzle room.
    pub(super) fn puzzle_request(&mut self, responder: Responder, id: MatchId, body: &request::Body) {
        use request::Body;
        let answer = match body {
            Body::Act(act) => return self.try_puzzle(responder, id, act),
            Body::Hint(hint) => return self.puzzle_hint(responder, id, hint.narrow),
            Body::Offer(offer) => {
                let answer = self.puzzles.try_again(id, show::parse_offer_kind(offer.kind));
                if answer.is_ok() {
                    self.mark_for_display(id);
                }
                answer
            }
            _ => {
                self.puzzles.close(id);
                self.tell(event::Body::RoomGone(control::Gone { id: id.to_string() }));
                Ok(done())
            }
        };
        self.show_changes();
        responder.answer(answer);
    }

    pub(super) fn open_puzzle(&mut self, open: &control::OpenPuzzle) -> Result<Answer, Refusal> {
        let id = MatchId(self.chance.bytes());
        if let Some(closed) = self.puzzles.open(id, open, &mut self.journal, self.wall_clock.local_day())? {
            self.tell(event::Body::RoomGone(control::Gone { id: closed.to_string() }));
        }
        self.mark_for_display(id);
        Ok(in_room(id))
    }

    /// Handles the user's move in a puzzle: it is verified on a thread of its own, and answered afterwards.
    fn try_puzzle(&mut self, responder: Responder, id: MatchId, act: &control::Act) {
        let (task, action) = match self.puzzles.move_to_try(id, act, &mut self.journal) {
            Ok(tried) => tried,
            Err(refusal) => return responder.refuse(refusal),
        };
        let search =
            Search { maker: self.bot_maker.clone(), seed: self.chance.seed(), bot_time: self.bot_time };
        let inbox = self.inbox.clone();
        // Sending fails only after the actor has ended.
        let tell = move |judged| drop(inbox.send(Message::PuzzleJudged(id, judged)));
        // If no thread can be started, the responder is dropped, which refuses the request.
        if puzzles::judge(task, action, search, tell).is_ok() {
            self.puzzles.await_verdict(id, responder);
            self.mark_for_display(id);
        }
    }

    /// Makes more puzzles of a game for the person here, or ends that.
    pub(crate) fn make_puzzles(&mut self, make: control::MakePuzzles) -> Result<Answer, Refusal> {
        let what = || Refusal::new(RefusalCode::RefusalBadRequest, "say of which game");
        let kind = wire::read_game(make.game).ok_or_else(what)?;
        if make.on {
            let (seed, tell) = (u64::from_le_bytes(self.chance.bytes()), self.hear_of_puzzles());
            self.maker.ask(kind, seed, tell)?;
        } else {
            self.maker.stop_asked();
        }
        self.tell(event::Body::PuzzleMaking(self.maker.shown()));
        Ok(done())
    }

    pub(crate) fn make_puzzles_unasked(&mut self, now: Instant) {
        let (tell, allowed) = (self.hear_of_puzzles(), self.profile.makes_puzzles());
        let (journal, chance) = (&self.journal, &mut self.chance);
        // An unreadable disk has been reported.
        let wanted = || puzzles::wanted(journal).ok().flatten().filter(|_| allowed);
        self.maker.on_time(now, wanted, || u64::from_le_bytes(chance.bytes()), tell);
    }

    fn hear_of_puzzles(&self) -> impl Fn(u64, puzzles::MakerNews) + Send + use<> + 'static {
        let inbox = self.inbox.clone();
        // Sending fails only after the actor has ended.
        move |ticket, news| drop(inbox.send(Message::PuzzlesMade(ticket, news)))
    }

    pub(crate) fn puzzles_made(&mut self, ticket: u64, news: puzzles::MakerNews) {
        let unix_ms = self.wall_clock.unix_ms();
        if self.maker.handle(ticket, news, &mut self.journal, Instant::now(), unix_ms) {
            self.tell(event::Body::PuzzleMaking(self.maker.shown()));
        }
    }

    pub(crate) fn puzzle_judged(&mut self, id: MatchId, judged: puzzles::Judged) {
        let judged = self.puzzles.judged(id, judged, &mut self.journal, &self.wall_clock);
        let Some((responder, answer)) = judged else { return };
        self.mark_for_display(id);
        self.show_changes();
        responder.answer(answer);
    }

    fn puzzle_hint(&mut self, responder: Responder, id: MatchId, narrow: bool) {
        if !self.work.has_room(Job::Hint) {
            let busy = Refusal::new(RefusalCode::RefusalBusy, "a hint is being looked for already");
            return responder.refuse(busy);
        }
        let (Some((task, given)), inbox) = (self.puzzles.to_hint(id), self.inbox.clone()) else { return };
        self.work.begin(Job::Hint, move || {
            let found = puzzles::find_hint(&task, given, narrow);
            let _ = inbox.send(Message::PuzzleHint(responder, id, found));
        });
    }

    pub(crate) fn puzzle_hint_found(
        &mut self,
        responder: Responder,
        id: MatchId,
        found: Result<puzzles::HintFound, Refusal>,
    ) {
        self.work.ended(Job::Hint);
        let answer = self.puzzles.hint_found(id, found, &mut self.journal, &self.wall_clock);
        self.mark_for_display(id);
        self.show_changes();
        responder.answer(answer);
    }
}

/// Where Debian installs games, which is not in every path.
const GAMES: [&str; 2] = ["/usr/games", "/usr/local/games"];

// Engines that the user has added.

impl Actor {
    pub(crate) fn engines_asked(&mut self, responder: Responder, body: request::Body) {
        match body {
            request::Body::AddEngine(add) => self.add_engine(responder, add),
            request::Body::FindEngines(_) => self.find_engines(responder),
            request::Body::RemoveEngine(remove) => {
                let answer = match self.installed.remove(&remove.name) {
                    Ok(true) => {
                        self.tell(self.installed.shown());
                        Ok(done())
                    }
                    Ok(false) => Err(no_such(&remove.name)),
                    Err(error) => Err(error.into()),
                };
                responder.answer(answer);
            }
            _ => responder.refuse(bad("this is no request about engines")),
        }
    }

    /// Tries a program on a thread of its own, and adds it.
    fn add_engine(&mut self, responder: Responder, add: control::AddEngine) {
        let Some(path) = program_path(&add.program) else {
            let words = ["找不到这个程序。", "There is no such program."];
            return responder.refuse(refused(format!("{} is not there", add.program), words));
        };
        let known = engines::known(&path);
        let protocol = installed::read_protocol(add.protocol())
            .or_else(|| known.as_ref().map(|(protocol, _)| *protocol));
        let arguments = match known {
            Some((of, arguments)) if add.arguments.is_empty() && protocol == Some(of) => arguments,
            _ => add.arguments,
        };
        let program = Program { path, arguments };
        if !self.work.has_room(Job::Engine) {
            return responder.refuse(Refusal::new(RefusalCode::RefusalBusy, "another engine is being tried"));
        }
        let (inbox, sandbox) = (self.inbox.clone(), self.installed.sandbox());
        self.work.begin_stoppable(Job::Engine, responder.client, JobContext::default(), move |context| {
            let stopped = || context.is_stopped();
            let trying =
                std::panic::AssertUnwindSafe(|| engines::try_out(&program, protocol, &sandbox(), &stopped));
            let tried = std::panic::catch_unwind(trying).unwrap_or(Err(Fault::Silent));
            let news = News::Tried { responder, program, name: add.name, tried };
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::Installed(news));
        });
    }

    fn find_engines(&mut self, responder: Responder) {
        if !self.work.has_room(Job::Engine) {
            return responder.refuse(Refusal::new(RefusalCode::RefusalBusy, "another engine is being tried"));
        }
        let inbox = self.inbox.clone();
        self.work.begin(Job::Engine, move || {
            let found = engines::search(folders());
            let _ = inbox.send(Message::Installed(News::Found(responder, found)));
        });
    }

    pub(crate) fn installed_said(&mut self, news: News) {
        match news {
            News::Tried { responder, program, name, tried } => {
                self.work.ended(Job::Engine);
                let added = tried
                    .map_err(|fault| not_an_engine(&fault))
                    .and_then(|tried| self.installed.add(&name, program, &tried).map_err(Refusal::from));
                responder.answer(added.map(|engine| {
                    self.tell(self.installed.shown());
                    Answer::Engine(self.installed.shown_engine(&engine))
                }));
            }
            News::Found(responder, found) => {
                self.work.ended(Job::Engine);
                let engines = self.installed.not_added(found);
                responder.done(Answer::Engines(control::Engines { engines }));
            }
            News::Failed { by, name, fault, for_good } => {
                self.engine_failed(by, &name, &fault.words(), for_good, fault.to_string());
            }
            News::Resigns(PlayedBy::Seat(id, side), ply) => {
                let resigns = |room: &Room| room.turn() == Some(side) && room.ply() == ply;
                if self.rooms.get(&id).is_some_and(resigns)
                    && let Err(refusal) = self.give_in(id, side)
                {
                    tracing::warn!(%id, detail = refusal.detail, "an engine could not resign");
                }
            }
            News::Resigns(..) => {}
        }
    }

    /// Tells the user that an engine has failed, and who stands in.
    fn engine_failed(
        &mut self,
        by: PlayedBy,
        name: &str,
        fault: &[String; 2],
        for_good: bool,
        detail: String,
    ) {
        let [zh, en] = fault;
        let (then_zh, then_en) = match (by, for_good) {
            (PlayedBy::Seat(..), false) => ("这一步由电脑代下", "the computer plays this move instead"),
            (PlayedBy::Seat(..), true) => ("接下来由电脑代下", "the computer plays on in its place"),
            (PlayedBy::Hint(_) | PlayedBy::Judge, _) => ("改由电脑来算", "the computer answers instead"),
        };
        let room_id = match by {
            PlayedBy::Seat(id, _) | PlayedBy::Hint(id) => id.to_string(),
            PlayedBy::Judge => String::new(),
        };
        let words =
            Words { zh: format!("{name} {zh}，{then_zh}。"), en: format!("{name} {en}: {then_en}.") };
        let failed = notice(NoticeKind::NoticeEngineFailed);
        self.notice(control::Notice { name: name.into(), room_id, detail, words: Some(words), ..failed });
    }

    /// Fails if the seat is an engine's that is not in the list, or does not play by these rules.
    pub(crate) fn check_engine(&self, setup: &Setup, seat: &Seat) -> Result<(), Refusal> {
        let Seat::Engine(seat) = seat else { return Ok(()) };
        let engine = self.installed.get(&seat.name).ok_or_else(|| no_such(&seat.name))?;
        if plays(engine.protocol, setup) {
            return Ok(());
        }
        let words = ["这个引擎不支持这样的规则。", "This engine does not play by these rules."];
        Err(refused(format!("{} does not play that", seat.name), words))
    }

    /// The bot of a seat, which is made on its own thread.
    pub(crate) fn seat_bot(
        &mut self,
        (id, side): BotSeat,
        kind: GameKind,
        level: Level,
        engine: Option<&EngineSeat>,
    ) -> BotOnce {
        let own = self.own_bot(kind, level);
        let Some(seat) = engine else { return own };
        let by = PlayedBy::Seat(id, side);
        match self.engine_bot(by, &seat.name, own) {
            Ok(bot) => bot,
            Err(own) => {
                let missing =
                    ["已不在引擎列表中".to_owned(), "is no longer in the list of engines".to_owned()];
                self.engine_failed(by, &seat.name, &missing, true, "it was removed".into());
                own
            }
        }
    }

    /// The bot that gives a hint: the engine of this name if it plays by these rules, or the strongest of ours.
    pub(crate) fn adviser(&mut self, room: MatchId, setup: &Setup, engine: &str) -> Result<BotOnce, Refusal> {
        let kind = setup.kind();
        let own = self.own_bot(kind, Level::MAX);
        if engine.is_empty() || !plays(self.plays_kind(engine, kind)?, setup) {
            return Ok(own);
        }
        self.engine_bot(PlayedBy::Hint(room), engine, own).map_err(|_| no_such(engine))
    }

    /// The bot that evaluates: the engine of this name, or the strongest of ours.
    pub(crate) fn judge_bot(&mut self, kind: GameKind, engine: &str) -> Result<BotOnce, Refusal> {
        let own = self.own_bot(kind, Level::MAX);
        if engine.is_empty() {
            return Ok(own);
        }
        if !matches!(self.plays_kind(engine, kind)?, Protocol::Uci | Protocol::Ucci) {
            let words = ["这个引擎不给出形势判断。", "This engine gives no evaluations."];
            return Err(refused(format!("{engine} has no evaluations"), words));
        }
        self.engine_bot(PlayedBy::Judge, engine, own).map_err(|_| no_such(engine))
    }

    fn plays_kind(&self, name: &str, kind: GameKind) -> Result<Protocol, Refusal> {
        let engine = self.installed.get(name).ok_or_else(|| no_such(name))?;
        if engine.protocol.game() == kind {
            return Ok(engine.protocol);
        }
        let words = ["这个引擎不下这种棋。", "This engine does not play this game."];
        Err(refused(format!("{name} does not play that"), words))
    }

    fn own_bot(&mut self, kind: GameKind, level: Level) -> BotOnce {
        let (maker, seed) = (self.bot_maker.clone(), self.chance.seed());
        Box::new(move || maker(kind, level, seed))
    }

    /// The engine of this name as a bot, for which `own` stands in; gives that back if there is no such engine.
    fn engine_bot(&self, by: PlayedBy, name: &str, own: BotOnce) -> Result<BotOnce, BotOnce> {
        let Some(engine) = self.installed.get(name).cloned() else { return Err(own) };
        let (inbox, sandbox) = (self.inbox.clone(), self.installed.sandbox());
        Ok(Box::new(move || {
            let tell = move |news| {
                let news = match news {
                    EngineNews::Failed { fault, for_good } => {
                        News::Failed { by, name: engine.name.clone(), fault, for_good }
                    }
                    EngineNews::Resigns { ply } => News::Resigns(by, ply),
                };
                // Sending fails only after the actor has ended.
                let _ = inbox.send(Message::Installed(news));
            };
            Box::new(EngineBot::new(engine.program, engine.protocol, sandbox(), Some(own), tell))
        }))
    }
}

fn bad(why: &str) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, why)
}

fn refused(detail: String, [zh, en]: [&str; 2]) -> Refusal {
    let reason = Some(Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalBadRequest, detail) }
}

fn no_such(name: &str) -> Refusal {
    refused(format!("there is no engine {name}"), ["没有这个引擎。", "There is no such engine."])
}

fn not_an_engine(fault: &Fault) -> Refusal {
    let [zh, en] = fault.words();
    let reason = Words {
        zh: format!("没有添加：这个程序{zh}。"),
        en: format!("Not added: the program {en}."),
    };
    let refusal =
        Refusal::new(RefusalCode::RefusalBadRequest, format!("the program cannot be used: {fault}"));
    Refusal { reason: Some(reason), ..refusal }
}

/// Folders of programs.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(GAMES.map(PathBuf::from)).collect()
}

/// The program of this path, or of this name in the path.
fn program_path(text: &str) -> Option<PathBuf> {
    let given = Path::new(text);
    if given.is_absolute() {
        return given.is_file().then(|| given.to_owned());
    }
    if text.is_empty() || text.contains('/') {
        return None;
    }
    folders().into_iter().map(|folder| folder.join(text)).find(|path| path.is_absolute() && path.is_file())
}
