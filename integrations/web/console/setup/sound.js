// The microphone and the loudspeaker, and the word that wakes.

import { el, show } from "../dom.js";
import { busy, button, choice, field, toast } from "../parts.js";
import { words } from "../words.js";
import { cards, findings, listening, waiting } from "./pieces.js";

const text = words.setup;

function sound(run, signal) {
  const place = el("div", { class: "stack tight" });
  let picks = null;

  const keep = async () => {
    if (picks?.input.value && picks?.output.value) {
      await run.send("sound", { input: picks.input.value, output: picks.output.value }, { signal });
    }
  };
  const word = () => run.state.wake.words.find(({ name }) => name === run.state.wake.word)?.said ?? run.state.wake.word;
  const test = listening(run, signal, keep, word);

  async function look() {
    show(place, waiting(text.sound.looking));
    try {
      await run.send("sound", { look: true }, { signal });
    } finally {
      if (!signal.aborted) fill();
    }
  }

  function fill() {
    const { input, output, findings: found } = run.state.sound;
    const again = button(text.sound.again, look, { kind: "quiet", sign: "search" });
    if (!input.length || !output.length) {
      show(place, findings([{ tone: "warn", text: input.length ? text.sound.noSpeaker : text.sound.noMicrophone }]), again);
      return;
    }
    picks = { input: picked(input), output: picked(output) };
    show(place,
      el("div", { class: "pair" }, field(text.sound.speaker, picks.output), button(text.sound.play, play)),
      el("div", { class: "pair" }, field(text.sound.microphone, picks.input), button(text.sound.listen, test.listen, { sign: "microphone" })),
      el("p", { class: "hint" }, text.sound.hint(word())), test.place, found.length > 0 && !test.place.querySelector(".findings") && findings(found), again);
  }

  async function play() {
    await keep();
    await run.send("sound", { play: true }, { signal });
    toast(text.sound.played);
  }

  if (run.state.sound.looked) fill();
  else busy(place, look);
  return { content: place, save: keep };
}

function picked(devices) {
  const used = devices.find((one) => one.used) ?? devices[0];
  const names = devices.map(({ name, label, muted }) => [name, muted ? text.sound.muted(label) : label]);
  return choice(Object.fromEntries(names), used.name);
}

function wake(run, signal) {
  const { word, words: known, sensitivity, sensitivities } = run.state.wake;
  const choices = cards(text.wake.which, known.map(({ name, said }) => ({ value: name, title: `“${said}”` })), word);
  choices.place.classList.add("small");
  const names = Object.fromEntries(sensitivities.map((name) => [name, words.settings.sensitivities[name] ?? name]));
  const select = choice(names, sensitivity);
  const keep = () => run.send("wake", { word: choices.value, sensitivity: select.value }, { signal });
  const said = () => known.find(({ name }) => name === choices.value)?.said ?? choices.value;
  const test = listening(run, signal, keep, said);
  return {
    content: [choices.place, field(words.settings.sensitivity, select, text.wake.sensitivityHint),
      button(text.wake.test, test.listen, { sign: "microphone" }), test.place],
    save: keep,
  };
}

export const steps = { sound, wake };
