//! Every page and every button of every page: a search from home over all that can be touched.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use i_slint_backend_testing::AccessibleRole;
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Page};

use crate::debts::DEBTS;
use crate::eyes::{Sight, Thing};
use crate::notes::{Fault, Notes};
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};

/// Of the points of a board and of the rows of a list, so many are touched on each page.
const ALIKE: usize = 2;

/// Where the player is: the page, the dialog, their title, and what is going on at a board.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place(String);

impl Place {
    fn of(player: &Player<'_>, sight: &Sight) -> Self {
        let board = player.board();
        let goes = if sight.page == Page::Board {
            format!(
                " over {} puzzle {} tried {} solving {} paused {} waiting {}",
                board.get_over(),
                board.get_puzzle(),
                board.get_analysing(),
                board.get_solving(),
                board.get_paused(),
                board.get_waiting_point() >= 0,
            )
        } else {
            String::new()
        };
        Self(format!("{:?} {:?} {}{goes}", sight.page, sight.dialog, sight.title()))
    }
}

/// How a control is found again: by its role and its name without numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(String, String);

impl Mark {
    fn of(thing: &Thing) -> Self {
        Self(format!("{:?}", thing.role), thing.plain())
    }

    fn is(&self, thing: &Thing) -> bool {
        *self == Self::of(thing)
    }
}

/// How a place is found again from home: as a person would go there; or, where that was only possible after something had been
/// done, with what was touched before at the last place.
#[derive(Clone, Debug, Default)]
struct Way {
    short: Vec<Mark>,
    long: Vec<Mark>,
}

impl Way {
    fn and(&self, since: &[Mark], mark: Mark) -> Self {
        let step = std::slice::from_ref(&mark);
        Self { short: [&self.short, step].concat(), long: [&self.short, since, step].concat() }
    }
}

/// What is among many of its kind: of these a few are touched.
fn is_alike(thing: &Thing) -> bool {
    thing.is_point() || ["PuzzleCard", "RecordCard", "UnfinishedCard"].contains(&thing.kind.as_str())
}

/// Games that are there from the beginning: one is over, another goes on.
const KEPT: [(&str, &str); 3] = [
    (
        "an end.sgf",
        "(;FF[4]GM[4]SZ[15]PB[Ann]PW[Ben]DT[2026-11-24];B[hh];W[ii];B[hi];W[ij];B[hj];W[ik];B[hk];W[il];B[hl])",
    ),
    ("a game.pgn", "[Game \"Chinese Chess\"]\n\n1. h2e2 h9g7 2. h0g2 i9h9 *\n"),
    ("three stones.sgf", "(;FF[4]GM[1]SZ[9];B[ee];W[cc];B[gg])"),
];

struct Search<'a> {
    stage: &'a Stage,
    held: Held,
    player: Player<'a>,
    /// What is noticed by players who have left.
    notes: Notes,
    measured: usize,
    touches: usize,
    seed: u64,
    begun: u64,
    /// What was touched since the last walk from home without leaving the place.
    since: Vec<Mark>,
    /// With QIYOU_TRACE set, every touch is printed.
    trace: bool,
}

impl<'a> Search<'a> {
    fn new(stage: &'a Stage, held: Held, seed: u64) -> Self {
        let player = furnished(stage, held, seed);
        Self {
            stage,
            held,
            player,
            notes: Notes::default(),
            measured: 0,
            touches: 0,
            seed,
            begun: 1,
            since: Vec::new(),
            trace: std::env::var_os("QIYOU_TRACE").is_some(),
        }
    }

    /// Another app with what was there at first.
    fn begin_again(&mut self) {
        self.begun += 1;
        let next = furnished(self.stage, self.held, self.seed + self.begun);
        let before = std::mem::replace(&mut self.player, next);
        self.measured += before.measured;
        self.touches += before.touches;
        self.notes.join(before.leave());
    }

    fn here(&self) -> Place {
        Place::of(&self.player, &self.player.look())
    }

    /// From home along these controls. False where one of them is not there any more.
    fn walk(&mut self, way: &[Mark]) -> bool {
        self.since.clear();
        if !self.player.go_home() {
            return false;
        }
        self.player.app.prefer(self.held.preferences());
        self.player.rest();
        for mark in way {
            let Some((thing, sight)) = self.player.bring(|one| mark.is(one) && one.enabled) else {
                return false;
            };
            self.player.tap(&thing, &sight);
            self.player.rest();
        }
        true
    }

    fn go(&mut self, place: &Place, way: &mut Way) -> bool {
        if self.here() == *place || (self.walk(&way.short) && self.here() == *place) {
            return true;
        }
        self.begin_again();
        if self.walk(&way.short) && self.here() == *place {
            return true;
        }
        way.short.clone_from(&way.long);
        self.walk(&way.long) && self.here() == *place
    }

    /// Everything that can be touched here, also what is scrolled out of sight.
    fn all(&mut self) -> Vec<(Mark, bool)> {
        let mut marks = Vec::new();
        let mut alike: BTreeMap<String, usize> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut take = |sight: &Sight| {
            for one in sight.controls() {
                let mark = Mark::of(one);
                if !seen.insert((mark.clone(), one.enabled)) {
                    continue;
                }
                if is_alike(one) {
                    let count = alike.entry(one.kind.clone()).or_default();
                    *count += 1;
                    if *count > ALIKE {
                        continue;
                    }
                }
                marks.push((mark, one.enabled));
            }
        };
        let sight = self.player.look();
        take(&sight);
        for index in 0..sight.scrolls.len() {
            let mut pushed = 0;
            while pushed < 12 && self.player.scroll(self.player.look().scrolls[index], 1.0) {
                pushed += 1;
                self.player.check();
                take(&self.player.look());
            }
            for _ in 0..pushed {
                self.player.scroll(self.player.look().scrolls[index], -1.0);
            }
        }
        marks
    }

    /// Touches everything that can be come to. Pages and dialogs that were seen, and how many controls were touched on each place.
    fn everywhere(&mut self) -> BTreeMap<Place, usize> {
        let mut found: BTreeMap<Place, usize> = BTreeMap::new();
        let mut next: VecDeque<(Place, Way)> = VecDeque::new();
        let home = self.here();
        found.insert(home.clone(), 0);
        next.push_back((home, Way::default()));
        while let Some((place, mut way)) = next.pop_front() {
            if !self.go(&place, &mut way) {
                self.notes.take(Fault::NoWayBack, format!("{place:?} was not found again by {way:?}"));
                continue;
            }
            self.player.check();
            self.player.check_large();
            let mut marks: VecDeque<(Mark, bool)> = self.all().into();
            // What can't be touched yet may be touched when something has happened.
            let touchable = marks.iter().filter(|(_, enabled)| *enabled);
            let mut known: BTreeSet<Mark> = touchable.map(|(mark, _)| mark.clone()).collect();
            while let Some((mark, enabled)) = marks.pop_front() {
                if !enabled {
                    continue;
                }
                if !self.go(&place, &mut way) {
                    self.notes.take(Fault::NoWayBack, format!("{place:?} was not found again by {way:?}"));
                    break;
                }
                // What was there may be used up, or wait for what has happened since.
                let Some((thing, sight)) = self.player.bring(|one| mark.is(one) && one.enabled) else {
                    continue;
                };
                self.player.touch_and_see(&thing, &sight);
                if self.trace {
                    println!("{place:?}: {} {:?}, then {:?}", thing.name, thing.role, self.here());
                }
                *found.get_mut(&place).expect("it is searched") += 1;
                if thing.role == AccessibleRole::RadioButton || thing.role == AccessibleRole::Switch {
                    self.player.app.prefer(self.held.preferences());
                    self.player.rest();
                }
                let now = self.here();
                if now == place {
                    self.since.push(mark);
                    // What a touch brings is touched as well. Folders lead anywhere.
                    let sight = self.player.look();
                    if sight.dialog != Dialog::Files {
                        for one in sight.controls().filter(|one| one.enabled && !is_alike(one)) {
                            if known.insert(Mark::of(one)) {
                                marks.push_front((Mark::of(one), true));
                            }
                        }
                    }
                } else {
                    if !found.contains_key(&now) {
                        found.insert(now.clone(), 0);
                        next.push_back((now, way.and(&self.since, mark)));
                    }
                    self.player.back();
                }
            }
        }
        found
    }
}

/// An app with some games kept, the way that they come to be there.
fn furnished(stage: &Stage, held: Held, seed: u64) -> Player<'_> {
    let player = Player::new(stage, held, seed);
    std::fs::create_dir_all(player.files()).expect("a folder of our own");
    for (name, content) in KEPT {
        let path = player.files().join(name);
        std::fs::write(&path, content).expect("a folder of our own");
        player.app.look_at_file(&path);
        player.until("the game is looked through", || player.look().page == Page::Replay);
        player.rest();
        player.app.go(Page::Home);
        player.rest();
    }
    player
}

/// Pages that are reached without anybody else.
const PAGES: [Page; 15] = [
    Page::Home,
    Page::NewGame,
    Page::Nearby,
    Page::Board,
    Page::Settings,
    Page::Records,
    Page::Replay,
    Page::Editor,
    Page::Friends,
    Page::Lesson,
    Page::Puzzles,
    Page::Manual,
    Page::Chapter,
    Page::Position,
    Page::Club,
];

/// Dialogs that open without anybody else. Those of an evening that has players are in `evening`; a host of these tests has no guests.
const DIALOGS: [Dialog; 28] = [
    Dialog::ConfirmResign,
    Dialog::ConfirmNewGame,
    Dialog::ConfirmChoice,
    Dialog::Rules,
    Dialog::More,
    Dialog::PickGame,
    Dialog::PickOutcome,
    Dialog::Files,
    Dialog::PlayOn,
    Dialog::ConfirmDiscard,
    Dialog::Comment,
    Dialog::RemoveLine,
    Dialog::Licences,
    Dialog::MyCode,
    Dialog::AddFriend,
    Dialog::Pace,
    Dialog::UsualPace,
    Dialog::OwnPace,
    Dialog::UsualOwnPace,
    Dialog::Give,
    Dialog::SaveAll,
    Dialog::PickLesson,
    Dialog::Privacy,
    Dialog::Doctor,
    Dialog::FieldTest,
    Dialog::None,
    Dialog::ClubAdd,
    Dialog::ClubDiscard,
];

fn everywhere(held: Held) {
    let _chair = take_the_chair();
    let stage = Stage::new();
    let began = std::time::Instant::now();
    let mut search = Search::new(&stage, held, 24);
    let found = search.everywhere();
    let Search { player, mut notes, measured, touches, begun, .. } = search;
    let (touches, measured) = (touches + player.touches, measured + player.measured);
    notes.join(player.leave());
    for (Place(place), controls) in &found {
        println!("{controls:4}  {place}");
    }
    println!(
        "{held:?}: {} places, {touches} touches, {measured} measured, {begun} apps, {} s",
        found.len(),
        began.elapsed().as_secs()
    );
    let reached = |words: &str| found.keys().any(|Place(place)| place.contains(words));
    let mut missed: Vec<String> =
        PAGES.iter().map(|page| format!("{page:?} ")).filter(|page| !reached(page)).collect();
    missed.extend(DIALOGS.iter().map(|dialog| format!(" {dialog:?} ")).filter(|dialog| !reached(dialog)));
    notes.settle(&format!("{held:?}"), DEBTS);
    assert!(missed.is_empty(), "not reached: {missed:?}");
}

#[test]
#[ignore = "make play-through"]
fn every_page_and_every_button_is_reached_in_english_upright() {
    everywhere(Held { size: UPRIGHT, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_page_and_every_button_is_reached_in_english_lying() {
    everywhere(Held { size: LYING, chinese: false });
}

#[test]
#[ignore = "make play-through"]
fn every_page_and_every_button_is_reached_in_chinese_upright() {
    everywhere(Held { size: UPRIGHT, chinese: true });
}

#[test]
#[ignore = "make play-through"]
fn every_page_and_every_button_is_reached_in_chinese_lying() {
    everywhere(Held { size: LYING, chinese: true });
}
