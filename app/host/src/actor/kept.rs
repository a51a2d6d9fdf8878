//! Requests about kept matches: positions, lists, what goes on from them, and their analysis.

use proto::control::{self, event};
use session::MatchId;

use crate::actor::requests::new_room;
use crate::actor::{Actor, Message, Replayed};
use crate::archive;
use crate::explore;
use crate::judging;
use crate::notes;
use crate::refusal::Refusal;
use crate::responder::{Answer, Responder, done, in_room};
use crate::room::{Seat, parse_match_name};
use crate::set_up;
use crate::setup::local_seat;

impl Actor {
    /// Shows a position of a kept match, which is replayed.
    pub(crate) fn look(&mut self, responder: Responder, look: control::Look) {
        let read = archive::saved(&self.journal, &look.room_id).map(|saved| {
            let notes = notes::legible(saved.record.id, &self.journal);
            move || archive::position(saved, notes.as_ref(), &look).map(Answer::Position)
        });
        self.review(responder, read);
    }

    pub(crate) fn explore(&mut self, responder: Responder, asked: control::Explore) {
        let read = archive::to_study(&self.journal, &asked.room_id).map(|saved| {
            let notes = notes::legible(saved.record.id, &self.journal);
            let beginnings = self.journal.beginnings();
            move || explore::explored(&saved, notes.as_ref(), &asked, &beginnings).map(Answer::Explored)
        });
        self.review(responder, read);
    }

    pub(crate) fn set_up(&mut self, responder: Responder, asked: control::SetUp) {
        let read = set_up::read(asked, &self.journal, &self.puzzles);
        self.review(responder, read.map(|read| move || read().map(Answer::SetUp)));
    }

    /// Lists kept matches, which are replayed.
    pub(crate) fn list_matches(&mut self, responder: Responder, asked: &control::ListMatches) {
        let people = self.people.values().map(|peer| (peer.key, peer.name.as_str()));
        let filter = archive::filter(asked, people);
        let page = archive::Page::read(asked, &filter, &self.journal, |saved| self.shown_seats(saved));
        self.review(responder, page.map(|page| move || Ok(Answer::Matches(page.shown()))));
    }

    /// Begins a match that goes on from a position of a kept one, which is replayed on another thread.
    pub(crate) fn branch(&mut self, responder: Responder, branch: control::Branch) {
        let read = || {
            let saved = archive::to_study(&self.journal, &branch.room_id)?;
            Ok((saved, [local_seat(branch.first.as_ref())?, local_seat(branch.second.as_ref())?]))
        };
        let (saved, seats) = match read() {
            Ok(read) => read,
            Err(refusal) => return responder.refuse(refusal),
        };
        let id = MatchId(self.chance.bytes());
        self.replay(responder, move || {
            let record = archive::branch(saved.record, branch.ply, id)?;
            Ok(Replayed::Branch(Box::new(new_room(record, seats)?)))
        });
    }

    /// Opens the room of a kept match. One without a peer is replayed on another thread; one with a peer is as short as a link
    /// allows.
    pub(crate) fn resume_kept(&mut self, responder: Responder, name: &str) {
        let saved = match archive::saved(&self.journal, name) {
            Ok(saved) => saved,
            Err(refusal) => return responder.refuse(refusal),
        };
        let with_peer = saved.seats.iter().any(|seat| matches!(seat, Seat::Peer(_)));
        if with_peer || self.rooms.contains_key(&saved.record.id) {
            let answer = self.resume_room(name);
            self.show_changes();
            return responder.answer(answer);
        }
        self.replay(responder, move || archive::room(saved).map(|room| Replayed::Kept(Box::new(room))));
    }

    /// Changes the notes of a kept match, which is replayed for it. Changes are made in the order in which they are asked for.
    pub(crate) fn edit_notes(&mut self, responder: Responder, asked: control::EditNotes) {
        let edit = match notes::to_edit(asked, &self.journal) {
            Ok(edit) => edit,
            Err(refusal) => return responder.refuse(refusal),
        };
        let inbox = self.inbox.clone();
        let edit = move || {
            let edited = edit().map(|edited| Replayed::Notes(Box::new(edited)));
            // Sending fails only after the actor has ended.
            drop(inbox.send(Message::Replayed(responder, edited)));
        };
        self.tasks.spawn(self.work.review_in_order(edit));
    }

    /// Replays or makes a match on another thread; [`replayed`](Self::replayed) answers.
    pub(crate) fn replay(
        &mut self,
        responder: Responder,
        replay: impl FnOnce() -> Result<Replayed, Refusal> + Send + 'static,
    ) {
        let inbox = self.inbox.clone();
        // Sending fails only after the actor has ended.
        self.tasks.spawn(self.work.review(move || drop(inbox.send(Message::Replayed(responder, replay())))));
    }

    /// Does what a match was replayed for.
    pub(crate) fn replayed(&mut self, responder: Responder, replayed: Result<Replayed, Refusal>) {
        let answer = replayed.and_then(|replayed| match replayed {
            Replayed::New(room, open) => self.begin_asked(*room, &open),
            Replayed::Branch(room) => self.begin_in(*room, false).map(in_room),
            Replayed::Kept(room) => self.reopen_replayed(*room),
            Replayed::Notes(edited) => notes::keep(*edited, &mut self.journal).map(|()| done()),
        });
        self.show_changes();
        responder.answer(answer);
    }

    pub(crate) fn discard(&mut self, name: &str) -> Result<Answer, Refusal> {
        let saved = archive::saved(&self.journal, name)?;
        archive::may_discard(&saved)?;
        let id = saved.record.id;
        if self.rooms.contains_key(&id) {
            self.close_room(id)?;
        }
        self.end_judging(Some(id));
        self.journal.keep(|store| store.delete(id))?;
        Ok(done())
    }

    /// Starts an analysis, which replaces one in progress, or ends it.
    pub(crate) fn analyse_match(&mut self, asked: &control::AnalyseMatch) -> Result<Answer, Refusal> {
        if !asked.on {
            self.end_judging(parse_match_name(&asked.room_id));
            return Ok(done());
        }
        let record = archive::to_study(&self.journal, &asked.room_id)?.record;
        let start = judging::start(&record)?;
        let means = judging::Means {
            make: self.judge_bot(start.kind(), &asked.engine)?,
            time: self.bot_time,
            engines: self.power.engines.clone(),
        };
        self.end_judging(None);
        let inbox = self.inbox.clone();
        // Sending fails only after the actor has ended.
        let tell = move |ticket, judged| drop(inbox.send(Message::Judged(ticket, judged)));
        self.judge.begin(&asked.room_id, record, start, means, tell)?;
        Ok(done())
    }

    /// Stops the analysis of this match, or any analysis, and reports its end to clients.
    fn end_judging(&mut self, of: Option<MatchId>) {
        if let Some(told) = self.judge.end(of, &mut self.journal, &self.wall_clock) {
            self.tell(event::Body::Judgements(told));
        }
    }

    /// Answers what takes long on another thread. `read`: what the actor has read for it.
    fn review(
        &mut self,
        responder: Responder,
        read: Result<impl FnOnce() -> Result<Answer, Refusal> + Send + 'static, Refusal>,
    ) {
        match read {
            Ok(read) => drop(self.tasks.spawn(self.work.review(move || responder.answer(read())))),
            Err(refusal) => responder.refuse(refusal),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::notes::At;
    use engine::{GameKind, Side};
    use proto::board::Game;
    use proto::control::{edit_notes, request};
    use session::MatchRecord;
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::HostConfig;
    use crate::connection::ClientId;

    #[tokio::test]
    async fn a_room_of_a_million_lights_is_made_beside_the_actor_and_then_begun() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (inbox, messages) = mpsc::unbounded_channel();
        let mut host =
            Actor::new(HostConfig::new(folder.path()), inbox, messages).expect("a disk that works");
        let (queue, answers) = mpsc::channel(4);
        let connection = tokio::spawn(std::future::pending::<()>()).abort_handle();
        let options = ["columns", "rows"]
            .map(|option| control::ChosenOption { option: option.into(), value: "1000".into() })
            .into();
        let choice =
            control::GameChoice { game: Game::LightsOut.into(), options, ..control::GameChoice::default() };
        let open = control::OpenRoom { choice: Some(choice), ..control::OpenRoom::default() };
        let responder = Responder::new(&queue, connection, ClientId(1), 7);
        host.request(responder, request::Body::OpenRoom(open));
        assert!(host.rooms.is_empty() && answers.is_empty(), "the actor has built no board");
        while answers.is_empty() {
            let message = host.messages.recv().await.expect("the host has the other end");
            host.hear(message);
        }
        let room = host.rooms.values().next().expect("begun, and answered");
        assert!(room.record().setup.to_string().contains("1000x1000"), "{}", room.record().setup);
    }

    #[tokio::test]
    async fn a_comment_that_is_written_on_while_it_is_kept_stays_as_it_was_written_last() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (inbox, messages) = mpsc::unbounded_channel();
        let mut host =
            Actor::new(HostConfig::new(folder.path()), inbox, messages).expect("a disk that works");
        let record = MatchRecord::new(MatchId([1; 16]), GameKind::Gomoku.default_setup(), Side::First);
        host.journal.keep(|store| store.begin(&record, Seat::BOTH_HERE, 1)).expect("saved");
        let written = "a comment, letter by letter";
        let (queue, answers) = mpsc::channel(written.len());
        let connection = tokio::spawn(std::future::pending::<()>()).abort_handle();
        for length in 1..=written.len() {
            let edit = control::EditNotes {
                room_id: record.id.to_string(),
                change: Some(edit_notes::Change::Comment(written[..length].into())),
                ..control::EditNotes::default()
            };
            let responder = Responder::new(&queue, connection.clone(), ClientId(1), length as u64);
            host.request(responder, request::Body::EditNotes(edit));
        }
        assert!(answers.is_empty(), "all are asked for before the first is kept");
        while answers.len() < written.len() {
            let message = host.messages.recv().await.expect("the host has the other end");
            host.hear(message);
        }
        let kept = notes::legible(record.id, &host.journal).expect("notes");
        assert_eq!(kept.notes.comment(At::Main(0)), written);
    }
}
