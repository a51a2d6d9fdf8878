//! A bot whose level follows the local player's strength from match to match.

use proto::control::{self, OfferKind, Room, Strength, reply, request, seat};
use tests::house::{Device, House};

/// Opens a match of the default game as the first side against a bot whose level adapts.
async fn open(anna: &mut Device) -> String {
    let bot =
        control::Seat { who: Some(seat::Who::BotLevel(7)), bot_adapts: true, ..control::Seat::default() };
    let open = control::OpenRoom { second: Some(bot), ..control::OpenRoom::default() };
    match anna.client.ask(request::Body::OpenRoom(open)).await {
        Ok(reply::Body::RoomId(id)) => id,
        other => panic!("no room: {other:?}"),
    }
}

/// The bot's level in tenths, and whether it adapts.
fn level(room: &Room) -> (u32, bool) {
    let seats = [room.first.as_ref(), room.second.as_ref()];
    let bot = seats.into_iter().flatten().find_map(|seat| match seat.who {
        Some(seat::Who::BotLevel(level)) => Some((10 * level + seat.bot_tenths, seat.bot_adapts)),
        _ => None,
    });
    bot.expect("a bot")
}

async fn strength(anna: &mut Device) -> Strength {
    let choice = Some(control::GameChoice { game: proto::board::Game::Gomoku.into(), ..Default::default() });
    match anna.client.ask(request::Body::Describe(control::Describe { choice, ..Default::default() })).await {
        Ok(reply::Body::Sheet(sheet)) => sheet.strength.expect("a game with levels"),
        other => panic!("no sheet: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_rematch_is_at_the_level_that_the_results_so_far_name() {
    let mut house = House::new(31);
    let mut anna = house.device("Anna").await;
    let mut id = open(&mut anna).await;
    assert_eq!(level(&anna.client.seen.rooms[&id]), (10, true), "who is new begins at the first level");
    let mut levels = Vec::new();
    for matches in 1..=3 {
        let draw = control::Offer { room_id: id.clone(), kind: OfferKind::OfferDraw.into() };
        let resigned = control::Resign { room_id: id.clone(), ..control::Resign::default() };
        // A draw with the first level gives a higher estimate than a loss.
        let drawn = matches == 1 && anna.client.ask(request::Body::Offer(draw)).await.is_ok();
        if !drawn {
            anna.client.done(request::Body::Resign(resigned)).await;
        }
        let room_id = id.clone();
        anna.client.until("the end", |seen| seen.rooms[&room_id].result.is_some()).await;
        let told = strength(&mut anna).await;
        assert_eq!((told.matches, told.history.len()), (matches, matches as usize));
        let achieved = anna.client.seen.rooms[&id].achieved.expect("one person here");
        assert_eq!(achieved.adapted_tenths, told.level_tenths);
        let again = control::Offer { room_id: id.clone(), kind: OfferKind::OfferNewGame.into() };
        id = match anna.client.ask(request::Body::Offer(again)).await {
            Ok(reply::Body::RoomId(id)) => id,
            other => panic!("no rematch: {other:?}"),
        };
        let new = id.clone();
        anna.client.until("the rematch", |seen| seen.rooms.contains_key(&new)).await;
        assert_eq!(level(&anna.client.seen.rooms[&id]), (told.level_tenths, true));
        levels.push(told);
    }
    assert!(
        levels[2].highest_tenths < levels[0].highest_tenths,
        "each result narrows what is known: {levels:?}"
    );

    let choice = Some(control::GameChoice { game: proto::board::Game::Gomoku.into(), ..Default::default() });
    anna.client.done(request::Body::ForgetStrength(control::ForgetStrength { choice })).await;
    assert_eq!(strength(&mut anna).await.matches, 0);
}
