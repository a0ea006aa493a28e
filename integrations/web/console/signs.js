// The signs of devices, by their kind, as strokes on a field of 24 by 24.

import { drawn, icon } from "./icons.js";

const STROKES = {
  light: ["M12 4a5.5 5.5 0 0 0-3 10.1V16h6v-1.9A5.5 5.5 0 0 0 12 4z", "M10 19.5h4"],
  switch: ["M9 4v4M15 4v4M7 8h10v3a5 5 0 0 1-10 0zM12 16v4"],
  fan: ["M12 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3", "M12 10.5C9 8.5 10 4 12.8 4s3.2 4-.8 6.5M13.3 12.8c3.3-1.5 6.6 1.2 5.2 3.7s-5 .8-5.2-3.7M10.7 12.8c-.2 3.6-3.9 6.2-5.2 3.7s1.3-5.2 5.2-3.7"],
  cover: ["M5 5h14M6.5 5v14M17.5 5v14M6.5 9h11M6.5 13h11M6.5 17h11"],
  door: ["M7.5 20V4h9v16M4.5 20h15M13.5 12h.01"],
  garage: ["M4.5 20V9.5L12 4.5l7.5 5V20", "M7.5 20v-7.5h9V20M7.5 16h9"],
  window: ["M5.5 4.5h13v15h-13zM12 4.5v15M5.5 12h13"],
  unlocked: ["M6.5 11h11v9h-11zM9 11V8a3 3 0 0 1 5.7-1.3"],
  climate: ["M12 4a2 2 0 0 1 2 2v7.4a3.6 3.6 0 1 1-4 0V6a2 2 0 0 1 2-2z", "M12 10v6"],
  media_player: ["M7 4h10v16H7z", "M12 11a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M12 7.5h.01"],
  vacuum: ["M12 4.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15", "M12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4M9 7h6"],
  scene: ["M8 5.5l10.5 6.5L8 18.5z"],
  camera: ["M4 7h11v10H4zM15 10.5l5-3v9l-5-3z"],
  weather: ["M7.5 18a4 4 0 0 1 .3-8 5 5 0 0 1 9.4 1.4A3.3 3.3 0 0 1 17 18z"],
  todo: ["M9 6.5h10.5M9 12h10.5M9 17.5h10.5M4.8 6.5h.01M4.8 12h.01M4.8 17.5h.01"],
  calendar: ["M5 6h14v13.5H5zM5 10h14M9 4v4M15 4v4"],
  humidifier: ["M12 4c3 4 5.5 6.5 5.5 10a5.5 5.5 0 0 1-11 0c0-3.5 2.5-6 5.5-10z"],
  sensor: ["M4.8 17a8 8 0 1 1 14.4 0", "M12 15l3.5-4.5"],
  other: ["M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14", "M12 11.5v.01"],
};
const SAME = { input_boolean: "switch", siren: "switch", script: "scene", button: "scene", input_button: "scene", water_heater: "climate", valve: "humidifier" };
const OF_COVERS = { garage: "garage", gate: "garage", door: "door", window: "window" };
const OF_SENSORS = { door: "door", garage_door: "garage", opening: "door", window: "window", lock: "unlocked", moisture: "humidifier", temperature: "climate", humidity: "humidifier" };

/** The sign of a device. */
export function signOf({ kind, device_class: made, state }) {
  if (kind === "lock") return state === "locked" ? icon("lock") : drawn(STROKES.unlocked);
  const classes = kind === "cover" ? OF_COVERS : kind.endsWith("sensor") ? OF_SENSORS : {};
  const plain = kind === "binary_sensor" ? "sensor" : SAME[kind] ?? kind;
  return drawn(STROKES[classes[made] ?? plain] ?? STROKES.other);
}
