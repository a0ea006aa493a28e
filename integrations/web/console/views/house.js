// The menu of the house: what may open it, every tool, what is at stake, and the rule that decides.

import { get, may, post } from "../api.js";
import { el, say, show } from "../dom.js";
import { icon } from "../icons.js";
import { badge, button, card, empty, page, tier, toast } from "../parts.js";
import { words } from "../words.js";

const OWN = "hearth"; // the name of the server of its own tools
const TIERS = ["read", "comfort", "costly", "secure"];

/** The view. */
export async function open({ signal }) {
  const menu = await get("v1/tools", { signal });
  const openers = el("section", { class: "card" });
  async function look() {
    const things = await get("v1/openers", { signal });
    openers.hidden = things.length === 0;
    show(openers, el("h2", {}, words.house.openers), el("p", { class: "hint" }, words.house.openersLead),
      el("ul", { class: "rows" }, things.map((thing) => openerRow(thing, look))));
  }
  await look();
  const find = el("input", { type: "search", "aria-label": words.house.find, placeholder: words.house.find });
  const found = el("p", { class: "hint", role: "status" });
  const rows = menu.tools.map((tool) => ({ place: toolRow(tool), tool, text: `${tool.name} ${tool.description} ${tool.tier} ${tool.rule}`.toLowerCase() }));
  const groups = menu.servers.filter((server) => server.name !== OWN).map((server) => group(server, rows.filter(({ tool }) => tool.server === server.name)));
  groups.push(group({ name: OWN, ok: true }, rows.filter(({ tool }) => tool.server === OWN)));

  function narrow() {
    const asked = find.value.trim().toLowerCase().split(/\s+/);
    let left = 0;
    for (const { place, text } of rows) {
      place.hidden = !asked.every((word) => text.includes(word));
      left += place.hidden ? 0 : 1;
    }
    for (const { place, rows: own } of groups) {
      place.hidden = own.length > 0 && own.every((row) => row.place.hidden);
    }
    say(found, left ? words.house.found(left) : words.house.none);
  }
  find.addEventListener("input", narrow);
  narrow();
  return page(words.house.title, words.house.lead, openers,
    el("div", { class: "finder" }, icon("search"), find, found),
    el("dl", { class: "legend" }, TIERS.map((name) => el("div", {}, el("dt", {}, tier(name)), el("dd", {}, words.house.tierHint[name])))),
    rows.length ? groups.map(({ place }) => place) : card("", empty(words.house.empty)));
}

/** One thing that may open something: what it counts as, and the two things to say of it. */
function openerRow(thing, look) {
  const rate = (name) => async () => {
    await post(`v1/openers/${encodeURIComponent(thing.entity_id)}`, { tier: name });
    toast(words.house.openersDone[name], "good");
    await look();
  };
  const seen = thing.seen_opening.join(", ");
  return el("li", { class: "fact" },
    el("span", { class: "what" },
      el("span", { class: "heard" }, thing.name),
      el("span", { class: "under" },
        badge(words.house.openersStates[thing.tier ?? "none"], thing.tier === "comfort" ? "warn" : ""),
        el("span", {}, thing.entity_id),
        seen && el("span", {}, words.house.openersSeen(seen)))),
    may("admin") && el("span", { class: "row" }, Object.keys(words.house.openersRate).map((name) =>
      button(words.house.openersRate[name], rate(name), { label: words.house.openersRateLong[name](thing.name), disabled: thing.tier === name }))));
}

function group(server, rows) {
  const name = words.house.names[server.name] ?? server.name.replaceAll("_", " ");
  const place = el("section", { class: "card" },
    el("div", { class: "cardhead" },
      el("h2", {}, name),
      server.ok ? el("span", { class: "hint" }, words.house.found(rows.length)) : badge(words.house.down, "bad")),
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
        tool.approved === false && badge(words.house.waits, "warn"),
        tool.hidden && badge(words.house.hidden))),
    tool.description && el("p", {}, tool.description),
    el("p", { class: "hint" }, [words.house.rules[tool.rule] ?? words.house.rule(tool.rule), tool.hidden && first].filter(Boolean).join(" · ")),
    Object.keys(tool.parameters?.properties ?? {}).length > 0 && el("details", {},
      el("summary", {}, words.house.parameters),
      el("pre", { tabindex: "0" }, JSON.stringify(tool.parameters, null, 2)),
      losses(tool.hidden ? more : tool.losses ?? [])));
}

function losses(texts) {
  return texts.length > 0 && [el("p", { class: "hint" }, words.house.losses), el("ul", { class: "changes" }, texts.map((text) => el("li", {}, text)))];
}
