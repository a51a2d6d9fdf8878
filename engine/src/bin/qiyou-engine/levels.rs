//! Matches between two players of a game (levels, tiers, proxies of persons): balanced openings drawn by seed, each played twice with
//! colours exchanged.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::go::GoSetup;
use engine::novice::{Novice, Sight};
use engine::{Action, Bot, GameKind, GomokuRule, GomokuSetup, Level, Rng, Setup, Side, Tier, bot, partner};

use crate::matches::{self, elo, opening, share};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Game to play, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// The one side: a level such as `3` or `4.5`, a tier of the engine such as `tier-4`, or a stand-in for a person who has just
    /// read the rules: `random`, `takes` or `blocks`; or `takes-300`, an opponent that overlooks what it could see in 300 of 1000
    /// moves.
    #[arg(long, default_value = "10")]
    a: Player,
    /// The other side.
    #[arg(long, default_value = "5")]
    b: Player,
    /// Games in all; an odd number is rounded up to whole pairs.
    #[arg(long, default_value_t = 40)]
    games: u32,
    /// Time per move, in milliseconds.
    #[arg(long, default_value_t = 500)]
    ms: u64,
    /// Search this many positions per move instead of using time, so that the result depends on the seed only.
    #[arg(long)]
    nodes: Option<u64>,
    /// Seed of the openings and of the deliberate mistakes of both sides.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go: board size, in points on a side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(2..=25))]
    size: u8,
    /// Gomoku: play the standard rule, by which only exactly five wins.
    #[arg(long)]
    standard: bool,
    /// Exit with an error if A scores less than this, in percent.
    #[arg(long)]
    at_least: Option<f64>,
    /// Exit with an error if A is stronger than B by more than this, in Elo.
    #[arg(long)]
    at_most_elo: Option<f64>,
    /// Print every game as a line of moves.
    #[arg(long)]
    print: bool,
}

/// Who plays.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Player {
    Level(Level),
    Tier(Tier),
    Proxy(Sight),
    Novice(Sight, u32),
}

impl std::str::FromStr for Player {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let wrong =
            || "a level from 1 to 10 in tenths, tier-1 to tier-10, random, takes or blocks".to_owned();
        match word {
            "random" => return Ok(Self::Proxy(Sight::Nothing)),
            "takes" => return Ok(Self::Proxy(Sight::Gains)),
            "blocks" => return Ok(Self::Proxy(Sight::Threats)),
            _ => {}
        }
        if let Some((sight, overlooks)) = word.split_once('-')
            && let (Ok(Self::Proxy(sight)), Ok(overlooks)) = (sight.parse(), overlooks.parse())
        {
            return Ok(Self::Novice(sight, overlooks));
        }
        if let Some(number) = word.strip_prefix("tier-") {
            let tier = number.parse().ok().and_then(Tier::new);
            return tier.map(Self::Tier).ok_or_else(wrong);
        }
        word.parse().map(Self::Level).map_err(|_| wrong())
    }
}

impl std::fmt::Display for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Level(level) => write!(f, "level {level}"),
            Self::Tier(tier) => write!(f, "tier {}", tier.number()),
            Self::Proxy(sight) => write!(f, "a person who sees {sight:?}"),
            Self::Novice(sight, overlooks) => write!(f, "a novice who sees {sight:?} but for {overlooks}"),
        }
    }
}

impl Player {
    /// The bot that plays so.
    pub(crate) fn bot(self, kind: GameKind, seed: u64) -> Box<dyn Bot> {
        /// Memory for tables of positions: what the app gives.
        const BYTES: usize = 12 << 20;
        match self {
            Self::Level(level) => partner(kind, level, seed, BYTES),
            Self::Tier(tier) => bot(kind, tier, seed),
            Self::Proxy(sight) => Box::new(Novice::proxy(kind, sight, seed)),
            Self::Novice(sight, overlooks) => Box::new(Novice::opponent(kind, sight, overlooks, seed)),
        }
    }
}

/// A game that this can play matches of.
pub(crate) fn kind(word: &str) -> Result<GameKind, String> {
    GameKind::from_word(word)
        .filter(|&kind| kind != GameKind::LightsOut)
        .ok_or_else(|| "a game for two: gomoku, xiangqi, liuzhou or go".into())
}

/// Parses a rule of gomoku.
pub(crate) fn rule(word: &str) -> Result<GomokuRule, String> {
    let found = GomokuRule::ALL.into_iter().find(|rule| rule.word() == word);
    found.ok_or_else(|| "freestyle, standard or renju".into())
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let (a, b) = (arguments.a, arguments.b);
    let setup = if arguments.standard && arguments.game == GameKind::Gomoku {
        Setup::Gomoku(GomokuSetup { rule: GomokuRule::Standard, ..GomokuSetup::default() })
    } else if arguments.game == GameKind::Go {
        Setup::Go(GoSetup { size: arguments.size, ..GoSetup::default() })
    } else {
        arguments.game.default_setup()
    };
    let mut rng = Rng::new(arguments.seed);
    let mut pairs = Vec::new();
    let mut tally = [0_u32; 3];
    let begin = Instant::now();
    for pair in 0..arguments.games.div_ceil(2) {
        let opening = opening(&setup, &mut rng);
        let mut points = 0.0;
        for a_plays in Side::BOTH {
            let seed = rng.next_u64();
            let winner = play(arguments, [a, b], a_plays, &setup, &opening, seed);
            let result = match winner {
                Some(side) if side == a_plays => 0,
                None => 1,
                Some(_) => 2,
            };
            tally[result] += 1;
            points += [1.0, 0.5, 0.0][result];
        }
        pairs.push(points / 2.0);
        if arguments.print {
            continue;
        }
        eprint!(
            "\r{} of {} pairs: +{} ={} -{}",
            pair + 1,
            arguments.games.div_ceil(2),
            tally[0],
            tally[1],
            tally[2]
        );
    }
    if !arguments.print {
        eprintln!();
    }
    let (share, error) = share(&pairs);
    let [won, drawn, lost] = tally;
    let low = elo(share - error);
    let high = elo(share + error);
    let size =
        if arguments.game == GameKind::Go { format!(" {0}x{0}", arguments.size) } else { String::new() };
    println!(
        "{}{size}, {} against {}: +{won} ={drawn} -{lost}, {:.1} %, Elo {:+.0} ± {:.0} ({low:+.0} to {high:+.0}), {:.0} s",
        arguments.game.word(),
        a,
        b,
        share * 100.0,
        elo(share),
        (high - low) / 2.0,
        begin.elapsed().as_secs_f64()
    );
    let mut asked = Vec::new();
    asked.extend(arguments.at_least.map(|bar| (share * 100.0 >= bar, format!("at least {bar} %"))));
    asked.extend(arguments.at_most_elo.map(|bar| (elo(share) <= bar, format!("at most {bar} Elo"))));
    if asked.is_empty() {
        return ExitCode::SUCCESS;
    }
    let said: Vec<&str> = asked.iter().map(|(_, said)| said.as_str()).collect();
    matches::verdict(asked.iter().all(|(held, _)| *held), &said.join(", "))
}

fn play(
    arguments: &Arguments,
    [a, b]: [Player; 2],
    a_plays: Side,
    setup: &Setup,
    opening: &[Action],
    seed: u64,
) -> Option<Side> {
    let (first, second) = if a_plays == Side::First { (a, b) } else { (b, a) };
    let kind = setup.kind();
    let mut bots = [first.bot(kind, seed), second.bot(kind, seed ^ 1)];
    let time = arguments.nodes.is_none().then(|| [Duration::from_millis(arguments.ms); 2]);
    let played = matches::play(&mut bots, setup, opening, time, arguments.nodes);
    if arguments.print {
        let result = match played.winner {
            Some(Side::First) => "first",
            Some(Side::Second) => "second",
            None => "draw",
        };
        println!("{result} {} {}", opening.len(), played.record.join(" "));
    }
    played.winner
}
