// The level of the microphone, asked for while somebody looks.

import { get } from "./api.js";
import { on, tell } from "./bus.js";
import { el, say, styled } from "./dom.js";
import { decibels } from "./formats.js";
import { isAway } from "./live.js";
import { facts } from "./parts.js";
import { words } from "./words.js";

const EVERY_MS = 1_000;
const QUIETEST_DB = -70; // the left end of the meter; 0 dB is full scale
const WHISPER_DB = -62; // peaks below that are no room with a working microphone

/** Where a level stands on the meter, 0 to 1. */
export function shareOf(db) {
  return Math.min(1, Math.max(0, 1 - db / QUIETEST_DB));
}

/** Ask once a second until the signal ends it, and tell it as "level". */
export function watchLevel(signal) {
  async function look() {
    if (!document.hidden && !isAway()) {
      try {
        const level = await get("v1/level", { signal });
        tell("level", { ...level, share: typeof level.rms_db === "number" ? shareOf(level.rms_db) : 0 });
      } catch (error) {
        if (signal.aborted) return;
        if (error.status === undefined) throw error; // else the banner tells of it
      }
    }
    timer = setTimeout(look, EVERY_MS);
  }
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  look();
}

/** The meter with its figures. Fed by "level". */
export function meter(signal) {
  const fill = el("div", { class: "fill" });
  const peak = el("div", { class: "peak" });
  const bar = el("div", {
    class: "meter", role: "meter", "aria-label": words.level.meter,
    "aria-valuemin": QUIETEST_DB, "aria-valuemax": 0, "aria-valuenow": QUIETEST_DB,
  }, fill, peak);
  const figures = [el("span", {}, "–"), el("span", {}, "–"), el("span", {}, "–")];
  const verdict = el("p", { class: "hint" }, words.level.none);

  on("level", (level) => {
    const there = typeof level.rms_db === "number";
    styled(bar, { "--level": level.share, "--peak": there ? shareOf(level.peak_db) : 0 });
    bar.dataset.clipped = String(Boolean(level.clipped));
    bar.setAttribute("aria-valuenow", there ? Math.round(level.rms_db) : QUIETEST_DB);
    bar.setAttribute("aria-valuetext", there ? words.level.text(Math.round(level.rms_db)) : words.level.none);
    [level.rms_db, level.peak_db, level.noise_floor_db].forEach((db, at) => say(figures[at], decibels(db)));
    say(verdict, judged(level, there));
  }, signal);

  return el("div", { class: "level" }, bar,
    facts([[words.level.loudness, figures[0]], [words.level.peak, figures[1]], [words.level.floor, figures[2]]]),
    verdict);
}

function judged(level, there) {
  if (!there) return words.level.none;
  if (level.clipped) return words.level.clipped;
  return level.peak_db < WHISPER_DB ? words.level.quiet : words.level.fine;
}
