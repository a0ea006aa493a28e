// Open confirmations, shown above every page because they time out soon.

import { get, post } from "./api.js";
import { on, tell } from "./bus.js";
import { el, say, show } from "./dom.js";
import { icon } from "./icons.js";
import { button, field, tier, toast } from "./parts.js";
import { words } from "./words.js";

/** Return the element and its live region. It reloads whenever a question opens or closes. */
export function confirmations(signal) {
  const rowsPlace = el("div", { class: "asks" });
  const said = el("p", { class: "unseen", role: "alert" });
  const place = el("div", { role: "region", "aria-label": words.confirm.title, hidden: true }, rowsPlace);
  let shown = "";

  async function look() {
    const rows = await get("v1/confirmations", { signal }).catch(nothing);
    const ids = rows.map((row) => row.id).join();
    if (ids === shown) return; // what a person types meanwhile stays
    shown = ids;
    place.hidden = rows.length === 0;
    show(rowsPlace, rows.map((row) => question(row, look)));
    say(said, rows.length ? words.confirm.question(rows[0].question) : "");
    if (rows.some((row) => row.may_answer)) tell("asking"); // it may be out of sight
  }
  on("confirmation back", look, signal);
  look();
  return [place, said];
}

function question(row, look) {
  const pin = row.how === "pin" && el("input", {
    type: "password", inputmode: "numeric", autocomplete: "off", maxlength: 32, name: "pin",
  });
  async function answer(yes) {
    const { verdict } = await post(`v1/confirmations/${encodeURIComponent(row.id)}`, {
      yes, pin: yes && pin ? pin.value : "",
    });
    toast(words.confirm.verdicts[verdict] ?? verdict, verdict === "yes" ? "good" : "");
    await look();
  }

  return el("section", { class: "card asking" },
    el("p", { class: "eyebrow" }, icon("lock"), words.confirm.title, tier(row.tier)),
    el("h2", { lang: row.language }, row.question),
    row.how === "phone" && el("p", { class: "hint" }, words.confirm.phone),
    row.may_answer
      ? el("form", { class: "row", on: { submit: (event) => event.preventDefault() } },
        pin && field(words.confirm.pin, pin),
        button(words.confirm.yes, () => answer(true), { kind: "primary", sign: "check" }),
        button(words.confirm.no, () => answer(false), { sign: "cross" }))
      : el("p", { class: "hint" }, words.confirm.notYours),
  );
}

function nothing(error) {
  if (error.status === undefined && error.name !== "AbortError") throw error;
  return [];
}
