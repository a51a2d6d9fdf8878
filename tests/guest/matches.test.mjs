// Whole matches of all five games between a real qiyoud and people at the page: by fingers on phones of three sizes and by keys, in both
// languages, with reloads and lost connections between.
// ENGINES=chromium,firefox,webkit; SHORT=1: one match and one reload.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, SIZES } from "./browsers.mjs";
import { Cable } from "./cable.mjs";
import { Host } from "./host.mjs";
import { sit } from "./player.mjs";
import { playOut, putOut, TROUBLES } from "./troubles.mjs";
import { said } from "./words.mjs";

const GAMES = JSON.parse(readFileSync(fileURLToPath(new URL("games.json", import.meta.url)), "utf8"));
const ENGINES = (process.env.ENGINES ?? "chromium").split(",");
const SHORT = process.env.SHORT === "1";
let host;
let cable;
const browsers = {};

async function browserOf(engine, language) {
  return (browsers[`${engine} ${language}`] ??= await launch(engine, { language, proxy: cable.port }));
}

before(async () => {
  host = await Host.start();
  cable = await Cable.make();
});

after(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  await cable?.close();
  await host?.close();
});

/// Pieces of the host's board, as the page's `standing`.
function standing({ pieces }) {
  const found = {};
  for (const { side, kind } of pieces) found[`${side} ${kind}`] = (found[`${side} ${kind}`] ?? 0) + 1;
  return found;
}

/// Fingers play at phones of three sizes, upright and lying; the first match is the one of SHORT.
const FINGERS = ["small", "lying", "phone"];
/// Every match has a reload and a lost connection; `every`: between how many actions. Lights are few and come by chance.
const MATCHES = [
  { game: "gomoku", colour: "first", every: 5, fingers: "zh" },
  { game: "xiangqi", colour: "first", every: 20, keys: "zh" },
  { game: "liuzhou", colour: "second", every: 20 },
  { game: "go", colour: "second", every: 25, options: ["-o", "size=9"], fingers: "zh" },
  { game: "lights_out", wide: 3, every: 1, options: ["-o", "columns=3", "-o", "rows=3"], fingers: "zh" },
  { game: "lights_out", isRace: true, wide: 4, every: 1, options: ["-o", "columns=4", "-o", "rows=3"], keys: "zh" },
];

async function play(engine, { game, colour = "first", every, options = [], wide, isRace }, { keys, language, size }) {
  const isLights = game === "lights_out";
  const isAlone = isLights && !isRace;
  const room = await host.room(game.replace("_", "-"), ...(isAlone ? ["--player", "guest"] : ["--colour", colour]), ...options);
  const side = isAlone || colour === "second" ? "first" : "second";
  const player = await sit(await browserOf(engine, language), room.url, { game, side, size, keys });
  assert.equal(await player.page.run(() => document.documentElement.lang), language === "zh" ? "zh-Hans" : "en");
  assert.equal(await player.page.run(() => innerWidth), SIZES[size].width);
  const came = new Set();
  const before = (ply) => {
    if (ply % every !== every - 1) return [];
    const which = TROUBLES[Math.floor(ply / every) % 2];
    came.add(which);
    return [which];
  };
  const at = { host, cable, player };
  if (isLights) {
    const presses = await putOut(at, room, { wide, isRace }, before);
    if (isRace) {
      const { race } = await host.board(room.id);
      assert.equal(race.their_presses, presses.length, "nothing is lost and nothing is doubled");
      // The race may end by itself at any moment, once nobody here can be faster.
      await host.ctl("resign", "--room", room.id).catch(() => {});
    } else {
      assert.equal((await host.board(room.id)).record.length, presses.length, "nothing is lost and nothing is doubled");
    }
  } else {
    const actions = GAMES[game].split(" ");
    await playOut(at, room, actions, before);
    const board = await host.board(room.id);
    assert.deepEqual(board.record, actions, "nothing is lost and nothing is doubled");
    assert.deepEqual(await player.standing(), standing(board));
  }
  const { result } = await host.until(room.id, (board) => board.result, "the end");
  const outcome = isAlone ? "allOff" : result.winner === side ? "youWon" : result.winner === "unspecified" ? "aDraw" : "youLost";
  await player.page.until((wanted) => document.getElementById("outcome").textContent === wanted, 60_000, said(language, outcome));
  if (isLights) assert.deepEqual(await player.standing(), { unlit: (await player.lights()).length });
  assert.deepEqual(came, new Set(["reload", "cut"]));
  assert.deepEqual(player.page.problems, []);
  await player.page.close();
}

for (const engine of ENGINES) {
  for (const [index, match] of (SHORT ? MATCHES.slice(0, 1) : MATCHES).entries()) {
    for (const keys of SHORT ? [false] : [false, true]) {
      const way = keys ? "keys" : "fingers";
      const language = match[way] ?? "en";
      const size = keys ? "wide" : FINGERS[index % FINGERS.length];
      const name = `${match.isRace ? "a race of " : ""}${match.game}`;
      test(`${engine}: a whole match of ${name} is played by ${way}, with reloads and lost connections between, ${size}, ${language}`, () => play(engine, match, { keys, language, size }));
    }
  }
}
