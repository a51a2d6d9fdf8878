//! Matches that begin from a position that was set up: both devices have it, and a version that does not know it is not asked.

mod pair;
#[path = "../../tests/src/seed.rs"]
mod seed;
#[path = "../../engine/tests/starts/mod.rs"]
mod starts;

use engine::start::Start;
use engine::xiangqi::{RepetitionRule, XiangqiSetup};
use engine::{Action, AnyGame, GameKind, Point, Rng, Setup, Side};
use pair::{ANNA, BERT, Pair, invite, small};
use prost::Message as _;
use proto::peer::{self, Envelope};
use session::{Command, Input, MatchId, MatchRecord, OfferKind, Refused, wire};

/// Xiangqi without Red's left horse, Red to move.
fn without_a_horse() -> Setup {
    let line = b"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w";
    let start = Start::read(GameKind::Xiangqi, line).expect("a line");
    GameKind::Xiangqi.default_setup().begin_from(start).expect("a legal start")
}

fn playing() -> (Pair, MatchId) {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let id = pair.fresh_id();
    pair.command(ANNA, invite(id, without_a_horse(), Side::First)).expect("both are here");
    pair.run();
    pair.command(BERT, Command::AnswerInvite { id, decline: None }).expect("it is asked");
    pair.run();
    (pair, id)
}

fn step(from: (u16, u16), to: (u16, u16)) -> Action {
    Action::Step { from: Point::new(from.0, from.1), to: Point::new(to.0, to.1) }
}

/// Setups of this game from random legal starts; those of xiangqi by both rules of repetition.
fn set_up(game: GameKind, seed: u64) -> impl Iterator<Item = Setup> {
    starts::legal(game, seed).zip(RepetitionRule::ALL.into_iter().cycle()).map(|(start, repetition)| {
        let rules = match starts::rules(&start) {
            Setup::Xiangqi(xiangqi) => Setup::Xiangqi(XiangqiSetup { repetition, ..xiangqi }),
            other => other,
        };
        rules.begin_from(start).expect("a legal start")
    })
}

/// An action after which the game goes on, if there is one.
fn goes_on(position: &AnyGame, rng: &mut Rng) -> Option<Action> {
    let mut actions = position.legal_actions();
    rng.shuffle(&mut actions);
    actions.into_iter().find(|&action| {
        let mut next = position.clone();
        next.act(action).is_ok() && next.outcome().is_none()
    })
}

#[test]
fn ten_thousand_random_starts_are_the_same_on_the_wire_and_in_records() {
    let seed = seed::begin("starts on the wire", 21);
    let mut rng = Rng::new(seed);
    let mut before: Option<MatchRecord> = None;
    for game in starts::GAMES {
        for setup in set_up(game, seed).take(10_000 / starts::GAMES.len()) {
            let bytes = wire::setup(&setup).encode_to_vec();
            let told = proto::board::Setup::decode(&bytes[..]).expect("it was just encoded");
            let read = wire::read_peer_setup(Some(&told)).expect("it was just written");
            assert_eq!(read, setup);
            assert_eq!(wire::setup(&read).encode_to_vec(), bytes, "there is one form");

            // A few actions from there on both devices.
            let [mut anna, mut bert] = [&setup, &read].map(|setup| AnyGame::new(setup).expect("legal"));
            let mut mine = MatchRecord::new(MatchId([7; 16]), setup, Side::First);
            while mine.actions.len() < 3
                && let Some(action) = goes_on(&anna, &mut rng)
            {
                anna.act(action).expect("it is legal");
                mine.actions.push(action);
            }
            let mut theirs = MatchRecord::new(MatchId([7; 16]), read, Side::Second);
            theirs.actions = wire::unpack_actions(&wire::pack_actions(&mine.actions)).expect("just packed");
            for &action in &theirs.actions {
                bert.act(action).expect("it is legal there too");
            }
            assert!(mine.agrees_with(&theirs));
            assert_eq!(mine.digest(), theirs.digest());
            assert_eq!((anna.key(), anna.view()), (bert.key(), bert.view()));

            let usual = MatchRecord { setup: mine.setup.clone().without_start(), ..mine.clone() };
            assert_ne!(usual.digest(), mine.digest(), "the digest covers the start");
            if let Some(before) = before.replace(mine.clone())
                && before.setup != mine.setup
            {
                let begun = |record: &MatchRecord| MatchRecord { actions: Vec::new(), ..record.clone() };
                assert_ne!(begun(&before).digest(), begun(&mine).digest(), "all of the start");
            }
        }
    }
}

#[test]
fn matches_from_random_starts_are_resumed_after_restarts_of_both_devices() {
    let seed = seed::begin("starts resumed", 22);
    let mut rng = Rng::new(seed);
    let mut lost = 0;
    for game in starts::GAMES {
        for setup in set_up(game, seed).take(100) {
            let mut pair = Pair::friends();
            pair.connect();
            pair.run();
            let id = pair.begin(ANNA, setup.clone(), Side::First);
            // Of two actions the second one is lost with the link and both devices.
            for last in [false, true] {
                let position = pair.devices[ANNA].state(id).position();
                let Some(action) = goes_on(position, &mut rng) else { break };
                let device = if position.turn() == Side::First { ANNA } else { BERT };
                pair.act(device, id, action).expect("it is legal");
                if last {
                    lost += 1;
                } else {
                    pair.run();
                }
            }
            for device in [BERT, ANNA] {
                pair.restart(device);
            }
            pair.run();
            pair.connect();
            pair.run();
            pair.check_level(id);
            let record = pair.devices[BERT].state(id).record();
            assert_eq!(record.setup, setup);
            let mut again = AnyGame::new(&setup).expect("legal");
            for &action in &record.actions {
                again.act(action).expect("it was played");
            }
            for device in [ANNA, BERT] {
                let state = pair.devices[device].state(id);
                assert_eq!(state.position().view(), again.view());
                assert_eq!(state.digest(), record.digest());
            }
        }
    }
    assert!(lost > 300, "{lost} actions arrived with the next link");
}

#[test]
fn both_devices_begin_from_the_same_start_and_agree_after_each_move() {
    let (mut pair, id) = playing();
    for device in [ANNA, BERT] {
        let state = pair.devices[device].state(id);
        assert_eq!(state.record().setup, without_a_horse());
        let horse = state.position().view().pieces.iter().any(|piece| piece.at == Point::new(1, 0));
        assert!(!horse, "the board is not the usual one");
    }
    pair.command(ANNA, Command::Act { id, action: step((7, 0), (6, 2)) }).expect("the other horse is there");
    pair.run();
    pair.command(BERT, Command::Act { id, action: step((1, 9), (2, 7)) }).expect("it is legal");
    pair.run();
    let digests = [ANNA, BERT].map(|device| pair.devices[device].state(id).record().digest());
    assert_eq!(digests[0], digests[1]);
    let usual = session::MatchRecord {
        setup: without_a_horse().without_start(),
        ..pair.devices[ANNA].state(id).record().clone()
    };
    assert_ne!(digests[0], usual.digest(), "the digest covers the start");
}

#[test]
fn a_start_survives_restarts_take_backs_and_a_new_game() {
    let (mut pair, id) = playing();
    pair.command(ANNA, Command::Act { id, action: step((7, 0), (6, 2)) }).expect("it is legal");
    pair.run();
    pair.restart(BERT);
    pair.restart(ANNA);
    pair.run();
    pair.connect();
    pair.run();
    pair.command(ANNA, Command::Offer { id, kind: OfferKind::TakeBack }).expect("there is a move");
    pair.run();
    pair.command(BERT, Command::AnswerOffer { id, accept: true }).expect("it is asked");
    pair.run();
    for device in [ANNA, BERT] {
        let state = pair.devices[device].state(id);
        assert_eq!((state.record().actions.len(), &state.record().setup), (0, &without_a_horse()));
    }
    pair.command(ANNA, Command::Resign(id)).expect("it goes on");
    pair.run();
    pair.command(ANNA, Command::Offer { id, kind: OfferKind::NewGame }).expect("it is over");
    pair.run();
    pair.command(BERT, Command::AnswerOffer { id, accept: true }).expect("it is asked");
    pair.run();
    let begun = |device: usize| {
        let records = pair.devices[device].journal.matches.iter();
        records.filter(|(record, _)| record.setup == without_a_horse()).count()
    };
    assert_eq!([ANNA, BERT].map(begun), [2, 2], "the next game has the same start");
}

#[test]
fn a_version_that_does_not_know_starts_is_not_invited_to_one() {
    let mut pair = Pair::friends();
    pair.connect();
    for envelope in &mut pair.devices[ANNA].inbox {
        if let Envelope::Hello(hello) = envelope {
            assert!(hello.knows_starts);
            hello.knows_starts = false;
        }
    }
    pair.run();
    let id = pair.fresh_id();
    let asked = pair.command(ANNA, invite(id, without_a_horse(), Side::First));
    assert_eq!(asked, Err(Refused::StartsUnknown));
    pair.command(ANNA, invite(id, small(), Side::First)).expect("the usual beginning");
}

#[test]
fn an_older_version_finds_no_game_in_an_invitation_from_a_start() {
    let told = session::wire::setup(&without_a_horse());
    // What a schema without field 6 decodes: the oneof has none of its fields.
    let mut bytes = told.encode_to_vec();
    assert_eq!(bytes[0], 6 << 3 | 2, "the whole setup is in the new field");
    bytes[0] = 15 << 3 | 2;
    let older = proto::board::Setup::decode(&bytes[..]);
    let without = older.expect("unknown fields are passed over");
    assert!(session::wire::read_setup(Some(&without)).is_err());
}

#[test]
fn an_illegal_start_from_a_peer_is_declined() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    let mut setup = session::wire::setup(&without_a_horse());
    let Some(proto::board::setup::Game::Started(started)) = &mut setup.game else { panic!("a start") };
    // Nobody's general stands there any more.
    let mut points = started.points.to_vec();
    points[2] = 0;
    started.points = points.into();
    let id = pair.fresh_id();
    let invite = peer::Invite { invite_id: id.0.to_vec().into(), setup: Some(setup), ..Default::default() };
    pair.input(BERT, Input::Received(invite.into()));
    let sent = pair.devices[ANNA].inbox.iter().any(|envelope| {
        matches!(envelope, Envelope::InviteAnswer(answer) if answer.answer
            == Some(peer::invite_answer::Answer::Decline(peer::DeclineReason::DeclineUnknownGame.into())))
    });
    assert!(sent, "declined as a game that is not known");
}
