// What is said aloud to a screen reader, and in passing at the foot of the page.
import { at } from "./view.js";
import { isChinese } from "./words.js";

const REMARK_STAYS = 4_000;

let news = [];

/// For screen readers: sentences of one turn together, a moment later, so that none replaces another unheard.
export function announce(sentence) {
  if (!sentence) return;
  news.push(sentence);
  if (news.length > 1) return;
  setTimeout(() => {
    const said = news.join(isChinese() ? "。" : ". ");
    news = [];
    // The same sentence twice is a change too.
    at("news").textContent = at("news").textContent === said ? `${said}\u00a0` : said;
  }, 60);
}

let remarkTimer = 0;

/// A passing remark at the foot of the page.
export function remark(sentence) {
  if (!sentence) return;
  const element = at("remark");
  element.hidden = false;
  element.textContent = sentence;
  clearTimeout(remarkTimer);
  remarkTimer = setTimeout(() => (element.hidden = true), REMARK_STAYS);
}
