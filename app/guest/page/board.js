// A board of points, without knowledge of any game: pieces and marks come in, touched points go out. The drawing uses device
// pixels, for crisp lines; a transparent grid of cells over it serves screen readers and the keyboard.
import { river, svg, symbol } from "./art.js";

/// With fewer CSS pixels between points than this, a finger may miss its point: about 5 mm, as for 9 x 9 on a phone.
const HIT = 30;

export class BoardView {
  #host;
  #calls;
  #view = null;
  #size = null;
  #drawn = "";
  #picture = svg("svg", { "aria-hidden": "true", focusable: "false" });
  #ground = svg("g");
  #things = svg("g");
  #aim = svg("g", { class: "aim" });
  #grid = document.createElement("div");
  #cells = [];
  #columns = 0;
  #cursor = 0;
  #finger = null;
  #handledAt = -Infinity;

  /// `calls`: touched(index, small) for a finger or pointer, `small` if it may have missed the point; chosen(index) for a
  /// key, a screen reader or a slide to the point; beyond(columns, rows) when the cursor would leave the visible part.
  constructor(host, calls) {
    this.#host = host;
    this.#calls = calls;
    this.#picture.append(this.#ground, this.#things, this.#aim);
    this.#grid.className = "points";
    host.classList.toggle("pointed", matchMedia("(hover: none)").matches);
    this.#grid.setAttribute("role", "grid");
    this.#grid.setAttribute("aria-describedby", "board-help");
    host.append(this.#picture, this.#grid);
    host.addEventListener("pointerdown", (event) => this.#down(event));
    host.addEventListener("pointermove", (event) => this.#move(event));
    host.addEventListener("pointerup", (event) => this.#up(event));
    host.addEventListener("pointercancel", () => this.#cancel());
    host.addEventListener("contextmenu", (event) => event.preventDefault());
    // The focus stays where it is; a tap does not move a hidden cursor.
    host.addEventListener("mousedown", (event) => event.preventDefault());
    this.#grid.addEventListener("click", (event) => this.#click(event));
    this.#grid.addEventListener("keydown", (event) => this.#key(event));
    // While the page is magnified, one finger pans it.
    window.visualViewport?.addEventListener("resize", () => host.classList.toggle("magnified", visualViewport.scale > 1.05));
  }

  get element() {
    return this.#host;
  }

  /// Moves the keyboard focus to the board, to the last move if there is one.
  focus() {
    this.#cells[this.#cursor]?.focus();
  }

  /// `view`: ground (lines, river or lights), columns, rows, points with labels, names (below, above, left), lines ([from,
  /// to] as indices), live, label, readOnly, next (colour of the stone that a touch would place, or null), moved (changes
  /// may be animated).
  show(view, width, height) {
    const before = this.#view;
    this.#view = view;
    const size = measure(view, width, height);
    const same = this.#size && Object.keys(size).every((key) => size[key] === this.#size[key]);
    this.#size = size;
    const grounded = !same || !before || groundKey(before) !== groundKey(view);
    if (grounded) this.#drawGround();
    // Drawn again, the same things would end what is moving.
    const things = JSON.stringify([view.points, view.lines]);
    if (grounded || view.moved || things !== this.#drawn) this.#drawThings(before);
    this.#drawn = things;
    this.#drawCells();
    this.#host.classList.toggle("live", view.live);
    if (!view.live) this.#cancel();
  }

  #drawGround() {
    const { ground, columns, rows, names } = this.#view;
    const { cell, left, top, wide, high, ratio } = this.#size;
    const host = this.#host;
    host.style.width = `${wide / ratio}px`;
    host.style.height = `${high / ratio}px`;
    host.dataset.ground = ground;
    for (const [key, value] of Object.entries({ viewBox: `0 0 ${wide} ${high}`, width: wide / ratio, height: high / ratio })) {
      this.#picture.setAttribute(key, value);
    }
    this.#grid.style.left = `${(left - cell / 2) / ratio}px`;
    this.#grid.style.top = `${(top - cell / 2) / ratio}px`;
    host.style.setProperty("--cell", `${cell / ratio}px`);
    const parts = ground === "lights" ? [] : lines(this.#view, this.#size);
    const fontSize = Math.min(14 * ratio, Math.max(8 * ratio, cell * 0.36));
    const name = (text, x, y) => svg("text", { x, y, class: "edge", "font-size": fontSize }, text);
    const bottom = top + cell * (rows - 1);
    names.below.forEach((text, column) => parts.push(name(text, left + column * cell, (bottom + cell * 0.48 + high) / 2)));
    names.above.forEach((text, column) => parts.push(name(text, left + column * cell, (top - cell * 0.48) / 2)));
    names.left.forEach((text, row) => parts.push(name(text, (left - cell * 0.46) / 2, top + row * cell)));
    if (ground === "river") parts.push(...river(left, top + cell * ((rows - 1) / 2), cell));
    this.#ground.replaceChildren(...parts);
    this.#columns = columns;
  }

  #drawThings(before) {
    const { points, columns, lines: strokes, ground, moved } = this.#view;
    const { cell, left, top } = this.#size;
    const parts = [];
    // Pieces that the last change removed fade out; a piece that moved is not removed.
    if (moved && before && before.points.length === points.length) {
      before.points.forEach((old, index) => {
        const now = points[index];
        if (old.side && now.side !== old.side && !now.left) parts.push(this.#thing(index, old, "leaving"));
      });
    }
    const [x, y] = [(index) => left + (index % columns) * cell, (index) => top + Math.floor(index / columns) * cell];
    points.forEach((point, index) => {
      if (ground === "lights") parts.push(...lamp(point, x(index), y(index), cell));
      if (point.side) {
        const how = !moved ? "" : point.slide ? "sliding" : point.last ? "fresh" : "";
        parts.push(this.#thing(index, point, how));
      }
      parts.push(...marks(point, x(index), y(index), cell));
    });
    for (const [from, to] of strokes) {
      parts.push(svg("line", {
        x1: x(from), y1: y(from), x2: x(to), y2: y(to), class: "formed", "stroke-width": Math.max(3, cell * 0.09), pathLength: 1,
      }));
    }
    points.forEach((point, index) => {
      if (point.waiting) parts.push(...this.#cross(index), this.#ghost(index, point.waiting));
      if (point.sent) parts.push(this.#ghost(index, point.sent));
    });
    this.#things.replaceChildren(...parts);
  }

  /// The drawing of the piece on a point.
  #thing(index, { side, kind, dead, captured, slide }, how) {
    const { cell, left, top } = this.#size;
    const columns = this.#view.columns;
    const half = Math.floor(cell / 2);
    const x = left + (index % columns) * cell - half;
    const y = top + Math.floor(index / columns) * cell - half;
    const use = svg("use", { href: symbol(side, kind), x, y, width: cell, height: cell, class: `${how}${dead || captured ? " faint" : ""}`.trim() });
    if (how === "sliding") {
      use.style.setProperty("--x", `${slide[0] * cell}px`);
      use.style.setProperty("--y", `${slide[1] * cell}px`);
    } else if (how === "fresh") {
      use.style.transformOrigin = `${x + half}px ${y + half}px`;
    }
    return use;
  }

  #ghost(index, side) {
    const use = this.#thing(index, { side, kind: "stone" }, "");
    use.setAttribute("class", "ghost");
    return use;
  }

  /// The grid lines through a point.
  #cross(index) {
    const { cell, left, top, ratio } = this.#size;
    const { columns, rows } = this.#view;
    const [x, y] = [left + (index % columns) * cell, top + Math.floor(index / columns) * cell];
    return [
      svg("path", { class: "cross", "stroke-width": 2 * ratio, d: `M${left} ${y}h${cell * (columns - 1)}M${x} ${top}v${cell * (rows - 1)}` }),
    ];
  }

  #drawAim() {
    const finger = this.#finger;
    if (!finger || finger.index < 0) {
      this.#aim.replaceChildren();
      return;
    }
    const { ground, next, columns } = this.#view;
    const { cell, left, top, ratio } = this.#size;
    if (ground === "lights") {
      const [x, y] = [left + (finger.index % columns) * cell - cell / 2, top + Math.floor(finger.index / columns) * cell - cell / 2];
      this.#aim.replaceChildren(svg("rect", { class: "pressing", x, y, width: cell, height: cell, rx: cell * 0.24, "stroke-width": 2 * ratio }));
    } else {
      this.#aim.replaceChildren(...this.#cross(finger.index), ...(next ? [this.#ghost(finger.index, next)] : []));
    }
  }

  /// The cells: an accessible grid with a roving tabindex.
  #drawCells() {
    const { points, columns, rows, label, readOnly } = this.#view;
    if (this.#cells.length !== points.length || this.#grid.childElementCount !== rows) {
      const held = this.#grid.contains(document.activeElement);
      this.#cells = [];
      const all = Array.from({ length: rows }, () => {
        const row = document.createElement("div");
        row.setAttribute("role", "row");
        for (let column = 0; column < columns; column += 1) {
          const cell = document.createElement("div");
          cell.setAttribute("role", "gridcell");
          cell.tabIndex = -1;
          this.#cells.push(cell);
          row.append(cell);
        }
        return row;
      });
      this.#grid.replaceChildren(...all);
      this.#cursor = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
      this.#cells[this.#cursor].tabIndex = 0;
      if (held) this.focus();
    }
    set(this.#grid, "aria-label", label);
    set(this.#grid, "aria-readonly", readOnly ? "true" : null);
    points.forEach((point, index) => {
      const cell = this.#cells[index];
      set(cell, "aria-label", point.label);
      set(cell, "aria-selected", point.picked ? "true" : null);
    });
  }

  /// Moves the cursor, and the keyboard focus with it.
  #go(index) {
    this.#cells[this.#cursor].tabIndex = -1;
    this.#cursor = index;
    this.#cells[index].tabIndex = 0;
    this.#cells[index].focus();
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    this.#host.classList.remove("pointed");
    const { columns, rows, live } = this.#view;
    const [x, y] = [this.#cursor % columns, Math.floor(this.#cursor / columns)];
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      const [toX, toY] = [x + step[0], y + step[1]];
      if (toX < 0 || toY < 0 || toX >= columns || toY >= rows) this.#calls.beyond(...step);
      else this.#go(toY * columns + toX);
    } else if (event.key === "Home") this.#go(y * columns);
    else if (event.key === "End") this.#go(y * columns + columns - 1);
    else if (event.key === "PageUp") this.#go(x);
    else if (event.key === "PageDown") this.#go((rows - 1) * columns + x);
    else if (event.key === "Enter" || event.key === " ") {
      if (live && !event.repeat) this.#calls.chosen(this.#cursor);
    } else return;
    event.preventDefault();
  }

  /// A click by a screen reader, without a pointer event.
  #click(event) {
    if (performance.now() - this.#handledAt < 700) return;
    const index = this.#cells.indexOf(event.target.closest("[role=gridcell]"));
    if (index >= 0 && this.#view.live) this.#calls.chosen(index);
  }

  #indexUnder(event) {
    const { cell, left, top, ratio } = this.#size;
    const { columns, rows } = this.#view;
    const box = this.#host.getBoundingClientRect();
    const x = ((event.clientX - box.left) * ratio - left) / cell;
    const y = ((event.clientY - box.top) * ratio - top) / cell;
    // A touch more than two points beyond the edge has no target.
    if (x < -2 || y < -2 || x > columns + 1 || y > rows + 1) return -1;
    const [column, row] = [Math.round(x), Math.round(y)].map((at, axis) => Math.max(0, Math.min((axis ? rows : columns) - 1, at)));
    return row * columns + column;
  }

  #down(event) {
    if (!this.#view) return;
    // The cursor is hidden while a pointer is in use.
    this.#host.classList.add("pointed");
    if (!event.isPrimary || event.button !== 0) {
      // A second finger starts a pinch zoom of the page.
      this.#cancel();
      return;
    }
    this.#handledAt = performance.now();
    if (!this.#view.live || this.#host.classList.contains("magnified")) {
      this.#finger = { from: [event.clientX, event.clientY], index: -1, id: event.pointerId };
      return;
    }
    this.#host.setPointerCapture?.(event.pointerId);
    this.#finger = { from: [event.clientX, event.clientY], index: this.#indexUnder(event), id: event.pointerId };
    this.#drawAim();
  }

  #move(event) {
    if (!this.#finger || this.#finger.id !== event.pointerId || this.#finger.index < 0) return;
    const index = this.#indexUnder(event);
    if (index !== this.#finger.index && index >= 0) {
      this.#finger.index = index;
      this.#drawAim();
    }
  }

  #up(event) {
    const finger = this.#finger;
    if (!finger || finger.id !== event.pointerId) return;
    this.#cancel();
    this.#handledAt = performance.now();
    const index = this.#indexUnder(event);
    if (!this.#view.live || index < 0) return;
    const { cell, ratio } = this.#size;
    const slid = Math.abs(event.clientX - finger.from[0]) + Math.abs(event.clientY - finger.from[1]);
    // A slide to the point is deliberate; a mouse is precise.
    const exact = event.pointerType === "mouse" || slid * ratio > cell;
    this.#place(index);
    if (exact) this.#calls.chosen(index);
    else this.#calls.touched(index, cell / ratio < HIT);
  }

  /// Moves the cursor to a tapped point, without taking the keyboard focus.
  #place(index) {
    const held = this.#grid.contains(document.activeElement);
    if (held) this.#go(index);
    else {
      this.#cells[this.#cursor].tabIndex = -1;
      this.#cursor = index;
      this.#cells[index].tabIndex = 0;
    }
  }

  #cancel() {
    this.#finger = null;
    this.#aim.replaceChildren();
  }
}

function set(element, name, value) {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

function groundKey({ ground, columns, rows, names, glyphs }) {
  return JSON.stringify([ground, columns, rows, names, glyphs]);
}

/// Margins around the outer points, in cells: space for the coordinates.
function margins({ ground, names }) {
  if (ground === "lights") return [0.6, 0.6];
  return [names.left.length ? 0.98 : 0.72, names.below.length ? 0.98 : 0.72];
}

/// Aspect ratio (width to height) of a board without empty borders.
export function aspect(view) {
  const [x, y] = margins(view);
  return (view.columns - 1 + 2 * x) / (view.rows - 1 + 2 * y);
}

/// The layout in whole device pixels, for the given space in CSS pixels.
function measure(view, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [x, y] = margins(view);
  const cell = Math.max(1, Math.floor(Math.min((width * ratio) / (view.columns - 1 + 2 * x), (height * ratio) / (view.rows - 1 + 2 * y))));
  const wide = Math.floor(Math.min(width, height * aspect(view)) * ratio);
  const high = Math.floor(wide / aspect(view));
  const left = Math.floor((wide - cell * (view.columns - 1)) / 2);
  const top = Math.floor((high - cell * (view.rows - 1)) / 2);
  return { cell, left, top, wide, high, ratio };
}

/// Star points, as on a printed board.
function stars(columns, rows) {
  if (columns !== rows || columns < 7) return [];
  const near = columns < 13 ? 2 : 3;
  const [far, middle] = [columns - 1 - near, Math.floor(columns / 2)];
  const found = [[near, near], [near, far], [far, near], [far, far]];
  if (columns % 2) found.push([middle, middle]);
  if (columns === 19) found.push([near, middle], [far, middle], [middle, near], [middle, far]);
  return found;
}

/// The grid lines, in whole device pixels.
function lines({ ground, columns, rows }, { cell, left, top, ratio }) {
  const isRiver = ground === "river";
  const thin = isRiver ? Math.max(1, Math.floor(cell / 44)) : Math.max(1, Math.min(2 + Math.floor(cell / 100), Math.floor(cell / 21)));
  const edge = isRiver ? thin : thin + Math.floor((thin + 1) / 2);
  const [right, bottom] = [left + cell * (columns - 1), top + cell * (rows - 1)];
  const parts = [];
  const box = (x, y, width, height) => parts.push(svg("rect", { x, y, width, height }));
  const half = (thick) => Math.floor(thick / 2);
  // The river lies between the two middle rows; only the outer lines cross it.
  const bank = top + cell * Math.floor((rows - 1) / 2);
  const farBank = top + cell * Math.floor(rows / 2);
  for (let column = 0; column < columns; column += 1) {
    const outer = column === 0 || column === columns - 1;
    const thick = outer ? edge : thin;
    const x = left + column * cell - half(thick);
    if (isRiver && !outer) {
      box(x, top - half(edge), thick, bank - top + edge);
      box(x, farBank - half(edge), thick, bottom - farBank + edge);
    } else {
      box(x, top - half(edge), thick, bottom - top + edge);
    }
  }
  for (let row = 0; row < rows; row += 1) {
    const thick = row === 0 || row === rows - 1 ? edge : thin;
    box(left - half(edge), top + row * cell - half(thick), right - left + edge, thick);
  }
  const crisp = svg("g", { class: "ink", "shape-rendering": "crispEdges" }, ...parts);
  const rest = [];
  if (isRiver) {
    const middle = left + cell * Math.floor(columns / 2);
    for (const first of [top, bottom - 2 * cell]) {
      const [west, east, last] = [middle - cell, middle + cell, first + 2 * cell];
      rest.push(svg("path", { class: "palace", "stroke-width": Math.max(thin, ratio / 2), d: `M${west} ${first}L${east} ${last}M${east} ${first}L${west} ${last}` }));
    }
  } else {
    for (const [column, row] of stars(columns, rows)) {
      rest.push(svg("circle", { class: "ink", cx: left + column * cell, cy: top + row * cell, r: cell * 0.14 }));
    }
  }
  return [crisp, ...rest];
}

function lamp(point, x, y, cell) {
  const gap = Math.max(1, Math.round(cell * 0.05));
  const size = cell - 2 * gap;
  const half = Math.floor(cell / 2);
  const parts = [svg("rect", { class: point.lamp === 2 ? "lit" : "unlit", x: x - half + gap, y: y - half + gap, width: size, height: size, rx: cell * 0.2 })];
  if (point.hint) parts.push(ring("press", x, y, cell, 0.62, 0.14));
  return parts;
}

function ring(name, x, y, cell, part = 0.9, thick = 0.1) {
  const width = Math.max(2, cell * thick);
  return svg("circle", { class: `ring ${name}`, cx: x, cy: y, r: Math.max(1, (cell * part - width) / 2), "stroke-width": width });
}

function spot(name, x, y, cell, part) {
  return svg("circle", { class: `spot ${name}`, cx: x, cy: y, r: Math.max(3, Math.round((cell * part) / 2)) });
}

/// The marks of a point, besides its piece.
function marks(point, x, y, cell) {
  const parts = [];
  const square = (name, part, thick) => {
    const size = cell * part;
    parts.push(svg("rect", { class: name, x: x - size / 2, y: y - size / 2, width: size, height: size, "stroke-width": thick }));
  };
  if (point.territory) square(`territory ${point.territory}`, 0.34, 1);
  if (point.ko) square("ko", 0.44, Math.max(2, cell * 0.06));
  if (point.formation || point.winning) parts.push(ring("good", x, y, cell));
  if (point.check) parts.push(ring("bad", x, y, cell, 1, 0.1));
  if (point.checker) parts.push(ring("bad", x, y, cell, 1, 0.06));
  if (point.helper && !point.picked) parts.push(ring("jade", x, y, cell, 1, 0.06));
  if (point.flash) parts.push(ring("bad flash", x, y, cell, 1, 0.1));
  if (point.left) parts.push(ring("bad", x, y, cell, 0.3, 0.05));
  if (point.fault) parts.push(ring("bad", x, y, cell));
  if (point.captured || point.takenHere || point.forbidden) {
    const reach = cell * (point.forbidden ? 0.14 : 0.24);
    parts.push(svg("path", {
      class: "times", "stroke-width": Math.max(1.5, cell * 0.06),
      d: `M${x - reach} ${y - reach}L${x + reach} ${y + reach}M${x + reach} ${y - reach}L${x - reach} ${y + reach}`,
    }));
  }
  if (point.target === 1) parts.push(spot("jade", x, y, cell, 0.24));
  if (point.target === 2) parts.push(ring("jade", x, y, cell, 1, 0.08));
  if (point.picked) {
    const size = cell * 1.02;
    parts.push(svg("rect", { class: "picked", x: x - size / 2, y: y - size / 2, width: size, height: size, rx: cell * 0.1, "stroke-width": Math.max(2, cell * 0.05) }));
  }
  if (point.last) {
    // On a piece the mark is drawn at the upper right, so that the character stays readable.
    const shoulder = point.kind && point.kind !== "stone";
    parts.push(shoulder ? spot("last", x + cell * 0.35, y - cell * 0.37, cell, 0.22) : spot("last", x, y, cell, point.lamp ? 0.26 : 0.34));
  }
  return parts;
}
