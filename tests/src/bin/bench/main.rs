//! Benchmarks across crates; `make bench` runs them beside those of the AI and the app. Figures are compared within one run
//! only: each part alternates with its own baseline.

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
    /// Compare the frame codec with LengthDelimitedCodec.
    Codec,
}

fn main() {
    match Arguments::parse().part {
        Part::Codec => codec::run(),
    }
}
