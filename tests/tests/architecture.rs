//! The invariants of ARCHITECTURE.md that a test can check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is a folder of the workspace").to_owned()
}

/// What each of our packages depends on, tests and build scripts left out.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo speaks JSON");
    let text = |value: &Value| value.as_str().expect("a name").to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().expect("dependencies");
            let normal = all.iter().filter(|one| one["kind"].is_null());
            (text(&package["name"]), normal.map(|one| text(&one["name"])).collect())
        })
        .collect()
}

#[test]
fn crates_depend_only_downwards() {
    let all = dependencies();
    let ours: BTreeSet<&str> = all.keys().map(String::as_str).collect();
    let allowed: &[(&str, &[&str])] = &[
        ("pages", &[]),
        ("engine", &["pages"]),
        ("proto", &[]),
        ("session", &["engine", "proto"]),
        ("link", &["proto"]),
        ("ble-transport", &["link"]),
        ("host", &["engine", "proto", "session", "link", "ble-transport", "pages"]),
        ("qiyouctl", &["link", "proto", "pages"]),
        ("senses", &[]),
        ("screens", &[]),
        ("qiyou", &["link", "proto", "host", "senses", "screens", "pages"]),
    ];
    let listed: BTreeSet<&str> = allowed.iter().map(|(name, _)| *name).chain(["tests"]).collect();
    assert_eq!(ours, listed, "a package without a place in the architecture");
    for (name, may) in allowed {
        let may: BTreeSet<&str> = may.iter().copied().collect();
        let uses: BTreeSet<&str> =
            all[*name].iter().map(String::as_str).filter(|one| ours.contains(one)).collect();
        assert!(uses.is_subset(&may), "{name} depends on {:?}", uses.difference(&may));
    }
}

#[test]
fn rules_and_sessions_know_no_runtime() {
    let all = dependencies();
    let never: &[(&str, &[&str])] = &[
        ("engine", &["tokio", "futures", "async-trait", "prost", "rand", "getrandom"]),
        ("session", &["tokio", "tokio-util", "futures", "async-trait", "rand", "getrandom"]),
        ("proto", &["tokio", "futures", "async-trait", "rand", "getrandom"]),
        ("qiyouctl", &["rusqlite", "bluer", "btleplug"]),
        ("qiyou", &["rusqlite", "bluer", "btleplug"]),
    ];
    for (name, never) in never {
        for one in *never {
            assert!(!all[*name].contains(*one), "{name} depends on {one}");
        }
    }
}

/// Rust files of a folder, with those of its folders.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "{} has no sources", folder.display());
    found
}

#[test]
fn unsafe_code_is_forbidden_in_every_crate() {
    for library in
        ["proto", "session", "link", "ble-transport", "app/host", "app/senses", "packaging/pages", "tests"]
    {
        let front = fs::read_to_string(root().join(library).join("src/lib.rs")).expect("a front door");
        assert!(front.contains("#![forbid(unsafe_code)]"), "{library} does not forbid unsafe code");
    }
    // The engine asks memory ahead, for large pages, and the processor for what it can do (thrice); the app lets go of code that only
    // starting needed: six places, each of which says what was measured and why nothing can go wrong.
    let engine: &[&str] = &[
        "go/net/network.rs",
        "gomoku/net/mod.rs",
        "search/pages.rs",
        "search/table.rs",
        "xiangqi/net/mod.rs",
    ];
    for (library, places) in [("engine", engine), ("app/ui", &["memory.rs"])] {
        let folder = root().join(library).join("src");
        let front = fs::read_to_string(folder.join("lib.rs")).expect("a front door");
        assert!(front.contains("#![deny(unsafe_code)]"), "{library} does not deny unsafe code");
        let mut allowed = sources(&folder)
            .into_iter()
            .filter(|path| fs::read_to_string(path).expect("readable").contains("unsafe {"))
            .collect::<Vec<_>>();
        allowed.sort();
        assert_eq!(allowed, places.iter().map(|place| folder.join(place)).collect::<Vec<_>>());
    }
    let front = fs::read_to_string(root().join("app/ctl/src/main.rs")).expect("a front door");
    assert!(front.contains("#![forbid(unsafe_code)]"), "qiyouctl does not forbid unsafe code");
}

#[test]
fn no_task_thread_clock_or_chance_begins_below_the_host() {
    let words = ["spawn(", "spawn_scoped(", "Instant::now", "SystemTime", "getrandom", "async fn"];
    for library in ["engine", "proto", "session"] {
        let source = root().join(library).join("src");
        for path in sources(&source) {
            // The engine's own program may own a timer and threads.
            if path.starts_with(source.join("bin")) {
                continue;
            }
            // A search that is given threads has them here, and they end with it.
            let scoped = path.ends_with("search/threads.rs");
            let text = fs::read_to_string(&path).expect("a source of the repository");
            // Unit tests stand last in a file and may do as they like; other things that are for tests only are looked at.
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            for (number, line) in (1..).zip(code.lines()) {
                let said = line.split("//").next().unwrap_or_default();
                for word in words.into_iter().filter(|&word| !(scoped && word == "spawn_scoped(")) {
                    assert!(!said.contains(word), "{}:{number}: {word}", path.display());
                }
            }
        }
    }
}

#[test]
fn carriers_know_no_game() {
    for library in ["link", "ble-transport"] {
        for path in sources(&root().join(library).join("src")) {
            let text = fs::read_to_string(&path).expect("a source of the repository");
            for word in ["gomoku", "Gomoku", "proto::board", "engine::"] {
                assert!(!text.contains(word), "{} knows of {word}", path.display());
            }
        }
    }
}

#[test]
fn nothing_that_waits_for_a_screen_reader_wakes_by_the_clock() {
    // A thread of `blocking` 1.7.0 with nothing to do wakes twice a second for ever; 1.6 ends it. zbus brings it.
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    assert!(
        !lock.contains("name = \"blocking\"\nversion = \"1.7.0\""),
        "cargo update -p blocking --precise 1.6.2"
    );
}
