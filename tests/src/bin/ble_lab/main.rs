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
mod faults;
mod game;
mod guest;
mod h4;
mod lab;
mod meter;
mod orders;
mod player;
mod report;
mod strangers;
mod stream;
mod watch;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays the lab's scenarios and writes the report.
    Run(lab::Options),
    /// In a guest, as root: the controller's cable and the hands of `run`.
    Agent,
    /// In a guest: the bare GATT service that the game's figures are held against.
    BareServe(bare::Serving),
    /// In the other guest: echoes and writes against that service, as fast as they go.
    BareDrive(bare::Load),
    /// In the other guest: echoes now and then, beside a match.
    BarePace(bare::Pace),
    /// In a guest: the far end of our own byte stream.
    StreamServe,
    /// In the other guest: echoes and a long message over that stream.
    StreamDrive(stream::Load),
    /// In a guest: prints what the host there tells its clients.
    Watch,
    /// In the other guest: keeps a link to that service and says when it comes and goes.
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
        Command::Run(options) => runtime.block_on(lab::run(options)),
        Command::Agent => agent::run(),
        Command::BareServe(how) => runtime.block_on(bare::serve(how)),
        Command::BarePace(load) => runtime.block_on(bare::pace(load)),
        Command::BareDrive(load) => runtime.block_on(bare::drive(load)),
        Command::StreamServe => runtime.block_on(stream::serve()),
        Command::StreamDrive(load) => runtime.block_on(stream::drive(load)),
        Command::Watch => runtime.block_on(watch::run()),
        Command::BareHold => runtime.block_on(bare::hold()),
    }
}
