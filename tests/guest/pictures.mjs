// Draws every story, to be looked at: node pictures.mjs FOLDER [STORY …]. SIZES, LANGUAGES, THEMES and ENGINE narrow it, with commas.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch, SIZES } from "./browsers.mjs";
import { stage } from "./stage.mjs";
import { enter } from "./states.mjs";
import { STORIES } from "./stories.mjs";

const [folder = "pictures", ...chosen] = process.argv.slice(2);
const only = (name, all) => process.env[name]?.split(",") ?? all;
const engine = process.env.ENGINE ?? "chromium";
// Only Chromium is told the theme.
const themes = engine === "chromium" ? ["light", "dark"] : ["light"];
await mkdir(folder, { recursive: true });
const shown = await stage(STORIES);
let problems = 0;
for (const language of only("LANGUAGES", ["en", "zh"])) {
  const browser = await launch(engine, { language });
  for (const theme of only("THEMES", themes)) {
    for (const size of only("SIZES", Object.keys(SIZES))) {
      for (const name of chosen.length ? chosen : Object.keys(STORIES)) {
        const page = await enter(browser, shown.address, name, { size, theme });
        await page.shot(join(folder, `${name}-${size}-${theme}-${language}.png`));
        for (const problem of page.problems) console.log(`${name} ${size}: ${problem}`);
        problems += page.problems.length;
        await page.close();
      }
    }
  }
  await browser.close();
}
await shown.close();
process.exitCode = problems ? 1 : 0;
