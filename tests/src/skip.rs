//! Parts of a test that this machine cannot run.

use std::io::Write;

/// Reports a skipped part, past the test runner, which captures a test's output. In CI nothing may be skipped.
///
/// # Panics
/// In CI, where `CI` is set.
pub fn skip(what: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: {why}");
    assert!(std::env::var_os("CI").is_none(), "{what} is skipped, which is an error in CI: {why}");
}
