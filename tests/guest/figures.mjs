// What `make bench` says of the guest's page: bytes to the first board, time to it with a CPU slowed four times, and how soon the host
// sees a guest's move. In Chromium, with a real qiyoud: node figures.mjs
import { launch } from "./browsers.mjs";
import { Host } from "./host.mjs";
import { begin, Player } from "./player.mjs";

const ROUNDS = 7;
const MOVES = 60;
const MOST = { bytes: 120 * 1024, board: 1_500, seen: 40 };

const host = await Host.start();
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

const times = await moves();
await browser.close();
await host.close();
let missed = false;
const tell = (what, value, unit, most) => {
  missed ||= value > most;
  console.log(`guest: ${what}: ${Math.round(value * 10) / 10} ${unit} (at most ${most})${value > most ? ", MISSED" : ""}`);
};
for (const [game, all] of Object.entries(visits)) {
  tell(`bytes to the first board of ${game}`, middle(all.map(({ bytes }) => bytes)), "bytes", MOST.bytes);
  tell(`time to it with a CPU slowed four times, median of ${ROUNDS}`, middle(all.map(({ time }) => time)), "ms", MOST.board);
}
tell(`a guest's move shown by the host and here, 95 of 100 of ${times.length}`, middle(times, 0.95), "ms", MOST.seen);
process.exitCode = missed ? 1 : 0;
