// Talk to the house from this browser: one large button, and what is said in large letters. As a
// face for the wall it fills the screen, with a clock while nobody talks.

import { askBox } from "../askbox.js";
import { may } from "../api.js";
import { el, say, show } from "../dom.js";
import { locale, words } from "../words.js";
import { icon } from "../icons.js";
import { button, choice, field } from "../parts.js";
import { hindrance } from "../voice/ear.js";
import { Talk } from "../voice/talk.js";

const HELD_MS = 400; // a shorter press is a tap: the sentence then ends by itself
const KEPT_MS = 12_000; // on the wall, what was said makes room for the clock
const STYLE = "console/styles/speak.css";
const text = words.speak;

/** The view. */
export async function open({ signal }) {
  await styled();
  const hindered = hindrance();
  const body = hindered ? [why(hindered)] : talking(signal);
  return el("section", { class: "view speak" },
    el("h1", { class: "unseen", tabindex: "-1" }, text.title), body, askBox());
}

/** The style sheet of this view, fetched when it is first opened. */
function styled() {
  if (document.querySelector(`link[href="${STYLE}"]`)) return null;
  const sheet = el("link", { rel: "stylesheet", href: STYLE });
  document.head.append(sheet);
  return new Promise((resolve) => {
    sheet.onload = sheet.onerror = resolve;
  });
}

function why(hindered) {
  return el("section", { class: "card" },
    el("h2", {}, text.noMicrophone),
    text.hindrances[hindered].map((line) => el("p", {}, line)),
    el("p", { class: "hint" }, text.seeDocs));
}

function talking(signal) {
  const face = el("section", { class: "card face", "data-state": "idle" });
  const heard = el("p", { class: "heard", dir: "auto" });
  const answer = el("p", { class: "answered", dir: "auto" });
  const title = el("p", { class: "state", role: "status" });
  const trouble = el("p", { class: "trouble", role: "alert" });
  let later = 0;

  const tell = (state) => {
    face.dataset.state = state;
    say(title, text.states[state] ?? "");
    main.setAttribute("aria-pressed", String(["starting", "waking", "listening", "follow_up"].includes(state)));
    main.setAttribute("aria-label", text.buttons[state] ?? text.buttons.idle);
    stop.hidden = ["idle", "starting"].includes(state);
    clearTimeout(later);
    if (state === "idle") later = setTimeout(() => face.classList.remove("said"), KEPT_MS);
    if (["starting", "waking"].includes(state)) {
      show(heard);
      show(answer);
      say(trouble, "");
    }
  };
  const complain = (kind, sentence = "") => say(trouble, text.troubles[kind] ?? (sentence || text.troubles.other));
  const write = (place, line) => {
    say(place, line);
    face.classList.toggle("said", Boolean(line) || face.classList.contains("said"));
  };
  const talk = new Talk({
    state: tell,
    heard: (line) => write(heard, line && words.now.heard(line)),
    answer: (line) => {
      write(answer, line);
      face.dataset.played = String(talk.played);
    },
    done: (turn) => {
      if (turn.error) complain(turn.error.kind, turn.error.message);
      face.dataset.played = String(talk.played); // for code that waits for it
      face.dataset.turns = String(Number(face.dataset.turns ?? 0) + 1);
    },
    trouble: complain,
    up: (up) => {
      main.setAttribute("aria-disabled", String(!up));
      say(trouble, up ? "" : text.troubles.away);
    },
  });
  const main = el("button", { type: "button", class: "talk-button" }, icon("microphone"));
  const stop = button(words.now.stop, async () => talk.stop(), { sign: "stop" });
  follow(main, talk);
  signal.addEventListener("abort", () => {
    clearTimeout(later);
    talk.close();
  });
  tell("idle");
  show(face, clock(signal), title, main, el("div", { class: "row center" }, stop), heard, answer, trouble,
    el("div", { class: "row center foot-of-face" }, where(talk), wall(signal)));
  return [face];
}

/** Press and hold, or tap. A press while it listens ends the sentence. */
function follow(main, talk) {
  let since = 0; // when the press began that began to listen; 0 for none
  const begin = () => {
    if (["waking", "listening"].includes(talk.state)) {
      talk.release();
    } else {
      since = performance.now();
      talk.press();
    }
  };
  const end = () => {
    if (since && performance.now() - since >= HELD_MS && talk.state !== "starting") talk.release();
    since = 0;
  };
  main.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    main.setPointerCapture(event.pointerId);
    begin();
  });
  main.addEventListener("pointerup", end);
  main.addEventListener("pointercancel", end);
  main.addEventListener("contextmenu", (event) => event.preventDefault()); // of a long press
  main.addEventListener("keydown", (event) => {
    if (![" ", "Enter"].includes(event.key)) return;
    event.preventDefault();
    if (!event.repeat) begin();
  });
  main.addEventListener("keyup", (event) => [" ", "Enter"].includes(event.key) && end());
  main.addEventListener("click", (event) => {
    if (event.detail === 0 && !event.pointerType) begin(); // of a screen reader
  });
}

function where(talk) {
  const places = { page: text.answers.page, none: text.answers.none };
  if (may("speak")) places.box = text.answers.box;
  const made = choice(places, talk.answer, {});
  made.addEventListener("change", () => {
    talk.answer = made.value;
  });
  return field(text.answersWhere, made);
}

/** The button that makes it the face of a wall tablet, and ends that. */
function wall(signal) {
  let awake = null; // keeps the screen on
  const made = button(text.wall, async () => turn(!document.body.classList.contains("wall")), { kind: "quiet" });
  async function turn(on) {
    document.body.classList.toggle("wall", on);
    say(made.lastChild, on ? text.wallEnd : text.wall);
    awake?.release().catch(() => {});
    awake = null;
    if (!on) return document.fullscreenElement && document.exitFullscreen();
    awake = await navigator.wakeLock?.request("screen").catch(() => null);
    return document.documentElement.requestFullscreen?.().catch(() => {}); // phones may have none
  }
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && document.body.classList.contains("wall")) turn(false);
  }, { signal });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.classList.contains("wall")) turn(false);
  }, { signal });
  signal.addEventListener("abort", () => turn(false));
  return made;
}

function clock(signal) {
  const time = el("time", { class: "clock", "aria-hidden": "true" });
  const tick = () => say(time, new Date().toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" }));
  const timer = setInterval(tick, 1_000);
  signal.addEventListener("abort", () => clearInterval(timer));
  tick();
  return time;
}
