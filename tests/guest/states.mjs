// Brings the page into the state of a story.
import { STORIES } from "./stories.mjs";

/// Milliseconds; dialogs.js needs 350, a page's first next try to connect comes after 400 at the earliest.
const LONGEST = 375;
const LIMIT = 10_000;
/// CSS pixels between points below which a finger may miss its point, as in board.js.
export const HIT = 30;

/// A page of its own context, in the state of the story: what the story `shows` is there. `frozen`: it stays in it. Its clocks stand still,
/// and nothing that waits longer than for a dialog to settle happens: no next try to connect, no end of a remark.
export async function enter(browser, address, name, options = {}) {
  const story = STORIES[name];
  const page = await browser.page(options);
  if (!story.fresh) {
    await page.before((key) => {
      localStorage.setItem(key, "1");
      localStorage.setItem("qiyou.name", "Ben");
    }, `qiyou.started.${name.slice(0, 8)}`);
  }
  if (story.from) await page.before((pair) => sessionStorage.setItem("qiyou.evening", pair), `${name} ${story.from}`);
  if (options.frozen) {
    await page.before((longest) => {
      performance.now = () => 1000;
      Math.random = () => 0.5;
      const later = setTimeout;
      window.setTimeout = (run, ms = 0, ...given) => (ms > longest ? 0 : later(run, ms, ...given));
    }, LONGEST);
  }
  await page.goto(story.bare ? `${address}/` : `${address}/#${name}`);
  await settled(page);
  for (const [what, argument] of story.do ?? []) {
    await DOES[what](page, argument);
    await settled(page);
  }
  await shown(page, name, story.exact && (await apart(page)) >= HIT ? story.exact : story.shows);
  return page;
}

/// CSS pixels between the points of the board.
export const apart = (page) => page.run(() => document.querySelector("[role=gridcell]").getBoundingClientRect().width);

/// What is in front: the visible text of the open question, otherwise that of the page, the label of each point of a board, and where a stone is
/// drawn that is not played yet. What only a screen reader is told of is left out.
export function front(page) {
  return page.run(() => {
    const seen = (element) => element instanceof HTMLElement && element.getClientRects().length > 0;
    const dialog = document.querySelector("dialog");
    const parts = dialog ? [dialog] : [...document.body.children].filter((one) => seen(one) && !one.matches(".unseen"));
    const cells = dialog ? [] : [...document.querySelectorAll("[role=gridcell]")].filter(seen);
    const label = (cell) => cell.getAttribute("aria-label");
    const ghosts = [...document.querySelectorAll("#board .ghost")].map((ghost) => {
      const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
      const [x, y] = middle(ghost.getBoundingClientRect());
      const far = (cell) => Math.hypot(middle(cell.getBoundingClientRect())[0] - x, middle(cell.getBoundingClientRect())[1] - y);
      return cells.find((cell) => far(cell) < 4);
    });
    return [...parts.map((one) => one.innerText), ...cells.map(label), ...ghosts.filter(Boolean).map((cell) => `a ghost on ${label(cell)}`)].join("\n");
  });
}

/// Waits until all these texts are in front, in the page's language.
async function shown(page, name, wanted) {
  const texts = wanted[(await page.run(() => document.documentElement.lang)) === "en" ? "en" : "zh"];
  const end = Date.now() + LIMIT;
  for (;;) {
    const text = await front(page);
    const missing = texts.filter((one) => !text.includes(one));
    if (texts.length && !missing.length) return;
    if (Date.now() > end) throw new Error(`${name} does not show ${JSON.stringify(missing)}, but: ${text}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}

export async function settled(page) {
  await page.until(() => ["start", "trouble", "evening", "match"].some((id) => document.getElementById(id)?.hidden === false), LIMIT);
  await page.run(() => new Promise((done) => setTimeout(done, 250)));
}

/// Where a point is: by its name on the board, in xiangqi by file letter and row as seen from the first side.
export function where(page, name) {
  return page.run((wanted) => {
    const all = [...document.querySelectorAll("[role=gridcell]")];
    const columns = all[0].parentElement.childElementCount;
    const labels = all.map((one) => one.getAttribute("aria-label"));
    let index = labels.findIndex((label) => label.toUpperCase().split(/[,，]/)[0] === wanted.toUpperCase());
    if (index < 0) index = (Number(wanted.slice(1)) - 1) * columns + (columns - 1 - (wanted.toUpperCase().charCodeAt(0) - 65));
    all[index].scrollIntoView({ block: "nearest" });
    const { left, top, width, height } = all[index].getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }, name);
}

const DOES = {
  tap: async (page, name) => {
    const { x, y } = await where(page, name);
    await page.tap(x, y);
  },
  click: async (page, name) => {
    const { x, y } = await where(page, name);
    await page.click(x, y);
  },
  press: (page, id) => page.run((which) => document.getElementById(which).click(), id),
  review: (page, which) => page.run((one) => document.querySelector(`[data-review=${one}]`).click(), which),
  dialog: (page, index) => page.run((at) => document.querySelectorAll("dialog .body > button")[at].click(), index),
};
