//! Parts of a test that this machine cannot run.

use std::io::Write;

/// Says that a part was left out, past the test runner, which keeps what a test prints. In CI nothing may be left out.
///
/// # Panics
/// Where `CI` is set.
pub fn skip(what: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: {why}");
    assert!(std::env::var_os("CI").is_none(), "{what} is skipped, which is an error in CI: {why}");
}
