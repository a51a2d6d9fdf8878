// What `make bench` says of the guest's page: bytes to the first board, time to it with a CPU slowed four times, how soon the host
// sees a guest's move (in Chromium), the memory of guests and watchers, and how soon a friend's device has a move while others watch.
// With a real qiyoud: ./veth node figures.mjs
import { readFile } from "node:fs/promises";

import WebSocket from "ws";

import { launch } from "./browsers.mjs";
import { Host } from "./host.mjs";
import { begin, Player } from "./player.mjs";

/// Host and guests are in namespaces joined by a veth pair if tests/guest/veth made them.
const NETWORK = process.env.QIYOU_GUEST_NETWORK;
const WAY = NETWORK ? "over veth" : "over loopback";
const ROUNDS = 7;
const MOVES = 60;
const MOST = { bytes: 120 * 1024, board: 1_500, seen: 40, guest: 200, watcher: 64, added: 10 };
const GUESTS = 8;
const WATCHERS = 32;
/// Moves of the match that is watched, in blocks with and without watchers in turn.
const BLOCKS = 10;
const BLOCK = 16;

let host = await Host.start();
const browser = await launch("chromium");
const middle = (list, part = 0.5) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];

/// A first visit: bytes as they came over the wire, and milliseconds until the board is there.
async function visit(game) {
  const room = await host.room(game);
  const page = await browser.page({ size: "phone" });
  const wire = await page.inner.createCDPSession();
  await wire.send("Network.enable");
  await wire.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  let bytes = 0;
  wire.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  wire.on("Network.webSocketFrameReceived", ({ response }) => (bytes += response.payloadData.length));
  await page.before((started) => {
    localStorage.setItem(started, "1");
    const wait = () => {
      const drawn = document.querySelector("#board [role=gridcell]") && !document.getElementById("match").hidden;
      if (drawn) requestAnimationFrame(() => (window.drawnAt = performance.now()));
      else requestAnimationFrame(wait);
    };
    wait();
    localStorage.setItem("qiyou.name", "Ben");
  }, `qiyou.started.${room.url.split("#")[1].slice(0, 8)}`);
  await page.goto(room.url);
  const time = await page.until(() => window.drawnAt, 20_000).then((handle) => handle.jsonValue());
  await new Promise((later) => setTimeout(later, 300));
  await page.close();
  return { bytes, time };
}

const visits = { gomoku: [], xiangqi: [] };
for (let round = 0; round < ROUNDS; round += 1) for (const game of Object.keys(visits)) visits[game].push(await visit(game));

/// From a tap until the page shows what the host made of it: the way there and back, and the host's disk between.
async function moves() {
  const room = await host.room("lights-out", "--player", "guest", "-o", "columns=10", "-o", "rows=10");
  const page = await browser.page({ size: "phone" });
  await page.goto(room.url);
  await begin(page);
  const player = new Player(page, "lights_out", "first");
  const times = [];
  for (let move = 0; move < MOVES; move += 1) {
    await player.mayAct();
    // As quick fingers: a host hangs up on whoever sends more than ten messages a second for long.
    await new Promise((later) => setTimeout(later, 100));
    times.push(await page.run((at, ply) => new Promise((done) => {
      const cell = document.querySelectorAll("[role=gridcell]")[at];
      const began = performance.now();
      new MutationObserver((_, observer) => {
        if (Number(document.getElementById("board").dataset.ply) !== ply) return;
        observer.disconnect();
        done(performance.now() - began);
      }).observe(document.getElementById("board"), { attributes: true, attributeFilter: ["data-ply"] });
      cell.click();
    }), move % 100, move + 1));
    if (await page.run(() => !document.getElementById("result").hidden)) break;
  }
  await page.close();
  return times;
}

let connected = 0;

/// A page's connection, once it has seen the board.
function connect(url) {
  const { origin, host: at, hash } = new URL(url);
  // Ten may watch from one address.
  const number = (connected += 1);
  const localAddress = `${NETWORK ?? "127.0.0"}.${2 + Math.floor(number / 8)}`;
  const socket = new WebSocket(`ws://${at}/play`, { origin, localAddress });
  const tab = String(number).padStart(16, "0");
  socket.on("open", () => socket.send(JSON.stringify({ hello: { version: 1, token: hash.slice(1), tab, name: "" } })));
  return new Promise((seen, failed) => {
    socket.on("message", (text) => JSON.parse(text).room && seen(socket));
    socket.on("close", (code, reason) => failed(new Error(`closed: ${code} ${reason}`)));
  });
}

const open = [];

/// KB by which the host's program grows for each of these connections, which stay.
async function memory(urls) {
  const used = async () => Number((await readFile(`/proc/${host.program.pid}/status`, "utf8")).match(/VmRSS:\s+(\d+)/)[1]);
  const before = await used();
  const sockets = await Promise.all(urls.map((url) => connect(url)));
  open.push(...sockets);
  return (await used() - before) / urls.length;
}

/// Points of a large Go board of which no two touch, so that nothing is ever captured.
function points(count) {
  const all = [];
  for (let row = 1; row <= 19; row += 1) for (let column = row % 2; column < 19; column += 2) all.push(`${"abcdefghjklmnopqrst"[column]}${row}`);
  return all.slice(0, count);
}

/// Milliseconds from a move at one device until the other has acknowledged it, as the mover's host measures them, without and with
/// watchers of the match at the first device. The match is over TCP between two programs on this machine: no radio, so that what the
/// watchers cost is not hidden by it.
async function watched() {
  const devices = [await Host.start({ name: "Anna", lan: true }), await Host.start({ name: "Ben", lan: true })];
  try {
    const [anna, ben] = devices;
    const [{ address }] = await ben.ctl("address");
    await anna.ctl("meet", address);
    await ben.ctl("same");
    await anna.ctl("same", "--wait", "10");
    const accepted = ben.ctl("accept", "--wait", "20");
    const [{ room_id: id }] = (await anna.ctl("invite", "Ben", "--game", "go", "-o", "size=19", "--colour", "first")).slice(-1);
    await accepted;
    const url = await anna.code(id, "--watch");
    const seen = { without: [], with: [] };
    let ply = 0;
    let watchers = [];
    for (const point of points(BLOCKS * BLOCK)) {
      if (ply % BLOCK === 0) {
        for (const socket of watchers) {
          socket.removeAllListeners("close");
          socket.terminate();
        }
        watchers = (ply / BLOCK) % 2 ? await Promise.all(Array.from({ length: WATCHERS }, () => connect(url))) : [];
      }
      const mover = devices[ply % 2];
      const end = Date.now() + 10_000;
      while (!(await mover.ctl("rooms"))[0].can_act) if (Date.now() > end) throw new Error(`move ${ply + 1} does not arrive`);
      await mover.ctl("play", point);
      ply += 1;
      for (;;) {
        const [{ link }] = await mover.ctl("rooms");
        if (link.seen_action_ply === ply) {
          seen[watchers.length ? "with" : "without"].push(link.seen_after_us / 1000);
          break;
        }
        if (Date.now() > end) throw new Error(`move ${ply} is not acknowledged`);
      }
    }
    for (const socket of watchers) {
      socket.removeAllListeners("close");
      socket.terminate();
    }
    return seen;
  } finally {
    for (const device of devices) await device.close();
  }
}

const times = await moves();
await browser.close();
// Without the memory that the visits left free.
await host.close();
host = await Host.start();
const rooms = [];
for (let n = 0; n < GUESTS; n += 1) rooms.push(await host.room("go"));
const watching = await host.code(rooms[0].id, "--watch");
const guest = await memory(rooms.map(({ url }) => url));
const watcher = await memory(Array.from({ length: WATCHERS }, () => watching));
for (const socket of open) {
  socket.removeAllListeners("close");
  socket.terminate();
}
await host.close();
const beside = await watched();
let missed = false;
// The name is what scripts/ratchet knows the figure by.
const tell = (name, what, value, unit, most) => {
  missed ||= value > most;
  console.log(`figure guest.${name} ${value.toFixed(2)} ${most} at-most`);
  console.log(`guest: ${what}: ${Math.round(value * 10) / 10} ${unit} (at most ${most})${value > most ? ", MISSED" : ""}`);
};
for (const [game, all] of Object.entries(visits)) {
  tell(`bytes_${game}`, `bytes to the first board of ${game}`, middle(all.map(({ bytes }) => bytes)), "bytes", MOST.bytes);
  tell(`board_ms_${game}`, `time to it with a CPU slowed four times, median of ${ROUNDS}`, middle(all.map(({ time }) => time)), "ms", MOST.board);
}
tell("move_seen_p95_ms", `a guest's move shown by the host and here, ${WAY}, 95 of 100 of ${times.length}`, middle(times, 0.95), "ms", MOST.seen);
tell("guest_kb", `memory of a guest, mean of ${GUESTS} in rooms of their own`, guest, "KB", MOST.guest);
tell("watcher_kb", `memory of a watcher, mean of ${WATCHERS} of one room`, watcher, "KB", MOST.watcher);
const [alone, together] = [beside.without, beside.with].map((all) => middle(all, 0.95));
const half = [beside.without, beside.with].map((all) => middle(all).toFixed(1)).join(" and ");
console.log(`guest: a friend's move seen over TCP on this machine, 95 of 100 of ${beside.with.length}: ${alone.toFixed(1)} ms without watchers, ${together.toFixed(1)} ms with ${WATCHERS}: ${(together / alone).toFixed(2)} times (medians ${half} ms)`);
tell("watchers_add_ms", `what ${WATCHERS} watchers add to it; a Bluetooth connection interval is 30 ms`, together - alone, "ms", MOST.added);
console.log("guest: what 32 watchers do to a match over Bluetooth: make ble-lab, \"move seen p50 while 32 watch by that without\"");
// In `make bench` scripts/ratchet judges, by their noise too.
process.exitCode = missed && !process.env.QIYOU_BENCH ? 1 : 0;
