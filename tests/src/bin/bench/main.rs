//! Speed of what several crates make together; `make bench` runs it beside the AI's and the app's own. Figures are compared
//! within one run only: each part measures itself against something, in turns.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod codec;

#[derive(Parser)]
#[command(about = "Speed of what several crates make together")]
struct Arguments {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// The frame codec against LengthDelimitedCodec; fails if ours is slower at 64-byte payloads.
    Codec,
}

fn main() -> ExitCode {
    match Arguments::parse().part {
        Part::Codec => codec::run(),
    }
}
