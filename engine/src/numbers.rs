//! Search parameters by name, which `qiyou-engine tune` sets.

/// A search parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its name, as in `EXPERIMENTS.md`.
    pub name: &'static str,
    /// Its present value.
    pub value: f64,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
    /// Whether it is an integer.
    pub whole: bool,
}

/// Why a parameter was not set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NumberError {
    /// There is no parameter with this name.
    #[error("there is no number {0}")]
    Unknown(String),
    /// The value is out of range.
    #[error("{name} is from {low} to {high}, not {value}")]
    OutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// Minimum.
        low: f64,
        /// Maximum.
        high: f64,
        /// The rejected value.
        value: f64,
    },
}

/// A reference to a parameter's storage.
pub(crate) enum Place<'a> {
    Whole(&'a mut i32),
    Part(&'a mut u32),
    Float(&'a mut f64),
    Single(&'a mut f32),
}

impl Place<'_> {
    fn get(&self) -> f64 {
        match self {
            Self::Whole(n) => f64::from(**n),
            Self::Part(n) => f64::from(**n),
            Self::Float(n) => **n,
            Self::Single(n) => f64::from(**n),
        }
    }

    fn set(&mut self, value: f64) {
        match self {
            Self::Whole(n) => **n = value.round() as i32,
            Self::Part(n) => **n = value.round() as u32,
            Self::Float(n) => **n = value,
            Self::Single(n) => **n = value as f32,
        }
    }
}

/// A visitor that is called with name, range and storage of each parameter.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&'static str, (f64, f64), Place<'_>);

/// All parameters that `each` visits.
pub(crate) fn list(each: impl FnOnce(Visit<'_>)) -> Vec<Number> {
    let mut numbers = Vec::new();
    each(&mut |name, (low, high), place| {
        let whole = matches!(place, Place::Whole(_) | Place::Part(_));
        numbers.push(Number { name, value: place.get(), low, high, whole });
    });
    numbers
}

/// Sets the parameter with this name among those that `each` visits.
pub(crate) fn set(wanted: &str, value: f64, each: impl FnOnce(Visit<'_>)) -> Result<(), NumberError> {
    let mut result = Err(NumberError::Unknown(wanted.to_owned()));
    each(&mut |name, (low, high), mut place| {
        if name == wanted {
            result = if (low..=high).contains(&value) {
                place.set(value);
                Ok(())
            } else {
                Err(NumberError::OutOfRange { name, low, high, value })
            };
        }
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GameKind, Tier, bot};

    #[test]
    fn every_number_of_every_player_can_be_read_and_set_within_its_range_only() {
        for kind in [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou, GameKind::Go] {
            let mut bot = bot(kind, Tier::MAX, 1);
            let numbers = bot.numbers();
            assert!(numbers.len() > 10, "{kind:?}: {}", numbers.len());
            for number in numbers {
                assert!((number.low..=number.high).contains(&number.value), "{kind:?}: {number:?}");
                bot.set_number(number.name, number.high).expect("the most is allowed");
                assert!(bot.set_number(number.name, number.high + 1.0).is_err(), "{number:?}");
                let now = bot.numbers().into_iter().find(|n| n.name == number.name).expect("it is there");
                assert!((now.value - number.high).abs() < 1e-6, "{kind:?}: {now:?}");
            }
            assert!(matches!(bot.set_number("nonsense", 1.0), Err(NumberError::Unknown(_))));
        }
    }
}
