// The house by floors and rooms: how each device stands, and what a tap on it does.

import { get, may } from "../api.js";
import { on } from "../bus.js";
import { deviceDialog } from "../devicedialog.js";
import { deviceTile } from "../device.js";
import { el, say, show } from "../dom.js";
import { icon } from "../icons.js";
import { card, empty, page } from "../parts.js";
import { toolMenu } from "../toolmenu.js";
import { language, words } from "../words.js";

const PATIENCE_MS = 60_000; // the first look at a large house takes a while
const MANY = 12; // with more devices, there is a field to find one
const AGAIN_MS = 30_000; // states that come without an event, such as those of a lost connection
const text = words.house;

/** The view. */
export async function open({ signal }) {
  const fetchHouse = () => get(`v1/house?language=${language}`, { signal, patience: PATIENCE_MS });
  const place = el("div", { class: "stack" });
  const notice = el("p", { class: "problems", role: "status" });
  const find = el("input", { type: "search", "aria-label": text.find, placeholder: text.find });
  const finder = el("div", { class: "finder" }, icon("search"), find);
  const none = el("p", { class: "hint", role: "status" });
  const rest = el("p", { class: "hint" });
  let tiles = new Map();
  let shape = "";
  let tapped = null; // the tile of a tap that is under way
  let inDialog = () => {};

  const about = (row) => { inDialog = deviceDialog(row, look); };
  const tapping = (tile) => {
    if (!tile && tapped && document.activeElement === document.body) tapped.focus(); // the question has gone
    if (!tile) tapped?.node.scrollIntoView({ block: "nearest" });
    tapped = tile;
    if (!tile) look();
  };

  function fill(house) {
    const rows = house.floors.flatMap((floor) => floor.rooms.flatMap((room) => room.things));
    const now = JSON.stringify(house.floors.map(({ name, rooms }) => [name, rooms.map((room) => [room.name, room.things.map(({ id }) => id)])]));
    if (now !== shape) {
      shape = now;
      tiles = new Map(rows.map((row) => [row.id, deviceTile(row, { about, tapping })]));
      show(place, rows.length ? house.floors.map((floor) => floorPart(floor, tiles, house.floors.length > 1)) : card("", empty(text.empty)));
    } else {
      for (const row of rows) tiles.get(row.id).update(row);
    }
    for (const row of rows) inDialog(row);
    show(notice, house.notice && el("span", {}, house.notice));
    notice.hidden = !house.notice;
    finder.hidden = rows.length <= MANY;
    say(rest, house.hidden ? text.hidden(house.hidden) : "");
    narrow();
  }

  function narrow() {
    const asked = find.value.trim().toLowerCase().split(/\s+/);
    let left = 0;
    for (const { node, row } of tiles.values()) {
      const told = `${row().name} ${node.closest(".room")?.dataset.name ?? ""}`.toLowerCase();
      node.hidden = !asked.every((word) => told.includes(word));
      left += node.hidden ? 0 : 1;
    }
    for (const part of place.querySelectorAll(".room, .floor")) part.hidden = !part.querySelector(".device:not([hidden])");
    say(none, left || !tiles.size ? "" : text.none);
  }

  let looking = null; // the request that is under way
  let again = false;
  async function look() {
    if (looking) {
      again = true;
      return looking;
    }
    looking = fetchHouse();
    try {
      fill(await looking);
    } catch (error) {
      if (error.status === undefined && error.name !== "AbortError") throw error;
    } finally {
      looking = null;
    }
    if (again && !signal.aborted) {
      again = false;
      await look();
    }
  }

  fill(await fetchHouse());
  find.addEventListener("input", narrow);
  follow(signal, look);
  on("asking", () => tapped && toQuestion(), signal);
  return page(text.title, may("ask") ? text.lead : text.leadToLook, notice, finder, none, place, rest,
    may("admin") && toolMenu(signal));
}

function floorPart({ name, rooms }, tiles, named) {
  return el("div", { class: "floor stack" },
    named && (name || rooms.some((room) => room.name)) && el("p", { class: "eyebrow", dir: "auto" }, name ?? text.noFloor),
    rooms.map((room) => el("section", { class: "room", "data-name": room.name ?? "" },
      el("h2", { dir: "auto" }, room.name ?? text.noRoom),
      el("ul", { class: "devices" }, sorted(room.things).map(({ id }) => tiles.get(id).node)))));
}

/** First what can be used, then what only tells something. */
function sorted(things) {
  return [...things.filter(({ treatment }) => treatment), ...things.filter(({ treatment }) => !treatment)];
}

/** The question about a tap stands above the page, perhaps out of sight. */
function toQuestion() {
  const asking = document.querySelector(".asking");
  asking?.scrollIntoView({ block: "center" });
  asking?.querySelector("input, button")?.focus({ preventScroll: true });
}

/** Look whenever a state changes, as long as somebody can see it. */
function follow(signal, look) {
  let stream = null;
  function fit() {
    stream?.close();
    stream = null;
    if (document.hidden || signal.aborted) return;
    stream = new EventSource("v1/events?kind=house");
    stream.addEventListener("house", look);
  }
  const beat = setInterval(() => document.hidden || look(), AGAIN_MS);
  document.addEventListener("visibilitychange", () => {
    fit();
    if (!document.hidden) look();
  }, { signal });
  signal.addEventListener("abort", () => {
    clearInterval(beat);
    fit();
  });
  fit();
}
