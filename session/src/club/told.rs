//! A club evening between devices: the device that keeps the list tells each friend on it the whole state after a change. The
//! friends' keys stay with that device: the receiver learns names, and which of the players it and the sender are.

use std::time::Duration;

use proto::peer::{self, ClubPhase, ClubWho};

use super::{Club, ClubRecord, Game, GameResult, Phase, Player, PlayerKind};
use crate::saying::Pace as RateLimit;
use crate::wire::Unreadable;
use crate::{Instant, Pace, wire};

/// Time between two messages of one evening to one friend. Of what changes faster only the last state is sent. The receiver
/// hears more than that: see [`crate::Saying`]'s rate limit.
const APART: Duration = Duration::from_secs(2);

/// Bytes of a pairing.
const GAME_BYTES: usize = 5;
const BEGUN: u8 = 1 << 3;

/// An evening on a friend's list.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldClub {
    /// The evening. The person here is [`PlayerKind::Here`], everybody else [`PlayerKind::Nobody`], and no pairing has a room.
    pub club: Club,
    /// Id of the player who keeps the list, if that person plays too.
    pub keeper: Option<u8>,
}

/// What is still to be told, and what was heard, on one link.
#[derive(Default)]
pub(crate) struct Telling {
    /// At most one for each evening.
    due: Vec<peer::Club>,
    /// Nothing is sent before this.
    next: Instant,
    heard: RateLimit,
}

impl Telling {
    /// Replaces an earlier state of the evening that was not sent yet.
    pub(crate) fn put(&mut self, message: peer::Club) {
        match self.due.iter_mut().find(|due| due.number == message.number) {
            Some(due) => *due = message,
            None => self.due.push(message),
        }
    }

    pub(crate) fn due_at(&self) -> Option<Instant> {
        (!self.due.is_empty()).then_some(self.next)
    }

    /// What is to be sent now.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<peer::Club> {
        self.due_at().filter(|at| *at <= now)?;
        self.next = now + APART;
        Some(self.due.remove(0))
    }

    /// Whether another message of the peer is read now.
    pub(crate) fn hears(&mut self, now: Instant) -> bool {
        self.heard.may_say(now)
    }
}

/// The message about an evening to the friend with this key; `None` if the friend is not on the list, or no peer can read it.
pub fn message(number: u32, club: &Club, receiver: &[u8; 32]) -> Option<peer::Club> {
    let record = club.record();
    let is_receiver = |player: &Player| matches!(&player.kind, PlayerKind::Friend(key) if key == receiver);
    if !wire::is_for_peers(&record.setup) || !club.players().iter().any(is_receiver) {
        return None;
    }
    let player = |player: &Player| peer::ClubPlayer {
        id: player.id.into(),
        name: player.name.clone(),
        number: player.number.into(),
        left: player.left,
        who: match player.kind {
            PlayerKind::Here => ClubWho::ClubSender,
            _ if is_receiver(player) => ClubWho::ClubReceiver,
            _ => ClubWho::ClubSomebody,
        }
        .into(),
    };
    let message = peer::Club {
        number,
        name: record.name.clone(),
        setup: Some(wire::setup(&record.setup)),
        pace: Pace::write(record.pace),
        twice: record.twice,
        phase: match record.phase {
            Phase::Gathering => ClubPhase::ClubGathering,
            Phase::Running => ClubPhase::ClubRunning,
            Phase::Finished => ClubPhase::ClubFinished,
        }
        .into(),
        players: club.players().iter().map(player).collect(),
        games: club.games().iter().flat_map(pack).collect::<Vec<u8>>().into(),
    };
    peer::Envelope::from(message.clone()).check().is_ok().then_some(message)
}

/// The message that an evening is no more, or that the receiver is not on its list any more.
pub fn gone(number: u32) -> peer::Club {
    peer::Club { number, ..peer::Club::default() }
}

/// The evening of a message; `None` if it is gone.
pub(crate) fn read(message: &peer::Club) -> Result<Option<ToldClub>, Unreadable> {
    if message.setup.is_none() {
        return Ok(None);
    }
    let small = |number: u32| u8::try_from(number).map_err(|_| Unreadable("club"));
    let is = |player: &peer::ClubPlayer, who: ClubWho| player.who == i32::from(who);
    let one = |who: ClubWho| {
        let mut all = message.players.iter().filter(|player| is(player, who));
        (all.next().map(|player| player.id), all.next().is_none())
    };
    let ((receiver, one_receiver), (keeper, one_keeper)) =
        (one(ClubWho::ClubReceiver), one(ClubWho::ClubSender));
    if receiver.is_none() || !one_receiver || !one_keeper {
        return Err(Unreadable("club"));
    }
    let player = |player: &peer::ClubPlayer| {
        Ok(Player {
            id: small(player.id)?,
            name: player.name.clone(),
            kind: if is(player, ClubWho::ClubReceiver) { PlayerKind::Here } else { PlayerKind::Nobody },
            number: small(player.number)?,
            left: player.left,
        })
    };
    let record = ClubRecord {
        name: message.name.clone(),
        setup: wire::read_peer_setup(message.setup.as_ref())?,
        pace: Pace::read(message.pace.as_ref())?,
        twice: message.twice,
        phase: match ClubPhase::try_from(message.phase) {
            Ok(ClubPhase::ClubGathering) => Phase::Gathering,
            Ok(ClubPhase::ClubRunning) => Phase::Running,
            Ok(ClubPhase::ClubFinished) => Phase::Finished,
            Err(_) => return Err(Unreadable("club")),
        },
        players: message.players.iter().map(player).collect::<Result<_, _>>()?,
        games: message.games.chunks(GAME_BYTES).map(unpack).collect::<Result<_, _>>()?,
    };
    let club = Club::new(record).map_err(|_| Unreadable("club"))?;
    Ok(Some(ToldClub { club, keeper: keeper.map(small).transpose()? }))
}

fn pack(game: &Game) -> [u8; GAME_BYTES] {
    let result = match game.result {
        None => peer::ClubResult::ClubOpen,
        Some(GameResult::FirstWins) => peer::ClubResult::ClubFirstWins,
        Some(GameResult::SecondWins) => peer::ClubResult::ClubSecondWins,
        Some(GameResult::Draw) => peer::ClubResult::ClubDraw,
        Some(GameResult::FirstForfeits) => peer::ClubResult::ClubFirstForfeits,
        Some(GameResult::SecondForfeits) => peer::ClubResult::ClubSecondForfeits,
        Some(GameResult::NotPlayed) => peer::ClubResult::ClubNotPlayed,
    };
    let begun = if game.begun { BEGUN } else { 0 };
    [game.round, game.board, game.first, game.second, result as u8 | begun]
}

fn unpack(bytes: &[u8]) -> Result<Game, Unreadable> {
    let &[round, board, first, second, state] = bytes else { return Err(Unreadable("club")) };
    let result = match peer::ClubResult::try_from(i32::from(state & !BEGUN)) {
        Ok(peer::ClubResult::ClubOpen) => None,
        Ok(peer::ClubResult::ClubFirstWins) => Some(GameResult::FirstWins),
        Ok(peer::ClubResult::ClubSecondWins) => Some(GameResult::SecondWins),
        Ok(peer::ClubResult::ClubDraw) => Some(GameResult::Draw),
        Ok(peer::ClubResult::ClubFirstForfeits) => Some(GameResult::FirstForfeits),
        Ok(peer::ClubResult::ClubSecondForfeits) => Some(GameResult::SecondForfeits),
        Ok(peer::ClubResult::ClubNotPlayed) => Some(GameResult::NotPlayed),
        Err(_) => return Err(Unreadable("club")),
    };
    let begun = state & BEGUN != 0;
    Ok(Game { round, board, first, second, begun, room: None, result, by_match: false })
}

#[cfg(test)]
mod tests {
    use engine::GameKind;

    use super::*;

    const ANNA: [u8; 32] = [1; 32];
    const BEN: [u8; 32] = [2; 32];

    /// A running evening of the device's person, two friends and a guest, with a result and a game under way.
    fn evening() -> Club {
        let pace = Some(Pace::SuddenDeath { main: Duration::from_mins(10) });
        let mut club = Club::empty("星期五".into(), GameKind::Gomoku.default_setup(), pace, true);
        for (name, kind) in [
            ("Chen", PlayerKind::Here),
            ("Anna", PlayerKind::Friend(ANNA)),
            ("Ben", PlayerKind::Friend(BEN)),
            ("Guo", PlayerKind::Guest),
            ("Dora", PlayerKind::Nobody),
        ] {
            club.add(name, kind).expect("there is room");
        }
        club.start(Some(7)).expect("there are two");
        club.set_result(1, 1, Some(GameResult::SecondForfeits)).expect("a pairing");
        club.begin(1, 2, Some(crate::MatchId([9; 16]))).expect("a pairing");
        club.remove(5).expect("on the list");
        club
    }

    #[test]
    fn a_friend_is_told_everything_but_the_keys_and_rooms_of_others() {
        let club = evening();
        let sent = message(3, &club, &ANNA).expect("Anna is on the list");
        let envelope = peer::Envelope::from(sent.clone());
        let payload = envelope.encode().1;
        let has = |key: &[u8]| payload.windows(key.len()).any(|window| window == key);
        assert!(!has(&ANNA) && !has(&BEN) && !has(&[9; 16]));
        let heard = read(&sent).expect("it is readable").expect("it is there");
        assert_eq!(heard.keeper, Some(1));
        let kinds: Vec<&PlayerKind> = heard.club.players().iter().map(|player| &player.kind).collect();
        let nobody = PlayerKind::Nobody;
        assert_eq!(kinds, [&nobody, &PlayerKind::Here, &nobody, &nobody, &nobody]);
        assert_eq!(heard.club.standings(), club.standings());
        assert_eq!(heard.club.round(), club.round());
        let seen = |club: &Club| -> Vec<Game> {
            club.games().iter().map(|game| Game { room: None, ..game.clone() }).collect()
        };
        assert_eq!(seen(&heard.club), seen(&club));
        assert_eq!(heard.club.record().pace, club.record().pace);
        assert!(heard.club.player(5).is_some_and(|player| player.left));
    }

    #[test]
    fn who_is_not_on_the_list_is_told_nothing_and_who_is_no_more_that_it_is_gone() {
        let mut club = evening();
        assert_eq!(message(3, &club, &[3; 32]), None);
        assert!(message(3, &club, &BEN).is_some());
        club.finish().expect("it runs");
        let sent = message(3, &club, &BEN).expect("Ben is on the list");
        assert_eq!(read(&sent).expect("readable").expect("there").club.record().phase, Phase::Finished);
        assert_eq!(read(&gone(3)), Ok(None));
    }

    #[test]
    fn what_is_no_evening_is_not_read() {
        let right = message(3, &evening(), &ANNA).expect("Anna is on the list");
        type Change = fn(&mut peer::Club);
        let wrong = |change: Change| {
            let mut message = right.clone();
            change(&mut message);
            read(&message)
        };
        let cases: [(&str, Change); 10] = [
            ("nobody is here", |club| club.players.iter_mut().for_each(|player| player.who = 0)),
            ("two are here", |club| club.players.iter_mut().for_each(|player| player.who = 1)),
            ("two keep it", |club| club.players[4].who = 2),
            ("one id for two", |club| club.players[0].id = 2),
            ("an id beyond a byte", |club| club.players[0].id = 257),
            ("a phase of tomorrow", |club| club.phase = 7),
            ("half a pairing", |club| club.games = club.games.slice(..7)),
            ("a result of tomorrow", |club| club.games = [&club.games[..4], &[7]].concat().into()),
            ("a game of strangers", |club| club.games = vec![1, 1, 1, 77, 0].into()),
            ("pairings before the start", |club| club.phase = 0),
        ];
        for (what, change) in cases {
            assert!(wrong(change).is_err(), "{what}");
        }
    }

    #[test]
    fn the_longest_evening_fits_a_message() {
        let name = |number: u8| format!("{}{number:02}", "棋".repeat(30));
        let mut club = Club::empty(name(0), GameKind::Xiangqi.default_setup(), None, true);
        club.add(&name(1), PlayerKind::Friend(ANNA)).expect("there is room");
        for number in 2..=8 {
            club.add(&name(number), PlayerKind::Nobody).expect("there is room");
        }
        club.start(None).expect("there are eight");
        for round in 1..=7 {
            for board in 1..=4 {
                club.begin(round, board, None).expect("a pairing");
            }
        }
        for number in 9..=16 {
            club.add(&name(number), PlayerKind::Nobody).expect("half of the rounds have not begun");
        }
        let sent = message(1, &club, &ANNA).expect("it fits");
        assert_eq!(sent.games.len(), 5 * 240, "each of 16 meets each twice");
        assert!(read(&sent).is_ok());
    }
}
