//! Conversion between the engine's types and `proto::board`. The host uses the same for its clients.

use bytes::Bytes;
use engine::gomoku::Fault;
use engine::lights_out::LightsOutSetup;
use engine::{Action, Choice, GameKind, Outcome, Point, Reason, Setup, Side};
use proto::{board, limits};

use crate::{MatchId, MatchResult};

mod setup;

pub use crate::unreadable::Unreadable;
pub use setup::{
    is_for_peers, is_of_chinese_repetition, is_of_later_opening, read_peer_setup, read_setup, setup,
};

/// The number of a game.
pub fn game(kind: GameKind) -> board::Game {
    board::Game::try_from(kind as i32).unwrap_or_default()
}

/// The game of a number.
pub fn read_game(number: i32) -> Option<GameKind> {
    u8::try_from(number).ok().and_then(GameKind::from_number)
}

/// A side.
pub fn side(side: Side) -> board::Side {
    match side {
        Side::First => board::Side::First,
        Side::Second => board::Side::Second,
    }
}

/// A side from its number; an error for the unspecified number.
pub fn read_side(number: i32) -> Result<Side, Unreadable> {
    match board::Side::try_from(number) {
        Ok(board::Side::First) => Ok(Side::First),
        Ok(board::Side::Second) => Ok(Side::Second),
        Ok(board::Side::Unspecified) | Err(_) => Err(Unreadable("side")),
    }
}

/// The canonical bytes of a setup: part of the record's digest.
pub(crate) fn setup_bytes(setup: &Setup) -> Vec<u8> {
    prost::Message::encode_to_vec(&self::setup(setup))
}

/// `row * 1024 + column`.
pub fn point(point: Point) -> u32 {
    u32::from(point.row) * limits::ROWS_OR_COLUMNS + u32::from(point.column)
}

/// A point from `row * 1024 + column`.
pub fn read_point(number: u32) -> Result<Point, Unreadable> {
    let (row, column) = (number / limits::ROWS_OR_COLUMNS, number % limits::ROWS_OR_COLUMNS);
    if row < limits::ROWS_OR_COLUMNS {
        Ok(Point::new(column as u16, row as u16))
    } else {
        Err(Unreadable("point"))
    }
}

/// An action.
pub fn action(action: Action) -> board::Action {
    use board::action::Kind;
    let kind = match action {
        Action::Place(at) => Kind::Place(point(at)),
        Action::Step { from, to } => Kind::Step(board::Step { from: point(from), to: point(to) }),
        Action::Capture(at) => Kind::Capture(point(at)),
        Action::Pass => Kind::Pass(true),
        Action::Press(at) => Kind::Press(point(at)),
        Action::Toggle(at) => Kind::Toggle(point(at)),
        Action::Agree => Kind::Agree(true),
        Action::Resume => Kind::Resume(true),
        Action::Choose(choice) => Kind::Choose(write_choice(choice)),
        Action::Done(tenths) => Kind::Done(tenths),
    };
    board::Action { kind: Some(kind) }
}

/// An action, legal or not.
pub fn read_action(action: Option<&board::Action>) -> Result<Action, Unreadable> {
    use board::action::Kind;
    Ok(match action.and_then(|action| action.kind.as_ref()).ok_or(Unreadable("action"))? {
        Kind::Place(at) => Action::Place(read_point(*at)?),
        Kind::Step(step) => Action::Step { from: read_point(step.from)?, to: read_point(step.to)? },
        Kind::Capture(at) => Action::Capture(read_point(*at)?),
        Kind::Pass(_) => Action::Pass,
        Kind::Press(at) => Action::Press(read_point(*at)?),
        Kind::Toggle(at) => Action::Toggle(read_point(*at)?),
        Kind::Agree(_) => Action::Agree,
        Kind::Resume(_) => Action::Resume,
        Kind::Choose(choice) => Action::Choose(read_choice(*choice)?),
        Kind::Done(tenths) if *tenths <= LightsOutSetup::RACE_TENTHS => Action::Done(*tenths),
        Kind::Done(_) => return Err(Unreadable("time")),
    })
}

/// The number of a choice. Those of fifth moves follow the others.
fn write_choice(choice: Choice) -> i32 {
    match choice {
        Choice::Black => board::Choice::Black.into(),
        Choice::White => board::Choice::White.into(),
        Choice::TwoMore => board::Choice::TwoMore.into(),
        Choice::Fifths(count) => board::Choice::TwoMore as i32 + i32::from(count),
    }
}

fn read_choice(number: i32) -> Result<Choice, Unreadable> {
    match board::Choice::try_from(number) {
        Ok(board::Choice::Black) => Ok(Choice::Black),
        Ok(board::Choice::White) => Ok(Choice::White),
        Ok(board::Choice::TwoMore) => Ok(Choice::TwoMore),
        Ok(board::Choice::Unspecified) | Err(_) => Err(Unreadable("choice")),
        Ok(_) => Ok(Choice::Fifths((number - board::Choice::TwoMore as i32) as u8)),
    }
}

/// How a match ended.
pub fn result(result: MatchResult) -> board::Result {
    let (winner, ending) = match result {
        MatchResult::Played(Outcome { winner, reason }) => (winner, ending(reason)),
        MatchResult::Resigned(side) => (Some(side.other()), board::Ending::Resigned),
        MatchResult::TimedOut(side) => (Some(side.other()), board::Ending::Time),
        MatchResult::DrawAgreed => (None, board::Ending::DrawAgreed),
    };
    board::Result { winner: winner.map_or(board::Side::Unspecified, side).into(), ending: ending.into() }
}

/// How a match ended.
pub fn read_result(result: &board::Result) -> Result<MatchResult, Unreadable> {
    let ending = board::Ending::try_from(result.ending).map_err(|_| Unreadable("ending"))?;
    let winner = match result.winner {
        0 => None,
        number => Some(read_side(number)?),
    };
    match (ending, winner) {
        (board::Ending::Resigned, Some(winner)) => Ok(MatchResult::Resigned(winner.other())),
        (board::Ending::Time, Some(winner)) => Ok(MatchResult::TimedOut(winner.other())),
        (board::Ending::DrawAgreed, None) => Ok(MatchResult::DrawAgreed),
        (ending, winner) => {
            let reason = read_reason(ending).ok_or(Unreadable("ending"))?;
            Ok(MatchResult::Played(Outcome { winner, reason }))
        }
    }
}

/// All reasons with their numbers, for both directions.
const REASONS: [(Reason, board::Ending); 18] = [
    (Reason::FiveInARow, board::Ending::FiveInARow),
    (Reason::BoardFull, board::Ending::BoardFull),
    (Reason::TooFewStones, board::Ending::TooFewStones),
    (Reason::NoMoves, board::Ending::NoMoves),
    (Reason::Repetition, board::Ending::Repetition),
    (Reason::TooLong, board::Ending::TooLong),
    (Reason::Checkmate, board::Ending::Checkmate),
    (Reason::PerpetualCheck, board::Ending::PerpetualCheck),
    (Reason::PerpetualChase, board::Ending::PerpetualChase),
    (Reason::PerpetualAttack, board::Ending::PerpetualAttack),
    (Reason::BareMaterial, board::Ending::BareMaterial),
    (Reason::Score, board::Ending::Score),
    (Reason::AllOut, board::Ending::AllOut),
    (Reason::Faster, board::Ending::Faster),
    (Reason::FewerPresses, board::Ending::FewerPresses),
    (Reason::Forbidden(Fault::Overline), board::Ending::ForbiddenOverline),
    (Reason::Forbidden(Fault::DoubleFour), board::Ending::ForbiddenDoubleFour),
    (Reason::Forbidden(Fault::DoubleThree), board::Ending::ForbiddenDoubleThree),
];

/// The number of a reason by the rules; unspecified for a reason missing from the list.
pub fn ending(reason: Reason) -> board::Ending {
    REASONS
        .iter()
        .find(|(known, _)| *known == reason)
        .map_or(board::Ending::Unspecified, |(_, ending)| *ending)
}

fn read_reason(ending: board::Ending) -> Option<Reason> {
    REASONS.iter().find(|(_, number)| *number == ending).map(|(reason, _)| *reason)
}

/// Appends an action as packed in `peer.Record`: a varint of kind and point, for a step another of its end. Actions without a
/// point share the kind of a pass: 0 for a pass, the number of a choice, `DONE` and the tenths of a second for the end of a run.
/// A number of fifth moves shares the kind of a resumption.
pub fn pack_action(action: Action, into: &mut Vec<u8>) {
    let (kind, at) = match action {
        Action::Choose(Choice::Fifths(count)) => {
            return pack_number(RESUME | u32::from(count) << KIND_BITS, into);
        }
        Action::Choose(choice) => {
            return pack_number(PASS | (write_choice(choice) as u32) << KIND_BITS, into);
        }
        Action::Done(tenths) => return pack_number(PASS | (DONE + tenths) << KIND_BITS, into),
        Action::Place(at) => (0, Some(at)),
        Action::Step { from, .. } => (1, Some(from)),
        Action::Capture(at) => (2, Some(at)),
        Action::Pass => (PASS, None),
        Action::Press(at) => (4, Some(at)),
        Action::Toggle(at) => (5, Some(at)),
        Action::Agree => (6, None),
        Action::Resume => (RESUME, None),
    };
    pack_number(kind | at.map_or(0, interleave) << KIND_BITS, into);
    if let Action::Step { to, .. } = action {
        pack_number(interleave(to), into);
    }
}

/// All actions of a record, packed.
pub fn pack_actions(actions: &[Action]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(2 * actions.len());
    for action in actions {
        pack_action(*action, &mut packed);
    }
    packed
}

/// Unpacks the actions of a record. At most [`limits::RECORD_ACTIONS`] are accepted.
pub fn unpack_actions(mut packed: &[u8]) -> Result<Vec<Action>, Unreadable> {
    let mut actions = Vec::new();
    while !packed.is_empty() {
        if actions.len() == limits::RECORD_ACTIONS {
            return Err(Unreadable("actions"));
        }
        let number = unpack_number(&mut packed)?;
        let z = number >> KIND_BITS;
        actions.push(match (number & ((1 << KIND_BITS) - 1), z) {
            (0, z) => Action::Place(separate(z)?),
            (1, z) => Action::Step { from: separate(z)?, to: separate(unpack_number(&mut packed)?)? },
            (2, z) => Action::Capture(separate(z)?),
            (PASS, 0) => Action::Pass,
            (PASS, done) if done >= DONE => match done - DONE {
                tenths @ 0..=LightsOutSetup::RACE_TENTHS => Action::Done(tenths),
                _ => return Err(Unreadable("time")),
            },
            (PASS, choice) => Action::Choose(read_choice(choice as i32)?),
            (4, z) => Action::Press(separate(z)?),
            (5, z) => Action::Toggle(separate(z)?),
            (6, 0) => Action::Agree,
            (RESUME, 0) => Action::Resume,
            (RESUME, count @ 1..=MOST_FIFTHS) => Action::Choose(Choice::Fifths(count as u8)),
            _ => return Err(Unreadable("actions")),
        });
    }
    Ok(actions)
}

/// The times of a record's actions, as varints.
pub(crate) fn pack_times(times: &[u32]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(2 * times.len());
    for time in times {
        pack_number(*time, &mut packed);
    }
    packed
}

/// Unpacks the times of `count` actions.
pub(crate) fn unpack_times(mut packed: &[u8], count: usize) -> Result<Vec<u32>, Unreadable> {
    let mut times = Vec::with_capacity(count.min(limits::RECORD_ACTIONS));
    for _ in 0..count.min(limits::RECORD_ACTIONS) {
        times.push(unpack_number(&mut packed)?);
    }
    if packed.is_empty() { Ok(times) } else { Err(Unreadable("times")) }
}

const KIND_BITS: u32 = 3;
const PASS: u32 = 3;
const RESUME: u32 = 7;
const MOST_FIFTHS: u32 = Choice::MOST_FIFTHS as u32;
/// Above the numbers of the choices that are packed with it.
const DONE: u32 = 4;

/// Bits of a column or row below [`limits::ROWS_OR_COLUMNS`].
const COORDINATE_BITS: u32 = 10;

/// Interleaves the bits of column and row (Morton order), so that a small board has small numbers whatever its width.
fn interleave(point: Point) -> u32 {
    (0..COORDINATE_BITS).fold(0, |z, bit| {
        z | (u32::from(point.column) >> bit & 1) << (2 * bit)
            | (u32::from(point.row) >> bit & 1) << (2 * bit + 1)
    })
}

fn separate(z: u32) -> Result<Point, Unreadable> {
    if z >= 1 << (2 * COORDINATE_BITS) {
        return Err(Unreadable("point"));
    }
    let every_other = |z: u32| (0..COORDINATE_BITS).fold(0, |n, bit| n | (z >> (2 * bit) & 1) << bit) as u16;
    Ok(Point::new(every_other(z), every_other(z >> 1)))
}

/// Writes protobuf's varint: at most 28 bits in an action, 32 in a time.
fn pack_number(mut number: u32, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Accepts only the shortest form, so that equal records have equal bytes.
fn unpack_number(packed: &mut &[u8]) -> Result<u32, Unreadable> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = packed.split_first().ok_or(Unreadable("actions"))?;
        *packed = rest;
        if shift == 28 && *byte > 0x0F {
            return Err(Unreadable("number"));
        }
        number |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return if *byte == 0 && shift > 0 { Err(Unreadable("actions")) } else { Ok(number) };
        }
    }
    Err(Unreadable("actions"))
}

/// A match id as bytes of a message.
pub(crate) fn id_bytes(id: MatchId) -> Bytes {
    Bytes::copy_from_slice(&id.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_kind() -> Vec<Action> {
        let points = [(0, 0), (7, 7), (14, 0), (0, 14), (18, 18), (1023, 1023), (1023, 0), (512, 511)];
        let points = points.map(|(column, row)| Point::new(column, row));
        let mut actions = vec![Action::Pass, Action::Agree, Action::Resume];
        actions.extend(Choice::ALL.map(Action::Choose));
        actions.extend([0, 1, 123, LightsOutSetup::RACE_TENTHS].map(Action::Done));
        for at in points {
            actions.extend([Action::Place(at), Action::Capture(at), Action::Press(at), Action::Toggle(at)]);
            actions.extend(points.map(|to| Action::Step { from: at, to }));
        }
        actions
    }

    #[test]
    fn actions_read_back_from_both_forms() {
        let actions = every_kind();
        for one in &actions {
            assert_eq!(read_action(Some(&action(*one))), Ok(*one));
        }
        assert_eq!(unpack_actions(&pack_actions(&actions)), Ok(actions));
    }

    #[test]
    fn a_stone_takes_two_bytes_at_most_on_a_board_of_thirty_two() {
        for (column, row) in (0..32).flat_map(|column| (0..32).map(move |row| (column, row))) {
            assert!(pack_actions(&[Action::Place(Point::new(column, row))]).len() <= 2);
        }
    }

    #[test]
    fn packed_bytes_are_taken_in_one_form_only() {
        for bytes in [
            &[0x80][..],
            &[0x80, 0x00],
            &[0xFF; 4],
            &[0x01],
            &[0xFB, 0xFF, 0xFF, 0x7F],
            &[0x80, 0x80, 0x80, 0x7F],
        ] {
            assert!(unpack_actions(bytes).is_err(), "{bytes:?}");
        }
        let longest = vec![3; limits::RECORD_ACTIONS];
        assert_eq!(unpack_actions(&longest).map(|actions| actions.len()), Ok(limits::RECORD_ACTIONS));
        assert!(unpack_actions(&vec![3; limits::RECORD_ACTIONS + 1]).is_err());
    }

    #[test]
    fn times_read_back_in_one_form_only() {
        let times = [0, 1, 127, 128, 5_000, u32::MAX];
        assert_eq!(unpack_times(&pack_times(&times), times.len()), Ok(times.to_vec()));
        assert!(
            unpack_times(&pack_times(&times), 5).is_err() && unpack_times(&pack_times(&times), 7).is_err()
        );
        for bytes in [&[0x80, 0x00][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0x1F], &[0xFF; 5], &[0x80]] {
            assert!(unpack_times(bytes, 1).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn results_read_back() {
        let mut results = vec![MatchResult::DrawAgreed];
        for one in Side::BOTH {
            results.extend([MatchResult::Resigned(one), MatchResult::TimedOut(one)]);
            results.extend(
                REASONS.map(|(reason, _)| MatchResult::Played(Outcome { winner: Some(one), reason })),
            );
        }
        results.extend(REASONS.map(|(reason, _)| MatchResult::Played(Outcome { winner: None, reason })));
        for one in results {
            assert_eq!(read_result(&result(one)), Ok(one));
        }
    }

    #[test]
    fn what_says_nothing_known_is_told_apart() {
        assert!(read_action(Some(&board::Action { kind: None })).is_err());
        assert!(read_point(u32::MAX).is_err());
        assert!(read_side(0).is_err());
        for (winner, ending) in [(0, 0), (1, 0), (0, 32), (1, 33), (9, 1), (1, 99)] {
            assert!(read_result(&board::Result { winner, ending }).is_err(), "{winner} {ending}");
        }
        for kind in GameKind::ALL {
            assert_eq!(read_game(game(*kind).into()), Some(*kind));
        }
        assert_eq!(read_game(0), None);
        assert_eq!(read_game(-1), None);
    }
}
