// The player's actions: touches on the board, offers, chat, review. Each is sent to the host, which decides.
import { ask, button, make, show as showDialog, text } from "./dialogs.js";
import { announce, remark } from "./news.js";
import { clamp, meaning, pointAt, pointOf, ZOOMS } from "./points.js";
import { boardLayout, isLive, render, state } from "./state.js";
import { gameName, isAlone } from "./view.js";
import { say, told } from "./words.js";

const FLASH_STAYS = 1_200;
/// Milliseconds for which an action is still shown as sent after its reply, if no new position comes.
const ROOM_FOLLOWS = 1_500;
/// Maximum number of Lights Out presses that wait for the reply to an earlier press.
const MOST_AHEAD = 4;

export function forgetTouches() {
  state.picked = state.waiting = state.sent = null;
  state.ahead = [];
}

/// A touch on a point. `small`: points are smaller than a finger, so a stone is placed by a second tap on the same point.
export function touched(index, small) {
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

export function chosen(index) {
  touchAt(pointAt(boardLayout(), index));
}

export function touchAt(point) {
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

/// Asks before a move that loses at once.
function warn(action, why) {
  const point = "place" in action;
  ask("losing", point ? say("forbidden", why) : say("losing"), say(point ? "forbiddenHint" : "losingHint"), [
    button(say("chooseOther"), null, { kind: "primary" }),
    button(say(point ? "thereAnyway" : "anyway"), () => act(action), { kind: "danger" }),
  ], { sudden: true });
}

function flash(points) {
  state.flash = points ?? [];
  setTimeout(() => {
    state.flash = [];
    render();
  }, FLASH_STAYS);
}

/// Sends an action on the shown position. Presses in Lights Out are queued while an earlier one is unanswered.
export async function act(action) {
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
  const reply = await state.connection.ask("act", {
    room: room.id, ply: room.race ? room.race.my_presses : room.ply, revision: room.revision, action,
  });
  // The new position may have arrived before the reply, or follows it.
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

/// The sent action is settled: sends the next queued press.
export function settle() {
  state.sent = null;
  const next = state.ahead.shift();
  if (next && isLive()) act(next);
  render();
}

export function refused(reply) {
  if (!reply || reply.ok) return;
  flash(reply.points);
  remark(told(reply.words) || say("failed"));
}

export async function offer(kind) {
  const { room } = state;
  refused(await state.connection.ask("offer", { room: room.id, ply: room.race ? room.race.my_presses : room.ply, revision: room.revision, kind }));
}

/// Answers an offer. It is not asked again while the host has it open still, unless the host does not take the answer.
export async function answer(number, accept) {
  const { id } = state.room;
  state.answered = number;
  const reply = await state.connection.ask("answer", { room: id, number, accept });
  if (!reply?.ok && state.answered === number) state.answered = null;
  refused(reply);
  render();
}

export async function sayWords(words) {
  refused(await state.connection.ask("say", words));
}

export async function look(ply) {
  const { room } = state;
  const total = room.record.length;
  if (!total) return;
  const wanted = clamp(ply, 0, total);
  state.looks += 1;
  const mine = state.looks;
  state.review = { ...(state.review ?? { board: null }), ply: wanted, total };
  render();
  const reply = await state.connection.ask("look", { room: room.id, ply: wanted });
  // Only the latest request counts, and none after the review is closed.
  if (mine !== state.looks || !state.review) return;
  if (reply?.kind === "position" && reply.room === state.room.id) {
    state.review = { ply: reply.ply, total: reply.total, board: reply.board };
  } else {
    state.review = null;
    refused(reply);
  }
  render();
}

export function endReview() {
  state.looks += 1;
  state.review = null;
  render();
}

export function reviewStep(where) {
  const { ply, total } = state.review;
  look({ first: 0, left: ply - 1, right: ply + 1, last: total }[where]);
}

export async function saveFile() {
  const reply = await state.connection.ask("file", { room: state.room.id });
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

export async function showRules() {
  const reply = await state.connection.ask("rules", { room: state.room.id });
  if (reply?.kind === "rules") showDialog("rules", gameName(state.room), [text(told(reply.words)), button(say("close"), null, { kind: "primary" })]);
  else refused(reply);
}

export function askResign() {
  const { id, revision } = state.room;
  ask("resign", say("resignTitle"), say("resignHint"), [
    button(say("resign"), async () => refused(await state.connection.ask("resign", { room: id, revision })), { kind: "danger" }),
    button(say("playOn"), null, { kind: "primary" }),
  ]);
}

export function newGame() {
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

export function lookBy(columns, rows) {
  const layout = boardLayout();
  const step = Math.max(1, Math.floor(layout.wide / 2));
  state.part.left = clamp(layout.left + columns * step, 0, layout.columns - layout.wide);
  state.part.top = clamp(layout.top + rows * step, 0, layout.rows - layout.high);
  render();
}

export function zoom(step) {
  state.part.zoom = clamp(state.part.zoom + step, 0, ZOOMS.length - 1);
  render();
}
