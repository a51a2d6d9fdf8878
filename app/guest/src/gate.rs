//! The gate: all that a page can say, and nothing else.

use proto::board;
use proto::control::OfferKind;
use proto::peer::Phrase;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// One message of a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// The first one.
    Hello(Hello),
    /// Plays.
    Act(Act),
    /// Offers something to the other person.
    Offer(Offer),
    /// Answers the other person's offer.
    Answer(Answer),
    /// Gives the match up.
    Resign(Resign),
    /// Says something to the other person.
    Say(Say),
    /// What the guest is called.
    Name(Name),
    /// Asks for a position of the record.
    Look(Look),
    /// Asks for the record as a file.
    File(File),
    /// Asks for the rules.
    Rules(Rules),
    /// Is anybody there?
    Ping(Id),
}

/// A number that the page chooses: 1 to 2^53 - 1, which every browser has exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(u64);

impl Id {
    /// The number.
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

/// The first message: who comes by which code.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Of the protocol.
    pub version: u32,
    /// The secret of the code, as text.
    pub token: String,
    /// Which browser this is, as it chose at random.
    #[serde(deserialize_with = "tab")]
    pub tab: String,
    /// What the guest is called; not yet made a valid name.
    #[serde(default)]
    pub name: String,
}

/// Says no secret.
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

/// An action, and the position that it is about.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
    /// Actions before it, as the page shows.
    pub ply: u32,
    /// Of the record, as the page shows.
    pub revision: u32,
    /// What is done.
    pub action: Action,
}

/// An action as a page says it. Points are `row * 1024 + column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// A stone onto this point.
    Place(u32),
    /// A piece from a point to another.
    Step([u32; 2]),
    /// Takes the piece of this point.
    Capture(u32),
    /// Presses this light.
    Press(u32),
    /// Go: this chain is dead, or alive.
    Toggle(u32),
    /// Passes.
    Pass(Yes),
    /// Go: agrees to the dead stones.
    Agree(Yes),
    /// Go: plays on.
    Resume(Yes),
    /// Gomoku's swap2.
    Choose(Choice),
}

/// `true`, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yes;

impl<'de> Deserialize<'de> for Yes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer)?
            .then_some(Self)
            .ok_or_else(|| D::Error::custom("only true says something"))
    }
}

/// What is chosen in gomoku's swap2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Plays Black.
    Black,
    /// Plays White.
    White,
    /// Puts two more stones.
    TwoMore,
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
            }),
        };
        Self { kind: Some(kind) }
    }
}

/// An offer, and the position that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
    /// Actions of the record, as the page shows.
    pub ply: u32,
    /// Of the record, as the page shows.
    pub revision: u32,
    /// What is offered; never unspecified, and never to adjourn.
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
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
    /// Of the offer.
    pub number: u32,
    /// Whether it is accepted.
    pub accept: bool,
}

/// Giving up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
    /// Of the record, as the page shows.
    pub revision: u32,
}

/// Words to the other person: a phrase, or a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// Of the message.
    pub id: Id,
    /// Unspecified: a text.
    #[serde(default = "no_phrase", deserialize_with = "phrase")]
    pub phrase: Phrase,
    /// Empty: a phrase.
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

/// What the guest is called from now on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// Of the message.
    pub id: Id,
    /// Not yet made a valid name.
    pub name: String,
}

/// A position of the record is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
    /// After so many actions.
    pub ply: u32,
}

/// The record is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
    /// Such as `sgf`; empty: the game's usual one.
    #[serde(default)]
    pub format: String,
}

/// The rules are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Of the message.
    pub id: Id,
    /// The room.
    pub room: String,
}

/// What a page sent is none of the messages.
#[derive(Debug, thiserror::Error)]
#[error("this is no message of a guest: {0}")]
pub struct Malformed(String);

/// Reads a message. Texts in it are as the page sent them; lengths beyond the message's own bound are the host's matter.
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
    /// Its id; a hello has none.
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

    /// The room that it names, if it names one.
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

    /// Whether it changes nothing, so that who only watches may send it.
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
