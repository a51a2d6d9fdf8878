//! Trains a game's network on games that `self-play` has written.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::levels::rule;
use engine::gomoku::{GomokuMove, net as gomoku};
use engine::xiangqi::{Xiangqi, XiangqiSetup, net as xiangqi};
use engine::{Game, GameKind, Gomoku, GomokuRule, GomokuSetup, Score, Side};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of games that `self-play` has written.
    games: Vec<PathBuf>,
    /// Game of the network, gomoku or xiangqi.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// File to write the network to.
    #[arg(long)]
    out: PathBuf,
    /// Gomoku: rule of the games, freestyle, standard or renju.
    #[arg(long, default_value = "freestyle", value_parser = rule)]
    rule: GomokuRule,
    /// Number of epochs (passes over all positions).
    #[arg(long, default_value_t = 8)]
    rounds: u32,
    /// Initial learning rate.
    #[arg(long, default_value_t = 0.002)]
    rate: f32,
    /// Weight of the game's result in the training target, 0 to 1; the rest is the score of the search.
    #[arg(long, default_value_t = 0.0)]
    result: f32,
    /// Weight decay coefficient (decoupled from the gradient, as in AdamW).
    #[arg(long, default_value_t = 0.5)]
    fade: f32,
    /// Seed of the initial weights and of the order of positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match train(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Parses a game that has a network.
fn kind(word: &str) -> Result<GameKind, String> {
    GameKind::from_word(word)
        .filter(|kind| matches!(kind, GameKind::Gomoku | GameKind::Xiangqi))
        .ok_or_else(|| "gomoku or xiangqi".into())
}

fn train(arguments: &Arguments) -> Result<(), String> {
    let Arguments { rounds, rate, result, fade, seed, .. } = *arguments;
    let config = gomoku::TrainingConfig {
        epochs: rounds,
        learning_rate: rate,
        result_weight: result,
        weight_decay: fade,
        seed,
    };
    let tell = &mut |line: String| eprintln!("{line}");
    let bytes = if arguments.game == GameKind::Xiangqi {
        let start = Xiangqi::new(&XiangqiSetup::default()).expect("the default setup is valid");
        let record = |(moves, scores, winner)| xiangqi::Record { moves, scores, winner };
        let records: Vec<_> = read_all(&arguments.games, &start)?.into_iter().map(record).collect();
        xiangqi::train(&records, config, tell)
    } else {
        let setup = GomokuSetup { rule: arguments.rule, ..GomokuSetup::default() };
        let start = Gomoku::new(&setup).expect("the setup is valid");
        let record = |(moves, scores, winner): Read<Gomoku>| {
            let moves = moves.into_iter().map(GomokuMove::placement).collect::<Option<_>>()?;
            Some(gomoku::Record { moves, scores, winner })
        };
        let records: Vec<_> = read_all(&arguments.games, &start)?.into_iter().filter_map(record).collect();
        gomoku::train(&start, &records, config, tell)
    };
    std::fs::write(&arguments.out, bytes).map_err(|error| format!("{}: {error}", arguments.out.display()))
}

/// Moves, score before each, winner.
type Read<G> = (Vec<<G as Game>::Move>, Vec<Option<Score>>, Option<Side>);

fn read_all<G: Game>(paths: &[PathBuf], start: &G) -> Result<Vec<Read<G>>, String> {
    let mut records = Vec::new();
    for path in paths {
        let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|error| format!("{}: {error}", path.display()))?;
            // The last line of an unfinished file may be incomplete.
            records.extend(read(start, &line));
        }
    }
    Ok(records)
}

/// Parses a line of `self-play`; `None` if it is malformed or a move is illegal.
fn read<G: Game>(start: &G, line: &str) -> Option<Read<G>> {
    let mut words = line.split(' ');
    let winner = match words.next()? {
        "first" => Some(Side::First),
        "second" => Some(Side::Second),
        "draw" => None,
        _ => return None,
    };
    words.next()?.parse::<usize>().ok()?;
    let mut game = start.clone();
    let (mut moves, mut scores) = (Vec::new(), Vec::new());
    for word in words {
        let (word, score) = word.split_once('/').map_or((word, None), |(word, score)| (word, Some(score)));
        let mv = game.legal_move(game.parse(word)?).ok()?;
        moves.push(mv);
        scores.push(match score {
            None => None,
            Some(text) => Some(parse_score(text)?),
        });
        game.play(mv);
    }
    Some((moves, scores, winner))
}

fn parse_score(text: &str) -> Option<Score> {
    if let Some(plies) = text.strip_prefix('W') {
        return Some(Score::WinIn(plies.parse().ok()?));
    }
    if let Some(plies) = text.strip_prefix('L') {
        return Some(Score::LossIn(plies.parse().ok()?));
    }
    Some(Score::Points(text.parse().ok()?))
}
