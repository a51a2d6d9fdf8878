// Entry point: receives the host's messages, and connects controls with their actions.
import {
  askResign, endReview, forgetTouches, look, lookBy, newGame, offer, refused, reviewStep, saveFile, sayWords, settle, showRules, touchAt, zoom,
} from "./actions.js";
import { icon } from "./art.js";
import { showClub, takeClub, toEvening } from "./club.js";
import { Connection, store, stored } from "./connection.js";
import { button, closeDialog, moreDialog, openDialog, sayDialog, show as showDialog, text } from "./dialogs.js";
import { announce, remark } from "./news.js";
import { FIRST_ZOOM, movesOf, nearSide, other } from "./points.js";
import { board, draw, tick } from "./shown.js";
import { drawnBy, keyOf, render, state } from "./state.js";
import { at, colourName, fillActions, gameName, isAlone, labelAll, outcome, reason, seatName, taskText, toldText } from "./view.js";
import { isChinese, phrase, say, setChinese, told } from "./words.js";

const TICK = 250;
const SAID_STAYS = 12_000;

// Whoever sits down from the evening keeps the name on its list.
const connection = new Connection(() => ({ token: state.token, tab: tab(), name: state.from ? "" : state.name }), { heard, changed });

/// A random id of this browser, which survives a reload and sleep.
function tab() {
  let kept = stored("qiyou.tab") ?? state.tab;
  if (!/^[\w-]{16,64}$/.test(kept ?? "")) {
    kept = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    state.tab = kept;
    store("qiyou.tab", kept);
  }
  return kept;
}

function hostKey() {
  return `qiyou.host.${state.token.slice(0, 8)}`;
}

function startedKey() {
  return `qiyou.started.${state.token.slice(0, 8)}`;
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
      state.evening = body.as === "evening";
      state.watcher = body.as !== "seat";
      if (body.name) state.name = body.name;
      state.started ||= state.watcher || (Boolean(body.name) && stored(startedKey()) === "1");
      break;
    case "room":
      takeRoom(body);
      break;
    case "club":
      takeClub(body);
      break;
    case "said":
      takeWords(body);
      break;
    default:
      break;
  }
  render();
}

function takeRoom(room) {
  const before = state.room;
  state.room = room;
  state.roomAt = performance.now();
  if (before?.id !== room.id) state.ahead = [];
  if (!room.offer || before?.id !== room.id) state.answered = null;
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
  // An offer of this side that disappears while nothing else changes was declined.
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
  // Spectators have neither side; the name tells which side spoke.
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

// Dialogs

function showMore() {
  const { room } = state;
  const plays = !state.watcher;
  moreDialog(
    [
      room.record.length && !state.review ? { word: "review", act: () => look(room.record.length) } : null,
      { word: "save", act: saveFile, disabled: !state.up },
      isAlone(room) ? null : { word: "flip", act: flipBoard },
      { word: "rules", act: showRules, disabled: !state.up },
      state.club ? { word: "club", act: showClub } : null,
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

// Start

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
  for (const element of document.querySelectorAll("[data-evening]")) element.addEventListener("click", toEvening);
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

state.connection = connection;
drawnBy(draw);
// Connects first: the page is prepared while the answer is on its way.
if (state.token) connection.open();
state.host = stored(hostKey()) ?? "";
applyTheme();
labelAll();
listen();
render();
