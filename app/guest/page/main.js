// Begins everything and holds the state: what the host has said, what is picked and looked at here. What is seen follows from it.
import { icon, needGlyphs } from "./art.js";
import { aspect, BoardView } from "./board.js";
import { Connection, store, stored } from "./connection.js";
import { ask, button, closeDialog, make, moreDialog, openDialog, sayDialog, show as showDialog, text } from "./dialogs.js";
import {
  clamp, edgeNames, FIRST_ZOOM, indexOf, layoutOf, meaning, movesOf, nearSide, other, pointAt, pointLabel, pointOf, pointsOf, ZOOMS,
} from "./points.js";
import { isChinese, phrase, say, setChinese, told } from "./words.js";
import {
  at, colourName, fillActions, gameName, isAlone, labelAll, outcome, reason, seatName, showLink, showMoves, showPresses, showResult, showSeat,
  showTitle, showTold, taskText, toldText, write,
} from "./view.js";

const TICK = 250;
const REMARK_STAYS = 4_000;
const SAID_STAYS = 12_000;
const FLASH_STAYS = 1_200;
/// How long after its answer an action is shown as sent where no new position comes.
const ROOM_FOLLOWS = 1_500;
/// Presses of lights that wait for the one before to be answered.
const MOST_AHEAD = 4;
/// Width that the rest needs beside the board.
const BESIDE = 280;

const state = {
  token: location.hash.slice(1),
  name: stored("qiyou.name") ?? "",
  // Of the connection.
  up: false, ended: null, taken: null, down: null,
  // Of welcome.
  host: "", watcher: false, started: false,
  room: null, roomAt: 0,
  // Of the position in `key`: what is picked, what waits to be meant, what was sent and not yet answered.
  key: "", picked: null, waiting: null, sent: null, stone: null, ahead: [], flash: [],
  // Looked at again: {ply, total, board, room}.
  review: null, looks: 0,
  said: { first: "", second: "" }, saidNumber: 0,
  flipped: false, part: { left: 0, top: 0, zoom: FIRST_ZOOM }, coordinates: stored("qiyou.coordinates") !== "off",
  shown: null,
};

const board = new BoardView(at("board"), { touched, chosen, beyond });
const connection = new Connection(() => ({ token: state.token, tab: tab(), name: state.name }), { heard, changed });

/// What says that this is the same browser as before, also after a reload or sleep.
function tab() {
  let kept = stored("qiyou.tab") ?? state.tab;
  if (!/^[\w-]{16,64}$/.test(kept ?? "")) {
    kept = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    state.tab = kept;
    store("qiyou.tab", kept);
  }
  return kept;
}

// The connection

function changed(to, detail) {
  const wasUp = state.up;
  state.up = to === "up";
  state.taken = to === "taken" ? detail : null;
  state.down = to === "down" ? detail : null;
  state.ended = to === "ended" ? detail : null;
  if (wasUp && !state.up && !state.ended) announce(say("lostTitle"));
  if (state.up && state.room && !wasUp) announce(say("back"));
  if (!state.up) forgetTouches();
  if (state.ended) closeDialog();
  render();
}

function heard(kind, body) {
  switch (kind) {
    case "welcome":
      state.host = body.host;
      store(hostKey(), body.host);
      state.watcher = body.as === "watcher";
      if (body.name) state.name = body.name;
      state.started ||= state.watcher || (Boolean(body.name) && stored(startedKey()) === "1");
      break;
    case "room":
      takeRoom(body);
      break;
    case "said":
      takeWords(body);
      break;
    default:
      break;
  }
  render();
}

function hostKey() {
  return `qiyou.host.${state.token.slice(0, 8)}`;
}

function startedKey() {
  return `qiyou.started.${state.token.slice(0, 8)}`;
}

function keyOf(room) {
  return `${room.id} ${room.ply} ${room.revision} ${room.race?.my_presses ?? ""}`;
}

function takeRoom(room) {
  const before = state.room;
  state.room = room;
  state.roomAt = performance.now();
  if (before?.id !== room.id) state.ahead = [];
  if (keyOf(room) !== state.key) {
    state.key = keyOf(room);
    state.picked = state.waiting = null;
    settle();
    if (openDialog() === "losing") closeDialog();
  }
  if (before && before.id !== room.id) {
    state.review = null;
    state.flipped = false;
    state.part = { left: 0, top: 0, zoom: FIRST_ZOOM };
  }
  if (state.review && (state.review.ply > room.record.length || before?.revision !== room.revision)) look(Math.min(state.review.ply, room.record.length));
  // An offer of this side that is gone while nothing else has changed was declined.
  const kept = (one) => JSON.stringify([one.id, one.ply, one.revision, one.result, one.paused]);
  if (before?.offer?.mine && !room.offer && kept(before) === kept(room)) {
    remark(say("declined", seatName(room, other(nearSide(room)), state.host)));
  }
  announceChange(before, room);
}

function takeWords({ number, mine, name, phrase: spoken, text: written, words }) {
  if (number <= state.saidNumber) return;
  state.saidNumber = number;
  const line = spoken ? phrase(spoken) || told(words) : written;
  const { room } = state;
  const near = room ? nearSide(room) : "first";
  let side = mine ? near : other(near);
  // A watcher sees both from outside: who it was says the name.
  if (room && room.you === "unspecified") side = room.second.name === name ? "second" : "first";
  state.said[side] = line;
  setTimeout(() => {
    if (state.said[side] === line) {
      state.said[side] = "";
      render();
    }
  }, SAID_STAYS);
  if (!mine) announce(`${name}: ${say("said", line)}`);
}

// What is said aloud

let news = [];

/// For screen readers: sentences of one turn together, a moment later, so that none replaces another unheard.
function announce(sentence) {
  if (!sentence) return;
  news.push(sentence);
  if (news.length > 1) return;
  setTimeout(() => {
    const said = news.join(isChinese() ? "。" : ". ");
    news = [];
    // The same sentence twice is a change too.
    at("news").textContent = at("news").textContent === said ? `${said}\u00a0` : said;
  }, 60);
}

function announceChange(before, room) {
  if (!before || before.id !== room.id) {
    announce(gameName(room));
  } else if (room.record.length > before.record.length) {
    const moves = movesOf(room).slice(before.record.length);
    const mover = before.turn === "first" || before.turn === "second" ? colourName(room, before.turn) : "";
    for (const move of moves.slice(-2)) announce(mover && moves.length === 1 ? say("played", mover, move) : move);
  }
  if (room.result && !before?.result) {
    announce(outcome(room));
    if (!isAlone(room)) announce(reason(room));
    return;
  }
  const news = toldText(room);
  if (news && (!before || news !== toldText(before))) announce(news);
  if (room.turn === room.you && (!before || keyOf(before) !== keyOf(room) || !before.can_act) && !isAlone(room) && !room.race && !room.result) {
    announce(taskText(state));
  }
}

let remarkTimer = 0;

/// A passing remark at the foot of the page.
function remark(sentence) {
  if (!sentence) return;
  const element = at("remark");
  element.hidden = false;
  element.textContent = sentence;
  clearTimeout(remarkTimer);
  remarkTimer = setTimeout(() => (element.hidden = true), REMARK_STAYS);
}

// Touches

function isLive() {
  const { room } = state;
  return state.up && Boolean(room?.can_act) && !state.review && (state.sent === null || room.board.touch.kind === "press");
}

function forgetTouches() {
  state.picked = state.waiting = state.sent = null;
  state.ahead = [];
}

function boardLayout() {
  const { room } = state;
  return layoutOf(room, state.review?.board ?? room.board, state.flipped, state.part);
}

/// A finger on points that may be smaller than it: a stone there waits to be tapped again.
function touched(index, small) {
  const { room } = state;
  const point = pointAt(boardLayout(), index);
  const { board: position } = room;
  const stone = small && position.touch.kind === "place" && position.pieces.every((piece) => piece.at !== point);
  if (stone && state.waiting !== point) {
    state.waiting = point;
    announce(say("tapAgain"));
    render();
  } else {
    chosen(index);
  }
}

function chosen(index) {
  touchAt(pointAt(boardLayout(), index));
}

function touchAt(point) {
  state.waiting = null;
  const meant = meaning(state.room.board, state.picked, point);
  if (meant.act) act(meant.act);
  else if (meant.pick !== undefined) state.picked = meant.pick;
  else if (meant.putDown) state.picked = null;
  else if (meant.pickFirst) remark(say("pickFirst"));
  else if (meant.stuck) {
    flash(meant.stuck.points);
    remark(told(meant.stuck.words));
  } else if (meant.warn) warn(meant.warn, told(meant.words));
  render();
}

/// The move that is about to be made loses at once.
function warn(action, why) {
  const point = "place" in action;
  ask("losing", point ? say("forbidden", why) : say("losing"), say(point ? "forbiddenHint" : "losingHint"), [
    button(say("chooseOther"), null, { kind: "primary" }),
    button(say(point ? "thereAnyway" : "anyway"), () => act(action), { kind: "danger" }),
  ]);
}

function flash(points) {
  state.flash = points ?? [];
  setTimeout(() => {
    state.flash = [];
    render();
  }, FLASH_STAYS);
}

/// Sends an action of the position that is shown. Presses of lights may be a few ahead of the answers.
async function act(action) {
  const { room } = state;
  if (state.sent !== null) {
    if ("press" in action && state.ahead.length < MOST_AHEAD) state.ahead.push(action);
    return;
  }
  state.picked = null;
  state.sent = pointOf(action) ?? -1;
  state.stone = "place" in action && room.board.touch.kind === "place" ? room.board.touch.stone : null;
  const { key } = state;
  render();
  const reply = await connection.ask("act", {
    room: room.id, ply: room.race ? room.race.my_presses : room.ply, revision: room.revision, action,
  });
  // The next position may be there already, or comes in a moment.
  if (state.key === key) {
    if (reply?.ok) setTimeout(() => state.key === key && settle(), ROOM_FOLLOWS);
    else settle();
  }
  if (reply && !reply.ok) {
    state.ahead = [];
    refused(reply);
  }
  render();
}

/// What was sent is done with: the next press that waits goes.
function settle() {
  state.sent = null;
  const next = state.ahead.shift();
  if (next && isLive()) act(next);
  render();
}

function refused(reply) {
  if (!reply || reply.ok) return;
  flash(reply.points);
  remark(told(reply.words) || say("failed"));
}

async function offer(kind) {
  const { room } = state;
  refused(await connection.ask("offer", { room: room.id, ply: room.race ? room.race.my_presses : room.ply, revision: room.revision, kind }));
}

async function answer(number, accept) {
  refused(await connection.ask("answer", { room: state.room.id, number, accept }));
}

async function sayWords(words) {
  refused(await connection.ask("say", words));
}

// Looking through, saving, rules

async function look(ply) {
  const { room } = state;
  const total = room.record.length;
  if (!total) return;
  const wanted = clamp(ply, 0, total);
  state.looks += 1;
  const mine = state.looks;
  state.review = { ...(state.review ?? { board: null }), ply: wanted, total };
  render();
  const reply = await connection.ask("look", { room: room.id, ply: wanted });
  // Only the latest wish counts, and not once the game is shown again.
  if (mine !== state.looks || !state.review) return;
  if (reply?.kind === "position" && reply.room === state.room.id) {
    state.review = { ply: reply.ply, total: reply.total, board: reply.board };
  } else {
    state.review = null;
    refused(reply);
  }
  render();
}

function endReview() {
  state.looks += 1;
  state.review = null;
  render();
}

function reviewStep(where) {
  const { ply, total } = state.review;
  look({ first: 0, left: ply - 1, right: ply + 1, last: total }[where]);
}

async function saveFile() {
  const reply = await connection.ask("file", { room: state.room.id });
  if (reply?.kind !== "file") {
    refused(reply);
    return;
  }
  const address = URL.createObjectURL(new Blob([reply.text], { type: "application/octet-stream" }));
  const link = make("a", { href: address, download: reply.name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  remark(say("saved", reply.name));
}

async function showRules() {
  const reply = await connection.ask("rules", { room: state.room.id });
  if (reply?.kind === "rules") showDialog("rules", gameName(state.room), [text(told(reply.words)), button(say("close"), null, { kind: "primary" })]);
  else refused(reply);
}

// Dialogs

const OFFERS = {
  take_back: "asksUndo", draw: "asksDraw", new_game: "asksNew", new_game_same: "asksNew", pause: "asksPause", continue: "asksContinue",
};

function showOffer() {
  const open = state.up && state.room?.offer && !state.room.offer.mine && !state.watcher && state.started ? state.room.offer : null;
  if (!open) {
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
    // A browser may close it all the same: then it is asked again.
    { kept: true, sudden: true, closed: render },
  );
}

function askResign() {
  const { id, revision } = state.room;
  ask("resign", say("resignTitle"), say("resignHint"), [
    button(say("resign"), async () => refused(await connection.ask("resign", { room: id, revision })), { kind: "danger" }),
    button(say("playOn"), null, { kind: "primary" }),
  ]);
}

function newGame() {
  const { room } = state;
  if (room.result || !room.ply) {
    offer("new_game");
    return;
  }
  ask("new", say("newTitle"), say(isAlone(room) ? "newHintAlone" : "newHint"), [
    button(say("newGame"), () => offer("new_game"), { kind: "danger" }),
    button(say("playOn"), null, { kind: "primary" }),
  ]);
}

function showMore() {
  const { room } = state;
  const plays = !state.watcher;
  moreDialog(
    [
      room.record.length && !state.review ? { word: "review", act: () => look(room.record.length) } : null,
      { word: "save", act: saveFile, disabled: !state.up },
      isAlone(room) ? null : { word: "flip", act: flipBoard },
      { word: "rules", act: showRules, disabled: !state.up },
      plays && !room.result && room.can_pause ? { word: "pause", act: () => offer("pause"), disabled: Boolean(room.offer) } : null,
      plays && !isAlone(room) ? { word: "newGame", act: newGame, disabled: !room.can_new_game || Boolean(room.offer) } : null,
      { word: "about", act: showAbout },
    ],
    [
      {
        word: "coordinates",
        on: state.coordinates,
        act: () => {
          state.coordinates = !state.coordinates;
          store("qiyou.coordinates", state.coordinates ? "on" : "off");
          render();
          return state.coordinates;
        },
      },
    ],
    { chosen: () => stored("qiyou.theme") ?? "", choose: chooseTheme },
    switchLanguage,
  );
}

function showAbout() {
  showDialog("about", say("about"), [text(say("referee")), text(say("readable")), text(say("noInstall")), button(say("close"), null, { kind: "primary" })]);
}

function flipBoard() {
  state.flipped = !state.flipped;
  render();
}

function chooseTheme(value) {
  store("qiyou.theme", value);
  applyTheme();
}

function applyTheme() {
  const chosen = stored("qiyou.theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
}

function switchLanguage() {
  setChinese(!isChinese());
  labelAll();
  render();
}

// Boards of which only a part is seen

function lookBy(columns, rows) {
  const layout = boardLayout();
  const step = Math.max(1, Math.floor(layout.wide / 2));
  state.part.left = clamp(layout.left + columns * step, 0, layout.columns - layout.wide);
  state.part.top = clamp(layout.top + rows * step, 0, layout.rows - layout.high);
  render();
}

function zoom(step) {
  state.part.zoom = clamp(state.part.zoom + step, 0, ZOOMS.length - 1);
  render();
}

function beyond(columns, rows) {
  lookBy(columns, rows);
}

// What is seen

let due = false;

function render() {
  if (due) return;
  due = true;
  queueMicrotask(() => {
    due = false;
    draw();
  });
}

function draw() {
  const troubled = !state.token || state.ended || state.taken || !state.room;
  const page = troubled ? "trouble" : state.started ? "match" : "start";
  showPage(page);
  showStrip(page);
  if (page === "trouble") showTrouble();
  else if (page === "start") showStart();
  else showMatch();
  showOffer();
}

let page = "";

function showPage(to) {
  for (const name of ["start", "trouble", "match"]) at(name).hidden = name !== to;
  if (page === to) return;
  const first = !page;
  page = to;
  if (to !== "match" && !first) at(`${to}-title`).focus();
}

/// That the connection is lost, and when it is tried again.
function showStrip(shown) {
  const strip = at("strip");
  strip.hidden = !(state.down && shown !== "trouble");
  if (strip.hidden) return;
  // A blink is no reason for advice.
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
  } else if (state.down) {
    const why = state.down.closed?.why;
    title = say(why === "full" ? "full" : why === "wait" ? "waitTitle" : "lostTitle");
    help = why === "wait" ? retryText() : `${retryText()}\n${say(why === "full" ? "fullHelp" : "lostHelp")}`;
    if (why !== "wait") [press, doing] = ["tryNow", () => connection.nudge()];
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
  connection.open();
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
  element.textContent = say(CHOICE_WORDS[name] ?? "other");
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
    // The focused button keeps the keyboard: it is told to do nothing rather than taken away.
    element.setAttribute("aria-disabled", !state.up || (back ? ply <= 0 : ply >= total));
  }
}

/// The board as large as it can be: over the rest, or beside it where the page lies.
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

/// The stone that a touch would put, as it looks.
function nextStone() {
  const { touch } = state.room.board;
  return isLive() && touch.kind === "place" && (touch.stone === "first" || touch.stone === "second") ? touch.stone : null;
}

// The beginning

function listen() {
  at("start-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = at("start-name").value.trim();
    state.started = true;
    store(startedKey(), "1");
    draw();
    board.focus();
    if (name && name !== state.name) {
      state.name = name;
      store("qiyou.name", name);
      refused(await connection.ask("name", { name }));
    }
  });
  at("start-name").addEventListener("input", () => (at("start-name").dataset.touched = "1"));
  at("strip-now").addEventListener("click", () => connection.nudge());
  at("confirm-yes").addEventListener("click", () => state.waiting !== null && touchAt(state.waiting));
  at("confirm-no").addEventListener("click", () => {
    state.waiting = null;
    render();
  });
  at("rematch").addEventListener("click", () => offer("new_game"));
  at("same").addEventListener("click", () => offer("new_game_same"));
  at("continue").addEventListener("click", () => offer("continue"));
  at("review-end").addEventListener("click", endReview);
  for (const element of document.querySelectorAll("[data-language]")) element.addEventListener("click", switchLanguage);
  const named = { left: "left", right: "right", up: "up", down: "down", in: "plus", out: "minus" };
  for (const element of document.querySelectorAll("[data-look]")) {
    const which = element.dataset.look;
    element.append(icon(named[which]));
    const go = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] }[which];
    element.addEventListener("click", () => element.getAttribute("aria-disabled") !== "true" && (go ? lookBy(...go) : zoom(which === "out" ? 1 : -1)));
  }
  for (const element of document.querySelectorAll("[data-review]")) {
    element.append(icon(element.dataset.review));
    element.addEventListener("click", () => element.getAttribute("aria-disabled") !== "true" && reviewStep(element.dataset.review));
  }
  fillActions([
    { name: "undo", icon: "take-back", word: "undo", act: () => offer("take_back") },
    { name: "draw", icon: "draw", word: "draw", act: () => offer("draw") },
    { name: "new", icon: "again", word: "restart", act: newGame },
    { name: "resign", icon: "resign", word: "resign", act: askResign },
    { name: "review", icon: "turn", word: "review", act: () => look(state.room.record.length) },
    { name: "save", icon: "records", word: "saveShort", act: saveFile },
    { name: "say", icon: "say", word: "say", act: () => sayDialog(sayWords) },
    { name: "more", icon: "more", word: "more", act: showMore },
  ]);
  addEventListener("resize", render);
  addEventListener("hashchange", () => location.reload());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !openDialog() && (state.picked !== null || state.waiting !== null)) {
      state.picked = state.waiting = null;
      render();
    }
  });
  setInterval(() => {
    const ticking = state.down || state.room?.clocks.some((clock) => clock.running) || state.room?.race?.my_clock_runs;
    if (ticking && document.visibilityState === "visible") tick();
  }, TICK);
}

/// Only what goes on by itself: clocks and the wait for the connection.
function tick() {
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

// First of all: while the answer is on its way the page is prepared.
if (state.token) connection.open();
state.host = stored(hostKey()) ?? "";
applyTheme();
labelAll();
listen();
render();
