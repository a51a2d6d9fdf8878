//! The match on the board page: what is asked of the host there. What a touch means is in `touch`, what is shown in `show` and
//! `points`, and where points stand in `layout`.

mod flash;
mod layout;
mod moment;
mod points;
mod show;
mod solving;
mod touch;

use std::cell::RefCell;
use std::rc::Rc;

use proto::board::{self as wire, Action, action};
use proto::control::{
    self, FactKind, OfferKind as WireOffer, PeerLink, RefusalCode, Room, TouchKind, reply, request,
};
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::{game, replay, touched, when};
use crate::app::{Answer, Asked, Choosing, Controller, HintState};
use crate::preferences::LastGame;
use crate::screens::{
    Advice, BoardAdapter, ChoiceKind, Dialog, LineView, MainWindow, Navigation, PointView, Remark,
};

pub(crate) use layout::Look;
pub(super) use layout::{Layout, Names, names};
pub(super) use points::plain_points;
pub(super) use show::{counts_area, ending, pairs, show};
pub(crate) use solving::Solving;
pub(crate) use touch::put_down;
pub(super) use touch::{Touch, meaning};

/// What the board has asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// An action, in this match at this ply.
    Act { room: String, ply: u32 },
    /// For this match, at this ply and revision.
    Hint { room: String, ply: u32, revision: u32 },
    /// By which rules this is played.
    Rules { setup: wire::Setup },
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Board(question)
    }
}

/// Rows of the models that the page draws from. They live as long as the app: only what differs is changed.
#[derive(Default)]
pub(crate) struct Rows {
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
    choices: Rc<VecModel<ChoiceKind>>,
    their_taken: Rc<VecModel<i32>>,
    my_taken: Rc<VecModel<i32>>,
    record: Rc<VecModel<SharedString>>,
    lines: Rc<VecModel<LineView>>,
    advice: Rc<VecModel<Advice>>,
    threats: Rc<VecModel<SharedString>>,
    faded: RefCell<points::Faded>,
    beside: show::Beside,
    /// For how long the other person has been away, in milliseconds, as the host has told of which match.
    told_away: RefCell<Option<(String, u32)>>,
    pub(crate) flash: flash::Flash,
    pub(crate) moment: moment::Moments,
}

/// Whether the board shows this position of this match.
fn stands(app: &Controller, room: &str, ply: u32, revision: u32) -> bool {
    app.read().room.as_ref().is_some_and(|shown| {
        let shown_ply = shown.board.as_ref().map_or(0, |board| board.ply);
        (room, ply, revision) == (&*shown.id, shown_ply, shown.revision)
    })
}

pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
    let page = window.global::<BoardAdapter>();
    page.set_points(ModelRc::from(app.board.points.clone()));
    page.set_column_names(ModelRc::from(app.board.columns.clone()));
    page.set_upper_names(ModelRc::from(app.board.upper.clone()));
    page.set_row_names(ModelRc::from(app.board.numbers.clone()));
    page.set_choices(ModelRc::from(app.board.choices.clone()));
    page.set_record(ModelRc::from(app.board.record.clone()));
    page.set_lines(ModelRc::from(app.board.lines.clone()));
    page.set_advice(ModelRc::from(app.board.advice.clone()));
    page.set_threats(ModelRc::from(app.board.threats.clone()));
    page.set_their_taken(ModelRc::from(app.board.their_taken.clone()));
    page.set_my_taken(ModelRc::from(app.board.my_taken.clone()));
    app.board.beside.attach(app);
    app.board.flash.attach(app);
    app.board.moment.attach(app);
    page.on_skip_moment(when!(app, |app| app.board.moment.skip(&app)));
    page.on_next_level(when!(app, |app| next_level(&app)));
    page.on_touch(when!(app, |app, index| touch::touch(&app, index)));
    page.on_aim(when!(app, |app, index, small| touch::aim(&app, index, small)));
    page.on_confirm_move(when!(app, |app, yes| {
        let mut meant = None;
        app.change(|inner| meant = inner.waiting.take());
        if let Some(waiting) = meant.filter(|_| yes) {
            touch::act_or_warn(&app, waiting.at);
        }
    }));
    page.on_turn(when!(app, |app| app.change(|inner| inner.turned = !inner.turned)));
    page.on_toggle_facing(when!(app, |app| {
        app.prefer(|known| known.face_to_face = !known.face_to_face);
    }));
    page.on_say(when!(app, |app, phrase, text| say(&app, phrase, text.trim())));
    page.on_toggle_muted(when!(app, |app| {
        let muted = app.read().friend_at_board().map(|friend| (friend.id.clone(), !friend.muted));
        if let Some((peer, muted)) = muted {
            let set = control::SetMuted { peer, muted };
            app.tell(request::Body::SetMuted(set));
        }
    }));
    page.on_take_theirs(when!(app, |app| {
        if let Some(room_id) = room_id(&app) {
            let take = control::TakeTheirs { room_id };
            app.tell(request::Body::TakeTheirs(take));
        }
    }));
    page.on_pause(when!(app, |app| {
        let paused = app.read().room.as_ref().is_some_and(|room| room.paused);
        offer(&app, if paused { WireOffer::OfferContinue } else { WireOffer::OfferPause });
    }));
    page.on_change_board(touched!(app, |pages, cx| pages.editor.change(cx)));
    page.on_adjourn(when!(app, |app| offer(&app, WireOffer::OfferAdjourn)));
    page.on_choose(when!(app, |app, index| {
        let chosen = {
            let inner = app.read();
            let board = inner.room.as_ref().and_then(|room| room.board.as_ref());
            usize::try_from(index).ok().and_then(|index| board?.choices.get(index).copied())
        };
        if let Some(action) = chosen {
            choose(&app, action);
        }
    }));
    page.on_choose_confirmed(when!(app, |app| {
        let mut meant = None;
        app.change(|inner| meant = inner.choosing.take());
        if let Some(asked) = meant.filter(|asked| stands(&app, &asked.room, asked.ply, asked.revision)) {
            act(&app, asked.action);
        }
    }));
    page.on_step_anyway(when!(app, |app| {
        let mut meant = None;
        app.change(|inner| meant = inner.losing.take());
        if let Some(losing) = meant.filter(|asked| stands(&app, &asked.room, asked.ply, asked.revision)) {
            act(&app, Action { kind: Some(losing.kind) });
        }
    }));
    page.on_look(when!(app, |app, columns, rows| {
        // At the board's own edge the cursor goes on to what is beside the board.
        if !look(&app, columns, rows)
            && let Some(window) = app.window.upgrade()
        {
            window.global::<Navigation>().invoke_step_focus(columns + rows);
        }
    }));
    page.on_look_by(when!(app, |app, columns, rows| {
        look(&app, columns, rows);
    }));
    page.on_zoom(when!(app, |app, step| {
        app.change(|inner| {
            inner.look.step_zoom(step);
        });
    }));
    page.on_take_back(when!(app, |app| offer(&app, WireOffer::OfferTakeBack)));
    page.on_analyse(when!(app, |app, step| analyse(&app, step)));
    page.on_save_picture(touched!(app, |_pages, cx| {
        if let Some(subject) = cx.known.room.as_ref().and_then(|room| show::subject(room, cx.known)) {
            replay::ask_file_name(subject, cx);
        }
    }));
    page.on_review(touched!(app, |pages, cx| pages.replay.review(cx)));
    page.on_new_game_same(when!(app, |app| offer(&app, WireOffer::OfferNewGameSame)));
    page.on_offer_draw(when!(app, |app| offer(&app, WireOffer::OfferDraw)));
    page.on_new_game(when!(app, |app| begin_again(&app)));
    page.on_new_game_confirmed(when!(app, |app| offer(&app, WireOffer::OfferNewGame)));
    page.on_hint(when!(app, |app| hint(&app)));
    page.on_solve(when!(app, |app| solve(&app)));
    page.on_solve_step(when!(app, |app| solve_step(&app)));
    page.on_solve_pause(when!(app, |app| app.change(|inner| {
        if let Some(solving) = &mut inner.solving {
            solving.pause_or_go_on();
        }
    })));
    page.on_solve_stop(when!(app, |app| app.change(|inner| inner.solving = None)));
    page.on_resign(when!(app, |app| resign(&app)));
    page.on_answer_offer(when!(app, |app, accept| {
        if let Some(room_id) = room_id(&app) {
            let answer = control::AnswerOffer { room_id, accept };
            app.tell(request::Body::AnswerOffer(answer));
        }
    }));
    page.on_leave(when!(app, |app| app.leave_room()));
    page.on_toggle_thought(when!(app, |app| app.change(|inner| inner.thought_open = !inner.thought_open)));
    page.on_toggle_coordinates(when!(app, |app| {
        app.prefer(|known| known.coordinates = !known.coordinates);
    }));
}

fn room_id(app: &Controller) -> Option<String> {
    app.read().room.as_ref().map(|room| room.id.clone())
}

fn say(app: &Controller, phrase: i32, text: &str) {
    if let Some(room_id) = room_id(app) {
        let say = control::Say { room_id, phrase, text: text.into() };
        app.tell(request::Body::Say(say));
    }
}

fn other(side: wire::Side) -> wire::Side {
    match side {
        wire::Side::First => wire::Side::Second,
        wire::Side::Second => wire::Side::First,
        wire::Side::Unspecified => wire::Side::Unspecified,
    }
}

/// A match as its page shows it: what is looked at after the end takes the place of the end.
pub(crate) fn seen(room: &Room) -> Room {
    let mut seen = room.clone();
    if let Some(analysis) = &room.analysis {
        seen.can_act = analysis.can_act;
        if analysis.board.is_some() {
            seen.board.clone_from(&analysis.board);
        }
    }
    seen
}

/// Looks at another position after the end: 0 the last one, -1 and 1 a move back and on, -2 the first, 2 the last, 3 no more.
fn analyse(app: &Controller, step: i32) {
    use control::analyse::Step;
    let asked = {
        let inner = app.read();
        let Some(room) = &inner.room else { return };
        let total = room.record.len() as u32;
        let at = room.analysis.as_ref().map_or(total, |analysis| analysis.ply);
        let step = match step {
            -2 => Step::ToPly(0),
            -1 => Step::Back(true),
            1 => Step::ToPly((at + 1).min(total)),
            3 => Step::Close(true),
            _ => Step::ToPly(total),
        };
        control::Analyse { room_id: room.id.clone(), step: Some(step) }
    };
    app.tell(request::Body::Analyse(asked));
}

/// A choice beside the points. Giving one's turn away and taking a colour are asked about first: a finger slips, and a record has no
/// way back that the other need not agree to.
fn choose(app: &Controller, action: Action) {
    let asked = {
        let inner = app.read();
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        let could_play = board.touch.as_ref().is_some_and(|touch| touch.kind() == TouchKind::TouchPlace);
        let asks = match action.kind {
            Some(action::Kind::Pass(_)) => could_play,
            Some(action::Kind::Choose(_)) => true,
            _ => false,
        };
        asks.then(|| Choosing { room: room.id.clone(), ply: board.ply, revision: room.revision, action })
    };
    match asked {
        Some(asked) => {
            app.change(|inner| inner.choosing = Some(asked));
            app.open(Dialog::ConfirmChoice);
        }
        None => act(app, action),
    }
}

fn act(app: &Controller, action: Action) {
    let (body, question) = {
        let inner = app.read();
        let Some(room) = &inner.room else { return };
        let room_id = room.id.clone();
        let question = Question::Act { room: room_id.clone(), ply: ply(room) };
        let body = if room.analysis.is_some() {
            let step = Some(control::analyse::Step::TryAction(action));
            request::Body::Analyse(control::Analyse { room_id, step })
        } else {
            request::Body::Act(control::Act { room_id, action: Some(action), notation: String::new() })
        };
        (body, question)
    };
    app.ask(body, question);
}

fn ply(room: &Room) -> u32 {
    room.board.as_ref().map_or(0, |board| board.ply)
}

pub(crate) fn reply(app: &Controller, question: Question, answer: Answer) {
    match (answer, question) {
        (Ok(reply::Body::Hint(hint)), Question::Hint { room, ply, revision }) => {
            advised(app, (room, ply, revision), hint);
        }
        (Ok(reply::Body::Sheet(sheet)), Question::Rules { setup }) => {
            app.change(|inner| inner.room_sheet = Some((setup, sheet)));
        }
        (Err(refusal), Question::Act { room: of, ply: at }) => {
            let is_seen = app.read().room.as_ref().is_some_and(|room| room.id == of && ply(room) == at);
            if is_seen {
                app.board.flash.light(app, &refusal.points);
            }
            app.tell_refusal(&refusal, Remark::BadRequest);
        }
        (Err(refusal), Question::Hint { room, .. }) => {
            app.change(|inner| {
                inner.hint = None;
                if refusal.code() == RefusalCode::RefusalUnsolvable {
                    inner.unsolvable = Some(room);
                }
            });
            app.tell_refusal(&refusal, Remark::NoHint);
        }
        // A newer host's match may be of a game that has no sheet here.
        (Err(_), Question::Rules { .. }) | (Ok(_), _) => {}
    }
}

/// Moves the part of the board that is seen: by half of it, so that what was at the edge stays in sight. False where the board
/// ends.
fn look(app: &Controller, columns: i32, rows: i32) -> bool {
    let mut moved = false;
    app.change(|inner| {
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        let layout = Layout::of(inner, room, board);
        let by = |from: usize, step: i32, seen: usize, whole: usize| {
            from.saturating_add_signed(step as isize * seen.div_ceil(2) as isize).min(whole - seen)
        };
        inner.look.left = by(layout.left, columns, layout.wide, layout.columns);
        inner.look.top = by(layout.top, rows, layout.high, layout.rows);
        moved = (inner.look.left, inner.look.top) != (layout.left, layout.top);
    });
    moved
}

fn offer(app: &Controller, kind: WireOffer) {
    if let Some(room_id) = room_id(app) {
        app.tell(request::Body::Offer(control::Offer { room_id, kind: kind.into() }));
    }
}

/// The same game against the computer's next level, which the host has named after a win.
fn next_level(app: &Controller) {
    let next = {
        let inner = app.read();
        let Some(room) = &inner.room else { return };
        let level = room.achieved.as_ref().map_or(0, |achieved| achieved.next_level);
        if level == 0 {
            return;
        }
        let seat = |seat: Option<&control::Seat>| {
            let mut seat = seat.cloned().unwrap_or_default();
            if let Some(control::seat::Who::BotLevel(of)) = &mut seat.who {
                (*of, seat.bot_tenths) = (level, 0);
            }
            Some(seat)
        };
        let open = control::OpenRoom {
            setup: room.setup.clone(),
            first: seat(room.first.as_ref()),
            second: seat(room.second.as_ref()),
            pace: room.pace,
            ..Default::default()
        };
        (room.id.clone(), level, game::word(super::wire_game(room.setup.as_ref())), open)
    };
    let (room_id, level, word, open) = next;
    app.prefer(|known| {
        known.games.entry(word.into()).or_insert_with(|| LastGame::first(word)).level = level as f32;
    });
    app.tell(request::Body::CloseRoom(control::CloseRoom { room_id }));
    app.ask(request::Body::OpenRoom(open), Asked::Room);
}

/// An unfinished game is only left for a new one after a question.
fn begin_again(app: &Controller) {
    let begun = app.read().room.as_ref().is_some_and(|room| {
        // Between two devices the other person is asked, which is question enough.
        room.puzzle.is_none()
            && room.result.is_none()
            && room.link.is_none()
            && room.board.as_ref().is_some_and(|board| board.ply > 0)
    });
    if begun {
        app.open(Dialog::ConfirmNewGame);
    } else {
        app.open(Dialog::None);
        offer(app, WireOffer::OfferNewGame);
    }
}

pub(crate) fn hint(app: &Controller) {
    ask_hint(app, false);
}

/// Plays the solution of a board of lights out, press by press.
pub(crate) fn solve(app: &Controller) {
    ask_hint(app, true);
}

/// Ways to go on that a hint tells: what fits a phone beside the board.
const HINT_LINES: u32 = 3;

fn is_lamps(room: &Room) -> bool {
    room.board.as_ref().is_some_and(|board| board.game() == wire::Game::LightsOut)
}

fn ask_hint(app: &Controller, solve: bool) {
    let asked = {
        let inner = app.read();
        let Some(room) = &inner.room else { return };
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        // A board of lights has one way out, and a puzzle's hint is one move.
        let lines = if is_lamps(room) || room.puzzle.is_some() { 0 } else { HINT_LINES };
        (room.id.clone(), ply, room.revision, lines)
    };
    let (room, ply, revision, lines) = asked;
    app.ask(
        request::Body::Hint(control::Hint { room_id: room.clone(), lines, solve }),
        Question::Hint { room: room.clone(), ply, revision },
    );
    app.change(|inner| inner.hint = Some(HintState::Asked { room, ply, solve }));
}

/// The host's advice about this match at this ply and revision.
fn advised(app: &Controller, about: (String, u32, u32), found: control::HintFound) {
    let (room, ply, revision) = about;
    match found.action.as_ref().and_then(|action| action.kind.as_ref()) {
        Some(action::Kind::Pass(_)) => app.remark(Remark::HintPass, ""),
        Some(action::Kind::Agree(_)) => app.remark(Remark::HintAgree, ""),
        _ => {}
    }
    app.change(|inner| {
        let solve = matches!(&inner.hint, Some(HintState::Asked { solve: true, .. }));
        if solve && !found.presses.is_empty() {
            let columns = inner.room.as_ref().and_then(|room| Some(room.board.as_ref()?.columns));
            let position = (ply, revision);
            let solving =
                Solving::new(&room, position, columns.unwrap_or_default(), &found.presses, found.fewest);
            inner.solving = Some(solving);
            inner.hint = None;
            return;
        }
        inner.hint = found.action.map(|action| HintState::Found {
            room,
            ply,
            revision,
            action,
            presses: found.presses.iter().map(|byte| byte.count_ones()).sum(),
            fewest: found.fewest,
            lines: found.lines,
            threats: found.threats,
        });
    });
}

/// The next press of the solution that is played out; the end of it when the player has changed the board.
fn solve_step(app: &Controller) {
    let mut press = None;
    app.change(|inner| {
        let of = |solving: &Solving| inner.room.as_ref().is_some_and(|room| solving.is_of(room));
        inner.solving = inner.solving.take().filter(of);
        if let (Some(solving), Some(room)) = (&mut inner.solving, &inner.room) {
            press = solving.step(room);
        }
    });
    if let Some(action) = press {
        act(app, action);
    }
}

fn resign(app: &Controller) {
    let resign = {
        let inner = app.read();
        let Some(room) = &inner.room else { return };
        // Where both seats are here, the one to move resigns.
        let side = match room.mine[..] {
            [only] => only,
            _ => room.board.as_ref().map_or(0, |board| board.turn),
        };
        control::Resign { room_id: room.id.clone(), side }
    };
    app.tell(request::Body::Resign(resign));
}

/// The way back from a board: with somebody at the other side of it, a question first.
pub(crate) fn ask_to_leave(app: &Controller) {
    let with_someone = app.read().room.as_ref().is_some_and(|room| {
        room.result.is_none() && room.link.as_ref().is_some_and(|link| link.state() != PeerLink::Left)
    });
    if with_someone {
        app.open(Dialog::ConfirmLeave);
    } else {
        app.leave_room();
    }
}

/// The point that an action shows at, if it has one.
pub(super) fn point_of(action: &Action) -> Option<u32> {
    match action.kind.as_ref()? {
        action::Kind::Place(at)
        | action::Kind::Capture(at)
        | action::Kind::Press(at)
        | action::Kind::Toggle(at) => Some(*at),
        action::Kind::Step(step) => Some(step.to),
        _ => None,
    }
}

/// The side that sits at this device's side of the board; the first where both do.
fn near_side(room: &Room) -> wire::Side {
    match room.mine[..] {
        [only] if only == i32::from(wire::Side::Second) => wire::Side::Second,
        _ => wire::Side::First,
    }
}

/// The number that a fact of this kind tells of a side, if it is told.
pub(super) fn fact(board: &control::Board, kind: FactKind, of: wire::Side) -> Option<u32> {
    let mut facts = board.facts.iter();
    facts.find(|fact| fact.kind() == kind && fact.side() == of).map(|fact| fact.number)
}
