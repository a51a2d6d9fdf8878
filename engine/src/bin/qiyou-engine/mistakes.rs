//! For how many mistakes of games a reason is known.
//!
//! Games take long to play and judge, reasons are found at once: `--keep` writes the mistakes with all that was searched for
//! them, `--read` looks for reasons again. A kept mistake is five lines, which
//! `tests/motifs` reads too:
//!
//! ```text
//! xiangqi rnbakabnr/… w          game and position
//!  35 h2e2 h9g7 …                score and line of the position
//!  a3a4                          the move
//!  -80 h9g7 …                    score and line after it
//!  # 0.130 0.120                 loss of winning chance; by the second search, or -
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use engine::reasons::{Mistake, Motif, complete, reason};
use engine::{Action, AnyGame, GameKind, GomokuRule, Report, Rng, Score, Setup, Side, Tier, bot};

use crate::levels::{Player, kind};
use crate::matches::{ask, judge, replay};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which game: its word, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Who plays both sides, as for `levels`.
    #[arg(long, default_value = "4")]
    player: Player,
    /// Games in all.
    #[arg(long, default_value_t = 20)]
    games: u32,
    /// Positions that the judge looks at for each position of a game.
    #[arg(long, default_value_t = 20_000)]
    nodes: u64,
    /// Go: points on a side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(2..=25))]
    size: u8,
    /// Ask a second search, which looks at so many positions: it agrees with a reason if the move is at least half a mistake by
    /// it.
    #[arg(long)]
    again: Option<u64>,
    /// The rules, by the word of a preset, such as `renju`.
    #[arg(long)]
    preset: Option<String>,
    /// Print each mistake with its reason.
    #[arg(long)]
    print: bool,
    /// Seed of the games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the mistakes to this file.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Play no games: read mistakes that were kept.
    #[arg(long, conflicts_with = "keep")]
    read: Option<PathBuf>,
}

/// A line is completed by searches of this part of the judge's nodes.
const FURTHER: u64 = 4;

/// Gomoku by the rules of renju, as a preset and as a game of kept mistakes.
const RENJU: &str = "renju";

/// Loss of winning chance that makes a mistake.
const LOSS: f64 = 0.1;

pub(crate) fn run(arguments: &Arguments) {
    let mut count = Count { print: arguments.print, ..Count::default() };
    if let Some(path) = &arguments.read {
        let text = std::fs::read_to_string(path).expect("the file of mistakes can be read");
        let lines: Vec<&str> = text.lines().collect();
        for lines in lines.chunks(5) {
            let kept = Kept::read(lines).expect("a kept mistake");
            if kept.before.kind() == arguments.game {
                count.add(&kept);
            }
        }
    } else {
        play(arguments, &mut count);
    }
    let Count { mistakes, explained, agreed, .. } = count;
    print!("{}: {mistakes} mistakes", arguments.game.word());
    if arguments.read.is_none() {
        print!(" in {} games", arguments.games);
    }
    println!(", reasons for {explained}");
    if count.asked > 0 {
        println!("a second search agrees with {agreed} of {explained}");
    }
    for (motif, count) in count.motifs {
        println!("{count:5} {motif:?}");
    }
}

/// Plays the games, and counts and keeps their mistakes.
fn play(arguments: &Arguments, count: &mut Count) {
    let usual = || arguments.game.default_setup();
    let preset = |word: &String| arguments.game.preset(word).expect("a preset of this game");
    let setup = match arguments.preset.as_ref().map_or_else(usual, preset) {
        Setup::Go(setup) => Setup::Go(engine::go::GoSetup { size: arguments.size, ..setup }),
        other => other,
    };
    let mut rng = Rng::new(arguments.seed);
    let mut kept = String::new();
    for _ in 0..arguments.games {
        let seeds = Side::BOTH.map(|_| rng.next_u64());
        let mut players = seeds.map(|seed| arguments.player.bot(arguments.game, seed));
        let mut judging = bot(arguments.game, Tier::MAX, 1);
        let mut game = replay(&setup, &[]);
        let mut last: Option<(AnyGame, Action, Report)> = None;
        while game.outcome().is_none() && game.ply() < 400 {
            let report = judge(judging.as_mut(), &game, arguments.nodes);
            if let (Some((before, played, better)), Some(reply)) = (&last, &report)
                && before.turn() != game.turn()
                && loss(better, reply) >= LOSS
            {
                let lost = loss(better, reply);
                let (mut better, mut reply) = (better.clone(), reply.clone());
                let mut further = |game: &AnyGame| judge(judging.as_mut(), game, arguments.nodes / FURTHER);
                complete(before, &mut better, &mut further);
                complete(&game, &mut reply, &mut further);
                let again = arguments.again.and_then(|nodes| {
                    let mut second = bot(arguments.game, Tier::MAX, 2);
                    let better = judge(second.as_mut(), before, nodes)?;
                    Some(loss(&better, &judge(second.as_mut(), &game, nodes)?))
                });
                let mistake =
                    Kept { before: before.clone(), played: *played, better, reply, loss: lost, again };
                kept.push_str(&mistake.write());
                count.add(&mistake);
            }
            let action = ask(players[game.turn().index()].as_mut(), &game, None, Some(arguments.nodes)).0;
            last = report.map(|report| (game.clone(), action, report));
            game.act(action).expect("a bot's choice is legal");
        }
        if let Some(path) = &arguments.keep {
            std::fs::write(path, &kept).expect("the file of mistakes can be written");
        }
    }
}

/// What is counted over all mistakes.
#[derive(Default)]
struct Count {
    print: bool,
    mistakes: u32,
    explained: u32,
    /// Of the explained ones: shown to the second search, and found to be mistakes by it.
    asked: u32,
    agreed: u32,
    motifs: BTreeMap<Motif, u32>,
}

impl Count {
    fn add(&mut self, kept: &Kept) {
        let Kept { before, played, better, reply, .. } = kept;
        let found = reason(&Mistake { before, played: *played, better, reply });
        self.mistakes += 1;
        if let Some(reason) = &found {
            self.explained += 1;
            *self.motifs.entry(reason.motif).or_default() += 1;
            self.asked += u32::from(kept.again.is_some());
            self.agreed += u32::from(kept.again.is_some_and(|loss| loss >= LOSS / 2.0));
        }
        if self.print {
            let mut after = before.clone();
            after.act(*played).expect("a kept move is legal");
            let said =
                found.map_or_else(|| "-".into(), |found| format!("{:?}: {}", found.motif, found.words[1]));
            println!("{} | {} | {said}", before.position(), before.notation(*played));
            for (what, from, report) in [("better", before, better), ("reply", &after, reply)] {
                println!("    {what}: {}", report.text(from));
            }
        }
    }
}

/// A mistake with all that was searched for it.
struct Kept {
    before: AnyGame,
    played: Action,
    better: Report,
    reply: Report,
    loss: f64,
    /// The loss by the second search.
    again: Option<f64>,
}

impl Kept {
    fn write(&self) -> String {
        let mut after = self.before.clone();
        after.act(self.played).expect("a kept move is legal");
        let renju = matches!(self.before.setup(), Setup::Gomoku(setup) if setup.rule == GomokuRule::Renju);
        let word = if renju { RENJU } else { self.before.kind().word() };
        let mut text = format!("{word} {}\n", self.before.position());
        let _ = writeln!(text, " {}", self.better.text(&self.before));
        let _ = writeln!(text, " {}", self.before.notation(self.played));
        let _ = writeln!(text, " {}", self.reply.text(&after));
        let again = self.again.map_or_else(|| "-".into(), |again| format!("{again:.3}"));
        let _ = writeln!(text, " # {:.3} {again}", self.loss);
        text
    }

    fn read(lines: &[&str]) -> Option<Self> {
        let &[position, better, played, reply, losses] = lines else { return None };
        let (word, position) = position.split_once(' ')?;
        let setup = if word == RENJU {
            GameKind::Gomoku.preset(RENJU).ok()?
        } else {
            GameKind::from_word(word)?.default_setup_for(position)
        };
        let before = AnyGame::from_position(&setup, position).ok()?;
        let played = before.parse(played.trim())?;
        let mut after = before.clone();
        after.act(played).ok()?;
        let mut losses = losses.trim_start_matches(" # ").split(' ');
        let loss = losses.next()?.parse().ok()?;
        let again = losses.next().and_then(|again| again.parse().ok());
        let (better, reply) = (Report::from_text(&before, better)?, Report::from_text(&after, reply)?);
        Some(Self { before, played, better, reply, loss, again })
    }
}

/// What a move lost: the chance before it, and after it for the other side.
fn loss(better: &Report, reply: &Report) -> f64 {
    chance(better.score) - (1.0 - chance(reply.score))
}

/// Winning chance of the side to move. A lead counts by a logistic curve, as in the app.
fn chance(score: Score) -> f64 {
    match score {
        Score::WinIn(_) => 1.0,
        Score::LossIn(_) => 0.0,
        Score::Chance { permille, .. } => f64::from(permille) / 1000.0,
        Score::Points(points) => 1.0 / (1.0 + (-f64::from(points) / 400.0).exp()),
    }
}
