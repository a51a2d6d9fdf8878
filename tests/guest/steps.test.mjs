// A short match of each game with a real qiyoud, in which the page is loaded again, loses its connection and sleeps before every step
// and after the end. ENGINE=chromium, firefox or webkit; SHORT=1: one game.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browsers.mjs";
import { Cable } from "./cable.mjs";
import { Host } from "./host.mjs";
import { sit } from "./player.mjs";
import { playOut, putOut, trouble, TROUBLES } from "./troubles.mjs";
import { said } from "./words.mjs";

const LIMIT = 60_000;
const ENGINE = process.env.ENGINE ?? "chromium";
let host;
let cable;
const browsers = {};

before(async () => {
  host = await Host.start();
  cable = await Cable.make();
});

after(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  await cable?.close();
  await host?.close();
});

/// Those that do not end by their last action are resigned by the guest.
const MATCHES = [
  { game: "gomoku", side: "second", actions: "h8 a1 h9 a3 h10 a5 h11 a7 h12" },
  { game: "xiangqi", side: "second", actions: "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7", resigns: true, language: "zh", size: "small" },
  // A square takes a stone.
  { game: "liuzhou", side: "first", actions: "a2 f4 f5 a5 c6 c1 e2 d2 d3 e3 xe2", resigns: true, keys: true, size: "wide" },
  // Without stones of which the host would say that they are dead.
  { game: "go", side: "first", options: ["-o", "size=9"], actions: "E5 pass E4 pass pass agree agree", language: "zh", size: "lying" },
  { game: "lights_out", side: "first", options: ["-o", "columns=3", "-o", "rows=3"], wide: 3, size: "small" },
  { game: "lights_out", isRace: true, side: "second", options: ["-o", "columns=3", "-o", "rows=3"], wide: 3, keys: true, language: "zh", size: "wide" },
];

async function play({ game, isRace, side, options = [], actions, wide, resigns, keys = false, language = "en", size = "phone" }) {
  browsers[language] ??= await launch(ENGINE, { language, proxy: cable.port });
  const isAlone = game === "lights_out" && !isRace;
  const seats = isAlone ? ["--player", "guest"] : ["--colour", side === "first" ? "second" : "first"];
  const room = await host.room(game.replace("_", "-"), ...seats, ...options);
  const player = await sit(browsers[language], room.url, { game, side, keys, size });
  assert.equal(await player.page.run(() => document.documentElement.lang), language === "zh" ? "zh-Hans" : "en");
  const at = { host, cable, player };
  const count = actions ? actions.split(" ").length : (await putOut(at, room, { wide, isRace }, () => TROUBLES)).length;
  if (actions) await playOut(at, room, actions.split(" "), () => TROUBLES);
  if (resigns) {
    await player.press("do-resign");
    await player.answer(said(language, "resign"));
  }
  // The race may end by itself at any moment, once nobody here can be faster.
  if (isRace) await host.ctl("resign", "--room", room.id).catch(() => {});
  const { record, race, result } = await host.until(room.id, ({ result }) => result, "the end");
  const outcome = isAlone ? "allOff" : result.winner === side ? "youWon" : "youLost";
  for (const which of [null, ...TROUBLES]) {
    if (which) await trouble(at, which);
    await player.page.until((wanted) => !document.getElementById("result").hidden && document.getElementById("outcome").textContent === wanted, LIMIT, said(language, outcome));
  }
  if (actions) assert.deepEqual(record, actions.split(" "), "nothing is lost and nothing is doubled");
  else assert.equal(isRace ? race.their_presses : record.length, count, "nothing is lost and nothing is doubled");
  assert.deepEqual((await host.board(room.id)).record, record, "nothing is added after the end");
  assert.deepEqual(player.page.problems, []);
  await player.page.close();
}

for (const match of process.env.SHORT === "1" ? MATCHES.slice(0, 1) : MATCHES) {
  test(`${ENGINE}: a reload, a lost connection and a sleep at every step leave ${match.isRace ? "a race of " : ""}${match.game} as it was`, () => play(match));
}
