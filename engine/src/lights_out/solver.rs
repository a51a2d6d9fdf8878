//! Solver of Lights Out.
//!
//! Presses commute, and two presses of a cell cancel, so this is a linear system over GF(2) with one unknown (press) and one
//! equation (light) per cell. Instead of solving that (mn) x (mn) system:
//!
//! - **Orthogonal neighbours.** The presses in the first row determine all others: a light in row i after the presses of rows up to i
//!   can only be turned off from row i + 1 ("light chasing"). Done symbolically, with every press as a linear function of the n
//!   presses in the first row, the condition that the last row is off is an n x n system. On a torus the first two rows are unknown,
//!   and the condition is on two rows.
//! - **Diagonal neighbours too.** The toggled cells are then a product, three rows times three columns. So each row is solved
//!   separately, then each column, by light chasing in one dimension.
//!
//! Solutions differ by the null space. For up to [`MOST_DIMENSIONS_FOR_FEWEST`] dimensions the minimal solution is found by
//! one Walsh-Hadamard transform: cells that occur in the same basis vectors always change together, so it suffices to count,
//! for each of the 2^d classes, how many cells are pressed.

use super::lights::{Lights, Neighbours, add};
use crate::Point;

/// Maximum dimension of the null space for which the minimal solution is searched: 2^20 classes take 4 MiB and 20 ms.
pub const MOST_DIMENSIONS_FOR_FEWEST: usize = 20;

/// The solution of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution {
    /// The board has no solution.
    Unsolvable,
    /// A solution.
    Presses {
        /// The cells to press.
        presses: Lights,
        /// Whether no solution has fewer presses. False if the null space is too large.
        fewest: bool,
    },
}

/// Solves a board. A torus needs at least three columns and three rows.
pub fn solve(lights: &Lights, neighbours: Neighbours) -> Solution {
    // The first row should be the shorter side.
    if lights.columns() > lights.rows() {
        return match solve(&lights.transposed(), neighbours) {
            Solution::Presses { presses, fewest } => {
                Solution::Presses { presses: presses.transposed(), fewest }
            }
            Solution::Unsolvable => Solution::Unsolvable,
        };
    }
    let found = if neighbours.diagonals {
        solve_product(lights, neighbours.torus)
    } else {
        solve_straight(lights, neighbours.torus)
    };
    let Some((presses, null_space)) = found else { return Solution::Unsolvable };
    debug_assert_eq!(Lights::toggled_by(&presses, neighbours), *lights, "the presses put the board out");
    match null_space {
        Some(basis) => Solution::Presses { presses: fewest(presses, &basis), fewest: true },
        None => Solution::Presses { presses, fewest: false },
    }
}

/// Dimension of the null space: 2 to this power sets of presses change nothing.
pub fn nullity(columns: u16, rows: u16, neighbours: Neighbours) -> Option<usize> {
    let board = Lights::new(columns.min(rows), columns.max(rows))?;
    if neighbours.diagonals {
        let (across, along) = (
            line_kernel(board.columns(), neighbours.torus).len(),
            line_kernel(board.rows(), neighbours.torus).len(),
        );
        let (columns, rows) = (usize::from(board.columns()), usize::from(board.rows()));
        Some(across * rows + along * columns - across * along)
    } else {
        let mut system = straight_system(&board, neighbours.torus);
        let pivots = system.reduce();
        Some(system.unknowns - pivots.len())
    }
}

/// A solution and, if its dimension is small enough, a basis of the null space.
type Found = Option<(Lights, Option<Vec<Lights>>)>;

fn solve_straight(lights: &Lights, torus: bool) -> Found {
    let mut system = straight_system(lights, torus);
    let pivots = system.reduce();
    if system.rows().skip(pivots.len()).any(|row| bit(row, system.unknowns)) {
        return None;
    }
    let solution = |free: Option<usize>| {
        let mut first = vec![0; system.stride];
        let column = free.unwrap_or(system.unknowns);
        for (row, &pivot) in system.rows().zip(&pivots) {
            if bit(row, column) {
                first[pivot / 64] ^= 1 << (pivot % 64);
            }
        }
        if let Some(free) = free {
            first[free / 64] ^= 1 << (free % 64);
        }
        first
    };
    let presses = carried_down(lights, torus, &solution(None));
    let mut is_pivot = vec![false; system.unknowns];
    for &pivot in &pivots {
        is_pivot[pivot] = true;
    }
    let free: Vec<usize> = (0..system.unknowns).filter(|&column| !is_pivot[column]).collect();
    let dark = Lights::new(lights.columns(), lights.rows()).expect("the size of the board is valid");
    let basis = (free.len() <= MOST_DIMENSIONS_FOR_FEWEST)
        .then(|| free.iter().map(|&column| carried_down(&dark, torus, &solution(Some(column)))).collect());
    Some((presses, basis))
}

/// The presses of every row from the unknowns: the first row's, and on a torus the second's after them.
fn carried_down(lights: &Lights, torus: bool, unknowns: &[u64]) -> Lights {
    let (columns, rows) = (lights.columns(), lights.rows());
    let mut presses = Lights::new(columns, rows).expect("the size of the board is valid");
    let known = if torus { 2 } else { 1 };
    for row in 0..known {
        for column in 0..columns {
            if bit(unknowns, usize::from(row * columns + column)) {
                presses.toggle(Point::new(column, row));
            }
        }
    }
    for row in known..rows {
        let mut next = lights.row(row - 1).to_vec();
        add(&mut next, presses.row(row - 1));
        presses.add_sides(row - 1, torus, &mut next);
        if row > 1 {
            add(&mut next, presses.row(row - 2));
        }
        presses.row_mut(row).copy_from_slice(&next);
    }
    presses
}

/// The n x n system of an n x n board, for benchmarks against linear algebra libraries.
#[derive(Clone)]
pub struct BenchSystem(System);

impl BenchSystem {
    /// The system of this board with orthogonal neighbours.
    pub fn new(lights: &Lights) -> Self {
        Self(straight_system(lights, false))
    }

    /// Rows of `0` and `1`, with the right-hand side last.
    pub fn to_text(&self) -> String {
        let row = |row: &[u64]| (0..=self.0.unknowns).map(|n| if bit(row, n) { '1' } else { '0' }).collect();
        self.0.rows().map(row).collect::<Vec<String>>().join("\n") + "\n"
    }

    /// Solves the system; returns its rank.
    pub fn solve(&mut self) -> usize {
        self.0.reduce().len()
    }
}

/// A linear system over GF(2). Each row has the coefficients of the unknowns and, as its last bit, the right-hand side.
#[derive(Clone)]
struct System {
    unknowns: usize,
    stride: usize,
    words: Vec<u64>,
}

impl System {
    fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(self.stride)
    }

    /// Brings the rows into reduced echelon form, and returns the column of each row's leading bit.
    ///
    /// Uses the method of the four Russians (Arlazarov, Dinic, Kronrod, Faradzev 1970; as in Albrecht, Bard, Hart,
    /// "Algorithm 898", 2010): up to two times [`TABLE`] pivot rows at a time, all sums of which are in two tables, so that
    /// every other row is cleared in their columns by one pass over its words.
    fn reduce(&mut self) -> Vec<usize> {
        let (stride, rows) = (self.stride, self.words.len() / self.stride);
        let mut pivots: Vec<usize> = Vec::new();
        let mut tables = [vec![0; stride << TABLE], vec![0; stride << TABLE]];
        let mut column = 0;
        while column < self.unknowns && pivots.len() < rows {
            let top = pivots.len();
            while column < self.unknowns && pivots.len() < rows.min(top + 2 * TABLE) {
                self.lead(column, top, &mut pivots);
                column += 1;
            }
            let block = &pivots[top..];
            let (Some(&first), Some(&last)) = (block.first(), block.last()) else { break };
            // Left of the first pivot column these rows are 0.
            let word = first / 64;
            let width = stride - word;
            for (table, begin) in tables.iter_mut().zip([0, TABLE]) {
                for n in begin..block.len().min(begin + TABLE) {
                    let row = &self.words[(top + n) * stride + word..(top + n + 1) * stride];
                    let (done, rest) = table.split_at_mut((1 << (n - begin)) * width);
                    let more = &mut rest[..done.len()];
                    more.copy_from_slice(done);
                    more.chunks_exact_mut(width).for_each(|sum| add(sum, row));
                }
            }
            let side_by_side = last - first == block.len() - 1;
            let shift = first % 64;
            for (n, line) in self.words.chunks_exact_mut(stride).enumerate() {
                if (top..top + block.len()).contains(&n) {
                    continue;
                }
                let line = &mut line[word..];
                let bits = if side_by_side {
                    let beyond = line.get(1).map_or(0, |next| next << 1 << (63 - shift));
                    ((line[0] >> shift | beyond) & ((1 << block.len()) - 1)) as usize
                } else {
                    let bits = block.iter().map(|&at| bit(line, at - 64 * word));
                    bits.enumerate().fold(0, |sum, (n, bit)| sum | usize::from(bit) << n)
                };
                if bits > 0 {
                    let (low, high) = (bits & ((1 << TABLE) - 1), bits >> TABLE);
                    let sums = tables[0][low * width..].iter().zip(&tables[1][high * width..]);
                    for (word, (low, high)) in line.iter_mut().zip(sums) {
                        *word ^= low ^ high;
                    }
                }
            }
        }
        pivots
    }

    /// Finds a pivot row for this column, below those of the block that begins with row `top`, and makes it the next one;
    /// afterwards the block's pivot rows have no bits in each other's pivot columns.
    fn lead(&mut self, column: usize, top: usize, pivots: &mut Vec<usize>) {
        let (stride, rows) = (self.stride, self.words.len() / self.stride);
        let next = pivots.len();
        // Left of the block's first pivot column these rows are 0.
        let word = pivots.get(top).map_or(column, |&first| first) / 64;
        for row in next..rows {
            for (n, &pivot) in (top..).zip(&pivots[top..]) {
                if bit(&self.words[row * stride..], pivot) {
                    let (upper, lower) = self.words.split_at_mut(row * stride);
                    add(&mut lower[word..stride], &upper[n * stride + word..][..stride - word]);
                }
            }
            if !bit(&self.words[row * stride..], column) {
                continue;
            }
            if row != next {
                let (upper, lower) = self.words.split_at_mut(row * stride);
                upper[next * stride..][..stride].swap_with_slice(&mut lower[..stride]);
            }
            for earlier in top..next {
                if bit(&self.words[earlier * stride..], column) {
                    let (upper, lower) = self.words.split_at_mut(next * stride);
                    add(&mut upper[earlier * stride + word..][..stride - word], &lower[word..stride]);
                }
            }
            pivots.push(column);
            return;
        }
    }
}

/// Number of pivot rows per table. Measured by `scripts/bench-rules` at n = 1,000.
const TABLE: usize = 7;

fn bit(words: &[u64], n: usize) -> bool {
    words[n / 64] >> (n % 64) & 1 == 1
}

/// The presses of one row of the board as linear functions of the unknowns: one line of words per cell. The constant term is
/// the bit after the last unknown.
#[derive(Clone)]
struct Row {
    cells: Vec<Vec<u64>>,
}

impl Row {
    /// Adds the effect of this row's presses to each cell.
    fn add_to(&self, into: &mut Self, torus: bool) {
        let n = self.cells.len();
        for (column, cell) in into.cells.iter_mut().enumerate() {
            add(cell, &self.cells[column]);
            if column > 0 || torus {
                add(cell, &self.cells[(column + n - 1) % n]);
            }
            if column + 1 < n || torus {
                add(cell, &self.cells[(column + 1) % n]);
            }
        }
    }

    fn add_lights(&mut self, lights: &[u64], constant: usize) {
        for (column, cell) in self.cells.iter_mut().enumerate() {
            cell[constant / 64] ^= u64::from(bit(lights, column)) << (constant % 64);
        }
    }

    fn add_row(&mut self, other: &Self) {
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            add(cell, other);
        }
    }
}

/// The system that the unknowns must satisfy so that all lights are off.
fn straight_system(lights: &Lights, torus: bool) -> System {
    let n = usize::from(lights.columns());
    let unknowns = if torus { 2 * n } else { n };
    let stride = (unknowns + 1).div_ceil(64);
    let zero = Row { cells: vec![vec![0; stride]; n] };
    // The cells of the row with these unknowns.
    let unknown = |first: usize| {
        let mut row = zero.clone();
        for (column, cell) in row.cells.iter_mut().enumerate() {
            let place = first + column;
            cell[place / 64] |= 1 << (place % 64);
        }
        row
    };
    // The presses of row i + 1 that turn off row i.
    let next = |row: &Row, before: &Row, lit: u16| {
        let mut next = before.clone();
        row.add_to(&mut next, torus);
        next.add_lights(lights.row(lit), unknowns);
        next
    };
    let first = unknown(0);
    let rows = lights.rows();
    let conditions = if torus {
        let second = unknown(n);
        let (mut before, mut row) = (first.clone(), second.clone());
        for lit in 1..rows - 1 {
            (before, row) = (row.clone(), next(&row, &before, lit));
        }
        // Row m is row 0 again, and row m + 1 is row 1.
        let mut closing = next(&row, &before, rows - 1);
        closing.add_row(&first);
        let mut second_closing = next(&first, &row, 0);
        second_closing.add_row(&second);
        vec![closing, second_closing]
    } else {
        let (mut before, mut row) = (zero.clone(), first);
        for lit in 0..rows {
            (before, row) = (row.clone(), next(&row, &before, lit));
        }
        // The row after the last must have no presses.
        vec![row]
    };
    let words = conditions.into_iter().flat_map(|row| row.cells).flatten().collect();
    System { unknowns, stride, words }
}

fn solve_product(lights: &Lights, torus: bool) -> Found {
    let across = solve_columns(&lights.transposed(), torus)?.transposed();
    let presses = solve_columns(&across, torus)?;
    let neighbours = Neighbours { torus, diagonals: true };
    let dimensions = nullity(lights.columns(), lights.rows(), neighbours).expect("the size is valid");
    Some((presses, (dimensions <= MOST_DIMENSIONS_FOR_FEWEST).then(|| product_null_space(lights, torus))))
}

/// Solves p(i - 1) + p(i) + p(i + 1) = lights(i) in each column separately; linear in the lights.
fn solve_columns(lights: &Lights, torus: bool) -> Option<Lights> {
    let rows = usize::from(lights.rows());
    let stride = lights.row(0).len();
    // Both unknown rows occur in every row with a coefficient of 0 or 1, the same for all columns.
    let known = if torus { 2 } else { 1 };
    let mut constant: Vec<Vec<u64>> = vec![vec![0; stride]; known];
    let mut factors: Vec<[bool; 2]> = [[true, false], [false, true]][..known].to_vec();
    let at = |list: &Vec<Vec<u64>>, n: usize| list[n].clone();
    for row in known..rows + known {
        let mut next = lights.row(((row - 1) % rows) as u16).to_vec();
        add(&mut next, &at(&constant, row - 1));
        let mut factor = factors[row - 1];
        if row > 1 {
            add(&mut next, &at(&constant, row - 2));
            factor = [0, 1].map(|n: usize| factor[n] ^ factors[row - 2][n]);
        }
        constant.push(next);
        factors.push(factor);
    }
    // Beyond the board there is nothing, or on a torus the first rows again.
    let mut equations: Vec<([bool; 2], Vec<u64>)> = (0..known)
        .map(|n| {
            let mut factor = factors[rows + n];
            if torus {
                factor[n] = !factor[n];
            }
            (factor, constant[rows + n].clone())
        })
        .collect();
    if !torus {
        equations.push(([false, false], vec![0; stride]));
    }
    let unknown = solve_two(equations)?;
    let mut presses = Lights::new(lights.columns(), lights.rows())?;
    for row in 0..rows {
        let into = presses.row_mut(row as u16);
        add(into, &constant[row]);
        for n in 0..2 {
            if factors[row][n] {
                add(into, &unknown[n]);
            }
        }
    }
    Some(presses)
}

/// Solves two equations for two unknown rows; free ones are 0. `None` if the equations contradict each other.
fn solve_two(mut equations: Vec<([bool; 2], Vec<u64>)>) -> Option<[Vec<u64>; 2]> {
    let stride = equations[0].1.len();
    let mut unknown = [vec![0; stride], vec![0; stride]];
    let mut leading = [None; 2];
    let mut used = 0;
    for n in 0..2 {
        let Some(found) = (used..2).find(|&row| equations[row].0[n]) else { continue };
        equations.swap(used, found);
        let (factor, right) = equations[used].clone();
        for (row, (other, sum)) in equations.iter_mut().enumerate() {
            if row != used && other[n] {
                *other = [other[0] ^ factor[0], other[1] ^ factor[1]];
                add(sum, &right);
            }
        }
        leading[n] = Some(used);
        used += 1;
    }
    if equations[used..].iter().any(|(_, right)| right.iter().any(|&word| word != 0)) {
        return None;
    }
    for n in 0..2 {
        if let Some(row) = leading[n] {
            unknown[n].clone_from(&equations[row].1);
        }
    }
    Some(unknown)
}

/// A basis of the lines x with x(i - 1) + x(i) + x(i + 1) = 0, which has at most two vectors.
fn line_kernel(length: u16, torus: bool) -> Vec<Vec<bool>> {
    let length = usize::from(length);
    let starts: &[[bool; 2]] = if torus { &[[true, false], [false, true]] } else { &[[true, true]] };
    let grown = starts.iter().map(|start| {
        let mut line = start.to_vec();
        while line.len() < length + 2 {
            line.push(line[line.len() - 1] ^ line[line.len() - 2]);
        }
        line
    });
    let closes = |line: &Vec<bool>| if torus { line[length..] == line[..2] } else { !line[length] };
    grown.filter(closes).map(|line| line[..length].to_vec()).collect()
}

/// A basis of the null space of the product: null columns at any place, and null rows at any place.
fn product_null_space(lights: &Lights, torus: bool) -> Vec<Lights> {
    let (columns, rows) = (lights.columns(), lights.rows());
    let dark = Lights::new(columns, rows).expect("the size of the board is valid");
    let mut basis = Vec::new();
    let upright = line_kernel(rows, torus);
    for (line, column) in upright.iter().flat_map(|line| (0..columns).map(move |column| (line, column))) {
        let mut board = dark.clone();
        (0..rows).filter(|&row| line[usize::from(row)]).for_each(|row| board.toggle(Point::new(column, row)));
        basis.push(board);
    }
    let flat = line_kernel(columns, torus);
    for (line, row) in flat.iter().flat_map(|line| (0..rows).map(move |row| (line, row))) {
        // The last rows, one for each null column, are sums of the others and of the null columns.
        if usize::from(row) + upright.len() < usize::from(rows) {
            let mut board = dark.clone();
            (0..columns)
                .filter(|&column| line[usize::from(column)])
                .for_each(|column| board.toggle(Point::new(column, row)));
            basis.push(board);
        }
    }
    basis
}

/// The minimal solution among `presses` plus all sums of the basis; of equal ones the first in the order of sums.
fn fewest(presses: Lights, basis: &[Lights]) -> Lights {
    if basis.is_empty() {
        return presses;
    }
    // For each class of cells (by the basis vectors that contain them): number of unpressed minus pressed cells.
    let mut surplus = vec![0_i32; 1 << basis.len()];
    let (columns, rows) = (presses.columns(), presses.rows());
    for row in 0..rows {
        let vectors: Vec<&[u64]> = basis.iter().map(|board| board.row(row)).collect();
        let pressed = presses.row(row);
        for column in 0..usize::from(columns) {
            let class =
                vectors.iter().rev().fold(0, |class, vector| class << 1 | usize::from(bit(vector, column)));
            surplus[class] += if bit(pressed, column) { -1 } else { 1 };
        }
    }
    // Afterwards entry x is the surplus with the vectors of x added.
    let mut half = 1;
    while half < surplus.len() {
        for block in surplus.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    let mut best = 0;
    for (sum, &value) in surplus.iter().enumerate() {
        if value > surplus[best] {
            best = sum;
        }
    }
    let mut presses = presses;
    for (n, vector) in basis.iter().enumerate() {
        if best >> n & 1 == 1 {
            (0..rows).for_each(|row| add(presses.row_mut(row), vector.row(row)));
        }
    }
    presses
}
