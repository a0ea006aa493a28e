// Who is signed in, and links that sign somebody in.

import { get, post, remove } from "./api.js";
import { el, show, svg } from "./dom.js";
import { moment } from "./formats.js";
import { badge, busy, button, card, choice, field, toast } from "./parts.js";
import { words } from "./words.js";

const text = words.people;

/** The card. */
export async function people(signal) {
  const list = el("ul", { class: "rows" });

  async function look() {
    const rows = await get("v1/sessions", { signal });
    show(list, rows.map((row) => person(row, look)));
  }

  await look();
  return card(text.title, el("p", { class: "hint" }, text.lead), list, invitation());
}

function person(row, look) {
  const role = text.roles[row.role] ?? row.role;
  const name = row.name || role;
  const end = async () => {
    await remove(`v1/sessions/${encodeURIComponent(row.id)}`);
    toast(text.ended);
    await look();
  };
  return el("li", {},
    el("div", { class: "what" },
      el("p", {}, name, " ", row.name && badge(role), row.own && badge(text.own, "good")),
      el("p", { class: "under" }, text.until(moment(row.expires)))),
    !row.own && button(text.end, end, { kind: "quiet", label: text.endLong(name) }));
}

function invitation() {
  const { family, guest, owner } = text.roles;
  const role = choice({ family, guest, owner }, "family");
  const name = el("input", { type: "text", maxlength: 40, autocomplete: "off" });
  const hours = el("input", { type: "number", min: 1, max: 720, step: 1, value: 24, required: true });
  const hoursField = field(text.hours, hours);
  const made = el("div", { role: "status" });
  const send = el("button", { type: "submit", class: "button primary" }, text.make);
  const fit = () => { hoursField.hidden = role.value !== "guest"; };

  async function submit(event) {
    event.preventDefault();
    await busy(send, async () => {
      const address = `${location.origin}${location.pathname}`;
      const { code, qr } = await post("v1/links", { role: role.value, name: name.value.trim(), hours: hours.valueAsNumber, address });
      show(made, link(`${address}#code=${code}`, qr));
      name.value = "";
    });
  }

  role.addEventListener("change", fit);
  fit();
  return el("form", { class: "stack tight", on: { submit } },
    field(text.role, role), field(text.name, name, text.nameHint), hoursField, send, made);
}

function link(address, qr) {
  const shown = el("input", { type: "text", readonly: true, value: address });
  shown.addEventListener("focus", () => shown.select());
  const copy = async () => {
    await navigator.clipboard.writeText(address);
    toast(text.copied, "good");
  };
  const may = Boolean(navigator.clipboard); // only in a secure context
  return el("div", { class: "stack tight" }, field(text.link, shown), may && button(text.copy, copy),
    qr && el("p", { class: "hint" }, text.scan), qr && drawing(qr));
}

/** The link as a QR code. It is drawn here, so that the link is in no address that is fetched. */
function drawing(rows) {
  const dark = rows.flatMap((row, y) => [...row].map((one, x) => (one === "1" ? `M${x} ${y}h1v1h-1z` : "")));
  return svg("svg", { class: "qr", viewBox: `0 0 ${rows.length} ${rows.length}`, role: "img", "aria-label": text.qr },
    svg("path", { d: dark.join("") }));
}
