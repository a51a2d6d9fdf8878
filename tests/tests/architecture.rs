//! The invariants of ARCHITECTURE.md that a test can check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is a folder of the workspace").to_owned()
}

/// The dependencies of each workspace package, without dev and build dependencies.
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
        ("client", &["proto"]),
        ("guest", &["client", "link", "proto"]),
        ("engines", &["engine"]),
        ("host", &["engine", "engines", "proto", "session", "link", "ble-transport", "guest", "pages"]),
        ("qiyouctl", &["client", "link", "proto", "pages"]),
        ("senses", &[]),
        ("screens", &[]),
        ("qiyou", &["client", "link", "proto", "host", "senses", "screens", "pages"]),
    ];
    let listed: BTreeSet<&str> = allowed.iter().map(|(name, _)| *name).chain(["tests", "fuzz"]).collect();
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

/// All Rust files below a folder.
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
    for library in [
        "proto",
        "session",
        "link",
        "ble-transport",
        "app/client",
        "app/engines",
        "app/guest",
        "app/host",
        "app/senses",
        "packaging/pages",
        "tests",
    ] {
        let front = fs::read_to_string(root().join(library).join("src/lib.rs")).expect("a front door");
        assert!(front.contains("#![forbid(unsafe_code)]"), "{library} does not forbid unsafe code");
    }
    // The engine has five places (prefetching, huge pages, CPU feature detection), the app one, which unmaps start-up code;
    // each place states its measurement and why it is sound.
    let engine: &[&str] =
        &["gomoku/net/mod.rs", "kernel.rs", "search/pages.rs", "search/table.rs", "xiangqi/net/mod.rs"];
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
            // The engine's program may have a timer and threads.
            if path.starts_with(source.join("bin")) {
                continue;
            }
            // A search that is given threads starts them here, and joins them before it returns.
            let scoped = path.ends_with("search/threads.rs");
            let text = fs::read_to_string(&path).expect("a source of the repository");
            // Unit tests are last in a file and exempt; other code for tests is checked.
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
fn a_database_is_opened_where_its_schema_is_not_trusted_and_nowhere_else() {
    let source = root().join("app/host/src");
    let opens = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a source of the repository");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        ["Connection::open(", "Connection::open_with_flags("].iter().any(|word| code.contains(word))
    };
    let tests = source.join("store/tests.rs");
    let all: Vec<PathBuf> =
        sources(&source).into_iter().filter(|path| *path != tests && opens(path)).collect();
    assert_eq!(all, [source.join("store/schema.rs")]);
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
    // A thread of `blocking` 1.7.0 without work wakes twice a second; in 1.6 it ends. zbus depends on it.
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    assert!(
        !lock.contains("name = \"blocking\"\nversion = \"1.7.0\""),
        "cargo update -p blocking --precise 1.6.2"
    );
}

/// The lines of a source file without comments, and without what follows `//` after code. What follows a `//` in a literal is
/// lost too, which no caller needs.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_word_in_a_comment_is_no_import() {
    let text = "//! Because crate::play is used.\nuse crate::room; // use crate::show;\n/// use crate::work;\nfn f() {}";
    let code = without_comments(text);
    assert_eq!(code.matches("crate::").count(), 1);
    assert!(code.contains("use crate::room;") && code.contains("fn f() {}"));
}

/// The top-level modules of a crate and their uses of each other; a folder is one module. Uses within tests count too.
fn uses_within(crate_folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = root().join(crate_folder).join("src");
    let module_of = |file: &Path| {
        let first = file.strip_prefix(&folder).ok()?.components().next()?.as_os_str().to_str()?.to_owned();
        Some(first.strip_suffix(".rs").unwrap_or(&first).to_owned())
    };
    let files: Vec<(String, String)> = sources(&folder)
        .into_iter()
        .filter(|file| !file.components().any(|part| part.as_os_str() == "bin"))
        .filter_map(|file| {
            Some((module_of(&file)?, without_comments(&fs::read_to_string(&file).expect("read"))))
        })
        .collect();
    let names: BTreeSet<&String> = files.iter().map(|(name, _)| name).collect();
    // `pub use play::{A, B};` at the root: A and B are play's.
    let mut shown = BTreeMap::new();
    for (_, text) in files.iter().filter(|(name, _)| name == "lib" || name == "main") {
        let statements = text.split(';').filter_map(|statement| {
            let statement =
                statement.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            statement.strip_prefix("use ")
        });
        for statement in statements {
            let Some((module, items)) = statement.split_once("::") else { continue };
            for item in
                items.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|item| !item.is_empty())
            {
                shown.insert(item.to_owned(), module.trim().to_owned());
            }
        }
    }
    let mut all = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, text) in &files {
        let uses = all.entry(name.clone()).or_default();
        // The items after `crate::`, on this level only: one path, or a list of paths.
        for rest in text.split("crate::").skip(1) {
            let mut depth = 0;
            let end = rest.find(|c: char| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth < 0 || (depth == 0 && !c.is_alphanumeric() && !"_:{}, \n*".contains(c))
            });
            let list = rest[..end.unwrap_or(rest.len())].trim_start_matches('{');
            let many = rest.starts_with('{');
            let mut level = 0;
            for part in list.split_inclusive([',', '{', '}']) {
                let word = part
                    .trim()
                    .split("::")
                    .next()
                    .unwrap_or_default()
                    .trim_matches(&[',', '{', '}', ' '][..]);
                let found = if names.contains(&word.to_owned()) {
                    Some(word)
                } else {
                    shown.get(word).map(String::as_str)
                };
                if let Some(found) = found.filter(|found| level == 0 && *found != name) {
                    uses.insert(found.to_owned());
                }
                level += i32::from(part.ends_with('{')) - i32::from(part.ends_with('}'));
                if !many {
                    break;
                }
            }
        }
    }
    all
}

/// The largest cycle of modules (strongly connected component).
fn largest_circle(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let reach = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(one) = next.pop() {
            for other in uses.get(&one).into_iter().flatten() {
                if seen.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = uses.keys().map(|name| (name, reach(name))).collect();
    let circle = |name: &String| {
        let both = |other: &&String| reached[name].contains(*other) && reached[other].contains(name);
        uses.keys().filter(both).cloned().collect::<BTreeSet<_>>()
    };
    uses.keys().map(circle).max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The fields of a struct in a file, as declared.
fn fields(file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).expect("a source of the repository");
    let (_, body) = text.split_once(&format!("struct {name} {{\n")).expect("the struct");
    let (body, _) = body.split_once("\n}").expect("its end");
    let declared = body.lines().map(str::trim).filter(|line| line.ends_with(',') && !line.starts_with("//"));
    declared.map(str::to_owned).collect()
}

/// The numbers of shared fields only become smaller.
#[test]
fn a_page_of_the_app_keeps_its_state_to_itself() {
    let adapters = root().join("app/ui/src/adapters");
    let mut pages = 0;
    for path in sources(&adapters) {
        let text = fs::read_to_string(&path).expect("a source of the repository");
        // The board's models and timers are in cells; its state is checked below.
        if path.starts_with(adapters.join("board")) || path.ends_with("board.rs") {
            continue;
        }
        assert!(!text.contains("RefCell"), "{} has a cell", path.display());
        if !text.contains("pub(super) fn show(&self") {
            continue;
        }
        pages += 1;
        for line in text.lines().map(str::trim) {
            let shared =
                ["pub ", "pub(crate) ", "pub(super) "].iter().find_map(|word| line.strip_prefix(word));
            let field = shared.and_then(|rest| rest.split_once(": ")).filter(|_| line.ends_with(','));
            let is_field = field.is_some_and(|(name, _)| name.chars().all(|c| c.is_lowercase() || c == '_'));
            assert!(!is_field, "{} shares `{line}`", path.display());
        }
    }
    assert!(pages >= 14, "the pages that are structs are found: {pages}");
    let board = fields("app/ui/src/adapters/board.rs", "BoardPage");
    assert!(board.len() > 5 && board.iter().all(|field| !field.starts_with("pub")), "{board:?}");
    for (file, name, most) in
        [("app/ui/src/app/app_state.rs", "AppState", 15), ("app/ui/src/app.rs", "Controller", 11)]
    {
        let fields = fields(file, name);
        println!("{name}: {} {fields:?}", fields.len());
        assert!(fields.len() > 5 && fields.len() <= most, "{name} has {} fields: {fields:?}", fields.len());
    }
}

/// Departments know neither the actor nor its fields. The goal is one file; a change that makes a department of a file lowers its
/// number here.
#[test]
fn only_the_actors_folder_extends_it_and_it_shares_no_field() {
    let folder = root().join("app/host/src");
    let is_meant = |path: &PathBuf| {
        let text = without_comments(&fs::read_to_string(path).expect("a source of the repository"));
        text.lines().any(|line| line.starts_with("impl") && line.ends_with("Actor {"))
    };
    let files: Vec<PathBuf> = sources(&folder).into_iter().filter(is_meant).collect();
    println!("impl Actor: {} {files:?}", files.len());
    assert!(files.len() > 1 && files.len() <= 12, "{} files with impl Actor: {files:?}", files.len());
    for path in files {
        assert!(path.starts_with(folder.join("actor")) || path.ends_with("actor.rs"), "{}", path.display());
    }
    let all = fields("app/host/src/actor.rs", "Actor");
    let shared: Vec<&String> = all.iter().filter(|field| field.starts_with("pub")).collect();
    println!("Actor: {} of {} fields {shared:?}", shared.len(), all.len());
    assert!(all.len() > 20 && shared.is_empty(), "Actor shares {shared:?}");
}

/// The goal is at most two modules in every crate; a change that shortens a cycle lowers its number here.
#[test]
fn circles_of_modules_only_become_smaller() {
    for (folder, most) in
        [("app/ctl", 0), ("link", 0), ("ble-transport", 3), ("session", 2), ("app/host", 2), ("app/ui", 2)]
    {
        let uses = uses_within(folder);
        assert!(uses.values().map(BTreeSet::len).sum::<usize>() > 5, "{folder}: its uses are read");
        let circle = largest_circle(&uses);
        println!("{folder}: {} {circle:?}", circle.len());
        assert!(
            circle.len() <= most,
            "{folder}: {} modules use each other in a circle: {circle:?}",
            circle.len()
        );
    }
}
