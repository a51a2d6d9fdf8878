//! The Bluetooth lab: two virtual handhelds meet over an emulated radio and play.
//!
//! `run` works on the machine that has the repository: it starts BlueZ's controller emulator, the [`air`] (the
//! simulated radio) between the controllers, and two QEMU guests with Debian's own kernel and bluetoothd, lets them
//! play, and writes `report.json`. Every other command runs inside a guest: `agent` obeys `run`, the rest are
//! measuring programs that the agent starts as an ordinary user. `tests/ble-lab/run` builds everything; people call
//! that script.
//!
//! No time is judged here: times are reported; assertions are about counts, order and content.

mod agent;
mod air;
mod bare;
mod board;
mod cell;
mod emulator;
mod faults;
mod field;
mod game;
mod guest;
mod h4;
mod lab;
mod meter;
mod orders;
mod player;
mod report;
mod room;
mod short;
mod strangers;
mod stream;
mod watch;
mod watchers;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[derive(Parser)]
#[command(args_override_self = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the lab's scenarios and write the report.
    Run(Box<lab::Options>),
    /// In a guest, as root: connect the controller and execute the commands of `run`.
    Agent,
    /// In a guest: serve the bare GATT service that is the baseline of the measurements.
    BareServe(bare::Serving),
    /// In the other guest: measure echoes and writes against the bare service at full speed.
    BareDrive(bare::Load),
    /// In the other guest: measure occasional echoes beside a match.
    BarePace(bare::Pace),
    /// In a guest: serve the far end of our byte stream.
    StreamServe,
    /// In the other guest: measure echoes and a long message over our byte stream.
    StreamDrive(stream::Load),
    /// In a guest: print the events that the host there sends to its clients.
    Watch,
    /// In a guest: watch a match there in many browsers at once.
    Watchers(watchers::Watching),
    /// In a guest: have the host there import a gomoku record of a whole board, and print the match's id.
    ImportBoard,
    /// In the other guest: keep a link to the bare service, and print when it comes up and goes down.
    BareHold,
}

fn main() -> ExitCode {
    match perform(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ble-lab: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(command: Command) -> Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match command {
        Command::Run(options) => runtime.block_on(lab::run(*options)),
        Command::Agent => agent::run(),
        Command::BareServe(how) => runtime.block_on(bare::serve(how)),
        Command::BarePace(load) => runtime.block_on(bare::pace(load)),
        Command::BareDrive(load) => runtime.block_on(bare::drive(load)),
        Command::StreamServe => runtime.block_on(stream::serve()),
        Command::StreamDrive(load) => runtime.block_on(stream::drive(load)),
        Command::ImportBoard => runtime.block_on(board::import()),
        Command::Watchers(asked) => runtime.block_on(watchers::run(asked)),
        Command::Watch => runtime.block_on(watch::run()),
        Command::BareHold => runtime.block_on(bare::hold()),
    }
}
