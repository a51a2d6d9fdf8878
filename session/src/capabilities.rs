//! What a version of this program knows that the first one did not.

use engine::Setup;
use proto::peer;

use crate::{Refused, Terms, wire};

/// What a device's version knows beyond the first version, as its hello says. Each is a word of the hello that is absent from
/// earlier versions, because those would find no game in such a match, or take it for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Hints in a match.
    pub hints: bool,
    /// Matches that begin from a position.
    pub starts: bool,
    /// All opening rules of gomoku.
    pub openings: bool,
    /// Xiangqi with repetition by the Chinese rules.
    pub chinese_repetition: bool,
}

impl Capabilities {
    /// Those of this version.
    pub const ALL: Self = Self { hints: true, starts: true, openings: true, chinese_repetition: true };

    pub(crate) fn of(hello: &peer::Hello) -> Self {
        Self {
            hints: hello.knows_hints,
            starts: hello.knows_starts,
            openings: hello.knows_openings,
            chinese_repetition: hello.knows_chinese_repetition,
        }
    }

    /// Whether such a version can read a match with this setup.
    ///
    /// # Errors
    ///
    /// What it does not know.
    pub fn check_setup(self, setup: &Setup) -> Result<(), Refused> {
        if setup.start().is_some() && !self.starts {
            return Err(Refused::StartsUnknown);
        }
        if wire::is_of_later_opening(setup) && !self.openings {
            return Err(Refused::OpeningUnknown);
        }
        if wire::is_of_chinese_repetition(setup) && !self.chinese_repetition {
            return Err(Refused::RepetitionUnknown);
        }
        Ok(())
    }

    /// Whether such a version can read an invitation to these terms.
    ///
    /// # Errors
    ///
    /// What it does not know.
    pub fn check(self, terms: &Terms) -> Result<(), Refused> {
        if terms.hints && !self.hints {
            return Err(Refused::HintsUnknown);
        }
        self.check_setup(&terms.setup)
    }
}
