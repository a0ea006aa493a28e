// Home Assistant: where it is, who signs in, and the room of the box.

import { el, show } from "../dom.js";
import { busy, button, field } from "../parts.js";
import { words } from "../words.js";
import { cards, findings, waiting } from "./pieces.js";

const text = words.setup;
const KEPT_AS = "hearth-sign-in"; // while Home Assistant's own page is shown
const OTHER = "other";
const DEMO = "demo";

/** What Home Assistant's page has sent along, once: `{url, code}`; null: nothing. The code leaves the
 * address at once. */
export function takeSignIn() {
  const asked = new URLSearchParams(location.search);
  const code = asked.get("code");
  if (!code) return null;
  history.replaceState(null, "", location.pathname);
  const kept = JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "null");
  sessionStorage.removeItem(KEPT_AS);
  return kept && kept.state === asked.get("state") ? { url: kept.url, code } : null;
}

function ownAddress() {
  return location.origin + location.pathname;
}

/** Go to Home Assistant's page, which sends the browser back here with a code. */
function goSignIn(url) {
  const state = crypto.getRandomValues(new Uint32Array(4)).join("-");
  sessionStorage.setItem(KEPT_AS, JSON.stringify({ state, url }));
  const asked = new URLSearchParams({ response_type: "code", client_id: ownAddress(), redirect_uri: ownAddress(), state });
  location.assign(`${url.replace(/\/$/, "")}/auth/authorize?${asked}`);
}

function home(run, signal) {
  const place = el("div", { class: "stack tight" });
  const shown = { save: null };
  const tell = () => {
    const { home: told } = run.state;
    const done = run.state.steps[0].state === "done";
    if (done) shown.save = connected(run, place, () => address(run, place, shown, signal, tell));
    else if (told.reached) token(run, place, shown, signal, tell);
    else address(run, place, shown, signal, tell);
  };
  if (run.signedIn) signedIn(run, place, tell);
  else tell();
  return { content: place, save: () => shown.save?.() ?? false };
}

async function signedIn(run, place, tell) {
  const { url, code } = run.signedIn;
  run.signedIn = null; // a code works once
  show(place, waiting(text.home.signingIn));
  await run.tried(() => run.send("home-assistant", { url, code, page: ownAddress() }));
  if (run.state.steps[0].state === "done") return run.next();
  return tell();
}

function connected(run, place, change) {
  const { name, version, url, demo } = run.state.home;
  const told = demo ? text.home.demoReady : text.home.connected(name || url, version);
  show(place, findings([{ tone: "good", text: told }]), button(text.home.change, change, { kind: "quiet" }));
  return () => true;
}

function address(run, place, shown, signal, tell) {
  const { home: told } = run.state;
  const typed = el("input", { type: "text", inputmode: "url", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    value: told.demo || told.reached || told.homes?.length ? "" : told.url });
  const own = field(text.home.address, typed, text.home.addressHint);
  const list = el("div", { class: "stack tight" });
  let choice = null;

  function fill() {
    const homes = run.state.home.homes ?? [];
    const rows = [
      ...homes.map(({ name, url, version }) => ({ value: url, title: name || url, hint: [url, version].filter(Boolean).join(" · ") })),
      { value: OTHER, title: text.home.other, hint: homes.length ? "" : text.home.noneFound },
      { value: DEMO, title: text.home.demo, hint: text.home.demoHint },
    ];
    const fit = (value) => { own.hidden = value !== OTHER; };
    const first = homes[0]?.url ?? OTHER;
    choice = cards(text.home.which, rows, first, fit);
    fit(first);
    show(list, choice.place, own, button(text.home.search, search, { kind: "quiet", sign: "search" }));
  }

  async function search() {
    show(list, waiting(text.home.searching));
    try {
      await run.send("home-assistant", { search: true }, { signal });
    } finally {
      if (!signal.aborted) fill();
    }
  }

  shown.save = async () => {
    if (!choice) return false;
    const url = choice.value === OTHER ? typed.value.trim() : choice.value;
    if (!url) return run.complain(text.home.needAddress, typed);
    await run.send("home-assistant", { url }, { signal });
    if (run.state.steps[0].state === "done" && !run.state.home.reached) return true;
    tell();
    return false;
  };
  show(place, list);
  if (told.homes === null) busy(list, search);
  else fill();
}

function token(run, place, shown, signal, tell) {
  const { url } = run.state.home;
  const typed = el("input", { type: "password", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const framed = window.top !== window.self; // Home Assistant's page can't be shown in a frame of another
  const sign = !framed && button(text.home.signIn, () => goSignIn(url), { kind: "primary", sign: "lock" });
  const byToken = el("details", { open: framed }, el("summary", {}, text.home.useToken),
    field(text.home.token, typed, text.home.tokenHint));
  shown.save = async () => {
    const given = typed.value.trim();
    if (!given) {
      if (framed || byToken.open) return run.complain(text.home.needToken, typed);
      goSignIn(url);
      return false;
    }
    typed.value = "";
    await run.send("home-assistant", { url, token: given }, { signal });
    tell();
    return run.state.steps[0].state === "done";
  };
  show(place, findings([{ tone: "good", text: text.home.answers(url) }]),
    !framed && el("p", {}, text.home.signInLead), sign, byToken,
    button(text.home.change, () => address(run, place, shown, signal, tell), { kind: "quiet" }));
}

function room(run) {
  const { rooms, value, unread } = run.state.room;
  if (!rooms.length) {
    const typed = el("input", { type: "text", value, maxlength: 100 });
    const why = unread && findings([{ tone: "warn", text: text.room.unread }]);
    return { content: [why, field(text.room.name, typed, text.room.noRooms)], save: () => run.send("room", { room: typed.value.trim() }) };
  }
  const rows = [...rooms.map((name) => ({ value: name, title: name })), { value: "", title: text.room.none }];
  const choice = cards(text.room.which, rows, value);
  choice.place.classList.add("small");
  return { content: choice.place, save: () => run.send("room", { room: choice.value }) };
}

export const steps = { "home-assistant": home, room };
