// Who understands what is said, and what may open the house.

import { el, show } from "../dom.js";
import { busy, button, field } from "../parts.js";
import { locale, words } from "../words.js";
import { cards, findings, waiting } from "./pieces.js";

const text = words.setup;

function gemini(run, signal) {
  const told = run.state.gemini;
  const key = el("input", { type: "password", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const found = el("div", { role: "status" }, told.findings.length > 0 && findings(told.findings));
  const agreed = el("input", { type: "checkbox", checked: told.accepted });
  const more = el("div", { class: "stack tight" },
    el("ul", { class: "disclosure" }, disclosed(told)),
    el("label", { class: "choice" }, agreed, el("span", {}, text.gemini.agree)),
    told.needs_key && field(text.gemini.key, key, told.has_key ? text.gemini.keyKept : text.gemini.keyHint),
    told.needs_key && el("a", { href: told.key_page, target: "_blank", rel: "noreferrer" }, text.gemini.keyPage));
  const who = cards(text.gemini.which, [
    { value: "home", title: text.gemini.home, hint: text.gemini.homeHint },
    { value: "gemini", title: text.gemini.cloud, hint: text.gemini.cloudHint },
  ], told.accepted ? "gemini" : "home", fit);

  function fit() {
    more.hidden = who.value !== "gemini";
  }

  async function save() {
    const accept = who.value === "gemini";
    const given = key.value.trim();
    if (accept && !agreed.checked) return run.complain(text.gemini.needsYes, agreed);
    const lacks = told.needs_key && !given && !run.state.gemini.has_key;
    if (accept && lacks) return run.complain(text.gemini.needsKey, key);
    if (accept) show(found, waiting(text.gemini.testing));
    try {
      await run.send("gemini", accept && given ? { accept, key: given } : { accept }, { signal });
      key.value = "";
    } catch (error) {
      show(found);
      throw error;
    }
    const results = run.state.gemini.findings;
    show(found, findings(results));
    const worth = results.some(({ tone }) => tone !== "good"); // worth reading before the next step
    const first = !seen.has(JSON.stringify(results));
    seen.add(JSON.stringify(results));
    return !(worth && first);
  }

  const seen = new Set();
  fit();
  return { content: [who.place, more, found], save };
}

function disclosed({ whom, models, commands, price_usd: price, cap_usd: cap, terms, project }) {
  const usd = (value) => new Intl.NumberFormat(locale, { style: "currency", currency: "USD" }).format(value);
  return [
    el("li", {}, el("strong", {}, text.gemini.leaves), " ", text.gemini.leavesText),
    el("li", {}, el("strong", {}, text.gemini.whom), " ", `${whom} (${models.join(", ")})`),
    el("li", {}, el("strong", {}, text.gemini.price), " ", text.gemini.priceText(usd(price), commands, usd(cap))),
    el("li", {}, el("strong", {}, text.gemini.terms), " ", project ? text.gemini.termsProject(project) : text.gemini.termsText, " ",
      el("a", { href: terms, target: "_blank", rel: "noreferrer" }, terms)),
  ];
}

function openers(run, signal) {
  const place = el("div", { class: "stack tight" });
  let boxes = [];

  async function look() {
    show(place, waiting(text.openers.looking));
    try {
      await run.send("openers", { look: true }, { signal });
    } finally {
      if (!signal.aborted) fill();
    }
  }

  function fill() {
    const { rows, harmless } = run.state.openers;
    if (!rows) {
      show(place, button(text.openers.again, look, { sign: "search" }));
      return;
    }
    if (!rows.length) {
      show(place, findings([{ tone: "good", text: text.openers.none }]));
      return;
    }
    boxes = rows.map(({ id }) => [id, el("input", { type: "checkbox", checked: harmless.includes(id) })]);
    show(place, el("fieldset", { class: "cards" }, el("legend", {}, text.openers.which),
      rows.map(({ name, area }, at) => el("label", { class: "choice" }, boxes[at][1],
        el("span", { class: "what" }, el("span", { class: "heard" }, name), area && el("span", { class: "hint" }, area))))),
      el("p", { class: "hint" }, text.openers.hint));
  }

  if (run.state.openers.rows) fill();
  else busy(place, look);
  return {
    content: place,
    save: () => run.send("openers", { harmless: boxes.filter(([, box]) => box.checked).map(([id]) => id) }, { signal }),
  };
}

export const steps = { gemini, openers };
