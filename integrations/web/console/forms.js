// Forms that say beside a field what is wrong with it, in the words of the page.

import { el, say } from "./dom.js";
import { count } from "./formats.js";
import { busy } from "./parts.js";
import { words } from "./words.js";

/** A form. `send`: the button that sends it. `submit`: called once every field is right; what the
 * box then refuses is said above the button. */
export function form(send, submit, ...children) {
  const refused = el("p", { class: "problem", role: "alert" });
  const made = el("form", { class: "stack tight", novalidate: true }, children, refused, send);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    say(refused, "");
    const wrong = [...made.elements].filter((control) => !judged(control));
    if (wrong.length) return wrong[0].focus();
    await busy(send, async () => {
      try {
        await submit();
      } catch (error) {
        if (![400, 409, 413, 422].includes(error.status)) throw error;
        say(refused, error.message);
      }
    });
  });
  made.addEventListener("input", ({ target }) => {
    if (target.getAttribute("aria-invalid") === "true") judged(target);
  });
  return made;
}

/** A choice among few that are all seen, of which none is made before the person makes it. */
export function options(legend, named, change) {
  const name = `o${(serial += 1)}`;
  return el("fieldset", { class: "field choices" },
    el("legend", {}, legend),
    el("div", { class: "row" }, Object.entries(named).map(([value, text]) =>
      el("label", {}, el("input", { type: "radio", name, value, required: true, on: { change: () => change(value) } }), el("span", {}, text)))));
}
let serial = 0;

/** Whether a control is right; says beside it what is wrong. */
function judged(control) {
  const place = control.closest(".field");
  if (!place || !control.willValidate) return true;
  const text = problem(control);
  const id = `${place.querySelector("[id]")?.id ?? control.name}p`;
  const shown = place.querySelector(":scope > .problem") ?? place.appendChild(el("p", { class: "problem", id }));
  say(shown, text);
  const others = (control.getAttribute("aria-describedby") ?? "").split(" ").filter((one) => one && one !== id);
  control.setAttribute("aria-describedby", [...others, ...(text ? [id] : [])].join(" "));
  control.setAttribute("aria-invalid", String(Boolean(text)));
  return !text;
}

function problem(control) {
  const { valid, badInput, valueMissing, rangeUnderflow, rangeOverflow, tooLong } = control.validity;
  const told = words.forms;
  if (valid && !(control.required && control.type === "text" && !control.value.trim())) return "";
  if (badInput) return control.type === "number" ? told.number : told.time;
  if (control.type === "radio") return told.choose;
  if (rangeUnderflow) return told.least(count(control.min));
  if (rangeOverflow) return told.most(count(control.max));
  if (tooLong) return told.long(count(control.maxLength));
  return valueMissing || valid ? told.missing : told.wrong;
}
