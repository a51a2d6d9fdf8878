// SVG drawings: stones, xiangqi pieces, icons. Colours that depend on the theme are classes of style.css.
const SVG = "http://www.w3.org/2000/svg";

/// An SVG element with these attributes and children.
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== "") element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/// An icon from the symbols of index.html.
export function icon(name) {
  return svg("svg", { class: "icon", "aria-hidden": "true", focusable: "false" }, svg("use", { href: `#i-${name}` }));
}

const KINDS = ["stone", "general", "adviser", "elephant", "horse", "chariot", "cannon", "soldier"];
// Traditional characters; each side has its own.
const SIGNS = { first: "帥仕相傌俥炮兵", second: "將士象馬車砲卒" };
const INK = { first: "#A92F21", second: "#221E18" };
const RIVER = "楚河漢界";

let outlines = null;
let loading = null;

/// Loads the glyph outlines of xiangqi pieces, and calls `then` once they can be drawn. Returns true if they are already
/// loaded.
export function needGlyphs(then) {
  if (outlines) return true;
  loading ??= import("./glyphs.js").then((module) => {
    outlines = module;
    const defs = document.getElementById("drawn");
    for (const side of ["first", "second"]) {
      KINDS.slice(1).forEach((kind, index) => defs.append(piece(side, kind, SIGNS[side][index])));
    }
    [...RIVER].forEach((sign, index) => defs.append(svg("path", { id: `river-${index}`, d: outlines.GLYPHS[sign] })));
  });
  loading.then(then, () => (loading = null));
  return false;
}

function piece(side, kind, sign) {
  const ink = INK[side];
  const scale = 52 / outlines.SIZE;
  return svg(
    "symbol",
    { id: `${kind}-${side}`, viewBox: "0 0 100 100" },
    svg("circle", { cx: 50, cy: 50, r: 43, fill: "#F7EBD0", stroke: ink, "stroke-width": 2.6 }),
    svg("circle", { cx: 50, cy: 50, r: 36, fill: "none", stroke: ink, "stroke-width": 1.3 }),
    svg("path", { d: outlines.GLYPHS[sign], fill: ink, transform: `translate(24 24) scale(${scale})` }),
  );
}

/// The four characters of the river, half a cell high; empty before the outlines are loaded.
export function river(left, middle, cell) {
  if (!outlines) return [];
  const scale = (cell * 0.5) / outlines.SIZE;
  return [1.9, 2.56, 5.44, 6.1].map((at, index) => {
    const [x, y] = [left + (at - 0.25) * cell, middle - 0.25 * cell];
    return svg("use", { href: `#river-${index}`, class: "ink", transform: `translate(${x} ${y}) scale(${scale})` });
  });
}

/// The symbol of the piece on a point.
export function symbol(side, kind) {
  return `#${KINDS.includes(kind) ? kind : "stone"}-${side}`;
}

/// A single stone or piece, for a seat or a list.
export function sprite(side, kind) {
  return svg("svg", { class: "sprite", viewBox: "0 0 100 100", "aria-hidden": "true", focusable: "false" }, svg("use", { href: symbol(side, kind) }));
}
