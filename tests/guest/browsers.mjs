// One way to drive three engines: Chromium and Firefox by puppeteer-core, WebKit by WebKitWebDriver.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import puppeteer from "puppeteer-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const WEBKIT_DRIVER = process.env.WEBKIT_DRIVER ?? "/usr/bin/WebKitWebDriver";

export const ENGINES = ["chromium", "firefox", "webkit"];

export const SIZES = {
  small: { width: 320, height: 568, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  phone: { width: 390, height: 844, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  lying: { width: 844, height: 390, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  wide: { width: 1280, height: 800, deviceScaleFactor: 1, hasTouch: false, isMobile: false },
};

/// A browser with a profile of its own, whose first language this is; `proxy`: the port of a SOCKS proxy on loopback. Gives {page(options), close()}; every page is of a fresh context
/// where the engine can do that. `env`: variables for Chromium and Firefox.
export async function launch(engine, { language = "en", proxy = 0, env = {} } = {}) {
  const profile = await mkdtemp(join(tmpdir(), "qiyou-guest-"));
  const forget = () => rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  try {
    return engine === "webkit" ? await webkit(profile, language, proxy, forget) : await puppet(engine, profile, { language, proxy, env }, forget);
  } catch (error) {
    await forget();
    throw error;
  }
}

async function puppet(engine, profile, { language, proxy, env }, forget) {
  const locale = language === "zh" ? "zh-CN" : "en-US";
  const options =
    engine === "firefox"
      ? { browser: "firefox", executablePath: FIREFOX, extraPrefsFirefox: {
          "intl.accept_languages": locale, "dom.w3c_touch_events.enabled": 1,
          ...(proxy ? { "network.proxy.type": 1, "network.proxy.socks": "127.0.0.1", "network.proxy.socks_port": proxy, "network.proxy.socks_version": 5, "network.proxy.allow_hijacking_localhost": true } : {}),
        } }
      : {
          browser: "chrome", executablePath: CHROMIUM,
          args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", `--lang=${locale}`, `--accept-lang=${locale}`, ...(proxy ? [`--proxy-server=socks5://127.0.0.1:${proxy}`] : [])],
        };
  const browser = await puppeteer.launch({ headless: true, userDataDir: profile, env: { ...process.env, ...env }, ...options });
  return {
    engine,
    page: async (options) => Puppet.make(await browser.createBrowserContext(), engine, options),
    close: async () => {
      await browser.close().catch(() => {});
      await forget();
    },
  };
}

class Puppet {
  problems = [];

  static async make(context, engine, { size = "phone", theme = "light", reduced = true } = {}) {
    const self = new Puppet();
    self.engine = engine;
    self.context = context;
    self.inner = await context.newPage();
    // That a connection was lost is said by every browser, and no fault of the page.
    const note = (text) => /WebSocket|can.t establish a connection|ERR_INTERNET_DISCONNECTED/.test(text) || self.problems.push(text);
    self.inner.on("pageerror", (error) => note(String(error)));
    self.inner.on("console", (message) => ["error", "warn", "warning"].includes(message.type()) && note(message.text()));
    await self.resize(size);
    if (engine === "chromium") {
      await self.inner.emulateMediaFeatures([
        { name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: reduced ? "reduce" : "no-preference" },
      ]);
    }
    return self;
  }

  /// Another page of the same browser: what one keeps the other has.
  async sibling() {
    const other = new Puppet();
    Object.assign(other, { engine: this.engine, context: this.context, inner: await this.context.newPage() });
    return other;
  }

  /// A name of SIZES, or one of its form.
  async resize(size) {
    const { width, height, deviceScaleFactor, ...touch } = SIZES[size] ?? size;
    await this.inner.setViewport({ width, height, deviceScaleFactor, ...(this.engine === "chromium" ? touch : {}) });
  }

  /// Runs before any script of every document that is loaded from now on.
  before(run, ...given) {
    return this.inner.evaluateOnNewDocument(run, ...given);
  }

  goto(address) {
    return this.inner.goto(address, { waitUntil: "load" });
  }

  reload() {
    return this.inner.reload({ waitUntil: "load" });
  }

  run(script, ...given) {
    return this.inner.evaluate(script, ...given);
  }

  until(script, limit, ...given) {
    return this.inner.waitForFunction(script, { timeout: limit, polling: 50 }, ...given);
  }

  async tap(x, y) {
    if (this.engine === "chromium") {
      await this.inner.touchscreen.tap(x, y);
      return;
    }
    // Firefox refuses the size and pressure of a finger that puppeteer sends with its taps.
    const actions = [
      { type: "pointerMove", x: Math.round(x), y: Math.round(y) }, { type: "pointerDown", button: 0 }, { type: "pause", duration: 20 }, { type: "pointerUp", button: 0 },
    ];
    await this.inner.mainFrame().browsingContext.performActions([{ type: "pointer", id: "finger", parameters: { pointerType: "touch" }, actions }]);
  }

  async click(x, y) {
    await this.inner.mouse.click(x, y);
  }

  async key(name) {
    await this.inner.keyboard.press(name);
  }

  async type(text) {
    await this.inner.keyboard.type(text);
  }

  async shot(path) {
    await this.inner.screenshot({ path });
  }

  async close() {
    await this.context.close().catch(() => {});
  }
}

/// A port that nobody listens on.
async function freePort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

async function miniBrowser() {
  for (const folder of ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/libexec"]) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (/^webkit(2)?gtk-/.test(name)) {
        const inside = await readdir(join(folder, name)).catch(() => []);
        if (inside.includes("MiniBrowser")) return join(folder, name, "MiniBrowser");
      }
    }
  }
  throw new Error("WebKit's MiniBrowser is not installed");
}

/// WebKitWebDriver has one session at a time: each page gets a driver and a profile of its own.
async function webkit(profile, language, proxy, forget) {
  const display = await screen();
  const locale = await localeOf(profile, language);
  // The driver's own word for a proxy is not heard by MiniBrowser.
  const way = proxy ? [`--proxy=socks://127.0.0.1:${proxy}`] : [];
  const wanted = { "webkitgtk:browserOptions": { binary: await miniBrowser(), args: ["--automation", ...way] } };
  const drivers = new Set();
  let pages = 0;
  return {
    engine: "webkit",
    page: async (options) => {
      pages += 1;
      const driver = await webkitDriver(join(profile, String(pages)), display.name, locale);
      drivers.add(driver);
      const { sessionId } = await driver.ask("POST", "/session", { capabilities: { alwaysMatch: wanted } });
      const end = () => {
        drivers.delete(driver);
        driver.stop();
      };
      return Driven.make((method, path, body) => driver.ask(method, `/session/${sessionId}${path}`, body), end, options);
    },
    close: async () => {
      for (const driver of drivers) driver.stop();
      display.close();
      await forget();
    },
  };
}

/// Variables that make WebKit's first language this one: it is that of the C library's locale, which is seldom installed.
async function localeOf(profile, language) {
  if (language !== "zh") return { LANG: "C.UTF-8", LANGUAGE: "en_US" };
  const made = join(profile, "locales");
  await mkdir(made);
  await promisify(execFile)("localedef", ["--no-archive", "-i", "zh_CN", "-f", "UTF-8", join(made, "zh_CN.UTF-8")]);
  return { LOCPATH: made, LANG: "zh_CN.UTF-8", LC_ALL: "zh_CN.UTF-8", LANGUAGE: "zh_CN" };
}

/// MiniBrowser's own buttons, which are wider than a phone.
const NARROW = "* { min-width: 0; padding: 0; margin: 0; border-width: 0; border-spacing: 0; font-size: 1px; -gtk-icon-size: 1px; }";

async function webkitDriver(home, display, locale) {
  for (const version of ["gtk-3.0", "gtk-4.0"]) {
    await mkdir(join(home, "config", version), { recursive: true });
    await writeFile(join(home, "config", version, "gtk.css"), NARROW);
  }
  const port = await freePort();
  const program = spawn(WEBKIT_DRIVER, [`--port=${port}`], {
    stdio: "ignore",
    env: {
      ...process.env, DISPLAY: display, HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CACHE_HOME: join(home, "cache"), XDG_CONFIG_HOME: join(home, "config"), ...locale,
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1", LIBGL_ALWAYS_SOFTWARE: "1", NO_AT_BRIDGE: "1", GTK_A11Y: "none",
      DBUS_SESSION_BUS_ADDRESS: "disabled:",
    },
  });
  const ask = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body === undefined ? undefined : JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${path}: ${value?.error}: ${value?.message}`);
    return value;
  };
  for (let tries = 0; ; tries += 1) {
    if (await ask("GET", "/status").then(() => true, () => false)) break;
    if (tries > 100) throw new Error("WebKitWebDriver does not answer");
    await new Promise((later) => setTimeout(later, 100));
  }
  return { ask, stop: () => program.kill("SIGTERM") };
}

/// A virtual screen of our own.
async function screen() {
  const number = 90 + (process.pid % 900);
  const server = spawn("Xvfb", [`:${number}`, "-screen", "0", "1400x1000x24", "-nolisten", "tcp"], { stdio: "ignore" });
  await new Promise((later) => setTimeout(later, 700));
  return { name: `:${number}`, close: () => server.kill("SIGTERM") };
}

/// A page by WebDriver's words.
class Driven {
  problems = [];
  engine = "webkit";

  static async make(ask, end, { size = "phone" } = {}) {
    const self = new Driven();
    Object.assign(self, { ask, end });
    await self.ask("POST", "/timeouts", { script: 30_000, pageLoad: 30_000, implicit: 0 });
    await self.resize(size);
    return self;
  }

  /// The window is sized so that the page inside has the size that is meant.
  async resize(size) {
    const { width, height } = SIZES[size];
    for (let tries = 0; tries < 3; tries += 1) {
      const rect = await this.ask("GET", "/window/rect");
      const inner = await this.run(() => [innerWidth, innerHeight]);
      if (inner[0] === width && inner[1] === height) return;
      await this.ask("POST", "/window/rect", { width: rect.width + width - inner[0], height: rect.height + height - inner[1], x: 0, y: 0 });
      await new Promise((later) => setTimeout(later, 300));
    }
  }

  #before = [];

  /// Run at once on the same origin, and then the page is loaded again: WebDriver has no earlier moment.
  before(run, ...given) {
    this.#before.push([run, given]);
  }

  async goto(address) {
    await this.ask("POST", "/url", { url: address });
    if (this.#before.length) {
      for (const [run, given] of this.#before) await this.run(run, ...given);
      await this.reload();
    }
  }

  async reload() {
    await this.ask("POST", "/refresh", {});
  }

  run(script, ...given) {
    const body = `return Promise.resolve((${script}).apply(null, arguments))`;
    return this.ask("POST", "/execute/sync", { script: body, args: given });
  }

  async until(script, limit, ...given) {
    const end = Date.now() + limit;
    for (;;) {
      const found = await this.run(script, ...given);
      if (found) return found;
      if (Date.now() > end) throw new Error(`not within ${limit} ms: ${script}`);
      await new Promise((later) => setTimeout(later, 50));
    }
  }

  async #point(x, y, pointerType) {
    const at = { type: "pointerMove", duration: 0, x: Math.round(x), y: Math.round(y) };
    const actions = [at, { type: "pointerDown", button: 0 }, { type: "pause", duration: 30 }, { type: "pointerUp", button: 0 }];
    await this.ask("POST", "/actions", { actions: [{ type: "pointer", id: pointerType, parameters: { pointerType }, actions }] });
  }

  /// WebKitGTK's driver has no finger.
  tap(x, y) {
    return this.#point(x, y, "mouse");
  }

  click(x, y) {
    return this.#point(x, y, "mouse");
  }

  async key(name) {
    const value = { Enter: "\uE007", ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowRight: "\uE014", ArrowDown: "\uE015", Tab: "\uE004", Escape: "\uE00C", Home: "\uE011", End: "\uE010", Space: " " }[name] ?? name;
    await this.ask("POST", "/actions", { actions: [{ type: "key", id: "keys", actions: [{ type: "keyDown", value }, { type: "keyUp", value }] }] });
  }

  async type(text) {
    const actions = [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    await this.ask("POST", "/actions", { actions: [{ type: "key", id: "keys", actions }] });
  }

  async shot(path) {
    await writeFile(path, Buffer.from(await this.ask("GET", "/screenshot"), "base64"));
  }

  async close() {
    await this.ask("DELETE", "").catch(() => {});
    this.end();
  }
}
