// Every state of stories.mjs looks as it did when its pictures in golden/ were approved: in three sizes, in both languages, light and dark, in Chromium with the app's fonts. BLESS=1 approves the present pictures; what differs is put into target/guest-golden.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./browsers.mjs";
import { stage } from "./stage.mjs";
import { enter } from "./states.mjs";
import { STORIES } from "./stories.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const GOLDEN = path("golden/");
const DIFFERING = path("../../target/guest-golden/");
const FONTS = path("../../app/screens/assets/fonts/");

const MAIN = ["start", "gomoku", "aimed", "go", "counting", "xiangqi", "check", "liuzhou", "lights", "race", "offerdraw", "achieved", "scored", "raceover", "watch", "wrong"];
const touched = { deviceScaleFactor: 1, hasTouch: true, isMobile: true };
const SIZES = [
  { width: 360, height: 740, ...touched }, { width: 800, height: 480, ...touched },
  { width: 1280, height: 800, deviceScaleFactor: 1, hasTouch: false, isMobile: false },
];
/// Language and theme: each size of a state is drawn another way.
const WAYS = [["en", "light"], ["zh", "dark"], ["en", "dark"], ["zh", "light"]];

/// The mean of a block may differ by this per channel: edges of letters do between versions, another colour or place of anything does not.
const NEAR = 16;
/// Side of a block in pixels.
const BLOCK = 4;
/// Blocks of 10,000 that may differ: less than a letter of the smallest text on the smallest page, which is about 10 blocks of 16,650.
const FEW = 3;

const OTHERS = Object.keys(STORIES).filter((name) => !MAIN.includes(name));
const drawnIn = (names, sizes) => names.flatMap((name, state) => sizes.map((size, at) => {
  const [language, theme] = WAYS[(state + at) % WAYS.length];
  return { name, size, language, theme, file: `${name}-${size.width}x${size.height}-${language}-${theme}.png` };
}));
// Two lists, so that a new state changes no picture of another one of the first.
const drawn = [...drawnIn(MAIN, SIZES), ...drawnIn(OTHERS, SIZES)];

let folder;
let shown;
const browsers = {};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "qiyou-golden-"));
  // The machine's own fonts and ways of drawing them are no part of the picture.
  const alias = (family, font) => `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>`;
  const fonts = join(folder, "fonts.conf");
  await writeFile(fonts, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${FONTS}</dir><cachedir>${folder}</cachedir>
    ${["system-ui", "sans-serif", "sans"].map((one) => alias(one, "Qiyou Sans")).join("")}${["LXGW WenKai", "serif"].map((one) => alias(one, "Qiyou Kai")).join("")}
    <match target="font"><edit name="hinting"><bool>false</bool></edit><edit name="antialias"><bool>true</bool></edit><edit name="rgba"><const>none</const></edit></match></fontconfig>`);
  shown = await stage(STORIES);
  for (const language of ["en", "zh"]) browsers[language] = await launch("chromium", { language, env: { FONTCONFIG_FILE: fonts } });
});

after(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  await shown?.close();
  await rm(folder, { recursive: true, force: true });
});

async function picture({ name, size, language, theme }) {
  const page = await enter(browsers[language], shown.address, name, { size, theme, frozen: true });
  const file = join(folder, "now.png");
  await page.shot(file);
  const problems = page.problems;
  await page.close();
  assert.deepEqual(problems, [], name);
  return readFile(file);
}

/// Blocks that differ, of how many; null: the pictures are of different sizes. Chromium reads the files.
function compare(page, one, other) {
  return page.run(async (files, block, near) => {
    const [a, b] = await Promise.all(files.map(async (file) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${file}`)).blob());
      const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    }));
    if (a.width !== b.width || a.height !== b.height) return null;
    let differing = 0;
    let blocks = 0;
    for (let top = 0; top < a.height; top += block) {
      for (let left = 0; left < a.width; left += block) {
        const sums = [0, 0, 0];
        let pixels = 0;
        for (let y = top; y < Math.min(top + block, a.height); y += 1) {
          for (let x = left; x < Math.min(left + block, a.width); x += 1) {
            for (let channel = 0; channel < 3; channel += 1) {
              const at = (y * a.width + x) * 4 + channel;
              sums[channel] += a.data[at] - b.data[at];
            }
            pixels += 1;
          }
        }
        blocks += 1;
        if (sums.some((sum) => Math.abs(sum) > near * pixels)) differing += 1;
      }
    }
    return { differing, blocks };
  }, [one, other].map((bytes) => bytes.toString("base64")), BLOCK, NEAR);
}

for (const name of [...MAIN, ...OTHERS]) {
  test(`the page looks as it was found good: ${name}`, async () => {
    const reader = await browsers.en.page();
    const wrong = [];
    for (const one of drawn.filter((each) => each.name === name)) {
      const now = await picture(one);
      const kept = await readFile(join(GOLDEN, one.file)).catch(() => null);
      const found = kept && await compare(reader, kept, now);
      if (found && found.differing * 10_000 <= found.blocks * FEW) continue;
      if (process.env.BLESS === "1") {
        await mkdir(GOLDEN, { recursive: true });
        await writeFile(join(GOLDEN, one.file), now);
        continue;
      }
      await mkdir(DIFFERING, { recursive: true });
      await writeFile(join(DIFFERING, one.file), now);
      if (kept) await writeFile(join(DIFFERING, `${one.file}.before.png`), kept);
      wrong.push(!kept ? `${one.file} is new` : found ? `${one.file}: ${found.differing} of ${found.blocks} blocks differ` : `${one.file} has another size`);
    }
    await reader.close();
    assert.deepEqual(wrong, [], `look at them in ${DIFFERING}; if they are good, BLESS=1 keeps them`);
  });
}

test("a letter that is gone, a stone that is a point away and a colour that is another are seen", async () => {
  const page = await enter(browsers.en, shown.address, "gomoku", { size: SIZES[0], theme: "light", frozen: true });
  const shot = async () => {
    await page.shot(join(folder, "now.png"));
    return readFile(join(folder, "now.png"));
  };
  const reader = await browsers.en.page();
  const good = await shot();
  const differs = async () => {
    const { differing, blocks } = await compare(reader, good, await shot());
    return differing * 10_000 > blocks * FEW;
  };
  assert.equal(await differs(), false);
  const faults = [
    () => {
      const title = document.getElementById("title");
      const before = title.textContent;
      title.textContent = before.slice(1);
      return () => (title.textContent = before);
    },
    () => {
      const stone = document.querySelector("#board use");
      const [at, width] = ["x", "width"].map((name) => Number(stone.getAttribute(name)));
      stone.setAttribute("x", at + width);
      return () => stone.setAttribute("x", at);
    },
    // The seal's place is the mark of the last move and the frame around who is to move.
    () => {
      document.documentElement.style.setProperty("--seal", "#497262");
      return () => document.documentElement.style.removeProperty("--seal");
    },
  ];
  for (const fault of faults) {
    await page.run((make) => (window.mended = (0, Function)(`return (${make})()`)()), String(fault));
    assert.equal(await differs(), true, String(fault));
    await page.run(() => void window.mended());
    assert.equal(await differs(), false, String(fault));
  }
  await page.close();
  await reader.close();
});

test("every kept picture is one that is drawn", async () => {
  const kept = await readdir(GOLDEN);
  assert.deepEqual(kept.sort(), drawn.map(({ file }) => file).sort());
});
