// The way between a browser and a host, as a SOCKS 5 proxy that can be cut: addresses, Host and Origin stay what they are.
import { connect, createServer } from "node:net";

export class Cable {
  #server;
  #sockets = new Set();
  /// Those that are through to the other end.
  #joined = new Set();
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
    for (const socket of this.#joined) socket.pause();
  }

  mend() {
    this.state = "through";
    for (const socket of this.#joined) socket.resume();
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
    const reader = new Reader(socket);
    const take = (count) => reader.take(count);
    try {
      const [, methods] = await take(2);
      await take(methods);
      socket.write(Buffer.from([5, 0]));
      const [, , , kind] = await take(4);
      const length = { 1: 4, 4: 16 }[kind] ?? (await take(1))[0];
      const bytes = await take(length);
      const host = kind === 1 ? bytes.join(".") : kind === 3 ? bytes.toString("latin1") : bytes.toString("hex").match(/.{4}/g).join(":");
      const port = (await take(2)).readUInt16BE();
      reader.release();
      const far = connect(port, host);
      this.#keep(far);
      far.on("connect", () => {
        this.served += 1;
        for (const end of [socket, far]) {
          this.#joined.add(end);
          end.on("close", () => this.#joined.delete(end));
        }
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

/// What comes in, so many bytes at a time. Listens once: a stream tells again and again of bytes that are too few.
class Reader {
  #bytes = Buffer.alloc(0);
  #wake = () => {};

  constructor(socket) {
    this.socket = socket;
    this.keep = (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      this.#wake();
    };
    socket.on("data", this.keep);
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.ended = true;
        this.#wake();
      });
    }
  }

  async take(count) {
    while (this.#bytes.length < count) {
      if (this.ended) throw new Error("ended");
      await new Promise((ready) => (this.#wake = ready));
    }
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  /// Gives the socket back, with what was not taken.
  release() {
    this.socket.off("data", this.keep);
    this.socket.pause();
    if (this.#bytes.length) this.socket.unshift(this.#bytes);
  }
}
