//! Search parameters by name, which `qiyou-engine tune` sets.

/// A search parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
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
pub enum ParameterError {
    /// There is no parameter with this name.
    #[error("there is no parameter {0}")]
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
pub(crate) enum ParameterRef<'a> {
    Whole(&'a mut i32),
    Part(&'a mut u32),
    Float(&'a mut f64),
    Single(&'a mut f32),
}

impl ParameterRef<'_> {
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
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&'static str, (f64, f64), ParameterRef<'_>);

/// All parameters that `each` visits.
pub(crate) fn list(each: impl FnOnce(Visit<'_>)) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    each(&mut |name, (low, high), parameter| {
        let whole = matches!(parameter, ParameterRef::Whole(_) | ParameterRef::Part(_));
        parameters.push(Parameter { name, value: parameter.get(), low, high, whole });
    });
    parameters
}

/// Sets the parameter with this name among those that `each` visits.
pub(crate) fn set(wanted: &str, value: f64, each: impl FnOnce(Visit<'_>)) -> Result<(), ParameterError> {
    let mut result = Err(ParameterError::Unknown(wanted.to_owned()));
    each(&mut |name, (low, high), mut parameter| {
        if name == wanted {
            result = if (low..=high).contains(&value) {
                parameter.set(value);
                Ok(())
            } else {
                Err(ParameterError::OutOfRange { name, low, high, value })
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
    fn every_parameter_of_every_player_can_be_read_and_set_within_its_range_only() {
        for kind in [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou, GameKind::Go] {
            let mut bot = bot(kind, Tier::MAX, 1);
            let parameters = bot.parameters();
            assert!(parameters.len() > 10, "{kind:?}: {}", parameters.len());
            for parameter in parameters {
                assert!(
                    (parameter.low..=parameter.high).contains(&parameter.value),
                    "{kind:?}: {parameter:?}"
                );
                for (bound, beyond) in
                    [(parameter.low, parameter.low - 1.0), (parameter.high, parameter.high + 1.0)]
                {
                    bot.set_parameter(parameter.name, bound).expect("the bound is allowed");
                    assert!(bot.set_parameter(parameter.name, beyond).is_err(), "{parameter:?}: {beyond}");
                    let now =
                        bot.parameters().into_iter().find(|n| n.name == parameter.name).expect("it is there");
                    assert!((now.value - bound).abs() < 1e-6, "{kind:?}: {now:?}");
                }
            }
            assert!(matches!(bot.set_parameter("nonsense", 1.0), Err(ParameterError::Unknown(_))));
        }
    }
}
