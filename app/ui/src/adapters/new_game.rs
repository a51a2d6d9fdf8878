//! The page for a new match: opponent, rules, clock. Every choice is remembered per game.
//!
//! The options of a game and their names come from the host: a choice is sent with `Describe`, and the page shows the sheet
//! in the reply.

mod steps;

use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, ChosenOption, GameChoice, GameOption, GameSheet, Seat, reply, request, seat};
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::invitation::Invitation;
use super::{game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::{LastColour, LastGame, LastOpponent, OwnPace};
use crate::screens::{
    Colour, Giver, MainWindow, NewGameAdapter, OddsAdvice, Opponent, OptionKind, OptionView, Page, Remark,
    RulesAdapter, Strength,
};

use steps::stepped;
pub(super) use steps::{down_from, up_from};

/// Maximum number of values shown side by side on a phone; options with more values have a stepper.
const WORDS_BESIDE: usize = 4;

/// State of the page.
pub(crate) struct NewGame {
    game: wire::Game,
    /// Rules and clock are unfolded; `None`: untouched, so only for who answers an invitation by other terms.
    terms_open: Option<bool>,
    /// Advanced options are shown too.
    all_options: bool,
    presets: Rc<VecModel<SharedString>>,
    paces: Rc<VecModel<SharedString>>,
    options: Rc<VecModel<OptionView>>,
    engines: Rc<VecModel<SharedString>>,
    sentences: Rc<VecModel<SharedString>>,
}

impl Default for NewGame {
    fn default() -> Self {
        Self {
            game: wire::Game::Gomoku,
            terms_open: None,
            all_options: false,
            presets: Rc::default(),
            paces: Rc::default(),
            options: Rc::default(),
            engines: Rc::default(),
            sentences: Rc::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// The sheet of a choice for this game.
    Describe {
        game: wire::Game,
        choice: GameChoice,
    },
    Open,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::NewGame(question)
    }
}

impl NewGame {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<NewGameAdapter>();
        page.set_presets(ModelRc::from(self.presets.clone()));
        page.set_options(ModelRc::from(self.options.clone()));
        page.set_engines(ModelRc::from(self.engines.clone()));
        page.set_paces(ModelRc::from(self.paces.clone()));
        window.global::<RulesAdapter>().set_sentences(ModelRc::from(self.sentences.clone()));
        page.on_choose_opponent(touched!(app, |pages, cx, opponent| {
            pages.new_game.choose_opponent(opponent, cx);
        }));
        page.on_choose_level(touched!(app, |pages, cx, level| {
            pages.new_game.remember(cx, move |last| last.level = level.clamp(1.0, 10.0));
        }));
        page.on_choose_engine(touched!(app, |pages, cx, index| {
            let named =
                engines(cx.known, pages.new_game.game).nth(usize::try_from(index).unwrap_or(usize::MAX));
            let name = named.map(|engine| engine.name.clone()).unwrap_or_default();
            pages.new_game.remember(cx, move |last| last.engine = name);
        }));
        page.on_choose_engine_seconds(touched!(app, |pages, cx, seconds| {
            let seconds = seconds.clamp(1, proto::limits::ENGINE_SECONDS as i32) as u32;
            pages.new_game.remember(cx, move |last| last.engine_seconds = seconds);
        }));
        page.on_choose_adaptive(touched!(app, |pages, cx, adaptive| {
            pages.new_game.remember(cx, move |last| last.adaptive = adaptive);
        }));
        page.on_forget_strength(touched!(app, |pages, cx| {
            let game = pages.new_game.game;
            let choice = Some(choice(cx.known, game));
            cx.ask.tell(request::Body::ForgetStrength(control::ForgetStrength { choice }));
            describe(game, cx);
        }));
        page.on_choose_odds(touched!(app, |pages, cx, give| pages.new_game.choose_odds(give, cx)));
        page.on_choose_colour(touched!(app, |pages, cx, colour| {
            let colour = match colour {
                Colour::First => LastColour::First,
                Colour::Second => LastColour::Second,
                Colour::Random => LastColour::Random,
                Colour::Turns => LastColour::Turns,
            };
            pages.new_game.remember(cx, move |last| last.colour = colour);
        }));
        page.on_choose_preset(touched!(app, |pages, cx, index| pages.new_game.choose_preset(index, cx)));
        page.on_choose_value(touched!(app, |pages, cx, option, value| {
            pages.new_game.change_option(cx, option, |option| {
                option.values.get(value as usize).map(|value| value.value.clone())
            });
        }));
        page.on_step_value(touched!(app, |pages, cx, option, step| {
            pages.new_game.change_option(cx, option, |option| stepped(option, step));
        }));
        page.on_toggle_terms(touched!(app, |pages, _cx| {
            pages.new_game.terms_open = Some(!pages.new_game.shows_terms(&pages.invitation));
        }));
        page.on_toggle_all_options(touched!(app, |pages, _cx| {
            pages.new_game.all_options = !pages.new_game.all_options;
        }));
        page.on_toggle_hints(touched!(app, |pages, cx| {
            pages.new_game.remember(cx, |last| last.hints = !last.hints);
        }));
        page.on_choose_pace(touched!(app, |pages, cx, index| {
            if let Some(word) = pace_word(cx.known, index) {
                pages.new_game.remember(cx, |last| last.pace = word);
            }
        }));
        page.on_choose_usual_pace(touched!(app, |_pages, cx, index| {
            if let Some(word) = pace_word(cx.known, index) {
                cx.preferences.change(|known| known.pace = word);
            }
        }));
        page.on_set_own_pace(touched!(app, |pages, cx, part, value| {
            cx.preferences.change(move |known| set_own_pace(&mut known.own_pace, part, value));
            // The host knows its name.
            cx.go.describe(pages.new_game.game);
        }));
        page.on_use_own_pace(touched!(app, |pages, cx, usual| {
            if usual {
                cx.preferences.change(|known| known.pace = OWN.into());
            } else {
                pages.new_game.remember(cx, |last| last.pace = OWN.into());
            }
        }));
        page.on_open_puzzles(touched!(app, |pages, cx| cx.go.puzzles(pages.new_game.game)));
        page.on_start(touched!(app, |pages, cx| {
            if !pages.invitation.send_terms(pages.new_game.game, cx) {
                pages.new_game.start(cx);
            }
        }));
        page.on_set_up(touched!(app, |pages, cx| match pages.new_game.game {
            wire::Game::LightsOut => pages.editor.open(cx),
            game => pages.position.open(choice(cx.known, game), cx),
        }));
    }

    /// Opens the page for this game.
    pub(crate) fn open(&mut self, game: wire::Game, cx: &mut Cx<'_>) {
        (self.game, self.terms_open, self.all_options) = (game, None, false);
        cx.go.set_start(None);
        cx.go.describe(game);
        cx.go.page(Page::NewGame);
    }

    /// Opens the page for a match that begins from the position of this choice.
    pub(crate) fn open_started(&mut self, choice: GameChoice, cx: &mut Cx<'_>) {
        let game = wire::Game::try_from(choice.game).unwrap_or_default();
        (self.game, self.terms_open, self.all_options) = (game, None, false);
        ask(game, choice, cx);
        cx.go.page(Page::NewGame);
    }

    /// Requests the sheet that the page being opened needs, unless it is known.
    pub(crate) fn page_turned(&self, cx: &mut Cx<'_>) {
        if cx.known.page() == Page::Home && cx.known.start().is_some() {
            cx.go.set_start(None);
            // What is known of the game is about the position.
            cx.go.describe(self.game);
        }
        let game = match cx.known.page() {
            Page::NewGame => self.game,
            // Time controls come with every sheet.
            Page::Settings if cx.known.sheets.is_empty() => self.game,
            Page::Nearby | Page::Club => cx.known.nearby_game(),
            _ => return,
        };
        if !cx.known.sheets.contains_key(&i32::from(game)) {
            describe(game, cx);
        }
    }

    fn choose_opponent(&self, opponent: Opponent, cx: &mut Cx<'_>) {
        let opponent = match opponent {
            Opponent::Bot => LastOpponent::Bot,
            Opponent::Here => LastOpponent::Here,
            Opponent::Peer => LastOpponent::Peer,
        };
        self.remember(cx, move |last| last.opponent = opponent);
        if game::is_solo(self.game) {
            // Playing alone and racing have different options and rules.
            cx.go.describe(self.game);
        }
    }

    fn choose_preset(&self, index: i32, cx: &mut Cx<'_>) {
        let sheet = cx.known.sheets.get(&(self.game as i32));
        if let Some(preset) = sheet.and_then(|sheet| sheet.presets.get(index as usize)) {
            ask(self.game, with_preset(choice(cx.known, self.game), preset), cx);
        }
    }

    /// Changes the option in this row of the page. Earlier changes stay before it, because each was valid when it was made,
    /// so that the sequence is valid.
    fn change_option(&self, cx: &mut Cx<'_>, row: i32, value: impl FnOnce(&GameOption) -> Option<String>) {
        let Some(sheet) = cx.known.sheets.get(&(self.game as i32)) else { return };
        let Some(option) = usize::try_from(row).ok().and_then(|row| rows(sheet, cx.known).nth(row)) else {
            return;
        };
        let Some(value) = value(option) else { return };
        let mut choice = choice(cx.known, self.game);
        choice.options.push(ChosenOption { option: option.option.clone(), value });
        ask(self.game, choice, cx);
    }

    /// The next match begins with odds that the person gives, or takes.
    fn choose_odds(&self, give: bool, cx: &mut Cx<'_>) {
        let Some((option, value, taker)) = odds(self.game) else { return };
        let colour = match (taker, give) {
            (wire::Side::First, false) | (wire::Side::Second, true) => LastColour::First,
            _ => LastColour::Second,
        };
        self.remember(cx, move |last| last.colour = colour);
        let mut choice = choice(cx.known, self.game);
        choice.options.push(ChosenOption { option: option.into(), value: value.into() });
        ask(self.game, choice, cx);
    }

    fn remember(&self, cx: &mut Cx<'_>, change: impl FnOnce(&mut LastGame) + 'static) {
        let word = game::word(self.game);
        cx.preferences.change(move |known| change(known.games.entry(word.into()).or_default()));
    }

    fn start(&self, cx: &mut Cx<'_>) {
        let game = self.game;
        let last = cx.known.last(game);
        let here = || Seat { who: Some(seat::Who::Here(true)), ..Default::default() };
        let (first, second) = match last.opponent {
            LastOpponent::Here | LastOpponent::Bot if game::is_solo(game) => (here(), here()),
            LastOpponent::Peer => {
                cx.preferences.change(move |known| known.nearby_game = game::word(game).into());
                cx.go.tell_wish();
                cx.go.page(if cx.known.is_for_club() { Page::Club } else { Page::Nearby });
                return;
            }
            LastOpponent::Here => (here(), here()),
            LastOpponent::Bot => {
                let bot = match chosen_engine(cx.known, game) {
                    // The strongest bot stands in for it.
                    Some((_, engine)) => Seat {
                        engine: engine.name.clone(),
                        engine_seconds: last.engine_seconds,
                        ..game::bot_of(10.0)
                    },
                    None => Seat { bot_adapts: last.adaptive, ..game::bot_of(last.level) },
                };
                let begins = match last.colour {
                    LastColour::First => true,
                    LastColour::Second => false,
                    LastColour::Random | LastColour::Turns => by_lot(),
                };
                if begins { (here(), bot) } else { (bot, here()) }
            }
        };
        let open = control::OpenRoom {
            first: Some(first),
            second: Some(second),
            pace: pace(cx.known, game),
            choice: Some(choice(cx.known, game)),
            ..control::OpenRoom::default()
        };
        cx.ask.send(request::Body::OpenRoom(open), Question::Open);
    }

    fn shows_terms(&self, invitation: &Invitation) -> bool {
        self.terms_open.unwrap_or_else(|| invitation.countering().is_some())
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState, invitation: &Invitation) {
        let chinese = known.chinese();
        self.show_rules(window, known, invitation, chinese);
        let last = known.last(self.game);
        let page = window.global::<NewGameAdapter>();
        page.set_game(game::shown(self.game));
        page.set_solo(game::is_solo(self.game));
        page.set_race(is_race(known, self.game));
        page.set_started(known.start().is_some_and(|start| start.game == i32::from(self.game)));
        page.set_opponent(match last.opponent {
            LastOpponent::Bot => Opponent::Bot,
            LastOpponent::Here => Opponent::Here,
            LastOpponent::Peer => Opponent::Peer,
        });
        page.set_level(last.level);
        page.set_adaptive(last.adaptive);
        let names = engines(known, self.game).map(|engine| engine.name.as_str().into());
        update(&self.engines, &names.collect::<Vec<SharedString>>());
        page.set_engine(chosen_engine(known, self.game).map_or(-1, |(index, _)| index as i32));
        page.set_engine_seconds(last.engine_seconds as i32);
        let sheet = known.sheets.get(&(self.game as i32));
        page.set_level_step(sheet.map_or(0, |sheet| sheet.level_step_tenths as i32));
        page.set_strength(sheet.map_or_else(Strength::default, |sheet| strength(sheet, self.game)));
        page.set_colour(match last.colour {
            LastColour::First => Colour::First,
            LastColour::Second => Colour::Second,
            LastColour::Random => Colour::Random,
            LastColour::Turns => Colour::Turns,
        });
        page.set_counters(invitation.countering().map_or("", |one| one.name.as_str()).into());
        page.set_for_club(known.is_for_club() && last.opponent == LastOpponent::Peer);
        page.set_letter_to(invitation.writing_to(known).unwrap_or_default().into());
        page.set_hints(last.hints);
        self.show_paces(&page, known, chinese);
        page.set_terms_open(self.shows_terms(invitation));
        page.set_all_options(self.all_options);
        page.set_terms_rules(terms(sheet, known, &last, chinese).into());
        page.set_giver(sheet.map_or(Giver::None, |sheet| giver(sheet, known, &last)));
        let timed = !game::is_solo(self.game) && invitation.writing_to(known).is_none();
        let clock = chosen_pace(known, self.game).or(known.paces.first()).filter(|_| timed);
        page.set_terms_clock(lower(said(clock.and_then(|pace| pace.name.as_ref()), chinese)).into());
        let Some(sheet) = sheet else {
            // Clears the values of the previous game until the new sheet arrives.
            update(&self.presets, &[]);
            update(&self.options, &[]);
            page.set_further_options(0);
            return;
        };
        let presets: Vec<SharedString> =
            sheet.presets.iter().map(|preset| said(preset.name.as_ref(), chinese).into()).collect();
        update(&self.presets, &presets);
        page.set_presets_need(width_beside(presets.iter().map(SharedString::as_str)));
        let chosen = sheet.presets.iter().position(|preset| preset.preset == sheet.preset);
        page.set_preset(chosen.map_or(-1, |index| index as i32));
        let mut options: Vec<OptionView> =
            rows(sheet, known).map(|option| option_view(option, chinese)).collect();
        let further = rows(sheet, known).filter(|option| option.seldom).count();
        if !self.all_options {
            options.truncate(options.len() - further);
        }
        update(&self.options, &options);
        // The agreement about hints is no option of the game, but stands among them.
        let person = (last.opponent == LastOpponent::Peer || invitation.countering().is_some())
            && invitation.writing_to(known).is_none();
        let hints = usize::from(person && !game::is_solo(self.game));
        page.set_further_options((further + hints) as i32);
        page.set_ready(sheet.problem.is_empty());
        page.set_misfit(said(sheet.misfit.as_ref(), chinese).into());
        let rules = sheet.setup.as_ref().and_then(wire::Setup::rules);
        let setup = rules.as_ref();
        let second = match setup {
            Some(wire::setup::Game::Xiangqi(rules) | wire::setup::Game::XiangqiChinese(rules)) => {
                rules.black_first
            }
            _ => false,
        };
        page.set_second_begins(second);
        page.set_go_size(match setup {
            Some(wire::setup::Game::Go(go)) => go.size as i32,
            _ => 0,
        });
    }

    fn show_paces(&self, page: &NewGameAdapter<'_>, known: &AppState, chinese: bool) {
        let all = &known.paces;
        // The custom clock is listed only if it is selected.
        let taken = |pace: &&control::PacePreset| {
            pace.word != OWN || [&known.last(self.game).pace, &known.preferences.pace].contains(&&pace.word)
        };
        let names: Vec<SharedString> =
            all.iter().filter(taken).map(|pace| said(pace.name.as_ref(), chinese).into()).collect();
        update(&self.paces, &names);
        let chosen = chosen_pace(known, self.game);
        let at = all.iter().position(|pace| chosen.is_some_and(|chosen| chosen.word == pace.word));
        // The first entry is no clock.
        page.set_pace(at.unwrap_or(0) as i32);
        let of_all = all.iter().position(|pace| pace.word == known.preferences.pace).unwrap_or(0);
        page.set_usual_pace(of_all as i32);
        let own = known.preferences.own_pace;
        page.set_own_kind(own.kind.into());
        page.set_own_minutes(own.minutes as i32);
        page.set_own_seconds(own.seconds as i32);
        page.set_own_periods(own.periods as i32);
        let named = all.iter().find(|pace| pace.word == OWN);
        page.set_own_name(said(named.and_then(|pace| pace.name.as_ref()), chinese).into());
    }

    /// Shows the rules of an invitation, of the match on the board, or of the present choice.
    fn show_rules(&self, window: &MainWindow, known: &AppState, invitation: &Invitation, chinese: bool) {
        let asked = invitation.of_rules(known);
        let (of, sheet) = match (&known.room, asked) {
            (_, Some(asked)) => {
                let sheet = if chinese { &asked.rule_sheet_zh } else { &asked.rule_sheet_en };
                (super::game_of(asked.setup.as_ref()), sheet.as_str())
            }
            (Some(room), None) if known.page() == Page::Board => {
                (super::game_of(room.setup.as_ref()), sheet_text(known.room_sheet(), chinese))
            }
            _ => {
                let sheet = known.sheets.get(&(self.game as i32));
                (game::shown(self.game), sheet_text(sheet, chinese))
            }
        };
        window.global::<RulesAdapter>().set_game(of);
        let sentences: Vec<SharedString> =
            sheet.lines().filter(|line| !line.trim().is_empty()).map(Into::into).collect();
        update(&self.sentences, &sentences);
    }
}

/// The engines that play this game.
fn engines(known: &AppState, game: wire::Game) -> impl Iterator<Item = &control::Engine> {
    known.state.engines.iter().filter(move |engine| engine.game() == game)
}

/// The engine that was chosen last for this game, if it is still there, and its place among those that play it.
fn chosen_engine(known: &AppState, game: wire::Game) -> Option<(usize, &control::Engine)> {
    let name = known.last(game).engine;
    engines(known, game).enumerate().find(|(_, engine)| engine.name == name)
}

/// The option for odds in this game, the least of its values that is felt, and the side that takes them.
fn odds(game: wire::Game) -> Option<(&'static str, &'static str, wire::Side)> {
    match game {
        wire::Game::Go => Some(("handicap", "2", wire::Side::First)),
        wire::Game::Xiangqi => Some(("odds", "horse", wire::Side::Second)),
        _ => None,
    }
}

fn strength(sheet: &GameSheet, game: wire::Game) -> Strength {
    let Some(known) = &sheet.strength else { return Strength::default() };
    let level = |tenths: u32| tenths as f32 / 10.0;
    // Who has chosen odds needs no advice, and neither does who begins from a position.
    let can_have = sheet.gives_odds() == wire::Side::Unspecified
        && odds(game).is_some_and(|(option, ..)| sheet.options.iter().any(|one| one.option == option));
    let odds = match (can_have, known.below_levels, known.above_levels) {
        (true, true, _) => OddsAdvice::Take,
        (true, _, true) => OddsAdvice::Give,
        _ => OddsAdvice::None,
    };
    Strength {
        level: level(known.level_tenths),
        lowest: level(known.lowest_tenths),
        highest: level(known.highest_tenths),
        matches: known.matches as i32,
        history: path(&known.history).into(),
        odds,
    }
}

/// Fewer points make no line.
const SHORTEST_HISTORY: usize = 3;
/// Size of the drawing of a history.
const WIDE: f64 = 300.0;
const HIGH: f64 = 60.0;

/// An SVG path through levels in tenths, in a drawing that they fill from side to side; at least two levels of height.
fn path(history: &[u32]) -> String {
    let (Some(lowest), Some(highest)) = (history.iter().min(), history.iter().max()) else {
        return String::new();
    };
    if history.len() < SHORTEST_HISTORY {
        return String::new();
    }
    let (middle, height) = (f64::from(lowest + highest) / 2.0, f64::from((highest - lowest).max(20)));
    let mut path = String::new();
    for (at, tenths) in history.iter().enumerate() {
        let x = WIDE * at as f64 / (history.len() - 1) as f64;
        let y = HIGH / 2.0 - 0.9 * HIGH * (f64::from(*tenths) - middle) / height;
        let _ = write!(path, "{} {x:.1} {y:.1} ", if at == 0 { 'M' } else { 'L' });
    }
    path
}

/// Requests the sheet of the remembered choice of this game.
pub(crate) fn describe(game: wire::Game, cx: &mut Cx<'_>) {
    ask(game, choice(cx.known, game), cx);
}

fn ask(game: wire::Game, choice: GameChoice, cx: &mut Cx<'_>) {
    let known = cx.known;
    let asked = control::Describe {
        choice: Some(choice.clone()),
        with_peer: is_race(known, game) || (game::is_solo(game) && known.page() == Page::Nearby),
        pace: Some(own_pace(known.preferences.own_pace)),
        ..Default::default()
    };
    cx.ask.send(request::Body::Describe(asked), Question::Describe { game, choice });
}

pub(crate) fn reply(question: Question, answer: Answer, cx: &mut Cx<'_>) {
    match (answer, question) {
        (Ok(reply::Body::Sheet(sheet)), Question::Describe { game, choice }) => {
            described(game, &choice, sheet, cx);
        }
        (Ok(reply::Body::RoomId(room)), Question::Open) => cx.go.room(&room),
        (Err(_), Question::Describe { game, choice }) => not_described(game, &choice, cx),
        (Err(refusal), Question::Open) => {
            cx.go.solve_when_there(false);
            cx.go.refused(refusal, Remark::BadRequest);
        }
        (Ok(_), _) => {}
    }
}

/// Handles a sheet: its choice becomes the remembered one.
fn described(game: wire::Game, choice: &GameChoice, sheet: GameSheet, cx: &mut Cx<'_>) {
    let word = game::word(game);
    // The options chosen beside the preset, in the order of the sheet, in which each is available at its turn.
    let touched = |option: &GameOption| choice.options.iter().any(|one| one.option == option.option);
    let options = beside_preset(&sheet, touched);
    let preset = if sheet.preset.is_empty() { choice.preset.clone() } else { sheet.preset.clone() };
    let last = cx.known.last(game);
    cx.go.remember_sheet(game, sheet);
    if !choice.start.is_empty() {
        // Options beside a position are of this match alone.
        if cx.known.start().is_some_and(|start| start.game == choice.game) {
            cx.go.set_start(Some(choice.clone()));
        }
        return;
    }
    if (&last.preset, &last.options) != (&preset, &options) && !choice_is_default(choice) {
        cx.preferences.change(move |known| {
            let last = known.games.entry(word.into()).or_default();
            (last.preset, last.options) = (preset, options);
        });
    }
}

/// The choice is unknown to the host; another version may have stored it: resets it to the game's default.
fn not_described(game: wire::Game, choice: &GameChoice, cx: &mut Cx<'_>) {
    if !choice.start.is_empty() {
        cx.go.set_start(None);
        cx.go.describe(game);
        return;
    }
    if choice_is_default(choice) {
        return;
    }
    cx.preferences.change(move |known| {
        if let Some(last) = known.games.get_mut(game::word(game)) {
            last.preset.clear();
            last.options.clear();
        }
    });
    cx.go.describe(game);
}

/// The remembered options beside the sheet's preset, with their values: those that the preset does not determine.
fn beside_preset(sheet: &GameSheet, touched: impl Fn(&GameOption) -> bool) -> Vec<(String, String)> {
    let preset = sheet.presets.iter().find(|preset| preset.preset == sheet.preset);
    let is_left = |option: &&GameOption| preset.is_none_or(|preset| !decides(preset, &option.option));
    let options = sheet.options.iter().filter(is_left).filter(|option| touched(option));
    options.map(|option| (option.option.clone(), option.chosen.clone())).collect()
}

/// Whether the preset determines an option.
fn decides(preset: &control::GamePreset, option: &str) -> bool {
    preset.decides.is_empty() || preset.decides.iter().any(|decided| decided == option)
}

/// The same choice with another preset: options that the preset does not determine are kept.
fn with_preset(mut choice: GameChoice, preset: &control::GamePreset) -> GameChoice {
    choice.preset.clone_from(&preset.preset);
    choice.options.retain(|one| !decides(preset, &one.option));
    choice
}

fn choice_is_default(choice: &GameChoice) -> bool {
    choice.preset.is_empty() && choice.options.is_empty()
}

/// Whether a game for one player was chosen as a race.
fn is_race(known: &AppState, game: wire::Game) -> bool {
    game::is_solo(game) && known.last(game).opponent == LastOpponent::Peer
}

/// The host's word for the custom clock.
const OWN: &str = "own";
/// Limits of the custom clock: three hours, and half an hour per turn.
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

/// The next value of a stepper from `now` towards `wanted`; steps grow with the number, as everywhere.
fn step_to(now: u32, wanted: i32, most: u32) -> u32 {
    let next = if i64::from(wanted) > i64::from(now) { up_from(now) } else { down_from(now) };
    next.clamp(1, most)
}

/// The choice for an invitation or a new match of this game.
pub(crate) fn choice(known: &AppState, game: wire::Game) -> GameChoice {
    if let Some(started) = known.start().filter(|start| start.game == i32::from(game)) {
        return started.clone();
    }
    let last = known.last(game);
    let chosen = |(option, value)| ChosenOption { option, value };
    GameChoice {
        game: game.into(),
        preset: last.preset,
        options: last.options.into_iter().map(chosen).collect(),
        ..GameChoice::default()
    }
}

/// The word of the time control in this row of the list.
fn pace_word(known: &AppState, row: i32) -> Option<String> {
    known.paces.get(usize::try_from(row).ok()?).map(|pace| pace.word.clone())
}

fn set_own_pace(own: &mut OwnPace, part: i32, value: i32) {
    match part {
        0 => own.kind = value.clamp(0, 3) as u8,
        1 => own.minutes = step_to(own.minutes, value, MOST_MINUTES),
        2 => own.seconds = step_to(own.seconds, value, MOST_SECONDS),
        _ => own.periods = value.clamp(1, 10) as u32,
    }
}

/// The time control of this game: as chosen for it, otherwise as chosen for all games.
fn chosen_pace(known: &AppState, game: wire::Game) -> Option<&control::PacePreset> {
    let last = known.last(game).pace;
    let word = if last.is_empty() { &known.preferences.pace } else { &last };
    // An unknown word, from another version, means no clock.
    known.paces.iter().find(|pace| pace.word == *word).filter(|pace| pace.pace.is_some())
}

/// The time control for an invitation or a new match; `None`: no clock. A race has none, because its time is what is
/// compared.
pub(super) fn pace(known: &AppState, game: wire::Game) -> Option<wire::Pace> {
    if game::is_solo(game) {
        return None;
    }
    chosen_pace(known, game).and_then(|pace| pace.pace)
}

/// The name of the time control in the displayed language; empty: no clock.
pub(super) fn pace_name(known: &AppState, game: wire::Game) -> String {
    let name = chosen_pace(known, game).filter(|_| !game::is_solo(game)).and_then(|pace| pace.name.as_ref());
    said(name, known.chinese()).to_owned()
}

/// Adopts the terms of an invitation as the remembered choice, so that single terms can be changed.
pub(super) fn adopt(game: wire::Game, sheet: &GameSheet, theirs: &control::Invitation, cx: &mut Cx<'_>) {
    let options = beside_preset(sheet, |_| true);
    let pace = sheet.paces.iter().find(|pace| pace.pace == theirs.pace).map(|pace| pace.word.clone());
    let (preset, side, hints) = (sheet.preset.clone(), theirs.my_side(), theirs.hints);
    cx.preferences.change(move |known| {
        let last = known.games.entry(game::word(game).into()).or_default();
        (last.preset, last.options) = (preset, options);
        last.opponent = LastOpponent::Peer;
        last.hints = hints;
        if let Some(pace) = pace {
            last.pace = pace;
        }
        last.colour = match side {
            wire::Side::First => LastColour::First,
            wire::Side::Second => LastColour::Second,
            wire::Side::Unspecified => LastColour::Random,
        };
    });
}

/// The options offered beside the presets: those with a choice, except for an option that is equivalent to the presets. A
/// number without offered values can only be set by qiyouctl.
pub(super) fn offered(sheet: &GameSheet) -> impl Iterator<Item = &GameOption> {
    let is_preset = |option: &GameOption| {
        let decided = |preset: &control::GamePreset| preset.decides == [option.option.as_str()];
        sheet.presets.len() > 1 && sheet.presets.iter().all(decided)
    };
    sheet.options.iter().filter(move |option| option.values.len() > 1 && !is_preset(option))
}

/// The option for odds of pieces or moves.
const ODDS: &str = "odds";

/// The options that the page offers: a position that was set up is as it is, and the games of a club evening are even.
fn rows<'a>(sheet: &'a GameSheet, known: &AppState) -> impl Iterator<Item = &'a GameOption> {
    let even = known.is_for_club() || known.start().is_some();
    offered(sheet).filter(move |option| !even || option.option != ODDS)
}

/// Who gives odds to whom.
fn giver(sheet: &GameSheet, known: &AppState, last: &LastGame) -> Giver {
    let mine = match last.colour {
        LastColour::First => wire::Side::First,
        LastColour::Second => wire::Side::Second,
        LastColour::Random | LastColour::Turns => wire::Side::Unspecified,
    };
    match (sheet.gives_odds(), mine) {
        (wire::Side::Unspecified, _) => Giver::None,
        _ if known.is_for_club() => Giver::None,
        (_, wire::Side::Unspecified) => Giver::Either,
        (gives, mine) if gives == mine => Giver::Me,
        _ if last.opponent == LastOpponent::Bot => Giver::Device,
        _ => Giver::Friend,
    }
}

/// Options that say how large the board is, so plainly that their names can be left out.
const SIZES: [&str; 3] = ["size", "columns", "rows"];

/// So many options that the player set are named in the sentence.
const TERMS_NAMED: usize = 2;

/// What is chosen of the rules, in a few words: preset, board, and what the player set beside them. Empty: the usual rules.
fn terms(sheet: Option<&GameSheet>, known: &AppState, last: &LastGame, chinese: bool) -> String {
    let Some(sheet) = sheet else { return String::new() };
    let value = |option: &GameOption| {
        let named = option.values.iter().find(|value| value.value == option.chosen);
        named.map_or_else(|| option.chosen.clone(), |value| said(value.name.as_ref(), chinese).to_owned())
    };
    let is_size = |option: &&GameOption| SIZES.contains(&option.option.as_str());
    let size: Vec<String> = sheet.options.iter().filter(is_size).map(value).collect();
    let set = |option: &&GameOption| last.options.iter().any(|(word, _)| *word == option.option);
    let set: Vec<&GameOption> = rows(sheet, known).filter(|option| !is_size(option)).filter(set).collect();
    let rest = (set.len() > TERMS_NAMED).then(|| "…".to_owned());
    let preset = (sheet.presets.len() > 1).then(|| rule_name(Some(sheet), chinese).to_owned());
    let between = if chinese { "：" } else { ": " };
    let set = set.into_iter().take(TERMS_NAMED);
    let set = set.map(|option| format!("{}{between}{}", said(option.name.as_ref(), chinese), value(option)));
    let size = Some(size.join(" × ")).filter(|size| !size.is_empty());
    let parts = preset.into_iter().chain(size).chain(set).chain(rest);
    let mut text = String::new();
    for part in parts {
        if text.is_empty() {
            text = part;
        } else {
            text += if chinese { "，" } else { ", " };
            text += &lower(&part);
        }
    }
    text
}

/// Words as they stand within a sentence.
fn lower(words: &str) -> String {
    let mut signs = words.chars();
    signs.next().map_or_else(String::new, |first| first.to_lowercase().chain(signs).collect())
}

/// A random bit. The standard library seeds each map's hasher randomly, which is good enough to draw colours.
pub(super) fn by_lot() -> bool {
    RandomState::new().hash_one(0).is_multiple_of(2)
}

/// The requested side on the wire; a random one is drawn by the host.
pub(super) fn my_side(colour: LastColour) -> wire::Side {
    match colour {
        LastColour::First => wire::Side::First,
        LastColour::Second => wire::Side::Second,
        LastColour::Random | LastColour::Turns => wire::Side::Unspecified,
    }
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

/// Width in logical pixels of these words in equal columns: 16 per Chinese character and 9 per letter at body size, plus a
/// padding of 12 on both sides.
fn width_beside<'a>(words: impl Iterator<Item = &'a str> + Clone) -> f32 {
    let wide = |sign: char| if sign < '\u{2e80}' { 9.0 } else { 16.0 };
    let widest = words.clone().map(|word| word.chars().map(wide).sum::<f32>()).fold(0.0, f32::max);
    words.count() as f32 * (widest + 12.0)
}

/// The text in the displayed language.
pub(super) fn said(words: Option<&control::Words>, chinese: bool) -> &str {
    words.map_or("", |words| if chinese { &words.zh } else { &words.en })
}

/// The name of a sheet's preset; empty if it has none.
pub(super) fn rule_name(sheet: Option<&GameSheet>, chinese: bool) -> &str {
    let Some(sheet) = sheet else { return "" };
    let preset = sheet.presets.iter().find(|preset| preset.preset == sheet.preset);
    said(preset.and_then(|preset| preset.name.as_ref()), chinese)
}

fn sheet_text(sheet: Option<&GameSheet>, chinese: bool) -> &str {
    sheet.map_or("", |sheet| if chinese { &sheet.rule_sheet_zh } else { &sheet.rule_sheet_en })
}
