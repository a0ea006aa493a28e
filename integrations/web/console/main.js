// Begins: learns who is there, and shows either the sign-in or the pages.

import { ApiError, learnSession, signIn } from "./api.js";
import { on } from "./bus.js";
import { show, el } from "./dom.js";
import * as live from "./live.js";
import * as router from "./router.js";
import { shell } from "./shell.js";
import { words } from "./words.js";

let ending = null; // ends what is shown now

async function start() {
  const code = takenCode();
  try {
    await (code ? signIn({ code }) : learnSession());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 0 || error.status >= 500) return wait(error.message);
    return showSignIn(code ? words.signIn.badCode : "");
  }
  return showPages();
}

/** The code of a one-time link. It leaves the address at once, so that no history keeps it. One that
 * is cut in the middle of a sign is none that the box takes, and it says so. */
function takenCode() {
  const found = /^#code=(.+)$/.exec(location.hash);
  if (!found) return "";
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return decodeURIComponent(found[1]);
  } catch {
    return found[1];
  }
}

function showPages() {
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
  begin();
  show(document.body, el("main", { class: "alone" }, el("p", { class: "empty", role: "alert" }, message)));
  setTimeout(start, 3_000);
}

function begin() {
  ending?.abort();
  ending = new AbortController();
  return ending.signal;
}

on("signed-out", () => {
  if (!document.querySelector("form.signin")) showSignIn(words.signIn.ended);
});
start();
