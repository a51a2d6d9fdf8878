//! The result of a threefold repetition. What counts is every move of a side between the first and the third occurrence.

mod asian;
mod chinese;

use super::attacks::{Set, squares};
use super::board::{Board, Cell, Kind, SQUARES, XiangqiMove};
use crate::{Language, Outcome, Side};

/// Whose rules judge a repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RepetitionRule {
    /// The Asian rules: perpetual check, and perpetual chase of one piece, lose.
    #[default]
    Asian,
    /// The Chinese Xiangqi Association's rules of 2020: threats of mate count too, and check, threat and chase may alternate.
    Chinese,
}

impl RepetitionRule {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Asian, Self::Chinese];

    /// A sentence for the rule sheet.
    pub(super) const fn rule(self, language: Language) -> &'static str {
        let (chinese, english) = match self {
            Self::Asian => (
                "同一局面第三次出现为和，但有两个例外。长将：只有一方步步将军，则该方负。长捉：否则，只有一方步步以车马炮士相捉同一个无根子，则该方负；将帅和兵卒可以长捉，未过河的兵卒可以被长捉。",
                "The same position for the third time is a draw, with two exceptions. Perpetual check: a side that alone gave check with every move loses. Perpetual chase: otherwise, a side that alone chased the same unprotected piece with every move loses. Generals and soldiers may chase, and soldiers that have not crossed the river may be chased.",
            ),
            Self::Chinese => (
                "同一局面第三次出现，按中国棋规：每一步都是将军、叫杀或捉子的一方，如果对方不是这样，则该方负。只有一方步步将军（长将），不论对方怎样走，该方都负。其余为和。叫杀：对方如果停走一步，再走一步就能将死。捉子：这一步新形成了以车马炮士相吃掉无根子的威胁，或以马炮吃车的威胁，各步捉的可以不是同一个子。将帅和兵卒可以捉，未过河的兵卒可以被捉；走将帅应将，不算叫杀，也不算捉。",
                "The same position for the third time, by the Chinese rules: a side whose every move gave check, threatened mate or chased a piece loses, if the other side's did not. A side that alone gave check with every move (perpetual check) loses whatever the other side did. Anything else is a draw. A threat of mate is one to checkmate with a single move if the opponent passed. A chase is a new threat to capture an unprotected piece, or a chariot by a horse or a cannon, and need not be of the same piece each time. Generals and soldiers may chase, and soldiers that have not crossed the river may be chased; moving the general out of check is neither a threat nor a chase.",
            ),
        };
        language.pick(chinese, english)
    }
}

/// The result of the third occurrence of a position. `moves` lead from the first occurrence to the third, without captures;
/// `last` is the position after them.
pub(super) fn judge(rule: RepetitionRule, last: &Board, moves: &[XiangqiMove]) -> Outcome {
    let mut first = *last;
    for &mv in moves.iter().rev() {
        first.unmake(mv, Cell::EMPTY);
    }
    match rule {
        RepetitionRule::Asian => asian::judge(first, moves),
        RepetitionRule::Chinese => chinese::judge(first, moves),
    }
}

/// A winning capture that a piece threatens: it is legal, and the taker cannot legally be taken in return. A chariot
/// threatened by a horse or a cannon counts as unprotected, since the exchange wins.
///
/// Generals and soldiers make no threats. Generals, and soldiers that have not crossed the river, are not threatened. Nor is
/// a piece that could itself take the piece of the same kind that threatens it: that is an offer to exchange.
struct Threat {
    from: u8,
    to: u8,
}

impl Threat {
    /// Whether the move has created the threat: the same piece did not threaten the same before.
    fn is_new(&self, mv: XiangqiMove, before: &[Self]) -> bool {
        let from = if self.from == mv.to { mv.from } else { self.from };
        !before.iter().any(|old| old.from == from && old.to == self.to)
    }
}

/// The threats of the side to move. Attacks of the pieces in `ignored` on its general do not count.
fn threats(board: &Board, ignored: Set) -> Vec<Threat> {
    let side = board.turn();
    let mut list = Vec::new();
    for chaser in [Kind::Adviser, Kind::Elephant, Kind::Horse, Kind::Chariot, Kind::Cannon] {
        for from in squares(board.pieces(side, chaser)) {
            let targets = board.reach(from, side, chaser) & board.side(side.other());
            for to in squares(targets) {
                let (_, target) = board.at(to).expect("an enemy stands there");
                let at_home = target == Kind::Soldier && !has_crossed(to, side.other());
                if target != Kind::General
                    && !at_home
                    && wins(board, ignored, XiangqiMove { from, to }, chaser, target)
                {
                    list.push(Threat { from, to });
                }
            }
        }
    }
    list
}

fn has_crossed(square: u8, side: Side) -> bool {
    (usize::from(square) >= SQUARES / 2) == (side == Side::First)
}

/// Whether the capture is legal and cannot be answered by recapture.
fn wins(board: &Board, ignored: Set, mv: XiangqiMove, chaser: Kind, target: Kind) -> bool {
    let side = board.turn();
    let mut after = *board;
    after.make(mv);
    if after.checkers(side) & !ignored != 0 {
        return false;
    }
    let takes = |board: &Board, to: u8| {
        let mut moves = Vec::new();
        board.legal_moves(&mut moves);
        moves.into_iter().filter(move |mv| mv.to == to).collect::<Vec<_>>()
    };
    // Whether the target could capture its chaser, if it were its turn.
    let exchange = chaser == target && takes(&board.passed(), mv.from).iter().any(|back| back.from == mv.to);
    let stronger = target == Kind::Chariot && matches!(chaser, Kind::Horse | Kind::Cannon);
    !exchange && (stronger || takes(&after, mv.to).is_empty())
}
