//! Properties of every game's options, independent of the game.

use engine::options::ChoiceError;
use engine::{AnyGame, GameKind, Language, Setup};

/// Each setup that differs from the default or from a preset in one value of one option.
fn one_choice_away(kind: GameKind) -> Vec<(Setup, &'static str, String)> {
    let mut all = Vec::new();
    let presets = kind.presets().into_iter().map(|preset| preset.setup);
    for start in presets.chain([kind.default_setup()]) {
        for option in start.options() {
            for value in option.values {
                let mut changed = start.clone();
                changed.choose(option.word, &value.word).expect("it is offered");
                all.push((changed, option.word, value.word));
            }
        }
    }
    all
}

#[test]
fn every_value_that_is_offered_can_be_chosen_and_then_is() {
    for &kind in GameKind::ALL {
        for (setup, word, value) in one_choice_away(kind) {
            let options = setup.options();
            let option = options.iter().find(|option| option.word == word).expect("it is still there");
            assert_eq!(option.chosen, value, "{kind:?} {word}");
            assert!(option.values.iter().any(|one| one.word == value));
        }
    }
}

#[test]
fn what_is_chosen_is_read_in_the_rule_sheet() {
    for &kind in GameKind::ALL {
        let default = kind.default_setup();
        for (setup, word, value) in one_choice_away(kind) {
            if AnyGame::new(&setup).is_ok() && setup != default {
                for language in Language::ALL {
                    assert_ne!(
                        setup.rule_sheet(language),
                        default.rule_sheet(language),
                        "{kind:?} {word} {value}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_option_and_value_has_a_name_in_both_languages() {
    for &kind in GameKind::ALL {
        for option in kind.default_setup().options() {
            for name in option.values.iter().map(|value| &value.name).chain([&option.name]) {
                assert!(!name.chinese.is_empty() && !name.english.is_empty(), "{kind:?} {}", option.word);
            }
            assert!(option.name.chinese.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)));
            assert!(option.name.english.is_ascii());
        }
    }
}

#[test]
fn presets_are_setups_that_make_a_game_and_the_first_is_the_default() {
    for &kind in GameKind::ALL {
        let presets = kind.presets();
        assert!(presets.first().is_none_or(|first| first.setup == kind.default_setup()));
        for preset in presets {
            assert!(AnyGame::new(&preset.setup).is_ok());
            assert_eq!(kind.preset(preset.word).as_ref(), Ok(&preset.setup));
            assert_eq!(preset.setup.preset(), Some(preset.word));
        }
    }
}

#[test]
fn numbers_between_those_that_are_offered_can_be_chosen_and_are_then_shown() {
    let mut setup = GameKind::Go.default_setup();
    setup.choose("size", "11").expect("go is played on 11 x 11 too");
    let options = setup.options();
    let size = options.iter().find(|option| option.word == "size").expect("go has sizes");
    let words: Vec<&str> = size.values.iter().map(|value| value.word.as_str()).collect();
    assert_eq!((words, size.chosen.as_str()), (vec!["9", "11", "13", "19"], "11"));
}

#[test]
fn a_choice_that_there_is_not_names_those_that_there_are() {
    let mut setup = GameKind::Liuzhou.default_setup();
    let before = setup.clone();
    for (option, value) in
        [("edge-six", "4"), ("edge-six", "+1"), ("edge-six", ""), ("inner-six", "99999999999")]
    {
        assert!(matches!(setup.choose(option, value), Err(ChoiceError::Value { .. })), "{option} {value}");
    }
    let wrong = setup.choose("safety", "sometimes").expect_err("it is none").to_string();
    assert_eq!(wrong, "`safety` cannot be `sometimes`; it can be: unless-no-other, always, never");
    let wrong = setup.choose("komi", "7").expect_err("it is none").to_string();
    assert!(wrong.starts_with("there is no option `komi`; there are: several, edge-six"), "{wrong}");
    let wrong = GameKind::Liuzhou.preset("beijing").expect_err("it is none").to_string();
    assert_eq!(wrong, "there is no preset `beijing`; there are: fengyang, shandong, huainan");
    assert_eq!(setup, before);
}

#[test]
fn options_that_few_people_choose_come_after_all_others() {
    for &kind in GameKind::ALL {
        let seldom: Vec<bool> = kind.default_setup().options().iter().map(|option| option.seldom).collect();
        assert!(seldom.is_sorted(), "{kind:?}");
    }
}

#[test]
fn handicap_stones_in_go_bring_a_komi_of_half_a_point_unless_another_was_chosen() {
    let mut setup = GameKind::Go.default_setup();
    let komi = |setup: &Setup| {
        let options = setup.options();
        options.iter().find(|option| option.word == "komi-half-points").expect("it has komi").chosen.clone()
    };
    for (option, value, then) in [
        ("handicap", "4", "1"),
        ("handicap", "2", "1"),
        ("handicap", "0", "15"),
        ("komi-half-points", "13", "13"),
        ("handicap", "3", "13"),
    ] {
        setup.choose(option, value).expect("it is offered");
        assert_eq!(komi(&setup), then, "after {option} {value}");
    }
}
