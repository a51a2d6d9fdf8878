//! Texts for players follow docs/glossary.md: no word of its column "not used" occurs.

use std::fs;
use std::path::{Path, PathBuf};

/// Texts in which a word of the column is correct.
const ALLOWED: &[(&str, &[&str])] = &[
    ("棋友", &["「棋友」", "# 棋友 Qiyou"]),
    ("友码", &["好友码"]),
    ("随系统", &["跟随系统"]),
    ("级", &["级（围棋级位", "上下三级", "初级", "中级", "高级", "升级"]),
];

/// Files that contain all Chinese sentences first, then the English ones.
const APART: [&str; 2] = ["engine/src/threats.rs", "engine/src/puzzles/goal.rs"];

struct Text {
    from: String,
    said: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|sign| ('\u{4e00}'..='\u{9fff}').contains(&sign))
}

/// The words of the column "not used".
fn not_used() -> Vec<String> {
    let glossary = read("docs/glossary.md");
    let rows = glossary.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 5, "{row}");
        cells[3].split(", ").filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    })
    .collect()
}

/// Length of the string literal whose content and closing quotation mark begin `text`, without that mark.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, sign) in text.char_indices() {
        match sign {
            '"' if !escaped => return index,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    panic!("a string has no end: {text}");
}

/// The string literals of Rust code, in order, without comments and without the tests at the end of the file.
fn literals(source: &str) -> Vec<&str> {
    let mut rest = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    while let Some(sign) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(after) = rest.strip_prefix("'\"'").or_else(|| rest.strip_prefix("'\\\"'")) {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("r#\"") {
            let end = after.find("\"#").expect("a raw string has an end");
            found.push(&after[..end]);
            rest = &after[end + 2..];
        } else if let Some(after) = rest.strip_prefix('"') {
            let end = string_length(after);
            found.push(&after[..end]);
            rest = &after[end + 1..];
        } else {
            rest = &rest[sign.len_utf8()..];
        }
    }
    found
}

fn rust_files(folder: &str, into: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(root().join(folder))
        .expect("a folder of the repository")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("a plain name"))
        .collect();
    entries.sort();
    for name in entries {
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            // Programs of the engine have no texts for players.
            if name != "bin" {
                rust_files(&path, into);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            into.push(path);
        }
    }
}

/// Texts for players, Chinese and English. In Rust code a Chinese sentence is recognised by its characters; its English
/// version follows it.
fn texts() -> (Vec<Text>, Vec<Text>) {
    let (mut chinese, mut english) = (Vec::new(), Vec::new());
    let catalogue = "app/screens/lang/zh/LC_MESSAGES/screens.po";
    for line in read(catalogue).lines().filter(|line| line.starts_with("msgid") || line.starts_with("msgstr"))
    {
        let said =
            line.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map_or("", |(said, _)| said);
        let text = Text { from: catalogue.into(), said: said.into() };
        if is_chinese(said) { chinese.push(text) } else { english.push(text) }
    }
    let mut files = Vec::new();
    for folder in ["engine/src", "app/host/src", "app/ui/src/adapters"] {
        rust_files(folder, &mut files);
    }
    for file in files {
        let source = read(&file);
        let mut follows = false;
        for said in literals(&source) {
            let text = Text { from: file.clone(), said: said.into() };
            if is_chinese(said) {
                chinese.push(text);
                follows = true;
            } else {
                if follows || APART.contains(&file.as_str()) {
                    english.push(text);
                }
                follows = false;
            }
        }
    }
    for page in ["README.zh.md", "docs/privacy.zh.md"] {
        chinese.push(Text { from: page.into(), said: read(page) });
    }
    for (language, into) in [("zh", &mut chinese), ("en", &mut english)] {
        let mut pages: Vec<_> = fs::read_dir(root().join("docs/manual").join(language))
            .expect("the manual's folder")
            .map(|entry| entry.expect("readable").file_name().into_string().expect("a plain name"))
            .collect();
        pages.sort();
        assert!(pages.len() > 10, "{pages:?}");
        for page in pages {
            let page = format!("docs/manual/{language}/{page}");
            into.push(Text { said: read(&page), from: page });
        }
    }
    (chinese, english)
}

/// Words in lower case; placeholders in braces are left out.
fn words(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let mut plain = String::new();
    for sign in text.chars() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(sign),
            _ => {}
        }
        if depth > 0 || sign == '}' {
            plain.push(' ');
        }
    }
    plain
        .to_lowercase()
        .split(|sign: char| !sign.is_alphanumeric() && sign != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn says(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (words(text), words(phrase));
    text.windows(phrase.len()).any(|run| run == phrase)
}

fn says_in_chinese(text: &str, word: &str) -> bool {
    let allowed = ALLOWED.iter().find(|(one, _)| *one == word).map_or(&[][..], |(_, allowed)| *allowed);
    let rest = allowed.iter().fold(text.to_owned(), |rest, right| rest.replace(right, ""));
    // The app's name alone is allowed as a title.
    rest.contains(word) && text != "棋友"
}

#[test]
fn no_word_that_the_glossary_gives_up_is_read_anywhere() {
    let (chinese, english) = texts();
    assert!(chinese.len() > 900 && english.len() > 900, "{} and {}", chinese.len(), english.len());
    let given_up = not_used();
    assert!(given_up.len() > 100, "{}", given_up.len());
    let mut said = Vec::new();
    for word in &given_up {
        let texts = if is_chinese(word) { &chinese } else { &english };
        let is_said = |text: &str| {
            if is_chinese(word) { says_in_chinese(text, word) } else { says(text, word) }
        };
        for text in texts.iter().filter(|text| is_said(&text.said)) {
            said.push(format!("{word}: {}: {}", text.from, text.said));
        }
    }
    assert!(said.is_empty(), "docs/glossary.md says what to write instead:\n{}", said.join("\n"));
}

#[test]
fn a_word_is_found_in_a_sentence_and_not_in_another_word() {
    assert!(says("Refuse from now on", "refuse") && says("They take back a move", "take back"));
    assert!(!says("The server refused to sign you in", "refuse"));
    assert!(!says("{plies} half-moves", "plies") && says("60 plies", "plies"));
    assert!(says_in_chinese("附近 3 位棋友", "棋友") && says_in_chinese("棋力 3 级", "级"));
    assert!(!says_in_chinese("打开「棋友」", "棋友") && !says_in_chinese("初级", "级"));
    let code = r#"
        // A "comment" is no text.
        pick("黑先", "Black \"first\"");
        let mark = '"';
        say("白先", "White")
#[cfg(test)]
mod tests {
    "not this""#;
    assert_eq!(literals(code), ["黑先", "Black \\\"first\\\"", "白先", "White"]);
}
