//! Contrast of text and marks against their background, in every theme and all board styles, by WCAG 2.2: 1.4.3 for text,
//! 1.4.11 for graphics. All colours are read from ui/theme.slint.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Minimum contrast ratio of text.
const TEXT: f64 = 4.5;
/// Minimum contrast ratio of marks and lines with a meaning.
const MARK: f64 = 3.0;

/// The player's settings that colours depend on.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    dark: bool,
    eink: bool,
    board_style: u8,
}

struct Theme(String);

impl Theme {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/theme.slint");
        Self(fs::read_to_string(path).expect("the theme"))
    }

    /// The value of the colour with this name, as `RRGGBB`.
    fn colour(&self, name: &str, chosen: Chosen) -> &str {
        let begin = format!("property <color> {name}: ");
        let (_, rest) = self.0.split_once(&begin).unwrap_or_else(|| panic!("no colour is named {name}"));
        let (expression, _) = rest.split_once(';').expect("a property ends");
        value(expression, chosen)
    }
}

/// Evaluates an expression of `dark`, `board-style == N`, `&&`, `?:`, parentheses and colours.
fn value(expression: &str, chosen: Chosen) -> &str {
    let expression = expression.trim();
    if let Some(colour) = expression.strip_prefix('#') {
        assert_eq!(colour.len(), 6, "{expression} is no opaque colour");
        return colour;
    }
    let Some((condition, rest)) = expression.split_once('?') else {
        let inner = expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
        return value(inner.unwrap_or_else(|| panic!("{expression} is not understood")), chosen);
    };
    if condition.starts_with('(') {
        let inner = expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
        return value(inner.expect("a bracket ends"), chosen);
    }
    // Finds the colon of this conditional; colons of nested conditionals come before it.
    let (mut depth, mut open) = (0, 0);
    let colon = rest
        .char_indices()
        .find(|(_, sign)| {
            match sign {
                '(' => depth += 1,
                ')' => depth -= 1,
                '?' if depth == 0 => open += 1,
                ':' if depth == 0 && open == 0 => return true,
                ':' if depth == 0 => open -= 1,
                _ => {}
            }
            false
        })
        .expect("a question has two answers")
        .0;
    let holds = condition.split("&&").map(str::trim).all(|term| match term.split_once("==") {
        None => match term {
            "dark" => chosen.dark,
            "eink" => chosen.eink,
            other => panic!("a colour depends on {other}"),
        },
        Some((of, number)) => {
            assert_eq!(of.trim(), "board-style");
            number.trim().parse() == Ok(chosen.board_style)
        }
    });
    value(if holds { &rest[..colon] } else { &rest[colon + 1..] }, chosen)
}

/// Relative luminance as defined by WCAG.
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let part = u8::from_str_radix(&colour[at..at + 2], 16).expect("hexadecimal");
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn too_faint(theme: &Theme, pairs: &[(&str, &str)], least: f64, styles: &[u8]) -> Vec<String> {
    let mut faint = Vec::new();
    for (dark, eink) in [(false, false), (true, false), (false, true)] {
        for &board_style in styles {
            let chosen = Chosen { dark, eink, board_style };
            for (drawn, on) in pairs {
                let found = contrast(theme.colour(drawn, chosen), theme.colour(on, chosen));
                if found < least {
                    faint.push(format!("{drawn} on {on}, {chosen:?}: {found:.2} of {least}"));
                }
            }
        }
    }
    faint
}

/// Texts and what they are on, on pages and in dialogs.
const TEXTS: [(&str, &str); 11] = [
    ("ink", "paper"),
    ("ink", "card"),
    ("ink-soft", "paper"),
    ("ink-soft", "card"),
    ("seal", "paper"),
    ("seal", "card"),
    ("jade", "paper"),
    ("jade", "card"),
    // Text on surfaces in ink, seal red or jade.
    ("paper", "ink"),
    ("paper", "seal"),
    ("paper", "jade"),
];

/// Texts on boards.
const BOARD_TEXTS: [(&str, &str); 2] = [("board-line", "board"), ("seal-text-on-board", "board")];

/// Texts that are drawn fainter than their colour: file and expression. Only what cannot be used now is, whose contrast WCAG leaves open.
const FAINT: [(&str, &str); 2] = [
    ("controls.slint", "root.ink.with-alpha(root.strength)"),
    ("controls.slint", "Theme.ink.with-alpha(root.strength)"),
];

/// Colours of texts that are not the theme's: crosses and numbers on stones and pieces, which are black or white in every theme.
const ON_PIECES: [(&str, &str); 4] = [
    ("board.slint", "#000000"),
    ("board.slint", "#171512"),
    ("board.slint", "#FFFDF7"),
    ("board.slint", "#FFFFFF"),
];

#[test]
fn text_can_be_read_on_paper_cards_and_buttons_in_every_theme() {
    let faint = too_faint(&Theme::read(), &TEXTS, TEXT, &[0]);
    assert!(faint.is_empty(), "{}", faint.join("\n"));
}

#[test]
fn coordinates_crosses_and_numbers_can_be_read_on_every_board_in_every_theme() {
    let faint = too_faint(&Theme::read(), &BOARD_TEXTS, TEXT, &[0, 1, 2]);
    assert!(faint.is_empty(), "{}", faint.join("\n"));
}

/// Every file of ui: its name, and its text without comments and without what strings say.
fn sources() -> Vec<(String, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("ui")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of ui") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "slint") {
                let name = path.file_name().expect("a file").to_string_lossy().into_owned();
                sources.push((name, bare(&fs::read_to_string(path).expect("readable"))));
            }
        }
    }
    sources
}

fn bare(text: &str) -> String {
    let mut kept = String::new();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let next = signs.peek().copied();
        if sign == '"' {
            while let Some(inside) = signs.next() {
                if inside == '\\' {
                    signs.next();
                } else if inside == '"' {
                    break;
                }
            }
            kept.push_str("\"\"");
        } else if sign == '/' && next == Some('/') {
            while signs.next().is_some_and(|rest| rest != '\n') {}
            kept.push('\n');
        } else {
            kept.push(sign);
        }
    }
    kept
}

/// What this property is set to, each time.
fn set_to<'a>(source: &'a str, property: &str) -> Vec<&'a str> {
    let sought = format!("{property}:");
    let mut found = Vec::new();
    for (at, _) in source.match_indices(sought.as_str()) {
        let goes_on = |sign: char| sign.is_alphanumeric() || "-_.".contains(sign);
        if !source[..at].ends_with(goes_on) {
            let rest = &source[at + sought.len()..];
            found.push(rest[..rest.find([';', '}']).unwrap_or(rest.len())].trim());
        }
    }
    found
}

/// The names that follow this word in an expression.
fn names_after<'a>(expression: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_end = |sign: char| !sign.is_alphanumeric() && sign != '-';
    expression.split(word).skip(1).map(move |rest| &rest[..rest.find(is_end).unwrap_or(rest.len())])
}

/// The theme's colours in an expression and in the colour properties of the same file that it names, and those written as `#RRGGBB`.
fn colours_in(
    source: &str,
    expression: &str,
    of_theme: &BTreeSet<String>,
    seen: &mut BTreeSet<String>,
) -> BTreeSet<String> {
    let named = names_after(expression, "Theme.").filter(|name| of_theme.contains(*name));
    let mut found: BTreeSet<String> = named.map(Into::into).collect();
    found.extend(names_after(expression, "#").map(|digits| format!("#{digits}")));
    for name in ["root.", "self.", "parent."].iter().flat_map(|of| names_after(expression, of)) {
        if source.contains(&format!("property <color> {name}:")) && seen.insert(name.into()) {
            for value in set_to(source, name) {
                found.extend(colours_in(source, value, of_theme, seen));
            }
        }
    }
    found
}

#[test]
fn every_colour_of_a_text_is_checked_against_what_it_is_on() {
    let theme = Theme::read();
    let lines = theme.0.lines().filter_map(|line| line.trim().strip_prefix("out property <color> "));
    let of_theme: BTreeSet<String> =
        lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name.into()).collect();
    let (mut named, mut written, mut faint) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut texts = 0;
    for (file, source) in sources() {
        // Only texts have a property of this name; areas have a background, and lines a stroke.
        for expression in ["color", "selection-foreground-color"].iter().flat_map(|of| set_to(&source, of)) {
            let found = colours_in(&source, expression, &of_theme, &mut BTreeSet::new());
            assert!(!found.is_empty(), "{file}: {expression} is not understood");
            texts += 1;
            for colour in found {
                if colour.starts_with('#') {
                    written.insert((file.clone(), colour));
                } else {
                    named.insert(colour);
                }
            }
            if ["with-alpha", "transparentize", "brighter", "darker", "mix"]
                .iter()
                .any(|change| expression.contains(&format!(".{change}(")))
            {
                faint.insert((file.clone(), expression.to_owned()));
            }
        }
    }
    let owned = |pairs: &[(&str, &str)]| -> BTreeSet<(String, String)> {
        pairs.iter().map(|(file, what)| ((*file).to_owned(), (*what).to_owned())).collect()
    };
    let checked: BTreeSet<String> =
        TEXTS.iter().chain(&BOARD_TEXTS).map(|(drawn, _)| (*drawn).to_owned()).collect();
    assert_eq!(named, checked, "the theme's colours of texts, and those that are checked");
    assert_eq!(written, owned(&ON_PIECES), "colours of texts that are not the theme's");
    assert_eq!(faint, owned(&FAINT), "texts that are drawn fainter than their colour");
    assert!(texts > 60, "only {texts}");
}

#[test]
fn a_text_without_a_colour_of_its_own_is_none_of_ours() {
    let mut seen = 0;
    for (file, source) in sources() {
        for opening in ["Text {", "TextInput {"] {
            for (at, _) in source.match_indices(opening) {
                if source[..at].ends_with(|sign: char| sign.is_alphanumeric() || sign == '-') {
                    continue;
                }
                let mut depth = 0;
                let end = source[at..].find(|sign: char| {
                    depth += i32::from(sign == '{') - i32::from(sign == '}');
                    sign == '}' && depth == 0
                });
                let block = &source[at..at + end.expect("a block ends")];
                // The field of a code that is copied has no height.
                let is_hidden = file == "code.slint" && block.contains("height: 0px;");
                assert!(is_hidden || !set_to(block, "color").is_empty(), "{file}: {block}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "only {seen}");
}

#[test]
fn colours_of_texts_are_found_where_they_are_set() {
    let source = bare(
        "// color: Theme.a;\n\
         property <color> ink: root.on ? Theme.b : #123456;\n\
         border-color: Theme.c; text: \"color: Theme.d;\"; color: root.ink.with-alpha(0.5); }\n\
         Sign { ink: Theme.e-f; }",
    );
    assert_eq!(set_to(&source, "color"), ["root.ink.with-alpha(0.5)"]);
    let of_theme = BTreeSet::from(["a", "b", "c", "d", "e-f"].map(String::from));
    let found = colours_in(&source, set_to(&source, "color")[0], &of_theme, &mut BTreeSet::new());
    assert_eq!(found, BTreeSet::from(["#123456", "b", "e-f"].map(String::from)));
}

#[test]
fn marks_can_be_seen_on_every_board_in_every_theme() {
    let pairs = [("jade-on-board", "board"), ("seal-on-board", "board")];
    let faint = too_faint(&Theme::read(), &pairs, MARK, &[0, 1, 2]);
    assert!(faint.is_empty(), "{}", faint.join("\n"));
}

#[test]
fn the_theme_for_electronic_paper_has_two_colours() {
    let theme = Theme::read();
    let chosen = Chosen { dark: false, eink: true, board_style: 1 };
    let named = theme.0.lines().filter_map(|line| line.trim().strip_prefix("out property <color> "));
    let mut checked = 0;
    for line in named {
        let (name, expression) = line.split_once(": ").expect("a colour has a value");
        let (condition, rest) =
            expression.split_once(" ? ").unwrap_or_else(|| panic!("{name}: {expression}"));
        assert_eq!(condition, "eink", "{name} is the same in every theme");
        let colour = rest.split_once(" : ").expect("a question has two answers").0;
        assert!(["#000000", "#FFFFFF", "#00000000"].contains(&colour), "{name}: {colour}");
        if colour.len() == 7 {
            assert_eq!(theme.colour(name, chosen), &colour[1..]);
        }
        checked += 1;
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn the_measure_is_wcags() {
    assert!((contrast("000000", "FFFFFF") - 21.0).abs() < 1e-9);
    assert!((contrast("777777", "FFFFFF") - 4.48).abs() < 0.005, "just too faint for text");
    let chosen = |dark, board_style| Chosen { dark, eink: false, board_style };
    let nested =
        "board-style == 2 ? (dark ? #000002 : #000003) : board-style == 1 && dark ? #000004 : #000005";
    assert_eq!(value(nested, chosen(true, 2)), "000002");
    assert_eq!(value(nested, chosen(false, 2)), "000003");
    assert_eq!(value(nested, chosen(true, 1)), "000004");
    assert_eq!(value(nested, chosen(false, 1)), "000005");
}
