//! What a client asks to be done in a room: decisions about one room, without I/O. With a peer, the session decides.

use engine::{Action, AnyGame, Side};
use proto::control::{self, RefusalCode};
use proto::limits;
use session::{Analysis, LocalCommand, OfferKind, wire};

use crate::fair_play;
use crate::refusal::{self, Refusal};
use crate::room::{Room, Seat};
use crate::show;

fn refused(code: RefusalCode, why: &str) -> Refusal {
    Refusal::new(code, why)
}

/// The action that a client means, if it may act now. `waits`: for a guest who is away.
pub(crate) fn action(room: &Room, act: &control::Act, waits: bool) -> Result<Action, Refusal> {
    let action = match &act.action {
        Some(action) => wire::read_action(Some(action)).ok(),
        None => room.game().parse(&act.notation),
    };
    let Some(action) = action else {
        return Err(refused(RefusalCode::RefusalBadRequest, "that is no action of this game"));
    };
    if waits {
        return Err(refused(RefusalCode::RefusalLinkLost, "the guest is away: the match waits"));
    }
    if let Some(turn) = room.turn()
        && !room.record().setup.is_race()
        && !room.mine().any(|side| side == turn)
    {
        let refusal = refused(RefusalCode::RefusalNotYourTurn, "it is not your turn");
        return Err(Refusal { action: Some(action), ..refusal });
    }
    Ok(action)
}

/// The side that resigns.
pub(crate) fn resigning(room: &Room, resign: &control::Resign) -> Result<Side, Refusal> {
    let here: Vec<Side> = Side::BOTH.into_iter().filter(|side| *room.seat(*side) == Seat::Here).collect();
    match (show::parse_side(resign.side), here.as_slice()) {
        (Some(side), here) if here.contains(&side) => Ok(side),
        (None, [side]) => Ok(*side),
        _ => Err(refused(RefusalCode::RefusalBadRequest, "say which side of yours resigns")),
    }
}

/// What an offer does at once, where nobody is to agree to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Offered {
    Command(LocalCommand),
    /// The clock stops, and the room closes.
    Adjourn,
    /// The next match begins.
    NextGame,
    /// It is so already.
    Nothing,
}

/// What an offer comes to in a room without a peer in which nobody is to agree to it.
pub(crate) fn offered(room: &Room, kind: OfferKind) -> Result<Offered, Refusal> {
    Ok(match kind {
        OfferKind::TakeBack => {
            let ply = room.last_decision_here().ok_or_else(nothing_to_take_back)?;
            Offered::Command(LocalCommand::TakeBack { ply })
        }
        OfferKind::Draw if room.seats != Seat::BOTH_HERE => {
            return Err(refused(RefusalCode::RefusalIllegal, "a bot does not agree to a draw"));
        }
        OfferKind::Draw => Offered::Command(LocalCommand::Draw),
        OfferKind::Pause if room.record().paused => Offered::Nothing,
        OfferKind::Pause => Offered::Command(LocalCommand::Pause(true)),
        OfferKind::Adjourn => Offered::Adjourn,
        OfferKind::Continue => Offered::Command(LocalCommand::Pause(false)),
        OfferKind::NewGame | OfferKind::NewGameSame => Offered::NextGame,
    })
}

fn nothing_to_take_back() -> Refusal {
    refused(RefusalCode::RefusalNothingToTakeBack, "no action here to take back")
}

/// Whether one of two people, of whom one is a guest, can make this offer now, and whether it can still be carried out.
pub(crate) fn may_offer(room: &Room, by: Side, kind: OfferKind) -> Result<(), Refusal> {
    let (over, paused) = (room.record().result.is_some(), room.record().paused);
    let possible = match kind {
        OfferKind::TakeBack if room.record().setup.is_race() || room.last_decision_of(by).is_none() => {
            return Err(nothing_to_take_back());
        }
        OfferKind::TakeBack => !paused,
        OfferKind::Draw => !over,
        OfferKind::Pause => !over && !paused,
        OfferKind::Continue => paused,
        OfferKind::NewGame | OfferKind::NewGameSame => true,
        OfferKind::Adjourn => false,
    };
    if possible { Ok(()) } else { Err(refused(RefusalCode::RefusalIllegal, "that cannot be offered now")) }
}

/// The command that carries out an offer of this side to which the other has agreed. `None`: the next match begins.
pub(crate) fn agreed(room: &Room, by: Side, kind: OfferKind) -> Option<LocalCommand> {
    match kind {
        OfferKind::TakeBack => Some(LocalCommand::TakeBack { ply: room.last_decision_of(by).unwrap_or(0) }),
        OfferKind::Draw => Some(LocalCommand::Draw),
        OfferKind::Pause | OfferKind::Adjourn => Some(LocalCommand::Pause(true)),
        OfferKind::Continue => Some(LocalCommand::Pause(false)),
        OfferKind::NewGame | OfferKind::NewGameSame => None,
    }
}

/// What is looked at after a step of the analysis after the end. `shown`: what was looked at before. `None`: the analysis is
/// closed.
pub(crate) fn analysed(
    room: &Room,
    shown: Option<Analysis>,
    step: Option<&control::analyse::Step>,
) -> Result<Option<Analysis>, Refusal> {
    use control::analyse::Step;
    let bad = |why: &str| refused(RefusalCode::RefusalBadRequest, why);
    let record = room.record();
    if record.result.is_none() {
        return Err(refused(RefusalCode::RefusalIllegal, "the match goes on"));
    }
    let end = Analysis { ply: room.ply(), tried: Vec::new() };
    let Analysis { ply, mut tried } = shown.unwrap_or(end);
    let step = step.ok_or_else(|| bad("say what to look at"))?;
    Ok(match step {
        Step::ToPly(ply) if *ply > room.ply() => return Err(bad("the record is not so long")),
        Step::ToPly(ply) => Some(Analysis { ply: *ply, tried: Vec::new() }),
        Step::Back(_) => match tried.pop() {
            Some(_) => Some(Analysis { ply, tried }),
            None => Some(Analysis { ply: ply.saturating_sub(1), tried }),
        },
        Step::Close(_) => None,
        Step::TryAction(_) | Step::TryNotation(_) => {
            let mut game = AnyGame::new(&record.setup).expect("this room plays it");
            for action in record.actions.iter().take(ply as usize).chain(&tried) {
                game.legal_move(*action).map_err(|why| Refusal::illegal(why, *action, &game))?;
                game.act(*action).expect("it is legal");
            }
            let action = match step {
                Step::TryAction(action) => wire::read_action(Some(action)).ok(),
                Step::TryNotation(text) => game.parse(text),
                _ => None,
            };
            let action = action.ok_or_else(|| bad("that is no action of this game"))?;
            game.legal_move(action).map_err(|why| Refusal::illegal(why, action, &game))?;
            if tried.len() >= limits::TRIED_ACTIONS {
                return Err(bad("so many moves are not tried"));
            }
            tried.push(action);
            Some(Analysis { ply, tried })
        }
    })
}

/// The change of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewSeat {
    /// A bot of this level plays for the person, who may take the seat back.
    Assist(engine::Level),
    /// These seats, without a bot that assists.
    Seats([Seat; 2]),
}

/// How a seat changes to the one that is wanted; `assists`: a bot plays for the person. With a peer it always does.
/// [`fair_play::may_stand_in`] decides whether it may.
pub(crate) fn new_seat(room: &Room, side: Side, wanted: Seat, assists: bool) -> Result<NewSeat, Refusal> {
    if matches!(room.seat(side), Seat::Peer(_)) {
        return Err(refused(RefusalCode::RefusalIllegal, "that seat is the other device's"));
    }
    let with_peer = room.peer().is_some();
    // Each runs on a board of their own, and only a person presses there.
    if room.record().setup.is_race() && !with_peer && !assists {
        let other = room.seat(side.other());
        if matches!(wanted, Seat::Bot(_) | Seat::Engine(_)) || (&wanted, other) == (&Seat::Here, &Seat::Here)
        {
            return Err(refusal::no_runner());
        }
    }
    if with_peer && matches!(wanted, Seat::Guest(_) | Seat::Engine(_)) {
        let why = "neither a guest nor an engine can play for you against another device";
        return Err(refused(RefusalCode::RefusalIllegal, why));
    }
    Ok(match wanted {
        Seat::Bot(level) if assists || with_peer => NewSeat::Assist(level),
        seat => {
            let mut seats = room.seats.clone();
            seats[side.index()] = seat;
            NewSeat::Seats(seats)
        }
    })
}

/// The position for a hint, if a hint is allowed now.
pub(crate) fn to_advise(room: &Room) -> Result<AnyGame, Refusal> {
    if room.record().setup.is_race() {
        return Err(refused(RefusalCode::RefusalIllegal, "a race is run without hints"));
    }
    fair_play::may_take_hints(room.record(), &room.seats)?;
    if !room.turn().is_some_and(|turn| room.mine().any(|side| side == turn)) {
        return Err(refused(RefusalCode::RefusalNotYourTurn, "a hint is for whoever is to move"));
    }
    Ok(room.game().clone())
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Level, Point};
    use session::{MatchId, MatchRecord, MatchResult};

    use super::*;
    use crate::room::PlayerId;

    const BOT: Seat = Seat::Bot(Level::MIN);
    const PEER: Seat = Seat::Peer(PlayerId([7; 32]));

    fn guest() -> Seat {
        Seat::Guest("Ben".into())
    }

    fn record(columns: usize) -> MatchRecord {
        let mut record = MatchRecord::new(MatchId([1; 16]), GameKind::Gomoku.default_setup(), Side::First);
        record.actions = (0..columns).map(|at| place(at as u16, 2 * (at as u16 % 2))).collect();
        record
    }

    fn place(x: u16, y: u16) -> Action {
        Action::Place(Point::new(x, y))
    }

    /// A room of gomoku after so many actions.
    fn room(actions: usize, seats: [Seat; 2]) -> Room {
        Room::new(record(actions), seats).expect("a room")
    }

    fn over(actions: usize, seats: [Seat; 2]) -> Room {
        let record = MatchRecord { result: Some(MatchResult::DrawAgreed), ..record(actions) };
        Room::new(record, seats).expect("a room")
    }

    fn paused(actions: usize, seats: [Seat; 2]) -> Room {
        Room::new(MatchRecord { paused: true, ..record(actions) }, seats).expect("a room")
    }

    fn race() -> Room {
        let setup = session::Terms {
            setup: GameKind::LightsOut.default_setup(),
            pace: None,
            colours: session::Colours::Random,
            hints: false,
        }
        .for_two()
        .setup;
        let record = MatchRecord::new(MatchId([1; 16]), setup, Side::First);
        Room::new(record, [Seat::Here, guest()]).expect("a room")
    }

    fn code<T>(answer: Result<T, Refusal>) -> Option<RefusalCode> {
        answer.err().map(|refusal| refusal.code)
    }

    fn act(at: Action) -> control::Act {
        control::Act { action: Some(wire::action(at)), ..control::Act::default() }
    }

    #[test]
    fn an_action_is_for_the_person_whose_turn_it_is() {
        let (next, mine) = (act(place(8, 8)), room(1, [Seat::Here, Seat::Here]));
        assert_eq!(action(&mine, &next, false).ok(), Some(place(8, 8)));
        assert_eq!(code(action(&mine, &next, true)), Some(RefusalCode::RefusalLinkLost));
        for seats in [[Seat::Here, BOT], [Seat::Here, PEER], [Seat::Here, guest()]] {
            let refusal = action(&room(1, seats), &next, false).expect_err("the other's turn");
            assert_eq!((refusal.code, refusal.action), (RefusalCode::RefusalNotYourTurn, Some(place(8, 8))));
        }
        let written = control::Act { notation: "h8".into(), ..control::Act::default() };
        assert!(action(&mine, &written, false).is_ok());
        let nonsense = control::Act { notation: "?".into(), ..control::Act::default() };
        assert_eq!(code(action(&mine, &nonsense, false)), Some(RefusalCode::RefusalBadRequest));
        // Whether it is legal is for the match to say, also after the end.
        assert!(action(&over(1, [Seat::Here, BOT]), &next, false).is_ok());
    }

    #[test]
    fn who_has_one_side_resigns_it_and_who_has_both_says_which() {
        let resign = |side: Option<Side>| control::Resign {
            side: side.map_or(0, |side| show::side(side).into()),
            ..control::Resign::default()
        };
        let here = room(0, Seat::BOTH_HERE);
        assert_eq!(code(resigning(&here, &resign(None))), Some(RefusalCode::RefusalBadRequest));
        assert_eq!(resigning(&here, &resign(Some(Side::Second))).ok(), Some(Side::Second));
        let one = room(0, [BOT, Seat::Here]);
        assert_eq!(resigning(&one, &resign(None)).ok(), Some(Side::Second));
        assert!(resigning(&one, &resign(Some(Side::First))).is_err(), "the bot's");
        assert!(resigning(&room(0, [BOT, guest()]), &resign(None)).is_err(), "nobody is here");
    }

    #[test]
    fn alone_an_offer_is_done_at_once_unless_a_bot_had_to_agree() {
        let alone = room(3, [Seat::Here, BOT]);
        let take_back = Offered::Command(LocalCommand::TakeBack { ply: 2 });
        assert_eq!(offered(&alone, OfferKind::TakeBack).ok(), Some(take_back));
        assert_eq!(code(offered(&alone, OfferKind::Draw)), Some(RefusalCode::RefusalIllegal));
        let draw = Offered::Command(LocalCommand::Draw);
        assert_eq!(offered(&room(3, Seat::BOTH_HERE), OfferKind::Draw).ok(), Some(draw));
        let nothing = offered(&room(0, [Seat::Here, BOT]), OfferKind::TakeBack);
        assert_eq!(code(nothing), Some(RefusalCode::RefusalNothingToTakeBack));
        let pause = Offered::Command(LocalCommand::Pause(true));
        assert_eq!(offered(&alone, OfferKind::Pause).ok(), Some(pause));
        let again = paused(3, [Seat::Here, BOT]);
        assert_eq!(offered(&again, OfferKind::Pause).ok(), Some(Offered::Nothing));
        let on = Offered::Command(LocalCommand::Pause(false));
        assert_eq!(offered(&again, OfferKind::Continue).ok(), Some(on));
        assert_eq!(offered(&alone, OfferKind::Adjourn).ok(), Some(Offered::Adjourn));
        for kind in [OfferKind::NewGame, OfferKind::NewGameSame] {
            assert_eq!(offered(&alone, kind).ok(), Some(Offered::NextGame));
        }
    }

    #[test]
    fn with_a_guest_an_offer_is_made_only_while_it_can_be_carried_out() {
        use OfferKind::{Adjourn, Continue, Draw, NewGame, NewGameSame, Pause, TakeBack};
        let may = |room: &Room| {
            let kinds = [TakeBack, Draw, Pause, Continue, NewGame, NewGameSame, Adjourn];
            kinds.into_iter().filter(|kind| may_offer(room, Side::First, *kind).is_ok()).collect::<Vec<_>>()
        };
        let seats = || [Seat::Here, guest()];
        assert_eq!(may(&room(0, seats())), [Draw, Pause, NewGame, NewGameSame]);
        assert_eq!(may(&room(1, seats())), [TakeBack, Draw, Pause, NewGame, NewGameSame]);
        assert_eq!(may(&paused(1, seats())), [Draw, Continue, NewGame, NewGameSame]);
        assert_eq!(may(&over(1, seats())), [TakeBack, NewGame, NewGameSame]);
        assert!(!may(&race()).contains(&TakeBack), "a run is the runner's");
        let second = may_offer(&room(1, seats()), Side::Second, TakeBack);
        assert_eq!(code(second), Some(RefusalCode::RefusalNothingToTakeBack), "it has not moved yet");
    }

    #[test]
    fn an_agreed_offer_is_carried_out_for_the_side_that_made_it() {
        let two = room(3, [Seat::Here, guest()]);
        let ply = |by| match agreed(&two, by, OfferKind::TakeBack) {
            Some(LocalCommand::TakeBack { ply }) => Some(ply),
            _ => None,
        };
        assert_eq!([ply(Side::First), ply(Side::Second)], [Some(2), Some(1)]);
        assert_eq!(agreed(&two, Side::First, OfferKind::NewGame), None);
        assert_eq!(agreed(&two, Side::First, OfferKind::Continue), Some(LocalCommand::Pause(false)));
    }

    #[test]
    fn an_analysis_goes_through_the_record_and_tries_moves_after_it() {
        use control::analyse::Step;
        let ended = over(3, Seat::BOTH_HERE);
        let step = |shown: Option<Analysis>, step| analysed(&ended, shown, Some(&step));
        let at = |ply, tried: &[Action]| Some(Analysis { ply, tried: tried.to_vec() });
        assert_eq!(step(None, Step::Back(true)).ok(), Some(at(2, &[])), "from the end");
        assert_eq!(step(None, Step::ToPly(1)).ok(), Some(at(1, &[])));
        assert_eq!(code(step(None, Step::ToPly(4))), Some(RefusalCode::RefusalBadRequest));
        let tried = Step::TryAction(wire::action(place(8, 8)));
        assert_eq!(step(at(1, &[]), tried.clone()).ok(), Some(at(1, &[place(8, 8)])));
        assert_eq!(step(at(1, &[place(8, 8)]), Step::Back(true)).ok(), Some(at(1, &[])));
        assert!(step(at(1, &[place(8, 8)]), tried).is_err(), "the point is taken");
        assert_eq!(step(at(0, &[]), Step::Back(true)).ok(), Some(at(0, &[])));
        assert_eq!(step(at(1, &[]), Step::Close(true)).ok(), Some(None));
        assert_eq!(code(analysed(&ended, None, None)), Some(RefusalCode::RefusalBadRequest));
        let goes_on = analysed(&room(3, Seat::BOTH_HERE), None, Some(&Step::ToPly(0)));
        assert_eq!(code(goes_on), Some(RefusalCode::RefusalIllegal));
    }

    #[test]
    fn with_a_peer_a_bot_only_assists_and_the_peers_seat_stays() {
        let with_peer = room(0, [Seat::Here, PEER]);
        assert_eq!(new_seat(&with_peer, Side::First, BOT, false).ok(), Some(NewSeat::Assist(Level::MIN)));
        assert!(new_seat(&with_peer, Side::Second, BOT, false).is_err());
        assert!(new_seat(&with_peer, Side::First, guest(), false).is_err());
        let back = NewSeat::Seats([Seat::Here, PEER]);
        assert_eq!(new_seat(&with_peer, Side::First, Seat::Here, false).ok(), Some(back));
        let here = room(0, Seat::BOTH_HERE);
        let bot = NewSeat::Seats([Seat::Here, BOT]);
        assert_eq!(new_seat(&here, Side::Second, BOT, false).ok(), Some(bot));
        assert_eq!(new_seat(&here, Side::Second, BOT, true).ok(), Some(NewSeat::Assist(Level::MIN)));
    }

    #[test]
    fn a_race_is_run_by_two_people_and_neither_seat_becomes_a_bots_or_both_one_persons() {
        let Err(refusal) = new_seat(&race(), Side::Second, BOT, false) else { panic!("a bot would not run") };
        assert_eq!(refusal.code, RefusalCode::RefusalIllegal);
        assert!(refusal.reason.is_some_and(|words| words.en.contains("two people") && !words.zh.is_empty()));
        assert!(new_seat(&race(), Side::First, BOT, false).is_err());
        assert!(new_seat(&race(), Side::Second, Seat::Here, false).is_err());
        let other = Seat::Guest("Cleo".into());
        let seats = NewSeat::Seats([Seat::Here, other.clone()]);
        assert_eq!(new_seat(&race(), Side::Second, other, false).ok(), Some(seats));
        assert_eq!(new_seat(&race(), Side::First, BOT, true).ok(), Some(NewSeat::Assist(Level::MIN)));
        assert_eq!(code(new_seat(&room(0, [Seat::Here, guest()]), Side::Second, BOT, false)), None);
    }

    #[test]
    fn a_hint_is_for_the_person_to_move_and_with_others_only_where_both_may_have_them() {
        assert!(to_advise(&room(0, [Seat::Here, BOT])).is_ok());
        assert_eq!(code(to_advise(&room(1, [Seat::Here, BOT]))), Some(RefusalCode::RefusalNotYourTurn));
        assert_eq!(code(to_advise(&over(0, Seat::BOTH_HERE))), Some(RefusalCode::RefusalNotYourTurn));
        assert_eq!(code(to_advise(&race())), Some(RefusalCode::RefusalIllegal));
        for other in [PEER, guest()] {
            assert!(to_advise(&room(0, [Seat::Here, other.clone()])).is_err());
            let record = MatchRecord { hints: Some([0, 0]), ..record(0) };
            let with_hints = Room::new(record, [Seat::Here, other]).expect("a room");
            assert!(to_advise(&with_hints).is_ok());
        }
    }
}
