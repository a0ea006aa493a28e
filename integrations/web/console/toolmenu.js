// The menu of tools: every tool, what is at stake, and the rule that decides.

import { get } from "./api.js";
import { el, say, show } from "./dom.js";
import { icon } from "./icons.js";
import { badge, card, empty, tier } from "./parts.js";
import { words } from "./words.js";

const OWN = "hearth"; // the name of the server of its own tools
const TIERS = ["read", "comfort", "costly", "secure"];
const text = words.tools;

/** The part of a view that is fetched when it is unfolded. */
export function toolMenu(signal) {
  const place = el("div", { class: "stack" });
  const whole = el("details", { class: "advanced" }, el("summary", {}, text.summary), place);
  whole.addEventListener("toggle", async () => {
    if (!whole.open || place.hasChildNodes()) return;
    try {
      show(place, menu(await get("v1/tools", { signal })));
    } catch (error) {
      if (error.status === undefined && error.name !== "AbortError") throw error;
      show(place, empty(error.message));
    }
  }, { signal });
  return whole;
}

function menu({ tools, servers }) {
  const find = el("input", { type: "search", "aria-label": text.find, placeholder: text.find });
  const found = el("p", { class: "hint", role: "status" });
  const rows = tools.map((tool) => ({ place: toolRow(tool), tool, text: `${tool.name} ${tool.description} ${tool.tier} ${tool.rule}`.toLowerCase() }));
  const groups = servers.filter((server) => server.name !== OWN).map((server) => group(server, rows.filter(({ tool }) => tool.server === server.name)));
  groups.push(group({ name: OWN, ok: true }, rows.filter(({ tool }) => tool.server === OWN)));

  function narrow() {
    const asked = find.value.trim().toLowerCase().split(/\s+/);
    let left = 0;
    for (const { place, text: told } of rows) {
      place.hidden = !asked.every((word) => told.includes(word));
      left += place.hidden ? 0 : 1;
    }
    for (const { place, rows: own } of groups) {
      place.hidden = own.length > 0 && own.every((row) => row.place.hidden);
    }
    say(found, left ? text.found(left) : text.none);
  }
  find.addEventListener("input", narrow);
  narrow();
  return [
    el("p", { class: "hint" }, text.lead),
    el("div", { class: "finder" }, icon("search"), find, found),
    el("dl", { class: "legend" }, TIERS.map((name) => el("div", {}, el("dt", {}, tier(name)), el("dd", {}, text.tierHint[name])))),
    rows.length ? groups.map(({ place }) => place) : card("", empty(text.empty)),
  ];
}
function group(server, rows) {
  const name = text.names[server.name] ?? server.name.replaceAll("_", " ");
  const place = el("section", { class: "card" },
    el("div", { class: "cardhead" },
      el("h2", {}, name),
      server.ok ? el("span", { class: "hint" }, text.found(rows.length)) : badge(text.down, "bad")),
    !server.ok && server.reason && el("p", { class: "problem" }, server.reason),
    rows.length > 0 && el("ul", { class: "tools" }, rows.map((row) => row.place)));
  return { place, rows };
}

function toolRow(tool) {
  const [first, ...more] = tool.losses ?? [];
  return el("li", { class: `tool ${tool.hidden ? "faded" : ""}` },
    el("div", { class: "callhead" },
      el("code", {}, tool.name),
      el("span", { class: "badges" },
        tier(tool.tier),
        tool.approved === false && badge(text.waits, "warn"),
        tool.hidden && badge(text.hidden))),
    tool.description && el("p", {}, tool.description),
    el("p", { class: "hint" }, [text.rules[tool.rule] ?? text.rule(tool.rule), tool.hidden && first].filter(Boolean).join(" · ")),
    Object.keys(tool.parameters?.properties ?? {}).length > 0 && el("details", {},
      el("summary", {}, text.parameters),
      el("pre", { tabindex: "0" }, JSON.stringify(tool.parameters, null, 2)),
      losses(tool.hidden ? more : tool.losses ?? [])));
}

function losses(texts) {
  return texts.length > 0 && [el("p", { class: "hint" }, text.losses), el("ul", { class: "changes" }, texts.map((text) => el("li", {}, text)))];
}
