//! The options of Liuzhou chess.

use super::{Blocked, ForcedRemoval, LiuzhouSetup, Preset, Safety, SeveralFormations, StepBack};
use crate::Language;
use crate::options::{Both, NamedSetup, Options, Row, listed, switch};

fn plies(limit: u32) -> Both {
    match limit {
        0 => Both::new("不限", "Never"),
        _ => Both::new(format!("{limit} 步"), format!("{limit} half-moves")),
    }
}

fn stones(count: u32) -> Both {
    Both::same(count.to_string())
}

impl Options for LiuzhouSetup {
    fn rows(&self) -> Vec<Row<Self>> {
        let usual: Vec<Row<Self>> = vec![
            Row::listed(
                "several",
                Both::new("一步成几城", "Several formations at once"),
                vec![
                    listed!("sum", "吃子数相加", "Add up", several = SeveralFormations::Sum),
                    listed!("highest", "只按最大的", "Highest only", several = SeveralFormations::Highest),
                ],
            ),
            Row::number(
                "edge-six",
                Both::new("边线成六吃", "An edge line captures"),
                &[0, 1, 2, 3],
                0..=3,
                stones,
                |setup: &Self| setup.edge_six.into(),
                |setup, count| setup.edge_six = count as u8,
            ),
            Row::number(
                "inner-six",
                Both::new("成六吃", "Any other six captures"),
                &[2, 3],
                2..=3,
                stones,
                |setup: &Self| setup.inner_six.into(),
                |setup, count| setup.inner_six = count as u8,
            ),
            switch!("diagonals", "斜线算", "Diagonals count", diagonals),
        ];
        let seldom: Vec<Row<Self>> = vec![
            Row::listed(
                "safety",
                Both::new("城中子", "Stones in a formation"),
                vec![
                    listed!(
                        "unless-no-other",
                        "无别子时才可吃",
                        "Safe unless there is no other",
                        safety = Safety::UnlessNoOther
                    ),
                    listed!("always", "不可吃", "Always safe", safety = Safety::Always),
                    listed!("never", "可吃", "Never safe", safety = Safety::Never),
                ],
            ),
            Row::listed(
                "blocked",
                Both::new("无处可走", "No move possible"),
                vec![
                    listed!("removal", "互相去子", "Stones are removed", blocked = Blocked::Removal),
                    listed!("loses", "判负", "Loses", blocked = Blocked::Loses),
                    listed!("passes", "停一手", "Passes", blocked = Blocked::Passes),
                ],
            ),
            Row::listed(
                "loses-at",
                Both::new("剩几子判负", "Loses with stones left"),
                vec![
                    listed!("3", "3", "3", loses_at = 3),
                    listed!("2", "2", "2", loses_at = 2),
                    listed!("0", "0", "0", loses_at = 0),
                ],
            ),
            Row::number(
                "quiet-limit",
                Both::new("无吃子和棋", "Draw without a capture"),
                &[0, 36, 60, 100],
                0..=1000,
                plies,
                |setup: &Self| setup.quiet_limit.unwrap_or(0).into(),
                |setup, limit| setup.quiet_limit = Some(limit as u16).filter(|&limit| limit > 0),
            ),
            Row::number(
                "total-limit",
                Both::new("总步数和棋", "Draw after"),
                &[0, 144, 300],
                0..=1000,
                plies,
                |setup: &Self| setup.total_limit.unwrap_or(0).into(),
                |setup, limit| setup.total_limit = Some(limit as u16).filter(|&limit| limit > 0),
            ),
            Row::listed(
                "step-back",
                Both::new("立即走回原城", "Straight back into a formation"),
                vec![
                    listed!("allowed", "可以", "Allowed", step_back = StepBack::Allowed),
                    listed!("not-at-once", "不可立即", "Not at once", step_back = StepBack::NotAtOnce),
                ],
            ),
            Row::listed(
                "forced-removal",
                Both::new("满盘未吃子", "A full board without a capture"),
                vec![
                    listed!(
                        "first-then-second",
                        "黑先去，白后去",
                        "Black removes, then White",
                        forced_removal = ForcedRemoval::FirstThenSecond
                    ),
                    listed!(
                        "second-then-first",
                        "白先去，黑后去",
                        "White removes, then Black",
                        forced_removal = ForcedRemoval::SecondThenFirst
                    ),
                    listed!(
                        "only-second",
                        "只有白去",
                        "White alone removes",
                        forced_removal = ForcedRemoval::OnlySecond
                    ),
                ],
            ),
        ];
        usual.into_iter().chain(seldom.into_iter().map(Row::seldom)).collect()
    }

    fn presets() -> Vec<NamedSetup<Self>> {
        Preset::ALL
            .map(|preset| NamedSetup {
                word: preset.word(),
                name: Both::new(preset.name(Language::Chinese), preset.name(Language::English)),
                setup: preset.setup(),
                decides: &[],
            })
            .into()
    }
}
