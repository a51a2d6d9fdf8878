//! The club evening: the way to it, its list, its rounds and results, its standings. The test plays the host.

use std::time::Duration;

use i_slint_backend_testing::{AccessibleRole, ElementQuery};
use proto::board::Game;
use proto::control::{
    self, Club, ClubBoard, ClubPlayer, ClubRequest, ClubResult, ClubState, ClubVerdict, ClubWay, club_player,
    club_request::Deed, event, reply, request,
};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Page, Remark};

use crate::support::club::{gathering, of_friend, pairing, running, show};
use crate::support::people::friend;
use crate::support::{Told, body, guest, here, room, show_guest_code, with_guest};
use crate::touches::{dialog, names, page, remark, says, tap};

/// So tall that nothing has to be scrolled to.
const TALL: (u32, u32, f32) = (720, 6_000, 2.0);

fn started(stage: &Stage) -> Told {
    let mut told = Told::new(stage, TALL);
    told.prefer(false, false, 0);
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

/// The page of this evening.
fn at(stage: &Stage, club: Club) -> Told {
    let mut told = started(stage);
    show(stage, &told, club);
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

fn hear(stage: &Stage, told: &mut Told, body: event::Body) {
    told.say(body);
    told.answer(stage);
    stage.settle(&told.scene);
}

/// The only request about an evening since the last call: its id, the evening's, and what is asked.
fn asked(stage: &Stage, told: &mut Told) -> (u64, String, Deed) {
    let all = told.answer(stage);
    let mut clubs = all.iter().filter_map(|one| match body(one) {
        request::Body::Club(ClubRequest { club_id, deed: Some(deed) }) => {
            Some((one.id, club_id.clone(), deed.clone()))
        }
        _ => None,
    });
    let first = clubs.next().unwrap_or_else(|| panic!("nothing about an evening: {all:?}"));
    assert!(clubs.next().is_none(), "{all:?}");
    first
}

/// What is asked of the evening of the stories.
fn deed(stage: &Stage, told: &mut Told) -> Deed {
    let (_, club, deed) = asked(stage, told);
    assert_eq!(club, "3");
    deed
}

fn nothing_asked(stage: &Stage, told: &mut Told) {
    let all = told.answer(stage);
    assert!(!all.iter().any(|one| matches!(body(one), request::Body::Club(_))), "{all:?}");
}

fn refusal(en: &str) -> reply::Body {
    reply::Body::Refusal(control::Refusal {
        code: control::RefusalCode::RefusalBadRequest.into(),
        reason: Some(control::Words { zh: "不行".into(), en: en.into() }),
        ..Default::default()
    })
}

/// Taps the first field of the page or dialog, and types these words.
pub(crate) fn type_in(stage: &Stage, told: &Told, words: &str) {
    let fields = ElementQuery::from_root(told.app.window()).match_accessible_role(AccessibleRole::TextInput);
    let field = fields.find_first().expect("a field");
    let (at, size) = (field.absolute_position(), field.size());
    told.scene.tap(at.x + size.width / 2.0, at.y + size.height / 2.0);
    for letter in words.chars() {
        told.scene.key(letter);
    }
    stage.settle(&told.scene);
}

fn typed(told: &Told) -> String {
    let fields = ElementQuery::from_root(told.app.window()).match_accessible_role(AccessibleRole::TextInput);
    let field = fields.find_first().expect("a field");
    field.accessible_value().unwrap_or_default().to_string()
}

#[test]
fn the_page_about_people_nearby_leads_to_a_new_evening_of_the_game_that_is_chosen_there() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Nearby);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Club evening");
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Club);
    tap(&stage, &told, "Change");
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::NewGame);
    tap(&stage, &told, "Choose for the club evening");
    assert_eq!(page(&told), Page::Club);
    nothing_asked(&stage, &mut told);
    type_in(&stage, &told, "Friday");
    tap(&stage, &told, "Each plays each twice");
    tap(&stage, &told, "Begin the list");
    let (id, club, Deed::Open(open)) = asked(&stage, &mut told) else { panic!("an evening is opened") };
    let choice = open.choice.expect("a choice");
    assert_eq!(
        (club.as_str(), open.name.as_str(), choice.game(), open.twice),
        ("", "Friday", Game::Gomoku, true)
    );
    told.reply(id, reply::Body::ClubId("3".into()));
    hear(&stage, &mut told, event::Body::Club(gathering()));
    assert!(says(&told, "5 players on the list"), "{:?}", names(&told));
}

#[test]
fn an_evening_without_a_name_is_called_a_club_evening_and_a_refusal_is_shown_in_its_own_words() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Club);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Begin the list");
    let (id, _, Deed::Open(open)) = asked(&stage, &mut told) else { panic!("an evening is opened") };
    assert_eq!((open.name.as_str(), open.twice), ("Club evening", false));
    told.reply(id, refusal("Another evening is open."));
    stage.settle(&told.scene);
    assert_eq!(remark(&told), Remark::Told);
    assert!(says(&told, "Another evening is open."));
}

#[test]
fn the_list_takes_the_person_here_a_friend_a_guest_and_somebody_without_a_device() {
    let stage = Stage::new();
    let club = Club { players: gathering().players.split_off(3), ..gathering() };
    let mut told = at(&stage, club);
    hear(&stage, &mut told, event::Body::Friend(friend("a", "Librem 5")));
    tap(&stage, &told, "Add somebody");
    assert_eq!(dialog(&told), Dialog::ClubAdd);
    let player =
        |who, name: &str| Deed::Add(ClubPlayer { who: Some(who), name: name.into(), ..Default::default() });
    tap(&stage, &told, "Add me");
    assert_eq!(deed(&stage, &mut told), player(club_player::Who::Here(true), ""));
    tap(&stage, &told, "Add Librem 5");
    assert_eq!(deed(&stage, &mut told), player(club_player::Who::Friend("a".into()), ""));

    // Nobody is added without a name; one that is taken stays to be corrected.
    tap(&stage, &told, "Add, without a device");
    nothing_asked(&stage, &mut told);
    type_in(&stage, &told, "Ben");
    tap(&stage, &told, "Add, with a phone's browser");
    let (id, _, add) = asked(&stage, &mut told);
    assert_eq!(add, player(club_player::Who::Guest(true), "Ben"));
    told.reply(id, refusal("Another player has this name."));
    stage.settle(&told.scene);
    assert!(says(&told, "Another player has this name."), "{:?}", names(&told));
    assert_eq!((dialog(&told), typed(&told).as_str()), (Dialog::ClubAdd, "Ben"));
    type_in(&stage, &told, "no");
    tap(&stage, &told, "Add, without a device");
    let (id, _, add) = asked(&stage, &mut told);
    assert_eq!(add, player(club_player::Who::Nobody(true), "Benno"));
    told.reply(id, reply::Body::Done(control::Done {}));
    hear(&stage, &mut told, event::Body::Club(gathering()));
    assert_eq!(typed(&told), "", "the next name is typed");
    assert!(!says(&told, "Another player has this name."));
    assert!(!says(&told, "Add me") && !says(&told, "Add Librem 5"), "they are on the list");
    tap(&stage, &told, "Close");
    tap(&stage, &told, "Remove 小明");
    assert_eq!(deed(&stage, &mut told), Deed::Remove(4));
}

#[test]
fn the_start_is_asked_about_and_the_order_is_chosen_with_it() {
    let stage = Stage::new();
    for (button, lots) in [("Random order", true), ("As on the list", false)] {
        let mut told = at(&stage, gathering());
        tap(&stage, &told, "Start the evening");
        assert_eq!(dialog(&told), Dialog::ClubStart);
        nothing_asked(&stage, &mut told);
        tap(&stage, &told, button);
        assert_eq!(dialog(&told), Dialog::None);
        assert_eq!(deed(&stage, &mut told), Deed::Start(control::StartClub { lots }));
    }
}

#[test]
fn a_pairing_of_a_friend_is_an_invitation_and_one_elsewhere_is_only_marked() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    tap(&stage, &told, "Invite: Steam Deck – Librem 5");
    let (id, _, begin) = asked(&stage, &mut told);
    assert_eq!(begin, Deed::Begin(ClubBoard { round: 2, board: 2 }));
    told.reply(id, reply::Body::InviteId("invite".into()));
    let invitation = control::Invitation { invite_id: "invite".into(), mine: true, ..Default::default() };
    hear(&stage, &mut told, event::Body::Invitation(invitation));
    assert_eq!(dialog(&told), Dialog::Waiting);
    let gone = control::InvitationGone {
        invite_id: "invite".into(),
        end: control::InvitationEnd::InvitationDeclined.into(),
        ..Default::default()
    };
    hear(&stage, &mut told, event::Body::InvitationGone(gone));
    assert_eq!((page(&told), dialog(&told)), (Page::Club, Dialog::None));

    tap(&stage, &told, "They play: Carla – Ben");
    assert_eq!(deed(&stage, &mut told), Deed::Begin(ClubBoard { round: 2, board: 1 }));
    let mut club = running();
    club.rounds[1].games[0].begun = true;
    hear(&stage, &mut told, event::Body::Club(club));
    assert!(says(&told, "being played") && !says(&told, "They play: Carla – Ben"));
    assert!(says(&told, "Result: Carla – Ben"));
}

#[test]
fn a_pairing_at_this_device_opens_its_board_and_a_guest_is_given_the_code() {
    let stage = Stage::new();
    let mut club = running();
    club.round = 3;
    let mut told = at(&stage, club.clone());
    tap(&stage, &told, "Play here: Ben – Steam Deck");
    let (id, _, begin) = asked(&stage, &mut told);
    assert_eq!(begin, Deed::Begin(ClubBoard { round: 3, board: 1 }));
    told.say(event::Body::Room(with_guest("")));
    told.reply(id, reply::Body::RoomId("room".into()));
    stage.settle(&told.scene);
    let code = show_guest_code(&mut told);
    assert_eq!((code.room_id.as_str(), code.watch), ("room", false));
    hear(&stage, &mut told, event::Body::Guest(guest("", false)));
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::GuestCode));

    // Back leads to the evening's page, and the game goes on; there the button leads to its board, without another request.
    club.rounds[2].games[0].room_id = "room".into();
    hear(&stage, &mut told, event::Body::Club(club.clone()));
    hear(&stage, &mut told, event::Body::Room(with_guest("Ben")));
    hear(&stage, &mut told, event::Body::Guest(guest("Ben", true)));
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
    tap(&stage, &told, "Back");
    assert_eq!((page(&told), dialog(&told)), (Page::Club, Dialog::None));
    let asked = told.answer(&stage);
    assert!(!asked.iter().any(|one| matches!(body(one), request::Body::CloseRoom(_))), "{asked:?}");
    assert!(says(&told, "Result: Ben – Steam Deck"), "results can be entered meanwhile");
    tap(&stage, &told, "To the board: Ben – Steam Deck");
    nothing_asked(&stage, &mut told);
    assert_eq!(page(&told), Page::Board);

    // After its end the evening shows the round that is due.
    let result = Some(proto::board::Result::default());
    hear(&stage, &mut told, event::Body::Room(control::Room { result, ..with_guest("Ben") }));
    club.rounds[2].games[0].result = ClubResult::ClubFirstWins.into();
    hear(&stage, &mut told, event::Body::Club(club));
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Club);
    let asked = told.answer(&stage);
    assert!(asked.iter().any(|one| matches!(body(one), request::Body::CloseRoom(_))), "{asked:?}");
}

#[test]
fn the_evening_is_shown_to_everyone_by_a_code_of_its_own() {
    let stage = Stage::new();
    for club in [gathering(), running()] {
        let mut told = at(&stage, club);
        told.asked();
        tap(&stage, &told, "Show the evening to everyone");
        let show = show_guest_code(&mut told);
        assert_eq!((show.club_id.as_str(), show.room_id.as_str(), show.renew), ("3", "", false));
        let looking = |watchers| {
            event::Body::Guest(control::Guest { club_id: "3".into(), watchers, ..Default::default() })
        };
        hear(&stage, &mut told, looking(0));
        assert_eq!((page(&told), dialog(&told)), (Page::Club, Dialog::GuestCode));
        assert!(says(&told, "Scan to see the evening") && says(&told, "Nobody is looking yet."));
        hear(&stage, &mut told, looking(12));
        assert!(says(&told, "12 people are looking."));
        // A guest who sits down meanwhile does not close it.
        hear(&stage, &mut told, event::Body::Guest(guest("Ben", true)));
        assert_eq!(dialog(&told), Dialog::GuestCode);
        tap(&stage, &told, "New code");
        let new = show_guest_code(&mut told);
        assert_eq!((new.club_id.as_str(), new.renew), ("3", true));
        stage.settle(&told.scene);
        tap(&stage, &told, "Stop showing the evening");
        let close = control::CloseGuestCode { club_id: "3".into(), watch: true, ..Default::default() };
        let asked = told.asked();
        assert!(
            asked.iter().any(|one| *body(one) == request::Body::CloseGuestCode(close.clone())),
            "{asked:?}"
        );
        assert_eq!(dialog(&told), Dialog::None);
    }
}

#[test]
fn the_code_of_an_evening_leaves_the_screen_with_the_evening_and_no_room_follows_it() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    tap(&stage, &told, "Show the evening to everyone");
    show_guest_code(&mut told);
    hear(&stage, &mut told, event::Body::Guest(control::Guest { club_id: "3".into(), ..Default::default() }));
    assert_eq!(dialog(&told), Dialog::GuestCode);
    let gone = control::GuestGone { club_id: "3".into(), ..Default::default() };
    hear(&stage, &mut told, event::Body::GuestGone(gone));
    assert_eq!(dialog(&told), Dialog::None);
    told.say(event::Body::Room(with_guest("Ben")));
    stage.settle(&told.scene);
    let asked = told.answer(&stage);
    assert!(!asked.iter().any(|one| matches!(body(one), request::Body::ShowGuestCode(_))), "{asked:?}");
}

#[test]
fn only_an_evening_of_this_device_that_is_not_over_is_shown_to_everyone() {
    let stage = Stage::new();
    let finished = Club { state: ClubState::ClubFinished.into(), ..running() };
    for club in [of_friend(), finished] {
        let told = at(&stage, club);
        assert!(!says(&told, "Show the evening to everyone"), "{:?}", names(&told));
    }
    let mut told = at(&stage, running());
    assert!(says(&told, "Show the evening to everyone"));
    hear(&stage, &mut told, event::Body::Me(control::Me::default()));
    assert!(!says(&told, "Show the evening to everyone"), "there are no guests on this device");
}

#[test]
fn without_a_guest_no_code_is_asked_for() {
    let stage = Stage::new();
    let mut club = running();
    club.round = 4;
    let mut told = at(&stage, club);
    tap(&stage, &told, "Play here: Steam Deck – 小明");
    let (id, ..) = asked(&stage, &mut told);
    told.say(event::Body::Room(room(
        here(),
        here(),
        &[proto::board::Side::First, proto::board::Side::Second],
    )));
    told.reply(id, reply::Body::RoomId("room".into()));
    let then = told.answer(&stage);
    assert!(!then.iter().any(|one| matches!(body(one), request::Body::ShowGuestCode(_))), "{then:?}");
    assert_eq!(page(&told), Page::Board);
}

#[test]
fn a_result_is_entered_corrected_and_removed_by_hand() {
    let stage = Stage::new();
    let verdict =
        |round, result: ClubResult| Deed::Result(ClubVerdict { round, board: 1, result: result.into() });
    for (button, result) in [
        ("1 : 0, Carla wins", ClubResult::ClubFirstWins),
        ("0 : 1, Ben wins", ClubResult::ClubSecondWins),
        ("A draw", ClubResult::ClubDraw),
        ("Not played", ClubResult::ClubNotPlayed),
    ] {
        let mut told = at(&stage, running());
        tap(&stage, &told, "Result: Carla – Ben");
        assert_eq!(dialog(&told), Dialog::ClubResult);
        assert!(!says(&told, "Remove the result"), "there is none");
        tap(&stage, &told, button);
        assert_eq!(dialog(&told), Dialog::None);
        assert_eq!(deed(&stage, &mut told), verdict(2, result));
    }
    let mut told = at(&stage, running());
    tap(&stage, &told, "Round before");
    tap(&stage, &told, "Correct it: Librem 5 – Carla");
    tap(&stage, &told, "0 : 1, Carla wins");
    let (id, _, corrected) = asked(&stage, &mut told);
    assert_eq!(corrected, verdict(1, ClubResult::ClubSecondWins));
    told.reply(id, refusal("This evening is finished."));
    stage.settle(&told.scene);
    assert!(says(&told, "This evening is finished."));
    tap(&stage, &told, "Correct it: Librem 5 – Carla");
    tap(&stage, &told, "Remove the result");
    assert_eq!(deed(&stage, &mut told), verdict(1, ClubResult::Unspecified));
}

#[test]
fn the_round_that_is_played_is_shown_first_and_every_other_can_be_turned_to() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    assert!(says(&told, "Round 2 of 5") && says(&told, "No game in this round: 小明"));
    let mut club = running();
    for game in &mut club.rounds[1].games {
        *game = pairing(game.board, (game.first, game.second), ClubResult::ClubDraw, ClubWay::None);
    }
    club.round = 3;
    hear(&stage, &mut told, event::Body::Club(club.clone()));
    assert!(says(&told, "Round 3 of 5") && says(&told, "Ben – Steam Deck"));
    for _ in 0..2 {
        tap(&stage, &told, "Round after");
    }
    assert!(says(&told, "Round 5 of 5") && says(&told, "小明 – Librem 5"));
    // The person looks at a round: events do not turn it.
    hear(&stage, &mut told, event::Body::Club(club));
    assert!(says(&told, "Round 5 of 5"));
    for _ in 0..4 {
        tap(&stage, &told, "Round before");
    }
    assert!(says(&told, "Round 1 of 5") && says(&told, "½ : ½") && says(&told, "1 : 0"));
    nothing_asked(&stage, &mut told);
}

#[test]
fn standings_are_read_out_with_points_and_with_each_result_against_whom() {
    let stage = Stage::new();
    let told = at(&stage, running());
    let all = names(&told);
    let lines: Vec<&String> = all.iter().filter(|name| name.contains(": points ")).collect();
    assert_eq!(
        lines,
        [
            "1. Librem 5: points 1, Sonneborn-Berger 0",
            "2. Ben: points 0.5, Sonneborn-Berger 0.25",
            "2. 小明: points 0.5, Sonneborn-Berger 0.25",
            "4. Steam Deck: points 0, Sonneborn-Berger 0",
            "4. Carla: points 0, Sonneborn-Berger 0",
        ]
    );
    assert!(says(&told, "Ben: Steam Deck ., Librem 5 ., 小明 ½, Carla ."), "{all:?}");
    let mut club = running();
    club.standings[4].place = 0;
    told.say(event::Body::Club(club));
    stage.settle(&told.scene);
    assert!(says(&told, "Carla (has left): points 0, Sonneborn-Berger 0"), "{:?}", names(&told));
}

#[test]
fn after_the_start_who_comes_late_is_added_and_who_leaves_is_asked_about() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    tap(&stage, &told, "Somebody comes late");
    type_in(&stage, &told, "Dora");
    tap(&stage, &told, "Add, without a device");
    let (id, _, added) = asked(&stage, &mut told);
    assert!(matches!(added, Deed::Add(ClubPlayer { name, .. }) if name == "Dora"));
    told.reply(id, refusal("Too many rounds have begun."));
    stage.settle(&told.scene);
    assert!(says(&told, "Too many rounds have begun."));
    tap(&stage, &told, "Close");
    tap(&stage, &told, "Somebody leaves");
    tap(&stage, &told, "Carla");
    assert_eq!(dialog(&told), Dialog::ClubLeaver);
    nothing_asked(&stage, &mut told);
    tap(&stage, &told, "Yes, Carla leaves");
    assert_eq!(deed(&stage, &mut told), Deed::Remove(5));
}

#[test]
fn the_end_of_an_evening_and_its_deletion_are_confirmed_and_another_can_begin_afterwards() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    assert!(!says(&told, "New club evening"), "one at a time");
    tap(&stage, &told, "Finish the evening");
    nothing_asked(&stage, &mut told);
    tap(&stage, &told, "Finish");
    assert_eq!(deed(&stage, &mut told), Deed::Finish(true));
    let over = Club { state: ClubState::ClubFinished.into(), round: 0, next: Vec::new(), ..running() };
    hear(&stage, &mut told, event::Body::Club(over));
    assert!(says(&told, "Round 5 of 5") && says(&told, "Standings"));
    tap(&stage, &told, "New club evening");
    assert!(says(&told, "Begin the list") && says(&told, "Friday"), "the earlier one is there");
    tap(&stage, &told, "Friday");
    tap(&stage, &told, "Delete the evening");
    nothing_asked(&stage, &mut told);
    tap(&stage, &told, "Delete");
    assert_eq!(deed(&stage, &mut told), Deed::Discard(true));
    hear(&stage, &mut told, event::Body::ClubGone(control::Gone { id: "3".into() }));
    assert!(says(&told, "Begin the list") && !says(&told, "Friday"));
}

#[test]
fn the_first_page_says_whom_the_person_here_plays_next_and_leads_to_the_evening() {
    let stage = Stage::new();
    let mut told = started(&stage);
    assert!(!says(&told, "Friday"));
    hear(&stage, &mut told, event::Body::Club(running()));
    tap(&stage, &told, "Friday, Round 2: you play Librem 5");
    assert_eq!(page(&told), Page::Club);
    told.app.go(Page::Home);
    let watched = Club { next: Vec::new(), ..running() };
    hear(&stage, &mut told, event::Body::Club(watched));
    assert!(says(&told, "Friday") && !says(&told, "Friday, Round 2: you play Librem 5"));
    let over = Club { state: ClubState::ClubFinished.into(), ..running() };
    hear(&stage, &mut told, event::Body::Club(over));
    assert!(!says(&told, "Friday"));
}

#[test]
fn an_evening_on_a_friends_list_is_shown_and_only_the_own_pairing_can_be_begun() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    hear(&stage, &mut told, event::Body::ClubGone(control::Gone { id: "3".into() }));
    hear(&stage, &mut told, event::Body::Friend(friend("a", "Anna")));
    let mine =
        ["Result: Steam Deck – Librem 5", "Somebody comes late", "Finish the evening", "Delete the evening"];
    let foreign = of_friend();
    hear(&stage, &mut told, event::Body::Club(foreign.clone()));
    assert!(says(&told, "The list is on Anna's device.") && says(&told, "Standings"));
    assert!(mine.iter().all(|button| !says(&told, button)), "the list is Anna's to change");
    assert!(!says(&told, "They play: Carla – Ben"));
    tap(&stage, &told, "Invite: Steam Deck – Librem 5");
    let (_, club, begun) = asked(&stage, &mut told);
    assert_eq!((club, begun), (foreign.id.clone(), Deed::Begin(ClubBoard { round: 2, board: 2 })));
    // One's own comes first, and can begin beside it.
    tap(&stage, &told, "New club evening");
    assert!(says(&told, "Begin the list"));
    hear(&stage, &mut told, event::Body::Club(Club { name: "Monday".into(), ..running() }));
    told.app.go(Page::Home);
    stage.settle(&told.scene);
    tap(&stage, &told, "Monday, Round 2: you play Librem 5");
    assert!(mine.iter().all(|button| says(&told, button)), "{:?}", names(&told));
    let gathers = Club { keeper: "a".into(), id: foreign.id, ..gathering() };
    hear(&stage, &mut told, event::Body::Club(gathers));
    tap(&stage, &told, "Friday");
    assert!(says(&told, "5 players on the list"));
    assert!(!says(&told, "Add somebody") && !says(&told, "Start the evening") && !says(&told, "Remove Ben"));
}

#[test]
fn who_did_not_come_is_entered_as_a_forfeit() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    for (button, expected) in [
        ("+ : -, Librem 5 did not come", ClubResult::ClubSecondForfeits),
        ("- : +, Steam Deck did not come", ClubResult::ClubFirstForfeits),
    ] {
        tap(&stage, &told, "Result: Steam Deck – Librem 5");
        tap(&stage, &told, button);
        let result = expected.into();
        assert_eq!(deed(&stage, &mut told), Deed::Result(ClubVerdict { round: 2, board: 2, result }));
    }
}

#[test]
fn keys_alone_reach_a_pairing_and_enter_its_result() {
    let stage = Stage::new();
    let mut told = at(&stage, running());
    let is_open = |told: &Told| dialog(told) == Dialog::ClubResult;
    let mut steps = 0;
    while !is_open(&told) && steps < 40 {
        told.scene.key(slint::platform::Key::DownArrow);
        stage.pass(Duration::ZERO);
        steps += 1;
        // The fifth control: back, two rounds less one that ends, "They play", "Result".
        if steps == 5 {
            told.scene.key(slint::platform::Key::Return);
            stage.settle(&told.scene);
        }
    }
    assert!(is_open(&told), "{steps} steps");
    told.scene.key(slint::platform::Key::DownArrow);
    stage.settle(&told.scene);
    told.scene.key(slint::platform::Key::Return);
    stage.settle(&told.scene);
    let result = ClubResult::ClubFirstWins.into();
    assert_eq!(deed(&stage, &mut told), Deed::Result(ClubVerdict { round: 2, board: 1, result }));
}
