//! Chooses the events that are worth a notification, and their text. Uses only what clients are sent.

use std::collections::{BTreeMap, BTreeSet};

use proto::control::{self, Language, NoticeKind, OfferKind, event, seat};

use session::wire;

use super::{Notification, Order, Subject, Urgency};
use crate::room::{PlayerId, parse_match_name};

/// Most offers of the other side that are told while no move is played: one may be made again on each new link.
const OFFERS_A_MOVE: u32 = 3;

/// Most times that records that differ are told while no move is played: a peer may agree and differ again without end.
const DIFFERENCES_A_MOVE: u32 = 3;

/// The last known state of each room with a peer, from which changes are detected.
#[derive(Default)]
pub(crate) struct News {
    rooms: BTreeMap<String, Known>,
    /// Ids of muted friends, whose offers and records that differ are not told.
    muted: BTreeSet<String>,
}

#[derive(Clone, Default, PartialEq)]
struct Known {
    name: String,
    plies: usize,
    my_turn: bool,
    offered: Option<i32>,
    /// Offers of the other side that were told since the last move.
    offers_told: u32,
    over: bool,
    differs: bool,
    /// How often it was told that the records differ, since the last move.
    differences_told: u32,
}

impl News {
    /// Notifications to show or withdraw because of this event, if nobody looks at a client.
    pub(crate) fn heard(&mut self, body: &event::Body, language: Language) -> Vec<Order> {
        use event::Body;
        let say = |zh: String, en: String| if language == Language::Chinese { zh } else { en };
        let show = |subject, urgency, summary, body| {
            vec![Order::Show(Notification { subject, summary, body, urgency })]
        };
        match body {
            Body::Invitation(one) if !one.mine => {
                let Some(id) = parse_match_name(&one.invite_id) else { return Vec::new() };
                let name = person(&one.name, language);
                let summary = say(format!("{name} 邀你下棋"), format!("{name} invites you"));
                let setup = wire::read_setup(one.setup.as_ref()).ok();
                let spoken = if language == Language::Chinese {
                    engine::Language::Chinese
                } else {
                    engine::Language::English
                };
                let game = setup.map_or("", |setup| setup.kind().names(spoken).game);
                show(Subject::Invitation(id), Urgency::Normal, summary, game.to_owned())
            }
            Body::InvitationGone(gone) => {
                withdraw(parse_match_name(&gone.invite_id).map(Subject::Invitation))
            }
            Body::Comparison(one) if !one.answered_here => {
                let Some(key) = PlayerId::parse(&one.peer) else { return Vec::new() };
                let name = person(&one.name, language);
                let summary =
                    say(format!("{name} 想加你为好友"), format!("{name} wants to add you as a friend"));
                let what = say(
                    "请核对两块屏幕上的图案和数字".into(),
                    "Compare the pictures and numbers on both screens".into(),
                );
                show(Subject::Comparison(key), Urgency::Normal, summary, what)
            }
            Body::Comparison(one) => withdraw(PlayerId::parse(&one.peer).map(Subject::Comparison)),
            Body::ComparisonGone(gone) => withdraw(PlayerId::parse(&gone.id).map(Subject::Comparison)),
            Body::Friend(friend) => {
                if friend.muted {
                    self.muted.insert(friend.id.clone());
                } else {
                    self.muted.remove(&friend.id);
                }
                Vec::new()
            }
            Body::FriendGone(gone) => {
                self.muted.remove(&gone.id);
                Vec::new()
            }
            Body::Room(room) if room.link.is_some() => self.room(room, language),
            Body::RoomGone(gone) => {
                self.rooms.remove(&gone.id);
                withdraw(parse_match_name(&gone.id).map(Subject::Match))
            }
            Body::Said(said) if !said.mine && !said.text.is_empty() => {
                let name = self.rooms.get(&said.room_id).map_or("", |known| &known.name);
                let name = person(name, language);
                match parse_match_name(&said.room_id) {
                    Some(id) => show(Subject::Match(id), Urgency::Normal, name.into(), said.text.clone()),
                    None => Vec::new(),
                }
            }
            Body::Notice(notice) => match notice.kind() {
                NoticeKind::NoticeDiskFull => show(
                    Subject::Device,
                    Urgency::Critical,
                    say("存储空间已满".into(), "Storage is full".into()),
                    say(
                        "棋局暂停。腾出空间后接着下，什么都不会丢。".into(),
                        "The game is paused until there is space. Nothing is lost.".into(),
                    ),
                ),
                NoticeKind::NoticeUpdateNeeded => show(
                    Subject::Device,
                    Urgency::Normal,
                    say("需要升级".into(), "Update needed".into()),
                    match notice.name.as_str() {
                        // A stranger whose frames are of another version has said no name.
                        "" => say(
                            "另一台设备上的「棋友」版本太旧，请对方升级".into(),
                            "Another device's Qiyou is too old: ask them to update it".into(),
                        ),
                        name => say(
                            format!("{name} 的「棋友」版本太旧，请对方升级"),
                            format!("The Qiyou of {name} is too old: ask them to update it"),
                        ),
                    },
                ),
                NoticeKind::NoticeUpdateHere => show(
                    Subject::Device,
                    Urgency::Normal,
                    say("需要升级".into(), "Update needed".into()),
                    match notice.name.as_str() {
                        "" => say(
                            "这台设备上的「棋友」版本太旧，没法和另一台设备下棋，请升级".into(),
                            "This Qiyou is too old to play with another device: update it".into(),
                        ),
                        name => say(
                            format!("这台设备上的「棋友」版本太旧，没法和 {name} 下棋，请升级"),
                            format!("This Qiyou is too old to play with {name}: update it"),
                        ),
                    },
                ),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn room(&mut self, room: &control::Room, language: Language) -> Vec<Order> {
        let Some(id) = parse_match_name(&room.id) else { return Vec::new() };
        let say = |zh: String, en: String| if language == Language::Chinese { zh } else { en };
        let seats = [room.first.as_ref(), room.second.as_ref()];
        let name = seats.into_iter().flatten().map(|seat| seat.name.clone()).find(|name| !name.is_empty());
        let is_muted = seats.into_iter().flatten().any(|seat| match &seat.who {
            Some(seat::Who::Peer(id)) => self.muted.contains(id),
            _ => false,
        });
        let mut now = Known {
            name: person(name.as_deref().unwrap_or_default(), language).to_owned(),
            plies: room.record.len(),
            my_turn: room.can_act,
            offered: room.offer.as_ref().filter(|offer| !offer.mine).map(|offer| offer.kind),
            offers_told: 0,
            over: room.result.is_some(),
            differs: room.differs,
            differences_told: 0,
        };
        let (name, offered) = (now.name.clone(), now.offered);
        let before = self.rooms.get(&room.id);
        if let Some(same) = before.filter(|before| before.plies == now.plies) {
            (now.offers_told, now.differences_told) = (same.offers_told, same.differences_told);
        }
        let is_new_offer = offered.is_some() && before.is_some_and(|before| before.offered != offered);
        let tells_offer = is_new_offer && !is_muted && now.offers_told < OFFERS_A_MOVE;
        now.offers_told += u32::from(tells_offer);
        let begins_to_differ = now.differs && before.is_some_and(|before| !before.differs);
        let tells_difference = begins_to_differ && !is_muted && now.differences_told < DIFFERENCES_A_MOVE;
        now.differences_told += u32::from(tells_difference);
        // The first event of a room has nothing to be compared with. A follow-up match is a new room.
        let Some(before) = self.rooms.insert(room.id.clone(), now.clone()) else { return Vec::new() };
        let (summary, body) = if tells_difference {
            let what = say(
                "两边的棋谱不一样，需要选一份".into(),
                "The two devices have different moves: choose one".into(),
            );
            (name, what)
        } else if now.over && !before.over {
            (name, say("这局棋结束了".into(), "The game is over".into()))
        } else if tells_offer {
            let what = match OfferKind::try_from(offered.unwrap_or_default()) {
                Ok(OfferKind::OfferTakeBack) => say("想悔棋".into(), "asks to undo a move".into()),
                Ok(OfferKind::OfferDraw) => say("提议和棋".into(), "offers a draw".into()),
                Ok(OfferKind::OfferNewGame | OfferKind::OfferNewGameSame) => {
                    say("想重新开一局".into(), "would like a new game".into())
                }
                Ok(OfferKind::OfferPause) => say("想暂停一下".into(), "would like a pause".into()),
                Ok(OfferKind::OfferContinue) => say("想接着下".into(), "would like to continue".into()),
                Ok(OfferKind::OfferAdjourn) => {
                    say("想改天再下".into(), "would like to finish another day".into())
                }
                _ => say("有一个提议".into(), "has a proposal".into()),
            };
            (name, what)
        } else if now.my_turn && now.plies > before.plies && !now.over {
            let last = room.record.last().cloned().unwrap_or_default();
            (name, say(format!("走了 {last}，轮到你了"), format!("played {last}: your turn")))
        } else {
            // The user has answered the offer, or has moved, on another client.
            let answered = before.offered.is_some() && offered.is_none() || before.my_turn && !now.my_turn;
            return if answered { withdraw(Some(Subject::Match(id))) } else { Vec::new() };
        };
        vec![Order::Show(Notification {
            subject: Subject::Match(id),
            summary,
            body,
            urgency: Urgency::Normal,
        })]
    }
}

/// What a person is called: a device need not have a name. In the words of the app.
fn person(name: &str, language: Language) -> &str {
    match (name, language) {
        ("", Language::Chinese) => "无名棋手",
        ("", _) => "Unnamed player",
        _ => name,
    }
}

fn withdraw(subject: Option<Subject>) -> Vec<Order> {
    subject.map(Order::Withdraw).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use session::MatchId;

    use super::*;

    const ID: MatchId = MatchId([7; 16]);

    fn room(plies: usize, my_turn: bool) -> control::Room {
        let seat = control::Seat { name: "Ben".into(), ..control::Seat::default() };
        control::Room {
            id: ID.to_string(),
            second: Some(seat),
            record: vec!["h8".into(); plies],
            can_act: my_turn,
            link: Some(control::LinkState::default()),
            ..control::Room::default()
        }
    }

    fn told(news: &mut News, room: &control::Room) -> Option<(String, String)> {
        match news.heard(&event::Body::Room(room.clone()), Language::English).pop()? {
            Order::Show(one) => Some((one.summary, one.body)),
            Order::Withdraw(_) | Order::WithdrawAll => None,
        }
    }

    #[test]
    fn who_has_no_name_is_called_something_in_both_languages() {
        let summary = |news: &mut News, body: &event::Body, language| match news.heard(body, language).pop() {
            Some(Order::Show(one)) => one.summary,
            _ => panic!("it is news: {body:?}"),
        };
        let invitation = control::Invitation { invite_id: ID.to_string(), ..control::Invitation::default() };
        let comparison =
            control::Comparison { peer: PlayerId([7; 32]).to_string(), ..control::Comparison::default() };
        let mut news = News::default();
        for (language, name) in [(Language::Chinese, "无名棋手"), (Language::English, "Unnamed player")] {
            for body in
                [event::Body::Invitation(invitation.clone()), event::Body::Comparison(comparison.clone())]
            {
                let said = summary(&mut news, &body, language);
                assert!(said.starts_with(name), "{said}");
            }
        }
        let nameless = |plies| control::Room { second: Some(control::Seat::default()), ..room(plies, true) };
        assert_eq!(told(&mut news, &nameless(0)), None);
        let said = told(&mut news, &nameless(2)).expect("the move is news");
        assert_eq!(said.0, "Unnamed player");
    }

    #[test]
    fn the_peers_move_is_news_and_the_own_is_none() {
        let mut news = News::default();
        assert_eq!(told(&mut news, &room(0, true)), None, "nothing happened yet");
        assert_eq!(told(&mut news, &room(1, false)), None, "an own move");
        let said = Some(("Ben".into(), "played h8: your turn".into()));
        assert_eq!(told(&mut news, &room(2, true)), said);
        assert_eq!(told(&mut news, &room(2, true)), None, "told once");
        let withdrawn = news.heard(&event::Body::Room(room(3, false)), Language::English);
        assert_eq!(withdrawn, [Order::Withdraw(Subject::Match(ID))]);
    }

    #[test]
    fn an_offer_an_end_and_records_that_differ_are_told_once() {
        let mut news = News::default();
        let mut now = room(4, false);
        assert_eq!(told(&mut news, &now), None);
        let offer = |mine| control::PendingOffer {
            kind: OfferKind::OfferDraw.into(),
            mine,
            ..control::PendingOffer::default()
        };
        now.offer = Some(offer(true));
        assert_eq!(told(&mut news, &now), None, "it is ours");
        now.offer = Some(offer(false));
        assert_eq!(told(&mut news, &now), Some(("Ben".into(), "offers a draw".into())));
        assert_eq!(told(&mut news, &now), None);
        (now.offer, now.differs) = (None, true);
        assert!(told(&mut news, &now).expect("told").1.contains("differ"));
        (now.differs, now.result) = (false, Some(proto::board::Result::default()));
        assert_eq!(told(&mut news, &now), Some(("Ben".into(), "The game is over".into())));
        assert_eq!(told(&mut news, &now), None);
    }

    #[test]
    fn offers_that_come_again_and_again_and_those_of_a_muted_friend_are_not_told() {
        let mut news = News::default();
        let offer = control::PendingOffer { kind: OfferKind::OfferDraw.into(), ..Default::default() };
        let anna = |plies| {
            let who = Some(seat::Who::Peer("anna".into()));
            control::Room {
                second: Some(control::Seat { who, name: "Anna".into(), ..Default::default() }),
                ..room(plies, false)
            }
        };
        let count = |news: &mut News, plies, times| {
            told(news, &anna(plies));
            let with_offer = control::Room { offer: Some(offer), ..anna(plies) };
            (0..times)
                .filter(|_| told(news, &with_offer).is_some() | told(news, &anna(plies)).is_some())
                .count()
        };
        assert_eq!(count(&mut news, 4, 100), 3, "by links that come and go");
        assert_eq!(count(&mut news, 6, 1), 1, "after a move again");
        let muted = |muted| control::Friend { id: "anna".into(), muted, ..Default::default() };
        news.heard(&event::Body::Friend(muted(true)), Language::English);
        assert_eq!(count(&mut news, 8, 2), 0);
        let moved = Some(("Anna".into(), "played h8: your turn".into()));
        assert_eq!(told(&mut news, &control::Room { can_act: true, ..anna(9) }), moved, "the match goes on");
        news.heard(&event::Body::Friend(muted(false)), Language::English);
        assert_eq!(count(&mut news, 10, 2), 2);
    }

    #[test]
    fn records_that_differ_again_and_again_and_those_of_a_muted_friend_are_not_told() {
        let mut news = News::default();
        let anna = |plies, differs| {
            let who = Some(seat::Who::Peer("anna".into()));
            let second = Some(control::Seat { who, name: "Anna".into(), ..Default::default() });
            control::Room { second, differs, ..room(plies, false) }
        };
        let count = |news: &mut News, plies| {
            told(news, &anna(plies, false));
            (0..100)
                .filter(|_| {
                    told(news, &anna(plies, true)).is_some() | told(news, &anna(plies, false)).is_some()
                })
                .count()
        };
        assert_eq!(count(&mut news, 4), 3, "by records and acknowledgements in turn");
        assert_eq!(count(&mut news, 6), 3, "after a move again");
        let muted = control::Friend { id: "anna".into(), muted: true, ..Default::default() };
        news.heard(&event::Body::Friend(muted), Language::English);
        assert_eq!(count(&mut news, 8), 0);
    }

    #[test]
    fn an_invitation_is_told_in_the_persons_language_until_it_is_over() {
        let mut news = News::default();
        let invitation = control::Invitation {
            invite_id: ID.to_string(),
            name: "小明".into(),
            setup: Some(wire::setup(&engine::GameKind::Gomoku.default_setup())),
            ..control::Invitation::default()
        };
        let orders = news.heard(&event::Body::Invitation(invitation.clone()), Language::Chinese);
        let [Order::Show(shown)] = orders.as_slice() else { panic!("{orders:?}") };
        assert_eq!((&*shown.summary, &*shown.body), ("小明 邀你下棋", "五子棋"));
        assert_eq!(shown.urgency, Urgency::Normal, "a peer causes nothing that stays on the screen");
        let mine = control::Invitation { mine: true, ..invitation };
        assert!(news.heard(&event::Body::Invitation(mine), Language::Chinese).is_empty());
        let gone =
            control::InvitationGone { invite_id: ID.to_string(), ..control::InvitationGone::default() };
        let orders = news.heard(&event::Body::InvitationGone(gone), Language::Chinese);
        assert_eq!(orders, [Order::Withdraw(Subject::Invitation(ID))]);
    }

    #[test]
    fn an_update_is_asked_for_by_name_where_one_is_known() {
        let mut news = News::default();
        let mut says = |kind: NoticeKind, name: &str, language| {
            let notice = control::Notice { kind: kind.into(), name: name.into(), ..Default::default() };
            let orders = news.heard(&event::Body::Notice(notice), language);
            let [Order::Show(shown)] = orders.as_slice() else { panic!("{orders:?}") };
            shown.body.clone()
        };
        let cases = [
            (
                NoticeKind::NoticeUpdateNeeded,
                ["Another device's Qiyou is too old", "The Qiyou of Zoe is too old"],
                ["另一台设备上的「棋友」版本太旧", "Zoe 的「棋友」版本太旧"],
            ),
            (
                NoticeKind::NoticeUpdateHere,
                ["too old to play with another device: update it", "too old to play with Zoe: update it"],
                ["没法和另一台设备下棋", "没法和 Zoe 下棋"],
            ),
        ];
        for (kind, english, chinese) in cases {
            for (language, words) in [(Language::English, english), (Language::Chinese, chinese)] {
                for (name, words) in ["", "Zoe"].into_iter().zip(words) {
                    let said = says(kind, name, language);
                    assert!(said.contains(words), "{said}");
                }
            }
        }
    }

    #[test]
    fn a_match_without_a_peer_is_no_news() {
        let mut news = News::default();
        for plies in 0..3 {
            let alone = control::Room { link: None, ..room(plies, true) };
            assert!(news.heard(&event::Body::Room(alone), Language::English).is_empty());
        }
    }
}
