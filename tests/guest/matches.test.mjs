// Whole matches between a real qiyoud and people at the page, by fingers and by keys, with reloads and lost connections between.
// ENGINES=chromium,firefox,webkit; SHORT=1: one match and one reload.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./browsers.mjs";
import { Cable } from "./cable.mjs";
import { Host, rest } from "./host.mjs";
import { sit } from "./player.mjs";

const GAMES = JSON.parse(readFileSync(fileURLToPath(new URL("games.json", import.meta.url)), "utf8"));
const ENGINES = (process.env.ENGINES ?? "chromium").split(",");
const SHORT = process.env.SHORT === "1";
let host;
let cable;
const browsers = {};

before(async () => {
  host = await Host.start();
  cable = await Cable.make();
  for (const engine of ENGINES) browsers[engine] = await launch(engine, { proxy: cable.port });
});

after(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  await cable?.close();
  await host?.close();
});

async function trouble(player, which) {
  if (which === "reload") await player.page.reload();
  else {
    const before = cable.served;
    cable.cut();
    await rest(400);
    cable.mend();
    for (let tries = 0; cable.served === before; tries += 1) {
      assert.ok(tries < 300, "the page comes back by the cable");
      await rest(50);
    }
  }
}

/// Plays these actions: the host's by qiyouctl, the guest's at the page. Every `every` actions something happens.
async function playOut(room, player, actions, { every = 0 } = {}) {
  const troubles = ["reload", "cut"];
  for (let ply = 0; ply < actions.length; ply += 1) {
    const { turn } = await host.until(room.id, (board) => board.ply === ply, `ply ${ply}`);
    if (every && ply % every === every - 1) await trouble(player, troubles[Math.floor(ply / every) % troubles.length]);
    if (turn === player.side) {
      await player.sees(ply);
      await player.mayAct();
      await player.play(actions[ply]);
    } else {
      // Not while the guest is away: the match waits for it.
      await host.until(room.id, (board) => board.can_act, "the host may act");
      await host.ctl("play", actions[ply], "--room", room.id);
    }
  }
  await player.sees(actions.length);
}

function stones(board) {
  const names = { first: "Black", second: "White" };
  const pieces = { first: "red", second: "black" };
  const found = {};
  for (const { side, kind } of board.pieces) {
    const name = kind === "stone" ? names[side] : `${pieces[side]} ${kind}`;
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}

const MATCHES = [
  { game: "gomoku", colour: "first", every: 5 },
  { game: "xiangqi", colour: "first", every: 20 },
  { game: "liuzhou", colour: "second", every: 20 },
  { game: "go", colour: "second", every: 25, options: ["-o", "size=9"] },
];

for (const engine of ENGINES) {
  for (const { game, colour, every, options = [] } of SHORT ? MATCHES.slice(0, 1) : MATCHES) {
    for (const keys of SHORT ? [false] : [false, true]) {
      test(`${engine}: a whole match of ${game} is played by ${keys ? "keys" : "fingers"}, with reloads and lost connections between`, async () => {
        const room = await host.room(game, "--colour", colour, ...options);
        const side = colour === "first" ? "second" : "first";
        const player = await sit(browsers[engine], room.url, { game, side, size: keys ? "wide" : "phone", keys });
        const actions = GAMES[game].split(" ");
        await playOut(room, player, actions, { every });
        const board = await host.board(room.id);
        assert.ok(board.result, "the match has ended");
        assert.deepEqual(board.record, actions, "nothing is lost and nothing is doubled");
        assert.deepEqual(await player.standing(), stones(board));
        const outcome = await player.page.run(() => document.getElementById("outcome").textContent);
        assert.equal(outcome, board.result.winner === side ? "You won" : board.result.winner === "unspecified" ? "A draw" : "You lost");
        assert.deepEqual(player.page.problems, []);
        await player.page.close();
      });
    }
  }
}
