//! What is drawn is what is known: after whatever order of events at whatever moments, the page shows what the host has said last,
//! and the window shows what the page would show if it were drawn anew.

use std::time::Duration;

use engine::{AnyGame, GameKind, Side};
use proto::control::{self, PeerLink, event};
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Dialog, Page};
use slint::{ComponentHandle, Model};

use crate::support::{SIZES, Told, games, link, peer};

/// A small generator, so that each run can be made again from its number.
struct Dice(u64);

impl Dice {
    /// One of so many numbers from 0.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// A match with a friend after so many actions, as a host tells it.
fn told_room(game: &AnyGame, record: &[String], revision: u32, dice: &mut Dice) -> control::Room {
    let mut room = games::against_the_device(game, Side::First);
    room.second = Some(peer("Librem 5"));
    room.record = record.to_vec();
    room.revision = revision;
    room.link = Some(link([PeerLink::Up, PeerLink::Weak, PeerLink::Lost][dice.below(3)], 0));
    room.clocks = [0, 1]
        .map(|side| control::Clock {
            left_ms: 600_000 - 7_000 * record.len() as u32 - side,
            running: room.can_act == (side == 0),
            ..Default::default()
        })
        .into();
    room
}

/// That the page shows this and the window the page.
fn compare(told: &Told, known: &control::Room, what: &str) {
    let page = told.app.window().global::<BoardAdapter<'_>>();
    let board = known.board.as_ref().expect("a board");
    let shown = (page.get_ply() as u32, page.get_live(), page.get_over(), page.get_mine().clock as u32);
    let clock = known.clocks[0].left_ms.div_ceil(1_000);
    assert_eq!(shown, (board.ply, known.can_act, known.result.is_some(), clock), "{what}");
    let stones = page.get_points().iter().filter(|point| point.stone != 0).count();
    assert_eq!(stones, board.pieces.len(), "{what}");
    assert_eq!(page.get_record().row_count(), known.record.len().div_ceil(2), "{what}");
    let (seen, anew) = (told.scene.picture(), told.scene.anew());
    // At the edge of what is painted again, the software renderer rounds an antialiased pixel now and then another way: a change
    // that was not drawn is a digit at least.
    let far = |one: u8, other: u8| one.abs_diff(other) > 48;
    let differ = |(one, other): (&slint::Rgb8Pixel, &slint::Rgb8Pixel)| {
        far(one.r, other.r) || far(one.g, other.g) || far(one.b, other.b)
    };
    let pairs = seen.pixels.iter().zip(&anew.pixels).enumerate();
    let not_drawn: Vec<(usize, usize)> = pairs
        .filter(|(_, pair)| differ(*pair))
        .map(|(index, _)| (index % seen.width as usize, index / seen.width as usize))
        .collect();
    assert!(not_drawn.len() < 6, "{what}: not drawn at {not_drawn:?}");
}

#[test]
fn whatever_comes_when_the_page_shows_what_was_told_last_and_the_window_what_the_page_shows() {
    let kinds = [GameKind::Gomoku, GameKind::Go, GameKind::Xiangqi, GameKind::Liuzhou];
    let (mut compared, mut plies) = (0, 0);
    let stage = Stage::new();
    for run in 0..8 {
        let mut dice = Dice(run as u64);
        let setup = kinds[run % 4].default_setup();
        let mut told = Told::new(&stage, SIZES[run / 2 % 4]);
        if run % 2 == 0 {
            told.prefer(false, false, 0);
        }
        stage.settle(&told.scene);
        let mut game = AnyGame::new(&setup).expect("a valid setup");
        let (mut record, mut revision) = (Vec::new(), 0);
        let mut known = told_room(&game, &record, revision, &mut dice);
        told.say(event::Body::Room(known.clone()));
        stage.pass(Duration::ZERO);
        told.app.open_room("room");
        told.answer(&stage);
        stage.settle(&told.scene);
        for step in 0..60 {
            match dice.below(10) {
                // Another move, or all from the beginning where it has ended.
                0..=4 if game.outcome().is_none() => {
                    let legal = game.legal_actions();
                    let action = legal[dice.below(legal.len())];
                    record.push(game.notation(action));
                    game.act(action).expect("one of the legal ones");
                }
                0..=4 => {
                    (game, revision) = (AnyGame::new(&setup).expect("a valid setup"), revision + 1);
                    record.clear();
                }
                // Two actions are taken back.
                5 if record.len() >= 2 => {
                    record.truncate(record.len() - 2);
                    revision += 1;
                    let mut before = AnyGame::new(&setup).expect("a valid setup");
                    for text in &record {
                        before.act(before.parse(text).expect("its notation")).expect("it was played");
                    }
                    game = before;
                }
                6 => told.say(event::Body::Thinking(control::Thinking {
                    room_id: "room".into(),
                    ply: record.len() as u32,
                    on: dice.below(2) == 0,
                    depth: 5,
                    ..Default::default()
                })),
                7 => {
                    told.app.ask(if dice.below(2) == 0 { Dialog::More } else { Dialog::None });
                }
                8 => {
                    told.app.go(Page::Settings);
                    stage.pass(Duration::from_millis(dice.below(30) as u64));
                    told.app.open_room("room");
                }
                _ => {}
            }
            known = told_room(&game, &record, revision, &mut dice);
            told.say(event::Body::Room(known.clone()));
            // Less than a frame, a frame, or the time of several: more may come before anything is drawn.
            stage.pass(Duration::from_millis([0, 0, 1, 8, 15, 16, 17, 40][dice.below(8)]));
            if dice.below(2) == 0 {
                told.scene.draw();
            }
            if dice.below(3) == 0 {
                // What stands beside the points follows by a frame.
                stage.pass(Duration::from_millis(16));
                stage.pass(Duration::from_millis(16));
                told.scene.draw();
                compare(&told, &known, &format!("run {run}, step {step}, {} actions", record.len()));
                compared += 1;
            }
        }
        plies += record.len();
        told.asked();
    }
    assert!(compared > 100 && plies > 100, "{compared} compared, {plies} plies at the ends");
}
