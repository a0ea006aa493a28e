// Says on every page why Hearth can't reach the home, and what to do.

import { may, post } from "./api.js";
import { on } from "./bus.js";
import { el, show } from "./dom.js";
import { icon } from "./icons.js";
import { isAway, refresh, stands } from "./live.js";
import { button, toast } from "./parts.js";
import { link } from "./router.js";
import { words } from "./words.js";

const text = words.homeBanner;
const LOOKS_MS = 1_500; // after an attempt

/** The banner; empty while the home is connected. */
export function homeBanner(signal) {
  const place = el("div", { class: "homebanner", role: "status" });
  let shown = "connected";

  function tell() {
    const standing = stands();
    if (isAway() || !standing) return;
    const now = standing.home ?? "connected";
    if (now === shown) return;
    if (now === "connected") toast(text.back, "good");
    shown = now;
    place.classList.toggle("on", now !== "connected");
    show(place, now !== "connected" && [icon("warn"), el("span", {}, text[now]), way(now)]);
  }

  on("standing back", tell, signal);
  on("fault", ({ what }) => what === "home_assistant" && refresh(), signal);
  tell();
  return place;
}

function way(now) {
  if (now === "unreachable") return may("speak") && button(text.retry, retry);
  return may("read") && el("a", { class: "button", href: link("health") }, text.look);
}

async function retry() {
  toast(text.retrying);
  await post("v1/reconnect");
  await new Promise((resolve) => { setTimeout(resolve, LOOKS_MS); });
  await refresh();
}
