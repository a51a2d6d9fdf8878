// The way between a browser and a host, as a SOCKS 5 proxy that can be cut: addresses, Host and Origin stay what they are.
import { connect, createServer } from "node:net";

export class Cable {
  #server;
  #sockets = new Set();
  /// Connections that came through so far.
  served = 0;
  /// through, cut (connections end and none begins) or silent (connections stay, and nothing passes).
  state = "through";

  static async make() {
    const cable = new Cable();
    cable.#server = createServer((socket) => cable.#serve(socket));
    await new Promise((listening) => cable.#server.listen(0, "127.0.0.1", listening));
    cable.port = cable.#server.address().port;
    return cable;
  }

  cut() {
    this.state = "cut";
    for (const socket of this.#sockets) socket.destroy();
  }

  silence() {
    this.state = "silent";
    for (const socket of this.#sockets) socket.pause();
  }

  mend() {
    this.state = "through";
    for (const socket of this.#sockets) socket.resume();
  }

  async close() {
    this.cut();
    await new Promise((closed) => this.#server.close(closed));
  }

  #keep(socket) {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  }

  async #serve(socket) {
    this.#keep(socket);
    if (this.state !== "through") {
      if (this.state === "cut") socket.destroy();
      return;
    }
    try {
      const [, methods] = await take(socket, 2);
      await take(socket, methods);
      socket.write(Buffer.from([5, 0]));
      const [, , , kind] = await take(socket, 4);
      const length = { 1: 4, 4: 16 }[kind] ?? (await take(socket, 1))[0];
      const bytes = await take(socket, length);
      const host = kind === 1 ? bytes.join(".") : kind === 3 ? bytes.toString("latin1") : bytes.toString("hex").match(/.{4}/g).join(":");
      const port = (await take(socket, 2)).readUInt16BE();
      const far = connect(port, host);
      this.#keep(far);
      far.on("connect", () => {
        this.served += 1;
        socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        socket.pipe(far);
        far.pipe(socket);
      });
      far.on("close", () => socket.destroy());
      socket.on("close", () => far.destroy());
    } catch {
      socket.destroy();
    }
  }
}

/// So many bytes.
async function take(socket, count) {
  for (;;) {
    const bytes = socket.read(count);
    if (bytes) return bytes;
    await new Promise((ready, fail) => {
      socket.once("readable", ready);
      socket.once("close", () => fail(new Error("closed")));
    });
  }
}
