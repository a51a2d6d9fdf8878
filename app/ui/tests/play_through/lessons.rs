//! Every lesson to its last step, in both languages.

use qiyou::headless::Stage;
use qiyou::screens::{Dialog, LessonAdapter, Page, PointView};
use slint::{ComponentHandle, Model};

use crate::debts::DEBTS;
use crate::notes::Fault;
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};

fn every_lesson(held: Held) {
    let _chair = take_the_chair();
    let stage = Stage::new();
    let mut player = Player::new(&stage, held, 24);
    let shown = |player: &Player<'_>| -> (i32, i32, bool, Vec<PointView>) {
        let page = player.app.window().global::<LessonAdapter<'_>>();
        (page.get_step(), page.get_steps(), page.get_finished(), page.get_points().iter().collect())
    };
    let (learn, next, play) = if held.chinese {
        ("新手教学", "下一步", "来一盘")
    } else {
        ("Learn to play", "Next", "Play a game")
    };
    let mut steps = 0;
    for game in 0..5 {
        player.touch(learn);
        let sight = player.look();
        assert_eq!(sight.dialog, Dialog::PickLesson);
        let button = sight.controls().nth(game).cloned().expect("a button for each game");
        player.tap(&button, &sight);
        player.until("the lesson", || player.look().page == Page::Lesson && !shown(&player).3.is_empty());
        player.rest();
        player.check();
        player.check_large();
        loop {
            let (step, of, ..) = shown(&player);
            let mut touches = 0;
            while !shown(&player).2 {
                let points = shown(&player).3;
                let Some(wanted) = points.iter().position(|point| point.hint) else {
                    player.note(Fault::Stuck, format!("{} step {step}: nothing is marked", button.name));
                    break;
                };
                let sight = player.look();
                let point = sight.points().nth(wanted).cloned().expect("it is seen");
                player.tap(&point, &sight);
                player.rest();
                player.check();
                touches += 1;
                if touches > 40 {
                    player.note(Fault::Stuck, format!("{} step {step} does not end", button.name));
                    break;
                }
            }
            steps += 1;
            if step + 1 == of {
                break;
            }
            player.touch(next);
            player.until("the next step", || shown(&player).0 == step + 1 && !shown(&player).2);
        }
        player.touch(play);
        player.until("the page for a match", || player.look().page == Page::NewGame);
        player.go_home();
    }
    println!("{held:?}: {steps} steps of lessons");
    assert!(steps > 20, "{steps}");
    player.leave().settle("lessons", DEBTS);
}

#[test]
#[ignore = "make play-through"]
fn every_lesson_is_played_to_its_last_step_in_english() {
    every_lesson(Held { size: UPRIGHT, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_lesson_is_played_to_its_last_step_in_chinese() {
    every_lesson(Held { size: LYING, chinese: true });
}
