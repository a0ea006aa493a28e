// What it is doing now, what runs, and what was said last; and a line to type to it.

import { get, may, post } from "../api.js";
import { on, tell } from "../bus.js";
import { askBox } from "../askbox.js";
import { el, show } from "../dom.js";
import { ember } from "../ember.js";
import { watchLevel } from "../level.js";
import { stands } from "../live.js";
import { button, empty, toast } from "../parts.js";
import { link } from "../router.js";
import { ticking, timerRow } from "../timerrow.js";
import { turnRow } from "../turnrow.js";
import { words } from "../words.js";

const FEW = 5; // turns

/** The view. */
export async function open({ signal }) {
  const all = may("read"); // others do not see what people said
  const lately = () => (all ? get(`v1/turns?limit=${FEW}`, { signal }) : []);
  const [timers, turns] = await Promise.all([get("v1/timers", { signal }), lately()]);
  const timerPlace = el("ul", { class: "rows" });
  const turnPlace = el("ul", { class: "rows" });
  const problems = el("ul", { class: "problems" });

  const showTimers = (rows) => show(timerPlace, rows.length ? rows.map((row) => timerRow(row)) : el("li", {}, empty(words.now.noTimers)));
  const showTurns = (rows) => show(turnPlace, rows.length ? rows.map(turnRow) : el("li", {}, empty(words.now.noTurns)));
  const showProblems = () => show(problems, (stands()?.problems ?? []).map((text) => el("li", {}, text)));

  on("timer", async () => showTimers(await get("v1/timers", { signal })), signal);
  on("answer announcement turn-told", async () => showTurns(await lately()), signal);
  on("standing", showProblems, signal);
  ticking(timerPlace, signal);
  if (all) watchLevel(signal);
  showTimers(timers);
  showTurns(turns);
  showProblems();

  return el("section", { class: "view now" },
    el("h1", { class: "unseen", tabindex: "-1" }, words.now.title),
    el("div", { class: "columns" },
      el("div", { class: "stack" },
        el("section", { class: "card hearth" }, ember(signal), buttons(), problems),
        askBox()),
      el("div", { class: "stack" },
        listed(words.now.timers, timerPlace, "timers", words.now.allTimers),
        all && listed(words.now.turns, turnPlace, "turns", words.now.allTurns))));
}

function listed(title, place, page, all) {
  return el("section", { class: "card" },
    el("div", { class: "cardhead" }, el("h2", {}, title), el("a", { href: link(page) }, all)), place);
}

function buttons() {
  if (!may("speak")) return null;
  const press = (path, said) => async () => {
    const standing = await post(path);
    tell("standing", { ...stands(), ...standing });
    toast(said);
  };
  return el("div", { class: "row center" },
    button(words.now.listen, press("v1/listen", words.now.listening), { sign: "microphone" }),
    button(words.now.stop, press("v1/stop", words.now.stopped), { sign: "stop" }));
}
