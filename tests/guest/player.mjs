// A person at the page: plays actions of the notation by fingers or by keys, and reads it in either language.
import { pieceWords } from "./words.mjs";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/// Column and row from the bottom left.
function square(game, name) {
  const letter = LETTERS.indexOf(name[0].toLowerCase());
  const row = Number(name.slice(1));
  if (game === "xiangqi") return [letter, row];
  return [game === "go" && letter > 8 ? letter - 1 : letter, row - 1];
}

/// The points to be touched for an action, or the word of a button.
export function touches(game, action) {
  if (/^(pass|agree|resume)$/.test(action)) return { button: action };
  const name = game === "go" ? "[A-HJ-Z][0-9]+" : "[a-z][0-9]+";
  const places = action.match(new RegExp(name, "g"));
  return { squares: places.map((one) => square(game, one)) };
}

export class Player {
  constructor(page, game, side, keys = false) {
    Object.assign(this, { page, game, side, keys });
  }

  async play(action) {
    const { button, squares } = touches(this.game, action);
    if (button) {
      await this.choose(button);
      return;
    }
    for (const [column, row] of squares) {
      const index = await this.#index(column, row);
      await this.hit(index);
    }
  }

  /// What no point stands for.
  async choose(name) {
    await this.page.until((one) => document.querySelector(`[data-choice=${one}]:enabled`), 10_000, name);
    await this.page.run((one) => document.querySelector(`[data-choice=${one}]`).scrollIntoView({ block: "center" }), name);
    if (this.keys) {
      await this.page.run((one) => document.querySelector(`[data-choice=${one}]`).focus(), name);
      await this.page.key("Enter");
    } else {
      const [x, y] = await this.#middle(`[data-choice=${name}]`);
      await this.page.tap(x, y);
    }
  }

  async press(id) {
    await this.page.until((one) => document.querySelector(`#${one}:enabled`)?.getClientRects().length, 10_000, id);
    await this.page.run((one) => document.getElementById(one).scrollIntoView({ block: "center" }), id);
    const [x, y] = await this.#middle(`#${id}`);
    await this.page.tap(x, y);
  }

  async answer(text) {
    await this.page.until((wanted) => document.querySelector("dialog .body")?.inert === false && [...document.querySelectorAll("dialog button")].some((one) => one.textContent === wanted), 10_000, text);
    const [x, y] = await this.page.run((wanted) => {
      const element = [...document.querySelectorAll("dialog button")].find((one) => one.textContent === wanted);
      element.scrollIntoView({ block: "nearest" });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    }, text);
    await this.page.tap(x, y);
  }

  /// The page shows the position after so many actions and takes a touch, unless `any`.
  async sees(ply) {
    await this.page.until((wanted) => !document.getElementById("match").hidden && Number(document.getElementById("board").dataset.ply) === wanted, 60_000, ply);
  }

  async mayAct() {
    await this.page.until(() => document.getElementById("board").classList.contains("live"), 60_000);
  }

  /// What each point's label says of what stands there, from the top left; null: nothing.
  #labels() {
    return this.page.run((tables) => {
      const table = tables[document.documentElement.lang === "en" ? "en" : "zh"];
      const what = (cell) => cell.getAttribute("aria-label").split(/, |，/).slice(1).find((word) => Object.hasOwn(table, word));
      return [...document.querySelectorAll("[role=gridcell]")].map((cell) => table[what(cell)] ?? null);
    }, { en: pieceWords("en"), zh: pieceWords("zh") });
  }

  /// What stands on the board, as {"first stone": 2, "second general": 1, …}.
  async standing() {
    const found = {};
    for (const what of await this.#labels()) if (what) found[what] = (found[what] ?? 0) + 1;
    return found;
  }

  /// Which lights are lit, from the top left.
  async lights() {
    return (await this.#labels()).map((what) => what === "lit");
  }

  /// Touches the point of this index, from the top left.
  hit(index) {
    return this.keys ? this.#byKeys(index) : this.#byFinger(index);
  }

  #index(column, row) {
    const turned = this.game === "xiangqi" && this.side === "second";
    return this.page.run((x, y, other) => {
      const all = document.querySelectorAll("[role=gridcell]");
      const wide = all[0].parentElement.childElementCount;
      const high = all.length / wide;
      return other ? y * wide + (wide - 1 - x) : (high - 1 - y) * wide + x;
    }, column, row, turned);
  }

  async #byFinger(index) {
    const spot = () => this.page.run((at) => {
      const cell = document.querySelectorAll("[role=gridcell]")[at];
      cell.scrollIntoView({ block: "nearest" });
      const { left, top, width, height } = cell.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    }, index);
    const [x, y] = await spot();
    await this.page.tap(x, y);
    // A small point waits to be meant.
    if (await this.page.run(() => new Promise((later) => setTimeout(() => later(!document.getElementById("confirm").hidden), 40)))) {
      const [againX, againY] = await spot();
      await this.page.tap(againX, againY);
    }
  }

  async #byKeys(index) {
    const from = await this.page.run(() => {
      const cursor = document.querySelector("[role=gridcell][tabindex='0']");
      if (document.activeElement !== cursor) cursor.focus();
      return [[...document.querySelectorAll("[role=gridcell]")].indexOf(cursor), cursor.parentElement.childElementCount];
    });
    const [at, wide] = from;
    const [across, down] = [(index % wide) - (at % wide), Math.floor(index / wide) - Math.floor(at / wide)];
    for (let step = 0; step < Math.abs(across); step += 1) await this.page.key(across > 0 ? "ArrowRight" : "ArrowLeft");
    for (let step = 0; step < Math.abs(down); step += 1) await this.page.key(down > 0 ? "ArrowDown" : "ArrowUp");
    await this.page.key("Enter");
  }

  #middle(selector) {
    return this.page.run((one) => {
      const { left, top, width, height } = document.querySelector(one).getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    }, selector);
  }
}

/// Opens a code in a page of its own and sits down.
export async function sit(browser, url, { game = "gomoku", side = "second", size = "phone", keys = false, name = "Ben" } = {}) {
  const page = await browser.page({ size });
  await page.goto(url);
  await begin(page, name);
  return new Player(page, game, side, keys);
}

/// Gives the name.
export async function begin(page, name = "Ben") {
  await page.until(() => !document.getElementById("start").hidden, 60_000);
  await page.run(() => {
    document.getElementById("start-name").value = "";
    document.getElementById("start-name").focus();
  });
  await page.type(name);
  await page.key("Enter");
  await page.until(() => !document.getElementById("match").hidden, 60_000);
}
