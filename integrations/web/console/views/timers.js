// Timers, alarms and reminders: what is set, and a form to set one.

import { get, may, post } from "../api.js";
import { on } from "../bus.js";
import { el, show } from "../dom.js";
import { busy, card, choice, empty, field, page, toast } from "../parts.js";
import { ticking, timerRow } from "../timerrow.js";
import { words } from "../words.js";

/** The view. */
export async function open({ signal }) {
  const list = el("ul", { class: "rows" });
  const showAll = (rows) => show(list, rows.length ? rows.map((row) => timerRow(row)) : el("li", {}, empty(words.timers.empty)));
  const look = async () => showAll(await get("v1/timers", { signal }));
  on("timer", look, signal);
  ticking(list, signal);
  await look();
  return page(words.timers.title, words.timers.lead,
    el("div", { class: "columns wide-left" },
      el("section", { class: "card" }, el("h2", { class: "unseen" }, words.timers.title), list),
      card(words.timers.set, may("speak") ? form(look) : el("p", { class: "hint" }, words.needs("speak")))));
}

function form(look) {
  const { timer, alarm, reminder } = words.timers.kinds;
  const kind = choice({ timer, alarm, reminder }, "timer");
  const minutes = el("input", { type: "number", min: 0.5, max: 1440, step: 0.5, value: 10, required: true });
  const at = el("input", { type: "time", required: true });
  const name = el("input", { type: "text", maxlength: 60, placeholder: words.timers.optional });
  const text = el("input", { type: "text", maxlength: 300, required: true });
  const fields = {
    minutes: field(words.timers.minutes, minutes), at: field(words.timers.at, at),
    name: field(words.timers.name, name), text: field(words.timers.text, text),
  };
  const send = el("button", { type: "submit", class: "button primary" }, words.timers.button);

  function fit() {
    const wanted = { timer: ["minutes", "name"], alarm: ["at", "name"], reminder: ["at", "text"] }[kind.value];
    for (const [key, place] of Object.entries(fields)) {
      place.hidden = !wanted.includes(key);
      place.querySelector("input").disabled = place.hidden;
    }
  }
  async function submit(event) {
    event.preventDefault();
    const wanted = { kind: kind.value, name: name.value.trim() };
    if (kind.value === "timer") wanted.seconds = Math.round(minutes.valueAsNumber * 60);
    else wanted.at = at.value;
    if (kind.value === "reminder") Object.assign(wanted, { name: "", text: text.value.trim() });
    await busy(send, async () => {
      await post("v1/timers", wanted);
      toast(words.timers.done, "good");
      name.value = text.value = "";
      await look();
    });
  }
  kind.addEventListener("change", fit);
  fit();
  return el("form", { class: "stack tight", on: { submit } },
    field(words.timers.kind, kind), fields.minutes, fields.at, fields.name, fields.text, send);
}
