//! What to play, against whom, by which rules. Every choice is remembered, for each game by itself.
//!
//! Which options a game has, and what they are called, comes from the host: a choice is put before it with `Describe`, and
//! the sheet that it answers is what the page shows.

use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, ChosenOption, GameChoice, GameOption, GameSheet, Seat, request, seat};
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::{editor, game, nearby, puzzles, update, when};
use crate::app::{Desk, Inner, Purpose};
use crate::preferences::{LastColour, LastGame, LastOpponent, OwnPace};
use crate::screens::{
    Colour, MainWindow, NewGameAdapter, Opponent, OptionKind, OptionView, Page, RulesAdapter,
};

/// More values than this do not stand beside each other on a phone; they are stepped through.
const WORDS_BESIDE: usize = 4;

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    presets: Rc<VecModel<SharedString>>,
    paces: Rc<VecModel<SharedString>>,
    options: Rc<VecModel<OptionView>>,
    sentences: Rc<VecModel<SharedString>>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<NewGameAdapter>();
    page.set_presets(ModelRc::from(desk.new_game.presets.clone()));
    page.set_options(ModelRc::from(desk.new_game.options.clone()));
    page.set_paces(ModelRc::from(desk.new_game.paces.clone()));
    window.global::<RulesAdapter>().set_sentences(ModelRc::from(desk.new_game.sentences.clone()));
    page.on_choose_opponent(when!(desk, |desk, opponent| {
        let opponent = match opponent {
            Opponent::Bot => LastOpponent::Bot,
            Opponent::Here => LastOpponent::Here,
            Opponent::Peer => LastOpponent::Peer,
        };
        remember(&desk, |last| last.opponent = opponent);
        let game = desk.see().new_game;
        if game::is_solo(game) {
            // Alone or as a race: other options, other rules.
            describe(&desk, game);
        }
    }));
    page.on_choose_level(when!(desk, |desk, level| {
        remember(&desk, |last| last.level = level.clamp(1, 10) as u32);
    }));
    page.on_choose_colour(when!(desk, |desk, colour| {
        let colour = match colour {
            Colour::First => LastColour::First,
            Colour::Second => LastColour::Second,
            Colour::Random => LastColour::Random,
            Colour::Turns => LastColour::Turns,
        };
        remember(&desk, |last| last.colour = colour);
    }));
    page.on_choose_preset(when!(desk, |desk, index| {
        let chosen = {
            let inner = desk.see();
            let sheet = inner.sheets.get(&(inner.new_game as i32));
            let preset = sheet.and_then(|sheet| sheet.presets.get(index as usize));
            preset.map(|preset| with_preset(choice(&inner, inner.new_game), preset))
        };
        if let Some(choice) = chosen {
            let game = desk.see().new_game;
            ask(&desk, game, choice);
        }
    }));
    page.on_choose_value(when!(desk, |desk, option, value| {
        change_option(&desk, option, |option| {
            option.values.get(value as usize).map(|value| value.value.clone())
        });
    }));
    page.on_step_value(when!(desk, |desk, option, step| {
        change_option(&desk, option, |option| stepped(option, step));
    }));
    page.on_toggle_all_options(when!(desk, |desk| {
        desk.change(|inner| inner.all_options = !inner.all_options);
    }));
    page.on_choose_pace(when!(desk, |desk, index| {
        let word = {
            let inner = desk.see();
            let pace = paces(&inner).get(usize::try_from(index).unwrap_or(usize::MAX)).cloned();
            pace.map(|pace| pace.word)
        };
        if let Some(word) = word {
            remember(&desk, |last| last.pace = word);
        }
    }));
    page.on_choose_usual_pace(when!(desk, |desk, index| {
        let word = {
            let inner = desk.see();
            let pace = paces(&inner).get(usize::try_from(index).unwrap_or(usize::MAX)).cloned();
            pace.map(|pace| pace.word)
        };
        if let Some(word) = word {
            desk.prefer(|known| known.pace = word);
        }
    }));
    page.on_set_own_pace(when!(desk, |desk, part, value| {
        desk.prefer(|known| {
            let own = &mut known.own_pace;
            match part {
                0 => own.kind = value.clamp(0, 3) as u8,
                1 => own.minutes = step_to(own.minutes, value, MOST_MINUTES),
                2 => own.seconds = step_to(own.seconds, value, MOST_SECONDS),
                _ => own.periods = value.clamp(1, 10) as u32,
            }
        });
        // The host names it.
        let game = desk.see().new_game;
        describe(&desk, game);
    }));
    page.on_use_own_pace(when!(desk, |desk, usual| {
        if usual {
            desk.prefer(|known| known.pace = OWN.into());
        } else {
            remember(&desk, |last| last.pace = OWN.into());
        }
    }));
    page.on_open_puzzles(when!(desk, |desk| {
        let game = desk.see().new_game;
        puzzles::open_page(&desk, game);
    }));
    page.on_start(when!(desk, |desk| start(&desk)));
    page.on_set_up(when!(desk, |desk| editor::open(&desk)));
}

/// Turns to the page for this game.
pub(crate) fn open(desk: &Desk, game: wire::Game) {
    desk.change(|inner| {
        inner.new_game = game;
        inner.all_options = false;
    });
    describe(desk, game);
    desk.go(Page::NewGame);
}

/// Asks what the remembered choice of this game amounts to.
pub(crate) fn describe(desk: &Desk, game: wire::Game) {
    let choice = choice(&desk.see(), game);
    ask(desk, game, choice);
}

fn ask(desk: &Desk, game: wire::Game, choice: GameChoice) {
    let asked = {
        let inner = desk.see();
        control::Describe {
            choice: Some(choice.clone()),
            with_peer: is_race(&inner, game) || (game::is_solo(game) && inner.page() == Page::Nearby),
            pace: Some(own_pace(inner.preferences.own_pace)),
            ..Default::default()
        }
    };
    desk.ask(request::Body::Describe(asked), Purpose::DescribeChoice { game, choice });
}

/// The host has said what a choice amounts to: from now on it is the remembered one.
pub(crate) fn described(desk: &Desk, game: wire::Game, choice: &GameChoice, sheet: GameSheet) {
    let word = game::word(game);
    // What has been chosen beside the preset, in the sheet's order, in which each option is there when its turn comes.
    let touched = |option: &GameOption| choice.options.iter().any(|one| one.option == option.option);
    let options = beside_preset(&sheet, touched);
    let preset = if sheet.preset.is_empty() { choice.preset.clone() } else { sheet.preset.clone() };
    let known = desk.see().last(game);
    desk.change(|inner| {
        inner.sheets.insert(game as i32, sheet);
    });
    if (&known.preset, &known.options) != (&preset, &options) && !choice_is_default(choice) {
        desk.prefer(|known| {
            let last = known.games.entry(word.into()).or_default();
            (last.preset, last.options) = (preset, options);
        });
    }
}

/// The options that are remembered beside the sheet's preset, with their values: those of them that the preset does not decide.
fn beside_preset(sheet: &GameSheet, touched: impl Fn(&GameOption) -> bool) -> Vec<(String, String)> {
    let preset = sheet.presets.iter().find(|preset| preset.preset == sheet.preset);
    let is_left = |option: &&GameOption| preset.is_none_or(|preset| !decides(preset, &option.option));
    let options = sheet.options.iter().filter(is_left).filter(|option| touched(option));
    options.map(|option| (option.option.clone(), option.chosen.clone())).collect()
}

/// Whether an option is part of what the preset is.
fn decides(preset: &control::GamePreset, option: &str) -> bool {
    preset.decides.is_empty() || preset.decides.iter().any(|decided| decided == option)
}

/// The same choice by other rules: what the preset does not decide stays.
fn with_preset(mut choice: GameChoice, preset: &control::GamePreset) -> GameChoice {
    choice.preset.clone_from(&preset.preset);
    choice.options.retain(|one| !decides(preset, &one.option));
    choice
}

fn choice_is_default(choice: &GameChoice) -> bool {
    choice.preset.is_empty() && choice.options.is_empty()
}

/// The host knows no such choice, which another version may have remembered: back to the game's default.
pub(crate) fn not_described(desk: &Desk, game: wire::Game, choice: &GameChoice) {
    if choice_is_default(choice) {
        return;
    }
    desk.prefer(|known| {
        if let Some(last) = known.games.get_mut(game::word(game)) {
            last.preset.clear();
            last.options.clear();
        }
    });
    describe(desk, game);
}

/// A game for one that is chosen to be run against somebody.
fn is_race(inner: &Inner, game: wire::Game) -> bool {
    game::is_solo(game) && inner.last(game).opponent == LastOpponent::Peer
}

/// The host's word for a clock of the player's own.
const OWN: &str = "own";
/// What a clock of one's own may have: three hours, and half an hour a turn.
const MOST_MINUTES: u32 = 180;
const MOST_SECONDS: u32 = 1_800;

fn own_pace(own: OwnPace) -> wire::Pace {
    let (main_s, step_s) = (own.minutes * 60, own.seconds);
    let pace = |kind: wire::PaceKind, main_s, step_s, periods| wire::Pace {
        kind: kind.into(),
        main_s,
        step_s,
        periods,
    };
    match own.kind {
        0 => pace(wire::PaceKind::PaceSuddenDeath, main_s, 0, 0),
        1 => pace(wire::PaceKind::PaceFischer, main_s, step_s, 0),
        2 => pace(wire::PaceKind::PaceByoYomi, main_s, step_s, own.periods),
        _ => pace(wire::PaceKind::PacePerMove, 0, step_s, 0),
    }
}

/// One step of a stepper from this number towards the wanted one: growing steps, as everywhere.
fn step_to(now: u32, wanted: i32, most: u32) -> u32 {
    let next = if i64::from(wanted) > i64::from(now) { up_from(now) } else { down_from(now) };
    next.clamp(1, most)
}

/// What an invitation or a new match of this game would be played by.
pub(crate) fn choice(inner: &Inner, game: wire::Game) -> GameChoice {
    let last = inner.last(game);
    let chosen = |(option, value)| ChosenOption { option, value };
    GameChoice {
        game: game.into(),
        preset: last.preset,
        options: last.options.into_iter().map(chosen).collect(),
    }
}

/// The paces that the host offers, whichever game it was asked about.
fn paces(inner: &Inner) -> &[control::PacePreset] {
    let sheet = inner.sheets.get(&i32::from(inner.new_game)).or(inner.sheets.values().next());
    sheet.map_or(&[], |sheet| &sheet.paces)
}

/// How this game is timed: as it was last chosen, or as all games are.
fn chosen_pace(inner: &Inner, game: wire::Game) -> Option<&control::PacePreset> {
    let last = inner.last(game).pace;
    let word = if last.is_empty() { &inner.preferences.pace } else { &last };
    // A word of another version's is no clock.
    paces(inner).iter().find(|pace| pace.word == *word).filter(|pace| pace.pace.is_some())
}

/// As an invitation or a new match says it; `None`: no clock. A race has none: its time is what is compared.
pub(super) fn pace(inner: &Inner, game: wire::Game) -> Option<wire::Pace> {
    if game::is_solo(game) {
        return None;
    }
    chosen_pace(inner, game).and_then(|pace| pace.pace)
}

/// In the language that is shown; empty: no clock.
pub(super) fn pace_name(inner: &Inner, game: wire::Game) -> String {
    let name = chosen_pace(inner, game).filter(|_| !game::is_solo(game)).and_then(|pace| pace.name.as_ref());
    said(name, inner.chinese()).to_owned()
}

fn show_paces(page: &NewGameAdapter<'_>, desk: &Desk, inner: &Inner, chinese: bool) {
    let all = paces(inner);
    // One's own is seen in the list only where it was taken.
    let taken = |pace: &&control::PacePreset| {
        pace.word != OWN || [&inner.last(inner.new_game).pace, &inner.preferences.pace].contains(&&pace.word)
    };
    let names: Vec<SharedString> =
        all.iter().filter(taken).map(|pace| said(pace.name.as_ref(), chinese).into()).collect();
    update(&desk.new_game.paces, &names);
    let chosen = chosen_pace(inner, inner.new_game);
    let at = all.iter().position(|pace| chosen.is_some_and(|chosen| chosen.word == pace.word));
    // The first is none.
    page.set_pace(at.unwrap_or(0) as i32);
    let of_all = all.iter().position(|pace| pace.word == inner.preferences.pace).unwrap_or(0);
    page.set_usual_pace(of_all as i32);
    let own = inner.preferences.own_pace;
    page.set_own_kind(own.kind.into());
    page.set_own_minutes(own.minutes as i32);
    page.set_own_seconds(own.seconds as i32);
    page.set_own_periods(own.periods as i32);
    let named = all.iter().find(|pace| pace.word == OWN);
    page.set_own_name(said(named.and_then(|pace| pace.name.as_ref()), chinese).into());
}

/// The choice of this game is from now on as an invitation asks for it, so that one thing can be changed.
pub(super) fn adopt(desk: &Desk, game: wire::Game, sheet: &GameSheet, theirs: &control::Invitation) {
    let options = beside_preset(sheet, |_| true);
    let pace = sheet.paces.iter().find(|pace| pace.pace == theirs.pace).map(|pace| pace.word.clone());
    desk.prefer(|known| {
        let last = known.games.entry(game::word(game).into()).or_default();
        (last.preset, last.options) = (sheet.preset.clone(), options);
        last.opponent = LastOpponent::Peer;
        if let Some(pace) = pace {
            last.pace = pace;
        }
        last.colour = match theirs.my_side() {
            wire::Side::First => LastColour::First,
            wire::Side::Second => LastColour::Second,
            wire::Side::Unspecified => LastColour::Random,
        };
    });
}

fn remember(desk: &Desk, change: impl FnOnce(&mut LastGame)) {
    let word = game::word(desk.see().new_game);
    desk.prefer(|known| change(known.games.entry(word.into()).or_default()));
}

/// Chooses a value for the option in this row of the page. What was chosen before stays in front of it: each choice was
/// possible when it was made, so all of them one after another are.
fn change_option(desk: &Desk, row: i32, value: impl FnOnce(&GameOption) -> Option<String>) {
    let (game, chosen) = {
        let inner = desk.see();
        let Some(sheet) = inner.sheets.get(&(inner.new_game as i32)) else { return };
        let Some(option) = usize::try_from(row).ok().and_then(|row| offered(sheet).nth(row)) else { return };
        let Some(value) = value(option) else { return };
        (inner.new_game, ChosenOption { option: option.option.clone(), value })
    };
    let mut choice = choice(&desk.see(), game);
    choice.options.push(chosen);
    ask(desk, game, choice);
}

/// The options that a page offers beside the presets: those with something to choose from, but for an option that is the presets
/// by other words. A number that the host offers no values for is for those who type it.
pub(super) fn offered(sheet: &GameSheet) -> impl Iterator<Item = &GameOption> {
    let is_preset = |option: &GameOption| {
        let decided = |preset: &control::GamePreset| preset.decides == [option.option.as_str()];
        sheet.presets.len() > 1 && sheet.presets.iter().all(decided)
    };
    sheet.options.iter().filter(move |option| option.values.len() > 1 && !is_preset(option))
}

/// The next value up or down: the next of those that are offered, and beyond them the next number.
fn stepped(option: &GameOption, step: i32) -> Option<String> {
    let at = option.values.iter().position(|value| value.value == option.chosen)?;
    let next = if step > 0 { at.checked_add(1) } else { at.checked_sub(1) };
    if let Some(next) = next.and_then(|next| option.values.get(next)) {
        return Some(next.value.clone());
    }
    let chosen: u32 = option.numbers.then(|| option.chosen.parse().ok())??;
    let number =
        if step > 0 { up_from(chosen).min(option.most) } else { down_from(chosen).max(option.least) };
    (number != chosen).then(|| number.to_string())
}

/// Beyond what is offered a step grows with the number, so that the far end is not a hundred touches away: it goes to the
/// next number with one digit less.
pub(super) fn up_from(number: u32) -> u32 {
    let round = roundness(number);
    (number / round + 1) * round
}

pub(super) fn down_from(number: u32) -> u32 {
    let round = roundness(number.saturating_sub(1));
    number.saturating_sub(1) / round * round
}

/// 1 below 10, 5 below 50, 10 below 100, 50 below 500, 100 from there.
const fn roundness(number: u32) -> u32 {
    match number {
        0..10 => 1,
        10..50 => 5,
        50..100 => 10,
        100..500 => 50,
        _ => 100,
    }
}

fn start(desk: &Desk) {
    let (game, last, choice) = {
        let inner = desk.see();
        (inner.new_game, inner.last(inner.new_game), choice(&inner, inner.new_game))
    };
    let here = || Seat { who: Some(seat::Who::Here(true)), ..Default::default() };
    let countering = desk.see().countering.clone();
    if let Some(theirs) = countering {
        desk.change(|inner| inner.answered = Some(theirs.invite_id.clone()));
        desk.back();
        nearby::propose(desk, &theirs.peer, game, &theirs.invite_id);
        return;
    }
    let (first, second) = match last.opponent {
        LastOpponent::Here | LastOpponent::Bot if game::is_solo(game) => (here(), here()),
        LastOpponent::Peer => {
            desk.prefer(|known| known.nearby_game = game::word(game).into());
            desk.tell_wish();
            desk.go(Page::Nearby);
            return;
        }
        LastOpponent::Here => (here(), here()),
        LastOpponent::Bot => {
            let bot = Seat { who: Some(seat::Who::BotLevel(last.level)), ..Default::default() };
            let begins = match last.colour {
                LastColour::First => true,
                LastColour::Second => false,
                // The standard library seeds each map's hasher at random: enough for a lot between two colours.
                LastColour::Random | LastColour::Turns => RandomState::new().hash_one(0).is_multiple_of(2),
            };
            if begins { (here(), bot) } else { (bot, here()) }
        }
    };
    let open = control::OpenRoom {
        first: Some(first),
        second: Some(second),
        pace: pace(&desk.see(), game),
        choice: Some(choice),
        ..control::OpenRoom::default()
    };
    desk.ask(request::Body::OpenRoom(open), Purpose::OpenRoom);
}

/// The colour asked for, as the wire says it; by lot is the host's to draw.
pub(super) fn my_side(colour: LastColour) -> wire::Side {
    match colour {
        LastColour::First => wire::Side::First,
        LastColour::Second => wire::Side::Second,
        LastColour::Random | LastColour::Turns => wire::Side::Unspecified,
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let chinese = inner.chinese();
    show_rules(window, desk, &inner, chinese);
    let last = inner.last(inner.new_game);
    let page = window.global::<NewGameAdapter>();
    page.set_game(game::shown(inner.new_game));
    page.set_solo(game::is_solo(inner.new_game));
    page.set_race(is_race(&inner, inner.new_game));
    page.set_opponent(match last.opponent {
        LastOpponent::Bot => Opponent::Bot,
        LastOpponent::Here => Opponent::Here,
        LastOpponent::Peer => Opponent::Peer,
    });
    page.set_level(last.level as i32);
    page.set_colour(match last.colour {
        LastColour::First => Colour::First,
        LastColour::Second => Colour::Second,
        LastColour::Random => Colour::Random,
        LastColour::Turns => Colour::Turns,
    });
    page.set_counters(inner.countering.as_ref().map(|one| one.name.as_str()).unwrap_or_default().into());
    show_paces(&page, desk, &inner, chinese);
    page.set_all_options(inner.all_options);
    let Some(sheet) = inner.sheets.get(&(inner.new_game as i32)) else {
        // Nothing of another game's stays to be touched while the host looks it up.
        update(&desk.new_game.presets, &[]);
        update(&desk.new_game.options, &[]);
        page.set_further_options(0);
        return;
    };
    let presets: Vec<SharedString> =
        sheet.presets.iter().map(|preset| said(preset.name.as_ref(), chinese).into()).collect();
    update(&desk.new_game.presets, &presets);
    page.set_presets_need(width_beside(presets.iter().map(SharedString::as_str)));
    let chosen = sheet.presets.iter().position(|preset| preset.preset == sheet.preset);
    page.set_preset(chosen.map_or(-1, |index| index as i32));
    let mut options: Vec<OptionView> = offered(sheet).map(|option| option_view(option, chinese)).collect();
    let further = offered(sheet).filter(|option| option.seldom).count();
    if !inner.all_options {
        options.truncate(options.len() - further);
    }
    update(&desk.new_game.options, &options);
    page.set_further_options(further as i32);
    page.set_ready(sheet.problem.is_empty());
    let setup = sheet.setup.as_ref().and_then(|setup| setup.game.as_ref());
    let second = matches!(setup, Some(wire::setup::Game::Xiangqi(xiangqi)) if xiangqi.black_first);
    page.set_second_begins(second);
    page.set_go_size(match setup {
        Some(wire::setup::Game::Go(go)) => go.size as i32,
        _ => 0,
    });
}

fn option_view(option: &GameOption, chinese: bool) -> OptionView {
    let at = option.values.iter().position(|value| value.value == option.chosen);
    let names: Vec<SharedString> =
        option.values.iter().map(|value| said(value.name.as_ref(), chinese).into()).collect();
    let words: Vec<&str> = option.values.iter().map(|value| value.value.as_str()).collect();
    let kind = if words == ["yes", "no"] {
        OptionKind::Switch
    } else if words.len() <= WORDS_BESIDE {
        OptionKind::Words
    } else {
        OptionKind::Steps
    };
    OptionView {
        name: said(option.name.as_ref(), chinese).into(),
        kind,
        chosen: at.map_or(-1, |at| at as i32),
        value: at.and_then(|at| names.get(at).cloned()).unwrap_or_else(|| option.chosen.as_str().into()),
        needs: width_beside(names.iter().map(SharedString::as_str)),
        values: ModelRc::new(VecModel::from(names)),
        can_less: stepped(option, -1).is_some(),
        can_more: stepped(option, 1).is_some(),
    }
}

/// The width in logical pixels in which these words stand beside each other in equal shares: 16 a Chinese character and 9 a
/// letter of the body's size, and 12 around each.
fn width_beside<'a>(words: impl Iterator<Item = &'a str> + Clone) -> f32 {
    let wide = |sign: char| if sign < '\u{2e80}' { 9.0 } else { 16.0 };
    let widest = words.clone().map(|word| word.chars().map(wide).sum::<f32>()).fold(0.0, f32::max);
    words.count() as f32 * (widest + 12.0)
}

/// In the language that is shown.
pub(super) fn said(words: Option<&control::Words>, chinese: bool) -> &str {
    words.map_or("", |words| if chinese { &words.zh } else { &words.en })
}

/// What the rules of a sheet are called; empty where they have no name.
pub(super) fn rule_name(sheet: Option<&GameSheet>, chinese: bool) -> &str {
    let Some(sheet) = sheet else { return "" };
    let preset = sheet.presets.iter().find(|preset| preset.preset == sheet.preset);
    said(preset.and_then(|preset| preset.name.as_ref()), chinese)
}

fn sheet_text(sheet: Option<&GameSheet>, chinese: bool) -> &str {
    sheet.map_or("", |sheet| if chinese { &sheet.rule_sheet_zh } else { &sheet.rule_sheet_en })
}

/// The rule sheet of an invitation, of the match on the board, or of the one that is being chosen.
fn show_rules(window: &MainWindow, desk: &Desk, inner: &Inner, chinese: bool) {
    let own = inner.incoming().or(inner.outgoing()).filter(|_| inner.page() != Page::Board);
    let asked = inner.incoming().or(own);
    let (of, sheet) = match (&inner.room, asked) {
        (_, Some(asked)) => {
            let sheet = if chinese { &asked.rule_sheet_zh } else { &asked.rule_sheet_en };
            (super::game_of(asked.setup.as_ref()), sheet.as_str())
        }
        (Some(room), None) if inner.page() == Page::Board => {
            (super::game_of(room.setup.as_ref()), sheet_text(inner.room_sheet(), chinese))
        }
        _ => {
            let sheet = inner.sheets.get(&(inner.new_game as i32));
            (game::shown(inner.new_game), sheet_text(sheet, chinese))
        }
    };
    window.global::<RulesAdapter>().set_game(of);
    let sentences: Vec<SharedString> =
        sheet.lines().filter(|line| !line.trim().is_empty()).map(Into::into).collect();
    update(&desk.new_game.sentences, &sentences);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(values: &[u32], chosen: u32, most: u32) -> GameOption {
        GameOption {
            values: (values.iter())
                .map(|value| control::OptionValue { value: value.to_string(), name: None })
                .collect(),
            chosen: chosen.to_string(),
            numbers: true,
            least: 1,
            most,
            ..GameOption::default()
        }
    }

    #[test]
    fn a_stepper_goes_through_what_is_offered_and_then_on_in_growing_steps() {
        let steps = |values: &[u32], chosen, step| stepped(&number(values, chosen, 1_000), step);
        assert_eq!(steps(&[3, 5, 8], 5, 1).as_deref(), Some("8"));
        assert_eq!(steps(&[3, 5, 8], 3, -1).as_deref(), Some("2"));
        assert_eq!(steps(&[3, 15], 15, 1).as_deref(), Some("20"));
        assert_eq!(steps(&[3, 15, 20], 20, 1).as_deref(), Some("25"));
        assert_eq!(steps(&[3, 15, 950], 950, 1).as_deref(), Some("1000"));
        assert_eq!(steps(&[3, 1_000], 1_000, 1), None);
        assert_eq!(steps(&[1, 3], 1, -1), None);
        let listed = GameOption { numbers: false, ..number(&[2, 3], 3, 9) };
        assert_eq!(stepped(&listed, 1), None);
    }

    #[test]
    fn from_the_offered_end_a_thousand_is_within_a_minute_of_touches() {
        let mut touches = 0;
        let mut at = 15;
        while at < 1_000 {
            at = up_from(at);
            touches += 1;
        }
        assert!(touches <= 30, "{touches}");
        while at > 10 {
            let below = down_from(at);
            assert!(below < at);
            at = below;
        }
    }
}
