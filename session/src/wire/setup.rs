//! The setup of every game.

use engine::go::{GoSetup, Handicap, Scoring, Superko};
use engine::lights_out::{Lights, LightsOutSetup, Neighbours, Start};
use engine::liuzhou::{Blocked, ForcedRemoval, LiuzhouSetup, Safety, SeveralFormations, StepBack};
use engine::start::{self, StartPhase};
use engine::xiangqi::{RepetitionRule, XiangqiSetup};
use engine::{GameKind, GomokuOpening, GomokuRule, GomokuSetup, Setup, Side};
use proto::board::{self, lights_out_setup, setup, started};

use super::{Unreadable, read_side, side};

/// Most columns and rows of lights between devices: more than a person presses. Larger boards are for one device: generating a
/// board of 1,000 x 1,000 from its seed takes milliseconds, and the message that requests it 60 bytes.
const PEER_LIGHTS: usize = 64;

/// Whether two devices may play a match with this setup.
pub fn is_for_peers(setup: &Setup) -> bool {
    match setup {
        Setup::LightsOut(LightsOutSetup { start, .. }) => {
            let (columns, rows) = match start {
                Start::Random { columns, rows, .. } => (usize::from(*columns), usize::from(*rows)),
                Start::Board(board) => (board.columns().into(), board.rows().into()),
            };
            columns <= PEER_LIGHTS && rows <= PEER_LIGHTS
        }
        Setup::Gomoku(_) | Setup::Liuzhou(_) | Setup::Go(_) | Setup::Xiangqi(_) => true,
    }
}

/// Whether the setup has an opening rule of gomoku that a version without `Hello.knows_openings` does not know.
pub fn is_of_later_opening(setup: &Setup) -> bool {
    match setup {
        Setup::Gomoku(setup) => !matches!(setup.opening, GomokuOpening::Free | GomokuOpening::Swap2),
        Setup::Liuzhou(_) | Setup::Go(_) | Setup::Xiangqi(_) | Setup::LightsOut(_) => false,
    }
}

/// Whether the setup is of xiangqi with repetition by the Chinese rules, which a version without
/// `Hello.knows_chinese_repetition` does not know.
pub fn is_of_chinese_repetition(setup: &Setup) -> bool {
    match setup {
        Setup::Xiangqi(setup) => setup.repetition == RepetitionRule::Chinese,
        Setup::Gomoku(_) | Setup::Liuzhou(_) | Setup::Go(_) | Setup::LightsOut(_) => false,
    }
}

/// Parses a setup from a peer. Its size is checked before anything is generated.
pub fn read_peer_setup(setup: Option<&board::Setup>) -> Result<Setup, Unreadable> {
    read_setup(setup)
        .and_then(|setup| if is_for_peers(&setup) { Ok(setup) } else { Err(Unreadable("lights")) })
}

/// The wire form of a setup.
pub fn setup(setup: &Setup) -> board::Setup {
    let game = match setup.start() {
        Some(start) => started(setup, start),
        None => match setup {
            Setup::Gomoku(gomoku) => setup::Game::Gomoku(write_gomoku(gomoku)),
            Setup::Liuzhou(liuzhou) => setup::Game::Liuzhou(write_liuzhou(liuzhou)),
            Setup::Go(go) => setup::Game::Go(write_go(go)),
            Setup::Xiangqi(xiangqi) => match xiangqi.repetition {
                RepetitionRule::Asian => setup::Game::Xiangqi(write_xiangqi(xiangqi)),
                RepetitionRule::Chinese => setup::Game::XiangqiChinese(write_xiangqi(xiangqi)),
            },
            Setup::LightsOut(lights_out) => setup::Game::LightsOut(write_lights_out(lights_out)),
        },
    };
    board::Setup { game: Some(game) }
}

/// Parses a setup. [`engine::AnyGame::new`] decides whether it is valid.
pub fn read_setup(setup: Option<&board::Setup>) -> Result<Setup, Unreadable> {
    Ok(match setup.and_then(|setup| setup.game.as_ref()).ok_or(Unreadable("setup"))? {
        setup::Game::Gomoku(gomoku) => Setup::Gomoku(read_gomoku(gomoku)?),
        setup::Game::Liuzhou(liuzhou) => Setup::Liuzhou(read_liuzhou(liuzhou)?),
        setup::Game::Go(go) => Setup::Go(read_go(go)?),
        setup::Game::Xiangqi(xiangqi) => Setup::Xiangqi(read_xiangqi(*xiangqi, RepetitionRule::Asian)?),
        setup::Game::XiangqiChinese(xiangqi) => {
            Setup::Xiangqi(read_xiangqi(*xiangqi, RepetitionRule::Chinese)?)
        }
        setup::Game::LightsOut(lights_out) => Setup::LightsOut(read_lights_out(lights_out)?),
        setup::Game::Started(started) => read_started(started)?,
    })
}

fn started(setup: &Setup, start: &start::Start) -> setup::Game {
    let rules = match setup {
        Setup::Gomoku(gomoku) => Some(started::Rules::Gomoku(write_gomoku(gomoku))),
        Setup::Liuzhou(liuzhou) => Some(started::Rules::Liuzhou(write_liuzhou(liuzhou))),
        Setup::Go(go) => Some(started::Rules::Go(write_go(go))),
        Setup::Xiangqi(xiangqi) => Some(match xiangqi.repetition {
            RepetitionRule::Asian => started::Rules::Xiangqi(write_xiangqi(xiangqi)),
            RepetitionRule::Chinese => started::Rules::XiangqiChinese(write_xiangqi(xiangqi)),
        }),
        Setup::LightsOut(_) => None,
    };
    setup::Game::Started(board::Started {
        rules,
        turn: side(start.turn()).into(),
        points: start.to_bytes().into(),
        moving: start.phase() == StartPhase::Moving,
    })
}

/// A legal start in the one form in which [`started`] writes it; anything else is unreadable.
fn read_started(said: &board::Started) -> Result<Setup, Unreadable> {
    const WRONG: Unreadable = Unreadable("start");
    let rules = match said.rules.as_ref().ok_or(WRONG)? {
        started::Rules::Gomoku(gomoku) => Setup::Gomoku(read_gomoku(gomoku)?),
        started::Rules::Liuzhou(liuzhou) => Setup::Liuzhou(read_liuzhou(liuzhou)?),
        started::Rules::Go(go) => Setup::Go(read_go(go)?),
        started::Rules::Xiangqi(xiangqi) => Setup::Xiangqi(read_xiangqi(*xiangqi, RepetitionRule::Asian)?),
        started::Rules::XiangqiChinese(xiangqi) => {
            Setup::Xiangqi(read_xiangqi(*xiangqi, RepetitionRule::Chinese)?)
        }
    };
    let phase = match (said.moving, rules.kind()) {
        (false, _) => StartPhase::Opening,
        (true, GameKind::Liuzhou) => StartPhase::Moving,
        (true, _) => return Err(WRONG),
    };
    let turn: Side = read_side(said.turn)?;
    let empty = start::Start::empty_for(&rules).ok_or(WRONG)?;
    let start = empty.with_bytes(&said.points).ok_or(WRONG)?.with_turn(turn).with_phase(phase);
    start.check(&rules).map_err(|_| WRONG)?;
    rules.begin_from(start).map_err(|_| WRONG)
}

/// Both directions of a choice with the same names in engine and schema.
macro_rules! choices {
    ($($write:ident, $read:ident, $field:literal: $ours:ident = $wire:ident { $($name:ident),+ };)+) => {
        $(
            fn $write(choice: $ours) -> i32 {
                match choice { $($ours::$name => board::$wire::$name.into(),)+ }
            }

            fn $read(number: i32) -> Result<$ours, Unreadable> {
                match board::$wire::try_from(number) {
                    $(Ok(board::$wire::$name) => Ok($ours::$name),)+
                    Err(_) => Err(Unreadable($field)),
                }
            }
        )+
    };
}

choices! {
    gomoku_rule, read_gomoku_rule, "rule": GomokuRule = GomokuRule { Freestyle, Standard, Renju };
    opening, read_opening, "opening": GomokuOpening = GomokuOpening {
        Free, Swap2, Pro, LongPro, Swap, Taraguchi10, Soosorv8, Yamaguchi
    };
    several, read_several, "several": SeveralFormations = LiuzhouSeveral { Sum, Highest };
    safety, read_safety, "safety": Safety = LiuzhouSafety { UnlessNoOther, Always, Never };
    blocked, read_blocked, "blocked": Blocked = LiuzhouBlocked { Removal, Loses, Passes };
    removal, read_removal, "forced_removal":
        ForcedRemoval = LiuzhouRemoval { FirstThenSecond, SecondThenFirst, OnlySecond };
}

fn small(number: u32, field: &'static str) -> Result<u8, Unreadable> {
    u8::try_from(number).map_err(|_| Unreadable(field))
}

fn wide(number: u32, field: &'static str) -> Result<u16, Unreadable> {
    u16::try_from(number).map_err(|_| Unreadable(field))
}

/// 0 is no limit: no game has a limit of zero plies.
fn limit(limit: Option<u16>) -> u32 {
    limit.unwrap_or(0).into()
}

fn read_limit(number: u32) -> Result<Option<u16>, Unreadable> {
    wide(number, "limit").map(|limit| Some(limit).filter(|&limit| limit > 0))
}

/// Without the rule of repetition, which is told by the field that holds the message.
fn write_xiangqi(setup: &XiangqiSetup) -> board::XiangqiSetup {
    let XiangqiSetup { quiet_limit, black_first, repetition: _, start: _ } = *setup;
    board::XiangqiSetup { quiet_limit: limit(quiet_limit), black_first }
}

fn read_xiangqi(setup: board::XiangqiSetup, repetition: RepetitionRule) -> Result<XiangqiSetup, Unreadable> {
    let quiet_limit = read_limit(setup.quiet_limit)?;
    Ok(XiangqiSetup { quiet_limit, black_first: setup.black_first, repetition, start: None })
}

fn write_gomoku(setup: &GomokuSetup) -> board::GomokuSetup {
    let GomokuSetup { size, rule, edge_five_wins, opening: begins, start: _ } = *setup;
    board::GomokuSetup {
        size: size.into(),
        rule: gomoku_rule(rule),
        edge_five_wins,
        opening: opening(begins),
    }
}

fn read_gomoku(setup: &board::GomokuSetup) -> Result<GomokuSetup, Unreadable> {
    Ok(GomokuSetup {
        size: small(setup.size, "size")?,
        rule: read_gomoku_rule(setup.rule)?,
        edge_five_wins: setup.edge_five_wins,
        opening: read_opening(setup.opening)?,
        start: None,
    })
}

fn write_liuzhou(setup: &LiuzhouSetup) -> board::LiuzhouSetup {
    let LiuzhouSetup {
        several: of_several,
        edge_six,
        inner_six,
        diagonals,
        safety: of_safety,
        blocked: when_blocked,
        loses_at,
        quiet_limit,
        total_limit,
        step_back,
        forced_removal,
        start: _,
    } = *setup;
    board::LiuzhouSetup {
        several: several(of_several),
        edge_six: edge_six.into(),
        inner_six: inner_six.into(),
        diagonals,
        safety: safety(of_safety),
        blocked: blocked(when_blocked),
        loses_at: loses_at.into(),
        quiet_limit: limit(quiet_limit),
        total_limit: limit(total_limit),
        step_back_not_at_once: step_back == StepBack::NotAtOnce,
        forced_removal: removal(forced_removal),
    }
}

fn read_liuzhou(setup: &board::LiuzhouSetup) -> Result<LiuzhouSetup, Unreadable> {
    Ok(LiuzhouSetup {
        several: read_several(setup.several)?,
        edge_six: small(setup.edge_six, "edge_six")?,
        inner_six: small(setup.inner_six, "inner_six")?,
        diagonals: setup.diagonals,
        safety: read_safety(setup.safety)?,
        blocked: read_blocked(setup.blocked)?,
        loses_at: small(setup.loses_at, "loses_at")?,
        quiet_limit: read_limit(setup.quiet_limit)?,
        total_limit: read_limit(setup.total_limit)?,
        step_back: if setup.step_back_not_at_once { StepBack::NotAtOnce } else { StepBack::Allowed },
        forced_removal: read_removal(setup.forced_removal)?,
        start: None,
    })
}

fn write_go(setup: &GoSetup) -> board::GoSetup {
    let GoSetup { size, scoring, komi_half_points, superko, handicap, start: _ } = *setup;
    board::GoSetup {
        size: size.into(),
        territory: scoring == Scoring::Territory,
        komi_half_points: komi_half_points.into(),
        situational_superko: superko == Superko::Situational,
        handicap: handicap.stones().into(),
        free_handicap: matches!(handicap, Handicap::Free(_)),
    }
}

fn read_go(setup: &board::GoSetup) -> Result<GoSetup, Unreadable> {
    let handicap = match (small(setup.handicap, "handicap")?, setup.free_handicap) {
        (0, false) => Handicap::None,
        (stones, false) => Handicap::Stars(stones),
        (stones, true) => Handicap::Free(stones),
    };
    Ok(GoSetup {
        size: small(setup.size, "size")?,
        scoring: if setup.territory { Scoring::Territory } else { Scoring::Area },
        komi_half_points: small(setup.komi_half_points, "komi")?,
        superko: if setup.situational_superko { Superko::Situational } else { Superko::Positional },
        handicap,
        start: None,
    })
}

fn write_lights_out(setup: &LightsOutSetup) -> board::LightsOutSetup {
    let LightsOutSetup { neighbours: Neighbours { torus, diagonals }, start, race } = setup;
    let (columns, rows, start) = match start {
        Start::Random { columns, rows, seed } => (*columns, *rows, lights_out_setup::Start::Seed(*seed)),
        Start::Board(board) => {
            (board.columns(), board.rows(), lights_out_setup::Start::Lights(board.to_bytes().into()))
        }
    };
    board::LightsOutSetup {
        torus: *torus,
        diagonals: *diagonals,
        columns: columns.into(),
        rows: rows.into(),
        start: Some(start),
        race: *race,
    }
}

fn read_lights_out(setup: &board::LightsOutSetup) -> Result<LightsOutSetup, Unreadable> {
    let (columns, rows) = (wide(setup.columns, "columns")?, wide(setup.rows, "rows")?);
    let start = match setup.start.as_ref().ok_or(Unreadable("start"))? {
        lights_out_setup::Start::Seed(seed) => Start::Random { columns, rows, seed: *seed },
        lights_out_setup::Start::Lights(bytes) => {
            Start::Board(Lights::from_bytes(columns, rows, bytes).ok_or(Unreadable("lights"))?)
        }
    };
    let neighbours = Neighbours { torus: setup.torus, diagonals: setup.diagonals };
    Ok(LightsOutSetup { neighbours, start, race: setup.race })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_back(one: Setup) {
        assert_eq!(read_setup(Some(&setup(&one))), Ok(one));
    }

    #[test]
    fn gomoku_setups_read_back() {
        for size in [5, 15, 20] {
            for rule in GomokuRule::ALL {
                for edge_five_wins in [false, true] {
                    for opening in GomokuOpening::ALL {
                        comes_back(Setup::Gomoku(GomokuSetup {
                            size,
                            rule,
                            edge_five_wins,
                            opening,
                            start: None,
                        }));
                    }
                }
            }
        }
    }

    #[test]
    fn liuzhou_setups_read_back() {
        let each = |change: &dyn Fn(&mut LiuzhouSetup)| {
            let mut one = LiuzhouSetup::default();
            change(&mut one);
            comes_back(Setup::Liuzhou(one));
        };
        for preset in engine::liuzhou::Preset::ALL {
            comes_back(Setup::Liuzhou(preset.setup()));
        }
        each(&|one| one.several = SeveralFormations::Highest);
        each(&|one| one.safety = Safety::Always);
        each(&|one| one.safety = Safety::Never);
        each(&|one| one.blocked = Blocked::Loses);
        each(&|one| one.blocked = Blocked::Passes);
        each(&|one| one.step_back = StepBack::NotAtOnce);
        each(&|one| one.forced_removal = ForcedRemoval::OnlySecond);
        each(&|one| (one.quiet_limit, one.total_limit) = (None, Some(1000)));
    }

    #[test]
    fn go_setups_read_back() {
        for handicap in [Handicap::None, Handicap::Stars(9), Handicap::Free(2)] {
            for (scoring, superko) in
                [(Scoring::Area, Superko::Situational), (Scoring::Territory, Superko::Positional)]
            {
                comes_back(Setup::Go(GoSetup {
                    size: 13,
                    scoring,
                    komi_half_points: 13,
                    superko,
                    handicap,
                    start: None,
                }));
            }
        }
    }

    #[test]
    fn xiangqi_and_lights_out_setups_read_back() {
        for quiet_limit in [None, Some(1), Some(120)] {
            for black_first in [false, true] {
                for repetition in RepetitionRule::ALL {
                    let start = None;
                    comes_back(Setup::Xiangqi(XiangqiSetup { quiet_limit, black_first, repetition, start }));
                }
            }
        }
        let boards = ["#", "#..\n.##\n", &"#".repeat(65), &format!("{}\n{0}\n", ".#".repeat(500))];
        let starts = boards.map(|board| Start::Board(board.parse().expect("a board")));
        for start in starts.into_iter().chain([Start::Random { columns: 1000, rows: 3, seed: u64::MAX }]) {
            let neighbours = Neighbours { torus: true, diagonals: false };
            for race in [false, true] {
                comes_back(Setup::LightsOut(LightsOutSetup { neighbours, start: start.clone(), race }));
            }
        }
    }

    fn started_at(line: &str, rules: Setup) -> Setup {
        let start = start::Start::read(rules.kind(), line.as_bytes()).expect("a line");
        rules.begin_from(start).expect("a legal start")
    }

    const HORSES: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR b";

    #[test]
    fn setups_with_a_start_read_back() {
        comes_back(started_at(HORSES, GameKind::Xiangqi.default_setup()));
        let repetition = RepetitionRule::Chinese;
        let chinese = Setup::Xiangqi(XiangqiSetup { repetition, ..XiangqiSetup::default() });
        comes_back(started_at(HORSES, chinese));
        comes_back(started_at("5/5/2b2/5/5 w", GameKind::Gomoku.default_setup()));
        comes_back(started_at("bb3/ww3/5/5/5 w", GameKind::Go.default_setup()));
        comes_back(started_at("bbx3/wwo3/6/6/6/6 b p", GameKind::Liuzhou.default_setup()));
        comes_back(started_at("bbbb2/wwww2/6/6/6/6 w m", GameKind::Liuzhou.default_setup()));
    }

    #[test]
    fn a_start_is_read_in_one_form_only_and_if_a_match_can_begin_from_it() {
        let Some(setup::Game::Started(told)) =
            setup(&started_at(HORSES, GameKind::Xiangqi.default_setup())).game
        else {
            panic!("it has a start");
        };
        let read = |change: &dyn Fn(&mut board::Started)| {
            let mut one = told.clone();
            change(&mut one);
            read_setup(Some(&board::Setup { game: Some(setup::Game::Started(one)) }))
        };
        let points = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = told.points.to_vec();
            change(&mut bytes);
            read(&|one| one.points = bytes.clone().into()).is_ok()
        };
        assert!(points(&|_| {}));
        assert!(!points(&|bytes| bytes.push(0)) && !points(&|bytes| bytes.truncate(44)));
        assert!(!points(&|bytes| bytes[2] = 0), "a general is missing");
        assert!(!points(&|bytes| bytes[20] = 0x0F), "no piece has this number");
        assert!(read(&|one| one.moving = true).is_err());
        assert!(read(&|one| one.turn = 0).is_err());
        assert!(read(&|one| one.rules = None).is_err());
        let black_first = board::XiangqiSetup { black_first: true, ..Default::default() };
        assert!(read(&|one| one.rules = Some(started::Rules::Xiangqi(black_first))).is_err());
    }

    #[test]
    fn a_peer_speaks_of_boards_of_64_by_64_lights_at_most_however_it_says_them() {
        let random = |columns, rows| {
            let start = Start::Random { columns, rows, seed: 7 };
            Setup::LightsOut(LightsOutSetup { start, ..LightsOutSetup::default() })
        };
        for (columns, rows, small) in [(64, 64, true), (65, 2, false), (2, 65, false), (1000, 1000, false)] {
            let told = setup(&random(columns, rows));
            assert!(read_setup(Some(&told)).is_ok());
            assert_eq!(read_peer_setup(Some(&told)).is_ok(), small, "{columns} x {rows}");
        }
        let board = Lights::from_bytes(65, 1, &[1; 9]).expect("a board");
        let told = LightsOutSetup { start: Start::Board(board), ..LightsOutSetup::default() };
        assert!(read_peer_setup(Some(&setup(&Setup::LightsOut(told)))).is_err());
    }

    #[test]
    fn setups_that_say_nothing_known_are_told_apart() {
        assert!(read_setup(None).is_err());
        assert!(read_setup(Some(&board::Setup { game: None })).is_err());
        let lights = |columns, rows, bytes: &'static [u8]| {
            let start = Some(lights_out_setup::Start::Lights(bytes.into()));
            let one = board::LightsOutSetup { columns, rows, start, ..Default::default() };
            read_setup(Some(&board::Setup { game: Some(setup::Game::LightsOut(one)) }))
        };
        assert!(lights(3, 1, &[7]).is_ok());
        for (columns, rows, bytes) in [
            (3, 1, &[8][..]),
            (3, 1, &[]),
            (3, 1, &[1, 1]),
            (0, 0, &[]),
            (u32::MAX, 1, &[1]),
            (65, 1, &[1; 8]),
        ] {
            assert_eq!(lights(columns, rows, bytes).ok(), None, "{columns} {rows} {bytes:?}");
        }
    }
}
