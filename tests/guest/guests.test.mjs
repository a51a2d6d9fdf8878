// A guest and a real qiyoud: who gets the seat, what two agree on, and what becomes of it all when the way or a program ends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browsers.mjs";
import { Cable } from "./cable.mjs";
import { Host, rest } from "./host.mjs";
import { solve } from "./lights.mjs";
import { begin, Player, sit } from "./player.mjs";

const LIMIT = 60_000;
let host;
let cable;
let browser;

before(async () => {
  host = await Host.start();
  cable = await Cable.make();
  browser = await launch(process.env.ENGINE ?? "chromium", { proxy: cable.port });
});

after(() => assert.ok(cable.served > 0, "the pages came by the cable"));

after(async () => {
  await browser?.close();
  await cable?.close();
  await host?.close();
});

const title = (page, wanted) => page.until((text) => !document.getElementById("trouble").hidden && document.getElementById("trouble-title").textContent.includes(text), LIMIT, wanted);
const shows = (page, selector, wanted) => page.until((one, text) => document.querySelector(one)?.textContent.includes(text), LIMIT, selector, wanted);

/// Plays from the beginning: the host's by qiyouctl, the guest's at the page.
async function play(room, player, actions) {
  for (const action of actions) {
    const { turn, ply } = await host.board(room.id);
    if (turn === player.side) {
      await player.sees(ply);
      await player.mayAct();
      await player.play(action);
    } else {
      await host.until(room.id, (board) => board.can_act, "the host may act");
      await host.ctl("play", action, "--room", room.id);
    }
    await host.until(room.id, (board) => board.ply === ply + 1, action);
  }
  await player.sees((await host.board(room.id)).ply);
}

test("a connection that is cut while each of a guest's moves is on its way, or its answer, loses none and doubles none", async () => {
  const room = await host.room("gomoku");
  const player = await sit(browser, room.url);
  const actions = "h8 a1 h9 a3 h10 a5 h11 a7 h12".split(" ");
  for (const [ply, action] of actions.entries()) {
    if (ply % 2) {
      await player.sees(ply);
      await player.mayAct();
      // In turn: the move does not arrive; it does, and its answer may not.
      if (ply % 4 === 1) cable.silence();
      await player.play(action);
      await rest(ply % 4 === 1 ? 100 : 0);
      cable.cut();
      await rest(100);
      cable.mend();
    } else {
      await host.until(room.id, (board) => board.can_act && board.ply === ply, action);
      await host.ctl("play", action, "--room", room.id);
    }
  }
  const board = await host.until(room.id, ({ result }) => result, "the end");
  assert.deepEqual(board.record, actions);
  await shows(player.page, "#outcome", "You lost");
  await player.page.close();
});

test("undo, draw and a new game are asked for by either side and need the other's consent", async () => {
  const room = await host.room("gomoku");
  const player = await sit(browser, room.url);
  await play(room, player, ["h8", "a1", "h9", "a3"]);
  await player.press("do-undo");
  await host.until(room.id, ({ offer }) => offer && !offer.mine, "the guest asks");
  await shows(player.page, "#far .state", "was asked for an undo");
  await host.ctl("no", "--room", room.id);
  await shows(player.page, "#remark", "Anna's Deck declined");
  assert.equal((await host.board(room.id)).ply, 4);
  await player.press("do-undo");
  await host.until(room.id, ({ offer }) => offer, "the guest asks again");
  await host.ctl("yes", "--room", room.id);
  await host.until(room.id, ({ ply }) => ply === 3, "a move is undone");
  await player.sees(3);
  await player.mayAct();
  await player.play("a4");
  await host.until(room.id, ({ ply }) => ply === 4, "another move");
  // Back to the host's own last decision.
  await host.ctl("take-back", "--room", room.id);
  await shows(player.page, "dialog h2", "asks to undo a move");
  assert.equal((await host.board(room.id)).ply, 4);
  await player.answer("Agree");
  await host.until(room.id, ({ ply }) => ply === 2, "the host's move is undone");
  await player.sees(2);
  await play(room, player, ["h9", "a4"]);
  await host.ctl("draw", "--room", room.id);
  await shows(player.page, "dialog h2", "offers a draw");
  assert.equal((await host.board(room.id)).result, null);
  await player.answer("Decline");
  await host.until(room.id, ({ offer }) => !offer, "declined");
  await player.press("do-draw");
  const offered = await host.until(room.id, ({ offer }) => offer?.kind === "draw", "the guest offers a draw");
  assert.equal(offered.result, null);
  await host.ctl("yes", "--room", room.id);
  await shows(player.page, "#outcome", "A draw");
  await player.press("rematch");
  await host.until(room.id, ({ offer }) => offer, "a new game is asked for");
  assert.ok((await host.ctl("rooms")).every(({ follows }) => follows !== room.id));
  await host.ctl("yes", "--room", room.id);
  await player.page.until(() => document.getElementById("result").hidden && document.getElementById("board").dataset.ply === "0", LIMIT);
  await player.mayAct();
  await player.play("h8");
  const rooms = await host.ctl("rooms");
  const next = rooms.find(({ follows }) => follows === room.id);
  assert.ok(next, "the next game follows the last one");
  await host.until(next.id, ({ record }) => record.join() === "h8", "the guest goes first now");
  await player.press("do-resign");
  await player.answer("Resign");
  const over = await host.until(next.id, ({ result }) => result, "resigned");
  assert.deepEqual(over.result, { winner: "second", ending: "resigned" });
  await shows(player.page, "#reason", "You resigned");
  for (const answer of ["Decline", "Agree"]) {
    await host.ctl("new-game", "--room", next.id);
    await shows(player.page, "dialog h2", "would like a new game");
    assert.ok((await host.ctl("rooms")).every(({ follows }) => follows !== next.id));
    await player.answer(answer);
    if (answer === "Decline") await host.until(next.id, ({ offer }) => !offer, "declined");
  }
  await player.page.until(() => document.getElementById("result").hidden && document.getElementById("board").dataset.ply === "0", LIMIT);
  assert.ok((await host.ctl("rooms")).some(({ follows }) => follows === next.id));
  await player.page.close();
});

test("words go both ways", async () => {
  const room = await host.room("gomoku");
  const player = await sit(browser, room.url);
  await host.ctl("say", "Mind the corner", "--room", room.id);
  await shows(player.page, "#far .state", "“Mind the corner”");
  await host.ctl("say", "good-move", "--phrase", "--room", room.id);
  await shows(player.page, "#far .state", "“Good move!”");
  const listening = await host.listen();
  await player.press("do-say");
  await player.answer("Thank you!");
  await shows(player.page, "#near .state", "“Thank you!”");
  const { name, mine } = await listening.until(({ event, phrase }) => event === "said" && phrase === "thanks", "the guest's words");
  assert.deepEqual([name, mine], ["Ben", false]);
  listening.end();
  await player.page.close();
});

test("clocks run here as there, and a move adds its time", async () => {
  const room = await host.room("gomoku", "--pace", "5m+30s");
  const player = await sit(browser, room.url);
  assert.equal(await player.page.run(() => document.querySelector("#near .clock span").textContent), "5:00");
  await play(room, player, ["h8"]);
  await player.page.until(() => /^4:5\d$/.test(document.querySelector("#near .clock span").textContent), LIMIT);
  await play(room, player, ["a1"]);
  await player.page.until(() => /^5:2\d$/.test(document.querySelector("#near .clock span").textContent), LIMIT);
  // The guest's stands while the host's runs.
  const [hosts, guests] = (await host.board(room.id)).clocks;
  assert.deepEqual([hosts.running, guests.running], [true, false]);
  const seconds = Math.ceil(guests.left_ms / 1000);
  assert.equal(await player.page.run(() => document.querySelector("#near .clock span").textContent), `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
  const far = await player.page.run(() => document.querySelector("#far .clock span").textContent);
  await player.page.until((before) => document.querySelector("#far .clock span").textContent !== before, LIMIT, far);
  await player.page.close();
});

test("a second person with the code waits for the host's person, who may give the seat away", async () => {
  const room = await host.room("gomoku");
  const first = await sit(browser, room.url);
  const second = await browser.page({});
  await second.goto(room.url);
  await title(second, "Someone else already plays");
  await shows(second, "#trouble-text", "is asked");
  await host.ctl("guest", "let-in", "--room", room.id);
  await title(first.page, "has given this place");
  await begin(second, "Cleo");
  await play(room, new Player(second, "gomoku", "second"), ["h8", "a1"]);
  assert.deepEqual((await host.board(room.id)).record, ["h8", "a1"]);
  await first.page.close();
  await second.close();
});

test("who is sent away may press again, and the host's person is not asked again at once", async () => {
  const room = await host.room("gomoku");
  const first = await sit(browser, room.url);
  const second = await browser.page({});
  await second.goto(room.url);
  await title(second, "Someone else already plays");
  await host.ctl("guest", "turn-away", "--room", room.id);
  await shows(second, "#trouble-text", "has said no");
  await second.run(() => {
    document.getElementById("trouble-text").textContent = "";
    document.getElementById("trouble-button").click();
  });
  await shows(second, "#trouble-text", "has said no");
  await play(room, first, ["h8", "a1"]);
  await first.page.close();
  await second.close();
});

test("a code that is closed opens nothing any more, and a wrong one never did", async () => {
  const room = await host.room("gomoku");
  // Its code keeps the server there.
  const other = await host.room("gomoku");
  const player = await sit(browser, room.url);
  await host.ctl("guest", "close", "--room", room.id);
  await title(player.page, "has closed this game");
  await player.page.reload();
  await title(player.page, "has closed this game");
  await player.page.close();
  const late = await browser.page({});
  await late.goto(room.url);
  await title(late, "has closed this game");
  await late.close();
  const page = await browser.page({});
  await page.goto(`${other.url.split("#")[0]}#AAAAAAAAAAAAAAAAAAAAAA`);
  await title(page, "isn't valid any more");
  await page.close();
});

test("who watches sees each move and can make none", async () => {
  const room = await host.room("gomoku");
  const player = await sit(browser, room.url);
  const page = await browser.page({ size: "wide" });
  await page.goto(await host.code(room.id, "--watch"));
  await page.until(() => !document.getElementById("match").hidden, LIMIT);
  const watcher = new Player(page, "gomoku", "unspecified");
  const stones = [{ "first stone": 1 }, { "first stone": 1, "second stone": 1 }, { "first stone": 2, "second stone": 1 }];
  for (const [at, action] of ["h8", "a1", "h9"].entries()) {
    await play(room, player, [action]);
    await watcher.sees(at + 1);
    assert.deepEqual(await watcher.standing(), stones[at]);
  }
  assert.equal(await page.run(() => document.getElementById("board").classList.contains("live")), false);
  await watcher.play("c3");
  await play(room, player, ["a3"]);
  await watcher.sees(4);
  assert.deepEqual((await host.board(room.id)).record, ["h8", "a1", "h9", "a3"]);
  await page.run(() => document.getElementById("do-review").click());
  await page.until(() => !document.getElementById("review").hidden, LIMIT);
  await page.run(() => document.querySelector("[data-review=first]").click());
  await page.until(() => document.getElementById("board").dataset.ply === "0", LIMIT);
  assert.equal(await page.run(() => [...document.querySelectorAll("#actions button")].some((one) => !one.hidden && /resign|undo|draw/.test(one.id))), false);
  await page.close();
  await player.page.close();
});

test("the same browser's second page has the seat, and the first may take it back", async (context) => {
  const room = await host.room("gomoku");
  const player = await sit(browser, room.url);
  if (!player.page.sibling) {
    await player.page.close();
    context.skip("this driver has one page at a time");
    return;
  }
  const again = await player.page.sibling();
  await again.goto(room.url);
  await title(player.page, "open in another tab");
  await again.until(() => !document.getElementById("match").hidden, LIMIT);
  await player.page.run(() => document.getElementById("trouble-button").click());
  await player.page.until(() => !document.getElementById("match").hidden, LIMIT);
  await title(again, "open in another tab");
  await player.page.close();
});

test("a phone that slept for longer than the host waits has its seat again, and the match has waited", async () => {
  const room = await host.room("gomoku", "--pace", "5m+3s");
  const player = await sit(browser, room.url);
  await play(room, player, ["h8", "a1"]);
  cable.silence();
  // The host hears nothing for 30 s.
  await rest(35_000);
  const waiting = await host.board(room.id);
  assert.equal(waiting.second.away, true);
  assert.ok(waiting.clocks.every(({ running }) => !running), "no clock runs while the guest is away");
  cable.cut();
  cable.mend();
  await player.page.run(() => document.dispatchEvent(new Event("visibilitychange")));
  await host.until(room.id, ({ second }) => !second.away, "the guest is back");
  await play(room, player, ["h9", "a3"]);
  assert.deepEqual((await host.board(room.id)).record, ["h8", "a1", "h9", "a3"]);
  await player.page.close();
});

test("swap2 is chosen by buttons", async () => {
  const room = await host.room("gomoku", "-o", "opening=swap2");
  const player = await sit(browser, room.url);
  for (const action of ["h8", "h9", "j10"]) await host.until(room.id, (board) => board.can_act, "placing").then(() => host.ctl("play", action, "--room", room.id));
  await player.sees(3);
  await player.choose("two_more");
  await host.until(room.id, ({ ply }) => ply === 4, "two more");
  await player.sees(4);
  for (const [index, action] of ["c3", "d3"].entries()) {
    await player.mayAct();
    await player.play(action);
    await host.until(room.id, ({ ply }) => ply === 5 + index, action);
    await player.sees(5 + index);
  }
  assert.equal((await host.board(room.id)).turn, "first");
  await player.page.close();
});

test("renju's fifth moves are counted by buttons and chosen by touch", async () => {
  const room = await host.room("gomoku", "-o", "rule=renju", "-o", "opening=soosorv-8");
  const player = await sit(browser, room.url);
  for (const action of ["h8", "i9", "j8"]) await host.until(room.id, (board) => board.can_act, "placing").then(() => host.ctl("play", action, "--room", room.id));
  await player.sees(3);
  await player.choose("white");
  await host.until(room.id, ({ ply }) => ply === 4, "white");
  await player.mayAct();
  await player.play("a1");
  await host.until(room.id, ({ ply }) => ply === 5, "the fourth stone");
  await player.choose("fifths_2");
  for (const action of ["black", "b2", "c4"]) await host.until(room.id, (board) => board.can_act, action).then(() => host.ctl("play", action, "--room", room.id));
  await player.mayAct();
  await player.play("c4");
  await host.until(room.id, ({ ply }) => ply === 10, "the fifth stone");
  assert.equal((await host.board(room.id)).turn, "second");
  await player.page.close();
});

test("Go's dead stones are marked by both and agreed on", async () => {
  const room = await host.room("go", "-o", "size=9");
  const player = await sit(browser, room.url, { game: "go" });
  await play(room, player, ["E5", "A1", "E4", "pass", "pass"]);
  // The host proposes; the guest sees it otherwise, and then the host again.
  const dead = ({ marks }) => marks.filter(({ kind }) => kind === "dead").length;
  const agreed = ({ facts }) => facts.filter(({ kind }) => kind === "agreed").map(({ side }) => side).join();
  await player.sees((await host.until(room.id, (board) => dead(board) === 1, "what is proposed")).ply);
  await player.mayAct();
  await player.play("A1");
  await player.sees((await host.until(room.id, (board) => dead(board) === 0, "what the guest marks")).ply);
  await player.choose("agree");
  await host.until(room.id, (board) => agreed(board) === "second" && board.can_act, "the guest agrees");
  await host.ctl("play", "dead A1", "--room", room.id);
  await host.until(room.id, (board) => dead(board) === 1 && agreed(board) === "", "what the host marks");
  await host.ctl("play", "agree", "--room", room.id);
  await player.sees((await host.until(room.id, (board) => agreed(board) === "first", "the host agrees")).ply);
  await player.choose("agree");
  const { result } = await host.until(room.id, ({ result: end }) => end, "the end");
  assert.deepEqual(result, { winner: "first", ending: "score" });
  await shows(player.page, "#outcome", "You lost");
  await player.page.close();
});

test("one alone presses lights until all are off", async () => {
  const room = await host.room("lights-out", "--player", "guest", "-o", "columns=3", "-o", "rows=3");
  const player = await sit(browser, room.url, { game: "lights_out", side: "first" });
  const presses = solve(await player.lights(), 3);
  for (const [index, press] of presses.entries()) {
    await player.mayAct();
    const [x, y] = await player.page.run((at) => {
      const { left, top, width, height } = document.querySelectorAll("[role=gridcell]")[at].getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    }, press);
    await player.page.tap(x, y);
    await player.sees(index + 1);
  }
  await shows(player.page, "#outcome", "All the lights are off");
  assert.equal((await host.board(room.id)).result.ending, "all_out");
  await player.page.close();
});

test("two race to put out the same lights, each on their own board", async () => {
  const room = await host.room("lights-out", "-o", "columns=4", "-o", "rows=3");
  const player = await sit(browser, room.url, { game: "lights_out" });
  await player.mayAct();
  const presses = solve(await player.lights(), 4);
  await host.ctl("play", "a1", "--room", room.id);
  const spots = await player.page.run(() => [...document.querySelectorAll("[role=gridcell]")].map((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  }));
  // As fast as a finger: presses may be ahead of their answers.
  for (const press of presses) await player.page.tap(...spots[press]);
  await host.until(room.id, ({ race }) => race.they_finished, "the guest is done");
  const board = await host.until(room.id, () => true, "so far");
  assert.equal(board.race.their_presses, presses.length);
  // The page hears of its last press after the host has counted it.
  await player.page.until(() => ![...document.querySelectorAll("[role=gridcell]")].some((one) => /\blit/.test(one.getAttribute("aria-label"))), LIMIT);
  await player.page.until(() => /done in|won/.test(document.querySelector("#near .state").textContent), LIMIT);
  // The race may end by itself at any moment, once nobody here can be faster.
  await host.ctl("resign", "--room", room.id).catch(() => {});
  await host.until(room.id, ({ result }) => result, "the end");
  await shows(player.page, "#outcome", "You won");
  await player.page.close();
});

test("when the host's program ends the page says so, and a new code plays on", async () => {
  const room = await host.room("gomoku");
  const player = await sit(browser, room.url);
  await play(room, player, ["h8", "a1"]);
  await host.end();
  await title(player.page, "Qiyou was closed on the other device");
  await host.run();
  const open = await host.ctl("rooms");
  if (!open.some(({ id }) => id === room.id)) await host.ctl("resume", room.id);
  await player.page.goto("about:blank");
  await player.page.goto(await host.code(room.id));
  await player.page.until(() => !document.getElementById("match").hidden || !document.getElementById("start").hidden, LIMIT);
  if (await player.page.run(() => !document.getElementById("start").hidden)) await begin(player.page);
  await play(room, player, ["h9", "a3"]);
  assert.deepEqual((await host.board(room.id)).record, ["h8", "a1", "h9", "a3"]);
  await player.page.close();
});
