//! Liuzhou chess's endgame tables beside a second program, which is written from the rules alone and shares no code
//! with the tablebase: it uses no symmetry of the board and no hashing, and iterates over all positions
//! until nothing changes.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::fs::File;
use std::sync::atomic::AtomicBool;

use engine::liuzhou::tablebase::{Tablebase, TablebaseResult};
use engine::liuzhou::{Blocked, Liuzhou, LiuzhouSetup, Preset, Safety};
use engine::{Game, Rng};

fn three_a_side() -> LiuzhouSetup {
    LiuzhouSetup { loses_at: 2, ..LiuzhouSetup::default() }
}

fn made(setup: &LiuzhouSetup) -> Tablebase {
    Tablebase::make(setup, &AtomicBool::new(false), &mut |_, _| {}).expect("the setup has a table")
}

/// The three points of a side as column and row, sorted by row and column.
type Three = [(i8, i8); 3];

/// The four lines of three points that cut a corner: the only formations of three stones.
const CORNERS: [Three; 4] =
    [[(2, 0), (1, 1), (0, 2)], [(3, 0), (4, 1), (5, 2)], [(0, 3), (1, 4), (2, 5)], [(5, 3), (4, 4), (3, 5)]];

fn sorted(mut points: Three) -> Three {
    points.sort_by_key(|&(column, row)| 6 * row + column);
    points
}

/// The stones of the side to move after each of its steps, and whether the step captures.
fn steps(own: Three, other: Three, mut found: impl FnMut(Three, bool)) {
    for n in 0..3 {
        for (right, up) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let to = (own[n].0 + right, own[n].1 + up);
            let on_board = (0..6).contains(&to.0) && (0..6).contains(&to.1);
            if on_board && !own.contains(&to) && !other.contains(&to) {
                let mut after = own;
                after[n] = to;
                let after = sorted(after);
                found(after, CORNERS.iter().any(|&corner| sorted(corner) == after));
            }
        }
    }
}

/// Plies to the end by exhaustive search up to this depth: odd if the side to move wins.
fn searched(own: Three, other: Three, most: u32) -> Option<u32> {
    if most == 0 {
        return None;
    }
    let (mut any, mut captures) = (false, false);
    steps(own, other, |_, capture| {
        any = true;
        captures |= capture;
    });
    // A blocked side removes one of the three enemy stones, which wins.
    if captures || !any {
        return Some(1);
    }
    let (mut best, mut longest, mut all_lost) = (None::<u32>, 0, true);
    steps(own, other, |after, _| match searched(other, after, most - 1) {
        Some(plies) if plies % 2 == 0 => {
            best = Some(best.map_or(plies + 1, |best| best.min(plies + 1)));
            all_lost = false;
        }
        Some(plies) => longest = longest.max(plies + 1),
        None => all_lost = false,
    });
    best.or(all_lost.then_some(longest))
}

/// The position in the program's notation, Black to move.
fn line(black: Three, white: Three) -> String {
    let mut rows = Vec::new();
    for row in (0..6).rev() {
        let mut text = String::new();
        let mut empty = 0;
        for column in 0..6 {
            let letter = match (black.contains(&(column, row)), white.contains(&(column, row))) {
                (true, _) => 'b',
                (_, true) => 'w',
                _ => {
                    empty += 1;
                    continue;
                }
            };
            if empty > 0 {
                text.push_str(&empty.to_string());
                empty = 0;
            }
            text.push(letter);
        }
        if empty > 0 {
            text.push_str(&empty.to_string());
        }
        rows.push(text);
    }
    format!("{} b m 0 0 0", rows.join("/"))
}

fn drawn(rng: &mut Rng) -> (Three, Three) {
    let mut points: Vec<(i8, i8)> = Vec::new();
    while points.len() < 6 {
        let point = (rng.below(6) as i8, rng.below(6) as i8);
        if !points.contains(&point) {
            points.push(point);
        }
    }
    (sorted([points[0], points[1], points[2]]), sorted([points[3], points[4], points[5]]))
}

fn known(table: &Tablebase, setup: &LiuzhouSetup, line: &str) -> TablebaseResult {
    let game = Liuzhou::from_position(setup, line).unwrap_or_else(|error| panic!("{line}: {error}"));
    table.probe(&game).unwrap_or_else(|| panic!("{line} is in the tablebase"))
}

/// The result for the side to move, from the results of all successors.
fn follows(table: &Tablebase, game: &Liuzhou) -> TablebaseResult {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let (mut win, mut loss, mut draw) = (None::<u32>, 0, false);
    for mv in moves {
        let mut after = game.clone();
        after.play(mv);
        if after.outcome().is_some() || (after.captures_due() > 0 && after.turn() == game.turn()) {
            // The capture ends the game; a step that blocks may, too.
            win = Some(1);
            continue;
        }
        if after.captures_due() > 0 {
            // The step has blocked the other side, which removes a stone and wins.
            loss = loss.max(2);
            continue;
        }
        match table.probe(&after) {
            Some(TablebaseResult::Won(plies)) => loss = loss.max(plies + 1),
            Some(TablebaseResult::Lost(plies)) => win = Some(win.map_or(plies + 1, |win| win.min(plies + 1))),
            Some(TablebaseResult::Drawn) => draw = true,
            None => panic!("{} is in the tablebase", after.position()),
        }
    }
    match win {
        Some(plies) => TablebaseResult::Won(plies),
        None if draw => TablebaseResult::Drawn,
        None => TablebaseResult::Lost(loss),
    }
}

#[test]
fn three_against_three_is_what_a_search_of_everything_finds() {
    let setup = three_a_side();
    let table = made(&setup);
    let mut rng = Rng::new(seed::begin("search", 3));
    let mut seen = [0; 3];
    let enough = |seen: [u32; 3]| seen[0] > 20 && seen[1] > 5 && seen[2] > 500;
    // With another seed some kind may be rarer.
    for number in 0..15_000 {
        if number >= 1_500 && enough(seen) {
            break;
        }
        let (black, white) = drawn(&mut rng);
        let line = line(black, white);
        let ending = known(&table, &setup, &line);
        // Six plies have at most a quarter of a million positions.
        let expected = searched(black, white, 4);
        match (ending, expected) {
            (TablebaseResult::Won(plies), Some(found)) => {
                assert_eq!((plies, plies % 2), (found, 1), "{line}");
                seen[0] += 1;
            }
            (TablebaseResult::Lost(plies), Some(found)) => {
                assert_eq!((plies, plies % 2), (found, 0), "{line}");
                seen[1] += 1;
            }
            (TablebaseResult::Won(plies) | TablebaseResult::Lost(plies), None) => {
                assert!(plies > 4, "{line}: {plies}");
            }
            (TablebaseResult::Drawn, None) => seen[2] += 1,
            (TablebaseResult::Drawn, Some(found)) => panic!("{line}: drawn, and over in {found}"),
        }
    }
    assert!(enough(seen), "{seen:?}");
}

#[test]
fn every_ending_follows_from_those_one_step_on() {
    let mut rng = Rng::new(seed::begin("one step on", 8));
    for blocked in [Blocked::Removal, Blocked::Loses, Blocked::Passes] {
        let setup = LiuzhouSetup { blocked, quiet_limit: None, ..three_a_side() };
        let table = made(&setup);
        let mut seen = [0; 3];
        let enough =
            |seen: [u32; 3]| seen.iter().sum::<u32>() > 5_000 && seen.iter().all(|&count| count > 20);
        // With another seed some kind may be rarer.
        for round in 0..60_000 {
            if round >= 6_000 && enough(seen) {
                break;
            }
            let (mut black, white) = drawn(&mut rng);
            if round % 3 == 0 {
                // A corner, where a side may be blocked.
                black = [(0, 0), (1, 0), (0, 1)];
                if white.iter().any(|point| black.contains(point)) {
                    continue;
                }
            }
            let game = Liuzhou::from_position(&setup, &line(black, white)).expect("a position");
            // A blocked side has a removal to choose, or has lost: it has no step.
            if let Some(ending) = table.probe(&game) {
                assert_eq!(ending, follows(&table, &game), "{}", game.position());
                seen[match ending {
                    TablebaseResult::Won(_) => 0,
                    TablebaseResult::Lost(_) => 1,
                    TablebaseResult::Drawn => 2,
                }] += 1;
            }
        }
        assert!(enough(seen), "{blocked:?}: {seen:?}");
    }
}

#[test]
fn a_file_knows_what_was_written_and_other_files_are_refused() {
    let setup = three_a_side();
    let table = made(&setup);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(Tablebase::file_name(&setup).expect("it has a table"));
    table.write(&mut File::create(&path).expect("a file")).expect("there is room");
    let again = Tablebase::open(&setup, File::open(&path).expect("it is there")).expect("it is whole");
    let mut rng = Rng::new(seed::begin("a file", 5));
    let mut late = 0;
    // With another seed the long ones may be rarer.
    for number in 0..300_000 {
        if number >= 30_000 && late > 20 {
            break;
        }
        let (black, white) = drawn(&mut rng);
        let line = line(black, white);
        let ending = known(&table, &setup, &line);
        assert_eq!(known(&again, &setup, &line), ending);
        late += u32::from(matches!(ending, TablebaseResult::Won(14..) | TablebaseResult::Lost(14..)));
    }
    assert!(late > 20, "some of them take long: {late}");
    let other = LiuzhouSetup { diagonals: false, ..three_a_side() };
    assert!(Tablebase::open(&other, File::open(&path).expect("it is there")).is_err());
    assert!(Tablebase::open(&LiuzhouSetup::default(), File::open(&path).expect("it is there")).is_err());
    let bytes = std::fs::read(&path).expect("it is there");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("there is room");
    assert!(Tablebase::open(&setup, File::open(&path).expect("it is there")).is_err());
}

#[test]
fn a_win_that_comes_after_the_limit_of_quiet_plies_is_a_draw() {
    let setup = three_a_side();
    let table = made(&setup);
    let mut rng = Rng::new(seed::begin("the limit of quiet plies", 2));
    let mut seen = 0;
    while seen < 20 {
        let (black, white) = drawn(&mut rng);
        let line = line(black, white);
        let TablebaseResult::Won(plies @ 5..) = known(&table, &setup, &line) else { continue };
        seen += 1;
        let at = |quiet: u32| known(&table, &setup, &line.replace(" 0 0 0", &format!(" 0 {quiet} {quiet}")));
        assert_eq!(at(60 - plies), TablebaseResult::Won(plies));
        assert_eq!(at(61 - plies), TablebaseResult::Drawn);
    }
}

#[test]
fn rules_under_which_the_stones_do_not_say_all_have_no_table() {
    assert!(Tablebase::file_name(&LiuzhouSetup::default()).is_some());
    assert!(Tablebase::file_name(&Preset::Shandong.setup()).is_none(), "nobody loses before the last stone");
    let safe = LiuzhouSetup { safety: Safety::Always, ..LiuzhouSetup::default() };
    assert!(Tablebase::file_name(&safe).is_none());
}

#[test]
fn it_stops_when_told_to() {
    assert!(Tablebase::make(&LiuzhouSetup::default(), &AtomicBool::new(true), &mut |_, _| {}).is_none());
}

#[test]
fn a_player_with_the_table_wins_what_is_won_as_soon_as_can_be_and_never_loses_what_is_drawn() {
    use engine::{AnyGame, GameKind, Limits, Score, Tier, bot};
    let setup = three_a_side();
    let table = made(&setup);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(Tablebase::file_name(&setup).expect("it has a table"));
    table.write(&mut File::create(&path).expect("a file")).expect("there is room");
    let mut player = bot(GameKind::Liuzhou, Tier::MAX, 1);
    player.set_folder(folder.path());
    let (stop, elapsed) = (AtomicBool::new(false), || std::time::Duration::ZERO);
    let limits = || Limits { time: None, nodes: Some(300), depth: None, stop: &stop, elapsed: &elapsed };
    // How many of each kind there are among so few depends on the seed: it stays.
    let mut rng = Rng::new(11);
    let mut seen = [0; 3];
    for _ in 0..300 {
        let (black, white) = drawn(&mut rng);
        let Ok(game) = Liuzhou::from_position(&setup, &line(black, white)) else { continue };
        let Some(ending) = table.probe(&game) else { continue };
        let found = player.choose(&AnyGame::Liuzhou(game.clone()), &limits(), &mut |_| {}).expect("a move");
        let mut after = game.clone();
        after.play(game.legal_move(found.line[0]).expect("a bot's choice is legal"));
        let next = table.probe(&after);
        match ending {
            TablebaseResult::Won(1) => seen[0] += 1,
            TablebaseResult::Won(plies) => {
                assert_eq!(next, Some(TablebaseResult::Lost(plies - 1)), "{}", game.position());
                assert!(matches!(found.score, Score::WinIn(_)), "{found:?}");
                seen[0] += 1;
            }
            TablebaseResult::Lost(plies) => {
                // Either the table's successor, or a block that loses equally.
                assert!(
                    next.is_none() || next == Some(TablebaseResult::Won(plies - 1)),
                    "{}",
                    game.position()
                );
                seen[1] += 1;
            }
            TablebaseResult::Drawn => {
                assert_eq!(next, Some(TablebaseResult::Drawn), "{}", game.position());
                seen[2] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

/// All positions of three against three: `cargo test --release -p engine --test liuzhou_tablebase -- --ignored`
#[test]
#[ignore = "takes some minutes: 39 million positions, each looked at until nothing changes"]
fn every_ending_of_three_against_three_is_what_looking_at_all_of_them_finds() {
    const SETS: usize = 7_140;
    let number = |three: Three| {
        let [a, b, c] = three.map(|(column, row)| (6 * row + column) as usize);
        a + b * b.saturating_sub(1) / 2 + c * c.saturating_sub(1) * c.saturating_sub(2) / 6
    };
    let points: Vec<(i8, i8)> = (0..36).map(|n| (n % 6, n / 6)).collect();
    let mut sets = vec![[(0, 0); 3]; SETS];
    for c in 0..36 {
        for b in 0..c {
            for a in 0..b {
                let three = [points[a], points[b], points[c]];
                sets[number(three)] = three;
            }
        }
    }
    let apart = |a: Three, b: Three| !a.iter().any(|point| b.contains(point));
    let mut plies = vec![0_u8; SETS * SETS];
    let mut quiet = 0;
    for ply in 1_u8.. {
        let mut changed = false;
        for own in 0..SETS {
            for other in 0..SETS {
                if plies[own * SETS + other] != 0 || !apart(sets[own], sets[other]) {
                    continue;
                }
                let (mut won, mut all_lost, mut any) = (false, true, false);
                steps(sets[own], sets[other], |after, capture| {
                    any = true;
                    let next = plies[other * SETS + number(after)];
                    won |= capture || (next != 0 && next.is_multiple_of(2) && next < ply);
                    all_lost &= next % 2 == 1 && next < ply;
                });
                let found = if ply % 2 == 1 { won || !any } else { any && all_lost };
                if found {
                    plies[own * SETS + other] = ply;
                    changed = true;
                }
            }
        }
        quiet = if changed { 0 } else { quiet + 1 };
        if quiet == 2 {
            break;
        }
    }
    let setup = three_a_side();
    let table = made(&setup);
    let mut counts = [0_u64; 3];
    for own in 0..SETS {
        for other in 0..SETS {
            if !apart(sets[own], sets[other]) {
                continue;
            }
            let line = line(sets[own], sets[other]);
            let game = Liuzhou::from_position(&setup, &line).expect("a position");
            // Blocked: a removal is to be chosen.
            let Some(ending) = table.probe(&game) else { continue };
            let expected = match plies[own * SETS + other] {
                0 => TablebaseResult::Drawn,
                plies if plies % 2 == 1 => TablebaseResult::Won(plies.into()),
                plies => TablebaseResult::Lost(plies.into()),
            };
            assert_eq!(ending, expected, "{line}");
            counts[match ending {
                TablebaseResult::Won(_) => 0,
                TablebaseResult::Lost(_) => 1,
                TablebaseResult::Drawn => 2,
            }] += 1;
        }
    }
    println!("won, lost and drawn: {counts:?}");
}
