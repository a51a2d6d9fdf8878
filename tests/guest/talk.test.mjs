// What the page says to a host, and when: by docs/guest.md, with a host that is scripted. Whole matches with the real one: matches.test.mjs.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch } from "./browsers.mjs";
import { stage } from "./stage.mjs";
import { settled, where } from "./states.mjs";
import { evening, named, point, quiet, ROOMS, welcome } from "./stories.mjs";

const TOKEN = "q3vZt1c8cJ0yqvUe0xWz9A";
const LIMIT = 60_000;

let browser;
let host;
let page;

/// A host of one guest: keeps what it hears, and answers only hello, ping and what a test tells it to.
class Host {
  heard = [];
  sockets = [];
  /// The room that a guest gets after hello; null: hello is not answered.
  room = ROOMS.gomoku;
  greeting = welcome;
  answers = {};
  pongs = true;
  shut = false;

  connected(socket) {
    if (this.shut) {
      socket.terminate();
      return;
    }
    this.sockets.push(socket);
    socket.on("message", (data) => {
      const [[kind, body]] = Object.entries(JSON.parse(data));
      this.heard.push({ kind, body, connection: this.sockets.length });
      if (kind === "hello" && this.room) {
        this.send({ welcome: { ...this.greeting, side: this.room.you } });
        this.send({ room: this.room });
      } else if (kind === "ping") {
        if (this.pongs) this.send({ pong: body });
      } else {
        const answer = this.answers[kind]?.(body);
        for (const message of [answer ?? []].flat()) this.send(message);
      }
    });
  }

  send(message) {
    const socket = this.sockets.at(-1);
    if (socket?.readyState === 1) socket.send(JSON.stringify(message));
  }

  /// As when the way is gone: no goodbye.
  drop() {
    this.sockets.at(-1).terminate();
  }

  of(kind) {
    return this.heard.filter((one) => one.kind === kind);
  }

  async wait(kind, count = 1) {
    const end = Date.now() + LIMIT;
    while (this.of(kind).length < count) {
      if (Date.now() > end) throw new Error(`${count} of ${kind} were expected: ${JSON.stringify(this.heard)}`);
      await rest(20);
    }
    return this.of(kind)[count - 1].body;
  }
}

const rest = (ms) => new Promise((later) => setTimeout(later, ms));

before(async () => {
  browser = await launch(process.env.ENGINE ?? "chromium");
});
after(() => browser?.close());

beforeEach(async () => {
  host = new Host();
  host.stage = await stage({ connected: (socket) => host.connected(socket) });
});
afterEach(async () => {
  await page?.close();
  page = null;
  await host.stage.close();
});

/// Opens the page, which notes in `wire` what goes between it and the host. `still`: its time passes only by `pass`, apart from
/// waits that are shorter than any between it and a host.
async function open({ name = "Ben", size = "phone", still = false, token = TOKEN } = {}) {
  page = await browser.page({ size });
  await page.before(() => {
    window.wire = { tried: 0, sent: [], heard: [] };
    const note = (list, text) => list.push(Object.entries(JSON.parse(text))[0]);
    window.WebSocket = class extends WebSocket {
      constructor(address) {
        super(address);
        wire.tried += 1;
        this.addEventListener("message", ({ data }) => note(wire.heard, data));
      }

      send(text) {
        note(wire.sent, text);
        super.send(text);
      }
    };
  });
  if (name) {
    await page.before((started, given) => {
      localStorage.setItem(started, "1");
      localStorage.setItem("qiyou.name", given);
    }, `qiyou.started.${TOKEN.slice(0, 8)}`, name);
  }
  if (still) {
    await page.before(() => {
      const SHORT = 400;
      // The driver's own looks at the page.
      const OFTEN = 100;
      const [later, often, forget] = [setTimeout, setInterval, clearTimeout];
      const timers = new Map();
      let now = 0;
      let last = 1e9;
      const add = (run, ms, every) => {
        last += 1;
        timers.set(last, { run, at: now + ms, every });
        return last;
      };
      window.setTimeout = (run, ms = 0, ...given) => (ms < SHORT ? later(run, ms, ...given) : add(() => run(...given), ms, 0));
      window.setInterval = (run, ms = 0, ...given) => (ms < OFTEN ? often(run, ms, ...given) : add(() => run(...given), ms, ms));
      window.clearTimeout = window.clearInterval = (id) => timers.delete(id) || forget(id);
      performance.now = () => now;
      const next = (kind) => [...timers].filter(([, timer]) => kind(timer)).sort(([, one], [, other]) => one.at - other.at)[0];
      /// Milliseconds until the first of what happens once.
      window.nextIn = () => next((timer) => !timer.every)?.[1].at - now;
      window.passTime = (ms) => {
        const end = now + ms;
        for (let due; (due = next((timer) => timer.at <= end)); ) {
          const [id, timer] = due;
          now = timer.at;
          if (timer.every) timer.at += timer.every;
          else timers.delete(id);
          timer.run();
        }
        now = end;
      };
    });
  }
  await page.goto(`${host.stage.address}/#${token}`);
  await settled(page);
}

/// What the page has sent of this kind since it was loaded: known at once, also that it is nothing.
const sent = (kind) => page.run((wanted) => wire.sent.filter(([one]) => one === wanted).map(([, body]) => body), kind);
/// How often the page has begun to connect since it was loaded.
const tried = () => page.run(() => wire.tried);

let marks = 0;
/// Waits until the page has taken in everything that the host has sent.
async function takenIn() {
  marks += 1;
  host.send({ pong: -marks });
  await until((mark) => wire.heard.some(([kind, body]) => kind === "pong" && body === mark), -marks);
}

/// Lets time pass for a page that is `still`.
const pass = (ms) => page.run((much) => passTime(much), ms);

async function tap(name) {
  const { x, y } = await where(page, name);
  await page.tap(x, y);
}

async function click(name) {
  const { x, y } = await where(page, name);
  await page.click(x, y);
}

const shows = (selector) => page.run((one) => document.querySelector(one)?.textContent ?? "", selector);
const press = (id) => page.run((one) => document.getElementById(one).click(), id);
/// Presses a button of a dialog that takes touches already.
async function dialogButton(text) {
  await page.until(() => document.querySelector("dialog .body")?.inert === false, LIMIT);
  await page.run((wanted) => [...document.querySelectorAll("dialog button")].find((one) => one.textContent === wanted).click(), text);
}
const until = (script, ...given) => page.until(script, LIMIT, ...given);
const says = (wanted) => until((text) => document.getElementById("news").textContent.includes(text), wanted);

/// The room after a move of this page's.
function moved(room, name, more = {}) {
  const board = { ...room.board, ply: room.ply + 1, turn: "first", touch: quiet, pieces: [...room.board.pieces, { at: named(name), side: "second", kind: "stone" }], last: { place: named(name) } };
  return { ...room, ply: room.ply + 1, turn: "first", can_act: false, board, record: [...room.record, name.toLowerCase()], ...more };
}

test("a stone on a small board is aimed first and sent by the second tap, with the place that it was seen at", async () => {
  await open();
  await tap("F8");
  await until(() => !document.getElementById("confirm").hidden);
  assert.deepEqual(await sent("act"), []);
  await tap("G10");
  assert.deepEqual(await sent("act"), [], "another point is aimed at");
  await tap("G10");
  const act = await host.wait("act");
  assert.equal((await sent("act")).length, 1);
  assert.deepEqual({ ...act, id: 0 }, { id: 0, room: ROOMS.gomoku.id, ply: 17, revision: 0, action: { place: named("G10") } });
  assert.ok(Number.isSafeInteger(act.id) && act.id > 0);
});

test("a stone that waits is played or given up by the buttons", async () => {
  await open();
  const waits = () => page.run(() => [...document.querySelectorAll("[role=gridcell]")].map((one) => one.getAttribute("aria-label")).filter((one) => /waits/.test(one)));
  await tap("F8");
  await until(() => !document.getElementById("confirm").hidden);
  assert.deepEqual(await waits(), ["F8, empty, waits to be confirmed"]);
  await press("confirm-no");
  await until(() => document.getElementById("confirm").hidden);
  assert.deepEqual(await waits(), []);
  await tap("F8");
  await until(() => !document.getElementById("confirm").hidden);
  assert.deepEqual(await sent("act"), [], "what was given up is aimed at anew");
  await tap("F9");
  assert.deepEqual(await waits(), ["F9, empty, waits to be confirmed"]);
  await press("confirm-yes");
  assert.deepEqual((await host.wait("act")).action, { place: named("F9") });
  assert.equal((await sent("act")).length, 1);
});

test("a mouse hits what it points at, and so does a key", async () => {
  await open({ size: "wide" });
  await click("C3");
  const first = await host.wait("act");
  assert.deepEqual(first.action, { place: named("C3") });
  host.send({ reply: { id: first.id, ok: false, refused: "illegal", words: { en: "Not there.", zh: "不行。" }, points: [] } });
  await until(() => document.getElementById("remark").textContent === "Not there.");
  await page.run(() => document.querySelector("[role=gridcell][tabindex='0']").focus());
  await page.key("ArrowRight");
  await page.key("ArrowUp");
  await page.key("Enter");
  assert.deepEqual((await host.wait("act", 2)).action, { place: named("D4") });
});

test("every point has its name and says what stands there", async () => {
  await open();
  /// By the letters of its columns, from the top left as the first side sees it.
  const lettered = (letters, rows) => Array.from({ length: rows }, (_, down) => [...letters].map((letter, column) => [`${letter}${rows - down}`, point(column, rows - 1 - down)])).flat();
  // The second side's files are counted from its right, and its rows from its own edge.
  const filed = Array.from({ length: 10 }, (_, down) => Array.from({ length: 9 }, (_, across) => [`File ${9 - across}, row ${10 - down}`, point(8 - across, down)])).flat();
  for (const [room, names] of [[ROOMS.gomoku, lettered("ABCDEFGHIJKLMNO", 15)], [ROOMS.go, lettered("ABCDEFGHJ", 9)], [ROOMS.xiangqi, filed]]) {
    const { game, pieces, last } = room.board;
    host.send({ room: { ...room, id: game.padEnd(32, "0") } });
    await until((id) => document.getElementById("title").textContent === id, { gomoku: "Gomoku", go: "Go", xiangqi: "Xiangqi" }[game]);
    const on = (at) => {
      const piece = pieces.find((one) => one.at === at);
      if (!piece) return "empty";
      const [first, second] = piece.kind === "stone" ? ["Black", "White"] : [`red ${piece.kind}`, `black ${piece.kind}`];
      return piece.side === "first" ? first : second;
    };
    const ended = last.step ? last.step[1] : last.place;
    const labels = await page.run(() => [...document.querySelectorAll("[role=gridcell]")].map((one) => one.getAttribute("aria-label")));
    assert.deepEqual(labels, names.map(([name, at]) => `${name}, ${on(at)}${at === ended ? ", last move" : ""}`));
  }
});

test("a move is announced, and that it is one's turn", async () => {
  host.room = moved(ROOMS.gomoku, "F8");
  await open();
  await until(() => document.getElementById("news").textContent === "Gomoku");
  host.send({ room: { ...ROOMS.gomoku, ply: 19, record: [...host.room.record, "a1"], board: { ...ROOMS.gomoku.board, ply: 19 } } });
  await until(() => document.getElementById("news").textContent === "Black: A1. Your turn");
});

test("while the host has not answered a move no other is sent, and then the next one is", async () => {
  await open({ size: "wide" });
  for (const name of ["C3", "C4", "C3", "C5"]) await click(name);
  const { id, action } = await host.wait("act");
  assert.deepEqual(action, { place: named("C3") });
  assert.equal((await sent("act")).length, 1);
  host.send({ reply: { id, ok: false, refused: "illegal", words: { en: "Not there.", zh: "不行。" }, points: [] } });
  await until(() => document.getElementById("remark").textContent === "Not there.");
  assert.equal((await sent("act")).length, 1);
  await click("C4");
  assert.deepEqual((await host.wait("act", 2)).action, { place: named("C4") });
});

test("an action whose answer was lost with the connection is sent again, the same, and no more once it is answered", async () => {
  await open({ size: "wide" });
  await click("C3");
  const first = await host.wait("act");
  host.drop();
  const again = await host.wait("act", 2);
  assert.deepEqual(again, first);
  const order = host.heard.filter((one) => one.connection === 2 && one.kind !== "ping").map((one) => one.kind);
  assert.deepEqual(order, ["hello", "act"]);
  // It had arrived: the answer is ok, and the page asks nothing more.
  host.send({ reply: { id: again.id, ok: true } });
  host.room = moved(ROOMS.gomoku, "C3");
  host.send({ room: host.room });
  await takenIn();
  host.drop();
  await host.wait("hello", 3);
  await takenIn();
  assert.equal((await sent("act")).length, 2);
});

test("nothing is sent again before the room has come", async () => {
  await open({ size: "wide" });
  await click("C3");
  const first = await host.wait("act");
  host.room = null;
  host.drop();
  await host.wait("hello", 2);
  host.send({ welcome });
  await takenIn();
  assert.equal((await sent("act")).length, 1);
  host.send({ room: ROOMS.gomoku });
  assert.deepEqual(await host.wait("act", 2), first);
});

test("a guest who reloads says the same token, tab and name, and greater ids than before, also by a clock that was set back", async () => {
  await open({ size: "wide" });
  await click("C3");
  const before = await host.wait("act");
  const hello = await host.wait("hello");
  assert.match(hello.tab, /^[\w-]{16,64}$/);
  assert.deepEqual({ ...hello, tab: "" }, { version: 1, token: TOKEN, tab: "", name: "Ben" });
  await page.before(() => (Date.now = () => 1_000));
  await page.reload();
  assert.deepEqual(await host.wait("hello", 2), hello);
  await settled(page);
  assert.equal(await page.run(() => document.getElementById("match").hidden), false, "the name is not asked for again");
  await click("C3");
  assert.ok((await host.wait("act", 2)).id > before.id);
});

test("another browser is another tab", async () => {
  await open();
  const first = await host.wait("hello");
  await page.close();
  await open();
  const second = await host.wait("hello", 2);
  assert.notEqual(second.tab, first.tab);
  assert.equal(second.token, first.token);
});

test("a name is asked for once and told to the host", async () => {
  host.greeting = { ...welcome, name: "" };
  await open({ name: "" });
  assert.equal(await page.run(() => document.getElementById("start").hidden), false);
  assert.match(await shows("#start"), /Anna's Deck invites you to play Gomoku/);
  assert.match(await shows("#start"), /referee and keeps the game/);
  assert.match(await shows("#start"), /isn't encrypted/);
  await page.run(() => document.getElementById("start-name").focus());
  await page.type("Ben");
  await page.key("Enter");
  assert.equal((await host.wait("name")).name, "Ben");
  await until(() => !document.getElementById("match").hidden);
  // The host keeps it.
  host.greeting = welcome;
  await page.reload();
  await settled(page);
  assert.equal(await page.run(() => document.getElementById("match").hidden), false, "it is not asked for again");
  assert.deepEqual(await sent("name"), []);
});

test("a lost connection is said, comes back by itself, and the board takes no touch meanwhile", async () => {
  await open({ size: "wide" });
  host.shut = true;
  host.drop();
  await until(() => !document.getElementById("strip").hidden);
  assert.match(await shows("#strip-text"), /Connection lost\. Trying again/);
  await click("C3");
  assert.equal(await page.run(() => document.getElementById("do-undo").disabled), true);
  host.shut = false;
  await host.wait("hello", 2);
  await until(() => document.getElementById("strip").hidden);
  await says("Connected again");
  await takenIn();
  assert.deepEqual(await sent("act"), []);
  await click("D4");
  assert.deepEqual((await host.wait("act")).action, { place: named("D4") }, "it takes touches again");
  assert.equal((await sent("act")).length, 1);
});

test("the page waits longer from try to try, and tries at once when it is told to", async () => {
  await open({ still: true });
  host.shut = true;
  host.drop();
  const waits = [];
  for (let tries = 1; tries <= 8; tries += 1) {
    await until((count) => wire.tried === count && !document.getElementById("strip").hidden, tries);
    const wait = await page.run(() => nextIn());
    await pass(wait - 1);
    assert.equal(await tried(), tries, "not before its time");
    await pass(1);
    assert.equal(await tried(), tries + 1);
    waits.push(wait);
  }
  const growing = waits.slice(0, 6);
  assert.ok(growing.every((wait, at) => at === 0 || wait > growing[at - 1]), waits.join());
  assert.ok(waits.every((wait) => wait < 20_000), waits.join());
  await until((count) => wire.tried === count && !document.getElementById("strip").hidden, 9);
  await until(() => /same Wi-Fi.*If the network has changed, scan the code/.test(document.getElementById("strip-text").textContent));
  host.shut = false;
  await press("strip-now");
  assert.equal(await tried(), 10, "no time has passed");
  await until(() => document.getElementById("strip").hidden);
});

test("a host that answers is kept, and one that falls silent is left for a new connection", async () => {
  await open({ still: true });
  for (let pings = 1; pings <= 4; pings += 1) {
    await pass(10_000);
    await host.wait("ping", pings);
    await until((count) => wire.heard.filter(([kind]) => kind === "pong").length === count, pings);
  }
  assert.equal(await tried(), 1);
  host.pongs = false;
  // 25 s of silence, which are noticed with the next ping, and half a second before the next try.
  await pass(20_000);
  assert.equal(await tried(), 1);
  await pass(12_000);
  assert.equal(await tried(), 2);
  await host.wait("hello", 2);
  await until(() => document.getElementById("strip").hidden);
  await until(() => !document.getElementById("link").classList.contains("down"));
});

test("a page that is looked at again makes its connection prove that it lives", async () => {
  await open({ still: true });
  const looked = () => page.run(() => document.dispatchEvent(new Event("visibilitychange")));
  await pass(4_000);
  assert.deepEqual(await sent("ping"), []);
  await looked();
  assert.equal((await sent("ping")).length, 1);
  await until(() => wire.heard.some(([kind]) => kind === "pong"));
  await pass(3_900);
  assert.equal(await tried(), 1, "it has answered");
  host.pongs = false;
  await looked();
  assert.equal((await sent("ping")).length, 2);
  // Long before the silence would be noticed.
  await pass(4_000);
  assert.equal(await tried(), 2);
  await host.wait("hello", 2);
});

test("after a last word the page does not come back by itself, and offers what helps", async () => {
  const offered = {
    host_stopping: ["Qiyou was closed on the other device", "Ask for a new code to play on."], code_closed: ["Anna's Deck has closed this game", "Ask for a new code to play on."],
    wrong_code: ["This code isn't valid any more", "Ask for a new one"], given: ["Anna's Deck has given this place to someone else", "Ask for a new one"],
    seat_taken: ["Someone else already plays", "Anna's Deck has said no", "Ask again"], replaced: ["open in another tab", "Play there, or continue here", "Continue here"],
    too_old: ["This page is older", "", "Load again"],
  };
  for (const [why, [title, help, button = ""]] of Object.entries(offered)) {
    await open({ still: true });
    const count = host.of("hello").length;
    host.send({ closed: { why, words: { en: "…", zh: "…" }, seconds: 0 } });
    host.drop();
    await until(() => !document.getElementById("trouble").hidden);
    await pass(600_000);
    await page.run(() => ["online", "pageshow"].forEach((name) => dispatchEvent(new Event(name))));
    await page.run(() => document.dispatchEvent(new Event("visibilitychange")));
    assert.equal(await tried(), 1, why);
    assert.ok((await shows("#trouble-title")).includes(title), why);
    assert.ok((await shows("#trouble-text")).includes(help), why);
    assert.equal(await page.run(() => (document.getElementById("trouble-button").hidden ? "" : document.getElementById("trouble-button").textContent)), button, why);
    if (button) {
      await page.run(() => (window.old = true));
      await press("trouble-button");
      await host.wait("hello", count + 1);
      await until((loads) => Boolean(window.old) !== loads && document.getElementById("match")?.hidden === false, why === "too_old");
    }
    await page.close();
  }
});

test("who finds the seat taken waits for the host's person, and sits down when they agree", async () => {
  host.room = null;
  await open({ still: true });
  await host.wait("hello");
  host.send({ taken: { words: { en: "…", zh: "…" }, seconds: 120 } });
  await until(() => /already plays/.test(document.getElementById("trouble-title").textContent));
  await pass(120_000);
  assert.equal(await tried(), 1, "as long as the host may take");
  assert.equal(await page.run(() => document.getElementById("trouble").hidden), false);
  host.send({ welcome });
  host.send({ room: ROOMS.gomoku });
  await until(() => !document.getElementById("match").hidden);
  assert.equal((await sent("hello")).length, 1);
});

test("without a code the page says what to do and connects to nothing", async () => {
  await open({ token: "", still: true });
  assert.match(await shows("#trouble"), /Scan the QR code/);
  await pass(600_000);
  await page.run(() => ["online", "pageshow"].forEach((name) => dispatchEvent(new Event(name))));
  await page.run(() => document.dispatchEvent(new Event("visibilitychange")));
  assert.equal(await tried(), 0);
  assert.equal(host.sockets.length, 0);
});

test("a piece is picked, then the point where it goes; one that cannot move says why; a losing step is asked about", async () => {
  host.room = ROOMS.xiangqi;
  await open({ size: "wide" });
  /// Points whose label says this.
  const labelled = async (word) => (await page.run(() => [...document.querySelectorAll("[role=gridcell]")].map((one) => one.getAttribute("aria-label")))).filter((one) => one.split(", ").includes(word));
  await click("e5");
  await until(() => /one of your own pieces/.test(document.getElementById("remark").textContent));
  await click("e10");
  await until(() => /would be in check/.test(document.getElementById("remark").textContent));
  assert.deepEqual([await labelled("picked"), await labelled("possible")], [[], []]);
  await click("b8");
  await until(() => /where it goes/.test(document.querySelector("#near .state").textContent));
  assert.deepEqual(await labelled("picked"), ["File 2, row 3, black cannon, picked"]);
  assert.deepEqual(await labelled("possible"), ["File 2, row 5, red cannon, last move, possible", "File 2, row 2, empty, possible", "File 2, row 1, empty, possible"]);
  assert.deepEqual(await sent("act"), []);
  await click("b9");
  assert.deepEqual((await host.wait("act")).action, { step: [named("b8"), named("b9")] });
  host.send({ reply: { id: (await host.wait("act")).id, ok: false, refused: "illegal", words: { en: "No", zh: "不" }, points: [] } });
  await until(() => document.getElementById("remark").textContent === "No");
  await click("h10");
  await click("h9");
  await until(() => document.querySelector("dialog")?.dataset.dialog === "losing");
  assert.equal(await shows("dialog h2"), "This move loses");
  assert.equal((await sent("act")).length, 1);
  await dialogButton("Play it anyway");
  assert.deepEqual((await host.wait("act", 2)).action, { step: [named("h10"), named("h9")] });
});

test("the tap that brings up a question neither answers it nor sends it away", async () => {
  // On one page an answer lies under the finger, on the other one what sends a question away.
  for (const [size, under] of [[{ width: 360, height: 740, hasTouch: true, isMobile: true, deviceScaleFactor: 1 }, "answer"], ["lying", "beside"]]) {
    host.room = ROOMS.xiangqi;
    await open({ size });
    await tap("h10");
    await until(() => /where it goes/.test(document.querySelector("#near .state").textContent));
    const { x, y } = await where(page, "h9");
    await page.tap(x, y);
    await until(() => document.querySelector("dialog .body")?.inert === false);
    assert.equal(await page.run((left, top) => {
      const hit = document.elementFromPoint(left, top);
      const box = document.querySelector("dialog").getBoundingClientRect();
      return hit.closest("dialog button") ? "answer" : hit.matches("dialog") && (left < box.left || left > box.right) ? "beside" : "";
    }, x, y), under);
    assert.equal(await page.run(() => document.querySelector("dialog").dataset.dialog), "losing");
    assert.deepEqual(await sent("act"), []);
    await dialogButton("Choose another move");
    await until(() => !document.querySelector("dialog"));
    assert.deepEqual(await sent("act"), []);
    await page.close();
  }
});

test("what no point stands for has a button: pass, agree, play on, and what an opening lets choose", async () => {
  const chosen = { pass: { pass: true }, agree: { agree: true }, resume: { resume: true } };
  for (const name of ["black", "white", "two_more", "fifths_1", "fifths_8"]) chosen[name] = { choose: name };
  const rooms = { pass: ROOMS.go, agree: ROOMS.counted, resume: ROOMS.counted, black: ROOMS.swap2, white: ROOMS.swap2, two_more: ROOMS.swap2, fifths_1: ROOMS.fifths, fifths_8: ROOMS.fifths };
  const words = { pass: "Pass", agree: "Agree and count", resume: "Play on", black: "Play Black", white: "Play White", two_more: "Two more stones", fifths_1: "Fifth moves: 1", fifths_8: "Fifth moves: 8" };
  host.answers.act = ({ id }) => ({ reply: { id, ok: false, refused: "busy", words: { en: "Not now", zh: "现在不行" }, points: [] } });
  await open();
  for (const [at, [name, action]] of Object.entries(chosen).entries()) {
    host.send({ room: { ...rooms[name], revision: at } });
    await until((one) => document.querySelector(`[data-choice=${one}]:enabled`)?.getClientRects().length, name);
    assert.equal(await shows(`[data-choice=${name}]`), words[name]);
    await page.run((one) => document.querySelector(`[data-choice=${one}]`).click(), name);
    assert.deepEqual((await host.wait("act", at + 1)).action, action);
    assert.equal((await sent("act")).length, at + 1);
    await takenIn();
  }
});

test("a touch marks a stone of the count as dead or alive", async () => {
  host.room = ROOMS.counted;
  await open();
  await tap("E4");
  assert.deepEqual((await host.wait("act")).action, { toggle: point(4, 3) });
});

test("lights that are pressed faster than the host answers are sent one after another, each once", async () => {
  host.room = ROOMS.racing;
  const asked = [];
  host.answers.act = ({ id }) => void asked.push(id);
  await open();
  const spots = await page.run(() => [...document.querySelectorAll("[role=gridcell]")].slice(0, 4).map((one) => {
    const box = one.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }));
  for (const [x, y] of spots) await page.tap(x, y);
  for (const answered of spots.keys()) {
    await host.wait("act", answered + 1);
    assert.equal((await sent("act")).length, answered + 1, "the next one waits for the answer");
    const answer = [{ reply: { id: asked[answered], ok: true } }, { room: { ...ROOMS.racing, race: { ...ROOMS.racing.race, my_presses: 5 + answered } } }];
    // The room comes before the reply as often as after it.
    for (const message of answered % 2 ? answer.reverse() : answer) host.send(message);
  }
  await takenIn();
  const acts = await sent("act");
  assert.deepEqual(acts.map(({ ply }) => ply), [4, 5, 6, 7]);
  assert.deepEqual(acts.map(({ action }) => action), [0, 1, 2, 3].map((column) => ({ press: point(column, 4) })));
});

test("an offer is a question that must be answered, and its answer carries its number", async () => {
  const asks = {
    draw: "Anna's Deck offers a draw", take_back: "Anna's Deck asks to undo a move", new_game: "Anna's Deck would like a new game", new_game_same: "Anna's Deck would like a new game",
    pause: "Anna's Deck would like a pause", continue: "Anna's Deck would like to continue",
  };
  await open();
  for (const [at, [kind, question]] of Object.entries(asks).entries()) {
    const number = 4 + at;
    host.send({ room: { ...ROOMS.offered(kind), offer: { ...ROOMS.offered(kind).offer, number } } });
    const isAsked = () => until((words) => document.querySelector("dialog h2")?.textContent === words && document.querySelector("dialog .body").inert === false, question);
    await isAsked();
    // A browser lets a second Escape through.
    for (let times = 0; times < 3; times += 1) await page.key("Escape");
    await page.tap(2, 2);
    await isAsked();
    assert.equal((await sent("answer")).length, at);
    const accept = at % 2 === 0;
    await dialogButton(accept ? "Agree" : "Decline");
    const answer = await host.wait("answer", at + 1);
    assert.deepEqual({ ...answer, id: 0 }, { id: 0, room: ROOMS.gomoku.id, number, accept });
    await takenIn();
    assert.equal(await page.run(() => document.querySelector("dialog") === null), true);
  }
});

test("an offer that is answered is not asked again before the host has taken the answer, and asked again if it has not", async () => {
  await open();
  host.send({ room: ROOMS.offered("draw") });
  await dialogButton("Decline");
  const { id } = await host.wait("answer");
  host.send({ said: { number: 1, mine: false, name: "Anna's Deck", phrase: "hello", text: "", words: null } });
  host.send({ room: { ...ROOMS.offered("draw"), first: { ...ROOMS.gomoku.first, present: false } } });
  await takenIn();
  assert.equal(await page.run(() => document.querySelector("dialog") === null), true);
  host.send({ reply: { id, ok: false, refused: "disk", words: { en: "Not now", zh: "现在不行" }, points: [] } });
  await until(() => document.querySelector("dialog")?.dataset.dialog === "offer");
});

test("an offer that is gone is asked no more", async () => {
  await open();
  host.send({ room: ROOMS.offered("take_back") });
  await until(() => document.querySelector("dialog")?.dataset.dialog === "offer");
  host.send({ room: ROOMS.gomoku });
  await until(() => !document.querySelector("dialog"));
  assert.deepEqual(await sent("answer"), []);
});

test("undo, draw, new game and resign are sent as they are meant, and what ends the game only once it is confirmed", async () => {
  const offer = async (count) => ({ ...(await host.wait("offer", count)), id: 0 });
  const now = { id: 0, room: ROOMS.gomoku.id, ply: 17, revision: 0 };
  await open();
  await press("do-undo");
  assert.deepEqual(await offer(1), { ...now, kind: "take_back" });
  await press("do-draw");
  assert.deepEqual(await offer(2), { ...now, kind: "draw" });
  await press("do-more");
  await dialogButton("New game");
  await until(() => document.querySelector("dialog")?.dataset.dialog === "new");
  assert.equal((await sent("offer")).length, 2);
  await dialogButton("New game");
  assert.deepEqual(await offer(3), { ...now, kind: "new_game" });
  await press("do-resign");
  await until(() => document.querySelector("dialog")?.dataset.dialog === "resign");
  await dialogButton("Play on");
  await until(() => !document.querySelector("dialog"));
  await press("do-resign");
  await until(() => document.querySelector("dialog")?.dataset.dialog === "resign");
  assert.deepEqual(await sent("resign"), []);
  await dialogButton("Resign");
  assert.deepEqual({ ...(await host.wait("resign")), id: 0 }, { id: 0, room: ROOMS.gomoku.id, revision: 0 });
  host.send({ room: ROOMS.over });
  await until(() => !document.getElementById("result").hidden);
  assert.equal(await shows("#outcome"), "You won");
  await press("rematch");
  assert.deepEqual(await offer(4), { ...now, ply: 18, kind: "new_game" });
  await press("same");
  assert.deepEqual(await offer(5), { ...now, ply: 18, kind: "new_game_same" });
});

test("what is declined is said", async () => {
  await open();
  host.send({ room: { ...ROOMS.gomoku, offer: { number: 1, kind: "draw", mine: true, by: "second" } } });
  await until(() => /was asked for a draw/.test(document.querySelector("#far .state").textContent));
  host.send({ room: ROOMS.gomoku });
  await until(() => document.getElementById("remark").textContent === "Anna's Deck declined");
});

test("phrases and words go out, come in once, and are heard", async () => {
  await open();
  await press("do-say");
  await dialogButton("Good move!");
  assert.equal((await host.wait("say")).phrase, "good-move");
  await press("do-say");
  await page.run(() => document.querySelector("dialog input").focus());
  await page.type("See you <b>soon</b>");
  await page.key("Enter");
  assert.equal((await host.wait("say", 2)).text, "See you <b>soon</b>");
  const said = (number, more) => host.send({ said: { number, mine: false, name: "Anna's Deck", phrase: "", text: "", words: null, ...more } });
  said(3, { text: "<i>Hm</i>" });
  await until(() => document.querySelector("#far .state").textContent === "“<i>Hm</i>”");
  await says("Anna's Deck: “<i>Hm</i>”");
  // What comes again after a lost connection.
  for (const number of [2, 3]) said(number, { phrase: "hello" });
  await takenIn();
  assert.equal(await shows("#far .state"), "“<i>Hm</i>”");
  said(4, { phrase: "good-luck" });
  await until(() => document.querySelector("#far .state").textContent === "“Good luck!”");
  await says("Anna's Deck: “Good luck!”");
  said(5, { mine: true, name: "Ben", phrase: "thanks" });
  await until(() => document.querySelector("#near .state").textContent === "“Thank you!”");
});

test("moves are looked through while the host's match stays as it is, and the board takes no touch there", async () => {
  const { board, record } = ROOMS.gomoku;
  /// The stones of the first so many moves.
  const pieces = (ply) => record.slice(0, ply).map((one) => board.pieces.find((piece) => piece.at === named(one)));
  host.answers.look = ({ id, ply }) => ({ position: { id, room: ROOMS.gomoku.id, ply, total: 17, board: { ...board, ply, pieces: pieces(ply), last: ply ? { place: named(record[ply - 1]) } : null } } });
  await open({ size: "wide" });
  const stones = () => page.run(() => [...document.querySelectorAll("[role=gridcell]")].map((one) => one.getAttribute("aria-label")).filter((one) => /Black|White/.test(one)).length);
  const looked = async (count, ply, words) => {
    assert.equal((await host.wait("look", count)).ply, ply);
    await until((wanted) => document.getElementById("board").dataset.ply === wanted && !document.getElementById("review").hidden, String(ply));
    assert.equal(await stones(), ply);
    assert.equal(await shows("#review-text"), words);
  };
  const step = (which) => page.run((one) => document.querySelector(`[data-review=${one}]`).click(), which);
  await press("do-more");
  await dialogButton("Review");
  await looked(1, 17, "Move 17 of 17: J6");
  await step("first");
  await looked(2, 0, "Move 0 of 17");
  await step("right");
  await looked(3, 1, "Move 1 of 17: H10");
  await step("last");
  await looked(4, 17, "Move 17 of 17: J6");
  await step("left");
  await looked(5, 16, "Move 16 of 17: H6");
  await page.run(() => [...document.querySelectorAll("#moves-list button")].find((one) => one.textContent === "I9").click());
  await looked(6, 5, "Move 5 of 17: I9");
  await click("C3");
  await page.run(() => document.querySelector("[role=gridcell][tabindex='0']").focus());
  await page.key("Enter");
  assert.deepEqual(await sent("act"), []);
  await press("review-end");
  await until(() => document.getElementById("review").hidden);
  assert.equal(await stones(), 17);
  assert.deepEqual(new Set(await page.run(() => wire.sent.map(([kind]) => kind))), new Set(["hello", "look"]));
  await click("C3");
  assert.deepEqual((await host.wait("act")).action, { place: named("C3") });
});

test("the record is saved as the file that the host sends", async () => {
  host.room = ROOMS.over;
  host.answers.file = ({ id }) => ({ file: { id, name: "gomoku.sgf", text: "(;GM[4]SZ[15];B[hh])" } });
  await open();
  await page.run(() => {
    window.saved = [];
    HTMLAnchorElement.prototype.click = function () {
      fetchBlob(this.href).then((text) => window.saved.push([this.download, text]));
    };
    const blobs = new Map();
    const plain = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      const address = plain(blob);
      blobs.set(address, blob);
      return address;
    };
    const fetchBlob = (address) => blobs.get(address).text();
  });
  await press("do-save");
  await until(() => window.saved.length === 1);
  assert.deepEqual(await page.run(() => window.saved), [["gomoku.sgf", "(;GM[4]SZ[15];B[hh])"]]);
});

test("clocks run between the host's messages, and stand when nobody's runs", async () => {
  host.room = ROOMS.go;
  await open({ still: true });
  const clocks = async () => [await shows("#far .clock span"), await shows("#near .clock span")];
  assert.deepEqual(await clocks(), ["4:34", "0:19"]);
  await pass(5_000);
  assert.deepEqual(await clocks(), ["4:34", "0:14"]);
  await pass(20_000);
  assert.deepEqual(await clocks(), ["4:34", "0:00"]);
  assert.equal(await page.run(() => wire.heard.filter(([kind]) => kind === "room").length), 1);
  host.send({ room: { ...ROOMS.go, paused: true, can_act: false, clocks: ROOMS.go.clocks.map((one) => ({ ...one, running: false })) } });
  await until(() => !document.getElementById("resting").hidden);
  assert.deepEqual(await clocks(), ["4:34", "0:19"]);
  await pass(5_000);
  assert.deepEqual(await clocks(), ["4:34", "0:19"]);
});

test("who watches sees all and can do nothing", async () => {
  host.room = { ...ROOMS.gomoku, you: "unspecified", can_act: false, second: { ...ROOMS.gomoku.second, you: false } };
  host.greeting = { ...welcome, as: "watcher", name: "" };
  await open({ name: "", size: "wide" });
  await until(() => !document.getElementById("match").hidden);
  assert.deepEqual([await shows("#near .name"), await shows("#far .name")], ["Anna's Deck", "Ben"]);
  assert.equal(await shows("#far .state"), "to move");
  assert.deepEqual(await page.run(() => [...document.querySelectorAll("#moves-list button")].map((one) => one.textContent)), ROOMS.gomoku.record.map((one) => one.toUpperCase()));
  assert.equal(await page.run(() => [...document.querySelectorAll("[role=gridcell]")].filter((one) => /Black|White/.test(one.getAttribute("aria-label"))).length), 17);
  assert.match(await shows("#link"), /You are watching/);
  const canPress = () => page.run(() => [...document.querySelectorAll("main button")].filter((one) => one.getClientRects().length && !one.closest("#moves-list") && !one.matches("[data-language]")).map((one) => one.id));
  assert.deepEqual(await canPress(), ["do-review", "do-save", "do-more"]);
  await click("C3");
  await page.run(() => document.querySelector("[role=gridcell][tabindex='0']").focus());
  await page.key("Enter");
  await press("do-more");
  assert.deepEqual(await page.run(() => [...document.querySelectorAll("dialog .body > button:not(.switch)")].map((one) => one.textContent)), ["Review", "Save to a file", "Flip the board", "Rules", "About this page", "中文", "Close"]);
  await dialogButton("Close");
  // Nor are they asked what the players ask each other, or for another game.
  host.send({ room: { ...host.room, offer: { number: 1, kind: "draw", mine: false, by: "first" } } });
  await takenIn();
  assert.equal(await page.run(() => document.querySelector("dialog") === null), true);
  host.send({ room: { ...ROOMS.over, you: "unspecified", second: host.room.second } });
  await until(() => document.getElementById("outcome").textContent === "White won");
  assert.deepEqual(await canPress(), ["do-review", "do-save", "do-more"]);
  assert.deepEqual(new Set(await page.run(() => wire.sent.map(([kind]) => kind))), new Set(["hello"]));
});

test("the next game begins where the last one was, with the sides as the host says", async () => {
  host.room = ROOMS.over;
  await open();
  const stone = (seat) => page.run((one) => document.querySelector(`#${one} .stone use`).getAttribute("href"), seat);
  assert.equal(await stone("near"), "#stone-second");
  const next = { ...ROOMS.gomoku, id: "f".repeat(32), follows: ROOMS.over.id, you: "first", ply: 0, record: [], turn: "first", can_act: true, first: ROOMS.gomoku.second, second: ROOMS.gomoku.first,
    board: { ...ROOMS.gomoku.board, ply: 0, pieces: [], last: null, turn: "first", touch: { ...quiet, kind: "place", stone: "first" } } };
  host.send({ room: next });
  await until(() => document.getElementById("result").hidden);
  assert.deepEqual([await shows("#near .name"), await stone("near"), await shows("#near .state")], ["Ben (me)", "#stone-first", "Your turn"]);
  assert.deepEqual([await shows("#far .name"), await stone("far"), await shows("#far .state")], ["Anna's Deck", "#stone-second", "plays White"]);
  await until(() => [...document.querySelectorAll("[role=gridcell]")].every((one) => one.getAttribute("aria-label").endsWith(", empty")));
  await tap("H8");
  await tap("H8");
  const act = await host.wait("act");
  assert.deepEqual([act.room, act.ply], [next.id, 0]);
});

test("the language can be changed before the game, in trouble and in the game, and stays", async () => {
  const change = async (section, lang, selector, words) => {
    await page.run((id) => document.querySelector(`#${id} [data-language]`).click(), section);
    await until((wanted) => document.documentElement.lang === wanted, lang);
    assert.equal(await shows(selector), words);
  };
  host.greeting = { ...welcome, name: "" };
  await open({ name: "" });
  await change("start", "zh-Hans", "#start-title", "Anna's Deck 邀你下五子棋");
  await change("start", "en", "#start-title", "Anna's Deck invites you to play Gomoku");
  host.send({ closed: { why: "code_closed", words: null, seconds: 0 } });
  await until(() => !document.getElementById("trouble").hidden);
  await change("trouble", "zh-Hans", "#trouble-title", "Anna's Deck 不再让别人用这个页面下这局棋");
  await page.close();
  host.greeting = welcome;
  await open();
  await change("match", "zh-Hans", "#near .state", "轮到你了");
  await page.reload();
  await settled(page);
  assert.equal(await shows("#title"), "五子棋");
  await press("do-more");
  await dialogButton("English");
  await until(() => document.documentElement.lang === "en");
  assert.equal(await shows("#near .state"), "Your turn");
});

/// Sends an evening, and words after it, which the page shows when it has both.
async function sendEvening(club, number) {
  host.send({ club });
  host.send({ said: { number, mine: false, name: "Anna's Deck", phrase: "", text: `round ${number}`, words: null } });
  await until((text) => document.querySelector("#far .state").textContent.includes(text), `round ${number}`);
}

test("of a club evening the next opponent is told, one's own first, in both languages and as it changes", async () => {
  host.room = ROOMS.over;
  await open();
  const next = () => page.run(() => ({
    own: document.getElementById("club-own")?.textContent ?? null,
    rows: [...document.querySelectorAll("#club-next tr")].map((row) => [...row.children].map((cell) => cell.textContent)),
    marked: [...document.querySelectorAll("#club-next tr")].findIndex((row) => row.classList.contains("own")),
  }));
  const showClub = async (words) => {
    await press("do-more");
    await dialogButton(words);
    await until(() => document.querySelector("dialog")?.dataset.dialog === "club");
  };
  await sendEvening(evening, 1);
  await showClub("Club evening");
  const long = "A player with a long name";
  assert.deepEqual(await next(), {
    own: "Round 2: you play Anna",
    rows: [["Player", "Opponent", "Round"], ["Ben (me)", "Anna", "2"], ["Anna", "Ben (me)", "2"], ["小明", long, "2"], ["Dora", "Anna", "3"], [long, "小明", "2"]],
    marked: 1,
  });
  // The open dialog follows.
  host.send({ club: { ...evening, next: [{ player: 4, round: 3, board: 2, opponent: 2, side: "first" }, { player: 2, round: 3, board: 2, opponent: 4, side: "second" }] } });
  await until(() => document.getElementById("club-own")?.textContent === "Round 3: you play Dora");
  await dialogButton("Close");
  await page.run(() => document.querySelector("#match [data-language]").click());
  await showClub("棋会");
  assert.deepEqual(await next(), { own: "第 3 轮：你和 Dora 下", rows: [["姓名", "对手", "轮次"], ["Ben（我）", "Dora", "3"], ["Dora", "Ben（我）", "3"]], marked: 1 });
  host.send({ club: { ...evening, next: [] } });
  await until(() => !document.getElementById("club-next") && !document.getElementById("club-own"));
});

test("a guest who is called otherwise on the list of a club evening is marked only if no other can be meant", async () => {
  host.room = ROOMS.over;
  await open();
  const called = (ben, other) => ({ ...evening, players: evening.players.map((one) => ({ ...one, name: one.id === 2 ? ben : one.name, who: one.id === 5 ? other : one.who })) });
  const marked = () => page.run(() => document.querySelector("#club-next .own td")?.textContent ?? "");
  await sendEvening(called("Benjamin", "nobody"), 1);
  await press("do-more");
  await dialogButton("Club evening");
  await until(() => document.getElementById("club-next"));
  assert.equal(await marked(), "Benjamin (me)");
  host.send({ club: called("Benjamin", "guest") });
  await until(() => !document.getElementById("club-own"));
  assert.equal(await marked(), "");
  assert.equal(await page.run(() => document.querySelectorAll("#club-next tbody tr").length), 5);
});

test("from the evening a guest sits down by a touch, under the name on its list, and goes back after the game", async () => {
  const seatToken = "seatOfBen0c8cJ0yqvUe0x";
  const looks = { ...welcome, as: "evening", side: "unspecified", name: "" };
  const seat = { round: 2, board: 2, name: "Ben", side: "second", token: seatToken };
  host.room = null;
  host.answers.hello = ({ token }) => (token === TOKEN ? [{ welcome: looks }, { club: { ...evening, seats: [] } }] : [{ welcome }, { room: ROOMS.gomoku }]);
  await open({ name: "Somebody" });
  const sits = () => page.run(() => [...document.querySelectorAll("#evening-seats button")].map((one) => one.textContent));
  await until(() => document.getElementById("evening").hidden === false);
  assert.deepEqual(await sits(), []);
  // The view follows the evening.
  host.send({ club: { ...evening, seats: [seat] } });
  await until(() => document.querySelector("#evening-seats button"));
  assert.deepEqual(await sits(), ["Sit down: Ben"]);
  await page.run(() => document.querySelector("#evening-seats button").click());
  const hello = await host.wait("hello", 2);
  assert.deepEqual([hello.token, hello.name], [seatToken, ""]);
  await until(() => document.getElementById("match")?.hidden === false);
  const back = () => page.run(() => [...document.querySelectorAll("[data-evening]")].some((one) => one.getClientRects().length));
  assert.equal(await back(), false, "the game goes on");
  host.send({ room: ROOMS.over });
  await until(() => document.getElementById("result").hidden === false);
  assert.equal(await back(), true);
  await page.run(() => document.querySelector("#result [data-evening]").click());
  const again = await host.wait("hello", 3);
  assert.deepEqual([again.token, again.name], [TOKEN, "Somebody"]);
  await until(() => document.getElementById("evening")?.hidden === false);
});

test("a page that came by a seat's own code knows no evening to go back to", async () => {
  host.room = ROOMS.over;
  await open();
  await until(() => document.getElementById("result").hidden === false);
  assert.equal(await page.run(() => [...document.querySelectorAll("[data-evening]")].every((one) => one.hidden)), true);
});

test("questions take the keyboard and give it back", async () => {
  await open();
  const focused = () => page.run(() => document.activeElement.id);
  for (const [id, name, end] of [["do-resign", "resign", "Escape"], ["do-resign", "resign", "Play on"], ["do-say", "say", "Close"], ["do-more", "more", "Escape"]]) {
    await page.run((one) => document.getElementById(one).focus(), id);
    await page.key("Enter");
    await until((one) => document.activeElement?.closest("dialog")?.dataset.dialog === one, name);
    await page.key("Tab");
    const first = await page.run(() => document.activeElement.closest("dialog") && document.activeElement.matches("button"));
    assert.equal(first, true, "its first control");
    // Nothing behind it can be reached.
    assert.equal(await page.run((one) => {
      document.getElementById(one).focus();
      return document.activeElement.closest("dialog") !== null;
    }, id), true);
    if (end === "Escape") await page.key("Escape");
    else {
      await page.run((words) => [...document.querySelectorAll("dialog button")].find((one) => one.textContent === words).focus(), end);
      await page.key("Enter");
    }
    await until(() => !document.querySelector("dialog"));
    assert.equal(await focused(), id, name);
  }
});
