// The page's own words, so that tests read it in either language.
import { join } from "node:path";
import { PAGE } from "./stage.mjs";

// words.js asks for the browser's language when it is loaded.
Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] }, configurable: true });
globalThis.localStorage ??= { getItem: () => null, setItem: () => {} };
export const { ALL, PHRASES } = await import(join(PAGE, "words.js"));

/// A sentence without placeholders, in English or Chinese.
export const said = (language, name) => ALL[name][language === "zh" ? 1 : 0];

const SIDES = { first: "redPiece", second: "blackPiece" };
const KINDS = ["general", "adviser", "elephant", "horse", "chariot", "cannon", "soldier"];

/// What a point's label says that stands there: {label: "first general", "lit", …}.
export function pieceWords(language) {
  const kinds = Object.entries(SIDES).flatMap(([side, name]) => KINDS.map((kind) => [said(language, name).replace("{0}", said(language, kind)), `${side} ${kind}`]));
  return Object.fromEntries([
    [said(language, "black"), "first stone"], [said(language, "white"), "second stone"], [said(language, "lit"), "lit"], [said(language, "unlit"), "unlit"], ...kinds,
  ]);
}
