// The first command after the first run: said or typed, and seen to happen.

import { get, post } from "../api.js";
import { on } from "../bus.js";
import { el, show } from "../dom.js";
import { badge, busy, button, card, field, page } from "../parts.js";
import { link } from "../router.js";
import { words } from "../words.js";

const text = words.first;
const PATIENCE_MS = 60_000;

/** The view. */
export async function open({ signal }) {
  const { wake_word: word } = await get("v1/settings", { signal });
  const typed = el("input", { type: "text", maxlength: 1000, autocomplete: "off", required: true });
  const send = el("button", { type: "submit", class: "button primary" }, text.send);
  const results = el("div", { class: "stack tight", role: "status" }, el("p", { class: "hint" }, text.nothing));
  let typing = false; // what is typed is answered here, and the event tells of it again

  async function submit(event) {
    event.preventDefault();
    typing = true;
    await busy(send, async () => {
      const turn = await post("v1/ask", { text: typed.value }, { signal, patience: PATIENCE_MS });
      show(results, happened(typed.value, turn));
    });
    typing = false;
  }

  on("answer", async (told) => {
    if (typing || !told.turn_id) return;
    const turn = await get(`v1/turns/${encodeURIComponent(told.turn_id)}`, { signal });
    show(results, happened(turn.heard, turn));
  }, signal);

  const tries = text.tries.map((one) => button(one, () => {
    typed.value = one;
    send.click();
  }, { kind: "quiet" }));
  return page(text.title, text.lead,
    card("", el("form", { class: "stack tight", on: { submit } },
      field(text.say(said(word?.value ?? "okay_nabu")), typed), el("div", { class: "row" }, send, tries)), results),
    el("p", {}, el("a", { class: "button", href: link("now") }, text.done)));
}

function said(word) {
  return word.split("/").pop().split(".")[0].replaceAll("_", " ");
}

function happened(heard, { answer, error, tool_calls: calls }) {
  const worked = calls.length > 0 && calls.every(({ status }) => status === "done");
  return [
    heard && el("p", { class: "hint" }, text.heard(heard)),
    el("p", { class: "said" }, answer || error?.message || words.ask.nothing),
    worked && el("p", {}, badge(text.worked, "good")),
  ];
}
