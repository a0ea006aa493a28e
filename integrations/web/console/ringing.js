// What rings now, large above every page: silence it, or have it ring again later.

import { get, may, post, remove } from "./api.js";
import { on } from "./bus.js";
import { el, say, show } from "./dom.js";
import { icon } from "./icons.js";
import { button, toast } from "./parts.js";
import { KINDS, nameOf } from "./timerrow.js";
import { words } from "./words.js";

const LATER_MIN = [5, 10];
const text = words.ringing;

/** The place and its live region. It follows the timers by their events. */
export function ringing(signal) {
  const place = el("div", { role: "region", "aria-label": text.title, class: "asks", hidden: true });
  const said = el("p", { class: "unseen", role: "alert" });
  let shown = "";

  async function look() {
    const rows = (await get("v1/timers", { signal })).filter((row) => row.state === "rings" && KINDS.includes(row.kind));
    const ids = rows.map((row) => row.id).join();
    if (ids === shown) return;
    shown = ids;
    place.hidden = rows.length === 0;
    show(place, rows.map(bell));
    say(said, rows.length ? text.rings(nameOf(rows[0])) : "");
  }
  on("timer back", look, signal);
  look().catch((error) => {
    if (error.status === undefined && error.name !== "AbortError") throw error;
  });
  return [place, said];
}

function bell(row) {
  const path = `v1/timers/${encodeURIComponent(row.id)}`;
  const stop = async () => {
    await remove(path);
    toast(text.stopped);
  };
  const later = (minutes) => async () => {
    await post(`${path}/snooze`, { minutes });
    toast(text.later(minutes), "good");
  };
  const name = nameOf(row);
  return el("section", { class: "card bell" },
    el("p", { class: "eyebrow" }, icon("timers"), words.timers.kinds[row.kind]),
    el("h2", { dir: "auto" }, name),
    row.text && row.text !== name && el("p", { dir: "auto" }, row.text),
    may("speak")
      ? el("div", { class: "row" },
        button(text.stop, stop, { kind: "primary", sign: "stop", label: text.stopLong(name) }),
        LATER_MIN.map((minutes) => button(text.snooze(minutes), later(minutes), { label: text.snoozeLong(name, minutes) })))
      : el("p", { class: "hint" }, text.notYours));
}
