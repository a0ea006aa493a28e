// A bar for each day, and the daily limit as a line.

import { el, svg } from "./dom.js";
import { money, shortDay } from "./formats.js";
import { empty } from "./parts.js";
import { words } from "./words.js";

const WIDE = 720; // in units of the drawing, which are about pixels
const NARROW = 330; // on a phone, whose signs would be too small else
const HEIGHT = 200;
const LEFT = 56; // room for the sums
const BOTTOM = 24; // and for the days
const TOP = 14;

/** `days`: `{day, cost, estimated, turns}`, the oldest first. `cap`: of one day; 0 or null for none. */
export function dayChart(days, cap) {
  const dearest = Math.max(...days.map((one) => one.cost));
  if (!(dearest > 0)) return empty(words.costs.none);
  // A limit far above the bars would flatten them, so it is only mentioned in words.
  const shownCap = cap > 0 && cap <= dearest * 4 ? cap : 0;
  const most = rounded(Math.max(dearest, shownCap));
  const width = matchMedia("(width <= 820px)").matches ? NARROW : WIDE;
  const step = (width - LEFT) / days.length;
  const y = (cost) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - cost / most);
  return el("figure", { class: "chart" },
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": words.costs.chart },
      [0, 0.5, 1].map((part) => line(y(most * part), money(most * part), width)),
      days.map((one, at) => bar(one, LEFT + step * at, step, y)),
      days.map((one, at) => (days.length - 1 - at) % 7 === 0 && svg("text", { x: LEFT + step * (at + 0.5), y: HEIGHT - 6, "text-anchor": at === days.length - 1 ? "end" : "middle" }, shortDay(one.day))),
      shownCap > 0 && [
        svg("line", { class: "cap", x1: LEFT, x2: width, y1: y(shownCap), y2: y(shownCap) }),
        svg("text", { class: "cap", x: width - 4, y: y(shownCap) - 5, "text-anchor": "end" }, words.costs.capLine(money(shownCap))),
      ]),
    cap > 0 && !shownCap && el("figcaption", { class: "hint" }, words.costs.capAbove(money(cap))));
}

function bar({ day, cost, estimated, turns }, x, step, y) {
  const high = Math.max(y(0) - y(cost), cost > 0 ? 2 : 0);
  return svg("rect", { class: "bar", x: x + step * 0.13, y: y(0) - high, width: step * 0.74, height: high, rx: step / 8 },
    svg("title", {}, `${shortDay(day)}: ${words.costs.sum(money(cost, estimated), turns)}`));
}

function line(at, text, width) {
  return [
    svg("line", { class: "grid", x1: LEFT, x2: width, y1: at, y2: at }),
    svg("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, text),
  ];
}

/** The next of 1, 2, 2.5, 5 times a power of ten. */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999);
}
