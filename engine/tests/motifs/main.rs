//! Each motif of a reason on positions of its own from the engine's games, half of them near misses: `motifs.txt`.
//!
//! The file holds what a search found, so that the test is about the detectors alone; what they claim is checked once more by
//! the rules alone (`oracle.rs`). `generate.rs` writes the file.

mod generate;
mod oracle;

use std::collections::BTreeMap;

use engine::reasons::{MatePattern, Mistake, Motif, reason};
use engine::xiangqi::Xiangqi;
use engine::{Action, AnyGame, GameKind, Language, Report, Score};

/// Every motif; [`oracle::holds`] fails to compile without a new one.
const MOTIFS: [Motif; 32] = [
    Motif::MissedWin,
    Motif::MissedForcedWin,
    Motif::LosesAtOnce,
    Motif::LosesByForce,
    Motif::OpenFour,
    Motif::DoubleThreat,
    Motif::MissedDoubleThreat,
    Motif::Forbidden,
    Motif::Initiative,
    Motif::MissedInitiative,
    Motif::VitalPoint,
    Motif::Hanging,
    Motif::Exchange,
    Motif::Fork,
    Motif::Skewer,
    Motif::Pin,
    Motif::DiscoveredCheck,
    Motif::CheckWins,
    Motif::MissedCapture,
    Motif::LosesMaterial,
    Motif::MissedMaterial,
    Motif::Atari,
    Motif::MissedAtari,
    Motif::Snapback,
    Motif::Ladder,
    Motif::ConnectAndDie,
    Motif::Net,
    Motif::LifeAndDeath,
    Motif::Points,
    Motif::Formation,
    Motif::DoubleFormation,
    Motif::MissedFormation,
];

/// Motifs and patterns that the engine's games hardly have: they have fewer positions, and some none yet.
const RARE: [&str; 7] =
    ["Ladder", "Net", "MissedAtari", "Snapback", "ConnectAndDie", "LifeAndDeath", "CannonBehindHorse"];

const PATTERNS: [MatePattern; 4] = [
    MatePattern::CannonBehindHorse,
    MatePattern::IronBolt,
    MatePattern::WocaoHorse,
    MatePattern::AlternatingChariots,
];

/// A move in a position with what a search found before and after it.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) before: AnyGame,
    pub(crate) played: Action,
    pub(crate) better: Report,
    pub(crate) reply: Report,
    /// The motif of its reason.
    pub(crate) expected: Option<Motif>,
    /// Motifs that it nearly is.
    pub(crate) near: Vec<Motif>,
}

impl Case {
    pub(crate) fn found(&self) -> Option<engine::reasons::Reason> {
        let Self { before, played, better, reply, .. } = self;
        reason(&Mistake { before, played: *played, better, reply })
    }
}

/// A mate with the pattern that is named.
pub(crate) struct Mate {
    pub(crate) before: AnyGame,
    pub(crate) mating: Action,
    pub(crate) mated: Xiangqi,
    pub(crate) expected: Option<MatePattern>,
    pub(crate) near: Vec<MatePattern>,
}

/// A position after its game's word; `renju` is gomoku by the rules of renju.
pub(crate) fn position(word: &str, text: &str) -> Option<AnyGame> {
    let setup = match word {
        "renju" => GameKind::Gomoku.preset("renju").ok()?,
        word => GameKind::from_word(word)?.default_setup_for(text),
    };
    AnyGame::from_position(&setup, text).ok()
}

fn named<T: std::fmt::Debug + Copy>(all: &[T], word: &str) -> Option<T> {
    let found = all.iter().find(|one| format!("{one:?}") == word).copied();
    assert!(found.is_some() || word == "-", "{word}");
    found
}

/// What a search found: the rest of a line.
fn found<'a>(from: &AnyGame, words: impl Iterator<Item = &'a str>) -> Option<Report> {
    Report::from_text(from, &words.collect::<Vec<_>>().join(" "))
}

/// Reads `motifs.txt`. Its header says what stands where.
fn read(text: &str) -> (Vec<Case>, Vec<Mate>) {
    let (mut cases, mut mates) = (Vec::new(), Vec::new());
    let mut before: Option<(AnyGame, Option<Report>)> = None;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace().peekable();
        if !line.starts_with(' ') {
            let (word, text) = line.split_once(' ').expect("a game and a position");
            before = Some((position(word, text).unwrap_or_else(|| panic!("{line}")), None));
            continue;
        }
        let (game, better) = before.as_mut().expect("a position comes first");
        if words.peek() == Some(&">") {
            words.next();
            *better = Some(found(game, words).unwrap_or_else(|| panic!("{line}")));
            continue;
        }
        let played = game.parse(words.next().expect("a move")).unwrap_or_else(|| panic!("{line}"));
        let expected = words.next().expect("a motif");
        let mut near = Vec::new();
        while let Some(word) = words.next_if(|word| word.starts_with('~')) {
            near.push(&word[1..]);
        }
        let mut after = game.clone();
        after.act(played).unwrap_or_else(|_| panic!("{line}"));
        let Some(better) = better else {
            let AnyGame::Xiangqi(mated) = after else { panic!("{line}") };
            mates.push(Mate {
                before: game.clone(),
                mating: played,
                mated,
                expected: named(&PATTERNS, expected),
                near: near.into_iter().filter_map(|word| named(&PATTERNS, word)).collect(),
            });
            continue;
        };
        cases.push(Case {
            before: game.clone(),
            played,
            better: better.clone(),
            reply: found(&after, words).unwrap_or_else(|| panic!("{line}")),
            expected: named(&MOTIFS, expected),
            near: near.into_iter().filter_map(|word| named(&MOTIFS, word)).collect(),
        });
    }
    (cases, mates)
}

fn all() -> (Vec<Case>, Vec<Mate>) {
    read(include_str!("motifs.txt"))
}

fn told(case: &Case) -> String {
    format!(
        "{} | {} | {:?}",
        case.before.position(),
        case.before.notation(case.played),
        case.found().map(|reason| (reason.motif, reason.words))
    )
}

#[test]
fn every_motif_has_forty_positions_and_half_of_them_are_near_misses() {
    let (cases, mates) = all();
    let mut count: BTreeMap<String, [usize; 2]> = MOTIFS
        .iter()
        .map(|motif| format!("{motif:?}"))
        .chain(PATTERNS.iter().map(|pattern| format!("{pattern:?}")))
        .map(|name| (name, [0, 0]))
        .collect();
    let mut add = |name: String, near: usize| count.get_mut(&name).expect("a known one")[near] += 1;
    for case in &cases {
        case.expected.into_iter().for_each(|motif| add(format!("{motif:?}"), 0));
        case.near.iter().for_each(|motif| add(format!("{motif:?}"), 1));
    }
    for mate in &mates {
        mate.expected.into_iter().for_each(|pattern| add(format!("{pattern:?}"), 0));
        mate.near.iter().for_each(|pattern| add(format!("{pattern:?}"), 1));
    }
    for (name, [is, near]) in count {
        let enough = is + near >= 40 && near >= 20 && is >= 12;
        assert_eq!(enough, !RARE.contains(&name.as_str()), "{name}: {is} positions and {near} near misses");
    }
}

#[test]
fn the_reason_is_the_motif_of_the_position_and_never_one_that_it_nearly_is() {
    for case in all().0 {
        let found = case.found().map(|reason| reason.motif);
        assert_eq!(found, case.expected, "{}", told(&case));
        assert!(!case.near.iter().any(|near| Some(*near) == found), "{}", told(&case));
    }
    for mate in all().1 {
        let found = MatePattern::of(&mate.mated);
        assert_eq!(found, mate.expected, "{}", mate.before.position());
        assert!(!mate.near.iter().any(|near| Some(*near) == found), "{}", mate.before.position());
    }
}

#[test]
fn the_rules_alone_confirm_each_motif_and_deny_each_near_miss() {
    for case in all().0 {
        if let Some(motif) = case.expected {
            assert!(oracle::holds(motif, &case), "it is no {motif:?}: {}", told(&case));
        }
        for &motif in &case.near {
            assert!(!oracle::holds(motif, &case), "it is a {motif:?}: {}", told(&case));
        }
    }
    for mate in all().1 {
        if let Some(pattern) = mate.expected {
            assert!(oracle::mates(pattern, &mate.mated), "it is no {pattern:?}: {}", mate.mated.position());
        }
        for &pattern in &mate.near {
            assert!(!oracle::mates(pattern, &mate.mated), "it is a {pattern:?}: {}", mate.mated.position());
        }
    }
}

#[test]
fn a_mate_that_was_missed_is_named_in_both_languages() {
    for Mate { before, mating, expected, .. } in all().1 {
        let goes_on = |action: &Action| {
            let mut after = before.clone();
            after.act(*action).is_ok() && after.outcome().is_none()
        };
        let Some(played) = before.legal_actions().into_iter().find(goes_on) else { continue };
        let mut after = before.clone();
        after.act(played).expect("a legal move");
        let found = |line, score| Report { line: vec![line], score, depth: 1, nodes: 1 };
        let better = found(mating, Score::WinIn(1));
        let reply = found(after.legal_actions()[0], Score::Points(0));
        let why =
            reason(&Mistake { before: &before, played, better: &better, reply: &reply }).expect("a reason");
        assert_eq!(why.motif, Motif::MissedWin);
        for (language, words) in Language::ALL.into_iter().zip(&why.words) {
            for pattern in PATTERNS {
                assert_eq!(words.contains(pattern.name(language)), expected == Some(pattern), "{words}");
            }
        }
    }
}

#[test]
fn the_rules_alone_tell_what_lives_and_what_dies() {
    // Who plays in the middle of three points decides; four points in a row are two eyes whoever begins.
    let [three, four] = ["wwww5/bbbbw4/3bw4", "wwwww4/bbbbbw3/4bw3"];
    for (rows, turn, decides) in
        [(three, "b", true), (three, "w", true), (four, "b", false), (four, "w", false)]
    {
        let before = position("go", &format!("9/9/9/9/9/9/{rows} {turn} - 0 0 0")).expect("a position");
        let [played, middle] = ["H9", "B1"].map(|text| before.parse(text).expect("a move"));
        let better = Report {
            line: vec![middle],
            score: Score::Chance { permille: 500, points: 0 },
            depth: 1,
            nodes: 1,
        };
        let reply = better.clone();
        let case = Case { before, played, better, reply, expected: None, near: Vec::new() };
        assert_eq!(oracle::holds(Motif::LifeAndDeath, &case), decides, "{rows} {turn}");
        assert_eq!(case.found().map(|why| why.motif) == Some(Motif::LifeAndDeath), decides, "{rows} {turn}");
    }
}
