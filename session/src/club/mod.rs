//! A club evening: a round robin among up to 16 people, kept as one list by one device. A machine without I/O, clock and
//! chance: its journal is the caller's, which keeps the [`ClubRecord`] after each change.
//!
//! Pairings are those of the Berger tables (FIDE Handbook C.05, Annex 1), in a double round robin twice. Results come from
//! the caller: by hand, or from a match that ended. They can be corrected at any time.
//!
//! **Late comers** may join while at most half of the rounds have begun. If the number of players is odd, the late comer takes
//! the place of the bye: the games of rounds that have begun count as not played. Otherwise the rounds that have not begun
//! are made anew for all, so that each pair that has not met meets; what was played stays. After that the
//! number of rounds is larger.
//!
//! **Leavers** stay in the cross table. Their games without a result are forfeit. Who has played less than half of the games
//! does not count in the standings, and neither do the games against that player (FIDE Handbook C.05).

mod berger;
mod standings;
#[cfg(test)]
mod tests;
mod told;

use engine::{Rng, Setup};

use crate::{MatchId, Pace};
pub use standings::Standing;
pub(crate) use told::{Telling, read};
pub use told::{ToldClub, gone, message};

/// Players of one evening: the largest Berger table of the handbook.
pub const MAX_PLAYERS: usize = 16;

/// More rounds than late comers can bring about, and few enough for the numbers here.
const MAX_ROUNDS: u8 = 120;

/// A club evening. What it holds is always consistent: see [`Club::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Club {
    record: ClubRecord,
}

/// Everything that is kept of an evening.
#[derive(Clone, Debug, PartialEq)]
pub struct ClubRecord {
    /// The evening's name.
    pub name: String,
    /// What is played.
    pub setup: Setup,
    /// The time control of each game.
    pub pace: Option<Pace>,
    /// A double round robin: each pair meets twice, with both colours.
    pub twice: bool,
    /// How far it is.
    pub phase: Phase,
    /// In the order in which they came.
    pub players: Vec<Player>,
    /// In the order of rounds and boards; empty before the start.
    pub games: Vec<Game>,
}

/// How far an evening is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Players come and go freely.
    Gathering,
    /// Rounds are played.
    Running,
    /// Nothing more is played. Results can still be corrected.
    Finished,
}

/// A player of an evening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    /// Unique in the evening, from 1. Before the start, the id of a player taken off the list may be given again.
    pub id: u8,
    /// The name on the list.
    pub name: String,
    /// How this player can be reached.
    pub kind: PlayerKind,
    /// The player's number in the table, from 1; 0 before the start.
    pub number: u8,
    /// The player has left after the start.
    pub left: bool,
}

/// How a player can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerKind {
    /// The person of the device that keeps the list.
    Here,
    /// A friend with a device, by the public key.
    Friend([u8; 32]),
    /// A person with a browser.
    Guest,
    /// A person without a device: plays at the device that keeps the list, or at a board of wood.
    Nobody,
}

/// A pairing. Its round and board name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// From 1.
    pub round: u8,
    /// From 1 in each round.
    pub board: u8,
    /// Id of the player who moves first.
    pub first: u8,
    /// Id of the other one.
    pub second: u8,
    /// It has begun, at a board or in a room.
    pub begun: bool,
    /// The match in which it is played.
    pub room: Option<MatchId>,
    /// `None`: not over. Games of leavers have none, and are forfeit nevertheless.
    pub result: Option<GameResult>,
    /// The result is the end of its match, and goes if that goes on; a result by hand stands.
    pub by_match: bool,
}

/// How a pairing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// The player who moved first won.
    FirstWins,
    /// The other one won.
    SecondWins,
    /// Neither won.
    Draw,
    /// The first player did not come: the second one has the point.
    FirstForfeits,
    /// The second player did not come: the first one has the point.
    SecondForfeits,
    /// There was no game, and nobody has a point.
    NotPlayed,
}

/// Why a change of an evening is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClubRefused {
    /// See [`MAX_PLAYERS`].
    #[error("{MAX_PLAYERS} players are on the list")]
    Full,
    /// The player is on the list already.
    #[error("this player is on the list already")]
    AlreadyIn,
    /// Two who are not friends would be told apart by nothing.
    #[error("another player has this name")]
    NameTaken,
    /// A player has no name.
    #[error("a player needs a name")]
    NoName,
    /// More than half of the rounds have begun.
    #[error("more than half of the rounds have begun")]
    TooLate,
    /// Two are needed.
    #[error("two players are needed")]
    TooFew,
    /// The evening has not started.
    #[error("the evening has not started")]
    NotStarted,
    /// The evening has started already.
    #[error("the evening has started already")]
    Started,
    /// The evening is finished.
    #[error("the evening is finished")]
    Finished,
    /// No such player, or gone already.
    #[error("no such player")]
    NoSuchPlayer,
    /// No such pairing.
    #[error("no such pairing")]
    NoSuchGame,
    /// The pairing has a result.
    #[error("this pairing has its result")]
    Decided,
}

/// What no evening can be, so that it is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no club evening: {0}")]
pub struct BadClub(&'static str);

impl GameResult {
    /// Half points of the first and the second player.
    pub const fn half_points(self) -> [u16; 2] {
        match self {
            Self::FirstWins | Self::SecondForfeits => [2, 0],
            Self::SecondWins | Self::FirstForfeits => [0, 2],
            Self::Draw => [1, 1],
            Self::NotPlayed => [0, 0],
        }
    }

    /// Whether it is by play.
    pub const fn is_played(self) -> bool {
        matches!(self, Self::FirstWins | Self::SecondWins | Self::Draw)
    }
}

impl Game {
    /// Whether this player plays in it.
    pub const fn has(&self, player: u8) -> bool {
        self.first == player || self.second == player
    }

    /// The other player, if this one plays in it.
    pub const fn opponent(&self, player: u8) -> Option<u8> {
        if self.first == player {
            Some(self.second)
        } else if self.second == player {
            Some(self.first)
        } else {
            None
        }
    }

    /// Whether these two play in it.
    pub fn joins(&self, one: u8, other: u8) -> bool {
        self.opponent(one) == Some(other)
    }

    const fn is_begun(&self) -> bool {
        self.begun || self.result.is_some()
    }
}

impl Club {
    /// An evening without players.
    pub const fn empty(name: String, setup: Setup, pace: Option<Pace>, twice: bool) -> Self {
        let phase = Phase::Gathering;
        Self {
            record: ClubRecord { name, setup, pace, twice, phase, players: Vec::new(), games: Vec::new() },
        }
    }

    /// An evening as it was kept. Fails if ids or numbers are not unique, a game has players who are not on the list, somebody
    /// plays twice in a round, or two meet too often.
    pub fn new(mut record: ClubRecord) -> Result<Self, BadClub> {
        let require = |holds: bool, what| if holds { Ok(()) } else { Err(BadClub(what)) };
        let unique = |mut all: Vec<u32>| {
            let before = all.len();
            all.sort_unstable();
            all.dedup();
            all.len() == before
        };
        let players = &record.players;
        require(players.len() <= MAX_PLAYERS, "too many players")?;
        require(players.iter().all(|player| player.id > 0), "a player without id")?;
        require(unique(players.iter().map(|player| player.id.into()).collect()), "ids")?;
        let gathering = record.phase == Phase::Gathering;
        require(players.iter().all(|player| (player.number == 0) == gathering), "numbers before the start")?;
        let numbers = players.iter().map(|player| u32::from(player.number)).collect();
        require(gathering || unique(numbers), "numbers")?;
        require(!gathering || record.games.is_empty(), "games before the start")?;
        record.games.sort_by_key(|game| (game.round, game.board));
        let games = &record.games;
        let known = |id: u8| players.iter().any(|player| player.id == id);
        require(games.iter().all(|game| known(game.first) && known(game.second)), "a game of strangers")?;
        require(games.iter().all(|game| game.first != game.second), "a game with oneself")?;
        require(games.iter().all(|game| game.round > 0 && game.board > 0), "a game without round")?;
        require(games.iter().all(|game| game.round.max(game.board) <= MAX_ROUNDS), "too many rounds")?;
        let key = |round: u8, other: u8| u32::from(round) * 256 + u32::from(other);
        require(unique(games.iter().map(|game| key(game.round, game.board)).collect()), "boards")?;
        let busy = games.iter().flat_map(|game| [key(game.round, game.first), key(game.round, game.second)]);
        require(unique(busy.collect()), "two games in a round")?;
        let pair = |game: &Game| {
            if record.twice {
                key(game.first, game.second)
            } else {
                key(game.first.min(game.second), game.first.max(game.second))
            }
        };
        require(unique(games.iter().map(pair).collect()), "a pair that meets too often")?;
        Ok(Self { record })
    }

    /// What is to be kept.
    pub const fn record(&self) -> &ClubRecord {
        &self.record
    }

    /// The players in the order in which they came.
    pub fn players(&self) -> &[Player] {
        &self.record.players
    }

    /// The pairings in the order of rounds and boards.
    pub fn games(&self) -> &[Game] {
        &self.record.games
    }

    /// The player with this id.
    pub fn player(&self, id: u8) -> Option<&Player> {
        self.players().iter().find(|player| player.id == id)
    }

    /// The number of rounds; 0 before the start.
    pub fn rounds(&self) -> u8 {
        self.games().last().map_or(0, |game| game.round)
    }

    /// The first round in which a game is not over; `None` if all are.
    pub fn round(&self) -> Option<u8> {
        self.games().iter().find(|game| self.result_of(game).is_none()).map(|game| game.round)
    }

    /// Those on the list who have no game in this round: they have a bye, or came later.
    pub fn without_game(&self, round: u8) -> Vec<u8> {
        let games = || self.games().iter().filter(|game| game.round == round);
        let free = |player: &&Player| !player.left && !games().any(|game| game.has(player.id));
        self.players().iter().filter(free).map(|player| player.id).collect()
    }

    /// The result of a game, which for leavers is a forfeit; `None` if it is not over.
    pub fn result_of(&self, game: &Game) -> Option<GameResult> {
        let left = |id| self.player(id).is_some_and(|player| player.left);
        game.result.or_else(|| match (left(game.first), left(game.second)) {
            (true, true) => Some(GameResult::NotPlayed),
            (true, false) => Some(GameResult::FirstForfeits),
            (false, true) => Some(GameResult::SecondForfeits),
            (false, false) => None,
        })
    }

    /// The game at this board of this round.
    pub fn game(&self, round: u8, board: u8) -> Option<&Game> {
        self.games().iter().find(|game| (game.round, game.board) == (round, board))
    }

    /// The next game of these two that is neither over nor played in a room, while the evening runs.
    pub fn next_game_of(&self, one: u8, other: u8) -> Option<&Game> {
        let running = self.record.phase == Phase::Running;
        let waits =
            |game: &&Game| game.joins(one, other) && game.room.is_none() && self.result_of(game).is_none();
        self.games().iter().filter(|_| running).find(waits)
    }

    /// The game that is played in this match and not over.
    pub fn game_in(&self, room: MatchId) -> Option<&Game> {
        self.games().iter().find(|game| game.room == Some(room) && self.result_of(game).is_none())
    }

    /// Puts a player on the list, or back on it after leaving. Returns the player's id.
    pub fn add(&mut self, name: &str, kind: PlayerKind) -> Result<u8, ClubRefused> {
        if self.record.phase == Phase::Finished {
            return Err(ClubRefused::Finished);
        }
        if name.is_empty() {
            return Err(ClubRefused::NoName);
        }
        let is_same = |player: &Player| {
            player.kind == kind
                && (player.name == name || matches!(kind, PlayerKind::Here | PlayerKind::Friend(_)))
        };
        if let Some(known) = self.record.players.iter_mut().find(|player| is_same(player)) {
            return if std::mem::take(&mut known.left) { Ok(known.id) } else { Err(ClubRefused::AlreadyIn) };
        }
        // Friends are told apart by their keys.
        let by_key = |kind: &PlayerKind| matches!(kind, PlayerKind::Friend(_));
        if self.players().iter().any(|player| player.name == name && !(by_key(&kind) && by_key(&player.kind)))
        {
            return Err(ClubRefused::NameTaken);
        }
        if self.players().len() >= MAX_PLAYERS {
            return Err(ClubRefused::Full);
        }
        let last = self.players().iter().map(|player| player.id).max().unwrap_or(0);
        let unused = || (1..=u8::MAX).find(|id| self.player(*id).is_none());
        let id = last.checked_add(1).or_else(unused).ok_or(ClubRefused::Full)?;
        let number = match self.record.phase {
            Phase::Gathering => 0,
            Phase::Running | Phase::Finished => self.players().len() as u8 + 1,
        };
        if number > 0 && self.begun_rounds() * 2 > self.rounds() {
            return Err(ClubRefused::TooLate);
        }
        let took_place = number > 0 && number.is_multiple_of(2) && self.is_as_scheduled();
        self.record.players.push(Player { id, name: name.into(), kind, number, left: false });
        if took_place {
            self.take_place_of_bye(id);
        } else if number > 0 {
            self.rebuild();
        }
        Ok(id)
    }

    /// Before the start the player is removed from the list; afterwards the player has left.
    pub fn remove(&mut self, id: u8) -> Result<(), ClubRefused> {
        match self.record.phase {
            Phase::Finished => return Err(ClubRefused::Finished),
            Phase::Gathering if self.player(id).is_some() => {
                self.record.players.retain(|player| player.id != id);
                return Ok(());
            }
            Phase::Gathering | Phase::Running => {}
        }
        let there = self.record.players.iter_mut().find(|player| player.id == id && !player.left);
        there.ok_or(ClubRefused::NoSuchPlayer)?.left = true;
        Ok(())
    }

    /// Gives the players their numbers, in the order in which they came, or by lots drawn with this seed; makes the pairings.
    pub fn start(&mut self, lots: Option<u64>) -> Result<(), ClubRefused> {
        match self.record.phase {
            Phase::Gathering if self.players().len() < 2 => return Err(ClubRefused::TooFew),
            Phase::Gathering => {}
            Phase::Running => return Err(ClubRefused::Started),
            Phase::Finished => return Err(ClubRefused::Finished),
        }
        let mut numbers: Vec<u8> = (1..=self.players().len() as u8).collect();
        if let Some(seed) = lots {
            Rng::new(seed).shuffle(&mut numbers);
        }
        for (player, number) in self.record.players.iter_mut().zip(numbers) {
            player.number = number;
        }
        self.record.phase = Phase::Running;
        self.record.games = self.scheduled();
        Ok(())
    }

    /// Notes that a game is played now, in this match if there is one.
    pub fn begin(&mut self, round: u8, board: u8, room: Option<MatchId>) -> Result<(), ClubRefused> {
        self.may_begin(round, board)?;
        let game = self.game_mut(round, board)?;
        game.begun = true;
        game.room = room.or(game.room);
        Ok(())
    }

    /// The game that was to be played in this match has not begun after all.
    pub fn unbegin(&mut self, room: MatchId) {
        if let Some(&Game { round, board, .. }) = self.game_in(room)
            && let Ok(game) = self.game_mut(round, board)
        {
            (game.begun, game.room) = (false, None);
        }
    }

    /// Whether a game can be played now; the game.
    pub fn may_begin(&self, round: u8, board: u8) -> Result<&Game, ClubRefused> {
        match self.record.phase {
            Phase::Gathering => return Err(ClubRefused::NotStarted),
            Phase::Finished => return Err(ClubRefused::Finished),
            Phase::Running => {}
        }
        let game = self.game(round, board).ok_or(ClubRefused::NoSuchGame)?;
        if self.result_of(game).is_some() { Err(ClubRefused::Decided) } else { Ok(game) }
    }

    /// Sets or corrects a result; `None` takes it back. After the end nothing is taken back.
    pub fn set_result(
        &mut self,
        round: u8,
        board: u8,
        result: Option<GameResult>,
    ) -> Result<(), ClubRefused> {
        let phase = self.record.phase;
        let game = self.game_mut(round, board)?;
        if result.is_none() && phase == Phase::Finished {
            return Err(ClubRefused::Finished);
        }
        (game.result, game.by_match) = (result, false);
        Ok(())
    }

    /// The match of a game has ended. Returns whether its result is news: a result by hand stands.
    pub fn on_match_end(&mut self, room: MatchId, result: GameResult) -> bool {
        let Some(&Game { round, board, .. }) = self.game_in(room) else { return false };
        if self.record.phase != Phase::Running {
            return false;
        }
        let Ok(game) = self.game_mut(round, board) else { return false };
        (game.result, game.by_match) = (Some(result), true);
        true
    }

    /// The match goes on after its end, because its last move was taken back. Returns whether its pairing is open again: a result
    /// by hand stands.
    pub fn on_match_reopened(&mut self, room: MatchId) -> bool {
        if self.record.phase != Phase::Running {
            return false;
        }
        let mut games = self.record.games.iter_mut();
        let Some(game) = games.find(|game| game.room == Some(room) && game.by_match) else { return false };
        (game.result, game.by_match) = (None, false);
        true
    }

    /// Ends the evening. Games that are not over count as not played.
    pub fn finish(&mut self) -> Result<(), ClubRefused> {
        match self.record.phase {
            Phase::Gathering => return Err(ClubRefused::NotStarted),
            Phase::Finished => return Err(ClubRefused::Finished),
            Phase::Running => {}
        }
        let open: Vec<(u8, u8)> = self
            .games()
            .iter()
            .filter(|game| self.result_of(game).is_none())
            .map(|game| (game.round, game.board))
            .collect();
        for (round, board) in open {
            self.set_result(round, board, Some(GameResult::NotPlayed))?;
        }
        self.record.phase = Phase::Finished;
        Ok(())
    }

    fn game_mut(&mut self, round: u8, board: u8) -> Result<&mut Game, ClubRefused> {
        let at = |game: &&mut Game| (game.round, game.board) == (round, board);
        self.record.games.iter_mut().find(at).ok_or(ClubRefused::NoSuchGame)
    }

    /// The last round of which something has begun; 0 for none.
    fn begun_rounds(&self) -> u8 {
        self.games().iter().filter(|game| game.is_begun()).map(|game| game.round).max().unwrap_or(0)
    }

    /// The pairings of the table for these players, none of them begun.
    fn scheduled(&self) -> Vec<Game> {
        let mut by_number: Vec<&Player> = self.players().iter().collect();
        by_number.sort_by_key(|player| player.number);
        let rounds = berger::schedule(by_number.len() as u8, self.record.twice);
        let id = |place: u8| by_number[usize::from(place) - 1].id;
        let games = (1..).zip(rounds).flat_map(|(round, pairs)| {
            (1..)
                .zip(pairs)
                .map(move |(board, [first, second])| new_game(round, board, id(first), id(second)))
        });
        games.collect()
    }

    /// Whether the pairings are those of the table, which they are until a late comer makes them anew.
    fn is_as_scheduled(&self) -> bool {
        let pairs = |games: &[Game]| {
            let mut pairs: Vec<[u8; 3]> =
                games.iter().map(|game| [game.round, game.first, game.second]).collect();
            pairs.sort_unstable();
            pairs
        };
        pairs(self.games()) == pairs(&self.scheduled())
    }

    /// The last player on the list has the number that was nobody's.
    fn take_place_of_bye(&mut self, late: u8) {
        let begun = self.begun_rounds();
        let (missed, ahead): (Vec<Game>, Vec<Game>) =
            self.scheduled().into_iter().partition(|game| game.round <= begun);
        self.record.games.retain(|game| game.round <= begun);
        for game in missed.into_iter().filter(|game| game.has(late)) {
            let boards = self.games().iter().filter(|other| other.round == game.round).count();
            let result = Some(GameResult::NotPlayed);
            self.record.games.push(Game { board: boards as u8 + 1, result, ..game });
        }
        self.record.games.extend(ahead);
        self.record.games.sort_by_key(|game| (game.round, game.board));
    }

    /// Makes the rounds that have not begun anew: who has not met meets, each in the first round in which both are free, in
    /// the order of the table. That never takes more rounds than the table has.
    fn rebuild(&mut self) {
        let begun = self.begun_rounds();
        let scheduled = self.scheduled();
        if begun == 0 {
            self.record.games = scheduled;
            return;
        }
        self.record.games.retain(|game| game.round <= begun);
        let twice = self.record.twice;
        let has_met = |kept: &Game, game: &Game| {
            kept.joins(game.first, game.second) && (!twice || kept.first == game.first)
        };
        for game in scheduled {
            if self.games().iter().any(|kept| has_met(kept, &game)) {
                continue;
            }
            let busy = |round: u8| {
                let mut others = self.games().iter().filter(|other| other.round == round);
                others.any(|other| other.has(game.first) || other.has(game.second))
            };
            let after_all = self.games().iter().map(|other| other.round).max().unwrap_or(0).max(begun) + 1;
            let round = (begun + 1..after_all).find(|round| !busy(*round)).unwrap_or(after_all);
            let board = self.games().iter().filter(|other| other.round == round).count() as u8 + 1;
            // Whoever has moved first less often does so. In a double round robin each pair has both colours anyway.
            let (first, second) = if self.balance(game.second) < self.balance(game.first) && !twice {
                (game.second, game.first)
            } else {
                (game.first, game.second)
            };
            self.record.games.push(new_game(round, board, first, second));
        }
        self.record.games.sort_by_key(|game| (game.round, game.board));
    }

    /// How much more often the player moves first than second.
    fn balance(&self, player: u8) -> i32 {
        let sides = self
            .games()
            .iter()
            .map(|game| i32::from(game.first == player) - i32::from(game.second == player));
        sides.sum()
    }
}

const fn new_game(round: u8, board: u8, first: u8, second: u8) -> Game {
    Game { round, board, first, second, begun: false, room: None, result: None, by_match: false }
}
