//! Legal move generation and counting.
//!
//! A pseudo-legal move is legal if it does not leave the own general attacked. Most moves cannot do so; the test is needed
//! only for moves of the general, for evasions of a check, and for moves that leave or enter a line or a horse's leg that
//! shields the general.

use super::attacks::{
    self, ADVISER, ELEPHANT, EYE_SET, EYES, FILE, GENERAL, HORSE, HORSE_TO, RANK, SOLDIER, SOLDIER_TO, Set,
    bit, squares,
};
use super::board::{Board, Kind, XiangqiMove};
use crate::Side;

/// Which moves of pieces other than the general need a test.
struct Guard {
    /// All of them.
    all: bool,
    /// Moves from these squares.
    from: Set,
    /// Moves to these squares.
    to: Set,
}

impl Board {
    /// The pseudo-legal destinations of the piece of the side to move on this square.
    pub(super) fn reach(&self, square: u8, side: Side, kind: Kind) -> Set {
        let n = usize::from(square);
        let (ranks, files) = self.lines();
        let reached = match kind {
            Kind::General => GENERAL[n],
            Kind::Adviser => ADVISER[n],
            Kind::Elephant => ELEPHANT[n][self.eyes(square)],
            Kind::Horse => HORSE[n][self.legs(square)],
            Kind::Chariot => {
                let (along_rank, along_file) = attacks::rides(square, ranks, files);
                along_rank | along_file
            }
            Kind::Cannon => {
                let (along_rank, along_file) = attacks::rides(square, ranks, files);
                (along_rank | along_file) & !self.occupied()
                    | attacks::shots(square, ranks, files) & self.side(side.other())
            }
            Kind::Soldier => SOLDIER[side.index()][n],
        };
        reached & !self.side(side)
    }

    fn guard(&self) -> Guard {
        let side = self.turn();
        let enemy = side.other();
        let general = self.general(side);
        let (rank, file) = attacks::lines_through(general);
        let cannons = self.pieces(enemy, Kind::Cannon);
        let riders = cannons | self.pieces(enemy, Kind::Chariot);
        let (mut from, mut to) = (0, 0);
        for (line, riders) in [(rank, riders), (file, riders | self.pieces(enemy, Kind::General))] {
            if line & riders != 0 {
                from |= line;
                if line & cannons != 0 {
                    to |= line;
                }
            }
        }
        let n = usize::from(general);
        if HORSE_TO[n][0] & self.pieces(enemy, Kind::Horse) != 0 {
            from |= EYE_SET[n];
        }
        Guard { all: self.in_check(), from, to }
    }

    /// Whether a pseudo-legal move leaves the general safe.
    fn is_safe(&self, mv: XiangqiMove) -> bool {
        let side = self.turn();
        let (from, to) = (usize::from(mv.from), usize::from(mv.to));
        let own = self.general(side);
        let general = if own == mv.from { mv.to } else { own };
        let (ranks, files) = self.lines();
        let (mut ranks, mut files) = (*ranks, *files);
        ranks[usize::from(RANK[from])] &= !(1 << FILE[from]);
        files[usize::from(FILE[from])] &= !(1 << RANK[from]);
        ranks[usize::from(RANK[to])] |= 1 << FILE[to];
        files[usize::from(FILE[to])] |= 1 << RANK[to];
        let occupied = self.occupied() & !bit(mv.from) | bit(mv.to);
        let of = |kind: Kind| self.pieces(side.other(), kind) & !bit(mv.to);
        let n = usize::from(general);
        let eyes = (0..4).fold(0, |set, eye| set | usize::from(occupied >> EYES[n][eye] & 1 != 0) << eye);
        let (along_rank, along_file) = attacks::rides(general, &ranks, &files);
        (along_rank | along_file) & of(Kind::Chariot)
            | along_file & of(Kind::General)
            | attacks::shots(general, &ranks, &files) & of(Kind::Cannon)
            | HORSE_TO[n][eyes] & of(Kind::Horse)
            | SOLDIER_TO[side.other().index()][n] & of(Kind::Soldier)
            == 0
    }

    /// Whether a move is legal.
    pub(super) fn is_legal(&self, mv: XiangqiMove) -> bool {
        self.at(mv.from).is_some_and(|(side, kind)| {
            side == self.turn() && self.reach(mv.from, side, kind) & bit(mv.to) != 0 && self.is_safe(mv)
        })
    }

    /// Calls `found` with each piece of the side to move, its destinations that are certainly legal, and those that need a
    /// test.
    fn each_piece(&self, mut found: impl FnMut(u8, Set, Set)) {
        let side = self.turn();
        let guard = self.guard();
        for kind in Kind::ALL {
            for square in squares(self.pieces(side, kind)) {
                let targets = self.reach(square, side, kind);
                let tested = if guard.all || kind == Kind::General || guard.from & bit(square) != 0 {
                    targets
                } else {
                    targets & guard.to
                };
                found(square, targets & !tested, tested);
            }
        }
    }

    /// Writes all legal moves into `into` (cleared first), in a fixed order.
    pub fn legal_moves(&self, into: &mut Vec<XiangqiMove>) {
        into.clear();
        self.each_legal(Set::MAX, |mv| into.push(mv));
    }

    /// Calls `found` with each legal move to one of these squares.
    pub(super) fn each_legal(&self, to: Set, mut found: impl FnMut(XiangqiMove)) {
        let wanted = to;
        self.each_piece(|from, free, tested| {
            for to in squares(free & wanted) {
                found(XiangqiMove { from, to });
            }
            for to in squares(tested & wanted) {
                let mv = XiangqiMove { from, to };
                if self.is_safe(mv) {
                    found(mv);
                }
            }
        });
    }

    /// Number of legal moves, without generating them.
    pub fn legal_count(&self) -> u32 {
        let mut count = 0;
        self.each_piece(|from, free, tested| {
            count += free.count_ones();
            count += squares(tested).filter(|&to| self.is_safe(XiangqiMove { from, to })).count() as u32;
        });
        count
    }

    /// Whether there is a legal move.
    pub(super) fn has_legal_move(&self) -> bool {
        let mut any = false;
        self.each_piece(|from, free, tested| {
            any = any || free != 0 || squares(tested).any(|to| self.is_safe(XiangqiMove { from, to }));
        });
        any
    }
}

/// Number of sequences of legal moves of this length (perft), ignoring repetitions and other ends; the last ply is
/// bulk-counted. Depth 0 is 1.
pub fn perft(board: &Board, depth: u32) -> u64 {
    fn below(board: &mut Board, depth: u32, lists: &mut [Vec<XiangqiMove>]) -> u64 {
        if depth == 1 {
            return board.legal_count().into();
        }
        let (list, rest) = lists.split_first_mut().expect("one list a ply");
        board.legal_moves(list);
        let mut sum = 0;
        for &mv in list.iter() {
            let taken = board.make(mv);
            sum += below(board, depth - 1, rest);
            board.unmake(mv, taken);
        }
        sum
    }
    if depth == 0 {
        return 1;
    }
    let mut lists = vec![Vec::with_capacity(128); depth as usize];
    below(&mut board.clone(), depth, &mut lists)
}
