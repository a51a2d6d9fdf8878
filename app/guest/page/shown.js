// Renders the page from the state: which parts are visible, and the board.
import { needGlyphs } from "./art.js";
import { act, answer, chosen, look, lookBy, touched } from "./actions.js";
import { aspect, BoardView } from "./board.js";
import { drawEvening, looksAtEvening } from "./club.js";
import { ask, button, closeDialog, make, openDialog } from "./dialogs.js";
import { edgeNames, FIRST_ZOOM, indexOf, movesOf, nearSide, other, pointLabel, pointsOf, ZOOMS } from "./points.js";
import { boardLayout, isLive, nextStone, render, state } from "./state.js";
import { at, gameName, isAlone, seatName, showLink, showMoves, showPresses, showResult, showSeat, showTitle, showTold, write } from "./view.js";
import { isChinese, say, told } from "./words.js";

/// Minimum width of the column beside the board, in CSS pixels.
const BESIDE = 280;

export const board = new BoardView(at("board"), { touched, chosen, beyond: lookBy });

export function draw() {
  const troubled = !state.token || state.ended || state.taken || !state.room;
  const page = looksAtEvening() ? "evening" : troubled ? "trouble" : state.started ? "match" : "start";
  showPage(page);
  showStrip(page);
  // From a seat that was taken from the evening a way leads back as soon as its game is over, or the seat is not to be had.
  const back = Boolean(state.from) && Boolean(state.ended || state.taken || state.room?.result);
  for (const element of document.querySelectorAll("[data-evening]")) element.hidden = !back;
  if (page === "evening") drawEvening();
  else if (page === "trouble") showTrouble();
  else if (page === "start") showStart();
  else showMatch();
  showOffer();
}

let page = "";

function showPage(to) {
  for (const name of ["start", "trouble", "evening", "match"]) at(name).hidden = name !== to;
  if (page === to) return;
  const first = !page;
  page = to;
  if (to !== "match" && !first) at(`${to}-title`).focus();
}

/// Shows the strip that reports a lost connection and the time of the next attempt.
function showStrip(shown) {
  const strip = at("strip");
  strip.hidden = !(state.down && shown !== "trouble");
  if (strip.hidden) return;
  // Advice is shown only after several failed attempts.
  write(at("strip-text"), state.down.tries > 2 ? `${retryText()} ${say("lostHelp")}` : retryText());
}

function retryText() {
  if (!state.down) return say("lostNow");
  const { at: when, closed } = state.down;
  const seconds = Math.ceil((when - performance.now()) / 1000);
  if (closed?.why === "wait") return say("wait", Math.max(1, seconds));
  return seconds > 0 ? say("lost", seconds) : say("lostNow");
}

const TROUBLES = {
  wrong_code: ["wrongCode", "wrongCodeHelp"], code_closed: ["closed", "closedHelp"], seat_taken: ["taken", "takenNo"], given: ["given", "wrongCodeHelp"],
  replaced: ["elsewhere", "elsewhereHelp"], host_stopping: ["hostGone", "closedHelp"], too_old: ["tooOld", ""],
};

function showTrouble() {
  const host = state.host || say("theHost");
  let [title, help, press, doing] = ["", "", "", null];
  if (!state.token) {
    title = say("qiyou");
    help = say("noCode");
  } else if (state.taken) {
    title = say("taken");
    help = say("takenHelp", host);
  } else if (state.ended) {
    const { why, words } = state.ended;
    const [titleWord, helpWord] = TROUBLES[why] ?? ["failed", "failedHelp"];
    title = say(titleWord, host);
    help = TROUBLES[why] ? helpWord && say(helpWord, host) : `${told(words)}\n${say(helpWord)}`;
    if (why === "replaced") [press, doing] = ["continueHere", reopen];
    else if (why === "seat_taken") [press, doing] = ["askAgain", reopen];
    else if (why === "too_old") [press, doing] = ["reload", () => location.reload()];
    if (state.evening && why === "code_closed") [title, help] = [say("clubNotShown"), ""];
  } else if (state.down) {
    const why = state.down.closed?.why;
    title = say(why === "full" ? "full" : why === "wait" ? "waitTitle" : "lostTitle");
    help = why === "wait" ? retryText() : `${retryText()}\n${say(why === "full" ? "fullHelp" : "lostHelp")}`;
    if (why !== "wait") [press, doing] = ["tryNow", () => state.connection.nudge()];
  } else {
    title = say("connecting");
  }
  write(at("trouble-title"), title);
  write(at("trouble-text"), help);
  const element = at("trouble-button");
  element.hidden = !press;
  write(element, press ? say(press) : "");
  element.onclick = doing;
  document.title = `${title} · ${say("qiyou")}`;
}

function reopen() {
  state.connection.open();
}

function showStart() {
  const host = state.host || say("theHost");
  const title = say("hello", host, gameName(state.room));
  write(at("start-title"), title);
  write(at("start-hint"), say("nameHint", host));
  const input = at("start-name");
  if (!input.value && state.name && document.activeElement !== input && !input.dataset.touched) input.value = state.name;
  document.title = `${title} · ${say("qiyou")}`;
}

function showMatch() {
  const { room } = state;
  const since = performance.now() - state.roomAt;
  const near = nearSide(room);
  const flipSeats = state.flipped && room.you === "unspecified";
  const below = flipSeats ? other(near) : near;
  const alone = isAlone(room);
  showTitle(state);
  at("far").hidden = alone;
  if (alone) showPresses(at("near"), room);
  else {
    showSeat(at("far"), state, other(below), since);
    showSeat(at("near"), state, below, since);
  }
  showTold(state);
  showResult(state);
  showLink(state);
  showChoices();
  showMoves(state, state.review ? state.review.ply : room.record.length, look);
  showReview();
  layOut();
}

function showChoices() {
  const { room } = state;
  const playing = !room.result && !state.watcher && !state.review;
  const waits = playing && state.waiting !== null;
  const choices = playing && room.can_act && !waits ? room.board.choices : [];
  const element = at("choices");
  const key = JSON.stringify([choices, isChinese(), state.up, state.sent !== null]);
  if (element.dataset.key !== key) {
    const held = element.contains(document.activeElement);
    element.dataset.key = key;
    element.replaceChildren(...choices.map((choice) => choiceButton(choice)));
    if (held) (element.querySelector("button:enabled") ?? at("title")).focus();
  }
  element.hidden = !choices.length;
  at("confirm").hidden = !waits;
  at("resting").hidden = !(playing && room.paused);
  at("continue").disabled = !state.up || !room.can_continue || Boolean(room.offer);
  const alone = isAlone(room);
  at("actions").hidden = !playing && !state.watcher && !room.result;
  const enabled = {
    undo: room.can_take_back, draw: room.can_offer_draw, resign: room.can_resign, new: room.can_new_game, say: !alone, more: true,
    review: room.record.length > 0, save: true,
  };
  const shown = {
    undo: playing && !room.race, draw: playing && !alone && !room.race, resign: playing && !alone, new: playing && alone, say: !alone && !state.watcher,
    more: true, review: !playing && !state.review && !room.race, save: !playing,
  };
  for (const name of Object.keys(shown)) {
    const one = at(`do-${name}`);
    one.hidden = !shown[name] || waits;
    const offering = ["undo", "draw", "new"].includes(name) && Boolean(room.offer);
    one.disabled = !enabled[name] || offering || (!state.up && name !== "more");
  }
}

const CHOICE_WORDS = { pass: "pass", agree: "agreeCount", resume: "playOn", black: "playBlack", white: "playWhite", two_more: "twoMore" };

function choiceButton(choice) {
  const name = choice.choose ?? Object.keys(choice)[0];
  const element = make("button", { type: "button", className: `button${name === "agree" ? " primary" : ""}`, disabled: !state.up || state.sent !== null });
  const fifths = /^fifths_(\d+)$/.exec(name);
  element.textContent = fifths ? say("fifths", fifths[1]) : say(CHOICE_WORDS[name] ?? "other");
  element.dataset.choice = name;
  element.addEventListener("click", () => act(choice));
  return element;
}

function showReview() {
  const { review, room } = state;
  at("review").hidden = !review;
  at("match").classList.toggle("reviewing", Boolean(review));
  if (!review) return;
  const { ply, total } = review;
  const move = ply > 0 ? movesOf(room)[ply - 1] : "";
  write(at("review-text"), move ? say("moveNOfIs", ply, total, move) : say("moveNOf", ply, total));
  for (const element of document.querySelectorAll("[data-review]")) {
    const back = element.dataset.review === "first" || element.dataset.review === "left";
    // aria-disabled instead of disabled: a focused button keeps the keyboard focus.
    element.setAttribute("aria-disabled", !state.up || (back ? ply <= 0 : ply >= total));
  }
}

/// Makes the board as large as possible: above the rest in portrait, beside it in landscape.
function layOut() {
  const { room } = state;
  const position = state.review?.board ?? room.board;
  if (position.game === "xiangqi") needGlyphs(render);
  const layout = boardLayout();
  const names = state.coordinates ? edgeNames(position.game, layout) : { below: [], above: [], left: [] };
  const points = pointsOf(position, layout, state.review ? {} : { picked: state.picked, waiting: state.waiting, stone: nextStone() ?? state.stone, flash: state.flash, sent: state.stone && state.sent >= 0 ? state.sent : null });
  for (const point of points) point.label = pointLabel(position.game, point);
  const ends = position.lines.map((line) => line.map((one) => indexOf(layout, one))).filter(([from, to]) => from >= 0 && to >= 0);
  const what = `${room.id} ${position.ply} ${room.revision} ${layout.left} ${layout.top} ${layout.wide} ${layout.turned} ${state.review ? "review" : ""}`;
  const view = {
    ground: position.game === "xiangqi" ? "river" : position.game === "lights_out" ? "lights" : "lines",
    columns: layout.wide, rows: layout.high, points, names, lines: ends,
    live: isLive(), readOnly: state.watcher || Boolean(state.review), label: say("board", layout.columns, layout.rows), next: nextStone(),
    moved: board.what !== undefined && board.what !== what && !state.review, glyphs: position.game === "xiangqi" && needGlyphs(render),
  };
  board.what = what;
  at("board").dataset.ply = position.ply;
  const [width, height] = [document.documentElement.clientWidth, window.innerHeight];
  const wide = width > height && width >= 560;
  at("match").classList.toggle("wide", wide);
  const strip = at("strip").hidden ? 0 : at("strip").offsetHeight;
  document.documentElement.style.setProperty("--strip", `${strip}px`);
  const margin = 12;
  const ratio = aspect(view);
  if (wide) {
    const high = height - strip - 2 * margin;
    board.show(view, Math.min(width - BESIDE - 3 * margin, high * ratio), high);
  } else {
    board.show(view, width - 2 * margin, height * 0.64);
  }
  at("moves").hidden = height < (wide ? 560 : 740) || position.game === "lights_out";
  showPart(layout);
}

function showPart(layout) {
  const larger = Math.max(layout.columns, layout.rows) > ZOOMS[FIRST_ZOOM];
  at("look").hidden = !larger;
  if (!larger) return;
  const { left, top, wide, high, columns, rows } = layout;
  const end = { left: left <= 0, right: left + wide >= columns, up: top <= 0, down: top + high >= rows, in: state.part.zoom <= 0, out: wide === columns && high === rows };
  for (const element of document.querySelectorAll("[data-look]")) element.setAttribute("aria-disabled", end[element.dataset.look]);
  write(at("seen"), `${left + 1}–${left + wide} / ${columns} × ${top + 1}–${top + high} / ${rows}`);
}

const OFFERS = {
  take_back: "asksUndo", draw: "asksDraw", new_game: "asksNew", new_game_same: "asksNew", pause: "asksPause", continue: "asksContinue",
};

function showOffer() {
  const open = state.up && state.room?.offer && !state.room.offer.mine && !state.watcher && state.started ? state.room.offer : null;
  if (!open || open.number === state.answered) {
    closeDialog("offer");
    return;
  }
  if (openDialog() === "offer" && state.shown === open.number) return;
  state.shown = open.number;
  const name = seatName(state.room, other(nearSide(state.room)), state.host);
  ask(
    "offer",
    say(OFFERS[open.kind] ?? "asksNew", name),
    open.kind === "new_game" && !isAlone(state.room) && !state.room.race ? say("swapped") : "",
    [button(say("agree"), () => answer(open.number, true), { kind: "primary" }), button(say("decline"), () => answer(open.number, false))],
    // A browser may close the dialog all the same: then it is shown again.
    { kept: true, sudden: true, closed: render },
  );
}

/// Updates only what changes with time: clocks, and the countdown to the next attempt to connect.
export function tick() {
  showStrip(page);
  if (page === "trouble") showTrouble();
  if (page !== "match") return;
  const since = performance.now() - state.roomAt;
  const near = nearSide(state.room);
  if (isAlone(state.room)) return;
  const below = state.flipped && state.room.you === "unspecified" ? other(near) : near;
  showSeat(at("far"), state, other(below), since);
  showSeat(at("near"), state, below, since);
}
