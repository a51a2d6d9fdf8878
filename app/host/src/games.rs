//! Games in words, for clients without knowledge of games: options, presets, and hints.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::lights_out::{LightsOutSetup, Solution, Start as Lights};
use engine::options::{Both, ChoiceError, GameOption};
use engine::start::{Start, StartError};
use engine::threats::{self, ThreatKind};
use engine::{AnyGame, Bot, GameKind, Language, Level, Limits, Report, Setup, SetupError, TextError};
use proto::control::{self, RefusalCode};
use proto::limits;
use session::{Colours, Pace, Terms, wire};

use crate::bots::BotOnce;
use crate::refusal::Refusal;
use crate::show;

fn bad(what: impl ToString) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, what.to_string())
}

impl From<ChoiceError> for Refusal {
    fn from(error: ChoiceError) -> Self {
        bad(error)
    }
}

/// The setup that a client's choice means; by default gomoku with its usual rules. `seed` selects a random board if the
/// client does not.
pub(crate) fn read(
    setup: Option<&proto::board::Setup>,
    choice: Option<&control::GameChoice>,
    seed: impl FnOnce() -> u32,
) -> Result<Setup, Refusal> {
    match (setup, choice) {
        (Some(_), Some(_)) => Err(bad("a setup, or a choice, but not both")),
        (None, None) => Ok(GameKind::Gomoku.default_setup()),
        (Some(setup), None) => wire::read_setup(Some(setup)).map_err(bad),
        (None, Some(choice)) => {
            let kind = wire::read_game(choice.game).ok_or_else(|| bad("no such game"))?;
            let mut setup =
                if choice.preset.is_empty() { kind.default_setup() } else { kind.preset(&choice.preset)? };
            if let Setup::LightsOut(LightsOutSetup { start: Lights::Random { seed: number, .. }, .. }) =
                &mut setup
            {
                *number = seed().into();
            }
            for one in &choice.options {
                setup.choose(&one.option, &one.value)?;
            }
            if choice.start.is_empty() {
                return Ok(setup);
            }
            let start = Start::read(kind, &choice.start).map_err(unread)?;
            setup.begin_from(start).map_err(|error| no_start(error, kind))
        }
    }
}

/// A text that is no position.
pub(crate) fn unread(error: TextError) -> Refusal {
    let TextError { line, column, .. } = error;
    let reason = control::Words {
        zh: format!("读不懂这个局面（第 {line} 行第 {column} 个字）。"),
        en: format!("This is no position that can be read (line {line}, column {column})."),
    };
    Refusal { reason: Some(reason), ..bad(error) }
}

/// A position from which no match can begin.
pub(crate) fn no_start(error: StartError, kind: GameKind) -> Refusal {
    Refusal { reason: Some(start_problem(error, kind)), ..bad(error) }
}

/// Why no match can begin from a position.
pub(crate) fn start_problem(error: StartError, kind: GameKind) -> control::Words {
    let [zh, en] = [Language::Chinese, Language::English].map(|language| error.words(kind, language));
    control::Words { zh, en }
}

/// Why the options of a setup do not fit together; `None` if they do.
fn misfit(setup: &Setup) -> Option<control::Words> {
    let said = |language| setup.misfit(language).map(str::to_owned);
    said(Language::Chinese).zip(said(Language::English)).map(|(zh, en)| control::Words { zh, en })
}

/// The refusal of a setup that makes no game.
pub(crate) fn no_game(setup: &Setup, error: &SetupError) -> Refusal {
    Refusal { reason: misfit(setup), ..Refusal::new(RefusalCode::RefusalBadRequest, error.to_string()) }
}

/// The options and rules of a choice or of a setup, for a menu.
pub(crate) fn describe(asked: &control::Describe) -> Result<control::GameSheet, Refusal> {
    let mut setup = read(asked.setup.as_ref(), asked.choice.as_ref(), || 0)?;
    if asked.with_peer {
        setup = Terms { setup, pace: None, colours: Colours::Random, hints: false }.for_two().setup;
    }
    let game = AnyGame::new(&setup);
    let level_step_tenths = game.as_ref().ok().and_then(Level::step).map_or(0, u32::from);
    let problem = game.err().map_or_else(String::new, |error| error.to_string());
    Ok(control::GameSheet {
        preset: setup.preset().unwrap_or_default().into(),
        presets: (setup.kind().presets().into_iter())
            .map(|preset| control::GamePreset {
                preset: preset.word.into(),
                name: Some(words(preset.name)),
                decides: preset.decides.iter().map(|&option| option.into()).collect(),
            })
            .collect(),
        options: setup.options().into_iter().map(option).collect(),
        rule_sheet_en: setup.rule_sheet(Language::English),
        rule_sheet_zh: setup.rule_sheet(Language::Chinese),
        setup: Some(wire::setup(&setup)),
        problem,
        misfit: misfit(&setup),
        paces: paces(asked.pace.as_ref())?,
        // It is of the person, not of the game.
        strength: None,
        level_step_tenths,
        gives_odds: setup.gives_odds().map_or(0, |side| wire::side(side).into()),
    })
}

/// The name of the matching preset, if any.
#[cfg(feature = "guest")]
pub(crate) fn preset_name(setup: &Setup) -> Option<control::Words> {
    let word = setup.preset()?;
    setup.kind().presets().into_iter().find(|preset| preset.word == word).map(|preset| words(preset.name))
}

fn words(both: Both) -> control::Words {
    control::Words { zh: both.chinese, en: both.english }
}

/// The time controls that a menu offers; the user's custom clock comes last.
fn paces(own: Option<&proto::board::Pace>) -> Result<Vec<control::PacePreset>, Refusal> {
    let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
    let offered = [
        ("blitz", Pace::Fischer { main: minute * 3, bonus: second * 2 }),
        ("rapid", Pace::Fischer { main: minute * 10, bonus: second * 5 }),
        ("sudden-death", Pace::SuddenDeath { main: minute * 15 }),
        ("byo-yomi", Pace::ByoYomi { main: minute * 10, period: second * 30, periods: 3 }),
        ("per-move", Pace::PerMove { each: second * 30 }),
        ("correspondence", Pace::PerMove { each: Duration::from_hours(3 * 24) }),
    ];
    let own = Pace::read(own).map_err(bad)?.map(|pace| ("own", pace));
    let none = control::PacePreset {
        word: "none".into(),
        name: Some(control::Words { zh: "不计时".into(), en: "No clock".into() }),
        pace: None,
    };
    let preset = |(word, pace): (&str, Pace)| control::PacePreset {
        word: word.into(),
        name: Some(pace_name(pace)),
        pace: Pace::write(Some(pace)),
    };
    Ok(std::iter::once(none).chain(offered.into_iter().chain(own).map(preset)).collect())
}

/// The name of a time control.
pub(crate) fn pace_name(pace: Pace) -> control::Words {
    let (zh, en) = match pace {
        Pace::PerMove { each } => (format!("每手{}", zh_time(each)), format!("{} per move", en_time(each))),
        Pace::SuddenDeath { main } => (format!("包干{}", zh_time(main)), format!("{} total", en_time(main))),
        Pace::Fischer { main, bonus } => (
            format!("{}，每手加{}", zh_time(main), zh_time(bonus)),
            format!("{} + {} per move", en_time(main), en_time(bonus)),
        ),
        Pace::ByoYomi { main, period, periods } => (
            format!("{}，读秒{}{periods}次", zh_time(main), zh_time(period)),
            format!("{}, then {periods} periods of {}", en_time(main), en_time(period)),
        ),
    };
    control::Words { zh, en }
}

/// Splits a duration into days, hours, minutes and seconds.
fn time_parts(time: Duration) -> [u64; 4] {
    let seconds = time.as_secs();
    [seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60]
}

fn zh_time(time: Duration) -> String {
    let parts = time_parts(time).into_iter().zip(["天", "小时", "分钟", "秒"]);
    let words: Vec<String> = parts.filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if words.is_empty() { "0秒".into() } else { words.concat() }
}

fn en_time(time: Duration) -> String {
    let days = if time.as_secs() < 2 * 86_400 { "day" } else { "days" };
    let parts = time_parts(time).into_iter().zip([days, "h", "min", "s"]);
    let words: Vec<String> = parts.filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    if words.is_empty() { "0 s".into() } else { words.join(" ") }
}

fn option(option: GameOption) -> control::GameOption {
    control::GameOption {
        option: option.word.into(),
        name: Some(words(option.name)),
        values: (option.values.into_iter())
            .map(|value| control::OptionValue { value: value.word, name: Some(words(value.name)) })
            .collect(),
        chosen: option.chosen,
        numbers: option.numbers.is_some(),
        least: option.numbers.as_ref().map_or(0, |numbers| *numbers.start()),
        most: option.numbers.as_ref().map_or(0, |numbers| *numbers.end()),
        seldom: option.seldom,
    }
}

/// Searches a hint for this long, after these actions: not for the actor. A panic of the bot is no advice.
pub(crate) fn find_hint(
    make: BotOnce,
    game: &AnyGame,
    record: &[engine::Action],
    lines: usize,
    time: Duration,
) -> Result<control::HintFound, Refusal> {
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let (started, stop) = (Instant::now(), AtomicBool::new(false));
        let elapsed = || started.elapsed();
        let limits = Limits { time: Some(time), nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
        let mut bot = make();
        bot.set_record(record);
        advise(bot.as_mut(), game, lines, &limits)
    }));
    let nothing = || Err(Refusal::new(RefusalCode::RefusalNoSuchRoom, "there is nothing to advise"));
    found.unwrap_or_else(|_| nothing())
}

/// A suggestion for this position; if `lines` is not 0, with that many principal variations and the threats. For Lights Out:
/// the whole solution.
fn advise(
    bot: &mut dyn Bot,
    game: &AnyGame,
    lines: usize,
    limits: &Limits<'_>,
) -> Result<control::HintFound, Refusal> {
    let (mut presses, mut of_fewest) = (Vec::new(), false);
    if let AnyGame::LightsOut(lights) = game {
        match lights.solution() {
            Solution::Unsolvable => {
                let why = "no presses put this board out";
                return Err(Refusal::new(RefusalCode::RefusalUnsolvable, why));
            }
            Solution::Presses { presses: all, fewest } => (presses, of_fewest) = (all.to_bytes(), fewest),
        }
    }
    let found = if lines == 0 {
        bot.choose(game, limits, &mut |_| {}).into_iter().collect()
    } else {
        bot.choose_lines(game, lines.min(proto::limits::HINT_LINES), limits, &mut |_| {})
    };
    let Some(action) = found.first().and_then(|report| report.line.first().copied()) else {
        return Err(Refusal::new(RefusalCode::RefusalNoSuchRoom, "there is nothing to advise"));
    };
    Ok(control::HintFound {
        action: Some(wire::action(action)),
        notation: game.notation(action),
        presses: presses.into(),
        fewest: of_fewest,
        lines: if lines == 0 { Vec::new() } else { found.iter().map(|line| hint_line(game, line)).collect() },
        threats: if lines == 0 { Vec::new() } else { shown_threats(game) },
        say: None,
    })
}

fn hint_line(game: &AnyGame, report: &Report) -> control::HintLine {
    let mut after = game.clone();
    let (mut line, mut spoken) = (Vec::new(), Vec::new());
    for &action in report.line.iter().take(limits::LINE_ACTIONS) {
        line.push(after.notation(action));
        spoken.extend(show::spoken(&after, action));
        if after.act(action).is_err() {
            break;
        }
    }
    let judgement = show::judgement(game, report);
    let (permille, lead_tenths) = judgement.unwrap_or((500, 0));
    control::HintLine {
        line,
        spoken,
        permille,
        judged: judgement.is_some(),
        lead_tenths,
        score: Some(show::score(report.score)),
        depth: report.depth,
    }
}

fn shown_threats(game: &AnyGame) -> Vec<control::Threat> {
    use control::ThreatKind as Shown;
    let kind = |kind| match kind {
        ThreatKind::Five => Shown::ThreatFive,
        ThreatKind::Check => Shown::ThreatCheck,
        ThreatKind::Mate => Shown::ThreatMate,
        ThreatKind::OpenFour => Shown::ThreatOpenFour,
        ThreatKind::Fork => Shown::ThreatFork,
        ThreatKind::Four => Shown::ThreatFour,
        ThreatKind::CaptureDue => Shown::ThreatCaptureDue,
        ThreatKind::Atari => Shown::ThreatAtari,
        ThreatKind::Three => Shown::ThreatThree,
    };
    let shown = |threat: threats::Threat| control::Threat {
        kind: kind(threat.kind).into(),
        side: show::side(threat.side).into(),
        at: threat.at.iter().map(|at| wire::point(*at)).collect(),
        words: Some(control::Words {
            zh: threat.words(game, Language::Chinese),
            en: threat.words(game, Language::English),
        }),
    };
    threats::sound_threats(game).into_iter().take(limits::THREATS).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::board::Game;

    fn choice(game: Game, preset: &str, options: &[(&str, &str)]) -> control::GameChoice {
        control::GameChoice {
            game: game.into(),
            preset: preset.into(),
            options: (options.iter())
                .map(|(option, value)| control::ChosenOption {
                    option: (*option).into(),
                    value: (*value).into(),
                })
                .collect(),
            ..Default::default()
        }
    }

    fn sheet(choice: control::GameChoice) -> Result<control::GameSheet, Refusal> {
        describe(&control::Describe { choice: Some(choice), ..Default::default() })
    }

    #[test]
    fn every_game_is_described_by_a_choice_and_by_its_setup_alike() {
        for game in [Game::Gomoku, Game::Liuzhou, Game::Go, Game::Xiangqi, Game::LightsOut] {
            let by_choice = sheet(choice(game, "", &[])).expect("the default");
            let by_setup = control::Describe { setup: by_choice.setup.clone(), ..Default::default() };
            assert_eq!(describe(&by_setup).ok(), Some(by_choice.clone()));
            assert!(by_choice.problem.is_empty() && !by_choice.rule_sheet_zh.is_empty());
            assert!(!by_choice.options.is_empty());
        }
    }

    #[test]
    fn lights_out_between_two_is_described_as_a_race() {
        let options = [("columns", "4"), ("rows", "3"), ("torus", "yes")];
        let asked = control::Describe {
            choice: Some(choice(Game::LightsOut, "", &options)),
            with_peer: true,
            ..Default::default()
        };
        let sheet = describe(&asked).expect("each is offered");
        assert!(sheet.problem.is_empty(), "{}", sheet.problem);
        assert!(sheet.rule_sheet_en.contains("4 x 3, drawn by both devices"), "{}", sheet.rule_sheet_en);
        assert!(sheet.rule_sheet_zh.contains("用时少者胜"), "{}", sheet.rule_sheet_zh);
        let options: Vec<&str> = sheet.options.iter().map(|option| option.option.as_str()).collect();
        assert_eq!(options, ["columns", "rows", "neighbours", "torus"], "nobody chooses the board");
        let again = control::Describe { setup: sheet.setup.clone(), ..Default::default() };
        assert_eq!(describe(&again).ok(), Some(sheet));
    }

    #[test]
    fn paces_are_offered_under_names_that_say_them() {
        let own =
            Pace::ByoYomi { main: Duration::from_mins(20), period: Duration::from_secs(45), periods: 5 };
        let own = Pace::write(Some(own));
        let paces = paces(own.as_ref()).expect("a pace");
        assert_eq!(paces.last().map(|pace| (pace.word.as_str(), pace.pace)), Some(("own", own)));
        let names: Vec<control::Words> = paces.into_iter().filter_map(|pace| pace.name).collect();
        let said: Vec<[&str; 2]> = names.iter().map(|name| [name.zh.as_str(), name.en.as_str()]).collect();
        assert_eq!(
            said,
            [
                ["不计时", "No clock"],
                ["3分钟，每手加2秒", "3 min + 2 s per move"],
                ["10分钟，每手加5秒", "10 min + 5 s per move"],
                ["包干15分钟", "15 min total"],
                ["10分钟，读秒30秒3次", "10 min, then 3 periods of 30 s"],
                ["每手30秒", "30 s per move"],
                ["每手3天", "3 days per move"],
                ["20分钟，读秒45秒5次", "20 min, then 5 periods of 45 s"],
            ]
        );
    }

    #[test]
    fn options_are_chosen_on_top_of_a_preset() {
        let chosen =
            sheet(choice(Game::Go, "japanese", &[("size", "9"), ("handicap", "2"), ("placing", "free")]));
        let chosen = chosen.expect("all of them are offered");
        assert!(chosen.rule_sheet_en.contains("9 x 9") && chosen.rule_sheet_en.contains("Territory"));
        assert!(chosen.rule_sheet_en.contains("stones anywhere"), "{}", chosen.rule_sheet_en);
        assert_eq!(chosen.preset, "japanese", "rules stay whatever the board's size");
        let liuzhou = sheet(choice(Game::Liuzhou, "", &[("edge-six", "3")])).expect("it is offered");
        assert_eq!(liuzhou.preset, "", "a preset of all options is another with one of them changed");
    }

    #[test]
    fn a_choice_that_makes_no_game_says_why_and_one_that_there_is_not_is_refused() {
        let none = sheet(choice(Game::Go, "", &[("size", "3"), ("handicap", "9")])).expect("each is offered");
        assert!(!none.problem.is_empty());
        for (game, preset, options) in [
            (Game::Unspecified, "", &[][..]),
            (Game::Go, "korean", &[]),
            (Game::Gomoku, "", &[("komi", "7")]),
            (Game::Gomoku, "", &[("size", "fifteen")]),
        ] {
            let refused = sheet(choice(game, preset, options)).err().map(|refusal| refusal.code);
            assert_eq!(refused, Some(RefusalCode::RefusalBadRequest), "{game:?} {preset} {options:?}");
        }
    }
}
