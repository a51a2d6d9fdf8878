// What happens to a page in the middle of a match, and a match that is played through it.
import assert from "node:assert/strict";
import { run } from "./lights.mjs";

const LIMIT = 60_000;

export const TROUBLES = ["reload", "cut", "sleep"];

const isDown = (page) => page.until(() => document.getElementById("link").classList.contains("down"), LIMIT);
const isUp = (page) => page.until(() => !document.getElementById("match").hidden && !document.getElementById("link").classList.contains("down"), LIMIT);

/// `meanwhile`: what the host does while the page sleeps.
export async function trouble({ cable, player: { page } }, which, meanwhile = () => {}) {
  if (which === "reload") {
    await page.reload();
    await isUp(page);
    return;
  }
  const before = cable.served;
  if (which === "sleep") {
    cable.silence();
    await meanwhile();
  }
  cable.cut();
  await isDown(page);
  cable.mend();
  // A page that wakes does not wait for its next try.
  if (which === "sleep") await page.run(() => document.dispatchEvent(new Event("visibilitychange")));
  await isUp(page);
  assert.ok(cable.served > before, "the page comes back by the cable");
}

/// Plays these actions: the host's by qiyouctl, the guest's at the page. `before(ply)` gives the troubles that come first.
export async function playOut(at, room, actions, before) {
  const { host, player } = at;
  for (const [ply, action] of actions.entries()) {
    const { turn } = await host.until(room.id, (board) => board.ply === ply, `ply ${ply}`);
    const theirs = async () => {
      // Not while the guest is away: the match waits for it.
      await host.until(room.id, (board) => board.can_act, "the host may act");
      await host.ctl("play", action, "--room", room.id);
    };
    let isPlayed = false;
    for (const which of before(ply)) {
      // What the host plays while the page sleeps is there when it wakes.
      const sleeps = which === "sleep" && turn !== player.side;
      await trouble(at, which, sleeps ? theirs : undefined);
      isPlayed ||= sleeps;
      await player.sees(ply + (isPlayed ? 1 : 0));
    }
    if (isPlayed) continue;
    if (turn === player.side) {
      await player.sees(ply);
      await player.mayAct();
      await player.play(action);
    } else {
      await theirs();
    }
  }
  await player.sees(actions.length);
}

/// Presses lights until all are off: {presses, wide}. In a race the host presses once.
export async function putOut(at, room, { wide, isRace }, before) {
  const { host, player } = at;
  await player.mayAct();
  const presses = run(await player.lights(), wide);
  if (isRace) await host.ctl("play", "a1", "--room", room.id);
  for (const [index, press] of presses.entries()) {
    for (const which of before(index)) await trouble(at, which);
    await player.mayAct();
    await player.hit(press);
    await host.until(room.id, (board) => (isRace ? board.race.their_presses : board.ply) === index + 1, `press ${index + 1}`);
  }
  return presses;
}
