//! The options of Go.

use super::{GoSetup, Handicap, Scoring, Superko};
use crate::options::{Both, Listed, NamedSetup, Options, Row, listed};

/// 6.5 points, komi of the Japanese rules.
const JAPANESE_KOMI: u8 = 13;
/// 7.5 points, komi of the Chinese rules.
const CHINESE_KOMI: u8 = 15;
/// Half a point, which only prevents a draw: full komi would cancel the handicap.
const HANDICAP_KOMI: u8 = 1;

impl GoSetup {
    /// The default komi for these rules and this handicap, in half points.
    const fn usual_komi(&self) -> u8 {
        match (self.handicap, self.scoring) {
            (Handicap::Stars(1..) | Handicap::Free(1..), _) => HANDICAP_KOMI,
            (_, Scoring::Area) => CHINESE_KOMI,
            (_, Scoring::Territory) => JAPANESE_KOMI,
        }
    }
}

fn points(half_points: u32) -> Both {
    let half = if half_points.is_multiple_of(2) { "" } else { ".5" };
    Both::same(format!("{}{half}", half_points / 2))
}

impl Options for GoSetup {
    fn rows(&self) -> Vec<Row<Self>> {
        let mut rows = vec![
            Row::number(
                "size",
                Both::new("棋盘", "Board"),
                &[9, 13, 19],
                u32::from(*Self::SIZES.start())..=u32::from(*Self::SIZES.end()),
                |size| Both::new(format!("{size} 路"), format!("{size} × {size}")),
                |setup: &Self| setup.size.into(),
                |setup, size| setup.size = size as u8,
            ),
            Row::listed(
                "scoring",
                Both::new("计分", "Scoring"),
                vec![
                    listed!("area", "数子（中国）", "Area (Chinese)", scoring = Scoring::Area),
                    listed!(
                        "territory",
                        "数目（日本）",
                        "Territory (Japanese)",
                        scoring = Scoring::Territory
                    ),
                ],
            ),
            Row::number(
                "handicap",
                Both::new("让子", "Handicap"),
                &[0, 2, 3, 4, 5, 6, 7, 8, 9],
                0..=9,
                |stones| match stones {
                    0 => Both::new("不让", "None"),
                    _ => Both::same(stones.to_string()),
                },
                |setup: &Self| setup.handicap.stones().into(),
                |setup, stones| {
                    let usual = setup.usual_komi();
                    setup.handicap = match (stones as u8, setup.handicap) {
                        (0, _) => Handicap::None,
                        (stones, Handicap::Free(_)) => Handicap::Free(stones),
                        (stones, _) => Handicap::Stars(stones),
                    };
                    // A komi that was set by hand is kept.
                    if setup.komi_half_points == usual {
                        setup.komi_half_points = setup.usual_komi();
                    }
                },
            ),
        ];
        if self.handicap.stones() > 0 {
            let place =
                |word, chinese, english, is, set| Listed { word, name: Both::new(chinese, english), is, set };
            rows.push(Row::listed(
                "placing",
                Both::new("让子位置", "Handicap stones"),
                vec![
                    place(
                        "stars",
                        "星位",
                        "On star points",
                        |setup: &Self| matches!(setup.handicap, Handicap::Stars(_)),
                        |setup: &mut Self| setup.handicap = Handicap::Stars(setup.handicap.stones()),
                    ),
                    place(
                        "free",
                        "黑方自选",
                        "Where Black likes",
                        |setup: &Self| matches!(setup.handicap, Handicap::Free(_)),
                        |setup: &mut Self| setup.handicap = Handicap::Free(setup.handicap.stones()),
                    ),
                ],
            ));
        }
        // After the handicap, on which the default komi depends: options are set in this order.
        let last = [
            Row::number(
                "komi-half-points",
                Both::new("贴目", "Komi"),
                &[0, 1, 11, 13, 15],
                0..=u8::MAX.into(),
                points,
                |setup: &Self| setup.komi_half_points.into(),
                |setup, half_points| setup.komi_half_points = half_points as u8,
            ),
            Row::<Self>::listed(
                "superko",
                Both::new("全局同形", "Repetition (superko)"),
                vec![
                    listed!("positional", "只看盘面", "Board only", superko = Superko::Positional),
                    listed!("situational", "连同轮走方", "Board and turn", superko = Superko::Situational),
                ],
            )
            .seldom(),
        ];
        rows.extend(last);
        rows
    }

    fn presets() -> Vec<NamedSetup<Self>> {
        let japanese =
            Self { scoring: Scoring::Territory, komi_half_points: JAPANESE_KOMI, ..Self::default() };
        vec![
            NamedSetup {
                word: "chinese",
                name: Both::new("中国规则", "Chinese rules"),
                setup: Self::default(),
                decides: &["scoring"],
            },
            NamedSetup {
                word: "japanese",
                name: Both::new("日本规则", "Japanese rules"),
                setup: japanese,
                decides: &["scoring"],
            },
        ]
    }
}
