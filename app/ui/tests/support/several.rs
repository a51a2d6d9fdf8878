//! Several matches at once.

use proto::board::Side;
use proto::control::{self, PeerLink, event};

use super::{Tell, bot, games, here, link, open, peer, room};

/// A match against the device with this id, in which it is the turn of the person here.
pub(crate) fn waiting(id: &str) -> control::Room {
    control::Room { id: id.into(), ..room(bot(3), here(), &[Side::Second]) }
}

/// The stories.
pub(super) const SEVERAL: [(&str, Tell); 2] = [
    ("board-several", |stage, told| {
        told.say(event::Body::Room(waiting("a")));
        told.say(event::Body::Room(games::against_the_device(&games::xiangqi(), engine::Side::First)));
        let with_friend = room(here(), peer("Librem 5"), &[Side::First]);
        let link = Some(link(PeerLink::Up, 0));
        open(stage, told, control::Room { id: "friend".into(), link, ..with_friend });
    }),
    ("home-several", |_, told| {
        told.say(event::Body::Room(waiting("a")));
        let (with_friend, connected) = (peer("Librem 5"), Some(link(PeerLink::Up, 0)));
        let theirs = room(here(), with_friend.clone(), &[Side::First]);
        let mine = room(with_friend, here(), &[Side::Second]);
        told.say(event::Body::Room(control::Room { id: "b".into(), link: connected, ..theirs }));
        told.say(event::Body::Room(control::Room { id: "c".into(), link: connected, ..mine }));
    }),
];
