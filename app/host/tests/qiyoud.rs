//! The daemon's command line.
//!
//! A test of this package makes cargo build the program itself as the rest of the workspace is built for tests; whole-system tests
//! start it from there.

use std::process::{Command, Output};

fn qiyoud(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_qiyoud")).args(words).output().expect("qiyoud starts")
}

#[test]
fn it_explains_itself() {
    let said = qiyoud(&["--help"]);
    assert_eq!(said.status.code(), Some(0));
    let help = String::from_utf8(said.stdout).expect("text");
    for option in ["--data-dir", "--socket", "--adapter", "--no-bluetooth", "--no-lan"] {
        assert!(help.contains(option), "{option} is not explained");
    }
}

#[test]
fn options_that_contradict_each_other_are_refused_before_anything_is_touched() {
    let data = tempfile::tempdir().expect("a directory");
    let inside = data.path().join("data");
    let path = inside.to_str().expect("text");
    let said = qiyoud(&["--data-dir", path, "--adapter", "hci1", "--no-bluetooth"]);
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8(said.stderr).expect("text");
    assert!(error.contains("--adapter") && error.contains("--no-bluetooth"), "{error}");
    assert!(!inside.exists(), "nothing was made");
}
