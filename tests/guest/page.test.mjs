// What the page's files are, without a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { parse } from "acorn";
import { PAGE } from "./stage.mjs";
import { ALL, PHRASES } from "./words.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (path) => readFileSync(join(ROOT, path), "utf8");
const files = Object.fromEntries(readdirSync(PAGE).map((name) => [name, readFileSync(join(PAGE, name))]));
const text = (name) => files[name].toString("utf8");
const scripts = Object.keys(files).filter((name) => name.endsWith(".js"));

/// Bytes of all files as they go over the wire.
const MOST_BYTES = 120 * 1024;

test("the whole page is below 120 KB on the wire", () => {
  const sizes = Object.entries(files).map(([name, bytes]) => [name, gzipSync(bytes, { level: 9 }).length]);
  const whole = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.log(`guest page: ${whole} bytes gzip in ${sizes.length} files; ${whole - sizes.find(([name]) => name === "glyphs.js")[1]} without xiangqi's characters`);
  assert.ok(sizes.length > 8 && whole > 10_000 && whole < MOST_BYTES, JSON.stringify(sizes));
});

test("nothing in the page comes from another address, and nothing needs what its policy forbids", () => {
  for (const [name, bytes] of Object.entries(files)) {
    const all = bytes.toString("utf8").replaceAll("http://www.w3.org/2000/svg", "");
    assert.doesNotMatch(all, /https?:\/\/[\w]|(?<![:\w])\/\/[a-z]+\.[a-z]/, name);
    assert.doesNotMatch(all, /\bdata:|@import|\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write\b/, name);
  }
  // A style that is set as an attribute is refused; one that is set as a property is not.
  for (const name of scripts) assert.doesNotMatch(text(name), /setAttribute\(\s*["'`]style|["'{,\s]style:\s*["'`]|javascript:|set(?:Timeout|Interval)\(\s*["'`]|new (?:Shared)?Worker\b/, name);
  const html = text("index.html");
  assert.doesNotMatch(html, /\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)|javascript:|<base|<i?frame|<object|<embed|\saction=/);
  const addresses = [...html.matchAll(/(?:src|href)="([^"#]+)"/g), ...text("style.css").matchAll(/url\(["']?([^"')#]+)/g)].map(([, address]) => address);
  assert.ok(addresses.length > 10);
  for (const address of addresses) assert.ok(address in files, address);
});

test("every module that is loaded is there, and those of the first board are loaded ahead", () => {
  const wanted = scripts.flatMap((name) => [...text(name).matchAll(/(?:from|import\()\s*"\.\/([^"]+)"/g)].map(([, one]) => one));
  assert.ok(wanted.length > 10);
  for (const name of wanted) assert.ok(name in files, name);
  const ahead = [...text("index.html").matchAll(/modulepreload" href="([^"]+)"/g)].map(([, one]) => one);
  assert.deepEqual(new Set([...ahead, "main.js", "glyphs.js"]), new Set(scripts));
});

/// Words of this enum of the schema, as the host says them.
function words(schema, name, prefix) {
  const [, body] = read(`proto/schema/${schema}.proto`).match(new RegExp(`enum ${name} \\{([\\s\\S]*?)\\n\\}`));
  return [...body.matchAll(new RegExp(`${prefix}(\\w+) =`, "g"))].map(([, one]) => one.toLowerCase()).filter((one) => one !== "unspecified");
}

test("every sentence is there in both languages, with the same things put in, and none is idle", () => {
  const names = Object.keys(ALL);
  assert.ok(names.length > 150, String(names.length));
  const holes = (said) => [...new Set(said.match(/\{\d\}/g) ?? [])].sort();
  // What is named by what the host says, and by a colour.
  const games = words("board", "Game", "GAME_");
  const endings = words("board", "Ending", "ENDING_");
  const colours = ["Black", "White", "Red"];
  const made = new Set([
    ...games, ...endings, ...endings.flatMap((ending) => games.map((game) => `${ending}.${game}`)), ...words("control", "PieceKind", "PIECE_"),
    ...colours.flatMap((colour) => [`plays${colour}`, `next${colour}`, `${colour.toLowerCase()}Won`, `${colour.toLowerCase()}Resigned`]),
  ]);
  assert.ok(games.length === 5 && endings.length > 20 && made.has("soldier"), [...made].join());
  for (const game of games) assert.ok(game in ALL, game);
  // A count and a resignation are said with more than one sentence.
  for (const ending of endings) assert.ok(ending in ALL || ["score", "resigned"].includes(ending), ending);
  // Chinese counts stones of area where English counts points; a number may be said in one language alone.
  const apart = new Set(["byArea"]);
  const page = scripts.filter((name) => name !== "words.js").map(text).join("\n") + text("index.html");
  for (const [name, [english, chinese]] of Object.entries(ALL)) {
    // One's own board needs no reason for its end.
    if (name !== "all_out") assert.ok(english && chinese, name);
    // In one language and not in the other, apart from marks and what is put in.
    const signs = (said) => said.replace(/\{\d\}/g, "").replace(/[^\p{L}]/gu, "");
    if (name !== "language") assert.equal(/[\u4e00-\u9fff]/.test(chinese), signs(english) !== "", name);
    // Singular and plural.
    for (const one of english.split("|")) if (!apart.has(name)) assert.deepEqual(holes(one), holes(chinese), name);
    if (name !== "language") assert.doesNotMatch(english, /[\u4e00-\u9fff]/, name);
    assert.ok(made.has(name) || new RegExp(`["']${name}["']`).test(page), `${name} is said nowhere`);
  }
  for (const [name, [english, chinese]] of Object.entries(PHRASES)) {
    assert.ok(/[a-z]/.test(english) && !/[\u4e00-\u9fff]/.test(english) && /[\u4e00-\u9fff]/.test(chinese), name);
  }
  const said = [...page.matchAll(/\bsay\("(\w+)"/g), ...page.matchAll(/data-(?:w|label)="(\w+)"/g)].map(([, name]) => name);
  assert.ok(said.length > 80);
  for (const name of said) assert.ok(name in ALL, name);
});

test("the page keeps to the words of docs/glossary.md", () => {
  const rows = read("docs/glossary.md").split("\n").filter((line) => line.startsWith("|")).slice(2);
  const unused = rows.flatMap((row) => row.split("|")[4].split(", ").map((word) => word.trim()).filter(Boolean));
  assert.ok(unused.length > 100);
  const right = { 棋友: ["「棋友」"], 级: ["初级", "中级", "高级"], 友码: ["好友码"], 随系统: ["跟随系统"] };
  const english = (said) => ` ${said.toLowerCase().replace(/\{\d\}/g, " ").replace(/[^a-z0-9']+/g, " ")} `;
  for (const [name, [en, zh]] of [...Object.entries(ALL), ...Object.entries(PHRASES)]) {
    for (const word of unused) {
      if (/[\u4e00-\u9fff]/.test(word)) {
        const rest = (right[word] ?? []).reduce((left, one) => left.replaceAll(one, ""), zh);
        assert.ok(!rest.includes(word) || zh === "棋友", `${name}: ${word}`);
      } else {
        assert.ok(!english(en).includes(` ${word.toLowerCase()} `), `${name}: ${word}`);
      }
    }
  }
});

test("a sentence that the app has too is said in the same words", () => {
  const catalogue = new Map();
  for (const block of read("app/screens/lang/zh/LC_MESSAGES/screens.po").split("\n\n")) {
    const said = (key) => [...block.matchAll(new RegExp(`^${key} "(.*)"$`, "gm"))].map(([, one]) => one);
    const [english] = said("msgid");
    const [chinese] = [...said("msgstr"), ...said("msgstr\\[0\\]")];
    if (english && chinese && !/\{/.test(english)) catalogue.set(english, [...(catalogue.get(english) ?? []), chinese]);
  }
  const shared = Object.entries(ALL).filter(([, [english]]) => catalogue.has(english));
  assert.ok(shared.length > 80, String(shared.length));
  // "Save" is a button of a backup there; "Play" a replay's; the seat's state is shorter than the filter's; the app goes back to an analysis.
  const apart = new Set(["light", "saveShort", "language", "backToGame"]);
  for (const [name, [english, chinese]] of shared) {
    if (!apart.has(name)) assert.ok(catalogue.get(english).includes(chinese), `${name}: ${english}: ${chinese}, in the app ${catalogue.get(english)}`);
  }
});

test("the page has the app's colours, and no others", () => {
  const theme = read("app/screens/ui/theme.slint");
  const css = text("style.css");
  const [light, dark] = [css.match(/:root \{([\s\S]*?)\n\}/)[1], css.match(/:root\[data-theme="dark"\] \{([\s\S]*?)\n\}/)[1]];
  const system = css.match(/:root:not\(\[data-theme="light"\]\) \{([\s\S]*?)\n {2}\}/)[1];
  const flat = (rules) => rules.replace(/\s+/g, " ").trim();
  assert.equal(flat(system), flat(dark), "the dark of the system is the dark that is chosen");
  const value = (rules, name) => rules.match(new RegExp(`--${name}: (#[0-9A-Fa-f]+);`))?.[1];
  let compared = 0;
  for (const name of ["ink", "ink-soft", "paper", "card", "line", "seal", "jade", "board", "board-line", "jade-on-board", "seal-on-board", "seal-text-on-board", "pressed"]) {
    const [, rule] = theme.match(new RegExp(`out property <color> ${name}: (.*);`));
    const [, darkValue, lightValue] = rule.match(/dark \? (#\w+) : (#\w+)$/);
    assert.equal(value(light, name), lightValue, name);
    assert.equal(value(dark, name), darkValue, name);
    compared += 2;
  }
  for (const name of ["light-on", "light-off"]) assert.equal(value(light, name), theme.match(new RegExp(`${name}: .*(#\\w+);`))[1]);
  assert.equal(compared, 26);
  const art = ["app/screens/ui/widgets/board.slint", "app/ui/src/art.rs", "app/screens/art/app.svg", "app/screens/art/stone-black.svg", "app/screens/art/stone-white.svg"].map(read).join("\n");
  const used = [...Object.keys(files).filter((name) => name !== "glyphs.js").map(text).join("\n").matchAll(/#[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?\b/g)].map(([colour]) => colour.toUpperCase());
  assert.ok(used.length > 60, String(used.length));
  for (const colour of used) assert.ok(`${theme}\n${art}`.toUpperCase().includes(colour), colour);
  const html = text("index.html");
  for (const [rules, scheme] of [[light, "light"], [dark, "dark"]]) {
    assert.equal(html.match(new RegExp(`theme-color" content="(#\\w+)" media="\\(prefers-color-scheme: ${scheme}\\)"`))[1], value(rules, "paper"), scheme);
  }
});

test("the page has the app's sizes and times", () => {
  const theme = read("app/screens/ui/theme.slint");
  const css = text("style.css");
  const inApp = (name) => Number(theme.match(new RegExp(`out property <(?:length|duration)> ${name}: (?:reduced-motion \\? 0ms : )?(\\d+)(?:px|ms|s)`))[1]);
  const inPage = (pattern, source = css) => Number(source.match(pattern)?.[1].replaceAll("_", ""));
  const found = {
    margin: inPage(/--margin: (\d+)px;/), gap: inPage(/--gap: (\d+)px;/), column: inPage(/\.sheet \{\s*max-width: (\d+)px;/),
    "card-radius": inPage(/\.card, \.seat \{[^}]*border-radius: (\d+)px;/), "button-radius": inPage(/\.button \{[^}]*border-radius: (\d+)px;/), "board-radius": inPage(/\.board \{[^}]*border-radius: (\d+)px;/),
    control: inPage(/\.button \{\s*min-height: (\d+)px;/), finger: inPage(/\.button \{[^}]*min-width: (\d+)px;/), hit: inPage(/const HIT = (\d+);/, text("board.js")),
    "stone-time": inPage(/grow (\d+)ms/), "move-time": inPage(/slide (\d+)ms/), "fade-time": inPage(/--fade: (\d+)ms;/), "remark-time": inPage(/REMARK_STAYS = ([\d_]+);/, text("news.js")) / 1000,
  };
  for (const [name, size] of Object.entries(found)) assert.equal(size, inApp(name), name);
  // In CSS a rem is 16 px where letters have their usual size.
  const letters = { heading: /\.sheet h1 \{ font-size: ([\d.]+)rem;/, title: /\nh1 \{ font-size: ([\d.]+)rem;/, body: /font: ([\d.]+)rem\//, small: /\.small \{ font-size: ([\d.]+)rem;/ };
  for (const [name, pattern] of Object.entries(letters)) assert.equal(16 * css.match(pattern)[1], inApp(`size-${name}`), name);
});

test("the page has the app's icons, stones and characters", () => {
  const html = text("index.html");
  const symbols = [...html.matchAll(/<symbol id="i-([\w-]+)" viewBox="0 0 24 24">(.*?)<\/symbol>/g)];
  assert.ok(symbols.length >= 18);
  const page = scripts.map(text).join("\n") + html;
  for (const [, name, drawn] of symbols) {
    assert.ok(read(`app/screens/art/icons/${name}.svg`).includes(`>${drawn}</svg>`), name);
    assert.ok(new RegExp(`"${name}"|data-\\w+="${name}"`).test(page), `${name} is shown nowhere`);
  }
  for (const [side, name] of [["first", "black"], ["second", "white"]]) {
    const drawn = read(`app/screens/art/stone-${name}.svg`);
    const gradient = drawn.match(/<radialGradient id="\w" ([\s\S]*?)<\/radialGradient>/)[1];
    assert.ok(html.includes(gradient), name);
    const circle = drawn.match(/<circle [^>]*>/)[0].replace(/url\(#\w\)/, `url(#${name})`);
    assert.ok(html.includes(`<symbol id="stone-${side}" viewBox="0 0 100 100">${circle}`), name);
  }
  execFileSync(join(ROOT, "app/guest/make-glyphs"), ["--check"]);
});

/// What browsers of late 2022 do not have (Chromium 107, Firefox 106, Safari 16.1; by caniuse.com and MDN), each with an example.
/// Syntax that ends a script there, beyond what ES2022 refuses:
const NEW_SYNTAX = [[/\(\?<[=!]/, "/(?<=a)b/"], [/\bstatic\s*\{/, "class A { static { } }"]];
const NEW_CALLS = [
  [/\.(?:toSorted|toReversed|toSpliced)\(/, "list.toSorted()"], [/\.with\(/, "list.with(0, 1)"], [/\bgroupBy\(/, "Object.groupBy(a, b)"],
  [/\bwithResolvers\b/, "Promise.withResolvers()"], [/\bPromise\.try\b/, "Promise.try(run)"], [/\bfromAsync\b/, "Array.fromAsync(a)"],
  [/\bAbortSignal\.any\b/, "AbortSignal.any([])"], [/\bURL\.(?:canParse|parse)\b/, "URL.canParse(a)"], [/\b(?:isWellFormed|toWellFormed)\b/, "text.isWellFormed()"],
  [/\.(?:union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)\(/, "set.union(other)"],
  [/\bstartViewTransition\b/, "document.startViewTransition(run)"], [/popover/i, "element.showPopover()"], [/\bcheckVisibility\b/, "element.checkVisibility()"],
  [/\bCloseWatcher\b|\brequestClose\b|\bclosedBy\b/, "dialog.requestClose()"], [/\bnavigation\./, "navigation.navigate(a)"], [/\bURLPattern\b/, "new URLPattern(a)"],
  [/scrollend/, 'addEventListener("scrollend", run)'], [/\bIterator\b|\.(?:values|keys|entries)\(\)\.(?:map|filter|take|drop|some|every|find|toArray)\(/, "set.values().map(run)"],
  [/\bmoveBefore\b|\bsetHTML\b/, "element.moveBefore(a, b)"], [/\bwakeLock\b/, "navigator.wakeLock.request()"], [/\bOffscreenCanvas\b/, "new OffscreenCanvas(1, 1)"],
  // Attributes set as properties: Firefox has these since 2023.
  [/\baria[A-Z]\w*\s*(?::|=[^=])/, 'make("p", { ariaLabel: a })'], [/\brole\s*:|\.role\s*=[^=]/, 'make("p", { role: "group" })'],
];
const NEW_STYLES = [
  [/&/, "& a { }"], [/:has\(/, "a:has(b) { }"], [/:dir\(|:user-(?:in)?valid|:popover-open|:open\b|::details-content/, "a:dir(rtl) { }"], [/:nth-(?:last-)?child\([^)]*\bof\b/, "a:nth-child(2 of b) { }"],
  [/@(?:container|property|scope|starting-style|view-transition|position-try|function|font-palette-values|custom-media)\b/, "@container (width > 1px) { }"], [/@media[^{]*[<>]/, "@media (width >= 1px) { }"],
  [/\bcontainer(?:-type|-name)?\s*:/, "a { container-type: size; }"], [/\d(?:cq[whib]|cqmin|cqmax|r?lh|rcap|rch|rex|ric|cap|ic)\b/, "a { width: 1cqw; }"],
  [/\b(?:color-mix|oklch|oklab|lch|lab|color|light-dark|contrast-color)\(/, "a { color: color-mix(in srgb, red, blue); }"], [/\b(?:rgba?|hsla?)\(\s*from\b/, "a { color: rgb(from red r g b); }"],
  [/\b(?:round|mod|rem|sin|cos|tan|asin|acos|atan2?|pow|sqrt|hypot|log|exp|abs|sign|linear|calc-size|if|sibling-index|anchor|anchor-size)\(/, "a { width: round(1px, 2px); }"],
  [/\bsubgrid\b|\bmasonry\b/, "a { grid-template-rows: subgrid; }"], [/\b(?:anchor-name|position-anchor|position-area|inset-area|animation-timeline|scroll-timeline|view-timeline|view-transition-name)\b/, "a { anchor-name: --a; }"],
  [/\b(?:field-sizing|interpolate-size|transition-behavior|text-box(?:-trim|-edge)?|text-spacing-trim|zoom|content-visibility|offset-path|mask|mask-image)\s*:/, "a { field-sizing: content; }"],
  [/(?:width|height|size)\s*:\s*stretch\b/, "a { width: stretch; }"],
];
/// Where a browser does not know these it shows the same, less prettily.
const PRETTIER = /\btext-wrap\s*:\s*(?:balance|pretty)\s*;/g;
const bare = (source, line = false) => source.replace(/\/\*[\s\S]*?\*\//g, "").replace(line ? /^\s*\/\/.*$/gm : /$^/, "");
const newer = (list, source) => list.filter(([pattern]) => pattern.test(source)).map(([, example]) => example);

/// Rules in rules, other than in @media, @supports and @keyframes.
function nested(css) {
  const open = [];
  const found = [];
  for (const [, head, end] of css.matchAll(/([^{};]*)([{};])/g)) {
    if (end === "}") open.pop();
    if (end !== "{") continue;
    if (open.some((one) => !one.startsWith("@"))) found.push(head.trim());
    open.push(head.trim());
  }
  return found;
}

/// Values in viewport units of 2022 that no value in plain ones precedes.
const withoutFallback = (css) => [...css.matchAll(/([\w-]+)\s*:[^;{}]*\d[dsl]v[hwib]\b[^;{}]*;/g)].filter(({ 0: all, 1: name, index }) =>
  !new RegExp(`[\\s;{]${name}\\s*:[^;{}]*\\dv[hwib]\\b[^;{}]*;\\s*$`).test(css.slice(0, index))).map(([all]) => all);

test("the page runs in browsers of the last four years", () => {
  for (const name of scripts) {
    const source = text(name);
    assert.doesNotThrow(() => parse(source, { ecmaVersion: 2022, sourceType: "module" }), name);
    assert.deepEqual(newer([...NEW_SYNTAX, ...NEW_CALLS], bare(source, true)), [], name);
  }
  const css = bare(text("style.css")).replace(PRETTIER, "");
  assert.deepEqual(newer(NEW_STYLES, css), []);
  assert.deepEqual(nested(css), []);
  assert.deepEqual(withoutFallback(css), []);
  assert.doesNotMatch(text("index.html"), /\s(?:popover|popovertarget|commandfor|closedby|shadowrootmode|blocking|fetchpriority)[=\s>]|<(?:search|selectlist|template)\b/);
});

test("what is newer than four years is seen", () => {
  for (const [pattern, example] of [...NEW_SYNTAX, ...NEW_CALLS, ...NEW_STYLES]) assert.match(example, pattern);
  for (const source of ["const a = /[a--b]/v;", 'import a from "a" with { type: "json" };', "using a = b;"]) {
    assert.throws(() => parse(source, { ecmaVersion: 2022, sourceType: "module" }), source);
  }
  assert.deepEqual(nested("@media print { a { b: c; } } d { e: f; g { h: i; } }"), ["g"]);
  assert.deepEqual(withoutFallback("a { height: 1vh; height: 1dvh; } b { width: 2px; max-height: calc(3dvh - 1px); }"), ["max-height: calc(3dvh - 1px);"]);
});
