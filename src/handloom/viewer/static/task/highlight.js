// Colours for YAML: turns one line of text into marked pieces. Text stays text.

import { el } from "../lib/dom.js";

const PIECES = /(#.*$)|("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|([\w.-]+)(?=\s*:(?:\s|$))|([{}[\],:-])|(-?\b\d[\d.e+-]*\b)|(\b(?:true|false|null)\b)/g;
const NAMES = ["comment", "string", "key", "sign", "number", "word"];

/** Return the pieces of a line. */
export function highlighted(line) {
  const pieces = [];
  let at = 0;
  for (const found of line.matchAll(PIECES)) {
    const kind = NAMES[found.slice(1).findIndex((group) => group !== undefined)];
    if (kind === "comment" && found.index > 0 && !/\s/.test(line[found.index - 1])) continue;
    if (found.index > at) pieces.push(line.slice(at, found.index));
    pieces.push(el("span", { class: `yaml-${kind}` }, found[0]));
    at = found.index + found[0].length;
  }
  pieces.push(line.slice(at) || (line ? "" : "\u200b"));
  return pieces;
}
