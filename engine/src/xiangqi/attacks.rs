//! Attack tables: what a piece attacks from a square.
//!
//! A set of squares is a `u128` bitboard; see [`super::board`] for the numbering. For every piece but three the occupancy
//! matters: chariots and cannons are looked up by the occupancy of their rank (9 bits) and file (10 bits), horses and
//! elephants by the four adjacent squares that can block them.

use super::board::{FILES, RANKS, SQUARES};

/// A set of squares.
pub(super) type Set = u128;

/// A square off the board, never occupied, which stands for neighbours beyond the edge.
pub(super) const BESIDE: u8 = SQUARES as u8;

pub(super) const fn bit(square: u8) -> Set {
    1 << square
}

/// The squares of a set, lowest first.
pub(super) fn squares(mut set: Set) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let square = set.trailing_zeros() as u8;
            set &= set - 1;
            square
        })
    })
}

/// File (0 to 8 from Red's left) of each square.
pub(super) static FILE: [u8; SQUARES] = {
    let mut table = [0; SQUARES];
    let mut n = 0;
    while n < SQUARES {
        table[n] = (n % FILES) as u8;
        n += 1;
    }
    table
};

/// Rank (0 to 9 from Red's side) of each square.
pub(super) static RANK: [u8; SQUARES] = {
    let mut table = [0; SQUARES];
    let mut n = 0;
    while n < SQUARES {
        table[n] = (n / FILES) as u8;
        n += 1;
    }
    table
};

/// On one line: the places that a chariot attacks, including the blocking pieces.
const fn ride(place: usize, length: usize, occupied: usize) -> u16 {
    let mut reached = 0;
    let mut n = place;
    while n > 0 {
        n -= 1;
        reached |= 1 << n;
        if occupied >> n & 1 == 1 {
            break;
        }
    }
    n = place + 1;
    while n < length {
        reached |= 1 << n;
        if occupied >> n & 1 == 1 {
            break;
        }
        n += 1;
    }
    reached
}

/// On one line: the pieces that a cannon attacks, the second in either direction.
const fn shoot(place: usize, length: usize, occupied: usize) -> u16 {
    let mut reached = 0;
    let (mut n, mut seen) = (place, 0);
    while n > 0 && seen < 2 {
        n -= 1;
        seen += occupied >> n & 1;
        if seen == 2 {
            reached |= 1 << n;
        }
    }
    n = place + 1;
    seen = 0;
    while n < length && seen < 2 {
        seen += occupied >> n & 1;
        if seen == 2 {
            reached |= 1 << n;
        }
        n += 1;
    }
    reached
}

const RANK_PATTERNS: usize = 1 << FILES;
const FILE_PATTERNS: usize = 1 << RANKS;

macro_rules! line_table {
    ($name:ident, $how:ident, $length:expr, $patterns:expr) => {
        static $name: [[u16; $patterns]; $length] = {
            let mut table = [[0; $patterns]; $length];
            let mut place = 0;
            while place < $length {
                let mut occupied = 0;
                while occupied < $patterns {
                    table[place][occupied] = $how(place, $length, occupied);
                    occupied += 1;
                }
                place += 1;
            }
            table
        };
    };
}
line_table!(RANK_RIDE, ride, FILES, RANK_PATTERNS);
line_table!(RANK_SHOT, shoot, FILES, RANK_PATTERNS);
line_table!(FILE_RIDE, ride, RANKS, FILE_PATTERNS);
line_table!(FILE_SHOT, shoot, RANKS, FILE_PATTERNS);

/// The ten bits of a file as squares of the first file.
static FILE_SET: [Set; FILE_PATTERNS] = {
    let mut table = [0; FILE_PATTERNS];
    let mut pattern = 0;
    while pattern < FILE_PATTERNS {
        let mut rank = 0;
        while rank < RANKS {
            if pattern >> rank & 1 == 1 {
                table[pattern] |= 1 << (rank * FILES);
            }
            rank += 1;
        }
        pattern += 1;
    }
    table
};

fn of_rank(pattern: u16, rank: u8) -> Set {
    Set::from(pattern) << (usize::from(rank) * FILES)
}

fn of_file(pattern: u16, file: u8) -> Set {
    FILE_SET[usize::from(pattern)] << file
}

/// All squares of the rank and of the file through a square, including it.
pub(super) fn lines_through(square: u8) -> (Set, Set) {
    let n = usize::from(square);
    (of_rank((1 << FILES) - 1, RANK[n]), of_file((1 << RANKS) - 1, FILE[n]))
}

/// The squares that a chariot attacks along its rank and file, including blocking pieces.
pub(super) fn rides(square: u8, ranks: &[u16; RANKS], files: &[u16; FILES]) -> (Set, Set) {
    let (file, rank) = (FILE[usize::from(square)], RANK[usize::from(square)]);
    let along_rank = RANK_RIDE[usize::from(file)][usize::from(ranks[usize::from(rank)])];
    let along_file = FILE_RIDE[usize::from(rank)][usize::from(files[usize::from(file)])];
    (of_rank(along_rank, rank), of_file(along_file, file))
}

/// The pieces that a cannon attacks, of both sides.
pub(super) fn shots(square: u8, ranks: &[u16; RANKS], files: &[u16; FILES]) -> Set {
    let (file, rank) = (FILE[usize::from(square)], RANK[usize::from(square)]);
    let along_rank = RANK_SHOT[usize::from(file)][usize::from(ranks[usize::from(rank)])];
    let along_file = FILE_SHOT[usize::from(rank)][usize::from(files[usize::from(file)])];
    of_rank(along_rank, rank) | of_file(along_file, file)
}

/// On one line: the places from which a cannon attacks this one, beyond exactly one piece; including the piece at the end.
const fn beyond(place: usize, length: usize, occupied: usize) -> u16 {
    let mut reached = 0;
    let (mut n, mut seen) = (place, 0);
    while n > 0 && seen < 2 {
        n -= 1;
        if seen == 1 {
            reached |= 1 << n;
        }
        seen += occupied >> n & 1;
    }
    n = place + 1;
    seen = 0;
    while n < length && seen < 2 {
        if seen == 1 {
            reached |= 1 << n;
        }
        seen += occupied >> n & 1;
        n += 1;
    }
    reached
}
line_table!(RANK_BEYOND, beyond, FILES, RANK_PATTERNS);
line_table!(FILE_BEYOND, beyond, RANKS, FILE_PATTERNS);

/// The squares from which a cannon attacks this one.
pub(super) fn behind(square: u8, ranks: &[u16; RANKS], files: &[u16; FILES]) -> Set {
    let (file, rank) = (FILE[usize::from(square)], RANK[usize::from(square)]);
    let along_rank = RANK_BEYOND[usize::from(file)][usize::from(ranks[usize::from(rank)])];
    let along_file = FILE_BEYOND[usize::from(rank)][usize::from(files[usize::from(file)])];
    of_rank(along_rank, rank) | of_file(along_file, file)
}

const fn offset(square: usize, files: isize, ranks: isize) -> Option<usize> {
    let (file, rank) = ((square % FILES) as isize + files, (square / FILES) as isize + ranks);
    if file < 0 || file >= FILES as isize || rank < 0 || rank >= RANKS as isize {
        None
    } else {
        Some(rank as usize * FILES + file as usize)
    }
}

const STRAIGHT: [(isize, isize); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const SLANTED: [(isize, isize); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

const fn four(steps: [(isize, isize); 4]) -> [[u8; 4]; SQUARES] {
    let mut table = [[BESIDE; 4]; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let mut n = 0;
        while n < 4 {
            if let Some(to) = offset(square, steps[n].0, steps[n].1) {
                table[square][n] = to as u8;
            }
            n += 1;
        }
        square += 1;
    }
    table
}

/// The four orthogonal neighbours of a square: a horse's legs.
pub(super) static LEGS: [[u8; 4]; SQUARES] = four(STRAIGHT);
/// The four diagonal neighbours of a square: an elephant's eyes, and the legs of horses that attack the square.
pub(super) static EYES: [[u8; 4]; SQUARES] = four(SLANTED);

/// The set of [`EYES`].
pub(super) static EYE_SET: [Set; SQUARES] = {
    let mut table = [0; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let mut n = 0;
        while n < 4 {
            if EYES[square][n] != BESIDE {
                table[square] |= bit(EYES[square][n]);
            }
            n += 1;
        }
        square += 1;
    }
    table
};

/// The squares that a horse attacks, by the occupancy of its [`LEGS`].
pub(super) static HORSE: [[Set; 16]; SQUARES] = {
    let mut table = [[0; 16]; SQUARES];
    let mut n = 0;
    while n < SQUARES * 16 * 4 {
        let (square, blocked, leg) = (n / 64, n / 4 % 16, n % 4);
        // A horse moves one step orthogonally and one diagonally further in that direction.
        let (right, up) = STRAIGHT[leg];
        let leaps = if right == 0 { [(1, 2 * up), (-1, 2 * up)] } else { [(2 * right, 1), (2 * right, -1)] };
        if blocked >> leg & 1 == 0 {
            table[square][blocked] |= pair(square, leaps);
        }
        n += 1;
    }
    table
};

/// The squares from which a horse attacks this one, by the occupancy of the [`EYES`].
pub(super) static HORSE_TO: [[Set; 16]; SQUARES] = {
    let mut table = [[0; 16]; SQUARES];
    let mut n = 0;
    while n < SQUARES * 16 * 4 {
        let (square, blocked, eye) = (n / 64, n / 4 % 16, n % 4);
        // The leg of a horse at a knight's move is the diagonal neighbour between.
        let (right, up) = SLANTED[eye];
        if blocked >> eye & 1 == 0 {
            table[square][blocked] |= pair(square, [(2 * right, up), (right, 2 * up)]);
        }
        n += 1;
    }
    table
};

/// The squares at these offsets, as far as they are on the board.
const fn pair(square: usize, steps: [(isize, isize); 2]) -> Set {
    let mut set = 0;
    let mut n = 0;
    while n < 2 {
        if let Some(to) = offset(square, steps[n].0, steps[n].1) {
            set |= bit(to as u8);
        }
        n += 1;
    }
    set
}

/// The squares that an elephant attacks, by the occupancy of its [`EYES`]; only on its own side of the river.
pub(super) static ELEPHANT: [[Set; 16]; SQUARES] = {
    let mut table = [[0; 16]; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let mut blocked = 0;
        while blocked < 16 {
            let mut n = 0;
            while n < 4 {
                if let Some(to) = offset(square, 2 * SLANTED[n].0, 2 * SLANTED[n].1)
                    && blocked >> n & 1 == 0
                    && (to / FILES < RANKS / 2) == (square / FILES < RANKS / 2)
                {
                    table[square][blocked] |= bit(to as u8);
                }
                n += 1;
            }
            blocked += 1;
        }
        square += 1;
    }
    table
};

/// Both palaces.
pub(super) const PALACES: Set = {
    let red: Set = 0b111 << 3 | 0b111 << (3 + FILES) | 0b111 << (3 + 2 * FILES);
    red | red << (7 * FILES)
};

const fn steps_in_palace(steps: [(isize, isize); 4]) -> [Set; SQUARES] {
    let mut table = [0; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let mut n = 0;
        while n < 4 {
            if let Some(to) = offset(square, steps[n].0, steps[n].1) {
                table[square] |= bit(to as u8) & PALACES;
            }
            n += 1;
        }
        square += 1;
    }
    table
}

/// The squares that a general attacks.
pub(super) static GENERAL: [Set; SQUARES] = steps_in_palace(STRAIGHT);
/// The squares that an adviser attacks.
pub(super) static ADVISER: [Set; SQUARES] = steps_in_palace(SLANTED);

const fn soldiers(attackers: bool) -> [[Set; SQUARES]; 2] {
    let mut table = [[0; SQUARES]; 2];
    let mut side = 0;
    while side < 2 {
        let forward = if side == 0 { 1 } else { -1 };
        let mut square = 0;
        while square < SQUARES {
            let steps = [(0, forward), (1, 0), (-1, 0)];
            let mut n = 0;
            while n < 3 {
                if let Some(to) = offset(square, steps[n].0, steps[n].1) {
                    let across = (square / FILES >= RANKS / 2) == (side == 0);
                    if n == 0 || across {
                        let (at, set) = if attackers { (to, square) } else { (square, to) };
                        table[side][at] |= 1 << set;
                    }
                }
                n += 1;
            }
            square += 1;
        }
        side += 1;
    }
    table
}

/// The squares that a soldier of a side attacks: forward, and sideways after it has crossed the river.
pub(super) static SOLDIER: [[Set; SQUARES]; 2] = soldiers(false);
/// The squares from which a soldier of a side attacks this one.
pub(super) static SOLDIER_TO: [[Set; SQUARES]; 2] = soldiers(true);
