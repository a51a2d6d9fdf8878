//! A second, slow implementation of Liuzhou chess, written from the rule page: the reference for the engine's rules.
//!
//! It uses none of the engine's tables: the board is six rows of letters, formations are found by scanning it, and
//! every decision makes a new board. Letters: `b` and `w` live stones, `x` and `o` captured stones of Black and White.

#[path = "../../tests/src/seed.rs"]
mod seed;

use engine::liuzhou::{Blocked, ForcedRemoval, Liuzhou, LiuzhouSetup, Safety, SeveralFormations, StepBack};
use engine::{Game, Rng};

type Cell = (i32, i32);

#[derive(Clone)]
struct Slow {
    rules: LiuzhouSetup,
    board: [[char; 6]; 6],
    mover: char,
    /// p placing, f/F forced removal, m moving, k/K removal because of a block, `.` over.
    stage: char,
    due: usize,
    quiet: u32,
    total: u32,
    seen: Vec<String>,
    stepped: [Option<(Cell, Cell)>; 2],
}

fn foe(side: char) -> char {
    if side == 'b' { 'w' } else { 'b' }
}

fn inside((column, row): Cell) -> bool {
    (0..6).contains(&column) && (0..6).contains(&row)
}

fn cells() -> Vec<Cell> {
    (0..6).flat_map(|row| (0..6).map(move |column| (column, row))).collect()
}

/// All formations of the rule page with their number of captures, without those that capture nothing.
fn formations(rules: &LiuzhouSetup) -> Vec<(Vec<Cell>, usize)> {
    let mut list = Vec::new();
    for (column, row) in cells() {
        let square = vec![(column, row), (column + 1, row), (column, row + 1), (column + 1, row + 1)];
        if square.iter().all(|&cell| inside(cell)) {
            list.push((square, 1));
        }
    }
    for n in 0..6 {
        let worth = if n == 0 || n == 5 { rules.edge_six } else { rules.inner_six };
        list.push(((0..6).map(|m| (m, n)).collect(), worth.into()));
        list.push(((0..6).map(|m| (n, m)).collect(), worth.into()));
    }
    if rules.diagonals {
        for start in cells() {
            for rise in [1, -1] {
                // Only from a cell without a predecessor on its diagonal.
                if inside((start.0 - 1, start.1 - rise)) {
                    continue;
                }
                let line: Vec<Cell> = (0..6)
                    .map(|n| (start.0 + n, start.1 + n * rise))
                    .take_while(|&cell| inside(cell))
                    .collect();
                let worth = match line.len() {
                    6 => rules.inner_six.into(),
                    5 => 2,
                    3 | 4 => 1,
                    _ => 0,
                };
                list.push((line, worth));
            }
        }
    }
    list.retain(|(_, worth)| *worth > 0);
    list
}

impl Slow {
    fn read(rules: &LiuzhouSetup, line: &str) -> Self {
        let fields: Vec<&str> = line.split(' ').collect();
        let mut board = [['.'; 6]; 6];
        for (row, text) in fields[0].split('/').enumerate() {
            let mut column = 0;
            for c in text.chars() {
                if let Some(empty) = c.to_digit(10) {
                    column += empty as usize;
                } else {
                    board[5 - row][column] = c;
                    column += 1;
                }
            }
        }
        let mut slow = Self {
            rules: rules.clone(),
            board,
            mover: fields[1].parse().expect("a letter"),
            stage: fields[2].parse().expect("a letter"),
            due: fields[3].parse().expect("a number"),
            quiet: fields[4].parse().expect("a number"),
            total: fields[5].parse().expect("a number"),
            seen: Vec::new(),
            stepped: [None, None],
        };
        let cell = |text: &str| {
            let bytes = text.as_bytes();
            (i32::from(bytes[0] - b'a'), i32::from(bytes[1] - b'1'))
        };
        for (n, step) in fields[6..].iter().enumerate() {
            if *step != "-" {
                slow.stepped[n] = Some((cell(&step[..2]), cell(&step[2..])));
            }
        }
        if slow.stage == 'm' && slow.due == 0 {
            slow.turn_begins();
        }
        slow
    }

    fn write(&self) -> String {
        let rows: Vec<String> = (0..6)
            .rev()
            .map(|row| {
                let mut text = String::new();
                for c in self.board[row] {
                    match (c, text.chars().last().and_then(|last| last.to_digit(10))) {
                        ('.', Some(empty)) => {
                            text.pop();
                            text += &(empty + 1).to_string();
                        }
                        ('.', None) => text.push('1'),
                        (stone, _) => text.push(stone),
                    }
                }
                text
            })
            .collect();
        let mut line = format!(
            "{} {} {} {} {} {}",
            rows.join("/"),
            self.mover,
            self.stage,
            self.due,
            self.quiet,
            self.total
        );
        if self.rules.step_back == StepBack::NotAtOnce {
            let name = |(column, row): Cell| format!("{}{}", (b'a' + column as u8) as char, row + 1);
            for step in self.stepped {
                line += &step
                    .map_or_else(|| " -".to_owned(), |(from, to)| format!(" {}{}", name(from), name(to)));
            }
        }
        line
    }

    fn at(&self, (column, row): Cell) -> char {
        self.board[row as usize][column as usize]
    }

    fn put(&mut self, (column, row): Cell, c: char) {
        self.board[row as usize][column as usize] = c;
    }

    fn live(&self, side: char) -> Vec<Cell> {
        cells().into_iter().filter(|&cell| self.at(cell) == side).collect()
    }

    fn complete(&self, side: char) -> Vec<(Vec<Cell>, usize)> {
        let mut list = formations(&self.rules);
        list.retain(|(line, _)| line.iter().all(|&cell| self.at(cell) == side));
        list
    }

    fn targets(&self, side: char) -> Vec<Cell> {
        let all = self.live(foe(side));
        let standing = self.complete(foe(side));
        let free: Vec<Cell> = all
            .iter()
            .copied()
            .filter(|cell| !standing.iter().any(|(line, _)| line.contains(cell)))
            .collect();
        match self.rules.safety {
            Safety::Never => all,
            Safety::Always => free,
            Safety::UnlessNoOther if free.is_empty() => all,
            Safety::UnlessNoOther => free,
        }
    }

    fn claim(&self, side: char, cell: Cell) -> usize {
        let worths =
            self.complete(side).into_iter().filter(|(line, _)| line.contains(&cell)).map(|(_, worth)| worth);
        match self.rules.several {
            SeveralFormations::Sum => worths.sum(),
            SeveralFormations::Highest => worths.max().unwrap_or(0),
        }
    }

    fn steps(&self) -> Vec<(Cell, Cell)> {
        let mut list = Vec::new();
        for from in self.live(self.mover) {
            for to in [(from.0 - 1, from.1), (from.0 + 1, from.1), (from.0, from.1 - 1), (from.0, from.1 + 1)]
            {
                if inside(to) && self.at(to) == '.' {
                    list.push((from, to));
                }
            }
        }
        if self.rules.step_back == StepBack::NotAtOnce {
            let mine = self.stepped[usize::from(self.mover == 'w')];
            list.retain(|&(from, to)| {
                let mut after = self.clone();
                after.put(from, '.');
                after.put(to, self.mover);
                mine != Some((to, from)) || after.claim(self.mover, to) == 0
            });
        }
        list
    }

    fn too_few(&self, side: char) -> bool {
        self.live(side).len() <= self.rules.loses_at.into()
    }

    fn over_if_too_few(&mut self) -> bool {
        if self.too_few('b') || self.too_few('w') {
            self.stage = '.';
        }
        self.stage == '.'
    }

    /// All legal decisions.
    fn next(&self) -> Vec<Self> {
        let mut list = Vec::new();
        if self.stage == '.' {
        } else if self.due > 0 {
            for target in self.targets(self.mover) {
                let mut after = self.clone();
                after.due -= 1;
                if self.stage == 'p' {
                    after.put(target, if self.mover == 'b' { 'o' } else { 'x' });
                } else {
                    after.put(target, '.');
                    after.quiet = 0;
                    after.seen.clear();
                }
                if !("mkK".contains(self.stage) && after.over_if_too_few()) {
                    after.go_on();
                }
                list.push(after);
            }
        } else if self.stage == 'p' {
            for cell in cells().into_iter().filter(|&cell| self.at(cell) == '.') {
                let mut after = self.clone();
                after.put(cell, self.mover);
                after.due = after.claim(self.mover, cell);
                after.go_on();
                list.push(after);
            }
        } else {
            for (from, to) in self.steps() {
                let mut after = self.clone();
                after.put(from, '.');
                after.put(to, self.mover);
                after.quiet += 1;
                after.total += 1;
                after.stepped[usize::from(self.mover == 'w')] = Some((from, to));
                after.due = after.claim(self.mover, to);
                after.go_on();
                list.push(after);
            }
            if list.is_empty() {
                let mut after = self.clone();
                after.quiet += 1;
                after.total += 1;
                after.stepped[usize::from(self.mover == 'w')] = None;
                after.go_on();
                list.push(after);
            }
        }
        list
    }

    /// The state after a decision, where captures may remain to be chosen.
    fn go_on(&mut self) {
        if self.due > 0 && !self.targets(self.mover).is_empty() {
            return;
        }
        self.due = 0;
        match self.stage {
            'p' => {
                self.mover = foe(self.mover);
                if cells().into_iter().all(|cell| self.at(cell) != '.') {
                    self.all_placed();
                }
            }
            'f' => self.ask(foe(self.mover), 'F'),
            'F' => self.moving_begins(),
            'k' => self.ask(foe(self.mover), 'K'),
            _ => {
                self.mover = foe(self.mover);
                self.stage = 'm';
                self.turn_begins();
            }
        }
    }

    fn ask(&mut self, side: char, stage: char) {
        self.mover = side;
        self.stage = stage;
        self.due = 1;
        self.go_on();
    }

    fn all_placed(&mut self) {
        let marked: Vec<Cell> = cells().into_iter().filter(|&cell| "xo".contains(self.at(cell))).collect();
        if marked.is_empty() {
            match self.rules.forced_removal {
                ForcedRemoval::FirstThenSecond => self.ask('b', 'f'),
                ForcedRemoval::SecondThenFirst => self.ask('w', 'f'),
                ForcedRemoval::OnlySecond => self.ask('w', 'F'),
            }
        } else {
            for cell in marked {
                self.put(cell, '.');
            }
            self.moving_begins();
        }
    }

    fn moving_begins(&mut self) {
        self.mover = 'w';
        self.stage = 'm';
        if !self.over_if_too_few() {
            self.turn_begins();
        }
    }

    fn turn_begins(&mut self) {
        let stuck = self.steps().is_empty();
        if stuck && self.rules.blocked == Blocked::Loses {
            self.stage = '.';
            return;
        }
        let position = format!("{:?}{}", self.board, self.mover);
        self.seen.push(position.clone());
        let third = self.seen.iter().filter(|seen| **seen == position).count() >= 3;
        let long = self.rules.quiet_limit.is_some_and(|limit| self.quiet >= limit.into())
            || self.rules.total_limit.is_some_and(|limit| self.total >= limit.into());
        if third || long {
            self.stage = '.';
        } else if stuck && self.rules.blocked == Blocked::Removal {
            if !self.targets(self.mover).is_empty() {
                self.ask(self.mover, 'k');
            } else if !self.targets(foe(self.mover)).is_empty() {
                self.ask(foe(self.mover), 'K');
            }
        }
    }

    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 { 1 } else { self.next().iter().map(|after| after.perft(depth - 1)).sum() }
    }
}

fn perft(game: &Liuzhou, depth: u32) -> u64 {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    if depth <= 1 {
        return if depth == 0 { 1 } else { moves.len() as u64 };
    }
    moves
        .into_iter()
        .map(|mv| {
            let mut after = game.clone();
            after.play(mv);
            perft(&after, depth - 1)
        })
        .sum()
}

/// Name, rules, position, and the perft numbers of depths one to four, computed by the slow rules above.
const TABLE: &[(&str, &str, &str, [u64; 4])] = &[
    ("the empty board", "fengyang", "6/6/6/6/6/6 b p 0 0 0", [36, 1_260, 42_840, 1_413_720]),
    (
        "placing with marked stones",
        "fengyang",
        "wx1b1w/1bb1bw/1w1ww1/bb1b1o/w1w1bb/bw1w2 b p 0 0 0",
        [14, 179, 2_158, 23_868],
    ),
    (
        "the last points, stones marked",
        "fengyang",
        "bwbxb1/wbwbwb/bwbwbw/wbwbw1/bwbww1/obwbw1 b p 0 0 0",
        [4, 14, 33, 66],
    ),
    (
        "the last points, nothing marked",
        "fengyang diagonals=off",
        "bwbwb1/wbwbwb/bwbwbw/wbwbwb/bwbwbw/wbwbw1 b p 0 0 0",
        [2, 2, 36, 648],
    ),
    (
        "a blocked side in the corner",
        "fengyang loses-at=0",
        "wwb3/wwb3/bb4/5b/6/4b1 w m 0 0 0",
        [6, 24, 60, 694],
    ),
    (
        "three captures due, formations beside",
        "fengyang loses-at=0",
        "ww4/ww4/6/5w/bbbbbb/6 b m 3 0 0",
        [1, 4, 12, 56],
    ),
    (
        "close to sixty plies",
        "fengyang",
        "wwww2/1wbww1/w1w2w/6/b1w1b1/1bwb2 w m 0 57 64",
        [20, 215, 4_103, 2_986],
    ),
    (
        "the middle of moving",
        "fengyang",
        "b1bb1b/wbwwbw/wbww1w/bw2ww/1bbbbb/wbbbw1 b m 0 1 17",
        [12, 111, 1_230, 11_890],
    ),
    (
        "Shandong, close to 144 plies",
        "shandong",
        "1bbw1w/1b1wb1/bbw1w1/2www1/bbbbww/w1bbw1 b m 0 17 141",
        [13, 204, 2_531, 5_353],
    ),
    (
        "Huainan, two due",
        "huainan",
        "bwwb2/bbbw1b/bwwwww/1bb1ww/1bbbbw/bwb1ww w m 2 6 17",
        [11, 110, 1_270, 9_946],
    ),
    (
        "always safe, highest only",
        "fengyang several=highest edge-six=3 safe=always removal=only-second",
        "2w1wb/bbbbbw/www1w1/b1wbw1/bbb1b1/bwbbw1 b m 0 3 73",
        [12, 131, 1_659, 18_302],
    ),
    (
        "stepping back restricted, passes",
        "fengyang safe=never blocked=passes loses-at=0 quiet=off back=not-at-once",
        "bb2w1/ww2bb/1bbbww/wbw1bb/1w1w2/wbb1b1 w m 0 28 70 d3d4 d4e4",
        [15, 226, 2_948, 47_136],
    ),
];

fn rows() -> impl Iterator<Item = (&'static str, LiuzhouSetup, &'static str, [u64; 4])> {
    TABLE.iter().map(|&(name, rules, position, counts)| {
        (name, rules.parse().unwrap_or_else(|error| panic!("{name}: {error}")), position, counts)
    })
}

#[test]
fn the_engine_counts_as_many_ways_to_play_as_the_table_to_depth_four() {
    for (name, setup, position, counts) in rows() {
        let game = Liuzhou::from_position(&setup, position).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!([1, 2, 3, 4].map(|depth| perft(&game, depth)), counts, "{name}");
    }
}

fn slow_rules_count(depths: std::ops::RangeInclusive<u32>) {
    assert!(TABLE.len() >= 10);
    for (name, setup, position, counts) in rows() {
        let slow = Slow::read(&setup, position);
        for depth in depths.clone() {
            assert_eq!(slow.perft(depth), counts[depth as usize - 1], "{name}, depth {depth}");
        }
    }
}

#[test]
fn the_slow_rules_count_what_the_table_says_to_depth_three() {
    slow_rules_count(1..=3);
}

#[test]
#[ignore = "takes the slow rules five seconds: make night"]
fn the_slow_rules_count_what_the_table_says_at_depth_four() {
    slow_rules_count(4..=4);
}

/// Interacting rules: each setup differs from the default in several options.
const RULES: &[&str] = &[
    "fengyang",
    "shandong",
    "huainan",
    "fengyang several=highest edge-six=3 safe=always removal=only-second",
    "fengyang safe=never blocked=passes loses-at=0 quiet=off back=not-at-once",
    "shandong blocked=loses loses-at=2 total=off back=not-at-once",
    "huainan safe=always blocked=removal loses-at=0 quiet=100",
];

#[test]
fn whole_games_at_random_go_the_same_way_by_both() {
    let first = seed::begin("whole games", 0);
    for (n, rules) in RULES.iter().enumerate() {
        let setup: LiuzhouSetup = rules.parse().expect("the rules of this list are valid");
        for seed in first..first + 4 {
            let mut rng = Rng::new(1000 * n as u64 + seed);
            let mut game = Liuzhou::new(&setup).expect("the setup is valid");
            let mut slow = Slow::read(&setup, "6/6/6/6/6/6 b p 0 0 0");
            while game.ply() < 260 {
                let mut moves = Vec::new();
                game.legal_moves(&mut moves);
                let mut ways: Vec<(String, Liuzhou)> = moves
                    .into_iter()
                    .map(|mv| {
                        let mut after = game.clone();
                        after.play(mv);
                        (after.position(), after)
                    })
                    .collect();
                let mut slow_ways: Vec<(String, Slow)> =
                    slow.next().into_iter().map(|after| (after.write(), after)).collect();
                assert_eq!(ways.len(), slow_ways.len(), "{rules}: {}", game.position());
                if ways.is_empty() {
                    assert_eq!(slow.stage, '.');
                    break;
                }
                ways.sort_by(|a, b| a.0.cmp(&b.0));
                // The slow rules report the end where the engine has an outcome and keeps the phase.
                slow_ways.sort_by_key(|(_, after)| after.board);
                ways.sort_by_key(|(_, after)| board(after));
                for ((line, after), (slow_line, slow_after)) in ways.iter().zip(&slow_ways) {
                    if after.outcome().is_some() {
                        assert_eq!(slow_after.stage, '.', "{rules}: {line}");
                    } else {
                        assert_eq!(line, slow_line, "{rules}");
                    }
                }
                let chosen = rng.below(ways.len() as u32) as usize;
                game = ways.swap_remove(chosen).1;
                slow = slow_ways.swap_remove(chosen).1;
            }
        }
    }
}

fn board(game: &Liuzhou) -> [[char; 6]; 6] {
    Slow::read(&LiuzhouSetup { quiet_limit: None, ..Game::setup(game).clone() }, &game.position()).board
}
