//! Shared by tests and pictures: a fake host, and stories, one for each state that a page can show.

pub(crate) mod club;
pub(crate) mod doctor;
pub(crate) mod engines;
pub(crate) mod field_test;
pub(crate) mod games;
pub(crate) mod guests;
pub(crate) mod hotspot;
mod kept;
pub(crate) mod notes;
pub(crate) mod people;
mod position;
pub(crate) mod puzzles;
pub(crate) mod several;

pub(crate) use kept::{judgements, keep, look_through};

use std::time::Duration;

use engine::GameKind;
use proto::board::{self, Action, GomokuRule, GomokuSetup, Setup, Side, action, setup};
use proto::control::{self, Event, Reply, Request, event, reply, request, seat};
use qiyou::headless::{Scene, Stage, share_pictures};
use qiyou::screens::{
    BoardAdapter, Dialog, FriendsAdapter, Game, InvitationAdapter, ManualAdapter, NewGameAdapter, Page,
};
use qiyou::{App, Client, FromHost, HandOfHost, Language, Paper, Preferences, Store};
use slint::ComponentHandle;

/// The sizes that every page must fit: device pixels and scale.
pub(crate) const SIZES: [(u32, u32, f32); 4] =
    [(720, 1440, 2.0), (800, 480, 1.0), (1280, 720, 1.0), (1280, 800, 1.0)];

/// The app on a stage with a fake host.
pub(crate) struct Told {
    pub(crate) app: App,
    pub(crate) scene: Scene,
    pub(crate) hand: HandOfHost,
}

impl Told {
    /// An app that has received an empty initial state.
    pub(crate) fn new(stage: &Stage, (width, height, scale): (u32, u32, f32)) -> Self {
        share_pictures();
        let (client, from_host, hand) = Client::in_hand();
        let app = App::new(client, from_host, Store::nowhere(), "en_GB.UTF-8").expect("a window in memory");
        app.window().show().expect("shown in memory");
        let scene = stage.scene(width, height, scale);
        let told = Self { app, scene, hand };
        told.say(event::Body::Me(control::Me {
            name: "Steam Deck".into(),
            visibility: control::Visibility::Everyone.into(),
            fingerprint: "3f2a91c05b7e44d1a07be4420c91ff03".into(),
            has_guests: true,
            ..Default::default()
        }));
        told.say(event::Body::Ready(control::Ready {}));
        told
    }

    pub(crate) fn say(&self, body: event::Body) {
        self.hand
            .say
            .send(FromHost::Event(Box::new(Event { body: Some(body), ..Default::default() })))
            .expect("the app listens");
    }

    pub(crate) fn reply(&self, id: u64, body: reply::Body) {
        self.hand
            .say
            .send(FromHost::Reply(Box::new(Reply { id, body: Some(body) })))
            .expect("the app listens");
    }

    /// The requests since the last call.
    pub(crate) fn asked(&mut self) -> Vec<Request> {
        std::iter::from_fn(|| self.hand.asked.try_recv().ok()).collect()
    }

    /// Answers requests about rules at once, like a host. Returns the other requests since the last call, in order.
    pub(crate) fn answer(&mut self, stage: &Stage) -> Vec<Request> {
        let mut others = Vec::new();
        loop {
            stage.pass(Duration::ZERO);
            let asked = self.asked();
            if asked.is_empty() {
                return others;
            }
            for request in asked {
                match body(&request) {
                    request::Body::Describe(describe) => {
                        self.reply(request.id, reply::Body::Sheet(games::sheet(describe)));
                    }
                    request::Body::SetUp(asked) => {
                        let position = host::set_up(asked).expect("what the page asks for is possible");
                        self.reply(request.id, reply::Body::SetUp(position));
                    }
                    request::Body::Teach(teach) => {
                        self.reply(request.id, reply::Body::Lesson(games::lesson(teach)));
                    }
                    _ => others.push(request),
                }
            }
        }
    }

    /// Sets language, theme and text size as on the settings page; disables animations.
    pub(crate) fn prefer(&self, chinese: bool, dark: bool, text_size: usize) {
        self.prefer_on(chinese, if dark { Paper::Dark } else { Paper::Light }, text_size);
    }

    fn prefer_on(&self, chinese: bool, paper: Paper, text_size: usize) {
        self.app.prefer(Preferences {
            language: if chinese { Language::Chinese } else { Language::English },
            paper,
            reduced_motion: true,
            text_size,
            ..Preferences::default()
        });
    }
}

pub(crate) fn place(column: u32, row: u32) -> Action {
    Action { kind: Some(action::Kind::Place(row * 1_024 + column)) }
}

pub(crate) fn gomoku(rule: GomokuRule) -> Setup {
    Setup {
        game: Some(setup::Game::Gomoku(GomokuSetup {
            size: 15,
            rule: rule.into(),
            edge_five_wins: true,
            opening: 0,
        })),
    }
}

pub(crate) fn here() -> control::Seat {
    control::Seat { who: Some(seat::Who::Here(true)), ..Default::default() }
}

pub(crate) fn bot(level: u32) -> control::Seat {
    control::Seat { who: Some(seat::Who::BotLevel(level)), ..Default::default() }
}

pub(crate) fn peer(name: &str) -> control::Seat {
    control::Seat { who: Some(seat::Who::Peer("key".into())), name: name.into(), ..Default::default() }
}

/// The position of the design: 17 stones, Black has just moved.
const BLACK: [(u32, u32); 9] = [(7, 9), (9, 9), (8, 8), (6, 7), (7, 7), (4, 6), (9, 6), (8, 4), (9, 5)];
const WHITE: [(u32, u32); 8] = [(10, 10), (6, 8), (9, 7), (5, 6), (6, 6), (7, 6), (8, 6), (7, 5)];

fn stones(stones: &[(u32, u32)], side: Side) -> impl Iterator<Item = control::Piece> {
    stones.iter().map(move |(column, row)| control::Piece {
        at: row * 1_024 + column,
        side: side.into(),
        kind: 0,
    })
}

/// A match in progress.
pub(crate) fn room(first: control::Seat, second: control::Seat, mine: &[Side]) -> control::Room {
    let record = "h10 k11 j10 g9 i9 j8 g8 f7 h8 g7 e7 h7 j7 i7 i5 h6 j6";
    control::Room {
        id: "room".into(),
        setup: Some(gomoku(GomokuRule::Standard)),
        first: Some(first),
        second: Some(second),
        board: Some(control::Board {
            game: board::Game::Gomoku.into(),
            columns: 15,
            rows: 15,
            pieces: stones(&BLACK, Side::First).chain(stones(&WHITE, Side::Second)).collect(),
            last: Some(place(9, 5)),
            turn: Side::Second.into(),
            ply: 17,
            touch: Some(control::Touch {
                kind: control::TouchKind::TouchPlace.into(),
                stone: Side::Second.into(),
                ..Default::default()
            }),
            ..Default::default()
        }),
        mine: mine.iter().map(|side| (*side).into()).collect(),
        can_take_back: true,
        can_offer_draw: true,
        can_resign: true,
        can_new_game: true,
        can_act: mine.contains(&Side::Second),
        record: record.split(' ').map(Into::into).collect(),
        moves: 17,
        ..Default::default()
    }
}

/// A match with a guest on the other side.
pub(crate) fn with_guest(name: &str) -> control::Room {
    let who = Some(control::seat::Who::Guest(true));
    let seat = control::Seat { who, name: name.into(), away: name.is_empty(), ..Default::default() };
    room(here(), seat, &[Side::First])
}

/// The state of that seat's code.
pub(crate) fn guest(name: &str, present: bool) -> control::Guest {
    control::Guest {
        room_id: "room".into(),
        side: Side::Second.into(),
        name: name.into(),
        present,
        came: !name.is_empty(),
        ..Default::default()
    }
}

/// Answers the pending request for a code, of the second seat unless another one was asked for.
pub(crate) fn show_guest_code(told: &mut Told) -> control::ShowGuestCode {
    show_guest_code_of(told, Side::Second)
}

/// Answers the pending request for a code, with that of this seat unless another one was asked for.
pub(crate) fn show_guest_code_of(told: &mut Told, seat: Side) -> control::ShowGuestCode {
    let all = told.asked();
    let found = all.iter().find_map(|one| match body(one) {
        request::Body::ShowGuestCode(show) => Some((one.id, show.clone())),
        _ => None,
    });
    let (id, show) = found.unwrap_or_else(|| panic!("no code was asked for: {all:?}"));
    let seat = match show.side() {
        _ if show.watch => Side::Unspecified,
        Side::Unspecified => seat,
        side => side,
    };
    let code = control::GuestCode {
        seat: seat.into(),
        url: "http://192.0.2.2:40123/#8dRTvWmN0qKXz5yBhLgEcA".into(),
        side: 21,
        dark: (0..63u8).map(|byte| byte.wrapping_mul(151) ^ 0x5a).collect::<Vec<u8>>().into(),
        ..Default::default()
    };
    told.reply(id, reply::Body::GuestCode(code));
    show
}

pub(crate) fn link(state: control::PeerLink, away_ms: u32) -> control::LinkState {
    control::LinkState {
        carrier: control::Carrier::Bluetooth.into(),
        state: state.into(),
        away_ms,
        ..Default::default()
    }
}

/// A five of White.
fn won(first: control::Seat, second: control::Seat, mine: &[Side]) -> control::Room {
    let mut room = room(first, second, mine);
    let board = room.board.as_mut().expect("set above");
    board.pieces.extend(stones(&[(4, 9), (8, 5)], Side::First).take(1));
    board.pieces.retain(|piece| piece.at != 6 * 1_024 + 9);
    board.pieces.extend(stones(&[(9, 6)], Side::Second));
    board.marks = (5..=9)
        .map(|column| control::Mark {
            at: 6 * 1_024 + column,
            kind: control::MarkKind::MarkWinning.into(),
            ..Default::default()
        })
        .collect();
    board.lines = vec![board::Step { from: 6 * 1_024 + 5, to: 6 * 1_024 + 9 }];
    board.last = Some(place(9, 6));
    board.turn = 0;
    board.ply = 18;
    room.result =
        Some(board::Result { winner: Side::Second.into(), ending: board::Ending::FiveInARow.into() });
    room.can_act = false;
    room.can_take_back = false;
    room.can_resign = false;
    room.can_offer_draw = false;
    room
}

pub(crate) fn radio(state: control::RadioState) -> event::Body {
    event::Body::Radio(control::Radio {
        carrier: control::Carrier::Bluetooth.into(),
        state: state.into(),
        scanning: matches!(state, control::RadioState::RadioReady),
        ..Default::default()
    })
}

fn near(id: &str, name: &str, is_friend: bool, rssi_dbm: i32) -> event::Body {
    event::Body::Nearby(control::Nearby {
        id: id.into(),
        name: name.into(),
        is_friend,
        rssi_dbm,
        wish: if is_friend { board::Game::Go } else { board::Game::Unspecified }.into(),
        ..Default::default()
    })
}

fn invitation(mine: bool) -> event::Body {
    event::Body::Invitation(control::Invitation {
        invite_id: "invite".into(),
        peer: "a".into(),
        name: "Librem 5".into(),
        mine,
        setup: Some(gomoku(GomokuRule::Freestyle)),
        my_side: Side::Second.into(),
        expires_ms: 60_000,
        ..Default::default()
    })
}

fn comparison(known_name_new_key: bool, answered_here: bool) -> event::Body {
    event::Body::Comparison(control::Comparison {
        peer: "a".into(),
        name: "Librem 5".into(),
        emoji: vec![0, 41, 35, 20],
        digits: "482091".into(),
        answered_here,
        known_name_new_key,
        ..Default::default()
    })
}

/// Opens the room of an event.
pub(crate) fn open(stage: &Stage, told: &mut Told, room: control::Room) {
    let id = room.id.clone();
    told.say(event::Body::Room(room));
    stage.pass(Duration::ZERO);
    told.app.open_room(&id);
}

fn friends_near(told: &Told) {
    told.say(radio(control::RadioState::RadioReady));
    told.say(near("a", "Librem 5", true, -48));
    told.say(near("b", "客厅的平板", false, -71));
}

/// Taps the point with this column letter and row, counted from 0 at the bottom.
fn touch_point(told: &Told, column: char, row: u16) {
    let page = told.app.window().global::<BoardAdapter<'_>>();
    let (columns, rows) = (page.get_columns(), page.get_rows());
    page.invoke_touch((rows - 1 - i32::from(row)) * columns + (column as i32 - 'a' as i32));
}

/// Requests the solution, and answers the request.
fn solve(stage: &Stage, told: &mut Told, game: &engine::AnyGame) {
    let engine::AnyGame::LightsOut(lights) = game else { panic!("only lights are solved") };
    let engine::lights_out::Solution::Presses { presses, fewest } = lights.solution() else {
        panic!("a random board can be put out")
    };
    told.answer(stage);
    told.app.window().global::<BoardAdapter<'_>>().invoke_hint();
    for request in told.answer(stage) {
        if matches!(body(&request), request::Body::Hint(_)) {
            let first = presses.points().next().expect("something is lit");
            let found = control::HintFound {
                action: Some(session::wire::action(engine::Action::Press(first))),
                notation: first.to_string(),
                presses: presses.to_bytes().into(),
                fewest,
                ..Default::default()
            };
            told.reply(request.id, reply::Body::Hint(found));
        }
    }
}

pub(crate) type Tell = fn(&Stage, &mut Told);

/// Every picture of the contact sheet, by name: what the host says and what is touched until it is there.
pub(crate) const STORIES: [(&str, Tell); 85] = [
    ("home", |_, told| {
        friends_near(told);
        told.say(event::Body::Room(room(here(), bot(7), &[Side::First])));
    }),
    ("home-alone", |_, told| told.say(radio(control::RadioState::RadioReady))),
    ("home-bluetooth-off", |_, told| told.say(radio(control::RadioState::RadioOff))),
    ("home-xiangqi", |_, told| {
        told.say(radio(control::RadioState::RadioReady));
        told.say(event::Body::Room(games::against_the_device(&games::xiangqi(), engine::Side::First)));
    }),
    ("new-game", |_, told| told.app.new_game(Game::Gomoku)),
    ("new-game-nearby", |_, told| {
        told.app.prefer_opponent(Game::Gomoku, qiyou::LastOpponent::Peer);
        told.app.new_game(Game::Gomoku);
    }),
    ("new-game-go", |_, told| told.app.new_game(Game::Go)),
    ("new-game-xiangqi", |_, told| told.app.new_game(Game::Xiangqi)),
    ("new-game-liuzhou", |stage, told| {
        told.app.new_game(Game::Liuzhou);
        told.answer(stage);
        let page = told.app.window().global::<NewGameAdapter<'_>>();
        page.invoke_toggle_terms();
        page.invoke_toggle_all_options();
    }),
    ("new-game-lights-out", |_, told| told.app.new_game(Game::LightsOut)),
    ("go", |stage, told| {
        open(stage, told, games::against_the_device(&games::go(), engine::Side::Second));
    }),
    ("go-counting", |stage, told| open(stage, told, games::alone(&games::go_counting()))),
    ("go-19", |stage, told| {
        let game = games::played(&GameKind::Go.default_setup(), "Q16 D4 Q3 D16 R5 C6");
        open(stage, told, games::against_the_device(&game, engine::Side::First));
    }),
    ("xiangqi", |stage, told| {
        open(stage, told, games::against_the_device(&games::xiangqi(), engine::Side::First));
        touch_point(told, 'h', 0);
    }),
    ("xiangqi-black", |stage, told| {
        let game = games::played(&GameKind::Xiangqi.default_setup(), "h2e2 h9g7 e2e6");
        open(stage, told, games::against_the_device(&game, engine::Side::Second));
    }),
    ("liuzhou-placing", |stage, told| open(stage, told, games::alone(&games::liuzhou_placing()))),
    ("liuzhou-moving", |stage, told| {
        let game = games::liuzhou_moving();
        open(stage, told, games::alone(&game));
        let (from, _) = game.view().steps[0];
        touch_point(told, char::from(b'a' + from.column as u8), from.row);
    }),
    ("lights-out", |stage, told| open(stage, told, games::alone(&games::lights("5", "5")))),
    ("lights-out-solving", |stage, told| {
        let game = games::lights("20", "20");
        open(stage, told, games::alone(&game));
        solve(stage, told, &game);
    }),
    ("lights-out-large", |stage, told| open(stage, told, games::alone(&games::lights("100", "60")))),
    ("lights-out-done", |stage, told| {
        let mut game = games::played(
            &games::chosen(GameKind::LightsOut, &[("columns", "4"), ("rows", "3"), ("seed", "1")]),
            "",
        );
        let engine::AnyGame::LightsOut(lights) = &game else { panic!("it is lights out") };
        let engine::lights_out::Solution::Presses { presses, .. } = lights.solution() else {
            panic!("a random board can be put out")
        };
        for at in presses.points().collect::<Vec<_>>() {
            game.act(engine::Action::Press(at)).expect("a lamp");
        }
        open(stage, told, games::alone(&game));
    }),
    ("nearby", |_, told| {
        friends_near(told);
        told.say(near("c", "", false, 0));
        told.say(event::Body::Connecting(control::Connecting {
            peer: "b".into(),
            name: "客厅的平板".into(),
            state: control::ConnectState::ConnectDialing.into(),
        }));
        told.app.go(Page::Nearby);
    }),
    ("nearby-looking", |_, told| {
        told.say(radio(control::RadioState::RadioReady));
        told.app.go(Page::Nearby);
    }),
    ("nearby-nobody", |stage, told| {
        told.say(radio(control::RadioState::RadioReady));
        told.app.go(Page::Nearby);
        stage.pass(Duration::ZERO);
        stage.pass(Duration::from_secs(11));
    }),
    ("nearby-off", |_, told| {
        told.say(radio(control::RadioState::RadioOff));
        told.app.go(Page::Nearby);
    }),
    ("nearby-blocked", |_, told| {
        told.say(radio(control::RadioState::RadioBlocked));
        told.app.go(Page::Nearby);
    }),
    ("nearby-no-adapter", |_, told| {
        told.say(radio(control::RadioState::RadioNoAdapter));
        told.app.go(Page::Nearby);
    }),
    ("nearby-no-service", |_, told| {
        told.say(radio(control::RadioState::RadioNoService));
        told.app.go(Page::Nearby);
    }),
    ("nearby-no-permission", |_, told| {
        told.say(radio(control::RadioState::RadioNoPermission));
        told.app.go(Page::Nearby);
    }),
    ("board", |stage, told| {
        let mut room = room(peer("Librem 5"), here(), &[Side::Second]);
        room.link = Some(link(control::PeerLink::Up, 0));
        open(stage, told, room);
    }),
    ("board-thinking", |stage, told| {
        let room = room(here(), bot(7), &[Side::First]);
        open(stage, told, room);
        told.say(event::Body::Thinking(control::Thinking {
            room_id: "room".into(),
            side: Side::Second.into(),
            on: true,
            depth: 9,
            nodes: 1_234_567,
            score: Some(control::Score { score: Some(control::score::Score::Points(130)) }),
            line: "k10 f10 e9 g11 k7 l6 d8 k8".split(' ').map(Into::into).collect(),
            ply: 17,
            judged: true,
            permille: 640,
            elapsed_ms: 1_800,
            ..Default::default()
        }));
        told.app.show_thought();
    }),
    ("board-thought", |stage, told| {
        open(stage, told, room(bot(7), here(), &[Side::Second]));
        let line = [(9, 5), (12, 9), (11, 11), (5, 9), (3, 8), (10, 2)];
        told.say(event::Body::Thinking(control::Thinking {
            room_id: "room".into(),
            side: Side::First.into(),
            depth: 9,
            nodes: 1_234_567,
            judged: true,
            permille: 640,
            line: "j6 m10 l12 f10 d9 k3".split(' ').map(Into::into).collect(),
            actions: line.map(|(column, row)| place(column, row)).into(),
            stones: (0..6).map(|n| if n % 2 == 0 { Side::First } else { Side::Second }.into()).collect(),
            ply: 16,
            elapsed_ms: 1_800,
            ..Default::default()
        }));
        told.app.show_thought();
    }),
    ("board-left", |stage, told| {
        told.app.prefer_left_hand();
        let room = room(bot(3), here(), &[Side::Second]);
        open(stage, told, room);
    }),
    ("board-two-here", |stage, told| {
        let room = room(here(), here(), &[Side::First, Side::Second]);
        open(stage, told, room);
    }),
    ("board-won", |stage, told| {
        let room = won(bot(5), here(), &[Side::Second]);
        open(stage, told, room);
    }),
    ("board-lost", |stage, told| {
        let mut room = won(here(), peer("Librem 5"), &[Side::First]);
        room.link = Some(link(control::PeerLink::Up, 0));
        open(stage, told, room);
    }),
    ("board-link-lost", |stage, told| {
        let mut room = room(here(), peer("Librem 5"), &[Side::First]);
        room.link = Some(link(control::PeerLink::Lost, 12_000));
        open(stage, told, room);
    }),
    ("board-offer", |stage, told| {
        let mut room = room(peer("Librem 5"), here(), &[Side::Second]);
        room.link = Some(link(control::PeerLink::Up, 0));
        room.offer = Some(control::PendingOffer {
            kind: control::OfferKind::OfferTakeBack.into(),
            mine: false,
            by: Side::First.into(),
            number: 0,
        });
        open(stage, told, room);
    }),
    ("board-resign", |stage, told| {
        open(stage, told, room(here(), bot(3), &[Side::First]));
        told.app.ask(qiyou::screens::Dialog::ConfirmResign);
    }),
    ("board-leave", |stage, told| {
        let mut room = room(here(), peer("Librem 5"), &[Side::First]);
        room.link = Some(link(control::PeerLink::Up, 0));
        open(stage, told, room);
        told.app.ask(qiyou::screens::Dialog::ConfirmLeave);
    }),
    ("board-more", |stage, told| {
        open(stage, told, room(here(), bot(3), &[Side::First]));
        told.app.ask(qiyou::screens::Dialog::More);
    }),
    ("board-losing", |stage, told| {
        open(stage, told, games::against_the_device(&games::xiangqi(), engine::Side::First));
        told.app.ask(qiyou::screens::Dialog::Losing);
    }),
    ("rules", |_, told| {
        told.app.new_game(Game::Gomoku);
        told.app.ask(qiyou::screens::Dialog::Rules);
    }),
    ("invitation", |_, told| {
        friends_near(told);
        told.say(invitation(false));
    }),
    ("waiting", |_, told| {
        friends_near(told);
        told.app.go(Page::Nearby);
        told.say(invitation(true));
    }),
    ("comparison", |_, told| {
        friends_near(told);
        told.app.go(Page::Nearby);
        told.say(comparison(false, false));
    }),
    ("comparison-answered", |_, told| {
        friends_near(told);
        told.app.go(Page::Nearby);
        told.say(comparison(false, true));
    }),
    ("comparison-warning", |_, told| {
        friends_near(told);
        told.app.go(Page::Nearby);
        told.say(comparison(true, false));
    }),
    ("home-many", |stage, told| {
        friends_near(told);
        keep(stage, told);
    }),
    ("records", |stage, told| {
        told.app.window().global::<qiyou::screens::HomeAdapter<'_>>().invoke_open_records();
        keep(stage, told);
    }),
    ("records-empty", |stage, told| {
        told.app.window().global::<qiyou::screens::HomeAdapter<'_>>().invoke_open_records();
        for request in told.answer(stage) {
            told.reply(request.id, reply::Body::Matches(control::Matches::default()));
        }
    }),
    ("replay", |stage, told| look_through(stage, told, false)),
    ("replay-judged", |stage, told| look_through(stage, told, true)),
    ("board-say", |stage, told| {
        let mut room = room(peer("Librem 5"), here(), &[Side::Second]);
        room.link = Some(link(control::PeerLink::Up, 0));
        open(stage, told, room);
        told.app.ask(qiyou::screens::Dialog::Say);
    }),
    ("board-said", |stage, told| {
        let mut room = room(peer("Librem 5"), here(), &[Side::Second]);
        room.link = Some(link(control::PeerLink::Up, 0));
        room.clocks = vec![
            control::Clock { left_ms: 252_000, ..Default::default() },
            control::Clock { left_ms: 18_500, running: true, byo_yomi: true, periods: 3 },
        ];
        open(stage, told, room);
        told.say(event::Body::Said(control::Said {
            room_id: "room".into(),
            phrase: proto::peer::Phrase::GoodMove.into(),
            ..Default::default()
        }));
    }),
    ("board-differs", |stage, told| {
        let mut room = room(peer("Librem 5"), here(), &[Side::Second]);
        room.link = Some(link(control::PeerLink::Up, 0));
        (room.differs, room.can_act) = (true, false);
        open(stage, told, room);
    }),
    ("board-paused", |stage, told| {
        let mut room = room(peer("Librem 5"), here(), &[Side::Second]);
        room.link = Some(link(control::PeerLink::Up, 0));
        (room.paused, room.can_act, room.can_continue) = (true, false, true);
        open(stage, told, room);
    }),
    ("board-aiming", |stage, told| {
        open(stage, told, room(bot(3), here(), &[Side::Second]));
        told.app.window().global::<BoardAdapter<'_>>().invoke_aim(3 * 15 + 11, true);
    }),
    ("renju-forbidden", |stage, told| {
        let setup = games::chosen(GameKind::Gomoku, &[("rule", "renju")]);
        let game = games::played(&setup, "h8 h9 j8 a1 i7 a15 i9 o1");
        open(stage, told, games::alone(&game));
        touch_point(told, 'i', 7);
    }),
    ("xiangqi-facing", |stage, told| {
        told.app.prefer_facing();
        open(stage, told, games::alone(&games::xiangqi()));
    }),
    ("editor", |stage, told| {
        told.app.new_game(Game::LightsOut);
        told.answer(stage);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_set_up();
        let editor = told.app.window().global::<qiyou::screens::EditorAdapter<'_>>();
        for index in [1, 6, 7, 8, 12, 18] {
            editor.invoke_touch(index);
        }
    }),
    ("lights-out-unsolvable", |stage, told| {
        open(stage, told, games::alone(&games::lights("5", "5")));
        told.answer(stage);
        told.app.window().global::<BoardAdapter<'_>>().invoke_hint();
        for request in told.answer(stage) {
            let refusal = control::Refusal {
                code: control::RefusalCode::RefusalUnsolvable.into(),
                ..Default::default()
            };
            told.reply(request.id, reply::Body::Refusal(refusal));
        }
    }),
    ("licences", |_, told| {
        told.app.go(Page::Settings);
        told.app.ask(qiyou::screens::Dialog::Licences);
    }),
    ("privacy", |_, told| {
        told.app.go(Page::Settings);
        told.app.ask(qiyou::screens::Dialog::Privacy);
    }),
    ("settings", |_, told| told.app.go(Page::Settings)),
    ("settings-endings", |_, told| {
        told.say(event::Body::Endings(control::Endings {
            state: control::EndingsState::EndingsWorking.into(),
            plies: 7,
            permille: 430,
            bytes: 0,
        }));
        told.app.go(Page::Settings);
    }),
    ("pick-lesson", |_, told| told.app.ask(qiyou::screens::Dialog::PickLesson)),
    ("lesson", |_, told| told.app.learn(Game::Liuzhou)),
    ("lesson-xiangqi", |stage, told| {
        told.app.learn(Game::Xiangqi);
        told.answer(stage);
        let lesson = told.app.window().global::<qiyou::screens::LessonAdapter<'_>>();
        // The cannon, in the third row from below.
        lesson.invoke_touch(7 * 9 + 7);
    }),
    ("lesson-done", |stage, told| {
        told.app.learn(Game::Gomoku);
        told.answer(stage);
        let lesson = told.app.window().global::<qiyou::screens::LessonAdapter<'_>>();
        lesson.invoke_touch(7 * 15 + 7);
    }),
    ("board-choice", |stage, told| {
        open(stage, told, games::against_the_device(&games::go(), engine::Side::Second));
        told.app.ask(qiyou::screens::Dialog::ConfirmChoice);
    }),
    ("fifths-number", |stage, told| {
        let game = games::renju("yamaguchi", "h8 i9 j8");
        open(stage, told, games::against_the_device(&game, engine::Side::First));
    }),
    ("fifths-asked", |stage, told| {
        let game = games::renju("soosorv-8", "h8 i9 j8 black g7");
        open(stage, told, games::against_the_device(&game, engine::Side::First));
        let board = told.app.window().global::<qiyou::screens::BoardAdapter<'_>>();
        board.invoke_choose(4);
    }),
    ("fifths-colours", |stage, told| {
        let game = games::renju("taraguchi-10", "h8 white i9 black j8 white h9");
        open(stage, told, games::against_the_device(&game, engine::Side::First));
    }),
    ("fifths-offered", |stage, told| {
        let game = games::renju("yamaguchi", "h8 i9 j8 offer4 black g7 j10 i10 h10 f6");
        open(stage, told, games::against_the_device(&game, engine::Side::First));
    }),
    ("guest-code", |stage, told| {
        open(stage, told, with_guest(""));
        told.app.window().global::<qiyou::screens::GuestAdapter<'_>>().invoke_show(false);
        show_guest_code(told);
    }),
    ("guest-asks", |stage, told| {
        open(stage, told, with_guest("Ben"));
        told.say(event::Body::Guest(control::Guest { asks: true, ..guest("Ben", true) }));
    }),
    ("end-won", |stage, told| {
        let first = control::Achieved { first_win: true, next_level: 6, ..Default::default() };
        open(stage, told, control::Room { achieved: Some(first), ..won(bot(5), here(), &[Side::Second]) });
    }),
    ("end-lost", |stage, told| {
        let lost = control::Achieved { review: true, ..Default::default() };
        open(stage, told, control::Room { achieved: Some(lost), ..won(here(), bot(5), &[Side::First]) });
    }),
    ("end-drawn", |stage, told| {
        let mut room = games::against_the_device(&games::xiangqi(), engine::Side::First);
        room.result =
            Some(board::Result { winner: Side::Unspecified.into(), ending: board::Ending::TooLong.into() });
        room.achieved = Some(control::Achieved { review: true, ..Default::default() });
        open(stage, told, ended(room));
    }),
    ("end-mated", |stage, told| {
        let (game, winner) = games::mated();
        let mut room = games::against_the_device(&game, winner);
        room.achieved = Some(control::Achieved { streak: 3, next_level: 8, ..Default::default() });
        open(stage, told, ended(room));
    }),
    ("end-counted", |stage, told| {
        let mut room = games::against_the_device(&games::counted(), engine::Side::Second);
        let help = control::Help::Hints.into();
        room.achieved = Some(control::Achieved { help, next_level: 8, ..Default::default() });
        open(stage, told, ended(room));
    }),
    ("end-lights-out", |stage, told| {
        let (_, game) = games::last_lights();
        let mut room = games::alone(&game);
        room.achieved = Some(control::Achieved { first_win: true, fewest: true, ..Default::default() });
        open(stage, told, ended(room));
    }),
    ("new-game-like-me", |stage, told| {
        told.app.new_game(Game::Go);
        told.answer(stage);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_adaptive(true);
    }),
    ("end-like-me", |stage, told| {
        let achieved = Some(control::Achieved { adapted_tenths: 47, ..Default::default() });
        open(stage, told, control::Room { achieved, ..won(here(), bot(4), &[Side::First]) });
    }),
];

/// Stories of the manual, without its pictures, which are files that change with the pages in them, and of what is read on the
/// page of its chapters.
const MANUAL: [(&str, Tell); 4] = [
    ("manual", |_, told| told.app.go(Page::Manual)),
    ("manual-game", |_, told| told.app.window().global::<ManualAdapter<'_>>().invoke_open_game(Game::Go)),
    ("manual-trouble", |_, told| told.app.window().global::<ManualAdapter<'_>>().invoke_open_trouble()),
    ("licences-libraries", |_, told| {
        told.app.go(Page::Settings);
        told.app.window().global::<ManualAdapter<'_>>().invoke_open_libraries();
    }),
];

/// Stories of matches by letter.
const LETTERS: [(&str, Tell); 4] = [
    ("letter-invite", |stage, told| {
        people::away(told);
        stage.pass(Duration::ZERO);
        told.app.go(Page::Friends);
        told.app.window().global::<FriendsAdapter<'_>>().invoke_open_friend("c".into());
        told.app.ask(Dialog::Letter);
    }),
    ("letter-new-game", |stage, told| {
        people::away(told);
        stage.pass(Duration::ZERO);
        told.app.window().global::<FriendsAdapter<'_>>().invoke_open_friend("c".into());
        told.app.window().global::<InvitationAdapter<'_>>().invoke_write(Game::Go);
    }),
    ("letter-asked", |stage, told| {
        people::away(told);
        told.say(people::asked_by_letter());
        stage.pass(Duration::ZERO);
    }),
    ("letter-board", |stage, told| {
        open(stage, told, people::by_letter(control::LetterState::AtServer));
    }),
];

/// Boards as players may prefer them: xiangqi with pictograms, and a board that turns to whoever is to move.
const PREFERRED: [(&str, Tell); 2] = [
    ("xiangqi-pictures", |stage, told| {
        told.app.prefer_pictograms();
        open(stage, told, games::against_the_device(&games::xiangqi(), engine::Side::First));
    }),
    ("two-here-turning", |stage, told| {
        told.app.prefer_turning();
        open(stage, told, room(here(), here(), &[Side::First, Side::Second]));
    }),
];

/// A match that is over, as its page has it.
pub(crate) fn ended(room: control::Room) -> control::Room {
    control::Room { can_act: false, can_take_back: false, can_analyse: true, ..room }
}

/// All stories.
pub(crate) fn stories() -> impl Iterator<Item = (&'static str, Tell)> {
    let others = people::PEOPLE.into_iter().chain(puzzles::PUZZLES).chain(people::DISTURBANCES);
    let later = PREFERRED
        .into_iter()
        .chain(puzzles::MISTAKES)
        .chain(hotspot::HOTSPOT)
        .chain(guests::GUESTS)
        .chain(several::SEVERAL)
        .chain(engines::ENGINES)
        .chain(doctor::DOCTOR)
        .chain(field_test::FIELD_TESTS)
        .chain(position::POSITIONS)
        .chain(club::CLUB);
    STORIES.into_iter().chain(others).chain(MANUAL).chain(notes::NOTES).chain(LETTERS).chain(later)
}

/// Tells a story in this language and theme, drawn at rest.
pub(crate) fn tell(
    stage: &Stage,
    size: (u32, u32, f32),
    (chinese, dark, text_size): (bool, bool, usize),
    tell: Tell,
) -> Told {
    let paper = if dark { Paper::Dark } else { Paper::Light };
    tell_on(stage, size, (chinese, paper, text_size), tell)
}

/// As [`tell`], in any theme.
pub(crate) fn tell_on(
    stage: &Stage,
    size: (u32, u32, f32),
    (chinese, paper, text_size): (bool, Paper, usize),
    tell: Tell,
) -> Told {
    let mut told = Told::new(stage, size);
    told.prefer_on(chinese, paper, text_size);
    stage.pass(Duration::ZERO);
    tell(stage, &mut told);
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

/// The body of a request, if there is one.
pub(crate) fn body(request: &Request) -> &request::Body {
    request.body.as_ref().expect("the app asks for something")
}
