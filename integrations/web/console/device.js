// A device as a tile: its name and state, what a tap on it does, and what came of the last one.

import { may, post } from "./api.js";
import { el, say, show } from "./dom.js";
import { moment } from "./formats.js";
import { icon } from "./icons.js";
import { busy } from "./parts.js";
import { signOf } from "./signs.js";
import { language, words } from "./words.js";

const PATIENCE_MS = 90_000; // somebody may have to confirm it
const TOLD_MS = 12_000; // how long the result stays
const LIT = new Set(["on", "playing", "buffering", "cleaning", "returning", "heat", "cool"]);
const COVERS = new Set(["awning", "blind", "curtain", "damper", "shade", "shutter"]); // they let in nobody
const OPEN = new Set(["open", "opening", "closing", "unlocked", "unlocking", "jammed", "detected", "wet"]);
const text = words.house;

/** What its state is called, also where the box has no word for it. */
export function stateOf(row) {
  if (row.kind === "todo" && /^\d+$/.test(row.says)) return text.items(Number(row.says));
  if (row.state === "unavailable" && row.changed) return `${row.says} ${text.since(moment(row.changed))}`;
  return row.says;
}

function toneOf({ state, device_class: made }) {
  if (OPEN.has(state)) return COVERS.has(made) ? "lit" : "open";
  return LIT.has(state) ? "lit" : "";
}

/** The tile of a device: its `node`, and `update` for another state. `about`: shows the rest of it;
 * `tapping`: called with the tile while a tap is under way, and with null after it. */
export function deviceTile(first, { about, tapping }) {
  let row = first;
  let timer = 0;
  const sign = el("span", { class: "sign" });
  const name = el("span", { class: "name", dir: "auto" });
  const state = el("span", { class: "standing" });
  const told = el("span", { class: "told", role: "status" });
  const inner = [sign, el("span", { class: "what" }, name, state)];
  const press = el("button", { type: "button", class: "tap" });
  const still = el("div", { class: "tap still" });
  const more = el("button", { type: "button", class: "about", on: { click: () => about(row) } }, icon("about"));
  const node = el("li", { class: "device" }, press, still, more, told);
  const tile = { node, update, focus: () => press.focus({ preventScroll: true }), row: () => row };

  press.addEventListener("click", () => busy(press, async () => {
    const { action } = row.tap;
    tapping(tile);
    node.dataset.busy = "true";
    tell("", "");
    try {
      const turn = await post(`v1/house/${encodeURIComponent(row.id)}`, { action, language }, { patience: PATIENCE_MS });
      tell(turn.answer || turn.error?.message || text.nothing, turn.tool_calls.every(({ status }) => status === "done") ? "good" : "warn");
    } finally {
      delete node.dataset.busy;
      tapping(null);
    }
  }));

  function tell(answer, tone) {
    clearTimeout(timer);
    say(told, answer);
    told.dataset.tone = tone;
    if (answer) timer = setTimeout(() => say(told, ""), TOLD_MS);
  }

  function update(fresh) {
    row = fresh;
    const works = may("ask") && row.tap !== null && row.tap.how !== "never";
    const says = stateOf(row);
    say(name, row.name);
    say(state, says || (works ? text.actions[row.tap.action] : row.state === "unknown" ? text.unknown : ""));
    show(sign, signOf(row));
    const place = works ? press : still;
    if (inner[0].parentNode !== place) place.append(...inner);
    press.hidden = !works;
    still.hidden = works;
    if (works) press.setAttribute("aria-label", text.tap(row.name, says, text.actions[row.tap.action]));
    more.setAttribute("aria-label", text.about(row.name));
    node.dataset.tone = toneOf(row);
    node.classList.toggle("away", row.state === "unavailable");
    node.dataset.how = row.tap?.how ?? "";
  }

  update(first);
  return tile;
}
