// What the host has said, and what is picked and looked at here. What is seen follows from it.
import { stored } from "./connection.js";
import { FIRST_ZOOM, layoutOf } from "./points.js";

export const state = {
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
  /// The way to the host.
  connection: null,
};

let draw = () => {};
let due = false;

/// What draws the page, set once.
export function drawnBy(run) {
  draw = run;
}

/// Draws the page once this turn is over.
export function render() {
  if (due) return;
  due = true;
  queueMicrotask(() => {
    due = false;
    draw();
  });
}

export function keyOf(room) {
  return `${room.id} ${room.ply} ${room.revision} ${room.race?.my_presses ?? ""}`;
}

export function isLive() {
  const { room } = state;
  return state.up && Boolean(room?.can_act) && !state.review && (state.sent === null || room.board.touch.kind === "press");
}

export function boardLayout() {
  const { room } = state;
  return layoutOf(room, state.review?.board ?? room.board, state.flipped, state.part);
}

/// The stone that a touch would put, as it looks.
export function nextStone() {
  const { touch } = state.room.board;
  return isLive() && touch.kind === "place" && (touch.stone === "first" || touch.stone === "second") ? touch.stone : null;
}
