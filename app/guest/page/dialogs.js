// Dialogs over the page: one at a time, created when shown and removed when answered.
import { icon } from "./art.js";
import { isChinese, phrase, PHRASES, say } from "./words.js";

const EMOTES = ["smile", "laugh", "wow", "sad", "applause", "sweat"];
/// Milliseconds for which a sudden dialog ignores taps, which were meant for what it covers: a browser's click follows the tap
/// that opened it.
const SETTLES = 350;

let open = null;

/// The name of the open dialog, or null.
export function openDialog() {
  return open?.name ?? null;
}

export function closeDialog(name) {
  if (open && (!name || open.name === name)) {
    const { element } = open;
    open = null;
    element.close();
    element.remove();
  }
}

/// Shows a dialog. `parts`: elements under the title; `kept`: cannot be dismissed; `sudden`: opened without an action of the
/// player, or by a tap on the board.
export function show(name, title, parts, { kept = false, sudden = false, closed } = {}) {
  closeDialog();
  const element = document.createElement("dialog");
  const heading = make("h2", { id: "dialog-title", tabIndex: -1 }, title);
  element.setAttribute("aria-labelledby", "dialog-title");
  const body = make("div", { className: "body" }, ...parts);
  element.append(heading, body);
  element.dataset.dialog = name;
  element.addEventListener("cancel", (event) => kept && event.preventDefault());
  element.addEventListener("close", () => {
    element.remove();
    if (open?.element === element) {
      open = null;
      closed?.();
    }
  });
  // A tap on the backdrop.
  element.addEventListener("click", (event) => !kept && !body.inert && event.target === element && outside(element, event) && closeDialog());
  // Firefox before 112 does not know inert.
  body.addEventListener("click", (event) => body.inert && event.stopPropagation(), true);
  document.body.append(element);
  open = { name, element };
  element.showModal();
  heading.focus();
  if (sudden) {
    body.inert = true;
    setTimeout(() => (body.inert = false), SETTLES);
  }
}

function outside(element, event) {
  const box = element.getBoundingClientRect();
  return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
}

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/// A button that closes the dialog and then acts; `stay`: leaves it open.
export function button(text, act, { kind = "", disabled = false, stay = false } = {}) {
  const element = make("button", { type: "button", className: `button ${kind}`.trim(), disabled }, text);
  element.addEventListener("click", () => {
    if (!stay) closeDialog();
    act?.();
  });
  return element;
}

export function text(words) {
  return make("p", {}, words);
}

function flip(words, on, act) {
  const element = make("button", { type: "button", className: "button switch" }, words);
  element.setAttribute("role", "switch");
  element.setAttribute("aria-checked", on);
  element.addEventListener("click", () => {
    element.setAttribute("aria-checked", act());
  });
  return element;
}

export function ask(name, title, hint, choices, options) {
  show(name, title, [...(hint ? [text(hint)] : []), ...choices], options);
}

/// The chat dialog: phrases, and a text field.
export function sayDialog(saying) {
  const pick = (name) => () => saying({ phrase: name });
  const emotes = make("div", { className: "emotes" });
  for (const name of EMOTES) {
    const element = make("button", { type: "button", className: "tile" }, icon(name));
    element.setAttribute("aria-label", phrase(name));
    element.addEventListener("click", () => {
      closeDialog();
      pick(name)();
    });
    emotes.append(element);
  }
  const names = Object.keys(PHRASES).filter((name) => !EMOTES.includes(name));
  const phrases = make("div", { className: "phrases" }, ...names.map((name) => button(phrase(name), pick(name))));
  const input = make("input", { type: "text", maxLength: 200, enterKeyHint: "send", autocomplete: "off" });
  input.setAttribute("aria-label", say("write"));
  input.placeholder = say("write");
  const form = make("form", {}, input, make("button", { type: "submit", className: "button" }, say("sendMessage")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const written = input.value.trim();
    if (!written) return;
    closeDialog();
    saying({ text: written });
  });
  show("say", say("saySomething"), [emotes, phrases, form, button(say("close"), null, { kind: "primary" })]);
}

/// The menu of rarely used items. `items`: {word, act, disabled} or null; `switches`: {word, on, act}; `theme`: {chosen,
/// choose}.
export function moreDialog(items, switches, theme, languageChanged) {
  const buttons = items.filter(Boolean).map(({ word, act, disabled }) => button(say(word), act, { disabled }));
  const segments = make("div", { className: "segments" });
  segments.setAttribute("role", "group");
  segments.setAttribute("aria-label", say("appearance"));
  for (const [value, word] of [["", "asSystem"], ["light", "light"], ["dark", "dark"]]) {
    const element = make("button", { type: "button", className: "button" }, say(word));
    element.setAttribute("aria-pressed", theme.chosen() === value);
    element.addEventListener("click", () => {
      theme.choose(value);
      for (const one of segments.children) one.setAttribute("aria-pressed", one === element);
    });
    segments.append(element);
  }
  const language = button(say("language"), languageChanged);
  language.lang = isChinese() ? "en" : "zh";
  show("more", say("more"), [
    ...buttons,
    ...switches.map(({ word, on, act }) => flip(say(word), on, act)),
    segments,
    language,
    button(say("close"), null, { kind: "primary" }),
  ]);
}
