//! Pictures drawn once per pixel size: stones, boards, tiles, icons.
//!
//! The software renderer draws an SVG afresh each time it is shown (1.9 ms a stone); a sprite of the right size is copied.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

use proto::control;
use slint::{ComponentHandle, Image};

use crate::screens::{Art, IconName, MainWindow};

/// Sprites kept. A window that is being resized asks for many sizes once; beyond this all are dropped and drawn again.
const KEPT_SPRITES: usize = 96;

/// Widest sprite in device pixels: a board that fills an 8K screen. Larger ones would only be asked for by mistake.
const WIDEST: i32 = 8_192;

/// The sprites in use, and the board of which the small picture is shown.
#[derive(Default)]
pub(crate) struct Sprites {
    drawn: RefCell<HashMap<String, Image>>,
    thumbnail: RefCell<control::Board>,
    first_drawing: RefCell<Option<Box<dyn FnOnce()>>>,
}

impl Sprites {
    /// Answers the window's requests for pictures.
    pub(crate) fn attach(window: &MainWindow) -> Rc<Self> {
        let sprites = Rc::new(Self::default());
        let art = window.global::<Art>();
        let it = sprites.clone();
        art.on_first_drawing(move || {
            if let Some(call) = it.first_drawing.take() {
                call();
            }
            slint::Color::default()
        });
        let it = sprites.clone();
        art.on_icon(move |name, pixels| it.icon(name, pixels));
        let it = sprites.clone();
        art.on_stone(move |side, pixels| {
            it.drawn_at(&format!("stone {side}"), pixels, pixels, |w, h| framed(stone(side), w, h, 0))
        });
        let it = sprites.clone();
        art.on_board(move |columns, rows, cell, origin, pixels, dark| {
            let key = format!("board {columns} {rows} {cell} {origin} {dark}");
            it.drawn_at(&key, pixels, pixels, |w, h| board(columns, rows, cell, origin, w, h, dark))
        });
        let it = sprites.clone();
        art.on_tile(move |game, width, height, dark| {
            it.drawn_at(&format!("tile {game} {dark}"), width, height, |w, h| {
                framed(&widened(&themed(tile(game), dark), figure(game), w, h), w, h, w.min(h) / 14)
            })
        });
        let it = sprites.clone();
        art.on_two_devices(move |width, height, dark| {
            it.drawn_at(&format!("two devices {dark}"), width, height, |w, h| {
                framed(&themed(include_str!("../art/two-devices.svg"), dark), w, h, 0)
            })
        });
        let it = sprites.clone();
        art.on_thumbnail(move |revision, pixels, dark| {
            it.drawn_at(&format!("thumbnail {revision} {dark}"), pixels, pixels, |w, h| {
                thumbnail(&it.thumbnail.borrow(), w, h, dark)
            })
        });
        sprites
    }

    /// The position that the small board shows from now on. The caller counts its revision up.
    pub(crate) fn set_thumbnail(&self, board: control::Board) {
        self.drawn.borrow_mut().retain(|key, _| !key.starts_with("thumbnail"));
        *self.thumbnail.borrow_mut() = board;
    }

    /// Calls while the first frame is being drawn.
    pub(crate) fn at_first_drawing(&self, call: impl FnOnce() + 'static) {
        *self.first_drawing.borrow_mut() = Some(Box::new(call));
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
        let image = raster(&svg(width, height));
        let mut drawn = self.drawn.borrow_mut();
        if drawn.len() >= KEPT_SPRITES {
            drawn.clear();
        }
        drawn.insert(key, image.clone());
        image
    }
}

/// A picture of its own size in pixels, ready to be copied.
fn raster(svg: &str) -> Image {
    let vector = Image::load_from_svg_data(svg.as_bytes()).expect("our own drawings are valid SVG");
    vector.to_rgba8_premultiplied().map_or(vector, Image::from_rgba8_premultiplied)
}

/// Sets a drawing into a frame of `width` x `height` pixels with corners of `radius`.
fn framed(svg: &str, width: i32, height: i32, radius: i32) -> String {
    // The drawing keeps its viewBox; only its own size gives way to the frame's.
    let size_start = svg.find(" width=\"").expect("our drawings say their width first");
    let size_end = svg.find(" viewBox=").expect("then their viewBox");
    let inner = format!("{} width=\"{width}\" height=\"{height}\"{}", &svg[..size_start], &svg[size_end..]);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><defs><clipPath id="frame"><rect width="{width}" height="{height}" rx="{radius}"/></clipPath></defs><g clip-path="url(#frame)">{inner}</g></svg>"#
    )
}

/// The part of a tile's drawing of 160 x 96 that is always seen: the stones in its middle. Lights Out has no board around.
const fn figure(game: i32) -> (f64, f64) {
    if game == 5 { (140.0, 84.0) } else { (104.0, 66.0) }
}

/// A tile's drawing seen through a frame of another shape: the figure stays whole and as large as it can be, and the board
/// goes on to the edges.
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

/// The same drawing on dark paper: drawings are made in the light theme's colours.
fn themed(svg: &str, dark: bool) -> String {
    if !dark {
        return svg.to_owned();
    }
    [("#E9D9B6", "#B79C6A"), ("#5E4B2F", "#3D2F1B"), ("#6B6254", "#A59B88"), ("#4F7A68", "#7FB39C")]
        .iter()
        .fold(svg.to_owned(), |svg, (light, dark)| svg.replace(light, dark))
}

fn stone(side: i32) -> &'static str {
    if side == 2 { include_str!("../art/stone-white.svg") } else { include_str!("../art/stone-black.svg") }
}

/// By the game's number on the wire.
fn tile(game: i32) -> &'static str {
    match game {
        2 => include_str!("../art/tile-liuzhou.svg"),
        3 => include_str!("../art/tile-go.svg"),
        4 => include_str!("../art/tile-xiangqi.svg"),
        5 => include_str!("../art/tile-lights-out.svg"),
        _ => include_str!("../art/tile-gomoku.svg"),
    }
}

fn icon(name: IconName) -> Option<&'static str> {
    Some(match name {
        IconName::None => return None,
        IconName::Back => include_str!("../art/icons/back.svg"),
        IconName::TakeBack => include_str!("../art/icons/take-back.svg"),
        IconName::Hint => include_str!("../art/icons/hint.svg"),
        IconName::Draw => include_str!("../art/icons/draw.svg"),
        IconName::Resign => include_str!("../art/icons/resign.svg"),
        IconName::More => include_str!("../art/icons/more.svg"),
        IconName::Settings => include_str!("../art/icons/settings.svg"),
        IconName::Plus => include_str!("../art/icons/plus.svg"),
        IconName::Minus => include_str!("../art/icons/minus.svg"),
        IconName::Near => include_str!("../art/icons/near.svg"),
        IconName::Again => include_str!("../art/icons/again.svg"),
        IconName::Person => include_str!("../art/icons/person.svg"),
        IconName::Line => include_str!("../art/icons/line.svg"),
    })
}

/// Points that carry a dot, as on a printed board of 15 lines: a quarter in from each edge, and the middle.
fn stars(columns: i32, rows: i32) -> Vec<(i32, i32)> {
    if columns != rows || columns < 13 {
        return Vec::new();
    }
    let (near, far, middle) = (3, columns - 4, columns / 2);
    vec![(near, near), (near, far), (far, near), (far, far), (middle, middle)]
}

/// Board and lines, all in whole pixels, so that lines are crisp and stones sit on them.
fn board(columns: i32, rows: i32, cell: i32, origin: i32, width: i32, height: i32, dark: bool) -> String {
    let line = if dark { "#3D2F1B" } else { "#5E4B2F" };
    let top = (height - cell * (rows - 1)) / 2;
    let (right, bottom) = (origin + cell * (columns - 1), top + cell * (rows - 1));
    // A line's thickness: 1/24 of a cell, which is 1 pixel at 21 and 2 at 42.
    let thin = (cell / 21).max(1);
    let edge = thin + (thin + 1) / 2;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" shape-rendering="crispEdges"><g fill="{line}">"#
    );
    let mut rectangle = |x: i32, y: i32, w: i32, h: i32| {
        write!(svg, r#"<rect x="{x}" y="{y}" width="{w}" height="{h}"/>"#)
            .expect("writing to a string cannot fail");
    };
    for column in 0..columns {
        let thick = if column == 0 || column == columns - 1 { edge } else { thin };
        rectangle(origin + column * cell - thick / 2, top - edge / 2, thick, bottom - top + edge);
    }
    for row in 0..rows {
        let thick = if row == 0 || row == rows - 1 { edge } else { thin };
        rectangle(origin - edge / 2, top + row * cell - thick / 2, right - origin + edge, thick);
    }
    for (column, row) in stars(columns, rows) {
        let (x, y) = (origin + column * cell, top + row * cell);
        write!(
            svg,
            r#"<circle cx="{x}" cy="{y}" r="{}" shape-rendering="geometricPrecision"/>"#,
            f64::from(cell) * 0.14
        )
        .expect("writing to a string cannot fail");
    }
    svg.push_str("</g></svg>");
    svg
}

/// A whole board, small: lines and stones without marks.
fn thumbnail(board: &control::Board, width: i32, height: i32, dark: bool) -> String {
    let (columns, rows) = (board.columns.clamp(2, 64) as i32, board.rows.clamp(2, 64) as i32);
    let step = f64::from(width) / f64::from(columns.max(rows));
    let at = |index: i32| (f64::from(index) + 0.5) * step;
    let (wood, line) = if dark { ("#B79C6A", "#3D2F1B") } else { ("#E9D9B6", "#5E4B2F") };
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><rect width="{width}" height="{height}" rx="{}" fill="{wood}"/><g stroke="{line}" stroke-width="{}">"#,
        f64::from(width) * 0.09,
        f64::from(width) / 90.0,
    );
    let mut add =
        |text: std::fmt::Arguments<'_>| svg.write_fmt(text).expect("writing to a string cannot fail");
    for column in 0..columns {
        add(format_args!(r#"<path d="M{0} {1}V{2}"/>"#, at(column), at(0), at(rows - 1)));
    }
    for row in 0..rows {
        add(format_args!(r#"<path d="M{1} {0}H{2}"/>"#, at(row), at(0), at(columns - 1)));
    }
    for piece in &board.pieces {
        let (column, row) = ((piece.at % 1_024) as i32, (piece.at / 1_024) as i32);
        if column < columns && row < rows {
            let (fill, stroke) =
                if piece.side == 2 { ("#FBF8F1", "#8F8470") } else { ("#171512", "#171512") };
            add(format_args!(
                r#"<circle cx="{}" cy="{}" r="{}" fill="{fill}" stroke="{stroke}"/>"#,
                at(column),
                at(rows - 1 - row),
                step * 0.46
            ));
        }
    }
    svg.push_str("</g></svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawing_is_valid_and_as_large_as_asked() {
        for (width, height) in [(1, 1), (21, 21), (276, 164)] {
            for svg in (1..=5).map(tile).chain([stone(1), stone(2), include_str!("../art/two-devices.svg")]) {
                for dark in [false, true] {
                    let image = raster(&framed(&themed(svg, dark), width, height, height / 10));
                    assert_eq!((image.size().width, image.size().height), (width as u32, height as u32));
                }
            }
        }
        let image = raster(&board(15, 15, 42, 42, 672, 672, false));
        assert_eq!(image.size().width, 672);
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
            assert_eq!(raster(&thumbnail(&board, 64, 64, true)).size().width, 64);
        }
    }
}
