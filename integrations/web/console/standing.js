// One word, one sentence and one colour for how the box stands.

import { words } from "./words.js";

const TONES = {
  idle: "calm", waking: "awake", listening: "awake", follow_up: "awake", thinking: "busy",
  confirming: "asks", speaking: "speaks", fault: "bad",
};

const DEAF = new Set(["missing", "silent", "elsewhere"]); // as /v1/state tells of the microphone

/** `{name, tone, title, text}`. `standing`: as /v1/state tells it; null: not known yet. */
export function headline(standing, away) {
  if (away) return worded("away", "bad");
  if (!standing) return worded("unknown", "calm");
  const { state, muted, microphone } = standing;
  if (state === "idle" && (standing.home ?? "connected") !== "connected") return worded(standing.home, "bad");
  if (state === "idle" && muted) return worded("muted", "off");
  if (state === "idle" && DEAF.has(microphone)) return worded("deaf", "off");
  return worded(state in TONES ? state : "unknown", TONES[state] ?? "calm");
}

function worded(name, tone) {
  const [title, text] = words.states[name];
  return { name, tone, title, text };
}
