// Each state that the page can show: nothing hinders anybody, nothing is cut off, fingers hit. Shown by stage.mjs, in Chromium.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, SIZES } from "./browsers.mjs";
import { stage } from "./stage.mjs";
import { enter } from "./states.mjs";
import { STORIES } from "./stories.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/// Points of a board lie as near as the board makes them: where a finger would hit two, a stone waits to be tapped again.
const SMALL_BY_NATURE = "[role=gridcell], #moves-list button";
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
  const found = await page.run(async (tags) => (await axe.run(document, { runOnly: tags, resultTypes: ["violations"] })).violations.map(
    ({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any.map((one) => one.message).join(" ")}`).join("; ")}`), RULES);
  return found;
}

/// What is wider than the page, and controls that are smaller than a finger.
function misfits(page) {
  return page.run((small, finger) => {
    const seen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
    const problems = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) problems.push(`scrolls sideways: ${document.documentElement.scrollWidth} of ${width}`);
    const dialog = document.querySelector("dialog");
    if (dialog && dialog.scrollWidth > dialog.clientWidth) problems.push(`the dialog scrolls sideways: ${dialog.scrollWidth} of ${dialog.clientWidth}`);
    for (const element of document.querySelectorAll("button, input")) {
      if (!seen(element) || element.matches(small)) continue;
      const { width: wide, height: high, left, right } = element.getBoundingClientRect();
      const name = element.id || element.textContent || element.getAttribute("aria-label");
      if (wide < finger - 0.5 || high < finger - 0.5) problems.push(`${name}: ${Math.round(wide)} x ${Math.round(high)}`);
      if (left < -0.5 || right > width + 0.5) problems.push(`${name} is cut off: ${left} to ${right}`);
      if (element.scrollWidth > element.clientWidth + 1) problems.push(`${name}: words are wider than it`);
    }
    return problems;
  }, SMALL_BY_NATURE, FINGER);
}

for (const name of Object.keys(STORIES)) {
  test(`nothing hinders anybody while the page shows: ${name}`, async () => {
    for (const [size, theme] of SHOWN) {
      const page = await enter(browser, shown.address, name, { size, theme });
      const where = `${name}, ${size}, ${theme}`;
      assert.deepEqual(await misfits(page), [], where);
      assert.deepEqual(await violations(page), [], where);
      assert.deepEqual(page.problems, [], where);
      await page.close();
    }
  });
}

test("nothing hinders anybody in any state in Chinese, on the smallest phone, light and dark in turn", async () => {
  const other = await launch("chromium", { language: "zh" });
  try {
    for (const [at, name] of Object.keys(STORIES).entries()) {
      const page = await enter(other, shown.address, name, { size: "small", theme: at % 2 ? "dark" : "light" });
      assert.equal(await page.run(() => document.documentElement.lang), "zh-Hans", name);
      assert.deepEqual(await misfits(page), [], name);
      assert.deepEqual(await violations(page), [], name);
      await page.close();
    }
  } finally {
    await other.close();
  }
});

test("letters of twice the size are all there", async () => {
  for (const name of ["start", "gomoku", "go", "counting", "over", "say", "more", "offerdraw", "review"]) {
    const page = await enter(browser, shown.address, name, { size: "phone" });
    await page.run(() => {
      document.documentElement.style.fontSize = "200%";
      document.body.style.fontSize = "1rem";
      dispatchEvent(new Event("resize"));
    });
    await page.run(() => new Promise((done) => setTimeout(done, 100)));
    const problems = (await misfits(page)).filter((one) => !/words are wider/.test(one));
    assert.deepEqual(problems, [], name);
    await page.close();
  }
});

test("with less motion nothing is animated", async () => {
  for (const name of ["large", "liuzhou"]) {
    const page = await enter(browser, shown.address, name, { reduced: true });
    assert.deepEqual(await page.run(() => document.getAnimations().length), 0, name);
    await page.close();
  }
});

test("every size is one that is drawn", () => assert.deepEqual(Object.keys(SIZES), ["small", "phone", "lying", "wide"]));
