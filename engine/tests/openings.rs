//! The opening rules of gomoku and renju: where stones may go, who decides what, which fifth moves are the same, and that
//! bots play all of it.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::files::{Format, GameFile};
use engine::sgf::{Collection, GomokuRecord};
use engine::xiangqi::Notation;
use engine::{
    Action, AnyGame, Bot, Choice, Fact, Game, GameKind, Gomoku, GomokuOpening, GomokuRule, GomokuSetup,
    IllegalAction, Language, Limits, MarkKind, Point, Rng, Setup, Side, Tier, Touch, bot,
};

fn setup(opening: GomokuOpening) -> GomokuSetup {
    let rule = if opening.is_of_renju() { GomokuRule::Renju } else { GomokuRule::Standard };
    GomokuSetup { rule, opening, ..GomokuSetup::default() }
}

/// The game of an opening after these actions.
fn game(opening: GomokuOpening, texts: &str) -> Gomoku {
    let mut game = Gomoku::new(&setup(opening)).expect("the setup is valid");
    play(&mut game, texts);
    game
}

fn play(game: &mut Gomoku, texts: &str) {
    for text in texts.split_whitespace() {
        let action = game.parse(text).unwrap_or_else(|| panic!("{text} is no action"));
        let mv = game.legal_move(action).unwrap_or_else(|why| panic!("{text}: {why}"));
        game.play(mv);
        assert_eq!(game.key(), game.fresh_key(), "{text}");
    }
}

fn refusal(game: &Gomoku, text: &str) -> Option<IllegalAction> {
    game.legal_move(game.parse(text).expect("an action")).err()
}

fn point(text: &str) -> Point {
    text.parse().expect("a point")
}

fn legal(game: &Gomoku) -> Vec<Action> {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    moves.into_iter().map(Gomoku::action).collect()
}

fn choices(game: &Gomoku) -> Vec<Choice> {
    let choice = |action| if let Action::Choose(choice) = action { Some(choice) } else { None };
    game.view().choices.into_iter().filter_map(choice).collect()
}

const COLOURS: [Choice; 2] = [Choice::Black, Choice::White];

#[test]
fn an_opening_that_does_not_fit_rule_or_board_is_refused_with_a_reason() {
    use GomokuOpening::{LongPro, Pro, Soosorv8, Swap, Taraguchi10, Yamaguchi};
    use GomokuRule::{Freestyle, Renju, Standard};
    for (opening, rule, size, says) in [
        (Pro, Standard, 15, ""),
        (Pro, Freestyle, 7, ""),
        (Pro, Standard, 20, "odd size of 7 or more"),
        (Pro, Standard, 5, "odd size of 7 or more"),
        (LongPro, Renju, 9, ""),
        (LongPro, Standard, 7, "odd size of 9 or more"),
        (LongPro, Standard, 14, "odd size of 9 or more"),
        (Swap, Standard, 5, ""),
        (Swap, Renju, 20, ""),
        (Taraguchi10, Renju, 15, ""),
        (Taraguchi10, Standard, 15, "rules of renju"),
        (Taraguchi10, Renju, 13, "15 x 15"),
        (Soosorv8, Renju, 15, ""),
        (Soosorv8, Freestyle, 15, "rules of renju"),
        (Soosorv8, Renju, 19, "15 x 15"),
        (Yamaguchi, Renju, 15, ""),
        (Yamaguchi, Standard, 13, "rules of renju"),
        (Yamaguchi, Renju, 20, "15 x 15"),
    ] {
        let setup = GomokuSetup { rule, size, opening, ..GomokuSetup::default() };
        let made = Gomoku::new(&setup);
        for language in Language::ALL {
            let said = Setup::Gomoku(setup.clone()).misfit(language);
            assert_eq!(said.is_some(), !says.is_empty(), "{opening:?} {rule:?} {size}");
            let read = setup.to_string().parse::<GomokuSetup>();
            assert_eq!(read.ok(), says.is_empty().then(|| setup.clone()), "in files and on command lines");
        }
        match made.err() {
            None => assert_eq!(says, "", "{opening:?} {rule:?} {size}"),
            Some(error) => {
                assert!(
                    !says.is_empty() && error.to_string().contains(says),
                    "{opening:?} {rule:?} {size}: {error}"
                );
            }
        }
    }
}

#[test]
fn each_stone_of_an_opening_goes_where_the_rule_says() {
    use GomokuOpening::{LongPro, Pro, Soosorv8, Swap, Taraguchi10, Yamaguchi};
    let inside = |side| Some(IllegalAction::InsideCentre(side));
    let outside = |side| Some(IllegalAction::OutsideCentre(side));
    for (opening, before, count, allowed, refused) in [
        (Pro, "", 1, "h8", Some(("h9", Some(IllegalAction::NotCentre)))),
        (Pro, "h8", 224, "a1", None),
        (Pro, "h8 i9", 200, "k11", Some(("j10", inside(5)))),
        (Pro, "h8 a1", 199, "h5", Some(("f10", inside(5)))),
        (Pro, "h8 a1 h5", 222, "h9", None),
        (LongPro, "", 1, "h8", Some(("a1", Some(IllegalAction::NotCentre)))),
        (LongPro, "h8 i9", 176, "l8", Some(("k8", inside(7)))),
        (LongPro, "h8 i9 l8", 222, "h9", None),
        (Swap, "", 225, "a1", None),
        (Swap, "a1 o15", 223, "h8", None),
        (Taraguchi10, "", 1, "h8", Some(("i9", Some(IllegalAction::NotCentre)))),
        (Taraguchi10, "h8 white", 8, "i9", Some(("j8", outside(3)))),
        (Taraguchi10, "h8 white i9 black", 23, "j10", Some(("k8", outside(5)))),
        (Taraguchi10, "h8 white i9 black j8 white", 46, "k5", Some(("l8", outside(7)))),
        (Taraguchi10, "h8 white i9 black j8 white h9 black", 77, "l12", Some(("m8", outside(9)))),
        (Taraguchi10, "h8 white i9 black j8 white h9 black g7 white", 220, "a1", None),
        (Soosorv8, "", 1, "h8", Some(("h7", Some(IllegalAction::NotCentre)))),
        (Soosorv8, "h8", 8, "g7", Some(("f8", outside(3)))),
        (Soosorv8, "h8 g7", 23, "f6", Some(("e8", outside(5)))),
        (Soosorv8, "h8 g7 f8 white", 222, "o1", None),
        (Yamaguchi, "h8 h9", 23, "h10", Some(("h11", outside(5)))),
        (Yamaguchi, "h8 h9 h10 offer3 white", 222, "o1", None),
    ] {
        let game = game(opening, before);
        let stones = legal(&game);
        assert_eq!(stones.len(), count, "{opening:?} {before}");
        assert!(stones.contains(&Action::Place(point(allowed))), "{opening:?} {before}: {allowed}");
        assert!(matches!(game.view().touch, Touch::Place(_)));
        if let Some((text, why)) = refused {
            assert_eq!(refusal(&game, text), why, "{opening:?} {before}: {text}");
        }
    }
}

/// Who decides, the colour of the next stone, and whether the first player has White.
type Standing = (Side, Side, bool);

#[test]
fn each_decision_gives_turn_and_colours_as_the_rule_says() {
    use GomokuOpening::{Soosorv8, Swap, Taraguchi10, Yamaguchi};
    use Side::{First, Second};
    let fifths = |most| (1..=most).map(Choice::Fifths).collect::<Vec<_>>();
    let (colours, none) = (COLOURS.to_vec(), Vec::new());
    let ten = vec![Choice::Black, Choice::White, Choice::Fifths(10)];
    let cases: Vec<(GomokuOpening, &str, Standing, Vec<Choice>)> = vec![
        (Swap, "h8 h9", (First, First, false), none.clone()),
        (Swap, "h8 h9 j7", (Second, Second, false), colours.clone()),
        (Swap, "h8 h9 j7 white", (Second, Second, false), none.clone()),
        (Swap, "h8 h9 j7 black", (First, Second, true), none.clone()),
        // Taraguchi-10: after each stone the one who did not place it chooses.
        (Taraguchi10, "h8", (Second, Second, false), colours.clone()),
        (Taraguchi10, "h8 black", (First, Second, true), none.clone()),
        (Taraguchi10, "h8 black i9", (Second, First, true), colours.clone()),
        (Taraguchi10, "h8 black i9 white", (First, First, false), none.clone()),
        (Taraguchi10, "h8 white i9", (First, First, false), colours.clone()),
        (Taraguchi10, "h8 white i9 black j8", (Second, Second, false), colours.clone()),
        (Taraguchi10, "h8 white i9 black j8 white h9", (First, First, false), ten.clone()),
        (Taraguchi10, "h8 white i9 black j8 black h9", (Second, First, true), ten),
        (Taraguchi10, "h8 white i9 black j8 white h9 black g7", (Second, Second, false), colours.clone()),
        (Taraguchi10, "h8 white i9 black j8 white h9 white g7", (First, Second, true), colours.clone()),
        (Taraguchi10, "h8 white i9 black j8 white h9 white g7 black", (Second, Second, false), none.clone()),
        (Taraguchi10, "h8 white i9 black j8 white h9 offer10", (First, First, false), none.clone()),
        (Soosorv8, "h8 i9 j8", (Second, Second, false), colours.clone()),
        (Soosorv8, "h8 i9 j8 black", (First, Second, true), none.clone()),
        (Soosorv8, "h8 i9 j8 black a1", (First, First, true), fifths(8)),
        (Soosorv8, "h8 i9 j8 black a1 offer8", (Second, First, true), colours.clone()),
        (Soosorv8, "h8 i9 j8 black a1 offer8 white", (First, First, false), none.clone()),
        (Soosorv8, "h8 i9 j8 white a1 offer2 black", (First, First, false), none.clone()),
        (Soosorv8, "h8 i9 j8 white a1 offer2 black b2 c4", (Second, First, false), none.clone()),
        (Soosorv8, "h8 i9 j8 white a1 offer2 black b2 c4 c4", (Second, Second, false), none.clone()),
        (Yamaguchi, "h8 i9 j8", (First, Second, false), fifths(10)),
        (Yamaguchi, "h8 i9 j8 offer2", (Second, Second, false), colours),
        (Yamaguchi, "h8 i9 j8 offer2 black", (First, Second, true), none.clone()),
        (Yamaguchi, "h8 i9 j8 offer2 black a1", (Second, First, true), none.clone()),
        (Yamaguchi, "h8 i9 j8 offer2 black a1 b2 c4", (First, First, true), none.clone()),
        (Yamaguchi, "h8 i9 j8 offer2 black a1 b2 c4 b2", (First, Second, true), none.clone()),
        // A single fifth move leaves no choice.
        (Yamaguchi, "h8 i9 j8 offer1 white a1", (First, First, false), none.clone()),
        (Yamaguchi, "h8 i9 j8 offer1 white a1 b2", (Second, Second, false), none),
    ];
    for (opening, texts, (turn, color, swapped), due) in cases {
        let game = game(opening, texts);
        assert_eq!((game.turn(), game.next_color()), (turn, color), "{opening:?} {texts}");
        assert_eq!(game.color(Side::First) == Side::Second, swapped, "{opening:?} {texts}");
        assert_eq!(game.view().facts.contains(&Fact::Swapped), swapped, "{opening:?} {texts}");
        assert_eq!(choices(&game), due, "{opening:?} {texts}");
        assert_eq!(game.view().touch == Touch::Choose, !due.is_empty(), "{opening:?} {texts}");
        for choice in Choice::ALL.into_iter().filter(|choice| !due.contains(choice)) {
            assert_eq!(refusal(&game, choice.word()), Some(IllegalAction::WrongKind), "{texts} {choice:?}");
        }
    }
    let declares = game(Yamaguchi, "h8 i9 j8");
    assert_eq!(refusal(&declares, "a1"), Some(IllegalAction::SayFifthsFirst));
    assert_eq!(refusal(&game(Soosorv8, "h8 i9 j8"), "a1"), Some(IllegalAction::ChooseFirst));
}

#[test]
fn fifth_moves_are_no_stones_until_white_has_chosen_one() {
    let mut offers = game(GomokuOpening::Yamaguchi, "h8 i9 j8 offer3 white a1 b2 c4");
    let marked = |game: &Gomoku| -> Vec<Point> {
        let marks = game.view().marks.into_iter();
        marks.filter(|mark| mark.kind == MarkKind::Offered).map(|mark| mark.at).collect()
    };
    assert!(offers.is_offering());
    assert_eq!(offers.view().pieces.len(), 4);
    assert_eq!(marked(&offers), [point("b2"), point("c4")]);
    assert_eq!(refusal(&offers, "b2"), Some(IllegalAction::Offered(point("b2"))));
    assert_eq!(refusal(&offers, "h8"), Some(IllegalAction::Occupied(point("h8"))));
    play(&mut offers, "h9");
    assert_eq!(legal(&offers), ["b2", "c4", "h9"].map(|at| Action::Place(point(at))));
    assert_eq!(refusal(&offers, "h10"), Some(IllegalAction::NotOffered(point("h10"))));
    play(&mut offers, "c4");
    let stone = offers.view().pieces.into_iter().find(|piece| piece.at == point("c4"));
    assert_eq!(stone.map(|stone| stone.side), Some(Side::First), "it is Black's");
    assert_eq!(offers.view().pieces.len(), 5);
    assert_eq!(marked(&offers), []);
    assert!(!offers.is_opening());
    assert_eq!(refusal(&offers, "b2"), None);
}

#[test]
fn of_fifth_moves_that_are_the_same_by_symmetry_only_one_is_offered() {
    // The stones, an offer, points that are the same, points that are not.
    for (before, offer, same, other) in [
        // An axis through the centre: the column of h.
        ("h8 h9 h10 offer4 white h7", "g8", "i8", "g9 i9 h6"),
        ("h8 h9 h10 offer4 white h7", "a1", "o1", "a15"),
        // The diagonal.
        ("h8 i9 j10 offer4 white g7", "h9", "i8", "g8 h7"),
        // Half a turn about the middle between h8 and i9.
        ("h8 h9 i9 offer4 white i8", "g8", "j9", "g10 j7"),
        // All of the square's symmetries that keep the colours: also both diagonals.
        ("h8 h9 i9 offer4 white i8", "g7", "j10", "g10"),
        ("h8 h9 i9 offer4 white i8", "h7", "g8 j9 i10", "j8"),
        // An axis beside the centre, between the columns h and i.
        ("h8 h9 i8 offer4 white i9", "g8", "j8", "h10"),
        ("h8 h9 i8 offer4 white i9", "f5", "k5", "f12"),
        // No symmetry at all.
        ("h8 h9 i9 offer4 white a1", "g8", "", "i8 g9 i10 j9"),
        // Stones mirror each other, but not in colour.
        ("h8 g9 i9 offer4 white a4", "g8", "", "i8"),
    ] {
        let mut game = game(GomokuOpening::Yamaguchi, before);
        play(&mut game, offer);
        let at = point(offer);
        assert_eq!(refusal(&game, offer), Some(IllegalAction::Offered(at)), "{before}");
        for text in same.split_whitespace() {
            assert_eq!(
                refusal(&game, text),
                Some(IllegalAction::Symmetric(at)),
                "{before}: {offer} and {text}"
            );
        }
        for text in other.split_whitespace() {
            assert_eq!(refusal(&game, text), None, "{before}: {offer} and {text}");
        }
    }
}

#[test]
fn positions_that_go_on_differently_have_different_keys() {
    use GomokuOpening::{LongPro, Pro, Soosorv8, Swap, Swap2, Taraguchi10, Yamaguchi};
    let lines: [(GomokuOpening, &[&str]); 7] = [
        (Pro, &["", "h8", "h8 i9", "h8 i9 a1"]),
        (LongPro, &["", "h8", "h8 i9", "h8 i9 a1"]),
        (Swap, &["h8 i9 j8", "h8 i9 j8 white", "h8 i9 j8 black"]),
        (Swap2, &["h8 i9 j8", "h8 i9 j8 white", "h8 i9 j8 black", "h8 i9 j8 more"]),
        (Taraguchi10, &["h8", "h8 white", "h8 black", "h8 white i9", "h8 black i9"]),
        (Soosorv8, &["h8 i9 j8", "h8 i9 j8 white", "h8 i9 j8 white a1 offer2", "h8 i9 j8 white a1 offer3"]),
        (
            Yamaguchi,
            &[
                "h8 i9 j8",
                "h8 i9 j8 offer2",
                "h8 i9 j8 offer3",
                "h8 i9 j8 offer2 white",
                "h8 i9 j8 offer3 white a1",
                "h8 i9 j8 offer3 white a1 b2",
                "h8 i9 j8 offer3 white a1 c4",
                "h8 i9 j8 offer3 white a1 b2 c4",
            ],
        ),
    ];
    let keys: Vec<u64> = lines
        .iter()
        .flat_map(|(opening, texts)| texts.iter().map(|text| game(*opening, text).key()))
        .collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    // What is offered counts, not in which order.
    assert_eq!(
        game(Yamaguchi, "h8 i9 j8 offer3 white a1 b2 c4").key(),
        game(Yamaguchi, "h8 i9 j8 offer3 white a1 c4 b2").key()
    );
}

#[test]
fn every_decision_of_every_opening_leads_to_an_end_in_random_play_and_reads_back() {
    let mut seen = BTreeSet::new();
    for opening in GomokuOpening::ALL {
        for seed in 0..30 {
            let start = Gomoku::new(&setup(opening)).expect("the setup is valid");
            let (mut game, mut any) =
                (start.clone(), AnyGame::new(&Setup::Gomoku(setup(opening))).expect("valid"));
            let mut rng = Rng::new(seed);
            let (mut actions, mut texts) = (Vec::new(), String::new());
            while game.outcome().is_none() {
                let all = legal(&game);
                assert!(!all.is_empty(), "a game that is not over goes on");
                let action = all[rng.below(all.len() as u32) as usize];
                if let Action::Choose(choice) = action {
                    seen.insert((opening.word(), choice));
                }
                for language in Language::ALL {
                    let told = game.told(language);
                    assert_eq!(told.is_some(), game.is_opening(), "{texts}");
                    assert!(told.is_none_or(|told| told.len() <= 256), "clients take no longer ones");
                }
                let text = game.notation(action);
                assert_eq!(game.parse(&text), Some(action));
                assert_eq!(any.spoken(action).map(|said| said.iter().all(|one| !one.is_empty())), Some(true));
                texts += &text;
                texts.push(' ');
                any.act(action).expect("the enum knows the same moves");
                game.play(game.legal_move(action).expect("it was listed"));
                assert_eq!((game.key(), game.turn()), (game.fresh_key(), any.turn()), "{texts}");
                actions.push(action);
            }
            let text = Collection { games: vec![GomokuRecord::write(&start, &actions)] }.write();
            let read = Collection::read(text.as_bytes()).expect("our own file");
            let again = GomokuRecord::read(&read.games[0])
                .unwrap_or_else(|stopped| panic!("{}: {text}", stopped.error));
            assert_eq!(again.start.setup(), start.setup(), "{text}");
            assert_eq!((again.actions, again.game.view()), (actions, game.view()), "{text}");
        }
    }
    let count = |word| seen.iter().filter(|(opening, _)| *opening == word).count();
    let counts = GomokuOpening::ALL.map(|opening| count(opening.word()));
    assert_eq!(counts, [0, 0, 0, 2, 3, 3, 10, 12], "each choice was taken");
}

#[test]
fn a_file_for_stones_only_has_no_fifth_moves_that_were_not_chosen() {
    let texts = "h8 i9 j8 offer3 white a1 b2 c4 h9 c4 d5";
    let any = AnyGame::new(&Setup::Gomoku(setup(GomokuOpening::Yamaguchi))).expect("valid");
    let mut game = any.clone();
    let mut actions = Vec::new();
    for text in texts.split(' ') {
        let action = game.parse(text).expect("an action");
        game.act(action).expect("a legal one");
        actions.push(action);
    }
    let empty = b"[Game \"gomoku\"]\n[Rules \"15 renju yamaguchi\"]\n\n*\n";
    let empty = GameFile::read(GameKind::Gomoku, Format::Record(Notation::Iccs), empty)
        .unwrap_or_else(|_| panic!("a file"));
    let file = GameFile { start: any, actions, game, ..empty };
    let psq = file.write(Format::Psq).expect("it has stones only");
    assert_eq!(psq.lines().filter(|line| line.ends_with(",0") && !line.starts_with('P')).count(), 6, "{psq}");
}

fn ask(bot: &mut dyn Bot, game: &Gomoku, nodes: u64) -> Action {
    let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
    let limits = Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &elapsed };
    bot.choose(&AnyGame::Gomoku(game.clone()), &limits, &mut |_| {}).expect("the game goes on").line[0]
}

fn level(number: u8, seed: u64) -> Box<dyn Bot> {
    bot(GameKind::Gomoku, Tier::new(number).expect("a level"), seed)
}

#[test]
fn a_bot_of_each_level_plays_each_opening_and_the_same_again_with_its_seed() {
    for opening in GomokuOpening::ALL {
        for number in 1..=10 {
            let mut game = game(opening, "");
            let mut bots = [level(number, 1), level(number, 2)];
            let mut decisions = 0;
            while game.is_opening() {
                let action = ask(bots[game.turn().index()].as_mut(), &game, 300);
                let again = ask(level(number, 1 + game.turn().index() as u64).as_mut(), &game, 300);
                assert_eq!(again, action, "{opening:?}, level {number}");
                let mv = game
                    .legal_move(action)
                    .unwrap_or_else(|why| panic!("{opening:?}, level {number}: {why}"));
                game.play(mv);
                decisions += 1;
                assert!(decisions < 30, "an opening ends");
            }
            let after = ask(bots[game.turn().index()].as_mut(), &game, 300);
            assert!(game.legal_move(after).is_ok(), "{opening:?}, level {number}");
        }
    }
}

#[test]
fn bots_play_on_from_every_choice_of_every_opening() {
    for opening in GomokuOpening::ALL {
        let mut choices = 0;
        let mut open = vec![game(opening, "")];
        while let Some(mut game) = open.pop() {
            while game.is_opening() && game.choices().is_empty() {
                let action = ask(level(1 + (open.len() % 6) as u8, 3).as_mut(), &game, 100);
                game.play(game.legal_move(action).unwrap_or_else(|why| panic!("{opening:?}: {why}")));
            }
            for choice in game.choices() {
                let mut other = game.clone();
                other.play(other.legal_move(Action::Choose(*choice)).expect("it is offered"));
                choices += 1;
                open.push(other);
            }
        }
        let all = match opening {
            GomokuOpening::Free | GomokuOpening::Pro | GomokuOpening::LongPro => 0,
            GomokuOpening::Swap => 2,
            // Both colours, or two more and then both.
            GomokuOpening::Swap2 => 5,
            // Two after each of five stones; after the fourth also ten fifth moves, which end the opening.
            GomokuOpening::Taraguchi10 => 2 + 4 + 8 + 8 * 3 + 16 * 2,
            // Two, eight numbers, two.
            GomokuOpening::Soosorv8 => 2 * (1 + 8 * (1 + 2)),
            GomokuOpening::Yamaguchi => 10 * (1 + 2),
        };
        assert_eq!(choices, all, "{opening:?}");
    }
}

#[test]
fn a_bot_takes_the_better_colour_and_the_fifth_move_that_is_worst_for_black() {
    for number in [3, 6, 10] {
        // Black has an open three with White to move far away: who chooses plays Black.
        let lost = game(GomokuOpening::Swap, "h8 a1 h9");
        assert_eq!(
            ask(level(number, 1).as_mut(), &lost, 2_000),
            Action::Choose(Choice::Black),
            "level {number}"
        );
        // Of three fifth moves one is in the corner.
        for corner in ["a15", "o1"] {
            let texts = format!("h8 h9 i9 offer3 white g7 g8 {corner} i8");
            let picks = game(GomokuOpening::Yamaguchi, &texts);
            let picked = ask(level(number, 1).as_mut(), &picks, 2_000);
            assert_eq!(picked, Action::Place(point(corner)), "level {number}");
        }
        // White's stones are useless: Black is far ahead with every fifth move.
        let ahead = game(GomokuOpening::Soosorv8, "h8 h9 i9 white a1 offer2");
        assert_eq!(
            ask(level(number, 1).as_mut(), &ahead, 2_000),
            Action::Choose(Choice::Black),
            "level {number}"
        );
        let many = ask(level(number, 1).as_mut(), &game(GomokuOpening::Soosorv8, "h8 h9 i9 white a1"), 2_000);
        assert!(matches!(many, Action::Choose(Choice::Fifths(6..))), "level {number}: {many:?}");
        let ten = game(GomokuOpening::Taraguchi10, "h8 white h9 black i9 white k11");
        assert_eq!(
            ask(level(number, 1).as_mut(), &ten, 2_000),
            Action::Choose(Choice::Fifths(10)),
            "level {number}"
        );
    }
}
