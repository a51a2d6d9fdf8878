//! `qiyou-engine`: the engine on standard input and output, for other programs to play against, and its measurements.

mod bench;
mod book;
mod endings;
mod fit;
mod go_foretell;
mod go_games;
mod go_net_games;
mod go_patterns;
mod gomocup;
mod gtp;
mod levels;
mod lights;
mod matches;
mod positions;
mod puzzles;
mod rules_bench;
mod self_play;
mod timer;
mod train;
mod tune;
mod ucci;
mod uci;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "qiyou-engine", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Speaks the Gomocup protocol (plastovicka.github.io/protocl2en.htm) on standard input and output.
    Gomocup(gomocup::Arguments),
    /// Speaks UCI for xiangqi (squares as Fairy-Stockfish's `UCI_Variant xiangqi`) on standard input and output.
    Uci(uci::Arguments),
    /// Speaks UCCI, the dialect of Chinese boards, on standard input and output.
    Ucci(uci::Arguments),
    /// Speaks the Go Text Protocol, version 2, on standard input and output.
    Gtp(gtp::Arguments),
    /// Positions a second, depth after a second, and the node-count signature, on fixed positions.
    Bench(bench::Arguments),
    /// Speed of the rules: boards of lights by size, random games of Go, perft of xiangqi.
    BenchRules(rules_bench::Arguments),
    /// Fits the evaluation to games that `levels --print` has written, and prints its constants.
    Fit(fit::Arguments),
    /// Games of the engine against itself with what it thought of every position, to learn from.
    SelfPlay(self_play::Arguments),
    /// Games of Go of the engine against itself with how often it tried which move, to learn from.
    GoGames(go_games::Arguments),
    /// Games of Go's network against itself, for the program that teaches it: asks on standard output, is answered on standard
    /// input.
    GoNetGames(go_net_games::Arguments),
    /// How well Go's playouts foretell the ends of games of `go-games`, by their numbers.
    GoForetell(go_foretell::Arguments),
    /// Learns Go's patterns from games of `go-games`.
    GoPatterns(go_patterns::Arguments),
    /// Learns gomoku's or xiangqi's network from games of `self-play`.
    Train(train::Arguments),
    /// Makes gomoku's books of openings.
    Book(book::Arguments),
    /// A match between two levels, with paired openings and both colours.
    Levels(levels::Arguments),
    /// Finds by self-play which values of a search's numbers play best.
    #[command(subcommand)]
    Tune(tune::Command),
    /// Counts the sequences of legal decisions from a position; the count is alone on the last line.
    Perft(positions::Perft),
    /// Lists the legal actions in a position, one a line.
    Legal(positions::Start),
    /// Plays a record and says how it ended, with the reason, on the last line.
    Replay(positions::OneFile),
    /// Prints what a file holds: what it says of the game, the moves, the board at the end, how it ended.
    Show(positions::OneFile),
    /// Writes a file of a game in another format, which the ending of its name says.
    Convert(positions::Convert),
    /// Makes puzzles from games of the bots, or proves those that are kept.
    Puzzles(puzzles::Arguments),
    /// Works out Liuzhou chess's table of endings, and answers from it.
    Endings(endings::Arguments),
    /// Finds the presses that put out a board of lights, read from standard input as rows of `.` and `#`.
    SolveLights(lights::Arguments),
}

fn main() -> ExitCode {
    if let Some(ended) = pages::written(Arguments::command) {
        return ended;
    }
    match Arguments::parse().command {
        Command::Gomocup(arguments) => gomocup::run(&arguments),
        Command::Uci(arguments) => uci::run(&arguments),
        Command::Ucci(arguments) => ucci::run(&arguments),
        Command::Gtp(arguments) => gtp::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::BenchRules(arguments) => rules_bench::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Book(arguments) => book::run(&arguments),
        Command::Levels(arguments) => levels::run(&arguments),
        Command::Tune(command) => tune::run(&command),
        Command::SelfPlay(arguments) => self_play::run(&arguments),
        Command::GoGames(arguments) => go_games::run(&arguments),
        Command::GoNetGames(arguments) => go_net_games::run(&arguments),
        Command::GoForetell(arguments) => go_foretell::run(&arguments),
        Command::GoPatterns(arguments) => go_patterns::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Perft(arguments) => positions::perft(&arguments),
        Command::Legal(arguments) => positions::legal(&arguments),
        Command::Replay(arguments) => positions::replay(&arguments),
        Command::Show(arguments) => positions::show(&arguments),
        Command::Convert(arguments) => positions::convert(&arguments),
        Command::Puzzles(arguments) => puzzles::run(&arguments),
        Command::Endings(arguments) => endings::run(&arguments),
        Command::SolveLights(arguments) => lights::run(&arguments),
    }
}
