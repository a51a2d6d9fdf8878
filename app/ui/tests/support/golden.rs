//! Pictures that are kept: four looks of a page on one sheet, at half the size, in few colours.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use qiyou::headless::Picture;

/// Chinese or English, dark or light, in the order on the sheet.
pub(crate) const LOOKS: [(bool, bool); 4] = [(true, false), (true, true), (false, false), (false, true)];

/// Colours of one sheet.
const COLOURS: usize = 96;

/// A colour that is kept may be this far from the one that was drawn, in each of red, green and blue.
const ALIKE: u8 = 44;

/// So many pixels of a sheet may differ by more.
const SPECKS: usize = 8;

/// A sheet.
pub(crate) struct Golden {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Red, green, blue.
    pub(crate) pixels: Vec<[u8; 3]>,
}

/// Four pictures of one size as one sheet, two by two; each pixel is the mean of four.
pub(crate) fn reduced(looks: &[Picture; 4]) -> Golden {
    let (wide, high) = (looks[0].width / 2, looks[0].height / 2);
    let (width, height) = (wide * 2, high * 2);
    let mut pixels = Vec::with_capacity((width * height) as usize);
    for y in 0..height {
        for x in 0..width {
            let look = &looks[(y / high * 2 + x / wide) as usize];
            let (left, top) = (x % wide * 2, y % high * 2);
            let mut sum = [0_u32; 3];
            for (across, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let pixel = look.pixels[((top + down) * look.width + left + across) as usize];
                for (sum, part) in sum.iter_mut().zip([pixel.r, pixel.g, pixel.b]) {
                    *sum += u32::from(part);
                }
            }
            pixels.push(sum.map(|sum| (sum / 4) as u8));
        }
    }
    Golden { width, height, pixels }
}

/// The commonest colours, and which of them each pixel is nearest to.
fn few_colours(pixels: &[[u8; 3]]) -> (Vec<[u8; 3]>, Vec<u8>) {
    let mut counted: HashMap<[u8; 3], usize> = HashMap::new();
    for pixel in pixels {
        *counted.entry(*pixel).or_default() += 1;
    }
    let mut palette: Vec<[u8; 3]> = counted.keys().copied().collect();
    palette.sort_by_key(|colour| (std::cmp::Reverse(counted[colour]), *colour));
    // Of colours that are nearly the same one is enough, so that rare but different ones are kept too.
    let mut kept: Vec<[u8; 3]> = Vec::new();
    for colour in &palette {
        if kept.len() == COLOURS {
            break;
        }
        if kept.iter().all(|known| apart(*known, *colour) > if kept.len() < 16 { 0 } else { 9 }) {
            kept.push(*colour);
        }
    }
    let nearest: HashMap<[u8; 3], u8> = palette
        .iter()
        .map(|colour| {
            let best = (0..kept.len()).min_by_key(|index| square(kept[*index], *colour)).unwrap_or(0);
            (*colour, best as u8)
        })
        .collect();
    let indices = pixels.iter().map(|pixel| nearest[pixel]).collect();
    (kept, indices)
}

fn square(one: [u8; 3], other: [u8; 3]) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

/// The largest difference in red, green or blue.
fn apart(one: [u8; 3], other: [u8; 3]) -> u8 {
    one.iter().zip(other).map(|(one, other)| one.abs_diff(other)).max().unwrap_or(0)
}

/// Keeps a sheet in few colours.
pub(crate) fn write(path: &Path, golden: &Golden) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let (palette, indices) = few_colours(&golden.pixels);
    let file = BufWriter::new(File::create(path).expect("a file for the picture"));
    let mut encoder = png::Encoder::new(file, golden.width, golden.height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    // Neighbouring lines of a page are mostly the same.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().expect("written").write_image_data(&indices).expect("written");
}

/// A kept sheet; `None` where there is none.
pub(crate) fn read(path: &Path) -> Option<Golden> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path).ok()?));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a picture");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it fits into memory")];
    let info = reader.next_frame(&mut bytes).expect("a picture");
    let pixels = bytes.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Some(Golden { width: info.width, height: info.height, pixels })
}

/// What differs by more than what few colours bring with them.
pub(crate) fn difference(then: &Golden, now: &Golden) -> Option<String> {
    if (then.width, then.height) != (now.width, now.height) {
        return Some(format!("{}x{} instead of {}x{}", now.width, now.height, then.width, then.height));
    }
    let mut places = Vec::new();
    for (index, (then, now)) in then.pixels.iter().zip(&now.pixels).enumerate() {
        if apart(*then, *now) > ALIKE {
            places.push(index as u32);
        }
    }
    if places.len() <= SPECKS {
        return None;
    }
    let (first, width, height) = (places[0], now.width, now.height);
    let (x, y) = (first % width, first / width);
    let look =
        ["zh light", "zh dark", "en light", "en dark"][(y / (height / 2) * 2 + x / (width / 2)) as usize];
    Some(format!(
        "{} pixels, the first in {look} at {} {}",
        places.len(),
        x % (width / 2) * 2,
        y % (height / 2) * 2
    ))
}

/// Stories of which a picture says nothing that another does not are looked at, but not kept.
pub(crate) fn is_kept(_story: &str) -> bool {
    true
}
