//! UCCI, the Chinese relative of UCI.
//!
//! Source: "UCCI protocol 3.0" (Elephant Board project, 2004 to 2008). Differences to UCI: the words of the handshake,
//! options without `name` and `value`, squares with ranks 0 to 9, a single clock `time` in seconds unless `usemillisec`,
//! forbidden moves (`banmoves`), and `bye` at the end.

use std::process::ExitCode;

use crate::uci::{Arguments, Dialect, speak};

/// Runs until `quit` or the end of input.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    speak(Dialect::Ucci, arguments)
}
