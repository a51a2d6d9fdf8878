//! Training games of Go's network. The network runs in `engine/training/go/train.py`.
//!
//! Repeatedly writes: the number of bytes of finished positions, the number of these positions (both 32 bits,
//! little-endian), those bytes, and the positions to evaluate ([`NetGames::ask`]). Reads the evaluations: 32-bit floats for
//! each game.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use engine::go::{NetGames, NetGamesSetup};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Board size, in points on a side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(5..=19))]
    size: u8,
    /// Number of games played in parallel.
    #[arg(long, default_value_t = 256)]
    games: usize,
    /// Positions to evaluate per move.
    #[arg(long, default_value_t = 32)]
    looks: u32,
    /// Number of moves considered at the root by Gumbel sampling, before sequential halving.
    #[arg(long, default_value_t = 16)]
    candidates: usize,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Arguments { size, games, looks, candidates, seed } = *arguments;
    let setup = NetGamesSetup { size, games: games.max(1), looks, candidates: candidates.max(2), seed };
    let done = match size {
        ..=9 => serve::<128, 2>(setup),
        10..=13 => serve::<256, 4>(setup),
        _ => serve::<448, 7>(setup),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("go-net-games: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs until the other program closes its end.
fn serve<const N: usize, const W: usize>(setup: NetGamesSetup) -> std::io::Result<()> {
    let mut play = NetGames::<N, W>::new(setup);
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let each = usize::from(setup.size) * usize::from(setup.size) + 2;
    let mut bytes = vec![0; setup.games * each * 4];
    let mut frame = Vec::new();
    loop {
        let (count, finished) = play.take_finished();
        frame.clear();
        frame.extend((finished.len() as u32).to_le_bytes());
        frame.extend(count.to_le_bytes());
        frame.extend(finished);
        play.ask(&mut frame);
        output.write_all(&frame)?;
        output.flush()?;
        match input.read_exact(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            done => done?,
        }
        let (words, _) = bytes.as_chunks::<4>();
        let numbers: Vec<f32> = words.iter().map(|&word| f32::from_le_bytes(word)).collect();
        play.answer(&numbers);
    }
}
