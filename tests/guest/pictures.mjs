// Draws every story in all sizes, languages and themes: node pictures.mjs FOLDER [STORY …]. To be looked at.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch } from "./browsers.mjs";
import { stage } from "./stage.mjs";
import { enter, SIZES } from "./states.mjs";
import { STORIES } from "./stories.mjs";

const [folder = "pictures", ...chosen] = process.argv.slice(2);
const only = (name, all) => (process.env[name] ? process.env[name].split(",") : all);
await mkdir(folder, { recursive: true });
const shown = await stage(STORIES);
for (const language of only("LANGUAGES", ["en", "zh"])) {
  const { browser, close } = await launch("chromium", { language });
  for (const theme of only("THEMES", ["light", "dark"])) {
    for (const size of only("SIZES", Object.keys(SIZES))) {
      for (const name of chosen.length ? chosen : Object.keys(STORIES)) {
        const page = await enter(browser, shown.address, name, { size, theme, language });
        await page.screenshot({ path: join(folder, `${name}-${size}-${theme}-${language}.png`) });
        const errors = page.problems;
        if (errors.length) console.log(name, size, errors);
        await page.closeAll();
      }
    }
  }
  await close();
}
await shown.close();
