//! Updates the board page beside the points: seats, clocks, facts, choices, offers, links.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use proto::board::{self as wire, action};
use proto::control::{
    self, FactKind, Help, LetterState, OfferKind as WireOffer, PeerLink, Room, Seat as WireSeat, Thinking,
    TouchKind, score, seat,
};
use slint::{ComponentHandle, SharedString, Timer, TimerMode};

use super::layout::Layout;
use super::points::{show_part, show_points};
use super::{BoardPage, HintState, Solving, View, fact, near_side, other};
use crate::adapters::waiting::waiting;
use crate::adapters::{carrier, editor, game, new_game, picture, replay, side, update, wire_game};
use crate::app::{AppState, Controller};
use crate::screens::{
    Achieved, BoardAdapter, ChoiceKind, ChoiceView, Dialog, Ending, Letter, Link, MainWindow, OfferKind,
    Opponent, Run, Seat, Side, Task, Thought,
};

/// What is beside the points is updated this long after a move: a frame later. A frame's changes are painted as at most three
/// rectangles, which the renderer widens to contain all of them; a stone and the seats above and below it in one frame would repaint
/// everything between them.
const BESIDE_AFTER: Duration = Duration::from_millis(16);

/// Delays the update beside the points after a move.
#[derive(Default)]
pub(super) struct Beside {
    /// The match shown there, and its number of actions.
    shown: RefCell<(String, u32)>,
    later: Timer,
}

impl Beside {
    pub(super) fn attach(&self, app: &Rc<Controller>) {
        let app = Rc::downgrade(app);
        self.later.start(TimerMode::SingleShot, BESIDE_AFTER, move || {
            if let Some(app) = app.upgrade()
                && let Some(window) = app.window.upgrade()
            {
                show_beside(&window, &app, View { known: &app.read(), page: &app.pages().board });
            }
        });
        self.later.stop();
    }

    /// Whether the update is delayed; starts the delay.
    fn follows(&self, room: &Room) -> bool {
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        let (shown, before) = &*self.shown.borrow();
        let follows = *shown == room.id && *before != ply;
        if follows && !self.later.running() {
            self.later.restart();
        }
        follows
    }

    fn is_shown(&self, room: &Room) {
        self.later.stop();
        *self.shown.borrow_mut() = (room.id.clone(), room.board.as_ref().map_or(0, |board| board.ply));
    }
}

impl BoardPage {
    pub(in crate::adapters) fn show(&self, window: &MainWindow, app: &Controller) {
        let known = app.read();
        let Some(room) = &known.room else { return };
        let view = View { known: &known, page: self };
        if !app.board.beside.follows(room) {
            show_beside(window, app, view);
        }
        let page = window.global::<BoardAdapter>();
        let board = room.board.clone().unwrap_or_default();
        if known.question() == Dialog::More {
            // Asks the desktop, and only when it matters.
            page.set_can_copy_picture(app.clipboard().is_some());
        }
        let layout = Layout::of(&known, self, room, &board);
        let point = self.waiting(room, &board).and_then(|at| layout.index(at));
        page.set_waiting_point(point.map_or(-1, |index| index as i32));
        app.board.far_seat.draw(window, app);
        show_points(&page, app, view, room, &board, &layout);
        show_part(&page, view, &layout);
    }
}

/// Whether the setup is Go with area scoring.
pub(crate) fn counts_area(setup: Option<&wire::Setup>) -> bool {
    matches!(setup.and_then(wire::Setup::rules), Some(wire::setup::Game::Go(go)) if !go.territory)
}

/// The position on the board, for a picture: of a large Lights Out board as much as fits in a picture.
pub(super) fn subject(known: &AppState, room: &Room, page: &BoardPage) -> Option<picture::Subject> {
    let board = room.board.clone()?;
    Some(picture::Subject {
        summary: replay::summary_of(room),
        // The host sends no move number for tried moves.
        moves: if room.analysis.is_some() { 0 } else { room.moves },
        over: room.result.is_some() && room.analysis.is_none(),
        turned: Layout::of(known, page, room, &board).turned,
        board,
    })
}

/// Updates everything except the points.
fn show_beside(window: &MainWindow, app: &Controller, view: View<'_>) {
    let Some(room) = &view.known.room else { return };
    app.board.beside.is_shown(room);
    let page = window.global::<BoardAdapter>();
    let board = room.board.clone().unwrap_or_default();
    let playing = wire_game(room.setup.as_ref());
    page.set_game(game::shown(playing));
    page.set_solo(game::is_solo(playing) && room.race.is_none());
    show_analysis(&page, room);
    show_race(&page, room);
    page.set_waiting_games(waiting(view.known).len().try_into().unwrap_or(i32::MAX));
    page.set_rule_name(new_game::rule_name(view.known.room_sheet(), view.known.chinese()).into());
    page.set_coordinates(view.known.preferences.coordinates);
    page.set_ply(board.ply as i32);
    page.set_moves(if room.puzzle.is_some() { board.ply } else { room.moves } as i32);

    let me = match room.mine[..] {
        [only] => wire::Side::try_from(only).unwrap_or_default(),
        _ => wire::Side::Unspecified,
    };
    let near = near_side(view.known, room);
    let far = other(near);
    page.set_swapped(is_swapped(&board));
    show_facts(&page, app, view, room, &board, near);
    page.set_mine(seat_of(view, room, &board, near));
    page.set_theirs(seat_of(view, room, &board, far));
    page.set_me(side(me));
    show_choices(&page, app, view, room, &board);
    let thinking = thinking_of(view, room, &board);
    page.set_thought(thinking.map(|one| thought(one, near, view.known.chinese())).unwrap_or_default());
    page.set_thought_open(view.page.thought_open);

    let result = room.result.as_ref();
    page.set_over(result.is_some());
    page.set_moment(app.board.moment.runs(room));
    page.set_achieved(achieved(room));
    page.set_winner(result.map_or(Side::None, |result| side(result.winner())));
    page.set_ending(result.map_or(Ending::None, |result| ending(result.ending())));
    let points = |of| fact(&board, FactKind::FactHalfPoints, of).unwrap_or(0);
    page.set_lead(points(wire::Side::First).abs_diff(points(wire::Side::Second)) as i32);
    page.set_area(counts_area(room.setup.as_ref()));

    show_link(&page, room, &app.board.told_away);
    let offer = room.offer.as_ref();
    page.set_offer(match offer.map(control::PendingOffer::kind) {
        Some(WireOffer::OfferTakeBack) => OfferKind::TakeBack,
        Some(WireOffer::OfferDraw) => OfferKind::Draw,
        Some(WireOffer::OfferNewGame) => OfferKind::NewGame,
        Some(WireOffer::OfferNewGameSame) => OfferKind::NewGameSame,
        Some(WireOffer::OfferPause) => OfferKind::Pause,
        Some(WireOffer::OfferContinue) => OfferKind::Continue,
        Some(WireOffer::OfferAdjourn) => OfferKind::Adjourn,
        Some(WireOffer::OfferUnspecified) | None => OfferKind::None,
    });
    page.set_offer_mine(offer.is_some_and(|offer| offer.mine));
    page.set_can_take_back(room.can_take_back);
    page.set_can_draw(room.can_offer_draw);
    page.set_can_resign(room.can_resign);
    page.set_can_new_game(room.can_new_game);
    let is_person = |seat: &control::Seat| matches!(seat.who, Some(seat::Who::Peer(_) | seat::Who::Guest(_)));
    let with_person = [&room.first, &room.second].into_iter().flatten().any(is_person);
    page.set_can_hint(
        room.can_act
            && room.analysis.is_none()
            && room.race.is_none()
            && (!with_person || room.hints.is_some()),
    );
    let solving = view.page.solving.as_ref().filter(|solving| solving.is_of(room));
    page.set_solving(solving.is_some());
    page.set_solving_rests(solving.is_some_and(Solving::paused));
    page.set_hint_pending(matches!(&view.page.hint, Some(HintState::Asked { room: of, ply, .. }) if *of == room.id && *ply == board.ply));

    update(&app.board.record, &pairs(&room.record, &room.spoken, view.known.chinese()));
    app.board.far_seat.draw(window, app);
}

/// The achievements of this end for the local player.
fn achieved(room: &Room) -> Achieved {
    let Some(told) = &room.achieved else { return Achieved::default() };
    let (columns, rows) = room.board.as_ref().map_or((0, 0), |board| (board.columns, board.rows));
    Achieved {
        hinted: told.help() == Help::Hints,
        solved: told.help() == Help::Solved,
        first_win: told.first_win,
        streak: told.streak as i32,
        fewest: told.fewest,
        best_before: told.best_before as i32,
        next_level: told.next_level as i32,
        review: told.review,
        adapted: told.adapted_tenths as f32 / 10.0,
        columns: columns as i32,
        rows: rows as i32,
    }
}

/// The review after the end, and its position.
fn show_analysis(page: &BoardAdapter<'_>, room: &Room) {
    let analysis = room.analysis.as_ref();
    page.set_can_analyse(room.can_analyse);
    page.set_analysing(analysis.is_some());
    page.set_analysis_shared(analysis.is_some_and(|analysis| analysis.shared));
    page.set_analysis_ply(analysis.map_or(0, |analysis| analysis.ply as i32));
    page.set_analysis_tried(analysis.map_or(0, |analysis| analysis.tried.len() as i32));
    page.set_total(room.record.len() as i32);
}

/// The state of the race.
fn show_race(page: &BoardAdapter<'_>, room: &Room) {
    page.set_race(room.race.is_some());
    let Some(race) = &room.race else { return };
    page.set_my_run(Run {
        presses: race.my_presses as i32,
        seconds: (race.my_elapsed_ms / 1_000) as i32,
        tenths: (race.my_elapsed_ms / 100) as i32,
        stopped: race.i_stopped,
        runs: race.my_clock_runs,
        done: race.i_finished,
        lit: 0,
    });
    page.set_their_run(Run {
        presses: race.their_presses as i32,
        seconds: (race.their_elapsed_ms / 1_000) as i32,
        tenths: (race.their_elapsed_ms / 100) as i32,
        stopped: race.they_stopped,
        runs: false,
        done: race.they_finished,
        lit: race.their_lit as i32,
    });
}

/// Numbered pairs of moves, in players' notation if known.
pub(crate) fn pairs(record: &[String], spoken: &[control::Words], chinese: bool) -> Vec<SharedString> {
    let numbered = |(index, pair): (usize, &[String])| format!("{}. {}", index + 1, pair.join(" ")).into();
    moves(record, spoken, chinese).chunks(2).enumerate().map(numbered).collect()
}

/// Moves in players' notation if known, otherwise with their points as at the board's edge.
pub(super) fn moves(notation: &[String], spoken: &[control::Words], chinese: bool) -> Vec<String> {
    if !spoken.is_empty() && spoken.len() == notation.len() {
        spoken.iter().map(|words| new_game::said(Some(words), chinese).to_owned()).collect()
    } else {
        notation.iter().map(|one| game::written(one)).collect()
    }
}

/// Updates the facts about the position.
fn show_facts(
    page: &BoardAdapter<'_>,
    app: &Controller,
    view: View<'_>,
    room: &Room,
    board: &control::Board,
    near: wire::Side,
) {
    let chinese = view.known.chinese();
    let said = |kind: FactKind| {
        let fact = board.facts.iter().find(|fact| fact.kind() == kind);
        new_game::said(fact.and_then(|fact| fact.words.as_ref()), chinese)
    };
    let check = said(FactKind::FactCheck);
    page.set_in_check(!check.is_empty());
    page.set_told(if check.is_empty() { said(FactKind::FactTold) } else { check }.into());
    let opening = said(FactKind::FactOpening);
    let long = matches!(board.game(), wire::Game::Xiangqi | wire::Game::Go);
    let (title, card) = if long { ("", opening) } else { (opening, "") };
    page.set_fact(if title.is_empty() { said(FactKind::FactPhase) } else { title }.into());
    page.set_opening(card.into());
    // The pieces that a side has captured are those that the other has lost.
    let taken = |by: wire::Side| -> Vec<i32> {
        board.taken.iter().filter(|piece| piece.side() == other(by)).map(|piece| piece.kind).collect()
    };
    update(&app.board.their_taken, &taken(other(near)));
    update(&app.board.my_taken, &taken(near));
    page.set_turned(view.page.turned);
    let both_here = room.mine.len() == 2;
    page.set_can_face(both_here && !game::is_solo(board.game()));
    page.set_faced(both_here && !game::is_solo(board.game()) && view.known.preferences.face_to_face);
    page.set_can_turn(both_here && !game::is_solo(board.game()));
    page.set_turning(view.known.preferences.turn_to_mover);
    page.set_face_to_face(view.known.preferences.face_to_face);
    page.set_can_say(room.link.as_ref().is_some_and(|link| link.state() == PeerLink::Up));
    page.set_muted(view.known.friend_at_board().is_some_and(|friend| friend.muted));
    page.set_differs(room.differs);
    page.set_can_change(editor::can_change(view.known));
    page.set_unsolvable(view.page.unsolvable.as_ref() == Some(&room.id));
    page.set_paused(room.paused);
    page.set_can_pause(room.can_pause);
    page.set_can_continue(room.can_continue);
    page.set_can_adjourn(room.can_adjourn);
    let losing = view.page.losing.as_ref().and_then(|losing| losing.words.as_ref());
    page.set_losing_words(new_game::said(losing, chinese).into());
}

/// Updates the present task, and the choices beside the points.
fn show_choices(
    page: &BoardAdapter<'_>,
    app: &Controller,
    view: View<'_>,
    room: &Room,
    board: &control::Board,
) {
    let touch = board.touch.as_ref().filter(|_| room.can_act);
    let task = match touch.map_or(TouchKind::TouchNothing, control::Touch::kind) {
        TouchKind::TouchNothing => Task::None,
        TouchKind::TouchPress => Task::Press,
        TouchKind::TouchCapture => Task::Capture,
        TouchKind::TouchStep if view.page.picked(room, board).is_some() => Task::Aim,
        TouchKind::TouchStep => Task::Pick,
        TouchKind::TouchToggle => Task::MarkDead,
        TouchKind::TouchPlace | TouchKind::TouchChoose => Task::Place,
    };
    page.set_task(task);
    page.set_live(room.can_act);
    let stone = touch.map_or(0, |touch| touch.stone);
    let chooses = touch.is_some_and(|touch| touch.kind() == TouchKind::TouchChoose);
    page.set_next_stone(if chooses { 0 } else { stone });
    page.set_white_is_next(stone != wire::Side::First as i32);
    page.set_captures_due(
        fact(board, FactKind::FactCapturesDue, wire::Side::Unspecified).unwrap_or(0) as i32
    );
    page.set_presses(fact(board, FactKind::FactPresses, wire::Side::Unspecified).unwrap_or(0) as i32);
    let fewest = fact(board, FactKind::FactFewest, wire::Side::Unspecified);
    page.set_fewest(fewest.map_or(-1, |count| count as i32));
    let choices: Vec<ChoiceView> = board.choices.iter().map(choice).collect();
    let (row, second) = choices.split_at(in_first_row(choices.len()));
    update(&app.board.choices, row);
    update(&app.board.more_choices, second);
    let pass = ChoiceView { kind: ChoiceKind::Pass, count: 0 };
    page.set_asked_choice(view.page.choosing.as_ref().map_or(pass, |asked| choice(&asked.action)));
    let last = board.last.as_ref().and_then(|last| last.kind.as_ref());
    page.set_passed(matches!(last, Some(action::Kind::Pass(_))));
}

/// How many of so many choices are in the first row: a phone has room for five numbers.
fn in_first_row(choices: usize) -> usize {
    if choices > 5 { choices.div_ceil(2) } else { choices }
}

fn choice(action: &wire::Action) -> ChoiceView {
    let kind = choice_kind(action);
    let count = match action.kind {
        Some(action::Kind::Choose(which)) if kind == ChoiceKind::Fifths => {
            which - wire::Choice::TwoMore as i32
        }
        _ => 0,
    };
    ChoiceView { kind, count }
}

fn choice_kind(choice: &wire::Action) -> ChoiceKind {
    match choice.kind {
        Some(action::Kind::Pass(_)) => ChoiceKind::Pass,
        Some(action::Kind::Agree(_)) => ChoiceKind::Agree,
        Some(action::Kind::Resume(_)) => ChoiceKind::Resume,
        Some(action::Kind::Choose(which)) => match wire::Choice::try_from(which) {
            Ok(wire::Choice::Black) => ChoiceKind::Black,
            Ok(wire::Choice::White) => ChoiceKind::White,
            Ok(wire::Choice::TwoMore) => ChoiceKind::TwoMore,
            Ok(wire::Choice::Unspecified) | Err(_) => ChoiceKind::Other,
            Ok(_) => ChoiceKind::Fifths,
        },
        _ => ChoiceKind::Other,
    }
}

/// Gomoku: whether the players have swapped colours, so that the second has the black stones.
fn is_swapped(board: &control::Board) -> bool {
    board.facts.iter().any(|fact| fact.kind() == FactKind::FactSwapped)
}

fn seat_of(view: View<'_>, room: &Room, board: &control::Board, of: wire::Side) -> Seat {
    let seat: Option<&WireSeat> =
        if of == wire::Side::Second { room.second.as_ref() } else { room.first.as_ref() };
    let clock = room.clocks.get(usize::from(of == wire::Side::Second));
    let said = view.page.said_by(room, room.mine.contains(&(of as i32)));
    let (who, level) = match seat.and_then(|seat| seat.who.as_ref()) {
        Some(seat::Who::BotLevel(_)) => (Opponent::Bot, seat.map_or(0.0, game::level_of)),
        Some(seat::Who::Peer(_) | seat::Who::Guest(_)) => (Opponent::Peer, 0.0),
        Some(seat::Who::Here(_)) | None => (Opponent::Here, 0.0),
    };
    Seat {
        who,
        level,
        adaptive: seat.is_some_and(|seat| seat.bot_adapts),
        name: seat
            .map(|seat| if seat.engine.is_empty() { seat.name.as_str() } else { seat.engine.as_str() })
            .unwrap_or_default()
            .into(),
        side: side(of),
        colour: side(if is_swapped(board) { other(of) } else { of }),
        to_move: room.result.is_none() && room.race.is_none() && board.turn() == of,
        mine: room.mine.contains(&(of as i32)),
        in_hand: fact(board, FactKind::FactInHand, of).unwrap_or(0) as i32,
        taken: fact(board, FactKind::FactTaken, of).unwrap_or(0) as i32,
        half_points: fact(board, FactKind::FactHalfPoints, of).map_or(-1, |points| points as i32),
        agreed: fact(board, FactKind::FactAgreed, of).is_some(),
        hints: room
            .hints
            .map_or(-1, |hints| (if of == wire::Side::Second { hints.second } else { hints.first }) as i32),
        said: said.map(|said| said.text.as_str()).unwrap_or_default().into(),
        phrase: said.map_or(0, |said| said.phrase),
        // A started second counts as whole, so that 0:00 is the end.
        clock: clock.map_or(-1, |clock| clock.left_ms.div_ceil(1_000) as i32),
        clock_runs: clock.is_some_and(|clock| clock.running),
        periods: clock.filter(|clock| clock.byo_yomi).map_or(0, |clock| clock.periods as i32),
    }
}

pub(crate) fn ending(ending: wire::Ending) -> Ending {
    match ending {
        wire::Ending::FiveInARow => Ending::FiveInARow,
        wire::Ending::BoardFull => Ending::BoardFull,
        wire::Ending::TooFewStones => Ending::TooFewStones,
        wire::Ending::NoMoves => Ending::NoMoves,
        wire::Ending::Repetition => Ending::Repetition,
        wire::Ending::TooLong => Ending::TooLong,
        wire::Ending::Checkmate => Ending::Checkmate,
        wire::Ending::PerpetualCheck => Ending::PerpetualCheck,
        wire::Ending::PerpetualChase => Ending::PerpetualChase,
        wire::Ending::PerpetualAttack => Ending::PerpetualAttack,
        wire::Ending::BareMaterial => Ending::BareMaterial,
        wire::Ending::Score => Ending::Score,
        wire::Ending::AllOut => Ending::AllOut,
        wire::Ending::Faster => Ending::Faster,
        wire::Ending::FewerPresses => Ending::FewerPresses,
        wire::Ending::ForbiddenOverline => Ending::Overline,
        wire::Ending::ForbiddenDoubleFour => Ending::DoubleFour,
        wire::Ending::ForbiddenDoubleThree => Ending::DoubleThree,
        wire::Ending::Resigned => Ending::Resigned,
        wire::Ending::DrawAgreed => Ending::DrawAgreed,
        wire::Ending::Time => Ending::Time,
        wire::Ending::Abandoned => Ending::Abandoned,
        wire::Ending::Unspecified => Ending::Other,
    }
}

/// How far the last letter has come, while the match goes on by letter. On this player's turn there is nothing to send.
pub(crate) fn letter(room: &Room) -> Option<Letter> {
    let link = room.link.as_ref()?;
    if matches!(link.state(), PeerLink::Up | PeerLink::Weak) || link.letter() == LetterState::Unspecified {
        return None;
    }
    let board = room.board.as_ref()?;
    Some(match link.letter() {
        _ if room.mine.contains(&board.turn) => Letter::None,
        LetterState::Unspecified => Letter::None,
        LetterState::Waiting => Letter::Waiting,
        LetterState::AtServer => Letter::AtServer,
        LetterState::Delivered => Letter::Received,
    })
}

fn show_link(page: &BoardAdapter<'_>, room: &Room, told_away: &RefCell<Option<(String, u32)>>) {
    let link = room.link.as_ref();
    page.set_link(match link.map(control::LinkState::state) {
        None | Some(PeerLink::Unspecified) => Link::None,
        Some(PeerLink::Up) => Link::Up,
        Some(PeerLink::Weak) => Link::Weak,
        Some(PeerLink::Lost) => Link::Lost,
        Some(PeerLink::Left) => Link::Left,
    });
    let letter = letter(room);
    page.set_by_letter(letter.is_some());
    page.set_letter(letter.unwrap_or(Letter::None));
    page.set_carrier(carrier(link.map(control::LinkState::carrier).unwrap_or_default()));
    // Between the host's messages the page counts by itself.
    let away = link.map(|link| (room.id.clone(), link.away_ms));
    if *told_away.borrow() != away {
        page.set_away_seconds(link.map_or(0, |link| (link.away_ms / 1_000) as i32));
        *told_away.borrow_mut() = away;
    }
}

/// The bot's analysis of this position, or of the one before if the bot has just moved; none of other positions.
pub(super) fn thinking_of<'a>(view: View<'a>, room: &Room, board: &control::Board) -> Option<&'a Thinking> {
    let thinking = view.known.state.thinking.get(&room.id).filter(|_| room.analysis.is_none())?;
    let played = match board.ply.checked_sub(thinking.ply) {
        Some(0) => true,
        Some(1) => !thinking.on && thinking.actions.first() == board.last.as_ref(),
        _ => false,
    };
    (thinking.line.is_empty() || played).then_some(thinking)
}

/// From the near side's point of view.
fn thought(thinking: &Thinking, near: wire::Side, chinese: bool) -> Thought {
    let (win_in, loss_in) = match thinking.score.as_ref().and_then(|score| score.score.as_ref()) {
        Some(score::Score::WinIn(plies)) => (plies.div_ceil(2) as i32, 0),
        Some(score::Score::LossIn(plies)) => (0, plies.div_ceil(2) as i32),
        Some(score::Score::Points(_)) | None => (0, 0),
    };
    let (permille, lead) = if thinking.side() == near {
        (thinking.permille as i32, thinking.lead_tenths)
    } else {
        (1_000 - thinking.permille as i32, -thinking.lead_tenths)
    };
    Thought {
        on: thinking.on,
        depth: thinking.depth as i32,
        tenths: (thinking.elapsed_ms / 100) as i32,
        nodes: short(thinking.nodes).into(),
        percent: if thinking.judged { (permille + 5) / 10 } else { -1 },
        lead_tenths: lead,
        win_in,
        loss_in,
        line: moves(&thinking.line, &thinking.spoken, chinese).join(" ").into(),
        known: !thinking.line.is_empty(),
    }
}

/// 1234567 as 1.2M, readable in every language.
fn short(number: u64) -> String {
    let tenths = |unit: u64, sign: char| format!("{}.{}{sign}", number / unit, number % unit * 10 / unit);
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => tenths(1_000, 'k'),
        _ => tenths(1_000_000, 'M'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        assert_eq!([0, 9_999, 10_049, 1_254_567].map(short), ["0", "9999", "10.0k", "1.2M"]);
    }
}
