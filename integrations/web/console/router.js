// Which view is shown, by the part of the address after "#": it never reaches the server.

import { ApiError } from "./api.js";
import { el, show } from "./dom.js";
import { words } from "./words.js";

const SLOW_MS = 150; // a view that is there sooner needs no sign that it is coming

let views = [];
let place = null;
let leaving = null; // ends the view that is shown
let shown = ""; // its route
let onShown = () => {};

/** Show views in `main` from now on. `told`: called with the name of each that is shown. Each is a
 * module of its own, with `open({id, signal})`; its title stands in the words under its name. */
export function begin(main, names, told) {
  place = main;
  views = names;
  onShown = told;
  window.addEventListener("hashchange", follow);
  return open({ first: true });
}

/** Show nothing more. */
export function end() {
  window.removeEventListener("hashchange", follow);
  leaving?.abort();
  leaving = null;
  shown = "";
}

/** Show the current view again. */
export function again() {
  return leaving ? open({ first: true }) : null;
}

/** The address of a view. */
export function link(name, id = "") {
  return `#/${name}${id ? `/${encodeURIComponent(id)}` : ""}`;
}

function follow() {
  if (location.hash !== shown) open({ first: false });
}

function wanted() {
  const [, name, id] = location.hash.split("/");
  try {
    return { name: views.includes(name) ? name : "now", id: id ? decodeURIComponent(id) : "" };
  } catch {
    return { name: "now", id: "" };
  }
}

async function open({ first }) {
  leaving?.abort();
  const ending = (leaving = new AbortController());
  shown = location.hash;
  const { name, id } = wanted();
  const slow = setTimeout(() => place.setAttribute("aria-busy", "true"), SLOW_MS);
  ending.signal.addEventListener("abort", () => clearTimeout(slow)); // the next view has its own
  const page = await filled(name, id, ending.signal);
  clearTimeout(slow);
  if (ending.signal.aborted) return;
  place.removeAttribute("aria-busy");
  show(place, page);
  place.dataset.view = name;
  place.dataset.shown = String(Number(place.dataset.shown ?? 0) + 1); // for code that waits for it
  document.title = `${words[name].title} · ${words.name}`;
  onShown(name);
  if (first) return fetchOthers();
  window.scrollTo(0, 0);
  place.querySelector("h1")?.focus({ preventScroll: true });
}

/** A module that cannot be fetched is no fault of the page; one that is wrong is. */
function awayInstead(error) {
  throw error instanceof TypeError ? new ApiError(0, "unreachable", words.away.request) : error;
}

/** The modules of the other views, while nothing else is to be done: then they too are there at once. */
function fetchOthers() {
  const later = window.requestIdleCallback ?? ((act) => setTimeout(act, 500));
  later(() => views.forEach((name) => import(`./views/${name}.js`).catch(() => {}))); // asked again when it is wanted
}

/** The view, or why there is none. */
async function filled(name, id, signal) {
  try {
    const view = await import(`./views/${name}.js`).catch(awayInstead);
    return await view.open({ id, signal });
  } catch (error) {
    if (signal.aborted) return null;
    if (error.status === undefined) console.error(error); // a fault of the page itself
    return el("section", { class: "view" },
      el("h1", { tabindex: "-1" }, words[name].title),
      el("p", { class: "empty", role: "alert" }, error.status === undefined ? words.away.page : error.message),
    );
  }
}
