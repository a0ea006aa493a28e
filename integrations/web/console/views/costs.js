// What the cloud has cost, against the daily limit; and how the week's commands went.

import { get } from "../api.js";
import { dayChart } from "../chart.js";
import { el, styled } from "../dom.js";
import { count, money, percent, shortDay } from "../formats.js";
import { card, empty, facts, page } from "../parts.js";
import { words } from "../words.js";

const DAYS = 30;
const WEEK = 7;
const SHARES = ["right", "corrected", "refused", "misheard", "failed"];

/** The view. */
export async function open({ signal }) {
  const [told, shares] = await Promise.all([get(`v1/costs?days=${DAYS}`, { signal }), get(`v1/shares?days=${WEEK}`, { signal })]);
  const days = byDay(told.days);
  return page(words.costs.title, words.costs.lead,
    el("div", { class: "columns even" }, today(told, days), week(shares)),
    card(words.costs.chart,
      dayChart(days, told.cap_usd),
      el("details", {}, el("summary", {}, words.costs.daily), dailyTable(days))),
    card(words.costs.byBrain, told.days.length ? brainTable(told.days) : empty(words.costs.none),
      days.some((one) => one.estimated) && el("p", { class: "hint" }, words.costs.estimated)));
}

/** Of each of the last days, the oldest first: `{day, cost, estimated, turns}`; days without turns too. */
function byDay(rows) {
  const sums = new Map();
  const date = new Date();
  date.setDate(date.getDate() - DAYS + 1);
  for (let number = 0; number < DAYS; number += 1) {
    sums.set(localDay(date), { cost: 0, estimated: 0, turns: 0 });
    date.setDate(date.getDate() + 1);
  }
  for (const { day, cost_usd: cost, estimated_usd: estimated, turns } of rows) {
    const sum = sums.get(day);
    if (!sum) continue; // the box's clock is ahead of this one's
    sum.cost += cost;
    sum.estimated += estimated;
    sum.turns += turns;
  }
  return [...sums].map(([day, sum]) => ({ day, ...sum }));
}

function localDay(date) {
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

function today({ today_usd: spent, cap_usd: cap }, days) {
  const sum = (name, last) => days.slice(-last).reduce((all, one) => all + one[name], 0);
  const told = (last) => words.costs.sum(money(sum("cost", last), sum("estimated", last)), sum("turns", last));
  const share = cap > 0 ? Math.min(1, spent / cap) : 0;
  return card(words.costs.today,
    el("p", { class: "figure big" }, money(spent, days.at(-1).estimated), " ", el("small", {}, cap > 0 ? words.costs.cap(money(cap)) : words.costs.noCap)),
    cap > 0 && styled(el("div", {
      class: "meter cost", role: "meter", "aria-label": words.costs.today, "aria-valuemin": 0, "aria-valuemax": cap,
      "aria-valuenow": Math.min(spent, cap), "aria-valuetext": `${money(spent)} ${words.costs.cap(money(cap))}`,
    }, el("div", { class: "fill" })), { "--level": share }),
    cap > 0 && spent >= cap && el("p", { class: "problem" }, words.costs.reached),
    facts([[words.costs.week, told(WEEK)], [words.costs.month, told(DAYS)]]));
}

function week(shares) {
  if (!shares.turns) return card(words.shares.title, empty(words.shares.none));
  const parts = SHARES.filter((name) => shares[name] > 0);
  return card(words.shares.title,
    el("p", { class: "figure big" }, percent(shares.right / shares.turns), " ",
      el("small", {}, `${words.shares.names.right}, ${words.shares.of(shares.turns)}`)),
    el("div", { class: "shares", "aria-hidden": "true" },
      parts.map((name) => styled(el("span", { class: `h-${name}` }), { "flex-grow": shares[name] }))),
    el("ul", { class: "sharelist" }, SHARES.map((name) =>
      el("li", {}, el("span", { class: `dot h-${name}`, "aria-hidden": "true" }),
        el("span", {}, words.shares.names[name]), el("strong", {}, count(shares[name] ?? 0))))),
    el("p", { class: "hint" }, words.shares.hint));
}

function brainTable(rows) {
  const sums = new Map();
  for (const row of rows) {
    const key = `${row.brain}\n${row.model}`;
    const sum = sums.get(key) ?? { brain: row.brain, model: row.model, turns: 0, input: 0, output: 0, cost: 0, estimated: 0 };
    sum.turns += row.turns;
    sum.input += row.input_tokens;
    sum.output += row.output_tokens;
    sum.cost += row.cost_usd;
    sum.estimated += row.estimated_usd;
    sums.set(key, sum);
  }
  const names = words.costs.columns;
  const sorted = [...sums.values()].sort((one, other) => other.cost - one.cost || other.turns - one.turns);
  return table([[names.brain], [names.model], [names.turns, true], [names.tokens, true], [names.cost, true]],
    sorted.map((row) => [(words.turns.sources[row.brain] ?? row.brain) || words.turns.noBrain, row.model || "–", count(row.turns),
      row.input || row.output ? `${count(row.input)}, ${count(row.output)}` : "–", money(row.cost, row.estimated)]));
}

function dailyTable(days) {
  const names = words.costs.columns;
  return table([[words.costs.day], [names.turns, true], [names.cost, true]],
    days.filter((one) => one.turns).reverse().map((one) => [shortDay(one.day), count(one.turns), money(one.cost, one.estimated)]));
}

function table(columns, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": columns[0][0] },
    el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, columns.map(([name, number]) => el("th", { scope: "col", class: number && "number" }, name)))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) =>
        el(at ? "td" : "th", { scope: at ? null : "row", class: columns[at][1] && "number" }, cell)))))));
}
