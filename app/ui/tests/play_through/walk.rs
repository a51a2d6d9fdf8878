//! A short walk at random: whatever is in sight is touched, the device is turned, and back leads home.

use qiyou::headless::Stage;
use qiyou::screens::Dialog;

use crate::debts::DEBTS;
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};
use crate::seed;

/// So many steps are taken.
const STEPS: usize = 120;

fn stroll(player: &mut Player<'_>, steps: usize) {
    for _ in 0..steps {
        let sight = player.look();
        let choice = player.rng.below(20);
        let controls: Vec<_> = sight
            .controls()
            .filter(|one| one.enabled && !(sight.dialog == Dialog::Files && one.name.ends_with('/')))
            // A finger's width of it is in sight.
            .filter(|one| sight.seen(one).height >= one.area.height.min(20.0))
            .cloned()
            .collect();
        match choice {
            0 => player.back(),
            1 => {
                player.go_home();
            }
            2 if !sight.scrolls.is_empty() => {
                let index = player.rng.below(sight.scrolls.len() as u32) as usize;
                player.scroll(sight.scrolls[index], 1.0);
            }
            3 => player.turn(),
            _ => {
                // One of a board's many points is as likely as a button.
                let points = controls.iter().filter(|one| one.is_point()).count();
                let others: Vec<_> = controls.iter().filter(|one| !one.is_point()).collect();
                let all = others.len() as u32 + u32::from(points > 0);
                if all == 0 {
                    continue;
                }
                let at = player.rng.below(all) as usize;
                let chosen = if at < others.len() {
                    others[at].clone()
                } else {
                    let at = player.rng.below(points as u32) as usize;
                    controls.iter().filter(|one| one.is_point()).nth(at).expect("counted").clone()
                };
                player.tap(&chosen, &sight);
                player.rest();
            }
        }
        player.check();
    }
}

#[test]
fn a_walk_at_random_meets_nothing_wrong_and_leads_home() {
    let _chair = take_the_chair();
    let seed = seed::begin("a_walk_at_random", 24);
    let stage = Stage::new();
    let held = Held { size: if seed.is_multiple_of(2) { UPRIGHT } else { LYING }, chinese: seed % 4 < 2 };
    let mut player = Player::new(&stage, held, seed);
    stroll(&mut player, STEPS);
    player.go_home();
    let touches = player.touches;
    assert!(touches > STEPS / 3, "only {touches} touches");
    player.leave().settle(&format!("a walk of {touches} touches, QIYOU_SEED={seed}"), DEBTS);
}
