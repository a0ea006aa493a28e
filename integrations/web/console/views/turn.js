// One turn: what was said, what was done, where the time went, and whether it was right.

import { get, may, post } from "../api.js";
import { el } from "../dom.js";
import { count, fully, money } from "../formats.js";
import { badge, button, card, empty, facts, tier, toast } from "../parts.js";
import { whatDidYouMean } from "../ownsentences.js";
import { link } from "../router.js";
import { answerOf, heardOf } from "../turnrow.js";
import { waterfall } from "../waterfall.js";
import { words } from "../words.js";

/** The view. */
export async function open({ id, signal }) {
  const told = await get(`v1/turns/${encodeURIComponent(id)}`, { signal });
  const missed = !told.understood || told.mark !== "" || told.error?.kind === "not_understood";
  const rated = rating(told);
  const asking = missed ? await whatDidYouMean(told, rated?.misheard, signal) : null;
  return el("section", { class: "view" },
    el("header", { class: "head" },
      el("p", { class: "back" }, el("a", { href: link("turns") }, words.turn.back)),
      el("h1", { tabindex: "-1" }, heardOf(told)),
      el("p", { class: "lead" }, [fully(told.started_at), words.turns.sources[told.source] ?? told.source,
        told.caller && words.turn.by(told.caller)].filter(Boolean).join(" · "))),
    el("div", { class: "columns wide-left" },
      el("div", { class: "stack" },
        transcript(told),
        asking,
        card(words.turn.waterfall, waterfall(told.timeline ?? {})),
        card(words.turn.calls, told.tool_calls.length
          ? el("ul", { class: "calls" }, told.tool_calls.map(call)) : empty(words.turn.noCalls))),
      el("div", { class: "stack" }, rated?.place, sound(told), figures(told))));
}

function transcript(told) {
  const answer = answerOf(told);
  const asked = told.confirmation;
  return el("section", { class: "card talk" },
    el("h2", { class: "unseen" }, words.turn.said),
    told.heard && el("div", { class: "bubble mine", lang: told.language }, told.heard),
    asked && el("div", { class: "bubble theirs", lang: told.language },
      el("p", {}, asked.asked ?? words.turns.erased),
      el("p", { class: "under" }, badge(words.turn.verdict[asked.verdict] ?? asked.verdict, asked.verdict === "yes" ? "good" : "warn"),
        asked.heard && el("span", {}, words.now.heard(asked.heard)))),
    answer && el("div", { class: "bubble theirs", lang: told.language },
      el("p", {}, answer),
      told.cut_at && el("p", { class: "under" }, words.turn.cutAt(told.cut_at))),
    told.error && el("p", { class: "problem" },
      badge(words.errors[told.error.kind] ?? told.error.kind.replaceAll("_", " "), "bad"), told.error.message ?? words.turn.noMessage),
    !told.heard && !answer && !told.error && empty(words.turns.erased));
}

function rating(told) {
  if (!may("ask") || ["announcement", "job"].includes(told.source)) return null;
  const buttons = Object.entries(words.turn.marks).map(([mark, text]) => {
    const made = button(text, () => give(mark), { kind: "option", sign: { "": "check", wrong: "cross", misheard: "warn" }[mark] });
    made.dataset.mark = mark;
    return made;
  });
  async function give(mark) {
    await post(`v1/turns/${encodeURIComponent(told.turn_id)}/mark`, { mark });
    press(mark);
    toast(words.turn.marked[mark], "good");
  }
  function press(mark) {
    for (const each of buttons) each.setAttribute("aria-pressed", String(each.dataset.mark === mark));
  }
  press(told.mark ?? "");
  const place = card(words.turn.rating, el("div", { class: "options", role: "group", "aria-label": words.turn.rating }, buttons));
  return { place, misheard: () => give("misheard") };
}

function sound(told) {
  if (!told.has_sound || !may("admin")) return null;
  return card(words.turn.listen,
    el("audio", { controls: true, preload: "none", src: `v1/turns/${encodeURIComponent(told.turn_id)}/sound`, "aria-label": words.turn.listen }));
}

function figures(told) {
  const usage = told.usage;
  return card(words.turn.figures, facts([
    [words.turn.brain, told.brain ?? words.turns.noBrain],
    [words.turn.model, told.model],
    [words.turn.language, told.language],
    [words.stages.wake, told.wake && `${told.wake.word.replaceAll("_", " ")}, ${told.wake.score.toFixed(2)}`],
    [words.turn.cost, money(told.cost_usd, usage?.estimated)],
    [words.turn.tokens, usage && `${count(usage.input_tokens)}, ${count(usage.output_tokens)}${usage.estimated ? ` (${words.turn.estimated})` : ""}`],
    [words.turn.id, el("code", {}, told.turn_id)],
  ]));
}

function call(told) {
  const good = told.status === "done";
  return el("li", { class: "call" },
    el("div", { class: "callhead" },
      el("code", {}, told.name), el("span", { class: "hint" }, told.server),
      el("span", { class: "badges" },
        tier(told.tier),
        badge(words.decisions[told.decision] ?? told.decision, told.decision === "denied" ? "bad" : ""),
        badge(words.statuses[told.status ?? "started"] ?? told.status, good ? "good" : "warn"))),
    told.sentence && el("p", {}, told.sentence),
    told.observed?.length > 0 && el("ul", { class: "changes" }, told.observed.map((one) =>
      el("li", {}, el("code", {}, one.entity_id), ` ${one.before ?? "?"} → ${one.after ?? "?"}`))),
    el("p", { class: "hint" }, [
      told.rule && words.tools.rule(told.rule), `${Math.round(told.ms)} ms`,
      told.confirmed_by && words.turn.confirmedBy(told.confirmed_by)].filter(Boolean).join(" · ")),
    Object.keys(told.arguments ?? {}).length > 0 && el("details", {},
      el("summary", {}, words.turn.arguments),
      el("pre", { tabindex: "0" }, JSON.stringify(told.arguments, null, 2))));
}
