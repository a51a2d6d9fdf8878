// The way to the host: one WebSocket at a time, made again when it is lost, with nothing lost and nothing doubled.

const PING_EVERY = 10_000;
const SILENT_FOR = 25_000;
// To connect and be answered.
const PATIENCE = 8_000;
// After a wake-up: how long an open connection may take to prove itself.
const PROOF = 3_000;
const BACK_OFF = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
// Messages that wait for their reply.
const MOST_WAITING = 32;

/// Reasons after which the page does not come back by itself.
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

  /// `greeting()` gives {token, tab, name}. `listener` has `heard(kind, body)` and `changed(state, detail)`; states: connecting,
  /// taken (the host's person is asked), up, down (detail: when it is tried again, of performance.now), ended (detail: the last message).
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

  /// Connects, or connects afresh.
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

  /// Something has changed outside: the network, the screen. Tries at once, or makes an open connection prove that it lives.
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

  /// Sends it, and again after a lost connection until it is replied to. The promise gives the reply's kind and body, or null where
  /// the connection ended before.
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
      // The host says when it is no longer asked; a lost connection is noticed a little later.
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
        // Whether these have arrived is not known: the host plays none of them twice.
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
      // What the host does not understand it will not understand the next time either.
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

  /// Greater than any before, also after a reload.
  #nextId() {
    this.#lastId = Math.max(Date.now(), this.#lastId + 1);
    store("qiyou.id", this.#lastId);
    return this.#lastId;
  }
}

/// What the browser keeps for this page; null where it keeps nothing.
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
    // A private window, perhaps: then it lasts as long as the page.
  }
}
