//! Golden tests: every page looks as it did when its picture was approved.
//!
//! Every page is compared in all sizes, languages and themes; its stories are distributed over the sixteen combinations, so
//! that each story is drawn at least once. (`make screens` draws all stories in all combinations, which takes minutes.)
//! `BLESS=1 cargo test -p qiyou --test app golden` approves the present pictures; differences are shown side by side in
//! target/golden.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use qiyou::Paper;
use qiyou::headless::{Picture, Stage};

use crate::support::{SIZES, stories, tell_on};

/// Tolerance per channel of a pixel: golden pictures have a palette, and the colours of single pixels may be far from it.
const ROUNDED: u8 = 48;
/// Tolerance of the mean of a block per channel. Rounding errors average out below this; a different colour of
/// text, theme or board does not.
const NEAR: u32 = 16;
/// Side of a block in pixels: about the width of a stroke.
const BLOCK: usize = 4;
/// Number of pixels per 10,000 of the downscaled picture that may differ: less than a letter of the smallest text on the
/// smallest page.
const FEW: usize = 2;
/// Number of colours in a palette.
const COLOURS: usize = 256;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// A picture: name of the story, index of its size, Chinese, theme.
type Drawn = (&'static str, usize, bool, Paper);

/// Pictures in the theme for electronic paper: a few pages, since every other one consists of the same parts.
const EINK: [Drawn; 12] = [
    ("home", 0, true, Paper::EInk),
    ("settings", 0, false, Paper::EInk),
    ("nearby", 0, false, Paper::EInk),
    ("board", 0, false, Paper::EInk),
    ("go-counting", 1, true, Paper::EInk),
    ("xiangqi", 0, true, Paper::EInk),
    ("xiangqi-pictures", 3, false, Paper::EInk),
    ("liuzhou-placing", 2, false, Paper::EInk),
    ("lights-out", 0, false, Paper::EInk),
    ("end-won", 2, true, Paper::EInk),
    ("replay-judged", 3, false, Paper::EInk),
    ("invitation", 0, false, Paper::EInk),
];

/// Number of combinations of sizes, languages and themes.
const WAYS: usize = SIZES.len() * 4;

/// The stories of each page, grouped by the first word of their names.
fn pages() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut pages: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
    for (name, _) in stories() {
        pages.entry(page(name)).or_default().push(name);
    }
    pages
}

fn page(story: &str) -> &str {
    story.split('-').next().unwrap_or(story)
}

/// The pictures to draw.
fn drawn() -> Vec<Drawn> {
    let mut all = Vec::new();
    for stories in pages().values() {
        for n in 0..stories.len().max(WAYS) {
            let (size, round) = (n % SIZES.len(), n / SIZES.len() % 4);
            // Each story alternates languages and themes.
            let (chinese, dark) = ((size + round).is_multiple_of(2), (size / 2 + round / 2) % 2 == 1);
            all.push((
                stories[n % stories.len()],
                size,
                chinese,
                if dark { Paper::Dark } else { Paper::Light },
            ));
        }
    }
    all.extend(EINK);
    all
}

fn file_name((name, size, chinese, paper): Drawn) -> String {
    let (width, height, _) = SIZES[size];
    let language = if chinese { "zh" } else { "en" };
    let theme = match paper {
        Paper::EInk => "eink",
        Paper::Dark => "dark",
        Paper::Light | Paper::System => "light",
    };
    format!("{name}-{width}x{height}-{language}-{theme}.png")
}

/// A picture at half its width and height, each pixel the mean of four, so that invisible differences do not count.
struct Small {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl Small {
    fn of(picture: &Picture) -> Self {
        let (wide, width) = (picture.width as usize, picture.width as usize / 2);
        let mean = |index: usize| {
            let (x, y) = (index % width * 2, index / width * 2);
            let four = [y * wide + x, y * wide + x + 1, (y + 1) * wide + x, (y + 1) * wide + x + 1];
            let sum = |part: fn(&slint::Rgb8Pixel) -> u8| {
                (four.iter().map(|at| u16::from(part(&picture.pixels[*at]))).sum::<u16>() / 4) as u8
            };
            [sum(|pixel| pixel.r), sum(|pixel| pixel.g), sum(|pixel| pixel.b)]
        };
        Self { width, pixels: (0..width * (picture.height as usize / 2)).map(mean).collect() }
    }

    /// The most frequent colours. Among colours that are equal in the upper five bits of each channel only the most frequent
    /// one.
    fn palette(&self) -> Vec<[u8; 3]> {
        let mut exact: BTreeMap<[u8; 3], usize> = BTreeMap::new();
        for pixel in &self.pixels {
            *exact.entry(*pixel).or_default() += 1;
        }
        let mut alike: BTreeMap<[u8; 3], (usize, usize, [u8; 3])> = BTreeMap::new();
        for (colour, count) in exact {
            let (all, most, best) = alike.entry(colour.map(|part| part >> 3)).or_insert((0, 0, colour));
            *all += count;
            if count > *most {
                (*most, *best) = (count, colour);
            }
        }
        let mut colours: Vec<_> = alike.into_values().collect();
        colours.sort_by_key(|(all, _, colour)| (usize::MAX - all, *colour));
        colours.into_iter().take(COLOURS).map(|(_, _, colour)| colour).collect()
    }

    fn write(&self, path: &Path) {
        let palette = self.palette();
        let far = |a: [u8; 3], b: [u8; 3]| {
            a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum::<u32>()
        };
        let mut known: BTreeMap<[u8; 3], u8> = BTreeMap::new();
        let nearest = |pixel: &[u8; 3]| {
            *known.entry(*pixel).or_insert_with(|| {
                let best = (0..palette.len()).min_by_key(|at| far(palette[*at], *pixel));
                best.expect("a picture has a colour") as u8
            })
        };
        let indices: Vec<u8> = self.pixels.iter().map(nearest).collect();
        let rounded = indices.iter().map(|index| palette[usize::from(*index)]).collect();
        let is_alike = Self { width: self.width, pixels: rounded }.differs(self) <= self.few() / 2;
        let file = BufWriter::new(File::create(path).expect("the folder can be written"));
        let height = self.pixels.len() / self.width;
        let mut encoder = png::Encoder::new(file, self.width as u32, height as u32);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        if !is_alike {
            // Too many colours for a palette.
            encoder.set_color(png::ColorType::Rgb);
            let all = self.pixels.concat();
            encoder.write_header().and_then(|mut image| image.write_image_data(&all)).expect("written");
            return;
        }
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.concat());
        // Indexed rows compress best without a filter.
        encoder.set_filter(png::Filter::NoFilter);
        encoder.write_header().and_then(|mut image| image.write_image_data(&indices)).expect("written");
    }

    fn read(path: &Path) -> Option<Self> {
        let mut decoder = png::Decoder::new(BufReader::new(File::open(path).ok()?));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut image = decoder.read_info().ok()?;
        let mut bytes = vec![0; image.output_buffer_size()?];
        let info = image.next_frame(&mut bytes).ok()?;
        let pixels = bytes[..info.buffer_size()].chunks(3).map(|part| [part[0], part[1], part[2]]).collect();
        Some(Self { width: info.width as usize, pixels })
    }

    /// Number of pixels that differ by more than rounding, by single pixels or by blocks, whichever is larger.
    fn differs(&self, other: &Self) -> usize {
        if (self.width, self.pixels.len()) != (other.width, other.pixels.len()) {
            return self.pixels.len();
        }
        let far = |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > ROUNDED);
        let pixels = self.pixels.iter().zip(&other.pixels).filter(far).count();
        let other_means = other.means();
        let far = |(a, b): &(&[u32; 3], &[u32; 3])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > NEAR);
        let blocks = self.means().iter().zip(&other_means).filter(far).count();
        pixels.max(blocks * BLOCK * BLOCK)
    }

    /// The mean colour of each block, including partial blocks at the edges.
    fn means(&self) -> Vec<[u32; 3]> {
        let wide = self.width.div_ceil(BLOCK);
        let high = (self.pixels.len() / self.width).div_ceil(BLOCK);
        let mut sums = vec![([0_u32; 3], 0_u32); wide * high];
        for (at, pixel) in self.pixels.iter().enumerate() {
            let (sum, count) = &mut sums[at / self.width / BLOCK * wide + at % self.width / BLOCK];
            for (sum, part) in sum.iter_mut().zip(pixel) {
                *sum += u32::from(*part);
            }
            *count += 1;
        }
        sums.into_iter().map(|(sum, count)| sum.map(|sum| sum / count)).collect()
    }

    /// Number of pixels that may differ.
    fn few(&self) -> usize {
        self.pixels.len() * FEW / 10_000
    }
}

fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Compares the pictures of this size with the approved ones.
fn compare(at: usize) {
    let stage = Stage::new();
    let told: BTreeMap<&str, _> = stories().collect();
    let differing = folder().join("../../../../target/golden");
    let mut wrong = Vec::new();
    for one in drawn().into_iter().filter(|(_, size, ..)| *size == at) {
        let (name, size, chinese, paper) = one;
        let file = file_name(one);
        let now = Small::of(&tell_on(&stage, SIZES[size], (chinese, paper, 0), told[name]).scene.picture());
        let path = folder().join(&file);
        let kept = Small::read(&path);
        let differs = kept.as_ref().map(|kept| kept.differs(&now));
        if differs.is_some_and(|differs| differs <= now.few()) {
            continue;
        }
        if is_blessing() {
            now.write(&path);
            continue;
        }
        fs::create_dir_all(&differing).expect("a folder for what differs");
        now.write(&differing.join(&file));
        if kept.is_some() {
            fs::copy(&path, differing.join(format!("{file}.before.png"))).expect("copied");
        }
        wrong.push(differs.map_or_else(
            || format!("{file} is new"),
            |differs| format!("{file}: {differs} of {} pixels differ", now.pixels.len()),
        ));
    }
    assert!(
        wrong.is_empty(),
        "look at them in {}; if they are good, BLESS=1 keeps them:\n{}",
        differing.display(),
        wrong.join("\n")
    );
}

// One test per size, so that they run in parallel.

#[test]
fn every_page_looks_as_it_was_found_good_on_a_phone() {
    compare(0);
}

#[test]
fn every_page_looks_as_it_was_found_good_on_the_smallest_screen() {
    compare(1);
}

#[test]
fn every_page_looks_as_it_was_found_good_on_a_handheld() {
    compare(2);
}

#[test]
fn every_page_looks_as_it_was_found_good_on_a_larger_handheld() {
    compare(3);
}

#[test]
fn each_page_is_drawn_in_every_size_language_and_theme_and_no_story_is_left_out() {
    let mut ways: BTreeMap<&str, BTreeSet<(usize, bool, bool)>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (name, size, chinese, paper) in drawn().into_iter().filter(|(.., paper)| *paper != Paper::EInk) {
        ways.entry(page(name)).or_default().insert((size, chinese, paper == Paper::Dark));
        seen.insert(name);
    }
    assert!(ways.values().all(|ways| ways.len() == WAYS), "{ways:?}");
    assert_eq!(seen, stories().map(|(name, _)| name).collect());
}

/// The widest square whose pixels have one colour that is neither black nor white, and its place; at most as wide as `limit`.
fn half_tone(picture: &Picture, limit: usize) -> Option<(usize, usize)> {
    let width = picture.width as usize;
    let at = |x: usize, y: usize| picture.pixels[y * width + x];
    let plain = |x: usize, y: usize| {
        let first = at(x, y);
        let grey = [first.r, first.g, first.b];
        grey != [0; 3]
            && grey != [255; 3]
            && (0..limit * limit).all(|n| at(x + n % limit, y + n / limit) == first)
    };
    let (across, down) = (width.saturating_sub(limit), (picture.height as usize).saturating_sub(limit));
    (0..down).flat_map(|y| (0..across).map(move |x| (x, y))).find(|&(x, y)| plain(x, y))
}

#[test]
fn on_electronic_paper_nothing_has_a_colour_and_only_the_edges_of_letters_are_grey() {
    let stage = Stage::new();
    let mut wrong = Vec::new();
    for (name, story) in stories() {
        let told = tell_on(&stage, SIZES[0], (name.len() % 2 == 0, Paper::EInk, 0), story);
        let picture = told.scene.picture();
        let coloured = picture.pixels.iter().position(|one| one.r != one.g || one.g != one.b);
        let place = |at: usize| (at % picture.width as usize, at / picture.width as usize);
        wrong.extend(coloured.map(|at| format!("{name} has a colour at {:?}", place(at))));
        wrong.extend(half_tone(&picture, 4).map(|at| format!("{name} has a half tone at {at:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (_, home) = stories().find(|(name, _)| *name == "home").expect("the first page");
    let light = tell_on(&stage, SIZES[0], (false, Paper::Light, 0), home).scene.picture();
    assert!(half_tone(&light, 4).is_some(), "the measure notices paper that is not white");
}

#[test]
fn the_kept_pictures_are_those_of_the_stories_and_few_bytes() {
    let expected: BTreeSet<String> = drawn().into_iter().map(file_name).collect();
    let (mut bytes, mut kept) = (0, BTreeSet::new());
    for entry in fs::read_dir(folder()).expect("the kept pictures") {
        let entry = entry.expect("readable");
        let name = entry.file_name().into_string().expect("our own names");
        if expected.contains(&name) {
            bytes += entry.metadata().expect("readable").len();
            kept.insert(name);
        } else if is_blessing() {
            fs::remove_file(entry.path()).expect("removed");
        } else {
            panic!("{name} is of no story any more");
        }
    }
    // Whoever approves of pictures may not have drawn all of them yet.
    let missing: Vec<&String> = expected.difference(&kept).collect();
    assert!(missing.is_empty() || is_blessing(), "not kept: {missing:?}");
    assert!(bytes < 10_000_000, "the kept pictures take {bytes} bytes");
}

#[test]
fn a_button_that_moves_and_another_colour_are_noticed_and_a_rounded_colour_is_not() {
    let plain =
        |change: &dyn Fn(usize) -> [u8; 3]| Small { width: 100, pixels: (0..10_000).map(change).collect() };
    let paper = plain(&|_| [0xF3, 0xED, 0xE0]);
    assert_eq!(paper.differs(&plain(&|_| [0xF0, 0xE8, 0xE8])), 0);
    let button =
        |at: usize| if (2_000..2_040).contains(&at) { [0x22, 0x1E, 0x18] } else { [0xF3, 0xED, 0xE0] };
    assert!(paper.differs(&plain(&button)) >= 40);
    // A different colour everywhere, although no pixel differs much.
    assert_eq!(paper.differs(&plain(&|_| [0xF3 - 17, 0xED - 17, 0xE0 - 17])), 10_000);
    assert_eq!(paper.differs(&plain(&|_| [0xF3 - 16, 0xED, 0xE0])), 0);
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("one.png");
    plain(&button).write(&path);
    assert_eq!(Small::read(&path).expect("just written").differs(&plain(&button)), 0);
}
