//! The page's files, embedded in compressed form.

use bytes::Bytes;

struct Embedded {
    name: &'static str,
    /// The ETag header, with its quotes.
    tag: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

static FILES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Environment variable, in debug builds: a folder whose files replace the embedded ones.
#[cfg(debug_assertions)]
const FOLDER: &str = "QIYOU_GUEST_PAGE";

/// A file in the form in which it is sent.
pub(crate) struct Served {
    pub(crate) content_type: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) content: Bytes,
    pub(crate) is_gzip: bool,
}

/// The file of this name, compressed if `gzip` is accepted; `None` if there is no such file.
pub(crate) fn find(name: &str, gzip: bool) -> Option<Served> {
    let content_type = content_type(name)?;
    #[cfg(debug_assertions)]
    if let Some(folder) = std::env::var_os(FOLDER) {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let content = is_name.then(|| std::fs::read(std::path::Path::new(&folder).join(name)).ok())??;
        return Some(Served { content_type, tag: "", content: content.into(), is_gzip: false });
    }
    let file = FILES.iter().find(|file| file.name == name)?;
    let content = Bytes::from_static(if gzip { file.gzip } else { file.plain });
    Some(Served { content_type, tag: file.tag, content, is_gzip: gzip })
}

/// The media type; `None` for a file that is not served, such as a licence.
fn content_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml; charset=utf-8",
        "json" | "webmanifest" => "application/json; charset=utf-8",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => return None,
    })
}
