//! The numbers that searches go by, by name: what `qiyou-engine tune` changes to see which value plays best.

/// One number of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its name in `EXPERIMENTS.md`.
    pub name: &'static str,
    /// What it is now.
    pub value: f64,
    /// The least that makes sense.
    pub low: f64,
    /// The most that makes sense.
    pub high: f64,
    /// Whether it has no fraction.
    pub whole: bool,
}

/// Why a number was not set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NumberError {
    /// The player has no number of this name.
    #[error("there is no number {0}")]
    Unknown(String),
    /// Outside of what makes sense.
    #[error("{name} is from {low} to {high}, not {value}")]
    OutOfRange {
        /// Its name.
        name: &'static str,
        /// The least.
        low: f64,
        /// The most.
        high: f64,
        /// What was asked for.
        value: f64,
    },
}

/// Where a number lies.
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

/// A list of numbers as a player has them: each is shown to the visitor with its name and its range.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&'static str, (f64, f64), Place<'_>);

/// All numbers of a list.
pub(crate) fn list(each: impl FnOnce(Visit<'_>)) -> Vec<Number> {
    let mut numbers = Vec::new();
    each(&mut |name, (low, high), place| {
        let whole = matches!(place, Place::Whole(_) | Place::Part(_));
        numbers.push(Number { name, value: place.get(), low, high, whole });
    });
    numbers
}

/// Sets one number of a list.
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
    use crate::{GameKind, Level, bot};

    #[test]
    fn every_number_of_every_player_can_be_read_and_set_within_its_range_only() {
        for kind in [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou, GameKind::Go] {
            let mut bot = bot(kind, Level::MAX, 1);
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
