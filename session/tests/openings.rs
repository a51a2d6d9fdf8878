//! Opening rules of gomoku that came later: a version that does not know them is not asked, and what is not known is declined.

mod pair;

use engine::{GameKind, GomokuOpening, GomokuRule, GomokuSetup, Setup, Side};
use pair::{ANNA, BERT, Pair, invite, small};
use proto::peer::{self, Envelope};
use session::{Input, Refused, wire};

fn opening(opening: GomokuOpening) -> Setup {
    Setup::Gomoku(GomokuSetup { rule: GomokuRule::Renju, opening, ..GomokuSetup::default() })
}

#[test]
fn a_version_that_does_not_know_an_opening_is_not_invited_to_it() {
    let mut pair = Pair::friends();
    pair.connect();
    for envelope in &mut pair.devices[ANNA].inbox {
        if let Envelope::Hello(hello) = envelope {
            assert!(hello.knows_openings);
            hello.knows_openings = false;
        }
    }
    pair.run();
    for one in GomokuOpening::ALL {
        let id = pair.fresh_id();
        let asked = pair.command(ANNA, invite(id, opening(one), Side::First));
        let known = matches!(one, GomokuOpening::Free | GomokuOpening::Swap2);
        assert_eq!(asked.err(), (!known).then_some(Refused::OpeningUnknown), "{one:?}");
        if known {
            pair.command(ANNA, session::Command::Withdraw(id)).expect("it is open");
            pair.run();
        }
    }
    let id = pair.fresh_id();
    pair.command(ANNA, invite(id, small(), Side::First)).expect("all know the usual beginning");
}

#[test]
fn an_opening_that_is_not_known_or_makes_no_game_is_declined() {
    let told = |change: &dyn Fn(&mut proto::board::GomokuSetup)| {
        let mut setup = wire::setup(&opening(GomokuOpening::Yamaguchi));
        let Some(proto::board::setup::Game::Gomoku(gomoku)) = &mut setup.game else { panic!("gomoku") };
        change(gomoku);
        setup
    };
    for (setup, declined) in [
        (told(&|_| {}), false),
        (told(&|gomoku| gomoku.opening = 8), true),
        (told(&|gomoku| gomoku.size = 13), true),
        (told(&|gomoku| gomoku.rule = 0), true),
    ] {
        let mut pair = Pair::friends();
        pair.connect();
        pair.run();
        let id = pair.fresh_id();
        let invite =
            peer::Invite { invite_id: id.0.to_vec().into(), setup: Some(setup), ..Default::default() };
        pair.input(BERT, Input::Received(invite.into()));
        let answered = pair.devices[ANNA].inbox.iter().any(|envelope| {
            matches!(envelope, Envelope::InviteAnswer(answer) if answer.answer
                == Some(peer::invite_answer::Answer::Decline(peer::DeclineReason::DeclineUnknownGame.into())))
        });
        assert_eq!(answered, declined);
        let shown =
            pair.devices[BERT].events.iter().any(|event| matches!(event, session::Event::Invited { .. }));
        assert_eq!(shown, !declined);
    }
}

#[test]
fn the_bytes_of_setups_that_earlier_versions_know_are_the_same() {
    use prost::Message as _;
    for (one, number) in [(GomokuOpening::Free, None), (GomokuOpening::Swap2, Some(1))] {
        let mut bytes = vec![0x0A, 0, 0x08, 15, 0x10, 2, 0x18, 1];
        bytes.extend(number.into_iter().flat_map(|number| [0x20, number]));
        bytes[1] = bytes.len() as u8 - 2;
        assert_eq!(wire::setup(&opening(one)).encode_to_vec(), bytes, "{one:?}");
    }
    assert_eq!(GameKind::Gomoku.default_setup(), Setup::Gomoku(GomokuSetup::default()));
}
