//! The manual of docs/manual as pages: a table of contents, and one chapter at a time. The text is part of the program, its
//! pictures are installed files. The list of libraries is read on the page of a chapter too.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use slint::{ComponentHandle, Image, ModelRc, Rgba8Pixel, SharedPixelBuffer, SharedString, VecModel};

use super::{game, libraries, touched, update};
use crate::app::{AppState, Controller, Cx};
use crate::screens::{BlockKind, MainWindow, ManualAdapter, ManualBlock, Page};

/// A chapter in both languages, in the form that docs/manual/README.md describes.
struct Chapter {
    /// Name of the file without its extension; chapters about games are named by the game's word.
    name: &'static str,
    english: &'static str,
    chinese: &'static str,
}

macro_rules! chapters {
    ($($name:literal),*) => {
        &[$(Chapter {
            name: $name,
            english: include_str!(concat!("../../../../docs/manual/en/", $name, ".md")),
            chinese: include_str!(concat!("../../../../docs/manual/zh/", $name, ".md")),
        }),*]
    };
}

/// In the order of the table in docs/manual/README.md.
const CHAPTERS: &[Chapter] = chapters![
    "first-game",
    "nearby",
    "gomoku",
    "go",
    "xiangqi",
    "liuzhou",
    "lights-out",
    "online",
    "letters",
    "troubleshooting",
    "privacy"
];

/// The chapter for people who find nobody.
const TROUBLE: &str = "troubleshooting";

/// In the place of a chapter's number: the list of libraries.
const LIBRARIES: usize = CHAPTERS.len();

/// Maximum width and height of a picture in pixels; the manual's are 300 x 600.
const LARGEST: u32 = 2_048;

impl Chapter {
    fn text(&self, chinese: bool) -> &'static str {
        if chinese { self.chinese } else { self.english }
    }

    fn title(&self, chinese: bool) -> &'static str {
        let first = self.text(chinese).lines().next().unwrap_or_default();
        first.strip_prefix("# ").unwrap_or(first)
    }
}

/// A line of a chapter below its title.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Block {
    Heading(&'static str),
    Paragraph(&'static str),
    Item(&'static str),
    Step(i32, &'static str),
    Command(&'static str),
    /// The caption, and the file relative to the folder of pictures.
    Picture(&'static str, &'static str),
}

impl Block {
    fn of(line: &'static str) -> Self {
        let step = line.split_once(". ").and_then(|(number, text)| Some((number.parse().ok()?, text)));
        let picture = line.strip_prefix("![").and_then(|rest| {
            let (caption, file) = rest.strip_suffix(')')?.split_once("](../pictures/")?;
            Some((caption, file))
        });
        if let Some(heading) = line.strip_prefix("## ") {
            Self::Heading(heading)
        } else if let Some(item) = line.strip_prefix("- ") {
            Self::Item(item)
        } else if let Some(command) = line.strip_prefix("    ") {
            Self::Command(command)
        } else if let Some((caption, file)) = picture {
            Self::Picture(caption, file)
        } else if let Some((number, text)) = step {
            Self::Step(number, text)
        } else {
            Self::Paragraph(line)
        }
    }

    fn view(self, chinese: bool, pictures: Option<&Path>) -> ManualBlock {
        let plain = |kind, text| ManualBlock { kind, text: set(text, chinese), ..Default::default() };
        match self {
            Self::Heading(text) => plain(BlockKind::Heading, text),
            Self::Paragraph(text) => plain(BlockKind::Paragraph, text),
            Self::Item(text) => plain(BlockKind::Item, text),
            Self::Step(number, text) => ManualBlock { number, ..plain(BlockKind::Step, text) },
            Self::Command(text) => plain(BlockKind::Command, text),
            Self::Picture(caption, file) => {
                let picture = pictures.map(|folder| folder.join(file)).and_then(|path| {
                    let read = read(&path);
                    if let Err(error) = &read {
                        tracing::debug!(%error, path = %path.display(), "a picture of the manual is not shown");
                    }
                    read.ok()
                });
                ManualBlock { picture: picture.unwrap_or_default(), ..plain(BlockKind::Picture, caption) }
            }
        }
    }
}

/// A text as it is shown: the font's curly quotation marks are as wide as a Chinese character.
fn set(text: &str, chinese: bool) -> SharedString {
    if chinese { text.into() } else { text.replace(['\u{201c}', '\u{201d}'], "\"").into() }
}

/// The list of libraries: their terms are headings.
fn libraries_by_terms(chinese: bool) -> Vec<ManualBlock> {
    fn block(kind: BlockKind, text: String) -> ManualBlock {
        ManualBlock { kind, text: text.into(), ..Default::default() }
    }
    let group = |libraries::Group { terms, paragraphs }| {
        let paragraphs = paragraphs.into_iter().map(|text| block(BlockKind::Small, text));
        std::iter::once(block(BlockKind::Heading, terms)).chain(paragraphs)
    };
    libraries::by_terms(chinese).into_iter().flat_map(group).collect()
}

fn blocks(text: &'static str) -> impl Iterator<Item = Block> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(Block::of)
}

/// Reads a PNG file.
fn read(path: &Path) -> io::Result<Image> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let (width, height) = (reader.info().width, reader.info().height);
    if width > LARGEST || height > LARGEST {
        return Err(io::Error::other("the picture is too large"));
    }
    let size = reader.output_buffer_size().ok_or_else(|| io::Error::other("the picture is too large"))?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes)?;
    let bytes = &bytes[..frame.buffer_size()];
    let mut pixels = SharedPixelBuffer::<Rgba8Pixel>::new(width, height);
    for (at, pixel) in pixels.make_mut_slice().iter_mut().enumerate() {
        *pixel = match frame.color_type {
            png::ColorType::Rgba => {
                Rgba8Pixel::new(bytes[4 * at], bytes[4 * at + 1], bytes[4 * at + 2], bytes[4 * at + 3])
            }
            png::ColorType::GrayscaleAlpha => {
                let grey = bytes[2 * at];
                Rgba8Pixel::new(grey, grey, grey, bytes[2 * at + 1])
            }
            _ => return Err(io::Error::other("the picture's colours are not understood")),
        };
    }
    Ok(Image::from_rgba8(pixels))
}

/// Folders that may contain the manual's pictures, the most likely first: beside the program, in the user's own data folder, in
/// those of the system.
fn folders(program: Option<&Path>, own: Option<&Path>, system: &str) -> Vec<PathBuf> {
    let beside = program.and_then(|program| Some(program.parent()?.parent()?.join("share")));
    let system = system.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let shares = beside.into_iter().chain(own.map(Path::to_owned)).chain(system);
    shares.map(|share| share.join("qiyou/manual")).collect()
}

/// The folder of the manual's pictures on this system; a development build falls back to that of its sources.
pub fn manual_pictures() -> Option<PathBuf> {
    let program = std::env::current_exe().ok();
    let own = directories::BaseDirs::new().map(|folders| folders.data_dir().to_owned());
    let system = std::env::var("XDG_DATA_DIRS").unwrap_or_default();
    let system = if system.is_empty() { "/usr/local/share:/usr/share" } else { &system };
    let folders = folders(program.as_deref(), own.as_deref(), system).into_iter();
    #[cfg(debug_assertions)]
    let folders = folders.chain([Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/pictures")]);
    folders.into_iter().find(|folder| folder.is_dir())
}

/// State of the manual's pages.
#[derive(Default)]
pub(crate) struct Manual {
    /// Folder of the pictures; without it captions take their place.
    pictures: Option<PathBuf>,
    chapter: usize,
    /// The chapter and language of the shown blocks; none while no chapter is open, so that pictures take no memory.
    shown: Cell<Option<(usize, bool)>>,
    titles: Rc<VecModel<SharedString>>,
    blocks: Rc<VecModel<ManualBlock>>,
}

impl Manual {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<ManualAdapter>();
        page.set_titles(ModelRc::from(self.titles.clone()));
        page.set_blocks(ModelRc::from(self.blocks.clone()));
        page.on_open(touched!(app, |_pages, cx| cx.go.page(Page::Manual)));
        page.on_open_chapter(touched!(app, |pages, cx, index| {
            pages.manual.open(usize::try_from(index).unwrap_or_default(), cx);
        }));
        page.on_open_game(touched!(app, |pages, cx, of| {
            pages.manual.open_named(game::word(game::of(of)), cx);
        }));
        page.on_open_trouble(touched!(app, |pages, cx| pages.manual.open_named(TROUBLE, cx)));
        page.on_open_libraries(touched!(app, |pages, cx| {
            pages.manual.chapter = LIBRARIES;
            cx.go.page(Page::Chapter);
        }));
    }

    /// Shows pictures from this folder from now on.
    pub(crate) fn set_pictures(&mut self, folder: PathBuf) {
        self.pictures = Some(folder);
        self.shown.set(None);
    }

    fn open_named(&mut self, name: &str, cx: &mut Cx<'_>) {
        let found = CHAPTERS.iter().position(|chapter| chapter.name == name);
        self.open(found.unwrap_or_default(), cx);
    }

    fn open(&mut self, chapter: usize, cx: &mut Cx<'_>) {
        self.chapter = chapter.min(CHAPTERS.len() - 1);
        cx.go.page(Page::Chapter);
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let chinese = known.chinese();
        if known.page() == Page::Manual {
            let titles: Vec<SharedString> =
                CHAPTERS.iter().map(|chapter| chapter.title(chinese).into()).collect();
            update(&self.titles, &titles);
        }
        let wanted = (known.page() == Page::Chapter).then_some((self.chapter, chinese));
        if self.shown.replace(wanted) == wanted {
            return;
        }
        if wanted.is_none() {
            self.blocks.set_vec(Vec::new());
            return;
        }
        let page = window.global::<ManualAdapter>();
        let pictures = self.pictures.as_deref();
        let chapter = CHAPTERS.get(self.chapter);
        let shown: Vec<ManualBlock> = chapter.map_or_else(
            || libraries_by_terms(chinese),
            |chapter| blocks(chapter.text(chinese)).map(|block| block.view(chinese, pictures)).collect(),
        );
        self.blocks.set_vec(shown);
        page.set_of_libraries(chapter.is_none());
        page.set_title(chapter.map_or("", |chapter| chapter.title(chinese)).into());
        let next = CHAPTERS.get(self.chapter + 1).map_or("", |next| next.title(chinese));
        page.set_next_title(next.into());
        // Last, because the page scrolls to the top when it changes.
        page.set_chapter(self.chapter as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chapters_are_those_of_the_table_of_contents_in_its_order() {
        let contents = include_str!("../../../../docs/manual/README.md");
        let listed: Vec<&str> = contents
            .split("](en/")
            .skip(1)
            .filter_map(|rest| rest.split_once(".md)").map(|(name, _)| name))
            .collect();
        let ours: Vec<&str> = CHAPTERS.iter().map(|chapter| chapter.name).collect();
        assert_eq!(ours, listed);
        for chapter in CHAPTERS {
            for chinese in [false, true] {
                assert!(contents.contains(&format!("[{}]", chapter.title(chinese))), "{}", chapter.name);
            }
        }
    }

    #[test]
    fn each_block_is_read_as_what_its_first_characters_say() {
        let text = "# A title\n\nA paragraph.\n\n## A heading\n\n- an item\n\n1. a step\n2. another\n\n    rfkill list\n\n![What it shows](../pictures/en/home.png)\n";
        let read: Vec<Block> = blocks(text).collect();
        let expected = [
            Block::Paragraph("A paragraph."),
            Block::Heading("A heading"),
            Block::Item("an item"),
            Block::Step(1, "a step"),
            Block::Step(2, "another"),
            Block::Command("rfkill list"),
            Block::Picture("What it shows", "en/home.png"),
        ];
        assert_eq!(read, expected);
        assert_eq!(Block::of("7.5 points. Then more"), Block::Paragraph("7.5 points. Then more"));
    }

    #[test]
    fn no_chapter_loses_a_line_and_every_picture_can_be_drawn() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/pictures");
        let mut pictures = 0;
        for text in CHAPTERS.iter().flat_map(|chapter| [chapter.english, chapter.chinese]) {
            let lines = text.lines().filter(|line| !line.is_empty()).count();
            assert_eq!(blocks(text).count() + 1, lines);
            for block in blocks(text) {
                if let Block::Picture(caption, file) = block {
                    pictures += 1;
                    let shown = block.view(true, Some(&folder)).picture.size();
                    assert!(shown.width >= 300 && shown.height >= 300, "{caption}: {file} is {shown:?}");
                }
            }
        }
        assert!(pictures > 30, "{pictures}");
    }

    #[test]
    fn a_picture_that_is_missing_or_damaged_leaves_its_caption() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let block = Block::Picture("The first page", "home.png");
        for bytes in [None, Some(&b"no picture"[..])] {
            if let Some(bytes) = bytes {
                std::fs::write(folder.path().join("home.png"), bytes).expect("written");
            }
            let shown = block.view(false, Some(folder.path()));
            assert_eq!((shown.picture.size().width, shown.text.as_str()), (0, "The first page"));
        }
    }

    #[test]
    fn what_stands_on_a_button_is_in_quotation_marks_of_the_language() {
        let block = Block::of("Tap “Start”.");
        assert_eq!(block.view(false, None).text, "Tap \"Start\".");
        assert_eq!(Block::of("点“开始”。").view(true, None).text, "点“开始”。");
    }

    #[test]
    fn pictures_are_looked_for_where_packages_and_tarball_install_them() {
        let program = Path::new("/home/anna/.local/bin/qiyou");
        let found = folders(Some(program), Some(Path::new("/data")), "/usr/local/share::/usr/share");
        let expected = [
            "/home/anna/.local/share/qiyou/manual",
            "/data/qiyou/manual",
            "/usr/local/share/qiyou/manual",
            "/usr/share/qiyou/manual",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
