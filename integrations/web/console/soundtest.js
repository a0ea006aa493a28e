// The sound test: how loud the microphone is, whether the wake word is heard, and how the voice sounds.

import { may, post } from "./api.js";
import { on } from "./bus.js";
import { el, say } from "./dom.js";
import { percent } from "./formats.js";
import { meter, watchLevel } from "./level.js";
import { button, card, choice, field } from "./parts.js";
import { language, locale, words } from "./words.js";

const text = words.soundTest;

// What the voice says, in its own language.
const SAMPLES = {
  en: "Hello! This is how I sound.",
  es: "¡Hola! Así suena mi voz.",
  pt: "Olá! É assim que eu falo.",
  de: "Hallo! So klingt meine Stimme.",
  fr: "Bonjour ! Voici ma voix.",
  vi: "Xin chào! Giọng nói của tôi như thế này.",
};

/** The card. `state`: as /v1/state tells it. */
export function soundTest(state, signal) {
  watchLevel(signal);
  return card(text.title,
    el("p", { class: "hint" }, text.lead),
    meter(signal),
    wakeWord(state, signal),
    may("speak") && voice(state, signal));
}

function wakeWord(state, signal) {
  const word = state.settings?.wake_word?.value?.replaceAll("_", " ") ?? "";
  const heard = el("p", { class: "wakeheard", role: "status" }, text.wakeNotYet);
  on("wake", ({ word: said, score }) => {
    if (typeof score !== "number") return; // a button was pressed
    say(heard, text.wakeHeard(said.replaceAll("_", " "), percent(score)));
    heard.dataset.heard = "true";
  }, signal);
  return el("div", { class: "stack tight" }, el("p", { class: "grouphead" }, text.wake(word)), heard);
}

function voice(state, signal) {
  const codes = (state.languages ?? []).filter((code) => code.split("-")[0] in SAMPLES);
  const names = new Intl.DisplayNames(locale, { type: "language" });
  const named = Object.fromEntries(codes.map((code) => [code, names.of(code)]));
  const told = el("p", { class: "hint", role: "status" });
  const control = choice(named, codes.find((code) => code.split("-")[0] === language) ?? codes[0]);
  const ended = new Map(); // what became of announcements: a short one ends before its id is here
  let id = "";
  function tell() {
    if (ended.has(id)) say(told, ended.get(id) === "said" ? text.played : text.notPlayed);
  }
  async function play() {
    const code = control.value;
    ended.clear();
    say(told, text.playing);
    ({ id } = await post("v1/announce", {
      text: SAMPLES[code.split("-")[0]], language: code, preannounce: false, priority: "high", expire_s: 30,
    }));
    tell();
  }
  on("announcement", ({ id: told_of, what }) => {
    if (what !== "waits") ended.set(told_of, what);
    tell();
  }, signal);
  return el("div", { class: "stack tight" },
    codes.length > 1 && field(text.language, control),
    el("div", { class: "row" }, button(text.play, play, { sign: "play" })), told);
}
