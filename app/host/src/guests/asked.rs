//! What a message of a page leads to: a [`Deed`] of the guest's seat after all checks against the room as it is now, or the reason why
//! not.

use engine::{Action, AnyGame, Language, Side};
use guest::{ConnectionId, Denied, Why, form};
use proto::control::{RefusalCode, Words};
use proto::limits;
use proto::peer::Phrase;
use session::{LocalCommand, MatchId, MatchResult, OfferKind, Saying, wire};

use super::{Guests, Rooms, bad, now, room_and_side};
use crate::refusal::Refusal;
use crate::room::{Room, Seat};
use crate::show;

/// What the host does for a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    /// Nothing more than the reply: it has been done before, or asks for a sign of life.
    Nothing,
    /// Shows the position after so many actions.
    Look(u32),
    /// Shows the rules.
    Rules,
    /// Writes the record in the format of this extension.
    File(String),
    /// Makes an action of a match.
    Play(Action),
    /// Makes an action of this side in a race.
    Press(Side, Action),
    /// Offers something to the opponent, who is a person.
    Offer(Side, OfferKind),
    /// Does at once what was offered to a bot.
    Command(LocalCommand),
    /// Begins the next match against a bot.
    NextGame(OfferKind),
    /// Answers an offer by its number.
    Answer { side: Side, number: u32, accept: bool },
    /// Resigns.
    Resign(Side),
    /// Says something to the room.
    Say(Side, Saying),
    /// Takes another name.
    Rename(Side, String),
}

/// A message of a page that was let in, for the room of its place.
pub(crate) struct Asked {
    /// Number of the message, which the reply repeats.
    pub(crate) number: u64,
    pub(crate) room: MatchId,
    /// The side of the page's seat; `None` for spectators.
    pub(crate) side: Option<Side>,
    pub(crate) message: guest::Message,
}

/// Decides on a message. `waits`: the match waits for a guest who is away.
pub(crate) fn decide(
    room: &Room,
    waits: bool,
    side: Option<Side>,
    message: guest::Message,
) -> Result<Deed, Not> {
    use guest::Message;
    let record = room.record();
    let player = || {
        let side = side.filter(|side| matches!(room.seat(*side), Seat::Guest(_)));
        side.ok_or_else(|| Not::new("watching", "你只是在旁观。", "You only watch this game."))
    };
    let stale = || Not::new("stale", "棋局已经变了。", "The game has changed meanwhile.");
    Ok(match message {
        Message::Hello(_) => return Err(Not::watching()),
        Message::Ping(_) => Deed::Nothing,
        Message::Look(look) => Deed::Look(look.ply.min(room.ply())),
        Message::File(file) => Deed::File(file.format),
        Message::Rules(_) => Deed::Rules,
        Message::Act(act) => {
            let side = player()?;
            let action = wire::read_action(Some(&act.action.into()))
                .map_err(|_| bad("that is no action of this game"))?;
            let at = act.ply as usize;
            let race = record.setup.is_race();
            let (is_there, ply) = if race {
                let run = room.run_of(side);
                let presses = run.iter().filter(|one| matches!(one, Action::Press(_)));
                (run.get(at) == Some(&action), presses.count() as u32)
            } else {
                let mine = room.deciders().get(at) == Some(&side);
                (mine && record.actions.get(at) == Some(&action), room.ply())
            };
            let same_revision = act.revision == record.revision;
            if same_revision && is_there {
                return Ok(Deed::Nothing);
            }
            if !same_revision || act.ply != ply {
                return Err(stale());
            }
            if waits {
                let why = "somebody is away: the match waits";
                return Err(Refusal::new(RefusalCode::RefusalLinkLost, why).into());
            }
            if race {
                return Ok(Deed::Press(side, action));
            }
            if room.turn().is_some_and(|turn| turn != side) {
                return Err(Refusal::new(RefusalCode::RefusalNotYourTurn, "it is not your turn").into());
            }
            Deed::Play(action)
        }
        Message::Offer(offer) => {
            let side = player()?;
            if (offer.ply, offer.revision) != (room.ply(), record.revision) {
                return Err(stale());
            }
            let kind = show::parse_offer_kind(offer.kind.into()).ok_or_else(stale)?;
            if room.needs_consent() { Deed::Offer(side, kind) } else { offer_to_bot(room, side, kind)? }
        }
        Message::Answer(answer) => {
            Deed::Answer { side: player()?, number: answer.number, accept: answer.accept }
        }
        Message::Resign(resign) => {
            let side = player()?;
            if record.result == Some(MatchResult::Resigned(side)) {
                return Ok(Deed::Nothing);
            }
            if resign.revision != record.revision {
                return Err(stale());
            }
            Deed::Resign(side)
        }
        Message::Say(say) => {
            let side = player()?;
            let saying = match say.phrase {
                Phrase::Unspecified if !limits::is_said(&say.text) => {
                    return Err(bad("that text cannot be said").into());
                }
                Phrase::Unspecified => Saying::Text(say.text),
                phrase => Saying::Phrase(phrase),
            };
            Deed::Say(side, saying)
        }
        Message::Name(name) => {
            let side = player()?;
            let name = limits::fit_name(&name.name);
            if name.is_empty() {
                return Err(bad("a name has at least one character").into());
            }
            Deed::Rename(side, name)
        }
    })
}

/// An offer of a guest who plays against a bot: done at once or refused.
fn offer_to_bot(room: &Room, side: Side, kind: OfferKind) -> Result<Deed, Refusal> {
    let no = |why: &str| Refusal::new(RefusalCode::RefusalIllegal, why);
    match kind {
        OfferKind::TakeBack => {
            let nothing = || Refusal::new(RefusalCode::RefusalNothingToTakeBack, "no action to take back");
            let ply = room.last_decision_of(side).ok_or_else(nothing)?;
            Ok(Deed::Command(LocalCommand::TakeBack { ply }))
        }
        OfferKind::Pause => Ok(Deed::Command(LocalCommand::Pause(true))),
        OfferKind::Continue => Ok(Deed::Command(LocalCommand::Pause(false))),
        OfferKind::NewGame | OfferKind::NewGameSame => Ok(Deed::NextGame(kind)),
        OfferKind::Draw => Err(no("a bot does not agree to a draw")),
        OfferKind::Adjourn => Err(no("that cannot be offered")),
    }
}

impl Guests {
    /// Finds the place of a message. A page that sends what it may not is closed, and one that is out of date is told so; then nothing
    /// is left to do.
    pub(crate) fn asked(
        &mut self,
        connection: ConnectionId,
        message: guest::Message,
        rooms: &Rooms,
    ) -> Option<Asked> {
        if let guest::Message::Ping(number) = message
            && self.evening_of(connection).is_some()
        {
            self.send(connection, form::pong(number.number()));
            return None;
        }
        let admitted = self.codes.admit(connection, &message).map(room_and_side);
        let denied = match (message.id(), admitted) {
            (None, _) => Denied::BadMessage,
            (Some(number), Ok(Some((room, side)))) if rooms.contains_key(&room) => {
                return Some(Asked { number, room, side, message });
            }
            (Some(_), Ok(_)) => Denied::OtherRoom,
            (Some(_), Err(denied)) => denied,
        };
        let not = match (denied, message.id()) {
            (Denied::BadMessage, _) | (_, None) => {
                self.close_page(connection, Why::BadMessage, std::time::Duration::ZERO);
                return None;
            }
            (Denied::OtherRoom, Some(number)) => {
                Not::new("other_room", "这一页已经过时。", "This page shows another game.").written(number)
            }
            (Denied::Watching, Some(number)) => Not::watching().written(number),
        };
        self.send(connection, not);
        None
    }

    /// Holds a page to its rates. `false`: this message was answered before, and its repetition does nothing.
    pub(crate) fn admits(&mut self, connection: ConnectionId, number: u64, deed: &Deed) -> Result<bool, Not> {
        match deed {
            // Expensive.
            Deed::Look(_) | Deed::Rules | Deed::File(_) => {
                if self.reads.may(now()) {
                    Ok(true)
                } else {
                    Err(Not::busy())
                }
            }
            // Renaming writes to disk and notifies every client.
            Deed::Say(..) | Deed::Rename(..) => {
                if !self.codes.is_new(connection, number) {
                    return Ok(false);
                }
                let page = self.pages.get_mut(&connection);
                if page.is_some_and(|page| page.says.may(now())) {
                    return Ok(true);
                }
                Err(Not::new("too_fast", "说得太快了。", "That was too fast."))
            }
            _ => Ok(true),
        }
    }
}

/// Why a message of a page was not executed.
#[derive(Debug, PartialEq)]
pub(crate) struct Not {
    word: String,
    words: Words,
    points: Vec<u32>,
}

impl Not {
    fn new(word: &str, zh: &str, en: &str) -> Self {
        Self { word: word.into(), words: Words { zh: zh.into(), en: en.into() }, points: Vec::new() }
    }

    fn busy() -> Self {
        Self::new("busy", "请稍等。", "Wait a moment.")
    }

    fn watching() -> Self {
        Self::new("watching", "你只是在旁观。", "You only watch this game.")
    }

    pub(crate) fn written(&self, number: u64) -> String {
        form::refused(number, &self.word, &self.words, &self.points)
    }
}

impl From<Refusal> for Not {
    fn from(refusal: Refusal) -> Self {
        let word = refusal.code.as_str_name().trim_start_matches("REFUSAL_").to_lowercase();
        let words = refusal.reason.unwrap_or_else(|| refusal_words(refusal.code));
        let points = refusal.points.into_iter().map(wire::point).collect();
        Self { word, words, points }
    }
}

/// The sentence for a refusal that is not by the rules of the game.
fn refusal_words(code: RefusalCode) -> Words {
    let (zh, en) = match code {
        RefusalCode::RefusalNotYourTurn => ("还没轮到你。", "It is not your turn."),
        RefusalCode::RefusalGameOver => ("对局已经结束。", "The game is over."),
        RefusalCode::RefusalNothingToTakeBack => ("没有可悔的棋。", "There is no move to undo."),
        RefusalCode::RefusalNoOffer => ("对方没有提议。", "Nothing is offered."),
        RefusalCode::RefusalBusy => ("请先回答对方的提议。", "Answer the other's offer first."),
        RefusalCode::RefusalDisk => ("主人的设备无法保存。", "The host's device could not save this."),
        RefusalCode::RefusalLinkLost => ("对方不在，棋局等着。", "The other player is away: the game waits."),
        RefusalCode::RefusalPaused => ("对局暂停中。", "The game is paused."),
        RefusalCode::RefusalTime => ("时间到了。", "The time is over."),
        RefusalCode::RefusalStopped => ("已取消。", "Cancelled."),
        _ => ("现在不能这样做。", "That is not possible now."),
    };
    Words { zh: zh.into(), en: en.into() }
}

/// The result as a sentence.
pub(crate) fn result_words(result: MatchResult, game: &AnyGame) -> Words {
    let say = |language: Language| {
        let names = game.kind().names(language);
        let colour = |side: Side| names.side(game.color(side));
        match (result, language) {
            (MatchResult::Played(outcome), language) => outcome.words_in(game, language),
            (MatchResult::Resigned(side), Language::Chinese) => {
                format!("{}胜：{}认输。", colour(side.other()), colour(side))
            }
            (MatchResult::Resigned(side), Language::English) => {
                format!("{} wins: {} resigned.", colour(side.other()), colour(side))
            }
            (MatchResult::TimedOut(side), Language::Chinese) => {
                format!("{}胜：{}超时。", colour(side.other()), colour(side))
            }
            (MatchResult::TimedOut(side), Language::English) => {
                format!("{} wins: {} ran out of time.", colour(side.other()), colour(side))
            }
            (MatchResult::DrawAgreed, Language::Chinese) => "和棋：双方同意。".into(),
            (MatchResult::DrawAgreed, Language::English) => "A draw: both agreed.".into(),
        }
    };
    Words { zh: say(Language::Chinese), en: say(Language::English) }
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Point};
    use proto::control::OfferKind as Offered;
    use session::MatchRecord;

    use super::*;
    use crate::room::Seat;

    fn guest_seat() -> Seat {
        Seat::Guest("Eva".into())
    }

    fn of(kind: GameKind, actions: &[Action], seats: [Seat; 2]) -> Room {
        let mut record = MatchRecord::new(MatchId([1; 16]), kind.default_setup(), Side::First);
        record.actions = actions.to_vec();
        Room::new(record, seats).expect("a room")
    }

    const CENTRE: Action = Action::Place(Point { column: 7, row: 7 });
    const BESIDE: Action = Action::Place(Point { column: 8, row: 7 });

    /// Gomoku: this device's user moves first, the guest second.
    fn gomoku(actions: &[Action]) -> Room {
        of(GameKind::Gomoku, actions, [Seat::Here, guest_seat()])
    }

    /// A message about the room, as the page writes it.
    fn message(kind: &str, fields: &str) -> guest::Message {
        let room = MatchId([1; 16]);
        read(kind, &format!(r#""room":"{room}"{fields}"#))
    }

    fn read(kind: &str, fields: &str) -> guest::Message {
        guest::read(&format!(r#"{{"{kind}":{{"id":5,{fields}}}}}"#)).expect("a message")
    }

    fn act(ply: u32, revision: u32, column: u32, row: u32) -> guest::Message {
        let point = row * 1024 + column;
        message("act", &format!(r#","ply":{ply},"revision":{revision},"action":{{"place":{point}}}"#))
    }

    fn offer(ply: u32, kind: &str) -> guest::Message {
        message("offer", &format!(r#","ply":{ply},"revision":0,"kind":"{kind}""#))
    }

    fn resign(revision: u32) -> guest::Message {
        message("resign", &format!(r#","revision":{revision}"#))
    }

    fn text(text: &str) -> guest::Message {
        read("say", &format!(r#""text":"{text}""#))
    }

    fn name(name: &str) -> guest::Message {
        read("name", &format!(r#""name":"{name}""#))
    }

    fn bot_seat() -> Seat {
        Seat::Bot(engine::Level::new(3).expect("a level"))
    }

    const SECOND: Option<Side> = Some(Side::Second);

    fn word(decided: Result<Deed, Not>) -> String {
        decided.expect_err("refused").word
    }

    #[test]
    fn a_guest_acts_on_the_own_turn_in_the_position_that_the_page_shows() {
        let room = gomoku(&[CENTRE]);
        assert_eq!(decide(&room, false, SECOND, act(1, 0, 8, 7)), Ok(Deed::Play(BESIDE)));
        assert_eq!(word(decide(&room, false, SECOND, act(0, 0, 8, 7))), "stale", "a ply too early");
        assert_eq!(word(decide(&room, false, SECOND, act(2, 0, 8, 7))), "stale", "a ply too late");
        assert_eq!(word(decide(&room, false, SECOND, act(1, 1, 8, 7))), "stale", "another revision");
        assert_eq!(word(decide(&room, true, SECOND, act(1, 0, 8, 7))), "link_lost", "somebody is away");
        let theirs = gomoku(&[]);
        assert_eq!(word(decide(&theirs, false, SECOND, act(0, 0, 8, 7))), "not_your_turn");
    }

    #[test]
    fn an_action_that_the_host_has_already_is_done_once_and_only_by_whoever_made_it() {
        let room = gomoku(&[CENTRE, BESIDE]);
        assert_eq!(decide(&room, true, SECOND, act(1, 0, 8, 7)), Ok(Deed::Nothing), "sent again");
        assert_eq!(word(decide(&room, false, SECOND, act(0, 0, 7, 7))), "stale", "the other side's");
        assert_eq!(word(decide(&room, false, SECOND, act(1, 0, 9, 7))), "stale", "another action there");
    }

    #[test]
    fn a_spectator_and_one_whose_seat_was_given_away_only_look() {
        let room = gomoku(&[CENTRE]);
        let given_away = of(GameKind::Gomoku, &[CENTRE], Seat::BOTH_HERE);
        for (room, side) in [(&room, None), (&given_away, SECOND)] {
            for asked in [
                act(1, 0, 8, 7),
                offer(1, "draw"),
                message("answer", r#","number":1,"accept":true"#),
                resign(0),
                text("hello"),
                name("Eve"),
            ] {
                assert_eq!(word(decide(room, false, side, asked.clone())), "watching", "{asked:?}");
            }
            assert_eq!(decide(room, false, side, message("look", r#","ply":9"#)), Ok(Deed::Look(1)));
            assert_eq!(decide(room, false, side, message("rules", "")), Ok(Deed::Rules));
            assert_eq!(decide(room, false, side, message("file", "")), Ok(Deed::File(String::new())));
        }
    }

    #[test]
    fn offers_go_to_a_person_and_are_done_at_once_against_a_bot() {
        let room = gomoku(&[CENTRE, BESIDE]);
        for (word, kind) in [
            ("take_back", OfferKind::TakeBack),
            ("draw", OfferKind::Draw),
            ("new_game", OfferKind::NewGame),
            ("pause", OfferKind::Pause),
        ] {
            let decided = decide(&room, false, SECOND, offer(2, word));
            assert_eq!(decided, Ok(Deed::Offer(Side::Second, kind)), "{word}");
        }
        assert_eq!(word(decide(&room, false, SECOND, offer(1, "draw"))), "stale");
        let bot = of(GameKind::Gomoku, &[CENTRE, BESIDE], [bot_seat(), guest_seat()]);
        for (word, deed) in [
            ("take_back", Deed::Command(LocalCommand::TakeBack { ply: 1 })),
            ("pause", Deed::Command(LocalCommand::Pause(true))),
            ("continue", Deed::Command(LocalCommand::Pause(false))),
            ("new_game", Deed::NextGame(OfferKind::NewGame)),
            ("new_game_same", Deed::NextGame(OfferKind::NewGameSame)),
        ] {
            assert_eq!(decide(&bot, false, SECOND, offer(2, word)), Ok(deed), "{word}");
        }
        assert_eq!(word(decide(&bot, false, SECOND, offer(2, "draw"))), "illegal", "a bot agrees to none");
        let fresh = of(GameKind::Gomoku, &[CENTRE], [bot_seat(), guest_seat()]);
        assert_eq!(word(decide(&fresh, false, SECOND, offer(1, "take_back"))), "nothing_to_take_back");
        assert_eq!(show::parse_offer_kind(Offered::OfferAdjourn.into()), Some(OfferKind::Adjourn));
    }

    #[test]
    fn a_resignation_counts_once_and_for_the_match_that_the_page_shows() {
        let mut room = gomoku(&[CENTRE]);
        assert_eq!(decide(&room, false, SECOND, resign(0)), Ok(Deed::Resign(Side::Second)));
        assert_eq!(word(decide(&room, false, SECOND, resign(1))), "stale");
        let result = Some(MatchResult::Resigned(Side::Second));
        room.set_record(MatchRecord { result, ..room.record().clone() }).expect("a record");
        assert_eq!(decide(&room, false, SECOND, resign(7)), Ok(Deed::Nothing));
    }

    #[test]
    fn what_is_said_is_a_phrase_or_a_text_that_can_be_shown_and_a_name_has_a_character() {
        let room = gomoku(&[]);
        let asked = |message| decide(&room, false, SECOND, message);
        assert_eq!(asked(text("你好")), Ok(Deed::Say(Side::Second, Saying::Text("你好".into()))));
        let phrase = asked(read("say", r#""phrase":"hello""#));
        assert_eq!(phrase, Ok(Deed::Say(Side::Second, Saying::Phrase(Phrase::Hello))));
        for unsaid in ["\u{202e}", &"a".repeat(201)] {
            assert_eq!(word(asked(text(unsaid))), "bad_request", "{unsaid:?}");
        }
        assert_eq!(asked(name("Eve")), Ok(Deed::Rename(Side::Second, "Eve".into())));
        assert_eq!(word(asked(name("\u{200b}"))), "bad_request");
    }
}
