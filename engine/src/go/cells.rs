//! What is on a point of the playouts' board, as two bits.

use crate::Side;

pub(super) const EMPTY: u8 = 0;
pub(super) const BLACK: u8 = 1;
pub(super) const WHITE: u8 = 2;
pub(super) const BORDER: u8 = 3;

/// The colour of a side.
pub(super) const fn colour(side: Side) -> u8 {
    side as u8 + 1
}

/// The opposite colour.
pub(super) const fn other(colour: u8) -> u8 {
    3 - colour
}

/// The side of a colour.
pub(super) const fn side(colour: u8) -> Side {
    if colour == BLACK { Side::First } else { Side::Second }
}
