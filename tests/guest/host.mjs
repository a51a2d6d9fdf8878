// A real qiyoud with data of its own, asked by qiyouctl.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/// The network namespace of the hosts, if tests/guest/veth made one.
const NETNS = process.env.QIYOU_HOST_NETNS;
const BUILT = process.env.QIYOU_BUILT ?? fileURLToPath(new URL("../../target/debug/", import.meta.url));

export class Host {
  /// `lan`: also reachable by others on the local network.
  static async start({ name = "Anna's Deck", lan = false } = {}) {
    const host = new Host();
    host.options = ["--name", name, ...(lan ? [] : ["--no-lan"])];
    host.folder = await mkdtemp(join(tmpdir(), "qiyou-host-"));
    host.socket = join(host.folder, "s");
    await host.run();
    return host;
  }

  /// Starts the program, again after `end`.
  async run() {
    this.log = "";
    const [program, ...before] = [...(NETNS ? ["ip", "netns", "exec", NETNS] : []), join(BUILT, "qiyoud")];
    this.program = spawn(program, [
      ...before, "--data-dir", this.folder, "--socket", this.socket, "--no-bluetooth", "--no-notifications", "--guest-loopback", ...this.options,
    ], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env } });
    for (const stream of [this.program.stdout, this.program.stderr]) stream.on("data", (text) => (this.log = (this.log + text).slice(-20_000)));
    const end = Date.now() + 20_000;
    for (;;) {
      if (await this.ctl("rooms").then(() => true, () => false)) return;
      if (Date.now() > end) throw new Error(`qiyoud does not answer: ${this.log}`);
      await rest(100);
    }
  }

  async end(signal = "SIGTERM") {
    const gone = new Promise((exited) => this.program.once("exit", exited));
    this.program.kill(signal);
    await gone;
  }

  async close() {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  /// What qiyouctl prints, a line each.
  ctl(...words) {
    return new Promise((done, failed) => {
      execFile(join(BUILT, "qiyouctl"), ["--socket", this.socket, "--json", ...words], { timeout: 30_000 }, (error, out) => {
        const lines = out.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
        if (error) failed(new Error(`qiyouctl ${words.join(" ")}: ${lines.map((line) => line.error).join()} ${error.code}`));
        else done(lines);
      });
    });
  }

  /// A new match with a guest: {id, url}.
  async room(game, ...options) {
    const seat = options.includes("--player") ? [] : ["--opponent", "guest"];
    const [{ room_id: id }] = await this.ctl("new", "--game", game, ...seat, ...options);
    return { id, url: await this.code(id) };
  }

  async code(id, ...options) {
    const [{ url }] = await this.ctl("guest", "code", "--room", id, ...options);
    return url;
  }

  /// What qiyouctl tells of events from now on: {until(holds, what), end()}.
  async listen() {
    const program = spawn(join(BUILT, "qiyouctl"), ["--socket", this.socket, "--json", "watch"], { stdio: ["ignore", "pipe", "ignore"] });
    const events = [];
    let begun = "";
    program.stdout.on("data", (bytes) => {
      const lines = (begun + bytes).split("\n");
      begun = lines.pop();
      for (const line of lines.filter(Boolean)) events.push(JSON.parse(line));
    });
    const until = async (holds, what) => {
      const end = Date.now() + 20_000;
      for (;;) {
        const found = events.find(holds);
        if (found) return found;
        if (Date.now() > end) throw new Error(`${what}: ${JSON.stringify(events)}`);
        await rest(40);
      }
    };
    // The present state comes first.
    await until(() => true, "the present state");
    return { until, end: () => program.kill() };
  }

  async board(id) {
    const [board] = await this.ctl("board", "--room", id);
    return board;
  }

  async until(id, holds, what) {
    const end = Date.now() + 20_000;
    for (;;) {
      const board = await this.board(id);
      if (holds(board)) return board;
      if (Date.now() > end) throw new Error(`${what}: ${JSON.stringify(board)}`);
      await rest(40);
    }
  }
}

export const rest = (ms) => new Promise((later) => setTimeout(later, ms));
