// Announcements for screen readers, and short remarks at the foot of the page.
import { at } from "./view.js";
import { isChinese } from "./words.js";

const REMARK_STAYS = 4_000;

let news = [];

/// Announces a sentence to screen readers. Sentences of one turn are joined and announced a moment later, so that none
/// replaces another.
export function announce(sentence) {
  if (!sentence) return;
  news.push(sentence);
  if (news.length > 1) return;
  setTimeout(() => {
    const said = news.join(isChinese() ? "。" : ". ");
    news = [];
    // The appended space makes a repeated sentence a change, which is announced again.
    at("news").textContent = at("news").textContent === said ? `${said}\u00a0` : said;
  }, 60);
}

let remarkTimer = 0;

/// Shows a short remark at the foot of the page.
export function remark(sentence) {
  if (!sentence) return;
  const element = at("remark");
  element.hidden = false;
  element.textContent = sentence;
  clearTimeout(remarkTimer);
  remarkTimer = setTimeout(() => (element.hidden = true), REMARK_STAYS);
}
