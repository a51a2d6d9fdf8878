//! Interruptible searches: analysis, and pondering on the opponent's time.

use std::sync::atomic::Ordering;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

use engine::{Game, Limits};

use super::wishes::Wishes;
use super::{Chosen, Table, Tell, lock, say};

impl Table {
    /// Searches and reports until the next line arrives.
    pub(super) fn analyse(&mut self, id: &str, command: &str, words: &[&str]) {
        let wishes = match Wishes::of(command, words, &self.game) {
            Ok(wishes) => wishes,
            Err(why) => return say(&format!("?{id} {why}\n")),
        };
        if let Err(why) = wishes.side.map_or(Ok(()), |side| self.give_turn(side)) {
            return say(&format!("?{id} {why}\n"));
        }
        say(&format!("={id}"));
        let mut told = Instant::now();
        self.think_on(&mut |game, analysis| {
            if told.elapsed() >= wishes.every {
                told = Instant::now();
                say(&wishes.words(game, analysis));
            }
        });
        say("");
    }

    /// Searches until the next line arrives; the tree is kept.
    pub(super) fn think_on(&mut self, tell: Tell<'_>) {
        let ended = {
            let _both = lock(&self.asked);
            self.asked.flag.store(false, Ordering::Relaxed);
            loop {
                match self.lines.try_recv() {
                    Ok(line) => self.waiting.push_back(line),
                    Err(nothing) => break nothing == TryRecvError::Disconnected,
                }
            }
        };
        if !self.waiting.is_empty() || ended {
            return;
        }
        let begin = Instant::now();
        let elapsed = move || begin.elapsed();
        // The tree is kept only with a time limit; this one is never reached.
        const LONG: Duration = Duration::from_hours(24);
        let limits =
            Limits { time: Some(LONG), nodes: None, depth: None, stop: &self.asked.flag, elapsed: &elapsed };
        let game = &self.game;
        self.bot.analyse(game, &limits, &mut |analysis| tell(game, analysis));
    }

    pub(super) fn genmove_analyse(&mut self, id: &str, command: &str, words: &[&str], arrived: Instant) {
        let begun = Wishes::of(command, words, &self.game).and_then(|wishes| {
            let side = wishes.side.unwrap_or(self.game.turn());
            let before = self.actions.len();
            self.give_turn(side)?;
            Ok((wishes, side, before))
        });
        let (wishes, side, before) = match begun {
            Ok(begun) => begun,
            Err(why) => return say(&format!("?{id} {why}\n")),
        };
        say(&format!("={id}"));
        let mut told = Instant::now();
        let mut last = String::new();
        let chosen = self.choose(side, arrived, &mut |game, analysis| {
            last = wishes.words(game, analysis);
            if told.elapsed() >= wishes.every {
                told = Instant::now();
                say(&last);
                last.clear();
            }
        });
        if !last.is_empty() {
            say(&last);
        }
        let text = match chosen {
            Chosen::Resign => {
                self.actions.truncate(before);
                let _ = self.replay();
                "resign".to_owned()
            }
            Chosen::Move(action) => {
                self.act(action).expect("a bot's choice is legal");
                self.moves.push(before);
                self.game.notation(action)
            }
        };
        say(&format!("play {text}\n"));
    }
}
