//! Pictures on the desktop's clipboard. Texts are copied by the window system's own text input.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// Pixels as red, green, blue, opacity; rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes per pixel.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// As a PNG file.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgba)?;
        writer.finish()?;
        Ok(file)
    }
}

/// Where pictures are copied to. Tests have their own implementation.
pub trait Clipboard {
    /// Whether pictures can be copied here.
    fn is_there(&self) -> bool;
    /// Copies a picture, or says why it could not.
    fn copy(&self, picture: &Picture) -> Result<(), String>;
}

/// The clipboard of X11 or Wayland, opened when it is first asked for. It stays open, since on X11 what was copied is served by
/// this process.
#[derive(Default)]
pub struct DesktopClipboard(RefCell<Option<arboard::Clipboard>>);

impl DesktopClipboard {
    /// Not opened yet.
    pub fn new() -> Rc<Self> {
        Rc::default()
    }

    fn open(&self) -> Result<(), arboard::Error> {
        let mut open = self.0.borrow_mut();
        if open.is_none() {
            *open = Some(arboard::Clipboard::new()?);
        }
        Ok(())
    }
}

impl Clipboard for DesktopClipboard {
    fn is_there(&self) -> bool {
        self.open().inspect_err(|error| tracing::debug!(%error, "no clipboard for pictures")).is_ok()
    }

    fn copy(&self, picture: &Picture) -> Result<(), String> {
        self.open().map_err(|error| error.to_string())?;
        let mut open = self.0.borrow_mut();
        let clipboard = open.as_mut().expect("it was opened");
        let image = arboard::ImageData {
            width: picture.width as usize,
            height: picture.height as usize,
            bytes: picture.rgba.as_slice().into(),
        };
        clipboard.set_image(image).map_err(|error| error.to_string())
    }
}
