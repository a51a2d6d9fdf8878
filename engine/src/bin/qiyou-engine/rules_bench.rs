//! `bench-rules`: speed of the rules: Lights Out solver by size, random legal games of Go, perft of xiangqi.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::go::{Go, GoSetup};
use engine::lights_out::{BenchSystem, Lights, Neighbours, Solution, solve};
use engine::xiangqi::{Xiangqi, XiangqiSetup};
use engine::{Action, Game, Point, Rng};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the linear system over GF(2) of a 1,000 x 1,000 board of Lights Out to this file, as rows of 0 and 1, for
    /// another solver.
    #[arg(long)]
    system: Option<PathBuf>,
    /// Depth of the xiangqi perft from the start position, in half-moves.
    #[arg(long, default_value_t = 5)]
    depth: u32,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    lights();
    enumeration();
    if let Err(error) = system(arguments) {
        eprintln!("--system: {error}");
        return ExitCode::from(2);
    }
    go();
    perft(arguments.depth);
    ExitCode::SUCCESS
}

/// A solvable board, made by random presses.
fn solvable(n: u16, rng: &mut Rng) -> Lights {
    let mut presses = Lights::new(n, n).expect("a valid size");
    for row in 0..n {
        for column in 0..n {
            if rng.next_u64() >> 63 == 1 {
                presses.toggle(Point::new(column, row));
            }
        }
    }
    Lights::toggled_by(&presses, Neighbours::default())
}

/// The minimum time of several runs, because disturbances only add time.
fn least<T>(times: u32, mut work: impl FnMut() -> T) -> Duration {
    let one = |work: &mut dyn FnMut() -> T| {
        let begin = Instant::now();
        black_box(work());
        begin.elapsed()
    };
    (0..times).map(|_| one(&mut work)).min().unwrap_or_default()
}

fn lights() {
    println!("lights: whole boards of n x n, solved; growth as the power of n since the line before");
    let mut before: Option<(f64, f64)> = None;
    for n in [16_u16, 32, 64, 125, 250, 500, 1000] {
        let board = solvable(n, &mut Rng::new(n.into()));
        let took = least(if n < 500 { 5 } else { 2 }, || solve(&board, Neighbours::default()));
        let Solution::Presses { presses, .. } = solve(&board, Neighbours::default()) else {
            panic!("the board was made by presses")
        };
        let right = Lights::toggled_by(&presses, Neighbours::default()) == board;
        let seconds = took.as_secs_f64();
        let growth = before.map_or_else(String::new, |(n0, s0)| {
            format!(", n^{:.2}", (seconds / s0).ln() / (f64::from(n) / n0).ln())
        });
        println!("  n {n:4}: {:10.3} ms, verified {right}{growth}", seconds * 1e3);
        before = Some((n.into(), seconds));
    }
}

/// Light chasing with every possible first row, with rows as bit masks: the naive method, for comparison.
fn enumeration() {
    const N: usize = 16;
    let board = solvable(N as u16, &mut Rng::new(16));
    let lit =
        |row: u16| board.points().filter(|at| at.row == row).fold(0_u32, |bits, at| bits | 1 << at.column);
    let rows: Vec<u32> = (0..N as u16).map(lit).collect();
    let mask = (1_u32 << N) - 1;
    let tried = || {
        let mut found = 0_u32;
        for first in 0..=mask {
            let (mut above, mut presses) = (0, first);
            for row in &rows {
                let lit = row ^ above ^ presses ^ presses << 1 ^ presses >> 1;
                (above, presses) = (presses, lit & mask);
            }
            found += u32::from(presses == 0);
        }
        found
    };
    let slow = least(5, tried);
    let fast = least(50, || solve(&board, Neighbours::default()));
    println!(
        "lights: n {N}, 2^n first rows tried: {:.3} ms, ours {:.3} ms, {:.0} times as fast",
        slow.as_secs_f64() * 1e3,
        fast.as_secs_f64() * 1e3,
        slow.as_secs_f64() / fast.as_secs_f64()
    );
}

fn system(arguments: &Arguments) -> std::io::Result<()> {
    let system = BenchSystem::new(&solvable(1000, &mut Rng::new(1000)));
    if let Some(path) = &arguments.system {
        std::fs::write(path, system.to_text())?;
    }
    let mut rank = 0;
    let took = (0..20)
        .map(|_| {
            let mut copy = system.clone();
            let begin = Instant::now();
            rank = copy.solve();
            begin.elapsed()
        })
        .min()
        .unwrap_or_default();
    println!("lights: the system of 1,000 unknowns: rank {rank} in {:.3} ms", took.as_secs_f64() * 1e3);
    Ok(())
}

fn go() {
    for size in [9, 19] {
        let setup = GoSetup { size, ..GoSetup::default() };
        let start = Go::new(&setup).expect("the setup is valid");
        let (mut rng, mut moves, mut played) = (Rng::new(1), Vec::new(), 0_u64);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
            let mut game = start.clone();
            // Random games end when only passes are left, or are cut off here.
            for _ in 0..3 * u32::from(size) * u32::from(size) {
                game.legal_moves(&mut moves);
                let count = moves.len() as u32;
                let mv = moves[rng.below(if count > 1 { count - 1 } else { count }) as usize];
                if Go::action(mv) == Action::Pass {
                    break;
                }
                game.play(mv);
                played += 1;
            }
        }
        println!(
            "go {size} x {size}: {:.0} moves a second, each from the list of all legal ones",
            played as f64 / begin.elapsed().as_secs_f64()
        );
    }
}

fn perft(depth: u32) {
    let start = Xiangqi::new(&XiangqiSetup::default()).expect("the setup is valid");
    let mut count = 0;
    let took = least(3, || count = engine::xiangqi::perft(start.board(), depth));
    println!(
        "xiangqi: perft {depth} = {count} in {:.3} s, {:.1} million a second",
        took.as_secs_f64(),
        count as f64 / took.as_secs_f64() / 1e6
    );
}
