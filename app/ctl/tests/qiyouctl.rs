//! The command line as a user runs it.
//!
//! A test of this package makes cargo build the program as for the workspace's tests; whole-system tests start that program.

use std::process::{Command, Output};

fn qiyouctl(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_qiyouctl")).args(words).output().expect("qiyouctl starts")
}

#[test]
fn every_command_explains_itself() {
    let said = qiyouctl(&["--help"]);
    assert_eq!(said.status.code(), Some(0));
    let help = String::from_utf8(said.stdout).expect("text");
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let mut explained = 0;
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let command = line.split_whitespace().next().expect("a command");
        // Skips continuation lines of an explanation, and the help command.
        if line.starts_with("   ") || command == "help" {
            continue;
        }
        let said = qiyouctl(&[command, "--help"]);
        assert_eq!(said.status.code(), Some(0), "{command} --help");
        assert!(!said.stdout.is_empty(), "{command} is not explained");
        explained += 1;
    }
    assert!(explained > 20, "only {explained} commands");
}

#[test]
fn an_unknown_command_is_refused_with_a_way_on() {
    let said = qiyouctl(&["plya"]);
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8(said.stderr).expect("text");
    assert!(error.contains("plya") && error.contains("--help"), "{error}");
}
