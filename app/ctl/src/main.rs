//! qiyouctl: the host from a terminal, for people and scripts.
//!
//! Sends one request, or has a short conversation with a running `qiyoud`, then exits with a code for the result. It computes
//! no rule: the host says which actions are legal.

#![forbid(unsafe_code)]

mod arguments;
mod board;
mod club;
mod commands;
mod connection;
mod conversation;
mod device;
mod engines;
mod field_test;
mod guests;
mod inviting;
mod meeting;
mod playing;
mod puzzles;
mod report;
mod text;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::arguments::Arguments;
use crate::connection::Failure;

fn main() -> ExitCode {
    if let Some(ended) = pages::written(Arguments::command) {
        return ended;
    }
    let arguments = Arguments::parse();
    let json = arguments.json;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(commands::run(arguments)),
        Err(error) => Err(Failure::Other(format!("cannot start: {error}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A closed pipe: the reader has enough.
        Err(Failure::NobodyReads) => ExitCode::SUCCESS,
        Err(failure) => {
            if json {
                println!("{}", failure.json());
            } else {
                eprintln!("qiyouctl: {failure}");
                if let Some(remedy) = failure.remedy() {
                    eprintln!("          {remedy}");
                }
            }
            ExitCode::from(failure.code())
        }
    }
}
