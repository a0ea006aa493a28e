// What is around every view: the name, how it stands, the pages, and who is signed in.

import { may, post, signOut, who } from "./api.js";
import { on } from "./bus.js";
import { confirmations } from "./confirmations.js";
import { el, say, show } from "./dom.js";
import { homeBanner } from "./homebanner.js";
import { flame, icon } from "./icons.js";
import { isAway, stands } from "./live.js";
import { button, languages, toast } from "./parts.js";
import { ringing } from "./ringing.js";
import { again, link } from "./router.js";
import { headline } from "./standing.js";
import { words } from "./words.js";

const PAGES = ["now", "speak", "house", "timers", "turns", "memory", "costs", "health", "settings"];
const FOR_ALL = ["now", "speak", "house", "timers"]; // the others need the scope `read`
const FIRST = 4; // so many have a place of their own on a phone

/** The body of the page, its main part, the names of the views, and who marks the view shown. */
export function shell(signal) {
  const main = el("main", { id: "main", tabindex: "-1" });
  const pages = may("read") ? PAGES : FOR_ALL;
  const { nav, mark } = navigation(signal, pages);
  const body = [
    el("a", { class: "skip", href: "#main", on: { click: (event) => skip(event, main) } }, words.shell.skip),
    el("div", { class: "shell" }, top(signal), nav, el("div", { class: "middle" }, banner(signal), homeBanner(signal), ringing(signal), confirmations(signal), main)),
    el("div", { id: "toasts", class: "toasts", role: "status" }),
  ];
  return { body, main, mark, views: pages === PAGES ? [...PAGES, "turn", "first"] : pages };
}

function skip(event, main) {
  event.preventDefault(); // the part after "#" says which view is shown
  main.focus();
}

function top(signal) {
  const pill = el("span", { class: "pill" });
  const mute = button(words.shell.mute, toggleMute, { kind: "quiet", sign: "microphone" });
  function tell() {
    const standing = stands();
    const { tone, title } = headline(standing, isAway());
    pill.dataset.tone = tone;
    say(pill, title);
    const muted = Boolean(standing?.muted);
    mute.setAttribute("aria-label", muted ? words.shell.unmuteLong : words.shell.muteLong);
    mute.hidden = !may(muted ? "admin" : "speak");
    if (mute.dataset.muted !== String(muted)) {
      mute.dataset.muted = String(muted);
      show(mute, icon(muted ? "muted" : "microphone"), el("span", {}, muted ? words.shell.unmute : words.shell.mute));
    }
  }
  on("standing away back", tell, signal);
  tell();
  return el("header", { class: "top" },
    el("a", { class: "brand", href: link("now") }, flame(), el("span", {}, words.name)), pill, mute);
}

async function toggleMute() {
  await post("v1/mute", { muted: !stands()?.muted });
}

function navigation(signal, pages) {
  const items = pages.map((name, place) =>
    el("li", { class: place < FIRST ? "first" : "later" },
      el("a", { href: link(name), "data-page": name }, icon(name), el("span", {}, words[name].title))));
  const more = el("button", { type: "button", class: "more", "aria-expanded": "false", "aria-controls": "pages" },
    icon("more"), el("span", {}, words.shell.more));
  const nav = el("nav", { class: "pages", "aria-label": words.shell.pages },
    el("ul", { id: "pages" }, items, pages.length > FIRST && el("li", { class: "opener" }, more)), footer(signal));

  function unfold(open) {
    nav.classList.toggle("open", open);
    more.setAttribute("aria-expanded", String(open));
  }
  more.addEventListener("click", () => unfold(!nav.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !nav.classList.contains("open")) return;
    unfold(false);
    more.focus();
  }, { signal });
  document.addEventListener("click", (event) => {
    if (!nav.contains(event.target)) unfold(false);
  }, { signal });

  function mark(name) {
    unfold(false);
    const page = name === "turn" ? "turns" : name;
    for (const each of nav.querySelectorAll("a[data-page]")) {
      if (each.dataset.page === page) each.setAttribute("aria-current", "page");
      else each.removeAttribute("aria-current");
    }
    more.classList.toggle("current", !items.some((item) => item.matches(".first") && item.querySelector("[aria-current]")));
  }
  return { nav, mark };
}

function footer(signal) {
  const version = el("p", {});
  on("standing", ({ version: number }) => number && say(version, words.shell.version(number)), signal);
  const name = words.people.signedIn[who()?.name] ?? who()?.name ?? "";
  return el("div", { class: "foot" },
    el("p", {}, words.shell.signedIn(name)), version, languages(),
    button(words.shell.signOut, signOut, { kind: "quiet", sign: "leave" }));
}

function banner(signal) {
  const place = el("div", { class: "banner", role: "status" });
  on("away", () => {
    place.classList.add("on");
    show(place, icon("warn"), el("span", {}, words.away.banner));
  }, signal);
  on("back", async () => {
    place.classList.remove("on");
    show(place);
    toast(words.away.back, "good");
    await again();
  }, signal);
  return place;
}
