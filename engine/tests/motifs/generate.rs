//! Writes `motifs.txt` from mistakes that `qiyou-engine mistakes --keep` wrote:
//!
//! ```text
//! MISTAKES=kept.gomoku:kept.go EXPLORE=12000 GO_GAMES=300 cargo test -p engine --test motifs -- --ignored generate
//! ```
//!
//! `EXPLORE` is the number of moves that are tried for rare motifs, `GO_GAMES` the number of games of Go in which both sides make
//! mistakes of beginners, `MATES` that of games of xiangqi which one side loses by any moves. `ONLY=Skewer,WocaoHorse` adds
//! positions of these motifs to the file until there are enough, instead of writing it anew.
//!
//! A motif's positions are mistakes of these games with that reason, and, where there are few, other legal moves in the same
//! positions. Beside each stands another move in the same position as a near miss: the one whose reply, or reason, is most
//! alike. Only what the rules confirm ([`crate::oracle`]) is taken; what they do not confirm is printed, to be looked at.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::reasons::{MatePattern, Motif, complete};
use engine::{Action, AnyGame, Bot, GameKind, Limits, Report, Rng, Tier, bot};

use crate::oracle::{self, Board};
use crate::{Case, MOTIFS, Mate, PATTERNS, position};

/// Positions of each motif, and as many near misses.
const WANTED: usize = 20;

/// Other moves that are judged for a near miss.
const OTHERS: usize = 6;

/// Go: moves of a game of beginners, and one in so many of them is any move beside a stone.
const GO_MOVES: u32 = 80;
const GO_BLUNDER: u32 = 3;

/// A kept mistake.
struct Kept {
    word: String,
    text: String,
    before: AnyGame,
    better: Report,
    played: Action,
    reply: Report,
    /// Whether a second, deeper search finds the move a mistake too.
    sure: bool,
}

fn kept(text: &str) -> Vec<Kept> {
    let lines: Vec<&str> = text.lines().collect();
    let read = |lines: &[&str]| {
        let &[first, better, played, reply, losses] = lines else { return None };
        let (word, text) = first.split_once(' ')?;
        let before = position(word, text)?;
        let played = before.parse(played.trim())?;
        let mut after = before.clone();
        after.act(played).ok()?;
        let again: f64 = losses.split_whitespace().nth(2)?.parse().ok()?;
        Some(Kept {
            word: word.into(),
            text: text.into(),
            better: Report::from_text(&before, better)?,
            reply: Report::from_text(&after, reply)?,
            before,
            played,
            sure: again >= 0.05,
        })
    };
    lines.chunks(5).filter_map(read).collect()
}

impl Kept {
    /// A position with what a search finds there; what is played is to be tried out.
    fn new(word: &str, before: AnyGame, better: Report) -> Self {
        let text = before.position();
        // Without the history of its game.
        let before = position(word, &text).expect("a position");
        Self {
            word: word.into(),
            text,
            before,
            played: better.line[0],
            reply: better.clone(),
            better,
            sure: false,
        }
    }

    fn case(&self) -> Case {
        Case {
            before: self.before.clone(),
            played: self.played,
            better: self.better.clone(),
            reply: self.reply.clone(),
            expected: None,
            near: Vec::new(),
        }
    }
}

/// The first position of a kept line in which the side to move wins at once or makes a formation.
fn at_hand(kept: &Kept, judge: &mut Judge) -> Option<Kept> {
    let mut game = kept.before.clone();
    for &action in kept.better.line.iter().take(9) {
        game.act(action).ok()?;
        if game.outcome().is_some() {
            return None;
        }
        if oracle::wins_at_once(&game, game.turn(), 1) || oracle::most_formations(&game) > 0 {
            let better = judge.judge(&game, Judge::nodes(game.kind()))?;
            return Some(Kept::new(&kept.word, game, better));
        }
    }
    None
}

/// The moves of a game of Go in which both sides make mistakes of beginners: any move beside a stone.
fn go_game(seed: u64, judge: &mut Judge) -> Vec<Kept> {
    const EMPTY: &str = "9/9/9/9/9/9/9/9/9 b - 0 0 0";
    let mut rng = Rng::new(seed);
    let mut game = position("go", EMPTY).expect("a board");
    let nodes = Judge::nodes(GameKind::Go);
    let mut better = judge.judge(&game, nodes);
    let mut found = Vec::new();
    while let Some(could) = better {
        let touching: Vec<Action> =
            game.legal_actions().into_iter().filter(|&action| oracle::touches(&game, action)).collect();
        let played = if rng.below(GO_BLUNDER) == 0 && !touching.is_empty() {
            touching[rng.below(touching.len() as u32) as usize]
        } else {
            could.line[0]
        };
        let mut kept = Kept::new("go", game, could);
        kept.played = played;
        // Without the history of the game, as the file tells it.
        game = kept.before.clone();
        game.act(played).expect("legal");
        if game.outcome().is_some() || game.ply() > GO_MOVES || played == Action::Pass {
            break;
        }
        better = judge.judge(&game, nodes);
        if let Some(reply) = &better {
            kept.reply = reply.clone();
            complete(&game, &mut kept.reply, |game| judge.judge(game, nodes / 4));
            found.push(kept);
        }
    }
    found
}

struct Judge(BTreeMap<GameKind, Box<dyn Bot>>);

impl Judge {
    fn nodes(kind: GameKind) -> u64 {
        if kind == GameKind::Go { 60 } else { 3_000 }
    }

    fn judge(&mut self, game: &AnyGame, nodes: u64) -> Option<Report> {
        let kind = game.kind();
        let bot = self.0.entry(kind).or_insert_with(|| bot(kind, Tier::MAX, 1));
        let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
        bot.judge(
            game,
            &Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &elapsed },
        )
    }

    /// Another move in the position of a kept mistake.
    fn case(&mut self, kept: &Kept, played: Action) -> Option<Case> {
        let mut after = kept.before.clone();
        after.act(played).ok()?;
        if after.outcome().is_some() || after.turn() == kept.before.turn() {
            return None;
        }
        let nodes = Self::nodes(after.kind());
        let mut reply = self.judge(&after, nodes)?;
        complete(&after, &mut reply, |game| self.judge(game, nodes / 4));
        Some(Case {
            before: kept.before.clone(),
            played,
            better: kept.better.clone(),
            reply,
            expected: None,
            near: Vec::new(),
        })
    }
}

/// Names of near misses as they stand in the file.
fn marked<T: std::fmt::Debug>(near: &[T]) -> String {
    near.iter().fold(String::new(), |text, name| format!("{text} ~{name:?}"))
}

/// What a search found, as the file has it.
fn line(from: &AnyGame, found: &Report) -> String {
    let mut short = found.clone();
    short.line.truncate(longest(from));
    short.text(from)
}

/// Actions of a line that are kept: about as many as detectors look at. Those of Go read on by themselves.
fn longest(game: &AnyGame) -> usize {
    if game.kind() == GameKind::Go { 1 } else { 12 }
}

fn cut(mut case: Case) -> Case {
    let longest = longest(&case.before);
    case.better.line.truncate(longest);
    case.reply.line.truncate(longest);
    let why = case.found();
    case.expected = why.as_ref().map(|reason| reason.motif);
    // What follows when all is said tells no more.
    for count in [1, 3, 6] {
        let mut short = case.clone();
        short.reply.line.truncate(count);
        if why.is_some() && short.found() == why && oracle::holds(case.expected.expect("a reason"), &short) {
            return short;
        }
    }
    case
}

/// How much a near miss is like a case of this motif: the same reply counts most, then a reply to the same point.
fn likeness(case: &Case, near: &Case) -> u32 {
    let to = |action: Action| match action {
        Action::Place(at) | Action::Step { to: at, .. } => Some(at),
        _ => None,
    };
    let (reply, other) = (case.reply.line[0], near.reply.line[0]);
    4 * u32::from(reply == other) + 2 * u32::from(to(reply) == to(other)) + u32::from(near.expected.is_some())
}

/// Whether it is worth a search whether a reply has this motif: a quick look for those that are rare.
fn may_be(motif: Motif, kept: &Kept, after: &AnyGame) -> bool {
    let replies = || {
        after.legal_actions().into_iter().filter_map(|reply| {
            let mut replied = after.clone();
            replied.act(reply).ok().map(|()| (reply, replied))
        })
    };
    match motif {
        Motif::Forbidden => kept.word == "renju",
        Motif::MissedWin | Motif::MissedForcedWin => false,
        Motif::DoubleFormation => oracle::most_formations(after) > 1,
        Motif::DiscoveredCheck => replies().any(|(reply, replied)| {
            let (Action::Step { to, .. }, AnyGame::Xiangqi(replied)) = (reply, &replied) else {
                return false;
            };
            replied.check().is_some_and(|check| check.by.iter().any(|by| *by != to))
        }),
        Motif::Skewer => oracle::may_skewer(after),
        _ => true,
    }
}

/// Motifs that look like this one.
fn alike(motif: Motif) -> &'static [Motif] {
    match motif {
        Motif::MissedWin => &[Motif::MissedForcedWin, Motif::MissedDoubleThreat, Motif::MissedCapture],
        Motif::MissedForcedWin => &[Motif::MissedWin, Motif::MissedDoubleThreat, Motif::MissedMaterial],
        Motif::MissedDoubleThreat => &[Motif::MissedInitiative, Motif::MissedForcedWin],
        Motif::MissedInitiative => &[Motif::MissedDoubleThreat, Motif::VitalPoint, Motif::Initiative],
        Motif::MissedCapture => &[Motif::MissedMaterial, Motif::Hanging, Motif::Exchange],
        Motif::MissedFormation => &[Motif::Formation, Motif::MissedMaterial],
        Motif::MissedAtari => &[Motif::Points, Motif::Atari],
        Motif::Formation => &[Motif::LosesMaterial, Motif::DoubleFormation, Motif::VitalPoint],
        Motif::DoubleFormation => &[Motif::Formation, Motif::LosesMaterial],
        Motif::OpenFour => &[Motif::DoubleThreat, Motif::LosesByForce, Motif::LosesAtOnce],
        Motif::Forbidden => &[Motif::LosesByForce, Motif::OpenFour],
        Motif::CheckWins => &[Motif::DiscoveredCheck, Motif::Skewer, Motif::Fork],
        Motif::Skewer => &[Motif::CheckWins, Motif::Pin, Motif::Fork],
        Motif::LosesAtOnce => &[Motif::LosesByForce],
        Motif::LosesByForce => &[Motif::LosesAtOnce],
        _ => &[],
    }
}

/// Motifs that are about what a search judges: taken only if the deeper search agrees.
fn is_judged(motif: Motif) -> bool {
    matches!(motif, Motif::Points | Motif::VitalPoint | Motif::Initiative | Motif::MissedInitiative)
}

#[test]
#[ignore = "writes motifs.txt; needs MISTAKES, or ONLY"]
fn generate() {
    let files = std::env::var("MISTAKES").unwrap_or_default();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let explore = number("EXPLORE").unwrap_or(2_000) as usize;
    let go_games = number("GO_GAMES").unwrap_or(10);
    let text = |path: &str| std::fs::read_to_string(path).expect("kept mistakes can be read");
    let mut all: Vec<Kept> =
        files.split(':').filter(|path| !path.is_empty()).flat_map(|path| kept(&text(path))).collect();
    let (mut rng, mut judge) = (Rng::new(1), Judge(BTreeMap::new()));
    rng.shuffle(&mut all);
    // Games begin alike.
    let mut texts = HashSet::new();
    all.retain(|kept| texts.insert(kept.text.clone()));
    let only: Vec<String> =
        std::env::var("ONLY").map(|text| text.split(',').map(Into::into).collect()).unwrap_or_default();
    assert!(
        !all.is_empty() || !only.is_empty(),
        "MISTAKES names files of kept mistakes; without them, ONLY names the motifs to look for in games"
    );
    let (there, mates_there) = if only.is_empty() { Default::default() } else { crate::all() };
    let positions_there: HashSet<String> = there.iter().map(|case| case.before.position()).collect();
    all.retain(|kept| !positions_there.contains(&kept.text));
    let is = |motif: Motif| there.iter().filter(|case| case.expected == Some(motif)).count();
    let nearly = |motif: Motif| there.iter().filter(|case| case.near.contains(&motif)).count();
    let asked = |motif: Motif| only.is_empty() || only.contains(&format!("{motif:?}"));
    // Number of the kept mistake, and the case.
    let mut found: BTreeMap<Motif, Vec<(usize, Case)>> = BTreeMap::new();
    let mut doubted: BTreeMap<Motif, usize> = BTreeMap::new();
    let mut take = |number: usize, case: Case, found: &mut BTreeMap<Motif, Vec<(usize, Case)>>| {
        let Some(motif) = case.expected else { return };
        let list = found.entry(motif).or_default();
        if !asked(motif)
            || is(motif) + list.len() >= WANTED + 2
            || list.iter().any(|(other, _)| *other == number)
        {
            return;
        }
        if oracle::holds(motif, &case) {
            list.push((number, case));
        } else {
            let doubts = doubted.entry(motif).or_default();
            *doubts += 1;
            if *doubts <= 4 {
                println!(
                    "not confirmed: {}\n  {}\n  {}",
                    crate::told(&case),
                    line(&case.before, &case.better),
                    {
                        let mut after = case.before.clone();
                        after.act(case.played).expect("legal");
                        line(&after, &case.reply)
                    }
                );
            }
        }
    };
    for (number, kept) in all.iter().enumerate() {
        let case = cut(kept.case());
        if kept.sure || case.expected.is_some_and(|motif| !is_judged(motif)) {
            take(number, case, &mut found);
        }
    }
    // Motifs of a win or formation at hand: positions further on, where the search makes it.
    let from = all.len();
    let further: Vec<Kept> = if only.is_empty() {
        all.iter().filter_map(|kept| at_hand(kept, &mut judge)).collect()
    } else {
        Vec::new()
    };
    all.extend(further);
    for (number, kept) in all.iter().enumerate().skip(from) {
        let mut legal = kept.before.legal_actions();
        rng.shuffle(&mut legal);
        for played in legal.into_iter().take(2) {
            if let Some(case) = judge.case(kept, played).map(cut) {
                take(number, case, &mut found);
            }
        }
    }
    let lacks = |motif: Motif, found: &BTreeMap<Motif, Vec<(usize, Case)>>| {
        asked(motif) && is(motif) + found.get(&motif).map_or(0, Vec::len) < WANTED
    };
    // Motifs that are rare: other moves of the same positions.
    for _ in 0..if all.is_empty() { 0 } else { explore } {
        let number = rng.below(all.len() as u32) as usize;
        let kept = &all[number];
        let legal = kept.before.legal_actions();
        let played = legal[rng.below(legal.len() as u32) as usize];
        let mut after = kept.before.clone();
        after.act(played).expect("legal");
        let hopeful = of_game(after.kind())
            .filter(|motif| lacks(*motif, &found))
            .any(|motif| may_be(motif, kept, &after));
        if kept.before.kind() != GameKind::Go
            && hopeful
            && let Some(case) = judge.case(kept, played).map(cut)
            && case.expected.is_some_and(|motif| !is_judged(motif))
        {
            take(number, case, &mut found);
        }
    }
    // Motifs of Go that are rare: moves of beginners.
    for seed in 0..go_games {
        if of_game(GameKind::Go).all(|motif| is_judged(motif) || !lacks(motif, &found)) {
            break;
        }
        for kept in go_game(seed, &mut judge) {
            let case = cut(kept.case());
            if let Some(motif) = case.expected
                && !is_judged(motif)
                && lacks(motif, &found)
                && case.better.line[0] != case.played
            {
                take(all.len(), case, &mut found);
                all.push(kept);
            }
        }
    }
    println!("explored");
    for (motif, count) in &doubted {
        println!("{motif:?}: {count} not confirmed");
    }
    // Blocks by position: the moves with their motifs.
    let mut blocks: BTreeMap<usize, Vec<Case>> = BTreeMap::new();
    for list in found.values_mut() {
        list.truncate(WANTED);
        for (number, case) in list.iter() {
            let block = blocks.entry(*number).or_default();
            if !block.iter().any(|other| other.played == case.played) {
                block.push(case.clone());
            }
        }
    }
    let denied = |motif: Motif, other: &Case| {
        other.expected != Some(motif)
            && !oracle::holds(motif, other)
            && other.expected.is_none_or(|expected| oracle::holds(expected, other))
    };
    for (&motif, list) in &found {
        // Other moves in each of its positions, the best near miss of each first.
        let mut spare: Vec<(usize, Case)> = Vec::new();
        let mut near = 0;
        let place = |number: usize, mut other: Case, blocks: &mut BTreeMap<usize, Vec<Case>>| {
            let block = blocks.entry(number).or_default();
            match block.iter_mut().find(|one| one.played == other.played) {
                Some(there) if there.near.contains(&motif) || !denied(motif, there) => return 0,
                Some(there) => there.near.push(motif),
                None => {
                    other.near = vec![motif];
                    block.push(other);
                }
            }
            1
        };
        for (number, case) in list {
            let mut moves: Vec<Action> = case.before.legal_actions();
            rng.shuffle(&mut moves);
            moves.truncate(OTHERS);
            moves.insert(0, all[*number].better.line[0]);
            let mut others: Vec<Case> = blocks[number].clone();
            others.extend(moves.into_iter().filter_map(|played| judge.case(&all[*number], played).map(cut)));
            others.retain(|other| other.played != case.played && denied(motif, other));
            others.sort_by_key(|other| std::cmp::Reverse(likeness(case, other)));
            let mut others = others.into_iter();
            if let Some(other) = others.next() {
                near += place(*number, other, &mut blocks);
            }
            spare.extend(others.map(|other| (*number, other)));
        }
        // Then second ones, and positions of the motifs that are most alike.
        let cousins = |motif: &Motif| found.get(motif).into_iter().flatten().cloned();
        let same_game =
            |(_, case): &(usize, Case)| list.iter().any(|(_, one)| one.before.kind() == case.before.kind());
        spare.extend(alike(motif).iter().flat_map(cousins).filter(same_game));
        for (number, other) in spare {
            // Forty in all, where there are fewer positions.
            let enough = WANTED
                .max(2 * WANTED - is(motif).min(WANTED) - list.len().min(WANTED - is(motif).min(WANTED)));
            if nearly(motif) + near < enough && denied(motif, &other) {
                near += place(number, other, &mut blocks);
            }
        }
        println!("{motif:?}: {} positions, {near} near misses", list.len());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/motifs/motifs.txt");
    let mut text = if only.is_empty() {
        HEADER.to_owned()
    } else {
        std::fs::read_to_string(path).expect("motifs.txt can be read")
    };
    for (number, cases) in blocks {
        let kept = &all[number];
        let _ = writeln!(text, "{} {}\n > {}", kept.word, kept.text, line(&kept.before, &kept.better));
        for case in cases {
            let mut after = case.before.clone();
            after.act(case.played).expect("legal");
            let expected = case.expected.map_or_else(|| "-".into(), |motif| format!("{motif:?}"));
            let near = marked(&case.near);
            let played = case.before.notation(case.played);
            let _ = writeln!(text, " {played} {expected}{near} {}", line(&after, &case.reply));
        }
    }
    text += &mates(&all, &mut judge, number("MATES").unwrap_or(200), &mates_there);
    std::fs::write(path, &text).expect("motifs.txt can be written");
    println!("{} bytes", text.len());
}

const HEADER: &str = "\
# Positions of each motif of a reason, from games of the engine with itself, and near misses: other moves in the same positions.
# Written by tests/motifs/generate.rs, which says how; confirmed by the rules alone in tests/motifs/oracle.rs. What is a matter of
# judgement (Points, VitalPoint, Initiative, MissedInitiative) is there only where a second, deeper search finds the move a
# mistake too.
#
# game position
#  > score line                          what a search finds there; win in n plies is Wn, loss Ln, in Go chance:points
#  move motif [~motif …] score line      a move, the motif of its reason or -, motifs that it nearly is, what follows
#
# Mates with a name have no scores and lines: the position before the mating move, the move and the pattern.

";

fn of_game(kind: GameKind) -> impl Iterator<Item = Motif> {
    MOTIFS.into_iter().filter(move |motif| {
        let xiangqi = matches!(
            motif,
            Motif::Hanging
                | Motif::Exchange
                | Motif::Fork
                | Motif::Skewer
                | Motif::Pin
                | Motif::DiscoveredCheck
                | Motif::CheckWins
                | Motif::MissedCapture
                | Motif::MissedWin
                | Motif::MissedForcedWin
                | Motif::LosesAtOnce
                | Motif::LosesByForce
                | Motif::LosesMaterial
                | Motif::MissedMaterial
        );
        let go = matches!(
            motif,
            Motif::Atari
                | Motif::MissedAtari
                | Motif::Snapback
                | Motif::Ladder
                | Motif::ConnectAndDie
                | Motif::Net
                | Motif::LifeAndDeath
                | Motif::Points
        );
        let liuzhou = matches!(motif, Motif::Formation | Motif::DoubleFormation | Motif::MissedFormation);
        match kind {
            GameKind::Xiangqi => xiangqi,
            GameKind::Go => go,
            GameKind::Liuzhou => liuzhou,
            _ => !xiangqi && !go && !liuzhou,
        }
    })
}

/// Mating moves in the lines of kept mistakes of xiangqi and in games that are played for it, by pattern, and mates that are
/// nearly of a pattern.
fn mates(all: &[Kept], judge: &mut Judge, games: u64, there: &[Mate]) -> String {
    let (mut seen, mut text) = (HashSet::new(), String::new());
    let mut count: BTreeMap<MatePattern, [usize; 2]> = BTreeMap::new();
    let rows = |position: String| position.split(' ').next().unwrap_or_default().to_owned();
    for mate in there {
        seen.insert(rows(mate.mated.position()));
        let (is, near) = (mate.expected.iter().map(|it| (it, 0)), mate.near.iter().map(|it| (it, 1)));
        for (pattern, nearly) in is.chain(near) {
            count.entry(*pattern).or_default()[nearly] += 1;
        }
    }
    let mut lines: Vec<(AnyGame, Vec<Action>)> = Vec::new();
    for kept in all.iter().filter(|kept| kept.before.kind() == GameKind::Xiangqi) {
        let mut after = kept.before.clone();
        after.act(kept.played).expect("legal");
        lines.push((kept.before.clone(), kept.better.line.clone()));
        lines.push((after, kept.reply.line.clone()));
    }
    lines.extend((0..games).map(|seed| lost_game(seed, judge)));
    for (mut game, line) in lines {
        // One line has the same mate again and again.
        let mut left = 3;
        for &action in line.iter().chain([&Action::Pass]) {
            for mate in game.legal_actions() {
                let mut next = game.clone();
                next.act(mate).expect("legal");
                let AnyGame::Xiangqi(mated) = &next else { continue };
                let is_mate = |outcome: engine::Outcome| outcome.reason == engine::Reason::Checkmate;
                if !next.outcome().is_some_and(is_mate) {
                    continue;
                }
                let found = MatePattern::of(mated);
                if let Some(pattern) = found.filter(|&pattern| !oracle::mates(pattern, mated)) {
                    println!("not confirmed: {pattern:?} {}", mated.position());
                    continue;
                }
                let near: Vec<MatePattern> = PATTERNS
                    .into_iter()
                    .filter(|&pattern| Some(pattern) != found && !oracle::mates(pattern, mated))
                    .filter(|&pattern| is_like(pattern, &next))
                    .filter(|pattern| count.entry(*pattern).or_default()[1] < WANTED + 4)
                    .collect();
                let wanted = found.filter(|pattern| count.entry(*pattern).or_default()[0] < WANTED);
                if left == 0 || wanted.is_none() && near.is_empty() || !seen.insert(rows(next.position())) {
                    continue;
                }
                left -= 1;
                for (pattern, nearly) in wanted.iter().map(|it| (it, 0)).chain(near.iter().map(|it| (it, 1)))
                {
                    count.entry(*pattern).or_default()[nearly] += 1;
                }
                let expected = found.map_or_else(|| "-".into(), |pattern| format!("{pattern:?}"));
                let near = marked(&near);
                let _ =
                    writeln!(text, "xiangqi {}\n {} {expected}{near}", game.position(), game.notation(mate));
            }
            if game.act(action).is_err() {
                break;
            }
        }
    }
    println!("{count:?}");
    text
}

/// The last moves of a game in which one side plays any move.
fn lost_game(seed: u64, judge: &mut Judge) -> (AnyGame, Vec<Action>) {
    const LAST: usize = 16;
    let mut rng = Rng::new(seed);
    let start = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("a game");
    let loser = if rng.below(2) == 0 { engine::Side::First } else { engine::Side::Second };
    let (mut game, mut line) = (start.clone(), Vec::new());
    while game.outcome().is_none() && line.len() < 120 {
        let legal = game.legal_actions();
        let action = if game.turn() == loser && rng.below(3) > 0 {
            legal[rng.below(legal.len() as u32) as usize]
        } else {
            judge.judge(&game, 150).map_or(legal[0], |found| found.line[0])
        };
        game.act(action).expect("legal");
        line.push(action);
    }
    let begin = line.len().saturating_sub(LAST);
    let mut before = start;
    for &action in &line[..begin] {
        before.act(action).expect("legal");
    }
    (before, line[begin..].to_vec())
}

/// Whether the winner has the pieces of a pattern.
fn is_like(pattern: MatePattern, mated: &AnyGame) -> bool {
    let board = Board::of(mated);
    let red = mated.turn() == engine::Side::Second;
    let has = |letter: char| {
        let letter = if red { letter.to_ascii_uppercase() } else { letter };
        board.0.iter().flatten().filter(|cell| **cell == letter).count()
    };
    match pattern {
        MatePattern::CannonBehindHorse => has('c') > 0 && has('n') > 0,
        MatePattern::IronBolt => has('c') > 0 && has('r') > 0,
        MatePattern::WocaoHorse => has('n') > 0,
        MatePattern::AlternatingChariots => has('r') > 1,
    }
}
