// Each state of stories.mjs: nothing hinders anybody, nothing is cut off, fingers hit, nothing moves where that is not wanted. Shown by
// stage.mjs, in Chromium, which alone is told of fingers, themes and motion.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, SIZES } from "./browsers.mjs";
import { stage } from "./stage.mjs";
import { apart, enter, HIT, settled, where } from "./states.mjs";
import { named, quiet, ROOMS, STORIES, welcome } from "./stories.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/// Moves of a record are looked at one after another, too.
const SMALL_BY_NATURE = "#moves-list button";
/// CSS pixels, as in the app (theme.slint): the least side of a control.
const FINGER = 44;
const ALL_SIZES = [["small", "dark"], ["phone", "light"], ["lying", "dark"], ["wide", "light"]];
/// SHORT=1: the size that is tightest.
const SHOWN = process.env.SHORT === "1" ? ALL_SIZES.slice(0, 1) : ALL_SIZES;

let shown;
let browser;

before(async () => {
  shown = await stage(STORIES);
  browser = await launch("chromium");
});

after(async () => {
  await browser?.close();
  await shown?.close();
});

async function violations(page) {
  await page.run((source) => (0, Function)(source)(), AXE);
  const { looked, found } = await page.run(async (tags) => {
    const { passes, violations: all } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
    return { looked: passes.length, found: all.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any.map((one) => one.message).join(" ")}`).join("; ")}`) };
  }, RULES);
  assert.ok(looked > 10, `only ${looked} rules found something to look at`);
  return found;
}

/// What is wider than the page or cut off, controls that are smaller than a finger or that a finger on them misses.
function misfits(page) {
  return page.run(async (small, finger) => {
    const problems = [];
    const seen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
    const named = (element) => element.id || element.textContent || element.getAttribute("aria-label");
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) problems.push(`scrolls sideways: ${document.documentElement.scrollWidth} of ${width}`);
    const dialog = document.querySelector("dialog");
    if (dialog && dialog.scrollWidth > dialog.clientWidth) problems.push(`the dialog scrolls sideways: ${dialog.scrollWidth} of ${dialog.clientWidth}`);
    for (const element of document.body.querySelectorAll("*")) {
      if (!(element instanceof HTMLElement) || !seen(element) || element.matches(".unseen, .board")) continue;
      const { overflowX, overflowY } = getComputedStyle(element);
      const hides = (how) => how === "hidden" || how === "clip";
      if (hides(overflowX) && element.scrollWidth > element.clientWidth + 1) problems.push(`${named(element)}: cut off at ${element.clientWidth} of ${element.scrollWidth}`);
      if (hides(overflowY) && element.scrollHeight > element.clientHeight + 1) problems.push(`${named(element)}: cut off below ${element.clientHeight} of ${element.scrollHeight}`);
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (!(text.parentElement instanceof HTMLElement) || text.parentElement.closest(".unseen")) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size;
      if (lines > 2 && text.data.length < 3 * lines) problems.push(`${text.data}: broken into ${lines} lines`);
    }
    // What a question covers waits for its answer.
    const front = dialog ?? document.body;
    while (front.querySelector(".body")?.inert) await new Promise((later) => setTimeout(later, 50));
    for (const element of front.querySelectorAll("button, input")) {
      if (!seen(element)) continue;
      element.scrollIntoView({ block: "center", inline: "center" });
      const { width: wide, height: high, left, right, top } = element.getBoundingClientRect();
      const isSmall = element.matches(small);
      if (!isSmall && (wide < finger - 0.5 || high < finger - 0.5)) problems.push(`${named(element)}: ${Math.round(wide)} x ${Math.round(high)}`);
      if (left < -0.5 || right > width + 0.5) problems.push(`${named(element)} is cut off: ${left} to ${right}`);
      if (element.scrollWidth > element.clientWidth + 1) problems.push(`${named(element)}: words are wider than it`);
      if (element.scrollHeight > element.clientHeight + 1) problems.push(`${named(element)}: words are higher than it`);
      const [x, y, far] = [left + wide / 2, top + high / 2, isSmall ? 0 : finger / 2 - 1];
      for (const [across, down] of [[0, 0], [-far, 0], [far, 0], [0, -far], [0, far]]) {
        const hit = document.elementFromPoint(x + across, y + down);
        if (!hit || !element.contains(hit)) problems.push(`a finger on ${named(element)} hits ${hit && (named(hit) || hit.className)}`);
      }
    }
    const board = document.getElementById("board");
    const points = dialog || !seen(board) ? [] : [...board.querySelectorAll("[role=gridcell]")];
    const wide = points[0]?.parentElement.childElementCount;
    for (const point of [points[0], points[wide - 1], points.at(-wide), points.at(-1)].filter(Boolean)) {
      point.scrollIntoView({ block: "center" });
      const [{ left, right, top, bottom }, edge] = [point.getBoundingClientRect(), board.getBoundingClientRect()];
      if (left < edge.left - 0.5 || right > edge.right + 0.5 || top < edge.top - 0.5 || bottom > edge.bottom + 0.5) problems.push(`${named(point)} is beyond the board`);
      if (left < -0.5 || right > width + 0.5) problems.push(`${named(point)} is cut off`);
      if (document.elementFromPoint((left + right) / 2, (top + bottom) / 2) !== point) problems.push(`a finger on ${named(point)} hits something else`);
    }
    return problems;
  }, SMALL_BY_NATURE, FINGER);
}

for (const name of Object.keys(STORIES)) {
  test(`nothing hinders anybody while the page shows: ${name}`, async () => {
    for (const [size, theme] of SHOWN) {
      const page = await enter(browser, shown.address, name, { size, theme, frozen: true });
      const which = `${name}, ${size}, ${theme}`;
      assert.equal(await page.run(() => document.getAnimations().length), 0, which);
      assert.deepEqual(await misfits(page), [], which);
      assert.deepEqual(await violations(page), [], which);
      assert.deepEqual(page.problems, [], which);
      await page.close();
    }
  });
}

test("nothing hinders anybody in any state in Chinese, on the smallest phone, light and dark in turn", async () => {
  const other = await launch("chromium", { language: "zh" });
  try {
    for (const [at, name] of Object.keys(STORIES).entries()) {
      const page = await enter(other, shown.address, name, { size: "small", theme: at % 2 ? "dark" : "light", frozen: true });
      assert.equal(await page.run(() => document.documentElement.lang), "zh-Hans", name);
      assert.deepEqual(await misfits(page), [], name);
      assert.deepEqual(await violations(page), [], name);
      await page.close();
    }
  } finally {
    await other.close();
  }
});

/// SHORT=1: those that have the most to put beside each other.
const LARGE = process.env.SHORT === "1" ? ["start", "gomoku", "go", "counting", "liuzhou", "xiangqi", "raceover", "over", "say", "more", "offerdraw", "review", "lost"] : Object.keys(STORIES);

test("letters of twice the size are all there, and so are the fingers' places", async () => {
  for (const name of LARGE) {
    const page = await enter(browser, shown.address, name, { size: "phone", frozen: true });
    const size = () => page.run(() => parseFloat(getComputedStyle(document.body).fontSize));
    const before = await size();
    // As a browser with letters of 32 px.
    await page.run(() => {
      document.documentElement.style.fontSize = "200%";
      dispatchEvent(new Event("resize"));
    });
    await page.run(() => new Promise((done) => setTimeout(done, 100)));
    assert.equal(await size(), 2 * before, name);
    assert.deepEqual(await misfits(page), [], name);
    await page.close();
  }
});

test("a stone waits to be tapped again where a finger may miss its point, and only there", async () => {
  const waited = new Set();
  for (const size of Object.keys(SIZES).filter((one) => SIZES[one].hasTouch)) {
    for (const name of ["gomoku", "go"]) {
      const page = await enter(browser, shown.address, name, { size });
      const heard = shown.heard.length;
      const { x, y } = await where(page, "A1");
      await page.tap(x, y);
      await page.until(() => !document.getElementById("confirm").hidden || !document.getElementById("board").classList.contains("live"), 10_000);
      const waits = await page.run(() => !document.getElementById("confirm").hidden);
      const distance = await apart(page);
      assert.equal(waits, distance < HIT, `${name}, ${size}: ${distance} px`);
      if (waits) await page.tap(x, y);
      for (const end = Date.now() + 10_000; shown.heard.slice(heard).filter(({ act }) => act).length === 0 && Date.now() < end; ) await page.run(() => new Promise((later) => setTimeout(later, 20)));
      assert.deepEqual(shown.heard.slice(heard).map(({ act }) => act?.action).filter(Boolean), [{ place: named("A1") }], `${name}, ${size}`);
      waited.add(waits);
      await page.close();
    }
  }
  assert.equal(waited.size, 2, "both were tried");
});

/// What moves when the host's room changes: the room before, the board after, the animations of style.css, and the clocks after.
const CHANGES = {
  "a stone is placed": [ROOMS.gomoku, { ...ROOMS.gomoku.board, pieces: [...ROOMS.gomoku.board.pieces, { at: named("F8"), side: "second", kind: "stone" }], last: { place: named("F8") } }, ["grow"]],
  "a piece takes another": [ROOMS.xiangqi, { ...ROOMS.xiangqi.board, pieces: ROOMS.xiangqi.board.pieces.filter(({ at }) => at !== named("b6")).map((piece) => (piece.at === named("b8") ? { ...piece, at: named("b6") } : piece)), last: { step: [named("b8"), named("b6")] } }, ["leave", "slide"]],
  "stones make a square": [{ ...ROOMS.liuzhou, board: { ...ROOMS.liuzhou.board, pieces: ROOMS.liuzhou.board.pieces.filter(({ at }) => at !== named("b2")), lines: [] } }, ROOMS.liuzhou.board, ["draw", "grow"]],
  "a light is to be pressed": [ROOMS.alone, { ...ROOMS.alone.board, marks: [{ at: named("c3"), kind: "press", side: "unspecified", words: null }] }, ["blink"]],
  "time runs short": [ROOMS.go, ROOMS.go.board, ["blink"], [ROOMS.go.clocks[0], { ...ROOMS.go.clocks[1], left_ms: 9_000 }]],
};

for (const [what, [before, board, names, clocks = before.clocks]] of Object.entries(CHANGES)) {
  test(`with less motion nothing is animated, and otherwise it is: ${what}`, async () => {
    const ply = before.ply + (board === before.board ? 0 : 1);
    const after = { ...before, ply, clocks, board: { ...board, ply, touch: quiet } };
    let socket;
    const changing = await stage({ connected: (one) => {
      socket = one;
      one.on("message", (data) => JSON.parse(data).hello && [{ welcome: { ...welcome, side: before.you } }, { room: before }].forEach((message) => one.send(JSON.stringify(message))));
    } });
    try {
      for (const reduced of [false, true]) {
        const page = await browser.page({ reduced });
        await page.before(() => {
          localStorage.setItem("qiyou.started.gomoku", "1");
          localStorage.setItem("qiyou.name", "Ben");
          window.moved = new Set();
          for (const name of ["animationstart", "transitionrun"]) addEventListener(name, (event) => moved.add(event.animationName ?? event.propertyName), true);
        });
        await page.goto(`${changing.address}/#gomoku`);
        await settled(page);
        await page.run(() => moved.clear());
        for (const message of [{ room: after }, { said: { number: 1, mine: false, name: "Anna's Deck", phrase: "", text: "So it is.", words: null } }]) socket.send(JSON.stringify(message));
        // It is told after it is drawn.
        await page.until(() => document.getElementById("news").textContent.includes("So it is."), 10_000);
        if (!reduced) await page.until((count) => moved.size >= count, 10_000, names.length);
        await page.run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        assert.deepEqual(await page.run(() => [...moved].sort()), reduced ? [] : names);
        await page.close();
      }
    } finally {
      await changing.close();
    }
  });
}

test("every size is one that is drawn, and that the page has", async () => {
  assert.deepEqual(ALL_SIZES.map(([size]) => size).sort(), Object.keys(SIZES).sort());
  for (const [size, { width, height, deviceScaleFactor, hasTouch }] of Object.entries(SIZES)) {
    const page = await enter(browser, shown.address, "gomoku", { size });
    assert.deepEqual(await page.run(() => [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0]), [width, height, deviceScaleFactor, hasTouch], size);
    await page.close();
  }
});
