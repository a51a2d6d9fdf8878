//! Speed of the engine on fixed positions.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::go::{self, Go, GoBot, GoSetup};
use engine::{AnyGame, Game, GameKind, Limits, Tier, bot};

use crate::timer::{Ask, choose};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Time per position, in milliseconds.
    #[arg(long, default_value_t = 1000)]
    ms: u64,
    /// Print only the node-count signatures, which do not depend on time.
    #[arg(long)]
    signature: bool,
    /// Measure this game only, such as `xiangqi`.
    #[arg(long)]
    game: Option<String>,
    /// Measure only how much sooner this many threads reach the depth that one thread reaches within `--ms`.
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=64))]
    threads: Option<u8>,
}

/// The positions of a game, one per line as moves from the start, and the depth of the node-count signature.
struct Suite {
    kind: GameKind,
    positions: &'static str,
    depth: u32,
}

const SUITES: [Suite; 3] = [
    Suite { kind: GameKind::Gomoku, positions: include_str!("../../../data/bench_gomoku.txt"), depth: 6 },
    Suite { kind: GameKind::Xiangqi, positions: include_str!("../../../data/bench_xiangqi.txt"), depth: 8 },
    Suite { kind: GameKind::Liuzhou, positions: include_str!("../../../data/bench_liuzhou.txt"), depth: 6 },
];

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let asked = |kind: GameKind| arguments.game.as_deref().is_none_or(|word| word == kind.word());
    for suite in SUITES.iter().filter(|suite| asked(suite.kind)) {
        let positions: Vec<AnyGame> = suite.games().collect();
        let word = suite.kind.word();
        let time = Duration::from_millis(arguments.ms);
        if let Some(threads) = arguments.threads {
            by_threads(word, &positions, time, threads.into());
            continue;
        }
        if !arguments.signature {
            by_time(word, &positions, time);
        }
        let signature: u64 = positions.iter().map(|game| search(game, 1, None, Some(suite.depth)).1).sum();
        println!("{word} signature: {signature} positions at depth {}", suite.depth);
    }
    if asked(GameKind::Go) && arguments.threads.is_none() {
        if !arguments.signature {
            for size in [9, 19] {
                playouts(size, Duration::from_millis(arguments.ms));
            }
        }
        println!("go signature: {} nodes after {SIGNATURE_PLAYOUTS} playouts on 9x9", go_nodes());
    }
    ExitCode::SUCCESS
}

/// Number of playouts of Go's signature.
const SIGNATURE_PLAYOUTS: u64 = 2000;

/// Prints playouts per second, light and full, and playouts of the search.
fn playouts(size: u8, time: Duration) {
    let rate = |light: bool| {
        let begin = Instant::now();
        let (mut games, mut moves) = (0_u32, 0);
        while begin.elapsed() < time {
            moves += go::play_out(size, light, 50, u64::from(games));
            games += 50;
        }
        let seconds = begin.elapsed().as_secs_f64();
        (f64::from(games) / seconds, moves as f64 / f64::from(games))
    };
    let ((light, light_moves), (full, full_moves)) = (rate(true), rate(false));
    let searched = |mut bot: GoBot| {
        let begin = Instant::now();
        let elapsed = move || begin.elapsed();
        let stop = AtomicBool::new(false);
        let limits = Limits { time: Some(time), nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
        let position = Go::new(&GoSetup { size, ..GoSetup::default() }).expect("the setup is valid");
        let found = bot.analyse(&position, &limits, &mut |_| {});
        found.map_or(0.0, |found| found.playouts as f64 / begin.elapsed().as_secs_f64())
    };
    let alone = searched(GoBot::new(Tier::MAX, 1).by_playouts_alone());
    let level_10 = searched(GoBot::new(Tier::MAX, 1));
    println!(
        "go {size}x{size}: {light:.0} light playouts a second ({light_moves:.0} moves each), {full:.0} full ({full_moves:.0}), {alone:.0} in the search by playouts alone, {level_10:.0} in that of level 10"
    );
}

fn go_nodes() -> usize {
    let stop = AtomicBool::new(false);
    let limits = Limits {
        time: None,
        nodes: Some(SIGNATURE_PLAYOUTS),
        depth: None,
        stop: &stop,
        elapsed: &|| Duration::ZERO,
    };
    let position = Go::new(&GoSetup { size: 9, ..GoSetup::default() }).expect("the setup is valid");
    let mut bot = GoBot::new(Tier::MAX, 1).by_playouts_alone();
    bot.analyse(&position, &limits, &mut |_| {}).map_or(0, |found| found.nodes)
}

fn by_time(word: &str, positions: &[AnyGame], time: Duration) {
    let (mut nodes, mut spent, mut depths) = (0, Duration::ZERO, 0);
    for game in positions {
        let begin = Instant::now();
        let (depth, visited) = search(game, 1, Some(time), None);
        let took = begin.elapsed();
        println!(
            "  ply {:3}: depth {depth:2}, {visited:9} positions in {:4} ms",
            game.ply(),
            took.as_millis()
        );
        nodes += visited;
        spent += took;
        depths += depth;
    }
    println!(
        "{word}: {:.0} positions a second, depth {:.1} in {} ms",
        nodes as f64 / spent.as_secs_f64(),
        f64::from(depths) / positions.len() as f64,
        time.as_millis()
    );
}

/// Repetitions of each position with one and with several threads, because the result of several threads varies.
const TURNS: u32 = 3;

/// Seconds and nodes to reach a depth, with one thread and with several.
fn by_threads(word: &str, positions: &[AnyGame], time: Duration, threads: usize) {
    let (mut spent, mut visited, mut gain) = ([0.0; 2], [0; 2], 0.0);
    for game in positions {
        let (depth, _) = search(game, 1, Some(time), None);
        let (mut seconds, mut nodes) = ([0.0; 2], [0; 2]);
        for _ in 0..TURNS {
            for (n, threads) in [1, threads].into_iter().enumerate() {
                let begin = Instant::now();
                nodes[n] += search(game, threads, None, Some(depth)).1;
                seconds[n] += begin.elapsed().as_secs_f64();
            }
        }
        let ratio = seconds[0] / seconds[1];
        println!("  ply {:3}: depth {depth:2} {ratio:.2} times as soon", game.ply());
        gain += ratio.ln();
        for n in 0..2 {
            spent[n] += seconds[n];
            visited[n] += nodes[n];
        }
    }
    let [rate, shared] = [0, 1].map(|n| visited[n] as f64 / spent[n]);
    println!(
        "{word}: {threads} threads reach a depth {:.2} times as soon as one (geometric mean; of the sums of time {:.2}), with {:.2} times the positions a second",
        (gain / positions.len() as f64).exp(),
        spent[0] / spent[1],
        shared / rate,
    );
}

fn search(game: &AnyGame, threads: usize, time: Option<Duration>, depth: Option<u32>) -> (u32, u64) {
    let stop = AtomicBool::new(false);
    let mut bot = bot(game.kind(), Tier::MAX, 1);
    bot.set_threads(threads);
    let ask = Ask { time, nodes: None, depth, stop: &stop };
    choose(bot.as_mut(), game, &ask, Instant::now(), &mut |_| {})
        .map_or((0, 0), |found| (found.depth, found.nodes))
}

impl Suite {
    fn games(&self) -> impl Iterator<Item = AnyGame> {
        self.positions.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
            let mut game = AnyGame::new(&self.kind.default_setup()).expect("the default setup is valid");
            for word in line.split_whitespace() {
                let action = game.parse(word).expect("the file holds moves");
                game.act(action).expect("the file holds legal moves");
            }
            game
        })
    }
}
