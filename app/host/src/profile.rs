//! The user's profile: name, visibility, wish, language, quiet hours, and the device's keys.
//!
//! Each setting is stored before it takes effect. The profile decides nothing about links: it only says what is announced.

use std::sync::Arc;

use engine::GameKind;
use link::identity::Identity;
use link::{Card, Epoch, Tag};
use proto::control::{self, Language, RefusalCode, Visibility};
use tokio::time::Instant;

use crate::journal::Journal;
use crate::quiet::QuietHours;
use crate::refusal::Refusal;
use crate::store::{Store, StoreError};
use crate::visibility::{Discoverability, Exposure};

/// A setting with its value.
#[derive(Clone, Debug, PartialEq)]
enum Setting<'a> {
    Name(&'a str),
    Visibility(Visibility),
    FoundWhenClosed(bool),
    MakesPuzzles(bool),
    Wish(Option<GameKind>),
    Language(Language),
    QuietHours(Option<QuietHours>),
}

pub(crate) const NAME: &str = "name";
const VISIBILITY: &str = "visibility";
const FOUND_WHEN_CLOSED: &str = "found_when_closed";
const MAKES_PUZZLES: &str = "makes_puzzles";
const WISH: &str = "wish";
const LANGUAGE: &str = "language";
const QUIET_HOURS: &str = "quiet_hours";

impl Setting<'_> {
    /// Key in the table of settings.
    fn key(&self) -> &'static str {
        match self {
            Self::Name(_) => NAME,
            Self::Visibility(_) => VISIBILITY,
            Self::FoundWhenClosed(_) => FOUND_WHEN_CLOSED,
            Self::MakesPuzzles(_) => MAKES_PUZZLES,
            Self::Wish(_) => WISH,
            Self::Language(_) => LANGUAGE,
            Self::QuietHours(_) => QUIET_HOURS,
        }
    }

    /// Value in the table of settings.
    fn text(&self) -> String {
        match self {
            Self::Name(name) => (*name).to_owned(),
            Self::Visibility(visibility) => visibility.as_str_name().to_owned(),
            Self::FoundWhenClosed(on) | Self::MakesPuzzles(on) => if *on { "yes" } else { "no" }.to_owned(),
            Self::Wish(game) => game.map_or(0, |kind| kind as u8).to_string(),
            Self::Language(language) => language.as_str_name().to_owned(),
            Self::QuietHours(hours) => hours.map_or_else(String::new, QuietHours::written),
        }
    }

    fn write(&self, store: &mut Store) -> Result<(), StoreError> {
        store.set_setting(self.key(), &self.text())
    }
}

/// The profile.
pub(crate) struct Profile {
    name: String,
    discoverability: Discoverability,
    /// The game that the user would like to play with somebody nearby.
    wish: Option<GameKind>,
    /// Language of notifications.
    language: Language,
    quiet_hours: Option<QuietHours>,
    /// Puzzles are made unasked.
    makes_puzzles: bool,
    identity: Arc<Identity>,
    /// Secret shared with friends, from which this device's advertising tags are derived.
    advert_key: [u8; 32],
}

impl Profile {
    /// Reads the settings. A `given` name replaces the stored one; without either, the device's name is used. `language`:
    /// that of the environment, unless one is stored.
    pub(crate) fn load(
        store: &mut Store,
        given: Option<&str>,
        language: Language,
        identity: Identity,
        now: Instant,
    ) -> Result<Self, StoreError> {
        let saved = store.setting(NAME)?;
        let name = match (given.map(proto::limits::fit_name), saved) {
            (Some(given), saved) if !given.is_empty() => {
                if saved.as_ref() != Some(&given) {
                    Setting::Name(&given).write(store)?;
                }
                given
            }
            (_, Some(saved)) => saved,
            (_, None) => device_name(),
        };
        let visibility = store.setting(VISIBILITY)?.and_then(|text| Visibility::from_str_name(&text));
        let found_when_closed = store.setting(FOUND_WHEN_CLOSED)?.as_deref() == Some("yes");
        let stored_language = store.setting(LANGUAGE)?.and_then(|text| Language::from_str_name(&text));
        Ok(Self {
            name,
            discoverability: Discoverability::new(
                visibility.unwrap_or(Visibility::Everyone),
                found_when_closed,
                now,
            ),
            wish: store.setting(WISH)?.and_then(|number| GameKind::from_number(number.parse().ok()?)),
            language: stored_language.unwrap_or(language),
            quiet_hours: store.setting(QUIET_HOURS)?.and_then(|text| QuietHours::read(&text)),
            makes_puzzles: store.setting(MAKES_PUZZLES)?.as_deref() != Some("no"),
            advert_key: store.advert_key()?.unwrap_or(*identity.advert_key()),
            identity: Arc::new(identity),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn visibility(&self) -> Visibility {
        self.discoverability.visibility()
    }

    pub(crate) fn wish(&self) -> Option<GameKind> {
        self.wish
    }

    pub(crate) fn language(&self) -> Language {
        self.language
    }

    pub(crate) fn quiet_hours(&self) -> Option<QuietHours> {
        self.quiet_hours
    }

    pub(crate) fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    pub(crate) fn advert_key(&self) -> &[u8; 32] {
        &self.advert_key
    }

    /// The profile as clients see it; whether the host ends with the app is not its subject.
    pub(crate) fn shown(&self, has_guests: bool) -> control::Me {
        control::Me {
            name: self.name.clone(),
            visibility: self.visibility().into(),
            fingerprint: self.identity.fingerprint(),
            found_when_closed: self.discoverability.found_when_closed(),
            quiet_hours: self.quiet_hours.map(|hours| {
                let (from_minute, until_minute) = hours.minutes();
                control::QuietHours { from_minute, until_minute }
            }),
            has_guests,
            makes_puzzles: self.makes_puzzles,
            ends_with_app: false,
        }
    }

    /// Who can discover this device at present.
    pub(crate) fn exposure(&self, now: Instant) -> Exposure {
        self.discoverability.exposure(now)
    }

    /// When the exposure changes if no client attaches.
    pub(crate) fn exposure_changes_at(&self, now: Instant) -> Option<Instant> {
        self.discoverability.changes_at(now)
    }

    /// Handles that a client is attached now.
    pub(crate) fn note_use(&mut self, now: Instant) {
        self.discoverability.note_use(now);
    }

    /// Sets a name, which [`proto::limits::fit_name`] has shortened.
    pub(crate) fn set_name(&mut self, journal: &mut Journal, name: String) -> Result<(), StoreError> {
        keep(journal, &Setting::Name(&name))?;
        self.name = name;
        Ok(())
    }

    pub(crate) fn set_visibility(
        &mut self,
        journal: &mut Journal,
        visibility: Visibility,
    ) -> Result<(), StoreError> {
        keep(journal, &Setting::Visibility(visibility))?;
        self.discoverability.set_visibility(visibility);
        Ok(())
    }

    pub(crate) fn set_found_when_closed(
        &mut self,
        journal: &mut Journal,
        on: bool,
    ) -> Result<(), StoreError> {
        keep(journal, &Setting::FoundWhenClosed(on))?;
        self.discoverability.set_found_when_closed(on);
        Ok(())
    }

    pub(crate) fn makes_puzzles(&self) -> bool {
        self.makes_puzzles
    }

    pub(crate) fn set_makes_puzzles(&mut self, journal: &mut Journal, on: bool) -> Result<(), StoreError> {
        keep(journal, &Setting::MakesPuzzles(on))?;
        self.makes_puzzles = on;
        Ok(())
    }

    pub(crate) fn set_wish(
        &mut self,
        journal: &mut Journal,
        wish: Option<GameKind>,
    ) -> Result<(), StoreError> {
        keep(journal, &Setting::Wish(wish))?;
        self.wish = wish;
        Ok(())
    }

    /// Sets the language that a client has reported; an unspecified one changes nothing.
    pub(crate) fn set_language(
        &mut self,
        journal: &mut Journal,
        language: Language,
    ) -> Result<(), StoreError> {
        if language == Language::Unspecified || language == self.language {
            return Ok(());
        }
        keep(journal, &Setting::Language(language))?;
        self.language = language;
        Ok(())
    }

    pub(crate) fn set_quiet_hours(
        &mut self,
        journal: &mut Journal,
        hours: Option<QuietHours>,
    ) -> Result<(), StoreError> {
        keep(journal, &Setting::QuietHours(hours))?;
        self.quiet_hours = hours;
        Ok(())
    }

    /// What carriers announce of this device; `None`: nothing. `busy`: a match with a friend goes on. Only to everyone the name and
    /// the wish are told: friends know the name, and nobody else shall.
    pub(crate) fn card(&self, exposure: Exposure, epoch: Epoch, busy: bool) -> Option<Card> {
        let Exposure { to, seldom } = exposure;
        let to_all = to == Visibility::Everyone;
        (to != Visibility::Nobody).then(|| Card {
            tag: Tag::of(&self.advert_key, epoch),
            open_to_all: to_all,
            busy,
            wish: self.wish.filter(|_| to_all).map_or(0, |kind| kind as u8),
            name: to_all.then(|| self.name.clone()),
            seldom,
        })
    }

    /// Replaces the advertising secret, which has been stored with the friends who know it.
    pub(crate) fn set_advert_key(&mut self, advert_key: [u8; 32]) {
        self.advert_key = advert_key;
    }
}

/// The name that a client asks for.
pub(crate) fn asked_name(wish: &str) -> Result<String, Refusal> {
    let name = proto::limits::fit_name(wish);
    if name.is_empty() {
        return Err(Refusal::new(RefusalCode::RefusalBadRequest, "a name has at least one character"));
    }
    Ok(name)
}

/// The visibility that a client asks for.
pub(crate) fn asked_visibility(number: i32) -> Result<Visibility, Refusal> {
    Visibility::try_from(number)
        .map_err(|_| Refusal::new(RefusalCode::RefusalBadRequest, "no such visibility"))
}

/// The quiet hours that a client asks for; `None`: none.
pub(crate) fn asked_quiet_hours(hours: Option<control::QuietHours>) -> Result<Option<QuietHours>, Refusal> {
    let Some(hours) = hours else { return Ok(None) };
    let quiet = QuietHours::new(hours.from_minute, hours.until_minute).ok_or_else(|| {
        Refusal::new(RefusalCode::RefusalBadRequest, "two different times of one day are needed")
    })?;
    Ok(Some(quiet))
}

fn keep(journal: &mut Journal, setting: &Setting<'_>) -> Result<(), StoreError> {
    journal.keep(|store| setting.write(store))
}

/// The host name of the system, as the default name of the device.
fn device_name() -> String {
    let name = proto::limits::fit_name(&rustix::system::uname().nodename().to_string_lossy());
    if name.is_empty() { "Qiyou".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
    }

    impl Fixture {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().expect("a folder for the test") }
        }

        fn store(&self) -> Store {
            Store::open(self.folder.path()).expect("a disk that works")
        }

        fn identity(&self) -> Identity {
            Identity::load_or_create(&self.folder.path().join("identity")).expect("an identity")
        }

        /// The profile as a host reads it at its start.
        fn start(&self, given: Option<&str>) -> (Profile, Journal) {
            let mut store = self.store();
            let profile =
                Profile::load(&mut store, given, Language::English, self.identity(), Instant::now());
            let profile = profile.expect("readable settings");
            (profile, Journal::new(store))
        }
    }

    #[test]
    fn every_setting_is_as_it_was_after_a_restart() {
        let fixture = Fixture::new();
        let (mut profile, mut journal) = fixture.start(None);
        let hours = QuietHours::new(1_320, 480);
        profile.set_name(&mut journal, "Anna".into()).expect("stored");
        profile.set_visibility(&mut journal, Visibility::Friends).expect("stored");
        profile.set_found_when_closed(&mut journal, true).expect("stored");
        profile.set_wish(&mut journal, Some(GameKind::Go)).expect("stored");
        profile.set_language(&mut journal, Language::Chinese).expect("stored");
        profile.set_quiet_hours(&mut journal, hours).expect("stored");
        let before = profile.shown(false);
        drop((profile, journal));
        let (profile, _journal) = fixture.start(None);
        assert_eq!(profile.shown(false), before);
        assert_eq!((profile.name(), profile.visibility()), ("Anna", Visibility::Friends));
        assert_eq!((profile.wish(), profile.language()), (Some(GameKind::Go), Language::Chinese));
        assert_eq!(profile.quiet_hours(), hours);
    }

    #[test]
    fn a_given_name_takes_the_place_of_the_stored_one_and_is_stored() {
        let fixture = Fixture::new();
        assert_eq!(fixture.start(Some("Anna")).0.name(), "Anna");
        assert_eq!(fixture.start(Some("Ann")).0.name(), "Ann");
        assert_eq!(fixture.start(None).0.name(), "Ann");
        assert_eq!(fixture.start(Some("")).0.name(), "Ann", "an empty name is none");
    }

    #[test]
    fn what_a_wish_or_quiet_hours_were_set_to_can_be_taken_back() {
        let fixture = Fixture::new();
        for (wish, hours) in [(Some(GameKind::Xiangqi), QuietHours::new(0, 60)), (None, None)] {
            let (mut profile, mut journal) = fixture.start(None);
            profile.set_wish(&mut journal, wish).expect("stored");
            profile.set_quiet_hours(&mut journal, hours).expect("stored");
            drop(journal);
            let (again, _journal) = fixture.start(None);
            assert_eq!((again.wish(), again.quiet_hours()), (wish, hours));
        }
    }

    #[test]
    fn a_client_without_a_language_leaves_that_of_notifications() {
        let fixture = Fixture::new();
        let (mut profile, mut journal) = fixture.start(None);
        profile.set_language(&mut journal, Language::Chinese).expect("stored");
        profile.set_language(&mut journal, Language::Unspecified).expect("nothing to store");
        assert_eq!(profile.language(), Language::Chinese);
    }

    #[test]
    fn friends_alone_are_told_a_tag_and_everyone_name_and_wish_too() {
        let fixture = Fixture::new();
        let (mut profile, mut journal) = fixture.start(Some("Anna"));
        profile.set_wish(&mut journal, Some(GameKind::Go)).expect("stored");
        let epoch = Epoch::at(std::time::Duration::from_hours(1));
        let card = |to, seldom| profile.card(Exposure { to, seldom }, epoch, true);
        assert_eq!(card(Visibility::Nobody, false), None);
        let friends = card(Visibility::Friends, true).expect("announced");
        assert_eq!(friends.tag, Tag::of(profile.advert_key(), epoch));
        assert_eq!((friends.name, friends.wish, friends.open_to_all, friends.seldom), (None, 0, false, true));
        let all = card(Visibility::Everyone, false).expect("announced");
        assert_eq!((all.name.as_deref(), all.wish), (Some("Anna"), GameKind::Go as u8));
        assert!(all.open_to_all && all.busy && !all.seldom);
    }

    #[test]
    fn a_client_asks_for_a_name_a_visibility_and_hours_that_there_are() {
        assert_eq!(asked_name(" Ann ").ok().as_deref(), Some("Ann"));
        assert!(asked_name("").is_err() && asked_name("\n").is_err());
        assert_eq!(asked_visibility(Visibility::Friends.into()).ok(), Some(Visibility::Friends));
        assert!(asked_visibility(99).is_err());
        let hours = |from_minute, until_minute| {
            asked_quiet_hours(Some(control::QuietHours { from_minute, until_minute })).ok().flatten()
        };
        assert_eq!(hours(1_320, 480), QuietHours::new(1_320, 480));
        assert_eq!((hours(480, 480), hours(1_440, 0)), (None, None));
        assert_eq!(asked_quiet_hours(None).ok(), Some(None));
    }
}
