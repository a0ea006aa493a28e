// Small pieces that several views are made of.

import { el, show } from "./dom.js";
import { icon } from "./icons.js";
import { LANGUAGES, choose, language, words } from "./words.js";

/** A view: its heading, a sentence, and what follows. */
export function page(title, lead, ...children) {
  return el("section", { class: "view" },
    el("header", { class: "head" },
      el("h1", { tabindex: "-1" }, title),
      lead && el("p", { class: "lead" }, lead),
    ),
    children,
  );
}

/** A card with a heading of its own. */
export function card(title, ...children) {
  const heading = title && el("h2", {}, title);
  return el("section", { class: "card" }, heading, children);
}

/** A word in a pill. `tone`: good, warn, bad, cool, ember or "". */
export function badge(text, tone = "") {
  return el("span", { class: `badge ${tone}` }, text);
}

/** The word for what is at stake. */
export function tier(name) {
  const tones = { read: "cool", comfort: "good", costly: "warn", secure: "bad" };
  return badge(words.confirm.tiers[name] ?? name, tones[name] ?? "");
}

/** A button. While what it does is under way it cannot be pressed again. */
export function button(text, press, { kind = "", sign = "", label = null, disabled = false } = {}) {
  const made = el("button", { type: "button", class: `button ${kind}`, "aria-label": label, disabled },
    sign && icon(sign), el("span", {}, text));
  made.addEventListener("click", () => busy(made, press));
  return made;
}

/** Do it while the control is off, and tell what went wrong. Whether it went well. */
export async function busy(control, act) {
  if (control.getAttribute("aria-disabled") === "true") return false;
  control.setAttribute("aria-disabled", "true"); // not `disabled`: it would lose the focus
  try {
    await act();
    return true;
  } catch (error) {
    if (error.name === "AbortError") return false; // the person has gone elsewhere
    if (error.status === undefined) throw error;
    toast(error.message, "bad");
    return false;
  } finally {
    control.removeAttribute("aria-disabled");
  }
}

/** A labelled control. */
export function field(label, control, hint = "") {
  const id = `f${(serial += 1)}`;
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}h`);
  return el("div", { class: "field" },
    el("label", { for: id }, label), control,
    hint && el("p", { class: "hint", id: `${id}h` }, hint));
}
let serial = 0;

/** A choice among few: `{value: text}`. */
export function choice(options, value, attributes = {}) {
  const made = el("select", attributes,
    Object.entries(options).map(([key, text]) => el("option", { value: key }, text)));
  made.value = value;
  return made;
}

/** The choice of the page's language, for this browser. */
export function languages() {
  const control = choice(LANGUAGES, language);
  control.addEventListener("change", () => choose(control.value));
  const place = field(words.shell.language, control);
  place.classList.add("languages");
  return place;
}

/** A sentence where there is nothing to show. */
export function empty(text) {
  return el("p", { class: "empty" }, text);
}

/** Names and values side by side; what has no value is left out. */
export function facts(rows) {
  return el("dl", { class: "facts" },
    rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** A sentence that comes, is read out and goes. */
export function toast(text, tone = "") {
  const place = document.getElementById("toasts");
  if (!place) return;
  const made = el("p", { class: `toast ${tone}` }, text);
  show(place, made);
  setTimeout(() => made.remove(), tone === "bad" ? 9_000 : 4_000);
}

/** Ask in a dialogue. Gives what `answer` gives for a yes, null for a no. */
export function ask({ title, text = "", content = null, yes, danger = false, answer = () => true }) {
  return new Promise((resolve) => {
    const heading = el("h2", { id: "ask-title" }, title);
    const form = el("form", { method: "dialog" },
      heading, text && el("p", {}, text), content,
      el("div", { class: "row end" },
        el("button", { type: "button", class: "button", on: { click: () => dialog.close("") } }, words.cancel),
        el("button", { type: "submit", class: `button ${danger ? "danger" : "primary"}`, value: "yes" }, yes)));
    const dialog = el("dialog", { "aria-labelledby": "ask-title" }, form);
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes" ? answer() : null);
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
