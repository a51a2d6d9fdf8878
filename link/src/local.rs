//! The socket on which a host listens for its clients.

use std::path::{Path, PathBuf};

/// Directory of the control socket, within the user's runtime directory; mode 0700.
pub const CONTROL_DIRECTORY: &str = "qiyou";

/// Default socket of the user's daemon: `$XDG_RUNTIME_DIR/qiyou/control.sock`. `None` without that variable, as in a bare
/// `su` shell.
pub fn control_socket() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR")
        .filter(|directory| !directory.is_empty())
        .map(|directory| control_socket_in(Path::new(&directory)))
}

/// The control socket below this runtime directory.
pub fn control_socket_in(runtime: &Path) -> PathBuf {
    runtime.join(CONTROL_DIRECTORY).join("control.sock")
}
