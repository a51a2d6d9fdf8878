//! Moves that save a chain or kill a group, by what is around them; without reading ahead.

use super::stones::{BORDER, EMPTY, PASS, Stones, Vertex, other};

/// Moves that save a chain in atari: capturing a neighbour, or extending to two liberties.
pub(super) fn saving_moves<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    chain: Vertex,
    mut found: impl FnMut(Vertex),
) {
    let turn = stones.cell(chain);
    for stone in stones.chain(chain) {
        for neighbour in stones.four(stone) {
            let enemy = neighbour as Vertex;
            if stones.cell(enemy) == other(turn) && stones.count(enemy) == 1 {
                let at = stones.liberties(enemy).first();
                if stones.is_legal(at, turn) {
                    found(at);
                }
            }
        }
    }
    let at = stones.liberties(chain).first();
    if stones.is_legal(at, turn) && stones.liberties_after(at, turn) >= 2 {
        found(at);
    }
}

/// [`saving_moves`] without duplicates, in their order, at most eight.
pub(super) fn distinct_saving_moves<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    chain: Vertex,
) -> impl DoubleEndedIterator<Item = Vertex> {
    let mut moves = [PASS; 8];
    let mut length = 0;
    saving_moves(stones, chain, |at| {
        if length < moves.len() && !moves[..length].contains(&at) {
            moves[length] = at;
            length += 1;
        }
    });
    moves.into_iter().take(length)
}

/// The vital point of an empty region of three to five points adjacent to the last move and surrounded by enemies only: the
/// point with the most neighbours inside. [`PASS`] if there is none.
pub(super) fn nakade<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    last: Vertex,
) -> Vertex {
    for neighbour in stones.four(last) {
        if stones.cell(neighbour as Vertex) != EMPTY {
            continue;
        }
        let mut region = [PASS; 6];
        region[0] = neighbour as Vertex;
        let (mut length, mut looked) = (1, 0);
        let mut closed = true;
        'grow: while looked < length {
            for next in stones.four(region[looked]) {
                let next = next as Vertex;
                match stones.cell(next) {
                    BORDER => {}
                    EMPTY if region[..length].contains(&next) => {}
                    EMPTY if length == 5 => {
                        closed = false;
                        break 'grow;
                    }
                    EMPTY => {
                        region[length] = next;
                        length += 1;
                    }
                    owner if owner == turn => {
                        closed = false;
                        break 'grow;
                    }
                    _ => {}
                }
            }
            looked += 1;
        }
        if !closed || length < 3 {
            continue;
        }
        let inside = |at: Vertex| {
            stones.four(at).iter().filter(|&&next| region[..length].contains(&(next as Vertex))).count()
        };
        let best = (0..length).max_by_key(|&n| inside(region[n])).unwrap_or(0);
        if inside(region[best]) >= 2 && stones.is_legal(region[best], turn) {
            return region[best];
        }
    }
    PASS
}
