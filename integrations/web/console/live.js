// How the box stands, as it changes. Says when it is away, and when it is back.

import { ApiError, get, learnSession } from "./api.js";
import { tell, on } from "./bus.js";

const KINDS = (
  "state wake heard tool_call answer confirmation question timer announcement fault command button"
).split(" ");
const GRACE_MS = 1_500; // a stream that breaks and comes back at once is nothing to tell of
const BEAT_MS = 25_000; // a box that is gone without a word is noticed after so long
const BEAT_PATIENCE_MS = 8_000;
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000]; // before the next attempt

let standing = null;
let stream = null;
let away = false;
let failures = 0;
let graceTimer = 0;
let againTimer = 0;
let beatTimer = 0;

/** Return the device's last known state; null before the first. */
export function stands() {
  return standing;
}

/** Whether it does not answer. */
export function isAway() {
  return away;
}

/** Listen from now on. */
export function begin() {
  end();
  open();
  beatTimer = setInterval(beat, BEAT_MS);
}

/** Listen no more. */
export function end() {
  clearTimeout(graceTimer);
  clearTimeout(againTimer);
  clearInterval(beatTimer);
  graceTimer = 0;
  stream?.close();
  stream = null;
  away = false;
}

/** Look how it stands now, all of it. */
export async function refresh() {
  take(await get("v1/state", { patience: BEAT_PATIENCE_MS }));
}

function open() {
  stream = new EventSource("v1/events");
  stream.onopen = opened;
  stream.onerror = broken;
  for (const kind of KINDS) {
    stream.addEventListener(kind, (event) => {
      const data = JSON.parse(event.data);
      if (kind === "state") take(data);
      else tell(kind, data);
    });
  }
}

function take(state) {
  standing = { ...standing, ...state };
  tell("standing", standing);
}

function opened() {
  clearTimeout(graceTimer);
  graceTimer = 0;
  failures = 0;
  refresh().catch(ignored);
  if (!away) return;
  away = false;
  tell("back");
}

function broken() {
  graceTimer ||= setTimeout(goAway, away ? 0 : GRACE_MS);
  // A browser tries again by itself, but not after an answer that was no stream.
  if (stream.readyState === EventSource.CLOSED) tryAgain();
}

function tryAgain() {
  stream?.close();
  const wait = WAITS_MS[Math.min(failures, WAITS_MS.length - 1)];
  failures += 1;
  clearTimeout(againTimer);
  againTimer = setTimeout(async () => {
    try {
      await learnSession();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) tell("signed-out");
      else tryAgain();
      return;
    }
    open();
  }, wait);
}

function goAway() {
  if (away) return;
  away = true;
  tell("away");
}

async function beat() {
  if (document.hidden || away) return;
  try {
    await refresh();
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) {
      goAway();
      tryAgain();
    }
  }
}

/** Ignore failed requests in the background; the banner reports them. */
function ignored(error) {
  if (!(error instanceof ApiError)) throw error;
}

on("unreachable", () => {
  if (stream && stream.readyState !== EventSource.OPEN) goAway();
});
