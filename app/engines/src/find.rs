//! Engines that are installed on this device, by their usual names.

use std::path::{Path, PathBuf};

use crate::conversation::Protocol;
use crate::process::Program;

/// A program with the name of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The program, with the arguments that it needs.
    pub program: Program,
    /// Its protocol.
    pub protocol: Protocol,
}

/// File names, protocols and arguments. A name that ends with `-` is the beginning of a name.
const KNOWN: [(&str, Protocol, &[&str]); 11] = [
    ("fairy-stockfish", Protocol::Uci, &[]),
    ("pikafish", Protocol::Uci, &[]),
    ("eleeye", Protocol::Ucci, &[]),
    ("gnugo", Protocol::Gtp, &["--mode", "gtp"]),
    ("pachi", Protocol::Gtp, &[]),
    ("katago", Protocol::Gtp, &["gtp"]),
    ("leelaz", Protocol::Gtp, &["--gtp"]),
    ("leela-zero", Protocol::Gtp, &["--gtp"]),
    ("fuego", Protocol::Gtp, &[]),
    ("rapfi", Protocol::Gomocup, &[]),
    ("pbrain-", Protocol::Gomocup, &[]),
];

/// Most files of a folder that are looked at.
const MOST_FILES: usize = 20_000;

/// What is known of a program by its file's name.
pub fn known(path: &Path) -> Option<(Protocol, Vec<String>)> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let is = |known: &str| name == known || (known.ends_with('-') && name.starts_with(known));
    KNOWN.iter().find(|(known, _, _)| is(known)).map(|(_, protocol, arguments)| {
        (*protocol, arguments.iter().map(|argument| (*argument).to_owned()).collect())
    })
}

/// The known engines in these folders, such as those of PATH; of two with one name the first.
pub fn search(folders: impl IntoIterator<Item = PathBuf>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.is_absolute()) {
        let Ok(entries) = folder.read_dir() else { continue };
        let mut paths: Vec<PathBuf> = entries
            .take(MOST_FILES)
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| known(path).is_some() && is_program(path))
            .collect();
        paths.sort();
        for path in paths {
            let is_there = |other: &Found| other.program.path.file_name() == path.file_name();
            if let (false, Some((protocol, arguments))) = (found.iter().any(is_there), known(&path)) {
                found.push(Found { program: Program { path, arguments }, protocol });
            }
        }
    }
    found
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|of| of.is_file() && of.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn engines_are_found_by_their_names_the_first_of_two() {
        let folders = [0, 1].map(|_| tempfile::tempdir().expect("a folder"));
        let put = |folder: usize, name: &str, mode: u32| {
            let path = folders[folder].path().join(name);
            std::fs::write(&path, "").expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
            path
        };
        let gnugo = put(0, "gnugo", 0o755);
        put(0, "pachi", 0o644);
        put(0, "ls", 0o755);
        put(1, "gnugo", 0o755);
        let brain = put(1, "pbrain-Embryo", 0o755);
        let found = search(folders.iter().map(|folder| folder.path().to_owned()));
        let arguments = vec!["--mode".to_owned(), "gtp".to_owned()];
        assert_eq!(
            found,
            [
                Found { program: Program { path: gnugo, arguments }, protocol: Protocol::Gtp },
                Found {
                    program: Program { path: brain, arguments: Vec::new() },
                    protocol: Protocol::Gomocup
                },
            ]
        );
    }
}
