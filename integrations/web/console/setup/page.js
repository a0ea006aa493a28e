// The first run: one step after the other, each of which can be left, skipped and taken again. The
// box keeps the answers until the end; a page that is loaded again goes on where it was.

import { get, post } from "../api.js";
import { el, say, show, styled } from "../dom.js";
import { flame } from "../icons.js";
import { busy, button } from "../parts.js";
import { words } from "../words.js";
import { takeSignIn } from "./home.js";

const text = words.setup;
const MODULES = {
  "home-assistant": "home", room: "home", languages: "voice", voice: "voice", sound: "sound", wake: "sound",
  gemini: "brain", openers: "brain", finish: "end",
};
const PATIENCE_MS = 120_000; // Google, a key and a test of Live may take a minute

/** Show the first run in the body of the page until the signal ends it. */
export async function setupPage(signal, leave) {
  styles();
  const main = el("main", { id: "main", tabindex: "-1" });
  const trail = el("div", { class: "trail" });
  show(document.body,
    el("div", { class: "firstrun" },
      el("header", { class: "top" }, el("span", { class: "brand" }, flame(), el("span", {}, words.name))),
      trail, main),
    el("div", { id: "toasts", class: "toasts", role: "status" }));
  const run = new Run(signal, main, trail, leave);
  await run.begin();
}

function styles() {
  if (document.querySelector("link[href$='setup.css']")) return;
  document.head.append(el("link", { rel: "stylesheet", href: "console/styles/setup.css" }));
}

class Run {
  constructor(signal, main, trail, leave) {
    this.signal = signal;
    this.leave = leave; // goes on in the console
    this.main = main;
    this.trail = trail;
    this.state = null;
    this.at = "";
    this.shown = null; // ends the step that is shown
    this.heard = new EventTarget(); // levels and downloads
    this.trouble = el("p", { class: "problem", role: "alert" });
  }

  async begin() {
    this.signedIn = takeSignIn(); // Home Assistant's page has sent the browser back
    this.state = await get("v1/setup", { signal: this.signal });
    const stream = new EventSource("v1/setup/events");
    this.signal.addEventListener("abort", () => stream.close());
    for (const kind of ["level", "download"]) {
      stream.addEventListener(kind, (event) => {
        const data = JSON.parse(event.data);
        if (kind === "download") this.state.voice.download = data.file === undefined ? null : data;
        this.heard.dispatchEvent(new CustomEvent(kind, { detail: data }));
      });
    }
    const first = this.state.steps.find(({ state }) => state === "open") ?? this.state.steps.at(-1);
    await this.go(this.signedIn ? "home-assistant" : first.name);
  }

  /** Have the box take an answer. Throws ApiError. */
  async send(step, body, options = {}) {
    this.state = await post(`v1/setup/${step}`, body, { patience: PATIENCE_MS, ...options });
    return this.state;
  }

  async again() {
    this.state = await get("v1/setup", { signal: this.signal });
    return this.state;
  }

  on(kind, listener, signal) {
    this.heard.addEventListener(kind, (event) => listener(event.detail), { signal });
  }

  get names() {
    return this.state.steps.map(({ name }) => name);
  }

  async go(name) {
    this.shown?.abort();
    const ending = (this.shown = new AbortController());
    this.signal.addEventListener("abort", () => ending.abort(), { signal: ending.signal });
    this.at = name;
    const module = await import(`./${MODULES[name]}.js`);
    if (ending.signal.aborted) return;
    const step = module.steps[name](this, ending.signal);
    const [title, lead] = text.steps[name];
    show(this.main, el("form", { class: "card step", novalidate: true, on: { submit: (event) => this.submitted(event, step) } },
      el("header", { class: "head" }, el("h1", { tabindex: "-1" }, title), el("p", { class: "lead" }, lead)),
      step.content, this.trouble, this.buttons(name, step)));
    this.complain("");
    this.main.dataset.step = name;
    this.tellTrail();
    document.title = `${title} · ${words.name}`;
    window.scrollTo(0, 0);
    this.main.querySelector("h1").focus({ preventScroll: true });
  }

  buttons(name, step) {
    const place = this.names.indexOf(name);
    const before = place > 0 && button(text.back, () => this.go(this.names[place - 1]), { kind: "quiet" });
    const skip = step.skips !== false && button(text.skip, () => this.skip(name), { kind: "quiet" });
    const next = el("button", { type: "submit", class: "button primary" }, step.button ?? text.next);
    return el("div", { class: "ways" }, before, el("span", { class: "gap" }), skip, next);
  }

  async submitted(event, step) {
    event.preventDefault();
    const here = this.at;
    this.complain("");
    await busy(event.submitter ?? event.target.querySelector("[type=submit]"), async () => {
      const stays = (await this.tried(step.save)) === false;
      if (!stays && this.at === here) await this.next();
    });
  }

  /** Do it, and say in the step what went wrong; then the result is false. */
  async tried(act) {
    try {
      return await act();
    } catch (error) {
      if (error.status === undefined) throw error;
      this.complain(error.message);
      return false;
    }
  }

  /** Say in the step what is missing or wrong. Gives false, for a step that stays. */
  complain(sentence, control = null) {
    say(this.trouble, sentence);
    control?.focus();
    return false;
  }

  async skip(name) {
    await this.send("skip", { step: name });
    await this.next();
  }

  async next() {
    const place = this.names.indexOf(this.at);
    const name = this.names[place + 1];
    if (name) await this.go(name);
  }

  /** How far it is, and all steps to go to. */
  tellTrail() {
    const names = this.names;
    const place = names.indexOf(this.at);
    const bar = el("div", { class: "howfar", "aria-hidden": "true" }, el("div", {}));
    styled(bar, { "--part": (place + 1) / names.length });
    const rows = this.state.steps.map(({ name, state }) =>
      el("li", {}, button(text.steps[name][0], () => this.go(name), { kind: "quiet", sign: state === "done" ? "check" : "" })));
    [...rows].forEach((row, at) => at === place && row.firstChild.setAttribute("aria-current", "step"));
    show(this.trail, bar,
      el("details", {}, el("summary", {}, text.place(place + 1, names.length)),
        el("nav", { "aria-label": text.all }, el("ol", {}, rows))));
  }
}
