//! The options of xiangqi.

use super::{Odds, RepetitionRule, XiangqiSetup, odds};
use crate::options::{Both, Options, Row, listed, switch};

/// A limit in full moves.
pub(super) fn rounds(plies: u32) -> Both {
    if plies.is_multiple_of(2) {
        Both::new(format!("{} 回合", plies / 2), format!("{} moves each", plies / 2))
    } else {
        Both::new(format!("{plies} 步"), format!("{plies} half-moves"))
    }
}

impl Options for XiangqiSetup {
    fn rows(&self) -> Vec<Row<Self>> {
        let mut rows = vec![Row::number(
            "quiet-limit",
            Both::new("自然限着", "Draw without progress"),
            &[0, 80, 100, 120],
            0..=1000,
            |plies| match plies {
                0 => Both::new("不限", "Never"),
                _ => rounds(plies),
            },
            |setup: &Self| setup.quiet_limit.unwrap_or(0).into(),
            |setup, plies| setup.quiet_limit = Some(plies as u16).filter(|&plies| plies > 0),
        )];
        let is_usual = self.start.is_none();
        // A position that somebody has set up has no odds, and says itself who moves first.
        if is_usual || Odds::of(self).is_some() {
            rows.push(odds::row());
        }
        if is_usual {
            rows.push(switch!("black-first", "黑先", "Black moves first", black_first));
        }
        rows.push(Row::listed(
            "repetition",
            Both::new("循环棋例", "Repetition"),
            vec![
                listed!("asian", "亚洲棋规", "Asian rules", repetition = RepetitionRule::Asian),
                listed!("chinese", "中国棋规", "Chinese rules", repetition = RepetitionRule::Chinese),
            ],
        ));
        rows
    }
}
