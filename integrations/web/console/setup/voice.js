// The languages that are spoken at home, and the voice that answers in each.

import { el, show } from "../dom.js";
import { button, choice, field, toast } from "../parts.js";
import { locale, words } from "../words.js";
import { cards, findings } from "./pieces.js";

const text = words.setup;
const SPOKEN = ["en", "es", "de", "fr", "pt", "vi"]; // languages in which Hearth itself speaks
const SEES_MS = 400;

function nameOf(code) {
  return new Intl.DisplayNames([locale], { type: "language" }).of(code) ?? code;
}

function languages(run) {
  const now = run.state.languages;
  const known = [...new Set([...now, ...SPOKEN])];
  const first = choice(Object.fromEntries(known.map((code) => [code, nameOf(code)])), now[0]);
  const others = known.map((code) =>
    [code, el("input", { type: "checkbox", checked: now.slice(1).includes(code) })]);
  const rows = others.map(([code, box]) => el("label", { class: "choice" }, box, el("span", {}, nameOf(code))));
  const fit = () => rows.forEach((row, at) => { row.hidden = others[at][0] === first.value; });
  first.addEventListener("change", fit);
  fit();
  const save = () => {
    const more = others.filter(([code, box]) => box.checked && code !== first.value).map(([code]) => code);
    return run.send("languages", { languages: [first.value, ...more] });
  };
  return {
    content: [field(text.languages.first, first),
      el("fieldset", { class: "cards small" }, el("legend", {}, text.languages.others), rows)],
    save,
  };
}

function voice(run, signal) {
  const { engine, voices, chosen } = run.state.voice;
  const selects = Object.entries(voices).filter(([, rows]) => rows.length).map(([code, rows]) => {
    const options = Object.fromEntries(rows.map((row) => [row.name, row.there ? pretty(row) : text.voice.size(pretty(row), row.mb)]));
    return [code, choice(options, chosen[code] in options ? chosen[code] : rows[0].name)];
  });
  const progress = el("div", { class: "stack tight", role: "status" });
  const fields = el("div", { class: "stack tight" }, selects.map(([code, select]) =>
    el("div", { class: "pair" }, field(nameOf(code), select), button(text.voice.hear, () => hear(code), { label: text.voice.hearLong(nameOf(code)) }))));
  const kinds = cards(text.voice.kind, [
    { value: "piper", title: text.voice.natural, hint: text.voice.naturalHint },
    { value: "espeak", title: text.voice.light, hint: text.voice.lightHint },
  ], engine, fit);

  function fit() {
    fields.hidden = kinds.value === "espeak";
  }

  function tell() {
    const now = run.state.voice.download;
    if (now) show(progress, el("p", {}, text.voice.downloading), el("progress", { max: 100, value: now.percent, "aria-label": text.voice.downloading }));
    else show(progress, run.state.voice.problem && findings([{ tone: "warn", text: run.state.voice.problem }]));
  }

  const keep = () => run.send("voice", {
    engine: kinds.value,
    voices: kinds.value === "piper" ? Object.fromEntries(selects.map(([code, select]) => [code, select.value])) : {},
  }, { signal });

  async function hear(code) {
    await keep();
    tell();
    await downloaded();
    await run.send("sound", { play: true, language: code }, { signal });
    toast(text.sound.played);
  }

  async function downloaded() {
    while (run.state.voice.download) {
      await new Promise((resolve) => { setTimeout(resolve, SEES_MS); });
      signal.throwIfAborted();
      await run.again();
      tell();
    }
  }

  run.on("download", tell, signal);
  fit();
  tell();
  return { content: [kinds.place, fields, progress], save: keep };
}

/** "es_ES-davefx-medium" is the voice Davefx. */
function pretty({ name, region, quality }) {
  const own = name.split("-")[1] ?? name;
  return `${own.charAt(0).toUpperCase()}${own.slice(1).replaceAll("_", " ")} (${region.replace("_", "-")}, ${quality.replace("_", " ")})`;
}

export const steps = { languages, voice };
