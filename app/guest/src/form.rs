//! The JSON messages to pages, as `docs/guest.md` specifies them. Words of enums, clocks, races and club evenings are those of
//! `client::json`, which `qiyouctl --json` prints; seats, offers and boards have a form of their own, for who draws them.

use std::time::Duration;

use client::{json, pace, words};
use proto::board::{Action, Choice, Setup, Side, Step, action, setup};
use proto::control::{
    self, Board, Fact, LinkState, Mark, PeerLink, Piece, Room, Seat, Touch, TouchKind, Warning, Words, seat,
};
use proto::peer::Phrase;
use serde_json::{Value, json};

use crate::{Role, Token, VERSION, Why};

/// What a page is sent about a room in addition to the room.
pub struct Around {
    /// The side of this page's seat; unspecified for a spectator.
    pub you: Side,
    /// The name of the host's user.
    pub host: String,
    /// The name of the game.
    pub game: Words,
    /// The names of the sides.
    pub sides: [Words; 2],
    /// The name of the rule preset, if it has one.
    pub rule: Option<Words>,
    /// The result, as a sentence; `None` while unfinished.
    pub result: Option<Words>,
}

/// The reply to a hello that was admitted.
pub fn welcome(role: Role, name: &str, host: &str, program: &str) -> String {
    let (role, side) = match role {
        Role::Seat(side) => ("seat", side),
        Role::Watcher => ("watcher", Side::Unspecified),
        Role::Evening => ("evening", Side::Unspecified),
    };
    json!({"welcome": {"version": VERSION, "as": role, "side": words::side(side.into()), "name": name,
        "host": host, "program": program}})
    .to_string()
}

/// The seat is taken, and the host's user is asked; `wait` is the time left.
pub fn taken(wait: Duration) -> String {
    let words = Words {
        zh: "这个座位已有人。正在问主人是否换人。".into(),
        en: "Somebody sits here already. The host is asked whether you may take the seat.".into(),
    };
    json!({"taken": {"words": both(&words), "seconds": wait.as_secs()}}).to_string()
}

/// The last message of a connection: the reason, and when the page may connect again.
pub fn closed(why: Why, wait: Duration) -> String {
    let words = why_words(why);
    // Rounded up: a page that connects a moment too early would be told to wait again.
    let seconds = wait.as_millis().div_ceil(1_000) as u64;
    json!({"closed": {"why": why.word(), "words": both(&words), "seconds": seconds}}).to_string()
}

impl Why {
    /// The reason's word in the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::WrongCode => "wrong_code",
            Self::Wait => "wait",
            Self::CodeClosed => "code_closed",
            Self::SeatTaken => "seat_taken",
            Self::Given => "given",
            Self::Replaced => "replaced",
            Self::Full => "full",
            Self::TooOld => "too_old",
            Self::NoHello => "no_hello",
            Self::BadMessage => "bad_message",
            Self::TooFast => "too_fast",
            Self::TooSlow => "too_slow",
            Self::HostStopping => "host_stopping",
        }
    }
}

fn why_words(why: Why) -> Words {
    let (zh, en) = match why {
        Why::WrongCode => ("这个码无效。请重新扫码。", "This code is not valid. Scan it again."),
        Why::Wait => ("错误的码太多。请稍等。", "Too many wrong codes. Wait a moment."),
        Why::CodeClosed => ("主人关闭了这个码。", "The host has closed this code."),
        Why::SeatTaken => ("这个座位已有人。", "Somebody else has this seat."),
        Why::Given => ("主人把这个座位给了别人。", "The host gave this seat to somebody else."),
        Why::Replaced => ("这一页已在别处打开。", "This page is open in another place."),
        Why::Full => ("人太多了。请稍后再试。", "Too many people are here. Try again later."),
        Why::TooOld => ("请刷新这一页。", "Reload this page."),
        Why::NoHello | Why::BadMessage => ("这一页出错了。请刷新。", "This page made an error. Reload it."),
        Why::TooFast => ("点得太快了。", "That was too fast."),
        Why::TooSlow => ("连接太慢。", "The connection is too slow."),
        Why::HostStopping => {
            ("主人的设备关闭了棋友。棋局已保存。", "The host's device closed Qiyou. The game is kept there.")
        }
    };
    Words { zh: zh.into(), en: en.into() }
}

/// The message was executed, now or by an earlier copy of it.
pub fn done(id: u64) -> String {
    json!({"reply": {"id": id, "ok": true}}).to_string()
}

/// The message was not executed: the reason as a word and a sentence, and the points that the sentence refers to.
pub fn refused(id: u64, word: &str, words: &Words, points: &[u32]) -> String {
    json!({"reply": {"id": id, "ok": false, "refused": word, "words": both(words), "points": points}})
        .to_string()
}

/// The reply to a ping.
pub fn pong(id: u64) -> String {
    json!({"pong": id}).to_string()
}

/// A chat message. `name`: the sender; `mine`: this page sent it.
pub fn said(number: u64, mine: bool, name: &str, phrase: Phrase, text: &str) -> String {
    let word = if phrase == Phrase::Unspecified { String::new() } else { words::phrase(phrase.into()) };
    json!({"said": {"number": number, "mine": mine, "name": name, "phrase": word, "text": text,
        "words": phrase_words(phrase).as_ref().map(both)}})
    .to_string()
}

/// The words of a phrase; `None` for a free text.
fn phrase_words(phrase: Phrase) -> Option<Words> {
    let (zh, en) = match phrase {
        Phrase::Unspecified => return None,
        Phrase::Hello => ("你好！", "Hello!"),
        Phrase::GoodLuck => ("祝你好运！", "Good luck!"),
        Phrase::GoodMove => ("好棋！", "Good move!"),
        Phrase::LetMeThink => ("让我想想", "Let me think"),
        Phrase::TakeYourTime => ("不着急", "Take your time"),
        Phrase::YourTurn => ("轮到你了", "It's your turn"),
        Phrase::Sorry => ("抱歉！", "Sorry!"),
        Phrase::Thanks => ("谢谢！", "Thank you!"),
        Phrase::GoodGame => ("下得真好！", "Good game!"),
        Phrase::OneMore => ("再来一局？", "One more?"),
        Phrase::HaveToGo => ("我得走了", "I have to go"),
        Phrase::Smile => ("（微笑）", "(smiles)"),
        Phrase::Laugh => ("（大笑）", "(laughs)"),
        Phrase::Wow => ("（哇）", "(wow)"),
        Phrase::Sad => ("（难过）", "(sad)"),
        Phrase::Applause => ("（鼓掌）", "(applauds)"),
        Phrase::Sweat => ("（汗）", "(sweats)"),
    };
    Some(Words { zh: zh.into(), en: en.into() })
}

/// A position of the record.
pub fn position(id: u64, room: &str, ply: u32, total: u32, board: &Board) -> String {
    json!({"position": {"id": id, "room": room, "ply": ply, "total": total, "board": self::board(board)}})
        .to_string()
}

/// The record as a file.
pub fn file(id: u64, name: &str, text: &str) -> String {
    json!({"file": {"id": id, "name": name, "text": text}}).to_string()
}

/// The rules, as text.
pub fn rules(id: u64, words: &Words) -> String {
    json!({"rules": {"id": id, "words": both(words)}}).to_string()
}

/// A seat of a game of an evening that has a code, and at which nobody is.
pub struct FreeSeat {
    /// The round of the game.
    pub round: u32,
    /// Its board in the round.
    pub board: u32,
    /// Whose seat it is.
    pub name: String,
    /// Which side it has.
    pub side: Side,
    /// The secret of its code.
    pub token: Token,
}

/// A club evening, for the page of one of its games.
pub fn club(club: &control::Club) -> String {
    json!({ "club": shared(club) }).to_string()
}

/// A club evening, for a page that looks at it: with the seats that can be taken.
pub fn evening(club: &control::Club, seats: &[FreeSeat]) -> String {
    let mut value = shared(club);
    let written = |seat: &FreeSeat| {
        json!({"round": seat.round, "board": seat.board, "name": seat.name, "side": words::side(seat.side.into()),
            "token": seat.token.to_string()})
    };
    value["seats"] = seats.iter().map(written).collect();
    json!({ "club": value }).to_string()
}

/// A club evening without what belongs to the host alone: keys of friends and ids of matches.
fn shared(club: &control::Club) -> Value {
    let mut value = json::club(club);
    let lists = [("players", "friend"), ("rounds", "games")];
    for (list, field) in lists {
        for one in value[list].as_array_mut().into_iter().flatten() {
            match &mut one[field] {
                Value::Array(games) => {
                    for game in games.iter_mut().filter_map(Value::as_object_mut) {
                        game.remove("room_id");
                        game.remove("way");
                    }
                }
                _ => drop(one.as_object_mut().map(|player| player.remove(field))),
            }
        }
    }
    value
}

/// The room from the point of view of this page's seat, or of a spectator; the caller has adapted it.
pub fn room(room: &Room, around: &Around) -> String {
    let board = room.board.clone().unwrap_or_default();
    let swapped = board.facts.iter().any(|fact| fact.kind() == control::FactKind::FactSwapped);
    json!({"room": {
        "id": room.id, "follows": room.follows,
        "game": words::game(board.game), "setup": words::setup(room.setup.as_ref()),
        "rule": maybe(around.rule.as_ref()), "area": counts_area(room.setup.as_ref()),
        "names": {"game": both(&around.game), "first": both(&around.sides[0]), "second": both(&around.sides[1])},
        "you": words::side(around.you.into()),
        "first": seat(room.first.as_ref(), room.link.as_ref(), around, Side::First),
        "second": seat(room.second.as_ref(), room.link.as_ref(), around, Side::Second),
        "swapped": swapped,
        "ply": room.record.len(), "revision": room.revision, "digest": json::digest(room.digest),
        "turn": words::side(board.turn),
        "result": room.result.map(|result| {
            let mut value = json::result(result);
            value["words"] = maybe(around.result.as_ref());
            value
        }),
        "offer": room.offer.as_ref().map(|offer| json!({"number": offer.number, "kind": words::offer(offer.kind),
            "mine": offer.mine, "by": words::side(offer.by)})),
        "can_act": room.can_act, "can_take_back": room.can_take_back, "can_offer_draw": room.can_offer_draw,
        "can_resign": room.can_resign, "can_new_game": room.can_new_game, "can_pause": room.can_pause,
        "can_continue": room.can_continue, "paused": room.paused,
        "record": room.record, "spoken": room.spoken.iter().map(both).collect::<Vec<_>>(),
        "pace": pace::text(room.pace.as_ref()), "pace_name": maybe(room.pace_name.as_ref()),
        "clocks": room.clocks.iter().map(json::clock).collect::<Vec<_>>(),
        "race": room.race.as_ref().map(json::race),
        "achieved": room.achieved.as_ref().map(json::achieved),
        "board": self::board(&board),
    }})
    .to_string()
}

/// Whether Go is scored by area.
fn counts_area(setup: Option<&Setup>) -> bool {
    matches!(setup.and_then(Setup::rules), Some(setup::Game::Go(go)) if !go.territory)
}

fn seat(seat: Option<&Seat>, link: Option<&LinkState>, around: &Around, side: Side) -> Value {
    let seat = seat.cloned().unwrap_or_default();
    let (who, name, level, present) = match &seat.who {
        Some(seat::Who::BotLevel(level)) => ("bot", String::new(), *level, true),
        Some(seat::Who::Guest(_)) => ("guest", seat.name, 0, !seat.away),
        Some(seat::Who::Peer(_)) => {
            let up = link.is_some_and(|link| matches!(link.state(), PeerLink::Up | PeerLink::Weak));
            ("peer", seat.name, 0, up)
        }
        Some(seat::Who::Here(_)) | None => ("host", around.host.clone(), 0, true),
    };
    json!({"who": who, "name": name, "level": level, "you": side == around.you, "present": present})
}

/// A board in the form in which pages draw it.
pub fn board(board: &Board) -> Value {
    json!({
        "game": words::game(board.game), "columns": board.columns, "rows": board.rows, "ply": board.ply,
        "turn": words::side(board.turn),
        "pieces": board.pieces.iter().map(piece).collect::<Vec<_>>(),
        "lights": lights(board),
        "last": board.last.as_ref().map(action),
        "marks": board.marks.iter().map(mark).collect::<Vec<_>>(),
        "lines": steps(&board.lines),
        "facts": board.facts.iter().map(fact).collect::<Vec<_>>(),
        "taken": board.taken.iter()
            .map(|piece| json!({"side": words::side(piece.side), "kind": words::piece(piece.kind)}))
            .collect::<Vec<_>>(),
        "touch": touch(board.touch.as_ref()),
        "steps": steps(&board.steps), "losing_steps": steps(&board.losing_steps),
        "choices": board.choices.iter().map(action).collect::<Vec<_>>(),
    })
}

fn piece(piece: &Piece) -> Value {
    json!({"at": piece.at, "side": words::side(piece.side), "kind": words::piece(piece.kind)})
}

fn mark(mark: &Mark) -> Value {
    json!({"at": mark.at, "kind": words::mark(mark.kind), "side": words::side(mark.side),
        "words": maybe(mark.words.as_ref())})
}

fn fact(fact: &Fact) -> Value {
    json!({"kind": words::fact(fact.kind), "side": words::side(fact.side), "number": fact.number,
        "words": maybe(fact.words.as_ref())})
}

fn touch(touch: Option<&Touch>) -> Value {
    let touch = touch.cloned().unwrap_or_default();
    let kind = match touch.kind() {
        TouchKind::TouchNothing => "nothing",
        TouchKind::TouchPlace => "place",
        TouchKind::TouchStep => "step",
        TouchKind::TouchCapture => "capture",
        TouchKind::TouchToggle => "toggle",
        TouchKind::TouchPress => "press",
        TouchKind::TouchChoose => "choose",
    };
    let warning =
        |one: &Warning| json!({"at": one.at, "words": maybe(one.words.as_ref()), "points": one.points});
    json!({"kind": kind, "stone": words::side(touch.stone),
        "warnings": touch.warnings.iter().map(warning).collect::<Vec<_>>(),
        "stuck": touch.stuck.iter().map(warning).collect::<Vec<_>>()})
}

/// A string per row from the bottom, with `1` for each lit cell; empty for games other than Lights Out.
fn lights(board: &Board) -> Vec<String> {
    if board.lights.is_empty() {
        return Vec::new();
    }
    let (columns, bytes) = (board.columns as usize, (board.columns as usize).div_ceil(8));
    let lit =
        |row: &[u8], column: usize| row.get(column / 8).is_some_and(|byte| byte >> (column % 8) & 1 == 1);
    let text = |row: &[u8]| (0..columns).map(|column| if lit(row, column) { '1' } else { '0' }).collect();
    board.lights.chunks(bytes.max(1)).take(board.rows as usize).map(text).collect()
}

fn steps(list: &[Step]) -> Vec<[u32; 2]> {
    list.iter().map(|step| [step.from, step.to]).collect()
}

fn action(action: &Action) -> Value {
    use action::Kind;
    match action.kind {
        None => Value::Null,
        Some(Kind::Place(at)) => json!({"place": at}),
        Some(Kind::Step(step)) => json!({"step": [step.from, step.to]}),
        Some(Kind::Capture(at)) => json!({"capture": at}),
        Some(Kind::Pass(_)) => json!({"pass": true}),
        Some(Kind::Press(at)) => json!({"press": at}),
        Some(Kind::Toggle(at)) => json!({"toggle": at}),
        Some(Kind::Agree(_)) => json!({"agree": true}),
        Some(Kind::Resume(_)) => json!({"resume": true}),
        Some(Kind::Choose(choice)) => json!({"choose": match Choice::try_from(choice) {
            Ok(Choice::Black) => "black",
            Ok(Choice::White) => "white",
            Ok(Choice::TwoMore) => "two_more",
            Ok(Choice::Fifths1) => "fifths_1",
            Ok(Choice::Fifths2) => "fifths_2",
            Ok(Choice::Fifths3) => "fifths_3",
            Ok(Choice::Fifths4) => "fifths_4",
            Ok(Choice::Fifths5) => "fifths_5",
            Ok(Choice::Fifths6) => "fifths_6",
            Ok(Choice::Fifths7) => "fifths_7",
            Ok(Choice::Fifths8) => "fifths_8",
            Ok(Choice::Fifths9) => "fifths_9",
            Ok(Choice::Fifths10) => "fifths_10",
            Ok(Choice::Unspecified) | Err(_) => "unspecified",
        }}),
        Some(Kind::Done(tenths)) => json!({"done": tenths}),
    }
}

fn both(words: &Words) -> Value {
    json!({"en": words.en, "zh": words.zh})
}

fn maybe(words: Option<&Words>) -> Value {
    words.map_or(Value::Null, both)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lights_are_a_text_for_each_row_from_the_bottom() {
        // A row of ten columns takes two bytes.
        let board = Board {
            columns: 10,
            rows: 2,
            lights: vec![0b0000_0101, 0b10, 0xFF, 0xFF].into(),
            ..Board::default()
        };
        assert_eq!(lights(&board), ["1010000001", "1111111111"]);
        let cut = Board { columns: 10, rows: 2, lights: vec![1].into(), ..Board::default() };
        assert_eq!(lights(&cut), ["1000000000"], "fewer bytes than the board has are no panic");
    }

    /// Each reason once: the next one after `why`.
    fn next_reason(why: Why) -> Option<Why> {
        match why {
            Why::WrongCode => Some(Why::Wait),
            Why::Wait => Some(Why::CodeClosed),
            Why::CodeClosed => Some(Why::SeatTaken),
            Why::SeatTaken => Some(Why::Given),
            Why::Given => Some(Why::Replaced),
            Why::Replaced => Some(Why::Full),
            Why::Full => Some(Why::TooOld),
            Why::TooOld => Some(Why::NoHello),
            Why::NoHello => Some(Why::BadMessage),
            Why::BadMessage => Some(Why::TooFast),
            Why::TooFast => Some(Why::TooSlow),
            Why::TooSlow => Some(Why::HostStopping),
            Why::HostStopping => None,
        }
    }

    #[test]
    fn every_phrase_has_words_and_every_reason_a_word_of_its_own() {
        let phrases: Vec<Phrase> = (1..64).filter_map(|number| Phrase::try_from(number).ok()).collect();
        assert_eq!(phrases.len(), 17);
        assert!(phrases.iter().all(|phrase| phrase_words(*phrase).is_some()));
        let read = |why| -> Value {
            serde_json::from_str(&closed(why, Duration::from_millis(40_001))).expect("JSON")
        };
        let mut words = BTreeSet::new();
        for why in std::iter::successors(Some(Why::WrongCode), |why| next_reason(*why)) {
            let message = &read(why)["closed"];
            let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let word = text(&message["why"]).expect("a word");
            assert!(words.insert(word.clone()), "{word} twice");
            for language in ["en", "zh"] {
                assert!(text(&message["words"][language]).is_some(), "{word}: {language}");
            }
        }
        assert_eq!(words.len(), 13);
        let message = &read(Why::Wait)["closed"];
        assert_eq!((&message["why"], &message["seconds"]), (&json!("wait"), &json!(41)));
    }
}
