//! Export and import of each game: what one app has saved another takes in, and it is the same game.

use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Navigation, Page, RecordsAdapter, Remark, ReplayAdapter};
use slint::{ComponentHandle, Model};

use crate::debts::DEBTS;
use crate::eyes::Thing;
use crate::games::GAMES;
use crate::notes::Notes;
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};
use crate::seed;

/// Stone, piece and lamp of a point.
type Drawn = (i32, i32, i32);

/// What the review shows of a match at its end: the board, the number of moves, the list, and how it ended.
fn shown(player: &Player<'_>) -> (Vec<Drawn>, i32, Vec<String>, String) {
    let page = player.app.window().global::<ReplayAdapter<'_>>();
    let points = page.get_points().iter().map(|point| (point.stone, point.piece, point.lamp)).collect();
    let list = page.get_record().iter().map(Into::into).collect();
    (points, page.get_total(), list, format!("{:?} {:?}", page.get_winner(), page.get_ending()))
}

#[test]
#[ignore = "make play-through"]
fn every_game_is_saved_to_a_file_and_taken_in_by_another_app() {
    let _chair = take_the_chair();
    let stage = Stage::new();
    let seed = seed::begin("files", 24);
    let mut anna = Player::new(&stage, Held { size: UPRIGHT, chinese: false }, seed);
    let mut ben = Player::new(&stage, Held { size: LYING, chinese: false }, seed);
    ben.app.keep_files_in(&anna.files());
    for game in GAMES {
        let before = files(&anna);
        anna.new_game(game);
        if game != "Lights Out" {
            anna.touch("Same screen");
        }
        anna.start();
        for _ in 0..8 {
            assert!(anna.move_somewhere(), "{}", anna.look().told());
        }
        if game != "Lights Out" {
            anna.touch("Resign");
            anna.touch("Resign");
            anna.until("the end", || anna.board().get_over());
        }
        anna.go_home();
        anna.touch("My games");
        let latest = anna.bring(|one| is_of(game, one)).map(|(one, _)| one.name);
        anna.touch(&latest.expect("it was kept"));
        anna.until("the review", || anna.look().page == Page::Replay && shown(&anna).1 > 0);
        anna.touch("Save to a file");
        anna.until("the file", || files(&anna).len() > before.len());
        let name = files(&anna).into_iter().find(|name| !before.contains(name)).expect("it is new");
        let saved = shown(&anna);
        anna.go_home();

        ben.touch("My games");
        let total = |ben: &Player<'_>| ben.app.window().global::<RecordsAdapter<'_>>().get_total();
        let kept = total(&ben);
        for again in [false, true] {
            ben.touch("Import a game");
            assert_eq!(ben.look().dialog, Dialog::Files);
            ben.check_large();
            ben.touch(&name);
            ben.until("it is taken in", || {
                let page = ben.app.window().global::<Navigation<'_>>();
                let remark = page.get_remark();
                assert!(
                    remark == Remark::None || remark == Remark::Copied,
                    "{name}: {}",
                    page.get_remark_name()
                );
                ben.look().dialog == Dialog::None && total(&ben) == kept + 1
            });
            assert_eq!(total(&ben), kept + 1, "{name}: again {again}");
        }
        let latest = ben.bring(|one| is_of(game, one)).map(|(one, _)| one.name);
        ben.touch(&latest.expect("it was kept"));
        ben.until("the review", || ben.look().page == Page::Replay && shown(&ben).1 > 0);
        let taken = shown(&ben);
        assert_eq!(taken, saved, "{game}, {name}");
        println!("{game}: {name}, {} actions, {}", saved.1, saved.3);
        ben.go_home();
    }
    let mut notes = Notes::default();
    notes.join(anna.leave());
    notes.join(ben.leave());
    notes.settle("files", DEBTS);
}

fn files(player: &Player<'_>) -> Vec<String> {
    let entries = std::fs::read_dir(player.files()).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Whether this row of the list is a match of this game.
fn is_of(game: &str, row: &Thing) -> bool {
    row.kind == "RecordCard" && row.name.strip_prefix(game).is_some_and(|rest| rest.starts_with([' ', ',']))
}
