// Type to it: one sentence, one answer.

import { may, post } from "./api.js";
import { tell } from "./bus.js";
import { el, show } from "./dom.js";
import { icon } from "./icons.js";
import { badge, busy } from "./parts.js";
import { link } from "./router.js";
import { words } from "./words.js";

const PATIENCE_MS = 90_000; // a model may think, and a house may be slow
const LONGEST = 1_000; // characters, as the box takes them
const KEPT = 6; // exchanges that stay in sight

/** The card with the line and what was answered. */
export function askBox() {
  const line = el("input", {
    type: "text", maxlength: LONGEST, required: true, autocomplete: "off", enterkeyhint: "send",
    placeholder: words.ask.placeholder, "aria-label": words.ask.label,
  });
  const send = el("button", { type: "submit", class: "button primary round", "aria-label": words.ask.send }, icon("send"));
  const talk = el("div", { class: "talk", role: "log", "aria-label": words.ask.title, tabindex: "0" });

  async function submit(event) {
    event.preventDefault();
    const text = line.value.trim();
    if (!text) return;
    const answer = el("div", { class: "bubble theirs waiting" }, el("span", { class: "dots", role: "img", "aria-label": words.ask.working }));
    const exchange = el("div", { class: "exchange" }, el("div", { class: "bubble mine" }, text), answer);
    talk.append(exchange);
    while (talk.children.length > KEPT) talk.firstChild.remove();
    talk.scrollTop = talk.scrollHeight;
    line.value = "";
    const went = await busy(send, async () => {
      const turn = await post("v1/ask", { text }, { patience: PATIENCE_MS });
      answer.classList.remove("waiting");
      show(answer, answered(turn));
      talk.scrollTop = talk.scrollHeight;
      tell("turn-told");
    });
    if (went) return;
    exchange.remove();
    if (!line.value) line.value = text; // to be sent again
  }

  const form = el("form", { class: "askline", on: { submit } }, line, send);
  return el("section", { class: "card ask" },
    el("h2", {}, words.ask.title), talk,
    may("ask") ? form : el("p", { class: "hint" }, words.needs("ask")),
    el("p", { class: "hint" }, may("person") ? words.ask.note : words.ask.noteForPrograms));
}

function answered(turn) {
  const text = turn.answer || turn.spoken?.clauses?.join(" ") || turn.error?.message || words.ask.nothing;
  const calls = turn.tool_calls.map((call) =>
    badge(`${call.name.split("__").pop()}: ${words.statuses[call.status] ?? words.decisions[call.decision] ?? ""}`,
      call.status === "done" ? "good" : "warn"));
  return [
    el("p", {}, text),
    el("p", { class: "under" }, calls, turn.turn_id && may("read") && el("a", { href: link("turn", turn.turn_id) }, words.ask.details)),
  ];
}
