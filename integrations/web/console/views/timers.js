// Timers, alarms and reminders: what is set, and a form to set one.

import { get, may, post } from "../api.js";
import { on } from "../bus.js";
import { el, show } from "../dom.js";
import { form, options } from "../forms.js";
import { card, empty, field, page, toast } from "../parts.js";
import { ticking, timerRow } from "../timerrow.js";
import { words } from "../words.js";

const FIELDS = { timer: ["minutes", "name"], alarm: ["at", "name"], reminder: ["at", "text"] };

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
      card(words.timers.set, may("speak") ? setting(look) : el("p", { class: "hint" }, words.needs("speak")))));
}

function setting(look) {
  const { timer, alarm, reminder } = words.timers.kinds;
  let kind = "";
  const minutes = el("input", { type: "number", inputmode: "decimal", min: 0.5, max: 1440, step: "any", required: true });
  const at = el("input", { type: "time", required: true });
  const name = el("input", { type: "text", maxlength: 60, placeholder: words.timers.optional });
  const text = el("input", { type: "text", maxlength: 300, required: true });
  const fields = {
    minutes: field(words.timers.minutes, minutes), at: field(words.timers.at, at),
    name: field(words.timers.name, name), text: field(words.timers.text, text),
  };
  const send = el("button", { type: "submit", class: "button primary" }, words.timers.button);

  function fit(wanted) {
    kind = wanted;
    for (const [key, place] of Object.entries(fields)) {
      place.hidden = !FIELDS[kind]?.includes(key);
      place.querySelector("input").disabled = place.hidden;
    }
  }
  async function submit() {
    const wanted = { kind, name: kind === "reminder" ? "" : name.value.trim() };
    if (kind === "timer") wanted.seconds = Math.round(minutes.valueAsNumber * 60);
    else wanted.at = at.value;
    if (kind === "reminder") wanted.text = text.value.trim();
    await post("v1/timers", wanted);
    toast(words.timers.done, "good");
    minutes.value = at.value = name.value = text.value = "";
    await look();
  }
  fit("");
  return form(send, submit,
    options(words.timers.kind, { timer, alarm, reminder }, fit), fields.minutes, fields.at, fields.text, fields.name);
}
