//! Club evenings.

use std::time::Duration;

use proto::board::{self, GomokuRule};
use proto::control::{self, Club, ClubGame, ClubPlayer, ClubResult, ClubState, ClubWay, club_player, event};
use qiyou::screens::{ClubAdapter, Dialog, Page};
use slint::ComponentHandle;

use super::people::friend;
use super::{Tell, Told, friends_near, gomoku};

fn players() -> Vec<ClubPlayer> {
    let player =
        |id, who, name: &str| ClubPlayer { id, who: Some(who), name: name.into(), ..Default::default() };
    vec![
        player(1, club_player::Who::Here(true), "Steam Deck"),
        player(2, club_player::Who::Friend("a".into()), "Librem 5"),
        player(3, club_player::Who::Guest(true), "Ben"),
        player(4, club_player::Who::Nobody(true), "小明"),
        player(5, club_player::Who::Nobody(true), "Carla"),
    ]
}

/// An evening whose list is open.
pub(crate) fn gathering() -> Club {
    Club {
        id: "3".into(),
        name: "Friday".into(),
        setup: Some(gomoku(GomokuRule::Freestyle)),
        players: players(),
        ..Club::default()
    }
}

pub(crate) fn pairing(board: u32, (first, second): (u32, u32), result: ClubResult, way: ClubWay) -> ClubGame {
    let begun = result != ClubResult::Unspecified;
    ClubGame { board, first, second, result: result.into(), begun, way: way.into(), ..Default::default() }
}

/// An evening in its second of five rounds.
pub(crate) fn running() -> Club {
    let open = ClubResult::Unspecified;
    let round = |round, games: [ClubGame; 2], free| control::ClubRound {
        round,
        games: games.to_vec(),
        free: vec![free],
    };
    let row = |player, place, half_points, sonneborn_berger, cross: &str| control::ClubStanding {
        player,
        place,
        half_points,
        sonneborn_berger,
        wins: half_points / 2,
        played: 1,
        cross: cross.split(' ').map(|sign| if sign == "x" { String::new() } else { sign.into() }).collect(),
        ..Default::default()
    };
    Club {
        state: ClubState::ClubRunning.into(),
        rounds: vec![
            round(
                1,
                [
                    pairing(1, (2, 5), ClubResult::ClubFirstWins, ClubWay::None),
                    pairing(2, (3, 4), ClubResult::ClubDraw, ClubWay::None),
                ],
                1,
            ),
            round(
                2,
                [pairing(1, (5, 3), open, ClubWay::Elsewhere), pairing(2, (1, 2), open, ClubWay::Invite)],
                4,
            ),
            round(
                3,
                [pairing(1, (3, 1), open, ClubWay::Here), pairing(2, (4, 5), open, ClubWay::Elsewhere)],
                2,
            ),
            round(
                4,
                [pairing(1, (1, 4), open, ClubWay::Here), pairing(2, (2, 3), open, ClubWay::Elsewhere)],
                5,
            ),
            round(
                5,
                [pairing(1, (4, 2), open, ClubWay::Elsewhere), pairing(2, (5, 1), open, ClubWay::Here)],
                3,
            ),
        ],
        round: 2,
        standings: vec![
            row(2, 1, 2, 0, ". x . . 1"),
            row(3, 2, 1, 1, ". . x ½ ."),
            row(4, 2, 1, 1, ". . ½ x ."),
            row(1, 4, 0, 0, "x . . . ."),
            row(5, 4, 0, 0, ". 0 . . x"),
        ],
        next: vec![control::ClubNext {
            player: 1,
            round: 2,
            board: 2,
            opponent: 2,
            side: board::Side::First.into(),
        }],
        ..gathering()
    }
}

/// The same on the list of the friend: of its pairings only the one against the friend can be begun.
pub(crate) fn of_friend() -> Club {
    let mut club = Club { keeper: "a".into(), id: "2147483649".into(), ..running() };
    for game in club.rounds.iter_mut().flat_map(|round| &mut round.games) {
        if game.way() != ClubWay::Invite {
            game.set_way(ClubWay::None);
        }
    }
    club
}

/// Tells the app of this evening, and opens its page.
pub(crate) fn show(stage: &qiyou::headless::Stage, told: &Told, club: Club) {
    told.say(event::Body::Club(club));
    stage.pass(Duration::ZERO);
    told.app.go(Page::Club);
}

/// Opens a dialog on the page of this evening.
fn ask(stage: &qiyou::headless::Stage, told: &Told, club: Club, dialog: Dialog) {
    show(stage, told, club);
    told.app.ask(dialog);
}

/// The stories.
pub(super) const CLUB: [(&str, Tell); 12] = [
    ("club", |stage, told| show(stage, told, running())),
    ("club-gathering", |stage, told| show(stage, told, gathering())),
    ("club-new", |_, told| told.app.go(Page::Club)),
    ("club-result", |stage, told| {
        show(stage, told, running());
        told.app.window().global::<ClubAdapter<'_>>().invoke_enter(2);
    }),
    ("club-add", |stage, told| {
        ask(stage, told, Club { players: players().split_off(2), ..gathering() }, Dialog::ClubAdd);
    }),
    ("club-start", |stage, told| ask(stage, told, gathering(), Dialog::ClubStart)),
    ("club-leave", |stage, told| ask(stage, told, running(), Dialog::ClubLeave)),
    ("club-leaver", |stage, told| {
        show(stage, told, running());
        told.app.window().global::<ClubAdapter<'_>>().invoke_remove(5);
    }),
    ("club-finish", |stage, told| ask(stage, told, running(), Dialog::ClubFinish)),
    ("club-discard", |stage, told| ask(stage, told, running(), Dialog::ClubDiscard)),
    ("club-home", |stage, told| {
        friends_near(told);
        told.say(event::Body::Club(running()));
        stage.pass(Duration::ZERO);
    }),
    ("club-friend", |stage, told| {
        told.say(event::Body::Friend(friend("a", "Librem 5")));
        show(stage, told, of_friend());
    }),
];
