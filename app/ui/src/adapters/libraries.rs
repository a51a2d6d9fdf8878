//! The Rust libraries in Qiyou's programs with their licences: THIRD-PARTY.md, which is part of the program.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Written by packaging/libraries; a row of its table is a library.
const LIST: &str = include_str!("../../../../THIRD-PARTY.md");

/// Number of libraries in a paragraph.
const TOGETHER: usize = 12;

struct Library {
    name: &'static str,
    version: &'static str,
    terms: &'static str,
}

impl Library {
    fn words(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// Libraries of the same terms.
pub(super) struct Group {
    /// As one form of SPDX.
    pub(super) terms: String,
    /// Names and versions, some to a paragraph.
    pub(super) paragraphs: Vec<String>,
}

fn all() -> Vec<Library> {
    // Other lines of a table do not begin with this, but for its head.
    let rows = LIST.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    rows.filter_map(|row| {
        let mut cells = row.split(" | ");
        Some(Library { name: cells.next()?, version: cells.next()?, terms: cells.next()? })
    })
    .collect()
}

/// Number of libraries.
pub(super) fn count() -> usize {
    static COUNT: LazyLock<usize> = LazyLock::new(|| all().len());
    *COUNT
}

/// Names and versions of those under the Mozilla Public License.
pub(super) fn under_mpl(chinese: bool) -> &'static str {
    static NAMES: LazyLock<[String; 2]> = LazyLock::new(|| {
        let names: Vec<String> =
            all().iter().filter(|library| library.terms.contains("MPL")).map(Library::words).collect();
        [", ", "、"].map(|between| names.join(between))
    });
    &NAMES[usize::from(chinese)]
}

/// All libraries, the terms that most of them have first.
pub(super) fn by_terms(chinese: bool) -> Vec<Group> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in all() {
        groups.entry(unified(library.terms)).or_default().push(library.words());
    }
    let mut groups: Vec<(String, Vec<String>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, libraries)| Reverse(libraries.len()));
    let between = if chinese { "、" } else { ", " };
    let group = |(terms, libraries): (String, Vec<String>)| Group {
        terms,
        paragraphs: libraries.chunks(TOGETHER).map(|some| some.join(between)).collect(),
    };
    groups.into_iter().map(group).collect()
}

/// A choice of terms in alphabetical order. `A/B` is an old form of `A OR B`.
fn unified(terms: &str) -> String {
    if terms.contains(" AND ") {
        return terms.to_owned();
    }
    let mut choice: Vec<&str> = terms.split('/').flat_map(|part| part.split(" OR ")).map(str::trim).collect();
    choice.sort_unstable();
    choice.join(" OR ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Licences and exceptions that a term consists of.
    fn licences(terms: &str) -> BTreeSet<&str> {
        let words = terms.split(|sign: char| sign.is_whitespace() || "()/".contains(sign));
        words.filter(|word| !["", "OR", "AND", "WITH"].contains(word)).collect()
    }

    #[test]
    fn every_library_of_the_list_is_shown_once_under_its_licences() {
        let rows = LIST.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| library |"));
        let mut wanted: Vec<(String, BTreeSet<&str>)> = Vec::new();
        for row in rows {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 6, "{row}");
            wanted.push((format!("{} {}", cells[1], cells[2]), licences(cells[3])));
        }
        for (chinese, between) in [(false, ", "), (true, "、")] {
            let groups = by_terms(chinese);
            let mut shown = Vec::new();
            for group in &groups {
                for library in group.paragraphs.iter().flat_map(|paragraph| paragraph.split(between)) {
                    shown.push((library.to_owned(), licences(&group.terms)));
                }
            }
            shown.sort();
            wanted.sort();
            assert_eq!(shown, wanted);
            assert_eq!(count(), wanted.len());
            let terms: BTreeSet<&str> = groups.iter().map(|group| group.terms.as_str()).collect();
            assert_eq!(terms.len(), groups.len(), "each choice has one heading");
        }
        assert!(wanted.len() > 300, "{}", wanted.len());
    }

    #[test]
    fn the_libraries_under_the_mpl_are_those_that_the_list_names_in_a_sentence() {
        let (_, rest) = LIST.split_once("<https://www.mozilla.org/MPL/2.0/>,").expect("the sentence");
        let (sentence, _) = rest.split_once(".\n").expect("its end");
        let named = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        let named = named.trim_start_matches("are ").replace(" and ", ", ");
        assert_eq!(under_mpl(false), named);
        assert_eq!(under_mpl(true), named.replace(", ", "、"));
    }

    #[test]
    fn the_same_choice_is_read_in_any_order_and_form() {
        for terms in ["MIT OR Apache-2.0", "Apache-2.0 OR MIT", "MIT/Apache-2.0", "Apache-2.0 / MIT"] {
            assert_eq!(unified(terms), "Apache-2.0 OR MIT");
        }
        let both = "(MIT OR Apache-2.0) AND Unicode-3.0";
        assert_eq!(unified(both), both);
    }
}
