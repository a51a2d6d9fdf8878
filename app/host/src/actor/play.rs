//! Matches in progress: actions of users and bots, and clocks.

use std::time::Duration;

use engine::{Action, Side};
use proto::control::{self, RefusalCode, event};
use proto::limits;
use session::{Command, LocalCommand, MatchId, Refused, Undone};
use tokio::time::Instant;
use tracing::{debug, error, warn};

use crate::actor::{Actor, Message};
use crate::answer_delay::AnswerDelay;
use crate::bots::{self, BotNews, BotThread};
use crate::journal::OfRoom;
use crate::refusal::Refusal;
use crate::room::Room;
use crate::show;

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
            let held = held || self.waits_for_guest(room);
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
            let level = if self.panics.contains_key(&key) { engine::Level::MIN } else { level };
            if self.bots.get(&key).is_some_and(|bot| bot.level != level) {
                self.bots.remove(&key);
            }
            if !self.bots.contains_key(&key) {
                let (maker, seed) = (self.bot_maker.clone(), self.chance.seed());
                let inbox = self.inbox.clone();
                let tell = move |ticket, news| {
                    // Sending fails only after the actor has ended.
                    let _ = inbox.send(Message::Bot((id, side), ticket, news));
                };
                let engines = self.power.engines.clone();
                match BotThread::start(level, engines, move || maker(kind, level, seed), tell) {
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
            let usual = bots::time_for(level).min(self.bot_time);
            // The level's usual time, limited to a part of the remaining time.
            let time = left.map_or(usual, |left| usual.min(left / DECISIONS));
            let delay = AnswerDelay {
                wanted: self.clients.anyone_unhurried(),
                race: self.rooms[&id].record().setup.is_race(),
                left,
            };
            let bot = self.bots.get_mut(&key).expect("it was made above");
            if bot.about != Some(about) {
                bot.think(game, about.1, time, delay);
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
}
