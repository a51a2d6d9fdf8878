//! Claims about Lights Out and its solver.

#[path = "../../tests/src/seed.rs"]
mod seed;

use engine::lights_out::{
    Lights, LightsOut, LightsOutSetup, Neighbours, Run, Solution, Start, nullity, solve,
};
use engine::{Action, Fact, Game, IllegalAction, Outcome, Point, Reason, Rng, Side};

const STRAIGHT: Neighbours = Neighbours { torus: false, diagonals: false };

fn every_neighbourhood() -> [Neighbours; 4] {
    [(false, false), (false, true), (true, false), (true, true)]
        .map(|(torus, diagonals)| Neighbours { torus, diagonals })
}

fn board(text: &str) -> Lights {
    text.replace(' ', "\n").parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn random(columns: u16, rows: u16, rng: &mut Rng) -> Lights {
    let mut lights = Lights::new(columns, rows).expect("a valid size");
    for row in 0..rows {
        for column in 0..columns {
            if rng.below(2) == 1 {
                lights.toggle(Point::new(column, row));
            }
        }
    }
    lights
}

/// The board whose lights are the bits of the number, row by row from the bottom.
fn numbered(columns: u16, rows: u16, number: u32) -> Lights {
    let mut lights = Lights::new(columns, rows).expect("a valid size");
    for n in (0..columns * rows).filter(|n| number >> n & 1 == 1) {
        lights.toggle(Point::new(n % columns, n / columns));
    }
    lights
}

#[test]
fn a_press_toggles_what_its_neighbourhood_says() {
    let pressed = |neighbours, at| {
        let mut lights = Lights::new(4, 3).expect("a valid size");
        lights.press(at, neighbours);
        lights
    };
    let [straight, slanted, torus, both] = every_neighbourhood();
    assert_eq!(pressed(straight, Point::new(1, 1)), board(".#.. ###. .#.."));
    assert_eq!(pressed(straight, Point::new(0, 0)), board(".... #... ##.."));
    assert_eq!(pressed(slanted, Point::new(1, 1)), board("###. ###. ###."));
    assert_eq!(pressed(slanted, Point::new(3, 2)), board("..## ..## ...."));
    assert_eq!(pressed(torus, Point::new(0, 0)), board("#... #... ##.#"));
    assert_eq!(pressed(both, Point::new(3, 2)), board("#.## #.## #.##"));
}

#[test]
fn presses_together_toggle_what_they_toggle_one_by_one() {
    let mut rng = Rng::new(seed::begin("presses", 1));
    for neighbours in every_neighbourhood() {
        for (columns, rows) in [(3, 3), (5, 4), (63, 3), (64, 5), (65, 4), (130, 7)] {
            let presses = random(columns, rows, &mut rng);
            let mut lights = Lights::new(columns, rows).expect("a valid size");
            presses.points().for_each(|at| lights.press(at, neighbours));
            assert_eq!(
                lights,
                Lights::toggled_by(&presses, neighbours),
                "{columns} x {rows}, {neighbours:?}"
            );
        }
    }
}

/// OEIS A159257: dimension of the null space of the n x n game, n = 1 to 30.
const NULLITIES: [usize; 30] =
    [0, 0, 0, 4, 2, 0, 0, 0, 8, 0, 6, 0, 0, 4, 0, 8, 2, 0, 16, 0, 0, 0, 14, 4, 0, 0, 0, 0, 10, 20];

#[test]
fn square_boards_have_the_known_null_spaces_and_all_lit_they_can_be_put_out() {
    for (n, known) in (1..).zip(NULLITIES) {
        assert_eq!(nullity(n, n, STRAIGHT), Some(known), "{n} x {n}");
        let mut lit = Lights::new(n, n).expect("a valid size");
        (0..n * n).for_each(|cell| lit.toggle(Point::new(cell % n, cell / n)));
        // Sutner 1989: the board with every light on can always be solved.
        let Solution::Presses { presses, fewest } = solve(&lit, STRAIGHT) else { panic!("{n} x {n}") };
        assert_eq!(Lights::toggled_by(&presses, STRAIGHT), lit);
        assert!(fewest);
    }
}

/// Tries every set of presses, independently of the solver.
#[test]
fn small_boards_are_solved_exactly_when_they_can_be_and_with_the_fewest_presses() {
    for neighbours in every_neighbourhood() {
        for (columns, rows) in
            [(1, 1), (2, 1), (1, 4), (2, 2), (3, 2), (2, 5), (3, 3), (4, 3), (3, 4), (4, 4)]
        {
            if neighbours.torus && columns.min(rows) < 3 {
                continue;
            }
            let cells = u32::from(columns * rows);
            let mut best = vec![None; 1 << cells];
            let toggles: Vec<usize> = (0..columns * rows)
                .map(|n| {
                    let mut lights = Lights::new(columns, rows).expect("a valid size");
                    lights.press(Point::new(n % columns, n / columns), neighbours);
                    lights.points().map(|at| 1 << (at.row * columns + at.column)).sum()
                })
                .collect();
            let mut board = 0;
            for step in 0..1_u32 << cells {
                // Gray code: one press changes from each set to the next.
                let presses = step ^ step >> 1;
                let fewer = best[board].is_none_or(|most| presses.count_ones() < most);
                if fewer {
                    best[board] = Some(presses.count_ones());
                }
                board ^= toggles[((step + 1).trailing_zeros() % cells) as usize];
            }
            let step = if cells == 16 { 37 } else { 1 };
            for (number, known) in best.iter().enumerate().step_by(step) {
                let lights = numbered(columns, rows, number as u32);
                let name = || format!("{columns} x {rows}, {neighbours:?}:\n{lights}");
                match (solve(&lights, neighbours), known) {
                    (Solution::Unsolvable, None) => {}
                    (Solution::Presses { presses, fewest }, &Some(count)) => {
                        assert!(fewest || nullity(columns, rows, neighbours) > Some(20), "{}", name());
                        assert_eq!(Lights::toggled_by(&presses, neighbours), lights, "{}", name());
                        assert_eq!(presses.count(), count, "{}", name());
                    }
                    (found, known) => panic!("{found:?}, {known:?}: {}", name()),
                }
            }
        }
    }
}

#[test]
fn larger_boards_are_put_out_or_are_none_that_presses_make() {
    let mut rng = Rng::new(seed::begin("larger boards", 3));
    for neighbours in every_neighbourhood() {
        for (columns, rows) in [(5, 5), (9, 9), (11, 14), (30, 17), (63, 64), (64, 64), (65, 100), (3, 200)] {
            let presses = random(columns, rows, &mut rng);
            let lights = Lights::toggled_by(&presses, neighbours);
            let Solution::Presses { presses: found, fewest } = solve(&lights, neighbours) else {
                panic!("{columns} x {rows}, {neighbours:?}: it was made by presses");
            };
            assert_eq!(Lights::toggled_by(&found, neighbours), lights, "{columns} x {rows}, {neighbours:?}");
            let dimensions = nullity(columns, rows, neighbours).expect("a valid size");
            assert_eq!(fewest, dimensions <= 20);
            assert!(!fewest || found.count() <= presses.count());
            // A random board is solvable with probability 2^-d, where d is the codimension of the solvable boards.
            if dimensions > 40 {
                assert_eq!(solve(&random(columns, rows, &mut rng), neighbours), Solution::Unsolvable);
            }
        }
    }
}

#[test]
fn a_thousand_by_a_thousand_is_solved() {
    let mut rng = Rng::new(seed::begin("a thousand by a thousand", 4));
    let lights = Lights::toggled_by(&random(1000, 1000, &mut rng), STRAIGHT);
    let Solution::Presses { presses, .. } = solve(&lights, STRAIGHT) else {
        panic!("it was made by presses")
    };
    assert_eq!(Lights::toggled_by(&presses, STRAIGHT), lights);
}

#[test]
fn a_board_reads_back_from_its_text_and_what_is_none_is_refused_with_line_and_column() {
    let mut rng = Rng::new(seed::begin("text", 5));
    for (columns, rows) in [(1, 1), (5, 5), (64, 2), (65, 3), (1000, 2)] {
        let lights = random(columns, rows, &mut rng);
        assert_eq!(lights.to_string().parse(), Ok(lights));
    }
    assert_eq!("#.\r\n.#\n\n".parse(), Ok(board("#. .#")));
    for (text, line, column) in [
        ("", 1, 1),
        ("#.\n#", 2, 2),
        ("#.\n#..", 2, 3),
        ("#.\nx.", 2, 1),
        ("#.\n.灯", 2, 2),
        ("#.\n\n#.", 2, 1),
    ] {
        let error = text.parse::<Lights>().expect_err(text);
        assert_eq!((error.line, error.column), (line, column), "{text:?}: {error}");
    }
    assert_eq!(".".repeat(1001).parse::<Lights>().map_err(|error| error.column), Err(1001));
    assert_eq!(".\n".repeat(1001).parse::<Lights>().map_err(|error| error.line), Err(1001));
}

#[test]
fn a_game_ends_when_every_light_is_out_and_says_how_few_presses_would_have_done() {
    let setup =
        LightsOutSetup { neighbours: STRAIGHT, start: Start::Board(board(".#. ### .#.")), race: false };
    let mut game = LightsOut::new(&setup).expect("a light is on");
    // Two presses of the corner cancel.
    for text in ["a1", "a1", "b2"] {
        let action = game.parse(text).expect("a point");
        game.play(game.legal_move(action).expect("it is on the board"));
    }
    assert_eq!(game.outcome(), Some(Outcome { winner: Some(Side::First), reason: Reason::AllOut }));
    assert_eq!(game.view().facts, [Fact::Presses(3), Fact::Fewest(1)]);
    assert_eq!(game.legal_move(Action::Press(Point::new(0, 0))), Err(IllegalAction::Ended));
}

#[test]
fn random_boards_follow_from_their_seed_and_can_be_put_out() {
    for neighbours in every_neighbourhood() {
        for seed in 0..20 {
            let setup = LightsOutSetup {
                neighbours,
                start: Start::Random { columns: 5, rows: 4, seed },
                race: false,
            };
            let game = LightsOut::new(&setup).expect("the setup is valid");
            assert_ne!(game.solution(), Solution::Unsolvable);
            assert_eq!(LightsOut::new(&setup).expect("the setup is valid").lights(), game.lights());
        }
    }
}

#[test]
fn boards_that_make_no_game_are_refused() {
    let made = |neighbours, start| LightsOut::new(&LightsOutSetup { neighbours, start, race: false }).is_ok();
    let torus = Neighbours { torus: true, diagonals: false };
    let random = |columns, rows| Start::Random { columns, rows, seed: 1 };
    assert!(!made(STRAIGHT, random(0, 5)));
    assert!(!made(STRAIGHT, random(5, 1001)));
    assert!(!made(torus, random(2, 5)));
    assert!(!made(STRAIGHT, Start::Board(board("... ..."))));
    assert!(!made(torus, Start::Board(board("#.. ..."))));
    assert!(made(STRAIGHT, random(1, 1)) && made(torus, random(3, 3)));
}

/// A race on this board before the first press.
fn race(text: &str) -> LightsOut {
    let setup = LightsOutSetup { neighbours: STRAIGHT, start: Start::Board(board(text)), race: true };
    LightsOut::new(&setup).expect("it can be solved")
}

/// Plays the actions named by these words in order.
fn plays(game: &mut LightsOut, words: &str) {
    for word in words.split(' ') {
        let action = game.parse(word).expect(word);
        assert_eq!(game.notation(action), word);
        game.play(game.legal_move(action).expect(word));
        assert_eq!(game.key(), game.fresh_key());
    }
}

#[test]
fn a_race_is_won_by_time_and_a_tie_by_presses() {
    for (words, winner, reason) in [
        ("b2 12.3s b2 12.4s", Some(Side::First), Reason::Faster),
        ("b2 12.3s b2 9.9s", Some(Side::Second), Reason::Faster),
        ("a1 a1 b2 5.0s b2 5.0s", Some(Side::Second), Reason::FewerPresses),
        ("b2 5.0s b2 5.0s", None, Reason::AllOut),
        ("a1 60.0s b2 100.0s", Some(Side::Second), Reason::Faster),
        ("b2 60.0s a1 1.0s", Some(Side::First), Reason::Faster),
        ("b2 60.0s 1.0s", Some(Side::First), Reason::Faster),
    ] {
        let mut game = race(".#. ### .#.");
        plays(&mut game, words);
        assert_eq!(game.outcome(), Some(Outcome { winner, reason }), "{words}");
        assert_eq!(game.ply() as usize, words.split(' ').count());
    }
}

#[test]
fn each_run_of_a_race_begins_with_the_same_board_and_ends_when_its_side_says_so() {
    let mut game = race(".#. ### .#.");
    let start = game.lights().clone();
    plays(&mut game, "b2");
    assert_eq!((game.turn(), game.lights().count(), game.outcome()), (Side::First, 0, None));
    assert!(game.is_within_run());
    assert_eq!(game.legal_move(Action::Press(Point::new(0, 0))), Err(IllegalAction::WrongKind));
    plays(&mut game, "0.7s");
    assert_eq!((game.turn(), game.lights(), game.is_within_run()), (Side::Second, &start, false));
    let run = Run { presses: 1, tenths: 7, finished: true };
    assert_eq!(game.runs(), [Some(run), None]);
    // Both sides cannot stop: nobody would win.
    let mut stopped = race(".#. ### .#.");
    plays(&mut stopped, "a1 1.0s");
    assert_eq!(stopped.legal_move(Action::Done(20)), Err(IllegalAction::WrongKind));
    assert_eq!(
        stopped.legal_move(Action::Done(LightsOutSetup::RACE_TENTHS + 1)),
        Err(IllegalAction::WrongKind)
    );
    // Without a race there is no run to end.
    let alone = LightsOut::new(&game.setup().alone()).expect("the same board");
    assert_eq!(alone.legal_move(Action::Done(7)), Err(IllegalAction::WrongKind));
    for word in ["1.s", ".1s", "1.10s", "1s", "99999999999.0s", "-1.0s"] {
        assert_eq!(game.parse(word), None, "{word}");
    }
}

#[test]
fn a_run_has_a_bound_of_presses_and_a_race_one_of_its_board() {
    let mut game = race(".#. ### .#.");
    for _ in 0..LightsOutSetup::RACE_PRESSES / 2 {
        plays(&mut game, "a1 a1");
    }
    assert_eq!(game.legal_move(Action::Press(Point::new(1, 1))), Err(IllegalAction::WrongKind));
    assert!(game.legal_move(Action::Done(1)).is_ok());
    let made = |start| LightsOut::new(&LightsOutSetup { neighbours: STRAIGHT, start, race: true });
    assert!(made(Start::Random { columns: 15, rows: 15, seed: 1 }).is_ok());
    assert!(made(Start::Random { columns: 16, rows: 5, seed: 1 }).is_err());
    // A single light cannot be put out on 2 x 1, where each press toggles both lights.
    assert_eq!(
        made(Start::Board(board("#."))).err().map(|error| error.0),
        Some("no presses put this board out")
    );
}
