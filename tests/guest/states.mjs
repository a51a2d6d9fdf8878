// Brings the page into the state of a story.
import { STORIES } from "./stories.mjs";

export const SIZES = {
  small: { width: 320, height: 568, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  phone: { width: 390, height: 844, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  lying: { width: 844, height: 390, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  wide: { width: 1280, height: 800, deviceScaleFactor: 1, hasTouch: false, isMobile: false },
};

/// A page of its own context, in the state of the story. `page.problems` collects what the browser complains of.
export async function enter(browser, address, name, { size = "phone", theme = "light", reduced = true } = {}) {
  const story = STORIES[name];
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && !/WebSocket connection/.test(message.text()) && page.problems.push(message.text()));
  await page.setViewport(SIZES[size]);
  await page.emulateMediaFeatures?.([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: reduced ? "reduce" : "no-preference" }]);
  if (!story.fresh) {
    await page.evaluateOnNewDocument((key) => {
      localStorage.setItem(key, "1");
      localStorage.setItem("qiyou.name", "Ben");
    }, `qiyou.started.${name.slice(0, 8)}`);
  }
  await page.goto(`${address}/#${name}`, { waitUntil: "load" });
  await settled(page);
  for (const [what, argument] of story.do ?? []) {
    await DOES[what](page, argument);
    await settled(page);
  }
  page.closeAll = () => context.close();
  return page;
}

export async function settled(page) {
  await page.waitForFunction(() => ["start", "trouble", "match"].some((id) => !document.getElementById(id).hidden));
  await page.evaluate(() => new Promise((done) => setTimeout(done, 250)));
}

/// The index of a point by its label's beginning.
async function cell(page, name) {
  const box = await page.evaluate((wanted) => {
    const all = [...document.querySelectorAll("[role=gridcell]")];
    const columns = all[0].parentElement.childElementCount;
    // By place: letters from the left, numbers from below, or turned round.
    const labels = all.map((one) => one.getAttribute("aria-label"));
    let index = labels.findIndex((label) => label.toUpperCase().split(/[,，]/)[0] === wanted.toUpperCase());
    if (index < 0) {
      const [column, row] = [wanted.toUpperCase().charCodeAt(0) - 65, Number(wanted.slice(1)) - 1];
      const rows = all.length / columns;
      // Xiangqi seen from the second side.
      index = row * columns + (columns - 1 - column);
      void rows;
    }
    const { left, top, width, height } = all[index].getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }, name);
  return box;
}

const DOES = {
  tap: async (page, name) => {
    const { x, y } = await cell(page, name);
    await page.touchscreen.tap(x, y);
  },
  cell: async (page, name) => {
    const { x, y } = await cell(page, name);
    await page.touchscreen.tap(x, y);
  },
  chosen: async (page, name) => {
    const { x, y } = await cell(page, name);
    await page.mouse.click(x, y);
  },
  press: (page, id) => page.$eval(`#${id}`, (element) => element.click()),
  review: (page, which) => page.$eval(`[data-review=${which}]`, (element) => element.click()),
  dialog: (page, index) => page.$$eval("dialog .body > button", (all, at) => all[at].click(), index),
};
