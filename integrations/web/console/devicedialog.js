// The rest of a device: what to say to it, what Hearth does with it, and the owner's rating.

import { post } from "./api.js";
import { el, show } from "./dom.js";
import { stateOf } from "./device.js";
import { moment } from "./formats.js";
import { busy, toast } from "./parts.js";
import { words } from "./words.js";

const text = words.house;

/** Show it until it is closed. `look`: fetches the house again. Returns a function that shows another
 * state of the same device. */
export function deviceDialog(row, look) {
  const title = el("h2", { id: "device-title", dir: "auto" }, row.name);
  const body = el("div", { class: "stack tight" });
  const close = el("button", { type: "submit", class: "button" }, text.close);
  const dialog = el("dialog", { class: "devicedialog", "aria-labelledby": "device-title" },
    el("form", { method: "dialog" }, title, body, el("div", { class: "row end" }, close)));

  function fill(fresh) {
    const focused = document.activeElement?.dataset?.rating;
    const says = stateOf(fresh);
    show(body,
      says && el("p", { class: "under" }, says, fresh.changed && says && fresh.state !== "unavailable" && el("span", {}, text.since(moment(fresh.changed)))),
      fresh.examples.length > 0 && el("section", { class: "stack tight" },
        el("p", { class: "eyebrow" }, text.say),
        el("ul", { class: "quotes" }, fresh.examples.map((one) => el("li", { dir: "auto" }, text.quote(one))))),
      el("p", {}, treatment(fresh)),
      ratings(fresh, look));
    if (focused) body.querySelector(`[data-rating="${focused}"]`)?.focus();
  }

  fill(row);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return (fresh) => dialog.open && fresh.id === row.id && fill(fresh);
}

/** What the policy does, in a sentence. */
function treatment({ treatment: found, examples }) {
  if (!found) return examples.length > 0 ? text.reads : text.nothingToDo;
  const { how, why } = found;
  if (how === "asks" && why) return text.asks(why);
  if (how === "pin" && why) return text.asksPin(why);
  if (how === "phone" && why) return text.asksPhone(why);
  if (how === "never") return why || text.never;
  return text.hows[how];
}

function ratings(row, look) {
  if (!row.choices?.length) return null;
  const now = row.treatment?.how;
  const buttons = row.choices.map(({ rating, how }) => {
    const made = el("button", { type: "button", class: "button option", "data-rating": rating, "aria-pressed": String(how === now) }, text.ratings[how]);
    made.addEventListener("click", () => busy(made, async () => {
      await post(`v1/house/${encodeURIComponent(row.id)}/rating`, { tier: rating });
      toast(text.rated, "good");
      await look();
    }));
    return made;
  });
  const free = row.choices.some(({ how }) => how === "free");
  return el("fieldset", { class: "stack tight" },
    el("legend", {}, text.rating), el("div", { class: "options pairs" }, buttons),
    !free && el("p", { class: "hint" }, text.notFree),
    row.rating && el("p", { class: "hint" }, text.yours));
}
