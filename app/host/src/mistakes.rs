//! One's own mistakes: found by the analysis of a finished match, tried again as puzzles.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::puzzles::{Judged, Retry};
use engine::{Action, AnyGame, GameKind, Language, Level, Limits, Report, Side};
use proto::control::{self, Words};
use session::{MatchRecord, wire};

use crate::bots::BotMaker;
use crate::leitner::{Answered, Card, LEARNT};
use crate::room::Seat;
use crate::show;
use crate::store::{NewMistake, SavedMistake};

/// A move that an analysis found to be worse than another one.
#[derive(Clone)]
pub(crate) struct Found {
    /// Number of actions before it.
    pub(crate) ply: u32,
    pub(crate) side: Side,
    pub(crate) played: Action,
    pub(crate) better: Action,
    /// As in [`engine::puzzles::Mistake`].
    pub(crate) chance: i32,
    pub(crate) lost: i32,
    pub(crate) why: Option<Words>,
}

/// A mistake lost at least this much, of 2,000 between a sure win and a sure loss. Clients show the same moves as turning points.
const LEAST_LOST: i32 = 350;
/// Maximum number of mistakes of one match that are kept: those that lost most.
const MOST_OF_A_MATCH: usize = 6;

/// The mistakes to keep of a match, in the order of play, with the numbers of actions before them. Those of the only person here, in
/// a match that is over.
pub(crate) fn to_keep(record: &MatchRecord, seats: &[Seat; 2], found: &[Found]) -> Vec<(u32, NewMistake)> {
    let mine = match seats {
        [Seat::Here, Seat::Here] => return Vec::new(),
        [Seat::Here, _] => Side::First,
        [_, Seat::Here] => Side::Second,
        _ => return Vec::new(),
    };
    if record.result.is_none() {
        return Vec::new();
    }
    let is_meant = |one: &&Found| {
        one.side == mine
            && one.lost >= LEAST_LOST
            && one.played != one.better
            && [one.played, one.better].iter().all(|action| is_on_board(*action))
            && record.actions.get(one.ply as usize) == Some(&one.played)
    };
    let mut meant: Vec<&Found> = found.iter().filter(is_meant).collect();
    meant.sort_by_key(|one| (-one.lost, one.ply));
    meant.truncate(MOST_OF_A_MATCH);
    meant.sort_by_key(|one| one.ply);
    let keep = |one: &Found| {
        let mut before = MatchRecord::new(record.id, record.setup.clone(), mine);
        before.actions = record.actions[..one.ply as usize].to_vec();
        let new = NewMistake {
            id: format!("{YOURS}{:016x}", before.digest()),
            match_id: record.id,
            setup: record.setup.clone(),
            actions: before.actions,
            played: one.played,
            better: one.better,
            chance: one.chance,
            lost: one.lost,
            why: one.why.clone(),
        };
        (one.ply, new)
    };
    meant.into_iter().map(keep).collect()
}

/// Prefix of the ids of mistakes, which no puzzle's has.
pub(crate) const YOURS: &str = "yours-";

fn is_on_board(action: Action) -> bool {
    matches!(action, Action::Place(_) | Action::Step { .. } | Action::Capture(_))
}

/// An attempt at a mistake.
#[derive(Clone)]
pub(crate) struct Again {
    pub(crate) saved: SavedMistake,
    pub(crate) retry: Retry,
    /// Whether its answer has been kept: one for each time that it is opened.
    pub(crate) answered: bool,
}

/// Search time for a move that is tried: twice that for a position of an analysis, because somebody waits for one alone.
const TRIED_TIME: Duration = Duration::from_millis(500);

impl Again {
    pub(crate) fn new(saved: SavedMistake) -> Self {
        Self { retry: Retry::new(saved.mistake.clone()), saved, answered: false }
    }

    /// Makes a move. Searches, if it is none of those that are known. `None` if the rules do not allow it.
    pub(crate) fn act(&mut self, action: Action, search: &Search) -> Option<()> {
        self.retry.act(action, |game| search.judge(game)).ok().map(drop)
    }

    /// How it was answered, once that can be said: `helped` is whether a hint was given.
    pub(crate) fn answer(&self, helped: bool) -> Option<Answered> {
        let is_known = self.retry.end()? && !helped;
        Some(if is_known { Answered::Known } else { Answered::Missed })
    }

    /// What is so, as a sentence. `judging`: the last move is being judged.
    pub(crate) fn said(&self, judging: bool, helped: bool) -> Words {
        let mistake = self.retry.mistake();
        let spoken = |action| Language::ALL.map(|language| mistake.spoken(action, language));
        let with_why = |zh: String, en: String| match &self.saved.why {
            // A sentence that would not fit into a message is left out.
            Some(why) if zh.len() + why.zh.len() < MOST_BYTES && en.len() + why.en.len() < MOST_BYTES => {
                Words { zh: zh + &why.zh, en: format!("{en} {}", why.en) }
            }
            _ => Words { zh, en },
        };
        let tried = self.retry.line().first().copied();
        match (self.retry.end(), tried) {
            _ if judging => words("正在看这步棋……", "Checking this move…"),
            (Some(true), Some(tried)) if tried != mistake.better => {
                let [zh, en] = spoken(mistake.better);
                words(
                    &format!("这步也行。电脑会走 {zh}。"),
                    &format!("That works too. The computer would play {en}."),
                )
            }
            (Some(true), _) if helped => words("有提示，找到了。", "Found with a hint."),
            (Some(true), _) => with_why("找到了！".into(), "Found it!".into()),
            (Some(false), Some(tried)) if tried == mistake.played => {
                with_why("这正是当时走的那步。".into(), "That is what you played in the game.".into())
            }
            (Some(false), _) => match self.reply() {
                Some([zh, en]) => words(
                    &format!("这样不够好：对方应 {zh}。悔一步再试。"),
                    &format!("Not good enough: {en} answers it. Undo and try again."),
                ),
                None => words("这样不够好。悔一步再试。", "Not good enough. Undo and try again."),
            },
            _ => words(&mistake.words(Language::Chinese), &mistake.words(Language::English)),
        }
    }

    /// The reply by which a try fails, as players write it.
    fn reply(&self) -> Option<[String; 2]> {
        let [tried, reply] = self.retry.line() else { return None };
        let mut game = self.retry.mistake().before.clone();
        game.act(*tried).ok()?;
        Some(game.spoken(*reply).unwrap_or_else(|| {
            let plain = game.notation(*reply);
            [plain.clone(), plain]
        }))
    }
}

/// Bytes of a sentence in a message.
const MOST_BYTES: usize = proto::limits::CLIENT_ID_BYTES;

fn words(zh: &str, en: &str) -> Words {
    Words { zh: zh.into(), en: en.into() }
}

/// What judges moves that are tried.
pub(crate) struct Search {
    pub(crate) maker: BotMaker,
    pub(crate) seed: u64,
    /// Maximum time of a bot in this host.
    pub(crate) bot_time: Duration,
}

impl Search {
    fn judge(&self, game: &AnyGame) -> Option<Judged> {
        let mut bot = (self.maker)(game.kind(), Level::MAX, self.seed);
        let (began, stop) = (Instant::now(), AtomicBool::new(false));
        let elapsed = || began.elapsed();
        let time = Some(TRIED_TIME.min(self.bot_time));
        let report =
            bot.judge(game, &Limits { time, nodes: None, depth: None, stop: &stop, elapsed: &elapsed })?;
        Some(judged(game.kind(), &report))
    }
}

fn judged(kind: GameKind, report: &Report) -> Judged {
    Judged { chance: show::chances(kind, report.score), best: report.line.first().copied() }
}

/// A mistake as a row of a list, or beside its board.
pub(crate) fn shown(saved: &SavedMistake, today: u32, with_board: bool) -> control::Puzzle {
    let SavedMistake { id, mistake, card, .. } = saved;
    control::Puzzle {
        id: id.clone(),
        game: i32::from(mistake.before.kind() as u8),
        moves: 1,
        goal: Some(words(&mistake.words(Language::Chinese), &mistake.words(Language::English))),
        solved: card.is_learnt(),
        board: with_board.then(|| show::board(&mistake.before, true)),
        mistake: Some(shown_card(*card, today)),
        ..control::Puzzle::default()
    }
}

fn shown_card(card: Card, today: u32) -> control::Mistake {
    control::Mistake {
        r#box: card.level.min(LEARNT - 1).into(),
        boxes: (LEARNT - 1).into(),
        learnt: card.is_learnt(),
        due_in_days: card.due_in(today).unwrap_or(0),
    }
}

/// A mistake, from the report about the position before it. `chance` and `after`: the values of that position and of the one after it,
/// for the side that made it.
pub(crate) fn found(
    before: &AnyGame,
    ply: u32,
    played: Action,
    report: &Report,
    [chance, after]: [i32; 2],
    why: Option<Words>,
) -> Option<Found> {
    let better = report.line.first().copied()?;
    Some(Found { ply, side: before.turn(), played, better, chance, lost: chance - after, why })
}

/// Marks of the points where a hint says that the move is.
pub(crate) fn near(points: &[engine::Point]) -> impl Iterator<Item = control::Mark> + '_ {
    points.iter().map(|at| control::Mark {
        at: wire::point(*at),
        kind: control::MarkKind::MarkNear.into(),
        ..control::Mark::default()
    })
}

#[cfg(test)]
mod tests {
    use engine::Point;
    use session::{MatchId, MatchResult};

    use super::*;

    fn place(column: u16) -> Action {
        Action::Place(Point::new(column, 3))
    }

    fn record() -> MatchRecord {
        let mut record = MatchRecord::new(MatchId([1; 16]), GameKind::Gomoku.default_setup(), Side::First);
        record.actions = (0..14).map(place).collect();
        record.result = Some(MatchResult::Resigned(Side::First));
        record
    }

    /// A mistake at this ply that lost so much.
    fn at(ply: u32, lost: i32) -> Found {
        let side = if ply.is_multiple_of(2) { Side::First } else { Side::Second };
        let better = Action::Place(Point::new(9, 9));
        Found { ply, side, played: place(ply as u16), better, chance: 500, lost, why: None }
    }

    fn kept(record: &MatchRecord, seats: &[Seat; 2], found: &[Found]) -> Vec<u32> {
        to_keep(record, seats, found).into_iter().map(|(ply, _)| ply).collect()
    }

    const AGAINST_BOT: [Seat; 2] = [Seat::Here, Seat::Bot(Level::MIN)];

    #[test]
    fn the_largest_mistakes_of_the_person_here_are_kept_in_the_order_of_play() {
        let found: Vec<Found> =
            [(0, 400), (1, 900), (2, 349), (4, 350), (6, 500), (8, 600), (10, 700), (12, 800)]
                .map(|(ply, lost)| at(ply, lost))
                .into();
        assert_eq!(kept(&record(), &AGAINST_BOT, &found), [0, 4, 6, 8, 10, 12]);
        let mut more = found.clone();
        more[2].lost = 360;
        assert_eq!(kept(&record(), &AGAINST_BOT, &more), [0, 2, 6, 8, 10, 12], "the six largest");
        let other = [AGAINST_BOT[1].clone(), Seat::Here];
        assert_eq!(kept(&record(), &other, &found), [1]);
    }

    #[test]
    fn nothing_is_kept_of_two_people_here_of_a_match_that_goes_on_or_of_what_is_no_point() {
        let found = [at(0, 900)];
        assert_eq!(kept(&record(), &Seat::BOTH_HERE, &found), [0_u32; 0]);
        let going_on = MatchRecord { result: None, ..record() };
        assert_eq!(kept(&going_on, &AGAINST_BOT, &found), [0_u32; 0]);
        let pass = Found { better: Action::Pass, ..at(0, 900) };
        let same = Found { better: place(0), ..at(0, 900) };
        let changed = Found { played: place(5), ..at(0, 900) };
        assert_eq!(kept(&record(), &AGAINST_BOT, &[pass, same, changed]), [0_u32; 0]);
    }

    #[test]
    fn the_same_mistake_in_two_matches_has_one_id_and_another_position_another() {
        let id = |record: &MatchRecord, ply| to_keep(record, &AGAINST_BOT, &[at(ply, 900)])[0].1.id.clone();
        let other = MatchRecord { id: MatchId([2; 16]), ..record() };
        assert_eq!(id(&record(), 4), id(&other, 4));
        assert_ne!(id(&record(), 4), id(&record(), 6));
    }
}
