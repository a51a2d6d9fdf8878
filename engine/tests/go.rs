//! Claims about the rules of Go. Diagrams are rows from the top, `X` for Black and `O` for White.

use engine::go::{Go, GoSetup, Handicap, Scoring, Superko};
use engine::{Action, Fact, Game, IllegalAction, Language, MarkKind, Outcome, Point, Reason, Side};

fn small(size: u8) -> GoSetup {
    GoSetup { size, komi_half_points: 0, ..GoSetup::default() }
}

/// Plays the stones of the diagram, the sides in turn; a side without stones left passes. Then this side is to move.
fn diagram(setup: GoSetup, rows: &str, to_move: Side) -> Go {
    let rows: Vec<&str> = rows.split_whitespace().rev().collect();
    assert_eq!(rows.len(), usize::from(setup.size));
    let stones = |sign: char| {
        let mut list = Vec::new();
        for (row, text) in rows.iter().enumerate() {
            assert_eq!(text.len(), rows.len());
            list.extend(
                text.char_indices()
                    .filter(|&(_, c)| c == sign)
                    .map(|(column, _)| Point::new(column as u16, row as u16)),
            );
        }
        list.into_iter()
    };
    let mut game = Go::new(&setup).expect("the setup is valid");
    let mut lists = [stones('X'), stones('O')];
    while lists.iter().any(|list| list.len() > 0) || game.turn() != to_move {
        let next = lists[game.turn().index()].next();
        act(&mut game, next.map_or(Action::Pass, Action::Place));
    }
    game
}

fn act(game: &mut Go, action: Action) {
    let mv = game.legal_move(action).unwrap_or_else(|refusal| panic!("{}: {refusal}", game.notation(action)));
    game.play(mv);
}

fn play(game: &mut Go, texts: &str) {
    for text in texts.split(',').map(str::trim) {
        let action = game.parse(text).unwrap_or_else(|| panic!("{text} is no action"));
        act(game, action);
    }
}

fn refusal(game: &Go, text: &str) -> Option<IllegalAction> {
    game.legal_move(game.parse(text).expect("an action")).err()
}

fn point(text: &str) -> Point {
    match Go::new(&GoSetup::default()).expect("the default setup is valid").parse(text) {
        Some(Action::Place(point)) => point,
        _ => panic!("{text} is no point"),
    }
}

fn is_empty(game: &Go, texts: &str) -> bool {
    texts.split(' ').all(|text| game.at(point(text)).is_none())
}

/// Both sides pass, mark these points as dead, and agree; returns the score of each side in half points.
fn counted(mut game: Go, dead: &str) -> [u32; 2] {
    while game.legal_move(Action::Pass).is_ok() {
        act(&mut game, Action::Pass);
    }
    for text in dead.split_whitespace() {
        play(&mut game, &format!("dead {text}"));
    }
    let score = game.score();
    play(&mut game, "agree, agree");
    let [black, white] = score.half_points;
    let winner = (black != white).then_some(if black > white { Side::First } else { Side::Second });
    assert_eq!(game.outcome(), Some(Outcome { winner, reason: Reason::Score }));
    score.half_points
}

#[test]
fn a_chain_without_liberties_is_captured() {
    let mut game = diagram(small(5), "..... .XX.. XOO.. .XX.. .....", Side::First);
    play(&mut game, "D3");
    assert!(is_empty(&game, "B3 C3"));
    assert_eq!(game.prisoners(Side::First), 2);
    assert!(game.view().facts.contains(&Fact::Taken(Side::First, 2)));
}

#[test]
fn suicide_is_refused_for_one_stone_and_for_many_and_is_none_when_it_captures() {
    let one = diagram(small(5), "..... .X... X.X.. .X... .....", Side::Second);
    assert_eq!(refusal(&one, "B3"), Some(IllegalAction::Suicide(point("B3"))));
    let many = diagram(small(5), "..... .XX.. XO.X. .XX.. .....", Side::Second);
    assert_eq!(refusal(&many, "C3"), Some(IllegalAction::Suicide(point("C3"))));
    let mut captures = diagram(small(5), "..... .XO.. X.XO. .XO.. .....", Side::Second);
    play(&mut captures, "B3");
    assert!(is_empty(&captures, "C3"));
}

#[test]
fn a_ko_may_not_be_taken_back_at_once_and_its_point_is_shown() {
    let mut game = diagram(small(5), "..... .XO.. X.XO. .XO.. .....", Side::Second);
    play(&mut game, "B3");
    assert_eq!(refusal(&game, "C3"), Some(IllegalAction::Ko(point("C3"))));
    assert!(game.view().marks.iter().any(|mark| mark.at == point("C3") && mark.kind == MarkKind::Ko));
    play(&mut game, "E5, E1");
    assert_eq!(refusal(&game, "C3"), None, "after an exchange elsewhere");
    assert!(!game.view().marks.iter().any(|mark| mark.kind == MarkKind::Ko));
}

#[test]
fn a_snapback_takes_back_more_than_one_and_is_no_ko() {
    let mut game = diagram(small(5), "..... ..... OOO.. XXXO. ..XO.", Side::Second);
    play(&mut game, "B1, A1");
    assert!(is_empty(&game, "B1"), "the stone thrown in is taken");
    play(&mut game, "B1");
    assert!(is_empty(&game, "A1 A2 B2 C2 C1"));
    assert_eq!(game.prisoners(Side::Second), 5);
}

/// Kos side by side in three pairs of rows; each stone there can be captured.
const THREE_KOS: &str = "
    .............
    ..XO.........
    .XO.O........
    ..XO.........
    .............
    ..XO.........
    .X.XO........
    ..XO.........
    .............
    ..XO.........
    .XO.O........
    ..XO.........
    .............";

#[test]
fn in_a_double_ko_one_is_taken_while_the_other_is_forbidden() {
    let mut game = diagram(small(13), THREE_KOS, Side::First);
    play(&mut game, "D11, C7");
    assert_eq!(refusal(&game, "D7"), Some(IllegalAction::Ko(point("D7"))));
    assert_eq!(refusal(&game, "D3"), None);
}

#[test]
fn a_triple_ko_ends_where_the_board_would_repeat() {
    for superko in [Superko::Positional, Superko::Situational] {
        let mut game = diagram(GoSetup { superko, ..small(13) }, THREE_KOS, Side::First);
        play(&mut game, "D11, C7, D3, C11, D7");
        assert_eq!(refusal(&game, "C3"), Some(IllegalAction::Superko), "{superko:?}");
        play(&mut game, "N13, N1");
        assert_eq!(refusal(&game, "C3"), None, "the board is another now");
    }
}

/// White sends two stones (A1, B1) and recaptures one: the board is as before, with the other side to move.
#[test]
fn sending_two_returning_one_is_forbidden_by_positional_superko_only() {
    for (superko, expected) in
        [(Superko::Positional, Some(IllegalAction::Superko)), (Superko::Situational, None)]
    {
        let setup = GoSetup { superko, ..small(5) };
        let mut game = diagram(setup, "..... ..... XX... XXO.. .O.O.", Side::Second);
        play(&mut game, "A1, C1");
        assert!(is_empty(&game, "A1 B1"));
        assert_eq!(refusal(&game, "B1"), expected, "{superko:?}");
    }
}

#[test]
fn a_pass_repeats_nothing_and_two_lead_to_the_agreement() {
    let mut game = Go::new(&small(5)).expect("the setup is valid");
    play(&mut game, "C3, pass, pass");
    assert_eq!(game.outcome(), None);
    assert_eq!(refusal(&game, "A1"), Some(IllegalAction::WrongKind));
    assert_eq!(refusal(&game, "dead A1"), Some(IllegalAction::Empty(point("A1"))));
    assert_eq!(refusal(&game, "dead F1"), Some(IllegalAction::OffBoard(Point::new(5, 0))));
    assert_eq!(game.legal_move(Action::Pass), Err(IllegalAction::WrongKind));
}

#[test]
fn both_must_agree_to_the_same_dead_stones_and_a_mark_withdraws_agreement() {
    let mut game = diagram(small(5), ".X.O. .X.O. .XXO. OX.O. .X.OO", Side::First);
    play(&mut game, "pass, pass");
    let first = game.turn();
    play(&mut game, "dead A2");
    assert_eq!(game.turn(), first, "a mark leaves the turn");
    assert!(game.view().marks.iter().any(|mark| mark.at == point("A2") && mark.kind == MarkKind::Dead));
    play(&mut game, "agree");
    assert_eq!(game.turn(), first.other());
    assert!(game.view().facts.contains(&Fact::Agreed(first)));
    play(&mut game, "dead A2");
    assert!(!game.view().facts.contains(&Fact::Agreed(first)), "withdrawn, and to be seen");
    play(&mut game, "dead A2, agree");
    assert_eq!(game.outcome(), None, "the first has to agree again");
    play(&mut game, "agree");
    // Black: six stones and the left column; White: six stones and the right column above E1; the middle is neutral.
    assert_eq!(game.score().half_points, [2 * 11, 2 * 10]);
    assert_eq!(game.outcome(), Some(Outcome { winner: Some(Side::First), reason: Reason::Score }));
    assert_eq!(game.legal_move(Action::Agree), Err(IllegalAction::Ended));
}

#[test]
fn resuming_play_gives_the_move_to_the_other_and_forgets_the_marks() {
    let mut game = diagram(small(5), ".X.O. .X.O. .XXO. OX.O. .X.OO", Side::First);
    play(&mut game, "pass, pass, dead A2");
    let asker = game.turn();
    play(&mut game, "resume");
    assert_eq!(game.turn(), asker.other());
    assert!(!game.view().marks.iter().any(|mark| mark.kind == MarkKind::Dead));
    play(&mut game, "C5");
    assert_eq!(game.outcome(), None);
}

#[test]
fn area_and_territory_count_what_their_rules_say() {
    let wall = ".X.O. .X.O. .XXO. .X.O. .X.OO";
    let area = diagram(small(5), wall, Side::First);
    // Black: six stones, five points at the left. White: six stones, four points at the right.
    assert_eq!(counted(area.clone(), ""), [22, 20]);
    let komi = diagram(GoSetup { komi_half_points: 15, ..small(5) }, wall, Side::First);
    assert_eq!(counted(komi, ""), [22, 35]);
    let territory = GoSetup { scoring: Scoring::Territory, ..small(5) };
    assert_eq!(counted(diagram(territory.clone(), wall, Side::First), ""), [10, 8]);
    // A dead stone is a prisoner and its point territory.
    let invaded = ".X.O. .X.O. .XXO. OX.O. .X.OO";
    assert_eq!(counted(diagram(territory, invaded, Side::First), "A2"), [12, 8]);
}

/// White's five stones inside and Black's ring around them share four dame (seki without eyes).
#[test]
fn stones_in_seki_count_by_area_and_nothing_there_by_territory() {
    let seki = "
        .........
        .........
        OOOOOOO..
        OXXXXXO..
        OX.O.XO..
        OXOOOXO..
        OX.O.XO..
        OXXXXXO..
        OOOOOOO..";
    // Black: 16 stones. White: 29 stones and 32 points outside.
    assert_eq!(counted(diagram(small(9), seki, Side::First), ""), [2 * 16, 2 * 61]);
    let territory = GoSetup { scoring: Scoring::Territory, ..small(9) };
    assert_eq!(counted(diagram(territory, seki, Side::First), ""), [0, 2 * 32]);
}

/// White's only eye has no neutral neighbour, but White's chain has one: the eye counts in area scoring only.
#[test]
fn an_eye_in_seki_counts_by_area_and_not_by_territory() {
    let rows = "XX.XX XXXXX OOOOX .OOXX OO.X.";
    let area = diagram(small(5), rows, Side::First);
    // White: eight stones and the eye A2; C1 is neutral.
    let territory = diagram(GoSetup { scoring: Scoring::Territory, ..small(5) }, rows, Side::First);
    let by_area = counted(area, "");
    let by_territory = counted(territory, "");
    assert_eq!(by_area[1], 2 * (8 + 1));
    assert_eq!(by_territory[1], 0, "one eye beside dame is seki");
    assert_eq!(by_territory[0], 2 * 2, "Black has two eyes and needs nothing");
}

/// The corner has one eye, A1, and two dame, A3 and C1: White fills one of them, and Black connects at the other.
#[test]
fn a_group_with_one_eye_that_connects_to_life_at_one_of_two_dame_is_not_in_seki() {
    let rows = "
        .XO.OX...
        .XO.OX...
        .XO.OX...
        .XO.OX...
        .XO.OX...
        XXO.OX...
        .OO.OX...
        XXOOOX...
        .X.XXX...";
    // Black: 21 stones, five points at the left, 27 at the right, and the eye. White: 18 stones and seven points.
    assert_eq!(counted(diagram(small(9), rows, Side::First), ""), [2 * (21 + 33), 2 * (18 + 7)]);
    let territory = GoSetup { scoring: Scoring::Territory, ..small(9) };
    assert_eq!(counted(diagram(territory, rows, Side::First), ""), [2 * 33, 2 * 7]);
}

/// Two groups with an eye each meet at A3 and B3: White fills one, Black connects at the other, and has both eyes.
#[test]
fn two_groups_with_one_eye_each_that_meet_at_two_dame_live_together() {
    let rows = "
        .........
        .........
        OOO......
        XXO......
        .XO......
        XXO......
        ..O......
        XXO......
        .XO......";
    // Black: eight stones and two eyes. White: nine stones and 60 points.
    assert_eq!(counted(diagram(small(9), rows, Side::First), ""), [2 * (8 + 2), 2 * (9 + 60)]);
    let territory = GoSetup { scoring: Scoring::Territory, ..small(9) };
    assert_eq!(counted(diagram(territory, rows, Side::First), ""), [2 * 2, 2 * 60]);
}

/// As above, with one dame in place of two: White fills it, and both groups have one eye.
#[test]
fn one_dame_connects_nobody() {
    let rows = "
        .........
        .........
        OOO......
        XXO......
        .XO......
        XXO......
        .OO......
        XXO......
        .XO......";
    let territory = GoSetup { scoring: Scoring::Territory, ..small(9) };
    assert_eq!(counted(diagram(territory, rows, Side::First), ""), [0, 2 * 60]);
}

#[test]
fn a_handicap_gives_black_stones_and_white_the_move_and_by_area_points() {
    let with = |size, handicap| Go::new(&GoSetup { handicap, ..small(size) });
    let stars = |size, stones| {
        let game = with(size, Handicap::Stars(stones)).expect("the board has these stars");
        assert_eq!(game.turn(), Side::Second);
        let mut list: Vec<String> =
            game.view().pieces.iter().map(|piece| game.notation(Action::Place(piece.at))).collect();
        list.sort();
        list.join(" ")
    };
    assert_eq!(stars(19, 2), "D4 Q16");
    assert_eq!(stars(19, 3), "D16 D4 Q16");
    assert_eq!(stars(19, 5), "D16 D4 K10 Q16 Q4");
    assert_eq!(stars(19, 6), "D10 D16 D4 Q10 Q16 Q4");
    assert_eq!(stars(19, 9), "D10 D16 D4 K10 K16 K4 Q10 Q16 Q4");
    assert_eq!(stars(13, 4), "D10 D4 K10 K4");
    assert_eq!(stars(9, 5), "C3 C7 E5 G3 G7");
    for (size, stones) in [(5, 2), (7, 5), (8, 5), (19, 1), (19, 10)] {
        assert!(with(size, Handicap::Stars(stones)).is_err(), "{size}, {stones}");
    }
    let mut free = with(9, Handicap::Free(3)).expect("nine leaves room");
    assert_eq!(refusal(&free, "pass"), Some(IllegalAction::WrongKind));
    play(&mut free, "A1, B5");
    assert_eq!(free.turn(), Side::First);
    play(&mut free, "C9");
    assert_eq!(free.turn(), Side::Second);
    assert_eq!(counted(free, ""), [2 * 81, 2 * 3], "everything is Black's but the compensation");
}

#[test]
fn points_are_named_without_i() {
    let game = Go::new(&GoSetup { size: 25, ..GoSetup::default() }).expect("25 x 25 is the largest");
    assert_eq!(game.notation(Action::Place(Point::new(7, 0))), "H1");
    assert_eq!(game.notation(Action::Place(Point::new(8, 0))), "J1");
    assert_eq!(game.notation(Action::Place(Point::new(24, 24))), "Z25");
    assert_eq!(game.parse("j10"), Some(Action::Place(Point::new(8, 9))));
    for text in ["I5", "A0", "A", "5", "AA1", "A-1", "A99999", "dead", "dead I3"] {
        assert_eq!(game.parse(text), None, "{text}");
    }
}

#[test]
fn boards_that_make_no_game_are_refused() {
    for size in [0, 1, 26, 255] {
        assert!(Go::new(&small(size)).is_err());
    }
    assert!(Go::new(&GoSetup { handicap: Handicap::Free(1), ..small(9) }).is_err());
    assert!(Go::new(&GoSetup { handicap: Handicap::Free(3), ..small(2) }).is_err());
}

#[test]
fn the_outcome_is_said_in_both_languages() {
    let mut game = diagram(small(5), "..... ..... ..X.. ..... .....", Side::Second);
    play(&mut game, "pass, pass, agree, agree");
    let outcome = game.outcome().expect("both agreed");
    assert_eq!(outcome.words::<Go>(Language::English), "Black wins: by count.");
    assert_eq!(outcome.words::<Go>(Language::Chinese), "黑方胜：数子（目）。");
}

fn position(setup: GoSetup, line: &str) -> Go {
    Go::from_position(&setup, line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// The bent four in the corner: White surrounds three black stones, with A2 and D1 empty, and has no outside liberty.
const BENT_FOUR: &str = "7/7/7/bbb4/wwbbbb1/1wwwwb1/bbb1wb1";

#[test]
fn a_bent_four_in_the_corner_is_death_for_who_plays_there_and_a_ko_for_the_other() {
    let mut white = position(small(7), &format!("{BENT_FOUR} w"));
    play(&mut white, "A2, D1");
    assert!(is_empty(&white, "A2 A3 B2 B3 C2 D2 E1 E2"), "White took his own last liberty but one");
    let mut black = position(small(7), &format!("{BENT_FOUR} b"));
    play(&mut black, "A2, D1");
    assert!(is_empty(&black, "A1 B1 C1 A2"), "White takes the four");
    play(&mut black, "B1, A1, A2");
    assert!(is_empty(&black, "A1"), "and Black the ko within");
    assert_eq!(refusal(&black, "A1"), Some(IllegalAction::Ko(point("A1"))));
    // If nobody plays on, White's group is marked as dead, and everything is Black's.
    let counts = |setup| counted(position(setup, &format!("{BENT_FOUR} b")), "B2");
    assert_eq!(counts(small(7)), [2 * 49, 0]);
    let territory = GoSetup { scoring: Scoring::Territory, ..small(7) };
    assert_eq!(counts(territory), [2 * (49 - 12 + 7), 0], "empty points and seven prisoners");
}

/// White holds a ko in the corner; White can approach at D8 or D9, Black can take the ko and connect.
const TEN_THOUSAND_YEARS: &str = "1wb1wb3/wbb1wb3/wwwwwb3/bbbbbb3/9/9/9/9/9";

#[test]
fn a_ten_thousand_year_ko_becomes_a_seki_or_is_decided_by_who_approaches() {
    let mut black = position(small(9), &format!("{TEN_THOUSAND_YEARS} b"));
    play(&mut black, "A9");
    assert!(is_empty(&black, "B9"));
    assert_eq!(refusal(&black, "B9"), Some(IllegalAction::Ko(point("B9"))));
    play(&mut black, "pass, B9");
    // Black: 14 stones and 57 points outside; White: eight stones; D8 and D9 are neutral.
    assert_eq!(counted(black, ""), [2 * 71, 2 * 8]);
    let territory = GoSetup { scoring: Scoring::Territory, ..small(9) };
    let mut seki = position(territory, &format!("{TEN_THOUSAND_YEARS} b"));
    play(&mut seki, "A9, pass, B9");
    assert_eq!(counted(seki, ""), [2 * (57 + 1), 0], "nobody has points in the seki; one prisoner");
    let mut white = position(small(9), &format!("{TEN_THOUSAND_YEARS} w"));
    play(&mut white, "D9, pass, D8");
    assert!(is_empty(&white, "B8 C8 C9"), "once he has approached, White takes the corner");
}
