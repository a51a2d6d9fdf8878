//! The Berger tables (FIDE Handbook C.05, Annex 1): who plays whom in which round, and who moves first.

/// The games of one round as places in the table, counted from 1: the first of each pair moves first.
pub(super) type Round = Vec<[u8; 2]>;

/// The table for this many players. With an odd number the highest place is nobody's: its opponent has a bye, and the pair is
/// left out.
pub(super) fn table(players: u8) -> Vec<Round> {
    let places = players + players % 2;
    if players < 2 {
        return Vec::new();
    }
    // The places below the highest stand in a circle. In each round the highest plays the pivot, and those beside the
    // pivot at equal distances play each other. The pivot moves on by half of the places.
    let circle = places - 1;
    let at = |place: u16| (place % u16::from(circle)) as u8 + 1;
    let round = |round: u8| -> Round {
        let pivot = u16::from(round) * u16::from(places / 2);
        let with_highest = if round.is_multiple_of(2) { [at(pivot), places] } else { [places, at(pivot)] };
        let pairs = (1..u16::from(places / 2))
            .map(|distance| [at(pivot + distance), at(pivot + u16::from(circle) - distance)]);
        let all = std::iter::once(with_highest).chain(pairs);
        all.filter(|pair| pair.iter().all(|place| *place <= players)).collect()
    };
    (0..circle).map(round).collect()
}

/// The table of a single round robin, or of a double one: then the second cycle has the colours reversed, and the last two
/// rounds of the first cycle change places, so that nobody has the same colour three times in a row (Annex 1).
pub(super) fn schedule(players: u8, twice: bool) -> Vec<Round> {
    let mut first = table(players);
    if !twice {
        return first;
    }
    let reversed = |round: &Round| round.iter().map(|[one, other]| [*other, *one]).collect();
    let second: Vec<Round> = first.iter().map(reversed).collect();
    if let [.., before, last] = first.as_mut_slice() {
        std::mem::swap(before, last);
    }
    first.extend(second);
    first
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn written(players: u8) -> Vec<String> {
        let pair = |[one, other]: &[u8; 2]| format!("{one}-{other}");
        table(players).iter().map(|round| round.iter().map(pair).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn the_tables_are_those_of_the_handbook() {
        assert_eq!(written(4), ["1-4 2-3", "4-3 1-2", "2-4 3-1"]);
        assert_eq!(written(6), ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"]);
        assert_eq!(
            written(8),
            [
                "1-8 2-7 3-6 4-5",
                "8-5 6-4 7-3 1-2",
                "2-8 3-1 4-7 5-6",
                "8-6 7-5 1-4 2-3",
                "3-8 4-2 5-1 6-7",
                "8-7 1-6 2-5 3-4",
                "4-8 5-3 6-2 7-1",
            ]
        );
        assert_eq!(
            written(10),
            [
                "1-10 2-9 3-8 4-7 5-6",
                "10-6 7-5 8-4 9-3 1-2",
                "2-10 3-1 4-9 5-8 6-7",
                "10-7 8-6 9-5 1-4 2-3",
                "3-10 4-2 5-1 6-9 7-8",
                "10-8 9-7 1-6 2-5 3-4",
                "4-10 5-3 6-2 7-1 8-9",
                "10-9 1-8 2-7 3-6 4-5",
                "5-10 6-4 7-3 8-2 9-1",
            ]
        );
        assert_eq!(
            written(12),
            [
                "1-12 2-11 3-10 4-9 5-8 6-7",
                "12-7 8-6 9-5 10-4 11-3 1-2",
                "2-12 3-1 4-11 5-10 6-9 7-8",
                "12-8 9-7 10-6 11-5 1-4 2-3",
                "3-12 4-2 5-1 6-11 7-10 8-9",
                "12-9 10-8 11-7 1-6 2-5 3-4",
                "4-12 5-3 6-2 7-1 8-11 9-10",
                "12-10 11-9 1-8 2-7 3-6 4-5",
                "5-12 6-4 7-3 8-2 9-1 10-11",
                "12-11 1-10 2-9 3-8 4-7 5-6",
                "6-12 7-5 8-4 9-3 10-2 11-1",
            ]
        );
        assert_eq!(
            written(14),
            [
                "1-14 2-13 3-12 4-11 5-10 6-9 7-8",
                "14-8 9-7 10-6 11-5 12-4 13-3 1-2",
                "2-14 3-1 4-13 5-12 6-11 7-10 8-9",
                "14-9 10-8 11-7 12-6 13-5 1-4 2-3",
                "3-14 4-2 5-1 6-13 7-12 8-11 9-10",
                "14-10 11-9 12-8 13-7 1-6 2-5 3-4",
                "4-14 5-3 6-2 7-1 8-13 9-12 10-11",
                "14-11 12-10 13-9 1-8 2-7 3-6 4-5",
                "5-14 6-4 7-3 8-2 9-1 10-13 11-12",
                "14-12 13-11 1-10 2-9 3-8 4-7 5-6",
                "6-14 7-5 8-4 9-3 10-2 11-1 12-13",
                "14-13 1-12 2-11 3-10 4-9 5-8 6-7",
                "7-14 8-6 9-5 10-4 11-3 12-2 13-1",
            ]
        );
        assert_eq!(
            written(16),
            [
                "1-16 2-15 3-14 4-13 5-12 6-11 7-10 8-9",
                "16-9 10-8 11-7 12-6 13-5 14-4 15-3 1-2",
                "2-16 3-1 4-15 5-14 6-13 7-12 8-11 9-10",
                "16-10 11-9 12-8 13-7 14-6 15-5 1-4 2-3",
                "3-16 4-2 5-1 6-15 7-14 8-13 9-12 10-11",
                "16-11 12-10 13-9 14-8 15-7 1-6 2-5 3-4",
                "4-16 5-3 6-2 7-1 8-15 9-14 10-13 11-12",
                "16-12 13-11 14-10 15-9 1-8 2-7 3-6 4-5",
                "5-16 6-4 7-3 8-2 9-1 10-15 11-14 12-13",
                "16-13 14-12 15-11 1-10 2-9 3-8 4-7 5-6",
                "6-16 7-5 8-4 9-3 10-2 11-1 12-15 13-14",
                "16-14 15-13 1-12 2-11 3-10 4-9 5-8 6-7",
                "7-16 8-6 9-5 10-4 11-3 12-2 13-1 14-15",
                "16-15 1-14 2-13 3-12 4-11 5-10 6-9 7-8",
                "8-16 9-7 10-6 11-5 12-4 13-3 14-2 15-1",
            ]
        );
    }

    #[test]
    fn with_an_odd_number_the_opponent_of_the_highest_place_has_a_bye() {
        assert_eq!(written(5), ["2-5 3-4", "5-3 1-2", "3-1 4-5", "1-4 2-3", "4-2 5-1"]);
        assert_eq!(written(2), ["1-2"]);
        assert!(table(1).is_empty() && table(0).is_empty());
    }

    #[test]
    fn everybody_meets_everybody_once_and_has_each_colour_as_often() {
        for players in 2..=16 {
            let mut met: BTreeMap<[u8; 2], u32> = BTreeMap::new();
            let mut balance = vec![0_i32; usize::from(players) + 1];
            for round in table(players) {
                let mut places: Vec<u8> = round.iter().flatten().copied().collect();
                places.sort_unstable();
                let busy = places.len();
                places.dedup();
                assert_eq!((places.len(), busy), (busy, usize::from(players / 2 * 2)), "once in a round");
                for [one, other] in round {
                    *met.entry([one.min(other), one.max(other)]).or_default() += 1;
                    balance[usize::from(one)] += 1;
                    balance[usize::from(other)] -= 1;
                }
            }
            assert_eq!(met.len(), usize::from(players) * usize::from(players - 1) / 2);
            assert!(met.values().all(|times| *times == 1), "{players}");
            let most = i32::from(players % 2 == 0);
            assert!(balance.iter().all(|balance| balance.abs() <= most), "{players}: {balance:?}");
        }
    }

    #[test]
    fn a_double_round_robin_gives_each_pair_both_colours_and_nobody_a_colour_three_times_in_a_row() {
        for players in 3..=16 {
            let rounds = schedule(players, true);
            let games: Vec<[u8; 2]> = rounds.iter().flatten().copied().collect();
            let mut once = games.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), games.len());
            assert_eq!(games.len(), usize::from(players) * usize::from(players - 1));
            for player in 1..=players {
                let colours: Vec<bool> = games
                    .iter()
                    .filter(|game| game.contains(&player))
                    .map(|game| game[0] == player)
                    .collect();
                let thrice = colours.windows(3).any(|three| three.iter().all(|one| *one == three[0]));
                assert!(!thrice, "{players}: {player} has {colours:?}");
            }
        }
    }
}
