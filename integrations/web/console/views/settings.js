// What can be changed while it runs, and nothing else.

import { get, may, post } from "../api.js";
import { on } from "../bus.js";
import { el, say } from "../dom.js";
import { decimal, percent } from "../formats.js";
import { stands } from "../live.js";
import { busy, card, choice, field, page, toast } from "../parts.js";
import { ownSentences } from "../ownsentences.js";
import { people } from "../people.js";
import { soundTest } from "../soundtest.js";
import { words } from "../words.js";

const text = words.settings;

/** The view. */
export async function open({ signal }) {
  const [live, state] = await Promise.all([get("v1/settings", { signal }), get("v1/state", { signal })]);
  const allowed = may("admin");
  const rows = {
    volume: slider(text.volume, live.volume, { min: 0, max: 1, step: 0.05, unit: percent }, keep("volume")),
    speed: slider(text.speed, live.speed, { min: 0.5, max: 2, step: 0.05, unit: (value) => `${decimal(value, 2)} ×` }, keep("speed")),
    wake_word: live.wake_word && select(text.wakeWord, live.wake_word, wakeWords(live.wake_word.options), keep("wake_word")),
    sensitivity: select(text.sensitivity, live.sensitivity, text.sensitivities, keep("sensitivity")),
    follow_up: select(text.followUp, live.follow_up, text.followUps, keep("follow_up")),
    profile: select(text.profile, live.profile, { none: text.profileNone }, keep("profile")),
    quiet_hours: live.quiet_hours && quietHours(live.quiet_hours, keep("quiet_hours")),
    muted: muteSwitch(state.muted),
    mode: mode(state.mode),
  };
  for (const [name, row] of Object.entries(rows)) {
    if (row) row.lock(!(allowed || (name === "muted" && may("speak"))));
  }
  on("standing", (standing) => {
    for (const [name, told] of Object.entries(standing.settings ?? {})) rows[name]?.take(told.value);
    rows.muted.take(standing.muted);
    rows.mode.take(standing.mode);
  }, signal);
  const places = (...names) => names.map((name) => rows[name]?.place);
  return page(text.title, text.lead,
    !allowed && el("p", { class: "hint" }, words.needs("admin")),
    el("div", { class: "columns cards" },
      card(text.sound, places("volume", "speed")),
      card(text.listening, places("muted", "wake_word", "sensitivity", "follow_up")),
      soundTest({ ...stands(), ...state }, signal),
      card(text.behaviour, places("mode", "profile")),
      rows.quiet_hours && card(text.quiet, places("quiet_hours")),
      await ownSentences(signal),
      allowed && backup(),
      allowed && await people(signal)));
}

/** The wake words as people say them. */
function wakeWords(options) {
  return Object.fromEntries(options.map((name) => [name, name.replaceAll("_", " ")]));
}

function backup() {
  return card(text.backup,
    el("p", { class: "hint" }, text.backupLead),
    el("p", {}, el("a", { class: "button", href: "v1/backup", download: "hearth.zip" }, text.backupMake)),
    el("p", { class: "hint" }, text.backupRestore));
}

function keep(name) {
  return async (value) => {
    await post("v1/settings", { [name]: value });
    toast(text.saved, "good");
  };
}

/** Change it, and show what holds where that fails. */
async function changed(control, change, takeBack) {
  if (!await busy(control, change)) takeBack();
}

function row(place, controls, take) {
  return {
    place,
    lock: (locked) => controls.forEach((control) => { control.disabled = locked; }),
    // Do not change a control while somebody uses it.
    take: (value) => controls.includes(document.activeElement) || take(value),
  };
}

function slider(label, told, { min, max, step, unit }, change) {
  let held = told.value;
  const control = el("input", { type: "range", min, max, step });
  const shown = el("output", {});
  const tell = () => {
    say(shown, unit(control.valueAsNumber));
    control.setAttribute("aria-valuetext", unit(control.valueAsNumber));
  };
  const take = (value) => {
    held = value;
    control.value = value;
    tell();
  };
  control.addEventListener("input", tell);
  control.addEventListener("change", () => {
    const wanted = control.valueAsNumber;
    changed(control, () => change(wanted), () => take(held));
  });
  take(told.value);
  const place = field(label, control);
  place.classList.add("slider");
  place.append(shown);
  return row(place, [control], take);
}

function select(label, told, names, change) {
  let held = told.value;
  const options = Object.fromEntries(told.options.map((option) => [option, names[option] ?? option]));
  const control = choice(options, told.value);
  const take = (value) => { held = control.value = value; };
  control.addEventListener("change", () => {
    const wanted = control.value;
    changed(control, () => change(wanted), () => take(held));
  });
  return row(field(label, control), [control], take);
}

function muteSwitch(muted) {
  const control = el("input", { type: "checkbox", role: "switch", class: "switch" });
  const take = (value) => { control.checked = value; };
  control.addEventListener("change", () => {
    const wanted = control.checked;
    changed(control, () => post("v1/mute", { muted: wanted }), () => take(!wanted));
  });
  take(muted);
  const place = field(text.muted, control, text.mutedHint);
  place.classList.add("switched");
  return row(place, [control], take);
}

function mode(current) {
  const control = choice(text.modes, current);
  const hint = el("p", { class: "hint" });
  const take = (value) => {
    control.value = value;
    say(hint, text.modeHints[value] ?? "");
  };
  control.addEventListener("change", () => {
    const wanted = control.value;
    say(hint, text.modeHints[wanted] ?? "");
    changed(control, () => post("v1/mode", { mode: wanted }), () => take(stands()?.mode ?? current));
  });
  take(current);
  const place = field(text.mode, control);
  place.append(hint);
  return row(place, [control], take);
}

/** "off", or a span of the day such as "22:00-07:00". */
function quietHours(told, change) {
  let held = told.value;
  const kind = choice(text.quiets, "off");
  const from = el("input", { type: "time", required: true });
  const to = el("input", { type: "time", required: true });
  const spans = el("div", { class: "row" }, field(text.from, from), field(text.to, to));
  const fit = () => { spans.hidden = kind.value === "off"; };
  const take = (value) => {
    held = value;
    const own = value.split("-");
    kind.value = own.length === 2 ? "own" : "off";
    [from.value, to.value] = own.length === 2 ? own : [from.value || "22:00", to.value || "07:00"];
    fit();
  };
  const send = () => {
    fit();
    if (kind.value === "own" && !(from.value && to.value)) return;
    const wanted = kind.value === "own" ? `${from.value}-${to.value}` : "off";
    if (wanted === held) return;
    changed(kind, () => change(wanted).then(() => { held = wanted; }), () => take(held));
  };
  for (const control of [kind, from, to]) control.addEventListener("change", send);
  take(told.value);
  return row(el("div", { class: "stack tight" }, field(text.quietWhen, kind), spans), [kind, from, to], take);
}
