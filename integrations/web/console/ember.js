// The ember: one look says how it stands. Its glow follows the level of the microphone.

import { on } from "./bus.js";
import { el, say, styled } from "./dom.js";
import { flame, icon } from "./icons.js";
import { isAway, stands } from "./live.js";
import { headline } from "./standing.js";
import { words } from "./words.js";

/** The ember with its words; it follows the events until the signal ends it. */
export function ember(signal) {
  const core = el("div", { class: "ember", "aria-hidden": "true" },
    el("div", { class: "ring far" }), el("div", { class: "ring near" }),
    el("div", { class: "core" }, flame(), icon("muted")));
  const title = el("p", { class: "state" });
  const text = el("p", { class: "hint" });
  const said = el("p", { class: "said" }); // what is being said, by either

  function tell() {
    const standing = stands();
    const line = headline(standing, isAway());
    core.dataset.tone = line.tone;
    say(title, line.title);
    const word = standing?.settings?.wake_word?.value;
    say(text, line.name === "idle" && word && standing.microphone === "listening" ? words.stateWords(spoken(word)) : line.text);
  }
  on("standing away back", tell, signal);
  on("heard", ({ heard }) => say(said, heard ? words.now.heard(heard) : ""), signal);
  on("answer", ({ answer }) => answer && say(said, words.now.answered(answer)), signal);
  on("level", ({ share }) => styled(core, { "--level": share.toFixed(2) }), signal);
  tell();
  return el("div", { class: "hero" }, core, el("div", { class: "says", role: "status" }, title, text, said));
}

/** "okay_nabu" as it is said. */
function spoken(word) {
  return word.replaceAll("_", " ").replaceAll(",", ", ").replaceAll(/ +/g, " ");
}
