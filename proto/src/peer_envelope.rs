//! The messages between devices, each with its number and its bounds.

use crate::board;
use crate::envelope::{Bounded, EnvelopeError, bound, numbered_messages};
use crate::limits;
use crate::peer::{
    Ack, Analysis, Bye, Club, Flag, Gift, Hello, HintTaken, Invite, InviteAnswer, Offer, OfferAnswer, Pair,
    Ping, Play, Pong, Progress, Record, Resign, Reveal, Run, Say, Unsupported, Withdraw, pair, say,
};

numbered_messages! {
    /// One message between devices.
    Envelope in peer {
        1 => Hello,
        2 => Pair,
        3 => Invite,
        4 => InviteAnswer,
        5 => Withdraw,
        6 => Play,
        7 => Ack,
        8 => Offer,
        9 => OfferAnswer,
        10 => Resign,
        11 => Record,
        12 => Ping,
        13 => Pong,
        14 => Bye,
        15 => Unsupported,
        16 => Say,
        17 => Flag,
        18 => Reveal,
        19 => Analysis,
        20 => Progress,
        21 => Run,
        22 => Gift,
        23 => HintTaken,
        24 => Club,
    }
}

fn id(bytes: &[u8], field: &'static str) -> Result<(), EnvelopeError> {
    bound(bytes.len() == limits::ID_BYTES, field)
}

fn key(bytes: &[u8], field: &'static str) -> Result<(), EnvelopeError> {
    bound(bytes.len() == limits::KEY_BYTES, field)
}

/// An absent action passes: its kind may come from a later version, and the session reports that.
pub(crate) fn action(action: Option<&board::Action>, field: &'static str) -> Result<(), EnvelopeError> {
    use board::action::Kind;
    const POINTS: u32 = limits::ROWS_OR_COLUMNS * limits::ROWS_OR_COLUMNS;
    let far = match action.and_then(|action| action.kind.as_ref()) {
        None | Some(Kind::Pass(_) | Kind::Agree(_) | Kind::Resume(_) | Kind::Choose(_) | Kind::Done(_)) => {
            return Ok(());
        }
        Some(Kind::Place(point) | Kind::Capture(point) | Kind::Press(point) | Kind::Toggle(point)) => *point,
        Some(Kind::Step(step)) => step.from.max(step.to),
    };
    bound(far < POINTS, field)
}

/// An absent setup passes, as an absent action does. `most`: bytes of a board of lights.
pub(crate) fn setup(
    setup: Option<&board::Setup>,
    most: usize,
    field: &'static str,
) -> Result<(), EnvelopeError> {
    use board::lights_out_setup::Start;
    match setup.and_then(|setup| setup.game.as_ref()) {
        Some(board::setup::Game::LightsOut(lights_out)) => match &lights_out.start {
            Some(Start::Lights(bytes)) => bound(bytes.len() <= most, field),
            Some(Start::Seed(_)) | None => Ok(()),
        },
        Some(board::setup::Game::Started(started)) => {
            bound(started.points.len() <= limits::START_BYTES, field)
        }
        _ => Ok(()),
    }
}

impl Bounded for Hello {
    fn check(&self) -> Result<(), EnvelopeError> {
        bound(limits::is_name(&self.name), "Hello.name")?;
        bound(self.games.len() <= limits::GAMES, "Hello.games")?;
        bound(matches!(self.advert_key.len(), 0 | limits::KEY_BYTES), "Hello.advert_key")?;
        bound(self.matches.len() <= limits::RESUME_POINTS, "Hello.matches")?;
        self.matches.iter().try_for_each(|point| {
            id(&point.match_id, "ResumePoint.match_id")?;
            revision(point.revision, "ResumePoint.revision")?;
            hints(point.hints, "ResumePoint.hints")?;
            ply(point.ply, "ResumePoint.ply")
        })
    }
}

impl Bounded for Pair {
    fn check(&self) -> Result<(), EnvelopeError> {
        match &self.step {
            Some(pair::Step::Commitment(bytes)) => key(bytes, "Pair.commitment"),
            Some(pair::Step::Nonce(bytes)) => key(bytes, "Pair.nonce"),
            Some(pair::Step::Reveal(bytes)) => key(bytes, "Pair.reveal"),
            Some(pair::Step::Verdict(verdict)) => {
                bound(matches!(verdict.advert_key.len(), 0 | limits::KEY_BYTES), "Verdict.advert_key")
            }
            None => Ok(()),
        }
    }
}

impl Bounded for Invite {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.invite_id, "Invite.invite_id")?;
        bound(matches!(self.commitment.len(), 0 | limits::KEY_BYTES), "Invite.commitment")?;
        bound(matches!(self.counters.len(), 0 | limits::ID_BYTES), "Invite.counters")?;
        setup(self.setup.as_ref(), limits::PEER_LIGHTS_BYTES, "Invite.setup")
    }
}

impl Bounded for InviteAnswer {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.invite_id, "InviteAnswer.invite_id")?;
        bound(self.account.len() <= limits::LETTER_ACCOUNT_BYTES, "InviteAnswer.account")?;
        bound(matches!(self.nonce.len(), 0 | limits::KEY_BYTES), "InviteAnswer.nonce")
    }
}

impl Bounded for Withdraw {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.invite_id, "Withdraw.invite_id")
    }
}

impl Bounded for Play {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Play.match_id")?;
        action(self.action.as_ref(), "Play.action")?;
        revision(self.revision, "Play.revision")?;
        ply(self.ply, "Play.ply")
    }
}

impl Bounded for Offer {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Offer.match_id")?;
        revision(self.revision, "Offer.revision")?;
        ply(self.ply, "Offer.ply")?;
        ply(self.to_ply, "Offer.to_ply")
    }
}

impl Bounded for Record {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Record.match_id")?;
        revision(self.revision, "Record.revision")?;
        setup(self.setup.as_ref(), limits::PEER_LIGHTS_BYTES, "Record.setup")?;
        bound(matches!(self.reveal.len(), 0 | limits::KEY_BYTES), "Record.reveal")?;
        bound(self.times.len() <= limits::RECORD_TIMES_BYTES, "Record.times")?;
        bound(self.account.len() <= limits::LETTER_ACCOUNT_BYTES, "Record.account")?;
        hints(self.hints.map_or(0, |taken| taken.first.max(taken.second)), "Record.hints")?;
        bound(self.actions.len() <= limits::RECORD_BYTES, "Record.actions")
    }
}

impl Bounded for HintTaken {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "HintTaken.match_id")?;
        hints(self.hints, "HintTaken.hints")
    }
}

impl Bounded for Reveal {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.invite_id, "Reveal.invite_id")?;
        key(&self.nonce, "Reveal.nonce")
    }
}

impl Bounded for Analysis {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Analysis.match_id")?;
        revision(self.revision, "Analysis.revision")?;
        ply(self.ply, "Analysis.ply")?;
        bound(self.actions.len() <= limits::TRIED_BYTES, "Analysis.actions")
    }
}

impl Bounded for Progress {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Progress.match_id")?;
        revision(self.revision, "Progress.revision")?;
        ply(self.presses, "Progress.presses")
    }
}

impl Bounded for Run {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Run.match_id")?;
        revision(self.revision, "Run.revision")?;
        ply(self.ply, "Run.ply")?;
        bound(self.actions.len() <= limits::RUN_BYTES, "Run.actions")
    }
}

/// An absent record passes, as an absent action does.
impl Bounded for Gift {
    fn check(&self) -> Result<(), EnvelopeError> {
        self.record.as_ref().map_or(Ok(()), Bounded::check)
    }
}

/// An absent setup passes: the evening is over.
impl Bounded for Club {
    fn check(&self) -> Result<(), EnvelopeError> {
        bound(self.name.is_empty() || limits::is_name(&self.name), "Club.name")?;
        setup(self.setup.as_ref(), limits::PEER_LIGHTS_BYTES, "Club.setup")?;
        bound(self.players.len() <= limits::CLUB_PLAYERS, "Club.players")?;
        bound(self.players.iter().all(|player| limits::is_name(&player.name)), "ClubPlayer.name")?;
        bound(self.games.len() <= limits::CLUB_GAMES_BYTES, "Club.games")
    }
}

impl Bounded for Say {
    fn check(&self) -> Result<(), EnvelopeError> {
        id(&self.match_id, "Say.match_id")?;
        match &self.what {
            Some(say::What::Text(text)) => bound(limits::is_said(text), "Say.text"),
            Some(say::What::Phrase(_)) | None => Ok(()),
        }
    }
}

/// Messages whose only bounded field is their place in a match.
macro_rules! placed {
    ($($message:ident),+) => {
        $(impl Bounded for $message {
            fn check(&self) -> Result<(), EnvelopeError> {
                id(&self.match_id, concat!(stringify!($message), ".match_id"))?;
                revision(self.revision, concat!(stringify!($message), ".revision"))?;
                ply(self.ply, concat!(stringify!($message), ".ply"))
            }
        })+
    };
}
placed!(Ack, OfferAnswer, Resign, Flag);

/// Messages without a field that has a length.
macro_rules! unbounded {
    ($($message:ident),+) => {
        $(impl Bounded for $message {
            fn check(&self) -> Result<(), EnvelopeError> {
                Ok(())
            }
        })+
    };
}
unbounded!(Ping, Pong, Bye, Unsupported);

fn revision(revision: u32, field: &'static str) -> Result<(), EnvelopeError> {
    bound(revision <= limits::REVISIONS, field)
}

/// At most one hint for each position: take backs included, fewer than actions and revisions.
fn hints(hints: u32, field: &'static str) -> Result<(), EnvelopeError> {
    bound(hints <= limits::HINTS, field)
}

/// A record longer than one message can carry could not be resumed.
fn ply(ply: u32, field: &'static str) -> Result<(), EnvelopeError> {
    bound(ply as usize <= limits::RECORD_ACTIONS, field)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bytes::Bytes;

    use super::*;
    use crate::frame::{FrameLimit, HEADER_BYTES};
    use crate::peer::{
        ByeReason, ClubPlayer, Colours, Hints, OfferKind, ResumePoint, Verdict, invite_answer,
    };

    /// The largest valid message of each type.
    fn largest() -> Vec<Envelope> {
        let id = || Bytes::from(vec![0xFF; limits::ID_BYTES]);
        let key = || Bytes::from(vec![0xFF; limits::KEY_BYTES]);
        let far = limits::ROWS_OR_COLUMNS * limits::ROWS_OR_COLUMNS - 1;
        let step =
            || board::Action { kind: Some(board::action::Kind::Step(board::Step { from: far, to: far })) };
        let setup = || {
            Some(board::Setup {
                game: Some(board::setup::Game::LightsOut(board::LightsOutSetup {
                    torus: true,
                    diagonals: true,
                    columns: u32::MAX,
                    rows: u32::MAX,
                    start: Some(board::lights_out_setup::Start::Lights(
                        vec![0xFF; limits::PEER_LIGHTS_BYTES].into(),
                    )),
                    race: true,
                })),
            })
        };
        let plies = limits::RECORD_ACTIONS as u32;
        let pace = || {
            let most = u32::MAX;
            Some(board::Pace { kind: i32::MAX, main_s: most, step_s: most, periods: most })
        };
        let result = || Some(board::Result { winner: i32::MAX, ending: i32::MAX });
        let taken = || Some(Hints { first: limits::HINTS, second: limits::HINTS });
        let account = || "a".repeat(limits::LETTER_ACCOUNT_BYTES);
        let point = || ResumePoint {
            match_id: id(),
            ply: plies,
            digest: u64::MAX,
            revision: limits::REVISIONS,
            result: result(),
            paused: true,
            spent_ms: u32::MAX,
            hints: limits::HINTS,
        };
        vec![
            Hello {
                lowest_version: u32::MAX,
                highest_version: u32::MAX,
                name: "😀".repeat(limits::NAME_CHARS),
                games: vec![board::Game::Gomoku as i32; limits::GAMES],
                advert_key: key(),
                matches: vec![point(); limits::RESUME_POINTS],
                wants_comparison: true,
                wish: i32::MAX,
                knows_hints: true,
                knows_starts: true,
                knows_openings: true,
                knows_chinese_repetition: true,
            }
            .into(),
            Pair { step: Some(pair::Step::Commitment(key())) }.into(),
            Invite {
                invite_id: id(),
                setup: setup(),
                colours: Colours::Random.into(),
                pace: pace(),
                commitment: key(),
                counters: id(),
                alternates: true,
                hints: true,
            }
            .into(),
            InviteAnswer {
                invite_id: id(),
                answer: Some(invite_answer::Answer::Decline(i32::MAX)),
                nonce: key(),
                account: account(),
            }
            .into(),
            Withdraw { invite_id: id() }.into(),
            Play {
                match_id: id(),
                ply: plies,
                action: Some(step()),
                thought_ms: u32::MAX,
                digest: u64::MAX,
                revision: limits::REVISIONS,
                spent_ms: u32::MAX,
            }
            .into(),
            Ack {
                match_id: id(),
                ply: plies,
                digest: u64::MAX,
                revision: limits::REVISIONS,
                result: result(),
                wants_rest: true,
                paused: true,
                spent_ms: u32::MAX,
            }
            .into(),
            Offer {
                match_id: id(),
                offer_id: u32::MAX,
                kind: OfferKind::OfferTakeBack.into(),
                ply: plies,
                to_ply: plies,
                revision: limits::REVISIONS,
            }
            .into(),
            OfferAnswer {
                match_id: id(),
                offer_id: u32::MAX,
                accept: true,
                ply: plies,
                revision: limits::REVISIONS,
            }
            .into(),
            Resign { match_id: id(), ply: plies, revision: limits::REVISIONS }.into(),
            Record {
                match_id: id(),
                setup: setup(),
                sender_side: i32::MAX,
                revision: limits::REVISIONS,
                actions: vec![0xFF; limits::RECORD_BYTES].into(),
                result: result(),
                pace: pace(),
                times: vec![0xFF; limits::RECORD_TIMES_BYTES].into(),
                paused: true,
                reveal: key(),
                spent_ms: u32::MAX,
                hints: taken(),
                account: account(),
            }
            .into(),
            Ping { token: u64::MAX }.into(),
            Pong { token: u64::MAX }.into(),
            Bye { reason: ByeReason::ByeReplaced.into() }.into(),
            Unsupported { msgid: u32::MAX }.into(),
            Say { match_id: id(), what: Some(say::What::Text("😀".repeat(limits::SAID_CHARS))) }.into(),
            Flag { match_id: id(), ply: plies, revision: limits::REVISIONS }.into(),
            Reveal { invite_id: id(), nonce: key() }.into(),
            Analysis {
                match_id: id(),
                revision: limits::REVISIONS,
                version: u32::MAX,
                open: true,
                ply: plies,
                actions: vec![0xFF; limits::TRIED_BYTES].into(),
            }
            .into(),
            Progress {
                match_id: id(),
                presses: plies,
                lit: u32::MAX,
                elapsed_ms: u32::MAX,
                revision: limits::REVISIONS,
            }
            .into(),
            Run {
                match_id: id(),
                ply: plies,
                actions: vec![0xFF; limits::RUN_BYTES].into(),
                digest: u64::MAX,
                revision: limits::REVISIONS,
            }
            .into(),
            Gift {
                record: Some(Record {
                    match_id: id(),
                    setup: setup(),
                    sender_side: i32::MAX,
                    revision: limits::REVISIONS,
                    actions: vec![0xFF; limits::RECORD_BYTES].into(),
                    result: result(),
                    pace: pace(),
                    times: vec![0xFF; limits::RECORD_TIMES_BYTES].into(),
                    paused: true,
                    reveal: key(),
                    spent_ms: u32::MAX,
                    hints: taken(),
                    account: account(),
                }),
            }
            .into(),
            HintTaken { match_id: id(), hints: limits::HINTS }.into(),
            Club {
                number: u32::MAX,
                name: "😀".repeat(limits::NAME_CHARS),
                setup: setup(),
                pace: pace(),
                twice: true,
                phase: i32::MAX,
                players: vec![
                    ClubPlayer {
                        id: u32::MAX,
                        name: "😀".repeat(limits::NAME_CHARS),
                        number: u32::MAX,
                        left: true,
                        who: i32::MAX,
                    };
                    limits::CLUB_PLAYERS
                ],
                games: vec![0xFF; limits::CLUB_GAMES_BYTES].into(),
            }
            .into(),
        ]
    }

    #[test]
    fn every_message_comes_back_as_it_went() {
        let all = largest();
        let numbers: Vec<u32> = all.iter().map(Envelope::msgid).collect();
        assert_eq!(numbers, Envelope::MSGIDS, "one of each");
        for envelope in all {
            let (msgid, payload) = envelope.encode();
            assert_eq!(msgid, envelope.msgid());
            assert_eq!(Envelope::decode(msgid, &payload), Ok(envelope));
        }
    }

    #[test]
    fn the_largest_of_each_message_fits_a_frame() {
        for envelope in largest() {
            let limit = match envelope {
                // Longer than on a link only in a letter, which names the account.
                Envelope::InviteAnswer(_)
                | Envelope::Record(_)
                | Envelope::Analysis(_)
                | Envelope::Run(_)
                | Envelope::Gift(_)
                | Envelope::Club(_) => FrameLimit::Peer,
                _ => FrameLimit::Stranger,
            };
            let total = HEADER_BYTES + envelope.encode().1.len();
            assert!(total <= limit.bytes(), "message {} takes {total}", envelope.msgid());
        }
    }

    /// The largest message of a kind after a change.
    macro_rules! largest_but {
        ($kind:ident, $change:expr) => {{
            let of_kind = |envelope| match envelope {
                Envelope::$kind(message) => Some(message),
                _ => None,
            };
            let mut message = largest().into_iter().find_map(of_kind).expect("one of each");
            let change: fn(&mut $kind) = $change;
            change(&mut message);
            Envelope::from(message)
        }};
    }

    fn check_refused(cases: &[(&str, Envelope)]) {
        for (field, envelope) in cases {
            let (msgid, payload) = envelope.encode();
            let refused = Envelope::decode(msgid, &payload);
            assert!(
                matches!(&refused, Err(EnvelopeError::OutOfBounds { field: named }) if named == field),
                "{field}: {:?}",
                refused.err()
            );
        }
    }

    #[test]
    fn one_more_than_each_bound_is_refused_by_name() {
        const TOO_FAR: u32 = limits::ROWS_OR_COLUMNS * limits::ROWS_OR_COLUMNS;
        fn more(bytes: &mut Bytes) {
            *bytes = [&bytes[..], &[1]].concat().into();
        }
        fn lights(setup: &mut Option<board::Setup>) {
            let Some(board::setup::Game::LightsOut(game)) = setup.as_mut().and_then(|one| one.game.as_mut())
            else {
                panic!("the largest board is one of lights")
            };
            let Some(board::lights_out_setup::Start::Lights(bytes)) = &mut game.start else {
                panic!("it has lights")
            };
            more(bytes);
        }
        fn started() -> board::Setup {
            let points = vec![0; limits::START_BYTES + 1].into();
            let started = board::Started { points, ..board::Started::default() };
            board::Setup { game: Some(board::setup::Game::Started(started)) }
        }
        fn action(kind: board::action::Kind) -> board::Action {
            board::Action { kind: Some(kind) }
        }
        use board::action::Kind;
        let cases = vec![
            ("Hello.name", largest_but!(Hello, |it| it.name.push('a'))),
            ("Hello.games", largest_but!(Hello, |it| it.games.push(1))),
            ("Hello.advert_key", largest_but!(Hello, |it| more(&mut it.advert_key))),
            ("Hello.matches", largest_but!(Hello, |it| it.matches.push(it.matches[0].clone()))),
            ("ResumePoint.match_id", largest_but!(Hello, |it| more(&mut it.matches[11].match_id))),
            ("ResumePoint.revision", largest_but!(Hello, |it| it.matches[11].revision += 1)),
            ("ResumePoint.hints", largest_but!(Hello, |it| it.matches[11].hints += 1)),
            ("ResumePoint.ply", largest_but!(Hello, |it| it.matches[11].ply += 1)),
            (
                "Pair.commitment",
                largest_but!(Pair, |it| it.step = Some(pair::Step::Commitment(vec![1; 33].into()))),
            ),
            ("Pair.nonce", largest_but!(Pair, |it| it.step = Some(pair::Step::Nonce(vec![1; 33].into())))),
            ("Pair.reveal", largest_but!(Pair, |it| it.step = Some(pair::Step::Reveal(vec![1; 33].into())))),
            (
                "Verdict.advert_key",
                largest_but!(Pair, |it| {
                    let advert_key = vec![1; 33].into();
                    it.step = Some(pair::Step::Verdict(Verdict { advert_key, ..Verdict::default() }));
                }),
            ),
            ("Invite.invite_id", largest_but!(Invite, |it| more(&mut it.invite_id))),
            ("Invite.commitment", largest_but!(Invite, |it| more(&mut it.commitment))),
            ("Invite.counters", largest_but!(Invite, |it| more(&mut it.counters))),
            ("Invite.setup", largest_but!(Invite, |it| lights(&mut it.setup))),
            ("Invite.setup", largest_but!(Invite, |it| it.setup = Some(started()))),
            ("InviteAnswer.invite_id", largest_but!(InviteAnswer, |it| more(&mut it.invite_id))),
            ("InviteAnswer.account", largest_but!(InviteAnswer, |it| it.account.push('a'))),
            ("InviteAnswer.nonce", largest_but!(InviteAnswer, |it| more(&mut it.nonce))),
            ("Withdraw.invite_id", largest_but!(Withdraw, |it| more(&mut it.invite_id))),
            ("Play.match_id", largest_but!(Play, |it| more(&mut it.match_id))),
            ("Play.action", largest_but!(Play, |it| it.action = Some(action(Kind::Place(TOO_FAR))))),
            ("Play.action", largest_but!(Play, |it| it.action = Some(action(Kind::Capture(TOO_FAR))))),
            ("Play.action", largest_but!(Play, |it| it.action = Some(action(Kind::Press(TOO_FAR))))),
            ("Play.action", largest_but!(Play, |it| it.action = Some(action(Kind::Toggle(TOO_FAR))))),
            (
                "Play.action",
                largest_but!(Play, |it| {
                    it.action = Some(action(Kind::Step(board::Step { from: TOO_FAR, to: 0 })));
                }),
            ),
            (
                "Play.action",
                largest_but!(Play, |it| {
                    it.action = Some(action(Kind::Step(board::Step { from: 0, to: TOO_FAR })));
                }),
            ),
            ("Play.revision", largest_but!(Play, |it| it.revision += 1)),
            ("Play.ply", largest_but!(Play, |it| it.ply += 1)),
            ("Ack.match_id", largest_but!(Ack, |it| more(&mut it.match_id))),
            ("Ack.revision", largest_but!(Ack, |it| it.revision += 1)),
            ("Ack.ply", largest_but!(Ack, |it| it.ply += 1)),
            ("Offer.match_id", largest_but!(Offer, |it| more(&mut it.match_id))),
            ("Offer.revision", largest_but!(Offer, |it| it.revision += 1)),
            ("Offer.ply", largest_but!(Offer, |it| it.ply += 1)),
            ("Offer.to_ply", largest_but!(Offer, |it| it.to_ply += 1)),
            ("OfferAnswer.match_id", largest_but!(OfferAnswer, |it| more(&mut it.match_id))),
            ("OfferAnswer.revision", largest_but!(OfferAnswer, |it| it.revision += 1)),
            ("OfferAnswer.ply", largest_but!(OfferAnswer, |it| it.ply += 1)),
            ("Resign.match_id", largest_but!(Resign, |it| more(&mut it.match_id))),
            ("Resign.revision", largest_but!(Resign, |it| it.revision += 1)),
            ("Resign.ply", largest_but!(Resign, |it| it.ply += 1)),
            ("Flag.match_id", largest_but!(Flag, |it| more(&mut it.match_id))),
            ("Flag.revision", largest_but!(Flag, |it| it.revision += 1)),
            ("Flag.ply", largest_but!(Flag, |it| it.ply += 1)),
            ("Record.match_id", largest_but!(Record, |it| more(&mut it.match_id))),
            ("Record.revision", largest_but!(Record, |it| it.revision += 1)),
            ("Record.setup", largest_but!(Record, |it| lights(&mut it.setup))),
            ("Record.setup", largest_but!(Record, |it| it.setup = Some(started()))),
            ("Record.reveal", largest_but!(Record, |it| more(&mut it.reveal))),
            ("Record.times", largest_but!(Record, |it| more(&mut it.times))),
            ("Record.account", largest_but!(Record, |it| it.account.push('a'))),
            ("Record.hints", largest_but!(Record, |it| it.hints.as_mut().expect("taken").first += 1)),
            ("Record.hints", largest_but!(Record, |it| it.hints.as_mut().expect("taken").second += 1)),
            ("Record.actions", largest_but!(Record, |it| more(&mut it.actions))),
            ("Record.actions", largest_but!(Gift, |it| more(&mut it.record.as_mut().expect("one").actions))),
            ("HintTaken.match_id", largest_but!(HintTaken, |it| more(&mut it.match_id))),
            ("HintTaken.hints", largest_but!(HintTaken, |it| it.hints += 1)),
            ("Reveal.invite_id", largest_but!(Reveal, |it| more(&mut it.invite_id))),
            ("Reveal.nonce", largest_but!(Reveal, |it| more(&mut it.nonce))),
            ("Analysis.match_id", largest_but!(Analysis, |it| more(&mut it.match_id))),
            ("Analysis.revision", largest_but!(Analysis, |it| it.revision += 1)),
            ("Analysis.ply", largest_but!(Analysis, |it| it.ply += 1)),
            ("Analysis.actions", largest_but!(Analysis, |it| more(&mut it.actions))),
            ("Progress.match_id", largest_but!(Progress, |it| more(&mut it.match_id))),
            ("Progress.revision", largest_but!(Progress, |it| it.revision += 1)),
            ("Progress.presses", largest_but!(Progress, |it| it.presses += 1)),
            ("Run.match_id", largest_but!(Run, |it| more(&mut it.match_id))),
            ("Run.revision", largest_but!(Run, |it| it.revision += 1)),
            ("Run.ply", largest_but!(Run, |it| it.ply += 1)),
            ("Run.actions", largest_but!(Run, |it| more(&mut it.actions))),
            ("Club.name", largest_but!(Club, |it| it.name.push('a'))),
            ("Club.setup", largest_but!(Club, |it| lights(&mut it.setup))),
            ("Club.setup", largest_but!(Club, |it| it.setup = Some(started()))),
            ("Club.players", largest_but!(Club, |it| it.players.push(it.players[0].clone()))),
            ("ClubPlayer.name", largest_but!(Club, |it| it.players[15].name.push('a'))),
            ("Club.games", largest_but!(Club, |it| more(&mut it.games))),
            ("Say.match_id", largest_but!(Say, |it| more(&mut it.match_id))),
            (
                "Say.text",
                largest_but!(Say, |it| {
                    it.what = Some(say::What::Text("a".repeat(limits::SAID_CHARS + 1)));
                }),
            ),
        ];
        check_refused(&cases);
        // Each bound above has a case: its name is a literal, except in `placed!`.
        let (checks, _) = include_str!("peer_envelope.rs").split_once("mod tests").expect("tests are last");
        let literals = checks.split('"').skip(1).step_by(2).map(String::from);
        let placed = ["Ack", "OfferAnswer", "Resign", "Flag"].into_iter();
        let placed = placed.flat_map(|kind| ["match_id", "revision", "ply"].map(|it| format!("{kind}.{it}")));
        let bounds: BTreeSet<String> =
            literals.filter(|name| name.contains('.') && !name.starts_with('.')).chain(placed).collect();
        let named: BTreeSet<String> = cases.iter().map(|(field, _)| (*field).to_owned()).collect();
        assert_eq!(named, bounds);
    }

    #[test]
    fn what_is_too_short_or_unprintable_is_refused_by_name() {
        fn less(bytes: &mut Bytes) {
            bytes.truncate(bytes.len() - 1);
        }
        check_refused(&[
            ("Hello.name", largest_but!(Hello, |it| it.name = "a\nb".into())),
            ("Hello.advert_key", largest_but!(Hello, |it| less(&mut it.advert_key))),
            ("ResumePoint.match_id", largest_but!(Hello, |it| it.matches[0].match_id.clear())),
            ("Pair.nonce", largest_but!(Pair, |it| it.step = Some(pair::Step::Nonce(Bytes::new())))),
            (
                "Pair.commitment",
                largest_but!(Pair, |it| it.step = Some(pair::Step::Commitment(vec![1; 31].into()))),
            ),
            ("Invite.commitment", largest_but!(Invite, |it| less(&mut it.commitment))),
            ("Invite.counters", largest_but!(Invite, |it| less(&mut it.counters))),
            ("InviteAnswer.nonce", largest_but!(InviteAnswer, |it| less(&mut it.nonce))),
            ("Withdraw.invite_id", largest_but!(Withdraw, |it| less(&mut it.invite_id))),
            ("Play.match_id", largest_but!(Play, |it| it.match_id.clear())),
            ("Record.match_id", Gift { record: Some(Record::default()) }.into()),
            ("Record.reveal", largest_but!(Record, |it| less(&mut it.reveal))),
            ("Reveal.nonce", largest_but!(Reveal, |it| it.nonce.clear())),
            ("Club.name", largest_but!(Club, |it| it.name = "a\u{7}".into())),
            ("Say.text", largest_but!(Say, |it| it.what = Some(say::What::Text(String::new())))),
            ("Say.text", largest_but!(Say, |it| it.what = Some(say::What::Text("two\nlines".into())))),
        ]);
    }

    #[test]
    fn an_unknown_number_is_told_apart_from_rubbish() {
        assert_eq!(Envelope::decode(0, &[]), Err(EnvelopeError::UnknownMessage(0)));
        assert_eq!(Envelope::decode(999, &[1, 2]), Err(EnvelopeError::UnknownMessage(999)));
        assert!(matches!(Envelope::decode(1, &[0xFF; 9]), Err(EnvelopeError::Malformed(_))));
    }

    #[test]
    fn every_truncation_is_refused_or_is_a_smaller_message() {
        for envelope in largest() {
            let (msgid, payload) = envelope.encode();
            // Both ends of the longest ones: what lies between is the middle of one field.
            let near_an_end = |end: &usize| *end < 2_000 || end + 2_000 >= payload.len();
            for end in (0..payload.len()).filter(near_an_end) {
                if let Ok(smaller) = Envelope::decode(msgid, &payload[..end]) {
                    assert_ne!(smaller, envelope);
                }
            }
        }
    }
}
