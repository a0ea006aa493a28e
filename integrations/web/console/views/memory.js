// What people asked to remember: read it, correct it, have it forgotten.

import { get, may, post, remove } from "../api.js";
import { el, show } from "../dom.js";
import { moment } from "../formats.js";
import { ask, badge, button, empty, field, page, toast } from "../parts.js";
import { words } from "../words.js";

const LONGEST = 500; // characters

/** The view. */
export async function open({ signal }) {
  const list = el("ul", { class: "rows" });
  const foot = el("div", { class: "row" });

  async function look() {
    const rows = await get("v1/memory", { signal });
    show(list, rows.length ? rows.map((row) => fact(row, look)) : el("li", {}, empty(words.memory.empty)));
    show(foot, rows.length > 0 && may("admin") && button(words.memory.all, forgetAll, { kind: "danger", sign: "bin" }));
  }
  async function forgetAll() {
    const sure = await ask({ title: words.memory.allSure, text: words.memory.allText, yes: words.memory.all, danger: true });
    if (!sure) return;
    const { forgotten } = await remove("v1/memory");
    toast(words.memory.allDone(forgotten));
    await look();
  }
  await look();
  return page(words.memory.title, words.memory.lead,
    el("section", { class: "card" }, el("h2", { class: "unseen" }, words.memory.text), list),
    may("admin") ? foot : el("p", { class: "hint" }, words.needs("admin")));
}

function fact(row, look) {
  const path = `v1/memory/${encodeURIComponent(row.id)}`;
  async function correct() {
    const line = el("textarea", { maxlength: LONGEST, rows: 3, required: true });
    line.value = row.text;
    const text = await ask({ title: words.memory.correct, content: field(words.memory.text, line), yes: words.save, answer: () => line.value.trim() });
    if (!text || text === row.text) return;
    await post(path, { text });
    toast(words.memory.corrected, "good");
    await look();
  }
  async function forget() {
    if (!await ask({ title: words.memory.forgetOne, text: row.text, yes: words.memory.forget, danger: true })) return;
    await remove(path);
    toast(words.memory.forgotten);
    await look();
  }
  return el("li", { class: "fact" },
    el("span", { class: "what" },
      el("span", { class: "heard" }, row.text),
      el("span", { class: "under" },
        row.sensitive && badge(words.memory.sensitive, "warn"),
        row.who && el("span", {}, words.memory.by(row.who)),
        row.about && el("span", {}, words.memory.about(row.about)),
        el("span", {}, words.memory.since(moment(row.created_at))))),
    may("admin") && el("span", { class: "row" },
      button(words.memory.correct, correct, { sign: "edit", label: words.memory.correctLong(row.text) }),
      button(words.memory.forget, forget, { sign: "bin", label: words.memory.forgetLong(row.text) })));
}
