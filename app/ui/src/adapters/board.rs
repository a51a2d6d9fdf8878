//! The match on the board page: its state, and requests to the host. `touch` has the meaning of touches, `show` and `points`
//! update the view, `layout` maps points to the screen.

mod far_seat;
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

use super::waiting::waiting;
use super::{club, game, guest, replay, touched, when};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastGame;
use crate::screens::{
    Advice, BoardAdapter, ChoiceView, Dialog, LineView, MainWindow, Navigation, PointView, Remark,
};

use layout::Look;
pub(super) use layout::{Layout, Names, names};
pub(super) use points::{mark_picked, plain_points};
pub(super) use show::{counts_area, ending, letter, pairs};
use solving::Solving;
pub(super) use touch::{Touch, meaning};

/// Requests of the board page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// An action, in this match at this ply.
    Act { room: String, ply: u32 },
    /// For this match, at this ply and revision.
    Hint { room: String, ply: u32, revision: u32 },
    /// The rules of this setup.
    Rules { setup: wire::Setup },
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Board(question)
    }
}

/// The hint for one position.
#[derive(Clone, Debug, PartialEq)]
enum HintState {
    Asked {
        room: String,
        ply: u32,
        /// Lights Out: the whole solution is requested, to be played, instead of one press to be shown.
        solve: bool,
    },
    Found {
        room: String,
        ply: u32,
        revision: u32,
        action: Action,
        /// Lights Out: number of presses of the solution; below: whether it is minimal.
        presses: u32,
        fewest: bool,
        /// Other variations with their winning chances, best first; below: threats of both sides.
        lines: Vec<control::HintLine>,
        threats: Vec<control::Threat>,
    },
}

/// A point that was touched, in one position.
#[derive(Clone, Debug, PartialEq)]
struct Picked {
    room: String,
    ply: u32,
    revision: u32,
    at: u32,
}

/// An action that would lose at once, awaiting the player's confirmation, in one position.
#[derive(Clone, Debug, PartialEq)]
struct Losing {
    room: String,
    ply: u32,
    revision: u32,
    kind: action::Kind,
    /// The reason, if it is not the repetition of a position.
    words: Option<control::Words>,
}

/// An action without a point, awaiting the player's confirmation, in one position.
#[derive(Clone, Debug, PartialEq)]
struct Choosing {
    room: String,
    ply: u32,
    revision: u32,
    action: Action,
}

/// The board page: the player's input, the view of the board, advice. The match itself is [`AppState::room`], which other pages
/// read too.
#[derive(Default)]
pub(crate) struct BoardPage {
    /// The piece picked for a step.
    picked: Option<Picked>,
    losing: Option<Losing>,
    choosing: Option<Choosing>,
    /// The point of a stone that awaits a second tap.
    waiting: Option<Picked>,
    /// The board is rotated.
    turned: bool,
    /// Last chat message of the opponent and of this device's player, while displayed.
    said: [Option<control::Said>; 2],
    /// The board that is being opened is solved as soon as it is there.
    solve_when_there: bool,
    /// Id of a match whose code is shown as soon as its board is there, if its guest is not.
    code_when_there: Option<String>,
    /// Id of a match whose board has no solution, according to the host.
    unsolvable: Option<String>,
    /// The visible part of a large board.
    look: Look,
    hint: Option<HintState>,
    solving: Option<Solving>,
    thought_open: bool,
}

/// What the board page draws from.
#[derive(Clone, Copy)]
struct View<'a> {
    known: &'a AppState,
    page: &'a BoardPage,
}

/// Rows of the models that the page draws from. They live as long as the app: only changed rows are set.
#[derive(Default)]
pub(crate) struct Rows {
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
    choices: Rc<VecModel<ChoiceView>>,
    more_choices: Rc<VecModel<ChoiceView>>,
    their_taken: Rc<VecModel<i32>>,
    my_taken: Rc<VecModel<i32>>,
    record: Rc<VecModel<SharedString>>,
    lines: Rc<VecModel<LineView>>,
    advice: Rc<VecModel<Advice>>,
    threats: Rc<VecModel<SharedString>>,
    faded: RefCell<points::Faded>,
    beside: show::Beside,
    far_seat: far_seat::FarSeats,
    /// The match, and how long its other player has been away, in milliseconds, as last told by the host.
    told_away: RefCell<Option<(String, u32)>>,
    pub(crate) flash: flash::Flash,
    pub(crate) moment: moment::Moments,
}

/// Whether the board shows this position of this match.
fn stands(known: &AppState, room: &str, ply: u32, revision: u32) -> bool {
    known.room.as_ref().is_some_and(|shown| {
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
    page.set_more_choices(ModelRc::from(app.board.more_choices.clone()));
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
    page.on_next_level(touched!(app, |_pages, cx| next_level(cx)));
    page.on_next_game(touched!(app, |_pages, cx| {
        let next = waiting(cx.known).first().map(|room| room.id.clone());
        if let Some(next) = next {
            cx.go.room(&next);
        }
    }));
    page.on_touch(touched!(app, |pages, cx, index| pages.board.touch(index, cx)));
    page.on_aim(touched!(app, |pages, cx, index, small| pages.board.aim(index, small, cx)));
    page.on_confirm_move(touched!(app, |pages, cx, yes| pages.board.confirm_move(yes, cx)));
    page.on_turn(touched!(app, |pages, _cx| pages.board.turned = !pages.board.turned));
    page.on_toggle_facing(touched!(app, |_pages, cx| {
        cx.preferences.change(|known| known.face_to_face = !known.face_to_face);
    }));
    page.on_say(touched!(app, |_pages, cx, phrase, text| say(phrase, text.trim(), cx)));
    page.on_toggle_muted(touched!(app, |_pages, cx| {
        let muted = cx.known.friend_at_board().map(|friend| (friend.id.clone(), !friend.muted));
        if let Some((peer, muted)) = muted {
            let set = control::SetMuted { peer, muted };
            cx.ask.tell(request::Body::SetMuted(set));
        }
    }));
    page.on_take_theirs(touched!(app, |_pages, cx| {
        if let Some(room_id) = room_id(cx) {
            let take = control::TakeTheirs { room_id };
            cx.ask.tell(request::Body::TakeTheirs(take));
        }
    }));
    page.on_pause(touched!(app, |_pages, cx| {
        let paused = cx.known.room.as_ref().is_some_and(|room| room.paused);
        offer(if paused { WireOffer::OfferContinue } else { WireOffer::OfferPause }, cx);
    }));
    page.on_change_board(touched!(app, |pages, cx| pages.editor.change(cx)));
    page.on_adjourn(touched!(app, |_pages, cx| offer(WireOffer::OfferAdjourn, cx)));
    page.on_choose(touched!(app, |pages, cx, index| {
        let board = cx.known.room.as_ref().and_then(|room| room.board.as_ref());
        let chosen = usize::try_from(index).ok().and_then(|index| board?.choices.get(index).copied());
        if let Some(action) = chosen {
            pages.board.choose(action, cx);
        }
    }));
    page.on_choose_confirmed(touched!(app, |pages, cx| pages.board.choose_confirmed(cx)));
    page.on_step_anyway(touched!(app, |pages, cx| pages.board.step_anyway(cx)));
    page.on_look(when!(app, |app, columns, rows| {
        let mut moved = false;
        app.turn(|pages, cx| moved = pages.board.look(columns, rows, cx));
        // At the board's edge the focus moves to the next control.
        if !moved && let Some(window) = app.window.upgrade() {
            window.global::<Navigation>().invoke_step_focus(columns + rows);
        }
    }));
    page.on_look_by(touched!(app, |pages, cx, columns, rows| {
        pages.board.look(columns, rows, cx);
    }));
    page.on_zoom(touched!(app, |pages, _cx, step| pages.board.look.step_zoom(step)));
    page.on_take_back(touched!(app, |_pages, cx| offer(WireOffer::OfferTakeBack, cx)));
    page.on_analyse(touched!(app, |_pages, cx, step| analyse(step, cx)));
    page.on_save_picture(touched!(app, |pages, cx| {
        let subject = cx.known.room.as_ref().and_then(|room| show::subject(cx.known, room, &pages.board));
        if let Some(subject) = subject {
            replay::ask_file_name(subject, cx);
        }
    }));
    let weak = Rc::downgrade(app);
    page.on_copy_picture(move || {
        weak.upgrade().is_some_and(|app| {
            let subject = {
                let (known, pages) = (app.read(), app.pages());
                known.room.as_ref().and_then(|room| show::subject(&known, room, &pages.board))
            };
            subject.is_some_and(|subject| super::picture::copy(&app, &subject))
        })
    });
    page.on_draw_far_seat(when!(app, |app| {
        if let Some(window) = app.window.upgrade() {
            app.board.far_seat.draw(&window, &app);
        }
    }));
    page.on_toggle_turning(touched!(app, |_pages, cx| {
        cx.preferences.change(|known| known.turn_to_mover = !known.turn_to_mover);
    }));
    page.on_review(touched!(app, |pages, cx| pages.replay.review(cx)));
    page.on_new_game_same(touched!(app, |_pages, cx| offer(WireOffer::OfferNewGameSame, cx)));
    page.on_offer_draw(touched!(app, |_pages, cx| offer(WireOffer::OfferDraw, cx)));
    page.on_new_game(touched!(app, |_pages, cx| begin_again(cx)));
    page.on_new_game_confirmed(touched!(app, |_pages, cx| offer(WireOffer::OfferNewGame, cx)));
    page.on_hint(touched!(app, |pages, cx| pages.board.ask_hint(false, cx)));
    page.on_solve(touched!(app, |pages, cx| pages.board.solve(cx)));
    page.on_solve_step(touched!(app, |pages, cx| pages.board.solve_step(cx)));
    page.on_solve_pause(touched!(app, |pages, _cx| {
        if let Some(solving) = &mut pages.board.solving {
            solving.pause_or_go_on();
        }
    }));
    page.on_solve_stop(touched!(app, |pages, _cx| pages.board.solving = None));
    page.on_resign(touched!(app, |_pages, cx| resign(cx)));
    page.on_answer_offer(touched!(app, |_pages, cx, accept| {
        if let Some(room_id) = room_id(cx) {
            let answer = control::AnswerOffer { room_id, accept };
            cx.ask.tell(request::Body::AnswerOffer(answer));
        }
    }));
    page.on_leave(touched!(app, |_pages, cx| cx.go.leave_room()));
    page.on_put_aside(touched!(app, |_pages, cx| cx.go.put_aside()));
    page.on_toggle_thought(touched!(app, |pages, _cx| {
        pages.board.thought_open = !pages.board.thought_open;
    }));
    page.on_toggle_coordinates(touched!(app, |_pages, cx| {
        cx.preferences.change(|known| known.coordinates = !known.coordinates);
    }));
}

fn room_id(cx: &Cx<'_>) -> Option<String> {
    cx.known.room.as_ref().map(|room| room.id.clone())
}

fn say(phrase: i32, text: &str, cx: &mut Cx<'_>) {
    if let Some(room_id) = room_id(cx) {
        let say = control::Say { room_id, phrase, text: text.into() };
        cx.ask.tell(request::Body::Say(say));
    }
}

fn other(side: wire::Side) -> wire::Side {
    match side {
        wire::Side::First => wire::Side::Second,
        wire::Side::Second => wire::Side::First,
        wire::Side::Unspecified => wire::Side::Unspecified,
    }
}

/// A match as its page shows it: the position under review replaces the final one.
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

/// Moves the review after the end: 0 the last position, -1 and 1 a move back and on, -2 the first, 2 the last, 3 closes it.
fn analyse(step: i32, cx: &mut Cx<'_>) {
    use control::analyse::Step;
    let Some(room) = &cx.known.room else { return };
    let total = room.record.len() as u32;
    let at = room.analysis.as_ref().map_or(total, |analysis| analysis.ply);
    let step = match step {
        -2 => Step::ToPly(0),
        -1 => Step::Back(true),
        1 => Step::ToPly((at + 1).min(total)),
        3 => Step::Close(true),
        _ => Step::ToPly(total),
    };
    let asked = control::Analyse { room_id: room.id.clone(), step: Some(step) };
    cx.ask.tell(request::Body::Analyse(asked));
}

fn act(action: Action, cx: &mut Cx<'_>) {
    let Some(room) = &cx.known.room else { return };
    let room_id = room.id.clone();
    let question = Question::Act { room: room_id.clone(), ply: ply(room) };
    let body = if room.analysis.is_some() {
        let step = Some(control::analyse::Step::TryAction(action));
        request::Body::Analyse(control::Analyse { room_id, step })
    } else {
        request::Body::Act(control::Act { room_id, action: Some(action), notation: String::new() })
    };
    cx.ask.send(body, question);
}

fn ply(room: &Room) -> u32 {
    room.board.as_ref().map_or(0, |board| board.ply)
}

fn offer(kind: WireOffer, cx: &mut Cx<'_>) {
    if let Some(room_id) = room_id(cx) {
        cx.ask.tell(request::Body::Offer(control::Offer { room_id, kind: kind.into() }));
    }
}

/// Opens the same game against the computer's next level, which the host has named after a win.
fn next_level(cx: &mut Cx<'_>) {
    let Some(room) = &cx.known.room else { return };
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
    let word = game::word(super::wire_game(room.setup.as_ref()));
    let room_id = room.id.clone();
    cx.preferences.change(move |known| {
        known.games.entry(word.into()).or_insert_with(|| LastGame::first(word)).level = level as f32;
    });
    cx.ask.tell(request::Body::CloseRoom(control::CloseRoom { room_id }));
    cx.ask.send(request::Body::OpenRoom(open), Asked::Room);
}

/// Starts a new game; an unfinished one is only left after a confirmation.
fn begin_again(cx: &mut Cx<'_>) {
    let begun = cx.known.room.as_ref().is_some_and(|room| {
        // Between two devices the other player is asked, which is confirmation enough.
        room.puzzle.is_none()
            && room.result.is_none()
            && room.link.is_none()
            && room.board.as_ref().is_some_and(|board| board.ply > 0)
    });
    if begun {
        cx.go.dialog(Dialog::ConfirmNewGame);
    } else {
        cx.go.dialog(Dialog::None);
        offer(WireOffer::OfferNewGame, cx);
    }
}

/// Number of variations of a hint: what fits beside the board on a phone.
const HINT_LINES: u32 = 3;

fn is_lamps(room: &Room) -> bool {
    room.board.as_ref().is_some_and(|board| board.game() == wire::Game::LightsOut)
}

fn resign(cx: &mut Cx<'_>) {
    let Some(room) = &cx.known.room else { return };
    // With both seats here, the side to move resigns.
    let side = match room.mine[..] {
        [only] => only,
        _ => room.board.as_ref().map_or(0, |board| board.turn),
    };
    let resign = control::Resign { room_id: room.id.clone(), side };
    cx.ask.tell(request::Body::Resign(resign));
}

/// Whether a match goes on without its page: somebody may play or watch it with a browser.
pub(super) fn outlasts_page(known: &AppState, room: &Room) -> bool {
    room.result.is_none() && room.link.is_none() && known.has_code(&room.id)
}

/// Whether nobody has come by the code of a match that has not begun.
fn is_code_unused(known: &AppState, room: &Room) -> bool {
    let mut guests = known.state.guests.values().filter(|guest| guest.room_id == room.id);
    ply(room) == 0 && guests.all(|guest| !guest.came && !guest.present && guest.watchers == 0)
}

/// Leaves the board. A match with a guest goes on meanwhile. A confirmation is needed if another person would be left, or if
/// nobody has come by the code.
pub(crate) fn ask_to_leave(cx: &mut Cx<'_>) {
    let known = cx.known;
    let Some(room) = &known.room else { return cx.go.leave_room() };
    let with_someone =
        room.result.is_none() && room.link.as_ref().is_some_and(|link| link.state() != PeerLink::Left);
    let goes_on = outlasts_page(known, room);
    let in_vain = goes_on && is_code_unused(known, room) && club::game_with(known, &room.id).is_none();
    if with_someone || in_vain {
        cx.go.dialog(Dialog::ConfirmLeave);
    } else if goes_on {
        cx.go.put_aside();
    } else {
        cx.go.leave_room();
    }
}

impl BoardPage {
    /// The board of another match is opened.
    pub(crate) fn on_opened(&mut self) {
        self.hint = None;
        self.picked = None;
        self.waiting = None;
        self.turned = false;
        self.look = Look::default();
    }

    /// Handles a new state of the match, or the first state of its rematch (`follows`).
    pub(crate) fn on_room_changed(&mut self, room: &Room, follows: bool) {
        // The picked piece is dropped, even if a take-back restores its position.
        for held in [&mut self.picked, &mut self.waiting] {
            if held.as_ref().is_some_and(|held| (held.ply, held.revision) != (ply(room), room.revision)) {
                *held = None;
            }
        }
        if follows {
            self.look = Look::default();
        }
    }

    /// Sets whether the board that is being opened is solved at once.
    pub(crate) fn set_solve_when_there(&mut self, solve: bool) {
        self.solve_when_there = solve;
    }

    /// Sets the match whose code is shown as soon as its board is there.
    pub(crate) fn set_code_when_there(&mut self, room: String) {
        self.code_when_there = Some(room);
    }

    /// Handles the opening of the board that was requested.
    pub(crate) fn on_there(&mut self, cx: &mut Cx<'_>) {
        if std::mem::take(&mut self.solve_when_there) {
            self.solve(cx);
        }
        let wanted = self.code_when_there.take();
        if let Some(room) = &cx.known.room
            && wanted.is_some_and(|wanted| wanted == room.id)
            && guest::is_awaited(cx.known, room)
        {
            guest::show_code(room.id.clone(), false, cx);
        }
    }

    /// Shows the bot's thoughts.
    pub(crate) fn show_thought(&mut self) {
        self.thought_open = true;
    }

    /// Displays a chat message.
    pub(crate) fn display_said(&mut self, said: control::Said) {
        let mine = usize::from(said.mine);
        self.said[mine] = Some(said);
    }

    /// Ends the display of chat messages.
    pub(crate) fn clear_said(&mut self) {
        self.said = [None, None];
    }

    /// The last chat message of this side's player, while displayed.
    fn said_by(&self, room: &Room, mine: bool) -> Option<&control::Said> {
        self.said[usize::from(mine)].as_ref().filter(|said| said.room_id == room.id)
    }

    /// A choice beside the points. Passing and choosing a colour need a confirmation: a finger slips, and a take-back needs the
    /// other player's consent.
    fn choose(&mut self, action: Action, cx: &mut Cx<'_>) {
        let Some(room) = &cx.known.room else { return };
        let Some(board) = &room.board else { return };
        let could_play = board.touch.as_ref().is_some_and(|touch| touch.kind() == TouchKind::TouchPlace);
        let asks = match action.kind {
            Some(action::Kind::Pass(_)) => could_play,
            Some(action::Kind::Choose(_)) => true,
            _ => false,
        };
        if asks {
            self.choosing =
                Some(Choosing { room: room.id.clone(), ply: board.ply, revision: room.revision, action });
            cx.go.dialog(Dialog::ConfirmChoice);
        } else {
            act(action, cx);
        }
    }

    fn choose_confirmed(&mut self, cx: &mut Cx<'_>) {
        let asked = self.choosing.take();
        if let Some(asked) = asked.filter(|asked| stands(cx.known, &asked.room, asked.ply, asked.revision)) {
            act(asked.action, cx);
        }
    }

    fn step_anyway(&mut self, cx: &mut Cx<'_>) {
        let losing = self.losing.take();
        if let Some(losing) = losing.filter(|asked| stands(cx.known, &asked.room, asked.ply, asked.revision))
        {
            act(Action { kind: Some(losing.kind) }, cx);
        }
    }

    pub(crate) fn reply(&mut self, question: Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::Hint(hint)), Question::Hint { room, ply, revision }) => {
                self.advised((room, ply, revision), hint, cx);
            }
            (Ok(reply::Body::Sheet(sheet)), Question::Rules { setup }) => {
                cx.go.remember_rules(setup, sheet);
            }
            (Err(refusal), Question::Act { room: of, ply: at }) => {
                let is_seen = cx.known.room.as_ref().is_some_and(|room| room.id == of && ply(room) == at);
                if is_seen {
                    cx.go.flash(&refusal.points);
                }
                cx.go.refused(refusal, Remark::BadRequest);
            }
            (Err(refusal), Question::Hint { room, .. }) => {
                self.hint = None;
                if refusal.code() == RefusalCode::RefusalUnsolvable {
                    self.unsolvable = Some(room);
                }
                cx.go.refused(refusal, Remark::NoHint);
            }
            // A newer host's match may be of a game without a sheet.
            (Err(_), Question::Rules { .. }) | (Ok(_), _) => {}
        }
    }

    /// Moves the visible part of the board by half of its size, so that the former edge stays visible. False at the board's
    /// edge.
    fn look(&mut self, columns: i32, rows: i32, cx: &Cx<'_>) -> bool {
        let Some(room) = &cx.known.room else { return false };
        let Some(board) = &room.board else { return false };
        let layout = Layout::of(cx.known, self, room, board);
        let by = |from: usize, step: i32, seen: usize, whole: usize| {
            from.saturating_add_signed(step as isize * seen.div_ceil(2) as isize).min(whole - seen)
        };
        self.look.left = by(layout.left, columns, layout.wide, layout.columns);
        self.look.top = by(layout.top, rows, layout.high, layout.rows);
        (self.look.left, self.look.top) != (layout.left, layout.top)
    }

    /// Plays the solution of a Lights Out board, press by press.
    fn solve(&mut self, cx: &mut Cx<'_>) {
        self.ask_hint(true, cx);
    }

    fn ask_hint(&mut self, solve: bool, cx: &mut Cx<'_>) {
        let Some(room) = &cx.known.room else { return };
        // A Lights Out board has one solution, and a puzzle's hint is one move, which is looked for before it is told.
        let lines = if is_lamps(room) || room.puzzle.is_some() { 0 } else { HINT_LINES };
        let narrow = room.puzzle.is_some();
        let asks_engine = !solve && !narrow;
        let engine = if asks_engine {
            cx.known.adviser(super::wire_game(room.setup.as_ref()), false)
        } else {
            String::new()
        };
        let (room, ply, revision) = (room.id.clone(), ply(room), room.revision);
        cx.ask.send(
            request::Body::Hint(control::Hint { room_id: room.clone(), lines, solve, narrow, engine }),
            Question::Hint { room: room.clone(), ply, revision },
        );
        self.hint = Some(HintState::Asked { room, ply, solve });
    }

    /// Handles the hint for this match at this ply and revision.
    fn advised(&mut self, about: (String, u32, u32), found: control::HintFound, cx: &mut Cx<'_>) {
        let (room, ply, revision) = about;
        match found.action.as_ref().and_then(|action| action.kind.as_ref()) {
            Some(action::Kind::Pass(_)) => cx.go.remark(Remark::HintPass, ""),
            Some(action::Kind::Agree(_)) => cx.go.remark(Remark::HintAgree, ""),
            _ => {}
        }
        let solve = matches!(&self.hint, Some(HintState::Asked { solve: true, .. }));
        if solve && !found.presses.is_empty() {
            let columns = cx.known.room.as_ref().and_then(|room| Some(room.board.as_ref()?.columns));
            let position = (ply, revision);
            let solving =
                Solving::new(&room, position, columns.unwrap_or_default(), &found.presses, found.fewest);
            self.solving = Some(solving);
            self.hint = None;
            return;
        }
        self.hint = found.action.map(|action| HintState::Found {
            room,
            ply,
            revision,
            action,
            presses: found.presses.iter().map(|byte| byte.count_ones()).sum(),
            fewest: found.fewest,
            lines: found.lines,
            threats: found.threats,
        });
    }

    /// The next press of the solution that is played; ends it when the player has changed the board.
    fn solve_step(&mut self, cx: &mut Cx<'_>) {
        let room = cx.known.room.as_ref();
        let of = |solving: &Solving| room.is_some_and(|room| solving.is_of(room));
        self.solving = self.solving.take().filter(of);
        if let (Some(solving), Some(room)) = (&mut self.solving, room)
            && let Some(press) = solving.step(room)
        {
            act(press, cx);
        }
    }
}

/// The point where an action is displayed, if any.
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

/// The side at the near edge of the board. If both are here, it is the side to move where the board turns, otherwise the first.
fn near_side(known: &AppState, room: &Room) -> wire::Side {
    match room.mine[..] {
        [only] if only == i32::from(wire::Side::Second) => wire::Side::Second,
        [_, _] if known.preferences.turn_to_mover => {
            let board = room.board.as_ref();
            match board.map(control::Board::turn).unwrap_or_default() {
                // After the end: whoever made the last move.
                wire::Side::Unspecified if board.is_some_and(|board| board.ply.is_multiple_of(2)) => {
                    wire::Side::Second
                }
                wire::Side::Unspecified => wire::Side::First,
                turn => turn,
            }
        }
        _ => wire::Side::First,
    }
}

/// The number of this fact for a side, if present.
pub(super) fn fact(board: &control::Board, kind: FactKind, of: wire::Side) -> Option<u32> {
    let mut facts = board.facts.iter();
    facts.find(|fact| fact.kind() == kind && fact.side() == of).map(|fact| fact.number)
}
