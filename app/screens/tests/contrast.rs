//! Contrast of text and marks against their background, in every theme and all board styles, by WCAG 2.2: 1.4.3 for text,
//! 1.4.11 for graphics. All colours are read from ui/theme.slint.

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

#[test]
fn text_can_be_read_on_paper_cards_and_buttons_in_every_theme() {
    let pairs = [
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
    let faint = too_faint(&Theme::read(), &pairs, TEXT, &[0]);
    assert!(faint.is_empty(), "{}", faint.join("\n"));
}

#[test]
fn coordinates_crosses_and_numbers_can_be_read_on_every_board_in_every_theme() {
    let pairs = [("board-line", "board"), ("seal-text-on-board", "board")];
    let faint = too_faint(&Theme::read(), &pairs, TEXT, &[0, 1, 2]);
    assert!(faint.is_empty(), "{}", faint.join("\n"));
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
