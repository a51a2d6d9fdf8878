//! Stories about other people: friends, codes, accounts, invitations, and analysis after a match.

use std::time::Duration;

use proto::board::{self, Side};
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{AddressAdapter, Game, SettingsAdapter};
use qiyou::screens::{Dialog, FriendsAdapter, InvitationAdapter, NearbyAdapter, NewGameAdapter, Page};
use slint::ComponentHandle;

use super::{Tell, Told, body, friends_near, games, here, link, near, open, peer, radio, won};

fn now_unix_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    now.as_millis() as u64
}

pub(crate) fn friend(id: &str, name: &str) -> control::Friend {
    control::Friend {
        id: id.into(),
        name: name.into(),
        met_unix_ms: now_unix_ms() - 40 * 86_400_000,
        ..Default::default()
    }
}

/// Five friends with different presence, a contact request, and a blocked person.
pub(crate) fn befriended(told: &Told) {
    told.say(radio(control::RadioState::RadioReady));
    let all = [
        control::Friend {
            connected: true,
            carrier: control::Carrier::Bluetooth.into(),
            note: "棋社认识的".into(),
            ..friend("a", "Librem 5")
        },
        control::Friend {
            near: true, carrier: control::Carrier::Lan.into(), ..friend("b", "客厅的平板")
        },
        control::Friend {
            presence: control::Presence::Playing.into(),
            account: "anna@example.org".into(),
            ..friend("c", "Anna")
        },
        control::Friend { muted: true, met_unix_ms: now_unix_ms(), ..friend("d", "Pocket") },
        control::Friend { met_unix_ms: 1_600_000_000_000, ..friend("e", "Librem 5") },
    ];
    for one in all {
        told.say(event::Body::Friend(one));
    }
    told.say(account(control::AccountState::AccountOnline));
    told.say(event::Body::Contact(control::Contact {
        account: "ben@example.org".into(),
        state: control::ContactState::ContactAsks.into(),
        ..Default::default()
    }));
    told.say(event::Body::Blocked(control::Blocked {
        id: "z".into(),
        name: "Pocket 2".into(),
        since_unix_ms: now_unix_ms(),
    }));
}

/// A friend who is away, and has an account like this device.
pub(crate) fn away(told: &Told) {
    told.say(account(control::AccountState::AccountOnline));
    told.say(event::Body::Friend(control::Friend {
        account: "anna@example.org".into(),
        ..friend("c", "Anna")
    }));
}

/// Her invitation by letter.
pub(crate) fn asked_by_letter() -> event::Body {
    event::Body::Invitation(control::Invitation {
        invite_id: "letter".into(),
        peer: "c".into(),
        name: "Anna".into(),
        setup: Some(super::gomoku(board::GomokuRule::Freestyle)),
        my_side: Side::Second.into(),
        colours: control::ColourChoice::ColourSecond.into(),
        by_letter: true,
        ..Default::default()
    })
}

/// A match by letter in which it is her turn.
pub(crate) fn by_letter(state: control::LetterState) -> control::Room {
    let mut room = super::room(here(), peer("Anna"), &[Side::First]);
    let away = link(control::PeerLink::Left, 200_000_000);
    room.link = Some(control::LinkState { letter: state.into(), ..away });
    room
}

pub(crate) fn account(state: control::AccountState) -> event::Body {
    let wrong = state == control::AccountState::AccountWrongPassword;
    event::Body::Account(control::Account {
        account: "steam@example.org".into(),
        state: state.into(),
        sentence: wrong.then(|| control::Words {
            zh: "密码不对，请重新登录。".into(),
            en: "Wrong password. Sign in again.".into(),
        }),
        ..Default::default()
    })
}

/// A friend code in a reply.
pub(crate) fn code(name: &str, key: u8) -> control::FriendCode {
    let code =
        link::friend_code::FriendCode { key: [key; 32], name: name.into(), tag: None, places: Vec::new() };
    let qr = code.qr();
    control::FriendCode { text: code.to_string(), side: qr.side as u32, dark: qr.packed().into() }
}

/// Answers the request for this device's code.
fn show_code(stage: &Stage, told: &mut Told) {
    told.app.window().global::<FriendsAdapter<'_>>().invoke_show_code();
    for request in told.answer(stage) {
        if matches!(body(&request), request::Body::ShowFriendCode(_)) {
            told.reply(request.id, reply::Body::FriendCode(code("Steam Deck", 7)));
        }
    }
}

/// Terms of an invitation with several options: Go on 9x9 with a clock.
pub(crate) fn invitation(counters: &str) -> control::Invitation {
    let setup = games::chosen(engine::GameKind::Go, &[("size", "9"), ("handicap", "2")]);
    control::Invitation {
        invite_id: "invite".into(),
        peer: "a".into(),
        name: "Librem 5".into(),
        setup: Some(session::wire::setup(&setup)),
        my_side: Side::Second.into(),
        expires_ms: 60_000,
        rule_sheet_en: setup.rule_sheet(engine::Language::English),
        rule_sheet_zh: setup.rule_sheet(engine::Language::Chinese),
        pace: games::paces()[1].pace,
        pace_name: games::paces()[1].name.clone(),
        colours: control::ColourChoice::ColourSecond.into(),
        counters: counters.into(),
        ..Default::default()
    }
}

/// A finished match with Librem 5 under analysis, with two moves tried.
pub(crate) fn looked_through() -> control::Room {
    let mut room = won(peer("Librem 5"), here(), &[Side::Second]);
    room.link = Some(link(control::PeerLink::Up, 0));
    room.can_analyse = true;
    let mut board = room.board.clone().expect("a position");
    board.marks.clear();
    board.turn = Side::First.into();
    room.analysis = Some(control::Analysis {
        ply: 12,
        tried: vec!["c3".into(), "d4".into()],
        board: Some(board),
        can_act: true,
        shared: true,
    });
    room
}

/// A match that Librem 5 offers.
pub(crate) fn gift() -> control::Gift {
    let room = won(peer("Ben"), here(), &[Side::Second]);
    control::Gift {
        gift_id: "1".into(),
        peer: "a".into(),
        name: "Librem 5".into(),
        r#match: Some(control::MatchSummary {
            room_id: "x".into(),
            setup: room.setup,
            ply: 18,
            moves: 18,
            result: room.result,
            board: room.board,
            ..Default::default()
        }),
    }
}

/// White has a three that needs an answer.
pub(crate) fn hinted() -> engine::AnyGame {
    games::played(&engine::GameKind::Gomoku.default_setup(), "h8 g7 h9 g8 k10 g9")
}

/// A hint: three variations, and White's threats.
pub(crate) fn advice(game: &engine::AnyGame) -> control::HintFound {
    let line = |moves: &str, permille| control::HintLine {
        line: moves.split(' ').map(Into::into).collect(),
        permille,
        judged: true,
        ..Default::default()
    };
    let threats = engine::threats::sound_threats(game).into_iter().map(|threat| control::Threat {
        at: threat.at.iter().map(|at| session::wire::point(*at)).collect(),
        words: Some(control::Words {
            zh: threat.words(game, engine::Language::Chinese),
            en: threat.words(game, engine::Language::English),
        }),
        ..Default::default()
    });
    control::HintFound {
        action: Some(super::place(6, 9)),
        notation: "g10".into(),
        lines: vec![line("g10 g6 g5 h10 h7", 540), line("g6 g10 g11 h10", 515), line("g5 g6 g10 h7", 430)],
        threats: threats.collect(),
        ..Default::default()
    }
}

/// A race against Librem 5, who has finished or not.
pub(crate) fn race(they_finished: bool) -> control::Room {
    let game = games::lights("5", "5");
    let mut room = games::alone(&game);
    room.first = Some(here());
    room.second = Some(peer("Librem 5"));
    room.mine = vec![Side::First.into()];
    room.link = Some(link(control::PeerLink::Up, 0));
    (room.can_take_back, room.can_offer_draw) = (false, false);
    room.race = Some(control::Race {
        my_presses: 8,
        my_elapsed_ms: 34_000,
        my_clock_runs: true,
        their_presses: 9,
        their_lit: if they_finished { 0 } else { 5 },
        they_finished,
        their_elapsed_ms: if they_finished { 41_200 } else { 0 },
        ..Default::default()
    });
    room
}

pub(crate) const PEOPLE: [(&str, Tell); 32] = [
    ("friends", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
    }),
    ("friends-none", |_, told| told.app.go(Page::Friends)),
    ("friend", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        told.app.window().global::<FriendsAdapter<'_>>().invoke_open_friend("a".into());
    }),
    ("friend-unfriend", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        told.app.window().global::<FriendsAdapter<'_>>().invoke_open_friend("a".into());
        told.app.ask(Dialog::ConfirmUnfriend);
    }),
    ("friend-block", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        told.app.window().global::<FriendsAdapter<'_>>().invoke_open_friend("a".into());
        told.app.ask(Dialog::ConfirmBlock);
    }),
    ("friend-same-person", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        let page = told.app.window().global::<FriendsAdapter<'_>>();
        page.invoke_open_friend("a".into());
        page.invoke_choose_twin("e".into());
    }),
    ("my-code", |stage, told| {
        befriended(told);
        told.app.go(Page::Friends);
        show_code(stage, told);
    }),
    ("add-friend", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        let page = told.app.window().global::<FriendsAdapter<'_>>();
        page.invoke_begin_adding();
        page.invoke_try_code(code("Anna", 9).text.into());
    }),
    ("account", |_, told| {
        told.say(account(control::AccountState::AccountSignedOut));
        told.app.go(Page::Friends);
        told.app.ask(Dialog::Account);
    }),
    ("account-online", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        told.app.ask(Dialog::Account);
    }),
    ("account-wrong", |_, told| {
        told.say(account(control::AccountState::AccountWrongPassword));
        told.app.go(Page::Friends);
        told.app.ask(Dialog::Account);
    }),
    ("contact", |_, told| {
        befriended(told);
        told.app.go(Page::Friends);
        told.app.window().global::<FriendsAdapter<'_>>().invoke_open_contact("ben@example.org".into());
    }),
    ("nearby-lan", |_, told| {
        told.say(radio(control::RadioState::RadioOff));
        told.say(event::Body::Radio(control::Radio {
            carrier: control::Carrier::Lan.into(),
            state: control::RadioState::RadioReady.into(),
            ..Default::default()
        }));
        told.say(event::Body::Nearby(control::Nearby {
            id: "l".into(),
            name: "书房".into(),
            carrier: control::Carrier::Lan.into(),
            busy: true,
            ..Default::default()
        }));
        told.app.go(Page::Nearby);
    }),
    ("neighbour", |_, told| {
        friends_near(told);
        told.app.go(Page::Nearby);
        told.app.window().global::<NearbyAdapter<'_>>().invoke_open("b".into());
    }),
    ("invitation-go", |_, told| {
        told.say(near("a", "Librem 5", true, -48));
        told.say(event::Body::Invitation(invitation("")));
    }),
    ("invitation-decline", |_, told| {
        told.say(event::Body::Invitation(invitation("")));
        told.app.ask(Dialog::Decline);
    }),
    ("invitation-rules", |_, told| {
        told.say(event::Body::Invitation(invitation("")));
        told.app.ask(Dialog::Rules);
    }),
    ("invitation-counter", |stage, told| {
        told.say(event::Body::Invitation(invitation("")));
        told.answer(stage);
        told.app.window().global::<InvitationAdapter<'_>>().invoke_counter();
    }),
    ("new-game-pace", |stage, told| {
        told.app.new_game(Game::Gomoku);
        told.answer(stage);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_pace(2);
        told.app.ask(Dialog::Pace);
    }),
    ("board-analysis", |stage, told| open(stage, told, looked_through())),
    ("race", |stage, told| open(stage, told, race(false))),
    ("race-over", |stage, told| {
        let mut room = race(true);
        room.race = room.race.map(|race| control::Race { i_finished: true, my_clock_runs: false, ..race });
        room.result =
            Some(board::Result { winner: Side::First.into(), ending: board::Ending::Faster.into() });
        (room.can_act, room.can_resign) = (false, false);
        open(stage, told, room);
    }),
    ("new-game-race", |_, told| {
        told.app.prefer_opponent(Game::LightsOut, qiyou::LastOpponent::Peer);
        told.app.new_game(Game::LightsOut);
    }),
    ("new-game-own-pace", |stage, told| {
        told.app.new_game(Game::Go);
        told.answer(stage);
        let page = told.app.window().global::<NewGameAdapter<'_>>();
        page.invoke_set_own_pace(0, 2);
        told.app.ask(Dialog::OwnPace);
    }),
    ("home-gift", |_, told| {
        told.say(event::Body::Gift(gift()));
    }),
    ("replay-give", |stage, told| {
        told.say(event::Body::Friend(control::Friend {
            id: "a".into(),
            name: "Librem 5".into(),
            near: true,
            ..Default::default()
        }));
        super::look_through(stage, told, false);
        told.app.ask(Dialog::Give);
    }),
    ("settings-save-all", |stage, told| {
        told.app.go(Page::Settings);
        told.answer(stage);
        told.app.ask(Dialog::SaveAll);
    }),
    ("settings-take-all", |stage, told| {
        told.app.go(Page::Settings);
        told.answer(stage);
        told.app.ask(Dialog::TakeAll);
        told.app.window().global::<qiyou::screens::BackupAdapter<'_>>().invoke_take("wrong".into());
        for request in told.answer(stage) {
            if matches!(body(&request), request::Body::RestoreBackup(_)) {
                let reason = control::Words {
                    zh: "口令不对。什么都没有改动。".into(),
                    en: "Wrong passphrase. Nothing was changed.".into(),
                };
                let refusal = control::Refusal { reason: Some(reason), ..Default::default() };
                told.reply(request.id, reply::Body::Refusal(refusal));
            }
        }
    }),
    ("settings-taken-all", |stage, told| {
        told.app.go(Page::Settings);
        told.answer(stage);
        told.app.window().global::<qiyou::screens::BackupAdapter<'_>>().invoke_take("right".into());
        for request in told.answer(stage) {
            if matches!(body(&request), request::Body::RestoreBackup(_)) {
                let taken = control::Taken { matches: 41, friends: 3, name: "Steam Deck".into() };
                told.reply(request.id, reply::Body::Taken(taken));
            }
        }
    }),
    ("board-hint", |stage, told| {
        open(stage, told, games::against_the_device(&hinted(), engine::Side::First));
        told.answer(stage);
        told.app.window().global::<qiyou::screens::BoardAdapter<'_>>().invoke_hint();
        for request in told.answer(stage) {
            if matches!(body(&request), request::Body::Hint(_)) {
                told.reply(request.id, reply::Body::Hint(advice(&hinted())));
            }
        }
    }),
    ("saves-damaged", |_, told| {
        told.say(event::Body::Notice(control::Notice {
            kind: control::NoticeKind::NoticeSavesSetAside.into(),
            detail: "/home/deck/.local/share/qiyou/matches.sqlite.damaged-1".into(),
            ..Default::default()
        }));
    }),
    ("settings-carriers", |stage, told| {
        told.say(radio(control::RadioState::RadioReady));
        told.say(event::Body::Radio(control::Radio {
            carrier: control::Carrier::Lan.into(),
            state: control::RadioState::RadioReady.into(),
            unused: true,
            ..Default::default()
        }));
        told.app.go(Page::Settings);
        told.app.window().global::<SettingsAdapter<'_>>().set_found_when_closed(true);
        let adapter = |name: &str, in_use: bool| control::Adapter {
            name: name.into(),
            address: "00:AA:01:00:00:42".into(),
            powered: true,
            here: true,
            in_use,
            ..Default::default()
        };
        for request in told.answer(stage) {
            if matches!(body(&request), request::Body::ListAdapters(_)) {
                let adapters = vec![adapter("hci0", true), adapter("hci1", false)];
                told.reply(request.id, reply::Body::Adapters(control::Adapters { adapters }));
            }
        }
    }),
];

/// Stories about who disturbs, and who is out of reach.
pub(crate) const DISTURBANCES: [(&str, Tell); 5] = [
    ("settings-without-daemon", |_stage, told| {
        let visibility = control::Visibility::Friends.into();
        told.say(event::Body::Me(control::Me { ends_with_app: true, visibility, ..Default::default() }));
        told.app.go(Page::Settings);
    }),
    ("settings-quiet-hours", |_stage, told| {
        let night = control::QuietHours { from_minute: 22 * 60, until_minute: 8 * 60 };
        told.say(event::Body::Me(control::Me {
            name: "Steam Deck".into(),
            quiet_hours: Some(night),
            ..Default::default()
        }));
        told.app.go(Page::Settings);
    }),
    ("nearby-strangers", |_stage, told| {
        told.say(radio(control::RadioState::RadioReady));
        for (id, name) in [("a", ""), ("b", "Pocket")] {
            let (id, name) = (id.into(), name.into());
            told.say(event::Body::Stranger(control::Stranger { id, name, ..Default::default() }));
        }
        told.app.go(Page::Nearby);
    }),
    ("friends-unreached", |_stage, told| {
        use control::Unreached::{Left, NoCarrier, NotFound, NotHeard};
        for (id, why) in
            [("Librem 5", NotHeard), ("OneXPlayer", Left), ("Pocket", NotFound), ("ROG", NoCarrier)]
        {
            told.say(event::Body::Friend(control::Friend { unreached: why.into(), ..friend(id, id) }));
        }
        told.app.go(Page::Friends);
    }),
    ("nearby-address", |stage, told| {
        told.say(radio(control::RadioState::RadioReady));
        told.say(event::Body::Radio(control::Radio {
            carrier: control::Carrier::Lan.into(),
            state: control::RadioState::RadioReady.into(),
            ..Default::default()
        }));
        told.app.go(Page::Nearby);
        told.app.window().global::<AddressAdapter<'_>>().invoke_open();
        tell_own_address(stage, told);
    }),
];

/// Answers the question for this device's addresses, like a host.
pub(crate) fn tell_own_address(stage: &Stage, told: &mut Told) {
    stage.pass(Duration::ZERO);
    for request in told.asked() {
        if matches!(body(&request), request::Body::ShowPlaces(_)) {
            let addresses = vec!["192.168.1.5:47415".into()];
            told.reply(request.id, reply::Body::Places(control::Places { addresses }));
        }
    }
}
