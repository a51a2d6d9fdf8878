//! Options of a game's setup as generic lists, which menus and command lines show without knowledge of the game.
//!
//! Every field of a setup is one option (or two). A new field needs an option, which every client then shows.

use std::ops::RangeInclusive;

use crate::Language;

/// An option with its chosen value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameOption {
    /// Name on command lines and between programs: `edge-six`.
    pub word: &'static str,
    /// Name in menus.
    pub name: Both,
    /// Values to offer, in order, including the chosen one.
    pub values: Vec<OptionValue>,
    /// [`OptionValue::word`] of the chosen value.
    pub chosen: String,
    /// Range of numbers that are valid besides `values`, written as decimal digits.
    pub numbers: Option<RangeInclusive<u32>>,
    /// An advanced option: menus show it on request. Advanced options come last.
    pub seldom: bool,
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// Name on command lines and between programs.
    pub word: String,
    /// Name in menus.
    pub name: Both,
}

/// A text in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Both {
    /// 中文.
    pub chinese: String,
    /// English.
    pub english: String,
}

impl Both {
    /// Both texts.
    pub fn new(chinese: impl Into<String>, english: impl Into<String>) -> Self {
        Self { chinese: chinese.into(), english: english.into() }
    }

    /// A text that is the same in both languages, such as a number.
    pub fn same(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { chinese: text.clone(), english: text }
    }

    /// The text in this language.
    pub fn get(&self, language: Language) -> &str {
        match language {
            Language::Chinese => &self.chinese,
            Language::English => &self.english,
        }
    }
}

/// A preset: a setup with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSetup<S> {
    /// Name on command lines and between programs: `fengyang`.
    pub word: &'static str,
    /// What players call it.
    pub name: Both,
    /// The setup to which further options are applied.
    pub setup: S,
    /// Words of the options that determine the preset: a setup with the same values of these options matches it, whatever
    /// its other options. Empty: all options.
    pub decides: &'static [&'static str],
}

/// An invalid choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The game has no such option.
    #[error("there is no option `{0}`; there are: {1}")]
    Option(String, String),
    /// The option has no such value.
    #[error("`{option}` cannot be `{value}`; it can be: {known}")]
    Value {
        /// The option's word.
        option: &'static str,
        /// The rejected value.
        value: String,
        /// The valid values.
        known: String,
    },
    /// The game has no such preset.
    #[error("there is no preset `{0}`; there are: {1}")]
    Preset(String, String),
}

/// A setup whose fields can be set by words.
pub trait Options: Sized + Clone + PartialEq {
    /// The options that have an effect with the present values.
    fn rows(&self) -> Vec<Row<Self>>;

    /// The presets, the default first.
    fn presets() -> Vec<NamedSetup<Self>> {
        Vec::new()
    }

    /// The options for a menu.
    fn options(&self) -> Vec<GameOption> {
        self.rows().into_iter().map(|row| row.shown(self)).collect()
    }

    /// Sets an option. [`crate::Game::new`] checks whether the values are valid together.
    fn choose(&mut self, option: &str, value: &str) -> Result<(), ChoiceError> {
        let rows = self.rows();
        let Some(row) = rows.iter().find(|row| row.word == option) else {
            let known: Vec<&str> = rows.iter().map(|row| row.word).collect();
            return Err(ChoiceError::Option(option.into(), known.join(", ")));
        };
        row.choose(self, value)
    }
}

/// How an option is read from a setup and written to it.
pub struct Row<S> {
    word: &'static str,
    name: Both,
    values: Values<S>,
    seldom: bool,
}

enum Values<S> {
    Listed(Vec<Listed<S>>),
    Parameter {
        get: fn(&S) -> u32,
        set: fn(&mut S, u32),
        offered: Vec<u32>,
        range: RangeInclusive<u32>,
        name: fn(u32) -> Both,
    },
}

/// A listed value: word, name, whether it is chosen, how to choose it.
pub(crate) struct Listed<S> {
    pub(crate) word: &'static str,
    pub(crate) name: Both,
    pub(crate) is: fn(&S) -> bool,
    pub(crate) set: fn(&mut S),
}

/// A value of a field: `listed!("sum", "相加", "Sum", several = SeveralFormations::Sum)`.
macro_rules! listed {
    ($word:literal, $chinese:expr, $english:expr, $field:ident = $value:expr) => {
        $crate::options::Listed {
            word: $word,
            name: $crate::options::Both::new($chinese, $english),
            is: |setup| setup.$field == $value,
            set: |setup| setup.$field = $value,
        }
    };
}
pub(crate) use listed;

/// The values yes and no of a `bool` field.
macro_rules! switch {
    ($word:literal, $chinese:expr, $english:expr, $field:ident) => {
        $crate::options::Row::listed(
            $word,
            $crate::options::Both::new($chinese, $english),
            vec![
                $crate::options::listed!("yes", "是", "Yes", $field = true),
                $crate::options::listed!("no", "否", "No", $field = false),
            ],
        )
    };
}
pub(crate) use switch;

impl<S> Row<S> {
    pub(crate) fn listed(word: &'static str, name: Both, values: Vec<Listed<S>>) -> Self {
        Self { word, name, values: Values::Listed(values), seldom: false }
    }

    /// An option for a number: `offered` is the part of `range` shown in menus; `called` is the name of a number in menus.
    pub(crate) fn number(
        word: &'static str,
        name: Both,
        offered: &[u32],
        range: RangeInclusive<u32>,
        called: fn(u32) -> Both,
        get: fn(&S) -> u32,
        set: fn(&mut S, u32),
    ) -> Self {
        Self {
            word,
            name,
            values: Values::Parameter { get, set, offered: offered.to_vec(), range, name: called },
            seldom: false,
        }
    }

    /// See [`GameOption::seldom`].
    pub(crate) fn seldom(self) -> Self {
        Self { seldom: true, ..self }
    }

    fn shown(self, setup: &S) -> GameOption {
        let (values, chosen, numbers) = match self.values {
            Values::Listed(list) => {
                let chosen = list.iter().find(|one| (one.is)(setup)).map_or("", |one| one.word);
                let values =
                    list.into_iter().map(|one| OptionValue { word: one.word.into(), name: one.name });
                (values.collect(), chosen.to_owned(), None)
            }
            Values::Parameter { get, mut offered, range, name, .. } => {
                let chosen = get(setup);
                if let Err(place) = offered.binary_search(&chosen) {
                    offered.insert(place, chosen);
                }
                let values = offered
                    .iter()
                    .map(|&number| OptionValue { word: number.to_string(), name: name(number) });
                (values.collect(), chosen.to_string(), Some(range))
            }
        };
        GameOption { word: self.word, name: self.name, values, chosen, numbers, seldom: self.seldom }
    }

    fn choose(&self, setup: &mut S, value: &str) -> Result<(), ChoiceError> {
        let known = match &self.values {
            Values::Listed(list) => {
                if let Some(one) = list.iter().find(|one| one.word == value) {
                    (one.set)(setup);
                    return Ok(());
                }
                list.iter().map(|one| one.word).collect::<Vec<_>>().join(", ")
            }
            Values::Parameter { set, range, .. } => {
                // Digits only, so that a number has one word: `parse` would also accept a sign.
                let number =
                    value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok()).flatten();
                if let Some(number) = number.filter(|number| range.contains(number)) {
                    set(setup, number);
                    return Ok(());
                }
                format!("{} to {}", range.start(), range.end())
            }
        };
        Err(ChoiceError::Value { option: self.word, value: value.into(), known })
    }
}
