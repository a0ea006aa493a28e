// Where the time of a turn went: a table with a bar in each row.

import { el, styled } from "./dom.js";
import { span } from "./formats.js";
import { empty } from "./parts.js";
import { longest, rows, whole } from "./stages.js";
import { words } from "./words.js";

/** The table, or a sentence where nothing was timed. */
export function waterfall(timeline) {
  const stages = rows(timeline);
  if (!stages.length) return empty(words.turn.noTimes);
  const all = Math.max(whole(timeline), 1);
  const most = longest(timeline);
  return [
    el("table", { class: "waterfall" },
      el("thead", {}, el("tr", {},
        el("th", { scope: "col" }, words.turn.stage),
        el("th", { scope: "col", class: "bars" }, words.turn.when),
        el("th", { scope: "col", class: "number" }, words.turn.took))),
      el("tbody", {}, stages.map((row) => line(row, all)))),
    scale(all),
    most && el("p", { class: "hint" }, words.turn.longest(words.stages[most.stage], span(most.ms))),
  ];
}

function line({ stage, from, to }, all) {
  const begin = from ?? to;
  const bar = styled(el("span", { class: `bar s-${stage} ${from === null ? "moment" : ""}` }), {
    "--from": begin / all, "--long": (to - begin) / all,
  });
  return el("tr", {},
    el("th", { scope: "row" }, words.stages[stage]),
    el("td", { class: "bars" }, el("span", { class: "track" }, bar, el("span", { class: "unseen" }, words.turn.at(span(begin))))),
    el("td", { class: "number" }, from === null ? words.turn.at(span(to)) : span(to - begin)));
}

function scale(all) {
  return el("div", { class: "scale", "aria-hidden": "true" },
    [0, 0.25, 0.5, 0.75, 1].map((part) => el("span", {}, span(all * part))));
}
