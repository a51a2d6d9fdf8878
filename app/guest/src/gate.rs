//! Parser of messages from pages. Nothing else that a page sends has any effect.

use proto::board;
use proto::control::OfferKind;
use proto::peer::Phrase;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A message from a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// First message of a connection.
    Hello(Hello),
    /// Makes an action.
    Act(Act),
    /// Offers something to the opponent.
    Offer(Offer),
    /// Answers an offer of the opponent.
    Answer(Answer),
    /// Resigns.
    Resign(Resign),
    /// Sends a chat message.
    Say(Say),
    /// Sets the guest's name.
    Name(Name),
    /// Requests a position of the record.
    Look(Look),
    /// Requests the record as a file.
    File(File),
    /// Requests the rules.
    Rules(Rules),
    /// Checks that the host is alive.
    Ping(Id),
}

/// A message number chosen by the page, 1 to 2^53 - 1: the integers that JavaScript represents exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(u64);

impl Id {
    /// The number, 1 to 2^53 - 1.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if number == 0 || number >= 1 << 53 {
            return Err(D::Error::custom("an id is 1 to 2^53 - 1"));
        }
        Ok(Self(number))
    }
}

/// The first message: identifies code and browser.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Version of the protocol.
    pub version: u32,
    /// The secret of the code, as text.
    pub token: String,
    /// Random id that the browser has chosen, for the lifetime of its storage.
    #[serde(deserialize_with = "tab")]
    pub tab: String,
    /// The guest's name, not yet validated.
    #[serde(default)]
    pub name: String,
}

/// Leaves out the token, so that no secret is logged.
impl std::fmt::Debug for Hello {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hello")
            .field("version", &self.version)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn tab<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let tab = String::deserialize(deserializer)?;
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !(16..=64).contains(&tab.len()) || !tab.bytes().all(letter) {
        return Err(D::Error::custom("a tab is 16 to 64 letters, digits, - or _"));
    }
    Ok(tab)
}

/// An action, with the position that it was made in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
    /// Number of actions of the record that the page shows.
    pub ply: u32,
    /// Revision of the record that the page shows.
    pub revision: u32,
    /// The action.
    pub action: Action,
}

/// An action in its JSON form. Points are `row * 1024 + column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Places a stone on this point.
    Place(u32),
    /// Moves a piece from the first point to the second.
    Step([u32; 2]),
    /// Captures the piece on this point.
    Capture(u32),
    /// Lights Out: presses this cell.
    Press(u32),
    /// Go: marks the chain at this point as dead, or as alive again.
    Toggle(u32),
    /// Passes.
    Pass(Yes),
    /// Go: agrees to the dead stones as marked.
    Agree(Yes),
    /// Go: resumes play.
    Resume(Yes),
    /// Gomoku: a decision of the opening.
    Choose(Choice),
}

/// The JSON value `true`; every other value is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yes;

impl<'de> Deserialize<'de> for Yes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer)?
            .then_some(Self)
            .ok_or_else(|| D::Error::custom("only true says something"))
    }
}

/// A decision of an opening of gomoku.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Plays Black.
    Black,
    /// Plays White.
    White,
    /// Places two more stones.
    TwoMore,
    /// Renju: so many fifth moves.
    #[serde(rename = "fifths_1")]
    Fifths1,
    /// 2 fifth moves.
    #[serde(rename = "fifths_2")]
    Fifths2,
    /// 3 fifth moves.
    #[serde(rename = "fifths_3")]
    Fifths3,
    /// 4 fifth moves.
    #[serde(rename = "fifths_4")]
    Fifths4,
    /// 5 fifth moves.
    #[serde(rename = "fifths_5")]
    Fifths5,
    /// 6 fifth moves.
    #[serde(rename = "fifths_6")]
    Fifths6,
    /// 7 fifth moves.
    #[serde(rename = "fifths_7")]
    Fifths7,
    /// 8 fifth moves.
    #[serde(rename = "fifths_8")]
    Fifths8,
    /// 9 fifth moves.
    #[serde(rename = "fifths_9")]
    Fifths9,
    /// 10 fifth moves.
    #[serde(rename = "fifths_10")]
    Fifths10,
}

impl From<Action> for board::Action {
    fn from(action: Action) -> Self {
        use board::action::Kind;
        let kind = match action {
            Action::Place(at) => Kind::Place(at),
            Action::Step([from, to]) => Kind::Step(board::Step { from, to }),
            Action::Capture(at) => Kind::Capture(at),
            Action::Press(at) => Kind::Press(at),
            Action::Toggle(at) => Kind::Toggle(at),
            Action::Pass(Yes) => Kind::Pass(true),
            Action::Agree(Yes) => Kind::Agree(true),
            Action::Resume(Yes) => Kind::Resume(true),
            Action::Choose(choice) => Kind::Choose(match choice {
                Choice::Black => board::Choice::Black.into(),
                Choice::White => board::Choice::White.into(),
                Choice::TwoMore => board::Choice::TwoMore.into(),
                Choice::Fifths1 => board::Choice::Fifths1.into(),
                Choice::Fifths2 => board::Choice::Fifths2.into(),
                Choice::Fifths3 => board::Choice::Fifths3.into(),
                Choice::Fifths4 => board::Choice::Fifths4.into(),
                Choice::Fifths5 => board::Choice::Fifths5.into(),
                Choice::Fifths6 => board::Choice::Fifths6.into(),
                Choice::Fifths7 => board::Choice::Fifths7.into(),
                Choice::Fifths8 => board::Choice::Fifths8.into(),
                Choice::Fifths9 => board::Choice::Fifths9.into(),
                Choice::Fifths10 => board::Choice::Fifths10.into(),
            }),
        };
        Self { kind: Some(kind) }
    }
}

/// An offer, with the position that it was made in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
    /// Number of actions of the record that the page shows.
    pub ply: u32,
    /// Revision of the record that the page shows.
    pub revision: u32,
    /// The kind of offer; never unspecified and never an adjournment.
    #[serde(deserialize_with = "offer_kind")]
    pub kind: OfferKind,
}

fn offer_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OfferKind, D::Error> {
    Ok(match String::deserialize(deserializer)?.as_str() {
        "take_back" => OfferKind::OfferTakeBack,
        "draw" => OfferKind::OfferDraw,
        "new_game" => OfferKind::OfferNewGame,
        "new_game_same" => OfferKind::OfferNewGameSame,
        "pause" => OfferKind::OfferPause,
        "continue" => OfferKind::OfferContinue,
        _ => return Err(D::Error::custom("no such offer")),
    })
}

/// The answer to an offer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
    /// Number of the offer.
    pub number: u32,
    /// Whether the offer is accepted.
    pub accept: bool,
}

/// Resignation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
    /// Revision of the record that the page shows.
    pub revision: u32,
}

/// A chat message: either a phrase or a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// Id of the message.
    pub id: Id,
    /// The phrase; unspecified for a text.
    #[serde(default = "no_phrase", deserialize_with = "phrase")]
    pub phrase: Phrase,
    /// The text; empty for a phrase.
    #[serde(default)]
    pub text: String,
}

fn no_phrase() -> Phrase {
    Phrase::Unspecified
}

fn phrase<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Phrase, D::Error> {
    let word = String::deserialize(deserializer)?;
    let name = format!("PHRASE_{}", word.replace('-', "_").to_uppercase());
    Phrase::from_str_name(&name)
        .filter(|phrase| *phrase != Phrase::Unspecified)
        .ok_or_else(|| D::Error::custom("no such phrase"))
}

/// The guest's new name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// Id of the message.
    pub id: Id,
    /// The name, not yet validated.
    pub name: String,
}

/// Requests a position of the record.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
    /// Number of actions before the position.
    pub ply: u32,
}

/// Requests the record as a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
    /// File extension, such as `sgf`; empty: the usual one of the game.
    #[serde(default)]
    pub format: String,
}

/// Requests the rules.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Id of the message.
    pub id: Id,
    /// Id of the room.
    pub room: String,
}

/// The text is not a valid message.
#[derive(Debug, thiserror::Error)]
#[error("this is no message of a guest: {0}")]
pub struct Malformed(String);

/// Parses a message. Strings are not validated; the host limits their lengths further than the limit of the message does.
pub fn read(text: &str) -> Result<Message, Malformed> {
    if text.len() > crate::MESSAGE_BYTES {
        return Err(Malformed("it is too long".into()));
    }
    let message: Message = serde_json::from_str(text).map_err(|error| Malformed(error.to_string()))?;
    if let Message::Say(say) = &message
        && (say.phrase == Phrase::Unspecified) == say.text.is_empty()
    {
        return Err(Malformed("a phrase or a text, and one of them".into()));
    }
    Ok(message)
}

impl Message {
    /// Id of the message; `None` for a hello.
    pub fn id(&self) -> Option<u64> {
        let id = match self {
            Self::Hello(_) => return None,
            Self::Act(act) => act.id,
            Self::Offer(offer) => offer.id,
            Self::Answer(answer) => answer.id,
            Self::Resign(resign) => resign.id,
            Self::Say(say) => say.id,
            Self::Name(name) => name.id,
            Self::Look(look) => look.id,
            Self::File(file) => file.id,
            Self::Rules(rules) => rules.id,
            Self::Ping(id) => *id,
        };
        Some(id.0)
    }

    /// Room of the message, if it has one.
    pub fn room(&self) -> Option<&str> {
        Some(match self {
            Self::Act(act) => &act.room,
            Self::Offer(offer) => &offer.room,
            Self::Answer(answer) => &answer.room,
            Self::Resign(resign) => &resign.room,
            Self::Look(look) => &look.room,
            Self::File(file) => &file.room,
            Self::Rules(rules) => &rules.room,
            Self::Hello(_) | Self::Say(_) | Self::Name(_) | Self::Ping(_) => return None,
        })
    }

    /// Whether the message changes nothing, so that spectators may send it.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Look(_) | Self::File(_) | Self::Rules(_) | Self::Ping(_) => true,
            Self::Hello(_)
            | Self::Act(_)
            | Self::Offer(_)
            | Self::Answer(_)
            | Self::Resign(_)
            | Self::Say(_)
            | Self::Name(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(action: &str) -> Option<board::action::Kind> {
        let text = format!(r#"{{"act":{{"id":1,"room":"r","ply":0,"revision":0,"action":{action}}}}}"#);
        match read(&text) {
            Ok(Message::Act(act)) => board::Action::from(act.action).kind,
            _ => None,
        }
    }

    #[test]
    fn each_action_is_read_as_what_it_says() {
        use board::action::Kind;
        for (text, expected) in [
            (r#"{"place":7175}"#, Kind::Place(7_175)),
            (r#"{"step":[0,1025]}"#, Kind::Step(board::Step { from: 0, to: 1_025 })),
            (r#"{"capture":5}"#, Kind::Capture(5)),
            (r#"{"press":3}"#, Kind::Press(3)),
            (r#"{"toggle":9}"#, Kind::Toggle(9)),
            (r#"{"pass":true}"#, Kind::Pass(true)),
            (r#"{"agree":true}"#, Kind::Agree(true)),
            (r#"{"resume":true}"#, Kind::Resume(true)),
            (r#"{"choose":"two_more"}"#, Kind::Choose(board::Choice::TwoMore.into())),
            (r#"{"choose":"black"}"#, Kind::Choose(board::Choice::Black.into())),
            (r#"{"choose":"fifths_1"}"#, Kind::Choose(board::Choice::Fifths1.into())),
            (r#"{"choose":"fifths_10"}"#, Kind::Choose(board::Choice::Fifths10.into())),
        ] {
            assert_eq!(kind(text), Some(expected), "{text}");
        }
        for text in [
            "{}",
            r#"{"pass":false}"#,
            r#"{"pass":1}"#,
            r#"{"place":-1}"#,
            r#"{"place":1.5}"#,
            r#"{"place":4294967296}"#,
            r#"{"step":[0]}"#,
            r#"{"step":[0,1,2]}"#,
            r#"{"done":12}"#,
            r#"{"place":1,"pass":true}"#,
            r#"{"choose":"unspecified"}"#,
            r#""pass""#,
            "null",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_the_protocol_has_passes_the_gate() {
        for good in [
            r#"{"hello":{"version":1,"token":"t","tab":"0123456789abcdef"}}"#,
            r#"{"say":{"id":1,"phrase":"good-move"}}"#,
            r#"{"say":{"id":9007199254740991,"text":"棋"}}"#,
            r#"{"offer":{"id":1,"room":"r","ply":0,"revision":0,"kind":"new_game_same"}}"#,
            r#"{"ping":1}"#,
            r#" { "rules" : { "id" : 2 , "room" : "r" } } "#,
        ] {
            assert!(read(good).is_ok(), "{good}: {:?}", read(good));
        }
        for bad in [
            "",
            "null",
            "[]",
            "1",
            r#""ping""#,
            "{}",
            r#"{"ping":0}"#,
            r#"{"ping":9007199254740992}"#,
            r#"{"ping":"1"}"#,
            r#"{"ping":1}{"ping":2}"#,
            r#"{"ping":1,"pong":1}"#,
            r#"{"stop":{}}"#,
            r#"{"open_room":{}}"#,
            r#"{"list_matches":{"limit":100}}"#,
            r#"{"hello":{"version":1,"token":"t","tab":"short"}}"#,
            r#"{"hello":{"version":1,"token":"t","tab":"0123456789abcdef","admin":true}}"#,
            r#"{"offer":{"id":1,"room":"r","ply":0,"revision":0,"kind":"adjourn"}}"#,
            r#"{"offer":{"id":1,"room":"r","ply":0,"revision":0,"kind":"unspecified"}}"#,
            r#"{"say":{"id":1}}"#,
            r#"{"say":{"id":1,"text":""}}"#,
            r#"{"say":{"id":1,"text":"both","phrase":"hello"}}"#,
            r#"{"say":{"id":1,"phrase":"unspecified"}}"#,
            r#"{"say":{"id":1,"phrase":"insult"}}"#,
            r#"{"act":{"id":1,"room":"r","ply":0,"revision":0}}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&format!(r#"{{"ping":1{}}}"#, " ".repeat(MESSAGE))).is_err(), "too long");
        assert!(read(&"[".repeat(MESSAGE - 1)).is_err(), "too deep");
    }

    const MESSAGE: usize = crate::MESSAGE_BYTES;

    #[test]
    fn every_example_of_a_page_in_the_documentation_passes() {
        let examples: serde_json::Value =
            serde_json::from_str(include_str!("../../../docs/guest-examples.json"))
                .expect("the file is JSON");
        let from_page = examples["from_page"].as_array().expect("a list");
        assert!(from_page.len() >= 15);
        for example in from_page {
            read(&example.to_string()).unwrap_or_else(|error| panic!("{example}: {error}"));
        }
        for example in examples["from_host"].as_array().expect("a list") {
            assert!(read(&example.to_string()).is_err(), "a page cannot say {example}");
        }
    }
}
