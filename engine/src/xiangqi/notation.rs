//! Move notations.
//!
//! Sources: ICCS as in the UCI and UCCI protocols (file letter, rank digit from 0); WXF as the World Xiangqi Federation
//! writes it; Chinese as in the Chinese rules. Files count 1 to 9 from the mover's right.
//!
//! Two pieces of a kind on a file are distinguished as front and rear (`+` `-`, 前 后); of three soldiers there is a middle
//! one (`.`, 中); four or five, and soldiers on two files with several each, are numbered from the mover's right, front first
//! (`a` to `e`, 一 to 五). Advisers and elephants need no distinction, because the front one can only retreat and the rear one
//! only advance. Black's digits are Arabic in Chinese notation.

use super::attacks::{FILE, RANK, squares};
use super::board::{Board, FILES, Kind, RANKS, XiangqiMove};
use crate::Side;

/// A notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// `h2e2`.
    Iccs,
    /// `C2=5`.
    Wxf,
    /// 炮二平五.
    Chinese,
}

pub(super) fn write(board: &Board, mv: XiangqiMove, notation: Notation) -> String {
    match notation {
        Notation::Iccs => iccs(mv),
        Notation::Wxf => relative(board, mv, &WXF),
        Notation::Chinese => relative(board, mv, &CHINESE),
    }
}

pub(super) fn iccs(mv: XiangqiMove) -> String {
    let name = |square: u8| {
        let square = usize::from(square);
        format!("{}{}", (b'a' + FILE[square]) as char, RANK[square])
    };
    name(mv.from) + &name(mv.to)
}

/// The move for a text, legal or not. WXF and Chinese match only pseudo-legal moves; ICCS matches any two squares.
pub(super) fn read(board: &Board, text: &str) -> Option<XiangqiMove> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if let Some(mv) = read_iccs(&text) {
        return Some(mv);
    }
    let wanted = plain(&text);
    let side = board.turn();
    for kind in Kind::ALL {
        for from in squares(board.pieces(side, kind)) {
            for to in squares(board.reach(from, side, kind)) {
                let mv = XiangqiMove { from, to };
                if [&WXF, &CHINESE].iter().any(|script| readings(board, mv, script).contains(&wanted)) {
                    return Some(mv);
                }
            }
        }
    }
    None
}

fn read_iccs(text: &str) -> Option<XiangqiMove> {
    let lower = text.to_ascii_lowercase();
    let bytes: Vec<u8> = lower.bytes().filter(|&byte| byte != b'-').collect();
    let [from_file, from_rank, to_file, to_rank] = bytes[..] else { return None };
    let square = |file: u8, rank: u8| {
        let (file, rank) = (file.checked_sub(b'a')?, rank.checked_sub(b'0')?);
        (usize::from(file) < FILES && usize::from(rank) < RANKS).then(|| rank * FILES as u8 + file)
    };
    Some(XiangqiMove { from: square(from_file, from_rank)?, to: square(to_file, to_rank)? })
}

/// The characters of a notation.
struct Script {
    /// Pieces by kind, Red's and Black's.
    pieces: [[char; 7]; 2],
    /// Digits 1 to 9, Red's and Black's.
    digits: [[char; 9]; 2],
    /// Advance, retreat, sideways.
    directions: [char; 3],
    /// Front, middle, rear.
    places: [char; 3],
    /// First to fifth, of many soldiers.
    order: [char; 5],
    /// Whether the piece precedes its distinguishing character.
    piece_first: bool,
}

const ARABIC: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

const WXF: Script = Script {
    pieces: [['K', 'A', 'E', 'H', 'R', 'C', 'P']; 2],
    digits: [ARABIC; 2],
    directions: ['+', '-', '='],
    places: ['+', '.', '-'],
    order: ['a', 'b', 'c', 'd', 'e'],
    piece_first: true,
};

const CHINESE: Script = Script {
    pieces: [['帅', '仕', '相', '马', '车', '炮', '兵'], ['将', '士', '象', '马', '车', '炮', '卒']],
    digits: [['一', '二', '三', '四', '五', '六', '七', '八', '九'], ARABIC],
    directions: ['进', '退', '平'],
    places: ['前', '中', '后'],
    order: ['一', '二', '三', '四', '五'],
    piece_first: false,
};

/// Rank from the side's point of view: 0 is its own back rank.
fn height(square: u8, side: Side) -> u8 {
    let rank = RANK[usize::from(square)];
    if side == Side::First { rank } else { RANKS as u8 - 1 - rank }
}

/// File from the side's right, from 0.
fn file_of(square: u8, side: Side) -> u8 {
    let file = FILE[usize::from(square)];
    if side == Side::First { FILES as u8 - 1 - file } else { file }
}

/// The move in WXF or Chinese notation.
fn relative(board: &Board, mv: XiangqiMove, script: &Script) -> String {
    let Some((side, kind)) = board.at(mv.from) else { return iccs(mv) };
    let name = script.pieces[side.index()][kind as usize];
    let plain_name = [name, script.digits[side.index()][usize::from(file_of(mv.from, side))]];
    let who = match sign_among_like(board, mv.from, side, kind, script) {
        Some(sign) if script.piece_first => [name, sign],
        Some(sign) => [sign, name],
        None => plain_name,
    };
    who.into_iter().chain(whither(mv, side, kind, script)).collect()
}

/// Direction and number: the destination file if the piece changes its file, otherwise the number of steps.
fn whither(mv: XiangqiMove, side: Side, kind: Kind, script: &Script) -> [char; 2] {
    let (from, to) = (height(mv.from, side), height(mv.to, side));
    let digit = |number: u8| script.digits[side.index()][usize::from(number)];
    let direction = script.directions[match to.cmp(&from) {
        std::cmp::Ordering::Greater => 0,
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => 2,
    }];
    let slanting = matches!(kind, Kind::Adviser | Kind::Elephant | Kind::Horse);
    if slanting || from == to {
        [direction, digit(file_of(mv.to, side))]
    } else {
        [direction, digit(from.abs_diff(to) - 1)]
    }
}

/// The character that distinguishes the piece from others of its kind on its file, if necessary.
fn sign_among_like(board: &Board, square: u8, side: Side, kind: Kind, script: &Script) -> Option<char> {
    if matches!(kind, Kind::General | Kind::Adviser | Kind::Elephant) {
        return None;
    }
    let on_file = |file: u8| {
        let mut list: Vec<u8> =
            squares(board.pieces(side, kind)).filter(|&other| file_of(other, side) == file).collect();
        list.sort_by_key(|&other| std::cmp::Reverse(height(other, side)));
        list
    };
    let file = file_of(square, side);
    let here = on_file(file);
    if here.len() < 2 {
        return None;
    }
    let crowded: Vec<u8> = (0..FILES as u8).map(on_file).filter(|list| list.len() > 1).flatten().collect();
    if crowded.len() > here.len() || here.len() > 3 {
        let place = crowded.iter().position(|&other| other == square)?;
        return script.order.get(place).copied();
    }
    let place = here.iter().position(|&other| other == square)?;
    Some(
        script.places[if place == 0 {
            0
        } else if place + 1 == here.len() {
            2
        } else {
            1
        }],
    )
}

/// All variants in which the move may be written, in [`plain`] characters.
fn readings(board: &Board, mv: XiangqiMove, script: &Script) -> Vec<String> {
    let written = relative(board, mv, script);
    let mut list = vec![plain(&written)];
    // Some books distinguish front and rear for advisers and elephants too.
    if let Some((side, kind @ (Kind::Adviser | Kind::Elephant))) = board.at(mv.from) {
        let like = squares(board.pieces(side, kind))
            .find(|&other| other != mv.from && file_of(other, side) == file_of(mv.from, side));
        if let Some(other) = like {
            let place = script.places[if height(mv.from, side) > height(other, side) { 0 } else { 2 }];
            let name = script.pieces[side.index()][kind as usize];
            let who = if script.piece_first { [name, place] } else { [place, name] };
            list.push(plain(&who.into_iter().chain(whither(mv, side, kind, script)).collect::<String>()));
        }
    }
    list
}

/// The text with variants of characters unified: traditional ones, alternative letters, full-width digits.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '車' | '俥' => '车',
            '馬' | '傌' => '马',
            '砲' | '包' => '炮',
            '帥' | '將' | '将' => '帅',
            '士' => '仕',
            '象' => '相',
            '卒' => '兵',
            '進' => '进',
            '後' => '后',
            '一' => '1',
            '二' => '2',
            '三' => '3',
            '四' => '4',
            '五' => '5',
            '六' => '6',
            '七' => '7',
            '八' => '8',
            '九' => '9',
            '１'..='９' => (b'0' + (c as u32 - '０' as u32) as u8) as char,
            'B' | 'b' => 'E',
            'N' | 'n' => 'H',
            _ => c.to_ascii_uppercase(),
        })
        .collect()
}
