//! `qiyou-engine`: engine protocols for other programs, rules tools for scripts, and the engine's benchmarks, training and
//! tuning.

mod adaptation;
mod bench;
mod blunders;
mod book;
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
mod mistakes;
mod positions;
mod puzzles;
mod rules_bench;
mod self_play;
mod tablebase;
mod timer;
mod train;
mod tune;
mod ucci;
mod uci;
mod variety;

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
    /// Speak the Gomocup protocol (plastovicka.github.io/protocl2en.htm) on standard input and output.
    Gomocup(gomocup::Arguments),
    /// Speak UCI for xiangqi on standard input and output, with squares as in Fairy-Stockfish's `UCI_Variant xiangqi`.
    Uci(uci::Arguments),
    /// Speak UCCI, the Chinese xiangqi protocol, on standard input and output.
    Ucci(uci::Arguments),
    /// Speak the Go Text Protocol, version 2, on standard input and output.
    Gtp(gtp::Arguments),
    /// Measure nodes per second and depth on fixed positions, and print the node-count signature.
    Bench(bench::Arguments),
    /// Measure the speed of the rules: Lights Out solver by board size, random games of Go, perft of xiangqi.
    BenchRules(rules_bench::Arguments),
    /// Fit the evaluation to games that `levels --print` has written, and print its constants.
    Fit(fit::Arguments),
    /// Simulate how soon an opponent whose level follows a player is as strong as the player.
    Adaptation(adaptation::Arguments),
    /// Count the different beginnings of games of a player with itself.
    Variety(variety::Arguments),
    /// Games of the engine against itself with what it thought of every position, to learn from.
    SelfPlay(self_play::Arguments),
    /// Play training games of Go of the engine against itself, with the visit counts of every move.
    GoGames(go_games::Arguments),
    /// Play training games of Go's network against itself. The training program evaluates the network: positions go to
    /// standard output, evaluations come from standard input.
    GoNetGames(go_net_games::Arguments),
    /// Measure how well Go's playouts predict the results of games of `go-games`, by search parameters.
    GoForetell(go_foretell::Arguments),
    /// Learn Go's patterns from games of `go-games`.
    GoPatterns(go_patterns::Arguments),
    /// Train the network of gomoku or xiangqi with games of `self-play`.
    Train(train::Arguments),
    /// Build gomoku's opening books.
    Book(book::Arguments),
    /// Play a match between two levels, with paired openings and both colours.
    Levels(levels::Arguments),
    /// Count what the moves of a level overlook at a glance: a win at hand, the other side's, a piece that hangs.
    Blunders(blunders::Arguments),
    /// Count the mistakes of games of a player with itself for which a reason is known.
    Mistakes(mistakes::Arguments),
    /// Tune search parameters by self-play.
    #[command(subcommand)]
    Tune(tune::Command),
    /// Count the sequences of legal decisions from a position (perft); the last line is the count alone.
    Perft(positions::Perft),
    /// List the legal actions in a position, one per line.
    Legal(positions::Start),
    /// Replay a record and print its result with the reason on the last line.
    Replay(positions::OneFile),
    /// Print the contents of a file: header, moves, final board and result.
    Show(positions::OneFile),
    /// Convert a file of a game to another format, which the extension of the output file selects.
    Convert(positions::Convert),
    /// Make puzzles from games of the bots, or prove the built-in puzzles.
    Puzzles(puzzles::Arguments),
    /// Compute or query Liuzhou chess's endgame tables.
    Tablebase(tablebase::Arguments),
    /// Solve a Lights Out board, read from standard input as rows of `.` and `#`.
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
        Command::Variety(arguments) => variety::run(&arguments),
        Command::Adaptation(arguments) => adaptation::run(&arguments),
        Command::Blunders(arguments) => {
            blunders::run(&arguments);
            ExitCode::SUCCESS
        }
        Command::Mistakes(arguments) => {
            mistakes::run(&arguments);
            ExitCode::SUCCESS
        }
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
        Command::Tablebase(arguments) => tablebase::run(&arguments),
        Command::SolveLights(arguments) => lights::run(&arguments),
    }
}
