//! Tuning of search parameters by self-play.
//!
//! `test` compares two sets of parameters by a sequential probability ratio test (SPRT) on pairs of games. `spsa` tunes
//! several parameters at once by simultaneous perturbation stochastic approximation (SPSA, Spall 1992), with one pair of
//! games per step. A result of `spsa` must be confirmed by `test`.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use engine::go::GoSetup;
use engine::parameters::{Parameter, ParameterError};
use engine::{Action, Bot, GameKind, GomokuRule, GomokuSetup, Rng, Setup, Side, Tier, bot};

use crate::levels::{kind, rule};
use crate::matches::{self, elo, opening, share, share_of};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List the search parameters of a game with their ranges.
    List(List),
    /// Test parameters A against B with a sequential probability ratio test (SPRT) on self-play games.
    Test(Test),
    /// Tune several parameters at once by SPSA on self-play games, and print the values while it runs.
    Spsa(Spsa),
}

#[derive(clap::Args)]
pub(crate) struct List {
    /// Game whose parameters are listed, such as `xiangqi`.
    #[arg(long, value_parser = kind)]
    game: GameKind,
}

#[derive(clap::Args)]
struct Games {
    /// Game to play, such as `xiangqi`.
    #[arg(long, value_parser = kind)]
    game: GameKind,
    /// Gomoku: rule to play by, freestyle, standard or renju.
    #[arg(long, default_value = "freestyle", value_parser = rule)]
    rule: GomokuRule,
    /// Go: board size, in points on a side.
    #[arg(long, default_value_t = 9)]
    size: u8,
    /// Positions (Go: playouts) to search per move, so that results do not depend on the load of the machine.
    #[arg(long, default_value_t = 4_000)]
    nodes: u64,
    /// Search for this time per move instead, in milliseconds.
    #[arg(long)]
    ms: Option<u64>,
    /// Number of games played in parallel.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Seed of the openings.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(clap::Args)]
pub(crate) struct Test {
    #[command(flatten)]
    games: Games,
    /// Parameter of A, as NAME=VALUE; may be given several times. `threads=N` sets its search threads, `time=F` gives it F
    /// times `--ms`.
    #[arg(long)]
    a: Vec<String>,
    /// Parameter of B, in the same form as for A.
    #[arg(long)]
    b: Vec<String>,
    /// Elo difference of the null hypothesis H0 ("A is not better").
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    elo0: f64,
    /// Elo difference of the alternative hypothesis H1 ("A is better").
    #[arg(long, default_value_t = 10.0)]
    elo1: f64,
    /// Maximum number of games.
    #[arg(long, default_value_t = 4_000)]
    most: u32,
}

#[derive(clap::Args)]
pub(crate) struct Spsa {
    #[command(flatten)]
    games: Games,
    /// Parameters to tune, as NAME or NAME=STEP. STEP is the final perturbation (default: a tenth of the value).
    /// `NAME@VALUE` sets a start value; it must come before the NAME.
    parameters: Vec<String>,
    /// Total number of pairs of games.
    #[arg(long, default_value_t = 1_000)]
    pairs: u32,
    /// Final learning rate: the change of a parameter by one result, in squares of its STEP.
    #[arg(long, default_value_t = 0.01)]
    rate: f64,
}

pub(crate) fn run(command: &Command) -> ExitCode {
    let done = match command {
        Command::List(list) => {
            for parameter in bot(list.game, Tier::MAX, 0).parameters() {
                println!(
                    "{:28} {:>8} ({} to {})",
                    parameter.name, parameter.value, parameter.low, parameter.high
                );
            }
            Ok(())
        }
        Command::Test(asked) => test(asked),
        Command::Spsa(asked) => spsa(asked),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Sets parameters of a bot, each as `NAME=VALUE`.
pub(crate) fn set(bot: &mut dyn Bot, changes: &[String]) -> Result<(), String> {
    for change in changes {
        let (name, value) = read(change)?;
        bot.set_parameter(name, value).map_err(|why| why.to_string())?;
    }
    Ok(())
}

fn read(change: &str) -> Result<(&str, f64), String> {
    let (name, value) = change.split_once('=').ok_or_else(|| format!("{change}: NAME=VALUE is needed"))?;
    let value: f64 = value.parse().map_err(|_| format!("{change}: {value} is no number"))?;
    Ok((name, value))
}

/// The configuration of one side.
struct Player<'a> {
    parameters: Vec<(&'a str, f64)>,
    threads: usize,
    /// Factor of its time per move.
    time: f64,
}

impl<'a> Player<'a> {
    fn with_parameters(parameters: Vec<(&'a str, f64)>) -> Self {
        Self { parameters, threads: 1, time: 1.0 }
    }

    fn read(games: &Games, changes: &'a [String]) -> Result<Self, String> {
        let mut player = Self::with_parameters(Vec::new());
        for change in changes {
            match read(change)? {
                ("threads", threads @ 1.0..=64.0) if threads.fract() == 0.0 => {
                    player.threads = threads as usize;
                }
                ("time", _) if games.ms.is_none() => return Err(format!("{change}: needs --ms")),
                ("time", time @ 0.01..=100.0) => player.time = time,
                ("threads" | "time", value) => return Err(format!("{change}: {value} is out of range")),
                parameter => player.parameters.push(parameter),
            }
        }
        player.bot(games.game, 0).map_err(|why| why.to_string())?;
        Ok(player)
    }

    fn bot(&self, kind: GameKind, seed: u64) -> Result<Box<dyn Bot>, ParameterError> {
        let mut bot = bot(kind, Tier::MAX, seed);
        for &(name, value) in &self.parameters {
            bot.set_parameter(name, value)?;
        }
        bot.set_threads(self.threads);
        Ok(bot)
    }
}

impl Games {
    fn setup(&self) -> Result<Setup, String> {
        if self.game == GameKind::Go {
            let size = (GoSetup::SIZES.contains(&self.size))
                .then_some(self.size)
                .ok_or_else(|| format!("no board has {} points on a side", self.size))?;
            return Ok(Setup::Go(GoSetup { size, ..GoSetup::default() }));
        }
        if self.game != GameKind::Gomoku {
            return Ok(self.game.default_setup());
        }
        Ok(Setup::Gomoku(GomokuSetup { rule: self.rule, ..GomokuSetup::default() }))
    }

    /// Plays the pair of games with this number: the same opening with each side moving first. Returns A's points, of 2.
    fn pair(&self, setup: &Setup, n: u32, sides: [&Player<'_>; 2]) -> f64 {
        let mut rng = Rng::new(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(n));
        let opening: Vec<Action> = opening(setup, &mut rng);
        let mut points = 0.0;
        for a_plays in Side::BOTH {
            let players = Side::BOTH.map(|side| sides[usize::from(side != a_plays)]);
            let mut bots = players.map(|player| {
                player.bot(setup.kind(), rng.next_u64()).expect("its parameters were set before")
            });
            let times =
                self.ms.map(|ms| players.map(|player| Duration::from_millis(ms).mul_f64(player.time)));
            let nodes = self.ms.is_none().then_some(self.nodes);
            let winner = matches::play(&mut bots, setup, &opening, times, nodes).winner;
            points += match winner {
                None => 0.5,
                Some(side) if side == a_plays => 1.0,
                Some(_) => 0.0,
            };
        }
        points
    }

    /// Calls `each` with successive numbers on the configured number of threads, until it returns false or `most` is
    /// reached.
    fn side_by_side(&self, most: u32, each: &(dyn Fn(u32) -> bool + Sync)) {
        let next = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= most || !each(n) {
                            next.store(most, Ordering::Relaxed);
                            break;
                        }
                    }
                });
            }
        });
    }
}

/// Bound of the log-likelihood ratio for error probabilities of 5 % (alpha and beta).
const SURE: f64 = 2.944;

/// Log-likelihood ratio of the results of pairs (of 2 points each) for `elo1` against `elo0`, in the normal approximation.
fn log_likelihood_ratio(pairs: &[f64], elo0: f64, elo1: f64) -> f64 {
    let n = pairs.len() as f64;
    // With three prior pairs (lost, drawn, won), so that the variance is never 0.
    let all = || pairs.iter().copied().chain([0.0, 1.0, 2.0]).map(|points| points / 2.0);
    let mean = all().sum::<f64>() / (n + 3.0);
    let spread = all().map(|points| (points - mean).powi(2)).sum::<f64>() / (n + 3.0);
    let (low, high) = (share_of(elo0), share_of(elo1));
    let mean = pairs.iter().sum::<f64>() / 2.0 / n.max(1.0);
    n * (high - low) * (2.0 * mean - low - high) / (2.0 * spread)
}

fn test(asked: &Test) -> Result<(), String> {
    let games = &asked.games;
    let setup = games.setup()?;
    let (a, b) = (Player::read(games, &asked.a)?, Player::read(games, &asked.b)?);
    let begun = Instant::now();
    let pairs = Mutex::new(Vec::new());
    games.side_by_side(asked.most.div_ceil(2), &|n| {
        let points = games.pair(&setup, n, [&a, &b]);
        let mut pairs = pairs.lock().expect("no thread panics while it holds them");
        pairs.push(points);
        let ratio = log_likelihood_ratio(&pairs, asked.elo0, asked.elo1);
        if pairs.len().is_multiple_of(10) {
            let (share, _) = shares(&pairs);
            eprint!("\r{} games: {:.1} %, log-likelihood ratio {ratio:+.2} ", 2 * pairs.len(), 100.0 * share);
        }
        ratio.abs() < SURE
    });
    let pairs = pairs.into_inner().expect("no thread panics while it holds them");
    let ratio = log_likelihood_ratio(&pairs, asked.elo0, asked.elo1);
    let (share, error) = shares(&pairs);
    let verdict = match ratio {
        r if r >= SURE => "better",
        r if r <= -SURE => "no better",
        _ => "not decided",
    };
    eprintln!();
    println!(
        "{verdict}: {} games, {:.1} %, Elo {:+.0} ({:+.0} to {:+.0}), {:.0} s",
        2 * pairs.len(),
        100.0 * share,
        elo(share),
        elo(share - error),
        elo(share + error),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

fn shares(pairs: &[f64]) -> (f64, f64) {
    let halves: Vec<f64> = pairs.iter().map(|points| points / 2.0).collect();
    share(&halves)
}

/// The state of a parameter in SPSA.
struct SpsaParameter {
    parameter: Parameter,
    step: f64,
    at: f64,
}

impl SpsaParameter {
    /// The value to play: within the range, and rounded randomly for integer parameters, so that the mean is exact.
    fn played(&self, value: f64, rng: &mut Rng) -> f64 {
        let value = value.clamp(self.parameter.low, self.parameter.high);
        if !self.parameter.whole {
            return value;
        }
        let chance = f64::from(rng.below(1 << 16)) / f64::from(1 << 16);
        (value + chance).floor().min(self.parameter.high)
    }
}

/// SPSA's decay exponents alpha of the gain and (below) gamma of the perturbation, as Spall recommends.
const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;

fn spsa(asked: &Spsa) -> Result<(), String> {
    let games = &asked.games;
    let setup = games.setup()?;
    let known = bot(games.game, Tier::MAX, 0).parameters();
    let mut tuned = Vec::new();
    for wanted in &asked.parameters {
        let (rest, step) = wanted.split_once('=').map_or((wanted.as_str(), None), |(n, s)| (n, Some(s)));
        let (name, at) = rest.split_once('@').map_or((rest, None), |(n, v)| (n, Some(v)));
        let parameter = known
            .iter()
            .find(|parameter| parameter.name == name)
            .ok_or_else(|| format!("there is no parameter {name}"))?;
        let read = |text: &str| text.parse::<f64>().map_err(|_| format!("{wanted}: {text} is no number"));
        let at = at.map_or(Ok(parameter.value), read)?;
        let step =
            step.map_or_else(|| Ok((at.abs() / 10.0).max(if parameter.whole { 1.0 } else { 0.05 })), read)?;
        tuned.push(SpsaParameter { parameter: parameter.clone(), step, at });
    }
    if tuned.is_empty() {
        return Err("name the parameters to tune; `tune list` shows them".into());
    }
    let tuned = Mutex::new(tuned);
    let total = f64::from(asked.pairs);
    let settling = total / 10.0;
    let won = Mutex::new((0.0, 0_u32));
    games.side_by_side(asked.pairs, &|n| {
        let k = f64::from(n) + 1.0;
        let mut rng = Rng::new(games.seed ^ u64::from(n) << 32);
        let spread = (total / k).powf(GAMMA);
        let pace = asked.rate * ((settling + total) / (settling + k)).powf(ALPHA);
        let (flips, plus, minus) = {
            let tuned = tuned.lock().expect("no thread panics while it holds them");
            let flips: Vec<f64> = tuned.iter().map(|_| f64::from(rng.below(2)) * 2.0 - 1.0).collect();
            let side = |sign: f64, rng: &mut Rng| -> Player<'static> {
                let each = tuned.iter().zip(&flips);
                let parameters = each
                    .map(|(c, flip)| (c.parameter.name, c.played(c.at + sign * flip * c.step * spread, rng)));
                Player::with_parameters(parameters.collect())
            };
            let plus = side(1.0, &mut rng);
            let minus = side(-1.0, &mut rng);
            (flips, plus, minus)
        };
        // The margin: -2 to 2.
        let result = 2.0 * (games.pair(&setup, n, [&plus, &minus]) - 1.0);
        let mut tuned = tuned.lock().expect("no thread panics while it holds them");
        for (one, flip) in tuned.iter_mut().zip(flips) {
            let by = pace * one.step * result * flip / spread;
            one.at = (one.at + by).clamp(one.parameter.low, one.parameter.high);
        }
        let mut won = won.lock().expect("no thread panics while it holds them");
        won.0 += result.abs();
        won.1 += 1;
        if won.1.is_multiple_of(50) {
            let now: Vec<String> =
                tuned.iter().map(|one| format!("{}={:.2}", one.parameter.name, one.at)).collect();
            println!("{} pairs, {:.2} decided: {}", won.1, won.0 / 2.0 / f64::from(won.1), now.join(" "));
        }
        true
    });
    for one in tuned.into_inner().expect("no thread panics while it holds them") {
        println!("{:28} {:>8} -> {:.2}", one.parameter.name, one.parameter.value, one.at);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_result_is_soon_sure_and_an_even_one_says_no_better() {
        assert!(log_likelihood_ratio(&[2.0; 40], 0.0, 10.0) > 1.0);
        let even: Vec<f64> = (0..2_000).map(|n| f64::from(n % 3)).collect();
        assert!(log_likelihood_ratio(&even, 0.0, 10.0) < 0.0);
        let ahead: Vec<f64> = (0..4_000).map(|n| if n % 10 == 0 { 2.0 } else { f64::from(n % 3) }).collect();
        assert!(log_likelihood_ratio(&ahead, 0.0, 10.0) > SURE);
        assert!((share_of(elo(0.64)) - 0.64).abs() < 1e-9);
    }
}
