// Whether all of it works: problems, the microphone, the doctor, and what has broken.

import { get, may, post } from "../api.js";
import { on } from "../bus.js";
import { el, show } from "../dom.js";
import { count, lasting, moment, money, span } from "../formats.js";
import { icon } from "../icons.js";
import { meter, watchLevel } from "../level.js";
import { stands } from "../live.js";
import { logView } from "../logview.js";
import { ask, badge, button, card, empty, page } from "../parts.js";
import { words } from "../words.js";

const DAYS = 30;
const PATIENCE_MS = 120_000; // it loads voices and connects to the house again
const TONES = { ok: "good", warn: "warn", fail: "bad" };

/** The view. */
export async function open({ signal }) {
  const [state, rows] = await Promise.all([get("v1/state", { signal }), get(`v1/faults?days=${DAYS}`, { signal })]);
  const place = el("div", { class: "verdict" });
  const faults = el("ul", { class: "rows" });
  const showFaults = (list) => show(faults, list.length ? list.map(fault) : el("li", {}, empty(words.health.noFaults)));
  const showState = (standing) => show(place, verdict(standing));
  on("standing", showState, signal);
  on("fault", async () => {
    showFaults(await get(`v1/faults?days=${DAYS}`, { signal }));
    showState(await get("v1/state", { signal }));
  }, signal);
  showFaults(rows);
  showState({ ...stands(), ...state });
  watchLevel(signal);
  return page(words.health.title, words.health.lead,
    el("div", { class: "columns even" }, el("section", { class: "card" }, place), card(words.level.title, meter(signal))),
    doctor(signal),
    card(words.health.faults, faults),
    may("admin") && logView(signal));
}

function verdict(state) {
  const word = state.health ?? "ok";
  const tone = { ok: "good", degraded: "warn", dead: "bad" }[word] ?? "warn";
  const since = state.listening_since;
  return [
    el("h2", { class: `mark ${tone}` }, icon(word === "ok" ? "check" : "warn"), words.health[word] ?? word),
    el("p", { class: "hint" }, since ? words.health.since(moment(since)) : words.health.notListening),
    el("ul", { class: "problems" }, (state.problems ?? []).map((text) => el("li", {}, text))),
  ];
}

function doctor(signal) {
  const result = el("div", { role: "status", class: "hint" });
  const list = el("div", { class: "stack tight" });
  async function run(text, work) {
    show(list);
    show(result, el("span", { class: "dots", "aria-hidden": "true" }), " ", text);
    try {
      const [told, checks] = await work();
      show(result, told);
      show(list, grouped(checks));
    } catch (error) {
      show(result);
      throw error;
    }
  }
  const examine = () => run(words.health.examining, async () => {
    const checks = await get("v1/doctor", { signal, patience: PATIENCE_MS });
    const of = (status) => checks.filter((one) => one.status === status).length;
    return [words.health.examined(of("fail"), of("warn")), checks];
  });
  const testGemini = async () => {
    if (!await ask({ title: words.health.cloudSure, text: words.health.cloudText, yes: words.health.cloud })) return;
    await run(words.health.cloudRuns, async () => {
      const report = await post("v1/doctor/cloud", {}, { signal, patience: PATIENCE_MS });
      return [words.health.cloudDone(report.live, money(report.cost_usd, report.cost_estimated)), report.checks];
    });
  };
  return card(words.health.doctor,
    el("p", { class: "hint" }, words.health.doctorLead),
    el("div", { class: "row" },
      button(words.health.examine, examine, { kind: "primary", sign: "health" }),
      may("admin") && button(words.health.cloud, testGemini)), result, list);
}

/** What failed, what is doubtful, and what is right, which is folded. */
function grouped(checks) {
  return Object.entries(words.health.groups).map(([status, name]) => {
    const own = checks.filter((one) => one.status === status);
    if (!own.length) return null;
    const rows = el("ul", { class: "checks" }, own.map(check));
    const title = `${name} (${count(own.length)})`;
    return status === "ok"
      ? el("details", {}, el("summary", {}, title), rows)
      : el("section", { class: "stack tight" }, el("p", { class: "grouphead" }, title), rows);
  });
}

function check(one) {
  return el("li", { "data-status": one.status },
    badge(words.health.status[one.status] ?? one.status, TONES[one.status]),
    el("span", { class: "what" },
      el("span", { class: "heard" }, one.check, one.ms != null && ` · ${span(one.ms)}`),
      el("span", {}, one.detail),
      one.mend && el("span", { class: "mend" }, one.mend)));
}

function fault(row) {
  return el("li", { class: "fault" },
    el("span", { class: "what" },
      el("span", { class: "heard" }, row.problem ?? row.what),
      el("span", { class: "under" },
        el("span", {}, row.what.replaceAll("_", " ")), el("span", {}, moment(row.began_at)),
        ended(row))));
}

function ended({ began_at: from, ended_at: to, settled }) {
  if (to === null) return badge(words.health.lasts, "bad");
  return el("span", {}, settled ? words.health.settled : words.health.lasted(lasting(new Date(to) - new Date(from))));
}
