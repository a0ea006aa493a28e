// One timer as a row: what it is, how long it still takes, and a button that ends it.

import { may, remove, who } from "./api.js";
import { el, say, styled } from "./dom.js";
import { countdown, moment } from "./formats.js";
import { icon } from "./icons.js";
import { badge, button, toast } from "./parts.js";
import { words } from "./words.js";

const NEAR_S = 3600; // timers further away show their time instead of what is left

/** The kinds that ring; the others do something at their time. */
export const KINDS = ["timer", "alarm", "reminder"];

/** What a person calls a timer. */
export function nameOf(row) {
  return row.name || row.text || (words.timers.kinds[row.kind] ?? row.kind);
}

/** Return a timer as a list item, with a button that cancels it. */
export function timerRow(row) {
  const kind = words.timers.kinds[row.kind] ?? row.kind;
  const name = nameOf(row);
  const rings = row.state === "rings" && KINDS.includes(row.kind);
  const ends = Date.now() + row.left_s * 1_000;
  const near = row.state !== "paused" && row.left_s < NEAR_S;
  const left = el("span", { class: "left" }, near || row.state === "paused" ? countdown(row.left_s) : "");
  if (near) left.dataset.ends = String(ends);
  async function end() {
    await remove(`v1/timers/${encodeURIComponent(row.id)}`);
    toast(rings ? words.ringing.stopped : words.timers.ended);
  }
  return el("li", { class: "timerrow", "data-state": row.state },
    dial(row),
    el("span", { class: "what" },
      el("span", { class: "heard", dir: "auto" }, name),
      el("span", { class: "under" }, name !== kind && el("span", {}, kind),
        el("span", {}, words.timers.due(moment(row.due))),
        row.repeat && badge(words.timers.repeats),
        row.state !== "runs" && badge(words.timers.states[row.state], "warn"),
        row.caller && row.caller !== who()?.name && el("span", {}, words.turn.by(row.caller)))),
    left,
    may("speak") && (rings
      ? button(words.ringing.stop, end, { kind: "primary", label: words.ringing.stopLong(name) })
      : button(words.timers.end, end, { label: words.timers.endLong(name) })));
}

/** How much of it is left; what was set for a time of day has no whole. */
function dial({ set_for_s: whole, left_s: left }) {
  if (!(whole > 0)) return el("span", { class: "dial still", "aria-hidden": "true" }, icon("timers"));
  return styled(el("span", { class: "dial", "aria-hidden": "true" }), { "--share": Math.min(1, left / whole) });
}

/** Let what is left run down, without asking the box. */
export function ticking(list, signal) {
  const timer = setInterval(() => {
    for (const left of list.querySelectorAll("[data-ends]")) {
      say(left, countdown((Number(left.dataset.ends) - Date.now()) / 1_000));
    }
  }, 500);
  signal.addEventListener("abort", () => clearInterval(timer));
}
