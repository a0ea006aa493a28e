// One turn as a row: who said what, what came of it, how long it took.

import { el, styled } from "./dom.js";
import { clock, fully, money, span } from "./formats.js";
import { badge } from "./parts.js";
import { link } from "./router.js";
import { firstSound, phases } from "./stages.js";
import { words } from "./words.js";

/** A list item that leads to the turn. */
export function turnRow(turn) {
  return el("li", { class: "turnrow", "data-turn": turn.turn_id },
    el("a", { href: link("turn", turn.turn_id) },
      el("time", { datetime: turn.started_at, title: fully(turn.started_at) }, clock(turn.started_at)),
      el("span", { class: "what" },
        el("span", { class: "heard", lang: turn.language }, heardOf(turn)),
        el("span", { class: "answer", lang: turn.language }, answerOf(turn)),
        el("span", { class: "under" }, tags(turn), strip(turn.timeline ?? {})))));
}

/** What was said, or why there is nothing. Announcements have no words but their own. */
export function heardOf(turn) {
  if (turn.heard) return turn.source === "text" ? turn.heard : words.now.heard(turn.heard);
  if (turn.source === "announcement") return words.turns.sources.announcement;
  if (turn.source === "job") return words.turns.sources.job;
  return turn.answer || turn.clauses?.length ? words.turns.erased : words.turns.silent;
}

/** What was answered. */
export function answerOf(turn) {
  return turn.answer || (turn.clauses ?? []).join(" ") || turn.error?.message || "";
}

function tags(turn) {
  const first = firstSound(turn.timeline ?? {});
  return [
    turn.error && badge(words.errors[turn.error.kind] ?? turn.error.kind.replaceAll("_", " "), "bad"),
    !turn.understood && !turn.error && badge(words.turns.notUnderstood, "warn"),
    turn.mark && badge(words.turn.marks[turn.mark] ?? turn.mark, "warn"),
    first !== null && el("span", {}, words.turns.firstSound(span(first))),
    turn.brain && el("span", {}, turn.brain),
    turn.source !== "voice" && !["announcement", "job"].includes(turn.source) && el("span", {}, words.turns.sources[turn.source] ?? turn.source),
    turn.cost_usd > 0 && el("span", {}, money(turn.cost_usd, turn.usage?.estimated)),
  ];
}

/** The stages of the turn as one thin line; the turn's own page has them in words. */
function strip(timeline) {
  const parts = phases(timeline);
  if (!parts.length) return null;
  return el("span", { class: "strip", "aria-hidden": "true" },
    parts.map(({ stage, ms }) => styled(el("span", { class: `s-${stage}` }), { "flex-grow": ms })));
}
