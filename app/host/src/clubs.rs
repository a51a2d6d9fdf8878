//! Club evenings: which there are, how a pairing is played, what clients see, and what friends on the list are told. The rules
//! are in [`session::club`].

use std::collections::{BTreeMap, BTreeSet};

use engine::{Setup, Side};
use proto::control::{self, ClubResult, ClubState, ClubWay, RefusalCode, Words, club_player, event};
use proto::limits;
use proto::peer;
use session::club::{self, Club, ClubRefused, Game, GameResult, Phase, Player, PlayerKind, ToldClub};
use session::{Colours, MatchId, MatchResult, Pace, Terms, wire};

use crate::journal::Journal;
use crate::refusal::Refusal;
use crate::room::{PlayerId, Room, Seat};
use crate::show;

/// Evenings that are kept: two months of Fridays. Each is sent to every client that attaches.
const MOST: usize = 8;

/// Friends' evenings that are shown: of each friend the latest.
const MOST_TOLD: usize = 8;

/// Numbers of friends' evenings for clients begin here; those of the own evenings stay below.
const FIRST_TOLD: u32 = 1 << 31;

/// The evenings: those that this device keeps, of which at most one is not finished, and those of friends.
pub(crate) struct Clubs {
    /// By number, oldest first. A number is the id for clients.
    all: Vec<(u32, Club)>,
    /// By number of an own evening: the friends whose devices show it, also after it was deleted.
    heard_of: BTreeMap<u32, BTreeSet<PlayerId>>,
    /// Friends' evenings, oldest first. They are not saved.
    told: Vec<Told>,
    last_told: u32,
}

/// An evening that a friend's device keeps.
struct Told {
    /// For clients.
    number: u32,
    keeper: PlayerId,
    /// On the keeper's device.
    number_there: u32,
    evening: ToldClub,
}

/// A pairing that is to be played, with what its match needs.
pub(crate) struct Pairing {
    pub(crate) setup: Setup,
    pub(crate) pace: Option<Pace>,
    /// The match in which it is played already, if it still exists.
    pub(crate) room: Option<MatchId>,
    pub(crate) way: Way,
}

/// How a pairing is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// In a room with these seats.
    Here([Seat; 2]),
    /// By an invitation to this friend, in which this device has that side.
    Invite(PlayerId, Side),
    /// Not at this device.
    Elsewhere,
}

impl Clubs {
    pub(crate) const fn new(kept: Vec<(u32, Club)>) -> Self {
        Self { all: kept, heard_of: BTreeMap::new(), told: Vec::new(), last_told: FIRST_TOLD }
    }

    /// All evenings, for a client that attaches.
    pub(crate) fn events(&self) -> impl Iterator<Item = event::Body> {
        let own = self.all.iter().map(|(number, club)| shown(*number, club));
        own.chain(self.told.iter().map(Told::shown)).map(event::Body::Club)
    }

    /// An evening as clients see it.
    pub(crate) fn shown(&self, number: u32) -> Option<control::Club> {
        let told = || self.told.iter().find(|told| told.number == number).map(Told::shown);
        self.get(number).ok().map(|club| shown(number, club)).or_else(told)
    }

    /// What friends are to be told after a change of an own evening: those on its list its state, those who still show it and are
    /// not on it any more that it is gone.
    pub(crate) fn news(&self, number: u32) -> Vec<(PlayerId, peer::Club)> {
        let club = self.get(number).ok();
        let key = |player: &Player| match player.kind {
            PlayerKind::Friend(key) => Some(PlayerId(key)),
            PlayerKind::Here | PlayerKind::Guest | PlayerKind::Nobody => None,
        };
        let listed = club.into_iter().flat_map(Club::players).filter_map(key);
        let friends: BTreeSet<PlayerId> =
            listed.chain(self.heard_of.get(&number).into_iter().flatten().copied()).collect();
        let about = |friend: PlayerId| {
            club.and_then(|club| club::message(number, club, &friend.0)).unwrap_or_else(|| club::gone(number))
        };
        friends.into_iter().map(|friend| (friend, about(friend))).collect()
    }

    /// What a friend who has just connected is told: the latest evening, if the friend is on its list, and each that is gone.
    pub(crate) fn news_for(&self, friend: PlayerId) -> Vec<peer::Club> {
        let latest = self.all.last().map(|(number, _)| *number);
        let shown = self.heard_of.iter().filter(|(_, friends)| friends.contains(&friend));
        let numbers: BTreeSet<u32> = shown.map(|(number, _)| *number).chain(latest).collect();
        let news = numbers.into_iter().flat_map(|number| self.news(number));
        news.filter(|(who, _)| *who == friend).map(|(_, news)| news).collect()
    }

    /// This friend was told, and shows the evening or does so no longer.
    pub(crate) fn was_told(&mut self, friend: PlayerId, news: &peer::Club) {
        let friends = self.heard_of.entry(news.number).or_default();
        if news.setup.is_some() {
            friends.insert(friend);
        } else {
            friends.remove(&friend);
        }
        self.heard_of.retain(|_, friends| !friends.is_empty());
    }

    /// A friend tells an evening. Returns its number for clients if it is shown, and the numbers of those that no longer are.
    pub(crate) fn on_told(
        &mut self,
        keeper: PlayerId,
        number_there: u32,
        evening: Option<ToldClub>,
    ) -> (Option<u32>, Vec<u32>) {
        let Some(evening) = evening else {
            return (None, self.forget(|told| (told.keeper, told.number_there) == (keeper, number_there)));
        };
        let known = self.told.iter_mut().find(|told| told.keeper == keeper);
        if let Some(known) = known.filter(|known| known.number_there == number_there) {
            known.evening = evening;
            return (Some(known.number), Vec::new());
        }
        let is_later = |told: &Told| told.keeper == keeper && told.number_there > number_there;
        if self.told.iter().any(is_later) {
            return (None, Vec::new());
        }
        let mut gone = self.forget(|told| told.keeper == keeper);
        if self.told.len() >= MOST_TOLD {
            gone.push(self.told.remove(0).number);
        }
        self.last_told = self.last_told.saturating_add(1);
        self.told.push(Told { number: self.last_told, keeper, number_there, evening });
        (Some(self.last_told), gone)
    }

    /// Evenings of this person, who is no friend any more, are not shown. Returns their numbers for clients.
    pub(crate) fn part_from(&mut self, keeper: PlayerId) -> Vec<u32> {
        for heard_of in self.heard_of.values_mut() {
            heard_of.remove(&keeper);
        }
        self.forget(|told| told.keeper == keeper)
    }

    /// Hides a friend's evening until the friend tells of it again.
    pub(crate) fn hide(&mut self, number: u32) {
        self.forget(|told| told.number == number);
    }

    fn forget(&mut self, is_gone: impl Fn(&Told) -> bool) -> Vec<u32> {
        let (gone, kept) = std::mem::take(&mut self.told).into_iter().partition(is_gone);
        self.told = kept;
        let gone: Vec<Told> = gone;
        gone.into_iter().map(|told| told.number).collect()
    }

    /// The number of the friend's evening that a client means, if it means one.
    pub(crate) fn meant_told(&self, id: &str) -> Option<u32> {
        let number = id.parse().ok()?;
        self.told.iter().any(|told| told.number == number).then_some(number)
    }

    /// What this device's person needs to play a pairing of a friend's evening: an invitation to its keeper.
    pub(crate) fn told_pairing(&self, number: u32, at: control::ClubBoard) -> Result<Pairing, Refusal> {
        let told = self.told.iter().find(|told| told.number == number).ok_or_else(no_such)?;
        let (round, board) = place(at.round, at.board)?;
        let game = told.evening.club.may_begin(round, board).map_err(refused)?;
        let record = told.evening.club.record();
        let way = told.way(game).ok_or_else(kept_elsewhere)?;
        Ok(Pairing { setup: record.setup.clone(), pace: record.pace, room: None, way })
    }

    /// The evening of which this match is a game, over or not.
    #[cfg(feature = "guest")]
    pub(crate) fn evening_with(&self, room: MatchId) -> Option<u32> {
        let has = |(_, club): &&(u32, Club)| club.games().iter().any(|game| game.room == Some(room));
        self.all.iter().rfind(has).map(|(number, _)| *number)
    }

    /// The evening that a client means.
    pub(crate) fn meant(&self, id: &str) -> Result<u32, Refusal> {
        let number = id.parse().map_err(|_| no_such())?;
        self.get(number).map(|_| number)
    }

    /// The evening that a client means, unless it is finished.
    #[cfg(feature = "guest")]
    pub(crate) fn meant_unfinished(&self, id: &str) -> Result<u32, Refusal> {
        let number = self.meant(id)?;
        match self.get(number)?.record().phase {
            Phase::Finished => Err(refused(ClubRefused::Finished)),
            Phase::Gathering | Phase::Running => Ok(number),
        }
    }

    fn get(&self, number: u32) -> Result<&Club, Refusal> {
        self.all.iter().find(|(known, _)| *known == number).map(|(_, club)| club).ok_or_else(no_such)
    }

    /// Opens an evening. Returns its number, and the numbers of those that are no longer kept.
    pub(crate) fn open(
        &mut self,
        open: &control::OpenClub,
        setup: Setup,
        journal: &mut Journal,
    ) -> Result<(u32, Vec<u32>), Refusal> {
        let bad = |what: String| Refusal::new(RefusalCode::RefusalBadRequest, what);
        let name = limits::fit_name(&open.name);
        if name.is_empty() {
            return Err(bad("a name has at least one character".into()));
        }
        if self.all.iter().any(|(_, club)| club.record().phase != Phase::Finished) {
            let (zh, en) = ("先结束或删除现在的棋会。", "Finish or delete the present evening first.");
            let reason = Some(Words { zh: zh.into(), en: en.into() });
            let refusal = Refusal::new(RefusalCode::RefusalBusy, "an evening is not finished");
            return Err(Refusal { reason, ..refusal });
        }
        let pace = Pace::read(open.pace.as_ref()).map_err(|error| bad(error.to_string()))?;
        // Two people play by the rules for two devices: Lights Out becomes a race.
        let Terms { setup, pace, .. } =
            Terms { setup, pace, colours: Colours::Random, hints: false }.for_two();
        let club = Club::empty(name, setup, pace, open.twice);
        let number = self.all.last().map_or(1, |(number, _)| number.saturating_add(1));
        let excess = (self.all.len() + 1).saturating_sub(MOST);
        let old: Vec<u32> = self.all.iter().take(excess).map(|(number, _)| *number).collect();
        journal.keep(|store| store.put_club(number, club.record(), &old))?;
        self.all.drain(..excess);
        self.all.push((number, club));
        Ok((number, old))
    }

    /// Changes an evening, on disk first.
    pub(crate) fn edit<T>(
        &mut self,
        number: u32,
        journal: &mut Journal,
        change: impl FnOnce(&mut Club) -> Result<T, ClubRefused>,
    ) -> Result<T, Refusal> {
        let known = self.all.iter_mut().find(|(known, _)| *known == number).ok_or_else(no_such)?;
        let mut changed = known.1.clone();
        let done = change(&mut changed).map_err(refused)?;
        if changed != known.1 {
            journal.keep(|store| store.put_club(number, changed.record(), &[]))?;
            known.1 = changed;
        }
        Ok(done)
    }

    /// Deletes an evening.
    pub(crate) fn discard(&mut self, number: u32, journal: &mut Journal) -> Result<(), Refusal> {
        self.get(number)?;
        journal.keep(|store| store.delete_club(number))?;
        self.all.retain(|(known, _)| *known != number);
        Ok(())
    }

    /// What a pairing needs to be played.
    pub(crate) fn pairing(&self, number: u32, at: control::ClubBoard) -> Result<Pairing, Refusal> {
        let club = self.get(number)?;
        let (round, board) = place(at.round, at.board)?;
        let game = club.may_begin(round, board).map_err(refused)?;
        let record = club.record();
        let (setup, pace) = (record.setup.clone(), record.pace);
        Ok(Pairing { setup, pace, room: game.room, way: way(club, game) })
    }

    /// Sets the result of a pairing by hand.
    pub(crate) fn decide(
        &mut self,
        number: u32,
        verdict: control::ClubVerdict,
        journal: &mut Journal,
    ) -> Result<(), Refusal> {
        let (round, board) = place(verdict.round, verdict.board)?;
        let result = match ClubResult::try_from(verdict.result) {
            Ok(ClubResult::Unspecified) => None,
            Ok(ClubResult::ClubFirstWins) => Some(GameResult::FirstWins),
            Ok(ClubResult::ClubSecondWins) => Some(GameResult::SecondWins),
            Ok(ClubResult::ClubDraw) => Some(GameResult::Draw),
            Ok(ClubResult::ClubFirstForfeits) => Some(GameResult::FirstForfeits),
            Ok(ClubResult::ClubSecondForfeits) => Some(GameResult::SecondForfeits),
            Ok(ClubResult::ClubNotPlayed) => Some(GameResult::NotPlayed),
            Err(_) => return Err(Refusal::new(RefusalCode::RefusalBadRequest, "no such result")),
        };
        self.edit(number, journal, |club| club.set_result(round, board, result))
    }

    /// Notes that a pairing is played, in this match if there is one.
    pub(crate) fn begun(
        &mut self,
        number: u32,
        at: control::ClubBoard,
        room: Option<MatchId>,
        journal: &mut Journal,
    ) -> Result<(), Refusal> {
        let (round, board) = place(at.round, at.board)?;
        self.edit(number, journal, |club| club.begin(round, board, room))
    }

    /// The invitation with this id has ended without a match. Returns the evening that it was sent for.
    pub(crate) fn on_invitation_declined(
        &mut self,
        id: MatchId,
        journal: &mut Journal,
    ) -> Result<Option<u32>, Refusal> {
        let Some(number) = self.evening_of(id) else { return Ok(None) };
        self.edit(number, journal, |club| {
            club.unbegin(id);
            Ok(())
        })?;
        Ok(Some(number))
    }

    /// A room has changed. A new match of two players whose pairing is due becomes the match of that pairing; the result of a
    /// pairing's match becomes the result of the pairing, until the match goes on. Returns the evening that has changed.
    pub(crate) fn on_room(&mut self, room: &Room, journal: &mut Journal) -> Result<Option<u32>, Refusal> {
        let id = room.id();
        if let Some(number) = self.evening_of(id) {
            let Some(result) = room.record().result else { return Ok(None) };
            let ended = self.edit(number, journal, |club| {
                let result = result_of(club, room, result);
                Ok(result.is_some_and(|result| club.on_match_end(id, result)))
            })?;
            return Ok(ended.then_some(number));
        }
        if let Some(number) = self.evening_decided_by(id).filter(|_| room.record().result.is_none()) {
            let reopened = self.edit(number, journal, |club| Ok(club.on_match_reopened(id)))?;
            return Ok(reopened.then_some(number));
        }
        if room.record().result.is_some() || !room.record().actions.is_empty() {
            return Ok(None);
        }
        let fits = |club: &Club| {
            let record = club.record();
            let terms = record.setup.is_alike(&room.record().setup) && record.pace == room.record().pace;
            let [first, second] = [Side::First, Side::Second].map(|side| player_at(club, room.seat(side)));
            let game = club.next_game_of(first?, second?).filter(|game| terms && !game.begun)?;
            Some(control::ClubBoard { round: game.round.into(), board: game.board.into() })
        };
        let found = self.all.iter().find_map(|(number, club)| Some((*number, fits(club)?)));
        let Some((number, at)) = found else { return Ok(None) };
        self.begun(number, at, Some(id), journal)?;
        Ok(Some(number))
    }

    /// The matches of pairings that are not over.
    pub(crate) fn open_matches(&self) -> Vec<MatchId> {
        let games = self.all.iter().flat_map(|(_, club)| club.games());
        let rooms: Vec<MatchId> = games.filter_map(|game| game.room).collect();
        rooms.into_iter().filter(|id| self.evening_of(*id).is_some()).collect()
    }

    fn evening_of(&self, id: MatchId) -> Option<u32> {
        self.all.iter().find(|(_, club)| club.game_in(id).is_some()).map(|(number, _)| *number)
    }

    /// The evening of a pairing that has its result from the end of this match.
    fn evening_decided_by(&self, id: MatchId) -> Option<u32> {
        let is_it = |game: &Game| game.room == Some(id) && game.by_match;
        self.all.iter().find(|(_, club)| club.games().iter().any(is_it)).map(|(number, _)| *number)
    }
}

impl Told {
    /// How the person here plays a pairing; `None`: it is not this device's to begin.
    fn way(&self, game: &Game) -> Option<Way> {
        let club = &self.evening.club;
        let me = club.players().iter().find(|player| player.kind == PlayerKind::Here)?;
        (game.opponent(me.id)? == self.evening.keeper?).then_some(())?;
        let side = if game.first == me.id { Side::First } else { Side::Second };
        Some(Way::Invite(self.keeper, side))
    }

    fn shown(&self) -> control::Club {
        let way = |game: &Game| match self.way(game) {
            Some(_) => ClubWay::Invite,
            None => ClubWay::None,
        };
        let mut shown = shown_with(self.number, &self.evening.club, way);
        shown.keeper = self.keeper.to_string();
        let keeper = self.evening.keeper.map(u32::from);
        for player in shown.players.iter_mut().filter(|player| Some(player.id) == keeper) {
            player.who = Some(club_player::Who::Friend(self.keeper.to_string()));
        }
        shown
    }
}

/// The player of an evening who sits here; `None` if that is not certain.
fn player_at(club: &Club, seat: &Seat) -> Option<u8> {
    let kind = match seat {
        Seat::Here => PlayerKind::Here,
        Seat::Peer(key) => PlayerKind::Friend(key.0),
        Seat::Guest(_) => PlayerKind::Guest,
        Seat::Bot(_) | Seat::Engine(_) => return None,
    };
    let is_called = |name: &str| !matches!(seat, Seat::Guest(guest) if guest != name);
    let mut players =
        club.players().iter().filter(|player| player.kind == kind && is_called(&player.name) && !player.left);
    players.next().map(|player| player.id)
}

/// The result of a pairing's match, whose seats may have the other colours; `None` if it has none for the pairing.
fn result_of(club: &Club, room: &Room, result: MatchResult) -> Option<GameResult> {
    let game = club.game_in(room.id())?;
    let sits = |player: u8, side: Side| {
        let Some(player) = club.player(player) else { return false };
        match (room.seat(side), &player.kind) {
            (Seat::Peer(key), PlayerKind::Friend(known)) => key.0 == *known,
            (Seat::Guest(name), PlayerKind::Guest) => {
                // A guest may have chosen another name than that on the list.
                !matches!(room.seat(side.other()), Seat::Guest(_)) || *name == player.name
            }
            (Seat::Here, PlayerKind::Here | PlayerKind::Nobody) => true,
            _ => false,
        }
    };
    let as_paired = sits(game.first, Side::First) && sits(game.second, Side::Second);
    let reversed = sits(game.first, Side::Second) && sits(game.second, Side::First);
    let winner = match (result.winner(), !as_paired && reversed) {
        (Some(side), true) => Some(side.other()),
        (winner, _) => winner,
    };
    Some(match winner {
        Some(Side::First) => GameResult::FirstWins,
        Some(Side::Second) => GameResult::SecondWins,
        None => GameResult::Draw,
    })
}

fn way(club: &Club, game: &Game) -> Way {
    let kind = |id: u8| club.player(id).map_or(&PlayerKind::Nobody, |player| &player.kind);
    let seat = |id: u8| match kind(id) {
        PlayerKind::Guest => {
            Seat::Guest(club.player(id).map(|player| player.name.clone()).unwrap_or_default())
        }
        PlayerKind::Here | PlayerKind::Nobody | PlayerKind::Friend(_) => Seat::Here,
    };
    let at_this = |id: u8| matches!(kind(id), PlayerKind::Here | PlayerKind::Nobody);
    match (kind(game.first), kind(game.second)) {
        (PlayerKind::Friend(key), _) if at_this(game.second) => Way::Invite(PlayerId(*key), Side::Second),
        (_, PlayerKind::Friend(key)) if at_this(game.first) => Way::Invite(PlayerId(*key), Side::First),
        (PlayerKind::Friend(_), _) | (_, PlayerKind::Friend(_)) => Way::Elsewhere,
        // A race needs two boards.
        _ if at_this(game.first) && at_this(game.second) && club.record().setup.is_race() => Way::Elsewhere,
        _ => Way::Here([seat(game.first), seat(game.second)]),
    }
}

fn place(round: u32, board: u32) -> Result<(u8, u8), Refusal> {
    let none = |_| refused(ClubRefused::NoSuchGame);
    Ok((u8::try_from(round).map_err(none)?, u8::try_from(board).map_err(none)?))
}

fn no_such() -> Refusal {
    Refusal::new(RefusalCode::RefusalNoSuchRoom, "no such club evening")
}

pub(crate) fn kept_elsewhere() -> Refusal {
    let (zh, en) =
        ("这个名单在好友的设备上，请在那里改。", "A friend's device keeps this list: change it there.");
    let reason = Some(Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalBadRequest, "a friend's device keeps this list") }
}

fn refused(why: ClubRefused) -> Refusal {
    let code = match why {
        ClubRefused::Full | ClubRefused::TooLate | ClubRefused::Started => RefusalCode::RefusalBusy,
        ClubRefused::Finished | ClubRefused::Decided => RefusalCode::RefusalGameOver,
        ClubRefused::NoSuchPlayer => RefusalCode::RefusalNoSuchPeer,
        ClubRefused::NoSuchGame => RefusalCode::RefusalNoSuchRoom,
        ClubRefused::AlreadyIn
        | ClubRefused::NameTaken
        | ClubRefused::NoName
        | ClubRefused::TooFew
        | ClubRefused::NotStarted => RefusalCode::RefusalBadRequest,
    };
    let (zh, en) = match why {
        ClubRefused::Full => ("最多十六人。", "There are 16 players already."),
        ClubRefused::AlreadyIn => ("名单上已有这个人。", "This player is on the list already."),
        ClubRefused::NameTaken => ("名单上已有这个名字。", "Another player has this name."),
        ClubRefused::NoName => ("请写名字。", "A player needs a name."),
        ClubRefused::TooLate => (
            "已经下了一半以上的轮次，不能再加入。",
            "More than half of the rounds have begun: it is too late to join.",
        ),
        ClubRefused::TooFew => ("至少要两个人。", "Two players are needed."),
        ClubRefused::NotStarted => ("棋会还没开始。", "The evening has not started."),
        ClubRefused::Started => ("棋会已经开始。", "The evening has started already."),
        ClubRefused::Finished => ("棋会已经结束。", "The evening is finished."),
        ClubRefused::NoSuchPlayer => ("名单上没有这个人。", "This player is not on the list."),
        ClubRefused::NoSuchGame => ("没有这一局。", "There is no such pairing."),
        ClubRefused::Decided => ("这一局已有结果。", "This pairing has its result already."),
    };
    let reason = Some(Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(code, why.to_string()) }
}

fn shown(number: u32, club: &Club) -> control::Club {
    shown_with(number, club, |game| match way(club, game) {
        Way::Here(_) => ClubWay::Here,
        Way::Invite(..) => ClubWay::Invite,
        Way::Elsewhere => ClubWay::Elsewhere,
    })
}

/// `way`: how a pairing that is not over is played.
fn shown_with(number: u32, club: &Club, way: impl Fn(&Game) -> ClubWay) -> control::Club {
    let record = club.record();
    let running = record.phase == Phase::Running;
    let game = |game: &Game| control::ClubGame {
        board: game.board.into(),
        first: game.first.into(),
        second: game.second.into(),
        result: club.result_of(game).map_or(ClubResult::Unspecified, shown_result).into(),
        begun: game.begun,
        room_id: game.room.map(|room| room.to_string()).unwrap_or_default(),
        way: if running && club.result_of(game).is_none() { way(game) } else { ClubWay::None }.into(),
    };
    let rounds = (1..=club.rounds()).map(|round| control::ClubRound {
        round: round.into(),
        games: club.games().iter().filter(|one| one.round == round).map(game).collect(),
        free: club.without_game(round).into_iter().map(u32::from).collect(),
    });
    let players = club.players().iter().map(|player| control::ClubPlayer {
        id: player.id.into(),
        who: Some(match player.kind {
            PlayerKind::Here => club_player::Who::Here(true),
            PlayerKind::Friend(key) => club_player::Who::Friend(PlayerId(key).to_string()),
            PlayerKind::Guest => club_player::Who::Guest(true),
            PlayerKind::Nobody => club_player::Who::Nobody(true),
        }),
        name: player.name.clone(),
        number: player.number.into(),
        left: player.left,
    });
    let standings = club.standings().into_iter().map(|row| control::ClubStanding {
        player: row.player.into(),
        place: row.place.unwrap_or(0).into(),
        half_points: row.points.into(),
        sonneborn_berger: row.sonneborn_berger.into(),
        direct: row.direct.map(u32::from),
        wins: row.wins.into(),
        played: row.played.into(),
        cross: club.players().iter().map(|other| cell(&club.cross(row.player, other.id))).collect(),
    });
    let next = club.players().iter().filter_map(|player| {
        let open = |game: &&Game| game.has(player.id) && club.result_of(game).is_none();
        let game = club.games().iter().filter(|_| running).find(open)?;
        Some(control::ClubNext {
            player: player.id.into(),
            round: game.round.into(),
            board: game.board.into(),
            opponent: game.opponent(player.id)?.into(),
            side: show::side(if game.first == player.id { Side::First } else { Side::Second }).into(),
        })
    });
    let started = record.phase != Phase::Gathering;
    control::Club {
        id: number.to_string(),
        name: record.name.clone(),
        setup: Some(wire::setup(&record.setup)),
        pace: Pace::write(record.pace),
        twice: record.twice,
        state: match record.phase {
            Phase::Gathering => ClubState::ClubGathering,
            Phase::Running => ClubState::ClubRunning,
            Phase::Finished => ClubState::ClubFinished,
        }
        .into(),
        players: players.collect(),
        rounds: rounds.collect(),
        round: club.round().unwrap_or(0).into(),
        standings: standings.filter(|_| started).collect(),
        next: next.collect(),
        keeper: String::new(),
    }
}

fn cell(signs: &[Option<char>]) -> String {
    signs.iter().map(|sign| sign.unwrap_or('.')).collect()
}

fn shown_result(result: GameResult) -> ClubResult {
    match result {
        GameResult::FirstWins => ClubResult::ClubFirstWins,
        GameResult::SecondWins => ClubResult::ClubSecondWins,
        GameResult::Draw => ClubResult::ClubDraw,
        GameResult::FirstForfeits => ClubResult::ClubFirstForfeits,
        GameResult::SecondForfeits => ClubResult::ClubSecondForfeits,
        GameResult::NotPlayed => ClubResult::ClubNotPlayed,
    }
}

#[cfg(test)]
mod tests {
    use engine::GameKind;
    use session::MatchRecord;

    use super::*;

    const BEN: PlayerId = PlayerId([7; 32]);

    fn opened(clubs: &mut Clubs, journal: &mut Journal) -> Result<(u32, Vec<u32>), Refusal> {
        let open = control::OpenClub { name: "Friday".into(), ..Default::default() };
        clubs.open(&open, GameKind::Gomoku.default_setup(), journal)
    }

    /// A running evening of these players.
    fn evening(journal: &mut Journal, kinds: &[(&str, PlayerKind)]) -> (Clubs, u32) {
        let mut clubs = Clubs::new(Vec::new());
        let (number, _) = opened(&mut clubs, journal).expect("opened");
        for (name, kind) in kinds {
            clubs.edit(number, journal, |club| club.add(name, kind.clone())).expect("added");
        }
        clubs.edit(number, journal, |club| club.start(None)).expect("started");
        (clubs, number)
    }

    fn three(journal: &mut Journal) -> (Clubs, u32) {
        let players = [
            ("Anna", PlayerKind::Here),
            ("Ben", PlayerKind::Friend(BEN.0)),
            ("Guo", PlayerKind::Guest),
            ("Dora", PlayerKind::Nobody),
        ];
        evening(journal, &players)
    }

    fn room(id: u8, seats: [Seat; 2], result: Option<MatchResult>) -> Room {
        let setup = GameKind::Gomoku.default_setup();
        let mut record = MatchRecord::new(MatchId([id; 16]), setup, Side::First);
        record.result = result;
        Room::new(record, seats).expect("a room")
    }

    fn game(clubs: &Clubs, number: u32, round: usize, board: usize) -> control::ClubGame {
        clubs.shown(number).expect("there").rounds[round - 1].games[board - 1].clone()
    }

    #[test]
    fn one_evening_is_open_at_a_time_and_of_the_finished_the_latest_are_kept() {
        let (mut journal, _folder) = Journal::for_test();
        let mut clubs = Clubs::new(Vec::new());
        for expected in 1..=MOST as u32 + 2 {
            let (number, gone) = opened(&mut clubs, &mut journal).expect("opened");
            assert_eq!(number, expected);
            assert_eq!(
                gone,
                expected.checked_sub(MOST as u32).filter(|old| *old > 0).into_iter().collect::<Vec<_>>()
            );
            assert_eq!(opened(&mut clubs, &mut journal).expect_err("open").code, RefusalCode::RefusalBusy);
            for name in ["Anna", "Ben"] {
                clubs.edit(number, &mut journal, |club| club.add(name, PlayerKind::Nobody)).expect("added");
            }
            clubs.edit(number, &mut journal, |club| club.start(None)).expect("started");
            clubs.edit(number, &mut journal, Club::finish).expect("finished");
        }
        let kept: Vec<u32> = journal.clubs().expect("read").into_iter().map(|(number, _)| number).collect();
        assert_eq!(kept, (3..=MOST as u32 + 2).collect::<Vec<_>>());
        assert_eq!(clubs.events().count(), MOST);
        clubs.discard(4, &mut journal).expect("there");
        assert!(clubs.meant("4").is_err() && clubs.meant("x").is_err() && clubs.meant("5").is_ok());
        assert_eq!(journal.clubs().expect("read").len(), MOST - 1);
    }

    #[test]
    fn a_pairing_is_played_here_or_by_invitation_or_elsewhere() {
        let (mut journal, _folder) = Journal::for_test();
        let (clubs, number) = three(&mut journal);
        let way =
            |round, board| clubs.pairing(number, control::ClubBoard { round, board }).expect("not over").way;
        let guo = || Seat::Guest("Guo".into());
        // 1-4 2-3, 4-3 1-2, 2-4 3-1.
        assert_eq!(way(1, 1), Way::Here(Seat::BOTH_HERE));
        assert_eq!(way(1, 2), Way::Elsewhere, "a guest sits at this device's page, not at Ben's device");
        assert_eq!(way(2, 1), Way::Here([Seat::Here, guo()]));
        assert_eq!(way(2, 2), Way::Invite(BEN, Side::First));
        assert_eq!(way(3, 1), Way::Invite(BEN, Side::Second));
        assert_eq!(way(3, 2), Way::Here([guo(), Seat::Here]));
        let ways = clubs.shown(number).expect("there").rounds.into_iter().flat_map(|round| round.games);
        let ways: Vec<ClubWay> = ways.map(|game| game.way()).collect();
        use ClubWay::{Elsewhere, Here, Invite};
        assert_eq!(ways, [Here, Elsewhere, Here, Invite, Invite, Here]);
        assert!(clubs.pairing(number, control::ClubBoard { round: 300, board: 1 }).is_err());
    }

    #[test]
    fn a_match_that_ends_gives_the_pairing_its_result() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, number) = three(&mut journal);
        let at = control::ClubBoard { round: 2, board: 2 };
        clubs.begun(number, at, Some(MatchId([9; 16])), &mut journal).expect("begun");
        let seats = [Seat::Here, Seat::Peer(BEN)];
        assert_eq!(clubs.on_room(&room(9, seats.clone(), None), &mut journal).expect("kept"), None);
        assert_eq!(clubs.open_matches(), [MatchId([9; 16])]);
        let over = room(9, seats, Some(MatchResult::Resigned(Side::First)));
        assert_eq!(clubs.on_room(&over, &mut journal).expect("kept"), Some(number));
        assert_eq!(game(&clubs, number, 2, 2).result(), ClubResult::ClubSecondWins);
        assert_eq!(clubs.on_room(&over, &mut journal).expect("kept"), None, "it is known");
        assert_eq!(journal.clubs().expect("read"), clubs.all);
    }

    #[test]
    fn after_a_restart_a_match_that_goes_on_takes_its_result_back_and_its_new_end_counts() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, number) = three(&mut journal);
        let at = control::ClubBoard { round: 2, board: 2 };
        clubs.begun(number, at, Some(MatchId([9; 16])), &mut journal).expect("begun");
        let seats = [Seat::Here, Seat::Peer(BEN)];
        let ends = |loser| room(9, seats.clone(), Some(MatchResult::Resigned(loser)));
        let goes_on = room(9, seats.clone(), None);
        clubs.on_room(&ends(Side::First), &mut journal).expect("kept");

        let mut clubs = Clubs::new(journal.clubs().expect("read"));
        assert_eq!(game(&clubs, number, 2, 2).result(), ClubResult::ClubSecondWins);
        assert_eq!(clubs.on_room(&goes_on, &mut journal).expect("kept"), Some(number));
        assert_eq!(game(&clubs, number, 2, 2).result(), ClubResult::Unspecified);
        let mut clubs = Clubs::new(journal.clubs().expect("read"));
        assert_eq!(clubs.on_room(&goes_on, &mut journal).expect("kept"), None, "it is open already");
        assert_eq!(clubs.on_room(&ends(Side::Second), &mut journal).expect("kept"), Some(number));
        assert_eq!(game(&clubs, number, 2, 2).result(), ClubResult::ClubFirstWins);

        // What a person enters stands, whatever becomes of the match.
        let verdict = control::ClubVerdict { round: 2, board: 2, result: ClubResult::ClubFirstWins.into() };
        clubs.decide(number, verdict, &mut journal).expect("set");
        let mut clubs = Clubs::new(journal.clubs().expect("read"));
        assert_eq!(clubs.on_room(&goes_on, &mut journal).expect("kept"), None);
        assert_eq!(game(&clubs, number, 2, 2).result(), ClubResult::ClubFirstWins);
    }

    #[test]
    fn a_match_that_two_begin_by_themselves_counts_and_with_the_other_colours_too() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, number) = three(&mut journal);
        let reversed = [Seat::Peer(BEN), Seat::Here];
        assert_eq!(
            clubs.on_room(&room(5, reversed.clone(), None), &mut journal).expect("kept"),
            Some(number)
        );
        assert_eq!(game(&clubs, number, 2, 2).room_id, MatchId([5; 16]).to_string());
        let second = room(6, reversed.clone(), None);
        assert_eq!(clubs.on_room(&second, &mut journal).expect("kept"), None, "they meet once");
        let over = room(5, reversed, Some(MatchResult::Resigned(Side::First)));
        assert_eq!(clubs.on_room(&over, &mut journal).expect("kept"), Some(number));
        assert_eq!(game(&clubs, number, 2, 2).result(), ClubResult::ClubFirstWins, "Ben resigned");
    }

    #[test]
    fn other_matches_are_none_of_the_evening() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, _) = three(&mut journal);
        let over = MatchResult::DrawAgreed;
        let played = room(1, [Seat::Here, Seat::Peer(BEN)], Some(over));
        let stranger = room(2, [Seat::Here, Seat::Peer(PlayerId([8; 32]))], None);
        let other_guest = room(3, [Seat::Guest("Gu".into()), Seat::Here], None);
        let alone = room(4, Seat::BOTH_HERE, None);
        let bot = room(5, [Seat::Here, Seat::Bot(engine::Level::MIN)], None);
        for room in [played, stranger, other_guest, alone, bot] {
            assert_eq!(clubs.on_room(&room, &mut journal).expect("kept"), None, "{}", room.id());
        }
        let go = MatchRecord::new(MatchId([6; 16]), GameKind::Go.default_setup(), Side::First);
        let go = Room::new(go, [Seat::Here, Seat::Peer(BEN)]).expect("a room");
        assert_eq!(clubs.on_room(&go, &mut journal).expect("kept"), None, "another game");
        assert!(clubs.open_matches().is_empty());
    }

    #[test]
    fn a_declined_invitation_leaves_the_pairing_as_it_was() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, number) = three(&mut journal);
        let before = clubs.shown(number);
        let at = control::ClubBoard { round: 2, board: 2 };
        clubs.begun(number, at, Some(MatchId([9; 16])), &mut journal).expect("begun");
        assert!(game(&clubs, number, 2, 2).begun);
        let other = clubs.on_invitation_declined(MatchId([8; 16]), &mut journal);
        assert_eq!(other.expect("kept"), None);
        let declined = clubs.on_invitation_declined(MatchId([9; 16]), &mut journal);
        assert_eq!(declined.expect("kept"), Some(number));
        assert_eq!(clubs.shown(number), before);
    }

    #[test]
    fn who_plays_whom_next_is_told_for_each_player() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, number) = three(&mut journal);
        let next = |clubs: &Clubs| {
            let shown = clubs.shown(number).expect("there").next.into_iter();
            shown.map(|next| (next.player, next.opponent, next.side as u32)).collect::<Vec<_>>()
        };
        assert_eq!(next(&clubs), [(1, 4, 1), (2, 3, 1), (3, 2, 2), (4, 1, 2)]);
        let verdict = control::ClubVerdict { round: 1, board: 1, result: ClubResult::ClubDraw.into() };
        clubs.decide(number, verdict, &mut journal).expect("set");
        assert_eq!(next(&clubs), [(1, 2, 1), (2, 3, 1), (3, 2, 2), (4, 3, 1)]);
        clubs.edit(number, &mut journal, Club::finish).expect("finished");
        assert!(next(&clubs).is_empty());
        let verdict = control::ClubVerdict { result: 77, ..verdict };
        assert!(clubs.decide(number, verdict, &mut journal).is_err());
    }

    #[test]
    fn of_each_friend_the_latest_evening_is_shown_and_of_all_friends_a_few() {
        let (mut journal, _folder) = Journal::for_test();
        let (own, number) = three(&mut journal);
        let told = |keeper: Option<u8>| {
            let mut record = own.get(number).expect("there").record().clone();
            record.players[0].kind = PlayerKind::Nobody;
            record.players[1].kind = PlayerKind::Here;
            Some(ToldClub { club: Club::new(record).expect("an evening"), keeper })
        };
        let friend = |number: u8| PlayerId([100 + number; 32]);
        let mut clubs = Clubs::new(Vec::new());
        let (first, gone) = clubs.on_told(friend(0), 5, told(Some(1)));
        let first = first.expect("shown");
        assert!(first > FIRST_TOLD && gone.is_empty());
        let shown = clubs.shown(first).expect("there");
        assert_eq!((shown.keeper, shown.id), (friend(0).to_string(), first.to_string()));
        assert_eq!(clubs.on_told(friend(0), 5, told(None)), (Some(first), vec![]), "a change");
        assert_eq!(clubs.on_told(friend(0), 4, told(None)), (None, vec![]), "an earlier one");
        let (second, gone) = clubs.on_told(friend(0), 6, told(None));
        assert_eq!(gone, [first]);
        assert_eq!(clubs.on_told(friend(1), 6, None), (None, vec![]), "another friend's number");
        let others: Vec<u32> = (1..=MOST_TOLD as u8)
            .filter_map(|number| clubs.on_told(friend(number), 1, told(None)).0)
            .collect();
        assert_eq!(others.len(), MOST_TOLD);
        assert!(clubs.shown(second.expect("shown")).is_none(), "the oldest gives way");
        assert_eq!(clubs.events().count(), MOST_TOLD);
        assert_eq!(clubs.on_told(friend(1), 1, None), (None, vec![others[0]]));
        assert_eq!(clubs.part_from(friend(2)), [others[1]]);
        assert!(clubs.meant(&others[2].to_string()).is_err(), "it is not to be changed here");
    }

    #[test]
    fn nothing_changes_that_cannot_be_kept() {
        let (mut journal, _folder) = Journal::for_test();
        let (mut clubs, number) = three(&mut journal);
        let before = clubs.all.clone();
        let full = |_: &mut Club| Err::<(), _>(ClubRefused::Full);
        let refusal = clubs.edit(number, &mut journal, full).expect_err("refused");
        assert_eq!((refusal.code, refusal.reason.is_some()), (RefusalCode::RefusalBusy, true));
        journal
            .keep(|store| {
                store.limit_pages(1);
                Ok(())
            })
            .expect("a limit");
        let rename = |club: &mut Club| {
            (0..12).try_for_each(|number| {
                club.add(&format!("late {number} {}", "x".repeat(400)), PlayerKind::Nobody).map(drop)
            })
        };
        let refusal = clubs.edit(number, &mut journal, rename).expect_err("no space");
        assert_eq!(refusal.code, RefusalCode::RefusalDisk);
        assert_eq!(clubs.all, before);
    }
}
