// The end: what was chosen, the yes to it, and the way into the console.

import { get } from "../api.js";
import { el, show } from "../dom.js";
import { facts } from "../parts.js";
import { locale, words } from "../words.js";
import { findings, waiting } from "./pieces.js";

const text = words.setup;
const LOOKS_MS = 1_000;
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

function finish(run, signal) {
  const { home, room, languages, voice, wake, gemini, console: isOpen } = run.state;
  const names = new Intl.DisplayNames([locale], { type: "language" });
  const opened = el("input", { type: "checkbox", role: "switch", class: "switch", checked: isOpen || !LOCAL.includes(location.hostname) });
  const place = el("div", { class: "stack tight" },
    facts([
      [text.steps["home-assistant"][0], home.demo ? text.home.demo : home.name || (home.has_token ? home.url : text.end.missing)],
      [text.steps.room[0], room.value || text.end.none],
      [text.steps.languages[0], languages.map((code) => names.of(code) ?? code).join(", ")],
      [text.steps.voice[0], voice.engine === "espeak" ? text.voice.light : text.voice.natural],
      [text.steps.wake[0], wake.words.find(({ name }) => name === wake.word)?.said ?? wake.word],
      [text.steps.gemini[0], gemini.accepted ? text.gemini.cloud : text.gemini.home],
    ]),
    el("label", { class: "choice" }, opened,
      el("span", { class: "what" }, el("span", { class: "heard" }, text.end.console), el("span", { class: "hint" }, text.end.consoleHint))));

  async function save() {
    await run.send("finish", { open_console: opened.checked }, { signal });
    const main = run.main;
    const next = el("div", { class: "stack tight", role: "status" }, waiting(text.end.starting));
    show(main, el("section", { class: "card step" },
      el("header", { class: "head" }, el("h1", { tabindex: "-1" }, text.end.written)), findings(run.state.end), next));
    show(run.trail);
    main.querySelector("h1").focus();
    goOn(run, next);
    return false;
  }
  return { content: place, save, skips: false, button: text.end.finish };
}

/** Wait until Hearth runs with the new settings, and go on there. */
async function goOn(run, place) {
  let told = {};
  while (told.port === undefined) {
    await later();
    if (run.signal.aborted) return;
    try {
      told = (await get("v1/setup", { quiet: true })).next;
    } catch (error) {
      if (error.status === undefined) throw error;
      told = { port: Number(location.port || 80), scheme: location.protocol.slice(0, -1), open: true, todo: "" };
    }
  }
  if (told.todo) {
    show(place, findings([{ tone: "warn", text: told.todo }]), waiting(text.end.waiting));
  }
  if (!told.open && !LOCAL.includes(location.hostname)) {
    show(place, el("p", {}, text.end.closed));
    return;
  }
  const there = `${told.scheme}://${location.hostname}:${told.port}${location.pathname}#/first`;
  if (new URL(there).origin !== location.origin) {
    if (told.todo) show(place, findings([{ tone: "warn", text: told.todo }]), el("a", { class: "button primary", href: there }, text.end.open));
    else location.assign(there);
    return;
  }
  while (!(await runs())) {
    await later();
    if (run.signal.aborted) return;
  }
  history.replaceState(null, "", "#/first");
  run.leave();
}

async function runs() {
  try {
    return !(await get("v1/session", { quiet: true })).setting_up;
  } catch (error) {
    if (error.status === undefined) throw error;
    return error.status === 401;
  }
}

function later() {
  return new Promise((resolve) => { setTimeout(resolve, LOOKS_MS); });
}

export const steps = { finish };
