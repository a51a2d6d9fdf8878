//! Texts can be read where they are drawn: the contrast of every text by its pixels, in every theme.
//!
//! `app/screens/tests/contrast.rs` compares the colours that are meant for each other. Here a text is found out that lies on
//! another ground than was meant, under something, or is drawn fainter.

use std::collections::BTreeMap;

use i_slint_backend_testing::{ElementHandle, ElementQuery};
use qiyou::Paper;
use qiyou::headless::{Picture, Stage};
use qiyou::screens::Dialog;
use slint::Rgb8Pixel;

use crate::support::{Told, stories, tell_on};
use crate::touches::dialog;

/// WCAG 2.2, 1.4.3.
const ENOUGH: f64 = 4.5;
/// Of one letter beside the board: its strokes are thinner than two pixels, and may lie so that no pixel has its whole colour, which
/// app/screens/tests/contrast.rs compares.
const ENOUGH_OF_A_LETTER: f64 = 3.5;
/// A text has this many pixels of its own colour at the least, whatever its edges are mixed with: as many as a full stop of the
/// smallest text has. A share of the area would not do, since a text may be a few letters in a wide place.
const OWN_PIXELS: usize = 8;
/// So high that nothing is scrolled, where it would be cut off at an edge.
const TALL: (u32, u32, f32) = (720, 3_000, 2.0);
/// The same for pages that are longer than any other.
const LONG: (u32, u32, f32) = (720, 20_000, 2.0);
const LONG_PAGES: [&str; 4] = ["manual", "settings", "licences", "privacy"];

/// Part of the window in device pixels.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Area {
    fn of(element: &ElementHandle, scale: f32) -> Area {
        let (at, size) = (element.absolute_position(), element.size());
        let (left, top) = (at.x * scale, at.y * scale);
        Area { left, top, right: left + size.width * scale, bottom: top + size.height * scale }
    }

    /// Whether the other one is within this one, but for rounding.
    fn has(&self, other: &Area) -> bool {
        let near = 1.0;
        self.left <= other.left + near
            && self.top <= other.top + near
            && self.right >= other.right - near
            && self.bottom >= other.bottom - near
    }
}

fn luminance(pixel: Rgb8Pixel) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(pixel.r) + 0.7152 * linear(pixel.g) + 0.0722 * linear(pixel.b)
}

fn contrast(one: Rgb8Pixel, other: Rgb8Pixel) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The ground of a text, which is the most frequent colour of its area, the colour of the text, which is the one farthest from it,
/// and their contrast.
fn measured(picture: &Picture, area: Area) -> Option<(Rgb8Pixel, Rgb8Pixel, f64)> {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let (left, right) = (area.left.max(0.0) as usize, (area.right.max(0.0).ceil() as usize).min(width));
    let (top, bottom) = (area.top.max(0.0) as usize, (area.bottom.max(0.0).ceil() as usize).min(height));
    let mut counts: BTreeMap<[u8; 3], usize> = BTreeMap::new();
    for row in top..bottom {
        for pixel in &picture.pixels[row * width + left.min(right)..row * width + right] {
            *counts.entry([pixel.r, pixel.g, pixel.b]).or_default() += 1;
        }
    }
    let colour = |[r, g, b]: [u8; 3]| Rgb8Pixel { r, g, b };
    let (ground, _) = counts.iter().max_by_key(|(_, count)| **count)?;
    let ground = colour(*ground);
    let mut found: Vec<(f64, [u8; 3], usize)> =
        counts.iter().map(|(one, count)| (contrast(colour(*one), ground), *one, *count)).collect();
    found.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    let mut pixels = 0;
    let text = found.iter().find(|(.., count)| {
        pixels += count;
        pixels >= OWN_PIXELS
    });
    let (contrast, text, _) = text?;
    Some((ground, colour(*text), *contrast))
}

fn has_type(element: &ElementHandle, is_wanted: fn(&str) -> bool) -> bool {
    element.type_name().is_some_and(|name| is_wanted(&name))
        || element.bases().is_some_and(|mut bases| bases.any(|base| is_wanted(&base)))
}

/// All texts of the page; of an open dialog if there is one, because the page behind it is not to be read.
fn texts(told: &Told) -> Vec<ElementHandle> {
    let is_text = |element: &ElementHandle| has_type(element, |name| name.ends_with("Text"));
    let all = ElementQuery::from_root(told.app.window());
    if dialog(told) == Dialog::None {
        return all.match_predicate(is_text).find_all();
    }
    let dialogs = all.match_predicate(|element| has_type(element, |name| name.ends_with("Dialog")));
    dialogs.match_descendants().match_predicate(is_text).find_all()
}

/// Their colours are compared in app/screens/tests/contrast.rs.
const ON_STONES: &str = "on a stone or a lamp, which covers the ground";
/// WCAG excepts them.
const UNUSABLE: &str = "of a control that cannot be used now";

/// Where texts need not have the contrast, and why.
fn exempt(told: &Told) -> Vec<(ElementHandle, &'static str)> {
    let all = ElementQuery::from_root(told.app.window()).find_all();
    let exempt = all.into_iter().filter_map(|element| {
        if has_type(&element, |name| name.ends_with("Point")) {
            Some((element, ON_STONES))
        } else if element.accessible_enabled() == Some(false) {
            Some((element, UNUSABLE))
        } else {
            None
        }
    });
    exempt.collect()
}

/// Every third story, so that all three themes together have all of them; every other one of these in Chinese.
fn every_text_can_be_read(paper: Paper, part: usize) {
    let stage = Stage::new();
    let (mut seen, mut spared, mut faint) = (0, BTreeMap::new(), Vec::new());
    for (at, (name, story)) in stories().enumerate().filter(|(at, _)| at % 3 == part) {
        let size = if LONG_PAGES.iter().any(|page| name.starts_with(page)) { LONG } else { TALL };
        let told = tell_on(&stage, size, ((at / 3).is_multiple_of(2), paper, 0), story);
        let picture = told.scene.picture();
        let window = Area { left: 0.0, top: 0.0, right: size.0 as f32, bottom: size.1 as f32 };
        let exempt: Vec<(Area, &str)> =
            exempt(&told).into_iter().map(|(element, reason)| (Area::of(&element, size.2), reason)).collect();
        for element in texts(&told) {
            let words = element.accessible_label().unwrap_or_default();
            let area = Area::of(&element, size.2);
            if words.trim().is_empty() || element.computed_opacity() == 0.0 || !window.has(&area) {
                continue;
            }
            if let Some((_, reason)) = exempt.iter().find(|(around, _)| around.has(&area)) {
                *spared.entry(*reason).or_insert(0) += 1;
                continue;
            }
            seen += 1;
            let hex = |colour: Rgb8Pixel| format!("#{:02X}{:02X}{:02X}", colour.r, colour.g, colour.b);
            let enough = if words.chars().count() == 1 { ENOUGH_OF_A_LETTER } else { ENOUGH };
            match measured(&picture, area) {
                Some((.., found)) if found >= enough => {}
                Some((ground, text, found)) => faint.push(format!(
                    "{name}: {words:?} has {found:.2}, {} on {}, at {area:?}",
                    hex(text),
                    hex(ground)
                )),
                None => faint.push(format!("{name}: {words:?} has no pixels at {area:?}")),
            }
        }
    }
    println!("{seen} texts were measured; not measured: {spared:?}");
    assert!(faint.is_empty(), "{} of {seen} texts, {paper:?}:\n{}", faint.len(), faint.join("\n"));
    assert!(seen > 150, "only {seen} texts were measured");
}

// One test per theme, so that they run in parallel.

#[test]
fn every_text_can_be_read_on_light_paper() {
    every_text_can_be_read(Paper::Light, 0);
}

#[test]
fn every_text_can_be_read_on_dark_paper() {
    every_text_can_be_read(Paper::Dark, 1);
}

#[test]
fn every_text_can_be_read_on_electronic_paper() {
    every_text_can_be_read(Paper::EInk, 2);
}

#[test]
fn the_measure_notices_a_text_that_is_too_faint_and_knows_the_ground_of_a_few_letters() {
    let paper = Rgb8Pixel { r: 0xF3, g: 0xED, b: 0xE0 };
    let drawn = |text: Rgb8Pixel, pixels: usize| {
        let pixels = (0..100 * 20).map(|at| if at < pixels { text } else { paper }).collect();
        let picture = Picture { width: 100, height: 20, pixels };
        measured(&picture, Area { left: 0.0, top: 0.0, right: 100.0, bottom: 20.0 })
    };
    let (soft, faint) = (Rgb8Pixel { r: 0x6B, g: 0x62, b: 0x54 }, Rgb8Pixel { r: 0xA5, g: 0x9B, b: 0x88 });
    let (ground, text, found) = drawn(soft, 40).expect("a text");
    assert!(ground == paper && text == soft && found > ENOUGH, "{found}");
    assert!(drawn(faint, 40).expect("a text").2 < 3.0);
    assert!(drawn(soft, OWN_PIXELS - 1).expect("its ground").2 < 1.01, "specks are no text");
    assert!(
        (contrast(Rgb8Pixel { r: 0, g: 0, b: 0 }, Rgb8Pixel { r: 255, g: 255, b: 255 }) - 21.0).abs() < 1e-9
    );
}
