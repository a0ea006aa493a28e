// The signs of the page, as strokes on a field of 24 by 24.

import { svg } from "./dom.js";

const STROKES = {
  now: ["M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16", "M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5"],
  turns: ["M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-7l-5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z", "M8 9h8M8 12h5"],
  timers: ["M12 5.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15", "M12 9v4l2.5 2M9.5 2.5h5"],
  house: ["M4 11.5 12 4.5l8 7M6 10v9.5h12V10", "M10 19.5v-5h4v5"],
  memory: ["M7 4h10a1 1 0 0 1 1 1v15l-6-4-6 4V5a1 1 0 0 1 1-1z"],
  costs: ["M5 20V11M10 20V5M15 20v-7M20 20V8"],
  health: ["M3 12.5h4l2.5-6 4.5 11 2.5-5H21"],
  settings: ["M4 7h9M17 7h3M4 17h3M11 17h9", "M15 5a2 2 0 1 0 0 4 2 2 0 0 0 0-4M9 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4"],
  speak: ["M12 3.5a2.8 2.8 0 0 1 2.8 2.8v5.4a2.8 2.8 0 0 1-5.6 0V6.3A2.8 2.8 0 0 1 12 3.5z", "M6 11.5a6 6 0 0 0 12 0M12 17.5v3"],
  more: ["M5.5 12h.01M5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M11.5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M18 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0"],
  microphone: ["M12 3.5a2.8 2.8 0 0 1 2.8 2.8v5.4a2.8 2.8 0 0 1-5.6 0V6.3A2.8 2.8 0 0 1 12 3.5z", "M6 11.5a6 6 0 0 0 12 0M12 17.5v3"],
  muted: ["M9.2 9.2v2.5a2.8 2.8 0 0 0 4.6 2.1M14.8 10.5V6.3a2.8 2.8 0 0 0-5.3-1.2", "M6 11.5a6 6 0 0 0 9.8 4.6M18 11.5c0 .9-.2 1.8-.5 2.6M12 17.5v3M4 4l16 16"],
  stop: ["M7 7h10v10H7z"],
  play: ["M8 5.5v13l10.5-6.5z"],
  send: ["M5 12h13M12.5 6l6 6-6 6"],
  lock: ["M6.5 11h11v9h-11zM9 11V8a3 3 0 0 1 6 0v3"],
  leave: ["M10 5H5v14h5M14 8l4 4-4 4M18 12H9"],
  edit: ["M5 19l1-4L16 5l3 3L9 18zM14 7l3 3"],
  bin: ["M5 7h14M9.5 7V4.5h5V7M7 7l1 12.5h8L17 7"],
  cross: ["M6 6l12 12M18 6L6 18"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  about: ["M12 4.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15", "M12 11.5V16M12 8.3h.01"],
  warn: ["M12 4l9 16H3zM12 10v4.5M12 17.3h.01"],
  search: ["M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15.5 15.5L20 20"],
};

/** A sign beside words that say the same. */
export function icon(name) {
  return drawn(STROKES[name]);
}

/** A sign of these strokes. */
export function drawn(strokes) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    strokes.map((d) => svg("path", { d })),
  );
}

/** The flame of the name. */
export function flame() {
  return svg("svg", { class: "flame", viewBox: "0 0 64 64", "aria-hidden": "true", focusable: "false" },
    svg("path", { class: "outer", d: "M33 6c2 11 17 16 17 32a18 18 0 0 1-36 0c0-8 4.500-13 9-18 0 5.500 2 9 5.500 10 3.500-8 1-15 4.500-24z" }),
    svg("path", { class: "inner", d: "M33 33c1 5 7 7 7 14a8 8 0 0 1-16 0c0-4 2-6.500 4-8.500 1 2 2 3 3 3 2-2 1-5 2-8.500z" }),
  );
}
