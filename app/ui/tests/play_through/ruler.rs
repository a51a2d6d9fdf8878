//! How much room a text needs, set as the pages set it.

use std::collections::BTreeMap;

slint::slint! {
    export component Ruler inherits Window {
        in property <string> words;
        in property <string> family;
        in property <length> size;
        in property <length> limit;
        out property <length> wide: one-line.preferred-width;
        out property <length> high: wrapped.preferred-height;
        one-line := Text { text: root.words; font-family: root.family; font-size: root.size; }
        wrapped := Text { width: root.limit; wrap: word-wrap; text: root.words; font-family: root.family; font-size: root.size; }
    }
}

/// Half a pixel of rounding at scale 1 is no cut.
const SLACK: f32 = 1.0;

pub(crate) struct Tape {
    ruler: Ruler,
    /// What was measured before: words, family and size, width; whether it fits and how high it is.
    known: BTreeMap<(String, &'static str, u32, u32), (f32, f32)>,
}

impl Tape {
    pub(crate) fn new() -> Self {
        Self { ruler: Ruler::new().expect("a window in memory"), known: BTreeMap::new() }
    }

    pub(crate) fn fits(
        &mut self,
        words: &str,
        family: &'static str,
        size: f32,
        width: f32,
        height: f32,
    ) -> bool {
        let key = (words.to_owned(), family, (size * 8.0) as u32, (width * 8.0) as u32);
        let (wide, high) = *self.known.entry(key).or_insert_with(|| {
            self.ruler.set_words(words.into());
            self.ruler.set_family(family.into());
            self.ruler.set_size(size);
            self.ruler.set_limit(width);
            (self.ruler.get_wide(), self.ruler.get_high())
        });
        wide <= width + SLACK || (high <= height + SLACK && wide > width)
    }
}
