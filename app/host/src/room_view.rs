//! A room as a client, a guest or a spectator sees it, without I/O.

use engine::Side;
use proto::control;
use session::{MatchState, OfferKind, Pace, wire};

use crate::games;
use crate::room::{Room, Seat};
use crate::show;

/// Who a room is shown to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Viewer {
    /// A client of this device's user.
    Here,
    /// The guest of this side.
    #[cfg(feature = "guest")]
    Guest(Side),
    /// A spectator.
    #[cfg(feature = "guest")]
    Watcher,
}

impl Viewer {
    /// The side of a guest.
    pub(crate) fn guest(self) -> Option<Side> {
        match self {
            #[cfg(feature = "guest")]
            Self::Guest(side) => Some(side),
            #[cfg(feature = "guest")]
            Self::Watcher => None,
            Self::Here => None,
        }
    }

    /// Whether the room is shown to somebody who plays.
    fn plays(self) -> bool {
        matches!(self, Self::Here) || self.guest().is_some()
    }

    /// The side that this viewer controls in a match with a guest.
    fn side(self, room: &Room) -> Option<Side> {
        match self {
            Self::Here => room.side_here(),
            #[cfg(feature = "guest")]
            Self::Guest(side) => Some(side),
            #[cfg(feature = "guest")]
            Self::Watcher => None,
        }
    }
}

/// What the display of a room reads beside the room.
pub(crate) struct Around<'a> {
    pub(crate) now: session::Instant,
    /// The match waits for a guest who is away.
    pub(crate) waits: bool,
    /// The match in the peer's session.
    pub(crate) state: Option<&'a MatchState>,
    /// The peer's session waits for a working disk: nothing can be done in it.
    pub(crate) is_broken: bool,
}

impl Around<'_> {
    /// The match in the peer's session, if something can be done in it.
    fn playable(&self) -> Option<&MatchState> {
        self.state.filter(|_| !self.is_broken)
    }
}

/// What is shown of a room that others know.
pub(crate) struct Outside {
    pub(crate) seats: [control::Seat; 2],
    pub(crate) achieved: Option<control::Achieved>,
    /// State of the link, if the room has a peer that is known.
    pub(crate) link: Option<control::LinkState>,
}

/// The room from this point of view.
pub(crate) fn shown(room: &Room, viewer: Viewer, around: &Around<'_>, outside: Outside) -> control::Room {
    let record = room.record();
    let over = record.result.is_some();
    let mine: Vec<Side> = match viewer {
        Viewer::Here => room.mine().collect(),
        #[cfg(feature = "guest")]
        Viewer::Guest(side) => vec![side],
        #[cfg(feature = "guest")]
        Viewer::Watcher => Vec::new(),
    };
    let Outside { seats: [first, second], achieved, link } = outside;
    let mut shown = control::Room {
        id: record.id.to_string(),
        setup: Some(wire::setup(&record.setup)),
        first: Some(first),
        second: Some(second),
        board: Some(show::board(room.game(), over)),
        mine: mine.iter().map(|side| show::side(*side).into()).collect(),
        result: record.result.map(wire::result),
        record: room.notation().to_vec(),
        moves: show::moves(&record.actions),
        spoken: room.spoken().to_vec(),
        revision: record.revision,
        digest: record.digest(),
        can_act: turn(room, around).is_some_and(|turn| mine.contains(&turn)),
        follows: room.follows.map_or_else(String::new, |id| id.to_string()),
        achieved: achieved.filter(|_| viewer.plays()),
        ..control::Room::default()
    };
    shown.pace = Pace::write(record.pace);
    shown.pace_name = record.pace.map(games::pace_name);
    shown.paused = record.paused;
    shown.hints = record.hints.map(|[first, second]| control::Hints { first, second });
    if let Some((mine, race)) = race_for(room, viewer, around) {
        let mut board = show::board(&race.board, over || race.run.is_some());
        if room.peer().is_none() {
            shown.can_act = viewer.side(room).is_some() && room.can_press(mine);
        }
        let to_move = if shown.can_act { mine } else { mine.other() };
        if !over {
            board.turn = show::side(to_move).into();
        }
        shown.board = Some(board);
        shown.race = Some(show::race(&race));
    }
    if room.peer().is_none() {
        show_local(&mut shown, room, viewer, around);
        return shown;
    }
    let Some(mut link) = link else { return shown };
    (link.seen_action_ply, link.seen_after_us) = room.seen_action;
    shown.link = Some(link);
    if let Some(state) = around.playable() {
        let offer = |kind, by: Side, mine| control::PendingOffer {
            kind: show::offer_kind(kind).into(),
            mine,
            by: show::side(by).into(),
            number: 0,
        };
        shown.offer = (state.their_offer().map(|kind| offer(kind, record.my_side.other(), false)))
            .or_else(|| state.my_offer().map(|kind| offer(kind, record.my_side, true)));
        shown.differs = state.differs();
        let clocks = Side::BOTH.into_iter().filter_map(|side| state.clock(side, around.now));
        shown.clocks = clocks.map(show::clock).collect();
        shown.can_pause = state.can_offer(OfferKind::Pause);
        shown.can_continue = state.can_offer(OfferKind::Continue);
        shown.can_adjourn = state.can_offer(OfferKind::Adjourn);
        shown.can_analyse = state.can_analyse();
        shown.analysis =
            state.analysis().filter(|_| state.can_analyse()).and_then(|at| show::analysis(record, at, true));
        shown.can_take_back = state.can_take_back();
        shown.can_offer_draw = state.can_offer_draw();
        shown.can_resign = state.can_resign();
        shown.can_new_game = state.can_new_game();
        // After a restart the session has not heard from the peer, but the journal knows a settled match.
        let settled = state.is_settled().then(|| room.ply());
        shown.seen_ply = state.seen_ply().or(settled).unwrap_or(0);
    }
    shown
}

/// What a viewer may do in a room without a peer.
fn show_local(shown: &mut control::Room, room: &Room, viewer: Viewer, around: &Around<'_>) {
    let record = room.record();
    let over = record.result.is_some();
    let clocks = Side::BOTH.into_iter().filter_map(|side| room.clock(side, around.now));
    shown.clocks = clocks.map(show::clock).collect();
    shown.can_act &= !record.paused;
    // The sides whose offers and resignation this viewer may make; both, if both people are at this device.
    let speaks = match viewer {
        Viewer::Here => room.seats.contains(&Seat::Here),
        #[cfg(feature = "guest")]
        Viewer::Guest(_) => true,
        #[cfg(feature = "guest")]
        Viewer::Watcher => false,
    };
    let side = if room.needs_consent() { viewer.side(room) } else { None };
    let last = side.map_or_else(|| room.last_decision_here(), |side| room.last_decision_of(side));
    let open = |kind| speaks && side.is_none_or(|side| room.offers.may(side, kind));
    shown.offer = room.offers.open().map(|open| control::PendingOffer {
        kind: show::offer_kind(open.kind).into(),
        mine: side == Some(open.by),
        by: show::side(open.by).into(),
        number: open.number,
    });
    let begun = room.ply() > 0 || record.setup.is_race();
    shown.can_pause = !over && !record.paused && begun && open(OfferKind::Pause);
    shown.can_continue = record.paused && open(OfferKind::Continue);
    let race = record.setup.is_race();
    shown.can_take_back = !race && !record.paused && last.is_some() && open(OfferKind::TakeBack);
    shown.can_offer_draw =
        !over && (room.seats == Seat::BOTH_HERE || side.is_some()) && open(OfferKind::Draw);
    shown.can_resign = speaks && !over;
    shown.can_new_game = begun && (open(OfferKind::NewGame) || open(OfferKind::NewGameSame));
    let here = matches!(viewer, Viewer::Here);
    shown.can_adjourn = here && !over;
    shown.can_analyse = here && over;
    let analysis = room.analysis().filter(|_| here);
    shown.analysis = analysis.and_then(|at| show::analysis(record, at, false));
}

/// The race that a room shows and the side from whose point of view; a spectator without a peer sees the first side's.
fn race_for(room: &Room, viewer: Viewer, around: &Around<'_>) -> Option<(Side, session::Race)> {
    if room.peer().is_some() {
        return Some((room.record().my_side, race(room, around)?));
    }
    let side = viewer.side(room).unwrap_or(Side::First);
    Some((side, room.race(side, around.now)?))
}

/// The race from the point of view of this device's user, if the room is one.
pub(crate) fn race(room: &Room, around: &Around<'_>) -> Option<session::Race> {
    if room.peer().is_none() {
        return room.race(room.side_here()?, around.now);
    }
    around.state?.race(around.now)
}

/// The side to move, if it may act now. In a race: this device's side, while it may press.
pub(crate) fn turn(room: &Room, around: &Around<'_>) -> Option<Side> {
    let is_race = room.record().setup.is_race();
    if is_race && room.peer().is_none() {
        return room.side_here().filter(|side| room.can_press(*side));
    }
    if is_race {
        return around.playable()?.can_act().then_some(room.record().my_side);
    }
    let turn = room.turn()?;
    if room.peer().is_none() {
        return (!around.waits).then_some(turn);
    }
    let state = around.playable()?;
    (state.can_act() || matches!(room.seat(turn), Seat::Peer(_))).then_some(turn)
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Level, Point};
    use session::{MatchId, MatchRecord, MatchResult};

    use super::*;
    use crate::room::PlayerId;

    const BOT: Seat = Seat::Bot(Level::MIN);

    fn guest() -> Seat {
        Seat::Guest("Ben".into())
    }

    fn record(actions: u16) -> MatchRecord {
        let mut record = MatchRecord::new(MatchId([1; 16]), GameKind::Gomoku.default_setup(), Side::First);
        record.actions = (0..actions).map(|at| Action::Place(Point::new(at, 2 * (at % 2)))).collect();
        record
    }

    fn around() -> Around<'static> {
        Around { now: session::Instant::default(), waits: false, state: None, is_broken: false }
    }

    fn outside() -> Outside {
        Outside { seats: Default::default(), achieved: None, link: None }
    }

    fn here(record: MatchRecord, seats: [Seat; 2]) -> control::Room {
        let room = Room::new(record, seats).expect("a room");
        shown(&room, Viewer::Here, &around(), outside())
    }

    #[test]
    fn a_person_acts_on_the_own_turn_until_a_pause_or_the_end() {
        let seats = || [Seat::Here, BOT];
        assert!(here(record(0), seats()).can_act && !here(record(1), seats()).can_act);
        assert!(here(record(1), Seat::BOTH_HERE).can_act, "of two people one is always to move");
        let paused = here(MatchRecord { paused: true, ..record(2) }, seats());
        assert!(!paused.can_act && !paused.can_pause && !paused.can_take_back && paused.can_continue);
        let over = here(MatchRecord { result: Some(MatchResult::DrawAgreed), ..record(2) }, seats());
        assert!(!over.can_act && !over.can_resign && !over.can_adjourn && !over.can_pause);
        assert!(over.can_analyse && over.can_new_game);
    }

    #[test]
    fn before_the_first_move_there_is_nothing_to_pause_take_back_or_begin_anew() {
        let fresh = here(record(0), [Seat::Here, BOT]);
        assert!(!fresh.can_pause && !fresh.can_take_back && !fresh.can_new_game && fresh.can_resign);
        let begun = here(record(2), [Seat::Here, BOT]);
        assert!(begun.can_pause && begun.can_take_back && begun.can_new_game && begun.can_adjourn);
        assert!(!begun.can_offer_draw && here(record(2), Seat::BOTH_HERE).can_offer_draw, "to a bot");
    }

    #[test]
    fn of_an_open_offer_each_of_two_people_sees_whose_it_is_and_makes_no_other() {
        let mut room = Room::new(record(2), [Seat::Here, guest()]).expect("a room");
        let free = shown(&room, Viewer::Here, &around(), outside());
        assert!(free.can_offer_draw && free.can_take_back && free.offer.is_none());
        assert!(room.offers.offer(Side::First, OfferKind::Draw).is_ok());
        let mine = shown(&room, Viewer::Here, &around(), outside());
        assert!(mine.offer.is_some_and(|offer| offer.mine && offer.number == 1));
        assert!(!mine.can_take_back && !mine.can_pause && mine.can_resign);
        #[cfg(feature = "guest")]
        {
            let theirs = shown(&room, Viewer::Guest(Side::Second), &around(), outside());
            assert!(theirs.offer.is_some_and(|offer| !offer.mine));
            assert!(theirs.can_offer_draw && !theirs.can_take_back && !theirs.can_adjourn);
            let watched = shown(&room, Viewer::Watcher, &around(), outside());
            assert!(!watched.can_resign && !watched.can_act && watched.mine.is_empty());
        }
    }

    #[test]
    fn nobody_is_to_move_while_a_guest_is_away_or_the_peers_matches_cannot_be_kept() {
        let with_guest = Room::new(record(0), [Seat::Here, guest()]).expect("a room");
        assert_eq!(turn(&with_guest, &around()), Some(Side::First));
        assert_eq!(turn(&with_guest, &Around { waits: true, ..around() }), None);
        let peer = Seat::Peer(PlayerId([7; 32]));
        let with_peer = Room::new(record(0), [Seat::Here, peer]).expect("a room");
        assert_eq!(turn(&with_peer, &around()), None, "its session does not have the match");
        let shown = shown(&with_peer, Viewer::Here, &around(), outside());
        assert!(!shown.can_act && !shown.can_resign && shown.link.is_none());
    }
}
