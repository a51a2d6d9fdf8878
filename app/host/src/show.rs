//! Converts the host's and the engine's state to the messages of `proto::control`. No other module does.

use std::time::Duration;

use engine::explain::Explained;
use engine::heading::{Cause, Ended};
use engine::lights_out::Run;
use engine::liuzhou::FormationKind;
use engine::{
    Action, AnyGame, Choice, Fact, Game as _, GameKind, Language, Level, Mark, MarkKind, Piece, PieceView,
    Point, Report, Score, Side, Touch,
};
use link::{CarrierKind, CarrierState};
use proto::{board, control, peer};
use session::{Analysis, Colours, InvitationEnd, MatchRecord, OfferKind, ShownClock};

use crate::room::Seat;
use session::wire;

pub(crate) fn side(side: Side) -> board::Side {
    match side {
        Side::First => board::Side::First,
        Side::Second => board::Side::Second,
    }
}

pub(crate) fn adapter(adapter: link::Adapter) -> control::Adapter {
    let link::Adapter { name, address, powered, in_use, chosen, here } = adapter;
    control::Adapter { name, address, powered, in_use, chosen, here }
}

pub(crate) fn parse_side(number: i32) -> Option<Side> {
    match board::Side::try_from(number).ok()? {
        board::Side::Unspecified => None,
        board::Side::First => Some(Side::First),
        board::Side::Second => Some(Side::Second),
    }
}

/// The board of a position in an unfinished match; public for callers that draw a board without a host.
pub fn position(game: &AnyGame) -> control::Board {
    board(game, game.outcome().is_some())
}

pub(crate) fn board(game: &AnyGame, over: bool) -> control::Board {
    let view = game.view();
    let lights = match game {
        AnyGame::LightsOut(game) => game.lights().to_bytes().into(),
        _ => Vec::new().into(),
    };
    let step = |(from, to): (Point, Point)| board::Step { from: wire::point(from), to: wire::point(to) };
    let still = |list: Vec<(Point, Point)>| if over { Vec::new() } else { list };
    let mut marks: Vec<control::Mark> = view.marks.into_iter().map(mark).collect();
    let mut facts: Vec<control::Fact> = view.facts.into_iter().map(fact).collect();
    say_more(game, &mut marks, &mut facts);
    let mut touch = touch(if over { Touch::Nothing } else { view.touch }, &marks);
    if touch.kind() == control::TouchKind::TouchStep {
        touch.stuck = game.stuck().into_iter().map(warning).collect();
    }
    if let (control::TouchKind::TouchChoose, AnyGame::Gomoku(gomoku)) = (touch.kind(), game) {
        touch.stone = side(gomoku.next_color()).into();
    }
    let lines = lines(game, view.columns.into(), &marks);
    control::Board {
        game: i32::from(view.game as u8),
        columns: view.columns.into(),
        rows: view.rows.into(),
        // Lights Out boards can have a million cells, which are sent as bits.
        pieces: view.pieces.into_iter().filter_map(piece).collect(),
        last: view.last.map(wire::action),
        marks,
        turn: view.turn.filter(|_| !over).map_or(board::Side::Unspecified, side).into(),
        ply: view.ply,
        facts,
        steps: still(view.steps).into_iter().map(step).collect(),
        losing_steps: still(view.losing_steps).into_iter().map(step).collect(),
        choices: view.choices.into_iter().filter(|_| !over).map(wire::action).collect(),
        lights,
        taken: taken(game),
        lines,
        touch: Some(touch),
    }
}

/// The score of a search from the point of view of its side to move: winning chance in thousandths, and in Go the lead in
/// tenths of a point. `None` if the position was not searched: a single node without a proof is a book move or an only move.
pub(crate) fn judgement(game: &AnyGame, report: &Report) -> Option<(u32, i32)> {
    if report.nodes <= 1 && matches!(report.score, Score::Points(_)) {
        return None;
    }
    // Maps -1000..1000 to 0..1000.
    let permille = i32::midpoint(chances(game.kind(), report.score), 1_000).clamp(0, 1_000);
    let lead = match (game, report.score) {
        (AnyGame::Go(_), Score::Chance { points, .. } | Score::Points(points)) => points / 10,
        _ => 0,
    };
    Some((permille as u32, lead))
}

/// The colour of the stone that this action places, if it places one.
pub(crate) fn stone(game: &AnyGame, action: Action) -> board::Side {
    match (action, game.view().touch) {
        (Action::Place(_), Touch::Place(colour)) => side(colour),
        _ => board::Side::Unspecified,
    }
}

/// The meaning of a tap on the board, by the rules.
fn touch(touch: Touch, marks: &[control::Mark]) -> control::Touch {
    use control::{MarkKind as Kind, TouchKind};
    let mut stone = board::Side::Unspecified;
    let kind = match touch {
        Touch::Nothing => TouchKind::TouchNothing,
        Touch::Choose => TouchKind::TouchChoose,
        Touch::Place(colour) => {
            stone = side(colour);
            TouchKind::TouchPlace
        }
        Touch::Step => TouchKind::TouchStep,
        Touch::Capture => TouchKind::TouchCapture,
        Touch::Toggle => TouchKind::TouchToggle,
        Touch::Press => TouchKind::TouchPress,
    };
    let forbidden = marks.iter().filter(|mark| mark.kind() == Kind::MarkForbidden);
    let warnings = forbidden.map(|mark| control::Warning {
        at: mark.at,
        words: mark.words.clone(),
        points: vec![mark.at],
    });
    let warnings = if kind == TouchKind::TouchPlace { warnings.collect() } else { Vec::new() };
    control::Touch { kind: kind.into(), stone: stone.into(), warnings, stuck: Vec::new() }
}

fn warning(explained: Explained) -> control::Warning {
    let [zh, en] = explained.words;
    control::Warning {
        at: wire::point(explained.at),
        words: Some(control::Words { zh, en }),
        points: explained.points.into_iter().map(wire::point).collect(),
    }
}

/// What is drawn from point to point: formations that were just made, rows that win, and what gives mate to the general.
fn lines(game: &AnyGame, columns: u32, marks: &[control::Mark]) -> Vec<board::Step> {
    use control::MarkKind as Kind;
    let of = |kind| marks.iter().filter(move |mark| mark.kind() == kind).map(|mark| mark.at);
    match game {
        AnyGame::Gomoku(_) => rows(&of(Kind::MarkWinning).collect::<Vec<_>>()),
        AnyGame::Xiangqi(game) if game.outcome().is_some() => {
            let generals: Vec<u32> = of(Kind::MarkCheck).collect();
            let line = |from| generals.iter().map(move |&to| board::Step { from, to });
            of(Kind::MarkChecker).flat_map(line).collect()
        }
        AnyGame::Liuzhou(game) => formations(game, columns),
        _ => Vec::new(),
    }
}

/// First and last point of each row, where the points of one row follow those of another.
fn rows(points: &[u32]) -> Vec<board::Step> {
    let mut rows: Vec<board::Step> = Vec::new();
    let mut step = 0;
    for &at in points {
        match rows.last_mut() {
            Some(row) if row.from == row.to || i64::from(at) - i64::from(row.to) == step => {
                step = i64::from(at) - i64::from(row.to);
                row.to = at;
            }
            _ => rows.push(board::Step { from: at, to: at }),
        }
    }
    rows
}

/// Along a row or a diagonal, or round a square.
fn formations(game: &engine::liuzhou::Liuzhou, columns: u32) -> Vec<board::Step> {
    let at = |bit: u32| bit / columns * 1_024 + bit % columns;
    let mut drawn = Vec::new();
    for formation in game.made() {
        let bits: Vec<u32> = (0..u64::BITS).filter(|bit| formation.points >> bit & 1 == 1).collect();
        let way: Vec<u32> = match (formation.kind, &bits[..]) {
            (FormationKind::Square, &[a, b, c, d]) => vec![a, b, d, c, a],
            (_, &[first, .., last]) => vec![first, last],
            _ => Vec::new(),
        };
        drawn.extend(way.windows(2).map(|pair| board::Step { from: at(pair[0]), to: at(pair[1]) }));
    }
    drawn
}

/// The text in both languages.
fn words(say: impl Fn(Language) -> String) -> control::Words {
    let [zh, en] = [Language::Chinese, Language::English].map(say);
    control::Words { zh, en }
}

/// Adds words to marks and facts whose number is not enough.
fn say_more(game: &AnyGame, marks: &mut [control::Mark], facts: &mut Vec<control::Fact>) {
    use control::{FactKind, MarkKind as Kind};
    if game.told(Language::English).is_some() {
        facts.push(control::Fact {
            kind: FactKind::FactTold.into(),
            words: Some(words(|language| game.told(language).unwrap_or_default())),
            ..control::Fact::default()
        });
    }
    match game {
        AnyGame::Gomoku(game) => {
            let opening = game.opening();
            for fact in facts.iter_mut().filter(|fact| fact.kind() == FactKind::FactOpening) {
                fact.words = opening.map(|opening| words(|language| opening.name(language).into()));
            }
            if marks.iter().any(|mark| mark.kind() == Kind::MarkForbidden) {
                for (at, fault) in game.forbidden() {
                    let at = wire::point(at);
                    let mut same =
                        marks.iter_mut().filter(|mark| mark.at == at && mark.kind() == Kind::MarkForbidden);
                    if let Some(mark) = same.next() {
                        mark.words = Some(words(|language| fault.words(language).into()));
                    }
                }
            }
        }
        AnyGame::Liuzhou(game) => {
            facts.push(control::Fact {
                kind: FactKind::FactPhase.into(),
                words: Some(words(|language| game.phase_words(language).into())),
                ..control::Fact::default()
            });
            if game.made().next().is_some() {
                let names = |language| {
                    let names: Vec<&str> =
                        game.made().map(|formation| formation.kind.name(language)).collect();
                    names.join(if language == Language::Chinese { "、" } else { ", " })
                };
                facts.push(control::Fact {
                    kind: FactKind::FactFormed.into(),
                    words: Some(words(names)),
                    ..control::Fact::default()
                });
            }
        }
        AnyGame::Xiangqi(game) => {
            if let Some(opening) = game.opening() {
                facts.push(named(|language| opening.name(language)));
            }
            if let Some(check) = game.check() {
                let [zh, en] = check.words;
                facts.push(control::Fact {
                    kind: FactKind::FactCheck.into(),
                    side: side(game.turn()).into(),
                    words: Some(control::Words { zh, en }),
                    ..control::Fact::default()
                });
            }
        }
        AnyGame::Go(game) => {
            if let Some(opening) = game.opening() {
                facts.push(named(|language| opening.name(language).into()));
            }
        }
        AnyGame::LightsOut(_) => {}
    }
}

/// The opening has this name.
fn named(say: impl Fn(Language) -> String) -> control::Fact {
    control::Fact {
        kind: control::FactKind::FactOpening.into(),
        words: Some(words(say)),
        ..control::Fact::default()
    }
}

/// Captured pieces of the initial position, in xiangqi; in other games the fact with their number is enough.
fn taken(game: &AnyGame) -> Vec<control::Piece> {
    let AnyGame::Xiangqi(_) = game else { return Vec::new() };
    let Ok(start) = AnyGame::new(&game.setup()) else { return Vec::new() };
    let mut off = start.view().pieces;
    for still in game.view().pieces {
        if let Some(at) = off.iter().position(|one| (one.side, one.piece) == (still.side, still.piece)) {
            off.swap_remove(at);
        }
    }
    off.sort_by_key(|piece| (piece.side.index(), piece.piece as u8));
    off.into_iter().filter_map(piece).map(|piece| control::Piece { at: 0, ..piece }).collect()
}

/// The action in players' notation, if different from the notation.
pub(crate) fn spoken(game: &AnyGame, action: Action) -> Option<control::Words> {
    game.spoken(action).map(|[zh, en]| control::Words { zh, en })
}

/// `None` for a light.
pub(crate) fn piece(piece: PieceView) -> Option<control::Piece> {
    let kind = match piece.piece {
        Piece::Stone => control::PieceKind::PieceStone,
        Piece::General => control::PieceKind::PieceGeneral,
        Piece::Adviser => control::PieceKind::PieceAdviser,
        Piece::Elephant => control::PieceKind::PieceElephant,
        Piece::Horse => control::PieceKind::PieceHorse,
        Piece::Chariot => control::PieceKind::PieceChariot,
        Piece::Cannon => control::PieceKind::PieceCannon,
        Piece::Soldier => control::PieceKind::PieceSoldier,
        Piece::Light => return None,
    };
    Some(control::Piece { at: wire::point(piece.at), side: side(piece.side).into(), kind: kind.into() })
}

pub(crate) fn mark(mark: Mark) -> control::Mark {
    let mut of = board::Side::Unspecified;
    let kind = match mark.kind {
        MarkKind::Winning => control::MarkKind::MarkWinning,
        MarkKind::Formation => control::MarkKind::MarkFormation,
        MarkKind::Captured => control::MarkKind::MarkCaptured,
        MarkKind::Target => control::MarkKind::MarkTarget,
        MarkKind::Taken => control::MarkKind::MarkTaken,
        MarkKind::Checker => control::MarkKind::MarkChecker,
        MarkKind::Helper => control::MarkKind::MarkHelper,
        MarkKind::Check => control::MarkKind::MarkCheck,
        MarkKind::Ko => control::MarkKind::MarkKo,
        MarkKind::Dead => control::MarkKind::MarkDead,
        MarkKind::Territory(owner) => {
            of = side(owner);
            control::MarkKind::MarkTerritory
        }
        MarkKind::Press => control::MarkKind::MarkPress,
        MarkKind::Forbidden => control::MarkKind::MarkForbidden,
        MarkKind::Fault => control::MarkKind::MarkFault,
        MarkKind::Offered => control::MarkKind::MarkOffered,
    };
    control::Mark { at: wire::point(mark.at), kind: kind.into(), side: of.into(), words: None }
}

fn fact(fact: Fact) -> control::Fact {
    use control::FactKind;
    let (kind, of, number) = match fact {
        Fact::CapturesDue(count) => (FactKind::FactCapturesDue, None, count.into()),
        Fact::InHand(side, count) => (FactKind::FactInHand, Some(side), count.into()),
        Fact::Taken(side, count) => (FactKind::FactTaken, Some(side), count.into()),
        Fact::Points(side, half_points) => (FactKind::FactHalfPoints, Some(side), half_points),
        Fact::Agreed(side) => (FactKind::FactAgreed, Some(side), 0),
        Fact::Presses(count) => (FactKind::FactPresses, None, count),
        Fact::Fewest(count) => (FactKind::FactFewest, None, count),
        Fact::Swapped => (FactKind::FactSwapped, None, 0),
        Fact::Opening(opening) => (FactKind::FactOpening, None, opening.number().into()),
    };
    let of = of.map_or(board::Side::Unspecified, side);
    control::Fact { kind: kind.into(), side: of.into(), number, words: None }
}

/// The number of these actions that players count as moves. Of several fifth moves that are offered after the fourth stone,
/// only the one that is chosen is a move.
pub(crate) fn moves(actions: &[Action]) -> u32 {
    let moves = actions.iter().filter(|action| action.is_move()).count() as u32;
    let fifths = actions.iter().find_map(|action| match action {
        Action::Choose(Choice::Fifths(count @ 2..)) => Some(u32::from(*count)),
        _ => None,
    });
    moves - fifths.map_or(0, |fifths| moves.saturating_sub(4).min(fifths))
}

pub(crate) fn seat(seat: &Seat, assist: Option<Level>, name: String, away: bool) -> control::Seat {
    use control::seat::Who;
    let level = match (seat, assist) {
        (Seat::Here, level) => level,
        (Seat::Bot(level), _) => Some(*level),
        (Seat::Engine(engine), _) => Some(engine.stand_in),
        _ => None,
    };
    let bot = |level: Level| Who::BotLevel(level.number().into());
    let bot_tenths = level.map_or(0, |level| u32::from(level.tenths() % 10));
    let (who, bot_assists) = match (seat, assist) {
        (Seat::Here, None) => (Who::Here(true), false),
        (Seat::Here, Some(level)) => (bot(level), true),
        (Seat::Bot(level), _) => (bot(*level), false),
        (Seat::Engine(engine), _) => (bot(engine.stand_in), false),
        (Seat::Peer(key), _) => (Who::Peer(key.to_string()), false),
        (Seat::Guest(_), _) => (Who::Guest(true), false),
    };
    let (engine, engine_seconds) = match seat {
        Seat::Engine(engine) => (engine.name.clone(), engine.seconds.into()),
        _ => (String::new(), 0),
    };
    let bot_adapts = false;
    control::Seat { who: Some(who), name, bot_assists, bot_tenths, bot_adapts, away, engine, engine_seconds }
}

pub(crate) fn score(score: Score) -> control::Score {
    use control::score::Score as Shown;
    control::Score {
        score: Some(match score {
            Score::Points(points) | Score::Chance { points, .. } => Shown::Points(points),
            Score::WinIn(plies) => Shown::WinIn(plies),
            Score::LossIn(plies) => Shown::LossIn(plies),
        }),
    }
}

pub(crate) fn carrier(kind: CarrierKind) -> control::Carrier {
    match kind {
        CarrierKind::Bluetooth => control::Carrier::Bluetooth,
        CarrierKind::Lan => control::Carrier::Lan,
        CarrierKind::Online => control::Carrier::Online,
        CarrierKind::Memory => control::Carrier::Memory,
    }
}

pub(crate) fn carrier_state(state: CarrierState) -> control::RadioState {
    match state {
        CarrierState::Ready => control::RadioState::RadioReady,
        CarrierState::TakingTurns => control::RadioState::RadioTakingTurns,
        CarrierState::NoAdvertising => control::RadioState::RadioNoAdvertising,
        CarrierState::Off => control::RadioState::RadioOff,
        CarrierState::Blocked => control::RadioState::RadioBlocked,
        CarrierState::NoAdapter => control::RadioState::RadioNoAdapter,
        CarrierState::NoService => control::RadioState::RadioNoService,
        CarrierState::NoPermission => control::RadioState::RadioNoPermission,
        CarrierState::Connecting => control::RadioState::RadioConnecting,
        CarrierState::NeedsPerson => control::RadioState::RadioNeedsPerson,
    }
}

pub(crate) fn offer_kind(kind: OfferKind) -> control::OfferKind {
    match kind {
        OfferKind::TakeBack => control::OfferKind::OfferTakeBack,
        OfferKind::Draw => control::OfferKind::OfferDraw,
        OfferKind::NewGame => control::OfferKind::OfferNewGame,
        OfferKind::NewGameSame => control::OfferKind::OfferNewGameSame,
        OfferKind::Pause => control::OfferKind::OfferPause,
        OfferKind::Continue => control::OfferKind::OfferContinue,
        OfferKind::Adjourn => control::OfferKind::OfferAdjourn,
    }
}

pub(crate) fn parse_offer_kind(number: i32) -> Option<OfferKind> {
    match control::OfferKind::try_from(number).ok()? {
        control::OfferKind::OfferUnspecified => None,
        control::OfferKind::OfferPause => Some(OfferKind::Pause),
        control::OfferKind::OfferContinue => Some(OfferKind::Continue),
        control::OfferKind::OfferAdjourn => Some(OfferKind::Adjourn),
        control::OfferKind::OfferNewGameSame => Some(OfferKind::NewGameSame),
        control::OfferKind::OfferTakeBack => Some(OfferKind::TakeBack),
        control::OfferKind::OfferDraw => Some(OfferKind::Draw),
        control::OfferKind::OfferNewGame => Some(OfferKind::NewGame),
    }
}

/// The end of an invitation: outcome, reason, and id of the related invitation.
pub(crate) fn invitation_end(end: InvitationEnd) -> control::InvitationGone {
    let mut gone = control::InvitationGone::default();
    match end {
        InvitationEnd::Declined(reason) => gone.set_reason(reason),
        InvitationEnd::Countered(by) | InvitationEnd::Crossed(by) => gone.countered_by = by.to_string(),
        _ => {}
    }
    gone.set_end(match end {
        InvitationEnd::Declined(peer::DeclineReason::DeclineBusy) => control::InvitationEnd::InvitationBusy,
        InvitationEnd::Declined(peer::DeclineReason::DeclineTimedOut) | InvitationEnd::TimedOut => {
            control::InvitationEnd::InvitationTimedOut
        }
        InvitationEnd::Declined(peer::DeclineReason::DeclineUnknownGame) => {
            control::InvitationEnd::InvitationUnknownGame
        }
        InvitationEnd::Declined(_) => control::InvitationEnd::InvitationDeclined,
        InvitationEnd::Withdrawn => control::InvitationEnd::InvitationWithdrawn,
        // Both sides invited each other: the other invitation stands, and has its own event.
        InvitationEnd::Crossed(_) => control::InvitationEnd::InvitationWithdrawn,
        // A violation in the draw of colours has its own notice.
        InvitationEnd::Cheated => control::InvitationEnd::InvitationWithdrawn,
        InvitationEnd::Countered(_) => control::InvitationEnd::InvitationCountered,
    });
    gone
}

/// The colours of an invitation from the point of view of this device's user.
pub(crate) fn colours(colours: Colours) -> control::ColourChoice {
    match colours {
        Colours::Mine(Side::First) => control::ColourChoice::ColourFirst,
        Colours::Mine(Side::Second) => control::ColourChoice::ColourSecond,
        Colours::Alternate(_) => control::ColourChoice::ColourAlternate,
        Colours::Random => control::ColourChoice::ColourRandom,
    }
}

pub(crate) fn clock(clock: ShownClock) -> control::Clock {
    control::Clock {
        left_ms: u32::try_from(clock.left.as_millis()).unwrap_or(u32::MAX),
        running: clock.running,
        byo_yomi: clock.byo_yomi,
        periods: clock.periods,
    }
}

/// `None` if the analysis does not fit the record, which was checked before.
pub(crate) fn analysis(record: &MatchRecord, at: &Analysis, shared: bool) -> Option<control::Analysis> {
    let mut game = AnyGame::new(&record.setup).ok()?;
    for action in record.actions.get(..at.ply as usize)? {
        game.act(*action).ok()?;
    }
    let mut tried = Vec::new();
    for action in &at.tried {
        tried.push(game.notation(*action));
        game.act(*action).ok()?;
    }
    let can_act = game.outcome().is_none();
    let board = Some(board(&game, !can_act));
    Some(control::Analysis { ply: at.ply, tried, board, can_act, shared })
}

/// The result in a file, which contains the winner but no reason.
pub(crate) fn said_end(origin: &control::Origin) -> Option<Ended> {
    let winner = match origin.score.as_str() {
        "1-0" => Some(Side::First),
        "0-1" => Some(Side::Second),
        "1/2-1/2" => None,
        _ => return None,
    };
    Some(Ended { winner, cause: Cause::Unsaid })
}

/// The result by the record, otherwise by the file, without a reason.
pub(crate) fn result(record: &MatchRecord, origin: Option<&control::Origin>) -> Option<board::Result> {
    record.result.map(wire::result).or_else(|| {
        let winner = said_end(origin?)?.winner;
        let winner = winner.map_or(board::Side::Unspecified, side);
        Some(board::Result { winner: winner.into(), ending: board::Ending::Unspecified.into() })
    })
}

/// A race from the point of view of this device.
pub(crate) fn race(race: &session::Race) -> control::Race {
    let ms = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
    let ended = |run: Option<Run>| run.map(|run| run.finished);
    control::Race {
        my_presses: race.presses,
        my_elapsed_ms: ms(race.elapsed),
        my_clock_runs: race.running,
        i_finished: ended(race.run) == Some(true),
        i_stopped: ended(race.run) == Some(false),
        their_presses: race.their_presses,
        their_lit: race.their_lit,
        they_finished: ended(race.their_run) == Some(true),
        they_stopped: ended(race.their_run) == Some(false),
        their_elapsed_ms: race.their_run.map_or(0, |run| run.tenths.saturating_mul(100)),
    }
}

/// Converts a score to -1000..1000 for the side to move. Points go through a logistic curve; its width is twice the
/// advantage that multiplies the odds of winning by e: in gomoku and xiangqi the unit of the network, in Liuzhou chess 330,
/// from a fit of 360 games with `qiyou-engine fit`.
pub(crate) fn chances(kind: GameKind, score: Score) -> i32 {
    match score {
        Score::WinIn(_) => 1_000,
        Score::LossIn(_) => -1_000,
        Score::Chance { permille, .. } => 2 * i32::from(permille) - 1_000,
        Score::Points(points) => {
            let width = match kind {
                GameKind::Xiangqi => 1_040.0,
                GameKind::Gomoku => 800.0,
                GameKind::Liuzhou => 660.0,
                GameKind::Go | GameKind::LightsOut => 600.0,
            };
            // Stays below the value of a proven win.
            (990.0 * (f64::from(points) / width).tanh()) as i32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_wins_is_drawn_from_end_to_end_and_two_rows_are_two_lines() {
        let setup = GameKind::Gomoku.default_setup();
        let played = |actions: &str| {
            let mut game = AnyGame::new(&setup).expect("the default is valid");
            for text in actions.split(' ') {
                game.act(game.parse(text).expect("a point")).expect("it is legal");
            }
            board(&game, false).lines
        };
        let at = |column: u32, row: u32| row * 1_024 + column;
        assert_eq!(played("d4 a1 e4 a2 f4 a3 g4 b1"), []);
        let one = played("d4 a1 e4 a2 f4 a3 h4 b1 g4");
        assert_eq!(one, [board::Step { from: at(3, 3), to: at(7, 3) }]);
        let two = played("d4 a1 e4 a2 f4 a3 g4 b1 h5 b2 h6 b3 h7 c1 h8 c2 h4");
        let rows = [(at(3, 3), at(7, 3)), (at(7, 3), at(7, 7))];
        assert_eq!(two, rows.map(|(from, to)| board::Step { from, to }));
    }

    #[test]
    fn a_lead_counts_for_more_the_larger_it_is_and_never_for_a_proven_win() {
        let of = |points| chances(GameKind::Xiangqi, Score::Points(points));
        assert_eq!(of(0), 0);
        assert!(of(100) > 0 && of(100) < of(300) && of(10_000) < 1_000);
        assert_eq!(of(-250), -of(250));
        assert_eq!(chances(GameKind::Go, Score::Chance { permille: 500, points: 0 }), 0);
    }
}
