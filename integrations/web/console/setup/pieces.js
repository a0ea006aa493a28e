// Pieces of several steps: choices as cards, what was found, and the level of the microphone.

import { el, say, show, styled } from "../dom.js";
import { words } from "../words.js";

const text = words.setup;
const QUIETEST_DB = -60; // the left end of the meter; 0 dB is full scale
let serial = 0;

/** Radio buttons as large cards: `[{value, title, hint}]`. */
export function cards(label, rows, value, changed = () => {}) {
  const name = `choice${(serial += 1)}`;
  const place = el("fieldset", { class: "cards" }, el("legend", { class: "unseen" }, label),
    rows.map((row) => {
      const input = el("input", { type: "radio", name, value: row.value, checked: row.value === value });
      input.addEventListener("change", () => changed(row.value));
      return el("label", { class: "choice" }, input,
        el("span", { class: "what" }, el("span", { class: "heard" }, row.title), row.hint && el("span", { class: "hint" }, row.hint)));
    }));
  return { place, get value() { return place.querySelector("input:checked")?.value ?? ""; } };
}

/** Sentences about what a step found. */
export function findings(rows) {
  return el("ul", { class: "findings" }, rows.map(({ tone, text: sentence }) => el("li", { class: tone }, sentence)));
}

/** A sentence that says that something is under way. */
export function waiting(sentence) {
  return el("p", { class: "waiting" }, el("span", { class: "dots", "aria-hidden": "true" }), " ", sentence);
}

/** Try the microphone: a button, a level that moves, and what was heard. */
export function listening(run, signal, prepare, word) {
  const fill = el("div", { class: "fill" });
  const meter = el("div", { class: "meter", role: "meter", "aria-label": words.level.meter,
    "aria-valuemin": QUIETEST_DB, "aria-valuemax": 0, "aria-valuenow": QUIETEST_DB }, fill);
  const heard = el("p", { class: "hint", role: "status" }, "");
  const found = el("div", { role: "status" });

  run.on("level", (level) => {
    styled(meter, { "--level": Math.min(1, Math.max(0, 1 - level.now / QUIETEST_DB)) });
    meter.dataset.clipped = String(level.clipped);
    meter.setAttribute("aria-valuenow", Math.max(QUIETEST_DB, Math.round(level.now)));
    if (level.heard) say(heard, text.sound.heard(level.heard));
  }, signal);

  async function listen() {
    await prepare();
    show(found);
    say(heard, text.sound.say(word()));
    try {
      const { sound } = await run.send("sound", { listen: true }, { signal });
      show(found, findings(sound.findings));
    } finally {
      say(heard, "");
      styled(meter, { "--level": 0 });
    }
  }
  return { place: el("div", { class: "stack tight" }, meter, heard, found), listen };
}
