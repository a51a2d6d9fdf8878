//! What may be chosen about xiangqi.

use super::XiangqiSetup;
use crate::options::{Both, Options, Row, switch};

impl Options for XiangqiSetup {
    fn rows(&self) -> Vec<Row<Self>> {
        vec![
            Row::number(
                "quiet-limit",
                Both::new("无吃子和棋", "Draw without progress"),
                &[0, 80, 100, 120],
                0..=1000,
                |plies| match plies {
                    0 => Both::new("不限", "Never"),
                    _ => Both::new(format!("{plies} 着"), format!("{plies} plies")),
                },
                |setup: &Self| setup.quiet_limit.unwrap_or(0).into(),
                |setup, plies| setup.quiet_limit = Some(plies as u16).filter(|&plies| plies > 0),
            ),
            switch!("black-first", "黑先", "Black moves first", black_first),
        ]
    }
}
