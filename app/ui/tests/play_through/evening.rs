//! A club evening of three at one device through each of its dialogs.

use host::HostConfig;
use qiyou::headless::Stage;
use qiyou::screens::{ClubAdapter, Dialog, Page};
use slint::ComponentHandle;

use crate::debts::DEBTS;
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};

/// Touches what opens this dialog, and looks at it.
fn open(player: &mut Player<'_>, name: &str, dialog: Dialog) {
    player.touch(name);
    player.until(name, || player.look().dialog == dialog);
    player.check();
    player.check_large();
}

/// Touches the first control whose name begins so.
fn touch_one(player: &mut Player<'_>, beginning: &str) {
    let found = player.bring(|one| one.name.starts_with(beginning)).map(|(thing, _)| thing.name);
    let name = found.unwrap_or_else(|| panic!("nothing begins with {beginning}: {}", player.look().told()));
    player.touch(&name);
}

/// In the dialog for players: somebody without a device.
fn add(player: &mut Player<'_>, name: &str, then: &str) {
    player.touch("Name of somebody else");
    for letter in name.chars() {
        player.scene.key(letter);
    }
    player.rest();
    player.touch("Add, without a device");
    player.until(then, || player.says(then));
}

/// The round that is shown.
fn round(player: &Player<'_>) -> i32 {
    player.app.window().global::<ClubAdapter<'_>>().get_round()
}

fn has(player: &Player<'_>, beginning: &str) -> bool {
    player.bring(|one| one.name.starts_with(beginning)).is_some()
}

fn evening(held: Held) {
    let _chair = take_the_chair();
    let stage = Stage::new();
    let mut player =
        Player::with(&stage, held, 5, |config| HostConfig { name: Some("Anna".into()), ..config });
    player.app.go(Page::Nearby);
    player.rest();
    player.touch("Club evening");
    player.touch("Begin the list");
    player.until("the list", || has(&player, "Add somebody"));
    open(&mut player, "Delete the evening", Dialog::ClubDiscard);
    player.touch("Cancel");

    open(&mut player, "Add somebody", Dialog::ClubAdd);
    player.touch("Add me");
    player.until("the first is there", || player.says("1 player on the list"));
    add(&mut player, "Ben", "2 players on the list");
    add(&mut player, "Carla", "3 players on the list");
    player.touch("Close");
    open(&mut player, "Start the evening", Dialog::ClubStart);
    player.touch("As on the list");
    player.until("it has started", || has(&player, "Result: "));
    player.check_large();

    touch_one(&mut player, "Result: ");
    assert_eq!(player.look().dialog, Dialog::ClubResult);
    player.check_large();
    player.touch("A draw");
    // The next round is shown, because this one has no other game.
    player.until("it is entered", || round(&player) == 2);
    player.touch("Round before");
    touch_one(&mut player, "Correct it: ");
    assert_eq!(player.look().dialog, Dialog::ClubResult);
    player.touch("Remove the result");
    player.until("it is removed", || player.look().dialog == Dialog::None && has(&player, "Result: "));

    open(&mut player, "Somebody comes late", Dialog::ClubAdd);
    player.touch("Close");
    open(&mut player, "Somebody leaves", Dialog::ClubLeave);
    open(&mut player, "Carla", Dialog::ClubLeaver);
    player.touch("Cancel");
    open(&mut player, "Finish the evening", Dialog::ClubFinish);
    player.touch("Finish");
    player.until("it is over", || has(&player, "New club evening"));
    player.check_large();
    open(&mut player, "Delete the evening", Dialog::ClubDiscard);
    player.touch("Delete");
    player.until("it is deleted", || has(&player, "Begin the list"));
    player.go_home();
    player.leave().settle(&format!("a club evening, {held:?}"), DEBTS);
}

#[test]
#[ignore = "make play-through"]
fn a_club_evening_goes_through_each_of_its_dialogs_upright() {
    evening(Held { size: UPRIGHT, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn a_club_evening_goes_through_each_of_its_dialogs_lying() {
    evening(Held { size: LYING, chinese: false });
}
