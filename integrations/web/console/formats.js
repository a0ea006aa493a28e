// Times, lengths and sums of money, as people read them.

import { words } from "./words.js";

const LOCALE = words.locale;
const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(LOCALE, { weekday: "short", day: "numeric", month: "short" });
const SHORT_DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "medium" });

/** "14:03". */
export function clock(iso) {
  return CLOCK.format(new Date(iso));
}

/** "14:03" of today, else "Sat 21 Nov, 14:03". */
export function moment(iso) {
  return isToday(iso) ? clock(iso) : `${DAY.format(new Date(iso))}, ${clock(iso)}`;
}

/** "Today", "Yesterday" or "Sat 21 Nov". */
export function day(iso) {
  if (isToday(iso)) return words.today;
  const before = new Date();
  before.setDate(before.getDate() - 1);
  const date = new Date(iso);
  return date.toDateString() === before.toDateString() ? words.yesterday : DAY.format(date);
}

/** "21 Nov" of a date such as "2026-11-21". */
export function shortDay(date) {
  return SHORT_DAY.format(new Date(`${date}T12:00:00`));
}

/** All of it. */
export function fully(iso) {
  return FULL.format(new Date(iso));
}

/** "820 ms", "1.2 s", "14 s". */
export function span(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

/** "4:05" or "1:04:05" of seconds that are left. */
export function countdown(seconds) {
  const left = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(left / 60) % 60, left % 60].map((one) => String(one).padStart(2, "0"));
  const hours = Math.floor(left / 3600);
  return hours ? `${hours}:${parts.join(":")}` : `${Number(parts[0])}:${parts[1]}`;
}

/** "3 min", "2 h 5 min", "4 days" of a fault or the like. */
export function lasting(ms) {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (ms < 60_000) return words.lasts.seconds(Math.max(1, Math.round(ms / 1000)));
  if (minutes < 60) return words.lasts.minutes(minutes);
  if (minutes < 48 * 60) return words.lasts.hours(Math.floor(minutes / 60), minutes % 60);
  return words.lasts.days(Math.round(minutes / 1440));
}

/** "$1.20", "$0.034", "~$0.0009" for an estimate; smaller amounts are shown as such. */
export function money(usd, estimated = false) {
  if (!usd) return "$0";
  if (estimated) return `~${money(usd)}`;
  if (usd < 0.0001) return "< $0.0001";
  const digits = usd >= 0.1 ? 2 : Math.min(4, 1 - Math.floor(Math.log10(usd)));
  return `$${usd.toFixed(digits)}`;
}

/** "12,345". */
export function count(number) {
  return Number(number).toLocaleString(LOCALE);
}

/** "64 %". */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** Return a number with its unit, or a dash. */
export function decibels(value) {
  return typeof value === "number" ? `${value.toFixed(0).replace("-", "−")} dB` : "–";
}

function isToday(iso) {
  return new Date(iso).toDateString() === new Date().toDateString();
}
