// The connection to the host: one WebSocket at a time, reopened after a loss. Unanswered messages are resent; the host
// ignores duplicates.

const PING_EVERY = 10_000;
const SILENT_FOR = 25_000;
// Milliseconds to connect and receive the answer to the hello.
const PATIENCE = 8_000;
// Milliseconds for an open connection to answer a ping after a wake-up.
const PROOF = 3_000;
const BACK_OFF = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
// Maximum number of messages without a reply.
const MOST_WAITING = 32;

/// Reasons for which the page does not reconnect automatically.
const FINAL = new Set(["host_stopping", "code_closed", "wrong_code", "seat_taken", "given", "replaced", "too_old"]);

export class Connection {
  #socket = null;
  #state = "idle";
  #tries = 0;
  #timer = 0;
  #limit = 0;
  #pulse = 0;
  #heardAt = 0;
  #roomIsDue = false;
  #lastId = 0;
  #waiting = new Map();
  #listener;
  #greeting;

  /// `greeting()` returns {token, tab, name}. `listener` has `heard(kind, body)` and `changed(state, detail)`. States:
  /// connecting, taken (the host's user is asked for the seat), up, down (detail: time of the next attempt, on the clock of
  /// performance.now), ended (detail: the last message).
  constructor(greeting, listener) {
    this.#greeting = greeting;
    this.#listener = listener;
    this.#lastId = Number(stored("qiyou.id")) || 0;
    addEventListener("online", () => this.nudge());
    addEventListener("pageshow", () => this.nudge());
    addEventListener("pagehide", () => this.#drop());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.nudge());
  }

  get state() {
    return this.#state;
  }

  /// Opens a new connection, in place of a previous one.
  open() {
    this.#drop();
    this.#enter("connecting");
    let socket;
    try {
      socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/play`);
    } catch {
      this.#lost();
      return;
    }
    this.#socket = socket;
    this.#limit = setTimeout(() => this.#lost(), PATIENCE);
    socket.onopen = () => this.#post({ hello: { version: 1, ...this.#greeting() } });
    socket.onmessage = (event) => this.#hear(event.data);
    socket.onclose = () => this.#lost();
  }

  /// The network or the visibility of the page has changed: retries at once, or pings an open connection.
  nudge() {
    if (this.#state === "down" || (this.#state !== "idle" && this.#state !== "ended" && !this.#socket)) {
      this.#tries = 0;
      this.open();
    } else if (this.#state === "up" && performance.now() - this.#heardAt > PROOF) {
      this.#post({ ping: this.#nextId() });
      clearTimeout(this.#limit);
      this.#limit = setTimeout(() => this.#lost(), PROOF);
    }
  }

  /// Sends a message, and resends it after a reconnection until its reply arrives. The promise resolves to kind and body of
  /// the reply, or to null if the connection ended first.
  ask(kind, body) {
    if (this.#waiting.size >= MOST_WAITING || this.#state === "ended") return Promise.resolve(null);
    const id = this.#nextId();
    const message = { [kind]: { id, ...body } };
    return new Promise((resolve) => {
      this.#waiting.set(id, { message, resolve });
      if (this.#state === "up" && !this.#roomIsDue) this.#post(message);
    });
  }

  #hear(text) {
    let kind, body;
    try {
      [[kind, body]] = Object.entries(JSON.parse(text));
    } catch {
      return;
    }
    this.#heardAt = performance.now();
    if (this.#state === "up") clearTimeout(this.#limit);
    if (kind === "welcome") {
      clearTimeout(this.#limit);
      this.#tries = 0;
      this.#roomIsDue = true;
      clearInterval(this.#pulse);
      this.#pulse = setInterval(() => this.#beat(), PING_EVERY);
      this.#listener.heard(kind, body);
      this.#enter("up");
    } else if (kind === "taken") {
      clearTimeout(this.#limit);
      // The host ends the wait itself; the timeout 10 s later only covers a lost connection.
      this.#limit = setTimeout(() => this.#lost(), (body.seconds + 10) * 1_000);
      this.#enter("taken", body);
    } else if (kind === "closed") {
      this.#closed(body);
    } else if (kind !== "pong") {
      const waiting = this.#waiting.get(body.id);
      if (waiting) {
        this.#waiting.delete(body.id);
        waiting.resolve({ kind, ...body });
      }
      this.#listener.heard(kind, body);
      if (kind === "room" && this.#roomIsDue) {
        // It is unknown which messages have arrived. The host executes none of them twice.
        this.#roomIsDue = false;
        for (const { message } of this.#waiting.values()) this.#post(message);
      }
    }
  }

  #closed(body) {
    if (FINAL.has(body.why)) {
      this.#drop();
      this.#forget();
      this.#enter("ended", body);
    } else {
      // A message that the host cannot parse is not resent.
      if (body.why === "bad_message") this.#forget();
      this.#lost(body.seconds * 1_000, body);
    }
  }

  #lost(wait = 0, body = null) {
    if (this.#state === "ended") return;
    this.#drop();
    const step = BACK_OFF[Math.min(this.#tries, BACK_OFF.length - 1)];
    this.#tries += 1;
    const after = Math.max(wait, step * (0.8 + 0.4 * Math.random()));
    this.#timer = setTimeout(() => this.open(), after);
    this.#enter("down", { at: performance.now() + after, tries: this.#tries, closed: body });
  }

  #beat() {
    if (performance.now() - this.#heardAt > SILENT_FOR) this.#lost();
    else this.#post({ ping: this.#nextId() });
  }

  #drop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#limit);
    clearInterval(this.#pulse);
    const socket = this.#socket;
    this.#socket = null;
    this.#roomIsDue = false;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  #forget() {
    for (const { resolve } of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
  }

  #enter(state, detail = null) {
    this.#state = state;
    this.#listener.changed(state, detail);
  }

  #post(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /// A number greater than all previous ones, also across reloads.
  #nextId() {
    this.#lastId = Math.max(Date.now(), this.#lastId + 1);
    store("qiyou.id", this.#lastId);
    return this.#lastId;
  }
}

/// The stored value for this page, or null.
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Without storage (such as in a private window) it lasts as long as the page.
  }
}
