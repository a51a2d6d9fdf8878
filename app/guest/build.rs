//! Compresses the page's files, which the program embeds in the form in which they are sent.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("page");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).ok_or("a file's name is no text")?;
        println!("cargo:rerun-if-changed={}", file.display());
        let content = fs::read(&file)?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&content)?;
        let compressed = out.join(format!("{name}.gz"));
        fs::write(&compressed, gzip.finish()?)?;
        let mut crc = Crc::new();
        crc.update(&content);
        let (tag, plain, gzip) =
            (format!("\"{:08x}-{:x}\"", crc.sum(), content.len()), text(&file)?, text(&compressed)?);
        writeln!(
            list,
            "Embedded {{ name: {name:?}, tag: {tag:?}, plain: include_bytes!({plain:?}), gzip: include_bytes!({gzip:?}) }},"
        )?;
    }
    list.push(']');
    fs::write(out.join("files.rs"), list)?;
    Ok(())
}

fn text(path: &Path) -> Result<&str, &'static str> {
    path.to_str().ok_or("a path is no text")
}
