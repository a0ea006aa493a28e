// The last turns, day by day.

import { get } from "../api.js";
import { on } from "../bus.js";
import { el, show } from "../dom.js";
import { day } from "../formats.js";
import { button, empty, page } from "../parts.js";
import { turnRow } from "../turnrow.js";
import { words } from "../words.js";

const PAGE = 25;

/** The view. */
export async function open({ signal }) {
  const days = el("div", { class: "days" });
  const foot = el("div", { class: "row center" });
  let last = null; // the oldest turn that is shown
  let current = ""; // its day
  let list = null;

  function add(rows) {
    for (const turn of rows) {
      const name = day(turn.started_at);
      if (name !== current) {
        current = name;
        list = el("ul", { class: "rows" });
        days.append(el("section", { class: "card" }, el("h2", {}, name), list));
      }
      list.append(turnRow(turn));
      last = turn;
    }
    show(foot, rows.length === PAGE
      ? button(words.turns.more, older)
      : el("p", { class: "hint" }, last ? words.turns.end : ""));
  }
  async function older() {
    const before = encodeURIComponent(last.turn_id);
    const seen = days.querySelectorAll(".turnrow").length;
    add(await get(`v1/turns?limit=${PAGE}&before=${before}`, { signal }));
    days.querySelectorAll(".turnrow a")[seen]?.focus(); // the button may be gone
  }
  async function reload() {
    const rows = await get(`v1/turns?limit=${PAGE}`, { signal });
    last = list = null;
    current = "";
    show(days, rows.length ? null : empty(words.turns.empty));
    add(rows);
  }

  await reload();
  // Do not move the page under somebody who reads further down.
  on("answer announcement", () => days.querySelectorAll(".turnrow").length <= PAGE && reload(), signal);
  return page(words.turns.title, words.turns.lead, days, foot);
}
