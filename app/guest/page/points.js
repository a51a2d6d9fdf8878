// Turns the host's board into what is drawn: the visible part and its orientation, the piece and marks of each point, its
// label, and the meaning of a touch. Computes no rule: the host sends the meaning of touches.
import { isChinese, say, told } from "./words.js";

// On the wire a point is row * 1024 + column, with the row counted from the bottom.
const ROW_STEP = 1024;

/// Selectable numbers of lights per row, as in the app.
export const ZOOMS = [8, 12, 20, 28, 40];
export const FIRST_ZOOM = 2;

export function other(side) {
  return side === "first" ? "second" : "first";
}

/// The side at the lower edge: the side played here, otherwise the first.
export function nearSide(room) {
  return room.you === "second" ? "second" : "first";
}

/// The layout of the visible points: index 0 is at the top left. `part` is {left, top, zoom}, for boards of lights.
export function layoutOf(room, board, flipped, part) {
  const columns = Math.max(1, board.columns);
  const rows = Math.max(1, board.rows);
  // A xiangqi board is turned so that the player's side is below; other boards have no direction.
  const across = board.game === "xiangqi" && nearSide(room) === "second";
  const most = board.game === "lights_out" ? ZOOMS[part.zoom] : Infinity;
  const wide = Math.min(columns, most);
  const high = Math.min(rows, most);
  const left = clamp(part.left, 0, columns - wide);
  const top = clamp(part.top, 0, rows - high);
  return { columns, rows, wide, high, left, top, turned: across !== flipped };
}

export function clamp(value, least, most) {
  return Math.max(least, Math.min(most, value));
}

/// The point on the wire for an index.
export function pointAt(layout, index) {
  const [column, row] = placeOf(layout, index);
  return row * ROW_STEP + column;
}

/// The index of a point; -1 if it is not visible.
export function indexOf(layout, at) {
  const [row, column] = [Math.floor(at / ROW_STEP), at % ROW_STEP];
  if (row >= layout.rows || column >= layout.columns) return -1;
  const x = (layout.turned ? layout.columns - 1 - column : column) - layout.left;
  const y = (layout.turned ? row : layout.rows - 1 - row) - layout.top;
  return x >= 0 && y >= 0 && x < layout.wide && y < layout.high ? y * layout.wide + x : -1;
}

/// Column and row from the bottom left.
function placeOf(layout, index) {
  const x = layout.left + (index % layout.wide);
  const y = layout.top + Math.floor(index / layout.wide);
  return layout.turned ? [layout.columns - 1 - x, y] : [x, layout.rows - 1 - y];
}

/// The point of an action, if it has one.
export function pointOf(action) {
  if (!action) return null;
  if (action.step) return action.step[1];
  return action.place ?? action.capture ?? action.press ?? action.toggle ?? null;
}

/// A column in players' notation: A, B, … Z, AA; Go leaves out I.
function columnName(game, column) {
  if (game === "go" && column >= 8 && column < 25) column += 1;
  let name = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

/// The files of xiangqi, which each side counts from its own right: Chinese uses Chinese numerals for Red and Arabic ones
/// for Black.
function fileNames(second) {
  return [...(second || !isChinese() ? "987654321" : "九八七六五四三二一")];
}

/// Coordinates at the edges: below the board, above it, left of it.
export function edgeNames(game, layout) {
  if (game === "lights_out") return { below: [], above: [], left: [] };
  if (game === "xiangqi") {
    return { below: fileNames(layout.turned), above: fileNames(!layout.turned).reverse(), left: [] };
  }
  const below = Array.from({ length: layout.columns }, (_, column) => columnName(game, column));
  const left = Array.from({ length: layout.rows }, (_, row) => String(layout.rows - row));
  return layout.turned ? { below: below.reverse(), above: [], left: left.reverse() } : { below, above: [], left };
}

/// A point in players' notation.
function pointName(game, layout, index) {
  const [column, row] = placeOf(layout, index);
  if (game === "xiangqi") {
    const file = fileNames(layout.turned)[index % layout.wide];
    return say("filePoint", file, layout.rows - Math.floor(index / layout.wide));
  }
  if (game === "lights_out") return say("lamp", column + 1, layout.rows - row);
  return `${columnName(game, column)}${row + 1}`;
}

const MARKS = {
  winning: "winning", formation: "formation", captured: "captured", target: "target", check: "check", ko: "ko", dead: "dead",
  press: "hint", forbidden: "forbidden", fault: "fault", taken: "takenHere", checker: "checker", helper: "helper",
};

/// The drawing of a board. `more` contains local state: the picked, waiting and flashing points, and the colour of a waiting
/// stone.
export function pointsOf(board, layout, more = {}) {
  const points = Array.from({ length: layout.wide * layout.high }, (_, index) => {
    const point = { name: pointName(board.game, layout, index) };
    if (board.game === "lights_out") {
      const [column, row] = placeOf(layout, index);
      point.lamp = board.lights[row]?.[column] === "1" ? 2 : 1;
    }
    return point;
  });
  const mark = (at, key, value = true) => {
    const index = indexOf(layout, at);
    if (index >= 0) points[index][key] = value;
  };
  for (const { at, side, kind } of board.pieces) {
    mark(at, "side", side);
    mark(at, "kind", kind);
  }
  for (const { at, side, kind } of board.marks) {
    if (kind === "territory") mark(at, "territory", side);
    else if (kind === "target") mark(at, "target", 2);
    else if (kind === "offered") mark(at, "target", 1);
    else if (MARKS[kind]) mark(at, MARKS[kind]);
  }
  const last = pointOf(board.last);
  if (last !== null) mark(last, "last");
  if (board.last?.step) {
    const [from, to] = board.last.step;
    mark(from, "left");
    const [start, end] = [indexOf(layout, from), indexOf(layout, to)];
    if (start >= 0 && end >= 0) {
      points[end].slide = [(start % layout.wide) - (end % layout.wide), Math.floor(start / layout.wide) - Math.floor(end / layout.wide)];
    }
  }
  if (Number.isInteger(more.picked)) {
    mark(more.picked, "picked");
    for (const [from, to] of board.steps) {
      if (from === more.picked) {
        const index = indexOf(layout, to);
        if (index >= 0) points[index].target = points[index].side ? 2 : 1;
      }
    }
  }
  for (const at of more.flash ?? []) mark(at, "flash");
  if (Number.isInteger(more.waiting)) mark(more.waiting, "waiting", more.stone);
  if (Number.isInteger(more.sent)) mark(more.sent, "sent", more.stone);
  return points;
}

/// The accessible label of a point.
export function pointLabel(game, point) {
  const words = [point.name];
  if (point.lamp) words.push(say(point.lamp === 2 ? "lit" : "unlit"));
  else if (!point.side) words.push(say("empty"));
  else if (point.kind === "stone") words.push(say(point.side === "first" ? "black" : "white"));
  else words.push(say(point.side === "first" ? "redPiece" : "blackPiece", say(point.kind)));
  for (const key of ["last", "winning", "formation", "picked", "check", "checker", "helper", "takenHere"]) {
    if (point[key]) words.push(say(key === "check" ? "inCheck" : key));
  }
  if (point.target) words.push(say("possible"));
  if (point.dead || point.captured) words.push(say("deadStone"));
  if (point.forbidden) words.push(say("forbiddenPoint"));
  if (point.waiting) words.push(say("waitsHere"));
  if (point.territory) words.push(say("territoryOf", say(point.territory === "first" ? "black" : "white")));
  return words.join(isChinese() ? "，" : ", ");
}

/// The meaning of a touch at this point, from what the host sent with the position: {act}, {pick}, {putDown}, {pickFirst},
/// {stuck}, {warn, words} or {}.
export function meaning(board, picked, at) {
  const { touch } = board;
  const place = { place: at };
  switch (touch.kind) {
    case "choose":
      return { act: place };
    case "place": {
      const warning = touch.warnings.find((one) => one.at === at);
      return warning ? { warn: place, words: warning.words } : { act: place };
    }
    case "capture":
    case "toggle":
    case "press":
      return { act: { [touch.kind]: at } };
    case "step": {
      const stuck = touch.stuck.find((one) => one.at === at);
      if (stuck) return { stuck };
      const own = board.pieces.some((piece) => piece.at === at && piece.side === board.turn);
      if (picked === at) return { putDown: true };
      if (own) return { pick: at };
      if (!Number.isInteger(picked)) return { pickFirst: true };
      const step = [picked, at];
      const loses = board.losing_steps.some(([from, to]) => from === picked && to === at);
      return loses ? { warn: { step } } : { act: { step } };
    }
    default:
      return {};
  }
}

/// The number of the position's fact of this kind, or null.
export function fact(board, kind, side = "unspecified") {
  const found = board.facts.find((one) => one.kind === kind && one.side === side);
  return found ? found.number : null;
}

/// The words of the position's fact of this kind.
export function factWords(board, kind) {
  return told(board.facts.find((one) => one.kind === kind)?.words);
}

/// A move in notation, with its points written as at the board's edge: h8 as H8, xa6 as xA6.
export function written(notation) {
  return notation.replace(/[a-z](?=\d)/g, (letter) => letter.toUpperCase());
}

/// The moves so far, in players' notation if the host sends it.
export function movesOf(room) {
  const spoken = room.spoken.length === room.record.length ? room.spoken : [];
  return room.record.map((notation, index) => (spoken[index] ? told(spoken[index]) : written(notation)));
}
