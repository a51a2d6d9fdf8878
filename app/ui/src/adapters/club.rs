//! The club evening: its list, its rounds and its standings, as the host tells them.

use std::rc::Rc;

use proto::control::{
    self, Club, ClubGame, ClubPlayer, ClubRequest, ClubResult, ClubState, ClubVerdict, ClubWay, club_player,
    club_request::Deed, reply, request,
};
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::{game, game_of, guest, home, nearby, new_game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastOpponent;
use crate::screens::{
    ClubAdapter, ClubChoice, ClubGameRow, ClubKind, ClubPhase, ClubPlayerRow, ClubScore, ClubStandingRow,
    ClubStep, Dialog, MainWindow, Page, Remark,
};

/// State of the page.
#[derive(Default)]
pub(crate) struct ClubPage {
    /// Number of the evening that was chosen; none: the latest.
    chosen: Option<u32>,
    /// The form for a new evening is shown, although there are others.
    begins: bool,
    /// For the form: each plays each twice.
    twice: bool,
    /// The round that was turned to; none: the first that is not over.
    round: Option<u32>,
    /// Round and board of the pairing whose result is being entered.
    entered: (u32, u32),
    /// Id of the player who is asked about.
    leaver: u32,
    /// How many players have been added here.
    added: i32,
    /// Why the last one was not.
    trouble: Option<control::Words>,
    players: Rc<VecModel<ClubPlayerRow>>,
    friends: Rc<VecModel<ClubChoice>>,
    games: Rc<VecModel<ClubGameRow>>,
    standings: Rc<VecModel<ClubStandingRow>>,
    cells: Rc<VecModel<SharedString>>,
    earlier: Rc<VecModel<ClubChoice>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    Open,
    Add,
    /// A pairing begins; `guest`: somebody needs a code for it.
    Begin {
        guest: bool,
    },
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Club(question)
    }
}

impl ClubPage {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<ClubAdapter>();
        page.set_players(ModelRc::from(self.players.clone()));
        page.set_friends(ModelRc::from(self.friends.clone()));
        page.set_games(ModelRc::from(self.games.clone()));
        page.set_standings(ModelRc::from(self.standings.clone()));
        page.set_cells(ModelRc::from(self.cells.clone()));
        page.set_earlier(ModelRc::from(self.earlier.clone()));
        page.on_open(touched!(app, |pages, cx| {
            (pages.club.chosen, pages.club.begins, pages.club.round) = (None, false, None);
            cx.go.page(Page::Club);
        }));
        page.on_change_game(touched!(app, |_pages, cx| nearby::choose_game(LastOpponent::Peer, cx)));
        page.on_toggle_twice(touched!(app, |pages, _cx| pages.club.twice = !pages.club.twice));
        page.on_begin(touched!(app, |pages, cx, name| pages.club.open(&name, cx)));
        page.on_add_here(touched!(app, |pages, cx| {
            pages.club.add(club_player::Who::Here(true), String::new(), cx);
        }));
        page.on_add_friend(touched!(app, |pages, cx, key| {
            pages.club.add(club_player::Who::Friend(key.into()), String::new(), cx);
        }));
        page.on_add_guest(touched!(app, |pages, cx, name| {
            pages.club.add(club_player::Who::Guest(true), name.trim().into(), cx);
        }));
        page.on_add_nobody(touched!(app, |pages, cx, name| {
            pages.club.add(club_player::Who::Nobody(true), name.trim().into(), cx);
        }));
        page.on_remove(touched!(app, |pages, cx, id| pages.club.remove(id as u32, cx)));
        page.on_leave(touched!(app, |pages, cx| pages.club.ask(Deed::Remove(pages.club.leaver), cx)));
        page.on_start(touched!(app, |pages, cx, lots| {
            pages.club.round = None;
            pages.club.ask(Deed::Start(control::StartClub { lots }), cx);
        }));
        page.on_show_round(touched!(app, |pages, _cx, round| pages.club.round = Some(round as u32)));
        page.on_play(touched!(app, |pages, cx, board| pages.club.play(board as u32, cx)));
        page.on_enter(touched!(app, |pages, cx, board| {
            let round = pages.club.shown(cx.known).map_or(0, |club| pages.club.shown_round(club));
            pages.club.entered = (round, board as u32);
            cx.go.dialog(Dialog::ClubResult);
        }));
        page.on_set_score(touched!(app, |pages, cx, score| {
            let (round, board) = pages.club.entered;
            let result = result(score).into();
            pages.club.ask(Deed::Result(ClubVerdict { round, board, result }), cx);
        }));
        page.on_show_everyone(touched!(app, |pages, cx| {
            if let Some(club) = pages.club.shown(cx.known) {
                guest::show_evening(club.id.clone(), cx);
            }
        }));
        page.on_finish(touched!(app, |pages, cx| pages.club.ask(Deed::Finish(true), cx)));
        page.on_discard(touched!(app, |pages, cx| {
            pages.club.ask(Deed::Discard(true), cx);
            pages.club.chosen = None;
        }));
        page.on_show_earlier(touched!(app, |pages, _cx, key| {
            (pages.club.chosen, pages.club.begins, pages.club.round) = (key.parse().ok(), false, None);
        }));
        page.on_begin_another(touched!(app, |pages, _cx| pages.club.begins = true));
    }

    /// Opens an evening of the game chosen for invitations.
    fn open(&self, name: &str, cx: &mut Cx<'_>) {
        let game = cx.known.nearby_game();
        let open = control::OpenClub {
            name: name.trim().into(),
            choice: Some(new_game::choice(cx.known, game)),
            pace: new_game::pace(cx.known, game),
            twice: self.twice,
            ..Default::default()
        };
        let asked = ClubRequest { club_id: String::new(), deed: Some(Deed::Open(open)) };
        cx.ask.send(request::Body::Club(asked), Question::Open);
    }

    fn add(&mut self, who: club_player::Who, name: String, cx: &mut Cx<'_>) {
        self.trouble = None;
        let add = Deed::Add(ClubPlayer { who: Some(who), name, ..Default::default() });
        self.send(add, Question::Add, cx);
    }

    /// Before the start a touch takes a player off the list; afterwards it asks first.
    fn remove(&mut self, id: u32, cx: &mut Cx<'_>) {
        let gathers = self.shown(cx.known).is_some_and(|club| club.state() == ClubState::ClubGathering);
        if gathers {
            self.ask(Deed::Remove(id), cx);
        } else {
            self.leaver = id;
            cx.go.dialog(Dialog::ClubLeaver);
        }
    }

    /// Does what the button of this pairing says.
    fn play(&self, board: u32, cx: &mut Cx<'_>) {
        let Some(club) = self.shown(cx.known) else { return };
        let round = self.shown_round(club);
        let Some(game) = game_at(club, round, board) else { return };
        if step(game, cx.known) == ClubStep::Board {
            home::resume(&game.room_id, cx);
            return;
        }
        let is_guest = |player: &&ClubPlayer| matches!(player.who, Some(club_player::Who::Guest(_)));
        let ids = [game.first, game.second];
        let guest = club.players.iter().filter(|player| ids.contains(&player.id)).any(|one| is_guest(&one));
        self.send(Deed::Begin(control::ClubBoard { round, board }), Question::Begin { guest }, cx);
    }

    /// Sends a request about the shown evening; a refusal is shown.
    fn ask(&self, deed: Deed, cx: &mut Cx<'_>) {
        self.send(deed, Asked::Done, cx);
    }

    fn send(&self, deed: Deed, asked: impl Into<Asked>, cx: &mut Cx<'_>) {
        if let Some(club) = self.shown(cx.known) {
            let body = ClubRequest { club_id: club.id.clone(), deed: Some(deed) };
            cx.ask.send(request::Body::Club(body), asked);
        }
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::ClubId(id)), Question::Open) => {
                (self.chosen, self.begins, self.round) = (id.parse().ok(), false, None);
            }
            (Ok(_), Question::Add) => self.added += 1,
            (Ok(reply::Body::RoomId(room)), Question::Begin { guest }) => {
                cx.go.room(&room);
                if *guest {
                    guest::show_code(room, false, cx);
                }
            }
            // The dialog covers a remark.
            (Err(refusal), Question::Add)
                if refusal.reason.is_some() && cx.known.question() == Dialog::ClubAdd =>
            {
                self.trouble = refusal.reason;
            }
            (Err(refusal), _) => cx.go.refused(refusal, Remark::BadRequest),
            // An invitation shows itself.
            (Ok(_), _) => {}
        }
    }

    /// Turns to the evening of which this match is a game, and to its round while it is not over. Whether there is one.
    pub(crate) fn turn_to_game(&mut self, room: &str, known: &AppState) -> bool {
        let Some((number, round, game)) = game_with(known, room) else { return false };
        let goes_on = game.result() == ClubResult::Unspecified;
        (self.chosen, self.begins, self.round) = (Some(number), false, goes_on.then_some(round));
        true
    }

    /// The evening that is shown; none: the form for a new one is.
    fn shown<'a>(&self, known: &'a AppState) -> Option<&'a Club> {
        let clubs = &known.state.clubs;
        let chosen = self.chosen.and_then(|number| clubs.get(&number));
        chosen.or_else(|| open(known)).or_else(|| clubs.values().next_back()).filter(|_| !self.begins)
    }

    /// The round that is shown of this evening; after the last one, the last.
    fn shown_round(&self, club: &Club) -> u32 {
        let last = club.rounds.len() as u32;
        let present = if club.round == 0 { last } else { club.round };
        self.round.filter(|round| (1..=last).contains(round)).unwrap_or(present)
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let page = window.global::<ClubAdapter>();
        let open = open(known);
        page.set_is_open(open.is_some());
        page.set_may_begin(open.is_none_or(|club| !club.keeper.is_empty()));
        page.set_open_name(open.map_or("", |club| &club.name).into());
        let next = open.and_then(my_next);
        page.set_next_round(next.as_ref().map_or(0, |(round, _)| *round as i32));
        page.set_next_opponent(next.map_or("", |(_, name)| name).into());
        if known.page() == Page::Club {
            self.show_page(&page, known);
        }
    }

    fn show_page(&self, page: &ClubAdapter<'_>, known: &AppState) {
        let chinese = known.chinese();
        page.set_added(self.added);
        page.set_trouble(new_game::said(self.trouble.as_ref(), chinese).into());
        let shown = self.shown(known);
        let others =
            known.state.clubs.values().rev().filter(|one| shown.is_none_or(|club| club.id != one.id));
        let choice = |key: &str, name: &str| ClubChoice { key: key.into(), name: name.into() };
        update(&self.earlier, &others.map(|one| choice(&one.id, &one.name)).collect::<Vec<_>>());
        let Some(club) = shown else {
            let offered = known.nearby_game();
            page.set_phase(ClubPhase::None);
            page.set_twice(self.twice);
            page.set_game(game::shown(offered));
            let sheet = known.sheets.get(&i32::from(offered));
            page.set_rule_name(new_game::rule_name(sheet, chinese).into());
            page.set_pace_name(new_game::pace_name(known, offered).into());
            return;
        };
        page.set_phase(match club.state() {
            ClubState::ClubGathering => ClubPhase::Gathering,
            ClubState::ClubRunning => ClubPhase::Running,
            ClubState::ClubFinished => ClubPhase::Finished,
        });
        let keeper = known.state.friends.get(&club.keeper).map(|friend| friend.name.as_str());
        page.set_keeper(keeper.unwrap_or(&club.keeper).into());
        let is_open = club.state() != ClubState::ClubFinished;
        page.set_can_show(known.state.me.has_guests && club.keeper.is_empty() && is_open);
        page.set_name(club.name.as_str().into());
        page.set_twice(club.twice);
        page.set_game(game_of(club.setup.as_ref()));
        page.set_rule_name("".into());
        let pace = known.paces.iter().find(|pace| pace.pace.is_some() && pace.pace == club.pace);
        page.set_pace_name(new_game::said(pace.and_then(|pace| pace.name.as_ref()), chinese).into());
        update(&self.players, &club.players.iter().map(player_row).collect::<Vec<_>>());
        page.set_here_listed(listed(club, |who| matches!(who, club_player::Who::Here(_))));
        let missing = known.state.friends.values().filter(|friend| {
            !listed(club, |who| matches!(who, club_player::Who::Friend(key) if *key == friend.id))
        });
        update(&self.friends, &missing.map(|friend| choice(&friend.id, &friend.name)).collect::<Vec<_>>());
        page.set_leaver(name_of(club, self.leaver).into());
        self.show_round(page, known, club);
        let rows: Vec<ClubStandingRow> =
            club.standings.iter().map(|row| standing_row(club, row, chinese)).collect();
        update(&self.standings, &rows);
        let cells = club.standings.iter().flat_map(|row| &row.cross).map(|signs| signs.as_str().into());
        update(&self.cells, &cells.collect::<Vec<SharedString>>());
    }

    fn show_round(&self, page: &ClubAdapter<'_>, known: &AppState, club: &Club) {
        let round = self.shown_round(club);
        page.set_round(round as i32);
        page.set_present(club.round as i32);
        page.set_rounds(club.rounds.len() as i32);
        let of_round = club.rounds.iter().find(|one| one.round == round);
        let games = of_round.map_or(&[][..], |one| one.games.as_slice());
        update(&self.games, &games.iter().map(|game| game_row(club, game, known)).collect::<Vec<_>>());
        let free: Vec<&str> =
            of_round.iter().flat_map(|one| &one.free).map(|id| name_of(club, *id)).collect();
        page.set_free(free.join(" · ").into());
        let (round, board) = self.entered;
        if let Some(game) = game_at(club, round, board) {
            page.set_entered(game_row(club, game, known));
        }
    }
}

/// The evening that is not finished: that of this device before those of friends.
fn open(known: &AppState) -> Option<&Club> {
    known.state.clubs.values().find(|club| club.state() != ClubState::ClubFinished)
}

/// Whether a player of this kind is on the list and has not left.
fn listed(club: &Club, is: impl Fn(&club_player::Who) -> bool) -> bool {
    club.players.iter().any(|player| !player.left && player.who.as_ref().is_some_and(&is))
}

fn name_of(club: &Club, id: u32) -> &str {
    club.players.iter().find(|player| player.id == id).map_or("", |player| &player.name)
}

fn game_at(club: &Club, round: u32, board: u32) -> Option<&ClubGame> {
    let of_round = club.rounds.iter().find(|one| one.round == round)?;
    of_round.games.iter().find(|game| game.board == board)
}

/// The game that is played in this match, with the number of its evening, which is running, and its round.
pub(super) fn game_with<'a>(known: &'a AppState, room: &str) -> Option<(u32, u32, &'a ClubGame)> {
    let running = known.state.clubs.iter().filter(|(_, club)| club.state() == ClubState::ClubRunning);
    let rounds = running.flat_map(|(number, club)| club.rounds.iter().map(move |round| (*number, round)));
    let mut games =
        rounds.flat_map(|(number, round)| round.games.iter().map(move |game| (number, round.round, game)));
    games.find(|(_, _, game)| game.room_id == room)
}

/// Round and opponent of the next game of the person of this device.
fn my_next(club: &Club) -> Option<(u32, &str)> {
    let is_here = |player: &&ClubPlayer| matches!(player.who, Some(club_player::Who::Here(_)));
    let me = club.players.iter().find(is_here)?;
    let next = club.next.iter().find(|next| next.player == me.id)?;
    Some((next.round, name_of(club, next.opponent)))
}

fn player_row(player: &ClubPlayer) -> ClubPlayerRow {
    ClubPlayerRow {
        id: player.id as i32,
        name: player.name.as_str().into(),
        kind: match player.who {
            Some(club_player::Who::Here(_)) => ClubKind::Here,
            Some(club_player::Who::Friend(_)) => ClubKind::Friend,
            Some(club_player::Who::Guest(_)) => ClubKind::Guest,
            Some(club_player::Who::Nobody(_)) | None => ClubKind::Nobody,
        },
        left: player.left,
    }
}

fn game_row(club: &Club, game: &ClubGame, known: &AppState) -> ClubGameRow {
    ClubGameRow {
        board: game.board as i32,
        first: name_of(club, game.first).into(),
        second: name_of(club, game.second).into(),
        score: score(game.result()),
        begun: game.begun,
        step: step(game, known),
    }
}

/// What the button of a pairing does. A board whose code is open can be seen after its end too.
fn step(game: &ClubGame, known: &AppState) -> ClubStep {
    if known.state.rooms.contains_key(&game.room_id) && known.has_code(&game.room_id) {
        return ClubStep::Board;
    }
    if game.result() != ClubResult::Unspecified {
        return ClubStep::None;
    }
    if known.state.rooms.contains_key(&game.room_id) {
        return ClubStep::Board;
    }
    match game.way() {
        ClubWay::None => ClubStep::None,
        ClubWay::Here => ClubStep::Here,
        ClubWay::Invite => ClubStep::Invite,
        ClubWay::Elsewhere if game.begun => ClubStep::None,
        ClubWay::Elsewhere => ClubStep::Elsewhere,
    }
}

fn score(result: ClubResult) -> ClubScore {
    match result {
        ClubResult::Unspecified => ClubScore::None,
        ClubResult::ClubFirstWins => ClubScore::First,
        ClubResult::ClubSecondWins => ClubScore::Second,
        ClubResult::ClubDraw => ClubScore::Draw,
        ClubResult::ClubFirstForfeits => ClubScore::FirstForfeits,
        ClubResult::ClubSecondForfeits => ClubScore::SecondForfeits,
        ClubResult::ClubNotPlayed => ClubScore::NotPlayed,
    }
}

fn result(score: ClubScore) -> ClubResult {
    match score {
        ClubScore::None => ClubResult::Unspecified,
        ClubScore::First => ClubResult::ClubFirstWins,
        ClubScore::Second => ClubResult::ClubSecondWins,
        ClubScore::Draw => ClubResult::ClubDraw,
        ClubScore::FirstForfeits => ClubResult::ClubFirstForfeits,
        ClubScore::SecondForfeits => ClubResult::ClubSecondForfeits,
        ClubScore::NotPlayed => ClubResult::ClubNotPlayed,
    }
}

fn standing_row(club: &Club, row: &control::ClubStanding, chinese: bool) -> ClubStandingRow {
    let at = club.players.iter().position(|player| player.id == row.player);
    let against = club.players.iter().zip(&row.cross).filter(|(_, signs)| !signs.is_empty());
    let said: Vec<String> = against.map(|(player, signs)| format!("{} {signs}", player.name)).collect();
    ClubStandingRow {
        place: row.place as i32,
        number: at.map_or(0, |at| at as i32 + 1),
        name: name_of(club, row.player).into(),
        points: with_fraction(row.half_points, 2).into(),
        sonneborn_berger: with_fraction(row.sonneborn_berger, 4).into(),
        said: said.join(if chinese { "，" } else { ", " }).into(),
    }
}

/// `parts` of which 2 or 4 are a whole: 3.5, or 3 without a remainder.
fn with_fraction(parts: u32, whole: u32) -> String {
    format!("{}", f64::from(parts) / f64::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_their_fractions_are_written_without_needless_zeros() {
        assert_eq!([0, 1, 2, 7].map(|halves| with_fraction(halves, 2)), ["0", "0.5", "1", "3.5"]);
        assert_eq!(
            [0, 1, 2, 3, 8].map(|quarters| with_fraction(quarters, 4)),
            ["0", "0.25", "0.5", "0.75", "2"]
        );
    }

    #[test]
    fn what_is_entered_is_what_is_shown() {
        for number in 0..=6 {
            let of_host = ClubResult::try_from(number).expect("a result");
            assert_eq!(result(score(of_host)), of_host);
        }
    }
}
