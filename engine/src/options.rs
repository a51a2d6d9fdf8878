//! What may be chosen about a game, as lists that a menu or a command line shows without knowing the game.
//!
//! Every field of a setup is one option (or two); whoever adds a field adds its option, and every screen has it.

use std::ops::RangeInclusive;

use crate::Language;

/// One thing that may be chosen, and what is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameOption {
    /// On command lines and between programs: `edge-six`.
    pub word: &'static str,
    /// What a menu calls it: Chinese, English.
    pub name: Both,
    /// What a menu offers, in its order. What is chosen is always among them.
    pub values: Vec<OptionValue>,
    /// [`OptionValue::word`] of what is chosen.
    pub chosen: String,
    /// Numbers beside `values` that may be chosen too, as decimal digits.
    pub numbers: Option<RangeInclusive<u32>>,
    /// Few people choose it: a menu shows it on request. These come after all others.
    pub seldom: bool,
}

/// One value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// On command lines and between programs.
    pub word: String,
    /// What a menu calls it.
    pub name: Both,
}

/// The same in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Both {
    /// 中文.
    pub chinese: String,
    /// English.
    pub english: String,
}

impl Both {
    /// From both.
    pub fn new(chinese: impl Into<String>, english: impl Into<String>) -> Self {
        Self { chinese: chinese.into(), english: english.into() }
    }

    /// What is the same in every language, such as a number.
    pub fn same(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { chinese: text.clone(), english: text }
    }

    /// In this language.
    pub fn get(&self, language: Language) -> &str {
        match language {
            Language::Chinese => &self.chinese,
            Language::English => &self.english,
        }
    }
}

/// A way of playing that has a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSetup<S> {
    /// On command lines and between programs: `fengyang`.
    pub word: &'static str,
    /// What players call it.
    pub name: Both,
    /// What choosing it gives, before other options are chosen on top.
    pub setup: S,
    /// Words of the options that make it what it is: a setup in which these have the values of `setup` is played by these rules,
    /// whatever its other options. Empty: every option.
    pub decides: &'static [&'static str],
}

/// A choice that there is not.
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
        /// As it was given.
        value: String,
        /// What there is.
        known: String,
    },
    /// The game has no such preset.
    #[error("there is no preset `{0}`; there are: {1}")]
    Preset(String, String),
}

/// A setup whose fields can be chosen one by one.
pub trait Options: Sized + Clone + PartialEq {
    /// Every option that matters with what is chosen so far.
    fn rows(&self) -> Vec<Row<Self>>;

    /// The ways of playing that have a name, the default first.
    fn presets() -> Vec<NamedSetup<Self>> {
        Vec::new()
    }

    /// The options for a menu.
    fn options(&self) -> Vec<GameOption> {
        self.rows().into_iter().map(|row| row.shown(self)).collect()
    }

    /// Chooses. What the values make together is checked by [`crate::Game::new`].
    fn choose(&mut self, option: &str, value: &str) -> Result<(), ChoiceError> {
        let rows = self.rows();
        let Some(row) = rows.iter().find(|row| row.word == option) else {
            let known: Vec<&str> = rows.iter().map(|row| row.word).collect();
            return Err(ChoiceError::Option(option.into(), known.join(", ")));
        };
        row.choose(self, value)
    }
}

/// How an option is read from a setup and written into it.
pub struct Row<S> {
    word: &'static str,
    name: Both,
    values: Values<S>,
    seldom: bool,
}

enum Values<S> {
    Listed(Vec<Listed<S>>),
    Number {
        get: fn(&S) -> u32,
        set: fn(&mut S, u32),
        offered: Vec<u32>,
        range: RangeInclusive<u32>,
        name: fn(u32) -> Both,
    },
}

/// A listed value: its word, its name, whether it is chosen, how to choose it.
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

/// Yes and no for a field that is a `bool`.
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

    /// `offered` is what a menu shows of `range`; `called` is what a menu calls a number.
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
            values: Values::Number { get, set, offered: offered.to_vec(), range, name: called },
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
            Values::Number { get, mut offered, range, name, .. } => {
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
            Values::Number { set, range, .. } => {
                // Digits only: what parses beside them, such as a sign, would be a second word for the same.
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
