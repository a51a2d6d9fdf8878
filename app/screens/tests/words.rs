//! Every sentence is translated, and all its characters exist in the fonts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn slint_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the screens' folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            slint_files(&path, into);
        } else if path.extension().is_some_and(|end| end == "slint") {
            into.push(path);
        }
    }
}

fn sources() -> Vec<String> {
    let mut files = Vec::new();
    slint_files(&here().join("ui"), &mut files);
    files.sort();
    files.iter().map(|path| fs::read_to_string(path).expect("readable")).collect()
}

/// The string literal at the start of `text`, without its quotation marks and with its escapes.
fn quoted(text: &str) -> &str {
    let inner = text.strip_prefix('"').expect("a string begins here");
    let mut before = ' ';
    for (index, sign) in inner.char_indices() {
        if sign == '"' && before != '\\' {
            return &inner[..index];
        }
        before = sign;
    }
    panic!("a string has no end: {inner}");
}

/// A sentence of the screens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sentence {
    /// Distinguishes translations of equal English sentences; usually empty.
    context: String,
    one: String,
    /// The plural form, if the sentence contains a count.
    many: Option<String>,
}

/// The string literal at the start of `text`, with its escapes, and the rest.
fn string_and_rest(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let said = quoted(text);
    (said, text[said.len() + 2..].trim_start())
}

/// All sentences to be translated.
fn sentences() -> BTreeSet<Sentence> {
    let mut found = BTreeSet::new();
    for source in sources() {
        for call in source.split("@tr(").skip(1) {
            let (first, rest) = string_and_rest(call);
            let (context, (one, rest)) = match rest.strip_prefix("=>") {
                Some(rest) => (first, string_and_rest(rest)),
                None => ("", (first, rest)),
            };
            let many = rest.strip_prefix('|').map(|rest| string_and_rest(rest).0.to_owned());
            found.insert(Sentence { context: context.to_owned(), one: one.to_owned(), many });
        }
    }
    found
}

/// The Chinese translations in the .po file.
fn chinese() -> BTreeMap<Sentence, String> {
    let text = fs::read_to_string(here().join("lang/zh/LC_MESSAGES/screens.po")).expect("readable");
    let mut known = BTreeMap::new();
    for entry in text.split("\n\n").skip(1) {
        let field = |name: &str| {
            entry
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|rest| quoted(rest.trim_start()).to_owned())
        };
        if let Some(one) = field("msgid ") {
            let said = field("msgstr ").or_else(|| field("msgstr[0] ")).unwrap_or_default();
            let sentence = Sentence {
                context: field("msgctxt ").unwrap_or_default(),
                one,
                many: field("msgid_plural "),
            };
            assert!(known.insert(sentence, said).is_none(), "translated twice: {entry}");
        }
    }
    known
}

fn placeholders(text: &str) -> BTreeSet<String> {
    text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_sentence_is_in_chinese_and_nothing_else_is() {
    let (wanted, known) = (sentences(), chinese());
    assert!(wanted.len() > 200, "the screens say more than this: {}", wanted.len());
    let missing: Vec<_> = wanted.iter().filter(|one| known.get(one).is_none_or(String::is_empty)).collect();
    assert!(missing.is_empty(), "not translated: {missing:#?}");
    let stale: Vec<_> = known.keys().filter(|one| !wanted.contains(one)).collect();
    assert!(stale.is_empty(), "translated but never said: {stale:#?}");
    for (Sentence { context, one, many }, said) in &known {
        let (put, english) = (placeholders(said), placeholders(many.as_ref().unwrap_or(one)));
        // A lead in Go is passed both in points and in stones; Chinese uses the other number.
        let as_many = context == "area" && put.len() == english.len();
        assert!(put == english || as_many, "{one}: {said}");
    }
}

/// The characters in a font file's character map.
fn signs(font: &str) -> BTreeSet<char> {
    let bytes = fs::read(here().join("assets/fonts").join(font)).expect("readable");
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let half = |at: usize| usize::from(u16::from_be_bytes(bytes[at..at + 2].try_into().expect("two bytes")));
    let table = (0..half(4))
        .map(|index| 12 + 16 * index)
        .find(|&at| &bytes[at..at + 4] == b"cmap")
        .map(|at| word(at + 8) as usize)
        .expect("a font has a character map");
    let mut found = BTreeSet::new();
    for index in 0..half(table + 2) {
        let at = table + word(table + 4 + 8 * index + 4) as usize;
        match half(at) {
            // Format 4: segments of 16-bit codes.
            4 => {
                let segments = half(at + 6) / 2;
                for segment in 0..segments {
                    let end = half(at + 14 + 2 * segment);
                    let start = half(at + 16 + 2 * (segments + segment));
                    found.extend((start..=end).filter_map(|code| char::from_u32(code as u32)));
                }
            }
            // Format 12: groups of 32-bit codes.
            12 => {
                for group in 0..word(at + 12) as usize {
                    let group = at + 16 + 12 * group;
                    found.extend((word(group)..=word(group + 4)).filter_map(char::from_u32));
                }
            }
            _ => {}
        }
    }
    found
}

fn missing(text: &str, font: &BTreeSet<char>) -> BTreeSet<char> {
    text.chars().filter(|sign| !sign.is_control() && !font.contains(sign)).collect()
}

#[test]
fn every_character_that_can_be_said_is_in_the_fonts() {
    let (sans, kai) = (signs("QiyouSans.otf"), signs("QiyouKai.ttf"));
    assert!(sans.len() > 4_000 && kai.len() > 400, "{} and {}", sans.len(), kai.len());
    for (Sentence { one, many, .. }, said) in chinese() {
        let all = format!("{one}{}{said}", many.unwrap_or_default());
        assert!(missing(&all, &sans).is_empty(), "{all}: {:?}", missing(&all, &sans));
        assert!(missing(&all, &kai).is_empty(), "{all}: {:?}", missing(&all, &kai));
    }
    // Words that are the same in all languages are literals in the screens.
    for source in sources() {
        let literal: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let pictures = ["🐶", "⛵", "🍎", "☔"].concat();
        let unknown: Vec<char> =
            missing(&literal, &sans).into_iter().filter(|sign| !pictures.contains(*sign)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}

#[test]
fn every_picture_that_two_people_compare_is_drawn_and_named() {
    let (pictures, sans) = (signs("QiyouPictures.ttf"), signs("QiyouSans.otf"));
    for picture in proto::short_string::PICTURES {
        assert!(pictures.contains(&picture.emoji), "{}", picture.english);
        assert!(missing(picture.chinese, &sans).is_empty(), "{}", picture.chinese);
        assert!(missing(picture.english, &sans).is_empty(), "{}", picture.english);
    }
}

#[test]
fn every_lesson_can_be_read() {
    let sans = signs("QiyouSans.otf");
    let mut said = 0;
    for kind in [
        engine::GameKind::Gomoku,
        engine::GameKind::Liuzhou,
        engine::GameKind::Go,
        engine::GameKind::Xiangqi,
        engine::GameKind::LightsOut,
    ] {
        for step in engine::lessons::lesson(kind) {
            for words in [step.say, step.then] {
                assert!(missing(words.zh, &sans).is_empty(), "{}: {:?}", words.zh, missing(words.zh, &sans));
                assert!(missing(words.en, &sans).is_empty(), "{}", words.en);
                said += 1;
            }
        }
    }
    assert!(said > 30, "{said}");
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn every_chinese_character_that_the_host_can_say_shows() {
    let sans = signs("QiyouSans.otf");
    let mut files = Vec::new();
    for folder in ["../../engine/src", "../host/src", "../ui/src"] {
        rust_files(&here().join(folder), &mut files);
    }
    let mut said = 0;
    for file in files {
        let source = fs::read_to_string(&file).expect("readable");
        let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let chinese: String = code.chars().filter(|sign| ('\u{4e00}'..='\u{9fff}').contains(sign)).collect();
        assert!(missing(&chinese, &sans).is_empty(), "{file:?}: {:?}", missing(&chinese, &sans));
        said += chinese.chars().count();
    }
    assert!(said > 3_000, "{said}");
}

#[test]
fn names_that_people_type_show() {
    let sans = signs("QiyouSans.otf");
    for name in ["客厅的平板", "小明", "李雷", "韩梅梅", "Zoë", "Jürgen", "老王的掌机"] {
        assert!(missing(name, &sans).is_empty(), "{name}: {:?}", missing(name, &sans));
    }
}
