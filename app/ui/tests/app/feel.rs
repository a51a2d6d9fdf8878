//! What is heard and felt, what a screen reader is told of each move, and the gamepad.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use i_slint_backend_testing::ElementHandle;
use proto::board::{Result as Outcome, Side};
use proto::control::{self, Mark, MarkKind, Piece, event, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, FeelAdapter, Focus, Navigation, Page, ReplayAdapter};
use qiyou::{Senses, press};
use senses::{Cue, Feel, Press};
use slint::ComponentHandle;

use crate::support::{SIZES, Told, body, bot, here, place, room};

/// Writes down what it is given.
#[derive(Default)]
struct Listener {
    heard: RefCell<Vec<(Cue, u8)>>,
    felt: RefCell<Vec<Feel>>,
    music: RefCell<Vec<u8>>,
    motor: Cell<bool>,
    screen_on: Cell<bool>,
}

impl Senses for Listener {
    fn hear(&self, cue: Cue, level: u8) {
        self.heard.borrow_mut().push((cue, level));
    }

    fn music(&self, level: u8) {
        self.music.borrow_mut().push(level);
    }

    fn feel(&self, feel: Feel) {
        self.felt.borrow_mut().push(feel);
    }

    fn has_motor(&self) -> bool {
        self.motor.get()
    }

    fn keep_screen_on(&self, on: bool) {
        self.screen_on.set(on);
    }
}

impl Listener {
    fn take(&self) -> (Vec<Cue>, Vec<Feel>) {
        (self.heard.take().into_iter().map(|(cue, _)| cue).collect(), self.felt.take())
    }
}

/// At a board where the second side is ours and it is our turn.
fn listening(stage: &Stage, first: control::Room) -> (Told, Rc<Listener>) {
    let mut told = Told::new(stage, SIZES[0]);
    told.prefer(false, false, 0);
    let listener = Rc::new(Listener::default());
    told.app.give_senses(listener.clone());
    told.say(event::Body::Room(first));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(stage);
    stage.settle(&told.scene);
    assert_eq!(listener.take(), (vec![], vec![]), "opening a match is no move");
    (told, listener)
}

/// One more stone of the side to move.
fn played(room: &mut control::Room, column: u32, row: u32) {
    let board = room.board.as_mut().expect("a board");
    board.pieces.push(Piece { at: row * 1_024 + column, side: board.turn, kind: 0 });
    board.last = Some(place(column, row));
    board.turn = 3 - board.turn;
    board.ply += 1;
    room.can_act = room.mine.contains(&board.turn);
    room.record.push(format!("{}{}", char::from(b'a' + column as u8), row + 1));
}

fn announced(told: &Told, words: &str) -> bool {
    ElementHandle::find_by_accessible_label(told.app.window(), words)
        .any(|one| one.accessible_live_region().is_some())
}

#[test]
fn a_match_is_heard_and_said_move_by_move() {
    let stage = Stage::new();
    let mut now = room(bot(3), here(), &[Side::Second]);
    let (told, listener) = listening(&stage, now.clone());
    let say = |now: &control::Room, said: &str| {
        told.say(event::Body::Room(now.clone()));
        stage.settle(&told.scene);
        assert!(announced(&told, said), "{said} is not said");
        listener.take()
    };
    played(&mut now, 0, 0);
    assert_eq!(say(&now, "White: A1"), (vec![Cue::Stone], vec![Feel::Light]));
    played(&mut now, 1, 0);
    assert_eq!(say(&now, "Black: B1"), (vec![Cue::YourTurn], vec![Feel::Strong]));
    assert_eq!(say(&now, "Black: B1"), (vec![], vec![]), "nothing new");
    // A stone of ours takes two.
    played(&mut now, 2, 0);
    now.board.as_mut().expect("a board").pieces.drain(..2);
    assert_eq!(say(&now, "White: C1, captures 2"), (vec![Cue::Capture], vec![Feel::Light]));
    played(&mut now, 3, 0);
    let check = Mark { at: 3, kind: MarkKind::MarkCheck.into(), ..Default::default() };
    now.board.as_mut().expect("a board").marks.push(check);
    assert_eq!(say(&now, "Black: D1, check"), (vec![Cue::Check], vec![Feel::Strong]));
    // A fifth move of renju that is offered is no stone, and takes none.
    played(&mut now, 4, 0);
    let board = now.board.as_mut().expect("a board");
    board.marks.clear();
    board.pieces.pop();
    assert_eq!(say(&now, "White: E1"), (vec![Cue::Stone], vec![Feel::Light]));
    // Taken back: silence, and nothing is said any more.
    now.revision += 1;
    now.board.as_mut().expect("a board").ply -= 2;
    told.say(event::Body::Room(now.clone()));
    stage.settle(&told.scene);
    assert_eq!(listener.take(), (vec![], vec![]));
    assert_eq!(told.app.window().global::<FeelAdapter<'_>>().get_move(), "");
    played(&mut now, 5, 5);
    now.result = Some(Outcome { winner: Side::Second.into(), ..Default::default() });
    told.say(event::Body::Room(now.clone()));
    stage.settle(&told.scene);
    assert_eq!(listener.take(), (vec![Cue::Win], vec![Feel::Strong]));
}

#[test]
fn each_end_has_its_own_sound() {
    let stage = Stage::new();
    let end = |mine: &[Side], winner: Side| {
        let mut now = room(here(), bot(3), mine);
        let (told, listener) = listening(&stage, now.clone());
        now.result = Some(Outcome { winner: winner.into(), ..Default::default() });
        told.say(event::Body::Room(now));
        stage.settle(&told.scene);
        listener.take().0
    };
    assert_eq!(end(&[Side::First], Side::First), [Cue::Win]);
    assert_eq!(end(&[Side::First], Side::Second), [Cue::Loss]);
    assert_eq!(end(&[Side::First], Side::Unspecified), [Cue::End]);
    assert_eq!(end(&[Side::First, Side::Second], Side::First), [Cue::End], "one of the two has lost");
}

#[test]
fn the_last_ten_seconds_tick_and_the_others_do_not() {
    let stage = Stage::new();
    let mut now = room(bot(3), here(), &[Side::Second]);
    now.clocks = vec![
        control::Clock { left_ms: 5_000, ..Default::default() },
        control::Clock { left_ms: 12_000, running: true, ..Default::default() },
    ];
    let (told, listener) = listening(&stage, now);
    for _ in 0..60 {
        stage.pass(Duration::from_millis(250));
        told.scene.draw();
    }
    let heard = listener.take().0;
    assert!(heard.iter().all(|cue| *cue == Cue::Tick), "{heard:?}");
    assert_eq!(heard.len(), 10);
}

#[test]
fn levels_are_chosen_apart_and_0_is_mute() {
    let stage = Stage::new();
    let mut now = room(bot(3), here(), &[Side::Second]);
    let (told, listener) = listening(&stage, now.clone());
    assert_eq!(listener.music.take(), [0], "music is off until it is chosen");
    let page = || told.app.window().global::<FeelAdapter<'_>>();
    assert_eq!((page().get_sound(), page().get_music()), (6, 0));
    page().invoke_set_music(4);
    assert_eq!((page().get_sound(), page().get_music(), listener.music.take()), (6, 4, vec![4]));
    page().invoke_set_sound(9);
    assert_eq!(listener.heard.take(), [(Cue::Stone, 9)], "the level is heard when it is chosen");
    page().invoke_set_sound(0);
    page().invoke_set_sound(-7);
    played(&mut now, 0, 0);
    told.say(event::Body::Room(now));
    stage.settle(&told.scene);
    assert_eq!((listener.heard.take(), page().get_sound()), (vec![], 0));
    assert_eq!(listener.music.take(), [] as [u8; 0], "the music goes on as it was");
    page().invoke_set_music(99);
    assert_eq!(listener.music.take(), [10]);
}

#[test]
fn vibration_is_offered_where_there_is_a_motor_and_can_be_switched_off() {
    let stage = Stage::new();
    let mut now = room(bot(3), here(), &[Side::Second]);
    let (told, listener) = listening(&stage, now.clone());
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    // High enough for every switch to be seen at once.
    told.scene.resize(720, 6_000, 2.0);
    stage.settle(&told.scene);
    let offered = || ElementHandle::find_by_accessible_label(told.app.window(), "Vibration").next().is_some();
    assert!(!offered());
    listener.motor.set(true);
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    assert!(offered());
    told.app.window().global::<FeelAdapter<'_>>().invoke_toggle_vibration();
    told.app.open_room("room");
    stage.settle(&told.scene);
    listener.take();
    played(&mut now, 0, 0);
    told.say(event::Body::Room(now));
    stage.settle(&told.scene);
    assert_eq!(listener.take(), (vec![Cue::Stone], vec![]));
}

#[test]
fn a_stone_is_played_with_a_gamepad_and_its_buttons_lead_through_the_pages() {
    let stage = Stage::new();
    let now = room(bot(3), here(), &[Side::Second]);
    let (mut told, _) = listening(&stage, now);
    told.asked();
    let dialog = |told: &Told| told.app.window().global::<Navigation<'_>>().get_dialog();
    let page = |told: &Told| told.app.window().global::<Navigation<'_>>().get_page();
    let push = |told: &Told, presses: &[Press]| {
        for one in presses {
            press(told.app.window(), *one);
            stage.settle(&told.scene);
        }
    };
    // To the board, whose cursor waits in its middle, H8; then to A1 by way of its edge.
    push(&told, &[Press::Up]);
    push(&told, &[Press::Left; 7]);
    push(&told, &[Press::Down; 7]);
    push(&told, &[Press::Confirm]);
    let asked = told.asked();
    let acts: Vec<_> = asked
        .iter()
        .filter_map(|one| match body(one) {
            request::Body::Act(act) => Some(act.action.expect("an action")),
            _ => None,
        })
        .collect();
    assert_eq!(acts, [place(0, 0)]);
    push(&told, &[Press::Menu]);
    assert_eq!(dialog(&told), Dialog::More);
    push(&told, &[Press::Back]);
    assert_eq!((dialog(&told), page(&told)), (Dialog::None, Page::Board));
    // Off the board over its edge: a gamepad has no Tab key.
    push(&told, &[Press::Up, Press::Up]);
    let ring = |told: &Told| {
        ElementHandle::find_by_element_type_name(told.app.window(), "FocusRing")
            .map(|ring| (ring.absolute_position().y, ring.size().width))
            .next()
    };
    let on_board = ring(&told).expect("the focus is seen");
    push(&told, &[Press::Down; 3]);
    let off = ring(&told).expect("the focus is seen");
    assert!(off.0 > on_board.0 && off.1 < on_board.1, "{on_board:?} and then {off:?}");
    push(&told, &[Press::Back]);
    assert_eq!(page(&told), Page::Home);
}

#[test]
fn the_shoulders_of_a_gamepad_go_through_a_record() {
    let stage = Stage::new();
    let (_, story) = crate::support::stories().find(|(name, _)| *name == "replay").expect("a story");
    let mut told = crate::support::tell(&stage, SIZES[0], (false, false, 0), story);
    let total = told.app.window().global::<ReplayAdapter<'_>>().get_total();
    assert!(total > 2);
    told.asked();
    let looked = |told: &mut Told, one: Press| {
        press(told.app.window(), one);
        stage.settle(&told.scene);
        told.asked()
            .iter()
            .filter_map(|one| match body(one) {
                request::Body::Look(look) => Some(look.ply as i32),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(looked(&mut told, Press::Earlier), [total - 1]);
    assert!(looked(&mut told, Press::Later).is_empty(), "the end is known");
}

#[test]
fn the_screen_stays_on_while_the_player_is_to_move_in_the_window_in_front_unless_it_is_not_wanted() {
    let stage = Stage::new();
    let mut now = room(bot(3), here(), &[Side::Second]);
    now.can_act = true;
    let (told, listener) = listening(&stage, now.clone());
    let say = |now: &control::Room| {
        told.say(event::Body::Room(now.clone()));
        stage.settle(&told.scene);
        listener.screen_on.get()
    };
    assert!(say(&now), "the player is to move");
    let waiting = control::Room { can_act: false, ..now.clone() };
    assert!(!say(&waiting), "the bot thinks");
    assert!(say(&now));
    let front = |on: bool| {
        told.app.window().global::<Focus<'_>>().invoke_window_turned(on);
        listener.screen_on.get()
    };
    assert!(!front(false), "another window is in front");
    assert!(front(true));
    let toggle = || {
        told.app.window().global::<FeelAdapter<'_>>().invoke_toggle_keep_screen_on();
        listener.screen_on.get()
    };
    assert!(!toggle(), "the player does not want it");
    assert!(toggle());
    told.app.go(Page::Home);
    assert!(!listener.screen_on.get(), "the board is not shown");
}
