//! Names of players, and whether two of them look alike.
//!
//! Two names look alike if their skeletons are equal (Unicode Technical Standard 39, section 4, confusable detection),
//! ignoring case, typographic variants, combining marks, punctuation, and what this program itself writes behind a shared name: `Ben`,
//! `BEN`, `Bеn` with a Cyrillic е, `Béń`, `Ⓑⓔⓝ`, `Ben.`, and `Ben (e7482)` are equal.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};
use unicode_security::skeleton;

use crate::room::PlayerId;

/// Number of key characters shown beside an ambiguous name. A forger needs about a million keys to match them: enough for
/// honest people, while impostors are detected by comparing short strings.
const FINGERPRINT: usize = 5;

/// The names of friends and of connected strangers.
#[derive(Default)]
pub(crate) struct Names {
    all: BTreeMap<PlayerId, Name>,
}

struct Name {
    said: String,
    skeleton: Skeleton,
    is_friend: bool,
    /// Another player's name looks like this one.
    is_shared: bool,
}

/// What stands for a player without a name: the beginning of the key.
pub(crate) fn stand_in(key: PlayerId) -> String {
    let mut key = key.to_string();
    key.truncate(FINGERPRINT);
    key
}

impl Names {
    /// Sets a player's name.
    pub(crate) fn put(&mut self, key: PlayerId, name: &str, is_friend: bool) {
        let skeleton = Skeleton::of(name);
        self.all.insert(key, Name { said: name.to_owned(), skeleton, is_friend, is_shared: false });
        self.update_shared();
    }

    /// Removes a player.
    pub(crate) fn forget(&mut self, key: PlayerId) {
        self.all.remove(&key);
        self.update_shared();
    }

    /// A player's name as it is displayed: with the beginning of the key if another name looks alike. Empty for an unknown
    /// player, or one without a name.
    pub(crate) fn shown(&self, key: PlayerId) -> String {
        match self.all.get(&key) {
            Some(one) if one.is_shared => format!("{} ({})", one.said, stand_in(key)),
            Some(one) => one.said.clone(),
            None => String::new(),
        }
    }

    /// Whether a friend other than this player has a name that looks like this player's.
    pub(crate) fn is_a_friends(&self, key: PlayerId) -> bool {
        self.friends_alike(key).next().is_some()
    }

    /// The friends other than this player whose names look like this player's.
    pub(crate) fn friends_alike(&self, key: PlayerId) -> impl Iterator<Item = PlayerId> {
        let one = self.all.get(&key);
        let others = self.all.iter().filter(move |(other, known)| **other != key && known.is_friend);
        others
            .filter(move |(_, known)| one.is_some_and(|one| known.skeleton.is_confusable_with(&one.skeleton)))
            .map(|(other, _)| *other)
    }

    /// Looks once at each name and not at each pair of them, because a person may have many friends.
    fn update_shared(&mut self) {
        let mut players = BTreeMap::<(usize, &str), usize>::new();
        for look in self.all.values().flat_map(|one| one.skeleton.looks()) {
            *players.entry(look).or_default() += 1;
        }
        let is_shared = |one: &Name| one.skeleton.looks().any(|look| players[&look] > 1);
        let shared: Vec<bool> = self.all.values().map(is_shared).collect();
        for (one, shared) in self.all.values_mut().zip(shared) {
            one.is_shared = shared;
        }
    }
}

/// The appearance of a name: the skeleton of its lower case, and the lower case of its skeleton. Both are needed: `I` and
/// `l` are confusable, `i` and `l` are not, but `Ian` and `IAN` must be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Skeleton([String; 2]);

impl Skeleton {
    fn of(name: &str) -> Self {
        let plain = |text: &str| -> String {
            let seen = skeleton(text).filter(|c| counts(*c));
            seen.collect::<String>().to_lowercase()
        };
        let letters: String = name.nfkc().map(letter).nfkc().filter(|c| !is_combining_mark(*c)).collect();
        let said = without_fingerprint(&letters);
        Self([plain(&said.to_lowercase()), plain(said)])
    }

    /// Who has one of these, numbered by its kind, looks alike. Names without visible characters have none.
    fn looks(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().map(String::as_str).enumerate().filter(|(_, look)| !look.is_empty())
    }

    fn is_confusable_with(&self, other: &Self) -> bool {
        self.looks().any(|look| other.looks().any(|other| look == other))
    }
}

/// Whether a character distinguishes names: letters, digits and pictures do. Punctuation is overlooked, and what has no glyph
/// (separators, control and format characters, private use, unassigned) or a blank one is not seen.
fn counts(c: char) -> bool {
    const NULL_NOTEHEAD: char = '\u{1D159}';
    let group = c.general_category_group();
    let is_seen = matches!(
        group,
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number | GeneralCategoryGroup::Symbol
    );
    is_seen && !is_combining_mark(c) && c != NULL_NOTEHEAD && c != '\u{FFFC}' && c != '\u{FFFD}'
}

/// The letter that a typographic variant shows, where Unicode knows no decomposition: small capitals, and white letters on black.
fn letter(c: char) -> char {
    const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ";
    const ENCLOSED: [char; 3] = ['\u{1F150}', '\u{1F170}', '\u{1F1E6}'];
    if let Some(at) = SMALL_CAPITALS.chars().position(|one| one == c) {
        return char::from(b'a' + at as u8);
    }
    let place = |first: &char| (c as u32).checked_sub(*first as u32).filter(|place| *place < 26);
    ENCLOSED.iter().find_map(place).map_or(c, |place| char::from(b'a' + place as u8))
}

/// Without [`Names::shown`]'s addition at the end, and its like.
fn without_fingerprint(name: &str) -> &str {
    let mut rest = name.trim_end();
    while let Some((before, end)) = rest.rsplit_once(['(', '[', '{', '<', '（', '【']) {
        let key = end.trim_end_matches(|c: char| !c.is_alphanumeric());
        if before.trim().is_empty()
            || key.chars().count() != FINGERPRINT
            || !key.chars().all(char::is_alphanumeric)
        {
            break;
        }
        rest = before.trim_end();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(number: u8) -> PlayerId {
        PlayerId([number; 32])
    }

    #[test]
    fn names_that_an_eye_cannot_tell_apart_look_alike() {
        for (one, other) in [
            ("Ben", "ben"),
            ("Ben", "B\u{200B}en"),
            ("Ben", "\u{3164}Ben"),
            ("Ben", "B\u{0435}n"),
            ("Ben", "Be\u{0301}n"),
            ("Ben", "B e n"),
            ("Ian", "lan"),
            ("Ian", "IAN"),
            ("Paypal", "Paypa1"),
            ("小明", "小明\u{FE0F}"),
            ("Ben", "Ben (e7482)"),
            ("Ben", "Ben（e7482） (０1ab2)"),
            ("Ben", "Ben\u{1D159}"),
            ("Ben", "B\u{FFF9}e\u{FFFA}n\u{FFFB}\u{FFFC}"),
            ("Ben", "Ben\u{E000}\u{FFFE}\u{10FFFF}\u{E0080}\u{378}"),
            ("Ben", "ʙᴇɴ"),
            ("Ben", "ᴮᵉⁿ"),
            ("Ben", "ᴮₑₙ"),
            ("Ben", "Ⓑⓔⓝ"),
            ("Ben", "🅑🅔🅝"),
            ("Ben", "🅱🅴🅽"),
            ("Ben", "Ｂｅｎ"),
            ("Ben", "_Ben_."),
            ("Ben", "B-e-n"),
            ("🐼", "🐼\u{FE0F}."),
        ] {
            assert!(Skeleton::of(one).is_confusable_with(&Skeleton::of(other)), "{one} and {other:?}");
        }
        for (one, other) in [
            ("Ben", "Benn"),
            ("Anna", "Hanna"),
            ("小明", "小朋"),
            ("🐼", "🐯"),
            ("(e7482)", "Ben"),
            ("Ben (two)", "Ben"),
            ("Ben (e7482)", "Anna (e7482)"),
            ("", ""),
            (".", "_"),
            ("\u{200B}", ""),
        ] {
            assert!(!Skeleton::of(one).is_confusable_with(&Skeleton::of(other)), "{one:?} and {other:?}");
        }
    }

    #[test]
    fn who_shares_a_name_is_shown_with_the_beginning_of_the_key() {
        let mut names = Names::default();
        names.put(player(0xA1), "Ben", true);
        assert_eq!(names.shown(player(0xA1)), "Ben");
        assert!(!names.is_a_friends(player(0xA1)), "it is its own");
        names.put(player(0xB2), "B\u{0435}n", false);
        assert_eq!(names.shown(player(0xA1)), "Ben (a1a1a)");
        assert_eq!(names.shown(player(0xB2)), "B\u{0435}n (b2b2b)");
        assert!(names.is_a_friends(player(0xB2)) && !names.is_a_friends(player(0xA1)));
        names.put(player(0xB2), "Carl", false);
        assert_eq!((names.shown(player(0xA1)), names.shown(player(0xB2))), ("Ben".into(), "Carl".into()));
        names.forget(player(0xB2));
        assert_eq!(names.shown(player(0xB2)), "");
    }

    #[test]
    fn of_many_names_those_are_shared_that_look_like_another_in_either_way() {
        // `I` looks like `l` and, as a small letter, like `i`; the last two show nothing.
        let said = ["Ian", "lan", "ian", "IAN", "Ben", "B\u{0435}n", "Carl", "Anna", "小明", "", "."];
        let mut names = Names::default();
        for seed in 0..200_u8 {
            // Names come, change and go.
            let key = player(seed % 17);
            if seed % 5 == 4 {
                names.forget(key);
            } else {
                names.put(key, said[usize::from(seed) * 7 % 11], seed.is_multiple_of(2));
            }
            for (key, one) in &names.all {
                let alike = |(other, known): (&PlayerId, &Name)| {
                    other != key && known.skeleton.is_confusable_with(&one.skeleton)
                };
                assert_eq!(one.is_shared, names.all.iter().any(alike), "{} after {seed} changes", one.said);
            }
        }
    }
}
