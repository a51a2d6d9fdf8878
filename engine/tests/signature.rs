//! The node counts of a fixed set of searches change only when a commit intends it.

use std::process::Command;

/// The output of `qiyou-engine bench --signature`. A change that is meant to leave the search unchanged must keep it;
/// any other change replaces it.
const SIGNATURE: &str = "\
gomoku signature: 332781 positions at depth 6
xiangqi signature: 73489 positions at depth 8
liuzhou signature: 35127 positions at depth 6
go signature: 18954 nodes after 2000 playouts on 9x9
";

#[test]
fn the_search_visits_as_many_positions_as_when_it_was_last_changed_on_purpose() {
    let output = Command::new(env!("CARGO_BIN_EXE_qiyou-engine"))
        .args(["bench", "--signature"])
        .output()
        .expect("the engine runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), SIGNATURE);
}
