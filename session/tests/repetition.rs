//! Xiangqi with repetition by the Chinese rules: a version that does not know it is not asked, and what is told is judged by it on
//! both devices.

mod pair;

use engine::xiangqi::{RepetitionRule, XiangqiSetup};
use engine::{GameKind, Outcome, Reason, Setup, Side};
use pair::{ANNA, BERT, Pair, invite};
use proto::peer::Envelope;
use session::{Command, MatchRecord, MatchResult, Refused, wire};

fn setup(repetition: RepetitionRule) -> Setup {
    Setup::Xiangqi(XiangqiSetup { repetition, ..XiangqiSetup::default() })
}

/// A check and a threat of mate in turn: see the engine's tests of repetition.
fn from_a_position(repetition: RepetitionRule) -> Setup {
    let line = b"3k5/9/9/2n6/R8/9/9/9/9/4K4 w";
    let start = engine::start::Start::read(GameKind::Xiangqi, line).expect("a line");
    setup(repetition).begin_from(start).expect("a match begins from it")
}

#[test]
fn a_version_that_does_not_know_the_chinese_rules_is_neither_invited_to_them_nor_given_a_match_by_them() {
    let mut pair = Pair::friends();
    pair.connect();
    for envelope in &mut pair.devices[ANNA].inbox {
        if let Envelope::Hello(hello) = envelope {
            assert!(hello.knows_chinese_repetition);
            hello.knows_chinese_repetition = false;
        }
    }
    pair.run();
    for (setup, known) in [
        (setup(RepetitionRule::Asian), true),
        (from_a_position(RepetitionRule::Asian), true),
        (setup(RepetitionRule::Chinese), false),
        (from_a_position(RepetitionRule::Chinese), false),
    ] {
        let id = pair.fresh_id();
        let mut record = MatchRecord::new(id, setup.clone(), Side::First);
        record.result = Some(MatchResult::Resigned(Side::First));
        let asked = pair.command(ANNA, invite(id, setup, Side::First));
        assert_eq!(asked.err(), (!known).then_some(Refused::RepetitionUnknown));
        let given = pair.command(ANNA, Command::Give(record.into()));
        assert_eq!(given.err() == Some(Refused::RepetitionUnknown), !known);
        if known {
            pair.command(ANNA, Command::Withdraw(id)).expect("it is open");
            pair.run();
        }
    }
}

#[test]
fn an_older_version_finds_no_game_in_an_invitation_by_the_chinese_rules() {
    use prost::Message as _;
    let mut bytes = wire::setup(&setup(RepetitionRule::Chinese)).encode_to_vec();
    assert_eq!(bytes[0], 7 << 3 | 2, "the whole setup is in the new field");
    // What a schema without field 7 decodes: the oneof has none of its fields.
    bytes[0] = 15 << 3 | 2;
    let older = proto::board::Setup::decode(&bytes[..]).expect("unknown fields are passed over");
    assert!(wire::read_setup(Some(&older)).is_err());
}

#[test]
fn the_bytes_of_setups_that_earlier_versions_know_are_the_same() {
    use prost::Message as _;
    assert_eq!(wire::setup(&GameKind::Xiangqi.default_setup()).encode_to_vec(), [0x22, 2, 8, 120]);
}

#[test]
fn both_devices_judge_a_repetition_by_the_rule_of_the_setup() {
    let attack = Outcome { winner: Some(Side::Second), reason: Reason::PerpetualAttack };
    let draw = Outcome { winner: None, reason: Reason::Repetition };
    for (rule, expected) in [(RepetitionRule::Chinese, attack), (RepetitionRule::Asian, draw)] {
        let mut pair = Pair::friends();
        pair.connect();
        pair.run();
        let id = pair.begin(ANNA, from_a_position(rule), Side::First);
        for text in ["a5a9", "d9d8", "a9a5", "d8d9"].repeat(2) {
            let state = pair.devices[ANNA].state(id);
            let mover = if state.position().turn() == Side::First { ANNA } else { BERT };
            let action = state.position().parse(text).expect("a move");
            pair.command(mover, Command::Act { id, action }).expect("a legal move");
            pair.run();
        }
        for device in [ANNA, BERT] {
            let result = pair.devices[device].state(id).record().result;
            assert_eq!(result, Some(MatchResult::Played(expected)), "{rule:?}");
        }
    }
}
