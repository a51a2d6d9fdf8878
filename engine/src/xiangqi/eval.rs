//! Judgement of a position by what can be counted on it.
//!
//! Everything that counts is a *term* with two weights, for a full board and for an empty one; between them the judgement
//! slides with the attacking pieces left. [`each_term`] says which terms a position has: the search sums their weights, and
//! `fit` learns the weights from games by the very same list.

use super::attacks::{
    self, ADVISER, ELEPHANT, FILE, GENERAL, HORSE, PALACES, RANK, SOLDIER, Set, bit, squares,
};
use super::board::{Board, FILES, Kind, RANKS, SQUARES};
use super::weights::WEIGHTS;
use crate::Side;

/// Terms of a piece on a square, left and right alike: seven kinds by ten ranks by five files.
pub(super) const PLACES: usize = 0;
const FILES_ALIKE: usize = FILES / 2 + 1;
const PLACES_OF_KIND: usize = RANKS * FILES_ALIKE;
/// Squares that a chariot, a cannon (without taking), a horse can go to.
pub(super) const CHARIOT_REACH: usize = PLACES + 7 * PLACES_OF_KIND;
pub(super) const CANNON_REACH: usize = CHARIOT_REACH + 18;
pub(super) const HORSE_REACH: usize = CANNON_REACH + 18;
/// Own advisers (then elephants) left against enemy chariots (then horses, cannons): three by three each.
pub(super) const GUARDS: usize = HORSE_REACH + 9;
/// Own chariots, horses and cannons left, three by three by three.
pub(super) const ARMY: usize = GUARDS + 2 * 3 * 9;
/// Own soldiers left.
pub(super) const SOLDIERS: usize = ARMY + 27;
/// Squares of the enemy palace that soldiers, horses, chariots attack.
pub(super) const PALACE: usize = SOLDIERS + 6;
/// An enemy cannon on the general's file with nothing, two, three pieces between; on his rank with nothing, two.
pub(super) const CANNON_LINE: usize = PALACE + 3;
/// An enemy chariot on the general's file with one, two pieces between.
pub(super) const CHARIOT_LINE: usize = CANNON_LINE + 5;
/// Two own soldiers across the river side by side.
pub(super) const LINKED: usize = CHARIOT_LINE + 2;
/// A piece attacked: by whether the attacker is to move, who attacks ([`Arm`]), what, and whether it is protected.
pub(super) const ATTACKED: usize = LINKED + 1;
/// To be the side to move.
pub(super) const TEMPO: usize = ATTACKED + 2 * 5 * 6 * 2;
/// How many there are.
pub(super) const TERMS: usize = TEMPO + 1;

/// Who attacks.
#[derive(Clone, Copy)]
enum Arm {
    Soldier,
    Horse,
    Cannon,
    Chariot,
    Guard,
}

/// Both weights in one number, so that they are added at once: the full board's above bit 16, the empty board's below.
pub(super) type Pair = i32;

pub(super) const fn pair([full, empty]: [i16; 2]) -> Pair {
    ((full as i32) << 16) + empty as i32
}

/// The weights of both boards.
const fn parts(pair: Pair) -> (i32, i32) {
    ((pair + 0x8000) >> 16, pair as i16 as i32)
}

static PAIRS: [Pair; TERMS] = {
    let mut pairs = [0; TERMS];
    let mut n = 0;
    while n < TERMS {
        pairs[n] = pair(WEIGHTS[n]);
        n += 1;
    }
    pairs
};

/// What a piece on its square is worth to Red: kept up to date by the search's position move by move.
static PLACE_PAIRS: [[[Pair; SQUARES]; 7]; 2] = {
    let mut table = [[[0; SQUARES]; 7]; 2];
    let mut kind = 0;
    while kind < 7 {
        let mut square = 0;
        while square < SQUARES {
            let pair = pair(WEIGHTS[place(Side::First, kind, square)]);
            table[0][kind][square] = pair;
            table[1][kind][(RANKS - 1 - square / FILES) * FILES + square % FILES] = -pair;
            square += 1;
        }
        kind += 1;
    }
    table
};

/// The term of a piece on a square.
const fn place(side: Side, kind: usize, square: usize) -> usize {
    let (file, rank) = (square % FILES, square / FILES);
    let rank = if matches!(side, Side::First) { rank } else { RANKS - 1 - rank };
    let file = if file < FILES_ALIKE { file } else { FILES - 1 - file };
    PLACES + kind * PLACES_OF_KIND + rank * FILES_ALIKE + file
}

/// What a piece on its square adds to the judgement for Red.
pub(super) fn place_pair(side: Side, kind: Kind, square: u8) -> Pair {
    PLACE_PAIRS[side.index()][kind as usize][usize::from(square)]
}

/// What a piece counts towards a full board.
pub(super) const fn phase_of(kind: Kind) -> i32 {
    match kind {
        Kind::Chariot => 4,
        Kind::Horse | Kind::Cannon => 2,
        _ => 0,
    }
}

/// The full board.
pub(super) const PHASE_MAX: i32 = 32;

/// The sum of [`place_pair`] and of [`phase_of`] over the board.
pub(super) fn count_places(board: &Board) -> (Pair, i32) {
    let (mut sum, mut phase) = (0, 0);
    for side in Side::BOTH {
        for kind in Kind::ALL {
            for square in squares(board.pieces(side, kind)) {
                sum += place_pair(side, kind, square);
                phase += phase_of(kind);
            }
        }
    }
    (sum, phase)
}

/// What the numbers of pieces add to the judgement for Red: it changes with captures only.
pub(super) fn count_pair(board: &Board) -> Pair {
    let mut sum = 0;
    each_count_term(board, |term, count| sum += PAIRS[term] * count);
    sum
}

/// The judgement for the side to move, from what the position keeps up to date (the sums of [`count_places`] and
/// [`count_pair`], and the phase) and from the rest of the terms.
pub(super) fn evaluate(board: &Board, kept: Pair, phase: i32) -> i32 {
    #[cfg(target_arch = "x86_64")]
    #[allow(
        unsafe_code,
        reason = "a quarter of the judgement's time was counting bits without the instruction"
    )]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { evaluate_by_popcnt(board, kept, phase) };
    }
    evaluate_anywhere(board, kept, phase)
}

/// [`evaluate`] where the processor counts bits: every x86-64 since 2009, but compilers may not take it for granted.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn evaluate_by_popcnt(board: &Board, kept: Pair, phase: i32) -> i32 {
    evaluate_anywhere(board, kept, phase)
}

#[allow(
    clippy::inline_always,
    reason = "compiled once for each kind of processor, and only where it is inlined"
)]
#[inline(always)]
fn evaluate_anywhere(board: &Board, kept: Pair, phase: i32) -> i32 {
    let mut sum = kept;
    each_moving_term(board, |term, count| sum += PAIRS[term] * count);
    let (full, empty) = parts(sum);
    let value = blend(full, empty, phase);
    let value = value * scale(board, if value > 0 { Side::First } else { Side::Second }) / SCALE_FULL;
    if board.turn() == Side::First { value } else { -value }
}

/// Between the two boards.
const fn blend(full: i32, empty: i32, phase: i32) -> i32 {
    let phase = if phase > PHASE_MAX { PHASE_MAX } else { phase };
    (full * phase + empty * (PHASE_MAX - phase)) / PHASE_MAX
}

pub(super) const SCALE_FULL: i32 = 64;

/// How much of its advantage a side can hope to turn into a win, in parts of [`SCALE_FULL`]: nothing without a piece that
/// crosses the river, little with a single horse or cannon against two guards or more.
pub(super) fn scale(board: &Board, strong: Side) -> i32 {
    if board.pieces(strong, Kind::Soldier) | board.pieces(strong, Kind::Chariot) != 0 {
        return SCALE_FULL;
    }
    let count = |side, kind| board.pieces(side, kind).count_ones();
    let minors = count(strong, Kind::Horse) + count(strong, Kind::Cannon);
    if minors > 1 {
        return SCALE_FULL;
    }
    let weak = strong.other();
    match (minors, count(weak, Kind::Adviser) + count(weak, Kind::Elephant)) {
        (0, _) => 0,
        (_, 0) => SCALE_FULL,
        (_, 1) => SCALE_FULL / 2,
        _ => SCALE_FULL / 8,
    }
}

/// Calls `add` with every term of the position and how often it is there, Red's counted up and Black's down.
pub(super) fn each_term(board: &Board, mut add: impl FnMut(usize, i32)) {
    for (side, sign) in [(Side::First, 1), (Side::Second, -1)] {
        for kind in Kind::ALL {
            for square in squares(board.pieces(side, kind)) {
                add(place(side, kind as usize, usize::from(square)), sign);
            }
        }
    }
    each_count_term(board, &mut add);
    each_moving_term(board, add);
}

/// The terms of how many pieces there are.
fn each_count_term(board: &Board, mut add: impl FnMut(usize, i32)) {
    let count = |side, kind| board.pieces(side, kind).count_ones() as usize;
    for (side, sign) in [(Side::First, 1), (Side::Second, -1)] {
        let enemy = side.other();
        for (g, guard) in [Kind::Adviser, Kind::Elephant].into_iter().enumerate() {
            for (e, attacker) in [Kind::Chariot, Kind::Horse, Kind::Cannon].into_iter().enumerate() {
                add(GUARDS + ((g * 3 + e) * 3 + count(side, guard)) * 3 + count(enemy, attacker), sign);
            }
        }
        let army =
            (count(side, Kind::Chariot) * 3 + count(side, Kind::Horse)) * 3 + count(side, Kind::Cannon);
        add(ARMY + army, sign);
        add(SOLDIERS + count(side, Kind::Soldier), sign);
    }
}

/// What a side's pieces attack, protected pieces of their own included.
struct Attacks {
    by: [Set; 5],
    all: Set,
}

/// The terms that a single piece on its square does not tell.
#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn each_moving_term(board: &Board, mut add: impl FnMut(usize, i32)) {
    let mut attacks = [Attacks { by: [0; 5], all: 0 }, Attacks { by: [0; 5], all: 0 }];
    for (side, sign) in [(Side::First, 1), (Side::Second, -1)] {
        attacks[side.index()] = each_reach(board, side, |term| add(term, sign));
    }
    for (side, sign) in [(Side::First, 1), (Side::Second, -1)] {
        let enemy = side.other();
        let (own, theirs) = (&attacks[side.index()], &attacks[enemy.index()]);
        let targets = board.side(enemy) & !board.pieces(enemy, Kind::General);
        let to_move = usize::from(board.turn() == side);
        for (arm, &set) in own.by.iter().enumerate() {
            for square in squares(set & targets) {
                let (_, kind) = board.at(square).expect("a target stands there");
                let protected = usize::from(theirs.all & bit(square) != 0);
                add(ATTACKED + ((to_move * 5 + arm) * 6 + kind as usize - 1) * 2 + protected, sign);
            }
        }
        let palace = PALACES & half(enemy);
        for (n, arm) in [Arm::Soldier, Arm::Horse, Arm::Chariot].into_iter().enumerate() {
            let attacked = own.by[arm as usize] & palace;
            if attacked != 0 {
                add(PALACE + n, sign * attacked.count_ones() as i32);
            }
        }
        each_line(board, side, |term| add(term, sign));
        let across = board.pieces(side, Kind::Soldier) & half(enemy);
        let linked = across & (across << 1) & !LEFT_FILE;
        if linked != 0 {
            add(LINKED, sign * linked.count_ones() as i32);
        }
    }
    add(TEMPO, if board.turn() == Side::First { 1 } else { -1 });
}

/// The reach terms of a side's pieces; gives what they attack.
#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn each_reach(board: &Board, side: Side, mut add: impl FnMut(usize)) -> Attacks {
    let (ranks, files) = board.lines();
    let (own, occupied) = (board.side(side), board.occupied());
    let mut by = [0; 5];
    for square in squares(board.pieces(side, Kind::Chariot)) {
        let (along_rank, along_file) = attacks::rides(square, ranks, files);
        let set = along_rank | along_file;
        by[Arm::Chariot as usize] |= set;
        add(CHARIOT_REACH + (set & !own).count_ones() as usize);
    }
    for square in squares(board.pieces(side, Kind::Cannon)) {
        let (along_rank, along_file) = attacks::rides(square, ranks, files);
        by[Arm::Cannon as usize] |= attacks::shots(square, ranks, files);
        add(CANNON_REACH + ((along_rank | along_file) & !occupied).count_ones() as usize);
    }
    for square in squares(board.pieces(side, Kind::Horse)) {
        let set = HORSE[usize::from(square)][board.legs(square)];
        by[Arm::Horse as usize] |= set;
        add(HORSE_REACH + (set & !own).count_ones() as usize);
    }
    for square in squares(board.pieces(side, Kind::Soldier)) {
        by[Arm::Soldier as usize] |= SOLDIER[side.index()][usize::from(square)];
    }
    let guard = &mut by[Arm::Guard as usize];
    for square in squares(board.pieces(side, Kind::Adviser)) {
        *guard |= ADVISER[usize::from(square)];
    }
    for square in squares(board.pieces(side, Kind::Elephant)) {
        *guard |= ELEPHANT[usize::from(square)][board.eyes(square)];
    }
    *guard |= GENERAL[usize::from(board.general(side))];
    let all = by.iter().fold(0, |all, set| all | set);
    Attacks { by, all }
}

/// Enemy cannons and chariots on the lines of this side's general.
fn each_line(board: &Board, side: Side, mut add: impl FnMut(usize)) {
    let enemy = side.other();
    let general = board.general(side);
    let n = usize::from(general);
    let (rank, file) = (RANK[n], FILE[n]);
    let (ranks, files) = board.lines();
    let (along_rank, along_file) = attacks::lines_through(general);
    let between = |line: u16, a: u8, b: u8| {
        let (low, high) = (a.min(b), a.max(b));
        (line & ((1 << high) - 1) & !((2 << low) - 1)).count_ones()
    };
    let cannons = board.pieces(enemy, Kind::Cannon);
    for square in squares(cannons & along_file) {
        match between(files[usize::from(file)], rank, RANK[usize::from(square)]) {
            0 => add(CANNON_LINE),
            2 => add(CANNON_LINE + 1),
            3 => add(CANNON_LINE + 2),
            _ => {}
        }
    }
    for square in squares(cannons & along_rank) {
        match between(ranks[usize::from(rank)], file, FILE[usize::from(square)]) {
            0 => add(CANNON_LINE + 3),
            2 => add(CANNON_LINE + 4),
            _ => {}
        }
    }
    for square in squares(board.pieces(enemy, Kind::Chariot) & along_file) {
        match between(files[usize::from(file)], rank, RANK[usize::from(square)]) {
            1 => add(CHARIOT_LINE),
            2 => add(CHARIOT_LINE + 1),
            _ => {}
        }
    }
}

/// A side's half of the board.
const fn half(side: Side) -> Set {
    let red = (1 << (SQUARES / 2)) - 1;
    match side {
        Side::First => red,
        Side::Second => red << (SQUARES / 2),
    }
}

/// The leftmost file.
const LEFT_FILE: Set = {
    let mut set = 0;
    let mut rank = 0;
    while rank < RANKS {
        set |= 1 << (rank * FILES);
        rank += 1;
    }
    set
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xiangqi::fen::Fen;

    const POSITIONS: [&str; 5] = [
        Fen::START,
        "r2akab1r/4n4/1cn1b4/p1p1p1p1p/9/2P6/P3P1P1P/1CN1C1N2/9/R1BAKAB1R w",
        "3akab1r/9/2n1b1n2/p3p1p1p/9/2R6/P3P1P1P/2N1C1N2/4A4/2BAK1B1R b",
        "2bak4/4a4/4b4/9/4c4/4N4/9/4B1C2/4A4/3AK1BC1 w",
        "3ak4/9/3PbP3/2p6/9/9/6p2/3p1p3/9/3AK4 w",
    ];

    #[test]
    fn the_search_judges_by_the_terms_that_are_fitted() {
        for fen in POSITIONS {
            let board = Fen::read(fen).expect("a position").board;
            let (places, phase) = count_places(&board);
            let (mut full, mut empty) = (0, 0);
            each_term(&board, |term, count| {
                full += i32::from(WEIGHTS[term][0]) * count;
                empty += i32::from(WEIGHTS[term][1]) * count;
            });
            let value = blend(full, empty, phase);
            let strong = if value > 0 { Side::First } else { Side::Second };
            let value = value * scale(&board, strong) / SCALE_FULL;
            let value = if board.turn() == Side::First { value } else { -value };
            assert_eq!(evaluate(&board, places + count_pair(&board), phase), value, "{fen}");
        }
    }

    #[test]
    fn both_sides_are_judged_alike() {
        for fen in POSITIONS {
            // Turn the board round: rows in the other order, colours exchanged.
            let mut words = fen.split(' ');
            let (rows, side) = (words.next().expect("rows"), words.next().expect("a side"));
            let swap = |c: char| {
                if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
            };
            let rows: Vec<String> =
                rows.split('/').rev().map(|row| row.chars().map(swap).collect()).collect();
            let turned = format!("{} {}", rows.join("/"), if side == "w" { "b" } else { "w" });
            let judge = |fen: &str| {
                let board = Fen::read(fen).expect("a position").board;
                let (places, phase) = count_places(&board);
                evaluate(&board, places + count_pair(&board), phase)
            };
            assert_eq!(judge(fen), judge(&turned), "{fen}");
        }
    }

    #[test]
    fn a_side_that_cannot_cross_the_river_is_never_ahead() {
        let board = Fen::read("2bakab2/9/9/9/9/9/9/4c4/9/4K4 w").expect("a position").board;
        let (places, phase) = count_places(&board);
        assert!(evaluate(&board, places + count_pair(&board), phase) <= 0);
        let board = Fen::read("2bakab2/9/9/9/9/9/9/9/9/3K1A3 w").expect("a position").board;
        let (places, phase) = count_places(&board);
        assert_eq!(evaluate(&board, places + count_pair(&board), phase), 0);
    }
}
