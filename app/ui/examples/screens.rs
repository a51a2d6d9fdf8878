//! Draws every page in every size, language and theme: one PNG each, a contact sheet per size, and index.html to look through them.
//!
//! `cargo run -p qiyou --example screens [FOLDER [ONLY [SIZE]]]`: FOLDER is target/screens by default, ONLY a substring of
//! the names to draw, SIZE the text size from 0 (100 %) to 3 (200 %).

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use qiyou::headless::{Picture, Stage};
use slint::Rgb8Pixel;

/// Scale divisor of a page on the contact sheet.
const SHRUNK: u32 = 3;
/// Pages per row on the contact sheet, in portrait and in landscape.
const ACROSS: (u32, u32) = (15, 8);
/// Gap between pages of the contact sheet, in pixels.
const GAP: u32 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "target/screens".into());
    let only = arguments.next().unwrap_or_default();
    let text_size = arguments.next().map_or(Ok(0), |size| size.parse())?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let stage = Stage::new();
    let began = Instant::now();
    let mut drawn: Vec<Drawn> = Vec::new();
    for (width, height, scale) in support::SIZES {
        let mut sheet = Vec::new();
        for (chinese, dark) in [(true, false), (true, true), (false, false), (false, true)] {
            for (name, tell) in support::stories() {
                let language = if chinese { "zh" } else { "en" };
                let theme = if dark { "dark" } else { "light" };
                let size = format!("{width}x{height}");
                let file = format!("{name}-{size}-{language}-{theme}.png");
                if !file.contains(&only) {
                    continue;
                }
                let told = support::tell(&stage, (width, height, scale), (chinese, dark, text_size), tell);
                let picture = told.scene.picture();
                write(&folder.join(&file), picture.width, picture.height, &picture.bytes())?;
                sheet.push(shrunk(&picture));
                drawn.push(Drawn { name, size, language, theme, file });
            }
        }
        if !sheet.is_empty() {
            let across = if height > width { ACROSS.0 } else { ACROSS.1 };
            contact_sheet(&folder.join(format!("sheet-{width}x{height}.png")), &sheet, across)?;
        }
    }
    fs::write(folder.join("index.html"), index(&drawn)?)?;
    println!(
        "{} pictures in {:.0} s; look through them in {}",
        drawn.len(),
        began.elapsed().as_secs_f64(),
        folder.join("index.html").display()
    );
    Ok(())
}

/// One picture.
struct Drawn {
    name: &'static str,
    size: String,
    language: &'static str,
    theme: &'static str,
    file: String,
}

/// A page that shows the pictures of each story side by side, filtered by size, language and theme.
fn index(drawn: &[Drawn]) -> Result<String, std::fmt::Error> {
    let mut page = String::from(HEAD);
    for (group, values) in [
        ("size", support::SIZES.map(|(width, height, _)| format!("{width}x{height}")).to_vec()),
        ("language", vec!["zh".into(), "en".into()]),
        ("theme", vec!["light".into(), "dark".into()]),
    ] {
        page.push_str("<fieldset>");
        for value in values {
            write!(
                page,
                "<label><input type=checkbox checked value={value} data-of={group}>{value}</label>"
            )?;
        }
        page.push_str("</fieldset>");
    }
    page.push_str("</nav><main>");
    let mut names: Vec<&str> = drawn.iter().map(|one| one.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        write!(page, "<section id={name}><h2><a href=#{name}>{name}</a></h2><div>")?;
        for one in drawn.iter().filter(|one| one.name == name) {
            let Drawn { size, language, theme, file, .. } = one;
            write!(
                page,
                "<a class=\"{theme}\" href={file} data-size={size} data-language={language} data-theme={theme} title=\"{size} {language} {theme}\"><img src={file} loading=lazy alt=\"{name} {size} {language} {theme}\"></a>"
            )?;
        }
        page.push_str("</div></section>\n");
    }
    page.push_str(FOOT);
    Ok(page)
}

/// Uses the colours of the app.
const HEAD: &str = r"<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>Qiyou</title><style>
body { margin: 0; background: #F3EDE0; color: #221E18; font: 15px/1.4 'Noto Sans CJK SC', sans-serif; }
nav { position: sticky; top: 0; display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; padding: 10px 20px; background: #FBF8F1; border-bottom: 1px solid #D9CFBC; z-index: 1; }
h1 { font: 24px 'LXGW WenKai', serif; margin: 0; } h2 { font-size: 15px; font-weight: 600; margin: 0 0 8px; }
h2 a { color: #B23A2B; text-decoration: none; } fieldset { border: 0; padding: 0; margin: 0; display: flex; gap: 12px; }
label { cursor: pointer; } input { accent-color: #4F7A68; } main { padding: 20px; } section { margin-bottom: 28px; scroll-margin-top: 60px; }
section div { display: flex; flex-wrap: wrap; gap: 10px; align-items: flex-start; }
div a { display: block; border-radius: 10px; overflow: hidden; border: 1px solid #D9CFBC; } div a.dark { border-color: #3A352C; }
div a:hover { outline: 2px solid #4F7A68; } img { display: block; height: 300px; } a[hidden] { display: none; }
</style><nav><h1>棋友 Qiyou</h1>";
const FOOT: &str = r"</main><script>
const boxes = [...document.querySelectorAll('input')];
function show() {
  const off = (one, of) => boxes.some(box => box.dataset.of == of && box.value == one.dataset[of] && !box.checked);
  for (const one of document.querySelectorAll('div a')) one.hidden = ['size', 'language', 'theme'].some(of => off(one, of));
}
for (const box of boxes) box.onchange = show;
</script>";

fn write(path: &Path, width: u32, height: u32, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(bytes)?;
    Ok(())
}

/// Downscales: each pixel is the mean of a square of pixels.
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
