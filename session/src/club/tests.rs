#[path = "../../../tests/src/seed.rs"]
mod seed;

use engine::GameKind;

use super::GameResult::{Draw, FirstForfeits, FirstWins, NotPlayed, SecondForfeits, SecondWins};
use super::*;

fn evening(players: u8, twice: bool) -> Club {
    let mut club = Club::empty("Friday".into(), GameKind::Gomoku.default_setup(), None, twice);
    for number in 1..=players {
        assert_eq!(club.add(&format!("player {number}"), PlayerKind::Nobody), Ok(number));
    }
    club
}

fn started(players: u8, twice: bool) -> Club {
    let mut club = evening(players, twice);
    club.start(None).expect("enough players");
    club
}

/// Sets the results of the whole evening in the order of rounds and boards.
fn play(club: &mut Club, results: &[GameResult]) {
    let all: Vec<(u8, u8)> = club.games().iter().map(|game| (game.round, game.board)).collect();
    assert_eq!(all.len(), results.len());
    for ((round, board), result) in all.into_iter().zip(results) {
        club.set_result(round, board, Some(*result)).expect("a game");
    }
}

fn play_round(club: &mut Club, round: u8, result: GameResult) {
    let boards: Vec<u8> =
        club.games().iter().filter(|game| game.round == round).map(|game| game.board).collect();
    for board in boards {
        club.set_result(round, board, Some(result)).expect("a game");
    }
}

/// Player, place, points, Sonneborn-Berger.
fn table(club: &Club) -> Vec<(u8, Option<u8>, f64, f64)> {
    let rows = club.standings().into_iter();
    rows.map(|row| {
        let points = f64::from(row.points) / 2.0;
        (row.player, row.place, points, f64::from(row.sonneborn_berger) / 4.0)
    })
    .collect()
}

fn row(club: &Club, player: u8) -> String {
    let sign = |signs: Vec<Option<char>>| match signs.as_slice() {
        [] => "*".to_owned(),
        signs => signs.iter().map(|sign| sign.unwrap_or('.')).collect(),
    };
    let cells = club.players().iter().map(|other| sign(club.cross(player, other.id)));
    cells.collect::<Vec<_>>().join(" ")
}

fn pairs(club: &Club, round: u8) -> Vec<[u8; 2]> {
    let games = club.games().iter().filter(|game| game.round == round);
    games.map(|game| [game.first, game.second]).collect()
}

#[test]
fn a_list_on_which_players_come_and_go_for_ever_never_runs_out_of_ids() {
    let mut club = evening(2, false);
    for number in 3..=1_000 {
        let id = club.add(&format!("player {number}"), PlayerKind::Nobody).expect("there is room");
        let oldest = club.players().iter().find(|player| player.id != id).expect("two or three").id;
        club.remove(oldest).expect("on the list");
        assert_eq!(Club::new(club.record().clone()).as_ref(), Ok(&club), "{number}");
    }
    club.start(None).expect("two");
}

#[test]
fn no_number_in_a_kept_evening_is_too_large_to_go_on_with() {
    for (round, board) in [(121, 1), (255, 1), (1, 121), (1, 255)] {
        let mut record = started(4, false).record().clone();
        (record.games[5].round, record.games[5].board) = (round, board);
        assert!(Club::new(record).is_err(), "{round} {board}");
    }
    let mut record = started(4, false).record().clone();
    (record.games[5].round, record.games[5].begun) = (MAX_ROUNDS, true);
    let mut club = Club::new(record).expect("the last round that can be");
    assert_eq!(club.add("late", PlayerKind::Nobody), Err(ClubRefused::TooLate));
    let record = club.record().clone();
    assert_eq!(Club::new(record), Ok(club));
}

#[test]
fn four_players_by_hand() {
    let mut club = started(4, false);
    // 1-4 2-3, 4-3 1-2, 2-4 3-1.
    play(&mut club, &[FirstWins, Draw, SecondWins, Draw, FirstWins, SecondWins]);
    // 1: beats 4 (0) and 3 (1.5), draws with 2 (half of 2). 2: draws with 3 and 1, beats 4. 3: draws with 2, beats 4.
    assert_eq!(
        table(&club),
        [(1, Some(1), 2.5, 2.5), (2, Some(2), 2.0, 2.0), (3, Some(3), 1.5, 1.0), (4, Some(4), 0.0, 0.0)]
    );
    assert_eq!([1, 2, 3, 4].map(|player| row(&club, player)), ["* ½ 1 1", "½ * ½ 1", "0 ½ * 1", "0 0 0 *"]);
    assert_eq!(club.round(), None);
}

#[test]
fn five_players_by_hand_where_each_has_a_bye_that_gives_no_point() {
    let mut club = started(5, false);
    // 2-5 3-4, 5-3 1-2, 3-1 4-5, 1-4 2-3, 4-2 5-1.
    play(
        &mut club,
        &[FirstWins, Draw, FirstWins, SecondWins, Draw, Draw, FirstWins, Draw, FirstWins, SecondWins],
    );
    // 2: beats 5 (1.5) and 1 (2.5), draws with 3 (half of 1.5): 4.75. 1: draws with 3, beats 4 (2) and 5 (1.5): 4.25.
    // 4: draws with 3 and 5 (half of 1.5 each), beats 2 (2.5): 4. 3: draws with 4 (2), 1 and 2 (2.5 each): 3.5.
    // 5: beats 3 (1.5), draws with 4 (half of 2): 2.5.
    assert_eq!(
        table(&club),
        [
            (2, Some(1), 2.5, 4.75),
            (1, Some(2), 2.5, 4.25),
            (4, Some(3), 2.0, 4.0),
            (3, Some(4), 1.5, 3.5),
            (5, Some(5), 1.5, 2.5)
        ]
    );
    let byes: Vec<Vec<u8>> = (1..=5).map(|round| club.without_game(round)).collect();
    assert_eq!(byes, [[1], [4], [2], [5], [3]]);
}

#[test]
fn six_players_by_hand_where_the_direct_encounter_and_the_wins_decide() {
    let mut club = started(6, false);
    play(
        &mut club,
        &[
            // 1-6 2-5 3-4, 6-4 5-3 1-2, 2-6 3-1 4-5.
            Draw, Draw, SecondWins, FirstWins, Draw, FirstWins, SecondWins, FirstWins, Draw,
            // 6-5 1-4 2-3, 3-6 4-2 5-1.
            FirstWins, SecondWins, FirstWins, FirstWins, SecondWins, FirstWins,
        ],
    );
    // 6: half of 1.5, and three times 2.5: 8.25. 2: half of 2.5, and twice 2.5: 6.25. 3: half of 2.5, 1.5 and 3.5: 6.25.
    // 4: 2.5, half of 2.5 and 1.5: 5.25. 5: three times half of 2.5, and 1.5: 5.25. 1: half of 3.5, and 2.5: 4.25.
    assert_eq!(
        table(&club),
        [
            (6, Some(1), 3.5, 8.25),
            (2, Some(2), 2.5, 6.25),
            (3, Some(3), 2.5, 6.25),
            (4, Some(4), 2.5, 5.25),
            (5, Some(5), 2.5, 5.25),
            (1, Some(6), 1.5, 4.25)
        ]
    );
    let standings = club.standings();
    assert_eq!((standings[1].direct, standings[2].direct), (Some(2), Some(0)), "2 has beaten 3");
    assert_eq!((standings[3].direct, standings[4].direct), (Some(1), Some(1)), "4 and 5 have drawn");
    assert_eq!((standings[3].wins, standings[4].wins), (2, 1));
    assert_eq!(standings[0].direct, None, "nobody has as many");
}

#[test]
fn whom_nothing_separates_share_a_place_and_the_next_place_is_left_out() {
    let mut club = started(4, false);
    // All games of 4 are lost, the others draw with each other.
    play(&mut club, &[FirstWins, Draw, SecondWins, Draw, FirstWins, Draw]);
    let places: Vec<_> = club.standings().iter().map(|row| (row.player, row.place)).collect();
    assert_eq!(places, [(1, Some(1)), (2, Some(1)), (3, Some(1)), (4, Some(4))]);
}

#[test]
fn the_direct_encounter_counts_only_among_those_who_have_all_met() {
    let mut club = started(4, false);
    club.set_result(1, 1, Some(FirstWins)).expect("1 beats 4");
    club.set_result(1, 2, Some(FirstWins)).expect("2 beats 3");
    assert!(club.standings().iter().all(|row| row.direct.is_none()), "1 and 2, and 3 and 4, have not met");
    assert_eq!(club.standings().iter().map(|row| row.place).collect::<Vec<_>>(), [1, 1, 3, 3].map(Some));
}

#[test]
fn a_double_round_robin_has_both_games_in_the_cross_table() {
    let mut club = started(3, true);
    assert_eq!((club.rounds(), club.games().len()), (6, 6));
    // 2-3, 3-1, 1-2 (the last two rounds of the cycle change places), 3-2, 2-1, 1-3.
    assert_eq!(
        (1..=6).map(|round| pairs(&club, round)).collect::<Vec<_>>().concat(),
        [[2, 3], [3, 1], [1, 2], [3, 2], [2, 1], [1, 3]]
    );
    play(&mut club, &[FirstWins, Draw, FirstWins, Draw, FirstWins, SecondWins]);
    // 3 has 2 (draw, draw, win), 2 has 2.5 (win, draw, win, loss), 1 has 1.5 (draw, win, loss, loss).
    assert_eq!([1, 2, 3].map(|player| row(&club, player)), ["* 10 ½0", "01 * 1½", "½1 0½ *"]);
    // 2: 2 and half of 2, and 1.5: 4.5. 3: half of 1.5 and 1.5, half of 2.5: 3.5. 1: half of 2, and 2.5: 3.5.
    assert_eq!(table(&club), [(2, Some(1), 2.5, 4.5), (3, Some(2), 2.0, 3.5), (1, Some(3), 1.5, 3.5)]);
}

#[test]
fn forfeits_count_as_points_and_have_their_own_signs() {
    let mut club = started(4, false);
    play(&mut club, &[SecondForfeits, FirstForfeits, NotPlayed, Draw, FirstWins, SecondWins]);
    assert_eq!([1, 2, 3, 4].map(|player| row(&club, player)), ["* ½ 1 +", "½ * - 1", "0 + * -", "- 0 - *"]);
    let standings = club.standings();
    assert_eq!(
        (standings[0].player, standings[0].points, standings[0].wins, standings[0].played),
        (1, 5, 2, 2)
    );
}

#[test]
fn a_result_is_corrected_and_taken_back() {
    let mut club = started(3, false);
    club.set_result(1, 1, Some(FirstWins)).expect("set");
    assert_eq!(club.begin(1, 1, None), Err(ClubRefused::Decided));
    club.set_result(1, 1, Some(SecondWins)).expect("corrected");
    assert_eq!((club.standings()[0].player, club.round()), (3, Some(2)));
    club.set_result(1, 1, None).expect("taken back");
    assert_eq!((club.standings()[0].points, club.round()), (0, Some(1)));
    assert_eq!(club.set_result(1, 2, Some(Draw)), Err(ClubRefused::NoSuchGame));
    club.finish().expect("running");
    assert_eq!(club.set_result(1, 1, None), Err(ClubRefused::Finished));
    club.set_result(1, 1, Some(Draw)).expect("corrected after the end");
    assert!(club.games()[1..].iter().all(|game| game.result == Some(NotPlayed)));
}

#[test]
fn a_match_gives_its_result_once_and_none_over_a_result_by_hand() {
    let mut club = started(4, false);
    let (one, other) = (MatchId([1; 16]), MatchId([2; 16]));
    club.begin(1, 1, Some(one)).expect("begun");
    club.begin(1, 2, Some(other)).expect("begun");
    assert!(club.on_match_end(one, SecondWins));
    assert!(!club.on_match_end(one, FirstWins) && !club.on_match_end(MatchId([3; 16]), Draw));
    club.set_result(1, 2, Some(Draw)).expect("by hand");
    assert!(!club.on_match_end(other, FirstWins));
    assert_eq!(club.games()[0].result, Some(SecondWins));
    assert_eq!(club.games()[1].result, Some(Draw));
}

#[test]
fn a_result_goes_with_the_end_of_its_match_unless_it_was_corrected_by_hand_or_the_evening_is_over() {
    let mut club = started(4, false);
    let (one, other) = (MatchId([1; 16]), MatchId([2; 16]));
    club.begin(1, 1, Some(one)).expect("begun");
    club.begin(1, 2, Some(other)).expect("begun");
    assert!(!club.on_match_reopened(one), "it is not over");
    assert!(club.on_match_end(one, SecondWins) && club.on_match_end(other, Draw));
    assert!(club.on_match_reopened(one) && !club.on_match_reopened(one));
    assert_eq!(club.games()[0].result, None);
    assert!(club.on_match_end(one, FirstWins), "its new end counts");
    club.set_result(1, 2, Some(Draw)).expect("confirmed by hand");
    assert!(!club.on_match_reopened(other));
    assert_eq!(club.games()[1].result, Some(Draw));
    club.finish().expect("running");
    assert!(!club.on_match_reopened(one));
    assert_eq!(club.games()[0].result, Some(FirstWins));
}

#[test]
fn the_next_game_of_two_is_the_first_that_nobody_plays() {
    let mut club = started(3, true);
    assert_eq!(club.next_game_of(1, 2).map(|game| game.round), Some(3));
    club.begin(3, 1, Some(MatchId([1; 16]))).expect("begun");
    assert_eq!(club.next_game_of(2, 1).map(|game| game.round), Some(5));
    club.set_result(5, 1, Some(Draw)).expect("set");
    assert_eq!(club.next_game_of(2, 1), None);
    assert_eq!(club.next_game_of(1, 1), None);
    assert_eq!(evening(3, false).next_game_of(1, 2), None);
}

#[test]
fn a_late_comer_takes_the_place_of_the_bye_and_the_missed_games_are_not_played() {
    let mut club = started(5, false);
    play_round(&mut club, 1, FirstWins);
    play_round(&mut club, 2, Draw);
    assert_eq!(club.add("late", PlayerKind::Guest), Ok(6));
    assert_eq!(club.rounds(), 5);
    // Who had a bye in a round that has begun would have played the late comer then.
    assert_eq!(
        (pairs(&club, 1), pairs(&club, 2)),
        (vec![[2, 5], [3, 4], [1, 6]], vec![[5, 3], [1, 2], [6, 4]])
    );
    assert_eq!(
        (pairs(&club, 3), pairs(&club, 4)),
        (vec![[2, 6], [3, 1], [4, 5]], vec![[6, 5], [1, 4], [2, 3]])
    );
    assert_eq!(row(&club, 6), "- . . - . *");
    assert_eq!(club.games()[0].result, Some(FirstWins));
    club.set_result(1, 3, Some(Draw)).expect("the missed game is played after all");
    assert_eq!(row(&club, 6), "½ . . - . *");
}

#[test]
fn without_a_bye_the_rounds_that_have_not_begun_are_made_anew() {
    let mut club = started(4, false);
    play_round(&mut club, 1, FirstWins);
    assert_eq!(club.add("late", PlayerKind::Nobody), Ok(5));
    assert_eq!(pairs(&club, 1), [[1, 4], [2, 3]]);
    assert!(club.rounds() <= 6);
    assert_eq!(club.games().len(), 10);
    play_round(&mut club, 2, Draw);
    play_round(&mut club, 3, Draw);
    club.begin(4, 1, None).expect("begun");
    assert_eq!(club.add("later", PlayerKind::Nobody), Err(ClubRefused::TooLate));
}

#[test]
fn before_anything_was_played_a_late_comer_gets_the_table_for_all() {
    let mut club = started(4, false);
    club.add("late", PlayerKind::Nobody).expect("in time");
    assert_eq!(club.games(), started(5, false).games());
    club.add("later", PlayerKind::Nobody).expect("in time");
    assert_eq!(club.games(), started(6, false).games());
}

#[test]
fn whenever_late_comers_join_each_pair_meets_and_nobody_plays_twice_in_a_round() {
    for twice in [false, true] {
        for players in 2..=14 {
            let rounds = started(players, twice).rounds();
            for begun in 0..=rounds / 2 {
                let mut club = started(players, twice);
                for round in 1..=begun {
                    play_round(&mut club, round, Draw);
                }
                let before: Vec<Game> =
                    club.games().iter().filter(|game| game.round <= begun).cloned().collect();
                for late in ["late", "later"] {
                    club.add(late, PlayerKind::Nobody).expect("no more than half of the rounds have begun");
                    let count = club.players().len();
                    assert_eq!(club.games().len(), count * (count - 1) / if twice { 1 } else { 2 });
                    Club::new(club.record().clone()).expect("nobody plays twice in a round");
                    assert!(before.iter().all(|game| club.games().contains(game)), "what was played stays");
                    for player in club.players() {
                        let balance = club.balance(player.id).abs();
                        assert!(balance <= 3, "{players} {begun} {twice}: {balance}");
                    }
                }
            }
        }
    }
}

#[test]
fn who_leaves_before_half_of_the_games_does_not_count_and_stays_in_the_cross_table() {
    let mut club = started(6, false);
    play_round(&mut club, 1, FirstWins);
    play_round(&mut club, 2, FirstWins);
    // 6 has lost to 1 and beaten 4: two of five games.
    club.remove(6).expect("there");
    assert_eq!(row(&club, 6), "0 - - 1 - *");
    assert_eq!(row(&club, 1), "* 1 . . . 1");
    let standings = club.standings();
    let of = |player| standings.iter().find(|row| row.player == player).expect("a row");
    assert_eq!((of(6).place, of(6).points), (None, 2));
    assert_eq!(standings.last().map(|row| row.player), Some(6));
    assert_eq!((of(1).points, of(1).wins), (2, 1), "the win against 6 does not count");
    assert_eq!(of(2).points, 2, "neither does the forfeit of the game to come");
    assert_eq!(club.round(), Some(3));
}

#[test]
fn who_leaves_after_half_of_the_games_forfeits_the_others() {
    let mut club = started(6, false);
    for round in 1..=3 {
        play_round(&mut club, round, FirstWins);
    }
    club.remove(6).expect("there");
    assert!(club.counts(6));
    assert_eq!(row(&club, 6), "0 0 - 1 - *");
    let points = |player: u8| {
        club.standings().iter().find(|row| row.player == player).map(|row| (row.points, row.place.is_some()))
    };
    assert_eq!(points(6), Some((2, true)));
    assert_eq!(row(&club, 3), "1 . * 1 0 +");
    assert_eq!(points(3), Some((6, true)), "the forfeit is a point");
    club.remove(5).expect("there");
    assert_eq!(row(&club, 5).chars().last(), Some('-'), "neither of two leavers has a point");
    assert_eq!(club.begin(4, 1, None), Err(ClubRefused::Decided), "6-5 is not to be played");
}

#[test]
fn who_has_left_can_come_back() {
    let mut club = started(4, false);
    club.remove(2).expect("there");
    assert_eq!(club.remove(2), Err(ClubRefused::NoSuchPlayer));
    assert_eq!(club.begin(1, 2, None), Err(ClubRefused::Decided));
    assert_eq!(club.add("player 2", PlayerKind::Nobody), Ok(2));
    assert_eq!(club, started(4, false));
}

#[test]
fn the_list_refuses_what_would_confuse_it() {
    let mut club = evening(15, false);
    assert_eq!(club.add("", PlayerKind::Nobody), Err(ClubRefused::NoName));
    assert_eq!(club.add("player 1", PlayerKind::Nobody), Err(ClubRefused::AlreadyIn));
    assert_eq!(club.add("player 1", PlayerKind::Guest), Err(ClubRefused::NameTaken));
    assert_eq!(club.add("Ben", PlayerKind::Friend([1; 32])), Ok(16));
    assert_eq!(club.add("Benno", PlayerKind::Friend([1; 32])), Err(ClubRefused::AlreadyIn));
    assert_eq!(club.add("Ben", PlayerKind::Friend([2; 32])), Err(ClubRefused::Full));
    club.remove(3).expect("there");
    assert_eq!(club.add("Ben", PlayerKind::Friend([2; 32])), Ok(17), "an id is never given twice");
    let mut alone = evening(1, false);
    assert_eq!(alone.start(None), Err(ClubRefused::TooFew));
    assert_eq!(alone.begin(1, 1, None), Err(ClubRefused::NotStarted));
    assert_eq!(alone.finish(), Err(ClubRefused::NotStarted));
    let mut over = started(3, false);
    assert_eq!(over.start(None), Err(ClubRefused::Started));
    over.finish().expect("running");
    assert_eq!(over.add("late", PlayerKind::Nobody), Err(ClubRefused::Finished));
    assert_eq!(over.remove(1), Err(ClubRefused::Finished));
    assert_eq!(over.begin(1, 1, None), Err(ClubRefused::Finished));
}

#[test]
fn lots_give_every_player_another_number() {
    let mut drawn = evening(16, false);
    drawn.start(Some(7)).expect("started");
    let numbers: Vec<u8> = drawn.players().iter().map(|player| player.number).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=16).collect::<Vec<_>>());
    assert_ne!(numbers, sorted);
    let first = drawn.players().iter().find(|player| player.number == 1).expect("number 1").id;
    let last = drawn.players().iter().find(|player| player.number == 16).expect("number 16").id;
    assert_eq!(pairs(&drawn, 1)[0], [first, last]);
    assert_eq!((drawn.rounds(), drawn.games().len()), (15, 120));
}

#[test]
fn in_random_evenings_the_points_are_those_of_the_games_and_the_record_reads_back() {
    let mut rng = Rng::new(seed::begin("evenings", 11));
    for _ in 0..300 {
        let players = 2 + rng.below(15) as u8;
        let mut club = evening(players, rng.below(2) == 0);
        club.start(Some(rng.next_u64())).expect("started");
        for _ in 0..rng.below(200) {
            let at = rng.below(club.games().len() as u32) as usize;
            let (round, board) = (club.games()[at].round, club.games()[at].board);
            let results = [FirstWins, SecondWins, Draw, FirstForfeits, SecondForfeits, NotPlayed];
            match rng.below(12) {
                0 => drop(club.add(&format!("late {at}"), PlayerKind::Nobody)),
                1 => drop(club.remove(1 + rng.below(16) as u8)),
                2 => drop(club.begin(round, board, None)),
                3 => club.set_result(round, board, None).expect("running"),
                _ => {
                    let result = results[rng.below(6) as usize];
                    club.set_result(round, board, Some(result)).expect("a game");
                }
            }
            if club.players().iter().all(|player| player.left) {
                break;
            }
        }
        assert_eq!(Club::new(club.record().clone()).as_ref(), Ok(&club));
        let standings = club.standings();
        assert_eq!(standings.len(), club.players().len());
        let given: u16 = standings.iter().filter(|row| row.place.is_some()).map(|row| row.points).sum();
        let both_count = |game: &&Game| club.counts(game.first) && club.counts(game.second);
        let results = club.games().iter().filter(both_count).filter_map(|game| club.result_of(game));
        assert_eq!(given, results.map(|result| result.half_points().iter().sum::<u16>()).sum());
        let order = |row: &Standing| (row.points, row.sonneborn_berger, row.direct, row.wins);
        let placed: Vec<_> = standings.iter().filter(|row| row.place.is_some()).collect();
        assert!(placed.windows(2).all(|two| order(two[0]) >= order(two[1]) && two[0].place <= two[1].place));
        assert!(
            placed.windows(2).all(|two| (two[0].place == two[1].place) == (order(two[0]) == order(two[1])))
        );
    }
}

#[test]
fn what_is_no_evening_is_not_read() {
    let bad = |change: &dyn Fn(&mut ClubRecord)| {
        let mut record = started(4, false).record().clone();
        change(&mut record);
        Club::new(record).expect_err("no evening").0
    };
    assert_eq!(bad(&|record| record.players[0].id = 2), "ids");
    assert_eq!(bad(&|record| record.players[0].id = 0), "a player without id");
    assert_eq!(bad(&|record| record.players[0].number = 2), "numbers");
    assert_eq!(bad(&|record| record.players[0].number = 0), "numbers before the start");
    assert_eq!(bad(&|record| record.games[0].first = 9), "a game of strangers");
    assert_eq!(bad(&|record| record.games[0].second = 1), "a game with oneself");
    assert_eq!(bad(&|record| record.games[0].round = 0), "a game without round");
    assert_eq!(bad(&|record| record.games[0].board = 2), "boards");
    assert_eq!(bad(&|record| record.games[0].second = 2), "two games in a round");
    assert_eq!(bad(&|record| record.games[0].second = 1), "a game with oneself");
    let again = |record: &mut ClubRecord| {
        let game = record.games[0].clone();
        record.games.push(Game { round: 9, ..game });
    };
    assert_eq!(bad(&again), "a pair that meets too often");
    let many = |record: &mut ClubRecord| {
        let player = record.players[0].clone();
        record.players.extend((9..=21).map(|id| Player { id, number: id, ..player.clone() }));
    };
    assert_eq!(bad(&many), "too many players");
}
