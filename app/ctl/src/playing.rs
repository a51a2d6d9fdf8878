//! Commands of play: starting, continuing and showing matches.

use client::{json, pace, words};
use proto::board::Side;
use proto::control::{self, OfferKind, Room, Seat, reply, request, seat};
use serde_json::json;

use crate::arguments::{AnalysisStep, BotLevel, Colour, GameChoice, LocalSeat};
use crate::connection::Failure;
use crate::conversation::{Conversation, forever, unexpected, within};
use crate::{board as board_text, text};

impl Conversation {
    pub(crate) async fn new_match(
        &mut self,
        game: &GameChoice,
        seats: [LocalSeat; 2],
        colour: Colour,
        pace: &str,
        engine_seconds: u32,
    ) -> Result<(), Failure> {
        let pace = pace::parse(pace).map_err(Failure::Usage)?;
        let second = match colour {
            Colour::Alternate => {
                return Err(Failure::Usage("colours alternate in matches with another device".into()));
            }
            Colour::First => false,
            Colour::Second => true,
            // A slightly biased coin cheats nobody here.
            Colour::Random => std::process::id().is_multiple_of(2),
        };
        let [player, opponent] = seats.map(|seat| match local_seat(seat) {
            seat if seat.engine.is_empty() => seat,
            seat => Seat { engine_seconds, ..seat },
        });
        let (first, second) = if second { (opponent, player) } else { (player, opponent) };
        let open = control::OpenRoom {
            first: Some(first),
            second: Some(second),
            choice: Some(choice(game)),
            pace,
            ..control::OpenRoom::default()
        };
        let reply::Body::RoomId(id) = self.host.ask(request::Body::OpenRoom(open)).await? else {
            return Err(unexpected());
        };
        self.print(|| format!("room {id}"), || json!({"room_id": id}))
    }

    pub(crate) async fn rules(&mut self, game: &GameChoice, with_peer: bool) -> Result<(), Failure> {
        let describe = control::Describe { choice: Some(choice(game)), with_peer, ..Default::default() };
        let reply::Body::Sheet(sheet) = self.host.ask(request::Body::Describe(describe)).await? else {
            return Err(unexpected());
        };
        self.print(|| text::sheet(&sheet), || json::sheet(&sheet))
    }

    pub(crate) async fn hint(
        &mut self,
        lines: u32,
        engine: String,
        room: Option<&str>,
    ) -> Result<(), Failure> {
        let room_id = self.room(room, |room| room.can_act)?.id;
        let ask = request::Body::Hint(control::Hint { room_id, lines, engine, ..Default::default() });
        let reply::Body::Hint(hint) = self.host.ask(ask).await? else { return Err(unexpected()) };
        self.print(|| text::hint(&hint), || json::hint(&hint))
    }

    pub(crate) async fn bot(
        &mut self,
        level: BotLevel,
        wait: u64,
        room: Option<&str>,
    ) -> Result<(), Failure> {
        let deadline = within(wait);
        let plays_here = |room: &Room| room.result.is_none() && side_here(room).is_some();
        let room = loop {
            let found = self.room(room, plays_here).and_then(|room| {
                if plays_here(&room) {
                    Ok(room)
                } else {
                    Err(Failure::NotToBe("no match goes on there".into()))
                }
            });
            match found {
                Err(Failure::NotToBe(why)) => {
                    if self.host.next_until(deadline).await?.is_none() {
                        return Err(Failure::NotToBe(why));
                    }
                }
                found => break found?,
            }
        };
        let id = room.id.clone();
        let side = side_here(&room).ok_or_else(unexpected)?;
        let seat = Seat { bot_assists: true, ..local_seat(LocalSeat::Bot(level)) };
        let set = control::SetSeat { room_id: id.clone(), side: side.into(), seat: Some(seat) };
        self.host.ask(request::Body::SetSeat(set)).await?;
        let mut told = room.record.len();
        loop {
            let Some(room) = self.host.state().rooms.get(&id).cloned() else {
                return Err(Failure::NotToBe("the room was closed".into()));
            };
            told = told.min(room.record.len());
            for (ply, action) in (1..).zip(&room.record).skip(told) {
                self.print(|| format!("{ply}. {action}"), || json!({"ply": ply, "action": action}))?;
            }
            told = room.record.len();
            if let Some(over) = &room.result {
                let value = json!({"room_id": id, "ply": told, "result": json::result(*over),
                    "digest": json::digest(room.digest), "revision": room.revision, "record": room.record});
                return self.print(|| text::result(*over), || value);
            }
            self.host.next_until(forever()).await?;
        }
    }

    pub(crate) async fn offer(&mut self, kind: OfferKind, room: Option<&str>) -> Result<(), Failure> {
        let room_id = self
            .room(room, |room| match kind {
                OfferKind::OfferTakeBack => room.can_take_back,
                OfferKind::OfferDraw => room.can_offer_draw,
                OfferKind::OfferNewGame | OfferKind::OfferNewGameSame => room.can_new_game,
                OfferKind::OfferPause => room.can_pause,
                OfferKind::OfferContinue => room.can_continue,
                OfferKind::OfferAdjourn => room.can_adjourn,
                OfferKind::OfferUnspecified => false,
            })?
            .id;
        let offer = control::Offer { room_id: room_id.clone(), kind: kind.into() };
        match self.host.ask(request::Body::Offer(offer)).await? {
            reply::Body::RoomId(new) => self.print(|| format!("room {new}"), || json!({"room_id": new})),
            _ => self.print(|| "done".into(), || json!({"done": true, "room_id": room_id})),
        }
    }

    pub(crate) async fn analyse(&mut self, step: AnalysisStep, room: Option<&str>) -> Result<(), Failure> {
        use control::analyse::Step;
        let room_id = self.room(room, |room| room.can_analyse)?.id;
        let step = match step {
            AnalysisStep { to: Some(ply), .. } => Step::ToPly(ply),
            AnalysisStep { try_: Some(action), .. } => Step::TryNotation(action),
            AnalysisStep { back: true, .. } => Step::Back(true),
            AnalysisStep { .. } => Step::Close(true),
        };
        let analyse = control::Analyse { room_id: room_id.clone(), step: Some(step) };
        self.host.ask(request::Body::Analyse(analyse)).await?;
        let room = self.host.state().rooms.get(&room_id).cloned().unwrap_or_default();
        let shown = room.analysis.as_ref();
        let board = shown.and_then(|shown| shown.board.clone()).or_else(|| room.board.clone());
        self.print(
            || {
                let at = match shown {
                    None => "the end of the record".into(),
                    Some(shown) => format!("ply {} {}", shown.ply, shown.tried.join(" ")),
                };
                format!("{}{}", board_text::text(&board.unwrap_or_default()), at.trim_end())
            },
            || json!({"room_id": room_id, "analysis": json::analysis(shown)}),
        )
    }

    pub(crate) async fn answer_offer(&mut self, accept: bool, room: Option<&str>) -> Result<(), Failure> {
        let room_id = self.room(room, |room| room.offer.as_ref().is_some_and(|offer| !offer.mine))?.id;
        self.ask_done(request::Body::AnswerOffer(control::AnswerOffer { room_id, accept })).await
    }

    async fn list(&mut self, limit: u32) -> Result<Vec<control::MatchSummary>, Failure> {
        match self
            .host
            .ask(request::Body::ListMatches(control::ListMatches { limit, ..Default::default() }))
            .await?
        {
            reply::Body::Matches(list) => Ok(list.matches),
            _ => Err(unexpected()),
        }
    }

    pub(crate) async fn matches(&mut self, limit: u32) -> Result<(), Failure> {
        for one in self.list(limit).await? {
            let text = || {
                let state =
                    one.result.as_ref().map_or_else(|| "unfinished".into(), |over| text::result(*over));
                let id = one.room_id.get(..8).unwrap_or(&one.room_id);
                let (first, second) = (words::seat(one.first.as_ref()), words::seat(one.second.as_ref()));
                let setup = words::setup(one.setup.as_ref());
                format!("{id}  {first} - {second}: {setup}: {} plies, {state}", one.ply)
            };
            self.print(text, || json::summary(&one))?;
        }
        Ok(())
    }

    /// The id of the kept match that begins so.
    async fn kept(&mut self, id: &str) -> Result<String, Failure> {
        const LOOKED_AT: u32 = 100;
        let all = self.list(LOOKED_AT).await?;
        let found: Vec<_> = all.iter().filter(|one| one.room_id.starts_with(id)).collect();
        match found.as_slice() {
            [one] => Ok(one.room_id.clone()),
            [] => Err(Failure::NotToBe("there is no such match".into())),
            _ => Err(Failure::Usage("several matches begin so: say more of the id".into())),
        }
    }

    pub(crate) async fn explore(&mut self, id: &str, ply: u32) -> Result<(), Failure> {
        let room_id = self.kept(id).await?;
        let explore = control::Explore { room_id, ply, line: Vec::new() };
        let reply::Body::Explored(explored) = self.host.ask(request::Body::Explore(explore)).await? else {
            return Err(unexpected());
        };
        for one in &explored.moves {
            let text = || {
                let written = one.r#move.as_ref().map_or("?", |side| side.written.as_str());
                let (games, first, second, drawn) = (one.games, one.first_won, one.second_won, one.drawn);
                let book = if one.in_book { ", in the book" } else { "" };
                format!(
                    "{written}  {games} games: first won {first}, second won {second}, drawn {drawn}{book}"
                )
            };
            self.print(text, || json::explored(one))?;
        }
        Ok(())
    }

    pub(crate) async fn resume(&mut self, id: &str) -> Result<(), Failure> {
        let room_id = self.kept(id).await?;
        let resume = control::ResumeRoom { room_id: room_id.clone() };
        self.host.ask(request::Body::ResumeRoom(resume)).await?;
        self.print_room(&room_id)
    }
}

/// The side of this device's person, assisted by a bot or not.
fn side_here(room: &Room) -> Option<Side> {
    let here = |seat: Option<&Seat>| match seat {
        None => true,
        Some(seat) => matches!(seat.who, None | Some(seat::Who::Here(_))) || seat.bot_assists,
    };
    if here(room.first.as_ref()) {
        Some(Side::First)
    } else if here(room.second.as_ref()) {
        Some(Side::Second)
    } else {
        None
    }
}

fn local_seat(seat: LocalSeat) -> Seat {
    let of = |who| Seat { who: Some(who), ..Seat::default() };
    match seat {
        LocalSeat::Here => of(seat::Who::Here(true)),
        LocalSeat::Bot(BotLevel { whole, tenths }) => {
            Seat { bot_tenths: tenths, ..of(seat::Who::BotLevel(whole)) }
        }
        // The strongest bot stands in for it.
        LocalSeat::Engine(engine) => Seat { engine, ..of(seat::Who::BotLevel(10)) },
        LocalSeat::AdaptiveBot => Seat { bot_adapts: true, ..of(seat::Who::BotLevel(1)) },
        LocalSeat::Guest(name) => Seat { name, ..of(seat::Who::Guest(true)) },
    }
}

pub(crate) fn choice(game: &GameChoice) -> control::GameChoice {
    control::GameChoice {
        game: game.game.number().into(),
        preset: game.preset.clone(),
        options: (game.options.iter().cloned())
            .map(|(option, value)| control::ChosenOption { option, value })
            .collect(),
        start: game.from.clone().map_or_else(Vec::new, |from| from.0).into(),
    }
}
