// Begins: learns who is there, and shows either the sign-in or the pages.

import { ApiError, learnSession, signIn, who } from "./api.js";
import { on } from "./bus.js";
import { show, el } from "./dom.js";
import { install } from "./installed.js";
import * as live from "./live.js";
import * as router from "./router.js";
import { shell } from "./shell.js";
import { words } from "./words.js";

const LINK = "#code="; // what the address of a one-time link ends with, before its code

let ending = null; // ends what is shown now
let starts = 0; // a later one counts: a link may be opened while another beginning waits
let code = ""; // of a link, until the box has said yes or no to it

async function start() {
  const mine = ++starts;
  code = takenCode() || code;
  const given = code;
  try {
    await (given ? signIn({ code: given }) : learnSession());
  } catch (error) {
    if (mine !== starts) return null;
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 0 || error.status >= 500) return wait(error.message);
    code = "";
    return showSignIn(given ? words.signIn.badCode : "");
  }
  if (mine !== starts) return null;
  code = "";
  return showPages();
}

/** A box that is being set up has other pages: those of the first run. */
async function showSetup() {
  const signal = begin();
  const { setupPage } = await import("./setup/page.js");
  return setupPage(signal, start);
}

/** A link that is opened in a tab that shows the console already changes the part after "#" alone. */
function followLink(event) {
  if (!location.hash.startsWith(LINK)) return;
  event.stopImmediatePropagation(); // it is no view
  start();
}

/** The code of a one-time link. It leaves the address at once, so that no history keeps it. One that
 * is cut in the middle of a sign is none that the box takes, and it says so. */
function takenCode() {
  if (!location.hash.startsWith(LINK)) return "";
  const found = location.hash.slice(LINK.length);
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}

function showPages() {
  if (who().setting_up) return showSetup();
  const signal = begin();
  const { body, main, views, mark } = shell(signal);
  show(document.body, body);
  live.begin();
  signal.addEventListener("abort", () => {
    live.end();
    router.end();
  });
  return router.begin(main, views, mark);
}

async function showSignIn(message) {
  begin();
  const { signInPage } = await import("./signin.js");
  show(document.body, signInPage(message, showPages));
  document.title = `${words.signIn.title} · ${words.name}`;
  document.querySelector("input[name=token]").focus();
}

/** The box does not answer at all: say so, and try again. */
function wait(message) {
  const signal = begin();
  show(document.body, el("main", { class: "alone" }, el("p", { class: "empty", role: "alert" }, message)));
  const again = setTimeout(start, 3_000);
  signal.addEventListener("abort", () => clearTimeout(again));
}

function begin() {
  ending?.abort();
  ending = new AbortController();
  return ending.signal;
}

on("signed-out", () => {
  if (!document.querySelector("form.signin")) showSignIn(words.signIn.ended);
});
window.addEventListener("hashchange", followLink); // before the router hears of it
start();
install();
