// A host that only shows: serves the page and sends a story's messages, so that each state of the page can be looked at. Play is
// tried with the real qiyoud (matches.mjs), never with this.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

export const PAGE = fileURLToPath(new URL("../../app/guest/page/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/// Serves on loopback; gives {address, heard, close}. The token names the story. `connected` in place of stories is given each WebSocket.
export async function stage(stories) {
  const server = createServer(async (request, response) => {
    const name = new URL(request.url, "http://x").pathname.slice(1) || "index.html";
    const host = request.headers.host;
    try {
      if (!/^[\w.-]+$/.test(name)) throw new Error("no such file");
      const body = await readFile(join(PAGE, name));
      response.writeHead(200, {
        "Content-Type": `${TYPES[extname(name)] ?? "application/octet-stream"}; charset=utf-8`,
        "Content-Security-Policy": `default-src 'self'; connect-src 'self' ws://${host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  const sockets = new WebSocketServer({ server, path: "/play" });
  const heard = [];
  sockets.on("connection", (socket) => {
    if (stories.connected) {
      stories.connected(socket);
      return;
    }
    let story = null;
    const send = (message) => socket.send(JSON.stringify(message));
    socket.on("message", (data) => {
      const message = JSON.parse(data);
      heard.push(message);
      const [[kind, body]] = Object.entries(message);
      if (kind === "hello") {
        story = stories[body.token];
        if (!story) send({ closed: { why: "wrong_code", words: null, seconds: 0 } });
        for (const one of story?.sends ?? []) {
          if (one === "lose") socket.terminate();
          else send(one);
        }
        if (story?.sends.at(-1)?.closed) socket.close(1000, "x");
      } else if (kind === "ping") send({ pong: body });
      else {
        const answer = story?.answers?.[kind]?.(body);
        send(answer ?? { reply: { id: body.id, ok: true } });
      }
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    heard,
    close: () => new Promise((closed) => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close(closed);
    }),
  };
}
