//! What the player chose on this device: kept in one small file, read once at the start.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::files;

/// Which language the app speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// The environment's (`LC_ALL`, `LC_MESSAGES`, `LANG`): Chinese when it begins with `zh`, else English.
    #[default]
    System,
    /// Chinese, simplified.
    Chinese,
    /// English.
    English,
}

impl Language {
    /// Whether Chinese is shown, given the environment's locale such as `zh_CN.UTF-8`.
    pub fn is_chinese(self, locale: &str) -> bool {
        match self {
            Self::System => locale.starts_with("zh"),
            Self::Chinese => true,
            Self::English => false,
        }
    }
}

/// Light, dark, or as the desktop says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    /// As the desktop says; light where it says nothing.
    #[default]
    System,
    /// Ink on paper.
    Light,
    /// Paper on ink.
    Dark,
}

/// Whom the last new game was against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LastOpponent {
    /// The device.
    #[default]
    Bot,
    /// A second person here.
    Here,
    /// Somebody nearby.
    Peer,
}

/// The colour chosen for the last new game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LastColour {
    /// Begins.
    #[default]
    #[serde(alias = "black")]
    First,
    /// Answers.
    #[serde(alias = "white")]
    Second,
    /// Drawn by lot.
    Random,
    /// Not as last time with this friend.
    Turns,
}

/// Whether a stone put by a finger waits until it is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// Where points are smaller than a finger (7 mm).
    #[default]
    Small,
    /// On every board.
    Always,
    /// On none.
    Never,
}

/// How one game was last begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastGame {
    /// Whom against.
    pub opponent: LastOpponent,
    /// The device's level, 1 to 10.
    pub level: u32,
    /// My colour.
    pub colour: LastColour,
    /// The clock by the host's word for it; empty: as [`Preferences::pace`] says.
    pub pace: String,
    /// The rules' preset by the host's word for it; empty: the game's default.
    pub preset: String,
    /// What was chosen beside the preset, by the host's words: option and value, in the order in which they are chosen.
    pub options: Vec<(String, String)>,
}

impl LastGame {
    /// How this game, by its word, is begun the first time: Go on its small board and with a level that a beginner can beat.
    pub fn first(game: &str) -> Self {
        match game {
            "go" => Self { level: 1, options: vec![("size".into(), "9".into())], ..Self::default() },
            _ => Self::default(),
        }
    }
}

impl Default for LastGame {
    fn default() -> Self {
        Self {
            opponent: LastOpponent::Bot,
            level: 3,
            colour: LastColour::First,
            pace: String::new(),
            preset: String::new(),
            options: Vec::new(),
        }
    }
}

/// A clock of the player's own; which parts count the kind says. The host says whether it makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnPace {
    /// 0 all in all, 1 more after each turn, 2 periods after the main time, 3 each turn by itself.
    pub kind: u8,
    /// Of the main time.
    pub minutes: u32,
    /// After each turn, of a period, or of each turn.
    pub seconds: u32,
    /// Periods after the main time.
    pub periods: u32,
}

impl Default for OwnPace {
    fn default() -> Self {
        Self { kind: 1, minutes: 20, seconds: 10, periods: 3 }
    }
}

/// Everything that the app itself remembers. Matches, name and friends are the host's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Shown language.
    pub language: Language,
    /// Shown theme.
    pub paper: Paper,
    /// No animations.
    pub reduced_motion: bool,
    /// The device answers so that the own move is seen to arrive first.
    pub unhurried: bool,
    /// Index into [`Preferences::TEXT_SCALES`].
    pub text_size: usize,
    /// Letters and numbers round the board.
    pub coordinates: bool,
    /// Stones wait to be confirmed.
    pub confirm_moves: Confirm,
    /// Two people here: pieces of the far side are drawn facing them.
    pub face_to_face: bool,
    /// 0 paper, 1 wood, 2 slate.
    pub board_style: u8,
    /// Lying screens have the actions at the left.
    pub left_handed: bool,
    /// How loud sounds are: 0, mute, to 10.
    pub sound_level: u8,
    /// The level to which a switched off sound comes back.
    pub last_sound_level: u8,
    /// How loud the music is: 0, none, to 10.
    pub music_level: u8,
    /// The device shakes where it has a motor.
    pub vibration: bool,
    /// The last new game of each game, by the game's word such as `lights-out`.
    pub games: BTreeMap<String, LastGame>,
    /// What people nearby are invited to: a game's word.
    pub nearby_game: String,
    /// The clock of games for which none was chosen yet, by the host's word for it; empty: none.
    pub pace: String,
    /// The clock that the host's word `own` means.
    pub own_pace: OwnPace,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            language: Language::System,
            paper: Paper::System,
            reduced_motion: false,
            unhurried: true,
            text_size: 0,
            coordinates: true,
            confirm_moves: Confirm::Small,
            face_to_face: false,
            board_style: 0,
            left_handed: false,
            sound_level: 6,
            last_sound_level: 6,
            music_level: 0,
            vibration: true,
            games: BTreeMap::new(),
            nearby_game: GOMOKU.into(),
            pace: String::new(),
            own_pace: OwnPace::default(),
        }
    }
}

/// The word of the game that the first files were about.
const GOMOKU: &str = "gomoku";

/// What files of versions that had gomoku alone said of its last new game.
#[derive(Deserialize)]
#[serde(default)]
struct GomokuAlone {
    opponent: LastOpponent,
    level: u32,
    colour: LastColour,
    standard: bool,
    edge_five_wins: bool,
}

impl Default for GomokuAlone {
    fn default() -> Self {
        let LastGame { opponent, level, colour, .. } = LastGame::default();
        Self { opponent, level, colour, standard: false, edge_five_wins: true }
    }
}

impl From<GomokuAlone> for LastGame {
    fn from(old: GomokuAlone) -> Self {
        let edge = (!old.edge_five_wins).then(|| ("edge-five".to_owned(), "no".to_owned()));
        Self {
            opponent: old.opponent,
            level: old.level,
            colour: old.colour,
            preset: if old.standard { "standard".into() } else { String::new() },
            options: edge.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl Preferences {
    /// What the text size multiplies every font by.
    pub const TEXT_SCALES: [f32; 4] = [1.0, 1.25, 1.5, 2.0];

    /// As [`Self::TEXT_SCALES`] at the chosen index; a file from elsewhere may hold any number.
    pub fn text_scale(&self) -> f32 {
        Self::TEXT_SCALES.get(self.text_size).copied().unwrap_or(1.0)
    }
}

/// Where preferences live; `None` keeps them in memory only, as in tests.
#[derive(Clone, Debug, Default)]
pub struct Store(Option<PathBuf>);

impl Store {
    /// The user's configuration folder, as the desktop names it.
    pub fn of_the_user() -> Self {
        Self(
            directories::ProjectDirs::from("", "", "qiyou")
                .map(|folders| folders.config_dir().join("app.json")),
        )
    }

    /// Keeps nothing.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// What was saved; the defaults where nothing was, or where it cannot be read.
    pub fn load(&self) -> Preferences {
        let Some(path) = &self.0 else { return Preferences::default() };
        let Ok(text) = fs::read_to_string(path) else { return Preferences::default() };
        let mut preferences: Preferences = serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "preferences cannot be read; the defaults are used");
            Preferences::default()
        });
        if preferences.games.is_empty()
            && let Ok(old) = serde_json::from_str::<GomokuAlone>(&text)
        {
            preferences.games.insert(GOMOKU.into(), old.into());
        }
        for game in preferences.games.values_mut() {
            game.level = game.level.clamp(1, 10);
        }
        preferences
    }

    /// Saves for the next start; a crash leaves the old ones or these.
    pub fn save(&self, preferences: &Preferences) {
        let Some(path) = &self.0 else { return };
        let written = serde_json::to_vec_pretty(preferences)
            .map_err(std::io::Error::from)
            .and_then(|text| files::replace(path, &text));
        if let Err(error) = written {
            tracing::warn!(%error, path = %path.display(), "preferences cannot be saved");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_is_there_again_and_a_broken_file_gives_the_defaults() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let store = Store(Some(folder.path().join("deep").join("app.json")));
        let go = LastGame {
            level: 9,
            preset: "japanese".into(),
            options: vec![("size".into(), "9".into())],
            ..LastGame::default()
        };
        let chosen = Preferences {
            language: Language::Chinese,
            text_size: 3,
            games: BTreeMap::from([("go".into(), go)]),
            ..Preferences::default()
        };
        store.save(&chosen);
        assert_eq!(store.load(), chosen);
        let path = folder.path().join("deep").join("app.json");
        fs::write(&path, "{ not json").expect("written");
        assert_eq!(store.load(), Preferences::default());
        fs::write(&path, r#"{"games": {"go": {"level": 77}}, "text_size": 50}"#).expect("written");
        assert_eq!((store.load().games["go"].level, store.load().text_scale()), (10, 1.0));
    }

    #[test]
    fn a_file_of_the_time_when_there_was_only_gomoku_is_still_understood() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let store = Store(Some(folder.path().join("app.json")));
        let old = r#"{"paper": "dark", "opponent": "peer", "level": 12, "colour": "white", "standard": true, "edge_five_wins": false}"#;
        fs::write(folder.path().join("app.json"), old).expect("written");
        let read = store.load();
        assert_eq!(read.paper, Paper::Dark);
        let gomoku = LastGame {
            opponent: LastOpponent::Peer,
            level: 10,
            colour: LastColour::Second,
            pace: String::new(),
            preset: "standard".into(),
            options: vec![("edge-five".into(), "no".into())],
        };
        assert_eq!(read.games, BTreeMap::from([("gomoku".into(), gomoku)]));
    }

    #[test]
    fn the_language_follows_the_environment_unless_it_is_chosen() {
        assert!(Language::System.is_chinese("zh_CN.UTF-8"));
        assert!(!Language::System.is_chinese("en_GB.UTF-8"));
        assert!(!Language::System.is_chinese(""));
        assert!(Language::Chinese.is_chinese("en_GB.UTF-8"));
        assert!(!Language::English.is_chinese("zh_TW"));
    }
}
