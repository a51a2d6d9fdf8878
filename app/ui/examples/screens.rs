//! Draws every page in every size, language and theme: one PNG each, a contact sheet per size, and index.html to look through them.
//!
//! `cargo run -p qiyou --example screens [FOLDER [ONLY [SIZE]]]`; the folder is target/screens unless told otherwise, `ONLY` a
//! part of the names to be drawn, `SIZE` the text size from 0 (100 %) to 3 (200 %).

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use qiyou::headless::{Picture, Stage};
use slint::Rgb8Pixel;

/// How much smaller a page is on the contact sheet.
const SHRUNK: u32 = 3;
/// Pages side by side on the contact sheet of upright and of lying pages.
const ACROSS: (u32, u32) = (15, 8);
/// Between pages of the contact sheet, in pixels.
const GAP: u32 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "target/screens".into());
    let only = arguments.next().unwrap_or_default();
    let text_size = arguments.next().map_or(Ok(0), |size| size.parse())?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let stage = Stage::new();
    let mut drawn = 0;
    let mut listed = String::new();
    for (width, height, scale) in support::SIZES {
        let mut sheet = Vec::new();
        for (chinese, dark) in [(true, false), (true, true), (false, false), (false, true)] {
            for (name, tell) in support::stories() {
                let language = if chinese { "zh" } else { "en" };
                let theme = if dark { "dark" } else { "light" };
                let file = format!("{name}-{width}x{height}-{language}-{theme}.png");
                if !file.contains(&only) {
                    continue;
                }
                let told = support::tell(&stage, (width, height, scale), (chinese, dark, text_size), tell);
                let picture = told.scene.picture();
                write(&folder.join(&file), picture.width, picture.height, &picture.bytes())?;
                sheet.push(shrunk(&picture));
                writeln!(
                    listed,
                    "<figure><a href=\"{file}\"><img src=\"{file}\" loading=\"lazy\"></a><figcaption>{name} {language} {theme}</figcaption></figure>"
                )?;
                drawn += 1;
            }
        }
        if !sheet.is_empty() {
            listed.insert_str(
                0,
                &format!(
                    "<p><a href=\"sheet-{width}x{height}.png\">{width} x {height} on one sheet</a></p>\n"
                ),
            );
            let across = if height > width { ACROSS.0 } else { ACROSS.1 };
            contact_sheet(&folder.join(format!("sheet-{width}x{height}.png")), &sheet, across)?;
        }
    }
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Qiyou</title><style>figure {{ display: inline-block; margin: 8px; }} img {{ height: 360px; }} figcaption {{ font: 13px sans-serif; }}</style>\n{listed}"
    );
    fs::write(folder.join("index.html"), page)?;
    println!("{drawn} pictures and their contact sheets are in {}", folder.display());
    Ok(())
}

fn write(path: &Path, width: u32, height: u32, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(bytes)?;
    Ok(())
}

/// Each pixel the mean of a square of them.
fn shrunk(picture: &Picture) -> Picture {
    let (width, height) = (picture.width / SHRUNK, picture.height / SHRUNK);
    let mean = |x: u32, y: u32, part: fn(&Rgb8Pixel) -> u8| {
        let sum: u32 = (0..SHRUNK * SHRUNK)
            .map(|n| ((y * SHRUNK + n / SHRUNK) * picture.width + x * SHRUNK + n % SHRUNK) as usize)
            .map(|index| u32::from(part(&picture.pixels[index])))
            .sum();
        (sum / (SHRUNK * SHRUNK)) as u8
    };
    let pixels = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .map(|(x, y)| Rgb8Pixel { r: mean(x, y, |p| p.r), g: mean(x, y, |p| p.g), b: mean(x, y, |p| p.b) })
        .collect();
    Picture { width, height, pixels }
}

fn contact_sheet(path: &Path, pages: &[Picture], across: u32) -> Result<(), Box<dyn std::error::Error>> {
    let (one_width, one_height) = (pages[0].width + GAP, pages[0].height + GAP);
    let across = across.min(pages.len() as u32);
    let (width, height) =
        (one_width * across + GAP, one_height * (pages.len() as u32).div_ceil(across) + GAP);
    let mut bytes = vec![0x80; (width * height * 3) as usize];
    for (index, page) in pages.iter().enumerate() {
        let (left, top) = (GAP + index as u32 % across * one_width, GAP + index as u32 / across * one_height);
        let line = page.width as usize * 3;
        for (y, source) in page.bytes().chunks(line).enumerate() {
            let start = ((top + y as u32) * width + left) as usize * 3;
            bytes[start..start + line].copy_from_slice(source);
        }
    }
    write(path, width, height, &bytes)
}
