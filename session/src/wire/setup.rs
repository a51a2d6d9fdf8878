//! The setup of every game.

use engine::go::{GoSetup, Handicap, Scoring, Superko};
use engine::lights_out::{Lights, LightsOutSetup, Neighbours, Start};
use engine::liuzhou::{Blocked, ForcedRemoval, LiuzhouSetup, Safety, SeveralFormations, StepBack};
use engine::xiangqi::XiangqiSetup;
use engine::{GomokuOpening, GomokuRule, GomokuSetup, Setup};
use proto::board::{self, lights_out_setup, setup};

use super::Unreadable;

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

/// Parses a setup from a peer. Its size is checked before anything is generated.
pub fn read_peer_setup(setup: Option<&board::Setup>) -> Result<Setup, Unreadable> {
    read_setup(setup)
        .and_then(|setup| if is_for_peers(&setup) { Ok(setup) } else { Err(Unreadable("lights")) })
}

/// The wire form of a setup.
pub fn setup(setup: &Setup) -> board::Setup {
    let game = match setup {
        Setup::Gomoku(gomoku) => setup::Game::Gomoku(write_gomoku(gomoku)),
        Setup::Liuzhou(liuzhou) => setup::Game::Liuzhou(write_liuzhou(liuzhou)),
        Setup::Go(go) => setup::Game::Go(write_go(go)),
        Setup::Xiangqi(XiangqiSetup { quiet_limit, black_first }) => {
            let quiet_limit = limit(*quiet_limit);
            setup::Game::Xiangqi(board::XiangqiSetup { quiet_limit, black_first: *black_first })
        }
        Setup::LightsOut(lights_out) => setup::Game::LightsOut(write_lights_out(lights_out)),
    };
    board::Setup { game: Some(game) }
}

/// Parses a setup. [`engine::AnyGame::new`] decides whether it is valid.
pub fn read_setup(setup: Option<&board::Setup>) -> Result<Setup, Unreadable> {
    Ok(match setup.and_then(|setup| setup.game.as_ref()).ok_or(Unreadable("setup"))? {
        setup::Game::Gomoku(gomoku) => Setup::Gomoku(read_gomoku(gomoku)?),
        setup::Game::Liuzhou(liuzhou) => Setup::Liuzhou(read_liuzhou(liuzhou)?),
        setup::Game::Go(go) => Setup::Go(read_go(go)?),
        setup::Game::Xiangqi(xiangqi) => {
            let quiet_limit = read_limit(xiangqi.quiet_limit)?;
            Setup::Xiangqi(XiangqiSetup { quiet_limit, black_first: xiangqi.black_first })
        }
        setup::Game::LightsOut(lights_out) => Setup::LightsOut(read_lights_out(lights_out)?),
    })
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
    opening, read_opening, "opening": GomokuOpening = GomokuOpening { Free, Swap2 };
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

fn write_gomoku(setup: &GomokuSetup) -> board::GomokuSetup {
    let GomokuSetup { size, rule, edge_five_wins, opening: begins } = *setup;
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
    })
}

fn write_go(setup: &GoSetup) -> board::GoSetup {
    let GoSetup { size, scoring, komi_half_points, superko, handicap } = *setup;
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
                        comes_back(Setup::Gomoku(GomokuSetup { size, rule, edge_five_wins, opening }));
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
                comes_back(Setup::Go(GoSetup { size: 13, scoring, komi_half_points: 13, superko, handicap }));
            }
        }
    }

    #[test]
    fn xiangqi_and_lights_out_setups_read_back() {
        for quiet_limit in [None, Some(1), Some(120)] {
            for black_first in [false, true] {
                comes_back(Setup::Xiangqi(XiangqiSetup { quiet_limit, black_first }));
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
