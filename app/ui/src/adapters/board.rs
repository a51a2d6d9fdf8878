//! The match on the board page: what is asked of the host there. What a touch means is in `touch`, what is shown in `show` and
//! `points`, and where points stand in `layout`.

mod flash;
mod layout;
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

use super::{touched, when};
use crate::app::{Answer, Asked, Choosing, Controller, HintState};
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
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Controller>) {
    let page = window.global::<BoardAdapter>();
    page.set_points(ModelRc::from(desk.board.points.clone()));
    page.set_column_names(ModelRc::from(desk.board.columns.clone()));
    page.set_upper_names(ModelRc::from(desk.board.upper.clone()));
    page.set_row_names(ModelRc::from(desk.board.numbers.clone()));
    page.set_choices(ModelRc::from(desk.board.choices.clone()));
    page.set_record(ModelRc::from(desk.board.record.clone()));
    page.set_lines(ModelRc::from(desk.board.lines.clone()));
    page.set_advice(ModelRc::from(desk.board.advice.clone()));
    page.set_threats(ModelRc::from(desk.board.threats.clone()));
    page.set_their_taken(ModelRc::from(desk.board.their_taken.clone()));
    page.set_my_taken(ModelRc::from(desk.board.my_taken.clone()));
    desk.board.beside.attach(desk);
    desk.board.flash.attach(desk);
    page.on_touch(when!(desk, |desk, index| touch::touch(&desk, index)));
    page.on_aim(when!(desk, |desk, index, small| touch::aim(&desk, index, small)));
    page.on_confirm_move(when!(desk, |desk, yes| {
        let mut meant = None;
        desk.change(|inner| meant = inner.waiting.take());
        if let Some(waiting) = meant.filter(|_| yes) {
            touch::act_or_warn(&desk, waiting.at);
        }
    }));
    page.on_turn(when!(desk, |desk| desk.change(|inner| inner.turned = !inner.turned)));
    page.on_toggle_facing(when!(desk, |desk| {
        desk.prefer(|known| known.face_to_face = !known.face_to_face);
    }));
    page.on_say(when!(desk, |desk, phrase, text| say(&desk, phrase, text.trim())));
    page.on_toggle_muted(when!(desk, |desk| {
        let muted = desk.read().friend_at_board().map(|friend| (friend.id.clone(), !friend.muted));
        if let Some((peer, muted)) = muted {
            let set = control::SetMuted { peer, muted };
            desk.tell(request::Body::SetMuted(set));
        }
    }));
    page.on_take_theirs(when!(desk, |desk| {
        if let Some(room_id) = room_id(&desk) {
            let take = control::TakeTheirs { room_id };
            desk.tell(request::Body::TakeTheirs(take));
        }
    }));
    page.on_pause(when!(desk, |desk| {
        let paused = desk.read().room.as_ref().is_some_and(|room| room.paused);
        offer(&desk, if paused { WireOffer::OfferContinue } else { WireOffer::OfferPause });
    }));
    page.on_change_board(touched!(desk, |pages, cx| pages.editor.change(cx)));
    page.on_adjourn(when!(desk, |desk| offer(&desk, WireOffer::OfferAdjourn)));
    page.on_choose(when!(desk, |desk, index| {
        let chosen = {
            let inner = desk.read();
            let board = inner.room.as_ref().and_then(|room| room.board.as_ref());
            usize::try_from(index).ok().and_then(|index| board?.choices.get(index).copied())
        };
        if let Some(action) = chosen {
            choose(&desk, action);
        }
    }));
    page.on_choose_confirmed(when!(desk, |desk| {
        let mut meant = None;
        desk.change(|inner| meant = inner.choosing.take());
        let same = |asked: &Choosing| {
            desk.read().room.as_ref().is_some_and(|room| {
                let ply = room.board.as_ref().map_or(0, |board| board.ply);
                (&asked.room, asked.ply, asked.revision) == (&room.id, ply, room.revision)
            })
        };
        if let Some(asked) = meant.filter(same) {
            act(&desk, asked.action);
        }
    }));
    page.on_step_anyway(when!(desk, |desk| {
        let mut meant = None;
        desk.change(|inner| meant = inner.losing.take());
        if let Some(losing) = meant {
            act(&desk, Action { kind: Some(losing.kind) });
        }
    }));
    page.on_look(when!(desk, |desk, columns, rows| {
        // At the board's own edge the cursor goes on to what is beside the board.
        if !look(&desk, columns, rows)
            && let Some(window) = desk.window.upgrade()
        {
            window.global::<Navigation>().invoke_step_focus(columns + rows);
        }
    }));
    page.on_look_by(when!(desk, |desk, columns, rows| {
        look(&desk, columns, rows);
    }));
    page.on_zoom(when!(desk, |desk, step| {
        desk.change(|inner| {
            inner.look.step_zoom(step);
        });
    }));
    page.on_take_back(when!(desk, |desk| offer(&desk, WireOffer::OfferTakeBack)));
    page.on_analyse(when!(desk, |desk, step| analyse(&desk, step)));
    page.on_review(touched!(desk, |pages, cx| pages.replay.review(cx)));
    page.on_new_game_same(when!(desk, |desk| offer(&desk, WireOffer::OfferNewGameSame)));
    page.on_offer_draw(when!(desk, |desk| offer(&desk, WireOffer::OfferDraw)));
    page.on_new_game(when!(desk, |desk| begin_again(&desk)));
    page.on_new_game_confirmed(when!(desk, |desk| offer(&desk, WireOffer::OfferNewGame)));
    page.on_hint(when!(desk, |desk| hint(&desk)));
    page.on_solve(when!(desk, |desk| solve(&desk)));
    page.on_solve_step(when!(desk, |desk| solve_step(&desk)));
    page.on_solve_pause(when!(desk, |desk| desk.change(|inner| {
        if let Some(solving) = &mut inner.solving {
            solving.pause_or_go_on();
        }
    })));
    page.on_solve_stop(when!(desk, |desk| desk.change(|inner| inner.solving = None)));
    page.on_resign(when!(desk, |desk| resign(&desk)));
    page.on_answer_offer(when!(desk, |desk, accept| {
        if let Some(room_id) = room_id(&desk) {
            let answer = control::AnswerOffer { room_id, accept };
            desk.tell(request::Body::AnswerOffer(answer));
        }
    }));
    page.on_leave(when!(desk, |desk| desk.leave_room()));
    page.on_toggle_thought(when!(desk, |desk| desk.change(|inner| inner.thought_open = !inner.thought_open)));
    page.on_toggle_coordinates(when!(desk, |desk| {
        desk.prefer(|known| known.coordinates = !known.coordinates);
    }));
}

fn room_id(desk: &Controller) -> Option<String> {
    desk.read().room.as_ref().map(|room| room.id.clone())
}

fn say(desk: &Controller, phrase: i32, text: &str) {
    if let Some(room_id) = room_id(desk) {
        let say = control::Say { room_id, phrase, text: text.into() };
        desk.tell(request::Body::Say(say));
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
fn analyse(desk: &Controller, step: i32) {
    use control::analyse::Step;
    let asked = {
        let inner = desk.read();
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
    desk.tell(request::Body::Analyse(asked));
}

/// A choice beside the points. Giving one's turn away and taking a colour are asked about first: a finger slips, and a record has no
/// way back that the other need not agree to.
fn choose(desk: &Controller, action: Action) {
    let asked = {
        let inner = desk.read();
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
            desk.change(|inner| inner.choosing = Some(asked));
            desk.open(Dialog::ConfirmChoice);
        }
        None => act(desk, action),
    }
}

fn act(desk: &Controller, action: Action) {
    let (body, question) = {
        let inner = desk.read();
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
    desk.ask(body, question);
}

fn ply(room: &Room) -> u32 {
    room.board.as_ref().map_or(0, |board| board.ply)
}

pub(crate) fn reply(desk: &Controller, question: Question, answer: Answer) {
    match (answer, question) {
        (Ok(reply::Body::Hint(hint)), Question::Hint { room, ply, revision }) => {
            advised(desk, (room, ply, revision), hint);
        }
        (Ok(reply::Body::Sheet(sheet)), Question::Rules { setup }) => {
            desk.change(|inner| inner.room_sheet = Some((setup, sheet)));
        }
        (Err(refusal), Question::Act { room: of, ply: at }) => {
            let is_seen = desk.read().room.as_ref().is_some_and(|room| room.id == of && ply(room) == at);
            if is_seen {
                desk.board.flash.light(desk, &refusal.points);
            }
            desk.tell_refusal(&refusal, Remark::BadRequest);
        }
        (Err(refusal), Question::Hint { room, .. }) => {
            desk.change(|inner| {
                inner.hint = None;
                if refusal.code() == RefusalCode::RefusalUnsolvable {
                    inner.unsolvable = Some(room);
                }
            });
            desk.tell_refusal(&refusal, Remark::NoHint);
        }
        // A newer host's match may be of a game that has no sheet here.
        (Err(_), Question::Rules { .. }) | (Ok(_), _) => {}
    }
}

/// Moves the part of the board that is seen: by half of it, so that what was at the edge stays in sight. False where the board
/// ends.
fn look(desk: &Controller, columns: i32, rows: i32) -> bool {
    let mut moved = false;
    desk.change(|inner| {
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

fn offer(desk: &Controller, kind: WireOffer) {
    if let Some(room_id) = room_id(desk) {
        desk.tell(request::Body::Offer(control::Offer { room_id, kind: kind.into() }));
    }
}

/// An unfinished game is only left for a new one after a question.
fn begin_again(desk: &Controller) {
    let begun = desk.read().room.as_ref().is_some_and(|room| {
        // Between two devices the other person is asked, which is question enough.
        room.puzzle.is_none()
            && room.result.is_none()
            && room.link.is_none()
            && room.board.as_ref().is_some_and(|board| board.ply > 0)
    });
    if begun {
        desk.open(Dialog::ConfirmNewGame);
    } else {
        desk.open(Dialog::None);
        offer(desk, WireOffer::OfferNewGame);
    }
}

pub(crate) fn hint(desk: &Controller) {
    ask_hint(desk, false);
}

/// Plays the solution of a board of lights out, press by press.
pub(crate) fn solve(desk: &Controller) {
    ask_hint(desk, true);
}

/// Ways to go on that a hint tells: what fits a phone beside the board.
const HINT_LINES: u32 = 3;

fn is_lamps(room: &Room) -> bool {
    room.board.as_ref().is_some_and(|board| board.game() == wire::Game::LightsOut)
}

fn ask_hint(desk: &Controller, solve: bool) {
    let asked = {
        let inner = desk.read();
        let Some(room) = &inner.room else { return };
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        // A board of lights has one way out, and a puzzle's hint is one move.
        let lines = if is_lamps(room) || room.puzzle.is_some() { 0 } else { HINT_LINES };
        (room.id.clone(), ply, room.revision, lines)
    };
    let (room, ply, revision, lines) = asked;
    desk.ask(
        request::Body::Hint(control::Hint { room_id: room.clone(), lines }),
        Question::Hint { room: room.clone(), ply, revision },
    );
    desk.change(|inner| inner.hint = Some(HintState::Asked { room, ply, solve }));
}

/// The host's advice about this match at this ply and revision.
fn advised(desk: &Controller, about: (String, u32, u32), found: control::HintFound) {
    let (room, ply, revision) = about;
    match found.action.as_ref().and_then(|action| action.kind.as_ref()) {
        Some(action::Kind::Pass(_)) => desk.remark(Remark::HintPass, ""),
        Some(action::Kind::Agree(_)) => desk.remark(Remark::HintAgree, ""),
        _ => {}
    }
    desk.change(|inner| {
        let solve = matches!(&inner.hint, Some(HintState::Asked { solve: true, .. }));
        if solve && !found.presses.is_empty() {
            let columns = inner.room.as_ref().and_then(|room| Some(room.board.as_ref()?.columns));
            let position = (ply, revision);
            let solving =
                Solving::new(&room, position, columns.unwrap_or_default(), &found.presses, found.fewest);
            inner.solving = Some(solving);
            inner.shown_solution = Some(room);
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
fn solve_step(desk: &Controller) {
    let mut press = None;
    desk.change(|inner| {
        let of = |solving: &Solving| inner.room.as_ref().is_some_and(|room| solving.is_of(room));
        inner.solving = inner.solving.take().filter(of);
        if let (Some(solving), Some(room)) = (&mut inner.solving, &inner.room) {
            press = solving.step(room);
        }
    });
    if let Some(action) = press {
        act(desk, action);
    }
}

fn resign(desk: &Controller) {
    let resign = {
        let inner = desk.read();
        let Some(room) = &inner.room else { return };
        // Where both seats are here, the one to move resigns.
        let side = match room.mine[..] {
            [only] => only,
            _ => room.board.as_ref().map_or(0, |board| board.turn),
        };
        control::Resign { room_id: room.id.clone(), side }
    };
    desk.tell(request::Body::Resign(resign));
}

/// The way back from a board: with somebody at the other side of it, a question first.
pub(crate) fn ask_to_leave(desk: &Controller) {
    let with_someone = desk.read().room.as_ref().is_some_and(|room| {
        room.result.is_none() && room.link.as_ref().is_some_and(|link| link.state() != PeerLink::Left)
    });
    if with_someone {
        desk.open(Dialog::ConfirmLeave);
    } else {
        desk.leave_room();
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
