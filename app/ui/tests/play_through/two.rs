//! Two apps that meet: a match with every offer that one can make to the other.

use std::sync::Arc;

use host::HostConfig;
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Page};

use crate::debts::DEBTS;
use crate::notes::Notes;
use crate::player::{Held, Player, UPRIGHT, take_the_chair};

/// Both windows go on until something is so.
fn both(anna: &Player<'_>, ben: &Player<'_>, what: &str, mut condition: impl FnMut() -> bool) {
    anna.until_with(&[&ben.scene], &format!("{what}; Ben sees {}", ben.look().told()), &mut condition);
    ben.stage.settle(&ben.scene);
}

fn dialogs(anna: &Player<'_>, ben: &Player<'_>) -> (Dialog, Dialog) {
    (anna.look().dialog, ben.look().dialog)
}

/// A stone or a step of whoever is to move, anywhere, seen by both.
fn a_move(one: &mut Player<'_>, other: &Player<'_>) {
    both(one, other, "the turn", || one.board().get_live());
    let ply = one.board().get_ply();
    assert!(one.move_somewhere(), "{}", one.look().told());
    both(one, other, "the move on both boards", || {
        one.board().get_ply() > ply && other.board().get_ply() == one.board().get_ply()
    });
    one.check();
}

/// One asks, the other agrees or declines.
fn offer(one: &mut Player<'_>, other: &mut Player<'_>, asks: &[&str], answer: &str) {
    for name in asks {
        one.touch(name);
    }
    both(one, other, asks.last().expect("a button"), || other.look().dialog == Dialog::Offer);
    other.check();
    other.check_large();
    other.touch(answer);
    both(one, other, "it is answered", || other.look().dialog == Dialog::None);
    one.check();
}

#[test]
#[ignore = "make play-through"]
fn two_apps_meet_and_play_a_match_with_every_offer() {
    let _chair = take_the_chair();
    let began = std::time::Instant::now();
    let stage = Stage::new();
    let air = link::memory::MemoryNetwork::new(1);
    let held = Held { size: UPRIGHT, chinese: false };
    let sit = |name: &str, seed| {
        Player::with(&stage, held, seed, |config| HostConfig {
            name: Some(name.into()),
            transports: vec![Arc::new(air.transport(name))],
            ..config
        })
    };
    let (mut anna, mut ben) = (sit("Anna", 1), sit("Ben", 2));
    // They meet: from home by what is there to be touched.
    anna.new_game("Gomoku");
    anna.touch("Two devices");
    anna.touch("See who is there");
    both(&anna, &ben, "Anna sees Ben", || anna.says("Invite Ben"));
    anna.check();
    anna.touch("Invite Ben");
    both(&anna, &ben, "both compare", || dialogs(&anna, &ben) == (Dialog::Comparison, Dialog::Comparison));
    for one in [&mut anna, &mut ben] {
        one.check();
        one.check_large();
    }
    anna.touch("They match");
    ben.touch("They match");
    both(&anna, &ben, "Ben is invited", || dialogs(&anna, &ben) == (Dialog::Waiting, Dialog::Invitation));
    for one in [&mut anna, &mut ben] {
        one.check();
        one.check_large();
    }
    ben.touch("Play");
    both(&anna, &ben, "both at the board", || {
        anna.look().page == Page::Board && ben.look().page == Page::Board
    });
    anna.check_large();
    // Anna has Black. A stone is taken back, once agreed to and once not.
    a_move(&mut anna, &ben);
    offer(&mut anna, &mut ben, &["Undo"], "Decline");
    offer(&mut anna, &mut ben, &["Undo"], "Agree");
    both(&anna, &ben, "no stone is there", || anna.board().get_ply() == 0 && ben.board().get_ply() == 0);
    a_move(&mut anna, &ben);
    a_move(&mut ben, &anna);
    // Words, both ways.
    anna.touch("More");
    anna.check_large();
    anna.touch("Say something");
    anna.check_large();
    anna.touch("Thank you!");
    both(&anna, &ben, "Ben reads it", || ben.board().get_theirs().phrase != 0);
    // Words of his own.
    ben.touch("More");
    ben.touch("Say something");
    assert!(!ben.look().find("Send").expect("a button").enabled, "nothing is written");
    ben.touch("Write a message");
    for letter in "Your turn, Anna.".chars() {
        ben.scene.key(letter);
    }
    ben.touch("Send");
    both(&anna, &ben, "Anna reads it", || {
        anna.look().texts().any(|one| one.name.contains("Your turn, Anna."))
    });
    // A pause and its end.
    offer(&mut anna, &mut ben, &["More", "Pause"], "Agree");
    both(&anna, &ben, "both rest", || anna.board().get_paused() && ben.board().get_paused());
    anna.check();
    offer(&mut ben, &mut anna, &["Continue"], "Agree");
    both(&anna, &ben, "both go on", || !anna.board().get_paused() && !ben.board().get_paused());
    // A draw, declined; another day, agreed to; then they go on.
    a_move(&mut anna, &ben);
    offer(&mut ben, &mut anna, &["Draw"], "Decline");
    a_move(&mut ben, &anna);
    offer(&mut anna, &mut ben, &["More", "Finish another day"], "Agree");
    both(&anna, &ben, "it is put off", || anna.says("Paused") && ben.says("Paused"));
    anna.check();
    anna.check_large();
    // Both leave, and come back to it from home.
    for one in [&mut anna, &mut ben] {
        one.touch("Leave");
        if one.look().dialog == Dialog::ConfirmLeave {
            one.check();
            one.touch("Leave");
        }
        one.until("home", || one.look().page == Page::Home);
        one.check();
    }
    for one in [&mut anna, &mut ben] {
        if one.look().page != Page::Board {
            let kept =
                one.bring(|thing| thing.name.starts_with("Continue: Gomoku")).map(|(thing, _)| thing.name);
            one.touch(&kept.expect("it is offered at home"));
        }
    }
    both(&anna, &ben, "both at the board again", || {
        anna.look().page == Page::Board && ben.look().page == Page::Board
    });
    if anna.board().get_paused() {
        both(&anna, &ben, "it can go on", || anna.look().find("Continue").is_some_and(|one| one.enabled));
        offer(&mut anna, &mut ben, &["Continue"], "Agree");
    }
    both(&anna, &ben, "both go on", || !anna.board().get_paused() && !ben.board().get_paused());
    a_move(&mut anna, &ben);
    // The end, another match with the same colours, and one with the colours exchanged.
    for again in ["Rematch with the same colours", "Rematch as White"] {
        ben.touch("Resign");
        ben.check();
        ben.touch("Resign");
        both(&anna, &ben, "both see the end", || anna.board().get_over() && ben.board().get_over());
        for one in [&mut anna, &mut ben] {
            one.check();
            one.check_large();
        }
        assert!(
            anna.says("You won") && ben.says("You lost"),
            "{}\n{}",
            anna.look().told(),
            ben.look().told()
        );
        offer(&mut anna, &mut ben, &[again], "Agree");
        both(&anna, &ben, "the next match", || !anna.board().get_over() && !ben.board().get_over());
        // Black begins.
        let (first, second) = if again == "Rematch as White" { (&mut ben, &anna) } else { (&mut anna, &ben) };
        a_move(first, second);
    }
    // A draw that is agreed to.
    offer(&mut anna, &mut ben, &["Draw"], "Agree");
    both(&anna, &ben, "the end", || anna.board().get_over() && ben.board().get_over());
    assert!(anna.says("A draw") && ben.says("A draw"));
    for one in [&mut anna, &mut ben] {
        one.check();
        one.go_home();
    }
    let mut notes = Notes::default();
    notes.join(anna.leave());
    notes.join(ben.leave());
    println!("two apps: {} s", began.elapsed().as_secs());
    notes.settle("two apps", DEBTS);
}
