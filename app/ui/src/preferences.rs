//! The player's preferences on this device, in one small file that is read at start.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::files;

/// Language of the app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// By the environment (`LC_ALL`, `LC_MESSAGES`, `LANG`): Chinese if it begins with `zh`, otherwise English.
    #[default]
    System,
    /// Simplified Chinese.
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

/// Theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    /// As the desktop says; light if it says nothing.
    #[default]
    System,
    /// Light theme.
    Light,
    /// Dark theme.
    Dark,
    /// Black and white, for electronic paper.
    EInk,
}

/// The signs on xiangqi's pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceSet {
    /// Chinese characters, different for the two sides.
    #[default]
    Characters,
    /// Pictograms, for people who read no Chinese.
    Pictures,
}

/// Opponent of the last new match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LastOpponent {
    /// A bot.
    #[default]
    Bot,
    /// A second person at this device.
    Here,
    /// A person nearby.
    Peer,
}

/// Colour in the last new match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LastColour {
    /// Moves first.
    #[default]
    #[serde(alias = "black")]
    First,
    /// Moves second.
    #[serde(alias = "white")]
    Second,
    /// Random.
    Random,
    /// Opposite to the last match with this friend.
    Turns,
}

/// Whether placing a stone needs a second tap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// On boards whose points are smaller than a finger (7 mm).
    #[default]
    Small,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The last choices for one game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastGame {
    /// The opponent.
    pub opponent: LastOpponent,
    /// The bot's level, 1 to 10 in tenths.
    pub level: f32,
    /// The bot's level follows the player's strength instead.
    pub adaptive: bool,
    /// Name of the engine that plays instead of a bot; empty: none.
    pub engine: String,
    /// Seconds that an engine has for each move.
    pub engine_seconds: u32,
    /// Name of the engine that gives hints and evaluates matches; empty: this device's own bot.
    pub adviser: String,
    /// The player's colour.
    pub colour: LastColour,
    /// The host's word for the time control; empty: as [`Preferences::pace`].
    pub pace: String,
    /// Both players may take hints in a match on two devices.
    pub hints: bool,
    /// The host's word for the preset; empty: the game's default.
    pub preset: String,
    /// Options chosen beside the preset, in the host's words: option and value, in the order in which they were chosen.
    pub options: Vec<(String, String)>,
}

impl LastGame {
    /// Defaults for this game, given by its word: Go has a small board, and a level that a beginner can beat.
    pub fn first(game: &str) -> Self {
        match game {
            "go" => Self { level: 1.0, options: vec![("size".into(), "9".into())], ..Self::default() },
            _ => Self::default(),
        }
    }
}

impl Default for LastGame {
    fn default() -> Self {
        Self {
            opponent: LastOpponent::Bot,
            level: 3.0,
            adaptive: false,
            engine: String::new(),
            engine_seconds: 3,
            adviser: String::new(),
            colour: LastColour::First,
            pace: String::new(),
            hints: false,
            preset: String::new(),
            options: Vec::new(),
        }
    }
}

/// The custom clock; `kind` determines which of the other fields are used. The host validates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnPace {
    /// 0 sudden death, 1 increment per turn, 2 byo-yomi, 3 time per turn.
    pub kind: u8,
    /// Main time in minutes.
    pub minutes: u32,
    /// Seconds of the increment, of a period, or of each turn.
    pub seconds: u32,
    /// Number of byo-yomi periods.
    pub periods: u32,
}

impl Default for OwnPace {
    fn default() -> Self {
        Self { kind: 1, minutes: 20, seconds: 10, periods: 3 }
    }
}

/// All preferences. Matches, name and friends are stored by the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Language.
    pub language: Language,
    /// Theme.
    pub paper: Paper,
    /// Disables animations.
    pub reduced_motion: bool,
    /// Bots answer with a delay, so that the player's own move is seen to arrive first.
    pub unhurried: bool,
    /// Index into [`Preferences::TEXT_SCALES`].
    pub text_size: usize,
    /// Shows coordinates at the edges of the board.
    pub coordinates: bool,
    /// When placing a stone needs a second tap.
    pub confirm_moves: Confirm,
    /// With two people at this device: seat and pieces of the far side are turned around.
    pub face_to_face: bool,
    /// With two people at this device: the board turns to whoever is to move.
    pub turn_to_mover: bool,
    /// 0 paper, 1 wood, 2 slate.
    pub board_style: u8,
    /// The signs on xiangqi's pieces.
    pub piece_set: PieceSet,
    /// Actions are to the left in landscape.
    pub left_handed: bool,
    /// Volume of sounds: 0 (off) to 10.
    pub sound_level: u8,
    /// Volume that sounds get when they are turned on again.
    pub last_sound_level: u8,
    /// Volume of music: 0 (off) to 10.
    pub music_level: u8,
    /// Vibration, if there is a motor.
    pub vibration: bool,
    /// The screen stays on while the player is to move, a clock runs or a match is looked through.
    pub keep_screen_on: bool,
    /// Last choices, by the game's word such as `lights-out`.
    pub games: BTreeMap<String, LastGame>,
    /// The word of the game for invitations of people nearby.
    pub nearby_game: String,
    /// The host's word for the time control of games without a choice of their own; empty: no clock.
    pub pace: String,
    /// The custom clock, for which the host's word is `own`.
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
            turn_to_mover: false,
            board_style: 0,
            piece_set: PieceSet::Characters,
            left_handed: false,
            sound_level: 6,
            last_sound_level: 6,
            music_level: 0,
            vibration: true,
            keep_screen_on: true,
            games: BTreeMap::new(),
            nearby_game: GOMOKU.into(),
            pace: String::new(),
            own_pace: OwnPace::default(),
        }
    }
}

/// The word of the only game in the first versions' files.
const GOMOKU: &str = "gomoku";

/// Last choices in files of versions that had only gomoku.
#[derive(Deserialize)]
#[serde(default)]
struct GomokuAlone {
    opponent: LastOpponent,
    level: f32,
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
    /// Factors of the font sizes.
    pub const TEXT_SCALES: [f32; 4] = [1.0, 1.25, 1.5, 2.0];

    /// Whether nothing moves on the screen.
    pub fn is_still(&self) -> bool {
        self.reduced_motion || self.paper == Paper::EInk
    }

    /// The chosen one of [`Self::TEXT_SCALES`]; a hand-edited file may contain any index.
    pub fn text_scale(&self) -> f32 {
        Self::TEXT_SCALES.get(self.text_size).copied().unwrap_or(1.0)
    }
}

/// Storage of the preferences; `None` keeps them in memory only, as in tests.
#[derive(Clone, Debug, Default)]
pub struct Store(Option<PathBuf>);

impl Store {
    /// In the user's configuration folder (XDG).
    pub fn of_the_user() -> Self {
        Self(
            directories::ProjectDirs::from("", "", "qiyou")
                .map(|folders| folders.config_dir().join("app.json")),
        )
    }

    /// In memory only.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// The stored preferences; defaults if there are none, or if they cannot be read.
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
            game.level = ((game.level * 10.0).round() / 10.0).clamp(1.0, 10.0);
        }
        preferences
    }

    /// Stores the preferences atomically.
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
            level: 9.5,
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
        fs::write(&path, r#"{"games": {"go": {"level": 77.3}}, "text_size": 50}"#).expect("written");
        assert_eq!((store.load().games["go"].level, store.load().text_scale()), (10.0, 1.0));
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
            level: 10.0,
            engine: String::new(),
            engine_seconds: 3,
            adviser: String::new(),
            adaptive: false,
            colour: LastColour::Second,
            pace: String::new(),
            hints: false,
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
