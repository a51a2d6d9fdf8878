//! The options of gomoku.

use super::{GomokuOpening, GomokuRule, GomokuSetup};
use crate::Language;
use crate::options::{Both, Listed, NamedSetup, Options, Row, listed, switch};

/// Sizes offered in menus; all of [`GomokuSetup::SIZES`] are valid.
const SIZES: [u32; 5] = [13, 15, 17, 19, 20];

fn both(rule: GomokuRule) -> Both {
    Both::new(rule.name(Language::Chinese), rule.name(Language::English))
}

impl Options for GomokuSetup {
    fn rows(&self) -> Vec<Row<Self>> {
        let rule = |word, rule: GomokuRule, is, set| Listed { word, name: both(rule), is, set };
        let (least, most) = (*Self::SIZES.start(), *Self::SIZES.end());
        vec![
            Row::listed(
                "rule",
                Both::new("规则", "Rules"),
                vec![
                    rule(
                        "freestyle",
                        GomokuRule::Freestyle,
                        |setup: &Self| setup.rule == GomokuRule::Freestyle,
                        |setup: &mut Self| setup.rule = GomokuRule::Freestyle,
                    ),
                    rule(
                        "standard",
                        GomokuRule::Standard,
                        |setup: &Self| setup.rule == GomokuRule::Standard,
                        |setup: &mut Self| setup.rule = GomokuRule::Standard,
                    ),
                    rule(
                        "renju",
                        GomokuRule::Renju,
                        |setup: &Self| setup.rule == GomokuRule::Renju,
                        |setup: &mut Self| setup.rule = GomokuRule::Renju,
                    ),
                ],
            ),
            Row::number(
                "size",
                Both::new("棋盘", "Board"),
                &SIZES,
                least.into()..=most.into(),
                |size| Both::same(format!("{size} × {size}")),
                |setup: &Self| setup.size.into(),
                |setup, size| setup.size = size as u8,
            ),
            Row::listed(
                "opening",
                Both::new("开局", "Opening"),
                vec![
                    listed!("free", "自由开局", "Free", opening = GomokuOpening::Free),
                    listed!("pro", "Pro", "Pro", opening = GomokuOpening::Pro),
                    listed!("long-pro", "Long Pro", "Long Pro", opening = GomokuOpening::LongPro),
                    listed!("swap", "Swap", "Swap", opening = GomokuOpening::Swap),
                    listed!("swap2", "Swap2", "Swap2", opening = GomokuOpening::Swap2),
                    listed!(
                        "taraguchi-10",
                        "塔拉山口-10",
                        "Taraguchi-10",
                        opening = GomokuOpening::Taraguchi10
                    ),
                    listed!("soosorv-8", "索索夫-8", "Soosõrv-8", opening = GomokuOpening::Soosorv8),
                    listed!("yamaguchi", "山口", "Yamaguchi", opening = GomokuOpening::Yamaguchi),
                ],
            ),
            switch!("edge-five", "边线上的五连算胜", "Five on the edge wins", edge_five_wins),
        ]
    }

    fn presets() -> Vec<NamedSetup<Self>> {
        let of = |word, rule| NamedSetup {
            word,
            name: both(rule),
            setup: Self { rule, ..Self::default() },
            decides: &["rule"],
        };
        vec![
            of("freestyle", GomokuRule::Freestyle),
            of("standard", GomokuRule::Standard),
            of("renju", GomokuRule::Renju),
        ]
    }
}
