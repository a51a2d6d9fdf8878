// The page's state: what the host has sent, and what is selected and reviewed locally. Rendering depends on this state
// alone.
import { stored } from "./connection.js";
import { FIRST_ZOOM, layoutOf } from "./points.js";

const FROM = "qiyou.evening";

/// The token of the evening from which the seat of this token was taken in this tab, or null.
function eveningOf(seat) {
  try {
    const [known, evening] = (sessionStorage.getItem(FROM) ?? "").split(" ");
    return evening && known === seat ? evening : null;
  } catch {
    return null;
  }
}

/// Notes the evening from which a seat is taken, for as long as the tab is open.
export function comesFrom(seat, evening) {
  try {
    sessionStorage.setItem(FROM, `${seat} ${evening}`);
  } catch {
    // Without storage the browser's own way back leads there.
  }
}

export const state = {
  token: location.hash.slice(1),
  name: stored("qiyou.name") ?? "",
  // The connection.
  up: false, ended: null, taken: null, down: null,
  // From the welcome message.
  host: "", watcher: false, started: false,
  room: null, roomAt: 0,
  // The club evening of which the room is a game, or at which the page looks: then `evening` is true.
  club: null, evening: false,
  // The token of the evening from which this seat was taken, or null.
  from: eveningOf(location.hash.slice(1)),
  // For the position `key`: selected point, point awaiting a second tap, action sent without a reply, queued presses.
  key: "", picked: null, waiting: null, sent: null, stone: null, ahead: [], flash: [],
  // The review: {ply, total, board, room}.
  review: null, looks: 0,
  said: { first: "", second: "" }, saidNumber: 0,
  flipped: false, part: { left: 0, top: 0, zoom: FIRST_ZOOM }, coordinates: stored("qiyou.coordinates") !== "off",
  // The numbers of the offer that is shown, and of the one that is answered while it is open still.
  shown: null, answered: null,
  /// The connection to the host.
  connection: null,
};

let draw = () => {};
let due = false;

/// Sets the function that renders the page; called once.
export function drawnBy(run) {
  draw = run;
}

/// Renders the page at the end of the present event.
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

/// The stone that a touch would place, as it is drawn.
export function nextStone() {
  const { touch } = state.room.board;
  return isLive() && touch.kind === "place" && (touch.stone === "first" || touch.stone === "second") ? touch.stone : null;
}
