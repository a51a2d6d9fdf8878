//! The setup of a match of xiangqi, and its text form.

use std::fmt;
use std::str::FromStr;

use super::repetition::RepetitionRule;
use crate::start::Start;
use crate::text::{TextError, words};
use crate::{Rng, SetupError};

/// The setup of a match of xiangqi.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct XiangqiSetup {
    /// Plies without a capture or a soldier's move that make a draw. 120 by the World Xiangqi rules: sixty moves of each
    /// side.
    pub quiet_limit: Option<u16>,
    /// Black ([`Side::Second`](crate::Side::Second)) moves first, as in some regions and old books.
    pub black_first: bool,
    /// Who loses when a position repeats.
    pub repetition: RepetitionRule,
    /// The position from which the game begins, if it is not the usual one. Not part of the text form.
    pub start: Option<Start>,
}

impl Default for XiangqiSetup {
    fn default() -> Self {
        Self {
            quiet_limit: Some(120),
            black_first: false,
            repetition: RepetitionRule::default(),
            start: None,
        }
    }
}

/// The halfmove limit, followed by options with other than default values: `quiet=120`, `quiet=off black-first
/// repetition=chinese`.
impl fmt::Display for XiangqiSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quiet_limit {
            Some(limit) => write!(f, "quiet={limit}")?,
            None => write!(f, "quiet=off")?,
        }
        if self.black_first {
            write!(f, " black-first")?;
        }
        match self.repetition {
            RepetitionRule::Asian => Ok(()),
            RepetitionRule::Chinese => write!(f, " repetition=chinese"),
        }
    }
}

/// Parses the format of `Display`, in any order; missing options have defaults.
impl FromStr for XiangqiSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut setup = Self::default();
        for (at, word) in words(text) {
            match word.strip_prefix("quiet=") {
                Some("off") => setup.quiet_limit = None,
                Some(limit) => {
                    let limit = limit.parse().ok();
                    let expected = "off, or plies from 1 to 1,000";
                    setup.quiet_limit = Some(limit.ok_or(TextError::at(text, at + 6, expected))?);
                }
                None => match word {
                    "black-first" => setup.black_first = true,
                    "repetition=asian" => setup.repetition = RepetitionRule::Asian,
                    "repetition=chinese" => setup.repetition = RepetitionRule::Chinese,
                    _ => {
                        let expected = "quiet=, black-first, repetition=asian or repetition=chinese";
                        return Err(TextError::at(text, at, expected));
                    }
                },
            }
        }
        setup.check().map_err(|error| TextError::at(text, 0, error.0))?;
        Ok(setup)
    }
}

impl XiangqiSetup {
    pub(super) fn check(&self) -> Result<(), SetupError> {
        match self.quiet_limit {
            Some(0 | 1001..) => Err(SetupError("a limit of plies is 1 to 1,000")),
            _ => Ok(()),
        }
    }

    pub(super) fn key(&self) -> u64 {
        // The usual rule leaves the key as it was before there were two.
        let chinese = u64::from(self.repetition == RepetitionRule::Chinese);
        let quiet_limit = u64::from(self.quiet_limit.unwrap_or(0));
        let number = chinese << 17 | u64::from(self.black_first) << 16 | quiet_limit;
        Rng::new(0x7869_616e_6771_0000 ^ number).next_u64()
    }
}
