//! Renju's forbidden points: against positions from other sources (`renju.txt`), against a second implementation written from
//! the definitions, and in play; and the opening rule in which colours are chosen.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::collections::{BTreeSet, HashMap};

use engine::gomoku::{Fault, Opening};
use engine::{
    Action, AnyGame, Choice, Fact, Game, GameKind, Gomoku, GomokuOpening, GomokuRule, GomokuSetup,
    IllegalAction, Language, Limits, MarkKind, Outcome, Point, Reason, Rng, Score, Setup, Side, Tier, bot,
};

fn renju() -> GomokuSetup {
    GomokuSetup { rule: GomokuRule::Renju, ..GomokuSetup::default() }
}

fn point(text: &str) -> Point {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn play(game: &mut Gomoku, texts: &str) {
    for text in texts.split_whitespace() {
        let action = game.parse(text).unwrap_or_else(|| panic!("{text} is no action"));
        let mv = game.legal_move(action).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        game.play(mv);
    }
}

/// The status of a point for Black, as in the file.
fn verdict(game: &Gomoku, at: Point) -> &'static str {
    let mut after = game.clone();
    after.play(game.legal_move(Action::Place(at)).expect("the point is empty"));
    match after.outcome() {
        Some(Outcome { winner: Some(Side::First), reason: Reason::FiveInARow }) => "five",
        Some(Outcome { winner: Some(Side::Second), reason: Reason::Forbidden(fault) }) => match fault {
            Fault::Overline => "overline",
            Fault::DoubleFour => "double-four",
            Fault::DoubleThree => "double-three",
        },
        None => "free",
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_point_of_renju_txt_is_what_its_source_says() {
    let mut asked = 0;
    for (number, line) in (1..).zip(include_str!("renju.txt").lines()) {
        if line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [position, points, expected, source] = fields[..] else { panic!("line {number}: four fields") };
        let game = Gomoku::from_position(&renju(), position).unwrap_or_else(|error| panic!("{error}"));
        let forbidden: BTreeSet<Point> = game.forbidden().into_iter().map(|(at, _)| at).collect();
        if expected == "only" {
            let said: BTreeSet<Point> = points.split(' ').filter(|text| *text != "-").map(point).collect();
            assert_eq!(forbidden, said, "line {number}: {source}");
        } else {
            let at = point(points);
            let found = verdict(&game, at);
            let is_foul = !matches!(found, "five" | "free");
            assert!(found == expected || (expected == "foul" && is_foul), "line {number}: {found}; {source}");
            assert_eq!(forbidden.contains(&at), is_foul, "line {number}");
        }
        asked += 1;
    }
    assert!(asked >= 60, "{asked} positions");
}

/// A second implementation of the definitions: by windows of cells and sets of stones, where the engine scans lines.
#[derive(Clone)]
struct Slow {
    size: i32,
    stones: HashMap<At, char>,
}

/// Column and row.
type At = (i32, i32);
/// The cells, and the two before and after them.
type Stretch = (Vec<At>, [At; 4]);

const STEPS: [At; 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

impl Slow {
    fn at(&self, at: At) -> char {
        let inside = (0..self.size).contains(&at.0) && (0..self.size).contains(&at.1);
        if inside { self.stones.get(&at).copied().unwrap_or('.') } else { '#' }
    }

    fn with(&self, at: At) -> Self {
        let mut after = self.clone();
        after.stones.insert(at, 'X');
        after
    }

    /// All windows of this length that contain the point, with the two cells before and after each.
    fn stretches(at: At, length: i32) -> Vec<Stretch> {
        let mut list = Vec::new();
        for (right, up) in STEPS {
            for back in 0..length {
                let cell = |n: i32| (at.0 + (n - back) * right, at.1 + (n - back) * up);
                list.push((
                    (0..length).map(cell).collect(),
                    [cell(-2), cell(-1), cell(length), cell(length + 1)],
                ));
            }
        }
        list
    }

    fn makes_five(&self, at: At) -> bool {
        Self::stretches(at, 5).into_iter().any(|(cells, [_, before, after, _])| {
            cells.iter().all(|&cell| self.at(cell) == 'X') && self.at(before) != 'X' && self.at(after) != 'X'
        })
    }

    fn makes_overline(&self, at: At) -> bool {
        Self::stretches(at, 6).into_iter().any(|(cells, _)| cells.iter().all(|&cell| self.at(cell) == 'X'))
    }

    /// The stones among the cells, and the only empty cell.
    fn all_but_one(&self, cells: &[At]) -> Option<(BTreeSet<At>, At)> {
        let (own, other): (Vec<_>, Vec<_>) = cells.iter().partition(|&&cell| self.at(cell) == 'X');
        match other[..] {
            [gap] if self.at(gap) == '.' => Some((own.into_iter().collect(), gap)),
            _ => None,
        }
    }

    fn fours(&self, at: At) -> usize {
        let mut fours = BTreeSet::new();
        for (cells, [_, before, after, _]) in Self::stretches(at, 5) {
            if self.at(before) != 'X'
                && self.at(after) != 'X'
                && let Some((stones, _)) = self.all_but_one(&cells)
            {
                fours.insert(stones);
            }
        }
        fours.len()
    }

    fn threes(&self, at: At) -> usize {
        let mut threes = BTreeSet::new();
        for (cells, [beyond_before, before, after, beyond_after]) in Self::stretches(at, 4) {
            let room = self.at(before) == '.'
                && self.at(after) == '.'
                && self.at(beyond_before) != 'X'
                && self.at(beyond_after) != 'X';
            if room
                && let Some((stones, gap)) = self.all_but_one(&cells)
                && !self.with(gap).makes_five(gap)
                && self.forbidden(gap).is_none()
            {
                threes.insert(stones);
            }
        }
        threes.len()
    }

    fn forbidden(&self, at: At) -> Option<Fault> {
        let after = self.with(at);
        if after.makes_five(at) {
            None
        } else if after.makes_overline(at) {
            Some(Fault::Overline)
        } else if after.fours(at) > 1 {
            Some(Fault::DoubleFour)
        } else if after.threes(at) > 1 {
            Some(Fault::DoubleThree)
        } else {
            None
        }
    }
}

#[test]
fn on_random_boards_both_rule_books_forbid_the_same_points_for_the_same_reason() {
    let mut seen: HashMap<Fault, usize> = HashMap::new();
    let enough = |seen: &HashMap<Fault, usize>| {
        let all = [Fault::Overline, Fault::DoubleFour, Fault::DoubleThree];
        all.iter().all(|fault| seen.get(fault).is_some_and(|&count| count > 20))
    };
    let first = seed::begin("forbidden points", 0);
    // With another seed one of them may be rarer.
    for seed in first..first + 2_500 {
        if seed >= first + 250 && enough(&seen) {
            break;
        }
        let mut rng = Rng::new(seed);
        let size = [9, 13, 15][seed as usize % 3];
        // Mostly black, so that nested forbidden points occur; the densest boards nest deepest.
        let black = 8 + rng.below(22);
        let white = rng.below(20);
        let mut stones = HashMap::new();
        for (n, stone) in [(black, 'X'), (white, 'O')] {
            for _ in 0..n {
                let middle = size / 2 - 3;
                let mut coordinate = || middle + rng.below(7) as i32;
                stones.insert((coordinate(), coordinate()), stone);
            }
        }
        let slow = Slow { size, stones };
        let mut line = String::new();
        for row in (0..size).rev() {
            for column in 0..size {
                line.push_str(match slow.at((column, row)) {
                    'X' => "b",
                    'O' => "w",
                    _ => "1",
                });
                // Consecutive empty points are written as separate ones, because a number would merge them.
                line.push(' ');
            }
            line.push('/');
        }
        let rows: Vec<String> = line
            .trim_end_matches('/')
            .split('/')
            .map(|row| {
                let mut text = String::new();
                let mut empty = 0;
                for sign in row.split_whitespace() {
                    if sign == "1" {
                        empty += 1;
                    } else {
                        if empty > 0 {
                            text += &empty.to_string();
                        }
                        empty = 0;
                        text += sign;
                    }
                }
                if empty > 0 {
                    text += &empty.to_string();
                }
                text
            })
            .collect();
        let setup = GomokuSetup { size: size as u8, ..renju() };
        // A board with a five is skipped.
        let Ok(game) = Gomoku::from_position(&setup, &format!("{} b", rows.join("/"))) else { continue };
        let found: HashMap<Point, Fault> = game.forbidden().into_iter().collect();
        for at in (0..size).flat_map(|row| (0..size).map(move |column| (column, row))) {
            if slow.at(at) == '.' {
                let expected = slow.forbidden(at);
                let here = Point::new(at.0 as u16, at.1 as u16);
                assert_eq!(found.get(&here), expected.as_ref(), "{here} in {}", game.position());
                if let Some(fault) = expected {
                    *seen.entry(fault).or_default() += 1;
                }
            }
        }
    }
    assert!(enough(&seen), "{seen:?}");
}

#[test]
fn a_forbidden_stone_loses_and_the_stones_that_make_it_so_are_marked() {
    let mut game = Gomoku::new(&renju()).expect("the setup is valid");
    play(&mut game, "f8 a1 g8 c1 h7 e1 h6 g1");
    let marked = |game: &Gomoku, kind| -> Vec<String> {
        game.view().marks.iter().filter(|mark| mark.kind == kind).map(|mark| mark.at.to_string()).collect()
    };
    assert_eq!(marked(&game, MarkKind::Forbidden), ["h8"]);
    play(&mut game, "h8");
    let outcome = game.outcome().expect("a forbidden point loses");
    assert_eq!(
        outcome,
        Outcome { winner: Some(Side::Second), reason: Reason::Forbidden(Fault::DoubleThree) }
    );
    assert_eq!(marked(&game, MarkKind::Fault), ["f8", "g8", "h6", "h7", "h8"]);
    assert!(marked(&game, MarkKind::Forbidden).is_empty());
    assert_eq!(
        outcome.words::<Gomoku>(Language::English),
        "White wins: a forbidden double three by the other side."
    );
    assert_eq!(outcome.words::<Gomoku>(Language::Chinese), "白方胜：对方三三禁手。");
}

#[test]
fn nothing_is_forbidden_to_white_whose_overline_wins() {
    let mut game = Gomoku::new(&renju()).expect("the setup is valid");
    play(&mut game, "a1 d8 c1 e8 e1 f8 g1 h8 a3 i8 c3");
    assert!(game.forbidden().is_empty());
    play(&mut game, "g8");
    assert_eq!(game.outcome(), Some(Outcome { winner: Some(Side::Second), reason: Reason::FiveInARow }));
}

#[test]
fn the_26_openings_have_names_however_the_board_is_turned() {
    let names: BTreeSet<&str> = Opening::all().map(|opening| opening.name(Language::English)).collect();
    assert_eq!(names.len(), 26);
    for opening in Opening::all() {
        for turn in 0..8 {
            let mut game = Gomoku::new(&renju()).expect("the setup is valid");
            play(&mut game, "h8");
            for (mut x, mut y) in opening.stones() {
                if turn & 4 != 0 {
                    (x, y) = (y, x);
                }
                let (x, y) = (if turn & 1 != 0 { -x } else { x }, if turn & 2 != 0 { -y } else { y });
                play(&mut game, &Point::new((7 + x) as u16, (7 + y) as u16).to_string());
            }
            assert_eq!(game.opening(), Some(opening), "{} turned {turn}", opening.name(Language::English));
            assert!(game.view().facts.contains(&Fact::Opening(opening)));
        }
    }
    let mut kagetsu = Gomoku::new(&renju()).expect("the setup is valid");
    play(&mut kagetsu, "h8 h9 i9");
    assert_eq!(kagetsu.opening().map(|opening| opening.name(Language::Chinese)), Some("花月"));
    let mut far = Gomoku::new(&renju()).expect("the setup is valid");
    play(&mut far, "h8 h9 a1");
    assert_eq!(far.opening(), None);
}

fn swap2() -> Gomoku {
    let setup = GomokuSetup { opening: GomokuOpening::Swap2, ..GomokuSetup::default() };
    let mut game = Gomoku::new(&setup).expect("the setup is valid");
    assert_eq!(game.turn(), Side::First);
    play(&mut game, "h8");
    assert_eq!((game.turn(), game.next_color()), (Side::First, Side::Second));
    play(&mut game, "h9 j7");
    game
}

fn choices(game: &Gomoku) -> Vec<Choice> {
    let choice = |action| if let Action::Choose(choice) = action { Some(choice) } else { None };
    game.view().choices.into_iter().filter_map(choice).collect()
}

#[test]
fn each_of_the_five_choices_of_swap2_gives_turn_and_colours_as_it_says() {
    for (texts, turn, black) in [
        ("white", Side::Second, Side::First),
        ("black", Side::First, Side::Second),
        ("more k9 k10 black", Side::Second, Side::First),
        ("more k9 k10 white", Side::First, Side::Second),
    ] {
        let mut game = swap2();
        assert_eq!(
            (game.turn(), choices(&game)),
            (Side::Second, vec![Choice::Black, Choice::White, Choice::TwoMore])
        );
        play(&mut game, texts);
        assert_eq!(game.turn(), turn, "{texts}");
        assert_eq!(game.next_color(), Side::Second, "{texts}: White has the next stone");
        assert_eq!(game.color(black), Side::First, "{texts}");
        assert_eq!(game.view().facts.contains(&Fact::Swapped), black == Side::Second, "{texts}");
        assert!(choices(&game).is_empty());
    }
    // The fifth stone: two more are placed, after which the first player chooses the colour.
    let mut game = swap2();
    play(&mut game, "more");
    assert_eq!((game.turn(), game.next_color()), (Side::Second, Side::Second));
    play(&mut game, "k9");
    assert_eq!((game.turn(), game.next_color()), (Side::Second, Side::First));
    play(&mut game, "k10");
    assert_eq!((game.turn(), choices(&game)), (Side::First, vec![Choice::Black, Choice::White]));
    let h1 = Action::Place(point("h1"));
    assert_eq!(game.legal_move(h1), Err(IllegalAction::ChooseFirst));
    assert_eq!(game.legal_move(Action::Choose(Choice::TwoMore)), Err(IllegalAction::WrongKind));
    play(&mut game, "white");
    assert_eq!(game.legal_move(Action::Choose(Choice::White)), Err(IllegalAction::WrongKind));
}

#[test]
fn after_an_exchange_the_player_who_has_the_colour_wins_and_the_words_name_the_colour() {
    let mut game = swap2();
    play(&mut game, "black a1 h7 a2 h6 a3 i7 a4 g7 a5");
    let outcome = game.outcome().expect("five white stones in a column");
    assert_eq!(outcome.winner, Some(Side::First), "the first player has White");
    let setup = Setup::Gomoku(game.setup().clone());
    let mut any = AnyGame::new(&setup).expect("the setup is valid");
    for text in "h8 h9 j7 black a1 h7 a2 h6 a3 i7 a4 g7 a5".split(' ') {
        any.act(any.parse(text).expect("an action")).expect("a legal one");
    }
    assert_eq!(outcome.words_in(&any, Language::English), "White wins: five in a row.");
    assert_eq!(outcome.words_in(&any, Language::Chinese), "白方胜：五子连珠。");
}

#[test]
fn positions_with_the_colours_exchanged_or_to_be_chosen_have_keys_of_their_own() {
    let key = |texts: &str| {
        let mut game = swap2();
        play(&mut game, texts);
        assert_eq!(game.key(), game.fresh_key());
        game.key()
    };
    let keys: BTreeSet<u64> = [key(""), key("white"), key("black"), key("more")].into();
    assert_eq!(keys.len(), 4);
    assert_ne!(key("more k9 k10"), key("more k9 k10 black"));
}

#[test]
fn a_bot_plays_swap2_to_its_end_and_black_never_plays_a_forbidden_point_of_its_own_will() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    for (n, level) in [(0, 1), (1, 3), (2, 5), (3, 6)] {
        let setup = GomokuSetup { opening: [GomokuOpening::Free, GomokuOpening::Swap2][n % 2], ..renju() };
        let mut game = AnyGame::new(&Setup::Gomoku(setup)).expect("the setup is valid");
        let mut bots = [1, 2].map(|seed| bot(GameKind::Gomoku, Tier::new(level).expect("a level"), seed));
        while game.outcome().is_none() {
            let limits = Limits {
                time: None,
                nodes: Some(800),
                depth: None,
                stop: &stop,
                elapsed: &|| std::time::Duration::ZERO,
            };
            let report = bots[game.turn().index()].choose(&game, &limits, &mut |_| {}).expect("not over");
            game.act(report.line[0]).expect("a bot's action is legal");
        }
        let outcome = game.outcome().expect("the loop ended");
        let forced = matches!(outcome.reason, Reason::Forbidden(_));
        assert!(!forced || had_no_other(&game), "level {level}: {outcome:?}");
    }
}

#[test]
fn black_who_may_not_stop_a_five_knows_that_he_is_lost_and_still_plays_a_stone_that_is_no_fault() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut game = Gomoku::new(&renju()).expect("the setup is valid");
    // A stone on h10 would block White's four, and make a double three.
    play(&mut game, "c10 d10 h8 e10 h9 f10 i9 a1 j8 g10");
    let game = AnyGame::Gomoku(game);
    for level in 1..=10 {
        let mut bot = bot(GameKind::Gomoku, Tier::new(level).expect("a level"), 1);
        let limits = Limits {
            time: None,
            nodes: Some(500),
            depth: None,
            stop: &stop,
            elapsed: &|| std::time::Duration::ZERO,
        };
        let report = bot.choose(&game, &limits, &mut |_| {}).expect("not over");
        let mut after = game.clone();
        after.act(report.line[0]).expect("a bot's action is legal");
        if level > 1 {
            assert_eq!(report.score, Score::LossIn(2), "level {level}");
        }
        assert!(after.outcome().is_none(), "level {level}: {:?}", after.outcome());
        // One stone earlier, White detects this win.
        let mut before = Gomoku::new(&renju()).expect("the setup is valid");
        play(&mut before, "c10 d10 h8 e10 h9 f10 i9 a1 j8");
        let found = bot.choose(&AnyGame::Gomoku(before), &limits, &mut |_| {}).expect("not over");
        if level > 2 {
            assert_eq!(
                (found.line[0], found.score),
                (Action::Place(point("g10")), Score::WinIn(3)),
                "level {level}"
            );
        }
    }
}

/// Whether White threatened a five before the last stone, so that Black's reply was forced.
fn had_no_other(game: &AnyGame) -> bool {
    let AnyGame::Gomoku(game) = game else { panic!("gomoku was played") };
    let mut before = game.view().pieces;
    let Some(Action::Place(last)) = game.view().last else { return false };
    before.retain(|piece| piece.at != last);
    let size = u16::from(game.setup().size);
    let text = |side_to_move: char| {
        let rows: Vec<String> = (0..size)
            .rev()
            .map(|row| {
                let mut text = String::new();
                let mut empty = 0;
                for column in 0..size {
                    match before.iter().find(|piece| piece.at == Point::new(column, row)) {
                        None => empty += 1,
                        Some(piece) => {
                            if empty > 0 {
                                text += &empty.to_string();
                            }
                            empty = 0;
                            text.push(if piece.side == Side::First { 'b' } else { 'w' });
                        }
                    }
                }
                if empty > 0 { text + &empty.to_string() } else { text }
            })
            .collect();
        format!("{} {side_to_move}", rows.join("/"))
    };
    let whites = Gomoku::from_position(game.setup(), &text('w')).expect("nobody had won");
    let mut moves = Vec::new();
    whites.legal_moves(&mut moves);
    moves.into_iter().any(|mv| {
        let mut after = whites.clone();
        after.play(mv);
        after.outcome().is_some_and(|outcome| outcome.reason == Reason::FiveInARow)
    })
}

#[test]
fn a_bot_that_lays_out_an_opening_leaves_neither_side_far_ahead() {
    let (stop, elapsed) = (std::sync::atomic::AtomicBool::new(false), || std::time::Duration::ZERO);
    let ask = |bot: &mut dyn engine::Bot, game: &Gomoku, nodes| {
        let limits = Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &elapsed };
        bot.choose(&AnyGame::Gomoku(game.clone()), &limits, &mut |_| {}).expect("the game goes on")
    };
    let free = GomokuSetup::default();
    let mut leads = Vec::new();
    for seed in 0..12 {
        let setup = GomokuSetup { opening: GomokuOpening::Swap2, ..free.clone() };
        let mut game = Gomoku::new(&setup).expect("the setup is valid");
        let mut bot = bot(GameKind::Gomoku, Tier::MAX, seed);
        while choices(&game).is_empty() {
            let action = ask(bot.as_mut(), &game, 1_000).line[0];
            game.play(game.legal_move(action).expect("a bot's choice is legal"));
        }
        let after = Gomoku::from_position(&free, &game.position()).expect("three stones");
        leads.push(match ask(bot.as_mut(), &after, 8_000).score {
            engine::Score::Points(points) => points.abs(),
            _ => 10_000,
        });
    }
    leads.sort_unstable();
    // 400 points multiply the odds of winning by e.
    assert!(leads[leads.len() / 2] < 150, "{leads:?}");
}
