//! The standings: points, Sonneborn-Berger, direct encounter, number of wins (FIDE Handbook C.07), and the cross table.
//!
//! A game without play counts like any other against the opponent of the table, as C.07 has it for round robins.

use std::cmp::Reverse;

use super::{Club, Game, GameResult};

/// One line of the standings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The player's id.
    pub player: u8,
    /// From 1; equal for those whom nothing separates. `None`: the player has left too soon to be placed.
    pub place: Option<u8>,
    /// Half points. Of a player who is not placed: from all games, which count for nobody.
    pub points: u16,
    /// Sonneborn-Berger, in quarters of a point: the points of those who were beaten, and half of the points of those who
    /// were drawn with.
    pub sonneborn_berger: u16,
    /// Half points among those with equal points and Sonneborn-Berger, if these have all met each other.
    pub direct: Option<u16>,
    /// Wins, those by forfeit included.
    pub wins: u16,
    /// Games with a result by play.
    pub played: u16,
}

impl Club {
    /// The standings now: the placed players by their places, then those who are not placed.
    pub fn standings(&self) -> Vec<Standing> {
        let points = |player: u8| self.results_of(player).map(|(_, half_points)| half_points).sum::<u16>();
        let mut rows: Vec<Standing> = self
            .players()
            .iter()
            .map(|player| {
                let placed = self.counts(player.id);
                let sonneborn_berger = if placed {
                    self.results_of(player.id).map(|(opponent, half)| half * points(opponent)).sum()
                } else {
                    0
                };
                Standing {
                    player: player.id,
                    place: None,
                    points: points(player.id),
                    sonneborn_berger,
                    direct: None,
                    wins: self.results_of(player.id).filter(|(_, half)| *half == 2).count() as u16,
                    played: self.played_by(player.id),
                }
            })
            .collect();
        let number = |row: &Standing| self.player(row.player).map_or(u8::MAX, |player| player.number);
        rows.sort_by_key(|row| {
            let placed = self.counts(row.player);
            (!placed, Reverse(row.points), Reverse(row.sonneborn_berger), number(row))
        });
        let placed = rows.iter().filter(|row| self.counts(row.player)).count();
        let (counted, _) = rows.split_at_mut(placed);
        for tied in counted
            .chunk_by_mut(|a, b| (a.points, a.sonneborn_berger) == (b.points, b.sonneborn_berger))
            .filter(|tied| tied.len() > 1)
        {
            let among: Vec<u8> = tied.iter().map(|row| row.player).collect();
            for row in &mut *tied {
                row.direct = self.direct_encounter(row.player, &among);
            }
            if tied.iter().any(|row| row.direct.is_none()) {
                for row in &mut *tied {
                    row.direct = None;
                }
            }
            tied.sort_by_key(|row| (Reverse(row.direct), Reverse(row.wins), number(row)));
        }
        let key = |row: &Standing| (row.points, row.sonneborn_berger, row.direct, row.wins);
        for at in 0..counted.len() {
            let shared = at.checked_sub(1).filter(|before| key(&counted[*before]) == key(&counted[at]));
            counted[at].place = shared.map_or(Some(at as u8 + 1), |before| counted[before].place);
        }
        rows
    }

    /// What stands in the cross table for this player against the other: a sign for each game in the order of rounds, `None`
    /// without a result. Signs are those of the handbook: 1, ½, 0, + and - for a forfeit.
    pub fn cross(&self, player: u8, other: u8) -> Vec<Option<char>> {
        let met = |game: &&Game| game.joins(player, other);
        self.games()
            .iter()
            .filter(met)
            .map(|game| {
                let result = self.result_of(game)?;
                let half_points = result.half_points()[usize::from(game.second == player)];
                Some(match (result.is_played(), half_points) {
                    (true, 2) => '1',
                    (true, 1) => '½',
                    (true, _) => '0',
                    (false, 2) => '+',
                    (false, _) => '-',
                })
            })
            .collect()
    }

    /// Whether the results of this player count for the standings. Who leaves before half of the games were played does not
    /// count, and neither do the games against that player (FIDE Handbook C.05, on players who withdraw).
    pub fn counts(&self, player: u8) -> bool {
        let left = self.player(player).is_some_and(|player| player.left);
        let all = self.games().iter().filter(|game| game.has(player)).count();
        let played = usize::from(self.played_by(player));
        !left || (played > 0 && played * 2 >= all)
    }

    /// The opponents and half points of the games with a result that count for this player.
    fn results_of(&self, player: u8) -> impl Iterator<Item = (u8, u16)> {
        let placed = self.counts(player);
        self.games().iter().filter_map(move |game| {
            let opponent = game.opponent(player).filter(|one| !placed || self.counts(*one))?;
            let half_points = self.result_of(game)?.half_points();
            Some((opponent, half_points[usize::from(game.second == player)]))
        })
    }

    fn played_by(&self, player: u8) -> u16 {
        let is_played = |game: &&Game| game.has(player) && game.result.is_some_and(GameResult::is_played);
        self.games().iter().filter(is_played).count() as u16
    }

    /// Half points of the player against the others of a group; `None` if it has not met all of them.
    fn direct_encounter(&self, player: u8, group: &[u8]) -> Option<u16> {
        let against = |other: u8| {
            let games = self.games().iter().filter(move |game| game.joins(player, other));
            let results: Vec<u16> = games
                .map(|game| {
                    let half_points = self.result_of(game)?.half_points();
                    Some(half_points[usize::from(game.second == player)])
                })
                .collect::<Option<_>>()?;
            (!results.is_empty()).then(|| results.iter().sum::<u16>())
        };
        group.iter().filter(|other| **other != player).map(|other| against(*other)).sum()
    }
}
