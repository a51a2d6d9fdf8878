//! Bounds on the fields of messages: how long, how many, and what would break beyond. Senders keep them; receivers check them
//! after decoding.

/// Characters of a player's name: one line of the nearby list on the smallest screen in Chinese.
pub const NAME_CHARS: usize = 32;

/// Bytes of a player's name: 32 characters of at most four bytes.
pub const NAME_BYTES: usize = 4 * NAME_CHARS;

/// Bytes of a match's or an invitation's id: 128 random bits, so that two devices never draw the same.
pub const ID_BYTES: usize = 16;

/// Bytes of a key, a nonce or a commitment: X25519 keys and SHA-256 digests.
pub const KEY_BYTES: usize = 32;

/// Games listed in a hello: six times the games that exist, and [`RESUME_POINTS`] still fit the frame.
pub const GAMES: usize = 32;

/// Matches listed in a hello, and so the unfinished matches with one peer. With 12, the longest hello stays below the 1 KiB of
/// an unauthenticated peer.
pub const RESUME_POINTS: usize = 12;

/// Actions of one record. A gomoku board of 20x20 is full after 400.
pub const RECORD_ACTIONS: usize = 1_024;

/// Bytes of a record's packed actions: the longest, a step on a board of 1,000 x 1,000, takes 4 and 3, so that the actions fill
/// less than half of a frame's 16 KiB.
pub const RECORD_BYTES: usize = 7 * RECORD_ACTIONS;

/// Bytes of a record's times: a varint of 32 bits takes 5, so that with [`RECORD_BYTES`] the longest record is 12 KiB.
pub const RECORD_TIMES_BYTES: usize = 5 * RECORD_ACTIONS;

/// Moves tried from one position in an analysis: more than anybody follows on a board.
pub const TRIED_ACTIONS: usize = 256;

/// Bytes of tried moves, as in [`RECORD_BYTES`].
pub const TRIED_BYTES: usize = 7 * TRIED_ACTIONS;

/// Bytes of a run of a race: 501 actions, of which a press on a board of 15 x 15 takes at most 2 and the end 4.
pub const RUN_BYTES: usize = 1_024;

/// Seconds of any part of a pace: the milliseconds of 30 days fit 32 bits.
pub const PACE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// Periods of byo-yomi: a screen shows the number.
pub const PACE_PERIODS: u32 = 100;

/// Revisions of one record. Each agreed take back or draw adds one: a million revisions, one a minute, take two years. The limit
/// is far below 2^32, so the next revision never overflows.
pub const REVISIONS: u32 = 1_000_000;

/// Hints that one side can have taken in a match: ten for each action of the longest record.
pub const HINTS: u32 = 10_000;

/// Actions of one record as clients receive it. More than [`RECORD_ACTIONS`], because a match without a peer may go on for
/// longer; in notation they are 128 KiB.
pub const SHOWN_ACTIONS: usize = 16_384;

/// A point is `row * 1024 + column`; rows and columns are below this.
pub const ROWS_OR_COLUMNS: u32 = 1_024;

/// Matches in one answer to `ListMatches`: 100 full records in notation (4 bytes and 2 of protobuf an action) are 600 KiB,
/// within a frame of the local socket.
pub const LISTED_MATCHES: usize = 100;

/// Bytes of a letter's account: the longest bare JID (RFC 7622: 1,023 on each side of the @).
pub const LETTER_ACCOUNT_BYTES: usize = 2 * 1_023 + 1;

/// Bytes of an id that a client may name: a Bluetooth device path is the longest, about 60.
pub const CLIENT_ID_BYTES: usize = 256;

/// Bytes of a sentence for logs and people, such as a refusal's detail or a check's remedy.
pub const TEXT_BYTES: usize = 4_096;

/// Bytes of a rule sheet in one language: 800 Chinese characters are 2.4 KiB.
pub const RULE_SHEET_BYTES: usize = 16_384;

/// Bytes of one action in notation: the longest, xiangqi's four Chinese characters such as `炮二平五`, is 12.
pub const NOTATION_BYTES: usize = 32;

/// Bytes of a comment on a position: 4,000 characters.
pub const COMMENT_BYTES: usize = 16_000;

/// Moves of all side lines of a match, and so of one of them.
pub const SIDE_MOVES: usize = 4_096;

/// Moves of a position that are listed with what was played: as many rows as a person reads.
pub const EXPLORED_MOVES: usize = 24;

/// Bytes of a start as text: an SGF of a whole game with comments has some ten thousand.
pub const START_TEXT_BYTES: usize = 64 * 1024;

/// Pieces that can be set up: 14 of xiangqi.
pub const TRAY_PIECES: usize = 16;

/// Bytes of the points of a start in a setup: four bits for each of 25 x 25.
pub const START_BYTES: usize = 313;

/// Bytes of a board of lights in a setup between devices: 64 x 64, which is more than a person presses, and an invitation with
/// it still fits the 1 KiB of the shortest frames.
pub const PEER_LIGHTS_BYTES: usize = 512;

/// Bytes of a board of lights as clients receive it: 1,000 rows of 1,000.
pub const LIGHTS_BYTES: usize = 125_000;

/// Legal steps in one position as clients receive them. Xiangqi has at most about 120.
pub const STEPS: usize = 1_024;

/// Options, and presets, of one game: twice what the richest, Liuzhou chess, has.
pub const OPTIONS: usize = 32;

/// Values of one option as a menu offers them.
pub const OPTION_VALUES: usize = 64;

/// Carriers that hear one device: twice the number that exist.
pub const CARRIERS: usize = 8;

/// Bytes of a friend code: see `link::friend_code`.
pub const FRIEND_CODE_BYTES: usize = 1_024;

/// Modules of one side of the largest QR code (ISO/IEC 18004, version 40).
pub const QR_SIDE: usize = 177;

/// Bytes of a password; SASL itself sets no bound (RFC 4616), and real passwords are far shorter.
pub const PASSWORD_BYTES: usize = 1_024;

/// Addresses in a guest's code beside the first: a handheld has one or two networks, each with a few addresses.
pub const GUEST_ADDRESSES: usize = 8;

/// Facts beside a board.
pub const FACTS: usize = 32;

/// Pieces and marks on one board as clients receive them: 64x64 full of both.
pub const PIECES: usize = 4_096;

/// Bytes of a file from another program: the longest collections of games stay below a few hundred KiB; the limit fits a frame
/// of the local socket.
pub const FILE_BYTES: usize = 512 * 1_024;

/// Players of a club evening: see `session::club::MAX_PLAYERS`.
pub const CLUB_PLAYERS: usize = 16;

/// Rounds of a club evening: a double round robin of 16 has 30, and late comers who join before half of the rounds have begun
/// add at most as many again.
pub const CLUB_ROUNDS: usize = 64;

/// Boards of one round of a club evening.
pub const CLUB_BOARDS: usize = CLUB_PLAYERS / 2;

/// Bytes of the pairings of a club evening between devices, five for each: they fit the frame of a friend.
pub const CLUB_GAMES_BYTES: usize = 5 * CLUB_ROUNDS * CLUB_BOARDS;

/// Engines that the user has added, and such that are found: a menu shows them.
pub const ENGINES: usize = 32;

/// Arguments of an engine's program: twice those of the longest command line in its manuals.
pub const ENGINE_ARGUMENTS: usize = 32;

/// Seconds that an engine may take for each move: longer, and a person leaves.
pub const ENGINE_SECONDS: u32 = 60;

/// Actions of a bot's principal variation as clients receive it.
pub const LINE_ACTIONS: usize = 8;

/// Puzzles of one game, as a client lists them.
pub const PUZZLES: usize = 1_024;

/// Lines of a hint.
pub const HINT_LINES: usize = 8;

/// Threats that a hint names.
pub const THREATS: usize = 64;

/// Addresses of one device on the local network: two for each of its interfaces.
pub const PLACES: usize = 32;

/// Checks in one diagnosis.
pub const CHECKS: usize = 128;

/// Whether `name` is a valid name: at most [`NAME_CHARS`] long and without control characters, which could break out of a line
/// of a list or a log. Empty is valid: a device need not have a name.
pub fn is_name(name: &str) -> bool {
    name.len() <= NAME_BYTES && name.chars().count() <= NAME_CHARS && !name.chars().any(is_control)
}

/// Characters without a visible glyph: zero width, or blank letters (Unicode's Default_Ignorable_Code_Point, and the blank
/// Braille pattern). Joiners and variation selectors do not count: emoji and some scripts need them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFC}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D159}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Characters of a chat message: two lines of a phone.
pub const SAID_CHARS: usize = 200;

/// Whether `text` is a valid chat message: not empty, at most [`SAID_CHARS`] long, and without control characters, as in a name.
pub fn is_said(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 4 * SAID_CHARS
        && text.chars().count() <= SAID_CHARS
        && !text.chars().any(is_control)
}

/// Characters of a note about a friend: as many as in a chat message.
pub const NOTE_CHARS: usize = SAID_CHARS;

/// Whether `text` is a valid note about a friend: empty, or a valid chat message ([`is_said`]).
pub fn is_note(text: &str) -> bool {
    text.is_empty() || is_said(text)
}

/// Adapters in one list: a machine has one or two.
pub const ADAPTERS: usize = 16;

/// Makes a valid name ([`is_name`]) of `wish`: removes control characters, invisible characters and surrounding spaces, and cuts
/// to length. Empty if nothing visible is left.
pub fn fit_name(wish: &str) -> String {
    let joins = |c: char| matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}');
    if wish.chars().all(|c| joins(c) || is_invisible(c) || is_control(c) || c.is_whitespace()) {
        return String::new();
    }
    let clean: String = wish.chars().filter(|c| !is_control(*c) && !is_invisible(*c)).collect();
    let cut: String = clean.trim().chars().take(NAME_CHARS).collect();
    let cut = cut.trim_end();
    // What is visible may have been behind the cut.
    if cut.chars().all(|c| joins(c) || c.is_whitespace()) { String::new() } else { cut.to_owned() }
}

/// Control characters and bidirectional overrides: with an override in a name, a stranger could make the words after the name
/// read as something else (Unicode Technical Report 36, section 2.2).
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_of_any_kind_becomes_a_name() {
        let long = "棋".repeat(100);
        for (wish, name) in [
            ("小明", "小明"),
            ("  Anna \n", "Anna"),
            ("a\u{202E}b\u{0007}c", "abc"),
            ("", ""),
            ("A\u{200B}nna\u{3164}", "Anna"),
            ("\u{3164}\u{200B}\u{FE0F}", ""),
            ("👩\u{200D}👧", "👩\u{200D}👧"),
            (long.as_str(), &"棋".repeat(32)),
            (format!("{}x", "\u{200D}".repeat(40)).as_str(), ""),
        ] {
            assert_eq!(fit_name(wish), name);
            assert!(is_name(name));
        }
        assert!(!is_name(&long));
        assert!(!is_name("two\nlines"));
        assert!(!is_name("\u{202E}drawkcab"));
    }

    #[test]
    fn thirty_two_of_the_widest_characters_are_a_name() {
        assert!(is_name(&"😀".repeat(32)));
        assert!(!is_name(&"😀".repeat(33)));
    }
}
