//! Two apps on one in-memory network: a whole match of every game except gomoku (see `play` and `ends`), and a race, by taps
//! alone. Each link is cut once during the match.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{Action, AnyGame, GameKind, Limits, Side, Tier};
use proto::control::Room;
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Dialog, Ground, NewGameAdapter, Run};
use slint::ComponentHandle;

use crate::ends::{Watcher, index_for_first, replayed, tap_index};
use crate::play::{Table, met_to, until_both};

/// Chooses this game and its options on Anna's page, for invitations of people nearby.
fn invite_to(anna: &Table<'_>, game: &str, opponent: &str, choices: &[&str]) {
    anna.new_game(game);
    anna.tap(opponent);
    if !choices.is_empty() {
        anna.unfold_terms();
    }
    for choice in choices {
        anna.until("a choice", || {
            anna.stage.settle(&anna.scene);
            anna.says(choice)
        });
        anna.tap(choice);
    }
    anna.until("the choices go together", || {
        anna.app.window().global::<NewGameAdapter<'_>>().get_ready() && anna.says("See who is there")
    });
    anna.stage.settle(&anna.scene);
    anna.tap("See who is there");
}

/// Longer than any reply on a loaded machine.
const TAPS_AGAIN_AFTER: Duration = Duration::from_secs(20);

/// A match between Anna and Ben from the invitation to its end; both see the same record and the result. Anna searches
/// deeper than Ben.
fn play_nearby(kind: GameKind, name: &str, options: &[(&str, &str)], choices: &[&str], nodes: u64) {
    let stage = Stage::new();
    let air = link::memory::MemoryNetwork::new(kind as u64 + 10);
    let (anna, ben) = met_to(&stage, &air, |anna| invite_to(anna, name, "Two devices", choices));
    let mut setup = kind.default_setup();
    for (option, value) in options {
        setup.choose(option, value).expect("an option of the game");
    }
    let both = |what: &str, condition: &mut dyn FnMut() -> bool| {
        assert!(stage.until(&[&anna.scene, &ben.scene], condition), "waited in vain: {what}");
    };
    let (mut of_anna, mut of_ben) = (Watcher::new(&anna), Watcher::new(&ben));
    let mut bots = [(6, nodes), (1, 60)]
        .map(|(level, nodes)| (engine::bot(kind, Tier::new(level).expect("a level"), 7), nodes));
    let (mut done, mut missed) = (0, 0);
    let last = loop {
        let mut known = || {
            let count = |watcher: &mut Watcher| watcher.look().map(|room| room.record.len());
            count(&mut of_anna).filter(|here| Some(*here) == count(&mut of_ben) && *here >= done)
        };
        // The device of the side to move proposes dead stones itself, if there are any.
        if stage.until(&[&anna.scene, &ben.scene], || known().is_some()) {
            done = known().unwrap_or(done);
        } else {
            let told = |table: &Table<'_>, watcher: &mut Watcher| {
                let record = watcher.look().map(|room| (room.record.len(), room.can_act, room.link));
                format!("{record:?}, shows {} plies, {:?}, {:?}", table.ply(), table.page(), table.dialog())
            };
            panic!(
                "ply {done} is not known to both: {}; {}",
                told(&anna, &mut of_anna),
                told(&ben, &mut of_ben)
            );
        }
        let room = of_anna.look().expect("just seen").clone();
        if room.result.is_some() {
            break room;
        }
        let game = replayed(&setup, &room.record);
        let anna_moves = game.turn() == Side::First;
        let mover = if anna_moves { &anna } else { &ben };
        both("the turn", &mut || mover.live() && mover.ply() as usize >= done);
        stage.settle(&mover.scene);
        if mover.ply() as usize > done {
            continue;
        }
        let (bot, nodes) = &mut bots[usize::from(!anna_moves)];
        let action = chosen(bot.as_mut(), &game, *nodes);
        // The layout moves when the card of a lost link appears or disappears: taps again if nothing happened.
        loop {
            tap(mover, &anna, action);
            let (own, tapped) = (if anna_moves { &mut of_anna } else { &mut of_ben }, Instant::now());
            let mut made = false;
            both("the tap is answered", &mut || {
                made = own.look().is_some_and(|room| room.record.len() > done);
                made || tapped.elapsed() > TAPS_AGAIN_AFTER
            });
            if made {
                break;
            }
            missed += 1;
            assert!(missed <= 2, "ply {done}: taps do nothing; {:?}, {:?}", mover.page(), mover.dialog());
            both("the turn again", &mut || mover.live() && mover.ply() as usize >= done);
            stage.settle(&mover.scene);
        }
        if done % 20 == 5 {
            air.cut_all();
        }
        done += 1;
    };
    both("both see the end", &mut || anna.over() && ben.over());
    stage.settle(&anna.scene);
    stage.settle(&ben.scene);
    let record = |room: &Room| (room.record.clone(), room.result);
    assert_eq!(of_ben.look().map(record), Some(record(&last)));
    assert!(replayed(&setup, &last.record).outcome().is_some(), "the rules end it: {:?}", last.record);
    let says = |words: &str| (anna.says(words), ben.says(words));
    let ends = (says("You won"), says("You lost"), says("A draw"));
    let (won, lost, drawn) = ((true, false), (false, true), (true, true));
    let none = (false, false);
    assert!([(won, lost, none), (lost, won, none), (none, none, drawn)].contains(&ends), "{ends:?}");
    anna.end();
    ben.end();
}

fn chosen(bot: &mut dyn engine::Bot, game: &AnyGame, nodes: u64) -> Action {
    let limits = Limits {
        time: None,
        nodes: Some(nodes),
        depth: None,
        stop: &AtomicBool::new(false),
        elapsed: &|| Duration::ZERO,
    };
    bot.choose(game, &limits, &mut |_| {}).expect("the game goes on").line[0]
}

/// Taps what this action needs on `table`, from whichever side it shows the board; `anna` shows it from the first side.
fn tap(table: &Table<'_>, anna: &Table<'_>, action: Action) {
    let at = |point| {
        let (index, all) = (index_for_first(anna, point), anna.points().len());
        let river = anna.app.window().global::<BoardAdapter<'_>>().get_ground() == Ground::River;
        // Each player sees xiangqi's board from the own side.
        let across = river && !std::ptr::eq(table, anna);
        tap_index(table, if across { all - 1 - index } else { index });
    };
    match action {
        Action::Place(point) | Action::Capture(point) | Action::Toggle(point) => at(point),
        Action::Step { from, to } => {
            at(from);
            table.stage.settle(&table.scene);
            at(to);
        }
        Action::Pass => table.pass(),
        Action::Agree => table.tap("Agree and count"),
        other => panic!("{other:?} is not needed here"),
    }
}

#[test]
fn go_between_two_apps_is_played_to_its_count() {
    play_nearby(GameKind::Go, "Go", &[("size", "9")], &["9 × 9"], 400);
}

#[test]
fn xiangqi_between_two_apps_is_played_to_its_end() {
    play_nearby(GameKind::Xiangqi, "Xiangqi", &[], &[], 20_000);
}

#[test]
fn liuzhou_chess_between_two_apps_is_played_to_its_end() {
    play_nearby(GameKind::Liuzhou, "Liuzhou", &[], &[], 8_000);
}

/// A minimal solution by brute force, for small boards.
fn presses(lit: &[bool], columns: usize) -> Vec<usize> {
    let rows = lit.len() / columns;
    let around = |index: usize| {
        let (column, row) = (index % columns, index / columns);
        let near = |&other: &usize| (other % columns).abs_diff(column) + (other / columns).abs_diff(row) <= 1;
        (0..rows * columns).filter(near).fold(0_u32, |set, other| set | 1 << other)
    };
    let lit = lit.iter().enumerate().fold(0_u32, |set, (index, on)| set | u32::from(*on) << index);
    let puts_out = |set: &u32| {
        (0..rows * columns)
            .filter(|index| set & 1 << index != 0)
            .fold(lit, |left, index| left ^ around(index))
            == 0
    };
    let best = (0..1_u32 << (rows * columns)).filter(puts_out).min_by_key(|set| set.count_ones());
    let best = best.expect("the board was made by presses");
    (0..rows * columns).filter(|index| best & 1 << index != 0).collect()
}

fn lit(table: &Table<'_>) -> Vec<bool> {
    table.points().iter().map(|point| point.lamp == 2).collect()
}

fn runs(table: &Table<'_>) -> (Run, Run) {
    let page = table.app.window().global::<BoardAdapter<'_>>();
    (page.get_my_run(), page.get_their_run())
}

#[test]
fn two_apps_race_on_the_same_lights_and_race_again_on_others() {
    let stage = Stage::new();
    let air = link::memory::MemoryNetwork::new(3);
    // Large enough that neither one press nor the next board by chance is the solution: 2^20 boards.
    let smaller = ["Columns: less"];
    let (anna, ben) = met_to(&stage, &air, |anna| invite_to(anna, "Lights Out", "Race nearby", &smaller));
    let both = |what: &str, condition: &dyn Fn() -> bool| until_both(&anna, &ben, what, condition);
    let press = |table: &Table<'_>, index: usize| {
        let before = runs(table).0.presses;
        both("the clock runs", &|| table.live() && runs(table).0.runs);
        stage.settle(&table.scene);
        tap_index(table, index);
        both("the lamps change", &|| runs(table).0.presses == before + 1);
    };
    both("both have the board", &|| anna.live() && ben.live() && lit(&anna).contains(&true));
    let board = lit(&anna);
    let columns = anna.app.window().global::<BoardAdapter<'_>>().get_columns() as usize;
    assert_eq!(board, lit(&ben), "both have the same lights");
    assert!(!anna.says("Hint") && !anna.says("Solve"), "a race is run without help");

    // Ben presses once, then only watches. Between two presses of Anna the link is cut for a moment.
    press(&ben, 0);
    both("Anna sees that Ben has pressed", &|| runs(&anna).1.presses == 1);
    assert_eq!(lit(&anna), board, "each has a board of their own");
    let way = presses(&board, columns);
    for (number, index) in way.iter().enumerate() {
        press(&anna, *index);
        if number == 0 {
            // While the link is down the clock stands and presses are refused: waits until both sides know that it runs
            // again.
            air.set_reach("Ben", false);
            air.cut_all();
            both("both see that the link is lost", &|| {
                [&anna, &ben].into_iter().all(|table| {
                    table.app.window().global::<BoardAdapter<'_>>().get_link() == qiyou::screens::Link::Lost
                })
            });
            air.set_reach("Ben", true);
        }
    }
    both("the slower is stopped", &|| anna.over() && ben.over());
    stage.settle(&anna.scene);
    stage.settle(&ben.scene);
    assert!(anna.says("You won") && ben.says("You lost"));
    let (mine, theirs) = runs(&anna);
    assert!(mine.done && theirs.stopped, "{mine:?} {theirs:?}");
    assert_eq!((mine.presses as usize, theirs.presses), (way.len(), 1));
    assert_eq!((runs(&ben).0.stopped, runs(&ben).1.done), (true, true));

    anna.tap("Rematch");
    both("Ben is asked", &|| ben.dialog() == Dialog::Offer);
    ben.tap("Agree");
    both("other lights", &|| {
        !anna.over()
            && !ben.over()
            && lit(&anna) != board
            && lit(&anna) == lit(&ben)
            && lit(&anna).contains(&true)
    });
    anna.end();
    ben.end();
}
