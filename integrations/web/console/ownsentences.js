// Sentences and names of the household's own: what is said, and what is meant by it.

import { get, may, post, remove } from "./api.js";
import { el, show } from "./dom.js";
import { form, options } from "./forms.js";
import { badge, button, card, empty, field, toast } from "./parts.js";
import { words } from "./words.js";

const text = words.own;
const LONGEST = 200; // characters, as the box takes them

/** The card with all of them, and a form to add one. */
export async function ownSentences(signal) {
  const list = el("ul", { class: "rows" });
  const adding = el("div", {});
  async function look() {
    const { sentences, names } = await get("v1/sentences", { signal });
    show(list, sentences.length ? sentences.map((row) => line(row, look)) : el("li", {}, empty(text.empty)));
    if (may("admin")) show(adding, addition("", names, look));
  }
  await look();
  return card(text.title, el("p", { class: "hint" }, text.lead), list, adding);
}

/** The card that asks what was meant by a turn, or null for who may not say so. */
export async function whatDidYouMean(turn, misheard, signal) {
  if (!may("admin") || !turn.heard) return null;
  const { names } = await get("v1/sentences", { signal });
  const place = card(text.meant, el("p", { class: "hint" }, text.meantLead),
    addition(turn.heard, names, () => show(place, el("h2", {}, text.meant), el("p", { class: "hint" }, text.added))),
    button(text.misheard, misheard, { kind: "quiet" }));
  return place;
}

function line(row, look) {
  const end = async () => {
    await remove(`v1/sentences/${encodeURIComponent(row.id)}`);
    toast(text.deleted);
    await look();
  };
  return el("li", { class: "fact" },
    el("span", { class: "what" },
      el("span", { class: "heard", dir: "auto" }, words.now.heard(row.said)),
      el("span", { dir: "auto" }, words.now.answered(row.means)),
      el("span", { class: "under" }, badge(text.kinds[row.kind]))),
    may("admin") && button(text.delete, end, { sign: "bin", label: text.deleteLong(row.said) }));
}

function addition(heard, names, done) {
  let kind = "";
  const known = el("datalist", { id: `names${(serial += 1)}` }, names.map((name) => el("option", { value: name })));
  const said = entry();
  const thing = entry(known.id);
  const sentence = entry();
  said.value = heard;
  const fields = {
    said: field(text.said, said), thing: field(text.thing, thing, text.thingHint), sentence: field(text.means, sentence, text.meansHint),
  };
  const send = el("button", { type: "submit", class: "button primary" }, words.save);

  function fit(wanted) {
    kind = wanted;
    const shown = { sentence: ["said", "sentence"], name: ["said", "thing"] }[kind] ?? [];
    for (const [key, place] of Object.entries(fields)) {
      place.hidden = !shown.includes(key);
      place.querySelector("input").disabled = place.hidden;
    }
  }
  async function submit() {
    await post("v1/sentences", { said: said.value.trim(), means: (kind === "name" ? thing : sentence).value.trim(), kind });
    toast(text.added, "good");
    await done();
  }
  fit("");
  return form(send, submit, options(text.kind, text.kinds, fit), fields.said, fields.thing, fields.sentence, known);
}
let serial = 0;

function entry(list = null) {
  return el("input", { type: "text", maxlength: LONGEST, required: true, autocomplete: "off", list });
}
