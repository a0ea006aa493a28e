// The newest lines of the log, for who looks for a fault.

import { get } from "./api.js";
import { el, say, show } from "./dom.js";
import { moment } from "./formats.js";
import { badge, card, choice, field } from "./parts.js";
import { words } from "./words.js";

const text = words.log;
const EVERY_MS = 4_000;
const LEVELS = { all: ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], warnings: ["WARNING", "ERROR", "CRITICAL"], errors: ["ERROR", "CRITICAL"] };
const TONES = { WARNING: "warn", ERROR: "bad", CRITICAL: "bad" };
const SHOWN = 200; // lines

/** The card. It is folded, and followed while it is open. */
export function logView(signal) {
  const level = choice(text.levels, "all");
  const list = el("ul", { class: "log", tabindex: "0", "aria-label": text.title });
  const none = el("p", { class: "hint" });
  const folded = el("details", {}, el("summary", {}, text.open),
    el("div", { class: "stack tight" }, field(text.level, level), none, list));
  let seen = "";

  async function look() {
    const lines = (await get("v1/log", { signal })).filter((one) => LEVELS[level.value].includes(one.level)).slice(0, SHOWN);
    const newest = `${level.value} ${lines.length} ${lines[0]?.at}`;
    if (newest === seen) return;
    seen = newest;
    say(none, lines.length ? "" : text.none);
    show(list, lines.map(line));
  }
  const follow = () => look().catch((error) => {
    if (error.status === undefined && error.name !== "AbortError") throw error;
  });
  level.addEventListener("change", follow);
  folded.addEventListener("toggle", () => folded.open && follow());
  const timer = setInterval(() => folded.open && !document.hidden && follow(), EVERY_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  return card(text.title, el("p", { class: "hint" }, text.lead), folded);
}

function line({ at, level, source, text: said }) {
  return el("li", {},
    el("span", { class: "under" }, el("time", { datetime: at }, moment(at)), badge(text.names[level], TONES[level]), el("span", {}, source)),
    el("code", {}, said));
}
