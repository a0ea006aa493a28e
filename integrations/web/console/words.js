// The texts of the page in the language of the person who reads it. What a translation lacks is
// shown in English.

import { words as english } from "./words/en.js";

/** The languages of the page under their own names. Each has a file in `words/`. */
export const LANGUAGES = { en: "English", es: "Español" };

const KEPT_AS = "language"; // in the browser's storage

/** The language of the page: what the person chose in this browser, else the first of the browser's
 * languages that the page has, else the language of the house, which the box writes into the page. */
export const language = chosen();

/** The language as the browser has it, with a region such as "en-GB", for dates and numbers. */
export const locale = navigator.languages.find((one) => base(one) === language) ?? language;

export const words = language === "en" ? english : filled(english, await translated());

document.documentElement.lang = language;

/** Show the page in another language from now on. */
export function choose(name) {
  try {
    localStorage.setItem(KEPT_AS, name);
  } catch {
    return; // a browser that stores nothing
  }
  location.reload();
}

function chosen() {
  const wanted = [kept(), ...navigator.languages, document.documentElement.lang];
  return wanted.map(base).find((one) => one in LANGUAGES) ?? "en";
}

function kept() {
  try {
    return localStorage.getItem(KEPT_AS) ?? "";
  } catch {
    return "";
  }
}

function base(name) {
  return name.toLowerCase().split("-")[0];
}

async function translated() {
  try {
    return (await import(`./words/${language}.js`)).words;
  } catch {
    return {}; // the box is away: it is said in English
  }
}

/** The one text with the gaps of the other filled. */
function filled(whole, own) {
  if (whole === null || typeof whole !== "object" || Array.isArray(whole)) return own ?? whole;
  return Object.fromEntries(Object.entries(whole).map(([key, text]) => [key, filled(text, own?.[key])]));
}
