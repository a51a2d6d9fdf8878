//! Every game to its end: against level 1, and by two people at one screen. The player knows no rule but what the screen shows: where a
//! touch may go, whose turn it is, what a hint says.

use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Page, PointView, Side, Task};
use slint::Model;

use crate::debts::DEBTS;
use crate::notes::Fault;
use crate::player::{Held, LYING, Player, UPRIGHT, take_the_chair};
use crate::seed;

/// The five games by the names of their tiles.
pub(crate) const GAMES: [&str; 5] = ["Gomoku", "Go", "Xiangqi", "Liuzhou", "Lights Out"];

/// Own moves after which a match is given up: a match of two who wander may last for hundreds.
const MOST: usize = 120;

/// Stones that are put in Go before the player passes.
const STONES: usize = 24;

impl Player<'_> {
    /// From home to the page for a new match of this game.
    pub(crate) fn new_game(&mut self, game: &str) {
        self.touch(game);
        self.until("what there is to choose", || {
            use qiyou::screens::NewGameAdapter;
            use slint::ComponentHandle;
            self.app.window().global::<NewGameAdapter<'_>>().get_options().row_count() > 0
        });
    }

    pub(crate) fn start(&mut self) {
        self.touch("Start");
        self.until("the board", || self.look().page == Page::Board);
        self.rest();
        self.check();
    }

    pub(crate) fn seen_points(&self) -> Vec<PointView> {
        self.board().get_points().iter().collect()
    }

    /// A finger on a point, and once more where a stone waits until it is meant.
    pub(crate) fn touch_point(&mut self, index: usize) {
        let sight = self.look();
        let point = sight.points().nth(index).cloned();
        let point = point.unwrap_or_else(|| panic!("no point {index}\n{}", sight.told()));
        self.tap(&point, &sight);
        self.rest();
        if self.board().get_waiting_point() >= 0 {
            let sight = self.look();
            let again = sight.points().nth(index).cloned().expect("it was there");
            self.tap(&again, &sight);
            self.rest();
        }
        // What is asked before it counts.
        if self.look().dialog == Dialog::Losing {
            let anyway = ["Play it anyway", "Play there anyway"].into_iter().find(|name| self.says(name));
            self.touch(anyway.expect("the question has an answer"));
        }
    }

    fn pick(&mut self, from: &[usize]) -> Option<usize> {
        (!from.is_empty()).then(|| from[self.rng.below(from.len() as u32) as usize])
    }

    /// The side whose turn it is, by whose card says so.
    fn mover(&self) -> Side {
        let (mine, theirs) = (self.board().get_mine(), self.board().get_theirs());
        if theirs.to_move { theirs.colour } else { mine.colour }
    }

    /// One move of whoever is to move here, anywhere that the screen allows. False where there was none.
    pub(crate) fn move_somewhere(&mut self) -> bool {
        let ply = self.board().get_ply();
        let points = self.seen_points();
        let all = |so: &dyn Fn(&PointView) -> bool| -> Vec<usize> {
            (0..points.len()).filter(|index| so(&points[*index])).collect()
        };
        match self.board().get_task() {
            Task::Place => {
                let mut empty = all(&|point| point.stone == 0 && !point.forbidden);
                // A point may be refused, as for a ko or for want of liberties.
                while let Some(at) = self.pick(&empty) {
                    self.touch_point(at);
                    if self.moved(ply) {
                        return true;
                    }
                    let refused = self.look();
                    if refused.title() != "Go" {
                        let name = points[at].name.clone();
                        self.note(Fault::Refused, format!("an empty point of {}: {name}", refused.title()));
                    }
                    empty.retain(|other| *other != at);
                }
                false
            }
            Task::Pick | Task::Aim => {
                let side = if self.mover() == Side::First { 1 } else { 2 };
                let mut own = all(&|point| point.stone == side);
                while let Some(from) = self.pick(&own) {
                    own.retain(|other| *other != from);
                    self.touch_point(from);
                    let picked = self.seen_points();
                    let takes: Vec<usize> = (0..picked.len()).filter(|at| picked[*at].target == 2).collect();
                    let goes: Vec<usize> = (0..picked.len()).filter(|at| picked[*at].target != 0).collect();
                    let to = self.pick(&takes).or_else(|| self.pick(&goes));
                    let Some(to) = to else { continue };
                    self.touch_point(to);
                    if self.moved(ply) {
                        return true;
                    }
                    let (one, other) = (picked[from].name.clone(), picked[to].name.clone());
                    let title = self.look().title();
                    self.note(Fault::Refused, format!("{title}: from {one} to {other}, which was marked"));
                }
                false
            }
            Task::Capture => {
                let taken = all(&|point| point.target != 0);
                let Some(at) = self.pick(&taken) else { return false };
                self.touch_point(at);
                self.moved(ply)
            }
            Task::MarkDead => {
                self.touch("Agree and count");
                self.moved(ply)
            }
            Task::Press => {
                let lamps = all(&|point| point.lamp != 0);
                let Some(at) = self.pick(&lamps) else { return false };
                self.touch_point(at);
                self.moved(ply)
            }
            Task::None => false,
        }
    }

    /// Whether an action more was made, or the match is over.
    fn moved(&self, ply: i32) -> bool {
        self.board().get_ply() > ply || self.board().get_over()
    }

    fn is_advised(&self) -> bool {
        self.board().get_arrow_from() >= 0 || self.board().get_points().iter().any(|point| point.hint)
    }

    /// A hint is asked for and followed. False where it had none.
    pub(crate) fn follow_a_hint(&mut self) -> bool {
        let Some(hint) = self.look().find("Hint").filter(|one| one.enabled).cloned() else { return false };
        let ply = self.board().get_ply();
        self.touch(&hint.name);
        self.until("a hint", || self.is_advised() || !self.board().get_hint_pending());
        self.rest();
        self.check();
        if !self.is_advised() {
            return false;
        }
        let (from, to) = (self.board().get_arrow_from(), self.board().get_arrow_to());
        let points = self.seen_points();
        let marked = points.iter().position(|point| point.hint);
        let told = self.board().get_advice().row_data(0).map(|advice| advice.line.to_string());
        let way: Vec<usize> = if from >= 0 && to >= 0 {
            vec![from as usize, to as usize]
        } else {
            marked.into_iter().collect()
        };
        // What is marked is what the card says.
        if let (Some(line), [at]) = (&told, way.as_slice()) {
            let first = line.split_whitespace().next().unwrap_or_default();
            if !first.is_empty() && !first.contains(points[*at].name.as_str()) {
                let name = &points[*at].name;
                self.note(Fault::OtherMove, format!("a hint marks {name} and says {line}"));
            }
        }
        for at in way {
            self.touch_point(at);
        }
        if !self.moved(ply) {
            let title = self.look().title();
            self.note(Fault::Refused, format!("{title}: a hint that was followed, {told:?}"));
        }
        true
    }

    /// The last move as the list of moves has it.
    fn last_in_the_list(&self) -> String {
        let record = self.board().get_record();
        let last = record.iter().last().unwrap_or_default();
        last.split_whitespace().last().unwrap_or_default().to_owned()
    }

    /// What the device says that it thought begins with what it has played.
    fn compare_thoughts(&mut self) {
        let thought = self.board().get_thought();
        if !thought.known || thought.on || self.board().get_theirs().to_move {
            return;
        }
        let (said, played) = (thought.line.to_string(), self.last_in_the_list());
        let first = said.split_whitespace().next().unwrap_or_default();
        if !played.is_empty() && first != played {
            let title = self.look().title();
            self.note(Fault::OtherMove, format!("{title}: it played {played} and shows {said}"));
        }
    }

    /// Plays whoever is here until the match is over. Own moves.
    pub(crate) fn play_to_the_end(&mut self, most: usize) -> usize {
        let mut made = 0;
        let go = self.look().title() == "Go";
        loop {
            self.until("the turn, or the end", || self.board().get_over() || self.board().get_live());
            if self.board().get_over() {
                return made;
            }
            self.compare_thoughts();
            if made >= most {
                self.touch("Resign");
                self.touch("Resign");
                self.until("the end", || self.board().get_over());
                return made;
            }
            let passes = go && made >= STONES && self.board().get_task() == Task::Place;
            if passes {
                self.touch("Pass");
                self.touch("Yes, pass");
            } else if made % 8 == 5 && self.board().get_task() != Task::MarkDead {
                if !self.follow_a_hint() && !self.move_somewhere() {
                    self.stuck();
                    return made;
                }
            } else if !self.move_somewhere() {
                self.stuck();
                return made;
            }
            made += 1;
        }
    }

    /// The opponent's level, in tenths.
    fn tenths(&self) -> i32 {
        (self.board().get_theirs().level * 10.0).round() as i32
    }

    fn stuck(&mut self) {
        let sight = self.look();
        self.note(Fault::Stuck, format!("no move in {}: {}", sight.title(), sight.told()));
    }
}

/// A match against level 1, with what it thinks shown, and then what can be done at its end.
fn against_level_1(game: &str, held: Held, usual: u64) {
    let _chair = take_the_chair();
    let began = std::time::Instant::now();
    let seed = seed::begin(game, usual);
    let stage = Stage::new();
    let mut player = Player::new(&stage, held, seed);
    player.new_game(game);
    while player.try_touch("Weaker") && !player.says("Level 1") {}
    assert!(player.says("Level 1"), "{}", player.look().told());
    player.start();
    assert_eq!(player.tenths(), 10);
    player.app.show_thought();
    let moves = player.play_to_the_end(MOST);
    player.rest();
    player.check();
    let ended = player.look();
    assert!(player.board().get_over() && moves > 0, "{moves} moves: {}", ended.told());
    println!("{game}: {moves} own moves, {} s: {}", began.elapsed().as_secs(), ended.told());
    // Through the match again, then home. After a loss the next step leads there.
    if !player.try_touch("Review") {
        player.touch("See where it turned");
    }
    player.until("the review", || player.look().page == Page::Replay);
    for step in ["To the beginning", "Next move", "Next move", "Previous move", "To the end"] {
        player.try_touch(step);
    }
    player.go_home();
    player.leave().settle(game, DEBTS);
}

/// Some moves against a level that looks ahead and reports more than once, with what it thinks shown.
fn against_level_5(game: &str, held: Held, usual: u64) {
    let _chair = take_the_chair();
    let seed = seed::begin(game, usual);
    let stage = Stage::new();
    let mut player = Player::new(&stage, held, seed);
    player.new_game(game);
    while !player.says("Level 5") && player.try_touch("Stronger") {}
    assert!(player.says("Level 5"), "{}", player.look().told());
    player.start();
    assert_eq!(player.tenths(), 50);
    player.app.show_thought();
    let moves = player.play_to_the_end(8);
    assert!(player.board().get_over() && moves > 0, "{moves} moves: {}", player.look().told());
    player.go_home();
    player.leave().settle(game, DEBTS);
}

/// Two people at one screen, who give it up after a while.
fn two_here(game: &str, held: Held, usual: u64) {
    let _chair = take_the_chair();
    let seed = seed::begin(game, usual);
    let stage = Stage::new();
    let mut player = Player::new(&stage, held, seed);
    player.new_game(game);
    player.touch("Same screen");
    player.start();
    let moves = player.play_to_the_end(40);
    player.rest();
    player.check();
    let ended = player.look();
    assert!(player.board().get_over() && moves > 0, "{moves} moves: {}", ended.told());
    println!("{game}: {moves} moves of two here: {}", ended.told());
    player.touch("Rematch");
    player.until("the next match", || !player.board().get_over());
    player.rest();
    player.check();
    player.go_home();
    player.leave().settle(game, DEBTS);
}

macro_rules! matches {
    ($($name:ident: $how:ident, $game:literal, $size:ident, $seed:literal;)*) => {
        $(#[test]
        #[ignore = "make play-through"]
        fn $name() {
            $how($game, Held { size: $size, chinese: false }, $seed);
        })*
    };
}
matches! {
    gomoku_is_played_to_its_end_against_level_1: against_level_1, "Gomoku", UPRIGHT, 1;
    go_is_played_to_its_end_against_level_1: against_level_1, "Go", LYING, 2;
    xiangqi_is_played_to_its_end_against_level_1: against_level_1, "Xiangqi", UPRIGHT, 3;
    liuzhou_chess_is_played_to_its_end_against_level_1: against_level_1, "Liuzhou", LYING, 4;
    gomoku_is_played_against_level_5: against_level_5, "Gomoku", LYING, 10;
    go_is_played_against_level_5: against_level_5, "Go", UPRIGHT, 11;
    xiangqi_is_played_against_level_5: against_level_5, "Xiangqi", LYING, 12;
    liuzhou_chess_is_played_against_level_5: against_level_5, "Liuzhou", UPRIGHT, 13;
    gomoku_is_played_by_two_here: two_here, "Gomoku", LYING, 5;
    go_is_played_by_two_here: two_here, "Go", UPRIGHT, 6;
    xiangqi_is_played_by_two_here: two_here, "Xiangqi", LYING, 7;
    liuzhou_chess_is_played_by_two_here: two_here, "Liuzhou", UPRIGHT, 8;
}

#[test]
#[ignore = "make play-through"]
fn lights_out_is_played_to_its_end_by_hints() {
    let _chair = take_the_chair();
    let stage = Stage::new();
    let mut player =
        Player::new(&stage, Held { size: UPRIGHT, chinese: false }, seed::begin("Lights Out", 9));
    player.new_game("Lights Out");
    player.start();
    for _ in 0..3 {
        player.move_somewhere();
    }
    let (mut presses, mut hints) = (0, 0);
    while !player.board().get_over() && presses < 60 {
        if player.follow_a_hint() {
            hints += 1;
        } else {
            player.move_somewhere();
        }
        presses += 1;
    }
    player.rest();
    player.check();
    assert!(player.board().get_over(), "{}", player.look().told());
    assert!(hints > 0 && hints * 2 > presses, "{hints} of {presses} presses follow a hint");
    player.touch("Another board");
    player.until("the next board", || !player.board().get_over());
    // Played out by the device, with a pause, and stopped.
    player.touch("More");
    player.touch("Show the solution");
    player.until("it plays", || player.board().get_solving());
    player.touch("Pause");
    player.touch("Go on");
    player.touch("Stop here");
    player.go_home();
    player.leave().settle("Lights Out", DEBTS);
}
