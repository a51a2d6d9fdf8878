//! Sprites, rasterised once per pixel size: stones, boards, tiles, icons.
//!
//! The software renderer would rasterise an SVG at each draw (1.9 ms per stone), while a sprite of the right size is copied.

mod kept;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Mutex, OnceLock};

use proto::{board as wire, control};
use slint::{ComponentHandle, Image, Rgba8Pixel, SharedPixelBuffer};

use self::kept::{Drawn, Kept};
use crate::screens::{Art, IconName, MainWindow};

/// Maximum size of the cached sprites in bytes: three boards that fill a handheld's screen, and all small sprites. Resizing
/// a window requests many sizes once; beyond the limit the cache is cleared, and visible sprites are drawn again.
const KEPT_BYTES: usize = 12 << 20;

/// Maximum width of a sprite in device pixels: a board that fills an 8K screen.
const WIDEST: i32 = 8_192;

/// The cached sprites, and the boards shown as thumbnails.
#[derive(Default)]
pub(crate) struct Sprites {
    drawn: RefCell<HashMap<String, Image>>,
    bytes: Cell<usize>,
    /// By match id: revision and board.
    thumbnails: RefCell<HashMap<String, (i32, control::Board)>>,
    first_drawing: RefCell<Option<Box<dyn FnOnce()>>>,
    /// The cache of earlier starts, during the start.
    kept: RefCell<Option<Kept>>,
}

impl Sprites {
    /// Handles the window's requests for sprites.
    pub(crate) fn attach(window: &MainWindow) -> Rc<Self> {
        let sprites = Rc::new(Self::default());
        let art = window.global::<Art>();
        sprites.serve(&art);
        let it = sprites.clone();
        art.on_first_drawing(move || {
            if let Some(call) = it.first_drawing.take() {
                call();
            }
            slint::Color::default()
        });
        sprites
    }

    /// Handles requests for all that is drawn at its own size.
    pub(crate) fn serve(self: &Rc<Self>, art: &Art<'_>) {
        let it = self.clone();
        art.on_icon(move |name, pixels| it.icon(name, pixels));
        let it = self.clone();
        art.on_piece(move |side, piece, pixels, turned, set, tone| {
            if !(1..=2).contains(&side) {
                return Image::default();
            }
            let turned = turned && piece != 0;
            let look = Look { turned, pictures: set == 1, tone: Tone::of(tone) };
            it.drawn_at(&format!("piece {side} {piece} {look:?}"), pixels, pixels, |w, h| {
                framed(&drawn_piece(side, piece, look), w, h, 0)
            })
        });
        let it = self.clone();
        art.on_board(move |river, columns, rows, cell, left, top, width, height, tone, style| {
            let tone = Tone::of(tone);
            let key = format!("board {river} {columns} {rows} {cell} {left} {top} {tone:?} {style}");
            it.drawn_at(&key, width, height, |w, h| {
                board(&Lines { river, columns, rows, cell, left, top, tone, style }, w, h)
            })
        });
        let it = self.clone();
        art.on_tile(move |game, width, height, tone| {
            let tone = Tone::of(tone);
            it.drawn_at(&format!("tile {game} {tone:?}"), width, height, |w, h| {
                framed(&widened(&themed(tile(game), tone), figure(game), w, h), w, h, w.min(h) / 14)
            })
        });
        let it = self.clone();
        art.on_two_devices(move |width, height, tone| {
            let tone = Tone::of(tone);
            it.drawn_at(&format!("two devices {tone:?}"), width, height, |w, h| {
                framed(&themed(include_str!("../../screens/art/two-devices.svg"), tone), w, h, 0)
            })
        });
        let it = self.clone();
        art.on_thumbnail(move |key, revision, pixels, tone| {
            let tone = Tone::of(tone);
            it.drawn_at(&format!("thumbnail {key} {revision} {tone:?}"), pixels, pixels, |w, h| {
                let known = it.thumbnails.borrow();
                let none = control::Board::default();
                thumbnail(known.get(key.as_str()).map_or(&none, |(_, board)| board), w, h, tone)
            })
        });
    }

    /// Sets the board of the thumbnail with this key; returns its revision, which grows when the board changes.
    pub(crate) fn set_thumbnail(&self, key: &str, board: Option<&control::Board>) -> i32 {
        let mut known = self.thumbnails.borrow_mut();
        let (revision, shown) = known.entry(key.to_owned()).or_default();
        let none = control::Board::default();
        let board = board.unwrap_or(&none);
        if shown != board {
            *revision += 1;
            shown.clone_from(board);
        }
        *revision
    }

    /// Calls `call` while the first frame is drawn.
    pub(crate) fn at_first_drawing(&self, call: impl FnOnce() + 'static) {
        *self.first_drawing.borrow_mut() = Some(Box::new(call));
    }

    /// Uses the sprites in this file until [`Self::started`].
    pub(crate) fn starts(&self, path: PathBuf) {
        *self.kept.borrow_mut() = Some(Kept::read(path));
    }

    /// Stores the sprites drawn since [`Self::starts`] for the next start.
    pub(crate) fn started(&self) {
        if let Some(kept) = self.kept.take() {
            kept.write();
        }
    }

    fn icon(&self, name: IconName, pixels: i32) -> Image {
        let Some(svg) = icon(name) else { return Image::default() };
        self.drawn_at(&format!("icon {name:?}"), pixels, pixels, |w, h| framed(svg, w, h, 0))
    }

    fn drawn_at(&self, key: &str, width: i32, height: i32, svg: impl FnOnce(i32, i32) -> String) -> Image {
        if !(1..=WIDEST).contains(&width) || !(1..=WIDEST).contains(&height) {
            return Image::default();
        }
        let key = format!("{key} {width}x{height}");
        if let Some(image) = self.drawn.borrow().get(&key) {
            return image.clone();
        }
        let svg = svg(width, height);
        let image = match &mut *self.kept.borrow_mut() {
            Some(kept) => raster_or_kept(kept, &svg, width as u32, height as u32),
            None => raster(&svg),
        };
        let mut drawn = self.drawn.borrow_mut();
        let bytes = width as usize * height as usize * 4;
        if self.bytes.get() + bytes > KEPT_BYTES {
            drawn.clear();
            self.bytes.set(0);
        }
        self.bytes.set(self.bytes.get() + bytes);
        drawn.insert(key, image.clone());
        image
    }
}

/// Rasterises an SVG at its own size in pixels.
fn raster(svg: &str) -> Image {
    let Some(shared) = SHARED.get() else { return draw(svg) };
    let drawn = kept::of(svg);
    if let Some(pixels) = shared.lock().expect("no holder panics").get(&drawn) {
        return Image::from_rgba8_premultiplied(pixels.clone());
    }
    let image = draw(svg);
    if let Some(pixels) = image.to_rgba8_premultiplied() {
        shared.lock().expect("no holder panics").insert(drawn, pixels);
    }
    image
}

fn draw(svg: &str) -> Image {
    let vector = Image::load_from_svg_data(svg.as_bytes()).expect("our own drawings are valid SVG");
    vector.to_rgba8_premultiplied().map_or(vector, Image::from_rgba8_premultiplied)
}

/// Sprites of all apps in this process, if shared.
static SHARED: OnceLock<Mutex<HashMap<Drawn, SharedPixelBuffer<Rgba8Pixel>>>> = OnceLock::new();

/// From now on each sprite is drawn once per process, for all apps, and kept forever.
pub(crate) fn share() {
    SHARED.get_or_init(Mutex::default);
}

/// As [`raster`], unless the sprite is in the cache of earlier starts.
fn raster_or_kept(kept: &mut Kept, svg: &str, width: u32, height: u32) -> Image {
    let drawn = kept::of(svg);
    if let Some(pixels) = kept.take(drawn, width, height) {
        return Image::from_rgba8_premultiplied(pixels);
    }
    let image = raster(svg);
    if let Some(pixels) = image.to_rgba8_premultiplied() {
        kept.put(drawn, &pixels);
    }
    image
}

/// Fits a drawing into a frame of `width` x `height` pixels with a corner radius of `radius`.
fn framed(svg: &str, width: i32, height: i32, radius: i32) -> String {
    // The drawing keeps its viewBox; its size is replaced by the frame's.
    let size_start = svg.find(" width=\"").expect("our drawings say their width first");
    let size_end = svg.find(" viewBox=").expect("then their viewBox");
    let known = format!("{} width=\"{width}\" height=\"{height}\"{}", &svg[..size_start], &svg[size_end..]);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><defs><clipPath id="frame"><rect width="{width}" height="{height}" rx="{radius}"/></clipPath></defs><g clip-path="url(#frame)">{known}</g></svg>"#
    )
}

/// The part of a tile's drawing of 160 x 96 that must stay visible: the stones in its middle. Lights Out has no board around
/// them.
const fn figure(game: i32) -> (f64, f64) {
    if game == 5 { (140.0, 84.0) } else { (104.0, 66.0) }
}

/// A tile's drawing in a frame of another aspect ratio: the figure stays complete and as large as possible, and the board
/// extends to the edges.
fn widened(svg: &str, figure: (f64, f64), width: i32, height: i32) -> String {
    let (width, height) = (f64::from(width), f64::from(height));
    let scale = (width / figure.0).min(height / figure.1);
    let (seen_width, seen_height) = (width / scale, height / scale);
    let seen = format!(
        r#"viewBox="{} {} {seen_width} {seen_height}""#,
        80.0 - seen_width / 2.0,
        48.0 - seen_height / 2.0
    );
    svg.replacen(r#"viewBox="0 0 160 96""#, &seen, 1)
}

/// The theme's colours of a drawing; see `Theme.tone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Light,
    Dark,
    EInk,
}

impl Tone {
    fn of(number: i32) -> Self {
        match number {
            2 => Self::EInk,
            1 => Self::Dark,
            _ => Self::Light,
        }
    }
}

/// A drawing in the theme's colours; drawings use the light theme's.
fn themed(svg: &str, tone: Tone) -> String {
    match tone {
        Tone::Light => svg.to_owned(),
        Tone::Dark => {
            [("#E9D9B6", "#B79C6A"), ("#5E4B2F", "#2A1E0F"), ("#6B6254", "#A59B88"), ("#4F7A68", "#7FB39C")]
                .iter()
                .fold(svg.to_owned(), |svg, (light, dark)| svg.replace(light, dark))
        }
        Tone::EInk => black_and_white(svg),
    }
}

/// Each colour becomes black or white, whichever is nearer, and edges are not smoothed: e-ink has no half tones. Lights that are
/// on get an outline, since they are white.
fn black_and_white(svg: &str) -> String {
    /// Luminance of 0 to 255: between the outline of a white stone and the darkest shade within it.
    const MIDDLE: u32 = 170;
    let svg = svg
        .replace(r##"stroke="none" fill="#F2C14E""##, r##"fill="#F2C14E""##)
        .replace(r##"fill="#F2C14E""##, r##"stroke="#000000" stroke-width="2" fill="#F2C14E""##)
        .replace("geometricPrecision", "crispEdges")
        .replacen("<svg ", r#"<svg shape-rendering="crispEdges" "#, usize::from(!svg.contains("crispEdges")));
    let mut parts = svg.split('#');
    let mut drawn = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let colour = part.get(..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match colour {
            Some(colour) => {
                let luminance =
                    (299 * (colour >> 16) + 587 * (colour >> 8 & 255) + 114 * (colour & 255)) / 1_000;
                let nearer = if luminance > MIDDLE { "#FFFFFF" } else { "#000000" };
                let _ = write!(drawn, "{nearer}{}", &part[6..]);
            }
            // A reference, such as url(#frame).
            None => {
                let _ = write!(drawn, "#{part}");
            }
        }
    }
    drawn
}

fn stone(side: i32) -> &'static str {
    if side == 2 {
        include_str!("../../screens/art/stone-white.svg")
    } else {
        include_str!("../../screens/art/stone-black.svg")
    }
}

/// How pieces are drawn.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// Rotated by 180°.
    turned: bool,
    /// Xiangqi's pieces carry pictograms instead of characters.
    pictures: bool,
    tone: Tone,
}

/// A stone, or a xiangqi piece by its number in the schema, in a square of 100.
fn drawn_piece(side: i32, piece: i32, look: Look) -> String {
    let Look { turned, pictures, tone } = look;
    let Some(character) = piece_sign(side, piece) else {
        return themed_stone(side, tone);
    };
    // Without colours, Black's pieces are black with white signs.
    let (ink, ground) = match (side, tone) {
        (2, Tone::EInk) => ("#FFFFFF", "#000000"),
        (_, Tone::EInk) => ("#000000", "#FFFFFF"),
        (2, _) => ("#221E18", "#F7EBD0"),
        (_, _) => ("#A92F21", "#F7EBD0"),
    };
    let edge = if tone == Tone::EInk { "#000000" } else { ink };
    let turn = if turned { "rotate(180 50 50) " } else { "" };
    let sign = if pictures {
        let drawing =
            pictogram(piece).replace("#221E18", "INK").replace("#F7EBD0", ground).replace("INK", ink);
        format!(r#"<g transform="{turn}translate(50 50) scale(0.74) translate(-50 -50)">{drawing}</g>"#)
    } else {
        let glyph = glyph(character);
        format!(
            r#"<path transform="{turn}translate(50 50) scale(0.52) translate(-50 -50)" fill="{ink}" d="{glyph}"/>"#
        )
    };
    let svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" viewBox="0 0 100 100"><circle cx="50" cy="50" r="43" fill="{ground}" stroke="{edge}" stroke-width="2.6"/><circle cx="50" cy="50" r="36" fill="none" stroke="{ink}" stroke-width="1.3"/>{sign}</svg>"#
    );
    if tone == Tone::EInk { black_and_white(&svg) } else { svg }
}

/// Shaded, or flat on an e-ink screen.
fn themed_stone(side: i32, tone: Tone) -> String {
    if tone == Tone::EInk { black_and_white(stone(side)) } else { stone(side).to_owned() }
}

/// The content of a xiangqi piece's pictogram, by the piece's number in the schema.
fn pictogram(piece: i32) -> &'static str {
    let svg = match piece {
        1 => include_str!("../../screens/art/pieces/general.svg"),
        2 => include_str!("../../screens/art/pieces/adviser.svg"),
        3 => include_str!("../../screens/art/pieces/elephant.svg"),
        4 => include_str!("../../screens/art/pieces/horse.svg"),
        5 => include_str!("../../screens/art/pieces/chariot.svg"),
        6 => include_str!("../../screens/art/pieces/cannon.svg"),
        _ => include_str!("../../screens/art/pieces/soldier.svg"),
    };
    let (_, content) = svg.split_once('>').expect("a drawing begins with its frame");
    content.trim_end().strip_suffix("</svg>").expect("and ends with it")
}

/// The character on a xiangqi piece: traditional, and different for the two sides.
fn piece_sign(side: i32, piece: i32) -> Option<char> {
    let signs = if side == 2 { "將士象馬車砲卒" } else { "帥仕相傌俥炮兵" };
    let index = usize::try_from(piece).ok()?.checked_sub(1)?;
    signs.chars().nth(index)
}

/// The outline of a character of `art/glyphs.txt`, in a square of 100.
fn glyph(sign: char) -> &'static str {
    include_str!("../../screens/art/glyphs.txt")
        .lines()
        .find_map(|line| line.strip_prefix(sign))
        .expect("every character that is drawn is in the file")
        .trim_start()
}

/// The tile of a game by its number in the schema.
fn tile(game: i32) -> &'static str {
    match game {
        2 => include_str!("../../screens/art/tile-liuzhou.svg"),
        3 => include_str!("../../screens/art/tile-go.svg"),
        4 => include_str!("../../screens/art/tile-xiangqi.svg"),
        5 => include_str!("../../screens/art/tile-lights-out.svg"),
        _ => include_str!("../../screens/art/tile-gomoku.svg"),
    }
}

fn icon(name: IconName) -> Option<&'static str> {
    Some(match name {
        IconName::None => return None,
        IconName::Back => include_str!("../../screens/art/icons/back.svg"),
        IconName::TakeBack => include_str!("../../screens/art/icons/take-back.svg"),
        IconName::Hint => include_str!("../../screens/art/icons/hint.svg"),
        IconName::Draw => include_str!("../../screens/art/icons/draw.svg"),
        IconName::Resign => include_str!("../../screens/art/icons/resign.svg"),
        IconName::More => include_str!("../../screens/art/icons/more.svg"),
        IconName::Settings => include_str!("../../screens/art/icons/settings.svg"),
        IconName::Plus => include_str!("../../screens/art/icons/plus.svg"),
        IconName::Minus => include_str!("../../screens/art/icons/minus.svg"),
        IconName::Near => include_str!("../../screens/art/icons/near.svg"),
        IconName::Again => include_str!("../../screens/art/icons/again.svg"),
        IconName::Person => include_str!("../../screens/art/icons/person.svg"),
        IconName::Line => include_str!("../../screens/art/icons/line.svg"),
        IconName::Left => include_str!("../../screens/art/icons/left.svg"),
        IconName::Right => include_str!("../../screens/art/icons/right.svg"),
        IconName::Up => include_str!("../../screens/art/icons/up.svg"),
        IconName::Down => include_str!("../../screens/art/icons/down.svg"),
        IconName::Say => include_str!("../../screens/art/icons/say.svg"),
        IconName::Smile => include_str!("../../screens/art/icons/smile.svg"),
        IconName::Laugh => include_str!("../../screens/art/icons/laugh.svg"),
        IconName::Wow => include_str!("../../screens/art/icons/wow.svg"),
        IconName::Sad => include_str!("../../screens/art/icons/sad.svg"),
        IconName::Applause => include_str!("../../screens/art/icons/applause.svg"),
        IconName::Sweat => include_str!("../../screens/art/icons/sweat.svg"),
        IconName::Records => include_str!("../../screens/art/icons/records.svg"),
        IconName::Play => include_str!("../../screens/art/icons/play.svg"),
        IconName::Pause => include_str!("../../screens/art/icons/pause.svg"),
        IconName::First => include_str!("../../screens/art/icons/first.svg"),
        IconName::Last => include_str!("../../screens/art/icons/last.svg"),
        IconName::Turn => include_str!("../../screens/art/icons/turn.svg"),
        IconName::Puzzle => include_str!("../../screens/art/icons/puzzle.svg"),
    })
}

/// Star points, as on a printed board: from 13 lines on, near the corners and in the middle; Go's other star points on 19
/// lines only.
fn stars(columns: i32, rows: i32) -> Vec<(i32, i32)> {
    if columns != rows || columns < 7 {
        return Vec::new();
    }
    let near = if columns < 13 { 2 } else { 3 };
    let (far, middle) = (columns - 1 - near, columns / 2);
    let mut found = vec![(near, near), (near, far), (far, near), (far, far)];
    if columns % 2 == 1 {
        found.push((middle, middle));
    }
    if columns == 19 {
        found.extend([(near, middle), (far, middle), (middle, near), (middle, far)]);
    }
    found
}

/// The geometry of a board in whole pixels, so that lines are crisp and stones are centred on them.
struct Lines {
    river: bool,
    columns: i32,
    rows: i32,
    cell: i32,
    left: i32,
    top: i32,
    tone: Tone,
    /// 0 paper, 1 wood, 2 slate.
    style: i32,
}

fn board(lines: &Lines, width: i32, height: i32) -> String {
    let Lines { river, columns, rows, cell, left, top, tone, style } = *lines;
    let line = match (style, tone) {
        (_, Tone::EInk) => "#000000",
        (2, Tone::Light) => "#2E3338",
        (2, Tone::Dark) => "#C9D1D6",
        (_, Tone::Dark) => "#2A1E0F",
        (_, Tone::Light) => "#5E4B2F",
    };
    let (right, bottom) = (left + cell * (columns - 1), top + cell * (rows - 1));
    // Line width: about 1/21 of a cell, which is 1 pixel at 21 and 2 at 42, limited for larger cells; half of that on boards
    // with a river.
    let thin = if river { (cell / 44).max(1) } else { (cell / 21).clamp(1, 2 + cell / 100) };
    let edge = if river { thin } else { thin + (thin + 1) / 2 };
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" shape-rendering="crispEdges"><g fill="{line}">"#
    );
    let mut add =
        |text: std::fmt::Arguments<'_>| svg.write_fmt(text).expect("writing to a string cannot fail");
    if style == 1 && tone != Tone::EInk {
        grain(&mut add, width, height, tone == Tone::Dark);
    }
    let mut rectangle = |x: i32, y: i32, w: i32, h: i32| {
        add(format_args!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}"/>"#));
    };
    // The river lies between the two middle rows; only the outer lines cross it.
    let (bank, far_bank) = (top + cell * ((rows - 1) / 2), top + cell * (rows / 2));
    for column in 0..columns {
        let outer = column == 0 || column == columns - 1;
        let thick = if outer { edge } else { thin };
        let x = left + column * cell - thick / 2;
        if river && !outer {
            rectangle(x, top - edge / 2, thick, bank - top + edge);
            rectangle(x, far_bank - edge / 2, thick, bottom - far_bank + edge);
        } else {
            rectangle(x, top - edge / 2, thick, bottom - top + edge);
        }
    }
    for row in 0..rows {
        let thick = if row == 0 || row == rows - 1 { edge } else { thin };
        rectangle(left - edge / 2, top + row * cell - thick / 2, right - left + edge, thick);
    }
    if river {
        add(format_args!(
            r#"<g stroke="{line}" stroke-width="{thin}" shape-rendering="geometricPrecision">"#
        ));
        let middle = left + cell * (columns / 2);
        for first in [top, bottom - 2 * cell] {
            let (west, east, last) = (middle - cell, middle + cell, first + 2 * cell);
            add(format_args!(r#"<path d="M{west} {first}L{east} {last}M{east} {first}L{west} {last}"/>"#));
        }
        add(format_args!("</g>"));
        // Two characters on each side of the middle, half a cell high.
        let size = f64::from(cell) * 0.5;
        for (sign, at) in [('楚', 1.9), ('河', 2.56), ('漢', 5.44), ('界', 6.1)] {
            let (x, y) = (f64::from(left) + at * f64::from(cell), f64::from(bank + far_bank) / 2.0);
            let (scale, path) = (size / 100.0, glyph(sign));
            add(format_args!(
                r#"<path shape-rendering="geometricPrecision" transform="translate({x} {y}) scale({scale}) translate(-50 -50)" d="{path}"/>"#
            ));
        }
    } else {
        for (column, row) in stars(columns, rows) {
            let (x, y) = (left + column * cell, top + row * cell);
            let radius = f64::from(cell) * 0.14;
            add(format_args!(
                r#"<circle cx="{x}" cy="{y}" r="{radius}" shape-rendering="geometricPrecision"/>"#
            ));
        }
    }
    svg.push_str("</g></svg>");
    if tone == Tone::EInk { black_and_white(&svg) } else { svg }
}

/// Wood grain, the same each time.
fn grain(add: &mut impl FnMut(std::fmt::Arguments<'_>), width: i32, height: i32, dark: bool) {
    /// Number of grain lines per board height; they avoid the corners, which the picture does not round.
    const LINES: i32 = 46;
    let (ink, corner) = (if dark { "#4A2E10" } else { "#8A5A22" }, 12);
    for line in 1..LINES {
        // Pseudorandom numbers with a long period.
        let wave = |by: i32| f64::from((line * by) % 17 - 8) * f64::from(height) / 700.0;
        let y = f64::from(height * line / LINES) + wave(7);
        let y = y.clamp(f64::from(corner), f64::from(height - corner));
        let (from, to) = (4, width - 4);
        add(format_args!(
            r#"<path d="M{from} {y} C{} {} {} {} {to} {}" fill="none" stroke="{ink}" stroke-opacity="{}" stroke-width="{}" shape-rendering="geometricPrecision"/>"#,
            width / 3,
            y + wave(5),
            2 * width / 3,
            y - wave(11),
            y + wave(3) / 2.0,
            0.08 + f64::from((line * 13) % 7) * 0.018,
            1 + line % 3,
        ));
    }
}

/// A thumbnail of a board: lines and pieces without marks, or lights.
fn thumbnail(board: &control::Board, width: i32, height: i32, tone: Tone) -> String {
    let (columns, rows) = (board.columns.clamp(2, 64) as i32, board.rows.clamp(2, 64) as i32);
    let step = f64::from(width) / f64::from(columns.max(rows));
    let across = |index: i32| (f64::from(index) + 0.5 + f64::from(rows.max(columns) - columns) / 2.0) * step;
    let down = |index: i32| (f64::from(index) + 0.5 + f64::from(rows.max(columns) - rows) / 2.0) * step;
    let (wood, line) = if tone == Tone::Dark { ("#B79C6A", "#2A1E0F") } else { ("#E9D9B6", "#5E4B2F") };
    let lamps = board.game() == wire::Game::LightsOut;
    let (ground, corner) = (if lamps { "none" } else { wood }, f64::from(width) * 0.09);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><rect width="{width}" height="{height}" rx="{corner}" fill="{ground}"/><g stroke="{line}" stroke-width="{}">"#,
        f64::from(width) / 90.0,
    );
    let mut add =
        |text: std::fmt::Arguments<'_>| svg.write_fmt(text).expect("writing to a string cannot fail");
    if lamps {
        let bytes = board.columns.div_ceil(8) as usize;
        for (column, row) in (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row))) {
            let byte = board.lights.get(row as usize * bytes + column as usize / 8);
            let lit = byte.is_some_and(|byte| byte >> (column % 8) & 1 == 1);
            add(format_args!(
                r#"<rect x="{}" y="{}" width="{size}" height="{size}" rx="{}" stroke="none" fill="{}"/>"#,
                across(column) - step * 0.44,
                down(rows - 1 - row) - step * 0.44,
                step * 0.18,
                if lit { "#F2C14E" } else { "#4A443A" },
                size = step * 0.88,
            ));
        }
    } else {
        for column in 0..columns {
            add(format_args!(r#"<path d="M{0} {1}V{2}"/>"#, across(column), down(0), down(rows - 1)));
        }
        for row in 0..rows {
            add(format_args!(r#"<path d="M{1} {0}H{2}"/>"#, down(row), across(0), across(columns - 1)));
        }
    }
    for piece in &board.pieces {
        let (column, row) = ((piece.at % 1_024) as i32, (piece.at / 1_024) as i32);
        if column < columns && row < rows {
            let (fill, stroke) = match (piece.side, piece_sign(piece.side, piece.kind)) {
                (2, Some(_)) if tone == Tone::EInk => ("#000000", "#000000"),
                (2, Some(_)) => ("#F7EBD0", "#221E18"),
                (_, Some(_)) => ("#F7EBD0", "#A92F21"),
                (2, None) => ("#FBF8F1", "#8F8470"),
                (_, None) => ("#171512", "#171512"),
            };
            add(format_args!(
                r#"<circle cx="{}" cy="{}" r="{}" fill="{fill}" stroke="{stroke}"/>"#,
                across(column),
                down(rows - 1 - row),
                step * 0.44
            ));
        }
    }
    svg.push_str("</g></svg>");
    if tone == Tone::EInk { black_and_white(&svg) } else { svg }
}

/// The picture of a game file's last position: the board with its pieces in the light theme, `pixels` along its longer edge.
/// `None` if the board has no points.
pub(crate) fn of_file(board: &control::Board, pixels: u32) -> Option<SharedPixelBuffer<Rgba8Pixel>> {
    raster(&file_picture(board, pixels.clamp(16, WIDEST as u32) as i32)?).to_rgba8()
}

fn file_picture(board: &control::Board, pixels: i32) -> Option<String> {
    let (columns, rows) = (i32::try_from(board.columns).ok()?, i32::try_from(board.rows).ok()?);
    if columns < 1 || rows < 1 {
        return None;
    }
    let cell = pixels / columns.max(rows);
    // Lights Out has no lines; on a board with more points than pixels, part of it is drawn.
    if board.game() == wire::Game::LightsOut || cell < 4 {
        return Some(thumbnail(board, pixels, pixels, Tone::Light));
    }
    let (width, height) = (cell * columns, cell * rows);
    let river = board.game() == wire::Game::Xiangqi;
    let lines =
        Lines { river, columns, rows, cell, left: cell / 2, top: cell / 2, tone: Tone::Light, style: 1 };
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><rect width="{width}" height="{height}" fill="#E9D9B6"/>"##
    );
    svg.push_str(&self::board(&lines, width, height));
    let look = Look { turned: false, pictures: false, tone: Tone::Light };
    for piece in &board.pieces {
        let (column, row) = ((piece.at % 1_024) as i32, (piece.at / 1_024) as i32);
        if !(1..=2).contains(&piece.side) || column >= columns || row >= rows {
            continue;
        }
        let (x, y) = (cell * column, cell * (rows - 1 - row));
        svg.push_str(&nested(&drawn_piece(piece.side, piece.kind, look), x, y, cell));
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// A square drawing as an element of another one.
fn nested(svg: &str, x: i32, y: i32, size: i32) -> String {
    let size_start = svg.find(" width=\"").expect("our drawings say their width first");
    let size_end = svg.find(" viewBox=").expect("then their viewBox");
    format!(r#"{} x="{x}" y="{y}" width="{size}" height="{size}"{}"#, &svg[..size_start], &svg[size_end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawing_is_valid_and_as_large_as_asked() {
        for (width, height) in [(1, 1), (21, 21), (276, 164)] {
            for svg in (1..=5).map(tile).chain([
                stone(1),
                stone(2),
                include_str!("../../screens/art/two-devices.svg"),
            ]) {
                for tone in [Tone::Light, Tone::Dark, Tone::EInk] {
                    let image = raster(&framed(&themed(svg, tone), width, height, height / 10));
                    assert_eq!((image.size().width, image.size().height), (width as u32, height as u32));
                }
            }
        }
        let lines = Lines {
            river: false,
            columns: 15,
            rows: 15,
            cell: 42,
            left: 42,
            top: 42,
            tone: Tone::Light,
            style: 1,
        };
        assert_eq!(raster(&board(&lines, 672, 672)).size().width, 672);
        let lines = Lines {
            river: true,
            columns: 9,
            rows: 10,
            cell: 69,
            left: 56,
            top: 56,
            tone: Tone::Dark,
            style: 2,
        };
        assert_eq!(raster(&board(&lines, 667, 736)).size().height, 736);
        for (side, piece) in [1, 2].into_iter().flat_map(|side| (0..=8).map(move |piece| (side, piece))) {
            for (pictures, tone) in [(false, Tone::Light), (true, Tone::Dark), (true, Tone::EInk)] {
                let look = Look { turned: side == 2, pictures, tone };
                assert_eq!(raster(&framed(&drawn_piece(side, piece, look), 40, 40, 0)).size().width, 40);
            }
        }
    }

    #[test]
    fn the_two_sides_of_xiangqi_are_written_differently_and_stones_not_at_all() {
        assert_eq!([1, 4, 7].map(|piece| piece_sign(1, piece)), [Some('帥'), Some('傌'), Some('兵')]);
        assert_eq!([1, 4, 7].map(|piece| piece_sign(2, piece)), [Some('將'), Some('馬'), Some('卒')]);
        assert_eq!([0, 8, -1].map(|piece| piece_sign(2, piece)), [None; 3]);
    }

    /// The colours of all pixels that are not transparent.
    fn colours(svg: &str) -> std::collections::BTreeSet<[u8; 3]> {
        let pixels = draw(svg).to_rgba8_premultiplied().expect("pixels");
        pixels.as_slice().iter().filter(|one| one.a > 0).map(|one| [one.r, one.g, one.b]).collect()
    }

    #[test]
    fn what_is_drawn_for_electronic_paper_is_black_or_white_to_the_last_pixel() {
        let both = std::collections::BTreeSet::from([[0; 3], [255; 3]]);
        for game in 1..=5 {
            assert_eq!(colours(&framed(&themed(tile(game), Tone::EInk), 160, 96, 0)), both, "tile {game}");
        }
        for (side, piece) in [1, 2].into_iter().flat_map(|side| (1..=7).map(move |piece| (side, piece))) {
            for pictures in [false, true] {
                let look = Look { turned: false, pictures, tone: Tone::EInk };
                let svg = framed(&drawn_piece(side, piece, look), 42, 42, 0);
                assert!(colours(&svg) == both, "{side} {piece}");
            }
        }
        let lines = Lines {
            river: true,
            columns: 9,
            rows: 10,
            cell: 40,
            left: 30,
            top: 30,
            tone: Tone::EInk,
            style: 1,
        };
        assert_eq!(
            colours(&board(&lines, 380, 420)),
            [[0; 3]].into(),
            "no grain, and the ground is the page's"
        );
    }

    #[test]
    fn on_electronic_paper_and_by_pictures_no_two_pieces_of_xiangqi_look_alike() {
        for (pictures, tone) in [(false, Tone::EInk), (true, Tone::EInk), (true, Tone::Light)] {
            let mut seen = std::collections::BTreeSet::new();
            for (side, piece) in [1, 2].into_iter().flat_map(|side| (1..=7).map(move |piece| (side, piece))) {
                let svg =
                    framed(&drawn_piece(side, piece, Look { turned: false, pictures, tone }), 40, 40, 0);
                let pixels = draw(&svg).to_rgba8_premultiplied().expect("pixels");
                assert!(seen.insert(pixels.as_bytes().to_vec()), "{side} {piece} {pictures} {tone:?}");
            }
        }
    }

    #[test]
    fn stars_stand_where_printed_boards_have_them() {
        assert_eq!([6, 9, 13, 15, 19].map(|lines| stars(lines, lines).len()), [0, 5, 5, 5, 9]);
        assert!(stars(9, 9).contains(&(2, 2)) && stars(19, 19).contains(&(3, 9)));
    }

    #[test]
    fn a_board_from_outside_cannot_draw_beyond_its_picture_or_break_it() {
        let piece = |at| control::Piece { at, side: 1, kind: 0 };
        for (columns, rows) in [(0, 0), (15, 15), (1_024, 3)] {
            let board = control::Board {
                columns,
                rows,
                pieces: vec![piece(0), piece(7 * 1_024 + 7), piece(u32::MAX)],
                ..Default::default()
            };
            assert_eq!(raster(&thumbnail(&board, 64, 64, Tone::Dark)).size().width, 64);
        }
    }
}
