// One way to drive Chromium, Firefox (both by puppeteer-core) and WebKit (WebKitWebDriver).
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/// A browser with a profile of its own; `language` is its first. Gives {browser, close}.
export async function launch(name, { language = "en" } = {}) {
  const profile = await mkdtemp(join(tmpdir(), "qiyou-guest-"));
  const forget = () => rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const locale = language === "zh" ? "zh-CN" : "en-US";
  const options =
    name === "firefox"
      ? { browser: "firefox", executablePath: FIREFOX, extraPrefsFirefox: { "intl.accept_languages": locale, "ui.prefersReducedMotion": 0 } }
      : {
          browser: "chrome", executablePath: CHROMIUM,
          args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", `--lang=${locale}`, `--accept-lang=${locale}`],
        };
  const browser = await puppeteer.launch({ headless: true, userDataDir: profile, ...options });
  return {
    browser,
    close: async () => {
      await browser.close().catch(() => {});
      await forget();
    },
  };
}
