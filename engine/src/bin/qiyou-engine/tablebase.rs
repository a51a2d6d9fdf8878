//! Computes and queries Liuzhou chess's endgame tables.

use std::fs::File;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use engine::liuzhou::tablebase::{Tablebase, TablebaseResult};
use engine::liuzhou::{Liuzhou, LiuzhouSetup};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the tables, such as the one in qiyoud's data directory.
    #[arg(long)]
    folder: PathBuf,
    /// Number of stones at which a side has lost: 3 (default rules, table of four against four) or 2 (table of three against
    /// three).
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=3))]
    loses_at: u8,
    /// Read positions from standard input, one per line, and print what the table knows of each.
    #[arg(long)]
    ask: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let setup = LiuzhouSetup { loses_at: arguments.loses_at, ..LiuzhouSetup::default() };
    let done = table(&setup, &arguments.folder)
        .and_then(|table| if arguments.ask { answer(&setup, &table) } else { Ok(()) });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", arguments.folder.display());
            ExitCode::FAILURE
        }
    }
}

/// Opens the table in the folder, after computing it if necessary.
fn table(setup: &LiuzhouSetup, folder: &Path) -> std::io::Result<Tablebase> {
    let path = folder.join(Tablebase::file_name(setup).unwrap_or_default());
    match File::open(&path) {
        Ok(file) => return Tablebase::open(setup, file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut told = (u8::MAX, 0);
    Tablebase::put_into(setup, folder, &AtomicBool::new(false), &mut |plies, part| {
        if told != (plies, part) {
            told = (plies, part);
            eprint!("\r{plies} plies done, of the next one {:.1} %  ", f64::from(part) / 10.0);
        }
    })?;
    eprintln!();
    Tablebase::open(setup, File::open(&path)?)
}

fn answer(setup: &LiuzhouSetup, table: &Tablebase) -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match Liuzhou::from_position(setup, &line).map(|game| table.probe(&game)) {
            Ok(Some(TablebaseResult::Won(plies))) => println!("won {plies}"),
            Ok(Some(TablebaseResult::Lost(plies))) => println!("lost {plies}"),
            Ok(Some(TablebaseResult::Drawn)) => println!("drawn"),
            Ok(None) => println!("not in the table"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}
