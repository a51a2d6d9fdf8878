//! Random positions that were set up. Tests of other crates include this file by its path.

use engine::go::GoSetup;
use engine::start::{Start, StartPhase, StartPiece};
use engine::{GameKind, GomokuSetup, Piece, Point, Rng, Setup, Side};

/// The games that begin from a position that was set up.
pub(crate) const GAMES: [GameKind; 4] =
    [GameKind::Gomoku, GameKind::Go, GameKind::Xiangqi, GameKind::Liuzhou];

fn any_point(start: &Start, rng: &mut Rng) -> Point {
    Point::new(rng.below(start.columns().into()) as u16, rng.below(start.rows().into()) as u16)
}

/// A random set-up of this game, mostly legal where there are few pieces.
fn scattered(game: GameKind, rng: &mut Rng) -> Start {
    let size = match game {
        GameKind::Gomoku => 5 + rng.below(16),
        _ => 2 + rng.below(24),
    };
    let mut start = Start::empty(game, size as u8).expect("a size that is played");
    let turn = Side::BOTH[rng.below(2) as usize];
    let phase = [StartPhase::Opening, StartPhase::Moving][rng.below(2) as usize];
    start = start.with_turn(turn).with_phase(phase);
    let tray = StartPiece::all(game);
    let points = u32::from(start.columns()) * u32::from(start.rows());
    let count = match game {
        GameKind::Gomoku | GameKind::Liuzhou => rng.below(points / 2),
        GameKind::Go => rng.below(points),
        _ => {
            for side in Side::BOTH {
                let row = if side == Side::First { rng.below(3) } else { 7 + rng.below(3) };
                let at = Point::new(3 + rng.below(3) as u16, row as u16);
                start = start.with(at, Some(StartPiece::of(side, Piece::General))).expect("on the board");
            }
            rng.below(14)
        }
    };
    for n in 0..count {
        let at = any_point(&start, rng);
        if start.at(at).is_some() {
            continue;
        }
        let piece = match game {
            GameKind::Gomoku | GameKind::Go => tray[n as usize % 2],
            GameKind::Liuzhou if phase == StartPhase::Moving => tray[n as usize % 2],
            GameKind::Liuzhou => tray[n as usize % 2 + 2 * usize::from(rng.below(5) == 0)],
            _ => tray[rng.below(tray.len() as u32) as usize],
        };
        start = start.with(at, Some(piece)).expect("on the board");
    }
    // Stones in turn: one of the side that is ahead is taken away, or one is added.
    if matches!(game, GameKind::Gomoku | GameKind::Liuzhou) {
        let count = |start: &Start, side| start.pieces().filter(|(_, piece)| piece.side == side).count();
        let wanted = usize::from(turn == Side::Second);
        while count(&start, Side::First) != count(&start, Side::Second) + wanted {
            let more = if count(&start, Side::First) < count(&start, Side::Second) + wanted {
                Side::First
            } else {
                Side::Second
            };
            let at = any_point(&start, rng);
            if start.at(at).is_none() {
                start = start.with(at, Some(StartPiece::stone(more))).expect("on the board");
            }
        }
    }
    start
}

/// The usual rules for a start of this size.
pub(crate) fn rules(start: &Start) -> Setup {
    match start.game() {
        GameKind::Gomoku => Setup::Gomoku(GomokuSetup { size: start.rows(), ..GomokuSetup::default() }),
        GameKind::Go => Setup::Go(GoSetup { size: start.rows(), ..GoSetup::default() }),
        game => game.default_setup(),
    }
}

/// Legal random starts of this game.
pub(crate) fn legal(game: GameKind, seed: u64) -> impl Iterator<Item = Start> {
    let mut rng = Rng::new(seed);
    std::iter::repeat_with(move || scattered(game, &mut rng))
        .filter(|start| start.check(&rules(start)).is_ok())
}
